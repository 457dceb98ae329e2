#!/bin/sh
# make gpu-bundle: build/gpu, a folder to copy to a machine with a GPU, the CUDA toolkit and a Python
# with PyTorch, transformers and PEFT. It needs nothing else: jansson and zlib are linked statically.
#
#     first-minutes        runs the following, what tells most first
#     check-gpu            compares kernels with the simulated device, steps with PyTorch's numbers
#     bench                compares Llama 3.2 1B with PyTorch and PEFT
#     bench-images         compares image models with PyTorch and torchvision
#     bench-tuning         compares techniques of tuning with each other, and with PyTorch, PEFT and others
#     bundle.tar.xz        the following, which these unpack; programs share most of their contents
#     programs/NAME        run, kernel_check, launch_times, kernels.cu, kernels.cubin (sm_90a), kernels.sim
#     sim, tests/oracle    the simulated device; weights, data and PyTorch's numbers
#     lib, tests/pictures  what reads JPEG files; such files
#     specs                specs of the image models that the peers train

set -eu
cd "$(dirname "$0")/../.."
. tests/variants.sh
root=$PWD out=build/gpu work=build/gpu-work
jansson=$(${CC:-cc} -print-file-name=libjansson.a)

rm -rf $out $work/sim
mkdir -p $out/programs/runtime $out/tests/oracle/cases $out/sim $work
make --no-print-directory -s -j2 OBJ=$work/obj RT_LIB=$work/libruntime.a RUNTIME_PARENT=.. \
    $work/libruntime.a
${CC:-cc} -std=c17 -O2 -fPIC -c tests/gpu/plain_blas.c -o $work/plain_blas.o
make --no-print-directory -s -j2 -f runtime/sim/Makefile.inc RT=runtime SIM_OUT=$work/sim \
    SIM_BLAS="$PWD/$work/plain_blas.o" sim

# program NAME SPEC [SETTING]...: builds a program. Data files are in $data. Line information, half of
# a module, is kept only for demo, where compute-sanitizer uses it. Reuses the cubin of $like if the
# kernels are the same.
data=. like=
program() {
    name=$1 spec=$2 sets=
    shift 2
    echo "$name"
    for setting in "$@"; do
        sets="$sets --set $setting"
    done
    # shellcheck disable=SC2086 # settings have no spaces
    (cd $data && "$root/gpuopt-gen" "$root/$spec" $sets --force -o "$root/$work/$name" >/dev/null)
    case $name in
    demo.*) ;;
    *) sed -i 's/ -lineinfo//' "$work/$name/Makefile" ;;
    esac
    if [ -n "$like" ] && cmp -s "$work/$like/kernels.cu" "$work/$name/kernels.cu"; then
        cp "$work/$like/kernels.cubin" "$work/$name"
    fi
    make --no-print-directory -s -C "$work/$name" DEVICE=cuda ARCH=sm_90a RT="$PWD" \
        RTLIB="$PWD/$work/libruntime.a"
    mkdir -p "$out/programs/$name"
    cp "$work/$name/run" "$work/$name/kernels.cu" "$work/$name/kernels.cubin" "$work/$name/plan.json" \
        "$out/programs/$name"
    strip "$out/programs/$name/run"
}

# checked NAME ...: a program whose kernels are also compared with the simulated device's; those with
# wgmma, which the host's compiler cannot see, via nvcc's PTX.
checked() {
    program "$@"
    by_way_of=
    ! grep -q wgmma.mma_async "$work/$1/kernels.cu" || by_way_of=sm_90a
    env ${by_way_of:+SIM_PTX=$by_way_of} $work/sim/simcc -I "$PWD" "$work/$1/kernels.cu" -o "$out/programs/$1/kernels.sim"
    tests/gpu/link_tool.sh kernel_check "$work/$1" $work/libruntime.a "$out/programs/$1/kernel_check"
}

# Cases of the oracle, with their data and numbers.
while read -r case dtype variant; do
    case_spec=tests/oracle/cases/$case/spec.toml
    # shellcheck disable=SC2046 # settings are words
    checked "$case${variant:+.$variant}.$dtype" "$case_spec" \
        $(settings_of "$case_spec" "$dtype" "${variant:-default}")
    [ -d "$out/tests/oracle/cases/$case" ] || cp -r "tests/oracle/cases/$case" $out/tests/oracle/cases
done <<'CASES'
demo fp32
demo tf32
demo bf16
demo fp64
demo fp16
odd fp32
odd bf16
packed bf16
pretrain_tied bf16
rope_llama3 fp32
accumulate fp64
long_head bf16
mlp fp32
cnn fp32
cnn bf16
mobilenet bf16
resnet18 tf32
resnet50 bf16
demo bf16 read_apart
demo bf16 programmatic
cnn bf16 programmatic
mobilenet bf16 prefetch
resnet50 bf16 gram
CASES
for width in 64 128; do
    checked head$width tests/gpu/specs/head$width.toml
    checked head$width.no_wgmma tests/gpu/specs/head$width.toml compile.wgmma=false
