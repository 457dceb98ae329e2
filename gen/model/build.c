/* What all models have in common: precision, counters, batch, loss, the two graphs. */
#include "model/image.h"

/* The precision policy: the dtype of activations and GEMM operands. Losses, norms, weight gradients
 * and the optimizer are in `real`. */
static void set_precision(Program *p, const Spec *spec) {
    switch (spec->precision.dtype) {
    case PRECISION_FP64:
        p->real = p->activation = DT_F64;
        break;
    case PRECISION_FP32:
        p->real = p->activation = DT_F32;
        break;
    case PRECISION_TF32:
        p->real = p->activation = DT_F32;
        p->tf32 = true;
        break;
    case PRECISION_BF16:
        p->real = DT_F32;
        p->activation = DT_BF16;
        break;
    case PRECISION_FP16:
        p->real = DT_F32;
        p->activation = DT_F16;
        break;
    }
}

static void make_counters(Program *p, const Spec *spec) {
    Pos none = {0};
    int64_t steps = p->steps > 0 ? p->steps : 1;
    Counters *c = &p->counters;
    c->seed = value_1d(p, "seed", ROLE_COUNTER, DT_I64, 1, none);
    c->step = value_1d(p, "step", ROLE_COUNTER, DT_I32, 1, none);
    c->applied = value_1d(p, "applied", ROLE_COUNTER, DT_I32, 1, none);
    c->bad_step = value_1d(p, "bad_step", ROLE_COUNTER, DT_I32, 1, none);
    c->step_loss = value_1d(p, "step_loss", ROLE_COUNTER, p->real, 1, none);
    c->eval_loss = value_1d(p, "eval_loss", ROLE_COUNTER, p->real, 1, none);
    c->lr = value_2d(p, "lr", ROLE_COUNTER, p->real, steps, 1, none);
    if (spec->optimizer.name == OPTIMIZER_ADAMW) {
        c->bias_correction1 =
            value_2d(p, "bias_correction1", ROLE_COUNTER, p->real, steps, 1, none);
        c->bias_correction2_sqrt =
            value_2d(p, "bias_correction2_sqrt", ROLE_COUNTER, p->real, steps, 1, none);
    }
    c->loss = value_2d(p, "loss", ROLE_COUNTER, p->real, steps, 1, none);
    c->grad_norm = value_2d(p, "grad_norm", ROLE_COUNTER, p->real, steps, 1, none);
}

static Batch token_batch(Program *p, const Spec *spec) {
    Pos none = {0};
    p->segmented = spec->data.format == DATA_JSONL || spec->data.format == DATA_TOKENS;
    return (Batch){
        .input_ids = value_2d(p, "input_ids", ROLE_INPUT, DT_I32, p->tokens, 1, none),
        .labels = value_2d(p, "labels", ROLE_INPUT, DT_I32, p->tokens, 1, none),
        .positions = value_2d(p, "positions", ROLE_INPUT, DT_I32, p->tokens, 1, none),
        .loss_weight = value_1d(p, "loss_weight", ROLE_INPUT, p->real, 1, none),
        .first_row = value_1d(p, "first_row", ROLE_INPUT, DT_I32, 1, none),
    };
}

static Batch image_batch(Program *p, const Spec *spec) {
    Pos none = {0};
    Batch batch = {0};
    p->unit = (Unit){"images", "images", "samples_per_s"};
    image_settings(p, spec);
    image_input(p, spec, &batch);
    batch.labels = value_2d(p, "labels", ROLE_INPUT, DT_I32, p->tokens, 1, none);
    batch.loss_weight = value_1d(p, "loss_weight", ROLE_INPUT, p->real, 1, none);
    batch.first_row = value_1d(p, "first_row", ROLE_INPUT, DT_I32, 1, none);
    return batch;
}

