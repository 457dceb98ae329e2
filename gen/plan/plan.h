/* The plan: what runs, in which order, where every byte lies and what it should cost.
 *
 * Made once from a lowered Program and const afterwards. Filled in this order:
 *   launches.c           ops -> launches of kernels, GEMMs, memsets (what runs)
 *   join_launches.c      launches that differ only by a stride -> one launch
 *   buckets.c, streams.c launches -> streams, and what waits for what (what overlaps)
 *   memory.c, peak.c     storages -> offsets in the arenas (where it lies)
 *   cache.c, predict.c   bytes, FLOPs, time on the spec's device (what it costs)
 * side_stream.c repeats the last three with some kernels on a second stream.
 * check.c proves the memory plan independently, from launches and offsets only; it shares no code
 * with memory.c. Nothing here knows a model or a tuning technique. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "devices/device.h"
#include "graph/graph.h"
#include "graph/steps.h"
#include "plan/schedule.h"
#include "spec/spec.h"

/* ---- kernels -------------------------------------------------------------------------------- */

/* How a body's iteration space is mapped to threads.
 *   FLAT        one element (or vector) per thread
 *   WARP_ROW    one warp per row, the row in registers    BLOCK_ROW  one block per row, likewise
 *   STREAM_ROW  one block per row that is too wide for registers: each phase rereads it
 *   TILE        sums over rows: a block's threads form a tile of rows and columns
 *   COLUMN      the second pass of COL_SUM: a thread holds a column's total
 *   EPILOGUE    the end of a template's kernel: a thread has elements of some rows and columns; or
 *               its beginning (prologue): a thread makes a vector of a row at a time */
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
    const char *hole, *value; /* a template's hole and the text that fills it */
} Hole;

enum { MAX_PARAMS = 24, MAX_SCALARS = 8, MAX_STREAMS = 4, MAX_WAITS = 4 };

/* Streams: work that overlaps the compute stream runs on the others. */
enum { STREAM_COMPUTE, STREAM_COMMUNICATION, STREAM_SIDE };

/* A pointer parameter of a kernel: one place in memory that is read, written or both. */
typedef struct {
    const char *name; /* "x", "weight": last part of the value's name in the first launch */
    DType dtype;
    bool read, written;
    bool overlaps;      /* it overlaps another pointer, and one of the two is written */
    const Value *value; /* in the first launch; those of others have the same shape and strides */
} KernelParam;

/* An argument, other than a pointer, that differs between launches of one kernel: an extent that
 * grows with the number of layers, a random stream, or a stride. Passed after the pointers. */
typedef struct {
    const char *name; /* "rows", "stream" */
    DType dtype;      /* DT_I64, or DT_I32 for uint32_t */
} KernelScalar;

/* One extern "C" function in kernels.cu, shared by all launches with the same signature. */
typedef struct {
    const char *name;      /* unique, stable: "add_rms_norm_1024x128" */
    const char *signature; /* canonical text of what it does: equal texts mean the same kernel */
    const Body *body;      /* printed over `skeleton`; NULL: a template without epilogue, prologue */
    bool prologue;         /* a template's body makes its operands; otherwise it is the epilogue */
    Skeleton skeleton;
    const char *template_name;   /* "attention_fma.cu"; NULL: the kernel is only a body */
    const char *template_kernel; /* which of the template's kernels, by its default name */
    double matmul_share;         /* share of the matmul rate; 0: that of other templates */
    Hole *holes;
    int hole_count;
    KernelParam param[MAX_PARAMS]; /* pointers, in the order in which a launch passes them */
    int param_count;
    int template_params; /* how many of these, the first ones, the template names */
    KernelScalar scalar[MAX_SCALARS];
    int scalar_count;
    bool strided; /* block z offsets each pointer by z of its strides, which are the scalars */
    const int *param_of_step; /* body: pointer index of each LOAD, STORE, COL_SUM step, else -1 */
    DType real;               /* type in which REAL steps compute */
    int64_t rows;             /* 0: any number, see kernel_takes_rows */
    int64_t workers;          /* sums over rows: number of blocks, each with a run of rows, else 0;
                          * EPILOGUE: threads that share a column */
    int parts;                /* sums over rows: rows that a block visits at a time */
    int lanes;                /* row skeletons and EPILOGUE: threads that share a row */
    int column_blocks;        /* TILE: blocks that share a row, else 1 */
    int chunks;               /* EPILOGUE: most vectors of a row that a thread holds, else 0 */
    int threads, vector;      /* threads per block; elements per access of a thread */
    int64_t shared_bytes;
    const char *ops; /* for the head comment: "add, rms_norm" */
    Pos pos;         /* spec line of the first op */
} Kernel;

