/* Joins two bodies. */
#include "plan/fuse.h"

#include "base/rounding.h"
#include "graph/window.h"
#include "plan/kernel_names.h"
#include "plan/phases.h"
#include "plan/skeleton.h"

enum { MOST_REGISTER_BYTES = 512 }; /* per thread, for elements kept between phases */

/* ---- the joined iteration space -------------------------------------------------------------- */

/* Whether `part` can run in the joined space. [R,1] and [1,1] can run in [R,C], since they do not
 * vary with the column; but not if they have sums, whose layout differs for one column. [1,C] can
 * run where a thread holds a column's totals. */
static bool takes_part(const Body *part, const Body *other, int64_t rows, int64_t cols) {
    bool sums = body_has(part, step_reduces) || body_has(part, step_sums_columns);
    if (!body_has(part, step_totals) && body_has(other, step_totals))
        return !sums && part->rows == 1 && (part->cols == cols || part->cols == 1);
    if (part->rows == rows && part->cols == cols)
        return true;
    return !sums && part->cols == 1 && (part->rows == rows || part->rows == 1);
}

/* Appends a step whose arguments may have been replaced, and derives its level from them. */
static int append(Body *joined, Step s) {
    Level level = s.kind == STEP_LOAD && step_has_columns(&s) ? LEVEL_COL : LEVEL_SCALAR;
    for (int k = 0; k < step_args(&s); k++)
        level = level_join(level, joined->steps[s.arg[k]].level);
    if (s.row_index >= 0)
        level = level_join(level, joined->steps[s.row_index].level);
    bool varies_by_itself = step_reduces(s.kind) || s.kind == STEP_ROW || s.kind == STEP_COL ||
                            s.kind == STEP_RESULT || (s.kind == STEP_LOAD && s.row_index < 0);
    if (!varies_by_itself)
        s.level = level;
    return body_append(joined, s);
}

/* In a larger space, the index of a part's only row or column is the constant 0. */
static Step placed(const Body *part, const Body *joined, Step s) {
    bool only_row = s.kind == STEP_ROW && part->rows == 1 && joined->rows > 1;
    bool only_col = s.kind == STEP_COL && part->cols == 1 && joined->cols > 1;
    if (!only_row && !only_col)
        return s;
    s.kind = STEP_CONST;
    s.constant = 0;
    s.name = NULL;
    return s;
}

/* ---- loads ----------------------------------------------------------------------------------- */

static bool is_plain(const Step *s) { return s->row_index < 0 && s->col_map == COL_SAME; }

/* Of the first `count` steps, the last one that writes any part of v; -1: none. */
static int last_writer(const Body *body, int count, const Value *v) {
    for (int i = count - 1; i >= 0; i--)
        if (step_writes(body->steps[i].kind) && value_overlaps(body->steps[i].value, v))
            return i;
    return -1;
}

static int same_load(const Body *body, int count, const Step *load) {
    for (int i = 0; i < count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind == STEP_LOAD && value_same_view(s->value, load->value) &&
            s->row_index == load->row_index && s->col_map == load->col_map &&
            s->period == load->period && s->level == load->level && s->arg[0] == load->arg[0])
            return i;
    }
    return -1;
}

/* A step that computes the same integer or condition; or -1. So two ops that compute the same row
 * index share one load. */
static int same_index(const Body *body, int count, const Step *step) {
    bool exact = step->type != TYPE_REAL && !step->value;
    for (int i = 0; exact && i < count; i++) {
        const Step *s = &body->steps[i];
        bool same = s->kind == step->kind && s->type == step->type &&
                    s->constant == step->constant && !s->value;
        if (s->kind == STEP_CONST)
            same = same && text_equal(s->name, step->name);
        for (int k = 0; k < step_args(step); k++)
            same = same && s->arg[k] == step->arg[k];
        if (same)
            return i;
    }
    return -1;
}

