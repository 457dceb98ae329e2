#!/usr/bin/env python3
"""Writes the fixtures of image models under cases/. README.md describes each file.

    python3 make_image_fixtures.py [--seed N] [--case NAME ...]
"""

import argparse
import gzip
import random
import shutil
import struct
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save_file
from torchvision.models import mobilenetv2, resnet

import crops
from fixtures import nudged, own_errors, relative_errors, report, spec_text, write_json
from image_reference import new_model, train

HERE = Path(__file__).resolve().parent
STEPS = 10
MEMBERS = 12     # starting points over which PyTorch's own error is taken
SPEC_SEED = 0    # training.seed, whose default the specs use
EPOCH_STEPS = 8  # steps with distinct data, so that errors of losses are independent; then repeats


@dataclass
class Case:
    name: str
    about: str
    model: dict       # the [model] table
    stored: tuple     # rows and columns of an image in the file; the model's size is in `model`
    optimizer: dict
    batch: int = 4
    accumulate: int = 1
    held_out: int = 11  # images; not a multiple of the batch
    max_grad_norm: float = 0.0
    label_smoothing: float = 0.0
    schedule: dict = field(default_factory=lambda: {"type": "constant"})
    mean: tuple = (0.45, 0.5, 0.55)
    std: tuple = (0.25, 0.2, 0.3)
    gzipped: bool = False
    crops: dict = field(default_factory=dict)  # keys of [data] for crops and flips


def adamw(lr, eps):
    """eps is about the size of the gradients: the update is smooth in them."""
    return {"name": "adamw", "lr": lr, "beta1": 0.9, "beta2": 0.99, "eps": eps, "weight_decay": 0.1}


def sgd(lr, momentum=0.9, nesterov=True, weight_decay=1e-2):
    return {"name": "sgd", "lr": lr, "momentum": momentum, "nesterov": nesterov,
            "weight_decay": weight_decay}


def family(name, size, classes, channels=3, **more):
    return {"family": name, "num_classes": classes, "image_size": size, "image_channels": channels,
            **more}


CASES = [
    Case("mlp", "linears only, an image made larger or smaller by an odd factor, one channel as three",
         family("mlp", 11, 7, hidden_size=20, num_hidden_layers=2), (9, 14), adamw(1e-2, 1e-2),
         batch=6, label_smoothing=0.1, max_grad_norm=1.0),
    Case("cnn", "the layers of PyTorch's MNIST example, narrow, gzipped images",
         family("cnn", 21, 10, 1, layers=["conv 6 3", "relu", "conv 10 3", "relu", "max_pool 2",
                                          "flatten", "linear 24", "relu"]), (28, 28), sgd(5e-2),
         batch=8, mean=(0.1307,), std=(0.3081,), gzipped=True,
         schedule={"type": "step", "step_size": 3, "gamma": 0.5}),
    Case("cnn_strides", "strides, padding and overlapping pools; micro-steps",
         family("cnn", 33, 5, layers=["conv 5 5 2 2", "relu", "max_pool 3 2", "conv 9 3 1 1",
                                      "relu", "max_pool 3 1", "conv 4 1", "relu", "flatten"]),
         (33, 33), sgd(2e-2, momentum=0.0, nesterov=False), accumulate=3),
    Case("cnn_crops", "random parts of images, mirrored or not, and central ones held out",
         family("cnn", 17, 6, layers=["conv 6 3", "relu", "max_pool 2", "conv 8 3", "relu",
                                      "flatten"]),
         (24, 31), sgd(2e-2), batch=6, accumulate=2,
         crops={"random_resized_crop": True, "crop_scale": [0.2, 0.9], "crop_ratio": [0.6, 1.8],
                "random_horizontal_flip": 0.5, "eval_resize_size": 20}),
    Case("mobilenet", "torchvision's mobilenet_v2, narrow: depthwise convolutions, ReLU6",
         family("mobilenet_v2", 33, 6, width_mult=0.1, dropout=0.0), (28, 28), sgd(5e-4), batch=8,
         label_smoothing=0.1, schedule={"type": "cosine", "warmup_steps": 2, "min_lr_factor": 0.1}),
    Case("resnet18", "torchvision's resnet18, narrow, no width a power of two; micro-steps",
         family("resnet", 45, 7, depth=18, base_width=5), (33, 33), adamw(5e-3, 1e-2), batch=6,
         accumulate=2),
    Case("resnet34", "torchvision's resnet34, narrow: blocks 3, 4, 6, 3",
         family("resnet", 33, 5, depth=34, base_width=3), (33, 33),
         sgd(2e-3, momentum=0.8, nesterov=False), batch=8),
    Case("resnet50", "torchvision's resnet50, narrow: bottlenecks",
         family("resnet", 33, 5, depth=50, base_width=4), (33, 33),
         sgd(2e-3, momentum=0.8, nesterov=False), batch=8),
]


