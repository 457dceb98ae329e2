/* The table of ops: one row per op. (No include guard: included once for each use of the rows.)
 *
 *   OP(name, traits, shape, gradient, expand, flops, launch)
 *   PROLOGUE_OP(name, traits, shape, gradient, expand, flops, launch, sharing)
 *   APPLIED_OP(name, traits, shape, gradient, expand, flops, launch, apply)
 *
 * traits    the stages in which the op is allowed: S semantic graph, K after lower, SK both; and
 *           ADDS, ONLY_ADDS, VIEW, EPILOGUE, COLLECTIVE, SINK, MOVES, AGAIN, DECODES, SAMPLES,
 *           WINDOWS, NAMES, EMBEDS, UPDATES, IN_PLACE, COLUMNS(n) and ROWS(operands), which
 *           op_table.h explains; IN0 is the first operand, FIRST(n) are the first n
 * shape     checks operands, makes results
 * gradient  appends the ops of its gradient        no_gradient  it has none
 * expand    writes the op as scalar steps          no_steps     its launch rule implements it
 * flops     the model's arithmetic in one execution: that of matrix products, convolutions and
 *           attention                              no_flops     all other ops
 * launch    appends its launches to the plan       no_launch    its steps suffice, or nothing runs
 * sharing   of an op with TRAIT_PROLOGUE: whether a prologue's kernel can serve all ops whose
 *           operands it makes                      no_sharing   it serves one, whatever makes that
 * apply     of an op over rows, the pointwise op that makes its first result again, from its operands
 *           and its other results, in this order
 *
 * Naming a rule here also declares it. The rules of a row are together in the file of the op's
 * family: ops_pointwise.c, ops_columns.c, ops_linear.c, ops_narrow.c, ops_norm.c, ops_attention.c,
 * ops_embedding.c, ops_rows.c, ops_loss.c, ops_pairs.c, ops_optimizer.c, ops_loss_scale.c,
 * ops_quantize.c, ops_weight_norm.c, ops_fake_quant.c, ops_float8.c, ops_collective.c; for images
 * ops_conv.c, ops_depthwise.c, ops_pool.c, ops_batch_norm.c, ops_gram.c, ops_image.c. Only launch
 * rules, which need the plan, are in plan/: gemms.c, collectives.c, launch_ops.c and, next to the
 * code that fills each template, *_kernels.c; so are their sharing rules. */
#ifndef PROLOGUE_OP
#define PROLOGUE_OP(name, traits, shape, gradient, expand, flops, launch, sharing) \
    OP(name, (traits) | TRAIT_PROLOGUE, shape, gradient, expand, flops, launch)
#endif
#ifndef APPLIED_OP
#define APPLIED_OP(name, traits, shape, gradient, expand, flops, launch, apply) \
    OP(name, traits, shape, gradient, expand, flops, launch)
#endif

/* pointwise */
OP(add, SK | ROWS(FIRST(2)) | COLUMNS(2), shape_binary, grad_add, expand_add, no_flops,
   no_launch)
OP(mul, SK | ROWS(FIRST(2)) | COLUMNS(2), shape_binary, grad_mul, expand_mul, no_flops,
   no_launch)
OP(scale, SK | ROWS(IN0) | COLUMNS(1), shape_unary, grad_scale, expand_scale, no_flops,
   no_launch)
OP(silu, SK | ROWS(IN0) | COLUMNS(1), shape_unary, grad_silu, expand_silu, no_flops, no_launch)
OP(silu_grad, SK | ROWS(FIRST(2)), shape_binary, no_gradient, expand_silu_grad, no_flops,
   no_launch)
OP(swiglu, SK | ROWS(FIRST(2)) | COLUMNS(2), shape_binary, grad_swiglu, expand_swiglu, no_flops,
   no_launch)
OP(swiglu_grad, SK | ROWS(FIRST(3)), shape_swiglu_grad, no_gradient, expand_swiglu_grad, no_flops,
   no_launch)
