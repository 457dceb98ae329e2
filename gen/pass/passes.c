/* The list of passes, in order. */
#include "pass/pass.h"

#include <string.h>

const Pass pass_list[] = {
    /* Techniques rewrite the forward graphs before there are gradients. */
    {"lora", pass_lora, STAGE_SEMANTIC},
    {"dora", pass_dora, STAGE_SEMANTIC},
    {"modules_to_save", pass_modules_to_save, STAGE_SEMANTIC},
    {"pool_first", pass_pool_first, STAGE_SEMANTIC},
    /* After the adapter's ops exist, because the reference leaves them out. */
    {"dpo", pass_dpo, STAGE_SEMANTIC},
    /* Before any pass that depends on the size of trained tensors. */
    {"tensor", pass_tensor, STAGE_SEMANTIC},
    /* Once it is known which columns of each row a rank has. */
    {"qat", pass_qat, STAGE_SEMANTIC},
    /* Only the loss decides which rows of the head are needed. */
    {"skip_rows", pass_skip_rows, STAGE_SEMANTIC},
    {"vocab_parallel", pass_vocab_parallel, STAGE_SEMANTIC},
    {"sequence_parallel", pass_sequence_parallel, STAGE_SEMANTIC},
    /* Cuts forward, so that later passes see only one stage of it. */
    {"pipeline", pass_pipeline, STAGE_SEMANTIC},
    /* It is settled what trains: it gets masters, gradients and moments, each one run of memory. */
    {"train_state", pass_train_state, STAGE_SEMANTIC},
    {"merge", pass_merge, STAGE_SEMANTIC},
    {"autodiff", pass_autodiff, STAGE_SEMANTIC},
    {"pool_sums", pass_pool_sums, STAGE_SEMANTIC},
    {"optimizer", pass_optimizer, STAGE_SEMANTIC},
    {"loss_scale", pass_loss_scale, STAGE_SEMANTIC},
    {"ddp", pass_ddp, STAGE_SEMANTIC},
    {"shard", pass_shard, STAGE_SEMANTIC},
    {"shard_frozen", pass_shard_frozen, STAGE_SEMANTIC},
    {"dora_norms", pass_dora_norms, STAGE_SEMANTIC},
    {"sync_batch_norm", pass_sync_batch_norm, STAGE_SEMANTIC},
    {"share_buffers", pass_share_buffers, STAGE_SEMANTIC},
    {"pipeline_sums", pass_pipeline_sums, STAGE_SEMANTIC},
    /* These rearrange existing ops, in forward and backward together. */
    {"bordered", pass_bordered, STAGE_SEMANTIC},
    {"join_linears", pass_join_linears, STAGE_SEMANTIC},
    {"join_gradients", pass_join_gradients, STAGE_SEMANTIC},
    {"join_ropes", pass_join_ropes, STAGE_SEMANTIC},
    {"chunk_head", pass_chunk_head, STAGE_SEMANTIC},
    {"lower", pass_lower, STAGE_KERNEL},
    /* Once all gradients have their final places. */
    {"scatter_gradients", pass_scatter_gradients, STAGE_KERNEL},
    {"overlap_sums", pass_overlap_sums, STAGE_KERNEL},
    /* Once weights have their places: quantised ones are decoded where a product reads them. */
    {"quantize", pass_quantize, STAGE_KERNEL},
    {"shard_codes", pass_shard_codes, STAGE_KERNEL},
    /* Once everything to copy between cards is known: borders, and what refreshes them. */
    {"dp", pass_dp, STAGE_KERNEL},
    /* After quantize, so that a weight is decoded once for all runs of rows. */
    {"chunk_rows", pass_chunk_rows, STAGE_KERNEL},
    {"mark_backward", pass_mark_backward, STAGE_KERNEL},
    /* After all passes that match forward and backward as they were written. With mode auto,
     * compile.c repeats it with what the plan has found. */
    {"recompute", pass_recompute, STAGE_KERNEL},
    {"split_entries", pass_split_entries, STAGE_KERNEL},
    /* Once weights have their final places and evaluate is complete. */
    {"qat_export", pass_qat_export, STAGE_KERNEL},
    {"gather_weights", pass_gather_weights, STAGE_KERNEL},
    {"qat_delay", pass_qat_delay, STAGE_KERNEL},
};
const int pass_count = sizeof pass_list / sizeof *pass_list;

static void check_dump(const char *dump) {
    if (!strcmp(dump, "model"))
        return;
    for (int i = 0; i < pass_count; i++)
        if (!strcmp(dump, pass_list[i].name))
            return;
    StrBuf names = {0};
    for (int i = 0; i < pass_count; i++)
        sb_printf(&names, ", %s", pass_list[i].name);
    user_error((Pos){0}, "give --dump one of the names above",
               "there is no pass \"%s\"; the passes are model%s", dump, names.text);
}

void passes_run(Program *p, const Spec *spec, const char *dump, StrBuf *text) {
    if (dump)
        check_dump(dump);
    program_verify(p, STAGE_SEMANTIC, "model");
    if (dump && !strcmp(dump, "model"))
        program_print(p, text);
    for (int i = 0; i < pass_count; i++) {
        if (pass_list[i].run(p, spec))
            program_verify(p, pass_list[i].leaves, pass_list[i].name);
        if (dump && !strcmp(dump, pass_list[i].name))
            program_print(p, text);
    }
}
