/* The plan: what runs, in which order, where every byte lies and what it should cost.
 *
 * Made once from a lowered Program and const afterwards. Four rooms fill it in this order:
 *   launches.c           ops -> launches of kernels, GEMMs, memsets (what runs)
 *   join_launches.c      launches that differ by a stride alone are one
 *   buckets.c, streams.c launches -> streams, and what waits for what (beside what it runs)
 *   memory.c             storages -> offsets in the arenas (where it lies)
 *   cache.c, predict.c   bytes, FLOPs, time on the spec's device (what it costs)
 * side_stream.c goes through the last three once more, with kernels beside each other.
 * check.c proves the memory plan anew from launches and offsets alone; it shares no code with
 * memory.c. Nothing here knows a model or a tuning technique. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "devices/device.h"
#include "graph/graph.h"
#include "graph/steps.h"
#include "plan/schedule.h"
#include "spec/spec.h"

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- kernels -------------------------------------------------------------------------------- */

/* How a body's iteration space is laid over threads.
 *   FLAT        one element (or vector) a thread
 *   WARP_ROW    a warp a row, the row in registers      BLOCK_ROW  a block a row, likewise
 *   STREAM_ROW  a block a row too wide for registers: each phase reads it again
 *   TILE        sums over rows: a block's threads lie side by side over rows and columns
 *   COLUMN      the second pass of COL_SUM: a thread holds a column's total
 *   EPILOGUE    what follows in a template's kernel: a thread has elements of some rows and columns */
typedef enum {
    SKELETON_FLAT,
    SKELETON_WARP_ROW,
    SKELETON_BLOCK_ROW,
    SKELETON_STREAM_ROW,
    SKELETON_TILE,
    SKELETON_COLUMN,
    SKELETON_EPILOGUE
} Skeleton;

typedef struct {
    const char *hole, *value; /* of a template */
} Hole;

enum { MAX_PARAMS = 24, MAX_SCALARS = 8, MAX_STREAMS = 4, MAX_WAITS = 4 };

/* Streams: what overlaps with the first one runs on the others. */
enum { STREAM_COMPUTE, STREAM_COMMUNICATION, STREAM_SIDE };

/* A pointer of a kernel: one place in memory, read, written or both. */
typedef struct {
    const char *name; /* "x", "weight": the last part of the first launch's value name */
    DType dtype;
    bool read, written;
    bool overlaps;      /* another pointer of the launch, one of them written */
    const Value *value; /* the first launch's; other launches agree in shape and strides */
} KernelParam;

/* What differs between launches of one kernel and is no pointer: extents that grow with the number
 * of layers, the names of random streams, and strides. Passed after the pointers. */
typedef struct {
    const char *name; /* "rows", "stream" */
    DType dtype;      /* DT_I64, or DT_I32 for uint32_t */
} KernelScalar;

/* One extern "C" function of kernels.cu, shared by all launches with the same signature. */
typedef struct {
    const char *name;      /* unique, stable: "add_rms_norm_1024x128" */
    const char *signature; /* canonical text of what it does; equal text, same kernel */
    const Body *body;      /* printed over `skeleton`; NULL: a template without an epilogue */
    Skeleton skeleton;
    const char *template_name;   /* "attention_fma.cu"; NULL: a body alone */
    const char *template_kernel; /* which of the template's kernels, by its default name */
    double matmul_share;         /* what it reaches of products' rate; 0: as other templates */
    Hole *holes;
    int hole_count;
    KernelParam param[MAX_PARAMS]; /* pointers, in the order in which a launch passes them */
    int param_count;
    int template_params; /* the first ones, which the template names */
    KernelScalar scalar[MAX_SCALARS];
    int scalar_count;
    bool strided; /* block z has each pointer that many strides further on, which the scalars say */
    const int *param_of_step; /* of a body: LOAD, STORE, COL_SUM step -> its pointer; -1 else */
    DType real;               /* what REAL steps compute in */
    int64_t rows;             /* 0: the scalar "rows" says it */
    int64_t workers;          /* of a body with sums over rows: a block takes a run of rows, else 0;
                          * EPILOGUE: threads that share a column */
    int parts;                /* of a block with sums over rows: rows that it visits at once */
    int lanes;                /* of a row skeleton or EPILOGUE: threads that share a row */
    int column_blocks;        /* TILE: blocks that share a row, else 1 */
    int chunks;               /* EPILOGUE: vectors of a row that a thread holds at most, else 0 */
    int threads, vector;      /* threads a block; elements a thread handles at once */
    int64_t shared_bytes;
    const char *ops; /* for the head comment: "add, rms_norm" */
    Pos pos;         /* spec line of the first op */
} Kernel;

