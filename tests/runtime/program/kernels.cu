// Kernels of the hand-written test program, which layout.h describes.
#include "runtime/kernel.cuh"

#include "layout.h"

extern "C" __global__ void load_scale(float *loaded, const float *scale, const float *factor) {
    loaded[0] = factor[0] * scale[0];
}

// x[t, :] = E[id[t], :]. Byte 255 is poison: tests use it to make a step fail.
extern "C" __global__ void __launch_bounds__(64)
    gather(float *x, const __nv_bfloat16 *embed, const int *ids) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= TOKENS * HIDDEN)
        return;
    int id = ids[i / HIDDEN];
    x[i] = id == 255 ? nanf("") : convert<float>(embed[id * E_STRIDE + i % HIDDEN]);
}

// One thread per token: its loss, and dlogits = loss_weight * (softmax - onehot).
extern "C" __global__ void __launch_bounds__(64)
    token_loss(float *losses, float *dlogits, const float *logits, const int *labels,
               const float *weight, const float *scale) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= TOKENS)
        return;
    const float *row = logits + t * VOCAB;
    int label = labels[t];
    float top = row[0] * scale[0], sum = 0.0f;
    for (int v = 1; v < VOCAB; v++)
        top = fmaxf(top, row[v] * scale[0]);
    for (int v = 0; v < VOCAB; v++)
        sum += expf(row[v] * scale[0] - top);
    float w = label < 0 ? 0.0f : weight[0];
    losses[t] = label < 0 ? 0.0f : weight[0] * (logf(sum) + top - row[label] * scale[0]);
    for (int v = 0; v < VOCAB; v++)
        dlogits[t * VOCAB + v] =
            w * scale[0] * (expf(row[v] * scale[0] - top) / sum - (v == label ? 1.0f : 0.0f));
}

extern "C" __global__ void __launch_bounds__(64)
    embed_grad(float *grad, const float *dx, const int *ids) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= VOCAB * HIDDEN)
        return;
    float sum = MICRO_STEPS > 1 ? grad[i] : 0.0f;
    for (int t = 0; t < TOKENS; t++)
        if (ids[t] == i / HIDDEN)
            sum += dx[t * HIDDEN + i % HIDDEN];
    grad[i] = sum;
}

extern "C" __global__ void add_loss(float *total, const float *losses) {
    float sum = 0.0f;
    for (int t = 0; t < TOKENS; t++)
        sum += losses[t];
    total[0] += sum;
}

// A running mean of the micro-steps' losses, as an example of a buffer.
extern "C" __global__ void keep_mean(float *mean, const float *losses) {
    float sum = 0.0f;
    for (int t = 0; t < TOKENS; t++)
        sum += losses[t];
    mean[0] = 0.9f * mean[0] + 0.1f * sum;
}

extern "C" __global__ void count_hits(float *hits, const float *logits, const int *labels) {
    for (int t = 0; t < TOKENS; t++) {
        int best = 0;
        for (int v = 1; v < VOCAB; v++)
            best = logits[t * VOCAB + v] > logits[t * VOCAB + best] ? v : best;
        hits[0] += best == labels[t] ? 1.0f : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(64)
    grad_norm(float *norm, int *bad_step, const int *step, const float *a, const float *b) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < VOCAB * HIDDEN; i += 64)
        sum += a[i] * a[i] + b[i] * b[i];
    sum = block_sum<64>(sum);
    if (threadIdx.x == 0) {
        norm[0] = sqrtf(sum);
        if (!isfinite(norm[0]) && *bad_step < 0)
            *bad_step = *step;
    }
}

// Adam; sets the gradient to zero for the next step. `weight16` may be null.
extern "C" __global__ void __launch_bounds__(64)
    adam(float *value, float *grad, float *m, float *v, __nv_bfloat16 *weight16, const int *step,
         const int *applied, const int *bad_step, const float *lr, const float *correction1,
         const float *correction2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= VOCAB * HIDDEN)
        return;
    if (*bad_step < 0) {
        m[i] = 0.9f * m[i] + 0.1f * grad[i];
        v[i] = 0.99f * v[i] + 0.01f * grad[i] * grad[i];
        float root = sqrtf(v[i]) / correction2[*applied];
        value[i] -= lr[*step] * (m[i] / correction1[*applied]) / (root + 1e-8f);
        if (weight16)
            weight16[i / HIDDEN * E_STRIDE + i % HIDDEN] = convert<__nv_bfloat16>(value[i]);
    }
    if (MICRO_STEPS > 1)
        grad[i] = 0.0f;
}

extern "C" __global__ void advance(int *step, int *applied, const int *bad_step, float *losses,
                                   float *loss, float *norms, const float *norm) {
    losses[*step] = loss[0];
    loss[0] = 0.0f;
    norms[*step] = norm[0];
    if (*bad_step < 0)
        *applied += 1;
    *step += 1;
}
