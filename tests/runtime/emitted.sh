# shellcheck shell=bash
# Shared by tests with emitted programs; sourced from the root of the tree. `work` is a folder for
# scratch files, emptied unless `keep` is set.
. tests/env.sh
. tests/lib.sh
[ "${keep-}" ] || rm -rf "$work"
mkdir -p "$work"

# program NAME SPEC [KEY=VALUE]...
program() {
    local dir=$work/$1 spec=$2 sets=()
    shift 2
    for setting in "$@"; do sets+=(--set "$setting"); done
    ./gpuopt-gen "$spec" "${sets[@]}" -o "$dir" >"$dir.log" 2>&1 &&
        make -s -C "$dir" >>"$dir.log" 2>&1
}

tensors() { "$work/compare_tensors" "$@"; } # which build_tool compiles
newest() { ls -d "$work/$1"/checkpoints/step_*/ | sort -V | tail -n 1; }
# heldout OUT WHEN [FIGURE]: prints a held-out figure, the loss by default.
heldout() { sed -n "s/held-out ${3-loss} $2: \([^ ]*\).*/\1/p" "$work/$1.log"; }

# same_steps OUT OTHER: compares the whole state, including optimizer and counters, and the losses.
same_steps() {
    tensors "$(newest "$1")/state.safetensors" "$(newest "$2")/state.safetensors" &&
        cmp "$work/$1/loss.csv" "$work/$2/loss.csv"
}
same_results() { same_steps "$@" && cmp "$work/$1/eval.csv" "$work/$2/eval.csv"; }
