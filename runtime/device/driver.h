/* The CUDA driver API as a table of function pointers, filled by dlsym.
 *
 *     CU(MemAlloc, &address, bytes);
 *
 * calls cuMemAlloc and, if it fails, ends the process with the call's name and the driver's error.
 * Where a failure is an expected result, call cu.MemAlloc(...) and check what it returns. */
#ifndef GPUOPT_DRIVER_H
#define GPUOPT_DRIVER_H

#include <cuda.h>

/* cuda.h renames some functions by macros (cuMemAlloc is cuMemAlloc_v2); pasting and stringizing
 * after expansion yields the symbol that matches the header's types. */
#define DRIVER_FUNCTIONS(X)      \
    X(Init)                      \
    X(DriverGetVersion)          \
    X(GetErrorName)              \
    X(GetErrorString)            \
    X(DeviceGetCount)            \
    X(DeviceGet)                 \
    X(DeviceGetName)             \
    X(DeviceGetAttribute)        \
    X(DeviceGetPCIBusId)         \
    X(DeviceTotalMem)            \
    X(DevicePrimaryCtxRetain)    \
    X(DevicePrimaryCtxRelease)   \
    X(CtxSetCurrent)             \
    X(CtxSynchronize)            \
    X(CtxEnablePeerAccess)       \
    X(DeviceCanAccessPeer)       \
    X(ModuleLoad)                \
    X(ModuleUnload)              \
    X(ModuleGetFunction)         \
    X(FuncSetAttribute)          \
    X(MemAlloc)                  \
    X(MemFree)                   \
    X(MemGetInfo)                \
    X(MemHostAlloc)              \
    X(MemFreeHost)               \
    X(MemcpyHtoD)                \
    X(MemcpyDtoH)                \
    X(Memcpy2D)                  \
    X(MemcpyHtoDAsync)           \
    X(MemcpyDtoHAsync)           \
    X(MemcpyDtoDAsync)           \
    X(MemcpyPeerAsync)           \
    X(MemsetD8)                  \
    X(MemsetD8Async)             \
    X(CtxGetStreamPriorityRange) \
    X(StreamCreateWithPriority)  \
    X(StreamDestroy)             \
    X(StreamSynchronize)         \
    X(StreamWaitEvent)           \
    X(StreamBeginCapture)        \
    X(StreamEndCapture)          \
    X(EventCreate)               \
    X(EventDestroy)              \
    X(EventRecord)               \
    X(EventQuery)                \
    X(EventSynchronize)          \
    X(EventElapsedTime)          \
    X(LaunchKernel)              \
    X(LaunchKernelEx)            \
    X(GraphInstantiateWithFlags) \
    X(GraphLaunch)               \
    X(GraphUpload)               \
    X(GraphDestroy)              \
    X(GraphExecDestroy)

typedef struct {
#define X(name) __typeof__(&cu##name) name;
    DRIVER_FUNCTIONS(X)
#undef X
} Driver;

extern Driver cu;

/* Opens libcuda and fills the table; a missing library ends the process. */
void driver_open(void);
/* The same, but returns NULL on success and otherwise an error line (valid until the next call). */
const char *driver_try_open(void);

/* "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"; valid until the next call. */
const char *driver_error(CUresult result);
/* Ends the process unless the result is CUDA_SUCCESS. */
void driver_check(CUresult result, const char *call);

#define CU(name, ...) driver_check(cu.name(__VA_ARGS__), "cu" #name)

#endif
