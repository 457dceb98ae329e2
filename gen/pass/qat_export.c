/* Exports weights that were rounded in training: `convert` gives them the form of the finished
 * model, that of torchao's converted 8da4w module - codes, one scale per group, and zero points
 * that are all zero - and exports it. In the place of each weight it leaves what the codes decode
 * to. That is what `evaluate_converted` reads, which is `evaluate` without rounding of weights.
 *
 * Requires the final program, except that weights are not yet gathered for each use. Weights that
 * load has rounded are fetched again, one by one. */
#include "pass/pass.h"
#include "pass/tensor.h"
#include "pass/unrounded.h"

typedef struct {
    Program *program;
    Graph *graph;
    const Op *rounding; /* of the weight that is converted */
    bool of_rows; /* one scale per row */
} Convert;

static Op *add(const Convert *c, OpKind kind, const char *what, Value *const *in, int in_count,
               Value *const *out, int out_count, Attr attr) {
    const char *name = arena_printf(c->program->arena, "%s.%s", c->rounding->in[0]->name, what);
    return op_add_into(c->program, c->graph, kind, name, in, in_count, out, out_count, attr,
                       c->rounding->pos);
}

/* The value by which the runtime identifies w: w itself or, if w has no place, a one-element view
 * of the piece that STATE has of it. */
static Value *known_by(const Convert *c, Value *w) {
    const Param *param = program_param(c->program, w);
    if (!program_gathered(c->program, w))
        return w;
    Value *piece = value_trains(w) ? param->master : param->piece;
    int64_t share = param->piece_first / c->program->mesh.size[AXIS_SHARD];
    return value_at(c->program, piece, param->piece_at + share, 1, (int64_t[]){1},
                    arena_printf(c->program->arena, "%s.piece", w->name));
}

/* The whole weight before rounding, dense. */
static Value *source(const Convert *c, Value *w) {
    if (value_trains(w))
        return w;
    Value *to = value_2d(c->program, w->name, ROLE_ACTIVATION, w->dtype, value_rows(w),
                         value_cols(w), w->pos);
    Value *kept = known_by(c, w);
    return add(c, OP_fetch, "fetch", &kept, 1, &to, 1, (Attr){0})->out[0];
}

/* The ranks that share out each group's elements; 0: each rank has whole groups. */
static RankGroup sharers(const Convert *c) {
    const Param *param = program_param(c->program, c->rounding->in[0]);
    return c->of_rows && param && param->shard_axis == 1 ? param->shard : 0;
}

/* Adds the op that makes codes and scales. */
static Op *quantize(const Convert *c, Value *groups) {
    RankGroup group = sharers(c);
    Value *in[] = {groups, NULL};
    if (group) {
        Value *w = c->rounding->in[0];
        in[1] = add(c, OP_block_absmax, "absmax", &groups, 1, NULL, 0, (Attr){0})->out[0];
        in[1] = tensor_absmax(c->program, c->graph, w->name, in[1], group, NULL, c->rounding->pos);
    }
    return add(c, OP_quantize_groups, "quantize", in, group ? 2 : 1, NULL, 0, c->rounding->attr);
}

static void export(const Convert *c, Value *x, int64_t cols, TensorPart part) {
    Value *w = c->rounding->in[0];
    Value *in[] = {value_reshaped(c->program, x, value_rows(w), cols), known_by(c, w)};
    add(c, OP_export, part_name(part), in, 2, NULL, 0,
        (Attr){.part = part, .group = part == PART_WEIGHT ? 0 : sharers(c)});
}

static void convert(const Convert *c) {
    Value *w = c->rounding->in[0], *x = source(c, w);
    int64_t size = c->rounding->attr.rows, groups = value_elements(w) / size;
    Value *in = value_reshaped(c->program, x, groups, size);
    Op *coded = quantize(c, in);
    Value *zeros = value_2d(c->program, arena_printf(c->program->arena, "%s.zeros", w->name),
                            ROLE_ACTIVATION, DT_F32, groups, 1, w->pos);
    zeros = add(c, OP_zero, "zero", NULL, 0, &zeros, 1, (Attr){0})->out[0];
    export(c, coded->out[0], value_cols(w), PART_WEIGHT);
    export(c, coded->out[1], value_cols(w) / size, PART_SCALES);
    export(c, zeros, value_cols(w) / size, PART_ZEROS);
    Value *to = value_alias(c->program, w, w->name);
    if (!value_trains(w))
        to->role = ROLE_BUFFER; /* no op may write a frozen value */
    add(c, OP_decode_groups, "decode", coded->out, 2, &to, 1, (Attr){0});
}

static void convert_rounded(Program *p, const Spec *spec, Entry where) {
    Convert c = {.program = p,
                 .graph = &p->entry[ENTRY_CONVERT],
                 .of_rows = spec->qat.group_size == 0};
    for (int i = 0; i < p->entry[where].op_count; i++) {
        c.rounding = p->entry[where].ops[i];
        if (c.rounding->kind == OP_fake_quant_weights)
            convert(&c);
    }
}

bool pass_qat_export(Program *p, const Spec *spec) {
    if (spec->qat.export == QAT_EXPORT_NONE)
        return false;
    convert_rounded(p, spec, ENTRY_LOAD);
    convert_rounded(p, spec, ENTRY_EVALUATE);
    add_unrounded(p, ENTRY_EVALUATE, ENTRY_EVALUATE_CONVERTED, UNROUNDED_WEIGHTS);
    return true;
}
