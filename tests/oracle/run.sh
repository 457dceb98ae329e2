#!/bin/sh
# run.sh [--ptx] [--all | --rest] [--only CASE] [--] [PROGRAM_RUNNER...]
#
# Compiles each fixture's spec, runs ten steps of the program on the simulated device, and compares
# them with PyTorch's. PROGRAM_RUNNER is put before the program (such as `env NAME=VALUE`). JOBS is
# the number of parallel runs (default 2). Prints `ok oracle CASE DTYPE VARIANT` or `FAIL ...` with
# the reason; exits with 1 if anything failed. Writes to build/oracle. With --ptx the simulated
# device runs the PTX that nvcc generates from kernels.cu for Hopper, including inline PTX; prints
# `ok ptx CASE DTYPE VARIANT` and writes to build/ptx. --rest runs what --all adds.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
. tests/lib.sh
. tests/variants.sh
self=tests/oracle/run.sh
[ "${1-}" != --ptx ] || { export SIM_PTX=sm_90a && shift; }
suite=${SIM_PTX:+ptx}
suite=${suite:-oracle}
work=build/$suite

# The list for `make check`: most cases once in fp64, and each precision where kernels differ.
short_list() {
    cat <<'TABLE'
demo             fp64  default
demo             fp32  default
demo             tf32  default
demo             bf16  default
pretrain_tied    fp64  default
pretrain_untied  bf16  in_backward
lora_q_v_rslora  fp64  default
odd              fp64  default
odd              fp32  plain
odd              bf16  default
packed           fp64  default
packed           fp64  few_targets
packed           bf16  default
accumulate       fp64  default
accumulate       fp64  small_chunks
rope_llama3      fp64  default
sched            fp64  default
long_head        fp64  default
long_head        bf16  default
qlora            fp64  default
qlora_int8       fp64  default
qat              fp64  default
qat_lora         bf16  default
qat_float8       fp64  default
dpo              fp64  small_chunks
dpo              bf16  default
qwen2            fp64  default
qwen2_lora       bf16  default
gpt2             fp64  default
gpt2_lora        bf16  default
dora             fp64  default
qdora            bf16  default
modules          fp64  default
demo             fp16  default
mlp              fp64  default
mlp              fp16  default
cnn              fp64  default
cnn              bf16  default
cnn_strides      tf32  default
cnn_crops        fp64  default
cnn_crops        bf16  default
cnn              fp32  nchw_plain
mobilenet        bf16  gram
resnet50         fp64  gram
TABLE
}

# has_images CASE: whether its data are images.
has_images() {
    set -- tests/oracle/cases/"$1"/train-images-*
    [ -e "$1" ]
}

