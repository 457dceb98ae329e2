/* Finding a template's sections and filling its holes. */
#include "emit/fill_template.h"

#include <string.h>

#include "base/embed.h"
#include "emit/printer.h"

typedef struct {
    const char *text;
    size_t length;
} Span;

static Span template_text(const char *name) {
    const Embedded *file = embedded_template(name);
    return (Span){file->text, file->size};
}

static const char *find(Span in, const char *what) {
    return memmem(in.text, in.length, what, strlen(what));
}

static bool equal(Span a, const char *b) {
    return strlen(b) == a.length && !memcmp(a.text, b, a.length);
}

static Span after(Span s, const char *at) { return (Span){at, s.length - (size_t)(at - s.text)}; }

/* Finds the lines between a line equal to `marker` and the next //@end; *rest is what follows. */
static bool section(Span in, const char *marker, Span *body, Span *rest) {
    const char *start = find(in, marker);
    if (!start)
        return false;
    Span tail = after(in, start + strlen(marker));
    const char *end = find(tail, "//@end\n");
    ENSURE(end, "a template's section %s has no end", marker);
    *body = (Span){tail.text, (size_t)(end - tail.text)};
    *rest = after(tail, end + strlen("//@end\n"));
    return true;
}

static const char closing[] = "/*@*/"; /* of a hole */

/* ---- preludes -------------------------------------------------------------------------------- */

/* Returns what the plan fills a hole with, or NULL. */
static const Hole *find_hole(const Kernel *k, Span name) {
    for (int i = 0; i < k->hole_count; i++)
        if (equal(name, k->holes[i].hole))
            return &k->holes[i];
    return NULL;
}

/* Whether a kernel of a template needs the optional section of a file that a word stands for. */
typedef bool Needs(const Kernel *, const char *file, Span word);

/* `word` is HOLE=VALUE. */
static bool fills(const Kernel *k, const char *file, Span word) {
    (void)file;
    const char *equals = memchr(word.text, '=', word.length);
    ENSURE(equals, "a prelude's condition %.*s is not HOLE=VALUE", (int)word.length, word.text);
    const Hole *filled = find_hole(k, (Span){word.text, (size_t)(equals - word.text)});
    return filled && equal(after(word, equals + 1), filled->value);
}

static bool is_kernel(const Kernel *k, const char *file, Span word) {
    return !strcmp(k->template_name, file) && equal(word, k->template_kernel);
}

static bool is_needed(const Plan *plan, Needs *needs, const char *file, Span word) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (plan->kernels[i].template_name && needs(&plan->kernels[i], file, word))
            return true;
    return false;
}

static void print_section(Span body, StrBuf *out) {
    sb_printf(out, "\n%.*s", (int)body.length, body.text);
}

static void print_sections(Span rest, const char *marker, StrBuf *out) {
    for (Span body; section(rest, marker, &body, &rest);)
        print_section(body, out);
}

/* Prints the sections of `file` that are marked with `marker` and a word, and are needed. */
static void print_needed(const Plan *plan, const char *file, const char *marker, Needs *needs,
                         StrBuf *out) {
    Span rest = template_text(file), body;
    for (const char *at; (at = find(rest, marker)) != NULL;) {
        Span word = {at + strlen(marker), strcspn(at + strlen(marker), "\n")};
        char line[64];
        int length = snprintf(line, sizeof line, "%s%.*s\n", marker, (int)word.length, word.text);
        ENSURE(length < (int)sizeof line, "template %s: a long marker: %s", file, line);
        ENSURE(section(after(rest, at), line, &body, &rest) && !find(body, closing),
               "template %s: %.*s is incomplete, or has a hole", file, (int)word.length, word.text);
        if (is_needed(plan, needs, file, word))
            print_section(body, out);
    }
}

/* The files whose preludes have been printed. */
typedef struct {
    char names[16][64];
    int count;
} Printed;

static bool add_printed(Printed *p, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (!strcmp(p->names[i], name))
            return false;
    ENSURE(p->count < 16 && strlen(name) < sizeof p->names[0], "templates: too many files");
    snprintf(p->names[p->count++], sizeof p->names[0], "%s", name);
    return true;
}

static void print_preludes(const Plan *plan, const char *name, Printed *printed, StrBuf *out) {
    static const char other[] = "//@prelude ";
    if (!add_printed(printed, name))
        return;
    Span text = template_text(name);
    Span rest = text;
    for (const char *at; (at = find(rest, other)) != NULL; rest = after(rest, at)) {
        at += strlen(other);
        char file[64];
        int length = snprintf(file, sizeof file, "%.*s", (int)strcspn(at, "\n"), at);
        ENSURE(length < (int)sizeof file, "template %s: long name of a file: %s", name, file);
        print_preludes(plan, file, printed, out);
    }
    print_sections(text, "//@prelude\n", out);
    print_needed(plan, name, "//@prelude?", fills, out);
    print_needed(plan, name, "//@body ", is_kernel, out);
}

