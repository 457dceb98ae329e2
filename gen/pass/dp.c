/* Simple data parallelism, as in torch.nn.DataParallel: one process drives all cards, and the first
 * card has the optimizer.
 *
 * Requires lowered graphs. Before each micro-step, all other cards copy from the first what the
 * micro-step reads: parameters (also frozen ones) and buffers, as DataParallel's replicate does,
 * and the counters that update changes. Each card then works on a batch of its own, up to its
 * samples' losses and its gradients, and the first card collects both: it sums the losses, and adds
 * the gradients to its own. Norm, clipping and update run on the first card and see what one card
 * with all batches would.
 *
 * With several micro-steps, gradients are accumulated only on the first card: a micro-step leaves
 * those of its batch in a separate run. */
#include "pass/pass.h"

#include <string.h>

typedef struct {
    Program *program;
    Graph *step, *collect;
    Pos pos;
} Dp;

static void add_copy(Dp *d, Graph *graph, Value *from, Value *to, int64_t card, Purpose purpose) {
    Attr attr = {.card = card, .purpose = purpose};
    const char *name = arena_printf(d->program->arena, "%s.%s", from->name, purpose_name(purpose));
    op_add_into(d->program, graph, OP_peer_copy, name, &from, 1, &to, 1, attr, d->pos);
}

/* ---- replicate ------------------------------------------------------------------------------- */

static bool update_moves(Program *p, const Value *v) {
    const Graph *update = &p->entry[ENTRY_UPDATE];
    for (int i = 0; i < update->op_count; i++)
        if (op_writes_part(update->ops[i], v))
            return true;
    return false;
}

static bool comes_from_first(Program *p, const Value *v) {
    switch (v->role) {
    case ROLE_FROZEN:
    case ROLE_WEIGHT:
    case ROLE_ADAPTER:
    case ROLE_BUFFER:
    case ROLE_OPTIMIZER: /* a weight that is its own master */
        return true;
    case ROLE_COUNTER:
        return update_moves(p, v);
    default:
        return false;
    }
}

/* Copies the whole storage of v; of the masters, only what is read. */
static void add_broadcast(Dp *d, Graph *graph, Value *v) {
    bool part = v->role == ROLE_OPTIMIZER;
    for (int i = 0; i < graph->op_count; i++) {
        const Value *there = graph->ops[i]->in[0];
        if (there->storage == v->storage && (!part || value_same_place(there, v)))
            return;
    }
    Value *from = part ? v : value_whole(d->program, v->storage);
    add_copy(d, graph, from, value_alias(d->program, from, from->name), 0, FOR_BROADCAST);
}

static void build_replicate(Dp *d) {
    Program *p = d->program;
    for (int i = 0; i < d->step->op_count; i++)
        for (int k = 0; k < d->step->ops[i]->in_count; k++)
            if (comes_from_first(p, d->step->ops[i]->in[k]))
                add_broadcast(d, &p->entry[ENTRY_REPLICATE], d->step->ops[i]->in[k]);
}

/* ---- collect: losses and logits -------------------------------------------------------------- */

/* The rows of v of all cards, in the order of the cards. */
static Value *gather(Dp *d, Value *v) {
    Program *p = d->program;
    int64_t rows = value_rows(v);
    const char *name = arena_printf(p->arena, "%s.all", v->name);
    Value *all =
        value_2d(p, name, ROLE_ACTIVATION, v->dtype, p->cards * rows, value_cols(v), d->pos);
    value_set_role(v, ROLE_COUNTER); /* outlives its entry, so that another entry can read it */
    for (int64_t c = 0; c < p->cards; c++)
        add_copy(d, d->collect, v, value_row_range(p, all, c * rows, rows, name), c, FOR_GATHER);
    return all;
}

static void take_out(Dp *d, const Op *op) {
    const Graph old = graph_take(d->step);
    for (int i = 0; i < old.op_count; i++)
        if (old.ops[i] != op)
            graph_add(d->program, d->step, old.ops[i]);
}

static Op *reader_of(const Graph *graph, const Value *v) {
    for (int i = 0; i < graph->op_count; i++)
        if (op_reads(graph->ops[i], v))
            return graph->ops[i];
    internal_fault(__FILE__, __LINE__, "nothing reads %s", v->name);
}

/* Moves the sum over samples that is added to `total` into collect, where it includes all cards'
 * samples; returns the value of each sample. */
