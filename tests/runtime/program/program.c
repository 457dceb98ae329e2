/* Tables and step functions of the hand-written test program, which layout.h describes. */
#include "runtime/runtime.h"

#include "layout.h"

#include <stddef.h>

#ifndef CUDA_GRAPH
#define CUDA_GRAPH true
#endif
#ifndef PIN_MEMORY
#define PIN_MEMORY true
#endif
#ifndef INTERVAL
#define INTERVAL 10
#endif
#ifndef EVAL_EVERY
#define EVAL_EVERY 0
#endif
#ifndef LR
#define LR 0.02
#endif
#ifndef RANKS
#define RANKS 1
#endif
#ifndef COMM_TIMEOUT_S
#define COMM_TIMEOUT_S 0
#endif
#ifndef SPEC
#define SPEC "0000000000000000000000000000000000000000000000000000000000000000"
#endif
#ifndef BROADCAST
#define BROADCAST false
#endif
#ifndef GENERATOR
#define GENERATOR "by hand"
#endif
#ifndef ADAPTER
#define ADAPTER false
#endif
#ifndef PROFILING
#define PROFILING false
#endif

#define S(member) offsetof(State, member)
#define T(member) offsetof(Scratch, member)
#define I(member) offsetof(Input, member)
#define INPUT_BYTES ((sizeof(Input) + 255) / 256 * 256)

enum {
    LOAD_SCALE,
    GATHER,
    TOKEN_LOSS,
    EMBED_GRAD,
    ADD_LOSS,
    GRAD_NORM,
    ADAM,
    ADVANCE,
    KEEP_MEAN,
    COUNT_HITS
};

static const RtKernel kernels[] = {
    {"load_scale", 1, 0}, {"gather", 64, 0},    {"token_loss", 64, 0}, {"embed_grad", 64, 0},
    {"add_loss", 1, 0},   {"grad_norm", 64, 0}, {"adam", 64, 0},       {"advance", 1, 0},
    {"keep_mean", 1, 0},  {"count_hits", 1, 0},
};

enum { LOGITS, DX, DW };

#define FLOATS .a = RT_F32, .b = RT_F32, .c = RT_F32, .compute = RT_COMPUTE_F32, .alpha = 1.0

static const RtGemm gemms[] = {
    {.name = "logits", .m = TOKENS, .n = VOCAB, .k = HIDDEN, .transpose_b = true,
     .lda = HIDDEN, .ldb = HIDDEN, .ldc = VOCAB, FLOATS},
    {.name = "dx", .m = TOKENS, .n = HIDDEN, .k = VOCAB,
     .lda = VOCAB, .ldb = HIDDEN, .ldc = HIDDEN, FLOATS},
    {.name = "dw", .m = VOCAB, .n = HIDDEN, .k = TOKENS, .transpose_a = true,
     .lda = VOCAB, .ldb = HIDDEN, .ldc = HIDDEN, FLOATS, .beta = MICRO_STEPS > 1 ? 1.0 : 0.0},
};

static void load(Rt *rt) {
    RtPtr to = rt_state(rt, S(scale_loaded)), from = rt_state(rt, S(scale));
    RtPtr factor = rt_state(rt, S(factor));
    rt_copy(rt, to, from, sizeof(float[4]));
    RT_LAUNCH(rt, LOAD_SCALE, RT_GRID(1, 1, 1), &to, &from, &factor);
    if (BROADCAST)
        rt_broadcast(rt, RT_REPLICATE, to, 4, RT_F32);
}

static void forward(Rt *rt) {
    RtPtr x = rt_scratch(rt, T(x)), embed = rt_state(rt, S(embed));
    RtPtr ids = rt_input(rt, I(input_ids)), labels = rt_input(rt, I(labels));
    RtPtr logits = rt_scratch(rt, T(logits)), dlogits = rt_scratch(rt, T(dlogits));
    RtPtr losses = rt_scratch(rt, T(losses)), weight = rt_input(rt, I(loss_weight));
    RtPtr scale = rt_state(rt, S(scale_loaded));
    RT_LAUNCH(rt, GATHER, RT_GRID(TOKENS * HIDDEN / 64, 1, 1), &x, &embed, &ids);
    rt_gemm(rt, LOGITS, x, rt_state(rt, S(head)), logits);
    rt_observe(rt, "logits", logits, RT_F32, TOKENS, VOCAB, VOCAB);
    RT_LAUNCH(rt, TOKEN_LOSS, RT_GRID(TOKENS / 64, 1, 1), &losses, &dlogits, &logits, &labels,
              &weight, &scale);
}

