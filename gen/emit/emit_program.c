/* program.c: the tables of kernels and matrix products, the functions of a step, and the
 * settings. */
#include "base/dotted.h"
#include "base/version.h"
#include "emit/emit.h"
#include "emit/emit_entry.h"
#include "emit/emit_ranks.h"
#include "emit/emit_settings.h"
#include "emit/names.h"
#include "plan/work.h"

#include <string.h>

typedef struct {
    const Places *places;
    const Plan *plan;
    const Spec *spec;
    StrBuf *out;
} Emit;

/* ---- head ------------------------------------------------------------------------------------ */

static const char *file_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* " RT_REPLICATE 2, RT_SHARD 2" */
static void put_groups(const Emit *e) {
    const Mesh *mesh = &e->plan->program->mesh;
    Arena scratch = {0};
    for (int axis = 0, count = 0; axis < AXIS_COUNT; axis++)
        if (mesh_has(mesh, 1u << axis))
            sb_printf(e->out, "%s %s %lld", count++ ? "," : "",
                      group_text(&scratch, mesh, 1u << axis), (long long)mesh->size[axis]);
    arena_free(&scratch);
}

static void put_layout(const Emit *e) {
    const Program *program = e->plan->program;
    long long ranks = mesh_ranks(&program->mesh, GROUP_WORLD);
    long long batches = mesh_ranks(&program->mesh, GROUP_DATA);
    if (program->cards > 1)
        sb_printf(
            e->out,
            "\n/* One process drives %lld cards. Before each micro_step all but the first run "
            "replicate, after it\n * the first runs collect. update and all other functions run "
            "on the first card only. */\n",
            (long long)program->cards);
    if (!mesh_has(&program->mesh, GROUP_WORLD))
        return;
    if (program->stage.count > 1 || ranks == 1)
        sb_puts(e->out, "\n/* Ranks per group:");
    else if (batches < ranks)
        sb_printf(
            e->out,
            "\n/* One program for %lld processes, one per device; groups of %lld share one model.\n"
            " * Ranks per group:",
            ranks, ranks / batches);
    else
        sb_printf(
            e->out,
            "\n/* One program for %lld processes, one per device, each with its own batches.\n"
            " * Ranks per group:",
            ranks);
    put_groups(e);
    sb_puts(e->out, ". */\n");
}

/* As a shell reads it: '\'' is a quote in quotes. A pattern of file names may hold the marks of a
 * comment; a space takes them apart. */
static void put_set(StrBuf *out, const char *text) {
    sb_puts(out, "\n *     --set '");
    for (const char *p = text; *p; p++) {
        bool mark = (p[0] == '*' && p[1] == '/') || (p[0] == '/' && p[1] == '*');
        if (*p == '\'')
            sb_puts(out, "'\\''");
        else
            sb_printf(out, mark ? "%c " : "%c", *p);
    }
    sb_puts(out, "'");
}

/* A line for each entry. All but a few names are at most as long as the column. */
static void put_entries(const Emit *e) {
    enum { COLUMN = 10 };
    sb_puts(e->out, " *\n * Its entries, in the order of their functions below:\n");
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (e->plan->entry[i].launch_count > 0)
            sb_printf(e->out, " *   %-*s  %s\n", COLUMN, e->plan->entry[i].name,
                      entry_purpose(e->plan, (Entry)i));
}

static bool has_loops(const Emit *e) {
    for (int i = 0; i < ENTRY_COUNT; i++)
        for (int b = 0; b < e->places->blocks[i].count; b++)
            if (e->places->blocks[i].blocks[b].pointers.run.times > 1)
                return true;
    return false;
}

/* Writes what a step runs. */
static void put_step(const Emit *e) {
    const Program *program = e->plan->program;
    long long times = (long long)program->micro_steps, tokens = (long long)program->tokens;
    const char *unit = program->unit.plural;
    if (program->stage.count > 1)
        sb_printf(e->out,
                  " * Stage %lld of %lld. A step runs forward and backward for %lld micro-batch%s of "
                  "%lld %s, in the\n * order of `schedule`, and then update.\n",
                  (long long)program->stage.index, (long long)program->stage.count, times,
                  times == 1 ? "" : "es", tokens, unit);
    else if (times == 1)
        sb_printf(e->out, " * A step runs micro_step, on %lld %s, and then update.\n", tokens, unit);
    else
        sb_printf(e->out, " * A step runs micro_step %lld times, each on %lld %s, and then update.\n",
                  times, tokens, unit);
}

