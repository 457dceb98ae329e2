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
    char path[256];
    snprintf(path, sizeof path, "gen/templates/%s", name);
    const Embedded *file = embedded_find(path);
    ENSURE(file, "template %s is not built in", name);
    return (Span){file->text, file->size};
}

static const char *find(Span in, const char *what) {
    size_t length = strlen(what);
    for (size_t i = 0; i + length <= in.length; i++)
        if (!memcmp(in.text + i, what, length))
            return in.text + i;
    return NULL;
}

static Span after(Span s, const char *at) { return (Span){at, s.length - (size_t)(at - s.text)}; }

/* The lines between a line that is `marker` and the next //@end; *rest is what follows. */
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

/* ---- preludes -------------------------------------------------------------------------------- */

static bool first_of_template(const Plan *plan, int kernel) {
    const char *name = plan->kernels[kernel].template_name;
    for (int i = 0; i < kernel; i++)
        if (plan->kernels[i].template_name && !strcmp(plan->kernels[i].template_name, name))
            return false;
    return true;
}

/* What the plan fills a hole with; NULL: it does not. */
static const Hole *find_hole(const Kernel *k, Span name) {
    for (int i = 0; i < k->hole_count; i++)
        if (strlen(k->holes[i].hole) == name.length &&
            !memcmp(k->holes[i].hole, name.text, name.length))
            return &k->holes[i];
    return NULL;
}

static bool template_fills(const Plan *plan, const char *template_name, Span hole) {
    for (int i = 0; i < plan->kernel_count; i++) {
        const Kernel *k = &plan->kernels[i];
        if (k->template_name && !strcmp(k->template_name, template_name) && find_hole(k, hole))
            return true;
    }
    return false;
}

static void print_sections(Span rest, const char *marker, StrBuf *out) {
    for (Span body; section(rest, marker, &body, &rest);) {
        sb_puts(out, "\n");
        sb_append(out, body.text, body.length);
    }
}

/* Those that only kernels with that hole filled ask for. */
static void print_optional(const Plan *plan, const char *template_name, Span rest, StrBuf *out) {
    static const char optional[] = "//@prelude?";
    const size_t marker = strlen(optional);
    for (const char *at; (at = find(rest, optional)) != NULL;) {
        Span hole = {at + marker, strcspn(at + marker, "\n")}, body;
        char line[64];
        int length = snprintf(line, sizeof line, "%.*s\n", (int)(marker + hole.length), at);
        ENSURE(length < (int)sizeof line, "template %s: long name at %s", template_name, line);
        if (section(after(rest, at), line, &body, &rest) &&
            template_fills(plan, template_name, hole))
            sb_printf(out, "\n%.*s", (int)body.length, body.text);
    }
}

/* Those of the file `name`, on behalf of the template. */
static void print_preludes(const Plan *plan, const char *template_name, const char *name,
                           StrBuf *out) {
    static const char other[] = "//@prelude ";
    Span text = template_text(name);
    const char *at = find(text, other);
    if (at) {
        at += strlen(other);
        char file[64];
        int length = snprintf(file, sizeof file, "%.*s", (int)strcspn(at, "\n"), at);
        ENSURE(length < (int)sizeof file, "template %s: long name of a file: %s", name, file);
        print_preludes(plan, template_name, file, out);
    }
    print_sections(text, "//@prelude\n", out);
    print_optional(plan, template_name, text, out);
}

void print_template_preludes(const Plan *plan, StrBuf *out) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (plan->kernels[i].template_name && first_of_template(plan, i))
            print_preludes(plan, plan->kernels[i].template_name, plan->kernels[i].template_name,
                           out);
}

/* ---- holes ----------------------------------------------------------------------------------- */

static const char closing[] = "/*@*/";

/* A hole, as the template has it. */
typedef struct {
    Span name, standard;
    const char *optional; /* behind the name and '?': what it becomes where the name is filled */
    size_t optional_length;
} Marked;

/* The hole at `at`, and what follows it. */
static Marked read_hole(const Kernel *k, Span rest, const char *at, Span *behind) {
    Span tail = after(rest, at + 3);
    const char *head_end = find(tail, "*/");
    ENSURE(head_end, "template %s: a marker without end", k->template_name);
    Span head = {tail.text, (size_t)(head_end - tail.text)};
    const char *mark = memchr(head.text, '?', head.length);
    Marked m = {.name = head};
    if (mark) {
        m.name.length = (size_t)(mark - head.text);
        m.optional = mark + 1;
        m.optional_length = (size_t)(head_end - m.optional);
    }
    tail = after(tail, head_end + 2);
    const char *end = find(tail, closing);
    ENSURE(end, "template %s: a hole without end", k->template_name);
    m.standard = (Span){tail.text, (size_t)(end - tail.text)};
    *behind = after(tail, end + strlen(closing));
    return m;
}

static void fill_hole(const Kernel *k, const Marked *m, bool *used, StrBuf *out) {
    const Hole *hole = find_hole(k, m->name);
    if (hole)
        used[hole - k->holes] = true;
    if (m->optional && hole)
        sb_append(out, m->optional, m->optional_length);
    else if (m->optional)
        sb_append(out, m->standard.text, m->standard.length);
    else if (hole)
        sb_puts(out, hole->value);
    else if (m->name.length == 6 && !memcmp(m->name.text, "kernel", 6))
        sb_puts(out, k->name);
    else
        internal_fault(__FILE__, __LINE__, "template %s: nothing fills hole %.*s", k->template_name,
                       (int)m->name.length, m->name.text);
}

enum { MOST_HOLES = 64 };

static void fill(const Kernel *k, Span rest, StrBuf *out) {
    bool used[MOST_HOLES] = {false};
    for (const char *at; (at = find(rest, "/*@"));) {
        Span behind;
        Marked hole = read_hole(k, rest, at, &behind);
        sb_append(out, rest.text, (size_t)(at - rest.text));
        fill_hole(k, &hole, used, out);
        rest = behind;
    }
    sb_append(out, rest.text, rest.length);
    for (int i = 0; i < k->hole_count; i++)
        ENSURE(used[i], "template %s has no hole %s", k->template_name, k->holes[i].hole);
}

/* The holes of an epilogue beside the template's own. */
static void add_epilogue(const Plan *plan, Kernel *k, Hole holes[MOST_HOLES]) {
    ENSURE(k->hole_count + EPILOGUE_HOLES <= MOST_HOLES, "template %s has %d holes",
           k->template_name, k->hole_count);
    memcpy(holes, k->holes, (size_t)k->hole_count * sizeof *holes);
    print_epilogue(plan, k, holes + k->hole_count);
    k->holes = holes;
    k->hole_count += EPILOGUE_HOLES;
}

void print_template_kernel(const Plan *plan, const Kernel *kernel, StrBuf *out) {
    char marker[128];
    Hole holes[MOST_HOLES];
    Kernel filled = *kernel, *k = &filled;
    if (k->body)
        add_epilogue(plan, k, holes);
    snprintf(marker, sizeof marker, "//@kernel %s\n", k->template_kernel);
    Span body, rest;
    ENSURE(section(template_text(k->template_name), marker, &body, &rest),
           "template %s has no kernel %s", k->template_name, k->template_kernel);
    fill(k, body, out);
}
