#!/bin/bash
# Tests of several ranks on the simulated device: how they start, stop and fail. The program is written by
# hand; those of ranks_cases.sh are emitted. Prints `ok ranks NAME` or `FAIL ranks NAME`; exits with 1 if any failed.
#
#     tests/runtime/ranks.sh [--all | --rest | NAME...]
#
# Tests send signals to ranks, because mpirun forwards a
# signal and kills the ranks a second later.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/tests/ranks
. tests/runtime/written.sh
. tests/runtime/ranks_cases.sh
# shellcheck disable=SC2034 # read by run_tests
sources="tests/runtime/ranks.sh tests/runtime/ranks_cases.sh"
suite=ranks
LIMIT_S=5 # comm_timeout_s of the program that must detect a stopped rank

# The settings that `make run` passes to mpirun as options.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# What a rank may wait for when another one fails in a step; how its line ends.
WAITS="\(the device's work up to step [0-9]* with all_reduce\|the exchange of signals of step [0-9]*\)"
GO_ON="; continue from the last checkpoint with --resume$"

# A launcher that ignores a signal is killed, so that the test fails instead of hanging.
MPIRUN="timeout -k 10 60 mpirun"

# ranked NAME [-DMACRO=VALUE]...: builds a program and the MPI library that it opens.
ranked() {
    program "$@"
    cp "$work/libgpuopt_mpi.so" "$work/$1"
}

# ranks NP PROGRAM OUT [OPTION]...: like run, with NP processes.
ranks() {
    local np=$1 dir=$work/$2 out=$work/$3
    shift 3
    (cd "$dir" && $MPIRUN -np "$np" ./run --out "$out" "$@") > "$out.log" 2>&1
}

# pid_of OUT RANK: prints the process of a rank of the run that writes to OUT.
pid_of() {
    local file
    for file in $(grep -lsz -x -e "$work/$1" /proc/[0-9]*/cmdline); do
        grep -qsz -x "OMPI_COMM_WORLD_RANK=$2" "${file%cmdline}environ" && basename "${file%/cmdline}"
    done
}

# interrupt PROGRAM OUT RANK SIGNAL: starts 3 ranks, sends RANK the signal after the second
# checkpoint, and returns their exit code; `waited` is how long they took after the signal.
interrupt() {
    local out=$2 began job process
    : > "$work/$out.log"
    ranks 3 "$1" "$out" &
    job=$!
    until process=$(pid_of "$out" "$3"); [ -n "$process" ] || ! kill -0 $job 2> /dev/null; do :; done
    until [ -e "$work/$out/checkpoints/step_20" ] || ! kill -0 $job 2> /dev/null; do sleep 0.02; done
    began=$(date +%s)
    kill -"$4" "$process"
    wait $job
    local code=$?
    waited=$(($(date +%s) - began))
    return $code
}

# The results of an uninterrupted run of the long program, computed once on demand.
long_whole() { [ -e "$work/long_whole/report.json" ] || ranks 3 long long_whole; }

# ---- tests: each returns success or failure
# ----------------------------------------------------------

test_sums() {
    run one one_out && ranks 3 three three_out && says three_out "step 40/40" || return 1
    [ "$(sed -n 2p "$work/one_out/loss.csv")" != "$(sed -n 2p "$work/three_out/loss.csv")" ] &&
        grep -q '"count": 120,' "$work/three_out/report.json" &&
        grep -q '"ranks": 3' "$work/three_out/report.json"
}

# Each line is printed only once.
test_one_voice() {
    [ "$(grep -c "held-out loss before" "$work/three_out.log")" = 1 ] &&
        [ "$(grep -c "bigram on" "$work/three_out.log")" = 1 ] &&
        [ "$(grep -c "^step 40/40 " "$work/three_out.log")" = 1 ]
}

test_repeats() { ranks 3 three repeats && same_results three_out repeats; }

