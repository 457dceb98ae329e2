/* Direct preference optimization (Rafailov et al., arXiv 2305.18290): the loss depends on how much
 * more strongly the model prefers the chosen of two sequences to the rejected one than a reference
 * does. The reference is the model itself without its adapter.
 *
 * Requires forward graphs that end in a cross_entropy, with the adapter in them. The reference is a
 * copy of forward without the ops that read the adapter: it has the same weights, so there is no
 * second model. It comes after forward, so that only one value at a time crosses between forward's
 * layers, as recompute needs, and it holds only one layer's activations. Or it is an entry of its
 * own that runs before training, and batches bring its results; then no adapter is needed, because
 * the weights are still those that training starts from. A sequence's log-probability is a sum over
 * rows of the loss, so its gradient is one number per sequence.
 *
 * A shared prompt is in a row once, before both completions; attention lets each completion see the
 * prompt and itself. The rest of forward and backward depends only on rows and positions, and does
 * not change. The same holds for several packed prompts, each before its completions. */
#include "graph/attention_operands.h"
#include "graph/loss_operands.h"
#include "pass/low_rank.h"
#include "pass/pass.h"

static const struct {
    const char *name, *counter;
} metrics[] = {{"rewards/accuracies", "rewards_accuracies"},
               {"rewards/margins", "rewards_margins"},
               {"rewards/chosen", "rewards_chosen"},
               {"rewards/rejected", "rewards_rejected"},
               {"logps/chosen", "logps_chosen"},
               {"logps/rejected", "logps_rejected"}};
enum { METRICS = sizeof metrics / sizeof *metrics };

typedef struct {
    Program *program;
    Graph *graph;
    const Spec *spec;
    Pos pos;
    Value *one;
    int64_t packed;  /* most pairs in two rows, or with one_row in one */
    bool one_row;    /* both sequences of a pair share a row, after one prompt */
    Value *sequence; /* the sequence that each place belongs to; NULL: each row is one */
    Value *given;    /* the reference's sums, from the batch; NULL: computed in the same graph */
    bool training;
} Dpo;

static Value *add(const Dpo *d, OpKind kind, const char *name, Value *const *in, int count,
                  Attr attr) {
    return op_add(d->program, d->graph, kind, name, in, count, attr, d->pos)->out[0];
}

/* ---- the reference --------------------------------------------------------------------------- */

static bool reads_adapter(const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i]->role == ROLE_ADAPTER)
            return true;
    return false;
}

/* The operands that the op's result depends on without the adapter. */
static Value *const *own_operands(const Op *op, int *count) {
    Value *const *without = without_adapter(op);
    bool adapted = reads_adapter(op);
    *count = !adapted ? op->in_count : without != NULL;
    return adapted && without ? without : op->in;
}

/* By value id: what the loss depends on without the adapter. */
static bool *find_needed(const Dpo *d, Op *const *ops, int count) {
    bool *needed = arena_array(d->program->arena, (size_t)d->program->value_count, sizeof *needed);
    needed[ops[count - 1]->out[0]->id] = true;
    for (int i = count - 1; i >= 0; i--) {
        int operands;
        Value *const *in = own_operands(ops[i], &operands);
        for (int k = 0; k < operands; k++)
            needed[in[k]->id] |= needed[ops[i]->out[0]->id];
    }
    return needed;
}

static void copy_op(const Dpo *d, const Op *op, Value **now) {
    Value *in[MAX_OPERANDS];
    const char *name = arena_printf(d->program->arena, "reference.%s", op->name);
    for (int k = 0; k < op->in_count; k++)
        in[k] = now[op->in[k]->id] ? now[op->in[k]->id] : op->in[k];
    const Op *made =
        op_add(d->program, d->graph, op->kind, name, in, op->in_count, op->attr, op->pos);
    for (int k = 0; k < op->out_count; k++)
        now[op->out[k]->id] = made->out[k];
}

/* Copies the ops, without the adapter; returns the last one's result, the loss of each row. */
static Value *add_reference(const Dpo *d, Op *const *ops, int count) {
    const bool *needed = find_needed(d, ops, count);
    Value **now = arena_array(d->program->arena, (size_t)d->program->value_count, sizeof *now);
    for (int i = 0; i < count; i++) {
        const Op *op = ops[i];
        if (!needed[op->out[0]->id])
            continue;
        if (reads_adapter(op))
            now[op->out[0]->id] = now[(*without_adapter(op))->id];
        else
            copy_op(d, op, now);
    }
    return now[ops[count - 1]->out[0]->id];
}

/* ---- loss and figures ------------------------------------------------------------------------ */

/* To [N,S] from one row per token. */
static Attr as_sequences(const Dpo *d) {
    return (Attr){.rows = d->program->tokens / d->program->seq_len};
}

static Value *sequences_of(const Dpo *d, Value *rows, const char *name) {
    return add(d, OP_reshape, arena_printf(d->program->arena, "%s.rows", name), &rows, 1,
               as_sequences(d));
}

