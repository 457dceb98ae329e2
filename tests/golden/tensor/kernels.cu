/* The 33 kernels of tensor.
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

/* Copies columns [0, WIDTH) of PLACES tokens to shared memory, with zeros past the last token and
 * past head_dim, which add nothing to a dot product. PLACE_STEP and D_STEP choose the tile's
 * layout. */
template <int PLACES, int WIDTH, int PLACE_STEP, int D_STEP, class A, class T>
static __device__ __forceinline__ void attention_load(A *tile, const T *tokens, int64_t stride,
                                                      int places, int head_dim) {
    for (int e = threadIdx.x; e < PLACES * WIDTH; e += blockDim.x) {
        const int place = e / WIDTH, d = e % WIDTH;
        const bool inside = place < places && d < head_dim;
        tile[place * PLACE_STEP + d * D_STEP] =
            inside ? convert<A>(tokens[place * stride + d]) : A(0);
    }
}

/* dots[j] += own . tile[:, j] over CHUNK columns; both are stored column by column. */
template <int CHUNK, int OWN_STEP, int PITCH, int N, class A>
static __device__ __forceinline__ void attention_dots(A (&dots)[N], const A *own, const A *tile) {
#pragma unroll 4
    for (int d = 0; d < CHUNK; d++) {
        const A x = own[d * OWN_STEP];
#pragma unroll
        for (int j = 0; j < N; j++)
            dots[j] = fma(x, tile[d * PITCH + j], dots[j]);
    }
}

/* Writes this thread's N weights to its own column of `kept` [N][THREADS]. If they stayed in
 * registers, the loop over them would have to be unrolled completely. */
template <int THREADS, int N, class A>
static __device__ __forceinline__ void attention_keep(A *kept, const A (&weights)[N]) {
#pragma unroll
    for (int j = 0; j < N; j++)
        kept[j * THREADS + threadIdx.x] = weights[j];
}

/* sums += weights . tile, with one weight per row of the tile (CHUNK of its WIDTH columns). */
template <int N, int THREADS, int WIDTH, int CHUNK, class A>
static __device__ __forceinline__ void attention_add_rows(A (&sums)[CHUNK], const A *kept,
                                                          const A *tile) {
#pragma unroll 4
    for (int j = 0; j < N; j++) {
        const A weight = kept[j * THREADS + threadIdx.x];
#pragma unroll
        for (int d = 0; d < CHUNK; d++)
            sums[d] = fma(weight, tile[j * WIDTH + d], sums[d]);
    }
}

/* If a row is split over PARTS threads, adds their N partial dot products in the order of the
 * parts; all of them get the sums. After the caller's next barrier, `swap` [PARTS][N][ROWS] may be
 * reused. */
template <int PARTS, int ROWS, int N, class A>
static __device__ __forceinline__ void attention_combine(A (&dots)[N], A *swap, int part, int row) {
    if constexpr (PARTS > 1) {
#pragma unroll
        for (int j = 0; j < N; j++)
            swap[(part * N + j) * ROWS + row] = dots[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < N; j++) {
            dots[j] = swap[j * ROWS + row];
            for (int other = 1; other < PARTS; other++)
                dots[j] += swap[(other * N + j) * ROWS + row];
        }
    }
}

/* Stores the CHUNK columns that start at `column`, times scale; columns past head_dim are
 * padding. */
template <int CHUNK, class T, class A>
static __device__ __forceinline__ void attention_store(T *row, const A (&values)[CHUNK], A scale,
                                                       int column, int head_dim) {
#pragma unroll
    for (int d = 0; d < CHUNK; d++)
        if (column + d < head_dim)
            row[column + d] = convert<T>(values[d] * scale);
}

/* The same in backward, for rows that are stored as they are; `columns` is 0 for a row past the last
 * token. */
template <int ROWS, int CHUNK, int HEAD_DIM, class T, class A>
static __device__ __forceinline__ void
attention_store_row(T *to, A *, const A (&values)[CHUNK], A scale, const Unrotated<HEAD_DIM, A> &, int,
                    int column, int columns) {
    attention_store(to, values, scale, column, columns);
}

/* The same for rows that are rotated back. First each thread writes its columns, rounded to T, to its
 * own cells of a tile that is stored column by column; `tile` points to its row. After a barrier it
 * rotates them, because their partners may belong to another thread, and stores those of the first
 * `columns` columns. */
template <int ROWS, int CHUNK, int HEAD_DIM, class T, class A>
static __device__ __forceinline__ void
attention_store_row(T *to, A *tile, const A (&values)[CHUNK], A scale,
                    const UndoRope<HEAD_DIM, A> &rotation, int row, int column, int columns) {
#pragma unroll
    for (int d = 0; d < CHUNK; d++)
        tile[(column + d) * ROWS] = convert<A>(convert<T>(values[d] * scale));
    __syncthreads();
    const int64_t angles = column < columns ? rotation.angles(row) : 0;
    for (int d = column; d < column + CHUNK && d < columns; d++) {
        const int64_t at = angles + rotation.angle(d);
        to[d] = convert<T>(rotation.rotated(rotation.is_first(d), tile[d * ROWS],
                                            tile[rotation.partner_of(d) * ROWS], rotation.cosines[at],
                                            rotation.sines[at]));
    }
}

/* rope_table over [16, 4]
 * 528 bytes DRAM, 768 bytes issued, 192 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) rope_table_16x4(
    const float *__restrict__ inv_freq, float *__restrict__ cos_values,
    float *__restrict__ sin_values) {
    constexpr int COLS = 4, ELEMENTS = 64;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
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

/* copy over [8, 32], one per slice (z) of the grid
 * from adapter.r; 2.00 KiB DRAM, 2.00 KiB issued per slice */
extern "C" __global__ void __launch_bounds__(64) copy_8x32_of_48(
    const float *__restrict__ weight, float *__restrict__ border, int64_t weight_stride,
    int64_t border_stride) {
    constexpr int COLS = 32, STRIDE = 48;
    weight += blockIdx.z * weight_stride;
    border += blockIdx.z * border_stride;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> weight_v = load_vec<4>(weight + i);
    Vec<float, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = weight_v[j];
    }
    store_vec(border + row * STRIDE + col, border_v);
}

/* scale: the body of 2 kernels. */
template <class Sizes>
static __device__ __forceinline__ void scale_body(
    const float *__restrict__ weight, float *__restrict__ border) {
    constexpr int COLS = 8, STRIDE = Sizes::STRIDE;
    constexpr float SCALE = 2.0f;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> weight_v = load_vec<4>(weight + i);
    Vec<float, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = weight_v[j] * SCALE;
    }
    store_vec(border + row * STRIDE + col, border_v);
}

/* scale over [16, 8]
 * from adapter.r; 1.00 KiB DRAM, 1.00 KiB issued, 128 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) scale_16x8_of_48(
    const float *__restrict__ weight, float *__restrict__ border) {
    struct Sizes {
        enum { STRIDE = 48 };
    };
    scale_body<Sizes>(weight, border);
}

/* scale over [8, 8]
 * from adapter.r; 512 bytes DRAM, 512 bytes issued, 64 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) scale_8x8_of_48(
    const float *__restrict__ weight, float *__restrict__ border) {
    constexpr int COLS = 8, STRIDE = 48, ELEMENTS = 64;
    constexpr float SCALE = 2.0f;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> weight_v = load_vec<4>(weight + i);
    Vec<float, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = weight_v[j] * SCALE;
    }
    store_vec(border + row * STRIDE + col, border_v);
}

/* copy over [8, 24]
 * from adapter.r; 1.50 KiB DRAM, 1.50 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(64) copy_8x24_of_32(
    const float *__restrict__ weight, float *__restrict__ border) {
    constexpr int COLS = 24, STRIDE = 32, ELEMENTS = 192;
    const int i = threadIdx.x * 4;
    if (i >= ELEMENTS)
        return;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> weight_v = load_vec<4>(weight + i);
    Vec<float, 4> border_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        border_v[j] = weight_v[j];
    }
    store_vec(border + row * STRIDE + col, border_v);
}

/* scale over [32, 8]
 * from adapter.r; 2.00 KiB DRAM, 2.00 KiB issued, 256 FLOP per launch */
extern "C" __global__ void __launch_bounds__(64) scale_32x8_of_32(
    const float *__restrict__ weight, float *__restrict__ border) {
    struct Sizes {
        enum { STRIDE = 32 };
    };
    scale_body<Sizes>(weight, border);
}