test_without_graphs() { ranks 3 uncaptured uncaptured_out && same_results three_out uncaptured_out; }

test_queues() {
    local queue
    for queue in eager lazy:1 lazy:2; do
        SIM_QUEUE=$queue ranks 3 three "$queue" && same_results three_out "$queue" || return 1
    done
}

# One report and one trace cover every rank's window, with times for its collectives: three per
# step, in two steps. An evaluation between these two has collectives too, which do not count.
test_profiled_together() {
    local rank report=$work/profiled_out/report.json trace=$work/profiled_out/trace.json
    ranks 3 profiled profiled_out && same_results three_out profiled_out &&
        says profiled_out "held-out loss at step 4" || return 1
    for rank in 0 1 2; do
        [ "$(grep -c "\"pid\": $((2 * rank + 2)), .*\"name\": \"nccl[A-Za-z_]*AllReduce" "$trace")" = 6 ] &&
            grep -q "\"pid\": $((2 * rank + 2)), \"name\": \"process_name\".*\"rank $rank, " "$trace" &&
            grep -q "\"rank\": $rank,\$" "$report" || return 1
    done
    awk '
        /"bus_gbs"/ { rates += $2 > 0 }
        /"work_ms"/ { works += $2 > 0 }
        /"collectives_ms"/ { whole = $2 }
        /"exposed_ms"/ { exposed = $2 }
        /"overlapped_ms"/ && whole { gap = whole - exposed - $2; sums += gap * gap < 1e-12 }
        END { exit !(rates == 1 && works == 3 && sums == 3) }' "$report"
}

test_compiles_at_start() { GPUOPT_JIT=1 ranks 3 uncaptured jit && same_results three_out jit; }

# Tuning runs once for all ranks, in the program's folder; a rank in a folder without the file is an
# error.
test_tune() {
    local bare=$work/uncaptured.bare
    export SIM_ALGORITHMS=2
    ranks 3 uncaptured tuned --tune && ranks 3 uncaptured with_tuned && same_results three_out with_tuned &&
        [ "$(grep -c "^matrix products use the algorithms" "$work/with_tuned.log")" = 1 ] || return 1
    cp -a "$work/uncaptured" "$bare" && rm "$bare/products.json"
    (cd "$bare" && $MPIRUN -np 2 "$work/uncaptured/run" --out "$work/apart" : \
        -np 1 ./run --out "$work/apart") > "$work/apart.log" 2>&1
    [ $? = 1 ] && says apart "error: rank 2: products.json differs from rank 0.s, or one of the two has none"
    local code=$?
    unset SIM_ALGORITHMS
    rm "$work/uncaptured/products.json"
    return $code
}

test_resume_is_exact() {
    ranks 3 three resumed --steps 20 && ranks 3 three resumed --resume &&
        same_results three_out resumed
}

test_resume_of_a_finished_run() {
    cp -a "$work/three_out" "$work/finished" && ranks 3 three finished --resume &&
        [ "$(grep -c "^already at step 40 of 40: nothing to do" "$work/finished.log")" = 1 ] &&
        diff -r "$work/three_out" "$work/finished"
}

# A signal to one rank stops all, and all resume from the same step.
test_signal_then_resume() {
    local signal
    long_whole || return 1
    for signal in TERM USR1; do
        interrupt long "sig$signal" 1 $signal
        [ $? = 75 ] && says "sig$signal" "go on with --resume" &&
            says "sig$signal" "^rank 1: SIG$signal \(during step [0-9]*\|while waiting for $WAITS\): asking all ranks for a checkpoint$" ||
            return 1
        ranks 3 long "sig$signal" --resume && same_results long_whole "sig$signal" || return 1
    done
}

# lost OUT: one of the others says that rank 1 is gone.
lost() {
    says "$1" "^error: rank [02]: \($WAITS\|the work of step [0-9]*\) cannot finish: rank 1 was killed or crashed$GO_ON"
}

