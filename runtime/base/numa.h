/* Binding of host threads and memory to the card's NUMA node. */
#ifndef GPUOPT_NUMA_H
#define GPUOPT_NUMA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int node;      /* the node that threads are bound to; -1: not bound */
    char why[256]; /* if node is -1: the reason */
} Numa;

/* Binds the calling thread, and threads that it starts later, to those CPUs of the card's node that
 * the process may use. Linux then allocates their memory on that node, page-locked memory included.
 * Binds nothing, and returns the reason, if the node is unknown or offers fewer CPUs than
 * `threads`. `root` is prepended to the paths in sysfs: "" except in tests. */
Numa numa_bind(const char *root, const char *pci_bus_id, int64_t threads);
/* Returns an unbound Numa with the reason. */
Numa numa_unbound(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
