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
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "pass/again.h"
#include "pass/bordered.h"
#include "pass/low_rank_kernels.h"

enum { MOST_MAKERS = 4 };

typedef struct {
    Op *grad;               /* dA */
    Op *maker[MOST_MAKERS]; /* the ops that make x again, in order, as they would be in forward */
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
static bool add_makers(Program *p, const GraphUses *uses, Again *a, const Value *v) {
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
            all_sources(a, is_operand, readers[i]) && again_is_pointwise(p, readers[i], a->grad->in[1]))
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
            if (is_host(readers[i], a) && is_made_pointwise(p, uses, readers[i]))
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

static bool find_again(const Device *device, Program *p, const GraphUses *uses, Op *grad, Again *a) {
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

/* Of a kernel of the hosts, without dA. */
static LowRankShape hosts_shape(const Again *a) {
    LowRankShape shape = low_rank_shape(a->grad->in[1], a->grad->in[0]);
    shape.pointwise = true;
    return shape;
}

/* Of the kernel that has dA. */
static LowRankShape shape_of(const Again *a) {
    LowRankShape shape = hosts_shape(a);
    shape.beside_a = a->hosts > 0;
    shape.only_a = !shape.beside_a;
    return shape;
}

static bool fits(const Device *device, const Again *a) {
    LowRankShape shape = shape_of(a);
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

/* Copies of the other columns of the matrices that are no longer kept. */
static double copies_ms(const Device *device, const Again *a) {
    double ms = 0;
    for (int i = 0; i < a->makers; i++) {
        const Value *made = a->maker[i]->out[0];
        double others = (double)(made->storage->bytes - value_bytes(made));
        ms += others > 0 ? bytes_ms(device, 2 * others) : 0;
    }
    return ms;
}

/* What the hosts' kernel takes longer, the kernel that adds dA's parts, and the copy of u. */
static double beside_hosts_ms(const Device *device, const Again *a) {
    LowRankShape shape = shape_of(a), alone = hosts_shape(a);
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
    const Value *x = a->grad->in[1];
    Op *const *readers = use_readers(uses, x, &count);
    for (const Value *v = x->storage->views; v; v = v->next_view) {
        int others;
        if (v != x && value_overlaps(v, x) && use_readers(uses, v, &others))
            return false;
    }
    return count == 2 && op_is_low_rank_product(readers[0] == a->grad ? readers[1] : readers[0]);
}

static double alone_ms(const Device *device, const Program *p, const GraphUses *uses,
                       const Again *a) {
    LowRankShape shape = shape_of(a);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    double issued = low_rank_grad_a_bytes(shape, &tiles), sources = 0;
    all_sources(a, add_bytes, &sources);
    double once = low_rank_grad_a_part_bytes(shape, &tiles) + (double)value_bytes(a->grad->in[0]);
    double stored = is_only_for_u(uses, a) ? (double)value_bytes(a->grad->in[1]) : 0;
    return device_fused_ms(device, program_rate(p), device->fused_share, op_flops(a->grad),
                           (Traffic){sources + issued, sources + once}, (Grid){0}) +
           copies_ms(device, a) +
           add_parts_ms(device, a, low_rank_grad_a_part_bytes(shape, &tiles)) -
           (bytes_ms(device, stored) - bytes_ms(device, 0));
}

/* Time that x's place in memory is worth: a reading of what forward no longer keeps. */
static double worth_ms(const Device *device, const Spec *spec, const Again *a) {
    if (spec->activation_checkpoint.mode == RECOMPUTE_FULL)
        return 0;
    int64_t kept = a->instead ? a->instead->storage->bytes : 0;
    return bytes_ms(device, (double)(value_bytes(a->grad->in[1]) - kept)) - bytes_ms(device, 0);
}

static bool gains(const Device *device, const Program *p, const Spec *spec, const GraphUses *uses,
                  const Again *a) {
    double ms = a->hosts ? beside_hosts_ms(device, a) : alone_ms(device, p, uses, a);
    return ms < device_op_ms(device, p, a->grad) + worth_ms(device, spec, a);
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Ops that go before or after one of the graph, by its index. */
typedef struct {
    Op *before[MOST_MAKERS], *after;
    bool moves;
} Place;

/* The columns of x's matrix (or of that of what x is made from) behind x. */
typedef struct {
    Value *matrix; /* NULL: there are none that backward reads */
    int64_t first, cols;
    Op *writer[MAX_SITES]; /* of forward, which fill them, in order */
    int writers;
} Others;

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

static bool is_in(const Others *others, const Value *v) {
    int64_t col = v->offset - others->matrix->offset;
    return v->rank == 2 && v->row_stride == others->matrix->row_stride &&
           value_rows(v) == value_rows(others->matrix) && v->dtype == others->matrix->dtype &&
           col >= others->first && col + value_cols(v) <= others->first + others->cols;
}

/* The matrix whose first columns are x: the name that covers all of x's place. */
static Value *matrix_of(const Value *x) {
    for (Value *v = x->storage->views; v; v = v->next_view)
        if (v->rank == 2 && v->offset == x->offset && value_cols(v) == x->row_stride &&
            value_rows(v) == value_rows(x) && v->dtype == x->dtype)
            return v;
    return NULL;
}

/* Adds an op that fills some of the columns; false if there are too many, if backward fills them, or
 * if another op fills the same ones. */
static bool add_writer(const GraphUses *uses, Others *others, const Value *column) {
    Op *writer = use_maker(uses, column);
    for (const Value *v = column->storage->views; v; v = v->next_view)
        if (v != column && use_maker(uses, v) && value_overlaps(v, column))
            return false;
    if (others->writers == MAX_SITES || writer->phase != PHASE_FORWARD || !is_in(others, column))
        return false;
    int at = others->writers++;
    for (; at > 0 && others->writer[at - 1]->id > writer->id; at--)
        others->writer[at] = others->writer[at - 1];
    others->writer[at] = writer;
    return true;
}

/* Whether an op before the last writer reads the value. */
static bool is_read_early(const GraphUses *uses, const Others *others, const Value *v) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (readers[i]->id < others->writer[others->writers - 1]->id)
            return true;
    return false;
}

/* Whether the columns are filled once, each before it is read, and can have a place of their own. */
static bool can_be_kept(const GraphUses *uses, const Value *x, Others *others) {
    int64_t filled = 0;
    for (Value *v = x->storage->views; v; v = v->next_view)
        if (use_maker(uses, v) && v->offset >= others->matrix->offset + others->first) {
            if (!add_writer(uses, others, v))
                return false;
            filled += value_cols(v);
        }
    for (const Value *v = x->storage->views; v; v = v->next_view)
        if (!value_overlaps(v, x) && (is_in(others, v) ? is_read_early(uses, others, v)
                                                       : is_operand_in_backward(uses, v, NULL)))
            return false;
    return filled == others->cols;
}

/* Finds the columns that backward reads; false if no copy could take their place. */
static bool find_others(const GraphUses *uses, const Value *x, const Place *places, Others *others) {
    *others = (Others){0};
    bool read = false;
    for (Value *v = x->storage->views; v; v = v->next_view)
        read |= !value_overlaps(v, x) && is_operand_in_backward(uses, v, NULL);
    if (!read)
        return true;
    others->matrix = matrix_of(x);
    others->first = value_cols(x);
    others->cols = x->row_stride - others->first;
    if (!others->matrix || !can_be_kept(uses, x, others))
        return false;
    if (places[others->writer[others->writers - 1]->id].after)
        others->matrix = NULL; /* they have their own place already */
    return true;
}

/* Gives these columns a place of their own, from which they are copied into the matrix for forward. */
static void keep(Program *p, const GraphUses *uses, Place *places, const Others *others) {
    const Value *matrix = others->matrix;
    int64_t first = others->first, begin = matrix->offset + first;
    Op *last = others->writer[others->writers - 1];
    const char *name = others->writers > 1
                           ? joined_name(p->arena, others->writer, others->writers)
                           : last->name;
    Value *to = value_columns(p, others->matrix, first, others->cols, name);
    Value *kept = value_2d(p, arena_printf(p->arena, "%s.kept", name), matrix->role, matrix->dtype,
                           value_rows(matrix), others->cols, matrix->pos);
    for (Value *v = matrix->storage->views; v; v = v->next_view) {
        if (v == to || !is_in(others, v))
            continue;
        Value *own = kept;
        if (value_cols(v) < others->cols)
            own = value_columns(p, kept, v->offset - begin, value_cols(v),
                                arena_printf(p->arena, "%s.kept", v->name));
        Op *maker = use_maker(uses, v);
        for (int i = 0; maker && i < maker->out_count; i++)
            if (maker->out[i] == v)
                maker->out[i] = own;
        int count;
        Op *const *readers = use_readers(uses, v, &count);
        for (int i = 0; i < count; i++)
            if (readers[i]->phase != PHASE_FORWARD)
                op_read_instead(readers[i], v, own);
    }
    places[last->id].after = op_new(p, OP_cast, name, kept, to);
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
    Others others[MOST_MAKERS];
    for (int i = 0; i < a->makers; i++)
        if (!find_others(uses, a->maker[i]->out[0], places, &others[i]))
            return false;
    if (!has_places(places, a))
        return false;
    for (int i = 0; i < a->makers; i++)
        if (others[i].matrix)
            keep(p, uses, places, &others[i]);
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
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        for (int k = 0; k < MOST_MAKERS && places[i].before[k]; k++)
            graph_add(p, graph, places[i].before[k]);
        if (!places[i].moves)
            graph_add(p, graph, old.ops[i]);
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
            (wanted == EVERYWHERE || gains(device, p, spec, &uses, &again)))
            found |= make_again(p, &uses, places, &again);
    }
    if (found)
        rewrite(p, graph, places);
    arena_free(&scratch);
    return found;
}
