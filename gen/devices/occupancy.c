#include "devices/occupancy.h"

#include <math.h>

/* Threads of a warp; schedulers of a multiprocessor, since Volta (CUDA C++ Programming Guide). */
enum { WARP = 32, SCHEDULERS = 4 };

/* Blocks that the multiprocessor with the most of them runs, together or in turn. */
static double most_of(const Device *device, Grid grid) {
    return ceil(grid.count / device->multiprocessors);
}

/* How many of these it runs at a time. Registers do not count: how many a thread has is known only
 * to ptxas. */
static double together(const Device *device, Grid grid) {
    double shared = (double)(grid.shared_bytes + RESERVED_SHARED);
    double by_threads = floor((double)device_threads(device) / grid.threads);
    double by_shared = floor((double)(device_block_shared_bytes(device) + RESERVED_SHARED) / shared);
    double fit = fmin(fmin(by_threads, by_shared), device_blocks(device));
    return fmin(fmax(fit, 1), most_of(device, grid));
}

/* All end when the busiest multiprocessor does. Each of its schedulers needs a warp. */
double grid_share(const Device *device, Grid grid) {
    if (grid.count == 0)
        return 1;
    double even = grid.count / device->multiprocessors / most_of(device, grid);
    double warps = together(device, grid) * ceil((double)grid.threads / WARP);
    return even * fmin(1, warps / SCHEDULERS);
}

/* How often the busiest multiprocessor waits for memory, if nothing but that takes time: once for
 * the bytes that its blocks have under way together. */
static double rounds(const Device *device, Grid grid) {
    double turns = most_of(device, grid) / together(device, grid);
    return turns * fmax(1, grid.drawn / grid.count / grid.under_way);
}

/* The first round is a part of any kernel's time to begin and to end. */
Time grid_draw_time(const Device *device, Grid grid, double dram) {
    if (grid.count == 0)
        return (Time){0};
    double latency_ms = device->l2_latency_ms +
                        dram * (device->memory_latency_ms - device->l2_latency_ms);
    double bytes = grid.drawn / grid.count * most_of(device, grid);
    Time drawn = {1e3 * bytes / device->multiprocessor_rate, BOUND_BLOCKS};
    Time waited = {(rounds(device, grid) - 1) * latency_ms, BOUND_LATENCY};
    return waited.ms > drawn.ms ? waited : drawn;
}
