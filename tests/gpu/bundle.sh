#!/bin/sh
# make gpu-bundle: build/gpu, a folder to copy to a machine with a GPU, the CUDA toolkit and a
# Python with PyTorch, transformers and PEFT. It needs nothing else: jansson and zlib are linked statically.
#
#     check-gpu            kernels against the simulated device, steps against PyTorch's numbers, memory
#     bench                Llama 3.2 1B beside PyTorch and PEFT
#     programs/NAME        run, kernel_check, kernels.cu, kernels.cubin (sm_90a), kernels.sim
#     sim, tests/oracle    the simulated device; weights, data and PyTorch's numbers

set -eu
cd "$(dirname "$0")/../.."
out=build/gpu work=build/gpu-work
jansson=$(${CC:-cc} -print-file-name=libjansson.a)

rm -rf $out $work/sim
mkdir -p $out/programs/runtime $out/tests/oracle/cases $out/sim $work
make --no-print-directory -s -j2 OBJ=$work/obj RT_LIB=$work/libruntime.a RUNTIME_PARENT=.. \
    $work/libruntime.a
${CC:-cc} -std=c17 -O2 -fPIC -c tests/gpu/plain_blas.c -o $work/plain_blas.o
make --no-print-directory -s -j2 -f runtime/sim/Makefile.inc RT=runtime SIM_OUT=$work/sim \
    SIM_BLAS="$PWD/$work/plain_blas.o" sim

# program NAME SPEC [SETTING]... Only compute-sanitizer, which looks at demo, reads the source lines
# in a module; they are half of it.
program() {
    name=$1 spec=$2 sets=
    shift 2
    echo "$name"
    for setting in "$@"; do
        sets="$sets --set $setting"
    done
    # shellcheck disable=SC2086 # settings have no spaces
    ./gpuopt-gen "$spec" $sets --force -o "$work/$name" >/dev/null
    case $name in
    demo.*) ;;
    *) sed -i 's/ -lineinfo//' "$work/$name/Makefile" ;;
    esac
    make --no-print-directory -s -C "$work/$name" DEVICE=cuda ARCH=sm_90a RT="$PWD" \
        RTLIB="$PWD/$work/libruntime.a"
    mkdir -p "$out/programs/$name"
    cp "$work/$name/run" "$work/$name/kernels.cu" "$work/$name/kernels.cubin" "$work/$name/plan.json" \
        "$out/programs/$name"
    strip "$out/programs/$name/run"
}

# checked NAME ...: a program whose kernels are compared with the simulated device's, too.
checked() {
    program "$@"
    $work/sim/simcc -I "$PWD" "$work/$1/kernels.cu" -o "$out/programs/$1/kernels.sim"
    tests/gpu/link_kernel_check.sh "$work/$1" $work/libruntime.a "$out/programs/$1/kernel_check"
}

# With the loss scale at which the reference ran in fp16, and the case's data and numbers.
while read -r case dtype; do
    scale=
    [ "$dtype" != fp16 ] || scale=precision.init_scale=1024.0
    # shellcheck disable=SC2086 # no scale, no setting
    checked "$case.$dtype" "tests/oracle/cases/$case/spec.toml" "precision.dtype=$dtype" $scale
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
CASES
checked head64 tests/gpu/specs/head64.toml
checked head128 tests/gpu/specs/head128.toml

# The benchmark's program, and each of the compiler's ideas switched off.
llama() {
    name=$1
    shift
    program "$name" specs/h100/llama32_1b_lora_r16.toml data.format=tokens 'data.train=["tokens.bin"]' \
        data.shuffle=false data.eval_batches=1 training.steps=120 training.log_every=20 \
        checkpoint.export=false "$@"
}
llama llama
llama profile profiling.enabled=true
for switch in fusion cuda_graph bordered chunked_head skip_ignored_rows overlap; do
    llama llama.no_$switch compile.$switch=false
done

# Switches that the kernels do not see: the same modules.
for folder in $out/programs/llama.* $out/programs/profile; do
    cmp -s "$folder/kernels.cu" $out/programs/llama/kernels.cu || continue
    ln -sf ../llama/kernels.cu ../llama/kernels.cubin "$folder"
done

cp runtime/kernel.cuh $out/programs/runtime
cp -P $work/sim/lib* $out/sim
strip $out/sim/lib*.so.*
cp tests/gpu/*.py tests/bench/*.py $out
${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -I. -s -o $out/compare tests/oracle/compare.c \
    tests/oracle/compare_main.c runtime/safetensors.c "$jansson" -lm
for entry in "check-gpu check_gpu.py" "bench bench_lora.py"; do
    file=$out/${entry% *}
    # shellcheck disable=SC2016 # expanded when it runs
    printf '#!/bin/sh\nexec "${PYTHON:-python3}" "$(dirname "$0")/%s" "$@"\n' "${entry#* }" >"$file"
    chmod +x "$file"
done

size=$(du -sm $out | cut -f1)
echo "build/gpu: $size MiB"
[ "$size" -le 60 ] || { echo "error: a bundle may have 60 MiB" >&2; exit 1; }
