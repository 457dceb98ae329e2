/* Kernels that differ only in constants share a function. */
#include "emit/shared_bodies.h"

#include <string.h>

#include "emit/fill_template.h"
#include "emit/names.h"
#include "plan/kernel_names.h"

/* A kernel's text, with the names of the first kernel that has the same one. That kernel's text has
 * the names that all of them have, and instead of the others what these have in common, or neutral
 * names. */
typedef struct {
    KernelText text;
    int first;        /* that kernel; -1 if the kernel has no body */
    int sharers;      /* of a first kernel: how many have its text, itself included */
    const char *name; /* of the function that they share; NULL if there is only one */
} SharedBody;

struct SharedBodies {
    SharedBody *kernel;
    int count;
};

/* ---- which kernels share a function ---------------------------------------------------------- */

/* Whether the kernels could have the same text; without printing them. */
static bool are_alike(const Kernel *a, const Kernel *b) {
    if (!a->body || !b->body || !a->template_name != !b->template_name)
        return false;
    bool alike = a->skeleton == b->skeleton && a->vector == b->vector && a->real == b->real &&
                 a->param_count == b->param_count && a->scalar_count == b->scalar_count &&
                 a->body->count == b->body->count;
    for (int i = 0; alike && i < a->body->count; i++)
        alike = a->body->steps[i].kind == b->body->steps[i].kind &&
                a->param_of_step[i] == b->param_of_step[i];
    return alike;
}

/* The kernel, with the names that the printer would use for `other`. */
static Kernel named_like(const Kernel *k, const Kernel *other) {
    Kernel named = *k;
    Body *body = body_copy(k->body);
    named.body = body;
    for (int i = 0; i < k->param_count; i++)
        named.param[i].name = other->param[i].name;
    for (int i = 0; i < k->scalar_count; i++)
        named.scalar[i].name = other->scalar[i].name;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &other->body->steps[i];
        body->steps[i].name = s->name;
        body->steps[i].hint = s->hint;
        if (s->kind == STEP_ROUND)
            body->steps[i].value = s->value; /* only names the variable */
    }
    return named;
}

static bool same_text(const KernelText *a, const KernelText *b) {
    bool same = a->constant_count == b->constant_count && !strcmp(a->params, b->params) &&
                !strcmp(a->statements, b->statements);
    for (int i = 0; same && i < a->constant_count; i++)
        same = !strcmp(a->constant[i].name, b->constant[i].name) &&
               !strcmp(a->constant[i].type, b->constant[i].type);
    return same;
}

static KernelText text_of(const Plan *plan, const Kernel *k, bool any_blocks) {
    return k->template_name ? template_kernel_text(plan, k) : kernel_text(plan, k, any_blocks);
}

/* Finds the first kernel with the same text. */
static SharedBody body_of(const Plan *plan, const SharedBodies *before, int kernel) {
    const Kernel *k = &plan->kernels[kernel];
    SharedBody own = {.first = -1, .sharers = 1};
    if (!k->body)
        return own;
    own.text = text_of(plan, k, true);
    own.first = kernel;
    for (int i = 0; i < before->count; i++) {
        if (before->kernel[i].first != i || !are_alike(k, &plan->kernels[i]))
            continue;
        Kernel named = named_like(k, &plan->kernels[i]);
        KernelText text = text_of(plan, &named, true);
        if (same_text(&text, &before->kernel[i].text)) {
            own.first = i;
            return own;
        }
    }
    return own;
}

/* ---- their names ----------------------------------------------------------------------------- */

/* The kernel's name up to its shape: a "_" and a number, perhaps after an "x". */
static const char *without_shape(Arena *arena, const char *name) {
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_')) {
        const char *digits = at + 1 + (at[1] == 'x');
        size_t length = strspn(digits, "0123456789");
        if (length && (!digits[length] || strchr("x_", digits[length])))
            return arena_strndup(arena, name, (size_t)(at - name));
    }
    return name;
}

static bool is_taken(const SharedBodies *shared, const char *name) {
    for (int i = 0; i < shared->count; i++)
        if (shared->kernel[i].name && !strcmp(shared->kernel[i].name, name))
            return true;
    return false;
}

static void name_bodies(const Plan *plan, SharedBodies *shared) {
    Arena *arena = plan->program->arena;
    for (int i = 0; i < shared->count; i++) {
        if (shared->kernel[i].sharers < 2)
            continue;
        const char *base = without_shape(arena, plan->kernels[i].name);
        const char *name = arena_printf(arena, "%s_body", base);
        for (int n = 2; is_taken(shared, name); n++)
            name = arena_printf(arena, "%s_body_%d", base, n);
        shared->kernel[i].name = name;
    }
}

