/* Helpers that every file of the runtime uses: errors, clock, memory, element types. */
#include "runtime/base/rt.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- errors ---------------------------------------------------------------------------------- */

static int named_rank = -1; /* -1: there is only one rank */
static void (*say_shared)(const char *error);

void rt_name_rank(int rank) { named_rank = rank; }

void rt_share_errors(void say(const char *error)) { say_shared = say; }

/* Writes the line in one piece, so that lines of different ranks do not mix. */
static void say(const char *prefix, const char *format, va_list arguments) {
    char *text = NULL, rank[32] = "";
    fflush(stdout);
    if (named_rank >= 0)
        snprintf(rank, sizeof rank, "rank %d: ", named_rank);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    fprintf(stderr, "%s%s%s\n", prefix, rank, text ? text : format);
    free(text);
}

void rt_say_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("error: ", format, arguments);
    va_end(arguments);
}

/* Says why the process is about to end. */
static void say_end(const char *format, va_list arguments) {
    char *text = NULL;
    if (!say_shared || vasprintf(&text, format, arguments) < 0)
        say("error: ", format, arguments);
    else
        say_shared(text);
    free(text);
}

_Noreturn void rt_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_end(format, arguments);
    va_end(arguments);
    if (named_rank >= 0)
        _exit(1);
    exit(1);
}

_Noreturn void rt_fail_at_once(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_end(format, arguments);
    va_end(arguments);
    _exit(1);
}

_Noreturn void rt_internal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("internal fault of the runtime: ", format, arguments);
    va_end(arguments);
    abort();
}

void rt_warn(const char *format, ...) {
    va_list arguments;
    if (named_rank > 0)
        return;
    va_start(arguments, format);
    say("warning: ", format, arguments);
    va_end(arguments);
}

/* ---- clock, memory, folders ------------------------------------------------------------------ */

double rt_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

void *rt_alloc(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory)
        rt_fail("out of host memory: cannot allocate %zu bytes", bytes);
    return memory;
}

