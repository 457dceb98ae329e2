/* The supported ResNets, by model.depth. */
#pragma once
#include "spec/spec.h"

typedef struct {
    int64_t depth, blocks[4]; /* per stage */
    bool bottleneck;
} ResnetDepth;

/* Returns NULL if that depth is not supported; keys.h has the same depths. */
static inline const ResnetDepth *resnet_depth(const Spec *spec) {
    static const ResnetDepth depths[] = {
        {18, {2, 2, 2, 2}, false}, {34, {3, 4, 6, 3}, false}, {50, {3, 4, 6, 3}, true}};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        if (depths[i].depth == spec->model.depth)
            return &depths[i];
    return NULL;
}
