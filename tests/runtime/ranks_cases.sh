# shellcheck shell=bash
# Failures of emitted programs of two ranks: stages of a pipeline, tensor parallel cards and weights that are
# gathered for each use. Sourced by ranks.sh.

# emitted NAME KEY=VALUE...: generates and builds $work/NAME once, and runs it without failures, with results
# in NAME_whole. Each rank has its own file of data, in the folder that it is started in.
emitted() {
    local name=$1 setting sets=(--set parallelism.comm_timeout_s=$LIMIT_S) rank
    shift
    [ ! -e "$work/${name}_whole/report.json" ] || return 0
    for rank in 0 1; do
        mkdir -p "$work/of_rank_$rank" && write_tokens "$work/of_rank_$rank/train.bin" || return 1
    done
    for setting in "$@"; do sets+=(--set "$setting"); done
    ./gpuopt-gen tests/runtime/ranks.toml "${sets[@]}" -o "$work/$name" && make -s -C "$work/$name" &&
        both "$name" "${name}_whole" NONE=
}
write_tokens() { # a shard: runtime/data/README.md
    perl -e 'my $count = 40000; my @header = (20240520, 1, $count, (0) x 253);
        print pack("l<256", @header), pack("S<*", map {($_ * 7 + int($_ / 5) * 3) % 64} 0 .. $count - 1)' > "$1"
}
pipe() { emitted pipe parallelism.pipeline_parallel_degree=2; }
tensor() { emitted tensor parallelism.tensor_parallel_degree=2; }
eager() { emitted eager parallelism.tensor_parallel_degree=2 compile.cuda_graph=false; }
sharded() { emitted sharded parallelism.data_parallel_shard_degree=2 parallelism.shard_stage=3; }

# What the host can know of the device's work: the kinds of collectives in a step.
kinds_pipe="all_reduce or send_recv" kinds_tensor="all_reduce or all_gather" kinds_eager=$kinds_tensor
kinds_sharded="all_reduce, all_gather or reduce_scatter"

# both PROGRAM OUT NAME=VALUE [OPTION]...: runs the two ranks, the second with a variable.
both() {
    local run="$work/$1/run" out=$work/$2 variable=$3
    shift 3
    $MPIRUN -np 1 -wdir "$work/of_rank_0" "$run" --out "$out" "$@" : \
        -np 1 -wdir "$work/of_rank_1" -x "$variable" "$run" --out "$out" "$@" > "$out.log" 2>&1
}

# resumes PROGRAM OUT: goes on from the last checkpoint, as if nothing had happened.
resumes() {
    [ -e "$work/$2/checkpoints/step_20/meta.json" ] && both "$1" "$2" NONE= --resume &&
        says "$2" "^resuming from .*, after step [2-5]0$" && same_results "$1_whole" "$2"
}

# fails PROGRAM SIGNAL COLLECTIVE COUNT: rank 1 gets the signal in a step, in the collective.
fails() {
    local out=$1_$2_$3 kinds=kinds_$1 began code why
    $1 || return 1
    began=$(date +%s)
    both "$1" "$out" "SIM_RAISE=$2:$3:$4"
    code=$?
    why="cannot finish: rank 1 was killed or crashed"
    [ "$2" = KILL ] || why="did not finish within $LIMIT_S s (parallelism.comm_timeout_s): rank 1 has not responded for [0-9.]* s"
    [ $code != 0 ] && [ $code != 124 ] && [ $(($(date +%s) - began)) -le 25 ] &&
        says "$out" "^error: rank 0: the device's work up to step [0-9]* with ${!kinds} $why; continue from the last checkpoint with --resume$" &&
        [ "$(grep -c ^error: "$work/$out.log")" = 1 ] && resumes "$1" "$out"
}

test_stops_in_stage_3() { fails sharded STOP ncclAllGather 600; }
test_killed_in_pipeline() { fails pipe KILL ncclSendRecv 100; }
more_test_stops_in_collectives() {
    fails pipe STOP ncclSendRecv 100 && fails tensor STOP ncclAllReduce 600 && fails tensor STOP ncclAllGather 140 &&
        fails eager STOP ncclAllReduce 600 && fails sharded STOP ncclReduceScatter 400
}
more_test_killed_in_collectives() {
    fails tensor KILL ncclAllReduce 600 && fails tensor KILL ncclAllGather 140 && fails eager KILL ncclAllReduce 600 &&
        fails sharded KILL ncclAllGather 600 && fails sharded KILL ncclReduceScatter 400
}

