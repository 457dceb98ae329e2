/* Matrix products: one launch per op; equal products share a Gemm. For images in planes, one launch
 * is a batch with a product per image. */
#include <string.h>

#include "plan/kernels.h"

static bool same_gemm(const Gemm *a, const Gemm *b) {
    return a->m == b->m && a->n == b->n && a->k == b->k && a->lda == b->lda && a->ldb == b->ldb &&
           a->ldc == b->ldc && a->batch_count == b->batch_count && a->stride_a == b->stride_a &&
           a->stride_b == b->stride_b && a->stride_c == b->stride_c &&
           a->transpose_a == b->transpose_a && a->transpose_b == b->transpose_b && a->a == b->a &&
           a->b == b->b && a->c == b->c && a->compute == b->compute && a->alpha == b->alpha &&
           a->beta == b->beta && a->bias == b->bias;
}

static const Gemm *gemm_called(const Plan *plan, const char *name) {
    for (int i = 0; i < plan->gemm_count; i++)
        if (!strcmp(plan->gemms[i].name, name))
            return &plan->gemms[i];
    return NULL;
}

/* Suffix for a name that an earlier product of the same shape has; or NULL. */
static const char *difference(Arena *arena, const Gemm *g, const Gemm *other) {
    if (g->c != other->c)
        return arena_printf(arena, "_to_%s", dtype_name(g->c));
    if (g->a != other->a)
        return arena_printf(arena, "_of_%s", dtype_name(g->a));
    if (g->alpha != other->alpha && (g->alpha == 1 || other->alpha == 1))
        return g->alpha == 1 ? "_unscaled" : "_scaled";
    return NULL;
}

/* Appends the row stride of an operand whose rows are not dense: "_a304". */
static const char *with_stride(Arena *arena, const char *name, char operand, int64_t stride,
                               int64_t dense) {
    return stride == dense ? name
                           : arena_printf(arena, "%s_%c%lld", name, operand, (long long)stride);
}

/* "gemm_1024x512x128_nt_b144": m, n, k, which operands are transposed, and row strides of operands
 * that are not dense; then the size of a batch, whether it accumulates, and whether it adds a bias. */
static const char *gemm_name(const Plan *plan, const Gemm *g) {
    Arena *arena = plan->program->arena;
    const char *base =
        arena_printf(arena, "gemm_%lldx%lldx%lld_%c%c", (long long)g->m, (long long)g->n,
                     (long long)g->k, g->transpose_a ? 't' : 'n', g->transpose_b ? 't' : 'n');
    base = with_stride(arena, base, 'a', g->lda, g->transpose_a ? g->m : g->k);
    base = with_stride(arena, base, 'b', g->ldb, g->transpose_b ? g->k : g->n);
    base = with_stride(arena, base, 'c', g->ldc, g->n);
    if (g->batch_count > 1)
        base = arena_printf(arena, "%s_batch%lld", base, (long long)g->batch_count);
    if (g->beta != 0)
        base = arena_printf(arena, "%s_add", base);
    if (g->bias)
        base = arena_printf(arena, "%s_bias", base);
    const Gemm *other;
    while ((other = gemm_called(plan, base))) {
        const char *more = difference(arena, g, other);
        if (!more)
            break;
        base = arena_printf(arena, "%s%s", base, more);
    }
    const char *name = base;
    for (int n = 2; gemm_called(plan, name); n++)
        name = arena_printf(arena, "%s_v%d", base, n);
    return name;
}

static int find_gemm(Plan *plan, Gemm gemm) {
    for (int i = 0; i < plan->gemm_count; i++)
        if (same_gemm(&plan->gemms[i], &gemm))
            return i;
    plan->gemms = arena_grow(plan->program->arena, plan->gemms, plan->gemm_count,
                             &plan->gemm_capacity, sizeof gemm);
    gemm.name = gemm_name(plan, &gemm);
    plan->gemms[plan->gemm_count] = gemm;
    return plan->gemm_count++;
}

/* Leading dimension. The stride of a single row means nothing, but the library still expects a
 * whole row. */
static int64_t leading(const Value *v) {
    return value_rows(v) == 1 ? value_cols(v) : v->row_stride;
}

/* A single product of these types; the caller sets its shape and strides. */
static Gemm gemm_typed(const Program *p, const Op *op, const Value *a, const Value *b,
                       const Value *c) {
    Gemm g = {.batch_count = 1,
              .a = a->dtype,
              .b = b->dtype,
              .c = c->dtype,
              .alpha = 1,
              .beta = op->attr.accumulate ? 1 : 0};
    if (a->dtype == DT_F64)
        g.compute = COMPUTE_F64;
    else
        g.compute = a->dtype == DT_F32 && p->tf32 ? COMPUTE_TF32 : COMPUTE_F32;
    return g;
}

/* The launch's arguments are a, b, c and, if the product adds a bias, that. */
static void launch_gemm(Plan *plan, Entry entry, const Op *op, Gemm gemm, const Value *a,
                        const Value *b, const Value *c) {
    Launch launch = {.kind = LAUNCH_GEMM, .arg = {a, b, c}, .arg_count = 3};
    launch.read[0] = launch.read[1] = launch.written[2] = true;
    launch.read[2] = op->attr.accumulate;
    if (gemm.bias) {
        launch.arg[launch.arg_count] = op->in[2];
        launch.read[launch.arg_count++] = true;
    }
    launch.index = find_gemm(plan, gemm);
    plan_add_launch(plan, entry, launch, &op, 1);
}

void plan_gemm(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    const Value *a = op->in[0], *b = op->in[1], *c = op->out[0];
    Gemm g = gemm_typed(plan->program, op, a, b, c);
    g.transpose_a = op->attr.transpose_a;
    g.transpose_b = op->attr.transpose_b;
    g.m = value_rows(c);
    g.n = value_cols(c);
    g.k = g.transpose_a ? value_rows(a) : value_cols(a);
    g.lda = leading(a);
    g.ldb = leading(b);
    g.ldc = leading(c);
    g.alpha = op->attr.alpha;
    g.bias = op->in_count == 3 && !op->attr.accumulate;
    launch_gemm(plan, entry, op, g, a, b, c);
}

void plan_plane_gemms(Plan *plan, Entry entry, const Op *op, bool transposed) {
    const Value *x = op->in[0], *weight = op->in[1], *y = op->out[0];
    Gemm g = gemm_typed(plan->program, op, weight, x, y);
    g.transpose_a = transposed;
    g.m = value_cols(y);
    g.n = g.ldb = g.ldc = y->plane;
    g.k = value_cols(x);
    g.lda = value_cols(weight);
    g.batch_count = value_rows(y) / y->plane;
    g.stride_b = g.k * g.n;
    g.stride_c = g.m * g.n;
    launch_gemm(plan, entry, op, g, weight, x, y);
}