OP(relu, SK | ROWS(IN0) | COLUMNS(1), shape_unary, grad_relu, expand_relu, no_flops, no_launch)
OP(relu_grad, SK | ROWS(FIRST(2)), shape_binary, no_gradient, expand_relu_grad, no_flops,
   no_launch)
OP(relu_mask, K, shape_relu_mask, no_gradient, expand_relu_mask, no_flops, no_launch)
OP(relu_grad_masked, K, shape_relu_grad_masked, no_gradient, expand_relu_grad_masked, no_flops,
   no_launch)
OP(relu6, SK | COLUMNS(1), shape_unary, grad_relu6, expand_relu6, no_flops, no_launch)
OP(relu6_grad, SK, shape_binary, no_gradient, expand_relu6_grad, no_flops, no_launch)
OP(gelu_tanh, SK | ROWS(IN0) | COLUMNS(1), shape_unary, grad_gelu_tanh, expand_gelu_tanh,
   no_flops, no_launch)
OP(gelu_tanh_grad, SK | ROWS(FIRST(2)), shape_binary, no_gradient, expand_gelu_tanh_grad,
   no_flops, no_launch)
OP(add_bias, SK | ROWS(IN0) | COLUMNS(2), shape_add_bias, grad_add_bias, expand_add, no_flops,
   no_launch)
OP(column_sum, SK, shape_column_sum, no_gradient, expand_column_sum, no_flops, no_launch)
OP(dropout, SK | COLUMNS(1), shape_dropout, grad_dropout, expand_dropout, no_flops, no_launch)
OP(cast, SK | ROWS(IN0), shape_cast, grad_cast, expand_cast, no_flops, no_launch)
OP(zero, SK | NAMES, shape_zero, no_gradient, no_steps, no_flops, plan_zero)
OP(reshape, S | VIEW, shape_reshape, grad_reshape, no_steps, no_flops, no_launch)
OP(split_columns, S | VIEW | COLUMNS(1), shape_split_columns, grad_split_columns, no_steps,
   no_flops, no_launch)
OP(join_columns, S | VIEW, shape_join_columns, no_gradient, no_steps, no_flops, no_launch)

/* matrix products */
OP(linear, S | ADDS, shape_linear, grad_linear, no_steps, flops_linear, no_launch)
OP(matmul, SK | ADDS | ROWS(IN0 | IN2), shape_matmul, no_gradient, no_steps, flops_matmul,
   plan_gemm)
OP(matmul_bias, K, shape_matmul_bias, no_gradient, no_steps, flops_matmul, plan_gemm)
PROLOGUE_OP(low_rank_grads, K | ADDS, shape_low_rank_grads, no_gradient, no_steps,
            flops_low_rank_grads, plan_low_rank_grads, low_rank_grads_share)
PROLOGUE_OP(low_rank_grad_a, K | ADDS, shape_low_rank_grad_a, no_gradient, no_steps,
            flops_low_rank_grad_a, plan_low_rank_grads, low_rank_grads_share)
PROLOGUE_OP(low_rank_matmul, K | ROWS(IN0), shape_low_rank_matmul, no_gradient, no_steps,
            flops_linear, plan_low_rank_matmul, no_sharing)
OP(narrow_linear, K | ROWS(IN0), shape_narrow_linear, no_gradient, expand_narrow_linear,
   flops_linear, no_launch)
OP(narrow_linear_input_grad, K | ROWS(IN0), shape_narrow_linear_input_grad, no_gradient,
   expand_narrow_linear_input_grad, flops_matmul, no_launch)
OP(narrow_linear_weight_grad, K, shape_narrow_linear_weight_grad, no_gradient,
   expand_narrow_linear_weight_grad, flops_narrow_linear_weight_grad, no_launch)

/* convolutions */
OP(conv2d, SK | EPILOGUE, shape_conv2d, grad_conv2d, no_steps, flops_conv2d, plan_conv2d)
OP(conv2d_input_grad, SK | ADDS | EPILOGUE, shape_conv2d_input_grad, no_gradient, no_steps,
   flops_conv2d_input_grad, plan_conv2d)
