/* Ops that a template serves: which of its kernels, the values of its holes, the geometry that its
 * head comment asks for. */
#include <math.h>
#include <string.h>

#include "graph/op_table.h"
#include "plan/kernels.h"

enum { MAX_HOLES = 24 };

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

const char *dtype_c_name(DType dtype) {
    static const char *const names[DT_COUNT] = {
        [DT_F64] = "double", [DT_F32] = "float", [DT_F16] = "__half", [DT_BF16] = "__nv_bfloat16",
        [DT_I64] = "int64_t", [DT_I32] = "int", [DT_U8] = "uint8_t",
    };
    return names[dtype];
}

/* A kernel of a template being filled, and its launch. */
typedef struct {
    Arena *arena;
    Kernel kernel;
    Launch launch;
} Filling;

static Filling filling_new(const Plan *plan, const Op *op, const char *template_name, const char *kernel) {
    Arena *arena = plan->program->arena;
    Filling f = {.arena = arena, .launch = {.kind = LAUNCH_KERNEL}};
    f.kernel = (Kernel){.template_name = template_name, .template_kernel = kernel, .real = plan->program->real,
                        .holes = arena_array(arena, MAX_HOLES, sizeof(Hole)), .ops = op_table[op->kind].name,
                        .pos = op->pos};
    return f;
}

static void set_text(Filling *f, const char *hole, const char *value) {
    ENSURE(f->kernel.hole_count < MAX_HOLES, "template %s: too many holes", f->kernel.template_name);
    f->kernel.holes[f->kernel.hole_count++] = (Hole){hole, value};
}

static void set_int(Filling *f, const char *hole, int64_t value) {
    set_text(f, hole, arena_printf(f->arena, "%lld", (long long)value));
}

static void set_real(Filling *f, const char *hole, double value) {
    StrBuf out = {0};
    sb_put_real(&out, value);
    set_text(f, hole, arena_strdup(f->arena, out.text));
    sb_free(&out);
}

static void pass(Filling *f, const char *name, const Value *v, bool read, bool written) {
    int i = f->kernel.param_count++;
    f->kernel.param[i] = (KernelParam){.name = name, .dtype = v->dtype, .read = read, .written = written, .value = v};
    f->launch.arg[i] = v;
    f->launch.read[i] = read;
    f->launch.written[i] = written;
    f->launch.arg_count = i + 1;
}

static void reads(Filling *f, const char *name, const Value *v) { pass(f, name, v, true, false); }
static void writes(Filling *f, const char *name, const Value *v) { pass(f, name, v, false, true); }

static void set_grid(Filling *f, int64_t x, int64_t y, int64_t z) {
    f->launch.grid[0] = x;
    f->launch.grid[1] = y;
    f->launch.grid[2] = z;
}

static void sign_filling(Filling *f) {
    StrBuf out = {0};
    sb_printf(&out, "%s %s %lld:", f->kernel.template_name, f->kernel.template_kernel,
              (long long)f->kernel.shared_bytes);
    for (int i = 0; i < f->kernel.hole_count; i++)
        sb_printf(&out, " %s=%s", f->kernel.holes[i].hole, f->kernel.holes[i].value);
    f->kernel.signature = arena_strdup(f->arena, out.text);
    sb_free(&out);
}

static void finish(Plan *plan, Entry entry, Filling *f, const Op *op) {
    set_int(f, "threads", f->kernel.threads);
    sign_filling(f);
    launch_carries(&f->launch, &op, 1);
    f->launch.index = plan_kernel(plan, f->kernel);
    plan_add_launch(plan, entry, f->launch);
}

/* ---- attention ------------------------------------------------------------------------------- */

typedef struct {
    int64_t seq, batch, heads, kv_heads, head_dim, rows, keys, parts, width, pitch, swap, size;
} Tiles;

static Tiles fma_tiles(const Program *p, const Op *op) {
    const Attr *a = &op->attr;
    Tiles t = {.seq = a->seq_len, .batch = value_rows(op->in[0]) / a->seq_len, .heads = a->heads,
               .kv_heads = a->kv_heads, .head_dim = a->head_dim, .size = dtype_bytes(p->real)};
    int64_t bytes = t.head_dim * t.size;
    t.rows = bytes <= 256 ? 64 : bytes <= 1024 ? 32 : 16;
    t.keys = bytes <= 512 ? 128 / t.size : bytes <= 1024 ? 16 : 8;
    t.parts = ceil_div(bytes, 256);
    t.width = t.parts * round_up(ceil_div(t.head_dim, t.parts), 8);
    t.pitch = t.keys + 16 / t.size;
    t.swap = t.parts > 1 ? t.parts * t.keys * t.rows : 0;
    return t;
}

static void set_stride(Filling *f, const char *hole, const Value *v) { set_int(f, hole, v->row_stride); }

