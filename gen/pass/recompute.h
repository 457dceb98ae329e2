/* Recomputation: backward computes activations again instead of keeping them from forward.
 *
 * recompute.c decides what is kept; recompute_turns.c derives from that the order of the ops and
 * its cost; recompute_rewrite.c rewrites the graph in that order. */
#ifndef PASS_RECOMPUTE_H
#define PASS_RECOMPUTE_H

#include "devices/device.h"
#include "graph/graph.h"
#include "spec/spec.h"

/* One execution of an op: its original one, or a second one that repeats it for backward. */
typedef struct {
    Op *op;
    bool again;
} Turn;

/* All turns of a graph, in order. */
typedef struct {
    Turn *turn;
    int count, capacity;
    bool *done; /* by op: has had its second turn */
} Turns;

/* The ops that write a storage, in order. */
typedef struct {
    Op **ops;
    int count, capacity;
} Writers;

/* How backward gets the contents of a storage. */
typedef enum {
    BACKWARD_ASKS_PLAN, /* kept or recomputed, whichever lets the plan fit */
    BACKWARD_READS,     /* kept, as the spec says */
    BACKWARD_MAKES      /* always recomputed: it costs next to nothing */
} BackwardPolicy;

/* A training graph before recomputation, and what is known about it. Arrays are indexed by storage
 * id, except `forward` (by op) and `candidates`. */
typedef struct Recomputation {
    Program *program;
    Graph *graph;
    Op **ops;
    int op_count, storage_count;
    bool *forward; /* the op is of forward, so it always reads the originals */
    Writers *writers;
    bool *repeatable; /* running its writers again later gives the same bits */
    bool *read_after; /* by an op that is not forward */
    bool *decoded;    /* a weight decoded from codes in STATE: TRAIT_DECODES */
    BackwardPolicy *policy;
    bool *keep;       /* the current choice: stays until backward has read it */
    bool *keep_least; /* what stays when as little as possible is kept */
    int *candidates;  /* storages that may be dropped or kept, in graph order or by rank */
    int candidate_count;
} Recomputation;

/* Whether the spec lets the plan decide what is kept. */
bool recompute_may(const Spec *);
/* Analyses micro_step without changing it. Requires a lowered program. The result lives in the
 * program's arena. */
Recomputation *recompute_new(Program *, const Spec *);
/* Sorts the candidates by bytes freed per unit of time that recomputing them takes. */
void recompute_rank(Recomputation *, const Device *);
/* How many activations may be dropped. */
int recompute_choices(const Recomputation *);
/* Estimates from the graph, without a plan, how many activations must be dropped to lower peak
 * memory by `bytes`; at most all. Leaves the graph without recomputation. */
int recompute_guess(Recomputation *, int64_t bytes);
/* Rebuilds the graph; backward recomputes the first `count` candidates and what is always
 * recomputed. */
void recompute_drop(Recomputation *, int count);
/* Whether backward recomputes any candidate; false for NULL. */
bool recompute_drops(const Recomputation *);

/* ---- within the pass ------------------------------------------------------------------------- */

/* Fills in forward, writers, repeatable, read_after, decoded. */
void recompute_analyse(Recomputation *);
/* Whether an operand of this turn is in the twin of its storage; results are if it is a second turn. */
bool turn_reads_twin(const Recomputation *, const Turn *, const Value *);
/* All turns in order; `arena` owns them. */
Turns recompute_turns(const Recomputation *, Arena *arena);
/* Milliseconds to recompute one storage from what is kept. */
double recompute_ms(const Recomputation *, const Device *, int storage);
/* The peak number of bytes of live activations. */
int64_t turns_peak(const Recomputation *, const Turns *);
void recompute_rewrite(Recomputation *, const Turns *);

#endif
