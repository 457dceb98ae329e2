/* The 64 kernels of qlora.
 *
 * All extents and strides are constants; matrices are row-major. A kernel's name has
 * the first three kinds of its ops, and their shape. The comment before it has all
 * kinds and their shape; the spec key that the first op comes from, unless that has
 * its default value or half of the kernels come from it; and of the first launch,
 * DRAM bytes, issued bytes, which its threads request and caches partly have, and
 * FLOPs, as in plan.txt. Parameters are named after the values of the kernel's first
 * launch, which in a loop of program.c is that of the first round; program.c may have
 * shorter names for them. A kernel that is filled into a template has the template's
 * names, and its shape in its own name. NAME_v is what was loaded from NAME, NAME_value
 * a single number, NAME_row one of a row, NAME_j one of an element, NAME_rounded one
 * that was rounded as for memory.
 * If several kernels would have the same name, all but the first have a suffix that
 * says what differs (_v2: constants, or the formula, of the same kinds and operands).
 *
 * Kernels that differ only in constants share a function, NAME_body or part of a
 * template, and list those that are whole numbers in Sizes. In NAME_body, arguments
 * are named after what their kernels' names have in common; if that is nothing, it
 * reads x and writes y. Without a template, ROWS and COLS are the shape that the
 * comment gives; in a template, tile.COLUMNS are the columns of its result. STRIDE is
 * the distance between a matrix's rows, if it is not COLS; NAME_STRIDE, that of NAME,
 * if a kernel has several or one element is for several columns: for PER_BYTE of a
 * mask, for a RUN of others. A block has WARPS rows, one per warp; or it
 * is a worker, which adds up ROWS_PER_WORKER rows, PARTS at a time, with LANES
 * threads each, or PARTS times ROWS_PER_TURN neighbours, whose windows share what they
 * read of a line, x_0_v. A thread has CHUNKS vectors of a row. PLACES and WIDTH are an
 * image's pixels and row length; FROM_HEIGHT and FROM_WIDTH belong to the image that a
 * window reads. A mean is over COUNT numbers. */
#include "runtime/kernel.cuh"

/* Query i sees the keys of its own sample, up to itself. `positions` restarts at 0 where a sample
 * starts, so the first key of a row never decreases from row to row. Queries from `seq` on see
 * nothing. */
struct CausalMask {
    const int *positions;
    int64_t token; /* the sequence's first token */
    int seq;

    struct Row {
        int start;

        /* The same row, of which the compiler knows that all threads of a warp have it. */
        __device__ __forceinline__ Row in_warp() const { return {warp_shfl(start, 0)}; }
        __device__ __forceinline__ bool sees(int key) const { return key >= start; }
        /* Whether the query sees any of the keys first to last. Keys after the query are not
         * excluded here. */
        __device__ __forceinline__ bool sees_any(int, int last) const { return start <= last; }
        /* Whether this query and all up to the one of `later` see all keys from first to last. Keys
         * after a query are not excluded here. */
        __device__ __forceinline__ bool sees_all(int first, int, const Row &later) const {
            return later.start <= first;
        }
        /* Over the tiles of `keys` keys that this query or a later one sees: the start of the first
         * tile, and of the one that follows the tile at `base`. */
        __device__ __forceinline__ int first_tile(int keys) const { return start / keys * keys; }
        __device__ __forceinline__ int next_tile(int base, int keys) const { return base + keys; }
    };

    /* What the row of a query is made of, as it is in memory. Queries from `seq` on read nothing. */
    struct Source {
        int position;
    };
    __device__ __forceinline__ Source source(int query) const {
        return {query < seq ? positions[token + query] : 0};
    }
    __device__ __forceinline__ Row row(int query, const Source &from) const {
        return {query < seq ? query - from.position : seq};
    }
    __device__ __forceinline__ Row row(int query) const { return row(query, source(query)); }
};

/* How backward stores rows of dq or dk, from row `first_row` of the results on: as they are. */
template <int HEAD_DIM, class A> struct Unrotated {
    int64_t first_row;

    template <class T>
    __device__ __forceinline__ Vec<T, 16 / sizeof(T)> chunk(const T *values, int, int d) const {
        return load_vec<16 / sizeof(T)>(values + d);
    }
};

/* Rotates rows of one head back, as the op rope_grad does: column d < HALF and column d + HALF are a
 * pair, by the angle whose cosine and sine are in column d of the tables. */
template <int HEAD_DIM, class A> struct UndoRope {
    static constexpr int HALF = HEAD_DIM / 2;
    const int *positions;     /* of all rows, which choose a row of the tables */
    const A *cosines, *sines; /* [positions][HALF] */
    int64_t first_row;        /* of the results */

    static __device__ __forceinline__ bool is_first(int d) { return d < HALF; }
    static __device__ __forceinline__ int partner_of(int d) { return is_first(d) ? d + HALF : d - HALF; }
    static __device__ __forceinline__ A rotated(bool first, A x, A partner, A cosine, A sine) {
        const A x_cos = x * cosine, partner_sin = partner * sine;
        return first ? x_cos + partner_sin : x_cos - partner_sin;
    }

    /* Where the angles of a row begin in the tables, and that of column d within them. */
    __device__ __forceinline__ int64_t angles(int row) const {
        return static_cast<int64_t>(positions[first_row + row]) * HALF;
    }
    static __device__ __forceinline__ int angle(int d) { return is_first(d) ? d : d - HALF; }
    /* Of a row, which `values` points to: the rotated columns from d on that fill 16 bytes. Each half
     * of a head must be a multiple of 16 bytes. */
    template <class T>
    __device__ __forceinline__ Vec<T, 16 / sizeof(T)> chunk(const T *values, int row, int d) const {
        constexpr int ELEMENTS = 16 / sizeof(T);
        const int64_t at = angles(row) + angle(d);
        const auto x = load_vec<ELEMENTS>(values + d), other = load_vec<ELEMENTS>(values + partner_of(d));
        const auto cosine = load_vec<ELEMENTS>(cosines + at), sine = load_vec<ELEMENTS>(sines + at);
        Vec<T, ELEMENTS> y;
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++)
            y[e] = convert<T>(rotated(is_first(d), convert<A>(x[e]), convert<A>(other[e]), cosine[e],
                                      sine[e]));
        return y;
    }
};

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

/* Fills a tile of ROWS x COLS elements. valid_rows x valid_cols of them are in memory, at `from`;
 * the others are zero. */
template <int ROWS, int COLS, int PITCH, int THREADS, class T>
static __device__ __forceinline__ void low_rank_fetch(T *tile, const T *from, int64_t stride,
                                                      int valid_rows, int valid_cols) {
    constexpr int CHUNKS = COLS / 8;
#pragma unroll 4
    for (int e = threadIdx.x; e < ROWS * CHUNKS; e += THREADS) {
        const int row = e / CHUNKS, col = e % CHUNKS * 8;
        const bool inside = row < valid_rows && col < valid_cols;
        cp_async_16(tile + row * PITCH + col, from + (inside ? row * stride + col : 0), inside);
    }
}

/* The sum of four neighbouring elements over PARTS parts, in order. */
template <int PARTS>
static __device__ __forceinline__ Vec<float, 4> low_rank_sum(const float *parts, int64_t stride) {
    Vec<float, 4> sum = load_vec<4>(parts);
#pragma unroll 8
    for (int part = 1; part < PARTS; part++)
        add_onto(sum, load_vec<4>(parts + part * stride));
    return sum;
}

/* The first product of a low-rank path, u = x A^T. A block has TILE_ROWS rows, and goes through their
 * columns COLS at a time: it copies A's columns to shared memory while pointwise steps make a tile of
 * x there, which memory gets too; a kernel without such steps copies the tile from memory. Warps that
 * have the same rows add up different columns in registers; at the end shared memory joins their
 * sums. Padded rows of tiles keep ldmatrix free of bank conflicts; rows of A between RANK and a
 * multiple of 16 are zeros. Several blocks share a multiprocessor, so that one can read memory while
 * another one multiplies. */

/* What follows from a kernel's sizes, in elements. */
template <class Sizes> struct LowRankRows {
    static constexpr int THREADS = Sizes::THREADS, WARPS = THREADS / 32;
    static constexpr int ROWS = Sizes::TILE_ROWS, COLS = 8192 / ROWS, PITCH = COLS + 8;
    static constexpr int WIDE = (Sizes::RANK + 15) / 16 * 16, SUM_PITCH = WIDE + 4;
    static constexpr int SHARES = WARPS / (ROWS / 16); /* warps that have the same rows */
    static constexpr int SHARE_COLS = COLS / SHARES;
};

/* A vector of neighbouring elements of x, which the prologue makes: its place in the tile. */
template <class Sizes, class T> struct LowRankElements {
    static constexpr int COLUMNS = Sizes::FEATURES;
    T *place;
    int first_column;
    __device__ int column(int) const { return first_column; }
    __device__ T *operand(int) const { return place; }
};

/* Adds to u's sums of a warp's 16 rows what the warp's share of the columns contributes. x_tile
 * starts at the first of these rows. */
template <class Rows, class T>
static __device__ __forceinline__ void low_rank_add_u(float (&u)[Rows::WIDE / 8][4],
                                                      const T *x_tile, const T *a_tile) {
    constexpr int PITCH = Rows::PITCH;
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 % Rows::SHARES * Rows::SHARE_COLS;
#pragma unroll
    for (int k = first; k < first + Rows::SHARE_COLS; k += 16) {
        unsigned x[4];
        ldmatrix_x4(x, x_tile + lane % 16 * PITCH + k + lane / 16 * 8);
#pragma unroll
        for (int n = 0; n < Rows::WIDE / 8; n += 2) {
            unsigned a[4]; /* rows 8 n to 8 n + 15 of A */
            ldmatrix_x4(a, a_tile + (n * 8 + lane % 8 + lane / 16 * 8) * PITCH + k + lane / 8 % 2 * 8);
            mma_16816(u[n], x, a, T());
            mma_16816(u[n + 1], x, a + 2, T());
        }
    }
}

/* Adds up the warps' shares of u, and stores `rows` rows. `shares` is [SHARES][ROWS][SUM_PITCH]. */
template <class Rows, class Sizes, class T>
static __device__ __forceinline__ void low_rank_store_u(T *__restrict__ to, float *shares,
                                                        const float (&u)[Rows::WIDE / 8][4],
                                                        int rows, float alpha) {
    constexpr int RANK = Sizes::RANK, SHARES = Rows::SHARES, SUM_PITCH = Rows::SUM_PITCH;
    constexpr int64_t U_STRIDE = Sizes::U_STRIDE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float *share = shares + (warp % SHARES * Rows::ROWS + warp / SHARES * 16) * SUM_PITCH;
#pragma unroll
    for (int i = 0; i < Rows::WIDE / 8 * 2; i++) {
        Vec<float, 2> pair = {{u[i / 2][i % 2 * 2], u[i / 2][i % 2 * 2 + 1]}};
        store_vec(share + (lane / 4 + i % 2 * 8) * SUM_PITCH + i / 2 * 8 + lane % 4 * 2, pair);
    }
    __syncthreads();
    for (int e = threadIdx.x; e < rows * RANK / 4; e += Rows::THREADS) {
        const int row = e / (RANK / 4), col = e % (RANK / 4) * 4;
        const Vec<float, 4> sum = low_rank_sum<SHARES>(shares + row * SUM_PITCH + col,
                                                       Rows::ROWS * SUM_PITCH);
        Vec<T, 4> result;
#pragma unroll
        for (int i = 0; i < 4; i++)
            result[i] = convert<T>(alpha * sum[i]);
        store_vec(to + row * U_STRIDE + col, result);
    }
}

/* Computes the rows of one block. make(row, made) makes VECTOR elements of x, and stores them to
 * memory and to made.operand(0). */
template <class Sizes, class T, class Make>
static __device__ __forceinline__ void low_rank_matmul_tile(const T *__restrict__ a,
                                                            T *__restrict__ u, float alpha,
                                                            const Make &make) {
    using Rows = LowRankRows<Sizes>;
    constexpr int ROWS = Sizes::ROWS, FEATURES = Sizes::FEATURES, RANK = Sizes::RANK;
    constexpr int64_t A_STRIDE = Sizes::A_STRIDE, U_STRIDE = Sizes::U_STRIDE;
    constexpr int TILE_ROWS = Sizes::TILE_ROWS, VECTOR = Sizes::VECTOR, THREADS = Sizes::THREADS;
    constexpr int COLS = Rows::COLS, WIDE = Rows::WIDE, PITCH = Rows::PITCH;

    DYNAMIC_SHARED(T, x_tile);
    T *a_tile = x_tile + TILE_ROWS * PITCH;

    const int first = blockIdx.x * TILE_ROWS, share_row = threadIdx.x / 32 / Rows::SHARES * 16;
    const int rows = ROWS - first < TILE_ROWS ? ROWS - first : TILE_ROWS;
    float sums[WIDE / 8][4] = {};
    for (int first_col = 0; first_col < FEATURES; first_col += COLS) {
        low_rank_fetch<WIDE, COLS, PITCH, THREADS>(a_tile, a + first_col, A_STRIDE, RANK,
                                                   FEATURES - first_col);
        cp_async_commit();
#pragma unroll
        for (int i = 0; i < TILE_ROWS * COLS / VECTOR / THREADS; i++) {
            const int e = i * THREADS + threadIdx.x;
            const int row = e / (COLS / VECTOR), col = e % (COLS / VECTOR) * VECTOR;
            const LowRankElements<Sizes, T> made = {x_tile + row * PITCH + col, first_col + col};
            if (row < rows && first_col + col < FEATURES)
                make(first + row, made);
            else
                store_vec(made.place, Vec<T, VECTOR>{});
        }
        cp_async_wait<0>();
        __syncthreads();
        low_rank_add_u<Rows>(sums, x_tile + share_row * PITCH, a_tile);
        __syncthreads();
    }
    low_rank_store_u<Rows, Sizes>(u + first * U_STRIDE, reinterpret_cast<float *>(x_tile), sums,
                                  rows, alpha);
}

