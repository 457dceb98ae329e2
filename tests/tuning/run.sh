#!/bin/bash
# Every tuning technique on real text, as a study on the simulated device. From one base, which is
# trained here, each must bring the held-out loss well below the base's; preferences must hold for
# unseen pairs. Prints `ok tuning NAME` or `FAIL tuning NAME`; exits with 1 if any failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
study=build/tuning
. tests/env.sh
rm -rf $study build/tuning_base
mkdir -p $study

if ! { make -s build/data/code.jsonl build/data/lines.jsonl && ./gpuopt-gen tests/tuning/tuning.toml -o $study &&
    runtime/scripts/study.sh $study; } >$study/log 2>&1; then
    sed 's/^/    /' $study/log
fi

# Checks one line per point of the study; DPO's loss starts at log 2, so its accuracy on pairs
# counts.
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
        before = $at["loss.heldout_before"]
        after = $at["loss.heldout_after"]
        right = $at["metrics.after.rewards/accuracies"]
        good = $2 == "finished" && after > 0 && after < 0.97 * before && ($1 != "dpo" || right > 0.9)
        printf "%s tuning %s\n", good ? "ok" : "FAIL", $1
        if (!good)
            printf "    held-out loss %s before and %s after; pairs told apart: %s\n", before, after, right
        bad += !good
    }
    END { exit bad > 0 || NR != 7 }' <(tr -d '"' <$study/study.csv)
