#!/bin/bash
# Tests of the runtime with a small hand-written program (tests/runtime/program) on the simulated
# device. Prints `ok runtime NAME` or `FAIL runtime NAME`; exits with 1 if any failed.
#
#     tests/runtime/run.sh [NAME]...       all tests without a NAME
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/tests/runtime
. tests/runtime/written.sh
suite=runtime

# Builds the runtime with the warnings of the tests.
build_runtime() {
    mkdir -p "$work/objects"
    for source in $(find runtime -name '*.c' -not -path 'runtime/sim/*' -not -path 'runtime/scripts/*' \
        -not -path 'runtime/comm/mpi/*'); do
        # shellcheck disable=SC2086
        $CC $FLAGS -I. -isystem "$CUDA_HOME/include" "-DGPUOPT_RUNTIME_PARENT=\"$PWD\"" \
            -c "$source" -o "$work/objects/$(basename "$source" .c).o" || exit 1
    done
    RTLIB=$work/libruntime.a
    ar rcs "$RTLIB" "$work"/objects/*.o
}

# ---- tests: each returns success or failure
# ----------------------------------------------------------

test_learns() {
    run plain learns || return 1
    awk -v a="$(heldout learns before)" -v b="$(heldout learns after)" 'BEGIN {
        exit !(a > 5 && b < 0.8 * a) }' && says learns "step 40/40" &&
        grep -q '^- means no measurement or no prediction: the plan predicts the median time' "$work/learns/report.txt" &&
        grep -q "^FLOPs are those of the model's own work on one card" "$work/learns/report.txt" &&
        says learns "^held-out loss after: [0-9.]* (mean of 256 tokens)\$" || return 1
}

test_repeats() { run plain repeats && same_results learns repeats; }

test_without_graphs() { run uncaptured uncaptured_out && same_results learns uncaptured_out; }

test_pageable_input() { run pageable pageable_out && same_results learns pageable_out; }

test_lazy_queues() {
    for seed in 1 2 3; do
        SIM_QUEUE=lazy:$seed run plain lazy$seed && same_results learns lazy$seed || return 1
    done
}

test_nvrtc() {
    GPUOPT_JIT=1 run plain jit && same_results learns jit || return 1
    rm "$work/plain/kernels.sim" # the cached module is enough
    local part
    part=$(echo "$work"/plain/kernels.nvrtc.1_of_*.cubin) # of as many as there are processors
    GPUOPT_JIT=1 run plain jit2 && same_results learns jit2 &&
        : > "$part" && # a crash may leave an empty file
        GPUOPT_JIT=1 run plain jit3 --steps 1 && [ -s "$part" ]
    local code=$?
    "$SIM_OUT/simcc" -I"$PWD" "$work/plain/kernels.cu" -o "$work/plain/kernels.sim"
    return $code
}

# The last of the simulated algorithms is the fastest, and later runs use it.
test_tune() {
    local products=$work/plain/products.json
    export SIM_ALGORITHMS=3
    SIM_ALGORITHMS=1 run plain tuned_one --tune && says tuned_one "one algorithm for each product" &&
        run plain tuned --tune && says tuned "logits .*algorithm 3 of 3" && ! says tuned "one algorithm" &&
        says tuned "times of the simulated device, a CPU; they say nothing about a GPU" && [ -s "$products" ] &&
        run plain with_tuned && says with_tuned "matrix products use the algorithms that --tune" &&
        same_results learns with_tuned && grep -q '"tuned_products": true' "$work/with_tuned/report.json" &&
        grep -q '"gemm_algorithms": \[2' <(tr -d '\n ' < "$(ls "$work"/with_tuned/checkpoints/*/*.json | head -1)" |
            sed 's/:\[/: [/g') &&
        SIM_ALGORITHMS=2 run plain tuned_fewer && says tuned_fewer "products.json: has algorithms that cuBLASLt does not accept" &&
        sed -i 's/"cublaslt": /"cublaslt": 9/' "$products" &&
        run plain tuned_other && says tuned_other "products.json: was measured on another device, or with another cuBLASLt" &&
        echo '{' > "$products" && run plain tuned_broken && says tuned_broken "products.json: .*: using cuBLASLt's own choice" &&
        same_results learns tuned_broken && grep -q '"tuned_products": false' "$work/tuned_broken/report.json"
    local code=$?
    unset SIM_ALGORITHMS
    rm -f "$products"
    return $code
}

