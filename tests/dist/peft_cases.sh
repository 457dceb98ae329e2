# shellcheck shell=bash
# What trains beside a low-rank path, shared out as adapters are; sourced by run.sh.

# Embedding and head, and norms, whose weights are masters by themselves beside 16-bit ones.
test_modules_sharded() {
    local stage
    for stage in 1 2 3; do
        mixed grid_by_stage modules 4 1 1e-11 $fp64 || return 1
    done
}
beside=(adapter.type=lora adapter.r=4 'adapter.modules_to_save=["embed_tokens", "lm_head", "input_layernorm"]')
test_modules_parts() {
    local stage=3
    alike modules_parts accumulate 1e-11 2 $fp64 training.steps=3 "${beside[@]}" &&
        same_export 1e-11 modules_parts_one_out modules_parts_many_out &&
        mixed shards_of_rows accumulate 2 1 1e-11 $fp64 "${beside[@]}"
}
test_modules_bf16() {
    local stage=3
    mixed by_stage accumulate 2 1 2e-2 precision.dtype=bf16 "${beside[@]}"
}

peft_tests='modules_sharded modules_parts modules_bf16'
