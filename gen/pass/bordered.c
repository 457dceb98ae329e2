/* Bordered weights: a linear with a low-rank path becomes one product over a bordered matrix.
 *
 * Requires gradients and the update graph; before lower. It matches the structure linear(x, W) + s
 * linear(linear(x', A), B), whichever pass made it. One storage holds [[W, sB], [A, 0]]:
 *
 *     forward   u = x' A^T, then y = [x|u] [W|sB]^T
 *     backward  v = dy sB,  then dx = [dy|v] [W;A] if x' is x, else dx = dy W and dx' = v A
 *
 * so that the low-rank sum is formed in the product's accumulator, and y and dx are not read and
 * written again. Linears that read the same x share one border, with their W's stacked and sB
 * block-diagonal. Ranks are padded with zeros to a multiple of 8. sB and A are copies that load and
 * update refresh from the trained tensors; all A's of a border are one copy if they have no
 * gaps. */
#include "pass/bordered.h"

#include <string.h>

static void place_weights(Program *p, const Border *b) {
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        Value *w = s->base->in[1];
        value_move(w, border_part(p, b, s->row, s->out, 0, b->in, "W"));
    }
}

/* The value that the weight is copied from: the master, or the weight itself if the rank holds only
 * a piece of the master. */
static Value *source_of(Program *p, Value *weight) {
    const Param *param = program_param(p, weight);
    return param->pieces ? param->weight : param->master;
}

/* All A's as one matrix if memory holds them in the border's order without gaps; else NULL. */
static Value *all_a(Program *p, const Border *b) {
    Value *first = source_of(p, b->site[0].down->in[1]);
    for (int i = 1; i < b->count; i++)
        if (b->site[i].side == 0)
            first = source_of(p, b->site[i].down->in[1]);
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        const Value *a = source_of(p, s->down->in[1]);
        if (s->rank != s->width || a->storage != first->storage || a->dtype != first->dtype ||
            !value_dense(a) || a->offset != first->offset + s->side * b->in)
            return NULL;
    }
    Value *all = value_alias(p, first, b->a_name);
    all->dim[0] = b->side;
    return all;
}

static void add_copy(Program *p, Graph *graph, const Border *b, Value *from, int64_t side,
                     const char *weight, Pos pos) {
    Value *a = border_rows_of_a(p, b, side, value_rows(from), weight);
    a->role = ROLE_ADAPTER;
    op_add_into(p, graph, OP_cast, a->name, &from, 1, &a, 1, (Attr){0}, pos);
}

static void add_scaled(Program *p, Graph *graph, const Border *b, const Site *s) {
    const char *name = arena_printf(p->arena, "%s.border", s->up->in[1]->name);
    Value *sb = border_block(p, b, s->row, s->out, b->in + s->side, s->rank, name);
    Value *from = source_of(p, s->up->in[1]);
    sb->role = ROLE_ADAPTER;
    op_add_into(p, graph, OP_scale, name, &from, 1, &sb, 1, (Attr){.alpha = s->up->attr.alpha},
                s->up->pos);
}

/* Copies the trained tensors into the border: A as it is, B times the path's factor. */
static void add_refresh(Program *p, Graph *graph, const Border *b) {
    Value *all = b->count > 1 ? all_a(p, b) : NULL;
    if (all)
        add_copy(p, graph, b, all, 0, b->a_name, b->site[0].down->pos);
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        if (!all)
            add_copy(p, graph, b, source_of(p, s->down->in[1]), s->side,
                     s->down->in[1]->name, s->down->pos);
        add_scaled(p, graph, b, s);
    }
}

/* Makes the group's storage, moves the weights into it and lets load and update refresh it; or takes
 * over that of `like`, the same group in another graph. */
static void border_place(Program *p, Border *b, const Border *like) {
    if (like) {
        b->border = like->border;
        return;
    }
    const char *name = arena_printf(p->arena, "%s.bordered", b->name);
    b->border = value_2d(p, name, ROLE_FROZEN, p->activation, b->out + b->side, b->in + b->side,
                         b->site[0].base->pos);
    place_weights(p, b);
    add_refresh(p, &p->entry[ENTRY_LOAD], b);
    if (p->entry[ENTRY_UPDATE].op_count)
        add_refresh(p, &p->entry[ENTRY_UPDATE], b);
}

