/* Both gradients of a low-rank path from one reading of dy, or that of a path's A from x: a kernel that
 * leaves partial sums per block, and one that adds them. Geometry as in the template's head comment.
 * With a prologue, the first kernel makes dy itself, for one or two paths, and x of another path, with
 * the same tiles and thus the same bits. */
#include "base/limits.h"
#include "base/rounding.h"
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "plan/template_kernels.h"

enum { THREADS = 256 };

/* One of the ops, and the partial sums of its results. */
typedef struct {
    const Op *op;
    const Value *full, *low, *grad; /* dy, u and dB; or x, v and dA */
    const Value *b, *v;             /* NULL if the gradient is that of A */
    const Value *grad_parts, *v_parts;
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
    fill_int(&f, "features", s->features);
    fill_int(&f, "rank", s->rank);
    return f;
}

/* Of the kernels that multiply: sizes, and how a block is tiled. */
static void fill_tiling(Filling *f, const LowRank *g) {
    const LowRankTiles *t = &g->tiles;
    fill_text(f, "dtype", dtype_c_name(g->full->dtype));
    fill_int(f, "rows", g->shape.rows);
    fill_int(f, "cols", t->cols);
    fill_int(f, "tile_rows", t->tile_rows);
    fill_int(f, "part_rows", t->part_rows);
    fill_grid(f, t->across, t->down, 1);
}

/* ---- both gradients -------------------------------------------------------------------------- */

static void multiply(Plan *plan, Entry entry, const LowRank *g) {
    const LowRankTiles *t = &g->tiles;
    Filling f = filling(plan, g, "low_rank_grads", "low_rank_grads");
    f.kernel.shared_bytes = t->shared_bytes;
    if (!value_dense(g->full))
        f.kernel.name =
            arena_printf(f.arena, "%s_of_%lld", f.kernel.name, (long long)g->full->row_stride);
    fill_tiling(&f, g);
    fill_stride(&f, "dy_stride", g->full);
    fill_stride(&f, "b_stride", g->b);
    fill_stride(&f, "u_stride", g->low);
    fill_int(&f, "stages", t->stages);
    fill_reads(&f, "dy", g->full);
    fill_reads(&f, "b", g->b);
    fill_reads(&f, "u", g->low);
    fill_writes(&f, "v_parts", g->v_parts);
    fill_writes(&f, "db_parts", g->grad_parts);
    fill_cost(&f, (double)value_bytes(g->full) + low_rank_grads_bytes(g->shape, t),
              op_flops(g->op));
    fill_finish(plan, entry, &f, g->op);
}

static void add_parts(Plan *plan, Entry entry, const LowRank *g) {
    bool accumulate = g->op->attr.accumulate;
    Filling f = filling(plan, g, "add_parts", "low_rank_grads_add_parts");
    fill_text(&f, "dtype", dtype_c_name(g->full->dtype));
    fill_int(&f, "rows", g->shape.rows);
    fill_text(&f, "grad_dtype", dtype_c_name(g->grad->dtype));
    fill_int(&f, "v_parts", g->tiles.across);
    fill_int(&f, "db_parts", g->tiles.down);
    fill_stride(&f, "v_stride", g->v);
    fill_stride(&f, "db_stride", g->grad);
    fill_real(&f, "v_alpha", g->op->attr.alpha_v, "f");
    fill_real(&f, "alpha", g->op->attr.alpha, "f");
    fill_reads(&f, "v_parts", g->v_parts);
    fill_reads(&f, "db_parts", g->grad_parts);
    fill_writes(&f, "v", g->v);
    fill_result(&f, "db", g->grad, accumulate);
    int64_t elements = value_elements(g->v) + value_elements(g->grad);
    fill_grid(&f, ceil_div(elements, 4 * THREADS), 1, 1);
    fill_cost(&f,
              low_rank_grads_part_bytes(g->shape, &g->tiles) + (double)value_bytes(g->v) +
                  (accumulate ? 2 : 1) * (double)value_bytes(g->grad),
              (double)(value_elements(g->v_parts) + value_elements(g->grad_parts)));
    fill_finish(plan, entry, &f, g->op);
}

/* ---- the gradient of A ----------------------------------------------------------------------- */

static void multiply_for_a(Plan *plan, Entry entry, const LowRank *g) {
    const LowRankTiles *t = &g->tiles;
    Filling f = filling(plan, g, "low_rank_grad_a", "low_rank_grad_a");
    f.kernel.shared_bytes = t->shared_bytes;
    fill_tiling(&f, g);
    fill_stride(&f, "x_stride", g->full);
    fill_stride(&f, "v_stride", g->low);
    fill_int(&f, "stages", t->stages);
    fill_reads(&f, "x", g->full);
    fill_reads(&f, "v", g->low);
    fill_writes(&f, "da_parts", g->grad_parts);
    fill_cost(&f, (double)value_bytes(g->full) + low_rank_grad_a_bytes(g->shape, t),
              op_flops(g->op));
    fill_finish(plan, entry, &f, g->op);
}

