/* Passes: rewrites of a Program, run in the order of passes.c and verified after each.
 * Each file has one rewrite; its head comment says what it requires and what it leaves behind. A
 * pass returns false if it rewrote nothing; the program is then not verified again. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "graph/graph.h"
#include "spec/spec.h"

typedef struct {
    const char *name; /* for --dump */
    bool (*run)(Program *, const Spec *);
    Stage leaves; /* the program's stage afterwards */
    void (*undo)(Program *); /* of passes after recompute: puts back what is not in entries; NULL:
                              * nothing, or what the next run replaces */
} Pass;

extern const Pass pass_list[];
extern const int pass_count;

/* Runs all passes. Prints the program after the pass called `dump`, if not NULL, into `text`. */
void passes_run(Program *, const Spec *, const char *dump, StrBuf *text);
/* A finished plan may ask for more recomputation: the passes after `recompute` are then undone, and run
 * again on the changed program. */
void passes_undo_after_recompute(Program *);
void passes_run_after_recompute(Program *, const Spec *);

bool pass_lora(Program *, const Spec *);
bool pass_dora(Program *, const Spec *);
bool pass_modules_to_save(Program *, const Spec *);
bool pass_qat(Program *, const Spec *);
bool pass_pool_first(Program *, const Spec *);
bool pass_pool_sums(Program *, const Spec *);
bool pass_dpo(Program *, const Spec *);
bool pass_tensor(Program *, const Spec *);
bool pass_skip_rows(Program *, const Spec *);
bool pass_vocab_parallel(Program *, const Spec *);
bool pass_sequence_parallel(Program *, const Spec *);
bool pass_pipeline(Program *, const Spec *);
bool pass_train_state(Program *, const Spec *);
bool pass_merge(Program *, const Spec *);
bool pass_autodiff(Program *, const Spec *);
bool pass_optimizer(Program *, const Spec *);
bool pass_dora_norms(Program *, const Spec *);
bool pass_loss_scale(Program *, const Spec *);
bool pass_ddp(Program *, const Spec *);
bool pass_sync_batch_norm(Program *, const Spec *);
bool pass_share_buffers(Program *, const Spec *);
bool pass_pipeline_sums(Program *, const Spec *);
bool pass_shard(Program *, const Spec *);
bool pass_shard_frozen(Program *, const Spec *);
bool pass_bordered(Program *, const Spec *);
bool pass_join_linears(Program *, const Spec *);
bool pass_join_gradients(Program *, const Spec *);
bool pass_join_ropes(Program *, const Spec *);
bool pass_chunk_head(Program *, const Spec *);
bool pass_lower(Program *, const Spec *);
bool pass_overlap_sums(Program *, const Spec *);
bool pass_scatter_gradients(Program *, const Spec *);
bool pass_chunk_rows(Program *, const Spec *);
bool pass_dp(Program *, const Spec *);
bool pass_quantize(Program *, const Spec *);
bool pass_shard_codes(Program *, const Spec *);
bool pass_mark_backward(Program *, const Spec *);
bool pass_low_rank_grads(Program *, const Spec *);
bool pass_low_rank_matmul(Program *, const Spec *);
bool pass_read_sources(Program *, const Spec *);
bool pass_low_rank_grad_a(Program *, const Spec *);
bool pass_in_place(Program *, const Spec *);
bool pass_fuse_rope_grads(Program *, const Spec *);
bool pass_fuse_relu_grads(Program *, const Spec *);
bool pass_recompute(Program *, const Spec *);
bool pass_gather_weights(Program *, const Spec *);
bool pass_split_entries(Program *, const Spec *);
bool pass_optimizer_in_backward(Program *, const Spec *);
bool pass_qat_delay(Program *, const Spec *);
bool pass_qat_export(Program *, const Spec *);

/* Undoes what pass_split_entries has done to roles, if anything. */
void unstash_values(Program *);

#endif
