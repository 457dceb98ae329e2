/* Phases of a body, and the levels of its steps. */
#include "plan/phases.h"

#include <string.h>

bool body_has(const Body *body, bool (*which)(StepKind)) {
    for (int i = 0; i < body->count; i++)
        if (which(body->steps[i].kind))
            return true;
    return false;
}

bool value_lies_flat(const Body *body, const Value *v) {
    return body->rows == 1 && body->cols > 1 && value_cols(v) == 1 && value_rows(v) == body->cols;
}

/* Level of a store whose row another step gives. */
static Level level_of_rows(const Body *body, const Step *store) {
    Level row = body->steps[store->row_index].level;
    return step_has_columns(store) ? level_join(row, LEVEL_COL) : row;
}

Level step_level(const Body *body, int step) {
    const Step *s = &body->steps[step];
    if (s->kind == STEP_COL_SUM)
        return LEVEL_ELEMENT;
    if (s->kind != STEP_STORE)
        return s->level;
    if (s->row_index >= 0)
        return level_of_rows(body, s);
    if (value_lies_flat(body, s->value))
        return LEVEL_COL;
    bool rows = value_rows(s->value) > 1, cols = step_has_columns(s);
    return rows ? (cols ? LEVEL_ELEMENT : LEVEL_ROW) : (cols ? LEVEL_COL : LEVEL_SCALAR);
}

bool step_per_column(const Body *body, int step) {
    Level level = step_level(body, step);
    return level == LEVEL_COL || level == LEVEL_ELEMENT;
}

bool step_gathers(const Body *body, int step) {
    int row = body->steps[step].row_index;
    return row >= 0 && step_per_column(body, row);
}

/* ---- one column as one row ------------------------------------------------------------------- */

/* Rows become columns, and the index of the only column becomes the constant 0. */
static Step upright_step(Step s) {
    if (s.kind == STEP_COL) {
        s.kind = STEP_CONST;
        s.level = LEVEL_SCALAR;
        s.constant = 0;
        s.name = NULL;
    }
    if (s.kind == STEP_ROW)
        s.kind = STEP_COL;
    if (s.level != LEVEL_SCALAR)
        s.level = LEVEL_COL;
    return s;
}

