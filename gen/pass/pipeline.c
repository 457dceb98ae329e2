/* Pipeline parallelism (Huang et al., arXiv 1811.06965; Narayanan et al., arXiv 1806.03377): the model
 * is cut into stages, a card each, and a step's micro-batches follow each other through them.
 *
 * Requires the forward graphs, whole. Leaves one stage of them, with its parameters, so that what
 * comes later sees a small program: it receives an activation instead of making it, ends in one that
 * it sends instead of a loss, and autodiff takes gradients the other way. pass_pipeline_sums, behind
 * the update, makes norm and loss of a step those of all stages. */
#include "graph/op_table.h"
#include "pass/pass.h"
#include "pass/stage_cuts.h"

#include <string.h>

/* ---- what belongs to the stage --------------------------------------------------------------- */

static void keep_range(Program *p, Graph *graph, int first, int end) {
    graph_set_ops(p, graph, graph->ops + first, end - first);
}

static void replace(Graph *graph, const Value *from, Value *to) {
    for (int i = 0; i < graph->op_count; i++)
        op_read_instead(graph->ops[i], from, to);
}

static bool graph_uses(const Graph *graph, const Value *v) {
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        for (int k = 0; k < op->in_count; k++)
            if (op->in[k]->storage == v->storage)
                return true;
        for (int k = 0; k < op->out_count; k++)
            if (op->out[k]->storage == v->storage)
                return true;
    }
    return false;
}

static bool is_used(const Program *p, const Value *v) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        if (graph_uses(&p->entry[e], v))
            return true;
    return false;
}

/* What load computes for others is not computed here. */
static void keep_load(Program *p) {
    Graph *load = &p->entry[ENTRY_LOAD];
    Op **ops = load->ops;
    int count = load->op_count, kept = count;
    graph_set_ops(p, load, NULL, 0);
    for (int i = count - 1; i >= 0; i--) {
        bool used = false;
        for (int k = 0; k < ops[i]->out_count; k++)
            used |= is_used(p, ops[i]->out[k]);
        if (!used)
            continue;
        ops[--kept] = ops[i];
        graph_set_ops(p, load, ops + kept, count - kept);
    }
}

static void keep_places(Program *p) {
    int count = 0;
    for (int i = 0; i < p->place_count; i++)
        if (is_used(p, p->places[i].value))
            p->places[count++] = p->places[i];
    p->place_count = count;
}

static void keep_params(Program *p) {
    int count = 0;
    for (int i = 0; i < p->param_count; i++)
        if (is_used(p, p->params[i].weight))
            p->params[count++] = p->params[i];
    p->param_count = count;
    if (p->dataset && !is_used(p, p->dataset))
        p->dataset = NULL;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bool range_uses(const Graph *graph, int first, int end, const Value *v) {
    Graph part = {.ops = graph->ops + first, .op_count = end - first};
    return graph_uses(&part, v);
}

/* A weight that trains, or that forward writes, is in one stage. */
static void check_params(const Program *p, const Spec *spec, const StageCuts *cuts) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < p->param_count; i++) {
        const Param *param = &p->params[i];
        int stages[2] = {-1, -1}, found = 0;
        for (int s = 0; s < p->stage.count && found < 2; s++)
            if (range_uses(graph, cuts->train[s].at, cuts->train[s + 1].at, param->weight))
                stages[found++] = s;
        if (found == 2 && param->weight->role != ROLE_FROZEN)
            user_error(spec_pos(spec, KEY_parallelism_pipeline_parallel_degree),
                       "set model.tie_word_embeddings = false, or train adapters, which leave it "
                       "as it is",
                       "stages %d and %d would both train %s", stages[0], stages[1],
                       param->file_name);
    }
}

static bool trains(const Program *p, const Graph *graph, int first, int end) {
    for (int i = 0; i < p->param_count; i++)
        if (value_trains(p->params[i].weight) && range_uses(graph, first, end, p->params[i].weight))
            return true;
    return false;
}

