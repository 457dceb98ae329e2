#!/usr/bin/env python3
"""Writes the fixtures under cases/. README.md describes each file.

    python3 make_fixtures.py [--seed N] [--case NAME ...]
"""

import argparse
import json
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file

from fixtures import (nudged, own_errors, relative_errors, report, root_mean_square, spec_text,
                      write_json)
from fake_quantized import converted, fake_quantize_linears
from quantized import decoded
from reference import IGNORED, new_model, patch_transformers, train

HERE = Path(__file__).resolve().parent
STEPS = 10
MEMBERS = 6      # starting points over which PyTorch's own error is taken
EPOCH_STEPS = 8  # steps with distinct data, so that errors of losses are independent; then repeats
ALL_LINEAR = ["all-linear"]
FULL = None  # instead of an adapter: every weight trains


@dataclass
class Case:
    name: str
    about: str
    model: dict           # keys of config.json that differ from BASE_CONFIG
    seq_len: int
    batch: int = 2
    accumulate: int = 1
    task: str = "sft"
    adapter: dict | None = FULL
    quantization: dict | None = None
    qat: dict | None = None
    packing: bool = False
    max_grad_norm: float = 0.1
    schedule: dict = field(default_factory=lambda: {"type": "constant", "warmup_steps": 0})
    lr: float = 5e-3
    eps: float = 1e-3  # about the size of the clipped gradients: the update is smooth in them
    shape_in_spec: bool = False  # write the shape into the spec, not the name of the model's folder


BASE_CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
    "attention_bias": False, "mlp_bias": False, "max_position_embeddings": 128,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False,
    "bos_token_id": None, "eos_token_id": None,
}


QWEN2 = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "rms_norm_eps": 1e-6,
         "rope_theta": 1000000.0}


def shape(hidden, inter, layers, heads, kv_heads, head_dim, vocab, **more):
    return {"hidden_size": hidden, "intermediate_size": inter, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim,
            "vocab_size": vocab, **more}


def gpt2(hidden, layers, heads, vocab, **more):
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": hidden,
            "n_layer": layers, "n_head": heads, "vocab_size": vocab, "n_positions": 64,
            "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "attn_pdrop": 0.0,
            "embd_pdrop": 0.0, "resid_pdrop": 0.0, "tie_word_embeddings": True,
            "bos_token_id": None, "eos_token_id": None, **more}


def lora(r, alpha, targets=ALL_LINEAR, rslora=False, **more):
    return {"r": r, "lora_alpha": alpha, "target_modules": targets, "use_rslora": rslora, **more}


def in_4_bits(block_size, double_quant, quant_type="nf4"):
    return {"quant_type": quant_type, "block_size": block_size, "double_quant": double_quant}


def qat(activation, weight, group_size=32):
    return {"activation_dtype": activation, "weight_dtype": weight, "group_size": group_size,
            "export": weight}


