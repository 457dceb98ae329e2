/* Matrix products: one Gemm a shape, one launch an op. */
#include <string.h>

#include "plan/kernels.h"

static bool same_gemm(const Gemm *a, const Gemm *b) {
    return a->m == b->m && a->n == b->n && a->k == b->k && a->lda == b->lda && a->ldb == b->ldb &&
           a->ldc == b->ldc && a->transpose_a == b->transpose_a &&
           a->transpose_b == b->transpose_b && a->a == b->a && a->b == b->b && a->c == b->c &&
           a->compute == b->compute && a->alpha == b->alpha && a->beta == b->beta;
}

static const Gemm *gemm_called(const Plan *plan, const char *name) {
    for (int i = 0; i < plan->gemm_count; i++)
        if (!strcmp(plan->gemms[i].name, name))
            return &plan->gemms[i];
    return NULL;
}

/* What a name says more where an earlier product of the same shapes has it. */
static const char *difference(Arena *arena, const Gemm *g, const Gemm *other) {
    if (g->c != other->c)
        return arena_printf(arena, "_to_%s", dtype_name(g->c));
    if (g->a != other->a)
        return arena_printf(arena, "_of_%s", dtype_name(g->a));
    if (g->alpha != other->alpha && (g->alpha == 1 || other->alpha == 1))
        return g->alpha == 1 ? "_unscaled" : "_scaled";
    return NULL;
}

/* "_a304": rows of the operand lie further apart than they are long. */
static const char *with_stride(Arena *arena, const char *name, char operand, int64_t stride,
                               int64_t dense) {
    return stride == dense ? name
                           : arena_printf(arena, "%s_%c%lld", name, operand, (long long)stride);
}

/* "gemm_1024x512x128_nt_b144": m, n, k, who is transposed, and row strides that are no row's length. */
static const char *gemm_name(const Plan *plan, const Gemm *g) {
    Arena *arena = plan->program->arena;
    const char *base =
        arena_printf(arena, "gemm_%lldx%lldx%lld_%c%c", (long long)g->m, (long long)g->n,
                     (long long)g->k, g->transpose_a ? 't' : 'n', g->transpose_b ? 't' : 'n');
    base = with_stride(arena, base, 'a', g->lda, g->transpose_a ? g->m : g->k);
    base = with_stride(arena, base, 'b', g->ldb, g->transpose_b ? g->k : g->n);
    base = with_stride(arena, base, 'c', g->ldc, g->n);
    if (g->beta != 0)
        base = arena_printf(arena, "%s_add", base);
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

/* A single row has no next one; the library still wants a stride of a whole row. */
static int64_t leading(const Value *v) {
    return value_rows(v) == 1 ? value_cols(v) : v->row_stride;
}

static Gemm gemm_of(const Program *p, const Op *op) {
    const Value *a = op->in[0], *b = op->in[1], *c = op->out[0];
    bool ta = op->attr.transpose_a, tb = op->attr.transpose_b;
    Gemm g = {.m = value_rows(c),
              .n = value_cols(c),
              .k = ta ? value_rows(a) : value_cols(a),
              .lda = leading(a),
              .ldb = leading(b),
              .ldc = leading(c),
              .transpose_a = ta,
              .transpose_b = tb,
              .a = a->dtype,
              .b = b->dtype,
              .c = c->dtype,
              .alpha = op->attr.alpha,
              .beta = op->attr.accumulate ? 1 : 0};
    if (a->dtype == DT_F64)
        g.compute = COMPUTE_F64;
    else
        g.compute = a->dtype == DT_F32 && p->tf32 ? COMPUTE_TF32 : COMPUTE_F32;
    return g;
}

void plan_gemm(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    Launch launch = {
        .kind = LAUNCH_GEMM, .arg = {op->in[0], op->in[1], op->out[0]}, .arg_count = 3};
    launch.read[0] = launch.read[1] = launch.written[2] = true;
    launch.read[2] = op->attr.accumulate;
    launch.index = find_gemm(plan, gemm_of(plan->program, op));
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
    launch_carries(plan->program->arena, &launch, &op, 1);
    plan_add_launch(plan, entry, launch);
}
