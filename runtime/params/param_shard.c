/* Parameters of which each rank of a group holds a part. Outside the device all code sees the whole
 * tensor, so that files do not depend on how it is divided. */
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/params/params.h"

#include <stdlib.h>
#include <string.h>

static int runs_along(const RtParam *param) { return param->shard_runs ? param->shard_runs : 1; }

/* A part is `count` runs of `bytes`, `stride` apart in the whole tensor; this rank's first run
 * begins at `first`. All in bytes. */
typedef struct {
    int64_t count;
    size_t bytes, stride, first;
} Runs;

static Runs runs_of(const Rt *rt, const RtParam *param, size_t bytes) {
    Runs runs = {.count = runs_along(param)};
    for (int i = 0; i < param->shard_axis; i++)
        runs.count *= param->shape[i];
    runs.stride = bytes / (size_t)runs.count;
    runs.bytes = runs.stride / (size_t)shard_ranks(rt, param);
    runs.first = runs.bytes * (size_t)mesh_group_rank(rt->program, param->shard, rt->rank);
    return runs;
}

int64_t shard_place(const Rt *rt, const RtParam *param, int64_t at, int64_t *together) {
    Runs runs = runs_of(rt, param, (size_t)param_elements(param));
    int64_t length = (int64_t)runs.bytes;
    *together = length - at % length;
    return (int64_t)runs.first + at / length * (int64_t)runs.stride + at % length;
}

void shard_take(const Rt *rt, const RtParam *param, size_t bytes, const void *whole, void *part) {
    Runs runs = runs_of(rt, param, bytes);
    for (int64_t i = 0; i < runs.count; i++)
        memcpy((char *)part + (size_t)i * runs.bytes,
               (const char *)whole + runs.first + (size_t)i * runs.stride, runs.bytes);
}

static const char what[] = "the gathering of weights";

static void put(const Runs *runs, int group_rank, const char *part, char *whole) {
    for (int64_t i = 0; i < runs->count; i++)
        memcpy(whole + (size_t)i * runs->stride + (size_t)group_rank * runs->bytes,
               part + (size_t)i * runs->bytes, runs->bytes);
}

/* Whether the rank divides the tensor with the writer of this rank's stage: other groups hold
 * copies of the parts. */
static bool is_with_writer(const Rt *rt, const RtParam *param, int rank) {
    return mesh_first(rt->program, param->shard, rank) == mesh_writer(rt->program, rt->rank);
}

/* Assembles the whole from the writer's own part and those of the other ranks. */
static void receive_parts(Rt *rt, const RtParam *param, const Runs *runs, const void *mine,
                          void *whole) {
    int64_t each = runs->count * (int64_t)runs->bytes;
    put(runs, 0, mine, whole);
    char *other = rt_alloc((size_t)each);
    for (int r = rt->rank + 1; r < rt->ranks; r++) {
        if (!is_with_writer(rt, param, r))
            continue;
        comm_receive(rt, r, other, each, what);
        put(runs, mesh_group_rank(rt->program, param->shard, r), other, whole);
    }
    free(other);
}

/* Goes through the host, since it is for files and so needs no device memory. */
void shard_gather(Rt *rt, const RtParam *param, size_t bytes, const void *part, void *whole) {
    Runs runs = runs_of(rt, param, bytes);
    int64_t each = runs.count * (int64_t)runs.bytes;
    int writer = mesh_writer(rt->program, rt->rank);
    if (rt->rank != writer) {
        if (is_with_writer(rt, param, rt->rank))
            comm_send(rt, writer, part, each, what);
        return;
    }
    receive_parts(rt, param, &runs, part, whole);
}

/* Whether each rank holds a part of every row, in memory order. */
static bool is_in_columns(const RtParam *param) {
    return param_as_memory(param).shard_axis == param->rank - 1;
}

size_t shard_whole_cols(const Rt *rt, const RtParam *param) {
    return (size_t)(param_cols(rt, param) * (is_in_columns(param) ? shard_ranks(rt, param) : 1));
}

void shard_first_row(Rt *rt, const RtParam *param, size_t size, const void *mine, void *row) {
    int64_t bytes = param_cols(rt, param) * (int64_t)size;
    bool in_columns = is_in_columns(param);
    int writer = mesh_writer(rt->program, rt->rank);
    if (rt->rank != writer) {
        if (in_columns && is_with_writer(rt, param, rt->rank))
            comm_send(rt, writer, mine, bytes, what);
        return;
    }
    if (!in_columns) {
        memcpy(row, mine, (size_t)bytes);
        return;
    }
    size_t each = (size_t)bytes / (size_t)runs_along(param);
    Runs runs = {runs_along(param), each, each * (size_t)shard_ranks(rt, param), 0};
    receive_parts(rt, param, &runs, mine, row);
}
