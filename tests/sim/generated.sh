#!/bin/sh
# generated.sh [--all]: runs kernels of random graphs, and convolutions, on the simulated device
# with its race checker, products of warpgroups also via PTX, and with --all in several orders of threads,
# with AddressSanitizer and in each precision. Prints `ok NAME` or `FAIL NAME` for each test.
# `make unit-tests` builds build/libgen.a and build/libshared.a.
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
. tests/lib.sh
suite=generated
work=$PWD/build/generated
orders='' short=SHORT=1
[ "${1-}" != --all ] || orders="forward reverse random:1 random:2" short=
rm -rf "$work"
mkdir -p "$work"
for test in kernels conv2d; do
    for source in test_generated_$test generated; do
        $CC -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -I. -Igen -Itests/unit \
            -isystem "$CUDA_HOME/include" -c tests/sim/$source.c -o "$work/$source.o" || exit 1
    done
    ${CXX:-g++} -o "$work/$test" "$work/test_generated_$test.o" "$work/generated.o" build/libshared.a build/libgen.a \
        -L"$SIM_OUT" -Wl,-rpath,"$SIM_OUT" -lcuda -lcmocka -ljansson -lnettle -lz -lm || exit 1
done
export SIM_FOLDER="$SIM_OUT" SIM_TESTS="$work"
asan="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"

with_settings() { # with_settings NAME SETTING...
    name=$1
    shift
    for test in kernels conv2d; do
        # shellcheck disable=SC2086 # no word if $short is empty
        cmocka "$name" env $short "$@" "$work/$test"
    done
}

for order in $orders; do
    with_settings "release $order" FLAVOUR=release SIM_ORDER="$order"
done
with_settings "race reverse" FLAVOUR=race SIM_ORDER=reverse
# The host's compiler sees other code instead of a warpgroup's products.
mkdir -p "$work/ptx"
attempt "conv2d ptx" env SIM_PTX=sm_90a SIM_OPTIMIZE=-O1 SIM_TESTS="$work/ptx" "$work/conv2d" conv2d_wgmma
[ "${1-}" != --all ] || with_settings "asan random:2" FLAVOUR=asan SIM_ORDER=random:2 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$asan"
exit $failed
