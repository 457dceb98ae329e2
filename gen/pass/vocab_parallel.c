/* The vocabulary shared out over the ranks of tensor parallelism: each has rows of the embedding and of
 * the head, and so the logits of its tokens.
 *
 * Requires what pass_tensor leaves, and the rows of the head settled. A token's vector comes from the
 * rank that has it: the others add zeros. Of a row of logits each rank finds the largest, the sum of
 * exponentials and the target's; the loss is made of all ranks', the same on each (see ops_loss.c). */
#include "graph/op_table.h"
#include "pass/pass.h"
#include "pass/tensor.h"

static Value *rank_of(Program *p) { return program_place(p, GROUP_TENSOR); }

/* Rows of the table where the ids are a rank's own, zeros elsewhere; then the sum. */
static Value *split_embedding(Program *p, Graph *graph, Op *op, Pos pos) {
    tensor_shard(p, op->in[1], 0, GROUP_TENSOR);
    const char *name = arena_printf(p->arena, "%s.own_ids", op->name);
    Value *in[] = {op->in[0], rank_of(p)};
    Attr attr = {.rows = value_rows(op->in[1])};
    op->in[0] = op_add(p, graph, OP_own_ids, name, in, 2, attr, pos)->out[0];
    op->attr.group = GROUP_TENSOR;
    graph_add(p, graph, op);
    return tensor_sum(p, graph, op->out[0], pos);
}

static void split_head(Program *p, Graph *graph, Op *op, Pos pos) {
    tensor_shard(p, op->in[1], 0, GROUP_TENSOR);
    tensor_narrow(p, op->out[0], 1, GROUP_TENSOR);
    op->in[0] = tensor_spread(p, graph, op->in[0], pos);
}

static void split_loss(Program *p, Op *op) {
    op->in[op->in_count++] = rank_of(p);
    op->attr.group = GROUP_TENSOR;
}

/* By index of an op: it makes the logits of a loss, of which a graph may have several. */
static bool *find_heads(Program *p, const Graph *graph) {
    bool *is_head = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *is_head);
    for (int i = 0; i < graph->op_count; i++)
        for (int k = i + 1; k < graph->op_count; k++)
            if (graph->ops[k]->kind == OP_cross_entropy &&
                graph->ops[k]->in[0] == graph->ops[i]->out[0]) {
                is_head[i] = true;
                ENSURE(graph->ops[i]->kind == OP_linear && !graph->ops[i]->attr.accumulate,
                       "%s has no head to split", graph->name);
            }
    return is_head;
}

static void split_graph(Program *p, Graph *graph, Pos pos) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    const bool *is_head = find_heads(p, graph);
    Value *part = NULL, *sum = NULL;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        op_read_instead(ops[i], part, sum);
        if (ops[i]->kind == OP_embedding) {
            part = ops[i]->out[0];
            sum = split_embedding(p, graph, ops[i], pos);
            continue;
        }
        if (is_head[i])
            split_head(p, graph, ops[i], pos);
        else if (ops[i]->kind == OP_cross_entropy)
            split_loss(p, ops[i]);
        graph_add(p, graph, ops[i]);
    }
}

bool pass_vocab_parallel(Program *p, const Spec *spec) {
    Pos pos = spec_pos(spec, KEY_parallelism_vocab_parallel);
    if (mesh_ranks(&p->mesh, GROUP_TENSOR) == 1 || !spec->parallelism.vocab_parallel)
        return false;
    for (int i = 0; program_forward(p, i); i++)
        split_graph(p, program_forward(p, i), pos);
    return true;
}
