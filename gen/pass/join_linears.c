/* Linears with the same input and adjacent weights become one product, forward and backward.
 *
 * Requires gradients, and what makes weights adjacent: the train state, and bordered, whose frozen
 * weights the reference of DPO reads without their borders; before lower. It looks for linear(x, W1),
 * linear(x, W2), ... with weights of equal row length, such as q, k and v, or gate and up:
 *
 *     forward   [y1|y2] = x [W1;W2]^T
 *     backward  [dW1;dW2] = [dy1|dy2]^T x,  dx = [dy1|dy2] [W1;W2]
 *
 * so that x is read once and dx is summed inside the product. Weights and their gradients stay
 * where they are; results and their gradients become columns of one matrix. Linears with an adapter
 * are left to bordering, and the gradients of A to join_gradients. Without a border, the A's of
 * linears that read the same x are such weights. */
#include "graph/op_table.h"
#include "pass/bordered.h"
#include "pass/product_chain.h"

#include <stdlib.h>

typedef struct {
    Op *linear;
    Op *to_weight, *to_x; /* dW = dy^T x and dx (+)= dy W */
} Member;

typedef struct {
    const char *name; /* joined from its members' names: "layers.0.mlp.gate_up_proj" */
    Value *x;
    Member member[MAX_SITES]; /* in the order of their weights in memory */
    int count;
    ProductChain to_x; /* backward: dx, of which the members' products are members */
    bool lasts;    /* forward: their results are kept for backward */
    Value *weight; /* all weights as one matrix; NULL: the group stays as it is */
    Value *joined; /* [y1|y2], or [dy1|dy2] */
} Group;

/* The groups of a graph's forward or backward. */
typedef struct {
    Group *group;
    int count, capacity;
} Groups;

/* ---- which linears ------------------------------------------------------------------------------ */

static bool may_join(const Op *op) {
    return op->kind == OP_linear && !op->attr.accumulate && op->attr.alpha == 1 && !op->observe &&
           (value_trains(op->in[1]) || op->in[1]->role == ROLE_FROZEN);
}

static Group *group_of(Arena *arena, Groups *all, Op *linear, bool lasts) {
    for (int i = 0; i < all->count; i++) {
        Group *g = &all->group[i];
        if (g->x == linear->in[0] && g->lasts == lasts && g->count < MAX_SITES &&
            g->member[0].linear->in[1]->storage == linear->in[1]->storage)
            return g;
    }
    all->group = arena_grow(arena, all->group, all->count, &all->capacity, sizeof *all->group);
    all->group[all->count] = (Group){.x = linear->in[0], .lasts = lasts};
    return &all->group[all->count++];
}

static Value *weight_of(const Member *m) { return m->linear->in[1]; }
static Value *result_of(const Member *m) { return m->linear->out[0]; }
static Value *result_gradient_of(const Member *m) { return m->to_x->in[0]; }
static Value *weight_gradient_of(const Member *m) { return m->to_weight->out[0]; }
static Value *weight_gradient_so_far_of(const Member *m) { return op_so_far(m->to_weight); }

static int by_offset(const void *a, const void *b) {
    const Value *v = weight_of(a), *w = weight_of(b);
    return (v->offset > w->offset) - (v->offset < w->offset);
}

/* Whether each member's value begins where the previous one's ends, with rows of the same
 * length. */
static bool all_follow(const Group *g, Value *of(const Member *)) {
    for (int i = 1; i < g->count; i++)
        if (!value_rows_follow(of(&g->member[i - 1]), of(&g->member[i])))
            return false;
    return true;
}

static void name_group(Program *p, Group *g) {
    const char *names[MAX_SITES] = {0};
    for (int i = 0; i < g->count; i++)
        names[i] = g->member[i].linear->name;
    g->name = linears_name(p->arena, names, g->count);
}

/* Drops the groups whose weights are not adjacent. */
static void keep_neighbours(Program *p, Groups *all) {
    int count = all->count;
    all->count = 0;
    for (int i = 0; i < count; i++) {
        Group *g = &all->group[i];
        name_group(p, g);
        qsort(g->member, (size_t)g->count, sizeof *g->member, by_offset);
        if (g->count > 1 && all_follow(g, weight_of))
            all->group[all->count++] = *g;
    }
}

/* Whether backward reads v, or what takes its place. Results in one storage are all kept as long as
 * any one of them is. */
static bool lasts(const Spec *spec, const GraphUses *uses, const Op *loss, const Value *v) {
    int count;
    Op *const *reader = use_readers(uses, v, &count);
    for (int i = 0; loss && i < count; i++) {
        bool in_place = spec->compile.in_place && op_is(reader[i], TRAIT_IN_PLACE);
        if (reader[i]->id > loss->id || (in_place && lasts(spec, uses, loss, reader[i]->out[0])))
            return true;
    }
    return false;
}

