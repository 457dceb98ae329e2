/* The driver API: modules, functions, launches. A module is an x86 shared object made by simcc. */
#include "sim.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EM_CUDA_MACHINE = 190, DEFAULT_SHARED = 48 << 10, MAX_SHARED = 227 << 10 };

/* Accepts x86 objects. A real cubin gets the error for a module without code for this device. */
static CUresult check_header(const Elf64_Ehdr *header) {
    if (memcmp(header->e_ident, ELFMAG, SELFMAG))
        return CUDA_ERROR_INVALID_IMAGE;
    if (header->e_machine == EM_CUDA_MACHINE)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return header->e_machine == EM_X86_64 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult check_file(const char *path) {
    Elf64_Ehdr header;
    FILE *f = fopen(path, "rb");
    if (!f)
        return CUDA_ERROR_FILE_NOT_FOUND;
    const size_t got = fread(&header, 1, sizeof header, f);
    fclose(f);
    return got == sizeof header ? check_header(&header) : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult open_module(const char *path, CUmodule *out) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const SimModule *module = library ? dlsym(library, "sim_module") : NULL;
    if (!module || module->abi != SIM_ABI) {
        const char *why = library ? "not made by this simcc" : dlerror();
        fprintf(stderr, "simulated device: cannot load a module: %s\n", why);
        if (library)
            dlclose(library);
        return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
    }
    CUmodule m = sim_need(calloc(1, sizeof *m));
    m->context = sim_context;
    m->library = library;
    m->module = module;
    *out = m;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    CALL("cuModuleLoad");
    NEED_CONTEXT();
    const CUresult error = check_file(path);
    if (error)
        return error;
    if (sim_settings.driver / 1000 < CUDA_VERSION / 1000)
        return CUDA_ERROR_INVALID_IMAGE;
    /* dlopen would search the library path for a name without a slash. */
    char *full = realpath(path, NULL);
    const CUresult result = full ? open_module(full, module) : CUDA_ERROR_FILE_NOT_FOUND;
    free(full);
    return result;
}

static bool write_all(int file, const char *p, size_t bytes) {
    while (bytes) {
        const ssize_t written = write(file, p, bytes);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            p += written;
            bytes -= (size_t)written;
        }
    }
    return true;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    CALL("cuModuleLoadData");
    NEED_CONTEXT();
    Elf64_Ehdr header;
    /* PTX is text, and may be shorter than an ELF header. */
    if (!image || memcmp(image, ELFMAG, SELFMAG))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    memcpy(&header, image, sizeof header);
    const CUresult error = check_header(&header);
    if (error)
        return error;
    const size_t bytes = header.e_shoff + (size_t)header.e_shentsize * header.e_shnum;
    const int file = memfd_create("module", MFD_CLOEXEC);
    if (file < 0 || !write_all(file, image, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const CUresult result = open_module(path, module);
    close(file);
    return result;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
    (void)count, (void)options, (void)values;
    return cuModuleLoadData(module, image);
}

CUresult cuModuleUnload(CUmodule module) {
    CALL("cuModuleUnload");
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    drain_all();
    while (module->functions) {
        CUfunction next = module->functions->next;
        free(module->functions);
        module->functions = next;
    }
    dlclose(module->library);
    free(module);
    return CUDA_SUCCESS;
}

static const SimKernel *find_kernel(const SimModule *module, const char *name) {
    for (unsigned i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i].name, name))
            return &module->kernels[i];
    return NULL;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CALL("cuModuleGetFunction");
    const SimKernel *kernel = module ? find_kernel(module->module, name) : NULL;
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    CUfunction f = sim_need(calloc(1, sizeof *f));
    *f = (struct CUfunc_st){module, kernel, DEFAULT_SHARED, counts_kernel(name), module->functions};
    module->functions = f;
    *function = f;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
    CALL("cuModuleGetGlobal");
    for (unsigned i = 0; i < module->module->variable_count; i++) {
        const SimVariable *v = &module->module->variables[i];
        if (strcmp(v->name, name))
            continue;
        if (pointer)
            *pointer = (CUdeviceptr)v->address;
        if (bytes)
            *bytes = v->bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- Functions --------------------------------------------------------------------------- */

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    CALL("cuFuncSetAttribute");
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return CUDA_SUCCESS;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > MAX_SHARED)
        return CUDA_ERROR_INVALID_VALUE;
    function->dynamic_shared_limit = value;
    return CUDA_SUCCESS;
}

/* Registers and static shared memory are 0 here, because only the real compiler knows them. */
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    CALL("cuFuncGetAttribute");
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)function->kernel->max_threads;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->dynamic_shared_limit;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = 90;
        break;
    default:
        *value = 0;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
    CALL("cuFuncGetName");
    *name = function->kernel->name;
    return CUDA_SUCCESS;
}

static int least(int a, int b) { return a < b ? a : b; }

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared_bytes) {
    CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (!function || threads < 1 || threads > (int)function->kernel->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    const int rounded = (threads + 31) / 32 * 32;
    *blocks = least(least(32, 2048 / rounded), (int)((228 << 10) / (shared_bytes + 1024)));
    return CUDA_SUCCESS;
}

/* ---- Launches ---------------------------------------------------------------------------- */

static CUresult check_launch(CUfunction function, SimDim grid, SimDim block,
                             unsigned shared_bytes) {
    const unsigned long threads = (unsigned long)block.x * block.y * block.z;
    const unsigned long blocks = (unsigned long)grid.x * grid.y * grid.z;
    if (!threads || !blocks || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024 ||
        grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (shared_bytes > (unsigned)function->dynamic_shared_limit)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > function->kernel->max_threads)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    /* No CPU would finish more blocks than this. */
    return blocks > 0xffffffffu ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, SimDim grid, SimDim block, unsigned shared_bytes,
                       bool programmatic, CUstream stream, void **arguments, void **extra) {
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    const CUresult error = check_launch(function, grid, block, shared_bytes);
    if (error)
        return error;
    if (extra || (function->kernel->argument_count && !arguments))
        return extra ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (function->module->context != sim_context || stream_of(stream)->context != sim_context)
        return CUDA_ERROR_INVALID_HANDLE;
    Op *op = op_new(OP_KERNEL);
    op->kernel.function = function;
    op->kernel.grid = grid;
    op->kernel.block = block;
    op->kernel.shared_bytes = shared_bytes;
    op->kernel.programmatic = programmatic;
    op->kernel.arguments = op_copy_arguments(function->kernel, arguments);
    return stream_push(stream_of(stream), op);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **arguments, void **extra) {
    CALL("cuLaunchKernel");
    NEED_CONTEXT();
    const SimDim grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
    return launch(function, grid, block, shared_bytes, false, stream, arguments, extra);
}

/* The only attribute simulated is programmatic stream serialization. */
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                          void **extra) {
    CALL("cuLaunchKernelEx");
    NEED_CONTEXT();
    bool programmatic = false;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return CUDA_ERROR_NOT_SUPPORTED;
        programmatic |= attribute->value.programmaticStreamSerializationAllowed != 0;
    }
    const SimDim grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const SimDim block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    return launch(function, grid, block, config->sharedMemBytes, programmatic, config->hStream,
                  arguments, extra);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    CALL("cuLaunchHostFunc");
    NEED_CONTEXT();
    Op *op = op_new(OP_HOST);
    op->host.function = function;
    op->host.data = data;
    return stream_push(stream_of(stream), op);
}
