#!/usr/bin/env python3
"""make fuzz-layouts: random tiny experiments, each in two forms that must give the same numbers.

    tests/fuzz/layouts.py [--seed N] [--minutes M] [--only I]

An experiment is a model, a task and a technique, and one of these pairs:

    layout        one card with all batches of a step, and several cards; each resumes what the other saved
                  after a step
    key           one key differs that must change nothing, or only the order of sums
    accumulation  one wide micro-batch, and several narrow ones
    resume        stopped after a step and resumed, and never stopped
    late          streams as late as their waits allow, and threads in another order
    ptx           kernels compiled by the host's compiler, and from nvcc's PTX

Both forms run three steps on the simulated device. Losses, norms, held-out losses, saved state and exported
files must agree within 1e-9 in fp64, or bit for bit where the order of sums does not change. An experiment
that the compiler refuses with a clean error is counted by its message and drawn again. Everything else is a
finding: different numbers, an internal fault, a program that fails or hangs. A finding is reduced key by key,
printed, and kept in build/fuzz/layouts/N.

Not compared, because the numbers differ by design: batch norm's running statistics and evaluations with them, if
ranks have their own batches; and which completion of a pair is preferred before the first update, when neither is.
Results of many batch norms over two images each must agree only within 1e-2 (in one draw, norms differ by 2e-14 in
the first step, 3e-7 in the second, 1e-3 in the third).
"""
import argparse, collections, glob, json, os, random, re, shutil, struct, subprocess, sys, time

WORK = "build/fuzz/layouts"
GEN = os.environ.get("GPUOPT_GEN", "./gpuopt-gen")
STEPS = 3
BATCH_NORMS = ("mobilenet_v2", "resnet")
IMAGES = ("mlp", "cnn") + BATCH_NORMS
FLAT_DROPOUT = "dropout 0.1" # behind "flatten", where it drops other features in NCHW

BATCH, MICRO = "training.per_device_train_batch_size", "training.gradient_accumulation_steps"


class Refused(Exception):
    pass


class Finding(Exception):
    pass


# ---- what is drawn -------------------------------------------------------------------------------


def maybe(rng, keys, share, key, *choices):
    if rng.random() < share:
        keys[key] = rng.choice(choices)