static const Border *find_like(const Borders *all, const char *name) {
    for (int i = 0; i < all->count; i++)
        if (all->border[i].border && !strcmp(all->border[i].name, name))
            return &all->border[i];
    return NULL;
}

/* Everything that the forward products touch must be free to move; with `like`, the weights have
 * moved already. Gathered weights get no border, because each rank would hold all of it. */
static bool can_border(Program *p, const GraphUses *uses, const Border *b, const Border *like) {
    if (!use_can_stride(uses, b->x) || b->x->role != ROLE_ACTIVATION)
        return false;
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        if (!like && !value_can_move(s->base->in[1]))
            return false;
        if (program_param(p, s->up->in[1])->gathered)
            return false;
        if (!value_can_move(s->up->in[0]) || !value_can_move(s->base->out[0]))
            return false;
        if (b->count > 1 && !use_can_stride(uses, s->base->out[0]))
            return false;
        if (s->base->observe || s->up->observe)
            return false;
    }
    return true;
}

/* Whether a border would place v next to other columns: as x of a linear with a low-rank path, or
 * as a gradient that flows back through one. */
static bool is_of_border(const Graph *graph, const Value *v) {
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        if (op->kind == OP_linear && op->attr.accumulate) {
            const Op *base = graph_producer(graph, op_so_far(op));
            if (base && base->kind == OP_linear && base->in[0] == v)
                return true;
        } else if (op->kind == OP_matmul && op->in[0] == v && value_trains(op->in[1])) {
            return true;
        }
    }
    return false;
}

/* A gathered value must be dense; if a border would make it strided, the border gets a copy. */
static void copy_gathered(Program *p, Graph *graph) {
    bool *copied = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *copied);
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        copied[i] = op->kind == OP_all_gather && is_of_border(graph, op->out[0]);
    }
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        Value *v = op->out[0];
        if (copied[i])
            op->out[0] =
                value_2d(p, arena_printf(p->arena, "%s.dense", v->name), ROLE_ACTIVATION, v->dtype,
                         value_rows(v), value_cols(v), v->pos);
        graph_add(p, graph, op);
        if (copied[i])
            op_add_into(p, graph, OP_cast, arena_printf(p->arena, "%s.copy", v->name), op->out, 1,
                        &v, 1, (Attr){0}, op->pos);
    }
}

static const char naming[] =
    "A linear and its adapter are one product with X_bordered, [[W, sB], [A, 0]]: x_u is [x|u] where\n"
    "u = x A^T (of x after dropout), and in backward dy_v is [dy|v] where v = dy sB. Its parts have\n"
    "names of what they hold: W_sB is [W|sB], W_A is [W;A].\n"
    "Adapters lie in the order in which backward reaches them, so their names may have v before q.\n";

bool pass_bordered(Program *p, const Spec *spec) {
    if (!spec->compile.bordered)
        return false;
    Graph *train = &p->entry[ENTRY_MICRO_STEP], *evaluate = &p->entry[ENTRY_EVALUATE];
    copy_gathered(p, train);
    copy_gathered(p, evaluate);
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, train), uses_again = uses_find(&scratch, p, evaluate);
    Borders borders = borders_find(p, &uses, &scratch);
    Borders again = borders_find(p, &uses_again, &scratch);
    for (int i = 0; i < borders.count; i++) {
        Border *b = &borders.border[i];
        if (!can_border(p, &uses, b, NULL) || !border_in_order(train, b))
            continue;
        border_place(p, b, NULL);
        border_place_forward(p, &uses, b);
        border_place_backward(p, &uses, b);
        p->naming = naming;
    }
    border_forward(p, train, borders.border, borders.count);
    border_backward(p, train, borders.border, borders.count);
    for (int i = 0; i < again.count; i++) {
        Border *b = &again.border[i];
        const Border *like = find_like(&borders, b->name);
        if (!like || !can_border(p, &uses_again, b, like) || !border_in_order(evaluate, b))
            continue;
        border_place(p, b, like);
        border_place_forward(p, &uses_again, b);
    }
    border_forward(p, evaluate, again.border, again.count);
    arena_free(&scratch);
    return true;
}
