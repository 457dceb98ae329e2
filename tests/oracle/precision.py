"""Shared by the references for language and for images: the types, tf32, the schedules."""

import contextlib
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

COMPUTE_DTYPE = {"fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32,
                 "bf16": torch.bfloat16, "fp16": torch.float16}
LOSS_SCALE = {"fp16": 1024.0}  # at which no gradient of the fixtures overflows


def wide(dtype):
    return torch.promote_types(dtype, torch.float32)


class Tf32Products(TorchDispatchMode):
    """Rounds the operands of every matrix product, also in backward, to 10 mantissa bits."""

    PRODUCTS = {torch.ops.aten.mm.default, torch.ops.aten.bmm.default,
                torch.ops.aten.addmm.default, torch.ops.aten.baddbmm.default}
    # Operation: its number of operands, which come first; index of its groups argument. A depthwise
    # convolution is not a matrix product.
    CONVOLUTIONS = {torch.ops.aten.convolution.default: (2, 8),
                    torch.ops.aten.convolution_backward.default: (3, 9)}

    @staticmethod
    def rounded(x):
        bits = x.contiguous().view(torch.int32)
        nearest_even = ((bits >> 13) & 1) + 0xFFF
        return ((bits + nearest_even) & ~0x1FFF).view(torch.float32)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in self.PRODUCTS:
            assert args[-1].dtype == torch.float32
            args = (*args[:-2], self.rounded(args[-2]), self.rounded(args[-1]))
        if func in self.CONVOLUTIONS:
            operands, groups = self.CONVOLUTIONS[func]
            if args[groups] == 1:
                args = (*map(self.rounded, args[:operands]), *args[operands:])
        return func(*args, **(kwargs or {}))


def products(dtype):
    """A context in which products are computed as for `dtype`."""
    return Tf32Products() if dtype == "tf32" else contextlib.nullcontext()


def lr_factor(schedule, t, steps):
    """The factor of the learning rate in step t = 0, 1, ... No step has a rate of zero."""
    warmup_steps = schedule.get("warmup_steps", 0)
    if t < warmup_steps:
        return (t + 1) / warmup_steps
    if schedule["type"] == "step":
        return schedule["gamma"] ** ((t - warmup_steps) // schedule["step_size"])
    p = (t - warmup_steps) / max(1, steps - warmup_steps)
    low = schedule.get("min_lr_factor", 0.0)
    return {"constant": 1.0,
            "linear": low + (1 - low) * (1 - p),
            "cosine": low + (1 - low) * 0.5 * (1 + math.cos(math.pi * p))}[schedule["type"]]
