#!/usr/bin/env python3
"""Compares kernels that check-gpu measured with plans, such as those of a changed device file.

    tests/gpu/plan_errors.py TABLE PROGRAM=FOLDER...

TABLE is what check-gpu printed (tests/bench/results/check-*.txt), PROGRAM one that it has figures of,
timed.resnet50 (launches by events) or profile.resnet50 (kernels of a graph by CUPTI), and FOLDER where
gpuopt-gen emitted it. A plan's times have the gap before a kernel, and CUPTI's have not: there it is
taken off. Needs no GPU.
"""

import json
import math
import re
import statistics
import sys
import tomllib
from pathlib import Path

DEVICES = Path(__file__).resolve().parents[2] / "gen/devices"
TITLE = re.compile(r"ok gpu (?:profile|launches) of ([^\s:]+)(?:: \d+ steps, ([\d.]+) ms of kernels)?")
WHOLE = re.compile(r"\s+all launches of a step, one by one: ([\d.]+) ms")
ROW = re.compile(r"\s+(matrix products|\w+)\s+(\d+)\s+([\d.]+)\s+[\d.]+(\s|$)")


def read_table(path, program):
    """ms a step of each row of the program, by name, and of the whole step."""
    rows, whole, on = {}, None, False
    for line in path.read_text().splitlines():
        title, sum_up = TITLE.match(line), WHOLE.match(line)
        if title:
            on = title[1] == program
            whole = float(title[2]) if on and title[2] else whole
        elif on and sum_up:
            whole = float(sum_up[1])
        elif on and (row := ROW.match(line)):
            rows[row[1]] = float(row[3])
    if not rows:
        sys.exit(f"{path} has no figures of {program}")
    return rows, whole


def read_plan(folder, has_gaps):
    """Planned ms a step of each kernel, of products together, and of all."""
    plan = json.loads((folder / "plan.json").read_text())
    device = tomllib.loads((DEVICES / f"{plan['device']}.toml").read_text())
    gap = 0 if has_gaps else device["overhead_us"]["kernel_gap"] * 1e-3
    times = {row["name"]: row["ms"] - gap * row["launches"] for row in plan["step_launches"]}
    products = sum(ms for name, ms in times.items() if name.startswith("gemm_"))
    return times | {"matrix products": products}, sum(times.values())


def main():
    if len(sys.argv) < 3 or not all("=" in pair for pair in sys.argv[2:]):
        sys.exit(__doc__.strip())
    for program, folder in (pair.split("=", 1) for pair in sys.argv[2:]):
        measured, whole = read_table(Path(sys.argv[1]), program)
        planned, all_planned = read_plan(Path(folder), program.startswith("timed."))
        names = sorted(measured.keys() & planned.keys(), key=lambda name: -measured[name])
        errors = {name: planned[name] / measured[name] - 1 for name in names}
        print(f"{program:76} {'measured':>9} {'planned':>9}   error")
        for name in names:
            print(f"    {name:72} {measured[name]:9.4f} {planned[name]:9.4f} {errors[name]:+7.1%}")
        worst = max(names, key=lambda name: abs(math.log1p(errors[name])))
        median = statistics.median(abs(error) for error in errors.values())
        print(f"    median error {median:.1%}, worst {errors[worst]:+.1%}: {worst}")
        if whole:
            error = all_planned / whole - 1
            print(f"    all kernels of a step: {whole:.3f} ms, planned {all_planned:.3f}: {error:+.1%}")


if __name__ == "__main__":
    main()
