/* Neighbouring ops become one group, which will be one kernel, where `[compile] fusion` allows it.
 *
 * Ops come in their order. An op joins the nearest earlier group that shares memory with it, if
 * their bodies can be joined and the two can be made adjacent: either the op moves up to the group,
 * or the group moves down to the op, crossing nothing that it conflicts with. A further group that
 * makes what this one alone reads then moves down to it too. */
#include "plan/group.h"

#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "plan/fuse.h"
#include "plan/kernels.h"
#include "plan/phases.h"
#include "plan/planes.h"
#include "plan/sums.h"

void group_append(Arena *arena, Group *group, const Op *op, Body *part) {
    int capacity = group->capacity;
    group->ops = arena_grow(arena, group->ops, group->count, &capacity, sizeof op);
    group->parts = arena_grow(arena, group->parts, group->count, &group->capacity, sizeof part);
    group->ops[group->count] = op;
    group->parts[group->count++] = part;
}

/* ---- dependence ------------------------------------------------------------------------------ */

bool ops_conflict(const Op *a, const Op *b) {
    return a->after == b || b->after == a || ops_meet(a, b);
}

bool groups_conflict(const Group *a, const Group *b) {
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++)
            if (ops_conflict(a->ops[i], b->ops[k]))
                return true;
    return false;
}

/* Whether a group between these two conflicts with it. */
static bool conflicts_between(const Grouping *g, int first, int last, const Group *group) {
    for (int i = first + 1; i < last; i++)
        if (groups_conflict(&g->groups[i], group))
            return true;
    return false;
}

/* ---- joining --------------------------------------------------------------------------------- */

static bool has_rows(const Op *op) { return op->out_count && value_rows(op->out[0]) > 1; }

/* Whether both read the same memory. Tables of constants do not count; they are too small to be a
 * reason for fusion. Nor do single numbers, such as the step, if only one of the ops has rows: all
 * threads of these would compute what belongs to none of them. */
static bool read_alike(const Op *a, const Op *b) {
    bool alike = has_rows(a) == has_rows(b);
    for (int i = 0; i < a->in_count; i++)
        if (a->in[i]->role != ROLE_CONSTANT && (alike || value_elements(a->in[i]) > 1) &&
            op_reads_part(b, a->in[i]))
            return true;
    return false;
}

static bool ops_share(const Op *a, const Op *b) { return op_reads_from(b, a) || read_alike(a, b); }

static bool group_shares(const Group *group, const Op *op) {
    for (int i = 0; i < group->count; i++)
        if (ops_share(group->ops[i], op))
            return true;
    return false;
}

static bool is_observed(const Group *group) {
    for (int i = 0; i < group->count; i++)
        if (group->ops[i]->observe)
            return true;
    return false;
}

/* A launch shows one value, and runs either in each micro-step or only in a step's last. */
bool groups_may_share(const Group *a, const Group *b) {
    return a->ops[0]->ends_step == b->ops[0]->ends_step && !a->ops[0]->apart && !b->ops[0]->apart &&
           !(is_observed(a) && is_observed(b));
}

/* Only some kernels take the number of rows as an argument. */
static bool rows_grow_alike(const Grouping *g, const Group *group, const Op *op, const Body *body) {
    if (group->body->rows == 1 || body->rows == 1)
        return true;
    return plan_rows_grow(g->entry, group->ops, group->count) == plan_rows_grow(g->entry, &op, 1);
}

/* Whether the op's result is only the operand of a template that makes it itself, for one op alone:
 * the op is worth more there than in a kernel that reads the same as the op does. A template whose
 * kernel several ops share may take over such a kernel as a whole. */
static bool is_for_a_template(const Grouping *g, const Op *op) {
    int count;
    if (op->out_count != 1)
        return false;
    Op *const *readers = use_readers(g->uses, op->out[0], &count);
    return count == 1 && op_is(readers[0], TRAIT_PROLOGUE) && !op_shares_prologue(readers[0]) &&
           readers[0]->in[0] == op->out[0];
}

/* Whether the two may be in one kernel as far as templates are concerned: what makes a template's
 * operand joins pointwise ops that it reads from. */
static bool leaves_to_templates(const Grouping *g, const Group *group, const Op *op) {
    const Op *last = group->ops[group->count - 1];
    if (is_for_a_template(g, last))
        return false;
    if (!is_for_a_template(g, op))
        return true;
    return body_is_pointwise(group->body) && op_reads_from(op, last);
}

enum { MOST_SUMMED_ROWS = 128 };

/* A body of one column next to a sum over these rows, which is a row sum: laid out as a row too, so
 * that the block which sums also computes what it sums. Other bodies, and more rows than one block
 * should compute, stay as they are. */