/* What the ranks of a group do with `count` elements, of each rank's part or of all. */
typedef struct {
    CollectiveKind kind;
    RankGroup group;
    int64_t count;
    DType dtype;
} Collective;

/* ---- launches ------------------------------------------------------------------------------- */

/* One product, or batch_count of them of the same shape: stride_… elements lie between one's operand
 * and the next one's, 0 where all have the same. */
typedef struct {
    const char *name;
    int64_t m, n, k, lda, ldb, ldc;
    int64_t batch_count, stride_a, stride_b, stride_c;
    bool transpose_a, transpose_b;
    DType a, b, c;
    enum { COMPUTE_F32, COMPUTE_TF32, COMPUTE_F64 } compute;
    double alpha, beta;
} Gemm;

/* FETCH: the host brings a parameter from its file, EXPORT: it takes a tensor for one; in load and
 * convert alone. */
typedef enum {
    LAUNCH_KERNEL,
    LAUNCH_GEMM,
    LAUNCH_ZERO,
    LAUNCH_COPY,
    LAUNCH_COLLECTIVE,
    LAUNCH_PEER_COPY,
    LAUNCH_FETCH,
    LAUNCH_EXPORT
} LaunchKind;

/* model_flops leaves out what is computed a second time to save memory, and what is multiplied by zeros
 * that are there for the shape alone: shares of peak refer to it. moved_bytes are those of each operand
 * and result once a launch, but no more than is asked for; cached_bytes stay in the L2 cache, and
 * dram_bytes are the rest. */
typedef struct {
    double flops, model_flops, issued_bytes, moved_bytes, cached_bytes, dram_bytes, least_bytes, ms;
    double instructions; /* of all threads, in kernels that are bodies alone; else 0 */
    double slowed_ms; /* of ms: what kernels of several streams lose to collectives beside them */
} Cost;

typedef struct Launch {
    LaunchKind kind;
    int index; /* of the kernel, GEMM or collective; PEER_COPY, EXPORT: equal for equal
                * attributes */
    const Value *arg[MAX_PARAMS]; /* GEMM: a, b, c; ZERO: to; copies: to, from; COLLECTIVE: to, and
                                   * from where that is another place; FETCH: to, what is kept;
                                   * EXPORT: from, the parameter */
    bool written[MAX_PARAMS], read[MAX_PARAMS];
    int arg_count;
    /* Launches that are one with this: a slice of its grid (z) each, their operands a stride further on
     * from one to the next. */
    const struct Launch *joined;
    int joined_count;
    int64_t scalar[MAX_SCALARS]; /* values of kernel->scalar[] */
    int64_t grid[3];
    const Op *const *ops; /* the ops it carries out */
    int op_count;
    const char *observe; /* dump arg of this launch after it: name, else NULL */
    const Value *observed;
    bool ends_step; /* of micro_step: runs in the last one of a step alone */
    int stream;
    bool forks; /* the first on its stream: begins after all that precedes the entry */
    int wait
        [MAX_WAITS]; /* launches on other streams that end before this one begins: an event each */
    int wait_count;
    Cost cost;
    double tile_share; /* of what a template's tiles multiply, what lies in the matrices; 0: all */
} Launch;

