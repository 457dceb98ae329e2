/* Fills the driver's function table and formats its errors. */
#include "runtime/device/driver.h"
#include "runtime/base/dynlib.h"
#include "runtime/base/rt.h"

#include <stdio.h>
#include <string.h>

Driver cu;

#define STRING_OF(x) #x
#define EXPANDED_STRING_OF(x) STRING_OF(x)

static const char *const symbols[] = {
#define X(name) EXPANDED_STRING_OF(cu##name),
    DRIVER_FUNCTIONS(X)
#undef X
};

/* Drivers before CUDA 12.8 have only the older name of a function whose result, once both events have
 * happened, is the same. */
static void *find(const char *symbol) {
    void *address = dynlib_symbol(LIB_CUDA, symbol);
    if (!address && strcmp(symbol, "cuEventElapsedTime_v2") == 0)
        address = dynlib_symbol(LIB_CUDA, "cuEventElapsedTime");
    return address;
}

const char *driver_try_open(void) {
    static char error[1024];
    if (!dynlib_open(LIB_CUDA, error, sizeof error))
        return error;
    unsigned char *table = (unsigned char *)&cu;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = find(symbols[i]);
        if (!address) {
            snprintf(error, sizeof error, "libcuda.so.1 has no %s; install a newer NVIDIA driver",
                     symbols[i]);
            return error;
        }
        memcpy(table + i * sizeof address, &address, sizeof address);
    }
    return NULL;
}

void driver_open(void) {
    const char *error = driver_try_open();
    if (error)
        rt_fail("%s", error);
}

const char *driver_error(CUresult result) {
    static char text[512];
    const char *name = NULL, *words = NULL;
    cu.GetErrorName(result, &name);
    cu.GetErrorString(result, &words);
    if (name && words)
        snprintf(text, sizeof text, "%s (%s)", name, words);
    else
        snprintf(text, sizeof text, "error %d", (int)result);
    return text;
}

/* Errors of a kernel are reported by whichever call comes next. */
static bool is_of_earlier_work(CUresult result) {
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
        return true;
    default:
        return false;
    }
}

void driver_check(CUresult result, const char *call) {
    if (result == CUDA_SUCCESS)
        return;
    rt_fail("%s: %s%s", call, driver_error(result),
            is_of_earlier_work(result)
                ? ", in work enqueued earlier; to find the launch, use compile.cuda_graph = false "
                  "and CUDA_LAUNCH_BLOCKING=1, to find the line, use compute-sanitizer"
                : "");
}
