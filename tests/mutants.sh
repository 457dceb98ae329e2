#!/bin/sh
# mutants.sh [NAME...]
#
# Breaks the code on purpose, one place at a time, and runs the test that ought to notice. Prints
# `caught NAME by TEST` or `MISSED NAME by TEST`; exit 1 when one was missed. Each mutant is built in
# a copy of the working tree under build/mutants.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
copy=$top/build/mutants/tree
missed=0

# The test itself where it is one that make builds.
unit() { case $1 in build/unit/*) echo "$1" ;; esac; }

# mutant NAME FILE OLD NEW TEST...: OLD must stand in FILE exactly once.
mutant() {
    name=$1 file=$2 old=$3 new=$4
    shift 4
    [ -z "$wanted" ] || case " $wanted " in *" $name "*) ;; *) return ;; esac
    cp "$top/$file" "$copy/$file"
    if ! OLD=$old NEW=$new perl -0pi -e '$n = s/\Q$ENV{OLD}\E/$ENV{NEW}/g; END { exit($n != 1) }' "$copy/$file"; then
        echo "MISSED $name: $file has not exactly one place to break"
        missed=1
    elif (cd "$copy" && make -s -j2 gpuopt-gen build/libruntime.a sim $(unit "$1") && "$@") \
        >"$copy/../$name.log" 2>&1; then
        echo "MISSED $name by $*"
        missed=1
    elif grep -q 'error:.*\.[ch]:\|Error 1$' "$copy/../$name.log" && ! grep -q 'FAIL\|FAILED\|internal\|assert' "$copy/../$name.log"; then
        echo "MISSED $name: it does not build"
        missed=1
    else
        echo "caught $name by $*"
    fi
    cp "$top/$file" "$copy/$file"
}

wanted=$*
export RT="$copy" RTLIB="$copy/build/libruntime.a" SIM_OUT="$copy/build/sim" DEVICE=sim GPUOPT_DEVICE=sim
mkdir -p "$copy" || exit 1
git ls-files -z | xargs -0 cp --parents -p -t "$copy" || exit 1
if [ ! -d "$copy/build" ]; then # what is built already need not be built again
    mkdir -p "$copy/build"
    cp -a build/obj build/sim build/compiler.ok "$copy/build/" 2>/dev/null
fi

oracle="tests/oracle/run.sh --only"
mutant lora_scale gen/pass/lora.c \
    'sqrt((double)r) : (double)r);' 'sqrt((double)r) : 1.0);' $oracle demo
mutant ignored_target_counted gen/graph/ops_loss.c \
    'return step_binary(body, STEP_GE, labels, step_const_int(body, 0));' \
    'return step_binary(body, STEP_GE, labels, step_const_int(body, -1000));' $oracle packed
mutant adam_bias_correction gen/graph/ops_optimizer.c \
    'int rate = step_binary(body, STEP_DIV, lr, bias1);' 'int rate = lr; (void)bias1;' $oracle demo
mutant clip_left_out gen/graph/ops_optimizer.c \
    'g = step_binary(body, STEP_MUL, g, factor);' '' $oracle sched
mutant rope_not_inverted gen/graph/ops_attention.c \
    'rotate(op, body, true);' 'rotate(op, body, false);' $oracle odd
mutant attention_mask gen/templates/attention_fma.cu \
    'key >= starts[i] && key <= base + i' 'key >= starts[i] && key < base + i' $oracle odd
mutant gradients_not_zeroed gen/pass/optimizer.c \
    'if (p->micro_steps == 1)' 'if (p->micro_steps >= 1)' $oracle accumulate
mutant rows_lost_in_chunks gen/pass/chunk_head.c \
    'attr.accumulate |= sofar != NULL;' '' $oracle pretrain_tied
mutant border_scale_lost gen/pass/bordered.c \
    '(Attr){.alpha = s->up->attr.alpha}' '(Attr){.alpha = 1}' $oracle demo
mutant lifetime_too_short gen/plan/memory.c \
    'life->last[stream] = launch;' 'life->last[stream] = launch - 1;' $oracle demo
mutant event_wait_removed runtime/input.c \
    'CU(StreamWaitEvent, rt->streams[RT_STREAM_COMPUTE], slot->copied, 0);' '' tests/runtime/run.sh
mutant barrier_removed runtime/kernel.cuh \
    '            of_warp[threadIdx.x / 32] = v;
        __syncthreads();' \
    '            of_warp[threadIdx.x / 32] = v;' tests/sim/run.sh
mutant moment_not_saved runtime/checkpoint.c \
    '{".exp_avg_sq", param->exp_avg_sq}' '{".exp_avg_sq", param->exp_avg}' tests/runtime/run.sh
mutant rounding_lost_in_fusion gen/plan/fuse.c \
    'int rounded = step_round(body, load->value->dtype, store.arg[0]);' \
    'int rounded = step_round(body, DT_F64, store.arg[0]);' build/unit/test_fusion
exit $missed
