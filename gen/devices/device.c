/* Reads device files, driven by one table of their keys. */
#include "devices/device.h"

#include "base/embed.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "spec/toml.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICE_FILES = 64 };

/* Lower bound of every number, in the file's units, so that quotients stay printable numbers. */
#define LEAST 1e-6

typedef struct {
    const char *table, *key; /* table "": the root */
    /* FIELD_OPTIONAL: a number; absent means 0, which says that the device lacks the feature. */
    enum { FIELD_TEXT, FIELD_NUMBER, FIELD_OPTIONAL, FIELD_COUNT, FIELD_LIST } kind;
    size_t offset;
    double unit; /* the file's unit, expressed in Device's */
    double most; /* upper bound, in the file's units */
} Row;

#define AT(field) offsetof(Device, field)
enum { MIB = 1048576 };

static const Row rows[] = {
    {"", "title", FIELD_TEXT, AT(title), 0, 0},
    {"", "arch", FIELD_TEXT, AT(arch), 0, 0},
    {"", "multiprocessors", FIELD_COUNT, AT(multiprocessors), 1, 1e6},
    {"", "memory_mib", FIELD_COUNT, AT(memory_bytes), MIB, 1e9},
    {"", "l2_kept_mib", FIELD_COUNT, AT(l2_kept_bytes), MIB, 1e6},
    {"peak_tflops", "fp64", FIELD_NUMBER, AT(peak_flops[RATE_F64]), 1e12, 1e9},
    {"peak_tflops", "fp32", FIELD_NUMBER, AT(peak_flops[RATE_F32]), 1e12, 1e9},
    {"peak_tflops", "tf32", FIELD_NUMBER, AT(peak_flops[RATE_TF32]), 1e12, 1e9},
    {"peak_tflops", "bf16", FIELD_NUMBER, AT(peak_flops[RATE_F16]), 1e12, 1e9},
    {"matmul_tflops", "fp64", FIELD_NUMBER, AT(matmul_flops[RATE_F64]), 1e12, 1e9},
    {"matmul_tflops", "fp32", FIELD_NUMBER, AT(matmul_flops[RATE_F32]), 1e12, 1e9},
    {"matmul_tflops", "tf32", FIELD_NUMBER, AT(matmul_flops[RATE_TF32]), 1e12, 1e9},
    {"matmul_tflops", "bf16", FIELD_NUMBER, AT(matmul_flops[RATE_F16]), 1e12, 1e9},
    {"vector_tflops", "fp64", FIELD_NUMBER, AT(vector_flops[RATE_F64]), 1e12, 1e9},
    {"vector_tflops", "fp32", FIELD_NUMBER, AT(vector_flops[RATE_F32]), 1e12, 1e9},
    {"instructions", "trillions_per_s", FIELD_NUMBER, AT(instruction_rate), 1e12, 1e9},
    {"bandwidth_gbs", "memory", FIELD_NUMBER, AT(memory_rate), 1e9, 1e9},
    {"bandwidth_gbs", "l2", FIELD_NUMBER, AT(l2_rate), 1e9, 1e9},
    {"bandwidth_gbs", "multiprocessor", FIELD_NUMBER, AT(multiprocessor_rate), 1e9, 1e9},
    {"bandwidth_gbs", "host_pinned", FIELD_NUMBER, AT(host_rate_pinned), 1e9, 1e9},
    {"bandwidth_gbs", "host_pageable", FIELD_NUMBER, AT(host_rate_pageable), 1e9, 1e9},
    {"overhead_us", "kernel_gap", FIELD_NUMBER, AT(kernel_gap_ms), 1e-3, 1e9},
    {"overhead_us", "kernel", FIELD_NUMBER, AT(kernel_ms), 1e-3, 1e9},
    {"overhead_us", "product", FIELD_NUMBER, AT(product_ms), 1e-3, 1e9},
    {"overhead_us", "memory_latency", FIELD_NUMBER, AT(memory_latency_ms), 1e-3, 1e9},
    {"overhead_us", "l2_latency", FIELD_NUMBER, AT(l2_latency_ms), 1e-3, 1e9},
    {"overhead_us", "programmatic_gap", FIELD_OPTIONAL, AT(programmatic_gap_ms), 1e-3, 1e9},
    {"overhead_us", "launch", FIELD_NUMBER, AT(launch_ms), 1e-3, 1e9},
    {"overhead_us", "graph_launch", FIELD_NUMBER, AT(graph_launch_ms), 1e-3, 1e9},
    {"matmul", "tile_m", FIELD_COUNT, AT(matmul_tile_m), 1, 65536},
    {"matmul", "tile_n", FIELD_COUNT, AT(matmul_tile_n), 1, 65536},
    {"matmul", "half_k", FIELD_COUNT, AT(matmul_half_k), 1, 65536},
    {"matmul", "fused_share", FIELD_NUMBER, AT(fused_share), 1, 1},
    {"matmul", "wgmma_share", FIELD_OPTIONAL, AT(wgmma_share), 1, 1},
    {"interconnect", "all_reduce_mib", FIELD_LIST, AT(all_reduce_bytes), MIB, 1e9},
    {"interconnect", "all_reduce_us", FIELD_LIST, AT(all_reduce_ms), 1e-3, 1e9},
    {"interconnect", "bus_gbs", FIELD_LIST, AT(bus_rate), 1e9, 1e9},
    {"interconnect", "multiprocessors", FIELD_COUNT, AT(collective_multiprocessors), 1, 1e6},
    {"network", "card_gbs", FIELD_NUMBER, AT(network_rate), 1e9, 1e9},
    {"network", "latency_us", FIELD_NUMBER, AT(network_ms), 1e-3, 1e9},
    {"process_mib", "context", FIELD_COUNT, AT(context_bytes), MIB, 1e6},
    {"process_mib", "libraries", FIELD_COUNT, AT(library_bytes), MIB, 1e6},
    {"process_mib", "collectives", FIELD_COUNT, AT(collective_bytes), MIB, 1e6},
    {"process_mib", "module", FIELD_COUNT, AT(module_bytes), MIB, 1e6},
    {"process_mib", "graph_node", FIELD_COUNT, AT(graph_node_bytes), MIB, 1e6},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- reading -------------------------------------------------------------------------------- */

static bool counts_things(const Row *row) { return row->kind == FIELD_COUNT && row->unit == 1; }

static double number_of(const Row *row, const Toml *value) {
    if (value->kind != TOML_INT && value->kind != TOML_REAL)
        user_error(value->pos, NULL, "%s is %s; it must be a number", row->key,
                   toml_kind_name(value->kind));
    double least = counts_things(row) ? 1 : LEAST;
    if (!(value->real >= least && value->real <= row->most))
        user_error(value->pos, NULL, "%s must be at least %g and at most %g", row->key, least,
                   row->most);
    if (counts_things(row) && value->real != floor(value->real))
        user_error(value->pos, NULL, "%s must be a whole number", row->key);
    /* So that 66.9 TFLOP/s is exactly 66900000000000, although 66.9 is not exact as a double. */
    return row->unit > 1 ? rint(value->real * row->unit) : value->real * row->unit;
}

static NumberList list_of(const Row *row, const Toml *value) {
    NumberList list = {0};
    if (value->kind != TOML_ARRAY || value->count < 1 || value->count > MAX_NUMBERS)
        user_error(value->pos, NULL, "%s must be a list of 1 to %d numbers", row->key, MAX_NUMBERS);
    for (; list.count < value->count; list.count++)
        list.values[list.count] = number_of(row, &value->items[list.count]);
    return list;
}

static const char *text_of(Arena *arena, const Row *row, const Toml *value) {
    if (value->kind != TOML_STRING || !value->string[0])
        user_error(value->pos, NULL, "%s must be a string that is not empty", row->key);
    for (const char *c = value->string; *c; c++)
        if (iscntrl((unsigned char)*c))
            user_error(value->pos, NULL, "%s must be one line", row->key);
    return arena_strdup(arena, value->string);
}

static void store_field(Arena *arena, Device *device, const Row *row, const Toml *value) {
    char *at = (char *)device + row->offset;
    if (row->kind == FIELD_TEXT) {
        *(const char **)at = text_of(arena, row, value);
    } else if (row->kind == FIELD_NUMBER || row->kind == FIELD_OPTIONAL) {
        *(double *)at = number_of(row, value);
    } else if (row->kind == FIELD_LIST) {
        *(NumberList *)at = list_of(row, value);
    } else if (row->offset == AT(multiprocessors)) {
        *(int *)at = (int)number_of(row, value);
    } else {
        *(int64_t *)at = (int64_t)number_of(row, value);
    }
}

static const Toml *member(const Toml *root, const char *table, const char *key) {
    if (!table[0])
        return toml_get(root, key);
    const Toml *inner = toml_get(root, table);
    return inner && inner->kind == TOML_TABLE ? toml_get(inner, key) : NULL;
}

static bool known(const char *table, const Toml *entry) {
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].table, table) == 0 && strcmp(rows[i].key, entry->key) == 0)
            return true;
        if (!table[0] && entry->kind == TOML_TABLE && strcmp(rows[i].table, entry->key) == 0)
            return true;
    }
    return false;
}

