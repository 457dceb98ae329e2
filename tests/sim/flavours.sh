#!/bin/sh
# flavours.sh [--ptx] [--all] [CASE]...
#
# Runs two steps of emitted programs on the simulated device: for every order of threads, blocks and
# streams, and every way to compile the kernels, dump and losses equal those of the plain run bit
# for bit. AddressSanitizer and the race checker check every kernel, and the bytes that the race
# checker counts equal the plan's, or are at most the plan's where they depend on data.
#
# Prints `ok flavours CASE DTYPE VARIANT RUN` or `FAIL ...`, with --ptx `ok ptx ...`: the simulated
# device then runs nvcc's PTX, as in tests/oracle/run.sh. JOBS is the number of cases in parallel.
# With --all, cases of the short list have more runs, and their release flavour is optimised as for
# users, not as for other suites (SIM_OPTIMIZE): so check and check-all together test four levels of
# optimisation.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/variants.sh
self=tests/sim/flavours.sh
[ "${1-}" != --ptx ] || { export SIM_PTX=sm_90a && shift; }
suite=${SIM_PTX:+ptx}
suite=${suite:-flavours}
work=$PWD/build/flavours${SIM_PTX:+.ptx} # so that ptx.sh can run at the same time
. tests/env.sh
. tests/lib.sh

# Fixtures of the oracle, or specs next to this script. They cover every template and every mapping
# of a body to threads once: attention in each precision, packed samples, rows without a target,
# several micro-steps, all weights training, 4-bit weights, rounded ones in integers and in fp8, norms
# of weights with their adapters (DoRA), layer norm, rows of a warp, of a block, and wider, fused and
# not; images; 8-bit moments. Those marked `all` share most kernels with others, or are rare, and run
# only with --all.
short_list() {
    cat <<'TABLE'
odd              bf16  default
packed           tf32  few_targets
packed           bf16  long_rows  all
pretrain_tied    fp32  default    all
accumulate       fp64  plain
demo             bf16  read_once  all
qlora            fp32  default    all
qat              bf16  default
dpo              fp32  default    all
wide_rows        fp64  default
wide_rows        bf16  wide_head
wide_rows        fp32  wide_head  all
wide_rows        bf16  long
wide_rows        bf16  wgmma
pools            bf16  default
cnn_strides      fp32  default    all
cnn_strides      bf16  nchw       all
coded_moments    fp32  in_backward
dora             fp32  plain      all
dora             bf16  default    all
qdora            bf16  default    all
qat_float8       bf16  default    all
gpt2             bf16  default    all
TABLE
}

# With --all also other shapes and unfused ops, in one or two types of each size: a kernel's accesses
# depend on the size.
long_list() {
    for dtype in fp32 bf16; do
        for case in demo accumulate long_head; do
            echo "$case $dtype default"
        done
        for case in odd pretrain_tied; do
            echo "$case $dtype plain"
        done
        echo "cnn_strides $dtype sent"
        echo "cnn_strides $dtype nchw"
        echo "wide_rows $dtype wide_head"
    done
    for dtype in fp64 fp32 tf32 bf16; do
        for case in odd pretrain_tied qlora cnn_strides pools wide_rows; do
            echo "$case $dtype default"
        done
        echo "packed $dtype few_targets"
        echo "wide_rows $dtype long"
    done
    for case in odd cnn_strides wide_rows; do
        echo "$case fp16 default"
    done
    cat <<'TABLE'
coded_moments    fp32  default
dpo              bf16  shared
dpo              fp32  shared
dpo              bf16  shared_packed
gpt2             fp32  default
gpt2_lora        fp32  default
qat_float8       fp32  default
gelu_low_rank    bf16  default
qat              bf16  default
qlora_single     fp64  rounded
cnn_crops        fp32  default
cnn_crops        bf16  default
wide_rows        fp16  wgmma_128
mobilenet        bf16  prefetch
mobilenet        bf16  gram
depthwise        bf16  default
depthwise        fp32  small_images
depthwise        fp32  odd_channels
depthwise        fp32  gram
resnet18         tf32  nchw
TABLE
}

# The lists below have in front of each row which runs it has.
with_runs() { awk -v runs="$1" '{ print runs, $1, $2, $3 }'; }
checked() { short_list | awk '$4 != "all"' | with_runs short_runs; }
all() { # each case once
    { short_list | with_runs full_runs && long_list | with_runs short_runs; } |
        awk '!seen[$2, $3, $4]++'
}