# Whether products.json can be written is checked before anything is measured; if it is not a
# regular file it is not read, because that might never end.
test_tune_finds_its_place() {
    local products=$work/plain/products.json
    mkfifo "$products"
    run plain tuned_fifo --tune
    [ $? = 1 ] && says tuned_fifo "error: .*products.json: is no regular file; remove it" &&
        ! says tuned_fifo "library's" && run plain beside_fifo &&
        says beside_fifo "products.json: is not a regular file: using cuBLASLt's own choice" && same_results learns beside_fifo
    local code=$?
    rm "$products"
    mkdir "$work/plain/.products.json.tmp"
    run plain tuned_shut --tune
    [ $? = 1 ] && [ $code = 0 ] && says tuned_shut "error: .*products.json: cannot be written: Is a directory" &&
        ! says tuned_shut "library's"
    code=$?
    rmdir "$work/plain/.products.json.tmp"
    return $code
}

# There is nothing to save, so it ends immediately, and later runs use the library's choice.
test_tune_ends_at_signal() {
    (cd "$work/plain" && SIM_ALGORITHMS=4 exec ./run --tune > "$work/tune_ends.log" 2>&1) &
    until grep -q algorithm "$work/tune_ends.log" 2>/dev/null; do kill -0 $! || return 1; sleep 0.05; done
    kill -TERM $!
    wait $!
    [ $? = 143 ] && [ ! -e "$work/plain/products.json" ]
}

test_other_seed_differs() { run plain seeded --seed 2 && ! same_results learns seeded; }

test_evaluates_only() {
    run plain evaluates --steps 0 && [ "$(heldout evaluates before)" = "$(heldout learns before)" ] &&
        [ ! -e "$work/evaluates/checkpoints" ]
}

# An evaluation leaves earlier results as they are, unless --out says where to write.
test_evaluation_leaves_results() {
    (cd "$work/plain" && ./run --steps 2 && cp -r out kept && ./run --steps 0) > "$work/leaves.log" 2>&1 &&
        says leaves "keeping the results of the earlier training run" && diff -r "$work/plain/out" "$work/plain/kept" &&
        (cd "$work/plain" && ./run --steps 0 --out kept && ! cmp -s out/loss.csv kept/loss.csv && rm -r out kept) \
            >> "$work/leaves.log" 2>&1
}

test_init_continues() {
    run plain init --init "$work/learns/model" --steps 0 || return 1
    awk -v a="$(heldout init before)" -v b="$(heldout learns after)" 'BEGIN {
        exit !((a - b) / b < 2e-3 && (b - a) / b < 2e-3) }'
}

test_evaluates_between() {
    local eval=$work/often_whole/eval.csv
    run often often_whole && same_results learns often_whole &&
        says often_whole "held-out top1 at step 16: 0" &&
        run often often_parts --steps 16 && run often often_parts --resume &&
        same_results learns often_parts && cmp -s "$eval" "$work/often_parts/eval.csv" || return 1
    [ "$(cut -d, -f1 "$eval" | tr '\n' ' ')" = "step 0 8 16 24 32 40 " ] &&
        awk -F, 'NR == 2 { before = $3 } END { exit !($3 > before && $3 < 1) }' "$eval"
}

# The report also has the held-out figures from before the first step.
test_resume_is_exact() {
    run plain resumed --steps 20 && run plain resumed --resume && same_results learns resumed &&
        ! says resumed "held-out loss before" && cmp -s "$work/learns/eval.csv" "$work/resumed/eval.csv" &&
        cmp -s <(grep '^held-out .* before ' "$work/learns/report.txt") \
            <(grep '^held-out .* before ' "$work/resumed/report.txt")
}

# without_rates CHECKPOINT: makes it one of an earlier version.
without_rates() {
    python3 - "$1" <<'CODE'
import json, sys, zlib
state, meta = sys.argv[1] + "/state.safetensors", sys.argv[1] + "/meta.json"
data = open(state, "rb").read().replace(b'"lr":', b'"l_":')
open(state, "wb").write(data)
facts = json.load(open(meta))
del facts["crc32"], facts["evaluations"]
facts["state_crc32"] = "%08x" % zlib.crc32(data)
facts["crc32"] = "%08x" % zlib.crc32(json.dumps(facts, separators=(",", ":"), sort_keys=True).encode())
json.dump(facts, open(meta, "w"))
CODE
}

# Steps keep the learning rate that they had, although the program that resumes has another.
test_resume_keeps_learning_rates() {
    rates() { cut -d, -f 1,4 "$work/$1/loss.csv"; }
    run plain slowed --steps 20 && cp -r "$work/slowed" "$work/unknown" && without_rates "$work/unknown/checkpoints/step_20" &&
        run faster slowed --steps 30 --resume && rm "$work/slowed/loss.csv" && run faster slowed --resume &&
        run faster unknown --resume && run faster fast || return 1
    { rates learns | head -n 21 && rates fast | tail -n 20; } | cmp - <(rates slowed) &&
        ! cmp -s <(rates fast) <(rates slowed) && cmp <(rates fast) <(rates unknown)
}