OP(conv2d_weight_grad, SK | ADDS, shape_conv2d_weight_grad, no_gradient, no_steps,
   flops_conv2d_weight_grad, plan_conv2d_weight_grad)

/* norm */
APPLIED_OP(rms_norm, SK | ROWS(IN0), shape_rms_norm, grad_rms_norm, expand_rms_norm, no_flops,
           no_launch, rms_norm_apply)
OP(rms_norm_apply, K, shape_norm_apply, no_gradient, expand_rms_norm_apply, no_flops, no_launch)
OP(rms_norm_grad, SK | ROWS(IN0 | IN2 | IN3), shape_rms_norm_grad, no_gradient,
   expand_rms_norm_grad, no_flops, no_launch)
OP(rms_norm_weight_grad, SK, shape_rms_norm_weight_grad, no_gradient, expand_rms_norm_weight_grad,
   no_flops, no_launch)
APPLIED_OP(layer_norm, SK | ROWS(IN0), shape_layer_norm, grad_layer_norm, expand_layer_norm,
           no_flops, no_launch, layer_norm_apply)
OP(layer_norm_apply, K, shape_norm_apply, no_gradient, expand_layer_norm_apply, no_flops,
   no_launch)
OP(layer_norm_grad, SK | ROWS(IN0 | IN2 | IN3 | IN4), shape_layer_norm_grad, no_gradient,
   expand_layer_norm_grad, no_flops, no_launch)
OP(layer_norm_weight_grad, SK, shape_layer_norm_weight_grad, no_gradient,
   expand_layer_norm_weight_grad, no_flops, no_launch)

/* attention */
OP(rope_table, SK, shape_rope_table, no_gradient, expand_rope_table, no_flops, no_launch)
OP(rope, SK | ROWS(FIRST(2)) | IN_PLACE | COLUMNS(1), shape_rope, grad_rope, expand_rope, no_flops,
   no_launch)
OP(rope_grad, SK | ROWS(FIRST(2)), shape_rope, no_gradient, expand_rope_grad, no_flops, no_launch)
OP(attention, SK | SAMPLES | ROWS(FIRST(5)) | COLUMNS(3), shape_attention, grad_attention,
   no_steps, flops_attention, plan_attention)
OP(attention_grad, SK | SAMPLES | ROWS(FIRST(8)), shape_attention_grad, no_gradient, no_steps,
   flops_attention_grad, plan_attention_grad)

/* depthwise convolution */
OP(depthwise_conv2d, SK | COLUMNS(2), shape_depthwise_conv2d, grad_depthwise_conv2d,
   expand_depthwise_conv2d, flops_depthwise_conv2d, no_launch)
OP(depthwise_conv2d_input_grad, SK, shape_depthwise_conv2d_input_grad, no_gradient,
   expand_depthwise_conv2d_input_grad, flops_depthwise_conv2d_input_grad, no_launch)
OP(depthwise_conv2d_weight_grad, SK, shape_depthwise_conv2d_weight_grad, no_gradient,
   expand_depthwise_conv2d_weight_grad, flops_depthwise_conv2d_weight_grad, no_launch)

/* pooling */
OP(max_pool2d, SK | WINDOWS | COLUMNS(1), shape_max_pool2d, grad_max_pool2d, expand_max_pool2d,
   no_flops, no_launch)
OP(max_pool2d_grad, SK, shape_max_pool2d_grad, no_gradient, expand_max_pool2d_grad, no_flops,
   no_launch)
OP(global_avg_pool2d, SK | COLUMNS(1), shape_global_avg_pool2d, grad_global_avg_pool2d,
   expand_global_avg_pool2d, no_flops, no_launch)
OP(global_avg_pool2d_grad, SK, shape_global_avg_pool2d_grad, no_gradient,
   expand_global_avg_pool2d_grad, no_flops, no_launch)

