#!/bin/sh
# Random small models with odd shapes, and shapes at the limits: whatever compiles is right, for all
# sizes. One step with every switch of [compile] on must match one with every switch off (fp64,
# 1e-11), and bf16, fp16 and tf32 must be near it; in fp64 threads also run in another order.
#
#     tests/runtime/shapes.sh [--all | --rest | FIRST [COUNT]]     2 specs; 30 with --all
#
# Needs what `make check` builds; --rest runs what --all adds. A spec that fails is kept in
# build/shapes/SEED; `shapes.sh SEED 1` runs it again.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
. tests/lib.sh
. tests/variants.sh
suite=shapes work=build/shapes
few=2 all=30 first=20
case ${1-} in
--all) count=$all ;;
--rest) first=$((first + few)) count=$((all - few)) ;;
*) first=${1-$first} count=${2-$few} ;;
esac
mkdir -p $work
build_tool compare_tensors tests/runtime/compare_tensors.c || exit 1

# draw SEED FOLDER: writes spec.toml and data.jsonl. The generator is minstd, the same in every awk.
draw() {
    awk -v seed="$1" -v folder="$2" '
        function below(n) { seed = seed * 16807 % 2147483647; return int(seed / 2147483647 * n) }
        function between(a, b) { return a + below(b - a + 1) }
        function one_of(words,   list) { return list[between(1, split(words, list, " "))] }
        function maybe(percent) { return below(100) < percent }
        function key(name, value) { print name " = " value >spec }
        function list(words) { gsub(",", "\", \"", words); return "[\"" words "\"]" }
        function table(name) { print "[" name "]" >spec }

        # With fewer than 8 channels, bf16 values after a norm would be mostly rounding noise.
        # Samples of 2 to seq_len + 2 tokens, some of whose places have no target.
        function samples(vocab, seq,   i, j, n, ids, labels, id, skipped, targets, most) {
            for (i = 0; i < 30; i++) {
                n = between(2, seq + 2); ids = labels = ""; skipped = below(90); targets = 0
                for (j = 0; j < n; j++) {
                    id = below(vocab)
                    ids = ids (j ? ", " : "") id
                    target = j == 1 || !maybe(skipped)
                    labels = labels (j ? ", " : "") (target ? id : -100)
                    targets += target && j > 0 && j <= seq
                }
                if (targets > most) most = targets
                print "{\"input_ids\": [" ids "], \"labels\": [" labels "]}" >(folder "/data.jsonl")
            }
            return most
        }

        BEGIN {
            seed = 7919 * seed + 1
            for (i = 0; i < 9; i++) below(1) # similar seeds give similar first numbers
            spec = folder "/spec.toml"
            split(one_of("1/1 2/1 2/2 3/1 3/3 4/2 6/2 8/1"), heads, "/")
            vocab = one_of("2 3 17 64 " between(2, 1000))
            seq = one_of("2 3 16 17 33 64 65 " between(2, 100))
            batch = between(1, 4); adapter = maybe(75)
            most = samples(vocab, seq)
            table("model")
            key("hidden_size", one_of("8 9 11 12 20 32 52 100 128 " between(8, 150)))
            key("head_dim", 8 * between(1, heads[1] > 3 ? 8 : 32))
            key("num_attention_heads", heads[1]); key("num_key_value_heads", heads[2])
            key("vocab_size", vocab)
            key("intermediate_size", one_of("1 2 16 37 64 " between(1, 130)))
            key("num_hidden_layers", between(1, 4))
            key("tie_word_embeddings", one_of("true false"))
            key("initializer_range", 0.15)
            table("training")
            key("task", adapter ? "\"sft\"" : one_of("\"sft\" \"pretrain\""))
            key("seq_len", seq); key("per_device_train_batch_size", batch); key("steps", 3)
            key("gradient_accumulation_steps", one_of("1 1 1 2 3"))
            key("max_grad_norm", one_of("0.0 0.01 1.0"))
            table("optimizer")
            key("lr", 0.02); key("eps", 1e-3)
            if (adapter) {
                table("adapter")
                key("type", "\"lora\""); key("r", one_of("1 2 7 8 9 16 " between(1, 40)))
                key("lora_dropout", one_of("0.0 0.0 0.3")); key("use_rslora", one_of("true false"))
                key("target_modules", list(one_of("all-linear q_proj,v_proj o_proj " \
                    "k_proj,gate_proj,down_proj q_proj,k_proj,v_proj,up_proj")))
            }
            table("data")
            key("format", "\"jsonl\""); key("train", "[\"" folder "/data.jsonl\"]")
            key("packing", one_of("true false")); key("eval_batches", 1)
            if (maybe(30)) key("max_target_tokens", batch * most)
        }'
}

# step NAME SETTING...: builds the spec in $dir as NAME and runs its first step.
step() {
    name=$1
    shift
    for setting; do
        set -- "$@" --set "$setting"
        shift
    done
    ./gpuopt-gen "$dir/spec.toml" -o "$dir/$name" "$@" || return 1
    make -s -C "$dir/$name" || return 1
    set --
    [ ! -d "$dir/first/out/adapter" ] || set -- --adapter "$dir/first/out/adapter"
    "$dir/$name/run" --steps 1 --dump "$dir/$name.safetensors" "$@"
}

