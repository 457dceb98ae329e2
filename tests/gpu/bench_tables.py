#!/usr/bin/env python3
"""Tests what benchmarks make of measurements, which need no GPU to be invented: the table and losses of bench-tuning,
and the aims of all.

    bench_tables.py

Prints the lines that are wrong or missing, with the results; exits with 1 if there are any.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))

import bench_images  # noqa: E402
import bench_lora  # noqa: E402
from bench_tuning import SEQ_LEN, TECHNIQUES, Peer, measure_theirs, new_bench, turns  # noqa: E402
from measure import OURS, write_results  # noqa: E402

MIB = 2**20
NOT_THERE = Peer("qlora", "PEFT, absent", "a_library_that_is_not_installed")


def run(ms, mib, *losses):
    return {"ms": ms, "peak": mib * MIB, "losses": losses}


RESULTS = {
    "lora": {OURS: [run(82.0, 1000, 12.0, 11.0), run(80.0, 1000, 12.0, 11.0), run(90.0, 1001, 12.0, 11.0)],
             "PEFT": [run(164.0, 4000, 12.01, 11.01)], "PEFT, compiled": [run(123.0, 1430, 12.0, 11.0)]},
    "qlora": {OURS: [run(89.14, 900, 12.0, 11.0)], "PEFT, absent": [measure_theirs(NOT_THERE, Path())],
              "PEFT, NF4 in PyTorch, compiled": [run(133.6, 1280, 12.3, 11.0)]},
    "qat_lora": {OURS: [run(91.0, 900, 12.0, 11.0)]},
    "lora_2rows": {OURS: [run(40.0, 900, 12.0, 11.0)]},
    "full": {OURS: [run(100.0, 900, 12.0, 11.0)], "PyTorch, bf16 weights": [run(101.0, 901, 12.0)],
             "PyTorch, autocast, compiled": [run(160.0, 1000, 12.0, 11.0)]},
    "dpo_before": {OURS: [run(88.12, 900, 0.7, 0.0)], "PEFT, compiled": [run(88.2, 0, 0.7, 0.006)]},
    "dpo": {OURS: [run(120.0, 900, 0.7, 0.0)], "PEFT": [run(300.0, 9000, 0.7, 0.0)]},
}
EXPECTED = """\
                                       runs   tokens/s     lowest    highest  step, ms  peak, MiB /fastest  step/lora
