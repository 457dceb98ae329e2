/* Fills templates. */
#include "plan/template_kernels.h"

#include "plan/skeleton.h"
#include "plan/work.h"

enum { MAX_HOLES = 28 };

Filling filling_new(const Plan *plan, const Op *op, const char *template_name, const char *kernel) {
    Arena *arena = plan->program->arena;
    Filling f = {.arena = arena, .launch = {.kind = LAUNCH_KERNEL}};
    f.kernel = (Kernel){.template_name = template_name,
                        .template_kernel = kernel,
                        .real = plan->program->real,
                        .holes = arena_array(arena, MAX_HOLES, sizeof(Hole)),
                        .ops = op_titles(arena, &op, 1),
                        .pos = op->pos};
    return f;
}

void fill_text(Filling *f, const char *hole, const char *value) {
    ENSURE(f->kernel.hole_count < MAX_HOLES, "template %s: too many holes",
           f->kernel.template_name);
    f->kernel.holes[f->kernel.hole_count++] = (Hole){hole, value};
}

void fill_bool(Filling *f, const char *hole, bool value) {
    fill_text(f, hole, value ? "true" : "false");
}

void fill_int(Filling *f, const char *hole, int64_t value) {
    fill_text(f, hole, arena_printf(f->arena, "%lld", (long long)value));
}

void fill_real(Filling *f, const char *hole, double value, const char *suffix) {
    StrBuf out = {0};
    sb_put_real(&out, value);
    sb_puts(&out, suffix);
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
void fill_result(Filling *f, const char *name, const Value *v, bool accumulate) {
    fill_bool(f, "accumulate", accumulate);
    pass(f, name, v, accumulate, true);
}

void fill_stride(Filling *f, const char *hole, const Value *v) { fill_int(f, hole, v->row_stride); }

void fill_grid(Filling *f, int64_t x, int64_t y, int64_t z) {
    f->launch.grid[0] = x;
    f->launch.grid[1] = y;
    f->launch.grid[2] = z;
}

void fill_cost(Filling *f, double issued_bytes, double flops) {
    f->launch.cost.issued_bytes = issued_bytes;
    f->launch.cost.flops = flops;
}

void fill_tiles(Filling *f, double elements, double covered) {
    f->launch.tile_share = elements / covered;
}

static void sign_filling(Filling *f) {
    StrBuf out = {0};
    sb_printf(&out, "%s %s %lld:", f->kernel.template_name, f->kernel.template_kernel,
              (long long)f->kernel.shared_bytes);
    for (int i = 0; i < f->kernel.hole_count; i++)
        sb_printf(&out, " %s=%s", f->kernel.holes[i].hole, f->kernel.holes[i].value);
    if (f->kernel.body)
        sb_printf(&out, " %s", body_signature(f->arena, &f->kernel));
    f->kernel.signature = arena_strdup(f->arena, out.text);
    sb_free(&out);
}

static void finish(Plan *plan, Entry entry, Filling *f, const Op *const *ops, int op_count) {
    ENSURE(f->launch.cost.issued_bytes > 0, "%s: its kernel %s has no cost", ops[0]->name,
           f->kernel.name);
    fill_int(f, "threads", f->kernel.threads);
    sign_filling(f);
    f->launch.index = plan_kernel(plan, f->kernel);
    plan_add_launch(plan, entry, f->launch, ops, op_count);
}

void fill_finish(Plan *plan, Entry entry, Filling *f, const Op *op) {
    finish(plan, entry, f, &op, 1);
}

static void add_body(Filling *f) {
    kernel_operands(f->arena, &f->kernel, &f->launch);
    fill_int(f, "vector", f->kernel.vector);
    fill_text(f, "index", kernel_needs_long(&f->kernel) ? "int64_t" : "int");
    Cost body = body_cost(f->arena, &f->kernel, &f->launch);
    f->launch.cost.issued_bytes += body.issued_bytes;
    f->launch.cost.flops += body.flops;
}

void fill_finish_epilogue(Plan *plan, Entry entry, Filling *f, const Group *group) {
    add_body(f);
    finish(plan, entry, f, group->ops, group->count);
}

void fill_finish_prologue(Plan *plan, Entry entry, Filling *f, const Group *group) {
    OpTitles makers = op_titles(f->arena, group->ops, group->count - group->hosts);
    Kernel *k = &f->kernel;
    k->ops = op_titles(f->arena, group->ops, group->count);
    k->name = arena_printf(f->arena, "%s_%s", titles_identifier(f->arena, makers), k->name);
    k->body = group->body;
    k->prologue = true;
    skeleton_prologue(k);
    add_body(f);
    finish(plan, entry, f, group->ops, group->count);
}