typedef struct {
    const char *name;
    Launch *launches;
    int launch_count, launch_capacity;
    int wait[MAX_STREAMS]; /* launches on other streams that end before the entry does */
    int wait_count;
    Cost cost;       /* of one run; of micro_step, of a step's last */
    Cost other_cost; /* of a run that ends no step */
} PlanEntry;

/* ---- memory --------------------------------------------------------------------------------- */

/* INPUT and STASH have slots: one a batch on the device, one a micro-batch in flight. */
typedef enum { ARENA_STATE, ARENA_SCRATCH, ARENA_INPUT, ARENA_STASH, ARENA_COUNT } ArenaKind;

typedef struct {
    ArenaKind arena;
    int64_t offset; /* bytes, a multiple of 256; -1: never used */
} Place;

/* Collectives of a kind in a step. The bytes are what nccl-tests calls their size: those of all ranks'
 * parts where ranks have parts. */
typedef struct {
    int count;
    double bytes, ms;
} Exchanged;

typedef struct {
    Program *program;
    const Spec *spec;
    const Device *device;
    PlanEntry entry[ENTRY_COUNT];
    Kernel *kernels;
    int kernel_count, kernel_capacity;
    Gemm *gemms;
    int gemm_count, gemm_capacity;
    Collective *collectives;
    int collective_count, collective_capacity;
    Place *place;                     /* by storage id */
    int64_t arena_bytes[ARENA_COUNT]; /* of one slot */
    int64_t replica_bytes;            /* of STATE, on all cards but the first */
    StageSchedule schedule;           /* of a pipeline's stage */
    /* In SCRATCH, one behind the other: for each stream that has products. */
    int64_t gemm_workspace_offset, gemm_workspace_bytes;
    int gemm_workspaces;
    int64_t role_bytes[ROLE_COUNT]; /* of all storages in use, scratch as if never shared */
    /* What the process should use of a card: arenas and the device file's overheads. The second is of
     * each card but the first. */
    int64_t process_bytes, replica_process_bytes;
    Cost step;                             /* one training step: micro-steps and update */
    Exchanged exchanged[COLLECTIVE_KINDS]; /* in that step */
    Exchanged copies[PURPOSE_COUNT];       /* from card to card in that step, of all cards */
    /* Of what ranks exchange, what the step waits for; the rest is beside other work. */
    double exposed_ms;
    double alone_ms;      /* of one rank's batches by the plan for one card, */
    bool alone_fits;      /* which has room for them */
    StageTime stage_time; /* of a pipeline's stage */
    double bubble;        /* share of a step in which the cards of its stages wait */
} Plan;

/* Decides what runs. Fusion, when on, joins the bodies of neighbouring ops. */
void plan_launches(Plan *);
/* Makes one of launches of a kernel whose operands lie at one stride. What lasts needs its places. */
void plan_join_launches(Plan *);
/* Decides on which stream each launch runs and what it waits for; before that, which collectives
 * over neighbouring bytes are one. Until then all launches are on one stream, one after the other. */
void plan_streams(Plan *);
/* Bytes that the launch's threads ask of global memory and its arithmetic, for every kind of launch;
 * the rest of the cost is 0. Exact for bodies and GEMM operands counted once; templates by the
 * formulas of their head comments. */
Cost launch_work(const Plan *, const Launch *);
/* An operand or result, of the launch itself or of those joined to it. */
typedef struct {
    const Value *value;
    bool read, written;
} Touched;

int launch_touches(const Launch *); /* how many */
Touched launch_touched(const Launch *, int index);
/* Which of the kernel's scalars names the random stream of a UNIFORM step of its body. */
int kernel_stream_scalar(const Kernel *, int step);
/* The first op of the last launch in it. */
const Op *launch_last_op(const Launch *);
/* The first launch of a kernel or matrix product. */
const Launch *plan_first_launch(const Plan *, LaunchKind, int index);
/* Of its kernel or product, or "[memset]" and the like. */
const char *launch_name(const Plan *, const Launch *);
/* Moves kernels that nothing behind them waits for to the side stream, where the plan, which is made
 * and priced until here, gains by that; and then plans memory and prices again. */
