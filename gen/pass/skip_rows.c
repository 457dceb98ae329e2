/* Leaves rows without a target out of the head: before the product with the vocabulary, compacts
 * the others to data.max_target_tokens rows, a limit that the loader guarantees. A sum of losses
 * stays the same; ops that read the loss of each row still get it, with 0 for rows without a
 * target.
 *
 * Requires forward graphs only. Changes nothing if every row may have a target. */
#include "graph/loss_operands.h"
#include "pass/pass.h"

typedef struct {
    Value *rows;   /* I32 [M,1] the rows that have a target, in order; then -1 */
    Value *places; /* I32 [T,1] the inverse; -1: no target */
} Choice;

/* The linear, without accumulation, that makes the loss's logits; or NULL. */
static Op *find_head(const Graph *graph, const Op *loss) {
    Op *head = graph_producer(graph, loss->in[0]);
    return head && head->kind == OP_linear && !head->attr.accumulate ? head : NULL;
}

static Value *gather(Program *p, Graph *graph, OpKind kind, Value *of, Choice c, Pos pos) {
    const char *name = arena_printf(p->arena, "%s.targets", of->name);
    Value *in[] = {of, c.rows, c.places};
    return op_add(p, graph, kind, name, in, kind == OP_gather_rows ? 3 : 2, (Attr){0}, pos)->out[0];
}

/* Builds the head, or the loss, again on the chosen rows. */
static Value *rebuild(Program *p, Graph *graph, Op *op, Op *head, Op *loss, Choice c, Value *logits,
                      Pos pos) {
    if (op == head) {
        Value *in[] = {gather(p, graph, OP_gather_rows, head->in[0], c, pos), head->in[1]};
        Op *made = op_add(p, graph, OP_linear, head->name, in, 2, head->attr, head->pos);
        made->observe = head->observe;
        return made->out[0];
    }
    Value *labels = gather(p, graph, OP_gather_labels, loss->in[LOSS_LABELS], c, pos);
    Value *in[] = {logits, labels, loss->in[LOSS_WEIGHT]};
    return op_add(p, graph, OP_cross_entropy, loss->name, in, 3, loss->attr, loss->pos)->out[0];
}

/* Whether any op other than a sum reads the losses. */
static bool reads_rows(const Graph *graph, const Value *losses) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind != OP_sum && op_reads(graph->ops[i], losses))
            return true;
    return false;
}

static void spread(Program *p, Graph *graph, Value *made, Value *losses, Choice c, Pos pos) {
    const char *name = arena_printf(p->arena, "%s.all", losses->name);
    Value *in[] = {made, c.places, c.rows};
    op_add_into(p, graph, OP_gather_rows, name, in, 3, &losses, 1, (Attr){0}, pos);
}

static void skip(Program *p, Graph *graph, Op *loss, Choice c, Pos pos) {
    Op *head = find_head(graph, loss);
    Value *made = NULL, *losses = loss->out[0];
    if (!head)
        return;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (op == head || op == loss) {
            made = rebuild(p, graph, op, head, loss, c, made, pos);
            if (op == loss && reads_rows(&old, losses))
                spread(p, graph, made, losses, c, pos);
            continue;
        }
        if (op->kind == OP_sum)
            op_read_instead(op, losses, made);
        graph_add(p, graph, op);
    }
}

static void skip_all(Program *p, Graph *graph, Choice c, Pos pos) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    for (int i = 0; i < count; i++)
        if (ops[i]->kind == OP_cross_entropy)
            skip(p, graph, ops[i], c, pos);
}

bool pass_skip_rows(Program *p, const Spec *spec) {
    int64_t targets = spec->data.max_target_tokens;
    if (!spec->compile.skip_ignored_rows || targets == 0 || targets >= p->tokens)
        return false;
    Pos pos = spec_pos(spec, KEY_data_max_target_tokens);
    Choice c = {value_2d(p, "target_rows", ROLE_INPUT, DT_I32, targets, 1, pos),
                value_2d(p, "target_places", ROLE_INPUT, DT_I32, p->tokens, 1, pos)};
    for (int i = 0; program_forward(p, i); i++)
        skip_all(p, program_forward(p, i), c, pos);
    return true;
}
