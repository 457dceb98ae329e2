/* The device of this process: its choice, context, modules, arenas, streams and slots.
 *
 * GPUOPT_DEVICE chooses: "cuda" uses the machine's driver, "sim" the simulated device, and "auto"
 * (the default) a CUDA device if the driver reports one, else the simulated device with a message.
 * So that no batch job runs on a CPU unnoticed, "auto" refuses the simulated device inside batch
 * jobs and for plans of more than 2 GiB. */
#include "runtime/base/dynlib.h"
#include "runtime/base/launcher.h"
#include "runtime/base/rt.h"
#include "runtime/base/watch.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIMULATED_LIMIT ((size_t)2 << 30)

#ifndef GPUOPT_SIM_DIR
#define GPUOPT_SIM_DIR "sim" /* next to the executable */
#endif

/* ---- choice ---------------------------------------------------------------------------------- */

/* Returns NULL if the driver reports a device, else its error. */
static const char *driver_problem(void) {
    static char words[1200];
    const char *error = driver_try_open();
    if (error)
        return error;
    int count = 0;
    CUresult result = cu.Init(0);
    if (result == CUDA_SUCCESS)
        result = cu.DeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        snprintf(words, sizeof words, "the CUDA driver says %s", driver_error(result));
    else if (count == 0)
        snprintf(words, sizeof words, "the CUDA driver reports no device");
    else
        return NULL;
    return words;
}

static const char *batch_job(void) {
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return variables[i];
    return NULL;
}

/* Sets SIM_DEVICES to the number of cards that the program drives, unless it is set already. */
static void show_simulated_devices(int count) {
    char text[16];
    snprintf(text, sizeof text, "%d", count);
    setenv("SIM_DEVICES", text, 0);
}

static void use_simulator(const Rt *rt) {
    static char dir[RT_MAX_PATH];
    const char *given = getenv("GPUOPT_SIM_DIR");
    const char *built_in = GPUOPT_SIM_DIR;
    if (given && *given)
        snprintf(dir, sizeof dir, "%s", given);
    else if (*built_in == '/')
        snprintf(dir, sizeof dir, "%s", built_in);
    else
        snprintf(dir, sizeof dir, "%s/%s", rt->options.exe_dir, built_in);
    dynlib_only_in(dir);
    show_simulated_devices(rt->card_count);
    driver_open();
    CU(Init, 0);
}

/* Re-executes the process: a driver that was loaded but reported no device stays in the process,
 * and the simulated libraries must not be loaded next to it. */
static void restart_simulated(char **argv) {
    setenv("GPUOPT_DEVICE", "sim", 1);
    execv("/proc/self/exe", argv);
    rt_fail("cannot restart for the simulated device; run with DEVICE=sim");
}

static void choose_automatically(Rt *rt) {
    const RtProgram *p = rt->program;
    size_t bytes = arena_bytes(p);
    const char *problem = driver_problem();
    if (!problem)
        return;
    if (batch_job())
        rt_fail("%s; this is a batch job (%s is set), so the simulated device is not used by "
                "default: run with DEVICE=sim to use it",
                problem, batch_job());
    if (bytes > SIMULATED_LIMIT)
        rt_fail("%s; the plan needs %.1f GiB, so the simulated device is not used by default: run "
                "with DEVICE=sim to use it",
                problem, (double)bytes / (1 << 30));
    /* Unless an earlier program of the same command has said it. */
    if (launched_rank() == 0 && !getenv("GPUOPT_DEVICE_SAID"))
        fprintf(stderr, "no CUDA device (%s): running on the simulated device, a CPU\n", problem);
    char error[16];
    if (dynlib_open(LIB_CUDA, error, sizeof error))
        restart_simulated(rt->options.argv);
    use_simulator(rt);
}

void device_choose(Rt *rt) {
    const char *wanted = getenv("GPUOPT_DEVICE");
    if (!wanted || !*wanted || strcmp(wanted, "auto") == 0) {
        choose_automatically(rt);
    } else if (strcmp(wanted, "sim") == 0) {
        use_simulator(rt);
    } else if (strcmp(wanted, "cuda") == 0) {
        const char *problem = driver_problem();
        if (problem)
            rt_fail("%s; run with DEVICE=sim for the simulated device", problem);
    } else {
        rt_fail("GPUOPT_DEVICE=%s: choose auto, cuda or sim", wanted);
    }
}