static void refuse_unknown(const char *table, const Toml *entries) {
    const char *names[ROW_COUNT];
    for (int i = 0; i < ROW_COUNT; i++)
        names[i] = rows[i].key;
    for (int i = 0; i < entries->count; i++) {
        const Toml *entry = &entries->items[i];
        if (!known(table, entry)) {
            const char *near = nearest_name(entry->key, names, ROW_COUNT);
            user_error(entry->key_pos, near ? near : "see gen/devices/h100-sxm.toml for the keys",
                       "a device file has no key %s%s%s", table, table[0] ? "." : "", entry->key);
        }
        if (entry->kind == TOML_TABLE)
            refuse_unknown(entry->key, entry);
    }
}

/* Interpolation needs increasing sizes, each with its time. */
static void check_all_reduce(const Device *device, const Toml *root) {
    const NumberList *bytes = &device->all_reduce_bytes;
    const Toml *sizes = member(root, "interconnect", "all_reduce_mib");
    if (bytes->count != device->all_reduce_ms.count)
        user_error(sizes->pos, "all_reduce_us holds a time for each size",
                   "all_reduce_mib and all_reduce_us differ in length: %d and %d", bytes->count,
                   device->all_reduce_ms.count);
    for (int i = 1; i < bytes->count; i++)
        if (bytes->values[i] <= bytes->values[i - 1])
            user_error(sizes->items[i].pos, NULL, "all_reduce_mib must grow from size to size");
}

