# shellcheck shell=bash
# Compares one process with several cards (data_parallel_mode = "dp") with one card, and with ranks.
# Sourced by run.sh.
cards() { printf '%s\n' "$(ranks "$1")" 'parallelism.data_parallel_mode="dp"'; }


# One process with three cards and two micro-steps on each; the rows of one replica have no target.
test_cards() {
    unequal_targets
    layout_of=cards pair cards demo 3 2 precision.dtype=fp64 data.train="$work/unequal.jsonl" \
        adapter.lora_dropout=0.1 training.steps=10 &&
        same_training 1e-11 cards_one_out cards_many_out
}

# As with two ranks, each replica has its own batch statistics; running ones are the first card's.
more_test_cards_batch_norm() {
    local out
    set -- mobilenet precision.dtype=fp64 training.steps=3 data.eval_batches=100
    for out in ranks cards; do
        mapfile -t layout < <($out 2)
        program norm_by_$out $cases/$1/spec.toml "${@:2}" "${layout[@]}" &&
            run norm_by_$out norm_by_${out}_out "--init $cases/$1/model --dump $work/norm_by_${out}_out.dump" ||
            return 1
    done
    same_training 1e-11 norm_by_ranks_out norm_by_cards_out &&
        tensors --tolerance 1e-11 "$(newest norm_by_ranks_out)/state.safetensors" \
            "$(newest norm_by_cards_out)/state.safetensors"
}

# The same bits without graphs, fusion and early copies, in other orders, and in a second run.
more_test_cards_any_order() {
    lora cards2 $(cards 2) && run cards2 cards_again "${lora_start[*]}" &&
        same_results cards2_out cards_again &&
        SIM_ORDER=reverse SIM_QUEUE=lazy run cards2 cards_lazy "${lora_start[*]}" &&
        same_results cards_again cards_lazy &&
        SIM_ORDER=random:3 SIM_QUEUE=lazy:5 run cards2 cards_seeded "${lora_start[*]}" &&
        same_results cards_again cards_seeded &&
        SIM_QUEUE=eager run cards2 cards_eager "${lora_start[*]}" &&
        same_results cards_again cards_eager &&
        program cards_plain $cases/demo/spec.toml "${dropout[@]}" $(cards 2) compile.fusion=false \
            compile.cuda_graph=false compile.overlap=false data.pin_memory=false &&
        run cards_plain cards_plain_out "${lora_start[*]}" && same_results cards_again cards_plain_out
}

# The first card quantises; the others copy its codes and scales.
more_test_cards_quantized() {
    layout_of=cards pair cards_quantized qlora 2 2 precision.dtype=fp64 training.steps=4 \
        adapter.lora_dropout=0.1 && same_training 1e-11 cards_quantized_one_out cards_quantized_many_out
}

more_test_cards_images() {
    layout_of=cards pair cards_images cnn 4 1 precision.dtype=fp64 training.label_smoothing=0.1 \
        training.steps=5 && same_training 1e-11 cards_images_one_out cards_images_many_out &&
        program cards_gather $cases/cnn/spec.toml precision.dtype=fp64 training.label_smoothing=0.1 \
            training.steps=5 $(cards 4) parallelism.gather_outputs=true &&
        run cards_gather cards_gather_out "--init $cases/cnn/model" &&
        same_results cards_images_many_out cards_gather_out &&
        [ "$(of_kind gather bytes "$work/cards_gather_out/report.json")" -gt \
            "$(of_kind gather bytes "$work/cards_images_many_out/report.json")" ]
}

more_test_cards_bf16() {
    layout_of=cards pair cards_bf16 demo 2 2 precision.dtype=bf16 training.steps=4 &&
        same_training 1e-4 cards_bf16_one_out cards_bf16_many_out &&
        layout_of=cards pair cards_fp16 demo 2 1 precision.dtype=fp16 precision.init_scale=3e7 training.steps=8 &&
        awk -v a="$(skipped cards_fp16_one_out)" -v b="$(skipped cards_fp16_many_out)" \
            'BEGIN { exit !(a >= 1 && a < 8 && a == b) }'
}

# Training resumes from checkpoints of one card, of cards and of ranks with any of these layouts.
more_test_cards_resume() {
    layout_of=cards pair cards_resume demo 2 1 "${dropout[@]}" &&
        program cards_resume_ranks $cases/demo/spec.toml "${dropout[@]}" "$(ranks 2)" || return 1
    local from to
    for from in one many ranks; do
        to=$([ $from = many ] && echo one || echo many)
        run cards_resume_$from cards_resumed_$from "${lora_start[*]} --steps 3" &&
            run cards_resume_$to cards_resumed_$from "--resume" &&
            ! grep -q 'its batches have changed' "$work/cards_resumed_$from.log" &&
            near 1e-11 "$work/cards_resume_one_out/loss.csv" "$work/cards_resumed_$from/loss.csv" || return 1
    done
}

