#!/bin/sh
# Runs the unit tests, built by `make unit-tests` in build/unit: one line per test, its output if it
# failed.
cd "$(dirname "$0")/../.." || exit 1
suite=unit
. tests/lib.sh
for source in tests/unit/test_*.c; do
    name=$(basename "$source" .c)
    cmocka "$name" "build/unit/$name"
done
exit $failed
