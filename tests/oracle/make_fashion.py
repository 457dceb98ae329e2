#!/usr/bin/env python3
"""Writes fashion/: a CNN's initial weights, and the results of training it with PyTorch.

    python3 make_fashion.py [--seed N]

The images are those of Debian's package dataset-fashion-mnist: one pass over the first ones for
training, in order, and the first ones of the test set.
"""

import argparse
import gzip
import math
import shutil
import struct
from pathlib import Path

import torch
from safetensors.torch import save_file

from fixtures import spec_text, write_json
from image_reference import new_model, train

FOLDER = Path(__file__).resolve().parent / "fashion"
IMAGES = "/usr/share/datasets/fashion-mnist/{}-images-idx3-ubyte.gz"
BATCH, STEPS, TEST_BATCHES = 20, 100, 100

SPEC = {
    "job": {"name": "fashion"},
    "model": {"family": "cnn", "num_classes": 10, "image_size": 28, "image_channels": 1,
              "layers": ["conv 8 3", "relu", "max_pool 2", "conv 16 3", "relu", "max_pool 2",
                         "flatten", "linear 32", "relu"]},
    "training": {"task": "classify", "per_device_train_batch_size": BATCH, "steps": STEPS,
                 "max_grad_norm": 0.0, "log_every": 10},
    "optimizer": {"name": "sgd", "lr": 0.03, "momentum": 0.9, "nesterov": True,
                  "weight_decay": 5e-4},
    "lr_scheduler": {"type": "cosine", "warmup_steps": 10},
    "data": {"format": "idx", "train": [IMAGES.format("train")],
             "validation": [IMAGES.format("t10k")], "image_height": 28, "image_width": 28,
             "image_mean": [0.2860], "image_std": [0.3530], "eval_batches": TEST_BATCHES,
             "shuffle": False},
}


def read_idx(path):
    content = Path(path).read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    rank = content[3]
    shape = struct.unpack_from(f">{rank}I", content, 4)
    return torch.frombuffer(bytearray(content[4 + 4 * rank:]), dtype=torch.uint8).view(shape)


def batches(part, count):
    """The first batches of the training or test set, in order."""
    path = IMAGES.format(part)
    images = read_idx(path), read_idx(path.replace("images-idx3", "labels-idx1")).long()
    return list(zip(*(array[:BATCH * count].split(BATCH) for array in images)))


def draw_weights(generator):
    """Draws weights as PyTorch does: uniformly within 1 / sqrt(inputs)."""
    model = new_model(SPEC["model"])
    for layer in model.children():
        bound = 1 / math.sqrt(layer.weight[0].numel())
        for p in (layer.weight, layer.bias):
            p.data.uniform_(-bound, bound, generator=generator)
    return model.state_dict()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="other weights (default 1)")
    weights = draw_weights(torch.Generator().manual_seed(parser.parse_args().seed))
    torch.set_num_threads(1)
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "model").mkdir(parents=True)
    write_json(FOLDER / "model" / "config.json", SPEC["model"])
    save_file(weights, FOLDER / "model" / "model.safetensors", {"format": "pt"})
    about = "the accuracy that a CNN reaches in one short pass over Fashion-MNIST"
    (FOLDER / "spec.toml").write_text(spec_text(about, Path(__file__).name, SPEC))
    steps, test = [[batch] for batch in batches("train", STEPS)], batches("t10k", TEST_BATCHES)
    for dtype in ("fp32", "fp64"):
        result = train(new_model(SPEC["model"], weights), dtype, SPEC, steps, test)
        figures = {name: result[f"heldout.{name}"][1].item() for name in ("loss", "top1", "top5")}
        print(dtype, figures, [round(x, 3) for x in result["losses"][::10].tolist()])
        if dtype == "fp32":
            write_json(FOLDER / "pytorch.json", figures)


if __name__ == "__main__":
    main()
