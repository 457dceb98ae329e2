#!/bin/sh
# Every spec's kernels.cu compiles with the toolkit's nvcc and NVRTC, without a warning.
#
#     tests/build/run.sh [--all]     for sm_90a, every fourth with NVRTC, without studies, specs/h100
#                                    and mobilenet_v2_tiny, which has the most kernels;
#                                    with --all also these, a study's first two points for sm_90a,
#                                    each of specs/*.toml for sm_80 or sm_100 too, and every second
#                                    spec with NVRTC: all specs use the same templates
#
# Studies have up to hundreds of points, so without --all they are only checked.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=build/build
. tests/env.sh
. tests/lib.sh
suite=build
compiled=$(printf '%s\n' specs/*.toml | grep -v '/study_\|/mobilenet_')
points=1 jit_every=4 only_checked=study_ other_archs=
[ "${1-}" = --all ] &&
    compiled="specs/*.toml specs/h100/*.toml" points=2 jit_every=2 only_checked=- other_archs="sm_80 sm_100"

rm -rf $work
mkdir -p $work
$CC -std=c17 -D_GNU_SOURCE -I. -isystem "$CUDA_HOME/include" -o $work/jit \
    tests/runtime/program/jit.c "$RTLIB" -ljansson -lz -ldl -lm -lpthread || exit 1
known=$("$CUDA_HOME/bin/nvcc" --list-gpu-code) || exit 1
nvdisasm=$(PATH="$CUDA_HOME/bin:$PWD/build/deps:$PATH" command -v nvdisasm)

# folder_of SPEC: specs/h100/gpt2_124m.toml has build/build/h100.gpt2_124m.
folder_of() { echo "${1%.toml}" | sed "s,^specs/,,; s,/,.,; s,^,$work/,"; }

for spec in specs/*.toml specs/*/*.toml; do
    case $spec in
    */$only_checked*) attempt "$spec is valid" ./gpuopt-gen --check "$spec" ;;
    *) attempt "$spec is generated" ./gpuopt-gen "$spec" -o "$(folder_of "$spec")" ;;
    esac
done

# Points of a study often share their kernels, so each kernels.cu is compiled once, in the order of
# its spec's points.
for spec in $compiled; do
    find "$(folder_of "$spec")" -name kernels.cu | sort | head -n $points |
        xargs sha256sum | awk '{ print NR, $0 }'
done | awk '!seen[$2]++ { print $1, $3 }' >$work/list
count=0
while read -r place kernels; do
    name=${kernels#"$work"/}
    name=${name%/kernels.cu}
    archs=sm_90a
    case $place$name in
    1h100.*) ;;
    1*) archs="$(printf '%s\n' $other_archs | sed -n $((count % 2 + 1))p) sm_90a" ;;
    esac
    for arch in $archs; do # sm_90a last, for its cubin
        [ "$arch" = sm_90a ] || ! grep -q wgmma.mma_async "$kernels" || continue # only sm_90a has it
        case $known in
        *"${arch%a}"*) attempt "$name $arch" "$CUDA_HOME/bin/nvcc" -cubin -arch="$arch" -std=c++17 \
            -fmad=false -lineinfo -Werror all-warnings -I. "$kernels" -o "$work/$name.cubin" ;;
        *) echo "skip build $name $arch: this nvcc does not know it" ;;
        esac
    done
    if [ -n "$nvdisasm" ] && grep -q wgmma.mma_async "$kernels"; then
        "$nvdisasm" -c "$work/$name.cubin" >"$work/sass"
        attempt "$name registers in flight" tests/gpu/in_flight.py "$work/sass"
    fi
    [ "$place" -eq 1 ] || continue
    [ $((count % jit_every)) -ne 0 ] || attempt "$name NVRTC" "$work/jit" "${kernels%/kernels.cu}"
    count=$((count + 1))
done <$work/list

# The demos, which are fp32, have no prologue.
[ "$only_checked" != - ] || attempt "prologues NVRTC" "$work/jit" "$work/h100.llama32_1b_lora_r16"

# The demos above have no convolutions in 16 bits.
attempt "convolutions by wgmma are generated" ./gpuopt-gen tests/sim/pools.toml --set precision.dtype=bf16 \
    -o "$work/pools"
attempt "convolutions by wgmma NVRTC" "$work/jit" "$work/pools"
# None of them reads files of pictures.
attempt "pictures are generated" ./gpuopt-gen tests/sim/pools.toml --set data.format=image_folder \
    --set 'data.train=["pictures"]' -o "$work/folder"
attempt "pictures NVRTC" "$work/jit" "$work/folder"

# Other devices multiply heads and windows in another way.
for other in attention:llama32_1b_lora_r16 convolutions:resnet50_224; do
    what=${other%:*}
    attempt "$what without wgmma are generated" ./gpuopt-gen "specs/h100/${other#*:}.toml" \
        --set compile.wgmma=false --force -o "$work/no_wgmma"
    for arch in $other_archs; do
        attempt "$what without wgmma $arch" "$CUDA_HOME/bin/nvcc" -ptx -arch="$arch" -std=c++17 \
            -Werror all-warnings -I. "$work/no_wgmma/kernels.cu" -o "$work/no_wgmma.ptx"
    done
done
exit $failed
