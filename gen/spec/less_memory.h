/* What to change in a spec whose plan does not fit the memory. */
#pragma once
#include "spec/spec.h"

/* Parts of a card's memory; flags, so that one remedy can serve several. */
typedef enum {
    PART_FROZEN = 1,  /* weights that do not train */
    PART_WEIGHTS = 2, /* weights that train */
    PART_ADAPTERS = 4,
    PART_GRADIENTS = 8,
    PART_STATES = 16, /* moments, and fp32 masters of weights in 16 bits */
    PART_ACTIVATIONS = 32,
    PART_KEPT = 64, /* activations of a pipeline's micro-batches in flight */
    PART_BATCHES = 128,
    PART_DATASET = 256,
    PART_COUNTERS = 512, /* tables with rows for each step */
    PART_OTHER = 1024
} MemoryPart;

enum { CHANGES_PER_REMEDY = 2 };

typedef struct {
    int nsets;
    const char *sets[CHANGES_PER_REMEDY]; /* KEY=VALUE, VALUE as TOML */
    const char *text; /* "optimizer.state = \"int8\" keeps the moments in 8 bits" */
    bool other_technique; /* not the same training with less memory */
} Remedy;

/* Returns remedies if this is the largest part, those that help most first. Some may be refused, or
 * not help, in this experiment: try them. */
const Remedy *spec_less_memory(Arena *, const Spec *, MemoryPart, int *count);
