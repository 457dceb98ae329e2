/* The simulated libnvidia-ml.so.1: names and memory of the simulated devices. Clocks, power and
 * temperature are reported as not supported. Not every toolkit has nvml.h, so the few names and
 * numbers needed are declared here.
 */
#include "sim_enqueue.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
};

typedef struct Memory {
    unsigned long long total, free, used;
} Memory;

typedef struct Memory2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
} Memory2;

/* A handle is the number of the device plus one. */
static void *handle_of(int device) { return (void *)(uintptr_t)(device + 1); }
static int device_of(const void *handle) { return (int)(uintptr_t)handle - 1; }

static int device_count(void) {
    size_t unused;
    int count = 0;
    while (sim_memory(count, &unused, &unused))
        count++;
    return count;
}

#define EXPORT(name, ...)  \
    int name(__VA_ARGS__); \
    int name(__VA_ARGS__)

EXPORT(nvmlInit_v2, void) { return NVML_SUCCESS; }
EXPORT(nvmlShutdown, void) { return NVML_SUCCESS; }

const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result) {
    switch (result) {
    case NVML_SUCCESS:
        return "Success";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
        return "Not Found";
    default:
        return "Unknown Error";
    }
}

EXPORT(nvmlDeviceGetCount_v2, unsigned *count) {
    *count = (unsigned)device_count();
    return NVML_SUCCESS;
}

EXPORT(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **device) {
    *device = handle_of((int)index);
    return (int)index < device_count() ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT(nvmlDeviceGetHandleByPciBusId_v2, const char *bus_id, void **device) {
    const char *colon = strchr(bus_id, ':');
    const int index = colon ? (int)strtol(colon + 1, NULL, 16) - 1 : -1;
    *device = handle_of(index);
    return index >= 0 && index < device_count() ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

EXPORT(nvmlDeviceGetName, void *device, char *name, unsigned length) {
    (void)device;
    snprintf(name, length, "Simulated device (CPU)");
    return NVML_SUCCESS;
}

EXPORT(nvmlDeviceGetMemoryInfo, void *device, Memory *memory) {
    size_t free_bytes, total_bytes;
    if (!sim_memory(device_of(device), &free_bytes, &total_bytes))
        return NVML_ERROR_INVALID_ARGUMENT;
    *memory = (Memory){total_bytes, free_bytes, total_bytes - free_bytes};
    return NVML_SUCCESS;
}

EXPORT(nvmlDeviceGetMemoryInfo_v2, void *device, Memory2 *memory) {
    Memory plain;
    const int result = nvmlDeviceGetMemoryInfo(device, &plain);
    if (!result)
        *memory = (Memory2){memory->version, plain.total, 0, plain.free, plain.used};
    return result;
}

#define UNSUPPORTED(name, T)               \
    EXPORT(name, void *device, T *value) { \
        (void)device, (void)value;         \
        return NVML_ERROR_NOT_SUPPORTED;   \
    }
UNSUPPORTED(nvmlDeviceGetPowerManagementLimit, unsigned)
UNSUPPORTED(nvmlDeviceGetPowerUsage, unsigned)
UNSUPPORTED(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long)
UNSUPPORTED(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long)

#define UNSUPPORTED_OF(name)                                 \
    EXPORT(name, void *device, int which, unsigned *value) { \
        (void)device, (void)which, (void)value;              \
        return NVML_ERROR_NOT_SUPPORTED;                     \
    }
UNSUPPORTED_OF(nvmlDeviceGetClockInfo)
UNSUPPORTED_OF(nvmlDeviceGetMaxClockInfo)
UNSUPPORTED_OF(nvmlDeviceGetTemperature)
