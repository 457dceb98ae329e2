/* Forward with bordered weights: [x|u] in one storage, and one product for all linears of a
 * border. */
#include "pass/bordered.h"

static bool sums_are_read(const Op *op, const Border *b) {
    for (int i = 0; i < b->count; i++)
        if (op_reads(op, b->site[i].up->out[0]))
            return true;
    return false;
}

bool border_in_order(const Graph *graph, const Border *b) {
    for (int i = b->site[0].base->id; i <= b->site[b->count - 1].up->id; i++)
        if (sums_are_read(graph->ops[i], b))
            return false;
    return true;
}

/* u of all sites with its padding columns, which become zero because their rows of A are zero. */
static void add_down(Program *p, Graph *graph, const Border *b) {
    const char *name = arena_printf(p->arena, "%s.u", b->side_name);
    const Op *like = b->site[0].down;
    Value *a = border_rows_of_a(p, b, 0, b->side, b->a_name);
    Value *u = b->u ? b->u : value_columns(p, b->x_u, b->in, b->side, name);
    op_add_into(p, graph, OP_linear, name, (Value *[]){like->in[0], a}, 2, &u, 1,
                (Attr){.alpha = 1, .zeros = border_zeros_of_a(b)}, like->pos);
}

/* u of one site whose input is its own, for example because of dropout. */
static void add_down_of(Program *p, Graph *graph, const Border *b, const Site *s) {
    Value *a = border_rows_of_a(p, b, s->side, s->width, s->down->in[1]->name);
    Value *u = b->u ? value_columns(p, b->u, s->side, s->width, s->down->name)
                    : value_columns(p, b->x_u, b->in + s->side, s->width, s->down->name);
    op_add_into(p, graph, OP_linear, s->down->name, (Value *[]){s->down->in[0], a}, 2, &u, 1,
                (Attr){.alpha = 1, .zeros = (s->width - s->rank) * b->in}, s->down->pos);
}

static void copy_u(Program *p, Graph *graph, const Border *b) {
    const char *name = arena_printf(p->arena, "%s.u", b->side_name);
    Value *u = b->u, *to = value_columns(p, b->x_u, b->in, b->side, name);
    op_add_into(p, graph, OP_cast, name, &u, 1, &to, 1, (Attr){0}, b->site[0].down->pos);
}

static void add_sum(Program *p, Graph *graph, const Border *b) {
    if (b->u)
        copy_u(p, graph, b);
    const char *name = arena_printf(p->arena, "%s.y", b->name);
    Value *top = border_part(p, b, 0, b->out, 0, b->in + b->side, "W|sB"), *y = b->y;
    op_add_into(p, graph, OP_linear, name, (Value *[]){b->x_u, top}, 2, &y, 1,
                (Attr){.alpha = 1, .zeros = border_zeros_of_b(b)}, b->site[0].base->pos);
}

/* Whether only frozen linears read x, and neither adapters nor backward. If x then shared a storage
 * with u, which backward reads, x would be kept needlessly. */
static bool ends_in_forward(const GraphUses *uses, const Border *b) {
    int count;
    Op *const *reader = use_readers(uses, b->x, &count);
    for (int i = 0; i < count; i++)
        if (reader[i]->kind != OP_linear || reader[i]->in[1]->role != ROLE_FROZEN)
            return false;
    return true;
}

static Value *place_input(Program *p, const Border *b) {
    const char *name = arena_printf(p->arena, "%s.x_u", b->name);
    Value *xu = value_2d(p, name, ROLE_ACTIVATION, p->activation, value_rows(b->x), b->in + b->side,
                         b->x->pos);
    value_move(b->x, value_columns(p, xu, 0, b->in, b->x->name));
    for (int i = 0; i < b->count; i++) {
        Value *u = b->site[i].up->in[0];
        Value *in = b->u ? b->u : xu;
        int64_t first = b->site[i].side + (b->u ? 0 : b->in);
        value_move(u, value_columns(p, in, first, b->site[i].rank, u->name));
    }
    return xu;
}

static Value *place_output(Program *p, const Border *b) {
    const char *name = arena_printf(p->arena, "%s.y", b->name);
    Value *y =
        value_2d(p, name, ROLE_ACTIVATION, p->activation, value_rows(b->x), b->out, b->x->pos);
    for (int i = 0; i < b->count; i++) {
        Value *part = b->site[i].base->out[0];
        value_move(part, value_columns(p, y, b->site[i].row, b->site[i].out, part->name));
    }
    return y;
}

void border_place_forward(Program *p, const GraphUses *uses, Border *b) {
    if (ends_in_forward(uses, b))
        b->u = value_2d(p, arena_printf(p->arena, "%s.u_kept", b->side_name), ROLE_ACTIVATION,
                        p->activation, value_rows(b->x), b->side, b->x->pos);
    b->x_u = place_input(p, b);
    b->y = place_output(p, b);
}

typedef struct {
    const Border *border; /* NULL: the op stays */
    const Site *site;
} Member;

/* By index of the op in the graph. */
static Member *members_of(Program *p, const Graph *graph, const Border *borders, int count) {
    Member *members = arena_array(p->arena, (size_t)graph->op_count, sizeof *members);
    for (int i = 0; i < count; i++)
        for (int k = 0; borders[i].border && k < borders[i].count; k++) {
            const Site *s = &borders[i].site[k];
            members[s->base->id] = members[s->down->id] = members[s->up->id] =
                (Member){&borders[i], s};
        }
    return members;
}

static void rewrite(Program *p, Graph *graph, const Member *m, const Op *op) {
    const Border *b = m->border;
    if (op == m->site->down) {
        if (!border_has_one_input(b))
            add_down_of(p, graph, b, m->site);
        else if (m->site == b->site)
            add_down(p, graph, b);
    } else if (op == b->site[b->count - 1].up) {
        add_sum(p, graph, b);
    }
}

void border_forward(Program *p, Graph *graph, const Border *borders, int count) {
    const Member *members = members_of(p, graph, borders, count);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        if (members[i].border)
            rewrite(p, graph, &members[i], old.ops[i]);
        else
            graph_add(p, graph, old.ops[i]);
}
