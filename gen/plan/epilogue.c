/* Epilogues: pointwise work on a template's result becomes part of the template's kernel, so that
 * the result need not be written and read again.
 *
 * Runs after the grouping. The epilogue takes the first ops of a group that reads the result,
 * provided that they are pointwise over its elements. It takes as many as minimise the bytes that
 * the two kernels move, and with equal bytes all of them rather than some, since that saves a
 * launch.
 *
 * An op that reads the result under windows can be the first of these ops if the template computes
 * a window at a time and nothing else reads the result. The ops after it are pointwise over
 * windows. */
#include "plan/group.h"

#include "graph/op_table.h"
#include "graph/window.h"
#include "plan/fuse.h"
#include "plan/phases.h"

/* The two groups after a possible split. */
typedef struct {
    Group host, rest; /* rest.count 0: the host takes over all ops */
    int64_t bytes;
} Split;

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Bytes of the views that the body reads or writes, each counted once per direction; *operands
 * becomes the number of views. */
static int64_t bytes_of(const Body *body, int *operands) {
    int64_t bytes = 0;
    *operands = 0;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        bool known = false, new_way = true;
        if (s->kind != STEP_LOAD && !step_writes(s->kind))
            continue;
        for (int k = 0; k < i; k++) {
            const Step *before = &body->steps[k];
            if ((before->kind != STEP_LOAD && !step_writes(before->kind)) ||
                !value_same_view(before->value, s->value))
                continue;
            known = true;
            new_way = new_way && (before->kind == STEP_LOAD) != (s->kind == STEP_LOAD);
        }
        *operands += !known;
        bytes += new_way ? value_bytes(s->value) : 0;
    }
    return bytes;
}

/* The same for the group's kernel, without stores that nothing reads. */
static int64_t group_bytes(const Grouping *g, const Group *group, int *operands) {
    *operands = 0;
    if (group->count == 0)
        return 0;
    Body *body = body_copy(group->body);
    group_drop_stores(g, group, body);
    return bytes_of(body, operands);
}

/* ---- one way to split ------------------------------------------------------------------------ */

static bool adds_windows(const Group *group, const Op *op) {
    return group->epilogue && group->count && !group->windows &&
           op_finds_windows(group->ops[0], op);
}

static Body *joined_body(const Program *p, const Group *group, const Op *op, Body *part) {
    if (adds_windows(group, op))
        return fuse_windows(p, group->body, part, window_rows(&op->attr.window));
    return group_join_bodies(p, group->body, part);
}

static bool group_add(const Program *p, Group *group, const Op *op, Body *part) {
    Body *joined = group->count ? joined_body(p, group, op, part) : part;
    if (!joined || group->count == GROUP_OPS)
        return false;
    if (adds_windows(group, op))
        group->windows = op;
    group_append(p->arena, group, op, part);
    group->body = joined;
    return true;
}

/* For an epilogue over windows: whether nothing outside reads the values before the windows. */
static bool hides_result(const Grouping *g, const Group *host) {
    for (int i = 0; host->windows && host->ops[i] != host->windows; i++)
        for (int k = 0; k < host->ops[i]->out_count; k++)
            if (!group_hides(g, host, host->ops[i]->out[k]))
                return false;
    return true;
}

/* Whether the host's body can be an epilogue: it must not reduce, since a template's thread has
 * only single elements, and not overwrite operands, which other threads may still read. */
static bool is_epilogue(const Group *host) {
    const Body *body = host->body;
    const Op *op = host->ops[0], *rows = host->windows ? host->windows : op;
    if (body->rows != value_rows(rows->out[0]) || body->cols != value_cols(op->out[0]) ||
        body_has(body, step_reduces) || body_has(body, step_sums_columns))
        return false;
    for (int i = 0; i < body->count; i++) {
        const Value *to = body->steps[i].value;
        if (!step_writes(body->steps[i].kind))
            continue;
        if (value_rows(to) != body->rows || value_cols(to) != body->cols)
            return false;
        for (int k = 0; k < op->in_count - op->attr.accumulate; k++)
            if (value_overlaps(op->in[k], to))
                return false;
    }
    return true;
}

/* Builds the split in which the host takes over the first `taken` ops of the reader. */
static bool split(const Grouping *g, const Group *host, const Group *reader, int taken, Split *to) {
    const Program *p = g->plan->program;
    int operands;
    *to = (Split){.host.epilogue = true};
    for (int i = 0; i < host->count; i++)
        if (!group_add(p, &to->host, host->ops[i], host->parts[i]))
            return false;
    for (int i = 0; i < reader->count; i++)
        if (!group_add(p, i < taken ? &to->host : &to->rest, reader->ops[i], reader->parts[i]))
            return false;
    if (!is_epilogue(&to->host) || !hides_result(g, &to->host))
        return false;
    to->bytes = group_bytes(g, &to->rest, &operands);
    to->bytes += group_bytes(g, &to->host, &operands);
    return operands + host->ops[0]->in_count <= MAX_PARAMS;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static bool reads_result(const Group *reader, const Group *host) {
    for (int i = 0; i < reader->count; i++)
        for (int k = 0; k < reader->ops[i]->in_count; k++)
            for (int o = 0; o < host->count; o++)
                if (value_overlaps(reader->ops[i]->in[k], host->ops[o]->out[0]))
                    return true;
    return false;
}

/* Finds the split that moves the fewest bytes; false if none beats the groups as they are. */
static bool best_split(const Grouping *g, const Group *host, const Group *reader, Split *best) {
    int operands;
    bool found = false;
    best->bytes = group_bytes(g, host, &operands) + group_bytes(g, reader, &operands);
    for (int taken = reader->count; taken > 0; taken--) {
        Split s;
        if (split(g, host, reader, taken, &s) && s.bytes < best->bytes) {
            *best = s;
            found = true;
        }
    }
    return found;
}

/* Returns true if the reader is gone. The host may have moved down; *host is its new index. */
static bool take_over(Grouping *g, int *host, int reader) {
    bool moves_down;
    Split s;
    const Group *a = &g->groups[*host], *b = &g->groups[reader];
    if (!b->body || b->epilogue || !reads_result(b, a) || !groups_may_share(a, b))
        return false;
    if (!groups_can_meet(g, *host, reader, &moves_down) || !best_split(g, a, b, &s))
        return false;
    g->groups[*host] = s.host;
    g->groups[reader] = s.rest;
    if (moves_down) {
        group_move(g, *host, reader - 1);
        *host = reader - 1;
    }
    if (s.rest.count == 0)
        group_remove(g, reader);
    return s.rest.count == 0;
}

void group_epilogues(Grouping *g) {
    for (int i = g->count - 1; i >= 0; i--) {
        int host = i;
        if (!g->groups[host].epilogue)
            continue;
        for (int r = host + 1; r < g->count && r <= host + GROUP_WINDOW; r++)
            r -= take_over(g, &host, r);
    }
}