/* ---- facts, module --------------------------------------------------------------------------- */

static int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    CU(DeviceGetAttribute, &value, which, device);
    return value;
}

static void read_facts(RtDevice *facts, CUdevice device) {
    CU(DeviceGetName, facts->name, sizeof facts->name, device);
    CU(DriverGetVersion, &facts->driver_version);
    CU(DeviceTotalMem, &facts->total_bytes, device);
    facts->capability = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                        attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    facts->simulated = dynlib_symbol(LIB_CUDA, "gpuopt_simulated") != NULL;
    CU(DeviceGetPCIBusId, facts->pci_bus_id, sizeof facts->pci_bus_id, device);
}

void device_find_modules(Rt *rt) {
    if (rt->options.jit) {
        jit_modules(rt);
        return;
    }
    char *path = rt->device.module_paths[0];
    const char *file = rt->device.simulated ? "kernels.sim" : "kernels.cubin";
    snprintf(path, RT_MAX_PATH, "%s/%s", rt->options.exe_dir, file);
    rt->device.module_count = 1;
    if (access(path, R_OK) != 0)
        rt_fail("%s: not found; build it with make, or compile it at start with JIT=1", path);
}

/* Without this call a kernel is limited to 48 KiB of dynamic and static shared memory together. */
static void allow_shared_memory(const Rt *rt, CUfunction function, const RtKernel *kernel) {
    if (kernel->shared_bytes == 0)
        return;
    CUresult result = cu.FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          (int)kernel->shared_bytes);
    if (result == CUDA_ERROR_INVALID_VALUE)
        rt_fail("%s needs %u bytes of shared memory per block, more than %s has; use a smaller "
                "model.head_dim or another precision.dtype",
                kernel->name, kernel->shared_bytes, rt->device.name);
    driver_check(result, "cuFuncSetAttribute");
}

/* A driver loads what toolkits of its own major version, or an older one, have compiled. */
static void check_toolkit(const RtDevice *device, const char *path) {
    int driver = device->driver_version;
    int toolkit = device->nvrtc_version ? device->nvrtc_version : CUDA_VERSION;
    if (toolkit / 1000 > driver / 1000)
        rt_fail("%s: the driver is for CUDA %d.%d and cannot load what CUDA %d.%d compiled; install "
                "a newer driver, or build with a toolkit of CUDA %d (CUDA_HOME)",
                path, driver / 1000, driver % 1000 / 10, toolkit / 1000, toolkit % 1000 / 10,
                driver / 1000);
}

static CUmodule load_module(const Rt *rt, const char *path) {
    CUmodule module;
    CUresult result = cu.ModuleLoad(&module, path);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        rt_fail("%s has no code for %s (compute capability %d.%d); build for it, or compile at "
                "start with JIT=1",
                path, rt->device.name, rt->device.capability / 10, rt->device.capability % 10);
    if (result != CUDA_SUCCESS) {
        check_toolkit(&rt->device, path);
        rt_fail("%s: %s; build it again", path, driver_error(result));
    }
    return module;
}

static CUfunction find_kernel(const Rt *rt, const char *name) {
    CUfunction function = NULL;
    for (int i = 0; i < rt->device.module_count; i++)
        if (cu.ModuleGetFunction(&function, rt->modules[i], name) == CUDA_SUCCESS)
            return function;
    rt_fail("%s has no kernel %s; build it again", rt->device.module_paths[0], name);
}

static void load_modules(Rt *rt) {
    for (int i = 0; i < rt->device.module_count; i++)
        rt->modules[i] = load_module(rt, rt->device.module_paths[i]);
    rt->kernels = rt_alloc((size_t)rt->program->kernel_count * sizeof *rt->kernels);
    for (int i = 0; i < rt->program->kernel_count; i++) {
        const RtKernel *kernel = &rt->program->kernels[i];
        rt->kernels[i] = find_kernel(rt, kernel->name);
        allow_shared_memory(rt, rt->kernels[i], kernel);
    }
}

/* ---- memory and streams ---------------------------------------------------------------------- */

