/* Shared libraries, CUDA's and a few more, opened when they are first needed and never linked: a
 * program runs with only those it uses, and one that is missing gives one clear line. NVRTC's
 * headers are found in the same places. */
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

/* From now on every library of CUDA comes from this folder alone (the simulated device's). Call
 * it before the first dynlib_open(). The string must outlive the process's use of libraries. */
void dynlib_only_in(const char *dir);

/* The program's own folder, where what is built for it lies. The same holds for the string. */
void dynlib_program_in(const char *dir);

/* A dlopen handle; a second call gives the same one. NULL where the library is not found or cannot
 * be loaded: then error[error_size] holds one line with its name, the places and the remedy. */
void *dynlib_open(Library library, char *error, size_t error_size);

/* The same, but a missing library ends the process with that line. */
void *dynlib_need(Library library);

/* An address, or NULL where the opened library has no such symbol. */
void *dynlib_symbol(Library library, const char *name);
/* An address, or the end of the process: the library is too old. */
void *dynlib_need_symbol(Library library, const char *name);

/* The folder of a toolkit's header, from the same places; false where there is none, or its path
 * does not fit. */
bool dynlib_find_header(const char *name, char *folder, size_t size);

#endif
