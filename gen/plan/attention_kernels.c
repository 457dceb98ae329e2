/* Attention: on tensor cores for 16-bit types and tf32 if rows are aligned for it, else with plain
 * FMA. Forward is one kernel, backward two. Geometry as in the templates' head comments. */
#include <math.h>
#include <string.h>

#include "base/rounding.h"
#include "graph/attention_operands.h"
#include "plan/attention.h"
#include "plan/template_kernels.h"

static const char *const part_names[] = {"forward", "backward_q", "backward_kv"};

/* ---- which template -------------------------------------------------------------------------- */

static bool rows_aligned(const Value *v) {
    int64_t size = dtype_bytes(v->dtype);
    return v->offset * size % 16 == 0 && v->row_stride * size % 16 == 0;
}

static bool on_tensor_cores(const Program *p, const Op *op) {
    DType dtype = op->in[0]->dtype;
    bool fits = dtype == DT_BF16 || dtype == DT_F16 || (dtype == DT_F32 && p->tf32);
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i]->dtype == dtype && value_cols(op->in[i]) > 1)
            fits = fits && rows_aligned(op->in[i]);
    for (int i = 0; i < op->out_count; i++)
        if (op->out[i]->dtype == dtype)
            fits = fits && rows_aligned(op->out[i]);
    return fits;
}

/* wgmma needs a head to fill panels of 64 columns. */
static bool by_wgmma(const Plan *plan, const Op *op) {
    bool fits = op->attr.head_dim == 64 || op->attr.head_dim == 128;
    return plan_has_wgmma(plan) && fits && dtype_bytes(op->in[0]->dtype) == 2 &&
           on_tensor_cores(plan->program, op);
}

/* Shared memory that a block can have on sm_80. For devices with less (sm_86, sm_89, sm_120: 99 KiB)
 * the kernels of long heads are refused. */
enum { MOST_SHARED = 163 * 1024 };

/* ---- operands -------------------------------------------------------------------------------- */

static const char *const operands[ATTENTION_GRAD_OPERANDS] = {
    [ATTENTION_Q] = "q",
    [ATTENTION_K] = "k",
    [ATTENTION_V] = "v",
    [ATTENTION_POSITIONS] = "positions",
    [ATTENTION_O] = "o",
    [ATTENTION_LSE] = "lse",
    [ATTENTION_D_O] = "d_o"};

/* Adds the operands that all kernels read: q, k, v and what masks them. */
static void read_sequences(Filling *f, const Op *op) {
    for (int i = ATTENTION_Q; i <= ATTENTION_POSITIONS; i++)
        fill_reads(f, operands[i], op->in[i]);
    if (attention_prefix(op))
        fill_reads(f, "prefix", attention_prefix(op));
}

static void read_rope(Filling *f, const Op *op) {
    static const char *const names[] = {"rope_positions", "rope_cos", "rope_sin"};
    for (int i = 0; attention_rope(op) && i < 3; i++)
        fill_reads(f, names[i], attention_rope(op)[i]);
}

/* ---- geometry -------------------------------------------------------------------------------- */

static void fma_geometry(AttentionGeometry *g, int64_t size) {
    int64_t bytes = g->head_dim * size;
    g->rows = bytes <= 256 ? 64 : bytes <= 1024 ? 32 : 16;
    g->keys = bytes <= 512 ? 128 / size : bytes <= (size == 8 ? 768 : 1024) ? 16 : 8;
    int64_t parts = ceil_div(bytes, 256), width = parts * round_up(ceil_div(g->head_dim, parts), 8);
    g->row_threads = parts;
    g->threads = g->rows * parts;
    int64_t pitch = g->keys + 16 / size, kept = g->keys * g->threads, swap = parts > 1 ? kept : 0;
    static const int64_t rows_of[] = {1, 2, 2}, pitches[] = {1, 2, 2}, keys_of[] = {1, 1, 2},
                         swaps[] = {1, 2, 2};
    int64_t columns =
        rows_of[g->part] * g->rows + pitches[g->part] * pitch + keys_of[g->part] * g->keys;
    if (g->part == ATTENTION_BACKWARD_KV)
        kept += (g->prefixed ? 5 : 3) * g->keys;
    g->shared_bytes = size * (width * columns + kept + swaps[g->part] * swap);
}

