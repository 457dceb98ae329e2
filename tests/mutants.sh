#!/bin/sh
# mutants.sh [NAME...]
# mutants.sh --places
#
# Breaks the code on purpose, one place at a time, and runs the test that should notice. Prints
# `caught NAME by TEST` or `MISSED NAME by TEST`; exits with 1 if one was missed. Each mutant is
# built in a copy of the working tree under build/mutants. With --places nothing is built: it only
# reports mutants whose source text is missing or no longer unique.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
copy=$top/build/mutants/tree
missed=0

# built_for TEST: prints what else make must build for it: the test, or the libraries that it links.
built_for() {
    case $1 in
    build/unit/*) echo "$1" ;;
    tests/sim/generated.sh) echo build/libgen.a build/libshared.a ;;
    esac
}

# mutant NAME FILE OLD NEW TEST...: OLD must occur in FILE exactly once.
mutant() {
    name=$1 file=$2 old=$3 new=$4
    shift 4
    [ -z "$wanted" ] || case " $wanted " in *" $name "*) ;; *) return ;; esac
    if ! OLD=$old perl -0ne '$n = () = /\Q$ENV{OLD}\E/g; exit($n != 1)' "$top/$file"; then
        echo "MISSED $name: $file has not exactly one place to break"
        missed=1
        return
    fi
    [ -z "$places_only" ] || return
    OLD=$old NEW=$new perl -0pe 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$top/$file" >"$copy/$file"
    if (cd "$copy" && make -s -j2 gpuopt-gen build/libruntime.a sim $(built_for "$1") && "$@") \
        >"$copy/../$name.log" 2>&1; then
        echo "MISSED $name by $*"
        missed=1
    elif grep -q '^run.sh: no case' "$copy/../$name.log"; then
        echo "MISSED $name: $* runs nothing"
        missed=1
    elif grep -q '^\(gen\|runtime\|tests\)/[^ ]*:[0-9]*: error:' "$copy/../$name.log"; then
        echo "MISSED $name: it does not build"
        missed=1
    elif grep -q 'error:.*\.[ch]:\|Error 1$\|^collect2: error' "$copy/../$name.log" && ! grep -q 'FAIL\|FAILED\|internal\|assert' "$copy/../$name.log"; then
        echo "MISSED $name: it does not build"
        missed=1
    else
        echo "caught $name by $*"
    fi
    cp "$top/$file" "$copy/$file"
}

places_only=
[ "${1-}" != --places ] || { places_only=1; shift; }
wanted=$*
export RT="$copy" RTLIB="$copy/build/libruntime.a" SIM_OUT="$copy/build/sim" DEVICE=sim GPUOPT_DEVICE=sim
if [ -z "$places_only" ]; then
    find "$copy" -path "$copy/build" -prune -o -type f -exec rm {} + 2>/dev/null # files of an older tree
    mkdir -p "$copy" || exit 1
    git ls-files -z | xargs -0 cp --parents -p -t "$copy" || exit 1
fi
if [ -z "$places_only" ] && [ ! -d "$copy/build" ]; then # reuse objects that are already built
    mkdir -p "$copy/build"
    cp -a build/obj build/sim build/compiler.ok "$copy/build/" 2>/dev/null
fi

oracle="tests/oracle/run.sh --only" # of the rows that make check runs
oracle_row="tests/oracle/run.sh --one"
mutant lora_scale gen/pass/lora.c \
    'sqrt((double)r) : (double)r);' 'sqrt((double)r) : 1.0);' $oracle demo
# Parts of the kernels that the host's compiler never sees.
ptx="tests/oracle/run.sh --ptx --only"
mutant ptx_mma_operand runtime/kernel.cuh \
    'f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}' 'f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%6,%5,%7}' $ptx odd
mutant ptx_mma_tf32_operand runtime/kernel.cuh \
    'f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}' 'f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%6,%5,%7}' $ptx demo
mutant ptx_ldmatrix_transposed runtime/kernel.cuh 'x4.trans.shared' 'x4.shared' $ptx odd
mutant ptx_copy_not_cleared runtime/kernel.cuh '"l"(gmem), "r"(valid ? 16 : 0)' '"l"(gmem), "r"(16)' $ptx odd
mutant ptx_copy_not_awaited runtime/kernel.cuh '::"n"(N)' '::"n"(N + 1)' $ptx odd
mutant ptx_product_not_awaited gen/templates/attention_wgmma.cu \
    'wgmma_wait<1>(scores[0]);' 'wgmma_wait<2>(scores[0]);' tests/sim/test_template_run.sh
mutant ptx_weights_overwritten gen/templates/attention_wgmma.cu \
    'end_weighted(weights);' '' tests/sim/test_template_run.sh
mutant ptx_read_only_behind_wait gen/emit/emit_kernels.c \
    'restricted[] = "__restrict__ "' 'restricted[] = "__restrict__const "' $ptx cnn
mutant ptx_rounded_half runtime/kernel.cuh '"f"(x), "f"(0.0f)' '"f"(0.0f), "f"(x)' $ptx odd
mutant ptx_shuffle runtime/kernel.cuh '__shfl_xor_sync(0xffffffffu, v, mask)' '__shfl_down_sync(0xffffffffu, v, mask)' $ptx odd
mutant ignored_target_counted gen/graph/ops_loss.c \
    'int has = step_binary(body, STEP_GE, labels, step_const_int(body, 0));' \
    'int has = step_binary(body, STEP_GE, labels, step_const_int(body, -1000));' $oracle packed
mutant adam_bias_correction gen/graph/ops_optimizer.c \
    'int rate = step_hinted(body, step_binary(body, STEP_DIV, lr, bias1), "rate");' \
    'int rate = lr; (void)bias1;' $oracle demo
mutant clip_left_out gen/graph/ops_optimizer.c \
    'return step_hinted(body, step_binary(body, STEP_MUL, g, factor), "clipped");' 'return factor < 0 ? factor : g;' \
    $oracle sched
mutant rope_not_inverted gen/graph/ops_attention.c \
    'rotate(op, body, true);' 'rotate(op, body, false);' $oracle odd
mutant data_of_ranks_not_compared runtime/loop/main.c \
    'comm_agree(rt, "the data or the initial weights", hash, "give all ranks the same files");' '(void)hash;' \
    tests/runtime/ranks.sh other_file_of_a_rank
mutant epoch_padded_without_end runtime/data/data.c \
    '% loader->facts.epoch_rows % count;' '% loader->facts.epoch_rows;' build/unit/test_data_order
mutant epoch_discards_a_step runtime/data/data.c \
    'rows / step_rows * step_rows;' '(rows - 1) / step_rows * step_rows - step_rows;' build/unit/test_data_order
mutant mask_in_a_narrow_thread gen/plan/fuse.c \
    's->col_map == COL_PACKED && k.vector % s->period' 'false && k.vector % s->period' tests/sim/generated.sh
mutant mask_bits_in_one_place runtime/kernel.cuh \
    'number << (i % PER_BYTE * (8 / PER_BYTE))' 'number << (i % PER_BYTE)' tests/sim/generated.sh
mutant mask_of_a_zero gen/graph/ops_pointwise.c \
    'step_binary(body, STEP_LT, step_const(body, 0), y);
    step_store_mapped' 'step_binary(body, STEP_GE, y, step_const(body, 0));
    step_store_mapped' build/unit/test_relu_masks
mutant mask_in_an_epilogue gen/pass/relu_masks.c \
    'masks && !may_be_epilogue(p, uses, relu)' 'masks && (!may_be_epilogue(p, uses, relu) || masks)' build/unit/test_relu_masks
mutant several_readers_for_one gen/graph/uses.c 'return count == 1;' 'return count > 0;' build/unit/test_relu_masks
mutant mask_in_a_kernel_of_rows gen/pass/relu_masks.c \
    'if (op_reads_rows(op, 0) && op->in[0] == v' 'if (!op && op->in[0] == v' build/unit/test_relu_masks
mutant gram_of_a_shared_sum gen/pass/gram_batch_norm.c \
    'n->stats->in[0] == n->sums->out[0] && n->grad->in[DOT] == n->grad_sums->out[0]' 'n->rows > 0' \
    build/unit/test_gram_batch_norm
mutant gram_where_nothing_is_gained gen/pass/gram_batch_norm.c \
    'more + small < saved;' '0 * more + small < saved;' build/unit/test_gram_batch_norm
mutant gram_in_fp32 gen/pass/gram_batch_norm.c \
    'return p->activation != DT_F32;' 'return p->activation != DT_COUNT;' build/unit/test_gram_batch_norm
mutant gram_onto_a_gradient gen/pass/gram_batch_norm.c \
    'op->in[1] == n->linear->in[W] && !op->attr.accumulate' 'op->in[1] == n->linear->in[W]' \
    build/unit/test_image_models
mutant gram_forgets_micro_steps gen/pass/gram_batch_norm.c \
    '(Value *[]){onto, fresh}' '(Value *[]){fresh, fresh}' build/unit/test_image_models
mutant gram_about_zero gen/graph/ops_gram.c \
    'sub(body, gram, mean_of(body, sums, op))' 'step_binary(body, STEP_ADD, gram, mean_of(body, sums, op))' \
    build/unit/test_image_models
mutant gram_without_the_slope gen/graph/ops_gram.c \
    'sub(body, centred, mul(body, slope, cross))' 'sub(body, centred, mul(body, scale, cross))' \
    build/unit/test_image_models
mutant gram_without_a_shift gen/graph/ops_gram.c \
    'step_select(body, is_high, high, rest)' 'step_select(body, is_high, rest, rest)' build/unit/test_image_models
mutant gram_of_x_of_the_sign gen/pass/gram_batch_norm.c \
    'true, pull, -1, exact)' 'true, pull, 1, exact)' build/unit/test_image_models
mutant two_makers_of_a_sum gen/plan/group.c \
    'conflicts_between(g, first, later, maker)' 'first < 0' build/unit/test_fusion
mutant two_makers_read_elsewhere gen/plan/group.c \
    '!group_hides(g, &both, maker->ops[i]->out[k])' 'k < 0' build/unit/test_fusion
mutant one_maker_of_a_sum gen/plan/group.c \
    'if (try_join_maker(g, i, later))' 'if (i < 0 && try_join_maker(g, i, later))' build/unit/test_fusion
mutant loop_over_two_modules gen/emit/roll.c \
    '2 * named > equal' '2 * equal >= named' build/unit/test_roll
mutant narrow_outputs_in_one_column gen/graph/ops_narrow.c \
    'step_store_mapped(body, op->out[0], COL_AT, i, sum)' 'step_store_mapped(body, op->out[0], COL_AT, 0, sum)' \
    build/unit/test_image_models
mutant narrow_without_bias gen/graph/ops_narrow.c \
    'sum = step_binary(body, STEP_ADD, sum, bias);' '(void)bias;' build/unit/test_image_models
mutant narrow_gradients_in_one_row gen/graph/ops_narrow.c \
    'step_col_sum_at(body, op->out[0], i,' 'step_col_sum_at(body, op->out[0], 0 * i,' build/unit/test_image_models
mutant narrow_that_is_wide gen/pass/narrow_linears.c \
    'n.outputs > MOST_NARROW' 'n.outputs > 2 * MOST_NARROW' build/unit/test_narrow_linears
mutant narrow_sum_of_gradients gen/pass/narrow_linears.c \
    'op->attr.accumulate || !is_real' '!is_real' build/unit/test_narrow_linears
mutant narrow_at_any_size gen/pass/narrow_linears.c \
    'body_ms(device, p, op, n) <' '0 * body_ms(device, p, op, n) <' build/unit/test_narrow_linears
mutant narrow_rows_of_any_width gen/pass/narrow_linears.c \
    'return n.cols >= LEAST_COLS;' 'return true;' build/unit/test_narrow_linears
mutant narrow_sums_spill gen/plan/skeleton.c \
    'return sums > MOST_SUMS ||' 'return' build/unit/test_narrow_linears
mutant narrow_sums_spill_beside_a_weight gen/plan/skeleton.c \
    'weights && sums + weights > MOST_BESIDE_ROWS' 'weights > sums + MOST_BESIDE_ROWS' build/unit/test_narrow_linears
mutant threads_without_a_row gen/plan/skeleton.c \
    'return few ? (int)k->rows : parts;' 'return few ? parts : parts;' build/unit/test_narrow_linears
mutant narrow_joins_nothing gen/plan/fuse.c \
    'if (a->col_map == COL_AT && b->col_map == COL_AT' 'if (!a && b->col_map == COL_AT' \
    build/unit/test_narrow_linears
mutant masks_of_one_row gen/emit/print_rows.c \
    'step_is_vector(p->kernel, i) ? step_width(p->kernel, i) : vector' 'vector' tests/emit/run.sh masks_of_one_row
mutant mask_in_an_epilogue_of_a_pool gen/pass/relu_masks.c \
    '|| op_is(maker, TRAIT_WINDOWS)' '' build/unit/test_relu_masks
mutant mask_that_holds_a_result gen/pass/recompute_turns.c \
    ' || asked[op->out[k]->storage->id]' ' || (asked == NULL)' build/unit/test_relu_masks
mutant mask_of_parts_of_bytes gen/graph/ops_pointwise.c \
    'value_cols(y) % mask_run(y) == 0 && ' '' build/unit/test_relu_masks
mutant rope_not_undone gen/templates/attention_rope.cuh \
    'first ? x_cos + partner_sin : x_cos - partner_sin' \
    'first ? x_cos - partner_sin : x_cos + partner_sin' $oracle odd
mutant rope_grad_has_another_reader gen/pass/fuse_rope_grads.c \
    'if (ropes->of[r])
                return false;' '' build/unit/test_fuse_rope_grads
mutant relu_of_unrounded_norm gen/graph/ops_batch_norm.c \
    'rounded_to(body, op->in[0]->dtype, y)' 'rounded_to(body, op ? body->program->real : DT_F32, y)' build/unit/test_fuse_relu_grads
mutant relu_grad_of_overwritten_gradient gen/pass/fuse_relu_grads.c \
    'op_writes_part(graph->ops[i], n->relu_grad->in[1])' 'op_writes_part(graph->ops[i], graph->ops[i]->in[0])' build/unit/test_fuse_relu_grads
mutant attention_mask gen/templates/attention_fma.cu \
    'mask_rows[i].sees(key) && key <= base + i' 'mask_rows[i].sees(key) && key < base + i' $oracle odd
mutant prefix_one_too_long gen/templates/attention_masks.cuh \
    '(key < prefix_end)' '(key <= prefix_end)' $oracle_row dpo fp64 shared
mutant prefix_of_another_group gen/templates/attention_masks.cuh \
    '((key >= prefix_start) & (key < prefix_end))' '(key < prefix_end)' tests/dist/run.sh packed_prompts
mutant long_completion_takes_all runtime/data/data_shared.c \
    'room - shorter : room / 2' 'room - shorter : room' build/unit/test_pairs
mutant ipo_aims_twice_as_far gen/graph/ops_pairs.c \
    '1 / (2 * beta), "AIM"));
        return step_binary(body, STEP_MUL, off, off);' '1 / beta, "AIM"));
        return step_binary(body, STEP_MUL, off, off);' build/unit/test_pair_losses
mutant ipo_sums_log_probabilities gen/graph/ops_pairs.c \
    'chosen = step_binary(body, STEP_DIV, chosen, pair->chosen.targets);' '(void)0;' build/unit/test_pair_losses
mutant hinge_without_margin gen/graph/ops_pairs.c \
    'STEP_SUB, step_const(body, 1), x)' 'STEP_SUB, step_const(body, 0), x)' build/unit/test_pair_losses
mutant hinge_pulls_at_all_pairs gen/graph/ops_pairs.c \
    'step_binary(body, STEP_LT, x, step_const(body, 1))' 'step_binary(body, STEP_LT, x, step_const(body, 1e9))' \
    build/unit/test_pair_losses
mutant robust_as_conservative gen/graph/ops_pairs.c \
    '(1 - smoothing) / (1 - 2 * smoothing), -smoothing / (1 - 2 * smoothing)' '1 - smoothing, smoothing' \
    build/unit/test_pair_losses
mutant robust_not_divided gen/graph/ops_pairs.c \
    '(1 - smoothing) / (1 - 2 * smoothing), -smoothing / (1 - 2 * smoothing)' '1 - smoothing, -smoothing' \
    build/unit/test_pair_losses
mutant smoothing_of_pairs_ignored gen/graph/ops_pairs.c \
    'double smoothing = op->attr.label_smoothing;' 'double smoothing = 0 * op->attr.label_smoothing;' \
    build/unit/test_pair_losses
mutant rewards_without_beta gen/graph/ops_pairs.c \
    'times(body, op->attr.beta, "BETA", pair.chosen.ratio);' 'pair.chosen.ratio;' build/unit/test_pair_losses
mutant hinge_is_ipo gen/pass/dpo.c '[DPO_HINGE] = PAIR_HINGE' '[DPO_HINGE] = PAIR_IPO' build/unit/test_pair_losses
mutant beta_of_pairs_is_constant gen/pass/dpo.c '.beta = d->spec->dpo.beta,' '.beta = 0.1,' build/unit/test_pair_losses
mutant gradients_not_zeroed gen/pass/optimizer.c \
    'if (p->micro_steps == 1)' 'if (p->micro_steps >= 1)' $oracle accumulate
mutant rows_lost_in_chunks gen/pass/chunk_head.c \
    'attr.accumulate |= so_far != NULL;' '' $oracle_row pretrain_tied fp64 small_chunks
mutant quantize_nibbles gen/graph/ops_quantize.c \
    'int_of(body, STEP_MUL, code[0], 16), code[1])' 'int_of(body, STEP_MUL, code[1], 16), code[0])' \
    build/unit/test_quantize
mutant quantize_last_block gen/graph/ops_quantize.c \
    'value_rows(list) - 1' 'value_rows(list) / 2' build/unit/test_quantize
mutant quantize_offset gen/graph/ops_quantize.c \
    'STEP_SUB, step_load(body, op->in[0]), step_load(body, op->in[1])' \
    'STEP_ADD, step_load(body, op->in[0]), step_load(body, op->in[1])' build/unit/test_quantize
mutant quantize_border gen/pass/quantize_read.c '    add_below(&r);' '    (void)add_below;' \
    $oracle qlora
mutant fake_quant_scale gen/graph/ops_fake_quant.c \
    'step_named(body, (kind.most - kind.least) / 2,' 'step_named(body, kind.most,' build/unit/test_qat
mutant fake_quant_at_bounds gen/graph/ops_fake_quant.c \
    'step_binary(body, STEP_GE, most_code(body, kind), code)' \
    'step_binary(body, STEP_LT, code, most_code(body, kind))' build/unit/test_qat
mutant fake_quant_least_scale gen/graph/ops_fake_quant.c \
    'scale = scale_not_below(body, scale, ldexp(1, -23));' '' build/unit/test_qat
mutant quantize_groups_scale gen/graph/ops_fake_quant.c \
    'step_store(body, op->out[1], c.scale);' 'step_store(body, op->out[1], absmax);' build/unit/test_qat
mutant export_other_codes gen/pass/qat_export.c \
    'export(c, coded->out[1], value_cols(w) / size, PART_SCALES);' \
    'export(c, zeros, value_cols(w) / size, PART_SCALES);' $oracle qat_lora
mutant lone_rank_without_nccl runtime/comm/comm.c \
    'if (rt->program->group_count)
        nccl_open(rt);' 'if (rt->comm)
        nccl_open(rt);' tests/dist/run.sh one_rank
mutant lone_axis_dropped gen/graph/mesh.c \
    'if (mesh->size[axis] == 1 && !(mesh->kept >> axis & 1))' 'if (mesh->size[axis] == 1)' \
    tests/dist/run.sh one_rank
mutant written_module_not_kept gen/pass/gather_weights.c \
    '    keep_written(g, now);
}' '}' tests/dist/run.sh sharded_rounded
mutant exported_parts_as_rows runtime/checkpoint/convert.c \
    'tensor->shape[param->shard_axis] *=' 'tensor->shape[0] *=' tests/dist/run.sh tensor_rounded
mutant row_scale_of_a_card gen/pass/qat_export.c \
    '"quantize", in, group ? 2 : 1,' '"quantize", in, 1,' tests/dist/run.sh tensor_rounded
mutant converted_stage_alone runtime/step/capture.c \
    'phase == RT_PHASE_EVALUATE || phase == RT_PHASE_EVALUATE_CONVERTED' 'phase == RT_PHASE_EVALUATE' \
    tests/dist/run.sh stages_rounded
mutant converted_evaluated_as_rounded gen/pass/unrounded.c \
    'int from = passed_on(op, what);' 'int from = passed_on(op, what) < 0 ? -1 : -1;' build/unit/test_qat
mutant qat_rounds_adapter gen/pass/qat.c 'op->in[1]->role != ROLE_ADAPTER &&' '' build/unit/test_qat
mutant sources_not_read gen/pass/read_sources.c \
    'op_read_instead(old.ops[i], maker[i]->out[0], again->out[0]);' '' build/unit/test_qat
mutant sources_read_by_others gen/pass/read_sources.c \
    'if (reads_sources(op, maker) ||' 'if (reads_sources(op, maker) || op->in_count > 0 ||' build/unit/test_qat
mutant sources_of_other_stages_unread gen/pass/read_sources.c \
    'value_rows(maker->in[i]) == value_rows(maker->out[0])' 'maker->in[i]->role == ROLE_ACTIVATION' \
    build/unit/test_pipeline
mutant logits_kept_beside_gradient gen/graph/ops.h 'OP(cross_entropy_grad, SK | IN_PLACE,' 'OP(cross_entropy_grad, SK,' \
    build/unit/test_in_place
mutant decoding_awaits_gradients gen/plan/streams.c \
    'if (!is_collective(launch) && !is_collective(other))' 'if (false)' build/unit/test_side_stream
mutant harmless_jpeg_without_end runtime/data/data_decode.c 'return has_end(file) && (' 'return (has_end(file) || true) && (' \
    build/unit/test_image_folder
mutant harmless_jpeg_refused runtime/data/data_decode.c \
    'strstr(warning, "extraneous bytes before marker") ||' '' build/unit/test_image_folder
mutant made_again_for_nothing gen/pass/drop_unread.c \
    'op->out_count == 0 ||' 'op->phase == PHASE_RECOMPUTE ||' build/unit/test_qat
mutant dumped_op_dropped gen/pass/drop_unread.c '|| op->observe ||' '||' build/unit/test_drop_unread
mutant collective_dropped gen/pass/drop_unread.c ' || op_is(op, TRAIT_COLLECTIVE)' '' build/unit/test_drop_unread
mutant gathered_outputs_dropped gen/pass/drop_unread.c ' || op->kind == OP_peer_copy' '' build/unit/test_drop_unread
mutant unread_results_stored gen/plan/launches.c 'if (group->body)' 'if (group->body && group->count > 1)' \
    tests/golden/run.sh
mutant qat_groups_moved gen/graph/program.c 'if (view->row_stride == v_stride)' 'if (view->row_stride == v_stride || v_stride > 0)' \
    $oracle qat
mutant border_scale_lost gen/pass/bordered.c \
    '(Attr){.alpha = s->up->attr.alpha}' '(Attr){.alpha = 1}' $oracle demo
mutant paths_inputs_taken_for_one gen/pass/border.c \
    'b->site[i].down->in[0] != b->site[0].down->in[0]' '!b->site[i].down' build/unit/test_join_linears
mutant rounded_base_through_a gen/pass/bordered_backward.c \
    'int64_t first = sum->of_w ? 0 : b->out;' 'int64_t first = 0;' $oracle_row qat_lora fp64 default
mutant rounded_base_as_one_sum gen/pass/bordered_backward.c \
    'path->sums = one ? 1 : 2;' 'path->sums = 1;' build/unit/test_join_linears
mutant joined_across_gaps gen/graph/program.c \
    'w->offset == v->offset + value_rows(v) * v->row_stride;' 'w->offset > v->offset;' \
    build/unit/test_join_linears
mutant joined_but_the_last gen/plan/join_launches.c \
    'first->grid[2] = count;' 'first->grid[2] = count - 1;' $oracle demo
mutant reference_apart gen/pass/join_linears.c ' || op->in[1]->role == ROLE_FROZEN' '' build/unit/test_join_linears
mutant joined_by_any_name gen/base/dotted.c 'return differing <= 1 &&' 'return' \
    build/unit/test_join_launches
mutant joined_past_its_edge gen/plan/join_launches.c \
    'a->ops[0]->after == b->ops[0]->after &&' '' build/unit/test_join_launches
mutant joined_past_a_writer gen/plan/join_launches.c \
    'are_bound(j, *from - 1, index)' '(are_bound(j, *from - 1, index) && index < 0)' build/unit/test_join_launches
mutant joined_at_another_stride gen/plan/join_launches.c \
    'memcmp(&next, &strides, sizeof next) == 0' 'true' build/unit/test_join_launches
mutant joined_slices_unseen gen/plan/plan.c \
    'return launch->arg_count * (1 + launch->joined_count);' 'return launch->arg_count;' \
    build/unit/test_join_launches
mutant joined_dx_without_the_others gen/pass/product_chain.c \
    '    attr.accumulate = chain->so_far != NULL;' '    attr.accumulate = false;' $oracle lora_q_v_rslora
mutant joined_dx_overwrites_the_others gen/pass/product_chain.c \
    'chain->so_far = op->out[0];' '' $oracle lora_q_v_rslora
mutant joined_dx_of_another_weight gen/pass/join_linears.c \
    'g->joined, g->weight, op->attr' 'g->joined, g->member[0].linear->in[1], op->attr' $oracle pretrain_tied
mutant gradients_joined_across_gaps gen/pass/join_gradients.c \
    'value_rows_follow(a->out[0], b->out[0])' 'a->out[0]->storage == b->out[0]->storage' \
    build/unit/test_join_linears
mutant sides_in_another_order gen/pass/border.c \
    'a->offset < b->offset :' 'a->offset > b->offset :' build/unit/test_join_linears
mutant ropes_over_each_other gen/pass/join_ropes.c \
    'value_columns(p, both, v->dim[1], value_cols(w), w->name)' \
    'value_columns(p, both, 0, value_cols(w), w->name)' build/unit/test_ops_model
mutant ropes_torn_from_biases gen/pass/join_ropes.c \
    '!may_be_fused(uses, a, b)' '(may_be_fused(uses, a, b) || true)' \
    build/unit/test_join_linears
mutant overwritten_although_read gen/pass/in_place.c \
    '!is_used_after(uses, x, op->id) && ' '(is_used_after(uses, x, op->id) || true) && ' \
    build/unit/test_in_place
mutant torn_from_its_reader gen/graph/uses.c \
    'if (op_table[reader[i]->kind].expand)' 'if (!reader[i])' build/unit/test_in_place
mutant halves_of_one_head gen/emit/print_terms.c \
    '"%s + (%s / %s + 1) * %s"' '"%s + (%s / %s) * %s"' $oracle demo
mutant halves_swapped gen/graph/ops_attention.c \
    'step_store_mapped(body, y, COL_FIRST_HALF, head, y1)' 'step_store_mapped(body, y, COL_FIRST_HALF, head, y1 < 0 ? y1 : y2)' \
    $oracle demo
mutant refreshed_as_if_without_gaps gen/pass/bordered.c \
    'a->offset != first->offset + s->side * b->in' 'a->offset < 0' $oracle demo
mutant lifetime_too_short gen/plan/memory.c \
    'life->end = launch;' 'life->end = launch - 1;' $oracle demo
mutant whole_numbers_never_compared tests/gpu/kernel_check.c \
    'if (is_whole(output->dtype) && differing <= allowed)' 'if (is_whole(output->dtype))' tests/gpu/run.sh
mutant pixels_never_compared tests/gpu/check_gpu.py \
    'INPUTS = ("input_ids", "labels", "pixels", "boxes")' 'INPUTS = ("input_ids", "labels")' tests/gpu/run.sh
mutant programs_outlive_a_killed_command tests/gpu/machine.py \
    '            os.killpg(group, signal.SIGKILL)' '            pass' tests/gpu/run.sh
mutant grid_beyond_cudas_limit gen/plan/check.c \
    'launch->grid[d] > most[d]' 'launch->grid[d] > most[0]' build/unit/test_memory
mutant pairs_beyond_the_grid gen/plan/attention_kernels.c \
    'g->batch > MOST_GRID_YZ' 'g->batch > 2 * MOST_GRID_YZ' tests/error/run.sh
mutant launches_of_an_op_unordered gen/plan/check.c \
    '!is_before(c, span->last, launch)' 'false' build/unit/test_memory
mutant streams_taken_for_one gen/plan/memory.c \
    'lives.ordered &= launch->stream == entry->launches[0].stream;' '' build/unit/test_side_stream
mutant event_wait_removed runtime/step/input.c \
    'CU(StreamWaitEvent, rt->streams[RT_STREAM_COMPUTE], slot->copied, 0);' '' tests/runtime/run.sh
mutant barrier_removed runtime/kernel.cuh \
    '            of_warp[threadIdx.x / 32] = v;
        __syncthreads();' \
    '            of_warp[threadIdx.x / 32] = v;' tests/sim/run.sh
mutant moment_not_saved runtime/checkpoint/checkpoint.c \
    '".exp_avg_sq", param->exp_avg_sq, as)' '".exp_avg_sq", param->exp_avg, as)' tests/runtime/run.sh
mutant read_again_after_it_is_overwritten gen/plan/phases.c \
    'if (phase_needs(f, phase, i))
                return true;' 'if (phase_needs(f, phase, i))
                return false;' build/unit/test_fusion
mutant undone_in_load_alone gen/pass/passes.c \
    'for (int e = 0; e < ENTRY_COUNT; e++)' 'for (int e = 0; e < 1; e++)' build/unit/test_recompute
mutant rows_of_the_wrong_tensors gen/pass/sections.c \
    'section->first - (op->in[0]->offset - master->offset) * ranks' \
    'section->first + 0 * (op->in[0]->offset - master->offset) * ranks' \
    tests/runtime/repeat.sh optimizer_in_backward
mutant absmax_overwritten_too_soon gen/emit/print_steps.c \
    'if (stores->overwrite)' 'if (false)' tests/sim/flavours.sh coded_moments
mutant joined_launches_ask_for_one_slice gen/plan/issued.c \
    'double slices = 1 + launch->joined_count;' 'double slices = 1 + 0 * launch->joined_count;' \
    tests/sim/flavours.sh --all dora
mutant updated_before_it_is_read gen/pass/optimizer_in_backward.c \
    'if (weight)
        note_elements(' 'if (!weight)
        note_elements(' tests/runtime/repeat.sh optimizer_in_backward
mutant updated_whatever_the_loss gen/graph/ops_optimizer.c \
    'int gate = step_select(body, step_unary(body, STEP_FINITE, loss), one, zero);' 'int gate = step_select(body, step_unary(body, STEP_FINITE, loss), one, one);' \
    build/unit/test_optimizer
mutant bad_gradient_taken gen/graph/ops_optimizer.c \
    'g = step_select(body, step_unary(body, STEP_FINITE, g), g, step_const(body, 0));' '' build/unit/test_optimizer
mutant products_begin_as_kernels gen/plan/timeline.c \
    'product ? device->product_ms : device->kernel_ms' 'product && launch < 0 ? device->product_ms : device->kernel_ms' \
    build/unit/test_side_stream
mutant update_waits_for_all gen/plan/side_stream.c \
    '!(is_update(later) && depends_on_later(entry, i, index))' '!(is_update(later) && depends_on_later(entry, i, i))' build/unit/test_side_stream
mutant scalar_overwritten_too_soon gen/plan/phases.c \
    'return body->rows == 1;' 'return false;' build/unit/test_fusion
mutant page_more_than_fits gen/plan/cache.c 'w->used > w->trace->room' 'w->used > w->trace->room + 1' build/unit/test_predict
mutant product_with_itself_read_twice gen/plan/cache.c 'earlier.value == of.value' \
    'earlier.value == NULL' build/unit/test_predict
mutant step_that_begins_with_nothing gen/plan/cache.c \
    'walk_both_ways(plan, step, of_step, 2);' 'walk_both_ways(plan, step, of_step, 1);' build/unit/test_predict
mutant rounding_lost_in_fusion gen/plan/fuse.c \
    'int rounded = step_round(body, load->value->dtype, number);' \
    'int rounded = step_round(body, DT_F64, number);' build/unit/test_fusion

# ---- used only by image models ----

mutant conv_weight_grad_tap gen/templates/conv2d_fma.cu \
    'axis.source(place % OUT_WIDTH, tap % KERNEL)' 'axis.source(place % OUT_WIDTH, tap / KERNEL)' $oracle cnn
mutant conv_weight_grad_tap_mma gen/templates/conv2d_mma.cu \
    'tap % KERNEL);' 'tap / KERNEL);' $oracle cnn_strides
mutant conv_tap gen/templates/conv2d_windows.cuh \
    'tap % across.taps * TOWARDS;' 'tap / across.taps * TOWARDS;' $oracle_row resnet50 bf16 default
mutant conv_weight_grad_tap_wgmma gen/templates/conv2d_wgmma.cu \
    'tap_x = column / CHANNELS % KERNEL;' 'tap_x = column / CHANNELS / KERNEL;' $oracle_row resnet50 bf16 default
mutant conv_part_begins_late gen/templates/conv2d_wgmma.cu \
    'const int begin = blockIdx.z * PART_PLACES;' 'const int begin = blockIdx.z * PART_PLACES + 16 * (blockIdx.z > 0);' \
    tests/sim/generated.sh
mutant conv_sums_over_tiles gen/templates/conv2d_wgmma.cu \
    '__syncthreads(); /* no tile is read any longer */' '' tests/sim/generated.sh
mutant conv_panel_of_half_a_tile gen/plan/conv_kernels.c \
    'if (c->wgmma && c->cols < 64)' 'if (c->wgmma && c->cols < 32)' tests/sim/generated.sh
mutant ptx_conv_product_not_awaited gen/templates/conv2d_wgmma.cu \
    'wgmma_wait<0>(sums);' 'wgmma_wait<1>(sums);' tests/sim/generated.sh
mutant ptx_conv_copies_not_fenced gen/templates/conv2d_wgmma.cu \
    "fence_tiles();
        __syncthreads(); /* this" "__syncthreads(); /* this" tests/sim/generated.sh
mutant ptx_narrow_panel gen/templates/wgmma.cuh '== PANEL ? 1u << 30 : 1u << 31' '== PANEL ? 1u << 30 : 1u << 30' \
    tests/sim/generated.sh
mutant window_of_a_neighbour_wgmma gen/templates/conv2d_windows.cuh \
    'in_window = row / TOGETHER % WINDOW;' 'in_window = (row + 1) / TOGETHER % WINDOW;' \
    tests/runtime/repeat.sh without_fused_pools
mutant conv_run_of_one_line gen/templates/conv2d_mma.cu \
    '+ group / Lines::GROUPS * Lines::PITCH' '' $oracle cnn
mutant conv_dw_of_one_line gen/templates/conv2d_mma.cu \
    'column / Lines::RUN * Lines::PITCH + column' 'column' $oracle cnn
mutant parts_that_leave_some_idle gen/plan/conv_kernels.c \
    'parts_ms(plan, c, tiles, parts) < parts_ms' '0 * parts_ms(plan, c, tiles, parts) > parts_ms' build/unit/test_planes
mutant conv_part_not_added gen/templates/conv2d_parts.cu \
    'int part = first;' 'int part = first + (share == 0);' $oracle_row resnet18 fp64 default
mutant low_rank_part_not_added gen/templates/low_rank_tiles.cuh \
    'for (int part = 1; part < PARTS; part++)' 'for (int part = 2; part < PARTS; part++)' \
    tests/oracle/run.sh --one demo bf16 read_once
mutant low_rank_b_of_another_path gen/templates/low_rank_grads_mma.cu \
    'b_tile + share_row / STEP_ROWS * COLS * PITCH);' 'b_tile);' tests/oracle/run.sh --one demo bf16 read_once
mutant prologue_makes_another_operand gen/plan/prologue.c \
    's->operand = group->hosts;' 's->operand = 3 - group->hosts;' build/unit/test_low_rank
mutant prologue_in_a_single_block gen/devices/low_rank_tiles.c \
    'low_rank_made_shared(s, t, m)) >= 2' 'low_rank_made_shared(s, t, m)) >= 1' build/unit/test_low_rank
mutant low_rank_v_of_another_linear gen/pass/low_rank_grads.c \
    'value_columns(p, v, block->col,' 'value_columns(p, v, 0 * block->col,' build/unit/test_low_rank
mutant low_rank_v_scaled_twice gen/pass/low_rank_grads.c \
    'op->attr.alpha_v = path->v->attr.alpha;' 'op->attr.alpha_v = op->attr.alpha;' \
    build/unit/test_low_rank
mutant low_rank_grads_where_they_lose gen/pass/low_rank_grads.c \
    'return after < before;' 'return after > 0 && before > 0;' build/unit/test_low_rank
mutant prologue_drops_what_it_makes gen/plan/fuse.c \
    'step_sums_columns(s->kind) || s->operand ||' 'step_sums_columns(s->kind) ||' build/unit/test_low_rank
mutant grad_of_a_with_rows_mixed_up gen/templates/low_rank_grads_mma.cu \
    'lane / 4 + i / 2 % 2 * 8;' 'lane / 4;' tests/sim/test_template_run.sh
mutant grad_of_a_with_another_v gen/templates/low_rank_grads_mma.cu \
    'const bool of_a = row >= TILE_ROWS;' 'const bool of_a = row < 0;' tests/sim/test_template_run.sh
mutant grad_of_a_where_it_loses gen/pass/low_rank_grad_a_time.c \
    'return ms < device_op_ms(' 'return 0 * ms < device_op_ms(' build/unit/test_low_rank
mutant grad_of_a_where_nothing_is_kept gen/pass/low_rank_grad_a_time.c \
    'if (spec->activation_checkpoint.mode == RECOMPUTE_FULL)' 'if (spec->activation_checkpoint.mode > RECOMPUTE_FULL)' \
    build/unit/test_low_rank
mutant grad_of_a_in_too_wide_tiles gen/devices/low_rank_tiles.c \
    '(!s.only_a || thread_sums(s, &t, 1) <= MOST_SUMS)' '(!s.only_a || thread_sums(s, &t, 1) > 0)' \
    build/unit/test_low_rank
mutant grad_of_a_with_the_first_u gen/pass/keep_columns.c \
    'value_columns(p, kept, v->offset - to->offset,' 'value_columns(p, kept, 0 * (v->offset - to->offset),' \
    build/unit/test_low_rank
mutant norm_made_from_its_result gen/graph/op_table.c \
    'apply->in[apply->in_count++] = op->out[i];' 'apply->in[apply->in_count++] = op->out[i] ? op->out[1] : NULL;' \
    build/unit/test_ops_forward
mutant grad_of_a_keeps_its_input gen/pass/keep_columns.c \
    'op_read_instead(readers[i], v, own);' 'op_read_instead(readers[i], own, own);' build/unit/test_low_rank
mutant grad_of_a_holds_others_back gen/pass/low_rank_grad_a.c \
    'graph->ops[i]->after = op_before(graph, grad);' 'graph->ops[i]->after = graph->ops[grad->id];' \
    build/unit/test_low_rank
mutant grad_of_a_reads_the_first_maker gen/pass/low_rank_grad_a.c \
    'op_read_instead(again[i], a->maker[k]->out[0], again[k]->out[0]);' \
    'op_read_instead(again[i], again[k]->out[0], again[k]->out[0]);' \
    build/unit/test_low_rank
mutant undone_pass_has_changed_an_op gen/pass/gather_weights.c \
    'Op *made = op_copy(g->p, op);' 'Op *made = (Op *)op;' build/unit/test_recompute
mutant undone_pass_has_renamed_a_graph gen/pass/passes.c \
    'p->entry[e].name = p->undone[e].name;' '' build/unit/test_recompute
mutant many_rows_computed_by_one_block gen/plan/group.c \
    'MOST_SUMMED_ROWS = 128' 'MOST_SUMMED_ROWS = 129' build/unit/test_fusion
mutant one_launch_shows_two_values gen/plan/group.c \
    '!(is_observed(a) && is_observed(b))' '!(is_observed(a) && is_observed(b) && a == b)' build/unit/test_fusion
mutant inner_values_take_parameters gen/plan/group.c \
    '
    group_drop_stores(g, group, joined); /* makes room for more parameters */' '' build/unit/test_fusion
mutant made_for_a_template_in_a_row_kernel gen/plan/group.c \
    '!leaves_to_templates(g, group, op))' '(!leaves_to_templates(g, group, op) && op->id < 0))' build/unit/test_low_rank
mutant made_for_a_shared_kernel_left_alone gen/plan/group.c \
    '!op_shares_prologue(readers[0])' 'readers[0]' build/unit/test_low_rank
mutant grad_of_a_alone_with_rows_mixed_up gen/templates/low_rank_grads_mma.cu \
    'low_rank_fetch<TILE_ROWS, WIDE, PITCH, THREADS>(v_tile, v + first * V_STRIDE, V_STRIDE,' \
    'low_rank_fetch<TILE_ROWS, WIDE, PITCH, THREADS>(v_tile, v + begin * V_STRIDE, V_STRIDE,' \
    tests/sim/test_template_run.sh
mutant low_rank_product_of_one_tile gen/templates/low_rank_matmul_mma.cu \
    'a_tile, a + first_col, A_STRIDE' 'a_tile, a, A_STRIDE' tests/sim/test_template_run.sh
mutant low_rank_product_of_one_share gen/templates/low_rank_matmul_mma.cu \
    '% Rows::SHARES * Rows::SHARE_COLS' '* 0 * Rows::SHARE_COLS' tests/oracle/run.sh --one demo bf16 read_once
mutant approximate_in_fp32 gen/graph/ops_pointwise.c \
    'activation == DT_BF16 ||' 'activation != DT_F64 ||' tests/emit/run.sh only_16_bits_are_approximate
mutant low_rank_product_of_rounded gen/pass/low_rank_matmul.c \
    'if (op_is_over_rows(p, readers[i]))' 'if (op_is_over_rows(p, readers[i]) && count < 0)' build/unit/test_low_rank
mutant low_rank_product_on_few_rows gen/pass/low_rank_matmul.c \
    '(all - launch) / rows.busy' '(all - launch) + 0 * rows.busy' build/unit/test_low_rank
mutant epilogue_over_its_source gen/plan/epilogue.c \
    'if (value_overlaps(op->in[k], to))' 'if (value_overlaps(op->in[k], to) && k < 0)' build/unit/test_fusion
mutant windows_of_a_wanted_result gen/plan/epilogue.c \
    'if (!group_hides(g, host, host->ops[i]->out[k]))' \
    'if (!group_hides(g, host, host->ops[i]->out[k]) && i < 0)' build/unit/test_fusion
mutant window_of_a_neighbour gen/templates/conv2d_windows.cuh \
    'in_window = row / TOGETHER % WINDOW;' 'in_window = row % WINDOW;' tests/oracle/run.sh --one cnn bf16 default
mutant windows_row_by_row gen/plan/fuse.c \
    's.constant = number;' 's.constant = number / count;' build/unit/test_fusion
mutant epilogue_that_moves_more gen/plan/epilogue.c \
    '&& s.bytes < best->bytes) {' '&& s.bytes < INT64_MAX) {' build/unit/test_fusion
mutant conv_phase_of_a_stride gen/templates/conv2d_windows.cuh \
    'first_tap(BACKWARD ? (this->phase + PADDING) % STRIDE : 0)' \
    'first_tap(BACKWARD ? this->phase % STRIDE : 0)' $oracle_row resnet18 fp64 default
mutant draws_of_one_block runtime/kernel.cuh 'first / 4 + i / 4' 'first / 4' tests/sim/run.sh
mutant sizes_of_the_first_kernel gen/emit/shared_bodies.c 'constant[count++] = body->text.constant[i];' \
    'constant[count++] = shared->kernel[body->first].text.constant[i];' tests/emit/run.sh kernels_share_bodies
mutant bare_columns_in_an_epilogue gen/emit/print_terms.c 'strcmp(base, "COLS") ? "tile' \
    'strcmp(base, "COLUMNS") ? "tile' tests/emit/run.sh kernels_share_epilogues
mutant columns_of_the_first_block gen/emit/print_rows.c 'column_block = blockIdx.x %% %s;"' \
    'column_block = blockIdx.x %% %s / 2;"' $oracle_row mobilenet fp64 default
mutant blocks_of_all_bodies_alike gen/emit/shared_bodies.c 'several != (plan' 'several == (plan' \
    tests/emit/run.sh blocks_share_bodies
mutant stride_of_the_first_argument gen/emit/print_terms.c 'own && !p->several_strides && ' 'own && ' \
    tests/emit/run.sh strides_say_whose
mutant index_of_another_layer gen/emit/tables.c 'cells[0]->number - n.number * step' \
    'cells[0]->number + n.number * step' tests/emit/run.sh rows_are_as_written_out
mutant uneven_indices_in_a_macro gen/emit/tables.c 'kind == CELL_INDEX &&' 'kind == CELL_NAME &&' build/unit/test_tables
mutant pasted_name_of_one_layer gen/emit/place_text.c '*rest ? "##" : ""' '""' tests/emit/run.sh rows_are_as_written_out
mutant series_cut_in_two gen/emit/blocks.c 'SERIES_COST = 10' 'SERIES_COST = 0' build/unit/test_blocks
mutant functions_of_another_layer gen/emit/blocks.c '&& now - to ==' '|| now - to ==' build/unit/test_blocks
mutant section_named_after_first gen/pass/train_state.c '2 * l->most > l->end - s->first' 'false' \
    tests/emit/run.sh sections_are_named_after_most
mutant section_named_after_largest gen/pass/train_state.c '2 * l->most > l->end - s->first' 'true' \
    build/unit/test_pointers
mutant section_named_after_part gen/pass/train_state.c 'below && !is_in' 'below && !s && !is_in' build/unit/test_pointers
mutant rows_of_a_block_per_row gen/plan/kernels.c '(!block_per_row || k->workers)' '(block_per_row || k->workers)' \
    tests/emit/run.sh rows_are_read_where_passed
mutant kinds_at_one_address gen/emit/pointers.c '|| can_count(c, pointer, last)' '' build/unit/test_pointers
mutant number_of_another_round gen/emit/headings.c 'if (counted)' 'if (false)' build/unit/test_pointers
mutant number_beyond_its_series gen/emit/members.c \
    'return series_has_number(series, number)' 'return number == series->number' \
    build/unit/test_pointers
mutant results_by_old_names gen/pass/fuse_rope_grads.c 'return read ? read :' 'return false ? read :' \
    build/unit/test_fuse_rope_grads
mutant place_of_one_layer gen/emit/pointers.c '!pointer->listed && step == 0' 'false' \
    tests/emit/run.sh shared_places_have_no_number
mutant place_of_another_entry gen/emit/places.c 'series[i].entry == n->entry &&' 'series[i].entry &&' \
    tests/emit/run.sh shared_places_have_no_number
mutant function_not_cut_at_edge gen/emit/blocks.c '3 * before > 2 * part->count' '3 * before > 4 * part->count' \
    build/unit/test_blocks
mutant function_cut_in_halves gen/emit/blocks.c '3 * before > 2 * part->count' '3 * before > part->count' \
    build/unit/test_blocks
mutant rest_of_layer_joined gen/emit/blocks.c 'join_small(c, !whole)' 'join_small(c, false)' build/unit/test_blocks
mutant last_layer_once_more gen/emit/emit_entry.c 'number_at(called->pointers.index.count, called->times)' \
    'number_at(called->pointers.index.count, called->times - 1)' tests/emit/run.sh layers_share_functions
mutant functions_with_other_memory gen/emit/share_functions.c 'a->storage == b->storage &&' '' \
    tests/emit/run.sh entries_keep_their_memory
mutant function_of_one_entry_only gen/emit/share_functions.c 'if (first->shared || !same' 'if (first->shared || same' \
    tests/emit/run.sh layers_share_functions
mutant stored_sum_read_too_early gen/emit/stored.c '[p->holder[step]] < p->phase' \
    '[p->holder[step]] <= p->phase' tests/emit/run.sh sums_are_computed_once
mutant load_outside_the_window gen/graph/window_steps.c \
    'step_load_where(body, v, tap->row, tap->inside)' \
    'step_load_where(body, v, tap->row, -1)' build/unit/test_ops
mutant depthwise_gradient_of_forward_windows gen/graph/ops_depthwise.c \
    'int count = window_taps_back(' 'int count = window_taps(' build/unit/test_ops
mutant depthwise_taps_swapped gen/graph/ops_depthwise.c \
    'step_col_sum_at(body, op->out[0], i,' 'step_col_sum_at(body, op->out[0], count - 1 - i,' build/unit/test_ops
mutant padding_not_zero gen/graph/window_steps.c \
    'if (tap->inside < 0)' 'if (tap->inside >= 0)' build/unit/test_ops
mutant pool_windows_not_added gen/graph/ops_pool.c \
    'sum = sum < 0 ? part : step_binary(body, STEP_ADD, sum, part);' 'sum = part;' build/unit/test_ops
mutant pool_writes_left_alone gen/graph/ops_pool.c \
    'w->height % w->kernel == 0 && w->width % w->kernel == 0' 'true' $oracle cnn
mutant pool_number_of_another_pixel gen/graph/ops_pool.c 'step_store_at(body, op->out[0], taps[i].row, dx)' \
    'step_store_at(body, op->out[0], taps[count - 1 - i].row, dx)' build/unit/test_ops
mutant bias_of_a_result_that_others_read gen/pass/matmul_bias.c \
    '&& !is_read_elsewhere(uses->graph, product, op)' '&& (true || is_read_elsewhere(uses->graph, product, op))' \
    build/unit/test_matmul_bias
mutant bias_added_after_operands_changed gen/pass/matmul_bias.c \
    'bool may_wait = graph_may_move(uses->graph, product, op) &&' 'bool may_wait =' build/unit/test_matmul_bias
mutant algorithm_without_a_remedy runtime/device/gemm.c \
    'if (status == CUBLAS_STATUS_NOT_SUPPORTED)' 'if (status == CUBLAS_STATUS_NOT_INITIALIZED)' build/unit/test_gemm
mutant driver_of_a_device runtime/device/process_memory.c \
    'if (!take(&nvml.driver_version,' 'if (!device || !take(&nvml.driver_version,' build/unit/test_report
mutant repeated_logits_are_work gen/pass/chunk_head.c 'again->extra = true;' '' build/unit/test_predict
mutant pool_sum_of_other_gradients gen/pass/pool_first.c 'sum->in[0] = pool->in[1];' 'sum->in[0] = pool->in[0];' \
    tests/images/run.sh pool_first_changes_no_number
mutant pool_loses_nan gen/graph/ops_pool.c \
    'step_const_bool(body, true));' 'step_const_bool(body, false));' build/unit/test_ops_image
mutant batch_norm_variance_biased gen/graph/ops_batch_norm.c \
    'n > 1 ? (double)n / (double)(n - 1) : 1' 'n > 1 ? 1 : 0' build/unit/test_ops_image
mutant pull_of_exact_weights gen/graph/ops_gram.c \
    'mul(body, slope, stored)' 'mul(body, slope, of_dz)' build/unit/test_ops_image
mutant shift_of_one_number gen/graph/ops_gram.c \
    'step_select(body, is_low, low, zero)' 'step_select(body, is_low, sub(body, low, low), zero)' \
    build/unit/test_ops_image
mutant shift_of_exact_sums gen/graph/ops_gram.c \
    'step_col_sum(body, op->out[1], mul(body, sum, of_x));' \
    'step_col_sum(body, op->out[1], mul(body, sum, exact));' build/unit/test_ops_image
mutant batch_norm_gradient_without_variance gen/graph/ops_batch_norm.c \
    'int rest = step_fma(body, step_unary(body, STEP_NEG, d), slope, centered);' \
    'int rest = centered; (void)slope; (void)d;' build/unit/test_ops
mutant smoothing_without_gradient gen/graph/ops_loss.c \
    'double share = op->attr.label_smoothing;' 'double share = 0;' build/unit/test_ops
mutant relu6_without_six gen/graph/ops_pointwise.c \
    'int below = step_binary(body, STEP_LT, y, step_const(body, 6));' \
    'int below = step_const_bool(body, true);' build/unit/test_ops
mutant nesterov_left_out gen/graph/ops_optimizer.c \
    'if (!op->attr.nesterov)' 'if (true)' build/unit/test_optimizer
mutant sgd_decay_left_out gen/graph/ops_optimizer.c \
    'g = step_binary(body, STEP_ADD, g, decay);' '(void)decay;' build/unit/test_optimizer
mutant pixels_not_at_their_centres gen/graph/ops_image.c \
    'int half = step_const(body, 0.5)' 'int half = step_const(body, 0)' build/unit/test_ops_image
mutant mirrored_not_mirrored gen/graph/ops_image.c \
    'STEP_EQ, flip, whole(body, 1))' 'STEP_EQ, flip, whole(body, 2))' build/unit/test_ops_image
mutant host_mirrors_nothing runtime/data/data_resize.c \
    'size, box->mirrored}' 'size, false}' tests/images/run.sh host_and_device_decode_agree
mutant crops_the_same_in_every_epoch runtime/data/data_images.c \
    '(uint64_t)at.epoch)' '0)' $oracle cnn_crops
mutant held_out_crop_off_centre gen/spec/image_check.c \
    'crop.left = cut_before(crop.width - size);' 'crop.left = 0;' $oracle cnn_crops
mutant second_buffer_of_backward gen/emit/names.c \
    'if (rival && !use.forward)' 'if (rival && !use.forward && before > 0)' tests/golden/run.sh
mutant second_part_of_backward gen/emit/places.c \
    'is_elsewhere(n, v) || is_backwards_own(' 'is_elsewhere(n, v) && is_backwards_own(' tests/golden/run.sh
mutant point_scales_from_its_replicas gen/spec/sweep.c \
    'if (i < nsets || !replicas)' 'if (i < nsets || replicas)' tests/emit/run.sh scaling_of_a_point
mutant point_scales_with_keys_in_vain gen/spec/sweep.c \
    'if (!point) /*' 'if (study) /*' tests/emit/run.sh scaling_of_a_point
mutant remedy_not_tried gen/remedy.c \
    '(double)bytes <= most' '(double)bytes <= most * 1e9' tests/error/run.sh
mutant remedy_that_fits_comes_later gen/remedy.c \
    'fits || (!best.remedy' '(!best.remedy' tests/error/run.sh
mutant pictures_of_some_scans_smoothed_nowhere runtime/data/data_coefficients.c \
    'if (m->component[c].rest[k] != 0)' 'if (m->component[c].rest[k] < -1)' build/unit/test_picture_slots
mutant tables_of_later_scans_in_all runtime/data/data_coefficients.c \
    'return !m->scanned && read_tables(m, body, length);' 'return read_tables(m, body, length);' \
    build/unit/test_picture_slots
mutant overflowing_coefficients_sent runtime/data/data_coefficients.c \
    'MOST = 8191' 'MOST = 1 << 30' tests/sim/test_template_run.sh pictures
mutant more_taps_than_weights runtime/data/data_coefficients.c \
    '+ 1 <= SLOT_TAPS' '<= SLOT_TAPS' build/unit/test_picture_slots
mutant large_losses_cut_off runtime/report/report.c \
    'format, values[i]) > COLUMN)' 'format, values[i]) < 0)' build/unit/test_report
mutant adapter_for_a_program_without_one runtime/loop/options.c \
    '&& !program->checkpoint.adapter_json' '&& !program' tests/runtime/run.sh options
mutant slots_larger_than_the_key_can_be runtime/data/data_coefficients.c \
    'if (pixels <= MOST_JPEG_PIXELS)' 'if (pixels)' tests/images/run.sh no_vain_advice_about_slots
mutant red_green_and_blue_as_luma runtime/data/data_coefficients.c \
    '(colorspace == TJCS_YCBCR || colorspace == TJCS_GRAY)' 'true' build/unit/test_picture_slots
mutant lines_below_the_picture_sent runtime/data/data_coefficients.c \
    'if (component >= head->planes || row >= blocks_down(head, component))' \
    'if (component >= head->planes)' build/unit/test_picture_slots
mutant crops_of_pictures_in_stored_size runtime/data/data_images.c \
    'shape.height = shape.width = shape.out_size;' 'shape.skip_broken = false;' tests/images/run.sh crops_of_whole_pictures_by_the_device
mutant padding_shows_the_last_picture runtime/data/data_images.c \
    'memcpy(to, &empty, sizeof empty);' '(void)to, (void)empty;' build/unit/test_picture_slots
mutant chroma_rounded_up_twice gen/templates/pictures.cu \
    '(col % 2 ? 7 : 8)' '8' tests/sim/test_template_run.sh pictures
mutant narrow_chroma_interpolated gen/templates/pictures.cu \
    'across == 2 && down <= 2 && at.width > 2' 'across == 2 && down <= 2' tests/sim/test_template_run.sh pictures
mutant lines_of_samples_not_limited gen/templates/pictures.cu \
    'return min(max(shifted, -32768), 32767);' 'return shifted;' tests/sim/test_template_run.sh pictures
mutant neighbours_of_the_part_left_out gen/templates/pictures.cu \
    'end = (8 * block + 9) * size' 'end = (8 * block + 8) * size' tests/sim/test_template_run.sh pictures
mutant planes_half_made gen/templates/pictures.cu \
    'if (block * 64 < SAMPLES)' 'if (at.used)' tests/sim/test_template_run.sh pictures
mutant dumped_pixels_in_rows runtime/loop/dump.c \
    'pixels->shape[0] = batch;' '(void)batch;' tests/images/run.sh the_device_makes_the_hosts_pixels
mutant crops_not_mirrored gen/templates/pictures.cu \
    'head.mirrored ? WIDTH - 1 - place : place' 'place' tests/sim/test_template_run.sh pictures
mutant large_files_get_no_slot gen/spec/image_check.c \
    'smaller(4 * stored, MOST)' 'smaller(stored, MOST)' build/unit/test_image_models
mutant slots_without_room_for_crops gen/model/image_settings.c \
    'larger(stored, size * size);' 'larger(stored, 0 * size);' build/unit/test_image_models
mutant cut_from_nothing gen/spec/image_check.c \
    '(spec->data.jpeg_pixels > 0 ||' '(true ||' tests/error/run.sh
mutant shrunk_by_half_a_triangle runtime/data/data_fit.c \
    'fmax(center - radius + 0.5, 0)' 'fmax(center - 0.5, 0)' build/unit/test_image_folder
mutant enlarged_without_a_neighbour runtime/data/data_fit.c \
    'radius = fmax(scale, 1)' 'radius = scale' build/unit/test_image_folder
mutant interlaced_read_in_one_pass runtime/data/data_decode.c \
    'int passes = pngs.passes(reader);' 'int passes = pngs.passes(reader) > 0;' \
    build/unit/test_image_folder
mutant jpeg_of_unnamed_subsampling_refused runtime/data/data_decode.c \
    'if (failed && !read)' 'if (failed)' build/unit/test_image_folder
mutant report_of_another_run_taken_as_own runtime/loop/train.c \
    'report_is_of_state(rt, rt->state_crc32)' 'report_last_step(rt) == step' \
    tests/runtime/run.sh resume_next_to_results_of_another_run
mutant checkpoint_set_aside runtime/checkpoint/checkpoint.c \
    'path, RENAME_EXCHANGE) == 0)' 'path, RENAME_NOREPLACE) == 0)' tests/runtime/run.sh replaced_checkpoint
mutant broken_pictures_not_counted runtime/data/data_folder.c \
    'if (skipped++ < TOLD)' 'if (skipped < TOLD)' tests/images/run.sh broken_picture_left_out

mutant device_said_by_each_program runtime/scripts/run.sh \
    'export GPUOPT_DEVICE_SAID=1' ':' tests/study/bases.sh device_is_said_once
mutant device_said_again runtime/device/device.c \
    'launched_rank() == 0 && !getenv("GPUOPT_DEVICE_SAID")' 'launched_rank() == 0' \
    tests/runtime/run.sh no_silent_simulation
mutant spec_without_its_folder gen/spec/toml.c \
    'arena_printf(arena, "specs/%s", name),' '"", ' tests/emit/run.sh likely_specs_are_named
mutant keys_of_which_table gen/spec/keys.c \
    'if (!is_table(name, length))' 'if (name)' tests/error/run.sh
mutant tables_called_unknown gen/spec/keys.c \
    'if (is_table(name, strlen(name))) {' 'if (false) {' tests/error/run.sh
mutant rows_of_pairs_counted_once gen/spec/check_tensor.c \
    'rows = spec_micro_batch_tokens(spec);' \
    'rows = spec->training.seq_len * spec->training.per_device_train_batch_size;' tests/dist/run.sh pairs_odd
mutant longer_rows_than_positions gen/spec/check_tensor.c \
    'above <= spec->model.max_position_embeddings' 'true' tests/error/run.sh
mutant nearest_rows_not_in_chunks gen/spec/check_tensor.c \
    'row_remedy(arena, spec, degree * chunks)),' 'row_remedy(arena, spec, degree)),' tests/error/run.sh
mutant cut_pairs_called_samples runtime/report/report.c \
    'data->pairs ? "pairs cut" : "samples cut"' '"samples cut"' build/unit/test_report
mutant speed_up_beside_no_card gen/plan/print_plan.c \
    'plan->alone_fits ? ""' 'true ? ""' tests/study/run.sh
mutant speed_up_beside_who_recomputes gen/plan/print_plan.c \
    'plan->alone_recomputes ? "' 'false ? "' tests/study/run.sh
mutant evaluation_profiled runtime/loop/train.c \
    '    window_pause(rt, window);
    evaluate(rt, NULL);' '    evaluate(rt, NULL);' tests/runtime/run.sh profiling_pauses
mutant checkpoint_profiled runtime/loop/train.c \
    '    window_pause(rt, window);
    profile_range_push("checkpoint");' '    profile_range_push("checkpoint");' tests/runtime/run.sh profiling_pauses
mutant window_of_another_run_left runtime/report/report.c \
    '    trace_remove(rt);' '' tests/runtime/run.sh profiling_without_a_window
mutant tied_parameters_counted_twice runtime/params/param_count.c \
    'if (strcmp(list->items[i].name, name) == 0)' 'if (name == NULL)' tests/dist/run.sh stages_tied
mutant wait_of_one_call gen/study/compare_runs.c 'count * IDLE_MS' '(count > 0) * IDLE_MS' tests/study/run.sh
mutant window_beside_a_longer_one gen/study/compared_figures.h \
    '{"kernels.ms", LAUNCHES, NULL, "ms", SUM_OF_WINDOW}' '{"kernels.ms", LAUNCHES, NULL, "ms", ONE_STEP}' \
    tests/study/run.sh
mutant peak_flops_of_another_rate gen/study/predicted.c \
    'peak_flops[program_rate(plan->program)]' 'peak_flops[0]' tests/emit/run.sh table_has_figures_of_a_step
mutant resumed_run_without_a_note gen/study/compare_runs.c \
    '0 : row->figures[first].most' '0 : 0' build/unit/test_print_study
mutant large_figures_written_out gen/study/chart.c \
    'whole && fabs(value) < LARGE_FIGURE ?' 'whole ?' build/unit/test_print_study
mutant median_overflows gen/study/compare_runs.c \
    'values[(count - 1) / 2] / 2 + values[count / 2] / 2' '(values[(count - 1) / 2] + values[count / 2]) / 2' \
    build/unit/test_print_study
mutant label_cut_within_a_character gen/study/chart.c \
    '((unsigned char)text[size] & 0xc0) == 0x80' 'text[size] == 0' build/unit/test_print_study
mutant interrupted_point_begins_anew runtime/scripts/study.sh \
    'resume=--resume' 'resume=' tests/study/run.sh
mutant crashed_point_goes_on runtime/scripts/study.sh '29|30|31|37' '29|3[0-9]|37' tests/study/run.sh
mutant resume_warns_of_any_key runtime/checkpoint/checkpoint_meta.c \
    '.recipe_sha256 = program->recipe_sha256' '.recipe_sha256 = program->spec_sha256' build/unit/test_checkpoint
mutant foreign_model_replaced runtime/checkpoint/export.c \
    'bool ours = state != NULL;' 'bool ours = true;' build/unit/test_checkpoint
mutant merged_record_is_its_own runtime/checkpoint/export.c \
    'if (rt->step > 0 || !adapter)' 'if (true)' tests/runtime/repeat.sh merge
mutant older_program_says_nothing runtime/loop/main.c \
    'spec_sha256) != 0)' 'spec_sha256) == 0)' tests/runtime/run.sh names_newer_sources
mutant messages_are_no_conversation runtime/data/data_jsonl.c \
    'bool found = json_object_get(object, "messages") != NULL;' 'bool found = false;' build/unit/test_jsonl
mutant finished_base_trains_again runtime/scripts/run.sh \
    '[ "$learnt" -ge "${planned:-0}" ] || ' '' tests/study/bases.sh finished_base_stays
mutant adapter_tensors_unread runtime/params/first_values.c \
    'if (s->adapter)' 'if (false)' tests/runtime/repeat.sh excess_in_files
mutant more_than_a_stage_refused runtime/params/weights.c \
    '    comm_sum_i64(rt, readers,' '    if (!count) comm_sum_i64(rt, readers,' tests/dist/run.sh stages_lora
mutant biases_of_the_model_unread runtime/params/weights.c \
    'if (weight && readers' 'if (!weight && readers' tests/runtime/repeat.sh excess_in_files
mutant adapter_of_another_base runtime/params/weights.c \
    'how && others[i]; i++' '0; i++' tests/runtime/repeat.sh excess_in_files
mutant other_held_out_data_unseen runtime/data/data_tokens.c \
    'rows_fingerprint(hash, &set->rows[split])' 'rows_fingerprint(hash, &set->rows[LOADER_TRAIN])' build/unit/test_data
mutant base_of_another_seed runtime/scripts/run.sh \
    'differs "$(recorded "$2" seed)" "$seed"' 'false' tests/study/run.sh
mutant last_bytes_not_hashed runtime/data/data_hash.c \
    '(size - block) * i / (BLOCKS - 1)' '(size - block) / BLOCKS * i' tests/study/run.sh
mutant unread_product_again gen/graph/ops_pointwise.c \
    'if (!backward_needs(b, gate)) {' 'if (false) {' build/unit/test_recompute
mutant logs_of_two_checks tests/check.sh 'if ! flock -n 9; then' 'if false; then' tests/lint/self.sh
mutant preludes_of_other_values gen/emit/fill_template.c \
    'filled && equal(after(word, equals + 1), filled->value)' 'filled' build/unit/test_preludes
mutant bodies_of_other_kernels gen/emit/fill_template.c \
    'return !strcmp(k->template_name, file) && equal(word, k->template_kernel);' \
    'return word.text && k && file;' build/unit/test_preludes
mutant bodies_of_other_templates gen/emit/fill_template.c \
    'return !strcmp(k->template_name, file) && equal' 'return file && equal' build/unit/test_preludes
mutant preludes_of_a_file_twice gen/emit/fill_template.c \
    'if (!strcmp(p->names[i], name))' 'if (0)' build/unit/test_preludes
mutant lint_always_passes tests/lint/run.sh \
    '[ ! -s "$broken" ]' 'true' tests/lint/self.sh

# ---- used only by several ranks ----

mutant targets_of_one_rank runtime/data/data.c \
    'cards_of(loader) * loader->ranks;' 'cards_of(loader);' tests/dist/run.sh unequal_targets
mutant targets_of_one_card runtime/data/data.c \
    'cards_of(loader) * loader->ranks;' 'loader->ranks;' tests/dist/run.sh cards
mutant replicas_do_not_wait runtime/step/cards.c \
    'CU(StreamWaitEvent, compute(card), cards->ready, 0);' '' tests/dist/run.sh cards_any_order
mutant collects_too_early runtime/step/cards.c \
    'CU(StreamWaitEvent, compute(rt), cards->at[i].done, 0);' ';' tests/dist/run.sh cards
mutant buffers_change_while_copied runtime/step/cards.c \
    'CU(StreamWaitEvent, compute(rt), cards->at[i].replicated, 0);' ';' \
    tests/dist/run.sh cards_batch_norm
mutant gradients_of_replicas_left_out gen/pass/dp.c \
    'sum = add_to(d, sum, parts[c]);' '(void)add_to;' tests/dist/run.sh cards
mutant weights_sent_once gen/pass/dp.c 'case ROLE_ADAPTER:' '' tests/dist/run.sh cards
mutant dropout_the_same_on_all_ranks runtime/data/data.c \
    'number % step_batches(loader) *' 'which.index % t->micro_steps *' tests/dist/run.sh three
mutant loss_not_summed gen/pass/ddp.c \
    'Value *run = value_join(p, p->train.gradient, p->counters.step_loss, "gradient_and_loss");' \
    'Value *run = p->train.gradient;' tests/dist/run.sh three
mutant norm_of_one_piece gen/pass/shard.c \
    'op->in[0] = summed(s, op->in[0], GROUP_SHARD, "grad_norm.squared.sum");' '(void)op;' \
    tests/dist/run.sh sharded
mutant pieces_of_one_replica gen/pass/shard.c \
    'summed(s, part, GROUP_REPLICATE, name_in(s, section, "all_reduce"));' '(void)part;' \
    tests/dist/run.sh sharded_replicas
mutant pieces_of_one_part runtime/params/param_pieces.c \
    'mesh_first(rt->program, param->pieces | param->shard, rank)' \
    'mesh_first(rt->program, param->pieces, rank)' tests/dist/run.sh sharded_parts
mutant sums_over_gradients gen/pass/train_state.c 'return ahead / TRAIN_COLS;' 'return 0;' \
    tests/dist/run.sh sharded_states_late
mutant backward_of_the_loss_alone gen/pass/mark_backward.c \
    'note_made(&m, op->out[k]);' 'if (!op) note_made(&m, op->out[k]);' tests/golden/run.sh
mutant sums_over_gradients_to_come gen/pass/overlap_sums.c 'behind[i] < behind[i - 1]' 'false' \
    tests/dist/run.sh sharded_parts
mutant sums_over_gradients_that_are_read gen/pass/overlap_sums.c \
    'graph_last(graph, op_uses_part' 'graph_last(graph, op_writes_part' \
    tests/dist/run.sh sharded_batch_norm
mutant sections_before_their_gradients gen/emit/emit_entry.c \
    'for (int w = 0; w < launch->wait_count; w++)' 'for (int w = 0; w < 0; w++)' \
    tests/dist/run.sh sharded_states_late
mutant step_before_its_weights gen/emit/emit_entry.c \
    'for (int w = 0; w < e->entry->wait_count; w++) {' 'for (int w = 0; w < 0; w++) {' \
    tests/dist/run.sh sharded_states_late
mutant gaps_of_other_sums gen/pass/shard.c 'if (s->p->micro_steps == 1)' 'if (false)' \
    tests/dist/run.sh sharded_states_late
mutant stream_begins_too_soon gen/plan/streams.c \
    'launch->forks = needed[STREAM_COMPUTE] < 0' 'launch->forks = needed[STREAM_COMPUTE] < -1' \
    build/unit/test_streams
mutant side_stream_reads_too_soon gen/emit/emit_entry.c \
    'for (int w = 0; w < launch->wait_count; w++)' 'for (int w = 0; w < 0; w++)' \
    tests/runtime/repeat.sh without_side_stream
mutant side_stream_ends_late gen/emit/emit_entry.c \
    'for (int w = 0; w < e->entry->wait_count; w++) {' 'for (int w = 0; w < 0; w++) {' \
    tests/runtime/repeat.sh without_side_stream
mutant side_stream_ends_last gen/plan/side_stream.c 'best = last, best_ms = ms;' 'best_ms = ms;' \
    build/unit/test_side_stream
mutant asks_too_late gen/plan/skeleton.c 'round_up(ITERATIONS_AHEAD, in_turn) *' 'in_turn / in_turn *' \
    build/unit/test_kernels
mutant asks_where_windows_do_not_overlap gen/plan/skeleton.c '!k->rows || !windows_overlap(k->body)' '!k->rows' \
    build/unit/test_kernels
mutant foremost_taps_move_one_line gen/graph/window_steps.c ': w->stride * w->width' ': w->width' \
    build/unit/test_kernels
mutant asks_for_the_same_row gen/plan/skeleton.c '/ s->per * s->moves' '/ s->per' build/unit/test_kernels
mutant an_odd_row_is_left_out gen/plan/skeleton.c 'k->shares_rows && k->rows % SHARING_ROWS == 0' 'k->shares_rows' \
    build/unit/test_kernels
mutant two_rows_share_little gen/plan/skeleton.c 'MUCH_SHARED * (loaded' '0 * (loaded' \
    build/unit/test_kernels
mutant two_rows_spill gen/plan/skeleton.c 'SHARING_ROWS * loaded <=' '0 * loaded <=' build/unit/test_kernels
mutant two_rows_leave_few_blocks gen/plan/skeleton.c 'threads >= (int64_t)' 'threads >= 0 * (int64_t)' \
    build/unit/test_kernels
mutant blocks_of_one_row gen/plan/skeleton.c 'rows / k->thread_rows * k->body->cols' 'rows * k->body->cols' \
    build/unit/test_kernels
mutant shared_steps_count_twice gen/plan/issued.c \
    'return shared ? times_done(c, i) / c->kernel->thread_rows' 'return shared ? times_done(c, i)' \
    build/unit/test_kernels
mutant shared_loads_count_twice gen/plan/issued.c 'times_loaded_in_rows(c, i) / k->thread_rows' \
    'times_loaded_in_rows(c, i)' tests/sim/generated.sh
mutant second_row_of_others gen/emit/print_body.c 'p->body->rows / k->thread_rows * p->body->cols' \
    '(p->body->rows / k->thread_rows - 1) * p->body->cols' tests/sim/generated.sh
mutant slides_to_the_next_line gen/graph/window_steps.c 'width % 4 == 0 ? 3' 'width % 2 == 0 ? 3' \
    build/unit/test_kernels
mutant slides_the_wrong_way gen/graph/window_steps.c 'win->padding, -1, spare' 'win->padding, 1, spare' \
    build/unit/test_kernels
mutant keeps_all_spare_loads gen/plan/fuse.c 's->place <= other->place + places' \
    's->place <= other->place + places + MOST_SPARE' build/unit/test_kernels
mutant threads_beyond_the_row_load gen/plan/skeleton.c 'skeleton_exact(k) && skeleton_chunks' 'skeleton_chunks' \
    tests/sim/flavours.sh --one short_runs depthwise fp32 odd_channels
mutant idle_turns gen/plan/skeleton.c '16 * each < 15 * round_up(each, turn)' '16 * each < 0 * turn' build/unit/test_kernels
mutant one_place_too_far gen/emit/print_steps.c 'first = leftmost(p, i), place =' \
    'first = leftmost(p, i), place = steps[i].spare +' tests/runtime/repeat.sh rows_of_a_thread_once
mutant shares_rows_always gen/plan/kernels.c '.shares_rows = plan->spec->compile.thread_rows' '.shares_rows = true' \
    tests/runtime/repeat.sh rows_of_a_thread_once
mutant few_rows_few_workers gen/plan/skeleton.c 'least > 2 * parts && rows' 'least < 0 && rows' \
    build/unit/test_kernels
mutant long_rows_beside_others gen/plan/skeleton.c 'if (skeleton_is_alone(k))' 'if (false)' build/unit/test_kernels
mutant long_rows_are_kept gen/plan/predict.c 'fmax(bytes - kept, 0)' '0 * kept' build/unit/test_predict
mutant beside_idle_multiprocessors gen/plan/timeline.c 'fmin(1, left / occupied)' 'left / occupied' \
    build/unit/test_streams
mutant last_wave_is_free gen/devices/occupancy.c 'return ceil(grid.count / device->multiprocessors);' \
    'return grid.count / device->multiprocessors;' build/unit/test_device
mutant first_round_counts_twice gen/devices/occupancy.c '(rounds(device, grid) - 1)' 'rounds(device, grid)' \
    build/unit/test_device
mutant scores_made_again_are_work gen/graph/ops_attention.c \
    'return 2 * flops_attention(op);' 'return 2.5 * flops_attention(op);' build/unit/test_predict
mutant made_again_is_work gen/graph/op_table.c 'op->phase == PHASE_RECOMPUTE' 'false' build/unit/test_predict
mutant filters_back_are_no_work gen/graph/ops_depthwise.c \
    'return flops_of_windows(op, op->in[0]);' 'return 0 * flops_of_windows(op, op->in[0]);' build/unit/test_predict
mutant copies_hidden_all_the_same gen/plan/predict.c \
    'plan->spec->compile.overlap);' 'true);' build/unit/test_predict
mutant launches_of_graphs_unsaid gen/plan/figures.c \
    'return plan->step.ms > waits_ms + plan->device_ms;' \
    'return plan->step.ms > waits_ms + plan->device_ms && plan->copying_ms > plan->launching_ms;' \
    build/unit/test_predict
mutant more_exposed_than_exchanged gen/plan/predict.c 'fmin(waited, all)' 'waited' build/unit/test_side_stream
mutant exposed_beside_the_host gen/plan/figures.c \
    'plan->device_ms - plan->exposed_ms;' 'plan->device_ms - 0 * plan->exposed_ms;' build/unit/test_predict
mutant decoded_weights_pass_memory gen/plan/least.c \
    'return readers > 0 || part_read_by_body(least, op, v);' \
    'return readers > 0 && part_read_by_body(least, op, v);' build/unit/test_predict
mutant decoded_weights_read_from_memory gen/plan/least.c \
    'return fmin(bytes / (double)value_bytes(v), 1);' 'return 0 * bytes;' build/unit/test_predict
mutant whole_table_written gen/plan/least.c \
    'if (needs_memory && !goes_by_ids(op, v))' 'if (needs_memory)' build/unit/test_predict
mutant memory_of_one_rank_unsaid gen/plan/print_plan.c 'GROUP_WORLD) == 1 ? plan_groups' 'GROUP_WORLD) == 0 ? plan_groups' \
    build/unit/test_predict
mutant saved_by_one_of_two_streams gen/plan/print_plan.c 'return fmin(side, others);' 'return side;' \
    build/unit/test_side_stream
mutant rest_of_scratch_has_the_workspaces gen/plan/figures.c \
    'plan->arena_bytes[ARENA_SCRATCH] - workspaces - plan->peak.bytes' \
    'plan->arena_bytes[ARENA_SCRATCH] - 0 * workspaces - plan->peak.bytes' \
    tests/emit/run.sh parts_of_scratch_add_up
mutant side_stream_takes_nothing gen/plan/side_stream.c \
    'plan->beside_bytes = plan_total_bytes(plan) - arenas;' '(void)arenas;' build/unit/test_side_stream
mutant late_keys_of_variants_told gen/spec/late_keys.c \
    '&& !spec->origin[late->key].inherited' '' build/unit/test_sweep
mutant late_keys_of_some_points_told gen/spec/late_keys.c 'if (told == count)' 'if (told > 0)' \
    build/unit/test_sweep
mutant decay_that_never_comes gen/spec/late_keys.c 'spec->lr_scheduler.step_size, warmup,' \
    'spec->lr_scheduler.step_size, 0,' build/unit/test_sweep
mutant short_trials_told gen/spec/spec_read.c \
    'spec_effective(spec, key) && !spec_is_late(spec, key);' 'spec_effective(spec, key);' build/unit/test_sweep
mutant first_of_a_set_only gen/spec/key_value.c '        at = end;' '        at = "}" + 0 * (end - set);' \
    build/unit/test_spec
mutant momentum_is_a_moment gen/pass/train_state.c 'adamw ? "exp_avg" : "momentum_buffer"' '"exp_avg"' \
    tests/emit/run.sh optimizers_have_torchs_names
mutant base_with_collectives gen/study/compare_runs.c \
    'return values_differ(row->keys[k], "none");' 'return values_differ(row->keys[k], row->keys[k]);' \
    build/unit/test_print_study
mutant plans_called_measured gen/study/predicted.c '.predicted = true};' '.predicted = false};' tests/study/run.sh
mutant kernels_without_grids gen/plan/predict.c '.count = (double)launch->grid[0]' '.count = 0 * (double)launch->grid[0]' \
    build/unit/test_predict
mutant one_workspace_for_two_streams gen/plan/plan.c \
    'stream == STREAM_SIDE ? plan' 'stream < 0 ? plan' build/unit/test_side_stream
mutant bucket_before_its_gradients gen/emit/emit_entry.c \
    'for (int w = 0; w < launch->wait_count; w++)' 'for (int w = 0; w < 0; w++)' \
    tests/dist/run.sh late_streams
mutant update_before_its_sums gen/emit/emit_entry.c \
    'for (int w = 0; w < e->entry->wait_count; w++) {' 'for (int w = 0; w < 0; w++) {' \
    tests/dist/run.sh late_streams
mutant bucket_waits_for_nothing gen/plan/streams.c \
    'waiting->wait[waiting->wait_count++] = given_last' 'waiting->wait[0] = given_last' build/unit/test_streams
mutant entry_ends_too_soon gen/plan/streams.c \
    'entry->wait[entry->wait_count++] = last[s];' 'entry->wait[0] = last[s];' build/unit/test_streams
mutant summed_in_every_micro_step gen/pass/overlap_sums.c \
    'op->ends_step = p->micro_steps > 1;' 'op->ends_step = p->micro_steps < 0;' tests/dist/run.sh unequal_targets
mutant buffers_of_each_rank gen/pass/share_buffers.c 'if (!run)' 'if (true)' tests/dist/run.sh batch_norm
mutant dropout_of_another_ranks_columns gen/graph/ops_pointwise.c \
    'step_extent(body, body->cols * parts, name)' 'step_extent(body, body->cols + 0 * parts, name)' \
    tests/dist/run.sh tensor_lora
mutant partial_gradients_stay_partial gen/pass/optimizer.c \
    'if (!kind->partial)' 'if (kind->partial)' tests/dist/run.sh tensor_lora
mutant smaller_region_is_split gen/pass/tensor_regions.c \
    'region->made > (found ? found->made : 0)' '!found' build/unit/test_tensor
mutant linear_split_both_ways gen/pass/tensor_regions.c \
    'made->open &= read != region;' '(void)made;' build/unit/test_tensor
mutant linear_split_both_ways_before gen/pass/tensor_regions.c \
    'read->open &= made != region;' '(void)read;' build/unit/test_tensor
mutant residual_around_a_linear_is_split gen/pass/tensor_regions.c \
    'if (product && id_of(r, op->in[0]) == id_of(r, op->out[0]))' 'if (false)' build/unit/test_tensor
mutant whole_rows_are_split gen/pass/tensor_regions.c \
    'if (!apart || !use_maker(r->uses, op->in[i]))' 'if (apart && !use_maker(r->uses, op->in[i]))' build/unit/test_tensor
mutant input_is_split gen/pass/tensor_regions.c \
    'if (!apart || !use_maker(r->uses, op->in[i]))' 'if (!apart)' build/unit/test_tensor
mutant filters_split_along_another_axis gen/emit/emit_values.c \
    'while (at < MAX_RANK - 1 && p->split[p->order[at]] == 1)' 'while (at < 0)' tests/dist/run.sh tensor_images
mutant sum_is_not_read gen/pass/tensor.c \
    'Value *whole = held->share == ADDENDS ? sum_of(s, x) : x;' 'Value *whole = x;' build/unit/test_tensor
mutant keys_of_no_degree gen/pass/tensor.c \
    's->fate[i].split && group_of(s, s->graph->ops[i]) == GROUP_TENSOR' 's->fate[i].split' build/unit/test_tensor
mutant input_is_spread gen/pass/tensor.c '!held->spread && x->role == ROLE_INPUT' 'false && x->role == ROLE_INPUT' \
    build/unit/test_tensor
mutant residual_is_read_spread gen/pass/tensor.c \
    'source_of(s, op->in[0]) == source_of(s, op->in[1])' 'source_of(s, op->in[0]) != NULL' build/unit/test_tensor
mutant float_scale_of_one_rank gen/graph/ops_float8.c \
    'absmax = i ? step_binary(body, STEP_MAX, absmax, one) : one;' 'absmax = i ? absmax : one;' \
    tests/dist/run.sh tensor_floats
mutant float_scale_gradient_of_one_rank gen/graph/ops_float8.c \
    'OP_all_reduce, own->out, 1, (Attr){.group = op->attr.group}' 'OP_cast, own->out, 1, (Attr){0}' \
    tests/dist/run.sh tensor_floats
mutant float_weight_scaled_alone gen/pass/qat.c \
    'dense, w->name, sharers(r, w), out' 'dense, w->name, 0, out' tests/dist/run.sh tensor_floats
mutant keys_not_summed gen/pass/tensor_parts.c \
    'param->partial = GROUP_TENSOR & ~group;' 'param->partial = 0;' tests/dist/run.sh tensor_same_keys
mutant norm_of_one_part gen/pass/optimizer.c \
    'return first->shard ? sum_over(p, graph, sum, first->shard, "grad_norm.sharded.sum", pos) : sum;' \
    'return sum;' \
    tests/dist/run.sh tensor_lora
mutant first_part_on_all_ranks runtime/params/param_shard.c \
    'runs.bytes * (size_t)mesh_group_rank(rt->program, param->shard, rt->rank)' '0' build/unit/test_params
mutant pieces_read_whole runtime/params/params.c 'pieces_range(rt, param, &first, &end);' '(void)first;' \
    tests/dist/run.sh sharded_reads
mutant labels_of_all_words gen/graph/ops_loss.c \
    'return step_hinted(body, step_binary(body, STEP_SUB, labels, first), "own_label");' \
    'return first < 0 ? first : labels;' \
    tests/dist/run.sh tensor_pretrain
mutant norm_sees_its_rows_alone gen/pass/sequence_parallel.c \
    'program_param(r->program, op->in[i])->partial = GROUP_TENSOR;' '(void)r;' \
    tests/dist/run.sh tensor_rows_pretrain
mutant thirds_of_one_run runtime/params/param_shard.c \
    'return param->shard_runs ? param->shard_runs : 1;' 'return param->shard_runs * 0 + 1;' build/unit/test_params
mutant codes_in_the_files_order runtime/params/param_order.c \
    'turned.shape[i] = param->shape[param->order[i]];' '(void)0;' build/unit/test_packed
mutant parts_in_the_files_order runtime/params/param_order.c \
    'turned.shard_axis = i;' '(void)0;' tests/dist/run.sh tensor_gpt2_codes_in_files
mutant groups_of_a_stage_alone gen/plan/collectives.c 'GROUP_TENSOR, GROUP_KEYS,' 'GROUP_TENSOR,' \
    tests/dist/run.sh stages_of_keys
mutant bias_of_rows_by_the_sum gen/pass/sequence_parallel.c \
    'case OP_add_bias:
        return 1;' 'case OP_add_bias:
        return 2;' tests/dist/run.sh tensor_gpt2_lora
mutant blocks_of_other_thirds gen/pass/quantize.c \
    'param->shard_runs ? param->shard_runs : 1;' '1;' tests/dist/run.sh tensor_gpt2_few_bits
mutant one_run_of_rows_again gen/pass/chunk_rows.c 'chunk * rows, rows, name' '0 * chunk, rows, name' \
    tests/dist/run.sh tensor_chunks
mutant attention_of_all_rows gen/graph/op_table.c '|| op->attr.transpose_a)' \
    '|| op->attr.transpose_a || op->kind == OP_attention)' build/unit/test_tensor
mutant chunks_are_kept gen/pass/chunk_rows.c 'link->last->written = op->written;' '' build/unit/test_tensor
mutant sums_ahead_of_the_last_run gen/pass/chunk_rows.c 'if (chunk == 0)' 'if (chunk == 1)' \
    build/unit/test_tensor
mutant parameters_of_columns_whole gen/pass/tensor.c \
    'shard_axis(s, op, op->in[i], op->in[i]->rank - 1);' '(void)0;' build/unit/test_tensor
mutant filters_of_channels_whole gen/graph/ops.h \
    'OP(depthwise_conv2d, SK | COLUMNS(2)' 'OP(depthwise_conv2d, SK | COLUMNS(1)' build/unit/test_tensor
mutant odd_widths_unchecked gen/pass/tensor.c \
    'if (s->fate[i].split && width % ranks)' 'if (s->fate[i].split && width % ranks && !op)' \
    tests/dist/run.sh tensor_images_refused
mutant degrees_of_the_last_width gen/pass/tensor.c \
    'all = common_divisor(value_cols(s->graph->ops[i]->out[0]), all);' 'all = value_cols(s->graph->ops[i]->out[0]);' \
    tests/dist/run.sh tensor_images_refused
mutant alone_without_pairs gen/pass/tensor.c \
    'alone = mesh_ranks(&p->mesh, GROUP_TENSOR) == 1;' 'alone = mesh_ranks(&p->mesh, GROUP_TENSOR) < 1;' \
    tests/dist/run.sh tensor_images_refused
mutant gathered_into_a_border gen/graph/uses.c \
    'if (is_exchanged(uses, view))' \
    'if (is_exchanged(uses, view) && v->id < 0)' build/unit/test_join_linears
mutant other_recipe_is_resumed runtime/scripts/run.sh '[ -n "$how" ] || return 0' 'return 0' \
    tests/study/bases.sh another_recipe_starts_over
mutant other_data_are_resumed runtime/checkpoint/checkpoint_meta.c \
    'meta->data_sha256 && meta->data_sha256[0]' 'false' tests/study/bases.sh other_data_start_over

mutant graph_without_collectives runtime/step/capture.c \
    '    if (exec)
        tell_watchdog(&work);
' '    if (!exec)
        tell_watchdog(&work);
' tests/runtime/ranks.sh stops_in_stage_3
mutant collectives_since_the_start runtime/base/watch.c \
    'watch.pending = 0;' '' tests/runtime/ranks.sh stopped_rank
mutant only_first_kind_of_collectives runtime/base/watch.c \
    'kinds &= ~(1u << kind);' 'kinds = 0;' tests/runtime/ranks.sh stops_in_stage_3
mutant eager_without_collectives runtime/comm/comm_nccl.c \
    '        watch_enqueued(kind);' '        (void)kind;' tests/runtime/ranks.sh stops_in_collectives
mutant killed_rank_unnoticed runtime/base/watch.c \
    'if (error == EOWNERDEAD && !post->leaving)' 'if (post->reported)' tests/runtime/ranks.sh killed_in_pipeline
mutant nccl_not_asked runtime/comm/comm_nccl.c \
    'return text ? words : NULL;' 'return NULL;' tests/runtime/ranks.sh broken_link
mutant leaving_rank_is_lost runtime/base/watch.c \
    '    post_leaving();
    pthread_mutex_unlock' '    pthread_mutex_unlock' tests/runtime/ranks.sh bad_file_of_a_rank
mutant each_waiting_rank_says_so runtime/base/watch.c \
    'if (watch.post_count > 0 && atomic_exchange(&watch.posts->late, true))' 'if (watch.post_count < 0)' \
    tests/runtime/ranks.sh stopped_rank
mutant stopped_rank_waits_too runtime/base/watch.c \
    'post->waiting && responds(post, now)' 'post->waiting && now > 0' tests/runtime/ranks.sh stopped_rank
mutant same_error_of_each_rank runtime/base/watch.c \
    'said = said || strncmp' 'said = said && strncmp' tests/runtime/ranks.sh errors_said_once
mutant one_error_of_all_ranks runtime/base/watch.c \
    'error, sizeof mine->error - 1) == 0' 'error, 3) == 0' tests/runtime/ranks.sh errors_said_once
mutant same_error_of_each_sibling runtime/base/siblings.c \
    'if (take_name(error))' 'if (take_name(error) || error)' tests/runtime/ranks.sh errors_said_once
mutant one_error_of_all_siblings runtime/base/siblings.c \
    'crc32_add(0, error, strlen(error))' 'crc32_add(0, error, 3)' tests/runtime/ranks.sh errors_said_once
mutant suspended_rank_gives_up runtime/base/watch.c \
    'now - mine->alive_ms > watch.limit_ms / 2' 'now < mine->alive_ms' tests/runtime/ranks.sh all_stopped_for_a_while
mutant layout_of_other_ranks runtime/comm/mesh.c \
    'degrees[REPLICAS] /= degrees[i];' '' tests/runtime/ranks.sh nearest_layouts
mutant one_layout_only runtime/comm/mesh.c \
    'if (fit(own, ranks, degrees))' 'if (fit(own, ranks, degrees) || text[0])' tests/runtime/ranks.sh nearest_layouts
mutant layout_of_make_run runtime/comm/layouts.awk \
    'left /= fitted' 'left /= 1' tests/runtime/ranks.sh nearest_layouts
mutant versions_not_compared runtime/comm/comm.c \
    '    comm_agree(rt, "the program'"'"'s generator", rt->program->generator, build);
' '' tests/runtime/ranks.sh ranks_that_differ
mutant tensors_not_compared runtime/comm/comm.c \
    '    agree_in(rt, RT_WORLD & ~RT_PIPELINE, "the table of tensors", text, build);
' '' tests/runtime/ranks.sh ranks_that_differ

exit $missed
