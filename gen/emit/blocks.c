/* Three steps: find repeated runs (roll.h); cut the launches between them where the module changes;
 * then join neighbours that are too small for a function of their own, and cut those that are too
 * long where their names have least in common.
 *
 * A launch belongs to the module that its first op is named after, up to the first number:
 * "features.3" for features.3.conv.0.1. */
#include "emit/blocks.h"

#include "base/dotted.h"
#include "emit/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Groups of up to FEW launches may be joined to a neighbour; a function has up to about
 * MOST_LINES. */
enum { FEW = 3, MOST_LINES = 80 };

/* Consecutive launches of one run. */
typedef struct {
    int first, count; /* in the run */
    size_t told;      /* its name must say more than the first `told` bytes of its labels */
} Group;

typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanEntry *entry;
    const char *container; /* "model." if modules are named model.layers.0 */
    int first_backward;    /* launch of the entry; launch_count: none */
    Run run;               /* being cut; */
    const char **label;    /* what each of its launches belongs to */
    Group *groups;
    int group_count;
    Blocks out;
} Cut;

static const Op *op_at(const Cut *c, int launch) {
    ENSURE(c->entry->launches[launch].op_count > 0, "a launch of no op in %s", c->entry->name);
    return c->entry->launches[launch].ops[0];
}

/* ---- labels: what launches belong to --------------------------------------------------------- */

static bool is_backward(const Op *op) { return op->phase == PHASE_BACKWARD; }

/* Length of the name without ".grad". */
static size_t length_without_grad(const char *name) {
    size_t length = strlen(name), end = strlen(".grad");
    return length > end && strcmp(name + length - end, ".grad") == 0 ? length - end : length;
}

/* Length of the label up to and including its first number; 0 if it has none. */
static size_t module_length(const char *label) {
    const char *number = first_number(label);
    return number ? (size_t)(number - label) + part_length(number) : 0;
}

static int parts_in(const char *label, size_t length) {
    int parts = length > 0;
    for (size_t i = 0; i < length; i++)
        parts += label[i] == '.';
    return parts;
}

/* Returns the container in the name of the entry's first numbered module. */
static const char *container_of(const Cut *c) {
    for (int i = 0; i < c->entry->launch_count; i++) {
        const char *name = op_at(c, i)->name, *number = first_number(name);
        if (number && number > name)
            return arena_strndup(c->arena, name, (size_t)(previous_part(name, number) - name));
    }
    return "";
}

static const Op *last_time(const Cut *c, const Run *run, int launch) {
    return launch_last_op(&c->entry->launches[run->first + launch + (run->times - 1) * run->stride]);
}

/* Returns "layers." for a repeated run that begins with layers.0.mlp. */
static const char *counted_module(const Cut *c, const Run *run) {
    const char *name =
        starred_name(c->arena, op_at(c, run->first)->name, last_time(c, run, 0)->name);
    return arena_strndup(c->arena, name, strcspn(name, "*"));
}

/* Whether another run of the entry counts the same modules in the same direction. */
static bool needs_range(const Cut *c, const Rolled *rolled, const Run *run) {
    for (int r = 0; r < rolled->count; r++) {
        const Run *other = &rolled->runs[r];
        if (other != run && other->times > 1 &&
            is_backward(op_at(c, other->first)) == is_backward(op_at(c, run->first)) &&
            strcmp(counted_module(c, other), counted_module(c, run)) == 0)
            return true;
    }
    return false;
}

/* Returns "8_to_10", the numbers of the run's first and last iteration; "*" if nothing is
 * counted. */
static const char *range_of(const Cut *c, const Run *run) {
    int from, to;
    for (int i = 0; i < run->length; i++)
        if (counted_name(c->arena, op_at(c, run->first + i)->name, last_time(c, run, i)->name,
                         &from, &to))
            return arena_printf(c->arena, "%d_to_%d", from, to);
    return "*";
}

/* Returns what a launch of the run belongs to: its op's name without the container and ".grad". */
static const char *label_of(const Cut *c, const Run *run, int launch, const char *range) {
    const Op *op = op_at(c, run->first + launch), *last = last_time(c, run, launch);
    const char *name = starred_name(c->arena, op->name, last->name), *star = strchr(name, '*');
    if (star)
        name = arena_printf(c->arena, "%.*s%s%s", (int)(star - name), name, range, star + 1);
    else if (run->times > 1 && strcmp(name, op->name) != 0) /* not numbered in each iteration */
        name = without_numbers(c->arena, name);
    size_t outer = strlen(c->container), length = length_without_grad(name);
    if (outer >= length || strncmp(name, c->container, outer) != 0)
        outer = 0;
    return arena_strndup(c->arena, name + outer, length - outer);
}

