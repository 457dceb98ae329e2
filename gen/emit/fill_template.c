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

static void print_preludes(const char *name, StrBuf *out) {
    static const char other[] = "//@prelude ";
    Span text = template_text(name), rest = text, body;
    const char *at = find(text, other);
    if (at) {
        char file[64];
        at += strlen(other);
        snprintf(file, sizeof file, "%.*s", (int)strcspn(at, "\n"), at);
        print_preludes(file, out);
    }
    while (section(rest, "//@prelude\n", &body, &rest)) {
        sb_puts(out, "\n");
        sb_append(out, body.text, body.length);
    }
}

void print_template_preludes(const Plan *plan, StrBuf *out) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (plan->kernels[i].template_name && first_of_template(plan, i))
            print_preludes(plan->kernels[i].template_name, out);
}

/* ---- holes ----------------------------------------------------------------------------------- */

static const char *hole_value(const Kernel *k, Span name, bool *used) {
    if (name.length == 6 && !memcmp(name.text, "kernel", 6))
        return k->name;
    for (int i = 0; i < k->hole_count; i++) {
        if (strlen(k->holes[i].hole) != name.length ||
            memcmp(k->holes[i].hole, name.text, name.length))
            continue;
        used[i] = true;
        return k->holes[i].value;
    }
    internal_fault(__FILE__, __LINE__, "template %s: nothing fills hole %.*s", k->template_name,
                   (int)name.length, name.text);
}

static Span fill_next(const Kernel *k, Span rest, const char *hole, bool *used, StrBuf *out) {
    static const char closing[] = "/*@*/";
    sb_append(out, rest.text, (size_t)(hole - rest.text));
    Span tail = after(rest, hole + 3);
    const char *name_end = find(tail, "*/");
    ENSURE(name_end, "template %s: a marker without end", k->template_name);
    sb_puts(out, hole_value(k, (Span){tail.text, (size_t)(name_end - tail.text)}, used));
    tail = after(tail, name_end + 2);
    const char *end = find(tail, closing);
    ENSURE(end, "template %s: a hole without end", k->template_name);
    return after(tail, end + strlen(closing));
}

enum { MOST_HOLES = 64 };

static void fill(const Kernel *k, Span rest, StrBuf *out) {
    bool used[MOST_HOLES] = {false};
    for (const char *hole; (hole = find(rest, "/*@"));)
        rest = fill_next(k, rest, hole, used, out);
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
