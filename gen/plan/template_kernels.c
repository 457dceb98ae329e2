/* Ops that a template serves: which of its kernels, the values of its holes, the geometry that its
 * head comment asks for. Attention has its own file. */
#include <stdlib.h>
#include <string.h>

#include "graph/op_table.h"
#include "plan/template_kernels.h"

enum { MAX_HOLES = 24 };

const char *dtype_c_name(DType dtype) {
    static const char *const names[DT_COUNT] = {
        [DT_F64] = "double",  [DT_F32] = "float", [DT_F16] = "__half", [DT_BF16] = "__nv_bfloat16",
        [DT_I64] = "int64_t", [DT_I32] = "int",   [DT_U8] = "uint8_t",
    };
    return names[dtype];
}

Filling filling_new(const Plan *plan, const Op *op, const char *template_name, const char *kernel) {
    Arena *arena = plan->program->arena;
    Filling f = {.arena = arena, .launch = {.kind = LAUNCH_KERNEL}};
    f.kernel = (Kernel){.template_name = template_name,
                        .template_kernel = kernel,
                        .real = plan->program->real,
                        .holes = arena_array(arena, MAX_HOLES, sizeof(Hole)),
                        .ops = op_table[op->kind].name,
                        .pos = op->pos};
    return f;
}

void fill_text(Filling *f, const char *hole, const char *value) {
    ENSURE(f->kernel.hole_count < MAX_HOLES, "template %s: too many holes",
           f->kernel.template_name);
    f->kernel.holes[f->kernel.hole_count++] = (Hole){hole, value};
}

void fill_int(Filling *f, const char *hole, int64_t value) {
    fill_text(f, hole, arena_printf(f->arena, "%lld", (long long)value));
}

void fill_real(Filling *f, const char *hole, double value) {
    StrBuf out = {0};
    sb_put_real(&out, value);
    fill_text(f, hole, arena_strdup(f->arena, out.text));
    sb_free(&out);
}

static void pass(Filling *f, const char *name, const Value *v, bool read, bool written) {
    int i = f->kernel.param_count++;
    f->kernel.param[i] = (KernelParam){
        .name = name, .dtype = v->dtype, .read = read, .written = written, .value = v};
    f->launch.arg[i] = v;
    f->launch.read[i] = read;
    f->launch.written[i] = written;
    f->launch.arg_count = i + 1;
}

void fill_reads(Filling *f, const char *name, const Value *v) { pass(f, name, v, true, false); }
void fill_writes(Filling *f, const char *name, const Value *v) { pass(f, name, v, false, true); }
void fill_updates(Filling *f, const char *name, const Value *v) { pass(f, name, v, true, true); }

void fill_stride(Filling *f, const char *hole, const Value *v) { fill_int(f, hole, v->row_stride); }

void fill_grid(Filling *f, int64_t x, int64_t y, int64_t z) {
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

void fill_finish(Plan *plan, Entry entry, Filling *f, const Op *op) {
    fill_int(f, "threads", f->kernel.threads);
    sign_filling(f);
    launch_carries(f->arena, &f->launch, &op, 1);
    f->launch.index = plan_kernel(plan, f->kernel);
    plan_add_launch(plan, entry, f->launch);
}

int64_t template_int(const Kernel *k, const char *hole) {
    for (int i = 0; i < k->hole_count; i++)
        if (!strcmp(k->holes[i].hole, hole))
            return strtoll(k->holes[i].value, NULL, 10);
    internal_fault(__FILE__, __LINE__, "kernel %s has no %s", k->name, hole);
}

/* ---- embedding ------------------------------------------------------------------------------- */

/* ids, dy, dw -> dw */
static void plan_embedding_grad(Plan *plan, Entry entry, const Op *op) {
    const Value *ids = op->in[0], *dy = op->in[1], *dw = op->out[0];
    int64_t tokens = value_rows(ids), hidden = value_cols(dw);
    Filling f = filling_new(plan, op, "embedding_grad.cu", "embedding_grad");
    ENSURE(value_dense(dw), "%s: gradient of an embedding table with a stride", op->name);
    f.kernel.name =
        arena_printf(f.arena, "embedding_grad_%lldx%lld", (long long)tokens, (long long)hidden);
    f.kernel.threads = 128;
    int64_t per_thread = ceil_div(hidden, 128), columns = per_thread < 4 ? per_thread : 4;
    fill_text(&f, "dtype", dtype_c_name(dy->dtype));
    fill_text(&f, "grad_dtype", dtype_c_name(dw->dtype));
    fill_text(&f, "acc", dtype_c_name(plan->program->real));
    fill_int(&f, "tokens", tokens);
    fill_int(&f, "hidden", hidden);
    fill_stride(&f, "dy_stride", dy);
    fill_int(&f, "columns", columns);
    fill_text(&f, "accumulate", "true");
    fill_reads(&f, "dy", dy);
    fill_reads(&f, "ids", ids);
    fill_updates(&f, "dw", dw);
    fill_grid(&f, tokens, ceil_div(hidden, 128 * columns), 1);
    fill_finish(plan, entry, &f, op);
}

void plan_template(Plan *plan, Entry entry, const Op *op) {
    static void (*const rule[OP_COUNT])(Plan *, Entry, const Op *) = {
        [OP_attention] = plan_attention,
        [OP_attention_grad] = plan_attention_grad,
        [OP_conv2d] = plan_conv2d,
        [OP_conv2d_input_grad] = plan_conv2d_input_grad,
        [OP_conv2d_weight_grad] = plan_conv2d_weight_grad,
        [OP_embedding_grad] = plan_embedding_grad,
    };
    ENSURE(rule[op->kind], "no kernel for op %s (%s)", op->name, op_table[op->kind].name);
    rule[op->kind](plan, entry, op);
}
