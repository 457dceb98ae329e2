/* Gives trained tensors their masters, gradients and moments: two moments for AdamW, the buffer for
 * SGD with momentum.
 *
 * Requires final roles. Each quantity is one run of memory seen as [R, TRAIN_COLS], with the
 * tensors in the order in which backward reaches them (last first), so that norm and update are one
 * kernel each, whatever the number of tensors. Sharded tensors come first, then those with partial
 * gradients, so that each of these groups is one run too. The gaps that round a tensor up to a
 * whole row stay zero: their gradient is zero, and so is their update. If masters are sharded, each
 * rank gets equally many rows of each section. Weights that are their own masters while others are
 * not form one section; the rest has a section per module, or per several small modules. If
 * gradients are sharded too, a section's gradients are a temporary buffer; so are its whole weights
 * if ranks keep only pieces of them.
 *
 * On a single rank vectors come last. So weights of linears that are computed as one product are
 * adjacent although the linears have biases, and few of the other tensors have gaps.
 *
 * If backward updates the weights (optimizer_in_backward), there are sections too, each with its own
 * gradients. In large models these are temporary buffers, unless a section has gaps, which must stay
 * zero.
 *
 * With 8-bit moments, large tensors come first and have codes instead of numbers: they are kinds of
 * their own. Tensors begin, and pieces end, at whole rows, which are whole blocks. */
#include "base/dotted.h"
#include "base/rounding.h"
#include "pass/module.h"
#include "pass/pass.h"
#include "pass/train_state.h"

#include <string.h>

/* MiB of gradients, enough that sending them takes several times the latency of a collective; or,
 * if backward updates them, that the update takes several times the overhead of a launch. */
enum { SECTION_MIB = 64, UPDATED_MIB = 4 };

/* With optimizer_in_backward = "auto", MiB of gradients above which they are temporary. */
enum { TEMPORARY_MIB = 64 };

/* What a tensor takes of the runs. */
static int64_t whole_rows(int64_t elements) { return round_up(elements, TRAIN_COLS); }

/* Whether the weight has dtype `real` in a 16-bit program whose masters are sharded. */
static bool is_real(const Program *p, const Param *param) {
    return p->train.shared && p->activation != p->real && param->weight->dtype == p->real;
}

static bool is_same(const TrainKind *a, const TrainKind *b) {
    return a->shard == b->shard && a->partial == b->partial && a->coded == b->coded &&
           a->vectors == b->vectors;
}

/* Sort key: coded moments first; within these and the rest, sharded tensors first and tensors with
 * whole gradients on each rank last; behind these, vectors. */
static int order_of(const TrainKind *kind) {
    return 8 * !kind->coded + 4 * (kind->shard == 0) +
           2 * (kind->shard ? kind->partial != 0 : kind->partial == 0) + kind->vectors;
}

static bool has_kind(const TrainState *s, const TrainKind *kind) {
    for (int i = 0; i < s->kind_count; i++)
        if (is_same(kind, &s->kinds[i]))
            return true;
    return false;
}

/* Where each parameter is in the runs. */
typedef struct {
    Program *p;
    int64_t ranks;     /* that share out the training state */
    bool coded;        /* large tensors have coded moments */
    int64_t *offset;   /* by parameter, for those that train */
    int64_t end, real; /* elements so far: in all; of weights for which is_real holds */
    int64_t least;     /* elements after which a section may end with its module */
    int64_t of_module; /* elements of the last module in the current section */
    int64_t most;      /* of the one that has most */
    const char *main;  /* that module */
    bool one_rank;
} RunLayout;

static TrainKind kind_of(const RunLayout *l, const Param *param) {
    int64_t elements = value_elements(param->weight) * mesh_ranks(&l->p->mesh, param->shard);
    return (TrainKind){.shard = param->shard,
                       .partial = param->partial,
                       .coded = l->coded && elements >= STATE_LEAST,
                       .vectors = l->one_rank && param->weight->rank == 1};
}

/* A rank's part of a tensor consists of runs of the whole tensor along the sharded axis; each run
 * has to be whole blocks. */
