/* Tests of the runtime's parts that need no device: element types, schedules, initial values. */
#include "runtime/comm/mesh.h"
#include "runtime/loop/loop.h"
#include "runtime/params/params.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- element types --------------------------------------------------------------------------- */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Converts every 16-bit value to a float and back. A bf16 is the upper half of a float. */
static void test_sixteen_bits_round_trip(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t bits = (uint16_t)i, back;
        double half = rt_get(RT_F16, &bits, 0), brain = rt_get(RT_BF16, &bits, 0);
        if (!isnan(half)) {
            rt_set(RT_F16, &back, 0, half);
            assert_int_equal(back, bits);
        }
        if (!isnan(brain)) {
            assert_true(brain == (double)float_of(i << 16));
            rt_set(RT_BF16, &back, 0, brain);
            assert_int_equal(back, bits);
        }
    }
}

static void assert_bits(RtDtype dtype, double value, uint16_t expected) {
    uint16_t bits;
    rt_set(dtype, &bits, 0, value);
    assert_int_equal(bits, expected);
}

static void test_rounds_to_nearest_even(void **state) {
    (void)state;
    assert_bits(RT_BF16, 1.0, 0x3f80);
    assert_bits(RT_BF16, 1.0 + 0x1p-8, 0x3f80); /* a tie goes to even */
    assert_bits(RT_BF16, 1.0 + 0x3p-8, 0x3f82);
    assert_bits(RT_BF16, 1.0 + 0x1p-8 + 0x1p-40, 0x3f81); /* lost if rounded to float first */
    assert_bits(RT_BF16, -1.0 - 0x1p-8 - 0x1p-40, 0xbf81);
    assert_bits(RT_BF16, 0x1.fep127 + 0x1p119, 0x7f80); /* beyond the largest: infinity */
    assert_bits(RT_BF16, 0x1p-133, 0x0001);             /* the smallest subnormal */
    assert_bits(RT_BF16, 0x1p-134, 0x0000);
    assert_bits(RT_F16, 65504.0, 0x7bff);
    assert_bits(RT_F16, 65519.0, 0x7bff);
    assert_bits(RT_F16, 65520.0, 0x7c00);
    assert_bits(RT_F16, 0x1p-24, 0x0001);
    assert_bits(RT_F16, 0x1.ffcp-15 + 0x1p-25, 0x0400); /* carries into the normal numbers */
    assert_bits(RT_F16, -0.0, 0x8000);
    assert_bits(RT_F16, (double)INFINITY, 0x7c00);
}

/* Rows with and without a number that needs the slow path. */
static void test_a_row_is_as_its_numbers(void **state) {
    (void)state;
    enum { COUNT = 9 };
    static const double rows[][COUNT] = {
        {1, -2.5, 1.0 + 0x1p-8, 0.3, -0.7, 1e-3, 100, 2048.5, 3},
        {1, -2.5, 0, -0.0, 0x1p-25, 70000, (double)INFINITY, -1e300, 0.3},
    };
    for (int r = 0; r < 2; r++)
        for (RtDtype dtype = RT_F64; dtype <= RT_BF16; dtype++) {
            double one[COUNT + 2] = {0}, all[COUNT + 2] = {0};
            for (int i = 0; i < COUNT; i++)
                rt_set(dtype, one, i + 1, rows[r][i]);
            rt_set_row(dtype, all, 1, rows[r], COUNT);
            assert_memory_equal(one, all, sizeof one);
        }
}

/* ---- schedules ------------------------------------------------------------------------------- */

static void assert_near(double a, double b) { assert_true(fabs(a - b) <= 1e-15 * fabs(b)); }