def draw_language_model(rng, keys):
    heads = rng.choice([2, 4, 4])
    keys.update({
        "model.vocab_size": rng.choice([64, 64, 60, 72, 96, 65]), "model.hidden_size": heads * rng.choice([8, 8, 16]),
        "model.intermediate_size": rng.choice([32, 48, 40, 56]), "model.num_hidden_layers": rng.choice([1, 2, 2, 3, 4]),
        "model.num_attention_heads": heads, "model.initializer_range": 0.2,
        "training.seq_len": rng.choice([16, 16, 24, 13]),
        "data.format": "jsonl", "data.train": [f"{WORK}/samples.jsonl"], "data.validation": [f"{WORK}/held_out.jsonl"]})
    if keys["model.family"] != "gpt2":
        maybe(rng, keys, .3, "model.num_key_value_heads", 1, heads // 2)
        maybe(rng, keys, .3, "model.tie_word_embeddings", True)
        maybe(rng, keys, .1, "model.head_dim", 8, 16)
        maybe(rng, keys, .1, "model.rope_type", "llama3")
    task = keys["training.task"] = rng.choice(["pretrain", "sft", "sft", "sft", "dpo"])
    if task == "dpo":
        keys["data.train"], keys["data.validation"] = [f"{WORK}/pairs.jsonl"], [f"{WORK}/held_out_pairs.jsonl"]
        keys["dpo.loss_type"] = rng.choice(["sigmoid", "ipo", "hinge", "robust"])
        keys["training.seq_len"] = rng.choice([16, 24, 40])
        maybe(rng, keys, .3, "dpo.precompute_ref_log_probs", True)
        maybe(rng, keys, .3, "dpo.shared_prompt", True)
        maybe(rng, keys, .2, "data.overlong", "drop")
    elif rng.random() < .1:
        for key in ("data.train", "data.validation"):
            del keys[key]
        keys["data.format"] = "synthetic"
    maybe(rng, keys, .3, "data.packing", True)
    maybe(rng, keys, .3, "compile.skip_ignored_rows", False)
    if keys.get("compile.skip_ignored_rows", True):
        maybe(rng, keys, .15, "data.max_target_tokens", 2 * keys[BATCH] * (keys["training.seq_len"] * 3 // 8))
    maybe(rng, keys, .2, "compile.chunked_head", False)
    if keys.get("compile.chunked_head", True):
        maybe(rng, keys, .4, "compile.head_chunk_tokens", 8, 11, 16)
    if task != "pretrain" and (task == "dpo" or rng.random() < .7):
        draw_adapter(rng, keys)
        maybe(rng, keys, .2, "compile.bordered", False)
    if "quantization.quant_type" in keys:
        maybe(rng, keys, .25, "qat.activation_dtype", "int8", "float8_e4m3fn")
        if "qat.activation_dtype" in keys:
            maybe(rng, keys, .15, "qat.fake_quant_after_n_steps", 1)
    elif rng.random() < .25:
        keys[rng.choice(["qat.weight_dtype", "qat.activation_dtype"])] = rng.choice(["int8", "int8", "float8_e4m3fn"])
        maybe(rng, keys, .4, "qat.weight_dtype", "int4", "int8")
        if keys.get("qat.weight_dtype", "")[:3] == "int":
            keys["qat.group_size"] = rng.choice([8, 8, 16, 0])
            maybe(rng, keys, .3, "qat.export", keys["qat.weight_dtype"])
        maybe(rng, keys, .15, "qat.fake_quant_after_n_steps", 1)


def draw_adapter(rng, keys):
    all_linears = ["c_attn", "c_proj", "c_fc"] if keys["model.family"] == "gpt2" else [
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    keys.update({"adapter.type": "lora", "adapter.r": rng.choice([2, 4, 6, 8]), "adapter.lora_alpha": 16.0})
    maybe(rng, keys, .3, "adapter.lora_dropout", .1)
    maybe(rng, keys, .3, "adapter.use_dora", True)
    maybe(rng, keys, .1, "adapter.use_rslora", True)
    maybe(rng, keys, .4, "adapter.target_modules", rng.sample(all_linears, rng.randint(1, len(all_linears))))
    if keys["model.family"] != "gpt2" and keys["training.task"] != "dpo":
        maybe(rng, keys, .2, "adapter.modules_to_save", ["embed_tokens"], ["lm_head"], ["embed_tokens", "lm_head"],
              ["input_layernorm"], ["norm", "lm_head"])
    maybe(rng, keys, .35, "quantization.quant_type", "nf4", "fp4", "int8")
    if keys.get("quantization.quant_type", "int8") != "int8":
        keys["quantization.block_size"] = 32
        maybe(rng, keys, .3, "quantization.double_quant", False)
        if "adapter.modules_to_save" not in keys:
            maybe(rng, keys, .4, "checkpoint.export_base", True)


def draw_image_model(rng, keys):
    family = keys["model.family"]
    keys.update({
        "training.task": "classify", "model.num_classes": rng.choice([3, 10]), "model.image_channels": 3,
        "model.image_size": {"mobilenet_v2": 33, "resnet": 32}.get(family, rng.choice([8, 11, 12])),
        "data.format": "idx", "data.train": [f"{WORK}/images-idx3-ubyte"], "data.image_height": 12,
        "data.image_width": 14, "data.eval_fraction": .2, "data.device_resident": rng.random() < .3,
        "training.label_smoothing": rng.choice([0.0, .1])})
    if family == "mlp":
        keys.update({"model.hidden_size": rng.choice([16, 20]), "model.num_hidden_layers": rng.choice([1, 2, 3])})
    if family == "cnn":
        keys["model.layers"] = rng.choice([
            ["conv 6 3", "relu", "max_pool 2", "flatten"],
            ["conv 4 3 1 1", "relu", "conv 6 3 2 1", "relu", "dropout 0.2", "flatten", "linear 16", "relu"],
            ["conv 5 1", "conv 4 3", "max_pool 3 2", "relu", "conv 8 1 2", "relu", "flatten", FLAT_DROPOUT]])
    if family == "mobilenet_v2":
        keys.update({"model.width_mult": .1, "model.dropout": rng.choice([0.0, .2])})
    if family == "resnet":
        keys.update({"model.depth": rng.choice([18, 18, 34, 50]), "model.base_width": 4})
    maybe(rng, keys, .3, "compile.layout", "nchw")
    if family in ["cnn", "resnet"]:
        maybe(rng, keys, .3, "compile.pool_first", False)
    maybe(rng, keys, .3, "data.random_resized_crop", True)
    maybe(rng, keys, .3, "data.random_horizontal_flip", .5)
    maybe(rng, keys, .2, "data.eval_resize_size", 34)
    if not keys["data.device_resident"]:
        maybe(rng, keys, .2, "data.decode", "host")
        if "data.decode" in keys:
            del keys["data.device_resident"]


def draw_experiment(rng):
    keys = {
        "model.family": rng.choice(
            ["llama"] * 14 + ["qwen2"] * 7 + ["gpt2"] * 5 + ["mlp", "cnn", "cnn"] + list(BATCH_NORMS)),
        "training.steps": STEPS, "training.log_every": 1, "training.seed": rng.randrange(1000),
        BATCH: rng.choice([1, 2, 2, 3]), MICRO: rng.choice([1, 1, 2, 3]),
        "training.max_grad_norm": rng.choice([0.0, .1, 1.0]),
        "precision.dtype": "fp64", "optimizer.lr": .01, "data.eval_batches": 100}
    (draw_image_model if keys["model.family"] in IMAGES else draw_language_model)(rng, keys)
    if keys["model.family"] in BATCH_NORMS:
        keys["optimizer.lr"] = .001
    if rng.random() < .75:
        keys["optimizer.eps"] = .001
        maybe(rng, keys, .2, "optimizer.state", "int8")
        if "optimizer.state" in keys and keys["model.family"] not in IMAGES and rng.random() < .4:
            # Sizes of which each card's part is whole blocks.
            keys.update({"model.hidden_size": 512, "model.intermediate_size": 512, "model.num_hidden_layers": 1})
            keys.pop("model.head_dim", None)
    else:
        keys["optimizer.name"] = "sgd"
        maybe(rng, keys, .5, "optimizer.momentum", .9)
    maybe(rng, keys, .3, "optimizer.weight_decay", .1)
    maybe(rng, keys, .2, "lr_scheduler.type", "linear", "cosine")
    maybe(rng, keys, .4, "activation_checkpoint.mode", "none", "full")
    maybe(rng, keys, .15, "compile.fusion", False)
    maybe(rng, keys, .15, "compile.cuda_graph", False)
    maybe(rng, keys, .15, "compile.overlap", False)
    maybe(rng, keys, .3, "data.shuffle", False)
    if keys["data.format"] == "synthetic":
        keys.pop("data.shuffle", None)
        keys["data.eval_batches"] = 24
    return keys


LANES = "parallelism.data_parallel_replicate_degree", "parallelism.data_parallel_shard_degree"
DP = "parallelism.data_parallel_mode"
RESHARD = "parallelism.reshard_after_forward"
TENSOR, STAGES = "parallelism.tensor_parallel_degree", "parallelism.pipeline_parallel_degree"


def lanes(layout):
    """The number of batches in a micro-step of all cards."""
    return layout.get(LANES[0], 1) * layout.get(LANES[1], 1)


def draw_layout(rng, keys):
    """Keys of [parallelism] for two to eight cards."""
    splits = [STAGES, *LANES]
    layout, cards = {}, 1
    if keys["model.family"] not in IMAGES and rng.random() < .5:
        layout[TENSOR] = cards = rng.choice([2, keys["model.num_attention_heads"]])
    for key in rng.sample(splits, rng.choice([0, 1, 1, 2] if layout else [1, 1, 2, 3])):
        degree = rng.choice([2, 2, 2, 3, 4])
        if cards * degree <= 8:
            layout[key] = degree
            cards *= degree
    if LANES[1] in layout:
        layout["parallelism.shard_stage"] = rng.choice([1, 2, 3])
        if layout["parallelism.shard_stage"] < 3:
            maybe(rng, layout, .7, "parallelism.bucket_size_mb", .001)
        elif STAGES not in layout:
            maybe(rng, layout, .5, RESHARD, False)
    elif LANES[0] in layout:
        if len(layout) == 1:
            maybe(rng, layout, .3, DP, "dp")
        if DP in layout:
            maybe(rng, layout, .3, "parallelism.gather_outputs", True)
        else:
            maybe(rng, layout, .3, "parallelism.overlap_grad_reduce", False)
            if layout.get("parallelism.overlap_grad_reduce", True):
                maybe(rng, layout, .7, "parallelism.bucket_size_mb", .001)
    if TENSOR in layout:
        maybe(rng, layout, .5, "parallelism.sequence_parallel", True)
        if "parallelism.sequence_parallel" in layout:
            maybe(rng, layout, .5, "parallelism.sequence_parallel_chunks", 2, 3, 4)
        else:
            maybe(rng, layout, .3, "parallelism.vocab_parallel", False)
    if STAGES in layout:
        maybe(rng, layout, .4, "parallelism.pipeline_schedule", "gpipe")
    if keys["model.family"] in BATCH_NORMS and lanes(layout) > 1 and DP not in layout:
        maybe(rng, layout, .5, "parallelism.sync_batch_norm", True)
    return layout


# ---- the two forms of an experiment --------------------------------------------------------------

def wider(keys, times):
    """`times` as many rows in a micro-batch, and as many targets."""
    more = {key: keys[key] * times for key in (BATCH, "data.max_target_tokens") if key in keys}
    if keys["data.format"] == "synthetic": # endless data
        more["data.eval_batches"] = keys["data.eval_batches"] // times
    return {**keys, **more}


def pair_layout(rng, keys):
    layout = draw_layout(rng, keys)
    if STAGES in layout:
        keys = {**keys, MICRO: max(keys[MICRO], rng.choice([1, 2, 3]))}
    if "parallelism.sync_batch_norm" in layout or rng.random() < .3 and keys["model.family"] not in BATCH_NORMS:
        one = wider(keys, lanes(layout))
    else:
        one = {**keys, MICRO: keys[MICRO] * lanes(layout)}
    return one, {**keys, **layout}


# A key, what it is switched to, and whether the bits stay the same. The other switches of [compile] join in main.
SWITCHES = [
    ("compile.fusion", False, True), ("compile.cuda_graph", False, True), ("compile.overlap", False, True),
    ("compile.joined_launches", False, True), ("compile.side_stream", False, True), ("compile.pool_first", False, True),
    ("compile.programmatic_launch", True, True), ("compile.head_chunk_tokens", 7, False), ("compile.layout", "nchw", False),
    ("activation_checkpoint.mode", "full", True), ("quantization.keep_decoded", True, True),
    ("parallelism.pipeline_schedule", "gpipe", True), ("parallelism.overlap_grad_reduce", False, False),
    (RESHARD, False, True), ("parallelism.sequence_parallel_chunks", 2, False), ("data.device_resident", True, True),
]
IDLE_WITHOUT = {"compile.chunked_head": ["compile.head_chunk_tokens"],
                "compile.skip_ignored_rows": ["data.max_target_tokens"],
                "parallelism.overlap_grad_reduce": ["parallelism.bucket_size_mb"]}


def pair_key(rng, keys):
    if rng.random() < .4:
        keys = {**keys, **draw_layout(rng, keys)}
    key, value, _ = rng.choice([s for s in SWITCHES if applies(s[0], keys)])
    one = {k: v for k, v in keys.items() if k != key}
    if key == "activation_checkpoint.mode":
        one[key] = "none"
    return one, {**{k: v for k, v in one.items() if k not in IDLE_WITHOUT.get(key, [])}, key: value}


def applies(key, keys):
    """False for what would be refused; of [compile], the compiler says so itself."""
    return {
        "quantization.keep_decoded": "quantization.quant_type" in keys,
        "parallelism.pipeline_schedule": STAGES in keys, "data.device_resident": "data.device_resident" in keys,
        "parallelism.overlap_grad_reduce": LANES[0] in keys and LANES[1] not in keys and DP not in keys,
        RESHARD: keys.get("parallelism.shard_stage") == 3 and STAGES not in keys,
        "parallelism.sequence_parallel_chunks": "parallelism.sequence_parallel" in keys,
        "compile.layout": FLAT_DROPOUT not in keys.get("model.layers", [])}.get(key, True)


def pair_accumulation(rng, keys):
    if keys["model.family"] in BATCH_NORMS:
        return pair_layout(rng, keys)
    times = rng.choice([2, 3, 4])
    return wider(keys, times), {**keys, MICRO: keys[MICRO] * times}


def pair_same(rng, keys):
    if rng.random() < .7:
        keys = {**keys, **draw_layout(rng, keys)}
    return keys, keys


PAIRS = {"layout": (pair_layout, 10), "key": (pair_key, 5), "accumulation": (pair_accumulation, 1),
         "resume": (pair_same, 1), "late": (pair_same, 1), "ptx": (pair_same, 2)}


def same_bits(kind, one, many):
    """Whether both forms compute the same sums in the same order."""
    return kind in ("resume", "late") or kind == "key" and any(
        bits and one.get(key) != many.get(key) for key, _, bits in SWITCHES)


# ---- data ----------------------------------------------------------------------------------------


def write_data():
    rng = random.Random(1)
    tokens = lambda least, most: [rng.randrange(60) for _ in range(rng.randint(least, most))]
    def sample():
        ids = tokens(3, 22)
        return {"input_ids": ids, "labels": [i if rng.random() < .7 else -100 for i in ids]}
    def pair():
        return {"prompt_ids": tokens(2, 7), "chosen_ids": tokens(1, 12), "rejected_ids": tokens(1, 12)}
    for name, count, line in (("samples", 61, sample), ("held_out", 9, sample), ("pairs", 53, pair),
                              ("held_out_pairs", 7, pair)):
        with open(f"{WORK}/{name}.jsonl", "w") as file:
            file.writelines(json.dumps(line()) + "\n" for _ in range(count))
    with open(f"{WORK}/images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4i", 2051, 60, 12, 14) + rng.randbytes(60 * 12 * 14))
    with open(f"{WORK}/labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2i", 2049, 60) + bytes(rng.randrange(3) for _ in range(60)))


# ---- building and running ------------------------------------------------------------------------


def prepare():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    os.makedirs(WORK, exist_ok=True)
    top = os.getcwd()
    for name, value in {
            "RT": top, "RTLIB": f"{top}/build/libruntime.a", "SIM_OUT": f"{top}/build/sim",
            "GPUOPT_DEVICE": "sim", "GPUOPT_SIM_DIR": f"{top}/build/sim", "SIM_OPTIMIZE": "-Og", "CFLAGS": "-O1",
            "OPENBLAS_NUM_THREADS": "1", "MPIRUN": "timeout -k 5 60 mpirun"}.items():
        os.environ.setdefault(name, value)
    subprocess.run(["gcc", "-std=c17", "-D_GNU_SOURCE", "-O2", "-I.", "tests/runtime/compare_tensors.c",
                    "runtime/files/safetensors.c", "-o", f"{WORK}/compare_tensors", "-ljansson", "-lm"], check=True)
    write_data()


def command(words, log, limit, **environment):
    with open(log, "a") as out:
        done = subprocess.run(["timeout", "-k", "5", str(limit), *words], stdout=out, stderr=out,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    text = open(log, errors="replace").read()
    if done.returncode in (124, 137):
        raise Finding(f"hangs: {' '.join(words)}")
    return done.returncode, text


def build(keys, folder):
    os.makedirs(folder)
    with open(f"{folder}.toml", "w") as file:
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    code, text = command([GEN, f"{folder}.toml", "-o", folder], f"{folder}.log", 60)
    if code == 1 and re.search("^.*error: ", text, re.M):
        raise Refused(re.search("error: (.*)", text)[1])
    if code:
        raise Finding(f"compiler ends with {code}")
    make(folder)


def make(folder, **environment):
    if command(["make", "-s", "-C", folder, "DEVICE=sim"], f"{folder}.log", 300, **environment)[0]:
        raise Finding("program does not build")


def run(folder, out, *options, **environment):
    arguments = f"ARGS=--out {os.path.abspath(out)} {' '.join(options)}"
    code, text = command(["make", "-s", "-C", folder, "DEVICE=sim", f"FROM={os.getcwd()}", arguments, "run"],
                         f"{out}.log", 120, **environment)
    if code:
        errors = re.findall("error: (.*)", text)
        if errors and "max_target_tokens" in errors[0]: # depends on the data, which the compiler does not read
            raise Refused(errors[0].split("jsonl:")[-1])
        raise Finding(f"program ends: {errors[0] if errors else code}")


# ---- comparing -----------------------------------------------------------------------------------


def same_table(one, many, bound):
    rows = [[line.split(",") for line in open(f"{out}.csv").read().split()] for out in (one, many)]
    if [len(row) for row in rows[0]] != [len(row) for row in rows[1]] or len(rows[0]) < 2:
        raise Finding(f"{one}.csv and {many}.csv are not alike")
    for a, b in zip(*rows):
        noise = a is rows[0][1] and "rewards/accuracies" # margins are only rounding noise before the first update
        for name, x, y in zip(rows[0][0], a, b):
            if x != y and name != noise and not abs(float(x) - float(y)) <= bound * max(abs(float(x)), 1e-3):
                raise Finding(f"values: {one}.csv has {','.join(a)}, {many}.csv {','.join(b)}")


def same_tensors(one, many, bound):
    tolerance = ["--tolerance", str(bound), "--global", str(bound / 1000)] if bound else []
    done = subprocess.run([f"{WORK}/compare_tensors", *tolerance, one, many], capture_output=True, text=True)
    other = [line for line in done.stdout.splitlines() if not line.startswith("rewards/accuracies ")] # see above
    if done.returncode > 1 or other:
        raise Finding(f"values: {one} and {many}: {done.stdout}{done.stderr}")


def apart(keys):
    """Whether ranks have their own running statistics."""
    return keys["model.family"] in BATCH_NORMS and lanes(keys) > 1 and "parallelism.sync_batch_norm" not in keys


def same_results(one, many, bound, trained_only):
    same_table(f"{one}/loss", f"{many}/loss", bound)
    if trained_only:
        return
    same_table(f"{one}/eval", f"{many}/eval", bound)
    for file in (f"checkpoints/step_{STEPS}/state", "adapter/adapter_model", "base/model", "model/model", "quantized/model"):
        if os.path.exists(f"{one}/{file}.safetensors"):
            same_tensors(f"{one}/{file}.safetensors", f"{many}/{file}.safetensors", bound)


def experiment(kind, one, many, folder):
    shutil.rmtree(folder, ignore_errors=True)
    a, b = f"{folder}/one", f"{folder}/many"
    bound = 0 if same_bits(kind, one, many) else 1e-2 if one["model.family"] in BATCH_NORMS else 1e-9
    build(many, b) # mostly layouts are refused
    run(b, f"{b}/out")
    if kind == "resume":
        run(b, f"{a}_out", "--steps 1")
        run(b, f"{a}_out", "--resume")
        return same_results(f"{b}/out", f"{a}_out", bound, False)
    if kind == "late":
        run(b, f"{a}_out", SIM_QUEUE=f"lazy:{one['training.seed']}", SIM_ORDER=f"random:{one['training.seed']}")
        return same_results(f"{b}/out", f"{a}_out", bound, False)
    if kind == "ptx":
        for module in glob.glob(f"{b}/**/kernels.sim", recursive=True):
            os.remove(module)
        make(b, SIM_PTX="sm_90a")
        run(b, f"{a}_out")
        return same_results(f"{b}/out", f"{a}_out", bound, False)
    build(one, a)
    run(a, f"{a}/out")
    trained_only = apart(many) and lanes(one) < lanes(many)
    same_results(f"{a}/out", f"{b}/out", bound, trained_only)
    if kind == "layout" and one["training.seed"] % 3 == 0 and not trained_only:
        run(a, f"{folder}/moved", "--steps 1")
        run(b, f"{folder}/moved", "--resume")
        same_results(f"{a}/out", f"{folder}/moved", bound, False)


# ---- all -----------------------------------------------------------------------------------------


def same_fault(a, b):
    return re.sub(r"values: .*|[\d.]+", "", a, flags=re.S) == re.sub(r"values: .*|[\d.]+", "", b, flags=re.S)


def smaller(kind, one, many, folder, fault):
    """Removes each key without which the fault still occurs."""
    for key in [k for k in one if k in many and k not in ("model.family", "training.steps", "precision.dtype")]:
        less = [{k: v for k, v in keys.items() if k != key} for keys in (one, many)]
        try:
            experiment(kind, *less, f"{folder}.less")
        except Finding as found:
            if same_fault(str(found), fault):
                one, many = less
        except (Refused, KeyError):
            pass
    return one, many


def draw(seed, i):
    rng = random.Random(f"{seed} {i}")
    kind = rng.choices(list(PAIRS), [weight for _, weight in PAIRS.values()])[0]
    one, many = PAIRS[kind][0](rng, draw_experiment(rng))
    if same_bits(kind, one, many):
        one["precision.dtype"] = many["precision.dtype"] = rng.choice(["fp64", "fp32", "tf32", "bf16", "fp16"])
    return kind, one, many


def features(kind, one, many):
    short = lambda key, value: f"{key.split('.')[1]}={value}"
    layout = [short(k, v) for k, v in many.items() if k.startswith("parallelism.")]
    if kind == "key":
        layout.append("with " + " ".join(short(k, v) for k, v in many.items() if one.get(k) != v))
    return f"{kind} {one['model.family']} {one['training.task']} {' '.join(layout)}"


def main():
    options = argparse.ArgumentParser(description="see the head of the script")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--only", type=int, help="the experiment with this number alone")
    args = options.parse_args()
    prepare()
    named = [key for key, _, _ in SWITCHES]
    listed = subprocess.run(["sh", "-c", ". tests/variants.sh; switches"], check=True, capture_output=True, text=True)
    SWITCHES.extend((key, False, False) for key in listed.stdout.split() if key not in named)
    end, refused, ran, findings = time.time() + 60 * args.minutes, collections.Counter(), collections.Counter(), 0
    i = args.only or 0
    while time.time() < end and (args.only is None or i == args.only):
        kind, one, many = draw(args.seed, i)
        folder = f"{WORK}/{args.seed}.{i}"
        began = time.time()
        try:
            experiment(kind, one, many, folder)
            print(f"ok {i} {features(kind, one, many)} ({time.time() - began:.0f} s)", flush=True)
            ran[kind] += 1
        except Refused as why:
            refused[re.sub(r"\d+|\"[^\"]*\"", "…", str(why))] += 1
        except Finding as found:
            findings += 1
            print(f"FAIL {i} {features(kind, one, many)}\n  {found}", flush=True)
            one, many = smaller(kind, one, many, folder, str(found))
            for name, keys in ("one", one), ("many", many):
                print(f"  {name}: {json.dumps(keys)}", flush=True)
        else:
            shutil.rmtree(folder)
        i += 1
    for message, count in refused.most_common():
        print(f"refused {count}: {message}")
    print(f"ran {sum(ran.values())} ({dict(ran)}), refused {sum(refused.values())}, findings {findings}")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
