/* Shared libraries of CUDA and others, opened when first needed and never linked: a program runs
 * with only those that it uses, and a missing one gives a one-line error. The headers that NVRTC
 * needs are looked for in the same toolkits. */
#ifndef GPUOPT_DYNLIB_H
#define GPUOPT_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    LIB_CUDA,
    LIB_CUBLASLT,
    LIB_NVRTC,
    LIB_CUPTI,
    LIB_NVML,
    LIB_TURBOJPEG,
    LIB_PNG,
    LIB_NCCL,
    LIB_MPI,
    LIBRARIES
} Library;

/* Makes every CUDA library come from this folder only (that of the simulated device). Call it
 * before the first dynlib_open(). The string must stay valid as long as libraries are opened. */
void dynlib_only_in(const char *dir);

/* Sets the program's own folder, which holds libraries built with it; the string must stay valid. */
void dynlib_program_in(const char *dir);

/* Returns a dlopen handle; later calls return the same one. Returns NULL if the library is not
 * found or cannot be loaded; error[error_size] then holds one line with its name, the cause and the
 * remedy. */
void *dynlib_open(Library library, char *error, size_t error_size);

/* The same, but ends the process with that line on failure. */
void *dynlib_need(Library library);

/* Returns an address, or NULL if the library is not open or has no such symbol. */
void *dynlib_symbol(Library library, const char *name);
/* Returns an address; opens the library if needed. A missing symbol ends the process: the library
 * is too old. */
void *dynlib_need_symbol(Library library, const char *name);

/* Finds the folder of a toolkit's header; returns false if not found or if its path is too long. */
bool dynlib_find_header(const char *name, char *folder, size_t size);

#endif
