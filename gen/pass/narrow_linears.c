/* Small linears of few outputs, and their gradients, become bodies, which neighbouring ops can join:
 *
 *     y = x W^T [+ bias]   ->   narrow_linear(x, W [, bias])
 *     dx = dy W            ->   narrow_linear_input_grad(dy, W)
 *     dW = dy^T x          ->   narrow_linear_weight_grad(dy, x)
 *
 * A kernel of cuBLASLt takes longer to start and end than such a product takes, and no other op can
 * join it. So the linear of a classifier takes up the ReLU and the dropout before it, and its gradients
 * are in the kernel of theirs.
 *
 * Requires that products have their final operands and places. Leaves products that accumulate, and
 * with "auto" those that a body would not compute sooner. */
#include "devices/device.h"
#include "graph/op_table.h"
#include "pass/pass.h"

/* T rows, k columns of x or W, n outputs. */
typedef struct {
    OpKind kind;
    int64_t rows, cols, outputs;
} Narrow;

static bool is_real(const Value *v) {
    return v->dtype == DT_F64 || v->dtype == DT_F32 || v->dtype == DT_BF16 || v->dtype == DT_F16;
}

/* What the product would become. */
static Narrow narrow_of(const Op *op) {
    const Value *a = op->in[0], *b = op->in[1];
    bool ta = op->attr.transpose_a, tb = op->attr.transpose_b;
    if (ta)
        return (Narrow){OP_narrow_linear_weight_grad, value_rows(a), value_cols(b), value_cols(a)};
    if (tb)
        return (Narrow){OP_narrow_linear, value_rows(a), value_cols(a), value_rows(b)};
    return (Narrow){OP_narrow_linear_input_grad, value_rows(a), value_cols(b), value_cols(a)};
}

/* A warp has a row of x: with fewer columns, lanes load less than 4 bytes of it in 16 bits. */
enum { LEAST_COLS = 64 };

/* Whether a product can become that. */
static bool can_be(const Program *p, const Op *op, Narrow n) {
    if (op->attr.accumulate || !is_real(op->in[0]))
        return false;
    if (n.outputs < 2 || n.outputs > MOST_NARROW || n.cols < 2)
        return false;
    if (n.kind == OP_narrow_linear)
        return n.cols >= LEAST_COLS;
    if (n.kind == OP_narrow_linear_weight_grad)
        return !op->attr.transpose_b && op->out[0]->dtype == p->real && value_dense(op->out[0]);
    return op->in_count == 2;
}

/* Per product of two numbers: a part of a load, a conversion, and the multiplication. */
enum { INSTRUCTIONS = 3 };

/* Time in a kernel of its own, whose rows each read W, or write to a sum. */
static double body_ms(const Device *device, const Program *p, const Op *op, Narrow n) {
    double products = (double)n.rows * (double)n.cols * (double)n.outputs;
    double dram = 0, size = dtype_bytes(op->in[0]->dtype);
    for (int i = 0; i < op->in_count; i++)
        dram += (double)value_bytes(op->in[i]);
    dram += (double)value_bytes(op->out[0]);
    Traffic bytes = {dram + products * size, dram};
    return device_kernel_time(device, program_rate(p), 2 * products, INSTRUCTIONS * products, bytes,
                              (Grid){0})
        .ms;
}

static void become(Op *op, Narrow n) {
    op->kind = n.kind;
    op->attr.transpose_a = op->attr.transpose_b = false;
}

bool pass_narrow_linears(Program *p, const Spec *spec) {
    WhereGained wanted = spec->compile.narrow_linears;
    if (wanted == NOWHERE)
        return false;
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    bool found = false;
    for (Entry entry = 0; entry < ENTRY_COUNT; entry++) {
        Graph *graph = &p->entry[entry];
        for (int i = 0; i < graph->op_count; i++) {
            Op *op = graph->ops[i];
            if (op->kind != OP_matmul && op->kind != OP_matmul_bias)
                continue;
            Narrow n = narrow_of(op);
            if (can_be(p, op, n) &&
                (wanted == EVERYWHERE || body_ms(device, p, op, n) < device_op_ms(device, p, op))) {
                become(op, n);
                found = true;
            }
        }
    }
    return found;
}