static RtPtr allocate(const Rt *rt, size_t bytes, const char *what) {
    RtPtr address = 0;
    char who[32] = "the device";
    if (rt->card > 0)
        snprintf(who, sizeof who, "card %d", rt->card);
    CUresult result = cu.MemAlloc(&address, bytes ? bytes : 1);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t free_bytes = 0, total = 0;
        CU(MemGetInfo, &free_bytes, &total);
        rt_fail(
            "%s has too little memory for %s: it needs %zu bytes, but %zu of %zu are free; use a "
            "smaller batch or set activation_checkpoint.memory_budget_gib",
            who, what, bytes, free_bytes, total);
    }
    driver_check(result, "cuMemAlloc");
    return address;
}

static void allocate_arenas(Rt *rt) {
    const RtProgram *program = rt->program;
    rt->slot_count = arena_slots(program, RT_INPUT);
    rt->slots = rt_alloc((size_t)rt->slot_count * sizeof *rt->slots);
    size_t state = rt->card == 0 ? program->arena_bytes[RT_STATE] : program->replica_state_bytes;
    rt->arenas[RT_STATE] = allocate(rt, state, "weights and optimizer state");
    rt->arenas[RT_SCRATCH] = allocate(rt, program->arena_bytes[RT_SCRATCH], "activations");
    size_t input = (size_t)rt->slot_count * program->arena_bytes[RT_INPUT];
    rt->arenas[RT_INPUT] = allocate(rt, input, "input");
    rt->input = rt->arenas[RT_INPUT];
    if (!program->pipeline)
        return;
    size_t stash = (size_t)arena_slots(program, RT_STASH) * program->arena_bytes[RT_STASH];
    rt->stash = rt->arenas[RT_STASH] = allocate(rt, stash, "activations in flight");
}

/* Lower numbers run first. Communication gets the highest priority, because other ranks wait for
 * it, and the side stream the lowest, because nothing waits for it until the end of an entry. */
static int priority_of(RtStream stream, int least, int greatest) {
    if (stream == RT_STREAM_COMMUNICATION)
        return greatest;
    return stream == RT_STREAM_SIDE || least - 1 <= greatest ? least : least - 1;
}

/* Non-blocking: the legacy stream 0 is not used, and no stream waits for it. */
static void open_streams(Rt *rt) {
    int least = 0, greatest = 0;
    CU(CtxGetStreamPriorityRange, &least, &greatest);
    for (int i = 0; i < RT_STREAMS; i++) {
        CU(StreamCreateWithPriority, &rt->streams[i], CU_STREAM_NON_BLOCKING,
           priority_of((RtStream)i, least, greatest));
        CU(EventCreate, &rt->reached[i], CU_EVENT_DISABLE_TIMING);
    }
}

static Numa bind_host(const Rt *rt) {
    const RtData *data = &rt->program->data;
    if (!data->numa_bind)
        return numa_unbound("data.numa_bind = false");
    if (rt->device.simulated)
        return numa_unbound("the simulated device has no NUMA node");
    return numa_bind("", rt->device.pci_bus_id, data->num_workers + 1);
}

/* Each rank takes the device of its local number. If the launcher shows each rank only one device,
 * or on the simulated device, where each process has its own, that is device 0. */
static CUdevice device_of_rank(const Rt *rt) {
    int count = 0, index = rt->local_rank;
    CUdevice device;
    CU(DeviceGetCount, &count);
    bool own = dynlib_symbol(LIB_CUDA, "gpuopt_simulated") || getenv("CUDA_VISIBLE_DEVICES");
    if (index >= count && own && count == 1)
        index = 0;
    if (index >= count)
        rt_fail(
            "this machine has %d GPU%s but %d ranks were started on it: start at most one per GPU",
            count, count == 1 ? "" : "s", rt->local_ranks);
    CU(DeviceGet, &device, index);
    return device;
}

void device_take_card(Rt *rt) {
    CU(DeviceGet, &rt->device.handle, rt->card);
    read_facts(&rt->device, rt->device.handle);
}

static void require_cards(const Rt *rt) {
    int count = 0;
    CU(DeviceGetCount, &count);
    if (rt->card_count > count)
        rt_fail("this program drives %d cards, but only %d GPU%s can be seen; generate it for %d "
                "(parallelism.data_parallel_replicate_degree)",
                rt->card_count, count, count == 1 ? "" : "s", count);
}

void device_take(Rt *rt) {
    require_cards(rt);
    rt->device.handle = device_of_rank(rt);
    read_facts(&rt->device, rt->device.handle);
    rt->numa = bind_host(rt);
}

