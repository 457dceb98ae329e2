#!/bin/sh
# Compares the compiler's results for small specs with recorded ones: the graph after the last pass,
# the plan, and the emitted sources; README's tables, which commands print; figures of plans, and keys, in
# documents. Any difference is shown. UPDATE=1 records intended changes, to be reviewed in the
# commit's diff (figures in documents are written by hand).
#
#     tests/golden/run.sh            compares
#     UPDATE=1 tests/golden/run.sh   records
#
# GPUOPT_GEN names another compiler.
set -u
cd "$(dirname "$0")/../.." || exit 1
gen=${GPUOPT_GEN:-./gpuopt-gen}
work=build/golden
status=0

# check_issued SPEC PLAN: no entry requests fewer bytes than the minimum that it must move.
check_issued() {
    grep -q issued/least "$2" || { echo "FAIL golden $1: no plan"; status=1; }
    below=$(awk '/issued\/least/ { on = 1; next } on && NF < 7 { exit } on && $7 < 1 { printf " %s", $1 }' "$2")
    if [ -n "$below" ]; then
        echo "FAIL golden $1: in its plan, issued is below least in$below"
        status=1
    fi
}

for spec in tests/golden/*.toml; do
    name=$(basename "$spec" .toml)
    kept=tests/golden/$name
    made=$work/$name
    rm -rf "$made"
    extra=
    if [ -e "$kept/job.sbatch" ]; then
        extra="scaling.txt job.sbatch"
        mkdir -p "$made"
        "$gen" "$spec" --scaling >"$made/scaling.txt"
    fi
    if ! "$gen" ${extra:+--slurm} "$spec" -o "$made" >/dev/null || ! "$gen" "$spec" --dump lower >"$made/graph.txt"; then
        echo "FAIL golden $name: the compiler refuses it"
        status=1
        continue
    fi
    check_issued "$name" "$made/plan.txt"
    for file in graph.txt plan.txt program.c buffers.h kernels.cu $extra; do
        if [ -n "${UPDATE-}" ]; then
            mkdir -p "$kept"
            cmp -s "$made/$file" "$kept/$file" || cp "$made/$file" "$kept/$file"
        elif diff -u "$kept/$file" "$made/$file" >"$made/$file.diff" 2>&1; then
            echo "ok golden $name $file"
        else
            echo "FAIL golden $name $file (UPDATE=1 tests/golden/run.sh takes it over)"
            head -n 30 "$made/$file.diff"
            status=1
        fi
    done
done

for spec in $(grep -L '^\[sweep' specs/*.toml specs/h100/*.toml); do
    "$gen" "$spec" --plan >$work/spec.plan
    check_issued "$spec" $work/spec.plan
done
variant() {
    "$gen" "$@" --plan >$work/spec.plan
    check_issued "$*" $work/spec.plan
}
variant specs/qlora_r16.toml --set quantization.quant_type=int8
variant specs/h100/llama32_1b_lora_r16.toml --set adapter.type=none --set training.seq_len=128 \
    --set training.per_device_train_batch_size=1

if [ -n "${UPDATE-}" ]; then
    runtime/scripts/tables.sh || status=1
elif runtime/scripts/tables.sh --check >$work/README.diff 2>&1 && [ ! -e build/README.new ]; then
    echo "ok golden README's tables"
else
    echo "FAIL golden README's tables (make tables takes them over)"
    head -n 30 $work/README.diff
    status=1
fi
tests/golden/figures.sh README.md specs/README.md tests/bench/results/README.md || status=1

# What documents say about keys, and whether it is told if it is wrong.
# shellcheck disable=SC2046 # names of files
if tests/golden/keys.sh $(git ls-files '*README.md' || echo README.md); then
    echo "ok golden keys in documents"
else
    status=1
fi
sed 's/lora_alpha/lora_beta/; s/shuffle/shuffled/; s/optimizer\.state/optimizer.states/; s/joined_launches/joint_launches/' \
    README.md >$work/wrong.md
[ "$(tests/golden/keys.sh $work/wrong.md | grep -c '^FAIL.* \(lora_beta\|shuffled\|optimizer.states is not\|compile.joined_launches\)')" = 4 ] || {
    echo "FAIL golden keys.sh: names that are no keys are not told"
    status=1
}

# readme_plan: README's example of a plan, a pattern per line, in which … stands for anything.
readme_plan() {
    sed -n '/^    lora_r16 on NVIDIA/,/^    side stream:/p' README.md | sed 's/^    //' | grep -vx '…\|' |
        sed 's/[]*.^$[]/\\&/g; s/…/.*/g'
}
"$gen" specs/lora_r16.toml --plan >$work/readme.plan
[ "$(readme_plan | wc -l)" -ge 10 ] || { echo "FAIL golden README has no plan of lora_r16"; status=1; }
readme_plan | while read -r line; do
    grep -qx " *$line" $work/readme.plan || echo "FAIL golden README's plan: $line"
done | tee $work/readme.wrong
[ ! -s $work/readme.wrong ] || status=1
[ "$(tests/golden/figures.sh tests/golden/figures_wrong.md | grep -c ^FAIL)" = 3 ] || {
    echo "FAIL golden figures_wrong.md: what is wrong there is not told"
    status=1
}
exit $status