static Groups find_groups(Program *p, const Spec *spec, const GraphUses *uses, Arena *scratch,
                          bool forward) {
    const Op *loss = use_maker(uses, p->loss_of_micro_step);
    const Graph *graph = uses->graph;
    Groups all = {0};
    for (int i = 0; i < graph->op_count; i++) {
        Op *op = graph->ops[i];
        if (!may_join(op))
            continue;
        Group *g = group_of(scratch, &all, op, forward && lasts(spec, uses, loss, op->out[0]));
        g->member[g->count++] = (Member){.linear = op};
    }
    keep_neighbours(p, &all);
    return all;
}

/* ---- their places ------------------------------------------------------------------------------- */

static bool can_move(const GraphUses *uses, const Group *g, Value *of(const Member *)) {
    for (int i = 0; i < g->count; i++) {
        const Value *v = of(&g->member[i]);
        if (!value_can_move(v) || !use_can_stride(uses, v) || v->role != ROLE_ACTIVATION)
            return false;
        for (int k = 0; k < i; k++)
            if (of(&g->member[k])->storage == v->storage)
                return false;
    }
    return true;
}

/* Moves the members' values into the columns of one matrix. */
static Value *place(Program *p, const Group *g, const char *suffix, Value *of(const Member *)) {
    const char *name = arena_printf(p->arena, "%s.%s", g->name, suffix);
    Value *all = value_2d(p, name, ROLE_ACTIVATION, p->activation, value_rows(g->x),
                          value_rows(g->weight), g->x->pos);
    int64_t column = 0;
    for (int i = 0; i < g->count; i++) {
        Value *v = of(&g->member[i]);
        int64_t columns = value_cols(v);
        value_move(v, value_columns(p, all, column, columns, v->name));
        column += columns;
    }
    return all;
}

/* The members' values, which follow each other in memory, as one matrix. */
static Value *rows_of_all(Program *p, const Group *g, const char *suffix,
                          Value *of(const Member *)) {
    Value *all =
        value_alias(p, of(&g->member[0]), arena_printf(p->arena, "%s.%s", g->name, suffix));
    for (int i = 1; i < g->count; i++)
        all->dim[0] += value_rows(of(&g->member[i]));
    return all;
}

static void place_forward(Program *p, const GraphUses *uses, Group *g) {
    if (!can_move(uses, g, result_of))
        return;
    g->weight = rows_of_all(p, g, "weight", weight_of);
    g->joined = place(p, g, "y", result_of);
}

/* ---- their backward ----------------------------------------------------------------------------- */

static Op *reader_of(const GraphUses *uses, const Value *v, int operand, bool transpose_a) {
    int count;
    Op *const *reader = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++)
        if (reader[i]->kind == OP_matmul && reader[i]->in[operand] == v &&
            reader[i]->attr.transpose_a == transpose_a && !reader[i]->observe)
            return reader[i];
    return NULL;
}

static bool find_backward(const GraphUses *uses, Group *g) {
    for (int i = 0; i < g->count; i++) {
        Member *m = &g->member[i];
        m->to_x = reader_of(uses, weight_of(m), 1, false);
        m->to_weight = m->to_x ? reader_of(uses, m->to_x->in[0], 0, true) : NULL;
        if (!m->to_weight || m->to_weight->in[1] != g->x ||
            m->to_weight->attr.accumulate != g->member[0].to_weight->attr.accumulate)
            return false;
    }
    return true;
}

static Op *linear_of(const Member *m) { return m->linear; }
static Op *to_weight_of(const Member *m) { return m->to_weight; }

static Op *first_of(const Group *g, Op *of(const Member *)) {
    Op *first = of(&g->member[0]);
    for (int i = 1; i < g->count; i++)
        first = of(&g->member[i])->id < first->id ? of(&g->member[i]) : first;
    return first;
}

static Op *last_of(const Group *g, Op *of(const Member *)) {
    Op *last = of(&g->member[0]);
    for (int i = 1; i < g->count; i++)
        last = of(&g->member[i])->id > last->id ? of(&g->member[i]) : last;
    return last;
}

static bool is_of_group(const Group *g, const Op *op) {
    for (int i = 0; i < g->count; i++)
        if (op == g->member[i].to_weight || op == g->member[i].to_x)
            return true;
    return false;
}

static bool find_chain(const GraphUses *uses, Group *g) {
    Op *members[MAX_SITES];
    for (int i = 0; i < g->count; i++)
        members[i] = g->member[i].to_x;
    return product_chain_find(uses, members, g->count, &g->to_x);
}