static void check_blocks(const Program *p, const Spec *spec, const Param *param) {
    int64_t run = param->shard_runs ? param->weight->dim[param->shard_axis] / param->shard_runs
                                    : param->weight->dim[param->shard_axis];
    for (int i = param->shard_axis + 1; i < param->weight->rank; i++)
        run *= param->weight->dim[i];
    if (mesh_ranks(&p->mesh, param->shard) > 1 && run % STATE_BLOCK)
        user_error(spec_pos(spec, KEY_optimizer_state),
                   "set optimizer.state = \"fp32\", or take fewer tensor parallel cards",
                   "blocks of %d would be cut: a card's part of %s has runs of %lld elements",
                   STATE_BLOCK, param->file_name, (long long)run);
}

/* Collects the kinds of all trained tensors, in order. */
static void find_kinds(const RunLayout *l, const Spec *spec) {
    Program *p = l->p;
    TrainState *s = &p->train;
    for (int i = 0; i < p->param_count; i++) {
        const Param *param = &p->params[i];
        TrainKind kind = kind_of(l, param);
        if (!value_trains(param->weight))
            continue;
        if (kind.coded)
            check_blocks(p, spec, param);
        if (has_kind(s, &kind))
            continue;
        ENSURE(s->kind_count < TRAIN_KINDS, "%s is of one kind too many", param->weight->name);
        int at = s->kind_count++;
        for (; at > 0 && order_of(&s->kinds[at - 1]) > order_of(&kind); at--)
            s->kinds[at] = s->kinds[at - 1];
        s->kinds[at] = kind;
    }
}

static bool in_sections(const TrainState *s) { return s->shared || s->in_backward; }

static Section *last_section(const TrainState *s) { return &s->sections[s->section_count - 1]; }

static const char *section_name(Arena *arena, const TrainKind *kind, const char *weight) {
    return arena_printf(arena, "%.*s%s", (int)module_length(weight), weight,
                        kind->vectors ? ".vectors" : "");
}

static void begin_section(RunLayout *l, const TrainKind *kind, const char *weight, bool real) {
    TrainState *s = &l->p->train;
    s->sections = arena_grow(l->p->arena, s->sections, s->section_count, &s->section_capacity,
                             sizeof *s->sections);
    SectionWeights others = s->shared >= SHARED_WEIGHTS ? WEIGHTS_IN_BUFFER : WEIGHTS_IN_RUN;
    s->sections[s->section_count++] =
        (Section){.name = section_name(l->p->arena, kind, weight),
                  .first = l->end,
                  .weights_are = real ? WEIGHTS_IN_REAL_RUN : others};
    l->most = 0;
}

/* Counts a tensor of the current section; `same`: of the module of the one before. */
static void count_tensor(RunLayout *l, const TrainKind *kind, const char *weight, bool same,
                         int64_t elements) {
    l->of_module = same ? l->of_module + elements : elements;
    if (l->of_module <= l->most)
        return;
    l->most = l->of_module;
    l->main = section_name(l->p->arena, kind, weight);
}

/* Pads the section to whole rows for each rank. Names it after the module that has more than half of
 * it, if any. */
static void end_section(RunLayout *l) {
    Section *s = last_section(&l->p->train);
    int64_t rows = l->ranks * TRAIN_COLS;
    if (2 * l->most > l->end - s->first)
        s->name = l->main;
    s->elements = round_up(l->end - s->first, rows);
    l->end = s->first + s->elements;
}

/* Whether the current section may end with its module. */
static bool is_full(const RunLayout *l) {
    const TrainState *s = &l->p->train;
    return in_sections(s) && l->end - last_section(s)->first >= l->least;
}

/* Whether the kind's first tensors belong to the last section, which is small. */
static bool goes_on(const RunLayout *l, const TrainKind *kind) {
    const TrainState *s = &l->p->train;
    return kind->vectors && s->in_backward && !s->temporary && kind > s->kinds &&
           kind[-1].coded == kind->coded && !is_full(l);
}

/* Places the tensors of a kind for which is_real is `real`; in sections if the state is sharded or
 * backward updates the weights. */
