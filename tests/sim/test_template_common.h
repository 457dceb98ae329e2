/* Shared by the tests of gen/templates: they fill a template's holes like the compiler's emitter,
 * compile the text with the simulator's compiler and launch it through the driver API.
 *
 * Environment: SIMCC (default build/sim/simcc), SIM_FLAVOUR (release), TEST_TMP (build/tests),
 * TEST_REUSE (not empty: existing modules are not compiled again); run from the root of the tree.
 * Every failure ends the test immediately with a line that says what failed. */
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
    char value[192];
} Hole;

typedef struct {
    Hole holes[40];
    int count;
} Holes;

/* Sets a hole's value, replacing an earlier one. */
void hole_set(Holes *holes, const char *name, const char *format, ...);

/* Print the prelude, or one `//@kernel` section with its holes filled. A hole without a value fails
 * the test. */
void template_prelude(FILE *out, const char *file);
void template_kernel(FILE *out, const char *file, const char *section, const Holes *holes);

/* Create TEST_TMP/NAME.cu, which includes kernel.cuh; then compile and load it. */
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

/* Copy `values`, which are rounded to dtype in place, to the device; and back. */
CUdeviceptr device_from(Dtype dtype, double *values, size_t count);
CUdeviceptr device_ints(const int *values, size_t count);
void device_read(Dtype dtype, CUdeviceptr from, double *values, size_t count);

/* Returns a seeded random number in [-1, 1). */
double random_value(uint64_t *state);

double *new_values(size_t count);

/* Checks that ||got - want|| <= tolerance * ||want||, and that want is not all zero. */
void check_close(const char *what, const double *got, const double *want, size_t count,
                 double tolerance);

/* ---- Matrices with random elements ----------------------------------------------------------- */

/* Rows are PADDING elements longer than `cols`; no kernel may read or write those. */
enum { PADDING = 8 };

typedef struct {
    int rows, cols;
    double *values; /* [rows][cols + PADDING] */
    CUdeviceptr device;
} Matrix;

Matrix matrix_new(Dtype dtype, int rows, int cols, uint64_t *seed);
void matrix_free(Matrix *m);
size_t matrix_size(const Matrix *m); /* elements, padding included */
double *matrix_at(const Matrix *m, int row, int col);
/* Check that the device has `values`, within a tolerance of the dtype; the same bits at two places. */
void matrix_check(const char *what, Dtype dtype, const Matrix *m);
void expect_bits(const char *what, CUdeviceptr got, CUdeviceptr want, size_t bytes);

#endif
