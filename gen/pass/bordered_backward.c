/* Backward with bordered weights: [dy|v] in one storage, one product for v, and one for x's
 * gradient if it is needed, which it is not before the first adapter. */
#include "pass/bordered.h"

enum { MAX_WRITERS = 64 };

typedef struct {
    Op *v;         /* v = s dy B */
    Op *through_a; /* v A, into dx; NULL if there is no dx */
    Op *through_w; /* dy W, into dx; likewise */
} Return;

typedef struct Backpath {
    Return site[MAX_SITES];
    bool has_dx;
    Value *dx;               /* the alias that the last writer makes */
    Op *writer[MAX_WRITERS]; /* all ops that write dx's place, in order */
    int writer_count;
    Value *dy_v; /* [T, out + side] */
} Backpath;

/* The product with the second operand `b` that does not transpose its first; or NULL. */
static Op *product_with(const GraphUses *uses, const Value *b) {
    int count;
    Op *const *reader = use_readers(uses, b, &count);
    for (int i = 0; i < count; i++)
        if (reader[i]->kind == OP_matmul && !reader[i]->attr.transpose_a && reader[i]->in[1] == b)
            return reader[i];
    return NULL;
}

static bool is_whole(const Return *r, bool has_dx) {
    if (!has_dx)
        return r->v && !r->through_a && !r->through_w;
    return r->v && r->through_a && r->through_w && r->through_a->in[0] == r->v->out[0] &&
           r->through_w->in[0] == r->v->in[0];
}

static bool find_returns(const GraphUses *uses, const Border *b, Backpath *path) {
    path->has_dx = product_with(uses, b->site[0].base->in[1]) != NULL;
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        Return *r = &path->site[i];
        *r = (Return){product_with(uses, s->up->in[1]), product_with(uses, s->down->in[1]),
                      product_with(uses, s->base->in[1])};
        if (s->down->in[0] != b->x || !is_whole(r, path->has_dx))
            return false;
    }
    return true;
}

static bool is_member(const Border *b, const Backpath *path, const Op *op) {
    for (int i = 0; i < b->count; i++)
        if (op == path->site[i].through_a || op == path->site[i].through_w)
            return true;
    return false;
}

/* Ids of the first and the last op that writes to the storage. */
static void writers_of(const GraphUses *uses, const Storage *storage, int *first, int *last) {
    *first = uses->graph->op_count;
    *last = -1;
    for (const Value *view = storage->views; view; view = view->next_view) {
        const Op *maker = use_maker(uses, view);
        *first = maker && maker->id < *first ? maker->id : *first;
        *last = maker && maker->id > *last ? maker->id : *last;
    }
}

static bool find_writers(const GraphUses *uses, const Border *b, Backpath *path) {
    const Value *dx = path->site[0].through_w->out[0];
    int members = 0, first, last;
    writers_of(uses, dx->storage, &first, &last);
    for (int i = first; i <= last; i++) {
        Op *op = uses->graph->ops[i];
        if (op->out[0]->storage != dx->storage)
            continue;
        if (members == 2 * b->count && op->kind == OP_all_reduce)
            break; /* reads the complete sum */
        if (op->kind != OP_matmul || !value_same_place(op->out[0], dx) ||
            path->writer_count == MAX_WRITERS)
            return false;
        path->writer[path->writer_count++] = op;
        members += is_member(b, path, op);
    }
    if (members != 2 * b->count)
        return false;
    path->dx = path->writer[path->writer_count - 1]->out[0];
    return true;
}

static bool values_can_move(const GraphUses *uses, const Border *b, const Backpath *path) {
    for (int i = 0; i < b->count; i++) {
        const Value *dy = path->site[i].v->in[0], *v = path->site[i].v->out[0];
        if (!border_can_stride(uses, dy) || !value_can_move(v) || dy->role != ROLE_ACTIVATION)
            return false;
        for (int k = 0; k < i; k++)
            if (path->site[k].v->in[0]->storage == dy->storage)
                return false;
    }
    return true;
}

static int first_v(const Border *b, const Backpath *path) {
    int first = path->site[0].v->id;
    for (int i = 1; i < b->count; i++)
        if (path->site[i].v->id < first)
            first = path->site[i].v->id;
    return first;
}

/* Whether all of dy exists before the first v is computed. */
static bool in_order(const GraphUses *uses, const Border *b, const Backpath *path) {
    int first = first_v(b, path);
    for (int i = 0; i < b->count; i++) {
        const Op *producer = use_maker(uses, path->site[i].v->in[0]);
        if (!producer || producer->id >= first)
            return false;
    }
    return true;
}

