/* Each op with a gradient rule: compares autodiff with central finite differences of the loss, in
 * fp64, for every element of every weight.
 *
 * A case builds y from trained weights. The operand of a rule is an activation, linear(e, w) with w
 * trained, so that the rule's gradients reach weights through a matrix product of full rank. After
 * y, all cases have the same loss = 0.7 * sum(cross_entropy(linear(y, head))). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_table.h"
#include "op_setup.h"
#include "pass/pass.h"
#include "plan/kernels.h"

/* Differences are off by h^2 f''' / 6 and by the rounding of the loss over h: less than this share
 * of the largest element of the weight's gradient. */
static const double TOLERANCE = 1e-7;

/* ---- cases ----------------------------------------------------------------------------------- */

typedef Value *Build(Setup *);

static Value *of_two(Setup *s, OpKind k) { return op2(s, k, activation(s, COLS), activation(s, COLS)); }
static Value *build_add(Setup *s) { return of_two(s, OP_add); }
static Value *build_mul(Setup *s) { return of_two(s, OP_mul); }
static Value *build_silu(Setup *s) { return op1(s, OP_silu, activation(s, COLS), (Attr){0}); }
static Value *build_gelu_tanh(Setup *s) { return op1(s, OP_gelu_tanh, activation(s, COLS), (Attr){0}); }
static Value *build_relu(Setup *s) { return op1(s, OP_relu, activation(s, COLS), (Attr){0}); }

/* Scaled so that some elements are clamped at either end. */
static Value *build_relu6(Setup *s) {
    Value *x = op1(s, OP_scale, activation(s, COLS), (Attr){.alpha = 9});
    return op1(s, OP_relu6, x, (Attr){0});
}

static Value *build_add_bias(Setup *s) {
    return op2(s, OP_add_bias, activation(s, COLS), param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ZEROS));
}

static Value *build_scale_columns(Setup *s) {
    Value *in[] = {activation(s, COLS), param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ONES),
                   param(s, ROLE_FROZEN, 1, 1, COLS, INIT_ONES)};
    return op(s, OP_scale_columns, in, 3, (Attr){0});
}

/* Reshapes, mixes columns, and reshapes back. */
static Value *build_reshape(Setup *s) {
    Value *x = op1(s, OP_reshape, activation(s, COLS), (Attr){.rows = ROWS / 2});
    Value *y = op2(s, OP_linear, x, trained(s, 2 * COLS, 2 * COLS));
    return op1(s, OP_reshape, op2(s, OP_mul, x, y), (Attr){.rows = ROWS});
}

/* Both parts are read, by different ops. */
static Value *build_split_columns(Setup *s) {
    Op *split = op_add(s->program, s->graph, OP_split_columns, name_of(s, "split"),
                       (Value *[]){activation(s, 2 * COLS)}, 1, (Attr){.rows = 2}, (Pos){0});
    return op2(s, OP_mul, split->out[0], op1(s, OP_silu, split->out[1], (Attr){0}));
}

/* Windows over images that leave ROWS outputs. */
static const Window same = {.height = 2, .width = 3, .kernel = 3, .stride = 1, .padding = 1};
static const Window halved = {.height = 3, .width = 5, .kernel = 3, .stride = 2, .padding = 1};
static const Window blocks = {.height = 4, .width = 6, .kernel = 2, .stride = 2};
static const Window rest = {.height = 5, .width = 7, .kernel = 2, .stride = 2};
static const Window wide = {.height = 5, .width = 7, .kernel = 5, .stride = 3, .padding = 2};
static const Window inner = {.height = 4, .width = 5, .kernel = 3, .stride = 1};

static Value *windowed(Setup *s, OpKind kind, const Window *w, bool weighted) {
    Value *in[2] = {rows_of(s, w->height * w->width, COLS)};
    if (weighted)
        in[1] = trained(s, w->kernel * w->kernel, COLS);
    return op(s, kind, in, 1 + weighted, (Attr){.window = *w});
}

