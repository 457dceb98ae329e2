/* The first product of a low-rank path, x A^T, by one kernel, which can also make x. Geometry as in
 * the template's head comment. The kernel has the same tiles with and without a prologue, and thus
 * the same bits. */
#include "base/limits.h"
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "plan/template_kernels.h"

enum { THREADS = 256 };

typedef struct {
    const Op *op;
    const Value *x, *a, *u;
    LowRankShape shape;
    LowRankRows rows;
} LowRankMatmul;

static LowRankMatmul matmul_of(const Plan *plan, const Op *op) {
    LowRankMatmul g = {.op = op, .x = op->in[0], .a = op->in[1], .u = op->out[0]};
    g.shape = low_rank_shape(g.x, g.u);
    ENSURE(g.shape.rows <= MOST_ROWS && g.shape.features <= MOST_ROWS,
           "%s: x has more rows or columns than an int", op->name);
    g.rows = low_rank_rows(g.shape, plan->device);
    return g;
}

static Filling filling(const Plan *plan, const LowRankMatmul *g, const char *section) {
    Filling f = filling_new(plan, g->op, "low_rank_matmul_mma.cu", section);
    f.kernel.name =
        arena_printf(f.arena, "low_rank_matmul_%lldx%lldx%lld", (long long)g->shape.rows,
                     (long long)g->shape.features, (long long)g->shape.rank);
    f.kernel.threads = THREADS;
    f.kernel.shared_bytes = g->rows.shared_bytes;
    fill_text(&f, "dtype", dtype_c_name(g->x->dtype));
    fill_int(&f, "rows", g->shape.rows);
    fill_int(&f, "features", g->shape.features);
    fill_int(&f, "rank", g->shape.rank);
    fill_stride(&f, "a_stride", g->a);
    fill_stride(&f, "u_stride", g->u);
    fill_int(&f, "tile_rows", g->rows.tile_rows);
    fill_int(&f, "together", g->rows.together);
    fill_real(&f, "alpha", g->op->attr.alpha, "f");
    fill_grid(&f, g->rows.blocks, 1, 1);
    return f;
}

/* Bytes that the kernel asks of memory, without those of x. */
static double own_bytes(const LowRankMatmul *g) {
    return (double)g->rows.blocks * (double)value_bytes(g->a) + (double)value_bytes(g->u);
}

static void multiply(Plan *plan, Entry entry, const LowRankMatmul *g) {
    Filling f = filling(plan, g, "low_rank_matmul");
    if (!value_dense(g->x))
        f.kernel.name =
            arena_printf(f.arena, "%s_of_%lld", f.kernel.name, (long long)g->x->row_stride);
    fill_stride(&f, "x_stride", g->x);
    fill_reads(&f, "x", g->x);
    fill_reads(&f, "a", g->a);
    fill_writes(&f, "u", g->u);
    fill_cost(&f, (double)value_bytes(g->x) + own_bytes(g), op_flops(g->op));
    fill_finish(plan, entry, &f, g->op);
}

static void multiply_made(Plan *plan, Entry entry, const LowRankMatmul *g, const Group *group) {
    Filling f = filling(plan, g, "pointwise_low_rank_matmul");
    fill_reads(&f, "a", g->a);
    fill_writes(&f, "u", g->u);
    fill_cost(&f, own_bytes(g), op_flops(g->op));
    fill_finish_prologue(plan, entry, &f, group);
}

void plan_low_rank_matmul(Plan *plan, Entry entry, const Group *group) {
    LowRankMatmul g = matmul_of(plan, group->hosts ? group_host(group, 0) : group->ops[0]);
    if (group->hosts)
        multiply_made(plan, entry, &g, group);
    else
        multiply(plan, entry, &g);
}
