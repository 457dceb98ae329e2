/* Gives what trains its masters, gradients and moments: two for AdamW, the buffer for SGD with
 * momentum.
 *
 * Requires roles to be settled. Each kind is one run of memory seen as [R, TRAIN_COLS], with the
 * tensors in the order in which backward reaches them (last first), so that norm and update are one
 * kernel each, whatever the number of tensors. What ranks share out comes first, then what each has a
 * part of the gradient of, so that each of these is one run too. The gaps that round a tensor up to a
 * whole row stay zero: their gradient is zero, and so is their update. Where masters are to be shared
 * out each rank gets equally many rows of each section: of what is its own master, though other weights
 * are not, and of all the rest; where gradients are too, of each module, whose gradients are a buffer
 * that does not last, and so are whole weights where ranks keep pieces of them. */
#include "pass/module.h"
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

/* Where each parameter lies in the runs. */
typedef struct {
    Program *p;
    int64_t ranks, stage; /* that share masters out, and what beside them */
    int64_t *offset;      /* by parameter; of what trains */
    int64_t end;
} RunLayout;

static void begin_section(RunLayout *l, const char *weight) {
    TrainState *s = &l->p->train;
    s->sections = arena_grow(l->p->arena, s->sections, s->section_count, &s->section_capacity,
                             sizeof *s->sections);
    const char *name = arena_strndup(l->p->arena, weight, module_length(weight));
    s->sections[s->section_count++] = (Section){.name = name, .first = l->end};
}

/* Whole rows for each rank. */
static void end_section(RunLayout *l) {
    Section *s = &l->p->train.sections[l->p->train.section_count - 1];
    int64_t rows = l->ranks * TRAIN_COLS;
    s->elements = (l->end - s->first + rows - 1) / rows * rows;
    l->end = s->first + s->elements;
}

/* The tensors of a class; those that ranks share out in sections. */
static void lay_out(RunLayout *l, Class class) {
    const char *last = NULL;
    for (int i = l->p->param_count - 1; i >= 0; i--) {
        const Param *param = &l->p->params[i];
        const char *name = param->weight->name;
        if (!is_of(l->p, param, l->ranks, class))
            continue;
        bool apart = l->stage > 1 && class != CLASS_REAL;
        bool begins = !last || (apart && !same_module(last, name));
        if (l->ranks > 1 && last && begins)
            end_section(l);
        if (l->ranks > 1 && begins)
            begin_section(l, name);
        l->offset[i] = l->end;
        l->end += round_up(value_elements(param->weight));
        last = name;
    }
    if (l->ranks > 1 && last)
        end_section(l);
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

/* The section with that element of the runs; NULL: ranks share nothing out. */
static Section *section_at(TrainState *s, int64_t offset) {
    for (int i = s->section_count - 1; i >= 0; i--)
        if (offset >= s->sections[i].first)
            return &s->sections[i];
    return NULL;
}

static Value *gradient_of(Program *p, const RunLayout *l, const Param *param, int64_t offset) {
    Section *s = section_at(&p->train, offset);
    if (l->stage < 2 || !s)
        return part(p, p->train.gradient, offset, param->weight, ".grad");
    if (!s->gradient)
        s->gradient = value_2d(p, arena_printf(p->arena, "%s.gradients", s->name), ROLE_ACTIVATION,
                               p->real, s->elements / TRAIN_COLS, TRAIN_COLS, param->weight->pos);
    return part(p, s->gradient, offset - s->first, param->weight, ".grad");
}

/* What a weight is read from: a part of a run, or a buffer that is gathered. */
static Value *weight_of(Program *p, const RunLayout *l, const Param *param, int64_t offset) {
    TrainState *t = &p->train;
    Section *s = section_at(t, offset);
    bool own = param->weight->dtype == p->real;
    if (l->stage < 3 || !s || (own && t->real_weight)) {
        Value *run = !own ? t->weight : t->real_weight ? t->real_weight : t->master;
        return part(p, run, offset, param->weight, "");
    }
    if (!s->weight)
        s->weight =
            value_2d(p, arena_printf(p->arena, "%s.weights", s->name), role_of_run(p),
                     p->activation, s->elements / TRAIN_COLS, TRAIN_COLS, param->weight->pos);
    return part(p, s->weight, offset - s->first, param->weight, "");
}

static void place(Program *p, const RunLayout *l, Param *param, int64_t offset) {
    TrainState *s = &p->train;
    const Section *section = section_at(s, offset);
    /* One of `real` in a 16-bit program is its own master; its 16-bit copy is never read. */
    bool own = param->weight->dtype == p->real;
    value_move(param->weight, weight_of(p, l, param, offset));
    param->master = own ? param->weight : part(p, s->master, offset, param->weight, ".master");
    param->gradient = gradient_of(p, l, param, offset);
    param->exp_avg = part(p, s->exp_avg, offset, param->weight, ".exp_avg");
    param->exp_avg_sq = part(p, s->exp_avg_sq, offset, param->weight, ".exp_avg_sq");
    if (section) {
        param->piece_first = offset - section->first;
        param->piece_elements = section->elements / l->ranks;
        param->piece_at = section->first / l->ranks;
    }
    s->shard |= param->shard;
    s->partial |= param->partial;
}

void pass_train_state(Program *p, const Spec *spec) {
    RunLayout l = {.p = p,
                   .ranks = spec->parallelism.data_parallel_shard_degree,
                   .stage = spec->parallelism.shard_stage};
    int64_t rows[CLASS_COUNT];
    l.offset = arena_array(p->arena, (size_t)p->param_count + 1, sizeof *l.offset);
    for (int class = 0; class < CLASS_COUNT; class ++) {
        int64_t first = l.end;
        lay_out(&l, (Class) class);
        rows[class] = (l.end - first) / TRAIN_COLS;
    }
    if (!l.end)
        return;
    if (rows[CLASS_REAL])
        p->train.real_weight =
            value_2d(p, "trained_real", role_of_run(p), p->real, rows[CLASS_REAL], TRAIN_COLS,
                     spec_pos(spec, KEY_optimizer_name));
    make_runs(p, spec, l.end / TRAIN_COLS);
    p->train.shard_rows = rows[CLASS_SHARDED];
    p->train.partial_rows = rows[CLASS_PARTIAL];
    for (int i = p->param_count - 1; i >= 0; i--)
        if (value_trains(p->params[i].weight))
            place(p, &l, &p->params[i], l.offset[i]);
}
