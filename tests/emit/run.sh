#!/bin/sh
# Properties of every emitted program, tested on small ones: the same spec gives the same bytes; 4
# and 80 layers share kernels; edited files are kept; errors leave earlier outputs as they are; the
# C is clean; the folder builds and runs elsewhere without the repository.
#
#     tests/emit/run.sh [NAME...]     all tests, or those named
#
# GPUOPT_GEN names another compiler.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
. tests/lib.sh
suite=emit
gen=${GPUOPT_GEN:-./gpuopt-gen}
case $gen in */*) gen=$(realpath "$gen") ;; esac
top=$PWD
work=$top/build/emit
spec=tests/golden/lora.toml
rm -rf "$work"
mkdir -p "$work"

emit() { "$gen" "$@" >"$work/stdout" 2>"$work/stderr"; }

# sum_of FOLDER: prints one hash of all files that the compiler wrote.
sum_of() { (cd "$1" && find . -type f ! -path './obj/*' | LC_ALL=C sort | xargs sha256sum | sha256sum); }

test_same_bytes_everywhere() {
    emit $spec -o "$work/here" || return 1
    mkdir -p "$work/another folder" || return 1
    cp $spec "$work/another folder/lora.toml"
    (cd "$work/another folder" && LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo emit lora.toml -o "$work/there") || return 1
    [ "$(sum_of "$work/here")" = "$(sum_of "$work/there")" ]
}

# Activations of programs in 16 bits are approximate, and neither their losses nor any other program.
test_only_16_bits_are_approximate() {
    for dtype in fp64 fp32 tf32 bf16 fp16; do
        emit specs/dpo_lora_r16.toml --set precision.dtype=$dtype -o "$work/approximate/$dtype" || return 1
        kernels=$work/approximate/$dtype/kernels.cu activations=$(grep -c 'gate_proj.*exp' "$kernels")
        case $dtype in
        bf16 | fp16) [ $activations -eq 0 ] && grep -q 'gate_proj.*sigmoid_approx(' "$kernels" ;;
        *) [ $activations -gt 0 ] && ! grep '_approx(' "$kernels" ;;
        esac && grep -q 'RIGHT_SLOPE \* (1.0f* / (1.0f* + expf*(' "$kernels" || return 1
    done
}

# Offsets in program.c have names, defined in buffers.h; so have most in values.c.
test_no_bare_bytes() {
    emit specs/lora_r16.toml -o "$work/named" || return 1
    grep -q '= MODEL_LAYERS_SELF_ATTN_V_PROJ_WEIGHT(n),' "$work/named/values.c" &&
        ! grep -n '\.weight = MODEL[A-Z0-9_]* + [0-9]' "$work/named/values.c" || return 1
    grep -q '_WEIGHT(layer)' "$work/named/program.c" && grep -q '_WEIGHT(i) ' "$work/named/buffers.h" &&
        ! grep -nE '[A-Z_0-9]{3} [-+] [0-9a-z]|->[a-z_A-Z0-9]+ \+ [0-9]' "$work/named/program.c"
}

# The rows of values.c that macros make are those that a compiler without such macros writes: both
# tables are the same bytes.
test_rows_are_as_written_out() {
    mkdir -p "$work/rows" && make -s gpuopt-gen build/libgen.a &&
        sed 's/LEAST_SAVED = 6/LEAST_SAVED = 1000000/' gen/emit/tables.c >"$work/rows/tables.c" &&
        gcc -std=c17 -Igen -c -o "$work/rows/tables.o" "$work/rows/tables.c" &&
        g++ -o "$work/rows/plain-gen" build/obj/gen/main.o "$work/rows/tables.o" build/libgen.a \
            -ljansson -lnettle -lz -lm &&
        "$gen" specs/h100/study_tuning_8b.toml --point full-2-stage3 --print-spec >"$work/rows/large.toml" ||
        return 1
    for s in tests/golden/*.toml specs/qlora_r16.toml specs/h100/llama32_1b_lora_r16.toml \
        "$work/rows/large.toml"; do
        emit $s -o "$work/rows/macros" --force && "$work/rows/plain-gen" $s -o "$work/rows/plain" --force >"$work/stdout" || return 1
        ! grep -q '^#define ROWS' "$work/rows/plain/values.c" || return 1
        for folder in macros plain; do
            gcc -std=c17 -Wall -Werror -I"$work/rows/$folder" -c -o "$work/rows/$folder.o" "$work/rows/$folder/values.c" || return 1
        done
        cmp "$work/rows/macros.o" "$work/rows/plain.o" || return 1
    done
    grep -q '^#define ROWS(n)' "$work/rows/macros/values.c"
}

# The optimizers' quantities have torch's names: AdamW divides by the root of its second correction, and SGD
# has a momentum_buffer. Their order in memory is explained where it can be seen.
test_optimizers_have_torchs_names() {
    emit specs/lora_r16.toml --force -o "$work/adamw" && emit tests/golden/cnn.toml --force -o "$work/sgd" || return 1
    grep -q 'sqrtf(mean_sq) / bias_correction2_sqrt_value' "$work/adamw/kernels.cu" &&
        ! grep -ni 'bias_correction2\>' "$work"/adamw/*.[ch] "$work/adamw/kernels.cu" || return 1
    grep -q '\* momentum_buffer_v\[j\]' "$work/sgd/kernels.cu" && ! grep -n '\<EXP_AVG\|\<exp_avg' "$work/sgd/program.c" \
        "$work/sgd/kernels.cu" "$work/sgd/buffers.h" && grep -q '\.exp_avg = MOMENTUM_BUFFER' "$work/sgd/values.c" || return 1
    grep -q '^/\* What trains, its gradients .*order in$' "$work/adamw/values.c" &&
        grep -B 1 '^#define WEIGHT_STRIDE (-' "$work/adamw/program.c" | grep -q 'the last layer first'
}

test_functions_have_plain_names() {
    for settings in "specs/base_tiny.toml --set parallelism.data_parallel_replicate_degree=2" \
        "specs/lora_r16.toml --set adapter.use_dora=true"; do
        # shellcheck disable=SC2086
        emit $settings --force -o "$work/plain" && ! grep '^static void [a-z0-9_]*__' "$work/plain/program.c" || return 1
    done
}

test_program_fits_a_page() {
    for settings in specs/qat_lora_r16.toml specs/mobilenet_v2_tiny.toml \
        "specs/dpo_lora_r16.toml --set dpo.precompute_ref_log_probs=true" \
        "specs/base_tiny.toml --set parallelism.data_parallel_replicate_degree=2" \
        "specs/qat_lora_r16.toml --set parallelism.data_parallel_replicate_degree=2
            --set training.gradient_accumulation_steps=4"; do
        # shellcheck disable=SC2086
        emit $settings --force -o "$work/page" && ! awk 'length > 100' "$work/page/program.c" | grep . || return 1
    done
}

test_untouched_when_unchanged() {
    emit $spec -o "$work/twice" || return 1
    touch -d '2001-01-01' "$work/twice/program.c" "$work/twice/runtime/base/rt.h"
    emit $spec -o "$work/twice" || return 1
    [ -z "$(find "$work/twice/program.c" "$work/twice/runtime/base/rt.h" -newermt 2002-01-01)" ]
}

test_kernels_do_not_know_the_layers() {
    for fusion in true false; do
        for precision in fp32 bf16; do
            for layers in 4 80; do
                emit $spec --set model.num_hidden_layers=$layers --set precision.dtype=$precision \
                    --set compile.fusion=$fusion -o "$work/layers$layers" || return 1
            done
            cmp "$work/layers4/kernels.cu" "$work/layers80/kernels.cu" || return 1
        done
    done
}

# Kernels that differ only in constants share a function and pass it their own constants. A kernel
# that is like no other has its statements itself.
test_kernels_share_bodies() {
    emit specs/mobilenet_v2_tiny.toml -o "$work/shared" || return 1
    kernels=$work/shared/kernels.cu
    [ "$(grep -c '__ void batch_norm_relu6_body(' "$kernels")" -eq 1 ] &&
        [ "$(grep -c '^    batch_norm_relu6_body<Sizes>(' "$kernels")" -gt 2 ] &&
        grep -A 4 '__ void batch_norm_relu6_body(' "$kernels" | tr -d '\n' | grep -q ' mean, .* x, .* rstd, .* y) {' &&
        grep -q '^    const float UNBIASED) {' "$kernels" && ! grep -q 'sgd_body\|[hw]_0 + WIDTH\|, [hw] = 0' "$kernels" || return 1
    awk '/ batch_norm_.*_[0-9]+x[0-9]+\($/ { cols = $0; sub(/\($/, "", cols); sub(/.*x/, "", cols) }
        cols && /enum .* COLS = / { n++; own = $0; sub(/.* COLS = /, "", own); bad += own + 0 != cols + 0 }
        /^}/ { cols = "" }
        END { exit n < 10 || bad > 0 }' "$kernels"
}

# So do kernels that sum columns, whether one block has all columns or several share them. In a
# function that is only for one block, the number of blocks is no constant. Their loops differ by whether a thread has
# several rows in turn, and whether the last worker has fewer.
test_blocks_share_bodies() {
    emit specs/h100/mobilenet_v2_224.toml --set compile.gram_batch_norm=false -o "$work/blocks" || return 1
    kernels=$work/blocks/kernels.cu
    [ "$(grep -c '__ void batch_norm_sums_body' "$kernels")" -le 3 ] &&
        grep -q 'enum { COLS = 32, COLUMN_BLOCKS = 1,' "$kernels" &&
        grep -q 'enum { COLS = 384, COLUMN_BLOCKS = 2,' "$kernels" &&
        emit specs/h100/resnet50_224.toml -o "$work/epilogues" || return 1
    ! grep -q 'constexpr.*COLUMN_BLOCKS = 1[,;]' "$kernels" "$work/epilogues/kernels.cu"
}

# Where a batch is one row, all rows of a kernel share a mask: bytes of several columns in registers.
test_masks_of_one_row() {
    for fusion in true false; do
        emit tests/sim/pools.toml --set 'model.layers=["flatten", "linear 8", "relu", "linear 2048", "relu", "dropout 0.1"]' \
            --set precision.dtype=fp64 --set training.per_device_train_batch_size=1 --set compile.narrow_linears=false \
            --set compile.fusion=$fusion -o "$work/one_row_$fusion" && make -s -C "$work/one_row_$fusion" &&
            "$work/one_row_$fusion/run" --out "$work/one_row_$fusion.out" || return 1
    done
    grep -q 'Vec<uint8_t, 1> relu.*_mask_v\[CHUNKS\]' "$work/one_row_true/kernels.cu" &&
        cmp "$work/one_row_true.out/loss.csv" "$work/one_row_false.out/loss.csv"
}

# Of kernels with the same formula, only some need 64-bit indices.
test_large_batches() {
    emit specs/h100/mobilenet_v2_224.toml --set training.per_device_train_batch_size=1792 --force -o "$work/large" ||
        return 1
    grep -q 'const int64_t first = ' "$work/large/kernels.cu" && grep -q 'const int first = ' "$work/large/kernels.cu"
}

# So do convolutions with the same epilogue, whose extents all have names.
test_kernels_share_epilogues() {
    emit specs/h100/resnet50_224.toml -o "$work/epilogues" || return 1
    kernels=$work/epilogues/kernels.cu
    [ "$(grep -c '__ void conv2d_body(' "$kernels")" -eq 1 ] &&
        [ "$(grep -c '^    conv2d_body<Sizes>(source, weight, ' "$kernels")" -gt 5 ] &&
        [ "$(grep -c '^    Conv2dGather<.*, Sizes> tile;' "$kernels")" -lt 10 ] &&
        ! grep -q 'row \* [0-9]\|row \* COLS_' "$kernels"
}

# A distance between rows is that of all matrices of the kernel, or of the one that it is named after.
test_strides_say_whose() {
    emit specs/h100/llama32_1b_lora_r16.toml -o "$work/strides" || return 1
    kernels=$work/strides/kernels.cu
    ! grep -q 'STRIDE_[0-9]' "$kernels" && grep -q 'mlp_act + row \* MLP_ACT_STRIDE' "$kernels" &&
        grep -q 'layernorm + row \* STRIDE' "$kernels"
}

# Backward updates fc2 together with fc1, which has a hundred times as many weights.
test_sections_are_named_after_most() {
    emit specs/fashion_cnn.toml --set precision.dtype=bf16 -o "$work/sections" || return 1
    grep -q '/\* fc1\.adamw: adamw of fc1.weight, fc2.weight -> ' "$work/sections/program.c" && grep -q '^#define FC2_WEIGHT_GRAD FC1_GRADIENTS ' "$work/sections/buffers.h"
}

# A kernel of any number of rows is passed the number only if it reads it. One with a block per row does not.
test_rows_are_read_where_passed() {
    emit specs/lora_r16.toml -o "$work/rows_flat" && emit specs/fashion_cnn.toml --set precision.dtype=bf16 -o "$work/rows_block" || return 1
    grep -q 'int64_t rows) {$' "$work/rows_flat/kernels.cu" && grep -q '^extern "C".* adamw_x1024($' "$work/rows_block/kernels.cu" &&
        cat "$work/rows_flat/kernels.cu" "$work/rows_block/kernels.cu" |
        awk '/int64_t rows[,)]/ { takes = 1; used = 0; next } takes && /[^a-z_]rows[^a-z_]/ { used = 1 }
            /^}/ { if (takes && !used) bad = 1; takes = 0 } END { exit bad }'
}

# A buffer that all layers have in one place has no layer's number, unless it is one of a series that
# has other places too. In functions that a loop calls, no buffer has one, but for that of the odd layer.
test_shared_places_have_no_number() {
    emit specs/h100/llama32_1b_lora_r16.toml -o "$work/places" || return 1
    program=$work/places/program.c
    grep -q 'rt_scratch(rt, MODEL_LAYERS_MLP_ACT);' "$program" && grep -q 'rt_scratch(rt, MODEL_LAYERS_MLP_ACT_GRAD);' "$program" &&
        grep -q '^#define LM_HEAD_CHUNK LM_HEAD_CHUNK_0 /\* .*, one for 0 to 3 \*/$' "$work/places/buffers.h" &&
        grep -q 'rt_scratch(rt, EVALUATE_LM_HEAD_CHUNK);' "$program" &&
        [ "$(grep -c 'EVALUATE_MODEL_LAYERS_MLP_DOWN_PROJ_Y(layer)' "$program")" -eq 2 ] &&
        awk '/^static void/ { counts = /, int / } counts && /rt_[a-z]*\(rt, [A-Z_]*_[0-9]+[,_)]/ { print; bad = 1 } END { exit bad }' "$program"
}

