/* Compares attention's templates, values and gradients, with a reference in double precision. Where
 * backward can undo RoPE, its results are compared bit by bit with those of rotating back later. */
#include "test_template_common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Dtype dtype;
    int batch, seq, heads, kv_heads, head_dim;
    int sample; /* length of the packed samples; 0: one sample per row */
    int prefix, padding; /* places at a group's start that all its samples see; at a row's end */
    int group; /* length of the groups, each with a prefix; 0: each row is one group */
} Case;

/* ---- Reference ------------------------------------------------------------------------------------ */

/* q|k|v are next to each other in rows of qkv_stride, and so are their gradients; o is padded by 8
 * columns that must not be written. All arrays are [tokens, stride]. */
typedef struct {
    int tokens, qkv_stride, o_stride;
    int *positions, *prefix;
    double *qkv, *o, *lse, *d_o, *dqkv;
} Tensors;

enum { O_PADDING = 8 };

/* Finds a place's position in its sample, and the prefix of its row that it also sees. */
static void place_in(const Case *c, int place, int *position, int *prefix) {
    const int number = c->group ? place / c->group : 0, group = number * c->group;
    const int shared = number % 3 == 1 ? 0 : c->prefix; /* the second group has no prefix */
    const int behind = place - group - shared, length = c->sample ? c->sample : c->seq;
    const bool padding = place >= c->seq - c->padding, sees = shared && behind >= 0 && !padding;
    *position = padding ? 0 : behind < 0 ? place - group : behind % length;
    prefix[0] = sees ? group : 0;
    prefix[1] = sees ? group + shared : 0;
}

static Tensors tensors_new(const Case *c, uint64_t seed) {
    Tensors t = {.tokens = c->batch * c->seq,
                 .qkv_stride = (c->heads + 2 * c->kv_heads) * c->head_dim,
                 .o_stride = c->heads * c->head_dim + O_PADDING};
    t.positions = calloc((size_t)t.tokens, sizeof *t.positions);
    t.prefix = calloc((size_t)t.tokens, 2 * sizeof *t.prefix);
    t.qkv = new_values((size_t)t.tokens * t.qkv_stride);
    t.dqkv = new_values((size_t)t.tokens * t.qkv_stride);
    t.o = new_values((size_t)t.tokens * t.o_stride);
    t.d_o = new_values((size_t)t.tokens * t.o_stride);
    t.lse = new_values((size_t)t.tokens * c->heads);
    for (int i = 0; i < t.tokens; i++)
        place_in(c, i % c->seq, &t.positions[i], &t.prefix[2 * i]);
    for (size_t i = 0; i < (size_t)t.tokens * t.qkv_stride; i++)
        t.qkv[i] = 2 * random_value(&seed);
    for (size_t i = 0; i < (size_t)t.tokens * t.o_stride; i++)
        t.d_o[i] = random_value(&seed);
    return t;
}

