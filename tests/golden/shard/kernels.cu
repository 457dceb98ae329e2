/* The 14 kernels of shard.
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

/* image_input over [1, 512]
 * from model.image_size; 512 bytes DRAM, 2.00 KiB issued, 1.54 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64) image_input_512(
    const uint8_t *__restrict__ pixels, const float *__restrict__ image_mean,
    const float *__restrict__ image_std, __nv_bfloat16 *__restrict__ images) {
    const int i = threadIdx.x * 8;
    const float image_mean_value = image_mean[0];
    const float image_std_value = image_std[0];
    const Vec<uint8_t, 8> pixels_v = load_vec<8>(pixels + i);
    Vec<__nv_bfloat16, 8> images_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float images_j =
            (static_cast<float>(pixels_v[j]) / 255.0f - image_mean_value) / image_std_value;
        images_v[j] = convert<__nv_bfloat16>(images_j);
    }
    store_vec(images + i, images_v);
}

/* relu, relu_mask over [8, 64]
 * from model.hidden_size; 0 bytes DRAM, 2.06 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(64) relu_relu_mask_8x64(
    const __nv_bfloat16 *__restrict__ biased, __nv_bfloat16 *__restrict__ relu,
    uint8_t *__restrict__ relu_mask) {
    constexpr int COLS = 64, PER_BYTE = 8, RELU_MASK_STRIDE = 8;
    const int i = threadIdx.x * 8;
    const int row = i / COLS, col = i % COLS;
    const Vec<__nv_bfloat16, 8> biased_v = load_vec<8>(biased + i);
    Vec<__nv_bfloat16, 8> relu_v;
    Vec<uint8_t, 1> relu_mask_v = {};
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float biased_j = convert<float>(biased_v[j]);
        const float relu_j = biased_j < 0.0f ? 0.0f : biased_j;
        relu_v[j] = convert<__nv_bfloat16>(relu_j);
        pack<8>(relu_mask_v, j, relu_j > 0.0f);
    }
    store_vec(relu + i, relu_v);
    store_vec(relu_mask + row * RELU_MASK_STRIDE + col / PER_BYTE, relu_mask_v);
}

/* relu, narrow_linear over [8, 64]
 * from model.hidden_size; 0 bytes DRAM, 17.2 KiB issued, 12.8 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) relu_narrow_linear_8x64(
    const __nv_bfloat16 *__restrict__ biased, const __nv_bfloat16 *__restrict__ weight,
    const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *__restrict__ relu,
    __nv_bfloat16 *__restrict__ biased_2) {
    constexpr int COLS = 64, LANES = 32, WARPS = 8, STRIDE = 10;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane * 2;
    const float bias_0 = convert<float>(bias[0]);
    const float bias_1 = convert<float>(bias[1]);
    const float bias_2 = convert<float>(bias[2]);
    const float bias_3 = convert<float>(bias[3]);
    const float bias_4 = convert<float>(bias[4]);
    const float bias_5 = convert<float>(bias[5]);
    const float bias_6 = convert<float>(bias[6]);
    const float bias_7 = convert<float>(bias[7]);
    const float bias_8 = convert<float>(bias[8]);
    const float bias_9 = convert<float>(bias[9]);
    float sum_0 = 0;
    float sum_1 = 0;
    float sum_2 = 0;
    float sum_3 = 0;
    float sum_4 = 0;
    float sum_5 = 0;
    float sum_6 = 0;
    float sum_7 = 0;
    float sum_8 = 0;
    float sum_9 = 0;
    const Vec<__nv_bfloat16, 2> biased_v = load_vec<2>(biased + row * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_0_v = load_vec<2>(weight + col);
    const Vec<__nv_bfloat16, 2> weight_1_v = load_vec<2>(weight + 1 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_2_v = load_vec<2>(weight + 2 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_3_v = load_vec<2>(weight + 3 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_4_v = load_vec<2>(weight + 4 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_5_v = load_vec<2>(weight + 5 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_6_v = load_vec<2>(weight + 6 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_7_v = load_vec<2>(weight + 7 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_8_v = load_vec<2>(weight + 8 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_9_v = load_vec<2>(weight + 9 * COLS + col);
    Vec<__nv_bfloat16, 2> relu_v;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float biased_j = convert<float>(biased_v[j]);
        const float relu_j = biased_j < 0.0f ? 0.0f : biased_j;
        relu_v[j] = convert<__nv_bfloat16>(relu_j);
        const float weight_0 = convert<float>(weight_0_v[j]);
        sum_0 = fmaf(relu_j, weight_0, sum_0);
        const float weight_1 = convert<float>(weight_1_v[j]);
        sum_1 = fmaf(relu_j, weight_1, sum_1);
        const float weight_2 = convert<float>(weight_2_v[j]);
        sum_2 = fmaf(relu_j, weight_2, sum_2);
        const float weight_3 = convert<float>(weight_3_v[j]);
        sum_3 = fmaf(relu_j, weight_3, sum_3);
        const float weight_4 = convert<float>(weight_4_v[j]);
        sum_4 = fmaf(relu_j, weight_4, sum_4);
        const float weight_5 = convert<float>(weight_5_v[j]);
        sum_5 = fmaf(relu_j, weight_5, sum_5);
        const float weight_6 = convert<float>(weight_6_v[j]);
        sum_6 = fmaf(relu_j, weight_6, sum_6);
        const float weight_7 = convert<float>(weight_7_v[j]);
        sum_7 = fmaf(relu_j, weight_7, sum_7);
        const float weight_8 = convert<float>(weight_8_v[j]);
        sum_8 = fmaf(relu_j, weight_8, sum_8);
        const float weight_9 = convert<float>(weight_9_v[j]);
        sum_9 = fmaf(relu_j, weight_9, sum_9);
    }
    store_vec(relu + row * COLS + col, relu_v);
    sum_0 = warp_sum(sum_0);
    sum_1 = warp_sum(sum_1);
    sum_2 = warp_sum(sum_2);
    sum_3 = warp_sum(sum_3);
    sum_4 = warp_sum(sum_4);
    sum_5 = warp_sum(sum_5);
    sum_6 = warp_sum(sum_6);
    sum_7 = warp_sum(sum_7);
    sum_8 = warp_sum(sum_8);
    sum_9 = warp_sum(sum_9);
    if (lane == 0) {
        biased_2[row * STRIDE + 0] = convert<__nv_bfloat16>(sum_0 + bias_0);
        biased_2[row * STRIDE + 1] = convert<__nv_bfloat16>(sum_1 + bias_1);
        biased_2[row * STRIDE + 2] = convert<__nv_bfloat16>(sum_2 + bias_2);
        biased_2[row * STRIDE + 3] = convert<__nv_bfloat16>(sum_3 + bias_3);
        biased_2[row * STRIDE + 4] = convert<__nv_bfloat16>(sum_4 + bias_4);
        biased_2[row * STRIDE + 5] = convert<__nv_bfloat16>(sum_5 + bias_5);
        biased_2[row * STRIDE + 6] = convert<__nv_bfloat16>(sum_6 + bias_6);
        biased_2[row * STRIDE + 7] = convert<__nv_bfloat16>(sum_7 + bias_7);
        biased_2[row * STRIDE + 8] = convert<__nv_bfloat16>(sum_8 + bias_8);
        biased_2[row * STRIDE + 9] = convert<__nv_bfloat16>(sum_9 + bias_9);
    }
}

/* cross_entropy, cross_entropy_grad, column_sum over [8, 10]
 * from training.task; 36 bytes DRAM, 3.38 KiB issued, 1.57 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_cross_entropy_grad_column_sum_8x10(
    const __nv_bfloat16 *__restrict__ biased, const int *__restrict__ labels,
    const float *__restrict__ loss_weight, const float *__restrict__ loss_grad,
    float *__restrict__ loss_rows, __nv_bfloat16 *__restrict__ biased_grad,
    float *__restrict__ bias_grad) {
    constexpr int COLS = 10, ROWS_PER_WORKER = 8, LANES = 32, PARTS = 8, THREADS = 256;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane;
    float total = {};
    const float loss_weight_value = loss_weight[0];
    const float loss_grad_value = loss_grad[0];
    const float scale = loss_weight_value * loss_grad_value;
    for (int row = first + part; row < end; row += PARTS) {
        const int labels_row = labels[row];
        const bool has_target = labels_row >= 0;
        __nv_bfloat16 biased_v;
        SumOfExps<float> exps;
        float target = 0;
        if (col < COLS) {
            biased_v = biased[row * COLS + col];
            const float biased_j = convert<float>(biased_v);
            exps.add(biased_j);
            target += col == labels_row ? biased_j : 0.0f;
        }
        const float lse = warp_lse(exps);
        target = warp_sum(target);
        if (lane == 0)
            loss_rows[row] = has_target ? (lse - target) * loss_weight_value : 0.0f;
        if (col < COLS) {
            const float softmax = expf(convert<float>(biased_v) - lse);
            const float biased_grad_j =
                has_target ? (col == labels_row ? softmax - 1.0f : softmax) * scale : 0.0f;
            biased_grad[row * COLS + col] = convert<__nv_bfloat16>(biased_grad_j);
            total += rounded<__nv_bfloat16>(biased_grad_j);
        }
    }
    SHARED float sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    if (col < COLS) {
        bias_grad[worker * COLS + col] = convert<float>(total);
    }
}

/* sum, add over [1, 8]
 * from training.task; 0 bytes DRAM, 164 bytes issued, 40 FLOP per launch */