/* What the three kernels of attention have in common. */
static Filling attention_filling(const Plan *plan, const Op *op, const Tiles *t, const char *kernel) {
    Filling f = filling_new(plan, op, "attention_fma.cu", kernel);
    f.kernel.name = arena_printf(f.arena, "attention_%s_%lldx%lldx%lld", kernel, (long long)t->seq,
                                 (long long)t->heads, (long long)t->head_dim);
    f.kernel.threads = (int)(t->rows * t->parts);
    set_text(&f, "dtype", dtype_c_name(op->in[0]->dtype));
    set_text(&f, "acc", dtype_c_name(plan->program->real));
    set_int(&f, "seq", t->seq);
    set_int(&f, "head_dim", t->head_dim);
    set_int(&f, "heads", t->heads);
    set_int(&f, "kv_heads", t->kv_heads);
    set_int(&f, "rows", t->rows);
    set_int(&f, "keys", t->keys);
    set_real(&f, "scale", 1.0 / sqrt((double)t->head_dim));
    set_stride(&f, "q_stride", op->in[0]);
    set_stride(&f, "k_stride", op->in[1]);
    set_stride(&f, "v_stride", op->in[2]);
    return f;
}

static void plan_attention(Plan *plan, Entry entry, const Op *op) {
    static const char *const names[] = {"q", "k", "v", "positions"};
    Tiles t = fma_tiles(plan->program, op);
    Filling f = attention_filling(plan, op, &t, "forward");
    f.kernel.shared_bytes = t.size * (t.width * (t.rows + t.pitch + t.keys) + t.swap);
    set_stride(&f, "o_stride", op->out[0]);
    for (int i = 0; i < 4; i++) reads(&f, names[i], op->in[i]);
    writes(&f, "o", op->out[0]);
    writes(&f, "lse", op->out[1]);
    set_grid(&f, ceil_div(t.seq, t.rows), t.heads, t.batch);
    finish(plan, entry, &f, op);
}

static void plan_attention_backward_q(Plan *plan, Entry entry, const Op *op, const Tiles *t) {
    static const char *const names[] = {"q", "k", "v", "positions", "o", "lse", "d_o"};
    Filling f = attention_filling(plan, op, t, "backward_q");
    f.kernel.shared_bytes = t->size * (t->width * (2 * t->rows + 2 * t->pitch + t->keys) + 2 * t->swap);
    set_stride(&f, "o_stride", op->in[4]);
    set_stride(&f, "do_stride", op->in[6]);
    set_stride(&f, "dq_stride", op->out[0]);
    for (int i = 0; i < 7; i++) reads(&f, names[i], op->in[i]);
    writes(&f, "delta", op->out[3]);
    writes(&f, "dq", op->out[0]);
    set_grid(&f, ceil_div(t->seq, t->rows), t->heads, t->batch);
    finish(plan, entry, &f, op);
}

static void plan_attention_backward_kv(Plan *plan, Entry entry, const Op *op, const Tiles *t) {
    static const char *const names[] = {"q", "k", "v", "positions"};
    Filling f = attention_filling(plan, op, t, "backward_kv");
    f.kernel.shared_bytes = t->size * (t->width * (2 * t->rows + 2 * t->pitch + 2 * t->keys) + 2 * t->swap);
    set_stride(&f, "do_stride", op->in[6]);
    set_stride(&f, "dk_stride", op->out[1]);
    set_stride(&f, "dv_stride", op->out[2]);
    for (int i = 0; i < 4; i++) reads(&f, names[i], op->in[i]);
    reads(&f, "lse", op->in[5]);
    reads(&f, "delta", op->out[3]);
    reads(&f, "d_o", op->in[6]);
    writes(&f, "dk", op->out[1]);
    writes(&f, "dv", op->out[2]);
    set_grid(&f, ceil_div(t->seq, t->rows), t->kv_heads, t->batch);
    finish(plan, entry, &f, op);
}

/* ---- embedding ------------------------------------------------------------------------------- */

/* ids, dy, dw -> dw */
static void plan_embedding_grad(Plan *plan, Entry entry, const Op *op) {
    const Value *ids = op->in[0], *dy = op->in[1], *dw = op->out[0];
    int64_t tokens = value_rows(ids), hidden = value_cols(dw);
    Filling f = filling_new(plan, op, "embedding_grad.cu", "embedding_grad");
    ENSURE(value_dense(dw), "%s: gradient of an embedding table with a stride", op->name);
    f.kernel.name = arena_printf(f.arena, "embedding_grad_%lldx%lld", (long long)tokens, (long long)hidden);
    f.kernel.threads = 128;
    int64_t per_thread = ceil_div(hidden, 128), columns = per_thread < 4 ? per_thread : 4;
    set_text(&f, "dtype", dtype_c_name(dy->dtype));
    set_text(&f, "grad_dtype", dtype_c_name(dw->dtype));
    set_text(&f, "acc", dtype_c_name(plan->program->real));
    set_int(&f, "tokens", tokens);
    set_int(&f, "hidden", hidden);
    set_stride(&f, "dy_stride", dy);
    set_int(&f, "columns", columns);
    set_text(&f, "accumulate", "true");
    reads(&f, "dy", dy);
    reads(&f, "ids", ids);
    pass(&f, "dw", dw, true, true);
    set_grid(&f, tokens, ceil_div(hidden, 128 * columns), 1);
    finish(plan, entry, &f, op);
}

void plan_template(Plan *plan, Entry entry, const Op *op) {
    if (op->kind == OP_attention) {
        plan_attention(plan, entry, op);
    } else if (op->kind == OP_attention_grad) {
        Tiles t = fma_tiles(plan->program, op);
        plan_attention_backward_q(plan, entry, op, &t);
        plan_attention_backward_kv(plan, entry, op, &t);
    } else {
        ENSURE(op->kind == OP_embedding_grad, "no kernel for op %s (%s)", op->name, op_table[op->kind].name);
        plan_embedding_grad(plan, entry, op);
    }
}
