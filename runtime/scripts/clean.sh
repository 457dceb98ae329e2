#!/bin/sh
# make clean: removes what make can build again from a folder of builds: what it and the tests make there, and
# programs. But not build/deps; not programs that have run, because their folders hold checkpoints, trained
# models and reports; and nothing that was put there by hand.
#
#     runtime/scripts/clean.sh [FOLDER]     build by default
set -eu
build=${1:-build}

made="obj unit sim data gpu libgen.a libruntime.a libshared.a inputs compiler.ok check check.lock asan build
cppcheck bases dist emit flavours flavours.ptx fuzz generated golden gpu-tests gpu-work images layouts lint_test
mutants oracle ptx repeat shapes sim-tests slurm study_test template-tests tests toolkit tuning tuning_base"

is_made() {
    case $(echo " $made " | tr '\n' ' ') in *" ${1##*/} "*) ;; *) return 1 ;; esac
}

# has_any FOLDER NAME...: whether a file or folder of that name is somewhere in it.
has_any() {
    where=$1
    shift
    for name in "$@"; do
        [ -z "$(find "$where" -name "$name" -print -quit)" ] || return 0
    done
    return 1
}

has_run() { has_any "$1" out 'out.*' report.json checkpoints; }

for path in "$build"/*; do
    if [ "$path" = "$build/deps" ] || [ ! -e "$path" ]; then
        :
    elif [ "$path" = "$build/last" ]; then # what was generated last
        program=$(sed 's|/points$||' "$path")
        [ -e "$program" ] && has_run "$program" || rm -f "$path"
    elif is_made "$path"; then
        rm -rf "$path"
    elif has_run "$path"; then
        echo "$path has results and stays; make distclean removes it too"
    elif has_any "$path" plan.json points .generated; then
        rm -rf "$path"
    else
        echo "$path was not made by make and stays; make distclean removes it too"
    fi
done