static void add_parts_of_a(Plan *plan, Entry entry, const LowRank *g) {
    bool accumulate = g->op->attr.accumulate;
    Filling f = filling(plan, g, "add_parts_of_a", "low_rank_grad_a_add_parts");
    fill_text(&f, "grad_dtype", dtype_c_name(g->grad->dtype));
    fill_int(&f, "da_parts", g->tiles.down);
    fill_stride(&f, "da_stride", g->grad);
    fill_real(&f, "alpha", g->op->attr.alpha, "f");
    fill_reads(&f, "da_parts", g->grad_parts);
    fill_result(&f, "da", g->grad, accumulate);
    fill_grid(&f, ceil_div(value_elements(g->grad), 4 * THREADS), 1, 1);
    fill_cost(&f,
              (double)value_bytes(g->grad_parts) +
                  (accumulate ? 2 : 1) * (double)value_bytes(g->grad),
              (double)value_elements(g->grad_parts));
    fill_finish(plan, entry, &f, g->op);
}

/* ---- one path -------------------------------------------------------------------------------- */

static bool is_grad_a(const Op *op) { return op->kind == OP_low_rank_grad_a; }

static LowRank low_rank_of(const Plan *plan, Entry entry, const Op *op) {
    bool of_a = is_grad_a(op);
    LowRank g = {.op = op, .full = op->in[0], .low = op->in[of_a ? 1 : 2], .grad = op->out[0]};
    if (!of_a) {
        g.b = op->in[1];
        g.v = op->out[1];
    }
    g.shape = low_rank_shape(g.full, g.low);
    g.shape.pointwise = of_a || is_made_pointwise(plan->program, &plan->entry[entry].uses, op);
    g.shape.beside_a = op->attr.beside_a;
    g.shape.only_a = of_a && !op->attr.beside_a;
    ENSURE(g.shape.rows <= MOST_ROWS && g.shape.features <= MOST_ROWS,
           "%s: %s has more rows or columns than an int", op->name, of_a ? "x" : "dy");
    g.tiles = low_rank_tiles(g.shape, plan->device);
    ENSURE(g.tiles.cols, "%s: no block fits into shared memory", op->name);
    return g;
}

static void add_partial_sums(Program *p, LowRank *g) {
    if (g->v)
        g->v_parts = parts_of(p, g->op, g->v, g->tiles.across);
    g->grad_parts = parts_of(p, g->op, g->grad, g->tiles.down);
}

/* ---- with a prologue ------------------------------------------------------------------------- */

/* Whether one kernel can have both ops. The gradient of an A has a stride of its own. */
static bool alike(const LowRank *first, const LowRank *g) {
    bool strides = !g->b || (first->b->row_stride == g->b->row_stride &&
                             first->low->row_stride == g->low->row_stride);
    return strides && low_rank_same_sizes(first->shape, g->shape) && first->shape.pointwise &&
           g->shape.pointwise && first->full->dtype == g->full->dtype &&
           first->tiles.cols == g->tiles.cols;
}

/* The gradient of an A comes last. */
static LowRankMade made_by(const Group *group) {
    int grads_a = is_grad_a(group_host(group, group->hosts - 1));
    return (LowRankMade){group->hosts - grads_a, grads_a};
}

static bool begins_with_paths(const Group *group, int paths) {
    for (int i = 0; i < paths; i++)
        if (group_host(group, i)->kind != OP_low_rank_grads)
            return false;
    return true;
}

bool low_rank_grads_share(const Plan *plan, Entry entry, const Group *group) {
    LowRankMade made = made_by(group);
    if (made.paths > LOW_RANK_PATHS || !begins_with_paths(group, made.paths))
        return false;
    LowRank first = low_rank_of(plan, entry, group_host(group, 0));
    if (!low_rank_two_blocks_fit(first.shape, &first.tiles, made, plan->device))
        return false;
    for (int i = 0; i < group->hosts; i++) {
        LowRank g = low_rank_of(plan, entry, group_host(group, i));
        if (!alike(&first, &g))
            return false;
    }
    return true;
}

/* "b", or "b_2" for the second path. */
static const char *numbered(Filling *f, const char *name, int path) {
    return path ? arena_printf(f->arena, "%s_%d", name, path + 1) : name;
}

