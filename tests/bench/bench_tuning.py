#!/usr/bin/env python3
"""make bench: how to tune Llama 3.2 1B; compares each technique with LoRA, and with its peers on the same GPU.

    bench-tuning [--only WORD]... [--repeats 5] [--minutes M] [--results DIR]
    bench_tuning.py --programs

The techniques are those of specs/h100/study_tuning_1b.toml on one card: 4 rows of 2048 tokens per step, or two pairs
of rows, all of them targets (except a pair's first token), bf16. All contenders have the same random weights, adapter
of rank 16 and tokens; two batches alternate, so that the loss falls. Each measurement is a separate process: 20
warm-up steps, then 30. Our programs are measured first, then the peers, then compiled peers, all --repeats times.

Peers run at their best: flash attention, fused AdamW, no checkpointing, adapters in bf16 (ours have fp32 masters),
compiled as one graph or not at all.

qlora      bitsandbytes, and NF4 in plain PyTorch (low_bit_linears.py)
qat_lora   torchao, and 8da4w in plain PyTorch, which rounds the frozen weights only once
dpo        TRL's sigmoid loss; log-probabilities are cross_entropy of fp32 logits; PEFT's disable_adapter gives the
           reference, in each step, or in dpo_before once before training
full, qat  fp32 weights under autocast, and weights, gradients and moments in bf16. The latter are no peers of our
           fp32: aims leave them out, and only their first loss can be compared, because updates are rounded

A peer whose library is not installed is a line that says so. --only selects measurements with WORD in their name, such
as `qlora`, `gpuopt-gen`, `compiled`; if given several times, all words must occur. After --minutes no new measurement
starts, and aims say so if no compiled peer was measured. --programs prints what the bundle builds, one name, spec and settings per line.
"""

import argparse
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

import llama_peers
from llama_peers import (SIZES, Trainer, add_adapter, compute_dtype, draw_weights, open_model, read_rows, time_steps,
                         versions)
from machine import need_gpu, work_folder, write_pairs, write_tokens
from measure import (OURS, Bench, Turn, aim, aim_beside, failed, figures, in_own_process, measure_all, measure_peer,
                     measure_program, new_parser, our_ms, peer_result)

SPEC = "specs/h100/llama32_1b_lora_r16.toml"
WARM_UP, TIMED = 20, 30
STEPS = WARM_UP + TIMED
FIRST_LOSSES = 10
ROWS, SEQ_LEN = 4, 2048
BATCHES = 2  # distinct ones, which then repeat
BETA = 1e-3  # of DPO: with larger ones, what bf16 rounds away in 2047 tokens shows in a pair's loss
LORA_RATE, FULL_RATE = 2e-4, 2e-5

NF4 = ('quantization.quant_type="nf4"',)
QAT = ('qat.activation_dtype="int8"', 'qat.weight_dtype="int4"')
FULL = ('adapter.type="none"', f"optimizer.lr={FULL_RATE}")
DPO = ('training.task="dpo"', f"training.per_device_train_batch_size={ROWS // 2}", f"dpo.beta={BETA}")
HALF = (f"training.per_device_train_batch_size={ROWS // 2}",)


@dataclass(frozen=True)
class Technique:
    name: str
    settings: tuple  # of our program, in addition to those of LoRA
    rate: float = LORA_RATE
    rows: int = ROWS  # per step
    adapted: bool = True
    few_bits: bool = False  # the weights are NF4
    rounded: bool = False  # by QAT
    of_pairs: bool = False

    @property
    def data(self):
        return "pairs.bin" if self.of_pairs else "tokens.bin"

    @property
    def program(self):
        return f"tuning.{self.name}"


@dataclass(frozen=True)
class Peer:
    technique: str
    line: str
    library: str = ""  # which rounds weights; "": plain PyTorch
    autocast: bool = False  # weights are fp32
    compiled: bool = False

    @property
    def trains_16_bits(self):
        """Whether the weights of a whole model, their gradients and moments are bf16, where ours are fp32."""
        return not TECHNIQUES[self.technique].adapted and not self.autocast


