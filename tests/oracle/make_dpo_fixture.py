#!/usr/bin/env python3
"""Writes cases/dpo: ten steps of DPO from a non-zero adapter, by PyTorch, transformers and PEFT.

    python3 make_dpo_fixture.py [--seed N]

The loss is TRL's (trl/trainer/dpo_trainer.py, DPOTrainer._compute_loss, version 1.16), written out
below. If the package can be imported, its own code must give the same results, for every loss type
and for the figures. The reference is the same model with its adapter disabled, as in TRL.
"""

import argparse
import collections
import contextlib
import json
import random
import shutil
import types
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.func import functional_call

from fixtures import (nudged, own_errors, relative_errors, report, root_mean_square, spec_text,
                      write_json)
from make_fixtures import (BASE_CONFIG, MEMBERS, OPTIMIZER, STEPS, add_adapter, draw_weights, lora,
                           saved_name, shape, write_adapter)
from precision import COMPUTE_DTYPE, products, wide
from reference import IGNORED, Trainer, new_model, patch_transformers

HERE = Path(__file__).resolve().parent
NAME, SEQ_LEN, PAIRS, ACCUMULATE, HELD_OUT = "dpo", 40, 2, 2, 3
CONFIG = BASE_CONFIG | shape(32, 48, 2, 4, 2, 8, 96)
ADAPTER = lora(6, 12.0)
SCHEDULE = {"type": "constant", "warmup_steps": 0}
OPTIMIZER = OPTIMIZER | {"lr": 1e-2, "eps": 1e-3}
MAX_GRAD_NORM = 1.0
DPO = {"loss_type": "sigmoid", "beta": 0.3}
FIGURES = ["rewards/accuracies", "rewards/margins", "rewards/chosen", "rewards/rejected",
           "logps/chosen", "logps/rejected"]


# --- The loss --------------------------------------------------------------------------------

def pair_loss(chosen, rejected, reference_chosen, reference_rejected, lengths, loss_type, beta,
              label_smoothing=0.0):
    """The loss of one pair, from the log-probabilities of its sequences."""
    chosen_ratio, rejected_ratio = chosen - reference_chosen, rejected - reference_rejected
    z = beta * (chosen_ratio - rejected_ratio)
    if loss_type == "sigmoid":  # with the smoothing of conservative DPO
        return -F.logsigmoid(z) * (1 - label_smoothing) - F.logsigmoid(-z) * label_smoothing
    if loss_type == "hinge":
        return torch.relu(1 - z)
    if loss_type == "robust":
        return (-F.logsigmoid(z) * (1 - label_smoothing)
                + F.logsigmoid(-z) * label_smoothing) / (1 - 2 * label_smoothing)
    assert loss_type == "ipo"
    return (chosen_ratio / lengths[0] - rejected_ratio / lengths[1] - 1 / (2 * beta)) ** 2


def figures_of(chosen, rejected, reference_chosen, reference_rejected, beta):
    rewards = beta * (chosen - reference_chosen), beta * (rejected - reference_rejected)
    return dict(zip(FIGURES, map(float, [rewards[0] > rewards[1], rewards[0] - rewards[1],
                                         *rewards, chosen, rejected])))


def trl_loss(places, reference, mask, loss_type, beta, label_smoothing):
    """TRL's loss and figures for log-probabilities [chosen and rejected, places]."""
    from trl import DPOTrainer

    class Accelerator:
        device = "cpu"
        gather = gather_for_metrics = staticmethod(lambda x: x)

    nothing = torch.zeros_like(places)
    outputs = types.SimpleNamespace(log_probs=places, entropy=nothing, mean_logits=nothing,
                                    is_top1=nothing.bool())
    trainer = types.SimpleNamespace(
        model=types.SimpleNamespace(training=False), accelerator=Accelerator(), ld_alpha=None,
        aux_loss_enabled=False, precompute_ref_logps=True, f_divergence_type="reverse_kl",
        loss_types=[loss_type], loss_weights=[1.0], beta=beta, label_smoothing=label_smoothing,
        use_weighting=False, _metrics={"eval": collections.defaultdict(list)},
        _total_train_tokens=0, _tp_size=1)
    inputs = {"input_ids": torch.zeros_like(mask), "completion_mask": mask,
              "ref_chosen_logps": reference[:1], "ref_rejected_logps": reference[1:]}
    loss = DPOTrainer._compute_loss(trainer, lambda **_: outputs, inputs, False)
    return loss, {name: trainer._metrics["eval"][name][0] for name in FIGURES}


