/* The op table; making, changing and finding ops. */
#include "graph/op_table.h"

#include <string.h>

enum {
    S = STAGE_SEMANTIC,
    K = STAGE_KERNEL,
    SK = S | K,
    ADDS = TRAIT_ADDS,
    ONLY_ADDS = TRAIT_ONLY_ADDS,
    VIEW = TRAIT_VIEW,
    EPILOGUE = TRAIT_EPILOGUE,
    COLLECTIVE = TRAIT_COLLECTIVE,
    MOVES = TRAIT_MOVES,
    AGAIN = TRAIT_AGAIN,
    UPDATES = TRAIT_UPDATES,
    SINK = TRAIT_SINK,
    DECODES = TRAIT_DECODES,
    SAMPLES = TRAIT_SAMPLES,
    WINDOWS = TRAIT_WINDOWS,
    NAMES = TRAIT_NAMES,
    EMBEDS = TRAIT_EMBEDS,
    IN_PLACE = TRAIT_IN_PLACE
};

/* Operands, for ROWS. */
enum { IN0 = 1, IN2 = 4, IN3 = 8, IN4 = 16, IN8 = 256, IN9 = 512 };
#define FIRST(n) ((1 << (n)) - 1)

#define COLUMNS(operands) ((operands) * TRAIT_COLUMNS)
#define ROWS(operands) ((unsigned)(operands) * TRAIT_ROWS)

#define no_gradient NULL
#define no_steps NULL
#define no_flops NULL

