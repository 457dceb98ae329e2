#!/usr/bin/env python3
"""Compares the plan's instruction counts with the code that ptxas generated for the same kernels.

    tests/gpu/instructions.py DIR...       DIR: a folder written by gpuopt-gen

Needs nvcc and nvdisasm, but no GPU. Counts a thread's instructions for one vector of elements: the
loop that reads memory, or the whole kernel if there is none, divided by its vectors. Kernels with several such loops, or
unrolled over several vectors, are left out, because SASS does not tell how often each loop runs; so are
launches for several slices, whose number the plan's row does not have.
"""
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def disassembled(folder):
    with tempfile.TemporaryDirectory() as scratch:
        cubin = f"{scratch}/kernels.cubin"
        subprocess.run(["nvcc", "-std=c++17", "-arch=sm_90a", "-fmad=false", "-cubin", "-Iruntime",
                        "kernels.cu", "-o", cubin], cwd=folder, check=True)
        return subprocess.run(["nvdisasm", "-c", cubin], check=True, text=True,
                              stdout=subprocess.PIPE).stdout


def functions(text):
    """name -> list of (label, opcode, operands); a label is an entry without opcode."""
    found, lines = {}, None
    for line in text.splitlines():
        if match := re.match(r"\.text\.(\w+):", line):
            lines = found.setdefault(match[1], [])
        elif match := re.match(r"(\.L_x_\d+):", line):
            lines.append((match[1], "", ""))
        elif match := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)\s*([^;]*);", line):
            lines.append(("", match[1], match[2]))
    return found


def loops(lines):
    """The bodies of the innermost loops that read global memory."""
    places = {label: i for i, (label, _, _) in enumerate(lines) if label}
    last = -1
    for i, (_, opcode, operands) in enumerate(lines):
        target = re.search(r"\.L_x_\d+", operands) if opcode.startswith("BRA") else None
        first = places.get(target[0], i) if target else i
        if last < first < i and any(o.startswith("LDG") for _, o, _ in lines[first:i]):
            last = i
            yield lines[first:i + 1]


def counted(lines):
    return sum(bool(opcode) and opcode != "NOP" for _, opcode, _ in lines)


def accesses(lines, kind):
    return sum(opcode.startswith(kind) for _, opcode, _ in lines)


def rows_of_thread(body, own):
    """How many rows an iteration of the loop that reads memory has, if these share what they read; else 1. `own` is
    the kernel itself, which has the constants of a shared body."""
    rows = re.search(r"\br < (\d+); r\+\+", body)
    if "_v[row - near" in body:
        rows = re.search(r"\brow < near \+ (\d+)", body)
    elif "_v[row - turn" in body:
        rows = re.search(r"\bROWS_PER_TURN = (\d+)", own)
    return int(rows[1]) if rows else 1


def is_unrolled(source, lines):
    """Whether a loop over rows has more loads than in the source."""
    rows = source.split("for (int turn" if "_v[row - " in source else "for (int row", 1)
    return len(rows) > 1 and accesses(lines, "LDG") > len(re.findall(r"load_vec|\w\[row\]", rows[1]))


def text_of(source, name):
    """The body of a kernel, or of the function that it calls if it shares its body with others."""
    body = re.search(rf"\b{name}\((.*?)\n}}\n", source, re.S)
    shared = body and re.search(r"\b(\w+_body(?:_\d+)?)<Sizes>\(", body[1])
    return text_of(source, shared[1]) if shared else body and body[1]


def compare(folder):
    folder = Path(folder)
    source = (folder / "kernels.cu").read_text()
    code = functions(disassembled(folder))
    for launch in json.loads((folder / "plan.json").read_text())["step_launches"]:
        name = launch["name"]
        space = re.search(r"_(\d+)x(\d+)(?:_of_\d+)?$", name)
        body = text_of(source, name)
        in_slices = f"{name}(" in source and "per slice" in source.split(f"{name}(")[0][-200:]
        if not space or not body or in_slices or not launch["instructions"]:
            continue
        widths = re.findall(r"\bstore_vec\(|\bj < (\d+)", body)
        vector = max([int(w) for w in widths if w], default=1)
        within = list(loops(code[name]))
        lines = within[0] if within else code[name]
        stores = len(re.findall(r"\bstore_vec\(\w+ \+ (?!worker)", body))
        own = re.search(rf"\b{name}\((.*?)\n}}\n", source, re.S)[1]
        turns = rows_of_thread(body, own)
        if len(within) > 1 or accesses(lines, "STG") != stores * turns or is_unrolled(body, lines):
            continue
        vectors = launch["launches"] * int(space[1]) * int(space[2]) / vector
        yield name, launch["instructions"] / vectors, counted(lines) / turns


def main():
    ratios = []
    for folder in sys.argv[1:]:
        for name, plan, sass in compare(folder):
            print(f"{plan:7.0f} planned {sass:6.0f} in SASS  {plan / sass:5.2f}  {name}")
            ratios.append(plan / sass)
    if not ratios:
        sys.exit(__doc__)
    print(f"{len(ratios)} kernels: ratio {statistics.median(ratios):.2f} by the median, "
          f"{min(ratios):.2f} to {max(ratios):.2f}")


main()
