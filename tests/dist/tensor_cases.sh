# shellcheck shell=bash
# Compares tensor parallel ranks, which all have the same batches, with one rank. Sourced by run.sh.

tensor() { echo parallelism.tensor_parallel_degree="$1"; }

# alike NAME CASE BOUND RANKS [KEY=VALUE]...: builds, runs and compares NAME_one and NAME_many,
# which differ in the degree and in the settings in `of_many`. They start from `weights`, or the
# case's.
of_many=()
weights=
alike() {
    local name=$1 case=$2 bound=$3 ranks=$4 start=() which
    shift 4
    [ ! -d $cases/$case/model ] || start=(--init "${weights:-$cases/$case/model}")
    [ ! -d $cases/$case/adapter ] || start+=(--adapter $cases/$case/adapter)
    program "${name}_one" $cases/$case/spec.toml "$@" &&
        program "${name}_many" $cases/$case/spec.toml "$@" "$(tensor "$ranks")" \
            ${of_many[@]+"${of_many[@]}"} || return 1
    for which in one many; do
        run "${name}_$which" "${name}_${which}_out" "${start[*]} --dump $work/${name}_${which}_out.dump" ||
            return 1
    done
    same_training "$bound" "${name}_one_out" "${name}_many_out" &&
        tensors --tolerance "$bound" --prefix logits "$work/${name}_one_out.dump" "$work/${name}_many_out.dump"
}

