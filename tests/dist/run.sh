#!/bin/bash
# Compares several ranks with one rank that has the same rows per step, on the simulated device.
# Each rank is a process with its own device. Also one process with several devices (cards_*).
#
#     tests/dist/run.sh [--all | --rest | NAME...]
#
# --rest runs what --all adds to the run before it, whose results it uses.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/dist keep=
[ "${1-}" != --rest ] || keep=1
. tests/runtime/emitted.sh
suite=dist
cases=tests/oracle/cases

# run PROGRAM OUT [OPTION]...: starts as many processes as it was made for; output in OUT.log.
run() {
    local dir=$work/$1 out=$work/$2
    shift 2
    make -s -C "$dir" FROM="$PWD" ARGS="--out $out $*" run >"$out.log" 2>&1
}

# same_folder ONE OTHER: both have the same files, but for the hashes in the record of training.
same_folder() {
    local file
    for file in "$1"/*; do
        cmp <(sed '/_sha256"/d' "$file") <(sed '/_sha256"/d' "$2/${file##*/}") || return 1
    done
}
ranks() { echo parallelism.data_parallel_replicate_degree="$1"; }
# One bucket per module, so that even small models have several, on the second stream.
buckets=parallelism.bucket_size_mb=0.001
bucketed() { printf '%s\n' "$(ranks "$1")" $buckets; }
skipped() { sed -n 's/.*"skipped_steps": *\([0-9]*\).*/\1/p' "$work/$1/report.json"; }

# near BOUND FILE FILE: compares the numbers of two tables, such as losses and norms, by relative
# error.
near() {
    paste -d, "$2" "$3" | awk -F, -v bound="$1" '
        NR == 1 { next }
        NF % 2 || NF < 4 { wrong = 1 }
        { for (i = 1; i <= NF / 2; i++) {
              a = $i; b = $(i + NF / 2); gap = a > b ? a - b : b - a
              if (!(gap <= bound * (a < 0 ? -a : a))) { print "row", $1, "column", i ":", a, b; wrong = 1 } }
          if (!($2 > 0)) wrong = 1
          rows++ }
        END { exit wrong || !rows }'
}

# parameters OUT: prints how many the report counts.
parameters() { tr -d ' \n' <"$work/$1/report.json" | grep -o '"parameters":{[^}]*}'; }

# same_training BOUND ONE MANY: compares the first step's tensors, all steps' losses and norms, and the
# numbers of parameters.
same_training() {
    tensors --tolerance "$1" --prefix grad. "$work/$2.dump" "$work/$3.dump" &&
        tensors --tolerance "$1" --prefix new. "$work/$2.dump" "$work/$3.dump" &&
        near "$1" "$work/$2/loss.csv" "$work/$3/loss.csv" &&
        near "$1" "$work/$2/eval.csv" "$work/$3/eval.csv" &&
        [ "$(parameters "$2")" = "$(parameters "$3")" ] && [ -n "$(parameters "$2")" ]
}

# pair NAME CASE RANKS MICRO_STEPS [KEY=VALUE]...: builds and runs NAME_one, which computes all of a
# step's batches one after the other, and NAME_many.
pair() {
    local name=$1 case=$2 ranks=$3 each=$4 start adapter= layout
    shift 4
    mapfile -t layout < <("${layout_of:-bucketed}" "$ranks")
    [ ! -d $cases/$case/adapter ] || adapter="--adapter $cases/$case/adapter"
    start="--init $cases/$case/model $adapter"
    program "${name}_one" $cases/$case/spec.toml "$@" \
        training.gradient_accumulation_steps=$((ranks * each)) &&
        program "${name}_many" $cases/$case/spec.toml "$@" \
            training.gradient_accumulation_steps="$each" "${layout[@]}" || return 1
    local which
    for which in one many; do
        run "${name}_$which" "${name}_${which}_out" "$start --dump $work/${name}_${which}_out.dump" || return 1
    done
}

# A trained adapter with dropout, which depends on a row's place in the global batch. The single
# rank has one wide batch, so that sums are added in different orders.
dropout=(adapter.lora_dropout=0.1 training.steps=6 data.eval_batches=100 data.shuffle=true
    precision.dtype=fp64)