/* Shared memory for the lse, delta and mask of the queries that a block of keys visits. */
static int64_t queries_bytes(const AttentionGeometry *g) {
    if (g->part != ATTENTION_BACKWARD_KV)
        return 0;
    return (g->prefixed ? 40 : 24) * g->keys;
}

static void mma_geometry(AttentionGeometry *g, int64_t size) {
    static const struct {
        int64_t warps, row_tiles, keys;
    } tiles[3][4] = {
        [ATTENTION_FORWARD] = {{4, 2, 64}, {4, 2, 64}, {4, 1, 32}, {4, 1, 16}},
        [ATTENTION_BACKWARD_Q] = {{4, 2, 64}, {4, 2, 32}, {4, 1, 32}, {2, 1, 16}},
        [ATTENTION_BACKWARD_KV] = {{4, 2, 32}, {4, 1, 64}, {4, 1, 32}, {2, 1, 16}},
    };
    g->split = g->part == ATTENTION_BACKWARD_KV && g->head_dim > 128 ? 2 : 1;
    int64_t bytes = round_up(g->head_dim, 16 * g->split) * size, pitch = bytes + 16;
    int width_class = bytes <= 128 ? 0 : bytes <= 256 ? 1 : bytes <= 512 ? 2 : 3;
    g->warps = tiles[g->part][width_class].warps;
    g->row_tiles = tiles[g->part][width_class].row_tiles;
    g->keys = tiles[g->part][width_class].keys;
    g->rows = 16 * g->row_tiles * g->warps;
    g->threads = 32 * g->warps;
    g->shared_bytes = pitch * ((g->part == ATTENTION_FORWARD ? 1 : 2) * g->rows + 4 * g->keys);
    g->shared_bytes += queries_bytes(g);
}

/* A block is one warpgroup. The more blocks share a multiprocessor, the better they hide each
 * other's waits: `blocks` is the largest number whose registers need not spill. */
static void wgmma_geometry(AttentionGeometry *g) {
    bool forward = g->part == ATTENTION_FORWARD;
    g->rows = 64;
    g->keys = 64;
    g->threads = 128;
    g->blocks = g->head_dim > 64 ? 2 : g->part == ATTENTION_BACKWARD_KV ? 3 : 4;
    g->shared_bytes = g->row_bytes * ((forward ? 1 : 2) * g->rows + 4 * g->keys) + 1024;
    g->shared_bytes += queries_bytes(g);
}

/* Only rows of 16, those of wide heads in fp64, can be too many; and samples only if a row of the
 * batch is two of them. */
static void check_grid(const Plan *plan, const AttentionGeometry *g) {
    if (g->batch > MOST_GRID_YZ)
        user_error(spec_pos(plan->spec, KEY_training_per_device_train_batch_size),
                   "lower it, and raise gradient_accumulation_steps",
                   "attention over %lld samples at a time; a launch has room for %lld",
                   (long long)g->batch, (long long)MOST_GRID_YZ);
    if (ceil_div(g->seq, g->rows) > MOST_GRID_YZ)
        user_error(spec_pos(plan->spec, KEY_training_seq_len),
                   "use shorter rows, narrower heads or another precision",
                   "heads of width %lld in this precision allow %lld tokens per row at most",
                   (long long)g->head_dim, (long long)(MOST_GRID_YZ * g->rows));
}

