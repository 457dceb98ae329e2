/* Both gradients of a low-rank path from one reading of dy: a kernel that leaves partial sums per
 * block, and one that adds them. Geometry as in the template's head comment. */
#include "base/rounding.h"
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "plan/template_kernels.h"

enum { THREADS = 256 };

typedef struct {
    const Op *op;
    const Value *dy, *b, *u, *db, *v;
    const Value *db_parts, *v_parts;
    LowRankShape shape;
    LowRankTiles tiles;
} LowRank;

static const Value *parts_of(Program *p, const Op *op, const Value *v, int64_t parts) {
    return value_2d(p, arena_printf(p->arena, "%s.partial", v->name), ROLE_ACTIVATION, p->real,
                    parts, value_elements(v), op->pos);
}

static Filling filling(const Plan *plan, const LowRank *g, const char *section, const char *name) {
    const LowRankShape *s = &g->shape;
    Filling f = filling_new(plan, g->op, "low_rank_grads_mma.cu", section);
    f.kernel.name = arena_printf(f.arena, "%s_%lldx%lldx%lld", name, (long long)s->rows,
                                 (long long)s->features, (long long)s->rank);
    f.kernel.threads = THREADS;
    fill_text(&f, "dtype", dtype_c_name(g->dy->dtype));
    fill_int(&f, "rows", s->rows);
    fill_int(&f, "features", s->features);
    fill_int(&f, "rank", s->rank);
    return f;
}

static void multiply(Plan *plan, Entry entry, const LowRank *g) {
    const LowRankTiles *t = &g->tiles;
    Filling f = filling(plan, g, "low_rank_grads", "low_rank_grads");
    f.kernel.shared_bytes = t->shared_bytes;
    if (!value_dense(g->dy))
        f.kernel.name =
            arena_printf(f.arena, "%s_of_%lld", f.kernel.name, (long long)g->dy->row_stride);
    fill_stride(&f, "dy_stride", g->dy);
    fill_stride(&f, "b_stride", g->b);
    fill_stride(&f, "u_stride", g->u);
    fill_int(&f, "cols", t->cols);
    fill_int(&f, "tile_rows", t->tile_rows);
    fill_int(&f, "part_rows", t->part_rows);
    fill_int(&f, "stages", t->stages);
    fill_reads(&f, "dy", g->dy);
    fill_reads(&f, "b", g->b);
    fill_reads(&f, "u", g->u);
    fill_writes(&f, "v_parts", g->v_parts);
    fill_writes(&f, "db_parts", g->db_parts);
    fill_grid(&f, t->v_parts, t->db_parts, 1);
    fill_cost(&f, low_rank_bytes(g->shape, t), op_flops(g->op));
    fill_finish(plan, entry, &f, g->op);
}

static void add_parts(Plan *plan, Entry entry, const LowRank *g) {
    bool accumulate = g->op->attr.accumulate;
    Filling f = filling(plan, g, "add_parts", "low_rank_grads_add_parts");
    fill_text(&f, "grad_dtype", dtype_c_name(g->db->dtype));
    fill_text(&f, "accumulate", accumulate ? "true" : "false");
    fill_int(&f, "v_parts", g->tiles.v_parts);
    fill_int(&f, "db_parts", g->tiles.db_parts);
    fill_stride(&f, "v_stride", g->v);
    fill_stride(&f, "db_stride", g->db);
    fill_real(&f, "v_alpha", g->op->attr.alpha_v, "f");
    fill_real(&f, "alpha", g->op->attr.alpha, "f");
    fill_reads(&f, "v_parts", g->v_parts);
    fill_reads(&f, "db_parts", g->db_parts);
    fill_writes(&f, "v", g->v);
    (accumulate ? fill_updates : fill_writes)(&f, "db", g->db);
    int64_t elements = value_elements(g->v) + value_elements(g->db);
    fill_grid(&f, ceil_div(elements, 4 * THREADS), 1, 1);
    fill_cost(&f,
              low_rank_part_bytes(g->shape, &g->tiles) + (double)value_bytes(g->v) +
                  (accumulate ? 2 : 1) * (double)value_bytes(g->db),
              (double)(value_elements(g->v_parts) + value_elements(g->db_parts)));
    fill_finish(plan, entry, &f, g->op);
}

void plan_low_rank_grads(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    LowRank g = {.op = op,
                 .dy = op->in[0],
                 .b = op->in[1],
                 .u = op->in[2],
                 .db = op->out[0],
                 .v = op->out[1]};
    ENSURE(value_rows(g.dy) <= INT32_MAX / 2 && value_cols(g.dy) <= INT32_MAX / 2,
           "%s: dy has more rows or columns than an int", op->name);
    g.shape = (LowRankShape){value_rows(g.dy), value_cols(g.dy), value_cols(g.b)};
    g.tiles = low_rank_tiles(g.shape, plan->device);
    ENSURE(g.tiles.cols, "%s: no block fits into shared memory", op->name);
    g.v_parts = parts_of(plan->program, op, g.v, g.tiles.v_parts);
    g.db_parts = parts_of(plan->program, op, g.db, g.tiles.db_parts);
    multiply(plan, entry, &g);
    add_parts(plan, entry, &g);
}