/* Adds the sum of rows [R,1] to `total`, which the host reads; returns just the sum. */
static Value *add_sum(Builder *b, Value *rows, const char *name, Value *total) {
    Pos pos = spec_pos(b->spec, KEY_training_task);
    Value *sum = builder_op(b, OP_sum, name, &rows, 1, (Attr){0}, pos);
    Value *new_total = value_alias(b->program, total, total->name);
    op_add_into(b->program, b->graph, OP_add, total->name, (Value *[]){total, sum}, 2, &new_total,
                1, (Attr){0}, pos);
    return sum;
}

/* The mean loss over the step's targets. */
static Value *add_loss(Builder *b, Value *logits, Value *total) {
    Value *in[] = {logits, b->batch.labels, b->batch.loss_weight};
    Attr attr = {.label_smoothing = b->spec->training.label_smoothing};
    Value *rows = builder_op(b, OP_cross_entropy, "loss.rows", in, 3, attr,
                             spec_pos(b->spec, KEY_training_task));
    return add_sum(b, rows, "loss", total);
}

/* Counts the targets whose logit is the largest, and those among the five largest, if there are more
 * classes than that. */
static void add_hits(Builder *b, Value *logits) {
    static const struct {
        const char *name;
        int64_t largest;
    } counts[] = {{"top1", 1}, {"top5", 5}};
    Program *p = b->program;
    Pos pos = spec_pos(b->spec, KEY_training_task);
    Value *in[] = {logits, b->batch.labels};
    Op *hits = op_add(p, b->graph, OP_topk_hits, "hits", in, 2, (Attr){0}, pos);
    for (int i = 0; i < 2 && counts[i].largest < b->spec->model.num_classes; i++) {
        const char *name = counts[i].name;
        Value *sum =
            value_1d(p, arena_printf(p->arena, "eval_%s", name), ROLE_COUNTER, p->real, 1, pos);
        p->counters.metrics[p->counters.metric_count++] = (Metric){.name = name, .sum = sum};
        add_sum(b, hits->out[i], name, sum);
    }
}

/* What each family makes: its batch, its logits, its metrics. */
static const struct {
    Batch (*batch)(Program *, const Spec *);
    Value *(*forward)(Builder *);
    void (*figures)(Builder *, Value *logits); /* in addition to the held-out loss; or NULL */
} families[] = {
    [FAMILY_LLAMA] = {token_batch, llama_forward, NULL},
    [FAMILY_MLP] = {image_batch, mlp_forward, add_hits},
    [FAMILY_CNN] = {image_batch, cnn_forward, add_hits},
    [FAMILY_MOBILENET_V2] = {image_batch, mobilenet_v2_forward, add_hits},
    [FAMILY_QWEN2] = {token_batch, llama_forward, NULL},
    [FAMILY_GPT2] = {token_batch, gpt2_forward, NULL},
    [FAMILY_RESNET] = {image_batch, resnet_forward, add_hits},
};

Program *model_build(Arena *arena, const Spec *spec) {
    Program *p = program_new(arena);
    set_precision(p, spec);
    p->seq_len = spec->training.seq_len;
    p->tokens = spec_micro_batch_tokens(spec);
    p->micro_steps = spec->training.gradient_accumulation_steps;
    p->steps = spec->training.steps;
    p->config_json = model_config(arena, spec, p->real);
    make_counters(p, spec);
    Family family = spec->model.family;
    Builder b = {.program = p,
                 .graph = &p->entry[ENTRY_MICRO_STEP],
                 .spec = spec,
                 .batch = families[family].batch(p, spec),
                 .scope = "",
                 .training = true};
    Value *logits = families[family].forward(&b);
    graph_producer(b.graph, logits)->observe = "logits";
    p->loss_of_micro_step = add_loss(&b, logits, p->counters.step_loss);
    b.graph = &p->entry[ENTRY_EVALUATE];
    b.training = false;
    logits = families[family].forward(&b);
    add_loss(&b, logits, p->counters.eval_loss);
    if (families[family].figures)
        families[family].figures(&b, logits);
    return p;
}
