/* Masters and moments of which each rank of a group has a piece. A run holds all trained tensors one
 * behind the other; rank i of the group has elements [i n, (i + 1) n) of it, whatever tensors these are
 * of. Outside the device everybody sees whole tensors, so that files are the same however they were
 * shared out. */
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
static Range held(const Rt *rt, const RtParam *param, int place, Range range) {
    int64_t elements = rt->program->piece_elements;
    int64_t first = place * elements - param->piece_first, end = first + elements;
    Range both = {first > range.first ? first : range.first, end < range.end ? end : range.end};
    return both.first < both.end ? both : (Range){0, 0};
}

/* Where an element of the tensor lies in its piece, in bytes. */
static size_t in_piece(const Rt *rt, const RtParam *param, int64_t element) {
    return (size_t)((param->piece_first + element) % rt->program->piece_elements) *
           rt_dtype_bytes(param->master_dtype);
}

static int place_of(const Rt *rt, const RtParam *param, int rank) {
    return mesh_place(rt->program, param->pieces, rank);
}

/* A stretch of the tensor, from all ranks that have some of it. */
static void gather(Rt *rt, const RtParam *param, RtPtr piece, Range range, unsigned char *all,
                   unsigned char *whole) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    size_t bytes = (size_t)(range.end - range.first) * size;
    Range mine = held(rt, param, place_of(rt, param, rt->rank), range);
    unsigned char *part = rt_alloc(bytes);
    bool some = mine.first < mine.end;
    /* Who has none of it lets its device come so far all the same: the others' may wait for it. */
    rt_read(rt, piece + (some ? in_piece(rt, param, mine.first) : 0),
            (size_t)(mine.end - mine.first) * size,
            part + (some ? (size_t)(mine.first - range.first) * size : 0));
    comm_gather(rt, part, all, (int)bytes, "the gathering of optimizer states");
    for (int r = 0; r < rt->ranks; r++) {
        Range theirs = held(rt, param, place_of(rt, param, r), range);
        size_t at = (size_t)(theirs.first - range.first) * size;
        if (theirs.first < theirs.end)
            memcpy(whole + (size_t)theirs.first * size, all + (size_t)r * bytes + at,
                   (size_t)(theirs.end - theirs.first) * size);
    }
    free(part);
}

/* Over the host, a stretch at a time: it is for files, and needs no memory on the device. */
void pieces_read(Rt *rt, const RtParam *param, RtPtr piece, void *host) {
    enum { STRETCH = 1 << 19 };
    int64_t count = param_elements(param);
    unsigned char *all =
        rt_alloc((size_t)rt->ranks * STRETCH * rt_dtype_bytes(param->master_dtype));
    for (int64_t first = 0; first < count; first += STRETCH) {
        int64_t end = count - first < STRETCH ? count : first + STRETCH;
        gather(rt, param, piece, (Range){first, end}, all, host);
    }
    free(all);
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
    Range mine = held(rt, param, place_of(rt, param, rt->rank), (Range){0, param_elements(param)});
    if (mine.first < mine.end)
        rt_write_state(rt, offset + in_piece(rt, param, mine.first),
                       (size_t)(mine.end - mine.first) * size,
                       (const unsigned char *)host + (size_t)mine.first * size);
}
