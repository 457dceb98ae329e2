/* Sharded training state (ZeRO; Rajbhandari et al., arXiv 1910.02054): each rank of a group holds a
 * piece of the masters and moments, with an equal part of each section, and updates only that
 * piece.
 *
 * Requires the update. Stage 1: before the update, a reduce_scatter leaves each rank the sums of
 * its part of each section. Stage 2: a rank also keeps only a piece of the gradients, to which
 * scatter_gradients adds in micro_step. In both stages the gradients of other replicas are added to
 * the piece; squares are summed over the group, so that all ranks clip alike; and all_gathers give
 * every rank all weights that it reads. Stage 3: a rank also keeps only a piece of the weights -
 * that of the masters if these have the same dtype - and gather_weights gives readers a copy. */
#include "graph/op_table.h"
#include "pass/ddp.h"
#include "pass/pass.h"
#include "pass/sections.h"
#include "pass/train_state.h"

/* A run, or a value with a row for each row of a run, and the rank's piece of it. */
typedef struct {
    Value *run, *piece;
} Pieces;

enum { MOST_RUNS = 10 };

typedef struct {
    Program *p;
    Graph *update;
    SharedState shared;
    int64_t ranks;
    int64_t rows; /* of a piece */
    Pieces runs[MOST_RUNS];
    int run_count;
    Value *gradient, *master; /* pieces */
    Value *weight;            /* the piece from which weights are gathered */
    Pos pos;
} Shard;

static void know_piece(Shard *s, Value *run, Value *piece) {
    ENSURE(s->run_count < MOST_RUNS, "%s is one run too many", run->name);
    s->runs[s->run_count++] = (Pieces){run, piece};
}

/* Makes the piece of a run; NULL if the run is NULL. */
static Value *piece_of(Shard *s, Value *run, const char *name) {
    if (!run)
        return NULL;
    Value *piece = value_2d(s->p, name, ROLE_OPTIMIZER, run->dtype, value_rows(run) / s->ranks,
                            value_cols(run), s->pos);
    know_piece(s, run, piece);
    return piece;
}

static Value *summed(const Shard *s, Value *v, RankGroup group, const char *name) {
    Attr attr = {.group = group};
    if (!mesh_has(&s->p->mesh, group))
        return v;
    return op_add_in_place(s->p, s->update, OP_all_reduce, name, v, v->name, attr, s->pos)->out[0];
}

/* Marks the update's ops from index `first` on as sums of these gradients. */
static void mark_sums(const Shard *s, int first, const Value *gradients) {
    for (int i = first; i < s->update->op_count; i++)
        s->update->ops[i]->sums = gradients;
}

/* Sums the step's loss and metrics over the ranks' batches, as one run, and makes the update's
 * `ops` read the sums. */
static void sum_figures(const Shard *s, Op *const *ops, int count) {
    Value *run = join_metrics(s->p, s->p->counters.step_loss, "step_figures");
    Op *op = op_add_in_place(s->p, s->update, OP_all_reduce, "step_loss.sum", run, run->name,
                             (Attr){.group = GROUP_DATA}, s->pos);
    read_sums(s->p, ops, count, op->out[0]);
    op->sums = run;
}

/* "lm_head.all_gather" */
static const char *name_in(const Shard *s, const Section *section, const char *what) {
    return arena_printf(s->p->arena, "%s.%s", section->name, what);
}

/* The rank's part of a section, in a piece. */
static Value *part_of(const Shard *s, Value *piece, const Section *section, const char *what) {
    int64_t elements = s->ranks * TRAIN_COLS;
    return value_row_range(s->p, piece, section->first / elements, section->elements / elements,
                           name_in(s, section, what));
}

/* All of a section, in a run. */
static Value *whole_of(const Shard *s, Value *run, const Section *section, const char *what) {
    return value_row_range(s->p, run, section->first / TRAIN_COLS, section->elements / TRAIN_COLS,
                           name_in(s, section, what));
}

/* The gaps may hold sums of the previous step; with several micro-steps the whole run was
 * zeroed. */
static void scatter_gradient(const Shard *s) {
    const TrainState *t = &s->p->train;
    for (int i = 0; i < t->section_count; i++) {
        const Section *section = &t->sections[i];
        Value *whole = whole_of(s, t->gradient, section, "gradients");
        Value *part = part_of(s, s->gradient, section, "gradient.piece");
        int first = s->update->op_count;
        if (s->p->micro_steps == 1)
            section_zero_gaps(s->p, s->update, section, whole, s->pos);
        op_add_into(s->p, s->update, OP_reduce_scatter, name_in(s, section, "reduce_scatter"),
                    &whole, 1, &part, 1, (Attr){.group = GROUP_SHARD}, s->pos);
        mark_sums(s, first, whole);
    }
}

