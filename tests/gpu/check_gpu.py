#!/usr/bin/env python3
"""make check-gpu: checks that the programs of this bundle compute the right results on the GPU.

    check-gpu [--only WORD] [--minutes M] [--jobs N] [--keep DIR]

Prints `ok NAME`, `FAIL NAME` or `skip NAME: REASON` for each test, then the counts. After --minutes
no new test starts. With --jobs, what measures time or memory runs first, alone, and then up to N other
tests at a time: most of their time goes into the simulated device, on the CPU. --keep DIR keeps the
profile's files.

1. steps      loss, logits, gradients, new weights and ten losses match PyTorch's recorded numbers; of
              programs that have none, inputs and losses match those on the simulated device
2. memory     memory that a Llama 3.2 1B run takes, compared with its plan
3. times      each matrix product's time in a step, and for image models each kernel's, compared with the plan
4. profile    each kernel's time by CUPTI, compared with the plan
5. kernels    each kernel matches the same kernel on the simulated device, in a second process; runs
              next for a program whose step has failed
6. one rank   a step with each strategy's collectives, over NCCL communicators of one rank, in its graph
7. jit        a step with kernels that NVRTC compiles at start
8. repeats    two runs give the same bits
9. sanitizer  compute-sanitizer over a step, where it is installed
"""

import argparse
import csv
import json
import math
import os
import re
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from machine import (
    BUNDLE,
    PROGRAMS,
    finish,
    need_gpu,
    read_report,
    read_tensors,
    run_program,
    work_folder,
    write_tokens,
)

counts = {"ok": 0, "FAIL": 0, "skip": 0}
printing = threading.RLock()
began = time.monotonic()
keep = None  # folder for the profile's files, if they are to be kept
told = False


def verdict(word, name, detail="", tests=1):
    separator = ": " if detail else ""
    with printing:
        counts[word] += tests
        print(f"{word} gpu {name}{separator}{detail}", flush=True)


def judge(name, good, output):
    with printing:
        verdict("ok" if good else "FAIL", name)
        if not good:
            print("\n".join("    " + line for line in output.splitlines()[-30:]), flush=True)


def start_options(program):
    """The options for the weights and adapter with which a case was recorded."""
    case = Path("tests/oracle/cases") / program.split(".")[0]
    if not (BUNDLE / case).is_dir():
        return []
    options = ["--init", case / "model"]
    if (BUNDLE / case / "adapter").is_dir():
        options += ["--adapter", case / "adapter"]
    return options


def checked_programs():
    return sorted(p.parent.name for p in PROGRAMS.glob("*/kernel_check"))


def check_kernels(gpu, program, folder):
    options = [*start_options(program), "--out", folder / "out"]
    code, output = run_program(gpu, program, options, BUNDLE, "kernel_check")
    good = [line for line in output.splitlines() if line.startswith("ok ")]
    bad = [line for line in output.splitlines() if line.startswith("FAIL ")]
    for line in bad:
        verdict("FAIL", f"kernel of {program}, {line[5:]}")
    if good:
        worst = max(good, key=lambda line: float(line.rsplit(" ", 1)[1]))
        verdict("ok", f"{len(good)} kernels of {program}", f"the worst is {worst[3:]}", len(good))
    if code and not bad:
        judge(f"kernels of {program}", False, output)


def tell(program, out):
    """Prints facts that all programs share, only for the first one that runs."""
    global told
    with printing:
        if told:
            return
        told = True
    report = read_report(out)
    memory = report["memory"]
    if memory["process_peak_bytes"]:
        beside = (memory["process_peak_bytes"] - memory["allocated_bytes"]) / 2**20
        planned = (memory["process_planned_bytes"] - memory["planned_bytes"]) / 2**20
        print(f"    {program} takes {beside:.0f} MiB beside its arenas, planned {planned:.0f} MiB")
    print(f"    versions: {json.dumps(report['versions'])}", flush=True)


def check_step(gpu, program, folder, what="step", prefix=()):
    case, dtype = program.split(".")[0], program.split(".")[-1]
    dump, out = folder / "dump.safetensors", folder / "out"
    options = [*start_options(program), "--steps", 10, "--dump", dump, "--out", out]
    code, output = run_program(gpu, program, options, BUNDLE, prefix=prefix)
    if code == 0:
        tell(program, out)
        code, output = finish(
            [
                BUNDLE / "compare",
                "--case",
                BUNDLE / "tests/oracle/cases" / case,
                "--dtype",
                dtype,
                "--dump",
                dump,
                "--losses",
                out / "loss.csv",
                "--evaluations",
                out / "eval.csv",
            ],
            BUNDLE,
            None,
            60,
        )
        output = "\n".join(line for line in output.splitlines() if not line.startswith("ok "))
    judge(f"{what} of {program} beside PyTorch", code == 0, output)
    return code == 0


