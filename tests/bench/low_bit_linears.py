"""Linears of few bits in plain PyTorch, peers of our programs where bitsandbytes or torchao is not installed, and
beside them where it is.

Nf4Linear keeps a frozen weight as bitsandbytes does for QLoRA: codes of 4 bits for blocks of 64, whose scales are
codes of 8 bits. It is decoded for the product, and again for backward, so that no decoded weight is kept.

FakeQuantizedLinear rounds for QAT as torchao's 8da4w: activations to int8, each token between its minimum and
maximum, weights to int4 in groups of 32. Gradients pass where a code was not clamped.
"""

import torch
import torch.nn.functional as F
from torch.autograd import Function

NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
       -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
       0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]
BLOCK, SCALE_BLOCK = 64, 256
GROUP = 32
INT8, INT4 = (-128, 127), (-8, 7)


# ---- QLoRA -------------------------------------------------------------------------------------------


def dynamic_map():
    """bitsandbytes' 256 values for scales: seven decades, each with twice the values of the one below."""
    values = [0.0, 1.0]
    for decade in range(7):
        borders = torch.linspace(0.1, 1, 2**decade + 1)
        means = (borders[:-1] + borders[1:]) / 2 * 10.0**(decade - 6)
        values += means.tolist() + (-means).tolist()
    return torch.tensor(sorted(values))


def nearest(values, table):
    return torch.bucketize(values, (table[:-1] + table[1:]) / 2)


class DecodedProduct(Function):
    """x Wᵀ, where W is decoded in forward and in backward."""

    @staticmethod
    def forward(ctx, x, shape, *kept):
        ctx.save_for_backward(*kept)
        ctx.shape = shape
        return F.linear(x, decode(shape, x.dtype, *kept))

    @staticmethod
    def backward(ctx, dy):
        return dy @ decode(ctx.shape, dy.dtype, *ctx.saved_tensors), *[None] * 7


def decode(shape, dtype, packed, scale_codes, largest, offset, table, scale_table):
    scales = scale_table[scale_codes.int()] * largest[:, None] + offset
    codes = torch.stack([packed >> 4, packed & 15], dim=-1)
    values = table[codes.int()].view(-1, BLOCK) * scales.view(-1)[:len(packed), None]
    return values.view(shape).to(dtype)


class Nf4Linear(torch.nn.Module):
    def __init__(self, linear):
        super().__init__()
        weight = linear.weight.data
        table, scale_table = (t.to(weight.device) for t in (torch.tensor(NF4), dynamic_map()))
        blocks = weight.float().view(-1, BLOCK)
        scales = blocks.abs().amax(1)
        codes = nearest(blocks / scales[:, None], table).to(torch.uint8)
        offset = scales.mean()
        rest = F.pad(scales - offset, (0, -len(scales) % SCALE_BLOCK)).view(-1, SCALE_BLOCK)
        largest = rest.abs().amax(1)
        kept = [codes[:, ::2] << 4 | codes[:, 1::2], nearest(rest / largest[:, None], scale_table).to(torch.uint8),
                largest, offset, table, scale_table]
        self.names = [f"kept{i}" for i in range(len(kept))]
        for name, value in zip(self.names, kept):
            self.register_buffer(name, value)
        self.shape = weight.shape

    def forward(self, x):
        return DecodedProduct.apply(x, self.shape, *(getattr(self, name) for name in self.names))


# ---- QAT ---------------------------------------------------------------------------------------------


class RoundToGrid(Function):
    """The nearest value of scale * (code - zero); the gradient passes where the code was not clamped."""

    @staticmethod
    def forward(ctx, x, scale, zero, bounds):
        codes = torch.round(x * (1.0 / scale)) + zero
        ctx.save_for_backward((codes >= bounds[0]) & (codes <= bounds[1]))
        return ((codes.clamp(*bounds) - zero) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        return torch.where(ctx.saved_tensors[0], dy, 0), None, None, None


def round_activation(x):
    with torch.no_grad():
        low, high = x.amin(-1, True).clamp(max=0), x.amax(-1, True).clamp(min=0)
        scale = ((high - low) / (INT8[1] - INT8[0])).clamp(min=torch.finfo(torch.float32).eps)
        zero = (INT8[0] - torch.round(low / scale)).clamp(*INT8)
    return RoundToGrid.apply(x, scale.float(), zero.float(), INT8)


def round_weight(weight):
    groups = weight.view(-1, GROUP)
    with torch.no_grad():
        scale = groups.abs().amax(-1, True) / ((INT4[1] - INT4[0]) / 2)
        scale = scale.clamp(min=torch.finfo(weight.dtype).smallest_normal)
    return RoundToGrid.apply(groups, scale.float(), 0.0, INT4).view_as(weight)


class FakeQuantizedLinear(torch.nn.Module):
    """Rounds a frozen weight once, a trained one in each forward. Under autocast both are rounded as `dtype`."""

    def __init__(self, linear, dtype):
        super().__init__()
        self.weight, self.dtype = linear.weight, dtype
        if not self.weight.requires_grad:
            self.weight.data = round_weight(self.weight.data)

    def forward(self, x):
        weight = self.weight.to(self.dtype)
        return F.linear(round_activation(x.to(self.dtype)), round_weight(weight) if weight.requires_grad else weight)


# ---- a model's linears -------------------------------------------------------------------------------


def replace_linears(decoder, new_linear):
    """Replaces every linear of the decoder's layers; of one with an adapter, the base."""
    for module in list(decoder.layers.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, torch.nn.Linear) and name != "default":  # PEFT's name of A and B
                setattr(module, name, new_linear(child))
