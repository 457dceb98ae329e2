/* The table of passes: one row per pass, in the order in which they run. (No include guard: included
 * once for each use of the rows.)
 *
 *   PASS(name, stage)                 pass_NAME() leaves the program in STAGE_ of that name
 *   PASS_WITH_UNDO(name, stage, undo) one after recompute: `undo` puts back what is not in entries
 *
 * A row also declares its functions. The pass is the file NAME.c, or in the file of the rewrite that
 * it belongs to. */
#ifndef PASS_WITH_UNDO
#define PASS_WITH_UNDO(name, stage, undo) PASS(name, stage)
#endif

/* Techniques rewrite the forward graphs before there are gradients. */
PASS(lora, SEMANTIC)
PASS(dora, SEMANTIC)
PASS(modules_to_save, SEMANTIC)
PASS(pool_first, SEMANTIC)
/* After the adapter's ops exist, because the reference leaves them out. */
PASS(dpo, SEMANTIC)
/* Before any pass that depends on the size of trained tensors. */
PASS(tensor, SEMANTIC)
/* Once it is known which columns of each row a rank has. */
PASS(qat, SEMANTIC)
/* Only the loss decides which rows of the head are needed. */
PASS(skip_rows, SEMANTIC)
PASS(vocab_parallel, SEMANTIC)
PASS(sequence_parallel, SEMANTIC)
/* Cuts forward, so that later passes see only one stage of it. */
PASS(pipeline, SEMANTIC)
/* It is settled what trains: it gets masters, gradients and moments, each one run of memory. */
PASS(train_state, SEMANTIC)
PASS(merge, SEMANTIC)
PASS(autodiff, SEMANTIC)
PASS(pool_sums, SEMANTIC)
PASS(optimizer, SEMANTIC)
PASS(loss_scale, SEMANTIC)
PASS(ddp, SEMANTIC)
PASS(shard, SEMANTIC)
PASS(shard_frozen, SEMANTIC)
PASS(dora_norms, SEMANTIC)
PASS(sync_batch_norm, SEMANTIC)
PASS(share_buffers, SEMANTIC)
PASS(pipeline_sums, SEMANTIC)
/* These rearrange existing ops, in forward and backward together. */
PASS(bordered, SEMANTIC)
PASS(join_linears, SEMANTIC)
PASS(join_gradients, SEMANTIC)
PASS(join_ropes, SEMANTIC)
PASS(gram_batch_norm, SEMANTIC)
PASS(chunk_head, SEMANTIC)
/* Once logits are as small as they get: their gradient takes their place. */
PASS(in_place, SEMANTIC)
PASS(lower, KERNEL)
/* Once all gradients have their final places. */
PASS(scatter_gradients, KERNEL)
PASS(overlap_sums, KERNEL)
/* Once weights have their places: quantised ones are decoded where a product reads them. */
PASS(quantize, KERNEL)
PASS(shard_codes, KERNEL)
/* Once everything to copy between cards is known: borders, and what refreshes them. */
PASS(dp, KERNEL)
/* After quantize, so that a weight is decoded once for all runs of rows. */
PASS(chunk_rows, KERNEL)
PASS(matmul_bias, KERNEL)
/* Once weights have their final places and evaluate is complete. */
PASS(qat_export, KERNEL)
PASS(mark_backward, KERNEL)
/* Once all products have their final shapes and places. */
PASS(low_rank_grads, KERNEL)
/* Decides what backward keeps for other ops than the gradients of A. */
PASS(read_sources, KERNEL)
PASS(low_rank_grad_a, KERNEL)
/* Once it is known what backward reads. */
PASS(low_rank_matmul, KERNEL)
/* Of the products that are left. */
PASS(narrow_linears, KERNEL)
PASS(fuse_rope_grads, KERNEL)
PASS(fuse_relu_grads, KERNEL)
PASS(relu_masks, KERNEL)
/* After all passes that match forward and backward as they were written. With mode auto,
 * compile.c repeats it, and the passes after it, with what the plan has found. */
PASS(recompute, KERNEL)
PASS_WITH_UNDO(split_entries, KERNEL, unstash_values)
PASS(gather_weights, KERNEL)
PASS(optimizer_in_backward, KERNEL)
PASS(qat_delay, KERNEL)
/* Whatever passes have left without a reader. */
PASS(drop_unread, KERNEL)

#undef PASS
#undef PASS_WITH_UNDO