lora_start=(--init $cases/demo/model --adapter $cases/demo/adapter)
lora() { # lora NAME [KEY=VALUE]...
    local name=$1
    shift
    program "$name" $cases/demo/spec.toml "${dropout[@]}" "$@" &&
        run "$name" "${name}_out" "${lora_start[*]} --dump $work/${name}_out.dump"
}
like_one() { # like_one RANKS: compares the program of that many ranks, which has run, with one rank
    lora wide$1 training.per_device_train_batch_size=$((2 * $1)) &&
        same_training 1e-11 wide$1_out lora$1_out
}
test_three() { like_one 3; }
# By one process, before mpirun starts, which would add an error of its own.
test_options_are_refused_once() {
    local options
    for options in "--merge $work/never_merged" "--stpes 4" "--steps 7"; do
        ! run lora3 refused "$options" && [ "$(grep -c '^error: --merge: this program is for several cards\|^error: unknown option --stpes\|^error: --steps 7: this program' "$work/refused.log")" = 1 ] &&
            ! grep -i 'mpirun\|prte\|primary job' "$work/refused.log" && [ ! -e "$work/never_merged" ] || return 1
    done
    run lora3 helped --help && [ "$(grep -c '^usage: ' "$work/helped.log")" = 1 ]
}
more_test_two() { lora lora2 "$(ranks 2)" $buckets compile.bordered=false && like_one 2; }
# Adapters' gradients are computed in parallel with the rest of backward, and summed at its end.
more_test_four() {
    lora lora4 "$(ranks 4)" && grep -q RT_STREAM_SIDE "$work/lora4/program.c" && like_one 4 &&
        SIM_QUEUE=lazy:2 run lora4 late4 "${lora_start[*]}" && same_results lora4_out late4
}
more_test_eight() { lora lora8 "$(ranks 8)" $buckets && like_one 8; }

# Results do not depend on which bytes are summed together, or on what overlaps the sums.
test_summed_after_backward() {
    lora after "$(ranks 3)" parallelism.overlap_grad_reduce=false && same_results stepwise after_out
}

# All weights train. Without graphs only the waits order the second stream, whichever stream is
# faster.
more_test_late_streams() {
    pair late pretrain_untied 2 2 precision.dtype=fp64 training.steps=3 compile.cuda_graph=false &&
        grep -q RT_STREAM_COMMUNICATION "$work/late_many/program.c" &&
        same_training 1e-11 late_one_out late_many_out || return 1
    local seed
    for seed in 1 2; do
        SIM_QUEUE=lazy:$seed run late_many late_$seed "--init $cases/pretrain_untied/model" &&
            cmp "$work/late_many_out/loss.csv" "$work/late_$seed/loss.csv" || return 1
    done
}

# Each rank quantises the base itself. With dropout a product does not read its whole border.
more_test_quantized() {
    pair quantized qlora 2 2 precision.dtype=fp64 training.steps=4 adapter.lora_dropout=0.1 &&
        same_training 1e-11 quantized_one_out quantized_many_out
}

# Moments in 8 bits: with ranks, pipeline stages and cards of one process; and resumed.
more_test_coded_moments() {
    local spec=tests/sim/coded_moments.toml batches=training.gradient_accumulation_steps=2 many
    program coded_one $spec $batches && run coded_one coded_one_out "--dump $work/coded_one_out.dump" &&
        program coded_ranks $spec "$(ranks 2)" $buckets &&
        program coded_cards $spec "$(ranks 2)" parallelism.data_parallel_mode=dp &&
        program coded_stages $spec $batches parallelism.pipeline_parallel_degree=2 || return 1
    for many in coded_ranks coded_cards coded_stages; do
        run $many ${many}_out "--dump $work/${many}_out.dump" &&
            same_training 1e-11 coded_one_out ${many}_out || return 1
    done
    program coded_long $spec training.steps=16 && run coded_long coded_long_out &&
        run coded_long coded_again --steps 12 && run coded_long coded_again --resume &&
        same_results coded_long_out coded_again
}

