#!/bin/sh
# Tests of the simulated device. Prints `ok NAME` or `FAIL NAME` for each program and mode; exits
# with 1 if any failed.
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/sim-tests
. tests/env.sh
. tests/lib.sh
suite=sim
mkdir -p "$work"

for flavour in release asan race; do
    for source in good_kernels bad_kernels; do
        "$SIM_OUT/simcc" --flavour $flavour -I "$PWD" "tests/sim/$source.cu" \
            -o "$work/$source.$flavour" || exit 1
    done
    SIM_PTX=sm_90a "$SIM_OUT/simcc" --flavour $flavour -I "$PWD" "tests/sim/good_kernels.cu" \
        -o "$work/good_kernels.ptx_$flavour" || exit 1
done
for test in kernels faults streams devices gemm libraries; do
    $CC -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -I"$PWD" -isystem "$CUDA_HOME/include" \
        "tests/sim/test_sim_$test.c" -o "$work/test_sim_$test" -L"$SIM_OUT" -Wl,-rpath,"$SIM_OUT" \
        -lcuda -lcublasLt -lcupti -lnvrtc -lcmocka -lm || exit 1
done

export SIM_TESTS="$work" SIM_FOLDER="$SIM_OUT"
asan="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"
export SIM_ASAN_PRELOAD="$asan"
for order in forward reverse random:1 random:2; do
    attempt "kernels release $order" env SIM_ORDER=$order "$work/test_sim_kernels"
    attempt "kernels race $order" env SIM_ORDER=$order FLAVOUR=race "$work/test_sim_kernels"
    attempt "kernels asan $order" env SIM_ORDER=$order FLAVOUR=asan ASAN_OPTIONS=detect_leaks=0 \
        LD_PRELOAD="$asan" "$work/test_sim_kernels"
done
# The same kernels from nvcc's PTX.
for order in forward reverse; do
    attempt "kernels ptx $order" env SIM_ORDER=$order FLAVOUR=ptx_release "$work/test_sim_kernels"
done
attempt "kernels ptx race" env FLAVOUR=ptx_race "$work/test_sim_kernels"
attempt "kernels ptx asan" env FLAVOUR=ptx_asan ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$asan" "$work/test_sim_kernels"
# Products of a warpgroup (wgmma), which exist only in PTX.
$CC -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -I"$PWD" -isystem "$CUDA_HOME/include" \
    "tests/sim/test_sim_wgmma.c" -o "$work/test_sim_wgmma" -L"$SIM_OUT" -Wl,-rpath,"$SIM_OUT" -lcuda -lcmocka || exit 1
"$work/test_sim_wgmma" write "$work/wgmma_kernels.cu" || exit 1
SIM_PTX=sm_90a SIM_OPTIMIZE=-Og "$SIM_OUT/simcc" --flavour release -I "$PWD" "$work/wgmma_kernels.cu" \
    -o "$work/wgmma_kernels.release" || exit 1
for order in forward reverse random:1; do
    attempt "wgmma $order" env SIM_ORDER=$order FLAVOUR=release "$work/test_sim_wgmma"
done
attempt faults "$work/test_sim_faults"
for queue in eager lazy lazy:1 lazy:2; do
    attempt "streams $queue" env SIM_QUEUE=$queue "$work/test_sim_streams"
    attempt "devices $queue" env SIM_QUEUE=$queue SIM_DEVICES=2 "$work/test_sim_devices"
    attempt "gemm $queue" env SIM_QUEUE=$queue "$work/test_sim_gemm"
done
attempt libraries "$work/test_sim_libraries"

# A precompiled header gives the same module faster; if it cannot be stored, the header itself is
# used.
precompiled_header() {
    copy=$work/copy
    rm -rf "$copy" && mkdir "$copy" &&
        cp -r "$SIM_OUT/simcc" "$SIM_OUT/include" "$SIM_OUT/libcuda.so.1" "$copy" && : >"$copy/precompiled" || return 1
    for kept in none made taken; do
        SIM_CACHE= "$copy/simcc" -I "$PWD" "tests/sim/good_kernels.cu" -o "$work/$kept.sim" &&
            cmp "$work/none.sim" "$work/$kept.sim" || return 1
        case $kept in
        none) rm "$copy/precompiled" ;;
        made) printf '#ifndef SIM_SCAN\n#error read again\n#endif\n' >>"$copy/include/sim_device.h" ;;
        esac
    done
}
attempt "precompiled header" precompiled_header

# SIM_CACHE=1: a source that differs only in its name and in comments is not compiled again; one with other code is,
# and so is one with its lines elsewhere, which messages name.
kept_modules() {
    cached=$work/cached source=tests/sim/good_kernels.cu
    rm -rf "$cached" && mkdir "$cached" && cp -r "$SIM_OUT/simcc" "$SIM_OUT/include" "$SIM_OUT/libcuda.so.1" "$cached" &&
        { echo "// one" && cat $source; } >"$cached/one.cu" && { echo "// another" && cat $source; } >"$cached/other.cu" &&
        { cat "$cached/one.cu" && echo 'static __device__ int more = 1;'; } >"$cached/more.cu" &&
        { echo && cat "$cached/one.cu"; } >"$cached/lower.cu" &&
        printf '#!/bin/sh\ncase " $* " in *" -c "*) echo compiles; esac\nexec g++ "$@"\n' >"$cached/g++" && chmod +x "$cached/g++" ||
        return 1
    for name in one other more lower; do
        SIM_CACHE=1 SIM_CXX=$cached/g++ "$cached/simcc" -I "$PWD" "$cached/$name.cu" -o "$cached/$name.sim" >"$cached/$name.log" || return 1
    done
    cmp "$cached/one.sim" "$cached/other.sim" && [ ! -s "$cached/other.log" ] &&
        [ -s "$cached/one.log" ] && [ -s "$cached/more.log" ] && [ -s "$cached/lower.log" ]
}
attempt "kept modules" kept_modules

# NCCL's replacement, with several ranks.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpicc -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wpedantic -Werror -I"$PWD" -isystem "$CUDA_HOME/include" \
    "tests/sim/test_sim_nccl.c" -o "$work/test_sim_nccl" -L"$SIM_OUT" -Wl,-rpath,"$SIM_OUT" \
    -lcuda -l:libnccl.so.2 -lcmocka || exit 1
for ranks in 1 2 3 4; do
    attempt "nccl $ranks ranks" timeout 100 mpirun -np $ranks "$work/test_sim_nccl"
done
for queue in eager lazy:1; do
    attempt "nccl $queue" env SIM_QUEUE=$queue timeout 100 mpirun -np 3 "$work/test_sim_nccl"
done
for mismatch in mismatch roots; do
    attempt "nccl $mismatch" timeout 100 mpirun -np 2 "$work/test_sim_nccl" $mismatch
done
if echo '#include <nccl.h>' | $CC -isystem "$CUDA_HOME/include" -E -o /dev/null - 2>/dev/null; then
    attempt "nccl interface" $CC -std=c17 -fsyntax-only -Wall -Wextra -Werror -I"$PWD" \
        -isystem "$CUDA_HOME/include" "tests/sim/test_nccl_abi.c"
fi
exit $failed
