/* Masters and moments of which each rank of a group has a piece. A run holds all trained tensors one
 * behind the other, in sections; rank i of the group has elements [i n, (i + 1) n) of each section,
 * whatever tensors these are of. Outside the device everybody sees whole tensors, so that files are the
 * same however they were shared out. */
#include "runtime/comm.h"
#include "runtime/mesh.h"
#include "runtime/params.h"

#include <stdlib.h>
#include <string.h>

/* Elements [first, end) of a tensor. */
typedef struct {
    int64_t first, end;
} Range;

/* Of some elements of the tensor, those in the piece with that place in the group. */
static Range held(const RtParam *param, int place, Range range) {
    int64_t first = place * param->piece_elements - param->piece_first;
    int64_t end = first + param->piece_elements;
    Range both = {first > range.first ? first : range.first, end < range.end ? end : range.end};
    return both.first < both.end ? both : (Range){0, 0};
}

/* Where an element of the tensor lies in its piece, in bytes. */
static size_t in_piece(const RtParam *param, int64_t element) {
    int64_t at = param->piece_at + (param->piece_first + element) % param->piece_elements;
    return (size_t)at * rt_dtype_bytes(param->master_dtype);
}

static int place_of(const Rt *rt, const RtParam *param, int rank) {
    return mesh_place(rt->program, param->pieces, rank);
}

static const char what[] = "the gathering of optimizer states";

static size_t bytes_of(const RtParam *param, Range range) {
    return (size_t)(range.end - range.first) * rt_dtype_bytes(param->master_dtype);
}

/* Who has none of it lets its device come so far all the same: the others' may wait for it. */
static void read_mine(Rt *rt, const RtParam *param, RtPtr piece, Range mine, void *host) {
    bool some = mine.first < mine.end;
    rt_read(rt, piece + (some ? in_piece(param, mine.first) : 0), bytes_of(param, mine), host);
}

/* Whether the rank shares out its states with rank 0: other groups have the same once more. */
static bool is_of_first_group(const Rt *rt, const RtParam *param, int rank) {
    return mesh_first(rt->program, param->pieces, rank) == 0;
}

/* Over the host: it is for files, and needs no memory on the device. Rank 0 gets the whole of it. */
void pieces_read(Rt *rt, const RtParam *param, RtPtr piece, void *host) {
    const Range all = {0, param_elements(param)};
    size_t size = rt_dtype_bytes(param->master_dtype);
    Range mine = held(param, place_of(rt, param, rt->rank), all);
    unsigned char *whole = host, *at = whole + (size_t)mine.first * size;
    read_mine(rt, param, piece, mine, at);
    if (rt->rank > 0) {
        if (mine.first < mine.end && is_of_first_group(rt, param, rt->rank))
            comm_send(rt, 0, at, (int64_t)bytes_of(param, mine), what);
        return;
    }
    for (int r = 1; r < rt->ranks; r++) {
        Range theirs = held(param, place_of(rt, param, r), all);
        if (theirs.first < theirs.end && is_of_first_group(rt, param, r))
            comm_receive(rt, r, whole + (size_t)theirs.first * size,
                         (int64_t)bytes_of(param, theirs), what);
    }
}

void pieces_read_first_row(Rt *rt, const RtParam *param, void *row) {
    RtParam first = *param;
    if (first.rank > 1)
        first.shape[0] = 1;
    pieces_read(rt, &first, rt->arenas[RT_STATE] + first.weight, row);
}

void param_read_pieces(Rt *rt, const RtParam *param, RtPtr piece, void *host) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    if (!param->split[0]) {
        pieces_read(rt, param, piece, host);
        return;
    }
    void *memory = rt_alloc((size_t)param_elements(param) * size);
    pieces_read(rt, param, piece, memory);
    param_to_file_order(param, size, memory, host);
    free(memory);
}

void pieces_write(Rt *rt, const RtParam *param, size_t offset, const void *host) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    Range mine = held(param, place_of(rt, param, rt->rank), (Range){0, param_elements(param)});
    if (mine.first < mine.end)
        rt_write_state(rt, offset + in_piece(param, mine.first),
                       (size_t)(mine.end - mine.first) * size,
                       (const unsigned char *)host + (size_t)mine.first * size);
}