# Blocks of codes do not depend on the layout. Shards match replicas bit for bit, because their sums
# are the same. Also tested: parts of tensors, combined layouts, and a weight that both ends of a
# pipeline train. A checkpoint of each layout can be resumed on one card, and vice versa.
coded_as_one() { # coded_as_one NAME LAYOUT_KEY=VALUE...: compares with coded_one_of, also resumed
    program "$1" $spec "${model[@]}" "${@:2}" && run $1 ${1}_out "--dump $work/${1}_out.dump" &&
        same_training 1e-11 coded_one_of_out "${1}_out" &&
        run "$1" "${1}_from" --steps 2 && run coded_one_of "${1}_from" --resume &&
        near 1e-11 "$work/coded_one_of_out/loss.csv" "$work/${1}_from/loss.csv" &&
        run coded_one_of "${1}_to" --steps 2 && run "$1" "${1}_to" --resume &&
        near 1e-11 "$work/coded_one_of_out/loss.csv" "$work/${1}_to/loss.csv"
}
more_test_coded_shards() {
    local spec=tests/sim/coded_moments.toml stage model layout dtype
    ! ./gpuopt-gen $spec --set "$(tensor 2)" -o "$work/coded_cut" 2>"$work/coded_cut.log" &&
        grep -q "blocks of 256 would be cut: a card's part of .*o_proj.weight has runs of 32" "$work/coded_cut.log" || return 1
    for dtype in fp64 bf16; do
        model=(precision.dtype=$dtype training.max_grad_norm=0) # norms add in another order
        program coded_whole $spec "${model[@]}" "$(ranks 2)" && run coded_whole coded_whole_out || return 1
        for stage in 1 2 3; do
            mapfile -t layout < <(by_stage 2)
            program coded_$stage $spec "${model[@]}" "${layout[@]}" && run coded_$stage coded_${stage}_out &&
                tensors --prefix model. "$(newest coded_whole_out)/state.safetensors" \
                    "$(newest coded_${stage}_out)/state.safetensors" || return 1
        done
        rm -r "$work"/coded_[123w]*
    done
    model=(model.hidden_size=512 model.num_hidden_layers=1 model.intermediate_size=512 training.seq_len=8
        training.gradient_accumulation_steps=4)
    program coded_one_of $spec "${model[@]}" && run coded_one_of coded_one_of_out "--dump $work/coded_one_of_out.dump" &&
        coded_as_one coded_parts "$(tensor 2)" parallelism.sequence_parallel=true || return 1
    model[4]=training.gradient_accumulation_steps=2
    coded_as_one coded_shards "$(shards 2)" $buckets && stage=3 &&
        mapfile -t layout < <(shards_of_parts 2) && coded_as_one coded_cube "${layout[@]}" || return 1
    model=(model.tie_word_embeddings=true model.intermediate_size=172 training.gradient_accumulation_steps=4)
    rm -r "$work"/coded_one_of* && program coded_one_of $spec "${model[@]}" &&
        run coded_one_of coded_one_of_out "--dump $work/coded_one_of_out.dump" &&
        coded_as_one coded_ends "$(stages 2)" && model[2]=training.gradient_accumulation_steps=2 && stage=2 &&
        mapfile -t layout < <(by_stage 2) && coded_as_one coded_sharded_ends "${layout[@]}" "$(stages 2)"
}

# Each rank rounds weights itself, whatever part of the state it has; with "dp", the first card does
# so before the others copy from it.
more_test_rounded() {
    layout_of=grid pair rounded qat 4 1 precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 rounded_one_out rounded_many_out &&
        same_integers 1e-11 rounded_one_out rounded_many_out || return 1
    local stage=2
    layout_of=grid_by_stage pair rounded_base qat_lora 4 1 precision.dtype=bf16 training.steps=3 &&
        same_integers 0 rounded_base_one_out rounded_base_many_out
}
# A run may replace the model that it began with while other ranks read it again, to export codes. Here
# the first model also has a tensor that the program does not know.
more_test_rounded_over_its_base() {
    local model=$work/over_out/model
    program over $cases/qat/spec.toml training.steps=1 "$(ranks 2)" &&
        run over over_out "--init $cases/qat/model" || return 1
    python3 - "$model/model.safetensors" <<'MORE' && run over over_out "--init $model"
import json, struct, sys
content = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", content[:8])[0]
header, end = json.loads(content[8:8 + size]), len(content) - 8 - size
header["unknown"] = {"dtype": "F32", "shape": [2], "data_offsets": [end, end + 8]}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + content[8 + size:] + bytes(8))
MORE
}
# The first steps do not round; a rank has its part of the state and gradients in these too.
more_test_rounded_later() {
    local stage=2
    layout_of=grid_by_stage pair rounded_later qat 4 1 precision.dtype=fp64 training.steps=4 \
        qat.fake_quant_after_n_steps=2 && same_training 1e-11 rounded_later_one_out rounded_later_many_out &&
        same_integers 1e-11 rounded_later_one_out rounded_later_many_out
}
# Inputs of a quantised base are rounded like those of its decoded weights, in every layout.
more_test_rounded_few_bits() {
    local case=$cases/qlora decoded=$work/few_decoded stage which settings=(precision.dtype=fp64 training.steps=4)
    program few_whole $case/spec.toml "${settings[@]}" optimizer.lr=1e-300 &&
        run few_whole few_whole_out --init $case/model --steps 1 --merge "$decoded" &&
        program few_codes $case/spec.toml "${settings[@]}" qat.activation_dtype=int8 &&
        program few_plain $case/spec.toml "${settings[@]}" qat.activation_dtype=int8 quantization.quant_type=none &&
        program few_exact $case/spec.toml "${settings[@]}" || return 1
    run few_plain few_plain_out --init "$decoded" --adapter $case/adapter --dump "$work/few_plain_out.dump" || return 1
    for which in codes exact; do
        run few_$which few_${which}_out --init $case/model --adapter $case/adapter --dump "$work/few_${which}_out.dump" || return 1
    done
    same_training 1e-11 few_plain_out few_codes_out && ! cmp -s "$work"/few_{exact,codes}_out/loss.csv || return 1
    for stage in 2 3; do
        layout_of=grid_by_stage pair few_bits$stage qlora 4 1 "${settings[@]}" qat.activation_dtype=int8 &&
            same_training 1e-11 few_bits${stage}_one_out few_bits${stage}_many_out || return 1
    done
    mixed cube qlora_single 2 2 1e-11 "${few_bits[@]:0:2}" $fp64 qat.activation_dtype=int8 adapter.lora_dropout=0.1
}
more_test_rounded_cards() {
    layout_of=cards pair rounded_cards qat_lora 2 1 precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 rounded_cards_one_out rounded_cards_many_out &&
        same_integers 0 rounded_cards_one_out rounded_cards_many_out
}