static Value *build_depthwise_same(Setup *s) { return windowed(s, OP_depthwise_conv2d, &same, 1); }
static Value *build_depthwise_half(Setup *s) {
    return windowed(s, OP_depthwise_conv2d, &halved, 1);
}
static Value *build_depthwise_wide(Setup *s) { return windowed(s, OP_depthwise_conv2d, &wide, 1); }
static Value *build_depthwise_inner(Setup *s) {
    return windowed(s, OP_depthwise_conv2d, &inner, 1);
}
static Value *build_max_pool(Setup *s) { return windowed(s, OP_max_pool2d, &blocks, 0); }
static Value *build_max_pool_rest(Setup *s) { return windowed(s, OP_max_pool2d, &rest, 0); }
static Value *build_max_pool_over(Setup *s) { return windowed(s, OP_max_pool2d, &halved, 0); }
static Value *build_max_pool_wide(Setup *s) { return windowed(s, OP_max_pool2d, &wide, 0); }

static Value *build_global_avg_pool(Setup *s) {
    return op1(s, OP_global_avg_pool2d, rows_of(s, 5 * ROWS, COLS), (Attr){.rows = ROWS});
}

/* Training's form, after an activation far from zero, to which the running mean has not adapted. */
static Value *build_batch_norm(Setup *s) {
    Value *x =
        op2(s, OP_add_bias, activation(s, COLS), param(s, ROLE_FROZEN, 1, 1, COLS, INIT_ONES));
    Value *running_mean = param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ZEROS);
    running_mean->role = running_mean->storage->role = ROLE_COUNTER;
    Value *running_var = param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ONES);
    running_var->role = running_var->storage->role = ROLE_COUNTER;
    Op *sums = op_add(s->program, s->graph, OP_batch_norm_sums, "bn.sums",
                      (Value *[]){x, running_mean}, 2, (Attr){0}, (Pos){0});
    Value *of_stats[] = {sums->out[0], sums->out[1], running_mean, running_var};
    Value *out[] = {NULL, NULL, value_alias(s->program, running_mean, "running_mean"),
                    value_alias(s->program, running_var, "running_var")};
    Op *stats = op_add_into(s->program, s->graph, OP_batch_norm_stats, "bn.stats", of_stats, 4, out,
                            4, (Attr){.rows = ROWS, .momentum = 0.1, .eps = 1e-2}, (Pos){0});
    Value *in[] = {x, stats->out[0], stats->out[1], param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ONES),
                   param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ZEROS)};
    return op(s, OP_batch_norm, in, 5, (Attr){0});
}

static Value *build_batch_norm_relu6(Setup *s) {
    Value *y = op1(s, OP_relu6, build_batch_norm(s), (Attr){0});
    return op2(s, OP_add, y, activation(s, COLS));
}

static Value *build_smoothed(Setup *s) {
    s->smoothing = 0.2;
    return activation(s, COLS);
}

static Value *build_identity(Setup *s) { return activation(s, COLS); }

static Value *build_scale(Setup *s) {
    return op1(s, OP_scale, activation(s, COLS), (Attr){.alpha = -1.3});
}

static Value *build_swiglu(Setup *s) {
    return op2(s, OP_swiglu, activation(s, COLS), activation(s, COLS));
}

/* A value with three uses, whose three gradients are added. */
static Value *build_fan_out(Setup *s) {
    Value *x = activation(s, COLS);
    Value *y = op2(s, OP_add, op2(s, OP_mul, x, x), op1(s, OP_silu, x, (Attr){0}));
    Value *wide = op2(s, OP_linear, x, trained(s, COLS, COLS));
    Value *wider = op2(s, OP_linear, x, trained(s, COLS, COLS));
    return op2(s, OP_add, y, op2(s, OP_swiglu, wide, wider));
}

static Value *build_dropout(Setup *s) {
    static const int seed = 1234, step = 3, first_row = 40;
    Value *in[] = {activation(s, COLS), integers(s, 1, &seed), integers(s, 1, &step),
                   integers(s, 1, &first_row)};
    return op(s, OP_dropout, in, 4, (Attr){.rate = 0.4, .stream = 77});
}