# A vector that is declared in a loop leaves its name to one in a later loop. Arguments of a shared
# function have the words that their names end in, and x or y only if there are none.
test_names_are_shared() {
    emit specs/h100/llama32_1b_lora_r16.toml -o "$work/names" || return 1
    kernels=$work/names/kernels.cu
    [ "$(grep -c 'Vec<__nv_bfloat16, 8> lm_head_chunk_0_v =$' "$kernels")" -eq 3 ] &&
        ! grep -q 'lm_head_chunk_0_v_2' "$kernels" && grep -q '__restrict__ proj_delta, *$' "$kernels" &&
        grep -q '__restrict__ x, const __nv_bfloat16 \*__restrict__ proj,$' "$kernels" && ! grep -q ' x_2\b' "$kernels"
}

# What a last layer has in common with the layers in the loop, it does with their functions. The
# gradients of q, k and v are in one function. Entries share a function only if they use the same memory.
test_layers_share_functions() {
    emit specs/h100/llama32_1b_lora_r16.toml -o "$work/layers" || return 1
    program=$work/layers/program.c
    grep -qx '    layers_self_attn_forward(rt, 15);' "$program" && grep -qx '    layers_mlp_backward(rt, 0);' "$program" &&
        ! grep -q '^static void layers_\(15_self_attn_\|15_mlp_forward\|0_mlp_\)' "$program" &&
        grep -qx '    layers_mlp_forward(rt, 15);' "$program" && grep -qx '    layers_15_mlp_residual_forward(rt);' "$program" &&
        [ "$(grep -cx '    layers_0_to_15_load_and_update(rt);' "$program")" -eq 2 ] &&
        grep -q '^static void layers_self_attn_to_mlp_evaluate(' "$program" &&
        awk '/^static void/ { own = $3 } /\/\* model\.layers\.\*\.self_attn\.[qkv]_proj\.lora_B\.weight\.grad/ { n++; in_[own] }
            END { for (f in in_) functions++; exit n != 6 || functions != 1 }' "$program"
}

