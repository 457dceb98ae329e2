/* Names of ops and weights say what launches belong to, whatever the model is. */
#include "emit/labels.h"

#include "base/dotted.h"
#include "graph/op_table.h"

#include <string.h>

static const Op *op_at(const Labels *l, int launch) {
    ENSURE(l->entry->launches[launch].op_count > 0, "a launch of no op in %s", l->entry->name);
    return l->entry->launches[launch].ops[0];
}

bool is_backward(const Op *op) { return op->phase == PHASE_BACKWARD; }

size_t label_module(const char *label) {
    const char *number = first_number(label);
    return number ? (size_t)(number - label) + part_length(number) : 0;
}

bool in_one_module(const char *a, const char *b) {
    size_t length = label_module(a);
    return length == label_module(b) && memcmp(a, b, length) == 0;
}

/* Returns the container in the name of the entry's first numbered module. */
static const char *container_of(const Labels *l) {
    for (int i = 0; i < l->entry->launch_count; i++) {
        const char *name = op_at(l, i)->name, *number = first_number(name);
        if (number && number > name)
            return arena_strndup(l->arena, name, (size_t)(previous_part(name, number) - name));
    }
    return "";
}

static bool is_part(const char *part, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == part_length(part) && strncmp(part, *words, part_length(part)) == 0)
            return true;
    return false;
}

/* Returns the name without parts that say only which tensor of a module it is. */
static const char *module_name(Arena *arena, const char *name) {
    static const char *const words[] = {"weight", "bias", "biased", "bordered",
                                        "grad",   "part", NULL};
    char *module = arena_strdup(arena, name);
    size_t length = 0;
    for (const char *part = name; *part; part = next_part(part)) {
        if (part > name && is_part(part, words))
            continue;
        if (part > name)
            module[length++] = '.';
        memcpy(module + length, part, part_length(part));
        length += part_length(part);
    }
    module[length] = '\0';
    return module;
}

static bool is_weight(const Value *v) {
    static const char *const words[] = {"weight", NULL};
    if (v->role == ROLE_FROZEN || v->role == ROLE_WEIGHT || v->role == ROLE_ADAPTER)
        return true;
    return v->role == ROLE_ACTIVATION && is_part(name_last_part(v->name), words); /* gathered */
}

/* Whether an embedding reads it. The output layer may have the same weight. */
static bool is_embedded(const Plan *plan, const Value *v) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Op *op = plan->entry[e].launches[i].ops[0];
            for (int k = 0; op_is(op, TRAIT_EMBEDS) && k < op->in_count; k++)
                if (op->in[k]->storage == v->storage)
                    return true;
        }
    return false;
}

/* Returns which argument of a backward launch is a weight; -1: none, so that its op has a name of its
 * own. */
static int weight_of(const Labels *l, const Launch *launch) {
    for (int a = 0; is_backward(launch->ops[0]) && a < launch->arg_count; a++)
        if (!launch->written[a] && is_weight(launch->arg[a]))
            return is_embedded(l->plan, launch->arg[a]) ? -1 : a;
    return -1;
}

const char *with_range(Arena *arena, const char *name, const char *range) {
    const char *star = strchr(name, '*');
    return star ? arena_printf(arena, "%.*s%s%s", (int)(star - name), name, range, star + 1) : name;
}

/* The range of a launch that several layers share: "0_to_1". */
static const char *range_within(Arena *arena, const char *from, const char *to) {
    int begin, end;
    bool counts = counted_name(arena, from, to, &begin, &end);
    return counts ? arena_printf(arena, "%d_to_%d", begin, end) : "*";
}

static bool reads(const Launch *launch, const Value *v) {
    for (int a = 0; a < launch->arg_count; a++)
        if (launch->read[a] && value_overlaps(launch->arg[a], v))
            return true;
    return false;
}

/* Returns the launch of the run that names this one: itself, or, if it decodes a weight for another
 * module, the launch that reads this. A reference may read the model's weights. */
static int named_after(const Labels *l, const Run *run, int launch) {
    const Launch *launches = &l->entry->launches[run->first];
    const Op *op = launches[launch].ops[0];
    for (int i = launch + 1; op_is(op, TRAIT_DECODES) && i < run->length; i++)
        if (reads(&launches[i], op->out[0]))
            return in_one_module(op->name, launches[i].ops[0]->name) ? launch : i;
    return launch;
}

/* Returns the label of a launch of the run, without the container. */
static const char *label_of(const Labels *l, const Run *run, int launch) {
    const Launch *first = &l->entry->launches[run->first + named_after(l, run, launch)];
    const Launch *last = first + (run->times - 1) * run->stride;
    int weight = weight_of(l, first);
    const char *from = weight < 0 ? first->ops[0]->name : first->arg[weight]->name;
    const char *to = weight < 0 ? launch_last_op(last)->name : last->arg[weight]->name;
    const char *name = starred_name(l->arena, from, to);
    if (run->times == 1)
        name = with_range(l->arena, name, range_within(l->arena, from, to));
    else if (!strchr(name, '*') && strcmp(to, from) != 0) /* not numbered in each iteration */
        name = without_numbers(l->arena, first_number(from) ? from : to);
    const char *module = module_name(l->arena, name);
    size_t outer = strlen(l->container);
    return strncmp(module, l->container, outer) == 0 ? module + outer : module;
}

/* ---- groups ---------------------------------------------------------------------------------- */

bool mostly(const Labels *l, const Group *g, bool is(const Op *)) {
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += is(op_at(l, g->first + i));
    return 2 * count > g->count;
}

size_t common_of_group(const Labels *l, const Group *g) {
    const char *label = l->label[g->first];
    size_t common = strlen(label);
    for (int i = 1; i < g->count; i++) {
        size_t length = common_length(label, l->label[g->first + i]);
        common = length < common ? length : common;
    }
    return common;
}

Labels labels_of(Arena *arena, const Plan *plan, const PlanEntry *entry, const Rolled *rolled) {
    Labels l = {.arena = arena, .plan = plan, .entry = entry};
    l.label = arena_array(arena, (size_t)entry->launch_count + 1, sizeof *l.label);
    l.container = container_of(&l);
    while (l.first_backward < entry->launch_count && !is_backward(op_at(&l, l.first_backward)))
        l.first_backward++;
    for (int r = 0; r < rolled->count; r++) {
        const Run *run = &rolled->runs[r];
        for (int i = 0; i < run->length; i++)
            l.label[run->first + i] = label_of(&l, run, i);
    }
    return l;
}
