# shellcheck shell=bash
# Shared by tests with the hand-written program (tests/runtime/program); sourced from the root of the
# tree. SIM (default build/sim) is a built simulated device, WORK a folder for scratch files.
SIM=$(realpath "${SIM:-build/sim}")
CUDA_HOME=${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}
CC=${CC:-gcc}
ROOT=$PWD
FLAGS="-std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -ffp-contract=off"
export GPUOPT_DEVICE=sim GPUOPT_SIM_DIR=$SIM CUDA_HOME
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID GPUOPT_JIT

rm -rf "$WORK"
mkdir -p "$WORK"
WORK=$(realpath "$WORK")

# ---- building -------------------------------------------------------------------------------------

build_runtime() {
    mkdir -p "$WORK/objects"
    for source in $(find runtime -name '*.c' -not -path 'runtime/sim/*' -not -path 'runtime/scripts/*' \
        -not -path 'runtime/comm/mpi/*'); do
        # shellcheck disable=SC2086
        $CC $FLAGS -I. -isystem "$CUDA_HOME/include" "-DGPUOPT_RUNTIME_PARENT=\"$ROOT\"" \
            -c "$source" -o "$WORK/objects/$(basename "$source" .c).o" || exit 1
    done
    ar rcs "$WORK/libruntime.a" "$WORK"/objects/*.o
}

# program NAME [-DMACRO=VALUE]...: builds $WORK/NAME/run with its module and data.
program() {
    local dir=$WORK/$1
    shift
    mkdir -p "$dir"
    cp tests/runtime/program/layout.h tests/runtime/program/kernels.cu "$dir"
    for define in "$@"; do # so that every compiler of the kernels sees the same sizes
        define=${define#-D}
        sed -i "1i #define ${define%%=*} ${define#*=}" "$dir/layout.h"
    done
    # shellcheck disable=SC2086
    $CC $FLAGS -include "$dir/layout.h" -I. tests/runtime/program/program.c "$WORK/libruntime.a" \
        -ljansson -lz -ldl -lm -lpthread -o "$dir/run" || exit 1
    "$SIM/simcc" -I"$ROOT" "$dir/kernels.cu" -o "$dir/kernels.sim" || exit 1
    write_text 40 > "$dir/train.txt"
}

# write_text KILOBYTES: prints text with structure: words in a fixed pseudo-random order.
write_text() {
    awk -v size="$(($1 * 1024))" 'BEGIN {
        split("the quick brown fox jumps over lazy dog while seven wizards box", word, " ")
        for (seed = 7; n < size; n += length(w) + 1) {
            seed = (seed * 1103 + 12345) % 65536
            w = word[1 + seed % 12]
            printf "%s ", w
        }
    }'
}

# run PROGRAM OUT [OPTION]...: output in $WORK/OUT.log; returns the exit code.
run() {
    local dir=$WORK/$1 out=$WORK/$2
    shift 2
    (cd "$dir" && timeout -k 10 120 ./run --out "$out" "$@") > "$out.log" 2>&1
}

same_results() {
    cmp -s "$WORK/$1/model/model.safetensors" "$WORK/$2/model/model.safetensors" &&
        cmp -s "$WORK/$1/loss.csv" "$WORK/$2/loss.csv"
}

says() { grep -q -e "$2" "$WORK/$1.log"; }
heldout() { sed -n "s/held-out loss $2: \([^ ]*\).*/\1/p" "$WORK/$1.log"; }