CASES = [
    Case("demo", "the demo's structure, small: LoRA of rank 16 on all linears, grouped keys",
         shape(32, 96, 2, 4, 2, 8, 128, tie_word_embeddings=True), seq_len=64,
         adapter=lora(16, 32.0), lr=1e-2),
    Case("pretrain_tied", "every weight trains; embedding and head are one",
         shape(32, 64, 2, 4, 4, 8, 96, tie_word_embeddings=True), seq_len=24, task="pretrain"),
    Case("pretrain_untied", "every weight trains; embedding and head are two",
         shape(32, 48, 2, 2, 1, 16, 64), seq_len=32, task="pretrain", max_grad_norm=0.0, eps=0.1,
         lr=2e-2),
    Case("lora_q_v_rslora", "two kinds of target, odd rank, scaled by the root of the rank",
         shape(48, 64, 2, 3, 1, 16, 96), seq_len=40,
         adapter=lora(5, 8.0, ["q_proj", "v_proj"], rslora=True), lr=1e-2,
         max_grad_norm=100.0, eps=1e-2),
    Case("odd", "no extent is a power of two",
         shape(40, 52, 3, 4, 1, 24, 101), seq_len=37, batch=3, adapter=lora(3, 6.0), lr=1e-2,
         shape_in_spec=True),
    Case("packed", "short samples share rows, positions restart, nothing leaks between them",
         shape(32, 48, 2, 2, 2, 16, 80), seq_len=48, packing=True,
         adapter=lora(4, 8.0, ["k_proj", "o_proj", "gate_proj", "down_proj"]), lr=1e-2),
    Case("accumulate", "micro-steps with unequal target counts, one of them without any",
         shape(32, 40, 2, 4, 2, 8, 64), seq_len=20, accumulate=3,
         schedule={"type": "linear", "warmup_steps": 0, "min_lr_factor": 0.0}),
    Case("rope_llama3", "Llama 3's stretched rotary waves",
         shape(32, 48, 2, 2, 1, 32, 64, rope_theta=500000.0, rope_scaling={
             "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
             "original_max_position_embeddings": 64}),
         seq_len=48, adapter=lora(4, 8.0, ["q_proj", "k_proj", "v_proj", "o_proj"]), lr=1e-2),
    Case("sched", "cosine with warm-up, every step clipped hard",
         shape(24, 40, 2, 3, 3, 8, 64), seq_len=16, task="pretrain", max_grad_norm=0.05, lr=2e-2,
         schedule={"type": "cosine", "warmup_steps": 3, "min_lr_factor": 0.1}),
    Case("long_head", "heads of 128",
         shape(32, 48, 2, 2, 1, 128, 64), seq_len=80, adapter=lora(4, 8.0), lr=1e-2),
    Case("qlora", "4-bit base, its scales quantised too; blocks that reach into the next row",
         shape(64, 96, 2, 4, 2, 16, 96, tie_word_embeddings=True), seq_len=48,
         adapter=lora(6, 12.0), quantization=in_4_bits(64, True), lr=1e-2),
    Case("qlora_single", "4-bit base with scales in fp32, adapters on two kinds of linear",
         shape(64, 128, 2, 2, 2, 32, 64), seq_len=24,
         adapter=lora(8, 8.0, ["q_proj", "down_proj"]), quantization=in_4_bits(32, False), lr=1e-2),
    Case("qlora_fp4", "a base in floats of 4 bits, its scales quantised too",
         shape(32, 64, 2, 2, 1, 16, 64), seq_len=24, adapter=lora(4, 8.0),
         quantization=in_4_bits(64, True, "fp4"), lr=1e-2),
    Case("qlora_int8", "a base of 8-bit integers, rows with a scale each",
         shape(40, 48, 2, 2, 1, 24, 64), seq_len=24, adapter=lora(4, 8.0, ["q_proj", "down_proj"]),
         quantization={"quant_type": "int8"}, lr=1e-2),
    Case("qat", "every weight trains; 8-bit activations and 4-bit weights, rounded",
         shape(64, 96, 2, 4, 2, 16, 96), seq_len=32, accumulate=2, qat=qat("int8", "int4")),
    Case("qat_lora", "8-bit activations and 4-bit frozen weights, rounded; adapters are not",
         shape(64, 96, 2, 2, 1, 32, 96, tie_word_embeddings=True), seq_len=40,
         adapter=lora(6, 12.0), qat=qat("int8", "int4", 16), lr=1e-2),
    Case("qat_float8", "every weight trains; activations and weights rounded to floats of 8 bits",
         shape(32, 48, 2, 2, 1, 16, 64), seq_len=24,
         qat={"activation_dtype": "float8_e4m3fn", "weight_dtype": "float8_e4m3fn"}),
    Case("qwen2", "every weight trains; queries, keys and values have biases",
         shape(32, 56, 2, 4, 2, 8, 80, **QWEN2), seq_len=28, accumulate=2, task="pretrain"),
    Case("qwen2_lora", "LoRA beside frozen biases; embedding and head are one",
         shape(48, 64, 2, 4, 2, 16, 96, tie_word_embeddings=True, **QWEN2), seq_len=40,
         adapter=lora(5, 10.0), lr=1e-2),
    Case("dora", "DoRA of all linears, beside frozen biases",
         shape(48, 64, 2, 4, 2, 16, 96, tie_word_embeddings=True, **QWEN2), seq_len=32, accumulate=2,
         adapter=lora(5, 10.0, use_dora=True), lr=1e-2),
    Case("qdora", "DoRA on a 4-bit base, two kinds of target",
         shape(64, 96, 2, 4, 2, 16, 96), seq_len=32, quantization=nf4(64, True),
         adapter=lora(6, 8.0, ["v_proj", "gate_proj", "down_proj"], use_dora=True), lr=1e-2),
    Case("modules", "embedding and head train whole beside LoRA",
         shape(32, 48, 2, 2, 1, 16, 64), seq_len=24, accumulate=2,
         adapter=lora(4, 8.0, modules_to_save=["embed_tokens", "lm_head"]), lr=1e-2),
    Case("gpt2", "GPT-2, every weight trains: learned positions, biases, transposed weights",
         gpt2(32, 2, 4, 64), seq_len=28, accumulate=2, task="pretrain"),
    Case("gpt2_lora", "GPT-2, LoRA of all linears; samples share rows and their positions restart",
         gpt2(32, 2, 2, 96, n_inner=80), seq_len=40, packing=True, adapter=lora(5, 10.0), lr=1e-2),
]