/* own_ids, embedding over [32, 32]
 * 128 bytes DRAM, 10.0 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(256) own_ids_embedding_32x32(
    const int *__restrict__ group_rank, const int *__restrict__ input_ids,
    const float *__restrict__ weight, float *__restrict__ embed_tokens) {
    constexpr int COLS = 32;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int group_rank_value = group_rank[0];
    const int input_ids_row = input_ids[row];
    const int t = input_ids_row - group_rank_value * 32;
    const int own_ids = t >= 0 && t < 32 ? t : -1;
    const bool t_2 = own_ids >= 0;
    const int own_row = max(own_ids, 0);
    const Vec<float, 4> weight_v = load_vec<4>(weight + own_row * COLS + col);
    Vec<float, 4> embed_tokens_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        embed_tokens_v[j] = t_2 ? weight_v[j] : 0.0f;
    }
    store_vec(embed_tokens + i, embed_tokens_v);
}

/* rms_norm, dropout over [32, 32]
 * 4 bytes DRAM, 36.0 KiB issued, 11.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_dropout_32x32_of_48(
    const float *__restrict__ embed_tokens, const float *__restrict__ weight,
    const int64_t *__restrict__ seed, const int *__restrict__ step,
    const int *__restrict__ first_row, float *__restrict__ input_layernorm,
    float *__restrict__ lora_dropout, float *__restrict__ v_proj_lora_dropout, uint32_t stream,
    uint32_t stream_2) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 48;
    constexpr float EPS = 1e-05f, DROP_RATE = 0.1f, KEPT_SCALE = 1.11111111f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const int64_t seed_value = seed[0];
    const int step_value = step[0];
    const int first_row_value = first_row[0];
    const int64_t row_start = static_cast<int64_t>(first_row_value + row) * COLS;
    float sum = 0;
    const float embed_tokens_v = embed_tokens[row * COLS + col];
    sum = fmaf(embed_tokens_v, embed_tokens_v, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const float weight_v = weight[col];
    const float input_layernorm_j = embed_tokens_v * rstd * weight_v;
    input_layernorm[row * STRIDE + col] = input_layernorm_j;
    const int64_t element = row_start + col;
    const bool t = philox_uniform(seed_value, step_value, stream, element) > DROP_RATE;
    lora_dropout[row * COLS + col] = t ? input_layernorm_j * KEPT_SCALE : 0.0f;
    const bool t_2 = philox_uniform(seed_value, step_value, stream_2, element) > DROP_RATE;
    v_proj_lora_dropout[row * COLS + col] = t_2 ? input_layernorm_j * KEPT_SCALE : 0.0f;
}

/* rope over [32, 8]
 * 128 bytes DRAM, 6.25 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64) rope_32x8_of_24(
    const int *__restrict__ positions, const float *__restrict__ cos_values,
    const float *__restrict__ sin_values, float *__restrict__ self_attn_q_proj) {
    constexpr int COLS = 8, PERIOD = 4, COS_VALUES_STRIDE = 4, SIN_VALUES_STRIDE = 4,
        HALF_HEAD = 4, SELF_ATTN_Q_PROJ_STRIDE = 24;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int positions_row = positions[row];
    const Vec<float, 4> cos_values_v =
        load_vec<4>(cos_values + positions_row * COS_VALUES_STRIDE + col % PERIOD);
    const Vec<float, 4> sin_values_v =
        load_vec<4>(sin_values + positions_row * SIN_VALUES_STRIDE + col % PERIOD);
    const Vec<float, 4> x1_v =
        load_vec<4>(self_attn_q_proj + row * SELF_ATTN_Q_PROJ_STRIDE + col +
            col / HALF_HEAD * HALF_HEAD);
    const Vec<float, 4> x2_v =
        load_vec<4>(self_attn_q_proj + row * SELF_ATTN_Q_PROJ_STRIDE + col +
            (col / HALF_HEAD + 1) * HALF_HEAD);
    Vec<float, 4> y1_v;
    Vec<float, 4> y2_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        y1_v[j] = x1_v[j] * cos_values_v[j] - x2_v[j] * sin_values_v[j];
        y2_v[j] = x2_v[j] * cos_values_v[j] + x1_v[j] * sin_values_v[j];
    }
    store_vec(self_attn_q_proj + row * SELF_ATTN_Q_PROJ_STRIDE + col + col / HALF_HEAD * HALF_HEAD,
        y1_v);
    store_vec(self_attn_q_proj + row * SELF_ATTN_Q_PROJ_STRIDE + col +
        (col / HALF_HEAD + 1) * HALF_HEAD, y2_v);
}

/* rope over [32, 4]
 * 128 bytes DRAM, 3.12 KiB issued, 768 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) rope_32x4(
    const int *__restrict__ positions, const float *__restrict__ cos_values,
    const float *__restrict__ sin_values, float *__restrict__ self_attn_k_proj) {
    constexpr int COLS = 4, PERIOD = 4, HALF_HEAD = 4, STRIDE = 8;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int positions_row = positions[row];
    const Vec<float, 4> cos_values_v =
        load_vec<4>(cos_values + positions_row * COLS + col % PERIOD);
    const Vec<float, 4> sin_values_v =
        load_vec<4>(sin_values + positions_row * COLS + col % PERIOD);
    const Vec<float, 4> x1_v =
        load_vec<4>(self_attn_k_proj + row * STRIDE + col + col / HALF_HEAD * HALF_HEAD);
    const Vec<float, 4> x2_v =
        load_vec<4>(self_attn_k_proj + row * STRIDE + col + (col / HALF_HEAD + 1) * HALF_HEAD);
    Vec<float, 4> y1_v;
    Vec<float, 4> y2_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        y1_v[j] = x1_v[j] * cos_values_v[j] - x2_v[j] * sin_values_v[j];
        y2_v[j] = x2_v[j] * cos_values_v[j] + x1_v[j] * sin_values_v[j];
    }
    store_vec(self_attn_k_proj + row * STRIDE + col + col / HALF_HEAD * HALF_HEAD, y1_v);
    store_vec(self_attn_k_proj + row * STRIDE + col + (col / HALF_HEAD + 1) * HALF_HEAD, y2_v);
}

/* attention (forward of template attention_fma.cu)
 * from model.num_attention_heads; 128 bytes DRAM, 9.50 KiB issued, 17.4 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64)
attention_forward_16x2x8(
    const float *__restrict__ q, const float *__restrict__ k,
    const float *__restrict__ v, const int *__restrict__ positions,
    float *__restrict__ o, float *__restrict__ lse) {
    using A = float;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 8;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int64_t Q_STRIDE = 24, K_STRIDE = 8;
    constexpr int64_t V_STRIDE = 24, O_STRIDE = 16;
    constexpr A SCALE = A(0.35355339059327373);
    constexpr int ROWS = 64, KEYS = 32;
    constexpr int PARTS = (HEAD_DIM * sizeof(A) + 255) / 256;
    constexpr int CHUNK = ((HEAD_DIM + PARTS - 1) / PARTS + 7) / 8 * 8, WIDTH = PARTS * CHUNK;
    constexpr int THREADS = ROWS * PARTS;
    constexpr int PITCH = KEYS + 16 / sizeof(A); /* fewer bank conflicts, rows still 16-byte aligned */
    constexpr A MASKED = A(-2e30), LOWEST = A(-1e30); /* exp(MASKED - LOWEST) is exactly 0 */

    DYNAMIC_SHARED(A, q_tile);                /* [WIDTH][ROWS] */
    A *k_tile = q_tile + WIDTH * ROWS;        /* [WIDTH][PITCH] */
    A *v_tile = k_tile + WIDTH * PITCH;       /* [KEYS][WIDTH] */
    A *kept = v_tile + KEYS * WIDTH;          /* [KEYS][THREADS] */
    A *swap = kept + KEYS * THREADS;          /* [PARTS][KEYS][ROWS] where PARTS > 1 */

    /* Blocks start in the order of their index: the longest rows of all heads and sequences first.
     * `token` is the first one of the sequence. */
    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS, query = first + row;
    const Mask mask = {positions, token, SEQ};
    const Mask::Row block_row = mask.row(first), own_row = mask.row(query);
    attention_load<ROWS, WIDTH, 1, ROWS>(q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM,
                                         Q_STRIDE, SEQ - first, HEAD_DIM);

    A peak = LOWEST, sum = 0, out[CHUNK] = {};
    for (int base = block_row.first_tile(KEYS); base <= last;
         base = block_row.next_tile(base, KEYS)) {
        __syncthreads();
        attention_load<KEYS, WIDTH, 1, PITCH>(k_tile, k + (token + base) * K_STRIDE + kv_head * HEAD_DIM,
                                              K_STRIDE, SEQ - base, HEAD_DIM);
        attention_load<KEYS, WIDTH, WIDTH, 1>(v_tile, v + (token + base) * V_STRIDE + kv_head * HEAD_DIM,
                                              V_STRIDE, SEQ - base, HEAD_DIM);
        __syncthreads();
        A p[KEYS] = {};
        attention_dots<CHUNK, ROWS, PITCH>(p, q_tile + part * CHUNK * ROWS + row,
                                           k_tile + part * CHUNK * PITCH);
        attention_combine<PARTS, ROWS>(p, swap, part, row);

        A top = peak;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const bool seen = own_row.sees(base + j) && base + j <= query;
            p[j] = seen ? p[j] * SCALE : MASKED;
            top = MaxOf::of(top, p[j]);
        }
        const A shrink = exp(peak - top);
        peak = top;
        sum *= shrink;
