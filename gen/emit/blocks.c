/* Three steps: find repeated runs (roll.h); cut the launches between them where the module changes
 * (labels.h), and join neighbours that are too small for a function of their own; then cut what is
 * too long. Launches after a loop that are like one more iteration call its functions. */
#include "emit/blocks.h"

#include "base/dotted.h"
#include "emit/block_names.h"
#include "emit/labels.h"

#include <string.h>

/* Groups of up to FEW launches may be joined to a neighbour; a function has up to about
 * MOST_LINES. */
enum { FEW = 3, MOST_LINES = 80 };

typedef struct {
    Labels labels;
    Group *groups; /* of the run being cut */
    int group_count;
    Group *of_block; /* the launches of each block */
    Blocks out;
    const int *ids; /* see roll.h */
    int (*previous)[MAX_PARAMS]; /* by argument: the last launch so far with the value; -1: none */
    int edge; /* of a loop: the launch before which one more iteration, after the loop, ends; or -1 */
} Cut;

/* ---- lines of code --------------------------------------------------------------------------- */

static void find_previous(Cut *c) {
    const PlanEntry *entry = c->labels.entry;
    Arena scratch = {0};
    /* By value: 1 + the last launch so far that has it; 0: none. */
    int *seen = arena_array(&scratch, (size_t)c->labels.plan->program->value_count, sizeof *seen);
    c->previous = arena_array(c->labels.arena, (size_t)entry->launch_count, sizeof *c->previous);
    for (int i = 0; i < entry->launch_count; i++)
        for (int a = 0; a < entry->launches[i].arg_count; a++) {
            int *of_value = &seen[entry->launches[i].arg[a]->id];
            c->previous[i][a] = *of_value - 1;
            *of_value = i + 1;
        }
    arena_free(&scratch);
}

/* Estimates the lines of these launches: each has a comment, declarations, a call and a blank
 * line. A value that an earlier one of them has is declared already. */
static int lines_of(const Cut *c, int first, int count) {
    enum { LONG_NAME = 35 }; /* needs a second line */
    int lines = 0;
    for (int i = first; i < first + count; i++) {
        const Launch *launch = &c->labels.entry->launches[i];
        lines += 3 + launch->arg_count / 5;
        for (int a = 0; a < launch->arg_count; a++)
            if (c->previous[i][a] < first)
                lines += 1 + (strlen(launch->arg[a]->name) > LONG_NAME);
    }
    return lines;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Makes one group per module, with separate groups for the forward and the backward pass. */
static void cut_at_modules(Cut *c, const Run *run, bool whole) {
    for (int i = run->first, first = i, end = i + run->length; i < end; i++)
        if (i + 1 == end || !in_one_module(c->labels.label[i], c->labels.label[i + 1]) ||
            i + 1 == c->labels.first_backward) {
            c->groups[c->group_count++] = (Group){first, i + 1 - first, whole};
            first = i + 1;
        }
}

/* What is left of a module, after calls of a loop's functions, stays apart. */
static void join_small(Cut *c, bool begins_apart) {
    int kept = begins_apart && c->group_count > 1;
    for (int i = kept + 1; i < c->group_count; i++) {
        Group *to = &c->groups[kept], *g = &c->groups[i];
        bool small = to->count <= FEW || g->count <= FEW;
        int lines = lines_of(c, to->first, to->count + g->count);
        if (small && mostly(&c->labels, to, is_backward) == mostly(&c->labels, g, is_backward) &&
            lines <= MOST_LINES) {
            to->count += g->count;
            to->whole = false;
        } else {
            c->groups[++kept] = *g;
        }
    }
    c->group_count = kept + 1;
}

/* ---- one more iteration ---------------------------------------------------------------------- */

static const char *name_at(const Cut *c, int launch) {
    return c->labels.entry->launches[launch].ops[0]->name;
}

/* Whether the op's name continues the count: layers.15.mlp.act after those of layers 0 to 14. */
static bool continues_count(const Cut *c, const char *first, const char *last, const char *next) {
    int from, to, now;
    const char *pattern = counted_name(c->labels.arena, first, last, &from, &to);
    const char *longer = counted_name(c->labels.arena, first, next, &from, &now);
    if (!pattern || !longer)
        return !strcmp(first, last) && !strcmp(last, next);
    return !strcmp(pattern, longer) && now - to == (to > from ? 1 : -1);
}

/* Returns how many launches from `at` on, of which there are `room`, are like those of one more
 * iteration. */
static int continued(const Cut *c, const Run *run, int at, int room) {
    int count = 0;
    for (; count < run->length && count < room; count++) {
        int first = run->first + count, last = first + (run->times - 1) * run->stride;
        if (c->ids[first] != c->ids[at + count] ||
            !continues_count(c, name_at(c, first), name_at(c, last), name_at(c, at + count)))
            break;
    }
    return count;
}

static int odd_count(const Pointers *p) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += p->pointers[i].odd >= 0;
    return count;
}

