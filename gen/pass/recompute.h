/* Recomputation: activations that backward needs but that are not kept meanwhile.
 *
 * recompute_turns.c says in which order ops run once it is settled what is kept, and what that
 * costs; recompute_rewrite.c makes the graph of it; recompute.c settles it. */
#ifndef PASS_RECOMPUTE_H
#define PASS_RECOMPUTE_H

#include "devices/device.h"
#include "graph/graph.h"
#include "spec/spec.h"

/* An op's turn: its own, or a second one that does it again for backward. */
typedef struct {
    Op *op;
    bool again;
} Turn;

/* All turns of a graph, in order. */
typedef struct {
    Turn *turn;
    int count, capacity;
    bool *done; /* by op: had its second turn */
} Turns;

/* The ops that write a storage, in order. */
typedef struct {
    Op **ops;
    int count, capacity;
} Writers;

/* How backward comes by what a storage holds. */
typedef enum {
    BACKWARD_ASKS_PLAN, /* kept or made again, as a plan that fits has it */
    BACKWARD_READS,     /* kept, as the spec says */
    BACKWARD_MAKES      /* again, whatever is chosen: it costs next to nothing */
} BackwardPolicy;

/* A training graph as it was before anything was done again, and what is known of it. Arrays are
 * by storage id, except `forward` (by op). */
typedef struct Recomputation {
    Program *program;
    Graph *graph;
    Op **ops;
    int op_count, storage_count;
    bool *forward; /* the loss depends on it: it reads the originals whatever is chosen */
    Writers *writers;
    bool *repeatable; /* doing its writers again gives the same bits at any later time */
    bool *read_after; /* by an op that is not forward */
    bool *decoded;    /* of codes in STATE: TRAIT_DECODES */
    BackwardPolicy *policy;
    bool *keep;       /* the choice at hand: stays until backward has read it */
    bool *keep_least; /* what stays when as little as possible is kept */
    int *candidates;  /* what may be dropped beside that, in the order of the graph or of rank */
    int candidate_count;
} Recomputation;

/* Whether the spec leaves it to the plan what is kept. */
bool recompute_may(const Spec *);
/* Looks through micro_step; changes nothing. Requires a lowered program. All of it lives in the
 * program's arena. */
Recomputation *recompute_new(Program *, const Spec *);
/* Orders what may be dropped by bytes freed per time that it costs to compute again. */
void recompute_rank(Recomputation *, const Device *);
/* How many activations may be dropped. */
int recompute_choices(const Recomputation *);
/* How many must be dropped to free so many bytes of the most that are live at once, as the graph
 * alone says it; at most all. Leaves the graph without recomputation. */
int recompute_guess(Recomputation *, int64_t bytes);
/* Makes the graph anew, without the first `count` of them and what is always made again. */
void recompute_drop(Recomputation *, int count);

/* ---- within the pass ------------------------------------------------------------------------- */

/* Fills in forward, writers, repeatable, read_after, decoded. */
void recompute_analyse(Recomputation *);
/* Whether backward has to compute the storage anew. */
bool recompute_is_dropped(const Recomputation *, const Storage *);
/* Whether an operand (or result) of this turn lies in a twin of its storage. */
bool turn_uses_twin(const Recomputation *, const Turn *, const Value *, bool is_result);
/* The whole order. `arena` owns it. */
Turns recompute_turns(const Recomputation *, Arena *arena);
/* Time to compute one storage again from what is kept. */
double recompute_ms(const Recomputation *, const Device *, int storage);
/* Most bytes of activations that are live at once. */
int64_t turns_peak(const Recomputation *, const Turns *);
void recompute_rewrite(Recomputation *, const Turns *);

#endif
