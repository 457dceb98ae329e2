#!/bin/sh
# make fuzz: libFuzzer on the readers of specs, JSON lines, token shards, IDX files, JPEG and PNG files
# and safetensors, FUZZ_SECONDS each (60).
# Prints how many inputs were tried. A finding is kept in build/fuzz/NAME.crash-*, and prints FAIL.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=build/fuzz
seconds=${FUZZ_SECONDS:-60}
cc=${FUZZ_CC:-clang}
checks="-O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined"
failed=0
mkdir -p $work

# Builds the compiler's objects again, with coverage for the fuzzer.
covered="$checks -fsanitize=fuzzer-no-link"
make -s -j2 CC="$cc" CXX="$cc++" STRICT= OBJ=$work/obj CFLAGS="$covered" CXXFLAGS="$covered" \
    $work/libgen.a || exit 1

# fuzz NAME "SEED FILES" SOURCES... LIBRARIES...
fuzz() {
    name=$1 seeds=$2
    shift 2
    mkdir -p "$work/$name.obj"
    rm -f "$work/$name.obj"/*
    for source in "tests/fuzz/$name.c" "$@"; do
        # shellcheck disable=SC2086 # flags are words
        case $source in
        *.c) $cc -std=c17 -D_GNU_SOURCE $covered -I. -Igen \
            -isystem "${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}/include" -c "$source" -o "$work/$name.obj/$(basename "$source" .c).o" || exit 1
            [ "$source" = "tests/fuzz/$name.c" ] || shift ;;
        esac
    done
    # shellcheck disable=SC2086
    $cc++ $checks -fsanitize=fuzzer -o "$work/$name" "$work/$name.obj"/*.o "$@" || exit 1
    mkdir -p "$work/$name.corpus" "$work/$name.seeds"
    for seed in $seeds; do
        cp "$seed" "$work/$name.seeds/$(echo "$seed" | tr / _)"
    done
    if "$work/$name" -max_total_time="$seconds" -max_len=8192 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$work/$name.crash-" "$work/$name.corpus" "$work/$name.seeds" \
        >"$work/$name.log" 2>&1; then
        echo "ok $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log") inputs"
    else
        echo "FAIL $name (log: $work/$name.log)"
        tail -n 40 "$work/$name.log"
        failed=1
    fi
}

fuzz fuzz_spec "tests/error/*.toml specs/*.toml tests/error/parts/*/config.json" \
    $work/libgen.a -ljansson -lnettle -lz -lm
reader="runtime/data/*.c runtime/files/infile.c runtime/base/rt.c runtime/base/dynlib.c runtime/base/sha256.c"
# shellcheck disable=SC2086 # files are words
fuzz fuzz_jsonl "tests/oracle/cases/*/data.jsonl" \
    $reader -ljansson -lz -lm -lpthread
mkdir -p $work/shards
for case in packed dpo; do
    runtime/data/tokenize_jsonl.py -o $work/shards/$case.bin tests/oracle/cases/$case/data.jsonl || exit 1
done
# shellcheck disable=SC2086
fuzz fuzz_shards "$work/shards/*.bin" $reader -ljansson -lz -lm -lpthread
# shellcheck disable=SC2086
fuzz fuzz_idx "tests/fuzz/idx/*" $reader -ljansson -lz -lm -lpthread
# shellcheck disable=SC2086
fuzz fuzz_picture "tests/fuzz/images/*" $reader -ljansson -lz -lm -lpthread
fuzz fuzz_safetensors "tests/oracle/cases/*/adapter/*.safetensors" \
    runtime/files/safetensors.c -ljansson -lm
exit $failed
