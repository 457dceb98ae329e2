/* Operations: the entries of a stream, and how they run. */
#include "sim.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Op *op_new(OpKind kind) {
    Op *op = sim_need(calloc(1, sizeof *op));
    op->kind = kind;
    op->correlation = sim_correlation();
    return op;
}

/* Size of the pointers and the values after them, each value aligned to 16 bytes. */
static size_t arguments_bytes(const SimKernel *kernel) {
    size_t bytes = (kernel->argument_count * sizeof(void *) + 15) / 16 * 16;
    for (unsigned i = 0; i < kernel->argument_count; i++)
        bytes += (kernel->argument_bytes[i] + 15) / 16 * 16;
    return bytes + 16;
}

void **op_copy_arguments(const SimKernel *kernel, void *const *from) {
    char *block = sim_need(aligned_alloc(16, arguments_bytes(kernel)));
    void **arguments = (void **)(void *)block;
    char *value = block + (kernel->argument_count * sizeof(void *) + 15) / 16 * 16;
    for (unsigned i = 0; i < kernel->argument_count; i++) {
        memcpy(value, from[i], kernel->argument_bytes[i]);
        arguments[i] = value;
        value += (kernel->argument_bytes[i] + 15) / 16 * 16;
    }
    return arguments;
}

static void *copy_bytes(const void *from, size_t bytes) {
    return from ? memcpy(sim_need(malloc(bytes + 1)), from, bytes) : NULL;
}

Op *op_clone(const Op *op) {
    Op *copy = sim_need(malloc(sizeof *copy));
    *copy = *op;
    copy->next = NULL;
    if (op->kind == OP_KERNEL)
        copy->kernel.arguments =
            op_copy_arguments(op->kernel.function->kernel, op->kernel.arguments);
    else if (op->kind == OP_COPY)
        copy->copy.staged = copy_bytes(op->copy.staged, op->copy.bytes);
    else if (op->kind == OP_CUSTOM)
        copy->custom.argument = copy_bytes(op->custom.argument, op->custom.bytes);
    else if (op->kind == OP_SET)
        copy->set.in_graph = true;
    return copy;
}

void op_free(Op *op) {
    if (op->kind == OP_KERNEL)
        free(op->kernel.arguments);
    else if (op->kind == OP_COPY)
        free(op->copy.staged);
    else if (op->kind == OP_CUSTOM)
        free(op->custom.argument);
    else if (op->kind == OP_RECORD || op->kind == OP_WAIT)
        mark_release(op->mark);
    else if (op->kind == OP_GRAPH) {
        graph_run_free(op->graph.run);
        graph_exec_release(op->graph.exec);
    }
    free(op);
}

/* ---- Marks ------------------------------------------------------------------------------- */

Mark *mark_new(CUstream stream) {
    Mark *mark = sim_need(calloc(1, sizeof *mark));
    mark->references = 1;
    mark->stream = stream;
    return mark;
}

void mark_release(Mark *mark) {
    if (mark && --mark->references == 0)
        free(mark);
}

/* ---- Running ----------------------------------------------------------------------------- */

/* Returns the first argument that points to another device's memory without peer access, or -1. */
static int argument_out_of_reach(CUfunction function, void *const *arguments) {
    const CUcontext context = function->module->context;
    const uint64_t reach = context->peers | UINT64_C(1) << context->device;
    for (unsigned i = 0; i < function->kernel->argument_count; i++) {
        const void *p = NULL;
        if (function->kernel->argument_bytes[i] == sizeof p)
            memcpy(&p, arguments[i], sizeof p);
        const int device = p ? memory_device(p) : -1;
        if (device >= 0 && !(reach >> device & 1))
            return (int)i;
    }
    return -1;
}

