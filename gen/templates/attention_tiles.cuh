/* Shared by the attention kernels for tensor cores: copying tiles of tokens to shared memory,
 * products of a warp's rows with a tile, the softmax over scores in registers, and storing the
 * results. */
#ifndef ATTENTION_TILES_CUH
#define ATTENTION_TILES_CUH

#include "attention_rope.cuh"
#include "runtime/kernel.cuh"

//@prelude attention_rope.cuh

//@prelude
/* log2(e): exp(x) is exp2(x * LOG2E). */
static constexpr float LOG2E = 1.4426950408889634f;

/* Operands of mma.sync, by element type. One step covers DEPTH elements of the inner dimension (32
 * bytes of a row). */
template <class T> struct AttentionMma {
    static constexpr int DEPTH = 16;

    static __device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    const unsigned *b) {
        mma_16816(c, a, b, T());
    }
    static __device__ __forceinline__ void round(unsigned (&)[4]) {}

    static __device__ __forceinline__ unsigned pack(float low, float high) {
#ifdef GPUOPT_SIM
        const Vec<T, 2> both = {convert<T>(low), convert<T>(high)};
        unsigned word;
        memcpy(&word, &both, sizeof word);
        return word;
#else
        return pack(low, high, T());
    }
    /* One instruction, where the compiler often converts each alone and then joins them. */
    static __device__ __forceinline__ unsigned pack(float low, float high, __nv_bfloat16) {
        unsigned word;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
        return word;
    }
    static __device__ __forceinline__ unsigned pack(float low, float high, __half) {
        unsigned word;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
        return word;
#endif
    }
    /* Operand A of one step, from sums in the layout of C. */
    template <int N>
    static __device__ __forceinline__ void from_sums(unsigned (&a)[4], const float (&sums)[N][4],
                                                     int step) {
        a[0] = pack(sums[2 * step][0], sums[2 * step][1]);
        a[1] = pack(sums[2 * step][2], sums[2 * step][3]);
        a[2] = pack(sums[2 * step + 1][0], sums[2 * step + 1][1]);
        a[3] = pack(sums[2 * step + 1][2], sums[2 * step + 1][3]);
    }
    /* Operand B of one step, for 16 columns, from a tile whose rows run along the inner
     * dimension. */
    template <int PITCH>
    static __device__ __forceinline__ void from_columns(unsigned (&b)[4], const T *tile) {
        const int lane = threadIdx.x % 32;
        ldmatrix_x4_trans(b, tile + lane % 16 * PITCH + lane / 16 * 8);
    }
};

template <> struct AttentionMma<float> {
    static constexpr int DEPTH = 8;

    static __device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    const unsigned *b) {
        mma_1688_tf32(c, a, b);
    }
    static __device__ __forceinline__ void round(unsigned (&r)[4]) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            r[i] = to_tf32(__uint_as_float(r[i]));
    }
    /* In C a lane has columns 2i and 2i + 1, in A it needs i and i + 4. So both operands use the
     * inner dimension in the order 0, 2, 4, 6, 1, 3, 5, 7, and no value has to change lanes. */
    template <int N>
    static __device__ __forceinline__ void from_sums(unsigned (&a)[4], const float (&sums)[N][4],
                                                     int step) {
        a[0] = to_tf32(sums[step][0]);
        a[1] = to_tf32(sums[step][2]);
        a[2] = to_tf32(sums[step][1]);
        a[3] = to_tf32(sums[step][3]);
    }
    template <int PITCH>
    static __device__ __forceinline__ void from_columns(unsigned (&b)[4], const float *tile) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < 4; i++)
            b[i] = to_tf32(tile[(lane % 4 * 2 + i % 2) * PITCH + lane / 4 + i / 2 * 8]);
    }
};

/* Starts copying columns [0, WIDTH) of PLACES tokens to a tile, with zeros past the last token and
 * past head_dim. threadIdx.x % THREADS lets the compiler drop comparisons that are always true. */
