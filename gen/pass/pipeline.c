/* Pipeline parallelism (Huang et al., arXiv 1811.06965; Narayanan et al., arXiv 1806.03377): the
 * model is cut into stages, one per card, and a step's micro-batches pass through them one after
 * another.
 *
 * Requires the whole forward graphs. Leaves one stage of them with its parameters, so that later
 * passes see a small program: it receives an activation instead of computing it, ends with one that
 * it sends instead of with a loss, and autodiff takes gradients the other way. (Several activations
 * may cross if weights are read several times.) A weight that both the first and the last stage
 * train is in both, and each has a part of its gradient (Param.partial), as in Megatron-LM.
 * pass_pipeline_sums, after the update has been built, sums a step's norm, loss and metrics over
 * all stages. */
#include "graph/op_table.h"
#include "pass/ddp.h"
#include "pass/pass.h"
#include "pass/stage_cuts.h"

#include <string.h>

/* ---- what belongs to the stage --------------------------------------------------------------- */

/* Keeps the ops between two cuts, in the graph's own order. */
static void keep_range(Program *p, Graph *graph, const Graph *order, int first, int end) {
    bool *kept = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *kept);
    for (int i = first; i < end; i++)
        kept[order->ops[i]->id] = true;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        if (kept[i])
            graph_add(p, graph, old.ops[i]);
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

/* Drops what load computes only for other stages. */
static void keep_load(Program *p) {
    Graph *load = &p->entry[ENTRY_LOAD];
    const Graph old = graph_take(load);
    int kept = old.op_count;
    for (int i = old.op_count - 1; i >= 0; i--) {
        bool used = false;
        for (int k = 0; k < old.ops[i]->out_count; k++)
            used |= is_used(p, old.ops[i]->out[k]);
        if (!used)
            continue;
        old.ops[--kept] = old.ops[i];
        graph_set_ops(p, load, old.ops + kept, old.op_count - kept);
    }
}

