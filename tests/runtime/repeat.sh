#!/bin/bash
# Emitted programs on the simulated device: what must not change a result does not.
#
#     tests/runtime/repeat.sh [NAME]...       from the root of the tree; all tests without a NAME
#
# RT, RTLIB and SIM_OUT name a runtime and a simulated device that are built. Works under build/repeat.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/repeat
. tests/runtime/emitted.sh
cases=tests/oracle/cases

# run PROGRAM OUT [OPTION]...: output in OUT.log; gives the exit code.
run() {
    local program=$work/$1/run out=$work/$2
    shift 2
    "$program" --out "$out" "$@" >"$out.log" 2>&1
}

tensors() { "$work/compare_tensors" "$@"; }
newest() { ls -d "$work/$1"/checkpoints/step_*/ | sort -V | tail -n 1; }
says() { grep -q -e "$2" "$work/$1.log"; }
heldout() { sed -n "s/held-out loss $2: //p" "$work/$1.log"; }

# All of the state, optimizer and counters included, and the losses.
same_results() {
    tensors "$(newest "$1")/state.safetensors" "$(newest "$2")/state.safetensors" &&
        cmp "$work/$1/loss.csv" "$work/$2/loss.csv"
}

# A LoRA in bf16 where much goes on in a step: dropout, two micro-steps, clipping, a schedule.
busy=(precision.dtype=bf16 training.gradient_accumulation_steps=2 adapter.lora_dropout=0.1
    training.steps=12 lr_scheduler.type=cosine lr_scheduler.warmup_steps=3 data.shuffle=true)
busy() { # busy NAME [KEY=VALUE]...
    local name=$1
    shift
    program "$name" $cases/demo/spec.toml "${busy[@]}" "$@"
}
start=(--init $cases/demo/model --adapter $cases/demo/adapter)

test_two_runs() { run plain again "${start[@]}" && same_results plain_out again; }
test_other_seed_differs() { run plain seeded "${start[@]}" --seed 5 && ! same_results plain_out seeded; }

test_stopped_and_resumed() {
    run plain stopped "${start[@]}" --steps 5 && run plain stopped --resume &&
        same_results plain_out stopped
}

# load rounds the frozen base in its place; another base, whose first number is 0, is still told.
test_rounded_base_resumes() {
    local other=$work/other_base
    cp -r $cases/demo/model "$other"
    local file=$other/model.safetensors
    printf '\0\0\0\0' | dd of="$file" bs=1 seek=$((8 + $(od -An -t u8 -N 8 "$file"))) conv=notrunc status=none
    busy rounded qat.weight_dtype=int4 qat.group_size=8 && run rounded rounded_out &&
        run rounded rounded_stopped --steps 5 && run rounded rounded_stopped --resume &&
        same_results rounded_out rounded_stopped && run rounded rounded_other --steps 5 || return 1
    ! run rounded rounded_other --init "$other" --resume && says rounded_other "frozen weights"
}

test_signal_and_resume() {
    local signal
    for signal in TERM INT; do
        "$work/plain/run" --out "$work/$signal" "${start[@]}" >"$work/$signal.log" 2>&1 &
        local pid=$!
        until grep -q 'step 2/' "$work/$signal.log" || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
        kill -$signal $pid
        wait $pid
        [ $? = 75 ] && run plain $signal --resume && same_results plain_out $signal || return 1
    done
}

# switched KEY=VALUE...: another program, the same bits.
switched() {
    rm -rf "$work/switched" && busy switched "$@" && run switched switched_out "${start[@]}" && same_results plain_out switched_out
}
test_without_fusion() { switched compile.fusion=false; }
test_without_cuda_graph() { switched compile.cuda_graph=false; }
test_without_overlap() { switched compile.overlap=false; }
test_full_recomputation() { switched activation_checkpoint.mode=full; }
test_pageable_input() { switched data.pin_memory=false; }

