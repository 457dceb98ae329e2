#!/bin/sh
# make run for a spec with a [sweep]: builds and runs all points, one after another, and compares
# them. A point that fails is reported and skipped. A finished point runs again only if its program has
# changed, or if it was run by hand for another number of steps, so that an interrupted study continues
# where it stopped. If its data or the weights that it starts from have changed, that is said. If a point
# has finished with other options, nothing runs, because its results would be lost; nor if it has finished
# on another kind of device, whose times do not compare; nor if points would need a GPU and there is none.
#
#     runtime/scripts/study.sh FOLDER [OPTION OF THE PROGRAM]...
#
# A point stopped by a signal counts as interrupted, not failed, and resumes from its checkpoint next
# time; so does one that was killed, or that runs while the machine goes down. If too few steps are left to
# measure, it starts over instead. A signal to the study and its programs (Ctrl-C, a closed terminal) lets the
# running point write its checkpoint, and then ends the study; a signal to this script alone ends it after that
# point.
#
# A point runs [benchmark] repeats times, into its folders out, out.2, out.3, ...
#
# FOLDER, such as build/ablation, holds `points`, a folder per point, and at the end study.txt,
# study.csv, study.json and study.svg. Logs are run.log, run.2.log, ... in the folder of each point. A line per
# point says what became of it and how many seconds it took, and before that if its base is trained first.
# Exits with 1 if a point failed.

set -u
GEN=${GEN:-./gpuopt-gen}
study=$1
shift
stopped=0
trap 'stopped=1' INT TERM HUP

# Refused: options that name files, which all points would overwrite; --resume, because points resume by
# themselves; and --tune, --probe and --help, which leave no results to compare.
for option in "$@"; do
    case $option in
    --out | --out=* | --merge | --merge=* | --dump | --dump=* | --resume | --resume=* | --tune | --probe | --help)
        echo "error: ${option%%=*} is for a single program, not for a study; use it with" \
            "$study/POINT/run. To continue a study, use make run without options" >&2
        exit 1
        ;;
    esac
done

make --no-print-directory -s build/inputs || exit
# Builds one runtime for all points, instead of the copy in each of them.
if [ -z "${RTLIB-}" ]; then
    make --no-print-directory -s build/libruntime.a || exit
    export RT="$PWD" RTLIB="$PWD/build/libruntime.a"
fi

# reads_other FOLDER OPTION...: whether the data, or the weights that a point starts from, have changed since
# it ran. The hash of what there is now does not cover weights that an option names.
reads_other() {
    case " $* " in *" --init "* | *" --adapter "*) return 1 ;; esac
    now=$(build/inputs <"$1/spec.toml")
    then=$(sed -n 's/.*"data_sha256": *"\([0-9a-f]*\)".*/\1/p' "$1"/out*/report.json | sort -u)
    [ -n "$now" ] && [ -n "$then" ] && [ "$now" != "$then" ]
}

# stamp FOLDER OPTIONS: what determines a result, besides what the program reads: a hash of the program, and
# the options in the last line.
stamp() {
    for file in program.c kernels.cu values.c Makefile products.json; do
        for part in "$1/$file" "$1"/stage*/"$file"; do [ ! -f "$part" ] || cat "$part"; done
    done | sha256sum
    echo "$2"
}

# refuse_other_options OPTION...: exits if a point has finished with other options.
refuse_other_options() {
    while read -r name _; do
        options=$(tail -n 1 "$study/$name/finished" 2>/dev/null) || continue
        if [ "$options" != "$*" ] && ls "$study/$name"/out*/report.json >/dev/null 2>&1; then
            echo "error: $study/$name finished with other options (${options:-none})." \
                "Generate another study with -o, or remove $study/*/out*" >&2
            exit 1
        fi
    done <"$study/points"
}

# ran_on_other FOLDER: whether a point has results or checkpoints of the other kind of device.
ran_on_other() {
    grep -qs "^    \"simulated\": $other" "$1"/out*/report.json && return
    if [ $other = true ]; then set -- "$1" -q; else set -- "$1" -qv; fi
    grep -hs '^  "device": ' "$1"/out*/checkpoints/*/meta.json | grep "$2" '"Simulated device'
}

# refuse_other_device: exits if a point has begun on the simulated device and others would run on a GPU, or the
# other way round.
refuse_other_device() {
    target=$(make --no-print-directory -s -f runtime/target.mk DEVICE="${DEVICE:-auto}") || exit
    if [ "$target" = sim ]; then other=false; else other=true; fi
    while read -r name _; do
        ran_on_other "$study/$name" || continue
        if [ $other = true ]; then ran="the simulated device"; else ran="a GPU"; fi
        echo "error: $study/$name has run on $ran, and DEVICE=${DEVICE:-auto} means $target here. Choose the" \
            "same device, generate another study with -o, or remove $study/*/out*" >&2
        exit 1
    done <"$study/points"
}