test_resume_is_exact_with_micro_steps() {
    run micro micro_whole && run micro micro_resumed --steps 10 &&
        run micro micro_resumed --resume && same_results micro_whole micro_resumed
}

# stays PROGRAM OUT SAYS [OPTION]...: resuming prints SAYS, and rewrites none of OUT's files.
stays() {
    local program=$1 out=$2 fact=$3
    shift 3
    find "$work/$out" -printf '%P %i %T@ %s\n' | sort > "$work/before"
    run "$program" "$out" --resume "$@" && says "$out" "^$fact: nothing to do" &&
        find "$work/$out" -printf '%P %i %T@ %s\n' | sort | cmp -s - "$work/before"
}

test_resume_of_a_finished_run() {
    mkdir -p "$work/before.d"
    run often finished --steps 8 && stays often finished "already at step 8 of 8" --steps 8 &&
        stays often finished "already at step 8, past the 3 of --steps" --steps 3 &&
        mv "$work/finished/report.json" "$work/finished/eval.csv" "$work/before.d/" &&
        run often finished --resume --steps 8 && [ -e "$work/finished/report.json" ] &&
        cmp "$work/finished/eval.csv" "$work/before.d/eval.csv" &&
        stays often finished "already at step 8 of 8" --steps 8 &&
        run often finished --resume && same_results learns finished &&
        stays often finished "already at step 40 of 40"
}

# A run that started over was killed after its last checkpoint: the results are those of the run before it,
# although both are at the same step.
test_resume_next_to_results_of_another_run() {
    run plain another --seed 5 --steps 8 && run plain over --steps 8 &&
        rm -r "$work/over/checkpoints" && cp -r "$work/another/checkpoints" "$work/over/" &&
        run plain over --resume --seed 5 --steps 8 && same_results another over &&
        stays plain over "already at step 8 of 8" --seed 5 --steps 8
}

# A save of the same step exchanges the two folders, so nothing is set aside, and what was once is left alone.
test_replaced_checkpoint() {
    local saved=$work/exchanged/checkpoints
    run plain exchanged --steps 3 && mkdir "$saved/.replaced" && run plain exchanged --seed 5 --steps 3 &&
        run plain fresh --seed 5 --steps 3 && [ -d "$saved/.replaced" ] && [ ! -e "$saved/.writing" ] &&
        cmp "$saved/step_3/state.safetensors" "$work/fresh/checkpoints/step_3/state.safetensors"
}

test_signal_then_resume() {
    local name
    run long long_whole || return 1
    for name in TERM INT HUP; do
        : > "$work/sig$name.log"
        (cd "$work/long" && exec ./run --out "$work/sig$name") > "$work/sig$name.log" 2>&1 &
        local pid=$!
        until grep -q "step 5/" "$work/sig$name.log" || ! kill -0 $pid; do sleep 0.01; done
        kill -"$name" $pid
        wait $pid
        [ $? = 75 ] && says "sig$name" "go on with --resume" || return 1
        run long "sig$name" --resume && same_results long_whole "sig$name" || return 1
    done
}

# A run that starts over names the checkpoint of one that was stopped; not if that one ended, and not
# if it goes on.
test_names_a_stopped_run() {
    local note="$work/stopped/checkpoints/step_20: there is a checkpoint of step 20, .*--resume"
    run plain stopped --steps 20 && run plain stopped --steps 20 && ! says stopped "there is a checkpoint" &&
        rm "$work/stopped/report.json" && run plain stopped --steps 2 && says stopped "^$note" &&
        run plain stopped --resume "$work/stopped/checkpoints/step_20" && ! says stopped "there is a checkpoint" &&
        same_results learns stopped
}

test_names_other_results() {
    local note="^$work/variant: the results there are of a run with other settings; this run will replace"
    run plain variant --steps 2 && run plain variant --steps 1 && ! says variant "other settings" &&
        sed -i 's/"spec_sha256": "[^"]*"/"spec_sha256": "another"/' "$work/variant/report.json" &&
        run plain variant --steps 1 && says variant "$note" &&
        run plain variant --steps 1 && ! says variant "other settings" &&
        run plain variant --steps 1 --seed 5 && says variant "$note"
}

# A shorter run would replace a longer one's model. As many steps, or more, give the same and go on.
test_names_longer_results() {
    run plain shorter --steps 4 && run plain shorter --steps 4 && ! says shorter "the results there" || return 1
    run plain shorter --steps 2 &&
        says shorter "^$work/shorter: the results there are of a run of 4 steps, more than this one's 2; this run will replace" &&
        run plain shorter --steps 4 && ! says shorter "the results there" &&
        run plain shorter --steps 0 && ! says shorter "the results there are"
}

