#!/usr/bin/env python3
"""Writes ddp/mobilenet2.safetensors and .csv: three steps of cases/mobilenet by two processes with
torch.nn.parallel.DistributedDataParallel (gloo), in float64. They hold the first step's gradients
as DDP leaves them, and each step's loss, averaged over the processes.

    python3 make_ddp_fixture.py

Batch norm is per process, so one process with a wider batch would not give the same.
"""

import tempfile
import tomllib
from pathlib import Path

import torch
import torch.distributed
import torch.multiprocessing
from safetensors.torch import load_file, save_file
from torch.nn.parallel import DistributedDataParallel

from image_reference import new_model, new_optimizer, prepared
from make_fashion import read_idx
from precision import lr_factor

HERE = Path(__file__).resolve().parent
CASE = HERE / "cases" / "mobilenet"
PROCESSES = 2
STEPS = 3


def batches(spec):
    """The training images in order; each batch is (pixels, labels)."""
    size = spec["training"]["per_device_train_batch_size"]
    pixels, labels = (read_idx(CASE / f"train-{part}-ubyte") for part in ("images-idx3", "labels-idx1"))
    return list(zip(pixels.split(size), labels.long().split(size)))


def work(rank, meeting_point):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting_point}", rank=rank,
                                         world_size=PROCESSES)
    spec = tomllib.loads((CASE / "spec.toml").read_text())
    training = spec["training"]
    model = new_model(spec["model"], load_file(CASE / "model" / "model.safetensors")).double()
    replica = DistributedDataParallel(model)
    optimizer = new_optimizer(spec["optimizer"], list(model.parameters()))
    all_batches, losses, grads = batches(spec), [], {}
    for t in range(STEPS):
        pixels, labels = all_batches[PROCESSES * t + rank]
        logits = replica(prepared(pixels, spec["model"], spec["data"], torch.float64))
        loss = torch.nn.functional.cross_entropy(logits, labels,
                                                 label_smoothing=training["label_smoothing"])
        optimizer.zero_grad()
        loss.backward()
        mean = loss.detach().clone()
        torch.distributed.all_reduce(mean)
        losses.append(mean.item() / PROCESSES)
        grads = grads or {f"grad.{name}": p.grad.clone() for name, p in model.named_parameters()}
        factor = lr_factor(spec["lr_scheduler"], t, STEPS)
        optimizer.param_groups[0]["lr"] = spec["optimizer"]["lr"] * factor
        optimizer.step()
    if rank == 0:
        save_file(grads, HERE / "ddp" / "mobilenet2.safetensors")
        rows = "".join(f"{t + 1},{loss:.17g}\n" for t, loss in enumerate(losses))
        (HERE / "ddp" / "mobilenet2.csv").write_text("step,loss\n" + rows)
    torch.distributed.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(work, (str(Path(folder) / "meeting_point"),), nprocs=PROCESSES)


if __name__ == "__main__":
    main()