# single_point: prints the first point that one process runs. Several may run on other machines.
single_point() {
    while read -r name state; do
        [ -z "$state" ] && ! grep -q '^RANKS *:=' "$study/$name/Makefile" && echo "$name" && return
    done <"$study/points"
}

# require_gpu: exits if points would need a GPU that is not there, instead of building each to hear it.
require_gpu() {
    [ "$target" = cuda ] && first=$(single_point) || return 0
    said=$(make --no-print-directory -s -C "$study/$first" probe DEVICE="${DEVICE:-auto}" JIT="${JIT:-0}" 2>&1) &&
        return
    printf '%s\n' "$said" | grep '^error: ' >&2 || printf '%s\n' "$said" >&2
    exit 1
}

# ending REPETITION: the suffix of its files: "" for the first one, then ".2", ".3", ...
ending() { [ "$1" -eq 1 ] || echo ".$1"; }

# reason FOLDER LOG: prints the last error, which may be followed by messages of make. It names the base if that
# was what failed: run.sh says what it trains and builds.
reason() {
    last=$(sed -n 's/^training \(.*\) first, because .*/\1/p; s/^building //p' "$2" | tail -n 1)
    [ -z "$last" ] || [ "$last" = "$1" ] || printf 'its base %s: ' "$last"
    grep '^error: ' "$2" | tail -n 1 | grep . || tail -n 1 "$2"
}

# training_steps FOLDER OPTION...: prints how many steps a run takes: what --steps says, or else the spec.
training_steps() {
    steps=$(sed -n '/^\[training\]/,/^$/s/^steps = \([0-9]*\).*/\1/p' "$1/spec.toml")
    shift
    while [ $# -gt 0 ]; do
        [ "$1" != --steps ] || steps=${2-}
        shift
    done
    echo "$steps"
}

# reported_steps REPORT: prints the step that a run ended with, or nothing without a report. A run that
# resumed reports its own steps and the one that it began with.
reported_steps() {
    [ ! -f "$1" ] || awk -F '[:,]' '/^  "(first_step|steps)":/ { last += $2 } END { print last + 0 }' "$1"
}

# measuring POINT: prints how many steps a run needs for its measurements: its profiling window, and a step with an
# iteration time, which neither the first step nor those of the window have. start_step others precede the window.
measuring() {
    awk -F ' = ' '/^\[/ { table = $1 } table == "[profiling]" { key[$1] = $2 }
        END { print key["enabled"] == "true" ? key["start_step"] + key["steps"] + (key["start_step"] < 2) : 2 }' \
        "$1/spec.toml"
}

# unmeasured POINT STEPS: whether a run that took only so many of the wanted steps lacks measurements.
unmeasured() { [ "$2" -lt "$wanted" ] && [ "$2" -lt "$(measuring "$1")" ]; }

# own_steps REPORT: prints how many steps a run took itself, after the one that it resumed from.
own_steps() { sed -n 's/^  "steps": \([0-9]*\).*/\1/p' "$1" 2>/dev/null; }

# saved_steps OUT: prints the step of the checkpoint that was written last, or nothing without one.
saved_steps() {
    cat "$1"/checkpoints/step_*/meta.json 2>/dev/null | awk -F '[:,]' '
        /^  "step":/ { step = $2 }
        /^  "sequence":/ { sequence = $2 }
        /^}/ { if (sequence + 0 >= newest + 0) { newest = sequence; last = step + 0 } }
        END { print last }'
}

# say_unmeasured STEPS: says why a point starts over.
say_unmeasured() { printf 'had %s of %s steps but not all measurements, starts over: ' "$1" "$wanted"; }