# A folder of JPEG and PNG files, decoded by two threads before the first step or image by image: the same
# bits, and the same pixels in the dump. One more file is another folder than the program was made for.
test_folder_on_the_device() {
    local pictures=$work/pictures of=tests/fuzz/images
    mkdir -p "$pictures"/{a,b} && cp $of/{rgb.jpg,rgb.png,palette.png} "$pictures/a" &&
        cp $of/{gray.jpg,progressive.jpg} "$pictures/b" && echo none >"$pictures/b/broken.png" || return 1
    local resident
    for resident in true false; do
        program "folder_$resident" $cases/mlp/spec.toml data.format=image_folder "data.train=$pictures" \
            "data.validation=$pictures" model.image_size=3 model.num_classes=2 data.image_height=3 \
            data.image_width=3 data.image_channels=3 data.shuffle=true data.num_workers=2 \
            data.skip_broken=true data.device_resident=$resident &&
            run "folder_$resident" "folder_${resident}_out" --dump "$work/folder_$resident.dump" || return 1
    done
    same_results folder_true_out folder_false_out &&
        cmp "$work/folder_true.dump" "$work/folder_false.dump" &&
        grep -q 'device_samples": 10,*$' "$work/folder_true_out/report.json" || return 1
    cp $of/rgb.jpg "$pictures/b"
    run folder_true folder_more
    [ $? = 1 ] && says folder_more 'there are 14 images in the files of this run, but there were 12'
}

# fed PIN_MEMORY: a program of images that are sent, its calls counted by the simulated device.
fed() {
    program "fed_$1" $cases/cnn_strides/spec.toml data.device_resident=false "data.pin_memory=$1" \
        "data.numa_bind=$1" profiling.enabled=true profiling.start_step=3 profiling.steps=4 \
        training.eval_every=0 &&
        SIM_COUNTS=$work/fed_$1.counts run "fed_$1" "fed_$1_out" --init $cases/cnn_strides/model
}

# called PIN_MEMORY CALL: how often, in the whole run; profiled, in the profiled steps.
called() { sed -n "/\"calls\"/,\$s/^ *\"$2\": \([0-9]*\),*\$/\1/p" "$work/fed_$1.counts"; }
profiled() { awk -F, -v call="$2" '$NF == call { n = $3 } END { print n + 0 }' "$work/fed_$1_out/cuda_api_sum.csv"; }
host_to_device() { sed -n "s/.*\"h2d\":.*\"$2\": {\"count\": \([0-9]*\).*/\1/p" "$work/fed_$1.counts"; }
reports() { tr -d ' \n' <"$work/fed_$1_out/report.json" | grep -q "$2"; }

# Ten steps of three batches, and evaluations. Pinned: page-locked buffers, and nobody waits
# for a copy. Pageable: buffers that the driver does not know, and a wait behind each copy. The same bits.
test_pinned_and_pageable() {
    fed true && fed false && same_results fed_true_out fed_false_out || return 1
    [ "$(called true cuMemcpyHtoDAsync)" = "$(called false cuMemcpyHtoDAsync)" ] &&
        [ "$(called true cuMemHostAlloc)" = $(($(called false cuMemHostAlloc) + 4)) ] &&
        [ "$(host_to_device true pinned)" = "$(called true cuMemcpyHtoDAsync)" ] &&
        [ "$(host_to_device false pinned)" = 0 ] || return 1
    [ "$(profiled true cuMemcpyHtoDAsync_v2)" = 12 ] && [ "$(profiled false cuMemcpyHtoDAsync_v2)" = 12 ] &&
        [ "$(profiled false cuStreamSynchronize)" = $(($(profiled true cuStreamSynchronize) + 12)) ] || return 1
    reports true '"not_bound":"thesimulateddevicehasnonode"' &&
        reports false '"not_bound":"data.numa_bind=false"' || return 1
    reports true '"h2d":{"count":30,"bytes":[0-9]*,"ms":[0-9.e-]*,"pinned":30}' &&
        reports true '"host_memory":"pinned"' && reports false '"host_memory":"pageable"' &&
        reports false '"h2d":{"count":30,"bytes":[0-9]*,"ms":[0-9.e-]*,"pinned":0}'
}
test_nvrtc() { GPUOPT_JIT=1 run plain jit "${start[@]}" && same_results plain_out jit; }

# A first loss scale far too large: its steps apply no update, say so, and are no reason to stop.
test_loss_scale() {
    busy half precision.dtype=fp16 precision.init_scale=3e7 precision.growth_interval=3 &&
        run half half_out "${start[@]}" && run half half_parts "${start[@]}" --steps 7 &&
        run half half_parts --resume && same_results half_out half_parts || return 1
    local skipped
    skipped=$(sed -n 's/.*"skipped_steps": *\([0-9]*\).*/\1/p' "$work/half_out/report.json")
    [ "$skipped" -ge 3 ] && [ "$skipped" -lt 12 ] &&
        [ "$(grep -cE ',-?(inf|nan),' "$work/half_out/loss.csv")" = "$skipped" ] &&
        awk -v a="$(heldout half_out before)" -v b="$(heldout half_out after)" 'BEGIN { exit !(b < a) }'
}