# unresponsive OUT RANK: one of the others says that both wait for the rank.
unresponsive() {
    says "$1" "^error: rank [012]: $WAITS did not finish within $LIMIT_S s (parallelism.comm_timeout_s): rank $2 has not responded for [0-9.]* s; rank [012] waits too$GO_ON" &&
        [ "$(grep -c ^error: "$work/$1.log")" = 1 ] && ! grep "rank $2 waits too" "$work/$1.log"
}

test_killed_rank() {
    interrupt long killed 1 KILL
    [ $? != 0 ] && [ $waited -le 5 ] && lost killed &&
        ranks 3 long killed --resume && long_whole && same_results long_whole killed
}

# The time limit is far away: the rank itself asks NCCL for errors.
test_broken_link() {
    local out=$work/broken
    (cd "$work/long" && $MPIRUN -np 1 ./run --out "$out" : -np 1 -x SIM_BREAK=150 ./run --out "$out" : \
        -np 1 ./run --out "$out") > "$out.log" 2>&1
    [ $? = 1 ] && says broken "^error: rank 1: $WAITS failed: NCCL reports the link to another rank broke$GO_ON" &&
        [ "$(grep -c ^error: "$out.log")" = 1 ] && ranks 3 long broken --resume && long_whole && same_results long_whole broken
}

# Only the watchdogs of the other ranks notice.
test_stopped_rank() {
    local rank
    for rank in 0 2; do
        interrupt watched "stopped$rank" $rank STOP
        [ $? = 1 ] && [ $waited -le $((LIMIT_S + 7)) ] &&
            unresponsive "stopped$rank" $rank || return 1
    done
    ranks 3 watched stopped2 --resume && long_whole && same_results long_whole stopped2
}

# All ranks are stopped for longer than the limit, as on a machine that is suspended: none is to blame.
more_test_all_stopped_for_a_while() {
    local job rank
    ranks 3 watched suspended &
    job=$!
    until [ -e "$work/suspended/checkpoints/step_20" ] || ! kill -0 $job 2> /dev/null; do sleep 0.02; done
    for rank in 0 1 2; do kill -STOP "$(pid_of suspended $rank)"; done
    sleep $((LIMIT_S + 1))
    for rank in 2 1 0; do kill -CONT "$(pid_of suspended $rank)"; done
    wait $job && long_whole && same_results long_whole suspended
}

# fails_in OPERATION SIGNAL PROGRAM OUT: rank 1 gets the signal when it begins the operation for the
# 150th time.
fails_in() {
    local out=$work/$4
    (cd "$work/$3" && $MPIRUN -np 1 ./run --out "$out" : \
        -np 1 -x "SIM_RAISE=$2:$1:150" ./run --out "$out" : -np 1 ./run --out "$out") > "$out.log" 2>&1
}

# A rank is killed or stopped in a batch's copy, in forward, backward, the sum of the gradients or
# the update: in each case the others end in time, and saved files are complete.
more_test_phases() {
    local operation
    long_whole || return 1
    for operation in memcpy gather embed_grad ncclAllReduce adam; do
        fails_in $operation KILL long "kill_$operation" && return 1
        lost "kill_$operation" || return 1
        fails_in $operation STOP watched "stop_$operation"
        [ $? = 1 ] && unresponsive "stop_$operation" 1 &&
            ranks 3 long "kill_$operation" --resume && same_results long_whole "kill_$operation" &&
            ranks 3 watched "stop_$operation" --resume && same_results long_whole "stop_$operation" || return 1
    done
}