void print_template_preludes(const Plan *plan, StrBuf *out) {
    Printed printed = {.count = 0};
    for (int i = 0; i < plan->kernel_count; i++)
        if (plan->kernels[i].template_name)
            print_preludes(plan, plan->kernels[i].template_name, &printed, out);
}

/* ---- holes ----------------------------------------------------------------------------------- */

/* Returns the name of the hole at `at`; *behind is what follows the hole. */
static Span read_hole(const Kernel *k, Span rest, const char *at, Span *behind) {
    Span tail = after(rest, at + 3);
    const char *name_end = find(tail, "*/");
    ENSURE(name_end, "template %s: a marker without end", k->template_name);
    Span name = {tail.text, (size_t)(name_end - tail.text)};
    tail = after(tail, name_end + 2);
    const char *end = find(tail, closing);
    ENSURE(end, "template %s: a hole without end", k->template_name);
    *behind = after(tail, end + strlen(closing));
    return name;
}

static void fill_hole(const Kernel *k, Span name, bool *used, StrBuf *out) {
    const Hole *hole = find_hole(k, name);
    if (hole) {
        used[hole - k->holes] = true;
        sb_puts(out, hole->value);
    } else if (equal(name, "kernel"))
        sb_puts(out, k->name);
    else
        internal_fault(__FILE__, __LINE__, "template %s: nothing fills hole %.*s", k->template_name,
                       (int)name.length, name.text);
}

enum { MOST_HOLES = 64 };

static void fill(const Kernel *k, Span rest, StrBuf *out) {
    bool used[MOST_HOLES] = {false};
    for (const char *at; (at = find(rest, "/*@"));) {
        Span behind;
        Span name = read_hole(k, rest, at, &behind);
        sb_append(out, rest.text, (size_t)(at - rest.text));
        fill_hole(k, name, used, out);
        rest = behind;
    }
    sb_append(out, rest.text, rest.length);
    for (int i = 0; i < k->hole_count; i++)
        ENSURE(used[i], "template %s has no hole %s", k->template_name, k->holes[i].hole);
}

/* ---- a kernel ------------------------------------------------------------------------------- */

void print_template_kernel(const Kernel *k, StrBuf *out) {
    char marker[128];
    Span body, rest;
    snprintf(marker, sizeof marker, "//@kernel %s\n", k->template_kernel);
    ENSURE(section(template_text(k->template_name), marker, &body, &rest),
           "template %s has no kernel %s", k->template_name, k->template_kernel);
    fill(k, body, out);
}

/* Returns what precedes `mark`, and moves *rest behind it. */
static const char *read_until(Arena *arena, const char **rest, const char *mark) {
    const char *start = *rest, *at = strstr(start, mark);
    ENSURE(at, "a kernel of a template has no \"%s\":\n%s", mark, start);
    *rest = at + strlen(mark);
    return arena_strndup(arena, start, (size_t)(at - start));
}

/* Returns the kernel with its epilogue. */
static const char *filled_text(const Plan *plan, const Kernel *kernel, KernelText *text) {
    Hole holes[MOST_HOLES];
    Kernel k = *kernel;
    StrBuf out = {0};
    ENSURE(k.hole_count + EPILOGUE_HOLES <= MOST_HOLES, "template %s has %d holes", k.template_name,
           k.hole_count);
    memcpy(holes, k.holes, (size_t)k.hole_count * sizeof *holes);
    *text = epilogue_text(plan, kernel, holes + k.hole_count);
    k.holes = holes;
    k.hole_count += EPILOGUE_HOLES;
    print_template_kernel(&k, &out);
    const char *filled = arena_strdup(plan->program->arena, out.text);
    sb_free(&out);
    return filled;
}

KernelText template_kernel_text(const Plan *plan, const Kernel *k) {
    Arena *arena = plan->program->arena;
    KernelText text;
    const char *rest = filled_text(plan, k, &text);
    const char *name = read_until(arena, &rest, "(\n    ");
    text.params = read_until(arena, &rest, ") {\n    struct Sizes {\n");
    text.head = arena_printf(arena, "%s(\n    %s) {\n", name, text.params);
    text.sizes = read_until(arena, &rest, "    };\n");
    text.statements = arena_strndup(arena, rest, strlen(rest) - strlen("}\n"));
    return text;
}