/* One sum per section, so that it overlaps backward's work on other sections. A pipeline stage sums
 * after backward, all sections together. */
static void sum_over_replicas(Shard *s) {
    const TrainState *t = &s->p->train;
    if (s->p->stage.count > 1) {
        Value *all = value_alias(s->p, s->gradient, s->gradient->name);
        summed(s, all, GROUP_REPLICATE, "gradient.pieces.sum");
        return;
    }
    for (int i = 0; i < t->section_count; i++) {
        const Section *section = &t->sections[i];
        Value *part = part_of(s, s->gradient, section, "gradients");
        int first = s->update->op_count;
        part = value_at(s->p, part, 0, 1, (int64_t[]){value_elements(part)}, part->name);
        summed(s, part, GROUP_REPLICATE, name_in(s, section, "all_reduce"));
        mark_sums(s, first, part);
    }
}

static void sum_gradient(Shard *s) {
    Value *run = s->p->train.gradient;
    s->gradient = s->p->train.gradient_piece;
    if (s->shared == SHARED_STATES)
        scatter_gradient(s);
    else
        s->gradient = value_2d(s->p, "gradient.piece", ROLE_GRADIENT, s->p->real, s->rows,
                               TRAIN_COLS, s->pos);
    know_piece(s, run, s->gradient);
    sum_over_replicas(s);
}

/* The rank's part of the sections that v covers. */
static Value *sections_in(const Shard *s, const Pieces *of, const Value *v, const char *name) {
    int64_t dim[] = {value_rows(v) / s->ranks, value_cols(v)};
    return value_at(s->p, of->piece, (v->offset - of->run->offset) / s->ranks, 2, dim, name);
}

/* The rank's piece of v, if v is one of the runs or covers whole sections of one; else v itself. */
static Value *in_piece(const Shard *s, Value *v) {
    for (int i = 0; i < s->run_count; i++) {
        const Pieces *of = &s->runs[i];
        if (of->run->storage == v->storage && value_overlaps(of->run, v))
            return v == of->run ? of->piece : sections_in(s, of, v, v->name);
    }
    return v;
}

/* Gives all ranks all of a section's weights. Weights of the masters' dtype in a 16-bit program
 * have a run of their own. */
static void gather(const Shard *s, const Section *section, Value *updated) {
    const TrainState *t = &s->p->train;
    bool real = section->weights_are == WEIGHTS_IN_REAL_RUN;
    if (section->weights_are == WEIGHTS_IN_BUFFER)
        return; /* gather_weights gathers it for its readers */
    Value *from = part_of(s, real ? s->master : updated, section, "trained.piece");
    Value *to = real ? section->weight : whole_of(s, t->weight, section, "trained");
    op_add_into(s->p, s->update, OP_all_gather, name_in(s, section, "all_gather"), &from, 1, &to, 1,
                (Attr){.group = GROUP_SHARD}, s->pos);
}

/* Makes the op work on the pieces. */
static void work_in_piece(const Shard *s, Op *op) {
    for (int i = 0; i < op->in_count; i++)
        op->in[i] = in_piece(s, op->in[i]);
    for (int i = 0; i < op->out_count; i++) {
        Value *piece = in_piece(s, op->out[i]);
        if (piece != op->out[i])
            op->out[i] = value_alias(s->p, piece, op->out[i]->name);
    }
}

/* Updates the piece and gathers all weights from all pieces, section by section, so that weights
 * are sent while others are updated. */
static void update_piece(Shard *s, Op *op) {
    Program *p = s->p;
    const Value *weight = p->train.weight;
    const Pieces weights = {p->train.weight, s->weight};
    Value *updated = s->master;
    bool apart = p->train.master != weight;
    for (int i = 0; i < op->out_count; i++)
        if (apart && op->out[i]->storage == weight->storage) {
            op->out[i] = sections_in(s, &weights, op->out[i], "trained.piece");
            updated = s->weight;
        }
    bool one_by_one = s->shared < SHARED_WEIGHTS && p->train.section_count > 1;
    work_in_piece(s, op);
    if (!one_by_one)
        graph_add(p, s->update, op);
    for (int i = 0; i < p->train.section_count; i++) {
        const Section *section = &p->train.sections[i];
        if (!section_is_updated(p, section, op, s->master))
            continue;
        if (one_by_one)
            section_update(p, s->update, section, op, s->master);
        gather(s, section, updated);
    }
}