static Body *laid_along(Body *body, const Body *other) {
    bool along = body->cols == 1 && other->rows == 1 && other->cols == body->rows &&
                 body->rows <= MOST_SUMMED_ROWS && body_has(other, step_reduces_row);
    return along ? body_upright(body) : body;
}

Body *group_join_bodies(const Program *p, Body *first, Body *second) {
    return fuse_bodies(p, laid_along(first, second), laid_along(second, first));
}

static Body *joined_body(const Grouping *g, const Group *group, const Group *alone) {
    const Op *op = alone->ops[0];
    if (!group->body || group->epilogue || group->count == GROUP_OPS || !group_shares(group, op))
        return NULL;
    if (!groups_may_share(group, alone) || !rows_grow_alike(g, group, op, alone->body) ||
        !leaves_to_templates(g, group, op))
        return NULL;
    return group_join_bodies(g->plan->program, group->body, alone->body);
}

/* Whether the group makes its results from matrices of no more bytes: then it may run later without
 * keeping more. */
static bool keeps_no_more(const Group *group) {
    int64_t read = 0, made = 0;
    for (int i = 0; i < group->count; i++) {
        const Op *op = group->ops[i];
        for (int k = 0; k < op->in_count; k++)
            read += value_elements(op->in[k]) == value_elements(op->out[0]) ? value_bytes(op->in[k])
                                                                            : 0;
        for (int k = 0; k < op->out_count; k++)
            made += value_bytes(op->out[k]);
    }
    return read <= made;
}

/* Whether both compute elements over the same rows and columns. */
static bool spaces_are_alike(const Grouping *g, const Group *a, const Group *b) {
    return a->body->rows == b->body->rows && a->body->cols == b->body->cols &&
           plan_rows_grow(g->entry, a->ops, a->count) == plan_rows_grow(g->entry, b->ops, b->count);
}

/* Whether nothing but `group` reads what `maker` makes. */
static bool makes_only_for(const Grouping *g, const Group *maker, const Group *group) {
    Group both = {0};
    for (int i = 0; i < maker->count; i++)
        group_append(g->plan->program->arena, &both, maker->ops[i], NULL);
    for (int i = 0; i < group->count; i++)
        group_append(g->plan->program->arena, &both, group->ops[i], NULL);
    for (int i = 0; i < maker->count; i++)
        for (int k = 0; k < maker->ops[i]->out_count; k++)
            if (!group_hides(g, &both, maker->ops[i]->out[k]))
                return false;
    return true;
}

/* Whether an op of the group reads what the maker makes. */
static bool reads_from(const Group *group, const Group *maker) {
    for (int i = 0; i < group->count; i++)
        for (int k = 0; k < maker->count; k++)
            if (op_reads_from(group->ops[i], maker->ops[k]))
                return true;
    return false;
}

/* Joins group `first` to `later`, whose place it moves down to, if no other has to come between. */
static bool try_join_maker(Grouping *g, int first, int later) {
    Group *maker = &g->groups[first], *group = &g->groups[later];
    if (!maker->body || maker->epilogue || !body_is_pointwise(maker->body) ||
        maker->count + group->count > GROUP_OPS || !groups_may_share(maker, group) ||
        !reads_from(group, maker) || !spaces_are_alike(g, maker, group) || !keeps_no_more(maker) ||
        !makes_only_for(g, maker, group) || conflicts_between(g, first, later, maker))
        return false;
    Body *joined = group_join_bodies(g->plan->program, maker->body, group->body);
    if (!joined)
        return false;
    group_move(g, first, later - 1);
    maker = &g->groups[later - 1];
    for (int i = 0; i < group->count; i++)
        group_append(g->plan->program->arena, maker, group->ops[i], group->parts[i]);
    maker->body = joined;
    group_drop_stores(g, maker, joined);
    group_remove(g, later);
    return true;
}

/* Joins the nearest other group that the one just joined reads from; at most one. */
static void join_makers(Grouping *g, int later) {
    for (int i = later - 1; i >= 0 && i >= later - GROUP_WINDOW; i--)
        if (try_join_maker(g, i, later))
            return;
}

/* Joins the op to group `index` if the two can be made adjacent. */
static bool try_join(Grouping *g, int index, const Op *op, Body *body) {
    Group alone = {.ops = &op, .count = 1, .body = body};
    Body *joined = joined_body(g, &g->groups[index], &alone);
    if (!joined)
        return false;
    if (conflicts_between(g, index, g->count, &alone)) {
        if (conflicts_between(g, index, g->count, &g->groups[index]))
            return false;
        group_move(g, index, g->count - 1);
        index = g->count - 1;
    }
    Group *group = &g->groups[index];
    group_append(g->plan->program->arena, group, op, body);
    group->body = joined;
    group_drop_stores(g, group, joined); /* makes room for more parameters */
    join_makers(g, index);
    return true;
}

/* A sum over the rows of a single column becomes a row sum when laid out as a row, and a row sum
 * can be joined. */
