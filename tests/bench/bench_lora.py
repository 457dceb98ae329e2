#!/usr/bin/env python3
"""make bench: LoRA of rank 16 on Llama 3.2 1B; compares our program with PyTorch and PEFT on the same GPU.

    bench [--part peers|ideas] [--repeats 5] [--minutes M] [--results DIR]

Batch 4 x 2048, bf16, all linears adapted, every token a target. All contenders have the same random weights,
adapter and tokens: speed does not depend on them. Peers run at their best: flash attention, fused AdamW,
adapters also in bf16 (ours keep fp32 masters), no checkpointing, except where a line says so. Each measurement
is a separate process: 20 warm-up steps, then 50.

`peers`: our program, as it is and with its products tuned, and the two peers in turn, --repeats times;
then a peer that checkpoints.
`ideas`: our program with each of the compiler's optimisations switched off, and with those switched on that
are off until more is measured (programmatic launch). Without --part: both.

After --minutes no new measurement starts. Prints one table, which aims are reached, and the first ten losses,
which must agree, and writes them to DIR under the GPU's name after each measurement, with clocks and power.
"""

import sys
from pathlib import Path

from llama_peers import (SIZES, Trainer, add_adapter, compute_dtype, draw_weights, open_model, read_rows, time_steps,
                         versions)
from machine import PROGRAMS, need_gpu, work_folder, write_tokens
from measure import (OURS, Bench, Turn, aim, aim_beside, failed, figures, in_own_process, measure_all, measure_peer,
                     measure_program, measure_tuned, new_parser, our_ms, peer_result)

WARM_UP, TIMED = 20, 50
STEPS = WARM_UP + TIMED
BATCH, SEQ_LEN = 4, 2048
TOKENS_PER_STEP = BATCH * SEQ_LEN
VOCABULARY = SIZES["vocab_size"]
HELD_OUT = 64 * SEQ_LEN  # at least as many tokens as the program holds out at the end
LEARNING_RATE = 2e-4
FIRST_LOSSES = 10

GROUP = "Llama 3.2 1B, LoRA r 16"
TUNED = f"{OURS}, products tuned"
EAGER, COMPILED = "PyTorch eager + PEFT", "torch.compile + PEFT"
EAGER_CHECKPOINTED = "PyTorch eager + PEFT, checkpointing"


# ---- the peers, each in a separate process -----------------------------------------------------------


def open_peer(folder, checkpointing):
    model = open_model(folder, compute_dtype())
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    return add_adapter(model, folder)


def run_peer(folder, compiled, checkpointing):
    """Trains; prints a line of JSON."""
    import torch
    import torch.nn.functional as F

    model = open_peer(folder, checkpointing)
    inputs, targets = read_rows(folder, STEPS * BATCH, SEQ_LEN)
    trainer = Trainer(model, LEARNING_RATE)

    def loss_of(x, y):
        logits = model(input_ids=x).logits
        return F.cross_entropy(logits.float().view(-1, VOCABULARY), y.reshape(-1))

    forward = torch.compile(loss_of) if compiled else loss_of

    def step(i):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        return trainer.step(forward(inputs[rows], targets[rows]))

    peer_result(*time_steps(step, WARM_UP, TIMED, FIRST_LOSSES), versions())


# ---- ours --------------------------------------------------------------------------------------------


def measure_ours(gpu, program, folder, measure=measure_program):
    options = ["--init", folder / "model", "--adapter", folder / "adapter", "--steps", STEPS]
    return measure(gpu, program, options, folder, lambda report, losses: losses[:FIRST_LOSSES])


# ---- what is measured ------------------------------------------------------------------------------------


def turns(gpu, folder, part, repeats):
    """The measurements, in order."""
    def ours(line, program):
        return Turn(GROUP, line, TOKENS_PER_STEP, lambda: measure_ours(gpu, program, folder))

    def peer(line, *flags):
        return Turn(GROUP, line, TOKENS_PER_STEP, lambda: measure_peer(__file__, line, folder, *flags))

    tuned = Turn(GROUP, TUNED, TOKENS_PER_STEP, lambda: measure_ours(gpu, "llama", folder, measure_tuned))
    listed = []
    if part != "ideas":
        for _ in range(repeats):
            listed += [ours(OURS, "llama"), tuned, peer(EAGER), peer(COMPILED, "--compiled")]
        listed += [peer(EAGER_CHECKPOINTED, "--checkpointing")]
    if part == "ideas":
        listed += [ours(OURS, "llama")]
    if part != "peers":
        for program in sorted(p.name for p in PROGRAMS.glob("llama.*")):
            listed += [ours(f"{OURS}, {program.split('.')[1].replace('_', ' ', 1)}", program)]
    return listed


def aims(results, gpu):
    """Memory is compared with that of the leaner peer."""
    known = figures(results)
    ms = our_ms(known, GROUP) if "H100" in gpu["name"] else None
    yield aim("tokens/s on an H100", TOKENS_PER_STEP / ms * 1e3 if ms else None, 100_000)
    yield aim_beside(known, GROUP, [EAGER], "speed", 2)
    yield aim_beside(known, GROUP, [COMPILED], "speed", 1.5)
    yield aim_beside(known, GROUP, [EAGER, COMPILED], "memory", 0.7)


def new_bench(part):
    title = f"Llama 3.2 1B, LoRA r 16 on all linears, {BATCH} x {SEQ_LEN} tokens, bf16"
    return Bench("lora" if part == "all" else f"lora-{part}", title, "tokens", 1e-2, EAGER,
                 aims=None if part == "ideas" else aims)


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--part", choices=["all", "peers", "ideas"], default="all")
    parser.add_argument("--compiled", action="store_true", help="of a peer")
    parser.add_argument("--checkpointing", action="store_true", help="of a peer")
    args = parser.parse_args()
    if args.draw:
        return draw_weights(args.draw)
    if args.peer:
        return run_peer(args.peer, args.compiled, args.checkpointing)
    gpu = need_gpu()
    with work_folder() as folder:
        folder = Path(folder)
        write_tokens(folder / "tokens.bin", STEPS * TOKENS_PER_STEP + HELD_OUT, VOCABULARY)
        code, output = in_own_process(__file__, "--draw", folder)
        if code:
            failed("drawing the weights", output)
            sys.exit("error: bench needs a Python with torch, transformers and peft (PYTHON=... names one)")
        return measure_all(new_bench(args.part), gpu, turns(gpu, folder, args.part, args.repeats), args)


if __name__ == "__main__":
    sys.exit(main())
