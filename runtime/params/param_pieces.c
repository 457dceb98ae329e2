/* Masters and moments of which each rank of a group holds a piece. All trained tensors are
 * concatenated in sections; rank i of the group holds elements [i n, (i + 1) n) of each section,
 * regardless of tensor boundaries. Outside the device all code sees whole tensors, so that files do
 * not depend on how tensors are divided. */
#include "runtime/comm/comm.h"
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/params/params.h"

#include <stdlib.h>
#include <string.h>

/* Elements [first, end) of a tensor. */
typedef struct {
    int64_t first, end;
} Range;

/* The elements of `range` that are in the piece of that rank of the group. */
static Range held(const RtParam *param, int group_rank, Range range) {
    int64_t first = group_rank * param->piece_elements - param->piece_first;
    int64_t end = first + param->piece_elements;
    Range both = {first > range.first ? first : range.first, end < range.end ? end : range.end};
    return both.first < both.end ? both : (Range){0, 0};
}

/* The offset of an element of the tensor in its piece, in bytes. */
static size_t in_piece(const RtParam *param, int64_t element) {
    int64_t at = param->piece_at + (param->piece_first + element) % param->piece_elements;
    return (size_t)at * rt_dtype_bytes(param->master_dtype);
}

static int group_rank_of(const Rt *rt, const RtParam *param, int rank) {
    return mesh_group_rank(rt->program, param->pieces, rank);
}

static const char what[] = "the gathering of optimizer states";

static size_t bytes_of(const RtParam *param, Range range) {
    return (size_t)(range.end - range.first) * rt_dtype_bytes(param->master_dtype);
}

/* A rank that holds none of the tensor still waits for its device to get this far, because the
 * devices of other ranks may wait for it. */
static void read_mine(Rt *rt, const RtParam *param, RtPtr piece, Range mine, void *host) {
    bool some = mine.first < mine.end;
    rt_read(rt, piece + (some ? in_piece(param, mine.first) : 0), bytes_of(param, mine), host);
}

/* Whether the writer of the rank's stage needs the rank's piece: other groups hold copies of it. */
static bool is_wanted(const Rt *rt, const RtParam *param, int rank) {
    return mesh_first(rt->program, param->pieces | param->shard, rank) ==
           mesh_writer(rt->program, rank);
}

/* Gathers the first `elements` elements of the rank's part of the tensor on the group's first rank.
 * Goes through the host, since it is for files and so needs no device memory. */
static void read_pieces(Rt *rt, const RtParam *param, int64_t elements, RtPtr piece, void *host) {
    const Range all = {0, elements};
    const int first = mesh_first(rt->program, param->pieces, rt->rank);
    size_t size = rt_dtype_bytes(param->master_dtype);
    Range mine = held(param, group_rank_of(rt, param, rt->rank), all);
    unsigned char *whole = host, *at = whole + (size_t)mine.first * size;
    read_mine(rt, param, piece, mine, at);
    if (!is_wanted(rt, param, rt->rank))
        return;
    if (rt->rank != first) {
        if (mine.first < mine.end)
            comm_send(rt, first, at, (int64_t)bytes_of(param, mine), what);
        return;
    }
    for (int r = first + 1; r < rt->ranks; r++) {
        Range theirs = held(param, group_rank_of(rt, param, r), all);
        if (theirs.first < theirs.end && mesh_first(rt->program, param->pieces, r) == first)
            comm_receive(rt, r, whole + (size_t)theirs.first * size,
                         (int64_t)bytes_of(param, theirs), what);
    }
}

void pieces_read(Rt *rt, const RtParam *param, RtPtr piece, void *host) {
    read_pieces(rt, param, shard_elements(rt, param), piece, host);
}

void pieces_read_first_row(Rt *rt, const RtParam *param, void *row) {
    read_pieces(rt, param, param_cols(rt, param), rt->arenas[RT_STATE] + param->weight, row);
}

void pieces_range(const Rt *rt, const RtParam *param, int64_t *first, int64_t *end) {
    Range mine = held(param, group_rank_of(rt, param, rt->rank), (Range){0, shard_elements(rt, param)});
    *first = mine.first;
    *end = mine.end;
}

void pieces_write(Rt *rt, const RtParam *param, size_t offset, ParamBlock block) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    Range mine = held(param, group_rank_of(rt, param, rt->rank),
                      (Range){block.first, block.first + block.count});
    if (mine.first < mine.end)
        rt_write_state(rt, offset + in_piece(param, mine.first), bytes_of(param, mine),
                       (const unsigned char *)block.host +
                           (size_t)(mine.first - block.first) * size);
}
