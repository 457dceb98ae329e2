"""Linears that train with rounded weights and activations, by torchao.

Values are torchao's own: its fake quantisers as Int8DynActInt4WeightQATLinear has them, and for int8
weights as they are by its configuration. It has no fp64: there an operand counts as its fp32.

Gradients pass where a code was not clamped, bounds included: so torchao's did up to PyTorch 2.13, and
so PyTorch's own fake_quantize functions do. Since 2.14 torch.clamp, which torchao leaves them to,
stops them at the bounds too, and with them all that reaches a token's least and largest.
"""

import torch
from torchao.quantization.qat import IntxFakeQuantizeConfig
from torchao.quantization.qat.fake_quantizer import IntxFakeQuantizer
from torchao.quantization.qat.linear import _get_8da4w_activation_config, _get_8da4w_weight_config

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


def fake_quantized(x, dtype, quantizer):
    return FakeQuantize.apply(x, quantizer, BOUNDS[dtype]) if quantizer else x


def activation_quantizer(dtype):
    if dtype == "none":
        return None
    return IntxFakeQuantizer(_get_8da4w_activation_config(torch.float32))


def weight_quantizer(dtype, group_size):
    if dtype == "none":
        return None
    if dtype == "int4":
        return IntxFakeQuantizer(_get_8da4w_weight_config(group_size, torch.float32))
    groups = {"group_size": group_size} if group_size else {"granularity": "per_channel"}
    return IntxFakeQuantizer(IntxFakeQuantizeConfig(torch.int8, is_symmetric=True, **groups))


class FakeQuantizedLinear(torch.nn.Linear):
    """torchao's class of that name, but for what is said above."""

    def forward(self, x):
        x = fake_quantized(x, self.qat["activation_dtype"], self.of_activation)
        weight = fake_quantized(self.weight, self.qat["weight_dtype"], self.of_weight)
        return torch.nn.functional.linear(x, weight, self.bias)


def fake_quantize_linears(model, qat):
    """Every linear but the head; before adapters are added, which stay as they
    are and read what they would without."""
    for name, linear in model.named_modules():
        if isinstance(linear, torch.nn.Linear) and name != "lm_head":
            linear.__class__ = FakeQuantizedLinear
            linear.qat = qat
            linear.of_activation = activation_quantizer(qat["activation_dtype"])
            linear.of_weight = weight_quantizer(qat["weight_dtype"], qat.get("group_size", 0))
    return model