# Training and evaluation keep results of the same names in different memory.
test_entries_keep_their_memory() {
    emit specs/lora_r16.toml -o "$work/entries" &&
        grep -q '^static void embed_tokens_evaluate(' "$work/entries/program.c" && ! grep -q '_and_evaluate' "$work/entries/program.c"
}

# Two kernels compute what attention's op is called after. What waits for neither says which one it reads.
test_waits_name_the_kernel() {
    emit specs/lora_r16.toml -o "$work/waits" || return 1
    program=$work/waits/program.c
    grep -A1 '^    /\* model.layers.\*.self_attn.grad$' "$program" |
        grep -q '^     \* by attention_backward_kv_rope_128x4x32_of_304: waited for before \*/$' &&
        ! grep -q 'self_attn.grad: waited for before' "$program"
}

# Of a gradient's parts and their sum, only the sum has its name.
test_sums_have_the_gradients_name() {
    emit specs/mobilenet_v2_tiny.toml -o "$work/parts" || return 1
    buffers=$work/parts/buffers.h
    grep -q '^#define FEATURES_15_RESIDUAL_GRAD ' "$buffers" && grep -q '^#define FEATURES_15_RESIDUAL_GRAD_PART ' "$buffers" &&
        ! grep -q '_GRAD\(_PART\)*__[0-9]' "$buffers"
}

# A later pass over a row reads the vector that an earlier one has stored.
test_sums_are_computed_once() {
    emit specs/lora_r16.toml -o "$work/fp32" && emit specs/lora_r16.toml --set precision.dtype=bf16 -o "$work/bf16" &&
        grep -q ' residual_j = x_v\[j\] + proj_v\[j\];' "$work/fp32/kernels.cu" &&
        grep -q ' layernorm_v\[j\] = residual_v\[j\] \* layernorm_rstd_row \* weight_v\[j\];' "$work/fp32/kernels.cu" &&
        grep -q 'convert<float>(residual_v\[j\]) \* layernorm_rstd_row' "$work/bf16/kernels.cu"
}

# The smallest device in the list has 163 KB of shared memory per block.
test_heads_fit_shared_memory() {
    for precision in fp64 fp32 tf32 bf16 fp16; do
        for head_dim in $(seq 8 8 256); do
            emit $spec --set model.head_dim=$head_dim --set precision.dtype=$precision \
                -o "$work/head" --force || return 1
            sed -n '/^static const RtKernel/,/^};/s/.*, \([0-9]*\)),$/\1/p' "$work/head/program.c" |
                awk '{ n++; if ($1 > 166912) bad++ } END { exit n == 0 || bad > 0 }' || return 1
        done
    done
}

test_small_devices_are_refused_by_name() {
    sed 's/^arch = .*/arch = "sm_86"/; /^programmatic\|^wgmma/d' gen/devices/h100-sxm.toml >"$work/small.toml"
    set -- $spec --set "job.device=\"$work/small.toml\"" -o "$work/small"
    emit "$@" && ! emit "$@" --set model.head_dim=256 &&
        grep -q 'kernel attention_.* needs [0-9]* bytes of shared memory for a block, and sm_86 can have 101376' \
            "$work/stderr"
}

