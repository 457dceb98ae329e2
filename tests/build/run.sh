#!/bin/sh
# Every spec's kernels.cu compiles with the toolkit's nvcc and NVRTC, without a warning.
#
#     tests/build/run.sh [--all]     sm_90a, of a study its first point, every third with NVRTC;
#                                    with --all all with NVRTC, sm_80 and sm_100 too, and a
#                                    study's first six: later points differ in sizes only
#
# CUDA_HOME is the toolkit; RTLIB the runtime's library (build/libruntime.a). Works under build/build.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=build/build
cuda=${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}
archs=sm_90a
points=1 jit_every=3
[ "${1-}" = --all ] && archs="sm_80 sm_90a sm_100" points=6 jit_every=1
failed=0

# attempt NAME COMMAND...
attempt() {
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok build $name"
    else
        echo "FAIL build $name: $*"
        grep -v '^Remark' "$work/log" | head -n 30
        failed=1
    fi
}

rm -rf $work
mkdir -p $work
${CC:-cc} -std=c17 -D_GNU_SOURCE -I. -isystem "$cuda/include" -o $work/jit \
    tests/runtime/program/jit.c "${RTLIB:-build/libruntime.a}" -ljansson -lz -ldl -lm -lpthread || exit 1
known=$("$cuda/bin/nvcc" --list-gpu-code) || exit 1

for spec in specs/*.toml specs/*/*.toml; do
    name=$(basename "$spec" .toml)
    attempt "$spec is generated" ./gpuopt-gen "$spec" -o "$work/$name"
done

# Points of a study often share their kernels: each kernels.cu once.
for folder in $work/*/; do
    find "$folder" -name kernels.cu | sort | head -n $points
done | xargs sha256sum | awk '!seen[$1]++ { print $2 }' >$work/list
count=0
while read -r kernels; do
    name=${kernels#"$work"/}
    name=${name%/kernels.cu}
    for arch in $archs; do
        case $known in
        *"${arch%a}"*) attempt "$name $arch" "$cuda/bin/nvcc" -cubin -arch="$arch" -std=c++17 \
            -fmad=false -lineinfo -Werror all-warnings -I. "$kernels" -o "$work/$name.cubin" ;;
        *) echo "skip build $name $arch: this nvcc does not know it" ;;
        esac
    done
    [ $((count % jit_every)) -ne 0 ] || attempt "$name NVRTC" "$work/jit" "${kernels%/kernels.cu}"
    count=$((count + 1))
done <$work/list
exit $failed
