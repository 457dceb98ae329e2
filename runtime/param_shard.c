/* Parameters of which each rank of a group holds a part: everything outside the device sees the whole
 * tensor, so that files are the same however it was shared out. */
#include "runtime/comm.h"
#include "runtime/mesh.h"
#include "runtime/params.h"

#include <stdlib.h>
#include <string.h>

int shard_ranks(const Rt *rt, const RtParam *param) {
    return mesh_group_ranks(rt->program, param->shard);
}

int64_t shard_elements(const Rt *rt, const RtParam *param) {
    return param_elements(param) / shard_ranks(rt, param);
}

/* A part is `count` runs of `bytes`, `stride` apart in the whole tensor. */
typedef struct {
    int64_t count;
    size_t bytes, stride;
} Runs;

static Runs runs_of(const Rt *rt, const RtParam *param, size_t size) {
    Runs runs = {1, 0, size};
    for (int i = 0; i < param->shard_axis; i++)
        runs.count *= param->shape[i];
    for (int i = param->shard_axis; i < param->rank; i++)
        runs.stride *= (size_t)param->shape[i];
    runs.bytes = runs.stride / (size_t)shard_ranks(rt, param);
    return runs;
}

void shard_take(const Rt *rt, const RtParam *param, size_t size, const void *whole, void *part) {
    Runs runs = runs_of(rt, param, size);
    size_t first = runs.bytes * (size_t)mesh_place(rt->program, param->shard, rt->rank);
    for (int64_t i = 0; i < runs.count; i++)
        memcpy((char *)part + (size_t)i * runs.bytes,
               (const char *)whole + first + (size_t)i * runs.stride, runs.bytes);
}

/* Bytes [first, first + bytes) of the part that has this place in the group. */
static void put(const Runs *runs, int place, size_t first, size_t bytes, const char *from,
                char *whole) {
    while (bytes > 0) {
        size_t run = first / runs->bytes, at = first % runs->bytes, left = runs->bytes - at;
        size_t now = left < bytes ? left : bytes;
        memcpy(whole + run * runs->stride + (size_t)place * runs->bytes + at, from, now);
        first += now;
        from += now;
        bytes -= now;
    }
}

/* Over the host, a piece at a time: it is for files, and needs no memory on the device. */
void shard_gather(Rt *rt, const RtParam *param, size_t size, const void *part, void *whole) {
    enum { PIECE = 1 << 22 };
    Runs runs = runs_of(rt, param, size);
    size_t total = (size_t)runs.count * runs.bytes;
    int mine = mesh_first(rt->program, param->shard, rt->rank);
    char *all = rt_alloc((size_t)rt->ranks * PIECE);
    for (size_t first = 0; first < total; first += PIECE) {
        size_t bytes = total - first < PIECE ? total - first : PIECE;
        comm_gather(rt, (const char *)part + first, all, (int)bytes, "the gathering of weights");
        for (int r = 0; r < rt->ranks; r++)
            if (mesh_first(rt->program, param->shard, r) == mine)
                put(&runs, mesh_place(rt->program, param->shard, r), first, bytes,
                    all + (size_t)r * bytes, whole);
    }
    free(all);
}

void shard_first_row(Rt *rt, const RtParam *param, size_t size, const void *mine, void *row) {
    size_t bytes = (size_t)param_cols(rt, param) * size;
    int first = mesh_first(rt->program, param->shard, rt->rank);
    bool in_columns = param->shard_axis == param->rank - 1;
    char *all = rt_alloc((size_t)rt->ranks * bytes);
    comm_gather(rt, mine, all, (int)bytes, "the gathering of weights");
    for (int r = 0; r < rt->ranks; r++) {
        int place = mesh_place(rt->program, param->shard, r);
        if (mesh_first(rt->program, param->shard, r) == first && (in_columns || place == 0))
            memcpy((char *)row + (size_t)place * bytes, all + (size_t)r * bytes, bytes);
    }
    free(all);
}