/* ---- lines of code --------------------------------------------------------------------------- */

/* Whether an earlier argument, from launch `first` on, has already declared this argument's
 * local. */
static bool is_declared(const Launch *first, int index, int arg) {
    const Value *v = first[index].arg[arg];
    for (int i = 0; i <= index; i++)
        for (int a = 0; a < (i < index ? first[i].arg_count : arg); a++)
            if (first[i].arg[a] == v)
                return true;
    return false;
}

/* Estimates the lines of these launches: each has a comment, declarations, a call and a blank
 * line. */
static int lines_of(const Launch *first, int count) {
    enum { LONG_NAME = 35 }; /* needs a second line */
    int lines = 0;
    for (int i = 0; i < count; i++) {
        lines += 3 + first[i].arg_count / 5;
        for (int a = 0; a < first[i].arg_count; a++)
            if (!is_declared(first, i, a))
                lines += 1 + (strlen(first[i].arg[a]->name) > LONG_NAME);
    }
    return lines;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool fits(const Cut *c, int first, int count) {
    return lines_of(&c->entry->launches[c->run.first + first], count) <= MOST_LINES;
}

static bool same_module(const char *a, const char *b) {
    size_t length = module_length(a);
    return length == module_length(b) && memcmp(a, b, length) == 0;
}

/* Whether `is` holds for the ops of most of the group's launches. */
static bool mostly(const Cut *c, const Group *g, bool is(const Op *)) {
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += is(op_at(c, c->run.first + g->first + i));
    return 2 * count > g->count;
}

/* Makes one group per module, with separate groups for the forward and the backward pass. */
static void cut_at_modules(Cut *c) {
    for (int i = 0, first = 0; i < c->run.length; i++)
        if (i + 1 == c->run.length || !same_module(c->label[i], c->label[i + 1]) ||
            c->run.first + i + 1 == c->first_backward) {
            c->groups[c->group_count++] = (Group){.first = first, .count = i + 1 - first};
            first = i + 1;
        }
}

static void join_small(Cut *c) {
    int kept = 0;
    for (int i = 1; i < c->group_count; i++) {
        Group *to = &c->groups[kept], *g = &c->groups[i];
        bool small = to->count <= FEW || g->count <= FEW;
        if (small && mostly(c, to, is_backward) == mostly(c, g, is_backward) &&
            fits(c, to->first, to->count + g->count)) {
            to->count += g->count;
            to->told = SIZE_MAX;
        } else {
            c->groups[++kept] = *g;
        }
    }
    c->group_count = kept + 1;
}

/* Returns where adjacent labels have least in common, as near to the middle as possible. */
static int best_cut(const Cut *c, const Group *g) {
    int best = 0, best_off = 0, least = 0;
    for (int i = g->count / 4 + 1; i <= g->count - g->count / 4 - 1; i++) {
        const char **label = &c->label[g->first + i];
        int common = parts_in(label[0], common_length(label[-1], label[0]));
        int off = abs(2 * i - g->count);
        if (best == 0 || common < least || (common == least && off < best_off)) {
            best = i;
            least = common;
            best_off = off;
        }
    }
    return best;
}

static size_t common_of_group(const Cut *c, const Group *g) {
    const char *label = c->label[g->first];
    size_t common = strlen(label);
    for (int i = 1; i < g->count; i++) {
        size_t length = common_length(label, c->label[g->first + i]);
        common = length < common ? length : common;
    }
    return common;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Whether all launches have the same label. */
static bool is_alike(const Cut *c, const Group *g, size_t common) {
    for (int i = 0; i < g->count; i++)
        if (strlen(c->label[g->first + i]) > common)
            return false;
    return true;
}

/* Returns what the first (or last) label longer than `common` has after it: a module or one
 * part. */
static const char *end_text(const Cut *c, const Group *g, size_t common, int step) {
    int i = step > 0 ? g->first : g->first + g->count - 1;
    while (strlen(c->label[i]) == common)
        i += step;
    const char *label = c->label[i];
    size_t start = common ? common + 1 : 0, module = module_length(label);
    size_t end = module > start ? module : start + part_length(label + start);
    return arena_strndup(c->arena, label + start, end - start);
}

/* "features.3", "layers.3.mlp", "fc_to_loss". */
static const char *subject(const Cut *c, const Group *g) {
    const char *label = c->label[g->first];
    size_t common = common_of_group(c, g), module = module_length(label);
    if (g->told == 0 && module > 0 && module <= common)
        return arena_strndup(c->arena, label, module);
    const char *shared = arena_strndup(c->arena, label, common);
    if (common > g->told || is_alike(c, g, common))
        return shared;
    const char *from = end_text(c, g, common, 1), *to = end_text(c, g, common, -1);
    const char *ends = strcmp(from, to) == 0 ? from : arena_printf(c->arena, "%s_to_%s", from, to);
    return common ? arena_printf(c->arena, "%s.%s", shared, ends) : ends;
}

static bool is_recomputed(const Op *op) { return op->phase == PHASE_RECOMPUTE; }

/* Returns "forward", "backward" or "recompute"; the entry's name if nothing in it is backward. */
static const char *course(const Cut *c, const Group *g) {
    bool backward = c->entry == &c->plan->entry[ENTRY_BACKWARD];
    if (c->first_backward == c->entry->launch_count)
        return c->entry->name;
    if (mostly(c, g, is_recomputed))
        return "recompute";
    bool behind = c->run.first + g->first > c->first_backward;
    return backward || behind || mostly(c, g, is_backward) ? "backward" : "forward";
}

static bool is_taken(const Cut *c, const char *function) {
    for (int i = 0; i < c->out.count; i++)
        if (strcmp(c->out.blocks[i].function, function) == 0)
            return true;
    return false;
}

/* Returns the text as an identifier, without stars. */
static char *identifier(Arena *arena, const char *text) {
    char *name = arena_strdup(arena, text), *to = name;
    for (const char *from = text; *from; from++)
        if (from[0] == '.' && from[1] == '*')
            from++;
        else
            *to++ = isalnum((unsigned char)*from) ? *from : '_';
    *to = '\0';
    return name;
}

static const char *function_name(const Cut *c, const Group *g) {
    const char *what = subject(c, g);
    const char *letter = isdigit((unsigned char)*what) ? "module_" : "";
    bool early = c->entry == &c->plan->entry[ENTRY_EARLY_MICRO_STEP]; /* like micro_step */
    const char *name = identifier(
        c->arena,
        arena_printf(c->arena, "%s%s_%s%s", letter, what, early ? "early_" : "", course(c, g)));
    const char *unique = name;
    for (int n = 2; is_taken(c, unique); n++)
        unique = arena_printf(c->arena, "%s_%d", name, n);
    return unique;
}

/* Splits the group until each part fits. */
static void add_blocks(Cut *c, Group g, int loop) {
    if (g.count > 1 && !fits(c, g.first, g.count)) {
        size_t common = common_of_group(c, &g), told = common > g.told ? common : g.told;
        int cut = best_cut(c, &g);
        add_blocks(c, (Group){g.first, cut, told}, loop);
        add_blocks(c, (Group){g.first + cut, g.count - cut, told}, loop);
        return;
    }
    Run run = {c->run.first + g.first, g.count, c->run.times, c->run.stride};
    const char *name = function_name(c, &g);
    c->out.blocks[c->out.count++] =
        (Block){name, pointers_of(c->arena, c->plan, c->entry, run), loop};
}

static void cut_run(Cut *c, const Rolled *rolled, int loop) {
    const Run run = c->run = rolled->runs[loop];
    const char *range = needs_range(c, rolled, &rolled->runs[loop]) ? range_of(c, &run) : "*";
    for (int i = 0; i < run.length; i++)
        c->label[i] = label_of(c, &run, i, range);
    if (run.times > 1) {
        add_blocks(c, (Group){.count = run.length}, loop);
        return;
    }
    c->group_count = 0;
    cut_at_modules(c);
    join_small(c);
    for (int i = 0; i < c->group_count; i++)
        add_blocks(c, c->groups[i], loop);
}

Blocks blocks_of(Arena *arena, const Plan *plan, const PlanEntry *entry) {
    size_t room = (size_t)entry->launch_count + 1;
    Cut c = {.arena = arena, .plan = plan, .entry = entry};
    c.label = arena_array(arena, room, sizeof *c.label);
    c.groups = arena_array(arena, room, sizeof *c.groups);
    c.out.blocks = arena_array(arena, room, sizeof *c.out.blocks);
    c.container = container_of(&c);
    while (c.first_backward < entry->launch_count && !is_backward(op_at(&c, c.first_backward)))
        c.first_backward++;
    Rolled rolled = roll_entry(arena, entry);
    for (int r = 0; r < rolled.count; r++)
        cut_run(&c, &rolled, r);
    return c.out;
}
