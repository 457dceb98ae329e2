/* What passes do with one section of the runs that hold all trained tensors. */
#include "pass/sections.h"

#include "graph/op_table.h"
#include "pass/train_state.h"

bool section_has(const Program *p, const Section *section, const Param *param) {
    return param->piece_at * p->mesh.size[AXIS_SHARD] == section->first;
}

/* ---- its update ---------------------------------------------------------------------------------- */

/* How far behind the first element that the op updates the section begins, in elements of the runs. */
static int64_t behind_first(const Program *p, const Section *section, const Op *op,
                            const Value *master) {
    int64_t ranks = p->mesh.size[AXIS_SHARD];
    return section->first - (op->in[0]->offset - master->offset) * ranks;
}

bool section_is_updated(const Program *p, const Section *section, const Op *op,
                        const Value *master) {
    int64_t first = behind_first(p, section, op, master);
    return first >= 0 && first < value_elements(op->in[0]) * p->mesh.size[AXIS_SHARD];
}

static Value *rows_of(Program *p, const Section *section, Value *v, int64_t first, int64_t rows) {
    return value_row_range(p, v, first, rows,
                           arena_printf(p->arena, "%s.%s", section->name, v->name));
}

Op *section_update(Program *p, Graph *graph, const Section *section, const Op *op,
                   const Value *master) {
    int64_t row = value_cols(op->in[0]) * p->mesh.size[AXIS_SHARD]; /* elements of the runs */
    int64_t first = behind_first(p, section, op, master) / row, rows = section->elements / row;
    Value *in[MAX_OPERANDS], *out[MAX_RESULTS];
    for (int i = 0; i < op->in_count; i++)
        in[i] = op_reads_rows(op, i) ? rows_of(p, section, op->in[i], first, rows) : op->in[i];
    for (int i = 0; i < op->out_count; i++)
        out[i] = rows_of(p, section, op->out[i], first, rows);
    const char *name = arena_printf(p->arena, "%s.%s", section->name, op->name);
    Op *part = op_add_into(p, graph, op->kind, name, in, op->in_count, out, op->out_count, op->attr,
                           op->pos);
    part->apart = true;
    return part;
}

/* ---- its weights and gradients ------------------------------------------------------------------- */

static void zero_gap(Program *p, Graph *graph, Value *whole, int64_t from, int64_t to, Pos pos) {
    const char *name = arena_printf(p->arena, "%s.gap", whole->name);
    if (from == to)
        return;
    Value *gap = value_at(p, whole, from, 1, (int64_t[]){to - from}, name);
    if (p->train.shared == SHARED_STATES && !value_overlaps(p->train.gradient_piece, gap))
        return; /* nothing has ever written the gap */
    op_add_into(p, graph, OP_zero, name, NULL, 0, &gap, 1, (Attr){0}, pos);
}

/* A section holds its parameters in reverse order. */
void section_zero_gaps(Program *p, Graph *graph, const Section *section, Value *whole, Pos pos) {
    int64_t end = 0;
    for (int i = p->param_count - 1; i >= 0; i--) {
        const Param *param = &p->params[i];
        if (!value_trains(param->weight) || !section_has(p, section, param))
            continue;
        zero_gap(p, graph, whole, end, param->piece_first, pos);
        end = param->piece_first + value_elements(param->weight);
    }
    zero_gap(p, graph, whole, end, section->elements, pos);
}

Value *section_opened(Program *p, Graph *graph, const Section *section, Pos pos) {
    Value *from = section->weight;
    if (section->weights_are == WEIGHTS_IN_REAL_RUN)
        return from;
    if (section->weights_are == WEIGHTS_IN_RUN)
        return value_row_range(p, p->train.weight, section->first / TRAIN_COLS,
                               section->elements / TRAIN_COLS, "trained");
    Value *copy = value_2d(p, arena_printf(p->arena, "%s.opened", section->name), ROLE_ACTIVATION,
                           from->dtype, value_rows(from), value_cols(from), pos);
    return op_add_into(p, graph, OP_cast, copy->name, &from, 1, &copy, 1, (Attr){0}, pos)->out[0];
}

void section_closed(Program *p, Graph *graph, const Section *section, Value *whole, Pos pos) {
    int64_t elements = p->mesh.size[AXIS_SHARD] * TRAIN_COLS;
    Value *in[] = {value_alias(p, whole, whole->name), program_group_rank(p, GROUP_SHARD)};
    Value *piece = value_row_range(p, p->train.master, section->first / elements,
                                   section->elements / elements, "master.piece");
    op_add_into(p, graph, OP_own_rows, "master.piece", in, 2, &piece, 1,
                (Attr){.group = GROUP_SHARD}, pos);
}