INPUTS = ("input_ids", "labels", "pixels", "boxes")
NEAR = {"loss": 0.01, "grad_norm": 0.05}  # of the host's figure, in 16 bits too
# Deep models whose norms are over few images: a product that is added up in another order changes its
# first norm by 10 %, and the second by 20 %.
SENSITIVE = {"depthwise": 10}


def is_near(column, device, host, factor):
    a, b = float(device), float(host)
    return math.isfinite(a) and abs(a - b) <= factor * NEAR[column] * abs(b)


def differences(device, host, factor=1):
    """Lines about what differs between two runs: inputs of the first step, figures of all steps."""
    lines, tensors = [], [read_tensors(out / "dump.safetensors") for out in (device, host)]
    lines += [f"{name} differ" for name in INPUTS if tensors[0].get(name) != tensors[1].get(name)]
    for file in ("loss.csv", "eval.csv"):
        rows = [list(csv.DictReader((out / file).open(newline=""))) for out in (device, host)]
        if len(rows[0]) != len(rows[1]) or not rows[0]:
            lines.append(f"{file}: {len(rows[0])} rows, {len(rows[1])} on the host")
        for a, b in zip(*rows):
            far = [name for name in b if name in NEAR and not is_near(name, a[name], b[name], factor)]
            lines += [f"{file}, step {b['step']}: {name} {a[name]}, on the host {b[name]}" for name in far]
    return lines


def check_host(gpu, program, folder):
    """All steps of a program, in its graphs, beside the same on the simulated device."""
    outs, logs, codes = [folder / "device", folder / "host"], "", []
    for out, device in zip(outs, ("cuda", "sim")):
        out.mkdir()
        options = ["--dump", out / "dump.safetensors", "--out", out]
        code, output = run_program(gpu, program, options, BUNDLE, device=device)
        codes.append(code)
        logs += output
    factor = SENSITIVE.get(program, 1)
    lines = differences(*outs, factor) if codes == [0, 0] else logs.splitlines()
    judge(f"steps of {program} beside the host", not lines and codes == [0, 0], "\n".join(lines))
    return not lines and codes == [0, 0]


def check_one_rank(gpu, program, folder):
    """The step, and that its collectives were made: a group of one rank needs none for its numbers."""
    if check_step(gpu, program, folder, "step, with collectives over one rank,"):
        made = read_report(folder / "out")["collectives"]
        text = ", ".join(f"{row['count']} {kind}" for kind, row in made.items() if row["count"])
        judge(f"collectives of {program}: {text}", bool(text), json.dumps(made))


def check_repeats(gpu, program, folder):
    losses, logs = [], ""
    steps = ["--steps", 10] if start_options(program) else []
    for attempt in ("first", "second"):
        out = folder / attempt
        code, output = run_program(
            gpu, program, [*start_options(program), "--out", out, *steps], BUNDLE
        )
        logs += output
        losses.append((out / "loss.csv").read_bytes() if code == 0 else None)
    judge(
        f"two runs of {program} give the same bits",
        losses[0] is not None and losses[0] == losses[1],
        logs,
    )


def own_kernels(program):
    source = (PROGRAMS / program / "kernels.cu").read_text()
    return set(re.findall(r"__launch_bounds__\([\d, ]+\)\s+(\w+)\(", source))


def check_sanitizer(gpu, program, folder):
    """Only reports about our own kernels count, not those about libraries. initcheck is not used, because
    products run once on uninitialised memory before they are captured; on the simulated device such memory
    is NaN instead."""
    for tool in ("memcheck", "racecheck", "synccheck"):
        name = f"compute-sanitizer {tool} on {program}"
        if not shutil.which("compute-sanitizer"):
            verdict("skip", name, "compute-sanitizer is not installed")
            continue
        code, output = run_program(
            gpu,
            program,
            [*start_options(program), "--steps", 1, "--out", folder / tool],
            BUNDLE,
            prefix=["compute-sanitizer", "--tool", tool, "--error-exitcode", "9"],
        )
        if "Device not supported" in output:
            verdict("skip", name, "compute-sanitizer does not support this machine")
            continue
        named = own_kernels(program) & set(re.findall(r"\w+", output))
        judge(
            name, code == 0 or (code == 9 and not named and "held-out loss after" in output), output
        )