template <int THREADS, int PLACES, int WIDTH, int PITCH, class T>
static __device__ __forceinline__ void attention_fetch(T *tile, const T *tokens, int64_t stride,
                                                       int places, int head_dim) {
    constexpr int ELEMENTS = 16 / sizeof(T), CHUNKS = WIDTH / ELEMENTS;
#pragma unroll
    for (int first = 0; first < PLACES * CHUNKS; first += THREADS) {
        const int e = first + threadIdx.x % THREADS;
        const int place = e / CHUNKS, d = e % CHUNKS * ELEMENTS;
        const bool inside = place < places && d < head_dim;
        if (PLACES * CHUNKS % THREADS == 0 || e < PLACES * CHUNKS)
            cp_async_16(tile + place * PITCH + d, tokens + (inside ? place * stride + d : 0),
                        inside);
    }
}

/* Operand A of one step, for 16 rows of a tile. */
template <int PITCH, class T>
static __device__ __forceinline__ void attention_rows(unsigned (&a)[4], const T *tile) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(a, tile + lane % 16 * PITCH + lane / 16 * (16 / sizeof(T)));
    AttentionMma<T>::round(a);
}

/* products[rows][columns] = own rows . rows of the tile, over the whole width. */
template <int WIDTH, int PITCH, int ROW_TILES, int COLUMN_TILES, class T>
static __device__ __forceinline__ void
attention_dots(float (&products)[ROW_TILES][COLUMN_TILES][4], const T *own, const T *tile) {
    using Mma = AttentionMma<T>;
    const int lane = threadIdx.x % 32;
    const T *lane_row = tile + (lane / 16 * 8 + lane % 8) * PITCH + lane / 8 % 2 * (16 / sizeof(T));
#pragma unroll
    for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
        for (int n = 0; n < COLUMN_TILES; n++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                products[m][n][c] = 0;
#pragma unroll
    for (int d = 0; d < WIDTH; d += Mma::DEPTH) {
        unsigned a[ROW_TILES][4];
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++)
            attention_rows<PITCH>(a[m], own + m * 16 * PITCH + d);
#pragma unroll
        for (int n = 0; n < COLUMN_TILES; n += 2) {
            unsigned b[4]; /* columns 8 n to 8 n + 15 */
            ldmatrix_x4(b, lane_row + n * 8 * PITCH + d);
            Mma::round(b);
#pragma unroll
            for (int m = 0; m < ROW_TILES; m++) {
                Mma::multiply(products[m][n], a[m], b);
                Mma::multiply(products[m][n + 1], a[m], b + 2);
            }
        }
    }
}

/* sums[rows][SUM_TILES * 8 columns] += weights[rows][tokens] . tile[tokens][columns]. */
template <int PITCH, int ROW_TILES, int SUM_TILES, int COLUMN_TILES, class T>
static __device__ __forceinline__ void
attention_add(float (&sums)[ROW_TILES][SUM_TILES][4],
              const float (&weights)[ROW_TILES][COLUMN_TILES][4], const T *tile) {
    using Mma = AttentionMma<T>;
#pragma unroll
    for (int step = 0; step < COLUMN_TILES * 8 / Mma::DEPTH; step++) {
        unsigned a[ROW_TILES][4];
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++)
            Mma::from_sums(a[m], weights[m], step);
#pragma unroll
        for (int n = 0; n < SUM_TILES; n += 2) {
            unsigned b[4];
            Mma::template from_columns<PITCH>(b, tile + step * Mma::DEPTH * PITCH + n * 8);
#pragma unroll
            for (int m = 0; m < ROW_TILES; m++) {
                Mma::multiply(sums[m][n], a[m], b);
                Mma::multiply(sums[m][n + 1], a[m], b + 2);
            }
        }
    }
}

/* Both far below every score. exp2 of (MASKED - LOWEST) times any scale is 0, not NaN. */
static constexpr float ATTENTION_MASKED = -2e30f, ATTENTION_LOWEST = -1e30f;

/* Sets hidden scores[queries][keys] to ATTENTION_MASKED. `query` and `key` are those of the lane's
 * first element. */
template <int ROW_TILES, int KEY_TILES, class Mask>
static __device__ __forceinline__ void attention_mask(float (&scores)[ROW_TILES][KEY_TILES][4],
                                                      const Mask &mask, int query, int key) {
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        const int i = query + r * 8;
        const auto row = mask.row(i);
#pragma unroll
        for (int n = 0; n < KEY_TILES; n++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const int j = key + n * 8 + c;
                if (!row.sees(j) || j > i)
                    scores[r / 2][n][r % 2 * 2 + c] = ATTENTION_MASKED;
            }
    }
}

