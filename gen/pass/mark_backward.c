/* Marks micro_step's ops that belong to backward (Op.phase): those that depend on the gradient of
 * the loss, or of what a pipeline stage sends.
 *
 * Requires a lowered program; before recomputation, which marks its clones itself. */
#include "pass/pass.h"

typedef struct {
    const Program *program;
    const Value **made;   /* by storage id: what backward made there last */
    const Value **before; /* by value id: what it made there before */
} Marks;

/* Whether backward starts from v: from a value of its own or from rows of the received gradient. */
static bool is_start(const Program *p, const Value *v) {
    const Value *received = p->stage.received_gradient;
    return v == p->loss_gradient || v == p->counters.loss_scale ||
           (received && v->storage == received->storage);
}

static bool has_made(const Marks *m, const Value *v) {
    for (const Value *made = m->made[v->storage->id]; made; made = m->before[made->id])
        if (value_overlaps(made, v))
            return true;
    return false;
}

static bool depends(const Marks *m, const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (is_start(m->program, op->in[i]) || has_made(m, op->in[i]))
            return true;
    return false;
}

static void note_made(Marks *m, const Value *v) {
    m->before[v->id] = m->made[v->storage->id];
    m->made[v->storage->id] = v;
}

bool pass_mark_backward(Program *p, const Spec *spec) {
    (void)spec;
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    Arena scratch = {0};
    Marks m = {p, arena_array(&scratch, (size_t)p->storage_count + 1, sizeof *m.made),
               arena_array(&scratch, (size_t)p->value_count + 1, sizeof *m.before)};
    for (int i = 0; i < graph->op_count; i++) {
        Op *op = graph->ops[i];
        if (!depends(&m, op))
            continue;
        op->phase = PHASE_BACKWARD;
        for (int k = 0; k < op->out_count; k++)
            note_made(&m, op->out[k]);
    }
    arena_free(&scratch);
    return false;
}
