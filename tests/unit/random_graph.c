#include "random_graph.h"

#include <string.h>

#include "graph/relu_steps.h"
#include "graph/window.h"
#include "plan/skeleton.h"

uint32_t random_below(uint64_t *state, uint32_t bound) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 20) % bound;
}

static uint32_t below(RandomGraph *g, uint32_t bound) { return random_below(&g->random, bound); }

static const char *name_of(RandomGraph *g, const char *what) {
    return arena_printf(g->program->arena, "%s.%d", what, g->names++);
}

static Graph *graph_of(RandomGraph *g) { return &g->program->entry[ENTRY_MICRO_STEP]; }

/* ---- values ---------------------------------------------------------------------------------- */

enum { HEAD = 8, VOCABULARY = 11 };

/* Powers of two, odd widths, wider than a warp's row. */
static int64_t some_cols(RandomGraph *g) {
    if (g->wide && below(g, 4)) return WIDEST_ROW_IN_REGISTERS + (below(g, 2) ? 8 : 1);
    static const int64_t cols[] = {8, 24, 40, 72, 128, 37, 264, 1032};
    return cols[below(g, below(g, 3) ? 6 : 8)];
}

static void offer(RandomGraph *g, Value *v) {
    if (g->pool_count < 256) g->pool[g->pool_count++] = v;
}

static Value *new_value(RandomGraph *g, const char *what, Role role, DType dtype, int64_t rows, int64_t cols) {
    Value *v = value_2d(g->program, name_of(g, what), role, dtype, rows, cols, (Pos){0});
    v->plane = rows == g->rows && cols > 1 ? g->plane : 0;
    return v;
}

/* Sometimes returns columns of a wider storage, as with bordered weights. */
static Value *place_for(RandomGraph *g, DType dtype, int64_t rows, int64_t cols) {
    if (below(g, 4) || g->plane) return NULL;
    Value *wide = new_value(g, "wide", ROLE_ACTIVATION, dtype, rows, cols + 8 * (1 + below(g, 3)));
    return value_columns(g->program, wide, 8 * below(g, 2), cols, name_of(g, "view"));
}

static bool is_matrix(const RandomGraph *g, const Value *v) {
    return v->rank == 2 && value_rows(v) == g->rows && value_cols(v) > 1 && v->plane == g->plane;
}

static bool has_shape(const RandomGraph *g, const Value *v, int64_t cols) {
    return v->rank == 2 && value_rows(v) == g->rows && value_cols(v) == cols && v->plane == (cols > 1 ? g->plane : 0);
}

/* Returns a value of the shape from the pool, most likely the newest, or a new parameter. */
static Value *operand(RandomGraph *g, DType dtype, int64_t cols) {
    for (int tries = 0; tries < 24; tries++) {
        uint32_t back = below(g, 1 + below(g, (uint32_t)g->pool_count));
        Value *v = g->pool[g->pool_count - 1 - (int)back];
        if (has_shape(g, v, cols) && v->dtype == dtype) return v;
    }
    Value *v = new_value(g, "x", ROLE_FROZEN, dtype, g->rows, cols);
    offer(g, v);
    return v;
}

static Value *matrix(RandomGraph *g) {
    for (int tries = 0; tries < 24; tries++) {
        Value *v = g->pool[g->pool_count - 1 - (int)below(g, 1 + below(g, (uint32_t)g->pool_count))];
        if (is_matrix(g, v) && v->dtype == g->program->activation) return v;
    }
    return operand(g, g->program->activation, some_cols(g));
}

