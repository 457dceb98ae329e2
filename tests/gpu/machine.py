"""What check_gpu.py and bench_lora.py share: the GPU, the bundle's programs, token files."""

import array
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent
PROGRAMS = BUNDLE / "programs"
SHARD_MAGIC = 20240520


def nvidia_smi(fields):
    """The values of `fields` for the first GPU in use, or None where there is no driver or no GPU."""
    if not shutil.which("nvidia-smi"):
        return None
    index = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
    done = subprocess.run(["nvidia-smi", "-i", index, f"--query-gpu={','.join(fields)}",
                           "--format=csv,noheader,nounits"], capture_output=True, text=True)
    if done.returncode:
        return None
    return dict(zip(fields, (value.strip() for value in done.stdout.splitlines()[0].split(","))))


def need_gpu():
    """The GPU's name, compute capability and driver; ends the process in one line without a GPU."""
    gpu = nvidia_smi(["name", "compute_cap", "driver_version"])
    if gpu is None:
        sys.exit("error: no GPU: nvidia-smi is not there or reports none; this needs an NVIDIA GPU and driver")
    return gpu


def clocks():
    """What may explain a slow run: clocks in MHz, power in W, why the GPU held back."""
    wanted = ["clocks.sm", "clocks.mem", "power.draw", "power.limit", "temperature.gpu"]
    for reasons in ("clocks_event_reasons.active", "clocks_throttle_reasons.active"):
        found = nvidia_smi(wanted + [reasons])
        if found:
            found["held_back"] = found.pop(reasons)
            return found
    return nvidia_smi(wanted)


def environment(gpu):
    """Variables for a program: cubins are Hopper's, so elsewhere NVRTC compiles at start."""
    variables = dict(os.environ, GPUOPT_DEVICE="cuda", GPUOPT_SIM_DIR=str(BUNDLE / "sim"))
    if gpu["compute_cap"] != "9.0":
        variables["GPUOPT_JIT"] = "1"
    return variables


def run_program(gpu, name, options, folder, executable="run", prefix=()):
    """Runs a program of the bundle in `folder`; gives the finished process with its output."""
    command = [*prefix, str(PROGRAMS / name / executable), *map(str, options)]
    return subprocess.run(command, cwd=folder, env=environment(gpu), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def read_report(out):
    return json.loads((Path(out) / "report.json").read_text())


def write_tokens(path, count, vocabulary, seed=0):
    """A token shard as llm.c has them, version 2 (uint32), of random tokens; gives the tokens."""
    draw = random.Random(seed)
    tokens = array.array("I", (draw.randrange(vocabulary) for _ in range(count)))
    header = array.array("I", [SHARD_MAGIC, 2, count] + [0] * 253)
    with open(path, "wb") as file:
        header.tofile(file)
        tokens.tofile(file)
    return tokens


def work_folder():
    return tempfile.TemporaryDirectory(prefix="gpuopt-")
