/* Two arguments share a local if they are the same matrix of the same storage in every iteration.
 * [x|u] and x start at the same address, but are different matrices. A dense matrix is the same in
 * every shape. */
#include "emit/pointers.h"

#include "base/dotted.h"
#include "emit/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanEntry *entry;
    Pointers *out;
    int *next_in_bucket, bucket[256];
} Collect;

static const Value *value_of(const Collect *c, int launch, int arg, int time) {
    const Run *run = &c->out->run;
    const Launch *l = &c->entry->launches[run->first + time * run->stride + launch];
    return arg < MAX_PARAMS ? l->arg[arg] : l->observed;
}

static int64_t start_of(const Collect *c, const Value *v) { return plan_place(c->plan, v).offset; }

static bool same_matrix(const Value *a, const Value *b) {
    bool reshaped = value_dense(a) && value_dense(b) && a->storage == b->storage &&
                    a->dtype == b->dtype && a->offset == b->offset &&
                    value_elements(a) == value_elements(b);
    return reshaped || value_same_view(a, b);
}

static bool is_pointer(const Collect *c, const Pointer *pointer, int launch, int arg) {
    for (int t = 0; t < c->out->run.times; t++)
        if (!same_matrix(pointer->values[t], value_of(c, launch, arg, t)))
            return false;
    return true;
}

static bool same_places(const Collect *c, const Value *const *a, const Value *const *b) {
    for (int t = 0; t < c->out->run.times; t++)
        if (a[t]->storage != b[t]->storage || value_begin(a[t]) != value_begin(b[t]))
            return false;
    return true;
}

static void find_column(const Collect *c, Pointer *pointer) {
    Pointers *out = c->out;
    for (int i = 0; i < out->column_count; i++)
        if (same_places(c, out->columns[i].values, pointer->values)) {
            pointer->column = i;
            if (value_elements(pointer->values[0]) > value_elements(out->columns[i].values[0]))
                out->columns[i].values = pointer->values; /* named after the largest value */
            return;
        }
    pointer->column = out->column_count;
    out->columns[out->column_count++] = (Column){.values = pointer->values};
}

int pointer_begin(const Pointer *pointer) { return pointer->odd == 0; }

int pointer_last(const Pointer *pointer, int times) {
    return times - 1 - (pointer->odd == times - 1);
}

int number_at(Count count, int time) { return count.number + time * count.direction; }

const char *count_text(Arena *arena, Count count, const Index *index) {
    int sign = count.direction * index->count.direction;
    int constant = count.number - sign * index->count.number;
    if (sign < 0)
        return arena_printf(arena, "%d - %s", constant, index->name);
    if (constant == 0)
        return index->name;
    return arena_printf(arena, "%s %c %d", index->name, constant < 0 ? '-' : '+', abs(constant));
}

/* The value's name, or its storage's if the value fills it, so that one place has one name. */
static const char *place_name(const Value *v) {
    return value_fills(v) ? v->storage->name : v->name;
}

/* Whether two names differ only in a number, which begins at *at, by one. */
static bool is_next(const char *name, const char *next, size_t *at, Count *count) {
    int before, now;
    if (!differ_in_number(name, next, at, &before, &now) || abs(now - before) != 1)
        return false;
    *count = (Count){before, now - before};
    return true;
}

/* Whether the values' names count up or down, except for the odd one. */
static bool is_counted(const Collect *c, Pointer *pointer) {
    int begin = pointer_begin(pointer), last = pointer_last(pointer, c->out->run.times);
    size_t star = 0, at;
    for (int t = begin; t < last; t++) {
        const char *name = place_name(pointer->values[t]);
        Count count;
        if (!is_next(name, place_name(pointer->values[t + 1]), &at, &count))
            return false;
        if (t == begin) {
            star = at;
            pointer->count = (Count){count.number - begin * count.direction, count.direction};
        } else if (at != star || count.direction != pointer->count.direction) {
            return false;
        }
    }
    if (last > begin)
        pointer->pattern = with_star(c->arena, place_name(pointer->values[begin]), star);
    return last > begin;
}

/* Whether the addresses are `step` apart, except for the odd one. */
static bool has_step(const Collect *c, const Pointer *pointer, int64_t step) {
    int begin = pointer_begin(pointer), last = pointer_last(pointer, c->out->run.times);
    for (int t = begin; t < last; t++)
        if (start_of(c, pointer->values[t + 1]) - start_of(c, pointer->values[t]) != step)
            return false;
    return true;
}

