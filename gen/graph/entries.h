/* A program's entries: what its main loop asks the device to run, a graph each. */
#ifndef GRAPH_ENTRIES_H
#define GRAPH_ENTRIES_H

#include <stdbool.h>

/* Where a process drives several cards, all of them run micro_step, before it all but the first run
 * replicate, after it the first runs collect; the rest is the first card's.
 * BACKWARD: of a stage of a pipeline, whose micro_step is its forward alone. */
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

/* How often in a step of training, from the first that is as all later ones. */
typedef enum { RUNS_ASIDE, RUNS_EACH_MICRO_STEP, RUNS_EACH_STEP } Runs;

/* On which of the cards of one process. */
typedef enum { ON_FIRST_CARD, ON_ALL_CARDS, ON_OTHER_CARDS } OnCards;

typedef struct {
    const char *name;    /* of its function, and in what is printed */
    const char *purpose; /* a sentence for the emitted program's readers */
    Runs runs;
    OnCards on;
    /* The model's forward is built into it, and passes that rewrite forward do so here. */
    bool forward;
} EntryInfo;

const EntryInfo *entry_info(Entry);

#endif
