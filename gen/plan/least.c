/* Least bytes and the model's FLOPs depend on no layout and no choice of kernels.
 *
 * Least bytes are those that would still move if every chain of elementwise and row ops were one kernel
 * together with the template before it, whatever the data. */
#include "plan/least.h"

#include "graph/op_table.h"
#include "plan/group.h"

#include <math.h>

/* ---- what a value's readers and writers touch ------------------------------------------------- */

/* Whether it is a table with a number per step. */
static bool is_of_steps(const Program *p, const Value *v) {
    const Counters *c = &p->counters;
    const Value *tables[] = {c->lr, c->loss, c->grad_norm, c->bias_correction1,
                             c->bias_correction2_sqrt};
    bool found = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        found |= tables[i] && tables[i]->storage == v->storage;
    for (int i = 0; i < c->metric_count; i++)
        found |= c->metrics[i].history && c->metrics[i].history->storage == v->storage;
    return found;
}

double touched_elements(const Program *p, const Value *v) {
    return v->role == ROLE_COUNTER && is_of_steps(p, v) ? 1 : (double)value_elements(v);
}

double written_bytes(const Program *p, const Value *v) {
    return touched_elements(p, v) * dtype_bytes(v->dtype);
}

double read_bytes(const Program *p, const Value *v, double made) {
    double all = touched_elements(p, v);
    return (v->role == ROLE_DATASET ? fmin(all, made) : all) * dtype_bytes(v->dtype);
}

/* ---- who hands a value on ---------------------------------------------------------------------- */

/* Values by their storage, in lists. */
typedef struct {
    const Value **first; /* by storage id; NULL: none */
    const Value **next;  /* by value id */
} Views;

/* The lists leave out views that this graph neither makes nor reads: the storage of adapters may have
 * one per layer and weight, and a look through all of them for each of them takes their square. */
typedef struct {
    const Program *program;
    const GraphUses *uses;
    Views made, read; /* by an op; by a body */
    bool *counted;    /* by value id: bodies' reads of the value from memory are counted */
} Least;

static bool has_body(const Op *op) { return op_table[op->kind].expand != NULL; }

/* Whether a body that follows could get the op's results within the op's own kernel. */
static bool hands_on(const Op *op) { return has_body(op) || op_has_epilogue(op); }

static Views views_new(const Program *p, Arena *arena) {
    return (Views){arena_array(arena, (size_t)p->storage_count + 1, sizeof(Value *)),
                   arena_array(arena, (size_t)p->value_count + 1, sizeof(Value *))};
}

static void views_add(Views *views, const Value *v) {
    views->next[v->id] = views->first[v->storage->id];
    views->first[v->storage->id] = v;
}

static bool is_read_by_body(const GraphUses *uses, const Value *v) {
    int readers;
    Op *const *reader = use_readers(uses, v, &readers);
    for (int i = 0; i < readers; i++)
        if (has_body(reader[i]))
            return true;
    return false;
}

static Least least_new(const Program *p, const GraphUses *uses, Arena *arena) {
    Least least = {p, uses, views_new(p, arena), views_new(p, arena),
                   arena_array(arena, (size_t)p->value_count + 1, sizeof(bool))};
    for (int i = 0; i < uses->value_count; i++) {
        if (use_maker(uses, p->values[i]))
            views_add(&least.made, p->values[i]);
        if (is_read_by_body(uses, p->values[i]))
            views_add(&least.read, p->values[i]);
    }
    return least;
}

/* Whether a body after the op reads any of v, under whatever name. */
static bool part_read_by_body(const Least *least, const Op *op, const Value *v) {
    const Views *read = &least->read;
    for (const Value *view = read->first[v->storage->id]; view; view = read->next[view->id]) {
        int readers = 0;
        Op *const *reader = value_overlaps(view, v) ? use_readers(least->uses, view, &readers) : NULL;
        for (int i = 0; i < readers; i++)
            if (reader[i]->id > op->id && has_body(reader[i]))
                return true;
    }
    return false;
}

/* Whether the op's result has readers, and each could get it within the kernel that makes it. What is
 * read under other names only, as decoded weights are together with what lies beside them, has no
 * reader of its own; then one body among those is enough. */