# --- Weights ---------------------------------------------------------------------------------

# The batch norm before a residual sum.
BRANCH_END = {resnet.BasicBlock: "bn2", resnet.Bottleneck: "bn3",
              mobilenetv2.InvertedResidual: "conv.3"}


def draw_state(model, generator):
    """Weights and running statistics, none at its default.

    Inputs of a ReLU are shifted so that most of them pass (and ReLU6 clamps some), and batch norms
    at the end of a residual branch scale it down. Otherwise a deep, narrow model is chaotic, and
    its 16-bit gradients are meaningless.
    """
    norms = {name for name, module in model.named_modules()
             if isinstance(module, torch.nn.BatchNorm2d)}
    ends = {f"{name}.{BRANCH_END[type(module)]}" for name, module in model.named_modules()
            if type(module) in BRANCH_END}
    head = [name for name, value in model.named_parameters() if value.dim() > 1][-1]
    state = {}
    for name, value in model.state_dict().items():
        module, kind = name.rpartition(".")[::2]
        if kind == "num_batches_tracked":
            state[name] = value
            continue
        noise = torch.randn(value.shape, generator=generator)
        if kind == "running_var":
            state[name] = (0.3 * noise).exp()
        elif kind == "running_mean":
            state[name] = 0.1 * noise
        elif kind == "bias":
            state[name] = 1 + 0.3 * noise + 4 * (noise > 1.2) * (module in norms)
        elif module in norms:
            state[name] = (0.2 if module in ends else 0.5) * (1 + 0.1 * noise)
        else:
            state[name] = (0.3 if name == head else 0.6) * noise * (2 / value[0].numel()) ** 0.5
    return state


# --- Images ----------------------------------------------------------------------------------

def draw_images(case, count, generator):
    """Bytes [count,rows,columns] and labels; images of a class share a coarse pattern."""
    classes = case.model["num_classes"]
    patterns = torch.rand((classes, 1, 4, 4), generator=torch.Generator().manual_seed(classes))
    patterns = torch.nn.functional.interpolate(patterns, case.stored, mode="bilinear")[:, 0]
    labels = torch.randint(classes, (count,), generator=generator)
    noise = torch.rand((count, *case.stored), generator=generator)
    return (255 * (0.5 * patterns[labels] + 0.5 * noise)).round().to(torch.uint8), labels


def write_idx(path, array, gzipped):
    """Writes bytes of any rank as IDX; gzipped without name and time, for reproducible files."""
    content = struct.pack(f">HBB{array.dim()}I", 0, 8, array.dim(), *array.shape)
    content += array.to(torch.uint8).numpy().tobytes()
    path.write_bytes(gzip.compress(content, mtime=0) if gzipped else content)


def write_images(case, folder, part, pixels, labels):
    """Writes the two files of `part`; returns the images' path for a spec."""
    suffix = ".gz" if case.gzipped else ""
    write_idx(folder / f"{part}-labels-idx1-ubyte{suffix}", labels, case.gzipped)
    write_idx(folder / f"{part}-images-idx3-ubyte{suffix}", pixels, case.gzipped)
    return f"tests/oracle/cases/{case.name}/{part}-images-idx3-ubyte{suffix}"


