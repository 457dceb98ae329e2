# shellcheck shell=bash
# Sharded training: the same results as with one card, and files that do not depend on the shards.
# Sourced by run.sh.

shards() { printf 'parallelism.data_parallel_shard_degree=%s\n' "$1"; }
# One section per module, which weights that are gathered for each use have anyway.
sections() { shards "$1" && echo $buckets; }
grid() { sections 2 && ranks $(($1 / 2)); }

test_sharded() {
    lora shard3 "$(shards 3)" && lora wide3 training.per_device_train_batch_size=6 &&
        same_training 1e-11 wide3_out shard3_out &&
        SIM_QUEUE=lazy run shard3 shard_lazy "${lora_start[*]}" && same_results shard3_out shard_lazy
}

# All weights train, on two replicas of two shards each.
more_test_sharded_replicas() {
    layout_of=grid pair shard_grid pretrain_untied 4 2 precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 shard_grid_one_out shard_grid_many_out
}

# Weights have another order in memory than in files, and momentum is the only moment.
more_test_sharded_images() {
    layout_of=sections pair shard_cnn cnn 3 1 precision.dtype=fp64 training.steps=4 \
        compile.cuda_graph=false && same_training 1e-11 shard_cnn_one_out shard_cnn_many_out
}

# Backward reads some gradients after computing them; in 16 bits these have their own section.
norms_in() { # norms_in DTYPE BOUND [KEY=VALUE]
    local case=$cases/mobilenet name=shard_norm_$1 which settings
    settings=(precision.dtype="$1" training.steps=3 data.eval_batches=100)
    program "${name}_one" $case/spec.toml "${settings[@]}" training.per_device_train_batch_size=8 &&
        program "${name}_many" $case/spec.toml "${settings[@]}" training.per_device_train_batch_size=4 \
            "$(shards 2)" parallelism.sync_batch_norm=true "${@:3}" || return 1
    for which in one many; do
        run "${name}_$which" "${name}_${which}_out" "--init $case/model" || return 1
    done
    near "$2" "$work/${name}_one_out/loss.csv" "$work/${name}_many_out/loss.csv" &&
        near "$2" "$work/${name}_one_out/eval.csv" "$work/${name}_many_out/eval.csv"
}
more_test_sharded_batch_norm() {
    ./gpuopt-gen --plan specs/h100/resnet50_imagenet.toml --set "$(shards 4)" &&
        norms_in fp64 1e-10 $buckets && norms_in bf16 3e-2
}

# Weights that are gathered for each use, and are transposed in files: trained and frozen ones.
more_test_sharded_gpt2() {
    local stage=3 case
    for case in gpt2 gpt2_lora; do
        layout_of=by_stage pair shard_$case $case 2 1 precision.dtype=fp64 training.steps=3 &&
            same_training 1e-11 shard_${case}_one_out shard_${case}_many_out || return 1
    done
    run shard_gpt2_lora_one shard_gpt2_again "$(start_of gpt2_lora | tr '\n' ' ') --steps 2" &&
        run shard_gpt2_lora_many shard_gpt2_again --resume &&
        near 1e-11 "$work/shard_gpt2_lora_one_out/loss.csv" "$work/shard_gpt2_again/loss.csv"
}

# 16-bit weights, which have masters, and weights of norms, which have none.
more_test_sharded_bf16() {
    layout_of=sections pair shard_bf16 pretrain_tied 3 1 precision.dtype=bf16 training.steps=4 &&
        same_training 1e-4 shard_bf16_one_out shard_bf16_many_out
}

# All ranks skip the same steps, because the norm is over all pieces.
more_test_sharded_loss_scale() {
    layout_of=shards pair shard_fp16 demo 2 1 precision.dtype=fp16 precision.init_scale=3e7 \
        training.steps=8 || return 1
    local many
    many=$(skipped shard_fp16_many_out)
    [ "$many" -ge 1 ] && [ "$many" -lt 8 ] && [ "$many" = "$(skipped shard_fp16_one_out)" ]
}

# Sharded gradients, accumulated over micro-steps and replicas; and sharded weights, including
# frozen ones, gathered for each use.
by_stage() { if [ "$stage" = 3 ]; then shards "$1"; else sections "$1"; fi && echo parallelism.shard_stage="$stage"; }
grid_by_stage() { by_stage 2 && ranks $(($1 / 2)); }
shards_of_unequal() {
    local stage=$1
    unequal_targets
    layout_of=by_stage pair "shard$stage" demo 3 2 precision.dtype=fp64 data.train="$work/unequal.jsonl" \
        training.steps=4 && same_training 1e-11 "shard${stage}_one_out" "shard${stage}_many_out"
}
more_test_sharded_gradients() { shards_of_unequal 2; }
test_sharded_weights() { shards_of_unequal 3; }

