/* Backward updates each section's weights once their gradients are complete (torchtune's
 * optimizer_in_bwd; Lv et al., LOMO, arXiv 2306.09782), so that the gradients of few sections exist
 * at the same time, and updates may overlap the rest of backward.
 *
 * Requires the train state's sections, each with its own gradients; no clipping, one micro-step and
 * one rank; and all ops of micro_step in their final order, because a section is updated after the
 * last op that reads its weights. The optimizer's op on all weights becomes one per section, with
 * the same results. It cannot wait for the norm, so it depends on the loss instead, and takes
 * gradients that are not finite for 0. It also makes the sum of squares of each row of gradients,
 * which update adds up to the norm. Ops are copied, not changed, because this pass may be undone. */
#include "base/rounding.h"
#include "graph/op_table.h"
#include "pass/pass.h"
#include "pass/sections.h"
#include "pass/train_state.h"

/* Rows' sums of squares that a single block adds up. */
enum { MOST_SQUARES = 65536 };

typedef struct {
    Program *p;
    Graph *step, *update;       /* being rebuilt */
    Graph old_step, old_update; /* as they were */
    int loss;             /* index of the original op that makes the loss */
    Value *factor;        /* of the original updates */
    Value *gate;          /* what takes its place */
    int *section_of;      /* by storage id: 1-based index of the section whose gradients it holds */
    int *place; /* by section: 1-based place among those with temporary gradients; 0: they last */
    int place_count;
} Early;

/* ---- when a section is complete ------------------------------------------------------------------ */

/* Notes that op `index` uses the elements of the runs from `first` up to `end`. */
static void note_elements(const Early *e, int index, int64_t first, int64_t end, int *last) {
    const TrainState *t = &e->p->train;
    for (int k = 0; k < t->section_count; k++) {
        const Section *s = &t->sections[k];
        if (s->first < end && first < s->first + s->elements)
            last[k] = index;
    }
}

static void note(const Early *e, int index, const Value *v, int *last) {
    const TrainState *t = &e->p->train;
    int section = e->section_of[v->storage->id];
    bool weight = v->storage == t->weight->storage || v->storage == t->master->storage;
    ByteSpan span = value_span(v);
    int64_t bytes = dtype_bytes(v->dtype);
    if (section)
        last[section - 1] = index;
    if (weight)
        note_elements(e, index, span.first / bytes, span.end / bytes, last);
}

/* Finds the op after which a section is updated: the last one that uses its weights or gradients,
 * or that of the loss. */
static int *last_uses(const Early *e) {
    int *last = arena_array(e->p->arena, (size_t)e->p->train.section_count, sizeof *last);
    for (int i = 0; i < e->old_step.op_count; i++) {
        const Op *op = e->old_step.ops[i];
        for (int k = 0; k < op->in_count; k++)
            note(e, i, op->in[k], last);
        for (int k = 0; k < op->out_count; k++)
            note(e, i, op->out[k], last);
    }
    for (int k = 0; k < e->p->train.section_count; k++)
        last[k] = last[k] < e->loss ? e->loss : last[k];
    return last;
}

/* ---- a section's update -------------------------------------------------------------------------- */

static bool is_optimizer(const Op *op) { return op_is(op, TRAIT_UPDATES); }

/* Where the rows' sums of squares begin: those of coded moments have a row per block. */
static int64_t first_square(const TrainState *t, const Value *master) {
    int64_t first = master->offset - t->master->offset, coded = t->coded.rows * TRAIN_COLS;
    return first < coded ? first / STATE_BLOCK : coded / STATE_BLOCK + (first - coded) / TRAIN_COLS;
}

static Value *squares_of(const Early *e, const Section *s, const Value *master) {
    TrainState *t = &e->p->train;
    return value_at(e->p, t->squares, first_square(t, master), 2,
                    (int64_t[]){value_rows(master), 1},
                    arena_printf(e->p->arena, "%s.squares", s->name));
}

/* A dump shows temporary gradients when they are final. */
static void show(Early *e, int section, Op *op) {
    const Section *s = &e->p->train.sections[section];
    if (s->gradient->role != ROLE_ACTIVATION)
        return;
    op->observe = "grad";
    op->observed = s->gradient;
    e->place[section] = ++e->place_count;
}

/* Appends the section's part of an optimizer's op. */
static void update_part(Early *e, int section, const Op *op) {
    Program *p = e->p;
    const Section *s = &p->train.sections[section];
    Op *part = section_update(p, e->step, s, op, p->train.master);
    const Value *master = part->in[0];
    part->in[1] = value_reshaped(p, s->gradient, value_rows(master), value_cols(master));
    op_read_instead(part, e->factor, e->gate);
    part->out[part->out_count++] = squares_of(e, s, master);
    part->attr.in_backward = true;
    part->phase = PHASE_BACKWARD;
    show(e, section, part);
}