extern "C" __global__ void __launch_bounds__(32) sum_add_8(
    const float *__restrict__ loss_rows, float *__restrict__ step_loss) {
    constexpr int COLS = 8, THREADS = 32;
    const int col = threadIdx.x;
    const float step_loss_value = step_loss[0];
    float loss = 0;
    if (col < COLS) {
        const float loss_rows_v = loss_rows[col];
        loss += loss_rows_v;
    }
    loss = block_sum<THREADS>(loss);
    if (threadIdx.x == 0)
        step_loss[0] = step_loss_value + loss;
}

/* narrow_linear_weight_grad, narrow_linear_input_grad, relu_grad, column_sum over [8, 64]
 * from model.hidden_size; 0 bytes DRAM, 17.2 KiB issued, 20.5 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(64, 8)
narrow_linear_weight_grad_narrow_linear_input_grad_relu_grad_8x64(
    const __nv_bfloat16 *__restrict__ relu, const __nv_bfloat16 *__restrict__ biased_grad,
    const __nv_bfloat16 *__restrict__ weight, float *__restrict__ weight_grad,
    __nv_bfloat16 *__restrict__ biased_grad_2, float *__restrict__ bias_grad) {
    constexpr int COLS = 64, COLUMN_BLOCKS = 2, ROWS_PER_WORKER = 8, LANES = 8, PARTS = 8,
        STRIDE = 10, THREADS = 64;
    const int column_block = blockIdx.x % COLUMN_BLOCKS;
    const int worker = blockIdx.x / COLUMN_BLOCKS;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = (column_block * LANES + lane) * 4;
    Vec<float, 4> total_0 = {};
    Vec<float, 4> total_1 = {};
    Vec<float, 4> total_2 = {};
    Vec<float, 4> total_3 = {};
    Vec<float, 4> total_4 = {};
    Vec<float, 4> total_5 = {};
    Vec<float, 4> total_6 = {};
    Vec<float, 4> total_7 = {};
    Vec<float, 4> total_8 = {};
    Vec<float, 4> total_9 = {};
    Vec<float, 4> total = {};
    const Vec<__nv_bfloat16, 4> weight_0_v = load_vec<4>(weight + col);
    const Vec<__nv_bfloat16, 4> weight_1_v = load_vec<4>(weight + 1 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_2_v = load_vec<4>(weight + 2 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_3_v = load_vec<4>(weight + 3 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_4_v = load_vec<4>(weight + 4 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_5_v = load_vec<4>(weight + 5 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_6_v = load_vec<4>(weight + 6 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_7_v = load_vec<4>(weight + 7 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_8_v = load_vec<4>(weight + 8 * COLS + col);
    const Vec<__nv_bfloat16, 4> weight_9_v = load_vec<4>(weight + 9 * COLS + col);
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const float dy_0 = convert<float>(biased_grad[row * STRIDE + 0]);
        const float dy_1 = convert<float>(biased_grad[row * STRIDE + 1]);
        const float dy_2 = convert<float>(biased_grad[row * STRIDE + 2]);
        const float dy_3 = convert<float>(biased_grad[row * STRIDE + 3]);
        const float dy_4 = convert<float>(biased_grad[row * STRIDE + 4]);
        const float dy_5 = convert<float>(biased_grad[row * STRIDE + 5]);
        const float dy_6 = convert<float>(biased_grad[row * STRIDE + 6]);
        const float dy_7 = convert<float>(biased_grad[row * STRIDE + 7]);
        const float dy_8 = convert<float>(biased_grad[row * STRIDE + 8]);
        const float dy_9 = convert<float>(biased_grad[row * STRIDE + 9]);
        const Vec<__nv_bfloat16, 4> relu_v = load_vec<4>(relu + row * COLS + col);
        Vec<__nv_bfloat16, 4> biased_grad_2_v;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float relu_j = convert<float>(relu_v[j]);
            total_0[j] = fmaf(dy_0, relu_j, total_0[j]);
            total_1[j] = fmaf(dy_1, relu_j, total_1[j]);
            total_2[j] = fmaf(dy_2, relu_j, total_2[j]);
            total_3[j] = fmaf(dy_3, relu_j, total_3[j]);
            total_4[j] = fmaf(dy_4, relu_j, total_4[j]);
            total_5[j] = fmaf(dy_5, relu_j, total_5[j]);
            total_6[j] = fmaf(dy_6, relu_j, total_6[j]);
            total_7[j] = fmaf(dy_7, relu_j, total_7[j]);
            total_8[j] = fmaf(dy_8, relu_j, total_8[j]);
            total_9[j] = fmaf(dy_9, relu_j, total_9[j]);
            const float weight_0 = convert<float>(weight_0_v[j]);
            const float sum_0 = dy_0 * weight_0;
            const float weight_1 = convert<float>(weight_1_v[j]);
            const float sum_1 = fmaf(dy_1, weight_1, sum_0);
            const float weight_2 = convert<float>(weight_2_v[j]);
            const float sum_2 = fmaf(dy_2, weight_2, sum_1);
            const float weight_3 = convert<float>(weight_3_v[j]);
            const float sum_3 = fmaf(dy_3, weight_3, sum_2);
            const float weight_4 = convert<float>(weight_4_v[j]);
            const float sum_4 = fmaf(dy_4, weight_4, sum_3);
            const float weight_5 = convert<float>(weight_5_v[j]);
            const float sum_5 = fmaf(dy_5, weight_5, sum_4);
            const float weight_6 = convert<float>(weight_6_v[j]);
            const float sum_6 = fmaf(dy_6, weight_6, sum_5);
            const float weight_7 = convert<float>(weight_7_v[j]);
            const float sum_7 = fmaf(dy_7, weight_7, sum_6);
            const float weight_8 = convert<float>(weight_8_v[j]);
            const float sum_8 = fmaf(dy_8, weight_8, sum_7);
            const float weight_9 = convert<float>(weight_9_v[j]);
            const float sum_9 = fmaf(dy_9, weight_9, sum_8);
            const float biased_grad_2_j = relu_j > 0.0f ? rounded<__nv_bfloat16>(sum_9) : 0.0f;
            biased_grad_2_v[j] = convert<__nv_bfloat16>(biased_grad_2_j);
            total[j] += biased_grad_2_j;
        }
        store_vec(biased_grad_2 + row * COLS + col, biased_grad_2_v);
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
    total_8 = sum_of_parts<PARTS, LANES>(sums, total_8);
    total_9 = sum_of_parts<PARTS, LANES>(sums, total_9);
    total = sum_of_parts<PARTS, LANES>(sums, total);
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
    store_vec(weight_grad + worker * COLS + 8 * COLS + col, convert_vec<float>(total_8));
    store_vec(weight_grad + worker * COLS + 9 * COLS + col, convert_vec<float>(total_9));
    store_vec(bias_grad + worker * COLS + col, convert_vec<float>(total));
}

/* relu_grad_masked, column_sum over [8, 64]
 * from model.hidden_size; 0 bytes DRAM, 2.31 KiB issued, 512 FLOP per launch */
