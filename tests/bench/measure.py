"""Shared by the benchmarks: measurements in separate processes, one after another, and their tables.

A measurement is {"ms": of a step, "peak": bytes, "losses": [...], "gpu": clocks and power} or {"error": line}.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Callable

from machine import BUNDLE, PROGRAMS, Watch, finish, nvidia_smi, read_report, run_program

OURS = "gpuopt-gen"
DEVICE = "cuda"

began = time.monotonic()


@dataclass
class Turn:
    """A line of a group's table, and one measurement for it."""
    group: str  # the training run; lines of one group are compared
    line: str   # the contender
    per_step: int  # units per step, as in Bench.unit
    measure: Callable


@dataclass
class Bench:
    name: str        # of the files to write
    title: str
    unit: str        # "tokens"
    tolerance: float  # the losses of all lines of a group must agree within it, relative to the largest
    reference: str = ""  # the line whose speed is 1; "": the fastest peer
    baseline: str = ""  # the group to whose step of ours those of other groups are compared, if any
    aims: Callable = None  # aims(results, gpu): lines that say which aims are reached
    unlike: frozenset = frozenset()  # lines that are measured too but are no peers of ours


# ---- measurements ------------------------------------------------------------------------------------


def in_own_process(script, role, folder, *flags, limit_s=400):
    """Runs a script in another process, offline; returns its exit code and output."""
    used = int(nvidia_smi(["memory.used"])["memory.used"]) * 2**20
    variables = dict(os.environ, GPU_USED_BEFORE=str(used), HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    return finish([sys.executable, script, role, folder, *flags], folder, variables, limit_s)


def failed(name, output):
    print(f"--- {name} failed\n" + "\n".join(output.splitlines()[-25:]), file=sys.stderr, flush=True)
    return {"error": output.strip().splitlines()[-1] if output.strip() else "no message"}


def measure_peer(script, name, folder, *flags):
    """Measures a peer: runs `script --peer FOLDER FLAG...`, which ends with peer_result()."""
    with Watch() as watch:
        code, output = in_own_process(script, "--peer", folder, *flags)
    if code:
        return failed(name, output)
    return json.loads(output.strip().splitlines()[-1]) | {"gpu": watch.figures}


def peer_result(times, losses, versions):
    """Prints the result for measure_peer, from CUDA events around the steps after warm-up."""
    import torch

    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()  # the allocator never frees memory, so this is its peak
    milliseconds = [first.elapsed_time(second) for first, second in zip(times, times[1:])]
    print(json.dumps({
        "ms": statistics.median(milliseconds), "peak": total - free - int(os.environ["GPU_USED_BEFORE"]),
        "losses": [float(loss) for loss in losses], "versions": versions}))


def measure_program(gpu, program, options, folder, losses_of):
    """Measures one of our programs; losses_of(report, losses by step) selects the losses to compare."""
    out = folder / f"out.{program}"
    with Watch() as watch:
        code, output = run_program(gpu, program, [*options, "--out", out], folder)
    if code:
        return failed(program, output)
    report = read_report(out)
    by_step = [float(line.split(",")[1]) for line in (out / "loss.csv").read_text().splitlines()[1:]]
    return {"ms": report["iteration_ms"]["median"], "peak": report["memory"]["process_peak_bytes"],
            "losses": losses_of(report, by_step), "gpu": watch.figures}


def measure_tuned(gpu, program, options, folder, losses_of):
    """The same with each product's fastest algorithm; removes the tuning afterwards."""
    code, output = run_program(gpu, program, ["--tune"], folder)
    if code:
        return failed(program, output)
    try:
        return measure_program(gpu, program, options, folder, losses_of)
    finally:
        (PROGRAMS / program / "products.json").unlink()


# ---- tables ------------------------------------------------------------------------------------------


def good_runs(runs):
    return [run for run in runs if "error" not in run]


def middle_ms(runs):
    return statistics.median(run["ms"] for run in runs)


def reference_ms(bench, lines):
    """The ms per step of the line whose speed is 1, or None if it did not run."""
    known = {line: middle_ms(good_runs(runs)) for line, runs in lines.items() if good_runs(runs)}
    if bench.reference:
        return known.get(bench.reference)
    return min((ms for line, ms in known.items() if not line.startswith(OURS) and line not in bench.unlike),
               default=None)


def baseline_ms(bench, results):
    """The ms per step of our line in the baseline group, or None."""
    good = good_runs(results.get(bench.baseline, {}).get(OURS, []))
    return middle_ms(good) if good else None


def table_row(line, runs, per_step, base_ms, group_ms):
    good = good_runs(runs)
    if not good:
        return f"{line:38} {runs[0]['error']}"
    ms = middle_ms(good)
    speeds = sorted(per_step / run["ms"] * 1e3 for run in good)
    peaks = [run["peak"] for run in good if run["peak"]]
    memory = f"{max(peaks) / 2**20:10,.0f}" if peaks else f"{'-':>10}"
    ratio = f"{base_ms / ms:8.2f}" if base_ms else f"{'-':>8}"
    cost = f" {ms / group_ms:10.2f}" if group_ms and line == OURS else ""
    return (f"{line:38} {len(good):4} {per_step / ms * 1e3:10,.0f} {speeds[0]:10,.0f} {speeds[-1]:10,.0f} "
            f"{ms:9.3f} {memory} {ratio}{cost}")


def make_table(bench, results, per_step):
    """results: {group: {line: [measurement]}}"""
    ratio = "/eager" if bench.reference else "/fastest"
    head = (f"{'':38} {'runs':>4} {bench.unit + '/s':>10} {'lowest':>10} {'highest':>10} {'step, ms':>9} "
            f"{'peak, MiB':>10} {ratio:>8}" + (f" {'step/' + bench.baseline:>10}" if bench.baseline else ""))
    text, group_ms = [head], baseline_ms(bench, results)
    for group, lines in results.items():
        base = reference_ms(bench, lines)
        text += ["", group] if len(results) > 1 else []
        text += [table_row(line, runs, per_step[group], base, group_ms) for line, runs in lines.items()]
    return "\n".join(text)


def largest_difference(losses, ours):
    """Relative to the largest of our losses: those of DPO fall to nearly 0."""
    scale = max(map(abs, ours))
    return max((abs(a - b) / scale for a, b in zip(losses, ours)), default=math.inf)


def group_losses(bench, lines):
    """A table of each line's losses, and whether they agree with ours."""
    firsts = {line: next((run["losses"] for run in good_runs(runs)), None) for line, runs in lines.items()}
    ours = next((losses for line, losses in firsts.items() if line == OURS), None)
    agree, text = ours is not None, []
    for line, losses in firsts.items():
        if losses is None:
            continue
        worst = largest_difference(losses, ours) if ours else math.inf
        agree = agree and worst <= bench.tolerance
        text.append(f"{line:38} " + " ".join(f"{loss:.4f}" for loss in losses) + f"   {worst:.1e}")
    return text, agree


def loss_table(bench, results):
    """The loss tables of all groups, and the names of groups whose losses do not agree."""
    text, apart = [], []
    for group, lines in results.items():
        rows, agree = group_losses(bench, lines)
        text += ([group] if len(results) > 1 else []) + rows
        apart += [] if agree else [group]
    return "\n".join(text), apart


def conditions(results):
    """A line about the GPU while it was busy, over all measurements."""
    runs = [run for lines in results.values() for line in lines.values() for run in line]
    seen = [run["gpu"] for run in runs if run.get("gpu")]
    if not seen:
        return "clocks and power are not known"
    held_back = 0
    for figures in seen:
        held_back |= int(figures["held_back"], 16)
    limit = nvidia_smi(["power.limit"])["power.limit"]
    return (f"SM clock {min(f['sm_mhz'] for f in seen):.0f} to {max(f['sm_mhz'] for f in seen):.0f} MHz, at most "
            f"{max(f['power_w'] for f in seen):.0f} W of {limit} W and {max(f['temperature_c'] for f in seen):.0f} C, "
            f"reasons to hold back {held_back:#x}")


def write_results(bench, gpu, results, per_step, target):
    """Writes the results so far; returns the text and the groups whose losses do not agree."""
    losses, apart = loss_table(bench, results)
    versions = next((run["versions"] for lines in results.values() for runs in lines.values() for run in runs
                     if "versions" in run), "no peer ran")
    warning = f"\nBeyond {bench.tolerance}, so the figures above compare unlike things: {', '.join(apart)}"
    more = [*bench.aims(results, gpu), ""] if bench.aims else []
    text = "\n".join([
        f"{bench.title}: {gpu['name']}, driver {gpu['driver_version']}, {date.today()}", versions, "",
        make_table(bench, results, per_step), "", *more, "losses that must agree, and the largest relative difference from "
        "ours", losses, warning if apart else "", conditions(results)]) + "\n"
    target.mkdir(parents=True, exist_ok=True)
    name = f"{bench.name}-{gpu['name'].lower().replace(' ', '-')}"
    (target / f"{name}.txt").write_text(text)
    (target / f"{name}.json").write_text(json.dumps(
        {"gpu": gpu, "results": results, "losses_disagree": apart}, indent=1) + "\n")
    return text, apart


# ---- aims --------------------------------------------------------------------------------------------


def aim(name, value, bound, most=False):
    """A line that says whether a figure is what it should be; None: it was not measured."""
    def text(number):
        return f"{number:,.0f}" if bound >= 1000 else f"{number:.3f}"

    bound_text = f"{bound:,.0f}" if bound >= 1000 else f"{bound:4.2f}"
    if value is None:
        shown, verdict = "-", "not measured"
    else:
        shown, verdict = text(value), "reached" if (value <= bound if most else value >= bound) else "MISSED"
    return f"{name:56} {shown:>6}   aim: at {'most' if most else 'least':5} {bound_text}   {verdict}"


def figures(results):
    """{group: {line: (ms of a step, peak bytes)}} of what was measured."""
    return {name: {line: (middle_ms(good_runs(runs)), max(run["peak"] or 0 for run in good_runs(runs)))
                   for line, runs in lines.items() if good_runs(runs)} for name, lines in results.items()}


def our_ms(known, group):
    """The ms per step of our program, or None."""
    return known.get(group, {}).get(OURS, [None])[0]


def aim_beside(known, group, peers, what, bound):
    """Compares our speed with that of the fastest of the peers, or our memory with that of the leanest; says how many
    of them these are of, if some were not measured."""
    lines, place = known.get(group, {}), ["speed", "memory"].index(what)
    theirs = {line: lines[line][place] for line in peers if line in lines and lines[line][place]}
    ours = lines.get(OURS, (None, None))[place]
    if not ours or not theirs:
        return aim(f"{group}: {what} of {peers[0] if len(peers) == 1 else 'the best peer'}", None, bound, what == "memory")
    best = min(theirs, key=theirs.get)
    few = f" ({len(theirs)} of {len(peers)} peers)" if len(theirs) < len(peers) else ""
    ratio = ours / theirs[best] if what == "memory" else theirs[best] / ours
    return aim(f"{group}: {what} of {best}{few}", ratio, bound, what == "memory")


# ---- running -----------------------------------------------------------------------------------------


def new_parser(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--results", type=Path, default=BUNDLE / "results")
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    return parser


def measure_all(bench, gpu, turns, args):
    """Runs all turns in order until --minutes are over; writes the table after each. Returns the exit code."""
    results, per_step = {}, {turn.group: turn.per_step for turn in turns}
    text, apart = "nothing was measured", ["all"]
    for turn in turns:
        if time.monotonic() - began > 60 * args.minutes:
            print(f"{args.minutes} minutes are over: {turn.group}, {turn.line} and what follows are left out", flush=True)
            break
        outcome = turn.measure()
        results.setdefault(turn.group, {}).setdefault(turn.line, []).append(outcome)
        print(f"{time.monotonic() - began:4.0f} s  {turn.group}, {turn.line}: {outcome.get('ms', 'failed')} ms",
              flush=True)
        text, apart = write_results(bench, gpu, results, per_step, args.results)
    print("\n" + text)
    return 1 if apart else 0
