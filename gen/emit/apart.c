/* A launch is similar to a launch of a loop if the names of their ops differ only in a number, and
 * that number is the one before or after those of the loop. It may still run another kernel (the
 * sum at the end of the last layer is followed by another norm) or be on another stream, and the
 * loop may have more launches (the input of the first layer needs no gradient) or fewer. */
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
    const PlanEntry *entry;
    Span here, loop;
    bool precedes; /* `here` precedes the loop */
    int differing; /* launches that differ */
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

/* How many launches before it have its name. */
static int same_named_before(const Span *span, int index) {
    int count = 0;
    for (int i = 0; i < index; i++)
        count += !strcmp(name_of(&span->launches[i]), name_of(&span->launches[index]));
    return count;
}

static bool is_like(const Apart *a, int here, int in_loop) {
    const Launch *one = &a->here.launches[here], *other = &a->loop.launches[in_loop];
    int number, from, to, any;
    size_t at, counted_at;
    return one->ops[0]->phase == other->ops[0]->phase &&
           same_part(name_last_part(name_of(one)), name_last_part(name_of(other))) &&
           differ_in_number(name_of(one), name_of(other), &at, &number, &any) &&
           differ_in_number(name_of(other), name_of(other + a->loop.last), &counted_at, &from, &to) &&
           at == counted_at && is_next(number, from, to) &&
           same_named_before(&a->here, here) == same_named_before(&a->loop, in_loop);
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

/* The number of the layer: that of its launches that are like one in the loop. */
static int layer_number(const Apart *a) {
    int i = 0, number = 0, any;
    while (i < a->here.count && like_in_loop(a, i) < 0)
        i++;
    if (i < a->here.count)
        counted_name(a->arena, name_of(&a->here.launches[i]),
                     name_of(&a->loop.launches[like_in_loop(a, i)]), &number, &any);
    return number;
}

static const char *which(const Apart *a, const char *does, const char *launch) {
    const char *text = arena_printf(a->arena, "which %s %s", does, launch);
    if (a->differing < 2)
        return text;
    bool fits = strlen("    /* Not in the loop, , among others. */") + strlen(text) <= PAGE;
    return arena_printf(a->arena, "%s,%samong others", text, fits ? " " : "\n     * ");
}

/* The pattern of a launch that the loop has and the layer has not; NULL: it has. If the loop begins in
 * the middle of this layer, it contains the others. */
static const char *missing_here(const Apart *a, int in_loop, int layer) {
    int from, to;
    const char *pattern = counted(a, in_loop, &from, &to);
    return pattern && is_next(layer, from, to) && !is_here(a, in_loop) ? pattern : NULL;
}

/* The last such launch, because what follows a layer tells more than what precedes it. */
static const char *only_in_loop(const Apart *a) {
    int layer = layer_number(a);
    for (int i = a->loop.count - 1; i >= 0; i--) {
        const char *pattern = missing_here(a, i, layer);
        if (pattern)
            return which(a, "also launches", pattern);
    }
    return NULL;
}

/* Then the loop contains some of this layer's launches. */
static const char *begins_in_a_layer(const Apart *a) {
    int from, to, layer = layer_number(a);
    for (int i = 0; i < a->loop.count; i++)
        if (counted(a, i, &from, &to) && (layer == from || layer == to))
            return "which begins in the middle of a layer";
    return NULL;
}

/* The last launch between the layer and the loop, or within the layer, that the loop does not have;
 * also counts these. */
static const char *last_only_here(const Apart *a, int *count) {
    const char *extra = NULL, *found = NULL;
    int extras = 0;
    *count = 0;
    for (int k = 0; k < a->here.count; k++) {
        int i = a->precedes ? a->here.count - 1 - k : k;
        if (like_in_loop(a, i) >= 0) {
            found = extra;
            *count = extras;
        } else {
            extra = name_of(&a->here.launches[i]);
            extras++;
        }
    }
    return found;
}

static const char *only_here(const Apart *a) {
    int count;
    const char *found = last_only_here(a, &count);
    return found ? which(a, "does not launch", found) : NULL;
}

/* What the op does in the loop and here, in lines of at most PAGE columns. */
static const char *contrast(const Apart *a, const char *op, const char *does, const char *there,
                            const char *here) {
    bool fits = strlen("     * , here . */") + strlen(there) + strlen(here) <= PAGE;
    return arena_printf(a->arena, "where%s %s %s\n     * %s,%s%s",
                        a->differing > 1 ? ", among others," : "", op, does, there,
                        fits ? " here " : "\n     * here ", here);
}

/* How the same work is done in the loop and here; NULL if the two do not differ in that respect. */
typedef const char *Difference(const Apart *, const char *op, const Launch *there,
                               const Launch *here);

static const char *other_kernel(const Apart *a, const char *op, const Launch *there,
                                const Launch *here) {
    if (here->kind == there->kind && here->index == there->index)
        return NULL;
    return contrast(a, op, "is done by", launch_name(a->plan, there),
                    arena_printf(a->arena, "by %s", launch_name(a->plan, here)));
}

static const char *stream_text(int stream) {
    static const char *const names[] = {[STREAM_COMPUTE] = "the compute stream",
                                        [STREAM_COMMUNICATION] = "the communication stream",
                                        [STREAM_SIDE] = "the side stream"};
    return names[stream];
}

static const char *other_stream(const Apart *a, const char *op, const Launch *there,
                                const Launch *here) {
    if (here->stream == there->stream)
        return NULL;
    return contrast(a, op, "runs on", stream_text(there->stream),
                    arena_printf(a->arena, "on %s", stream_text(here->stream)));
}

static const char *awaited_text(const Apart *a, const Launch *launch) {
    const char *text = launch->forks ? stream_text(STREAM_COMPUTE) : NULL;
    for (int w = 0; w < launch->wait_count; w++) {
        const char *stream = stream_text(a->entry->launches[launch->wait[w]].stream);
        text = text ? arena_printf(a->arena, "%s and %s", text, stream) : stream;
    }
    return text ? text : "no other stream";
}

static const char *other_waits(const Apart *a, const char *op, const Launch *there,
                               const Launch *here) {
    const char *awaited_there = awaited_text(a, there), *awaited_here = awaited_text(a, here);
    if (!strcmp(awaited_there, awaited_here))
        return NULL;
    return contrast(a, op, "waits for", awaited_there,
                    arena_printf(a->arena, "for %s", awaited_here));
}

/* The first such difference between launches here and those that they are like. */
static const char *first_difference(const Apart *a, Difference *difference) {
    const char *text = NULL;
    int from, to;
    for (int i = 0; i < a->here.count && !text; i++) {
        int like = like_in_loop(a, i);
        if (like >= 0)
            text = difference(a, counted(a, like, &from, &to), &a->loop.launches[like],
                              &a->here.launches[i]);
    }
    return text;
}

static Difference *const differences[] = {other_kernel, other_stream, other_waits};
enum { DIFFERENCES = sizeof differences / sizeof *differences };

static bool differs(const Apart *a, int here, int like) {
    for (int d = 0; d < DIFFERENCES; d++)
        if (differences[d](a, "", &a->loop.launches[like], &a->here.launches[here]))
            return true;
    return false;
}

static int count_differing(const Apart *a) {
    int count, layer = layer_number(a);
    last_only_here(a, &count);
    for (int i = 0; i < a->loop.count; i++)
        count += missing_here(a, i, layer) != NULL;
    for (int i = 0; i < a->here.count; i++) {
        int like = like_in_loop(a, i);
        count += like >= 0 && differs(a, i, like);
    }
    return count;
}

/* The differences that tell most come first; the others may only follow from them. */
static const char *how_it_differs(Apart *a) {
    a->differing = count_differing(a);
    const char *text = only_in_loop(a);
    for (int d = 0; !text && d < DIFFERENCES; d++)
        text = first_difference(a, differences[d]);
    if (!text)
        text = only_here(a);
    return text ? text : begins_in_a_layer(a);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static bool is_loop(const Blocks *blocks, int b) {
    return b >= 0 && b < blocks->count && blocks->blocks[b].times > 1;
}

/* The launches of blocks [from, to): all blocks between two loops, or those of one loop. */
static Span span_of(const PlanEntry *entry, const Blocks *blocks, int from, int to) {
    const Block *block = &blocks->blocks[from];
    const Run *run = &block->pointers.run;
    Span span = {&entry->launches[run->first], 0, (block->times - 1) * run->stride};
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
    Apart a = {
        .arena = arena, .plan = plan, .entry = entry, .here = span_of(entry, blocks, from, to)};
    int behind = before + blocks->blocks[first].pointers.run.length, loops[] = {from - 1, to};
    for (int i = 0; i < 2; i++) {
        if (!is_loop(blocks, loops[i]))
            continue;
        a.loop = loop_at(entry, blocks, loops[i]);
        a.precedes = i == 1;
        /* If a loop begins in the middle of a layer, half a layer remains outside. */
        bool layer = 2 * count_alike(&a, 0, a.here.count) > a.loop.count;
        if (layer && !count_alike(&a, 0, before) && count_alike(&a, before, behind))
            return how_it_differs(&a);
    }
    return NULL;
}
