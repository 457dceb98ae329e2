#!/bin/sh
# make demo: trains a small model on English prose, adapts it to C with LoRA, and compares their losses.
set -eu
spec=specs/lora_r16.toml name=lora_r16

echo "== $spec: an adapter for the model that specs/base_tiny.toml trains"
rm -rf build/base_tiny/out build/$name/out
runtime/scripts/run.sh --spec $spec

# figure NAME: prints a figure of the report's "loss".
figure() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" build/$name/out/report.json | head -n 1; }

echo
echo "== held-out loss on C source"
awk -v base="$(figure heldout_before)" -v adapted="$(figure heldout_after)" 'BEGIN {
    printf "  base model     %.4f\n  with adapter   %.4f\n  ratio          %.3f, %.1f %% lower\n",
        base, adapted, adapted / base, 100 * (1 - adapted / base)
}'
echo "  The adapter (PEFT), report.txt and loss.csv are in build/$name/out, the program in build/$name."