/* block_absmax: the body of 3 kernels. */
static __device__ __forceinline__ void block_absmax_body(
    const __nv_bfloat16 *__restrict__ proj_weight, float *__restrict__ absmax_whole) {
    constexpr int COLS = 64, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane * 2;
    float max = -INFINITY;
    const Vec<__nv_bfloat16, 2> proj_weight_v = load_vec<2>(proj_weight + row * COLS + col);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float proj_weight_j = convert<float>(proj_weight_v[j]);
        max = fmaxf(max, fmaxf(proj_weight_j, -proj_weight_j));
    }
    max = warp_max(max);
    if (lane == 0)
        absmax_whole[row] = max;
}

/* block_absmax over [8, 64]
 * from quantization.quant_type; 0 bytes DRAM, 1.03 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) block_absmax_8x64(
    const __nv_bfloat16 *__restrict__ self_attn_k_proj_weight, float *__restrict__ absmax_whole) {
    block_absmax_body(self_attn_k_proj_weight, absmax_whole);
}

/* quantize_4bit: the body of 3 kernels. */
static __device__ __forceinline__ void quantize_4bit_body(
    const float *__restrict__ absmax_whole, const __nv_bfloat16 *__restrict__ proj_weight_even,
    const float *__restrict__ nf4_bounds, const __nv_bfloat16 *__restrict__ proj_weight_odd,
    uint8_t *__restrict__ codes) {
    constexpr int STRIDE = 2;
    constexpr float LEAST_ABSMAX = 1e-38f;
    const int i = threadIdx.x * 8;
    const float nf4_bounds_value = nf4_bounds[7];
    Vec<__nv_bfloat16, 8> proj_weight_even_v;
#pragma unroll
    for (int j = 0; j < 8; j++)
        proj_weight_even_v[j] = proj_weight_even[(i + j) * STRIDE];
    Vec<__nv_bfloat16, 8> proj_weight_odd_v;
#pragma unroll
    for (int j = 0; j < 8; j++)
        proj_weight_odd_v[j] = proj_weight_odd[(i + j) * STRIDE];
    Vec<uint8_t, 8> codes_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float absmax_whole_j = absmax_whole[(i + j) / 32];
        const float normalized =
            convert<float>(proj_weight_even_v[j]) * (1.0f / fmaxf(absmax_whole_j, LEAST_ABSMAX));
        const int code = nf4_bounds_value < normalized ? 8 : 0;
        const float nf4_bounds_j = nf4_bounds[code + 3];
        const int code_2 = code + (nf4_bounds_j < normalized ? 4 : 0);
        const float nf4_bounds_j_2 = nf4_bounds[code_2 + 1];
        const int code_3 = code_2 + (nf4_bounds_j_2 < normalized ? 2 : 0);
        const float nf4_bounds_j_3 = nf4_bounds[code_3];
        const float normalized_2 =
            convert<float>(proj_weight_odd_v[j]) * (1.0f / fmaxf(absmax_whole_j, LEAST_ABSMAX));
        const int code_4 = nf4_bounds_value < normalized_2 ? 8 : 0;
        const float nf4_bounds_j_4 = nf4_bounds[code_4 + 3];
        const int code_5 = code_4 + (nf4_bounds_j_4 < normalized_2 ? 4 : 0);
        const float nf4_bounds_j_5 = nf4_bounds[code_5 + 1];
        const int code_6 = code_5 + (nf4_bounds_j_5 < normalized_2 ? 2 : 0);
        const float nf4_bounds_j_6 = nf4_bounds[code_6];
        codes_v[j] =
            (code_3 + (nf4_bounds_j_3 < normalized ? 1 : 0)) * 16 +
            (code_6 + (nf4_bounds_j_6 < normalized_2 ? 1 : 0));
    }
    store_vec(codes + i, codes_v);
}

/* quantize_4bit over [1, 256]
 * from quantization.quant_type; 316 bytes DRAM, 8.38 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) quantize_4bit_256(
    const float *__restrict__ absmax_whole, const __nv_bfloat16 *__restrict__ k_proj_weight_even,
    const float *__restrict__ nf4_bounds, const __nv_bfloat16 *__restrict__ k_proj_weight_odd,
    uint8_t *__restrict__ codes) {
    quantize_4bit_body(absmax_whole, k_proj_weight_even, nf4_bounds, k_proj_weight_odd, codes);
}

/* mean over [1, 8]
 * from quantization.quant_type; 4 bytes DRAM, 36 bytes issued, 40 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) mean_8(
    const float *__restrict__ absmax_whole, float *__restrict__ absmax_offset) {
    constexpr int COLS = 8, THREADS = 32;
    const int col = threadIdx.x;
    float sum = 0;
    if (col < COLS) {
        const float absmax_whole_v = absmax_whole[col];
        sum += absmax_whole_v;
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        absmax_offset[0] = sum / 8.0f;
}

/* block_absmax over [1, 256]
 * from quantization.quant_type; 4 bytes DRAM, 1.13 KiB issued, 1.02 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) block_absmax_256(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    float *__restrict__ absmax2) {
    constexpr int THREADS = 32;
    const int col = threadIdx.x * 8;
    const float absmax_offset_value = absmax_offset[0];
    float max = -INFINITY;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float absmax_whole_j = absmax_whole[min(col + j, 7)];
        const float centred = absmax_whole_j - absmax_offset_value;
        max = fmaxf(max, fmaxf(centred, -centred));
    }
    max = block_max<THREADS>(max);
    if (threadIdx.x == 0)
        absmax2[0] = max;
}

/* quantize_absmax: the body of 3 kernels. */
template <class Sizes>
static __device__ __forceinline__ void quantize_absmax_body(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_bounds,
    uint8_t *__restrict__ absmax) {
    constexpr int ELEMENTS = Sizes::ELEMENTS;
    constexpr float LEAST_ABSMAX = 1e-38f;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const float absmax_offset_value = absmax_offset[0];
    const float absmax_bounds_value = absmax_bounds[127];
    const Vec<float, 4> absmax_whole_v = load_vec<4>(absmax_whole + i);
    Vec<uint8_t, 4> absmax_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float absmax2_j = absmax2[(i + j) / 256];
        const float normalized =
            (absmax_whole_v[j] - absmax_offset_value) * (1.0f / fmaxf(absmax2_j, LEAST_ABSMAX));
        const int code = absmax_bounds_value < normalized ? 128 : 0;
        const float absmax_bounds_j = absmax_bounds[code + 63];
        const int code_2 = code + (absmax_bounds_j < normalized ? 64 : 0);
        const float absmax_bounds_j_2 = absmax_bounds[code_2 + 31];
        const int code_3 = code_2 + (absmax_bounds_j_2 < normalized ? 32 : 0);
        const float absmax_bounds_j_3 = absmax_bounds[code_3 + 15];
        const int code_4 = code_3 + (absmax_bounds_j_3 < normalized ? 16 : 0);
        const float absmax_bounds_j_4 = absmax_bounds[code_4 + 7];
        const int code_5 = code_4 + (absmax_bounds_j_4 < normalized ? 8 : 0);
        const float absmax_bounds_j_5 = absmax_bounds[code_5 + 3];
        const int code_6 = code_5 + (absmax_bounds_j_5 < normalized ? 4 : 0);
        const float absmax_bounds_j_6 = absmax_bounds[code_6 + 1];
        const int code_7 = code_6 + (absmax_bounds_j_6 < normalized ? 2 : 0);
        const float absmax_bounds_j_7 = absmax_bounds[code_7];
        absmax_v[j] = code_7 + (absmax_bounds_j_7 < normalized ? 1 : 0);
    }
    store_vec(absmax + i, absmax_v);
}

/* quantize_absmax over [1, 8]
 * from quantization.quant_type; 272 bytes DRAM, 312 bytes issued, 32 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) quantize_absmax_8(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_bounds,
    uint8_t *__restrict__ absmax) {
    struct Sizes {
        enum { ELEMENTS = 8 };
    };
    quantize_absmax_body<Sizes>(absmax_offset, absmax_whole, absmax2, absmax_bounds, absmax);
}

/* block_absmax over [16, 64]
 * from quantization.quant_type; 0 bytes DRAM, 2.06 KiB issued, 3.07 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) block_absmax_16x64(
    const __nv_bfloat16 *__restrict__ self_attn_o_proj_weight, float *__restrict__ absmax_whole) {
    block_absmax_body(self_attn_o_proj_weight, absmax_whole);
}

/* quantize_4bit over [1, 512]
 * from quantization.quant_type; 512 bytes DRAM, 16.8 KiB issued, 3.07 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64) quantize_4bit_512(
    const float *__restrict__ absmax_whole, const __nv_bfloat16 *__restrict__ o_proj_weight_even,
    const float *__restrict__ nf4_bounds, const __nv_bfloat16 *__restrict__ o_proj_weight_odd,
    uint8_t *__restrict__ codes) {
    quantize_4bit_body(absmax_whole, o_proj_weight_even, nf4_bounds, o_proj_weight_odd, codes);
}

/* mean over [1, 16]
 * from quantization.quant_type; 4 bytes DRAM, 68 bytes issued, 48 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) mean_16(
    const float *__restrict__ absmax_whole, float *__restrict__ absmax_offset) {
    constexpr int COLS = 16, THREADS = 32;
    const int col = threadIdx.x;
    float sum = 0;
    if (col < COLS) {
        const float absmax_whole_v = absmax_whole[col];
        sum += absmax_whole_v;
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        absmax_offset[0] = sum / 16.0f;
}

/* block_absmax over [1, 256]
 * from quantization.quant_type; 4 bytes DRAM, 1.13 KiB issued, 1.02 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) block_absmax_256_from_16x1(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    float *__restrict__ absmax2) {
    constexpr int THREADS = 32;
    const int col = threadIdx.x * 8;
    const float absmax_offset_value = absmax_offset[0];
    float max = -INFINITY;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float absmax_whole_j = absmax_whole[min(col + j, 15)];
        const float centred = absmax_whole_j - absmax_offset_value;
        max = fmaxf(max, fmaxf(centred, -centred));
    }
    max = block_max<THREADS>(max);
    if (threadIdx.x == 0)
        absmax2[0] = max;
}

/* quantize_absmax over [1, 16]
 * from quantization.quant_type; 0 bytes DRAM, 624 bytes issued, 64 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) quantize_absmax_16(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_bounds,
    uint8_t *__restrict__ absmax) {
    struct Sizes {
        enum { ELEMENTS = 16 };
    };
    quantize_absmax_body<Sizes>(absmax_offset, absmax_whole, absmax2, absmax_bounds, absmax);
}

/* block_absmax over [24, 64]
 * from quantization.quant_type; 0 bytes DRAM, 3.09 KiB issued, 4.61 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) block_absmax_24x64(
    const __nv_bfloat16 *__restrict__ gate_proj_weight, float *__restrict__ absmax_whole) {
    block_absmax_body(gate_proj_weight, absmax_whole);
}

/* quantize_4bit over [1, 768]
 * from quantization.quant_type; 768 bytes DRAM, 25.1 KiB issued, 4.61 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(96) quantize_4bit_768(
    const float *__restrict__ absmax_whole,
    const __nv_bfloat16 *__restrict__ gate_proj_weight_even, const float *__restrict__ nf4_bounds,
    const __nv_bfloat16 *__restrict__ gate_proj_weight_odd, uint8_t *__restrict__ codes) {
    quantize_4bit_body(absmax_whole, gate_proj_weight_even, nf4_bounds, gate_proj_weight_odd,
        codes);
}

/* mean over [1, 24]
 * from quantization.quant_type; 4 bytes DRAM, 100 bytes issued, 56 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) mean_24(
    const float *__restrict__ absmax_whole, float *__restrict__ absmax_offset) {
    constexpr int COLS = 24, THREADS = 32;
    const int col = threadIdx.x;
    float sum = 0;
    if (col < COLS) {
        const float absmax_whole_v = absmax_whole[col];
        sum += absmax_whole_v;
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        absmax_offset[0] = sum / 24.0f;
}

/* block_absmax over [1, 256]
 * from quantization.quant_type; 4 bytes DRAM, 1.13 KiB issued, 1.02 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(32) block_absmax_256_from_24x1(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    float *__restrict__ absmax2) {
    constexpr int THREADS = 32;
    const int col = threadIdx.x * 8;
    const float absmax_offset_value = absmax_offset[0];
    float max = -INFINITY;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float absmax_whole_j = absmax_whole[min(col + j, 23)];
        const float centred = absmax_whole_j - absmax_offset_value;
        max = fmaxf(max, fmaxf(centred, -centred));
    }
    max = block_max<THREADS>(max);
    if (threadIdx.x == 0)
        absmax2[0] = max;
}

/* quantize_absmax over [1, 24]
 * from quantization.quant_type; 0 bytes DRAM, 936 bytes issued, 96 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) quantize_absmax_24(
    const float *__restrict__ absmax_offset, const float *__restrict__ absmax_whole,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_bounds,
    uint8_t *__restrict__ absmax) {
    struct Sizes {
        enum { ELEMENTS = 24 };
    };
    quantize_absmax_body<Sizes>(absmax_offset, absmax_whole, absmax2, absmax_bounds, absmax);
}

/* rope_table over [16, 8]
 * 1.03 KiB DRAM, 1.50 KiB issued, 384 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) rope_table_16x8(
    const float *__restrict__ inv_freq, float *__restrict__ cos_values,
    float *__restrict__ sin_values) {
    constexpr int COLS = 8;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const float position = static_cast<float>(row);
    const Vec<float, 4> inv_freq_v = load_vec<4>(inv_freq + col);
    Vec<float, 4> cos_values_v;
    Vec<float, 4> sin_values_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float angle = position * inv_freq_v[j];
        cos_values_v[j] = cosf(angle);
        sin_values_v[j] = sinf(angle);
    }
    store_vec(cos_values + i, cos_values_v);
    store_vec(sin_values + i, sin_values_v);
}

/* cast over [4, 32], one per slice (z) of the grid
 * from adapter.r; 768 bytes DRAM, 768 bytes issued per slice */