static Value *collect_figure(Dp *d, Value *total) {
    Op *add = reader_of(d->step, total);
    Op *sum = graph_producer(d->step, add->in[1]);
    ENSURE(add->kind == OP_add && sum->kind == OP_sum, "%s is no sum over samples", total->name);
    Value *of_samples = sum->in[0];
    take_out(d, sum);
    take_out(d, add);
    sum->in[0] = gather(d, of_samples);
    graph_add(d->program, d->collect, sum);
    graph_add(d->program, d->collect, add);
    return of_samples;
}

static void collect_figures(Dp *d) {
    Counters *c = &d->program->counters;
    d->program->loss_of_micro_step = collect_figure(d, c->step_loss);
    for (int i = 0; i < c->metric_count; i++)
        if (c->metrics[i].step_sum)
            collect_figure(d, c->metrics[i].step_sum);
}

static void collect_logits(Dp *d) {
    Op *head = NULL;
    for (int i = 0; i < d->step->op_count; i++) {
        Op *op = d->step->ops[i];
        if (!op->observe || strcmp(op->observe, "logits") != 0)
            continue;
        ENSURE(!head, "logits come in chunks");
        head = op;
    }
    ENSURE(head, "no op makes the logits");
    gather(d, head->out[0]);
}

/* ---- collect: gradients ---------------------------------------------------------------------- */

/* Makes micro_step leave its gradients in `fresh`, starting from zeros. */
static void keep_apart(Dp *d, Value *total, Value *fresh) {
    Program *p = d->program;
    Value **moved = arena_array(p->arena, (size_t)p->value_count, sizeof *moved);
    for (int i = 0; i < d->step->op_count; i++) {
        Op *op = d->step->ops[i];
        for (int k = 0; k < op->in_count + op->out_count; k++) {
            Value **v = k < op->in_count ? &op->in[k] : &op->out[k - op->in_count];
            if ((*v)->storage != total->storage)
                continue;
            if (!moved[(*v)->id])
                moved[(*v)->id] = value_elsewhere(p, *v, fresh);
            *v = moved[(*v)->id];
        }
    }
    const Graph old = graph_take(d->step);
    op_add_in_place(p, d->step, OP_zero, "zero_grad", fresh, fresh->name, (Attr){0}, d->pos);
    for (int i = 0; i < old.op_count; i++)
        graph_add(p, d->step, old.ops[i]);
}

static Value *add_to(Dp *d, Value *sum, Value *part) {
    Value *out = value_alias(d->program, sum, sum->name);
    op_add_into(d->program, d->collect, OP_add, "gradient.sum", (Value *[]){sum, part}, 2, &out, 1,
                (Attr){0}, d->pos);
    return out;
}

static Value *fetch(Dp *d, Value *own, int64_t card) {
    Program *p = d->program;
    const char *name = arena_printf(p->arena, "gradient.card%lld", (long long)card);
    Value *part =
        value_2d(p, name, ROLE_ACTIVATION, own->dtype, value_rows(own), value_cols(own), d->pos);
    add_copy(d, d->collect, own, part, card, FOR_REDUCE);
    return part;
}

/* All copies come first, so that the sums fuse into one kernel. */
static void collect_gradients(Dp *d) {
    Program *p = d->program;
    Value *sum = p->train.gradient, *own = sum;
    Value **parts = arena_array(p->arena, (size_t)p->cards, sizeof *parts);
    if (p->micro_steps > 1) {
        own = value_2d(p, "gradient.replica", ROLE_GRADIENT, sum->dtype, value_rows(sum),
                       value_cols(sum), d->pos);
        keep_apart(d, sum, own);
    }
    for (int64_t c = 1; c < p->cards; c++)
        parts[c] = fetch(d, own, c);
    if (own != sum)
        sum = add_to(d, sum, own);
    for (int64_t c = 1; c < p->cards; c++)
        sum = add_to(d, sum, parts[c]);
}

bool pass_dp(Program *p, const Spec *spec) {
    int64_t cards = spec->parallelism.data_parallel_replicate_degree;
    if (spec->parallelism.data_parallel_mode != PARALLEL_DP || cards == 1 || !program_trains(p))
        return false;
    p->cards = cards;
    Dp d = {p, &p->entry[ENTRY_MICRO_STEP], &p->entry[ENTRY_COLLECT],
            spec_pos(spec, KEY_parallelism_data_parallel_mode)};
    if (spec->parallelism.gather_outputs)
        collect_logits(&d);
    collect_figures(&d);
    collect_gradients(&d);
    build_replicate(&d);
    return true;
}
