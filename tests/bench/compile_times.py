#!/usr/bin/env python3
"""make bench-compile: how long specs take to become programs. Needs nvcc, but no GPU.

    compile_times.py [SPEC]...     without SPEC: every spec of specs and specs/h100, but no study

A row per spec: from spec to source, the median of five runs, and the compiler's peak memory; then nvcc and NVRTC for
sm_90a, once each; for the demo's specs, also the median step on the simulated device. The head has the limits, of
which the first two are for the 8B model; `!` marks what exceeds its limit. Programs are in build/compile_times.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

WORK = Path("build/compile_times")
COLUMNS = {"source, ms": 50, "peak, MB": 50, "nvcc, s": 20, "NVRTC, s": 5, "step, s": 0.5}
OF_8B = ["source, ms", "peak, MB"]
REPEATS = 5
STEPS = 6


def seconds(command, **variables):
    """Runs a command; returns its time and its peak memory in bytes, which is never less than this script's."""
    log = WORK / "log"
    with log.open("w") as said:
        began = time.perf_counter()
        child = subprocess.Popen([str(word) for word in command], stdout=said, stderr=said, env=os.environ | variables)
        _, status, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{log.read_text()}error: {' '.join(child.args)} ended with {child.returncode}")
    return took, usage.ru_maxrss * 1024


def toolkit():
    found = ["make", "-s", "-f", "runtime/toolkit.mk"]
    return os.environ.get("CUDA_HOME") or subprocess.check_output(found, text=True).strip()


def build_jit():
    """The driver that compiles a program's kernels as it does itself where it starts with JIT=1."""
    subprocess.run([os.environ.get("CC", "gcc"), "-std=c17", "-D_GNU_SOURCE", "-I.", "-isystem", f"{toolkit()}/include",
                    "-o", WORK / "jit", "tests/runtime/program/jit.c", "build/libruntime.a", "-ljansson", "-lz", "-ldl",
                    "-lm", "-lpthread"], check=True)


def make(folder, *words):
    here = Path.cwd()
    return seconds(["make", "-s", "-C", folder, *words], RT=str(here), RTLIB=f"{here}/build/libruntime.a",
                   SIM_OUT=f"{here}/build/sim", OPENBLAS_NUM_THREADS="1")[0]


def demo_step(spec, weights):
    """Seconds of a step on the simulated device; what it trains is in the second folder that it returns."""
    folder = WORK / f"{spec.stem}.step"
    out = (folder / "out").resolve()
    seconds(["./gpuopt-gen", spec, "--force", "-o", folder, "--set", "data.eval_batches=1", "--set",
             f"training.steps={STEPS}"])
    init = f" --init {weights}" if weights else ""
    make(folder, "DEVICE=sim", f"FROM={Path.cwd()}", f"ARGS=--out {out}{init}", "run")
    return json.loads((out / "report.json").read_text())["iteration_ms"]["median"] / 1e3, out / "model"


def measure(spec):
    folder = WORK / spec.stem
    runs = [seconds(["./gpuopt-gen", spec, "--force", "-o", folder]) for _ in range(REPEATS)]
    for compiled in [*folder.glob("kernels.cubin"), *folder.glob("kernels.nvrtc.*")]:
        compiled.unlink()
    return {"source, ms": 1e3 * statistics.median(took for took, _ in runs),
            "peak, MB": max(peak for _, peak in runs) / 1e6,
            "nvcc, s": make(folder, "DEVICE=cuda", "kernels.cubin"), "NVRTC, s": seconds([WORK / "jit", folder])[0]}


def cell(spec, column, figure):
    if figure is None:
        return f"{'-':>11} "
    limited = column not in OF_8B or spec.stem.startswith("llama3_8b")
    return f"{figure:11.2f}{'!' if limited and figure > COLUMNS[column] else ' '}"


def print_row(name, cells):
    print(f"{name:34}" + "".join(cells).rstrip(), flush=True)


def main():
    listed = [Path(name) for name in sys.argv[1:]] or sorted(Path("specs").glob("**/*.toml"))
    WORK.mkdir(parents=True, exist_ok=True)
    build_jit()
    print_row("", [f"{column:>11} " for column in COLUMNS])
    print_row("limit (source and peak: 8B)", [f"{limit:11} " for limit in COLUMNS.values()])
    weights = None
    for spec in listed:
        if "[sweep]" in spec.read_text():
            continue
        figures = measure(spec)
        if spec.stem == "base_tiny" or (spec.stem == "lora_r16" and weights):
            figures["step, s"], weights = demo_step(spec, weights)
        print_row(str(spec), [cell(spec, column, figures.get(column)) for column in COLUMNS])
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; above 1, other work made these times longer")


if __name__ == "__main__":
    sys.exit(main())