extern "C" __global__ void __launch_bounds__(32) cast_4x32(
    const float *__restrict__ master, __nv_bfloat16 *__restrict__ border, int64_t master_stride,
    int64_t border_stride) {
    master += blockIdx.z * master_stride;
    border += blockIdx.z * border_stride;
    const int i = threadIdx.x * 4;
    const Vec<float, 4> master_v = load_vec<4>(master + i);
    Vec<__nv_bfloat16, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = convert<__nv_bfloat16>(master_v[j]);
    }
    store_vec(border + i, border_v);
}

/* scale over [32, 4], one per slice (z) of the grid
 * from adapter.r; 768 bytes DRAM, 768 bytes issued, 128 FLOP per slice */
extern "C" __global__ void __launch_bounds__(32) scale_32x4_of_8(
    const float *__restrict__ master, __nv_bfloat16 *__restrict__ border, int64_t master_stride,
    int64_t border_stride) {
    constexpr int COLS = 4, STRIDE = 8;
    constexpr float SCALE = 4.0f;
    master += blockIdx.z * master_stride;
    border += blockIdx.z * border_stride;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> master_v = load_vec<4>(master + i);
    Vec<__nv_bfloat16, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = convert<__nv_bfloat16>(master_v[j] * SCALE);
    }
    store_vec(border + row * STRIDE + col, border_v);
}

/* cast over [4, 48], one per slice (z) of the grid
 * from adapter.r; 1.12 KiB DRAM, 1.12 KiB issued per slice */
extern "C" __global__ void __launch_bounds__(64) cast_4x48(
    const float *__restrict__ master, __nv_bfloat16 *__restrict__ border, int64_t master_stride,
    int64_t border_stride) {
    constexpr int ELEMENTS = 192;
    master += blockIdx.z * master_stride;
    border += blockIdx.z * border_stride;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const Vec<float, 4> master_v = load_vec<4>(master + i);
    Vec<__nv_bfloat16, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = convert<__nv_bfloat16>(master_v[j]);
    }
    store_vec(border + i, border_v);
}

/* embedding, rms_norm over [32, 32]
 * from model.vocab_size; 128 bytes DRAM, 12.0 KiB issued, 7.17 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) embedding_rms_norm_32x32_of_40(
    const int *__restrict__ input_ids, const __nv_bfloat16 *__restrict__ weight,
    const __nv_bfloat16 *__restrict__ input_layernorm_weight,
    __nv_bfloat16 *__restrict__ embed_tokens, __nv_bfloat16 *__restrict__ input_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 40;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const int input_ids_row = input_ids[row];
    float sum = 0;
    const __nv_bfloat16 weight_v = weight[input_ids_row * COLS + col];
    const float weight_j = convert<float>(weight_v);
    embed_tokens[row * COLS + col] = convert<__nv_bfloat16>(weight_j);
    sum = fmaf(weight_j, weight_j, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const __nv_bfloat16 input_layernorm_weight_v = input_layernorm_weight[col];
    input_layernorm[row * STRIDE + col] =
        convert<__nv_bfloat16>(weight_j * rstd * convert<float>(input_layernorm_weight_v));
}

/* decode_4bit: the body of 2 kernels. */
template <class Sizes>
static __device__ __forceinline__ void decode_4bit_body(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    constexpr int COLS = 64, RUN = 2, CODES_STRIDE = 32, RESULT_COLS = Sizes::RESULT_COLS,
        DECODED_STRIDE = Sizes::DECODED_STRIDE;
    const int i = threadIdx.x * 8;
    const int row = i / COLS, col = i % COLS;
    const int absmax_row = absmax[row];
    const int group = row / 256;
    const float absmax2_row = absmax2[group];
    const float absmax_map_row = absmax_map[absmax_row];
    const float absmax_offset_value = absmax_offset[0];
    const float scale = absmax_map_row * absmax2_row + absmax_offset_value;
    const Vec<uint8_t, 4> codes_v = load_vec<4>(codes + row * CODES_STRIDE + col / RUN);
    Vec<__nv_bfloat16, 8> decoded_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float nf4_map_j =
            nf4_map[(col + j) % 2 == 1 ? codes_v[j / 2] % 16 : codes_v[j / 2] / 16];
        decoded_v[j] = convert<__nv_bfloat16>(nf4_map_j * scale);
    }
    store_vec(decoded + i / RESULT_COLS * DECODED_STRIDE + i % RESULT_COLS, decoded_v);
}

/* decode_4bit over [16, 64]
 * from quantization.quant_type; 0 bytes DRAM, 8.12 KiB issued, 1.28 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128) decode_4bit_16x64_of_40(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    struct Sizes {
        enum { RESULT_COLS = 32, DECODED_STRIDE = 40 };
    };
    decode_4bit_body<Sizes>(codes, absmax, absmax2, absmax_map, absmax_offset, nf4_map, decoded);
}

/* copy: the body of 2 kernels. */
template <class Sizes>
static __device__ __forceinline__ void copy_body(
    const __nv_bfloat16 *__restrict__ right, __nv_bfloat16 *__restrict__ weight_decoded_right) {
    constexpr int COLS = 8, STRIDE = Sizes::STRIDE;
    const int i = threadIdx.x * 8;
    const int row = i / COLS, col = i % COLS;
    const Vec<__nv_bfloat16, 8> right_v = load_vec<8>(right + i);
    Vec<__nv_bfloat16, 8> weight_decoded_right_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        weight_decoded_right_v[j] = convert<__nv_bfloat16>(convert<float>(right_v[j]));
    }
    store_vec(weight_decoded_right + row * STRIDE + col, weight_decoded_right_v);
}

/* copy over [32, 8]
 * from quantization.quant_type; 0 bytes DRAM, 1.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(32) copy_32x8_of_40(
    const __nv_bfloat16 *__restrict__ right, __nv_bfloat16 *__restrict__ weight_decoded_right) {
    struct Sizes {
        enum { STRIDE = 40 };
    };
    copy_body<Sizes>(right, weight_decoded_right);
}

/* decode_4bit: the body of 4 kernels. */
static __device__ __forceinline__ void decode_4bit_body_2(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    constexpr int COLS = 64, RUN = 2, CODES_STRIDE = 32;
    const int i = threadIdx.x * 8;
    const int row = i / COLS, col = i % COLS;
    const int absmax_row = absmax[row];
    const int group = row / 256;
    const float absmax2_row = absmax2[group];
    const float absmax_map_row = absmax_map[absmax_row];
    const float absmax_offset_value = absmax_offset[0];
    const float scale = absmax_map_row * absmax2_row + absmax_offset_value;
    const Vec<uint8_t, 4> codes_v = load_vec<4>(codes + row * CODES_STRIDE + col / RUN);
    Vec<__nv_bfloat16, 8> decoded_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float nf4_map_j =
            nf4_map[(col + j) % 2 == 1 ? codes_v[j / 2] % 16 : codes_v[j / 2] / 16];
        decoded_v[j] = convert<__nv_bfloat16>(nf4_map_j * scale);
    }
    store_vec(decoded + i, decoded_v);
}

/* decode_4bit over [8, 64]
 * from quantization.quant_type; 0 bytes DRAM, 4.06 KiB issued, 640 FLOP per launch */
extern "C" __global__ void __launch_bounds__(64) decode_4bit_8x64(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    decode_4bit_body_2(codes, absmax, absmax2, absmax_map, absmax_offset, nf4_map, decoded);
}

/* rope over [32, 24]
 * 128 bytes DRAM, 12.8 KiB issued, 4.61 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) rope_32x24(
    const int *__restrict__ positions, const float *__restrict__ cos_values,
    const float *__restrict__ sin_values, __nv_bfloat16 *__restrict__ q_k_rope_x) {
    constexpr int COLS = 24, PERIOD = 8, COS_VALUES_STRIDE = 8, SIN_VALUES_STRIDE = 8,
        HALF_HEAD = 8, Q_K_ROPE_X_STRIDE = 48;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int positions_row = positions[row];
    const Vec<float, 4> cos_values_v =
        load_vec<4>(cos_values + positions_row * COS_VALUES_STRIDE + col % PERIOD);
    const Vec<float, 4> sin_values_v =
        load_vec<4>(sin_values + positions_row * SIN_VALUES_STRIDE + col % PERIOD);
    const Vec<__nv_bfloat16, 4> x1_v =
        load_vec<4>(q_k_rope_x + row * Q_K_ROPE_X_STRIDE + col + col / HALF_HEAD * HALF_HEAD);
    const Vec<__nv_bfloat16, 4> x2_v =
        load_vec<4>(q_k_rope_x + row * Q_K_ROPE_X_STRIDE + col + (col / HALF_HEAD + 1) * HALF_HEAD);
    Vec<__nv_bfloat16, 4> y1_v;
    Vec<__nv_bfloat16, 4> y2_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float x1 = convert<float>(x1_v[j]);
        const float x2 = convert<float>(x2_v[j]);
        y1_v[j] = convert<__nv_bfloat16>(x1 * cos_values_v[j] - x2 * sin_values_v[j]);
        y2_v[j] = convert<__nv_bfloat16>(x2 * cos_values_v[j] + x1 * sin_values_v[j]);
    }
    store_vec(q_k_rope_x + row * Q_K_ROPE_X_STRIDE + col + col / HALF_HEAD * HALF_HEAD, y1_v);
    store_vec(q_k_rope_x + row * Q_K_ROPE_X_STRIDE + col + (col / HALF_HEAD + 1) * HALF_HEAD, y2_v);
}

/* attention (forward of template attention_mma.cu)
 * from model.num_attention_heads; 128 bytes DRAM, 11.8 KiB issued, 34.8 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128)
attention_forward_16x2x16(
    const __nv_bfloat16 *__restrict__ q,
    const __nv_bfloat16 *__restrict__ k,
    const __nv_bfloat16 *__restrict__ v,
    const int *__restrict__ positions,
    __nv_bfloat16 *__restrict__ o, float *__restrict__ lse) {
    using T = __nv_bfloat16;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 16;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int64_t Q_STRIDE = 48, K_STRIDE = 48;
    constexpr int64_t V_STRIDE = 16, O_STRIDE = 32;
    constexpr float SCALE = 0.25f;
    constexpr float SCALE2 = SCALE * LOG2E;
    constexpr int WARPS = 4, ROW_TILES = 2;
    constexpr int KEYS = 64;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int WIDTH = (HEAD_DIM + 15) / 16 * 16, PITCH = WIDTH + 16 / sizeof(T);

    DYNAMIC_SHARED(T, q_tile);               /* [ROWS][PITCH] */
    T *k_tiles = q_tile + ROWS * PITCH;      /* [2][KEYS][PITCH] */
    T *v_tiles = k_tiles + 2 * KEYS * PITCH; /* [2][KEYS][PITCH] */

    /* Blocks start in the order of their index: the longest rows of all heads and sequences first.
     * `token` is the first one of the sequence. */
    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int query = warp_first + lane / 4; /* of this lane's first row */
    const Mask mask = {positions, token, SEQ};
    const auto fetch = [&](int base, int stage) {
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            k_tiles + stage * KEYS * PITCH, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            v_tiles + stage * KEYS * PITCH, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        cp_async_commit();
    };

    const Mask::Row block_row = mask.row(first);
    const Mask::Row warp_row = mask.row(warp_first), warp_last_row = mask.row(warp_last);
    const int begin = block_row.first_tile(KEYS);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    fetch(begin, 0);

    float peak[ROW_TILES][2], total[ROW_TILES][2], sums[ROW_TILES][WIDTH / 8][4] = {};
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        peak[r / 2][r % 2] = ATTENTION_LOWEST;
        total[r / 2][r % 2] = 0;
    }
    T *own = q_tile + warp * WARP_ROWS * PITCH;
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        __syncthreads(); /* this tile has arrived, and the other stage may be overwritten */
        next = block_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        if (base > warp_last || !warp_row.sees_any(base, base_last))
            continue;
        float scores[ROW_TILES][KEYS / 8][4], shrink[ROW_TILES][2];
        attention_dots<WIDTH, PITCH>(scores, own, k_tiles + stage * KEYS * PITCH);
        if (base_last > warp_first || !warp_row.sees_all(base, base_last, warp_last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
        attention_softmax(scores, peak, total, shrink, SCALE2);
        attention_shrink(sums, shrink);
        attention_add<PITCH>(sums, scores, v_tiles + stage * KEYS * PITCH);
    }
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        float &sum = total[r / 2][r % 2];
        sum += warp_shfl_xor(sum, 1);
        sum += warp_shfl_xor(sum, 2);
        if (lane % 4 == 0 && query + r * 8 < SEQ)
            lse[(token + query + r * 8) * HEADS + head] = peak[r / 2][r % 2] * SCALE + logf(sum);
        sum = 1 / sum;
    }
    attention_store<PITCH>(o + (token + warp_first) * O_STRIDE + head * HEAD_DIM, O_STRIDE,
                           SEQ - warp_first, HEAD_DIM, own, sums, total);
}