#pragma unroll
        for (int d = 0; d < CHUNK; d++)
            out[d] *= shrink;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            p[j] = exp(p[j] - top);
            sum += p[j];
        }
        attention_keep<THREADS>(kept, p);
        attention_add_rows<KEYS, THREADS, WIDTH>(out, kept, v_tile + part * CHUNK);
    }
    if (query < SEQ) {
        attention_store(o + (token + query) * O_STRIDE + head * HEAD_DIM, out, A(1) / sum,
                        part * CHUNK, HEAD_DIM);
        if (part == 0)
            lse[(token + query) * HEADS + head] = peak + log(sum);
    }
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 0 bytes DRAM, 20.1 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32(
    const float *__restrict__ embed_tokens, const float *__restrict__ self_attn_o_proj,
    const float *__restrict__ weight, float *__restrict__ attn_residual,
    float *__restrict__ post_attention_layernorm_rstd,
    float *__restrict__ post_attention_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const float embed_tokens_v = embed_tokens[row * COLS + col];
    const float self_attn_o_proj_v = self_attn_o_proj[row * COLS + col];
    const float attn_residual_j = embed_tokens_v + self_attn_o_proj_v;
    attn_residual[row * COLS + col] = attn_residual_j;
    sum = fmaf(attn_residual_j, attn_residual_j, sum);
    sum = warp_sum(sum);
    const float post_attention_layernorm_rstd_row = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    if (lane == 0)
        post_attention_layernorm_rstd[row] = post_attention_layernorm_rstd_row;
    const float weight_v = weight[col];
    post_attention_layernorm[row * COLS + col] =
        attn_residual_j * post_attention_layernorm_rstd_row * weight_v;
}

