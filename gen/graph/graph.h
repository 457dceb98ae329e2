/* The compiler's intermediate form: a Program of Graphs of Ops over Values.
 *
 * A Value is a view: a place in a Storage, with a static shape, a dtype and a role. Ops read and
 * write Values; within a graph a Value has at most one producer (in-place ops write a new Value over
 * the same place). Matrices are row-major: the last dimension is dense, rows may be strided. Images in
 * NCHW lie in planes instead (see Value.plane), dense.
 *
 * Shapes broadcast over [rows, cols] as in PyTorch: [R,C] is a matrix, [R,1] one number per row, [C]
 * one number per column, [1] a scalar.
 *
 * Everything lives in the Program's arena and is never freed on its own. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "graph/entries.h"
#include "graph/loader_settings.h"
#include "graph/op.h"
#include "graph/param.h"
#include "graph/pipeline_stage.h"
#include "graph/trained.h"

typedef struct {
    const char *name; /* "micro_step" */
    Op **ops;         /* in a valid order */
    int op_count, op_capacity;
} Graph;

/* What a row of the loss is, for reports. */
typedef struct {
    const char *plural, *brief, *rate; /* "tokens", "tok", "tokens_per_s" */
} Unit;

/* A figure reported beside the held-out loss: a scalar of dtype `real` to which evaluate adds. Where
 * training reports it too, micro_step adds to step_sum, and update appends each step's to history. */
typedef struct {
    const char *name; /* "top1" */
    Value *sum;
    Value *step_sum, *history; /* [1], [steps,1]; or NULL */
} Metric;

enum { MAX_METRICS = 6 };

/* Training state that is not a tensor of the model. */
typedef struct {
    Value *seed, *step, *applied, *bad_step, *lr;
    Value *bias_correction1, *bias_correction2_sqrt; /* NULL without AdamW */
    Value *loss, *grad_norm, *step_loss, *eval_loss;
    Metric metrics[MAX_METRICS];
    int metric_count;
    Value *loss_scale, *growth_tracker, *skipped_steps; /* NULL without a loss scale */
} Counters;

/* An I32 that tells a rank its number in a group, from 0. */
typedef struct {
    RankGroup group;
    Value *value;
} GroupRank;

enum { MAX_GROUP_RANKS = 4 };

typedef struct Program {
    Arena *arena;

    /* precision */
    DType real;         /* losses, norms, optimizer: F64 in an fp64 experiment, else F32 */
    DType activation;   /* activations and GEMM operands */
    bool tf32;          /* GEMMs and tensor-core attention round their fp32 operands */
    bool keeps_decoded; /* backward may read weights as forward decoded them */

    /* what runs, on what */
    Graph entry[ENTRY_COUNT]; /* op_count 0: the program has no such entry */
    Graph undone[ENTRY_COUNT]; /* what the entries are again if passes are undone; see passes.h */
    Storage **storages;
    int storage_count, storage_capacity;
    Value **values;
    int value_count, value_capacity;
    Param *params;
    int param_count, param_capacity;
    Counters counters;
    TrainState train;

    /* steps */
    int64_t tokens; /* rows of a micro-step: batch x seq_len */
    Unit unit;      /* what such a row is */
    int64_t seq_len, micro_steps, steps, early_steps;
    bool segmented;            /* where samples and padding begin, only the data knows */
    Value *loss_of_micro_step; /* scalar that autodiff starts from; in a pipeline stage other than the
                                * last, what the stage sends */
    Value *loss_gradient;      /* where backward starts: the constant 1 */

    /* several cards */
    Mesh mesh;     /* ranks that train together; each has micro_steps of its own */
    int64_t cards; /* that this process drives, each with micro-steps of its own */
    GroupRank group_ranks[MAX_GROUP_RANKS];
    int group_rank_count;
    PipelineStage stage;
    Gathered *gathered;
    int gathered_count, gathered_capacity;

    struct Recomputation *recomputation; /* of micro_step; NULL: nothing is recomputed yet */

    /* data */
    Value *dataset; /* what the host writes once, before load; or NULL */
    LoaderSettings loader;
    const char *feeding; /* how a batch reaches the device, and why; NULL: there is only one way */

    /* Explains names that passes gave, for the readers of the emitted program: lines of at most 96
     * characters that end in \n; NULL: nothing to explain. */
    const char *naming;

    /* exports */
    const char *config_json;  /* text of the model's config.json */
    const char *adapter_json; /* text of adapter_config.json; NULL: no adapter */
    const char *unmerged;     /* why the program has no merge entry; NULL: it has one */
} Program;

/* Without values, ops and parameters; the arena owns all that is added to it. */
Program *program_new(Arena *);

/* ---- values ---------------------------------------------------------------------------------- */

/* A new storage with one dense Value that fills it. */
Value *value_new(Program *, const char *name, Role, DType, int rank, const int64_t *dim, Pos);
Value *value_1d(Program *, const char *name, Role, DType, int64_t cols, Pos);
Value *value_2d(Program *, const char *name, Role, DType, int64_t rows, int64_t cols, Pos);
/* A STASH with the shape of `like`, in a storage of its own. */
Value *value_stash(Program *, const Value *like, const char *name);

/* Views of the same storage. */
Value *value_whole(Program *, Storage *); /* all of it, as one row */
Value *value_columns(Program *, Value *, int64_t first, int64_t count, const char *name);
Value *value_row_range(Program *, Value *, int64_t first, int64_t count, const char *name);
/* The same elements in memory order, row-major; dense values only. */
Value *value_reshaped(Program *, Value *, int64_t rows, int64_t cols);
Value *value_alias(Program *, Value *, const char *name); /* same place: result of an in-place op */
/* A dense part of a dense value, `offset` elements from its start, with its own shape. */
Value *value_at(Program *, Value *, int64_t offset, int rank, const int64_t *dim, const char *name);
/* The same view of the storage that `to` fills. */
Value *value_elsewhere(Program *, const Value *, const Value *to);