done

checked dropout tests/sim/gelu_low_rank.toml precision.dtype=bf16 training.steps=4
checked pools tests/sim/pools.toml precision.dtype=bf16 training.steps=4
checked depthwise tests/sim/depthwise.toml precision.dtype=bf16 training.steps=4 optimizer.lr=1e-5
checked in_backward tests/golden/in_backward.toml optimizer.state=int8 training.steps=4

# JPEG files, and the library that reads them, which the machine may not have.
tests/gpu/pictures.sh $out $work/libruntime.a $work
data=$out
checked pictures tests/gpu/specs/pictures.toml
data=.

# Steps with collectives over NCCL communicators of one rank.
while read -r case strategy settings; do
    # shellcheck disable=SC2086 # settings have no spaces
    program "$case.one_rank_$strategy.bf16" "tests/oracle/cases/$case/spec.toml" precision.dtype=bf16 \
        parallelism.one_rank_collectives=$strategy $settings
done <<'STRATEGIES'
demo ddp parallelism.bucket_size_mb=0.001
demo shard parallelism.shard_stage=3
pretrain_tied shard parallelism.shard_stage=2
demo tensor parallelism.sequence_parallel=true
pretrain_tied tensor
cnn ddp
STRATEGIES

# The benchmark's program, and variants: each of the compiler's optimisations off, and one on.
llama_spec=specs/h100/llama32_1b_lora_r16.toml
llama() {
    name=$1
    shift
    program "$name" $llama_spec data.format=tokens 'data.train=["tokens.bin"]' \
        data.shuffle=false data.eval_batches=1 training.steps=120 training.log_every=20 \
        checkpoint.export=false "$@"
}
llama llama
tests/gpu/link_tool.sh launch_times $work/llama $work/libruntime.a $out/programs/llama/launch_times
llama profile profiling.enabled=true
# Each kernel of image models, at their usual sizes, and the same in a graph, by CUPTI.
for timed in cnn:tests/gpu/specs/cnn mobilenet_v2:specs/h100/mobilenet_v2_224 resnet50:specs/h100/resnet50_224; do
    name=timed.${timed%%:*}
    program "$name" "${timed#*:}.toml"
    tests/gpu/link_tool.sh launch_times "$work/$name" $work/libruntime.a "$out/programs/$name/launch_times"
    like=$name
    program "profile.${timed%%:*}" "${timed#*:}.toml" profiling.enabled=true
    like=
done
for switch in $(switches); do # those with an effect
    ! ./gpuopt-gen --check $llama_spec --set "$switch=false" >/dev/null 2>&1 ||
        llama "llama.no_${switch#compile.}" "$switch=false"
done
llama llama.programmatic compile.programmatic_launch=true

# Switches that do not change the kernels share one module.
for folder in $out/programs/llama.* $out/programs/profile; do
    cmp -s "$folder/kernels.cu" $out/programs/llama/kernels.cu || continue
    ln -sf ../llama/kernels.cu ../llama/kernels.cubin "$folder"
done

cp runtime/kernel.cuh $out/programs/runtime
cp -P $work/sim/lib* $out/sim
strip $out/sim/lib*.so.*
cp tests/gpu/*.py tests/bench/*.py $out
mkdir -p $out/specs/h100
cp specs/fashion_cnn.toml $out/specs
cp specs/h100/mobilenet_v2_224.toml specs/h100/resnet50_224.toml $out/specs/h100
${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -I. -s -o $out/compare tests/oracle/compare.c \
    tests/oracle/compare_main.c runtime/files/safetensors.c "$jansson" -lm

# listed FILE: the programs of a benchmark, as it lists them.
listed() {
    while read -r name spec settings; do
        # shellcheck disable=SC2086 # settings have no spaces
        program "$name" "$spec" $settings
        like=$name
    done <"$1"
}

# The programs of bench-tuning; that of LoRA has the kernels of llama.
like=llama
python3 $out/bench_tuning.py --programs >$work/tuning.list
listed $work/tuning.list

# The programs of bench-images; they differ in how they are fed, which changes few kernels.
mkdir -p $work/data
python3 $out/bench_images.py --programs $work/data >$work/images.list
data=$work/data
listed $work/images.list

tar -C $out -cJf $out/bundle.tar.xz sim lib tests specs compare programs
rm -r $out/programs $out/sim $out/lib $out/tests $out/specs $out/compare
tests/gpu/launchers.sh $out check-gpu=check_gpu.py bench=bench_lora.py bench-images=bench_images.py \
    bench-tuning=bench_tuning.py
cp tests/gpu/first_minutes.sh $out/first-minutes

size=$(du -sm $out | cut -f1)
echo "build/gpu: $size MiB"
[ "$size" -le 40 ] || { echo "error: a bundle may have 40 MiB" >&2; exit 1; }
