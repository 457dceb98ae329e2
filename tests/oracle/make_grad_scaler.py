#!/usr/bin/env python3
"""Writes grad_scaler.csv: what torch.amp.GradScaler does, step by step.

Each run has its own GradScaler and initial scale. A row is one step: whether its gradients were
finite, then scale, growth tracker and number of skipped steps after it. The gradient of a skipped
step is alternately an infinity and a NaN.

    python3 make_grad_scaler.py
"""

import csv
import random
from pathlib import Path

import torch

FINITE, BAD = True, False


def scripts():
    """(name, initial scale, growth interval, whether each step's gradients are finite)"""
    rng = random.Random(1)
    yield "grows", 65536.0, 3, [FINITE] * 10
    yield "backs_off", 65536.0, 3, [BAD] * 20  # far below 1: torch sets no floor
    yield "starts_over", 1024.0, 3, [FINITE, FINITE, BAD] * 3 + [FINITE] * 4
    yield "stays_finite", 2.0**126, 1, [FINITE] * 3 + [BAD, FINITE, FINITE]
    yield "as_it_comes", 65536.0, 4, [rng.random() < 0.75 for _ in range(60)]


def run(first_scale, interval, script):
    """One GradScaler over one weight: the weight shows which steps were skipped."""
    weight = torch.nn.Parameter(torch.zeros(1))
    sgd = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=first_scale, growth_interval=interval)
    scaler.scale(torch.zeros(1))  # makes its tensors
    skipped = 0
    for finite in script:
        before = weight.item()
        bad = float("nan") if skipped % 2 else float("inf")
        weight.grad = torch.full((1,), scaler.get_scale() if finite else bad)
        scaler.step(sgd)
        scaler.update()
        skipped += not finite
        assert weight.item() == before - finite
        yield [int(finite), scaler.get_scale(), scaler._get_growth_tracker(), skipped]


def main():
    with open(Path(__file__).resolve().parent / "grad_scaler.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["run", "growth_interval", "first_scale", "finite", "scale", "growth_tracker",
                      "skipped"])
        for name, first_scale, interval, script in scripts():
            for row in run(first_scale, interval, script):
                out.writerow([name, interval, f"{first_scale:.17g}", row[0], f"{row[1]:.17g}",
                              *row[2:]])


if __name__ == "__main__":
    main()
