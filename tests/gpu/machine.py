"""Shared by check_gpu.py and the benchmarks: the GPU, the bundle's programs, token files. Run by itself,
prints what the machine has."""

import array
import contextlib
import importlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent
PROGRAMS = BUNDLE / "programs"
SHARD_MAGIC = 20240520
TIMED_OUT = 124


# ---- processes -----------------------------------------------------------------------------------


running = set()  # process groups


def end_all(number, _):
    """What is killed or interrupted leaves nothing on the GPU: programs are groups of their own."""
    for group in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    os._exit(128 + number)


def end_together():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end_all)


def finish(command, folder, environment, limit_s):
    """Runs a command; returns its exit code and output. If it hangs, it is killed with all its children."""
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    running.add(process.pid)
    try:
        output = process.communicate(timeout=limit_s)[0]
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return TIMED_OUT, process.communicate()[0] + f"\nended after {limit_s} s"
    finally:
        running.discard(process.pid)


def environment(gpu, device="cuda"):
    """A program's environment. Cubins are for Hopper; on other GPUs NVRTC compiles at start. CUDA's
    libraries may come from this Python's packages, and what reads JPEG files from the bundle."""
    variables = dict(os.environ, GPUOPT_DEVICE=device, GPUOPT_SIM_DIR=str(BUNDLE / "sim"))
    variables.setdefault("VIRTUAL_ENV", sys.prefix)
    folders = [variables.get("LD_LIBRARY_PATH"), str(BUNDLE / "lib")]
    variables["LD_LIBRARY_PATH"] = ":".join(filter(None, folders))
    if device == "sim":
        variables.pop("GPUOPT_JIT", None)
    elif gpu["compute_cap"] != "9.0":
        variables["GPUOPT_JIT"] = "1"
    return variables


def run_program(gpu, name, options, folder, executable="run", prefix=(), limit_s=180, device="cuda"):
    """Runs a program of the bundle in `folder`; returns its exit code and output. `device`: "cuda", or
    "sim" for the simulated one."""
    return finish(
        [*prefix, PROGRAMS / name / executable, *options], folder, environment(gpu, device), limit_s
    )


def read_report(out):
    return json.loads((Path(out) / "report.json").read_text())


def read_tensors(path):
    """The bytes of each tensor in a safetensors file, by name."""
    file = Path(path).read_bytes()
    begin = 8 + int.from_bytes(file[:8], "little")
    rows = json.loads(file[8:begin])
    places = {name: row["data_offsets"] for name, row in rows.items() if name != "__metadata__"}
    return {name: file[begin + first : begin + end] for name, (first, end) in places.items()}


def work_folder():
    return tempfile.TemporaryDirectory(prefix="gpuopt-")


# ---- the GPU -------------------------------------------------------------------------------------


def smi_command(fields, *options):
    """The command for nvidia-smi, or None without a driver. Some containers lack its folder in PATH."""
    program = shutil.which("nvidia-smi") or shutil.which("nvidia-smi", path="/usr/local/nvidia/bin")
    index = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
    return program and [
        program,
        "-i",
        index,
        f"--query-gpu={','.join(fields)}",
        "--format=csv,noheader,nounits",
        *options,
    ]


def nvidia_smi(fields):
    """The values of `fields` for the first GPU in use, or None if there is no driver or no GPU."""
    command = smi_command(fields)
    done = command and subprocess.run(command, capture_output=True, text=True)
    if not done or done.returncode or not done.stdout.strip():
        return None
    return dict(zip(fields, (value.strip() for value in done.stdout.splitlines()[0].split(","))))


def need_gpu():
    """The GPU's name, compute capability and driver; without a GPU, exits with a one-line error. From here
    on, programs end with this process: call it in the main thread."""
    end_together()
    gpu = nvidia_smi(["name", "compute_cap", "driver_version"])
    if gpu is None:
        sys.exit(
            "error: no GPU: nvidia-smi is not there or reports none; this needs an NVIDIA GPU and driver"
        )
    return gpu


class Watch:
    """Samples clocks, power and reasons for throttling twice a second while the block runs; the figures
    cover only samples in which the GPU was busy."""

    FIELDS = ["utilization.gpu", "clocks.sm", "power.draw", "temperature.gpu"]

    def __enter__(self):
        reasons = "clocks_event_reasons.active"
        if nvidia_smi([reasons]) is None:
            reasons = "clocks_throttle_reasons.active"
        command = smi_command([*self.FIELDS, reasons], "-lms", "500")
        self.process = command and subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self

    def __exit__(self, *_):
        self.figures = {}
        if not self.process:
            return
        self.process.terminate()
        samples = [line.split(", ") for line in self.process.communicate()[0].splitlines()]
        busy = [s for s in samples if len(s) == 5 and s[0].isdigit() and int(s[0]) >= 50]
        if busy:
            held_back = 0
            for sample in busy:
                held_back |= int(sample[4], 16)
            self.figures = {
                "sm_mhz": statistics.median(float(s[1]) for s in busy),
                "power_w": max(float(s[2]) for s in busy),
                "temperature_c": max(float(s[3]) for s in busy),
                "held_back": hex(held_back),
            }


# ---- data ----------------------------------------------------------------------------------------


def random_tokens(count, vocabulary, seed):
    draw = random.Random(seed)
    return array.array("I", (int(vocabulary * draw.random()) for _ in range(count)))


def write_shard(path, words, *parts):
    """Writes a token shard (runtime/data/README.md) whose header begins with `words`."""
    header = array.array("I", [SHARD_MAGIC, *words] + [0] * (255 - len(words)))
    with open(path, "wb") as file:
        for part in (header, *parts):
            part.tofile(file)


def write_tokens(path, count, vocabulary, seed=0):
    """Writes a stream of random tokens, as llm.c does."""
    write_shard(path, [2, count], random_tokens(count, vocabulary, seed))


def write_pairs(path, pairs, length, vocabulary, seed=0):
    """Writes pairs of random samples for DPO, of `length` tokens each, a multiple of 8. The first token is the
    prompt, all others are targets."""
    samples, count = 2 * pairs, 2 * pairs * length
    tokens = random_tokens(count, vocabulary, seed)
    for rejected in range(length, count, 2 * length):
        tokens[rejected] = tokens[rejected - length]
    ends = array.array("I", range(length, count + 1, length))
    targets = array.array("B", ([0xFE] + [0xFF] * (length // 8 - 1)) * samples)
    write_shard(path, [4, count, samples, 1], tokens, ends, targets)


# ---- the machine -----------------------------------------------------------------------------------


def print_machine():
    """Prints what decides which parts of the bundle can run here."""
    smi = smi_command(["name"])
    print(finish(smi[:1], None, None, 30)[1] if smi else "no nvidia-smi", flush=True)
    for tool in ("nvcc", "compute-sanitizer"):
        print(tool, shutil.which(tool))
    print("Python", sys.version.split()[0], "processors", os.cpu_count())
    for name in ("torch", "transformers", "peft", "torchvision"):
        try:
            print(name, importlib.import_module(name).__version__, flush=True)
        except Exception as error:  # packages fail in many ways; all mean that it cannot be used
            print(name, repr(error), flush=True)


if __name__ == "__main__":
    print_machine()