/* Whether one more iteration makes no addresses harder to describe. */
static bool stays_plain(const Pointers *before, const Pointers *after) {
    return after->count == before->count && after->column_count == before->column_count &&
           after->varying_count == before->varying_count && odd_count(after) <= odd_count(before);
}

/* The loop's pointers, with one more iteration; NULL if that makes addresses harder to describe. */
static const Pointers *pointers_once_more(const Cut *c, Run run, const Pointers *before) {
    Pointers *after = arena_alloc(c->labels.arena, sizeof *after);
    run.times++;
    *after = pointers_of(c->labels.arena, c->labels.plan, c->labels.entry, run);
    return stays_plain(before, after) ? after : NULL;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* What cuts cost, in lines that a function is too long: a function more; for each buffer that both
 * sides of a cut use; the same within a part of the module, such as layers.0.self_attn, with the
 * cut itself for each level of parts; and a cut between ops of one kind, such as the gradients of q,
 * k and v. */
enum {
    FUNCTION_COST = 15,
    BUFFER_COST = 3,
    PART_COST = 20,
    BUFFER_IN_PART_COST = 8,
    SERIES_COST = 10
};

static bool touches(const Launch *launch, const Storage *storage) {
    for (int a = 0; a < launch->arg_count; a++)
        if (launch->arg[a]->storage == storage)
            return true;
    return false;
}

/* Whether a launch of [from, to) does. */
static bool any_touches(const Cut *c, int from, int to, const Storage *storage) {
    for (int i = from; i < to; i++)
        if (touches(&c->labels.entry->launches[i], storage))
            return true;
    return false;
}

/* How many buffers of the entry are used both before the launch and from it on. */
static int buffers_across(const Cut *c, const Group *g, int at) {
    int count = 0, end = g->first + g->count;
    for (int i = g->first; i < at; i++)
        for (int a = 0; a < c->labels.entry->launches[i].arg_count; a++) {
            const Storage *storage = c->labels.entry->launches[i].arg[a]->storage;
            count += !role_persistent(storage->role) && storage->role != ROLE_INPUT &&
                     !any_touches(c, i + 1, at, storage) && any_touches(c, at, end, storage);
        }
    return count;
}

static int parts_in(const char *label, size_t length) {
    int parts = length > 0;
    for (size_t i = 0; i < length; i++)
        parts += label[i] == '.';
    return parts;
}

static int cut_cost(const Cut *c, const Group *g, int at) {
    const char *before = c->labels.label[at - 1], *label = c->labels.label[at];
    size_t all = common_of_group(&c->labels, g), module = label_module(label);
    size_t common = common_length(before, label), free = all > module ? all : module;
    int parts = common > free ? parts_in(label, common) - parts_in(label, free) : 0;
    int each = parts ? BUFFER_IN_PART_COST : BUFFER_COST;
    const Launch *launch = &c->labels.entry->launches[at];
    bool in_series = launch[-1].ops[0]->kind == launch->ops[0]->kind;
    return PART_COST * parts + each * buffers_across(c, g, at) + SERIES_COST * in_series;
}

static int function_cost(const Cut *c, int first, int count) {
    int lines = lines_of(c, first, count);
    bool too_long = count > 1 && lines > MOST_LINES;
    return FUNCTION_COST + (too_long ? lines - MOST_LINES : 0);
}

static void add_block(Cut *c, Group g, const Run *run, int loop) {
    Run part = {g.first, g.count, run->times, run->stride};
    c->of_block[c->out.count] = g;
    c->out.blocks[c->out.count++] =
        (Block){.pointers = pointers_of(c->labels.arena, c->labels.plan, c->labels.entry, part),
                .loop = loop,
                .times = run->times,
                .called = -1};
}

/* Whether a function that one more iteration ends within is cut there. What precedes is most of it,
 * and would be written twice. */
static bool cut_at_edge(const Cut *c, const Group *part) {
    int before = c->edge - part->first;
    return before < part->count && 3 * before > 2 * part->count &&
           lines_of(c, part->first, before) > FUNCTION_COST + cut_cost(c, part, c->edge);
}

static void add_part(Cut *c, Group part, const Run *run, int loop) {
    if (cut_at_edge(c, &part)) {
        int before = c->edge - part.first;
        add_block(c, (Group){part.first, before, false}, run, loop);
        part = (Group){c->edge, part.count - before, false};
    }
    add_block(c, part, run, loop);
}

/* Adds the functions of the first `count` launches; from[i]: where the last one of i begins. */
static void add_parts(Cut *c, const Group *g, const int *from, int count, const Run *run,
                      int loop) {
    if (count == 0)
        return;
    add_parts(c, g, from, from[count], run, loop);
    int first = from[count];
    add_part(c, (Group){g->first + first, count - first, g->whole && count - first == g->count},
             run, loop);
}

/* Cuts the group so that all costs are least. Of the functions that its first i launches become,
 * least[i] is the cost, and from[i] where the last one begins. */
static void add_blocks(Cut *c, Group g, const Run *run, int loop) {
    int *least = arena_array(c->labels.arena, (size_t)g.count + 1, sizeof *least);
    int *from = arena_array(c->labels.arena, (size_t)g.count + 1, sizeof *from);
    int *cut = arena_array(c->labels.arena, (size_t)g.count + 1, sizeof *cut);
    bool fits = function_cost(c, g.first, g.count) == FUNCTION_COST;
    for (int i = 1; !fits && i < g.count; i++)
        cut[i] = cut_cost(c, &g, g.first + i);
    from[g.count] = 0;
    for (int i = 1; !fits && i <= g.count; i++)
        for (int k = i - 1; k >= 0; k--) {
            int own = function_cost(c, g.first + k, i - k);
            if (k < i - 1 && own >= least[i])
                break; /* a longer function costs no less */
            if (k == i - 1 || least[k] + cut[k] + own < least[i]) {
                least[i] = least[k] + cut[k] + own;
                from[i] = k;
            }
        }
    add_parts(c, &g, from, g.count, run, loop);
}

/* ---- calls after a loop ----------------------------------------------------------------------- */

/* If the launches from `at` on, of which there are `room`, are like one more iteration of the block,
 * they call its function. Returns how many. */
static int call_once_more(Cut *c, int block, int at, int room) {
    Block *b = &c->out.blocks[block];
    const Run run = b->pointers.run;
    if (run.times == 1 || continued(c, &run, at, room) < run.length)
        return 0;
    const Pointers *after = pointers_once_more(c, run, &b->pointers);
    if (!after)
        return 0;
    b->pointers = *after;
    const Run once = {at, run.length, 1, run.length};
    add_block(c, (Group){at, run.length, false}, &once, -1);
    c->out.blocks[c->out.count - 1].called = block;
    return run.length;
}

/* After a loop, calls its functions once more for as long as the launches are alike. Blocks from
 * `first` on are the loop's. Returns the launches that are left. */
static Run call_loop_once_more(Cut *c, int first, Run rest) {
    for (int b = first, end = c->out.count; b < end && rest.length > 0; b++) {
        int count = call_once_more(c, b, rest.first, rest.length);
        if (!count)
            break;
        rest.first += count;
        rest.length -= count;
    }
    return rest;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* `whole`: no launches before these call functions of a loop. */
static void cut_run(Cut *c, const Run *run, int loop, bool whole) {
    if (run->times > 1) {
        add_blocks(c, (Group){run->first, run->length, true}, run, loop);
        return;
    }
    c->group_count = 0;
    cut_at_modules(c, run, whole);
    join_small(c, !whole);
    for (int i = 0; i < c->group_count; i++)
        add_blocks(c, c->groups[i], run, loop);
}

/* Returns the loop's launch from which on the next run is not like one more iteration; -1 if it is not
 * even at first, or all through. */
static int edge_of(const Cut *c, const Run *loop, const Run *next) {
    Run common = *loop;
    common.length = next->times == 1 ? continued(c, loop, next->first, next->length) : 0;
    if (common.length == 0 || common.length == loop->length)
        return -1;
    Pointers before = pointers_of(c->labels.arena, c->labels.plan, c->labels.entry, common);
    return pointers_once_more(c, common, &before) ? loop->first + common.length : -1;
}

Blocks blocks_of(Arena *arena, const Plan *plan, const PlanEntry *entry) {
    size_t room = (size_t)entry->launch_count + 1;
    Rolled rolled = roll_entry(arena, entry);
    Cut c = {.labels = labels_of(arena, plan, entry, &rolled), .ids = rolled.ids};
    find_previous(&c);
    c.groups = arena_array(arena, room, sizeof *c.groups);
    c.of_block = arena_array(arena, room, sizeof *c.of_block);
    c.out.blocks = arena_array(arena, room, sizeof *c.out.blocks);
    for (int r = 0, of_loop = 0; r < rolled.count; r++) {
        Run run = rolled.runs[r];
        if (run.times == 1)
            run = call_loop_once_more(&c, of_loop, run);
        of_loop = c.out.count;
        bool more = run.times > 1 && r + 1 < rolled.count;
        c.edge = more ? edge_of(&c, &run, &rolled.runs[r + 1]) : -1;
        if (run.length > 0)
            cut_run(&c, &run, r, run.length == rolled.runs[r].length);
    }
    name_blocks(&c.labels, c.of_block, &c.out);
    return c.out;
}
