# shellcheck shell=bash
# Compares pipelines with one card that has as many micro-batches. Sourced by run.sh.

stages() { echo parallelism.pipeline_parallel_degree="$1"; }
micro() { echo training.gradient_accumulation_steps="$1"; }

start_of() { # start_of CASE: prints the options for its initial weights
    [ ! -d $cases/$1/model ] || echo --init $cases/$1/model
    [ ! -d $cases/$1/adapter ] || echo --adapter $cases/$1/adapter
}

# in_stages NAME CASE BOUND STAGES MICRO_BATCHES [KEY=VALUE]...: builds and runs NAME_one and
# NAME_many, which also has the settings in `of_many`, and compares all results.
in_stages() {
    local name=$1 case=$2 bound=$3 stages=$4 which
    local keys=("$(micro "$5")" "${@:6}")
    program "${name}_one" $cases/$case/spec.toml "${keys[@]}" &&
        program "${name}_many" $cases/$case/spec.toml "${keys[@]}" "$(stages "$stages")" \
            ${of_many[@]+"${of_many[@]}"} || return 1
    for which in one many; do
        run "${name}_$which" "${name}_${which}_out" \
            "$(start_of $case | tr '\n' ' ') --dump $work/${name}_${which}_out.dump" || return 1
    done
    same_training "$bound" "${name}_one_out" "${name}_many_out" &&
        tensors --tolerance "$bound" "$(newest ${name}_one_out)/state.safetensors" \
            "$(newest ${name}_many_out)/state.safetensors" &&
        same_export "$bound" "${name}_one_out" "${name}_many_out"
}

same_export() { # same_export BOUND ONE MANY
    local file
    for file in adapter/adapter_model.safetensors model/model.safetensors; do
        [ ! -f "$work/$2/$file" ] || tensors --tolerance "$1" "$work/$2/$file" "$work/$3/$file" || return 1
    done
    [ ! -d "$work/$2/quantized" ] || same_integers "$@"
}

# same_integers BOUND ONE MANY: compares the exported quantised models (0: the same files), and
# checks that their loss is that of the rounded model in training.
same_integers() {
    local out one=$work/$2/quantized many=$work/$3/quantized
    cmp "$one/config.json" "$many/config.json" &&
        if [ "$1" = 0 ]; then
            cmp "$one/model.safetensors" "$many/model.safetensors"
        else
            tensors --tolerance "$1" "$one/model.safetensors" "$many/model.safetensors"
        fi || return 1
    for out in "$2" "$3"; do
        [ -n "$(heldout "$out" quantized loss)" ] &&
            [ "$(heldout "$out" quantized loss)" = "$(heldout "$out" after loss)" ] || return 1
    done
}

# variant OF NAME [KEY=VALUE]...: with other keys than OF, gives the same bits.
variant() {
    local of=$1 name=$2
    program "$name" $cases/demo/spec.toml "${dropout[@]}" "$(micro 3)" "$(stages 2)" "${@:3}" &&
        run "$name" "${name}_out" "${lora_start[*]}" && same_results "${of}_many_out" "${name}_out"
}

test_stages_lora() { in_stages stages demo 1e-11 2 3 "${dropout[@]}"; }
test_stages_gpipe() { variant stages gpipe 'parallelism.pipeline_schedule="gpipe"'; }

more_test_stages_without_graph() { variant stages ungraphed compile.cuda_graph=false compile.overlap=false; }

more_test_stages_again() { run stages_many stages_again "${lora_start[*]}" && same_results stages_many_out stages_again; }

more_test_stages_any_order() {
    SIM_ORDER=reverse SIM_QUEUE=lazy run stages_many stages_lazy "${lora_start[*]}" &&
        same_results stages_many_out stages_lazy
}

