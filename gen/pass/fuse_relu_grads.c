/* The gradients of batch norm include that of the ReLU after it:
 *
 *     y = batch_norm(x, ...),  z = relu(y),  dy = relu_grad(z, dz)
 *     dot, sum = batch_norm_grad_sums(x, ..., dy),  dx = batch_norm_grad(x, ..., dot, sum, dy)
 *         ->  dot, sum = batch_norm_relu_grad_sums(x, ..., dz)
 *             dx = batch_norm_relu_grad(x, ..., dot, sum, dz)
 *
 * Both read x anyway and find y again from it, with the same bits. So backward does not read z, and
 * memory never holds dy. The same for relu6.
 *
 * Requires a lowered program, once mark_backward has run. Leaves a relu_grad as it is if its result
 * has other readers, or if an addition comes between batch norm and ReLU, as at the end of a
 * residual block: finding y again would then read the other summand. */
#include "graph/op_table.h"
#include "pass/pass.h"

/* Operands of batch_norm, and of its gradients. */
enum { X, MEAN, RSTD, WEIGHT, BIAS };
enum { SUMS_DY = 3, GRAD_DY = 6 };

/* Ops of one batch norm with a ReLU. */
typedef struct {
    const Op *norm, *relu_grad;
    Op *sums, *grad; /* grad may be NULL: nothing needs the gradient of x */
} Norm;

/* ---- matching -------------------------------------------------------------------------------- */

/* The batch norm whose result z is the ReLU of; NULL: it is not. */
static const Op *norm_of(const GraphUses *uses, const Op *relu_grad) {
    OpKind wanted = relu_grad->kind == OP_relu_grad ? OP_relu : OP_relu6;
    const Op *relu = use_maker(uses, relu_grad->in[0]);
    const Op *norm = relu && relu->kind == wanted ? use_maker(uses, relu->in[0]) : NULL;
    return norm && norm->kind == OP_batch_norm ? norm : NULL;
}

static bool is_gradient_of(const Op *op, const Op *norm) {
    return op->in[X] == norm->in[X] && op->in[MEAN] == norm->in[MEAN] &&
           op->in[RSTD] == norm->in[RSTD] && op_is_plain(op);
}

/* Finds the readers of dy; false if any is not a gradient of this batch norm. */
static bool find_readers(const GraphUses *uses, Norm *n) {
    int count;
    Op *const *readers = use_readers(uses, n->relu_grad->out[0], &count);
    for (int i = 0; i < count; i++) {
        bool sums = readers[i]->kind == OP_batch_norm_grad_sums;
        if ((!sums && readers[i]->kind != OP_batch_norm_grad) ||
            !is_gradient_of(readers[i], n->norm))
            return false;
        *(sums ? &n->sums : &n->grad) = readers[i];
    }
    return n->sums && count == 1 + (n->grad != NULL);
}

/* Whether dz has the same digits as dy, and still holds the gradient when the last reader of dy
 * runs. */
static bool keeps_dz(const Graph *graph, const Norm *n) {
    if (n->relu_grad->in[1]->dtype != n->relu_grad->out[0]->dtype)
        return false;
    const Op *last = n->grad ? n->grad : n->sums;
    for (int i = n->relu_grad->id + 1; i < last->id; i++)
        if (op_writes_part(graph->ops[i], n->relu_grad->in[1]))
            return false;
    return true;
}

static bool find(const GraphUses *uses, const Op *op, Norm *n) {
    if ((op->kind != OP_relu_grad && op->kind != OP_relu6_grad) || !op_is_plain(op))
        return false;
    *n = (Norm){.norm = norm_of(uses, op), .relu_grad = op};
    return n->norm && !graph_waits_for(uses->graph, op) && find_readers(uses, n) &&
           keeps_dz(uses->graph, n);
}

/* ---- rewriting ------------------------------------------------------------------------------- */

static void fuse(const Norm *n) {
    bool relu6 = n->relu_grad->kind == OP_relu6_grad;
    Value *dz = n->relu_grad->in[1], *weight = n->norm->in[WEIGHT], *bias = n->norm->in[BIAS];
    n->sums->kind = relu6 ? OP_batch_norm_relu6_grad_sums : OP_batch_norm_relu_grad_sums;
    n->sums->in[SUMS_DY] = dz;
    n->sums->in[n->sums->in_count++] = weight;
    n->sums->in[n->sums->in_count++] = bias;
    if (!n->grad)
        return;
    n->grad->kind = relu6 ? OP_batch_norm_relu6_grad : OP_batch_norm_relu_grad;
    n->grad->in[GRAD_DY] = dz;
    n->grad->in[n->grad->in_count++] = bias;
}

bool pass_fuse_relu_grads(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    if (!spec->compile.fusion || !graph_find(graph, OP_batch_norm_grad_sums))
        return false;
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    bool *gone = arena_array(&scratch, (size_t)graph->op_count, sizeof *gone), found = false;
    for (int i = 0; i < graph->op_count; i++) {
        Norm n;
        if (!find(&uses, graph->ops[i], &n))
            continue;
        fuse(&n);
        gone[i] = found = true;
    }
    if (found)
        graph_remove(p, graph, gone);
    arena_free(&scratch);
    return found;
}