shards_of_replicas() {
    local stage=$1 name=grid$1
    layout_of=grid_by_stage pair "$name" pretrain_untied 4 2 precision.dtype=fp64 training.steps=3 \
        compile.cuda_graph=false && same_training 1e-11 "${name}_one_out" "${name}_many_out" &&
        SIM_QUEUE=lazy:2 run "${name}_many" "${name}_lazy" "--init $cases/pretrain_untied/model" &&
        same_results "${name}_many_out" "${name}_lazy"
}
more_test_sharded_states_replicas() { shards_of_replicas 1; }
more_test_sharded_gradients_replicas() { shards_of_replicas 2; }
more_test_sharded_weights_replicas() { shards_of_replicas 3; }

# Without graphs, only the waits order the second stream.
late_shards() {
    local stage=$1 name=late$1
    layout_of=by_stage pair "$name" pretrain_tied 2 1 precision.dtype=bf16 training.steps=4 \
        compile.cuda_graph=false activation_checkpoint.mode=full &&
        grep -q RT_STREAM_COMMUNICATION "$work/${name}_many/program.c" &&
        same_training 1e-4 "${name}_one_out" "${name}_many_out" &&
        SIM_QUEUE=lazy:1 run "${name}_many" "${name}_lazy" "--init $cases/pretrain_tied/model" &&
        cmp "$work/${name}_many_out/loss.csv" "$work/${name}_lazy/loss.csv"
}
more_test_sharded_states_late() { late_shards 1; }
more_test_sharded_gradients_late() { late_shards 2; }
more_test_sharded_weights_late() { late_shards 3; }

# Weights kept from forward equal those that backward would gather again, whatever is recomputed.
kept() { # kept CASE [KEY=VALUE]...
    local case=$1 stage=3 which adapter= start layout
    mapfile -t layout < <(by_stage 2)
    [ ! -d $cases/$case/adapter ] || adapter="--adapter $cases/$case/adapter"
    start="--init $cases/$case/model $adapter"
    for which in true false; do
        program "kept_${case}_$which" $cases/$case/spec.toml "${layout[@]}" training.steps=3 compile.cuda_graph=false \
            training.gradient_accumulation_steps=2 "${@:2}" parallelism.reshard_after_forward=$which &&
            SIM_QUEUE=lazy:1 run "kept_${case}_$which" "kept_${case}_${which}_out" "$start" || return 1
    done
    same_results "kept_${case}_true_out" "kept_${case}_false_out" &&
        [ "$(gathers "kept_${case}_false")" -lt "$(gathers "kept_${case}_true")" ]
}
gathers() { sed -n 's/.*all_gather x \([0-9]*\).*/\1/p' "$work/$1/plan.txt"; }
more_test_sharded_kept() {
    kept demo precision.dtype=bf16 && kept qlora $fp64 && kept pretrain_tied $fp64 activation_checkpoint.mode=full
}

# Each rank has all codes of quantised frozen weights, or a piece of them.
more_test_sharded_quantized() {
    local stage
    for stage in 2 3; do
        layout_of=grid_by_stage pair "codes$stage" qlora 4 1 precision.dtype=fp64 training.steps=3 &&
            same_training 1e-11 "codes${stage}_one_out" "codes${stage}_many_out" || return 1
    done
    stage=3 layout_of=shards_of_parts pair integers demo 2 1 quantization.quant_type=int8 $fp64 training.steps=3 &&
        same_training 1e-11 integers_one_out integers_many_out || return 1
    local name
    for name in codes3 integers; do
        grep -q 'MODEL_LAYERS_1_CODES_PIECE .*, frozen' "$work/${name}_many/buffers.h" &&
            ! grep -q 'WEIGHT_CODES [0-9]*ul .*, frozen' "$work/${name}_many/buffers.h" || return 1
    done
}

