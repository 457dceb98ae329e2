/* Batch norm over all ranks' batches (torch.nn.SyncBatchNorm), as one card with all of them
 * computes it.
 *
 * Requires forward and backward as autodiff left them. A channel's two sums over a rank's rows,
 * both for the statistics and in backward, become sums over all ranks' rows by one all_reduce. The
 * gradients of weight and bias stay the rank's own, because they are summed with all other
 * gradients. */
#include "pass/pass.h"

typedef struct {
    Program *program;
    Graph *graph;
    int64_t ranks;
} Sync;

static Value *channels(Sync *s, Value *both, int64_t first, const char *name) {
    int64_t width = value_elements(both) / 2;
    return value_at(s->program, both, first * width, 1, &width, name);
}

/* Appends the all_reduce of `both`, whose halves become operands `in` and `in` + 1 of `reader`. */
static void add_reduce(Sync *s, Value *both, const char *name, Op *reader, int in) {
    Program *p = s->program;
    const Op *op = op_add_in_place(p, s->graph, OP_all_reduce, name, both, name,
                                   (Attr){.group = GROUP_DATA}, reader->pos);
    for (int i = 0; i < 2; i++)
        reader->in[in + i] = channels(s, op->out[0], i, reader->in[in + i]->name);
    reader->attr.rows *= s->ranks;
}

/* Goes before the statistics; their sums become one value. */
static void sync_stats(Sync *s, Op *stats) {
    const char *name = arena_printf(s->program->arena, "%s.all_ranks", stats->name);
    add_reduce(s, value_join(s->program, stats->in[0], stats->in[1], name), name, stats, 0);
}

/* Goes before the gradient of x; reduces copies of its sums, which are gradients too. */
static void sync_grad(Sync *s, Op *grad) {
    enum { DOT = 4 };
    Program *p = s->program;
    const char *name = arena_printf(p->arena, "%s.all_ranks", grad->name);
    Value *dot = grad->in[DOT];
    Value *both =
        value_1d(p, name, ROLE_ACTIVATION, dot->dtype, 2 * value_elements(dot), grad->pos);
    for (int i = 0; i < 2; i++) {
        Value *copy = channels(s, both, i, grad->in[DOT + i]->name);
        op_add_into(p, s->graph, OP_cast, name, &grad->in[DOT + i], 1, &copy, 1, (Attr){0},
                    grad->pos);
    }
    add_reduce(s, both, name, grad, DOT);
}

bool pass_sync_batch_norm(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    Sync sync = {p, graph, mesh_ranks(&p->mesh, GROUP_DATA)};
    if (!spec->parallelism.sync_batch_norm || !mesh_has(&p->mesh, GROUP_DATA))
        return false;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (op->kind == OP_batch_norm_stats)
            sync_stats(&sync, op);
        if (op->kind == OP_batch_norm_grad)
            sync_grad(&sync, op);
        graph_add(p, graph, op);
    }
    return true;
}
