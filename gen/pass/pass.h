/* Passes: rewrites of a Program, run in the one order of passes.c, verified after each.
 * One rewrite a file; its head comment says what it requires and what it leaves behind. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "graph/graph.h"
#include "spec/spec.h"

typedef struct {
    const char *name; /* for --dump */
    void (*run)(Program *, const Spec *);
    Stage leaves; /* the stage that the program is at afterwards */
} Pass;

extern const Pass pass_list[];
extern const int pass_count;

/* Runs all passes; where `dump` names one, prints the program after it into `text`. */
void passes_run(Program *, const Spec *, const char *dump, StrBuf *text);

void pass_lora(Program *, const Spec *);
void pass_qat(Program *, const Spec *);
void pass_pool_first(Program *, const Spec *);
void pass_dpo(Program *, const Spec *);
void pass_tensor(Program *, const Spec *);
void pass_skip_rows(Program *, const Spec *);
void pass_vocab_parallel(Program *, const Spec *);
void pass_sequence_parallel(Program *, const Spec *);
void pass_pipeline(Program *, const Spec *);
void pass_train_state(Program *, const Spec *);
void pass_autodiff(Program *, const Spec *);
void pass_optimizer(Program *, const Spec *);
void pass_loss_scale(Program *, const Spec *);
void pass_ddp(Program *, const Spec *);
void pass_sync_batch_norm(Program *, const Spec *);
void pass_pipeline_sums(Program *, const Spec *);
void pass_shard(Program *, const Spec *);
void pass_shard_frozen(Program *, const Spec *);
void pass_bordered(Program *, const Spec *);
void pass_chunk_head(Program *, const Spec *);
void pass_lower(Program *, const Spec *);
void pass_overlap_reduce(Program *, const Spec *);
void pass_scatter_gradients(Program *, const Spec *);
void pass_dp(Program *, const Spec *);
void pass_quantize(Program *, const Spec *);
void pass_recompute(Program *, const Spec *);
void pass_gather_weights(Program *, const Spec *);
void pass_split_entries(Program *, const Spec *);

/* Undoes pass_gather_weights in micro_step, before recompute looks at it. */
void ungather_weights(Program *);
/* Undoes pass_split_entries, so that recompute finds micro_step whole. */
void join_entries(Program *);

#endif
