#!/bin/sh
# make check, make check-all: runs the suites below, several at a time, and counts their tests.
#
#     tests/check.sh [--all] [SUITE]...
#     tests/check.sh --rest      only what --all adds to the previous run; prints the counts of both
#
# A suite is a script that prints a line per test: `ok NAME`, `FAIL NAME` (any other output explains
# failures) or `skip NAME: REASON`. A skip that tests/skips.txt does not list counts as a failure,
# as does a suite that reports no test or exits with an error but no FAIL line. Logs: build/check.

set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/check
limit_s=4000 # per suite, so that one that hangs does not block the others

# Name, command and what `--all` changes: nothing; `only`: the suite runs only then; an option: the
# suite runs with --all, and in a `--rest` with this option. Longest first.
suites() {
    cat <<'TABLE'
oracle     tests/oracle/run.sh             --rest
flavours   tests/sim/flavours.sh           --all
dist       tests/dist/run.sh               --rest
build      tests/build/run.sh              --all
templates  tests/sim/test_template_run.sh  --all
ptx        tests/sim/ptx.sh                --rest
tuning     tests/tuning/run.sh             only
fashion    tests/oracle/fashion.sh         only
repeat     tests/runtime/repeat.sh         --rest
study      tests/study/run.sh
unit       tests/unit/run.sh               --rest
generated  tests/sim/generated.sh          --all
ranks      tests/runtime/ranks.sh          --rest
shapes     tests/runtime/shapes.sh         --rest
sim        tests/sim/run.sh
emit       tests/emit/run.sh
runtime    tests/runtime/run.sh
toolkit    tests/build/toolkit.sh
images     tests/images/run.sh
lint       tests/lint/run.sh
golden     tests/golden/run.sh
gpu        tests/gpu/run.sh
bases      tests/study/bases.sh
tokenize   tests/runtime/tokenize.sh
lintself   tests/lint/self.sh
error      tests/error/run.sh
hosts      tests/hosts/run.sh              only
slurm      tests/slurm/run.sh              only
asan       tests/asan/run.sh               only
TABLE
}

# Prints a FAIL line for each skip that tests/skips.txt does not list.
unlisted_skips() {
    sed -n 's/^skip //p' "$1" | while read -r skip; do
        grep -qxF "${skip%%:*}" "$logs/skips" ||
            echo "FAIL skip that tests/skips.txt does not list: $skip"
    done
}

# Logs the last line of a suite that hit the limit, and the processes that still run.
not_ended() {
    printf 'FAIL timed out after %d s; last line: %s\n' $limit_s "$(tail -n 1 "$1")" >>"$1"
    ps -eo pid,ppid,stat,etimes,wchan:20,args --forest >>"$1"
}

# run_suite NAME COMMAND...: writes the suite's counts to NAME.count and prints its summary.
run_suite() {
    name=$1 log=$logs/$1.log
    shift
    began=$(date +%s)
    timeout -k 10 $limit_s "$@" >"$log" 2>&1 </dev/null 9>&- # what outlives it does not keep the lock
    code=$?
    [ $code -ne 124 ] && [ $code -ne 137 ] || not_ended "$log"
    unlisted_skips "$log" >"$log.skips" && cat "$log.skips" >>"$log" && rm "$log.skips"
    passed=$(grep -c '^ok ' "$log")
    failed=$(grep -c '^FAIL ' "$log")
    skipped=$(grep -c '^skip ' "$log")
    if [ "$failed" -eq 0 ] && { [ $code -ne 0 ] || [ $((passed + skipped)) -eq 0 ]; }; then
        echo "FAIL $name: exit code $code, $passed tests passed" >>"$log"
        failed=1
    fi
    echo "$passed $failed $skipped" >"$logs/$name.count"
    summary=$(printf '%-13s %4d passed, %d failed, %d skipped   %d s' \
        "$name" "$passed" "$failed" "$skipped" $(($(date +%s) - began)))
    # A single write, so that the lines of two suites do not mix.
    if [ "$failed" -eq 0 ]; then
        echo "$summary"
    else
        printf '%s (log: %s)\n%s\n' "$summary" "$log" \
            "$(grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/    /')"
    fi
}

if [ "${1-}" = --suite ]; then
    shift
    run_suite "$@"
    exit
fi

# One run at a time: all of them write the same logs.
mkdir -p build
exec 9>build/check.lock
if ! flock -n 9; then
    echo "error: tests/check.sh is running in this tree already; wait for it" >&2
    exit 1
fi

mode=
case ${1-} in --all | --rest) mode=$1 && shift ;; esac
# `whole` has the time when the last complete run of all suites began.
if [ "$mode" = --rest ]; then
    changed=$(find gen runtime specs tests Makefile -type f -newer $logs/whole 2>&1 | head -n 1)
    [ -z "$changed" ] || { echo "error: run make check first: $changed" >&2 && exit 1; }
else
    rm -rf $logs
    mkdir -p $logs
    touch $logs/began
fi
sed -n 's/^\([^#:]*\):.*/\1/p' tests/skips.txt >$logs/skips

# Programs that tests build share one runtime library and one simulated device. Each suite uses one
# core; one suite more than there are cores runs at a time, because some wait for ranks or signals.
# Most programs run only a few steps, so building them takes longer; equal kernels are compiled once.
export MAKEFLAGS=
. tests/env.sh
export SIM_OPTIMIZE=-Og SIM_CACHE=1 CFLAGS=-O0 LDFLAGS=-Wl,--strip-debug JOBS=1
export MPIRUN="timeout -k 10 300 mpirun" # for make run: limits each launch

# The commands of this run, of the suites that are named or of all. What --rest adds to a suite is
# counted beside it, under a name of its own. (With a blank at its end, xargs would join a line with
# the next one.)
suites | awk -v wanted="$*" -v mode="$mode" '
    wanted != "" && !index(" " wanted " ", " " $1 " ") { next }
    $3 == "only" { if (mode != "") print $1, $2; next }
    mode == "--rest" && $3 != "" { print $1 ($3 == mode ? ".rest" : ""), $2, $3; next }
    mode != "--rest" { print $1, $2 ($3 != "" && mode != "" ? " " mode : "") }' |
    xargs -r -P $(($(nproc) + 1)) -L 1 "$0" --suite

[ $# -gt 0 ] || [ "$mode" = --rest ] || mv $logs/began $logs/whole
cat $logs/*.count | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END {
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0 || passed == 0
    }'