# A rank stops during its start, before any checkpoint. The other ranks end in time; Open MPI's
# launcher, which may lose them inside MPI_Init, has been seen to crash or hang then.
test_stopped_at_start() {
    local job process began waited
    ranks 3 watched early &
    job=$!
    until process=$(pid_of early 1); [ -n "$process" ]; do kill -0 $job || return 1; done
    began=$(date +%s)
    kill -STOP "$process"
    until [ -z "$(pid_of early 0)$(pid_of early 2)" ] || [ $(($(date +%s) - began)) -gt 60 ]; do sleep 0.1; done
    waited=$(($(date +%s) - began))
    kill -KILL "$process" 2> /dev/null
    wait $job
    [ $? != 0 ] && [ $waited -le $((LIMIT_S + 7)) ] &&
        says early "error: rank [02]: .* of step 1 did not finish within $LIMIT_S s" &&
        [ ! -e "$work/early/checkpoints" ]
}

test_bad_step() {
    local where
    for where in $(seq 1000 500 30000); do
        printf '\377' | dd of="$work/bad/train.txt" bs=1 seek="$where" conv=notrunc status=none
    done
    ranks 3 bad bad_out
    [ $? = 1 ] && says bad_out "error: rank [0-9]: step [0-9]* is not finite"
}

test_number_of_ranks() {
    ranks 2 three fewer
    [ $? = 1 ] && says fewer "^error: rank [01]: this program was generated for 3 ranks but was started with 2 processes: start it with make run NP=3 or mpirun -np 3, or generate it for another layout: parallelism.data_parallel_replicate_degree=2 needs 2$" &&
        [ "$(grep -c error: "$work/fewer.log")" = 1 ] || return 1
    run three alone
    [ $? = 1 ] && says alone "error: .*for 3 ranks but was started with 1 process: .*mpirun -np 3" || return 1
    ranks 2 one more
    [ $? = 1 ] && says more "error: .*for one rank but was started with 2 processes: .* parallelism.data_parallel_replicate_degree=2 needs 2$" ||
        return 1
    SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 run three srun
    [ $? = 1 ] && says srun "error: .*for 3 ranks but was started with 4 processes:"
}