test_tensor_lora() { alike tensor_lora demo 1e-11 2 "${dropout[@]}"; }
more_test_tensor_pretrain() { alike tensor_pretrain pretrain_tied 1e-11 4 precision.dtype=fp64; }
more_test_tensor_plain() {
    local of_many=(parallelism.vocab_parallel=false)
    alike tensor_plain demo 1e-11 2 precision.dtype=fp64 compile.bordered=false training.steps=4
}
more_test_tensor_accumulate() { alike tensor_accumulate accumulate 1e-11 2 precision.dtype=fp64 compile.head_chunk_tokens=24; }
# Biases, frozen and trained, are split like the columns that they are added to.
more_test_tensor_biases() {
    alike tensor_biases qwen2_lora 1e-11 2 precision.dtype=fp64 training.steps=4 &&
        rows tensor_rows_biases qwen2 1e-11 2 precision.dtype=fp64 training.steps=4
}
# More cards than key heads, with adapters on all linears, biases, all weights trained, magnitudes,
# one key head for all cards, rounding and codes. A checkpoint can be resumed with any number of
# cards.
more_test_tensor_same_keys() {
    local from to
    alike tensor_same_keys demo 1e-11 4 "${dropout[@]}" &&
        same_export 1e-11 tensor_same_keys_one_out tensor_same_keys_many_out || return 1
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run tensor_same_keys_$from same_keys_resumed_$from "${lora_start[*]} --steps 3" &&
            run tensor_same_keys_$to same_keys_resumed_$from "--resume" &&
            near 1e-11 "$work/tensor_same_keys_one_out/loss.csv" "$work/same_keys_resumed_$from/loss.csv" ||
            return 1
    done
}
more_test_tensor_same_keys_trained() {
    rows same_keys_trained qwen2 1e-11 4 precision.dtype=fp64 training.steps=4 &&
        same_export 1e-11 same_keys_trained_one_out same_keys_trained_many_out &&
        rows same_keys_magnitudes dora 1e-11 4 precision.dtype=fp64 training.steps=4 &&
        same_export 1e-11 same_keys_magnitudes_one_out same_keys_magnitudes_many_out &&
        alike same_keys_single qat_lora 1e-11 2 precision.dtype=fp64 training.steps=4 &&
        same_integers 0 same_keys_single_one_out same_keys_single_many_out
}
grouped() {
    mkdir -p "$work/grouped"
    cat >"$work/grouped/spec.toml" <<'SPEC'
model = {vocab_size = 64, hidden_size = 128, intermediate_size = 128, num_hidden_layers = 1, num_attention_heads = 4, num_key_value_heads = 2}
training = {task = "sft", seq_len = 16, steps = 3, log_every = 1}
data = {format = "synthetic", eval_batches = 1}
adapter = {type = "lora", r = 4, target_modules = ["all-linear"]}
SPEC
}
# Also random initial weights, and codes whose second-level scales include the ranks that have other
# key heads.
more_test_tensor_same_keys_codes() {
    local cases=$work
    grouped
    alike same_keys_codes grouped 1e-11 4 "${few_bits[@]}" quantization.quant_type=nf4 &&
        same_export 1e-11 same_keys_codes_one_out same_keys_codes_many_out
}
# Queries, keys and values are one product, and a card has its heads of each; weights are transposed
# in files; biases after a sum are added once; there is a table of positions.
more_test_tensor_gpt2() {
    alike tensor_gpt2 gpt2 1e-11 4 precision.dtype=fp64 training.steps=4 &&
        same_export 1e-11 tensor_gpt2_one_out tensor_gpt2_many_out
}
more_test_tensor_gpt2_lora() {
    local of_many=(parallelism.vocab_parallel=false)
    alike tensor_gpt2_lora gpt2_lora 1e-11 2 "${dropout[@]}" &&
        same_export 1e-11 tensor_gpt2_lora_one_out tensor_gpt2_lora_many_out &&
        rows tensor_gpt2_rows gpt2_lora 1e-11 2 "${dropout[@]}" &&
        same_export 1e-11 tensor_gpt2_rows_one_out tensor_gpt2_rows_many_out
}
# A frozen base in codes, in 8-bit integers, and rounded: each row's scale and each block are those
# of one card, and a checkpoint recognises the base in every layout.
small_gpt2() {
    mkdir -p "$work/small_gpt2"
    cat >"$work/small_gpt2/spec.toml" <<'SPEC'
model = {family = "gpt2", vocab_size = 64, hidden_size = 128, intermediate_size = 256, num_hidden_layers = 1, num_attention_heads = 4, max_position_embeddings = 16}
training = {task = "sft", seq_len = 16, steps = 3, log_every = 1}
data = {format = "synthetic", eval_batches = 1}
adapter = {type = "lora", r = 4, target_modules = ["all-linear"], use_dora = true}
SPEC
}
more_test_tensor_gpt2_few_bits() {
    local cases=$work kind
    small_gpt2
    alike gpt2_codes small_gpt2 1e-11 4 "${few_bits[@]}" quantization.quant_type=nf4 &&
        alike gpt2_integers small_gpt2 1e-11 2 "${few_bits[2]}" quantization.quant_type=int8 &&
        alike gpt2_rounded small_gpt2 1e-11 2 "${few_bits[2]}" "${int8[@]}" || return 1
    for kind in codes integers rounded; do
        same_export 1e-11 gpt2_${kind}_one_out gpt2_${kind}_many_out &&
            run gpt2_${kind}_one gpt2_${kind}_from_one "--steps 2" &&
            run gpt2_${kind}_many gpt2_${kind}_from_one --resume &&
            near 1e-11 "$work/gpt2_${kind}_one_out/loss.csv" "$work/gpt2_${kind}_from_one/loss.csv" || return 1
    done
}
# The same for files with codes of [out, in], as transformers writes them, although the family's
# other files have [in, out]. One card or several read what was written; initial values that are
# quantised immediately are the same too.
more_test_tensor_gpt2_codes_in_files() {
    local cases=$work which one=$work/gpt2_stored_one_out/base many=$work/gpt2_stored_many_out/base
    local codes=("${few_bits[@]}" quantization.quant_type=nf4)
    small_gpt2
    program gpt2_stored_one "$work/small_gpt2/spec.toml" "${codes[@]}" checkpoint.export_base=true &&
        program gpt2_stored_many "$work/small_gpt2/spec.toml" "${codes[@]}" checkpoint.export_base=true "$(tensor 4)" &&
        for which in one many; do
            run gpt2_stored_$which gpt2_stored_${which}_out || return 1
        done
    same_folder "$one" "$many" || return 1
    grep -aq '"shape": \[384, 128\]' "$one/model.safetensors" &&
        alike gpt2_from_codes small_gpt2 1e-11 4 "${codes[@]}" "model.weights=\"$many\"" checkpoint.export_base=true &&
        cmp "$work"/gpt2_{stored,from_codes}_one_out/loss.csv &&
        tensors "$one/model.safetensors" "$work/gpt2_from_codes_many_out/base/model.safetensors"
}
more_test_tensor_gpt2_mixes() {
    local stage of_many=(parallelism.sequence_parallel=true parallelism.sequence_parallel_chunks=2)
    alike tensor_gpt2_chunks gpt2_lora 1e-11 2 "${dropout[@]}" &&
        of_many=() && stage=1 && mixed shards_of_rows gpt2 2 1 1e-11 precision.dtype=fp64 &&
        stage=3 && mixed cube gpt2 2 1 1e-11 precision.dtype=fp64 &&
        stage=3 && mixed shards_of_parts gpt2_lora 2 1 1e-11 precision.dtype=fp64 &&
        stage=2 && mixed shards_of_parts gpt2_lora 2 1 2e-2 precision.dtype=bf16
}
more_test_tensor_recompute() {
    alike tensor_recompute demo 1e-11 2 "${dropout[@]}" activation_checkpoint.mode=full
}
more_test_tensor_fp32() { alike tensor_fp32 pretrain_tied 1e-4 2 training.steps=4; }
more_test_tensor_bf16() { alike tensor_bf16 demo 5e-2 2 precision.dtype=bf16 training.steps=4; }

