/* A program's entries: what its main loop asks the device to run, one graph each. */
#ifndef GRAPH_ENTRIES_H
#define GRAPH_ENTRIES_H

#include <stdbool.h>

/* runtime/runtime.h says when each runs (RtProgram). In a pipeline stage, MICRO_STEP is `forward`. */
typedef enum {
    ENTRY_LOAD,
    ENTRY_REPLICATE,
    ENTRY_MICRO_STEP,
    ENTRY_BACKWARD,
    ENTRY_COLLECT,
    ENTRY_UPDATE,
    ENTRY_EVALUATE,
    ENTRY_REFERENCE,
    ENTRY_CONVERT,
    ENTRY_EVALUATE_CONVERTED,
    ENTRY_EARLY_MICRO_STEP,
    ENTRY_MERGE,
    ENTRY_COUNT
} Entry;

/* How often a training step runs an entry, not counting the early steps. */
typedef enum { RUNS_ASIDE, RUNS_EACH_MICRO_STEP, RUNS_EACH_STEP } Runs;

/* On which cards of a process. */
typedef enum { ON_FIRST_CARD, ON_ALL_CARDS, ON_OTHER_CARDS } OnCards;

typedef struct {
    const char *name;    /* of its function, and in printed text */
    const char *purpose; /* a sentence for the emitted program's readers */
    Runs runs;
    OnCards on;
    /* It contains the model's forward, which passes rewrite in each such entry. */
    bool forward;
} EntryInfo;

const EntryInfo *entry_info(Entry);

#endif
