/* What a plan runs: kernels, matrix products and collectives, and the launches of each entry. */
#ifndef PLAN_LAUNCH_H
#define PLAN_LAUNCH_H

#include "devices/device.h"
#include "graph/graph.h"
#include "graph/steps.h"

/* ---- kernels -------------------------------------------------------------------------------- */

/* How a body's iteration space is mapped to threads.
 *   FLAT        one element (or vector) per thread, or one of each of a few rows
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

enum { MOST_GRID_X = INT32_MAX, MOST_GRID_YZ = 65535 }; /* CUDA's limits of a grid */
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

/* Each kind of op that a kernel carries out, once, in order of first occurrence. */
typedef struct {
    const char **title; /* "add", "rms_norm" */
    int count;
} OpTitles;

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
    int thread_rows;          /* FLAT: rows of which a thread has a vector, far apart */
    int parts;                /* sums over rows: rows that a block visits at a time */
    int lanes;                /* row skeletons and EPILOGUE: threads that share a row */
    int column_blocks;        /* TILE: blocks that share a row, else 1 */
    int chunks;               /* EPILOGUE: most vectors of a row that a thread holds, else 0 */
    int threads, vector;      /* threads per block; elements per access of a thread */
    bool prefetches;          /* TILE: see skeleton_ahead */
    bool shares_rows;         /* compile.thread_rows: a thread loads once what its rows share */
    int64_t shared_bytes;
    OpTitles ops;
    Pos pos; /* spec line of the first op */
} Kernel;

/* A collective of a rank group. `count` elements: one rank's part in an all_gather or
 * reduce_scatter, all of them otherwise. */
typedef struct {
    CollectiveKind kind;
    RankGroup group;
    int64_t count;
    DType dtype;
} Collective;

/* Whether the number of rows is a scalar, the first one. A block per row does not need it. */
bool kernel_takes_rows(const Kernel *);
/* Index of the kernel's scalar that names the random stream of a UNIFORM step of its body. */
int kernel_stream_scalar(const Kernel *, int step);

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
    bool bias; /* adds a vector of n elements to each row */
} Gemm;

/* FETCH: the host reads a parameter from its file; EXPORT: it takes a tensor that goes into a file.
 * They occur only in load, convert and merge. */
typedef enum {
    LAUNCH_KERNEL,
    LAUNCH_GEMM,
    LAUNCH_ZERO,
    LAUNCH_COLLECTIVE,
    LAUNCH_PEER_COPY,
    LAUNCH_FETCH,
    LAUNCH_EXPORT
} LaunchKind;

/* issued_bytes: what threads ask of memory. moved_bytes: each operand and result once per launch,
 * but at most issued_bytes; of these, cached_bytes stay in the L2 cache and dram_bytes are the
 * rest. least_bytes: see least.h. model_flops: of the graph's matrix products, convolutions
 * and attention, without recomputation and products with zeros that only pad a shape; the share of
 * peak refers to it. */
typedef struct {
    double flops, model_flops, issued_bytes, moved_bytes, cached_bytes, dram_bytes, least_bytes, ms;
    double instructions; /* of all threads, in kernels that are only a body; else 0 */
    double slowed_ms; /* part of ms: time that kernels lose to concurrent collectives */
} Cost;

typedef struct Launch {
    LaunchKind kind;
    int index; /* of the kernel, GEMM or collective; PEER_COPY, EXPORT: stands for the attributes of
                * the op that the emitted call has, so that only launches with the same ones repeat */
    const Value *arg[MAX_PARAMS]; /* GEMM: a, b, c; ZERO: to; PEER_COPY: to, from; COLLECTIVE: to, and
                                   * from unless it works in place; FETCH: to, the parameter as
                                   * STATE keeps it; EXPORT: from, the parameter */
    bool written[MAX_PARAMS], read[MAX_PARAMS];
    int arg_count;
    /* Launches merged into this one: each is a slice of its grid (z), and the operands of
     * consecutive slices are one stride apart. */
    const struct Launch *joined;
    int joined_count;
    int64_t scalar[MAX_SCALARS]; /* values of kernel->scalar[] */
    int64_t grid[3]; /* of a kernel */
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
    Bound bound;       /* of cost.ms */
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

/* Adds a cost, as often as `times` says: bytes, FLOPs, instructions and time. */
void cost_add(Cost *sum, const Cost *, double times);

/* An operand or result of a launch or of a launch joined to it. */
typedef struct {
    const Value *value;
    bool read, written;
} Touched;

int launch_touch_count(const Launch *);
Touched launch_touched(const Launch *, int index);
/* How many rows the launch of the kernel, which has a body, covers. */
int64_t launch_rows(const Kernel *, const Launch *);
/* The first op of the last launch joined to it, or of itself where none is. */
const Op *launch_last_op(const Launch *);

#endif