/* The same for scores[keys][queries]; `rows` are the mask's rows for the lane's columns. */
template <int ROW_TILES, int QUERY_TILES, class Row>
static __device__ __forceinline__ void
attention_mask_transposed(float (&scores)[ROW_TILES][QUERY_TILES][4], const Row *rows, int query,
                          int key) {
#pragma unroll
    for (int n = 0; n < QUERY_TILES; n++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const int i = query + n * 8 + c;
            const Row row = rows[n * 8 + c];
#pragma unroll
            for (int r = 0; r < 2 * ROW_TILES; r++) {
                const int j = key + r * 8;
                if (!row.sees(j) || j > i)
                    scores[r / 2][n][r % 2 * 2 + c] = ATTENTION_MASKED;
            }
        }
}

/* Replaces each score by 2^(scale2 * (score - peak)), after raising `peak` and rescaling `total` to
 * it; the caller multiplies its sums by `shrink`. `total` covers only the elements of this lane. */
template <int ROW_TILES, int KEY_TILES>
static __device__ __forceinline__ void
attention_softmax(float (&scores)[ROW_TILES][KEY_TILES][4], float (&peak)[ROW_TILES][2],
                  float (&total)[ROW_TILES][2], float (&shrink)[ROW_TILES][2], float scale2) {
#pragma unroll
    for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float top = peak[m][half];
#pragma unroll
            for (int n = 0; n < KEY_TILES; n++)
                top = fmaxf(top, fmaxf(scores[m][n][2 * half], scores[m][n][2 * half + 1]));
            top = fmaxf(top, warp_shfl_xor(top, 1));
            top = fmaxf(top, warp_shfl_xor(top, 2));
            shrink[m][half] = exp2_or_zero((peak[m][half] - top) * scale2);
            const float offset = top * scale2;
            peak[m][half] = top;
            total[m][half] *= shrink[m][half];
#pragma unroll
            for (int n = 0; n < KEY_TILES; n++)
#pragma unroll
                for (int c = 2 * half; c < 2 * half + 2; c++) {
                    scores[m][n][c] = exp2_or_zero(fmaf(scores[m][n][c], scale2, -offset));
                    total[m][half] += scores[m][n][c];
                }
        }
}

/* The dot product of a row of o and a row of d_o, `columns` long, returned to all four lanes that
 * hold the row's scores; 0 if the row is not `inside`. */
template <class T>
static __device__ __forceinline__ float attention_delta(const T *o, const T *d_o, int columns,
                                                        bool inside) {
    constexpr int ELEMENTS = 16 / sizeof(T);
    float sum = 0;
    for (int d = threadIdx.x % 4 * ELEMENTS; inside && d < columns; d += 4 * ELEMENTS) {
        const auto a = load_vec<ELEMENTS>(o + d), b = load_vec<ELEMENTS>(d_o + d);
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++)
            sum = fmaf(convert<float>(a[e]), convert<float>(b[e]), sum);
    }
    sum += warp_shfl_xor(sum, 1);
    return sum + warp_shfl_xor(sum, 2);
}

/* A visit of a block of backward_kv: a tile of queries, from `base` on, of one of its heads. */
struct AttentionVisit {
    int base, head;
};

/* The visits of a block of backward_kv, whose keys are first to last: in each of its GROUP heads,
 * those tiles of QUERIES queries, from the block's keys on, whose first query sees any of the keys.
 * The first one always does, because a query sees its own place. */
template <int QUERIES, int GROUP> struct AttentionVisits {
    int begin, end;

    template <class Mask>
    __device__ __forceinline__ AttentionVisits(const Mask &mask, int first, int last)
        : begin(first / QUERIES * QUERIES), end(begin) {
        for (int base = begin; base < mask.seq; base += QUERIES)
            end += mask.row(base).sees_any(first, last) ? QUERIES : 0;
    }
    __device__ __forceinline__ AttentionVisit first() const { return {begin, 0}; }
    __device__ __forceinline__ AttentionVisit after(AttentionVisit visit) const {
        const int base = visit.base + QUERIES;
        return base < end ? AttentionVisit{base, visit.head}
                          : AttentionVisit{begin, visit.head + 1};
    }
    __device__ __forceinline__ bool has(AttentionVisit visit) const { return visit.head < GROUP; }
};