# Loss and figures are means over the pairs of all ranks; with a quantised base.
more_test_pairs() {
    pair pairs dpo 2 2 precision.dtype=fp64 training.steps=4 quantization.quant_type=nf4 &&
        same_training 1e-11 pairs_one_out pairs_many_out
}

# Each rank computes a part of the reference in advance; the file does not depend on their number.
more_test_precomputed() {
    pair precomputed dpo 2 2 precision.dtype=fp64 training.steps=4 dpo.precompute_ref_log_probs=true &&
        cmp "$work"/precomputed_{one,many}_out/reference.json &&
        same_training 1e-11 precomputed_one_out precomputed_many_out
}

# A step's figures are those of all ranks, in every layout.
pairs_in() { # pairs_in LAYOUT RANKS MICRO_STEPS [KEY=VALUE]...
    local name=pairs_$1
    layout_of=$1 pair "$name" dpo "${@:2:2}" precision.dtype=fp64 training.steps=4 "${@:4}" &&
        same_training 1e-11 "${name}_one_out" "${name}_many_out"
}
more_test_pairs_cards() { pairs_in cards 2 2; }
more_test_pairs_sharded() { stage=3 pairs_in by_stage 2 1 dpo.precompute_ref_log_probs=true; }
more_test_pairs_tensor() {
    rows pairs_tensor dpo 1e-11 2 precision.dtype=fp64 training.steps=4 dpo.precompute_ref_log_probs=true
}
# A pair has two rows, so that a single one of odd length has an even number of tokens: a row for each card.
more_test_pairs_odd() {
    rows pairs_odd dpo 1e-11 2 precision.dtype=fp64 training.steps=4 training.seq_len=39 \
        training.per_device_train_batch_size=1
}

# Two pairs share rows that one pair had before: the same steps, with any reference and layout.
more_test_packed_pairs() {
    local packing=(training.seq_len=80 training.per_device_train_batch_size=1 data.packing=true dpo.max_packed_pairs=2)
    local start="--init $cases/dpo/model --adapter $cases/dpo/adapter" name
    program pairs_alone $cases/dpo/spec.toml precision.dtype=fp64 training.steps=4 &&
        program pairs_packed $cases/dpo/spec.toml precision.dtype=fp64 training.steps=4 "${packing[@]}" \
            dpo.precompute_ref_log_probs=true || return 1
    for name in alone packed; do
        run pairs_$name pairs_${name}_out "$start --dump $work/pairs_${name}_out.dump" || return 1
    done
    same_training 1e-11 pairs_alone_out pairs_packed_out
}