/* Whether a step's numbers already have the dtype, so that rounding would change nothing. */
static bool has_dtype(const Body *body, int step, DType dtype) {
    const Step *s = &body->steps[step];
    switch (s->kind) {
    case STEP_LOAD:
        return s->value->dtype == dtype;
    case STEP_ROUND:
        return s->dtype == dtype;
    case STEP_CONST:
        return s->constant == 0;
    case STEP_SELECT:
        return has_dtype(body, s->arg[1], dtype) && has_dtype(body, s->arg[2], dtype);
    default:
        return false;
    }
}

/* The step that replaces a load of what step `number` stored: its number, rounded to the value's
 * dtype. */
static int as_loaded(const Program *p, Body *body, int number, const Step *load) {
    Step *stored = &body->steps[number];
    if (stored->kind != STEP_LOAD && !stored->hint)
        stored->hint = short_name(body->arena, load->value, NULL);
    if (load->type != TYPE_REAL || load->value->dtype == p->real)
        return number;
    if (has_dtype(body, number, load->value->dtype))
        return number;
    for (int i = number + 1; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind == STEP_ROUND && s->arg[0] == number && s->dtype == load->value->dtype)
            return i;
    }
    int rounded = step_round(body, load->value->dtype, number);
    body->steps[rounded].value = load->value; /* only to name the variable */
    return rounded;
}

/* The step that replaces a load of what the writer stored; -1 if another thread may hold it. */
static int forwarded(const Program *p, Body *body, int writer, const Step *load) {
    Step store = body->steps[writer];
    if (store.kind != STEP_STORE || !is_plain(&store) || !is_plain(load) ||
        !value_same_view(store.value, load->value))
        return -1;
    return as_loaded(p, body, store.arg[0], load);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Functions that cost more than a variable, and sums over a row. */
static bool is_costly(StepKind kind) {
    return kind == STEP_EXP || kind == STEP_LOG || kind == STEP_SIGMOID || kind == STEP_SIN ||
           kind == STEP_COS || step_reduces_row(kind);
}

/* Whether two steps compute the same from steps of the same numbers. */
static bool compute_alike(const Body *body, const Step *a, const Step *b) {
    if (a == b)
        return true;
    if (a->kind != b->kind || a->type != b->type || a->value || b->value || step_writes(a->kind) ||
        a->constant != b->constant || a->dtype != b->dtype || a->of_product != b->of_product ||
        a->approximate != b->approximate || a->period != b->period || a->kind == STEP_UNIFORM ||
        !text_equal(a->name, b->name))
        return false;
    for (int k = 0; k < step_args(a); k++)
        if (!compute_alike(body, &body->steps[a->arg[k]], &body->steps[b->arg[k]]))
            return false;
    return true;
}

/* The step that computes the same function or sum of the same number; -1: none. */
static int same_number(Body *body, const Step *s) {
    for (int i = 0; is_costly(s->kind) && i < body->count; i++) {
        Step *known = &body->steps[i];
        if (!compute_alike(body, known, s))
            continue;
        if (!known->hint)
            known->hint = s->hint;
        return i;
    }
    return -1;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Returns false if a load would need values that other threads of the kernel write. */
static bool append_body(const Program *p, Body *joined, const Body *second) {
    int before = joined->count;
    int *place = arena_array(joined->arena, (size_t)second->count, sizeof *place);
    for (int i = 0; i < second->count; i++) {
        Step s = step_moved(placed(second, joined, second->steps[i]), place);
        int writer = s.kind == STEP_LOAD ? last_writer(joined, before, s.value) : -1;
        int known = same_index(joined, before, &s);
        if (known < 0)
            known = same_number(joined, &s);
        if (s.kind == STEP_LOAD && writer < 0)
            known = same_load(joined, joined->count, &s);
        if (writer >= 0)
            known = forwarded(p, joined, writer, &s);
        if (writer >= 0 && known < 0)
            return false;
        if (known >= 0 && s.kind == STEP_LOAD && !s.spare)
            joined->steps[known].spare = false;
        place[i] = known >= 0 ? known : append(joined, s);
    }
    return true;
}

/* ---- what must not happen -------------------------------------------------------------------- */

/* Whether a scalar is stored only after a reduction over all threads, all of which have loaded it
 * before that. */
static bool waits_for_loads(const Body *body) {
    return body->rows == 1 && body_has(body, step_reduces_row) && !body_has(body, step_totals) &&
           !body_has(body, step_sums_columns);
}

/* Whether each stored element belongs to a single thread, and no other thread loads it. */
static bool owned(const Body *body, int store) {
    Level level = step_level(body, store);
    if (level == LEVEL_SCALAR && waits_for_loads(body))
        return true;
    if (level == LEVEL_ELEMENT || body->rows * body->cols == 1)
        return true;
    if (level == LEVEL_COL)
        return body->rows == 1 || body_has(body, step_totals);
    return level == LEVEL_ROW && body->cols == 1;
}

static bool write_is_safe(const Body *body, int write) {
    const Step *w = &body->steps[write];
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind != STEP_LOAD || !value_overlaps(s->value, w->value))
            continue;
        if (w->kind == STEP_COL_SUM || !is_plain(s) || !is_plain(w))
            return false;
        if (!value_same_view(s->value, w->value) || !owned(body, write))
            return false;
    }
    return true;
}

