/* One row per entry. Passes ask which entries contain a forward, plan and emit ask which of them
 * belong to a step and on which cards they run, as runtime/runtime.h has it (RtProgram). Name and
 * purpose appear in the emitted program. */
#include "graph/entries.h"

static const EntryInfo entries[ENTRY_COUNT] = {
    [ENTRY_LOAD] = {"load",
                    "Once, after the weights have arrived: prepares what other entries need.",
                    RUNS_ASIDE, ON_FIRST_CARD, false},
    [ENTRY_REPLICATE] = {"replicate",
                         "Before each micro-step, on each other card: copies the first card's "
                         "weights.",
                         RUNS_EACH_MICRO_STEP, ON_OTHER_CARDS, false},
    [ENTRY_MICRO_STEP] = {"micro_step", "Forward, loss and backward of one micro-batch.",
                          RUNS_EACH_MICRO_STEP, ON_ALL_CARDS, true},
    [ENTRY_BACKWARD] = {"backward",
                        "Backward of one micro-batch, and forward ops that run along with it.",
                        RUNS_EACH_MICRO_STEP, ON_ALL_CARDS, false},
    [ENTRY_COLLECT] = {"collect",
                       "After each micro-step, on the first card: sums losses and gradients of all "
                       "cards.",
                       RUNS_EACH_MICRO_STEP, ON_FIRST_CARD, false},
    [ENTRY_UPDATE] = {"update", "Once per step: updates the weights and the step's figures.",
                      RUNS_EACH_STEP, ON_FIRST_CARD, false},
    [ENTRY_EVALUATE] = {"evaluate", "The loss and metrics of one held-out micro-batch.", RUNS_ASIDE,
                        ON_FIRST_CARD, true},
    [ENTRY_REFERENCE] = {"reference",
                         "Before training, for each batch: results that training is compared with.",
                         RUNS_ASIDE, ON_FIRST_CARD, true},
    [ENTRY_CONVERT] = {"convert",
                       "Once, after training: converts weights to their final form, in files and "
                       "in place.",
                       RUNS_ASIDE, ON_FIRST_CARD, false},
    [ENTRY_EVALUATE_CONVERTED] = {"evaluate_converted", "evaluate, after convert.", RUNS_ASIDE,
                                  ON_FIRST_CARD, false},
    [ENTRY_EARLY_MICRO_STEP] = {"early_micro_step",
                                "micro_step of the first steps, without rounding to few bits.",
                                RUNS_ASIDE, ON_ALL_CARDS, false},
    [ENTRY_MERGE] = {"merge",
                     "For --merge: exports the adapted weights with the adapter merged into them.",
                     RUNS_ASIDE, ON_FIRST_CARD, false},
};

const EntryInfo *entry_info(Entry entry) { return &entries[entry]; }
