#!/bin/sh
# make asan: runs the compiler with AddressSanitizer and UBSan on every spec and every error test,
# then a small program and its kernels with them on the simulated device.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=build/asan
. tests/env.sh
. tests/lib.sh
suite=asan
flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

mkdir -p $work
make -s -j2 GEN=$work/gpuopt-gen OBJ=$work/obj CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS="$flags" \
    $work/gpuopt-gen || exit 1
export ASAN_OPTIONS=detect_leaks=1

# The points of a study mostly pass through the same code, so three studies stand for all.
for spec in specs/*.toml specs/*/*.toml tests/oracle/cases/*/spec.toml; do
    to="-o $work/program"
    case $spec in
    */study_cards.toml | */study_tuning.toml | */study_tensor_*) ;;
    */study_*) to=--check ;;
    esac
    # shellcheck disable=SC2086 # an option and its value
    $work/gpuopt-gen "$spec" $to >$work/log 2>&1
    report $? "$spec" $work/log
    rm -rf $work/program
done
GPUOPT_GEN=$work/gpuopt-gen tests/error/run.sh >$work/log 2>&1
report $? "the compiler's errors" $work/log

# run_program STEPS
run_program() {
    ASAN_OPTIONS=detect_leaks=0 $work/program/run --init $case/model --adapter $case/adapter --steps "$1" --out $work/out
}

# buffers LESS: prints the buffers of buffers.h for SIM_BUFFERS, each LESS bytes shorter if it is
# larger.
buffers() {
    awk -v less="$1" '
        $2 ~ /^(STATE|SCRATCH)_BYTES$/ { arena = $3 + 0 }
        $2 == "INPUT_BYTES" { arena = 0 }
        arena && /^#define [A-Z_0-9]+ [0-9]+ul \/\* [a-z]+[0-9]+ \[/ && !/, row stride / {
            bytes = $5
            gsub(/[^0-9]/, "", bytes)
            bytes /= 8
            shape = $0
            sub(/[^[]*\[/, "", shape)
            sub(/\].*/, "", shape)
            for (n = split(shape, dim, /, /); n; n--) bytes *= dim[n]
            print arena, $3 + 0, bytes - (bytes > less ? less : 0)
        }' $work/program/buffers.h
}

# The program is C and links the sanitizers; the module of its kernels has a flavour for that.
build_program() { # build_program [OPTION]...
    $work/gpuopt-gen $case/spec.toml -o $work/program "$@" >$work/log 2>&1 &&
        make -s -j2 -C $work/program RTLIB= SIM_FLAVOUR=asan CFLAGS="$flags" LDFLAGS="$flags" >>$work/log 2>&1
}
case=tests/oracle/cases/demo
build_program && run_program 2 >>$work/log 2>&1
report $? "a program of $case" $work/log

# Also within an arena, each kernel accesses only the buffers that it was given, up to their ends.
# (A joined launch gets the first layer's buffer and finds the others by their stride.)
buffers_are_kept() {
    build_program --set compile.joined_launches=false || return 1
    buffers 0 >$work/buffers
    SIM_BUFFERS=$work/buffers run_program 1 >>$work/log 2>&1
}
buffers_are_kept
report $? "buffers of an arena" $work/log
buffers 16 >$work/buffers
! SIM_BUFFERS=$work/buffers run_program 1 >$work/log 2>&1 && grep -q use-after-poison $work/log
report $? "16 bytes past a buffer are noticed" $work/log
exit $failed