/* The architecture must be written as nvcc expects it, since it goes onto nvcc's command line. */
static void check_arch(const Device *device, const Toml *root) {
    const char *number = strncmp(device->arch, "sm_", 3) ? "" : device->arch + 3;
    size_t digits = strspn(number, "0123456789");
    const char *rest = number + digits;
    if (digits < 2 || digits > 3 || (*rest && strcmp(rest, "a") && strcmp(rest, "f")))
        user_error(member(root, "", "arch")->pos, "write it as nvcc does: sm_80, sm_90a",
                   "arch \"%s\" is no architecture of a GPU", device->arch);
}

static int architecture_number(const Device *device) {
    return (int)strtol(device->arch + 3, NULL, 10);
}

/* What cuda_occupancy.h says of a multiprocessor, without the 1 KiB that each block reserves. */
int64_t device_block_shared_bytes(const Device *device) {
    int number = device ? architecture_number(device) : 0;
    if (number == 80 || number == 87)
        return 163 * 1024;
    return number >= 90 && number < 120 ? 227 * 1024 : 99 * 1024;
}

/* The table of compute capabilities in the CUDA programming guide has these. */
int device_threads(const Device *device) {
    int number = architecture_number(device);
    return number == 80 || (number >= 90 && number < 120) ? 2048 : 1536;
}

/* As in cuda_occupancy.h. */
int device_blocks(const Device *device) {
    int number = architecture_number(device);
    if (number == 75 || number == 86 || number == 87)
        return 16;
    return number == 89 || number == 101 || number == 110 || number >= 120 ? 24 : 32;
}

