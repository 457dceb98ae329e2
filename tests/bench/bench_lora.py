#!/usr/bin/env python3
"""make bench: LoRA of rank 16 on Llama 3.2 1B, our program beside PyTorch and PEFT on the same GPU.

    bench [--part peers|ideas] [--repeats 5] [--minutes M] [--results DIR]

Batch 4 x 2048, bf16, all linears adapted, every token a target, the same weights, adapter and tokens
on all sides, drawn at random: speed does not depend on them. Peers run at their best: flash
attention, fused AdamW, adapters in bf16 too (ours keep fp32 masters), no checkpointing, except where a
line says so. Each measurement is a process of its own: 20 steps to warm up, then 50.

`peers`: our program and the two peers in turn, --repeats times; then a peer that checkpoints.
`ideas`: our program with each of the compiler's ideas switched off. Without --part: both.

After --minutes nothing new is begun. Prints one table and the first ten losses, which must agree, and
writes both to DIR under the GPU's name, after each measurement anew, with clocks and power.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
from datetime import date
from pathlib import Path

from machine import (BUNDLE, PROGRAMS, Watch, finish, need_gpu, nvidia_smi, read_report, run_program, work_folder,
                     write_tokens)

WARM_UP, TIMED = 20, 50
STEPS = WARM_UP + TIMED
BATCH, SEQ_LEN = 4, 2048
TOKENS_PER_STEP = BATCH * SEQ_LEN
VOCABULARY = 128256
HELD_OUT = 64 * SEQ_LEN  # what the program sets aside at the end of the tokens, and more
LOSS_TOLERANCE = 1e-2  # relative, of each of the first ten losses
LEARNING_RATE, CLIP = 2e-4, 1.0
DEVICE = "cuda"

OURS = "gpuopt-gen"
EAGER, COMPILED = "PyTorch eager + PEFT", "torch.compile + PEFT"
EAGER_CHECKPOINTED = "PyTorch eager + PEFT, checkpointing"

began = time.monotonic()


# ---- the peers, each in a process of its own ---------------------------------------------------------


def llama_config():
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
        num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=131072,
        rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=True,
        rope_scaling={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
                      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})


def causal_attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **_):
    """PyTorch's flash kernel. transformers' own call of it brings a mask while it is compiled, with which that
    kernel cannot run."""
    from torch.nn.functional import scaled_dot_product_attention

    out = scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling, enable_gqa=True)
    return out.transpose(1, 2).contiguous(), None


def draw_weights(folder):
    """The model and adapter that all sides start from, in Hugging Face's and PEFT's formats."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM

    torch.manual_seed(0)
    with torch.device(DEVICE):
        model = LlamaForCausalLM(llama_config())
    model = model.to(torch.bfloat16)
    model.save_pretrained(folder / "model")
    lora = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM",
                      target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])
    get_peft_model(model, lora).save_pretrained(str(folder / "adapter"), save_embedding_layers=False)


def open_peer(folder, checkpointing):
    import torch
    from peft import PeftModel
    from transformers import AttentionInterface, LlamaForCausalLM

    AttentionInterface.register("causal", causal_attention)
    model = LlamaForCausalLM.from_pretrained(folder / "model", dtype=torch.bfloat16, attn_implementation="causal")
    model = model.to(DEVICE)
    model.config.use_cache = False
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    model = PeftModel.from_pretrained(model, str(folder / "adapter"), is_trainable=True, autocast_adapter_dtype=False)
    return model.to(torch.bfloat16).train()


def read_rows(folder):
    """Inputs and targets [rows, SEQ_LEN] of the token file, as our program cuts it into rows."""
    import numpy
    import torch

    tokens = torch.from_numpy(numpy.fromfile(folder / "tokens.bin", dtype=numpy.int32)[256:].astype(numpy.int64))
    rows = STEPS * BATCH
    inputs = tokens[:rows * SEQ_LEN].view(rows, SEQ_LEN)
    targets = tokens[1:rows * SEQ_LEN + 1].view(rows, SEQ_LEN)
    return inputs.to(DEVICE), targets.to(DEVICE)