/* swiglu, dropout over [32, 24]
 * from model.intermediate_size; 4 bytes DRAM, 15.8 KiB issued, 3.84 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) swiglu_dropout_32x24_of_32(
    const float *__restrict__ gate_proj, const float *__restrict__ up_proj,
    const int64_t *__restrict__ seed, const int *__restrict__ step,
    const int *__restrict__ first_row, const int *__restrict__ group_rank,
    float *__restrict__ mlp_act, float *__restrict__ lora_dropout, uint32_t stream) {
    constexpr int COLS = 24, ALL_COLS = 48, STRIDE = 32;
    constexpr float DROP_RATE = 0.1f, KEPT_SCALE = 1.11111111f;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int64_t seed_value = seed[0];
    const int step_value = step[0];
    const int first_row_value = first_row[0];
    const int group_rank_value = group_rank[0];
    const int64_t row_start =
        static_cast<int64_t>(first_row_value + row) * ALL_COLS + group_rank_value * COLS;
    const Vec<float, 4> gate_proj_v = load_vec<4>(gate_proj + i);
    const Vec<float, 4> up_proj_v = load_vec<4>(up_proj + i);
    const Vec<float, 4> uniform =
        philox_uniforms<4>(seed_value, step_value, stream, row_start + col);
    Vec<float, 4> mlp_act_v;
    Vec<float, 4> lora_dropout_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float mlp_act_j =
            gate_proj_v[j] * (1.0f / (1.0f + expf(-gate_proj_v[j]))) * up_proj_v[j];
        mlp_act_v[j] = mlp_act_j;
        lora_dropout_v[j] = uniform[j] > DROP_RATE ? mlp_act_j * KEPT_SCALE : 0.0f;
    }
    store_vec(mlp_act + row * STRIDE + col, mlp_act_v);
    store_vec(lora_dropout + i, lora_dropout_v);
}

/* cross_entropy_part over [32, 32]
 * from training.task; 128 bytes DRAM, 12.2 KiB issued, 5.12 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_part_32x32(
    const float *__restrict__ lm_head, const int *__restrict__ labels,
    const int *__restrict__ group_rank, float *__restrict__ rows_part_lse,
    float *__restrict__ rows_part_target) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const int labels_row = labels[row];
    const int group_rank_value = group_rank[0];
    const int own_label = labels_row - group_rank_value * 32;
    SumOfExps<float> exps;
    float target = 0;
    const float lm_head_v = lm_head[row * COLS + col];
    exps.add(lm_head_v);
    target += col == own_label ? lm_head_v : 0.0f;
    const float lse = warp_lse(exps);
    target = warp_sum(target);
    if (lane == 0) {
        rows_part_lse[row] = lse;
        rows_part_target[row] = target;
    }
}

/* cross_entropy_join, sum, add over [1, 32]
 * from training.task; 132 bytes DRAM, 1.00 KiB issued, 416 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) cross_entropy_join_sum_add_32(
    const int *__restrict__ labels, const float *__restrict__ loss_weight,
    const float *__restrict__ part_lse_all, const float *__restrict__ part_target_all,
    float *__restrict__ step_loss, float *__restrict__ loss_rows_lse) {
    constexpr int THREADS = 32;
    const int col = threadIdx.x;
    const float loss_weight_value = loss_weight[0];
    const float step_loss_value = step_loss[0];
    float loss = 0;
    const int labels_v = labels[col];
    const float part_lse_all_j = part_lse_all[col];
    const float part_target_all_j = part_target_all[col];
    const float part_lse_all_j_2 = part_lse_all[col + 32];
    const float part_target_all_j_2 = part_target_all[col + 32];
    const float t = fmaxf(part_lse_all_j, part_lse_all_j_2);
    const float loss_rows_lse_j = t + logf(expf(part_lse_all_j - t) + expf(part_lse_all_j_2 - t));
    const float t_2 =
        (loss_rows_lse_j - (part_target_all_j + part_target_all_j_2)) * loss_weight_value;
    loss_rows_lse[col] = loss_rows_lse_j;
    loss += labels_v >= 0 ? t_2 : 0.0f;
    loss = block_sum<THREADS>(loss);
    if (threadIdx.x == 0)
        step_loss[0] = step_loss_value + loss;
}

/* cross_entropy_grad over [32, 32]
 * from training.task; 132 bytes DRAM, 13.0 KiB issued, 4.35 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_grad_32x32(
    float *__restrict__ lm_head, const int *__restrict__ labels,
    const float *__restrict__ loss_rows_lse, const float *__restrict__ loss_grad,
    const float *__restrict__ loss_weight, const int *__restrict__ group_rank) {
    constexpr int COLS = 32;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const int labels_row = labels[row];
    const float loss_rows_lse_row = loss_rows_lse[row];
    const float loss_grad_value = loss_grad[0];
    const float loss_weight_value = loss_weight[0];
    const float scale = loss_weight_value * loss_grad_value;
    const int group_rank_value = group_rank[0];
    const int own_label = labels_row - group_rank_value * 32;
    const bool has_target = labels_row >= 0;
    const Vec<float, 4> lm_head_v = load_vec<4>(lm_head + i);
    Vec<float, 4> new_lm_head_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float softmax = expf(lm_head_v[j] - loss_rows_lse_row);
        new_lm_head_v[j] =
            has_target ? (col + j == own_label ? softmax - 1.0f : softmax) * scale : 0.0f;
    }
    store_vec(lm_head + i, new_lm_head_v);
}

/* rms_norm_grad over [32, 32]
 * 0 bytes DRAM, 20.0 KiB issued, 10.2 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_grad_32x32(
    const float *__restrict__ mlp_residual, const float *__restrict__ weight,
    const float *__restrict__ model_norm_rstd, const float *__restrict__ model_norm_grad,
    float *__restrict__ mlp_residual_grad) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const float model_norm_rstd_row = model_norm_rstd[row];
    float sum = 0;
    const float mlp_residual_v = mlp_residual[row * COLS + col];
    const float weight_v = weight[col];
    const float model_norm_grad_v = model_norm_grad[row * COLS + col];
    sum = fmaf(model_norm_grad_v * weight_v, mlp_residual_v * model_norm_rstd_row, sum);
    sum = warp_sum(sum);
    const float mean = sum * (1.0f / COLS);
    const float off_xhat =
        model_norm_grad_v * weight_v - mlp_residual_v * model_norm_rstd_row * mean;
    mlp_residual_grad[row * COLS + col] = model_norm_rstd_row * off_xhat;
}

/* narrow_linear_weight_grad, narrow_linear_input_grad, dropout over [32, 24]
 * from adapter.r; 4 bytes DRAM, 40.5 KiB issued, 25.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192, 2)
narrow_linear_weight_grad_narrow_linear_input_grad_dropout_32x24(
    const float *__restrict__ lora_dropout, const float *__restrict__ down_proj_u_grad,
    const float *__restrict__ weight, const int64_t *__restrict__ seed,
    const int *__restrict__ step, const int *__restrict__ first_row,
    const int *__restrict__ group_rank, float *__restrict__ weight_grad,
    float *__restrict__ mlp_act_grad, uint32_t stream) {
    constexpr int COLS = 24, ROWS_PER_WORKER = 32, LANES = 6, ALL_COLS = 48, PARTS = 32,
        STRIDE = 8, THREADS = 192;
    constexpr float DROP_RATE = 0.1f, KEPT_SCALE = 1.11111111f;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 4;
    Vec<float, 4> total_0 = {};
    Vec<float, 4> total_1 = {};
    Vec<float, 4> total_2 = {};
    Vec<float, 4> total_3 = {};
    Vec<float, 4> total_4 = {};
    Vec<float, 4> total_5 = {};
    Vec<float, 4> total_6 = {};
    Vec<float, 4> total_7 = {};
    const int64_t seed_value = seed[0];
    const int step_value = step[0];
    const int first_row_value = first_row[0];
    const int group_rank_value = group_rank[0];
    const Vec<float, 4> weight_0_v = load_vec<4>(weight + col);
    const Vec<float, 4> weight_1_v = load_vec<4>(weight + 1 * COLS + col);
    const Vec<float, 4> weight_2_v = load_vec<4>(weight + 2 * COLS + col);
    const Vec<float, 4> weight_3_v = load_vec<4>(weight + 3 * COLS + col);
    const Vec<float, 4> weight_4_v = load_vec<4>(weight + 4 * COLS + col);
    const Vec<float, 4> weight_5_v = load_vec<4>(weight + 5 * COLS + col);
    const Vec<float, 4> weight_6_v = load_vec<4>(weight + 6 * COLS + col);
    const Vec<float, 4> weight_7_v = load_vec<4>(weight + 7 * COLS + col);
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = down_proj_u_grad[row * STRIDE + 0];
        const float dy_1 = down_proj_u_grad[row * STRIDE + 1];
        const float dy_2 = down_proj_u_grad[row * STRIDE + 2];
        const float dy_3 = down_proj_u_grad[row * STRIDE + 3];
        const float dy_4 = down_proj_u_grad[row * STRIDE + 4];
        const float dy_5 = down_proj_u_grad[row * STRIDE + 5];
        const float dy_6 = down_proj_u_grad[row * STRIDE + 6];
        const float dy_7 = down_proj_u_grad[row * STRIDE + 7];
        const int64_t row_start =
            static_cast<int64_t>(first_row_value + row) * ALL_COLS + group_rank_value * COLS;
        const Vec<float, 4> lora_dropout_v = load_vec<4>(lora_dropout + row * COLS + col);
        const Vec<float, 4> uniform =
            philox_uniforms<4>(seed_value, step_value, stream, row_start + col);
        Vec<float, 4> mlp_act_grad_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            total_0[j] = fmaf(dy_0, lora_dropout_v[j], total_0[j]);
            total_1[j] = fmaf(dy_1, lora_dropout_v[j], total_1[j]);
            total_2[j] = fmaf(dy_2, lora_dropout_v[j], total_2[j]);
            total_3[j] = fmaf(dy_3, lora_dropout_v[j], total_3[j]);
            total_4[j] = fmaf(dy_4, lora_dropout_v[j], total_4[j]);
            total_5[j] = fmaf(dy_5, lora_dropout_v[j], total_5[j]);
            total_6[j] = fmaf(dy_6, lora_dropout_v[j], total_6[j]);
            total_7[j] = fmaf(dy_7, lora_dropout_v[j], total_7[j]);
            const float sum_0 = dy_0 * weight_0_v[j];
            const float sum_1 = fmaf(dy_1, weight_1_v[j], sum_0);
            const float sum_2 = fmaf(dy_2, weight_2_v[j], sum_1);
            const float sum_3 = fmaf(dy_3, weight_3_v[j], sum_2);
            const float sum_4 = fmaf(dy_4, weight_4_v[j], sum_3);
            const float sum_5 = fmaf(dy_5, weight_5_v[j], sum_4);
            const float sum_6 = fmaf(dy_6, weight_6_v[j], sum_5);
            const float sum_7 = fmaf(dy_7, weight_7_v[j], sum_6);
            mlp_act_grad_v[j] = uniform[j] > DROP_RATE ? sum_7 * KEPT_SCALE : 0.0f;
        }
        store_vec(mlp_act_grad + row * COLS + col, mlp_act_grad_v);
    }
    SHARED Vec<float, 4> sums[THREADS];
    total_0 = sum_of_parts<PARTS, LANES>(sums, total_0);
    total_1 = sum_of_parts<PARTS, LANES>(sums, total_1);
    total_2 = sum_of_parts<PARTS, LANES>(sums, total_2);
    total_3 = sum_of_parts<PARTS, LANES>(sums, total_3);
    total_4 = sum_of_parts<PARTS, LANES>(sums, total_4);
    total_5 = sum_of_parts<PARTS, LANES>(sums, total_5);
    total_6 = sum_of_parts<PARTS, LANES>(sums, total_6);
    total_7 = sum_of_parts<PARTS, LANES>(sums, total_7);
    if (part > 0)
        return;
    store_vec(weight_grad + worker * COLS + col, convert_vec<float>(total_0));
    store_vec(weight_grad + worker * COLS + COLS + col, convert_vec<float>(total_1));
    store_vec(weight_grad + worker * COLS + 2 * COLS + col, convert_vec<float>(total_2));
    store_vec(weight_grad + worker * COLS + 3 * COLS + col, convert_vec<float>(total_3));
    store_vec(weight_grad + worker * COLS + 4 * COLS + col, convert_vec<float>(total_4));
    store_vec(weight_grad + worker * COLS + 5 * COLS + col, convert_vec<float>(total_5));
    store_vec(weight_grad + worker * COLS + 6 * COLS + col, convert_vec<float>(total_6));
    store_vec(weight_grad + worker * COLS + 7 * COLS + col, convert_vec<float>(total_7));
}

/* swiglu_grad over [32, 24]
 * from model.intermediate_size; 0 bytes DRAM, 15.0 KiB issued, 6.91 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) swiglu_grad_32x24(
    const float *__restrict__ gate_proj, const float *__restrict__ up_proj,
    const float *__restrict__ mlp_act_grad, float *__restrict__ act_grad_gate,
    float *__restrict__ act_grad_up) {
    const int i = threadIdx.x * 4;
    const Vec<float, 4> gate_proj_v = load_vec<4>(gate_proj + i);
    const Vec<float, 4> up_proj_v = load_vec<4>(up_proj + i);
    const Vec<float, 4> mlp_act_grad_v = load_vec<4>(mlp_act_grad + i);
    Vec<float, 4> act_grad_gate_v;
    Vec<float, 4> act_grad_up_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float sigmoid = 1.0f / (1.0f + expf(-gate_proj_v[j]));
        act_grad_gate_v[j] =
            mlp_act_grad_v[j] * up_proj_v[j] *
            (sigmoid * (1.0f + gate_proj_v[j] * (1.0f - sigmoid)));
        act_grad_up_v[j] = mlp_act_grad_v[j] * (gate_proj_v[j] * sigmoid);
    }
    store_vec(act_grad_gate + i, act_grad_gate_v);
    store_vec(act_grad_up + i, act_grad_up_v);
}

/* rms_norm_grad, add over [32, 32]
 * 0 bytes DRAM, 24.0 KiB issued, 11.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_grad_add_32x32(
    const float *__restrict__ attn_residual, const float *__restrict__ weight,
    const float *__restrict__ post_attention_layernorm_rstd,
    const float *__restrict__ post_attention_layernorm_grad,
    const float *__restrict__ mlp_residual_grad, float *__restrict__ attn_residual_grad) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const float post_attention_layernorm_rstd_row = post_attention_layernorm_rstd[row];
    float sum = 0;
    const float attn_residual_v = attn_residual[row * COLS + col];
    const float weight_v = weight[col];
    const float post_attention_layernorm_grad_v = post_attention_layernorm_grad[row * COLS + col];
    sum =
        fmaf(post_attention_layernorm_grad_v * weight_v,
            attn_residual_v * post_attention_layernorm_rstd_row, sum);
    sum = warp_sum(sum);
    const float mean = sum * (1.0f / COLS);
    const float mlp_residual_grad_v = mlp_residual_grad[row * COLS + col];
    const float off_xhat =
        post_attention_layernorm_grad_v * weight_v -
        attn_residual_v * post_attention_layernorm_rstd_row * mean;
    attn_residual_grad[row * COLS + col] =
        mlp_residual_grad_v + post_attention_layernorm_rstd_row * off_xhat;
}

/* attention_grad, rope_grad (backward_q of template attention_fma.cu)
 * from model.num_attention_heads; 256 bytes DRAM, 20.0 KiB issued, 26.1 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64)
attention_backward_q_rope_16x2x8(
    const float *__restrict__ q, const float *__restrict__ k,
    const float *__restrict__ v, const int *__restrict__ positions,
    const float *__restrict__ o, const float *__restrict__ lse,
    const float *__restrict__ d_o,
    const int *__restrict__ rope_positions, const float *__restrict__ rope_cos,
    const float *__restrict__ rope_sin,
    float *__restrict__ delta, float *__restrict__ dq) {
    using A = float;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 8;
    constexpr int HEADS = 2, KV_HEADS = 1;
    constexpr int64_t Q_STRIDE = 24, K_STRIDE = 8;
    constexpr int64_t V_STRIDE = 24, O_STRIDE = 16;
    constexpr int64_t DO_STRIDE = 16, DQ_STRIDE = 16;
    constexpr A SCALE = A(0.35355339059327373);
    constexpr int ROWS = 64, KEYS = 32;
    constexpr int PARTS = (HEAD_DIM * sizeof(A) + 255) / 256;
    constexpr int CHUNK = ((HEAD_DIM + PARTS - 1) / PARTS + 7) / 8 * 8, WIDTH = PARTS * CHUNK;
    constexpr int THREADS = ROWS * PARTS;
    constexpr int PITCH = KEYS + 16 / sizeof(A);

    DYNAMIC_SHARED(A, q_tile);                /* [WIDTH][ROWS] */
    A *do_tile = q_tile + WIDTH * ROWS;       /* [WIDTH][ROWS] */
    A *k_tile = do_tile + WIDTH * ROWS;       /* [WIDTH][PITCH] */
    A *v_tile = k_tile + WIDTH * PITCH;       /* [WIDTH][PITCH] */
    A *k_rows = v_tile + WIDTH * PITCH;       /* [KEYS][WIDTH] */
    A *kept = k_rows + KEYS * WIDTH;          /* [KEYS][THREADS] */
    A *swap = kept + KEYS * THREADS;          /* [2][PARTS][KEYS][ROWS] where PARTS > 1 */

    const int first = (gridDim.z - 1 - blockIdx.z) * ROWS;
    const int last = (first + ROWS < SEQ ? first + ROWS : SEQ) - 1;
    const int head = blockIdx.x, kv_head = head / (HEADS / KV_HEADS);
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS, query = first + row;
    const Mask mask = {positions, token, SEQ};
    const Mask::Row block_row = mask.row(first), own_row = mask.row(query);
    const A row_lse = query < SEQ ? lse[(token + query) * HEADS + head] : A(0);
    attention_load<ROWS, WIDTH, 1, ROWS>(q_tile, q + (token + first) * Q_STRIDE + head * HEAD_DIM,
                                         Q_STRIDE, SEQ - first, HEAD_DIM);
    attention_load<ROWS, WIDTH, 1, ROWS>(do_tile, d_o + (token + first) * DO_STRIDE + head * HEAD_DIM,
                                         DO_STRIDE, SEQ - first, HEAD_DIM);
    __syncthreads();

    A row_delta[1] = {};
    const int columns = query < SEQ ? HEAD_DIM - part * CHUNK : 0; /* in this thread's part */
    for (int d = 0; d < CHUNK && d < columns; d++) {
        const int column = part * CHUNK + d;
        const A out = convert<A>(o[(token + query) * O_STRIDE + head * HEAD_DIM + column]);
        row_delta[0] = fma(do_tile[column * ROWS + row], out, row_delta[0]);
    }
    attention_combine<PARTS, ROWS>(row_delta, swap, part, row);

    A sums[CHUNK] = {};
    for (int base = block_row.first_tile(KEYS); base <= last;
         base = block_row.next_tile(base, KEYS)) {
        const auto *k_base = k + (token + base) * K_STRIDE + kv_head * HEAD_DIM;
        const auto *v_base = v + (token + base) * V_STRIDE + kv_head * HEAD_DIM;
        __syncthreads();
        attention_load<KEYS, WIDTH, 1, PITCH>(k_tile, k_base, K_STRIDE, SEQ - base, HEAD_DIM);
        attention_load<KEYS, WIDTH, 1, PITCH>(v_tile, v_base, V_STRIDE, SEQ - base, HEAD_DIM);
        attention_load<KEYS, WIDTH, WIDTH, 1>(k_rows, k_base, K_STRIDE, SEQ - base, HEAD_DIM);
        __syncthreads();
        A s[KEYS] = {}, ds[KEYS] = {};
        attention_dots<CHUNK, ROWS, PITCH>(s, q_tile + part * CHUNK * ROWS + row,
                                           k_tile + part * CHUNK * PITCH);
        attention_dots<CHUNK, ROWS, PITCH>(ds, do_tile + part * CHUNK * ROWS + row,
                                           v_tile + part * CHUNK * PITCH);
        attention_combine<PARTS, ROWS>(s, swap, part, row);
        attention_combine<PARTS, ROWS>(ds, swap + PARTS * KEYS * ROWS, part, row);
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const bool seen = own_row.sees(base + j) && base + j <= query;
            ds[j] = seen ? exp(s[j] * SCALE - row_lse) * (ds[j] - row_delta[0]) : A(0);
        }
        attention_keep<THREADS>(kept, ds);
        attention_add_rows<KEYS, THREADS, WIDTH>(sums, kept, k_rows + part * CHUNK);
    }
    const UndoRope<HEAD_DIM, A> rotation = {rope_positions, rope_cos, rope_sin, token + first};
    attention_store_row<ROWS>(dq + (token + query) * DQ_STRIDE + head * HEAD_DIM, q_tile + row,
                              sums, SCALE, rotation, row, part * CHUNK,
                              query < SEQ ? HEAD_DIM : 0);
    if (query < SEQ && part == 0)
        delta[(token + query) * HEADS + head] = row_delta[0];
}