# Compares a row that has a prompt once, for both completions, with two rows that both have it: on
# one card, and on the cards of the layout.
shared_prompts() { # [prompts=FILE] [of_both=KEYS] shared_prompts RANKS [KEY=VALUE]...
    local keys=(precision.dtype=fp64 training.steps=4 data.train="${prompts-$cases/dpo/data.jsonl}" ${of_both-}) start="--init $cases/dpo/model --adapter $cases/dpo/adapter"
    local ranks=$1 name
    rm -rf "$work"/prompts_{twice,once}*
    program prompts_twice $cases/dpo/spec.toml "${keys[@]}" &&
        program prompts_once $cases/dpo/spec.toml "${keys[@]}" training.seq_len=80 dpo.shared_prompt=true \
            "$(micro $((2 / ranks)))" "${@:2}" || return 1
    for name in twice once; do
        run prompts_$name prompts_${name}_out "$start --dump $work/prompts_${name}_out.dump" || return 1
    done
    same_training 1e-11 prompts_twice_out prompts_once_out
}
test_shared_prompts() { shared_prompts 2 "$(ranks 2)" dpo.precompute_ref_log_probs=true; }
# Each token is rounded separately, so a shared prompt is rounded like one that is repeated.
more_test_shared_prompts_rounded() {
    of_both='qat.activation_dtype=int8 qat.weight_dtype=int4 qat.group_size=8' shared_prompts 1
}
# Packing and shared prompts together: two pairs in a row of 128 places, each with its prompt once.
# The first two pairs are too long for that, and left out.
more_test_packed_prompts() {
    tail -n +3 $cases/dpo/data.jsonl >"$work/prompts.jsonl"
    prompts=$work/prompts.jsonl shared_prompts 1 training.seq_len=128 training.per_device_train_batch_size=1 \
        data.packing=true dpo.max_packed_pairs=2 dpo.precompute_ref_log_probs=true
}
more_test_shared_prompts_tensor() { shared_prompts 1 "$(tensor 2)" parallelism.sequence_parallel=true; }
more_test_shared_prompts_stages() { shared_prompts 1 "$(stages 2)" activation_checkpoint.mode=full; }

# Writes data for three ranks with two micro-steps of two rows: in the first step, one rank has no
# target, and the others have unequal numbers of targets.
unequal_targets() {
    awk 'BEGIN {
        for (row = 0; row < 17; row++) {
            ids = labels = ""
            for (i = 0; i < 5 + row * 7 % 30; i++) {
                id = (row * 31 + i * i * 17) % 128
                none = i == 0 || (row >= 2 && row < 4) || (row >= 8 && row < 10) || i % (row % 5 + 1)
                ids = ids (i ? ", " : "") id
                labels = labels (i ? ", " : "") (none ? -100 : id)
            }
            print "{\"input_ids\": [" ids "], \"labels\": [" labels "]}"
        }
    }' >"$work/unequal.jsonl"
}
test_unequal_targets() {
    unequal_targets
    pair unequal demo 3 2 precision.dtype=fp64 data.train="$work/unequal.jsonl" training.steps=4 &&
        same_training 1e-11 unequal_one_out unequal_many_out
}

more_test_packed() {
    pair packed packed 2 1 precision.dtype=fp64 training.steps=4 &&
        same_training 1e-11 packed_one_out packed_many_out
}

test_images() {
    pair images cnn 4 1 precision.dtype=fp64 training.label_smoothing=0.1 training.steps=5 &&
        same_training 1e-11 images_one_out images_many_out
}

more_test_bf16() {
    pair bf16 demo 2 2 precision.dtype=bf16 training.steps=4 &&
        same_training 1e-4 bf16_one_out bf16_many_out
}

# All ranks skip the same steps, because the norm is that of the summed gradients.
more_test_loss_scale() {
    pair fp16 demo 2 1 precision.dtype=fp16 precision.init_scale=3e7 training.steps=8 || return 1
    local one many
    one=$(skipped fp16_one_out)
    many=$(skipped fp16_many_out)
    [ "$one" -ge 1 ] && [ "$one" -lt 8 ] && [ "$one" = "$many" ] &&
        awk -v a="$(heldout fp16_one_out after loss)" -v b="$(heldout fp16_many_out after loss)" \
            'BEGIN { exit !(a > 0 && (a - b)^2 <= 1e-6) }'
}