void plan_side_stream(Plan *);
/* Of the workspaces, the stream's. */
int64_t plan_gemm_workspace(const Plan *, int stream);
/* Places storages; the arenas' sizes follow. */
void plan_memory(Plan *);
/* Those alone that outlive an entry: they lie where plan_memory leaves them. */
void plan_lasting(Plan *);
/* Ends in an internal fault unless every launch comes after those that it depends on, no two live
 * buffers share a byte, and every view is inside its arena. */
void plan_check(const Plan *);
/* The same as a sentence about the first fault; NULL: none. */
const char *plan_find_fault(const Plan *);
/* Costs of every launch and the process's memory. */
void plan_predict(Plan *);
/* Whether the plan fits the device and the spec's budget; where not, ends in a user error that names
 * the largest consumers and the key that would help most. */
void plan_require_fit(const Plan *);
/* The same in the voice of user_error or warn_at, for a plan that does not fit. The fact begins with
 * `prefix`. */
void plan_say_unfit(const Plan *, const char *prefix,
                    void (*say)(Pos, const char *hint, const char *format, ...));
bool plan_fits(const Plan *);
int64_t plan_budget_bytes(const Plan *);

Plan *plan_new(Program *, const Spec *, const Device *);

/* Kernels and matrix products of one run of an entry. */
int plan_kernel_launches(const Plan *, Entry);
/* How often a step runs a launch of the entry, on each card that does; 0: no step does. */
double plan_times(const Plan *, Entry, const Launch *);
/* Launches of every kind in a step of the first card. */
int plan_step_launches(const Plan *);
/* Kernels and matrix products in a step of all cards of the process. */
double plan_step_kernels(const Plan *);
/* Bytes of batches that a step of all cards of the process copies from the host. */
double plan_step_input_bytes(const Plan *);
/* The unit that the program's matrix products run on. */
Rate plan_rate(const Plan *);
/* The groups of several ranks that the program needs a communicator for; how many. */
int plan_groups(const Plan *, RankGroup groups[GROUP_SETS]);
/* Of all collectives of a step: their time, each by itself, their number and their bytes. */
Exchanged plan_exchanged(const Plan *);
/* Of all ranks and stages. */
int plan_cards(const Plan *);
/* Tokens, or what else the program counts, of a step of all cards. */
double plan_step_rows(const Plan *);
/* The launch at which most bytes of SCRATCH are live, and how many. */
typedef struct {
    Entry entry;
    int launch;
    int64_t bytes;
} Peak;

Peak plan_peak(const Plan *);
/* Weights of few bits that backward reads: kept as forward decoded them, or decoded again. */
typedef struct {
    int kept, again;
    int64_t kept_bytes;
} DecodedWeights;

DecodedWeights plan_decoded(const Plan *);
/* How much more all cards do than one card does of such steps. */
double plan_speedup(const Plan *);
/* What holds the bytes of a role, for people: "frozen weights". */
const char *plan_role_title(Role);
int64_t plan_slots(const Plan *, ArenaKind); /* that the runtime has of the arena */
int64_t plan_total_bytes(const Plan *);      /* of all arenas */
/* The byte where a value starts, in its arena. */
Place plan_place(const Plan *, const Value *);

/* The same of a pipeline: a step takes as long as all stages together. */
void plan_stages(Plan *const *stages, int count);
void pipeline_print_text(const Plan *const *stages, int count, StrBuf *);
void pipeline_print_json(const Plan *const *stages, int count, StrBuf *);

void plan_print_text(const Plan *, StrBuf *); /* plan.txt and the terminal */
void plan_print_json(const Plan *, StrBuf *); /* plan.json */

#endif
