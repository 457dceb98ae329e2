/* Passes: rewrites of a Program, run in the order of passes.h and verified after each.
 * Each file has one rewrite; its head comment says what it requires and what it leaves behind. A
 * pass returns false if it rewrote nothing; the program is then not verified again. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "graph/graph.h"
#include "spec/spec.h"

typedef struct {
    const char *name; /* for --dump */
    bool (*run)(Program *, const Spec *);
    Stage leaves; /* the program's stage afterwards */
    void (*undo)(Program *); /* of passes after recompute: puts back what is not in entries; NULL:
                              * nothing, or what the next run replaces */
} Pass;

extern const Pass pass_list[];
extern const int pass_count;

/* Runs all passes. Prints the program after the pass called `dump`, if not NULL, into `text`. */
void passes_run(Program *, const Spec *, const char *dump, StrBuf *text);
/* A finished plan may ask for more recomputation: the passes after `recompute` are then undone, and run
 * again on the changed program. */
void passes_undo_after_recompute(Program *);
void passes_run_after_recompute(Program *, const Spec *);

#define PASS(name, stage) bool pass_##name(Program *, const Spec *);
#define PASS_WITH_UNDO(name, stage, undo) PASS(name, stage) void undo(Program *);
#include "pass/passes.h"

#endif