static CUresult check_reach(CUfunction function, void *const *arguments) {
    const int i = argument_out_of_reach(function, arguments);
    if (i < 0)
        return CUDA_SUCCESS;
    const void *p;
    memcpy(&p, arguments[i], sizeof p);
    fprintf(stderr,
            "simulated device: kernel %s on device %d: argument %d is on device %d, to which peer "
            "access is not enabled\n",
            function->kernel->name, function->module->context->device, i, memory_device(p));
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static void run_kernel(const Op *op, SimRecord *record) {
    CUfunction function = op->kernel.function;
    const SimDim g = op->kernel.grid, b = op->kernel.block;
    counts_launch(function);
    CUresult error = check_reach(function, op->kernel.arguments);
    if (!error)
        error = launch_run(function, g, b, op->kernel.shared_bytes, op->kernel.programmatic,
                           op->kernel.arguments);
    if (error && !sim_sticky)
        sim_sticky = error;
    record->kind = TRACE_KERNEL;
    record->name = function->count->name; /* outlives the module */
    record->shared_bytes = op->kernel.shared_bytes;
    memcpy(record->grid, (unsigned[]){g.x, g.y, g.z}, sizeof record->grid);
    memcpy(record->block, (unsigned[]){b.x, b.y, b.z}, sizeof record->block);
}

static void run_copy(const Op *op, SimRecord *record) {
    const void *from = op->copy.staged ? op->copy.staged : op->copy.from;
    size_t bytes = op->copy.rows * op->copy.bytes;
    for (size_t r = 0; r < op->copy.rows; r++)
        memmove((char *)op->copy.to + r * op->copy.to_pitch,
                (const char *)from + r * op->copy.from_pitch, op->copy.bytes);
    counts_copy(op->copy.kind, op->copy.pinned, bytes);
    record->kind = TRACE_COPY;
    record->bytes = bytes;
    record->copy = op->copy.kind;
    record->pinned = op->copy.pinned;
    record->from_device = memory_device(from);
    record->to_device = memory_device(op->copy.to);
}

static void as_kernel(SimRecord *record, const char *name) {
    record->kind = TRACE_KERNEL;
    record->name = name;
    for (int i = 0; i < 3; i++)
        record->grid[i] = record->block[i] = 1;
}

/* A graph's memsets are kernels in CUPTI's records. */
static void run_set(const Op *op, SimRecord *record) {
    if (op->set.width == 1)
        memset(op->set.to, (int)op->set.value, op->set.count);
    else
        for (size_t i = 0; i < op->set.count; i++)
            memcpy((char *)op->set.to + i * op->set.width, &op->set.value, op->set.width);
    record->kind = TRACE_SET;
    record->bytes = op->set.count * op->set.width;
    record->value = op->set.value;
    counts_set(record->bytes);
    if (op->set.in_graph)
        as_kernel(record, "memset32");
}

static bool run_custom(Op *op, SimRecord *record, uint64_t *start) {
    const int outcome = op->custom.run(op->custom.argument);
    if (!outcome) {
        op->custom.began = op->custom.began ? op->custom.began : *start;
        return false;
    }
    if (outcome < 0 && !sim_sticky)
        sim_sticky = CUDA_ERROR_LAUNCH_FAILED;
    *start = op->custom.began ? op->custom.began : *start;
    op->custom.began = 0;
    counts_custom(op->custom.name);
    as_kernel(record, op->custom.name);
    return true;
}

static void trace(SimRecord *record, const Op *op, CUstream stream, uint64_t start) {
    record->start = start;
    record->end = sim_now();
    record->correlation = op->correlation;
    record->stream = stream->id;
    record->device = stream->context->device;
    sim_tracer(record);
}

static const char *name_of(const Op *op) {
    switch (op->kind) {
    case OP_KERNEL:
        return op->kernel.function->count->name;
    case OP_CUSTOM:
        return op->custom.began ? "" : op->custom.name; /* it may run several times: count once */
    case OP_COPY:
        return "memcpy";
    case OP_SET:
        return "memset";
    default:
        return "";
    }
}

/* Raises the signal once; a process that survives it continues. */
static void raise_signal(const Op *op) {
    if (!strcmp(name_of(op), sim_settings.raise_at) && --sim_settings.raise_count == 0) {
        sim_settings.raise_at = NULL;
        raise(sim_settings.raise_signal);
    }
}

OpRun op_run(Op *op, CUstream stream) {
    if (sim_settings.raise_at)
        raise_signal(op);
    SimRecord record = {.kind = TRACE_CALL};
    uint64_t start = sim_now();
    switch (op->kind) {
    case OP_KERNEL:
        run_kernel(op, &record);
        break;
    case OP_COPY:
        run_copy(op, &record);
        break;
    case OP_SET:
        run_set(op, &record);
        break;
    case OP_CUSTOM:
        if (!run_custom(op, &record, &start))
            return RUN_BLOCKED;
        break;
    case OP_GRAPH:
        return graph_run_step(op, stream);
    case OP_HOST:
        counts_host_function();
        op->host.function(op->host.data);
        break;
    case OP_RECORD:
        op->mark->done = true;
        op->mark->time = sim_now();
        break;
    case OP_WAIT:
        return op->mark->done ? RUN_DONE : RUN_BLOCKED;
    case OP_EMPTY:
        break;
    }
    if (sim_tracer && record.kind != TRACE_CALL)
        trace(&record, op, stream, start);
    return RUN_DONE;
}