def check_against_trl():
    try:
        from trl import DPOTrainer  # noqa: F401
    except (ImportError, RuntimeError) as reason:
        print(f"TRL is not there, so its formulas stand unchecked: {str(reason).splitlines()[-1]}")
        return
    generator = torch.Generator().manual_seed(1)
    for loss_type, smoothing in [("sigmoid", 0.0), ("ipo", 0.0), ("hinge", 0.0), ("robust", 0.2)]:
        mask = torch.tensor([[0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0]])
        places = -torch.rand(2, 5, generator=generator, dtype=torch.float64) * mask[:, 1:]
        reference = -torch.rand(2, generator=generator, dtype=torch.float64)
        ours = *places.sum(1), *reference
        loss, figures = trl_loss(places, reference, mask, loss_type, 0.3, smoothing)
        torch.testing.assert_close(
            pair_loss(*ours, mask.sum(1), loss_type, 0.3, smoothing), loss, rtol=1e-12, atol=0)
        assert all(abs(figures[k] - v) < 1e-12 for k, v in figures_of(*ours, 0.3).items())
    print("the formulas are TRL's")


# --- The reference ---------------------------------------------------------------------------

class PairTrainer(Trainer):
    """A step is a list of micro-batches, each a list of pairs of two samples (ids, labels)."""

    def logits_of(self, sample, adapted=True):
        ids, labels = (torch.tensor(part) for part in sample)
        cast = {name: p.to(COMPUTE_DTYPE[self.dtype]) for name, p in self.masters.items()}
        with contextlib.nullcontext() if adapted else self.model.disable_adapter():
            logits = functional_call(self.model, cast, (), {"input_ids": ids[None]}).logits[0]
        targets = labels[1:]
        return (logits.to(wide(logits.dtype))[:-1][targets != IGNORED],
                targets[targets != IGNORED])

    def log_probability(self, sample, adapted=True):
        rows, targets = self.logits_of(sample, adapted)
        return -F.cross_entropy(rows, targets, reduction="sum"), rows.detach()

    def pair(self, pair):
        """Loss and figures of one pair, and the logits of its targets."""
        policy = [self.log_probability(sample) for sample in pair]
        with torch.no_grad():
            reference = [self.log_probability(sample, adapted=False)[0] for sample in pair]
        logps = *(logp for logp, _ in policy), *reference
        lengths = [sum(label != IGNORED for label in labels) for _, labels in pair]
        return (pair_loss(*logps, lengths, **DPO),
                figures_of(*(logp.detach() for logp in logps), DPO["beta"]),
                torch.cat([rows for _, rows in policy]))

    def step(self, t, micro_batches):
        count = sum(map(len, micro_batches))
        self.adamw.zero_grad()
        total, logits = 0.0, []
        for i, batch in enumerate(micro_batches):
            for pair in batch:
                loss, _, rows = self.pair(pair)
                (self.scale * loss / count).backward()
                total += loss.item() / count
                logits += [rows] if i == 0 else []
        return self.finish(t, total, logits)

    def finish(self, t, total, logits):
        for p in self.masters.values():
            p.grad /= self.scale
            assert p.grad.isfinite().all()
        grads = {name: p.grad.clone() for name, p in self.masters.items()}
        torch.nn.utils.clip_grad_norm_(self.masters.values(), self.max_grad_norm)
        self.adamw.step()
        return total, torch.cat(logits), grads

    def evaluation(self, pairs):
        with torch.no_grad():
            found = [{"loss": loss.item()} | figures
                     for loss, figures, _ in (self.pair(pair) for pair in pairs)]
        return {name: sum(f[name] for f in found) / len(found) for name in found[0]}


def train(model, dtype, batches, held_out):
    trainer = PairTrainer(model, dtype, OPTIMIZER, SCHEDULE, MAX_GRAD_NORM, len(batches))
    with products(dtype):
        before = trainer.evaluation(held_out)
        result = trainer.run(batches)
        after = trainer.evaluation(held_out)
    result |= {f"heldout.{name}": torch.tensor([before[name], after[name]], dtype=torch.float64)
               for name in before}
    return {saved_name(name): value.double() for name, value in result.items()}


# --- Files -----------------------------------------------------------------------------------

def walk(rng, start, length, steps):
    ids = [start]
    while len(ids) <= length:
        ids.append((ids[-1] * 5 + rng.choice(steps)) % CONFIG["vocab_size"])
    return ids[1:]