extern "C" __global__ void __launch_bounds__(64) relu_grad_masked_column_sum_8x64(
    const uint8_t *__restrict__ relu_mask, const __nv_bfloat16 *__restrict__ relu_grad,
    __nv_bfloat16 *__restrict__ biased_grad, float *__restrict__ bias_grad) {
    constexpr int COLS = 64, ROWS_PER_WORKER = 8, LANES = 8, PARTS = 8, PER_BYTE = 8,
        RELU_MASK_STRIDE = 8, THREADS = 64;
    const int worker = blockIdx.x;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = lane * 8;
    Vec<float, 8> total = {};
    for (int row = first + part; row < end; row += PARTS) {
        const Vec<uint8_t, 1> relu_mask_v =
            load_vec<1>(relu_mask + row * RELU_MASK_STRIDE + col / PER_BYTE);
        const Vec<__nv_bfloat16, 8> relu_grad_v = load_vec<8>(relu_grad + row * COLS + col);
        Vec<__nv_bfloat16, 8> biased_grad_v;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float biased_grad_j =
                unpack<8>(relu_mask_v, j) == 1 ? convert<float>(relu_grad_v[j]) : 0.0f;
            biased_grad_v[j] = convert<__nv_bfloat16>(biased_grad_j);
            total[j] += biased_grad_j;
        }
        store_vec(biased_grad + row * COLS + col, biased_grad_v);
    }
    SHARED Vec<float, 8> sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(bias_grad + worker * COLS + col, convert_vec<float>(total));
}

