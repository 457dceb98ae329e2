/* The list of passes, in order. */
#include "pass/pass.h"

#include <string.h>

#define PASS_WITH_UNDO(pass, stage, undoes)                                                        \
    {.name = #pass, .run = pass_##pass, .leaves = STAGE_##stage, .undo = undoes}
#define PASS(pass, stage) PASS_WITH_UNDO(pass, stage, NULL)

const Pass pass_list[] = {
    /* Techniques rewrite the forward graphs before there are gradients. */
    PASS(lora, SEMANTIC),
    PASS(dora, SEMANTIC),
    PASS(modules_to_save, SEMANTIC),
    PASS(pool_first, SEMANTIC),
    /* After the adapter's ops exist, because the reference leaves them out. */
    PASS(dpo, SEMANTIC),
    /* Before any pass that depends on the size of trained tensors. */
    PASS(tensor, SEMANTIC),
    /* Once it is known which columns of each row a rank has. */
    PASS(qat, SEMANTIC),
    /* Only the loss decides which rows of the head are needed. */
    PASS(skip_rows, SEMANTIC),
    PASS(vocab_parallel, SEMANTIC),
    PASS(sequence_parallel, SEMANTIC),
    /* Cuts forward, so that later passes see only one stage of it. */
    PASS(pipeline, SEMANTIC),
    /* It is settled what trains: it gets masters, gradients and moments, each one run of memory. */
    PASS(train_state, SEMANTIC),
    PASS(merge, SEMANTIC),
    PASS(autodiff, SEMANTIC),
    PASS(pool_sums, SEMANTIC),
    PASS(optimizer, SEMANTIC),
    PASS(loss_scale, SEMANTIC),
    PASS(ddp, SEMANTIC),
    PASS(shard, SEMANTIC),
    PASS(shard_frozen, SEMANTIC),
    PASS(dora_norms, SEMANTIC),
    PASS(sync_batch_norm, SEMANTIC),
    PASS(share_buffers, SEMANTIC),
    PASS(pipeline_sums, SEMANTIC),
    /* These rearrange existing ops, in forward and backward together. */
    PASS(bordered, SEMANTIC),
    PASS(join_linears, SEMANTIC),
    PASS(join_gradients, SEMANTIC),
    PASS(join_ropes, SEMANTIC),
    PASS(in_place, SEMANTIC),
    PASS(chunk_head, SEMANTIC),
    PASS(lower, KERNEL),
    /* Once all gradients have their final places. */
    PASS(scatter_gradients, KERNEL),
    PASS(overlap_sums, KERNEL),
    /* Once weights have their places: quantised ones are decoded where a product reads them. */
    PASS(quantize, KERNEL),
    PASS(shard_codes, KERNEL),
    /* Once everything to copy between cards is known: borders, and what refreshes them. */
    PASS(dp, KERNEL),
    /* After quantize, so that a weight is decoded once for all runs of rows. */
    PASS(chunk_rows, KERNEL),
    /* Once weights have their final places and evaluate is complete. */
    PASS(qat_export, KERNEL),
    PASS(mark_backward, KERNEL),
    /* Once all products have their final shapes and places. */
    PASS(low_rank_grads, KERNEL),
    /* Decides what backward keeps for other ops than the gradients of A. */
    PASS(read_sources, KERNEL),
    PASS(low_rank_grad_a, KERNEL),
    /* Once it is known what backward reads. */
    PASS(low_rank_matmul, KERNEL),
    PASS(fuse_rope_grads, KERNEL),
    PASS(fuse_relu_grads, KERNEL),
    /* After all passes that match forward and backward as they were written. With mode auto,
     * compile.c repeats it, and the passes after it, with what the plan has found. */
    PASS(recompute, KERNEL),
    PASS_WITH_UNDO(split_entries, KERNEL, unstash_values),
    PASS(gather_weights, KERNEL),
    PASS(optimizer_in_backward, KERNEL),
    PASS(qat_delay, KERNEL),
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

static const Pass *first_after_recompute(void) {
    const Pass *pass = pass_list;
    while (pass->run != pass_recompute)
        pass++;
    return pass + 1;
}

static void run_pass(const Pass *pass, Program *p, const Spec *spec) {
    if (pass == first_after_recompute())
        memcpy(p->undone, p->entry, sizeof p->undone);
    if (pass->run(p, spec))
        program_verify(p, pass->leaves, pass->name);
}

void passes_run(Program *p, const Spec *spec, const char *dump, StrBuf *text) {
    if (dump)
        check_dump(dump);
    program_verify(p, STAGE_SEMANTIC, "model");
    if (dump && !strcmp(dump, "model"))
        program_print(p, text);
    for (int i = 0; i < pass_count; i++) {
        run_pass(&pass_list[i], p, spec);
        if (dump && !strcmp(dump, pass_list[i].name))
            program_print(p, text);
    }
}

void passes_undo_after_recompute(Program *p) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        graph_set_ops(p, &p->entry[e], p->undone[e].ops, p->undone[e].op_count);
    for (const Pass *pass = first_after_recompute(); pass < pass_list + pass_count; pass++)
        if (pass->undo)
            pass->undo(p);
}

void passes_run_after_recompute(Program *p, const Spec *spec) {
    program_verify(p, STAGE_KERNEL, "recompute");
    for (const Pass *pass = first_after_recompute(); pass < pass_list + pass_count; pass++)
        run_pass(pass, p, spec);
}