# Running statistics are saved, resumed bit for bit and exported; --init finds them there.
test_buffers() {
    program images $cases/mobilenet/spec.toml training.steps=6 training.eval_every=2 &&
        run images images_out --init $cases/mobilenet/model &&
        run images images_parts --init $cases/mobilenet/model --steps 3 &&
        run images images_parts --resume && same_results images_out images_parts &&
        cmp "$work/images_out/eval.csv" "$work/images_parts/eval.csv" &&
        tensors "$work/images_out/model/model.safetensors" "$work/images_parts/model/model.safetensors" &&
        run images images_again --init "$work/images_out/model" --steps 0 || return 1
    [ -n "$(heldout images_out after)" ] &&
        [ "$(heldout images_out after)" = "$(heldout images_again before)" ] &&
        grep -qa running_var "$work/images_out/model/model.safetensors"
}

# One micro-step of eight rows, or eight of one row whose numbers of targets differ.
test_accumulation() {
    local batch
    for batch in 8 1; do
        program batch$batch $cases/accumulate/spec.toml precision.dtype=fp64 \
            training.per_device_train_batch_size=$batch \
            training.gradient_accumulation_steps=$((8 / batch)) &&
            run batch$batch batch${batch}_out --init $cases/accumulate/model --dump "$work/dump$batch" ||
            return 1
    done
    tensors --tolerance 1e-11 --prefix grad. "$work/dump8" "$work/dump1" &&
        tensors --tolerance 1e-11 --prefix new. "$work/dump8" "$work/dump1" &&
        tensors --tolerance 1e-11 --prefix loss "$work/dump8" "$work/dump1" &&
        tensors --tolerance 1e-10 "$work/batch8_out/model/model.safetensors" "$work/batch1_out/model/model.safetensors"
}

# The adapter is a trained one; what it adapts is the base.
test_without_adapter() {
    program base $cases/pretrain_untied/spec.toml precision.dtype=fp32 training.steps=4 &&
        run base base_out --init $cases/pretrain_untied/model &&
        program adapted $cases/pretrain_untied/spec.toml precision.dtype=fp32 training.task=sft training.steps=4 \
            adapter.type=lora adapter.r=4 "model.weights=$work/base_out/model" &&
        run adapted adapted_out && run adapted bare --no-adapter --steps 0 &&
        run adapted whole --adapter "$work/adapted_out/adapter" --steps 0 || return 1
    awk -v base="$(heldout base_out after)" -v fresh="$(heldout adapted_out before)" \
        -v bare="$(heldout bare before)" -v trained="$(heldout adapted_out after)" \
        -v whole="$(heldout whole before)" 'BEGIN {
            exit !(base > 0 && (base - bare)^2 <= 1e-12 && (base - fresh)^2 <= 1e-12 &&
                (trained - whole)^2 <= 1e-12 && trained < base - 1e-3) }'
}

# A number of the adapter's last tensor is no number; a matrix product is the first to meet it.
test_not_finite() {
    local file=$work/bad/adapter_model.safetensors
    cp -r $cases/demo/adapter "$work/bad" &&
        printf '\0\0\300\177' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 4)) conv=notrunc status=none
    run plain bad_out --init $cases/demo/model --adapter "$work/bad"
    [ $? = 1 ] && says bad_out 'error: step 1 is not finite: first model\.layers\.1\.self_attn[a-z_.]*\[[0-9, ]*\] is -*nan'
}

tests='two_runs other_seed_differs stopped_and_resumed rounded_base_resumes signal_and_resume without_fusion without_cuda_graph
without_overlap full_recomputation pageable_input pinned_and_pageable folder_on_the_device
nvrtc loss_scale buffers accumulation without_adapter not_finite'
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I. tests/runtime/compare_tensors.c \
    runtime/safetensors.c -o "$work/compare_tensors" -ljansson -lm || exit 1
busy plain && run plain plain_out "${start[@]}" || { tail -n 20 "$work"/plain*.log; exit 1; }
failed=0
for name in ${*:-$tests}; do
    if "test_$name" >"$work/$name.test" 2>&1; then
        echo "ok repeat $name"
    else
        echo "FAIL repeat $name (see $work)"
        tail -n 5 "$work/$name.test"
        failed=1
    fi
done
exit $failed