/* ---- names of arguments and variables -------------------------------------------------------- */

/* Returns the name of something in a kernel; NULL: it has none. */
typedef const char *NameOf(const Kernel *, int index);

static const char *param_name_of(const Kernel *k, int param) { return k->param[param].name; }

static const char *hint_of(const Kernel *k, int step) { return k->body->steps[step].hint; }

static const char *rounded_name_of(const Kernel *k, int step) {
    return k->body->steps[step].value ? k->body->steps[step].value->name : NULL;
}

/* The name without the numbers of its words: "bn_mean" for bn3_mean. */
static char *without_numbers_in(Arena *arena, const char *name) {
    char *plain = arena_strdup(arena, name), *to = plain;
    for (const char *from = name; *from;) {
        size_t digits = strspn(from, "0123456789");
        bool ends_word = digits && (!from[digits] || from[digits] == '_');
        if (ends_word) {
            from += digits;
            to -= to > plain && to[-1] == '_'; /* the number was a word */
            continue;
        }
        *to++ = *from++;
    }
    *to = '\0';
    return plain;
}

/* Returns the last words that both names have: "residual" for attn_residual and mlp_residual; "" if
 * there are none. */
static const char *common_words(const char *a, const char *b) {
    size_t of_a = strlen(a), of_b = strlen(b), found = 0;
    for (size_t n = 1; n <= of_a && n <= of_b && a[of_a - n] == b[of_b - n]; n++)
        if ((n == of_a || a[of_a - n - 1] == '_') && (n == of_b || b[of_b - n - 1] == '_'))
            found = n;
    return b + of_b - found;
}

/* Whether all kernels that share the first one's text have the same name. */
static bool all_agree(const Plan *plan, const SharedBodies *shared, int first, NameOf *name_of,
                      int index) {
    const char *name = name_of(&plan->kernels[first], index);
    for (int i = first + 1; i < shared->count; i++) {
        if (shared->kernel[i].first != first)
            continue;
        const char *other = name_of(&plan->kernels[i], index);
        if (!name != !other || (name && strcmp(name, other) != 0))
            return false;
    }
    return true;
}

/* Returns what is common to the names of all kernels that share the first one's text: the name, or
 * its last words. NULL: nothing. */
static const char *common_name(const Plan *plan, const SharedBodies *shared, int first,
                               NameOf *name_of, int index) {
    Arena *arena = plan->program->arena;
    const char *common = name_of(&plan->kernels[first], index);
    if (all_agree(plan, shared, first, name_of, index))
        return common;
    for (int i = first; i < shared->count && common; i++) {
        if (shared->kernel[i].first != first)
            continue;
        const char *name = name_of(&plan->kernels[i], index);
        common = name ? common_words(without_numbers_in(arena, name),
                                     without_numbers_in(arena, common))
                      : NULL;
    }
    return common && *common && !kernel_name_is_reserved(common) ? common : NULL;
}

static bool has_param(const Kernel *k, const char *name) {
    for (int i = 0; i < k->param_count; i++)
        if (k->param[i].name && !strcmp(k->param[i].name, name))
            return true;
    return false;
}

/* Whether a template of the kernels that share the first one's text uses the name. */
static bool templates_mention(const Plan *plan, const SharedBodies *shared, int first,
                              const char *name) {
    for (int i = first; i < shared->count; i++)
        if (shared->kernel[i].first == first && kernel_template_mentions(&plan->kernels[i], name))
            return true;
    return false;
}

/* Gives the parameter the name that is common to all kernels. If there is none, calls what is only
 * read x, x_2, ..., and what is written y, y_2, ... */
static void name_neutrally(const Plan *plan, const SharedBodies *shared, int first, Kernel *k,
                           int param) {
    Arena *arena = plan->program->arena;
    const char *common = common_name(plan, shared, first, param_name_of, param);
    const char *base = k->param[param].written ? "y" : "x", *name = base;
    k->param[param].name = NULL;
    if (common && !has_param(k, common) && !templates_mention(plan, shared, first, common))
        base = name = common;
    for (int n = 2; has_param(k, name); n++)
        name = arena_printf(arena, "%s_%d", base, n);
    k->param[param].name = name;
    if (k->strided)
        k->scalar[param].name = arena_printf(arena, "%s_stride", name);
}