void device_open(Rt *rt) {
    if (rt->card == 0)
        process_memory_open(rt);
    CU(DevicePrimaryCtxRetain, &rt->context, rt->device.handle);
    CU(CtxSetCurrent, rt->context);
    load_modules(rt);
    allocate_arenas(rt);
    open_streams(rt);
}

void device_close(Rt *rt) {
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize");
    for (int i = 0; i < RT_STREAMS; i++) {
        CU(EventDestroy, rt->reached[i]);
        CU(StreamDestroy, rt->streams[i]);
    }
    for (int i = 0; i < RT_ARENAS; i++)
        if (rt->arenas[i])
            CU(MemFree, rt->arenas[i]);
    free(rt->slots);
    for (int i = 0; i < rt->device.module_count; i++)
        CU(ModuleUnload, rt->modules[i]);
    free(rt->kernels);
    CU(DevicePrimaryCtxRelease, rt->device.handle);
}

/* ---- addresses, waiting, reading and writing ------------------------------------------------- */

RtPtr rt_state(const Rt *rt, size_t offset) { return rt->arenas[RT_STATE] + offset; }

RtPtr rt_scratch(const Rt *rt, size_t offset) { return rt->arenas[RT_SCRATCH] + offset; }

RtPtr rt_input(const Rt *rt, size_t offset) { return rt->input + offset; }

void rt_select_slot(Rt *rt, int slot) {
    rt->input = rt->arenas[RT_INPUT] + (size_t)slot * rt->program->arena_bytes[RT_INPUT];
}

RtPtr rt_stash(const Rt *rt, size_t offset) { return rt->stash + offset; }

void rt_select_stash(Rt *rt, int micro_batch) {
    const RtProgram *program = rt->program;
    size_t slot = (size_t)(micro_batch % program->pipeline->slots);
    rt->stash = rt->arenas[RT_STASH] + slot * program->arena_bytes[RT_STASH];
}

void rt_finish_stream(const Rt *rt, RtStream stream) {
    watch_enter_device(rt);
    CU(StreamSynchronize, rt->streams[stream]);
    watch_leave(rt);
    if (stream == RT_STREAM_COMPUTE) /* which waits for the others at the end of each entry */
        watch_device_idle();
}

void rt_sync(Rt *rt, RtStream stream) {
    double start = rt_now_ms();
    rt_finish_stream(rt, stream);
    rt->first->measured.syncs++;
    rt->first->measured.sync_ms += rt_now_ms() - start;
}

/* An event that has already happened costs nothing and is not counted as a wait. */
void rt_wait(Rt *rt, CUevent event) {
    CUresult result = cu.EventQuery(event);
    if (result == CUDA_SUCCESS)
        return;
    if (result != CUDA_ERROR_NOT_READY)
        driver_check(result, "cuEventQuery");
    double start = rt_now_ms();
    watch_enter_device(rt);
    CU(EventSynchronize, event);
    watch_leave(rt);
    rt->first->measured.waits++;
    rt->first->measured.wait_ms += rt_now_ms() - start;
}

/* Synchronous copies do not wait for a non-blocking stream, so these functions do it first. */
void rt_read(Rt *rt, RtPtr from, size_t bytes, void *host) {
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    if (bytes > 0)
        CU(MemcpyDtoH, host, from, bytes);
}

void rt_read_state(Rt *rt, size_t offset, size_t bytes, void *host) {
    rt_read(rt, rt_state(rt, offset), bytes, host);
}

void rt_write_state(Rt *rt, size_t offset, size_t bytes, const void *host) {
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    CU(MemcpyHtoD, rt_state(rt, offset), host, bytes);
    /* With pageable memory the call may return before the device has the bytes. */
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize");
}

void rt_read_rows(Rt *rt, size_t offset, RtRows rows, void *host) {
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = rt_state(rt, offset),
                          .srcPitch = rows.stride,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .dstPitch = rows.row,
                          .WidthInBytes = rows.row,
                          .Height = rows.rows};
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    CU(Memcpy2D, &copy);
}

void rt_write_rows(Rt *rt, size_t offset, RtRows rows, const void *host) {
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = rows.row,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = rt_state(rt, offset),
                          .dstPitch = rows.stride,
                          .WidthInBytes = rows.row,
                          .Height = rows.rows};
    rt_finish_stream(rt, RT_STREAM_COMPUTE);
    CU(Memcpy2D, &copy);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize"); /* as rt_write_state */
}