/* attention_grad, rope_grad (backward_kv of template attention_fma.cu)
 * from model.num_attention_heads; 256 bytes DRAM, 15.9 KiB issued, 34.8 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64)
attention_backward_kv_rope_16x2x8(
    const float *__restrict__ q, const float *__restrict__ k,
    const float *__restrict__ v, const int *__restrict__ positions,
    const float *__restrict__ lse, const float *__restrict__ delta,
    const float *__restrict__ d_o,
    const int *__restrict__ rope_positions, const float *__restrict__ rope_cos,
    const float *__restrict__ rope_sin,
    float *__restrict__ dk, float *__restrict__ dv) {
    using A = float;
    using Mask = CausalMask;
    constexpr int SEQ = 16, HEAD_DIM = 8;
    constexpr int HEADS = 2, KV_HEADS = 1, GROUP = HEADS / KV_HEADS;
    constexpr int64_t Q_STRIDE = 24, K_STRIDE = 8;
    constexpr int64_t V_STRIDE = 24, DO_STRIDE = 16;
    constexpr int64_t DK_STRIDE = 8, DV_STRIDE = 8;
    constexpr A SCALE = A(0.35355339059327373);
    constexpr int ROWS = 64, QUERIES = 32;
    constexpr int PARTS = (HEAD_DIM * sizeof(A) + 255) / 256;
    constexpr int CHUNK = ((HEAD_DIM + PARTS - 1) / PARTS + 7) / 8 * 8, WIDTH = PARTS * CHUNK;
    constexpr int THREADS = ROWS * PARTS;
    constexpr int PITCH = QUERIES + 16 / sizeof(A);

    DYNAMIC_SHARED(A, k_tile);                /* [WIDTH][ROWS] */
    A *v_tile = k_tile + WIDTH * ROWS;        /* [WIDTH][ROWS] */
    A *q_tile = v_tile + WIDTH * ROWS;        /* [WIDTH][PITCH] */
    A *do_tile = q_tile + WIDTH * PITCH;      /* [WIDTH][PITCH] */
    A *q_rows = do_tile + WIDTH * PITCH;      /* [QUERIES][WIDTH] */
    A *do_rows = q_rows + QUERIES * WIDTH;    /* [QUERIES][WIDTH] */
    A *kept = do_rows + QUERIES * WIDTH;      /* [QUERIES][THREADS] */
    A *lses = kept + QUERIES * THREADS;       /* [QUERIES] */
    A *deltas = lses + QUERIES;               /* [QUERIES] */
    constexpr int ROW_INTS = sizeof(Mask::Row) / sizeof(int); /* each in room for an A */
    auto *mask_rows = reinterpret_cast<Mask::Row *>(deltas + QUERIES); /* [QUERIES] */
    A *swap = deltas + (1 + ROW_INTS) * QUERIES; /* [2][PARTS][QUERIES][ROWS] where PARTS > 1 */

    const int first = blockIdx.z * ROWS, kv_head = blockIdx.x;
    const int64_t token = static_cast<int64_t>(blockIdx.y) * SEQ;
    const int row = threadIdx.x % ROWS, part = threadIdx.x / ROWS, key = first + row;
    const Mask mask = {positions, token, SEQ};
    attention_load<ROWS, WIDTH, 1, ROWS>(k_tile, k + (token + first) * K_STRIDE + kv_head * HEAD_DIM,
                                         K_STRIDE, SEQ - first, HEAD_DIM);
    attention_load<ROWS, WIDTH, 1, ROWS>(v_tile, v + (token + first) * V_STRIDE + kv_head * HEAD_DIM,
                                         V_STRIDE, SEQ - first, HEAD_DIM);

    A dk_sums[CHUNK] = {}, dv_sums[CHUNK] = {};
    for (int head = kv_head * GROUP; head < (kv_head + 1) * GROUP; head++)
        for (int base = first / QUERIES * QUERIES; base < SEQ; base += QUERIES) {
            if (!mask.row(base).sees_any(first, first + ROWS - 1))
                break; /* no later query sees a key of this block */
            const auto *q_base = q + (token + base) * Q_STRIDE + head * HEAD_DIM;
            const auto *do_base = d_o + (token + base) * DO_STRIDE + head * HEAD_DIM;
            __syncthreads();
            attention_load<QUERIES, WIDTH, 1, PITCH>(q_tile, q_base, Q_STRIDE, SEQ - base, HEAD_DIM);
            attention_load<QUERIES, WIDTH, 1, PITCH>(do_tile, do_base, DO_STRIDE, SEQ - base, HEAD_DIM);
            attention_load<QUERIES, WIDTH, WIDTH, 1>(q_rows, q_base, Q_STRIDE, SEQ - base, HEAD_DIM);
            attention_load<QUERIES, WIDTH, WIDTH, 1>(do_rows, do_base, DO_STRIDE, SEQ - base, HEAD_DIM);
            for (int i = threadIdx.x; i < QUERIES; i += blockDim.x) {
                const int query = base + i;
                const bool inside = query < SEQ; /* if not, it sees no key */
                const int64_t at = (token + query) * HEADS + head;
                lses[i] = inside ? lse[at] : A(0);
                deltas[i] = inside ? delta[at] : A(0);
                mask_rows[i] = mask.row(query);
            }
            __syncthreads();
            A p[QUERIES] = {}, ds[QUERIES] = {};
            attention_dots<CHUNK, ROWS, PITCH>(p, k_tile + part * CHUNK * ROWS + row,
                                               q_tile + part * CHUNK * PITCH);
            attention_dots<CHUNK, ROWS, PITCH>(ds, v_tile + part * CHUNK * ROWS + row,
                                               do_tile + part * CHUNK * PITCH);
            attention_combine<PARTS, ROWS>(p, swap, part, row);
            attention_combine<PARTS, ROWS>(ds, swap + PARTS * QUERIES * ROWS, part, row);
#pragma unroll
            for (int i = 0; i < QUERIES; i++) {
                const bool seen = mask_rows[i].sees(key) && key <= base + i;
                p[i] = seen ? exp(p[i] * SCALE - lses[i]) : A(0);
                ds[i] = p[i] * (ds[i] - deltas[i]);
            }
            attention_keep<THREADS>(kept, p);
            attention_add_rows<QUERIES, THREADS, WIDTH>(dv_sums, kept, do_rows + part * CHUNK);
            attention_keep<THREADS>(kept, ds);
            attention_add_rows<QUERIES, THREADS, WIDTH>(dk_sums, kept, q_rows + part * CHUNK);
        }
    const UndoRope<HEAD_DIM, A> rotation = {rope_positions, rope_cos, rope_sin, token + first};
    attention_store_row<ROWS>(dk + (token + key) * DK_STRIDE + kv_head * HEAD_DIM, k_tile + row,
                              dk_sums, SCALE, rotation, row, part * CHUNK,
                              key < SEQ ? HEAD_DIM : 0);
    if (key < SEQ)
        attention_store(dv + (token + key) * DV_STRIDE + kv_head * HEAD_DIM, dv_sums, A(1), part * CHUNK,
                        HEAD_DIM);
}