near() { $work/compare_tensors --step "$2" "$dir/plain.safetensors" "$dir/$1.safetensors"; }

# plain NAME: as `step`, without any of the switches.
plain() {
    # shellcheck disable=SC2046 # the settings are words
    step "$1" $(settings_of "$dir/spec.toml" fp64 plain)
}

# try CHUNK: compares everything with a first step without any of the switches.
try() {
    # An adapter's B starts at zero, so the compared step starts from an adapter trained for one step.
    { ! grep -q adapter "$dir/spec.toml" || plain first; } && plain plain &&
        SIM_ORDER=random:1 SIM_QUEUE=lazy:1 \
            step all precision.dtype=fp64 compile.head_chunk_tokens="$1" &&
        near all 1e-11 && step bf16 precision.dtype=bf16 && near bf16 0.3 &&
        step fp16 precision.dtype=fp16 precision.init_scale=64.0 && near fp16 0.1 &&
        step tf32 precision.dtype=tf32 && near tf32 0.05
}

# edge HEADS HEAD_DIM HIDDEN: writes a spec as narrow and short as allowed, or with heads at a
# limit.
edge() {
    cat >"$dir/spec.toml" <<SPEC
[model]
vocab_size = $((3 + 7 * ($3 - 1)))
hidden_size = $3
intermediate_size = $3
num_hidden_layers = 1
num_attention_heads = $1
num_key_value_heads = 1
head_dim = $2
initializer_range = 0.3
[training]
task = "pretrain"
seq_len = $((2 + 20 * ($3 - 1)))
per_device_train_batch_size = 1
steps = 3
[optimizer]
lr = 0.02
eps = 1e-3
[data]
format = "synthetic"
eval_batches = 1
SPEC
}

# With a width of 1, bf16 values after a norm are only rounding noise, so only fp64 is compared.
try_edge() {
    edge "$@" && plain plain &&
        step all precision.dtype=fp64 && near all 1e-11 || return
    [ "$3" -gt 1 ] || return 0
    step bf16 precision.dtype=bf16 && near bf16 0.3 && step tf32 precision.dtype=tf32 && near tf32 0.05
}

# small_cnn SIZE BATCH LAYERS: writes a spec with results of one channel or one number.
small_cnn() {
    cat >"$dir/spec.toml" <<SPEC
[model]
family = "cnn"
num_classes = 3
image_size = $1
image_channels = 1
layers = [$3]
[training]
task = "classify"
per_device_train_batch_size = $2
steps = 3
[data]
format = "synthetic"
eval_batches = 1
SPEC
}

try_small_cnn() {
    small_cnn "$@" &&
        plain plain && step all precision.dtype=fp64 && near all 1e-11 && step bf16 precision.dtype=bf16 && near bf16 0.3
}

# Without steps, there is only a held-out loss, and no training.
try_no_steps() {
    edge 2 8 8 && ./gpuopt-gen "$dir/spec.toml" -o "$dir/none" --set training.steps=0 &&
        make -s -C "$dir/none" && "$dir/none/run" >"$dir/said" &&
        grep -q 'held-out loss before' "$dir/said" && ! grep -q 'step\|after' "$dir/said" &&
        grep -q '"steps": 0' "$dir/none/out/report.json" && [ ! -e "$dir/none/out/checkpoints" ] &&
        [ ! -e "$dir/none/out/model" ]
}

# shape FOLDER NAME COMMAND...: a test in $dir, which is kept if it fails.
shape() {
    dir=$work/$1 shape=$2
    shift 2
    rm -rf "$dir" && mkdir -p "$dir"
    "$@" >"$dir/log" 2>&1 </dev/null
    code=$?
    report $code "$shape" "$dir/log"
    [ $code -ne 0 ] || rm -rf "$dir"
}

try_drawn() { draw "$1" "$dir" && try $((1 + $1 % 40)); }

edges() {
    for limits in "1 8 1" "2 8 8" "2 256 8"; do
        # shellcheck disable=SC2086 # the limits are words
        shape "$(echo "$limits" | tr ' ' _)" "heads, head_dim, hidden_size: $limits" try_edge $limits
    done
    while IFS='|' read -r size batch layers; do
        shape "cnn_${size}_$batch" "images of $size, batch $batch: $layers" try_small_cnn "$size" "$batch" "$layers"
    done <<'LAYERS'
8|2|"conv 1 3", "dropout 0.3", "flatten"
2|1|"conv 1 2", "relu", "dropout 0.3", "flatten"
8|2|"conv 1 3", "relu", "max_pool 2", "dropout 0.3", "flatten"
4|1|"conv 3 3", "relu", "max_pool 2", "dropout 0.3", "flatten"
4|1|"conv 1 3", "max_pool 2", "relu", "flatten"
4|1|"flatten", "linear 1", "dropout 0.2", "linear 1", "relu"
LAYERS
    shape none "no steps" try_no_steps
}

[ "${1-}" = --rest ] || edges
for seed in $(seq "$first" $((first + count - 1))); do
    shape "$seed" "$seed" try_drawn "$seed"
done
exit $failed
