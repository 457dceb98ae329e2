/* Runs the head in chunks of rows, so that at most one chunk of logits exists at a time.
 *
 * Requires gradients; before lower. The chain of logits = linear(x, W), cross_entropy(logits), its
 * gradient, and the products that read the gradient works row by row. If the gradient of the loss
 * is known beforehand, as for a mean over rows, each chunk goes forward and backward in one visit.
 * If it depends on other rows' losses, backward computes each chunk's logits again: this costs a
 * product, but keeping them would need memory for all logits. The weight's gradient is accumulated
 * over the chunks. */
#include "graph/loss_operands.h"
#include "pass/pass.h"

enum { MAX_USERS = 8 };

typedef struct {
    Op *linear, *loss, *loss_grad; /* loss_grad NULL: forward only */
    Op *user[MAX_USERS];           /* products that read the logits' gradient */
    int user_count;
    bool twice; /* backward visits the chunks again */
} Chain;

/* Collects the ops that read v and returns their number; -1 if there are more than MAX_USERS. */
static int readers(const Graph *graph, const Value *v, Op **out) {
    int count = 0;
    for (int i = 0; i < graph->op_count; i++) {
        if (!op_reads(graph->ops[i], v))
            continue;
        if (count == MAX_USERS)
            return -1;
        out[count++] = graph->ops[i];
    }
    return count;
}

static bool takes_gradient(Chain *c, const Graph *graph, Op *grad) {
    c->loss_grad = grad;
    c->twice = graph_producer(graph, grad->in[LOSS_GRAD_UPSTREAM]) != NULL;
    c->user_count = readers(graph, grad->out[0], c->user);
    for (int i = 0; i < c->user_count; i++)
        if (c->user[i]->kind != OP_matmul || c->user[i]->in[0] != grad->out[0])
            return false;
    return c->user_count >= 0;
}

static bool find_chain(const Graph *graph, Op *loss, Chain *c) {
    Op *reader[MAX_USERS];
    *c = (Chain){.loss = loss, .linear = graph_producer(graph, loss->in[0])};
    if (!c->linear || c->linear->kind != OP_linear || c->linear->attr.accumulate)
        return false;
    int count = readers(graph, loss->in[0], reader);
    if (count == 1)
        return true;
    if (count != 2 || reader[1]->kind != OP_cross_entropy_grad)
        return false;
    return takes_gradient(c, graph, reader[1]);
}

static bool in_chain(const Chain *c, const Op *op) {
    for (int i = 0; i < c->user_count; i++)
        if (op == c->user[i])
            return true;
    return op == c->linear || op == c->loss || op == c->loss_grad;
}

typedef struct {
    Program *program;
    Graph *graph;
    int index;
    int64_t first, count; /* rows of the current chunk */
    bool last;
} Chunk;

/* "lm_head.chunk.2" */
static const char *chunk_name(const Chunk *k, const char *name) {
    return arena_printf(k->program->arena, "%s.chunk.%d", name, k->index);
}

static Value *rows_of(const Chunk *k, Value *v) {
    return value_row_range(k->program, v, k->first, k->count, chunk_name(k, v->name));
}

static Value *add_linear(const Chunk *k, const Op *op, bool with_gradient) {
    Value *in[] = {rows_of(k, op->in[0]), op->in[1]};
    const char *name = chunk_name(k, op->name);
    Op *made = op_add(k->program, k->graph, OP_linear, name, in, 2, op->attr, op->pos);
    made->observe = op->observe;
    made->with_gradient = with_gradient;
    return made->out[0];
}

static Op *add_loss(const Chunk *k, const Op *op, Value *logits) {
    Value *in[] = {logits, rows_of(k, op->in[LOSS_LABELS]), op->in[LOSS_WEIGHT],
                   op->in[LOSS_GROUP_RANK]};
    Value *out[] = {rows_of(k, op->out[0]), rows_of(k, op->out[1])};
    return op_add_into(k->program, k->graph, op->kind, chunk_name(k, op->name), in, op->in_count,
                       out, 2, op->attr, op->pos);
}

