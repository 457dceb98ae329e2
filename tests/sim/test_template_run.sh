#!/bin/sh
# Tests of gen/templates. Prints `ok NAME` or `FAIL NAME` for each program and mode; exits with 1 if
# any failed.
#     tests/sim/test_template_run.sh [--all | NAME...]
# Without --all: fewer shapes, two thread orders, and via PTX a warpgroup's products; with it, of all
# templates: three orders, both instrumented flavours, templates with inline PTX via PTX, and nvcc for
# each architecture. A NAME is that of a test program.
cd "$(dirname "$0")/../.." || exit 1
all=
[ "${1-}" != --all ] || all=1
work=$PWD/build/template-tests
. tests/env.sh
. tests/lib.sh
suite=template
rm -rf "$work"
mkdir -p "$work"
tests=
[ $all ] || tests=$*
tests=${tests:-attention embedding low_rank low_rank_matmul pictures}

for test in $tests; do
    with=
    # The runtime decodes pictures too.
    [ $test != pictures ] || with="tests/unit/draw_pictures.c $RTLIB -ljansson -lz -ldl -lpthread"
    # shellcheck disable=SC2086 # words
    $CC -std=c17 -O2 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE -I. -Itests/unit \
        -isystem "$CUDA_HOME/include" tests/sim/test_template_$test.c tests/sim/test_template_common.c \
        $with -o "$work/$test" -L"$SIM_OUT" -Wl,-rpath,"$SIM_OUT" -lcuda -lcmocka -lm || exit 1
done

export SIMCC="$SIM_OUT/simcc" TEST_TMP="$work" TEST_REUSE=1
orders="forward reverse"
if [ $all ]; then
    orders="reverse random:1 random:2" # the flavours run forward
else
    export SHORT=1
fi
for test in $tests; do
    for order in $orders; do
        attempt "$test release $order" env SIM_ORDER=$order "$work/$test"
    done
done
for test in $tests; do
    [ "$test" = attention ] || attempt "$test race" env SIM_FLAVOUR=race "$work/$test"
done
# The host's compiler sees other code instead of a warpgroup's products.
case "$all $tests" in
" "*attention*) attempt "attention ptx" env SIM_PTX=sm_90a "$work/attention" wgmma ;;
esac
[ $all ] || exit $failed # flavours.sh has attention of whole programs in the race flavour

asan="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"
attempt "attention race" env SIM_FLAVOUR=race "$work/attention"
# These take minutes to compile for all shapes, and attention on plain cores has no inline PTX. flavours.sh
# runs whole programs of odd shapes with AddressSanitizer.
for test in "attention mma*" "attention wgmma" embedding low_rank low_rank_matmul pictures; do
    # shellcheck disable=SC2086 # a program and perhaps the names of its tests
    attempt "$test ptx" env SHORT=1 SIM_PTX=sm_90a SIM_OPTIMIZE=-O1 "$work"/$test
done
for test in $tests; do
    attempt "$test asan" env SHORT=1 SIM_FLAVOUR=asan ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$asan" "$work/$test"
done
# ptxas does not warn if it inserts a wait after each of a warpgroup's products.
compile() { # compile TEMPLATE ARCH
    nvcc -std=c++17 -fmad=false -Werror all-warnings -I. -cubin -arch="sm_$2" "$1" \
        -o "$work/template.cubin" >"$work/compile.log" 2>&1
    status=$?
    cat "$work/compile.log"
    grep -q 'are serialized' "$work/compile.log" && status=1
    return $status
}
for template in gen/templates/*.cu; do
    archs="80 90a 100"
    case $template in *_wgmma.cu) archs=90a ;; esac
    for arch in $archs; do
        attempt "$(basename "$template") sm_$arch" compile "$template" "$arch"
    done
done
exit $failed