/* batch norm */
OP(batch_norm_sums, SK | COLUMNS(2), shape_batch_norm_sums, no_gradient, expand_batch_norm_sums,
   no_flops, no_launch)
OP(batch_norm_stats, SK | COLUMNS(4), shape_batch_norm_stats, no_gradient,
   expand_batch_norm_stats, no_flops, no_launch)
OP(batch_norm, SK | COLUMNS(5), shape_batch_norm, grad_batch_norm, expand_batch_norm, no_flops,
   no_launch)
OP(batch_norm_grad_sums, SK, shape_batch_norm_grad_sums, no_gradient, expand_batch_norm_grad_sums,
   no_flops, no_launch)
OP(batch_norm_grad, SK, shape_batch_norm_grad, no_gradient, expand_batch_norm_grad, no_flops,
   no_launch)
OP(batch_norm_relu_grad_sums, K, shape_batch_norm_relu_grad_sums, no_gradient,
   expand_batch_norm_relu_grad_sums, no_flops, no_launch)
OP(batch_norm_relu_grad, K, shape_batch_norm_relu_grad, no_gradient, expand_batch_norm_relu_grad,
   no_flops, no_launch)
OP(batch_norm_relu6_grad_sums, K, shape_batch_norm_relu_grad_sums, no_gradient,
   expand_batch_norm_relu6_grad_sums, no_flops, no_launch)
OP(batch_norm_relu6_grad, K, shape_batch_norm_relu_grad, no_gradient, expand_batch_norm_relu6_grad,
   no_flops, no_launch)
OP(batch_norm_eval, SK | COLUMNS(5), shape_batch_norm, no_gradient, expand_batch_norm_eval,
   no_flops, no_launch)

/* batch norm of a linear's result, by products with the linear's input */
OP(ones_columns, SK, shape_ones_columns, no_gradient, expand_ones_columns, no_flops,
   no_launch)
OP(scatter_matrix, SK, shape_scatter_matrix, no_gradient, expand_scatter_matrix, no_flops,
   no_launch)
OP(linear_norm_stats, SK, shape_linear_norm_stats, no_gradient, expand_linear_norm_stats, no_flops,
   no_launch)
OP(linear_norm_grads, SK, shape_linear_norm_grads, no_gradient, expand_linear_norm_grads, no_flops,
   no_launch)
OP(linear_norm_of_x, SK, shape_linear_norm_of_x, no_gradient, expand_linear_norm_of_x, no_flops,
   no_launch)
OP(weighted_column_sum, SK, shape_weighted_column_sum, no_gradient, expand_weighted_column_sum,
   no_flops, no_launch)
OP(linear_norm_of_ones, SK, shape_linear_norm_of_ones, no_gradient, expand_linear_norm_of_ones,
   no_flops, no_launch)

/* images */
OP(image_input, SK, shape_image_input, no_gradient, expand_image_input, no_flops, no_launch)
OP(picture_planes, SK, shape_picture_planes, no_gradient, no_steps, no_flops, plan_picture_planes)
OP(picture_fit, SK, shape_picture_fit, no_gradient, no_steps, no_flops, plan_picture_fit)

/* embedding */
OP(embedding, SK | EMBEDS, shape_embedding, grad_embedding, expand_embedding, no_flops, no_launch)
OP(own_ids, SK, shape_own_ids, no_gradient, expand_own_ids, no_flops, no_launch)
OP(embedding_grad, SK | EMBEDS | ADDS | ONLY_ADDS, shape_embedding_grad, no_gradient, no_steps,
   no_flops, plan_embedding_grad)

/* rows */
OP(gather_rows, SK, shape_gather_rows, grad_gather_rows, expand_gather_rows, no_flops, no_launch)
OP(gather_labels, SK, shape_gather_labels, no_gradient, expand_gather_labels, no_flops, no_launch)

/* loss */
OP(cross_entropy, SK, shape_cross_entropy, grad_cross_entropy, expand_cross_entropy, no_flops,
   no_launch)