/* sum_squares over [6, 1024]
 * 0 bytes DRAM, 28.0 KiB issued, 12.3 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) sum_squares_6x1024(
    const float *__restrict__ piece, float *__restrict__ columns) {
    constexpr int COLS = 1024, COLUMN_BLOCKS = 4, ROWS_PER_WORKER = 6, LANES = 32, PARTS = 8,
        THREADS = 256;
    const int column_block = blockIdx.x % COLUMN_BLOCKS;
    const int worker = blockIdx.x / COLUMN_BLOCKS;
    const int first = worker * ROWS_PER_WORKER, end = first + ROWS_PER_WORKER;
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    const int col = (column_block * LANES + lane) * 8;
    Vec<float, 8> total = {};
#pragma unroll 4
    for (int row = first + part; row < end; row += PARTS) {
        const Vec<float, 8> piece_v = load_vec<8>(piece + row * COLS + col);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            total[j] = fmaf(piece_v[j], piece_v[j], total[j]);
        }
    }
    SHARED Vec<float, 8> sums[THREADS];
    total = sum_of_parts<PARTS, LANES>(sums, total);
    if (part > 0)
        return;
    store_vec(columns + worker * COLS + col, convert_vec<float>(total));
}

/* sum over [1, 1024]
 * 0 bytes DRAM, 4.00 KiB issued, 1.02 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(128) sum_1024(
    const float *__restrict__ columns, float *__restrict__ squared) {
    constexpr int THREADS = 128;
    const int col = threadIdx.x * 8;
    float sum = 0;
    const Vec<float, 8> columns_v = load_vec<8>(columns + col);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        sum += columns_v[j];
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0)
        squared[0] = sum;
}

/* clip_factor, rates, advance_step
 * 0 bytes DRAM, 72 bytes issued, 4 FLOP per launch */