# Codes sharded over ranks, and over tensor parallel cards' parts, give the same files as one card;
# and each rank loads its piece of such files.
codes_in_files() { # codes_in_files LAYOUT [KEY=VALUE]...
    local case=qlora_single name=codes_files which one many layout lanes=2
    rm -rf "$work"/${name}_*
    one=$work/${name}_one_out/base many=$work/${name}_many_out/base
    mapfile -t layout < <($1 2)
    program ${name}_one $cases/$case/spec.toml "${@:2}" checkpoint.export_base=true &&
        program ${name}_many $cases/$case/spec.toml "${@:2}" checkpoint.export_base=true "${layout[@]}" || return 1
    for which in one many; do
        run ${name}_$which ${name}_${which}_out "--init $cases/$case/model --steps 1" || return 1
    done
    same_folder "$one" "$many" || return 1
    grep -q 'MODEL_LAYERS_1_CODES_PIECE .*, frozen' "$work/${name}_many/buffers.h" "$work/${name}_many"/stage_1/buffers.h 2>/dev/null &&
        program ${name}_read_one $cases/$case/spec.toml "${@:2}" "model.weights=\"$many\"" training.steps=3 \
            training.gradient_accumulation_steps=2 &&
        program ${name}_read_many $cases/$case/spec.toml "${@:2}" "model.weights=\"$many\"" training.steps=3 \
            training.gradient_accumulation_steps=$((2 / lanes)) "${layout[@]}" checkpoint.export_base=true || return 1
    for which in one many; do
        run ${name}_read_$which ${name}_read_${which}_out "--dump $work/${name}_read_${which}_out.dump" || return 1
    done
    same_training 1e-11 ${name}_read_one_out ${name}_read_many_out &&
        cmp "$one/model.safetensors" "$work/${name}_read_many_out/base/model.safetensors"
}
more_test_sharded_codes_in_files() {
    local stage=3
    codes_in_files by_stage "${few_bits[@]}" && codes_in_files cube "${few_bits[@]}" &&
        codes_in_files shards_of_parts "${few_bits[@]}" quantization.double_quant=false
}

# Checkpoints equal those of one rank; frozen weights are the same in every layout.
more_test_sharded_resume() {
    local stage=3
    layout_of=by_stage pair shard_resume demo 2 1 "${dropout[@]}" || return 1
    local from to
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run shard_resume_$from shard_resumed_$from "${lora_start[*]} --steps 3" &&
            run shard_resume_$to shard_resumed_$from "--resume" &&
            near 1e-11 "$work/shard_resume_one_out/loss.csv" "$work/shard_resumed_$from/loss.csv" || return 1
    done
}

# Shards of pipeline stages and of tensor parallel cards' parts: training and files do not depend on
# the layout.
shards_of_stages() { grid_by_stage "$1" && stages 2; }
shards_of_parts() { by_stage "$1" && tensor 2; }
shards_of_rows() { shards_of_parts "$1" && echo parallelism.sequence_parallel=true; }
cube() { shards_of_rows "$1" && stages 2; }
mixed() { # mixed LAYOUT CASE RANKS MICRO_STEPS BOUND [KEY=VALUE]...
    local name=$1_${stage}_$2 bound=$5
    layout_of=$1 pair "$name" "${@:2:3}" training.steps=3 "${@:6}" &&
        same_training "$bound" "${name}_one_out" "${name}_many_out" &&
        same_export "$bound" "${name}_one_out" "${name}_many_out"
}
fp64=precision.dtype=fp64
# Eight ranks; in each group of four, two hold the same one of two key heads.
shards_of_keys() { by_stage "$1" && tensor 4; }
more_test_sharded_keys() {
    local stage=3
    mixed shards_of_keys demo 2 1 1e-11 $fp64 adapter.lora_dropout=0.1
}
# Stages of four such ranks, with rows in chunks; also a single layer, whose attention and MLP are
# in different stages.
keys_of_stages() { tensor 4 && stages 2 && printf 'parallelism.%s\n' sequence_parallel=true sequence_parallel_chunks=2; }
more_test_stages_of_keys() {
    local stage=1 cases=$cases # stage: only part of a name
    mixed keys_of_stages qwen2 1 2 1e-11 $fp64 && mixed keys_of_stages demo 1 2 5e-2 precision.dtype=bf16 &&
        cases=$work && grouped && of_many=("$(stages 2)") &&
        alike keys_of_one_layer grouped 1e-11 4 $fp64 training.gradient_accumulation_steps=2
}
test_sharded_stages() {
    local stage=2
    unequal_targets
    mixed shards_of_stages demo 2 2 1e-11 $fp64 data.train="$work/unequal.jsonl"
}
test_sharded_parts() {
    local stage=1
    mixed shards_of_rows pretrain_tied 2 1 1e-11 $fp64
}
# What goes to the next stage is computed from rows that are gathered in runs.
cube_in_chunks() { cube "$1" && echo parallelism.sequence_parallel_chunks=2; }
more_test_sharded_chunks() {
    local stage=3
    mixed cube_in_chunks pretrain_tied 2 2 1e-11 $fp64
}
# Steps with unequal numbers of targets, dropout, and all three layouts combined; a checkpoint of
# either program can be resumed by the other.
more_test_sharded_cube() {
    local stage=3 from to
    unequal_targets
    mixed cube demo 2 2 1e-11 "${dropout[@]}" data.train="$work/unequal.jsonl" data.shuffle=false || return 1
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run cube_3_demo_$from cube_from_$from "${lora_start[*]} --steps 2" &&
            run cube_3_demo_$to cube_from_$from --resume &&
            near 1e-11 "$work/cube_3_demo_one_out/loss.csv" "$work/cube_from_$from/loss.csv" || return 1
    done
    SIM_ORDER=reverse SIM_QUEUE=lazy:1 run cube_3_demo_many cube_late "${lora_start[*]}" &&
        same_results cube_3_demo_many_out cube_late
}
# Weights of norms are their own masters; recomputation uses gathered weights.
more_test_sharded_mixes() {
    local stage
    stage=1 && mixed shards_of_rows demo 2 2 2e-2 precision.dtype=bf16 &&
        stage=1 && mixed shards_of_stages pretrain_untied 4 1 1e-4 precision.dtype=fp32 &&
        stage=3 && mixed shards_of_stages pretrain_untied 2 2 1e-11 $fp64 activation_checkpoint.mode=full &&
        stage=2 && mixed shards_of_parts qwen2 2 1 1e-11 $fp64 &&
        stage=3 && mixed cube qlora_single 2 2 1e-11 $fp64 "${few_bits[@]:0:2}" adapter.lora_dropout=0.1 &&
        stage=1 && mixed shards_of_stages cnn 2 2 1e-11 $fp64
}
# Whole weights and pieces of weights are converted to the same integers.
integers_by_stage() { # integers_by_stage DTYPE
    local stage name
    for stage in 2 3; do
        name=integers_$1_$stage
        mapfile -t layout < <(by_stage 3)
        program $name $cases/qat/spec.toml precision.dtype="$1" training.steps=3 "${layout[@]}" &&
            run $name ${name}_out "--init $cases/qat/model" || return 1
    done
    same_integers 0 "integers_$1_2_out" "integers_$1_3_out"
}

