#include "emit/strides.h"

#include "emit/names.h"

#include <string.h>

const char *stride_name(const Strides *of, const char *scalar, int64_t elements) {
    for (int i = 0; i < of->count; i++)
        if (of->strides[i].elements == elements && !strcmp(of->strides[i].scalar, scalar))
            return of->strides[i].name;
    return NULL;
}

static void add(Arena *arena, Strides *to, int *capacity, const char *scalar, int64_t elements) {
    int alike = 0;
    if (!elements || stride_name(to, scalar, elements))
        return;
    for (int i = 0; i < to->count; i++)
        alike += !strcmp(to->strides[i].scalar, scalar);
    const char *name = upper_text(arena, scalar);
    if (alike)
        name = arena_printf(arena, "%s_%d", name, alike + 1);
    to->strides = arena_grow(arena, to->strides, to->count, capacity, sizeof *to->strides);
    to->strides[to->count++] = (Stride){name, scalar, elements};
}

Strides strides_of(Arena *arena, const Plan *plan) {
    Strides strides = {0};
    int capacity = 0;
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            const Kernel *k = launch->kind == LAUNCH_KERNEL ? &plan->kernels[launch->index] : NULL;
            for (int s = 0; k && k->strided && s < k->scalar_count; s++)
                add(arena, &strides, &capacity, k->scalar[s].name, launch->scalar[s]);
        }
    return strides;
}