/* Sums rows over each sequence, into `to` or, if that is NULL, into a new value. */
static Value *sum_sequences(const Dpo *d, Value *rows, const char *name, Value *to) {
    Value *wide = sequences_of(d, rows, name), *in[] = {wide, NULL, d->sequence};
    if (d->sequence)
        in[1] = value_reshaped(d->program, d->sequence, value_rows(wide), value_cols(wide));
    Attr attr = {.rows = d->sequence ? d->packed : 0, .one_row = d->one_row};
    OpKind kind = d->sequence ? OP_packed_sum : OP_sequence_sum;
    int count = d->sequence ? 3 : 1;
    if (!to)
        return add(d, kind, name, in, count, attr);
    op_add_into(d->program, d->graph, kind, name, in, count, &to, 1, attr, d->pos);
    return to;
}

static Value *count_targets(const Dpo *d, Value *labels) {
    Program *p = d->program;
    int64_t rows = p->tokens / p->seq_len;
    Value *in[] = {value_reshaped(p, labels, rows, p->seq_len), NULL};
    if (!d->sequence)
        return add(d, OP_target_count, "targets", in, 1, (Attr){0});
    in[1] = value_reshaped(p, d->sequence, rows, p->seq_len);
    return add(d, OP_packed_count, "targets", in, 2,
               (Attr){.rows = d->packed, .one_row = d->one_row});
}

static void add_figure(const Dpo *d, Value *rows, const char *name, Value *total) {
    Value *sum = add(d, OP_sum, name, &rows, 1, (Attr){0});
    Value *to = value_alias(d->program, total, total->name);
    op_add_into(d->program, d->graph, OP_add, total->name, (Value *[]){total, sum}, 2, &to, 1,
                (Attr){0}, d->pos);
}

static void add_figures(const Dpo *d, Value *const *in, Attr attr) {
    const Counters *c = &d->program->counters;
    const Op *op = op_add(d->program, d->graph, OP_pair_metrics, "metrics", in, 4, attr, d->pos);
    for (int i = 0; i < METRICS; i++)
        add_figure(d, op->out[i], metrics[i].counter,
                   d->training ? c->metrics[i].step_sum : c->metrics[i].sum);
}

static Value *add_pair_loss(const Dpo *d, const Op *loss, Value *weight, Op *const *ops,
                            int count) {
    static const PairLoss kinds[] = {[DPO_SIGMOID] = PAIR_SIGMOID,
                                     [DPO_IPO] = PAIR_IPO,
                                     [DPO_HINGE] = PAIR_HINGE,
                                     [DPO_ROBUST] = PAIR_ROBUST};
    bool smooths = d->spec->dpo.loss_type == DPO_SIGMOID || d->spec->dpo.loss_type == DPO_ROBUST;
    Attr attr = {.pair_loss = kinds[d->spec->dpo.loss_type],
                 .beta = d->spec->dpo.beta,
                 .label_smoothing = smooths ? d->spec->dpo.label_smoothing : 0};
    Value *targets = count_targets(d, loss->in[LOSS_LABELS]);
    Value *policy = sum_sequences(d, loss->out[0], "nll", NULL);
    Value *reference =
        d->given ? d->given : sum_sequences(d, add_reference(d, ops, count), "reference.nll", NULL);
    Value *in[] = {policy, reference, targets, weight};
    add_figures(d, in, attr);
    return add(d, OP_pair_loss, "pair_loss", in, 4, attr);
}

/* ---- the graphs ------------------------------------------------------------------------------ */

static void rewrite(const Dpo *d) {
    Graph *graph = d->graph;
    Op *loss = graph_find(graph, OP_cross_entropy);
    Value *pair_loss = NULL, *weight = loss->in[LOSS_WEIGHT], *rows = loss->out[0];
    loss->in[LOSS_WEIGHT] = d->one;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        if (pair_loss)
            op_read_instead(old.ops[i], rows, pair_loss);
        graph_add(d->program, graph, old.ops[i]);
        if (old.ops[i] == loss)
            pair_loss = add_pair_loss(d, loss, weight, old.ops, i + 1);
    }
}

/* Lets a completion see its prompt, which is a range of places, and its own earlier tokens,
 * according to their places in the completion. */
static void share_prompts(const Dpo *d) {
    Program *p = d->program;
    Value *place = value_2d(p, "sample_positions", ROLE_INPUT, DT_I32, p->tokens, 1, d->pos);
    Value *prefix = value_2d(p, "prefix", ROLE_INPUT, DT_I32, p->tokens, 2, d->pos);
    static const Entry entries[] = {ENTRY_MICRO_STEP, ENTRY_EVALUATE};
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < p->entry[entries[e]].op_count; i++) {
            Op *op = p->entry[entries[e]].ops[i];
            if (op->kind != OP_attention)
                continue;
            op->in[ATTENTION_POSITIONS] = place;
            op->in[op->in_count++] = prefix;
        }
}

