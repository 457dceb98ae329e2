/* DoRA (Liu et al., arXiv 2402.09353), as in PEFT: the sum of a linear and its low-rank path is
 * scaled by column, y = (m / ||W + s B A||) (x W^T + s (x A^T) B^T). m is trained and has one
 * number per row of W; the norm of each row is a constant in backward. With dropout, the scaled
 * linear also reads the dropped-out x', and what was dropped of x goes through W unscaled:
 * y = (x - x') W^T + (m / ...) (...). If W's input is rounded in training (pass_qat), x and x' are
 * each rounded in both places; with m the norms of W and B zero, y is then still what the base
 * alone makes of x, as in PEFT.
 *
 * Requires the structure linear(x, W) + s linear(linear(x', A), B), whichever pass made it. A sum
 * is scaled just before its first reader, so that linears of one x stay neighbours.
 *
 * Norms change once per step, with A and B. load and update compute them (pass_dora_norms, after
 * the update has been built and sharded) from the weights that forward reads, by
 *
 *     ||W + s B A||^2 = ||W||^2 + sum over k of (2 s W A^T + s^2 B A A^T) B
 *
 * of which load computes the first term once. So W is read once per step, and nothing as large as W
 * is made, except by decoding a quantised W. In fp32 this is as accurate as computing the sum
 * itself, unless s B A cancels most of W. If W is rounded in training, its norms are those of the
 * rounded W, just as PEFT takes the norms of a quantised base from its decoded weight
 * (dequantize_module_weight). */
#include "pass/low_rank.h"
#include "pass/pass.h"
#include "pass/sections.h"
#include "pass/tensor.h"

typedef struct {
    LowRank path;
    Value *x; /* before dropout; NULL: the path reads the base's own x */
} Scaling;

typedef struct {
    Program *program;
    Graph *graph;
    Pos pos;
    int value_count;   /* before the pass */
    Scaling **waiting; /* by id of a sum that is still to be scaled */
    Value **scaled;    /* by id: what replaces the sum */
} Dora;

static Value *add(const Dora *d, OpKind kind, const char *name, Value *const *in, int count,
                  Attr attr) {
    return op_add(d->program, d->graph, kind, name, in, count, attr, d->pos)->out[0];
}

static const char *part_name_of(const Dora *d, const Op *linear, const char *part) {
    return arena_printf(d->program->arena, "%s.%s", linear->name, part);
}

/* ---- forward --------------------------------------------------------------------------------- */

static Value *magnitude(const Dora *d, const Op *base) {
    Program *p = d->program;
    const char *name = part_name_of(d, base, "lora_magnitude_vector");
    const char *file = arena_printf(p->arena, "base_model.model.%s", name);
    Value *m = program_weight(p, file);
    if (m)
        return m;
    m = value_1d(p, name, ROLE_ADAPTER, p->real, value_rows(base->in[1]), d->pos);
    program_add_param(p, (Param){.weight = m, .master = m, .file_name = file, .init = INIT_LOAD});
    return m;
}

/* The norms that belong to m, the same value in training and evaluation. */
static Value *norms(const Dora *d, const Op *base, const Value *m) {
    Program *p = d->program;
    const Graph *train = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < train->op_count; i++)
        if (train->ops[i]->kind == OP_scale_columns && train->ops[i]->in[1] == m)
            return train->ops[i]->in[2];
    const char *name = part_name_of(d, base, "weight_norm");
    return value_1d(p, name, ROLE_BUFFER, p->real, value_cols(m), d->pos);
}

static Value *latest(const Dora *d, Value *v) {
    return v->id < d->value_count && d->scaled[v->id] ? d->scaled[v->id] : v;
}

/* Adds (x - x') W^T onto the scaled sum. */
static Value *add_dropped(const Dora *d, const Op *base, Value *x, Value *scaled) {
    Value *minus = add(d, OP_scale, part_name_of(d, base, "minus_kept"), &base->in[0], 1,
                       (Attr){.alpha = -1});
    Value *in[] = {latest(d, x), minus};
    Value *dropped = add(d, OP_add, part_name_of(d, base, "dropped"), in, 2, (Attr){0});
    Value *sum = value_alias(d->program, scaled, scaled->name);
    op_add_into(d->program, d->graph, OP_linear, part_name_of(d, base, "of_dropped"),
                (Value *[]){dropped, base->in[1], scaled}, 3, &sum, 1,
                (Attr){.alpha = 1, .accumulate = true}, d->pos);
    return sum;
}

