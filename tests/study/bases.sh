#!/bin/sh
# When make run trains the base of an experiment ([model] weights = "FILE.toml") from the beginning, and when it
# resumes it, on the simulated device. Prints `ok bases NAME` or `FAIL bases NAME`; exits with 1 if any failed.
#
#     tests/study/bases.sh [NAME...]     all tests, or those named
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
. tests/lib.sh
suite=bases
export GEN="${GPUOPT_GEN:-./gpuopt-gen}"
work=build/bases
base=build/retrained_base
export SIM_OPTIMIZE=-O0
rm -rf $work $base
mkdir -p $work

# write_base STEPS [LINE]...: the spec of the base; lines after its [training].
write_base() {
    { cat <<SPEC; shift; printf '%s\n' "$@"; } >$work/retrained_base.toml
[model]
vocab_size = 256
hidden_size = 32
intermediate_size = 64
num_hidden_layers = 1
num_attention_heads = 2
num_key_value_heads = 1
max_position_embeddings = 32
[data]
train = ["$work/text"]
eval_batches = 1
[training]
task = "pretrain"
seq_len = 32
per_device_train_batch_size = 2
steps = $1
SPEC
}
cat >$work/adapted.toml <<SPEC
extends = "$work/retrained_base.toml"
[model]
weights = "$work/retrained_base.toml"
[training]
task = "sft"
steps = 1
[lr_scheduler]
type = "constant"
warmup_steps = 0
[adapter]
type = "lora"
SPEC
text() { awk 'BEGIN { for (i = 0; i < 2000; i++) printf "%d words of number %d; ", i % 17, i % 23 }'; }

says() { grep -q -- "$1" $work/said || { echo "no \"$1\" in:" && cat $work/said && false; }; }
run_quietly() { runtime/scripts/run.sh --program "$@" >$work/said 2>&1 || { cat $work/said && false; }; }
run_adapted() { [ -e $work/adapted ] || $GEN $work/adapted.toml -o $work/adapted >/dev/null && run_quietly $work/adapted; }

# base_is_as_from_scratch: whether the base, and what is recorded with it, are what its spec gives at once.
base_is_as_from_scratch() {
    rm -rf $work/scratch
    $base/run --out $work/scratch >$work/scratch.log 2>&1 || { cat $work/scratch.log && return 1; }
    cmp $base/out/model/model.safetensors $work/scratch/model/model.safetensors &&
        cmp $base/out/model/trainer_state.json $work/scratch/model/trainer_state.json
}

# interrupted_base: a base that was stopped after its second step of four.
interrupted_base() {
    rm -rf $base/out && text >$work/text && write_base 4 && $GEN $work/retrained_base.toml -o $base >/dev/null &&
        run_quietly $base -- --steps 2
}

# A base that was stopped and then got another schedule: to train on would mix the two.
test_another_recipe_starts_over() {
    interrupted_base && write_base 4 '[lr_scheduler]' 'type = "cosine"' 'warmup_steps = 2' && run_adapted || return
    says 'has only 2 of 4 steps' &&
        says "^it starts from the beginning, because $base/out/checkpoints/step_2 was trained from another version" &&
        ! grep 'resuming from\|leave out --resume' $work/said && base_is_as_from_scratch || return
    run_adapted && ! grep 'training .*first\|^warning' $work/said
}

# A finished base whose spec asks for more steps now is not trained again without being asked.
test_finished_base_stays() {
    rm -rf $base/out && text >$work/text && write_base 2 && run_adapted && says "because $base/out/model is not there yet" &&
        find $base -printf '%P %T@\n' | sort >$work/before && write_base 3 && run_adapted || return
    says "^warning: $base/out/model was trained from another version of $work/retrained_base.toml.* make run SPEC=" &&
        ! grep 'training .*first' $work/said && find $base -printf '%P %T@\n' | sort | cmp - $work/before || return
    interrupted_base && write_base 2 && run_adapted && says '^warning: ' && ! grep 'training .*first' $work/said
}

