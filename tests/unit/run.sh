#!/bin/sh
# Runs the unit tests, built by `make unit-tests` in build/unit: one line per test, its output if it
# failed.
failed=0
for source in tests/unit/test_*.c; do
    name=$(basename "$source" .c)
    output=$(CMOCKA_MESSAGE_OUTPUT=TAP "build/unit/$name" 2>&1)
    code=$?
    printf '%s\n' "$output" |
        sed -n "s/^ok [0-9]* - /ok unit $name /p; s/^not ok [0-9]* - /FAIL unit $name /p"
    [ $code -eq 0 ] && continue
    failed=1
    printf '%s\n' "$output" | grep -v '^ok ' | sed 's/^/    /'
    case $output in
    *"not ok"*) ;;
    *) echo "FAIL unit $name: exit code $code" ;;
    esac
done
exit $failed
