/* Shared by the parts of the simulated driver (libcuda.so.1): settings, the device heap, streams of
 * operations, graphs, the running kernel, counts. The functions of the driver API are in
 * sim_cuda_*.c.
 *
 * One lock protects the whole driver, and the thread that holds it executes: an operation runs
 * inside the call that makes the host wait for it, never on a thread of its own.
 */
#ifndef SIM_H
#define SIM_H

#include "sim_kernel.h"
#include "sim_trace.h"
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Settings (sim_settings.c), read once from the environment --------------------------- */

typedef enum { ORDER_FORWARD, ORDER_REVERSE, ORDER_RANDOM } SimOrder;
typedef enum { QUEUE_LAZY, QUEUE_SEEDED, QUEUE_EAGER } SimQueue;

typedef struct SimSettings {
    SimOrder order; /* SIM_ORDER=forward|reverse|random:SEED, of threads and blocks */
    uint64_t order_state;
    SimQueue queue; /* SIM_QUEUE=lazy[:SEED]|eager */
    uint64_t queue_state;
    size_t memory_bytes;  /* SIM_MEMORY_GIB, per device */
    int devices;          /* SIM_DEVICES */
    int driver;           /* SIM_DRIVER: the version of CUDA that the driver is for */
    int algorithms;       /* SIM_ALGORITHMS of cuBLASLt, each 1 ms faster than the previous one */
    const char *counts;   /* SIM_COUNTS, or null */
    const char *raise_at; /* SIM_RAISE=SIGNAL:OPERATION:COUNT: the operation's name, or null */
    uint64_t raise_count; /* operations of that name until the signal */
    int raise_signal;
} SimSettings;

extern SimSettings sim_settings;
void sim_settings_read(void);
/* Returns the next number below `bound` of an xorshift sequence. */
uint32_t sim_random(uint64_t *state, uint32_t bound);
uint64_t sim_now(void); /* nanoseconds of the monotonic clock */

/* ---- Objects of the API ------------------------------------------------------------------ */

typedef struct Op Op;
typedef struct Mark Mark;
typedef struct Capture Capture;

struct CUctx_st {
    int device;
    int references;
    CUstream legacy; /* stream 0 */
    uint64_t peers;  /* bit i: its kernels may also access the memory of device i */
};

struct CUmod_st {
    CUcontext context;
    void *library;
    const SimModule *module;
    CUfunction functions;
};

struct CUfunc_st {
    CUmodule module;
    const SimKernel *kernel;
    int dynamic_shared_limit;
    SimKernelCount *count;
    CUfunction next;
};

struct CUstream_st {
    CUcontext context;
    unsigned id;
    unsigned flags;
    int priority;
    Op *first, **last;
    Capture *capture;      /* the active capture of this stream, or null */
    CUgraphNode *frontier; /* captured nodes on which the next node depends */
    size_t frontier_count;
    CUstream next;
};

struct CUevent_st {
    CUcontext context;
    unsigned flags;
    Mark *mark;       /* the last record, or null */
    Capture *capture; /* the capture that holds the last record */
    CUgraphNode *frontier;
    size_t frontier_count;
};

/* One record of an event; done when everything before it in its stream has run. */
struct Mark {
    int references;
    bool done;
    uint64_t time;
    CUstream stream;
};

/* ---- Operations (sim_op.c) --------------------------------------------------------------- */

typedef enum {
    OP_KERNEL,
    OP_COPY,
    OP_SET,
    OP_HOST,
    OP_CUSTOM,
    OP_RECORD,
    OP_WAIT,
    OP_GRAPH,
    OP_EMPTY
} OpKind;

typedef struct GraphRun GraphRun;