static void scale(Dora *d, const Scaling *s) {
    Op *up = s->path.up;
    Value *sum = up->out[0], *m = magnitude(d, s->path.base);
    Value *in[] = {sum, m, norms(d, s->path.base, m)};
    Value *y = add(d, OP_scale_columns, part_name_of(d, s->path.base, "scaled"), in, 3, (Attr){0});
    if (s->x)
        y = add_dropped(d, s->path.base, s->x, y);
    d->graph->ops[d->graph->op_count - 1]->observe = up->observe;
    up->observe = NULL; /* the observed value is the final one */
    d->waiting[sum->id] = NULL;
    d->scaled[sum->id] = y;
}

static void scale_operands(Dora *d, Op *op) {
    for (int k = 0; k < op->in_count; k++) {
        Value *v = op->in[k];
        if (v->id < d->value_count && d->waiting[v->id])
            scale(d, d->waiting[v->id]);
        op->in[k] = latest(d, v);
    }
}

/* Returns the scaling of each op that ends a low-rank path, by op index. With dropout, the base
 * moves to the end of the path: sets later[index of the base]. */
static Scaling **find_paths(const Dora *d, bool *later) {
    Program *p = d->program;
    const Graph *graph = d->graph;
    GraphUses uses = uses_find(p->arena, p, graph);
    Scaling **found = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *found);
    for (int i = 0; i < graph->op_count; i++) {
        Scaling s = {0};
        if (!low_rank_match(&uses, graph->ops[i], &s.path))
            continue;
        Op *base = s.path.base;
        if (s.path.down->in[0] != base->in[0]) {
            s.x = base->in[0];
            base->in[0] = s.path.down->in[0];
            later[base->id] = true;
        }
        found[i] = arena_alloc(p->arena, sizeof s);
        *found[i] = s;
    }
    return found;
}

static void rewrite(Program *p, const Spec *spec, Graph *graph) {
    int values = p->value_count;
    Dora d = {p, graph, spec_pos(spec, KEY_adapter_use_dora), values,
              arena_array(p->arena, (size_t)values + 1, sizeof(Scaling *)),
              arena_array(p->arena, (size_t)values + 1, sizeof(Value *))};
    bool *later = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *later);
    Scaling **found = find_paths(&d, later);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (later[i])
            continue;
        scale_operands(&d, op);
        if (found[i] && found[i]->x)
            graph_add(p, graph, found[i]->path.base);
        graph_add(p, graph, op);
        if (found[i])
            d.waiting[op->out[0]->id] = found[i];
    }
}

bool pass_dora(Program *p, const Spec *spec) {
    if (!spec->adapter.use_dora)
        return false;
    for (int i = 0; program_forward(p, i); i++)
        rewrite(p, spec, program_forward(p, i));
    return true;
}

/* ---- norms ----------------------------------------------------------------------------------- */

static Value *scratch(const Dora *d, const LowRank *path, const char *part, int64_t rows,
                      int64_t cols) {
    return value_2d(d->program, part_name_of(d, path->base, part), ROLE_ACTIVATION,
                    d->program->real, rows, cols, d->pos);
}

static void into(const Dora *d, OpKind kind, Value *const *in, int count, Value *out, Attr attr) {
    op_add_into(d->program, d->graph, kind, out->name, in, count, &out, 1, attr, d->pos);
}

/* B in dtype `real`: its master, or its weight if a rank holds only a piece of the masters. */
static Value *real_b(const Dora *d, const LowRank *path) {
    const Param *b = program_param(d->program, path->up->in[1]);
    if (!b->pieces || b->weight->dtype == d->program->real)
        return b->pieces ? b->weight : b->master;
    Value *copy = scratch(d, path, "real_B", value_rows(b->weight), value_cols(b->weight));
    into(d, OP_cast, (Value *[]){b->weight}, 1, copy, (Attr){0});
    return copy;
}

/* Completes a sum over columns of W, which ranks may share out. */
static Value *of_all_columns(const Dora *d, const LowRank *path, Value *sum) {
    const Param *w = program_param(d->program, path->base->in[1]);
    bool shared = w->shard && w->shard_axis == 1;
    return shared ? tensor_sum(d->program, d->graph, sum, d->pos) : sum;
}

/* As long as B is zero, the scaling divides by W's own norms. */
static void refuse_zero_rows(const Dora *d, const LowRank *path) {
    Param *w = program_param(d->program, path->base->in[1]);
    if (!w->split[0]) /* else rows of the file are not rows of W */
        w->no_zero_row = "adapter.use_dora divides by its norm: leave the module out of "
                         "adapter.target_modules, or set use_dora = false";
}