# sources HASH: of what spec the sources beside the program are; without it, there are none.
sources() { [ -z "$1" ] || echo "# a spec with every key that has an effect; spec_sha256 $1" > "$work/plain/spec.toml"; }

# Those beside it may have been generated for another spec since. A program may also be without sources.
test_names_newer_sources() {
    local code hash
    sources "$(printf '1%063d' 0)" && run plain older --steps 0 &&
        [ "$(grep -c "^warning: this program is older than .*: make -C $work/plain builds it\$" "$work/older.log")" = 1 ]
    code=$?
    for hash in "$(printf '%064d' 0)" ''; do
        rm "$work/plain/spec.toml"
        sources "$hash" && run plain older --steps 0 && ! says older warning || code=1
    done
    mkfifo "$work/plain/spec.toml" && run plain older --steps 0 && ! says older warning || code=1
    rm "$work/plain/spec.toml"
    return $code
}

# Started as by nohup.
test_outlives_its_terminal() {
    : > "$work/nohup.log"
    (trap '' HUP && cd "$work/long" && exec ./run --out "$work/nohup") > "$work/nohup.log" 2>&1 &
    local pid=$!
    until grep -q "step 5/" "$work/nohup.log" || ! kill -0 $pid; do sleep 0.01; done
    kill -HUP $pid
    wait $pid
    [ $? = 0 ] && same_results long_whole nohup
}

# All steps are done, but not what follows them: the signal arrives while the checkpoint is read.
test_signal_behind_the_last_step() {
    run plain last --steps 2 && rm "$work/last/report.json" || return 1
    SIM_RAISE=TERM:memcpy:1 run plain last --steps 2 --resume
    [ $? = 75 ] && says last "step 2 of 2, .* --resume .*, which evaluates it and writes the results" &&
        [ ! -e "$work/last/report.json" ] && run plain last --steps 2 --resume && [ -s "$work/last/report.json" ]
}

# A run that is stopped leaves the results of the one before, and says so.
test_names_results_of_an_earlier_run() {
    run plain earlier --steps 1 || return 1
    SIM_RAISE=TERM:memcpy:1 run plain earlier --steps 2
    [ $? = 75 ] && says earlier "^$work/earlier: the results there are still those of an earlier run, which ended at step 1\$" &&
        rm "$work/earlier/report.json" || return 1
    SIM_RAISE=TERM:memcpy:1 run plain earlier --steps 2
    [ $? = 75 ] && says earlier "checkpoint written" && ! says earlier "earlier run"
}

# Refused before anything is trained. A run that only evaluates exports nothing.
test_model_that_cannot_be_written() {
    mkdir -p "$work/unexported" && mkfifo "$work/unexported/model" || return 1
    run plain unexported
    [ $? = 1 ] && says unexported "error: $work/unexported/model: cannot write results there: Not a directory; move it away" &&
        ! says unexported "held-out loss" && run plain unexported --steps 0 || return 1
    ln -sfn nowhere "$work/unexported/model" && ! run plain unexported &&
        says unexported "error: $work/unexported/model: cannot write results there: No such file or directory; move it away"
}

# Refused before anything is trained. Nothing ever writes to the FIFO.
test_report_that_cannot_be_written() {
    local options
    run plain unreported --steps 2 && rm "$work/unreported/report.json" && mkfifo "$work/unreported/report.json" || return 1
    for options in "--seed 1" "--steps 2 --resume"; do
        # shellcheck disable=SC2086 # the options are words
        run plain unreported $options
        [ $? = 1 ] && says unreported "error: $work/unreported/report.json: is no regular file; remove it, or .*--out$" &&
            ! says unreported "step 1/" || return 1
    done
    rm "$work/unreported/report.json" "$work/unreported/report.txt" && mkdir "$work/unreported/report.txt" && ! run plain unreported &&
        says unreported "error: $work/unreported/report.txt: is no regular file" && ! says unreported "held-out loss"
}

test_keeps_latest() {
    [ "$(ls "$work/learns/checkpoints")" = "$(printf 'step_30\nstep_40')" ]
}