TECHNIQUES = {t.name: t for t in [
    Technique("lora", ()),
    Technique("qlora", NF4, few_bits=True),
    Technique("qat_lora", QAT, rounded=True),
    Technique("lora_2rows", HALF, rows=ROWS // 2),  # as many rows as a step of DPO has pairs
    Technique("dpo_before", (*DPO, "dpo.precompute_ref_log_probs=true"), of_pairs=True),
    Technique("dpo", DPO, of_pairs=True),
    Technique("full", FULL, FULL_RATE, adapted=False),
    Technique("qat", (*FULL, *QAT), FULL_RATE, adapted=False, rounded=True)]}

EAGER_PEERS = [
    Peer("lora", "PEFT"),
    Peer("qlora", "PEFT, bitsandbytes", "bitsandbytes"),
    Peer("qat_lora", "PEFT, torchao", "torchao"),
    Peer("dpo_before", "PEFT"),
    Peer("dpo", "PEFT"),
    Peer("full", "PyTorch, autocast", autocast=True),
    Peer("full", "PyTorch, bf16 weights"),
    Peer("qat", "torchao, autocast", "torchao", autocast=True),
    Peer("qat_lora", "PEFT, 8da4w in PyTorch"),
    Peer("qlora", "PEFT, NF4 in PyTorch"),
    Peer("qat", "8da4w in PyTorch, autocast", autocast=True),
    Peer("qat", "8da4w in PyTorch, bf16 weights")]
COMPILED_PEERS = [Peer(p.technique, f"{p.line}, compiled", p.library, p.autocast, True) for p in EAGER_PEERS]
PEERS = sorted(EAGER_PEERS + COMPILED_PEERS, key=lambda peer: peer.trains_16_bits)  # no aim is about the last ones


# ---- the peers, each in a separate process -----------------------------------------------------------


def bitsandbytes_options():
    """Linears in NF4, when from_pretrained loads a model."""
    from transformers import BitsAndBytesConfig

    config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
                                bnb_4bit_compute_dtype=compute_dtype())
    return {"quantization_config": config, "device_map": {"": llama_peers.DEVICE}}


def round_with_torchao(model):
    import torch
    from torch.ao.quantization.fx import _decomposed
    from torchao.quantization.qat import Int8DynActInt4WeightQATQuantizer

    _decomposed._per_token_quant_qparam_dim_check = lambda *_: None  # it checks sizes, and would break up the graph
    quantizer = Int8DynActInt4WeightQATQuantizer(groupsize=32, precision=compute_dtype(),
                                                 scales_precision=torch.float32)
    quantizer.prepare(model.model.layers)


def open_trained(peer, folder):
    """The model that a peer trains."""
    import torch

    technique = TECHNIQUES[peer.technique]
    options = bitsandbytes_options() if peer.library == "bitsandbytes" else {}
    model = open_model(folder, torch.float32 if peer.autocast else compute_dtype(), **options)
    decoder = model.model
    if technique.rounded and peer.library:
        round_with_torchao(model)
    if technique.adapted:
        model = add_adapter(model, folder)
    if (technique.few_bits or technique.rounded) and not peer.library:
        from low_bit_linears import FakeQuantizedLinear, Nf4Linear, replace_linears

        replace_linears(decoder, Nf4Linear if technique.few_bits else lambda linear: FakeQuantizedLinear(
            linear, compute_dtype()))
    return model


def sft_step(peer, folder):
    import torch
    import torch.nn.functional as F

    model = open_trained(peer, folder)
    trainer = Trainer(model, TECHNIQUES[peer.technique].rate)
    inputs, targets = (rows.view(BATCHES, ROWS, SEQ_LEN) for rows in read_rows(folder, BATCHES * ROWS, SEQ_LEN))

    def loss_of(x, y):
        with torch.autocast(llama_peers.DEVICE, compute_dtype(), enabled=peer.autocast):
            logits = model(input_ids=x).logits
            return F.cross_entropy(logits.float().view(-1, SIZES["vocab_size"]), y.reshape(-1))

    forward = torch.compile(loss_of, fullgraph=True) if peer.compiled else loss_of
    return lambda i: trainer.step(forward(inputs[i % BATCHES], targets[i % BATCHES]))


def read_pairs(folder):
    """Rows [batch, row, token]; the two of a pair are next to each other."""
    import numpy
    import torch

    count = BATCHES * ROWS * SEQ_LEN
    ids = torch.from_numpy(numpy.fromfile(folder / "pairs.bin", numpy.int32, 256 + count)[256:].astype(numpy.int64))
    return ids.view(BATCHES, ROWS, SEQ_LEN).to(llama_peers.DEVICE)


def dpo_step(peer, folder):
    import torch
    import torch.nn.functional as F

    model = open_trained(peer, folder)
    trainer = Trainer(model, TECHNIQUES[peer.technique].rate)
    batches = read_pairs(folder)

    def log_probs_of(rows):
        logits = model(input_ids=rows).logits[:, :-1].float()
        losses = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].reshape(-1), reduction="none")
        return -losses.view(ROWS, -1).sum(1)

    log_probs = torch.compile(log_probs_of, fullgraph=True) if peer.compiled else log_probs_of

    def reference(rows):
        with torch.no_grad(), model.disable_adapter():
            return log_probs(rows)

    known = [reference(rows) for rows in batches] if peer.technique == "dpo_before" else None

    def step(i):
        rows = batches[i % BATCHES]
        before = known[i % BATCHES] if known else reference(rows)  # first: it keeps no activations
        ratios = log_probs(rows) - before
        return trainer.step(-F.logsigmoid(BETA * (ratios[::2] - ratios[1::2])).mean())

    return step


def open_step(peer, folder):
    """A function that trains step i and returns its loss."""
    return (dpo_step if TECHNIQUES[peer.technique].of_pairs else sft_step)(peer, folder)


def comparable_losses(peer):
    """How many of the first losses our program must have too. Updates of weights in 16 bits are rounded."""
    return 1 if peer.trains_16_bits and compute_dtype().itemsize == 2 else FIRST_LOSSES