/* Writes how to read what follows. */
static void put_conventions(const Emit *e) {
    sb_puts(e->out,
            " *\n"
            " * The comment before a launch has the name of its first op, the kinds of its ops, and "
            "-> its\n"
            " * results. The comment at a pointer gives dtype and shape; matrices are row-major. Bytes "
            "count\n"
            " * each operand and result once per launch, or what its threads request (plan.txt's "
            "issued bytes)\n"
            " * where that is less; plan.txt's DRAM bytes are at most these.\n");
    if (has_loops(e))
        sb_puts(e->out,
                " * In a function that a loop calls, * in a name stands for the number, such as the "
                "layer,\n"
                " * and {layer-1} for the one before.\n"
                " * LAYERS_X(i) is the buffer LAYERS_i_X, for the range of i in buffers.h. Where "
                "backward has\n"
                " * X elsewhere, that is LAYERS_X_BACKWARD(i), and a single buffer X_BACKWARD. Any "
                "other\n"
                " * second one of a name is X__2. A buffer without (i) is the same one in each "
                "call.\n");
    for (const char *line = e->plan->program->naming; line && *line; line = strchr(line, '\n') + 1)
        sb_printf(e->out, " * %.*s\n", (int)strcspn(line, "\n"), line);
    sb_puts(e->out, " * buffers.h has all offsets, kernels.cu the kernels, values.c the tensors by "
                    "name. */\n");
}

static void put_head(const Emit *e) {
    sb_printf(e->out, "/* %s: one training program, all shapes and addresses fixed.\n *\n",
              e->spec->name);
    sb_printf(e->out, " * Generated by gpuopt-gen %s from %s", GENERATOR_VERSION,
              file_part(e->spec->path));
    for (int i = 0; i < e->spec->nsets; i++)
        put_set(e->out, e->spec->sets[i]);
    sb_printf(e->out, "\n * Experiment %s\n *\n", e->spec->sha256);
    put_step(e);
    put_entries(e);
    put_conventions(e);
    put_layout(e);
    sb_puts(e->out, "#include \"buffers.h\"\n#include \"runtime/runtime.h\"\n\n");
}

/* ---- kernels and matrix products ------------------------------------------------------------- */

static void put_kernels(const Emit *e) {
    const Plan *plan = e->plan;
    Arena arena = {0};
    if (plan->kernel_count == 0)
        return;
    sb_puts(e->out,
            "/* ---- kernels: name, threads per block, dynamic shared memory ---- */\n\nenum {\n");
    for (int i = 0; i < plan->kernel_count; i++)
        sb_printf(e->out, "    K_%s,\n", plan->kernels[i].name);
    sb_puts(e->out,
            "};\n\n"
            "#define KERNEL(name, threads, shared) [K_##name] = {#name, threads, shared}\n\n"
            "static const RtKernel kernels[] = {\n");
    for (int i = 0; i < plan->kernel_count; i++) {
        const Kernel *k = &plan->kernels[i];
        const char *items[] = {k->name, arena_printf(&arena, "%d", k->threads),
                               arena_printf(&arena, "%lld", (long long)k->shared_bytes)};
        put_list(e->out, "    KERNEL(", items, 3, 8, "),\n");
    }
    arena_free(&arena);
    sb_puts(e->out, "};\n\n");
}

static const char *compute_text(const Gemm *gemm) {
    static const char *const names[] = {[COMPUTE_F32] = "RT_COMPUTE_F32",
                                        [COMPUTE_TF32] = "RT_COMPUTE_TF32",
                                        [COMPUTE_F64] = "RT_COMPUTE_F64"};
    return names[gemm->compute];
}

/* Writes what the product computes: the op of its first launch, with a star for a number that
 * differs in other launches, and whether other ops use it too. */
static void put_users(const Emit *e, const char *first, int index) {
    Arena arena = {0};
    const char *pattern = without_numbers(&arena, first), *another = first;
    bool others = false;
    for (int entry = 0; entry < ENTRY_COUNT; entry++)
        for (int i = 0; i < e->plan->entry[entry].launch_count; i++) {
            const Launch *launch = &e->plan->entry[entry].launches[i];
            if (launch->kind != LAUNCH_GEMM || launch->index != index)
                continue;
            const char *name = launch->ops[0]->name;
            if (strcmp(pattern, without_numbers(&arena, name)) != 0)
                others = true;
            else if (strcmp(name, first) != 0)
                another = name;
        }
    sb_printf(e->out, "    /* %s%s\n", starred_name(&arena, another, first),
              others ? ", and others" : "");
    arena_free(&arena);
}