/* A value with one number per sequence. */
static Value *new_of_sequences(const Dpo *d, const char *name, Role role) {
    Program *p = d->program;
    int64_t sequences = p->tokens / p->seq_len * d->packed * (d->one_row ? 2 : 1);
    return value_2d(p, name, role, p->real, sequences, 1, d->pos);
}

/* Makes the reference entry from evaluate's forward, which draws no random numbers; returns its
 * result. */
static Value *make_entry(Dpo *d) {
    Program *p = d->program;
    const Graph *evaluate = &p->entry[ENTRY_EVALUATE];
    Value *made = new_of_sequences(d, "sequence_nll", ROLE_COUNTER);
    int count = 0;
    while (evaluate->ops[count++]->kind != OP_cross_entropy)
        continue;
    d->graph = &p->entry[ENTRY_REFERENCE];
    return sum_sequences(d, add_reference(d, evaluate->ops, count), "reference.nll", made);
}

/* The metrics' sums in evaluate and in micro_step, and the history in which update keeps each
 * step's. */
static void make_counters(const Dpo *d) {
    Program *p = d->program;
    Counters *c = &p->counters;
    int64_t steps = p->steps > 0 ? p->steps : 1;
    c->metric_count = METRICS;
    for (int i = 0; i < METRICS; i++) {
        Metric *m = &c->metrics[i];
        const char *of_step = arena_printf(p->arena, "step_%s", metrics[i].counter);
        const char *held_out = arena_printf(p->arena, "eval_%s", metrics[i].counter);
        m->name = metrics[i].name;
        m->sum = value_1d(p, held_out, ROLE_COUNTER, p->real, 1, d->pos);
        m->step_sum = value_1d(p, of_step, ROLE_COUNTER, p->real, 1, d->pos);
        m->history = value_2d(p, metrics[i].counter, ROLE_COUNTER, p->real, steps, 1, d->pos);
    }
}

static void record_figures(const Dpo *d) {
    Program *p = d->program;
    for (int i = 0; i < METRICS; i++) {
        const Metric *m = &p->counters.metrics[i];
        Value *in[] = {m->step_sum, p->counters.step, m->history};
        Value *out[] = {value_alias(p, in[0], in[0]->name), value_alias(p, in[2], in[2]->name)};
        op_add_into(p, &p->entry[ENTRY_UPDATE], OP_record_step,
                    arena_printf(p->arena, "%s.record", metrics[i].counter), in, 3, out, 2,
                    (Attr){0}, d->pos);
    }
}

static const char *forward_facts(Arena *arena, const Spec *spec) {
    StrBuf text = {0};
    spec_print_forward(spec, &text);
    const char *facts = arena_printf(arena, "%s", text.text);
    sb_free(&text);
    return facts;
}

/* `made` is the result of the reference entry; NULL if there is none. */
static void tell_loader(Program *p, const Spec *spec, const Value *made) {
    LoaderSetting *items = arena_array(p->arena, 5, sizeof *items);
    int count = 0;
    items[count++] = (LoaderSetting){.field = "drop_overlong",
                                     .kind = SETTING_BOOL,
                                     .integer = spec->data.overlong == OVERLONG_DROP};
    if (spec->data.packing)
        items[count++] = (LoaderSetting){
            .field = "packed", .kind = SETTING_INT, .integer = spec->dpo.max_packed_pairs};
    if (spec->dpo.shared_prompt)
        items[count++] = (LoaderSetting){.field = "shared", .kind = SETTING_BOOL, .integer = 1};
    if (made) {
        items[count++] = (LoaderSetting){.field = "made", .kind = SETTING_PLACE, .place = made};
        items[count++] = (LoaderSetting){
            .field = "facts", .kind = SETTING_TEXT, .text = forward_facts(p->arena, spec)};
    }
    p->loader =
        (LoaderSettings){.field = "pairs", .type = "RtPairs", .items = items, .count = count};
}

bool pass_dpo(Program *p, const Spec *spec) {
    static const double unit[] = {1};
    if (spec->training.task != TASK_DPO)
        return false;
    Dpo d = {.program = p, .spec = spec, .pos = spec_pos(spec, KEY_training_task)};
    d.one = value_1d(p, "one", ROLE_CONSTANT, p->real, 1, d.pos);
    d.one->data = unit;
    d.packed = spec->data.packing ? spec->dpo.max_packed_pairs : 1;
    d.one_row = spec->dpo.shared_prompt;
    if (spec->data.packing || d.one_row)
        d.sequence = value_2d(p, "sequence", ROLE_INPUT, DT_I32, p->tokens, 1, d.pos);
    if (spec->dpo.precompute_ref_log_probs)
        d.given = new_of_sequences(&d, "reference_nll", ROLE_INPUT);
    if (d.one_row)
        share_prompts(&d);
    make_counters(&d);
    d.graph = &p->entry[ENTRY_MICRO_STEP];
    d.training = true;
    rewrite(&d);
    d.graph = &p->entry[ENTRY_EVALUATE];
    d.training = false;
    rewrite(&d);
    record_figures(&d);
    tell_loader(p, spec, d.given ? make_entry(&d) : NULL);
    return true;
}