extern "C" __global__ void __launch_bounds__(1) clip_factor_rates_advance_step(
    const float *__restrict__ squared, int *__restrict__ step, int *__restrict__ bad_step,
    const float *__restrict__ lr, int *__restrict__ applied,
    const float *__restrict__ bias_correction1, const float *__restrict__ bias_correction2_sqrt,
    float *__restrict__ step_loss, float *__restrict__ grad_norm, float *__restrict__ clip_factor,
    float *__restrict__ rates_lr, float *__restrict__ rates_bias_correction1,
    float *__restrict__ rates_bias_correction2_sqrt, float *__restrict__ loss) {
    constexpr float NORM_EPS = 1e-06f, MAX_NORM = 1.0f;
    const float squared_value = squared[0];
    const float grad_norm_value = sqrtf(squared_value);
    const int step_value = step[0];
    const int bad_step_value = bad_step[0];
    grad_norm[step_value] = grad_norm_value;
    const bool good_so_far = bad_step_value < 0;
    const float factor = good_so_far ? fminf(1.0f, MAX_NORM / (grad_norm_value + NORM_EPS)) : 0.0f;
    const float clip_factor_value = isfinite(grad_norm_value) ? factor : 0.0f;
    clip_factor[0] = clip_factor_value;
    const float lr_value = lr[step_value];
    rates_lr[0] = lr_value;
    const int applied_value = applied[0];
    const float bias_correction1_value = bias_correction1[applied_value];
    rates_bias_correction1[0] = bias_correction1_value;
    const float bias_correction2_sqrt_value = bias_correction2_sqrt[applied_value];
    rates_bias_correction2_sqrt[0] = bias_correction2_sqrt_value;
    const bool applies = clip_factor_value > 0.0f;
    const float step_loss_value = step_loss[0];
    loss[step_value] = step_loss_value;
    step[0] = step_value + 1;
    applied[0] = applies ? applied_value + 1 : applied_value;
    bad_step[0] = applies ? bad_step_value : (good_so_far ? step_value : bad_step_value);
    step_loss[0] = 0.0f;
}