static void tensors_free(Tensors *t) {
    free(t->positions);
    free(t->prefix);
    free(t->qkv);
    free(t->dqkv);
    free(t->o);
    free(t->d_o);
    free(t->lse);
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_scaled(double *to, double x, const double *from, int n) {
    for (int i = 0; i < n; i++)
        to[i] += x * from[i];
}

/* One query of one head: computes values, then its contribution to all gradients. */
static void reference_row(const Case *c, Tensors *t, int token, int head, double *p) {
    const int hd = c->head_dim, place = token % c->seq, row = token - place;
    const int start = place - t->positions[token], prefix = t->prefix[2 * token + 1];
    const int first = prefix ? t->prefix[2 * token] : start, kv_head = head / (c->heads / c->kv_heads);
    const size_t q_at = (size_t)head * hd, k_at = (size_t)(c->heads + kv_head) * hd;
    const size_t v_at = k_at + (size_t)c->kv_heads * hd, stride = (size_t)t->qkv_stride;
    const double scale = 1 / sqrt(hd), *q = t->qkv + token * stride + q_at;
    double *o = t->o + (size_t)token * t->o_stride + q_at, peak = -INFINITY, sum = 0;
    const double *d_o = t->d_o + (size_t)token * t->o_stride + q_at;

    for (int j = first; j <= place; j = j + 1 == prefix ? start : j + 1) {
        p[j] = scale * dot(q, t->qkv + (row + j) * stride + k_at, hd);
        peak = fmax(peak, p[j]);
    }
    for (int j = first; j <= place; j = j + 1 == prefix ? start : j + 1)
        sum += p[j] = exp(p[j] - peak);
    t->lse[token * c->heads + head] = peak + log(sum);
    for (int j = first; j <= place; j = j + 1 == prefix ? start : j + 1)
        add_scaled(o, p[j] /= sum, t->qkv + (row + j) * stride + v_at, hd);

    const double delta = dot(o, d_o, hd);
    for (int j = first; j <= place; j = j + 1 == prefix ? start : j + 1) {
        const size_t at = (row + j) * stride;
        const double ds = p[j] * (dot(d_o, t->qkv + at + v_at, hd) - delta) * scale;
        add_scaled(t->dqkv + token * stride + q_at, ds, t->qkv + at + k_at, hd);
        add_scaled(t->dqkv + at + k_at, ds, q, hd);
        add_scaled(t->dqkv + at + v_at, p[j], d_o, hd);
    }
}

static void reference(const Case *c, Tensors *t) {
    double *p = new_values((size_t)c->seq);
    for (int token = 0; token < t->tokens; token++)
        for (int head = 0; head < c->heads; head++)
            reference_row(c, t, token, head, p);
    free(p);
}

/* ---- Launch geometry, as in the templates' head comments
 * --------------------------------------------- */

typedef struct {
    const char *file;
    struct {
        int rows, keys, threads, warps, row_tiles;
        size_t shared;
    } kernels[3]; /* forward, backward_q, backward_kv (whose rows are keys, and `keys` queries) */
    int split;    /* blocks that share the columns of one row of dk and dv */
} Geometry;

static const char *const sections[] = {"forward", "backward_q", "backward_kv"};

static int round_up(int x, int to) { return (x + to - 1) / to * to; }

static Geometry geometry_fma(const Case *c) {
    const int a = c->dtype == F64 ? 8 : 4, bytes = c->head_dim * a;
    const int rows = bytes <= 256 ? 64 : bytes <= 1024 ? 32 : 16;
    const int keys = bytes <= 512 ? 128 / a : bytes <= 1024 ? 16 : 8;
    const int parts = (bytes + 255) / 256, chunk = round_up((c->head_dim + parts - 1) / parts, 8);
    const int width = parts * chunk, pitch = keys + 16 / a, threads = rows * parts;
    const int kept = keys * threads, swap = parts > 1 ? keys * threads : 0;
    const size_t forward = (size_t)a * (width * (rows + pitch + keys) + kept + swap);
    const size_t backward_q = forward + (size_t)a * (width * (rows + pitch) + swap);
    const size_t backward_kv = backward_q + (size_t)a * (width * keys + (c->prefix ? 5 : 3) * keys);
    return (Geometry){"attention_fma.cu",
                      {{rows, keys, threads, 0, 0, forward},
                       {rows, keys, threads, 0, 0, backward_q},
                       {rows, keys, threads, 0, 0, backward_kv}},
                      1};
}

static Geometry geometry_mma(const Case *c) {
    static const struct {
        int bytes;
        struct {
            int warps, row_tiles, keys;
        } kernels[3];
    } table[] = {
        {128, {{4, 2, 64}, {4, 2, 64}, {4, 2, 32}}},
        {256, {{4, 2, 64}, {4, 2, 32}, {4, 1, 64}}},
        {512, {{4, 1, 32}, {4, 1, 32}, {4, 1, 32}}},
        {1024, {{4, 1, 16}, {2, 1, 16}, {2, 1, 16}}},
    };
    Geometry g = {.file = "attention_mma.cu", .split = c->head_dim > 128 ? 2 : 1};
    for (int i = 0; i < 3; i++) {
        const int width = round_up(c->head_dim, i == 2 ? 16 * g.split : 16);
        const int bytes = width * (int)dtype_bytes(c->dtype);
        int row = 0;
        while (table[row].bytes < bytes)
            row++;
        const int warps = table[row].kernels[i].warps, row_tiles = table[row].kernels[i].row_tiles;
        const int keys = table[row].kernels[i].keys, rows = 16 * row_tiles * warps;
        const size_t shared = (size_t)(bytes + 16) * ((i == 0 ? 1 : 2) * rows + 4 * keys);
        g.kernels[i].rows = rows;
        g.kernels[i].keys = keys;
        g.kernels[i].threads = 32 * warps;
        g.kernels[i].warps = warps;
        g.kernels[i].row_tiles = row_tiles;
        g.kernels[i].shared = shared + (i == 2 ? (c->prefix ? 40 : 24) * (size_t)keys : 0);
    }
    return g;
}

/* For Hopper's tensor cores. */
static Geometry geometry_wgmma(const Case *c) {
    const int rows = 64, keys = 64, row_bytes = c->head_dim * (int)dtype_bytes(c->dtype);
    Geometry g = {.file = "attention_wgmma.cu", .split = 1};
    for (int i = 0; i < 3; i++) {
        const size_t shared = (size_t)row_bytes * ((i == 0 ? 1 : 2) * rows + 4 * keys) + 1024;
        g.kernels[i].rows = rows;
        g.kernels[i].keys = keys;
        g.kernels[i].threads = 2 * rows;
        g.kernels[i].shared = shared + (i == 2 ? (c->prefix ? 40 : 24) * (size_t)keys : 0);
    }
    return g;
}

typedef Geometry (*GeometryRule)(const Case *c);

/* Whether the kernels can undo RoPE. */
static bool undoes_rope(const Case *c, const Geometry *g) {
    return g->split == 1 && c->head_dim * (int)dtype_bytes(c->dtype) % 32 == 0;
}

/* ---- Running ----------------------------------------------------------------------------------------- */

static void write_kernels(FILE *out, const Case *c, const Geometry *g, int index) {
    Holes holes = {.count = 0};
    const int hd = c->head_dim, qkv = (c->heads + 2 * c->kv_heads) * hd;
    hole_set(&holes, "dtype", "%s", dtype_name(c->dtype));
    hole_set(&holes, "acc", "%s", c->dtype == F64 ? "double" : "float");
    hole_set(&holes, "seq", "%d", c->seq);
    hole_set(&holes, "head_dim", "%d", hd);
    hole_set(&holes, "heads", "%d", c->heads);
    hole_set(&holes, "kv_heads", "%d", c->kv_heads);
    hole_set(&holes, "scale", "%.17g", 1 / sqrt(hd));
    for (int i = 0; i < 6; i++)
        hole_set(&holes, (const char *[]){"q_stride", "k_stride", "v_stride", "dq_stride", "dk_stride",
                                          "dv_stride"}[i], "%d", qkv);
    hole_set(&holes, "mask", c->prefix ? "PrefixMask" : "CausalMask");
    hole_set(&holes, "mask_operands", c->prefix ? "positions, prefix" : "positions");
    hole_set(&holes, "mask_parameters", "const int *__restrict__ positions%s",
             c->prefix ? ", const int *__restrict__ prefix" : "");
    hole_set(&holes, "o_stride", "%d", c->heads * hd + O_PADDING);
    hole_set(&holes, "do_stride", "%d", c->heads * hd + O_PADDING);

    const char *const acc = c->dtype == F64 ? "double" : "float";
    for (int form = 0; form < (undoes_rope(c, g) ? 5 : 3); form++) {
        const int i = form < 3 ? form : form - 2;
        const bool rotated = form != i;
        hole_set(&holes, "kernel", "%s%s_%d", sections[i], rotated ? "_rope" : "", index);
        hole_set(&holes, "rows", "%d", g->kernels[i].rows);
        hole_set(&holes, "keys", "%d", g->kernels[i].keys);
        hole_set(&holes, "threads", "%d", g->kernels[i].threads);
        hole_set(&holes, "warps", "%d", g->kernels[i].warps);
        hole_set(&holes, "row_tiles", "%d", g->kernels[i].row_tiles);
        hole_set(&holes, "blocks", "%d", hd > 64 ? 2 : i == 2 ? 3 : 4);
        hole_set(&holes, "rotation", rotated ? "UndoRope" : "Unrotated");
        hole_set(&holes, "rope_parameters", "");
        if (rotated)
            hole_set(&holes, "rope_parameters",
                     "const int *__restrict__ rope_positions, const %s *__restrict__ rope_cos, "
                     "const %s *__restrict__ rope_sin, ", acc, acc);
        hole_set(&holes, "rope_operands", rotated ? "rope_positions, rope_cos, rope_sin, " : "");
        template_kernel(out, g->file, sections[i], &holes);
    }
}

static void launch_section(const Case *c, const Geometry *g, int section, const char *form, int index,
                           CUmodule module, void *args[]) {
    char name[32];
    snprintf(name, sizeof name, "%s%s_%d", sections[section], form, index);
    const int rows = g->kernels[section].rows, heads = section == 2 ? c->kv_heads * g->split : c->heads;
    const Grid grid = {(unsigned)heads, (unsigned)c->batch, (unsigned)((c->seq + rows - 1) / rows)};
    launch(module, name, grid, (unsigned)g->kernels[section].threads,
           (unsigned)g->kernels[section].shared, args);
}

enum { MOST_ARGS = 13 };

/* Arguments that the kernel does not have are NULL. */
static void launch_with(const Case *c, const Geometry *g, int section, const char *form, int index,
                        CUmodule module, void *const all[]) {
    static const int counts[] = {7, MOST_ARGS, MOST_ARGS};
    void *args[MOST_ARGS];
    int count = 0;
    for (int i = 0; i < counts[section]; i++)
        if (all[i])
            args[count++] = all[i];
    launch_section(c, g, section, form, index, module, args);
}

/* ---- RoPE --------------------------------------------------------------------------------------- */

enum { PLACES = 19 }; /* rows of the tables */

/* Tables of cosines and sines, here any numbers, and the row of each token. */
typedef struct {
    int *rows;
    double *cosines, *sines;
} Rope;

static Rope rope_new(const Case *c, int tokens) {
    const size_t count = (size_t)PLACES * (size_t)(c->head_dim / 2);
    uint64_t seed = 99;
    Rope r = {calloc((size_t)tokens, sizeof *r.rows), new_values(count), new_values(count)};
    for (int i = 0; i < tokens; i++)
        r.rows[i] = (7 * i + 3) % PLACES;
    for (size_t i = 0; i < count; i++) {
        r.cosines[i] = random_value(&seed);
        r.sines[i] = random_value(&seed);
    }
    return r;
}

static void rope_free(Rope *r) {
    free(r->rows);
    free(r->cosines);
    free(r->sines);
}

/* What the op rope_grad computes for one column, before it is rounded to the dtype. */
static double rotated_back(const Case *c, bool first, double x, double partner, double cosine, double sine) {
    if (c->dtype == F64)
        return first ? x * cosine + partner * sine : x * cosine - partner * sine;
    const float x_cos = (float)x * (float)cosine, partner_sin = (float)partner * (float)sine;
    return first ? x_cos + partner_sin : x_cos - partner_sin;
}

/* Rotates the heads of dq and dk back, in rows q|k|v; rounds to the dtype. */
static void rotate_back(const Case *c, const Rope *r, int tokens, double *dqkv) {
    const int half = c->head_dim / 2, stride = (c->heads + 2 * c->kv_heads) * c->head_dim;
    for (int token = 0; token < tokens; token++)
        for (int head = 0; head < c->heads + c->kv_heads; head++)
            for (int d = 0; d < half; d++) {
                double *x = dqkv + (size_t)token * stride + head * c->head_dim + d, *y = x + half;
                const double first = *x, cosine = r->cosines[r->rows[token] * half + d];
                const double sine = r->sines[r->rows[token] * half + d];
                *x = rotated_back(c, true, first, *y, cosine, sine);
                *y = rotated_back(c, false, *y, first, cosine, sine);
            }
    cuMemFree(device_from(c->dtype, dqkv, (size_t)tokens * stride));
}

/* Repeats backward with arguments for undoing RoPE, which stores to `to`. `plain` are the gradients
 * without it. */
static void check_rope(const Case *c, const Geometry *g, int index, CUmodule module, int tokens,
                       void *const q_args[], void *const kv_args[], CUdeviceptr to, const double *plain) {
    const int width = c->heads + 2 * c->kv_heads;
    const size_t count = (size_t)tokens * width * c->head_dim, table = (size_t)PLACES * (c->head_dim / 2);
    const Dtype acc = c->dtype == F64 ? F64 : F32;
    Rope r = rope_new(c, tokens);
    CUdeviceptr rows = device_ints(r.rows, (size_t)tokens);
    CUdeviceptr cosines = device_from(acc, r.cosines, table), sines = device_from(acc, r.sines, table);
    void *q_all[MOST_ARGS], *kv_all[MOST_ARGS];
    memcpy(q_all, q_args, sizeof q_all);
    memcpy(kv_all, kv_args, sizeof kv_all);
    for (int i = 0; i < 3; i++)
        q_all[8 + i] = kv_all[8 + i] = (CUdeviceptr *[]){&rows, &cosines, &sines}[i];
    launch_with(c, g, 1, "_rope", index, module, q_all);
    launch_with(c, g, 2, "_rope", index, module, kv_all);
    double *got = new_values(count), *want = new_values(count);
    device_read(c->dtype, to, got, count);
    memcpy(want, plain, count * sizeof *want);
    rotate_back(c, &r, tokens, want);
    for (size_t i = 0; i < count; i++)
        if (got[i] != want[i])
            fail_msg("undoing RoPE, head_dim %d: element %zu is %.9g instead of %.9g", c->head_dim, i,
                     got[i], want[i]);
    for (int i = 0; i < 3; i++)
        cuMemFree((CUdeviceptr[]){rows, cosines, sines}[i]);
    free(got);
    free(want);
    rope_free(&r);
}

/* ---- Results ------------------------------------------------------------------------------------ */

/* Runs the kernels and reads the results back into tensors of the same layout. */
static void run_kernels(const Case *c, const Geometry *g, int index, CUmodule module, Tensors *want,
                        Tensors *got) {
    const size_t qkv_count = (size_t)want->tokens * want->qkv_stride;
    const size_t o_count = (size_t)want->tokens * want->o_stride;
    const size_t lse_count = (size_t)want->tokens * c->heads, e = dtype_bytes(c->dtype);
    const Dtype acc = c->dtype == F64 ? F64 : F32;
    CUdeviceptr qkv = device_from(c->dtype, want->qkv, qkv_count);
    CUdeviceptr d_o = device_from(c->dtype, want->d_o, o_count);
    CUdeviceptr positions = device_ints(want->positions, (size_t)want->tokens);
    CUdeviceptr o = device_from(c->dtype, got->o, o_count);
    CUdeviceptr dqkv = device_from(c->dtype, got->dqkv, qkv_count);
    CUdeviceptr lse = device_from(acc, got->lse, lse_count);
    CUdeviceptr delta = device_from(acc, got->lse, lse_count);
    CUdeviceptr k = qkv + e * (size_t)(c->heads * c->head_dim);
    CUdeviceptr v = k + e * (size_t)(c->kv_heads * c->head_dim);
    CUdeviceptr dk = dqkv + (k - qkv), dv = dqkv + (v - qkv);

    CUdeviceptr prefix = device_ints(want->prefix, 2 * (size_t)want->tokens);
    void *ranges = c->prefix > 0 ? &prefix : NULL;
    void *q_args[MOST_ARGS] = {&qkv, &k, &v, &positions, ranges, &o, &lse, &d_o, NULL, NULL, NULL, &delta, &dqkv};
    void *kv_args[MOST_ARGS] = {&qkv, &k, &v, &positions, ranges, &lse, &delta, &d_o, NULL, NULL, NULL, &dk, &dv};

    launch_with(c, g, 0, "", index, module, (void *[]){&qkv, &k, &v, &positions, ranges, &o, &lse});
    launch_with(c, g, 1, "", index, module, q_args);
    launch_with(c, g, 2, "", index, module, kv_args);
    device_read(c->dtype, o, got->o, o_count);
    device_read(c->dtype, dqkv, got->dqkv, qkv_count);
    device_read(acc, lse, got->lse, lse_count);
    if (undoes_rope(c, g))
        check_rope(c, g, index, module, want->tokens, q_args, kv_args, dqkv, got->dqkv);
    for (int i = 0; i < 8; i++)
        cuMemFree((CUdeviceptr[]){qkv, d_o, positions, prefix, o, dqkv, lse, delta}[i]);
}

/* Returns a dense copy of columns [column, column + width) of [tokens, stride]. */
static double *columns_of(const double *from, int tokens, int stride, int column, int width) {
    double *to = new_values((size_t)tokens * width);
    for (int i = 0; i < tokens; i++)
        memcpy(to + (size_t)i * width, from + (size_t)i * stride + column, width * sizeof *to);
    return to;
}

static void check_columns(const Case *c, const char *what, const double *got, const double *want,
                          int tokens, int stride, int column, int width, double tolerance) {
    char name[128];
    snprintf(name, sizeof name, "%s of %s seq %d heads %d/%d head_dim %d samples of %d prefix %d of %d", what,
             dtype_name(c->dtype), c->seq, c->heads, c->kv_heads, c->head_dim, c->sample, c->prefix, c->group);
    double *a = columns_of(got, tokens, stride, column, width);
    double *b = columns_of(want, tokens, stride, column, width);
    check_close(name, a, b, (size_t)tokens * width, tolerance);
    free(a);
    free(b);
}

static void check_case(const Case *c, const Geometry *g, int index, CUmodule module) {
    static const double tolerances[] = {[F64] = 1e-13, [F32] = 2e-6, [TF32] = 1e-3, [BF16] = 5e-3,
                                        [F16] = 7e-4};
    const double tolerance = tolerances[c->dtype];
    Tensors want = tensors_new(c, 1234 + (uint64_t)index), got = tensors_new(c, 1);
    const int q_width = c->heads * c->head_dim, kv_width = c->kv_heads * c->head_dim, n = want.tokens;
    for (int i = 0; i < n * got.o_stride; i++)
        got.o[i] = 7;
    run_kernels(c, g, index, module, &want, &got);
    reference(c, &want);
    check_columns(c, "o", got.o, want.o, n, want.o_stride, 0, q_width, tolerance);
    check_columns(c, "lse", got.lse, want.lse, n, c->heads, 0, c->heads, tolerance);
    check_columns(c, "dq", got.dqkv, want.dqkv, n, want.qkv_stride, 0, q_width, tolerance);
    check_columns(c, "dk", got.dqkv, want.dqkv, n, want.qkv_stride, q_width, kv_width, tolerance);
    check_columns(c, "dv", got.dqkv, want.dqkv, n, want.qkv_stride, q_width + kv_width, kv_width,
                  tolerance);
    for (int i = 0; i < n; i++)
        for (int d = q_width; d < got.o_stride; d++)
            assert_true(got.o[i * got.o_stride + d] == 7);
    tensors_free(&want);
    tensors_free(&got);
}

static void check_cases(const char *name, GeometryRule rule, const Case *cases, int count) {
    FILE *out = template_open(name);
    for (int i = 0; i < count; i++) {
        const Geometry g = rule(&cases[i]);
        if (i == 0)
            template_prelude(out, g.file);
        write_kernels(out, &cases[i], &g, i);
    }
    CUmodule module = template_load(out, name);
    for (int i = 0; i < count; i++) {
        const Geometry g = rule(&cases[i]);
        check_case(&cases[i], &g, i, module);
    }
    cuModuleUnload(module);
}

#define CHECK_CASES(name, rule, cases) \
    check_cases(name, rule, cases, (int)(sizeof(cases) / sizeof *(cases)))

static void fma_fp64(void **state) {
    (void)state;
    static const Case cases[] = {
        {F64, 2, 37, 4, 1, 24, 0, 0, 0, 0},   {F64, 1, 70, 2, 2, 8, 11, 0, 0, 0},  {F64, 1, 64, 2, 1, 32, 0, 0, 0, 0},
        {F64, 1, 33, 1, 1, 72, 20, 0, 0, 0},  {F64, 1, 50, 2, 1, 136, 0, 0, 0, 0}, {F64, 1, 40, 1, 1, 256, 17, 0, 0, 0},
    };
    CHECK_CASES("attention_fma_fp64", geometry_fma, cases);
}

static void fma_fp32(void **state) {
    (void)state;
    static const Case cases[] = {
        {F32, 2, 37, 4, 1, 24, 0, 0, 0, 0},  {F32, 2, 130, 4, 4, 8, 0, 0, 0, 0},    {F32, 1, 200, 4, 2, 64, 70, 0, 0, 0},
        {F32, 1, 65, 2, 1, 128, 0, 0, 0, 0}, {F32, 3, 2, 1, 1, 16, 0, 0, 0, 0},     {F32, 1, 90, 2, 1, 136, 7, 0, 0, 0},
        {F32, 1, 96, 1, 1, 256, 31, 0, 0, 0},
    };
    CHECK_CASES("attention_fma_fp32", geometry_fma, cases);
}

static void fma_bf16(void **state) {
    (void)state;
    static const Case cases[] = {{BF16, 1, 45, 4, 2, 40, 0, 0, 0, 0}, {F16, 1, 66, 2, 1, 96, 13, 0, 0, 0}};
    CHECK_CASES("attention_fma_bf16", geometry_fma, cases);
}

/* A prefix that ends inside a tile or at its end, tiles after it that no query sees, blocks with
 * prefix, samples and padding; groups that begin inside a tile or at its start, shorter and longer
 * than a tile, also without a prefix. */
static void fma_prefix(void **state) {
    (void)state;
    static const Case cases[] = {
        {F64, 2, 37, 4, 1, 24, 10, 12, 5, 0},  {F64, 1, 200, 2, 2, 8, 60, 64, 16, 0},
        {F64, 2, 137, 2, 1, 24, 6, 5, 9, 16},
        {F32, 1, 230, 2, 1, 64, 90, 33, 17, 0}, {F32, 1, 60, 1, 1, 136, 20, 20, 0, 0},
        {F32, 1, 300, 2, 1, 64, 40, 33, 30, 110},
    };
    check_cases("attention_fma_prefix64", geometry_fma, cases, 3);
    check_cases("attention_fma_prefix32", geometry_fma, cases + 3, 3);
}

static void mma_prefix(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 2, 37, 4, 1, 24, 10, 12, 5, 0}, {BF16, 1, 500, 2, 1, 64, 180, 128, 12, 0}, {BF16, 1, 300, 2, 1, 128, 9, 7, 11, 32},
    };
    CHECK_CASES("attention_mma_prefix", geometry_mma, cases);
    static const Case tf32[] = {{TF32, 1, 330, 2, 1, 32, 100, 129, 1, 0}};
    CHECK_CASES("attention_mma_prefix_tf32", geometry_mma, tf32);
}

