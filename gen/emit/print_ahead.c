/* Fetching what later rows load into the L2 cache. The addresses are those of the row's own loads plus
 * a constant, so that they cost no calculation. */
#include "emit/printer.h"
#include "plan/skeleton.h"

/* Whether a later step of these stays in its value only if this one does: the taps of a window are
 * in order, and the operands of a window have the same rows. */
static bool is_bounded_later(const Printer *p, int step) {
    const Step *steps = p->body->steps, *s = &steps[step];
    for (int i = step + 1; i < p->body->count; i++)
        if (step_is_ahead(p->kernel, i) && steps[i].per &&
            (steps[i].value == s->value || (steps[i].row_index == s->row_index &&
                                            value_rows(steps[i].value) == value_rows(s->value))))
            return true;
    return false;
}

/* "row_2_2 < FROM_END": the row that the step asks for is in its value. */
static const char *bound(Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    int64_t end = value_rows(s->value) - step_moves(p->kernel, i);
    return arena_printf(p->arena, "%s < %s", step_text(p, s->row_index), extent(p, "FROM_END", end));
}

void print_ahead_end(Printer *p) {
    const Kernel *k = p->kernel;
    int64_t ahead = skeleton_ahead(k);
    int lanes = skeleton_lanes_ahead(k);
    if (!ahead)
        return;
    p->ahead_end = unique(p, "ahead_end");
    const char *rows = extent(p, "AHEAD", ahead);
    if (lanes > 1)
        put(p, "const %s %s = %s %% %d == 0 ? end - %s : first;", index_type(p), p->ahead_end,
            p->lane, lanes, rows);
    else
        put(p, "const %s %s = end - %s;", index_type(p), p->ahead_end, rows);
}

void print_ahead(Printer *p) {
    const char *condition = arena_printf(p->arena, "row < %s", p->ahead_end);
    for (int i = 0; i < p->body->count; i++)
        if (step_is_ahead(p->kernel, i) && p->body->steps[i].per && !is_bounded_later(p, i))
            condition = arena_printf(p->arena, "%s && %s", condition, bound(p, i));
    const char *is_ahead = unique(p, "is_ahead");
    put(p, "const bool %s = %s;", is_ahead, condition);
    for (int i = 0; i < p->body->count; i++) {
        if (!step_is_ahead(p->kernel, i))
            continue;
        /* The index is put together as in the load, with which it shares instructions. */
        bool conditional = p->body->steps[i].arg[0] >= 0;
        const char *base = p->body->steps[i].per ? "FROM_AHEAD" : "AHEAD";
        const char *rows = extent(p, base, step_moves(p->kernel, i));
        const char *stride = step_stride_text(p, i), *at = step_index_text(p, i, false);
        put(p, "prefetch_if<%s * %s>(%s, %s + %s%s%s);", rows, stride, is_ahead, param_name(p, i),
            conditional ? "(" : "", at, conditional ? ")" : "");
    }
}