def draw_pair(rng, full):
    """The chosen completion continues the prompt's walk, the rejected one jumps."""
    prompt = walk(rng, rng.randrange(CONFIG["vocab_size"]), rng.randint(4, 12), [1, 7])
    rest = SEQ_LEN - len(prompt)
    lengths = [rest if full else rng.randint(3, rest) for _ in range(2)]
    return {"prompt_ids": prompt, "chosen_ids": walk(rng, prompt[-1], lengths[0], [1, 7]),
            "rejected_ids": walk(rng, prompt[-1], lengths[1], [3, 11, 19, 23])}


def samples_of(pair):
    ignored = [IGNORED] * len(pair["prompt_ids"])
    return [(pair["prompt_ids"] + pair[which], ignored + pair[which])
            for which in ("chosen_ids", "rejected_ids")]


def padded(batch, part, pad):
    return torch.tensor([sum((s[part] + [pad] * (SEQ_LEN - len(s[part])) for s in pair), [])
                         for pair in batch])


def write_data(path, pairs):
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))


def case_spec():
    folder = f"tests/oracle/cases/{NAME}"
    return spec_text("pairs, the reference being the model without its adapter", Path(__file__).name, {
        "job": {"name": NAME},
        "model": {"weights": f"{folder}/model"},
        "training": {"task": "dpo", "seq_len": SEQ_LEN, "per_device_train_batch_size": PAIRS,
                     "gradient_accumulation_steps": ACCUMULATE, "steps": STEPS,
                     "max_grad_norm": MAX_GRAD_NORM, "log_every": 1},
        "optimizer": OPTIMIZER,
        "lr_scheduler": SCHEDULE,
        "data": {"format": "jsonl", "train": [f"{folder}/data.jsonl"],
                 "validation": [f"{folder}/held_out.jsonl"], "eval_batches": 2, "shuffle": False},
        "dpo": DPO,
        "adapter": {"type": "lora"} | ADAPTER,
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="other weights and data (default 1)")
    rng = random.Random(f"{parser.parse_args().seed} {NAME}")
    torch.set_num_threads(1)
    patch_transformers()
    check_against_trl()
    folder = HERE / "cases" / NAME
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "model").mkdir(parents=True)
    weights = draw_weights(CONFIG, torch.Generator().manual_seed(rng.getrandbits(62)))
    write_json(folder / "model" / "config.json", CONFIG)
    save_file(weights, folder / "model" / "model.safetensors", {"format": "pt"})
    (folder / "spec.toml").write_text(case_spec())
    a_step = PAIRS * ACCUMULATE
    pairs = [draw_pair(rng, full=i == 0) for i in range(STEPS * a_step)]
    held_out = [draw_pair(rng, full=False) for _ in range(HELD_OUT)]  # the last batch has padding
    write_data(folder / "data.jsonl", pairs)
    write_data(folder / "held_out.jsonl", held_out)
    stream = iter(map(samples_of, pairs))
    batches = [[[next(stream) for _ in range(PAIRS)] for _ in range(ACCUMULATE)]
               for _ in range(STEPS)]
    adapter_seed = rng.getrandbits(62)

    def run(dtype, member=0):
        generator = torch.Generator().manual_seed(adapter_seed)
        model = nudged(add_adapter(new_model(CONFIG, weights), ADAPTER, generator), member)
        return train(model, dtype, batches, list(map(samples_of, held_out)))

    write_adapter(add_adapter(new_model(CONFIG, weights), ADAPTER,
                              torch.Generator().manual_seed(adapter_seed)), folder / "adapter")
    references = [run("fp64", m) for m in range(MEMBERS)]
    of_steps = [{k: v for k, v in r.items() if not k.startswith("heldout.")} for r in references]
    errors = {dtype: own_errors(lambda m, d=dtype: run(d, m), of_steps, root_mean_square)
              for dtype in ("tf32", "bf16", "fp16")}
    write_json(folder / "errors.json", errors)
    first = list(batches[0][0])
    save_file(references[0] | {"input_ids": padded(first, 0, 0), "labels": padded(first, 1, IGNORED)},
              folder / "expected.safetensors")
    errors["fp32"] = relative_errors(run("fp32"), of_steps[0])
    report(NAME, folder, references[0], errors)
    print({k: v.tolist() for k, v in references[0].items() if k.startswith("heldout.")})


if __name__ == "__main__":
    main()