static void micro_step(Rt *rt) {
    RtPtr x = rt_scratch(rt, T(x)), dlogits = rt_scratch(rt, T(dlogits));
    RtPtr dx = rt_scratch(rt, T(dx)), losses = rt_scratch(rt, T(losses));
    RtPtr grad = rt_state(rt, S(embed_grad)), ids = rt_input(rt, I(input_ids));
    RtPtr total = rt_state(rt, S(step_loss));
    forward(rt);
    rt_gemm(rt, DX, dlogits, rt_state(rt, S(head)), dx);
    rt_gemm(rt, DW, dlogits, x, rt_state(rt, S(head_grad)));
    RT_LAUNCH(rt, EMBED_GRAD, RT_GRID(VOCAB * HIDDEN / 64, 1, 1), &grad, &dx, &ids);
    RtPtr mean = rt_state(rt, S(mean));
    RT_LAUNCH(rt, ADD_LOSS, RT_GRID(1, 1, 1), &total, &losses);
    RT_LAUNCH(rt, KEEP_MEAN, RT_GRID(1, 1, 1), &mean, &losses);
}

static void evaluate(Rt *rt) {
    RtPtr total = rt_state(rt, S(eval_loss)), losses = rt_scratch(rt, T(losses));
    RtPtr hits = rt_state(rt, S(hits)), logits = rt_scratch(rt, T(logits));
    RtPtr labels = rt_input(rt, I(labels));
    forward(rt);
    RT_LAUNCH(rt, ADD_LOSS, RT_GRID(1, 1, 1), &total, &losses);
    RT_LAUNCH(rt, COUNT_HITS, RT_GRID(1, 1, 1), &hits, &logits, &labels);
}

static void adam(Rt *rt, size_t value, size_t grad, size_t m, size_t v, RtPtr weight16) {
    RtPtr at_value = rt_state(rt, value), at_grad = rt_state(rt, grad), at_m = rt_state(rt, m);
    RtPtr at_v = rt_state(rt, v), step = rt_state(rt, S(step)), applied = rt_state(rt, S(applied));
    RtPtr bad = rt_state(rt, S(bad_step)), lr = rt_state(rt, S(lr));
    RtPtr c1 = rt_state(rt, S(bias_correction1)), c2 = rt_state(rt, S(bias_correction2_sqrt));
    RT_LAUNCH(rt, ADAM, RT_GRID(VOCAB * HIDDEN / 64, 1, 1), &at_value, &at_grad, &at_m, &at_v,
              &weight16, &step, &applied, &bad, &lr, &c1, &c2);
}

static void update(Rt *rt) {
    RtPtr norm = rt_scratch(rt, T(norm)), bad = rt_state(rt, S(bad_step));
    RtPtr step = rt_state(rt, S(step)), applied = rt_state(rt, S(applied));
    RtPtr a = rt_state(rt, S(head_grad)), b = rt_state(rt, S(embed_grad));
    RtPtr norms = rt_state(rt, S(grad_norm)), losses = rt_state(rt, S(loss));
    RtPtr loss = rt_state(rt, S(step_loss));
    rt_zero(rt, norm, sizeof(float[4]));
    if (RANKS > 1) {
        rt_all_reduce(rt, RT_REPLICATE, a, VOCAB * HIDDEN, RT_F32);
        rt_all_reduce(rt, RT_REPLICATE, b, VOCAB * HIDDEN, RT_F32);
        rt_all_reduce(rt, RT_REPLICATE, loss, 1, RT_F32);
    }
    RT_LAUNCH(rt, GRAD_NORM, RT_GRID(1, 1, 1), &norm, &bad, &step, &a, &b);
    adam(rt, S(head), S(head_grad), S(head_m), S(head_v), 0);
    adam(rt, S(embed_master), S(embed_grad), S(embed_m), S(embed_v), rt_state(rt, S(embed)));
    RT_LAUNCH(rt, ADVANCE, RT_GRID(1, 1, 1), &step, &applied, &bad, &losses, &loss, &norms, &norm);
}

static const RtOutput micro_step_outputs[] = {
    {0, "x", {RT_SCRATCH, T(x)}, RT_F32, TOKENS, HIDDEN, HIDDEN},
    {1, "logits", {RT_SCRATCH, T(logits)}, RT_F32, TOKENS, VOCAB, VOCAB},
    {2, "losses", {RT_SCRATCH, T(losses)}, RT_F32, 1, TOKENS, TOKENS},
    {3, "dx", {RT_SCRATCH, T(dx)}, RT_F32, TOKENS, HIDDEN, HIDDEN},
    {4, "grad.head", {RT_STATE, S(head_grad)}, RT_F32, VOCAB, HIDDEN, HIDDEN},
};