# Of the programs that a command runs (a probe, the base, the adapted one), the first says that there is no GPU.
test_device_is_said_once() {
    [ -e /dev/nvidiactl ] && return 0 # there is a real device
    rm -rf $base/out && text >$work/text && write_base 2 && DEVICE=auto GPUOPT_DEVICE=auto run_adapted &&
        says "because $base/out/model is not there yet" && [ "$(grep -c '^no CUDA device' $work/said)" -eq 1 ]
}

# The options are of the adapted program, so they are known to be wrong before its base is trained.
test_refused_options_train_no_base() {
    rm -rf $base/out && text >$work/text && write_base 2 && $GEN $work/adapted.toml -o $work/adapted >/dev/null &&
        ! runtime/scripts/run.sh --program $work/adapted -- --stepz 1 >$work/said 2>&1 &&
        says '^error: unknown option "*--stepz' && ! grep 'training .*first' $work/said && [ ! -e $base/out ]
}

test_interrupted_base_resumes() {
    interrupted_base && run_adapted && says "^resuming from .*/$base/out/checkpoints/step_2" &&
        ! grep 'from the beginning' $work/said && base_is_as_from_scratch
}

# trainer_state.json would name the new data as if all steps had read them.
test_other_data_start_over() {
    interrupted_base && echo 'one more line' >>$work/text && run_adapted &&
        says 'step_2 was trained on other data than' && base_is_as_from_scratch
}

# The checkpoint that was written last counts, not that of the most steps.
test_last_checkpoint_counts() {
    interrupted_base && write_base 12 && $GEN $work/retrained_base.toml -o $base >/dev/null 2>&1 &&
        run_quietly $base -- --steps 1 && run_adapted &&
        says "^resuming from .*/$base/out/checkpoints/step_1," && base_is_as_from_scratch
}

# study_of_adapted: runs a study of two points that start from the base; its output is in $work/said.
study_of_adapted() {
    { cat $work/adapted.toml && printf '[sweep]\n"training.seed" = [1, 2]\n'; } >$work/seeds.toml &&
        $GEN $work/seeds.toml -o $work/seeds >/dev/null && rm -rf $work/seeds/*/out && runtime/scripts/study.sh $work/seeds >$work/said
}

# A study says when it trains its base, and does not call the base's error one of the point.
test_studies_tell_of_their_base() {
    rm -rf $base/out && text >$work/text && write_base 2 && study_of_adapted || { cat $work/said && return 1; }
    says "^  1 of 2  seed1: training $work/retrained_base.toml first, because $base/out/model is not there yet: finished in [0-9]* s with its base$" &&
        says '^  2 of 2  seed2: finished in [0-9]* s$' && rm $work/text && ! study_of_adapted &&
        says '^  2 of 2  seed2: FAILED: error: .*no such file' && rm -r $base/out && ! study_of_adapted &&
        says "^  2 of 2  seed2: training .* is not there yet: FAILED: its base $base: error: .*no such file"
}

# Ctrl-C, or a closed terminal, while the base trains: --resume would be for the adapter, which has not begun.
test_stopped_base_goes_on_by_the_same_command() {
    rm -rf $base/out $work/adapted && text >$work/text && write_base 60 && $GEN $work/adapted.toml -o $work/adapted >/dev/null ||
        return
    setsid runtime/scripts/run.sh --program $work/adapted >$work/said 2>&1 &
    until grep -q '^step 10/60' $work/said || ! kill -0 $!; do sleep 0.05; done
    kill -HUP -$! && wait $!
    [ $? -eq 129 ] && says '^Hangup: stopped after step .* go on with the same command, which resumes it$' &&
        ! grep -- --resume $work/said || return
    run_quietly $work/adapted && says "^resuming from .*/$base/out/checkpoints/step_" && base_is_as_from_scratch
}

# Given all the same, also with the folder of an adapter that has not begun.
test_stopped_base_with_resume() {
    for out in '' "--out $work/elsewhere"; do
        interrupted_base && rm -rf $work/adapted/out && run_quietly $work/adapted -- --resume $out &&
            says "^resuming from .*/$base/out/checkpoints/step_2" && says '^held-out loss after' || return
    done
}

run_tests "$@"
rm -rf $base
exit $failed
