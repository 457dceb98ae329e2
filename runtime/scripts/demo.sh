#!/bin/sh
# make demo: trains a small model on English prose, adapts it to C with LoRA, and compares their losses.
#
# GEN, DEVICE and JIT as for runtime/scripts/run.sh.
set -eu
spec=specs/lora_r16.toml name=lora_r16

# build NAME GOAL: generates specs/NAME.toml and makes a goal of its program.
build() {
    echo "building build/$1"
    "${GEN:-./gpuopt-gen}" "specs/$1.toml" -o "build/$1" >/dev/null
    make --no-print-directory -s -j2 -C "build/$1" "$2" SIM_OUT="$PWD/build/sim" \
        DEVICE="${DEVICE:-auto}" JIT="${JIT:-0}"
}

echo "== $spec: an adapter for the model that specs/base_tiny.toml trains"
# Nothing is removed: a base that is trained is taken, and what was cut short goes on.
build base_tiny ready
export GPUOPT_DEVICE_SAID=1 # that one said which device it found
build $name all
[ ! -f build/$name/out/report.json ] ||
    echo "build/$name/out has the results of an earlier run, which this one replaces when it ends"
CONTINUE=1 BUILT=1 runtime/scripts/run.sh --spec $spec

# figure NAME: prints a figure of the report's "loss".
figure() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" build/$name/out/report.json | head -n 1; }

echo
echo "== held-out loss on C source"
awk -v base="$(figure heldout_before)" -v adapted="$(figure heldout_after)" 'BEGIN {
    printf "  base model     %.4f\n  with adapter   %.4f\n  ratio          %.3f, %.1f %% lower\n",
        base, adapted, adapted / base, 100 * (1 - adapted / base)
}'
echo "  The adapter (PEFT), report.txt and loss.csv are in build/$name/out, the program in build/$name."
