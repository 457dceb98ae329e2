#!/usr/bin/env python3
"""Checks that no instruction touches registers that matrix products in flight (wgmma) use.

    in_flight.py FILE...       prints `ok FILE: N products`, or each violation; a file without products is one

A file is what `nvdisasm -c` prints of a cubin. wgmma runs asynchronously: until the wait for its group, its
sums may be neither read nor written, and the registers of its first operand may not be written. ptxas does
not guarantee the latter where the code branches. Follows every path through each kernel.
"""

import re
import sys
from pathlib import Path

INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
NOTHING = (frozenset(), frozenset())
MOST_GROUPS = 16
STORES = ("ST", "RED", "BAR", "BRA", "EXIT", "WARPSYNC", "LDGSTS", "CALL", "RET", "BSSY", "BSYNC", "CCTL")


def kernels_of(text):
    """Yields each kernel's name, instructions (predicate, opcode, operands) and labels."""
    for section in re.split(r"^\.text\.", text, flags=re.M)[1:]:
        name, _, body = section.partition(":")
        code, labels = [], {}
        for line in body.splitlines():
            label = re.match(r"(\.L\w+):", line)
            found = INSTRUCTION.search(line)
            if label:
                labels[label[1]] = len(code)
            elif found:
                code.append(found.groups()[1:])
        yield name, code, labels


def registers(text):
    return {int(number) for number in re.findall(r"\bR(\d+)", text)}


def span(first, count):
    return frozenset(range(first, first + count))


def written(opcode, operands):
    """The registers that an instruction writes: its first operand behind predicates."""
    first = re.match(r"(?:U?P\w+, )*R(\d+)", operands)
    if not first or opcode.startswith(STORES):
        return frozenset()
    wide = 4 if ".128" in opcode or "LDSM" in opcode else 2 if ".64" in opcode or "WIDE" in opcode else 1
    return span(int(first[1]), wide)


def product(opcode, operands):
    """The sums and the first operand's registers of a product."""
    columns = int(re.search(r"64x(\d+)x", opcode)[1])
    numbers = re.match(r"R(\d+), (?:R(\d+),)?", operands)
    return span(int(numbers[1]), columns // 2), span(int(numbers[2]), 4) if numbers[2] else frozenset()


def successors(code, labels, at):
    predicate, opcode, operands = code[at]
    if opcode.startswith(("BRA", "CALL")):
        targets = [labels[label] for label in re.findall(r"\.L\w+", operands) if label in labels]
        always = predicate is None and opcode == "BRA" and not re.match(r"!?U?P", operands)
        return targets + ([] if always else [at + 1])
    if opcode.startswith(("EXIT", "RET")) and predicate is None:
        return []
    return [at + 1]


def is_violated(opcode, operands, groups):
    """Whether an instruction disturbs the groups in flight. Products of the last group, which is open, follow
    each other in order, so they may add to the same sums."""
    sums, inputs = (frozenset().union(*part) for part in zip(*groups))
    if opcode.startswith("HGMMA"):
        own_sums, own_inputs = product(opcode, operands)
        closed = frozenset().union(*(group[0] for group in groups[:-1]))
        return own_inputs & sums or own_sums & (closed | inputs)
    return sums & registers(operands) or (sums | inputs) & written(opcode, operands)


def after(opcode, operands, groups):
    """The groups in flight behind an instruction."""
    if opcode.startswith("HGMMA"):
        own_sums, own_inputs = product(opcode, operands)
        groups = groups[:-1] + ((groups[-1][0] | own_sums, groups[-1][1] | own_inputs),)
        return groups + (NOTHING,) if "gsb0" in operands else groups
    if opcode.startswith("WARPGROUP.DEPBAR"):
        left = int(operands.rsplit(",", 1)[1], 16)
        return groups[-1 - left :]
    return groups


def check(name, code, labels):
    """Walks the paths with the groups in flight, each a pair of sums and operands; the last is open."""
    faults, seen, paths = set(), set(), [(0, (NOTHING,))]
    while paths:
        at, groups = paths.pop()
        if at >= len(code) or (at, groups) in seen:
            continue
        seen.add((at, groups))
        _, opcode, operands = code[at]
        if not opcode.startswith("WARPGROUP.DEPBAR") and is_violated(opcode, operands, groups):
            faults.add(f"{name}: {opcode} {operands} while a product uses the register")
        groups = after(opcode, operands, groups)
        if len(groups) > MOST_GROUPS:
            return faults | {f"{name}: more than {MOST_GROUPS} groups in flight"}
        paths += [(next_at, groups) for next_at in successors(code, labels, at)]
    return faults


def main():
    faults = set()
    for path in sys.argv[1:]:
        products, found = 0, set()
        for name, code, labels in kernels_of(Path(path).read_text()):
            own = sum(opcode.startswith("HGMMA") for _, opcode, _ in code)
            found |= check(name, code, labels) if own else set()
            products += own
        if not products:
            found.add("no products")
        for fault in sorted(found):
            print(f"FAIL {path}: {fault}")
        if not found:
            print(f"ok {path}: {products} products")
        faults |= found
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