static bool writes_are_safe(const Body *body) {
    for (int i = 0; i < body->count; i++)
        if (step_writes(body->steps[i].kind) && !write_is_safe(body, i))
            return false;
    return true;
}

/* Whether two writes of one op go to different rows or columns of one value. */
static bool other_places(const Step *a, const Step *b) {
    if (a->kind != b->kind || a->value != b->value)
        return false;
    if (a->col_map == COL_AT && b->col_map == COL_AT && a->period != b->period)
        return true;
    return a->kind == STEP_COL_SUM ? a->constant != b->constant
                                   : a->row_index >= 0 && a->row_index != b->row_index;
}

/* Drops the first of two stores to one place; returns false if writes overlap otherwise. */
static bool join_writes(Body *body) {
    for (int a = 0; a < body->count; a++)
        for (int b = a + 1; b < body->count; b++) {
            Step *first = &body->steps[a], *second = &body->steps[b];
            if (!step_writes(first->kind) || !step_writes(second->kind))
                continue;
            if (!value_overlaps(first->value, second->value) || other_places(first, second))
                continue;
            bool covers = first->kind == STEP_STORE && second->kind == STEP_STORE &&
                          is_plain(first) && is_plain(second) &&
                          value_same_view(first->value, second->value);
            if (!covers)
                return false;
            *first =
                (Step){.kind = STEP_CONST, .type = TYPE_INT, .arg = {-1, -1, -1}, .row_index = -1};
        }
    return true;
}

/* ---- what a kernel can hold ------------------------------------------------------------------ */

static bool pointers_fit(const Body *body) {
    const Value *seen[MAX_PARAMS];
    int count = 0;
    for (int i = 0; i < body->count; i++) {
        const Value *v = body->steps[i].value;
        if (!v || body->steps[i].kind == STEP_ROUND)
            continue;
        bool known = false;
        for (int k = 0; k < count; k++)
            known = known || value_same_view(seen[k], v);
        if (!known && count == MAX_PARAMS)
            return false;
        if (!known)
            seen[count++] = v;
    }
    return true;
}

static bool scalars_fit(const Body *body) {
    int streams = 0;
    for (int i = 0; i < body->count; i++)
        streams += body->steps[i].kind == STEP_UNIFORM;
    return streams < MAX_SCALARS;
}