/* A collective of a rank group. `count` elements: one rank's part in an all_gather or
 * reduce_scatter, all of them otherwise. */
typedef struct {
    CollectiveKind kind;
    RankGroup group;
    int64_t count;
    DType dtype;
} Collective;

/* ---- launches ------------------------------------------------------------------------------- */

/* One matrix product, or a batch of batch_count products of the same shape. stride_… is the
 * distance in elements between operands of consecutive products; 0 if all share one. */
typedef struct {
    const char *name;
    int64_t m, n, k, lda, ldb, ldc;
    int64_t batch_count, stride_a, stride_b, stride_c;
    bool transpose_a, transpose_b;
    DType a, b, c;
    enum { COMPUTE_F32, COMPUTE_TF32, COMPUTE_F64 } compute;
    double alpha, beta;
} Gemm;

/* FETCH: the host reads a parameter from its file; EXPORT: it takes a tensor that goes into a file.
 * They occur only in load, convert and merge. */
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

/* issued_bytes: what threads ask of memory. moved_bytes: each operand and result once per launch,
 * but at most issued_bytes; of these, cached_bytes stay in the L2 cache and dram_bytes are the
 * rest. least_bytes: see predict.c. model_flops leaves out recomputation and products with zeros
 * that only pad a shape; the share of peak refers to it. */
typedef struct {
    double flops, model_flops, issued_bytes, moved_bytes, cached_bytes, dram_bytes, least_bytes, ms;
    double instructions; /* of all threads, in kernels that are only a body; else 0 */
    double slowed_ms; /* part of ms: time that kernels lose to concurrent collectives */
} Cost;

typedef struct Launch {
    LaunchKind kind;
    int index; /* of the kernel, GEMM or collective; PEER_COPY, EXPORT: a code of the op's
                * attributes */
    const Value *arg[MAX_PARAMS]; /* GEMM: a, b, c; ZERO: to; copies: to, from; COLLECTIVE: to, and
                                   * from unless it works in place; FETCH: to, the parameter as
                                   * STATE keeps it; EXPORT: from, the parameter */
    bool written[MAX_PARAMS], read[MAX_PARAMS];
    int arg_count;
    /* Launches merged into this one: each is a slice of its grid (z), and the operands of
     * consecutive slices are one stride apart. */
    const struct Launch *joined;
    int joined_count;
    int64_t scalar[MAX_SCALARS]; /* values of kernel->scalar[] */
    int64_t grid[3];
    const Op *const *ops; /* the ops it carries out */
    int op_count;
    const char *observe; /* dump `observed` under this name after the launch; or NULL */
    const Value *observed;
    bool ends_step; /* of micro_step: runs only in the last micro-step of a step */
    int stream;
    bool forks; /* first on its stream: waits for everything that precedes the entry */
    int wait[MAX_WAITS]; /* launches on other streams that end before this one; an event each */
    int wait_count;
    Cost cost;
    double idle;       /* part of the multiprocessors that none of its blocks occupies */
    double tile_share; /* part of a template's tiles that lies inside the matrices; 0: all */
} Launch;

typedef struct {
    const char *name;
    GraphUses uses; /* of the values that the program had before its launches */
    Launch *launches;
    int launch_count, launch_capacity;
    int wait[MAX_STREAMS]; /* launches on other streams that end before the entry does */
    int wait_count;
    Cost cost;       /* of one run; of micro_step, of the last run in a step */
    Cost other_cost; /* of a run that does not end a step */
} PlanEntry;