def check_memory(gpu, program, folder):
    write_tokens(folder / "tokens.bin", 480 * 2048 + 1, 128256)
    code, output = run_program(gpu, program, ["--steps", 5, "--out", folder / "out"], folder)
    if code:
        judge(f"memory of {program}", False, output)
        return
    report = read_report(folder / "out")
    memory = report["memory"]
    planned, peak = memory["process_planned_bytes"], memory["process_peak_bytes"]
    text = f"planned {planned / 2**20:.0f} MiB, at its peak {(peak or 0) / 2**20:.0f} MiB"
    judge(
        f"arenas of {program} take {memory['planned_bytes']} bytes",
        memory["planned_bytes"] == memory["allocated_bytes"],
        text,
    )
    judge(
        f"memory of {program} within 1 %: {text}",
        bool(peak) and abs(peak - planned) <= 0.01 * planned,
        text,
    )
    print(
        f"    a step takes {report['iteration_ms']['median']:.2f} ms, predicted "
        f"{report['predicted']['iteration_ms']['median']:.2f} ms for {report['predicted']['device']}",
        flush=True,
    )


def planned_launches(program):
    """The plan's rows for a step's kernels and products, by name."""
    plan = json.loads((PROGRAMS / program / "plan.json").read_text())
    return {row["name"]: row for row in plan["step_launches"]}


def check_launches(gpu, program, folder, what, wanted):
    """Times each launch of a step by events, and prints those that are wanted, the longest first."""
    code, output = run_program(
        gpu, program, ["--steps", 6, "--out", folder / "out"], folder, "launch_times"
    )
    lines = [line.split() for line in output.splitlines() if line.startswith("time ")]
    measured = {name: (float(launches), float(ms)) for _, name, launches, ms in lines}
    names = [name for name in measured if name.startswith(wanted)]
    plan = planned_launches(program)
    strange = [name for name in names if name not in plan or measured[name][1] <= 0]
    judge(f"{what} of {program}", code == 0 and names and not strange, f"{strange}\n{output}")
    if strange or not names:
        return
    print(f"    {'ms a step':64} {'launches':>8} {'measured':>9} {'planned':>9} {'TFLOP/s':>8} {'GB/s':>6}")
    for name in sorted(names, key=lambda name: -measured[name][1])[:40]:
        launches, ms = measured[name]
        row = plan[name]
        print(
            f"    {name:64} {launches:8.0f} {ms:9.4f} {row['ms']:9.4f} "
            f"{1e-9 * row['flops'] / ms:8.1f} {1e-6 * row['dram_bytes'] / ms:6.0f}",
            flush=True,
        )
    print(f"    all launches of a step, one by one: {sum(ms for _, ms in measured.values()):.3f} ms")


def check_products(gpu, program, folder):
    write_tokens(folder / "tokens.bin", 480 * 2048 + 1, 128256)
    check_launches(gpu, program, folder, "products", "gemm_")


def check_times(gpu, program, folder):
    check_launches(gpu, program, folder, "launches", "")


def kernel_times(out, steps):
    """Launches and ms per step of each kernel in the profile, by name."""
    with open(out / "cuda_gpu_kern_sum.csv", newline="") as file:
        return {
            row["Name"]: (int(row["Instances"]) / steps, float(row["Total Time (ns)"]) * 1e-6 / steps)
            for row in csv.DictReader(file)
        }


def print_times(program, measured):
    """Prints our kernels by name, the library's as one row, and then its longest ones separately: the
    library has its own names for products."""
    own = own_kernels(program)
    planned = {name: row["ms"] for name, row in planned_launches(program).items()}
    rows = [(name, *measured[name], planned.get(name)) for name in own & measured.keys()]
    library = {name: measured[name] for name in measured.keys() - own}
    products = sum(ms for name, ms in planned.items() if name.startswith("gemm_"))
    counts = [sum(column) for column in zip(*library.values())] or [0, 0]
    rows.append(("matrix products", *counts, products))
    print(f"    {'ms a step':50} {'launches':>8} {'measured':>9} {'planned':>9}")
    for name, launches, ms, expected in sorted(rows, key=lambda row: -row[2])[:24]:
        expected = "-" if expected is None else f"{expected:.3f}"
        print(f"    {name:50} {launches:8.0f} {ms:9.3f} {expected:>9}", flush=True)
    for name in sorted(library, key=lambda name: -library[name][1])[:12]:
        launches, ms = library[name]
        print(f"    library: {name[:90]:90} {launches:5.0f} {ms:9.3f}", flush=True)


