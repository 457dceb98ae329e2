/* The gradient of a low-rank path's A reads x. Where pointwise ops make x from values that backward has
 * anyway, as SwiGLU and dropout do, or a norm does once its sums over rows are known, backward makes x
 * again, and forward does not keep it:
 *
 *     x = swiglu(gate, up)                           x = swiglu(gate, up)
 *     u = x A^T                                      kept = x A^T, u = kept
 *     …                                       ->     …
 *     dA = v^T x                                     again = swiglu(gate, up)
 *     dgate, dup = swiglu_grad(gate, up, dx)         dgate, dup = swiglu_grad(gate, up, dx)
 *     dB, v = low_rank_grads(dgate, B, u), …         dB, v = low_rank_grads(dgate, B, u), …
 *                                                    dA = low_rank_grad_a(again, v)
 *
 * If an op of backward reads the same values, as above, and low_rank_grads read its results, all of
 * these ops fit into one kernel, which neither stores `again` nor reads it. Otherwise dA stays where it
 * is, and its own kernel makes x. Where u is a column of x's matrix, as in a border, it gets a place of
 * its own. Requires that values have their places, that low_rank_grads has run and that backward is
 * marked. With "auto" this is done where the device is expected to gain time, or to lose less of it
 * than one reading of x takes, unless full recomputation keeps no x anyway. */
#include "pass/low_rank_grad_a.h"
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "pass/again.h"
#include "pass/keep_columns.h"
#include "pass/low_rank_kernels.h"
#include "pass/pass.h"

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_grad(const Op *op) {
    if (op->kind != OP_matmul || !op->attr.transpose_a || op->attr.transpose_b ||
        !op_is_plain(op) || op->phase != PHASE_BACKWARD)
        return false;
    const Value *v = op->in[0], *x = op->in[1];
    return value_in_16_bits(x) && value_cols(v) <= LOW_RANK_MOST && value_in_vectors(v) &&
           value_in_vectors(x) && value_in_vectors(op->out[0]);
}

/* Whether an op of backward, other than `grad`, reads anything of v, under whatever name. */
static bool is_read_in_backward(const GraphUses *uses, const Value *v, const Op *grad) {
    for (const Value *view = v->storage->views; view; view = view->next_view)
        if (value_overlaps(view, v) && use_read_in_backward(uses, view, grad))
            return true;
    return false;
}

/* Whether backward reads some part of the matrix that v is a part of, which it then keeps. */
static bool kept_with_others(const GraphUses *uses, const Value *v) {
    for (const Value *view = v->storage->views; view; view = view->next_view)
        if (use_read_in_backward(uses, view, NULL))
            return true;
    return false;
}

/* Whether backward has the value anyway, or may keep it in place of x. */
static bool can_read(const GraphUses *uses, GradOfA *a, const Value *v) {
    if (kept_with_others(uses, v) || v == a->instead)
        return true;
    if (a->instead || v->storage->bytes > a->grad->in[1]->storage->bytes)
        return false;
    a->instead = v;
    return true;
}

static bool is_made_here(const GradOfA *a, const Value *v) {
    for (int i = 0; i < a->makers; i++)
        if (a->maker[i]->out[0] == v)
            return true;
    return false;
}

/* Adds the ops that make v to the makers, down to values that backward has. */
static bool add_makers(Program *p, const GraphUses *uses, GradOfA *a, const Value *v) {
    if (is_made_here(a, v))
        return true;
    Op *op = a->makers < MOST_MAKERS ? again_maker(p, uses, v) : NULL;
    if (!op)
        return false;
    for (int i = 0; i < op->in_count; i++) {
        const Value *in = op->in[i], *instead = a->instead;
        int before = a->makers;
        if (in->role != ROLE_ACTIVATION || is_read_in_backward(uses, in, NULL) ||
            add_makers(p, uses, a, in))
            continue;
        a->makers = before;
        a->instead = instead;
        if (!can_read(uses, a, in))
            return false;
    }
    if (a->makers == MOST_MAKERS)
        return false;
    a->maker[a->makers++] = op;
    return true;
}

