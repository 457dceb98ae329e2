/* attention_grad undoes the RoPE of q and k itself:
 *
 *     x, y, dv = attention_grad(...),  dq = rope_grad(x, ...),  dk = rope_grad(y, ...)
 *         ->  dq, dk, dv = attention_grad(..., positions, cos, sin)
 *
 * The results have the same bits, and memory never holds x and y. The angles are operands of their
 * own, because with shared prompts the mask reads other positions.
 *
 * Requires a lowered program, after chunk_rows. One rope_grad may read both x and y, as columns of
 * one matrix (join_ropes), and one of the two may have no reader. Leaves all ops as they are if
 * another op reads x or y, if the results cannot be stored earlier, or if the kernels of
 * attention_grad cannot undo RoPE. */
#include "graph/attention_operands.h"
#include "graph/op_table.h"
#include "pass/pass.h"

#include <string.h>

enum { ROTATED = 2, ANGLES = 3 }; /* results of attention_grad; operands of rope_grad */

/* The rope_grads that read the first two results of an attention_grad. One may be NULL; both may be
 * the same op. */
typedef struct {
    Op *of[ROTATED];
} Ropes;

/* ---- matching -------------------------------------------------------------------------------- */

/* Finds the only readers of both results; false if there are others, or none. */
static bool find_readers(const Graph *graph, const Op *grad, Ropes *ropes) {
    *ropes = (Ropes){{NULL}};
    for (int i = grad->id + 1; i < graph->op_count; i++)
        for (int r = 0; r < ROTATED; r++) {
            if (!op_reads_part(graph->ops[i], grad->out[r]))
                continue;
            if (ropes->of[r])
                return false;
            ropes->of[r] = graph->ops[i];
        }
    return ropes->of[0] || ropes->of[1];
}

/* Whether d, a result of attention_grad, is whole heads of the matrix that the op rotates. */
static bool rotates(const Op *rope, const Op *grad, const Value *d) {
    const Value *x = rope->in[0];
    int64_t column = d->offset - x->offset;
    return rope->kind == OP_rope_grad && rope->attr.head_dim == grad->attr.head_dim &&
           rope->out[0]->dtype == d->dtype && x->dtype == d->dtype &&
           x->row_stride == d->row_stride && value_rows(x) == value_rows(d) &&
           column >= 0 && column + value_cols(d) <= value_cols(x) &&
           column % rope->attr.head_dim == 0;
}

/* Whether the ops rotate the results of attention_grad and nothing else, by the same angles. */
static bool rotate_results(const Op *grad, const Ropes *ropes) {
    int64_t cols = 0, rotated = 0;
    const Op *first = ropes->of[0] ? ropes->of[0] : ropes->of[1];
    for (int r = 0; r < ROTATED; r++) {
        const Op *rope = ropes->of[r];
        if (!rope)
            continue;
        if (!rotates(rope, grad, grad->out[r]))
            return false;
        for (int i = 1; i <= ANGLES; i++)
            if (!value_same_view(rope->in[i], first->in[i]))
                return false;
        cols += value_cols(grad->out[r]);
        rotated += r && rope == ropes->of[0] ? 0 : value_cols(rope->in[0]);
    }
    return cols == rotated;
}

/* Whether attention_grad may store the op's result. */
static bool may_store(const Graph *graph, const Op *grad, const Op *rope) {
    return !op_reads_part(grad, rope->out[0]) && graph_may_move(graph, rope, grad);
}

static bool can_fuse(const Graph *graph, const Op *grad, Ropes *ropes) {
    if (grad->kind != OP_attention_grad || !op_is_plain(grad) || !attention_can_undo_rope(grad) ||
        !find_readers(graph, grad, ropes) || !rotate_results(grad, ropes))
        return false;
    for (int r = 0; r < ROTATED; r++) {
        const Op *rope = ropes->of[r];
        if (rope && (!op_is_plain(rope) || graph_waits_for(graph, rope) ||
                     !may_store(graph, grad, rope)))
            return false;
    }
    return true;
}

/* ---- rewriting ------------------------------------------------------------------------------- */

/* Returns an operand of a later op that is these columns of y; NULL if there is none. */
static Value *operand_at(const Graph *graph, const Op *rope, int64_t first, int64_t count) {
    const Value *y = rope->out[0];
    for (int i = rope->id + 1; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->in_count; k++) {
            Value *v = graph->ops[i]->in[k];
            if (v->storage == y->storage && v->dtype == y->dtype && v->rank == 2 &&
                v->offset == y->offset + first && value_cols(v) == count &&
                value_rows(v) == value_rows(y) && v->row_stride == y->row_stride)
                return v;
        }
    return NULL;
}

/* The columns of the op's result that belong to d, by the name under which others read them. */
static Value *rotated(Program *p, const Graph *graph, const Op *rope, const Value *d) {
    Value *y = rope->out[0];
    int64_t first = d->offset - rope->in[0]->offset, count = value_cols(d);
    if (value_cols(y) == count)
        return y;
    Value *read = operand_at(graph, rope, first, count);
    return read ? read : value_columns(p, y, first, count, d->name);
}

static void fuse(Program *p, const Graph *graph, Op *grad, const Ropes *ropes) {
    const Op *rope = ropes->of[0] ? ropes->of[0] : ropes->of[1];
    memcpy(grad->in + grad->in_count, rope->in + 1, ANGLES * sizeof *grad->in);
    grad->in_count += ANGLES;
    for (int r = 0; r < ROTATED; r++)
        if (ropes->of[r])
            grad->out[r] = rotated(p, graph, ropes->of[r], grad->out[r]);
}

bool pass_fuse_rope_grads(Program *p, const Spec *spec) {
    if (!spec->compile.fusion)
        return false;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    Arena scratch = {0};
    bool *gone = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *gone), found = false;
    for (int i = 0; i < graph->op_count; i++) {
        Ropes ropes;
        if (!can_fuse(graph, graph->ops[i], &ropes))
            continue;
        fuse(p, graph, graph->ops[i], &ropes);
        for (int r = 0; r < ROTATED; r++)
            if (ropes.of[r])
                gone[ropes.of[r]->id] = true;
        found = true;
    }
    if (found)
        graph_remove(p, graph, gone);
    arena_free(&scratch);
    return found;
}