static void more_mma_prefix(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 1, 470, 2, 1, 128, 150, 70, 100, 0}, {BF16, 1, 150, 1, 1, 136, 45, 40, 20, 0},
        {BF16, 1, 700, 2, 1, 64, 90, 64, 40, 208},  {BF16, 1, 210, 1, 1, 136, 33, 40, 7, 96},
    };
    CHECK_CASES("attention_more_mma_prefix", geometry_mma, cases);
    static const Case tf32[] = {{TF32, 1, 400, 1, 1, 32, 70, 31, 1, 130}};
    CHECK_CASES("attention_more_mma_prefix_tf32", geometry_mma, tf32);
}

static void mma_bf16(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 2, 37, 4, 1, 24, 0, 0, 0, 0},   {BF16, 1, 210, 4, 2, 64, 70, 0, 0, 0}, {BF16, 1, 150, 2, 1, 128, 0, 0, 0, 0},
        {BF16, 1, 100, 1, 1, 136, 23, 0, 0, 0},
    };
    CHECK_CASES("attention_mma_bf16", geometry_mma, cases);
}

static void more_mma_bf16(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 1, 130, 4, 4, 8, 0, 0, 0, 0},   {BF16, 1, 300, 2, 1, 64, 0, 0, 0, 0}, {BF16, 1, 200, 1, 1, 128, 33, 0, 0, 0},
        {BF16, 1, 70, 2, 1, 256, 0, 0, 0, 0},
    };
    CHECK_CASES("attention_more_mma_bf16", geometry_mma, cases);
}

