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

/* Returns the remedy that would help most if this is the largest part. It names the key. */
const char *spec_less_memory(const Spec *, MemoryPart);
