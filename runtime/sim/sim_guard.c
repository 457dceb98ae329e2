/* Buffers that are adjacent in one allocation. With SIM_BUFFERS, under AddressSanitizer, a kernel
 * may touch only the buffers that its arguments point into, so an overrun from one buffer into the
 * next is reported like an overrun of the allocation.
 *
 * The file has one line per buffer, "ALLOCATION OFFSET BYTES". ALLOCATION is the size of the
 * allocation that holds the buffer, which identifies the program's arenas; OFFSET is relative to
 * its start. Buffers may overlap. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_poison(void *p, size_t bytes);
void sim_unpoison(void *p, size_t bytes);

typedef struct Buffer {
    size_t allocation, offset, bytes;
} Buffer;

static Buffer *buffers;
static size_t buffer_count;

void guard_read(const char *path) {
    FILE *file = fopen(path, "r");
    Buffer b;
    int read = 0;
    if (!file) {
        fprintf(stderr, "simulated device: SIM_BUFFERS=%s cannot be read\n", path);
        exit(1);
    }
    while ((read = fscanf(file, "%zu %zu %zu", &b.allocation, &b.offset, &b.bytes)) == 3) {
        buffers = sim_need(realloc(buffers, (buffer_count + 1) * sizeof *buffers));
        buffers[buffer_count++] = b;
    }
    fclose(file);
    if (read != EOF || !buffer_count) {
        fprintf(stderr,
                "simulated device: SIM_BUFFERS=%s: line %zu is not ALLOCATION OFFSET BYTES\n", path,
                buffer_count + 1);
        exit(1);
    }
}

/* Returns the argument's value if it is as wide as a pointer, else null. */
static CUdeviceptr pointer_of(const SimKernel *kernel, void **arguments, unsigned i) {
    CUdeviceptr p = 0;
    if (kernel->argument_bytes[i] == sizeof p)
        memcpy(&p, arguments[i], sizeof p);
    return p;
}

static bool has_buffers(size_t allocation) {
    for (size_t i = 0; i < buffer_count; i++)
        if (buffers[i].allocation == allocation)
            return true;
    return false;
}

/* Calls `what` for the guarded allocation of every argument that points into one. */
static void with_allocations(const SimKernel *kernel, void **arguments,
                             void what(void *p, size_t bytes)) {
    CUdeviceptr base;
    size_t bytes;
    for (unsigned i = 0; i < kernel->argument_count; i++)
        if (memory_range(pointer_of(kernel, arguments, i), &base, &bytes) && has_buffers(bytes))
            what((void *)base, bytes);
}

void guard_begin(const SimKernel *kernel, void **arguments) {
    if (!buffer_count)
        return;
    with_allocations(kernel, arguments, sim_poison);
    for (unsigned i = 0; i < kernel->argument_count; i++) {
        const CUdeviceptr p = pointer_of(kernel, arguments, i);
        CUdeviceptr base;
        size_t bytes;
        if (!memory_range(p, &base, &bytes))
            continue;
        for (size_t k = 0; k < buffer_count; k++)
            if (buffers[k].allocation == bytes && p - base >= buffers[k].offset &&
                p - base < buffers[k].offset + buffers[k].bytes)
                sim_unpoison((char *)base + buffers[k].offset, buffers[k].bytes);
    }
}

void guard_end(const SimKernel *kernel, void **arguments) {
    if (buffer_count)
        with_allocations(kernel, arguments, sim_unpoison);
}