/* Whether the addresses follow from the count, except for the odd one. */
static bool can_count(const Collect *c, Pointer *pointer, int odd) {
    pointer->odd = odd;
    if (!is_counted(c, pointer))
        return false;
    int begin = pointer_begin(pointer);
    int64_t step =
        start_of(c, pointer->values[begin + 1]) - start_of(c, pointer->values[begin]);
    pointer->listed = !has_step(c, pointer, step);
    pointer->step = pointer->listed ? 0 : step;
    pointer->shared = !pointer->listed && step == 0;
    return true;
}

/* Whether the addresses are constant, except for the odd one. */
static bool is_constant(const Collect *c, Pointer *pointer, int odd) {
    pointer->odd = odd;
    return has_step(c, pointer, 0);
}

/* Whether names differ at most in numbers. */
static bool are_alike(Arena *arena, const char *a, const char *b) {
    return strcmp(starred_name(arena, a, b), starred_name(arena, b, a)) == 0;
}

/* Whether both iterations are constants of their own, with names that differ in more than numbers. */
static bool are_two_kinds(const Collect *c, const Pointer *pointer) {
    return c->out->run.times == 2 && !are_alike(c->arena, place_name(pointer->values[0]),
                                                place_name(pointer->values[1]));
}

/* Buffers of several kinds may have one address, so the odd one is told from counted ones before the
 * addresses are compared. Of two kinds, that of the first layer is the odd one. */
static void describe(const Collect *c, Pointer *pointer) {
    const PlanEntry *entry = c->entry;
    int last = c->out->run.times - 1;
    bool backward = entry->launches[c->out->run.first].ops[0]->phase == PHASE_BACKWARD;
    pointer->column = -1;
    if (can_count(c, pointer, -1) || can_count(c, pointer, 0) || can_count(c, pointer, last))
        return;
    if (are_two_kinds(c, pointer)) {
        pointer->odd = backward ? last : 0;
        return;
    }
    if (is_constant(c, pointer, -1) || is_constant(c, pointer, 0) || is_constant(c, pointer, last))
        return;
    pointer->odd = -1;
    find_column(c, pointer);
}

static int add_pointer(Collect *c, int launch, int arg) {
    const Value *value = value_of(c, launch, arg, 0);
    int *bucket = &c->bucket[(unsigned)(value->storage->id * 31 + value->offset) % 256];
    for (int i = *bucket; i >= 0; i = c->next_in_bucket[i])
        if (is_pointer(c, &c->out->pointers[i], launch, arg))
            return i;
    int times = c->out->run.times;
    Pointer *pointer = &c->out->pointers[c->out->count];
    pointer->values = arena_array(c->arena, (size_t)times, sizeof *pointer->values);
    for (int t = 0; t < times; t++)
        pointer->values[t] = value_of(c, launch, arg, t);
    describe(c, pointer);
    c->next_in_bucket[c->out->count] = *bucket;
    *bucket = c->out->count;
    return c->out->count++;
}

/* Named after the last two iterations other than the odd one. */
static const char *dotted_name(const Collect *c, const Value **values, int begin, int last) {
    const char *name = place_name(values[last]);
    if (c->out->run.times == 1)
        return name;
    if (begin == last)
        return without_numbers(c->arena, name);
    return starred_name(c->arena, place_name(values[last - 1]), name);
}

static void give_names(const Collect *c) {
    Pointers *out = c->out;
    int room = out->count + out->column_count + 1;
    const char **dotted = arena_array(c->arena, (size_t)room, sizeof *dotted);
    for (int i = 0; i < out->count; i++) {
        const Pointer *pointer = &out->pointers[i];
        dotted[i] = dotted_name(c, pointer->values, pointer_begin(pointer),
                                pointer_last(pointer, out->run.times));
    }
    const char **names = local_names(c->arena, dotted, out->count);
    for (int i = 0; i < out->count; i++)
        out->pointers[i].name = names[i];
    for (int i = 0; i < out->column_count; i++)
        dotted[i] = dotted_name(c, out->columns[i].values, 0, out->run.times - 1);
    names = local_names(c->arena, dotted, out->column_count);
    for (int i = 0; i < out->column_count; i++)
        out->columns[i].name = names[i];
}

