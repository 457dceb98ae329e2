/* Weight gradients that read the same x become one product:
 *
 *     [dW1;dW2] = [dy1|dy2]^T x
 *
 * so that x is read once. Requires gradients; the train state, which makes the A's of linears that
 * read the same x adjacent; and bordering, which does the same for the gradients of their results.
 * Before lower. Linears whose forward can be joined too have been joined by join_linears. */
#include "pass/bordered.h"

/* In the order of their results in memory. */
typedef struct {
    Op *op[MAX_SITES];
    int count;
} Group;

static bool is_weight_gradient(const Op *op) {
    return op->kind == OP_matmul && op->attr.transpose_a && !op->attr.transpose_b && !op->observe &&
           !op->after && value_dense(op->out[0]);
}

static bool op_follows(const Op *a, const Op *b) {
    return is_weight_gradient(b) && b->in[1] == a->in[1] &&
           value_columns_follow(a->in[0], b->in[0]) && value_rows_follow(a->out[0], b->out[0]) &&
           a->attr.accumulate == b->attr.accumulate && a->attr.alpha == b->attr.alpha;
}

static Op *find_next(const GraphUses *uses, const Op *op) {
    int count;
    Op *const *reader = use_readers(uses, op->in[1], &count);
    for (int i = 0; i < count; i++)
        if (op_follows(op, reader[i]))
            return reader[i];
    return NULL;
}

static bool has_previous(const GraphUses *uses, const Op *op) {
    int count;
    Op *const *reader = use_readers(uses, op->in[1], &count);
    for (int i = 0; i < count; i++)
        if (is_weight_gradient(reader[i]) && op_follows(reader[i], op))
            return true;
    return false;
}

static Group group_from(const GraphUses *uses, Op *first) {
    Group g = {{0}, 0};
    for (Op *op = first; op && g.count < MAX_SITES; op = find_next(uses, op))
        g.op[g.count++] = op;
    return g;
}

static Op *last_of(const Group *g) {
    Op *last = g->op[0];
    for (int i = 1; i < g->count; i++)
        last = g->op[i]->id > last->id ? g->op[i] : last;
    return last;
}

static bool has(const Group *g, const Op *op) {
    for (int i = 0; i < g->count; i++)
        if (g->op[i] == op)
            return true;
    return false;
}

/* Whether an op may be delayed to the place of the group's last op. */
static bool may_wait(const GraphUses *uses, const Group *g, const Op *op) {
    for (int at = op->id + 1; at < last_of(g)->id; at++) {
        const Op *other = uses->graph->ops[at];
        if (ops_meet(other, op) && !has(g, other))
            return false;
    }
    return true;
}

static bool may_join(const GraphUses *uses, const Group *g) {
    for (int i = 0; i < g->count; i++)
        if (!may_wait(uses, g, g->op[i]))
            return false;
    return g->count > 1;
}

static Value *result_of(const Op *op) { return op->out[0]; }

static Value *rows_of_all(Program *p, const Group *g, const char *name, Value *of(const Op *)) {
    Value *all = value_alias(p, of(g->op[0]), name);
    for (int i = 1; i < g->count; i++)
        all->dim[0] += value_rows(of(g->op[i]));
    return all;
}

/* The value that was written, if an op wrote all columns at once. */
static Value *columns_of_all(Program *p, const Group *g, const char *name) {
    Value *first = g->op[0]->in[0], wide = *first;
    for (int i = 1; i < g->count; i++)
        wide.dim[1] += value_cols(g->op[i]->in[0]);
    for (Value *view = first->storage->views; view; view = view->next_view)
        if (value_same_view(view, &wide))
            return view;
    Value *all = value_alias(p, first, name);
    all->dim[1] = wide.dim[1];
    return all;
}

static void add_product(Program *p, Graph *graph, const Group *g) {
    const Op *like = g->op[0];
    const char *name = joined_name(p->arena, g->op, g->count);
    bool adds = like->attr.accumulate;
    Value *dw = rows_of_all(p, g, name, result_of);
    Value *in[] = {columns_of_all(p, g, arena_printf(p->arena, "%s.dy", name)), like->in[1],
                   adds ? rows_of_all(p, g, name, op_so_far) : NULL};
    op_add_into(p, graph, OP_matmul, name, in, 2 + adds, &dw, 1, like->attr, like->pos);
}

/* By op: its group; NULL: the op stays. */
static const Group **find_groups(const GraphUses *uses, Arena *scratch) {
    const Graph *graph = uses->graph;
    const Group **of = arena_array(scratch, (size_t)graph->op_count + 1, sizeof *of);
    for (int i = 0; i < graph->op_count; i++) {
        Op *op = graph->ops[i];
        if (!is_weight_gradient(op) || of[i] || has_previous(uses, op))
            continue;
        Group *g = arena_alloc(scratch, sizeof *g);
        *g = group_from(uses, op);
        for (int k = 0; k < g->count && may_join(uses, g); k++)
            of[g->op[k]->id] = g;
    }
    return of;
}

static void join_graph(Program *p, Graph *graph) {
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    const Group **of = find_groups(&uses, &scratch);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        if (!of[i])
            graph_add(p, graph, old.ops[i]);
        else if (old.ops[i] == last_of(of[i]))
            add_product(p, graph, of[i]);
    arena_free(&scratch);
}

bool pass_join_gradients(Program *p, const Spec *spec) {
    Graph *graph;
    if (!spec->compile.joined_linears)
        return false;
    for (int i = 0; (graph = program_forward(p, i)) != NULL; i++)
        join_graph(p, graph);
    return true;
}