static Value *build_cast(Setup *s) {
    Value *x = activation(s, COLS);
    Value *y = value_2d(s->program, "cast", ROLE_ACTIVATION, DT_F64, ROWS, COLS, (Pos){0});
    op_add_into(s->program, s->graph, OP_cast, "cast", &x, 1, &y, 1, (Attr){0}, (Pos){0});
    return y;
}

static Value *build_linear(Setup *s) {
    Value *in[] = {activation(s, COLS), trained(s, 9, COLS)};
    return op(s, OP_linear, in, 2, (Attr){.alpha = 0.6});
}

/* Added to the result of a frozen linear, like a low-rank path. */
static Value *build_linear_onto(Setup *s) {
    Value *x = activation(s, COLS), *y = op2(s, OP_linear, x, frozen(s, 9, COLS));
    Value *in[] = {op2(s, OP_linear, x, trained(s, 3, COLS)), trained(s, 9, 3), y};
    Value *sum = value_alias(s->program, y, "sum");
    Attr attr = {.alpha = 1.7, .accumulate = true};
    op_add_into(s->program, s->graph, OP_linear, "sum", in, 3, &sum, 1, attr, (Pos){0});
    return sum;
}

/* As with several ranks, each with a part of the sum. */
static Value *build_sum_over_ranks(Setup *s) {
    Attr attr = {.group = GROUP_TENSOR};
    Value *x = op1(s, OP_spread, activation(s, COLS), attr);
    Value *y = op2(s, OP_linear, x, trained(s, 9, COLS));
    return op1(s, OP_all_reduce, op2(s, OP_mul, y, op2(s, OP_linear, x, frozen(s, 9, COLS))), attr);
}

/* Gathers rows of all ranks, and scatters the rows of a sum. */
static Value *build_rows_of_ranks(Setup *s) {
    Attr attr = {.group = GROUP_TENSOR};
    Value *x = op1(s, OP_all_gather, activation(s, COLS), attr);
    Value *y = op2(s, OP_linear, x, trained(s, 9, COLS));
    return op1(s, OP_reduce_scatter, op2(s, OP_mul, y, op2(s, OP_linear, x, frozen(s, 9, COLS))),
               attr);
}

static Value *build_layer_norm(Setup *s) {
    Value *in[] = {activation(s, COLS), param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ONES),
                   param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ZEROS)};
    return op(s, OP_layer_norm, in, 3, (Attr){.eps = 1e-2});
}

static Value *build_rms_norm(Setup *s) {
    Value *in[] = {activation(s, COLS), param(s, ROLE_WEIGHT, 1, 1, COLS, INIT_ONES)};
    return op(s, OP_rms_norm, in, 2, (Attr){.eps = 1e-2});
}

/* Two samples of 4 and 2 tokens; two groups whose first place two parts see, or one of 2 places. */
static const int positions[ROWS] = {0, 1, 2, 3, 0, 1}, behind[ROWS] = {0, 0, 0, 0, 0, 1};
static const int prefix[2 * ROWS] = {0, 0, 0, 1, 0, 1, 0, 0, 3, 4, 3, 4};

static Value *build_rope(Setup *s) {
    Value *in[] = {activation(s, 2 * COLS), integers(s, ROWS, positions), frozen(s, ROWS, COLS / 2),
                   frozen(s, ROWS, COLS / 2)};
    return op(s, OP_rope, in, 4, (Attr){.head_dim = COLS});
}