static void make_weight(Shard *s) {
    Program *p = s->p;
    bool apart = p->train.master != p->train.weight, lasts = s->shared >= SHARED_WEIGHTS;
    s->weight = s->master;
    if (!apart)
        return;
    s->weight = value_2d(p, "trained.piece", lasts ? p->train.weight->role : ROLE_ACTIVATION,
                         p->activation, s->rows, TRAIN_COLS, s->pos);
    Value *first = value_alias(p, s->weight, "trained.piece");
    if (lasts)
        op_add_into(p, &p->entry[ENTRY_LOAD], OP_cast, "trained.piece", &s->master, 1, &first, 1,
                    (Attr){0}, s->pos);
}

static void keep_weights(const Shard *s) {
    for (int i = 0; i < s->p->train.section_count; i++) {
        const Section *section = &s->p->train.sections[i];
        if (section->weights_are == WEIGHTS_IN_BUFFER)
            program_add_gathered(s->p,
                                 (Gathered){section->name, section->weight,
                                            part_of(s, s->weight, section, "weights.piece")});
    }
}

static void rewrite(Shard *s, Op *op) {
    if (op_is(op, TRAIT_UPDATES)) {
        update_piece(s, op);
        return;
    }
    if (op->kind == OP_clip_factor) {
        op->in[0] = summed(s, op->in[0], GROUP_SHARD, "grad_norm.squared.sum");
        op->observe = "grad"; /* the pieces are final */
        op->observed = s->gradient;
    }
    if (op->kind != OP_zero || s->shared >= SHARED_GRADIENTS)
        work_in_piece(s, op);
    graph_add(s->p, s->update, op);
}

/* Whether no rank keeps all of the weight. */
static bool is_gathered(const Program *p, const Param *param) {
    for (int i = 0; i < p->train.section_count; i++)
        if (section_has(p, &p->train.sections[i], param))
            return p->train.sections[i].weights_are == WEIGHTS_IN_BUFFER;
    return false;
}

static void share_codes(Shard *s, CodedMoments *m) {
    m->exp_avg = piece_of(s, m->exp_avg, "exp_avg_codes.piece");
    m->exp_avg_sq = piece_of(s, m->exp_avg_sq, "exp_avg_sq_codes.piece");
    m->exp_avg_absmax = piece_of(s, m->exp_avg_absmax, "exp_avg_absmax.piece");
    m->exp_avg_sq_absmax = piece_of(s, m->exp_avg_sq_absmax, "exp_avg_sq_absmax.piece");
    s->p->train.coded_piece = m->rows * TRAIN_COLS / s->ranks;
}

static void keep_moments(Param *param, const TrainState *t) {
    bool coded = param->exp_avg_absmax;
    param->exp_avg = coded ? t->coded.exp_avg : t->exp_avg;
    param->exp_avg_sq = coded ? t->coded.exp_avg_sq : t->exp_avg_sq;
    param->exp_avg_absmax = coded ? t->coded.exp_avg_absmax : NULL;
    param->exp_avg_sq_absmax = coded ? t->coded.exp_avg_sq_absmax : NULL;
}

static void keep_pieces(const Shard *s) {
    TrainState *t = &s->p->train;
    for (int i = 0; i < s->p->param_count; i++) {
        Param *param = &s->p->params[i];
        if (!value_trains(param->weight))
            continue;
        param->pieces = GROUP_SHARD;
        param->master = s->master;
        param->gathered = is_gathered(s->p, param);
        param->gradient_in_pieces = s->shared >= SHARED_GRADIENTS;
        if (s->shared >= SHARED_GRADIENTS)
            param->gradient = s->gradient;
        keep_moments(param, t);
    }
    t->master = s->master;
    if (s->shared >= SHARED_GRADIENTS)
        t->gradient = s->gradient;
    t->piece = value_elements(s->master);
}

bool pass_shard(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    TrainState *t = &p->train;
    if (p->train.shared == SHARED_NOTHING || !program_trains(p))
        return false;
    Shard s = {.p = p,
               .update = update,
               .shared = t->shared,
               .ranks = p->mesh.size[AXIS_SHARD],
               .pos = spec_pos(spec, KEY_parallelism_data_parallel_shard_degree)};
    s.rows = value_rows(t->gradient) / s.ranks;
    s.master = piece_of(&s, t->master, "master.piece");
    t->exp_avg = piece_of(&s, t->exp_avg, "exp_avg.piece");
    t->exp_avg_sq = piece_of(&s, t->exp_avg_sq, "exp_avg_sq.piece");
    share_codes(&s, &t->coded);
    make_weight(&s);
    const Graph old = graph_take(update);
    sum_gradient(&s);
    sum_figures(&s, old.ops, old.op_count);
    for (int i = 0; i < old.op_count; i++)
        rewrite(&s, old.ops[i]);
    keep_pieces(&s);
    keep_weights(&s);
    return true;
}
