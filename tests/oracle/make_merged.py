#!/usr/bin/env python3
"""Writes cases/CASE/merged.DTYPE.safetensors: the weights changed by PEFT's merge_and_unload.

    python3 make_merged.py CASE...

The adapter is in fp32, as PEFT loads it over any base."""
import sys
from pathlib import Path

import torch
from peft import PeftModel
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

CASES = Path(__file__).resolve().parent / "cases"


def merged(case, dtype):
    model = AutoModelForCausalLM.from_pretrained(case / "model", dtype=dtype)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    peft = PeftModel.from_pretrained(model, case / "adapter").merge_and_unload()
    after = peft.state_dict()
    return {name: value.contiguous() for name, value in after.items()
            if not torch.equal(value, before[name])}


for name in sys.argv[1:]:
    for text, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        save_file(merged(CASES / name, dtype), CASES / name / f"merged.{text}.safetensors")