/* decode_4bit over [16, 64]
 * from quantization.quant_type; 0 bytes DRAM, 8.12 KiB issued, 1.28 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128) decode_4bit_16x64(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    decode_4bit_body_2(codes, absmax, absmax2, absmax_map, absmax_offset, nf4_map, decoded);
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 0 bytes DRAM, 10.1 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32(
    const __nv_bfloat16 *__restrict__ embed_tokens,
    const __nv_bfloat16 *__restrict__ self_attn_o_proj, const __nv_bfloat16 *__restrict__ weight,
    __nv_bfloat16 *__restrict__ attn_residual, float *__restrict__ post_attention_layernorm_rstd,
    __nv_bfloat16 *__restrict__ post_attention_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const __nv_bfloat16 embed_tokens_v = embed_tokens[row * COLS + col];
    const __nv_bfloat16 self_attn_o_proj_v = self_attn_o_proj[row * COLS + col];
    const float attn_residual_j =
        convert<float>(embed_tokens_v) + convert<float>(self_attn_o_proj_v);
    attn_residual[row * COLS + col] = convert<__nv_bfloat16>(attn_residual_j);
    const float attn_residual_rounded = rounded<__nv_bfloat16>(attn_residual_j);
    sum = fmaf(attn_residual_rounded, attn_residual_rounded, sum);
    sum = warp_sum(sum);
    const float post_attention_layernorm_rstd_row = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    if (lane == 0)
        post_attention_layernorm_rstd[row] = post_attention_layernorm_rstd_row;
    const __nv_bfloat16 weight_v = weight[col];
    const float post_attention_layernorm_j =
        attn_residual_rounded * post_attention_layernorm_rstd_row * convert<float>(weight_v);
    post_attention_layernorm[row * COLS + col] = convert<__nv_bfloat16>(post_attention_layernorm_j);
}

/* decode_4bit over [24, 64]
 * from quantization.quant_type; 0 bytes DRAM, 12.2 KiB issued, 1.92 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) decode_4bit_24x64(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    decode_4bit_body_2(codes, absmax, absmax2, absmax_map, absmax_offset, nf4_map, decoded);
}

/* swiglu, low_rank_matmul (pointwise_low_rank_matmul of template low_rank_matmul_mma.cu)
 * from adapter.r; 0 bytes DRAM, 11.0 KiB issued, 29.2 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256, 4)
swiglu_low_rank_matmul_32x48x8_of_56(
    const __nv_bfloat16 *__restrict__ a, __nv_bfloat16 *__restrict__ u,
    const __nv_bfloat16 *__restrict__ gate_proj, const __nv_bfloat16 *__restrict__ up_proj,
    __nv_bfloat16 *__restrict__ mlp_act) {
    struct Sizes {
        enum { ROWS = 32, FEATURES = 48, RANK = 8 };
        enum { A_STRIDE = 48, U_STRIDE = 56 };
        enum { TILE_ROWS = 16, VECTOR = 8 };
        enum { THREADS = 256 };
    };
    constexpr int MLP_ACT_STRIDE = 56;
    using Made = LowRankElements<Sizes, __nv_bfloat16>;
    constexpr float ALPHA = 1.0f;
    low_rank_matmul_tile<Sizes>(a, u, ALPHA, [&](int row, const Made &tile) {
        const int col = tile.column(0);
        const Vec<__nv_bfloat16, 8> gate_proj_v = load_vec<8>(gate_proj + row * tile.COLUMNS + col);
        const Vec<__nv_bfloat16, 8> up_proj_v = load_vec<8>(up_proj + row * tile.COLUMNS + col);
        Vec<__nv_bfloat16, 8> mlp_act_v;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float gate_proj_j = convert<float>(gate_proj_v[j]);
            const float mlp_act_j =
                gate_proj_j * sigmoid_approx(gate_proj_j) * convert<float>(up_proj_v[j]);
            mlp_act_v[j] = convert<__nv_bfloat16>(mlp_act_j);
        }
        store_vec(mlp_act + row * MLP_ACT_STRIDE + col, mlp_act_v);
        store_vec(tile.operand(0), mlp_act_v);
    });
}

/* decode_4bit over [24, 64]
 * from quantization.quant_type; 0 bytes DRAM, 12.2 KiB issued, 1.92 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) decode_4bit_24x64_of_56(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    struct Sizes {
        enum { RESULT_COLS = 48, DECODED_STRIDE = 56 };
    };
    decode_4bit_body<Sizes>(codes, absmax, absmax2, absmax_map, absmax_offset, nf4_map, decoded);
}

/* copy over [32, 8]
 * from quantization.quant_type; 0 bytes DRAM, 1.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(32) copy_32x8_of_56(
    const __nv_bfloat16 *__restrict__ right, __nv_bfloat16 *__restrict__ weight_decoded_right) {
    struct Sizes {
        enum { STRIDE = 56 };
    };
    copy_body<Sizes>(right, weight_decoded_right);
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 0 bytes DRAM, 10.1 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32_of_40(
    const __nv_bfloat16 *__restrict__ attn_residual, const __nv_bfloat16 *__restrict__ down_proj,
    const __nv_bfloat16 *__restrict__ weight, __nv_bfloat16 *__restrict__ mlp_residual,
    float *__restrict__ input_layernorm_rstd, __nv_bfloat16 *__restrict__ input_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 40;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const __nv_bfloat16 attn_residual_v = attn_residual[row * COLS + col];
    const __nv_bfloat16 down_proj_v = down_proj[row * COLS + col];
    const float mlp_residual_j = convert<float>(attn_residual_v) + convert<float>(down_proj_v);
    mlp_residual[row * COLS + col] = convert<__nv_bfloat16>(mlp_residual_j);
    const float mlp_residual_rounded = rounded<__nv_bfloat16>(mlp_residual_j);
    sum = fmaf(mlp_residual_rounded, mlp_residual_rounded, sum);
    sum = warp_sum(sum);
    const float input_layernorm_rstd_row = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    if (lane == 0)
        input_layernorm_rstd[row] = input_layernorm_rstd_row;
    const __nv_bfloat16 weight_v = weight[col];
    const float input_layernorm_j =
        mlp_residual_rounded * input_layernorm_rstd_row * convert<float>(weight_v);
    input_layernorm[row * STRIDE + col] = convert<__nv_bfloat16>(input_layernorm_j);
}

/* cross_entropy, cross_entropy_grad over [32, 64]
 * from training.task; 132 bytes DRAM, 20.1 KiB issued, 21.5 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_cross_entropy_grad_32x64(
    __nv_bfloat16 *__restrict__ lm_head, const int *__restrict__ labels,
    const float *__restrict__ loss_weight, const float *__restrict__ loss_grad,
    float *__restrict__ loss_rows) {
    constexpr int COLS = 64, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane * 2;
    const int labels_row = labels[row];
    const float loss_weight_value = loss_weight[0];
    const bool has_target = labels_row >= 0;
    const float loss_grad_value = loss_grad[0];
    const float scale = loss_weight_value * loss_grad_value;
    SumOfExps<float> exps;
    float target = 0;
    const Vec<__nv_bfloat16, 2> lm_head_v = load_vec<2>(lm_head + row * COLS + col);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float lm_head_j = convert<float>(lm_head_v[j]);
        exps.add(lm_head_j);
        target += col + j == labels_row ? lm_head_j : 0.0f;
    }
    const float lse = warp_lse(exps);
    target = warp_sum(target);
    if (lane == 0)
        loss_rows[row] = has_target ? (lse - target) * loss_weight_value : 0.0f;
    Vec<__nv_bfloat16, 2> new_lm_head_v;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float softmax = expf(convert<float>(lm_head_v[j]) - lse);
        const float lm_head_j =
            has_target ? (col + j == labels_row ? softmax - 1.0f : softmax) * scale : 0.0f;
        new_lm_head_v[j] = convert<__nv_bfloat16>(lm_head_j);
    }
    store_vec(lm_head + row * COLS + col, new_lm_head_v);
}

/* sum, add over [1, 32]
 * from training.task; 0 bytes DRAM, 260 bytes issued, 64 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) sum_add_32(
    const float *__restrict__ loss_rows, float *__restrict__ step_loss) {
    constexpr int THREADS = 32;
    const int col = threadIdx.x;
    const float step_loss_value = step_loss[0];
    float loss = 0;
    const float loss_rows_v = loss_rows[col];
    loss += loss_rows_v;
    loss = block_sum<THREADS>(loss);
    if (threadIdx.x == 0)
        step_loss[0] = step_loss_value + loss;
}

/* rms_norm_grad over [32, 32]
 * 0 bytes DRAM, 12.0 KiB issued, 10.2 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_grad_32x32_of_40(
    const __nv_bfloat16 *__restrict__ mlp_residual, const __nv_bfloat16 *__restrict__ weight,
    const float *__restrict__ model_norm_rstd, const __nv_bfloat16 *__restrict__ model_norm_grad,
    __nv_bfloat16 *__restrict__ mlp_residual_grad) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 40;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const float model_norm_rstd_row = model_norm_rstd[row];
    float sum = 0;
    const __nv_bfloat16 mlp_residual_v = mlp_residual[row * COLS + col];
    const __nv_bfloat16 weight_v = weight[col];
    const __nv_bfloat16 model_norm_grad_v = model_norm_grad[row * COLS + col];
    sum =
        fmaf(convert<float>(model_norm_grad_v) * convert<float>(weight_v),
            convert<float>(mlp_residual_v) * model_norm_rstd_row, sum);
    sum = warp_sum(sum);
    const float mean = sum * (1.0f / COLS);
    const float off_xhat =
        convert<float>(model_norm_grad_v) * convert<float>(weight_v) -
        convert<float>(mlp_residual_v) * model_norm_rstd_row * mean;
    mlp_residual_grad[row * STRIDE + col] = convert<__nv_bfloat16>(model_norm_rstd_row * off_xhat);
}

/* narrow_linear_weight_grad over [32, 48]
 * from adapter.r; 0 bytes DRAM, 5.25 KiB issued, 12.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) narrow_linear_weight_grad_32x48(
    const __nv_bfloat16 *__restrict__ mlp_act, const __nv_bfloat16 *__restrict__ down_proj_u_grad,
    float *__restrict__ weight_grad) {
    constexpr int COLS = 48, ROWS_PER_WORKER = 32, LANES = 6, PARTS = 32,
        DOWN_PROJ_U_GRAD_STRIDE = 40, MLP_ACT_STRIDE = 56, THREADS = 192;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 8;
    Vec<float, 8> total_0 = {};
    Vec<float, 8> total_1 = {};
    Vec<float, 8> total_2 = {};
    Vec<float, 8> total_3 = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = convert<float>(down_proj_u_grad[row * DOWN_PROJ_U_GRAD_STRIDE + 0]);
        const float dy_1 = convert<float>(down_proj_u_grad[row * DOWN_PROJ_U_GRAD_STRIDE + 1]);
        const float dy_2 = convert<float>(down_proj_u_grad[row * DOWN_PROJ_U_GRAD_STRIDE + 2]);
        const float dy_3 = convert<float>(down_proj_u_grad[row * DOWN_PROJ_U_GRAD_STRIDE + 3]);
        const Vec<__nv_bfloat16, 8> mlp_act_v = load_vec<8>(mlp_act + row * MLP_ACT_STRIDE + col);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float mlp_act_j = convert<float>(mlp_act_v[j]);
            total_0[j] = fmaf(dy_0, mlp_act_j, total_0[j]);
            total_1[j] = fmaf(dy_1, mlp_act_j, total_1[j]);
            total_2[j] = fmaf(dy_2, mlp_act_j, total_2[j]);
            total_3[j] = fmaf(dy_3, mlp_act_j, total_3[j]);
        }
    }
    SHARED Vec<float, 8> sums[THREADS];
    total_0 = sum_of_parts<PARTS, LANES>(sums, total_0);
    total_1 = sum_of_parts<PARTS, LANES>(sums, total_1);
    total_2 = sum_of_parts<PARTS, LANES>(sums, total_2);
    total_3 = sum_of_parts<PARTS, LANES>(sums, total_3);
    if (part > 0)
        return;
    store_vec(weight_grad + worker * COLS + col, convert_vec<float>(total_0));
    store_vec(weight_grad + worker * COLS + COLS + col, convert_vec<float>(total_1));
    store_vec(weight_grad + worker * COLS + 2 * COLS + col, convert_vec<float>(total_2));
    store_vec(weight_grad + worker * COLS + 3 * COLS + col, convert_vec<float>(total_3));
}

/* decode_4bit over [24, 64]
 * from quantization.quant_type; 0 bytes DRAM, 12.2 KiB issued, 1.92 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) decode_4bit_24x64_to_32x48(
    const uint8_t *__restrict__ codes, const uint8_t *__restrict__ absmax,
    const float *__restrict__ absmax2, const float *__restrict__ absmax_map,
    const float *__restrict__ absmax_offset, const float *__restrict__ nf4_map,
    __nv_bfloat16 *__restrict__ decoded) {
    decode_4bit_body_2(codes, absmax, absmax2, absmax_map, absmax_offset, nf4_map, decoded);
}

/* copy over [8, 48]
 * from quantization.quant_type; 0 bytes DRAM, 1.50 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(64) copy_8x48(
    const __nv_bfloat16 *__restrict__ below, __nv_bfloat16 *__restrict__ weight_decoded_below) {
    constexpr int ELEMENTS = 384;
    const int i = threadIdx.x * 8;
    if (i >= ELEMENTS)
        return;
    const Vec<__nv_bfloat16, 8> below_v = load_vec<8>(below + i);
    Vec<__nv_bfloat16, 8> weight_decoded_below_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        weight_decoded_below_v[j] = convert<__nv_bfloat16>(convert<float>(below_v[j]));
    }
    store_vec(weight_decoded_below + i, weight_decoded_below_v);
}

/* swiglu_grad over [32, 48]
 * from model.intermediate_size; 0 bytes DRAM, 15.0 KiB issued, 13.8 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) swiglu_grad_32x48(
    const __nv_bfloat16 *__restrict__ gate_proj, const __nv_bfloat16 *__restrict__ up_proj,
    const __nv_bfloat16 *__restrict__ mlp_act_grad, __nv_bfloat16 *__restrict__ act_grad_gate,
    __nv_bfloat16 *__restrict__ act_grad_up) {
    const int i = threadIdx.x * 8;
    const Vec<__nv_bfloat16, 8> gate_proj_v = load_vec<8>(gate_proj + i);
    const Vec<__nv_bfloat16, 8> up_proj_v = load_vec<8>(up_proj + i);
    const Vec<__nv_bfloat16, 8> mlp_act_grad_v = load_vec<8>(mlp_act_grad + i);
    Vec<__nv_bfloat16, 8> act_grad_gate_v;
    Vec<__nv_bfloat16, 8> act_grad_up_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float gate_proj_j = convert<float>(gate_proj_v[j]);
        const float mlp_act_grad_j = convert<float>(mlp_act_grad_v[j]);
        const float sigmoid = sigmoid_approx(gate_proj_j);
        const float act_grad_gate_j =
            mlp_act_grad_j * convert<float>(up_proj_v[j]) *
            (sigmoid * (1.0f + gate_proj_j * (1.0f - sigmoid)));
        act_grad_gate_v[j] = convert<__nv_bfloat16>(act_grad_gate_j);
        act_grad_up_v[j] = convert<__nv_bfloat16>(mlp_act_grad_j * (gate_proj_j * sigmoid));
    }
    store_vec(act_grad_gate + i, act_grad_gate_v);
    store_vec(act_grad_up + i, act_grad_up_v);
}

/* rms_norm_grad, add over [32, 32]
 * 0 bytes DRAM, 14.0 KiB issued, 11.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_grad_add_32x32(
    const __nv_bfloat16 *__restrict__ attn_residual, const __nv_bfloat16 *__restrict__ weight,
    const float *__restrict__ post_attention_layernorm_rstd,
    const __nv_bfloat16 *__restrict__ post_attention_layernorm_grad,
    const __nv_bfloat16 *__restrict__ mlp_residual_grad,
    __nv_bfloat16 *__restrict__ attn_residual_grad) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 40;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const float post_attention_layernorm_rstd_row = post_attention_layernorm_rstd[row];
    float sum = 0;
    const __nv_bfloat16 attn_residual_v = attn_residual[row * COLS + col];
    const __nv_bfloat16 weight_v = weight[col];
    const __nv_bfloat16 post_attention_layernorm_grad_v =
        post_attention_layernorm_grad[row * COLS + col];
    const float xhat = convert<float>(attn_residual_v) * post_attention_layernorm_rstd_row;
    const float dxhat = convert<float>(post_attention_layernorm_grad_v) * convert<float>(weight_v);
    sum = fmaf(dxhat, xhat, sum);
    sum = warp_sum(sum);
    const float mean = sum * (1.0f / COLS);
    const __nv_bfloat16 mlp_residual_grad_v = mlp_residual_grad[row * STRIDE + col];
    const float attn_residual_grad_part_rounded =
        rounded<__nv_bfloat16>(post_attention_layernorm_rstd_row * (dxhat - xhat * mean));
    const float attn_residual_grad_j =
        convert<float>(mlp_residual_grad_v) + attn_residual_grad_part_rounded;
    attn_residual_grad[row * COLS + col] = convert<__nv_bfloat16>(attn_residual_grad_j);
}

/* attention_grad (backward_q of template attention_mma.cu)
 * from model.num_attention_heads; 128 bytes DRAM, 18.8 KiB issued, 52.2 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128)
attention_backward_q_16x2x16(
    const __nv_bfloat16 *__restrict__ q,
    const __nv_bfloat16 *__restrict__ k,
    const __nv_bfloat16 *__restrict__ v,
    const int *__restrict__ positions,
    const __nv_bfloat16 *__restrict__ o,
    const float *__restrict__ lse,
    const __nv_bfloat16 *__restrict__ d_o,
    float *__restrict__ delta, __nv_bfloat16 *__restrict__ dq) {
    using T = __nv_bfloat16;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 16;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int64_t Q_STRIDE = 48, K_STRIDE = 48;
    constexpr int64_t V_STRIDE = 16, O_STRIDE = 32;
    constexpr int64_t DO_STRIDE = 32, DQ_STRIDE = 32;
    constexpr float SCALE = 0.25f;
    constexpr int WARPS = 4, ROW_TILES = 2;
    constexpr int KEYS = 64;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int ELEMENTS = 16 / sizeof(T);
    constexpr int WIDTH = (HEAD_DIM + 15) / 16 * 16, PITCH = WIDTH + ELEMENTS;

    DYNAMIC_SHARED(T, q_tile);               /* [ROWS][PITCH] */
    T *do_tile = q_tile + ROWS * PITCH;      /* [ROWS][PITCH] */
    T *k_tiles = do_tile + ROWS * PITCH;     /* [2][KEYS][PITCH] */
    T *v_tiles = k_tiles + 2 * KEYS * PITCH; /* [2][KEYS][PITCH] */

    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int query = warp_first + lane / 4;
    const Mask mask = {positions, token, SEQ};
    const auto fetch = [&](int base, int stage) {
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            k_tiles + stage * KEYS * PITCH, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            v_tiles + stage * KEYS * PITCH, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        cp_async_commit();
    };

    const Mask::Row block_row = mask.row(first);
    const Mask::Row warp_row = mask.row(warp_first), warp_last_row = mask.row(warp_last);
    const int begin = block_row.first_tile(KEYS);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        do_tile, d_o + (token + first) * DO_STRIDE + head * HEAD_DIM, DO_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    fetch(begin, 0);

    /* The four lanes that hold a row's scores share its delta. */
    float lse2[ROW_TILES][2], row_delta[ROW_TILES][2], scale[ROW_TILES][2];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        const int i = query + r * 8;
        const bool inside = i < SEQ;
        const float sum =
            attention_delta(o + (token + i) * O_STRIDE + head * HEAD_DIM,
                            d_o + (token + i) * DO_STRIDE + head * HEAD_DIM, HEAD_DIM, inside);
        if (inside && lane % 4 == 0)
            delta[(token + i) * HEADS + head] = sum;
        row_delta[r / 2][r % 2] = sum;
        lse2[r / 2][r % 2] = inside ? lse[(token + i) * HEADS + head] * LOG2E : 0;
        scale[r / 2][r % 2] = SCALE;
    }

    float sums[ROW_TILES][WIDTH / 8][4] = {};
    T *own = q_tile + warp * WARP_ROWS * PITCH, *own_do = do_tile + warp * WARP_ROWS * PITCH;
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        __syncthreads();
        next = block_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        if (base > warp_last || !warp_row.sees_any(base, base_last))
            continue;
        float scores[ROW_TILES][KEYS / 8][4], ds[ROW_TILES][KEYS / 8][4];
        attention_dots<WIDTH, PITCH>(scores, own, k_tiles + stage * KEYS * PITCH);
        if (base_last > warp_first || !warp_row.sees_all(base, base_last, warp_last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
        attention_dots<WIDTH, PITCH>(ds, own_do, v_tiles + stage * KEYS * PITCH);
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const float p =
                        exp2_or_zero(fmaf(scores[m][n][c], SCALE * LOG2E, -lse2[m][c / 2]));
                    ds[m][n][c] = p * (ds[m][n][c] - row_delta[m][c / 2]);
                }
        attention_add<PITCH>(sums, ds, k_tiles + stage * KEYS * PITCH);
    }
    const Unrotated<HEAD_DIM, float> rotation = {
        token + warp_first};
    attention_store<PITCH>(dq + (token + warp_first) * DQ_STRIDE + head * HEAD_DIM, DQ_STRIDE,
                           SEQ - warp_first, HEAD_DIM, own, sums, scale, rotation);
}