# The list for `make check-all` has these too: every case in every precision with all switches on,
# and in two precisions with all off; and every single switch on the cases that it could break.
# The deepest two do not run in fp32: rounding flips one of some hundred thousand ReLUs, which
# changes whole gradients, and PyTorch's rounding flips another one. fp64 tests whether these cases
# are right, and the coarser types have bounds that allow for flips. NCHW adds in yet another order,
# so its deep cases run only in fp64. Cases that round on purpose are as sensitive in all types
# except fp64, and their kernels differ little, so they have a short list.
long_list() {
    for case in tests/oracle/cases/*/; do
        case=$(basename "$case")
        case $case in qlora_fp4 | qlora_int8 | qat* | dpo | qwen2* | gpt2* | *dora | modules) continue ;; esac
        for dtype in fp64 fp32 tf32 bf16 fp16; do echo "$case $dtype default"; done |
            grep -Ev '^(mobilenet|resnet50) fp32 '
        for dtype in fp64 bf16; do echo "$case $dtype plain"; done
        has_images "$case" || continue
        for dtype in fp64 fp32 tf32 bf16 fp16; do echo "$case $dtype nchw"; done |
            grep -Ev '^(mobilenet|resnet34|resnet50) (fp32|tf32|bf16|fp16) '
        echo "$case fp64 nchw_plain"
    done
    echo "qlora fp64 stored"
    echo "qlora_single bf16 stored"
    echo "qlora_fp4 fp32 exported"
    echo "qlora_fp4 fp64 stored"
    echo "qlora_fp4 bf16 plain"
    echo "qlora_int8 fp64 default"
    echo "qlora_int8 bf16 plain"
    for variant in default plain small_chunks precomputed shared; do
        echo "dpo fp64 $variant"
    done
    echo "dpo bf16 default"
    for dtype in fp32 bf16; do
        echo "dpo $dtype shared"
    done
    for dtype in fp64 fp32 tf32 bf16; do
        echo "packed $dtype few_targets"
    done
    cat <<'TABLE'
qat              fp64  default
qat              fp64  plain
qat_lora         fp64  default
qat_lora         bf16  default
qat_float8       fp64  plain
qat_float8       bf16  default
qwen2            fp64  default
qwen2            bf16  plain
qwen2_lora       fp64  plain
qwen2_lora       bf16  default
gpt2             fp64  plain
gpt2             bf16  recompute
gpt2_lora        fp64  default
gpt2_lora        bf16  default
dora             fp64  default
dora             bf16  plain
qdora            fp64  plain
qdora            bf16  default
modules          fp64  default
modules          bf16  plain
pretrain_tied    fp64  no_joined
pretrain_tied    fp64  no_in_place
odd              bf16  no_in_place
pretrain_untied  fp64  in_backward
pretrain_untied  bf16  behind_backward
mobilenet        fp64  in_backward
mobilenet        fp64  behind_backward
cnn              bf16  in_backward
cnn              bf16  behind_backward
demo             fp16  read_once
demo             bf16  read_once
demo             bf16  read_apart
demo             bf16  read_once_apart
cnn_crops        fp32  host
cnn_crops        bf16  nchw_host
mlp              fp32  host
qlora_single     bf16  read_once
TABLE
    for case in demo odd packed accumulate pretrain_tied qlora; do
        for variant in no_fusion whole_head all_rows small_chunks recompute; do
            echo "$case fp64 $variant"
        done
    done
    for case in demo odd packed qlora; do # those with an adapter
        echo "$case fp64 no_bordered"
    done
    for case in demo odd; do
        for variant in no_graph no_overlap one_stream; do # what the launches are does not matter
            echo "$case fp64 $variant"
        done
        for variant in no_fusion no_graph no_bordered whole_head all_rows no_overlap one_stream \
            small_chunks recompute; do
            echo "$case bf16 $variant"
        done
    done
    for case in mlp cnn cnn_strides cnn_crops mobilenet; do
        for variant in no_fusion host sent nchw_host; do
            echo "$case fp64 $variant"
        done
    done
    for case in mobilenet resnet50; do
        for dtype in fp64 bf16 fp16; do echo "$case $dtype gram"; done
    done
    for case in cnn mobilenet; do
        for variant in no_graph no_overlap one_stream; do
            echo "$case fp64 $variant"
        done
    done
}

once() { awk '{ $1 = $1 } !seen[$0]++'; } # each row once
full_list() { { short_list; long_list; } | once; }
rest_of() { "$2" | grep -vxF "$("$1" | once)"; } # rest_of LIST LONGER: the longer list's other rows

# generate DIR CASE DTYPE VARIANT
generate() {
    spec=tests/oracle/cases/$2/spec.toml
    options=$(options_of "$spec" "$3" "$4") || return
    # shellcheck disable=SC2086 # the options are words
    ./gpuopt-gen "$spec" $options -o "$1"
}

# run_program DIR CASE MODEL RUNNER...
run_program() {
    program=$1/run fixture=tests/oracle/cases/$2 model=$3 out=$1/out dump=$1/dump.safetensors
    shift 3
    adapter=
    [ -d "$fixture/adapter" ] && adapter="--adapter $fixture/adapter"
    # shellcheck disable=SC2086
    "$@" "$program" --init "$model" $adapter --steps 10 --dump "$dump" --out "$out"
}

# again_from_export DIR CASE RUNNER...: a second run, from the base that the program exported, gives
# the same bits.
again_from_export() {
    where=$1 again=$2
    shift 2
    mv "$where/dump.safetensors" "$where/first.safetensors" && mv "$where/out/base" "$where/base" &&
        run_program "$where" "$again" "$where/base" "$@" &&
        cmp "$where/first.safetensors" "$where/dump.safetensors"
}

# same_as_stored DIR CASE: the exported base equals the fixture's, byte for byte.
same_as_stored() {
    "$work/compare_tensors" "tests/oracle/cases/$2/stored/model.safetensors" \
        "$1/out/base/model.safetensors"
}

# same_quantized DIR CASE DTYPE: the exported quantised model has the integers and scales of the
# fixture, if the fixture has any, and the same loss as the trained model.
same_quantized() {
    [ -d "$1/out/quantized" ] || return 0
    expected=tests/oracle/cases/$2/quantized.$3.safetensors
    [ ! -e "$expected" ] ||
        "$work/compare_tensors" "$expected" "$1/out/quantized/model.safetensors" || return 1
    awk '/^held-out loss (after|quantized) / { loss[$3] = $4; print }
        END { exit loss["after"] == "" || loss["after"] != loss["quantized"] }' "$1/out/report.txt"
}

# other_batch VARIANT: prints the option that tells compare that rows are laid out differently.
other_batch() { [ "$1" != shared ] || echo --other-batch; }

# one CASE DTYPE VARIANT RUNNER...: runs one test; prints the log only on failure.
one() {
    case=$1 dtype=$2 variant=$3
    shift 3
    dir=$work/$case.$dtype.$variant
    rm -rf "$dir"
    mkdir -p "$dir"
    model=tests/oracle/cases/$case/model
    [ "$variant" != stored ] || model=tests/oracle/cases/$case/stored
    if {
        generate "$dir" "$case" "$dtype" "$variant" &&
            make -s -C "$dir" &&
            run_program "$dir" "$case" "$model" "$@" &&
            echo "--- compared" &&
            "$work/compare" --case "tests/oracle/cases/$case" --dtype "$dtype" \
                --dump "$dir/dump.safetensors" --losses "$dir/out/loss.csv" \
                --evaluations "$dir/out/eval.csv" $(other_batch "$variant") &&
            { [ "$variant" != stored ] || again_from_export "$dir" "$case" "$@"; } &&
            { [ "$variant" != exported ] || same_as_stored "$dir" "$case"; } &&
            same_quantized "$dir" "$case" "$dtype"
    } >"$dir.log" 2>&1; then
        echo "ok $suite $case $dtype $variant"
    else
        # A single write, so that the lines of two jobs do not mix.
        printf '%s\n' "FAIL $suite $case $dtype $variant (log: $dir.log)
$(sed -n '/^--- compared/,$p' "$dir.log" | grep -v '^ok ' | tail -n 40 | grep . ||
            tail -n 20 "$dir.log")"
        return 1
    fi
}

build_comparers() {
    mkdir -p "$work" && build_tool compare tests/oracle/compare.c tests/oracle/compare_main.c &&
        build_tool compare_tensors tests/runtime/compare_tensors.c
}

# --one CASE DTYPE VARIANT: a row of a list, as below, or by hand in a tree where no list has run.
if [ "${1-}" = --one ]; then
    shift
    [ -x "$work/compare_tensors" ] || build_comparers || exit 1
    one "$@"
    exit
fi

# The list for --ptx: kinds of kernels with tensor cores, asynchronous copies, quantisation or 16 bits,
# because their PTX differs from the code that the host's compiler sees. With --all, also a case
# in fp64, and everything that `make check` runs in the other precisions.
ptx_list() {
    cat <<'TABLE'
demo             tf32  default
odd              bf16  default
qlora            bf16  plain
cnn              bf16  programmatic
TABLE
}
full_ptx_list() {
    {
        ptx_list
        for dtype in bf16 fp16; do echo "long_head $dtype wgmma"; done
        echo "demo fp64 default"
        echo "demo bf16 read_once"
        echo "cnn_strides tf32 nchw"
        echo "resnet50 bf16 default"
        echo "mobilenet bf16 prefetch"
        short_list | grep -v ' fp64 '
    } | once
}

list=short_list longer=full_list only=
[ "$suite" = oracle ] || list=ptx_list longer=full_ptx_list
while [ $# -gt 0 ]; do
    case $1 in
    --all) list=$longer ;;
    --rest) list="rest_of $list $longer" ;;
    --only) only=${2?--only needs a case}; shift ;;
    --) shift; break ;;
    *) break ;;
    esac
    shift
done

if [ ! -x ./gpuopt-gen ]; then
    echo "run.sh: ./gpuopt-gen is not built; run make first" >&2
    exit 1
fi
build_comparers || exit 1

rows=$($list | awk -v only="$only" 'only == "" || $1 == only')
[ -n "$rows" ] || { echo "run.sh: no case $only in this list" >&2; exit 1; }

# xargs appends the three words of each row after the runner.
printf '%s\n' "$rows" |
    xargs -r -P "${JOBS:-2}" -L 1 sh -c '
        self=$1 words=$2; shift 2
        # "$@" is the runner, followed by case, dtype and variant
        i=0
        while [ "$i" -lt "$words" ]; do set -- "$@" "$1"; shift; i=$((i + 1)); done
        exec sh "$self" --one "$@"' run "$self" "$#" "$@" ||
    exit 1