/* narrow_linear_weight_grad, narrow_linear_input_grad over [32, 8]
 * from adapter.r; 0 bytes DRAM, 12.2 KiB issued, 8.45 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64, 8)
narrow_linear_weight_grad_narrow_linear_input_grad_32x8(
    const float *__restrict__ self_attn_v_proj_u, const float *__restrict__ self_attn_grad_v,
    const float *__restrict__ weight, float *__restrict__ weight_grad,
    float *__restrict__ v_proj_u_grad) {
    constexpr int COLS = 8, ROWS_PER_WORKER = 32, LANES = 2, PARTS = 32, STRIDE = 48, THREADS = 64;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 4;
    Vec<float, 4> total_0 = {};
    Vec<float, 4> total_1 = {};
    Vec<float, 4> total_2 = {};
    Vec<float, 4> total_3 = {};
    Vec<float, 4> total_4 = {};
    Vec<float, 4> total_5 = {};
    Vec<float, 4> total_6 = {};
    Vec<float, 4> total_7 = {};
    const Vec<float, 4> weight_0_v = load_vec<4>(weight + col);
    const Vec<float, 4> weight_1_v = load_vec<4>(weight + 1 * COLS + col);
    const Vec<float, 4> weight_2_v = load_vec<4>(weight + 2 * COLS + col);
    const Vec<float, 4> weight_3_v = load_vec<4>(weight + 3 * COLS + col);
    const Vec<float, 4> weight_4_v = load_vec<4>(weight + 4 * COLS + col);
    const Vec<float, 4> weight_5_v = load_vec<4>(weight + 5 * COLS + col);
    const Vec<float, 4> weight_6_v = load_vec<4>(weight + 6 * COLS + col);
    const Vec<float, 4> weight_7_v = load_vec<4>(weight + 7 * COLS + col);
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = self_attn_grad_v[row * COLS + 0];
        const float dy_1 = self_attn_grad_v[row * COLS + 1];
        const float dy_2 = self_attn_grad_v[row * COLS + 2];
        const float dy_3 = self_attn_grad_v[row * COLS + 3];
        const float dy_4 = self_attn_grad_v[row * COLS + 4];
        const float dy_5 = self_attn_grad_v[row * COLS + 5];
        const float dy_6 = self_attn_grad_v[row * COLS + 6];
        const float dy_7 = self_attn_grad_v[row * COLS + 7];
        const Vec<float, 4> self_attn_v_proj_u_v =
            load_vec<4>(self_attn_v_proj_u + row * STRIDE + col);
        Vec<float, 4> v_proj_u_grad_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float t = self_attn_v_proj_u_v[j] * 2.0f;
            total_0[j] = fmaf(dy_0, t, total_0[j]);
            total_1[j] = fmaf(dy_1, t, total_1[j]);
            total_2[j] = fmaf(dy_2, t, total_2[j]);
            total_3[j] = fmaf(dy_3, t, total_3[j]);
            total_4[j] = fmaf(dy_4, t, total_4[j]);
            total_5[j] = fmaf(dy_5, t, total_5[j]);
            total_6[j] = fmaf(dy_6, t, total_6[j]);
            total_7[j] = fmaf(dy_7, t, total_7[j]);
            const float sum_0 = dy_0 * weight_0_v[j];
            const float sum_1 = fmaf(dy_1, weight_1_v[j], sum_0);
            const float sum_2 = fmaf(dy_2, weight_2_v[j], sum_1);
            const float sum_3 = fmaf(dy_3, weight_3_v[j], sum_2);
            const float sum_4 = fmaf(dy_4, weight_4_v[j], sum_3);
            const float sum_5 = fmaf(dy_5, weight_5_v[j], sum_4);
            const float sum_6 = fmaf(dy_6, weight_6_v[j], sum_5);
            const float sum_7 = fmaf(dy_7, weight_7_v[j], sum_6);
            v_proj_u_grad_v[j] = sum_7 * 2.0f;
        }
        store_vec(v_proj_u_grad + row * COLS + col, v_proj_u_grad_v);
    }
    SHARED Vec<float, 4> sums[THREADS];
    total_0 = sum_of_parts<PARTS, LANES>(sums, total_0);
    total_1 = sum_of_parts<PARTS, LANES>(sums, total_1);
    total_2 = sum_of_parts<PARTS, LANES>(sums, total_2);
    total_3 = sum_of_parts<PARTS, LANES>(sums, total_3);
    total_4 = sum_of_parts<PARTS, LANES>(sums, total_4);
    total_5 = sum_of_parts<PARTS, LANES>(sums, total_5);
    total_6 = sum_of_parts<PARTS, LANES>(sums, total_6);
    total_7 = sum_of_parts<PARTS, LANES>(sums, total_7);
    if (part > 0)
        return;
    store_vec(weight_grad + worker * COLS + col, convert_vec<float>(total_0));
    store_vec(weight_grad + worker * COLS + COLS + col, convert_vec<float>(total_1));
    store_vec(weight_grad + worker * COLS + 2 * COLS + col, convert_vec<float>(total_2));
    store_vec(weight_grad + worker * COLS + 3 * COLS + col, convert_vec<float>(total_3));
    store_vec(weight_grad + worker * COLS + 4 * COLS + col, convert_vec<float>(total_4));
    store_vec(weight_grad + worker * COLS + 5 * COLS + col, convert_vec<float>(total_5));
    store_vec(weight_grad + worker * COLS + 6 * COLS + col, convert_vec<float>(total_6));
    store_vec(weight_grad + worker * COLS + 7 * COLS + col, convert_vec<float>(total_7));
}

/* narrow_linear_weight_grad over [32, 32]
 * from adapter.r; 0 bytes DRAM, 13.0 KiB issued, 16.4 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256, 2) narrow_linear_weight_grad_32x32(
    const float *__restrict__ lora_dropout, const float *__restrict__ v_proj_u_grad,
    float *__restrict__ weight_grad) {
    constexpr int COLS = 32, ROWS_PER_WORKER = 32, LANES = 8, PARTS = 32, STRIDE = 8,
        THREADS = 256;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 4;
    Vec<float, 4> total_0 = {};
    Vec<float, 4> total_1 = {};
    Vec<float, 4> total_2 = {};
    Vec<float, 4> total_3 = {};
    Vec<float, 4> total_4 = {};
    Vec<float, 4> total_5 = {};
    Vec<float, 4> total_6 = {};
    Vec<float, 4> total_7 = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = v_proj_u_grad[row * STRIDE + 0];
        const float dy_1 = v_proj_u_grad[row * STRIDE + 1];
        const float dy_2 = v_proj_u_grad[row * STRIDE + 2];
        const float dy_3 = v_proj_u_grad[row * STRIDE + 3];
        const float dy_4 = v_proj_u_grad[row * STRIDE + 4];
        const float dy_5 = v_proj_u_grad[row * STRIDE + 5];
        const float dy_6 = v_proj_u_grad[row * STRIDE + 6];
        const float dy_7 = v_proj_u_grad[row * STRIDE + 7];
        const Vec<float, 4> lora_dropout_v = load_vec<4>(lora_dropout + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            total_0[j] = fmaf(dy_0, lora_dropout_v[j], total_0[j]);
            total_1[j] = fmaf(dy_1, lora_dropout_v[j], total_1[j]);
            total_2[j] = fmaf(dy_2, lora_dropout_v[j], total_2[j]);
            total_3[j] = fmaf(dy_3, lora_dropout_v[j], total_3[j]);
            total_4[j] = fmaf(dy_4, lora_dropout_v[j], total_4[j]);
            total_5[j] = fmaf(dy_5, lora_dropout_v[j], total_5[j]);
            total_6[j] = fmaf(dy_6, lora_dropout_v[j], total_6[j]);
            total_7[j] = fmaf(dy_7, lora_dropout_v[j], total_7[j]);
        }
    }
    SHARED Vec<float, 4> sums[THREADS];
    total_0 = sum_of_parts<PARTS, LANES>(sums, total_0);
    total_1 = sum_of_parts<PARTS, LANES>(sums, total_1);
    total_2 = sum_of_parts<PARTS, LANES>(sums, total_2);
    total_3 = sum_of_parts<PARTS, LANES>(sums, total_3);
    total_4 = sum_of_parts<PARTS, LANES>(sums, total_4);
    total_5 = sum_of_parts<PARTS, LANES>(sums, total_5);
    total_6 = sum_of_parts<PARTS, LANES>(sums, total_6);
    total_7 = sum_of_parts<PARTS, LANES>(sums, total_7);
    if (part > 0)
        return;
    store_vec(weight_grad + worker * COLS + col, convert_vec<float>(total_0));
    store_vec(weight_grad + worker * COLS + COLS + col, convert_vec<float>(total_1));
    store_vec(weight_grad + worker * COLS + 2 * COLS + col, convert_vec<float>(total_2));
    store_vec(weight_grad + worker * COLS + 3 * COLS + col, convert_vec<float>(total_3));
    store_vec(weight_grad + worker * COLS + 4 * COLS + col, convert_vec<float>(total_4));
    store_vec(weight_grad + worker * COLS + 5 * COLS + col, convert_vec<float>(total_5));
    store_vec(weight_grad + worker * COLS + 6 * COLS + col, convert_vec<float>(total_6));
    store_vec(weight_grad + worker * COLS + 7 * COLS + col, convert_vec<float>(total_7));
}

/* sum_squares over [3, 1024]
 * 0 bytes DRAM, 16.0 KiB issued, 6.14 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) sum_squares_3x1024(
    const float *__restrict__ sharded, float *__restrict__ columns) {
    constexpr int COLS = 1024, COLUMN_BLOCKS = 8, ROWS_PER_WORKER = 3, LANES = 32, PARTS = 8,
        THREADS = 256;
    const int column_block = blockIdx.x % COLUMN_BLOCKS;
    const int worker = blockIdx.x / COLUMN_BLOCKS;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = (column_block * LANES + lane) * 4;
    Vec<float, 4> total = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const Vec<float, 4> sharded_v = load_vec<4>(sharded + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            total[j] = fmaf(sharded_v[j], sharded_v[j], total[j]);
        }
    }
    SHARED Vec<float, 4> sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(columns + worker * COLS + col, convert_vec<float>(total));
}

/* sum over [1, 1024]
 * 0 bytes DRAM, 4.00 KiB issued, 1.02 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) sum_1024(
    const float *__restrict__ columns, float *__restrict__ squared) {
    constexpr int THREADS = 256;
    const int col = threadIdx.x * 4;
    float sum = 0;
    const Vec<float, 4> columns_v = load_vec<4>(columns + col);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        sum += columns_v[j];
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        squared[0] = sum;
}

/* sum, add, clip_factor, rates, advance_step over [1, 1024]
 * 0 bytes DRAM, 12.0 KiB issued, 2.30 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) sum_add_clip_factor_1024(
    const float *__restrict__ columns, const float *__restrict__ sharded_sum,
    int *__restrict__ step, int *__restrict__ bad_step, const float *__restrict__ lr,
    int *__restrict__ applied, const float *__restrict__ bias_correction1,
    const float *__restrict__ bias_correction2_sqrt, float *__restrict__ step_loss,
    float *__restrict__ grad_norm, float *__restrict__ clip_factor, float *__restrict__ rates_lr,
    float *__restrict__ rates_bias_correction1, float *__restrict__ rates_bias_correction2_sqrt,
    float *__restrict__ loss) {
    constexpr int THREADS = 256;
    constexpr float NORM_EPS = 1e-06f, MAX_NORM = 1.0f;
    const int col = threadIdx.x * 4;
    const float sharded_sum_value = sharded_sum[0];
    const int step_value = step[0];
    const int bad_step_value = bad_step[0];
    const bool good_so_far = bad_step_value < 0;
    const float lr_value = lr[step_value];
    const int applied_value = applied[0];
    const float bias_correction1_value = bias_correction1[applied_value];
    const float bias_correction2_sqrt_value = bias_correction2_sqrt[applied_value];
    const float step_loss_value = step_loss[0];
    float squared = 0;
    const Vec<float, 4> columns_v = load_vec<4>(columns + col);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        squared += columns_v[j];
    }
    squared = block_sum<THREADS>(squared);
    const float grad_norm_value = sqrtf(sharded_sum_value + squared);
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
 * 32768 bytes issued, 16128 FLOP per row */