def run_peer(folder, compiled, checkpointing):
    """Trains STEPS steps; prints a line of JSON."""
    import peft
    import torch
    import torch.nn.functional as F
    import transformers

    model = open_peer(folder, checkpointing)
    inputs, targets = read_rows(folder)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=LEARNING_RATE, weight_decay=0.0, fused=True)

    def loss_of(x, y):
        logits = model(input_ids=x).logits
        return F.cross_entropy(logits.float().view(-1, VOCABULARY), y.reshape(-1))

    forward = torch.compile(loss_of) if compiled else loss_of
    losses, times = [], [torch.cuda.Event(enable_timing=True) for _ in range(STEPS + 1)]
    times[0].record()
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        loss = forward(inputs[rows], targets[rows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step < 10:
            losses.append(loss.detach())
        times[step + 1].record()
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()  # the allocator gives nothing back: this is its peak
    milliseconds = [times[i].elapsed_time(times[i + 1]) for i in range(WARM_UP, STEPS)]
    print(json.dumps({
        "ms": statistics.median(milliseconds), "peak": total - free - int(os.environ["GPU_USED_BEFORE"]),
        "losses": [float(loss) for loss in losses],
        "versions": f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}"}))


def in_own_process(role, folder, *flags):
    """This file in another process; gives its exit code and output. Nothing is asked of the network."""
    used = int(nvidia_smi(["memory.used"])["memory.used"]) * 2**20
    variables = dict(os.environ, GPU_USED_BEFORE=str(used), HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    return finish([sys.executable, __file__, role, folder, *flags], folder, variables, 400)


def failed(name, output):
    print(f"--- {name} failed\n" + "\n".join(output.splitlines()[-25:]), file=sys.stderr, flush=True)
    return {"error": output.strip().splitlines()[-1] if output.strip() else "no message"}


def measure_peer(name, folder, *flags):
    with Watch() as watch:
        code, output = in_own_process("--peer", folder, *flags)
    if code:
        return failed(name, output)
    return json.loads(output.strip().splitlines()[-1]) | {"gpu": watch.figures}


# ---- ours --------------------------------------------------------------------------------------------


def measure_ours(gpu, program, folder):
    out = folder / f"out.{program}"
    options = ["--init", folder / "model", "--adapter", folder / "adapter", "--steps", STEPS, "--out", out]
    with Watch() as watch:
        code, output = run_program(gpu, program, options, folder)
    if code:
        return failed(program, output)
    report = read_report(out)
    losses = [float(line.split(",")[1]) for line in (out / "loss.csv").read_text().splitlines()[1:11]]
    return {"ms": report["iteration_ms"]["median"], "peak": report["memory"]["process_peak_bytes"],
            "losses": losses, "gpu": watch.figures}


# ---- the table -------------------------------------------------------------------------------------------


def tokens_per_s(ms):
    return TOKENS_PER_STEP / ms * 1e3


def table_row(name, runs, base):
    good = [run for run in runs if "error" not in run]
    if not good:
        return f"{name:38} {runs[0]['error']}"
    speeds = sorted(tokens_per_s(run["ms"]) for run in good)
    middle = statistics.median(speeds)
    ms = statistics.median(run["ms"] for run in good)
    peaks = [run["peak"] for run in good if run["peak"]]
    memory = f"{max(peaks) / 2**20:10,.0f}" if peaks else f"{'-':>10}"
    ratio = f"{middle / base:6.2f}" if base else f"{'-':>6}"
    return f"{name:38} {len(good):4} {middle:10,.0f} {speeds[0]:10,.0f} {speeds[-1]:10,.0f} {ms:9.2f} {memory} {ratio}"


def make_table(results):
    eager = [run for run in results.get(EAGER, []) if "error" not in run]
    base = statistics.median(tokens_per_s(run["ms"]) for run in eager) if eager else None
    head = (f"{'':38} {'runs':>4} {'tokens/s':>10} {'lowest':>10} {'highest':>10} {'step, ms':>9} {'peak, MiB':>10} "
            f"{'/eager':>6}")
    return "\n".join([head] + [table_row(name, runs, base) for name, runs in results.items()])


def loss_table(results):
    """The first ten losses of each side, and whether they agree with ours."""
    firsts = {name: next((run["losses"] for run in runs if "losses" in run), None) for name, runs in results.items()}
    ours, agree, lines = firsts.get(OURS), True, []
    for name, losses in firsts.items():
        if losses is None:
            continue
        worst = max((abs(a - b) / abs(b) for a, b in zip(losses, ours)), default=math.inf) if ours else math.inf
        agree &= worst <= LOSS_TOLERANCE
        lines.append(f"{name:38} " + " ".join(f"{loss:.4f}" for loss in losses) + f"   {worst:.1e}")
    return "\n".join(lines), agree and ours is not None


def conditions(results):
    """While the GPU was busy, over all measurements."""
    seen = [run["gpu"] for runs in results.values() for run in runs if run.get("gpu")]
    if not seen:
        return "clocks and power are not known"
    held_back = 0
    for figures in seen:
        held_back |= int(figures["held_back"], 16)
    limit = nvidia_smi(["power.limit"])["power.limit"]
    return (f"SM clock {min(f['sm_mhz'] for f in seen):.0f} to {max(f['sm_mhz'] for f in seen):.0f} MHz, at most "
            f"{max(f['power_w'] for f in seen):.0f} W of {limit} W and {max(f['temperature_c'] for f in seen):.0f} C, "
            f"reasons to hold back {held_back:#x}")


def report(gpu, results, target, part):
    """Writes what is known so far; gives the text and whether the losses agree."""
    losses, agree = loss_table(results)
    versions = next((run["versions"] for runs in results.values() for run in runs if "versions" in run), "no peer ran")
    text = "\n".join([
        f"Llama 3.2 1B, LoRA r 16 on all linears, {BATCH} x {SEQ_LEN} tokens, bf16: {gpu['name']}, driver "
        f"{gpu['driver_version']}, {date.today()}", versions, "", make_table(results), "",
        "first ten losses, and the largest relative difference from ours", losses,
        "" if agree else f"\nThe losses do not agree within {LOSS_TOLERANCE}: the figures above compare unlike things.",
        conditions(results)]) + "\n"
    target.mkdir(parents=True, exist_ok=True)
    name = gpu["name"].lower().replace(" ", "-") + (f"-{part}" if part != "all" else "")
    (target / f"lora-{name}.txt").write_text(text)
    (target / f"lora-{name}.json").write_text(json.dumps(
        {"gpu": gpu, "results": results, "losses_agree": agree}, indent=1) + "\n")
    return text, agree


# ---- what is measured ------------------------------------------------------------------------------------


def plan(gpu, folder, part, repeats):
    """Names and measurements, in their order."""
    turns = []
    if part != "ideas":
        for _ in range(repeats):
            turns += [(OURS, lambda: measure_ours(gpu, "llama", folder)),
                      (EAGER, lambda: measure_peer(EAGER, folder)),
                      (COMPILED, lambda: measure_peer(COMPILED, folder, "--compiled"))]
        turns += [(EAGER_CHECKPOINTED, lambda: measure_peer(EAGER_CHECKPOINTED, folder, "--checkpointing"))]
    if part == "ideas":
        turns += [(OURS, lambda: measure_ours(gpu, "llama", folder))]
    if part != "peers":
        for program in sorted(p.name for p in PROGRAMS.glob("llama.no_*")):
            name = f"{OURS}, {program.split('.')[1].replace('_', ' ', 1)}"
            turns += [(name, lambda program=program: measure_ours(gpu, program, folder))]
    return turns


def measure_all(gpu, folder, args):
    results = {}
    for name, measure in plan(gpu, folder, args.part, args.repeats):
        if time.monotonic() - began > 60 * args.minutes:
            print(f"{args.minutes} minutes are over: {name} and what follows it are left out", flush=True)
            break
        results.setdefault(name, []).append(measure())
        outcome = results[name][-1]
        print(f"{time.monotonic() - began:4.0f} s  {name}: {outcome.get('ms', 'failed')} ms", flush=True)
        text, agree = report(gpu, results, args.results, args.part)
    print("\n" + text)
    return 0 if agree else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["all", "peers", "ideas"], default="all")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--results", type=Path, default=BUNDLE / "results")
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--compiled", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--checkpointing", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.draw:
        return draw_weights(args.draw)
    if args.peer:
        return run_peer(args.peer, args.compiled, args.checkpointing)
    gpu = need_gpu()
    with work_folder() as folder:
        folder = Path(folder)
        write_tokens(folder / "tokens.bin", STEPS * TOKENS_PER_STEP + HELD_OUT, VOCABULARY)
        code, output = in_own_process("--draw", folder)
        if code:
            failed("drawing the weights", output)
            sys.exit("error: bench needs a Python with torch, transformers and peft (PYTHON=... names one)")
        return measure_all(gpu, folder, args)


if __name__ == "__main__":
    sys.exit(main())