# With one micro-batch, only one of two stages works at a time, except in the update, which takes long on
# the simulated device.
test_stages_wait() {
    program waiting $cases/demo/spec.toml "$(stages 2)" training.steps=4 \
        training.per_device_train_batch_size=16 profiling.enabled=true \
        profiling.start_step=1 profiling.steps=2 && run waiting waiting_out "${lora_start[*]}" &&
        grep -q '^bubble, share without work \*  *[0-9.]* %$' "$work/waiting_out/report.txt" &&
        python3 - "$work/waiting_out/report.json" <<'CHECK'
import json, sys
report = json.load(open(sys.argv[1]))
predicted, ranks = report["predicted"], report["per_rank"]
assert 0.15 < report["bubble"] < 1 and 0.4 < predicted["bubble"] < 0.5, (report["bubble"], predicted["bubble"])
step_ms = sum(rank["work_ms"] for rank in ranks) / len(ranks) / (1 - report["bubble"])
assert all(0 < rank["work_ms"] + rank["exposed_ms"] < 1.1 * step_ms for rank in ranks), (step_ms, ranks)
assert predicted["communication"]["exposed_ms"] > 0 and report["communication"]["exposed_ms"] > 0
CHECK
}

# More stages than micro-batches, cut inside of layers.
more_test_four_stages() { in_stages four_stages demo 1e-11 4 3 precision.dtype=fp64 compile.bordered=false; }
more_test_stages_pretrain() { in_stages stages_pretrain pretrain_untied 1e-11 2 4 precision.dtype=fp64; }
# First, a first stage with only the embedding, where nothing is rounded; then parts of frozen
# layers.
more_test_stages_rounded() {
    local of_many=('parallelism.pipeline_split_points=["model.layers.0"]')
    in_stages stages_rounded qat 1e-11 2 2 precision.dtype=fp64 training.steps=3 data.eval_batches=3 || return 1
    of_many=()
    in_stages stages_rounded_lora qat_lora 1e-11 3 2 precision.dtype=fp64 training.steps=3 &&
        same_integers 0 stages_rounded_lora_one_out stages_rounded_lora_many_out
}
# Embedding and head are one weight, which the first and the last stage both train; with four
# stages, these two are not neighbours.
test_stages_tied() {
    in_stages tied pretrain_tied 1e-11 2 3 precision.dtype=fp64 &&
        counted tied_many/stage_0 tied_many_out 10 all_reduce send_recv
}
more_test_four_tied_stages() {
    local of_many=('parallelism.pipeline_schedule="gpipe"') start from to
    start=$(start_of pretrain_tied)
    in_stages four_tied pretrain_tied 1e-11 4 3 precision.dtype=fp64 &&
        counted four_tied_many/stage_0 four_tied_many_out 10 all_reduce send_recv || return 1
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run four_tied_$from tied_from_$from "$start --steps 3" &&
            run four_tied_$to tied_from_$from --resume &&
            near 1e-11 "$work/four_tied_one_out/loss.csv" "$work/tied_from_$from/loss.csv" || return 1
    done
    SIM_ORDER=reverse SIM_QUEUE=lazy run four_tied_many tied_lazy "$start" &&
        same_results four_tied_many_out tied_lazy
}
# Replicas, tensor parallel cards and shards of such stages; a stage that has no other weight.
tied_cube() { stages 4 && ranks 2; }
shards_of_head() { shards_of_stages "$1" && echo 'parallelism.pipeline_split_points=["lm_head"]'; }
more_test_tied_cube() {
    local stage=1
    layout_of=tied_cube pair tied_replicas pretrain_tied 2 2 precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 tied_replicas_one_out tied_replicas_many_out || return 1
    for stage in 1 2; do
        mixed shards_of_stages pretrain_tied 2 2 1e-11 $fp64 || return 1
    done
    stage=3 && mixed shards_of_stages pretrain_tied 4 1 1e-11 $fp64 || return 1
    stage=2 && mixed shards_of_head pretrain_tied 2 2 1e-11 $fp64 || return 1
    stage=1 && mixed cube pretrain_tied 2 1 1e-11 $fp64 && stage=3 && mixed cube pretrain_tied 2 2 1e-11 $fp64
}
more_test_stages_biases() { in_stages stages_biases qwen2 1e-11 3 3 precision.dtype=fp64 training.steps=4; }
more_test_stages_gpt2() { in_stages stages_gpt2 gpt2_lora 1e-11 3 2 precision.dtype=fp64 training.steps=4; }
more_test_stages_one_micro_batch() { in_stages stages_single pretrain_untied 1e-11 2 1 precision.dtype=fp64; }
more_test_stages_packed() { in_stages stages_packed packed 1e-11 3 2 precision.dtype=fp64; }
more_test_stages_recompute() {
    in_stages stages_recompute demo 1e-11 2 3 "${dropout[@]}" activation_checkpoint.mode=full
}
more_test_stages_head() { in_stages stages_head long_head 1e-11 2 3 precision.dtype=fp64; }
more_test_stages_image() { in_stages stages_image cnn 1e-11 3 3 precision.dtype=fp64 training.steps=5; }
# Batch statistics are those of a micro-batch, with and without stages.
more_test_stages_batch_norm() {
    in_stages stages_norm mobilenet 1e-9 2 2 precision.dtype=fp64 training.steps=3 'compile.layout="nchw"'
}
more_test_stages_residual() { in_stages stages_residual resnet18 1e-9 4 2 precision.dtype=fp64 training.steps=2; }
# At a cut, the gradient cannot be stored next to what a border needs, so rounding happens at other
# places; without borders at the same ones.
more_test_stages_bf16() {
    in_stages stages_bf16 demo 2e-2 2 3 precision.dtype=bf16 training.steps=4 &&
        in_stages stages_plain16 demo 1e-4 2 3 precision.dtype=bf16 training.steps=4 compile.bordered=false
}

