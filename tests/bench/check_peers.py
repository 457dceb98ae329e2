#!/usr/bin/env python3
"""Do bench-tuning's peers compute what our programs compute? On the CPU, with a small model: trains each peer for ten
steps, and our program on the simulated device, and compares the losses.

    check_peers.py [--only WORD] [--dtype float32|bfloat16] [--compiled] [--keep DIR]

Needs torch, transformers and PEFT, and compares bitsandbytes and torchao where they are installed. Learning rates and
initial weights are larger than the benchmark's, so that losses tell the techniques apart. In float32 a technique's
losses agree, except where a rounding decides between two codes of QAT; peers with weights in bf16 then have them in
fp32, so all ten losses can be compared. Prints a line per peer; exits with 1 if a first loss, or another one, differs by
more than LIMITS of the largest.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/gpu"))
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import bench_tuning  # noqa: E402
import llama_peers  # noqa: E402
from measure import OURS, largest_difference  # noqa: E402

OUR_TYPES = {"float32": "fp32", "bfloat16": "bf16"}
LIMITS = {"float32": (1e-5, 5e-3), "bfloat16": (2e-3, 2e-2)}  # of the first loss, of the others
FASTER = 25
SMALL = {"vocab_size": 256, "hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "initializer_range": 0.15}


def use_small_model(dtype):
    llama_peers.DEVICE, llama_peers.DTYPE = "cpu", dtype
    llama_peers.SIZES.update(SMALL)
    bench_tuning.SEQ_LEN = 64
    for name, technique in bench_tuning.TECHNIQUES.items():
        bench_tuning.TECHNIQUES[name] = replace(technique, rate=FASTER * technique.rate)


def our_losses(technique, folder, dtype):
    settings = [*bench_tuning.settings(technique), f"optimizer.lr={technique.rate}", f"training.seq_len={bench_tuning.SEQ_LEN}",
                f'precision.dtype="{OUR_TYPES[dtype]}"', *(f"model.{key}={value}" for key, value in SMALL.items())]
    out, sets = folder / technique.name, [word for setting in settings for word in ("--set", setting)]
    here = dict(cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([ROOT / "gpuopt-gen", ROOT / bench_tuning.SPEC, *sets, "--force", "-o", out], **here)
    subprocess.run(["make", "-s", "-C", out, "DEVICE=sim", f"RT={ROOT}", f"RTLIB={ROOT}/build/libruntime.a"], **here)
    subprocess.run([out / "run", *bench_tuning.options_of(technique, folder), "--steps", "10", "--out", out / "out"],
                   env=dict(os.environ, GPUOPT_DEVICE="sim", GPUOPT_SIM_DIR=str(ROOT / "build/sim")), **here)
    return [float(line.split(",")[1]) for line in (out / "out/loss.csv").read_text().splitlines()[1:]]


def peer_losses(peer, folder):
    import torch

    torch.compiler.reset()
    step = bench_tuning.open_step(peer, folder)
    return [float(step(i)) for i in range(bench_tuning.comparable_losses(peer))]


def compare(technique, line, losses, ours, limits):
    """Prints a peer's losses; returns whether they are ours."""
    differences = largest_difference(losses[:1], ours[:1]), largest_difference(losses, ours)
    agree = all(difference <= limit for difference, limit in zip(differences, limits))
    print(f"{technique:10} {line:36} " + " ".join(f"{loss:.4f}" for loss in losses) +
          "   {:.1e} {:.1e}".format(*differences) + ("" if agree else "  FAIL"), flush=True)
    return agree


def check(folder, args):
    bench_tuning.write_data(folder)
    llama_peers.draw_weights(folder)
    peers = [p for p in bench_tuning.PEERS if args.only in f"{p.technique} {p.line}" and (args.compiled or not p.compiled)]
    limits, agree = LIMITS[args.dtype], True
    for technique in dict.fromkeys(p.technique for p in peers):
        ours = our_losses(bench_tuning.TECHNIQUES[technique], folder, args.dtype)
        compare(technique, OURS, ours, ours, limits)
        for peer in (p for p in peers if p.technique == technique):
            if peer.library and not importlib.util.find_spec(peer.library):
                print(f"{technique:10} {peer.line:36} {peer.library} is not installed")
            else:
                agree = compare(technique, peer.line, peer_losses(peer, folder), ours, limits) and agree
    return 0 if agree else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--dtype", choices=LIMITS, default="float32")
    parser.add_argument("--compiled", action="store_true", help="compiled peers too")
    parser.add_argument("--keep", type=Path, help="an empty folder for the files")
    args = parser.parse_args()
    use_small_model(args.dtype)
    if args.keep:
        return check(args.keep, args)
    with tempfile.TemporaryDirectory() as folder:
        return check(Path(folder), args)


if __name__ == "__main__":
    sys.exit(main())
