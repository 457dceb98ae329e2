/* The op table and the making of ops. */
#include "graph/op_table.h"

#include <string.h>

typedef void ShapeRule(Program *, Op *);
typedef void GradientRule(Backward *, const Op *);
typedef void ExpandRule(const Program *, const Op *, Body *);
typedef double FlopsRule(const Op *);

ShapeRule shape_pointwise, shape_swiglu_grad, shape_dropout, shape_cast, shape_zero, shape_add_bias,
    shape_column_sum, shape_reshape, shape_topk_hits, shape_linear, shape_matmul, shape_rms_norm,
    shape_rms_norm_grad, shape_rms_norm_weight_grad, shape_rope_table, shape_rope, shape_attention,
    shape_attention_grad, shape_embedding, shape_embedding_grad, shape_gather_rows,
    shape_gather_labels, shape_cross_entropy, shape_cross_entropy_grad, shape_sum,
    shape_sum_squares, shape_clip_factor, shape_adamw, shape_sgd, shape_advance_step,
    shape_update_scale;
GradientRule grad_relu, grad_relu6, grad_add_bias, grad_reshape, grad_add, grad_mul, grad_scale,
    grad_silu, grad_swiglu, grad_dropout, grad_cast, grad_linear, grad_rms_norm, grad_rope,
    grad_attention, grad_embedding, grad_gather_rows, grad_cross_entropy, grad_sum;
ExpandRule expand_relu, expand_relu_grad, expand_relu6, expand_relu6_grad, expand_column_sum,
    expand_topk_hits, expand_add, expand_mul, expand_scale, expand_silu, expand_silu_grad,
    expand_swiglu, expand_swiglu_grad, expand_dropout, expand_cast, expand_rms_norm,
    expand_rms_norm_grad, expand_rms_norm_weight_grad, expand_rope_table, expand_rope,
    expand_rope_grad, expand_embedding, expand_gather_rows, expand_gather_labels,
    expand_cross_entropy, expand_cross_entropy_grad, expand_sum, expand_sum_squares,
    expand_clip_factor, expand_adamw, expand_sgd, expand_advance_step, expand_update_scale;
FlopsRule flops_linear, flops_matmul, flops_attention, flops_attention_grad;

/* images */
ShapeRule shape_depthwise_conv2d, shape_depthwise_conv2d_input_grad,
    shape_depthwise_conv2d_weight_grad, shape_max_pool2d, shape_max_pool2d_grad;
GradientRule grad_depthwise_conv2d, grad_max_pool2d;
ExpandRule expand_depthwise_conv2d, expand_depthwise_conv2d_input_grad,
    expand_depthwise_conv2d_weight_grad, expand_max_pool2d, expand_max_pool2d_grad;
FlopsRule flops_depthwise_conv2d;

ShapeRule shape_conv2d, shape_conv2d_input_grad, shape_conv2d_weight_grad;
GradientRule grad_conv2d;
FlopsRule flops_conv2d, flops_conv2d_input_grad, flops_conv2d_weight_grad;

ShapeRule shape_global_avg_pool2d, shape_global_avg_pool2d_grad, shape_batch_norm_sums,
    shape_batch_norm_stats, shape_batch_norm, shape_batch_norm_grad_sums, shape_batch_norm_grad,
    shape_image_input;
GradientRule grad_global_avg_pool2d, grad_batch_norm;
ExpandRule expand_global_avg_pool2d, expand_global_avg_pool2d_grad, expand_batch_norm_sums,
    expand_batch_norm_stats, expand_batch_norm, expand_batch_norm_grad_sums, expand_batch_norm_grad,
    expand_batch_norm_eval, expand_image_input;

enum { S = STAGE_SEMANTIC, K = STAGE_KERNEL, SK = S | K };