OP(cross_entropy_grad, SK | IN_PLACE, shape_cross_entropy_grad, no_gradient, expand_cross_entropy_grad,
   no_flops, no_launch)
OP(cross_entropy_part, K, shape_cross_entropy_part, no_gradient, expand_cross_entropy_part,
   no_flops, no_launch)
OP(cross_entropy_join, K, shape_cross_entropy_join, no_gradient, expand_cross_entropy_join,
   no_flops, no_launch)
OP(topk_hits, SK, shape_topk_hits, no_gradient, expand_topk_hits, no_flops, no_launch)
OP(sum, SK, shape_sum, grad_sum, expand_sum, no_flops, no_launch)

/* pairs of sequences */
OP(sequence_sum, SK, shape_sequence_sum, grad_sequence_sum, expand_sequence_sum, no_flops,
   no_launch)
OP(sequence_sum_grad, SK, shape_sequence_sum_grad, no_gradient, expand_sequence_sum_grad, no_flops,
   no_launch)
OP(target_count, SK, shape_target_count, no_gradient, expand_target_count, no_flops, no_launch)
OP(packed_sum, SK, shape_packed_sum, grad_packed_sum, expand_packed_sum, no_flops, no_launch)
OP(packed_sum_grad, SK, shape_packed_sum_grad, no_gradient, expand_packed_sum_grad, no_flops,
   no_launch)
OP(packed_count, SK, shape_packed_count, no_gradient, expand_packed_count, no_flops, no_launch)
OP(pair_loss, SK, shape_pair_loss, grad_pair_loss, expand_pair_loss, no_flops, no_launch)
OP(pair_loss_grad, SK, shape_pair_loss_grad, no_gradient, expand_pair_loss_grad, no_flops,
   no_launch)
OP(pair_metrics, SK, shape_pair_metrics, no_gradient, expand_pair_metrics, no_flops, no_launch)

/* optimizer */
OP(sum_squares, SK, shape_sum_squares, no_gradient, expand_sum_squares, no_flops, no_launch)
OP(clip_factor, SK, shape_clip_factor, no_gradient, expand_clip_factor, no_flops, no_launch)
OP(update_gate, SK, shape_update_gate, no_gradient, expand_update_gate, no_flops, no_launch)
OP(rates, SK, shape_rates, no_gradient, expand_rates, no_flops, no_launch)
OP(adamw, SK | UPDATES | ROWS(FIRST(4)), shape_adamw, no_gradient, expand_adamw, no_flops,
   no_launch)
OP(adamw_int8, SK | UPDATES | ROWS(FIRST(4) | IN8 | IN9), shape_adamw_int8, no_gradient,
   expand_adamw_int8, no_flops, no_launch)
OP(sgd, SK | UPDATES | ROWS(FIRST(2) | IN4), shape_sgd, no_gradient, expand_sgd, no_flops,
   no_launch)
OP(advance_step, SK, shape_advance_step, no_gradient, expand_advance_step, no_flops, no_launch)
OP(record_step, SK, shape_record_step, no_gradient, expand_record_step, no_flops, no_launch)
OP(update_scale, SK, shape_update_scale, no_gradient, expand_update_scale, no_flops, no_launch)

/* few-bit weights */
OP(fetch, SK | NAMES, shape_fetch, no_gradient, no_steps, no_flops, plan_fetch)
OP(block_absmax, SK, shape_block_absmax, no_gradient, expand_block_absmax, no_flops, no_launch)
OP(mean, SK, shape_mean, no_gradient, expand_mean, no_flops, no_launch)
OP(quantize_4bit, SK, shape_quantize_4bit, no_gradient, expand_quantize_4bit, no_flops, no_launch)
OP(quantize_absmax, SK, shape_quantize_absmax, no_gradient, expand_quantize_absmax, no_flops,
   no_launch)
OP(decode_4bit, SK | DECODES, shape_decode_4bit, no_gradient, expand_decode_4bit, no_flops,
   no_launch)
