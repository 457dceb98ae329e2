#!/bin/sh
# make run: builds and runs the experiment generated last in build/NAME, or --spec FILE, which it generates
# first, or the program in a folder. If the weights come from another spec that has not been trained yet,
# trains that first; if its recipe or its data have changed since, says so. Leaves a study ([sweep]) to
# runtime/scripts/study.sh.
#
#     runtime/scripts/run.sh [--spec FILE [--set KEY=VALUE]... | --program FOLDER] [--]
#                            [OPTION OF THE PROGRAM]...
#
# GEN is the compiler; DEVICE, JIT and NP (number of processes) are passed to the program's Makefile. With
# BUILT=1 it is not said that programs are built, because the caller has built and said so. With CONTINUE=1, a
# run of --spec that was cut short goes on without --resume. With IN_STUDY=1, output is a log, and file 7 what the
# user sees.

set -eu
GEN=${GEN:-./gpuopt-gen}

# refuse_words: refuses a DEVICE or an NP that no program takes, before one is generated.
refuse_words() {
    make --no-print-directory -s -f runtime/target.mk DEVICE="${DEVICE:-auto}" >/dev/null || exit 1
    case ${NP-} in
    0* | *[!0-9]*)
        echo "error: NP=$NP: it is how many processes to start, a number from 1" >&2
        exit 1
        ;;
    esac
}
refuse_words

# check_processes WHAT RANKS [SPEC]: refuses an NP other than the ranks that WHAT is for, before anything is
# built or started: mpirun would add an error of its own to the program's. SPEC is the text of the resolved spec.
check_processes() {
    case ${NP-} in '' | "$2") return ;; esac
    if [ "$2" = 1 ]; then made="one rank"; else made="$2 ranks"; fi
    echo "error: $1 for $made, but NP=$NP: leave NP out, or generate it for another layout:" \
        "$(printf '%s\n' "${3-}" | awk -v own="$2" -v ranks="$NP" -f runtime/comm/layouts.awk)" >&2
    exit 1
}

program=
if [ "${1-}" = --spec ]; then
    spec=$2 sets=
    shift 2
    while [ "${1-}" = --set ]; do
        sets="$sets --set $2"
        shift 2
    done
    # Another run that starts now must not name its program in build/last before this one reads it. Some file
    # systems have no locks.
    mkdir -p build
    exec 9<build
    flock 9 2>/dev/null || :
    set -f
    # The points of a study have ranks of their own; what is wrong with a spec is said when it is generated.
    # shellcheck disable=SC2086 # settings have no spaces
    resolved=${NP:+$("$GEN" --print-spec "$spec" $sets 2>/dev/null)} || :
    ranks=$(printf '%s\n' "$resolved" | sed -n 's/^# ranks //p')
    case $ranks in '' | *[!0-9]*) ;; *) check_processes "$spec is" "$ranks" "$resolved" ;; esac
    # shellcheck disable=SC2086
    "$GEN" "$spec" $sets
    set +f
    program=$(cat build/last)
    exec 9>&-
elif [ "${1-}" = --program ]; then
    program=$2
    shift 2
fi
[ "${1-}" != -- ] || shift
if [ -z "$program" ] && [ ! -s build/last ]; then
    echo "error: no experiment has been generated. Name one: make run SPEC=specs/lora_r16.toml" >&2
    exit 1
fi
program=${program:-$(cat build/last)}
if [ ! -e "$program" ]; then
    echo "error: $program is gone. Generate it again, or another: make run SPEC=specs/lora_r16.toml" >&2
    exit 1
fi
case $program in
*/points) exec runtime/scripts/study.sh "${program%/points}" "$@" ;;
esac

# The program handles these signals: it writes a checkpoint and exits, and we wait for it.
trap 'exit 130' INT
trap 'exit 129' HUP

# variable FOLDER NAME: prints a variable of the program's Makefile.
variable() { sed -n "s/^$2 *:= *//p" "$1/Makefile"; }