/* Whether sums over rows in `part` keep their order in the joined body. */
static bool sums_alike(const Program *p, const Body *part, const Body *joined) {
    Kernel a = {.body = part}, b = {.body = joined};
    if (!body_has(part, step_sums_columns))
        return true;
    skeleton_choose(p, &a, false);
    skeleton_choose(p, &b, false);
    return a.workers == b.workers && a.parts == b.parts &&
           skeleton_run(part) == skeleton_run(joined);
}

/* Whether a thread's registers hold everything that it keeps. Where rows are too wide for
 * registers, there is no room for sums over rows. What rows share under sliding windows does not count:
 * where fp32 kernels of 3x3 windows then need more than threads have, ptxas spills up to 22 registers,
 * which stay in the L1 cache, but two kernels would move a result through memory that one does not. */
static bool registers_fit(const Program *p, const Body *body) {
    Kernel k = {.body = body, .real = p->real};
    skeleton_choose(p, &k, false);
    if (!skeleton_is_row(k.skeleton))
        return true;
    if (k.skeleton == SKELETON_STREAM_ROW)
        return !body_has(body, step_sums_columns);
    Phases phases = phases_of(body->arena, body);
    int64_t bytes = 0, elements = (int64_t)skeleton_chunks(&k) * k.vector;
    for (int i = 0; i < body->count; i++) {
        if (phases.kept[i] ||
            (k.workers && body->steps[i].level == LEVEL_COL && body->steps[i].kind == STEP_LOAD))
            bytes += elements * dtype_bytes(body->steps[i].value->dtype);
        if (body->steps[i].kind == STEP_COL_SUM)
            bytes += elements * dtype_bytes(p->real);
    }
    return bytes <= MOST_REGISTER_BYTES;
}

/* Only the FLAT skeleton can address the elements of a value with another shape. And one thread must
 * have all columns of a run whose numbers share a byte that it stores. */
static bool shapes_fit(const Program *p, const Body *body) {
    Kernel k = {.body = body, .real = p->real, .shares_rows = true};
    skeleton_choose(p, &k, false);
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->col_map == COL_RESHAPED && k.skeleton != SKELETON_FLAT)
            return false;
        if (s->kind == STEP_STORE && s->col_map == COL_PACKED && k.vector % s->period)
            return false;
    }
    return true;
}

void fuse_loads(const Program *p, Body *body) {
    const Body all = *body;
    body->count = 0; /* never more steps are appended than were read so far */
    append_body(p, body, &all);
}

Body *fuse_bodies(const Program *p, const Body *first, const Body *second) {
    int64_t rows = larger(first->rows, second->rows), cols = larger(first->cols, second->cols);
    if (!takes_part(first, second, rows, cols) || !takes_part(second, first, rows, cols))
        return NULL;
    Body *joined = body_new(first->arena, rows, cols);
    body_reserve(joined, first->count + second->count);
    append_body(p, joined, first);
    if (!append_body(p, joined, second) || !join_writes(joined))
        return NULL;
    bool fits = writes_are_safe(joined) && sums_alike(p, first, joined) &&
                sums_alike(p, second, joined) && pointers_fit(joined) && scalars_fit(joined) &&
                shapes_fit(p, joined) && registers_fit(p, joined);
    return fits ? joined : NULL;
}

/* ---- windows over a template's result -------------------------------------------------------- */

/* Appends the steps that `result` does to one row of a template's result: number `number` of the
 * `count` rows of a window; step `row` of `joined` gives its index. place[] records where each step
 * went. */
static void append_row(Body *joined, const Body *result, int row, int number, int count,
                       int *place) {
    for (int i = 0; i < result->count; i++) {
        Step s = result->steps[i];
        if (s.kind == STEP_ROW)
            place[i] = row;
        if (s.kind == STEP_ROW || step_writes(s.kind))
            continue;
        s = step_moved(s, place);
        if (s.kind == STEP_RESULT) {
            s.constant = number;
            s.period = count;
        }
        if (s.kind == STEP_LOAD && s.row_index < 0 && value_rows(s.value) > 1)
            s.row_index = row;
        int known = s.kind == STEP_LOAD ? same_load(joined, joined->count, &s)
                                        : same_index(joined, joined->count, &s);
        place[i] = known >= 0 ? known : append(joined, s);
    }
}