static void keep_places(Program *p) {
    int count = 0;
    for (int i = 0; i < p->group_rank_count; i++)
        if (is_used(p, p->group_ranks[i].value))
            p->group_ranks[count++] = p->group_ranks[i];
    p->group_rank_count = count;
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

/* Only the stage that computes a value tells the loader its place. */
static void keep_settings(Program *p) {
    LoaderSettings *settings = &p->loader;
    int count = 0;
    for (int i = 0; i < settings->count; i++)
        if (settings->items[i].kind != SETTING_PLACE || is_used(p, settings->items[i].place))
            settings->items[count++] = settings->items[i];
    settings->count = count;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bool range_uses(const Graph *graph, int first, int end, const Value *v) {
    Graph part = {.ops = graph->ops + first, .op_count = end - first};
    return graph_uses(&part, v);
}

typedef struct {
    int first, last, count;
} Users;

static Users users_of(const Program *p, const StageCuts *cuts, const Value *weight) {
    const StagedGraph *train = &cuts->graph[0];
    Users users = {0};
    for (int s = 0; s < p->stage.count; s++)
        if (range_uses(&train->order, train->cuts[s].at, train->cuts[s + 1].at, weight)) {
            users.first = users.count++ ? users.first : s;
            users.last = s;
        }
    return users;
}

/* A trained weight is in one stage, or in the first and the last, as embedding and head. Both of
 * these make the same update from the sum of their gradients. */
static void share_params(Program *p, const StageCuts *cuts) {
    for (int i = 0; i < p->param_count; i++) {
        Param *param = &p->params[i];
        Users users = users_of(p, cuts, param->weight);
        if (users.count < 2 || param->weight->role == ROLE_FROZEN)
            continue;
        ENSURE(value_trains(param->weight) && !param->partial && users.count == 2 &&
                   users.first == 0 && users.last + 1 == p->stage.count,
               "stages %d and %d would both train %s", users.first, users.last, param->file_name);
        param->partial = GROUP_ENDS;
        p->stage.shares_ends = true;
    }
}

static bool trains(const Program *p, const Graph *graph, int first, int end) {
    for (int i = 0; i < p->param_count; i++)
        if (value_trains(p->params[i].weight) && range_uses(graph, first, end, p->params[i].weight))
            return true;
    return false;
}

static void check_trains(const Program *p, const Spec *spec, const StageCuts *cuts) {
    const Graph *graph = &cuts->graph[0].order;
    const Cut *train = cuts->graph[0].cuts;
    for (int s = 0; s < p->stage.count; s++)
        if (!trains(p, graph, train[s].at, train[s + 1].at))
            user_error(spec_pos(spec, KEY_parallelism_pipeline_parallel_degree),
                       "use fewer stages, or choose where they begin with "
                       "parallelism.pipeline_split_points",
                       "stage %d, which begins with %s, trains nothing", s,
                       graph->ops[train[s].at]->name);
}

/* ---- the stage ------------------------------------------------------------------------------- */

/* Where the activations that cross a cut are, together and one by one. */
typedef struct {
    Value *all, *part[MAX_CROSSING];
} Crossing;

/* Places them one after another, so that they are one message. */
static Crossing crossing_of(Program *p, const Cut *cut) {
    const Value *first = cut->value[0];
    Crossing c = {0};
    if (cut->count == 1) {
        c.all = c.part[0] = value_stash(p, first, first->name);
        return c;
    }
    int64_t elements = 0, offset = 0;
    for (int i = 0; i < cut->count; i++)
        elements += value_elements(cut->value[i]);
    c.all = value_1d(p, arena_printf(p->arena, "%s.and_more", first->name), ROLE_STASH,
                     first->dtype, elements, first->pos);
    for (int i = 0; i < cut->count; i++) {
        const Value *v = cut->value[i];
        ENSURE(v->dtype == first->dtype, "%s crosses beside %s", v->name, first->name);
        c.part[i] = value_at(p, c.all, offset, v->rank, v->dim, v->name);
        c.part[i]->plane = v->plane;
        offset += value_elements(v);
    }
    return c;
}

/* All graphs receive into the same place and send from the same place. */
static void receive(Program *p, const StageCuts *all, int64_t at) {
    const Cut *train = &all->graph[0].cuts[at];
    Crossing c = crossing_of(p, train);
    p->stage.received = c.all;
    p->stage.trained = c.part[train->trained];
    for (int g = 0; g < all->count; g++)
        for (int i = 0; i < train->count; i++)
            replace(all->graph[g].graph, all->graph[g].cuts[at].value[i], c.part[i]);
}

static void send(Program *p, const StageCuts *all, int64_t at) {
    const Cut *train = &all->graph[0].cuts[at];
    Crossing c = crossing_of(p, train);
    for (int g = 0; g < all->count; g++)
        for (int i = 0; i < train->count; i++) {
            Value *v = all->graph[g].cuts[at].value[i];
            ENSURE(value_can_move(v) && value_bytes(v) == value_bytes(train->value[i]),
                   "%s is not sent alike by all entries", v->name);
            value_move(v, c.part[i]);
        }
    value_set_role(c.all, ROLE_STASH);
    p->stage.sent = c.all;
    p->loss_of_micro_step = train->value[train->trained];
}

bool pass_pipeline(Program *p, const Spec *spec) {
    PipelineStage *stage = &p->stage;
    int64_t s = stage->index;
    Arena arena = {0};
    if (stage->count <= 1)
        return false;
    p->mesh.size[AXIS_PIPELINE] = stage->count;
    StageCuts cuts = stage_cuts(p, spec, &arena);
    const StagedGraph *train = &cuts.graph[0];
    check_trains(p, spec, &cuts);
    share_params(p, &cuts);
    stage->begins = train->order.ops[train->cuts[s].at]->name;
    for (int g = 0; g < cuts.count; g++) {
        const StagedGraph *staged = &cuts.graph[g];
        keep_range(p, staged->graph, &staged->order, staged->cuts[s].at, staged->cuts[s + 1].at);
    }
    if (s > 0)
        receive(p, &cuts, s);
    if (s + 1 < stage->count)
        send(p, &cuts, s + 1);
    keep_load(p);
    keep_params(p);
    keep_places(p);
    keep_settings(p);
    arena_free(&arena);
    return true;
}

/* ---- the step's norm and loss ---------------------------------------------------------------- */

static void add_sum(Program *p, Graph *graph, Value *mine, Value *sum, Pos pos) {
    op_add_into(p, graph, OP_all_reduce, arena_printf(p->arena, "%s.all_reduce", sum->name), &mine,
                1, &sum, 1, (Attr){.group = GROUP_PIPELINE}, pos);
}

/* The result of the last op that wrote v's place, or v itself. */
static Value *as_summed(const Graph *graph, Value *v) {
    for (int i = graph->op_count - 1; i >= 0; i--)
        for (int k = 0; k < graph->ops[i]->out_count; k++)
            if (value_same_place(graph->ops[i]->out[k], v))
                return graph->ops[i]->out[k];
    return v;
}

/* Adds the sum over stages before the first op, other than a collective, that reads `mine`. From
 * there on all ops read the sum. */
static void sum_first(Program *p, Graph *graph, Value *mine, const char *name, Pos pos) {
    Value *sum = value_alias(p, mine, name);
    bool found = false;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        const Op *op = old.ops[i];
        for (int k = 0; k < op->in_count && !found; k++)
            if (!op_is(op, TRAIT_COLLECTIVE) && value_overlaps(op->in[k], mine)) {
                add_sum(p, graph, as_summed(graph, mine), sum, pos);
                read_sums(p, old.ops + i, old.op_count - i, sum);
                found = true;
            }
        graph_add(p, graph, old.ops[i]);
    }
    ENSURE(found, "nothing reads %s", name);
}

/* The step's loss, followed by its metrics, as one value. */
static Value *step_figures(Program *p) {
    Value *loss = p->counters.step_loss, *last = loss;
    for (int i = 0; i < p->counters.metric_count; i++)
        if (p->counters.metrics[i].step_sum)
            last = p->counters.metrics[i].step_sum;
    if (last == loss)
        return loss;
    if (last->storage != loss->storage)
        join_metrics(p, loss, "step_figures");
    return value_at(p, value_whole(p, loss->storage), loss->offset, 1,
                    (int64_t[]){last->offset + 1 - loss->offset}, "step_figures");
}

bool pass_pipeline_sums(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    Pos pos = spec_pos(spec, KEY_parallelism_pipeline_parallel_degree);
    Op *clip = graph_find(update, OP_clip_factor);
    if (p->stage.count <= 1 || !clip)
        return false;
    Value *figures = step_figures(p);
    sum_first(p, update, clip->in[0], "grad_norm.squared", pos);
    sum_first(p, update, figures, figures->name, pos);
    return true;
}
