#!/bin/sh
# make run, where the spec has a [sweep]: builds and runs every point, one after the other, and
# compares them. A point that fails is noted and left; a point that has finished is not run again
# unless its program (or what it was told to do) has changed since, so that a study which was
# interrupted goes on where it stopped.
#
#     runtime/scripts/study.sh FOLDER [OPTION OF THE PROGRAM]...
#
# FOLDER, such as build/ablation, holds `points`, a folder a point, and in the end study.txt,
# study.csv and study.json. Each point's log is its run.log. Exit 1 when a point failed.

set -u
GEN=${GEN:-./gpuopt-gen}
study=$1
shift
trap 'echo "stopped; the next make run goes on here" >&2; exit 130' INT TERM

# One runtime for all points, in place of the copy that each carries.
if [ -z "${RTLIB-}" ]; then
    make --no-print-directory -s build/libruntime.a || exit
    export RT="$PWD" RTLIB="$PWD/build/libruntime.a"
fi

# What decides a result: the program, edits included, and its options.
stamp() { cat "$1/program.c" "$1/kernels.cu" "$1/values.c" "$1/Makefile" | sha256sum; echo "$2"; }

# run_point FOLDER OPTION...
run_point() {
    point=$1
    shift
    rm -rf "$point/out" "$point/finished"
    # Not over the list of the study, which is what `make run` was asked for.
    runtime/scripts/run.sh --program "$point" -- "$@" >"$point/run.log" 2>&1 &&
        stamp "$point" "$*" >"$point/finished"
}

failed=0 number=0 count=$(grep -c . "$study/points")
while read -r name state <&3; do
    number=$((number + 1)) point=$study/$name
    printf '%3d of %d  %s: ' "$number" "$count" "$name"
    if [ "$state" = refused ]; then
        echo "refused by the compiler"
        failed=$((failed + 1))
    elif [ -f "$point/out/report.json" ] && [ "$(stamp "$point" "$*")" = "$(cat "$point/finished" 2>/dev/null)" ]; then
        echo "finished before"
    elif run_point "$point" "$@" </dev/null; then
        echo "finished"
    else
        echo "FAILED: $(tail -n 1 "$point/run.log")  ($point/run.log)"
        rm -f "$point/out/report.json"
        failed=$((failed + 1))
    fi
done 3<"$study/points"

echo
"$GEN" --compare "$study" || exit
echo
echo "$study/study.txt, study.csv, study.json"
[ "$failed" -eq 0 ]
