#!/bin/sh
# run.sh [--all | --rest]: runs the unit tests, built by `make unit-tests` in build/unit: one line per test,
# its output if it failed. With --all there are three times as many random graphs; --rest runs only their
# test, with these.
cd "$(dirname "$0")/../.." || exit 1
suite=unit
. tests/lib.sh
sources=$(echo tests/unit/test_*.c)
[ -z "${1-}" ] || export GRAPHS_TIMES=3
[ "${1-}" != --rest ] || sources=tests/unit/test_fusion.c
for source in $sources; do
    name=$(basename "$source" .c)
    cmocka "$name" "build/unit/$name"
done
exit $failed