static bool read_by_bodies(const Least *least, const Op *op, const Value *v) {
    int readers;
    Op *const *reader = use_readers(least->uses, v, &readers);
    for (int i = 0; i < readers; i++)
        if (!has_body(reader[i]))
            return false;
    return readers > 0 || part_read_by_body(least, op, v);
}

/* The share of v that a body could get within the kernels that make it, or parts of it under names of
 * their own. */
static double share_handed_on(const Least *least, const Op *body, const Value *v) {
    const Views *made = &least->made;
    const Op *writer = use_maker(least->uses, v);
    double bytes = 0;
    if (writer)
        return hands_on(writer);
    for (const Value *view = made->first[v->storage->id]; view; view = made->next[view->id]) {
        writer = use_maker(least->uses, view);
        if (value_overlaps(view, v) && writer->id < body->id && hands_on(writer))
            bytes += (double)value_bytes(view);
    }
    return fmin(bytes / (double)value_bytes(v), 1);
}

/* Whether a body overwrites it in place, so that one kernel could write for both ops. */
static bool is_overwritten(const GraphUses *uses, const Value *v) {
    int readers;
    Op *const *reader = use_readers(uses, v, &readers);
    for (int i = 0; i < readers; i++)
        for (int k = 0; k < reader[i]->out_count; k++)
            if (has_body(reader[i]) && value_same_place(reader[i]->out[k], v))
                return true;
    return false;
}

static int read_operands(const Op *op) {
    return op->in_count && op_is(op, TRAIT_NAMES) ? op->in_count - 1 : op->in_count;
}

/* Whether only the data knows how much of v the op touches: of a table with a row per id, the rows of
 * different ids; of what the gradient of such a table reads, only rows of the rank's own ids. */
static bool goes_by_ids(const Op *op, const Value *v) {
    if (!op_is(op, TRAIT_EMBEDS))
        return false;
    return value_same_place(v, op->in[op->in_count - 1]) || (op->attr.group && v == op->in[1]);
}

/* Whether the op could make the operand itself, by the steps of the op before it. */
static bool could_make(const GraphUses *uses, const Op *op, int operand) {
    const Op *writer = use_maker(uses, op->in[operand]);
    return operand == 0 && op_is(op, TRAIT_PROLOGUE) && writer && has_body(writer);
}

/* ---- sums -------------------------------------------------------------------------------------- */

/* Bytes that this op adds to those that any choice of kernels moves. */
static double least_of(Least *least, const Op *op) {
    const Program *p = least->program;
    const GraphUses *uses = least->uses;
    double bytes = 0;
    for (int k = 0; k < read_operands(op); k++) {
        const Value *v = op->in[k];
        if (goes_by_ids(op, v))
            continue;
        if (!has_body(op))
            bytes += could_make(uses, op, k) ? 0 : (double)value_bytes(v);
        else if (!least->counted[v->id]) {
            double all = read_bytes(p, v, (double)value_elements(op->out[0]));
            bytes += (1 - share_handed_on(least, op, v)) * all;
            least->counted[v->id] = true;
        }
    }
    for (int k = 0; k < op->out_count; k++) {
        const Value *v = op->out[k];
        bool lasts = role_persistent(v->role) && !is_overwritten(uses, v);
        bool needs_memory = !hands_on(op) || lasts || !read_by_bodies(least, op, v);
        if (needs_memory && !goes_by_ids(op, v))
            bytes += written_bytes(p, v);
    }
    return bytes;
}

void count_least(const Plan *plan, PlanEntry *entry, const Graph *graph, Arena *arena) {
    if (graph->op_count == 0)
        return;
    Least least = least_new(plan->program, &entry->uses, arena);
    bool *done = arena_array(arena, (size_t)graph->op_count + 1, sizeof *done);
    for (int i = 0; i < entry->launch_count; i++) {
        Launch *launch = &entry->launches[i];
        launch->cost.least_bytes = launch->cost.model_flops = 0;
        for (int k = 0; k < launch->op_count; k++) {
            const Op *op = launch->ops[k];
            if (done[op->id])
                continue;
            launch->cost.least_bytes += least_of(&least, op);
            launch->cost.model_flops += op_model_flops(op);
            done[op->id] = true;
        }
    }
}
