/* Parameters on a device that is an array: written values are read back in the file's order,
 * whatever the order in memory, and nothing else changes. */
#include "runtime/comm/comm.h"
#include "runtime/device/driver.h"
#include "runtime/params/params.h"
#include "tests/unit/no_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STATE_BYTES = 4096, BLANK = 0xee };

static unsigned char device_state[STATE_BYTES];
static Rt rt;

void rt_read_state(Rt *r, size_t offset, size_t bytes, void *host) {
    (void)r;
    assert_true(offset + bytes <= STATE_BYTES);
    memcpy(host, device_state + offset, bytes);
}

void rt_write_state(Rt *r, size_t offset, size_t bytes, const void *host) {
    (void)r;
    assert_true(offset + bytes <= STATE_BYTES);
    memcpy(device_state + offset, host, bytes);
}

/* With two ranks: the bytes that the other rank has sent. */
static unsigned char sent[256];

void comm_send(Rt *r, int to, const void *values, int64_t bytes, const char *what) {
    (void)what;
    assert_true(to == 0 && r->rank == 1 && bytes <= (int64_t)sizeof sent);
    memcpy(sent, values, (size_t)bytes);
}

void comm_receive(Rt *r, int from, void *values, int64_t bytes, const char *what) {
    (void)what;
    assert_true(r->rank == 0 && from == 1);
    memcpy(values, sent, (size_t)bytes);
}

static int blank(void **state) {
    (void)state;
    memset(device_state, BLANK, sizeof device_state);
    return 0;
}

/* ---- the order of memory, in an independent formulation --------------------------------------- */

/* Returns the index in the file of the element at an index in memory. */
static int64_t file_index(const RtParam *p, int64_t memory) {
    int64_t at[4] = {0}, index = 0;
    for (int i = 3; i >= 0; i--) {
        int64_t count = p->split[p->order[i]];
        at[p->order[i]] = memory % count;
        memory /= count;
    }
    for (int i = 0; i < 4; i++)
        index = index * p->split[i] + at[i];
    return index;
}

static float weight_at(const RtParam *p, int64_t memory) {
    int64_t row = memory / p->cols, col = memory % p->cols;
    const unsigned char *weight = device_state + p->weight;
    return (float)rt_get(p->dtype, weight, row * p->row_stride + col);
}

static bool is_blank(size_t from, size_t to) {
    for (; from < to; from++)
        if (device_state[from] != BLANK)
            return false;
    return true;
}

/* Uses small integers, which are exact in every type. */
static void check_weight(const RtParam *p) {
    int64_t count = param_elements(p);
    float *host = calloc((size_t)count, sizeof *host), *back = calloc((size_t)count, sizeof *back);
    for (int64_t i = 0; i < count; i++)
        host[i] = (float)(i - 7);
    param_write(&rt, p, host);
    for (int64_t i = 0; i < count; i++)
        assert_true(weight_at(p, i) == host[file_index(p, i)]);
    param_read(&rt, p, back);
    assert_memory_equal(back, host, (size_t)count * sizeof *host);
    free(host);
    free(back);
}

/* ---- tests ------------------------------------------------------------------------------------ */

/* Different odd lengths, so that axes cannot be confused. */
#define CONV(...)                                                                                  \
    {                                                                                              \
        .name = "conv", .rank = 4, .shape = {5, 3, 2, 7}, .dtype = RT_F32, .master_dtype = RT_F32, \
        .weight = 64, .master = RT_NOWHERE, .split = {5, 3, 2, 7}, __VA_ARGS__                     \
    }

static void test_every_order(void **state) {
    RtParam p = CONV(.cols = 1);
    for (int code = 0; code < 256; code++) {
        int seen = 0;
        for (int i = 0; i < 4; i++) {
            p.order[i] = code >> 2 * i & 3;
            seen |= 1 << p.order[i];
        }
        if (seen != 15)
            continue;
        blank(state);
        p.cols = p.row_stride = p.split[p.order[3]];
        check_weight(&p);
        assert_true(is_blank(0, 64) && is_blank(64 + 210 * 4, STATE_BYTES));
    }
}

/* [F, C, H*W] flattened to [F, H*W*C], in rows with other tensors between them. */
static void test_strided_rows(void **state) {
    (void)state;
    RtParam p = {.name = "fc",
                 .rank = 2,
                 .shape = {4, 15},
                 .dtype = RT_F32,
                 .master_dtype = RT_F32,
                 .weight = 32,
                 .master = RT_NOWHERE,
                 .split = {4, 3, 5, 1},
                 .order = {0, 2, 3, 1},
                 .cols = 15,
                 .row_stride = 22};
    check_weight(&p);
    for (size_t row = 0; row < 4; row++)
        assert_true(is_blank(32 + (row * 22 + 15) * 4, 32 + (row + 1) * 22 * 4));
}

