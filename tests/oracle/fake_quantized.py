"""Linears that train with rounded weights and activations, by torchao.

Values are torchao's own: from the fake quantisers of Int8DynActInt4WeightQATLinear, and for int8
weights from those of its configuration. torchao has no fp64: there an operand is taken as its fp32.

Gradients pass where a code was not clamped, including at the bounds, as in torchao up to PyTorch
2.13 and in PyTorch's own fake_quantize functions. torchao relies on torch.clamp, which since 2.14
stops gradients at the bounds too, and so all gradients of a token's minimum and maximum.

8-bit floats have torchao's values and autograd's gradients, including the gradient through the
scale. But gradients are not rounded to 8 bits, as autograd does when it differentiates the
conversion: unscaled, most of them would be lost.
"""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401, what torchao converts with
from torchao.quantization import quant_primitives
from torchao.quantization.qat import Float8FakeQuantizeConfig, IntxFakeQuantizeConfig
from torchao.quantization.qat.fake_quantizer import Float8FakeQuantizer, IntxFakeQuantizer
from torchao.quantization.qat.linear import (Int8DynActInt4WeightQATQuantizer, _get_8da4w_activation_config,
                                             _get_8da4w_weight_config)

LARGEST = 448.0  # of float8_e4m3fn
BOUNDS = {"int8": (-128, 127), "int4": (-8, 7)}


class FakeQuantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, quantizer, bounds):
        narrow = x.float() if x.dtype == torch.float64 else x
        value = quantizer(narrow)
        rows = narrow.reshape(quantizer.scale.numel(), -1)
        codes = (torch.round(rows * (1.0 / quantizer.scale.reshape(-1, 1)))
                 + quantizer.zero_point.reshape(-1, 1))
        ctx.save_for_backward(((codes >= bounds[0]) & (codes <= bounds[1])).view(x.shape))
        return value.to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        return torch.where(ctx.saved_tensors[0], dy, 0), None, None


class RoundToFloat8(torch.autograd.Function):
    """torchao's class, with a result of the same type as the operand, and unrounded gradients."""

    @staticmethod
    def forward(ctx, x, dtype):
        return x.to(dtype).to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        return dy, None


quant_primitives._RoundToFloat8 = RoundToFloat8


class Float8FakeQuantize(torch.autograd.Function):
    """torchao's value of the operand as fp32, with autograd's gradient for it, computed in fp64."""

    @staticmethod
    def forward(ctx, x, quantizer):
        narrow = x.float()
        largest = narrow.abs().amax(-1, keepdim=True)
        scaled = narrow / (largest / LARGEST)
        inside = scaled.abs() <= LARGEST
        codes = scaled.clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn).double()
        ctx.save_for_backward(inside, codes - torch.where(inside, scaled, 0),
                              torch.where(narrow.abs() == largest, narrow.sign(), 0))
        return quantizer(narrow).to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        inside, error, largest = ctx.saved_tensors
        of_scale = (dy * error).sum(-1, keepdim=True) / LARGEST / largest.abs().sum(-1, keepdim=True)
        return torch.where(inside, dy, 0) + largest * of_scale, None


def fake_quantized(x, dtype, quantizer):
    if isinstance(quantizer, Float8FakeQuantizer):
        return Float8FakeQuantize.apply(x, quantizer) if x.dtype == torch.float64 else quantizer(x)
    return FakeQuantize.apply(x, quantizer, BOUNDS[dtype]) if quantizer else x


def activation_quantizer(dtype):
    if dtype == "none":
        return None
    if dtype == "float8_e4m3fn":
        return Float8FakeQuantizer(Float8FakeQuantizeConfig())
    return IntxFakeQuantizer(_get_8da4w_activation_config(torch.float32))


def weight_quantizer(dtype, group_size):
    if dtype == "none":
        return None
    if dtype == "float8_e4m3fn":
        return Float8FakeQuantizer(Float8FakeQuantizeConfig())
    if dtype == "int4":
        return IntxFakeQuantizer(_get_8da4w_weight_config(group_size, torch.float32))
    groups = {"group_size": group_size} if group_size else {"granularity": "per_channel"}
    return IntxFakeQuantizer(IntxFakeQuantizeConfig(torch.int8, is_symmetric=True, **groups))


class FakeQuantizedLinear(torch.nn.Linear):
    """torchao's class of that name, except for the differences described above."""

    def forward(self, x):
        x = fake_quantized(x, self.qat["activation_dtype"], self.of_activation)
        weight = fake_quantized(self.weight, self.qat["weight_dtype"], self.of_weight)
        return torch.nn.functional.linear(x, weight, self.bias)


def fake_quantize_linears(model, qat):
    """Converts every linear except the head. Called before adapters are added, which are not
    rounded and read unrounded inputs."""
    for name, linear in model.named_modules():
        if isinstance(linear, torch.nn.Linear) and name != "lm_head":
            linear.__class__ = FakeQuantizedLinear
            linear.qat = qat
            linear.of_activation = activation_quantizer(qat["activation_dtype"])
            linear.of_weight = weight_quantizer(qat["weight_dtype"], qat.get("group_size", 0))
    return model


def converted(weights, dtype, group_size):
    """A model's linears as torchao's 8da4w converts them in the end: weight, scales and zeros."""
    quantizer = Int8DynActInt4WeightQATQuantizer(groupsize=group_size)
    tensors = {}
    for name, weight in weights.items():
        if not name.endswith("_proj.weight"):
            continue
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False, dtype=dtype)
        linear.weight.data = weight.to(dtype)
        module = quantizer.convert(quantizer.prepare(torch.nn.Sequential(linear)))[0]
        for part in ("weight", "scales", "zeros"):
            tensors[name.removesuffix("weight") + part] = getattr(module, part).detach().clone()
    return tensors