# Blocks are those of one card, for parts by rows and by columns; second-level scales are those of
# all ranks' blocks. Adapters equal those trained on one card.
few_bits=(quantization.block_size=32 quantization.double_quant=true precision.dtype=fp64 training.steps=4)
test_tensor_quantized() {
    alike tensor_quantized qlora_single 1e-11 2 "${few_bits[@]}" adapter.lora_dropout=0.1 &&
        same_export 1e-11 tensor_quantized_one_out tensor_quantized_many_out
}

# The codes in files are those of one card too, and each card loads its part of them.
more_test_tensor_codes_in_files() {
    local which one=$work/tensor_quantized_one_out/base many=$work/tensor_codes_out/base
    program tensor_quantized_one $cases/qlora_single/spec.toml "${few_bits[@]}" checkpoint.export_base=true &&
        program tensor_codes $cases/qlora_single/spec.toml "${few_bits[@]}" checkpoint.export_base=true "$(tensor 2)" &&
        for which in tensor_quantized_one tensor_codes; do
            run $which ${which}_out "--init $cases/qlora_single/model --steps 1" || return 1
        done
    same_folder "$one" "$many" || return 1
    local weights=$many
    alike tensor_codes_read qlora_single 1e-11 2 "${few_bits[@]}" "model.weights=\"$many\""
}

# So are rows of 8-bit integers, whose scale covers all columns even if a card has only some of
# them.
more_test_tensor_integers() {
    alike tensor_integers demo 1e-11 2 quantization.quant_type=int8 "${dropout[@]}" &&
        same_export 1e-11 tensor_integers_one_out tensor_integers_many_out
}

# Groups are those of one card; a row's scale and a token's range cover all ranks' columns.
int8=('qat.activation_dtype="int8"' 'qat.weight_dtype="int8"' qat.group_size=0)
more_test_tensor_rounded() {
    alike tensor_rounded qat 1e-11 2 qat.group_size=16 precision.dtype=fp64 training.steps=3 &&
        same_integers 1e-11 tensor_rounded_one_out tensor_rounded_many_out &&
        alike tensor_rounded_base demo 1e-11 2 qat.weight_dtype=int8 qat.group_size=8 qat.export=int8 "${dropout[@]}" &&
        same_integers 0 tensor_rounded_base_one_out tensor_rounded_base_many_out &&
        of_many=(parallelism.sequence_parallel=true) &&
        alike tensor_rounded_rows demo 1e-11 2 "${int8[@]}" qat.export=int8 "${dropout[@]}" &&
        same_integers 0 tensor_rounded_rows_one_out tensor_rounded_rows_many_out
}
# A row of 8-bit floats is scaled by the columns of all cards, and the scale's gradient is a sum over them.
more_test_tensor_floats() {
    local floats=(qat.activation_dtype=float8_e4m3fn qat.weight_dtype=float8_e4m3fn) stage=3
    alike tensor_floats qat_float8 1e-11 2 $fp64 training.steps=3 &&
        rows tensor_rows_floats qat_float8 1e-11 2 $fp64 training.steps=3 &&
        alike tensor_floats_base demo 1e-11 4 $fp64 "${floats[@]}" adapter.lora_dropout=0.1 &&
        alike tensor_floats_later qat_float8 1e-11 2 $fp64 training.steps=4 qat.fake_quant_after_n_steps=2 \
            activation_checkpoint.mode=full &&
        rm -r "$work"/tensor_floats_later_*_out && # the plan's launches are those of steps that round
        alike tensor_floats_bf16 qat_float8 1.5e-1 2 precision.dtype=bf16 activation_checkpoint.mode=full &&
        rows tensor_floats_magnitudes dora 1e-11 2 $fp64 "${floats[@]}" adapter.lora_dropout=0.1 training.steps=3 &&
        mixed cube qat_float8 2 2 1e-11 $fp64
}