/* attention_grad (backward_kv of template attention_mma.cu)
 * from model.num_attention_heads; 128 bytes DRAM, 9.75 KiB issued, 69.6 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128)
attention_backward_kv_16x2x16(
    const __nv_bfloat16 *__restrict__ q,
    const __nv_bfloat16 *__restrict__ k,
    const __nv_bfloat16 *__restrict__ v,
    const int *__restrict__ positions,
    const float *__restrict__ lse, const float *__restrict__ delta,
    const __nv_bfloat16 *__restrict__ d_o,
    __nv_bfloat16 *__restrict__ dk,
    __nv_bfloat16 *__restrict__ dv) {
    using T = __nv_bfloat16;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 16;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int GROUP = HEADS / KV_HEADS;
    constexpr int64_t Q_STRIDE = 48, K_STRIDE = 48;
    constexpr int64_t V_STRIDE = 16, DO_STRIDE = 32;
    constexpr int64_t DK_STRIDE = 16, DV_STRIDE = 16;
    constexpr float SCALE = 0.25f;
    constexpr int WARPS = 4, ROW_TILES = 2;
    constexpr int QUERIES = 32;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int SPLIT = HEAD_DIM > 128 ? 2 : 1;
    constexpr int WIDTH = (HEAD_DIM + 16 * SPLIT - 1) / (16 * SPLIT) * 16 * SPLIT;
    constexpr int COLUMNS = WIDTH / SPLIT, PITCH = WIDTH + 16 / sizeof(T);

    DYNAMIC_SHARED(T, k_tile);                  /* [ROWS][PITCH] */
    T *v_tile = k_tile + ROWS * PITCH;          /* [ROWS][PITCH] */
    T *q_tiles = v_tile + ROWS * PITCH;         /* [2][QUERIES][PITCH] */
    T *do_tiles = q_tiles + 2 * QUERIES * PITCH; /* [2][QUERIES][PITCH] */

    const int first = blockIdx.z * ROWS, last = first + ROWS - 1;
    const int kv_head = blockIdx.x / SPLIT, column = blockIdx.x % SPLIT * COLUMNS;
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int key = warp_first + lane / 4; /* of this lane's first row */

    const Mask mask = {positions, token, SEQ};
    AttentionQueries<QUERIES, Mask> queries(
        reinterpret_cast<float *>(do_tiles + 2 * QUERIES * PITCH), mask);
    const AttentionVisits<QUERIES, GROUP> visits(mask, first, last);
    const auto fetch = [&](AttentionVisit visit, int stage) {
        const int base = visit.base;
        const int column_of_head = (kv_head * GROUP + visit.head) * HEAD_DIM;
        attention_fetch<THREADS, QUERIES, WIDTH, PITCH>(
            q_tiles + stage * QUERIES * PITCH, q + (token + base) * Q_STRIDE + column_of_head,
            Q_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES, HEAD_DIM);
        attention_fetch<THREADS, QUERIES, WIDTH, PITCH>(
            do_tiles + stage * QUERIES * PITCH, d_o + (token + base) * DO_STRIDE + column_of_head,
            DO_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES, HEAD_DIM);
        cp_async_commit();
    };
    static_assert(QUERIES <= THREADS, "a thread carries one query");
    static_assert(ROWS % QUERIES == 0, "the first visit begins with the first key");
    const auto load_queries = [&](AttentionVisit visit) {
        const int head = kv_head * GROUP + visit.head;
        queries.load(visit.base, lse + head, delta + head, HEADS);
    };

    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        k_tile, k + (token + first) * K_STRIDE + kv_head * HEAD_DIM, K_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        v_tile, v + (token + first) * V_STRIDE + kv_head * HEAD_DIM, V_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    AttentionVisit visit = visits.first();
    fetch(visit, 0);
    load_queries(visit);
    queries.store(0);

    float dk_sums[ROW_TILES][COLUMNS / 8][4] = {}, dv_sums[ROW_TILES][COLUMNS / 8][4] = {};
    T *own_k = k_tile + warp * WARP_ROWS * PITCH, *own_v = v_tile + warp * WARP_ROWS * PITCH;
    for (int stage = 0; visits.has(visit); stage = 1 - stage) {
        cp_async_wait<0>();
        __syncthreads();
        const AttentionVisit next = visits.after(visit);
        const bool more = visits.has(next);
        if (more) {
            fetch(next, 1 - stage);
            load_queries(next);
        }
        const int base = visit.base, at = stage * QUERIES;
        const Mask::Row *rows = queries.rows + at;
        const Mask::Row &tile_row = rows[0], &tile_last_row = rows[QUERIES - 1];
        if (base + QUERIES > warp_first && tile_row.sees_any(warp_first, warp_last)) {
            const T *q_tile = q_tiles + at * PITCH, *do_tile = do_tiles + at * PITCH;
            const bool whole =
                base >= warp_last && tile_row.sees_all(warp_first, warp_last, tile_last_row);
            float p[ROW_TILES][QUERIES / 8][4], ds[ROW_TILES][QUERIES / 8][4];
            attention_dots<WIDTH, PITCH>(p, own_k, q_tile);
            attention_dots<WIDTH, PITCH>(ds, own_v, do_tile);
            if (!whole)
                attention_mask_transposed(p, rows + lane % 4 * 2, base + lane % 4 * 2, key);
#pragma unroll
            for (int n = 0; n < QUERIES / 8; n++) {
                const auto pair = queries.pair(at + n * 8 + lane % 4 * 2);
#pragma unroll
                for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++) {
                        const float column_lse2 = pair[c % 2 * 2], column_delta = pair[c % 2 * 2 + 1];
                        float &x = p[r][n][c], &dx = ds[r][n][c];
                        x = exp2_or_zero(fmaf(x, SCALE * LOG2E, -column_lse2));
                        dx = x * (dx - column_delta);
                    }
            }
            attention_add<PITCH>(dv_sums, p, do_tile + column);
            attention_add<PITCH>(dk_sums, ds, q_tile + column);
        }
        if (more)
            queries.store(1 - stage);
        visit = next;
    }

    float dk_scale[ROW_TILES][2], dv_scale[ROW_TILES][2];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        dk_scale[r / 2][r % 2] = SCALE;
        dv_scale[r / 2][r % 2] = 1;
    }
    const Unrotated<HEAD_DIM, float> rotation = {
        token + warp_first};
    attention_store<PITCH>(dk + (token + warp_first) * DK_STRIDE + kv_head * HEAD_DIM + column,
                           DK_STRIDE, SEQ - warp_first, HEAD_DIM - column, own_k, dk_sums,
                           dk_scale, rotation);
    attention_store<PITCH>(dv + (token + warp_first) * DV_STRIDE + kv_head * HEAD_DIM + column,
                           DV_STRIDE, SEQ - warp_first, HEAD_DIM - column, own_v, dv_sums,
                           dv_scale);
}