static void mma_fp16(void **state) {
    (void)state;
    static const Case cases[] = {{F16, 1, 70, 2, 1, 40, 19, 0, 0, 0}, {F16, 2, 64, 1, 1, 80, 0, 0, 0, 0}};
    CHECK_CASES("attention_mma_fp16", geometry_mma, cases);
}

/* Each type, width and mask once. */
static void wgmma(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 1, 210, 4, 2, 64, 70, 0, 0, 0},
        {F16, 2, 330, 2, 1, 128, 180, 128, 12, 0},
    };
    check_cases("attention_wgmma", geometry_wgmma, cases, 1);
    check_cases("attention_wgmma_prefix", geometry_wgmma, cases + 1, 1);
}

static void more_wgmma(void **state) {
    (void)state;
    static const Case cases[] = {
        {BF16, 1, 150, 2, 1, 128, 0, 0, 0, 0}, {F16, 1, 200, 2, 1, 64, 0, 0, 0, 0},
        {BF16, 2, 37, 4, 1, 64, 0, 0, 0, 0},   {BF16, 1, 300, 2, 1, 64, 0, 0, 0, 0},
        {BF16, 1, 384, 1, 1, 64, 130, 0, 0, 0}, {BF16, 1, 270, 1, 1, 128, 33, 0, 0, 0},
        {F16, 1, 140, 1, 1, 128, 19, 0, 0, 0}, {BF16, 2, 130, 2, 1, 64, 70, 0, 0, 0},
        {BF16, 1, 500, 2, 1, 64, 180, 128, 12, 0}, {BF16, 1, 470, 2, 1, 128, 150, 70, 100, 0},
        {BF16, 1, 700, 2, 1, 64, 90, 64, 40, 208},
    };
    check_cases("attention_more_wgmma", geometry_wgmma, cases, 8);
    check_cases("attention_more_wgmma_prefix", geometry_wgmma, cases + 8, 3);
}