struct Op {
    OpKind kind;
    uint32_t correlation;
    Op *next;
    union {
        struct {
            CUfunction function;
            SimDim grid, block;
            unsigned shared_bytes;
            bool programmatic; /* may overlap the kernel before it, so its threads must wait */
            void **arguments;  /* one block: the pointers, followed by the values */
        } kernel;
        struct {
            void *to;
            const void *from;
            size_t bytes; /* per row */
            size_t rows, to_pitch, from_pitch;
            SimCopyKind kind;
            bool pinned;
            void *staged; /* a copy of pageable source bytes, owned, or null */
        } copy;
        struct {
            void *to;
            size_t count;
            unsigned value;
            unsigned width;
            bool in_graph;
        } set;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct {
            int (*run)(const void *argument); /* see sim_enqueue.h */
            void *argument;                   /* owned copy */
            size_t bytes;
            const char *name;
            uint64_t began; /* when it first ran, if it had to wait; 0: it is not waiting */
        } custom;
        Mark *mark;
        struct {
            CUgraphExec exec;
            GraphRun *run; /* null until the first node runs */
        } graph;
    };
};

Op *op_new(OpKind kind);
/* Copies the arguments of a launch: one block of pointers and values, to be freed with free(). */
void **op_copy_arguments(const SimKernel *kernel, void *const *from);
/* Returns an independent copy of an operation, for an instantiated graph. */
Op *op_clone(const Op *op);
void op_free(Op *op);
typedef enum {
    RUN_DONE,
    RUN_MORE,   /* a graph has nodes left */
    RUN_BLOCKED /* nothing ran: it waits, for another process or an event */
} OpRun;

OpRun op_run(Op *op, CUstream stream);

Mark *mark_new(CUstream stream);
void mark_release(Mark *mark);

/* ---- Streams (sim_stream.c) -------------------------------------------------------------- */

CUstream stream_new(CUcontext context, unsigned flags, int priority);
void stream_free(CUstream stream);
/* Removes all streams from a capture that has ended. */
void streams_leave(const Capture *capture);
/* Returns the stream of a handle; 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD all mean the legacy
 * stream. */
CUstream stream_of(CUstream handle);
/* Appends an operation to a stream, or to its active capture. Takes ownership of `op`. */
CUresult stream_push(CUstream stream, Op *op);
Mark *stream_mark(CUstream stream);
void stream_wait_mark(CUstream stream, Mark *mark);
/* Run operations until the stream, the mark, or every stream is done. */
CUresult drain_stream(CUstream stream);
CUresult drain_mark(Mark *mark);
CUresult drain_all(void);
/* Runs one operation that brings the stream closer to its end, so that a polling host makes
 * progress. */
void stream_progress(CUstream stream);

/* ---- Capture and graphs (sim_graph.c) ---------------------------------------------------- */

struct CUgraphNode_st {
    Op *op;
    size_t index;
    size_t *dependencies;
    size_t dependency_count;
};

struct CUgraph_st {
    CUgraphNode *nodes;
    size_t count, capacity;
};

struct CUgraphExec_st {
    CUgraph graph;
    int references;
    bool traceable; /* made after the profiler was initialised */
};

struct Capture {
    CUstream origin;
    CUstreamCaptureMode mode;
    uint64_t id;
    bool invalid;
    unsigned long thread;
    CUgraph graph;
    Capture *next;
};

CUresult capture_push(CUstream stream, Op *op);
void capture_record(CUstream stream, CUevent event);
CUresult capture_wait(CUstream stream, CUevent event);
/* For calls that are forbidden during capture: if there is such a capture, they make it invalid and
 * return the error; otherwise they return CUDA_SUCCESS. */
CUresult capture_forbids(CUstream stream);
CUresult capture_forbids_unsafe(void);
CUresult capture_forbids_legacy(void);
/* Runs one node of a launched graph. */
OpRun graph_run_step(Op *op, CUstream stream);
void graph_exec_release(CUgraphExec exec);
void graph_run_free(GraphRun *run);

/* ---- Memory (sim_memory.c) --------------------------------------------------------------- */

