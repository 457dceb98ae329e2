/* Gives what trains its masters, gradients and moments: two for AdamW, the buffer for SGD with
 * momentum.
 *
 * Requires roles to be settled. Each kind is one run of memory seen as [R, TRAIN_COLS], with the
 * tensors in the order in which backward reaches them (last first), so that norm and update are one
 * kernel each, whatever the number of tensors. What ranks share out comes first, then what each has a
 * part of the gradient of, so that each of these is one run too. The gaps that round a tensor up to a whole row stay
 * zero: their gradient is zero, and so is their update. */
#include "pass/pass.h"
#include "pass/train_state.h"

static int64_t round_up(int64_t n) { return (n + TRAIN_COLS - 1) / TRAIN_COLS * TRAIN_COLS; }

typedef enum { CLASS_SHARDED, CLASS_PARTIAL, CLASS_WHOLE, CLASS_COUNT } Class;

static Class class_of(const Param *p) {
    return p->shard ? CLASS_SHARDED : p->partial ? CLASS_PARTIAL : CLASS_WHOLE;
}

static bool is_of(const Param *p, Class class) {
    return value_trains(p->weight) && class_of(p) == class;
}

static int64_t trained_elements(const Program *p, Class class) {
    int64_t n = 0;
    for (int i = 0; i < p->param_count; i++)
        if (is_of(&p->params[i], class))
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
    value_move(param->weight, part(p, own ? s->master : s->weight, offset, param->weight, ""));
    param->master = own ? param->weight : part(p, s->master, offset, param->weight, ".master");
    param->gradient = part(p, s->gradient, offset, param->weight, ".grad");
    param->exp_avg = part(p, s->exp_avg, offset, param->weight, ".exp_avg");
    param->exp_avg_sq = part(p, s->exp_avg_sq, offset, param->weight, ".exp_avg_sq");
    s->shard |= param->shard;
    s->partial |= param->partial;
}

void pass_train_state(Program *p, const Spec *spec) {
    int64_t elements[CLASS_COUNT], n = 0, offset = 0;
    for (int class = 0; class < CLASS_COUNT; class++)
        n += elements[class] = trained_elements(p, (Class)class);
    if (!n)
        return;
    make_runs(p, spec, n / TRAIN_COLS);
    p->train.shard_rows = elements[CLASS_SHARDED] / TRAIN_COLS;
    p->train.partial_rows = elements[CLASS_PARTIAL] / TRAIN_COLS;
    for (int class = 0; class < CLASS_COUNT; class++)
        for (int i = p->param_count - 1; i >= 0; i--) {
            if (!is_of(&p->params[i], (Class)class))
                continue;
            place(p, &p->params[i], offset);
            offset += round_up(value_elements(p->params[i].weight));
        }
}