extern "C" __global__ void __launch_bounds__(256) adamw_x1024(
    float *__restrict__ trained, const float *__restrict__ gradient, float *__restrict__ exp_avg,
    float *__restrict__ exp_avg_sq, const float *__restrict__ clip_factor,
    const float *__restrict__ rates_lr, const float *__restrict__ bias_correction1,
    const float *__restrict__ bias_correction2_sqrt, int64_t rows) {
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
    const Vec<float, 4> trained_v = load_vec<4>(trained + i);
    const Vec<float, 4> gradient_v = load_vec<4>(gradient + i);
    const Vec<float, 4> exp_avg_v = load_vec<4>(exp_avg + i);
    const Vec<float, 4> exp_avg_sq_v = load_vec<4>(exp_avg_sq + i);
    Vec<float, 4> new_trained_v;
    Vec<float, 4> new_exp_avg_v;
    Vec<float, 4> new_exp_avg_sq_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float clipped = gradient_v[j] * clip_factor_value;
        const float mean = exp_avg_v[j] + ONE_MINUS_BETA1 * (clipped - exp_avg_v[j]);
        const float mean_sq = BETA2 * exp_avg_sq_v[j] + ONE_MINUS_BETA2 * (clipped * clipped);
        const float change = rate * (mean / (sqrtf(mean_sq) / bias_correction2_sqrt_value + EPS));
        new_trained_v[j] = applies ? trained_v[j] * kept - change : trained_v[j];
        new_exp_avg_v[j] = applies ? mean : exp_avg_v[j];
        new_exp_avg_sq_v[j] = applies ? mean_sq : exp_avg_sq_v[j];
    }
    store_vec(trained + i, new_trained_v);
    store_vec(exp_avg + i, new_exp_avg_v);
    store_vec(exp_avg_sq + i, new_exp_avg_sq_v);
}

