/* Printing a body as a kernel: head, parameters, and the FLAT skeleton. */
#include <string.h>

#include "emit/names.h"
#include "emit/printer.h"
#include "plan/kernel_names.h"
#include "plan/skeleton.h"

/* ---- head ------------------------------------------------------------------------------------ */

static const char *param_text(const Printer *p, int i) {
    const KernelParam *param = &p->kernel->param[i];
    return arena_printf(p->arena, "%s%s *%s%s", param->written ? "" : "const ",
                        dtype_c_name(param->dtype), param->overlaps ? "" : "__restrict__ ",
                        param->name);
}

static const char *scalar_text(const Printer *p, int i) {
    const KernelScalar *scalar = &p->kernel->scalar[i];
    return arena_printf(p->arena, "%s %s", scalar->dtype == DT_I64 ? "int64_t" : "uint32_t",
                        scalar->name);
}

/* Prints the parameters after those of a template, as many per line as fit. */
static void print_params(Printer *p) {
    const Kernel *k = p->kernel;
    int first = k->template_params;
    size_t width = 4;
    for (int i = first; i < k->param_count + k->scalar_count; i++) {
        const char *text =
            i < k->param_count ? param_text(p, i) : scalar_text(p, i - k->param_count);
        bool fits = width + strlen(text) + 3 <= PAGE;
        width = (fits ? width : 4) + strlen(text) + 2;
        sb_printf(p->out, "%s%s", i == first ? "" : fits ? ", " : ",\n    ", text);
    }
}

static const char *launch_bounds(Printer *p) {
    int threads = p->kernel->threads, blocks = skeleton_blocks_together(p->kernel);
    return blocks > 0 ? arena_printf(p->arena, "%d, %d", threads, blocks)
                      : arena_printf(p->arena, "%d", threads);
}

static void print_head(Printer *p) {
    const Kernel *k = p->kernel;
    const char *head = arena_printf(p->arena, "extern \"C\" __global__ void __launch_bounds__(%s)",
                                    launch_bounds(p));
    bool fits = strlen(head) + 1 + strlen(k->name) + 1 <= PAGE;
    sb_printf(p->out, "%s%s%s(\n    ", head, fits ? " " : "\n", k->name);
    print_params(p);
    sb_puts(p->out, ") {\n");
}

/* ---- FLAT ------------------------------------------------------------------------------------ */

/* Declares the index of a thread's first element; from `total` on there are none, and threads end. */
static void print_flat_thread(Printer *p, const char *name, const char *end, int64_t total) {
    const Kernel *k = p->kernel;
    const char *block = p->is_long ? "static_cast<int64_t>(blockIdx.x)" : "blockIdx.x";
    const char *thread =
        arena_printf(p->arena, "%s * %s + threadIdx.x", block, extent(p, "THREADS", k->threads));
    if (total > 1 && total <= (int64_t)k->threads * k->vector && k->rows)
        thread = "threadIdx.x";
    if (k->vector == 1)
        put(p, "const %s %s = %s;", index_type(p), name, thread);
    else if (!strchr(thread, ' '))
        put(p, "const %s %s = %s * %d;", index_type(p), name, thread, k->vector);
    else
        put(p, "const %s %s = (%s) * %d;", index_type(p), name, thread, k->vector);
    if (!k->rows)
        put(p, "if (%s >= rows * COLS)\n        return;", name);
    else if (total % ((int64_t)k->threads * k->vector))
        put(p, "if (%s >= %s)\n        return;", name, extent(p, end, total));
}

static void print_flat_index(Printer *p, bool row, bool col) {
    print_flat_thread(p, "i", "ELEMENTS", p->body->rows * p->body->cols);
    if (row && col)
        put(p, "const %s row = i / COLS, col = i %% COLS;", index_type(p));
    else if (row)
        put(p, "const %s row = i / COLS;", index_type(p));
    else if (col)
        put(p, "const %s col = i %% COLS;", index_type(p));
}

static void print_flat_elements(Printer *p) {
    print_row_scope(p, 0);
    if (phase_visits_columns(&p->phases, 0))
        print_visit(p, 0);
}

/* Rows that are so far apart that neighbouring threads still have neighbouring elements. The loads of
 * all are under way together. */
static void print_shared_rows(Printer *p) {
    const Kernel *k = p->kernel;
    StrBuf *out = p->out, inner = {0};
    int64_t distance = p->body->rows / k->thread_rows * p->body->cols;
    print_flat_thread(p, "first", "DISTANCE", distance);
    put(p, "const %s col = first %% COLS;", index_type(p));
    print_before_rows(p);
    print_hoisted_loads(p, 0);
    put(p, "#pragma unroll");
    put(p, "for (int r = 0; r < %d; r++) {", k->thread_rows);
    p->depth++;
    put(p, "const %s i = first + r * %s;", index_type(p), extent(p, "DISTANCE", distance));
    p->out = &inner;
    print_flat_elements(p);
    p->out = out;
    if (text_mentions(inner.text, "row"))
        put(p, "const %s row = i / COLS;", index_type(p));
    sb_puts(out, inner.text);
    sb_free(&inner);
    p->depth--;
    put(p, "}");
}