static void mma_tf32(void **state) {
    (void)state;
    static const Case cases[] = {
        {TF32, 2, 37, 4, 1, 24, 0, 0, 0, 0},  {TF32, 1, 140, 2, 1, 32, 50, 0, 0, 0}, {TF32, 1, 130, 2, 2, 64, 0, 0, 0, 0},
        {TF32, 1, 66, 2, 1, 128, 40, 0, 0, 0}, {TF32, 1, 50, 1, 1, 256, 0, 0, 0, 0},
    };
    CHECK_CASES("attention_mma_tf32", geometry_mma, cases);
}

/* An argument, such as 'mma*', selects tests; SHORT=1 omits those with more shapes. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fma_fp64),
        cmocka_unit_test(fma_fp32),
        cmocka_unit_test(fma_bf16),
        cmocka_unit_test(mma_bf16),
        cmocka_unit_test(fma_prefix),
        cmocka_unit_test(mma_prefix),
        cmocka_unit_test(mma_fp16),
        cmocka_unit_test(mma_tf32),
        cmocka_unit_test(wgmma),
        cmocka_unit_test(more_mma_bf16),
        cmocka_unit_test(more_mma_prefix),
        cmocka_unit_test(more_wgmma),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    else if (getenv("SHORT"))
        cmocka_set_skip_filter("more_*");
    device_open();
    return cmocka_run_group_tests_name("attention templates", tests, NULL, NULL);
}