# modules_of FOLDER: for each module of a point, or of its stages, prints a hash of what it is compiled from,
# and its path.
modules_of() {
    for source in "$1"/kernels.cu "$1"/stage_*/kernels.cu; do
        [ -f "$source" ] && [ "$module" ] || continue
        folder=${source%/*}
        hash=$({ cat "$source" && grep '^ARCH ' "$folder/Makefile"; } | sha256sum | cut -d ' ' -f 1)
        echo "$hash $folder/$module"
    done
}

# Points often differ in other things than their kernels, which take the longest to compile: a point gets the
# modules of those that ran before it here. `built` lists these, in lines of modules_of.
built=
take_modules() { # take_modules FOLDER
    modules_of "$1" | while read -r hash path; do
        twin=$(printf '%s\n' "$built" | sed -n "s/^$hash //p" | head -n 1)
        [ ! -f "$twin" ] || { cp "$twin" "$path.tmp" && mv "$path.tmp" "$path"; }
    done
}

# was_killed LOG: whether a signal ended the program that make or mpirun had started, other than one of a crash,
# which would come again.
was_killed() {
    grep -qE '(Error 1(29|30|31|37|38|40|43|52)|Hangup|Interrupt|Quit|Killed|User defined signal [12]|Terminated|CPU time limit exceeded)( \(core dumped\))?$|exited on signal (1|2|3|9|10|12|15|24) ' "$1"
}

# run_once FOLDER ENDING OPTION... While it runs, `interrupted` is there, in case nobody can write it later.
run_once() {
    point=$1 end=$2 resume=
    shift 2
    if [ -f "$point/interrupted" ] && [ -n "$(ls "$point/out$end/checkpoints" 2>/dev/null)" ]; then
        resume=--resume
        saved=$(saved_steps "$point/out$end")
        ! unmeasured "$point" $((wanted - ${saved:-0})) || { say_unmeasured "$saved"; resume=; }
    fi
    [ "$resume" ] || rm -rf "$point/out$end"
    stamp "$point" "$*" >"$point/interrupted"
    take_modules "$point"
    # --program leaves build/last as it is: it names the study, which `make run` was asked for.
    LC_ALL=C IN_STUDY=1 runtime/scripts/run.sh --program "$point" -- ${end:+--out "$point/out$end"} "$@" $resume \
        7>&1 >"$point/run$end.log" 2>&1 && {
        built="$built
$(modules_of "$point")"
        rm -f "$point/interrupted"
        ! grep -q '^training .* first, because ' "$point/run$end.log" || with=" with its base"
        return
    }
    rm -f "$point/out$end/report.json"
    if [ $stopped -eq 1 ] || grep -q 'checkpoint written; go on with ' "$point/run$end.log"; then
        echo "interrupted; the same command resumes it  ($point/run$end.log)"
    elif was_killed "$point/run$end.log"; then
        echo "killed; the same command resumes it from its last checkpoint  ($point/run$end.log)"
    else
        rm -f "$point/interrupted"
        echo "FAILED: $(reason "$point" "$point/run$end.log")  ($point/run$end.log)"
    fi
    return 1
}

# run_point FOLDER OPTION...: runs the missing repetitions of a point; prints the outcome.
run_point() {
    point=$1
    shift
    repeats=$(sed -n 's/^  "repeats": \([0-9]*\),*$/\1/p' "$point/plan.json")
    now=$(stamp "$point" "$*")
    if [ "$now" != "$(cat "$point/finished" 2>/dev/null)" ] &&
        [ "$now" != "$(cat "$point/interrupted" 2>/dev/null)" ]; then
        rm -rf "$point"/out "$point"/out.* "$point/finished" "$point/interrupted"
    fi
    began=$(date +%s) with='' ran=0 repetition=1 wanted=$(training_steps "$point" "$@")
    while [ "$repetition" -le "${repeats:-1}" ]; do
        end=$(ending "$repetition")
        # A run by hand, with another --steps, replaces the results, as does one that resumed near its end.
        steps=$(reported_steps "$point/out$end/report.json")
        own=$(own_steps "$point/out$end/report.json")
        if [ "$steps" != "$wanted" ] || unmeasured "$point" "$own"; then
            if [ "$steps" = "$wanted" ]; then
                say_unmeasured "$steps"
            elif [ "$steps" ]; then
                printf 'had %s of %s steps, runs again: ' "$steps" "$wanted"
            fi
            run_once "$point" "$end" "$@" || return
            stamp "$point" "$*" >"$point/finished"
            ran=$((ran + 1))
        fi
        repetition=$((repetition + 1))
    done
    if [ $ran -gt 0 ]; then
        echo "finished in $(($(date +%s) - began)) s$with"
        grep -h '^warning: ' "$point"/run*.log | sort -u
    elif reads_other "$point" "$@"; then
        echo "finished before, with other data or initial weights"
        other_data=1
    else
        echo "finished before"
    fi
    return 0
}

# Locks the folder; points inherit the lock, so that it lasts while any of them runs.
exec 9<"$study"
flock -n 9 2>/dev/null
if [ $? -eq 1 ]; then # otherwise it is locked, or its file system has no locks
    echo "error: $study is running already. Wait for it, or generate another study with -o" >&2
    exit 1
fi
refuse_other_options "$@"
refuse_other_device
require_gpu
case $target${JIT-} in
sim*) module=kernels.sim ;;
cuda1) module= ;; # NVRTC compiles at each start
*) module=kernels.cubin ;;
esac
echo "the output of each point goes to $study/POINT/run.log"
failed=0 other_data=0 number=0 count=$(grep -c . "$study/points")
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
        echo "stopped; the same command continues here" >&2
        exit 130
    fi
done 3<"$study/points"

echo
"$GEN" --compare "$study" || exit
echo
echo "$study/study.txt, study.csv, study.json, study.svg"
[ $other_data -eq 0 ] || echo "to run a point with what there is now: rm -r $study/POINT/out*, and the same command"
[ "$failed" -eq 0 ]
