/* RoPE of q and of k becomes one op over [q|k], forward and backward.
 *
 * Requires gradients, and that bordering or join_linears has made q and k columns of one product;
 * before lower. Two rotations by the same angles become one if their operands, and their results,
 * are adjacent columns or can become columns of one matrix. If either could be fused with an op that
 * reads its result, such as the sum for a bias's gradient, they stay separate. (No rotation can be
 * fused with the op that makes its operand, because each thread also reads another one's element.) */
#include "graph/op_table.h"
#include "pass/bordered.h"

/* In the order of their columns. */
typedef struct {
    Op *first, *second;
} Pair;

static bool is_rope(const Op *op) {
    return (op->kind == OP_rope || op->kind == OP_rope_grad) && !op->observe && !op->after;
}

static bool same_angles(const Op *a, const Op *b) {
    for (int i = 1; i < a->in_count; i++)
        if (a->in[i] != b->in[i])
            return false;
    return a->kind == b->kind && a->attr.head_dim == b->attr.head_dim;
}

static bool may_move(const GraphUses *uses, const Value *v) {
    return value_can_move(v) && use_can_stride(uses, v) && v->role == ROLE_ACTIVATION;
}

static bool may_follow(const GraphUses *uses, const Value *v, const Value *w) {
    return value_columns_follow(v, w) ||
           (may_move(uses, v) && may_move(uses, w) && v->storage != w->storage);
}

/* Whether an op that reads either result could share the rotation's kernel. */
static bool may_be_fused(const GraphUses *uses, const Op *a, const Op *b) {
    return use_read_by_body(uses, a->out[0]) || use_read_by_body(uses, b->out[0]);
}

static bool is_pair(const GraphUses *uses, const Op *a, const Op *b) {
    const Op *early = a->id < b->id ? a : b, *late = a->id < b->id ? b : a;
    return is_rope(b) && same_angles(a, b) && may_follow(uses, a->in[0], b->in[0]) &&
           may_follow(uses, a->out[0], b->out[0]) && !may_be_fused(uses, a, b) &&
           graph_may_move(uses->graph, early, late);
}

static Op *find_second(const GraphUses *uses, const Op *first) {
    int count;
    Op *const *reader = use_readers(uses, first->in[1], &count);
    for (int i = 0; i < count; i++)
        if (is_pair(uses, first, reader[i]))
            return reader[i];
    return NULL;
}

/* v and w as one matrix; moves them into one if they are not adjacent columns. */
static Value *columns_of_both(Program *p, Value *v, Value *w, const char *name) {
    if (!value_columns_follow(v, w)) {
        Value *both = value_2d(p, name, ROLE_ACTIVATION, v->dtype, value_rows(v),
                               value_cols(v) + value_cols(w), v->pos);
        value_move(v, value_columns(p, both, 0, value_cols(v), v->name));
        value_move(w, value_columns(p, both, v->dim[1], value_cols(w), w->name));
        return both;
    }
    Value *both = value_alias(p, v, name);
    both->dim[1] += value_cols(w);
    return both;
}

static void add_both(Program *p, Graph *graph, const Pair *pair) {
    const Op *first = pair->first, *second = pair->second;
    const char *name = joined_name(p->arena, (Op *[]){pair->first, pair->second}, 2);
    Value *in[] = {
        columns_of_both(p, first->in[0], second->in[0], arena_printf(p->arena, "%s.x", name)),
        first->in[1], first->in[2], first->in[3]};
    Value *out = columns_of_both(p, first->out[0], second->out[0], name);
    op_add_into(p, graph, first->kind, name, in, 4, &out, 1, first->attr, first->pos);
}

/* By op: its pair; both NULL: the op stays. */
static Pair *find_pairs(const GraphUses *uses, Arena *scratch) {
    const Graph *graph = uses->graph;
    Pair *of = arena_array(scratch, (size_t)graph->op_count + 1, sizeof *of);
    for (int i = 0; i < graph->op_count; i++) {
        Op *first = graph->ops[i], *second = is_rope(first) ? find_second(uses, first) : NULL;
        if (second && !of[i].first && !of[second->id].first)
            of[i] = of[second->id] = (Pair){first, second};
    }
    return of;
}

static void join_graph(Program *p, Graph *graph) {
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    const Pair *of = find_pairs(&uses, &scratch);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        const Pair *pair = &of[i];
        if (!pair->first)
            graph_add(p, graph, old.ops[i]);
        else if (pair->first->id <= i && pair->second->id <= i)
            add_both(p, graph, pair);
    }
    arena_free(&scratch);
}

bool pass_join_ropes(Program *p, const Spec *spec) {
    Graph *graph;
    if (!spec->compile.joined_launches)
        return false;
    for (int i = 0; (graph = program_forward(p, i)) != NULL; i++)
        join_graph(p, graph);
    return true;
}