/* adamw over [rows, 1024]
 * 34816 bytes issued, 16128 FLOP per row */
extern "C" __global__ void __launch_bounds__(256) adamw_x1024(
    float *__restrict__ piece, const float *__restrict__ gradient_piece,
    float *__restrict__ exp_avg_piece, float *__restrict__ exp_avg_sq_piece,
    const float *__restrict__ clip_factor, const float *__restrict__ rates_lr,
    const float *__restrict__ bias_correction1, const float *__restrict__ bias_correction2_sqrt,
    __nv_bfloat16 *__restrict__ trained_piece, int64_t rows) {
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
    const Vec<float, 4> piece_v = load_vec<4>(piece + i);
    const Vec<float, 4> gradient_piece_v = load_vec<4>(gradient_piece + i);
    const Vec<float, 4> exp_avg_piece_v = load_vec<4>(exp_avg_piece + i);
    const Vec<float, 4> exp_avg_sq_piece_v = load_vec<4>(exp_avg_sq_piece + i);
    Vec<float, 4> new_piece_v;
    Vec<float, 4> new_exp_avg_piece_v;
    Vec<float, 4> new_exp_avg_sq_piece_v;
    Vec<__nv_bfloat16, 4> trained_piece_v;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float clipped = gradient_piece_v[j] * clip_factor_value;
        const float mean = exp_avg_piece_v[j] + ONE_MINUS_BETA1 * (clipped - exp_avg_piece_v[j]);
        const float mean_sq = BETA2 * exp_avg_sq_piece_v[j] + ONE_MINUS_BETA2 * (clipped * clipped);
        const float change = rate * (mean / (sqrtf(mean_sq) / bias_correction2_sqrt_value + EPS));
        const float piece_j = applies ? piece_v[j] * kept - change : piece_v[j];
        new_piece_v[j] = piece_j;
        new_exp_avg_piece_v[j] = applies ? mean : exp_avg_piece_v[j];
        new_exp_avg_sq_piece_v[j] = applies ? mean_sq : exp_avg_sq_piece_v[j];
        trained_piece_v[j] = convert<__nv_bfloat16>(piece_j);
    }
    store_vec(piece + i, new_piece_v);
    store_vec(exp_avg_piece + i, new_exp_avg_piece_v);
    store_vec(exp_avg_sq_piece + i, new_exp_avg_sq_piece_v);
    store_vec(trained_piece + i, trained_piece_v);
}

