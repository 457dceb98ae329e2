#!/usr/bin/env python3
"""make check-gpu: do the programs of this bundle compute on the GPU what they should?

    check-gpu [--only WORD]      `ok NAME`, `FAIL NAME` or `skip NAME: REASON` a test, then the counts

1. kernels    each kernel beside the same kernel on the simulated device, in a second process
2. steps      loss, logits, gradients, new weights and ten losses beside PyTorch's recorded numbers
3. repeats    two runs give the same bits
4. sanitizer  compute-sanitizer's four tools over a step, where it is installed
5. memory     what a Llama 3.2 1B run takes of the GPU, beside its plan
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from machine import (BUNDLE, PROGRAMS, need_gpu, read_report, run_program, work_folder, write_tokens)

counts = {"ok": 0, "FAIL": 0, "skip": 0}


def verdict(word, name, detail=""):
    counts[word] += 1
    separator = ": " if detail else ""
    print(f"{word} gpu {name}{separator}{detail}", flush=True)


def judge(name, good, output):
    verdict("ok" if good else "FAIL", name)
    if not good:
        print("\n".join("    " + line for line in output.splitlines()[-40:]), flush=True)


def start_options(program):
    """The options that give a case's program the weights and adapter it was recorded with."""
    case = Path("tests/oracle/cases") / program.rsplit(".", 1)[0]
    if not (BUNDLE / case).is_dir():
        return []
    options = ["--init", case / "model"]
    if (BUNDLE / case / "adapter").is_dir():
        options += ["--adapter", case / "adapter"]
    return options


def checked_programs():
    return sorted(p.parent.name for p in PROGRAMS.glob("*/kernel_check"))


def check_kernels(gpu, program, folder):
    done = run_program(gpu, program, start_options(program), BUNDLE, "kernel_check")
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "FAIL "))]
    for line in lines:
        word, detail = line.split(" ", 1)
        verdict(word, f"kernel {program} {detail}")
    if done.returncode and not any(line.startswith("FAIL") for line in lines):
        judge(f"kernels of {program}", False, done.stdout)
    for leftover in ("out.parent", "out.child"):
        shutil.rmtree(BUNDLE / leftover, ignore_errors=True)


def check_step(gpu, program, folder):
    case, dtype = program.rsplit(".", 1)
    dump, out = folder / "dump.safetensors", folder / "out"
    options = [*start_options(program), "--steps", 10, "--dump", dump, "--out", out]
    done = run_program(gpu, program, options, BUNDLE)
    output = done.stdout
    if done.returncode == 0:
        done = subprocess.run([BUNDLE / "compare", "--case", BUNDLE / "tests/oracle/cases" / case, "--dtype",
                               dtype, "--dump", dump, "--losses", out / "loss.csv"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("ok "))
    judge(f"step {program} beside PyTorch", done.returncode == 0, output)


def check_repeats(gpu, program, folder):
    losses, output = [], ""
    for attempt in ("first", "second"):
        out = folder / attempt
        done = run_program(gpu, program, [*start_options(program), "--steps", 10, "--out", out], BUNDLE)
        output += done.stdout
        losses.append((out / "loss.csv").read_bytes() if done.returncode == 0 else None)
    judge(f"repeats {program}", losses[0] is not None and losses[0] == losses[1], output)


def check_sanitizer(gpu, program, folder):
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        name = f"compute-sanitizer {tool} {program}"
        if not shutil.which("compute-sanitizer"):
            verdict("skip", name, "compute-sanitizer is not installed")
            continue
        done = run_program(gpu, program, [*start_options(program), "--steps", 1, "--out", folder / tool], BUNDLE,
                           prefix=["compute-sanitizer", "--tool", tool, "--error-exitcode", "9"])
        judge(name, done.returncode == 0, done.stdout)


def check_memory(gpu, folder):
    write_tokens(folder / "tokens.bin", 480 * 2048 + 1, 128256)
    done = run_program(gpu, "llama", ["--steps", 5, "--out", folder / "out"], folder)
    if done.returncode:
        judge("memory", False, done.stdout)
        return
    memory = read_report(folder / "out")["memory"]
    planned, peak = memory["process_planned_bytes"], memory["process_peak_bytes"]
    arenas = memory["planned_bytes"] == memory["measured_peak_bytes"]
    text = f"planned {planned / 2**20:.0f} MiB, at its peak {(peak or 0) / 2**20:.0f} MiB"
    judge(f"memory of the arenas is the plan's, {memory['planned_bytes']} bytes", arenas, text)
    judge(f"memory of the process within 1 %: {text}", bool(peak) and abs(peak - planned) <= 0.01 * planned, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    only = parser.parse_args().only
    gpu = need_gpu()
    print(f"{gpu['name']}, compute capability {gpu['compute_cap']}, driver {gpu['driver_version']}")
    os.chdir(BUNDLE)
    programs = [p for p in checked_programs() if only in p]
    recorded = [p for p in programs if start_options(p)]
    jobs = [(check_kernels, p) for p in programs] + [(check_step, p) for p in recorded]
    jobs += [(check_repeats, p) for p in recorded] + [(check_sanitizer, p) for p in programs if "demo" in p]
    for check, program in jobs:
        with work_folder() as folder:
            check(gpu, program, Path(folder))
    if not only:
        with work_folder() as folder:
            check_memory(gpu, Path(folder))
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