# FLAVOUR ORDER QUEUE, one run per line; the others are compared with the first.
short_runs() {
    cat <<'TABLE'
release forward  lazy
release reverse  lazy:1
release random:1 lazy:2
release random:2 eager
race    forward  lazy
race    reverse  lazy
asan    forward  lazy
TABLE
}

full_runs() {
    cat <<'TABLE'
release forward  lazy
release reverse  lazy
release random:1 lazy
release random:2 lazy
race    forward  lazy
race    reverse  lazy
race    random:1 lazy
asan    random:1 lazy
release forward  lazy:1
release forward  lazy:2
release forward  lazy:3
release forward  eager
TABLE
}

# build DIR CASE DTYPE VARIANT: builds the program, and a folder with it and its kernels per
# flavour.
build() {
    spec=tests/sim/$2.toml
    [ -e "$spec" ] || spec=tests/oracle/cases/$2/spec.toml
    options=$(options_of "$spec" "$3" "$4") || return
    # shellcheck disable=SC2086 # the options are words
    ./gpuopt-gen "$spec" $options -o "$1/program" >/dev/null &&
        make -s -C "$1/program" || return 1
    mkdir -p "$1/release" && cp "$1/program/run" "$1/program/kernels.sim" "$1/release/" || return 1
    for flavour in race asan; do
        mkdir -p "$1/$flavour" && cp "$1/program/run" "$1/$flavour/" &&
            "$SIM_OUT/simcc" --flavour $flavour -I "$RT" "$1/program/kernels.cu" \
                -o "$1/$flavour/kernels.sim" || return 1
    done
}

# run_one DIR CASE NAME FLAVOUR ORDER QUEUE [STEPS]
run_one() {
    fixture=tests/oracle/cases/$2 out=$1/$3 preload=
    [ "$4" = asan ] && preload="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"
    weights=
    [ -d "$fixture/model" ] && weights="--init $fixture/model"
    [ -d "$fixture/adapter" ] && weights="$weights --adapter $fixture/adapter"
    # shellcheck disable=SC2086
    env LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 SIM_ORDER="$5" \
        SIM_QUEUE="$6" SIM_COUNTS="$out.counts" "$1/$4/run" $weights --steps "${7:-2}" \
        --dump "$out.dump" --out "$out" >"$out.log" 2>&1
}

same() { cmp "$1.dump" "$2.dump" && cmp "$1/loss.csv" "$2/loss.csv"; }

# one RUNS CASE DTYPE VARIANT
one() {
    [ "$1" = short_runs ] || unset SIM_OPTIMIZE
    runs=$1 case=$2 name="$2 $3 $4" dir=$work/$2.$3.$4 first=
    rm -rf "$dir"
    mkdir -p "$dir"
    if ! build "$dir" "$2" "$3" "$4" >"$dir/build.log" 2>&1; then
        report 1 "$name build" "$dir/build.log"
        return 1
    fi
    $runs >"$dir/runs"
    while read -r flavour order queue; do
        run=$flavour.$order.$queue
        first=${first:-$dir/$run}
        run_one "$dir" "$case" "$run" "$flavour" "$order" "$queue" </dev/null &&
            same "$first" "$dir/$run" >>"$dir/$run.log" 2>&1
        report $? "$name $flavour $order $queue" "$dir/$run.log"
    done <"$dir/runs"
    short_rows= without=
    [ -d "tests/oracle/cases/$2" ] && short_rows=--short-rows
    # What is left of two steps without the first is a step alone, whatever else launches its kernels.
    if [ "$1" = full_runs ]; then
        without=$dir/one_step.counts
        run_one "$dir" "$2" one_step race forward lazy 1
    fi
    # shellcheck disable=SC2086
    "$work/compare_counts" $short_rows "$dir/program/plan.json" "$dir/race.forward.lazy.counts" $without \
        >"$dir/counts.log" 2>&1
    report $? "$name counted bytes" "$dir/counts.log"
    return $failed
}

mkdir -p "$work"
if [ "${1-}" = --one ]; then
    shift
    [ -x "$work/compare_counts" ] || build_tool compare_counts tests/emit/compare_counts.c || exit 1
    one "$@"
    exit
fi

list=checked
[ "${1-}" = --all ] && list=all && shift
build_tool compare_counts tests/emit/compare_counts.c || exit 1
$list | awk -v wanted="$*" 'wanted == "" || index(" " wanted " ", " " $2 " ")' |
    xargs -r -P "${JOBS:-2}" -L 1 "$self" --one