static void lay_out(RunLayout *l, const TrainKind *kind, bool real) {
    const char *last = NULL;
    int64_t start = l->end;
    TrainState *s = &l->p->train;
    bool sections = in_sections(s);
    for (int i = l->p->param_count - 1; i >= 0; i--) {
        const Param *param = &l->p->params[i];
        const char *name = param->weight->name;
        TrainKind own = kind_of(l, param);
        if (!value_trains(param->weight) || !is_same(&own, kind) || is_real(l->p, param) != real)
            continue;
        bool same = last && same_module(last, name);
        bool begins = last ? !real && !same && is_full(l) : !goes_on(l, kind);
        int64_t elements = value_elements(param->weight);
        if (sections && last && begins)
            end_section(l);
        if (sections && begins)
            begin_section(l, kind, name, real);
        if (sections && (kind->vectors || elements != whole_rows(elements)))
            last_section(s)->gradient_lasts = true;
        l->offset[i] = l->end;
        l->end += whole_rows(elements);
        count_tensor(l, kind, name, same, whole_rows(elements));
        last = name;
    }
    if (sections && last)
        end_section(l);
    if (real)
        l->real += l->end - start;
}

/* ---- names of sections ----------------------------------------------------------------------- */

static bool is_in(const RunLayout *l, const Section *s, int param) {
    return value_trains(l->p->params[param].weight) && l->offset[param] >= s->first &&
           l->offset[param] < s->first + s->elements;
}

/* Whether the section could have the parameter, which is like one of its members. */
static bool is_like_member(const RunLayout *l, const Section *s, int param) {
    const Param *of = l->p->params;
    TrainKind kind = kind_of(l, &of[param]);
    for (int i = 0; i < l->p->param_count; i++) {
        TrainKind member = kind_of(l, &of[i]);
        if (is_in(l, s, i) && is_same(&kind, &member) &&
            is_real(l->p, &of[i]) == is_real(l->p, &of[param]))
            return true;
    }
    return false;
}

/* Returns the length of what the names of the section's modules begin with, if there are several. */
static bool find_common(const RunLayout *l, const Section *s, const char **name, size_t *length) {
    bool several = false;
    *name = NULL;
    *length = 0;
    for (int i = 0; i < l->p->param_count; i++) {
        const char *weight = l->p->params[i].weight->name;
        if (!is_in(l, s, i))
            continue;
        if (!*name)
            *length = module_length(*name = weight);
        several |= !same_module(*name, weight);
        size_t common = common_length(*name, weight);
        *length = common < *length ? common : *length;
    }
    return several;
}

static bool has_vectors_only(const RunLayout *l, const Section *s) {
    for (int i = 0; i < l->p->param_count; i++)
        if (is_in(l, s, i) && !kind_of(l, &l->p->params[i]).vectors)
            return false;
    return true;
}

/* Whether a parameter like one of the section's, with such a name, is not in it. */
static bool lacks(const RunLayout *l, const Section *s, const char *name, size_t length) {
    for (int i = 0; i < l->p->param_count; i++) {
        const Value *weight = l->p->params[i].weight;
        bool below = common_length(name, weight->name) >= length;
        if (value_trains(weight) && below && !is_in(l, s, i) && is_like_member(l, s, i))
            return true;
    }
    return false;
}

static bool has_name(const TrainState *s, const char *name) {
    for (int i = 0; i < s->section_count; i++)
        if (strcmp(s->sections[i].name, name) == 0)
            return true;
    return false;
}

/* Names a section of several modules after what these have in common, if no other section has that
 * name or like parameters with that in theirs: "layer2" for layer2.0 to layer2.3. The first other one
 * that has only vectors: "vectors". */
static void name_section(const RunLayout *l, Section *s) {
    const char *name;
    size_t length;
    if (!find_common(l, s, &name, &length))
        return;
    bool vectors = has_vectors_only(l, s);
    const char *common = vectors ? "vectors" : NULL;
    if (length > 0 && !lacks(l, s, name, length))
        common = arena_printf(l->p->arena, "%.*s%s", (int)length, name, vectors ? ".vectors" : "");
    if (common && !has_name(&l->p->train, common))
        s->name = common;
}

