/* Forward of bordered weights: [x|u] in one storage, and one product for all of a border's linears.
 */
#include "pass/bordered.h"

static bool sums_are_read(const Op *op, const Border *b) {
    for (int i = 0; i < b->count; i++)
        if (op_reads(op, b->site[i].up->out[0]))
            return true;
    return false;
}

bool border_in_order(const Graph *graph, const Border *b) {
    for (int i = 0; i <= b->site[b->count - 1].up->id; i++)
        if (sums_are_read(graph->ops[i], b))
            return false;
    return true;
}

static bool same_input(const Border *b) {
    for (int i = 0; i < b->count; i++)
        if (b->site[i].down->in[0] != b->x)
            return false;
    return true;
}

/* u of all sites, padded columns included: those come out zero, since their rows of A are. */
static void add_down(Program *p, Graph *graph, const Border *b, Value *xu) {
    const char *name = arena_printf(p->arena, "%s.u", b->name);
    Value *a = border_part(p, b, b->out, b->side, 0, b->in, "A");
    Value *u = value_columns(p, xu, b->in, b->side, name);
    op_add_into(p, graph, OP_linear, name, (Value *[]){b->x, a}, 2, &u, 1, (Attr){.alpha = 1},
                b->site[0].down->pos);
}

/* u of one site whose input differs from x, by dropout for instance. */
static void add_down_of(Program *p, Graph *graph, const Border *b, const Site *s, Value *xu) {
    Value *a = border_part(p, b, b->out + s->side, s->width, 0, b->in, "A");
    Value *u = value_columns(p, xu, b->in + s->side, s->width, s->down->name);
    op_add_into(p, graph, OP_linear, s->down->name, (Value *[]){s->down->in[0], a}, 2, &u, 1,
                (Attr){.alpha = 1}, s->down->pos);
}

static void add_sum(Program *p, Graph *graph, const Border *b, Value *xu, Value *y) {
    const char *name = arena_printf(p->arena, "%s.y", b->name);
    Value *top = border_part(p, b, 0, b->out, 0, b->in + b->side, "W|sB");
    op_add_into(p, graph, OP_linear, name, (Value *[]){xu, top}, 2, &y, 1, (Attr){.alpha = 1},
                b->site[0].base->pos);
}

static Value *place_input(Program *p, const Border *b) {
    const char *name = arena_printf(p->arena, "%s.x_u", b->name);
    Value *xu = value_2d(p, name, ROLE_ACTIVATION, p->activation, value_rows(b->x), b->in + b->side,
                         b->x->pos);
    value_move(b->x, value_columns(p, xu, 0, b->in, b->x->name));
    for (int i = 0; i < b->count; i++) {
        Value *u = b->site[i].up->in[0];
        value_move(u, value_columns(p, xu, b->in + b->site[i].side, b->site[i].rank, u->name));
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

static const Site *site_of(const Border *b, const Op *op) {
    for (int i = 0; i < b->count; i++)
        if (op == b->site[i].base || op == b->site[i].down || op == b->site[i].up)
            return &b->site[i];
    return NULL;
}

void border_forward(Program *p, Graph *graph, const Border *b) {
    int count = graph->op_count;
    Op **ops = graph->ops;
    bool together = same_input(b);
    Value *xu = place_input(p, b), *y = place_output(p, b);
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        const Site *s = site_of(b, ops[i]);
        if (!s) {
            graph_add(p, graph, ops[i]);
        } else if (ops[i] == s->down) {
            if (!together)
                add_down_of(p, graph, b, s, xu);
            else if (s == b->site)
                add_down(p, graph, b, xu);
        } else if (ops[i] == b->site[b->count - 1].up) {
            add_sum(p, graph, b, xu, y);
        }
    }
}