def check_profile(gpu, program, folder):
    write_tokens(folder / "tokens.bin", 480 * 2048 + 1, 128256)
    out = folder / "out"
    code, output = run_program(gpu, program, ["--steps", 10, "--out", out], folder)
    if keep and out.exists():
        ignored = shutil.ignore_patterns("model", "checkpoints")
        shutil.copytree(out, keep / program, ignore=ignored, dirs_exist_ok=True)
    if code or not (out / "trace.json").exists():
        judge(f"profile of {program}", False, output)
        return
    report = read_report(out)
    events = json.loads((out / "trace.json").read_text())["traceEvents"]
    steps = report["profiling_window"]["steps"]
    measured = kernel_times(out, steps)
    traced = sum(event["dur"] for event in events if event.get("cat") == "kernel") * 1e-3
    judge(
        f"profile of {program}: {steps} steps, {traced / steps:.2f} ms of kernels a step",
        abs(traced - report["kernels"]["ms"]) < 1e-3 and own_kernels(program) & measured.keys(),
        output,
    )
    print_times(program, measured)


def check_jit(gpu, program, folder):
    check_step(gpu, program, folder, "step, compiled at start,", prefix=["env", "GPUOPT_JIT=1"])


def check_tuned(gpu, program, folder):
    """Prints what --tune finds, and checks that a step with it matches PyTorch."""
    code, output = run_program(gpu, program, ["--tune"], BUNDLE)
    judge(f"products of {program} tuned", code == 0, output)
    if code == 0:
        print("\n".join(f"    {line}" for line in output.splitlines()), flush=True)
        if start_options(program):
            check_step(gpu, program, folder, "step, products tuned,")
        (PROGRAMS / program / "products.json").unlink()


def jobs_of(only):
    """Checks and their programs, the most informative first."""
    programs = [p for p in checked_programs() if only in p]
    recorded = [p for p in programs if start_options(p)]
    others = [p for p in programs if p not in recorded]
    jobs = [(check_step, p) for p in recorded] + [(check_host, p) for p in others]
    llama = [(check_memory, "llama"), (check_products, "llama")]
    llama += [(check_profile, p.name) for p in sorted(PROGRAMS.glob("profile*"))]
    jobs += [(check, p) for check, p in llama if only in p]
    timed = sorted(p.name for p in PROGRAMS.glob("timed.*"))
    jobs += [(check_times, p) for p in timed if only in p]
    jobs += [(check_kernels, p) for p in programs]
    one_rank = sorted(p.name for p in PROGRAMS.glob("*.one_rank_*"))
    jobs += [(check_one_rank, p) for p in one_rank if only in p]
    jobs += [(check_jit, p) for p in ["demo.bf16"] if p in programs]
    jobs += [(check_tuned, p) for p in ["demo.bf16", "llama"] if only in p]
    repeated = [p for p in recorded if p.startswith("demo") or p.endswith("bf16")]
    jobs += [(check_repeats, p) for p in [*repeated, *others]]
    sanitized = ("demo.bf16", "demo.fp32", "pictures", "depthwise")
    jobs += [(check_sanitizer, p) for p in sanitized if p in programs]
    return jobs


ALONE = [check_memory, check_products, check_times, check_profile, check_tuned]


def run_job(gpu, job, minutes):
    """Returns whether the check has passed, where it says so."""
    check, program = job
    if time.monotonic() - began > 60 * minutes:
        verdict("skip", f"{check.__name__[6:]} of {program}", f"{minutes:g} minutes are over")
        return True
    with work_folder() as folder:
        return check(gpu, program, Path(folder))


def run_in_turn(gpu, jobs, minutes):
    while jobs:
        check, program = job = jobs.pop(0)
        passed = run_job(gpu, job, minutes)
        if check in (check_step, check_host) and not passed:
            jobs.remove((check_kernels, program))
            jobs.insert(0, (check_kernels, program))


def run_together(gpu, jobs, minutes, at_a_time):
    """The first job is also run alone: it tells what its process takes."""
    alone = [job for i, job in enumerate(jobs) if i == 0 or job[0] in ALONE]
    for job in alone:
        run_job(gpu, job, minutes)
    with ThreadPoolExecutor(at_a_time) as pool:
        others = [job for job in jobs if job not in alone]
        list(pool.map(lambda job: run_job(gpu, job, minutes), others))


def main():
    global keep
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=lambda path: Path(path).resolve())
    args = parser.parse_args()
    keep = args.keep
    gpu = need_gpu()
    print(
        f"{gpu['name']}, compute capability {gpu['compute_cap']}, driver {gpu['driver_version']}",
        flush=True,
    )
    os.chdir(BUNDLE)
    if args.jobs > 1:
        run_together(gpu, jobs_of(args.only), args.minutes, args.jobs)
    else:
        run_in_turn(gpu, jobs_of(args.only), args.minutes)
    print(
        f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped; "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if counts["FAIL"] or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
