#!/bin/bash
# Emitted programs on the simulated device: choices that must not change results do not.
#
#     tests/runtime/repeat.sh [--all | --rest | NAME...]
# Tests more_test_NAME have more settings of what the others vary too.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/repeat
. tests/runtime/emitted.sh
suite=repeat
cases=tests/oracle/cases

# run PROGRAM OUT [OPTION]...: output in OUT.log; returns the exit code.
run() {
    local program=$work/$1/run out=$work/$2
    shift 2
    "$program" --out "$out" "$@" >"$out.log" 2>&1
}

says() { grep -q -e "$2" "$work/$1.log"; }

# A LoRA in bf16 that uses many features: dropout, two micro-steps, clipping, a schedule.
busy=(precision.dtype=bf16 training.gradient_accumulation_steps=2 adapter.lora_dropout=0.1
    training.steps=12 "lr_scheduler.type='cosine'" lr_scheduler.warmup_steps=3 data.shuffle=true)
busy() { # busy NAME [KEY=VALUE]...
    local name=$1
    shift
    program "$name" $cases/demo/spec.toml "${busy[@]}" "$@"
}
start=(--init $cases/demo/model --adapter $cases/demo/adapter)

test_two_runs() { run plain again "${start[@]}" && same_results plain_out again; }

test_report_lists_settings() {
    local quote="'\\''"
    sed -n '2,/^$/p' "$work/plain_out/report.txt" | diff - <(printf "    --set '%s'\n" "${busy[@]//\'/"$quote"}" && echo)
}
# Generated again with another file of data, but not built, the program would read the one before.
test_program_of_earlier_sources() {
    local dir=$work/earlier lines=$work/other.jsonl
    cp $cases/demo/data.jsonl "$lines" && program earlier $cases/demo/spec.toml &&
        run earlier earlier_out "${start[@]}" --steps 0 && ! says earlier_out '^warning' &&
        ./gpuopt-gen $cases/demo/spec.toml --set data.train="'$lines'" -o "$dir" >/dev/null &&
        run earlier earlier_out "${start[@]}" --steps 0 &&
        says earlier_out "^warning: this program is older than the sources beside it.*make -C $dir builds it" &&
        make -s -C "$dir" && run earlier earlier_out "${start[@]}" --steps 0 && ! says earlier_out '^warning'
}
test_other_seed_differs() { run plain seeded "${start[@]}" --seed 5 && ! same_results plain_out seeded; }

test_stopped_and_resumed() {
    run plain stopped "${start[@]}" --steps 5 && run plain stopped --resume &&
        same_results plain_out stopped
}

# load rounds the frozen base in place; a different base, whose first number is 0, is still
# detected.
more_test_rounded_base_resumes() {
    local other=$work/other_base
    cp -r $cases/demo/model "$other"
    local file=$other/model.safetensors
    printf '\0\0\0\0' | dd of="$file" bs=1 seek=$((8 + $(od -An -t u8 -N 8 "$file"))) conv=notrunc status=none
    busy rounded qat.weight_dtype=int4 qat.group_size=8 && run rounded rounded_out &&
        run rounded rounded_stopped --steps 5 && run rounded rounded_stopped --resume &&
        same_results rounded_out rounded_stopped && run rounded rounded_other --steps 5 || return 1
    ! run rounded rounded_other --init "$other" --resume && says rounded_other "frozen weights"
}

# Two steps of three micro-steps without rounding, then three with it. The result is that of a
# program that never rounds followed by one that always does, wherever it is interrupted. Backward
# rounds again to the same bits as the program that keeps rounded values.
more_test_rounding_begins_later() {
    local at from=(--init $cases/accumulate/model)
    local rounding=(qat.weight_dtype=int4 qat.activation_dtype=int8 qat.group_size=8)
    program never $cases/accumulate/spec.toml training.steps=5 &&
        program always $cases/accumulate/spec.toml training.steps=5 "${rounding[@]}" activation_checkpoint.mode=none &&
        program late $cases/accumulate/spec.toml training.steps=5 "${rounding[@]}" qat.fake_quant_after_n_steps=2 &&
        run never joined "${from[@]}" --steps 2 && run always joined --resume &&
        run late late_out "${from[@]}" && same_steps late_out joined || return 1
    for at in 1 2 3; do
        run late late_$at "${from[@]}" --steps $at && run late late_$at --resume && same_results late_out late_$at || return 1
    done
}