rows() { # rows NAME CASE BOUND RANKS [KEY=VALUE]...: also splits the rows between layers
    local of_many=(parallelism.sequence_parallel=true)
    alike "$@"
}
more_test_tensor_rows() { rows tensor_rows demo 1e-11 2 "${dropout[@]}" data.max_target_tokens=126; }
more_test_tensor_rows_pretrain() {
    rows tensor_rows_pretrain pretrain_tied 1e-11 4 precision.dtype=fp64 training.steps=4
}
more_test_tensor_rows_bf16() {
    rows tensor_rows_bf16 demo 5e-2 2 precision.dtype=bf16 training.steps=4 \
        activation_checkpoint.mode=full
}

# Runs of rows are sent while the next are computed, and received while the previous are read. A
# rank then holds other rows of each micro-batch, and the results are the same.
more_test_tensor_chunks() {
    local of_many=(parallelism.sequence_parallel=true parallelism.sequence_parallel_chunks=2)
    alike tensor_chunks demo 1e-11 2 "${dropout[@]}" data.max_target_tokens=126 &&
        alike tensor_chunks_recompute demo 5e-2 2 precision.dtype=bf16 training.steps=4 activation_checkpoint.mode=full
}
# Large enough for exchanges on their own stream, which may be late by any amount.
more_test_tensor_chunks_beside() {
    local cases=$work seed of_many=(parallelism.sequence_parallel=true parallelism.sequence_parallel_chunks=2)
    mkdir -p "$work/chunked"
    cat >"$work/chunked/spec.toml" <<'SPEC'
model = {vocab_size = 64, hidden_size = 512, intermediate_size = 1536, num_hidden_layers = 1, num_attention_heads = 4}
training = {task = "pretrain", seq_len = 128, per_device_train_batch_size = 2, steps = 2, log_every = 1}
data = {format = "synthetic", eval_batches = 1}
precision = {dtype = "fp64"}
SPEC
    alike tensor_beside chunked 1e-11 2 &&
        [ "$(grep -c 'rt_wait_stream(rt, RT_STREAM_COMMUNICATION)' "$work/tensor_beside_many/program.c")" -gt 10 ] || return 1
    for seed in 1 2; do
        SIM_QUEUE=lazy:$seed SIM_ORDER=random:$seed run tensor_beside_many tensor_late_$seed &&
            same_results tensor_beside_many_out tensor_late_$seed || return 1
    done
}
more_test_tensor_chunks_pretrain() {
    local of_many=(parallelism.sequence_parallel=true parallelism.sequence_parallel_chunks=4)
    alike tensor_chunks_pretrain pretrain_tied 1e-11 2 precision.dtype=fp64 training.steps=4 &&
        alike tensor_chunks_rounded demo 1e-11 2 "${int8[@]}" "${dropout[@]}" &&
        alike tensor_chunks_codes qlora_single 1e-11 2 "${few_bits[@]}"
}

# Two replicas with their own batches, each of two ranks that split the model.
more_test_tensor_and_data() {
    lora tensor_data "$(tensor 2)" "$(ranks 2)" $buckets parallelism.sequence_parallel=true &&
        lora wide2 training.per_device_train_batch_size=4 &&
        same_training 1e-11 wide2_out tensor_data_out
}

more_test_tensor_two_runs() {
    run tensor_lora_many tensor_again "${lora_start[*]}" &&
        SIM_ORDER=random:3 SIM_QUEUE=lazy run tensor_lora_many tensor_lazy "${lora_start[*]}" &&
        same_results tensor_lora_many_out tensor_again && same_results tensor_again tensor_lazy
}

