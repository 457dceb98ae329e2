#!/bin/bash
# Studies on the simulated device: a sweep in which points fail or are refused, resuming it,
# comparing its points; and that all choices of recomputation train to the same bits. Prints `ok
# study NAME` or `FAIL study NAME`; exits with 1 if any failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
gen=${GPUOPT_GEN:-./gpuopt-gen}
work=build/study_test
. tests/env.sh
. tests/lib.sh
suite=study
rm -rf $work
mkdir -p $work

says() { grep -qE -- "$1" "$2" || { echo "no \"$1\" in $2:"; cat "$2"; false; }; }

# write_spec NAME: writes a spec; its end, with the [sweep], is read from standard input.
write_spec() {
    { cat <<'SPEC'; cat; } >$work/"$1".toml
[model]
vocab_size = 256
hidden_size = 32
intermediate_size = 96
num_hidden_layers = 4
num_attention_heads = 2
num_key_value_heads = 1
max_position_embeddings = 64
[training]
task = "sft"
seq_len = 64
per_device_train_batch_size = 4
gradient_accumulation_steps = 2
steps = 4
[adapter]
type = "lora"
r = 4
lora_dropout = 0.1
SPEC
}

text() { awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d words of number %d; ", i % 17, i % 23 }'; }
text >$work/good.txt

# ---- points by name, bases to their last step -------------------------------------------------------

write_spec named <<'SPEC'
[data]
format = "synthetic"
[sweep]
"adapter.r" = [4, 8]
SPEC

points_have_names() {
    "$gen" --dump lower $work/named.toml >$work/plans && says '^# point r4: adapter.r=4$' $work/plans &&
        says '^# point r8: adapter.r=8$' $work/plans
}

write_spec called <<'SPEC'
[data]
format = "synthetic"
[sweep]
"name, adapter.r, adapter.lora_alpha" = [["narrow", 4, 8.0], ["wide", 8, 16.0]]
"training.seed" = [1, 2]
SPEC

points_are_called() {
    "$gen" --print-spec $work/called.toml >$work/plans && says '^# point narrow_seed1: adapter.r=4 ' $work/plans &&
        says '^# point wide_seed2: adapter.r=8 ' $work/plans || return
    "$gen" $work/called.toml -o $work/called_points >/dev/null &&
        says '^    .name = "called/wide_seed2",$' $work/called_points/wide_seed2/program.c
}

# A base that is only partly trained is trained to its end; a trained one is left as it is. What was
# interrupted may have been the base, so that --resume finds nothing to resume of the adapter.
write_base() {
    write_spec study_base </dev/null
    sed -i '/adapter/,$d; s/"sft"/"pretrain"/' $work/study_base.toml
    printf '[data]\ntrain = ["%s"]\neval_batches = 1\n' $work/good.txt >>$work/study_base.toml
    { printf 'extends = "%s"\n[model]\nweights = "%s"\n' $work/study_base.toml $work/study_base.toml
      printf '[training]\ntask = "sft"\n[adapter]\ntype = "lora"\n'; } >$work/adapted.toml
}

# warns_of_base [MESSAGE]: make run warns that the base has another recipe or other data; without MESSAGE, of
# nothing.
warns_of_base() {
    runtime/scripts/run.sh --program $work/adapted >$work/said 2>$work/warned || return
    if [ $# -gt 0 ]; then says "^warning: $1.* make run SPEC=$work/study_base" $work/warned; else ! grep . $work/warned; fi
}

# The spec of a base was edited after the training, or its data: the model stays as it is, with a warning if
# other weights would come out and if it says from what it was trained.
base_of_another_spec_is_named() { # MODEL
    local other="$1 was trained from another version of $work/study_base.toml"
    find "$1" -printf '%P %T@\n' | sort >$work/before
    says '"data_sha256": "[0-9a-f]{64}"' "$1/trainer_state.json" && warns_of_base || return
    sed -i 's/^steps = 4/&\nlog_every = 3/; s,good.txt,./good.txt,' $work/study_base.toml && warns_of_base || return
    echo 'one more line of text' >>$work/good.txt
    warns_of_base "$1 was trained on other data than $work/study_base.toml has now"
    local code=$?
    text >$work/good.txt
    [ $code -eq 0 ] && warns_of_base && mv $work/good.txt $work/gone.txt || return
    "$gen" --print-spec $work/study_base.toml | build/inputs >$work/said
    mv $work/gone.txt $work/good.txt
    [ ! -s $work/said ] && printf '[optimizer]\nlr = 0.5\n' >>$work/study_base.toml && warns_of_base "$other" &&
        find "$1" -printf '%P %T@\n' | sort | cmp - $work/before || return
    # As a run with --seed leaves it: the hashes do not cover this option.
    write_base && sed -i 's/"seed": 0/"seed": 77/' "$1/trainer_state.json" &&
        warns_of_base "$1 was trained with --seed 77, but $work/study_base.toml has training.seed = 0" &&
        sed -i 's/"seed": 77/"seed": 0/' "$1/trainer_state.json" &&
        printf '[optimizer]\nlr = 0.5\n' >>$work/study_base.toml || return
    # Records of earlier versions name the spec, or only the steps.
    sed -i '/recipe_sha256/d' "$1/trainer_state.json" && warns_of_base "$other" || return
    sed -i '/_sha256/d' "$1/trainer_state.json" && warns_of_base || return
    rm $work/study_base.toml && runtime/scripts/run.sh --program $work/adapted >$work/said 2>&1 &&
        ! grep 'cannot read\|Illegal' $work/said
    code=$?
    write_base
    return $code
}

# A study whose points start from weights that were replaced since.
changed_weights_are_named() {
    write_spec from_weights <<SPEC
[data]
format = "synthetic"
[sweep]
"training.seed" = [1]
SPEC
    local from=$work/from_weights
    sed -i '/^vocab_size/i weights = "'$work'/start"' $from.toml
    cp -r "$1" $work/start && "$gen" $from.toml -o $from >/dev/null && runtime/scripts/study.sh $from >$work/said || { cat $work/said; return 1; }
    runtime/scripts/study.sh $from >$work/said && says ': finished before$' $work/said || return
    printf '\1' | dd of=$work/start/model.safetensors bs=1 seek=$(($(stat -c %s $work/start/model.safetensors) - 1)) conv=notrunc status=none
    runtime/scripts/study.sh $from >$work/said && says ': finished before, with other data or initial weights$' $work/said
}

# A program that is run without make run.
missing_base_names_its_spec() { # MODEL
    mv "$1" "$1.away" && $work/adapted/run 2>$work/refusal
    local code=$?
    mv "$1.away" "$1"
    [ $code -eq 1 ] && says "^error: $1: .*train them first .make run SPEC=$work/study_base.toml." $work/refusal
}

# A program that is started without make run records what make run would compare.
hash_without_make_run() {
    $work/adapted/run --steps 0 --out $work/direct >$work/said 2>&1 &&
        says "\"data_sha256\": \"$(build/inputs <$work/adapted/spec.toml)\"" $work/direct/report.json || return
    local sum
    sum=$(sed -n 's/.*"data_sha256": "\(.*\)".*/\1/p' $work/direct/report.json)
    $work/adapted/run --steps 0 --out $work/direct --init $work/start \
        >$work/said 2>&1 && says '"data_sha256": "[0-9a-f]{64}"' $work/direct/report.json && ! grep "$sum" $work/direct/report.json
}

base_learns_all_its_steps() {
    write_base
    local base model
    "$gen" $work/adapted.toml -o $work/adapted >/dev/null || return
    model=$(sed -n 's/^BASE_MODEL *:= *//p' $work/adapted/Makefile) base=${model%/out/model}
    rm -rf "$base"
    "$gen" $work/study_base.toml -o "$base" >/dev/null &&
        runtime/scripts/run.sh --program "$base" -- --steps 2 || return
    says '"global_step": 2' "$model/trainer_state.json" || return
    runtime/scripts/run.sh --program $work/adapted -- --resume --steps 3 >$work/part.log || return
    says '"global_step": 3' $work/adapted/out/adapter/trainer_state.json || return
    says 'has only 2 of 4 steps' $work/part.log && says '"global_step": 4' "$model/trainer_state.json" || return
    runtime/scripts/run.sh --program $work/adapted >$work/whole.log 2>&1 && ! grep -q 'training .*first\|another' $work/whole.log &&
        changed_weights_are_named "$model" && missing_base_names_its_spec "$model" && hash_without_make_run && base_of_another_spec_is_named "$model"
    local code=$?
    rm -rf "$base"
    return $code
}

# NP is for the experiment; its base is started as what it was made for.
base_has_its_own_processes() {
    mkdir -p $work/bin && printf '#!/bin/sh\nprintf "%%s;" "$@"; echo\n' >$work/bin/make && chmod +x $work/bin/make &&
        "$gen" $work/adapted.toml --set parallelism.data_parallel_replicate_degree=2 -o $work/adapted_two >/dev/null &&
        NP=2 PATH=$PWD/$work/bin:$PATH runtime/scripts/run.sh --program $work/adapted_two >$work/said || return
    says ';-C;build/study_base.*;NP=;' $work/said && says ';-C;build/study_test/adapted_two;.*;NP=2;' $work/said
    local code=$?
    rm -rf build/study_base
    return $code
}

# A job does not start if its base has not been trained.
job_waits_for_its_base() {
    "$gen" --slurm $work/adapted.toml -o $work/adapted >$work/said &&
        says "^$work/adapted/job.sbatch: submit it from here with sbatch\$" $work/said || return
    bash $work/adapted/job.sbatch 2>$work/refusal
    [ $? -eq 1 ] && says 'error: .*/model is not there: first train .*study_base.toml' $work/refusal
}

# --plan of a sweep is a table with one line per point, which notes points that change several
# things.
points_stand_in_a_table() {
    write_spec mixed <<'SPEC'
[data]
format = "synthetic"
[sweep]
"name,adapter.type,qat.weight_dtype" = [["plain", "lora", "none"], ["both", "none", "int4"], ["one", "lora", "int4"]]
SPEC
    "$gen" --plan $work/named.toml >$work/plans && says '^r4 +1 +[0-9.]+ .* [0-9]+$' $work/plans &&
        [ "$(wc -l <$work/plans)" -eq 5 ] &&
        says "^the full plan of a point: $gen --plan --point r4 $work/named.toml\$" $work/plans || return
    "$gen" --plan --format markdown $work/mixed.toml >$work/plans && [ "$(grep -c '^| ' $work/plans)" -eq 5 ] &&
        says '^\| one \| 1 \| [0-9.]+ \|.* \| [0-9]+ \| \|$' $work/plans && ! grep -q '^one differs' $work/plans &&
        says '^both differs from plain in more than one respect: \[adapter\] and \[qat\]\.$' $work/plans || return
    "$gen" --plan --format csv $work/mixed.toml >$work/plans && says '^both,fits,none,int4,1.0,.*,true$' $work/plans &&
        says ',device.name,predicted$' $work/plans
}

# The full plan of a point is that of the spec with the point's settings.
a_point_alone() {
    sed '/sweep/,$d' $work/named.toml >$work/named_alone.toml
    "$gen" --plan --point r8 $work/named.toml | sed 1d >$work/plans &&
        "$gen" --plan $work/named_alone.toml --set adapter.r=8 | sed 1d | cmp - $work/plans &&
        says '^step: micro_step x 2 and update' $work/plans
}

# make run SET="KEY=VALUE ..." sets keys of SPEC, and requires SPEC.
make_run_sets_keys() {
    printf '#!/bin/sh\nprintf "%%s\\n" "$@"\nexit 1\n' >$work/gen && chmod +x $work/gen
    make -s -n run SPEC=$work/named_alone.toml SET='a.b=["*"] c.d=3' | sed "s|GEN=./gpuopt-gen|GEN=$work/gen|" |
        sh >$work/said
    printf '%s\n' $work/named_alone.toml --set 'a.b=["*"]' --set c.d=3 | cmp - $work/said &&
        ! make -s run SET=c.d=3 2>$work/refusal && says '^error: SET goes with SPEC=FILE' $work/refusal &&
        ! make -s run specs/lora_r16.toml 2>$work/refusal && says 'write SPEC=specs/lora_r16.toml' $work/refusal &&
        ! make -s run SPEC=specs/lora_r16.toml DEVICE=gpu >$work/said 2>$work/refusal && [ ! -s $work/said ] &&
        says 'DEVICE=gpu: it can be auto, cuda or sim' $work/refusal &&
        ! runtime/scripts/run.sh --program $work/gone 2>$work/refusal && says "^error: $work/gone is gone" $work/refusal
}

# A spec's file may have any name. make small puts its program into a folder where make can build it.
make_run_takes_any_name() {
    local name="$work/\$(a)\$b it's;#%:*.toml" goal
    printf '#!/bin/sh\nprintf "%%s\\n" "$1"\nexit 1\n' >$work/gen && chmod +x $work/gen
    for goal in run small; do
        make -s -n $goal DEVICE=cuda SPEC="$name" >$work/commands &&
            sed -n "s|.*GEN=./gpuopt-gen|exec env GEN=$work/gen|; s|^./gpuopt-gen|$work/gen|; /runtime.scripts.run\|-o /p" \
                $work/commands | sh >$work/said
        printf '%s\n' "$name" | cmp - $work/said || return
    done
    says " -o 'build/__a__b_it_s_____-small' " $work/commands &&
        ! make -s run SPEC=$work/a b.toml 2>$work/refusal && says 'a name with spaces in quotes' $work/refusal
}

# Two make run SPEC=FILE at once: each runs what it generated, although both leave its name in build/last.
two_runs_at_once() {
    local root=$work/at_once
    mkdir -p $root/build/{slow,quick} && ln -sfn "$PWD/runtime" $root/runtime || return
    printf 'run:\n\t@echo runs $(notdir $(CURDIR))\n' | tee $root/build/slow/Makefile >$root/build/quick/Makefile
    printf '#!/bin/sh\necho build/$1 >build/last\n[ $1 = quick ] || sleep 1\n' >$root/gen && chmod +x $root/gen
    (cd $root && GEN=./gen runtime/scripts/run.sh --spec slow >slow.log 2>&1) &
    until [ -s $root/build/last ]; do sleep 0.02; done
    (cd $root && GEN=./gen runtime/scripts/run.sh --spec quick >quick.log 2>&1) && wait $! &&
        says '^runs slow$' $root/slow.log && says '^runs quick$' $root/quick.log
}

# make run NP=N: nothing is built or started if the program has another number of ranks.
wrong_numbers_of_processes() {
    "$gen" $work/named_alone.toml -o $work/one_rank >/dev/null &&
        "$gen" $work/named_alone.toml --set parallelism.data_parallel_replicate_degree=2 -o $work/two_ranks >/dev/null ||
        return
    ! NP=2 runtime/scripts/run.sh --program $work/one_rank >$work/said 2>$work/refusal && [ ! -s $work/said ] &&
        says '^error: this program was generated for one rank, but NP=2: leave NP out' $work/refusal &&
        ! NP=3 runtime/scripts/run.sh --program $work/two_ranks >$work/said 2>$work/refusal && [ ! -s $work/said ] &&
        says '^error: this program was generated for 2 ranks, but NP=3: leave NP out' $work/refusal &&
        ! NP=x runtime/scripts/run.sh --spec $work/named_alone.toml >$work/said 2>$work/refusal && [ ! -s $work/said ] &&
        says 'NP=x: it is how many processes to start' $work/refusal
}

# Nor is the program generated if SPEC is for another number, which includes all of its strategies.
wrong_numbers_for_specs() {
    local cards set ranks
    rm -rf build/named_alone
    while read -r cards set; do
        ranks="$cards ranks"
        [ "$cards" -ne 1 ] || ranks="one rank"
        # shellcheck disable=SC2086 # settings have no spaces
        ! NP=3 runtime/scripts/run.sh --spec $work/named_alone.toml $set >$work/said 2>$work/refusal &&
            [ ! -s $work/said ] && [ ! -e build/named_alone ] &&
            says "^error: $work/named_alone.toml is for $ranks, but NP=3: leave NP out" $work/refusal || return
    done <<'SPECS'
1
2 --set parallelism.tensor_parallel_degree=2
4 --set parallelism.data_parallel_replicate_degree=2 --set parallelism.data_parallel_shard_degree=2
2 --set parallelism.pipeline_parallel_degree=2
1 --set parallelism.data_parallel_replicate_degree=3 --set parallelism.data_parallel_mode="dp"
SPECS
    # What else is wrong is said as without NP.
    ! NP=3 runtime/scripts/run.sh --spec $work/named_alone.toml --set training.steps=x 2>$work/refusal &&
        says 'error: training.steps cannot be "x"' $work/refusal
}

# make run looks for a GPU before it compiles kernels for it; make alone needs none.
kernels_wait_for_the_device() {
    [ ! -e /dev/nvidiactl ] || return 0
    local nvcc=$PWD/$work/nvcc compiled=$PWD/$work/compiled
    printf '#!/bin/sh\necho sm_90\n[ "$1" = --list-gpu-code ] || touch %s\n' "$compiled" >"$nvcc" && chmod +x "$nvcc" &&
        "$gen" $work/named_alone.toml -o $work/one_rank >/dev/null || return
    set -- make --no-print-directory -s -C $work/one_rank NVCC="$nvcc"
    local kind
    for kind in DEVICE=cuda target=cuda; do # the second is DEVICE=auto with a driver that does not work
        ! "$@" $kind run 2>$work/refusal && says '^error: .*run with DEVICE=sim' $work/refusal && [ ! -e "$compiled" ] ||
            return
    done
    "$@" DEVICE=cuda >$work/said && [ -e "$compiled" ]
}

# A study says once that there is no GPU, and its points stay as they are.
study_waits_for_the_device() {
    [ ! -e /dev/nvidiactl ] || return 0
    "$gen" $work/named.toml -o $work/no_gpu >/dev/null || return
    DEVICE=cuda runtime/scripts/study.sh $work/no_gpu >$work/said 2>$work/refusal
    [ $? -eq 1 ] && [ ! -s $work/said ] && [ "$(wc -l <$work/refusal)" -eq 1 ] &&
        says '^error: .*run with DEVICE=sim' $work/refusal &&
        [ ! -e $work/no_gpu/r4/run.log ] && [ ! -e $work/no_gpu/r8/obj ]
}

# In a tree of its own, with a make that only says whether the programs are ready, and what would run. A second
# demo goes on where the first was cut short, and takes a base that is trained.
demo_keeps_what_is_there() {
    local tree=$work/demo top=$PWD base=build/base_tiny/out adapter=build/lora_r16/out
    mkdir -p $tree/bin $tree/$base/checkpoints/step_7 $tree/$adapter && ln -s "$top/runtime" "$top/specs" $tree/ &&
        printf '#!/bin/sh\ncase "$*" in *" run "*) echo "ran $*"; exit 1 ;; *) exit $READY ;; esac\n' >$tree/bin/make &&
        printf '#!/bin/sh\n' >$tree/build/inputs && chmod +x $tree/bin/make $tree/build/inputs || return
    set -- env PATH="$top/$tree/bin:$PATH" GEN="$(realpath "$gen")" runtime/scripts/demo.sh
    printf '{\n  "sequence": 1,\n  "state_crc32": "aa"\n}\n' >$tree/$base/checkpoints/step_7/meta.json
    demo_runs() { # OPTIONS PROGRAM [SAYS]
        (cd $tree && find $base $adapter | sort >before && ! READY=0 "${demo[@]}" >said 2>&1 &&
            find $base $adapter | sort | cmp - before) && grep -c '^ran ' $tree/said | grep -qx 1 &&
            says "^ran .* -C build/$2 run .* ARGS=$1\$" $tree/said && says "${3-}" $tree/said
    }
    local demo=("$@")
    (cd $tree && ! READY=1 "$@" >said && [ -d $base/checkpoints/step_7 ]) && demo_runs --resume base_tiny || return
    mkdir $tree/$base/model && touch $tree/$base/model/config.json && cp -r $tree/$base/checkpoints $tree/$adapter &&
        demo_runs ' *--resume' lora_r16 "^$base/model is trained already\$" &&
        echo '"state_crc32": "aa"' >$tree/$adapter/report.json &&
        demo_runs '' lora_r16 "^$adapter has the results of an earlier run, which this one replaces"
}

# Generated data that a variant inherits are made too, and those of what was generated last.
make_run_makes_inherited_data() {
    printf 'extends = "specs/dpo_lora_r16.toml"\n' >$work/inherits.toml
    for goal in run small; do
        make -s -n -W runtime/scripts/samples.sh $goal SPEC=$work/inherits.toml >$work/said &&
            says '^runtime/scripts/samples.sh lines ' $work/said || return
    done
    # A study's points have their own specs.
    mkdir -p $work/last/build/swept/r4 && "$gen" --print-spec $work/inherits.toml >$work/last/build/swept/r4/spec.toml &&
        ln -s "$PWD"/{Makefile,gen,runtime} $work/last && echo build/swept/points >$work/last/build/last || return
    samples_of_last && echo build/swept/r4 >$work/last/build/last && samples_of_last
}

samples_of_last() {
    make -s -n -C $work/last -o gpuopt-gen -W runtime/scripts/samples.sh run >$work/said &&
        says '^runtime/scripts/samples.sh lines ' $work/said
}

# products_have_planned_names PROGRAM: the simulated device's records of products have the names of the plan.
products_have_planned_names() {
    sed -n 's/.*,sim_f32_\(gemm_.*\)/"\1"/p' "$1/out/cuda_gpu_kern_sum.csv" >$work/products &&
        [ -s $work/products ] && ! grep -o '"gemm_[^"]*"' "$1/plan.json" | grep -vxFf - $work/products
}

# make small runs a few steps, also of a study's points and of a variant's study, in a separate
# folder, and keeps SET and ARGS.
make_small_takes_few_steps() {
    local set
    printf 'extends = "%s"\n' $work/named.toml >$work/small_variant.toml
    make -s -n small SPEC=$work/named_alone.toml >$work/said && says '--program .build/named_alone-small. --' $work/said &&
        ! grep -q repeats $work/said || return
    make -s -n small SPEC=$work/small_variant.toml SET=optimizer.lr=0.5 ARGS='--seed 3' >$work/said &&
        says '--set benchmark.repeats=1 ' $work/said && says "--set 'optimizer.lr=0.5' -o .build/small_variant-small" $work/said &&
        says '--program .build/small_variant-small/points. -- --seed 3' $work/said || return
    for set in training.steps={0,1,2,3} "profiling.enabled=false training.steps=3"; do
        (eval "$(make -s -n small SPEC=$work/named_alone.toml SET="$set" | grep -v 'target.mk' |
            sed -n 's,^\(./gpuopt-gen .*\) -o .*,\1 -o '$work'/small,p')") >$work/said 2>$work/refusal && [ ! -s $work/refusal ] &&
            says "^steps = ${set##*=}\$" $work/small/spec.toml || { cat $work/refusal; return 1; }
    done
    make -s small SPEC=$work/named_alone.toml SET=adapter.r=2 ARGS='--seed 3' >$work/said || { cat $work/said; return 1; }
    says '^step 4/4 ' $work/said && says '^results: build/named_alone-small/out$' $work/said && says '^r = 2' build/named_alone-small/spec.toml &&
        says '"profiling_window": [{]' build/named_alone-small/out/report.json &&
        products_have_planned_names build/named_alone-small
    local code=$?
    rm -rf build/named_alone-small
    [ $code -eq 0 ] && ! make -s small 2>$work/refusal && says '^error: name a spec: make small SPEC=FILE' $work/refusal
}

# A larger batch needs more activations, including those that a pipeline keeps.
parts_of_a_plan_add_up() {
    write_spec staged <<'SPEC'
[data]
format = "synthetic"
[parallelism]
pipeline_parallel_degree = 2
[sweep]
"training.per_device_train_batch_size" = [128, 512]
SPEC
    "$gen" --plan --format csv $work/staged.toml >$work/plans && awk -F, '
        NR > 1 { parts = $5 + $6 + $7 - parts; whole = $8 - whole }
        END { exit !(NR == 3 && whole > 0 && parts > 0.98 * whole && parts < 1.02 * whole) }' $work/plans
}

# Programs and studies that have run stay.
# Results stay in folders of any depth, as does what make does not know. It knows the folders of all tests.
make_clean_keeps_results() {
    local tree=$work/tree name
    mkdir -p $tree/deps $tree/obj/out $tree/ran/out $tree/study/r4/out.2 $tree/new $tree/new_study/r4 \
        $tree/deep/ran/out $tree/deep_new/new $tree/named_by_out $tree/lock || return
    echo $tree/study/points >$tree/last
    touch $tree/ran/plan.json $tree/new/plan.json $tree/study/points $tree/new_study/points $tree/libgen.a \
        $tree/deep_new/new/plan.json $tree/named_by_out/report.json $tree/notes.txt
    for name in $(grep -rhoE '(work|out|logs)=[^ ]*build/[A-Za-z_-]+' tests/*/*.sh tests/check.sh); do
        mkdir -p "$tree/${name##*/}/case/out"
    done
    [ -d $tree/dist ] && [ -d $tree/check ] && runtime/scripts/clean.sh $tree >$work/said || return
    [ "$(ls $tree | tr '\n' ' ')" = "deep deps last lock named_by_out notes.txt ran study " ] || { ls $tree; return 1; }
    [ "$(grep -c 'has results and stays' $work/said)" -eq 4 ] && says "^$tree/ran has results" $work/said &&
        says "^$tree/notes.txt was not made by make" $work/said
}

attempt "points of a plan have names" points_have_names
attempt "parts of a plan add up" parts_of_a_plan_add_up
attempt "points of a plan stand in a table" points_stand_in_a_table
attempt "a point's plan alone" a_point_alone
attempt "make run sets keys" make_run_sets_keys
attempt "make run and small take any name of a spec" make_run_takes_any_name
attempt "two make runs at once" two_runs_at_once
attempt "make run checks the number of processes" wrong_numbers_of_processes
attempt "make run checks the number of processes against the spec" wrong_numbers_for_specs
attempt "kernels wait for the device" kernels_wait_for_the_device
attempt "a study waits for the device" study_waits_for_the_device
attempt "make demo keeps what is there" demo_keeps_what_is_there
attempt "make run makes inherited data" make_run_makes_inherited_data
attempt "make clean keeps results" make_clean_keeps_results
attempt "make small takes few steps" make_small_takes_few_steps
attempt "points are called what the spec says" points_are_called
attempt "a base learns all its steps" base_learns_all_its_steps
attempt "a base has its own processes" base_has_its_own_processes
attempt "a job waits for its base" job_waits_for_its_base

# ---- a sweep with failures -------------------------------------------------------------------------

write_spec failures <<SPEC
[sweep]
"activation_checkpoint.mode" = ["none", "full"]
"data.train" = [["$work/good.txt"], ["$work/late.txt"]]
[data]
eval_batches = 1
SPEC
study=$work/failures

points_have_not_run() {
    "$gen" $work/failures.toml -o $study && "$gen" --compare --format csv $study >$work/waiting &&
        [ "$(grep -c ',not run,' $work/waiting)" -eq 4 ]
}

first_run() {
    points=$(cut -d' ' -f1 $study/points)
    [ "$(wc -l <$study/points)" -eq 4 ] || return
    runtime/scripts/study.sh $study >$work/first && { echo "exit 0 in spite of failures"; return 1; }
    [ "$(grep -c ': FAILED: error: .*late\.txt: no such file' $work/first)" -eq 2 ] || { cat $work/first; return 1; }
    [ -f $study/study.txt ] && [ -f $study/study.json ] && says '2 of 4 runs finished' $study/study.txt
}

failed_points_are_named() {
    [ "$(grep -c ',failed,.*,,$' $study/study.csv)" -eq 2 ] && says ',device.name,device.simulated$' $study/study.csv &&
        [ "$(grep -c ',finished,.*,Simulated device (CPU),true$' $study/study.csv)" -eq 2 ] &&
        says 'data.train' $study/study.txt && says '"state": "failed"' $study/study.json &&
        says 'late.txt' "$(ls -d $study/*none*late*)/run.log"
}

resumed_run() {
    cp $work/good.txt $work/late.txt
    runtime/scripts/study.sh $study >$work/resumed || { cat $work/resumed; return 1; }
    [ "$(grep -c ': finished before$' $work/resumed)" -eq 2 ] && [ "$(grep -c ': finished in [0-9]* s$' $work/resumed)" -eq 2 ] &&
        says '4 of 4 runs finished' $work/resumed
}

# The other points keep their figures.
changed_points_are_stale() {
    local of=$work/stale name
    cp -r $study $of && read -r name _ <$of/points &&
        sed -i 's/"spec_sha256": "./&0/' "$of/$name/plan.json" && "$gen" --compare $of >$work/said &&
        says '3 of 4 runs finished' $work/said && says "^ +1 +$name +stale " $work/said &&
        says '^stale: .* make run brings it up to date' $work/said && says "^$name,stale,.*,,$" $of/study.csv &&
        says '^ +2 .* x1\.000' $work/said
}

# Nothing runs, and nothing is lost.
other_options_lose_nothing() {
    find $study -printf '%P %T@\n' | sort >$work/before
    runtime/scripts/study.sh $study --resume 2>$work/refusal
    [ $? -eq 1 ] && says '^error: --resume is for a single program' $work/refusal || return 1
    runtime/scripts/study.sh $study --tune 2>$work/refusal
    [ $? -eq 1 ] && says '^error: --tune is for a single program' $work/refusal || return 1
    runtime/scripts/study.sh $study --seed 3 2>$work/refusal
    [ $? -eq 1 ] && says '^error: .* finished with other options \(none\)' $work/refusal &&
        find $study -printf '%P %T@\n' | sort | cmp - $work/before
}

# Neither are points of the two kinds of device mixed.
other_device_loses_nothing() {
    local report
    find $study -printf '%P %T@\n' | sort >$work/before
    ! DEVICE=cuda runtime/scripts/study.sh $study >$work/said 2>$work/refusal && [ ! -s $work/said ] &&
        says '^error: .* has run on the simulated device, and DEVICE=cuda means cuda here' $work/refusal &&
        find $study -printf '%P %T@\n' | sort | cmp - $work/before || return
    report=$(ls $study/*full*late*/out/report.json) && cp "$report" $work/report.json &&
        sed -i 's/"simulated": true/"simulated": false/' "$report"
    ! runtime/scripts/study.sh $study >$work/said 2>$work/refusal && [ ! -s $work/said ] &&
        says '^error: .*full.*late.* has run on a GPU, and DEVICE=sim means sim here' $work/refusal
    local code=$?
    cp $work/report.json "$report"
    [ $code = 0 ] && begun_on_other_device "$(dirname "$report")"
}

# A point that was interrupted has only a checkpoint.
begun_on_other_device() {
    local begun=$1.9/checkpoints/step_1 code
    mkdir -p "$begun" && printf '{\n  "device": "NVIDIA H100",\n}\n' >"$begun/meta.json"
    ! runtime/scripts/study.sh $study >$work/said 2>$work/refusal && says ' has run on a GPU, ' $work/refusal
    code=$?
    rm -r "$1.9"
    return $code
}

# Points share this tree's runtime, whatever is in their own copies.
changed_spec_runs_again() {
    "$gen" $work/failures.toml --set optimizer.lr=0.01 -o $study || return
    sed -i '/^#define [A-Z_]*_H$/a #error "of another runtime"' $study/*/runtime/runtime.h
    runtime/scripts/study.sh $study >$work/again && [ "$(grep -c ': finished in [0-9]* s$' $work/again)" -eq 4 ]
}

# Only the points that read the file; none loses its results.
changed_data_are_named() {
    local late
    late=$(ls -d $study/*full*late*)
    echo 'one more line of text' >>$work/late.txt
    runtime/scripts/study.sh $study >$work/new_data &&
        [ "$(grep -c 'late.*: finished before, with other data or initial weights$' $work/new_data)" -eq 2 ] &&
        [ "$(grep -c 'good.*: finished before$' $work/new_data)" -eq 2 ] && says 'with what there is now: rm -r' $work/new_data &&
        rm -r "$late"/out* && runtime/scripts/study.sh $study >$work/new_data &&
        says "${late##*/}: finished in [0-9]* s\$" $work/new_data
}

# Someone ran a point by hand, with fewer steps; a number of steps that was asked for is complete.
cut_short_by_hand_runs_again() {
    local point
    point=$(ls -d $study/*full*good*)
    runtime/scripts/run.sh --program "$point" -- --steps 2 >$work/said && runtime/scripts/study.sh $study >$work/by_hand &&
        says "${point##*/}: had 2 of 4 steps, runs again: finished in [0-9]* s\$" $work/by_hand &&
        [ "$(grep -c ': finished before' $work/by_hand)" -eq 3 ] && says '"steps": 4' "$point/out/report.json" || return
    "$gen" $work/named.toml -o $work/few >/dev/null && runtime/scripts/study.sh $work/few --steps 3 >$work/said &&
        runtime/scripts/study.sh $work/few --steps 3 >$work/said && [ "$(grep -c ': finished before$' $work/said)" -eq 2 ]
}

# inputs MODEL: the hash of a spec that reads no data but starts from MODEL.
inputs() { echo "# starts from $1" | build/inputs; }

# The same weights elsewhere are the same inputs, and others of the same size are not. A large file is read
# in places.
changed_weights_are_noticed() {
    local model=$work/weights same=$work/weights_too before
    mkdir -p $model $same && seq 9 >$model/model.safetensors && cp $model/model.safetensors $same &&
        before=$(inputs $model) && [ ${#before} -eq 64 ] && [ "$(inputs $same)" = $before ] || return
    tr 1 2 <$same/model.safetensors >$model/model.safetensors && [ "$(inputs $model)" != $before ] || return
    truncate -s 100M $model/model.safetensors && before=$(inputs $model) && [ ${#before} -eq 64 ] || return
    printf x | dd of=$model/model.safetensors bs=1 seek=$((100 * 1048576 - 1)) conv=notrunc status=none
    [ "$(inputs $model)" != $before ] && rm -r $model && [ -z "$(inputs $model)" ]
}

# reads FILE [FORMAT]: the hash of a spec that reads this file of the working directory.
reads() { printf '[data]\nformat = "%s"\ntrain = ["%s"] # line 3\n\n' "${2-text}" "$1" | ../../build/inputs; }

# Labels have a name that the program finds, compressed or not, in a folder of any name; a name may begin
# with a dash.
changed_labels_are_noticed() {
    local name=images-idx3/t10k-images.idx3-ubyte before
    mkdir -p $work/images-idx3 && cd $work && seq 9 >$name && seq 3 >images-idx3/t10k-labels.idx1-ubyte.gz &&
        before=$(reads $name idx) && [ ${#before} -eq 64 ] || return
    seq 4 >images-idx3/t10k-labels.idx1-ubyte.gz && [ "$(reads $name idx)" != "$before" ] || return
    mv images-idx3/t10k-labels.idx1-ubyte.gz images-idx3/t10k-labels.idx1-ubyte && before=$(reads $name idx) &&
        [ ${#before} -eq 64 ] && rm images-idx3/t10k-labels.idx1-ubyte && [ -z "$(reads $name idx)" ] || return
    seq 5 >-dash.txt && before=$(reads -dash.txt) && [ ${#before} -eq 64 ] && seq 6 >-dash.txt &&
        [ "$(reads -dash.txt)" != "$before" ] && mkdir -p ./-pictures/some && seq 7 >./-pictures/some/a.png &&
        before=$(reads -pictures image_folder) && [ ${#before} -eq 64 ] &&
        mv ./-pictures/some/a.png ./-pictures/some/b.png && [ "$(reads -pictures image_folder)" != "$before" ]
}

# Of files in a folder too, unless they are images, the contents count.
changed_text_is_noticed() {
    local before
    mkdir -p texts && seq 9 >texts/a.txt && before=$(reads texts) && [ ${#before} -eq 64 ] &&
        seq 9 | tr 1 2 >texts/a.txt && [ "$(reads texts)" != "$before" ]
}

# Names may hold what TOML and patterns escape. Only the files of the list count.
any_name_is_read() {
    local file='a"b\c, "d.txt' in_spec='a\"b\\\\c, \"d.txt' before
    seq 9 >"$file" && before=$(reads "$in_spec") && [ ${#before} -eq 64 ] && seq 9 >none.txt &&
        [ "$(reads "$in_spec")" = "$before" ] && seq 8 >"$file" && [ "$(reads "$in_spec")" != "$before" ]
}

# Only the point whose products were measured again runs.
measured_products_run_again() {
    local point
    point=$(ls -d $study/*none*good*)
    echo '{}' >"$point/products.json"
    runtime/scripts/study.sh $study >$work/measured && [ "$(grep -c ': finished in [0-9]* s$' $work/measured)" -eq 1 ] &&
        [ "$(grep -c ': finished before' $work/measured)" -eq 3 ] &&
        says "${point##*/}: finished in [0-9]* s\$" $work/measured
    local code=$?
    rm "$point/products.json"
    return $code
}

attempt "points that have not run are not said to have failed" points_have_not_run
attempt "a failed point does not end the sweep" first_run
attempt "failed points are in the comparison" failed_points_are_named
attempt "a study goes on where it stopped" resumed_run
attempt "changed points are stale" changed_points_are_stale
attempt "other options lose nothing" other_options_lose_nothing
attempt "another device loses nothing" other_device_loses_nothing
attempt "a changed spec runs again" changed_spec_runs_again
attempt "changed data are named" changed_data_are_named
attempt "a point cut short by hand runs again" cut_short_by_hand_runs_again
attempt "changed weights are noticed" changed_weights_are_noticed
# In a subshell, which may change its folder.
changed_files() { (changed_labels_are_noticed && changed_text_is_noticed && any_name_is_read); }
attempt "changed labels and texts are noticed" changed_files
attempt "measured products run again" measured_products_run_again

# ---- recomputation: the same bits ------------------------------------------------------------------

process_bytes() { sed -n 's/.*"process_bytes": \([0-9]*\).*/\1/p' "$1/plan.json"; }
launches() { sed -n '/"micro_step"/,/}/s/.*"launches": \([0-9]*\).*/\1/p' "$1/plan.json" | head -n 1; }

# Budgets between the needs of full and of no recomputation, and one that is too small.
write_budgets() {
    write_spec plain </dev/null
    sed -i 's/batch_size = 4$/batch_size = 8/' $work/plain.toml # so that activations fill most memory
    cat >>$work/plain.toml <<SPEC
[data]
train = ["$work/good.txt"]
eval_batches = 1
[compile]
side_stream = false # otherwise its memory would be saved before activations
SPEC
    for mode in none full; do
        "$gen" $work/plain.toml --set activation_checkpoint.mode=$mode -o $work/$mode >/dev/null || return
    done
    none_bytes=$(process_bytes $work/none) full_bytes=$(process_bytes $work/full)
    [ "$full_bytes" -lt "$none_bytes" ] || return
    cp $work/plain.toml $work/budgets.toml
    echo '[sweep]' >>$work/budgets.toml
    awk -v none="$none_bytes" -v full="$full_bytes" 'BEGIN {
        gib = 2 ^ 30
        printf "\"activation_checkpoint.memory_budget_gib\" = [0.0, %.9f, %.9f, %.9f, 0.001]\n",
            (none - 1024) / gib, (none + full) / 2 / gib, (full + 1024) / gib
    }' >>$work/budgets.toml
}

budgets_are_kept() {
    write_budgets && "$gen" $work/budgets.toml -o $work/budgets 2>$work/warning || return
    says 'memory_budget_gib' $work/warning &&
        says 'warning: point memory_budget_gib0.001: the plan needs' $work/warning || return
    mapfile -t point < <(cut -d' ' -f1 $work/budgets/points)
    says 'refused' $work/budgets/points && [ ! -e "$work/budgets/${point[4]}" ] || return
    local before=0 i
    for i in 0 1 2 3; do
        [ "$i" -eq 0 ] || [ "$(launches "$work/budgets/${point[i]}")" -gt "$before" ] ||
            { echo "point $i recomputes no more than the one before"; return 1; }
        before=$(launches "$work/budgets/${point[i]}")
    done
    [ "$(process_bytes "$work/budgets/${point[1]}")" -lt "$none_bytes" ] &&
        [ "$(process_bytes "$work/budgets/${point[2]}")" -le $(((none_bytes + full_bytes) / 2)) ] &&
        [ "$(process_bytes "$work/budgets/${point[3]}")" -le "$full_bytes" ]
}

same_bits() {
    runtime/scripts/study.sh $work/budgets >$work/budgets.out && { echo "exit 0 in spite of a refusal"; return 1; }
    says '4 of 5 runs finished' $work/budgets.out || return
    local i
    for i in 1 2 3; do
        cmp "$work/budgets/${point[0]}/out/loss.csv" "$work/budgets/${point[i]}/out/loss.csv" || return
        cmp "$work/budgets/${point[0]}/out/adapter/adapter_model.safetensors" \
            "$work/budgets/${point[i]}/out/adapter/adapter_model.safetensors" || return
    done
}

attempt "memory budgets are kept" budgets_are_kept
attempt "recomputation trains to the same bits" same_bits

# ---- interrupted ------------------------------------------------------------------------------------

write_spec cut <<SPEC
[data]
train = ["$work/good.txt"]
eval_batches = 1
[checkpoint]
interval = 0
[sweep]
"training.seed" = [1, 2]
SPEC
cut=$work/cut

# wait_for TEXT FILE PID
wait_for() { until grep -q "$1" "$2" 2>/dev/null; do kill -0 "$3" || return; sleep 0.05; done; }

# pid_of POINT: prints the process of its program.
pid_of() {
    ps -eo pid,args | awk -v run="^$(realpath $cut)/$1/run( |$)" '
        { pid = $1; sub(/^ *[0-9]+ /, ""); if ($0 ~ run) print pid }'
}

# Like Ctrl-C or a closed terminal, a signal to all processes of the study. It ends after the checkpoint.
signal_to_a_study() { # SIGNAL
    rm -rf $cut
    "$gen" $work/cut.toml --set training.steps=14 --set training.log_every=1 -o $cut || return
    set -m
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 &
    set +m
    wait_for '^step 2/14' $cut/seed1/run.log $! && ! runtime/scripts/study.sh $cut >$work/second.log 2>&1 &&
        kill -"$1" -- -$! || return
    wait $!
    [ $? -eq 130 ] && says '^ *1 of 2  seed1: interrupted; the same command resumes it' $work/cut.log &&
        says "^error: $work/cut is running already" $work/second.log &&
        says '^stopped; the same command continues here' $work/cut.log && [ -d $cut/seed1/out/checkpoints ] &&
        says 'checkpoint written' $cut/seed1/run.log && [ ! -e $cut/seed2/run.log ] || { cat $work/cut.log; return 1; }
    "$gen" --compare $cut >$work/text && says '^   1  seed1  interrupted  1$' $work/text &&
        says '^   2  seed2  not run      2$' $work/text
}

# The first point resumes from its checkpoint; only the second's program is stopped, and its log
# says so.
interrupted_points_go_on() {
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 &
    local study=$!
    wait_for '^step 2/14' $cut/seed2/run.log $study && kill -TERM "$(pid_of seed2)" && wait $study
    [ $? -eq 1 ] && says ' seed1: finished in [0-9]* s$' $work/cut.log &&
        says '^resuming from .*step_[0-9]*, after step [0-9]' $cut/seed1/run.log && says ' seed2: interrupted;' $work/cut.log &&
        says '^   2  seed2  interrupted  2' $cut/study.txt || { cat $work/cut.log; return 1; }
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 || { cat $work/cut.log; return 1; }
    says ' seed1: finished before$' $work/cut.log && says ' seed2: finished in [0-9]* s$' $work/cut.log || return
    local seed
    for seed in 1 2; do
        says '"first_step": [1-9]' $cut/seed$seed/out/report.json && [ ! -e $cut/seed$seed/interrupted ] || return
    done
}

# The signal came after the last step of seed1, in its evaluation; seed2 was resumed there by hand.
unmeasured_points_start_over() {
    local seed
    rm $cut/seed*/out/report.json && mv $cut/seed1/finished $cut/seed1/interrupted &&
        runtime/scripts/run.sh --program $cut/seed2 -- --resume >$work/said 2>&1 &&
        says '"steps": 0' $cut/seed2/out/report.json || return
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 || { cat $work/cut.log; return 1; }
    for seed in 1 2; do
        says " seed$seed: had 14 of 14 steps but not all measurements, starts over: finished in [0-9]* s\$" $work/cut.log &&
            says '"first_step": 0' $cut/seed$seed/out/report.json || return
    done
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 && [ "$(grep -c ': finished before$' $work/cut.log)" -eq 2 ]
}

# What is left after the checkpoint of step 8 ends in the profiling window, whose steps have no iteration time.
profiled_points_start_over() {
    rm -rf $cut
    "$gen" $work/cut.toml --set training.steps=12 --set checkpoint.interval=4 --set checkpoint.keep_latest_k=3 \
        --set profiling.enabled=true --set profiling.start_step=1 --set profiling.steps=5 -o $cut &&
        runtime/scripts/study.sh $cut >$work/cut.log 2>&1 || { cat $work/cut.log; return 1; }
    mv $cut/seed1/finished $cut/seed1/interrupted && rm -r $cut/seed1/out/report.json $cut/seed1/out/checkpoints/step_12 &&
        runtime/scripts/study.sh $cut >$work/cut.log 2>&1 || { cat $work/cut.log; return 1; }
    says " seed1: had 8 of 12 steps but not all measurements, starts over: finished" $work/cut.log &&
        ! says '"median": null' $cut/seed1/out/report.json
}

# A signal to make run alone reaches the program.
signal_to_a_run() {
    runtime/scripts/run.sh --program $cut/seed2 >$work/cut.log 2>&1 &
    wait_for '^step 2/14' $work/cut.log $! && kill -TERM $! || return
    ! wait $! && says 'checkpoint written; go on with --resume' $work/cut.log
}
# A program is killed, and then the study too, as when the machine goes down.
killed_points_go_on() {
    local study seed
    rm -rf $cut
    "$gen" $work/cut.toml --set training.steps=14 --set training.log_every=1 --set checkpoint.interval=2 -o $cut || return
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 &
    study=$!
    wait_for '^step 4/14' $cut/seed1/run.log $study && kill -KILL "$(pid_of seed1)" &&
        wait_for '^step 4/14' $cut/seed2/run.log $study && kill -KILL $study "$(pid_of seed2)" || return
    says ' seed1: killed; the same command resumes' $work/cut.log || return
    until flock -n $cut true; do sleep 0.05; done
    runtime/scripts/study.sh $cut >$work/cut.log 2>&1 || { cat $work/cut.log; return 1; }
    for seed in 1 2; do
        says '"first_step": [1-9]' $cut/seed$seed/out/report.json && [ ! -e $cut/seed$seed/interrupted ] || return
    done
}

# A program that crashed would crash again. make names its signal, or has 128 more as its exit code.
crashed_points_have_failed() {
    local end
    for end in 'kill -ABRT $$:FAILED: .*Aborted' 'exit 139:FAILED: .*Error 139' 'exit 137:killed; the same command'; do
        rm -rf $cut/seed1/out
        printf '#!/bin/sh\n%s\n' "${end%%:*}" >$cut/seed1/run
        ! runtime/scripts/study.sh $cut >$work/cut.log 2>&1 && says " seed1: ${end#*:}" $work/cut.log || return
    done
}

attempt "a closed terminal" signal_to_a_study HUP
attempt "a signal to a run" signal_to_a_run
attempt "a signal to a study" signal_to_a_study INT
attempt "interrupted points go on" interrupted_points_go_on
attempt "points without measurements start over" unmeasured_points_start_over
attempt "profiled points start over" profiled_points_start_over
attempt "killed points go on" killed_points_go_on
attempt "crashed points have failed" crashed_points_have_failed

# ---- repetitions, formats ---------------------------------------------------------------------------

write_spec repeated <<SPEC
[data]
train = ["$work/good.txt"]
eval_batches = 1
[benchmark]
repeats = 3
[sweep]
"adapter.r,adapter.lora_alpha" = [[2, 2], [4, 2]]
SPEC
repeated=$work/repeated

points_are_repeated() {
    "$gen" $work/repeated.toml -o $repeated && runtime/scripts/study.sh $repeated >$work/repeated.out || return
    first=$repeated/$(head -n 1 $repeated/points)
    [ "$(ls -d "$first"/out*)" = "$(printf '%s\n' "$first/out" "$first/out.2" "$first/out.3")" ] &&
        says "^repeated/${first##*/} on Simulated" "$first/run.3.log" && says "^repeated/${first##*/} \(fp32\) on " "$first/out/report.txt" &&
        cmp "$first/out/loss.csv" "$first/out.3/loss.csv" && says 'medians of repeated runs' $work/repeated.out &&
        says 'x1\.000 +\([0-9.]+\.\.[0-9.]+\)' $work/repeated.out && says '"repeats": 3' $repeated/study.json
}

# Points with the same kernels share their compiled module, and nothing else.
kernels_are_compiled_once() {
    local shared=$work/shared
    write_spec shared <<'SPEC'
[data]
format = "synthetic"
[sweep]
"adapter.r, training.seed" = [[4, 1], [4, 2], [8, 1]]
SPEC
    printf '#!/bin/sh\n! echo "$*" | grep -q "module.cpp" || echo >>%s/compiled\nexec g++ "$@"\n' "$PWD/$work" >$work/cxx &&
        chmod +x $work/cxx && "$gen" $work/shared.toml --set training.steps=1 -o $shared &&
        SIM_CACHE= SIM_CXX=$PWD/$work/cxx runtime/scripts/study.sh $shared >$work/said || return
    [ "$(wc -l <$work/compiled)" = 2 ] && [ "$(grep -c ': finished in [0-9]* s$' $work/said)" = 3 ] &&
        [ "$(cat $shared/*/kernels.sim | wc -c)" -gt 0 ] && cmp $shared/r4_seed1/kernels.sim $shared/r4_seed2/kernels.sim &&
        ! cmp -s $shared/r4_seed1/kernels.sim $shared/r8_seed1/kernels.sim
}

# Median, minimum and maximum of made-up reports.
ranges_are_right() {
    local made
    for made in out:7 out.2:30 out.3:11.5; do
        sed -i "s/\"median\": [0-9.]*,/\"median\": ${made#*:},/" "$first/${made%:*}/report.json"
    done
    "$gen" --compare $repeated >$work/text && says ' 11\.5000 +x1\.000 +\(7\.\.30\)' $work/text &&
        "$gen" --compare --format csv $repeated >$work/csv && cmp $work/csv $repeated/study.csv &&
        says '^run,state,adapter.r,iteration_ms.median,iteration_ms.median.least,iteration_ms.median.most,' $work/csv &&
        says ',finished,2,11.5,7.0,30.0,' $work/csv || return
    "$gen" --compare --format json $repeated >$work/json && cmp $work/json $repeated/study.json
}

lost_repetition_runs_again() {
    rm -r "$first/out.2"
    "$gen" --compare $repeated >$work/text && says '1 of 2 runs finished' $work/text || return
    runtime/scripts/study.sh $repeated >$work/again && [ "$(grep -c ': finished in [0-9]* s$' $work/again)" -eq 1 ] &&
        [ "$(grep -c ': finished before$' $work/again)" -eq 1 ] && says '2 of 2 runs finished' $work/again
}

# One bar per run and figure, closed elements, escaped text.
chart_is_drawn() {
    "$gen" --compare --format svg $repeated >$work/svg && cmp $work/svg $repeated/study.svg || return
    [ "$(grep -c '<text.*</text>$' $work/svg)" -eq "$(grep -c '<text' $work/svg)" ] &&
        [ "$(grep -c '<rect.*fill="#' $work/svg)" -eq $((2 * $(grep -c 'class="title"' $work/svg))) ] &&
        says ">$(head -n 1 $repeated/points)<" $work/svg && says '>point<' $work/svg && says '>predicted: iteration \(ms\)<' $work/svg &&
        says '>kernel launches \(sum over 4 steps\)<' $work/svg && ! grep -q '>iteration, median (ms)<' $work/svg && says '^</svg>$' $work/svg || return
    "$gen" --compare --format svg "$first" $repeated/r4* >$work/svg && says '>4<' $work/svg && says '>r<' $work/svg || return
    sed 's/target_modules = .*/target_modules = ["<\&>"]/' "$first/spec.toml" >$work/spec.other
    cp $work/spec.other "$first/spec.toml"
    "$gen" --compare --format svg "$first" $repeated/r4* >$work/svg && says '&lt;&amp;&gt;' $work/svg
}

unknown_format_is_refused() {
    ! "$gen" --compare --format png $repeated 2>$work/refusal && says 'unknown format png' $work/refusal &&
        ! "$gen" --format csv $work/repeated.toml 2>$work/refusal && says 'format needs' $work/refusal
}

attempt "kernels are compiled once" kernels_are_compiled_once
attempt "points are repeated" points_are_repeated
attempt "medians and ranges" ranges_are_right
attempt "a lost repetition runs again" lost_repetition_runs_again
attempt "the chart" chart_is_drawn
attempt "an unknown format is refused" unknown_format_is_refused

# ---- comparison --------------------------------------------------------------------------------

a=$work/budgets/${point[0]-} b=$work/budgets/${point[3]-}

ratios() {
    "$gen" --compare "$a" "$b" >$work/compared && says 'memory_budget_gib' $work/compared &&
        says 'kernels.launches' $work/compared && says '^Of one step: iteration_ms' $work/compared &&
        says '^Sums over all steps of a run: launches' $work/compared &&
        ! grep -q '^Sums over the steps of the profiling' $work/compared && says ' 1 .* x1\.000' $work/compared &&
        says 'loss.last' $work/compared && says 'predicted.memory.process_planned_MiB' $work/compared &&
        says '^ +1 +[^ ]+ +[0-9]+\.[0-9]{2} +x1\.000' $work/compared && ! grep -q 'another number of steps' $work/compared &&
        "$gen" --compare "$a" >$work/compared && ! grep -q 'their specs' $work/compared
}

# The second line says what simulated times are worth, and predictions have the first table.
simulated_times_come_last() {
    "$gen" --compare "$a" "$b" >$work/compared &&
        says '^Times on the simulated device say nothing about a GPU' <(sed -n 2p $work/compared) || return
    awk '/predicted\./ { predicted = predicted " " NR } /iteration_ms/ && !/predicted\./ && !times { times = NR }
        END { split(predicted, at, " "); exit !(length(at) == 1 && at[1] < times) }' $work/compared
}

# --steps ended one of two runs of the same program early; figures over all steps then have no
# ratio.
steps_that_were_done() {
    cp -r "$b" $work/early && runtime/scripts/run.sh --program $work/early -- --steps 2 || return
    "$gen" --compare "$b" $work/early >$work/compared && says 'training.steps' $work/compared &&
        says ' 2 .* finished .* 2$' $work/compared && says ' 1 .* finished .* 4$' $work/compared &&
        says '^Some runs took another number of steps than run 1: their time.train_s, launches' $work/compared || return
    "$gen" --compare --format json "$b" $work/early | sed '1,/"ratios"/d' >$work/ratios &&
        says '"kernels.launches": null' $work/ratios && says '"steps": 0.5' $work/ratios &&
        says '"loss.first": 1.0' $work/ratios && "$gen" --compare --format svg "$b" $work/early >$work/svg &&
        says '>held-out loss<' $work/svg && ! grep -q '>kernel launches' $work/svg
}

# Made-up reports: times in profiling windows of two and of five steps have no ratio, but counts
# over the same number of steps do; with twice the steps it is the other way round. Losses always
# have one.
sums_over_unequal_steps() {
    local name window steps of=$work/sums
    for made in one:2:4 same:2:4 window:5:4 longer:2:8; do
        IFS=: read -r name window steps <<<"$made"
        mkdir -p "$of/$name/out"
        cp "$b/plan.json" "$b/spec.toml" "$of/$name"
        sed "s/^  \"steps\": 4,/  \"steps\": $steps, \"loss_scale\": {\"skipped_steps\": 1},/
            0,/\"ms\": null/s//\"ms\": 3.5/
            s/\"profiling_window\": null/\"profiling_window\": {\"steps\": $window}/" \
            "$b/out/report.json" >"$of/$name/out/report.json"
        "$gen" --compare $of/one "$of/$name" >"$of/$name.txt" && "$gen" --compare --format json $of/one "$of/$name" |
            sed '1,/"ratios"/d' | sed '1,/"ratios"/d' >"$of/$name.json" &&
            says '"loss.last": 1.0' "$of/$name.json" || return
    done
    says '"kernels.ms": 1.0' $of/same.json && says '"kernels.launches": 1.0' $of/same.json &&
        ! grep -q '^Some runs' $of/same.txt || return
    says '"kernels.ms": null' $of/window.json && says '"kernels.launches": 1.0' $of/window.json &&
        says '^Some runs profiled another number of steps than run 1: their ms of kernels' $of/window.txt || return
    says '"kernels.ms": 1.0' $of/longer.json && says '"kernels.launches": null' $of/longer.json &&
        says '"copies.d2h.bytes": null' $of/longer.json && says '"loss_scale.skipped_steps": null' $of/longer.json &&
        says '^Some runs took another number of steps' $of/longer.txt && ! grep -q 'Some runs profiled' $of/longer.txt &&
        says '^Sums over the steps of the profiling window: kernels.ms' $of/longer.txt
}

# Three calls that took 2 us together did not wait; three that took 4 us did.
waits_have_a_ratio_if_the_first_waited() {
    local name ms of=$work/waits
    for made in idle:0.002 waited:0.004 long:800; do
        IFS=: read -r name ms <<<"$made"
        mkdir -p "$of/$name/out" && cp "$b/plan.json" "$b/spec.toml" "$of/$name" &&
            sed "/\"syncs\"/,/}/{s/\"count\": .*,/\"count\": 3,/;s/\"ms\": .*/\"ms\": $ms/}" "$b/out/report.json" \
                >"$of/$name/out/report.json" || return
    done
    "$gen" --compare --format json $of/idle $of/long >$work/ratios && says '"syncs.ms": 800' $work/ratios &&
        [ "$(grep -c '"syncs.ms": null' $work/ratios)" -eq 2 ] && says '"syncs.count": 1.0' $work/ratios &&
        "$gen" --compare --format json $of/waited $of/long >$work/ratios && says '"syncs.ms": 200000' $work/ratios
}

# A results folder stands for a run, next to its program or elsewhere.
results_stand_for_their_program() {
    cp -r "$b/out" $work/elsewhere && "$gen" --compare "$a" "$b/out" $work/elsewhere >$work/compared &&
        says 'memory_budget_gib' $work/compared && [ "$(grep -c ' finished  ' $work/compared)" -eq 3 ] || return
    sed -i '/"program":/d' $work/elsewhere/report.json
    ! "$gen" --compare $work/elsewhere 2>$work/refusal && says 'wrote this report no longer exists' $work/refusal &&
        ! "$gen" --compare $work/budgets/none 2>$work/refusal && says 'no such folder' $work/refusal &&
        ! "$gen" --compare $a/obj 2>$work/refusal && says 'no program and no report' $work/refusal
}

# Files that were damaged on their way, each with a remedy that works, and a folder in which nothing can be
# written, as if it were someone else's.
damaged_results_are_named() {
    local copy=$work/damaged
    rm -rf $copy && mkdir $copy && cp -r "$b" $copy/point && echo point >$copy/points && truncate -s -3 $copy/point/out/report.json &&
        ! "$gen" --compare $copy 2>$work/refusal && says '^build/.*/point/out/report.json: error: this file is broken: ' $work/refusal &&
        says 'remove this file, then generate and run the program again$' $work/refusal &&
        cp "$b/out/report.json" $copy/point/out && rm $copy/point/plan.json &&
        ! "$gen" --compare $copy 2>$work/refusal && says 'point/plan.json: No such file' $work/refusal &&
        says 'hint: copy the folder again; or generate and run' $work/refusal || return
    cp "$b/plan.json" $copy/point && mkdir $copy/study.svg && ! "$gen" --compare $copy/ >$work/compared 2>$work/refusal &&
        says '^damaged: 1 of 1 runs finished' $work/compared && says 'study.svg: error: cannot write this file' $work/refusal
}

# A copy that claims to have run on a device.
refuses_simulated_beside_real() {
    rm -rf $work/real
    mkdir -p $work/real/out
    cp "$b/spec.toml" "$b/plan.json" $work/real
    sed 's/"simulated": true/"simulated": false/' "$b/out/report.json" >$work/real/out/report.json
    ! "$gen" --compare "$a" $work/real 2>$work/refusal && says 'simulated times say nothing' $work/refusal &&
        "$gen" --compare $work/real $work/real >$work/compared && ! grep -q 'say nothing' $work/compared &&
        says '^ +run +iteration_ms.median .* predicted.iteration_ms.median' $work/compared &&
        "$gen" --compare --format csv $work/real $work/real >$work/csv && says "^$work/real,finished,.*,false\$" $work/csv
}

# Made-up reports: two cards whose predicted rate is 1.5 times one card's, and another precision without such
# a pair. A key without effect on two cards is not a difference, and neither is a name.
speedups_against_one_card() {
    local made name cards rate dtype
    for made in one:1:100:fp32 two:2:150:fp32 other:1:60:bf16; do
        IFS=: read -r name cards rate dtype <<<"$made"
        rm -rf "$work/cards/$name"
        mkdir -p "$work/cards/$name/out"
        cp "$b/plan.json" "$work/cards/$name"
        sed "s/^dtype = .*/dtype = \"$dtype\"/; s/^\(data_parallel_replicate_degree\) = 1/\1 = $cards/" \
            "$b/spec.toml" >"$work/cards/$name/spec.toml"
        sed "s/\"cards\": 1/\"cards\": $cards/; s/\"tokens_per_s\": [0-9.e+]*/\"tokens_per_s\": $rate.0/" \
            "$b/out/report.json" >"$work/cards/$name/out/report.json"
    done
    sed -i '/^bordered = /d; 0,/^name = .*/s//name = "two"/' $work/cards/two/spec.toml
    sed -i '1a "all_ranks": {"kernels": {"launches": 77}},' $work/cards/two/out/report.json
    "$gen" --compare --format csv $work/cards/other $work/cards/one $work/cards/two >$work/cards.csv &&
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { speedup = speedup " " $at["predicted.speedup"]
              efficiency = efficiency " " $at["predicted.efficiency"]; measured = measured $at["speedup"] }
            END { exit speedup != " 1.0 1.0 1.5" || efficiency != " 1.0 1.0 0.75" || measured != "" ||
                $at["kernels.launches"] != "77.0" }' $work/cards.csv &&
        says '^run,state,job.name,precision.dtype,parallelism.data_parallel_replicate_degree,iteration' $work/cards.csv
}

refuses_an_old_report() {
    "$gen" $work/plain.toml --set optimizer.lr=0.5 --force -o $work/real >/dev/null 2>$work/warning &&
        says '^.*/real/out/report.json: warning: results of another variant' $work/warning &&
        ! "$gen" --compare $work/real 2>$work/refusal && says 'another spec' $work/refusal || return
    local sha
    sha=$(sed -n 's/.*"spec_sha256": "\([0-9a-f]*\)".*/\1/p' $work/real/plan.json)
    sed -i "s/\"spec_sha256\": \"[0-9a-f]*\"/\"spec_sha256\": \"$sha\"/" $work/real/out/report.json
    "$gen" $work/plain.toml --set optimizer.lr=0.5 -o $work/real >/dev/null 2>$work/warning && [ ! -s $work/warning ]
}

refuses_what_has_not_run() {
    ! "$gen" --compare $work/none 2>$work/refusal && says 'not finished a run' $work/refusal &&
        ! "$gen" --compare 2>$work/refusal && says 'folders' $work/refusal
}

# Each point that fits is a job of the array, with its own number of ranks; an edited script is
# kept.
job_of_an_array() {
    local script=$work/named/job.sbatch
    "$gen" --slurm $work/named.toml --set job.partition=gpu -o $work/named >/dev/null && bash -n "$script" &&
        says '^#SBATCH --array=0-1$' "$script" && says '^    "r8 1"$' "$script" &&
        says '^#SBATCH --partition=gpu$' "$script" || return
    echo '# mine' >>"$script"
    ! "$gen" --slurm $work/named.toml -o $work/named >/dev/null 2>$work/refusal &&
        says 'job.sbatch: error: this file was edited' $work/refusal && says '^# mine' "$script"
}

# Points of different sizes can be submitted apart, each with what it needs.
jobs_by_size() {
    ! says 'By size' $work/named/job.sbatch || return
    write_spec sizes <<'SPEC'
[data]
format = "synthetic"
[parallelism]
data_parallel_mode = "dp"
[sweep]
"parallelism.data_parallel_replicate_degree" = [1, 2]
"training.seed" = [1, 2, 3]
SPEC
    "$gen" --slurm $work/sizes.toml -o $work/sizes >/dev/null &&
        says '^# sizes: cards 2, nodes 1, one task per card, or per process of several cards\.' $work/sizes/job.sbatch &&
        says ' --array=0-2 --nodes=1 --ntasks=1 --ntasks-per-node=1 --gpus-per-node=1 ' $work/sizes/job.sbatch &&
        says ' --array=3-5 --nodes=1 --ntasks=1 --ntasks-per-node=1 --gpus-per-node=2 ' $work/sizes/job.sbatch
}

attempt "an array for Slurm" job_of_an_array
attempt "jobs by size" jobs_by_size

# ---- scaling ------------------------------------------------------------------------------------

cat >$work/tiny.toml <<'SPEC'
[model]
family = "mlp"
num_classes = 2
image_size = 4
image_channels = 1
num_hidden_layers = 1
hidden_size = 8
[training]
task = "classify"
per_device_train_batch_size = 1
steps = 1
[optimizer]
name = "sgd"
[data]
format = "synthetic"
SPEC

more_cards_may_be_slower() {
    "$gen" --scaling $work/tiny.toml >$work/scaling && says '^slower: 2 cards do 0\.[0-9]+ x the work of 1,' $work/scaling &&
        says '^ 1024    128 ' $work/scaling && [ "$(grep -c ' % ' $work/scaling)" -eq 11 ] || return
    "$gen" --scaling $work/named.toml >$work/refusal 2>&1 && return 1
    says 'this spec has a \[sweep\]' $work/refusal &&
        "$gen" --scaling --format csv $work/tiny.toml >$work/csv && [ "$(wc -l <$work/csv)" -eq 12 ] &&
        says ',device.name,predicted$' $work/csv && [ "$(grep -c ',true$' $work/csv)" -eq 11 ] &&
        "$gen" --scaling --format svg $work/tiny.toml >$work/svg && says '^</svg>$' $work/svg &&
        [ "$(grep -c '<rect.*fill="#' $work/svg)" -eq $((11 * $(grep -c 'class="title"' $work/svg))) ]
}

# At most as many cards as the rows of a step fit into an int32.
steps_bound_the_cards() {
    "$gen" --scaling $work/tiny.toml --set training.gradient_accumulation_steps=65536 \
        --set training.per_device_train_batch_size=64 >$work/scaling &&
        [ "$(grep -c ' % ' $work/scaling)" -eq 9 ] && says '^  256 ' $work/scaling
}

# Shards may fit although one card has no room for the whole, or only if it recomputes activations;
# the speed-up then says so.
one_card_has_no_room() {
    set -- --scaling $work/tiny.toml --set parallelism.data_parallel_shard_degree=2
    "$gen" "$@" >$work/scaling &&
        says '^speed-up is relative to one card, whose step takes 0\.[0-9]* ms$' $work/scaling &&
        "$gen" "$@" --set activation_checkpoint.memory_budget_gib=0.001 >$work/scaling &&
        says '^speed-up is .* ms, on which the experiment does not fit$' $work/scaling || return
    set -- --scaling $work/plain.toml --set activation_checkpoint.memory_budget_gib=0.001
    "$gen" "$@" >$work/scaling &&
        says '^speed-up is .* ms with activations recomputed, on which the experiment does not fit$' $work/scaling &&
        "$gen" --scaling $work/plain.toml --set activation_checkpoint.mode=full >$work/scaling &&
        says '^speed-up is .* ms with activations recomputed$' $work/scaling
}

# The copies between the cards of one process wait in line with its work.
copies_of_one_process_are_exposed() {
    "$gen" --scaling --format csv $work/tiny.toml --set parallelism.data_parallel_mode=dp >$work/csv &&
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { ms = $at["communication_ms"] } $at["exposed_ms"] != ms || ($at["cards"] > 1) != (ms > 0) { exit 1 }' $work/csv
}

# Made-up reports: held-out losses over as many targets have a ratio, those over others have none.
heldout_losses_of_other_data() {
    local of=$work/heldout name targets sha
    for made in one:32 same:32 other:1712; do
        IFS=: read -r name targets <<<"$made"
        "$gen" $work/tiny.toml -o "$of/$name" >/dev/null && mkdir -p "$of/$name/out" || return
        sha=$(sed -n 's/^  "spec_sha256": "\(.*\)",$/\1/p' "$of/$name/plan.json")
        printf '{"spec_sha256": "%s", "loss": {"last": 2.0, "heldout_after": 2.5, "heldout_targets": %d}}\n' \
            "$sha" "$targets" >"$of/$name/out/report.json"
        "$gen" --compare "$of/one" "$of/$name" >"$of/$name.txt" || return
    done
    says ' 2 .* 2\.5000 +x1\.000 +32 ' "$of/same.txt" && ! grep -q 'held-out targets' "$of/same.txt" &&
        says '^Some runs were evaluated on another number of held-out targets than run 1' "$of/other.txt" &&
        says ' 2 +[^ ]+ +2 +x1\.000 +2\.5000 +1712 ' "$of/other.txt"
}

attempt "held-out losses of other data" heldout_losses_of_other_data
attempt "copies of one process are exposed" copies_of_one_process_are_exposed
attempt "one card has no room" one_card_has_no_room
attempt "more cards may be slower" more_cards_may_be_slower
attempt "steps bound the cards" steps_bound_the_cards
attempt "figures and their ratios" ratios
attempt "simulated times come after what holds for a GPU" simulated_times_come_last
attempt "the steps that were done" steps_that_were_done
attempt "sums over unequal numbers of steps" sums_over_unequal_steps
attempt "waits have a ratio if the first run waited" waits_have_a_ratio_if_the_first_waited
attempt "results stand for their program" results_stand_for_their_program
attempt "damaged results" damaged_results_are_named
attempt "speed-ups against one card" speedups_against_one_card
attempt "simulated beside real is refused" refuses_simulated_beside_real
attempt "a report of another spec is refused" refuses_an_old_report
attempt "a run that is not there is refused" refuses_what_has_not_run

exit $failed