# With programmatic launch, each kernel of each template first waits for the kernel before it, and none
# says anything from which nvcc could conclude that what it reads is not written meanwhile.
test_all_kernels_wait() {
    for settings in llama3_8b_qlora_r16 "llama32_1b_lora_r16 --set compile.wgmma=false" llama32_1b_lora_r16 gpt2_124m \
        "resnet50_224 --set compile.wgmma=false" resnet50_224; do
        # shellcheck disable=SC2086
        set -- $settings
        model=$1 && shift
        emit "specs/h100/$model.toml" "$@" --set compile.programmatic_launch=true -o "$work/$model" || return 1
        awk '/__global__/ { kernels++ } /^    grid_dependency_synchronize\(\);$/ { waits++ }
            END { exit kernels == 0 || waits != kernels }' "$work/$model/kernels.cu" || return 1
        grep -q 'const [a-z_0-9]* \*' "$work/$model/kernels.cu" &&
            ! grep -q '__restrict__' "$work/$model/kernels.cu" || return 1
    done
}

test_kernels_do_not_know_settings() {
    emit $spec -o "$work/lr1" || return 1
    emit $spec --set optimizer.lr=0.5 --set training.seed=7 --set training.steps=10 -o "$work/lr2" || return 1
    cmp "$work/lr1/kernels.cu" "$work/lr2/kernels.cu" && ! cmp -s "$work/lr1/program.c" "$work/lr2/program.c"
}

test_edited_files_stay() {
    emit $spec -o "$work/edited" || return 1
    echo '// mine' >>"$work/edited/kernels.cu"
    before=$(sum_of "$work/edited")
    # Nothing is written, not even unedited files, and no plan stands before the error.
    emit $spec --set optimizer.lr=0.5 -o "$work/edited" && return 1
    [ ! -s "$work/stdout" ] && grep -q 'kernels.cu: error: this file was edited' "$work/stderr" || return 1
    grep -qF "hint: \`make -C $work/edited run FROM=\$PWD\` runs it as it is; \`$gen --force SPEC\`" "$work/stderr" || return 1
    [ "$before" = "$(sum_of "$work/edited")" ] || return 1
    emit $spec --set optimizer.lr=0.5 --force -o "$work/edited" || return 1
    ! grep -q mine "$work/edited/kernels.cu"
}

# If two compilers write to a folder at the same time, the second one gives up.
test_one_writer_a_folder() {
    emit $spec -o "$work/locked" || return 1
    flock "$work/locked" "$gen" $spec --set optimizer.lr=0.5 -o "$work/locked" >/dev/null 2>"$work/stderr"
    [ $? = 1 ] && grep -q 'locked: error: another gpuopt-gen writes there' "$work/stderr" || return 1
    emit $spec --set optimizer.lr=0.5 -o "$work/locked"
}