# Prints the bytes that each rank has read after loading a model of 8 MiB and evaluating.
read_by_ranks() { # read_by_ranks PROGRAM RANKS
    local wrapped='"$0" "$@"; status=$?; sed -n "s/rchar: //p" /proc/$$/io; exit $status'
    timeout 120 mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$2" \
        bash -c "$wrapped" "$work/$1/run" --steps 0 --init "$work/big_out/model" --out "$work/$1_out" |
        tee "$work/$1_out.log" | grep -E '^[0-9]+$'
}
# Rank 0 also hashes the files, so the second largest number is that of a rank that only loads.
more_test_sharded_reads() {
    local spec=tests/golden/pretrain.toml keys="model.vocab_size=65536 training.seq_len=8 data.eval_batches=1"
    [ -r /proc/self/io ] || { echo "skipped: no /proc/self/io"; return 0; }
    # shellcheck disable=SC2046,SC2086 # keys are words
    program big $spec $keys && run big big_out --steps 1 &&
        program reads_some $spec $keys $(shards 4) parallelism.shard_stage=3 &&
        program reads_all $spec $keys $(shards 4) parallelism.shard_stage=1 || return 1
    read_by_ranks reads_all 4 | sort -n | sed -n 3p >"$work/read_of_all" &&
        read_by_ranks reads_some 4 | sort -n | sed -n 3p >"$work/read_of_some" &&
        grep -q '^held-out loss' "$work/reads_all_out.log" && grep -q '^held-out loss' "$work/reads_some_out.log" &&
        paste "$work/read_of_all" "$work/read_of_some" | awk '
            NF == 2 { print; less = $1 > $2 + 0.7 * 8388608 }
            END { exit !less }'
}

# A stage's backward rounds again right after forward, and forward's ops have been rebuilt.
more_test_sharded_rounded() {
    local stage=3 mode
    mixed shards_of_stages qat_float8 2 2 1e-11 $fp64 || return 1
    for mode in auto full; do
        rm -rf "$work"/shards_of_stages_3_qat_* &&
            mixed shards_of_stages qat 2 2 1e-11 $fp64 activation_checkpoint.mode=$mode || return 1
    done
    mixed cube qat 2 1 1e-11 $fp64 qat.group_size=16 &&
        layout_of=grid_by_stage pair rounded_base qat_lora 4 1 $fp64 training.steps=3 &&
        same_training 1e-11 rounded_base_one_out rounded_base_many_out &&
        same_integers 0 rounded_base_one_out rounded_base_many_out &&
        grep -q 'MODEL_LAYERS_1_FROZEN_PIECE .*, frozen' "$work/rounded_base_many/buffers.h" &&
        mixed shards_of_stages qat_lora 2 2 1e-11 $fp64 && integers_by_stage fp32 && integers_by_stage bf16
}