# make_program TARGET FOLDER OPTIONS [NP [exec]]: without NP, run starts as many processes as the program was made
# for. With exec, make takes the place of this script.
make_program() {
    [ -n "${BUILT-}" ] || [ "$1" != run ] || echo "building $2"
    ${5-} make --no-print-directory -s -j2 -C "$2" "$1" FROM="$PWD" SIM_OUT="$PWD/build/sim" \
        DEVICE="${DEVICE:-auto}" JIT="${JIT:-0}" NP="${4-}" ARGS="$3" 7>&- || return
    export GPUOPT_DEVICE_SAID=1
}

# recorded FILE NAME: prints a value of the record that a training run leaves with its model
# (trainer_state.json), or with a checkpoint (meta.json).
recorded() { sed -n "s/.*\"$2\": *\"*\([0-9a-f]*\).*/\1/p" "$1" 2>/dev/null || :; }

# differs A B: whether both values are known, and differ.
differs() { [ -n "$1" ] && [ -n "$2" ] && [ "$1" != "$2" ]; }

# of_training NAME: prints a number of [training] in the resolved spec on standard input.
of_training() { sed -n '/^\[training\]/,/^$/s/^'"$1"' = \([0-9]*\).*/\1/p'; }

# otherwise_trained SPEC RECORD: prints how the training that a record is of differs from that of SPEC: by its
# recipe (the keys that weights depend on), its seed (--seed), its data or the weights that it began with.
# What is not recorded does not differ; without the hash of a recipe, there is one of the whole spec.
otherwise_trained() {
    resolved=$("$GEN" --print-spec "$1" 2>/dev/null) || return 0
    hash=recipe_sha256
    [ -n "$(recorded "$2" $hash)" ] || hash=spec_sha256
    now=$(printf '%s\n' "$resolved" | sed -n "s/^# .*$hash //p")
    seed=$(printf '%s\n' "$resolved" | of_training seed)
    make --no-print-directory -s build/inputs >&2
    read_now=$(printf '%s\n' "$resolved" | build/inputs)
    if differs "$(recorded "$2" $hash)" "$now"; then
        echo "from another version of $1, or with --set, or by another version of gpuopt-gen"
    elif differs "$(recorded "$2" seed)" "$seed"; then
        echo "with --seed $(recorded "$2" seed), but $1 has training.seed = $seed"
    elif differs "$(recorded "$2" data_sha256)" "$read_now"; then
        echo "on other data than $1 has now, or from other weights"
    fi
}

# warn_of_other_base SPEC MODEL: says if MODEL was trained otherwise than SPEC would. Training it again without
# being asked would replace a result that may have taken hours, and another version of the compiler may only
# have another default. A model without a record is taken as it is.
warn_of_other_base() {
    how=$(otherwise_trained "$1" "$2/trainer_state.json")
    [ -z "$how" ] || echo "warning: $2 was trained $how; to train it again: make run SPEC=$1" >&2
}

# lacking SPEC MODEL: prints what MODEL lacks, nothing if it is complete. Its training was cut short if its own
# record says so: a spec that asks for more steps now does not make a finished model incomplete. A model
# without a record of its training was put there by the user, and counts as complete, as does one whose
# spec cannot be read any more, or asks for no more steps than it has.
lacking() {
    [ -e "$2/config.json" ] || { echo "is not there yet"; return; }
    learnt=$(recorded "$2/trainer_state.json" global_step)
    planned=$(recorded "$2/trainer_state.json" max_steps)
    wanted=$("$GEN" --print-spec "$1" 2>/dev/null | of_training steps)
    [ -z "$learnt" ] || [ "$learnt" -ge "${planned:-0}" ] || [ "$learnt" -ge "${wanted:-0}" ] ||
        echo "has only $learnt of $planned steps"
}

