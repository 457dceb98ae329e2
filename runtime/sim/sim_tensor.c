/* Tensor-core operations of a warp. The last lane to arrive computes them from the records of all
 * (see sim_warp). The fragments are those that the PTX ISA draws for "mma.m16n8k16", "mma.m16n8k8"
 * and "ldmatrix". Here, and not in a module's header, because a module is often compiled without
 * optimization and with checks of every access, while only registers are accessed here.
 */
#include "sim_kernel.h"
#include "sim_scalar.h"

enum { LANES = 32, ROWS = 16, COLUMNS = 8 };

/* A vector type keeps the order in which each sum adds. */
typedef float Eight __attribute__((vector_size(32), aligned(4)));

void sim_multiply(unsigned columns, unsigned k, float *c, const float *a, const float *b) {
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned column = 0; column < columns; column += 8) {
            Eight *to = (Eight *)(void *)&c[row * columns + column], sum = *to;
            for (unsigned i = 0; i < k; i++)
                sum += a[row * k + i] * *(const Eight *)(const void *)&b[i * columns + column];
            *to = sum;
        }
}

/* ---- Products ---------------------------------------------------------------------------- */

/* Element i of a lane's fragment of c is in row lane / 4 + i / 2 * 8. */
static float *place(float *c, unsigned lane, unsigned i) {
    return &c[(lane / 4 + i / 2 * 8) * COLUMNS + lane % 4 * 2 + i % 2];
}

/* c += a b for all lanes' fragments of c. */
static void add_product(SimMma *const *lane, unsigned k, const float *a, const float *b) {
    float c[ROWS * COLUMNS];
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++)
            *place(c, l, i) = lane[l]->c[i];
    sim_multiply(COLUMNS, k, c, a, b);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++)
            lane[l]->c[i] = *place(c, l, i);
}

/* Each register holds two elements. Inlined, so that `of` is too. */
__attribute__((always_inline)) static inline void mma_16816(void **lanes, float (*of)(uint16_t)) {
    SimMma *const *lane = (SimMma *const *)(void *)lanes;
    float a[ROWS][16], b[16][COLUMNS];
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned h = 0; h < 2; h++) {
            const unsigned group = l / 4, k = l % 4 * 2 + h;
            for (unsigned i = 0; i < 4; i++)
                a[group + i % 2 * 8][k + i / 2 * 8] = of((uint16_t)(lane[l]->a[i] >> 16 * h));
            for (unsigned i = 0; i < 2; i++)
                b[k + i * 8][group] = of((uint16_t)(lane[l]->b[i] >> 16 * h));
        }
    add_product(lane, 16, *a, *b);
}

void sim_mma_bf16(void **lanes) { mma_16816(lanes, from_bfloat16); }
void sim_mma_f16(void **lanes) { mma_16816(lanes, from_half); }

/* The tensor core ignores the 13 low bits of a tf32 operand. */
static float from_tf32(unsigned bits) { return float_of_bits(bits & 0xffffe000u); }

void sim_mma_tf32(void **lanes) {
    SimMma *const *lane = (SimMma *const *)(void *)lanes;
    float a[ROWS][8], b[8][COLUMNS];
    for (unsigned l = 0; l < LANES; l++) {
        const unsigned group = l / 4, k = l % 4;
        for (unsigned i = 0; i < 4; i++)
            a[group + i % 2 * 8][k + i / 2 * 4] = from_tf32(lane[l]->a[i]);
        for (unsigned i = 0; i < 2; i++)
            b[k + i * 4][group] = from_tf32(lane[l]->b[i]);
    }
    add_product(lane, 8, *a, *b);
}

/* ---- Loads ------------------------------------------------------------------------------- */

/* Lane 8 i + r provides row r of matrix i; lane l receives elements 2 (l % 4) and 2 (l % 4) + 1 of
 * row l / 4. */
void sim_ldmatrix(void **lanes) {
    SimRow *const *lane = (SimRow *const *)(void *)lanes;
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++) {
            const uint16_t *two = &lane[8 * i + l / 4]->row[l % 4 * 2];
            lane[l]->out[i] = two[0] | (unsigned)two[1] << 16;
        }
}

void sim_ldmatrix_trans(void **lanes) {
    SimRow *const *lane = (SimRow *const *)(void *)lanes;
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++) {
            const unsigned column = 8 * i + l % 4 * 2, row = l / 4;
            lane[l]->out[i] = lane[column]->row[row] | (unsigned)lane[column + 1]->row[row] << 16;
        }
}
