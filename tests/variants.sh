# shellcheck shell=sh
# Variants of a program that tests compare. Sourced from the root of the tree; GPUOPT_GEN may name
# another compiler.

# switches: prints the keys of [compile] that are on, or left to the compiler, unless they are set.
switches() {
    "${GPUOPT_GEN:-./gpuopt-gen}" --keys compile |
        awk '/^  [a-z]/ { key = $1 } /true.*false; default/ && !/default false/ { print "compile." key }'
}

# all_off SPEC [KEY=VALUE]...: prints the settings that switch off all of these, except those that
# then have no effect, which the compiler refuses.
all_off() (
    spec=$1
    shift
    # shellcheck disable=SC2046 # options are words
    "${GPUOPT_GEN:-./gpuopt-gen}" --check "$spec" $(printf ' --set %s' "$@" $(switches | sed 's/$/=false/')) 2>&1 |
        awk -v keys="$(switches | tr '\n' ' ')" '/: error: .* has no effect here$/ { idle[$3] }
            END { n = split(keys, key, " "); for (i = 1; i <= n; i++) if (!(key[i] in idle)) print key[i] "=false" }'
)

# settings_of SPEC DTYPE VARIANT: prints the settings of a variant, without spaces in any of them.
settings_of() {
    echo "precision.dtype=$2"
    # PyTorch's loss scale in the oracle, at which none of its gradients overflows.
    [ "$2" != fp16 ] || echo precision.init_scale=1024.0
    case $3 in
    default) ;;
    plain) all_off "$1" "precision.dtype=$2" ;;
    nchw) echo compile.layout=nchw ;;
    nchw_plain) echo compile.layout=nchw && all_off "$1" "precision.dtype=$2" compile.layout=nchw ;;
    nchw_host) echo compile.layout=nchw data.decode=host ;;
    host) echo data.decode=host ;;
    sent) echo data.device_resident=false ;;
    no_fusion) echo compile.fusion=false ;;
    no_graph) echo compile.cuda_graph=false ;;
    no_bordered) echo compile.bordered=false ;;
    no_joined) echo compile.joined_linears=false ;;
    no_in_place) echo compile.in_place=false ;;
    no_overlap) echo compile.overlap=false ;;
    one_stream) echo compile.side_stream=false ;;
    whole_head) echo compile.chunked_head=false ;;
    all_rows) echo compile.skip_ignored_rows=false ;;
    read_once) printf 'compile.low_rank_%s=true\n' grads matmul grad_a ;;
    read_once_apart) printf 'compile.low_rank_%s=true\n' grads matmul grad_a && echo compile.bordered=false ;;
    read_apart) printf 'compile.low_rank_%s=false\n' grads matmul grad_a ;;
    in_backward) echo training.max_grad_norm=0 compile.optimizer_in_backward=true ;;
    behind_backward) echo compile.optimizer_in_backward=false ;;
    programmatic) echo compile.programmatic_launch=true ;;
    gram) echo compile.gram_batch_norm=true ;;
    prefetch) echo compile.prefetch_rows=true ;;
    odd_channels) echo model.width_mult=0.95 ;;
    small_images) echo model.image_size=40 model.width_mult=0.35 training.per_device_train_batch_size=16 ;;
    small_chunks) echo compile.head_chunk_tokens=16 ;;
    few_targets) echo data.max_target_tokens=80 compile.head_chunk_tokens=16 ;;
    recompute) echo activation_checkpoint.mode=full ;;
    rounded) echo qat.activation_dtype=int8 ;;
    precomputed) echo dpo.precompute_ref_log_probs=true ;;
    shared) echo dpo.shared_prompt=true training.seq_len=80 ;;
    shared_packed) echo dpo.shared_prompt=true data.packing=true dpo.max_packed_pairs=3 training.seq_len=128 ;;
    exported) echo checkpoint.export_base=true ;;
    stored) echo "model.weights=${1%/*}/stored" checkpoint.export_base=true ;;
    long_rows) echo training.seq_len=128 ;;
    wide_head) echo model.vocab_size=40000 model.hidden_size=16 ;;
    long) echo training.seq_len=200 model.max_position_embeddings=200 model.hidden_size=16 ;;
    wgmma) # heads of 64, which all cases of the oracle with this variant have
        [ "$1" != tests/sim/wide_rows.toml ] || echo training.seq_len=200 model.max_position_embeddings=200 \
            model.hidden_size=16 model.head_dim=64
        echo compile.wgmma=true ;;
    wgmma_128) echo training.seq_len=300 model.max_position_embeddings=300 model.hidden_size=16 \
        model.head_dim=128 compile.wgmma=true ;;
    *) echo "variants.sh: no variant $3" >&2; return 2 ;;
    esac
}

# options_of SPEC DTYPE VARIANT: prints them as options of the compiler.
options_of() {
    settings=$(settings_of "$@") || return
    # shellcheck disable=SC2086 # settings are words
    printf -- '--set %s ' $settings
}