# errors OUT PATTERN...: a failed run has said one error for each pattern, and no other.
errors() {
    local log=$work/$1.log pattern
    shift
    [ "$(grep -c error: "$log")" = $# ] || return 1
    for pattern; do
        [ "$(grep -c "^error: $pattern" "$log")" = 1 ] || return 1
    done
}
# What several ranks have to say one of them says, the first if none is much later than the others. They fail before
# they know each other (options), and after (weights).
test_errors_said_once() {
    local out=$work/once none="unknown option --nosuch; see --help$"
    ranks 3 three once --nosuch
    [ $? = 1 ] && errors once "rank [012]: $none" || return 1
    (cd "$work/three" && $MPIRUN -np 1 ./run : -np 1 ./run --nosuch : -np 1 ./run) > "$out.log" 2>&1
    [ $? = 1 ] && errors once "rank 1: $none" || return 1
    (cd "$work/three" && $MPIRUN -np 1 ./run --nosuch : -np 2 ./run --other) > "$out.log" 2>&1
    [ $? = 1 ] && errors once "rank 0: $none" "rank [12]: unknown option --other" || return 1
    ranks 3 three once --init "$work/away"
    [ $? = 1 ] && errors once "rank [012]: .*/away: there is no such folder;" || return 1
    (cd "$work/three" && $MPIRUN -np 1 ./run --init "$work/away" : -np 2 ./run --init "$work/gone") > "$out.log" 2>&1
    [ $? = 1 ] && errors once "rank 0: .*/away: there is" "rank [12]: .*/gone: there is"
}

# The same command line except for one rank's program (its spec, its version, its tensors), or one rank's seed.
test_ranks_that_differ() {
    local out=$work/differ
    (cd "$work/three" && $MPIRUN -np 2 ./run --out "$out" : -np 1 ../other/run --out "$out") \
        > "$out.log" 2>&1
    [ $? = 1 ] && says differ "error: rank 0: ranks differ in the experiment's spec: rank 0 has 0000.*, rank 2 has 1111" ||
        return 1
    (cd "$work/three" && $MPIRUN -np 1 ./run --out "$out" : -np 1 ../version/run --out "$out" : -np 1 ./run --out "$out") \
        > "$out.log" 2>&1
    [ $? = 1 ] && says differ "error: rank 0: ranks differ in the program's generator: rank 0 has by hand, rank 1 has by another hand; start all ranks from the same build" ||
        return 1
    (cd "$work/three" && $MPIRUN -np 2 ./run --out "$out" : -np 1 ../wider/run --out "$out") > "$out.log" 2>&1
    [ $? = 1 ] && says differ "error: rank 0: ranks differ in the table of tensors: rank 0 has checksum \([0-9a-f]\{8\}\), rank 2 has checksum [0-9a-f]\{8\}; start all ranks from the same build" &&
        ! says differ "checksum \([0-9a-f]*\), .* checksum \1;" && [ "$(grep -c error: "$out.log")" = 1 ] || return 1
    (cd "$work/three" && $MPIRUN -np 1 ./run --seed 7 : -np 2 ./run --seed 8) > "$out.log" 2>&1
    [ $? = 1 ] && says differ "ranks differ in --seed: rank 0 has 7, rank 1 has 8" || return 1
    (cd "$work/three" && $MPIRUN -np 2 ./run : -np 1 ./run --resume) > "$out.log" 2>&1
    [ $? = 1 ] && says differ "ranks differ in their options: rank 0 has none, rank 2 has --resume"
}

test_missing_libraries() {
    mv "$work/three/libgpuopt_mpi.so" "$work/three/away"
    ranks 3 three no_mpi
    local code=$?
    mv "$work/three/away" "$work/three/libgpuopt_mpi.so"
    [ $code = 1 ] && says no_mpi "error: .*libgpuopt_mpi.so not found; install MPI" || return 1
    [ "$(make -f runtime/comm/mpi/mpi.mk MPICC=no_mpicc need_mpi 2>&1 | grep -c "^error: no_mpicc not found.*MPI_HOME")" = 1 ] ||
        return 1
    mkdir -p "$work/no_nccl_sim"
    ln -sf "$SIM_OUT"/lib* "$SIM_OUT/simcc" "$work/no_nccl_sim" && rm "$work/no_nccl_sim/libnccl.so.2"
    GPUOPT_SIM_DIR=$work/no_nccl_sim ranks 3 three no_nccl
    [ $? = 1 ] && says no_nccl "error: rank [0-9]: no libnccl.so.2 in .*make sim-ranks"
}

test_more_ranks_than_devices() {
    SIM_DEVICES=2 ranks 3 three crowded
    [ $? = 1 ] && says crowded "error: rank 2: this machine has 2 GPUs but 3 ranks were started on it"
}

mpicc -std=c17 -Wall -Wextra -Wpedantic -Werror -shared -fPIC runtime/comm/mpi/mpi_shim.c \
    -o "$work/libgpuopt_mpi.so" || exit 1
other=1111111111111111111111111111111111111111111111111111111111111111
ranked one
ranked three -DRANKS=3
ranked uncaptured -DRANKS=3 -DCUDA_GRAPH=false
ranked long -DRANKS=3 -DSTEPS=800
ranked profiled -DRANKS=3 -DPROFILING=true -DEVAL_EVERY=4 -DINTERVAL=4
# Its step has only all_reduce.
ranked watched -DRANKS=3 -DSTEPS=800 -DCOMM_TIMEOUT_S=$LIMIT_S -DBROADCAST=true
ranked other -DRANKS=3 "-DSPEC=\"$other\""
ranked version -DRANKS=3 '-DGENERATOR="by another hand"'
ranked wider -DRANKS=3 -DHIDDEN=32
cp -r "$work/three" "$work/bad"
case ${1-} in '' | --*) ;; *) set -- sums "$@" ;; esac # which the others need
run_tests "$@"
exit $failed
