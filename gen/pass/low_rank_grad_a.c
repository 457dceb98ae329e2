/* The gradient of a low-rank path's A reads x. Where pointwise ops make x from values that backward has
 * anyway, as SwiGLU and dropout do, backward makes x again, and forward does not keep it:
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
 * marked. With "auto" this is done where the device is expected to gain time, whether or not it also
 * saves memory: full recomputation keeps no x anyway. */
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "pass/low_rank_kernels.h"
#include "pass/pass.h"

enum { MOST_MAKERS = 4 };

typedef struct {
    Op *grad;               /* dA */
    Op *maker[MOST_MAKERS]; /* the ops that make x, in order */
    int makers;
    const Value *instead; /* what backward keeps instead of x; NULL: nothing more */
    Op *twin;             /* of backward; reads what the makers read; or NULL */
    Op *host[LOW_RANK_PATHS]; /* the gradients of paths whose dy the twin makes, in order */
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

/* Whether an op of backward, other than `grad`, reads the value under this name. */
static bool is_operand_in_backward(const GraphUses *uses, const Value *v, const Op *grad) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i] != grad && readers[i]->phase != PHASE_FORWARD)
            return true;
    return false;
}

/* Whether an op of backward, other than `grad`, reads anything of v, under whatever name. */
static bool is_read_in_backward(const GraphUses *uses, const Value *v, const Op *grad) {
    for (const Value *view = v->storage->views; view; view = view->next_view)
        if (value_overlaps(view, v) && is_operand_in_backward(uses, view, grad))
            return true;
    return false;
}