static const RtParam params[] = {
    {.name = "lm_head.weight",
     .rank = 2,
     .shape = {VOCAB, HIDDEN},
     .row_stride = HIDDEN,
     .dtype = RT_F32,
     .master_dtype = RT_F32,
     .weight = S(head),
     .master = RT_NOWHERE,
     .gradient = S(head_grad),
     .exp_avg = S(head_m),
     .exp_avg_sq = S(head_v),
     .trained = true,
     .init = RT_INIT_NORMAL,
     .init_scale = 0.1},
    {.name = "model.embed_tokens.weight",
     .rank = 2,
     .shape = {VOCAB, HIDDEN},
     .row_stride = E_STRIDE,
     .dtype = RT_BF16,
     .master_dtype = RT_F32,
     .weight = S(embed),
     .master = S(embed_master),
     .gradient = S(embed_grad),
     .exp_avg = S(embed_m),
     .exp_avg_sq = S(embed_v),
     .trained = true,
     .adapter = ADAPTER,
     .init = RT_INIT_UNIFORM,
     .init_scale = 0.5},
    {.name = "scale",
     .rank = 1,
     .shape = {4},
     .row_stride = 4,
     .dtype = RT_F32,
     .master_dtype = RT_F32,
     .weight = S(scale),
     .master = RT_NOWHERE,
     .gradient = RT_NOWHERE,
     .exp_avg = RT_NOWHERE,
     .exp_avg_sq = RT_NOWHERE,
     .init = RT_INIT_ONES},
    {.name = "mean",
     .rank = 1,
     .shape = {4},
     .row_stride = 4,
     .dtype = RT_F32,
     .master_dtype = RT_F32,
     .weight = S(mean),
     .master = RT_NOWHERE,
     .gradient = RT_NOWHERE,
     .exp_avg = RT_NOWHERE,
     .exp_avg_sq = RT_NOWHERE,
     .buffer = true},
};

static const double factor[] = {2.0, 0.0, 0.0, 0.0};

static const RtConstant constants[] = {{"factor", RT_F32, 4, S(factor), factor}};

static const RtInput inputs[] = {
    {"input_ids", RT_I32, TOKENS, I(input_ids)}, {"labels", RT_I32, TOKENS, I(labels)},
    {"positions", RT_I32, TOKENS, I(positions)}, {"loss_weight", RT_F32, 1, I(loss_weight)},
    {"first_row", RT_I32, 1, I(first_row)},
};

static const char *const train_files[] = {"train.txt"};

static const RtProgram program = {
    .name = "bigram",
    .spec_sha256 = SPEC,
    .recipe_sha256 = SPEC,
    .generator = GENERATOR,
    .mesh = {[RT_AXIS_REPLICATE] = RANKS},
    .groups = (const RtGroup[]){RT_REPLICATE},
    .group_count = RANKS > 1,
    .comm_timeout_s = COMM_TIMEOUT_S,
    .real = RT_F32,
    .precision = "fp32",
    .arena_bytes = {sizeof(State), sizeof(Scratch), INPUT_BYTES},
    .kernels = kernels,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .gemms = gemms,
    .gemm_count = sizeof gemms / sizeof *gemms,
    .gemm_workspace = T(workspace),
    .gemm_workspace_bytes = sizeof(float[WORKSPACE]),
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .constants = constants,
    .constant_count = sizeof constants / sizeof *constants,
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof *inputs,
    .counters = {S(seed), S(step), S(applied), S(bad_step), S(lr), S(bias_correction1),
                 S(bias_correction2_sqrt), S(loss), S(grad_norm), S(step_loss), S(eval_loss)},
    .metrics = (const RtMetric[]){{.name = "top1", .offset = S(hits)}},
    .metric_count = 1,
    .load = {load, NULL, 0, BROADCAST ? 3 : 2},
    .micro_step = {micro_step, micro_step_outputs,
                   sizeof micro_step_outputs / sizeof *micro_step_outputs, 8},
    .update = {update, NULL, 0, RANKS > 1 ? 8 : 5},
    .evaluate = {evaluate, NULL, 0, 5},
    .training = {.batch = BATCH,
                 .seq_len = SEQ,
                 .unit = {"tokens", "tok", "tokens_per_s"},
                 .micro_steps = MICRO_STEPS,
                 .steps = STEPS,
                 .log_every = 5,
                 .seed = 1,
                 .lr = LR,
                 .beta1 = 0.9,
                 .beta2 = 0.99,
                 .schedule = RT_SCHEDULE_COSINE,
                 .warmup_steps = 4,
                 .min_lr_factor = 0.1,
                 .eval_every = EVAL_EVERY,
                 .cuda_graph = CUDA_GRAPH,
                 .overlap = true},
    .data = {.format = RT_DATA_TEXT,
             .train = train_files,
             .train_count = 1,
             .eval_fraction = 0.1,
             .eval_batches = 4,
             .vocab_size = VOCAB,
             .prefetch_batches = 2,
             .num_workers = 2,
             .shuffle = true,
             .pin_memory = PIN_MEMORY},
    .checkpoint = {.interval = INTERVAL,
                   .keep_latest_k = 2,
                   .export_model = true,
                   .config_json = "{\"hidden_size\": 16, \"rope_theta\": 10000.0}",
                   .adapter_json = ADAPTER ? "{\"r\": 16}" : NULL},
    .profiling = {.enabled = PROFILING, .trace = true, .start_step = 3, .steps = 2},
    .predicted = {.device = "none",
                  .arena_bytes = sizeof(State) + sizeof(Scratch) + 2 * INPUT_BYTES},
};

int main(int argc, char **argv) { return rt_main(&program, argc, argv); }
