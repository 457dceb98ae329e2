#!/bin/sh
# Tests the linter: a clean tree passes; with one file that breaks a rule, only that rule fails. And
# tests/check.sh: a second run in one tree would remove the logs of the first.
set -u
cd "$(dirname "$0")/../.." || exit 1
suite=lintself work=build/lint_test
. tests/lib.sh
rm -rf $work
mkdir -p $work/tests/lint $work/gen
cp tests/lint/run.sh tests/lint/cppcheck.txt $work/tests/lint
printf '#!/bin/sh\n' >$work/tests/mutants.sh
chmod +x $work/tests/mutants.sh
git init -q $work

lint() { $work/tests/lint/run.sh >$work/log 2>$work/errors </dev/null; }

printf 'int main(void) { return 0; }\n' >$work/gen/fine.c
lint
report $? "a clean tree passes" $work/log

printf 'int other(void) {\n\treturn 0;\n}\n' >$work/gen/tab.c
! lint && [ "$(grep '^FAIL' $work/log)" = "FAIL lint no tabs" ] && grep -q '^    gen/tab.c:2:' $work/log
report $? "a broken rule fails, by name and place" $work/log

mkdir -p $work/build/check
cp tests/check.sh tests/env.sh tests/skips.txt $work/tests
touch $work/build/check/first.log
! flock $work/build/check.lock $work/tests/check.sh unit >$work/log 2>&1 &&
    grep -q 'is running in this tree already' $work/log && [ -e $work/build/check/first.log ]
report $? "one check at a time" $work/log
! $work/tests/check.sh none >$work/log 2>&1 && [ ! -e $work/build/check/first.log ]
report $? "a check begins with no logs" $work/log
exit $failed