static void find_varying(const Collect *c) {
    Pointers *out = c->out;
    for (int l = 0; l < out->run.length; l++) {
        const Launch *launch = &c->entry->launches[out->run.first + l];
        int scalars =
            launch->kind == LAUNCH_KERNEL ? c->plan->kernels[launch->index].scalar_count : 0;
        for (int s = 0; s < scalars; s++) {
            bool varies = false;
            for (int t = 1; t < out->run.times; t++)
                varies |= launch[t * out->run.stride].scalar[s] != launch->scalar[s];
            if (!varies)
                continue;
            const char *name = c->plan->kernels[launch->index].scalar[s].name;
            if (out->varying_count)
                name = arena_printf(c->arena, "%s_%d", name, out->varying_count + 1);
            out->varying[out->varying_count++] = (Varying){l, s, name};
        }
    }
}

/* ---- the loop variable ----------------------------------------------------------------------- */

/* "layer" for "model.layers.*.mlp"; NULL: the number follows no word. */
static const char *counted_word(Arena *arena, const char *pattern) {
    const char *star = strchr(pattern, '*'), *word = previous_part(pattern, star);
    size_t length = star > word ? part_length(word) : 0;
    if (length > 1 && word[length - 1] == 's')
        length--;
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)word[i]))
            return NULL;
    return length > 0 ? arena_strndup(arena, word, length) : NULL;
}

static bool is_local(const Pointers *p, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->pointers[i].name, name) == 0)
            return true;
    return false;
}

/* Returns the pattern of the launch's op names if these count all iterations, or NULL. */
static const char *counted_by(const Collect *c, int launch, Count *count) {
    const Run *run = &c->out->run;
    const Launch *first = &c->entry->launches[run->first + launch];
    const Launch *next = first + run->stride, *last = first + (run->times - 1) * run->stride;
    if (first->op_count == 0)
        return NULL;
    const char *name = first->ops[0]->name;
    size_t star, at;
    int from, to;
    bool through = is_next(name, next->ops[0]->name, &star, count) &&
                   differ_in_number(name, last->ops[0]->name, &at, &from, &to) && at == star &&
                   to == number_at(*count, run->times - 1);
    return through ? with_star(c->arena, name, star) : NULL;
}

static Index index_of(const Collect *c) {
    const Run *run = &c->out->run;
    Index index = {"i", {0, 1}};
    for (int l = 0; run->times > 1 && l < run->length; l++) {
        Count count;
        const char *pattern = counted_by(c, l, &count);
        if (!pattern)
            continue;
        const char *word = counted_word(c->arena, pattern);
        index.count = count;
        if (word && !is_local(c->out, word))
            index.name = word;
        break;
    }
    return index;
}

Pointers pointers_of(Arena *arena, const Plan *plan, const PlanEntry *entry, Run run) {
    size_t launches = (size_t)run.length, room = launches * (MAX_PARAMS + 1);
    Pointers out = {.run = run,
                    .pointers = arena_array(arena, room, sizeof(Pointer)),
                    .columns = arena_array(arena, room, sizeof(Column)),
                    .of_arg = arena_array(arena, room, sizeof(int)),
                    .varying = arena_array(arena, launches * MAX_SCALARS, sizeof(Varying))};
    Collect c = {.arena = arena, .plan = plan, .entry = entry, .out = &out};
    c.next_in_bucket = arena_array(arena, room, sizeof(int));
    memset(c.bucket, -1, sizeof c.bucket);
    for (int l = 0; l < run.length; l++) {
        const Launch *launch = &entry->launches[run.first + l];
        int *of_arg = &out.of_arg[l * (MAX_PARAMS + 1)];
        for (int a = 0; a < launch->arg_count; a++)
            of_arg[a] = add_pointer(&c, l, a);
        of_arg[MAX_PARAMS] = launch->observed ? add_pointer(&c, l, MAX_PARAMS) : -1;
    }
    give_names(&c);
    out.index = index_of(&c);
    find_varying(&c);
    out.has_table = out.column_count + out.varying_count > 0;
    return out;
}

Pointer *pointer_of_arg(const Pointers *p, int launch, int arg) {
    return &p->pointers[p->of_arg[launch * (MAX_PARAMS + 1) + arg]];
}

Pointer *pointer_observed(const Pointers *p, int launch) {
    return pointer_of_arg(p, launch, MAX_PARAMS);
}

const Varying *varying_at(const Pointers *p, int launch, int index) {
    for (int i = 0; i < p->varying_count; i++)
        if (p->varying[i].launch == launch && p->varying[i].index == index)
            return &p->varying[i];
    return NULL;
}
