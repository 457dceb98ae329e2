/* kernels.cu: every kernel of the plan, printed from its body or filled into its template. */
#include <string.h>

#include "emit/emit.h"
#include "emit/fill_template.h"
#include "emit/names.h"
#include "emit/shared_bodies.h"
#include "plan/kernel_names.h"
#include "plan/work.h"

static void print_file_head(const Plan *plan, StrBuf *out) {
    sb_printf(out, "/* The %d kernels of %s.\n", plan->kernel_count, plan->spec->name);
    sb_puts(
        out,
        " *\n"
        " * All extents and strides are constants; matrices are row-major. A kernel's name has\n"
        " * the first three kinds of its ops, and their shape. The comment before it has all\n"
        " * kinds and their shape; the spec key that the first op comes from, unless that has\n"
        " * its default value or half of the kernels come from it; and of the first launch,\n"
        " * DRAM bytes, issued bytes, which its threads request and caches partly have, and\n"
        " * FLOPs, as in plan.txt. Parameters are named after the values of the kernel's first\n"
        " * launch, which in a loop of program.c is that of the first round; program.c may have\n"
        " * shorter names for them. A kernel that is filled into a template has the template's\n"
        " * names, and its shape in its own name. NAME_v is what was loaded from NAME, NAME_value\n"
        " * a single number, NAME_row one of a row, NAME_j one of an element, NAME_rounded one\n"
        " * that was rounded as for memory.\n"
        " * If several kernels would have the same name, all but the first have a suffix that\n"
        " * says what differs (_v2: constants, or the formula, of the same kinds and operands).\n"
        " *\n"
        " * Kernels that differ only in constants share a function, NAME_body or part of a\n"
        " * template, and list those that are whole numbers in Sizes. In NAME_body, arguments\n"
        " * are named after what their kernels' names have in common; if that is nothing, it\n"
        " * reads x and writes y. Without a template, ROWS and COLS are the shape that the\n"
        " * comment gives; in a template, tile.COLUMNS are the columns of its result. STRIDE is\n"
        " * the distance between a matrix's rows, if it is not COLS; NAME_STRIDE, that of NAME,\n"
        " * if a kernel has several or one element is for several columns: for PER_BYTE of a\n"
        " * mask, for a RUN of others. A block has WARPS rows, one per warp; or it\n"
        " * is a worker, which adds up ROWS_PER_WORKER rows, PARTS at a time, with LANES\n"
        " * threads each, or PARTS times ROWS_PER_TURN neighbours, whose windows share what they\n"
        " * read of a line, x_0_v. A thread has CHUNKS vectors of a row. PLACES and WIDTH are an\n"
        " * image's pixels and row length; FROM_HEIGHT and FROM_WIDTH belong to the image that a\n"
        " * window reads. A mean is over COUNT numbers. */\n"
        "#include \"runtime/kernel.cuh\"\n");
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Returns the key that the first op comes from; NULL if it has its default value. */
static const char *key_at(const Spec *spec, Pos pos) {
    for (int key = 0; key < KEY_COUNT; key++) {
        const Origin *origin = &spec->origin[key];
        if (origin->kind == ORIGIN_DEFAULT || !origin->pos.file || !pos.file || pos.line == 0)
            continue;
        if (origin->pos.line == pos.line && !strcmp(origin->pos.file, pos.file))
            return key_name((Key)key);
    }
    return NULL;
}

/* On a line of its own if the list of ops leaves no room. */
static void print_template(const Kernel *k, const char *ops, StrBuf *out) {
    enum { OTHERS = 20 }; /* "/" and "*", " (", " of template " and ")" */
    bool fits = strlen(ops) + strlen(k->template_kernel) + strlen(k->template_name) + OTHERS <= PAGE;
    sb_printf(out, "%s(%s of template %s)", fits ? " " : "\n * ", k->template_kernel,
              k->template_name);
}

static void print_ops(const Plan *plan, const Kernel *k, StrBuf *out) {
    const char *ops = titles_text(plan->program->arena, k->ops);
    sb_puts(out, ops);
    if (k->template_name)
        print_template(k, ops, out);
    else if (!k->rows)
        sb_printf(out, " over [rows, %lld]", (long long)k->body->cols);
    else if (k->rows * k->body->cols > 1)
        sb_printf(out, " over [%lld, %lld]", (long long)k->rows, (long long)k->body->cols);
    if (k->strided)
        sb_puts(out, ", one per slice (z) of the grid");
}

/* The launch's cost with another number of rows. */
static Cost cost_at(const Plan *plan, const Kernel *k, const Launch *launch, int64_t rows) {
    Launch one = *launch;
    if (kernel_takes_rows(k))
        one.scalar[0] = rows;
    else
        one.grid[0] = rows;
    return launch_work(plan, &one);
}

/* Where launches differ in the number of rows: what each row adds, and what remains, such as partial
 * sums. */
static void print_cost_of_rows(const Plan *plan, const Kernel *k, const Launch *launch,
                               StrBuf *out) {
    enum { MANY = 1 << 24 };
    Cost few = cost_at(plan, k, launch, MANY), many = cost_at(plan, k, launch, 2 * MANY);
    double bytes = (many.issued_bytes - few.issued_bytes) / MANY;
    double flops = (many.flops - few.flops) / MANY, rest = few.issued_bytes - MANY * bytes;
    sb_printf(out, "%.0f bytes issued, %.0f FLOP per row", bytes, flops);
    if (rest >= 1)
        sb_printf(out, ", %.0f bytes issued more per launch", rest);
}

static void print_cost(const Plan *plan, const Kernel *k, const Launch *launch, StrBuf *out) {
    Launch one = *launch;
    one.joined_count = 0;
    if (k->body && !k->rows) {
        print_cost_of_rows(plan, k, &one, out);
        return;
    }
    Cost work = launch_work(plan, &one);
    Arena *arena = plan->program->arena;
    sb_printf(out, "%s DRAM, %s issued",
              size_text(arena, launch->cost.dram_bytes / (1 + launch->joined_count)),
              size_text(arena, work.issued_bytes));
    if (work.flops > 0)
        sb_printf(out, ", %s", flops_text(arena, work.flops));
    sb_printf(out, " per %s", k->strided ? "slice" : "launch");
}

/* Returns the key to print for each kernel; NULL: none. A key of half of the kernels tells nothing. */
static const char **keys_of(const Plan *plan) {
    int n = plan->kernel_count;
    const char **key = arena_array(plan->program->arena, (size_t)n + 1, sizeof *key);
    const char **told = arena_array(plan->program->arena, (size_t)n + 1, sizeof *told);
    for (int i = 0; i < n; i++)
        key[i] = key_at(plan->spec, plan->kernels[i].pos);
    for (int i = 0; i < n; i++) {
        int sharers = 0;
        for (int k = 0; key[i] && k < n; k++)
            sharers += key[k] == key[i];
        told[i] = 2 * sharers < n ? key[i] : NULL;
    }
    return told;
}

static void print_kernel_head(const Plan *plan, int kernel, const char *key, StrBuf *out) {
    const Kernel *k = &plan->kernels[kernel];
    const Launch *launch = plan_first_launch(plan, LAUNCH_KERNEL, kernel);
    bool adds_partial = kernel_is_second_pass(k);
    sb_puts(out, adds_partial ? "\n/* second pass of " : "\n/* ");
    print_ops(plan, k, out);
    if (adds_partial)
        sb_printf(out, ": adds %lld partial sums per column", (long long)k->body->rows);
    sb_puts(out, "\n * ");
    if (key)
        sb_printf(out, "from %s; ", key);
    print_cost(plan, k, launch, out);
    sb_puts(out, " */\n");
}

/* Inserts the wait for the previous kernel after the parameters, before anything else happens. */
static void begin_behind_kernel_before(const char *kernel, StrBuf *out) {
    static const char params_end[] = ") {\n";
    const char *global = strstr(kernel, "__global__");
    const char *end = global ? strstr(global, params_end) : NULL;
    ENSURE(end, "no kernel begins in\n%s", kernel);
    end += strlen(params_end);
    sb_append(out, kernel, (size_t)(end - kernel));
    sb_printf(out, "    grid_dependency_synchronize();\n%s", end);
}

static void print_kernel(const Plan *plan, int kernel, const SharedBodies *shared, StrBuf *out) {
    const Kernel *k = &plan->kernels[kernel];
    if (!k->body)
        print_template_kernel(k, out);
    else
        print_body_kernel(plan, kernel, shared, out);
}

/* A const pointer that is __restrict__ promises that nobody writes there as long as the kernel runs,
 * and if those that are written are __restrict__, nvcc can conclude the same about the others. It may
 * then load by ld.global.nc, whose results the wait does not renew. But the kernel before writes
 * there until the wait, so no pointer is __restrict__, in kernels and in the functions that become
 * part of them. */
static void print_without_promises(const char *text, StrBuf *out) {
    static const char restricted[] = "__restrict__ ";
    const char *from = text;
    for (const char *found; (found = strstr(from, restricted)); from = found + strlen(restricted))
        sb_append(out, from, (size_t)(found - from));
    sb_puts(out, from);
}

static void print_kernels(const Plan *plan, StrBuf *out) {
    print_file_head(plan, out);
    print_template_preludes(plan, out);
    const SharedBodies *shared = shared_bodies(plan);
    const char **key = keys_of(plan);
    for (int i = 0; i < plan->kernel_count; i++) {
        StrBuf text = {0};
        print_shared_body(plan, i, shared, out);
        print_kernel_head(plan, i, key[i], out);
        print_kernel(plan, i, shared, &text);
        if (plan->spec->compile.programmatic_launch)
            begin_behind_kernel_before(text.text, out);
        else
            sb_puts(out, text.text);
        sb_free(&text);
    }
}

void emit_kernels(const Plan *plan, StrBuf *out) {
    StrBuf text = {0};
    if (!plan->spec->compile.programmatic_launch) {
        print_kernels(plan, out);
        return;
    }
    print_kernels(plan, &text);
    print_without_promises(text.text, out);
    sb_free(&text);
}
