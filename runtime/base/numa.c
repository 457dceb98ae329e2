/* Binds host threads and memory to the card's NUMA node. sysfs gives the node of a PCI device and
 * the CPUs of that node. Memory needs no policy of its own: Linux allocates it on the node of the
 * thread that first touches or page-locks it. */
#include "runtime/base/numa.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"

Numa numa_unbound(const char *format, ...) {
    Numa numa = {.node = -1};
    va_list args;
    va_start(args, format);
    vsnprintf(numa.why, sizeof numa.why, format, args);
    va_end(args);
    return numa;
}

/* Reads the first line of a sysfs file; returns false if that fails. */
static bool read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "r");
    bool ok = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    return ok;
}

/* Returns the node of the card, or -1 if the system does not say. */
static int node_of(const char *root, const char *pci_bus_id) {
    char path[RT_MAX_PATH], line[32];
    int start = snprintf(path, sizeof path, "%s/sys/bus/pci/devices/", root);
    if (start + strlen(pci_bus_id) + sizeof "/numa_node" > sizeof path)
        return -1;
    snprintf(path + start, sizeof path - (size_t)start, "%s/numa_node", pci_bus_id);
    for (char *c = path + start; *c; c++) /* the driver may report upper-case hexadecimal digits */
        *c = (char)tolower((unsigned char)*c);
    return read_line(path, line, sizeof line) ? (int)strtol(line, NULL, 10) : -1;
}

/* Parses a list such as "0-3,8"; stops at the first character that does not fit. */
static void parse_cpus(const char *list, cpu_set_t *cpus) {
    char *end;
    CPU_ZERO(cpus);
    for (;; list = end + 1) {
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, cpus);
        if (*end != ',')
            return;
    }
}

static bool cpus_of(const char *root, int node, cpu_set_t *cpus) {
    char path[RT_MAX_PATH], line[4096];
    snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/cpulist", root, node);
    if (!read_line(path, line, sizeof line))
        return false;
    parse_cpus(line, cpus);
    return true;
}

Numa numa_bind(const char *root, const char *pci_bus_id, int64_t threads) {
    cpu_set_t cpus, allowed;
    int node = node_of(root, pci_bus_id);
    if (node < 0)
        return numa_unbound("the system reports no NUMA node for the card at %s", pci_bus_id);
    if (!cpus_of(root, node, &cpus))
        return numa_unbound("the system does not list the CPUs of NUMA node %d", node);
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return numa_unbound("the CPUs of this process cannot be read: %s", strerror(errno));
    CPU_AND(&cpus, &cpus, &allowed);
    int count = CPU_COUNT(&cpus);
    if (count == 0)
        return numa_unbound("this process may not use any CPU of NUMA node %d, the card's", node);
    if (count < threads)
        return numa_unbound(
            "on NUMA node %d, the card's, this process may use only %d CPU%s, but it "
            "has %lld threads",
            node, count, count == 1 ? "" : "s", (long long)threads);
    if (sched_setaffinity(0, sizeof cpus, &cpus))
        return numa_unbound("the CPU affinity cannot be set: %s", strerror(errno));
    return (Numa){.node = node};
}
