/* Optimizer states shared out (stage 1 of ZeRO; Rajbhandari et al., arXiv 1910.02054): of masters and
 * moments each rank of a shard group has an equal piece, and updates that alone.
 *
 * Requires the update, with one all_reduce over the run of gradients and the step's loss at its head.
 * In its place a reduce_scatter leaves each rank the sums of its piece, which other replicas' are added
 * to; squares are summed up over the group, so that all clip alike; and an all_gather gives every rank
 * all weights as they are read. What is read as its own master, though other weights are not, lies in
 * the first rank's piece and is broadcast. */
#include "pass/pass.h"
#include "pass/train_state.h"

typedef struct {
    Program *p;
    Graph *update;
    int64_t rows;                                    /* of a piece */
    Value *gradient, *master, *exp_avg, *exp_avg_sq; /* pieces; NULL where there is no such run */
    Pos pos;
} Shard;

static Value *piece_of(const Shard *s, const Value *run, const char *name) {
    return run ? value_2d(s->p, name, ROLE_OPTIMIZER, s->p->real, s->rows, TRAIN_COLS, s->pos)
               : NULL;
}

static Value *summed(const Shard *s, Value *v, RankGroup group, const char *name) {
    Value *sum = value_alias(s->p, v, v->name);
    if (mesh_ranks(&s->p->mesh, group) == 1)
        return v;
    op_add_into(s->p, s->update, OP_all_reduce, name, &v, 1, &sum, 1, (Attr){.group = group},
                s->pos);
    return sum;
}

static void scatter_gradient(Shard *s) {
    Value *gradient = s->p->train.gradient;
    s->gradient =
        value_2d(s->p, "gradient.piece", ROLE_ACTIVATION, s->p->real, s->rows, TRAIN_COLS, s->pos);
    op_add_into(s->p, s->update, OP_reduce_scatter, "gradient.piece", &gradient, 1, &s->gradient, 1,
                (Attr){.group = GROUP_SHARD}, s->pos);
    s->gradient = summed(s, s->gradient, GROUP_REPLICATE, "gradient.piece.sum");
    graph_producer(s->update, s->gradient)->observe = "grad";
    summed(s, s->p->counters.step_loss, GROUP_DATA, "step_loss.sum");
}

static Value *in_piece(const Shard *s, Value *v) {
    const TrainState *t = &s->p->train;
    if (value_same_place(v, t->gradient))
        return s->gradient;
    if (value_same_place(v, t->master))
        return s->master;
    if (t->exp_avg && value_same_place(v, t->exp_avg))
        return s->exp_avg;
    return t->exp_avg_sq && value_same_place(v, t->exp_avg_sq) ? s->exp_avg_sq : v;
}

/* Masters that the 16-bit ones have no copy of. */
static void spread_real(const Shard *s) {
    Value *to = s->p->train.real_weight;
    if (!to)
        return;
    Value *from = value_row_range(s->p, s->master, 0, value_rows(to), "master.real");
    Value *mine = value_alias(s->p, to, "trained_real"),
          *all = value_alias(s->p, to, "trained_real");
    op_add_into(s->p, s->update, OP_scale, "trained_real.piece", &from, 1, &mine, 1,
                (Attr){.alpha = 1}, s->pos);
    op_add_into(s->p, s->update, OP_broadcast, "trained_real", &mine, 1, &all, 1,
                (Attr){.group = GROUP_SHARD}, s->pos);
}

/* The update of a piece, and of all weights from all pieces. */
static void update_piece(const Shard *s, Op *op) {
    Program *p = s->p;
    Value *weight = p->train.weight, *updated = NULL;
    bool apart = p->train.master != weight;
    for (int i = 0; i < op->out_count; i++) {
        Value *old = op->out[i];
        if (apart && value_same_place(old, weight))
            op->out[i] = updated = value_2d(p, "trained.piece", ROLE_ACTIVATION, p->activation,
                                            s->rows, TRAIN_COLS, s->pos);
        else
            op->out[i] = value_alias(p, in_piece(s, old), old->name);
    }
    for (int i = 0; i < op->in_count; i++)
        op->in[i] = in_piece(s, op->in[i]);
    graph_add(p, s->update, op);
    Value *from = updated ? updated : op->out[0], *all = value_alias(p, weight, "new.trained");
    op_add_into(p, s->update, OP_all_gather, "trained", &from, 1, &all, 1,
                (Attr){.group = GROUP_SHARD}, s->pos);
    spread_real(s);
}

static void rewrite(const Shard *s, Op *op) {
    if (op->kind == OP_adamw || op->kind == OP_sgd) {
        update_piece(s, op);
        return;
    }
    if (op->kind == OP_sum_squares)
        op->in[0] = s->gradient;
    if (op->kind == OP_clip_factor)
        op->in[0] = summed(s, op->in[0], GROUP_SHARD, "grad_norm.squared.sum");
    graph_add(s->p, s->update, op);
}

static void keep_pieces(const Shard *s) {
    TrainState *t = &s->p->train;
    for (int i = 0; i < s->p->param_count; i++) {
        Param *param = &s->p->params[i];
        if (!value_trains(param->weight))
            continue;
        param->pieces = GROUP_SHARD;
        param->piece_first = param->gradient->offset;
        param->master = s->master;
        param->exp_avg = s->exp_avg;
        param->exp_avg_sq = s->exp_avg_sq;
    }
    t->master = s->master;
    t->exp_avg = s->exp_avg;
    t->exp_avg_sq = s->exp_avg_sq;
    t->piece = value_elements(s->master);
}

void pass_shard(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    TrainState *t = &p->train;
    if (p->mesh.size[AXIS_SHARD] == 1 || !t->gradient)
        return;
    Shard s = {.p = p,
               .update = update,
               .pos = spec_pos(spec, KEY_parallelism_data_parallel_shard_degree)};
    s.rows = value_rows(t->gradient) / p->mesh.size[AXIS_SHARD];
    s.master = piece_of(&s, t->master, "master.piece");
    s.exp_avg = piece_of(&s, t->exp_avg, "exp_avg.piece");
    s.exp_avg_sq = piece_of(&s, t->exp_avg_sq, "exp_avg_sq.piece");
    Op **ops = update->ops;
    int count = update->op_count;
    ENSURE(ops[0]->kind == OP_all_reduce, "%s does not sum gradients first", update->name);
    graph_set_ops(p, update, NULL, 0);
    scatter_gradient(&s);
    for (int i = 1; i < count; i++)
        rewrite(&s, ops[i]);
    keep_pieces(&s);
}