/* The index is printed last but goes first, because it declares only the parts that are used. */
static void print_flat_kernel(Printer *p) {
    StrBuf *out = p->out, inner = {0};
    p->col = p->linear ? "i" : "col";
    if (p->kernel->thread_rows > 1) {
        print_shared_rows(p);
        return;
    }
    p->out = &inner;
    print_flat_elements(p);
    p->out = out;
    if (p->body->rows * p->body->cols > 1)
        print_flat_index(p, text_mentions(inner.text, "row"), text_mentions(inner.text, "col"));
    sb_puts(out, inner.text);
    sb_free(&inner);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* The distance between rows by which a kernel finds the step's elements; that of the body's own
 * rows if it needs none. */
static int64_t stride_of(const Body *body, const Step *s) {
    bool accesses = s->kind == STEP_LOAD || (s->kind == STEP_STORE && !s->unstored);
    bool needs_none = !accesses || value_rows(s->value) == 1 || s->value->row_stride == 1 ||
                      (s->col_map == COL_RESHAPED && value_dense(s->value));
    return needs_none ? body->cols : s->value->row_stride;
}

static bool has_several_strides(const Body *body) {
    int64_t found = body->cols;
    for (int i = 0; i < body->count; i++) {
        int64_t stride = stride_of(body, &body->steps[i]);
        if (found != body->cols && stride != body->cols && stride != found)
            return true;
        found = stride == body->cols ? found : stride;
    }
    return false;
}

static Printer printer_new(const Plan *plan, const Kernel *k) {
    Arena *arena = plan->program->arena;
    size_t steps = (size_t)k->body->count;
    Printer p = {.arena = arena,
                 .kernel = k,
                 .body = k->body,
                 .phases = phases_of(arena, k->body),
                 .depth = 1,
                 .name = arena_array(arena, steps, sizeof(char *)),
                 .slot = arena_array(arena, steps, sizeof(char *)),
                 .holder = arena_array(arena, steps, sizeof(int)),
                 .row = "row",
                 .col = "col",
                 .lane = "threadIdx.x",
                 .is_long = kernel_needs_long(k),
                 .chunks = 1,
                 .several_strides = has_several_strides(k->body)};
    for (size_t i = 0; i < steps; i++)
        p.holder[i] = -1;
    p.linear = k->skeleton == SKELETON_FLAT && body_is_linear(k->body);
    for (int i = 0; kernel_words[i]; i++)
        use(&p, kernel_words[i]);
    for (int i = 0; i < k->param_count; i++)
        use(&p, k->param[i].name);
    for (int i = 0; i < k->scalar_count; i++)
        use(&p, k->scalar[i].name);
    if (k->skeleton != SKELETON_EPILOGUE) {
        extent(&p, "ROWS", k->body->rows);
        extent(&p, "COLS", k->body->cols);
    }
    name_constants(&p);
    return p;
}

static const char *printed(Printer *p, void (*print)(Printer *)) {
    StrBuf out = {0};
    p->out = &out;
    sb_puts(&out, "");
    print(p);
    p->out = NULL;
    const char *text = arena_strdup(p->arena, out.text);
    sb_free(&out);
    return text;
}

static void print_statements(Printer *p) {
    const Kernel *k = p->kernel;
    for (int i = 0; k->strided && i < k->param_count; i++)
        put(p, "%s += blockIdx.z * %s;", k->param[i].name, k->scalar[i].name);
    if (p->kernel->skeleton == SKELETON_FLAT)
        print_flat_kernel(p);
    else if (p->kernel->skeleton == SKELETON_COLUMN)
        print_column_kernel(p);
    else
        print_row_kernel(p);
}

/* Gives the kernel's text the constants that `mentions` mentions. */
static void keep_mentioned(const Printer *p, const char *mentions, KernelText *text) {
    text->constant = arena_array(p->arena, (size_t)p->constant_count + 1, sizeof *text->constant);
    for (int i = 0; i < p->constant_count; i++)
        if (text_mentions(mentions, p->constant[i].name))
            text->constant[text->constant_count++] = p->constant[i];
}

KernelText kernel_text(const Plan *plan, const Kernel *k, bool any_blocks) {
    Printer p = printer_new(plan, k);
    p.any_blocks = any_blocks && k->skeleton == SKELETON_TILE;
    KernelText text = {.head = printed(&p, print_head),
                       .params = printed(&p, print_params),
                       .sizes = "",
                       .statements = printed(&p, print_statements)};
    keep_mentioned(&p, text.statements, &text);
    return text;
}

void put_constants(Arena *arena, const Constant *constant, int count, StrBuf *out) {
    static const char *const types[] = {"int", "int64_t", "float", "double"};
    const char *items[MAX_CONSTANTS];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int found = 0;
        for (int i = 0; i < count; i++)
            if (!strcmp(constant[i].type, types[t]))
                items[found++] = arena_printf(arena, "%s = %s", constant[i].name, constant[i].text);
        if (found)
            put_list(out, arena_printf(arena, "    constexpr %s ", types[t]), items, found, 8, ";\n");
    }
}

/* ---- epilogues ------------------------------------------------------------------------------- */

KernelText epilogue_text(const Plan *plan, const Kernel *k, Hole to[EPILOGUE_HOLES]) {
    Printer p = printer_new(plan, k);
    KernelText text = {.statements = ""};
    p.chunks = skeleton_chunks(k);
    p.depth = k->prologue ? 2 : 1;
    to[0] = (Hole){"operands", printed(&p, print_params)};
    to[1] = (Hole){"columns", printed(&p, print_epilogue_columns)};
    to[2] = (Hole){"row", printed(&p, print_epilogue_row)};
    keep_mentioned(&p, arena_printf(p.arena, "%s%s", to[1].value, to[2].value), &text);
    return text;
}