/* The step that replaces a load of a row under the window; -1 if it is no such load. */
static int found_row(const Program *p, Body *joined, const Body *result, const Step *load,
                     int number, int count) {
    int writer = last_writer(result, result->count, load->value);
    const Step *store = &result->steps[writer];
    bool reads_row = load->row_index >= 0 && step_args(load) == 0 && load->col_map == COL_SAME;
    bool reads_this = is_plain(store) && value_same_view(store->value, load->value);
    if (!reads_row || !reads_this || number >= count)
        return -1;
    int *place = arena_array(joined->arena, (size_t)result->count, sizeof *place);
    append_row(joined, result, load->row_index, number, count, place);
    int found = as_loaded(p, joined, place[store->arg[0]], load);
    if (load->name)
        joined->steps[found].name = load->name;
    return found;
}

Body *fuse_windows(const Program *p, const Body *result, const Body *reader, int count) {
    Body *joined = body_new(result->arena, reader->rows, reader->cols);
    int *place = arena_array(joined->arena, (size_t)reader->count, sizeof *place), number = 0;
    for (int i = 0; i < reader->count; i++) {
        Step s = step_moved(reader->steps[i], place);
        bool reads = s.kind == STEP_LOAD && last_writer(result, result->count, s.value) >= 0;
        place[i] = reads ? found_row(p, joined, result, &s, number++, count) : append(joined, s);
        if (place[i] < 0)
            return NULL;
    }
    bool fits = writes_are_safe(joined) && pointers_fit(joined) && scalars_fit(joined);
    return fits && number == count ? joined : NULL;
}

/* ---- stores that nothing reads --------------------------------------------------------------- */

static void mark_used(const Body *body, int step, bool *used) {
    if (used[step])
        return;
    used[step] = true;
    const Step *s = &body->steps[step];
    for (int k = 0; k < step_args(s); k++)
        mark_used(body, s->arg[k], used);
    if (s->row_index >= 0)
        mark_used(body, s->row_index, used);
}

/* Spare loads up to so many places behind other loads of their lines that are used. */
static void mark_spare(const Body *body, int places, bool *used) {
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        for (int k = 0; s->spare && k < body->count; k++) {
            const Step *other = &body->steps[k];
            if (used[k] && !other->spare && step_same_line(other, s) &&
                s->place <= other->place + places)
                mark_used(body, i, used);
        }
    }
}

static void drop_unused(Body *body, const bool *used) {
    int *place = arena_array(body->arena, (size_t)body->count, sizeof *place), count = 0;
    for (int i = 0; i < body->count; i++) {
        if (!used[i])
            continue;
        body->steps[count] = step_moved(body->steps[i], place);
        place[i] = count++;
    }
    body->count = count;
}

void fuse_drop_stores(Body *body, bool (*is_read)(const void *, const Value *),
                      const void *context) {
    bool *used = arena_array(body->arena, (size_t)body->count, sizeof *used);
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (step_sums_columns(s->kind) || s->operand ||
            (step_writes(s->kind) && is_read(context, s->value)))
            mark_used(body, i, used);
    }
    mark_spare(body, MOST_SPARE, used);
    drop_unused(body, used);
}

void fuse_drop_spares(Body *body, int places) {
    bool *used = arena_array(body->arena, (size_t)body->count, sizeof *used), found = false;
    for (int i = 0; i < body->count; i++) {
        found |= body->steps[i].spare;
        if (step_writes(body->steps[i].kind))
            mark_used(body, i, used);
    }
    mark_spare(body, places, used);
    if (found)
        drop_unused(body, used);
}
