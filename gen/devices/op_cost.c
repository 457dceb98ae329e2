/* What an op costs on a device, before its kernel is known. */
#include "devices/device.h"

#include "graph/op_table.h"

Rate program_rate(const Program *p) {
    if (p->activation == DT_F64)
        return RATE_F64;
    if (p->activation != DT_F32)
        return RATE_F16;
    return p->tf32 ? RATE_TF32 : RATE_F32;
}

static double bytes_of(Value *const *values, int count) {
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (double)value_bytes(values[i]);
    return bytes;
}

double device_op_ms(const Device *device, const Program *p, const Op *op) {
    const OpInfo *info = &op_table[op->kind];
    double all = bytes_of(op->in, op->in_count) + bytes_of(op->out, op->out_count);
    Traffic bytes = {all, all};
    double flops = info->flops ? info->flops(op) : (double)value_elements(op->out[0]);
    Rate rate = program_rate(p);
    Grid any = {0};
    if (op->kind != OP_matmul && op->kind != OP_matmul_bias && op->kind != OP_linear)
        return info->flops ? device_fused_time(device, rate, device->fused_share, flops, bytes, any).ms
                           : device_kernel_time(device, rate, flops, 0, bytes, any).ms;
    double m = (double)value_rows(op->out[0]), n = (double)value_cols(op->out[0]);
    return device_matmul_time(device, rate, 1, m, n, flops / (2 * m * n), bytes).ms;
}
