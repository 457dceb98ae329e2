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

After --minutes no new measurement starts. Prints one table and the first ten losses, which must agree, and
writes both to DIR under the GPU's name after each measurement, with clocks and power.
"""

import sys
from pathlib import Path

from machine import PROGRAMS, need_gpu, work_folder, write_tokens
from measure import (DEVICE, OURS, Bench, Turn, failed, in_own_process, measure_all, measure_peer, measure_program,
                     measure_tuned, new_parser, peer_result)

WARM_UP, TIMED = 20, 50
STEPS = WARM_UP + TIMED
BATCH, SEQ_LEN = 4, 2048
TOKENS_PER_STEP = BATCH * SEQ_LEN
VOCABULARY = 128256
HELD_OUT = 64 * SEQ_LEN  # at least as many tokens as the program holds out at the end
LEARNING_RATE, CLIP = 2e-4, 1.0

GROUP = "Llama 3.2 1B, LoRA r 16"
TUNED = f"{OURS}, products tuned"
EAGER, COMPILED = "PyTorch eager + PEFT", "torch.compile + PEFT"
EAGER_CHECKPOINTED = "PyTorch eager + PEFT, checkpointing"


# ---- the peers, each in a separate process -----------------------------------------------------------


def llama_config():
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
        num_attention_heads=32, num_key_value_heads=8, head_dim=64, max_position_embeddings=131072,
        rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=True,
        rope_scaling={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
                      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})


def causal_attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **_):
    """PyTorch's flash kernel. When compiled, transformers' own call of it passes a mask, which that kernel does
    not support."""
    from torch.nn.functional import scaled_dot_product_attention

    out = scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling, enable_gqa=True)
    return out.transpose(1, 2).contiguous(), None


def draw_weights(folder):
    """The initial model and adapter for all contenders, in Hugging Face's and PEFT's formats."""
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
    """Inputs and targets [rows, SEQ_LEN] of the token file, cut into rows as our program does it."""
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
    peer_result(times[WARM_UP:], losses,
                f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}")


# ---- ours --------------------------------------------------------------------------------------------


def measure_ours(gpu, program, folder, measure=measure_program):
    options = ["--init", folder / "model", "--adapter", folder / "adapter", "--steps", STEPS]
    return measure(gpu, program, options, folder, lambda report, losses: losses[:10])


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


def new_bench(part):
    title = f"Llama 3.2 1B, LoRA r 16 on all linears, {BATCH} x {SEQ_LEN} tokens, bf16"
    return Bench("lora" if part == "all" else f"lora-{part}", title, "tokens", 1e-2, EAGER)


def main():
    parser = new_parser(__doc__, 5)
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