/* The lse, delta and mask rows of two tiles of queries of backward_kv, in shared memory. Those of
 * the next tile wait in registers of the first QUERIES threads while the current tile is computed,
 * as they come from memory: arithmetic with them would wait for the loads. Queries past the last
 * one get the row that sees nothing. */
template <int QUERIES, class Mask> struct AttentionQueries {
    using Row = typename Mask::Row;
    const Mask &mask;
    float *sums; /* [2][QUERIES][2]: lse times log2(e), and delta */
    Row *rows;   /* [2][QUERIES] */
    float next_lse = 0, next_delta = 0;
    int next_query = 0;
    typename Mask::Source next_source = {};

    __device__ __forceinline__ AttentionQueries(float *shared, const Mask &sequence)
        : mask(sequence), sums(shared), rows(reinterpret_cast<Row *>(sums + 4 * QUERIES)) {}

    /* lse and delta are [tokens][heads] and point to the visit's head. */
    __device__ __forceinline__ void load(int base, const float *lse, const float *delta,
                                         int64_t heads) {
        next_query = base + threadIdx.x;
        const bool inside = threadIdx.x < QUERIES && next_query < mask.seq;
        const int64_t at = (mask.token + next_query) * heads;
        next_lse = inside ? lse[at] : 0;
        next_delta = inside ? delta[at] : 0;
        next_source = mask.source(inside ? next_query : mask.seq);
    }
    __device__ __forceinline__ void store(int stage) {
        const int at = stage * QUERIES + threadIdx.x;
        if (threadIdx.x < QUERIES) {
            store_vec(sums + 2 * at, Vec<float, 2>{next_lse * LOG2E, next_delta});
            rows[at] = mask.row(next_query, next_source);
        }
    }
    /* The sums of query `at`, which is even, and of the next one: lse2, delta, lse2, delta. */
    __device__ __forceinline__ Vec<float, 4> pair(int at) const { return load_vec<4>(sums + 2 * at); }
};

template <int ROW_TILES, int SUM_TILES>
static __device__ __forceinline__ void attention_shrink(float (&sums)[ROW_TILES][SUM_TILES][4],
                                                        const float (&shrink)[ROW_TILES][2]) {
#pragma unroll
    for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
        for (int n = 0; n < SUM_TILES; n++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                sums[m][n][c] *= shrink[m][c / 2];
}

/* Stores the first `columns` columns of this warp's rows, each row times its scale. They pass
 * through `rows`, a part of shared memory that only this warp uses, so that global stores are of 16
 * bytes instead of scattered pairs. `rotation` makes each 16 bytes from a row there, whose
 * values have been rounded to T. */
template <int PITCH, int ROW_TILES, int SUM_TILES, class T, class Rotation = Unrotated<0, float>>
static __device__ __forceinline__ void
attention_store(T *to, int64_t stride, int places, int columns, T *rows,
                const float (&sums)[ROW_TILES][SUM_TILES][4], const float (&scale)[ROW_TILES][2],
                const Rotation &rotation = {}) {
    constexpr int ELEMENTS = 16 / sizeof(T), CHUNKS = SUM_TILES * 8 / ELEMENTS;
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int n = 0; n < SUM_TILES; n++) {
                const Vec<T, 2> pair = {convert<T>(sums[m][n][2 * half] * scale[m][half]),
                                        convert<T>(sums[m][n][2 * half + 1] * scale[m][half])};
                store_vec(rows + (m * 16 + half * 8 + lane / 4) * PITCH + n * 8 + lane % 4 * 2,
                          pair);
            }
    __syncwarp();
    for (int e = lane; e < ROW_TILES * 16 * CHUNKS; e += 32) {
        const int place = e / CHUNKS, d = e % CHUNKS * ELEMENTS;
        if (place < places && d < columns)
            store_vec(to + place * stride + d, rotation.chunk(rows + place * PITCH, place, d));
    }
}
//@end

#endif