static Body *lean(const Program *p, Body *body) {
    fuse_loads(p, body);
    return body->cols == 1 && body_has(body, step_sums_columns) ? body_upright(body) : body;
}

Group *group_new(Grouping *g, const Op *op, Body *body) {
    Arena *arena = g->plan->program->arena;
    g->groups = arena_grow(arena, g->groups, g->count, &g->capacity, sizeof(Group));
    Group *group = &g->groups[g->count++];
    *group = (Group){.body = body};
    group_append(arena, group, op, body);
    return group;
}

static void add_body(Grouping *g, const Op *op, Body *body, bool fusion) {
    for (int i = g->count - 1; fusion && i >= 0 && i >= g->count - GROUP_WINDOW; i--)
        if (try_join(g, i, op, body))
            return;
    group_new(g, op, body);
}

bool op_has_epilogue(const Op *op) { return op_is(op, TRAIT_EPILOGUE) && !op->out[0]->plane; }

/* A body that stores a template's result, for others to join. */
static Body *result_body(const Program *p, const Op *op) {
    Value *out = op->out[0];
    Body *body = body_new(p->arena, value_rows(out), value_cols(out));
    int result = step_result(body);
    if (op->attr.accumulate)
        result = step_binary(body, STEP_ADD, step_load(body, op_so_far(op)), result);
    step_store(body, out, result);
    return body;
}

/* Adds an op without a body of its own: a matrix product, a template or a memset. */
static void add_alone(Grouping *g, const Op *op) {
    bool epilogue = op_has_epilogue(op);
    Body *body = epilogue ? result_body(g->plan->program, op) : NULL;
    group_new(g, op, body)->epilogue = epilogue;
}

void group_op(Grouping *g, const Op *op, bool fusion) {
    Program *p = g->plan->program;
    Body *body = op_expand(p->arena, p, op), *second[MAX_RESULTS];
    if (!body) {
        add_alone(g, op);
        return;
    }
    body = lean(p, body_by_planes(p, body, &second[0]));
    int count = second[0] ? 1 : sums_split(g->plan, body, plan_rows_grow(g->entry, &op, 1), second);
    add_body(g, op, body, fusion);
    for (int i = 0; i < count; i++)
        add_body(g, op, second[i], fusion);
}

/* ---- making two groups adjacent -------------------------------------------------------------- */

bool groups_can_meet(const Grouping *g, int first, int later, bool *moves_down) {
    *moves_down = conflicts_between(g, first, later, &g->groups[later]);
    return !*moves_down || !conflicts_between(g, first, later, &g->groups[first]);
}

void group_move(Grouping *g, int from, int to) {
    for (; from < to; from++) {
        Group group = g->groups[from];
        g->groups[from] = g->groups[from + 1];
        g->groups[from + 1] = group;
    }
}

void group_remove(Grouping *g, int index) {
    group_move(g, index, g->count - 1);
    g->count--;
}

/* ---- what is stored ---------------------------------------------------------------------------- */

typedef struct {
    const Grouping *grouping;
    const Group *group;
} Reader;

static bool in_group(const Group *group, const Op *op) {
    for (int i = 0; i < group->count; i++)
        if (group->ops[i] == op)
            return true;
    return false;
}

static bool any_outside(const Group *group, Op *const *ops, int count) {
    for (int i = 0; i < count; i++)
        if (!in_group(group, ops[i]))
            return true;
    return false;
}

static bool is_result(const Group *group, const Value *v) {
    for (int i = 0; i < group->count; i++)
        for (int k = 0; k < group->ops[i]->out_count; k++)
            if (value_overlaps(group->ops[i]->out[k], v))
                return true;
    return false;
}

/* Whether anything outside the group may read the value: another op, another entry or a dump.
 * Partial sums, which are no op's result, are read by the kernel that adds them up. */
static bool is_read_outside(const void *context, const Value *v) {
    const Reader *reader = context;
    if (v->role != ROLE_ACTIVATION || !is_result(reader->group, v))
        return true;
    for (int i = 0; i < reader->group->count; i++) {
        const Op *op = reader->group->ops[i];
        if (op->observe && value_overlaps(op->observed ? op->observed : op->out[0], v))
            return true;
    }
    for (const Value *view = v->storage->views; view; view = view->next_view) {
        int count;
        Op *const *readers = use_readers(reader->grouping->uses, view, &count);
        if (value_overlaps(view, v) && any_outside(reader->group, readers, count))
            return true;
    }
    return false;
}

bool group_hides(const Grouping *g, const Group *group, const Value *v) {
    return !is_read_outside(&(Reader){g, group}, v);
}

void group_drop_stores(const Grouping *g, const Group *group, Body *body) {
    fuse_drop_stores(body, is_read_outside, &(Reader){g, group});
}