/* ADAPTER if the run has only adapters, else WEIGHT. */
static Role role_of_run(const Program *p) {
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].weight->role == ROLE_WEIGHT)
            return ROLE_WEIGHT;
    return ROLE_ADAPTER;
}

/* The weight's part of a run; NULL if there is no such run. */
static Value *part(Program *p, Value *run, int64_t offset, const Value *weight,
                   const char *suffix) {
    if (!run)
        return NULL;
    const char *name = arena_printf(p->arena, "%s%s", weight->name, suffix);
    return value_at(p, run, offset, weight->rank, weight->dim, name);
}

static void make_coded(Program *p, int64_t rows, Pos pos) {
    CodedMoments *m = &p->train.coded;
    int64_t blocks = rows * TRAIN_COLS / STATE_BLOCK;
    m->rows = rows;
    m->exp_avg = value_2d(p, "exp_avg_codes", ROLE_OPTIMIZER, DT_U8, blocks, STATE_BLOCK, pos);
    m->exp_avg_sq =
        value_2d(p, "exp_avg_sq_codes", ROLE_OPTIMIZER, DT_U8, blocks, STATE_BLOCK, pos);
    m->exp_avg_absmax = value_2d(p, "exp_avg_absmax", ROLE_OPTIMIZER, DT_F32, blocks, 1, pos);
    m->exp_avg_sq_absmax = value_2d(p, "exp_avg_sq_absmax", ROLE_OPTIMIZER, DT_F32, blocks, 1, pos);
}

/* Number of rows by which a rank's piece begins before the whole gradients, with which it shares
 * memory. Its part of each section then overlaps only earlier sections, which have been sent. */
static int64_t rows_ahead(const TrainState *s, int64_t ranks) {
    int64_t ahead = 0;
    for (int i = 0; i < s->section_count; i++) {
        const Section *section = &s->sections[i];
        int64_t part_end = (section->first + section->elements) / ranks;
        if (part_end - section->first > ahead)
            ahead = part_end - section->first;
    }
    return ahead / TRAIN_COLS;
}

static void make_gradient(const RunLayout *l, int64_t rows, Pos pos) {
    Program *p = l->p;
    TrainState *s = &p->train;
    bool scattered = s->shared == SHARED_STATES;
    int64_t ahead = scattered ? rows_ahead(s, l->ranks) : 0;
    s->gradient = value_2d(p, "gradient", ROLE_GRADIENT, p->real, ahead + rows, TRAIN_COLS, pos);
    if (!scattered)
        return;
    s->gradient_piece = value_row_range(p, s->gradient, 0, rows / l->ranks, "gradient.piece");
    s->gradient = value_row_range(p, s->gradient, ahead, rows, "gradient");
}

static void make_runs(const RunLayout *l, const Spec *spec) {
    Program *p = l->p;
    int64_t rows = l->end / TRAIN_COLS;
    Pos pos = spec_pos(spec, KEY_optimizer_name);
    int64_t coded = p->train.coded.rows;
    bool apart = p->activation != p->real; /* 16-bit weights have separate masters */
    bool adamw = spec->optimizer.name == OPTIMIZER_ADAMW;
    TrainState *s = &p->train;
    s->weight = value_2d(p, "trained", role_of_run(p), p->activation, rows, TRAIN_COLS, pos);
    s->master =
        apart ? value_2d(p, "master", ROLE_OPTIMIZER, p->real, rows, TRAIN_COLS, pos) : s->weight;
    make_gradient(l, rows, pos);
    if (coded)
        make_coded(p, coded, pos);
    rows -= coded;
    if (rows && (adamw || spec->optimizer.momentum > 0))
        s->exp_avg = value_2d(p, adamw ? "exp_avg" : "momentum_buffer", ROLE_OPTIMIZER, p->real, rows,
                              TRAIN_COLS, pos);
    if (rows && adamw)
        s->exp_avg_sq = value_2d(p, "exp_avg_sq", ROLE_OPTIMIZER, p->real, rows, TRAIN_COLS, pos);
}