OP(quantize_rows, SK, shape_quantize_rows, no_gradient, expand_quantize_rows, no_flops, no_launch)
OP(decode_rows, SK | DECODES, shape_decode_rows, no_gradient, expand_decode_rows, no_flops,
   no_launch)

/* weights scaled by the norms of their rows */
OP(scale_columns, SK | COLUMNS(1), shape_scale_columns, grad_scale_columns, expand_scale_columns,
   no_flops, no_launch)
OP(scale_columns_weight_grad, SK, shape_scale_columns_weight_grad, no_gradient,
   expand_scale_columns_weight_grad, no_flops, no_launch)
OP(row_squares, SK, shape_row_squares, no_gradient, expand_row_squares, no_flops, no_launch)
OP(low_rank_norm, SK, shape_low_rank_norm, no_gradient, expand_low_rank_norm, no_flops, no_launch)
OP(where_finite, SK, shape_where_finite, no_gradient, expand_where_finite, no_flops, no_launch)
OP(rows_of_norm, SK, shape_rows_of_norm, no_gradient, expand_rows_of_norm, no_flops, no_launch)

/* values rounded to few bits */
OP(token_range, SK, shape_token_range, no_gradient, expand_token_range, no_flops, no_launch)
OP(fake_quant_tokens, SK | AGAIN, shape_fake_quant_tokens, grad_fake_quant_tokens,
   expand_fake_quant_tokens, no_flops, no_launch)
OP(fake_quant_tokens_grad, SK, shape_fake_quant_tokens_grad, no_gradient,
   expand_fake_quant_tokens_grad, no_flops, no_launch)
OP(fake_quant_weights, SK | AGAIN, shape_fake_quant_weights, grad_fake_quant_weights,
   expand_fake_quant_weights, no_flops, no_launch)
OP(fake_quant_float8, SK | AGAIN, shape_fake_quant_float8, grad_fake_quant_float8,
   expand_fake_quant_float8, no_flops, no_launch)
OP(float8_scale_sums, SK, shape_float8_scale_sums, no_gradient, expand_float8_scale_sums, no_flops,
   no_launch)
OP(fake_quant_float8_grad, SK, shape_fake_quant_float8_grad, no_gradient,
   expand_fake_quant_float8_grad, no_flops, no_launch)
OP(fake_quant_weights_grad, SK, shape_fake_quant_weights_grad, no_gradient,
   expand_fake_quant_weights_grad, no_flops, no_launch)

OP(quantize_groups, SK, shape_quantize_groups, no_gradient, expand_quantize_groups, no_flops,
   no_launch)
OP(decode_groups, SK, shape_decode_groups, no_gradient, expand_decode_groups, no_flops, no_launch)
OP(export, SK | SINK | NAMES, shape_export, no_gradient, no_steps, no_flops, plan_export)

/* collectives */
OP(all_reduce, SK | COLLECTIVE, shape_all_reduce, grad_all_reduce, no_steps, no_flops,
   plan_all_reduce)
OP(all_gather, SK | COLLECTIVE | ROWS(IN0), shape_all_gather, grad_all_gather, no_steps, no_flops,
   plan_all_gather)
OP(reduce_scatter, SK | COLLECTIVE | ROWS(IN0), shape_reduce_scatter, grad_reduce_scatter,
   no_steps, no_flops, plan_reduce_scatter)
OP(broadcast, SK | COLLECTIVE, shape_broadcast, no_gradient, no_steps, no_flops, plan_broadcast)
OP(own_rows, SK, shape_own_rows, no_gradient, expand_own_rows, no_flops, no_launch)
OP(peer_copy, K | MOVES, shape_peer_copy, no_gradient, no_steps, no_flops, plan_peer_copy)
OP(spread, S | VIEW, shape_spread, grad_spread, no_steps, no_flops, no_launch)

#undef PROLOGUE_OP
#undef APPLIED_OP
