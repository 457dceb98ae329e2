/* Device memory of the whole process according to NVML: context, modules, graphs and libraries as
 * well as our arenas. It is the device's memory use minus its use before the context was created;
 * on a device shared with other processes it counts theirs too and should not be quoted. NVML also
 * knows the driver's version. */
#include "runtime/base/dynlib.h"
#include "runtime/base/rt.h"
#include "runtime/device/device.h"

#include <string.h>

/* The part of nvml.h that is used; toolkits do not always install that header. */
typedef struct {
    unsigned long long total, free, used;
} NvmlMemory;

static struct {
    int (*init)(void);
    int (*find)(const char *bus_id, void **device);
    int (*memory_info)(void *device, NvmlMemory *memory);
    int (*driver_version)(char *version, unsigned length);
} nvml;

static void *device; /* NULL: NVML is not available */

static bool take(void *pointer, const char *name) {
    void *address = dynlib_symbol(LIB_NVML, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

static size_t used_bytes(void) {
    NvmlMemory memory = {0};
    return device && nvml.memory_info(device, &memory) == 0 ? (size_t)memory.used : 0;
}

void process_memory_open(Rt *rt) {
    char error[1024];
    if (rt->device.simulated || !dynlib_open(LIB_NVML, error, sizeof error))
        return;
    if (!take(&nvml.init, "nvmlInit_v2") || nvml.init() != 0)
        return;
    if (!take(&nvml.driver_version, "nvmlSystemGetDriverVersion") ||
        nvml.driver_version(rt->device.driver, sizeof rt->device.driver) != 0)
        rt->device.driver[0] = '\0';
    bool whole = take(&nvml.find, "nvmlDeviceGetHandleByPciBusId_v2") &&
                 take(&nvml.memory_info, "nvmlDeviceGetMemoryInfo");
    if (!whole || nvml.find(rt->device.pci_bus_id, &device) != 0)
        device = NULL;
    rt->device.used_before = used_bytes();
}

void process_memory_measure(Rt *rt) {
    size_t used = used_bytes(), before = rt->device.used_before;
    if (used > before && used - before > rt->measured.process_peak_bytes)
        rt->measured.process_peak_bytes = used - before;
}