# The first two steps overflow, the next two train.
more_test_stages_loss_scale() {
    in_stages stages_fp16 demo 1e-2 2 2 precision.dtype=fp16 precision.init_scale=6e6 training.steps=4
}

more_test_named_stages() {
    program named $cases/demo/spec.toml "${dropout[@]}" "$(micro 3)" "$(stages 2)" \
        'parallelism.pipeline_split_points=["model.layers.1.post_attention_layernorm"]' &&
        ! grep -q split_points "$work/named.log"
}

# A stage keeps the codes of its own weights; backward decodes them itself, not forward.
more_test_stages_quantized() {
    in_stages stages_quantized qlora 1e-11 2 3 precision.dtype=fp64 training.steps=4 adapter.lora_dropout=0.1 &&
        ! grep -qi 'decoded[A-Z_0-9]* [0-9]*ul .*, stash' "$work"/stages_quantized_many/stage_*/buffers.h || return 1
    run stages_quantized_one stages_quantized_again "$(start_of qlora | tr '\n' ' ') --steps 2" &&
        run stages_quantized_many stages_quantized_again --resume &&
        near 1e-11 "$work/stages_quantized_one_out/loss.csv" "$work/stages_quantized_again/loss.csv"
}

# Two forwards, of the model and of its reference, in one schedule; and resumed from the middle.
more_test_stages_pairs() {
    in_stages stages_pairs dpo 1e-11 2 2 precision.dtype=fp64 training.steps=4 &&
        run stages_pairs_one stages_pairs_again "$(start_of dpo | tr '\n' ' ') --steps 2" &&
        run stages_pairs_many stages_pairs_again --resume &&
        near 1e-11 "$work/stages_pairs_one_out/loss.csv" "$work/stages_pairs_again/loss.csv"
}

# The reference is an entry of each stage, before training; its file is the same for both layouts,
# and each can resume with the other's.
more_test_stages_precomputed() {
    local name=precomputed_stages from to
    in_stages $name dpo 1e-11 3 2 precision.dtype=fp64 training.steps=4 dpo.precompute_ref_log_probs=true &&
        cmp "$work"/${name}_{one,many}_out/reference.json || return 1
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run ${name}_$from precomputed_by_$from "$(start_of dpo | tr '\n' ' ') --steps 2" &&
            run ${name}_$to precomputed_by_$from --resume &&
            grep -q 'rows of pairs read from' "$work/precomputed_by_$from.log" &&
            near 1e-11 "$work/${name}_one_out/loss.csv" "$work/precomputed_by_$from/loss.csv" || return 1
    done
}
# All weights train, and pairs are packed, with replicas and tensor parallel cards.
pair_cube() { stages 2 && ranks "$1" && tensor 2; }
more_test_precomputed_cube() {
    local cases=$work full=$work/full_pairs
    mkdir -p "$full" && cp -r tests/oracle/cases/dpo/model "$full" &&
        sed '/^\[adapter\]/,/^$/d' tests/oracle/cases/dpo/spec.toml >"$full/spec.toml" &&
        layout_of=pair_cube pair precomputed_cube full_pairs 2 2 precision.dtype=fp64 training.steps=3 \
            dpo.precompute_ref_log_probs=true training.seq_len=80 training.per_device_train_batch_size=1 \
            data.packing=true dpo.max_packed_pairs=2 &&
        same_training 1e-11 precomputed_cube_one_out precomputed_cube_many_out &&
        same_export 1e-11 precomputed_cube_one_out precomputed_cube_many_out
}

