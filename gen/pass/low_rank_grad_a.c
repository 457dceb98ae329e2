/* The gradient of a low-rank path's A reads x. Where pointwise ops make x from values that an op of
 * backward reads anyway, as SwiGLU does, backward makes x again beside that op, and forward does not
 * keep it:
 *
 *     x = swiglu(gate, up)                           x = swiglu(gate, up)
 *     u = x A^T                                      kept = x A^T, u = kept
 *     …                                       ->     …
 *     dA = v^T x                                     again = swiglu(gate, up)
 *     dgate, dup = swiglu_grad(gate, up, dx)         dgate, dup = swiglu_grad(gate, up, dx)
 *     dB, v = low_rank_grads(dgate, B, u), …         dB, v = low_rank_grads(dgate, B, u), …
 *                                                    dA = low_rank_grad_a(again, v)
 *
 * All of backward's ops above then fit into one kernel, which neither stores `again` nor reads it.
 * Where u is a column of x's matrix, as in a border, it gets a place of its own. Requires that values
 * have their places, that low_rank_grads has run and that backward is marked. With "auto" this is
 * done where the device is expected to gain time; it always saves memory. */
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "pass/low_rank_kernels.h"
#include "pass/pass.h"

enum { MOST_HOSTS = 2 };

typedef struct {
    Op *grad;             /* dA */
    Op *maker;            /* of x */
    Op *twin;             /* of backward; reads what the maker reads */
    Op *host[MOST_HOSTS]; /* the gradients of paths whose dy the twin makes, in order */
    int hosts;
} Again;

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_grad(const Op *op) {
    if (op->kind != OP_matmul || !op->attr.transpose_a || op->attr.transpose_b ||
        !op_is_plain(op) || op->phase != PHASE_BACKWARD)
        return false;
    const Value *v = op->in[0], *x = op->in[1];
    return value_in_16_bits(x) && value_cols(v) <= LOW_RANK_MOST && value_in_vectors(v) &&
           value_in_vectors(x) && value_in_vectors(op->out[0]);
}

static bool is_pointwise(const Program *p, const Op *op, const Value *like) {
    const Body *body = op_expand(p, op);
    return body && body_is_pointwise(body) && body->rows == value_rows(like) &&
           body->cols == value_cols(like);
}

/* Whether no other op of backward reads anything of x. */
static bool reads_alone(const GraphUses *uses, const Op *grad, const Value *x) {
    for (const Value *view = x->storage->views; view; view = view->next_view) {
        int count;
        Op *const *readers = use_readers(uses, view, &count);
        for (int i = 0; value_overlaps(view, x) && i < count; i++)
            if (readers[i] != grad && readers[i]->phase != PHASE_FORWARD)
                return false;
    }
    return true;
}

/* Whether the op's operands still have their contents at the end of the graph. */
static bool operands_last(const GraphUses *uses, const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        for (const Value *view = op->in[i]->storage->views; view; view = view->next_view) {
            const Op *writer = use_maker(uses, view);
            if (writer && writer->id > op->id && value_overlaps(view, op->in[i]))
                return false;
        }
    return true;
}

static bool reads_all_of(const Op *reader, const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (!op_reads(reader, op->in[i]))
            return false;
    return true;
}

static void find_twin(const Program *p, const GraphUses *uses, Again *a) {
    int count;
    Op *const *readers = use_readers(uses, a->maker->in[0], &count);
    for (int i = 0; i < count && !a->twin; i++)
        if (readers[i]->phase == PHASE_BACKWARD && readers[i]->id > a->grad->id &&
            reads_all_of(readers[i], a->maker) && is_pointwise(p, readers[i], a->maker->out[0]))
            a->twin = readers[i];
}

/* A kernel has paths of one shape. */
static bool is_host(const Op *op, const Again *a) {
    const Value *dy = op->in[0], *x = a->grad->in[1];
    return op->kind == OP_low_rank_grads && value_rows(dy) == value_rows(x) &&
           value_cols(dy) == value_cols(x) && dy->dtype == x->dtype &&
           value_cols(op->in[1]) == value_cols(a->grad->in[0]);
}