/* Whether backward reads some part of the matrix that v is a part of, which it then keeps. */
static bool kept_with_others(const GraphUses *uses, const Value *v) {
    for (const Value *view = v->storage->views; view; view = view->next_view)
        if (is_operand_in_backward(uses, view, NULL))
            return true;
    return false;
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

/* Whether the op of forward makes the value, and can make it again. */
static bool can_repeat(const Program *p, const GraphUses *uses, const Op *op, const Value *v) {
    return op && op->phase == PHASE_FORWARD && op->out_count == 1 && !op->ends_step &&
           v->role == ROLE_ACTIVATION && is_pointwise(p, op, v) && operands_last(uses, op);
}

/* Whether backward has the value anyway, or may keep it in place of x. */
static bool can_read(const GraphUses *uses, Again *a, const Value *v) {
    if (kept_with_others(uses, v) || v == a->instead)
        return true;
    if (a->instead || v->storage->bytes > a->grad->in[1]->storage->bytes)
        return false;
    a->instead = v;
    return true;
}

static bool is_made_here(const Again *a, const Value *v) {
    for (int i = 0; i < a->makers; i++)
        if (a->maker[i]->out[0] == v)
            return true;
    return false;
}

/* Adds the ops that make v to the makers, down to values that backward has. */
static bool add_makers(const Program *p, const GraphUses *uses, Again *a, const Value *v) {
    if (is_made_here(a, v))
        return true;
    Op *op = use_maker(uses, v);
    if (a->makers == MOST_MAKERS || !can_repeat(p, uses, op, v))
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

/* Calls for each activation that the makers read and do not make; stops where the answer is false. */
static bool all_sources(const Again *a, bool (*holds)(const void *, const Value *),
                        const void *context) {
    for (int i = 0; i < a->makers; i++)
        for (int k = 0; k < a->maker[i]->in_count; k++) {
            const Value *in = a->maker[i]->in[k];
            if (in->role == ROLE_ACTIVATION && !is_made_here(a, in) && !holds(context, in))
                return false;
        }
    return true;
}

static bool is_operand(const void *reader, const Value *v) { return op_reads(reader, v); }

static void find_twin(const Program *p, const GraphUses *uses, Again *a) {
    int count;
    Op *const *readers = use_readers(uses, a->maker[0]->in[0], &count);
    for (int i = 0; i < count && !a->twin; i++)
        if (readers[i]->phase == PHASE_BACKWARD && readers[i]->id > a->grad->id &&
            all_sources(a, is_operand, readers[i]) && is_pointwise(p, readers[i], a->grad->in[1]))
            a->twin = readers[i];
}

/* A kernel has paths of one shape. */
static bool is_host(const Op *op, const Again *a) {
    const Value *dy = op->in[0], *u = op->in[2], *x = a->grad->in[1], *v = a->grad->in[0];
    return op->kind == OP_low_rank_grads && dy->dtype == x->dtype &&
           low_rank_same_sizes(low_rank_shape(dy, u), low_rank_shape(x, v));
}

static void find_hosts(const Program *p, const GraphUses *uses, Again *a) {
    for (int k = 0; k < a->twin->out_count; k++) {
        int count;
        Op *const *readers = use_readers(uses, a->twin->out[k], &count);
        for (int i = 0; i < count && a->hosts < LOW_RANK_PATHS; i++)
            if (is_host(readers[i], a) && is_made_pointwise(p, uses->graph, readers[i]))
                a->host[a->hosts++] = readers[i];
    }
    if (a->hosts == 2 && a->host[0]->id > a->host[1]->id) {
        Op *later = a->host[0];
        a->host[0] = a->host[1];
        a->host[1] = later;
    }
}

/* Whether one kernel has room for all. */
static bool fits(const Device *device, const Again *a);

/* Leaves dA a kernel of its own. */
static void stay_alone(Again *a) {
    a->twin = NULL;
    a->hosts = 0;
}

static bool find_again(const Device *device, const Program *p, const GraphUses *uses, Op *grad,
                       Again *a) {
    *a = (Again){.grad = grad};
    if (!is_grad(grad) || is_read_in_backward(uses, grad->in[1], grad) ||
        !add_makers(p, uses, a, grad->in[1]))
        return false;
    find_twin(p, uses, a);
    if (a->twin)
        find_hosts(p, uses, a);
    if (!a->hosts || !op_may_move(uses->graph, grad, a->host[a->hosts - 1]) || !fits(device, a))
        stay_alone(a);
    return fits(device, a);
}

/* ---- time ------------------------------------------------------------------------------------ */

static LowRankShape shape_of(const Again *a, bool beside_a) {
    LowRankShape shape = low_rank_shape(a->grad->in[1], a->grad->in[0]);
    shape.pointwise = true;
    shape.beside_a = beside_a;
    return shape;
}

static bool fits(const Device *device, const Again *a) {
    LowRankShape shape = shape_of(a, a->hosts > 0);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    return tiles.cols && low_rank_two_blocks_fit(shape, &tiles, (LowRankMade){a->hosts, 1}, device);
}

static double bytes_ms(const Device *device, double bytes) {
    return device_kernel_ms(device, RATE_F32, 0, 0, (Traffic){bytes, bytes}, (Grid){0});
}

/* The second kernel, which adds dA's parts. */
static double add_parts_ms(const Device *device, const Again *a, double parts) {
    double result = (double)value_bytes(a->grad->out[0]);
    return bytes_ms(device, parts + (a->grad->attr.accumulate ? 2 : 1) * result);
}

/* Copies of u out of the matrices that are no longer kept. */
static double copies_ms(const Device *device, const Again *a) {
    double ms = 0, u = (double)value_bytes(a->grad->in[0]);
    for (int i = 0; i < a->makers; i++)
        if (a->maker[i]->out[0]->storage->bytes > value_bytes(a->maker[i]->out[0]))
            ms += bytes_ms(device, 2 * u);
    return ms;
}

/* What the hosts' kernel takes longer, the kernel that adds dA's parts, and the copy of u. */
static double beside_hosts_ms(const Device *device, const Again *a) {
    LowRankShape shape = shape_of(a, true), alone = shape_of(a, false);
    LowRankTiles tiles = low_rank_tiles(shape, device), wide = low_rank_tiles(alone, device);
    double more_parts =
        a->hosts *
        (low_rank_grads_part_bytes(shape, &tiles) - low_rank_grads_part_bytes(alone, &wide));
    return bytes_ms(device, 2 * more_parts + low_rank_grad_a_bytes(shape, &tiles)) -
           bytes_ms(device, 0) + copies_ms(device, a) +
           add_parts_ms(device, a, low_rank_grad_a_part_bytes(shape, &tiles));
}

/* Adds a source's bytes to the sum. */
static bool add_bytes(const void *sum, const Value *v) {
    *(double *)sum += (double)value_bytes(v);
    return true;
}

/* Whether forward reads x only for u = x A^T, in a kernel that can make it: then it is not stored. */
static bool is_only_for_u(const GraphUses *uses, const Again *a) {
    int count;
    Op *const *readers = use_readers(uses, a->grad->in[1], &count);
    return count == 2 && op_is_low_rank_product(readers[0] == a->grad ? readers[1] : readers[0]);
}

static double alone_ms(const Device *device, const Program *p, const GraphUses *uses,
                       const Again *a) {
    LowRankShape shape = shape_of(a, false);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    double bytes = low_rank_grad_a_bytes(shape, &tiles);
    all_sources(a, add_bytes, &bytes);
    double stored = is_only_for_u(uses, a) ? (double)value_bytes(a->grad->in[1]) : 0;
    return device_fused_ms(device, program_rate(p), device->fused_share, op_flops(a->grad),
                           (Traffic){bytes, bytes}, (Grid){0}) +
           copies_ms(device, a) +
           add_parts_ms(device, a, low_rank_grad_a_part_bytes(shape, &tiles)) -
           (bytes_ms(device, stored) - bytes_ms(device, 0));
}

static bool gains(const Device *device, const Program *p, const GraphUses *uses, const Again *a) {
    double ms = a->hosts ? beside_hosts_ms(device, a) : alone_ms(device, p, uses, a);
    return ms < device_op_ms(device, p, a->grad);
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Ops that go before or after one of the graph, by its index. */
typedef struct {
    Op *before[MOST_MAKERS], *after;
    bool moves;
} Place;

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

/* Finds the other column of the matrix of x (or of what x is made from) that backward reads, if any;
 * false if there are several, or if no copy could take its place. */
static bool find_kept(const GraphUses *uses, const Value *x, const Place *places, Value **kept) {
    *kept = NULL;
    for (Value *v = x->storage->views; v; v = v->next_view) {
        if (value_overlaps(v, x) || !is_operand_in_backward(uses, v, NULL))
            continue;
        const Value *column = v->rank == 2 ? filled(uses, v) : NULL;
        if (*kept || !column || places[use_maker(uses, column)->id].after)
            return false;
        *kept = v;
    }
    return true;
}

/* The op that holds back what is put right before op `first`: the nearest one that will not move. */
static Op *op_before(const Graph *graph, const Op *first) {
    int i = first->id - 1;
    while (i > 0 && (is_grad(graph->ops[i]) || graph->ops[i]->kind == OP_low_rank_grad_a))
        i--;
    return graph->ops[i];
}

/* Repeats the makers, right before op `first`. */
static void repeat_makers(Program *p, const Graph *graph, const Again *a, const Op *first,
                          Op **again) {
    for (int i = 0; i < a->makers; i++) {
        const Value *v = a->maker[i]->out[0];
        Op *op = again[i] = arena_alloc(p->arena, sizeof *op);
        *op = *a->maker[i];
        op->name = arena_printf(p->arena, "%s.recomputed", op->name);
        op->phase = PHASE_RECOMPUTE;
        op->after = op_before(graph, first);
        op->observe = NULL;
        op->observed = NULL;
        op->out[0] = value_2d(p, arena_printf(p->arena, "%s.recomputed", v->name), v->role,
                              v->dtype, value_rows(v), value_cols(v), v->pos);
        for (int k = 0; k < i; k++)
            op_read_instead(op, a->maker[k]->out[0], again[k]->out[0]);
    }
}

/* Ops that wait for dA, which only held them back, wait for what is before it. */
static void let_go(const Graph *graph, const Op *grad, const Op *last) {
    for (int i = grad->id + 1; i < last->id; i++)
        if (graph->ops[i]->after == grad)
            graph->ops[i]->after = op_before(graph, grad);
}

static void move_to_hosts(const Graph *graph, Place *places, const Again *a) {
    Op *last = a->host[a->hosts - 1];
    let_go(graph, a->grad, last);
    places[a->grad->id].moves = true;
    places[last->id].after = a->grad;
    a->grad->attr.beside_a = true;
    for (int i = 0; i < a->hosts; i++)
        a->host[i]->attr.beside_a = true;
}

/* Whether no other path has taken the places. */
static bool has_places(const Place *places, const Again *a) {
    return !a->hosts ||
           (!places[a->twin->id].before[0] && !places[a->host[a->hosts - 1]->id].after);
}

/* Returns false, and changes nothing, where that is not possible. */
static bool make_again(Program *p, const GraphUses *uses, Place *places, const Again *a) {
    Value *kept[MOST_MAKERS];
    for (int i = 0; i < a->makers; i++)
        if (!find_kept(uses, a->maker[i]->out[0], places, &kept[i]))
            return false;
    if (!has_places(places, a))
        return false;
    for (int i = 0; i < a->makers; i++)
        if (kept[i])
            keep(p, uses, places, kept[i]);
    Op *grad = a->grad, *first = a->hosts ? a->twin : grad, **again = places[first->id].before;
    repeat_makers(p, uses->graph, a, first, again);
    if (a->hosts)
        move_to_hosts(uses->graph, places, a);
    grad->kind = OP_low_rank_grad_a;
    grad->attr.transpose_a = false;
    grad->in[1] = grad->in[0];
    grad->in[0] = again[a->makers - 1]->out[0];
    return true;
}

static void rewrite(Program *p, Graph *graph, const Place *places) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < MOST_MAKERS && places[i].before[k]; k++)
            graph_add(p, graph, places[i].before[k]);
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
        if (find_again(device, p, &uses, graph->ops[i], &again) &&
            (wanted == EVERYWHERE || gains(device, p, &uses, &again)))
            found |= make_again(p, &uses, places, &again);
    }
    if (found)
        rewrite(p, graph, places);
    arena_free(&scratch);
    return found;
}