/* The latest value in W's place in this entry: load may have rounded W in place. */
static Value *latest_weight(const Dora *d, const LowRank *path) {
    Value *w = path->base->in[1];
    for (int i = 0; i < d->graph->op_count; i++) {
        Value *out = d->graph->ops[i]->out[0];
        if (out->storage == w->storage && out->offset == w->offset)
            w = out;
    }
    return w;
}

static void add_norms(const Dora *d, const LowRank *path, Value *squares, Value *norm) {
    Program *p = d->program;
    Value *w = latest_weight(d, path), *a = path->down->in[1], *b = real_b(d, path);
    double s = path->up->attr.alpha;
    int64_t rows = value_rows(w), rank = value_rows(a);
    Value *gram = scratch(d, path, "gram", rank, rank);
    Value *cross = scratch(d, path, "cross", rows, rank);
    Value *sum = value_alias(p, cross, part_name_of(d, path->base, "cross_and_gram"));
    Value *column = value_reshaped(p, norm, rows, 1);
    into(d, OP_matmul, (Value *[]){a, a}, 2, gram, (Attr){.alpha = s * s, .transpose_b = true});
    into(d, OP_matmul, (Value *[]){w, a}, 2, cross, (Attr){.alpha = 2 * s, .transpose_b = true});
    into(d, OP_matmul, (Value *[]){b, gram, cross}, 3, sum, (Attr){.alpha = 1, .accumulate = true});
    sum = of_all_columns(d, path, sum);
    into(d, OP_low_rank_norm, (Value *[]){squares, sum, b}, 3, column, (Attr){0});
}

/* Sets m to the norms where it is not finite, that is where no file gave it values. */
static void set_magnitude(const Dora *d, Value *m, Value *norm) {
    into(d, OP_where_finite, (Value *[]){m, norm}, 2, value_alias(d->program, m, m->name),
         (Attr){0});
}

/* In load: W's squares, once for all steps, and the first norms and magnitudes. */
static void add_first(const Dora *d, const LowRank *path, Value *squares) {
    const Param *m = program_param(d->program, path->scaling->in[1]);
    Value *norm = path->scaling->in[2];
    Value *w = latest_weight(d, path);
    into(d, OP_row_squares, &w, 1, squares, (Attr){0});
    add_norms(d, path, of_all_columns(d, path, squares), norm);
    if (!m->pieces)
        set_magnitude(d, m->master, norm);
}

/* Sets sharded magnitudes in the whole section, of which each rank then takes its piece. */
static void set_in_section(const Dora *d, const LowRank *paths, int count, const Section *section) {
    Program *p = d->program;
    Value *whole = NULL;
    for (int i = 0; i < count; i++) {
        const Op *scaling = paths[i].scaling;
        const Param *m = program_param(p, scaling->in[1]);
        if (!m->pieces || !section_has(p, section, m))
            continue;
        whole = whole ? whole : section_opened(p, d->graph, section, d->pos);
        set_magnitude(d, value_at(p, whole, m->piece_first, 1, m->weight->dim, m->weight->name),
                      scaling->in[2]);
    }
    if (whole)
        section_closed(p, d->graph, section, whole, d->pos);
}

bool pass_dora_norms(Program *p, const Spec *spec) {
    const Graph *train = &p->entry[ENTRY_MICRO_STEP];
    Pos pos = spec_pos(spec, KEY_adapter_use_dora);
    Dora load = {.program = p, .graph = &p->entry[ENTRY_LOAD], .pos = pos};
    Dora update = {.program = p, .graph = &p->entry[ENTRY_UPDATE], .pos = pos};
    if (!spec->adapter.use_dora)
        return false;
    GraphUses uses = uses_find(p->arena, p, train);
    LowRank *paths = arena_array(p->arena, (size_t)train->op_count + 1, sizeof *paths);
    int count = 0;
    for (int i = 0; i < train->op_count; i++) {
        LowRank *path = &paths[count];
        if (!low_rank_match(&uses, train->ops[i], path))
            continue;
        count++;
        ENSURE(path->scaling, "%s has no magnitudes", path->up->name);
        Value *norm = path->scaling->in[2];
        Value *squares = value_2d(p, part_name_of(&load, path->base, "weight_squares"), ROLE_BUFFER,
                                  p->real, value_cols(norm), 1, pos);
        refuse_zero_rows(&load, path);
        add_first(&load, path, squares);
        add_norms(&update, path, squares, norm);
    }
    for (int i = 0; i < p->train.section_count; i++)
        set_in_section(&load, paths, count, &p->train.sections[i]);
    return true;
}
