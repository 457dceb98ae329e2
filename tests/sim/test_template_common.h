/* What the tests of gen/templates share: they fill a template's holes as the compiler's emitter does,
 * compile the text with the simulator's compiler and launch it through the driver API.
 *
 * Environment: SIMCC (default build/sim/simcc), SIM_FLAVOUR (release), TEST_TMP (build/tests), TEST_REUSE
 * (not empty: modules that are there are not compiled again); run from the root of the tree. Every failure ends the test at once with a line that says what failed. */
#ifndef TEST_TEMPLATE_COMMON_H
#define TEST_TEMPLATE_COMMON_H

#include <cuda.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

typedef struct {
    const char *name;
    char value[96];
} Hole;

typedef struct {
    Hole holes[40];
    int count;
} Holes;

/* Adds a hole's value, or replaces it. */
void hole_set(Holes *holes, const char *name, const char *format, ...);

/* The prelude, or one `//@kernel` section with its holes filled. A hole without a value fails the test. */
void template_prelude(FILE *out, const char *file);
void template_kernel(FILE *out, const char *file, const char *section, const Holes *holes);

/* A new TEST_TMP/NAME.cu that includes kernel.cuh; then it compiled and loaded. */
FILE *template_open(const char *name);
CUmodule template_load(FILE *out, const char *name);

void device_open(void);
void check_cuda(CUresult result, const char *what);

typedef struct {
    unsigned x, y, z;
} Grid;

void launch(CUmodule module, const char *kernel, Grid grid, unsigned threads, unsigned shared_bytes,
            void *args[]);

/* ---- Tensors of the test: doubles on the host, dtype on the device -------------------------------- */

typedef enum { F64, F32, TF32, BF16, F16 } Dtype; /* TF32 is stored as F32 */

const char *dtype_name(Dtype dtype); /* the C++ type */
size_t dtype_bytes(Dtype dtype);

/* A device copy of `values`, which are rounded to dtype in place; and back. */
CUdeviceptr device_from(Dtype dtype, double *values, size_t count);
CUdeviceptr device_ints(const int *values, size_t count);
void device_read(Dtype dtype, CUdeviceptr from, double *values, size_t count);

/* Seeded, in [-1, 1). */
double random_value(uint64_t *state);

double *new_values(size_t count);

/* ||got - want|| <= tolerance * ||want||, and want is not all zero. */
void check_close(const char *what, const double *got, const double *want, size_t count,
                 double tolerance);

#endif
