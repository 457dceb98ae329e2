/* Host threads and memory on the NUMA node of the card. */
#ifndef GPUOPT_NUMA_H
#define GPUOPT_NUMA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int node;      /* that threads stay on; -1: they run anywhere */
    char why[256]; /* it is -1 */
} Numa;

/* Keeps the calling thread, and those that it starts from now on, on the CPUs of the card's node, as
 * far as the process may use them; Linux takes their memory from there, page-locked memory too.
 * Does nothing but say why where the node is not known or has fewer CPUs than `threads`. `root`
 * stands for "/" ("" is that). */
Numa numa_bind(const char *root, const char *pci_bus_id, int64_t threads);
/* Not bound, and why. */
Numa numa_unbound(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