const OpInfo op_table[OP_COUNT] = {
#define OP(name, traits, shape, gradient, expand, flops, launch) \
    [OP_##name] = {#name, traits, shape, gradient, expand, flops},
#include "graph/ops.h"
#undef OP
};

bool op_applied(const Op *op, Op *apply) {
    static const OpKind kinds[OP_COUNT] = {
#define OP(name, ...)
#define APPLIED_OP(name, traits, shape, gradient, expand, flops, launch, apply) \
    [OP_##name] = OP_##apply,
#include "graph/ops.h"
#undef OP
    };
    if (!kinds[op->kind]) /* the first kind applies nothing */
        return false;
    *apply = *op;
    apply->kind = kinds[op->kind];
    apply->attr = (Attr){0};
    apply->out_count = 1;
    for (int i = 1; i < op->out_count; i++) {
        apply->out[i] = NULL;
        apply->in[apply->in_count++] = op->out[i];
    }
    return true;
}

bool op_reads_rows(const Op *op, int operand) {
    const Value *v = op->in[operand];
    bool exchange = op_is(op, TRAIT_COLLECTIVE);
    return op_is(op, (unsigned)TRAIT_ROWS << operand) && v->rank == 2 && !v->plane &&
           (exchange || value_rows(v) == value_rows(op->out[0]));
}

int op_reads_columns(const Op *op) {
    return (int)(op_table[op->kind].traits / TRAIT_COLUMNS % (TRAIT_ROWS / TRAIT_COLUMNS));
}

bool op_goes_by_rows(const Op *op) {
    if (op->in_count == 0 || op->out_count == 0 || op->observe || op->attr.transpose_a)
        return false;
    for (int i = 0; i < op->out_count; i++)
        if (op->out[i]->rank != 2 || op->out[i]->plane ||
            value_rows(op->out[i]) != value_rows(op->out[0]))
            return false;
    return op_reads_rows(op, 0);
}

double op_flops(const Op *op) {
    FlopsRule *rule = op_table[op->kind].flops;
    return rule ? rule(op) : 0;
}

/* Each row of the result uses all of the zeros. */
double op_model_flops(const Op *op) {
    if (op->phase == PHASE_RECOMPUTE || op->extra)
        return 0;
    double zeros = (double)op->attr.zeros;
    return op_flops(op) - (zeros > 0 ? 2 * zeros * (double)value_rows(op->out[0]) : 0);
}

const char *op_title(const Op *op) {
    bool copies = op->kind == OP_cast && op->in[0]->dtype == op->out[0]->dtype;
    return copies ? "copy" : op_table[op->kind].name;
}

static Op *op_new(Program *p, OpKind kind, const char *name, Value *const *in, int in_count,
                  Attr attr, Pos pos) {
    ENSURE(in_count <= MAX_OPERANDS, "%s has %d operands", name, in_count);
    Op *op = arena_alloc(p->arena, sizeof *op);
    *op = (Op){.kind = kind,
               .name = arena_strdup(p->arena, name),
               .in_count = in_count,
               .attr = attr,
               .pos = pos};
    if (in_count)
        memcpy(op->in, in, (size_t)in_count * sizeof *in);
    return op;
}

Op *op_copy(Program *p, const Op *op) {
    Op *copy = arena_alloc(p->arena, sizeof *copy);
    *copy = *op;
    return copy;
}

void graph_add(Program *p, Graph *graph, Op *op) {
    graph->ops = arena_grow(p->arena, graph->ops, graph->op_count, &graph->op_capacity, sizeof op);
    op->id = graph->op_count;
    graph->ops[graph->op_count++] = op;
}

Op *op_add_into(Program *p, Graph *graph, OpKind kind, const char *name, Value *const *in,
                int in_count, Value *const *out, int out_count, Attr attr, Pos pos) {
    Op *op = op_new(p, kind, name, in, in_count, attr, pos);
    ENSURE(out_count <= MAX_RESULTS, "%s has %d results", name, out_count);
    if (out_count)
        memcpy(op->out, out, (size_t)out_count * sizeof *out);
    op->out_count = out_count;
    op_table[kind].shape(p, op);
    graph_add(p, graph, op);
    return op;
}

Op *op_add(Program *p, Graph *graph, OpKind kind, const char *name, Value *const *in, int in_count,
           Attr attr, Pos pos) {
    return op_add_into(p, graph, kind, name, in, in_count, NULL, 0, attr, pos);
}

Op *op_add_in_place(Program *p, Graph *graph, OpKind kind, const char *name, Value *v,
                    const char *result, Attr attr, Pos pos) {
    Value *out = value_alias(p, v, result);
    return op_add_into(p, graph, kind, name, &v, 1, &out, 1, attr, pos);
}

Graph graph_take(Graph *graph) {
    const Graph old = *graph;
    *graph = (Graph){.name = old.name};
    return old;
}

void graph_set_ops(Program *p, Graph *graph, Op **ops, int count) {
    graph_take(graph);
    for (int i = 0; i < count; i++)
        graph_add(p, graph, ops[i]);
}

void graph_remove(Program *p, Graph *graph, const bool *gone) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        if (!gone[i])
            graph_add(p, graph, old.ops[i]);
}

bool graph_waits_for(const Graph *graph, const Op *op) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->after == op)
            return true;
    return false;
}

bool graph_may_move(const Graph *graph, const Op *op, const Op *other) {
    int first = op->id < other->id ? op->id : other->id;
    int last = op->id < other->id ? other->id : op->id;
    for (int i = first + 1; i < last; i++)
        if (ops_meet(graph->ops[i], op))
            return false;
    return true;
}

Op *graph_find(const Graph *graph, OpKind kind) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == kind)
            return graph->ops[i];
    return NULL;
}

Op *graph_producer(const Graph *graph, const Value *v) {
    for (int i = graph->op_count - 1; i >= 0; i--)
        for (int k = 0; k < graph->ops[i]->out_count; k++)
            if (graph->ops[i]->out[k] == v)
                return graph->ops[i];
    return NULL;
}

Op *graph_last(const Graph *graph, bool (*does)(const Op *, const Value *), const Value *v) {
    for (int i = graph->op_count - 1; i >= 0; i--)
        if (does(graph->ops[i], v))
            return graph->ops[i];
    internal_fault(__FILE__, __LINE__, "%s is never made", v->name);
}

bool op_reads(const Op *op, const Value *v) {
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i] == v)
            return true;
    return false;
}