static void check_trains(const Program *p, const Spec *spec, const StageCuts *cuts) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int s = 0; s < p->stage.count; s++)
        if (!trains(p, graph, cuts->train[s].at, cuts->train[s + 1].at))
            user_error(spec_pos(spec, KEY_parallelism_pipeline_parallel_degree),
                       "use fewer stages, or say in parallelism.pipeline_split_points where they "
                       "begin",
                       "nothing in stage %d trains, from %s on", s,
                       graph->ops[cuts->train[s].at]->name);
}

/* ---- the stage ------------------------------------------------------------------------------- */

/* Both graphs receive into one place and send from one. */
static void receive(Program *p, const Cut *train, const Cut *evaluate) {
    PipelineStage *stage = &p->stage;
    stage->received = value_stash(p, train->value, train->value->name);
    replace(&p->entry[ENTRY_MICRO_STEP], train->value, stage->received);
    replace(&p->entry[ENTRY_EVALUATE], evaluate->value, stage->received);
    stage->sends_gradient = true;
}

static void send(Program *p, const Cut *train, const Cut *evaluate) {
    ENSURE(value_can_move(evaluate->value) &&
               value_bytes(evaluate->value) == value_bytes(train->value),
           "%s is not sent alike in training and evaluation", train->value->name);
    value_move(evaluate->value, train->value);
    value_set_role(train->value, ROLE_STASH);
    p->stage.sent = p->loss_of_micro_step = train->value;
}

void pass_pipeline(Program *p, const Spec *spec) {
    PipelineStage *stage = &p->stage;
    int64_t s = stage->index;
    Arena arena = {0};
    if (stage->count <= 1)
        return;
    p->mesh.size[AXIS_PIPELINE] = stage->count;
    StageCuts cuts = stage_cuts(p, spec, &arena);
    Graph *train = &p->entry[ENTRY_MICRO_STEP], *evaluate = &p->entry[ENTRY_EVALUATE];
    check_params(p, spec, &cuts);
    check_trains(p, spec, &cuts);
    stage->begins = train->ops[cuts.train[s].at]->name;
    keep_range(p, train, cuts.train[s].at, cuts.train[s + 1].at);
    keep_range(p, evaluate, cuts.evaluate[s].at, cuts.evaluate[s + 1].at);
    if (s > 0)
        receive(p, &cuts.train[s], &cuts.evaluate[s]);
    if (s + 1 < stage->count)
        send(p, &cuts.train[s + 1], &cuts.evaluate[s + 1]);
    keep_load(p);
    keep_params(p);
    keep_places(p);
    arena_free(&arena);
}

/* ---- the step's norm and loss ---------------------------------------------------------------- */

/* What op k reads as operand `which` becomes the sum of all stages', ahead of it. */
static void sum_operand(Program *p, Graph *graph, Op *op, int which, const char *name, Pos pos) {
    Value *mine = op->in[which], *sum = value_alias(p, mine, name);
    Op **ops = graph->ops;
    int count = graph->op_count;
    graph_set_ops(p, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        if (ops[i] == op)
            op_add_into(p, graph, OP_all_reduce, arena_printf(p->arena, "%s.all_reduce", name),
                        &mine, 1, &sum, 1, (Attr){.group = GROUP_PIPELINE}, pos);
        graph_add(p, graph, ops[i]);
    }
    op->in[which] = sum;
}

void pass_pipeline_sums(Program *p, const Spec *spec) {
    enum { SQUARES = 0, LOSS = 3 }; /* operands of clip_factor and of advance_step */
    Graph *update = &p->entry[ENTRY_UPDATE];
    Pos pos = spec_pos(spec, KEY_parallelism_pipeline_parallel_degree);
    Op *clip = graph_find(update, OP_clip_factor), *advance = graph_find(update, OP_advance_step);
    if (p->stage.count <= 1 || !clip)
        return;
    ENSURE(value_overlaps(advance->in[LOSS], p->counters.step_loss), "where is the step's loss?");
    sum_operand(p, update, clip, SQUARES, "grad_norm.squared", pos);
    sum_operand(p, update, advance, LOSS, "step_loss", pos);
}