bool rt_make_folder(const char *path) {
    char prefix[RT_MAX_PATH];
    if (snprintf(prefix, sizeof prefix, "%s", path) >= (int)sizeof prefix) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = strchr(prefix + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(prefix, 0777) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    struct stat about;
    if (mkdir(prefix, 0777) == 0)
        return true;
    if (errno != EEXIST || stat(prefix, &about) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode);
}

const char *rt_folder_problem(const char *path) {
    struct stat about;
    if (lstat(path, &about) != 0)
        return NULL;
    if (stat(path, &about) != 0)
        return strerror(errno);
    if (!S_ISDIR(about.st_mode))
        return strerror(ENOTDIR);
    return access(path, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

bool rt_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* ---- arenas ---------------------------------------------------------------------------------- */

const RtInput *program_input(const RtProgram *program, const char *name) {
    for (int i = 0; i < program->input_count; i++)
        if (strcmp(program->inputs[i].name, name) == 0)
            return &program->inputs[i];
    return NULL;
}

int arena_slots(const RtProgram *p, RtArena arena) {
    if (arena == RT_STASH)
        return p->pipeline ? p->pipeline->slots : 0;
    if (arena != RT_INPUT)
        return 1;
    return p->pipeline ? RT_SLOTS * (int)p->training.micro_steps : RT_SLOTS;
}

size_t arena_bytes(const RtProgram *p) {
    size_t bytes = 0;
    for (int a = 0; a < RT_ARENAS; a++)
        bytes += (size_t)arena_slots(p, (RtArena)a) * p->arena_bytes[a];
    return bytes;
}

/* ---- element types --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
    [RT_F64] = {"F64", 8}, [RT_F32] = {"F32", 4}, [RT_F16] = {"F16", 2}, [RT_BF16] = {"BF16", 2},
    [RT_I64] = {"I64", 8}, [RT_I32] = {"I32", 4}, [RT_U8] = {"U8", 1},   [RT_I8] = {"I8", 1},
};

size_t rt_dtype_bytes(RtDtype dtype) { return dtypes[dtype].bytes; }

const char *rt_dtype_name(RtDtype dtype) { return dtypes[dtype].name; }

/* A 16-bit float with `exponent` bits of exponent, as a double. */
static double small_float_value(uint16_t bits, int exponent) {
    int mantissa = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
    int e = bits >> mantissa & ((1 << exponent) - 1);
    int m = bits & ((1 << mantissa) - 1);
    double sign = bits >> 15 ? -1.0 : 1.0;
    if (e == (1 << exponent) - 1)
        return m ? (double)NAN : sign * (double)INFINITY;
    if (e == 0)
        return sign * ldexp(m, 1 - bias - mantissa);
    return sign * ldexp(m + (1 << mantissa), e - bias - mantissa);
}

/* Fast path for values that are normal in the small format and below its largest exponent, as
 * nearly all are: rounds the double's own bits at the end of the mantissa. Returns false, and
 * meaningless bits, for any other value. */
static bool quick_bits(double value, int exponent, uint16_t *bits) {
    int mantissa = 15 - exponent, bias = (1 << (exponent - 1)) - 1, dropped = 52 - mantissa;
    uint64_t whole;
    memcpy(&whole, &value, sizeof whole);
    int64_t e = (int64_t)(whole >> 52 & 0x7ff) - 1023 + bias;
    uint64_t magnitude = whole & ~((uint64_t)1 << 63), even = magnitude >> dropped & 1;
    magnitude = (magnitude + ((uint64_t)1 << (dropped - 1)) - 1 + even) >> dropped;
    *bits = (uint16_t)((whole >> 63 << 15) | (magnitude - ((uint64_t)(1023 - bias) << mantissa)));
    return e >= 1 && e < 2 * bias;
}

/* Returns the nearest 16-bit float, ties to even. Converts directly from double, because rounding
 * through float first would round twice. */
static uint16_t small_float_bits(double value, int exponent) {
    int mantissa = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)(((1 << exponent) - 1) << mantissa), bits_of_normal;
    if (quick_bits(value, exponent, &bits_of_normal))
        return bits_of_normal;
    if (isnan(value))
        return (uint16_t)(sign | infinity | 1 << (mantissa - 1));
    if (value == 0.0)
        return sign;
    if (isinf(value))
        return sign | infinity;
    int e;
    frexp(value, &e); /* value = f * 2^e, 0.5 <= |f| < 1 */
    if (e - 1 < 1 - bias)
        e = 2 - bias; /* subnormal: the spacing of the smallest normal numbers */
    /* In [2^m, 2^(m+1)] if normal; a carry increments the exponent, as it should. */
    double units = nearbyint(ldexp(fabs(value), mantissa + 1 - e));
    double bits = units + ldexp(e - 2 + bias, mantissa);
    return bits >= infinity ? sign | infinity : sign | (uint16_t)bits;
}

double rt_get(RtDtype dtype, const void *values, int64_t i) {
    switch (dtype) {
    case RT_F64:
        return ((const double *)values)[i];
    case RT_F32:
        return ((const float *)values)[i];
    case RT_F16:
        return small_float_value(((const uint16_t *)values)[i], 5);
    case RT_BF16:
        return small_float_value(((const uint16_t *)values)[i], 8);
    case RT_I64:
        return (double)((const int64_t *)values)[i];
    case RT_I32:
        return ((const int32_t *)values)[i];
    case RT_U8:
        return ((const uint8_t *)values)[i];
    case RT_I8:
        return ((const int8_t *)values)[i];
    }
    rt_internal("no such dtype: %d", (int)dtype);
}

double rt_figure(RtDtype dtype, const void *values, int64_t i) {
    double value = rt_get(dtype, values, i);
    return isnan(value) ? NAN : value;
}

double rt_six_decimals(double value) { return fabs(value) < 0.5e-6 ? 0 : value; }

void rt_set(RtDtype dtype, void *values, int64_t i, double value) {
    switch (dtype) {
    case RT_F64:
        ((double *)values)[i] = value;
        return;
    case RT_F32:
        ((float *)values)[i] = (float)value;
        return;
    case RT_F16:
        ((uint16_t *)values)[i] = small_float_bits(value, 5);
        return;
    case RT_BF16:
        ((uint16_t *)values)[i] = small_float_bits(value, 8);
        return;
    case RT_I64:
        ((int64_t *)values)[i] = (int64_t)value;
        return;
    case RT_I32:
        ((int32_t *)values)[i] = (int32_t)value;
        return;
    case RT_U8:
        ((uint8_t *)values)[i] = (uint8_t)value;
        return;
    case RT_I8:
        ((int8_t *)values)[i] = (int8_t)value;
        return;
    }
    rt_internal("no such dtype: %d", (int)dtype);
}

/* Converts the row on the branch-free fast path, then on the slow one if any element failed. */
static void set_halves(uint16_t *to, const double *row, int64_t count, int exponent) {
    bool all = true;
    for (int64_t i = 0; i < count; i++)
        all &= quick_bits(row[i], exponent, &to[i]);
    for (int64_t i = 0; i < count && !all; i++)
        to[i] = small_float_bits(row[i], exponent);
}

void rt_set_row(RtDtype dtype, void *values, int64_t first, const double *row, int64_t count) {
    uint16_t *halves = (uint16_t *)values + first;
    switch (dtype) {
    case RT_F32:
        for (int64_t i = 0; i < count; i++)
            ((float *)values)[first + i] = (float)row[i];
        return;
    case RT_F16:
        set_halves(halves, row, count, 5);
        return;
    case RT_BF16:
        set_halves(halves, row, count, 8);
        return;
    default:
        for (int64_t i = 0; i < count; i++)
            rt_set(dtype, values, first + i, row[i]);
    }
}