static Value *place(Program *p, const Border *b, const Backpath *path) {
    const char *name = arena_printf(p->arena, "%s.dy_v", b->name);
    int64_t rows = value_rows(path->site[0].v->in[0]);
    Value *dyv =
        value_2d(p, name, ROLE_ACTIVATION, p->activation, rows, b->out + b->side, b->x->pos);
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        Value *dy = path->site[i].v->in[0], *v = path->site[i].v->out[0];
        value_move(dy, value_columns(p, dyv, s->row, s->out, dy->name));
        value_move(v, value_columns(p, dyv, b->out + s->side, s->rank, v->name));
    }
    return dyv;
}

static void add_v(Program *p, Graph *graph, const Border *b) {
    const char *name = arena_printf(p->arena, "%s.v", b->name);
    Value *dy_v = b->backpath->dy_v,
          *dy = value_columns(p, dy_v, 0, b->out, arena_printf(p->arena, "%s.dy", b->name)),
          *v = value_columns(p, dy_v, b->out, b->side, name);
    Value *sb = border_part(p, b, 0, b->out, b->in, b->side, "sB");
    op_add_into(p, graph, OP_matmul, name, (Value *[]){dy, sb}, 2, &v, 1,
                (Attr){.alpha = 1, .zeros = border_zeros_of_b(b)}, b->x->pos);
}

void border_place_backward(Program *p, const GraphUses *uses, Border *b) {
    Backpath path = {0};
    if (!find_returns(uses, b, &path) || (path.has_dx && !find_writers(uses, b, &path)))
        return;
    if (!values_can_move(uses, b, &path) || !in_order(uses, b, &path))
        return;
    path.dy_v = place(p, b, &path);
    b->backpath = arena_alloc(p->arena, sizeof path);
    *b->backpath = path;
}

/* The chain of products that add up to dx, rebuilt: products outside the border stay, and the
 * bordered product replaces the last of its members. Each but the first adds onto the previous
 * one. */
typedef struct {
    const Border *border;
    Value *sofar;
    int members_left, stay_left;
} Chain;

static Chain *chain_of(Program *p, const Border *b) {
    const Op *start = b->backpath->writer[0];
    int members = 2 * b->count;
    Chain *chain = arena_alloc(p->arena, sizeof *chain);
    *chain = (Chain){b, start->attr.accumulate ? start->in[2] : NULL, members,
                     b->backpath->writer_count - members};
    return chain;
}

static void add_writer(Program *p, Graph *graph, Chain *c, const char *name, Value *a, Value *b,
                       Attr attr, Pos pos) {
    Value *in[] = {a, b, c->sofar}, *dx = c->border->backpath->dx;
    attr.accumulate = c->sofar != NULL;
    bool last = c->members_left == 0 && c->stay_left == 0;
    Value *out = last ? dx : value_alias(p, dx, dx->name);
    op_add_into(p, graph, OP_matmul, name, in, 2 + attr.accumulate, &out, 1, attr, pos);
    c->sofar = out;
}

static void rewrite_writer(Program *p, Graph *graph, Chain *c, const Op *op) {
    const Border *b = c->border;
    if (!is_member(b, b->backpath, op)) {
        c->stay_left--;
        add_writer(p, graph, c, op->name, op->in[0], op->in[1], op->attr, op->pos);
        return;
    }
    if (--c->members_left > 0)
        return;
    Value *left = border_part(p, b, 0, b->out + b->side, 0, b->in, "W;A");
    Attr attr = {.alpha = 1, .zeros = border_zeros_of_a(b)};
    add_writer(p, graph, c, op->name, b->backpath->dy_v, left, attr, op->pos);
}

/* What becomes of an op. */
typedef struct {
    Chain *chain;        /* the op writes the dx of this chain; or NULL */
    const Border *add_v; /* its v is computed before the op; or NULL */
    bool dropped;        /* the op computes v of one site */
} Fate;

/* By index of the op in the graph. */
static Fate *fates_of(Program *p, const Graph *graph, const Border *borders, int count) {
    Fate *fates = arena_array(p->arena, (size_t)graph->op_count, sizeof *fates);
    for (int i = 0; i < count; i++) {
        const Border *b = &borders[i];
        if (!b->backpath)
            continue;
        Chain *chain = b->backpath->has_dx ? chain_of(p, b) : NULL;
        for (int k = 0; k < b->backpath->writer_count; k++)
            fates[b->backpath->writer[k]->id].chain = chain;
        for (int k = 0; k < b->count; k++)
            fates[b->backpath->site[k].v->id].dropped = true;
        fates[first_v(b, b->backpath)].add_v = b;
    }
    return fates;
}

void border_backward(Program *p, Graph *graph, const Border *borders, int count) {
    const Fate *fates = fates_of(p, graph, borders, count);
    int op_count = graph->op_count;
    Op **ops = graph->ops;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < op_count; i++) {
        if (fates[i].add_v)
            add_v(p, graph, fates[i].add_v);
        if (fates[i].chain)
            rewrite_writer(p, graph, fates[i].chain, ops[i]);
        else if (!fates[i].dropped)
            graph_add(p, graph, ops[i]);
    }
}