/* relu over [8, 64]
 * from model.hidden_size; 0 bytes DRAM, 2.00 KiB issued per launch */
extern "C" __global__ void __launch_bounds__(64) relu_8x64(
    const __nv_bfloat16 *__restrict__ biased, __nv_bfloat16 *__restrict__ relu) {
    const int i = threadIdx.x * 8;
    const Vec<__nv_bfloat16, 8> biased_v = load_vec<8>(biased + i);
    Vec<__nv_bfloat16, 8> relu_v;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const float biased_j = convert<float>(biased_v[j]);
        relu_v[j] = convert<__nv_bfloat16>(biased_j < 0.0f ? 0.0f : biased_j);
    }
    store_vec(relu + i, relu_v);
}

/* relu, narrow_linear over [8, 64]
 * from model.hidden_size; 1.43 KiB DRAM, 16.2 KiB issued, 12.8 kFLOP per launch */
extern "C" __global__ void __launch_bounds__(256) relu_narrow_linear_8x64_1_result(
    const __nv_bfloat16 *__restrict__ biased, const __nv_bfloat16 *__restrict__ weight,
    const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *__restrict__ biased_2) {
    constexpr int COLS = 64, LANES = 32, WARPS = 8, STRIDE = 10;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane * 2;
    const float bias_0 = convert<float>(bias[0]);
    const float bias_1 = convert<float>(bias[1]);
    const float bias_2 = convert<float>(bias[2]);
    const float bias_3 = convert<float>(bias[3]);
    const float bias_4 = convert<float>(bias[4]);
    const float bias_5 = convert<float>(bias[5]);
    const float bias_6 = convert<float>(bias[6]);
    const float bias_7 = convert<float>(bias[7]);
    const float bias_8 = convert<float>(bias[8]);
    const float bias_9 = convert<float>(bias[9]);
    float sum_0 = 0;
    float sum_1 = 0;
    float sum_2 = 0;
    float sum_3 = 0;
    float sum_4 = 0;
    float sum_5 = 0;
    float sum_6 = 0;
    float sum_7 = 0;
    float sum_8 = 0;
    float sum_9 = 0;
    const Vec<__nv_bfloat16, 2> biased_v = load_vec<2>(biased + row * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_0_v = load_vec<2>(weight + col);
    const Vec<__nv_bfloat16, 2> weight_1_v = load_vec<2>(weight + 1 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_2_v = load_vec<2>(weight + 2 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_3_v = load_vec<2>(weight + 3 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_4_v = load_vec<2>(weight + 4 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_5_v = load_vec<2>(weight + 5 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_6_v = load_vec<2>(weight + 6 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_7_v = load_vec<2>(weight + 7 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_8_v = load_vec<2>(weight + 8 * COLS + col);
    const Vec<__nv_bfloat16, 2> weight_9_v = load_vec<2>(weight + 9 * COLS + col);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float biased_j = convert<float>(biased_v[j]);
        const float at_least_0 = biased_j < 0.0f ? 0.0f : biased_j;
        const float weight_0 = convert<float>(weight_0_v[j]);
        sum_0 = fmaf(at_least_0, weight_0, sum_0);
        const float weight_1 = convert<float>(weight_1_v[j]);
        sum_1 = fmaf(at_least_0, weight_1, sum_1);
        const float weight_2 = convert<float>(weight_2_v[j]);
        sum_2 = fmaf(at_least_0, weight_2, sum_2);
        const float weight_3 = convert<float>(weight_3_v[j]);
        sum_3 = fmaf(at_least_0, weight_3, sum_3);
        const float weight_4 = convert<float>(weight_4_v[j]);
        sum_4 = fmaf(at_least_0, weight_4, sum_4);
        const float weight_5 = convert<float>(weight_5_v[j]);
        sum_5 = fmaf(at_least_0, weight_5, sum_5);
        const float weight_6 = convert<float>(weight_6_v[j]);
        sum_6 = fmaf(at_least_0, weight_6, sum_6);
        const float weight_7 = convert<float>(weight_7_v[j]);
        sum_7 = fmaf(at_least_0, weight_7, sum_7);
        const float weight_8 = convert<float>(weight_8_v[j]);
        sum_8 = fmaf(at_least_0, weight_8, sum_8);
        const float weight_9 = convert<float>(weight_9_v[j]);
        sum_9 = fmaf(at_least_0, weight_9, sum_9);
    }
    sum_0 = warp_sum(sum_0);
    sum_1 = warp_sum(sum_1);
    sum_2 = warp_sum(sum_2);
    sum_3 = warp_sum(sum_3);
    sum_4 = warp_sum(sum_4);
    sum_5 = warp_sum(sum_5);
    sum_6 = warp_sum(sum_6);
    sum_7 = warp_sum(sum_7);
    sum_8 = warp_sum(sum_8);
    sum_9 = warp_sum(sum_9);
    if (lane == 0) {
        biased_2[row * STRIDE + 0] = convert<__nv_bfloat16>(sum_0 + bias_0);
        biased_2[row * STRIDE + 1] = convert<__nv_bfloat16>(sum_1 + bias_1);
        biased_2[row * STRIDE + 2] = convert<__nv_bfloat16>(sum_2 + bias_2);
        biased_2[row * STRIDE + 3] = convert<__nv_bfloat16>(sum_3 + bias_3);
        biased_2[row * STRIDE + 4] = convert<__nv_bfloat16>(sum_4 + bias_4);
        biased_2[row * STRIDE + 5] = convert<__nv_bfloat16>(sum_5 + bias_5);
        biased_2[row * STRIDE + 6] = convert<__nv_bfloat16>(sum_6 + bias_6);
        biased_2[row * STRIDE + 7] = convert<__nv_bfloat16>(sum_7 + bias_7);
        biased_2[row * STRIDE + 8] = convert<__nv_bfloat16>(sum_8 + bias_8);
        biased_2[row * STRIDE + 9] = convert<__nv_bfloat16>(sum_9 + bias_9);
    }
}

/* cross_entropy, topk_hits over [8, 10]
 * from training.task; 132 bytes DRAM, 2.25 KiB issued, 992 FLOP per launch */
extern "C" __global__ void __launch_bounds__(256) cross_entropy_topk_hits_8x10(
    const __nv_bfloat16 *__restrict__ biased, const int *__restrict__ labels,
    const float *__restrict__ loss_weight, float *__restrict__ loss_rows,
    float *__restrict__ hits_top1, float *__restrict__ hits_top5) {
    constexpr int COLS = 10, LANES = 32, WARPS = 8;
    const int row = blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int col = lane;
    const int labels_row = labels[row];
    const float loss_weight_value = loss_weight[0];
    const bool has_target = labels_row >= 0;
    __nv_bfloat16 biased_v;
    SumOfExps<float> exps;
    float target = 0;
    if (col < COLS) {
        biased_v = biased[row * COLS + col];
        const float biased_j = convert<float>(biased_v);
        exps.add(biased_j);
        target += col == labels_row ? biased_j : 0.0f;
    }
    const float lse = warp_lse(exps);
    target = warp_sum(target);
    if (lane == 0)
        loss_rows[row] = has_target ? (lse - target) * loss_weight_value : 0.0f;
    float rank = 0;
    if (col < COLS) {
        /* As in the previous pass over the row, which does not keep it. */
        const float biased_j = convert<float>(biased_v);
        rank +=
            biased_j < target ? 0.0f :
            (biased_j == target ? (col < labels_row ? 1.0f : 0.0f) : 1.0f);
    }
    rank = warp_sum(rank);
    if (lane == 0) {
        hits_top1[row] = has_target ? (rank < 1.0f ? 1.0f : 0.0f) : 0.0f;
        hits_top5[row] = has_target ? (rank < 5.0f ? 1.0f : 0.0f) : 0.0f;
    }
}