# Replicas of stages: each replica has its own batches.
more_test_replicated_stages() {
    program replicas_one $cases/demo/spec.toml "${dropout[@]}" "$(micro 4)" &&
        program replicas_many $cases/demo/spec.toml "${dropout[@]}" "$(micro 2)" "$(stages 2)" \
            "$(ranks 2)" || return 1
    local which
    for which in one many; do
        run replicas_$which replicas_${which}_out "${lora_start[*]} --dump $work/replicas_${which}_out.dump" ||
            return 1
    done
    same_training 1e-11 replicas_one_out replicas_many_out
}

# Packed pairs on a quantised base, with 1F1B and with recomputation.
more_test_replicated_pair_stages() {
    local keys=(precision.dtype=fp64 training.steps=4 training.seq_len=80 training.per_device_train_batch_size=1
        data.packing=true dpo.max_packed_pairs=2 quantization.quant_type=nf4) which
    program pair_replicas_one $cases/dpo/spec.toml "${keys[@]}" "$(micro 4)" &&
        program pair_replicas_many $cases/dpo/spec.toml "${keys[@]}" "$(micro 2)" "$(stages 2)" \
            "$(ranks 2)" activation_checkpoint.mode=full || return 1
    for which in one many; do
        run pair_replicas_$which pair_replicas_${which}_out \
            "$(start_of dpo | tr '\n' ' ') --dump $work/pair_replicas_${which}_out.dump" || return 1
    done
    same_training 1e-11 pair_replicas_one_out pair_replicas_many_out
}

# Tensor parallel ranks split a stage.
more_test_split_stages() {
    local of_many=("$(tensor 2)")
    in_stages split demo 1e-11 2 3 "${dropout[@]}" &&
        counted split_many/stage_0 split_many_out 6 all_reduce send_recv &&
        tensors --tolerance 1e-11 --prefix logits "$work/split_one_out.dump" "$work/split_many_out.dump" &&
        run split_one split_from_one "${lora_start[*]} --steps 3" &&
        run split_many split_from_one "--resume" &&
        near 1e-11 "$work/split_one_out/loss.csv" "$work/split_from_one/loss.csv" &&
        SIM_ORDER=reverse SIM_QUEUE=lazy run split_many split_lazy "${lora_start[*]}" &&
        same_results split_many_out split_lazy
}
more_test_split_pair_stages() {
    local of_many=("$(tensor 2)" parallelism.sequence_parallel=true)
    in_stages split_pairs dpo 1e-11 2 2 precision.dtype=fp64 training.steps=4
}
more_test_split_stages_pretrain() {
    local of_many=("$(tensor 2)" parallelism.sequence_parallel=true)
    in_stages split_pretrain accumulate 1e-11 2 2 precision.dtype=fp64 training.steps=4 || return 1
    of_many=("$(tensor 2)" 'parallelism.pipeline_split_points=["model.layers.0"]') # the embedding's sum ends a stage
    in_stages split_embedding pretrain_tied 1e-11 2 2 precision.dtype=fp64 training.steps=3
}
# Weights with so many blocks that their second-level scales are several.
more_test_split_stages_quantized() {
    local of_many=("$(tensor 2)" parallelism.sequence_parallel=true) cases=$work wide=$work/wide
    program wide_base tests/golden/pretrain.toml precision.dtype=fp32 training.steps=1 model.hidden_size=128 \
        model.intermediate_size=512 model.num_attention_heads=4 model.max_position_embeddings=64 &&
        run wide_base wide_base_out "" && mkdir "$wide" && mv "$work/wide_base_out/model" "$wide" &&
        sed "s|tests/oracle/cases/qlora_single/model|$wide/model|" tests/oracle/cases/qlora_single/spec.toml \
            >"$wide/spec.toml" && program wide_first "$wide/spec.toml" training.steps=1 &&
        run wide_first wide_first_out "--init $wide/model" && mv "$work/wide_first_out/adapter" "$wide" &&
        in_stages split_quantized wide 1e-11 2 2 "${few_bits[@]}"
}
# Eight ranks: two replicas of two stages, each of two ranks.
more_test_split_replicated_stages() {
    program cube_one $cases/demo/spec.toml "${dropout[@]}" "$(micro 4)" &&
        program cube_many $cases/demo/spec.toml "${dropout[@]}" "$(micro 2)" "$(stages 2)" "$(ranks 2)" \
            "$(tensor 2)" parallelism.sequence_parallel=true || return 1
    local which
    for which in one many; do
        run cube_$which cube_${which}_out "${lora_start[*]} --dump $work/cube_${which}_out.dump" || return 1
    done
    same_training 1e-11 cube_one_out cube_many_out && same_export 1e-11 cube_one_out cube_many_out
}