/* ---- memory --------------------------------------------------------------------------------- */

/* INPUT and STASH have slots: INPUT one per batch on the device, STASH one per micro-batch in
 * flight. */
typedef enum { ARENA_STATE, ARENA_SCRATCH, ARENA_INPUT, ARENA_STASH, ARENA_COUNT } ArenaKind;

typedef struct {
    ArenaKind arena;
    int64_t offset; /* bytes, a multiple of 256; -1: never used */
} Place;

/* All collectives of one kind in a step. Bytes are sizes as nccl-tests counts them: the parts of
 * all ranks together where ranks have parts. */
typedef struct {
    int count;
    double bytes, ms;
} Exchanged;

/* The launch at which most bytes of SCRATCH are live, and how many are. */
typedef struct {
    Entry entry;
    int launch;
    int64_t bytes;
} Peak;

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
    int64_t replica_bytes;            /* of STATE, on each card but the first */
    StageSchedule schedule;           /* of a pipeline's stage */
    /* Workspaces of matrix products, at the end of SCRATCH: one per stream that has products. */
    int64_t gemm_workspace_offset, gemm_workspace_bytes;
    int gemm_workspaces;
    int64_t role_bytes[ROLE_COUNT]; /* of all storages in use, as if none shared bytes */
    /* Device memory that the process should use: arenas and the device file's overheads. On the
     * first card, and on each other card. */
    int64_t process_bytes, replica_process_bytes;
    Peak peak;
    Cost step;                             /* one training step: micro-steps and update */
    Exchanged exchanged[COLLECTIVE_KINDS]; /* in that step */
    Exchanged copies[PURPOSE_COUNT];       /* between cards in that step, all cards together */
    /* Time of what cards exchange that the step waits for; the rest overlaps other work. */
    double exposed_ms;
    double alone_ms;      /* step time of a single card with one rank's batches */
    bool alone_fits;      /* whether these fit a single card */
    StageTime stage_time; /* of a pipeline's stage */
    double bubble;        /* share of a step in which the pipeline's cards wait */
} Plan;

/* Decides what runs. Fusion, when on, joins the bodies of neighbouring ops. */
void plan_launches(Plan *);
/* Joins launches of a kernel whose operands are one stride apart. Requires plan_lasting. */
void plan_join_launches(Plan *);
/* Joins collectives over neighbouring bytes, then decides on which stream each launch runs and what
 * it waits for. Until then all launches are on one stream, in order. */
void plan_streams(Plan *);
/* Returns issued bytes, FLOPs and instructions of a launch of any kind; the rest of the cost is 0.
 * Exact for bodies; a GEMM counts each operand once; templates use the formulas in their head
 * comments. */
Cost launch_work(const Plan *, const Launch *);
/* An operand or result of a launch or of a launch joined to it. */
typedef struct {
    const Value *value;
    bool read, written;
} Touched;

int launch_touch_count(const Launch *);
Touched launch_touched(const Launch *, int index);
/* Whether the number of rows is a scalar, the first one. A block per row does not need it. */
bool kernel_takes_rows(const Kernel *);
/* How many rows the launch of the kernel, which has a body, covers. */
int64_t launch_rows(const Kernel *, const Launch *);
/* Index of the kernel's scalar that names the random stream of a UNIFORM step of its body. */
int kernel_stream_scalar(const Kernel *, int step);
/* The first op of the last launch joined to it, or of itself where none is. */
const Op *launch_last_op(const Launch *);
/* The first launch of a kernel or matrix product; none is an internal fault. */
const Launch *plan_first_launch(const Plan *, LaunchKind, int index);
/* Name of its kernel or product, or "[memset]" and the like. */
const char *launch_name(const Plan *, const Launch *);
/* Moves kernels that no later launch waits for to the side stream if that improves the plan, which
 * must be complete and priced; then plans memory and prices again. */
