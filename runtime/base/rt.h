/* Declarations private to the runtime, shared by all of its files.
 *
 * One process trains one program. The state of each card that it drives is one `Rt`; the driver's
 * function table (driver.h) is shared. Errors that a user can cause end the process through
 * rt_fail(); bugs in the runtime abort through rt_internal(). */
#ifndef GPUOPT_RT_H
#define GPUOPT_RT_H

#include "runtime/base/numa.h"
#include "runtime/runtime.h"

#include <cuda.h>

#define RT_MAX_PATH 4096
#define RT_MAX_MODULES 8 /* parts that kernels.cu is split into when it is compiled at start */

/* ---- errors, clock, dtypes (rt.c) ------------------------------------------------------------ */

/* Prints `error: ...` on stderr and exits with code 1. Give fact and remedy, without newline. */
_Noreturn void rt_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports a bug in the runtime ("internal fault ...") and aborts. */
_Noreturn void rt_internal(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for signal handlers: it never runs the exit handlers of libraries. */
_Noreturn void rt_fail_at_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the same line as rt_fail(), but returns. */
void rt_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For a program with several ranks: error lines name the rank, only rank 0 prints warnings, and
 * rt_fail() skips the exit handlers of libraries, which may wait for other ranks. */
void rt_name_rank(int rank);
/* rt_fail() leaves its error to `say`, which calls rt_say_error() unless another rank has. */
void rt_share_errors(void say(const char *error));
/* Prints `warning: ...` on stderr. */
void rt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

double rt_now_ms(void);       /* monotonic */
void *rt_alloc(size_t bytes); /* zeroed; ends the process if out of memory */

size_t rt_dtype_bytes(RtDtype dtype);
const char *rt_dtype_name(RtDtype dtype); /* as in safetensors: "F32", "BF16", ... */
double rt_get(RtDtype dtype, const void *values, int64_t i);
/* For printing: a NaN, whose sign says nothing, has none. */
double rt_figure(RtDtype dtype, const void *values, int64_t i);
/* For "%.6f", which would print a negative number that it shows no digit of as -0.000000. */
double rt_six_decimals(double value);
void rt_set(RtDtype dtype, void *values, int64_t i, double value); /* rounds to nearest even */
void rt_set_row(RtDtype dtype, void *values, int64_t first, const double *row, int64_t count);

/* mkdir -p; returns false and sets errno on failure. */
bool rt_make_folder(const char *path);
/* Returns why files cannot be written to a folder, or NULL. One that does not exist can be made. */
const char *rt_folder_problem(const char *path);
/* Returns whether both paths exist and lead to the same file or folder. */
bool rt_same_file(const char *a, const char *b);

/* ---- command line (options.c) ---------------------------------------------------------------- */

typedef struct {
    int64_t steps; /* step to stop after; program->training.steps unless --steps is given */
    int64_t seed;
    bool no_adapter;
    const char *init_dir;    /* --init; NULL: not given */
    const char *adapter_dir; /* NULL: none */
    bool resume;
    const char *resume_dir; /* a checkpoint's folder; NULL: the newest under out */
    const char *out_dir;    /* default: <program_dir>/out */
    bool out_given;         /* out_dir comes from --out */
    const char *dump_file;  /* NULL: no dump */
    const char *merge_dir;  /* NULL: no merge */
    const char *exe_dir;    /* folder of the executable */
    const char *program_dir; /* the same; for a pipeline, the folder with those of its stages */
    bool tune;              /* time algorithms of matrix products and do nothing else */
    bool probe;             /* look for the device and do nothing else */
    bool help;              /* print the options and do nothing else */
    bool jit;               /* GPUOPT_JIT=1 */
    char **argv;
} RtOptions;

/* ---- measurements ---------------------------------------------------------------------------- */

typedef enum { RT_H2D, RT_D2H, RT_D2D, RT_COPY_KINDS } RtCopyKind;

typedef struct {
    int64_t count, bytes;
    int64_t pinned; /* how many of `count` used pinned host memory; D2D: 0 */
} RtCopies;

typedef enum {
    RT_ALL_REDUCE,
    RT_ALL_GATHER,
    RT_REDUCE_SCATTER,
    RT_BROADCAST,
    RT_SEND_RECV, /* one group of messages between neighbours; only bytes sent are counted */
    RT_COLLECTIVES
} RtCollective;

/* Totals of one kind of collective. `bytes` is what nccl-tests calls the size of a collective; for
 * an all-gather or reduce-scatter it covers the parts of all ranks. `bus_bytes` is what nccl-tests
 * counts per link: with n ranks 2 (n - 1) / n of `bytes` for an all-reduce, (n - 1) / n for an
 * all-gather or reduce-scatter, and all of it for a broadcast. */
typedef struct {
    int64_t count, bytes;
    double bus_bytes;
} RtExchanged;

enum { RT_MAX_METRICS = 6 };

/* Means over the held-out targets after `step` steps. */
typedef struct {
    int64_t step;
    double loss;
    double metrics[RT_MAX_METRICS]; /* as program->metrics */
    int64_t targets;                /* 0 for one that a checkpoint recorded */
} RtEvaluation;

/* Counted by the runtime during this process's training steps; loading, evaluation, dumps and
 * checkpoints are excluded. Times are host milliseconds; for figures from CUPTI see profile.h. */
typedef struct {
    int64_t steps;        /* steps run in this process */
    double *iteration_ms; /* [steps]; negative for steps inside the profiling window */
    int64_t launches;     /* kernels and GEMMs, in graphs or not */
    int64_t memsets;
    int64_t graph_launches;
    double launch_ms; /* host time inside launch calls, graphs included */
    RtCopies copies[RT_COPY_KINDS];
    int64_t syncs; /* calls that wait for all of a stream or of the device */
    double sync_ms;
    int64_t waits; /* waits for an event of an earlier step: a free slot, an old loss */
    double wait_ms;
    double data_wait_ms;        /* time the loop waited for batches that were not ready */
    double copy_ms, compute_ms; /* device time of a step's input copies and work; 0: unknown */
    RtExchanged collectives[RT_COLLECTIVES];
    RtExchanged peer[RT_PURPOSES]; /* copies between cards; included in copies[RT_D2D] */
    RtEvaluation before, after;    /* before and after training; loss NAN if not measured */
    RtEvaluation converted;        /* after training, with the weights that `convert` leaves */
    double loss_scale;             /* at the end; 0: the program has none */
    int64_t skipped_steps;         /* steps without an update, including those before a resume */
    double load_ms;                /* wall time until steps or evaluations can begin; 0: unknown */
    double train_ms;               /* wall time of the loop without evaluation */
    size_t process_peak_bytes;     /* NVML's peak minus usage before the context; 0: unknown */
} RtMeasured;

/* ---- device (device.c) ----------------------------------------------------------------------- */

typedef struct {
    CUdevice handle;
    char name[256];
    bool simulated;
    int driver_version; /* as cuDriverGetVersion: 13000, the CUDA that the driver supports */
    char driver[80];    /* the driver's own version, as NVML names it: "580.65.06"; "": unknown */
    int capability;     /* 90 for 9.0 */
    size_t total_bytes;
    size_t used_before; /* device memory in use before this process's context; 0: unknown */
    char pci_bus_id[32];
    size_t cublaslt_version;
    bool tuned; /* GEMM algorithms come from measurements: gemm_tune.c */
    int nvrtc_version; /* such as 13000; 0: NVRTC was not used */
    char module_paths[RT_MAX_MODULES][RT_MAX_PATH]; /* each kernel is in one of them */
    int module_count;
} RtDevice;

/* The operations that an entry enqueues. */
typedef struct {
    int64_t launches; /* kernels and GEMMs */
    int64_t memsets, copies, copy_bytes;
    int64_t fetches; /* rt_fetch and rt_export calls, served by the host */
    RtExchanged collectives[RT_COLLECTIVES];
    int64_t left_out; /* launches skipped because only a step's last micro-step runs them */
    RtExchanged peer[RT_PURPOSES];
} RtWork;

/* Batches on the device at the same time: the current one and the next. */
enum { RT_SLOTS = 2 };

/* The host's side of one input slot. */
typedef struct {
    void *host;     /* the loader's buffer of the batch in the slot, laid out like the slot */
    CUevent copied; /* recorded on the copy stream when the input is on the device */
    CUevent done;   /* recorded on the compute stream after the last read of the device's slot */
    bool used;      /* both events were recorded at least once */
} RtSlot;

struct RtComm;    /* comm_mpi.c */
struct RtByRank;  /* report_ranks.c */
struct RtCards;   /* cards.c */
struct RtGemms;   /* gemm.c */
struct RtGraphs;  /* capture.c */
struct RtInputs;  /* input.c */
struct RtHistory; /* history.c */
struct RtClock;   /* clock.c */
struct RtExported; /* convert.c */
struct RtCheck;   /* launch.c */
struct RtSources; /* params.c */
struct Loader;    /* data.h */
struct Profile;   /* profile.h */

/* Receives the tensors passed to rt_observe(). Embed it as the first member of a larger struct. */
typedef struct RtObserver RtObserver;
struct RtObserver {
    void (*observe)(RtObserver *, Rt *, const char *name, RtPtr from, RtDtype dtype, int64_t rows,
                    int64_t cols, int64_t row_stride);
};

struct Rt {
    const RtProgram *program;
    RtOptions options;
    int rank, ranks;             /* this process, and the number of processes that train together */
    int local_rank, local_ranks; /* the same, among the ranks on this machine */
    int data_rank, data_ranks;   /* the same, among the ranks that have their own batches */
    struct RtComm *comm;         /* NULL with one rank */
    int card, card_count;        /* index of this card, and the number of cards of this process */
    Rt *first;                   /* the process's first card, which holds the measurements */
    struct RtCards *cards;       /* NULL with one card */
    bool capturing;              /* what is enqueued goes into a graph, which runs later */
    RtDevice device;
    Numa numa;
    CUcontext context;
    CUmodule modules[RT_MAX_MODULES];
    CUfunction *kernels;     /* [kernel_count] */
    RtPtr arenas[RT_ARENAS]; /* INPUT: slot 0 */
    RtPtr input;             /* the INPUT slot of the batch being enqueued */
    RtPtr stash;             /* the STASH slot of the micro-batch being enqueued */
    CUstream streams[RT_STREAMS];
    CUevent reached[RT_STREAMS]; /* recorded on the stream when another stream must wait for it */
    RtStream stream;             /* the stream that launches go to */
    bool behind_kernel[RT_STREAMS]; /* this entry's last operation on the stream is a kernel */
    bool ends_step;              /* the micro-step being enqueued is the last of its step */
    RtSlot *slots;               /* [slot_count] */
    int slot_count;
    struct RtGemms *gemms;
    struct RtGraphs *graphs;
    struct RtInputs *inputs;
    RtObserver *observer;      /* NULL unless the step being enqueued is dumped */
    struct RtCheck *check;     /* not NULL in check mode: outputs are checked after each launch */
    bool dry;                  /* dry run: count launches and note GEMM operands, enqueue nothing */
    RtWork work;               /* of the entry being enqueued */
    struct RtSources *sources; /* files that parameters are read from; NULL when not open */
    struct RtExported *exported; /* not NULL while convert or merge runs */
    uint32_t *fetched_crc32;   /* [param_count] checksum of the first row if `load` fetches it */
    uint32_t frozen_crc32;     /* of the first rows of all frozen parameters, before `load` */
    char data_sha256[65];      /* of the data and the initial weights (data_hash.h); "": unknown */
    uint32_t start_crc32;      /* of the first rows of all but adapters, as in the run's files */
    char state_crc32[9];       /* of the checkpoint last read, or at rank 0 written; "": none */
    struct Loader *loader;
    struct Profile *profile; /* NULL: profiling is off */
    struct RtHistory *history;
    struct RtClock *clock;
    int64_t step;              /* steps enqueued so far */
    int64_t step_at_start;     /* the step that the run resumed from; 0 for a fresh run */
    void *losses, *grad_norms; /* host copies of the histories, real [steps]; up to `known_steps` */
    void *step_metrics[RT_MAX_METRICS]; /* the same for per-step metrics; NULL for other metrics */
    double *rates;                      /* [steps] the learning rate of each; NULL: not opened */
    int64_t known_steps;                /* steps whose loss has arrived */
    RtEvaluation *evaluations;          /* all of the run, including those before a resume */
    int evaluation_count;
    struct RtByRank *by_rank; /* measurements of all ranks; NULL until training has ended */
    RtMeasured measured;
};

/* The step that is under way, from 1; after the last one no other begins. */
static inline int64_t step_under_way(const Rt *rt) {
    const bool over = rt->step > 0 && rt->step >= rt->options.steps;
    return rt->step + !over;
}

/* Rows of data that all ranks and cards together take in one step. */
static inline int64_t rows_per_step(const Rt *rt) {
    const RtTraining *training = &rt->program->training;
    return rt->data_ranks * rt->card_count * training->micro_steps * training->batch;
}

/* What held-out means are taken over, in the plural. */
static inline const char *targets_name(const RtProgram *program) {
    return program->data.pairs ? "pairs" : program->training.unit.plural;
}

/* Returns the program's input of that name, or NULL. */
const RtInput *program_input(const RtProgram *program, const char *name);
int arena_slots(const RtProgram *program, RtArena arena);
size_t arena_bytes(const RtProgram *program); /* of all arenas, including all slots */

#endif
