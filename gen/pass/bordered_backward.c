/* Backward with bordered weights: [dy|v] in one storage, one product for v, and one for x's gradient if
 * it is needed, which it is not before the first adapter:
 *
 *     dx = [dy|v] [W;A]
 *
 * If the base reads another x than the low-rank paths, such as a rounded one, then dx = dy W and
 * dx' = v A are two sums, and each of them becomes one product. */
#include "pass/bordered.h"
#include "pass/product_chain.h"

enum { MAX_SUMS = 2 };

typedef struct {
    Op *v;         /* v = s dy B */
    Op *through_a; /* v A, into dx'; NULL if there is no dx' */
    Op *through_w; /* dy W, into dx; likewise */
} Return;

/* A sum that contains all dy W, all v A, or both. */
typedef struct {
    bool of_w, of_a;
    ProductChain chain; /* these products are its members */
} Sum;

typedef struct Backpath {
    Return site[MAX_SITES];
    Sum sum[MAX_SUMS];
    int sums;    /* 0: no gradient of x is needed */
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
    bool has_dx = product_with(uses, b->site[0].base->in[1]) != NULL;
    for (int i = 0; i < b->count; i++) {
        const Site *s = &b->site[i];
        Return *r = &path->site[i];
        *r = (Return){product_with(uses, s->up->in[1]), product_with(uses, s->down->in[1]),
                      product_with(uses, s->base->in[1])};
        if (!is_whole(r, has_dx))
            return false;
    }
    return true;
}

static bool find_chain(const GraphUses *uses, const Border *b, const Backpath *path, Sum *sum) {
    Op *members[2 * MAX_SITES];
    int count = 0;
    for (int i = 0; i < b->count; i++) {
        if (sum->of_w)
            members[count++] = path->site[i].through_w;
        if (sum->of_a)
            members[count++] = path->site[i].through_a;
    }
    return product_chain_find(uses, members, count, &sum->chain);
}

/* One sum, or two if W and A multiply into different places; false if nothing would be joined. */
static bool find_sums(const GraphUses *uses, const Border *b, Backpath *path) {
    const Return *r = &path->site[0];
    if (!r->through_w)
        return true;
    bool one = value_same_place(r->through_w->out[0], r->through_a->out[0]);
    if (!one && b->count == 1)
        return false;
    path->sums = one ? 1 : 2;
    path->sum[0] = (Sum){.of_w = true, .of_a = one};
    path->sum[1] = (Sum){.of_a = true};
    for (int i = 0; i < path->sums; i++)
        if (!find_chain(uses, b, path, &path->sum[i]))
            return false;
    return true;
}

static bool values_can_move(const GraphUses *uses, const Border *b, const Backpath *path) {
    for (int i = 0; i < b->count; i++) {
        const Value *dy = path->site[i].v->in[0], *v = path->site[i].v->out[0];
        if (!use_can_stride(uses, dy) || !value_can_move(v) || dy->role != ROLE_ACTIVATION)
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
    const char *name = arena_printf(p->arena, "%s.v", b->side_name);
    Value *dy_v = b->backpath->dy_v,
          *dy = value_columns(p, dy_v, 0, b->out, arena_printf(p->arena, "%s.dy", b->name)),
          *v = value_columns(p, dy_v, b->out, b->side, name);
    Value *sb = border_part(p, b, 0, b->out, b->in, b->side, "sB");
    op_add_into(p, graph, OP_matmul, name, (Value *[]){dy, sb}, 2, &v, 1,
                (Attr){.alpha = 1, .zeros = border_zeros_of_b(b)}, b->x->pos);
}

void border_place_backward(Program *p, const GraphUses *uses, Border *b) {
    Backpath path = {0};
    if (!border_has_one_input(b) || !find_returns(uses, b, &path) || !find_sums(uses, b, &path))
        return;
    if (!values_can_move(uses, b, &path) || !in_order(uses, b, &path))
        return;
    path.dy_v = place(p, b, &path);
    b->backpath = arena_alloc(p->arena, sizeof path);
    *b->backpath = path;
}

/* The columns of [dy|v] and the rows of [W;A] whose product replaces the sum's. */
static void add_bordered(Program *p, Graph *graph, const Border *b, const Sum *sum) {
    int64_t first = sum->of_w ? 0 : b->out;
    int64_t count = (sum->of_w ? b->out : 0) + (sum->of_a ? b->side : 0);
    Value *left = b->backpath->dy_v;
    const char *name = sum->of_w ? arena_printf(p->arena, "%s.dy", b->name)
                                 : arena_printf(p->arena, "%s.v", b->side_name);
    if (count < value_cols(left))
        left = value_columns(p, left, first, count, name);
    Value *right = sum->of_w ? border_part(p, b, 0, count, 0, b->in, sum->of_a ? "W;A" : "W")
                             : border_rows_of_a(p, b, 0, count, b->a_name);
    Attr attr = {.alpha = 1, .zeros = sum->of_a ? border_zeros_of_a(b) : 0};
    product_chain_join(p, graph, &sum->chain, left, right, attr);
}

/* What becomes of an op. */
typedef struct {
    const Border *border; /* the op is part of this one's sum; or NULL */
    Sum *sum;
    const Border *add_v; /* its v is computed before the op; or NULL */
    bool dropped;        /* the op computes v of one site */
} Fate;

/* By index of the op in the graph. */
static Fate *fates_of(Program *p, const Graph *graph, const Border *borders, int count) {
    Fate *fates = arena_array(p->arena, (size_t)graph->op_count, sizeof *fates);
    for (int i = 0; i < count; i++) {
        const Border *b = &borders[i];
        Backpath *path = b->backpath;
        for (int k = 0; path && k < path->sums; k++)
            for (int n = 0; n < path->sum[k].chain.count; n++) {
                Fate *fate = &fates[path->sum[k].chain.op[n]->id];
                ENSURE(!fate->sum, "two borders share a sum");
                fate->border = b;
                fate->sum = &path->sum[k];
            }
        for (int k = 0; path && k < b->count; k++)
            fates[path->site[k].v->id].dropped = true;
        if (path)
            fates[first_v(b, path)].add_v = b;
    }
    return fates;
}

static void rewrite(Program *p, Graph *graph, const Fate *fate, Op *op) {
    if (fate->add_v)
        add_v(p, graph, fate->add_v);
    if (fate->sum && op == product_chain_last(&fate->sum->chain))
        add_bordered(p, graph, fate->border, fate->sum);
    else if (fate->sum)
        product_chain_keep(p, graph, &fate->sum->chain, op);
    else if (!fate->dropped)
        graph_add(p, graph, op);
}

void border_backward(Program *p, Graph *graph, const Border *borders, int count) {
    const Fate *fates = fates_of(p, graph, borders, count);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        rewrite(p, graph, &fates[i], old.ops[i]);
}
