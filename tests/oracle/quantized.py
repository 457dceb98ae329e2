"""The weights that QLoRA trains over: quantised and decoded again, by bitsandbytes.

NF4 codes, absmax and decoded values are bitsandbytes' own. Not so the codes of the absmax
(double quantisation): its build for CPUs searches its map in a table that misses the nearest entry
once in a thousand times. They are made here as its reference in torch makes them, and its CUDA
kernel: the middles between neighbours of the map decide. That build also decodes as if no block
reached into the next row, so it is shown a weight as rows of one block.
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


def quantize(weight, block_size, double_quant):
    """What bitsandbytes keeps of a weight: packed codes, and the state that decodes them."""
    codes, state = functional.quantize_4bit(weight, blocksize=block_size, quant_type="nf4")
    if double_quant:
        state.absmax, state.state2, state.offset = quantize_absmax(state.absmax)
        state.nested = True
    return codes, state


def is_quantized(name, weight):
    """As transformers chooses: every linear but the head."""
    return weight.dim() == 2 and "embed_tokens" not in name and "lm_head" not in name


def decode(weight, block_size, double_quant):
    rows = weight.view(-1, block_size)
    return functional.dequantize_4bit(*quantize(rows, block_size, double_quant)).view_as(weight)


def decoded(weights, quantization):
    """All weights, those of the layers' linears as their 4 bits have them."""
    settings = quantization["block_size"], quantization["double_quant"]
    return {name: decode(w, *settings) if is_quantized(name, w) else w
            for name, w in weights.items()}