static void find_hosts(const Program *p, const GraphUses *uses, Again *a) {
    for (int k = 0; k < a->twin->out_count; k++) {
        int count;
        Op *const *readers = use_readers(uses, a->twin->out[k], &count);
        for (int i = 0; i < count && a->hosts < MOST_HOSTS; i++)
            if (is_host(readers[i], a) && is_made_pointwise(p, uses->graph, readers[i]))
                a->host[a->hosts++] = readers[i];
    }
    if (a->hosts == 2 && a->host[0]->id > a->host[1]->id) {
        Op *later = a->host[0];
        a->host[0] = a->host[1];
        a->host[1] = later;
    }
}

static bool find_again(const Program *p, const GraphUses *uses, Op *grad, Again *a) {
    *a = (Again){.grad = grad};
    if (!is_grad(grad))
        return false;
    const Value *x = grad->in[1];
    a->maker = use_maker(uses, x);
    if (!a->maker || a->maker->phase != PHASE_FORWARD || a->maker->out_count != 1 ||
        a->maker->ends_step || x->role != ROLE_ACTIVATION || !is_pointwise(p, a->maker, x) ||
        !reads_alone(uses, grad, x) || !operands_last(uses, a->maker))
        return false;
    find_twin(p, uses, a);
    if (!a->twin)
        return false;
    find_hosts(p, uses, a);
    return a->hosts && op_may_move(uses->graph, grad, a->host[a->hosts - 1]);
}

/* ---- time ------------------------------------------------------------------------------------ */

static LowRankShape shape_of(const Again *a, bool beside_a) {
    const Value *x = a->grad->in[1];
    return (LowRankShape){value_rows(x), value_cols(x), value_cols(a->grad->in[0]), true, beside_a};
}

static bool fits(const Device *device, const Again *a) {
    LowRankShape shape = shape_of(a, true);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    return tiles.cols && low_rank_two_blocks_fit(shape, &tiles, (LowRankMade){a->hosts, 1}, device);
}

static double kernel_ms(const Device *device, double bytes) {
    return device_kernel_ms(device, RATE_F32, 0, 0, (Traffic){bytes, bytes}, (Grid){0});
}

/* What the hosts' kernel takes longer, the kernel that adds dA's parts, and the copy of u. */
static double added_ms(const Device *device, const Again *a) {
    const Op *grad = a->grad;
    LowRankShape shape = shape_of(a, true), alone = shape_of(a, false);
    LowRankTiles tiles = low_rank_tiles(shape, device), wide = low_rank_tiles(alone, device);
    double more_parts =
        a->hosts * (low_rank_part_bytes(shape, &tiles) - low_rank_part_bytes(alone, &wide));
    double parts = low_rank_grad_a_part_bytes(shape, &tiles);
    double result = (grad->attr.accumulate ? 2 : 1) * (double)value_bytes(grad->out[0]);
    double copied = 2 * (double)value_bytes(grad->in[0]);
    return kernel_ms(device, 2 * more_parts + low_rank_grad_a_bytes(shape, &tiles)) -
           kernel_ms(device, 0) + kernel_ms(device, parts + result) + kernel_ms(device, copied);
}

static bool gains(const Device *device, const Program *p, const Again *a) {
    return added_ms(device, a) < device_op_ms(device, p, a->grad);
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Ops that go before or after one of the graph, by its index. */
typedef struct {
    Op *before, *after;
    bool moves;
} Place;

static bool is_read_in_backward(const GraphUses *uses, const Value *v) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i]->phase != PHASE_FORWARD)
            return true;
    return false;
}

static Op *op_new(Program *p, OpKind kind, const char *name, Value *in, Value *out) {
    Op *op = arena_alloc(p->arena, sizeof *op);
    *op = (Op){.kind = kind,
               .name = name,
               .in = {in},
               .in_count = 1,
               .out = {out},
               .out_count = 1,
               .pos = in->pos};
    return op;
}

/* Of all names of v's place, the one under which an op of forward fills it, and nothing else of the
 * graph writes there; or NULL. */
static Value *filled(const GraphUses *uses, const Value *v) {
    Value *found = NULL;
    for (Value *view = v->storage->views; view; view = view->next_view) {
        const Op *maker = use_maker(uses, view);
        if (!maker || !value_overlaps(view, v))
            continue;
        if (found || !value_same_view(view, v) || maker->phase != PHASE_FORWARD)
            return NULL;
        found = view;
    }
    return found;
}