static AttentionGeometry geometry_of(const Plan *plan, const Op *op, AttentionPart part) {
    const Program *p = plan->program;
    const Attr *a = &op->attr;
    AttentionGeometry g = {.part = part,
                           .tensor_cores = on_tensor_cores(p, op),
                           .wgmma = by_wgmma(plan, op),
                           .prefixed = attention_prefix(op) != NULL,
                           .segmented = p->segmented || attention_prefix(op),
                           .rotated = attention_rope(op) != NULL,
                           .seq = a->seq_len,
                           .batch = value_rows(op->in[0]) / a->seq_len,
                           .heads = a->heads,
                           .kv_heads = a->kv_heads,
                           .head_dim = a->head_dim,
                           .split = 1,
                           .row_bytes = a->head_dim * dtype_bytes(op->in[0]->dtype),
                           .acc_bytes = dtype_bytes(p->real)};
    if (g.wgmma)
        wgmma_geometry(&g);
    else if (g.tensor_cores)
        mma_geometry(&g, dtype_bytes(op->in[0]->dtype));
    else
        fma_geometry(&g, dtype_bytes(p->real));
    ENSURE(!g.rotated || g.split == 1, "%s undoes RoPE of parts of rows", op->name);
    ENSURE(g.shared_bytes <= MOST_SHARED, "%s needs %lld bytes of shared memory", op->name,
           (long long)g.shared_bytes);
    check_grid(plan, &g);
    return g;
}

/* ---- filling --------------------------------------------------------------------------------- */

/* The mask's type, and the pointers that it reads. */
static void fill_mask(Filling *f, const AttentionGeometry *g) {
    fill_text(f, "mask", g->prefixed ? "PrefixMask" : "CausalMask");
    fill_text(f, "mask_operands", g->prefixed ? "positions, prefix" : "positions");
    fill_text(f, "mask_parameters",
              g->prefixed ? "const int *__restrict__ positions, const int *__restrict__ prefix"
                          : "const int *__restrict__ positions");
}

/* How backward stores dq and dk, and what it needs for that. */
static void fill_rotation(Filling *f, const AttentionGeometry *g, DType acc) {
    static const char parameters[] =
        "const int *__restrict__ rope_positions, const %s *__restrict__ rope_cos,\n"
        "    const %s *__restrict__ rope_sin,\n    ";
    const char *type = g->tensor_cores ? "float" : dtype_c_name(acc);
    fill_text(f, "rotation", g->rotated ? "UndoRope" : "Unrotated");
    fill_text(f, "rope_parameters",
              g->rotated ? arena_printf(f->arena, parameters, type, type) : "");
    fill_text(f, "rope_operands", g->rotated ? "rope_positions, rope_cos, rope_sin, " : "");
}

static const char *template_of(const AttentionGeometry *g) {
    if (g->wgmma)
        return "attention_wgmma.cu";
    return g->tensor_cores ? "attention_mma.cu" : "attention_fma.cu";
}

/* The rows in a block, or the blocks on a multiprocessor, where the template leaves them open. */
static void fill_rows(Filling *f, const AttentionGeometry *g, DType acc) {
    if (g->tensor_cores && !g->wgmma) {
        fill_int(f, "warps", g->warps);
        fill_int(f, "row_tiles", g->row_tiles);
    } else if (g->wgmma) {
        fill_int(f, "blocks", g->blocks);
    } else {
        fill_text(f, "acc", dtype_c_name(acc));
        fill_int(f, "rows", g->rows);
    }
}

static const char *rotated_titles[] = {"attention_grad", "rope_grad"};