/* Two query heads share one head of keys and values. */
static Value *attention(Setup *s, const int *own, const int *seen) {
    Value *in[] = {activation(s, 2 * COLS), activation(s, COLS), activation(s, COLS),
                   integers(s, ROWS, own),
                   seen ? value_reshaped(s->program, integers(s, 2 * ROWS, seen), ROWS, 2) : NULL};
    Attr attr = {.alpha = 0.8, .head_dim = COLS, .heads = 2, .kv_heads = 1, .seq_len = ROWS};
    return op(s, OP_attention, in, seen ? 5 : 4, attr);
}
static Value *build_attention(Setup *s) { return attention(s, positions, NULL); }
static Value *build_prefixed_attention(Setup *s) { return attention(s, behind, prefix); }
static const int tokens[ROWS] = {3, 0, 3, 1, 3, 0};
static Value *build_embedding(Setup *s) {
    return op2(s, OP_embedding, integers(s, ROWS, tokens), trained(s, 4, COLS));
}

/* One table is both embedding and head. */
static Value *build_tied(Setup *s) {
    Value *table = trained(s, 4, COLS), *ids = integers(s, ROWS, tokens);
    Value *x = op1(s, OP_silu, op2(s, OP_embedding, ids, table), (Attr){0});
    return op2(s, OP_linear, x, table);
}

/* Two targets per sequence, one in some, none in the pair that is padding. */
static Value *build_pairs(Setup *s, PairLoss loss, double smoothing) {
    static const double weight = 0.6;
    static const int labels[] = {1, 0, 2, 1, 3,    -100, 1,    1,    -100, 1, 2, 2,
                                 0, 1, 1, 1, -100, -100, -100, -100, 1,    1, 1, -100};
    Value *one = value_1d(s->program, "weight", ROLE_CONSTANT, DT_F64, 1, (Pos){0});
    one->data = &weight;
    Value *of_places = value_reshaped(s->program, integers(s, 4 * ROWS, labels), 2 * ROWS, 2);
    Value *nll = op1(s, OP_sequence_sum, rows_of(s, 2 * ROWS, COLS), (Attr){0});
    Value *targets = op1(s, OP_target_count, of_places, (Attr){0});
    Value *in[] = {nll, frozen(s, 2 * ROWS, 1), targets, one};
    Attr attr = {.pair_loss = loss, .beta = 0.7, .label_smoothing = smoothing};
    return op(s, OP_pair_loss, in, 4, attr);
}

static Value *build_sigmoid(Setup *s) { return build_pairs(s, PAIR_SIGMOID, 0); }
/* Three pairs of one place or more in two rows; some places belong to no pair. */
static Value *build_packed(Setup *s) {
    enum { PACKED = ROWS / 2, PLACES = 2 * COLS };
    static int sequence[PLACES];
    for (int i = 0; i < PLACES; i++) {
        int pair = i % COLS < 2 ? 0 : i % COLS - 1;
        sequence[i] = pair < PACKED ? 2 * pair + i / COLS : -1;
    }
    Value *numbers = integers(s, PLACES, sequence);
    Value *in[] = {rows_of(s, 2, COLS), value_reshaped(s->program, numbers, 2, COLS), numbers};
    return op(s, OP_packed_sum, in, 3, (Attr){.rows = PACKED});
}
static Value *build_sigmoid_smoothed(Setup *s) { return build_pairs(s, PAIR_SIGMOID, 0.2); }
static Value *build_ipo(Setup *s) { return build_pairs(s, PAIR_IPO, 0); }
static Value *build_hinge(Setup *s) { return build_pairs(s, PAIR_HINGE, 0); }
static Value *build_robust(Setup *s) { return build_pairs(s, PAIR_ROBUST, 0.2); }

static Value *build_gather_rows(Setup *s) {
    static const int rows[ROWS] = {4, 0, -1, 5, 2, -1}, places[ROWS] = {1, -1, 4, -1, 0, 3};
    Value *in[] = {activation(s, COLS), integers(s, ROWS, rows), integers(s, ROWS, places)};
    return op(s, OP_gather_rows, in, 3, (Attr){0});
}

static Value *conv(Setup *s, Value *x, Value *w, Window window) {
    return op(s, OP_conv2d, (Value *[]){x, w}, 2, (Attr){.window = window});
}