# counted PLAN OUT STEPS KIND...: as many exchanges ran as the plan counts, for each kind. The first
# step was dumped, not measured.
counted() {
    local plan=$work/$1/plan.json report=$work/$2/report.json steps=$(($3 - 1)) kind field of planned ran
    for kind in "${@:4}"; do
        for field in count bytes; do
            of="/\"$kind\"/,/}/s/.*\"$field\": *\([0-9]*\).*/\1/p"
            planned=$(sed -n "$of" "$plan") ran=$(sed -n "$of" "$report" | head -n 1) # the predicted figure follows
            [ -n "$planned" ] && [ "$ran" -eq $((steps * planned)) ] || return 1
        done
    done
}
more_test_tensor_counted() {
    counted tensor_rows_many tensor_rows_many_out 6 all_reduce all_gather reduce_scatter
}

# A checkpoint is that of one card, so it can be resumed with any number of cards.
more_test_tensor_resume() {
    local from to
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run tensor_lora_$from tensor_resumed_$from "${lora_start[*]} --steps 3" &&
            run tensor_lora_$to tensor_resumed_$from "--resume" &&
            near 1e-11 "$work/tensor_lora_one_out/loss.csv" "$work/tensor_resumed_$from/loss.csv" ||
            return 1
    done
    tensors --tolerance 1e-11 "$work"/tensor_resumed_{one,many}/adapter/adapter_model.safetensors
}

# Random initial weights are those of one card.
more_test_tensor_from_scratch() {
    local which degree=1
    for which in one many; do
        program scratch_$which tests/golden/pretrain.toml precision.dtype=fp64 "$(tensor $degree)" \
            training.steps=3 training.gradient_accumulation_steps=1 && run scratch_$which scratch_${which}_out "" || return 1
        degree=2
    done
    tensors --tolerance 1e-11 "$work"/scratch_{one,many}_out/model/model.safetensors
}

