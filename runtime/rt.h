/* What the files of the runtime share with each other and with nobody else.
 *
 * One process trains one program on one device. Its whole state is one `Rt`; the driver's function
 * table (driver.h) is the only global besides. Errors a user can cause end the process through
 * rt_fail(); faults of ours abort through rt_internal(). */
#ifndef GPUOPT_RT_H
#define GPUOPT_RT_H

#include "runtime/numa.h"
#include "runtime/runtime.h"

#include <cuda.h>

#define RT_MAX_PATH 4096

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
    const char *dump_file;  /* NULL: no dump */
    const char *exe_dir;    /* folder of the executable */
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
    int nvrtc_version; /* 0 where NVRTC was not used; else 13000 */
    char module_path[RT_MAX_PATH];
} RtDevice;

/* What an entry enqueues. */
typedef struct {
    int64_t launches; /* kernels and GEMMs */
    int64_t memsets, copies, copy_bytes, fetches;
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

struct RtComm;    /* comm.c */
struct RtByRank;  /* report_ranks.c */
struct RtCards;   /* cards.c */
struct RtGemms;   /* gemm.c */
struct RtGraphs;  /* capture.c */
struct RtInputs;  /* input.c */
struct RtHistory; /* history.c */
struct RtClock;   /* clock.c */
struct RtDump;    /* dump.c */
struct RtCheck;   /* launch.c */
struct RtSources; /* params.c */
struct Loader;    /* data.h */
struct Profile;   /* profile.h */

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
    CUmodule module;
    CUfunction *kernels;     /* [kernel_count] */
    RtPtr arenas[RT_ARENAS]; /* INPUT: of slot 0 */
    RtPtr input;             /* INPUT of the batch being enqueued */
    RtPtr stash;             /* STASH of the micro-batch being enqueued */
    CUstream streams[RT_STREAMS];
    CUevent reached[RT_STREAMS]; /* recorded on each, where another one is to wait for it */
    RtStream stream;             /* that launches are enqueued on */
    bool ends_step;              /* the micro-step being enqueued is its step's last one */
    RtSlot *slots;               /* [slot_count] */
    int slot_count;
    struct RtGemms *gemms;
    struct RtGraphs *graphs;
    struct RtInputs *inputs;
    struct RtDump *dump;       /* NULL unless the step being enqueued is dumped */
    struct RtCheck *check;     /* not NULL in check mode: outputs are looked at after each launch */
    bool dry;                  /* launches are only counted and their operands noted */
    RtWork work;               /* of the entry being enqueued */
    struct RtSources *sources; /* of parameters; NULL once all are there */
    uint32_t frozen_crc32;     /* of the first row of each frozen parameter, before load */
    struct Loader *loader;
    struct Profile *profile; /* NULL where profiling is off */
    struct RtHistory *history;
    struct RtClock *clock;
    int64_t step;              /* steps enqueued, as the host counts */
    int64_t step_at_start;     /* 0, or the step that was resumed from */
    void *losses, *grad_norms; /* host copies of the histories, real [steps]; up to `known_steps` */
    void *step_metrics[RT_MAX_METRICS]; /* the same of metrics that each step has; or NULL */
    int64_t known_steps;       /* steps whose loss has arrived */
    RtEvaluation *evaluations; /* all of the run, a resumed one's earlier ones too */
    int evaluation_count;
    struct RtByRank *by_rank; /* what all ranks measured; NULL until training is over */
    RtMeasured measured;
};

/* Taken from the data by all ranks and cards together. */
static inline int64_t rows_per_step(const Rt *rt) {
    const RtTraining *training = &rt->program->training;
    return rt->data_ranks * rt->card_count * training->micro_steps * training->batch;
}

/* CUDA's driver or the simulated device's (see device.c for the choice); ends with the driver's own
 * error where there is none. May start the process anew: before anything else. */
