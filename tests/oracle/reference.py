"""A training step of a small language model, by PyTorch, transformers and PEFT, in a chosen precision.

fp64 is the reference. The others measure PyTorch's own error at those types, with the policy of
mixed-precision trainers: frozen weights and activations have 16 bits, trained weights have fp32
masters that are cast for each forward pass.
"""

import math

import torch
from torch.func import functional_call
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.llama import modeling_llama
from transformers.models.qwen2 import modeling_qwen2

from precision import COMPUTE_DTYPE, LOSS_SCALE, lr_factor, products, wide

IGNORED = -100


# --- transformers computes norms, rotary angles and softmax in float32 whatever the model's type.
# --- These do the same for float32 and bfloat16, and stay in float64 for float64.

def norm_forward(self, x):
    x32 = x.to(wide(x.dtype))
    x32 = x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
    return self.weight * x32.to(x.dtype)


def inverse_frequencies(config):
    """Rotary frequencies in float64, with Llama 3's scaling of long wavelengths."""
    rope, dim = config.rope_parameters, config.head_dim
    frequencies = 1.0 / rope["rope_theta"] ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    if rope["rope_type"] == "default":
        return frequencies
    turns = rope["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return frequencies * (kept + (1 - kept) / rope["factor"])


def rope_forward(self, x, position_ids):
    frequencies = inverse_frequencies(self.config)
    # Checks the line above: transformers' own float32 frequencies must be the same function.
    torch.testing.assert_close(frequencies.float(), self.original_inv_freq.float(),
                               **({"rtol": 1e-5, "atol": 0} if x.dtype.itemsize > 2 else
                                  {"rtol": 1e-2, "atol": 6e-8}))  # fp16's smallest number
    angles = position_ids[..., None].to(wide(x.dtype)) * frequencies.to(wide(x.dtype))
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def attention_forward(module, query, key, value, attention_mask, scaling, dropout=0.0, **kwargs):
    key = modeling_llama.repeat_kv(key, module.num_key_value_groups)
    value = modeling_llama.repeat_kv(value, module.num_key_value_groups)
    scores = query @ key.transpose(2, 3) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = torch.softmax(scores, dim=-1, dtype=wide(query.dtype)).to(query.dtype)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def patch_transformers():
    modeling_llama.LlamaRMSNorm.forward = modeling_qwen2.Qwen2RMSNorm.forward = norm_forward
    for rotary in modeling_llama.LlamaRotaryEmbedding, modeling_qwen2.Qwen2RotaryEmbedding:
        rotary.forward = rope_forward
    for modeling in modeling_llama, modeling_qwen2:
        modeling.eager_attention_forward = attention_forward


def new_model(config, weights=None):
    """A model in float32 with the given tensors, under Hugging Face's names."""
    model = AutoModelForCausalLM.from_config(
        AutoConfig.for_model(**config), attn_implementation="eager").eval()
    if weights:
        missing, unexpected = model.load_state_dict(weights, strict=False)
        tied = {"lm_head.weight"} if config["tie_word_embeddings"] else set()
        assert not unexpected and set(missing) <= tied, (missing, unexpected)
    return model


class Trainer:
    """Trains `model` (its parameters that require gradients) in one precision.

    A step is a list of micro-batches, a micro-batch a list of rows, a row a list of samples, and a
    sample (input_ids, labels) in Hugging Face's convention. Each sample runs separately, so packing
    and padding cannot affect the reference.
    """

    def __init__(self, model, dtype, optimizer, schedule, max_grad_norm, steps):
        self.dtype, self.schedule, self.steps = dtype, schedule, steps
        self.max_grad_norm, self.lr = max_grad_norm, optimizer["lr"]
        self.scale = LOSS_SCALE.get(dtype, 1.0)
        master = torch.float64 if dtype == "fp64" else torch.float32
        self.masters = {name: p.detach().to(master).clone().requires_grad_()
                        for name, p in model.named_parameters() if p.requires_grad}
        self.model = model.to(COMPUTE_DTYPE[dtype])
        self.adamw = torch.optim.AdamW(
            self.masters.values(), lr=self.lr, eps=optimizer["eps"],
            betas=(optimizer["beta1"], optimizer["beta2"]),
            weight_decay=optimizer["weight_decay"])

    def sample_loss(self, sample):
        """The summed loss of one sample, and the logits at its places that have a target."""
        ids, labels = (torch.tensor(part) for part in sample)
        cast = {name: p.to(COMPUTE_DTYPE[self.dtype]) for name, p in self.masters.items()}
        logits = functional_call(self.model, cast, (), {"input_ids": ids[None]}).logits[0]
        logits = logits.to(wide(logits.dtype))
        targets = labels[1:]
        rows = logits[:-1][targets != IGNORED]
        loss = torch.nn.functional.cross_entropy(rows, targets[targets != IGNORED],
                                                 reduction="sum")
        return loss, rows.detach()

    def step(self, t, micro_batches):
        """One optimizer step; returns its mean loss, first micro-batch's logits, raw gradients."""
        targets = sum(label != IGNORED for batch in micro_batches for row in batch
                      for _, labels in row for label in labels[1:])
        self.adamw.zero_grad()
        total, logits = 0.0, []
        for i, batch in enumerate(micro_batches):
            for sample in (sample for row in batch for sample in row):
                loss, rows = self.sample_loss(sample)
                (self.scale * loss / targets).backward()
                total += loss.item() / targets
                logits += [rows] if i == 0 else []
        for p in self.masters.values():
            p.grad /= self.scale
            assert p.grad.isfinite().all()
        grads = {name: p.grad.clone() for name, p in self.masters.items()}
        if self.max_grad_norm:
            torch.nn.utils.clip_grad_norm_(self.masters.values(), self.max_grad_norm)
        for group in self.adamw.param_groups:
            group["lr"] = self.lr * lr_factor(self.schedule, t, self.steps)
        self.adamw.step()
        return total, torch.cat(logits), grads

    def run(self, steps):
        """All steps: the tensors of the first one, and every loss."""
        losses = []
        for t, micro_batches in enumerate(steps):
            loss, logits, grads = self.step(t, micro_batches)
            losses.append(loss)
            if t:
                continue
            result = {"loss": torch.tensor(loss, dtype=torch.float64), "logits": logits}
            result |= {f"grad.{name}": grad for name, grad in grads.items()}
            result |= {f"new.{name}": p.detach().clone() for name, p in self.masters.items()}
        return result | {"losses": torch.tensor(losses, dtype=torch.float64)}


def train(model, dtype, **settings):
    """The results of Trainer.run() in float64."""
    steps = settings.pop("batches")
    trainer = Trainer(model, dtype, steps=len(steps), **settings)
    with products(dtype):
        result = trainer.run(steps)
    return {name: value.double() for name, value in result.items()}