# Every weight trains, and the reference is the initial weights. The file is read if it fits, is not
# written again after weights have changed, and is refused if made from something else or damaged.
more_test_reference_file() {
    local from=(--init $cases/dpo/model) file=$work/reference_out/reference.json other=$work/other_start
    printf 'extends = "%s"\n[adapter]\ntype = "none"\n[dpo]\nprecompute_ref_log_probs = true\n' \
        $cases/dpo/spec.toml >"$work/reference.toml"
    program reference "$work/reference.toml" precision.dtype=fp64 training.steps=4 qat.activation_dtype=int8 &&
        run reference reference_out "${from[@]}" && says reference_out 'saved in' &&
        says reference_out 'held-out rewards/margins before: 0.000000' &&
        run reference reference_cut "${from[@]}" --steps 2 && run reference reference_cut --resume &&
        says reference_cut 'read from' && same_results reference_out reference_cut &&
        cmp "$file" "$work/reference_cut/reference.json" || return 1
    cp -r $cases/dpo/model "$other"
    printf '\1\1\1\1' | dd of="$other/model.safetensors" bs=1 conv=notrunc status=none \
        seek=$((8 + $(od -An -t u8 -N 8 "$other/model.safetensors")))
    ! run reference reference_out --init "$other" && says reference_out 'reference.json: was made with weights_crc32' &&
        ! run reference none --resume "$(newest reference_cut)" &&
        says none 'is missing and cannot be made at step 4' || return 1
    sed '0,/91, 78/s//78, 91/' $cases/dpo/data.jsonl >"$work/other_pairs.jsonl"
    program other_pairs "$work/reference.toml" precision.dtype=fp64 training.steps=4 qat.activation_dtype=int8 \
        data.train="$work/other_pairs.jsonl" &&
        ! run other_pairs reference_out "${from[@]}" && says reference_out 'reference.json: was made with data_crc32' || return 1
    program fewer "$work/reference.toml" precision.dtype=fp64 training.steps=4 qat.activation_dtype=int8 data.eval_batches=1 &&
        ! run fewer reference_out "${from[@]}" && says reference_out 'was made with eval_rows = 3, but this run has 2' || return 1
    sed -i '/logps/,$s/\.1/.2/' "$work/reference_cut/reference.json"
    ! run reference reference_cut "${from[@]}" && says reference_cut 'reference.json: is damaged: .* values_crc32 = ' || return 1
    sed -i 's/fp64/fp32/' "$file"
    ! run reference reference_out "${from[@]}" && says reference_out 'was made with precision.dtype = "fp32", but this run has "fp64"' ||
        return 1
    rm "$file" && mkfifo "$file"
    ! run reference reference_out "${from[@]}" && says reference_out 'reference.json: cannot be read: it is not a regular file; remove'
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

# switched KEY=VALUE...: another program gives the same bits.
switched() {
    rm -rf "$work/switched" && busy switched "$@" && run switched switched_out "${start[@]}" && same_results plain_out switched_out
}
test_without_fusion() { switched compile.fusion=false; }
# Heads that are long enough for backward to undo RoPE itself.
more_test_without_fused_rope() {
    local fused from=(--init $cases/long_head/model --adapter $cases/long_head/adapter)
    for fused in true false; do
        program fused_$fused $cases/long_head/spec.toml precision.dtype=bf16 training.steps=4 compile.fusion=$fused &&
            run fused_$fused fused_${fused}_out "${from[@]}" || return 1
    done
    grep -q 'UndoRope<' "$work/fused_true/kernels.cu" && ! grep -q 'UndoRope<' "$work/fused_false/kernels.cu" &&
        same_results fused_true_out fused_false_out
}
# A convolution by products of warpgroups pools its own results.
more_test_without_fused_pools() {
    local fused
    for fused in true false; do
        program pooled_$fused tests/sim/pools.toml precision.dtype=bf16 compile.fusion=$fused &&
            run pooled_$fused pooled_${fused}_out || return 1
    done
    grep -q 'max_pool2d.*(gather of template conv2d_wgmma.cu)' "$work/pooled_true/kernels.cu" &&
        ! grep -q 'max_pool2d.*(gather of' "$work/pooled_false/kernels.cu" &&
        same_results pooled_true_out pooled_false_out
}
# Statistics of a batch norm from products, and gradients that join those of other micro-steps: unfused,
# and interrupted and resumed.
more_test_without_fused_gram_batch_norm() {
    local fused from=(--init $cases/mobilenet/model)
    for fused in true false; do
        program gram_$fused $cases/mobilenet/spec.toml precision.dtype=bf16 training.steps=4 \
            training.gradient_accumulation_steps=2 compile.gram_batch_norm=true compile.fusion=$fused &&
            grep -q linear_norm_grads "$work/gram_$fused/kernels.cu" &&
            run gram_$fused gram_${fused}_out "${from[@]}" || return 1
    done
    run gram_true gram_parts "${from[@]}" --steps 2 && run gram_true gram_parts --resume &&
        same_results gram_true_out gram_parts && same_results gram_true_out gram_false_out
}
# Backward rounds what it makes again, in the kernel that undoes SwiGLU.
more_test_rounding_without_fusion() {
    local fused
    for fused in true false; do
        program rounding_$fused $cases/demo/spec.toml precision.dtype=bf16 training.steps=4 qat.activation_dtype=int8 \
            qat.weight_dtype=int4 qat.group_size=8 compile.low_rank_grad_a=true compile.fusion=$fused &&
            run rounding_$fused rounding_${fused}_out "${start[@]}" || return 1
    done
    grep -q 'swiglu_fake_quant_tokens_grad' "$work/rounding_true/kernels.cu" &&
        ! grep -q 'swiglu_fake_quant_tokens_grad' "$work/rounding_false/kernels.cu" &&
        same_results rounding_true_out rounding_false_out
}
test_without_cuda_graph() { switched compile.cuda_graph=false; }
more_test_without_overlap() { switched compile.overlap=false; }
more_test_without_joined_launches() { switched compile.joined_launches=false; }
# The same bits in any order that the waits allow.
test_without_side_stream() {
    local queue
    grep -q RT_STREAM_SIDE "$work/plain/program.c" && switched compile.side_stream=false || return 1
    for queue in eager lazy:1 lazy:2; do
        SIM_QUEUE=$queue run plain "side_$queue" "${start[@]}" && same_results plain_out "side_$queue" || return 1
    done
}
# A kernel that does not wait for its predecessor ends the run.
more_test_programmatic_launches() {
    switched compile.programmatic_launch=true || return 1
    local folder=$work/switched
    sed -i '/^    grid_dependency_synchronize();$/d' "$folder/kernels.cu"
    make -s -C "$folder" DEVICE=sim && ! run switched switched_out "${start[@]}" &&
        says switched_out 'threads do not wait for the kernel before it (cudaGridDependencySynchronize)'
}
test_full_recomputation() { switched activation_checkpoint.mode=full; }
# Weights, moments, losses and gradients are those of a program that updates all weights after
# backward; only the sum of the squares has another order.
in_backward() {
    local spec=tests/golden/in_backward.toml when
    for when in true false; do
        rm -rf "$work/updated_$when" && program updated_$when $spec "$@" compile.optimizer_in_backward=$when &&
            run updated_$when updated_${when}_out --dump "$work/updated_$when.dump" || return 1
    done
    grep -q update_gate "$work/updated_true/program.c" &&
        tensors "$work/updated_true.dump" "$work/updated_false.dump" &&
        tensors "$work/updated_false.dump" "$work/updated_true.dump" &&
        ! tensors "$(newest updated_false_out)/state.safetensors" "$(newest updated_true_out)/state.safetensors" |
        grep -v '^grad_norm differs by [0-9.e]*-0[6-9] of'
}
# A step whose loss is not finite has updated nothing, so that running it again shows the cause.
test_bad_loss_in_backward() {
    in_backward && cp -r "$work/updated_true_out/model" "$work/bad_model" &&
        printf '\0\0\300\177' | dd of="$work/bad_model/model.safetensors" bs=1 seek=$(($(stat -c %s "$work/bad_model/model.safetensors") - 4)) conv=notrunc status=none
    run updated_true bad_model_out --init "$work/bad_model"
    [ $? = 1 ] && says bad_model_out 'error: step 1 is not finite: first lm_head\[0, 63\] is -*nan; no update was applied' || return 1
    cat >"$work/diverges.toml" <<'SPEC'
[model]
family = "mlp"
num_classes = 16
image_size = 8
image_channels = 1
hidden_size = 64
num_hidden_layers = 3
[training]
task = "classify"
per_device_train_batch_size = 64
steps = 12
log_every = 1
max_grad_norm = 0.0
[optimizer]
name = "sgd"
lr = 100.0
[data]
format = "synthetic"
SPEC
    program diverges "$work/diverges.toml" compile.optimizer_in_backward=true && run diverges diverged_out
    [ $? = 1 ] && says diverged_out 'error: step [0-9]* is not finite: .*; its loss was finite, so backward had updated weights'
}
test_optimizer_in_backward_once() { in_backward; }
more_test_optimizer_in_backward() {
    in_backward optimizer.state=int8 && in_backward precision.dtype=fp32 compile.fusion=false &&
        in_backward "optimizer.name='sgd'" optimizer.momentum=0.9 &&
        in_backward activation_checkpoint.mode=full model.tie_word_embeddings=true &&
        in_backward "training.task='sft'" "adapter.type='lora'" adapter.use_dora=true
}

# slid DTYPE TEXT [KEY=VALUE]...: kernels with the text, whose threads load together what the windows
# of neighbouring rows have in common, give the same bits as apart.
slid() {
    local dtype=$1 sliding=$2 when
    shift 2
    for when in true false; do
        rm -rf "$work/slid_$when" && program "slid_$when" tests/sim/depthwise.toml "precision.dtype=$dtype" \
            "compile.thread_rows=$when" "$@" &&
            run "slid_$when" "slid_${when}_out" --dump "$work/slid_$when.dump" || return 1
    done
    grep -q "$sliding" "$work/slid_true/kernels.cu" && ! grep -q 'row - turn' "$work/slid_false/kernels.cu" &&
        cmp "$work/slid_true.dump" "$work/slid_false.dump" && same_results slid_true_out slid_false_out
}
small_images=(model.image_size=40 model.width_mult=0.35 training.per_device_train_batch_size=16)
test_rows_of_a_thread_once() { slid bf16 '_v\[6\];'; }
more_test_rows_of_a_thread() {
    slid bf16 'row - near + 2' "${small_images[@]}" && slid fp64 'row - turn + 2' &&
        slid fp32 'row - turn + 2' compile.fusion=false
}

more_test_pageable_input() { switched data.pin_memory=false; }

# A folder of JPEG and PNG files, decoded by two threads before the first step or image by image:
# the same bits, and the same pixels in the dump. With one more file, the folder no longer fits the
# program.
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

# fed PIN_MEMORY: runs a program that copies images to the device; the simulated device counts
# calls.
fed() {
    program "fed_$1" $cases/cnn_strides/spec.toml data.device_resident=false "data.pin_memory=$1" \
        "data.numa_bind=$1" profiling.enabled=true profiling.start_step=3 profiling.steps=4 \
        training.eval_every=0 &&
        SIM_COUNTS=$work/fed_$1.counts run "fed_$1" "fed_$1_out" --init $cases/cnn_strides/model
}

# called PIN_MEMORY CALL: prints the number of calls in the whole run; profiled: in the profiled
# steps.
called() { sed -n "/\"calls\"/,\$s/^ *\"$2\": \([0-9]*\),*\$/\1/p" "$work/fed_$1.counts"; }
profiled() { awk -F, -v call="$2" '$NF == call { n = $3 } END { print n + 0 }' "$work/fed_$1_out/cuda_api_sum.csv"; }
host_to_device() { sed -n "s/.*\"h2d\":.*\"$2\": {\"count\": \([0-9]*\).*/\1/p" "$work/fed_$1.counts"; }
reports() { tr -d ' \n' <"$work/fed_$1_out/report.json" | grep -q "$2"; }

# Ten steps of three batches, and evaluations. Pinned: page-locked buffers, and no waits for copies.
# Pageable: buffers that the driver does not know, and a wait after each copy. The same bits.
# Weights come from page-locked memory in both.
test_pinned_and_pageable() {
    fed true && fed false && same_results fed_true_out fed_false_out || return 1
    [ "$(called true cuMemcpyHtoDAsync)" = "$(called false cuMemcpyHtoDAsync)" ] &&
        [ "$(called true cuMemHostAlloc)" = $(($(called false cuMemHostAlloc) + 4)) ] &&
        [ "$(host_to_device false pinned)" -gt 0 ] &&
        [ "$(host_to_device false pinned)" -lt "$(called false cuMemcpyHtoD)" ] &&
        [ "$(host_to_device true pinned)" = $(($(host_to_device false pinned) + $(called true cuMemcpyHtoDAsync))) ] ||
        return 1
    [ "$(profiled true cuMemcpyHtoDAsync_v2)" = 12 ] && [ "$(profiled false cuMemcpyHtoDAsync_v2)" = 12 ] &&
        [ "$(profiled false cuStreamSynchronize)" = $(($(profiled true cuStreamSynchronize) + 12)) ] || return 1
    reports true '"not_bound":"thesimulateddevicehasnoNUMAnode"' &&
        reports false '"not_bound":"data.numa_bind=false"' || return 1
    reports true '"h2d":{"count":30,"bytes":[0-9]*,"ms":[0-9.e-]*,"pinned":30}' &&
        reports true '"host_memory":"pinned"' && reports false '"host_memory":"pageable"' &&
        reports false '"h2d":{"count":30,"bytes":[0-9]*,"ms":[0-9.e-]*,"pinned":0}'
}
test_nvrtc() { GPUOPT_JIT=1 run plain jit "${start[@]}" && same_results plain_out jit; }

# With a far too large initial loss scale, the first steps apply no update, say so, and do not stop
# the run. After one update with weights of 1e3 no other is applied; this is reported once, at the
# end.
test_no_more_updates() {
    busy lost precision.dtype=fp16 optimizer.lr=1000 lr_scheduler.type=constant lr_scheduler.warmup_steps=0 \
        training.steps=4 && run lost lost_out "${start[@]}" || return 1
    says lost_out "^warning: .* of 4 steps applied no update, including the last" &&
        says lost_out "^warning: the held-out loss at step 4 is not a number"
}

# An adapter that an earlier run exported is not this one's.
test_export_of_another_run() {
    busy unexported checkpoint.export=false training.steps=2 && run unexported unexported_out "${start[@]}" &&
        ! says unexported_out 'was exported by an earlier run' && mkdir "$work/unexported_out/adapter" &&
        run unexported unexported_out "${start[@]}" &&
        says unexported_out 'adapter was exported by an earlier run; this one does not replace it'
}

test_loss_scale() {
    busy half precision.dtype=fp16 precision.init_scale=3e7 precision.growth_interval=3 &&
        run half half_out "${start[@]}" && run half half_parts "${start[@]}" --steps 7 &&
        run half half_parts --resume && same_results half_out half_parts || return 1
    run half half_short "${start[@]}" --steps 2 &&
        says half_short '^warning: no step applied an update: .* all 2 .*; set precision.init_scale to it' || return 1
    local skipped
    skipped=$(sed -n 's/.*"skipped_steps": *\([0-9]*\).*/\1/p' "$work/half_out/report.json")
    [ "$skipped" -ge 3 ] && [ "$skipped" -lt 12 ] &&
        [ "$(grep -cE ',-?(inf|nan),' "$work/half_out/loss.csv")" = "$skipped" ] &&
        awk -v a="$(heldout half_out before)" -v b="$(heldout half_out after)" 'BEGIN { exit !(b < a) }'
}

# Running statistics are saved, resumed bit for bit and exported; --init reads them from the export.
more_test_buffers() {
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

# Compares one micro-step of eight rows with eight of one row whose numbers of targets differ.
more_test_accumulation() {
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

# The adapter is trained; without it, the results are the base's.
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

# loads_as NAME FOLDER: the folder's model has the final loss of run NAME.
loads_as() {
    run merged "$1_alone" --no-adapter --steps 0 --init "$2" &&
        awk -v a="$(heldout "$1" "${3-after}")" -v b="$(heldout "$1_alone" before)" 'BEGIN { exit !(a > 1 && (a - b)^2 <= 4e-12) }'
}

# A merged model equals PEFT's, bit for bit except for the order of sums, and computes the same as
# base and adapter.
test_merge() {
    local case=$cases/lora_q_v_rslora
    local with=(--init $case/model --adapter $case/adapter) spec=$case/spec.toml
    program merged $spec training.steps=3 && program merged_bf16 $spec precision.dtype=bf16 \
        adapter.lora_dropout=0.30000000000000004 &&
        program merged_nf4 $spec training.steps=3 quantization.quant_type=nf4 || return 1
    run merged merged_fp32 "${with[@]}" --steps 0 --merge "$work/fp32_model" &&
        tensors --tolerance 1e-7 $case/merged.fp32.safetensors "$work/fp32_model/model.safetensors" &&
        run merged_bf16 merged_bf16_out "${with[@]}" --steps 0 --merge "$work/bf16_model" &&
        tensors --tolerance 1e-4 $case/merged.bf16.safetensors "$work/bf16_model/model.safetensors" || return 1
    run merged merged_trained "${with[@]}" --merge "$work/trained_model" && loads_as merged_trained "$work/trained_model" &&
        run merged_nf4 merged_nf4_out "${with[@]}" --merge "$work/nf4_model" && loads_as merged_nf4_out "$work/nf4_model" &&
        ! grep -q quantization_config "$work/nf4_model/config.json" &&
        grep -q '"rms_norm_eps": 1e-5,' "$work/nf4_model/config.json" &&
        grep -qF '\"lora_dropout\": 0.30000000000000004,' "$work/merged_bf16/program.c" &&
        [ "$(heldout merged_trained after)" != "$(heldout merged_nf4_out after)" ] || return 1
    run merged merged_later --init $case/model --adapter "$work/merged_trained/adapter" --steps 0 --merge "$work/later_model" &&
        grep -q '"global_step": 3,' "$work/later_model/trainer_state.json" &&
        cmp "$work/merged_trained/adapter/trainer_state.json" "$work/later_model/trainer_state.json" &&
        tr -d '\n' <"$work/fp32_model/trainer_state.json" | grep -q '"global_step": 0, *"max_steps": 0,' || return 1
    run merged merged_trained --resume --merge "$work/again_model" && says merged_trained 'nothing to do' &&
        cmp "$work/trained_model/model.safetensors" "$work/again_model/model.safetensors"
}

# as_peft NAME [KEY=VALUE]...: a fresh adapter does not change the base's results; training resumes
# where it stopped; the adapter can be loaded from files; and merging does not change results.
as_peft() {
    local model=(--init $cases/$1/model) name=$1
    program "$name" $cases/$name/spec.toml training.steps=4 "${@:2}" &&
        run "$name" "${name}_out" "${model[@]}" --merge "$work/${name}_model" &&
        run "$name" "${name}_parts" "${model[@]}" --steps 2 && run "$name" "${name}_parts" --resume &&
        same_results "${name}_out" "${name}_parts" &&
        run "$name" "${name}_again" "${model[@]}" --steps 0 --adapter "$work/${name}_out/adapter" &&
        run "$name" "${name}_bare" "${model[@]}" --steps 0 --no-adapter &&
        run "$name" "${name}_alone" --steps 0 --no-adapter --init "$work/${name}_model" || return 1
    awk -v base="$(heldout "${name}_bare" before)" -v fresh="$(heldout "${name}_out" before)" \
        -v trained="$(heldout "${name}_out" after)" -v again="$(heldout "${name}_again" before)" \
        -v merged="$(heldout "${name}_alone" before)" 'BEGIN {
            exit !(base > 1 && base == fresh && trained < base - 1e-3 && trained == again && (trained - merged)^2 <= 4e-12) }'
}

# Magnitudes, which start as norms, are merged as in PEFT.
more_test_magnitudes() {
    local case=$cases/dora
    local with=(--init $case/model --adapter $case/adapter --steps 0)
    as_peft dora adapter.lora_dropout=0.1 && program dora_bf16 $case/spec.toml precision.dtype=bf16 &&
        run dora dora_fp32 "${with[@]}" --merge "$work/dora_fp32_model" &&
        tensors --tolerance 1e-6 $case/merged.fp32.safetensors "$work/dora_fp32_model/model.safetensors" &&
        run dora_bf16 dora_bf16_out "${with[@]}" --merge "$work/dora_bf16_model" &&
        tensors --tolerance 1e-4 $case/merged.bf16.safetensors "$work/dora_bf16_model/model.safetensors"
}

# A row of zeros has no direction: unless an adapter adds to it, the model is refused, and the error
# names the weight.
test_row_of_zeros() {
    local model=$work/zeros_model weight=model.layers.1.mlp.up_proj.weight header begin
    rm -rf "$model" && cp -r $cases/dora/model "$model" && program zeros $cases/dora/spec.toml precision.dtype=fp64 training.steps=2 || return 1
    header=$(od -An -tu8 -N8 "$model/model.safetensors")
    begin=$(head -c $((8 + header)) "$model/model.safetensors" |
        sed -n "s/.*\"$weight\": *{[^}]*\"data_offsets\": *\[\([0-9]*\).*/\1/p")
    dd if=/dev/zero of="$model/model.safetensors" bs=1 seek=$((8 + header + begin)) count=$((48 * 4)) conv=notrunc 2>/dev/null
    ! run zeros zeros_alone --init "$model" &&
        says zeros_alone "row 0 of $weight is all zeros, and adapter.use_dora divides by its norm" &&
        run zeros zeros_adapted --init "$model" --adapter $cases/dora/adapter
}

# The same with whole trained modules; an adapter with other modules does not fit.
test_modules() {
    as_peft modules && cp -r $cases/modules/adapter "$work/other_modules" &&
        sed -i 's/"embed_tokens"/"input_layernorm"/' "$work/other_modules/adapter_config.json" || return 1
    ! run modules modules_other --adapter "$work/other_modules" --steps 0 && says modules_other 'error: .*: modules_to_save is'
}

# An adapter or a model that is more than the program computes would give other results without an error.
test_excess_in_files() {
    local case=$cases/lora_q_v_rslora change other=$work/other_adapter
    program narrow $case/spec.toml 'adapter.target_modules=["q_proj"]' || return 1
    ! run narrow narrow_out --init $case/model --adapter $case/adapter --steps 0 &&
        says narrow_out 'error: .*: tensor .*v_proj\.lora_A\.weight has no place in the adapter' &&
        program whole_adapter $case/spec.toml || return 1
    for change in '"peft_type": "LOHA"' '"alpha_pattern": {"q_proj": 3}' '"rank_pattern": {"q_proj": 3}' '"init_lora_weights": "pissa_niter_4"'; do
        rm -rf "$other" && cp -r $case/adapter "$other" &&
            sed -i "s/${change%%: *}: [^,]*/$change/" "$other/adapter_config.json" || return 1
        ! run whole_adapter more_out --init $case/model --adapter "$other" --steps 0 &&
            says more_out "error: .*adapter_config.json: $(echo "${change%%:*}" | tr -d '"') is" || return 1
    done
    for change in '"attention_bias": true' '"model_type": "mistral"'; do
        rm -rf "$other" && cp -r $case/model "$other" &&
            sed -i "s/${change%%: *}: [^,]*/$change/" "$other/config.json" || return 1
        ! run whole_adapter more_out --init "$other" --steps 0 &&
            says more_out "error: .*config.json: $(echo "${change%%:*}" | tr -d '"') is" || return 1
    done
    rm -rf "$other" && cp -r $cases/qwen2/model "$other" && sed -i 's/Qwen2For/LlamaFor/; s/"qwen2"/"llama"/' "$other/config.json" &&
        program without_biases $cases/qwen2/spec.toml "model.config=$other" || return 1
    ! run without_biases more_out --init "$other" --steps 0 &&
        says more_out 'error: .*: has .*\.k_proj\.bias, but this program computes .*\.k_proj\.weight without a bias'
}

# If merging is impossible, an error says why before anything is trained.
test_no_merge() {
    local case=$cases/lora_q_v_rslora
    run merged no_merge --merge $case/model
    [ $? = 1 ] && says no_merge 'error: --merge .*: the base is read from there' || return 1
    run merged no_merge --merge /proc/none
    [ $? = 1 ] && says no_merge 'error: --merge /proc/none: cannot write there' || return 1
    run merged no_merge --steps 0 --merge "$work/never_merged"
    [ $? = 1 ] && says no_merge 'error: --merge .*: nothing to merge.* give --adapter DIR$' || return 1
    mkdir -p "$work/no_merge/adapter"
    run merged no_merge --steps 0 --merge "$work/never_merged"
    [ $? = 1 ] && says no_merge 'give --adapter .*/no_merge/adapter$' && [ ! -e "$work/never_merged" ] || return 1
    run merged no_merge --no-adapter
    [ $? = 1 ] && says no_merge 'error: --no-adapter leaves nothing to train' || return 1
    program unmerged $case/spec.toml qat.weight_dtype=int8 qat.group_size=8 || return 1
    run unmerged no_merge --merge "$work/never_merged"
    [ $? = 1 ] && says no_merge 'error: --merge: this program rounds what the base reads' && [ ! -e "$work/never_merged" ]
}

# gpt2's files have [in, out] where memory has [out, in]: merging uses the former, quantisation at
# load the latter.
more_test_file_order() {
    local case=$cases/gpt2_lora
    program ordered $case/spec.toml &&
        program ordered_nf4 $case/spec.toml quantization.quant_type=nf4 quantization.block_size=32 || return 1
    run ordered ordered_out --init $case/model --adapter $case/adapter --steps 0 --merge "$work/gpt2_model" &&
        run ordered ordered_alone --no-adapter --steps 0 --init "$work/gpt2_model" &&
        run ordered ordered_base --no-adapter --steps 0 --init $case/model &&
        run ordered_nf4 ordered_nf4_out --no-adapter --steps 0 --init $case/model || return 1
    awk -v whole="$(heldout ordered_out before)" -v merged="$(heldout ordered_alone before)" \
        -v base="$(heldout ordered_base before)" -v nf4="$(heldout ordered_nf4_out before)" \
        'BEGIN { exit !(base > 1 && (whole - merged)^2 <= 4e-12 && base != nf4 && (base - nf4)^2 < 1e-3) }'
}

# Weights that backward decodes again, and those for which the plan found memory, give the same
# bits. The report gives memory as the plan does. (Without the side stream, whose workspace is larger than the
# weights.)
more_test_decoded_kept() {
    local spec=tests/golden/qlora.toml mib
    local sets=(quantization.quant_type=int8 model.hidden_size=256 model.intermediate_size=512 training.steps=3 compile.side_stream=false)
    program decodes $spec "${sets[@]}" &&
        mib=$(awk '$1 == "process" { print $2 + 1 }' "$work/decodes/plan.txt") &&
        program keeps $spec "${sets[@]}" quantization.keep_decoded=auto activation_checkpoint.mode=none \
            "activation_checkpoint.memory_budget_gib=$(awk "BEGIN { print $mib / 1024 }")" &&
        awk '/decoded weights/ { print; kept = $7; all = $9 } END { exit !(0 < kept && kept < all) }' "$work/keeps/plan.txt" &&
        run decodes decodes_out --dump "$work/decodes.dump" && run keeps keeps_out --dump "$work/keeps.dump" &&
        cmp "$work/decodes.dump" "$work/keeps.dump" && same_results decodes_out keeps_out &&
        grep 'weights kept decoded, MiB' "$work/keeps_out/report.txt" &&
        [ "$(awk '$1 == "arenas" { print "MiB", $2, $2 }' "$work/keeps/plan.txt")" = \
            "$(awk '$1 == "allocated" { print $4, $5, $6 }' "$work/keeps_out/report.txt")" ]
}

# shard_of CASE [KEY=VALUE]...: lines of ids and the shard made from them give the same bits.
shard_of() {
    local case=$1 file=$work/$1.bin with=(--init $cases/$1/model --adapter $cases/$1/adapter)
    shift
    runtime/data/tokenize_jsonl.py -o "$file" $cases/$case/data.jsonl &&
        program "shard_$case" $cases/$case/spec.toml training.steps=3 "$@" &&
        run "shard_$case" "lines_$case" "${with[@]}" --dump "$work/lines_$case.dump" &&
        program "shard_$case" $cases/$case/spec.toml training.steps=3 "$@" data.format=tokens \
            "data.train=$file" "data.validation=$file" &&
        run "shard_$case" "shard_${case}_out" "${with[@]}" --dump "$work/shard_$case.dump" &&
        cmp "$work/lines_$case.dump" "$work/shard_$case.dump" &&
        same_results "lines_$case" "shard_${case}_out"
}
more_test_shards_of_samples() { shard_of packed && shard_of packed data.packing=false; }
# One short sample: nothing is left to hold out, and most of the row is padding.
test_little_data() {
    local spec=$work/little.toml
    grep -v '^validation' $cases/demo/spec.toml >"$spec" && echo '{"input_ids": [1, 2, 3, 4]}' >"$work/little.jsonl" &&
        program little "$spec" data.train="$work/little.jsonl" training.steps=1 &&
        run little little_out "${start[@]}" && says little_out '^data: 1 training row, 0 held out; 1 step of 2 rows: 2 epochs$' &&
        grep -q '^epochs  *2  *-$' "$work/little_out/report.txt" && grep -q '"epochs": 2' "$work/little_out/report.json" &&
        says little_out '^data: data.eval_fraction = 0.05 is less than one row, so there is no held-out loss; raise it' &&
        says little_out '^data: 94 % of the places in rows are padding: a sample has [0-9]* places and, on average, 4.0 tokens; data.packing = true' ||
        return 1
    echo '{"input_ids": [1, 2], "labels": [-100, -100]}' >>"$work/little.jsonl"
    run little little_aimless "${start[@]}" && says little_aimless '^data: 1 of 2 training rows have no target; steps' &&
        ! says little_out 'no target' || return 1
    program little_packed "$spec" data.train="$work/little.jsonl" training.steps=1 data.packing=true &&
        run little_packed little_packed "${start[@]}" && ! says little_packed 'padding\|trained on'
}

# Only of an adapter, and only where the data can teach something.
test_random_base() {
    local shape=(training.steps=0 'model.weights=""' model.config=$cases/demo/model)
    program from_nothing $cases/demo/spec.toml "${shape[@]}" && run from_nothing from_nothing &&
        says from_nothing '^weights: the model that the adapter is for has random weights; name one' &&
        run from_nothing from_base "${start[@]}" && ! says from_base '^weights:' &&
        program synthetic $cases/demo/spec.toml "${shape[@]}" data.format=synthetic && run synthetic synthetic &&
        ! says synthetic '^weights:'
}

# Only text, and only if the model cannot be one of bytes.
more_test_text_of_a_model_with_tokenizer() {
    local name spec=specs/base_tiny.toml lines=$work/lines.jsonl
    yes '{"text": "one two"}' | head -n 40 >"$lines"
    for name in 512 513 ids; do
        [ $name != ids ] || yes '{"input_ids": [1, 2, 3, 4]}' | head -n 40 >"$lines"
        program words_$name $spec model.vocab_size=${name/ids/513} data.format=jsonl data.train="$lines" \
            data.validation="$lines" training.steps=1 training.seq_len=16 &&
            run words_$name words_$name || return 1
    done
    says words_512 "^data: $lines is in data.train and in data.validation, so the held-out loss is of samples" &&
        says words_513 '^data: text is read as bytes, but the model has 513 tokens' && ! says words_512 bytes && ! says words_ids bytes
}

more_test_shards_of_pairs() { shard_of dpo "data.validation=$cases/dpo/data.jsonl"; }

# A signal while the reference is computed leaves only a checkpoint, from which the run resumes.
test_signal_before_training() {
    local out=$work/early_out pid i
    for i in $(seq 15); do cat $cases/dpo/data.jsonl; done >"$work/many_pairs.jsonl"
    program early $cases/dpo/spec.toml dpo.precompute_ref_log_probs=true training.steps=2 \
        data.train="$work/many_pairs.jsonl" || return 1
    "$work/early/run" --out "$out" --init $cases/dpo/model >"$out.log" 2>&1 &
    pid=$!
    until [ -d "$out" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
    kill -TERM $pid
    wait $pid
    [ $? = 75 ] && says early_out 'stopped after step 0 of 2' && [ ! -e "$out/reference.json" ] &&
        run early early_out --resume && says early_out 'saved in' && [ -f "$out/report.json" ]
}

# The adapter's last tensor contains a NaN; a matrix product is the first to read it.
test_not_finite() {
    local file=$work/bad/adapter_model.safetensors
    cp -r $cases/demo/adapter "$work/bad" &&
        printf '\0\0\300\177' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 4)) conv=notrunc status=none
    run plain bad_out --init $cases/demo/model --adapter "$work/bad"
    [ $? = 1 ] && says bad_out 'error: step 1 is not finite: first model\.layers\.1\.self_attn[a-z_.]*\[[0-9, ]*\] is -*nan' &&
        says bad_out 'no update was applied since. Check the initial weights for numbers that are not finite' &&
        ! says bad_out 'optimizer.lr'
}

build_tool compare_tensors tests/runtime/compare_tensors.c || exit 1
busy plain && run plain plain_out "${start[@]}" || { tail -n 20 "$work"/plain*.log; exit 1; }
run_tests "$@"
exit $failed