/* rope_grad over [32, 16]
 * 128 bytes DRAM, 7.50 KiB issued, 2.05 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128) rope_grad_32x16(
    const int *__restrict__ positions, const float *__restrict__ cos_values,
    const float *__restrict__ sin_values, const __nv_bfloat16 *__restrict__ self_attn_grad_k,
    __nv_bfloat16 *__restrict__ self_attn_k_proj_grad) {
    constexpr int COLS = 16, PERIOD = 8, STRIDE = 8, HALF_HEAD = 8, HEAD = 16;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int positions_row = positions[row];
    const Vec<float, 4> cos_values_v =
        load_vec<4>(cos_values + positions_row * STRIDE + col % PERIOD);
    const Vec<float, 4> sin_values_v =
        load_vec<4>(sin_values + positions_row * STRIDE + col % PERIOD);
    const Vec<__nv_bfloat16, 4> self_attn_grad_k_v = load_vec<4>(self_attn_grad_k + i);
    const Vec<__nv_bfloat16, 4> partner_v =
        load_vec<4>(self_attn_grad_k + row * COLS + (col ^ HALF_HEAD));
    Vec<__nv_bfloat16, 4> self_attn_k_proj_grad_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float partner = convert<float>(partner_v[j]);
        const float x_cos = convert<float>(self_attn_grad_k_v[j]) * cos_values_v[j];
        const float partner_sin = partner * sin_values_v[j];
        const float self_attn_k_proj_grad_j =
            (col + j) % HEAD < HALF_HEAD ? x_cos + partner_sin : x_cos - partner_sin;
        self_attn_k_proj_grad_v[j] = convert<__nv_bfloat16>(self_attn_k_proj_grad_j);
    }
    store_vec(self_attn_k_proj_grad + i, self_attn_k_proj_grad_v);
}

/* rope_grad over [32, 32]
 * 128 bytes DRAM, 15.0 KiB issued, 4.10 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rope_grad_32x32_of_40(
    const int *__restrict__ positions, const float *__restrict__ cos_values,
    const float *__restrict__ sin_values, const __nv_bfloat16 *__restrict__ self_attn_grad_q,
    __nv_bfloat16 *__restrict__ self_attn_q_proj_grad) {
    constexpr int COLS = 32, PERIOD = 8, COS_VALUES_STRIDE = 8, SIN_VALUES_STRIDE = 8,
        HALF_HEAD = 8, HEAD = 16, SELF_ATTN_Q_PROJ_GRAD_STRIDE = 40;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int positions_row = positions[row];
    const Vec<float, 4> cos_values_v =
        load_vec<4>(cos_values + positions_row * COS_VALUES_STRIDE + col % PERIOD);
    const Vec<float, 4> sin_values_v =
        load_vec<4>(sin_values + positions_row * SIN_VALUES_STRIDE + col % PERIOD);
    const Vec<__nv_bfloat16, 4> self_attn_grad_q_v = load_vec<4>(self_attn_grad_q + i);
    const Vec<__nv_bfloat16, 4> partner_v =
        load_vec<4>(self_attn_grad_q + row * COLS + (col ^ HALF_HEAD));
    Vec<__nv_bfloat16, 4> self_attn_q_proj_grad_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float partner = convert<float>(partner_v[j]);
        const float x_cos = convert<float>(self_attn_grad_q_v[j]) * cos_values_v[j];
        const float partner_sin = partner * sin_values_v[j];
        const float self_attn_q_proj_grad_j =
            (col + j) % HEAD < HALF_HEAD ? x_cos + partner_sin : x_cos - partner_sin;
        self_attn_q_proj_grad_v[j] = convert<__nv_bfloat16>(self_attn_q_proj_grad_j);
    }
    store_vec(self_attn_q_proj_grad + row * SELF_ATTN_Q_PROJ_GRAD_STRIDE + col,
        self_attn_q_proj_grad_v);
}

/* narrow_linear_weight_grad over [32, 32]
 * from adapter.r; 0 bytes DRAM, 3.50 KiB issued, 8.19 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128) narrow_linear_weight_grad_32x32(
    const __nv_bfloat16 *__restrict__ input_layernorm,
    const __nv_bfloat16 *__restrict__ q_proj_u_grad, float *__restrict__ weight_grad) {
    constexpr int COLS = 32, ROWS_PER_WORKER = 32, LANES = 4, PARTS = 32, STRIDE = 40,
        THREADS = 128;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 8;
    Vec<float, 8> total_0 = {};
    Vec<float, 8> total_1 = {};
    Vec<float, 8> total_2 = {};
    Vec<float, 8> total_3 = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = convert<float>(q_proj_u_grad[row * STRIDE + 0]);
        const float dy_1 = convert<float>(q_proj_u_grad[row * STRIDE + 1]);
        const float dy_2 = convert<float>(q_proj_u_grad[row * STRIDE + 2]);
        const float dy_3 = convert<float>(q_proj_u_grad[row * STRIDE + 3]);
        const Vec<__nv_bfloat16, 8> input_layernorm_v =
            load_vec<8>(input_layernorm + row * STRIDE + col);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float input_layernorm_j = convert<float>(input_layernorm_v[j]);
            total_0[j] = fmaf(dy_0, input_layernorm_j, total_0[j]);
            total_1[j] = fmaf(dy_1, input_layernorm_j, total_1[j]);
            total_2[j] = fmaf(dy_2, input_layernorm_j, total_2[j]);
            total_3[j] = fmaf(dy_3, input_layernorm_j, total_3[j]);
        }
    }
    SHARED Vec<float, 8> sums[THREADS];
    total_0 = sum_of_parts<PARTS, LANES>(sums, total_0);
    total_1 = sum_of_parts<PARTS, LANES>(sums, total_1);
    total_2 = sum_of_parts<PARTS, LANES>(sums, total_2);
    total_3 = sum_of_parts<PARTS, LANES>(sums, total_3);
    if (part > 0)
        return;
    store_vec(weight_grad + worker * COLS + col, convert_vec<float>(total_0));
    store_vec(weight_grad + worker * COLS + COLS + col, convert_vec<float>(total_1));
    store_vec(weight_grad + worker * COLS + 2 * COLS + col, convert_vec<float>(total_2));
    store_vec(weight_grad + worker * COLS + 3 * COLS + col, convert_vec<float>(total_3));
}

/* copy: the body of 4 kernels. */
static __device__ __forceinline__ void copy_body_2(
    const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y) {
    const int i = threadIdx.x * 8;
    const Vec<__nv_bfloat16, 8> x_v = load_vec<8>(x + i);
    Vec<__nv_bfloat16, 8> y_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        y_v[j] = convert<__nv_bfloat16>(convert<float>(x_v[j]));
    }
    store_vec(y + i, y_v);
}

/* copy over [8, 32]
 * from quantization.quant_type; 0 bytes DRAM, 1.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(32) copy_8x32(
    const __nv_bfloat16 *__restrict__ below, __nv_bfloat16 *__restrict__ weight_decoded_below) {
    copy_body_2(below, weight_decoded_below);
}

/* rms_norm_grad, add over [32, 32]
 * 0 bytes DRAM, 14.0 KiB issued, 11.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_grad_add_32x32_of_40(
    const __nv_bfloat16 *__restrict__ mlp_residual, const __nv_bfloat16 *__restrict__ weight,
    const float *__restrict__ input_layernorm_rstd,
    const __nv_bfloat16 *__restrict__ input_layernorm_grad,
    const __nv_bfloat16 *__restrict__ attn_residual_grad,
    __nv_bfloat16 *__restrict__ mlp_residual_grad) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 40;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const float input_layernorm_rstd_row = input_layernorm_rstd[row];
    float sum = 0;
    const __nv_bfloat16 mlp_residual_v = mlp_residual[row * COLS + col];
    const __nv_bfloat16 weight_v = weight[col];
    const __nv_bfloat16 input_layernorm_grad_v = input_layernorm_grad[row * COLS + col];
    const float dxhat = convert<float>(input_layernorm_grad_v) * convert<float>(weight_v);
    sum = fmaf(dxhat, convert<float>(mlp_residual_v) * input_layernorm_rstd_row, sum);
    sum = warp_sum(sum);
    const float mean = sum * (1.0f / COLS);
    const __nv_bfloat16 attn_residual_grad_v = attn_residual_grad[row * COLS + col];
    const float off_xhat = dxhat - convert<float>(mlp_residual_v) * input_layernorm_rstd_row * mean;
    const float mlp_residual_grad_j =
        convert<float>(attn_residual_grad_v) +
        rounded<__nv_bfloat16>(input_layernorm_rstd_row * off_xhat);
    mlp_residual_grad[row * STRIDE + col] = convert<__nv_bfloat16>(mlp_residual_grad_j);
}

/* attention_grad, rope_grad (backward_q of template attention_mma.cu)
 * from model.num_attention_heads; 256 bytes DRAM, 27.2 KiB issued, 52.2 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128)
attention_backward_q_rope_16x2x16_of_40(
    const __nv_bfloat16 *__restrict__ q,
    const __nv_bfloat16 *__restrict__ k,
    const __nv_bfloat16 *__restrict__ v,
    const int *__restrict__ positions,
    const __nv_bfloat16 *__restrict__ o,
    const float *__restrict__ lse,
    const __nv_bfloat16 *__restrict__ d_o,
    const int *__restrict__ rope_positions, const float *__restrict__ rope_cos,
    const float *__restrict__ rope_sin,
    float *__restrict__ delta, __nv_bfloat16 *__restrict__ dq) {
    using T = __nv_bfloat16;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 16;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int64_t Q_STRIDE = 48, K_STRIDE = 48;
    constexpr int64_t V_STRIDE = 16, O_STRIDE = 32;
    constexpr int64_t DO_STRIDE = 32, DQ_STRIDE = 40;
    constexpr float SCALE = 0.25f;
    constexpr int WARPS = 4, ROW_TILES = 2;
    constexpr int KEYS = 64;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int ELEMENTS = 16 / sizeof(T);
    constexpr int WIDTH = (HEAD_DIM + 15) / 16 * 16, PITCH = WIDTH + ELEMENTS;

    DYNAMIC_SHARED(T, q_tile);               /* [ROWS][PITCH] */
    T *do_tile = q_tile + ROWS * PITCH;      /* [ROWS][PITCH] */
    T *k_tiles = do_tile + ROWS * PITCH;     /* [2][KEYS][PITCH] */
    T *v_tiles = k_tiles + 2 * KEYS * PITCH; /* [2][KEYS][PITCH] */

    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int query = warp_first + lane / 4;
    const Mask mask = {positions, token, SEQ};
    const auto fetch = [&](int base, int stage) {
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            k_tiles + stage * KEYS * PITCH, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
            K_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        attention_fetch<THREADS, KEYS, WIDTH, PITCH>(
            v_tiles + stage * KEYS * PITCH, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
            V_STRIDE, SEQ % KEYS ? SEQ - base : KEYS, HEAD_DIM);
        cp_async_commit();
    };

    const Mask::Row block_row = mask.row(first);
    const Mask::Row warp_row = mask.row(warp_first), warp_last_row = mask.row(warp_last);
    const int begin = block_row.first_tile(KEYS);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM, Q_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        do_tile, d_o + (token + first) * DO_STRIDE + head * HEAD_DIM, DO_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    fetch(begin, 0);

    /* The four lanes that hold a row's scores share its delta. */
    float lse2[ROW_TILES][2], row_delta[ROW_TILES][2], scale[ROW_TILES][2];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        const int i = query + r * 8;
        const bool inside = i < SEQ;
        const float sum =
            attention_delta(o + (token + i) * O_STRIDE + head * HEAD_DIM,
                            d_o + (token + i) * DO_STRIDE + head * HEAD_DIM, HEAD_DIM, inside);
        if (inside && lane % 4 == 0)
            delta[(token + i) * HEADS + head] = sum;
        row_delta[r / 2][r % 2] = sum;
        lse2[r / 2][r % 2] = inside ? lse[(token + i) * HEADS + head] * LOG2E : 0;
        scale[r / 2][r % 2] = SCALE;
    }

    float sums[ROW_TILES][WIDTH / 8][4] = {};
    T *own = q_tile + warp * WARP_ROWS * PITCH, *own_do = do_tile + warp * WARP_ROWS * PITCH;
    for (int base = begin, next, stage = 0; base <= last; base = next, stage ^= 1) {
        cp_async_wait<0>();
        __syncthreads();
        next = block_row.next_tile(base, KEYS);
        if (next <= last)
            fetch(next, stage ^ 1);
        const int base_last = base + KEYS - 1;
        if (base > warp_last || !warp_row.sees_any(base, base_last))
            continue;
        float scores[ROW_TILES][KEYS / 8][4], ds[ROW_TILES][KEYS / 8][4];
        attention_dots<WIDTH, PITCH>(scores, own, k_tiles + stage * KEYS * PITCH);
        if (base_last > warp_first || !warp_row.sees_all(base, base_last, warp_last_row))
            attention_mask(scores, mask, query, base + lane % 4 * 2);
        attention_dots<WIDTH, PITCH>(ds, own_do, v_tiles + stage * KEYS * PITCH);
#pragma unroll
        for (int m = 0; m < ROW_TILES; m++)
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const float p =
                        exp2_or_zero(fmaf(scores[m][n][c], SCALE * LOG2E, -lse2[m][c / 2]));
                    ds[m][n][c] = p * (ds[m][n][c] - row_delta[m][c / 2]);
                }
        attention_add<PITCH>(sums, ds, k_tiles + stage * KEYS * PITCH);
    }
    const UndoRope<HEAD_DIM, float> rotation = {
        rope_positions, rope_cos, rope_sin, token + warp_first};
    attention_store<PITCH>(dq + (token + warp_first) * DQ_STRIDE + head * HEAD_DIM, DQ_STRIDE,
                           SEQ - warp_first, HEAD_DIM, own, sums, scale, rotation);
}