def run_peer(folder, technique, line):
    """Trains; prints a line of JSON."""
    peer = next(p for p in PEERS if (p.technique, p.line) == (technique, line))
    step = open_step(peer, folder)
    peer_result(*time_steps(step, WARM_UP, TIMED, comparable_losses(peer)), versions())


# ---- our programs ------------------------------------------------------------------------------------


def settings(technique):
    """The settings of our program, in addition to its spec."""
    return ['data.format="tokens"', f'data.train=["{technique.data}"]', f'data.validation=["{technique.data}"]',
            "data.shuffle=false", "data.eval_batches=1", f"training.steps={STEPS}", f"training.log_every={STEPS}",
            "checkpoint.export=false", *technique.settings]


def print_programs():
    for technique in TECHNIQUES.values():
        print(technique.program, SPEC, *settings(technique))


def options_of(technique, folder):
    adapter = ["--adapter", folder / "adapter"] if technique.adapted else []
    return ["--init", folder / "model", *adapter]


def write_data(folder):
    rows = BATCHES * ROWS
    write_tokens(folder / "tokens.bin", rows * SEQ_LEN + 1, SIZES["vocab_size"])
    write_pairs(folder / "pairs.bin", rows // 2, SEQ_LEN, SIZES["vocab_size"])


# ---- what is measured --------------------------------------------------------------------------------


def measure_ours(gpu, technique, folder):
    return measure_program(gpu, technique.program, options_of(technique, folder), folder,
                           lambda report, losses: losses[:FIRST_LOSSES])


def measure_theirs(peer, folder):
    if peer.library and not importlib.util.find_spec(peer.library):
        return {"error": f"{peer.library} is not installed"}
    return measure_peer(__file__, peer.line, folder, "--technique", peer.technique, "--line", peer.line)


def turns(gpu, folder, only, repeats):
    """The measurements, in order."""
    def turn(technique, line, measure, what):
        return Turn(technique.name, line, technique.rows * SEQ_LEN, lambda: measure(what))

    ours = [turn(t, OURS, lambda t: measure_ours(gpu, t, folder), t) for t in TECHNIQUES.values()]
    peers = [turn(TECHNIQUES[p.technique], p.line, lambda p: measure_theirs(p, folder), p) for p in PEERS]
    return [turn for turn in ours + peers
            if all(word in f"{turn.group} {turn.line}" for word in only)] * repeats


# ---- aims --------------------------------------------------------------------------------------------


AIMS_OF_SPEED = {"qlora": 0.92, "qat_lora": 0.90}  # of LoRA's
MOST_TIME_OF_DPO = 2.2  # of LoRA's with as many rows as there are pairs
SPEED_OF_PEER, MEMORY_OF_PEER = 1.5, 0.7
UNLIKE = frozenset(peer.line for peer in PEERS if peer.trains_16_bits)  # lines that are no peers of ours


def aims_beside_lora(known):
    def ratio(technique, other):
        ms, of = our_ms(known, technique), our_ms(known, other)
        return ms / of if ms and of else None

    for name, least in AIMS_OF_SPEED.items():
        yield aim(f"{name}: speed of lora", ratio("lora", name), least)
    yield aim("dpo_before: time of lora_2rows", ratio("dpo_before", "lora_2rows"), MOST_TIME_OF_DPO, most=True)


def aims_beside_peers(known):
    """Speed is compared with the fastest peer of the same types, memory with the one that takes least."""
    for name, lines in known.items():
        peers = [line for line in lines if line not in (OURS, *UNLIKE)]
        if peers and not any(line.endswith(", compiled") for line in peers):
            yield f"{name}: no compiled peer was measured"
        elif peers and OURS in lines:
            yield aim_beside(known, name, peers, "speed", SPEED_OF_PEER)
            if any(lines[line][1] for line in peers):
                yield aim_beside(known, name, peers, "memory", MEMORY_OF_PEER)


def aims(results, _):
    known = figures(results)
    return [*aims_beside_lora(known), *aims_beside_peers(known)]


# ---- running -----------------------------------------------------------------------------------------


def new_bench(only):
    return Bench("-".join(["tuning", *only]), "Llama 3.2 1B, techniques of tuning, bf16", "tokens", 1e-2,
                 baseline="lora", aims=aims, unlike=UNLIKE)


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--programs", action="store_true", help="print what the bundle builds")
    parser.add_argument("--technique", help=argparse.SUPPRESS)
    parser.add_argument("--line", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.programs:
        return print_programs()
    if args.draw:
        return draw_weights(args.draw)
    if args.peer:
        return run_peer(args.peer, args.technique, args.line)
    gpu = need_gpu()
    with work_folder() as folder:
        folder = Path(folder)
        write_data(folder)
        code, output = in_own_process(__file__, "--draw", folder)
        if code:
            failed("drawing the weights", output)
            sys.exit("error: bench-tuning needs a Python with torch, transformers and peft (PYTHON=... names one)")
        return measure_all(new_bench(args.only), gpu, turns(gpu, folder, args.only, args.repeats), args)


if __name__ == "__main__":
    sys.exit(main())
