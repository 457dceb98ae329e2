#!/usr/bin/env python3
"""Writes cases/*/stored: the models of the cases with 4-bit weights, quantised by bitsandbytes and
saved by transformers.

Formats are theirs, and so are the codes, except those that quantized.py computes for the reasons
given there.
"""

import argparse
import shutil
from pathlib import Path

import bitsandbytes
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

from quantized import fp4_codes, quantize_absmax

HERE = Path(__file__).parent
CASES = {"qlora": (64, True, "nf4"), "qlora_single": (32, False, "nf4"),
         "qlora_fp4": (64, True, "fp4")}


def quantize(weight, block_size, double_quant, quant_type):
    """The weight as a parameter of bitsandbytes."""
    made = bitsandbytes.nn.Params4bit(weight, requires_grad=False, blocksize=block_size,
                                      quant_type=quant_type).to("cpu")
    state = made.quant_state
    state.absmax = weight.view(-1, block_size).abs().max(dim=1).values
    if quant_type == "fp4":
        made.data = fp4_codes(weight, state.absmax, block_size)
    state.nested = double_quant
    if double_quant:
        state.absmax, state.state2, state.offset = quantize_absmax(state.absmax)
    return made


def write(case, block_size, double_quant, quant_type):
    folder = HERE / "cases" / case
    how = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=quant_type,
                             bnb_4bit_use_double_quant=double_quant,
                             bnb_4bit_compute_dtype=torch.float32)
    model = AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32,
                                                 quantization_config=how)
    weights = load_file(folder / "model" / "model.safetensors")
    for name, module in model.named_modules():
        if isinstance(module, bitsandbytes.nn.Linear4bit):
            module.weight = quantize(weights[f"{name}.weight"], block_size, double_quant,
                                     quant_type)
    shutil.rmtree(folder / "stored", ignore_errors=True)
    model.save_pretrained(folder / "stored")
    (folder / "stored" / "generation_config.json").unlink(missing_ok=True)
    (folder / "stored" / "model.safetensors").chmod(0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, help="only this one")
    only = parser.parse_args().case
    for case in [only] if only else CASES:
        write(case, *CASES[case])


if __name__ == "__main__":
    main()
