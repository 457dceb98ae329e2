"""Shared by the benchmarks of Llama 3.2 1B: its weights and adapter in files, and the peer that trains it, a
model of transformers with an adapter of PEFT.

A test may set SIZES, DTYPE and DEVICE to something that a CPU can train.
"""

from measure import DEVICE

DTYPE = "bfloat16"
RANK, ALPHA = 16, 32
SIZES = {"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
         "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64}


def compute_dtype():
    import torch

    return getattr(torch, DTYPE)


def versions():
    import peft
    import torch
    import transformers

    return f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}"


# ---- the model ---------------------------------------------------------------------------------------


def llama_config():
    from transformers import LlamaConfig

    return LlamaConfig(
        **SIZES, max_position_embeddings=131072, rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=True,
        rope_scaling={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
                      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})


def causal_attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **_):
    """PyTorch's flash kernel. When compiled, transformers' own call of it passes a mask, which that kernel does
    not support."""
    from torch.nn.functional import scaled_dot_product_attention

    out = scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling, enable_gqa=True)
    return out.transpose(1, 2).contiguous(), None


def draw_weights(folder):
    """The initial model and adapter for all contenders, in Hugging Face's and PEFT's formats."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM

    torch.manual_seed(0)
    with torch.device(DEVICE):
        model = LlamaForCausalLM(llama_config())
    model = model.to(compute_dtype())
    model.save_pretrained(folder / "model")
    lora = LoraConfig(r=RANK, lora_alpha=ALPHA, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM",
                      target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])
    get_peft_model(model, lora).save_pretrained(str(folder / "adapter"), save_embedding_layers=False)


def open_model(folder, dtype, **options):
    """The model on the device; `options` are those of from_pretrained."""
    from transformers import AttentionInterface, LlamaForCausalLM

    AttentionInterface.register("causal", causal_attention)
    model = LlamaForCausalLM.from_pretrained(folder / "model", dtype=dtype, attn_implementation="causal", **options)
    model = model.to(DEVICE)
    model.config.use_cache = False
    return model.train()


def add_adapter(model, folder):
    """The model with its adapter, which alone trains, in the type of the products."""
    from peft import PeftModel

    model = PeftModel.from_pretrained(model, str(folder / "adapter"), is_trainable=True, autocast_adapter_dtype=False)
    for p in model.parameters():
        if p.requires_grad:
            p.data = p.data.to(compute_dtype())
    return model.train()


# ---- data --------------------------------------------------------------------------------------------


def read_rows(folder, rows, seq_len):
    """Inputs and targets [rows, seq_len] of the token file, cut into rows as our program does it."""
    import numpy
    import torch

    tokens = torch.from_numpy(numpy.fromfile(folder / "tokens.bin", dtype=numpy.int32)[256:].astype(numpy.int64))
    inputs = tokens[:rows * seq_len].view(rows, seq_len)
    targets = tokens[1:rows * seq_len + 1].view(rows, seq_len)
    return inputs.to(DEVICE), targets.to(DEVICE)


# ---- training ----------------------------------------------------------------------------------------


class Trainer:
    """AdamW over what trains, with clipping, as in our programs."""

    def __init__(self, model, lr, clip=1.0):
        import torch

        self.clip = clip
        self.trained = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trained, lr=lr, weight_decay=0.0, fused=True)

    def step(self, loss):
        """Backward and update; returns the loss of the step."""
        import torch

        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


def time_steps(step, warm_up, timed, kept):
    """Calls step(i) warm_up + timed times; returns events around those timed, and the first `kept` losses."""
    import torch

    torch.cuda.empty_cache()  # what loading and quantizing took is not memory of training
    losses, times = [], [torch.cuda.Event(enable_timing=True) for _ in range(warm_up + timed + 1)]
    times[0].record()
    for i in range(warm_up + timed):
        loss = step(i)
        if i < kept:
            losses.append(loss)
        times[i + 1].record()
    return times[warm_up:], losses
