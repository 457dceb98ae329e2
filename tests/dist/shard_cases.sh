# shellcheck shell=bash
# Masters and moments shared out over ranks: the same training, and files that know nothing of it.
# Sourced by run.sh.

shards() { printf 'parallelism.data_parallel_shard_degree=%s\n' "$1"; }
grid() { shards 2 && ranks $(($1 / 2)); }

test_sharded() {
    lora shard3 "$(shards 3)" && lora wide3 training.per_device_train_batch_size=6 &&
        same_training 1e-11 wide3_out shard3_out &&
        SIM_QUEUE=lazy run shard3 shard_lazy "${lora_start[*]}" && same_results shard3_out shard_lazy
}

# All weights train, on two replicas of two shards each.
test_sharded_replicas() {
    layout_of=grid pair shard_grid pretrain_untied 4 2 precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 shard_grid_one_out shard_grid_many_out
}

# Weights lie in another order than in files, and momentum is all that a moment is.
test_sharded_images() {
    layout_of=shards pair shard_cnn cnn 3 1 precision.dtype=fp64 training.steps=4 \
        compile.cuda_graph=false && same_training 1e-11 shard_cnn_one_out shard_cnn_many_out
}

# Masters of 16-bit weights, and weights of norms, which are none.
test_sharded_bf16() {
    layout_of=shards pair shard_bf16 pretrain_tied 3 1 precision.dtype=bf16 training.steps=4 &&
        same_training 1e-4 shard_bf16_one_out shard_bf16_many_out
}

# All ranks skip the same steps: the norm is of all pieces.
test_sharded_loss_scale() {
    layout_of=shards pair shard_fp16 demo 2 1 precision.dtype=fp16 precision.init_scale=3e7 \
        training.steps=8 || return 1
    local many
    many=$(skipped shard_fp16_many_out)
    [ "$many" -ge 1 ] && [ "$many" -lt 8 ] && [ "$many" = "$(skipped shard_fp16_one_out)" ]
}

# Gradients shared out: added up over micro-steps, and over replicas. Weights too, frozen ones included,
# gathered for each use.
by_stage() { printf '%s\n' "$(shards "$1")" parallelism.shard_stage="$stage"; }
grid_by_stage() { printf '%s\n' "$(shards 2)" "$(ranks $(($1 / 2)))" parallelism.shard_stage="$stage"; }
shards_of_unequal() {
    local stage=$1
    unequal_targets
    layout_of=by_stage pair "shard$stage" demo 3 2 precision.dtype=fp64 data.train="$work/unequal.jsonl" \
        training.steps=4 && same_training 1e-11 "shard${stage}_one_out" "shard${stage}_many_out"
}
test_sharded_gradients() { shards_of_unequal 2; }
test_sharded_weights() { shards_of_unequal 3; }

shards_of_replicas() {
    local stage=$1
    layout_of=grid_by_stage pair "grid$stage" pretrain_untied 4 2 precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 "grid${stage}_one_out" "grid${stage}_many_out"
}
test_sharded_gradients_replicas() { shards_of_replicas 2; }
test_sharded_weights_replicas() { shards_of_replicas 3; }

# Without graphs nothing but the waits keeps the second stream in its place.
late_shards() {
    local stage=$1 name=late$1
    layout_of=by_stage pair "$name" pretrain_tied 2 1 precision.dtype=bf16 training.steps=4 \
        compile.cuda_graph=false activation_checkpoint.mode=full &&
        grep -q RT_STREAM_COMMUNICATION "$work/${name}_many/program.c" &&
        same_training 1e-4 "${name}_one_out" "${name}_many_out" &&
        SIM_QUEUE=lazy:1 run "${name}_many" "${name}_lazy" "--init $cases/pretrain_tied/model" &&
        cmp "$work/${name}_many_out/loss.csv" "$work/${name}_lazy/loss.csv"
}
test_sharded_gradients_late() { late_shards 2; }
test_sharded_weights_late() { late_shards 3; }

# Checkpoints are one rank's, frozen weights the same whoever has them.
test_sharded_resume() {
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

shard_tests='sharded_replicas sharded_images sharded_bf16 sharded_loss_scale sharded_resume
sharded_gradients sharded_gradients_replicas sharded_gradients_late sharded_weights_replicas
sharded_weights_late'
