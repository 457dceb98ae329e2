/* Shares out the vocabulary over the tensor parallel ranks: each has some rows of the embeddings,
 * including those of positions, and of the head, and thus the logits of its tokens.
 *
 * Requires the result of pass_tensor, and that the rows which the head reads are settled. A token's
 * vector comes from the rank that has it, and the others add zeros; if a position's vector is added
 * to it, both share one sum over ranks. For each row of logits a rank finds the largest, the sum of
 * exponentials and the target's; the loss is computed from those of all ranks and is the same on
 * each (see ops_loss.c). */
#include "graph/op_table.h"
#include "pass/pass.h"
#include "pass/tensor.h"

static Value *rank_of(Program *p) { return program_group_rank(p, GROUP_TENSOR); }

/* Makes the op look up only the rank's own ids, and give zeros for all others. */
static void split_embedding(Program *p, Graph *graph, Op *op, Pos pos) {
    tensor_shard(p, op->in[1], 0, GROUP_TENSOR);
    const char *name = arena_printf(p->arena, "%s.own_ids", op->name);
    Value *in[] = {op->in[0], rank_of(p)};
    Attr attr = {.rows = value_rows(op->in[1])};
    op->in[0] = op_add(p, graph, OP_own_ids, name, in, 2, attr, pos)->out[0];
    op->attr.group = GROUP_TENSOR;
}

static bool is_embedding(const Graph *graph, const Value *v) {
    const Op *op = graph_producer(graph, v);
    return op && op->kind == OP_embedding;
}

/* Whether the op adds two embeddings. */
static bool adds_embeddings(const Graph *graph, const Op *op) {
    return op->kind == OP_add && is_embedding(graph, op->in[0]) && is_embedding(graph, op->in[1]);
}

/* By op index: whether the op's result has to be summed over ranks. */
static bool *find_parts(Program *p, const Graph *graph) {
    bool *is_part = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *is_part);
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        if (op->kind == OP_embedding)
            is_part[i] = true;
        if (!adds_embeddings(graph, op))
            continue;
        is_part[i] = true;
        for (int k = 0; k < 2; k++)
            is_part[graph_producer(graph, op->in[k])->id] = false;
    }
    return is_part;
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

/* By op index: whether the op makes the logits of a loss. A graph may have several. */
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
    const bool *is_head = find_heads(p, graph);
    const bool *is_part = find_parts(p, graph);
    Value *part = NULL, *sum = NULL;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        op_read_instead(op, part, sum);
        if (op->kind == OP_embedding)
            split_embedding(p, graph, op, pos);
        else if (is_head[i])
            split_head(p, graph, op, pos);
        else if (op->kind == OP_cross_entropy)
            split_loss(p, op);
        graph_add(p, graph, op);
        if (is_part[i]) {
            part = op->out[0];
            sum = tensor_sum(p, graph, part, pos);
        }
    }
}

bool pass_vocab_parallel(Program *p, const Spec *spec) {
    Pos pos = spec_pos(spec, KEY_parallelism_vocab_parallel);
    if (!spec_effective(spec, KEY_parallelism_vocab_parallel) || !spec->parallelism.vocab_parallel ||
        !mesh_has(&p->mesh, GROUP_TENSOR))
        return false;
    for (int i = 0; program_forward(p, i); i++)
        split_graph(p, program_forward(p, i), pos);
    return true;
}