# Batch norm is per rank, as with two processes of PyTorch's DDP. Running statistics are rank 0's,
# and all ranks use them in evaluation and in later steps.
more_test_batch_norm() {
    pair norm mobilenet 2 1 precision.dtype=fp64 training.steps=3 data.eval_batches=100 &&
        tensors --tolerance 1e-11 --prefix grad.classifier. "$work"/norm_{one,many}_out.dump &&
        tensors --tolerance 1e-11 --prefix grad.features.0. "$work"/norm_{one,many}_out.dump &&
        near 1e-9 "$work/norm_one_out/loss.csv" "$work/norm_many_out/loss.csv" &&
        tensors --tolerance 1e-10 --global 1e-14 --prefix grad. tests/oracle/ddp/mobilenet2.safetensors \
            "$work/norm_many_out.dump" &&
        near 1e-10 tests/oracle/ddp/mobilenet2.csv <(cut -d, -f1,2 "$work/norm_many_out/loss.csv") &&
        run norm_many norm_stopped "--init $cases/mobilenet/model --steps 2" &&
        run norm_many norm_stopped --resume && same_results norm_many_out norm_stopped &&
        run norm_one norm_again "--init $work/norm_many_out/model --steps 0" || return 1
    local figure a b
    for figure in loss top5; do
        a=$(heldout norm_many_out after $figure) b=$(heldout norm_again before $figure)
        [ -n "$a" ] && awk -v a="$a" -v b="$b" 'BEGIN { exit !((a - b)^2 <= 4e-12) }' || return 1
    done
}

# With statistics over all ranks' batches, results are those of one rank with one wide batch, also
# in evaluation. (The gradient of a bias before a batch norm is only rounding noise.)
more_test_sync_batch_norm() {
    local case=$cases/mobilenet start which settings
    start="--init $case/model"
    settings=(precision.dtype=fp64 training.steps=3 data.eval_batches=100)
    program sync_one $case/spec.toml "${settings[@]}" training.per_device_train_batch_size=8 &&
        program sync_many $case/spec.toml "${settings[@]}" training.per_device_train_batch_size=4 \
            "$(ranks 2)" $buckets parallelism.sync_batch_norm=true || return 1
    for which in one many; do
        run sync_$which sync_${which}_out "$start --dump $work/sync_${which}_out.dump" || return 1
    done
    tensors --tolerance 1e-11 --global 1e-15 --prefix grad. "$work"/sync_{one,many}_out.dump &&
        tensors --tolerance 1e-11 --prefix new. "$work"/sync_{one,many}_out.dump &&
        near 1e-10 "$work/sync_one_out/loss.csv" "$work/sync_many_out/loss.csv" &&
        near 1e-10 "$work/sync_one_out/eval.csv" "$work/sync_many_out/eval.csv" &&
        SIM_QUEUE=lazy:3 run sync_many sync_late "$start" && same_results sync_many_out sync_late
}

# Statistics and gradients from products with what a 1x1 convolution reads are of a micro-step, in any
# layout.
gram_in() { # gram_in LAYOUT MICRO_STEPS [KEY=VALUE]...: compares with one card, which comes first
    local out=$work/gram_${1}_out
    program "gram_$1" $cases/mobilenet/spec.toml precision.dtype=fp64 training.steps=3 \
        compile.gram_batch_norm=true "$(micro "$2")" "${@:3}" &&
        grep -rq linear_norm_grads --include=kernels.cu "$work/gram_$1" &&
        run "gram_$1" "gram_${1}_out" "--init $cases/mobilenet/model --dump $out.dump" &&
        tensors --tolerance 1e-11 --global 1e-15 --prefix grad. "$work/gram_one_out.dump" "$out.dump" &&
        near 1e-11 "$work/gram_one_out/loss.csv" "$out/loss.csv"
}
more_test_gram_batch_norm() {
    local stage=3 shards
    mapfile -t shards < <(by_stage 3)
    gram_in one 6 && gram_in ranks 3 "$(ranks 2)" $buckets && gram_in cards 3 $(cards 2) &&
        gram_in shards 2 "${shards[@]}" && gram_in stages 6 "$(stages 2)" &&
        tensors --tolerance 1e-11 --prefix new. "$work"/gram_{one,stages}_out.dump
}

more_test_two_runs() { run lora3 again "${lora_start[*]}" && same_results stepwise again; }

more_test_without_graph_and_fusion() {
    program plain $cases/demo/spec.toml "${dropout[@]}" "$(ranks 3)" $buckets compile.fusion=false \
        compile.cuda_graph=false compile.overlap=false &&
        run plain plain_out "${lora_start[*]}" && same_results stepwise plain_out
}

# In any order of threads, and however early or late each stream runs its work.
more_test_any_order() {
    SIM_ORDER=reverse SIM_QUEUE=lazy run lora3 lazy "${lora_start[*]}" && same_results stepwise lazy &&
        SIM_ORDER=random:3 SIM_QUEUE=eager run lora3 eager "${lora_start[*]}" && same_results stepwise eager
}

