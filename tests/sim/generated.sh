#!/bin/sh
# generated.sh [--all]: runs kernels of random graphs, and convolutions, on the simulated device
# with its race checker, and with --all also in several orders of threads, with AddressSanitizer and
# in each precision. Prints `ok NAME` or `FAIL NAME` for each test. SIM_OUT names the built device;
# `make unit-tests` builds build/libgen.a and build/libshared.a.
cd "$(dirname "$0")/../.." || exit 1
sim=${SIM_OUT:-$PWD/build/sim}
out=$PWD/build/generated
cuda=${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}
cc=${CC:-gcc}
orders='' short=SHORT=1
[ "${1-}" != --all ] || orders="forward reverse random:1 random:2" short=
rm -rf "$out"
mkdir -p "$out"
for test in kernels conv2d; do
    for source in test_generated_$test generated; do
        $cc -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -I. -Igen -Itests/unit \
            -isystem "$cuda/include" -c tests/sim/$source.c -o "$out/$source.o" || exit 1
    done
    ${CXX:-g++} -o "$out/$test" "$out/test_generated_$test.o" "$out/generated.o" build/libshared.a build/libgen.a \
        -L"$sim" -Wl,-rpath,"$sim" -lcuda -lcmocka -ljansson -lnettle -lz -lm || exit 1
done
export SIM_FOLDER="$sim" SIM_TESTS="$out" CUDA_HOME="$cuda" CMOCKA_MESSAGE_OUTPUT=TAP
asan="$($cc -print-file-name=libasan.so) $($cc -print-file-name=libubsan.so)"
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