# flip FILE BYTE: flips the lowest bit of a byte of a file.
flip() {
    local byte
    byte=$(od -An -tu1 -j"$2" -N1 "$1")
    printf "%b" "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

test_flipped_bit() {
    run plain flipped --steps 10 || return 1
    local state=$work/flipped/checkpoints/step_10/state.safetensors
    flip "$state" $(($(stat -c %s "$state") - 1000))
    run plain flipped --resume
    [ $? = 1 ] && says flipped "error:.*state.safetensors"
}

test_truncated_checkpoint() {
    run plain cut --steps 10 || return 1
    truncate -s -4096 "$work/cut/checkpoints/step_10/state.safetensors"
    run plain cut --resume
    [ $? = 1 ] && says cut "error:.*state.safetensors"
}

# The checkpoint is truncated while it is read, after its first tensors have been copied to the
# device: the first 14 copies are those of a fresh start.
test_checkpoint_cut_short() {
    run plain cut --steps 10 || return 1
    local state=$work/cut/checkpoints/step_10/state.safetensors
    (cd "$work/plain" && SIM_RAISE=STOP:memcpy:20 exec ./run --out "$work/cut" --resume) > "$work/cut.log" 2>&1 &
    local pid=$!
    until grep -q "^State:.T" /proc/$pid/status || ! kill -0 $pid; do sleep 0.01; done
    : > "$state"
    kill -CONT $pid
    wait $pid
    [ $? = 1 ] && says cut "^error: $state: was truncated while this run was reading it"
}

# Nothing ever writes to the FIFO.
test_checkpoint_without_a_file() {
    run plain piped --steps 10 || return 1
    rm "$work/piped/checkpoints/step_10/meta.json" && mkfifo "$work/piped/checkpoints/step_10/meta.json"
    run plain piped --resume
    [ $? = 1 ] && says piped "error:.*step_10/meta.json: cannot be read"
}

test_damaged_checkpoint_is_passed_over() {
    run plain passed --steps 20 && truncate -s -4096 "$work/passed/checkpoints/step_20/state.safetensors" &&
        run plain passed --resume && says passed "warning: .*step_20/state.safetensors: is damaged" &&
        says passed "warning: .*resuming from step 10" && same_results learns passed
}

# The first steps create graphs and fill caches, so their times do not predict those of later steps.
test_time_left() {
    says learns "step 1/40 .*norm [0-9.e+-]*$" && says learns "step 10/40 .*tok/s  eta [0-9]" &&
        says learns "step 40/40 .*eta 0s"
}

# Even if the first loss arrives only after the last step was enqueued.
test_short_run_shows_its_first_step() {
    local steps
    for steps in 1 2 4; do
        run plain "short$steps" --steps $steps && ! says "short$steps" "tok/s" &&
            [ "$(sed -n 's/^step \([0-9]*\).*/\1/p' "$work/short$steps.log" | sed -n '1p;$p' | xargs)" = "1 $steps" ] ||
            return 1
    done
}

# The percentiles of the time of one step, without the first, would only repeat it.
test_one_step_has_no_percentiles() {
    local none='^iteration, p[19]0 ms  *-  *-$'
    run plain timed2 --steps 2 && [ "$(grep -c "$none" "$work/timed2/report.txt")" = 2 ] &&
        grep -q '"p10": null' "$work/timed2/report.json" && grep -q '^iteration, median ms  *[0-9]' "$work/timed2/report.txt" &&
        run plain timed3 --steps 3 && ! grep -q "$none" "$work/timed3/report.txt"
}

test_full_disk() {
    local none="error: .*; this run has nothing to resume from: free some space and start again"
    (ulimit -f 50 && run plain full --steps 10)
    [ $? = 1 ] && says full "$none" && run plain full --steps 10 || return 1
    (ulimit -f 50 && run plain full --steps 20)
    [ $? = 1 ] && says full "$none" || return 1
    (ulimit -f 50 && run plain full --resume)
    [ $? = 1 ] && says full "error: .*; earlier checkpoints are untouched: " || return 1
    [ "$(ls "$work/full/checkpoints")" = step_10 ] && run plain full --resume &&
        same_results learns full
}

test_bad_step() {
    local where
    cp "$work/plain/train.txt" "$work/plain/good.txt"
    for where in 5000 20000; do
        printf '\377' | dd of="$work/plain/train.txt" bs=1 seek=$where conv=notrunc status=none
    done
    for where in $(seq 1000 500 30000); do
        printf '\377' | dd of="$work/plain/train.txt" bs=1 seek="$where" conv=notrunc status=none
    done
    run plain bad
    local code=$?
    mv "$work/plain/good.txt" "$work/plain/train.txt"
    [ $code = 1 ] && says bad "error: step [0-9]* is not finite: first x\["
}

test_dump() {
    run plain dumped --dump "$work/dump.safetensors" && same_results learns dumped || return 1
    local name
    for name in input_ids labels loss logits grad.lm_head.weight new.model.embed_tokens.weight; do
        head -c 4096 "$work/dump.safetensors" | grep -q "\"$name\"" || return 1
    done
}

# Refused before anything is trained.
test_dump_that_cannot_be_written() {
    run plain undumped --dump "$work/nowhere/dump.safetensors"
    [ $? = 1 ] && says undumped "error: --dump: $work/nowhere/dump.safetensors: cannot be written: No such .*; name another file" &&
        ! says undumped "held-out loss" || return 1
    run plain undumped --dump "$work"
    [ $? = 1 ] && says undumped "error: --dump: $work: is no regular file; name another file$" && ! says undumped "held-out loss"
}

# Refused before anything is trained; other files in the out folder are not results.
test_dump_over_results() {
    local file out=$work/dumped_over
    run plain dumped_over --steps 1 || return 1
    for file in report.json report.txt loss.csv eval.csv trace.json cuda_api_sum.csv reference.json \
        model adapter model/model.safetensors checkpoints/step_1/state.safetensors ../dumped_over/report.json; do
        [ ! -d "$out/$file" ] || continue # "is no regular file"
        run plain dumped_over --dump "$out/$file"
        [ $? = 1 ] && says dumped_over "error: --dump: $out/$file: this run writes results there; name another file$" &&
            ! says dumped_over "held-out loss" || return 1
    done
    run plain dumped_over --steps 1 --dump "$out/dump.safetensors" && [ -s "$out/dump.safetensors" ]
}

# Only an earlier dump is replaced, wherever it is.
test_dump_over_another_file() {
    local file
    cp -r "$work/learns/model" "$work/some_model"
    for file in plain/run plain/kernels.cu plain/train.txt some_model/model.safetensors; do
        cp "$work/$file" "$work/kept" && run plain dumped_in --steps 1 --dump "$work/$file"
        [ $? = 1 ] && says dumped_in "error: --dump: $work/$file: exists, and is no dump of an earlier run; name another file$" &&
            ! says dumped_in "held-out loss" && cmp "$work/kept" "$work/$file" || return 1
    done
    for file in plain/dump earlier_dump; do
        run plain dumped_in --steps 1 --dump "$work/$file" && run plain dumped_in --steps 1 --dump "$work/$file" &&
            rm "$work/$file" || return 1
    done
}

test_missing_weights() {
    run plain noinit --init "$work/nothing"
    [ $? = 1 ] && says noinit "error: .*nothing: there is no such folder; train" && [ ! -e "$work/noinit" ]
}

test_other_shape() {
    run narrow narrow_out --init "$work/learns/model"
    [ $? = 1 ] && says narrow_out "lm_head.weight has shape \[256, 16\].*\[256, 8\]"
}

# Of a tensor of the model, one byte in the header makes integers of the same size.
test_integer_weights() {
    cp -r "$work/learns/model" "$work/integers"
    sed -i '1s/\("lm_head.weight":{"dtype":"\)F32/\1I32/' "$work/integers/model.safetensors"
    run plain integers_out --init "$work/integers"
    [ $? = 1 ] && says integers_out "integers: tensor lm_head.weight has the integer type I32, but .*; save it as F32"
}

test_other_configuration() {
    cp -r "$work/learns/model" "$work/other"
    sed -i 's/10000\.0/5000.0/' "$work/other/config.json"
    run plain other_out --init "$work/other"
    [ $? = 1 ] && says other_out "config.json: rope_theta is 5000" || return 1
    echo '{' > "$work/other/config.json"
    run plain other_out --init "$work/other"
    [ $? = 1 ] && says other_out "config.json:2: not valid JSON" || return 1
    rm "$work/other/config.json"
    run plain other_out --init "$work/other"
    [ $? = 1 ] && says other_out "config.json: cannot be read: No such file" || return 1
    mkfifo "$work/other/config.json"
    run plain other_out --init "$work/other"
    [ $? = 1 ] && says other_out "config.json: cannot be read: it is not a regular file"
}

# In this variant the embedding counts as the adapter.
test_adapter() {
    mkdir -p "$work/adapter"
    cp "$work/learns/model/model.safetensors" "$work/adapter/adapter_model.safetensors"
    echo '{"r": 16}' > "$work/adapter/adapter_config.json"
    run plain whole --init "$work/learns/model" --steps 0 &&
        run adapted parts --init "$work/learns/model" --adapter "$work/adapter" --steps 0 &&
        [ "$(heldout parts before)" = "$(heldout whole before)" ] || return 1
    run adapted without --init "$work/learns/model" --no-adapter --steps 0 &&
        [ "$(heldout without before)" = 5.545177 ] || return 1 # ln 256: all logits are zero
    echo '{"r": 8}' > "$work/adapter/adapter_config.json"
    run adapted differs --adapter "$work/adapter"
    [ $? = 1 ] && says differs "adapter_config.json: r is 8"
}

# The toolkit's own NVRTC compiles for a device that is not present.
test_real_nvrtc() {
    mkdir -p "$work/real"
    cp "$work/plain/layout.h" "$work/plain/kernels.cu" "$work/real"
    # shellcheck disable=SC2086
    $CC $FLAGS -I. -isystem "$CUDA_HOME/include" tests/runtime/program/jit.c \
        "$RTLIB" -ljansson -lz -ldl -lm -lpthread -o "$work/real/jit" || return 1
    "$work/real/jit" "$work/real" > "$work/real.log" 2>&1 && says real "kernels.nvrtc.1_of_.*.cubin" &&
        [ "$(od -An -tx1 -N4 "$work"/real/kernels.nvrtc.1_of_*.cubin)" = " 7f 45 4c 46" ] || return 1
    echo "int broken = ;" >> "$work/real/kernels.cu"
    "$work/real/jit" "$work/real" > "$work/real.log" 2>&1
    [ $? = 1 ] && says real "kernels.cu($(wc -l < "$work/real/kernels.cu")).*error"
}

test_options() {
    run plain options --steps 41
    [ $? = 1 ] && says options "error: --steps 41.*training.steps" || return 1
    run plain options --steps -1
    [ $? = 1 ] && says options "error: --steps -1: .*only evaluates" || return 1
    run plain options --seed -1
    [ $? = 1 ] && says options "error: --seed -1: give a number from 0 to 9007199254740992" || return 1
    run plain options --stpes 4
    [ $? = 1 ] && says options "error: unknown option --stpes" || return 1
    run plain options --no-adapter --steps 0
    [ $? = 1 ] && says options "error: --no-adapter: this program has no adapter" || return 1
    run plain options --adapter "$work"
    [ $? = 1 ] && says options 'error: --adapter: this program has no adapter; .* adapter.type = "lora"' || return 1
    run plain options --tune --resume
    [ $? = 1 ] && says options "error: --tune .* runs nothing else" || return 1
    run plain options --steps 0 --seed 1 --steps 0
    [ $? = 1 ] && says options "error: --steps is given twice" || return 1
    run plain options --merge --steps
    [ $? = 1 ] && says options "error: --merge needs an argument: --merge DIR; see --help" || return 1
    (cd "$work/plain" && ./run --out "") > "$work/options.log" 2>&1
    [ $? = 1 ] && says options "error: --out is followed by an empty argument" || return 1
    run plain options --help --stpes 4
    [ $? = 1 ] && says options "error: unknown option --stpes" && ! says options "usage: " || return 1
    run plain options -h && says options "usage: " && run plain options --help && says options "--resume"
}

# Refused before anything is trained.
test_out_folder() {
    (cd "$work/plain" && ./run --out train.txt) > "$work/taken.log" 2>&1
    [ $? = 1 ] && says taken "error: train.txt: cannot write results there: Not a directory" &&
        ! says taken "held-out loss" || return 1
    mkdir -p "$work/shut" && : > "$work/shut/checkpoints" && ! run plain shut &&
        says shut "error: .*shut/checkpoints: cannot write checkpoints there: Not a directory" &&
        ! says shut "held-out loss" || return 1
    mkdir -p "$work/locked"
    flock "$work/locked" sh -c "cd '$work/plain' && ./run --out '$work/locked'" > "$work/locked.log" 2>&1
    [ $? = 1 ] && says locked "another run is writing its results there" && [ -z "$(ls "$work/locked")" ]
}

# Needs neither data nor kernels, and leaves no results.
test_probe() {
    mv "$work/plain/kernels.sim" "$work/kernels.away" || return 1
    GPUOPT_DEVICE=sim run plain probed --probe
    local code=$?
    mv "$work/kernels.away" "$work/plain/kernels.sim"
    [ $code = 0 ] && [ ! -s "$work/probed.log" ] && [ ! -e "$work/probed" ] || return 1
    [ -e /dev/nvidiactl ] && return 0 # there is a real device
    GPUOPT_DEVICE=cuda run plain probed --probe
    [ $? = 1 ] && says probed "error:.*DEVICE=sim"
}

# A driver does not load what a toolkit of the next major version has compiled.
test_old_driver() {
    SIM_DRIVER=11080 run plain old_driver
    [ $? = 1 ] && says old_driver "error: .*/kernels.sim: the driver is for CUDA 11.8 and cannot load what CUDA" &&
        says old_driver "or build with a toolkit of CUDA 11 (CUDA_HOME)\$"
}

test_no_silent_simulation() {
    [ -e /dev/nvidiactl ] && return 0 # there is a real device
    GPUOPT_DEVICE=auto SLURM_JOB_ID=1 run plain batch
    [ $? = 1 ] && says batch "error:.*DEVICE=sim" || return 1
    GPUOPT_DEVICE=cuda run plain cuda
    [ $? = 1 ] && says cuda "error:.*DEVICE=sim" || return 1
    GPUOPT_DEVICE=auto run plain auto --steps 0 &&
        says auto "no CUDA device.*running on the simulated device" &&
        GPUOPT_DEVICE_SAID=1 GPUOPT_DEVICE=auto run plain said_before --steps 0 && ! says said_before "no CUDA device"
}

# A driver without a device: each of its functions returns CUDA_ERROR_NO_DEVICE.
test_driver_without_device() {
    mkdir -p "$work/stub"
    nm -D --defined-only "$SIM_OUT/libcuda.so.1" | sed -n 's/.* T \(cu[A-Z].*\)/int \1(void) { return 100; }/p' |
        $CC -shared -fPIC -x c - -o "$work/stub/libcuda.so.1" || return 1
    LD_LIBRARY_PATH=$work/stub GPUOPT_DEVICE=auto run plain stub &&
        says stub "no CUDA device (the CUDA driver says.*running on the simulated device" &&
        same_results learns stub
}

test_out_of_memory() {
    SIM_MEMORY_GIB=0.001 run large oom
    [ $? = 1 ] && says oom "error: the device has too little memory for"
}

test_profiling() {
    run profiled profiled_out && same_results learns profiled_out &&
        [ -s "$work/profiled_out/trace.json" ] && [ -s "$work/profiled_out/cuda_gpu_kern_sum.csv" ] || return 1
    local stream
    for stream in compute copy; do
        [ "$(grep -c "\"name\": \"thread_name\", \"args\": {\"name\": \"$stream\"}" "$work/profiled_out/trace.json")" = 1 ] ||
            return 1
    done
}

# recorded OUT CATEGORY: prints the number of such records in the trace.
recorded() { grep -c "\"cat\": \"$2\"" "$work/$1/trace.json"; }

# An evaluation and a checkpoint in the window are not recorded, but the copies before them: of losses,
# norms and the number of a bad step, as at the end of the window.
test_profiling_pauses() {
    [ -e "$work/profiled_out/trace.json" ] || run profiled profiled_out || return 1
    run paused paused_out && says paused_out "held-out loss at step 4" && [ -d "$work/paused_out/checkpoints/step_36" ] &&
        same_results learns paused_out || return 1
    for category in kernel memset; do
        [ "$(recorded paused_out $category)" = "$(recorded profiled_out $category)" ] || return 1
    done
    [ "$(recorded paused_out copy)" = $(($(recorded profiled_out copy) + 3)) ]
}

# no_window OUT: whether the run left a report without files of a profiling window.
no_window() {
    [ -s "$work/$1/report.json" ] && [ ! -e "$work/$1/trace.json" ] && ! ls "$work/$1"/cuda_*.csv 2> /dev/null
}

# A run without a window says why, and leaves none of an earlier run beside its report. Steps before the
# window count from the resume.
test_profiling_without_a_window() {
    local reason="^profiling: no step is recorded, because this run takes" next
    for next in "profiled --steps 3" "plain" "plain --steps 0"; do
        run profiled windowless --steps 4 && [ -s "$work/windowless/trace.json" ] &&
            grep -q '"window": \[4, 4\]' "$work/windowless/trace.json" && ! says windowless "^profiling" &&
            run ${next%% *} windowless ${next#"${next%% *}"} && no_window windowless || return 1
        case $next in
        *3) says windowless "$reason 3 steps and the window begins after 3; lower profiling.start_step" ;;
        *) ! says windowless "^profiling" ;;
        esac || return 1
    done
    run profiled near_end --steps 38 && run profiled near_end --resume && no_window near_end &&
        says near_end "$reason 2 steps and the window begins after 3; lower profiling.start_step" &&
        run profiled in_time --steps 36 && run profiled in_time --resume &&
        grep -q '"window": \[40, 40\]' "$work/in_time/trace.json" && ! says in_time "^profiling"
}

# The host never waits for a stream inside a step: 40 steps have as many such waits as 20.
test_no_sync_in_a_step() {
    local n
    for n in 20 30; do
        SIM_COUNTS=$work/counts$n.json run quiet "quiet$n" --steps $n || return 1
        grep -o '"cu[A-Za-z_0-9]*Synchronize[A-Za-z_0-9]*": *[0-9]*' "$work/counts$n.json" |
            grep -v Event | sort > "$work/syncs$n"
    done
    [ -s "$work/syncs20" ] && cmp -s "$work/syncs20" "$work/syncs30"
}

build_runtime
program plain
program uncaptured -DCUDA_GRAPH=false
program pageable -DPIN_MEMORY=false
program micro -DMICRO_STEPS=3
program often -DEVAL_EVERY=8
program faster -DLR=0.05
program narrow -DHIDDEN=8
program adapted -DADAPTER=true
program profiled -DPROFILING=true
program paused -DPROFILING=true -DEVAL_EVERY=4 -DINTERVAL=4
program quiet -DINTERVAL=0
program long -DSTEPS=800 -DINTERVAL=0
program large -DWORKSPACE=1000000
run_tests ${1:+learns "$@"} # which the others need
exit $failed