Body *body_upright(Body *body) {
    if (body->cols > 1 || body->rows == 1)
        return body;
    Body *flat = body_new(body->arena, 1, body->rows);
    int *place = arena_array(body->arena, (size_t)body->count, sizeof *place);
    for (int i = 0; i < body->count; i++) {
        Step s = step_moved(upright_step(body->steps[i]), place);
        if (step_reduces(s.kind)) {
            place[i] = s.arg[0]; /* a reduction over one column is the element itself */
        } else if (s.kind == STEP_COL_SUM && !s.period) {
            int sum = step_reduce(flat, STEP_ROW_SUM, s.arg[0]);
            flat->steps[sum].of_product = s.of_product;
            step_store(flat, s.value, sum);
            place[i] = -1;
        } else {
            place[i] = body_append(flat, s);
        }
    }
    return flat;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static int after(const Phases *f, int arg) {
    return f->at[arg] + step_reduces(f->body->steps[arg].kind);
}

static int earliest(const Phases *f, const Step *s) {
    int phase = 0;
    for (int k = 0; k < step_args(s); k++)
        if (after(f, s->arg[k]) > phase)
            phase = after(f, s->arg[k]);
    if (s->row_index >= 0 && after(f, s->row_index) > phase)
        phase = after(f, s->row_index);
    return phase;
}

/* Whether a store waits for the last phase in any case. Element stores wait for totals; in a body of
 * one row, a store of a single number waits until all threads have loaded it. */
static bool waits(const Body *body, int store) {
    if (!step_per_column(body, store))
        return body->rows == 1;
    return body_has(body, step_totals);
}

static void need(Phases *f, int phase, int step) {
    const Body *body = f->body;
    bool *flag = &f->needed[phase * body->count + step];
    if (*flag || !step_per_column(body, step) || step_totals(body->steps[step].kind))
        return;
    *flag = true;
    const Step *s = &body->steps[step];
    for (int k = 0; k < step_args(s); k++)
        need(f, phase, s->arg[k]);
    if (s->row_index >= 0)
        need(f, phase, s->row_index);
}

bool phase_needs(const Phases *f, int phase, int step) {
    return f->needed[phase * f->body->count + step];
}

/* A reduction does, although its result is one number per row. */
bool phase_acts(const Phases *f, int phase, int step) {
    StepKind kind = f->body->steps[step].kind;
    if (f->at[step] != phase)
        return false;
    return step_reduces(kind) || (step_writes(kind) && step_per_column(f->body, step));
}

bool phase_visits_columns(const Phases *f, int phase) {
    for (int i = 0; i < f->body->count; i++)
        if (phase_acts(f, phase, i))
            return true;
    return false;
}

int phase_uses(const Phases *f, int phase, int step) {
    int uses = 0;
    for (int i = 0; i < f->body->count; i++) {
        const Step *s = &f->body->steps[i];
        bool active = step_per_column(f->body, i) && !step_writes(s->kind)
                          ? phase_needs(f, phase, i)
                          : f->at[i] == phase;
        if (!active)
            continue;
        for (int k = 0; k < step_args(s); k++)
            uses += s->arg[k] == step;
        uses += s->row_index == step;
    }
    return uses;
}

static void mark_kept(Phases *f) {
    for (int i = 0; i < f->body->count; i++) {
        int phases = 0;
        for (int phase = 0; phase < f->count; phase++)
            phases += phase_needs(f, phase, i);
        bool loads = f->body->steps[i].kind == STEP_LOAD;
        f->kept[i] = loads && phases > 1 && !step_gathers(f->body, i);
    }
}

static void find_needed(Phases *f) {
    const Body *body = f->body;
    memset(f->needed, 0, (size_t)body->count * (size_t)f->count * sizeof *f->needed);
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (!phase_acts(f, f->at[i], i))
            continue;
        need(f, f->at[i], s->arg[0]);
        if (s->row_index >= 0)
            need(f, f->at[i], s->row_index);
    }
}

/* Whether a load reads the same element in the same thread as the store writes. */
static bool is_of_element(const Step *load, const Step *store) {
    return value_same_place(load->value, store->value) && load->row_index < 0 &&
           store->row_index < 0 && load->col_map == store->col_map && load->period == store->period;
}

/* Whether a store overwrites what other threads read, or what a later phase reads again. */
static bool is_early(const Phases *f, int store) {
    const Step *steps = f->body->steps;
    for (int i = 0; i < f->body->count; i++) {
        if (steps[i].kind != STEP_LOAD || !value_overlaps(steps[i].value, steps[store].value))
            continue;
        if (!is_of_element(&steps[i], &steps[store]))
            return true;
        for (int phase = f->at[store] + 1; phase < f->count; phase++)
            if (phase_needs(f, phase, i))
                return true;
    }
    return false;
}

/* Moves stores that are too early to the last phase, which may make others too early. */
static void delay_stores(Phases *f) {
    for (int i = 0; i < f->body->count; i++)
        if (f->body->steps[i].kind == STEP_STORE && step_per_column(f->body, i) &&
            f->at[i] < f->count - 1 && is_early(f, i)) {
            f->at[i] = f->count - 1;
            find_needed(f);
            i = -1;
        }
}

Phases phases_of(Arena *arena, const Body *body) {
    size_t steps = (size_t)body->count;
    Phases f = {body, 1, arena_array(arena, steps, sizeof(int)), NULL,
                arena_array(arena, steps, sizeof(bool))};
    for (int i = 0; i < body->count; i++) {
        f.at[i] = earliest(&f, &body->steps[i]);
        if (after(&f, i) >= f.count)
            f.count = after(&f, i) + 1;
    }
    for (int i = 0; i < body->count; i++)
        if (body->steps[i].kind == STEP_STORE && waits(body, i))
            f.at[i] = f.count - 1;
    f.needed = arena_array(arena, steps * (size_t)f.count, sizeof(bool));
    find_needed(&f);
    delay_stores(&f);
    mark_kept(&f);
    return f;
}
