/* Device files: all built-in ones, the costs that follow from one, and which files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/embed.h"
#include "base/fileio.h"
#include "devices/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Arena arena;
static jmp_buf back;

static void jump_back(int code) {
    (void)code;
    longjmp(back, 1);
}

/* Returns the message of the user error from reading, or "". */
static const char *error_of(const char *name) {
    char *text = NULL;
    size_t size;
    diag_stream = open_memstream(&text, &size);
    diag_exit = jump_back;
    if (!setjmp(back))
        device_read(&arena, name, (Pos){.file = "spec.toml", .line = 3, .col = 10});
    fclose(diag_stream);
    diag_stream = NULL;
    diag_exit = exit;
    char *copy = arena_strdup(&arena, text);
    free(text);
    return copy;
}

/* Returns a copy of the H100's file with one line replaced or, if `line` is NULL, omitted. */
static const char *file_with(const char *key, const char *line) {
    static char path[64];
    const Embedded *original = embedded_find("gen/devices/h100-sxm.toml");
    assert_non_null(original);
    snprintf(path, sizeof path, "/tmp/test_device_%d.toml", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (const char *at = original->text; *at;) {
        size_t length = strcspn(at, "\n") + 1;
        bool replaced = strncmp(at, key, strlen(key)) == 0;
        if (!replaced)
            fwrite(at, 1, length, file);
        if (replaced && line)
            fprintf(file, "%s\n", line);
        at += length;
    }
    fclose(file);
    return path;
}

static void assert_refused(const char *key, const char *line, const char *part) {
    const char *path = file_with(key, line), *error = error_of(path);
    unlink(path);
    if (!strstr(error, part))
        fail_msg("\"%s\" does not speak of \"%s\"", error, part);
    assert_non_null(strstr(error, "test_device_"));
}

static void test_built_in_devices(void **state) {
    (void)state;
    const char *names[] = {"h100-sxm", "h200-sxm", "a100-sxm"};
    for (int i = 0; i < 3; i++) {
        const Device *device = device_read(&arena, names[i], (Pos){0});
        assert_string_equal(device->name, names[i]);
        assert_true(device->memory_bytes > (int64_t)70 << 30);
        for (int rate = 0; rate < RATE_COUNT; rate++)
            assert_true(device->matmul_flops[rate] <= device->peak_flops[rate]);
    }
    assert_true(device_read(&arena, "h100-sxm", (Pos){0})->peak_flops[RATE_F16] == 989.4e12);
    /* What a process can have, not nvidia-smi's total. */
    assert_true(device_read(&arena, "h100-sxm", (Pos){0})->memory_bytes < (int64_t)(79.2 * (1 << 30)));
}

static void test_a_file_of_the_users(void **state) {
    (void)state;
    const char *path = file_with("title", "title = \"Mine\"");
    const Device *device = device_read(&arena, path, (Pos){0});
    unlink(path);
    assert_string_equal(device->title, "Mine");
    assert_non_null(strstr(device->name, "test_device_"));
    assert_null(strstr(device->name, "/"));
}

/* A file omits the keys of abilities that a device lacks. */
static void test_without_abilities(void **state) {
    (void)state;
    const char *path = file_with("wgmma_share", NULL);
    const Device *device = device_read(&arena, path, (Pos){0});
    unlink(path);
    assert_true(device->wgmma_share == 0 && device->programmatic_gap_ms > 0);
    path = file_with("programmatic_gap", NULL);
    assert_true(device_read(&arena, path, (Pos){0})->programmatic_gap_ms == 0);
    unlink(path);
    assert_true(device_read(&arena, "a100-sxm", (Pos){0})->programmatic_gap_ms == 0);
    assert_true(device_read(&arena, "a100-sxm", (Pos){0})->wgmma_share == 0);
    assert_true(device_read(&arena, "h100-sxm", (Pos){0})->wgmma_share > 0);
}

static void test_refused(void **state) {
    (void)state;
    const char *error = error_of("h100-sxn");
    assert_non_null(strstr(error, "spec.toml:3:10: error: unknown device \"h100-sxn\""));
    assert_non_null(strstr(error, "did you mean \"h100-sxm\"?"));
    assert_non_null(strstr(error_of("mi300"), "a100-sxm, h100-sxm, h200-sxm"));
    assert_non_null(strstr(error_of("/nowhere/x.toml"), "/nowhere/x.toml"));
    assert_refused("memory_mib", "memory_mib = -1", "memory_mib must be at least 1e-06");
    assert_refused("memory_mib", "memory_mib = \"80\"", "must be a number");
    assert_refused("memory_mib", NULL, "lacks memory_mib");
    assert_refused("half_k", "halfk = 64", "no key matmul.halfk");
    assert_refused("title", "title = 3", "must be a string");
    assert_refused("bf16", "bf16 = nan", "must be at least 1e-06");
    assert_refused("l2 =", "l2 = 1e-300", "must be at least 1e-06");
    assert_refused("tile_m", "tile_m = 0.5", "tile_m must be at least 1 and at most 65536");
    assert_refused("multiprocessors = 132", "multiprocessors = 131.5", "must be a whole number");
    assert_refused("title", "title = \"one\\ntwo\"", "title must be one line");
    assert_refused("arch", "arch = \"sm_90a; true\"", "\"sm_90a; true\" is no architecture");
    assert_refused("arch", "arch = \"x\"", "write it as nvcc does");
    assert_refused("arch", "arch = \"sm_90ab\"", "is no architecture");
    assert_refused("arch", "arch = \"sm_90\"", "arch \"sm_90\" has no wgmma, which sm_90a has");
    assert_refused("programmatic_gap", "programmatic_gap = -1", "programmatic_gap must be at least");
    assert_refused("wgmma_share", "wgmma_share = 0", "wgmma_share must be at least 1e-06");
}

#define BYTES(all) ((Traffic){all, all})
#define WHOLE ((Grid){0})

/* Large products approach the peak rate, thin ones are memory-bound, and all include the launch. */
static void test_costs(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    double n = 8192, bytes = 3 * n * n * 2, fixed = d->kernel_gap_ms + d->kernel_ms;
    double ms = device_matmul_time(d, RATE_F16, 1, n, n, n, BYTES(bytes)).ms;
    double best = 1e3 * 2 * n * n * n / d->matmul_flops[RATE_F16];
    assert_true(ms > best && ms < 1.05 * best);
    double thin_bytes = (n * n + 2 * n * 16) * 2;
    double thin = device_matmul_time(d, RATE_F16, 1, n, 16, n, BYTES(thin_bytes)).ms;
    assert_true(thin > 1e3 * thin_bytes / d->memory_rate);
    double own = d->kernel_gap_ms + d->product_ms;
    double tile = device_matmul_time(d, RATE_F16, 1, 128, 256, 1024, BYTES(0)).ms - own;
    double wave = device_matmul_time(d, RATE_F16, 132, 128, 256, 1024, BYTES(0)).ms - own;
    assert_float_equal(wave, 132 * tile / 2, 1e-9 * wave); /* a single tile leaves most of the device idle */
    assert_true(device_kernel_time(d, RATE_F32, 0, 0, BYTES(0), WHOLE).ms == fixed);
    double traffic = device_kernel_time(d, RATE_F32, 1, 0, BYTES(2.95e9), WHOLE).ms;
    assert_true(traffic > 1.0 && traffic < 1.01);
    double cached = device_kernel_time(d, RATE_F32, 1, 0, (Traffic){6.1e9, 1e9}, WHOLE).ms;
    assert_true(cached > 1.0 && cached < 1.01);
    double instructions = d->instruction_rate / 1e3;
    double issue = device_kernel_time(d, RATE_F32, 0, instructions, BYTES(0), WHOLE).ms;
    assert_float_equal(issue, 1.0 + fixed, 1e-12);
    assert_true(device_fused_time(d, RATE_F16, d->fused_share, 1e12, BYTES(0), WHOLE).ms >
                1e3 * 1e12 / d->matmul_flops[RATE_F16]);
}

/* A kernel takes longer than its arithmetic and its bytes would by themselves, the more the more they
 * are alike; the longer one binds it. A template takes the longer time. */
static void test_joined_times(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    double fixed = d->kernel_gap_ms + d->kernel_ms;
    double flops = d->vector_flops[RATE_F32] / 1e3, bytes = d->memory_rate / 1e3;
    Time alike = device_kernel_time(d, RATE_F32, flops, 0, BYTES(bytes), WHOLE);
    assert_true(alike.ms - fixed > 1.2 && alike.ms - fixed < 1.5);
    Time by_bytes = device_kernel_time(d, RATE_F32, flops / 2, 0, BYTES(bytes), WHOLE);
    Time by_flops = device_kernel_time(d, RATE_F32, flops, 0, BYTES(bytes / 2), WHOLE);
    assert_true(by_bytes.ms - fixed > 1.02 && by_bytes.ms - fixed < 1.2);
    assert_float_equal(by_bytes.ms, by_flops.ms, 1e-9);
    assert_int_equal(by_bytes.bound, BOUND_DRAM);
    assert_int_equal(by_flops.bound, BOUND_ARITHMETIC);
    flops = d->matmul_flops[RATE_F16] / 1e3;
    assert_float_equal(device_fused_time(d, RATE_F16, 1, flops, BYTES(bytes), WHOLE).ms, 1 + fixed, 1e-9);
}

/* The library splits long k rather than leave most of the device idle; the parts are added by a
 * second kernel. */
static void test_products_with_long_k(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    double own = d->kernel_gap_ms + d->product_ms, second = d->kernel_gap_ms + d->kernel_ms;
    assert_float_equal(device_matmul_time(d, RATE_F16, 1, 128, 256, 0, BYTES(0)).ms, own, 1e-9);
    double k = 65536, flops = 2.0 * 128 * 256 * k;
    double ms = device_matmul_time(d, RATE_F16, 1, 128, 256, k, BYTES(0)).ms - own - second;
    double best = 1e3 * flops / d->matmul_flops[RATE_F16];
    assert_true(ms > best && ms < 1.01 * best);
    double many = device_matmul_time(d, RATE_F16, 66, 128, 256, k, BYTES(0)).ms - own;
    assert_true(many > 66 * 1.9 * best);
}

/* Time of 1 ms of arithmetic on the whole device. */
static double arithmetic_ms(const Device *d, Grid grid) {
    return device_kernel_time(d, RATE_F32, d->vector_flops[RATE_F32] / 1e3, 0, BYTES(0), grid).ms -
           d->kernel_gap_ms - d->kernel_ms;
}

/* A kernel takes as long as the multiprocessor that has most of its blocks. */
static void test_arithmetic_of_few_blocks(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    Grid grid = {.count = 132, .threads = 128, .under_way = 1};
    assert_float_equal(arithmetic_ms(d, grid), 1, 1e-6);
    grid.count = 133;
    assert_float_equal(arithmetic_ms(d, grid), 264.0 / 133, 1e-6);
    grid.count = 44;
    assert_float_equal(arithmetic_ms(d, grid), 3, 1e-6);
    /* Two of four schedulers have a warp; two blocks at a time give each one. */
    grid.threads = 64;
    assert_float_equal(arithmetic_ms(d, grid), 6, 1e-6);
    grid.count = 264;
    assert_float_equal(arithmetic_ms(d, grid), 1, 1e-6);
    /* No second block fits beside such a one. Their turns wait for memory once. */
    grid.shared_bytes = device_block_shared_bytes(d);
    assert_float_equal(arithmetic_ms(d, grid), 2, 1e-4);
}

static double drawing_ms(const Device *d, Traffic bytes, Grid grid) {
    grid.drawn = bytes.moved;
    return device_kernel_time(d, RATE_F32, 0, 0, bytes, grid).ms - d->kernel_gap_ms - d->kernel_ms;
}

/* One multiprocessor draws only so many bytes, and these only as fast as those under way arrive. */
static void test_bytes_of_few_blocks(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    Grid grid = {.count = 1, .threads = 256, .under_way = 1e9};
    double alone_ms = 1e6 / d->multiprocessor_rate * 1e3;
    assert_float_equal(drawing_ms(d, BYTES(1e6), grid), alone_ms, 1e-6);
    grid.count = 133;
    assert_float_equal(drawing_ms(d, (Traffic){133e6, 0}, grid), 2 * alone_ms, 1e-6);
    /* Six rounds of 1 KiB: the first is a part of any kernel. */
    grid = (Grid){.count = 1, .threads = 256, .under_way = 1024};
    assert_float_equal(drawing_ms(d, BYTES(6 * 1024), grid), 5 * d->memory_latency_ms, 1e-6);
    assert_float_equal(drawing_ms(d, (Traffic){6 * 1024, 0}, grid), 5 * d->l2_latency_ms, 1e-6);
    /* A multiprocessor has 2048 threads: eight of nine blocks run together. */
    grid.count = 9 * 132;
    assert_float_equal(drawing_ms(d, (Traffic){grid.count, 0}, grid), d->l2_latency_ms / 8, 1e-6);
    Device small = *d;
    small.arch = "sm_86"; /* 1536 */
    assert_float_equal(drawing_ms(&small, (Traffic){grid.count, 0}, grid), d->l2_latency_ms / 2, 1e-6);
    /* Of 33 blocks of one warp, 32 run together there, and 16 here. */
    grid = (Grid){.count = 33 * 132, .threads = 32, .under_way = 1024};
    assert_float_equal(drawing_ms(d, (Traffic){grid.count, 0}, grid), d->l2_latency_ms / 32, 1e-6);
    assert_float_equal(drawing_ms(&small, (Traffic){grid.count, 0}, grid), d->l2_latency_ms * 17 / 16,
                       1e-6);
    assert_refused("l2_latency", NULL, "lacks overhead_us.l2_latency");
}

static Bound bound_of(const Device *d, double flops, double instructions, Traffic bytes, Grid grid) {
    grid.drawn = bytes.moved;
    return device_kernel_time(d, RATE_F32, flops, instructions, bytes, grid).bound;
}

/* Each kind of work takes the time if there is most of it; none does if the launch takes longer. */
static void test_bounds(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    Traffic none = {0, 0};
    Grid few = {.count = 60, .threads = 256, .under_way = 1e9},
         slow = {.count = 132, .threads = 256, .under_way = 1024};
    assert_int_equal(bound_of(d, 0, 0, none, WHOLE), BOUND_LAUNCH);
    assert_int_equal(bound_of(d, 1e12, 1e9, BYTES(1e6), WHOLE), BOUND_ARITHMETIC);
    assert_int_equal(bound_of(d, 1e9, 1e12, BYTES(1e6), WHOLE), BOUND_INSTRUCTIONS);
    assert_int_equal(bound_of(d, 1e9, 1e9, BYTES(1e9), WHOLE), BOUND_DRAM);
    assert_int_equal(bound_of(d, 1e9, 1e9, (Traffic){1e9, 1e8}, WHOLE), BOUND_L2);
    assert_int_equal(bound_of(d, 1e12, 0, none, few), BOUND_BLOCKS);
    assert_int_equal(bound_of(d, 0, 0, (Traffic){1e9, 0}, few), BOUND_BLOCKS);
    assert_int_equal(bound_of(d, 0, 0, BYTES(1e8), slow), BOUND_LATENCY);
    few.count = 132;
    assert_int_equal(bound_of(d, 1e12, 0, none, few), BOUND_ARITHMETIC);
    assert_int_equal(device_matmul_time(d, RATE_F16, 1, 8192, 8192, 8192, none).bound, BOUND_ARITHMETIC);
    assert_int_equal(device_matmul_time(d, RATE_F16, 1, 8192, 128, 2048, none).bound, BOUND_BLOCKS);
    assert_int_equal(device_matmul_time(d, RATE_F16, 1, 8192, 128, 8192, none).bound, BOUND_ARITHMETIC);
    assert_int_equal(device_matmul_time(d, RATE_F16, 32, 1024, 128, 8192, none).bound, BOUND_ARITHMETIC);
    assert_string_equal(bound_name(BOUND_HOST), "host");
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* At measured sizes, with all cards, the times are the measured ones; fewer cards send less. */
static void test_all_reduce(void **state) {
    (void)state;
    const Device *d = device_read(&arena, "h100-sxm", (Pos){0});
    int node = device_node_cards(d);
    assert_int_equal(node, 8);
    for (int i = 0; i < d->all_reduce_bytes.count; i++) {
        double ms =
            device_all_reduce_ms(d, device_party(d, node, 1), d->all_reduce_bytes.values[i]);
        assert_float_equal(ms, d->all_reduce_ms.values[i], 1e-9);
    }
    const double mib = 1048576;
    double between = device_all_reduce_ms(d, device_party(d, node, 1), 2.5 * mib);
    assert_true(between > device_all_reduce_ms(d, device_party(d, node, 1), mib));
    assert_true(between < device_all_reduce_ms(d, device_party(d, node, 1), 4 * mib));
    assert_true(device_all_reduce_ms(d, device_party(d, 2, 1), 1024 * mib) <
                device_all_reduce_ms(d, device_party(d, 4, 1), 1024 * mib));
    double tiny = device_all_reduce_ms(d, device_party(d, node, 1), 4);
    assert_true(tiny > 0.03 && tiny < d->all_reduce_ms.values[0]);
    double twice = device_all_reduce_ms(d, device_party(d, node, 1), 2048 * mib),
           once = d->all_reduce_ms.values[7];
    assert_true(twice > 1.9 * once && twice < 2 * once);
}

/* With several nodes their ports bound the rate, and each doubling of nodes adds the same time. */
static void test_network(void **state) {
    (void)state;
    Device d = *device_read(&arena, "h100-sxm", (Pos){0});
    const double gib = 1073741824;
    double one = device_all_reduce_ms(&d, device_party(&d, 8, 1), gib),
           two = device_all_reduce_ms(&d, device_party(&d, 16, 1), gib);
    double wire = 1e3 * 2 * gib * 15 / 16 / (8 * d.network_rate);
    assert_true(two > one && two > wire && two < 1.1 * wire);
    double few = device_all_reduce_ms(&d, device_party(&d, 16, 1), 4),
           more = device_all_reduce_ms(&d, device_party(&d, 32, 1), 4);
    assert_float_equal(few - device_all_reduce_ms(&d, device_party(&d, 8, 1), 4), 2 * d.network_ms,
                       1e-7);
    assert_float_equal(more - few, 2 * d.network_ms, 1e-7);
    /* One card in each of eight nodes uses one port for everything. */
    double apart = device_all_reduce_ms(&d, device_party(&d, 8, 8), gib),
           port = 1e3 * 2 * gib * 7 / 8 / d.network_rate;
    assert_true(apart > port && apart < 1.1 * port);
    assert_int_equal(device_party(&d, 8, 2).in_node, 4);
    d.network_rate *= 100;
    double wide = device_all_reduce_ms(&d, device_party(&d, 16, 1), gib);
    assert_true(wide < two && wide < 1.1 * one);
    assert_refused("card_gbs", NULL, "lacks network.card_gbs");
}

static void test_refused_interconnects(void **state) {
    (void)state;
    assert_refused("all_reduce_us", "all_reduce_us = [46, 69]", "differ in length: 8 and 2");
    assert_refused("all_reduce_mib", "all_reduce_mib = [1, 4, 16, 16, 64, 128, 256, 1024]",
                   "must grow from size to size");
    assert_refused("bus_gbs", "bus_gbs = 363", "must be a list of 1 to 16 numbers");
    assert_refused("bus_gbs", "bus_gbs = [363, 0]", "must be at least 1e-06");
    assert_refused("multiprocessors = 24", "multiprocessors = 132",
                   "must leave some of the device's 132");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_devices),
        cmocka_unit_test(test_all_reduce),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_refused_interconnects),
        cmocka_unit_test(test_a_file_of_the_users),
        cmocka_unit_test(test_without_abilities),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_joined_times),
        cmocka_unit_test(test_products_with_long_k),
        cmocka_unit_test(test_arithmetic_of_few_blocks),
        cmocka_unit_test(test_bytes_of_few_blocks),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