/* The first kernel, without names that not all of its sharers have. */
static Kernel neutral(const Plan *plan, const SharedBodies *shared, int first) {
    Kernel named = plan->kernels[first];
    Body *body = body_copy(named.body);
    named.body = body;
    for (int i = 0; i < named.param_count; i++)
        if (!all_agree(plan, shared, first, param_name_of, i))
            name_neutrally(plan, shared, first, &named, i);
    for (int i = 0; i < body->count; i++) {
        Step *s = &body->steps[i];
        if (s->kind != STEP_CONST)
            s->hint = common_name(plan, shared, first, hint_of, i);
        if (s->kind == STEP_ROUND && !all_agree(plan, shared, first, rounded_name_of, i))
            s->value = NULL;
    }
    return named;
}

/* Whether, of the kernels that share the first one's text, some have one block for all columns. */
static bool blocks_differ(const Plan *plan, const SharedBodies *shared, int first) {
    bool several = plan->kernels[first].column_blocks > 1;
    for (int i = first + 1; i < shared->count; i++)
        if (shared->kernel[i].first == first && several != (plan->kernels[i].column_blocks > 1))
            return true;
    return false;
}

/* Whether the kernel shares its text with no other, and that text is for its own number of blocks,
 * which only the text of tiles depends on. */
static bool is_final(const Kernel *k, const SharedBody *body) {
    return body->sharers == 1 && (k->template_name || k->skeleton != SKELETON_TILE);
}

/* Prints the text of the first kernel and its sharers again, with the same names. */
static void generalise(const Plan *plan, SharedBodies *shared, int first) {
    const Kernel like = neutral(plan, shared, first);
    bool any_blocks = blocks_differ(plan, shared, first);
    for (int i = first; i < shared->count; i++) {
        if (shared->kernel[i].first != first)
            continue;
        Kernel named = named_like(&plan->kernels[i], &like);
        KernelText text = text_of(plan, &named, any_blocks);
        ENSURE(i == first || same_text(&text, &shared->kernel[first].text),
               "%s has another text than before", plan->kernels[i].name);
        text.head = shared->kernel[i].text.head;
        shared->kernel[i].text = text;
    }
}

const SharedBodies *shared_bodies(const Plan *plan) {
    Arena *arena = plan->program->arena;
    SharedBodies *shared = arena_alloc(arena, sizeof *shared);
    shared->kernel = arena_array(arena, (size_t)plan->kernel_count + 1, sizeof *shared->kernel);
    for (shared->count = 0; shared->count < plan->kernel_count; shared->count++) {
        SharedBody body = body_of(plan, shared, shared->count);
        shared->kernel[shared->count] = body;
        if (body.first >= 0 && body.first < shared->count)
            shared->kernel[body.first].sharers++;
    }
    name_bodies(plan, shared);
    for (int i = 0; i < shared->count; i++)
        if (shared->kernel[i].first == i && !is_final(&plan->kernels[i], &shared->kernel[i]))
            generalise(plan, shared, i);
    return shared;
}