static Value *filters(Setup *s, int64_t count, int64_t kernel, int64_t channels) {
    int64_t dim[] = {count, kernel, kernel, channels};
    Value *v = value_new(s->program, name_of(s, "w"), ROLE_WEIGHT, DT_F64, 4, dim, (Pos){0});
    program_add_param(s->program, (Param){.weight = v, .file_name = v->name, .init = INIT_NORMAL});
    return v;
}

/* Two images of 6 x 2, with stride 2 and padding. */
static Value *build_conv2d(Setup *s) {
    Value *x = op2(s, OP_linear, frozen(s, 2 * 6 * 2, WIDTH), trained(s, 3, WIDTH));
    Window window = {.height = 6, .width = 2, .kernel = 3, .stride = 2, .padding = 1};
    return conv(s, x, filters(s, COLS, 3, 3), window);
}

/* One image, its value read by two windows and a pointwise op, one weight by two convolutions. */
static Value *build_conv2d_fan_out(Setup *s) {
    Value *x = activation(s, COLS), *w = filters(s, COLS, 3, COLS);
    Window three = {.height = 3, .width = 2, .kernel = 3, .stride = 1, .padding = 1};
    Window one = {.height = 3, .width = 2, .kernel = 1, .stride = 1};
    Value *y = op2(s, OP_add, conv(s, x, w, three), conv(s, x, filters(s, COLS, 1, COLS), one));
    return op2(s, OP_mul, x, conv(s, op1(s, OP_silu, y, (Attr){0}), w, three));
}