def split(case, pixels, labels):
    """Batches in order; the last may be smaller."""
    return list(zip(pixels.split(case.batch), labels.split(case.batch)))


def boxes_of(case, epoch, batch):
    """The boxes of a batch's images in this epoch, or None for whole images."""
    if not case.crops:
        return None
    rows = range(batch * case.batch, (batch + 1) * case.batch)
    return [crops.box_of(case.crops, *case.stored, SPEC_SEED, epoch, row) for row in rows]


def make_steps(case, batches):
    """[step][micro-batch], repeating the batches."""
    def micro_batch(index):
        epoch, batch = divmod(index, len(batches))
        return (*batches[batch], boxes_of(case, epoch, batch))
    return [[micro_batch(step * case.accumulate + i) for i in range(case.accumulate)]
            for step in range(STEPS)]


# --- Files -----------------------------------------------------------------------------------

def case_tables(case, train_images, test_images):
    """The spec, each table as a dictionary."""
    channels = case.model["image_channels"]
    training = {"task": "classify", "per_device_train_batch_size": case.batch,
                "gradient_accumulation_steps": case.accumulate, "steps": STEPS,
                "max_grad_norm": case.max_grad_norm, "log_every": 1}
    if case.label_smoothing:
        training["label_smoothing"] = case.label_smoothing
    return {
        "job": {"name": case.name}, "model": case.model, "training": training,
        "optimizer": case.optimizer, "lr_scheduler": case.schedule,
        "data": {"format": "idx", "train": [train_images], "validation": [test_images],
                 "image_height": case.stored[0], "image_width": case.stored[1],
                 "image_mean": list(case.mean[:channels]), "image_std": list(case.std[:channels]),
                 "eval_batches": -(-case.held_out // case.batch), "shuffle": False, **case.crops},
    }


def make_case(case, seed):
    rng = random.Random(f"{seed} {case.name}")
    generator = torch.Generator().manual_seed(rng.getrandbits(62))
    folder = HERE / "cases" / case.name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "model").mkdir(parents=True)

    state = draw_state(new_model(case.model), generator)
    write_json(folder / "model" / "config.json", case.model)
    save_file(state, folder / "model" / "model.safetensors", {"format": "pt"})
    images = draw_images(case, EPOCH_STEPS * case.batch * case.accumulate, generator)
    held_out = draw_images(case, case.held_out, generator)
    spec = case_tables(case, write_images(case, folder, "train", *images),
                       write_images(case, folder, "test", *held_out))
    text = {table: {key: value for key, value in keys.items() if value is not False or key != "nesterov"}
            for table, keys in spec.items()}
    (folder / "spec.toml").write_text(spec_text(case.about, Path(__file__).name, text))

    steps, evaluated = make_steps(case, split(case, *images)), split(case, *held_out)

    def run(member, dtype, *more):
        return train(nudged(new_model(case.model, state), member), dtype, spec, steps, *more)

    references = [run(m, "fp64") for m in range(MEMBERS)]
    # At few starting points rounding flips a ReLU, which changes whole gradients: take the maximum.
    errors = {dtype: own_errors(lambda m: run(m, dtype), references, max)
              for dtype in ("tf32", "bf16", "fp16")}
    write_json(folder / "errors.json", errors)
    reference = run(0, "fp64", evaluated)
    pixels, labels, boxes = steps[0][0]
    inputs = {"pixels": pixels.flatten(1), "labels": labels.int()}
    if boxes:
        inputs["boxes"] = torch.tensor(boxes, dtype=torch.int32)
    save_file(reference | inputs, folder / "expected.safetensors")
    fp32 = relative_errors(run(0, "fp32", evaluated), reference)
    report(case.name, folder, reference, {"fp32": fp32} | errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="other weights and data (default 1)")
    parser.add_argument("--case", action="append", metavar="NAME",
                        choices=[case.name for case in CASES], help="only this one; repeatable")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the same sums on every machine with the same library
    for case in CASES:
        if not options.case or case.name in options.case:
            make_case(case, options.seed)


if __name__ == "__main__":
    main()