bool kernel_is_second_pass(const Kernel *k) {
    return !k->template_name && k->skeleton == SKELETON_COLUMN;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Whether a constant of the function has the same value in all its kernels. */
static bool is_same_in_all(const SharedBodies *shared, int first, int constant) {
    const char *value = shared->kernel[first].text.constant[constant].text;
    for (int i = first + 1; i < shared->count; i++)
        if (shared->kernel[i].first == first &&
            strcmp(shared->kernel[i].text.constant[constant].text, value) != 0)
            return false;
    return true;
}

static bool is_whole(const Constant *c) { return !strncmp(c->type, "int", 3); }

/* Returns the constants that differ between the kernels of the function, with this kernel's values.
 * Whole numbers are members of Sizes; other numbers, which an enum cannot have, are arguments. */
static int differing(const SharedBodies *shared, int kernel, bool whole,
                     Constant constant[MAX_CONSTANTS]) {
    const SharedBody *body = &shared->kernel[kernel];
    int count = 0;
    for (int i = 0; i < body->text.constant_count; i++)
        if (is_whole(&body->text.constant[i]) == whole && !is_same_in_all(shared, body->first, i))
            constant[count++] = body->text.constant[i];
    return count;
}

static bool has_sizes(const SharedBodies *shared, int kernel) {
    Constant constant[MAX_CONSTANTS];
    return *shared->kernel[kernel].text.sizes || differing(shared, kernel, true, constant);
}

/* Declares the constants that the function's statements mention, but for those that it is passed. */
static void print_constants(Arena *arena, const SharedBodies *shared, int first, StrBuf *out) {
    const KernelText *text = &shared->kernel[first].text;
    Constant constant[MAX_CONSTANTS];
    int count = 0;
    for (int i = 0; i < text->constant_count; i++) {
        bool same = is_same_in_all(shared, first, i);
        Constant c = text->constant[i];
        if (!same)
            c.text = arena_printf(arena, "Sizes::%s", c.name);
        if (same || is_whole(&c))
            constant[count++] = c;
    }
    put_constants(arena, constant, count, out);
}

void print_shared_body(const Plan *plan, int kernel, const SharedBodies *shared, StrBuf *out) {
    static const char head[] = "static __device__ __forceinline__ void";
    const Kernel *k = &plan->kernels[kernel];
    const SharedBody *body = &shared->kernel[kernel];
    Constant constant[MAX_CONSTANTS];
    if (!body->name)
        return;
    sb_printf(out, "\n/* %s%s: the body of %d kernels. */\n%s",
              kernel_is_second_pass(k) ? "second pass of " : "",
              titles_text(plan->program->arena, k->ops), body->sharers,
              has_sizes(shared, kernel) ? "template <class Sizes>\n" : "");
    bool fits = strlen(head) + 1 + strlen(body->name) + 1 <= PAGE;
    sb_printf(out, "%s%s%s(\n    %s", head, fits ? " " : "\n", body->name, body->text.params);
    int reals = differing(shared, kernel, false, constant);
    for (int i = 0; i < reals; i++)
        sb_printf(out, ",\n    const %s %s", constant[i].type, constant[i].name);
    sb_puts(out, ") {\n");
    print_constants(plan->program->arena, shared, kernel, out);
    sb_printf(out, "%s}\n", body->text.statements);
}

/* Prints the members of Sizes that are not the template's. */
static void print_members(Arena *arena, const Constant *constant, int count, StrBuf *out) {
    static const char *const types[][2] = {{"int", "enum"}, {"int64_t", "enum : int64_t"}};
    for (int t = 0; t < 2; t++) {
        const char *items[MAX_CONSTANTS];
        int found = 0;
        for (int i = 0; i < count; i++)
            if (!strcmp(constant[i].type, types[t][0]))
                items[found++] = arena_printf(arena, "%s = %s", constant[i].name, constant[i].text);
        if (found)
            put_list(out, arena_printf(arena, "        %s { ", types[t][1]), items, found, 12,
                     " };\n");
    }
}

static void print_sizes(Arena *arena, const SharedBodies *shared, int kernel, StrBuf *out) {
    Constant constant[MAX_CONSTANTS];
    sb_printf(out, "    struct Sizes {\n%s", shared->kernel[kernel].text.sizes);
    print_members(arena, constant, differing(shared, kernel, true, constant), out);
    sb_puts(out, "    };\n");
}

/* Prints the call of the function that the kernel shares. */
static void print_call(const Plan *plan, int kernel, const SharedBodies *shared, StrBuf *out) {
    Arena *arena = plan->program->arena;
    const Kernel *k = &plan->kernels[kernel];
    const char *items[MAX_PARAMS + MAX_SCALARS + MAX_CONSTANTS];
    Constant constant[MAX_CONSTANTS];
    int count = 0;
    for (int i = 0; i < k->param_count; i++)
        items[count++] = k->param[i].name;
    for (int i = 0; i < k->scalar_count; i++)
        items[count++] = k->scalar[i].name;
    int reals = differing(shared, kernel, false, constant);
    put_constants(arena, constant, reals, out);
    for (int i = 0; i < reals; i++)
        items[count++] = constant[i].name;
    const char *name = shared->kernel[shared->kernel[kernel].first].name;
    put_list(out,
             arena_printf(arena, "    %s%s(", name, has_sizes(shared, kernel) ? "<Sizes>" : ""),
             items, count, 8, ");\n");
}

void print_body_kernel(const Plan *plan, int kernel, const SharedBodies *shared, StrBuf *out) {
    const SharedBody *body = &shared->kernel[kernel];
    const KernelText *text = &body->text;
    sb_puts(out, text->head);
    if (has_sizes(shared, kernel))
        print_sizes(plan->program->arena, shared, kernel, out);
    if (shared->kernel[body->first].name) {
        print_call(plan, kernel, shared, out);
    } else {
        put_constants(plan->program->arena, text->constant, text->constant_count, out);
        sb_puts(out, text->statements);
    }
    sb_puts(out, "}\n");
}