void device_choose(Rt *rt);
/* This rank's card and the node of its host threads. */
void device_take(Rt *rt);
/* Of this process's cards the one of number rt->card. */
void device_take_card(Rt *rt);
void device_open(Rt *rt);
void device_close(Rt *rt);
int arena_slots(const RtProgram *program, RtArena arena); /* rt.c */
size_t arena_bytes(const RtProgram *program);             /* of all of them, with their slots */
/* Makes rt_input() give addresses in this slot. */
void rt_select_slot(Rt *rt, int slot);
/* Makes rt_stash() give addresses in this micro-batch's slot. */
void rt_select_stash(Rt *rt, int micro_batch);
/* cuStreamSynchronize; it may last as long as another rank wants, so it is watched. */
void rt_finish_stream(const Rt *rt, RtStream stream);
/* The same, counted in measured.syncs. */
void rt_sync(Rt *rt, RtStream stream);
/* Waits for an event of an earlier step, counted in measured.waits. */
void rt_wait(Rt *rt, CUevent event);

/* process_memory.c: called before the context, and wherever memory may be at its peak. */
void process_memory_open(Rt *rt);
void process_memory_measure(Rt *rt);

/* Bytes of the STATE arena, synchronously and in order with the compute stream. */
void rt_read_state(Rt *rt, size_t offset, size_t bytes, void *host);
void rt_read(Rt *rt, RtPtr from, size_t bytes, void *host); /* of any arena */
void rt_write_state(Rt *rt, size_t offset, size_t bytes, const void *host);

/* ---- launches (launch.c, gemm.c, capture.c) -------------------------------------------------- */

/* Enqueues an entry on the compute stream, launch by launch, for the slot. */
RtWork rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
/* The same with each output looked at after its launch: `true` and a sentence in `found` when a
 * value was not finite; synchronous. */
bool rt_enqueue_checked(Rt *rt, const RtEntry *entry, int slot, char *found, size_t found_size);

/* Opens cublasLt and chooses an algorithm for every row of the table, each of which then runs once:
 * what is in the arenas is lost. */
void gemms_open(Rt *rt);
void gemms_close(Rt *rt);
int gemm_algorithm(const Rt *rt, int gemm); /* id of the chosen algorithm, for the record */

/* What is enqueued at once, and captured as one graph: an entry, or the last one of a step with the
 * update behind it. Which card runs what is said with RtProgram.replicate. */
typedef enum {
    RT_PHASE_REPLICATE,
    RT_PHASE_MICRO_STEP,
    RT_PHASE_LAST_MICRO_STEP, /* of a card alone */
    RT_PHASE_STEP,            /* all of one, of a pipeline's stage */
    RT_PHASE_COLLECT,
    RT_PHASE_LAST_COLLECT,
    RT_PHASE_EVALUATE,
    RT_PHASES
} RtPhase;

enum { RT_PHASE_ENTRIES = 2 };
/* The entries of a phase, in order; how many. From now on they do what a step's last micro-step alone
 * does if the phase is one. */
int phase_begin(Rt *rt, RtPhase phase, const RtEntry *entries[RT_PHASE_ENTRIES]);

void graphs_open(Rt *rt); /* captures; does nothing where cuda_graph is false */
void graphs_close(Rt *rt);
/* One graph launch, or the launches one by one. A whole step's slot is that of its first batch. */
void rt_run_phase(Rt *rt, RtPhase phase, int slot);

/* Compiles kernels.cu beside the executable with NVRTC unless its cubin is cached, and gives the
 * path of the module. */
void jit_module(Rt *rt, char *path, size_t path_size);

/* ---- parameters (params.c) ------------------------------------------------------------------- */

int64_t param_elements(const RtParam *param); /* of the whole tensor, whoever holds it */
/* Elements in a row of its weight, as memory holds it. */
int64_t param_cols(const Rt *rt, const RtParam *param);
/* What is saved of a parameter: its master where there is one, else its weight; the whole tensor,
 * dense, in the file's order, in param_saved_dtype(). Where ranks hold parts of it, reading is for all
 * ranks together, and rank 0 alone has what was read. */