/* Gives the value, another column of x's matrix, a place of its own, from which it is copied into the
 * matrix for forward. */
static void keep(Program *p, const GraphUses *uses, Place *places, Value *v) {
    Value *column = filled(uses, v);
    const char *name = arena_printf(p->arena, "%s.kept", column->name);
    Value *kept = value_2d(p, name, v->role, v->dtype, value_rows(v), value_cols(v), v->pos);
    Op *maker = use_maker(uses, column);
    for (int i = 0; i < maker->out_count; i++)
        if (maker->out[i] == column)
            maker->out[i] = kept;
    places[maker->id].after = op_new(p, OP_cast, column->name, kept, column);
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i]->phase != PHASE_FORWARD)
            op_read_instead(readers[i], v, kept);
}

/* Finds the other column of x's matrix that backward reads, if any; false if there are several, or if
 * no copy could take its place. */
static bool find_kept(const GraphUses *uses, const Again *a, const Place *places, Value **kept) {
    *kept = NULL;
    for (Value *v = a->grad->in[1]->storage->views; v; v = v->next_view) {
        if (value_overlaps(v, a->grad->in[1]) || !is_read_in_backward(uses, v))
            continue;
        const Value *column = v->rank == 2 ? filled(uses, v) : NULL;
        if (*kept || !column || places[use_maker(uses, column)->id].after)
            return false;
        *kept = v;
    }
    return true;
}

/* Makes x again, right before its twin. */
static Op *repeat_maker(Program *p, const Graph *graph, const Again *a) {
    const Value *x = a->maker->out[0];
    Op *op = arena_alloc(p->arena, sizeof *op);
    *op = *a->maker;
    op->name = arena_printf(p->arena, "%s.recomputed", a->maker->name);
    op->phase = PHASE_RECOMPUTE;
    op->after = graph->ops[a->twin->id - 1];
    op->observe = NULL;
    op->observed = NULL;
    op->out[0] = value_2d(p, arena_printf(p->arena, "%s.recomputed", x->name), x->role, x->dtype,
                          value_rows(x), value_cols(x), x->pos);
    return op;
}

/* Ops that wait for dA, which only held them back, wait for the op before it. */
static void let_go(const Graph *graph, const Again *a) {
    const Op *last = a->host[a->hosts - 1];
    for (int i = a->grad->id + 1; i < last->id; i++)
        if (graph->ops[i]->after == a->grad)
            graph->ops[i]->after = graph->ops[a->grad->id - 1];
}

/* Returns false, and changes nothing, where another path has taken the places. */
static bool make_again(Program *p, const GraphUses *uses, Place *places, const Again *a) {
    Value *kept;
    int last = a->host[a->hosts - 1]->id;
    if (places[a->twin->id].before || places[last].after || !find_kept(uses, a, places, &kept))
        return false;
    if (kept)
        keep(p, uses, places, kept);
    let_go(uses->graph, a);
    Op *grad = a->grad, *again = repeat_maker(p, uses->graph, a);
    places[a->twin->id].before = again;
    places[grad->id].moves = true;
    places[last].after = grad;
    for (int i = 0; i < a->hosts; i++)
        a->host[i]->attr.beside_a = true;
    grad->kind = OP_low_rank_grad_a;
    grad->attr.transpose_a = false;
    grad->in[1] = grad->in[0];
    grad->in[0] = again->out[0];
    return true;
}

static void rewrite(Program *p, Graph *graph, const Place *places) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        if (places[i].before)
            graph_add(p, graph, places[i].before);
        if (!places[i].moves)
            graph_add(p, graph, ops[i]);
        if (places[i].after)
            graph_add(p, graph, places[i].after);
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
    Place *places = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *places);
    bool found = false;
    for (int i = 0; i < graph->op_count; i++) {
        Again again;
        if (find_again(p, &uses, graph->ops[i], &again) && fits(device, &again) &&
            (wanted == EVERYWHERE || gains(device, p, &again)))
            found |= make_again(p, &uses, places, &again);
    }
    if (found)
        rewrite(p, graph, places);
    arena_free(&scratch);
    return found;
}
