#!/bin/sh
# make clean: removes what make can build again from a folder of builds, but not build/deps, and not the
# programs that have run, because their folders hold checkpoints, trained models and reports.
#
#     runtime/scripts/clean.sh [FOLDER]     build by default
set -eu
build=${1:-build}

# has_run FOLDER: whether it is a program, or a study of programs, that has left results.
has_run() {
    [ -e "$1/plan.json" ] || [ -e "$1/points" ] || return 1
    for out in "$1"/out* "$1"/*/out*; do
        [ ! -d "$out" ] || return 0
    done
    return 1
}

for path in "$build"/*; do
    if [ "$path" = "$build/deps" ] || [ ! -e "$path" ]; then
        :
    elif [ "$path" = "$build/last" ] && has_run "$(sed 's|/points$||' "$path")"; then
        : # what was generated last stays
    elif has_run "$path"; then
        echo "$path has results and stays; make distclean removes it too"
    else
        rm -rf "$path"
    fi
done