static void test_a_master_and_its_copy(void **state) {
    (void)state;
    RtParam p = CONV(.order = {2, 3, 1, 0}, .cols = 5, .row_stride = 6);
    p.dtype = RT_BF16;
    p.master = 2048;
    check_weight(&p);
    const float *master = (const float *)(device_state + p.master);
    for (int64_t i = 0; i < 210; i++)
        assert_true(master[i] == weight_at(&p, i));
}

static void test_gradients_and_moments(void **state) {
    (void)state;
    RtParam p = CONV(.order = {0, 2, 3, 1}, .cols = 3, .row_stride = 3);
    float host[210], back[210];
    for (int i = 0; i < 210; i++)
        host[i] = 0.1f * (float)i;
    param_write_part(&rt, &p, 1024, host);
    const float *memory = (const float *)(device_state + 1024);
    for (int64_t i = 0; i < 210; i++)
        assert_true(memory[i] == host[file_index(&p, i)]);
    param_read_part(&rt, &p, 1024, back);
    assert_memory_equal(back, host, sizeof host);
}

/* Each rank holds every second run of the axis; a file has all of them. */
static void test_parts_of_ranks(void **state) {
    enum { ROWS = 6, COLS = 4, ALL = ROWS * COLS };
    static const RtProgram program = {.mesh = {[RT_AXIS_TENSOR] = 2}};
    float host[ALL], back[ALL];
    Rt two = {.program = &program, .ranks = 2};
    for (int i = 0; i < ALL; i++)
        host[i] = (float)i;
    for (int axis = 0; axis < 2; axis++) {
        RtParam p = {.name = "w", .rank = 2, .shape = {ROWS, COLS}, .dtype = RT_F32,
                     .master_dtype = RT_F32, .weight = 64, .master = RT_NOWHERE,
                     .row_stride = axis ? COLS / 2 + 1 : COLS, .shard = RT_KEYS,
                     .shard_axis = axis};
        blank(state);
        for (two.rank = 1; two.rank >= 0; two.rank--) {
            param_write(&two, &p, host);
            const float *held = (const float *)(device_state + p.weight);
            int first = two.rank * (axis ? COLS / 2 : ROWS / 2 * COLS);
            assert_true(held[0] == host[first] && held[p.row_stride] == host[first + COLS]);
            param_read(&two, &p, back);
        }
        assert_memory_equal(back, host, sizeof host);
        assert_true(is_blank(64 + ALL / 2 * 4 + (axis ? (ROWS - 1) * 4 : 0), STATE_BYTES));
        two.rank = 0;
        param_write_part(&two, &p, 1024, host);
        param_read_part(&two, &p, 1024, back);
        assert_memory_equal(back, host, sizeof host);
    }
}

/* Files are transposed: of [in, 3 x out] each rank has its part of `out` in each of the three runs,
 * or of [in, out] its part of `in`. */
static void test_turned_parts_of_ranks(void **state) {
    enum { IN = 4, OUT = 12, RUN = OUT / 3, ALL = IN * OUT };
    static const RtProgram program = {.mesh = {[RT_AXIS_TENSOR] = 2}};
    float host[ALL], back[ALL];
    Rt two = {.program = &program, .ranks = 2};
    for (int i = 0; i < ALL; i++)
        host[i] = (float)i;
    for (int axis = 0; axis < 2; axis++) {
        int cols = axis ? IN : IN / 2;
        RtParam p = {.name = "w", .rank = 2, .shape = {IN, OUT}, .dtype = RT_F32,
                     .master_dtype = RT_F32, .weight = 64, .master = RT_NOWHERE,
                     .split = {IN, OUT, 1, 1}, .order = {1, 0, 2, 3}, .cols = cols,
                     .row_stride = cols, .shard = RT_KEYS, .shard_axis = axis,
                     .shard_runs = axis ? 3 : 0};
        blank(state);
        for (two.rank = 1; two.rank >= 0; two.rank--) {
            param_write(&two, &p, host);
            const float *held = (const float *)(device_state + p.weight);
            for (int i = 0; i < ALL / 2; i++) {
                int row = i / cols, in = i % cols + (axis ? 0 : two.rank * IN / 2);
                int out = axis ? row / (RUN / 2) * RUN + two.rank * RUN / 2 + row % (RUN / 2) : row;
                assert_true(held[i] == host[in * OUT + out]);
            }
            param_read(&two, &p, back);
        }
        assert_memory_equal(back, host, sizeof host);
        assert_true(is_blank(64 + ALL / 2 * 4, STATE_BYTES));
    }
}

