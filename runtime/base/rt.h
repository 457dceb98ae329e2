/* What the files of the runtime share with each other and with nobody else.
 *
 * One process trains one program on one device. Its whole state is one `Rt`; the driver's function
 * table (driver.h) is the only global besides. Errors a user can cause end the process through
 * rt_fail(); faults of ours abort through rt_internal(). */
#ifndef GPUOPT_RT_H
#define GPUOPT_RT_H

#include "runtime/base/numa.h"
#include "runtime/runtime.h"

#include <cuda.h>

#define RT_MAX_PATH 4096
#define RT_MAX_MODULES 8 /* parts in which kernels are compiled at start */

/* ---- errors, clock, dtypes (rt.c) ------------------------------------------------------------ */

/* Prints `error: ...` on stderr and ends with exit code 1. Give fact and remedy, no newline. */
_Noreturn void rt_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A fault of ours: says "internal" and aborts. */
_Noreturn void rt_internal(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints what rt_fail() prints, and returns. */
void rt_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Of several ranks: errors name it, warnings are rank 0's, and rt_fail() leaves without the exit
 * handlers of libraries, which may wait for other ranks. */
void rt_name_rank(int rank);
/* One line on stderr. */
void rt_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

double rt_now_ms(void);       /* monotonic */
void *rt_alloc(size_t bytes); /* zeroed; ends the process when there is none */

size_t rt_dtype_bytes(RtDtype dtype);
const char *rt_dtype_name(RtDtype dtype); /* as in safetensors: "F32", "BF16", ... */
double rt_get(RtDtype dtype, const void *values, int64_t i);
void rt_set(RtDtype dtype, void *values, int64_t i, double value); /* to nearest, ties to even */
void rt_set_row(RtDtype dtype, void *values, int64_t first, const double *row, int64_t count);

/* mkdir -p; false with errno set where it fails. */
bool rt_make_folder(const char *path);

/* ---- command line (options.c) ---------------------------------------------------------------- */

typedef struct {
    int64_t steps; /* of this run's total; program->training.steps unless --steps */
    int64_t seed;
    bool no_adapter;
    const char *init_dir;    /* NULL: initialise */
    const char *adapter_dir; /* NULL: none */
    bool resume;
    const char *resume_dir; /* a checkpoint's folder; NULL: the newest under out */
    const char *out_dir;    /* default: <folder of the executable>/out */
    bool out_given;         /* by --out */
    const char *dump_file;  /* NULL: no dump */
    const char *merge_dir;  /* NULL: nothing is merged */
    const char *exe_dir;    /* folder of the executable */
    bool tune;              /* measures products and does nothing else */
    bool jit;               /* GPUOPT_JIT=1 */
    char **argv;
} RtOptions;

/* ---- what was measured ----------------------------------------------------------------------- */

typedef enum { RT_H2D, RT_D2H, RT_D2D, RT_COPY_KINDS } RtCopyKind;

typedef struct {
    int64_t count, bytes;
    int64_t pinned; /* of count: how many had pinned host memory; D2D: 0 */
} RtCopies;

typedef enum {
    RT_ALL_REDUCE,
    RT_ALL_GATHER,
    RT_REDUCE_SCATTER,
    RT_BROADCAST,
    RT_SEND_RECV, /* messages between neighbours that begin together; the bytes are those sent */
    RT_COLLECTIVES
} RtCollective;

/* What went through collectives of a kind. The bytes are what nccl-tests calls a collective's size:
 * those of all ranks' parts where ranks have parts; bus_bytes what it counts on a link: 2 (n - 1) / n
 * of them for an all_reduce of n ranks, (n - 1) / n where ranks have parts, all for a broadcast. */
typedef struct {
    int64_t count, bytes;
    double bus_bytes;
} RtExchanged;

enum { RT_MAX_METRICS = 6 };

/* Means over the held-out targets, after `step` steps. */
typedef struct {
    int64_t step;
    double loss;
    double metrics[RT_MAX_METRICS]; /* as program->metrics */
} RtEvaluation;

/* Counted by the runtime in the training steps of this process: not in loading, evaluation, dump
 * or checkpoints. Times are host milliseconds; what CUPTI knows is in profile.h. */
typedef struct {
    int64_t steps;        /* steps run in this process */
    double *iteration_ms; /* [steps]; steps inside the profiling window are marked by a negative */
    int64_t launches;     /* kernels and GEMMs, in graphs or not */
    int64_t memsets;
    int64_t graph_launches;
    double launch_ms; /* host time inside launch calls, graphs included */
    RtCopies copies[RT_COPY_KINDS];
    int64_t syncs; /* calls that wait for all of a stream or of the device */
    double sync_ms;
    int64_t waits; /* waits for an event of an earlier step: a free slot, an old loss */
    double wait_ms;
    double data_wait_ms;        /* the loop's wait for batches that were not prepared yet */
    double copy_ms, compute_ms; /* of a step, on the device: its copies in, its work; 0: unknown */
    RtExchanged collectives[RT_COLLECTIVES];
    RtExchanged peer[RT_PURPOSES]; /* of the copies D2D */
    RtEvaluation before, after;    /* of training; loss NAN where not measured */
    RtEvaluation converted;        /* after it, of what convert leaves */
    double loss_scale;             /* at the end; 0 without one */
    int64_t skipped_steps;         /* that applied no update, those before a resume too */
    double train_ms;               /* wall time of the loop, evaluation excluded */
    size_t process_peak_bytes;     /* by NVML, less what was used before the context; 0: unknown */
} RtMeasured;

/* ---- device (device.c) ----------------------------------------------------------------------- */

typedef struct {
    CUdevice handle;
    char name[256];
    bool simulated;
    int driver_version; /* as cuDriverGetVersion: 13000 */
    int capability;     /* 90 for 9.0 */
    int multiprocessors;
    size_t total_bytes;
    size_t used_before; /* of the device, before this process had a context; 0 where unknown */
    char pci_bus_id[32];
    size_t cublaslt_version;
    bool tuned; /* algorithms of products are those that were measured: gemm_tune.c */
    int nvrtc_version; /* 0 where NVRTC was not used; else 13000 */
    char module_paths[RT_MAX_MODULES][RT_MAX_PATH]; /* kernels are shared out over them */
    int module_count;
} RtDevice;

/* What an entry enqueues. */
typedef struct {
    int64_t launches; /* kernels and GEMMs */
    int64_t memsets, copies, copy_bytes;
    int64_t fetches; /* by the host, exports too */
    RtExchanged collectives[RT_COLLECTIVES];
    int64_t left_out; /* launches of a step's last micro-step alone */
    RtExchanged peer[RT_PURPOSES];
} RtWork;

/* Batches that may be on their way to the device at once: that worked on, and the next. */
enum { RT_SLOTS = 2 };

/* The host's side of one input slot. */
typedef struct {
    void *host;     /* the batch in it: the loader's buffer, laid out like the slot */
    CUevent copied; /* recorded on the copy stream: input is on the device */
    CUevent done;   /* recorded on the compute stream: nobody reads the device's slot any more */
    bool used;      /* both were recorded at least once */
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

/* Whoever looks at what entries observe (rt_observe): its first member. */
typedef struct RtObserver RtObserver;
struct RtObserver {
    void (*observe)(RtObserver *, Rt *, const char *name, RtPtr from, RtDtype dtype, int64_t rows,
                    int64_t cols, int64_t row_stride);
};

struct Rt {
    const RtProgram *program;
    RtOptions options;
    int rank, ranks;             /* this process, and how many train together */
    int local_rank, local_ranks; /* of those on this machine */
    int data_rank, data_ranks;   /* its place among those that have batches of their own */
    struct RtComm *comm;         /* NULL with one rank */
    int card, card_count;        /* of this process: this one, and how many it drives */
    Rt *first;                   /* the first of them: what is measured is counted there */
    struct RtCards *cards;       /* NULL with one */
    const char *collective;      /* the last one enqueued or captured; NULL: none */
    RtDevice device;
    Numa numa;
    CUcontext context;
    CUmodule modules[RT_MAX_MODULES];
    CUfunction *kernels;     /* [kernel_count] */
    RtPtr arenas[RT_ARENAS]; /* INPUT: of slot 0 */
    RtPtr input;             /* INPUT of the batch being enqueued */
    RtPtr stash;             /* STASH of the micro-batch being enqueued */
    CUstream streams[RT_STREAMS];
    CUevent reached[RT_STREAMS]; /* recorded on each, where another one is to wait for it */
    RtStream stream;             /* that launches are enqueued on */
    bool behind_kernel[RT_STREAMS]; /* the last thing enqueued there, in this entry, is a kernel */
    bool ends_step;              /* the micro-step being enqueued is its step's last one */
    RtSlot *slots;               /* [slot_count] */
    int slot_count;
    struct RtGemms *gemms;
    struct RtGraphs *graphs;
    struct RtInputs *inputs;
    RtObserver *observer;      /* NULL unless the step being enqueued is dumped */
    struct RtCheck *check;     /* not NULL in check mode: outputs are looked at after each launch */
    bool dry;                  /* launches are only counted and their operands noted */
    RtWork work;               /* of the entry being enqueued */
    struct RtSources *sources; /* of parameters; NULL once all are there */
    struct RtExported *exported; /* not NULL while convert or merge runs */
    uint32_t *fetched_crc32;   /* by parameter: of the first row of one that load fetches */
    uint32_t frozen_crc32;     /* of the first row of each frozen parameter, before load */
    uint32_t start_crc32;      /* of the same of all but adapters, as the run's files have them */
    struct Loader *loader;
    struct Profile *profile; /* NULL where profiling is off */
    struct RtHistory *history;
    struct RtClock *clock;
    int64_t step;              /* steps enqueued, as the host counts */
    int64_t step_at_start;     /* 0, or the step that was resumed from */
    void *losses, *grad_norms; /* host copies of the histories, real [steps]; up to `known_steps` */
    void *step_metrics[RT_MAX_METRICS]; /* the same of metrics that each step has; or NULL */
    int64_t known_steps;                /* steps whose loss has arrived */
    RtEvaluation *evaluations;          /* all of the run, a resumed one's earlier ones too */
    int evaluation_count;
    struct RtByRank *by_rank; /* what all ranks measured; NULL until training is over */
    RtMeasured measured;
};

/* Taken from the data by all ranks and cards together. */
static inline int64_t rows_per_step(const Rt *rt) {
    const RtTraining *training = &rt->program->training;
    return rt->data_ranks * rt->card_count * training->micro_steps * training->batch;
}

/* The program's input of that name, or NULL. */
const RtInput *program_input(const RtProgram *program, const char *name);
int arena_slots(const RtProgram *program, RtArena arena);
size_t arena_bytes(const RtProgram *program); /* of all of them, with their slots */

#endif