static void test_learning_rates(void **state) {
    (void)state;
    RtTraining t = {.lr = 2.0, .steps = 14, .warmup_steps = 4, .min_lr_factor = 0.1};
    assert_near(rt_learning_rate(&t, 0), 0.5); /* never zero */
    assert_near(rt_learning_rate(&t, 3), 2.0);
    assert_near(rt_learning_rate(&t, 13), 2.0);
    t.schedule = RT_SCHEDULE_LINEAR;
    assert_near(rt_learning_rate(&t, 4), 2.0);
    assert_near(rt_learning_rate(&t, 9), 2.0 * (0.1 + 0.9 * 0.5));
    assert_near(rt_learning_rate(&t, 13), 2.0 * (0.1 + 0.9 * 0.1));
    t.schedule = RT_SCHEDULE_STEP;
    t.min_lr_factor = 0.0;
    t.step_size = 3;
    t.gamma = 0.1;
    assert_near(rt_learning_rate(&t, 3), 2.0);
    assert_near(rt_learning_rate(&t, 6), 2.0);
    assert_near(rt_learning_rate(&t, 7), 2.0 * 0.1);
    assert_near(rt_learning_rate(&t, 12), 2.0 * pow(0.1, 2));
    assert_near(rt_learning_rate(&t, 13), 2.0 * pow(0.1, 3));
    t.min_lr_factor = 0.1;
    t.schedule = RT_SCHEDULE_COSINE;
    assert_near(rt_learning_rate(&t, 4), 2.0);
    assert_near(rt_learning_rate(&t, 9), 2.0 * (0.1 + 0.9 * 0.5 * (1.0 + cos(M_PI * 0.5))));
}

/* ---- initial values -------------------------------------------------------------------------- */

static RtParam param_named(const char *name, RtInit init, double scale) {
    return (RtParam){.name = name,
                     .rank = 2,
                     .shape = {100, 101},
                     .row_stride = 101,
                     .dtype = RT_F64,
                     .master_dtype = RT_F64,
                     .master = RT_NOWHERE,
                     .init = init,
                     .init_scale = scale};
}

static double *values_of(RtParam param, int64_t seed) {
    double *values = calloc((size_t)param_elements(&param), sizeof *values);
    initial_values(&param, seed, 0, param_elements(&param), values);
    return values;
}

static void moments(const double *values, int64_t count, double *mean, double *deviation) {
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < count; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    *mean = sum / (double)count;
    *deviation = sqrt(squares / (double)count - *mean * *mean);
}

static void test_distributions(void **state) {
    (void)state;
    double mean, deviation;
    double *normal = values_of(param_named("a", RT_INIT_NORMAL, 0.02), 0);
    moments(normal, 10100, &mean, &deviation);
    assert_true(fabs(mean) < 0.001 && fabs(deviation - 0.02) < 0.001);
    double *uniform = values_of(param_named("a", RT_INIT_UNIFORM, 3.0), 0);
    moments(uniform, 10100, &mean, &deviation);
    assert_true(fabs(mean) < 0.1 && fabs(deviation - 3.0 / sqrt(3.0)) < 0.05);
    for (int i = 0; i < 10100; i++)
        assert_true(fabs(uniform[i]) < 3.0);
    free(normal);
    free(uniform);
}

/* A name and a seed always give the same values; another name or seed gives others. */
static void test_values_depend_on_name_and_seed(void **state) {
    (void)state;
    double *a = values_of(param_named("a", RT_INIT_NORMAL, 1.0), 7);
    double *again = values_of(param_named("a", RT_INIT_NORMAL, 1.0), 7);
    double *other_seed = values_of(param_named("a", RT_INIT_NORMAL, 1.0), 8);
    double *other_name = values_of(param_named("b", RT_INIT_NORMAL, 1.0), 7);
    assert_memory_equal(a, again, 10100 * sizeof *a);
    int same = 0;
    for (int i = 0; i < 10100; i++)
        same += a[i] == other_seed[i] || a[i] == other_name[i];
    assert_true(same < 3);
    free(a);
    free(again);
    free(other_seed);
    free(other_name);
}

/* A large tensor is drawn by several threads if possible; an element's value is that of the same
 * index in tensors drawn by one thread. */
static void test_large_tensors_are_drawn_alike(void **state) {
    (void)state;
    RtParam small = param_named("a", RT_INIT_NORMAL, 1.0), large = small;
    small.shape[0] = 600;
    large.shape[0] = 6001;
    double *first = values_of(small, 7), *all = values_of(large, 7);
    int64_t columns = param_elements(&small) / 600;
    assert_memory_equal(first, all, (size_t)(600 * columns) * sizeof *all);
    double mean, deviation;
    for (int64_t start = 0; start + 600 <= 6001; start += 600) { /* no part was skipped */
        moments(all + start * columns, 600 * columns, &mean, &deviation);
        assert_true(fabs(mean) < 0.03 && fabs(deviation - 1.0) < 0.03);
    }
    assert_true(all[6001 * columns - 1] != 0.0);
    free(first);
    free(all);
}

