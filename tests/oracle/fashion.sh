#!/bin/sh
# fashion.sh: trains a small CNN for 100 steps on 2,000 images of Fashion-MNIST, on the simulated
# device, from the same initial weights and in the same order as PyTorch. It must reach PyTorch's
# accuracy on 2,000 test images within half a point (fashion/pytorch.json), in fp32 and tf32.
#
# The images come from Debian's package dataset-fashion-mnist. Prints `ok NAME`, or `FAIL NAME`
# with the reason. Writes to build/oracle.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
fixture=tests/oracle/fashion

# member NAME FILE: prints the number of a JSON member that has its own line.
member() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*\$/\1/p" "$2"; }

# learns DTYPE
learns() {
    dir=build/oracle/fashion.$1
    rm -rf "$dir"
    mkdir -p "$dir"
    if ! {
        ./gpuopt-gen $fixture/spec.toml --set precision.dtype="$1" -o "$dir" &&
            make -s -C "$dir" &&
            "$dir/run" --init $fixture/model --out "$dir/out"
    } >"$dir.log" 2>&1; then
        echo "FAIL fashion $1 (log: $dir.log)"
        tail -n 20 "$dir.log"
        return 1
    fi
    # The last evaluation: step, loss, top1, top5.
    tail -n 1 "$dir/out/eval.csv" | tr ',' ' ' | {
        read -r step _ top1 top5
        awk -v name="fashion $1" -v step="$step" -v top1="$top1" -v top5="$top5" \
            -v want1="$(member top1 $fixture/pytorch.json)" \
            -v want5="$(member top5 $fixture/pytorch.json)" '
            function far(a, b) { return a - b > 0.005 || b - a > 0.005 }
            BEGIN {
                bad = step != 100 || want1 + 0 == 0 || far(top1, want1) || far(top5, want5)
                print (bad ? "FAIL " : "ok ") name
                if (bad)
                    printf "after step %d top1 %s and top5 %s, PyTorch %s and %s\n", step, top1,
                        top5, want1, want5
                exit bad
            }'
    }
}

learns fp32
learns tf32