static Filling attention_filling(const Plan *plan, const Op *op, const AttentionGeometry *g) {
    const char *template_name = template_of(g);
    Filling f = filling_new(plan, op, template_name, part_names[g->part]);
    f.kernel.name = arena_printf(f.arena, "attention_%s%s_%lldx%lldx%lld", part_names[g->part],
                                 g->rotated ? "_rope" : "", (long long)g->seq, (long long)g->heads,
                                 (long long)g->head_dim);
    if (g->rotated)
        f.kernel.ops = (OpTitles){rotated_titles, 2};
    f.kernel.threads = (int)g->threads;
    f.kernel.shared_bytes = g->shared_bytes;
    if (g->wgmma)
        f.kernel.matmul_share = plan->device->wgmma_share;
    fill_text(&f, "dtype", dtype_c_name(op->in[0]->dtype));
    fill_int(&f, "seq", g->seq);
    fill_int(&f, "head_dim", g->head_dim);
    fill_int(&f, "heads", g->heads);
    fill_int(&f, "kv_heads", g->kv_heads);
    fill_int(&f, "keys", g->keys);
    fill_real(&f, "scale", 1.0 / sqrt((double)g->head_dim), g->tensor_cores ? "f" : "");
    fill_stride(&f, "q_stride", op->in[ATTENTION_Q]);
    fill_stride(&f, "k_stride", op->in[ATTENTION_K]);
    fill_stride(&f, "v_stride", op->in[ATTENTION_V]);
    fill_rows(&f, g, plan->program->real);
    fill_mask(&f, g);
    if (g->part != ATTENTION_FORWARD)
        fill_rotation(&f, g, plan->program->real);
    int64_t heads = g->part == ATTENTION_BACKWARD_KV ? g->kv_heads * g->split : g->heads;
    fill_grid(&f, heads, g->batch, ceil_div(g->seq, g->rows));
    fill_cost(&f, attention_issued_bytes(g), attention_kernel_flops(g));
    return f;
}

void plan_attention(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    AttentionGeometry g = geometry_of(plan, op, ATTENTION_FORWARD);
    Filling f = attention_filling(plan, op, &g);
    fill_stride(&f, "o_stride", op->out[0]);
    read_sequences(&f, op);
    fill_writes(&f, "o", op->out[0]);
    fill_writes(&f, "lse", op->out[1]);
    fill_finish(plan, entry, &f, op);
}

static void plan_backward_q(Plan *plan, Entry entry, const Op *op) {
    AttentionGeometry g = geometry_of(plan, op, ATTENTION_BACKWARD_Q);
    Filling f = attention_filling(plan, op, &g);
    fill_stride(&f, "o_stride", op->in[ATTENTION_O]);
    fill_stride(&f, "do_stride", op->in[ATTENTION_D_O]);
    fill_stride(&f, "dq_stride", op->out[0]);
    read_sequences(&f, op);
    for (int i = ATTENTION_O; i <= ATTENTION_D_O; i++)
        fill_reads(&f, operands[i], op->in[i]);
    read_rope(&f, op);
    fill_writes(&f, "delta", op->out[3]);
    fill_writes(&f, "dq", op->out[0]);
    fill_finish(plan, entry, &f, op);
}

static void plan_backward_kv(Plan *plan, Entry entry, const Op *op) {
    AttentionGeometry g = geometry_of(plan, op, ATTENTION_BACKWARD_KV);
    Filling f = attention_filling(plan, op, &g);
    fill_stride(&f, "do_stride", op->in[ATTENTION_D_O]);
    fill_stride(&f, "dk_stride", op->out[1]);
    fill_stride(&f, "dv_stride", op->out[2]);
    read_sequences(&f, op);
    fill_reads(&f, "lse", op->in[ATTENTION_LSE]);
    fill_reads(&f, "delta", op->out[3]);
    fill_reads(&f, "d_o", op->in[ATTENTION_D_O]);
    read_rope(&f, op);
    fill_writes(&f, "dk", op->out[1]);
    fill_writes(&f, "dv", op->out[2]);
    fill_finish(plan, entry, &f, op);
}

/* The first kernel passes delta, the row sums of d_o o, to the second. */
void plan_attention_grad(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    plan_backward_q(plan, entry, op);
    plan_backward_kv(plan, entry, op);
}
