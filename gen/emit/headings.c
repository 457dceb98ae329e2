/* The comment before a launch: the name of its op and, if that is ambiguous, its results. */
#include "emit/headings.h"

#include "base/dotted.h"
#include "emit/names.h"
#include "graph/op_table.h"

#include <string.h>

typedef struct {
    Arena *arena;
    const Launch *launches; /* of the first iteration */
    const Pointers *pointers;
} Function;

/* The name of the launch's op; for joined launches, a name that covers the ops of all slices. */
static const char *launch_text(const Function *f, const Launch *launch) {
    int count = 1 + launch->joined_count;
    const char **names = arena_array(f->arena, (size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = (i ? &launch->joined[i - 1] : launch)->ops[0]->name;
    return spanned_name(f->arena, names, count);
}

/* The same for all iterations: numbers that differ are written as *. If more differs, the first and
 * the last name. */
static const char *op_text(const Function *f, int index) {
    Arena *arena = f->arena;
    const Run *run = &f->pointers->run;
    const Launch *launch = &f->launches[index];
    const char *first = launch_text(f, launch);
    const char *last = launch_text(f, &launch[(run->times - 1) * run->stride]);
    const char *text = starred_name(arena, first, last);
    bool alike = strcmp(text, starred_name(arena, last, first)) == 0;
    if (alike)
        return text;
    bool fits = strlen(first) + strlen(last) + strlen("    /*  to  */") <= PAGE;
    return arena_printf(arena, "%s%sto %s", first, fits ? " " : "\n     * ", last);
}

static const char *slices_text(const Function *f, const Launch *launch) {
    if (!launch->joined_count)
        return "";
    return arena_printf(f->arena, ", %d in one launch", 1 + launch->joined_count);
}

static const char *place_text(const Launch *launch) {
    const Op *op = launch->ops[0];
    bool in_place = op_is(op, TRAIT_IN_PLACE) && value_same_place(op->in[0], op->out[0]);
    return in_place ? ", in place" : "";
}

/* Gets the names of the launch's results; returns how many. */
static int results_of(const Function *f, int index, const char *names[MAX_PARAMS]) {
    const Launch *launch = &f->launches[index];
    int count = 0;
    for (int a = 0; a < launch->arg_count; a++)
        if (launch->written[a])
            names[count++] = pointer_of_arg(f->pointers, index, a)->name;
    return count;
}

static bool have_same_results(const Function *f, int index, int other) {
    const char *own[MAX_PARAMS], *its[MAX_PARAMS];
    int count = results_of(f, index, own);
    bool same = count == results_of(f, other, its);
    for (int i = 0; i < count && same; i++)
        same = strcmp(own[i], its[i]) == 0;
    return same;
}

static bool is_called_alike(const Function *f, int index, int other) {
    return other >= 0 && other < f->pointers->run.length && f->launches[other].op_count > 0 &&
           strcmp(op_text(f, index), op_text(f, other)) == 0;
}

/* Consecutive launches may have one name: two launches of one op, or the gradients of a value and
 * of its op. Launches that add to the same sum write the same result. */
static bool needs_results(const Function *f, int index) {
    bool differ = false;
    for (int i = index - 1; is_called_alike(f, index, i); i--)
        differ |= !have_same_results(f, index, i);
    for (int i = index + 1; is_called_alike(f, index, i); i++)
        differ |= !have_same_results(f, index, i);
    return differ;
}

void put_heading(StrBuf *out, Arena *arena, const PlanEntry *entry, const Pointers *pointers,
                 int index) {
    const Function f = {arena, &entry->launches[pointers->run.first], pointers};
    const char *text =
        arena_printf(arena, "%s%s%s", op_text(&f, index), place_text(&f.launches[index]),
                     slices_text(&f, &f.launches[index]));
    const char *results[MAX_PARAMS];
    int count = results_of(&f, index, results);
    if (count > 0 && needs_results(&f, index))
        put_remark(out, 4, arena_printf(arena, "%s: ", text), results, count, " */\n");
    else
        sb_printf(out, "    /* %s */\n", text);
}
