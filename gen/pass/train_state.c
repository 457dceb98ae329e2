/* Gives what trains its masters, gradients and moments: two for AdamW, the buffer for SGD with
 * momentum.
 *
 * Requires roles to be settled. Each kind is one run of memory seen as [R, TRAIN_COLS], with the
 * tensors in the order in which backward reaches them (last first), so that norm and update are one
 * kernel each, whatever the number of tensors. What ranks share out comes first, then what each has a
 * part of the gradient of, so that each of these is one run too. The gaps that round a tensor up to a
 * whole row stay zero: their gradient is zero, and so is their update. Where masters are to be shared
 * out each rank gets equally many rows, and what is its own master, though other weights are not, lies
 * in the first rank's. */
#include "pass/pass.h"
#include "pass/train_state.h"

static int64_t round_up(int64_t n) { return (n + TRAIN_COLS - 1) / TRAIN_COLS * TRAIN_COLS; }

typedef enum { CLASS_REAL, CLASS_SHARDED, CLASS_PARTIAL, CLASS_WHOLE, CLASS_COUNT } Class;

/* Weights of `real` beside 16-bit ones, where masters are shared out. */
static bool is_real(const Program *p, const Param *param, int64_t ranks) {
    return ranks > 1 && p->activation != p->real && param->weight->dtype == p->real;
}

static bool is_of(const Program *p, const Param *param, int64_t ranks, Class class) {
    Class own = is_real(p, param, ranks) ? CLASS_REAL
                : param->shard           ? CLASS_SHARDED
                : param->partial         ? CLASS_PARTIAL
                                         : CLASS_WHOLE;
    return value_trains(param->weight) && own == class;
}

static int64_t trained_elements(const Program *p, int64_t ranks, Class class) {
    int64_t n = 0;
    for (int i = 0; i < p->param_count; i++)
        if (is_of(p, &p->params[i], ranks, class))
            n += round_up(value_elements(p->params[i].weight));
    return n;
}

/* The run is called adapters where nothing else is in it. */
static Role role_of_run(const Program *p) {
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].weight->role == ROLE_WEIGHT)
            return ROLE_WEIGHT;
    return ROLE_ADAPTER;
}

/* NULL: of a run that is not there. */
static Value *part(Program *p, Value *run, int64_t offset, const Value *weight,
                   const char *suffix) {
    if (!run)
        return NULL;
    const char *name = arena_printf(p->arena, "%s%s", weight->name, suffix);
    return value_at(p, run, offset, weight->rank, weight->dim, name);
}

static void make_runs(Program *p, const Spec *spec, int64_t rows) {
    Pos pos = spec_pos(spec, KEY_optimizer_name);
    bool apart = p->activation != p->real; /* 16-bit weights have a master of their own */
    bool adamw = spec->optimizer.name == OPTIMIZER_ADAMW;
    TrainState *s = &p->train;
    s->weight = value_2d(p, "trained", role_of_run(p), p->activation, rows, TRAIN_COLS, pos);
    s->master =
        apart ? value_2d(p, "master", ROLE_OPTIMIZER, p->real, rows, TRAIN_COLS, pos) : s->weight;
    s->gradient = value_2d(p, "gradient", ROLE_GRADIENT, p->real, rows, TRAIN_COLS, pos);
    if (adamw || spec->optimizer.momentum > 0)
        s->exp_avg = value_2d(p, "exp_avg", ROLE_OPTIMIZER, p->real, rows, TRAIN_COLS, pos);
    if (adamw)
        s->exp_avg_sq = value_2d(p, "exp_avg_sq", ROLE_OPTIMIZER, p->real, rows, TRAIN_COLS, pos);
}

static void place(Program *p, Param *param, int64_t offset) {
    TrainState *s = &p->train;
    /* One of `real` in a 16-bit program is its own master; its 16-bit copy is never read. */
    bool own = param->weight->dtype == p->real;
    Value *read = !own ? s->weight : s->real_weight ? s->real_weight : s->master;
    value_move(param->weight, part(p, read, offset, param->weight, ""));
    param->master = own ? param->weight : part(p, s->master, offset, param->weight, ".master");
    param->gradient = part(p, s->gradient, offset, param->weight, ".grad");
    param->exp_avg = part(p, s->exp_avg, offset, param->weight, ".exp_avg");
    param->exp_avg_sq = part(p, s->exp_avg_sq, offset, param->weight, ".exp_avg_sq");
    s->shard |= param->shard;
    s->partial |= param->partial;
}

/* Of a rank's piece, where so many share out what trains. */
static int64_t piece_elements(int64_t all, int64_t ranks, int64_t least) {
    int64_t piece = round_up((all + ranks - 1) / ranks);
    return piece > least ? piece : least;
}

static void place_all(Program *p, int64_t ranks, Class class, int64_t offset) {
    for (int i = p->param_count - 1; i >= 0; i--) {
        Param *param = &p->params[i];
        if (!is_of(p, param, ranks, class))
            continue;
        place(p, param, offset);
        offset += round_up(value_elements(param->weight));
    }
}

void pass_train_state(Program *p, const Spec *spec) {
    int64_t elements[CLASS_COUNT], n = 0, ranks = spec->parallelism.data_parallel_shard_degree;
    for (int class = 0; class < CLASS_COUNT; class ++)
        n += elements[class] = trained_elements(p, ranks, (Class) class);
    if (!n)
        return;
    if (elements[CLASS_REAL])
        p->train.real_weight =
            value_2d(p, "trained_real", role_of_run(p), p->real, elements[CLASS_REAL] / TRAIN_COLS,
                     TRAIN_COLS, spec_pos(spec, KEY_optimizer_name));
    make_runs(p, spec, ranks * piece_elements(n, ranks, elements[CLASS_REAL]) / TRAIN_COLS);
    p->train.shard_rows = elements[CLASS_SHARDED] / TRAIN_COLS;
    p->train.partial_rows = elements[CLASS_PARTIAL] / TRAIN_COLS;
    int64_t offset = 0;
    for (int class = 0; class < CLASS_COUNT; class ++) {
        place_all(p, ranks, (Class) class, offset);
        offset += elements[class];
    }
}