OPTIMIZER = {"name": "adamw", "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1}


def optimizer_of(case):
    return OPTIMIZER | {"lr": case.lr, "eps": case.eps}


# --- Weights ---------------------------------------------------------------------------------

def draw_weights(config, generator):
    """Weights that keep activations near one, so that no path through the model is negligible."""
    model = new_model(config)
    weights = {}
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator)
        if "norm" in name or ".ln_" in name and name.endswith("weight"):
            weights[name] = 1 + 0.1 * noise
        elif name.endswith("bias"):
            weights[name] = 0.3 * noise
        elif "embed_tokens" in name or ".wte." in name or ".wpe." in name:
            weights[name] = (0.2 if config["tie_word_embeddings"] else 0.7) * noise
        else:
            fan_in = p.shape[0] if config["model_type"] == "gpt2" else p.shape[1]
            weights[name] = noise * fan_in ** -0.5
    return weights


def add_adapter(model, adapter, generator):
    targets = adapter["target_modules"]
    config = LoraConfig(r=adapter["r"], lora_alpha=adapter["lora_alpha"], lora_dropout=0.0,
                        target_modules="all-linear" if targets == ALL_LINEAR else targets,
                        use_rslora=adapter["use_rslora"], use_dora=adapter.get("use_dora", False),
                        modules_to_save=adapter.get("modules_to_save"), task_type="CAUSAL_LM")
    model = get_peft_model(model, config).eval()
    for name, p in model.named_parameters():
        if "lora_magnitude_vector" in name or "modules_to_save" in name:
            p.data *= 1 + 0.2 * torch.randn(p.shape, generator=generator)
        elif "lora_" in name:
            p.data = torch.randn(p.shape, generator=generator) * p.shape[1] ** -0.5 * 0.3
    return model


def saved_name(name):
    """The name in PEFT's file: without the adapter's name ("default"), a magnitude's ".weight"."""
    name = name.replace("vector.default.weight", "vector").replace("modules_to_save.default.", "")
    return name.replace(".default.", ".")


# --- Data ------------------------------------------------------------------------------------

def draw_sample(rng, vocab, length, prompt):
    """A walk in which each token has four likely successors; the first `prompt` are not targets."""
    ids = [rng.randrange(vocab)]
    while len(ids) < length:
        ids.append((ids[-1] * 5 + rng.choice([1, 7, 11, 19])) % vocab)
    # Nothing comes before a sample's first token, so it is never a target.
    ignored = max(1, prompt)
    return ids, [IGNORED] * ignored + ids[ignored:]