# A checkpoint of two ranks can be resumed by one with the same rows per step, and vice versa.
test_resume_with_other_ranks() {
    pair resume demo 2 1 "${dropout[@]}" || return 1
    local from to
    for from in one many; do
        to=$([ $from = one ] && echo many || echo one)
        run resume_$from resumed_$from "${lora_start[*]} --steps 3" &&
            run resume_$to resumed_$from "--resume" &&
            ! grep -q 'its batches have changed' "$work/resumed_$from.log" &&
            near 1e-11 "$work/resume_one_out/loss.csv" "$work/resumed_$from/loss.csv" || return 1
    done
}

# All ranks find a NaN in the same step, and repeat that step together to locate it.
test_not_finite() {
    local file=$work/bad/adapter_model.safetensors
    cp -r $cases/demo/adapter "$work/bad" &&
        printf '\0\0\300\177' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 4)) conv=notrunc status=none
    ! run lora3 bad_out "--init $cases/demo/model --adapter $work/bad" &&
        grep -q 'error: rank [0-2]: step 1 is not finite: first model\.layers\.1\.self_attn' "$work/bad_out.log"
}

# Each point of a study is started with the number of processes that it needs.
more_test_study() {
    { sed '/^name/d' tests/golden/lora.toml && printf '[sweep]\n"%s" = [1, 2]\n' "$(ranks 0 | cut -d= -f1)"; } \
        >"$work/cards.toml" &&
        ./gpuopt-gen "$work/cards.toml" -o "$work/cards" >"$work/cards.log" &&
        NP='' GEN=./gpuopt-gen runtime/scripts/study.sh "$work/cards" &&
        grep -q '2 of 2 runs finished' "$work/cards/study.txt"
}

test_too_few_rows() {
    head -n 2 $cases/demo/data.jsonl >"$work/few.jsonl" &&
        program few $cases/demo/spec.toml "$(ranks 3)" data.train="$work/few.jsonl" data.last_batch=discard &&
        ! run few few_out "${lora_start[*]}" &&
        grep -q 'error: .*3 processes cannot share 2 training rows; lower .* to 2 or less' "$work/few_out.log" || return 1
    # Enough for each rank, but not for a step of all.
    head -n 4 $cases/demo/data.jsonl >"$work/few.jsonl" && ! run few few_out "${lora_start[*]}" &&
        grep -q 'error: .*data.last_batch = "discard" leaves nothing: a step takes [0-9]* rows, but there are 4; add data' \
            "$work/few_out.log"
}

# If a model is so small that two cards are slower than one, the plan says so; for a larger one not.
test_plan_of_small_steps() {
    local spec=$work/small.toml
    cat >"$spec" <<'TOML'
[model]
family = "mlp"
num_classes = 2
image_size = 4
image_channels = 1
num_hidden_layers = 1
[training]
task = "classify"
per_device_train_batch_size = 1
steps = 1
[optimizer]
name = "sgd"
[data]
format = "synthetic"
TOML
    plan() { ./gpuopt-gen --plan "$spec" --set "$(ranks 2)" --set "$1" --set "$2" "${@:3}"; }
    plan model.hidden_size=8 data.pin_memory=true | grep -q 'cards: one card would be faster' &&
        ! plan model.hidden_size=1024 training.per_device_train_batch_size=4096 | grep -q 'one card would be faster' &&
        plan parallelism.pipeline_parallel_degree=2 "$(ranks 1)" --set model.num_hidden_layers=2 \
            --set model.hidden_size=8 | grep -q 'cards: one card would be faster: stages wait' &&
        plan model.hidden_size=8 "$(ranks 9)" | grep -q 'cards: 2 nodes of 8, 50 GB/s a card between them'
}

# As many collectives run as the plan counts.
test_collectives_are_counted() {
    local planned
    planned=$(sed -n '/"all_reduce"/,/}/s/.*"bytes": *\([0-9.e+]*\).*/\1/p' "$work/lora3/plan.json")
    awk -v planned="$planned" '
        /"all_reduce"/ { inside = 1 }
        inside && /"bytes"/ { gsub(/[^0-9]/, ""); bytes = $0; exit }
        END { exit !(planned > 0 && bytes == 6 * planned) }' "$work/stepwise/report.json"
}