gpuopt-gen                                3     99,902     91,022    102,400    82.000      1,001     1.50       1.00
PEFT                                      1     49,951     49,951     49,951   164.000      4,000     0.75
PEFT, compiled                            1     66,602     66,602     66,602   123.000      1,430     1.00
gpuopt-gen                                1     91,900     91,900     91,900    89.140        900     1.50       1.09
PEFT, absent                           a_library_that_is_not_installed is not installed
gpuopt-gen                                1    102,400    102,400    102,400    40.000        900        -       0.49
qlora: speed of lora                                      0.920   aim: at least 0.92   MISSED
qat_lora: speed of lora                                   0.901   aim: at least 0.90   reached
dpo_before: time of lora_2rows                            2.203   aim: at most  2.20   MISSED
lora: speed of PEFT, compiled                             1.500   aim: at least 1.50   reached
lora: memory of PEFT, compiled                            0.700   aim: at most  0.70   reached
qlora: speed of PEFT, NF4 in PyTorch, compiled            1.499   aim: at least 1.50   MISSED
full: speed of PyTorch, autocast, compiled                1.600   aim: at least 1.50   reached
full: memory of PyTorch, autocast, compiled               0.900   aim: at most  0.70   MISSED
dpo_before: speed of PEFT, compiled                       1.001   aim: at least 1.50   MISSED
dpo: no compiled peer was measured
gpuopt-gen                                1     81,920     81,920     81,920   100.000        900     1.60       1.22
PEFT, NF4 in PyTorch, compiled         12.3000 11.0000   2.5e-02
PEFT, compiled                         0.7000 0.0060   8.6e-03
Beyond 0.01, so the figures above compare unlike things: qlora
"""
EAGER, COMPILED = bench_lora.EAGER, bench_lora.COMPILED
LORA = {bench_lora.GROUP: {OURS: [run(81.92, 700)], EAGER: [run(163.84, 1001)], COMPILED: [run(122.0, 1000)]}}
LORA_AIMS = """\
tokens/s on an H100                                      100,000   aim: at least 100,000   reached
Llama 3.2 1B, LoRA r 16: speed of PyTorch eager + PEFT    2.000   aim: at least 2.00   reached
Llama 3.2 1B, LoRA r 16: speed of torch.compile + PEFT    1.489   aim: at least 1.50   MISSED
Llama 3.2 1B, LoRA r 16: memory of torch.compile + PEFT   0.700   aim: at most  0.70   reached
"""
LORA_AIMS_ELSEWHERE = """\
tokens/s on an H100                                           -   aim: at least 100,000   not measured
Llama 3.2 1B, LoRA r 16: speed of PyTorch eager + PEFT        -   aim: at least 2.00   not measured
Llama 3.2 1B, LoRA r 16: speed of torch.compile + PEFT        -   aim: at least 1.50   not measured
Llama 3.2 1B, LoRA r 16: memory of the best peer              -   aim: at most  0.70   not measured
"""
IMAGES = {bench_images.CNN: {OURS: [run(0.0501, 900)], "PyTorch eager": [run(0.6, 900)],
                             "PyTorch eager, one CUDA graph": [run(0.501, 900)]},
          bench_images.RESNET: {OURS: [run(36.5, 900)], f"{OURS}, no wgmma": [run(30.0, 900)]}}
IMAGE_AIMS = """\
cnn.64.bf16.device: speed of PyTorch eager, one CUDA graph (2 of 4 peers) 10.000   aim: at least 10.00   reached
mobilenet_v2.256.bf16.device: speed of the best peer          -   aim: at least 1.50   not measured
resnet50.256.bf16.device: speed of the best peer              -   aim: at least 1.00   not measured
cnn.64.bf16.device: us of a step                         50.100   aim: at most  50.00   MISSED
resnet50.256.bf16.device: images/s on an H100             7,014   aim: at least 7,000   reached
"""
ABSENT = "dpo_before: memory of"  # a peer whose memory is not known
ORDER = ["lora gpuopt-gen", "lora_2rows gpuopt-gen", "lora PEFT", "lora PEFT, compiled"]


def table():
    gpu = {"name": "Tested", "driver_version": "1"}
    per_step = {name: TECHNIQUES[name].rows * SEQ_LEN for name in RESULTS}
    with tempfile.TemporaryDirectory() as folder:
        return write_results(new_bench([]), gpu, RESULTS, per_step, Path(folder))[0]


def wrong_aims():
    """The lines of the other benchmarks' aims that are not as expected."""
    h100, h200 = {"name": "NVIDIA H100 80GB HBM3"}, {"name": "NVIDIA H200"}
    cases = [(bench_lora, LORA, h100, LORA_AIMS), (bench_lora, {}, h200, LORA_AIMS_ELSEWHERE),
             (bench_images, IMAGES, h100, IMAGE_AIMS)]
    return [line for bench, results, gpu, expected in cases
            for line in set(bench.aims(results, gpu)) ^ set(expected.splitlines())]


def main():
    text = table()
    wrong = [line for line in EXPECTED.splitlines() if line not in text.splitlines()]
    wrong += ([ABSENT] if ABSENT in text else []) + wrong_aims()
    if wrong:
        print("\n".join(["wrong:", *wrong, "in:", text]))
    order = [f"{turn.group} {turn.line}" for turn in turns({}, Path(), ["lora"], 2)]
    order = [name for name in order if name in ORDER]
    if order != 2 * ORDER:
        print("order:", *order, sep="\n")
    return 1 if wrong or order != 2 * ORDER else 0


if __name__ == "__main__":
    sys.exit(main())