void value_set_role(Value *, Role); /* of its whole storage */

/* True if every value of v's storage lies exactly where v does, and v is dense and begins at the
 * storage's start: then they can all move, with v, onto another value of the same shape. Views of v in
 * other shapes stay dense. */
bool value_can_move(const Value *v);
/* The same for a v that has views of its columns: they move with it to strided rows. */
bool value_can_stride(const Value *v);
void value_move(Value *v, const Value *to);
/* True if w, of the same dtype, begins where v ends: as further columns of the same rows, or as
 * further rows of the same columns. */
bool value_columns_follow(const Value *v, const Value *w);
bool value_rows_follow(const Value *v, const Value *w);
/* Moves v, with its whole storage, to the end of `run`, which fills its own; returns both as one. */
Value *value_join(Program *, Value *run, Value *v, const char *name);

/* ---- ops and graphs --------------------------------------------------------------------------- */

/* Appends an op. Its shape rule makes the results, as activations of program->activation unless the
 * rule says otherwise. A mistake in the operands is an internal fault. */
Op *op_add(Program *, Graph *, OpKind, const char *name, Value *const *in, int in_count, Attr, Pos);
/* The same with given results. */
Op *op_add_into(Program *, Graph *, OpKind, const char *name, Value *const *in, int in_count,
                Value *const *out, int out_count, Attr, Pos);
/* The same for an op whose result, called `result`, takes the place of its only operand. */
Op *op_add_in_place(Program *, Graph *, OpKind, const char *name, Value *, const char *result, Attr,
                    Pos);
/* The same op once more, in no graph yet. */
Op *op_copy(Program *, const Op *);
/* Appends an op that exists already. */
void graph_add(Program *, Graph *, Op *);
/* Empties the graph and returns it as it was: a pass adds the ops again, with changes, in a loop over
 * the old ones. */
Graph graph_take(Graph *);
/* Replaces the graph's op list; the ops must come from it or be new. */
void graph_set_ops(Program *, Graph *, Op **ops, int count);
/* Removes the ops whose ids are marked. */
void graph_remove(Program *, Graph *, const bool *gone);

/* The i-th entry that holds the model's forward, which may be empty; NULL past the last. A pass that
 * rewrites forward does so in each of them. */
Graph *program_forward(Program *, int i);
/* The last op for which does(op, v) holds; none is an internal fault. */
Op *graph_last(const Graph *, bool (*does)(const Op *, const Value *), const Value *v);
Op *graph_producer(const Graph *, const Value *); /* NULL: made outside this graph */
bool graph_waits_for(const Graph *, const Op *);   /* whether a control edge begins at the op */
/* Whether the op may run right before or after `other`, as far as memory and not control edges tell. */
bool graph_may_move(const Graph *, const Op *, const Op *other);
Op *graph_find(const Graph *, OpKind);            /* the first of that kind, or NULL */

/* Who makes and who reads each value, for passes that ask often. Valid until the graph's ops change;
 * values made after it have no uses in it. */
typedef struct {
    const Graph *graph;
    int value_count;
    Op **maker;  /* by value id; NULL: made outside this graph */
    Op **reader; /* readers of value i, in graph order: reader[first[i]] up to reader[first[i + 1]] */
    int *first;
} GraphUses;

/* The arena owns the lists. */
GraphUses uses_find(Arena *, const Program *, const Graph *);
Op *use_maker(const GraphUses *, const Value *);
/* Returns the readers and stores their number. */
Op *const *use_readers(const GraphUses *, const Value *, int *count);
/* Whether the value under this name is an operand once, of one op. */
bool use_read_once(const GraphUses *, const Value *);
/* Whether an op that reads any of v has a body, which could join the kernel that makes v. */
bool use_read_by_body(const GraphUses *, const Value *);
/* Whether an op of backward, other than `except`, reads the value under this name. */
bool use_read_in_backward(const GraphUses *, const Value *, const Op *except);
/* Whether v may become columns of a wider matrix. Operands and results of collectives may not: they
 * must be dense. */
bool use_can_stride(const GraphUses *, const Value *v);

/* ---- programs --------------------------------------------------------------------------------- */

void program_add_param(Program *, Param);
Param *program_param(Program *, const Value *weight);          /* NULL: not a parameter */
Value *program_weight(const Program *, const char *file_name); /* NULL: no such parameter */
bool program_trains(const Program *); /* whether anything does; if so there is a train state */
void program_add_gathered(Program *, Gathered);
const Gathered *program_gathered(const Program *, const Value *); /* the one v lies in, or NULL */
Value *program_group_rank(Program *, RankGroup); /* where a rank reads its number in the group */

/* Checks that every operand is persistent, an input, or produced earlier in the same graph; that
 * operands and results lie within their storages; that shapes obey the op's rule; that no value is
 * written twice; that nobody reads what an in-place op has overwritten; and that each op is allowed
 * at this stage: semantic ops before `lower`, kernel ops after it. A violation is an internal fault
 * that names `where`. */
typedef enum { STAGE_SEMANTIC = 1, STAGE_KERNEL = 2 } Stage;
void program_verify(const Program *, Stage, const char *where);

/* Stable text, for --dump and the golden tests. */
void program_print(const Program *, StrBuf *);

uint32_t stable_hash(const char *text); /* FNV-1a, 32 bits */

#endif