/* The section that contains this element of the runs. Requires sections. */
static Section *section_at(TrainState *s, int64_t offset) {
    int i = s->section_count - 1;
    while (offset < s->sections[i].first)
        i--;
    return &s->sections[i];
}

static Value *gradient_of(Program *p, const Param *param, int64_t offset) {
    const TrainState *t = &p->train;
    if (t->shared < SHARED_GRADIENTS && !t->in_backward)
        return part(p, t->gradient, offset, param->weight, ".grad");
    Section *s = section_at(&p->train, offset);
    bool lasts = t->in_backward && (!t->temporary || s->gradient_lasts);
    Role role = lasts ? ROLE_GRADIENT : ROLE_ACTIVATION;
    if (!s->gradient)
        s->gradient = value_2d(p, arena_printf(p->arena, "%s.gradients", s->name), role, p->real,
                               s->elements / TRAIN_COLS, TRAIN_COLS, param->weight->pos);
    return part(p, s->gradient, offset - s->first, param->weight, ".grad");
}

/* Where a weight is read from: a part of a run, or a buffer that a gather fills. */
static Value *weight_of(Program *p, const Param *param, int64_t offset) {
    TrainState *t = &p->train;
    Section *s = t->shared ? section_at(t, offset) : NULL;
    bool own = param->weight->dtype == p->real;
    if (!s || s->weights_are == WEIGHTS_IN_RUN)
        return part(p, own ? t->master : t->weight, offset, param->weight, "");
    if (!s->weight)
        s->weight =
            value_2d(p, arena_printf(p->arena, "%s.weights", s->name), role_of_run(p),
                     p->activation, s->elements / TRAIN_COLS, TRAIN_COLS, param->weight->pos);
    return part(p, s->weight, offset - s->first, param->weight, "");
}

/* One code per element, and one absmax per block. */
static void place_codes(Program *p, Param *param, int64_t offset) {
    const CodedMoments *m = &p->train.coded;
    const Value *w = param->weight;
    int64_t blocks[] = {ceil_div(value_elements(w), STATE_BLOCK)};
    int64_t block = offset / STATE_BLOCK;
    const char *first = arena_printf(p->arena, "%s.exp_avg_absmax", w->name);
    const char *second = arena_printf(p->arena, "%s.exp_avg_sq_absmax", w->name);
    param->exp_avg = part(p, m->exp_avg, offset, w, ".exp_avg");
    param->exp_avg_sq = part(p, m->exp_avg_sq, offset, w, ".exp_avg_sq");
    param->exp_avg_absmax = value_at(p, m->exp_avg_absmax, block, 1, blocks, first);
    param->exp_avg_sq_absmax = value_at(p, m->exp_avg_sq_absmax, block, 1, blocks, second);
}

static void place_moments(Program *p, Param *param, int64_t offset) {
    const TrainState *s = &p->train;
    int64_t behind = offset - s->coded.rows * TRAIN_COLS;
    if (behind < 0) {
        place_codes(p, param, offset);
        return;
    }
    const char *first = s->exp_avg_sq ? ".exp_avg" : ".momentum_buffer";
    param->exp_avg = part(p, s->exp_avg, behind, param->weight, first);
    param->exp_avg_sq = part(p, s->exp_avg_sq, behind, param->weight, ".exp_avg_sq");
}

static void place(Program *p, const RunLayout *l, Param *param, int64_t offset) {
    TrainState *s = &p->train;
    /* A weight of dtype `real` in a 16-bit program is its own master; no 16-bit copy is read. */
    bool own = param->weight->dtype == p->real;
    value_move(param->weight, weight_of(p, param, offset));
    param->master = own ? param->weight : part(p, s->master, offset, param->weight, ".master");
    param->gradient = gradient_of(p, param, offset);
    place_moments(p, param, offset);
    if (s->shared) {
        const Section *section = section_at(s, offset);
        param->piece_first = offset - section->first;
        param->piece_elements = section->elements / l->ranks;
        param->piece_at = section->first / l->ranks;
    }
}