static Value *add_loss_grad(const Chunk *k, const Op *op, Value *logits) {
    Value *upstream = op->in[LOSS_GRAD_UPSTREAM];
    if (value_rows(upstream) > 1)
        upstream = rows_of(k, upstream);
    Value *in[] = {logits,
                   rows_of(k, op->in[LOSS_GRAD_LABELS]),
                   rows_of(k, op->in[LOSS_GRAD_LSE]),
                   op->in[LOSS_GRAD_WEIGHT],
                   upstream,
                   op->in[LOSS_GRAD_GROUP_RANK]};
    const char *name = chunk_name(k, op->name);
    return op_add(k->program, k->graph, op->kind, name, in, op->in_count, op->attr, op->pos)
        ->out[0];
}

/* dx: the chunk's rows of the result. */
static void add_input_grad(const Chunk *k, const Op *op, Value *gradient) {
    Value *in[] = {gradient, op->in[1], NULL}, *out = rows_of(k, op->out[0]);
    if (op->attr.accumulate)
        in[2] = rows_of(k, op_so_far(op));
    op_add_into(k->program, k->graph, OP_matmul, chunk_name(k, op->name), in,
                2 + op->attr.accumulate, &out, 1, op->attr, op->pos);
}

/* dW: all chunks but the first add to `so_far`, the sum of the earlier chunks. */
static Value *add_weight_grad(const Chunk *k, const Op *op, Value *gradient, Value *so_far) {
    Attr attr = op->attr;
    Value *in[] = {gradient, rows_of(k, op->in[1]), so_far ? so_far : op_so_far(op)};
    attr.accumulate |= so_far != NULL;
    Value *out = k->last ? op->out[0] : value_alias(k->program, op->out[0], op->out[0]->name);
    op_add_into(k->program, k->graph, OP_matmul, chunk_name(k, op->name), in, 2 + attr.accumulate,
                &out, 1, attr, op->pos);
    return out;
}

static void add_chunk_back(const Chunk *k, const Chain *c, Value *logits, Value **weight_grad) {
    Value *gradient = add_loss_grad(k, c->loss_grad, logits);
    for (int i = 0; i < c->user_count; i++) {
        if (c->user[i]->attr.transpose_a)
            weight_grad[i] = add_weight_grad(k, c->user[i], gradient, weight_grad[i]);
        else
            add_input_grad(k, c->user[i], gradient);
    }
}

static void add_chunk(const Chunk *k, const Chain *c, Value **weight_grad) {
    bool back = c->loss_grad && !c->twice;
    Value *logits = add_linear(k, c->linear, back);
    Op *loss = add_loss(k, c->loss, logits);
    if (back)
        add_chunk_back(k, c, logits, weight_grad);
    else
        loss->apart = true; /* one kernel for several chunks would read all their logits at once */
}

/* The second visit to a chunk, for backward. */
static void add_chunk_again(const Chunk *k, const Chain *c, Value **weight_grad) {
    Value *logits = add_linear(k, c->linear, true);
    Op *again = k->graph->ops[k->graph->op_count - 1];
    again->observe = NULL;
    again->extra = true;
    add_chunk_back(k, c, logits, weight_grad);
}

typedef void Visit(const Chunk *, const Chain *, Value **weight_grad);

static void add_chunks(Program *p, Graph *graph, const Chain *c, int64_t size, Visit *visit) {
    int64_t rows = value_rows(c->loss->in[0]);
    Value *weight_grad[MAX_USERS] = {0};
    Chunk k = {.program = p, .graph = graph};
    for (; !k.last; k.index++, k.first += size) {
        k.count = rows - k.first < size ? rows - k.first : size;
        k.last = k.first + k.count == rows;
        visit(&k, c, weight_grad);
    }
}

static void chunk(Program *p, Graph *graph, Op *loss, int64_t size) {
    Chain chain;
    if (value_rows(loss->in[0]) <= size || !find_chain(graph, loss, &chain))
        return;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (op == chain.loss)
            add_chunks(p, graph, &chain, size, add_chunk);
        if (op == chain.loss_grad && chain.twice)
            add_chunks(p, graph, &chain, size, add_chunk_again);
        if (!in_chain(&chain, op))
            graph_add(p, graph, op);
    }
}

static void chunk_all(Program *p, Graph *graph, int64_t size) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    for (int i = 0; i < count; i++)
        if (ops[i]->kind == OP_cross_entropy)
            chunk(p, graph, ops[i], size);
}

bool pass_chunk_head(Program *p, const Spec *spec) {
    if (!spec->compile.chunked_head)
        return false;
    for (int i = 0; program_forward(p, i); i++)
        chunk_all(p, program_forward(p, i), spec->compile.head_chunk_tokens);
    return true;
}