RtDtype param_saved_dtype(const RtParam *param);
size_t param_saved_bytes(const RtParam *param);
void param_read(Rt *rt, const RtParam *param, void *host);
/* Writes master (where there is one) and weight. */
void param_write(Rt *rt, const RtParam *param, const void *host);
/* The same of its master, gradient or a moment at `offset`: dense, in master_dtype. */
void param_read_part(Rt *rt, const RtParam *param, size_t offset, void *host);
/* The same of what ranks have pieces of as they have of masters, this rank's at `piece`. */
void param_read_pieces(Rt *rt, const RtParam *param, RtPtr piece, void *host);
void param_write_part(Rt *rt, const RtParam *param, size_t offset, const void *host);

void params_init(Rt *rt);   /* counters, tables and weights of a fresh run, but what load fetches */
void params_done(Rt *rt);   /* after load: nothing more is read from files */
void params_tables(Rt *rt); /* seed, learning rates and bias corrections only: after a resume */
double rt_learning_rate(const RtTraining *training, int64_t step);

/* ---- dump (dump.c) --------------------------------------------------------------------------- */

/* Training step 0, uncaptured, and options.dump_file written from it; the next step is step 1. */
void dump_first_step(Rt *rt);
void dump_observe(struct RtDump *dump, Rt *rt, const char *name, RtPtr from, RtDtype dtype,
                  int64_t rows, int64_t cols, int64_t row_stride);

/* ---- input (input.c) ------------------------------------------------------------------------- */

void inputs_open(Rt *rt);
void inputs_close(Rt *rt);
/* Takes the next slot and a micro-step's batch (or a held-out one) and copies it to the device
 * on the copy stream, which waits until the slot's former reader is done; the compute stream
 * waits for the copy. Gives the slot. */
int input_send(Rt *rt, int64_t micro_index);
int input_send_eval(Rt *rt, int64_t eval_batch, int64_t *targets);
/* Reads what is not read yet into measured.copy_ms and compute_ms; the compute stream is idle. */
void inputs_collect(Rt *rt);
/* Everything that reads the slot is enqueued. */
void input_release(Rt *rt, int slot);
/* One input of the batch in a slot, as the device has it, to be freed; NULL where the program has none
 * of that name. */
void *input_read(Rt *rt, int slot, const char *name);

/* ---- losses on their way to the host (history.c) --------------------------------------------- */

void history_open(Rt *rt); /* allocates rt->losses and rt->grad_norms */
void history_close(Rt *rt);
/* Enqueues copies of the histories of all steps enqueued so far. No request may be under way. */
void history_request(Rt *rt);
/* True once when a request has arrived: rt->known_steps and history_bad_step() are up to it. Waits
 * for one under way where told to. */
bool history_arrived(Rt *rt, bool wait);
/* Requests and waits: all steps enqueued so far are known afterwards. */
void history_complete(Rt *rt);
/* Of the steps known: index of the first whose gradient norm was not finite; -1: none. */
int64_t history_bad_step(const Rt *rt);

/* ---- time of steps on the device (clock.c) --------------------------------------------------- */

void clock_open(Rt *rt);
void clock_close(Rt *rt);
/* The next step's time starts here, not at the end of the step before it. The compute stream is
 * idle. */
void clock_restart(Rt *rt);
/* A step was enqueued; `profiled` marks its time. */
void clock_step(Rt *rt, bool profiled);
/* Reads what is not read yet into measured.iteration_ms; the compute stream is idle. */
void clock_collect(Rt *rt);

/* ---- loop and signals (train.c, evaluate.c, bad_step.c, progress.c, signals.c) --------------- */

int train(Rt *rt); /* exit code */

/* Runs the held-out batches, keeps what was found and prints it; `when` is "before", "after" or
 * NULL for in between. The loss is NAN where there is nothing to evaluate. */
RtEvaluation evaluate(Rt *rt, const char *when);

/* Replays the step launch by launch and ends the process, naming the first tensor that went bad. */
_Noreturn void bad_step_explain(Rt *rt, int64_t step);

/* One line about the latest known step, with speed since the last line and time left. */
void progress_show(Rt *rt);
void progress_end(void);     /* before anything else is printed */
void progress_start(Rt *rt); /* speed is counted from here */

void signals_install(void);
int signals_caught(void); /* the signal's number; 0: none */

void options_read(RtOptions *options, const RtProgram *program, int argc, char **argv);

#endif