static bool is_source(const GradOfA *a, const Value *v) {
    return v->role == ROLE_ACTIVATION && !is_made_here(a, v);
}

static bool reads_all_sources(const Op *op, const GradOfA *a) {
    for (int i = 0; i < a->makers; i++)
        for (int k = 0; k < a->maker[i]->in_count; k++)
            if (is_source(a, a->maker[i]->in[k]) && !op_reads(op, a->maker[i]->in[k]))
                return false;
    return true;
}

static double source_bytes(const GradOfA *a) {
    double bytes = 0;
    for (int i = 0; i < a->makers; i++)
        for (int k = 0; k < a->maker[i]->in_count; k++)
            if (is_source(a, a->maker[i]->in[k]))
                bytes += (double)value_bytes(a->maker[i]->in[k]);
    return bytes;
}

static void find_twin(const Program *p, const GraphUses *uses, GradOfA *a) {
    int count;
    Op *const *readers = use_readers(uses, a->maker[0]->in[0], &count);
    for (int i = 0; i < count && !a->twin; i++)
        if (readers[i]->phase == PHASE_BACKWARD && readers[i]->id > a->grad->id &&
            reads_all_sources(readers[i], a) && again_is_pointwise(p, readers[i], a->grad->in[1]))
            a->twin = readers[i];
}

/* A kernel has paths of one shape. */
static bool is_host(const Op *op, const GradOfA *a) {
    const Value *dy = op->in[0], *u = op->in[2], *x = a->grad->in[1], *v = a->grad->in[0];
    return op->kind == OP_low_rank_grads && dy->dtype == x->dtype &&
           low_rank_same_sizes(low_rank_shape(dy, u), low_rank_shape(x, v));
}

static void find_hosts(const Program *p, const GraphUses *uses, GradOfA *a) {
    for (int k = 0; k < a->twin->out_count; k++) {
        int count;
        Op *const *readers = use_readers(uses, a->twin->out[k], &count);
        for (int i = 0; i < count && a->hosts < LOW_RANK_PATHS; i++)
            if (is_host(readers[i], a) && is_made_pointwise(p, uses, readers[i]))
                a->host[a->hosts++] = readers[i];
    }
    if (a->hosts == 2 && a->host[0]->id > a->host[1]->id) {
        Op *later = a->host[0];
        a->host[0] = a->host[1];
        a->host[1] = later;
    }
}

/* Leaves dA a kernel of its own. */
static void stay_alone(GradOfA *a) {
    a->twin = NULL;
    a->hosts = 0;
}

