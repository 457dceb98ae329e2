/* Entries may begin or end with the same work: load and update both bring adapters into borders. The
 * later entry then calls the function of the earlier one. */
#include "emit/share_functions.h"

#include <string.h>

typedef struct {
    const PlanEntry *entry;
    const Block *block;
} Part;

static const Launch *launch_at(const Part *p, int index, int time) {
    const Run *run = &p->block->pointers.run;
    return &p->entry->launches[run->first + index + time * run->stride];
}

static bool same_place(const Value *a, const Value *b) {
    return a->storage == b->storage && a->offset == b->offset && !strcmp(a->name, b->name);
}

static bool same_names(const Launch *a, const Launch *b) {
    bool same = a->op_count == b->op_count;
    for (int i = 0; same && i < a->op_count; i++)
        same = !strcmp(a->ops[i]->name, b->ops[i]->name);
    return same;
}

/* Whether the text of the launch is the same. A wait names what it waits for: it is not shared. */
static bool same_text(const Part *a, const Part *b, int index, int time) {
    const Launch *one = launch_at(a, index, time), *other = launch_at(b, index, time);
    bool same = launches_are_alike(a->entry, one, b->entry, other) && same_names(one, other) &&
                !one->wait_count && !one->observe &&
                !memcmp(one->scalar, other->scalar, sizeof one->scalar);
    for (int i = 0; same && i < one->arg_count; i++)
        same = same_place(one->arg[i], other->arg[i]);
    return same;
}

static bool same_functions(const Part *a, const Part *b) {
    const Run *one = &a->block->pointers.run, *other = &b->block->pointers.run;
    if (one->length != other->length || one->times != other->times ||
        a->block->pointers.has_table || a->block->called >= 0 || b->block->called >= 0)
        return false;
    for (int t = 0; t < one->times; t++)
        for (int i = 0; i < one->length; i++)
            if (!same_text(a, b, i, t))
                return false;
    return true;
}

/* A function that several entries call is named after all of them: "layers_load_and_update". */
static void share(Arena *arena, const Plan *plan, Blocks *blocks, Entry later, int block) {
    const Part part = {&plan->entry[later], &blocks[later].blocks[block]};
    for (int e = 0; e < (int)later; e++)
        for (int b = 0; b < blocks[e].count && blocks[e].count > 1; b++) {
            Block *first = &blocks[e].blocks[b], *own = &blocks[later].blocks[block];
            if (first->shared || !same_functions(&(Part){&plan->entry[e], first}, &part))
                continue;
            first->function = arena_printf(arena, "%s_and_%s", first->function, part.entry->name);
            own->shared = first;
            return;
        }
}

void share_functions(Arena *arena, const Plan *plan, Blocks blocks[ENTRY_COUNT]) {
    for (int e = 1; e < ENTRY_COUNT; e++)
        for (int b = 0; b < blocks[e].count && blocks[e].count > 1; b++)
            share(arena, plan, blocks, (Entry)e, b);
}