static void lay_out_kinds(RunLayout *l) {
    TrainState *s = &l->p->train;
    for (int i = 0; i < s->kind_count; i++) {
        TrainKind *kind = &s->kinds[i];
        kind->first = l->end / TRAIN_COLS;
        lay_out(l, kind, true);
        lay_out(l, kind, false);
        kind->rows = l->end / TRAIN_COLS - kind->first;
        s->coded.rows += kind->coded ? kind->rows : 0;
    }
}

/* Places the sections of dtype `real` one after another in a run of their own. */
static void make_real(RunLayout *l, const Spec *spec) {
    TrainState *s = &l->p->train;
    int64_t at = 0;
    if (!l->real)
        return;
    Value *run = value_2d(l->p, "trained_real", role_of_run(l->p), l->p->real, l->real / TRAIN_COLS,
                          TRAIN_COLS, spec_pos(spec, KEY_optimizer_name));
    for (int i = 0; i < s->section_count; i++) {
        Section *section = &s->sections[i];
        int64_t rows = section->elements / TRAIN_COLS;
        if (section->weights_are != WEIGHTS_IN_REAL_RUN)
            continue;
        section->weight = value_row_range(l->p, run, at, rows, run->name);
        at += rows;
    }
}

/* Elements of the smallest section. Not for SHARED_WEIGHTS, where each module is a section, because
 * weights are gathered by module. */
static int64_t least_section(const Program *p, const Spec *spec) {
    double given = spec->parallelism.bucket_size_mb;
    if (spec->compile.optimizer_in_backward == EVERYWHERE)
        return 0;
    double mib = p->train.in_backward ? UPDATED_MIB : given > 0 ? given : SECTION_MIB;
    return (int64_t)(1048576 * mib) / dtype_bytes(p->real);
}

static SharedState shared_state(const Spec *spec) {
    static const SharedState of_stage[] = {[SHARD_STATES] = SHARED_STATES,
                                           [SHARD_GRADIENTS] = SHARED_GRADIENTS,
                                           [SHARD_WEIGHTS] = SHARED_WEIGHTS};
    return spec_shards(spec) ? of_stage[spec->parallelism.shard_stage] : SHARED_NOTHING;
}

/* Adapters have few gradients: updating them all at once takes the fewest launches. */
static bool updates_in_backward(const Program *p, const Spec *spec) {
    WhereGained wanted = spec->compile.optimizer_in_backward;
    if (wanted == NOWHERE || !spec_effective(spec, KEY_compile_optimizer_in_backward))
        return false;
    return wanted == EVERYWHERE || role_of_run(p) == ROLE_WEIGHT;
}

static bool has_many_gradients(const Program *p) {
    int64_t bytes = 0;
    for (int i = 0; i < p->param_count; i++)
        if (value_trains(p->params[i].weight))
            bytes += value_elements(p->params[i].weight) * dtype_bytes(p->real);
    return bytes > (int64_t)TEMPORARY_MIB * 1048576;
}

bool pass_train_state(Program *p, const Spec *spec) {
    RunLayout l = {.p = p, .ranks = spec->parallelism.data_parallel_shard_degree};
    l.one_rank = spec_trains_alone(spec);
    p->train.shared = shared_state(spec);
    p->train.in_backward = updates_in_backward(p, spec);
    p->train.temporary =
        p->train.in_backward &&
        (spec->compile.optimizer_in_backward == EVERYWHERE || has_many_gradients(p));
    if (p->train.shared < SHARED_WEIGHTS)
        l.least = least_section(p, spec);
    l.offset = arena_array(p->arena, (size_t)p->param_count + 1, sizeof *l.offset);
    l.coded = spec->optimizer.name == OPTIMIZER_ADAMW && spec->optimizer.state == STATE_INT8;
    find_kinds(&l, spec);
    lay_out_kinds(&l);
    if (!l.end)
        return false;
    for (int i = 0; i < p->train.section_count; i++)
        name_section(&l, &p->train.sections[i]);
    make_real(&l, spec);
    make_runs(&l, spec);
    for (int i = p->param_count - 1; i >= 0; i--)
        if (value_trains(p->params[i].weight))
            place(p, &l, &p->params[i], l.offset[i]);
    return true;
}
