# shellcheck shell=bash
# Shared by tests with the hand-written program (tests/runtime/program); sourced from the root of the
# tree. `work` is a folder for scratch files, which is emptied.
. tests/env.sh
. tests/lib.sh
FLAGS="-std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -ffp-contract=off"

rm -rf "$work"
mkdir -p "$work"

# ---- building -------------------------------------------------------------------------------------

# program NAME [-DMACRO=VALUE]...: builds $work/NAME/run with its module and data.
program() {
    local dir=$work/$1
    shift
    mkdir -p "$dir"
    cp tests/runtime/program/layout.h tests/runtime/program/kernels.cu "$dir"
    for define in "$@"; do # so that every compiler of the kernels sees the same sizes
        define=${define#-D}
        sed -i "1i #define ${define%%=*} ${define#*=}" "$dir/layout.h"
    done
    # shellcheck disable=SC2086
    $CC $FLAGS -include "$dir/layout.h" -I. tests/runtime/program/program.c "$RTLIB" \
        -ljansson -lz -ldl -lm -lpthread -o "$dir/run" || exit 1
    "$SIM_OUT/simcc" -I"$PWD" "$dir/kernels.cu" -o "$dir/kernels.sim" || exit 1
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

# run PROGRAM OUT [OPTION]...: output in $work/OUT.log; returns the exit code.
run() {
    local dir=$work/$1 out=$work/$2
    shift 2
    (cd "$dir" && timeout -k 10 120 ./run --out "$out" "$@") > "$out.log" 2>&1
}

same_results() {
    cmp -s "$work/$1/model/model.safetensors" "$work/$2/model/model.safetensors" &&
        cmp -s "$work/$1/loss.csv" "$work/$2/loss.csv"
}

says() { grep -q -e "$2" "$work/$1.log"; }
heldout() { sed -n "s/held-out loss $2: \([^ ]*\).*/\1/p" "$work/$1.log"; }