const OpInfo op_table[OP_COUNT] = {
#define OP(name, stages, shape, gradient, expand, flops) \
    [OP_##name] = {#name, stages, shape, gradient, expand, flops},
#include "graph/ops.h"
#undef OP
};

static Op *op_new(Program *p, OpKind kind, const char *name, Value *const *in, int in_count,
                  Attr attr, Pos pos) {
    ENSURE(in_count <= MAX_OPERANDS, "%s has %d operands", name, in_count);
    Op *op = arena_alloc(p->arena, sizeof *op);
    *op = (Op){.kind = kind,
               .name = arena_strdup(p->arena, name),
               .in_count = in_count,
               .attr = attr,
               .pos = pos};
    memcpy(op->in, in, (size_t)in_count * sizeof *in);
    return op;
}

void graph_add(Program *p, Graph *graph, Op *op) {
    graph->ops = arena_grow(p->arena, graph->ops, graph->op_count, &graph->op_capacity, sizeof op);
    op->id = graph->op_count;
    graph->ops[graph->op_count++] = op;
}

Op *op_add_into(Program *p, Graph *graph, OpKind kind, const char *name, Value *const *in,
                int in_count, Value *const *out, int out_count, Attr attr, Pos pos) {
    Op *op = op_new(p, kind, name, in, in_count, attr, pos);
    ENSURE(out_count <= MAX_RESULTS, "%s has %d results", name, out_count);
    if (out_count)
        memcpy(op->out, out, (size_t)out_count * sizeof *out);
    op->out_count = out_count;
    op_table[kind].shape(p, op);
    graph_add(p, graph, op);
    return op;
}

Op *op_add(Program *p, Graph *graph, OpKind kind, const char *name, Value *const *in, int in_count,
           Attr attr, Pos pos) {
    return op_add_into(p, graph, kind, name, in, in_count, NULL, 0, attr, pos);
}

void graph_set_ops(Program *p, Graph *graph, Op **ops, int count) {
    graph->op_count = graph->op_capacity = 0;
    graph->ops = NULL;
    for (int i = 0; i < count; i++)
        graph_add(p, graph, ops[i]);
}

Op *graph_find(const Graph *graph, OpKind kind) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == kind)
            return graph->ops[i];
    return NULL;
}

Op *graph_producer(const Graph *graph, const Value *v) {
    for (int i = graph->op_count - 1; i >= 0; i--)
        for (int k = 0; k < graph->ops[i]->out_count; k++)
            if (graph->ops[i]->out[k] == v)
                return graph->ops[i];
    return NULL;
}

bool op_reads(const Op *op, const Value *v) {
    for (int i = 0; i < op->in_count; i++)
        if (op->in[i] == v)
            return true;
    return false;
}

void op_expect(const Op *op, bool condition, const char *what) {
    ENSURE(condition, "op %s (%s): %s", op->name, op_table[op->kind].name, what);
}

static Value *result(Program *p, Op *op, int i, const char *suffix, DType dtype, int rank,
                     const int64_t *dim) {
    if (i >= op->out_count)
        op->out_count = i + 1;
    if (!op->out[i]) {
        const char *name = arena_printf(p->arena, "%s%s", op->name, suffix);
        op->out[i] = value_new(p, name, ROLE_ACTIVATION, dtype, rank, dim, op->pos);
    }
    Value *v = op->out[i];
    bool same = v->rank == rank;
    for (int k = 0; same && k < rank; k++)
        same = v->dim[k] == dim[k];
    op_expect(op, same, "a result has another shape than the op's rule gives");
    return v;
}

Value *result_shaped(Program *p, Op *op, int i, DType dtype, int rank, const int64_t *dim) {
    return result(p, op, i, "", dtype, rank, dim);
}

Value *result_2d(Program *p, Op *op, int i, const char *suffix, DType dtype, int64_t rows,
                 int64_t cols) {
    return result(p, op, i, suffix, dtype, 2, (int64_t[]){rows, cols});
}

Value *result_1d(Program *p, Op *op, int i, const char *suffix, DType dtype, int64_t cols) {
    return result(p, op, i, suffix, dtype, 1, &cols);
}

Value *result_like(Program *p, Op *op, int i, const Value *like) {
    return result(p, op, i, "", like->dtype, like->rank, like->dim);
}

Body *op_expand(const Program *p, const Op *op) {
    if (!op_table[op->kind].expand)
        return NULL;
    Body *body = body_new(p->arena, 0, 0);
    op_table[op->kind].expand(p, op, body);
    ENSURE(body->rows > 0 && body->cols > 0, "op %s: its body has no space", op->name);
    return body;
}