# Image models: output channels of the first convolution, input channels of the second, and with them
# what norms, biases and depthwise filters have for a channel, in both layouts. The gradient of a bias
# before a batch norm is only rounding noise.
images() { # images NAME CASE RANKS [KEY=VALUE]...: the two programs also have the settings in of_one and of_many
    local name=$1 case=$2 ranks=$3 which start=
    shift 3
    local keys=(precision.dtype=fp64 training.steps=3 "$@")
    [ ! -d $cases/$case/model ] || start="--init $cases/$case/model"
    program "${name}_one" $cases/$case/spec.toml "${keys[@]}" ${of_one[@]+"${of_one[@]}"} &&
        program "${name}_many" $cases/$case/spec.toml "${keys[@]}" "$(tensor "$ranks")" ${of_many[@]+"${of_many[@]}"} &&
        grep -rq rt_all_reduce --include=program.c "$work/${name}_many" || return 1
    for which in one many; do
        run "${name}_$which" "${name}_${which}_out" "$start --dump $work/${name}_${which}_out.dump" || return 1
    done
    [ "$(parameters "${name}_one_out")" = "$(parameters "${name}_many_out")" ] &&
        tensors --tolerance 1e-11 --global 1e-15 --prefix grad. "$work/${name}"_{one,many}_out.dump &&
        tensors --tolerance 1e-11 --prefix new. "$work/${name}"_{one,many}_out.dump &&
        same_images "${name}"_{one,many}_out
}
of_one=()
same_images() { # same_images ONE MANY
    near 1e-10 "$work/$1/loss.csv" "$work/$2/loss.csv" && near 1e-10 "$work/$1/eval.csv" "$work/$2/eval.csv" &&
        tensors --tolerance 1e-11 "$work/$1/model/model.safetensors" "$work/$2/model/model.safetensors"
}
# resumed_images NAME CASE: each of its programs continues from the other's checkpoint.
resumed_images() {
    local from to
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run "$1_$from" "$1_from_$from" "--init $cases/$2/model --steps 2" && run "$1_$to" "$1_from_$from" --resume &&
            same_images "$1_one_out" "$1_from_$from" || return 1
    done
}
test_tensor_images() { images tensor_images mobilenet 2; }
more_test_tensor_images_planes() { images tensor_planes mobilenet 4 'compile.layout="nchw"'; }
more_test_tensor_images_blocks() { images tensor_blocks resnet50 2; }
more_test_tensor_images_layers() { images tensor_layers cnn 2 && images tensor_mlp mlp 2; }
# In combination: replicas, whose norms have the statistics of all; stages that begin between two
# convolutions that are split, each of two shards; norms by products, with recomputation.
clipped=training.max_grad_norm=0.05
more_test_tensor_images_of_replicas() {
    local of_one=(training.per_device_train_batch_size=8)
    local of_many=(training.per_device_train_batch_size=4 "$(ranks 2)" $buckets parallelism.sync_batch_norm=true)
    images tensor_replicas mobilenet 2 $clipped data.eval_batches=100 && resumed_images tensor_replicas mobilenet
}
more_test_tensor_images_in_stages() {
    local of_one=("$(micro 4)") schedule=parallelism.pipeline_schedule
    local of_many=("$(micro 2)" "$(stages 3)" 'parallelism.pipeline_split_points=["relu1", "fc1"]' "$(shards 2)"
        parallelism.shard_stage=2 $buckets $schedule=gpipe compile.layout=nchw)
    images tensor_stages cnn 2 $clipped data.eval_batches=100 training.label_smoothing=0.1 data.decode=host &&
        resumed_images tensor_stages cnn
}
more_test_tensor_images_by_products() {
    local of_many=(activation_checkpoint.mode=full) name=tensor_products
    images $name resnet50 4 $clipped "$(micro 2)" compile.gram_batch_norm=true &&
        grep -q linear_norm_grads "$work/${name}_many/kernels.cu" &&
        SIM_QUEUE=lazy:1 SIM_ORDER=random:2 run ${name}_many ${name}_late "--init $cases/resnet50/model" &&
        same_results ${name}_many_out ${name}_late
}
# Codes of moments, whose blocks a card's part must not cut; and steps that all cards skip.
more_test_tensor_images_coded() {
    local cases=$work many
    mkdir -p "$work/coded_mlp" && cat >"$work/coded_mlp/spec.toml" <<'SPEC'
model = {family = "mlp", num_classes = 7, image_size = 16, hidden_size = 512, num_hidden_layers = 2}
training = {task = "classify", per_device_train_batch_size = 4, log_every = 1, max_grad_norm = 0.1}
optimizer = {state = "int8", lr = 0.002}
data = {format = "synthetic", eval_batches = 2}
SPEC
    images tensor_coded coded_mlp 2 &&
        ! ./gpuopt-gen "$work/coded_mlp/spec.toml" --set training.steps=1 --set "$(tensor 4)" -o "$work/coded_cut" 2>"$work/coded_cut.log" &&
        grep -q "blocks of 256 would be cut: a card's part of layers.1.weight has runs of 128" "$work/coded_cut.log" || return 1
    alike tensor_skipped coded_mlp 1e-2 2 precision.dtype=fp16 precision.init_scale=1e7 training.steps=8 || return 1
    many=$(skipped tensor_skipped_many_out)
    [ "$many" -ge 1 ] && [ "$many" -lt 8 ] && [ "$many" = "$(skipped tensor_skipped_one_out)" ]
}
test_tensor_images_refused() {
    local spec=$cases/mlp/spec.toml log=$work/refused_images.log
    ! ./gpuopt-gen $spec --set "$(tensor 7)" -o "$work/refused_images" 2>"$log" &&
        grep -q 'outputs, which tensor_parallel_degree = 7 does not divide' "$log" &&
        grep -q 'hint: .*degree.* fit.* the model' "$log" || return 1
    cat >"$work/one_conv.toml" <<'SPEC'
model = {family = "cnn", num_classes = 10, image_size = 4, image_channels = 1, layers = ["conv 8 3", "relu", "flatten"]}
training = {task = "classify", steps = 4}
data = {format = "synthetic"}
SPEC
    ! ./gpuopt-gen "$work/one_conv.toml" --set "$(tensor 2)" -o "$work/refused_images" 2>"$log" &&
        grep -q 'nothing to split' "$log" && grep -q 'hint: use parallelism.data_parallel_replicate_degree' "$log" &&
        ! ./gpuopt-gen "$work/one_conv.toml" --set 'parallelism.one_rank_collectives="tensor"' -o "$work/refused_images" 2>"$log" &&
        grep -q '^--set:1:[0-9]*: error: .*nothing to split' "$log" && grep -q 'hint: set .* "ddp" or "shard"' "$log" &&
        ! ./gpuopt-gen $cases/cnn/spec.toml --set "$(tensor 5)" -o "$work/refused_images" 2>"$log" &&
        grep -q 'hint: the nearest degrees that fit the model are 3 and 6' "$log"
}