# A checkpoint of two stages can be resumed on one card, and vice versa.
more_test_resume_with_other_stages() {
    local from to
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run stages_$from stages_from_$from "${lora_start[*]} --steps 3" &&
            run stages_$to stages_from_$from "--resume" &&
            near 1e-11 "$work/stages_one_out/loss.csv" "$work/stages_from_$from/loss.csv" || return 1
    done
}

test_stage_not_finite() {
    cp -r $cases/demo/adapter "$work/bad_stage" &&
        printf '\0\0\300\177' | dd of="$work/bad_stage/adapter_model.safetensors" bs=1 \
            seek=$(($(stat -c %s "$work/bad_stage/adapter_model.safetensors") - 4)) conv=notrunc status=none
    ! run stages_many bad_stage_out "--init $cases/demo/model --adapter $work/bad_stage" &&
        grep -q 'error: rank [01]: step 1 is not finite: first model\.layers\.1\.' "$work/bad_stage_out.log"
}

# A stage reads only its part of a file; what no stage reads is refused.
test_stages_excess() {
    local case=$cases/lora_q_v_rslora biased=$work/biased_model
    rm -rf "$biased" && cp -r $cases/qwen2/model "$biased" && sed -i 's/Qwen2For/LlamaFor/; s/"qwen2"/"llama"/' "$biased/config.json" &&
        program excess_adapter $case/spec.toml 'adapter.target_modules=["q_proj"]' "$(micro 2)" "$(stages 2)" &&
        program excess_biases $cases/qwen2/spec.toml "model.config=$biased" "$(micro 2)" "$(stages 2)" || return 1
    ! run excess_adapter excess_out "--init $case/model --adapter $case/adapter --steps 0" &&
        grep -q 'error: .*: tensor .*v_proj\.lora_A\.weight has no place in the adapter' "$work/excess_out.log" &&
        ! run excess_biases excess_out "--init $biased --steps 0" &&
        grep -q 'error: .*: has .*\.bias, but this program computes .* without a bias' "$work/excess_out.log"
}

test_stages_in_their_order() {
    local dir=$work/stages_many
    ! mpirun --allow-run-as-root --oversubscribe --bind-to none -np 1 "$dir/stage_1/run" : \
        -np 1 "$dir/stage_0/run" >"$work/order.log" 2>&1 &&
        grep -q 'this rank runs stage 1 of the pipeline in the place of stage 0' "$work/order.log"
}

# Errors name the remedy, and come before anything is written.
test_stages_refused() {
    refused() { # refused TEXT CASE [KEY=VALUE]...
        local text=$1 case=$2 sets=() setting
        shift 2
        for setting in "$@"; do sets+=(--set "$setting"); done
        ! ./gpuopt-gen $cases/$case/spec.toml "${sets[@]}" -o "$work/refused" >"$work/refused.log" 2>&1 &&
            grep -q "$text" "$work/refused.log" && [ ! -e "$work/refused" ]
    }
    local magnitudes=(adapter.use_dora=true 'adapter.target_modules=["down_proj"]' model.num_hidden_layers=1)
    mkdir -p "$work/magnitudes" && cp tests/golden/lora.toml "$work/magnitudes/spec.toml" &&
        cases=$work refused 'the model cannot be cut into 2 stages that each train' magnitudes "${magnitudes[@]}" "$(stages 2)" &&
        refused 'the model cannot be cut into 9 stages' demo "$(stages 9)" &&
        refused 'hint: use at most 4' demo "$(stages 9)" &&
        refused 'no stage can begin with "model.layers.7"' demo "$(stages 2)" \
            'parallelism.pipeline_split_points=["model.layers.7"]'
}
