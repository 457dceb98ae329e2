#!/bin/sh
# make run, where the spec has a [sweep]: builds and runs every point, one after the other, and
# compares them. A point that fails is noted and left; a point that has finished is not run again
# unless its program has changed since, so that a study which was interrupted goes on where it
# stopped. With other options than those it finished with, nothing runs: results would go.
#
#     runtime/scripts/study.sh FOLDER [OPTION OF THE PROGRAM]...
#
# A point that a signal stopped is interrupted, not failed: the next time it goes on from its checkpoint.
# A signal to the study lets the point write that, and ends it.
#
# A point runs [benchmark] repeats times, into its folders out, out.2, out.3, ...
#
# FOLDER, such as build/ablation, holds `points`, a folder a point, and in the end study.txt,
# study.csv, study.json and study.svg. Each run's log is its folder's run.log, run.2.log, ... Exit 1
# when a point failed.

set -u
GEN=${GEN:-./gpuopt-gen}
study=$1
shift
stopped=0
trap 'stopped=1' INT TERM

# Files of all points would get one name; a point goes on, or begins, without being asked to; and what only
# measures products leaves nothing to compare.
for option in "$@"; do
    case $option in
    --out | --out=* | --merge | --merge=* | --dump | --dump=* | --resume | --resume=* | --tune)
        echo "error: ${option%%=*} is of one program: make run goes on with a study, and" \
            "$study/POINT/run takes such options" >&2
        exit 1
        ;;
    esac
done

# One runtime for all points, in place of the copy that each carries.
if [ -z "${RTLIB-}" ]; then
    make --no-print-directory -s build/libruntime.a || exit
    export RT="$PWD" RTLIB="$PWD/build/libruntime.a"
fi

# What decides a result: the program, edits included, and its options, in the last line.
stamp() {
    for file in program.c kernels.cu values.c Makefile products.json; do
        for part in "$1/$file" "$1"/stage*/"$file"; do [ ! -f "$part" ] || cat "$part"; done
    done | sha256sum
    echo "$2"
}

# refuse_other_options OPTION...: where a point has finished with others.
refuse_other_options() {
    while read -r name _; do
        options=$(tail -n 1 "$study/$name/finished" 2>/dev/null) || continue
        if [ "$options" != "$*" ] && ls "$study/$name"/out*/report.json >/dev/null 2>&1; then
            echo "error: $study/$name finished with other options (${options:-none}):" \
                "name another study with -o, or remove $study/*/out*" >&2
            exit 1
        fi
    done <"$study/points"
}

# "" for the first repetition, ".2", ".3", ...: what the names of its files end in.
ending() { [ "$1" -eq 1 ] || echo ".$1"; }

# reason LOG: its last error; make's words come behind the program's.
reason() { grep '^error: ' "$1" | tail -n 1 | grep . || tail -n 1 "$1"; }

# run_once FOLDER ENDING OPTION...
run_once() {
    point=$1 end=$2 resume=
    shift 2
    if [ -f "$point/interrupted" ] && [ -n "$(ls "$point/out$end/checkpoints" 2>/dev/null)" ]; then
        resume=--resume
    else
        rm -rf "$point/out$end"
    fi
    rm -f "$point/interrupted"
    # Not over the list of the study, which is what `make run` was asked for.
    runtime/scripts/run.sh --program "$point" -- ${end:+--out "$point/out$end"} "$@" $resume \
        >"$point/run$end.log" 2>&1 && return
    rm -f "$point/out$end/report.json"
    if [ $stopped -eq 1 ] || grep -q 'checkpoint written; go on with --resume' "$point/run$end.log"; then
        stamp "$point" "$*" >"$point/interrupted"
        echo "interrupted; the same command goes on with it  ($point/run$end.log)"
        return 1
    fi
    echo "FAILED: $(reason "$point/run$end.log")  ($point/run$end.log)"
    return 1
}

# run_point FOLDER OPTION...: what of its repetitions is not there yet; says how it went.
run_point() {
    point=$1
    shift
    repeats=$(sed -n 's/^  "repeats": \([0-9]*\),*$/\1/p' "$point/plan.json")
    now=$(stamp "$point" "$*")
    if [ "$now" != "$(cat "$point/finished" 2>/dev/null)" ] &&
        [ "$now" != "$(cat "$point/interrupted" 2>/dev/null)" ]; then
        rm -rf "$point"/out "$point"/out.* "$point/finished" "$point/interrupted"
    fi
    ran=0 repetition=1
    while [ "$repetition" -le "${repeats:-1}" ]; do
        end=$(ending "$repetition")
        if [ ! -f "$point/out$end/report.json" ]; then
            run_once "$point" "$end" "$@" || return
            stamp "$point" "$*" >"$point/finished"
            ran=$((ran + 1))
        fi
        repetition=$((repetition + 1))
    done
    if [ $ran -eq 0 ]; then echo "finished before"; else echo "finished"; fi
}

# A lock of the folder, which goes with whoever runs points of it.
exec 9<"$study"
if ! flock -n 9; then
    echo "error: $study runs already: wait for it, or name another study with -o" >&2
    exit 1
fi
refuse_other_options "$@"
echo "what a point prints goes to $study/POINT/run.log"
failed=0 number=0 count=$(grep -c . "$study/points")
while read -r name state <&3; do
    number=$((number + 1)) point=$study/$name
    printf '%3d of %d  %s: ' "$number" "$count" "$name"
    if [ "$state" = refused ]; then
        echo "refused by the compiler"
        failed=$((failed + 1))
    elif ! run_point "$point" "$@" </dev/null; then
        failed=$((failed + 1))
    fi
    if [ $stopped -eq 1 ]; then
        echo "stopped; the same command goes on here" >&2
        exit 130
    fi
done 3<"$study/points"

echo
"$GEN" --compare "$study" || exit
echo
echo "$study/study.txt, study.csv, study.json, study.svg"
[ "$failed" -eq 0 ]
