#!/bin/sh
# first-minutes DIR [MINUTES]
#
# For a GPU that is there for minutes only: what tells most runs first, one command after the other, for
# MINUTES (10) at most. DIR gets a log of each, and the benchmarks' tables. One line per command says how it
# ended; a command that does not end is killed, and the next one runs.
set -u
[ $# -ge 1 ] || { sed -n '2s/^# /usage: /p' "$0" && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit
minutes=${2:-10} began=$(date +%s)
chmod -R u+x "$here" 2>/dev/null # copies may have lost it

# take LOG SECONDS COMMAND...: runs the command for that long at most, and no longer than is left.
take() {
    log=$1 seconds=$2
    shift 2
    left=$((60 * minutes - $(date +%s) + began))
    [ $left -ge 10 ] || { echo "skip $log: $minutes minutes are over" && return; }
    from=$(date +%s)
    timeout -k 5 $((left < seconds ? left : seconds)) "$@" >"$out/$log" 2>&1 </dev/null
    echo "$log: exit code $?, $(($(date +%s) - from)) s: $(tail -n 1 "$out/$log")"
}

take machine.log 60 "${PYTHON:-python3}" "$here/machine.py"
take first.log 120 "$here/check-gpu" --only demo.fp32
take times.log 60 "$here/check-gpu" --only timed
take profile.log 90 "$here/check-gpu" --only profile
take check.log 300 "$here/check-gpu" --minutes 4 --jobs 8
take images.log 120 "$here/bench-images" --only device --only gpuopt-gen --repeats 1 --minutes 1 --results "$out"
take bench.log 240 "$here/bench" --part peers --repeats 1 --minutes 1.5 --results "$out"