static const struct {
    const char *name;
    OpKind kind;
    Build *build;
} cases[] = {
    {"gradient of add", OP_add, build_add},
    {"gradient of mul", OP_mul, build_mul},
    {"gradient of scale", OP_scale, build_scale},
    {"gradient of silu", OP_silu, build_silu},
    {"gradient of gelu_tanh", OP_gelu_tanh, build_gelu_tanh},
    {"gradient of split_columns", OP_split_columns, build_split_columns},
    {"gradient of relu", OP_relu, build_relu},
    {"gradient of relu6", OP_relu6, build_relu6},
    {"gradient of add_bias", OP_add_bias, build_add_bias},
    {"gradient of scale_columns", OP_scale_columns, build_scale_columns},
    {"gradient of spread", OP_spread, build_sum_over_ranks},
    {"gradient of all_reduce", OP_all_reduce, build_sum_over_ranks},
    {"gradient of all_gather", OP_all_gather, build_rows_of_ranks},
    {"gradient of reduce_scatter", OP_reduce_scatter, build_rows_of_ranks},
    {"gradient of reshape", OP_reshape, build_reshape},
    {"gradient of depthwise_conv2d", OP_depthwise_conv2d, build_depthwise_same},
    {"gradient of depthwise_conv2d, stride 2", OP_depthwise_conv2d, build_depthwise_half},
    {"gradient of depthwise_conv2d, stride 3", OP_depthwise_conv2d, build_depthwise_wide},
    {"gradient of depthwise_conv2d, no padding", OP_depthwise_conv2d, build_depthwise_inner},
    {"gradient of max_pool2d", OP_max_pool2d, build_max_pool},
    {"gradient of max_pool2d, pixels left over", OP_max_pool2d, build_max_pool_rest},
    {"gradient of max_pool2d, overlapping", OP_max_pool2d, build_max_pool_over},
    {"gradient of max_pool2d, stride 3", OP_max_pool2d, build_max_pool_wide},
    {"gradient of global_avg_pool2d", OP_global_avg_pool2d, build_global_avg_pool},
    {"gradient of batch_norm", OP_batch_norm, build_batch_norm},
    {"gradient of batch_norm, relu6 and a sum", OP_batch_norm, build_batch_norm_relu6},
    {"gradient of swiglu", OP_swiglu, build_swiglu},
    {"gradient of a value with several readers", OP_mul, build_fan_out},
    {"gradient of dropout", OP_dropout, build_dropout},
    {"gradient of cast", OP_cast, build_cast},
    {"gradient of linear", OP_linear, build_linear},
    {"gradient of linear onto another", OP_linear, build_linear_onto},
    {"gradient of conv2d", OP_conv2d, build_conv2d},
    {"gradient of conv2d with several readers", OP_conv2d, build_conv2d_fan_out},
    {"gradient of rms_norm", OP_rms_norm, build_rms_norm},
    {"gradient of layer_norm", OP_layer_norm, build_layer_norm},
    {"gradient of rope", OP_rope, build_rope},
    {"gradient of attention", OP_attention, build_attention},
    {"gradient of attention with a prefix", OP_attention, build_prefixed_attention},
    {"gradient of embedding", OP_embedding, build_embedding},
    {"gradient of a table at both ends", OP_embedding, build_tied},
    {"gradient of gather_rows", OP_gather_rows, build_gather_rows},
    {"gradient of cross_entropy", OP_cross_entropy, build_identity},
    {"gradient of cross_entropy, smoothed", OP_cross_entropy, build_smoothed},
    {"gradient of sum", OP_sum, build_identity},
    {"gradient of sequence_sum", OP_sequence_sum, build_sigmoid},
    {"gradient of packed_sum", OP_packed_sum, build_packed},
    {"gradient of pair_loss", OP_pair_loss, build_sigmoid},
    {"gradient of pair_loss, smoothed", OP_pair_loss, build_sigmoid_smoothed},
    {"gradient of pair_loss, ipo", OP_pair_loss, build_ipo},
    {"gradient of pair_loss, hinge", OP_pair_loss, build_hinge},
    {"gradient of pair_loss, robust", OP_pair_loss, build_robust},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- comparing ------------------------------------------------------------------------------- */

static const Spec blank = {.parallelism = {.data_parallel_shard_degree = 1}};

/* Builds the case as a program with gradients, at the kernel stage. */
static void setup_case(Setup *s, Build *build, int micro_steps) {
    *s = (Setup){0};
    s->program = program_new(&s->arena);
    s->program->real = s->program->activation = DT_F64;
    s->program->micro_steps = micro_steps;
    s->graph = &s->program->entry[ENTRY_MICRO_STEP];
    add_loss(s, build(s));
    program_verify(s->program, STAGE_SEMANTIC, "forward");
    pass_train_state(s->program, &blank);
    pass_autodiff(s->program, &blank);
    program_verify(s->program, STAGE_SEMANTIC, "autodiff");
    pass_lower(s->program, &blank);
    program_verify(s->program, STAGE_KERNEL, "lower");
}

/* Returns the gradient of a weight; the caller frees it. */
static double *gradient_of(const Memory *m, const Param *p) {
    int64_t n = value_elements(p->weight);
    double *g = calloc((size_t)n, sizeof *g);
    for (int64_t i = 0; i < n; i++)
        g[i] = memory_get(m, p->gradient, i);
    return g;
}

static void compare_weight(Memory *m, const Plan *plan, const Param *p) {
    int64_t n = value_elements(p->weight);
    interpret_step(m, plan);
    double *g = gradient_of(m, p), largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(g[i]));
    assert_true(largest > 1e-3);
    for (int64_t i = 0; i < n; i++) {
        double d = interpret_difference(m, plan, p->weight, i);
        if (!(fabs(d - g[i]) <= TOLERANCE * largest))
            fail_msg("%s[%lld]: gradient %.12g, difference %.12g", p->weight->name, (long long)i,
                     g[i], d);
    }
    free(g);
}

/* Whether a value is read, also through a view of another shape. */
static bool is_read(const Graph *graph, const Value *v) {
    for (int i = 0; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->in_count; k++)
            if (value_overlaps(graph->ops[i]->in[k], v))
                return true;
    return false;
}

/* Checks that nothing is computed that trained weights do not need. */
static void assert_nothing_in_vain(const Setup *s) {
    for (int i = 0; i < s->graph->op_count; i++) {
        const Op *o = s->graph->ops[i];
        bool used = false;
        for (int k = 0; k < o->out_count; k++)
            used |= o->out[k]->role != ROLE_ACTIVATION || is_read(s->graph, o->out[k]);
        if (!used)
            fail_msg("nobody reads what %s gives", o->name);
    }
}