/* Whether no other op uses dW before the last product that writes it. */
static bool in_order(const GraphUses *uses, const Group *g) {
    for (int at = first_of(g, to_weight_of)->id; at < last_of(g, to_weight_of)->id; at++)
        for (int i = 0; i < g->count; i++) {
            const Op *op = uses->graph->ops[at];
            const Value *dw = weight_gradient_of(&g->member[i]);
            if (!is_of_group(g, op) && op_uses_part(op, dw))
                return false;
        }
    return true;
}

/* Whether another group, which has its place, adds to the same sum. */
static bool is_shared(const Groups *all, const Group *g) {
    for (int i = 0; &all->group[i] < g; i++)
        for (int k = 0; all->group[i].weight && k < g->to_x.count; k++)
            if (product_chain_has(&all->group[i].to_x, g->to_x.op[k]))
                return true;
    return false;
}

static void place_backward(Program *p, const GraphUses *uses, const Groups *all, Group *g) {
    if (!find_backward(uses, g) || !all_follow(g, weight_gradient_of) || !find_chain(uses, g) ||
        is_shared(all, g) || !in_order(uses, g) || !can_move(uses, g, result_gradient_of))
        return;
    g->weight = rows_of_all(p, g, "weight", weight_of);
    g->joined = place(p, g, "dy", result_gradient_of);
}

/* ---- the pass ----------------------------------------------------------------------------------- */

static void add_linear(Program *p, Graph *graph, const Group *g) {
    const Op *like = linear_of(&g->member[0]);
    Value *in[] = {g->x, g->weight}, *y = g->joined;
    op_add_into(p, graph, OP_linear, g->name, in, 2, &y, 1, like->attr, like->pos);
}

static void add_to_weight(Program *p, Graph *graph, const Group *g) {
    const Op *like = g->member[0].to_weight;
    bool adds = like->attr.accumulate;
    Value *dw = rows_of_all(p, g, "weight.grad", weight_gradient_of);
    Value *so_far = adds ? rows_of_all(p, g, "weight.grad", weight_gradient_so_far_of) : NULL;
    Value *in[] = {g->joined, g->x, so_far};
    op_add_into(p, graph, OP_matmul, dw->name, in, 2 + adds, &dw, 1, like->attr, like->pos);
}

/* What an op of the graph is to the groups that get a place. All NULL: it stays as it is. */
typedef struct {
    const Group *linear, *to_weight; /* whose member has it as that */
    Group *sum;                      /* to whose sum it adds */
} Part;

/* By index of the op. */
static Part *find_parts(const Graph *graph, const Groups *forward, const Groups *backward,
                        Arena *scratch) {
    Part *parts = arena_array(scratch, (size_t)graph->op_count + 1, sizeof *parts);
    for (int i = 0; i < forward->count; i++)
        for (int k = 0; forward->group[i].weight && k < forward->group[i].count; k++)
            parts[forward->group[i].member[k].linear->id].linear = &forward->group[i];
    for (int i = 0; i < backward->count; i++) {
        Group *g = &backward->group[i];
        for (int k = 0; g->weight && k < g->count; k++)
            parts[g->member[k].to_weight->id].to_weight = g;
        for (int k = 0; g->weight && k < g->to_x.count; k++)
            parts[g->to_x.op[k]->id].sum = g;
    }
    return parts;
}

static void rewrite_sum(Program *p, Graph *graph, Group *g, Op *op) {
    if (op == product_chain_last(&g->to_x))
        product_chain_join(p, graph, &g->to_x, g->joined, g->weight, op->attr);
    else
        product_chain_keep(p, graph, &g->to_x, op);
}

static void rewrite(Program *p, Graph *graph, const Part *parts) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        const Part *part = &parts[i];
        if (part->linear) {
            if (op == first_of(part->linear, linear_of))
                add_linear(p, graph, part->linear);
        } else if (part->to_weight) {
            if (op == last_of(part->to_weight, to_weight_of))
                add_to_weight(p, graph, part->to_weight);
        } else if (part->sum) {
            rewrite_sum(p, graph, part->sum, op);
        } else {
            graph_add(p, graph, op);
        }
    }
}

static void join_graph(Program *p, const Spec *spec, Graph *graph) {
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    Groups forward = find_groups(p, spec, &uses, &scratch, true);
    Groups backward = find_groups(p, spec, &uses, &scratch, false);
    for (int i = 0; i < forward.count; i++)
        place_forward(p, &uses, &forward.group[i]);
    for (int i = 0; i < backward.count; i++)
        place_backward(p, &uses, &backward, &backward.group[i]);
    rewrite(p, graph, find_parts(graph, &forward, &backward, &scratch));
    arena_free(&scratch);
}

bool pass_join_linears(Program *p, const Spec *spec) {
    Graph *graph;
    if (!spec->compile.joined_linears)
        return false;
    for (int i = 0; (graph = program_forward(p, i)) != NULL; i++)
        join_graph(p, spec, graph);
    return true;
}