# bad_file PROGRAM: the file of rank 1 is bad from the start, or loses its contents during training.
bad_file() {
    local file=$work/of_rank_1/train.bin job
    $1 || return 1
    printf '\377\377' | dd of="$file" bs=1 seek=5024 conv=notrunc status=none
    both "$1" "$1_bad" NONE=
    [ $? = 1 ] && says "$1_bad" "^error: rank 1: .*/train.bin: token 2000 (byte 5024) is 65535, outside the vocabulary" &&
        [ "$(grep -c ^error: "$work/$1_bad.log")" = 1 ] || return 1
    write_tokens "$file"
    both "$1" "$1_cut" NONE= &
    job=$!
    until [ -e "$work/$1_cut/checkpoints/step_20" ] || ! kill -0 $job 2> /dev/null; do sleep 0.02; done
    : > "$file"
    wait $job
    local code=$?
    write_tokens "$file"
    [ $code = 1 ] && says "$1_cut" "^error: rank 1: .*/train.bin: was \(changed\|truncated\) while this run was reading it" &&
        [ "$(grep -c ^error: "$work/$1_cut.log")" = 1 ] && resumes "$1" "$1_cut"
}
test_bad_file_of_a_rank() { bad_file tensor; }

# Another token of the same vocabulary, which the loader's fingerprint need not notice.
test_other_file_of_a_rank() {
    local file=$work/of_rank_1/train.bin
    tensor || return 1
    printf '\001' | dd of="$file" bs=1 seek=5024 conv=notrunc status=none
    both tensor tensor_other NONE=
    [ $? = 1 ] && says tensor_other "^error: rank 0: ranks differ in the data.*: rank 0 has .*, rank 1 has .*; give all ranks the same files"
    local code=$?
    write_tokens "$file"
    return $code
}
more_test_bad_file_of_others() { bad_file pipe && bad_file sharded; }

# names NP LAYOUT...: what starting the program of 2 tensor parallel ranks with NP processes proposes, by
# mpirun and by make run. Each is a layout that the compiler takes, for as many ranks as it says.
names() {
    local np=$1 layout settings key sets proposed
    shift
    proposed=$(printf '; %s' "$@")
    ranks "$np" tensor "layouts_$np"
    [ $? = 1 ] && says "layouts_$np" "generate it for another layout: ${proposed#; }$" || return 1
    for program in "--spec tests/runtime/ranks.toml --set parallelism.tensor_parallel_degree=2" "--program $work/tensor"; do
        # shellcheck disable=SC2086
        NP=$np runtime/scripts/run.sh $program 2>&1 | grep "generate it for another layout: ${proposed#; }$" || return 1
    done
    make -C "$work/tensor" NP="$np" run 2>&1 | grep "another layout: ${proposed#; }[.]  Stop[.]$" || return 1
    for layout in "$@"; do
        settings=${layout% needs *} sets=()
        for key in $settings; do sets+=(--set "parallelism.${key#parallelism.}"); done
        ./gpuopt-gen --print-spec tests/runtime/ranks.toml "${sets[@]}" | grep -x "# ranks ${layout##* }" || return 1
    done
}
test_nearest_layouts() {
    local replicas=parallelism.data_parallel_replicate_degree
    tensor && names 4 "$replicas=2 tensor_parallel_degree=2 needs 4" &&
        names 1 "$replicas=1 tensor_parallel_degree=1 needs 1" &&
        names 5 "$replicas=5 tensor_parallel_degree=1 needs 5" "$replicas=2 tensor_parallel_degree=2 needs 4" \
            "$replicas=3 tensor_parallel_degree=2 needs 6" &&
        names 3 "$replicas=3 tensor_parallel_degree=1 needs 3" "$replicas=2 tensor_parallel_degree=2 needs 4"
}