def draw_samples(case, rng, vocab):
    if case.packing:
        samples = [draw_sample(rng, vocab, n := rng.randint(3, 20), rng.randint(0, n - 2))
                   for _ in range(64)]
        while len(make_rows(case, samples)) % (case.batch * case.accumulate):
            samples.pop()
        return samples
    samples = []
    for i in range(EPOCH_STEPS * case.batch * case.accumulate):
        length, prompt = case.seq_len, 0
        if case.task == "sft" and i:  # the first sample fills its row with targets
            length = rng.randint(case.seq_len // 2, case.seq_len)
            prompt = rng.randint(0, length // 2)
        if case.accumulate > 1 and i // case.batch % case.accumulate == 1:
            prompt = length  # the second micro-step has no target
        samples.append(draw_sample(rng, vocab, length, prompt))
    return samples


def make_rows(case, samples):
    """Rows of samples: one sample each, or filled in order until the next sample does not fit."""
    if not case.packing:
        return [[sample] for sample in samples]
    rows, room = [], 0
    for sample in samples:
        if len(sample[0]) > room:
            rows.append([])
            room = case.seq_len
        rows[-1].append(sample)
        room -= len(sample[0])
    return rows


def make_batches(case, rows):
    """[step][micro-batch][row], repeating the rows."""
    stream = iter(rows * (STEPS * case.batch * case.accumulate))
    return [[[next(stream) for _ in range(case.batch)] for _ in range(case.accumulate)]
            for _ in range(STEPS)]


def padded(case, batch, part, pad):
    rows = [sum((sample[part] for sample in row), []) for row in batch]
    return torch.tensor([row + [pad] * (case.seq_len - len(row)) for row in rows])


# --- Files -----------------------------------------------------------------------------------

SHAPE_KEYS = ["vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
              "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings",
              "rms_norm_eps", "rope_theta", "tie_word_embeddings"]


def case_spec(case, config):
    folder = f"tests/oracle/cases/{case.name}"
    data = [f"{folder}/data.jsonl"]
    model = {"config" if case.task == "pretrain" else "weights": f"{folder}/model"}
    if case.shape_in_spec:
        model = {"family": "llama"} | {key: config[key] for key in SHAPE_KEYS}
    tables = {
        "job": {"name": case.name},
        "model": model,
        "training": {"task": case.task, "seq_len": case.seq_len,
                     "per_device_train_batch_size": case.batch,
                     "gradient_accumulation_steps": case.accumulate, "steps": STEPS,
                     "max_grad_norm": case.max_grad_norm, "log_every": 1},
        "optimizer": optimizer_of(case),
        "lr_scheduler": case.schedule,
        "data": {"format": "jsonl", "train": data, "validation": data, "eval_batches": 1,
                 "packing": case.packing, "shuffle": False},
    }
    if case.adapter:
        tables["adapter"] = {"type": "lora"} | case.adapter
    if case.quantization:
        tables["quantization"] = case.quantization
    if case.qat:
        tables["qat"] = case.qat
    return spec_text(case.about, Path(__file__).name, tables)


def write_adapter(model, folder):
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    # PEFT writes a set, in an order that changes from run to run.
    config = json.loads((folder / "adapter_config.json").read_text())
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    write_json(folder / "adapter_config.json", config)


def run(model, dtype, settings):
    return {saved_name(name): value for name, value in train(model, dtype, **settings).items()}


def make_case(case, seed):
    rng = random.Random(f"{seed} {case.name}")
    generator = torch.Generator().manual_seed(rng.getrandbits(62))
    folder = HERE / "cases" / case.name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "model").mkdir(parents=True)

    config = case.model if "n_embd" in case.model else BASE_CONFIG | case.model
    weights = draw_weights(config, generator)
    base = weights
    if case.quantization:
        # Weights that bf16 represents exactly have the same codes in every precision.
        weights = {name: w.bfloat16().float() for name, w in weights.items()}
        base = decoded(weights, case.quantization)
    write_json(folder / "model" / "config.json", config)
    save_file(weights, folder / "model" / "model.safetensors", {"format": "pt"})
    (folder / "spec.toml").write_text(case_spec(case, config))
    if case.qat and case.adapter:  # the base does not train, so its codes are known before training
        for name, dtype in ("fp64", torch.float32), ("bf16", torch.bfloat16):
            save_file(converted(weights, dtype, case.qat["group_size"]),
                      folder / f"quantized.{name}.safetensors")

    samples = draw_samples(case, rng, config["vocab_size"])
    rows = make_rows(case, samples)
    rows_a_step = case.batch * case.accumulate
    assert len(rows) % rows_a_step == 0, f"{case.name}: {len(rows)} rows make no whole steps"
    batches = make_batches(case, rows)
    (folder / "data.jsonl").write_text("".join(
        json.dumps({"input_ids": ids, "labels": labels}) + "\n" for ids, labels in samples))

    adapter_seed = rng.getrandbits(62)

    def fresh_model():
        model = new_model(config, base)
        if case.qat:
            fake_quantize_linears(model, case.qat)
        if case.adapter:
            model = add_adapter(model, case.adapter, torch.Generator().manual_seed(adapter_seed))
        return model

    if case.adapter:
        write_adapter(fresh_model(), folder / "adapter")
    settings = {"optimizer": optimizer_of(case), "schedule": case.schedule,
                "max_grad_norm": case.max_grad_norm, "batches": batches}
    references = [run(nudged(fresh_model(), m), "fp64", settings) for m in range(MEMBERS)]
    errors = {dtype: own_errors(lambda m: run(nudged(fresh_model(), m), dtype, settings),
                                references, root_mean_square) for dtype in ("tf32", "bf16", "fp16")}
    write_json(folder / "errors.json", errors)
    reference = references[0]
    first = batches[0][0]
    save_file(reference | {"input_ids": padded(case, first, 0, 0),
                           "labels": padded(case, first, 1, IGNORED)},
              folder / "expected.safetensors")
    errors["fp32"] = relative_errors(run(fresh_model(), "fp32", settings), reference)
    report(case.name, folder, reference, errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="other weights and data (default 1)")
    parser.add_argument("--case", action="append", metavar="NAME",
                        choices=[case.name for case in CASES], help="only this one; repeatable")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the same sums on every machine with the same library
    patch_transformers()
    for case in CASES:
        if not options.case or case.name in options.case:
            make_case(case, options.seed)


if __name__ == "__main__":
    main()