/* Passes a path's operands, and adds them to the texts of the holes path_operands and path_list. */
static void fill_path(Filling *f, const LowRank *g, int path, const char **operands,
                      const char **list) {
    const char *b = numbered(f, "b", path), *u = numbered(f, "u", path);
    const char *v_parts = numbered(f, "v_parts", path), *db_parts = numbered(f, "db_parts", path);
    const char *dtype = dtype_c_name(g->full->dtype);
    fill_reads(f, b, g->b);
    fill_reads(f, u, g->low);
    fill_writes(f, v_parts, g->v_parts);
    fill_writes(f, db_parts, g->grad_parts);
    *operands =
        arena_printf(f->arena,
                     "%s%sconst %s *__restrict__ %s, const %s *__restrict__ %s,\n"
                     "    float *__restrict__ %s, float *__restrict__ %s",
                     *operands, path ? ",\n    " : "", dtype, b, dtype, u, v_parts, db_parts);
    *list = arena_printf(f->arena, "%s%s{%s, %s, %s, %s}", *list, path ? ", " : "", b, u, v_parts,
                         db_parts);
}

/* The same for the gradient of an A. */
static void fill_grad_a(Filling *f, const LowRank *g, const char **operands, const char **list) {
    fill_reads(f, "v", g->low);
    fill_writes(f, "da_parts", g->grad_parts);
    *operands =
        arena_printf(f->arena, "%s,\n    const %s *__restrict__ v, float *__restrict__ da_parts",
                     *operands, dtype_c_name(g->full->dtype));
    *list = arena_printf(f->arena, "%s, {nullptr, v, nullptr, da_parts}", *list);
}

static void multiply_made(Plan *plan, Entry entry, const LowRank *paths, const Group *group) {
    const LowRank *g = &paths[0];
    const LowRankTiles *t = &g->tiles;
    Filling f = filling(plan, g, "pointwise_low_rank_grads", "low_rank_grads");
    LowRankMade made = made_by(group);
    f.kernel.shared_bytes = low_rank_made_shared(g->shape, t, made);
    fill_tiling(&f, g);
    fill_stride(&f, "b_stride", g->b);
    fill_stride(&f, "u_stride", g->low);
    fill_int(&f, "v_stride", made.grads_a ? paths[made.paths].low->row_stride : 0);
    fill_int(&f, "paths", made.paths);
    fill_int(&f, "grads_a", made.grads_a);
    const char *operands = "", *list = "";
    double bytes = made.grads_a * low_rank_grad_a_bytes(g->shape, t), flops = 0;
    for (int i = 0; i < made.paths; i++) {
        fill_path(&f, &paths[i], i, &operands, &list);
        bytes += low_rank_grads_bytes(g->shape, t);
    }
    if (made.grads_a)
        fill_grad_a(&f, &paths[made.paths], &operands, &list);
    for (int i = 0; i < group->hosts; i++)
        flops += op_flops(paths[i].op);
    fill_text(&f, "path_operands", operands);
    fill_text(&f, "path_list", list);
    fill_cost(&f, bytes, flops);
    fill_finish_prologue(plan, entry, &f, group);
}

/* The same for the gradient of an A alone. */
static void multiply_made_x(Plan *plan, Entry entry, const LowRank *g, const Group *group) {
    Filling f = filling(plan, g, "pointwise_low_rank_grad_a", "low_rank_grad_a");
    f.kernel.shared_bytes = low_rank_made_shared(g->shape, &g->tiles, (LowRankMade){0, 1});
    fill_tiling(&f, g);
    fill_stride(&f, "v_stride", g->low);
    fill_reads(&f, "v", g->low);
    fill_writes(&f, "da_parts", g->grad_parts);
    fill_cost(&f, low_rank_grad_a_bytes(g->shape, &g->tiles), op_flops(g->op));
    fill_finish_prologue(plan, entry, &f, group);
}

static void plan_with_prologue(Plan *plan, Entry entry, const Group *group) {
    LowRank paths[LOW_RANK_PATHS + 1];
    for (int i = 0; i < group->hosts; i++) {
        paths[i] = low_rank_of(plan, entry, group_host(group, i));
        add_partial_sums(plan->program, &paths[i]);
    }
    (made_by(group).paths ? multiply_made : multiply_made_x)(plan, entry, paths, group);
    for (int i = 0; i < group->hosts; i++)
        (is_grad_a(paths[i].op) ? add_parts_of_a : add_parts)(plan, entry, &paths[i]);
}

/* ---- the rule -------------------------------------------------------------------------------- */

void plan_low_rank_grads(Plan *plan, Entry entry, const Group *group) {
    if (group->hosts) {
        plan_with_prologue(plan, entry, group);
        return;
    }
    LowRank g = low_rank_of(plan, entry, group->ops[0]);
    add_partial_sums(plan->program, &g);
    (is_grad_a(g.op) ? multiply_for_a : multiply)(plan, entry, &g);
    (is_grad_a(g.op) ? add_parts_of_a : add_parts)(plan, entry, &g);
}
