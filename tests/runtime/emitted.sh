# shellcheck shell=bash
# Shared by tests with emitted programs; sourced from the root of the tree. `work` is a folder for
# scratch files, emptied unless `keep` is set.
. tests/env.sh
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
