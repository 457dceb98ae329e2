#!/bin/sh
# generated.sh [--all]: runs kernels of random graphs, and convolutions, on the simulated device
# with its race checker, and with --all also in several orders of threads, with AddressSanitizer and
# in each precision. Prints `ok NAME` or `FAIL NAME` for each test.
# `make unit-tests` builds build/libgen.a and build/libshared.a.
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
out=$PWD/build/generated
orders='' short=SHORT=1
[ "${1-}" != --all ] || orders="forward reverse random:1 random:2" short=
rm -rf "$out"
mkdir -p "$out"
for test in kernels conv2d; do
    for source in test_generated_$test generated; do
        $CC -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -I. -Igen -Itests/unit \
            -isystem "$CUDA_HOME/include" -c tests/sim/$source.c -o "$out/$source.o" || exit 1
    done
    ${CXX:-g++} -o "$out/$test" "$out/test_generated_$test.o" "$out/generated.o" build/libshared.a build/libgen.a \
        -L"$SIM_OUT" -Wl,-rpath,"$SIM_OUT" -lcuda -lcmocka -ljansson -lnettle -lz -lm || exit 1
done
export SIM_FOLDER="$SIM_OUT" SIM_TESTS="$out" CMOCKA_MESSAGE_OUTPUT=TAP
asan="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"
failed=0

run() { # run NAME SETTING...
    name=$1
    shift
    for test in kernels conv2d; do
        output=$(env $short "$@" "$out/$test" 2>&1)
        code=$?
        printf '%s\n' "$output" |
            sed -n "s/^ok [0-9]* - /ok generated $name /p; s/^not ok [0-9]* - /FAIL generated $name /p"
        [ $code -eq 0 ] && continue
        failed=1
        printf '%s\n' "$output" | grep -v '^ok ' | sed 's/^/    /'
        printf '%s\n' "$output" | grep -q '^not ok' || echo "FAIL generated $name: exit code $code"
    done
}

for order in $orders; do
    run "release $order" FLAVOUR=release SIM_ORDER="$order"
done
run "race reverse" FLAVOUR=race SIM_ORDER=reverse
[ "${1-}" != --all ] || run "asan random:2" FLAVOUR=asan SIM_ORDER=random:2 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$asan"
exit $failed