/* rms_norm over [32, 32]
 * 128 bytes DRAM, 12.0 KiB issued, 7.17 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) rms_norm_32x32_of_48(
    const float *__restrict__ embed_tokens, const float *__restrict__ weight,
    float *__restrict__ input_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8, STRIDE = 48;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const float embed_tokens_v = embed_tokens[row * COLS + col];
    sum = fmaf(embed_tokens_v, embed_tokens_v, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const float weight_v = weight[col];
    input_layernorm[row * STRIDE + col] = embed_tokens_v * rstd * weight_v;
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 8.12 KiB DRAM, 20.0 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32_2_results(
    const float *__restrict__ embed_tokens, const float *__restrict__ self_attn_o_proj,
    const float *__restrict__ weight, float *__restrict__ attn_residual,
    float *__restrict__ post_attention_layernorm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const float embed_tokens_v = embed_tokens[row * COLS + col];
    const float self_attn_o_proj_v = self_attn_o_proj[row * COLS + col];
    const float attn_residual_j = embed_tokens_v + self_attn_o_proj_v;
    attn_residual[row * COLS + col] = attn_residual_j;
    sum = fmaf(attn_residual_j, attn_residual_j, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const float weight_v = weight[col];
    post_attention_layernorm[row * COLS + col] = attn_residual_j * rstd * weight_v;
}

/* swiglu over [32, 24]
 * from model.intermediate_size; 0 bytes DRAM, 9.00 KiB issued, 2.30 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(192) swiglu_32x24_of_32(
    const float *__restrict__ gate_proj, const float *__restrict__ up_proj,
    float *__restrict__ mlp_act) {
    constexpr int COLS = 24, STRIDE = 32;
    const int i = threadIdx.x * 4;
    const int row = i / COLS, col = i % COLS;
    const Vec<float, 4> gate_proj_v = load_vec<4>(gate_proj + i);
    const Vec<float, 4> up_proj_v = load_vec<4>(up_proj + i);
    Vec<float, 4> mlp_act_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        mlp_act_v[j] = gate_proj_v[j] * (1.0f / (1.0f + expf(-gate_proj_v[j]))) * up_proj_v[j];
    }
    store_vec(mlp_act + row * STRIDE + col, mlp_act_v);
}

/* add, rms_norm over [32, 32]
 * from model.hidden_size; 3.38 KiB DRAM, 16.0 KiB issued, 9.22 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) add_rms_norm_32x32_1_result(
    const float *__restrict__ attn_residual, const float *__restrict__ down_proj,
    const float *__restrict__ weight, float *__restrict__ model_norm) {
    constexpr int COLS = 32, LANES = 32, WARPS = 8;
    constexpr float EPS = 1e-05f;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    float sum = 0;
    const float attn_residual_v = attn_residual[row * COLS + col];
    const float down_proj_v = down_proj[row * COLS + col];
    const float mlp_residual = attn_residual_v + down_proj_v;
    sum = fmaf(mlp_residual, mlp_residual, sum);
    sum = warp_sum(sum);
    const float rstd = 1.0f / sqrtf(sum * (1.0f / COLS) + EPS);
    const float weight_v = weight[col];
    model_norm[row * COLS + col] = mlp_residual * rstd * weight_v;
}

/* cross_entropy_join, sum, add over [1, 32]
 * from training.task; 140 bytes DRAM, 900 bytes issued, 416 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) cross_entropy_join_sum_add_32_1_result(
    const int *__restrict__ labels, const float *__restrict__ loss_weight,
    const float *__restrict__ part_lse_all, const float *__restrict__ part_target_all,
    float *__restrict__ eval_loss) {
    constexpr int THREADS = 32;
    const int col = threadIdx.x;
    const float loss_weight_value = loss_weight[0];
    const float eval_loss_value = eval_loss[0];
    float loss = 0;
    const int labels_v = labels[col];
    const float part_lse_all_j = part_lse_all[col];
    const float part_target_all_j = part_target_all[col];
    const float part_lse_all_j_2 = part_lse_all[col + 32];
    const float part_target_all_j_2 = part_target_all[col + 32];
    const float t = fmaxf(part_lse_all_j, part_lse_all_j_2);
    const float t_2 =
        t +
        logf(expf(part_lse_all_j - t) + expf(part_lse_all_j_2 - t)) -
        (part_target_all_j + part_target_all_j_2);
    loss += labels_v >= 0 ? t_2 * loss_weight_value : 0.0f;
    loss = block_sum<THREADS>(loss);
    if (threadIdx.x == 0)
        eval_loss[0] = eval_loss_value + loss;
}
