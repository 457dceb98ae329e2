/* A launch is similar to a launch of a loop if the names of their ops differ only in a number, and
 * that number is the one before or after those of the loop. It may still run another kernel (the
 * sum at the end of the last layer is followed by another norm), and the loop may have more
 * launches (the input of the first layer needs no gradient). */
#include "emit/apart.h"

#include "base/dotted.h"
#include "emit/names.h"

#include <string.h>

/* Consecutive launches of the entry; of a loop, those of its first iteration. */
typedef struct {
    const Launch *launches;
    int count, last; /* launches from the first iteration to the last */
} Span;

typedef struct {
    Arena *arena;
    const Plan *plan;
    Span here, loop;
} Apart;

static const char *name_of(const Launch *launch) { return launch->ops[0]->name; }

/* ---- similar launches ----------------------------------------------------------------------- */

static bool is_next(int number, int from, int to) {
    int step = to > from ? 1 : -1;
    return number == to + step || number == from - step;
}

/* "layers.*.mlp.act" for a launch of the loop, and its first and last number; NULL if it has
 * none. */
static const char *counted(const Apart *a, int in_loop, int *from, int *to) {
    const Launch *first = &a->loop.launches[in_loop];
    return counted_name(a->arena, name_of(first), name_of(first + a->loop.last), from, to);
}

/* Returns which of the launches with this name it is: 1 for the first. */
static int number_of(const Span *span, int index) {
    int number = 0;
    for (int i = 0; i < index; i++)
        number += !strcmp(name_of(&span->launches[i]), name_of(&span->launches[index]));
    return number;
}

static bool is_like(const Apart *a, int here, int in_loop) {
    const Launch *one = &a->here.launches[here], *other = &a->loop.launches[in_loop];
    int number, from, to, any;
    if (one->ops[0]->phase != other->ops[0]->phase ||
        !same_part(name_last_part(name_of(one)), name_last_part(name_of(other))) ||
        number_of(&a->here, here) != number_of(&a->loop, in_loop))
        return false;
    const char *pattern = counted(a, in_loop, &from, &to);
    const char *shared = counted_name(a->arena, name_of(one), name_of(other), &number, &any);
    return pattern && shared && !strcmp(pattern, shared) && is_next(number, from, to);
}

static int like_in_loop(const Apart *a, int here) {
    int i = 0;
    while (i < a->loop.count && !is_like(a, here, i))
        i++;
    return i < a->loop.count ? i : -1;
}

static bool is_here(const Apart *a, int in_loop) {
    for (int i = 0; i < a->here.count; i++)
        if (is_like(a, i, in_loop))
            return true;
    return false;
}

static int count_alike(const Apart *a, int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++)
        count += like_in_loop(a, i) >= 0;
    return count;
}

/* ---- differences ---------------------------------------------------------------------------- */

/* The last such launch, because what follows a layer tells more than what precedes it. */
static const char *only_in_loop(const Apart *a) {
    int from, to;
    for (int i = a->loop.count - 1; i >= 0; i--) {
        const char *pattern = counted(a, i, &from, &to);
        if (pattern && !is_here(a, i))
            return arena_printf(a->arena, "which also launches %s", pattern);
    }
    return NULL;
}

/* In lines of at most PAGE columns. */
static const char *kernels_text(const Apart *a, const char *op, const char *there,
                                const char *here) {
    bool fits = strlen(there) + strlen(here) + 18 <= PAGE;
    return arena_printf(a->arena, "where %s is done by\n     * %s,%s%s", op, there,
                        fits ? " here " : "\n     * here ", here);
}

static const char *other_kernel(const Apart *a) {
    int from, to;
    for (int i = 0; i < a->here.count; i++) {
        int like = like_in_loop(a, i);
        const Launch *here = &a->here.launches[i], *there = &a->loop.launches[like < 0 ? 0 : like];
        if (like >= 0 && (here->kind != there->kind || here->index != there->index))
            return kernels_text(a, counted(a, like, &from, &to), launch_name(a->plan, there),
                                launch_name(a->plan, here));
    }
    return NULL;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static bool is_loop(const Blocks *blocks, int b) {
    return b >= 0 && b < blocks->count && blocks->blocks[b].pointers.run.times > 1;
}

/* The launches of blocks [from, to): all blocks between two loops, or those of one loop. */
static Span span_of(const PlanEntry *entry, const Blocks *blocks, int from, int to) {
    const Run *run = &blocks->blocks[from].pointers.run;
    Span span = {&entry->launches[run->first], 0, (run->times - 1) * run->stride};
    for (int b = from; b < to; b++)
        span.count += blocks->blocks[b].pointers.run.length;
    return span;
}

static bool same_loop(const Blocks *blocks, int a, int b) {
    return is_loop(blocks, a) && is_loop(blocks, b) &&
           blocks->blocks[a].loop == blocks->blocks[b].loop;
}

/* The loop that contains the block. */
static Span loop_at(const PlanEntry *entry, const Blocks *blocks, int b) {
    int from = b, to = b + 1;
    while (same_loop(blocks, from - 1, b))
        from--;
    while (same_loop(blocks, to, b))
        to++;
    return span_of(entry, blocks, from, to);
}

const char *apart_text(Arena *arena, const Plan *plan, const PlanEntry *entry, const Blocks *blocks,
                       int first) {
    int from = first, to = first, before = 0;
    if (is_loop(blocks, first))
        return NULL;
    for (; from > 0 && !is_loop(blocks, from - 1); from--)
        before += blocks->blocks[from - 1].pointers.run.length;
    while (to < blocks->count && !is_loop(blocks, to))
        to++;
    Apart a = {.arena = arena, .plan = plan, .here = span_of(entry, blocks, from, to)};
    int behind = before + blocks->blocks[first].pointers.run.length, loops[] = {from - 1, to};
    for (int i = 0; i < 2; i++) {
        if (!is_loop(blocks, loops[i]))
            continue;
        a.loop = loop_at(entry, blocks, loops[i]);
        /* If a loop begins in the middle of a layer, half a layer remains outside. */
        bool layer = 2 * count_alike(&a, 0, a.here.count) > a.loop.count;
        if (layer && !count_alike(&a, 0, before) && count_alike(&a, before, behind)) {
            const char *only = only_in_loop(&a);
            return only ? only : other_kernel(&a);
        }
    }
    return NULL;
}
