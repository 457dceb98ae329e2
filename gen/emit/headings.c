/* The comment before a launch: the name of its first op, what it does, and its results. */
#include "emit/headings.h"

#include "base/dotted.h"
#include "emit/labels.h"
#include "emit/names.h"
#include "graph/op_table.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const Program *program;
    const Launch *launches; /* of the first iteration */
    const Pointers *pointers;
} Function;

/* A comment has all names if they are at most MOST, otherwise the first FEW. */
enum { FEW = 4, MOST = 5 };

typedef struct {
    const char *name[MOST];
    int count; /* may be more */
} Names;

/* What a comment says after the colon: items with commas between them. */
typedef struct {
    const char *item[3 * MOST];
    int count;
} List;

/* The name of the launch's op; for joined launches, a name that covers the ops of all slices. */
static const char *launch_text(const Function *f, const Launch *launch) {
    int count = 1 + launch->joined_count;
    const char **names = arena_array(f->arena, (size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = (i ? &launch->joined[i - 1] : launch)->ops[0]->name;
    return spanned_name(f->arena, names, count);
}

/* Returns "layer4.{i-1}.relu" if iterations count the name's number, but not as the loop's variable;
 * else NULL. */
static const char *counted_text(const Function *f, int index, const char *first, const char *last) {
    const Run *run = &f->pointers->run;
    Arena *arena = f->arena;
    int from, next, to;
    if (run->times == 1 || !counted_name(arena, first, last, &from, &to))
        return NULL;
    const char *second = launch_text(f, &f->launches[index + run->stride]);
    const char *pattern = counted_name(arena, first, second, &from, &next);
    const Count count = {from, next - from};
    if (!pattern || abs(count.direction) != 1 || number_at(count, run->times - 1) != to)
        return NULL;
    const char *text = count_text(arena, count, &f->pointers->index);
    if (strcmp(text, f->pointers->index.name) == 0)
        return NULL;
    const char *sign = strpbrk(text, "+-"); /* "i - 1" */
    return with_range(arena, pattern,
                      arena_printf(arena, "{%.*s%c%s}", (int)(sign - text) - 1, text, *sign, sign + 2));
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
    const char *counted = counted_text(f, index, first, last);
    if (counted)
        return counted;
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

static const char *in_place_text(const Launch *launch) {
    const Op *op = launch->ops[0];
    bool in_place = op_is(op, TRAIT_IN_PLACE) && value_same_place(op->in[0], op->out[0]);
    return in_place ? ", in place" : "";
}

static void add_name(Names *names, const char *name) {
    if (names->count < MOST)
        names->name[names->count] = name;
    names->count++;
}

/* Appends the names to the list. The first one, behind `joint`, becomes part of its last item. */
static void append(Arena *arena, List *list, const char *joint, const Names *names) {
    int shown = names->count > MOST ? FEW : names->count;
    for (int i = 0; i < shown; i++) {
        bool joins = i == 0 && list->count > 0;
        const char *before = joins ? list->item[--list->count] : "";
        list->item[list->count++] =
            arena_printf(arena, "%s%s%s", before, joins ? joint : "", names->name[i]);
    }
    if (shown < names->count)
        list->item[list->count - 1] = arena_printf(arena, "%s and %d more", list->item[list->count - 1],
                                                   names->count - shown);
}

static Names kinds_of(const Launch *launch) {
    Names kinds = {0};
    for (int i = 0; i < launch->op_count; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen |= !strcmp(op_title(launch->ops[k]), op_title(launch->ops[i]));
        if (!seen)
            add_name(&kinds, op_title(launch->ops[i]));
    }
    return kinds;
}

/* The weights that the launch updates; in a loop with * for their numbers. */
static Names updated_by(const Function *f, const Launch *launch) {
    Names names = {0};
    const Op *op = launch->ops[0];
    for (int i = 0; i < f->program->param_count && op_is(op, TRAIT_UPDATES); i++) {
        const Param *param = &f->program->params[i];
        if (param->master && value_overlaps(param->master, op->out[0]))
            add_name(&names, f->pointers->run.times > 1
                                 ? without_numbers(f->arena, param->weight->name)
                                 : param->weight->name);
    }
    return names;
}

static Names results_of(const Function *f, int index) {
    Names names = {0};
    for (int a = 0; a < f->launches[index].arg_count; a++)
        if (f->launches[index].written[a])
            add_name(&names, pointer_of_arg(f->pointers, index, a)->name);
    return names;
}

void put_heading(StrBuf *out, Arena *arena, const Plan *plan, const PlanEntry *entry,
                 const Pointers *pointers, int index) {
    const Function f = {arena, plan->program, &entry->launches[pointers->run.first], pointers};
    const Launch *launch = &f.launches[index];
    Names kinds = kinds_of(launch), updated = updated_by(&f, launch), results = results_of(&f, index);
    List list = {0};
    append(arena, &list, "", &kinds);
    append(arena, &list, " of ", &updated);
    append(arena, &list, " -> ", &results);
    const char *name = arena_printf(arena, "%s%s%s: ", op_text(&f, index), in_place_text(launch),
                                    slices_text(&f, launch));
    put_remark(out, 4, name, list.item, list.count, " */\n");
}
