/* The first product of a low-rank path, where pointwise ops make its operand, gets a kernel that can
 * run these ops too, and then need not read x:
 *
 *     u = x A^T    ->    u = low_rank_matmul(x, A)
 *
 * Attention and norms do not make x like that; of Llama's linears only down_proj gains. Requires that
 * values have their places; leaves everything else as it is. With "auto" this is done where the
 * device is expected to gain; the kernel needs 16-bit operands and ranks that are, with the zeros
 * of a border, multiples of 8. */
#include "devices/low_rank_tiles.h"
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "pass/low_rank_kernels.h"
#include "pass/pass.h"

/* Whether no op over rows, such as a rounding with a scale per row, reads x: it would take the ops that
 * make x into its own kernel. */
static bool read_by_no_rows(const Program *p, const GraphUses *uses, const Value *x) {
    int count;
    Op *const *readers = use_readers(uses, x, &count);
    for (int i = 0; i < count; i++)
        if (op_is_over_rows(p, readers[i]))
            return false;
    return true;
}

/* Whether the op that makes x makes it for nothing else: then no other kernel takes it. */
static bool is_made_for(const Program *p, const GraphUses *uses, const Value *x) {
    return use_read_once(uses, x) && op_is_pointwise(p, use_maker(uses, x));
}

/* x must be the result of one op: of rows that are made run by run, no kernel could make all. */
static bool is_product(const Program *p, const GraphUses *uses, const Op *op) {
    if (!op_is_low_rank_product(op) || !use_maker(uses, op->in[0]))
        return false;
    const Value *x = op->in[0];
    return is_made_for(p, uses, x) ||
           (is_made_pointwise(p, uses, op) && read_by_no_rows(p, uses, x));
}

static Traffic bytes_of(const Op *op, double read_again) {
    double bytes = 0;
    for (int i = 0; i < op->in_count; i++)
        bytes += (double)value_bytes(op->in[i]);
    for (int i = 0; i < op->out_count; i++)
        bytes += (double)value_bytes(op->out[i]);
    return (Traffic){bytes + read_again, bytes};
}

/* The kernel that makes x and multiplies it. Each block reads A. Too few blocks leave a part of the
 * device idle. */
static double one_kernel_ms(const Device *device, const Program *p, const Op *maker, const Op *op) {
    LowRankRows rows = low_rank_rows(low_rank_shape(op->in[0], op->out[0]), device);
    double a = (double)value_bytes(op->in[1]), u = (double)value_bytes(op->out[0]);
    Traffic bytes = bytes_of(maker, ((double)rows.blocks - 1) * a);
    bytes.moved += a + u;
    bytes.dram += a + u;
    Rate rate = program_rate(p);
    Grid any = {0};
    double launch = device_fused_time(device, rate, device->fused_share, 0, (Traffic){0, 0}, any).ms;
    double all = device_fused_time(device, rate, device->fused_share, op_flops(op), bytes, any).ms;
    return launch + (all - launch) / rows.busy;
}

static bool gains(const Device *device, const Program *p, const GraphUses *uses, const Op *op) {
    const Op *maker = use_maker(uses, op->in[0]);
    return one_kernel_ms(device, p, maker, op) <
           device_op_ms(device, p, maker) + device_op_ms(device, p, op);
}

bool pass_low_rank_matmul(Program *p, const Spec *spec) {
    WhereGained wanted = spec->compile.low_rank_matmul;
    if (wanted == NOWHERE || !spec_effective(spec, KEY_compile_low_rank_matmul))
        return false;
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    Arena scratch = {0};
    bool found = false;
    for (Entry entry = 0; entry < ENTRY_COUNT; entry++) {
        GraphUses uses = uses_find(&scratch, p, &p->entry[entry]);
        for (int i = 0; i < uses.graph->op_count; i++) {
            Op *op = uses.graph->ops[i];
            if (!is_product(p, &uses, op) ||
                (wanted == WHERE_GAINED && !gains(device, p, &uses, op)))
                continue;
            op->kind = OP_low_rank_matmul;
            op->attr.transpose_b = false;
            found = true;
        }
    }
    arena_free(&scratch);
    return found;
}