/* What all updates depend on, once. */
static void open_gate(Early *e) {
    Program *p = e->p;
    Counters *c = &p->counters;
    Op *rates = graph_find(&e->old_update, OP_rates);
    Value *in[] = {p->loss_of_micro_step, c->bad_step};
    Op *gate = op_add(p, e->step, OP_update_gate, "update_gate", in, 2, (Attr){0}, rates->pos);
    Op *copy = op_add_into(p, e->step, OP_rates, rates->name, rates->in, rates->in_count,
                           rates->out, rates->out_count, rates->attr, rates->pos);
    gate->phase = copy->phase = PHASE_BACKWARD;
    e->gate = gate->out[0];
}

/* Appends the optimizer's ops for a section. */
static void update_section(Early *e, int section) {
    const Section *s = &e->p->train.sections[section];
    for (int i = 0; i < e->old_update.op_count; i++) {
        const Op *op = e->old_update.ops[i];
        if (is_optimizer(op) && section_is_updated(e->p, s, op, e->p->train.master))
            update_part(e, section, op);
    }
}

/* ---- the two graphs ------------------------------------------------------------------------------ */

static void rebuild_step(Early *e) {
    e->loss = graph_last(e->step, op_writes_part, e->p->loss_of_micro_step)->id;
    const int *last = last_uses(e);
    graph_take(e->step);
    for (int i = 0; i < e->old_step.op_count; i++) {
        graph_add(e->p, e->step, e->old_step.ops[i]);
        if (i == e->loss)
            open_gate(e);
        for (int k = 0; k < e->p->train.section_count; k++)
            if (last[k] == i)
                update_section(e, k);
    }
}

/* The squares, or for very many of them, which would take a single block too long, their sums by
 * columns. */
static Value *few_squares(const Early *e, Pos pos) {
    Value *squares = e->p->train.squares;
    int64_t count = value_elements(squares);
    if (count <= MOST_SQUARES)
        return squares;
    Value *rows = value_at(e->p, squares, 0, 2, (int64_t[]){count / TRAIN_COLS, TRAIN_COLS},
                           "grad_norm.squares");
    return op_add(e->p, e->update, OP_column_sum, "grad_norm.columns", &rows, 1, (Attr){0}, pos)
        ->out[0];
}

/* Makes the sum of the norm's columns a sum of squares. */
static void add_norm(Early *e, const Op *sum) {
    Value *squares = few_squares(e, sum->pos);
    op_add_into(e->p, e->update, sum->kind, sum->name, &squares, 1, &(Value *){sum->out[0]}, 1,
                sum->attr, sum->pos);
}

/* Leaves the figures of the step, which depend on the norm, and what reads the new weights. */
static void rebuild_update(Early *e) {
    const Op *columns = graph_find(&e->old_update, OP_sum_squares);
    graph_take(e->update);
    for (int i = 0; i < e->old_update.op_count; i++) {
        Op *op = e->old_update.ops[i];
        if (is_optimizer(op) || op == columns || op->kind == OP_rates)
            continue;
        if (op_reads(op, columns->out[0]))
            add_norm(e, op);
        else
            graph_add(e->p, e->update, op);
    }
}

static int *sections_of_storages(const Program *p) {
    int *of = arena_array(p->arena, (size_t)p->storage_count + 1, sizeof *of);
    for (int k = 0; k < p->train.section_count; k++)
        of[p->train.sections[k].gradient->storage->id] = k + 1;
    return of;
}

/* When the host finds gradients that do not last. */
static void tell_params(const Early *e) {
    for (int i = 0; i < e->p->param_count; i++) {
        Param *param = &e->p->params[i];
        if (value_trains(param->weight))
            param->section = e->place[e->section_of[param->gradient->storage->id] - 1];
    }
}

/* Made once, however often the program is planned. What rounds it up stays zero. */
static void make_squares(Program *p, Pos pos) {
    TrainState *t = &p->train;
    int64_t rows = value_rows(t->master) - t->coded.rows;
    int64_t count = rows + t->coded.rows * (TRAIN_COLS / STATE_BLOCK);
    count = round_up(count, TRAIN_COLS);
    if (!t->squares)
        t->squares = value_1d(p, "grad_norm.squares", ROLE_COUNTER, p->real, count, pos);
}

bool pass_optimizer_in_backward(Program *p, const Spec *spec) {
    Graph *step = &p->entry[ENTRY_MICRO_STEP], *update = &p->entry[ENTRY_UPDATE];
    if (!p->train.in_backward)
        return false;
    Early e = {
        .p = p, .step = step, .update = update, .old_step = *step, .old_update = *update};
    e.factor = graph_find(update, OP_clip_factor)->out[0];
    e.section_of = sections_of_storages(p);
    make_squares(p, spec_pos(spec, KEY_compile_optimizer_in_backward));
    e.place = arena_array(p->arena, (size_t)p->train.section_count, sizeof *e.place);
    rebuild_step(&e);
    rebuild_update(&e);
    tell_params(&e);
    return true;
}