# The embedding of a token that only the second card sees is not a number.
more_test_cards_not_finite() {
    local model=$work/cards_bad file=$work/cards_bad/model.safetensors head at
    awk 'BEGIN {
        for (row = 0; row < 12; row++) {
            ids = row == 3 ? 100 : 1
            for (i = 1; i < 20; i++) ids = ids ", " (row * 7 + i * 5) % 90
            print "{\"input_ids\": [" ids "]}"
        }
    }' >"$work/cards_bad.jsonl"
    cp -r $cases/demo/model "$model"
    head=$(od -An -tu8 -N8 "$file" | tr -d ' ')
    at=$(head -c $((8 + head)) "$file" | grep -o '"model.embed_tokens.weight":{[^}]*}' |
        sed 's/.*"data_offsets":\[\([0-9]*\),.*/\1/')
    printf '\0\0\300\177' | dd of="$file" bs=1 seek=$((8 + head + at + 100 * 32 * 4)) conv=notrunc status=none
    program cards_bad_run $cases/demo/spec.toml $(cards 2) data.train="$work/cards_bad.jsonl" data.packing=false &&
        ! run cards_bad_run cards_bad_out "--init $model" &&
        grep -q 'error: step 1 is not finite: first on card 1, model\.embed_tokens' "$work/cards_bad_out.log"
}

# Several processes, too few cards and too few rows are refused before anything is written.
test_cards_refused() {
    local dir=$work/cards_many
    ! OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$dir/run" --out "$work/refused" >"$work/refused.log" 2>&1 &&
        grep -q 'error: rank 0: this program drives its 3 cards from one process but was started with 2 processes: start it without mpirun' "$work/refused.log" &&
        ! SIM_DEVICES=2 "$dir/run" --out "$work/refused" >"$work/refused.log" 2>&1 &&
        grep -q 'error: this program drives 3 cards, but only 2 GPUs can be seen' "$work/refused.log" &&
        [ ! -e "$work/refused" ] && head -n 2 $cases/demo/data.jsonl >"$work/few_cards.jsonl" &&
        program few_cards $cases/demo/spec.toml $(cards 3) data.train="$work/few_cards.jsonl" &&
        ! run few_cards few_cards_out "${lora_start[*]}" &&
        grep -q 'error: .*3 cards cannot share 2 training rows; lower .* to 2 or less' "$work/few_cards_out.log"
}

# As many copies run as the plan counts, for each purpose and in total.
of_kind() { # of_kind KIND FIELD FILE: prints the measured figure, which precedes the predicted one
    sed -n "/\"$1\": {/,/}/s/.*\"$2\": *\([0-9]*\).*/\1/p" "$3" | head -n 1
}
more_test_cards_are_counted() {
    local plan=$work/cards_many/plan.json report=$work/cards_many_out/report.json steps=9 kind field
    for kind in broadcast gather reduce; do
        for field in count bytes; do
            [ $((steps * $(of_kind $kind $field "$plan"))) = "$(of_kind $kind $field "$report")" ] &&
                [ "$(of_kind $kind $field "$plan")" -gt 0 ] || return 1
        done
    done
}

# The trace has one row per card, and as many copies from card to card as the report counts.
more_test_cards_profile() {
    local out=$work/cards_profile_out trace=$work/cards_profile_out/trace.json count
    program cards_profile $cases/demo/spec.toml $(cards 2) profiling.enabled=true profiling.start_step=1 \
        profiling.steps=2 training.steps=4 && run cards_profile cards_profile_out "${lora_start[*]}" || return 1
    count=$(($(of_kind broadcast count "$out/report.json") + $(of_kind gather count "$out/report.json") +
        $(of_kind reduce count "$out/report.json")))
    [ "$count" -gt 0 ] && grep -q 'card 1"' "$trace" &&
        [ "$((count / 2))" = "$(grep -c 'memcpy Peer-to-Peer' "$trace")" ] &&
        grep '"cat": "kernel"' "$trace" | grep -q '"pid": 4,'
}

# With the data set on each card, images are copied once, from the first card to the others.
more_test_cards_resident() {
    local sends keeps
    for sends in false true; do
        program cards_resident_$sends $cases/cnn/spec.toml precision.dtype=fp64 training.steps=5 $(cards 2) \
            data.device_resident=$sends &&
            run cards_resident_$sends cards_resident_${sends}_out "--init $cases/cnn/model" || return 1
    done
    keeps=$work/cards_resident_true_out
    same_results cards_resident_false_out cards_resident_true_out && [ -s "$keeps/report.json" ]
}

# SIGTERM leaves a checkpoint; a run resumed from it gives the results of an uninterrupted one.
more_test_cards_signal() {
    local dir=$work/cards_long out=$work/cards_signal code
    program cards_long $cases/demo/spec.toml "${dropout[@]}" training.steps=40 $(cards 2) &&
        run cards_long cards_whole "${lora_start[*]}" || return 1
    "$dir/run" --out "$out" "${lora_start[@]}" >"$out.log" 2>&1 &
    local pid=$!
    until grep -q '^step' "$out.log"; do kill -0 $pid || return 1; sleep 0.05; done
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code = 75 ] && run cards_long cards_signal --resume && same_results cards_whole cards_signal
}