/* attention_grad, rope_grad (backward_kv of template attention_mma.cu)
 * from model.num_attention_heads; 256 bytes DRAM, 14.0 KiB issued, 69.6 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128)
attention_backward_kv_rope_16x2x16(
    const __nv_bfloat16 *__restrict__ q,
    const __nv_bfloat16 *__restrict__ k,
    const __nv_bfloat16 *__restrict__ v,
    const int *__restrict__ positions,
    const float *__restrict__ lse, const float *__restrict__ delta,
    const __nv_bfloat16 *__restrict__ d_o,
    const int *__restrict__ rope_positions, const float *__restrict__ rope_cos,
    const float *__restrict__ rope_sin,
    __nv_bfloat16 *__restrict__ dk,
    __nv_bfloat16 *__restrict__ dv) {
    using T = __nv_bfloat16;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 16;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int GROUP = HEADS / KV_HEADS;
    constexpr int64_t Q_STRIDE = 48, K_STRIDE = 48;
    constexpr int64_t V_STRIDE = 16, DO_STRIDE = 32;
    constexpr int64_t DK_STRIDE = 16, DV_STRIDE = 16;
    constexpr float SCALE = 0.25f;
    constexpr int WARPS = 4, ROW_TILES = 2;
    constexpr int QUERIES = 32;
    constexpr int THREADS = 32 * WARPS, WARP_ROWS = 16 * ROW_TILES, ROWS = WARP_ROWS * WARPS;
    constexpr int SPLIT = HEAD_DIM > 128 ? 2 : 1;
    constexpr int WIDTH = (HEAD_DIM + 16 * SPLIT - 1) / (16 * SPLIT) * 16 * SPLIT;
    constexpr int COLUMNS = WIDTH / SPLIT, PITCH = WIDTH + 16 / sizeof(T);

    DYNAMIC_SHARED(T, k_tile);                  /* [ROWS][PITCH] */
    T *v_tile = k_tile + ROWS * PITCH;          /* [ROWS][PITCH] */
    T *q_tiles = v_tile + ROWS * PITCH;         /* [2][QUERIES][PITCH] */
    T *do_tiles = q_tiles + 2 * QUERIES * PITCH; /* [2][QUERIES][PITCH] */

    const int first = blockIdx.z * ROWS, last = first + ROWS - 1;
    const int kv_head = blockIdx.x / SPLIT, column = blockIdx.x % SPLIT * COLUMNS;
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_first = first + warp * WARP_ROWS, warp_last = warp_first + WARP_ROWS - 1;
    const int key = warp_first + lane / 4; /* of this lane's first row */

    const Mask mask = {positions, token, SEQ};
    AttentionQueries<QUERIES, Mask> queries(
        reinterpret_cast<float *>(do_tiles + 2 * QUERIES * PITCH), mask);
    const AttentionVisits<QUERIES, GROUP> visits(mask, first, last);
    const auto fetch = [&](AttentionVisit visit, int stage) {
        const int base = visit.base;
        const int column_of_head = (kv_head * GROUP + visit.head) * HEAD_DIM;
        attention_fetch<THREADS, QUERIES, WIDTH, PITCH>(
            q_tiles + stage * QUERIES * PITCH, q + (token + base) * Q_STRIDE + column_of_head,
            Q_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES, HEAD_DIM);
        attention_fetch<THREADS, QUERIES, WIDTH, PITCH>(
            do_tiles + stage * QUERIES * PITCH, d_o + (token + base) * DO_STRIDE + column_of_head,
            DO_STRIDE, SEQ % QUERIES ? SEQ - base : QUERIES, HEAD_DIM);
        cp_async_commit();
    };
    static_assert(QUERIES <= THREADS, "a thread carries one query");
    static_assert(ROWS % QUERIES == 0, "the first visit begins with the first key");
    const auto load_queries = [&](AttentionVisit visit) {
        const int head = kv_head * GROUP + visit.head;
        queries.load(visit.base, lse + head, delta + head, HEADS);
    };

    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        k_tile, k + (token + first) * K_STRIDE + kv_head * HEAD_DIM, K_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    attention_fetch<THREADS, ROWS, WIDTH, PITCH>(
        v_tile, v + (token + first) * V_STRIDE + kv_head * HEAD_DIM, V_STRIDE,
        SEQ % ROWS ? SEQ - first : ROWS, HEAD_DIM);
    AttentionVisit visit = visits.first();
    fetch(visit, 0);
    load_queries(visit);
    queries.store(0);

    float dk_sums[ROW_TILES][COLUMNS / 8][4] = {}, dv_sums[ROW_TILES][COLUMNS / 8][4] = {};
    T *own_k = k_tile + warp * WARP_ROWS * PITCH, *own_v = v_tile + warp * WARP_ROWS * PITCH;
    for (int stage = 0; visits.has(visit); stage = 1 - stage) {
        cp_async_wait<0>();
        __syncthreads();
        const AttentionVisit next = visits.after(visit);
        const bool more = visits.has(next);
        if (more) {
            fetch(next, 1 - stage);
            load_queries(next);
        }
        const int base = visit.base, at = stage * QUERIES;
        const Mask::Row *rows = queries.rows + at;
        const Mask::Row &tile_row = rows[0], &tile_last_row = rows[QUERIES - 1];
        if (base + QUERIES > warp_first && tile_row.sees_any(warp_first, warp_last)) {
            const T *q_tile = q_tiles + at * PITCH, *do_tile = do_tiles + at * PITCH;
            const bool whole =
                base >= warp_last && tile_row.sees_all(warp_first, warp_last, tile_last_row);
            float p[ROW_TILES][QUERIES / 8][4], ds[ROW_TILES][QUERIES / 8][4];
            attention_dots<WIDTH, PITCH>(p, own_k, q_tile);
            attention_dots<WIDTH, PITCH>(ds, own_v, do_tile);
            if (!whole)
                attention_mask_transposed(p, rows + lane % 4 * 2, base + lane % 4 * 2, key);
#pragma unroll
            for (int n = 0; n < QUERIES / 8; n++) {
                const auto pair = queries.pair(at + n * 8 + lane % 4 * 2);
#pragma unroll
                for (int r = 0; r < ROW_TILES; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++) {
                        const float column_lse2 = pair[c % 2 * 2], column_delta = pair[c % 2 * 2 + 1];
                        float &x = p[r][n][c], &dx = ds[r][n][c];
                        x = exp2_or_zero(fmaf(x, SCALE * LOG2E, -column_lse2));
                        dx = x * (dx - column_delta);
                    }
            }
            attention_add<PITCH>(dv_sums, p, do_tile + column);
            attention_add<PITCH>(dk_sums, ds, q_tile + column);
        }
        if (more)
            queries.store(1 - stage);
        visit = next;
    }

    float dk_scale[ROW_TILES][2], dv_scale[ROW_TILES][2];
#pragma unroll
    for (int r = 0; r < 2 * ROW_TILES; r++) {
        dk_scale[r / 2][r % 2] = SCALE;
        dv_scale[r / 2][r % 2] = 1;
    }
    const UndoRope<HEAD_DIM, float> rotation = {
        rope_positions, rope_cos, rope_sin, token + warp_first};
    attention_store<PITCH>(dk + (token + warp_first) * DK_STRIDE + kv_head * HEAD_DIM + column,
                           DK_STRIDE, SEQ - warp_first, HEAD_DIM - column, own_k, dk_sums,
                           dk_scale, rotation);
    attention_store<PITCH>(dv + (token + warp_first) * DV_STRIDE + kv_head * HEAD_DIM + column,
                           DV_STRIDE, SEQ - warp_first, HEAD_DIM - column, own_v, dv_sums,
                           dv_scale);
}

/* sum_squares over [rows, 1024]
 * 4096 bytes issued, 2048 FLOP per row, 262144 bytes issued more per launch */
extern "C" __global__ void __launch_bounds__(256) sum_squares_x1024(
    const float *__restrict__ gradient, float *__restrict__ columns_partial, int64_t rows) {
    constexpr int COLS = 1024, COLUMN_BLOCKS = 4, WORKERS = 64, LANES = 32, PARTS = 8,
        THREADS = 256;
    const int column_block = blockIdx.x % COLUMN_BLOCKS;
    const int64_t worker = blockIdx.x / COLUMN_BLOCKS;
    const int64_t each = (rows + WORKERS - 1) / WORKERS, first = worker * each;
    const int64_t end = first + each < rows ? first + each : rows;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = (column_block * LANES + lane) * 8;
    Vec<float, 8> columns = {};
    for (int64_t row = first + part; row < end; row += PARTS) {
        const Vec<float, 8> gradient_v = load_vec<8>(gradient + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            columns[j] = fmaf(gradient_v[j], gradient_v[j], columns[j]);
        }
    }
    SHARED Vec<float, 8> sums[THREADS];
    columns = sum_of_parts<PARTS, LANES>(sums, columns);
    if (part > 0)
        return;
    store_vec(columns_partial + worker * COLS + col, convert_vec<float>(columns));
}

/* second pass of sum_squares over [64, 1024]: adds 64 partial sums per column
 * 0 bytes DRAM, 260 KiB issued, 65.5 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) column_sum_64x1024(
    const float *__restrict__ columns_partial, float *__restrict__ columns) {
    constexpr int ROWS = 64, COLS = 1024, PARTS = 32, LANES = 8;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = blockIdx.x * LANES + lane;
    SHARED float sums[PARTS * LANES];
    float total = 0;
    if (col < COLS)
        for (int row = part; row < ROWS; row += PARTS) {
            total += columns_partial[row * COLS + col];
        }
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0 || col >= COLS)
        return;
    columns[col] = total;
}

/* sum, clip_factor, rates, advance_step over [1, 1024]
 * 0 bytes DRAM, 7.54 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128) sum_clip_factor_rates_1024(
    const float *__restrict__ columns, int *__restrict__ step, int *__restrict__ bad_step,
    const float *__restrict__ lr, int *__restrict__ applied,
    const float *__restrict__ bias_correction1, const float *__restrict__ bias_correction2_sqrt,
    float *__restrict__ step_loss, float *__restrict__ grad_norm, float *__restrict__ clip_factor,
    float *__restrict__ rates_lr, float *__restrict__ rates_bias_correction1,
    float *__restrict__ rates_bias_correction2_sqrt, float *__restrict__ loss) {
    constexpr int THREADS = 128;
    constexpr float NORM_EPS = 1e-06f, MAX_NORM = 1.0f;
    const int col = threadIdx.x * 8;
    const int step_value = step[0];
    const int bad_step_value = bad_step[0];
    const bool good_so_far = bad_step_value < 0;
    const float lr_value = lr[step_value];
    const int applied_value = applied[0];
    const float bias_correction1_value = bias_correction1[applied_value];
    const float bias_correction2_sqrt_value = bias_correction2_sqrt[applied_value];
    const float step_loss_value = step_loss[0];
    float squared = 0;
    const Vec<float, 8> columns_v = load_vec<8>(columns + col);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        squared += columns_v[j];
    }
    squared = block_sum<THREADS>(squared);
    const float grad_norm_value = sqrtf(squared);
    const float factor = good_so_far ? fminf(1.0f, MAX_NORM / (grad_norm_value + NORM_EPS)) : 0.0f;
    const float clip_factor_value = isfinite(grad_norm_value) ? factor : 0.0f;
    const bool applies = clip_factor_value > 0.0f;
    if (threadIdx.x == 0) {
        grad_norm[step_value] = grad_norm_value;
        clip_factor[0] = clip_factor_value;
        rates_lr[0] = lr_value;
        rates_bias_correction1[0] = bias_correction1_value;
        rates_bias_correction2_sqrt[0] = bias_correction2_sqrt_value;
        loss[step_value] = step_loss_value;
        step[0] = step_value + 1;
        applied[0] = applies ? applied_value + 1 : applied_value;
        bad_step[0] = applies ? bad_step_value : (good_so_far ? step_value : bad_step_value);
        step_loss[0] = 0.0f;
    }
}

/* adamw over [rows, 1024]
 * 34816 bytes issued, 16128 FLOP per row */