Value *op_so_far(const Op *op) { return op->attr.accumulate ? op->in[op->in_count - 1] : NULL; }

static bool overlaps_any(Value *const *values, int count, const Value *v) {
    for (int i = 0; i < count; i++)
        if (value_overlaps(values[i], v))
            return true;
    return false;
}

bool op_is_plain(const Op *op) {
    return !op->after && !op->observe && !op->observed && !op->apart && !op->ends_step;
}

bool op_reads_part(const Op *op, const Value *v) {
    return overlaps_any(op->in, op->in_count, v);
}

bool op_writes_part(const Op *op, const Value *v) {
    return overlaps_any(op->out, op->out_count, v);
}

bool op_uses_part(const Op *op, const Value *v) {
    return op_reads_part(op, v) || op_writes_part(op, v);
}

bool op_reads_from(const Op *op, const Op *maker) {
    for (int i = 0; i < maker->out_count; i++)
        if (op_reads_part(op, maker->out[i]))
            return true;
    return false;
}

bool ops_meet(const Op *a, const Op *b) {
    for (int i = 0; i < a->out_count; i++)
        if (op_uses_part(b, a->out[i]))
            return true;
    return op_reads_from(a, b);
}

void op_read_instead(Op *op, const Value *from, Value *to) {
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i] == from)
            op->in[i] = to;
}

void op_expect(const Op *op, bool condition, const char *what) {
    ENSURE(condition, "op %s (%s): %s", op->name, op_table[op->kind].name, what);
}

void op_expect_operands(const Op *op, int count) {
    bool adds = op->attr.accumulate;
    op_expect(op, op->in_count == count + adds, "operands");
    op_expect(op, !adds || (op->out_count > 0 && value_same_place(op->in[count], op->out[0])),
              "accumulates, but not in place");
}

static Value *result(Program *p, Op *op, int i, const char *suffix, const Value *like) {
    if (i >= op->out_count)
        op->out_count = i + 1;
    if (!op->out[i]) {
        const char *name = arena_printf(p->arena, "%s%s", op->name, suffix);
        op->out[i] =
            value_new(p, name, ROLE_ACTIVATION, like->dtype, like->rank, like->dim, op->pos);
        op->out[i]->plane = like->plane;
    }
    Value *v = op->out[i];
    bool same = v->rank == like->rank && v->plane == like->plane;
    for (int k = 0; same && k < like->rank; k++)
        same = v->dim[k] == like->dim[k];
    op_expect(op, same, "a result has another shape than the op's rule gives");
    return v;
}

Value *result_shaped(Program *p, Op *op, int i, DType dtype, int rank, const int64_t *dim) {
    Value like = {.dtype = dtype, .rank = rank};
    memcpy(like.dim, dim, (size_t)rank * sizeof *dim);
    return result(p, op, i, "", &like);
}

Value *result_images(Program *p, Op *op, int i, const char *suffix, DType dtype, int64_t rows,
                     int64_t cols, int64_t plane) {
    return result(p, op, i, suffix,
                  &(Value){.dtype = dtype, .rank = 2, .dim = {rows, cols}, .plane = plane});
}

Value *result_2d(Program *p, Op *op, int i, const char *suffix, DType dtype, int64_t rows,
                 int64_t cols) {
    return result_images(p, op, i, suffix, dtype, rows, cols, 0);
}

Value *result_1d(Program *p, Op *op, int i, const char *suffix, DType dtype, int64_t cols) {
    return result(p, op, i, suffix, &(Value){.dtype = dtype, .rank = 1, .dim = {cols}});
}

Value *result_like(Program *p, Op *op, int i, const Value *like) {
    return result(p, op, i, "", like);
}

Body *op_expand(Arena *arena, const Program *p, const Op *op) {
    if (!op_table[op->kind].expand)
        return NULL;
    Body *body = body_new(arena, 0, 0);
    body->program = p;
    op_table[op->kind].expand(op, body);
    ENSURE(body->rows > 0 && body->cols > 0, "op %s: its body has no space", op->name);
    return body;
}
