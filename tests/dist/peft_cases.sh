# shellcheck shell=bash
# What trains in addition to low-rank adapters, sharded like them. Sourced by run.sh.

# Embedding and head, and norms, whose weights are their own masters although others have 16 bits.
more_test_modules_sharded() {
    local stage
    for stage in 1 2 3; do
        mixed grid_by_stage modules 4 1 1e-11 $fp64 || return 1
    done
}
# Adapters without gaps in memory, so that A matrices with the same input share one product and one
# copy. In each layout, results are those of separate adapters on one card.
neighbour() { # neighbour LAYOUT BATCHES [KEY=VALUE]...
    local name=neighbours_$1 batches=$2
    shift 2
    program "$name" $cases/demo/spec.toml $fp64 adapter.r=32 training.steps=4 \
        training.gradient_accumulation_steps="$batches" "$@" &&
        run "$name" "${name}_out" "--init $cases/demo/model" || return 1
    [ "$name" = neighbours_apart ] || {
        near 1e-11 "$work/neighbours_apart_out/loss.csv" "$work/${name}_out/loss.csv" &&
            same_export 1e-11 neighbours_apart_out "${name}_out"
    }
}
more_test_neighbours() {
    neighbour apart 2 compile.joined_linears=false compile.joined_launches=false &&
        neighbour alone 2 && neighbour flat 2 compile.bordered=false &&
        neighbour ranks 1 "$(ranks 2)" $buckets && neighbour stages 2 "$(stages 2)" &&
        neighbour parts 2 "$(tensor 2)" && neighbour cards 1 "$(ranks 2)" 'parallelism.data_parallel_mode="dp"' &&
        neighbour states 1 "$(shards 2)" $buckets parallelism.shard_stage=1 &&
        neighbour gradients 1 "$(shards 2)" $buckets parallelism.shard_stage=2
}
beside=(adapter.type=lora adapter.r=4 'adapter.modules_to_save=["embed_tokens", "lm_head", "input_layernorm"]')
more_test_modules_parts() {
    local stage=3
    alike modules_parts accumulate 1e-11 2 $fp64 training.steps=3 "${beside[@]}" &&
        same_export 1e-11 modules_parts_one_out modules_parts_many_out &&
        mixed shards_of_rows accumulate 2 1 1e-11 $fp64 "${beside[@]}"
}
more_test_modules_bf16() {
    local stage=3
    mixed by_stage accumulate 2 1 2e-2 precision.dtype=bf16 "${beside[@]}"
}

# fresh NAME CASE BOUND: runs the programs that `mixed` has built from only the base. Magnitudes
# start as norms, which a rank that holds a piece of the weights computes from whole rows.
fresh() {
    local which
    for which in one many; do
        run "$1_$which" "$1_${which}_fresh" "--init $cases/$2/model" || return 1
    done
    near "$3" "$work/$1_one_fresh/loss.csv" "$work/$1_many_fresh/loss.csv" &&
        same_export "$3" "$1_one_fresh" "$1_many_fresh"
}
more_test_magnitudes_sharded() {
    local stage
    for stage in 1 2 3; do
        mixed grid_by_stage dora 4 1 1e-11 $fp64 adapter.lora_dropout=0.1 || return 1
    done
    fresh grid_by_stage_1_dora dora 1e-11 && fresh grid_by_stage_3_dora dora 1e-11
}
more_test_magnitudes_sharded_codes() {
    local stage=3
    mixed shards_of_stages qdora 2 2 1e-11 $fp64
}
# With dropout the base reads two values, and each is rounded. While magnitudes are norms and B is
# zero, the adapter has no effect on the first loss (if the two values were rounded as one, dropout
# would change that loss); and dropout so rare that it never occurs gives the same gradients as
# none. Several cards give the same as one.
more_test_magnitudes_rounded_dropout() {
    local case=$cases/dora stage=3 kind share rounding settings
    for kind in int8 float8_e4m3fn; do
        rounding=(qat.activation_dtype=$kind qat.weight_dtype=$kind)
        for share in 0.0 1e-9 0.3; do
            program rounded_$share $case/spec.toml $fp64 training.steps=2 "${rounding[@]}" adapter.lora_dropout=$share || return 1
        done
        for share in 0.0 0.3; do
            run rounded_$share rounded_${share}_fresh --init $case/model || return 1
            head -n 2 "$work/rounded_${share}_fresh/loss.csv" | cut -d, -f1,2 >"$work/rounded_$share.first"
        done
        paste -d, "$work"/rounded_{0.0,0.3}.first | awk -F, 'NR == 2 { gap = ($2 - $4) / $2; exit !(gap * gap < 1e-22) }' &&
            ! cmp -s "$work"/rounded_{0.0,0.3}_fresh/loss.csv || return 1
        for share in 0.0 1e-9; do
            run rounded_$share rounded_${share}_out "--init $case/model --adapter $case/adapter --dump $work/rounded_${share}_out.dump" || return 1
        done
        same_training 1e-6 rounded_0.0_out rounded_1e-9_out || return 1
        rm -r "$work"/rounded_*
    done
    rounding=(qat.weight_dtype=int4 qat.activation_dtype=int8 qat.group_size=8 adapter.lora_dropout=0.1)
    mixed grid_by_stage dora 4 1 1e-11 $fp64 "${rounding[@]}" && mixed cube dora 2 2 1e-11 $fp64 "${rounding[@]}" &&
        mixed by_stage qdora 2 1 1e-11 $fp64 qat.activation_dtype=int8 adapter.lora_dropout=0.1
}
more_test_magnitudes_bf16() {
    local stage=2
    mixed by_stage dora 2 1 2e-2 precision.dtype=bf16 && fresh by_stage_2_dora dora 2e-2
}
# Where each card has some columns of a row, the row's norm is a sum over the cards, and all of them
# train the magnitude that scales their parts of the sum.
more_test_magnitudes_parts() {
    local stage=3
    alike magnitudes_parts dora 1e-11 2 $fp64 adapter.lora_dropout=0.1 training.steps=4 &&
        same_export 1e-11 magnitudes_parts_one_out magnitudes_parts_many_out &&
        fresh magnitudes_parts dora 1e-11 &&
        mixed cube dora 2 2 1e-11 $fp64 quantization.quant_type=int8 adapter.lora_dropout=0.1
}
more_test_magnitudes_rows() {
    rows magnitudes_rows dora 1e-11 2 $fp64 training.steps=4 &&
        same_export 1e-11 magnitudes_rows_one_out magnitudes_rows_many_out
}
# Norms of the rounded base, where each card has some columns of each row.
more_test_magnitudes_rounded() {
    rows magnitudes_rounded dora 1e-11 2 $fp64 training.steps=4 qat.weight_dtype=int4 qat.activation_dtype=int8 \
        qat.group_size=8
}