# job.name must not be the name of what gpuopt-gen or make has under build, or knows by name. Results of an earlier
# program and an interrupted study are its own.
test_names_of_the_tool_are_refused() {
    rm -rf "$work/names" && mkdir -p "$work/names/build/tool" "$work/names/build/kept/out" && cd "$work/names" || return 1
    echo >build/tool/file && echo >build/file
    result=0
    for taken in last points tool file; do
        emit "$top/$spec" --set job.name=$taken && result=1
        grep -q "^--set:1:10: error: build/$taken is not for programs" "$work/stderr" || result=1
    done
    emit "$top/$spec" --set job.name=tool -o build/tool || result=1
    emit "$top/$spec" --set job.name=kept && emit "$top/$spec" --set job.name=kept || result=1
    printf 'extends = "%s"\n[job]\nname = "halted"\n[sweep]\n"adapter.r" = [2, 4]\n' "$top/$spec" >halted.toml
    mkdir -p build/halted/r4 && echo edited >build/halted/r4/Makefile
    emit halted.toml -o build/halted && result=1
    rm -r build/halted/r4 && emit halted.toml && [ "$(cat build/halted/points)" = "r2
r4" ] || result=1
    cd "$top" && return $result
}

# What a study left in the folder of a single program does not stand for it, but results stay.
test_a_study_becomes_a_program() {
    printf 'extends = "%s"\n[sweep]\n"adapter.r" = [2, 4]\n' "$top/$spec" >"$work/ranks.toml"
    emit "$work/ranks.toml" --slurm -o "$work/ranks" && [ -e "$work/ranks/job.sbatch" ] && mkdir "$work/ranks/r2/out" && "$gen" --compare "$work/ranks" >/dev/null &&
        [ -e "$work/ranks/study.txt" ] && touch -d '2001-01-01' "$work/ranks/study.txt" && "$gen" --compare "$work/ranks" >/dev/null &&
        [ -z "$(find "$work/ranks/study.txt" -newermt 2002-01-01)" ] && emit $spec -o "$work/ranks" &&
        grep -q 'ranks: warning: this was the folder of a study' "$work/stderr" || return 1
    [ ! -e "$work/ranks/points" ] && [ ! -e "$work/ranks/job.sbatch" ] && [ -z "$(find "$work/ranks" -name 'study.*')" ] && [ -d "$work/ranks/r2/out" ] &&
        [ -e "$work/ranks/r4/plan.json" ] && emit $spec -o "$work/ranks" && ! grep -q study "$work/stderr" || return 1
    "$gen" --compare "$work/ranks" >"$work/compared" 2>&1 && return 1
    grep -q 'the program has not finished a run' "$work/compared" && grep -q "make -C $work/ranks run FROM=.PWD. runs it" "$work/compared" &&
        mkdir -p "$work/ranks/out/checkpoints" && ! "$gen" --compare "$work/ranks" >"$work/compared" 2>&1 &&
        grep -q 'ARGS=--resume. continues it from its newest checkpoint' "$work/compared"
}

# A study's points can be compared with other programs, the study as a whole cannot.
test_a_study_is_compared_alone() {
    mkdir -p "$work/points/r2" && echo r2 >"$work/points/points" || return 1
    "$gen" --compare "$work/points" "$work/points/r2" 2>"$work/stderr" && return 1
    grep -qF "$work/points: a study cannot be compared with other folders" "$work/stderr" &&
        grep -qF "name its points instead, as $work/points/POINT;" "$work/stderr" &&
        "$gen" --compare "$work/points" >"$work/compared" && grep -q ' r2 ' "$work/compared"
}

# A pipeline's plan with one micro-batch, and with two.
test_one_micro_batch_is_singular() {
    set -- --plan "$top/$spec" --set parallelism.pipeline_parallel_degree=2
    "$gen" "$@" >"$work/staged.txt" && grep -q '^step: .*, 1 micro-batch through 2 stages' "$work/staged.txt" &&
        grep -q '^bubble: 1 micro-batch leaves 2 stages' "$work/staged.txt" &&
        "$gen" "$@" --set training.gradient_accumulation_steps=2 >"$work/staged.txt" &&
        grep -q '^step: .*, 2 micro-batches through 2 stages' "$work/staged.txt"
}

# Small weights beside large activations: each column has the unit in which its values can be read. The
# other formats have bytes.
test_predicted_bytes_have_two_digits() {
    printf 'extends = "%s"\n[training]\nper_device_train_batch_size = 16000\n[model]\nimage_size = 64\n' \
        "$top/tests/golden/cnn.toml" >"$work/small.toml"
    printf '[sweep]\n"optimizer.momentum" = [0.0, 0.9]\n' >>"$work/small.toml"
    "$gen" --plan "$work/small.toml" >"$work/small.txt" &&
        grep -q ' weights, MiB  gradients, optimizer, MiB  activations, GiB  per card, GiB ' "$work/small.txt" &&
        grep -qE '^momentum0\.9 +1 +0\.73 +1\.47 +[0-9.]+ +[0-9]+\.[0-9] ' "$work/small.txt" &&
        "$gen" --plan --format csv "$work/small.toml" | grep -q '^momentum0\.9,fits,0\.9,1\.0,770048\.0,'
}

# Files that an error left half written are not taken for edited ones.
test_half_written_is_ours() {
    mkdir -p "$work/half/plan.txt"
    emit $spec -o "$work/half" && return 1
    [ -e "$work/half/program.c" ] && rmdir "$work/half/plan.txt" || return 1
    emit $spec --set adapter.r=6 -o "$work/half"
}

test_stale_files_go() {
    emit $spec -o "$work/stale" || return 1
    printf '%s  %s\n' "$(printf old | sha256sum | cut -d' ' -f1)" old.c >>"$work/stale/.generated"
    printf '%s  %s\n' "$(printf old | sha256sum | cut -d' ' -f1)" kept.c >>"$work/stale/.generated"
    printf old >"$work/stale/old.c"
    printf new >"$work/stale/kept.c"
    emit $spec -o "$work/stale" || return 1
    [ ! -e "$work/stale/old.c" ] && [ -e "$work/stale/kept.c" ]
}

test_errors_leave_outputs_alone() {
    emit $spec -o "$work/refused" || return 1
    before=$(sum_of "$work/refused")
    emit $spec --set activation_checkpoint.memory_budget_gib=0.001 -o "$work/refused" && return 1
    grep -q 'the largest parts are context and libraries [0-9.]*[1-9]' "$work/stderr" &&
        grep -q 'hint: raise activation_checkpoint.memory_budget_gib' "$work/stderr" || return 1
    emit $spec --set job.device=h100-sxn -o "$work/refused" && return 1
    grep -q 'did you mean "h100-sxm"' "$work/stderr" || return 1
    [ "$before" = "$(sum_of "$work/refused")" ]
}

test_exit_codes_of_plan() {
    emit $spec --plan || return 1
    emit $spec --set activation_checkpoint.memory_budget_gib=0.001 --plan
    [ $? -eq 1 ] || return 1
    emit $spec --set model.hidden_size=-1 --plan
    [ $? -eq 2 ] || return 1
    "$gen" $spec --plan >/dev/full 2>"$work/full.err"
    [ $? -eq 2 ] && grep -q 'standard output cannot be written: No space left' "$work/full.err" || return 1
    "$gen" --keys >/dev/full 2>"$work/full.err"
    [ $? -eq 1 ]
}

# In a pipe, a plan precedes the message that it does not fit.
test_messages_follow_their_plan() {
    "$gen" $spec --set activation_checkpoint.memory_budget_gib=0.001 --plan 2>&1 | cat >"$work/messages"
    head -n 1 "$work/messages" | grep -q '^lora on ' && grep -q ': warning: the plan needs ' "$work/messages"
}

# Full training that clips its gradients keeps them all, and does not fit; the hint is to have an adapter. Without
# clipping it fits too.
test_gradients_that_do_not_fit() {
    set -- specs/h100/llama3_8b_lora_r16.toml --set adapter.type=none --set optimizer.state=int8 --plan
    ! emit "$@" && grep -q 'hint: adapter.type = "lora" trains an adapter' "$work/stderr" &&
        emit "$@" --set training.max_grad_norm=0 && [ ! -s "$work/stderr" ]
}

# A single experiment gives a table of one line, like a study's; if it does not fit, the table says
# so.
test_formats_of_one_plan() {
    "$gen" $spec --plan --format json >"$work/plan.json" && python3 -m json.tool "$work/plan.json" >/dev/null &&
        grep -q '"run": "lora"' "$work/plan.json" && grep -q '"step_ms": [0-9.]*,' "$work/plan.json" || return 1
    "$gen" $spec --plan --format csv | grep -qE '^lora,fits,1\.0,[0-9.]+,' &&
        "$gen" $spec --plan --format markdown | grep -qE '^\| lora \| 1 \| [0-9.]+ \|' &&
        [ "$("$gen" $spec --plan --format text | wc -l)" -eq 2 ] &&
        "$gen" $spec --plan --format svg | grep -q '^</svg>$' || return 1
    "$gen" $spec --set activation_checkpoint.memory_budget_gib=0.001 --plan --format json >"$work/plan.json"
    [ $? -eq 1 ] && grep -q '"state": "too large"' "$work/plan.json"
}

# The points of a study that differ only in their replicas have one table. A key without effect at a point, as
# init_scale in fp32, is no error.
test_scaling_of_a_point() {
    for point in ddp2 ddp4 tensor2; do
        "$gen" --scaling --point ${point}_dtype-bf16_pin_memory-true specs/study_cards.toml >"$work/$point" || return 1
        sed -i "1s/^study_cards.${point}_/of /" "$work/$point"
    done
    grep -q '^of dtype-bf16_pin_memory-true on .*, bf16: ' "$work/ddp2" && cmp "$work/ddp2" "$work/ddp4" &&
        ! cmp -s "$work/ddp2" "$work/tensor2" || return 1
    "$gen" --scaling --point image_size32_dtype-fp32_pin_memory-true_layout-nhwc specs/study_image_small.toml >"$work/table" &&
        grep -q '^ *1024 ' "$work/table"
}

# What the plan prints of scratch adds up to it, with several streams too, and so do the table's figures.
test_parts_of_scratch_add_up() {
    for s in specs/lora_r16.toml specs/fashion_cnn.toml tests/golden/gathered.toml \
        "specs/base_tiny.toml --set compile.side_stream=false"; do
        # shellcheck disable=SC2086
        "$gen" $s --plan >"$work/parts.txt" && "$gen" $s --plan --format json >"$work/parts.json" &&
            emit $s --force -o "$work/parts" || return 1
        python3 - "$work" <<'CHECK' || return 1
import json, re, sys
text, table, plan = (open(sys.argv[1] + "/parts" + name).read() for name in (".txt", ".json", "/plan.json"))
memory, figures = json.loads(plan)["memory"], json.loads(table)["runs"][0]["figures"]
scratch = memory["scratch_bytes"]
names = "activation_bytes", "matmul_workspace_bytes", "scratch_rest_bytes"
assert sum(figures[name] for name in names) == scratch, (figures, scratch)
assert memory["peak"]["live_bytes"] + sum(memory[name] for name in names[1:]) == scratch, memory
printed = re.findall(r"^  (?:activations, peak|matmul workspace|rest of scratch) +([0-9.]+)", text, re.M)
assert abs(sum(map(float, printed)) - scratch / 2**20) <= 0.02, (printed, scratch)
adds = re.search(r"^side stream: .* adds ([0-9.]+) MiB", text, re.M)
assert abs(float(adds[1] if adds else 0) - memory["side_stream_bytes"] / 2**20) < 0.01, memory
assert adds or "another stream" not in text or "all_gather" in text, text
CHECK
    done
}

# The table has the figures of a step under the names of plan.json, program.c and --scaling.
test_table_has_figures_of_a_step() {
    set -- $spec --set parallelism.data_parallel_replicate_degree=2 --set precision.dtype=bf16
    emit "$@" -o "$work/two" && "$gen" "$@" --plan --format json >"$work/table.json" || return 1
    python3 - "$work/two" "$work/table.json" <<'CHECK'
import json, re, sys
plan, table = json.load(open(sys.argv[1] + "/plan.json")), json.load(open(sys.argv[2]))
program = open(sys.argv[1] + "/program.c").read()
expected = {name: float(re.search(rf"\.{name} = ([0-9.e+]+)", program)[1]) for name in ("kernel_launches", "h2d_bytes")}
expected |= {name: plan["step"][name] for name in ("model_flops", "share_of_peak")}
expected["exposed_ms"] = plan["communication"]["exposed_ms"]
expected["communication_bytes"] = sum(kind["bytes"] for kind in plan["collectives"].values())
for name, value in expected.items():
    found = table["runs"][0]["figures"][name]
    assert value > 0 and abs(found - value) <= 1e-9 * value, (name, found, value)
    assert table["figures"][name]["over"] == "step" and table["figures"][name]["unit"], name
CHECK
}

# Products and convolutions have no number of instructions.
test_uncounted_is_null() {
    emit tests/golden/cnn.toml -o "$work/counts" || return 1
    tr -d ' \n' <"$work/counts/plan.json" | tr '{' '\n' | grep '"instructions"' >"$work/launches"
    grep '"name":"\(gemm\|conv2d\)_' "$work/launches" >"$work/uncounted" && ! grep -v '"instructions":null' "$work/uncounted" &&
        grep '"name":"sgd_' "$work/launches" | grep -q '"instructions":[1-9]' && ! grep '"instructions":0' "$work/launches"
}

# A collective without work beside it exposes more than its own time: also that of the waits.
test_times_are_not_negative() {
    emit $spec --set parallelism.data_parallel_replicate_degree=2 -o "$work/cards" &&
        grep -q '"overlapped_ms": 0[.0]*,' "$work/cards/plan.json" && ! grep '_ms": -' "$work/cards/plan.json"
}

test_unwritable_folder() {
    : >"$work/file"
    emit $spec -o "$work/file/inside" && return 1
    grep -q "$work/file/inside.*: error: cannot make the folder" "$work/stderr"
}

test_clean_c() {
    # Specs for large devices have offsets that do not fit into an int. A study's programs are like
    # those of other specs.
    for s in tests/golden/*.toml specs/h100/*.toml; do
        ! grep -q '^\[sweep\]' "$s" || continue
        emit "$s" -o "$work/clean" --force || return 1
        for file in program.c values.c; do
            gcc -std=c17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$work/clean" -fsyntax-only \
                "$work/clean/$file" || return 1
        done
    done
}

# A pattern of file names has the marks of a comment, which the head of program.c is.
test_patterns_stay_in_the_head() {
    emit specs/lora_r16.toml --set 'data.train=["gen/*/*.c"]' --set "job.name='quoted'" -o "$work/pattern" &&
        grep -qxF " *     --set 'data.train=[\"gen/ * / *.c\"]'" "$work/pattern/program.c" &&
        grep -qxF " *     --set 'job.name='\\''quoted'\\'''" "$work/pattern/program.c" &&
        gcc -std=c17 -Wall -Werror -I"$work/pattern" -fsyntax-only "$work/pattern/program.c"
}

# The report of an earlier run is looked at, but only if it is a file.
test_a_report_may_be_a_fifo() {
    mkdir -p "$work/piped/out" && mkfifo "$work/piped/out/report.json" &&
        timeout 60 "$gen" $spec -o "$work/piped" >/dev/null
}

# An empty name, as an unset variable of a shell leaves it.
test_empty_names_are_refused() {
    for option in -o --set --point --dump --format; do
        emit $option "" $spec && return 1
        grep -qxF "gpuopt-gen: error: $option is followed by an empty argument" "$work/stderr" || return 1
    done
    for words in "" --check --compare "--compare $work" "$spec"; do
        # shellcheck disable=SC2086 # the options are words
        emit $words "" && return 1
        grep -qxF "gpuopt-gen: error: a name on the command line is empty" "$work/stderr" || return 1
    done
}

# A spec that is named like its experiment, or without its folder, is found for the user.
test_likely_specs_are_named() {
    local name
    for name in lora_r16 lora_r16.toml specs/lora_r16; do
        ! (cd "$top" && emit "$name" --check) && grep -qx '  hint: did you mean specs/lora_r16.toml?' "$work/stderr" || return 1
    done
    ! (cd "$top" && emit lora_r17 --check) && grep -q 'hint: name an existing TOML file' "$work/stderr"
}

# Neither the compiler nor a program's Makefile accepts a folder that make or the shell would misread.
# Each has a list of what it refuses (check_out in gen/cli.c, runtime/folder.mk). The two are equal:
# spaces and marks are tried here one by one, and all others, except /, at the end together.
test_odd_folders_are_refused() {
    emit $spec -o "$work/plain" || return 1
    for odd in ' ' "$(printf '\t')" "$(printf '\v')" "$(printf '\f')" "$(printf '\r')" : ';' '(' ')' "'" '"' '$' '#' '%' '&' '|' '*' '?' '[' ']' '\' '`' '<' '>' '{' '}'; do
        folder=$work/a${odd}b called=$odd
        case $odd in [[:space:]]) called=spaces ;; esac
        emit $spec -o "$folder" && return 1
        grep -qF -e "-o $folder: make cannot build in a path with $called" "$work/stderr" && [ ! -e "$folder" ] || return 1
        cp -r "$work/plain" "$folder"
        (cd "$folder" && make -n RT="$top" run) >"$work/made" 2>&1 && return 1
        grep -qF "make cannot build in \"$folder\": copy this folder to a path without $called." "$work/made" || return 1
    done
    emit $spec -o "$work/a~=,!@+^-_b.c" && (cd "$work/a~=,!@+^-_b.c" && make -n DEVICE=sim RT="$top" run) >"$work/made" &&
        (cd "$work/plain" && make -n DEVICE=sim RT="$top" run FROM="it's") | grep -qF "cd 'it'\\''s' &&"
}

# Only the copy exists: no generator, no repository, no built simulated device.
test_builds_alone() {
    away=$(mktemp -d) || return 1
    emit $spec -o "$work/alone" && cp -r "$work/alone" "$away/copy" &&
        (cd "$away" && env -u RT -u RTLIB -u SIM_OUT make -s -j2 -C copy &&
            env -u GPUOPT_SIM_DIR copy/run --steps 2 --out "$away/out") >"$work/alone.log" 2>&1
    result=$?
    ! grep jobserver "$work/alone.log" || result=1
    [ $result -eq 0 ] || tail -n 20 "$work/alone.log"
    rm -rf "$away"
    return $result
}

# The last lines name commands that work in the working directory: make run only in this repository.
test_says_how_to_run() {
    away=$(mktemp -d) || return 1
    printf 'extends = "%s"\n[job]\nname = "far"\n' "$top/$spec" >"$away/far.toml"
    printf 'extends = "far.toml"\n[job]\nname = "study"\n[sweep]\n"adapter.r" = [2, 4]\n' >"$away/study.toml"
    (cd "$away" && "$gen" far.toml | tail -n 1 && make -n DEVICE=sim RT="$top" -C build/far run FROM="$PWD" &&
        "$gen" study.toml --set optimizer.lr=0.5 --set training.seed=3 | tail -n 2 &&
        make -n DEVICE=sim RT="$top" -C build/study/r2 run FROM="$PWD") >"$work/far.log" 2>&1
    result=$?
    rm -rf "$away"
    [ $result -eq 0 ] && grep -qxF 'wrote build/far; make -C build/far run FROM="$PWD" builds and runs it' "$work/far.log" &&
        grep -q '^wrote build/study; make -C build/study/r2 run FROM="$PWD" runs one point, and '"$gen"' --compare build/study ' \
            "$work/far.log" &&
        grep -qF "all points: make run SPEC=$away/study.toml SET='optimizer.lr=0.5 training.seed=3' in a clone" "$work/far.log"
}

# Kernels that count their memory accesses access as many bytes as the plan says.
test_counted_bytes_are_planned_bytes() {
    build_tool compare_counts tests/emit/compare_counts.c || return 1
    for s in tests/golden/*.toml; do
        grep -q parallel.*_degree "$s" && continue # several processes, but only one is counted here
        emit "$s" -o "$work/counted" --force || return 1
        rm -f "$work/counted/kernels.sim"
        SIM_FLAVOUR=race make -s -C "$work/counted" >/dev/null || return 1
        SIM_COUNTS=$work/counts.json "$work/counted/run" --steps 1 \
            --out "$work/counted/out" >/dev/null 2>&1 || return 1
        "$work/compare_counts" "$work/counted/plan.json" "$work/counts.json" || return 1
    done
}

# By default the data set stays on the device if the plan fits with it, without more recomputation;
# otherwise the program is that of device_resident = false. The compiler reads the headers of the
# files.
test_data_stays_where_it_fits() {
    images="$work/million-images-idx3" mlp=tests/oracle/cases/mlp/spec.toml
    printf '\000\000\010\003\000\017\102\100\000\000\000\011\000\000\000\016' >"$images"
    files="--set data.train=$images --set data.validation=$images"
    asked="--set data.device_resident"
    # shellcheck disable=SC2086 # the options are words
    emit $mlp $files -o "$work/kept" && emit $mlp $files $asked=true -o "$work/asked" &&
        emit $mlp $files $asked=false -o "$work/sent" || return 1
    grep -q '^data: the device keeps all 2000000 images: the plan fits with them$' "$work/kept/plan.txt" &&
        grep -q '^data: each batch is sent: data.device_resident = false$' "$work/sent/plan.txt" &&
        grep -q 'samples = 2000000,' "$work/kept/program.c" && ! grep -q RtDataset "$work/sent/program.c" &&
        cmp "$work/kept/kernels.cu" "$work/asked/kernels.cu" || return 1
    bytes() { sed -n 's/.*"process_bytes": \([0-9]*\),/\1/p' "$work/$1/plan.json"; }
    [ "$(bytes kept)" -gt $(($(bytes sent) + 2000000 * 9 * 14 - 1000000)) ] || return 1
    tight="--set activation_checkpoint.memory_budget_gib=$(
        awk -v bytes="$(bytes sent)" 'BEGIN { printf "%.12f", (bytes + 1) / 1073741824 }')"
    # shellcheck disable=SC2086
    emit $mlp $files $tight -o "$work/tight" && ! emit $mlp $files $tight $asked=true -o "$work/unfit" &&
        grep -q 'data.device_resident = false sends each batch' "$work/stderr" || return 1
    grep -q '^data: each batch is sent: the plan does not fit with the whole set on the device$' \
        "$work/tight/plan.txt" && cmp "$work/sent/kernels.cu" "$work/tight/kernels.cu" &&
        cmp "$work/sent/buffers.h" "$work/tight/buffers.h" || return 1
    grep -q '^device_resident = true' "$work/kept/spec.toml" &&
        grep -q '^device_resident = false' "$work/tight/spec.toml"
}

# As many processes are started as the program was made for, or NP.
test_processes_are_counted() {
    emit $spec --set parallelism.data_parallel_replicate_degree=3 -o "$work/ranks" || return 1
    started() { make -n -C "$work/ranks" DEVICE=sim RT="$top" MPIRUN=mpirun MPICC=mpicc "$@" run; }
    for np in "" NP= NP=3; do
        started $np 2>&1 | grep -q 'mpirun .*-np 3 ' || return 1
    done
    for np in 1 2; do
        started NP=$np >"$work/started" 2>&1 && return 1
        grep -q "NP=$np: this program was generated for 3 ranks: leave NP out, or generate it for another layout: parallelism.data_parallel_replicate_degree=$np needs $np[.]" "$work/started" || return 1
    done
    emit $spec -o "$work/one" &&
        make -n -C "$work/one" DEVICE=sim RT="$top" MPIRUN=mpirun NP=2 run >"$work/started" 2>&1 && return 1
    grep -q 'NP=2: this program was generated for one rank: leave NP out' "$work/started" || return 1
    # As if everything was built. The command itself is not shown: it is full of paths.
    make -o all -o check_options -C "$work/ranks" DEVICE=sim RT="$top" MPIRUN=echo MPICC=sh run >"$work/started" &&
        grep -qxF -- "-np 3 $work/ranks/run" "$work/started" && ! grep -q GPUOPT "$work/started" || return 1
    for np in 0 -1 x 2x "1 2"; do
        started NP="$np" >"$work/started" 2>&1 && return 1
        [ "$(grep -c 'NP=' "$work/started")" -eq 1 ] &&
            grep -qF "NP=$np: it is how many processes to start" "$work/started" || return 1
    done
}

# line_of PATTERN: the number of the first line of $work/commands that matches.
line_of() { grep -nm 1 -- "$1" "$work/commands" | sed 's/:.*//'; }

# Kernels for the simulated device are linked against a whole one, even if another make is building it: its files
# are renamed into place, simcc last of one rank's, several ranks wait for its NCCL, and nothing is linked against
# less. NCCL is newer than simcc, or each make would look at the simulator again.
test_kernels_need_a_whole_simulator() {
    mkdir -p "$work/half" && touch "$work/half/simcc" &&
        emit $spec --set parallelism.data_parallel_replicate_degree=2 -o "$work/waiting" &&
        make -n -C "$work/waiting" DEVICE=sim RT="$top" SIM_OUT="$work/half" MPICC=mpicc kernels.sim >"$work/commands" &&
        [ "$(line_of 'new=[^ ]*/libnccl.so.2')" -lt "$(line_of 'simcc -I .* kernels.cu')" ] || return 1
    make -n -f runtime/sim/Makefile.inc RT=runtime SIM_OUT="$work/none" MPICC=mpicc sim_ranks >"$work/commands" &&
        ! grep -E -- '-o [^ ]*(\.so[.0-9]*|simcc)( |$)' "$work/commands" || return 1
    [ "$(line_of 'mv .*/simcc')" -lt "$(line_of 'mv .*/libnccl.so')" ] || return 1
    for library in cuda cublasLt nvrtc cupti nvidia-ml; do
        [ "$(line_of "mv .*/lib$library.so")" -lt "$(line_of 'mv .*/simcc')" ] || return 1
    done
    rm "$work/half/simcc" && cp -r "$SIM_OUT/simcc" "$SIM_OUT/include" "$work/half" &&
        : >"$work/half/libcuda.so.1" && : >"$work/half/precompiled" &&
        echo 'extern "C" __global__ void k(int *x) { __syncthreads(); *x = 1; }' >"$work/half/k.cu" || return 1
    SIM_OPTIMIZE=-O0 "$work/half/simcc" -I "$top" "$work/half/k.cu" -o "$work/half/k.sim" 2>"$work/refusal" && return 1
    grep -q 'undefined reference to .sim_' "$work/refusal" && [ ! -e "$work/half/k.sim" ] &&
        cp "$SIM_OUT/libcuda.so.1" "$work/half" &&
        SIM_OPTIMIZE=-O0 "$work/half/simcc" -I "$top" "$work/half/k.cu" -o "$work/half/k.sim"
}

link_twice() {
    make -s -f runtime/sim/Makefile.inc RT=runtime SIM_OUT="$work/twice" "$work/twice/libcupti.so.13"
}

# Two runs may build the simulated device at once: both links end well, and the library is whole.
test_two_makes_link_one_library() {
    rm -rf "$work/twice" && cp -rp "$SIM_OUT" "$work/twice" && rm -f "$work"/twice/libcupti.so.13 || return
    link_twice &
    link_twice && wait $! && nm -D "$work/twice/libcupti.so.13" | grep -q ' T cuptiActivityEnable' &&
        [ "$(ls "$work"/twice/libcupti.so.*)" = "$work/twice/libcupti.so.13" ]
}

# values FILE: prints a spec's keys with effect, one per line.
values() { sed -n 's/ *# .*//; /=/p' "$1"; }

# The output of --print-spec, and the spec.toml of each program and of each point of a study, are
# specs with the same meaning. For a study, --print-spec prints all points, which are not one spec.
test_printed_specs_are_specs() {
    mkdir -p "$work/printed"
    printf 'extends = "%s"\n[benchmark]\nrepeats = 2\n[sweep]\n"adapter.r" = [2, 4]\n' "$top/$spec" \
        >"$work/printed/points.toml" && emit "$work/printed/points.toml" -o "$work/printed/points" || return 1
    grep -q '^  "repeats": 2,$' "$work/printed/points/r2/plan.json" || return 1
    for s in tests/golden/*.toml specs/*.toml "$work"/printed/points/*/spec.toml; do
        grep -q '^\[sweep\]' "$s" && continue
        "$gen" "$s" --print-spec >"$work/printed/once.toml" && emit "$work/printed/once.toml" --check &&
            "$gen" "$work/printed/once.toml" --print-spec >"$work/printed/twice.toml" ||
            { echo "$s:" && cat "$work/stderr"; return 1; }
        [ "$(values "$work/printed/once.toml")" = "$(values "$work/printed/twice.toml")" ] || return 1
    done
}

# point_values POINT [STUDY]: prints the keys of a point of specs/ablation.toml, or of another study, that have an
# effect; without a graph there is no side stream.
point_values() { "$gen" --print-spec --point "$1" "specs/${2:-ablation}.toml" >"$work/point.toml" && values "$work/point.toml" | grep -v '^side_stream = false$'; }

# Each point of the ablations changes what its name says: a single key of another point, and those that then have
# no effect.
test_ablation_changes_one_key() {
    point_values no-side-stream >"$work/no-side-stream" && point_values all >"$work/all" &&
        point_values all ablation_rows >"$work/all-rows" || return 1
    for pair in fusion/all/fusion side-stream/all/side_stream graph/no-side-stream/cuda_graph bordered/all/bordered \
        chunked-head/all/chunked_head,head_chunk_tokens \
        skip-ignored-rows/all-rows/max_target_tokens,skip_ignored_rows/ablation_rows; do
        IFS=/ read -r point other keys study <<EOF
$pair
EOF
        point_values "no-$point" $study | diff "$work/$other" - | sed -n 's/^[<>] \([a-z_]*\) = .*/\1/p' | sort -u |
            paste -sd, >"$work/changed"
        [ "$(cat "$work/changed")" = "$keys" ] || { echo "no-$point: $(cat "$work/changed")"; return 1; }
    done
    [ "$("$gen" --plan specs/ablation.toml --format csv | grep -c '^\(all\|no-\|none\)')" -eq 7 ]
}

run_tests "$@"
exit $failed