/* Products have become another op at this stage, and views no op. */
static bool holds(const Setup *s, OpKind kind) {
    if (op_table[kind].traits & TRAIT_VIEW)
        return true;
    for (int i = 0; i < s->graph->op_count; i++)
        if (s->graph->ops[i]->kind == (kind == OP_linear ? OP_matmul : kind))
            return true;
    return false;
}

static void test_gradient(void **state) {
    int c = (int)(intptr_t)*state;
    Setup s;
    setup_case(&s, cases[c].build, 1);
    assert_true(holds(&s, cases[c].kind));
    assert_nothing_in_vain(&s);
    const Plan *plan = interpret_plan(s.program, &blank);
    Memory m = filled_memory(&s);
    for (int i = 0; i < s.program->param_count; i++)
        if (value_trains(s.program->params[i].weight))
            compare_weight(&m, plan, &s.program->params[i]);
    memory_free(&m);
    arena_free(&s.arena);
}

/* Ops that round have gradients only by definition, which test_qat.c checks. */
static void test_every_rule_has_a_case(void **state) {
    (void)state;
    for (int kind = 0; kind < OP_COUNT; kind++) {
        bool found = !op_table[kind].gradient || kind == OP_fake_quant_tokens ||
                     kind == OP_fake_quant_weights || kind == OP_fake_quant_float8;
        for (int c = 0; c < CASES; c++)
            found |= (int)cases[c].kind == kind;
        if (!found)
            fail_msg("no case for the gradient of %s", op_table[kind].name);
    }
}

/* After `lower`, each op either has scalar steps or a launch rule. */
static void test_every_op_is_served_once(void **state) {
    (void)state;
#define no_launch NULL
    static LaunchRule *const launch_rule[OP_COUNT] = {
#define OP(name, traits, shape, gradient, expand, flops, launch) [OP_##name] = launch,
#include "graph/ops.h"
#undef OP
    };
    for (int kind = 0; kind < OP_COUNT; kind++) {
        int served = (op_table[kind].expand != NULL) + (launch_rule[kind] != NULL);
        if (served != ((op_table[kind].traits & STAGE_KERNEL) != 0))
            fail_msg("%s is served %d times", op_table[kind].name, served);
    }
}

/* With several micro-steps gradients accumulate: two equal ones give twice the gradient of one. */
static void test_micro_steps_add_up(void **state) {
    (void)state;
    for (int c = 0; c < CASES; c++) {
        Setup s;
        setup_case(&s, cases[c].build, 2);
        const Plan *plan = interpret_plan(s.program, &blank);
        Memory m = filled_memory(&s);
        for (int i = 0; i < s.program->param_count; i++) {
            const Param *p = &s.program->params[i];
            if (!value_trains(p->weight))
                continue;
            interpret_step(&m, plan);
            double *once = gradient_of(&m, p);
            interpret_micro_step(&m, plan);
            double *twice = gradient_of(&m, p);
            for (int64_t k = 0; k < value_elements(p->weight); k++)
                if (!(fabs(twice[k] - 2 * once[k]) <= 1e-12))
                    fail_msg("%s, %s: %.17g is not twice %.17g", cases[c].name, p->weight->name,
                             twice[k], once[k]);
            free(once);
            free(twice);
        }
        memory_free(&m);
        arena_free(&s.arena);
    }
}

int main(void) {
    struct CMUnitTest tests[CASES + 3];
    for (intptr_t c = 0; c < CASES; c++)
        tests[c] = (struct CMUnitTest){cases[c].name, test_gradient, NULL, NULL, (void *)c};
    tests[CASES] = (struct CMUnitTest)cmocka_unit_test(test_every_rule_has_a_case);
    tests[CASES + 1] = (struct CMUnitTest)cmocka_unit_test(test_micro_steps_add_up);
    tests[CASES + 2] = (struct CMUnitTest)cmocka_unit_test(test_every_op_is_served_once);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