CUresult memory_allocate(int device, size_t bytes, CUdeviceptr *out);
CUresult memory_free(CUdeviceptr pointer);
void memory_info(int device, size_t *free_bytes, size_t *total_bytes);
bool memory_is_device(const void *p);
/* Returns whether [p, p + bytes) is inside one device allocation. */
bool memory_covers(const void *p, size_t bytes);
int memory_device(const void *p); /* the device that owns it; -1: not allocated */
bool memory_range(CUdeviceptr p, CUdeviceptr *base, size_t *bytes);
void *host_allocate(size_t bytes);
bool host_free(void *p);
bool host_register(void *p, size_t bytes);
bool host_unregister(void *p);
bool host_is_pinned(const void *p, size_t bytes);
extern unsigned char *memory_heap; /* the devices' address range */
extern size_t memory_heap_bytes;

/* ---- Kernels (sim_launch.c, sim_block.c, sim_fiber.c, sim_race.c) ------------------------ */

/* Runs a grid. Returns the error of the launch, which is also printed on stderr with the kernel's
 * name. */
CUresult launch_run(CUfunction function, SimDim grid, SimDim block, unsigned shared_bytes,
                    bool programmatic, void **arguments);
/* Ends the launch. Called from a kernel's thread, by the block's scheduler and by checkers. */
_Noreturn void launch_fault(CUresult error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs a block whose threads may wait, on fibers. */
void block_run(const SimModule *module, const SimKernel *kernel, void **arguments, unsigned threads,
               unsigned shared_bytes);
void block_escape(void);  /* leaves a block's thread for the caller of block_run(), for good */
void block_abandon(void); /* after a fault: discards the unfinished threads */
/* The current thread, or -1 outside block_run(); its barrier and warp epochs. */
int block_thread(void);
unsigned block_epoch(void);
unsigned block_warp_epoch(void);
bool block_owns_shared(const void *p, size_t bytes);

/* Fills `order` with a permutation of 0..count-1, as SIM_ORDER says. */
void order_fill(uint32_t *order, unsigned count);

void race_begin(CUfunction function);
void race_block(unsigned block);
void race_end(void);
void race_access(const void *p, size_t bytes, bool write, bool atomic);

/* Buffers within allocations (sim_guard.c): guard_read() reads SIM_BUFFERS, the others enclose a
 * launch. */
void guard_read(const char *path);
void guard_begin(const SimKernel *kernel, void **arguments);
void guard_end(const SimKernel *kernel, void **arguments);

/* ---- Counts and traces (sim_counts.c) ---------------------------------------------------- */

void counts_launch(CUfunction function);
void counts_graph_launch(void);
void counts_copy(SimCopyKind kind, bool pinned, size_t bytes);
void counts_set(size_t bytes);
void counts_allocation(int64_t bytes);
void counts_host_function(void);
void counts_custom(const char *name);
void counts_call(const char *name);

/* Totals of a kernel over the whole run; bytes only in the race flavour. */
struct SimKernelCount {
    const char *name;
    uint64_t launches, read_bytes, written_bytes;
    SimKernelCount *next;
};
SimKernelCount *counts_kernel(const char *name);
extern SimTracer sim_tracer;
extern bool sim_traceable; /* a profiler has been initialised */
uint32_t sim_correlation(void); /* of the current API call */

/* ---- Calls (sim_call.c) ------------------------------------------------------------------ */

/* Every API function begins with CALL, which holds the lock until the function returns, and counts
 * and traces the call under its public name. */
typedef struct SimCall {
    const char *name;
    uint64_t start;
    uint32_t correlation, outer;
} SimCall;

SimCall call_enter(const char *name);
void call_leave(SimCall *call);
#define CALL(name) SimCall call __attribute__((cleanup(call_leave), unused)) = call_enter(name)

/* Set by the first kernel that fails; from then on every call returns it, as with a corrupted
 * context. */
extern CUresult sim_sticky;
extern _Thread_local CUcontext sim_context;
/* Returns an error from the calling function if there is no usable context. */
#define NEED_CONTEXT()                         \
    do {                                       \
        if (!sim_context)                      \
            return CUDA_ERROR_INVALID_CONTEXT; \
        if (sim_sticky)                        \
            return sim_sticky;                 \
    } while (0)

void *sim_need(void *p); /* returns p; ends the process if p is null, as memory ran out */

#endif