void plan_side_stream(Plan *);
/* Offset of a stream's workspace in SCRATCH. */
int64_t plan_gemm_workspace(const Plan *, int stream);
/* Places all storages and sets the arenas' sizes. */
void plan_memory(Plan *);
/* Places only the storages that outlive an entry, where plan_memory will place them too. */
void plan_lasting(Plan *);
/* Raises an internal fault unless every launch comes after those that it depends on, no two live
 * buffers share a byte, and every view is inside its arena. */
void plan_check(const Plan *);
/* Returns a sentence about the first such fault, or NULL. */
const char *plan_find_fault(const Plan *);
/* Predicts the cost of every launch, and the process's memory. */
void plan_predict(Plan *);
/* Raises a user error if a kernel needs more shared memory than a block of the device can have. */
void plan_require_shared_memory(const Plan *);
/* Raises a user error if the plan does not fit the device and the spec's budget. The error names
 * the largest consumers and the key that would help most. */
void plan_require_fit(const Plan *);
/* Reports the same about a plan that does not fit through `say`: user_error or warn_at. The message
 * begins with `prefix`. */
void plan_say_unfit(const Plan *, const char *prefix,
                    void (*say)(Pos, const char *hint, const char *format, ...));
/* Finds the peak. */
void plan_peak(Plan *);
bool plan_fits(const Plan *);
int64_t plan_budget_bytes(const Plan *);

Plan *plan_new(Program *, const Spec *, const Device *);

/* Kernels and matrix products of one run of an entry. */
int plan_kernel_launches(const Plan *, Entry);
/* How often a step runs a launch of the entry on each card that runs the entry; 0: never. */
double plan_times(const Plan *, Entry, const Launch *);
/* Launches of every kind in a step of the first card. */
int plan_step_launches(const Plan *);
/* Kernels and matrix products in a step of all cards of the process. */
double plan_step_kernels(const Plan *);
/* Bytes of batches that a step of all cards of the process copies from the host. */
double plan_step_input_bytes(const Plan *);
/* The rate at which the program's matrix products run. */
Rate plan_rate(const Plan *);
/* Lists the rank groups, of several ranks each, that need a communicator; returns how many. */
int plan_groups(const Plan *, RankGroup groups[GROUP_SETS]);
/* All collectives of a step and copies between cards: number, bytes, and the sum of their times. */
Exchanged plan_exchanged(const Plan *);
/* Cards of all ranks and stages. */
int plan_cards(const Plan *);
/* Tokens, or whatever unit the program counts, in a step of all cards. */
double plan_step_rows(const Plan *);
/* Weights of few bits that backward reads: how many it finds as forward decoded them, and how many
 * it decodes again. */
typedef struct {
    int kept, again;
    int64_t kept_bytes;
} DecodedWeights;

DecodedWeights plan_decoded(const Plan *);
/* Throughput of all cards divided by that of one card alone. */
double plan_speedup(const Plan *);
/* Title of a role in reports: "frozen weights". */
const char *plan_role_title(Role);
int64_t plan_slots(const Plan *, ArenaKind); /* slots of an arena that the runtime allocates */
int64_t plan_total_bytes(const Plan *);      /* all arenas with all slots */
/* The arena in which a value lies, and the offset of its first byte. */
static inline Place plan_place(const Plan *plan, const Value *value) {
    Place place = plan->place[value->storage->id];
    if (place.offset >= 0)
        place.offset += value_begin(value);
    return place;
}

/* Pipelines: plan_stages schedules the stages together and sets each plan's step time; the printers
 * print all stages. */
void plan_stages(Plan *const *stages, int count);
void pipeline_print_text(const Plan *const *stages, int count, StrBuf *);
void pipeline_print_json(const Plan *const *stages, int count, StrBuf *);

void plan_print_text(const Plan *, StrBuf *); /* plan.txt and the terminal */
void plan_print_json(const Plan *, StrBuf *); /* plan.json */

#endif
