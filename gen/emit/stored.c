/* Elements that an earlier visit of the row has stored. If the visit's vectors are still in scope,
 * a later one reads them there instead of computing the elements again: the value that was stored,
 * or what it was rounded to. */
#include "emit/printer.h"
#include "plan/skeleton.h"

/* The step whose value a store's vector has; -1 if none. */
static int held_step(const Printer *p, int store) {
    const Step *steps = p->body->steps, *s = &steps[store];
    if (steps[s->arg[0]].type != TYPE_REAL)
        return -1;
    if (s->value->dtype == p->kernel->real)
        return s->arg[0];
    for (int i = 0; i < p->body->count; i++)
        if (steps[i].kind == STEP_ROUND && steps[i].arg[0] == s->arg[0] &&
            steps[i].dtype == s->value->dtype)
            return i;
    return -1;
}

bool is_held(const Printer *p, int step) {
    return p->holder[step] >= 0 && p->phases.at[p->holder[step]] < p->phase;
}

static bool *needed(Printer *p, int step) {
    return &p->phases.needed[p->phase * p->body->count + step];
}

/* As in plan/phases.c, but what is held needs nothing else. */
static void need(Printer *p, int step) {
    const Step *s = &p->body->steps[step];
    if (*needed(p, step) || !step_per_column(p->body, step) || step_totals(s->kind))
        return;
    *needed(p, step) = true;
    if (is_held(p, step))
        return;
    for (int k = 0; k < step_args(s); k++)
        need(p, s->arg[k]);
    if (s->row_index >= 0)
        need(p, s->row_index);
}

void hold_stored(Printer *p) {
    for (int i = 0; i < p->body->count; i++) {
        int held = stores_vector(p, i) ? held_step(p, i) : -1;
        if (held >= 0)
            p->holder[held] = i;
    }
    for (p->phase = 1; p->phase < p->phases.count; p->phase++) {
        for (int i = 0; i < p->body->count; i++)
            *needed(p, i) = false;
        for (int i = 0; i < p->body->count; i++) {
            const Step *s = &p->body->steps[i];
            if (!phase_acts(&p->phases, p->phase, i))
                continue;
            need(p, s->arg[0]);
            if (s->row_index >= 0)
                need(p, s->row_index);
        }
    }
    p->phase = 0;
}
