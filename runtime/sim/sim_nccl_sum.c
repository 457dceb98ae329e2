/* Sums over ranks: one loop per type, each with its own accumulator type. */
#include "sim_nccl_sum.h"
#include "sim_scalar.h"

size_t sum_type_bytes(NcclType type) {
    switch (type) {
    case NCCL_U8:
        return 1;
    case NCCL_F16:
    case NCCL_BF16:
        return 2;
    case NCCL_I32:
    case NCCL_F32:
        return 4;
    case NCCL_I64:
    case NCCL_F64:
        return 8;
    }
    return 0;
}

/* `value` converts an element to its accumulator, `element` converts back. Integers wrap around, as
 * in NCCL. */
#define SAME(x) (x)
#define SUM(Element, Sum, value, element)                               \
    do {                                                                \
        const Element *in = from;                                       \
        Element *out = to;                                              \
        for (size_t i = 0; i < count; i++) {                            \
            Sum sum = value(in[i]);                                     \
            for (int rank = 1; rank < ranks; rank++)                    \
                sum = (Sum)(sum + value(in[(size_t)rank * count + i])); \
            out[i] = element(sum);                                      \
        }                                                               \
    } while (0)

void sum_ranks(NcclType type, void *to, const void *from, int ranks, size_t count) {
    switch (type) {
    case NCCL_U8:
        SUM(uint8_t, uint8_t, SAME, SAME);
        return;
    case NCCL_I32:
        SUM(uint32_t, uint32_t, SAME, SAME);
        return;
    case NCCL_I64:
        SUM(uint64_t, uint64_t, SAME, SAME);
        return;
    case NCCL_F16:
        SUM(uint16_t, float, from_half, to_half);
        return;
    case NCCL_BF16:
        SUM(uint16_t, float, from_bfloat16, to_bfloat16);
        return;
    case NCCL_F32:
        SUM(float, float, SAME, SAME);
        return;
    case NCCL_F64:
        SUM(double, double, SAME, SAME);
        return;
    }
}