/* ---- the mesh of ranks ------------------------------------------------------------------------ */

/* 2 stages x 3 replicas x 2 tensor ranks: rank = (stage * 3 + replica) * 2 + tensor. */
static const RtProgram meshed = {
    .mesh = {[RT_AXIS_PIPELINE] = 2, [RT_AXIS_REPLICATE] = 3, [RT_AXIS_TENSOR] = 2}};

static void test_mesh_places(void **state) {
    (void)state;
    for (int rank = 0; rank < 12; rank++) {
        int stage = rank / 6, replica = rank / 2 % 3, tensor = rank % 2;
        assert_int_equal(mesh_group_rank(&meshed, RT_PIPELINE, rank), stage);
        assert_int_equal(mesh_group_rank(&meshed, RT_DATA, rank), replica);
        assert_int_equal(mesh_group_rank(&meshed, RT_KEYS, rank), tensor);
        assert_int_equal(mesh_group_rank(&meshed, RT_PIPELINE | RT_KEYS, rank), stage * 2 + tensor);
        assert_int_equal(mesh_group_rank(&meshed, RT_WORLD, rank), rank);
        assert_int_equal(mesh_first(&meshed, RT_DATA, rank), stage * 6 + tensor);
        assert_int_equal(mesh_first(&meshed, RT_KEYS, rank), rank - tensor);
        assert_int_equal(mesh_first(&meshed, RT_WORLD, rank), 0);
    }
}

/* Four tensor ranks and two key heads: ranks with the same head have the same one of two parts. */
static void test_mesh_of_shared_keys(void **state) {
    (void)state;
    static const RtProgram keys = {.mesh = {[RT_AXIS_TENSOR] = 2, [RT_AXIS_SAME_KEYS] = 2}};
    for (int rank = 0; rank < 4; rank++) {
        assert_int_equal(mesh_group_rank(&keys, RT_TENSOR, rank), rank);
        assert_int_equal(mesh_group_rank(&keys, RT_KEYS, rank), rank / 2);
        assert_int_equal(mesh_first(&keys, RT_KEYS, rank), rank % 2);
        assert_int_equal(mesh_first(&keys, RT_SAME_KEYS, rank), rank / 2 * 2);
    }
    assert_int_equal(mesh_group_size(&keys, RT_KEYS), 2);
    assert_int_equal(mesh_group_size(&keys, RT_TENSOR), 4);
}

static void test_mesh_groups(void **state) {
    (void)state;
    assert_int_equal(mesh_ranks(&meshed), 12);
    assert_int_equal(mesh_group_size(&meshed, RT_PIPELINE | RT_KEYS), 4);
    assert_int_equal(mesh_group(&meshed, RT_DATA), RT_REPLICATE);
    assert_int_equal(mesh_group(&meshed, RT_SHARD), 0);
    assert_int_equal(mesh_ranks(&(RtProgram){0}), 1);
}

/* ---- folders --------------------------------------------------------------------------------- */

/* This program is in build/unit, as a stage is in its pipeline's folder. */
static void test_results_are_next_to_stages(void **state) {
    (void)state;
    char name[] = "run", *argv[] = {name, NULL};
    RtProgram one = {0}, stage = {.pipeline = &(const RtPipeline){0}};
    RtOptions options;
    options_read(&options, &one, 1, argv);
    assert_non_null(strstr(options.out_dir, "/unit/out"));
    assert_string_equal(options.program_dir, options.exe_dir);
    char folder[RT_MAX_PATH];
    snprintf(folder, sizeof folder, "%.*s/out",
             (int)(strlen(options.exe_dir) - strlen("/unit")), options.exe_dir);
    options_read(&options, &stage, 1, argv);
    assert_string_equal(options.out_dir, folder);
    assert_null(strstr(options.program_dir, ".."));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mesh_places),
        cmocka_unit_test(test_mesh_of_shared_keys),
        cmocka_unit_test(test_mesh_groups),
        cmocka_unit_test(test_sixteen_bits_round_trip),
        cmocka_unit_test(test_rounds_to_nearest_even),
        cmocka_unit_test(test_a_row_is_as_its_numbers),
        cmocka_unit_test(test_learning_rates),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_values_depend_on_name_and_seed),
        cmocka_unit_test(test_large_tensors_are_drawn_alike),
        cmocka_unit_test(test_results_are_next_to_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
