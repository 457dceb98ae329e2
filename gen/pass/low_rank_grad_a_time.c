/* Time that it takes to make x again for a low-rank path's dA, and what that saves. */
#include "graph/op_table.h"
#include "pass/low_rank_grad_a.h"
#include "pass/low_rank_kernels.h"

/* Of a kernel of the hosts, without dA. */
static LowRankShape hosts_shape(const GradOfA *a) {
    LowRankShape shape = low_rank_shape(a->grad->in[1], a->grad->in[0]);
    shape.pointwise = true;
    return shape;
}

/* Of the kernel that has dA. */
static LowRankShape shape_of(const GradOfA *a) {
    LowRankShape shape = hosts_shape(a);
    shape.beside_a = a->hosts > 0;
    shape.only_a = !shape.beside_a;
    return shape;
}

bool grad_of_a_fits(const Device *device, const GradOfA *a) {
    LowRankShape shape = shape_of(a);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    return tiles.cols && low_rank_two_blocks_fit(shape, &tiles, (LowRankMade){a->hosts, 1}, device);
}

static double bytes_ms(const Device *device, double bytes) {
    return device_kernel_time(device, RATE_F32, 0, 0, (Traffic){bytes, bytes}, (Grid){0}).ms;
}

/* The second kernel, which adds dA's parts. */
static double add_parts_ms(const Device *device, const GradOfA *a, double parts) {
    double result = (double)value_bytes(a->grad->out[0]);
    return bytes_ms(device, parts + (a->grad->attr.accumulate ? 2 : 1) * result);
}

/* Copies of the other columns of the matrices that are no longer kept. */
static double copies_ms(const Device *device, const GradOfA *a) {
    double ms = 0;
    for (int i = 0; i < a->makers; i++) {
        const Value *made = a->maker[i]->out[0];
        double others = (double)(made->storage->bytes - value_bytes(made));
        ms += others > 0 ? bytes_ms(device, 2 * others) : 0;
    }
    return ms;
}

/* What the hosts' kernel takes longer, the kernel that adds dA's parts, and the copy of u. */
static double beside_hosts_ms(const Device *device, const GradOfA *a) {
    LowRankShape shape = shape_of(a), alone = hosts_shape(a);
    LowRankTiles tiles = low_rank_tiles(shape, device), wide = low_rank_tiles(alone, device);
    double more_parts =
        a->hosts *
        (low_rank_grads_part_bytes(shape, &tiles) - low_rank_grads_part_bytes(alone, &wide));
    return bytes_ms(device, 2 * more_parts + low_rank_grad_a_bytes(shape, &tiles)) -
           bytes_ms(device, 0) + copies_ms(device, a) +
           add_parts_ms(device, a, low_rank_grad_a_part_bytes(shape, &tiles));
}

/* Whether forward reads x only for u = x A^T, in a kernel that can make it: then it is not stored. */
static bool is_only_for_u(const GraphUses *uses, const GradOfA *a) {
    int count;
    const Value *x = a->grad->in[1];
    Op *const *readers = use_readers(uses, x, &count);
    for (const Value *v = x->storage->views; v; v = v->next_view) {
        int others;
        if (v != x && value_overlaps(v, x) && use_readers(uses, v, &others))
            return false;
    }
    return count == 2 && op_is_low_rank_product(readers[0] == a->grad ? readers[1] : readers[0]);
}

static double alone_ms(const Device *device, const Program *p, const GraphUses *uses,
                       const GradOfA *a) {
    LowRankShape shape = shape_of(a);
    LowRankTiles tiles = low_rank_tiles(shape, device);
    double issued = low_rank_grad_a_bytes(shape, &tiles);
    double once = low_rank_grad_a_part_bytes(shape, &tiles) + (double)value_bytes(a->grad->in[0]);
    double stored = is_only_for_u(uses, a) ? (double)value_bytes(a->grad->in[1]) : 0;
    Traffic bytes = {a->source_bytes + issued, a->source_bytes + once};
    return device_fused_time(device, program_rate(p), device->fused_share, op_flops(a->grad), bytes,
                             (Grid){0})
               .ms +
           copies_ms(device, a) +
           add_parts_ms(device, a, low_rank_grad_a_part_bytes(shape, &tiles)) -
           (bytes_ms(device, stored) - bytes_ms(device, 0));
}

/* Time that x's place in memory is worth: a reading of what forward no longer keeps. */
static double worth_ms(const Device *device, const Spec *spec, const GradOfA *a) {
    if (spec->activation_checkpoint.mode == RECOMPUTE_FULL)
        return 0;
    int64_t kept = a->instead ? a->instead->storage->bytes : 0;
    return bytes_ms(device, (double)(value_bytes(a->grad->in[1]) - kept)) - bytes_ms(device, 0);
}

bool grad_of_a_gains(const Device *device, const Program *p, const Spec *spec, const GraphUses *uses,
                     const GradOfA *a) {
    double ms = a->hosts ? beside_hosts_ms(device, a) : alone_ms(device, p, uses, a);
    return ms < device_op_ms(device, p, a->grad) + worth_ms(device, spec, a);
}
