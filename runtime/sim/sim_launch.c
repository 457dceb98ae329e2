/* One launch of a kernel: runs its blocks one after the other in the order of SIM_ORDER, and
 * handles faults. */
#include "sim.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) void __asan_init(void);

static CUfunction running;
static SimDim running_index, running_grid;
static CUresult fault;
static sigjmp_buf escape;
static bool programmatic;
static unsigned synchronized; /* threads of the block that waited for the previous kernel */

_Noreturn void launch_fault(CUresult error, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fflush(stdout);
    fprintf(stderr, "simulated device: kernel %s, block (%u,%u,%u): ", running->kernel->name,
            running_index.x, running_index.y, running_index.z);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    fault = error;
    if (block_thread() >= 0)
        block_escape();
    siglongjmp(escape, 1);
}

void sim_trap(const char *message) { launch_fault(CUDA_ERROR_LAUNCH_FAILED, "%s", message); }

/* Kernels do not overlap here, but threads that would not have waited are detected. */
void sim_grid_dependency_synchronize(void) { synchronized++; }

/* ld.global.nc may return what was there before the wait. */
void sim_read_only(const void *gmem) {
    if (programmatic && memory_covers(gmem, 1))
        launch_fault(CUDA_ERROR_LAUNCH_FAILED,
                     "programmatic launch, but a load by ld.global.nc, which assumes that nobody "
                     "writes there while the kernel runs: no pointer must be __restrict__");
}

static void check_synchronized(unsigned threads) {
    if (programmatic && synchronized < threads)
        launch_fault(CUDA_ERROR_LAUNCH_FAILED,
                     "programmatic launch, but %u of %u threads do not wait for the kernel before "
                     "it (cudaGridDependencySynchronize)",
                     threads - synchronized, threads);
    synchronized = 0;
}

/* ---- Illegal addresses ------------------------------------------------------------------- */

static struct sigaction older[2];

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    if (!running) {
        /* The host's own fault: repeat it under the previous handler. */
        sigaction(number, &older[number == SIGBUS], NULL);
        return;
    }
    char line[256];
    const int length = snprintf(line, sizeof line,
                                "simulated device: kernel %s, block (%u,%u,%u), thread %d: illegal "
                                "address %p\n",
                                running->kernel->name, running_index.x, running_index.y,
                                running_index.z, block_thread(), info->si_addr);
    fault = CUDA_ERROR_ILLEGAL_ADDRESS;
    if (fwrite(line, 1, (size_t)length, stderr))
        siglongjmp(escape, 1);
}

/* Reporting a fiber's stack overflow needs another stack. AddressSanitizer reports more than this
 * handler, so it keeps the signals where it runs. */
static void catch_signals(void) {
    static bool caught;
    if (caught || __asan_init)
        return;
    caught = true;
    static _Alignas(16) char stack[64 << 10];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, &older[0]);
    sigaction(SIGBUS, &action, &older[1]);
}

/* ---- Grids ------------------------------------------------------------------------------- */

static uint32_t *block_order(unsigned count) {
    if (sim_settings.order != ORDER_RANDOM)
        return NULL;
    uint32_t *order = sim_need(malloc(count * sizeof *order));
    order_fill(order, count);
    return order;
}

static SimDim block_index(unsigned i, unsigned count, const uint32_t *order) {
    const unsigned at = order ? order[i] : sim_settings.order == ORDER_REVERSE ? count - 1 - i : i;
    const SimDim g = running_grid;
    return (SimDim){at % g.x, at / g.x % g.y, at / g.x / g.y};
}

static void run_blocks(const uint32_t *order, SimDim block, unsigned shared_bytes,
                       void **arguments) {
    const SimModule *module = running->module->module;
    const SimKernel *kernel = running->kernel;
    const unsigned count = running_grid.x * running_grid.y * running_grid.z;
    const unsigned threads = block.x * block.y * block.z;
    const bool as_loop =
        kernel->loop && module->flavour != SIM_RACE && sim_settings.order == ORDER_FORWARD;
    for (unsigned i = 0; i < count && !fault; i++) {
        running_index = block_index(i, count, order);
        module->place(running_grid, block, running_index);
        race_block(i);
        if (as_loop)
            kernel->loop(arguments);
        else
            block_run(module, kernel, arguments, threads, shared_bytes);
        check_synchronized(threads);
    }
}

static void run_guarded(const uint32_t *order, SimDim block, unsigned shared_bytes,
                        void **arguments) {
    if (!sigsetjmp(escape, 1))
        run_blocks(order, block, shared_bytes, arguments);
}

CUresult launch_run(CUfunction function, SimDim grid, SimDim block, unsigned shared_bytes,
                    bool is_programmatic, void **arguments) {
    catch_signals();
    programmatic = is_programmatic;
    synchronized = 0;
    running = function;
    running_grid = grid;
    running_index = (SimDim){0, 0, 0};
    fault = CUDA_SUCCESS;
    uint32_t *order = block_order(grid.x * grid.y * grid.z);
    race_begin(function);
    guard_begin(function->kernel, arguments);
    run_guarded(order, block, shared_bytes, arguments);
    guard_end(function->kernel, arguments);
    if (fault)
        block_abandon();
    race_end();
    running = NULL;
    free(order);
    return fault;
}