# Norms of rows, which are constant in a step, are those of one card; also with a quantised base,
# with one process for both cards, and in stages.
more_test_magnitudes() {
    pair magnitudes qdora 2 1 precision.dtype=fp64 adapter.lora_dropout=0.1 training.steps=4 &&
        same_training 1e-11 magnitudes_one_out magnitudes_many_out
}
more_test_magnitudes_cards() {
    layout_of=cards pair magnitudes_cards qdora 2 2 precision.dtype=fp64 training.steps=4 &&
        same_training 1e-11 magnitudes_cards_one_out magnitudes_cards_many_out
}
more_test_magnitudes_stages() {
    in_stages magnitudes_stages dora 1e-11 2 3 precision.dtype=fp64 adapter.lora_dropout=0.1 training.steps=4
}

# Embedding and head train in the first and the last stage, in addition to adapters.
more_test_modules() { in_stages modules modules 1e-11 2 3 precision.dtype=fp64 training.steps=4; }

# A single rank makes a strategy's collectives too, on a communicator of its own, captured like the rest.
alone() { echo "parallelism.one_rank_collectives=$strategy" && printf '%s\n' "${more[@]}"; }
one_rank() { # one_rank STRATEGY CASE COLLECTIVE [KEY=VALUE]...: with settings of the layout in `more`
    local strategy=$1 name="alone_${1}_$2"
    layout_of=alone pair "$name" "$2" 1 2 "${@:4}" precision.dtype=fp64 training.steps=3 &&
        same_training 1e-11 "${name}_one_out" "${name}_many_out" &&
        grep -A1 "\"$3\"" "$work/${name}_many_out/report.json" | grep -q '"count": [1-9]' &&
        ! grep -q '"all_reduce"' "$work/${name}_one_out/report.json"
}
test_one_rank() {
    local more=($buckets)
    one_rank ddp pretrain_untied all_reduce && grep -q RT_STREAM_COMMUNICATION "$work/alone_ddp_pretrain_untied_many/program.c"
}
more_test_one_rank_of_shards() {
    local more=(parallelism.shard_stage=3)
    one_rank shard demo all_gather adapter.lora_dropout=0.1 && more=(parallelism.shard_stage=2) &&
        one_rank shard pretrain_untied reduce_scatter
}
more_test_one_rank_of_tensors() {
    local more=(parallelism.sequence_parallel=true)
    one_rank tensor demo reduce_scatter && more=(parallelism.vocab_parallel=true) && one_rank tensor pretrain_untied all_reduce &&
        one_rank tensor qat_float8 all_gather
}
more_test_one_rank_of_images() {
    local more=(parallelism.sync_batch_norm=true)
    one_rank ddp mobilenet all_reduce && more=(parallelism.shard_stage=1) && one_rank shard cnn all_gather &&
        more=(compile.layout=nhwc) && one_rank tensor mobilenet all_reduce
}

. tests/dist/cards_cases.sh
. tests/dist/tensor_cases.sh
. tests/dist/pipeline_cases.sh
. tests/dist/shard_cases.sh
. tests/dist/peft_cases.sh

# For every earlier run: predicted launches, also of graphs, bytes of batches and exchanges by kind are the
# measured ones.
as_planned() {
    awk '
        FNR == 1 { runs++ }
        { match($0, /[^ ]/); key[RSTART] = $1; gsub(/[":]/, "", key[RSTART]); predicted = key[3] == "predicted"
          name = ""; for (i = predicted ? 5 : 3; i <= RSTART; i += 2) name = name "." key[i] }
        name ~ /^[.]collectives[.].*[.](count|bytes)$|^[.](kernels|graphs)[.]launches$|^[.]copies[.]h2d[.]bytes$/ {
            found[predicted, FILENAME name] = $2 + 0; names[FILENAME name]; figures++ }
        END {
            for (name in names)
                if (found[0, name] != found[1, name]) {
                    print name ":", found[0, name], "and not the", found[1, name], "of the plan"; wrong = 1 }
            exit wrong || figures < 6 * runs }' "$work"/*/report.json
}

build_tool compare_tensors tests/runtime/compare_tensors.c || exit 1
[ $keep ] || { lora lora3 "$(ranks 3)" $buckets && run lora3 stepwise "${lora_start[*]}"; } ||
    { echo "FAIL dist lora3"; tail -n 20 "$work"/lora3*.log "$work"/stepwise.log; exit 1; }
sources="tests/dist/run.sh tests/dist/*_cases.sh"
run_tests "$@"
case ${1-} in '' | --*) attempt as_planned as_planned ;; esac
exit $failed