/* ---- files ------------------------------------------------------------------------------------ */

static char dir[64];

/* conv [5, 3, 2, 7] in bf16, in torch's order, and a tensor that no program has. */
static void write_model(void) {
    char path[128], error[256];
    uint16_t values[210];
    const int64_t tracked = 12, shape[] = {5, 3, 2, 7};
    for (int i = 0; i < 210; i++)
        rt_set(RT_BF16, values, i, i - 100);
    strcpy(dir, "/tmp/test_params_XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    StWriter *writer = st_create(path);
    st_declare(writer, "norm.num_batches_tracked", ST_I64, 0, NULL);
    st_declare(writer, "conv", ST_BF16, 4, shape);
    st_write(writer, &tracked, sizeof tracked);
    st_write(writer, values, sizeof values);
    assert_true(st_finish(writer, error, sizeof error));
}

static int remove_model(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

/* Weights under torch's names need no config.json if names and shapes are sufficient. */
static void test_a_file_of_torch(void **state) {
    (void)state;
    RtParam p = CONV(.order = {0, 2, 3, 1}, .cols = 3, .row_stride = 3);
    float host[210];
    write_model();
    StFile *file = weights_open_model(dir, NULL, "{\"family\": \"resnet\", \"depth\": 18}");
    const StTensor *tensor = weights_find(file, dir, &p);
    weights_convert(tensor, tensor->data, tensor->elements, &p, host);
    param_write(&rt, &p, host);
    for (int64_t i = 0; i < 210; i++)
        assert_true(weight_at(&p, i) == (float)(file_index(&p, i) - 100));
    st_close(file);
}

/* For a model without its head, Hugging Face saves names without the prefix. */
static void test_a_file_without_the_prefix(void **state) {
    (void)state;
    RtParam p = CONV(.order = {0, 2, 3, 1}, .cols = 3, .row_stride = 3);
    float host[210];
    p.name = "transformer.conv";
    write_model();
    StFile *file = weights_open_model(dir, NULL, "{}");
    const StTensor *tensor = weights_find(file, dir, &p);
    weights_convert(tensor, tensor->data, tensor->elements, &p, host);
    for (int64_t i = 0; i < 210; i++)
        assert_true(host[i] == (float)(i - 100));
    st_close(file);
}

/* ---- first values ------------------------------------------------------------------------------ */

enum { BIG_ROWS = 512, BIG_COLS = 256, BIG = BIG_ROWS * BIG_COLS, BIG_RANKS = 4 };

static CUresult host_alloc(void **memory, size_t bytes, unsigned flags) {
    (void)flags;
    *memory = calloc(1, bytes);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult host_free(void *memory) {
    free(memory);
    return CUDA_SUCCESS;
}

/* "big" [512, 256], whose element i is i modulo 8191. */
static void write_big_model(StDtype dtype) {
    char path[128], error[256];
    const int64_t shape[] = {BIG_ROWS, BIG_COLS};
    char *values = malloc(BIG * sizeof(double));
    for (int i = 0; i < BIG; i++)
        rt_set(dtype == ST_F64 ? RT_F64 : RT_F32, values, i, i % 8191);
    strcpy(dir, "/tmp/test_params_XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    StWriter *writer = st_create(path);
    st_declare(writer, "big", dtype, 2, shape);
    st_write(writer, values, BIG * st_dtype_bytes(dtype));
    assert_true(st_finish(writer, error, sizeof error));
    free(values);
}

/* Returns the number of bytes that this process has read by system calls. */
static long bytes_read(void) {
    FILE *file = fopen("/proc/self/io", "r");
    long bytes = -1;
    if (!file || fscanf(file, "rchar: %ld", &bytes) != 1)
        skip();
    fclose(file);
    return bytes;
}

static float given[BIG]; /* elements of a rank's part; -1: not read */

static void take(Rt *r, const RtParam *p, ParamBlock block, RtPtr to) {
    (void)r, (void)p, (void)to;
    memcpy(given + block.first, block.host, (size_t)block.count * sizeof *given);
}

static void *first_values_of(Rt *of, const RtParam *p, int64_t first, int64_t end, long *bytes) {
    for (int i = 0; i < BIG; i++)
        given[i] = -1;
    *bytes = bytes_read();
    param_first_values(of, p, first, end, take, 0);
    *bytes = bytes_read() - *bytes;
    return given;
}

static RtParam big_param(int axis) {
    return (RtParam){.name = "big", .rank = 2, .shape = {BIG_ROWS, BIG_COLS}, .dtype = RT_F32,
                     .master_dtype = RT_F32, .weight = 0, .master = RT_NOWHERE,
                     .row_stride = BIG_COLS, .shard = RT_KEYS, .shard_axis = axis};
}

/* A rank that holds rows reads only these, in the file's type or another; for columns it reads
 * whole rows. */
static void test_a_rank_reads_its_part(void **state) {
    (void)state;
    static const RtProgram program = {.mesh = {[RT_AXIS_TENSOR] = BIG_RANKS},
                                      .checkpoint = {.config_json = "{}"}};
    cu.MemHostAlloc = host_alloc;
    cu.MemFreeHost = host_free;
    for (int wide = 0; wide < 2; wide++) {
        write_big_model(wide ? ST_F64 : ST_F32);
        Rt of = {.program = &program, .ranks = BIG_RANKS, .options = {.init_dir = dir}};
        params_open(&of);
        for (int code = 0; code < 2 * BIG_RANKS; code++) {
            int axis = code % 2, part = BIG / BIG_RANKS, cols = BIG_COLS / (axis ? BIG_RANKS : 1);
            RtParam p = big_param(axis);
            long bytes, share = BIG * (wide ? 8 : 4) / (axis ? 1 : BIG_RANKS);
            of.rank = code / 2;
            first_values_of(&of, &p, 0, part, &bytes);
            assert_true(bytes >= share * 9 / 10 && bytes <= share + 4096);
            for (int i = 0; i < part; i++) {
                int at = axis ? i / cols * BIG_COLS + of.rank * cols + i % cols : of.rank * part + i;
                assert_true(given[i] == (float)(at % 8191));
            }
        }
        params_done(&of);
        assert_int_equal(remove_model(state), 0);
    }
}

/* A piece reads its elements, and the rest of their first and last rows. */
static void test_a_piece_is_read_alone(void **state) {
    (void)state;
    static const RtProgram program = {.checkpoint = {.config_json = "{}"}};
    RtParam p = big_param(0);
    long bytes;
    p.shard = 0;
    write_big_model(ST_F32);
    Rt of = {.program = &program, .ranks = 1, .options = {.init_dir = dir}};
    params_open(&of);
    first_values_of(&of, &p, 1000, 9000, &bytes);
    assert_true(bytes <= (8000 + 2 * BIG_COLS) * 4 + 4096);
    for (int i = 0; i < BIG; i++)
        assert_true(i >= 1000 && i < 9000 ? given[i] == (float)(i % 8191)
                                          : given[i] == -1 || given[i] == (float)(i % 8191));
    first_values_of(&of, &p, 0, 0, &bytes);
    assert_true(bytes <= 4096);
    params_done(&of);
}

/* A random value depends only on its element, not on the rank or the first index drawn. */
static void test_parts_of_what_is_drawn(void **state) {
    (void)state;
    RtParam p = big_param(0);
    p.init = RT_INIT_NORMAL;
    p.init_scale = 1;
    float *part = malloc(BIG * sizeof *part);
    initial_values(&p, 7, 0, BIG, given);
    for (int first = 0; first < 2; first++) {
        initial_values(&p, 7, 1000 + first, BIG - 3000, part);
        assert_memory_equal(part, given + 1000 + first, (BIG - 3000) * sizeof *part);
    }
    free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_order, blank),
        cmocka_unit_test_setup(test_strided_rows, blank),
        cmocka_unit_test_setup(test_a_master_and_its_copy, blank),
        cmocka_unit_test_setup(test_gradients_and_moments, blank),
        cmocka_unit_test_setup(test_parts_of_ranks, blank),
        cmocka_unit_test_setup(test_turned_parts_of_ranks, blank),
        cmocka_unit_test_setup_teardown(test_a_file_of_torch, blank, remove_model),
        cmocka_unit_test_setup_teardown(test_a_file_without_the_prefix, blank, remove_model),
        cmocka_unit_test(test_a_rank_reads_its_part),
        cmocka_unit_test_teardown(test_a_piece_is_read_alone, remove_model),
        cmocka_unit_test(test_parts_of_what_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