static Value *vector_of(RandomGraph *g, int64_t cols) {
    return value_1d(g->program, name_of(g, "w"), ROLE_FROZEN, g->program->activation, cols, (Pos){0});
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* Results go to the given places or to new ones, and into the pool. */
static Op *add_op(RandomGraph *g, OpKind kind, Value *const *in, int in_count, Value *const *out, int out_count,
                  Attr attr) {
    attr.alpha = attr.alpha == 0 ? 1 : attr.alpha;
    Op *op = op_add_into(g->program, graph_of(g), kind, name_of(g, "op"), in, in_count, out, out_count, attr, (Pos){0});
    for (int i = 0; i < op->out_count; i++) offer(g, op->out[i]);
    return op;
}

static void add_to_place(RandomGraph *g, OpKind kind, Value *const *in, int in_count, Attr attr) {
    Value *place = place_for(g, in[0]->dtype, g->rows, value_cols(in[0]));
    add_op(g, kind, in, in_count, &place, place ? 1 : 0, attr);
}

static void add_pointwise(RandomGraph *g) {
    static const struct {
        OpKind kind;
        int operands;
    } kinds[] = {
        {OP_add, 2},  {OP_mul, 2},       {OP_scale, 1}, {OP_silu, 1},       {OP_silu_grad, 2}, {OP_swiglu, 2},
        {OP_relu, 1}, {OP_relu_grad, 2}, {OP_relu6, 1}, {OP_relu6_grad, 2}, {OP_gelu_tanh, 1}, {OP_gelu_tanh_grad, 2},
    };
    int which = (int)below(g, sizeof kinds / sizeof *kinds);
    Value *x = matrix(g), *y = operand(g, x->dtype, value_cols(x));
    add_to_place(g, kinds[which].kind, (Value *[]){x, y}, kinds[which].operands, (Attr){.alpha = 0.75});
}

/* A ReLU, often the kernel's own, whose mask another value gets later. */
static void add_mask(RandomGraph *g) {
    Value *y = matrix(g);
    if (!relu_has_mask(y)) return;
    if (below(g, 4)) y = add_op(g, OP_relu, &y, 1, NULL, 0, (Attr){0})->out[0];
    Value *mask = add_op(g, OP_relu_mask, &y, 1, NULL, 0, (Attr){0})->out[0];
    if (below(g, 2)) add_pointwise(g);
    Value *dy = operand(g, y->dtype, value_cols(y)), *place = place_for(g, y->dtype, g->rows, value_cols(y));
    add_op(g, OP_relu_grad_masked, (Value *[]){mask, dy}, 2, &place, place ? 1 : 0, (Attr){0});
}

static void forget(RandomGraph *g, const Value *v) {
    int kept = 0;
    for (int i = 0; i < g->pool_count; i++)
        if (!value_overlaps(g->pool[i], v)) g->pool[kept++] = g->pool[i];
    g->pool_count = kept;
}

/* x += y in the same bytes; later ops cannot read the old value. */
static void add_in_place(RandomGraph *g) {
    Value *x = matrix(g), *y = operand(g, x->dtype, value_cols(x));
    if (x->role != ROLE_ACTIVATION || value_overlaps(x, y)) return;
    Value *result = value_alias(g->program, x, name_of(g, "alias"));
    forget(g, x);
    add_op(g, OP_add, (Value *[]){x, y}, 2, &result, 1, (Attr){0});
}

static void add_row_broadcast(RandomGraph *g) {
    Value *x = matrix(g), *row = operand(g, g->program->real, 1);
    add_to_place(g, below(g, 2) ? OP_mul : OP_add, (Value *[]){x, row}, 2, (Attr){0});
}

static void add_on_rows(RandomGraph *g) {
    Value *in[] = {operand(g, g->program->real, 1), g->seed, g->step, g->first_row};
    if (!below(g, 3)) add_op(g, OP_dropout, in, 4, NULL, 0, (Attr){.rate = 0.5, .stream = 1u + (uint32_t)g->names});
    Value *a = operand(g, g->program->real, 1), *b = operand(g, g->program->real, 1);
    Op *op = add_op(g, below(g, 2) ? OP_mul : OP_add, (Value *[]){a, b}, 2, NULL, 0, (Attr){0});
    if (below(g, 2)) add_op(g, OP_sum, op->out, 1, NULL, 0, (Attr){0});
}

static void add_column_broadcast(RandomGraph *g) {
    Value *x = matrix(g);
    add_to_place(g, OP_mul, (Value *[]){x, vector_of(g, value_cols(x))}, 2, (Attr){0});
}

static void add_norm(RandomGraph *g) {
    Value *x = matrix(g), *w = vector_of(g, value_cols(x));
    Op *norm = add_op(g, OP_rms_norm, (Value *[]){x, w}, 2, NULL, 0, (Attr){.eps = 1e-5});
    Value *dy = operand(g, x->dtype, value_cols(x));
    if (below(g, 2)) add_op(g, OP_rms_norm_grad, (Value *[]){x, w, norm->out[1], dy}, 4, NULL, 0, (Attr){0});
    if (below(g, 2)) add_op(g, OP_rms_norm_weight_grad, (Value *[]){x, norm->out[1], dy}, 3, NULL, 0, (Attr){0});
    if (below(g, 2)) add_op(g, OP_rms_norm_apply, (Value *[]){x, w, norm->out[1]}, 3, NULL, 0, (Attr){0});
}

static void add_layer_norm(RandomGraph *g) {
    Value *x = matrix(g), *w = vector_of(g, value_cols(x)), *b = vector_of(g, value_cols(x));
    Op *norm = add_op(g, OP_layer_norm, (Value *[]){x, w, b}, 3, NULL, 0, (Attr){.eps = 1e-5});
    Value *mean = norm->out[1], *rstd = norm->out[2], *dy = operand(g, x->dtype, value_cols(x));
    if (below(g, 2)) add_op(g, OP_layer_norm_grad, (Value *[]){x, w, mean, rstd, dy}, 5, NULL, 0, (Attr){0});
    if (below(g, 2)) add_op(g, OP_layer_norm_weight_grad, (Value *[]){x, mean, rstd, dy}, 4, NULL, 0, (Attr){0});
    if (below(g, 2)) add_op(g, OP_layer_norm_apply, (Value *[]){x, w, b, mean, rstd}, 5, NULL, 0, (Attr){0});
}

static void add_swiglu_grad(RandomGraph *g) {
    Value *gate = matrix(g);
    Value *up = operand(g, gate->dtype, value_cols(gate)), *dy = operand(g, gate->dtype, value_cols(gate));
    add_op(g, OP_swiglu_grad, (Value *[]){gate, up, dy}, 3, NULL, 0, (Attr){0});
}

static void add_dropout(RandomGraph *g) {
    Attr attr = {.rate = 0.25, .stream = 1000u + (uint32_t)g->names};
    add_to_place(g, OP_dropout, (Value *[]){matrix(g), g->seed, g->step, g->first_row}, 4, attr);
}

static void add_cast(RandomGraph *g) {
    Value *x = matrix(g);
    Value *other = new_value(g, "cast", ROLE_ACTIVATION, g->program->real, g->rows, value_cols(x));
    add_op(g, OP_cast, &x, 1, &other, 1, (Attr){0});
    Value *back = new_value(g, "back", ROLE_ACTIVATION, x->dtype, g->rows, value_cols(x));
    if (below(g, 2)) add_op(g, OP_cast, &other, 1, &back, 1, (Attr){0});
}

static void add_rope(RandomGraph *g) {
    Value *x = matrix(g);
    if (value_cols(x) % HEAD) return;
    Value *table[2];
    for (int i = 0; i < 2; i++) table[i] = new_value(g, "table", ROLE_FROZEN, g->program->real, g->rows, HEAD / 2);
    Value *in[] = {x, g->places, table[0], table[1]};
    if (x->role == ROLE_ACTIVATION && below(g, 2)) {
        Value *result = value_alias(g->program, x, name_of(g, "alias"));
        forget(g, x);
        add_op(g, OP_rope, in, 4, &result, 1, (Attr){.head_dim = HEAD});
        return;
    }
    add_to_place(g, below(g, 2) ? OP_rope_grad : OP_rope, in, 4, (Attr){.head_dim = HEAD});
}

static void add_gather(RandomGraph *g) {
    Value *x = matrix(g);
    add_to_place(g, OP_gather_rows, (Value *[]){x, g->places, g->places}, 3, (Attr){0});
}

static void add_embedding(RandomGraph *g) {
    Value *table = value_2d(g->program, name_of(g, "table"), ROLE_FROZEN, g->program->activation, VOCABULARY,
                            some_cols(g), (Pos){0});
    add_op(g, OP_embedding, (Value *[]){g->labels, table}, 2, NULL, 0, (Attr){0});
}

static void add_loss(RandomGraph *g) {
    Value *x = matrix(g), *one = value_1d(g->program, name_of(g, "weight"), ROLE_FROZEN, g->program->real, 1, (Pos){0});
    Attr attr = {.label_smoothing = 0.1 * below(g, 2)};
    Op *loss = add_op(g, OP_cross_entropy, (Value *[]){x, g->labels, one}, 3, NULL, 0, attr);
    if (below(g, 2)) {
        Value *in[] = {x, g->labels, loss->out[1], one, one};
        add_op(g, OP_cross_entropy_grad, in, 5, NULL, 0, attr);
    }
    if (below(g, 2)) {
        Op *sum = add_op(g, OP_sum, (Value *[]){loss->out[0]}, 1, NULL, 0, (Attr){0});
        add_op(g, OP_scale, sum->out, 1, NULL, 0, (Attr){.alpha = 3});
    }
}

static void add_hits(RandomGraph *g) { add_op(g, OP_topk_hits, (Value *[]){matrix(g), g->labels}, 2, NULL, 0, (Attr){0}); }

static void add_bias(RandomGraph *g) {
    Value *x = matrix(g);
    add_to_place(g, OP_add_bias, (Value *[]){x, vector_of(g, value_cols(x))}, 2, (Attr){0});
    if (below(g, 2)) add_op(g, OP_column_sum, &x, 1, NULL, 0, (Attr){0});
}

/* Interprets the rows as images. */
static Window some_window(RandomGraph *g) {
    Window w = {.height = g->rows % 4 == 0 ? 4 : g->rows % 5 == 0 ? 5 : 1, .kernel = 1 + below(g, 3), .stride = 1 + below(g, 2)};
    w.width = g->rows / w.height > 7 ? 2 - g->rows % 2 : g->rows / w.height;
    if (g->rows % (w.height * w.width)) w.width = 1;
    if (g->plane) w.height = g->plane % 3 ? g->plane : 3, w.width = g->plane / w.height;
    w.padding = w.kernel / 2;
    return w;
}

static void add_window(RandomGraph *g) {
    Attr attr = {.window = some_window(g)};
    Value *x = matrix(g), *w = value_2d(g->program, name_of(g, "w"), ROLE_FROZEN, x->dtype, attr.window.kernel * attr.window.kernel,
                                        value_cols(x), (Pos){0});
    if (below(g, 2)) {
        Op *pool = add_op(g, OP_max_pool2d, &x, 1, NULL, 0, attr);
        add_op(g, OP_max_pool2d_grad, (Value *[]){pool->out[1], pool->out[0]}, 2, NULL, 0, attr);
        return;
    }
    Value *y = add_op(g, OP_depthwise_conv2d, (Value *[]){x, w}, 2, NULL, 0, attr)->out[0];
    add_op(g, OP_depthwise_conv2d_input_grad, (Value *[]){y, w}, 2, NULL, 0, attr);
    if (below(g, 2)) add_op(g, OP_depthwise_conv2d_weight_grad, (Value *[]){x, y}, 2, NULL, 0, attr);
}

/* Adds ops that often follow a convolution. */
static void add_behind(RandomGraph *g, Value *y) {
    int64_t cols = value_cols(y);
    if (below(g, 2)) y = add_op(g, OP_add_bias, (Value *[]){y, vector_of(g, cols)}, 2, NULL, 0, (Attr){0})->out[0];
    if (below(g, 2)) y = add_op(g, below(g, 2) ? OP_relu : OP_silu, &y, 1, NULL, 0, (Attr){0})->out[0];
    if (value_rows(y) == g->rows && below(g, 2))
        add_op(g, below(g, 2) ? OP_add : OP_relu_grad, (Value *[]){operand(g, y->dtype, cols), y}, 2, NULL, 0, (Attr){0});
}

/* Adds a pool over a convolution's result, often its only reader. */
static void add_pool_behind(RandomGraph *g, Value *y, const Window *under) {
    Attr attr = {.window = {.height = window_out_height(under), .width = window_out_width(under), .kernel = 2, .stride = 2}};
    if (attr.window.height < 2 || attr.window.width < 2) return;
    if (below(g, 2)) {
        forget(g, y);
        y = add_op(g, OP_add_bias, (Value *[]){y, vector_of(g, value_cols(y))}, 2, NULL, 0, (Attr){0})->out[0];
    }
    if (below(g, 4)) forget(g, y);
    add_behind(g, add_op(g, OP_max_pool2d, &y, 1, NULL, 0, attr)->out[0]);
}

/* y = conv(x), or the gradient of an operand with y as the gradient, sometimes added to a value. */
static void add_convolution(RandomGraph *g) {
    static const int64_t filters[] = {8, 1, 16, 37};
    Attr attr = {.window = some_window(g)};
    Value *x = matrix(g);
    if (value_cols(x) > 40) return;
    int64_t dim[] = {filters[below(g, 4)], attr.window.kernel, attr.window.kernel, value_cols(x)};
    Value *w = value_new(g->program, name_of(g, "w"), ROLE_FROZEN, x->dtype, 4, dim, (Pos){0});
    Value *y = add_op(g, OP_conv2d, (Value *[]){x, w}, 2, NULL, 0, attr)->out[0];
    if (below(g, 2)) {
        add_pool_behind(g, y, &attr.window);
        return;
    }
    add_behind(g, y);
    Value *in[] = {y, w, operand(g, x->dtype, value_cols(x))}, *result = NULL;
    attr.accumulate = in[2]->role == ROLE_ACTIVATION && !value_overlaps(in[2], y) && below(g, 2);
    if (attr.accumulate) {
        result = value_alias(g->program, in[2], name_of(g, "alias"));
        forget(g, in[2]);
    }
    add_behind(g, add_op(g, OP_conv2d_input_grad, in, 2 + attr.accumulate, &result, attr.accumulate, attr)->out[0]);
}

static Value *channels(RandomGraph *g, const char *what, Role role, int64_t cols) {
    return value_1d(g->program, name_of(g, what), role, g->program->real, cols, (Pos){0});
}

/* `in` are batch_norm's operands, y its result. */
static void add_batch_norm_grad(RandomGraph *g, Value *const *in, Value *y) {
    static const OpKind kinds[][2] = {{OP_batch_norm_grad_sums, OP_batch_norm_grad},
                                      {OP_batch_norm_relu_grad_sums, OP_batch_norm_relu_grad},
                                      {OP_batch_norm_relu6_grad_sums, OP_batch_norm_relu6_grad}};
    int activation = below(g, 3), more = activation > 0;
    Value *x = in[0], *w = in[3], *bias = in[4], *dy = operand(g, x->dtype, value_cols(x));
    if (below(g, 2))
        dy = add_op(g, OP_relu6_grad, (Value *[]){y, dy}, 2, NULL, 0, (Attr){0})->out[0];
    Op *dots = add_op(g, kinds[activation][0], (Value *[]){x, in[1], in[2], dy, w, bias}, 4 + 2 * more, NULL, 0, (Attr){0});
    Value *of_grad[] = {x, in[1], in[2], w, dots->out[0], dots->out[1], dy, bias};
    add_op(g, kinds[activation][1], of_grad, 7 + more, NULL, 0, (Attr){.rows = value_rows(x)});
}

/* As in a network: between other ops, forward and backward. */
static void add_batch_norm(RandomGraph *g) {
    Value *x = matrix(g);
    int64_t cols = value_cols(x);
    Value *mean = channels(g, "x", ROLE_FROZEN, cols), *var = channels(g, "x", ROLE_FROZEN, cols);
    Value *w = channels(g, "w", ROLE_FROZEN, cols), *bias = channels(g, "b", ROLE_FROZEN, cols);
    if (!below(g, 4)) {
        add_op(g, OP_batch_norm_eval, (Value *[]){x, mean, var, w, bias}, 5, NULL, 0, (Attr){.eps = 1.5});
        return;
    }
    Op *sums = add_op(g, OP_batch_norm_sums, (Value *[]){x, mean}, 2, NULL, 0, (Attr){0});
    Value *running[] = {channels(g, "kept", ROLE_GRADIENT, cols), channels(g, "kept", ROLE_GRADIENT, cols)};
    add_op(g, OP_cast, &mean, 1, &running[0], 1, (Attr){0});
    add_op(g, OP_cast, &var, 1, &running[1], 1, (Attr){0});
    Value *out[] = {NULL, NULL, value_alias(g->program, running[0], name_of(g, "mean")),
                    value_alias(g->program, running[1], name_of(g, "var"))};
    Op *stats = add_op(g, OP_batch_norm_stats, (Value *[]){sums->out[0], sums->out[1], running[0], running[1]}, 4, out, 4,
                       (Attr){.rows = g->rows, .momentum = 0.1, .eps = 1e-3});
    Value *y = add_op(g, OP_batch_norm, (Value *[]){x, stats->out[0], stats->out[1], w, bias}, 5, NULL, 0, (Attr){0})->out[0];
    add_batch_norm_grad(g, (Value *[]){x, stats->out[0], stats->out[1], w, bias}, y);
}

/* Interprets the rows as images of equal size. */
static void add_global_pool(RandomGraph *g) {
    Value *x = matrix(g);
    int64_t n = g->plane ? g->rows / g->plane : g->rows % 5 == 0 ? 5 : g->rows % 2 == 0 ? 2 : 1;
    Value *y = add_op(g, OP_global_avg_pool2d, &x, 1, NULL, 0, (Attr){.rows = n})->out[0];
    add_op(g, OP_global_avg_pool2d_grad, &y, 1, NULL, 0, (Attr){.rows = g->rows, .plane = g->plane});
}

static void add_image_input(RandomGraph *g) {
    static const int64_t sizes[] = {3, 4, 7, 10};
    int64_t height = sizes[below(g, 4)], width = sizes[below(g, 4)], from = below(g, 2) ? 3 : 1;
    Attr attr = {.window = {.height = height, .width = width}, .out_height = sizes[below(g, 4)], .out_width = sizes[below(g, 4)]};
    attr.plane = g->plane ? attr.out_height * attr.out_width : 0;
    attr.crop = (Crop){attr.out_height + (int64_t)below(g, 3), attr.out_width, 0, 0};
    Value *pixels = value_2d(g->program, name_of(g, "pixels"), ROLE_INPUT, DT_U8, 2 * height * width, from, (Pos){0});
    Value *in[] = {pixels, channels(g, "mean", ROLE_FROZEN, 3), channels(g, "std", ROLE_FROZEN, 3)};
    add_op(g, OP_image_input, in, 3, NULL, 0, attr);
}

static void add_sum_squares(RandomGraph *g) {
    Value *x = matrix(g);
    Op *columns = add_op(g, OP_sum_squares, &x, 1, NULL, 0, (Attr){0});
    if (below(g, 2)) add_op(g, OP_sum, columns->out, 1, NULL, 0, (Attr){0});
}

/* An op with which no body can be joined. */
static void add_matmul(RandomGraph *g) {
    Value *x = matrix(g);
    Value *w = value_2d(g->program, name_of(g, "w"), ROLE_FROZEN, x->dtype, 8 + 16 * below(g, 2), value_cols(x), (Pos){0});
    add_op(g, OP_matmul, (Value *[]){x, w}, 2, NULL, 0, (Attr){.alpha = 1, .transpose_b = true});
}

/* Adds an op that supports images in planes. */
static void add_to_planes(RandomGraph *g) {
    static void (*const makers[])(RandomGraph *) = {
        add_pointwise, add_pointwise, add_in_place, add_row_broadcast, add_on_rows, add_dropout, add_cast, add_sum_squares,
        add_column_broadcast, add_bias, add_window, add_batch_norm, add_batch_norm, add_global_pool, add_image_input,
    };
    makers[below(g, sizeof makers / sizeof *makers)](g);
}

static void add_something(RandomGraph *g) {
    static void (*const makers[])(RandomGraph *) = {
        add_pointwise, add_pointwise,        add_pointwise, add_pointwise,   add_in_place,  add_in_place,
        add_norm,      add_layer_norm,       add_row_broadcast,    add_on_rows,   add_dropout,     add_cast,      add_swiglu_grad,
        add_rope,      add_column_broadcast, add_gather,    add_embedding,   add_loss,      add_sum_squares,
        add_matmul, add_bias, add_hits, add_window, add_batch_norm, add_batch_norm,
        add_global_pool, add_image_input, add_convolution, add_convolution, add_mask,
    };
    makers[below(g, sizeof makers / sizeof *makers)](g);
}

/* ---- programs -------------------------------------------------------------------------------- */

static Value *integers(RandomGraph *g, const char *name, DType dtype, int64_t rows) {
    return rows == 1 ? value_1d(g->program, name, ROLE_INPUT, dtype, 1, (Pos){0})
                     : value_2d(g->program, name, ROLE_INPUT, dtype, rows, 1, (Pos){0});
}

static bool is_read(RandomGraph *g, const Value *v) {
    const Graph *graph = graph_of(g);
    for (int i = 0; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->in_count; k++)
            if (graph->ops[i]->in[k] == v) return true;
    return false;
}

/* Marks some results that also have readers as requested. */
static void keep_results(RandomGraph *g) {
    int count = g->pool_count;
    for (int i = 0; i < count; i++) {
        Value *v = g->pool[i];
        if (v->role != ROLE_ACTIVATION || (is_read(g, v) && below(g, 4))) continue;
        Value *kept = value_new(g->program, name_of(g, "kept"), ROLE_GRADIENT, v->dtype, v->rank, v->dim, (Pos){0});
        kept->plane = v->plane;
        op_add_into(g->program, graph_of(g), OP_cast, name_of(g, "keep"), &v, 1, &kept, 1, (Attr){0}, (Pos){0});
    }
}

/* Returns the limit of a storage's integers, by its name: row numbers are below any number of rows,
 * labels below every width and vocabulary. */
static int64_t limit_of(const Value *v) {
    if (v->dtype == DT_I64) return 1 << 30;
    if (v->dtype == DT_U8) return 256;
    if (v->dtype != DT_I32) return 0;
    return !strncmp(v->name, "places", 6) ? 2 : !strncmp(v->name, "labels", 6) ? 8 : 100;
}

/* Starts a part with other rows and values, which shares nothing with earlier parts. Some parts are
 * stored in planes. */
static void start_part(RandomGraph *g, bool wide) {
    static const int64_t rows[] = {2, 5, 16, 33, 70}, planes[] = {8, 15, 36};
    g->wide = wide;
    g->rows = wide ? 3 : rows[below(g, 5)];
    g->plane = wide || below(g, 4) ? 0 : planes[below(g, 3)];
    if (g->plane) g->rows = g->plane * (1 + below(g, 4));
    g->pool_count = 0;
    g->places = integers(g, name_of(g, "places"), DT_I32, g->rows);
    g->labels = integers(g, name_of(g, "labels"), DT_I32, g->rows);
    offer(g, new_value(g, "x", ROLE_FROZEN, g->program->activation, g->rows, some_cols(g)));
}

RandomGraph random_graph(Arena *arena, uint64_t seed, DType activation, DType real, int ops, int parts, int wide_parts) {
    RandomGraph g = {.program = program_new(arena), .random = seed * 0x9E3779B97F4A7C15ull + 1};
    for (int i = 0; i < 8; i++) below(&g, 2);
    g.program->activation = activation;
    g.program->real = real;
    g.seed = integers(&g, "seed", DT_I64, 1);
    g.step = integers(&g, "step", DT_I32, 1);
    g.first_row = integers(&g, "first_row", DT_I32, 1);
    for (int part = 0; part < parts; part++) {
        int before = graph_of(&g)->op_count;
        start_part(&g, part >= parts - wide_parts);
        while (graph_of(&g)->op_count < before + ops) (g.plane ? add_to_planes : add_something)(&g);
        keep_results(&g);
    }
    program_verify(g.program, STAGE_KERNEL, "random_graph");
    return g;
}

void random_fill(const RandomGraph *g, Memory *m, uint64_t seed) {
    for (int i = 0; i < g->program->value_count; i++) {
        const Value *v = g->program->values[i];
        if (v->role != ROLE_INPUT && v->role != ROLE_FROZEN) continue;
        uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15ull + (uint64_t)v->id;
        int64_t limit = limit_of(v);
        for (int64_t k = 0; k < value_elements(v); k++) {
            uint32_t bits = random_below(&state, 1u << 20);
            memory_set(m, v, k, limit ? (double)(bits % limit) : (double)bits / (1 << 19) - 1);
        }
    }
}