static bool find_again(const Device *device, Program *p, const GraphUses *uses, Op *grad, GradOfA *a) {
    *a = (GradOfA){.grad = grad};
    if (!is_grad(grad) || is_read_in_backward(uses, grad->in[1], grad) ||
        !add_makers(p, uses, a, grad->in[1]))
        return false;
    a->source_bytes = source_bytes(a);
    find_twin(p, uses, a);
    if (a->twin)
        find_hosts(p, uses, a);
    if (!a->hosts || !graph_may_move(uses->graph, grad, a->host[a->hosts - 1]) ||
        !grad_of_a_fits(device, a))
        stay_alone(a);
    return grad_of_a_fits(device, a);
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Ops that go before or after one of the graph, by its index. */
typedef struct {
    Op *before[MOST_MAKERS], *after;
    bool moves;
} Slot;

/* The op that holds back what is put right before op `first`: the nearest one that will not move. */
static Op *op_before(const Graph *graph, const Op *first) {
    int i = first->id - 1;
    while (i > 0 && (is_grad(graph->ops[i]) || graph->ops[i]->kind == OP_low_rank_grad_a))
        i--;
    return graph->ops[i];
}

/* Repeats the makers, right before op `first`. */
static void repeat_makers(Program *p, const Graph *graph, const GradOfA *a, const Op *first,
                          Op **again) {
    for (int i = 0; i < a->makers; i++) {
        again[i] = again_new(p, a->maker[i], op_before(graph, first));
        for (int k = 0; k < i; k++)
            op_read_instead(again[i], a->maker[k]->out[0], again[k]->out[0]);
    }
}

/* Ops that wait for dA, which only held them back, wait for what is before it. */
static void let_go(const Graph *graph, const Op *grad, const Op *last) {
    for (int i = grad->id + 1; i < last->id; i++)
        if (graph->ops[i]->after == grad)
            graph->ops[i]->after = op_before(graph, grad);
}

static void move_to_hosts(const Graph *graph, Slot *slots, const GradOfA *a) {
    Op *last = a->host[a->hosts - 1];
    let_go(graph, a->grad, last);
    slots[a->grad->id].moves = true;
    slots[last->id].after = a->grad;
    a->grad->attr.beside_a = true;
    for (int i = 0; i < a->hosts; i++)
        a->host[i]->attr.beside_a = true;
}

/* Whether no other path has taken the slots. */
static bool has_slots(const Slot *slots, const GradOfA *a) {
    return !a->hosts ||
           (!slots[a->twin->id].before[0] && !slots[a->host[a->hosts - 1]->id].after);
}

/* Finds what x's matrix, and those of what x is made from, have besides. */
static bool find_columns(const GraphUses *uses, const Slot *slots, const GradOfA *a,
                         ColumnsBehind *columns) {
    for (int i = 0; i < a->makers; i++) {
        if (!columns_behind(uses, a->maker[i]->out[0], &columns[i]))
            return false;
        if (columns[i].matrix && slots[columns_last_writer(&columns[i])->id].after)
            columns[i].matrix = NULL; /* they have their own place already */
    }
    return true;
}

/* Returns false, and changes nothing, where that is not possible. */
static bool make_again(Program *p, const GraphUses *uses, Slot *slots, const GradOfA *a) {
    ColumnsBehind columns[MOST_MAKERS];
    if (!find_columns(uses, slots, a, columns) || !has_slots(slots, a))
        return false;
    for (int i = 0; i < a->makers; i++)
        if (columns[i].matrix)
            slots[columns_last_writer(&columns[i])->id].after = columns_keep(p, uses, &columns[i]);
    Op *grad = a->grad, *first = a->hosts ? a->twin : grad, **again = slots[first->id].before;
    repeat_makers(p, uses->graph, a, first, again);
    if (a->hosts)
        move_to_hosts(uses->graph, slots, a);
    grad->kind = OP_low_rank_grad_a;
    grad->attr.transpose_a = false;
    grad->in[1] = grad->in[0];
    grad->in[0] = again[a->makers - 1]->out[0];
    return true;
}

static void rewrite(Program *p, Graph *graph, const Slot *slots) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        for (int k = 0; k < MOST_MAKERS && slots[i].before[k]; k++)
            graph_add(p, graph, slots[i].before[k]);
        if (!slots[i].moves)
            graph_add(p, graph, old.ops[i]);
        if (slots[i].after)
            graph_add(p, graph, slots[i].after);
    }
}

bool pass_low_rank_grad_a(Program *p, const Spec *spec) {
    WhereGained wanted = spec->compile.low_rank_grad_a;
    if (wanted == NOWHERE || !spec_effective(spec, KEY_compile_low_rank_grad_a))
        return false;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    Slot *slots = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *slots);
    bool found = false;
    for (int i = 0; i < graph->op_count; i++) {
        GradOfA again;
        if (find_again(device, p, &uses, graph->ops[i], &again) &&
            (wanted == EVERYWHERE || grad_of_a_gains(device, p, spec, &uses, &again)))
            found |= make_again(p, &uses, slots, &again);
    }
    if (found)
        rewrite(p, graph, slots);
    arena_free(&scratch);
    return found;
}