static void put_gemm(const Emit *e, int index) {
    const Gemm *g = &e->plan->gemms[index];
    const Launch *launch = plan_first_launch(e->plan, LAUNCH_GEMM, index);
    Cost work = launch_work(e->plan, launch);
    put_users(e, launch->ops[0]->name, index);
    Arena *arena = e->plan->program->arena;
    sb_printf(e->out, "     * %s, %s per launch */\n", size_text(arena, work.issued_bytes),
              flops_text(arena, work.flops));
    sb_printf(e->out, "    GEMM(%s,\n", g->name);
    sb_printf(e->out, "        .m = %lld, .n = %lld, .k = %lld,\n", (long long)g->m,
              (long long)g->n, (long long)g->k);
    sb_puts(e->out, "        ");
    if (g->transpose_a)
        sb_puts(e->out, ".transpose_a = true, ");
    if (g->transpose_b)
        sb_puts(e->out, ".transpose_b = true, ");
    sb_printf(e->out, ".lda = %lld, .ldb = %lld, .ldc = %lld,\n", (long long)g->lda,
              (long long)g->ldb, (long long)g->ldc);
    if (g->batch_count > 1)
        sb_printf(e->out,
                  "        .batch_count = %lld, .stride_a = %lld, .stride_b = %lld, "
                  ".stride_c = %lld,\n",
                  (long long)g->batch_count, (long long)g->stride_a, (long long)g->stride_b,
                  (long long)g->stride_c);
    sb_printf(e->out, "        .a = %s, .b = %s, .c = %s, .compute = %s,\n        .alpha = ",
              rt_dtype(g->a), rt_dtype(g->b), rt_dtype(g->c), compute_text(g));
    sb_put_real(e->out, g->alpha);
    sb_puts(e->out, ", .beta = ");
    sb_put_real(e->out, g->beta);
    sb_puts(e->out, g->bias ? ", .bias = true),\n" : "),\n");
}

static void put_gemms(const Emit *e) {
    const Plan *plan = e->plan;
    if (plan->gemm_count == 0)
        return;
    sb_puts(e->out, "/* ---- matrix products by cuBLASLt: "
                    "C[m,n] = alpha op(A) op(B) + beta C [+ bias] ---- */\n\nenum {\n");
    for (int i = 0; i < plan->gemm_count; i++)
        sb_printf(e->out, "    G_%s,\n", plan->gemms[i].name);
    sb_puts(e->out, "};\n\n"
                    "#define GEMM(id, ...) [G_##id] = {.name = #id, __VA_ARGS__}\n\n"
                    "static const RtGemm gemms[] = {\n");
    for (int i = 0; i < plan->gemm_count; i++)
        put_gemm(e, i);
    sb_puts(e->out, "};\n\n");
}

static bool goes_down(const Strides *strides) {
    for (int i = 0; i < strides->count; i++)
        if (strides->strides[i].elements < 0)
            return true;
    return false;
}

static void put_strides(const Strides *strides, StrBuf *out) {
    if (strides->count == 0)
        return;
    sb_puts(out,
            "/* ---- strides of launches joined into one, in elements, from each to the next ---- "
            "*/\n\n");
    if (goes_down(strides))
        sb_puts(out, "/* What trains lies in the order in which backward reaches it: the last layer "
                     "first. */\n");
    for (int i = 0; i < strides->count; i++)
        sb_printf(out, "#define %s (%lld)\n", strides->strides[i].name,
                  (long long)strides->strides[i].elements);
    sb_puts(out, "\n");
}

void emit_program(const Places *places, StrBuf *out) {
    const Plan *plan = places->plan;
    Arena arena = {0};
    const Strides strides = strides_of(&arena, plan);
    Emit e = {places, plan, plan->spec, out};
    put_head(&e);
    put_kernels(&e);
    put_gemms(&e);
    put_strides(&strides, out);
    sb_puts(out, "/* ---- entry points, each after the functions that it calls ---- */\n\n");
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (plan->entry[i].launch_count > 0)
            emit_entry(places, &strides, (Entry)i, out);
    emit_settings(places, out);
    sb_puts(out, "int main(int argc, char **argv) { return rt_main(&program, argc, argv); }\n");
    arena_free(&arena);
}