extern "C" __global__ void __launch_bounds__(256) adamw_x1024(
    float *__restrict__ master, const float *__restrict__ gradient, float *__restrict__ exp_avg,
    float *__restrict__ exp_avg_sq, const float *__restrict__ clip_factor,
    const float *__restrict__ rates_lr, const float *__restrict__ bias_correction1,
    const float *__restrict__ bias_correction2_sqrt, __nv_bfloat16 *__restrict__ weight,
    int64_t rows) {
    constexpr int COLS = 1024, THREADS = 256;
    constexpr float ONE_MINUS_BETA1 = 0.1f, ONE_MINUS_BETA2 = 0.001f, BETA2 = 0.999f,
        WEIGHT_DECAY = 0.01f, EPS = 1e-08f;
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) * 4;
    if (i >= rows * COLS)
        return;
    const float clip_factor_value = clip_factor[0];
    const float rates_lr_value = rates_lr[0];
    const float bias_correction1_value = bias_correction1[0];
    const float bias_correction2_sqrt_value = bias_correction2_sqrt[0];
    const float kept = 1.0f - rates_lr_value * WEIGHT_DECAY;
    const float rate = rates_lr_value / bias_correction1_value;
    const bool applies = clip_factor_value > 0.0f;
    const Vec<float, 4> master_v = load_vec<4>(master + i);
    const Vec<float, 4> gradient_v = load_vec<4>(gradient + i);
    const Vec<float, 4> exp_avg_v = load_vec<4>(exp_avg + i);
    const Vec<float, 4> exp_avg_sq_v = load_vec<4>(exp_avg_sq + i);
    Vec<float, 4> new_master_v;
    Vec<float, 4> new_exp_avg_v;
    Vec<float, 4> new_exp_avg_sq_v;
    Vec<__nv_bfloat16, 4> weight_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float clipped = gradient_v[j] * clip_factor_value;
        const float mean = exp_avg_v[j] + ONE_MINUS_BETA1 * (clipped - exp_avg_v[j]);
        const float mean_sq = BETA2 * exp_avg_sq_v[j] + ONE_MINUS_BETA2 * (clipped * clipped);
        const float change = rate * (mean / (sqrtf(mean_sq) / bias_correction2_sqrt_value + EPS));
        const float master_j = applies ? master_v[j] * kept - change : master_v[j];
        new_master_v[j] = master_j;
        new_exp_avg_v[j] = applies ? mean : exp_avg_v[j];
        new_exp_avg_sq_v[j] = applies ? mean_sq : exp_avg_sq_v[j];
        weight_v[j] = convert<__nv_bfloat16>(master_j);
    }
    store_vec(master + i, new_master_v);
    store_vec(exp_avg + i, new_exp_avg_v);
    store_vec(exp_avg_sq + i, new_exp_avg_sq_v);
    store_vec(weight + i, weight_v);
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 64 bytes DRAM, 10.0 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32_2_results(
    const __nv_bfloat16 *__restrict__ embed_tokens,
    const __nv_bfloat16 *__restrict__ self_attn_o_proj, const __nv_bfloat16 *__restrict__ weight,
    __nv_bfloat16 *__restrict__ attn_residual,
    __nv_bfloat16 *__restrict__ post_attention_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const __nv_bfloat16 embed_tokens_v = embed_tokens[row * COLS + col];
    const __nv_bfloat16 self_attn_o_proj_v = self_attn_o_proj[row * COLS + col];
    const float attn_residual_j =
        convert<float>(embed_tokens_v) + convert<float>(self_attn_o_proj_v);
    attn_residual[row * COLS + col] = convert<__nv_bfloat16>(attn_residual_j);
    const float attn_residual_rounded = rounded<__nv_bfloat16>(attn_residual_j);
    sum = fmaf(attn_residual_rounded, attn_residual_rounded, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const __nv_bfloat16 weight_v = weight[col];
    post_attention_layernorm[row * COLS + col] =
        convert<__nv_bfloat16>(attn_residual_rounded * rstd * convert<float>(weight_v));
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 64 bytes DRAM, 10.0 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32_of_40_2_results(
    const __nv_bfloat16 *__restrict__ attn_residual, const __nv_bfloat16 *__restrict__ down_proj,
    const __nv_bfloat16 *__restrict__ weight, __nv_bfloat16 *__restrict__ mlp_residual,
    __nv_bfloat16 *__restrict__ input_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 40;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const __nv_bfloat16 attn_residual_v = attn_residual[row * COLS + col];
    const __nv_bfloat16 down_proj_v = down_proj[row * COLS + col];
    const float mlp_residual_j = convert<float>(attn_residual_v) + convert<float>(down_proj_v);
    mlp_residual[row * COLS + col] = convert<__nv_bfloat16>(mlp_residual_j);
    const float mlp_residual_rounded = rounded<__nv_bfloat16>(mlp_residual_j);
    sum = fmaf(mlp_residual_rounded, mlp_residual_rounded, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const __nv_bfloat16 weight_v = weight[col];
    input_layernorm[row * STRIDE + col] =
        convert<__nv_bfloat16>(mlp_residual_rounded * rstd * convert<float>(weight_v));
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 1.81 KiB DRAM, 8.00 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32_1_result(
    const __nv_bfloat16 *__restrict__ attn_residual, const __nv_bfloat16 *__restrict__ down_proj,
    const __nv_bfloat16 *__restrict__ weight, __nv_bfloat16 *__restrict__ model_norm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const __nv_bfloat16 attn_residual_v = attn_residual[row * COLS + col];
    const __nv_bfloat16 down_proj_v = down_proj[row * COLS + col];
    const float mlp_residual_rounded =
        rounded<__nv_bfloat16>(convert<float>(attn_residual_v) + convert<float>(down_proj_v));
    sum = fmaf(mlp_residual_rounded, mlp_residual_rounded, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const __nv_bfloat16 weight_v = weight[col];
    model_norm[row * COLS + col] =
        convert<__nv_bfloat16>(mlp_residual_rounded * rstd * convert<float>(weight_v));
}

/* cross_entropy over [32, 64]
 * from training.task; 260 bytes DRAM, 12.1 KiB issued, 12.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_32x64(
    const __nv_bfloat16 *__restrict__ lm_head, const int *__restrict__ labels,
    const float *__restrict__ loss_weight, float *__restrict__ loss_rows) {
    constexpr int COLS = 64, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane * 2;
    const int labels_row = labels[row];
    const float loss_weight_value = loss_weight[0];
    SumOfExps<float> exps;
    float target = 0;
    const Vec<__nv_bfloat16, 2> lm_head_v = load_vec<2>(lm_head + row * COLS + col);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float lm_head_j = convert<float>(lm_head_v[j]);
        exps.add(lm_head_j);
        target += col + j == labels_row ? lm_head_j : 0.0f;
    }
    const float lse = warp_lse(exps);
    target = warp_sum(target);
    if (lane == 0)
        loss_rows[row] = labels_row >= 0 ? (lse - target) * loss_weight_value : 0.0f;
}

/* narrow_linear_input_grad over [32, 32]
 * from adapter.r; 1.00 KiB DRAM, 24.0 KiB issued, 8.19 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) narrow_linear_input_grad_32x32(
    const float *__restrict__ master, const float *__restrict__ weight_master,
    float *__restrict__ self_attn_q_proj_delta) {
    constexpr int COLS = 32, STRIDE = 4;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const float dy_0 = master[row * STRIDE + 0];
    const float dy_1 = master[row * STRIDE + 1];
    const float dy_2 = master[row * STRIDE + 2];
    const float dy_3 = master[row * STRIDE + 3];
    const Vec<float, 4> weight_0_v = load_vec<4>(weight_master + col);
    const Vec<float, 4> weight_1_v = load_vec<4>(weight_master + 1 * COLS + col);
    const Vec<float, 4> weight_2_v = load_vec<4>(weight_master + 2 * COLS + col);
    const Vec<float, 4> weight_3_v = load_vec<4>(weight_master + 3 * COLS + col);
    Vec<float, 4> self_attn_q_proj_delta_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float sum_0 = dy_0 * weight_0_v[j];
        const float sum_1 = fmaf(dy_1, weight_1_v[j], sum_0);
        const float sum_2 = fmaf(dy_2, weight_2_v[j], sum_1);
        const float sum_3 = fmaf(dy_3, weight_3_v[j], sum_2);
        self_attn_q_proj_delta_v[j] = sum_3 * 4.0f;
    }
    store_vec(self_attn_q_proj_delta + i, self_attn_q_proj_delta_v);
}

/* add over [32, 32]
 * from adapter.r; 0 bytes DRAM, 8.00 KiB issued, 1.02 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_32x32(
    const __nv_bfloat16 *__restrict__ weight_decoded,
    const float *__restrict__ self_attn_q_proj_delta,
    __nv_bfloat16 *__restrict__ self_attn_q_proj_merged) {
    const int i = threadIdx.x * 4;
    const Vec<__nv_bfloat16, 4> weight_decoded_v = load_vec<4>(weight_decoded + i);
    const Vec<float, 4> self_attn_q_proj_delta_v = load_vec<4>(self_attn_q_proj_delta + i);
    Vec<__nv_bfloat16, 4> self_attn_q_proj_merged_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float self_attn_q_proj_merged_j =
            convert<float>(weight_decoded_v[j]) + self_attn_q_proj_delta_v[j];
        self_attn_q_proj_merged_v[j] = convert<__nv_bfloat16>(self_attn_q_proj_merged_j);
    }
    store_vec(self_attn_q_proj_merged + i, self_attn_q_proj_merged_v);
}

/* copy over [16, 32]
 * from model.num_attention_heads; 0 bytes DRAM, 2.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(64) copy_16x32(
    const __nv_bfloat16 *__restrict__ weight_decoded,
    __nv_bfloat16 *__restrict__ self_attn_k_proj_base) {
    copy_body_2(weight_decoded, self_attn_k_proj_base);
}

/* copy over [32, 32]
 * from model.num_attention_heads; 0 bytes DRAM, 4.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(128) copy_32x32(
    const __nv_bfloat16 *__restrict__ weight_decoded,
    __nv_bfloat16 *__restrict__ self_attn_o_proj_base) {
    copy_body_2(weight_decoded, self_attn_o_proj_base);
}

/* copy over [48, 32]
 * from model.intermediate_size; 0 bytes DRAM, 6.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(192) copy_48x32(
    const __nv_bfloat16 *__restrict__ weight_decoded, __nv_bfloat16 *__restrict__ gate_proj_base) {
    copy_body_2(weight_decoded, gate_proj_base);
}

/* narrow_linear_input_grad over [32, 48]
 * from adapter.r; 1.25 KiB DRAM, 36.0 KiB issued, 12.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) narrow_linear_input_grad_32x48(
    const float *__restrict__ master, const float *__restrict__ weight_master,
    float *__restrict__ down_proj_delta) {
    constexpr int COLS = 48, STRIDE = 4, THREADS = 256, ELEMENTS = 1536;
    const int i = (blockIdx.x * THREADS + threadIdx.x) * 4;
    if (i >= ELEMENTS)
        return;
    const int row = i / COLS, col = i % COLS;
    const float dy_0 = master[row * STRIDE + 0];
    const float dy_1 = master[row * STRIDE + 1];
    const float dy_2 = master[row * STRIDE + 2];
    const float dy_3 = master[row * STRIDE + 3];
    const Vec<float, 4> weight_0_v = load_vec<4>(weight_master + col);
    const Vec<float, 4> weight_1_v = load_vec<4>(weight_master + 1 * COLS + col);
    const Vec<float, 4> weight_2_v = load_vec<4>(weight_master + 2 * COLS + col);
    const Vec<float, 4> weight_3_v = load_vec<4>(weight_master + 3 * COLS + col);
    Vec<float, 4> down_proj_delta_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float sum_0 = dy_0 * weight_0_v[j];
        const float sum_1 = fmaf(dy_1, weight_1_v[j], sum_0);
        const float sum_2 = fmaf(dy_2, weight_2_v[j], sum_1);
        const float sum_3 = fmaf(dy_3, weight_3_v[j], sum_2);
        down_proj_delta_v[j] = sum_3 * 4.0f;
    }
    store_vec(down_proj_delta + i, down_proj_delta_v);
}

/* add over [32, 48]
 * from adapter.r; 0 bytes DRAM, 12.0 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_32x48(
    const __nv_bfloat16 *__restrict__ weight_decoded, const float *__restrict__ down_proj_delta,
    __nv_bfloat16 *__restrict__ down_proj_merged) {
    constexpr int THREADS = 256, ELEMENTS = 1536;
    const int i = (blockIdx.x * THREADS + threadIdx.x) * 4;
    if (i >= ELEMENTS)
        return;
    const Vec<__nv_bfloat16, 4> weight_decoded_v = load_vec<4>(weight_decoded + i);
    const Vec<float, 4> down_proj_delta_v = load_vec<4>(down_proj_delta + i);
    Vec<__nv_bfloat16, 4> down_proj_merged_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        down_proj_merged_v[j] =
            convert<__nv_bfloat16>(convert<float>(weight_decoded_v[j]) + down_proj_delta_v[j]);
    }
    store_vec(down_proj_merged + i, down_proj_merged_v);
}