/* Only sm_90a has wgmma, later architectures do not; programmatic dependent launch exists from
 * Hopper on. */
static void check_abilities(const Device *device, const Toml *root) {
    if (device->programmatic_gap_ms && architecture_number(device) < 90)
        user_error(member(root, "overhead_us", "programmatic_gap")->pos,
                   "leave programmatic_gap out",
                   "arch \"%s\" has no programmatic dependent launch, which begins with sm_90",
                   device->arch);
    if (device->wgmma_share && strcmp(device->arch, "sm_90a"))
        user_error(member(root, "matmul", "wgmma_share")->pos, "leave wgmma_share out",
                   "arch \"%s\" has no wgmma, which sm_90a has", device->arch);
}

static void check_multiprocessors(const Device *device, const Toml *root) {
    if (device->collective_multiprocessors >= device->multiprocessors)
        user_error(member(root, "interconnect", "multiprocessors")->pos,
                   "give those that a collective holds while it runs",
                   "interconnect.multiprocessors must leave some of the device's %d",
                   device->multiprocessors);
}

static Device *device_of(Arena *arena, const char *name, const Toml *root) {
    refuse_unknown("", root);
    Device *device = arena_alloc(arena, sizeof *device);
    device->name = name;
    for (int i = 0; i < ROW_COUNT; i++) {
        const Toml *value = member(root, rows[i].table, rows[i].key);
        if (!value && rows[i].kind == FIELD_OPTIONAL)
            continue;
        if (!value)
            user_error((Pos){.file = root->pos.file}, "gen/devices/h100-sxm.toml shows all of them",
                       "the device file lacks %s%s%s", rows[i].table, rows[i].table[0] ? "." : "",
                       rows[i].key);
        store_field(arena, device, &rows[i], value);
    }
    check_arch(device, root);
    check_abilities(device, root);
    check_all_reduce(device, root);
    check_multiprocessors(device, root);
    return device;
}

/* ---- finding -------------------------------------------------------------------------------- */

static const char *const folder = "gen/devices/";

static _Noreturn void refuse_name(Arena *arena, const char *name, Pos blame) {
    const char *names[MAX_DEVICE_FILES];
    int count = 0;
    StrBuf list = {0};
    for (int i = 0; embedded_at(i); i++) {
        const char *path = embedded_at(i)->path;
        size_t length = strlen(path);
        if (strncmp(path, folder, strlen(folder)) != 0 || count == MAX_DEVICE_FILES)
            continue;
        if (length < 5 || strcmp(path + length - 5, ".toml") != 0)
            continue;
        names[count] = arena_strndup(arena, path + strlen(folder), length - strlen(folder) - 5);
        sb_printf(&list, "%s%s", count ? ", " : "", names[count]);
        count++;
    }
    const char *near = nearest_name(name, names, count);
    const char *hint = near ? arena_printf(arena, "did you mean \"%s\"?", near)
                            : arena_printf(arena, "known are %s, or the path of a .toml file",
                                           list.text ? list.text : "none");
    sb_free(&list);
    user_error(blame, hint, "unknown device \"%s\"", name);
}

static const Toml *read_embedded(Arena *arena, const char *name, Pos blame) {
    const char *path = arena_printf(arena, "%s%s.toml", folder, name);
    const Embedded *file = embedded_find(path);
    if (!file)
        refuse_name(arena, name, blame);
    TomlError error;
    const Toml *root = toml_parse(arena, path, file->text, file->size, &error);
    ENSURE(root, "%s: %s", path, error.message);
    return root;
}

const Device *device_read(Arena *arena, const char *name, Pos blame) {
    size_t length = strlen(name);
    bool is_path = length > 5 && strcmp(name + length - 5, ".toml") == 0;
    const Toml *root = is_path ? toml_read(arena, name, blame) : read_embedded(arena, name, blame);
    if (!is_path)
        return device_of(arena, arena_strdup(arena, name), root);
    const char *slash = strrchr(name, '/');
    const char *stem = slash ? slash + 1 : name;
    return device_of(arena, arena_strndup(arena, stem, strlen(stem) - 5), root);
}