# newest_record CHECKPOINTS: prints the path of meta.json of the checkpoint that was written last.
newest_record() {
    grep -Hs '"sequence":' "$1"/step_*/meta.json | sed 's/\(.*\):.*: *\([0-9]*\).*/\2 \1/' | sort -n |
        sed -n '$s/^[0-9]* //p'
}

# resumes SPEC CHECKPOINTS: whether the newest checkpoint is of the training that SPEC describes now, as an
# interrupted run leaves it; says so if it is not. Otherwise the model would be of two recipes, and recorded as
# if it were of one.
resumes() {
    record=$(newest_record "$2")
    how=$(otherwise_trained "$1" "$record")
    [ -n "$how" ] || return 0
    echo "it starts from the beginning, because ${record%/*} was trained $how"
    return 1
}

# announce TEXT: says it, and also begins the line with it that a study ends with the outcome of the point.
announce() {
    echo "$1"
    [ -z "${IN_STUDY-}" ] || printf '%s: ' "$1" >&7
}

# train_base FOLDER: trains the model that FOLDER's program starts from, unless it is complete, with as
# many processes as it was made for. Sets trained if it did. Stopped, a base does not need --resume, which is
# for the program that was asked for, as are the options.
trained=
train_base() {
    base_spec=$(variable "$1" BASE_SPEC) base_model=$(variable "$1" BASE_MODEL)
    [ -n "$base_spec" ] || return 0
    lacks=$(lacking "$base_spec" "$base_model")
    if [ -z "$lacks" ]; then
        [ -z "${CONTINUE-}" ] || echo "$base_model is trained already"
        warn_of_other_base "$base_spec" "$base_model"
        return 0
    fi
    make_program probe "$1" "$options" # options are refused now, not after the base's training
    announce "training $base_spec first, because $base_model $lacks"
    base=${base_model%/out/model}
    "$GEN" "$base_spec" -o "$base" >/dev/null
    (options='' && train_base "$base")
    export GPUOPT_GO_ON="the same command, which resumes it"
    if [ -n "$(ls "$base/out/checkpoints" 2>/dev/null)" ] && resumes "$base_spec" "$base/out/checkpoints"; then
        make_program run "$base" --resume
    else
        make_program run "$base" ""
    fi
    unset GPUOPT_GO_ON
    trained=1
}

# without_resume OPTION...: prints the options but not --resume, unless it names a checkpoint.
without_resume() {
    while [ $# -gt 0 ]; do
        case "$1 ${2--}" in "--resume -"*) ;; *) printf '%s ' "$1" ;; esac
        shift
    done
}

# out_folder OPTION...: prints the folder of the results.
out_folder() {
    out=$program/out
    while [ $# -gt 1 ]; do
        [ "$1" != --out ] || out=$2
        shift
    done
    echo "$out"
}

# cut_short: whether the checkpoint of the program that was written last is not that of its results, and can be
# resumed.
cut_short() {
    last=$(newest_record "$program/out/checkpoints") && [ -n "$last" ] &&
        ! grep -qs "\"state_crc32\": \"$(recorded "$last" state_crc32)\"" "$program/out/report.json" &&
        resumes "$spec" "$program/out/checkpoints"
}

# starts OPTION...: whether the program has nothing to resume because only its base was interrupted.
starts() { [ -n "$trained" ] && [ -z "$(ls "$(out_folder "$@")/checkpoints" 2>/dev/null)" ]; }

ranks=$(variable "$program" RANKS)
check_processes "this program was generated" "${ranks:-1}" "$(cat "$program/spec.toml" 2>/dev/null)"
options=$*
case " $* " in
*" --init "* | *" --help "* | *" --tune "* | *" --probe "*) ;;
*) train_base "$program" ;;
esac
! starts "$@" || options=$(without_resume "$@")
[ -z "${CONTINUE-}" ] || ! cut_short || options="$options --resume"
# A signal to this script alone reaches the program through make.
make_program run "$program" "$options" "${NP-}" exec
