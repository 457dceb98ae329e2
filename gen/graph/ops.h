/* The table of ops: one row an op. (No include guard: included once for each use of the rows.)
 *
 *   OP(name, stages, shape, gradient, expand, flops)
 *
 * stages    S semantic graph, K after lower, SK both
 * shape     checks operands, makes results     gradient  appends the ops of the reverse rule
 * expand    the op as scalar steps, or NULL: a matrix product or a template serves it
 * flops     arithmetic of one execution, or NULL: none worth counting
 *
 * The rules of a row stand together in the family's file: ops_pointwise.c, ops_linear.c,
 * ops_norm.c, ops_attention.c, ops_embedding.c, ops_rows.c, ops_loss.c, ops_optimizer.c,
 * ops_loss_scale.c; for images ops_conv.c, ops_depthwise.c, ops_pool.c, ops_batch_norm.c,
 * ops_image.c. */

/* pointwise */
OP(add, SK, shape_pointwise, grad_add, expand_add, NULL)
OP(mul, SK, shape_pointwise, grad_mul, expand_mul, NULL)
OP(scale, SK, shape_pointwise, grad_scale, expand_scale, NULL)
OP(silu, SK, shape_pointwise, grad_silu, expand_silu, NULL)
OP(silu_grad, SK, shape_pointwise, NULL, expand_silu_grad, NULL)
OP(swiglu, SK, shape_pointwise, grad_swiglu, expand_swiglu, NULL)
OP(swiglu_grad, SK, shape_swiglu_grad, NULL, expand_swiglu_grad, NULL)
OP(relu, SK, shape_pointwise, grad_relu, expand_relu, NULL)
OP(relu_grad, SK, shape_pointwise, NULL, expand_relu_grad, NULL)
OP(relu6, SK, shape_pointwise, grad_relu6, expand_relu6, NULL)
OP(relu6_grad, SK, shape_pointwise, NULL, expand_relu6_grad, NULL)
OP(add_bias, SK, shape_add_bias, grad_add_bias, expand_add, NULL)
OP(column_sum, SK, shape_column_sum, NULL, expand_column_sum, NULL)
OP(dropout, SK, shape_dropout, grad_dropout, expand_dropout, NULL)
OP(cast, SK, shape_cast, grad_cast, expand_cast, NULL)
OP(zero, SK, shape_zero, NULL, NULL, NULL)
OP(reshape, S, shape_reshape, grad_reshape, NULL, NULL)

/* matrix products */
OP(linear, S, shape_linear, grad_linear, NULL, flops_linear)
OP(matmul, SK, shape_matmul, NULL, NULL, flops_matmul)

/* convolutions */
OP(conv2d, SK, shape_conv2d, grad_conv2d, NULL, flops_conv2d)
OP(conv2d_input_grad, SK, shape_conv2d_input_grad, NULL, NULL, flops_conv2d_input_grad)
OP(conv2d_weight_grad, SK, shape_conv2d_weight_grad, NULL, NULL, flops_conv2d_weight_grad)

/* norm */
OP(rms_norm, SK, shape_rms_norm, grad_rms_norm, expand_rms_norm, NULL)
OP(rms_norm_grad, SK, shape_rms_norm_grad, NULL, expand_rms_norm_grad, NULL)
OP(rms_norm_weight_grad, SK, shape_rms_norm_weight_grad, NULL, expand_rms_norm_weight_grad, NULL)

/* attention */
OP(rope_table, SK, shape_rope_table, NULL, expand_rope_table, NULL)
OP(rope, SK, shape_rope, grad_rope, expand_rope, NULL)
OP(rope_grad, SK, shape_rope, NULL, expand_rope_grad, NULL)
OP(attention, SK, shape_attention, grad_attention, NULL, flops_attention)
OP(attention_grad, SK, shape_attention_grad, NULL, NULL, flops_attention_grad)

/* depthwise convolution */
OP(depthwise_conv2d, SK, shape_depthwise_conv2d, grad_depthwise_conv2d, expand_depthwise_conv2d,
   flops_depthwise_conv2d)
OP(depthwise_conv2d_input_grad, SK, shape_depthwise_conv2d_input_grad, NULL,
   expand_depthwise_conv2d_input_grad, NULL)
OP(depthwise_conv2d_weight_grad, SK, shape_depthwise_conv2d_weight_grad, NULL,
   expand_depthwise_conv2d_weight_grad, NULL)

/* pooling */
OP(max_pool2d, SK, shape_max_pool2d, grad_max_pool2d, expand_max_pool2d, NULL)
OP(max_pool2d_grad, SK, shape_max_pool2d_grad, NULL, expand_max_pool2d_grad, NULL)
OP(global_avg_pool2d, SK, shape_global_avg_pool2d, grad_global_avg_pool2d, expand_global_avg_pool2d,
   NULL)
OP(global_avg_pool2d_grad, SK, shape_global_avg_pool2d_grad, NULL, expand_global_avg_pool2d_grad,
   NULL)

/* batch norm */
OP(batch_norm_sums, SK, shape_batch_norm_sums, NULL, expand_batch_norm_sums, NULL)
OP(batch_norm_stats, SK, shape_batch_norm_stats, NULL, expand_batch_norm_stats, NULL)
OP(batch_norm, SK, shape_batch_norm, grad_batch_norm, expand_batch_norm, NULL)
OP(batch_norm_grad_sums, SK, shape_batch_norm_grad_sums, NULL, expand_batch_norm_grad_sums, NULL)
OP(batch_norm_grad, SK, shape_batch_norm_grad, NULL, expand_batch_norm_grad, NULL)
OP(batch_norm_eval, SK, shape_batch_norm, NULL, expand_batch_norm_eval, NULL)

/* images */
OP(image_input, SK, shape_image_input, NULL, expand_image_input, NULL)

/* embedding */
OP(embedding, SK, shape_embedding, grad_embedding, expand_embedding, NULL)
OP(embedding_grad, SK, shape_embedding_grad, NULL, NULL, NULL)

/* rows */
OP(gather_rows, SK, shape_gather_rows, grad_gather_rows, expand_gather_rows, NULL)
OP(gather_labels, SK, shape_gather_labels, NULL, expand_gather_labels, NULL)

/* loss */
OP(cross_entropy, SK, shape_cross_entropy, grad_cross_entropy, expand_cross_entropy, NULL)
OP(cross_entropy_grad, SK, shape_cross_entropy_grad, NULL, expand_cross_entropy_grad, NULL)
OP(topk_hits, SK, shape_topk_hits, NULL, expand_topk_hits, NULL)
OP(sum, SK, shape_sum, grad_sum, expand_sum, NULL)

/* optimizer */
OP(sum_squares, SK, shape_sum_squares, NULL, expand_sum_squares, NULL)
OP(clip_factor, SK, shape_clip_factor, NULL, expand_clip_factor, NULL)
OP(adamw, SK, shape_adamw, NULL, expand_adamw, NULL)
OP(sgd, SK, shape_sgd, NULL, expand_sgd, NULL)
OP(advance_step, SK, shape_advance_step, NULL, expand_advance_step, NULL)
OP(update_scale, SK, shape_update_scale, NULL, expand_update_scale, NULL)
