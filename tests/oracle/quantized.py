"""The weights that QLoRA trains over: quantised and decoded again, by bitsandbytes.

NF4 codes, absmax and decoded values are bitsandbytes' own. The codes of the absmax (double
quantisation) are not: its CPU build searches the map in a table that misses the nearest entry
once in a thousand times. They are computed here as in its torch reference and its CUDA kernel, by
the midpoints between neighbours in the map. The CPU build also decodes as if no block reached into
the next row, so it is given a weight as rows of one block.

FP4 codes are computed here as in the CUDA kernel. If a number lies in the middle between two codes
(as numbers of few bits often do), the digits of the kernel's midpoints decide differently from the
CPU build; and of the two zeros the CPU build takes one by chance, the kernel takes one by sign.
Everything else is compared with the CPU build.
"""

import torch
from bitsandbytes import functional

ABSMAX_BLOCK = 256


def quantize_absmax(absmax):
    """(codes, state for bitsandbytes, offset) of double quantisation."""
    offset = absmax.double().mean().float()
    code = functional.create_dynamic_map()
    rest = absmax - offset
    blocks = torch.nn.functional.pad(rest, (0, -len(rest) % ABSMAX_BLOCK)).view(-1, ABSMAX_BLOCK)
    absmax2 = blocks.abs().max(dim=1).values
    scaled = (blocks * (1.0 / absmax2[:, None])).flatten()[:len(rest)].contiguous()
    codes = torch.bucketize(scaled, (code[:-1] + code[1:]) / 2).to(torch.uint8)
    state = functional.QuantState(absmax=absmax2, code=code, blocksize=ABSMAX_BLOCK,
                                  dtype=torch.float32)
    return codes, state, offset


FP4_PIVOTS = [0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333]
FP4_MAGNITUDES = [0, 1, 6, 7, 4, 5, 2, 3]  # their codes, ascending
FP4_SIGN = 8


def fp4_codes(weight, absmax, block_size):
    """As dQuantizeFP4 in bitsandbytes' kernels.cu: compares a number with pivots."""
    blocks = weight.view(-1, block_size)
    x = (blocks * (1.0 / absmax.clamp(min=1e-38)[:, None])).flatten()
    codes = torch.tensor(FP4_MAGNITUDES)[torch.bucketize(x.abs(), torch.tensor(FP4_PIVOTS))]
    codes = (codes + FP4_SIGN * (x < 0)).to(torch.uint8)
    packed = (codes[::2] << 4 | codes[1::2])[:, None]
    theirs = functional.quantize_4bit(weight, blocksize=block_size, quant_type="fp4")[0].flatten()
    theirs = torch.stack([theirs >> 4, theirs & 15], dim=1).flatten()
    middle = ((x.abs()[:, None] - torch.tensor(FP4_PIVOTS)).abs() < 1e-6).any(dim=1)
    zero = (codes % FP4_SIGN == 0) & (theirs % FP4_SIGN == 0)
    assert ((codes == theirs) | middle | zero).all()
    return packed


def quantize(weight, block_size, double_quant, quant_type):
    """bitsandbytes' form of a weight: packed codes, and the state that decodes them."""
    codes, state = functional.quantize_4bit(weight, blocksize=block_size, quant_type=quant_type)
    if quant_type == "fp4":
        codes = fp4_codes(weight, state.absmax, block_size)
    if double_quant:
        state.absmax, state.state2, state.offset = quantize_absmax(state.absmax)
        state.nested = True
    return codes, state


def is_quantized(name, weight):
    """As in transformers: every linear except the head."""
    return weight.dim() == 2 and "embed_tokens" not in name and "lm_head" not in name


def decode(weight, block_size, double_quant, quant_type):
    rows = weight.view(-1, block_size)
    kept = quantize(rows, block_size, double_quant, quant_type)
    return functional.dequantize_4bit(*kept).view_as(weight)


def decode_rows(weight):
    """A weight as in bitsandbytes' Int8Params: each row scaled by its largest value, from fp16."""
    codes, scales, _ = functional.int8_vectorwise_quant(weight.half())
    return functional.int8_vectorwise_dequant(codes, scales)


def decoded(weights, quantization):
    """All weights; those of the layers' linears are decoded from their 4 or 8 bits."""
    if quantization["quant_type"] == "int8":
        return {name: decode_rows(w) if is_quantized(name, w) else w
                for name, w in weights.items()}
    settings = (quantization["block_size"], quantization["double_quant"],
                quantization["quant_type"])
    return {name: decode(w, *settings) if is_quantized(name, w) else w
            for name, w in weights.items()}
