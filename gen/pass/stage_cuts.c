/* Cuts are found in all forward graphs. Cuts of two graphs are the same if the ops that make the
 * crossing values have the same names. */
#include "pass/stage_cuts.h"

#include "devices/device.h"

#include <math.h>
#include <string.h>

/* ---- what crosses ---------------------------------------------------------------------------- */

typedef struct {
    Cut *items;
    int count;
} Cuts;

static bool reads_trained(const Op *op) {
    for (int k = 0; k < op->in_count; k++)
        if (value_trains(op->in[k]))
            return true;
    return false;
}

/* By storage id: the op that writes it first and the one that reads it last; -1: none. */
typedef struct {
    int *first, *last;
} Spans;

static Spans spans_of(const Graph *graph, int storages, Arena *arena) {
    Spans s = {arena_array(arena, (size_t)storages + 1, sizeof(int)),
               arena_array(arena, (size_t)storages + 1, sizeof(int))};
    for (int i = 0; i < storages; i++)
        s.first[i] = s.last[i] = -1;
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        for (int k = 0; k < op->in_count; k++)
            s.last[op->in[k]->storage->id] = i;
        for (int k = 0; k < op->out_count; k++)
            if (op->out[k]->role == ROLE_ACTIVATION && s.first[op->out[k]->storage->id] < 0)
                s.first[op->out[k]->storage->id] = i;
    }
    return s;
}

/* The value that ops from `at` on read of the storage, if it is only one and can move; else
 * NULL. */
static Value *read_from(const Graph *graph, int at, int storage) {
    Value *found = NULL;
    for (int i = at; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->in_count; k++) {
            Value *v = graph->ops[i]->in[k];
            if (v->storage->id != storage)
                continue;
            if (found && found != v)
                return NULL;
            found = v;
        }
    return found && value_can_move(found) ? found : NULL;
}

/* By storage id: whether its contents depend on trained parameters. */
static bool *trained_storages(const Graph *graph, int storages, Arena *arena) {
    bool *trained = arena_array(arena, (size_t)storages + 1, sizeof *trained);
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        bool any = reads_trained(op);
        for (int k = 0; k < op->in_count; k++)
            any |= trained[op->in[k]->storage->id];
        for (int k = 0; k < op->out_count; k++)
            trained[op->out[k]->storage->id] |= any;
    }
    return trained;
}

static bool crosses(const Spans *spans, int storage, int at) {
    return spans->first[storage] >= 0 && spans->first[storage] < at && spans->last[storage] >= at;
}

/* Collects the crossing values in the order in which the graph makes them; false if there is no
 * cut. `trained` NULL: no value has a gradient. */
static bool find_crossing(const Graph *graph, const Spans *spans, const bool *trained, int storages,
                          Cut *cut) {
    int gradients = 0;
    for (int id = 0; id < storages; id++) {
        if (!crosses(spans, id, cut->at))
            continue;
        Value *v = read_from(graph, cut->at, id);
        if (!v || !graph_producer(graph, v))
            return false;
        int place = cut->count++;
        for (; place > 0 && graph_producer(graph, cut->value[place - 1])->id >
                                graph_producer(graph, v)->id;
             place--)
            cut->value[place] = cut->value[place - 1];
        cut->value[place] = v;
    }
    for (int i = 0; i < cut->count; i++)
        if (trained && trained[cut->value[i]->storage->id]) {
            cut->trained = i;
            gradients++;
        }
    return !trained || gradients == 1;
}

/* Whether the op must stay with the product before it, from whose weights its norms are
 * computed. */
static bool stays_behind(const Op *op) { return op->kind == OP_scale_columns; }

static Cuts cuts_of(const Graph *graph, int storages, bool backward, Arena *arena) {
    Spans spans = spans_of(graph, storages, arena);
    const bool *trained = backward ? trained_storages(graph, storages, arena) : NULL;
    int *change = arena_array(arena, (size_t)graph->op_count + 2, sizeof *change), count = 0;
    Cuts cuts = {arena_array(arena, (size_t)graph->op_count + 1, sizeof(Cut)), 0};
    for (int id = 0; id < storages; id++) {
        if (spans.first[id] < 0 || spans.last[id] <= spans.first[id])
            continue;
        change[spans.first[id] + 1]++;
        change[spans.last[id] + 1]--;
    }
    for (int i = 1; i < graph->op_count; i++) {
        Cut cut = {.at = i};
        count += change[i];
        if (count >= 1 && count <= MAX_CROSSING && !stays_behind(graph->ops[i]) &&
            find_crossing(graph, &spans, trained, storages, &cut))
            cuts.items[cuts.count++] = cut;
    }
    return cuts;
}

/* The op's name without the "reference." that copies of the model's ops have in front. */
static const char *model_name(const Op *op) {
    static const char copy[] = "reference.";
    return op->name + (strncmp(op->name, copy, strlen(copy)) ? 0 : strlen(copy));
}

static bool is_same(const Graph *a, const Cut *in_a, const Graph *b, const Cut *in_b) {
    bool same = in_a->count == in_b->count;
    for (int i = 0; same && i < in_a->count; i++)
        same = !strcmp(model_name(graph_producer(a, in_a->value[i])),
                       model_name(graph_producer(b, in_b->value[i])));
    return same;
}

/* The cuts that all graphs have, in order; the first and the last are the graphs' ends. */
typedef struct {
    StageCuts cuts;
    int *training; /* by cut: number of ops before it that read trained parameters */
    int count;
} Choice;

static int *count_training(const Graph *graph, Arena *arena) {
    int *training = arena_array(arena, (size_t)graph->op_count + 1, sizeof *training);
    for (int i = 0; i < graph->op_count; i++)
        training[i + 1] = training[i] + reads_trained(graph->ops[i]);
    return training;
}

/* Appends a cut of each graph. */
static void choose(Choice *c, const Cut *cuts, int training) {
    c->training[c->count] = training;
    for (int g = 0; g < c->cuts.count; g++)
        c->cuts.graph[g].cuts[c->count] = cuts[g];
    c->count++;
}

static void chosen_before(const Choice *c, int i, Cut *cuts) {
    for (int g = 0; g < c->cuts.count; g++)
        cuts[g] = c->cuts.graph[g].cuts[i];
}

/* Keeps only the cuts that the fewest activations cross. */
static void keep_narrowest(Choice *c) {
    const Cut *train = c->cuts.graph[0].cuts;
    int least = MAX_CROSSING, count = c->count;
    Cut cuts[MOST_STAGED];
    for (int i = 1; i < count; i++)
        least = train[i].count < least ? train[i].count : least;
    c->count = 1;
    for (int i = 1; i < count; i++)
        if (train[i].count == least) {
            chosen_before(c, i, cuts);
            choose(c, cuts, c->training[i]);
        }
}

/* Index of a graph's first cut, from `from` on, that is the same as micro_step's; cuts->count:
 * none. */
static int find_same(const StageCuts *all, int graph, const Cuts *cuts, int from,
                     const Cut *train) {
    const StagedGraph *staged = all->graph;
    int at = from;
    while (at < cuts->count &&
           !is_same(&staged[0].order, train, &staged[graph].order, &cuts->items[at]))
        at++;
    return at;
}

/* Finds the same cut in all graphs, in each from index `next` on; false if some graph lacks it. */
static bool find_in_all(const StageCuts *all, const Cuts *cuts, int *next, Cut *found) {
    int at[MOST_STAGED];
    for (int g = 1; g < all->count; g++) {
        at[g] = find_same(all, g, &cuts[g], next[g], &found[0]);
        if (at[g] == cuts[g].count)
            return false;
        found[g] = cuts[g].items[at[g]];
    }
    for (int g = 1; g < all->count; g++)
        next[g] = at[g] + 1;
    return true;
}

/* Each stage has to train something, so a cut is useful only if something trains on both sides. */
static void choose_common(const Program *p, Choice *c, const int *training, Arena *arena) {
    const StagedGraph *staged = c->cuts.graph;
    Cuts cuts[MOST_STAGED] = {0};
    int next[MOST_STAGED] = {0};
    for (int g = 0; g < c->cuts.count; g++)
        cuts[g] = cuts_of(&staged[g].order, p->storage_count,
                          staged[g].graph != &p->entry[ENTRY_REFERENCE], arena);
    for (int i = 0; i < cuts[0].count; i++) {
        Cut found[MOST_STAGED] = {cuts[0].items[i]};
        int before = training[found[0].at];
        if (before > 0 && before < training[staged[0].order.op_count] &&
            find_in_all(&c->cuts, cuts, next, found))
            choose(c, found, before);
    }
    keep_narrowest(c);
}

static StageCuts staged_graphs(Program *p, size_t room, Arena *arena) {
    static const Entry entries[] = {ENTRY_MICRO_STEP, ENTRY_EVALUATE, ENTRY_REFERENCE};
    StageCuts all = {0};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        Graph *graph = &p->entry[entries[i]];
        if (graph->op_count)
            all.graph[all.count++] = (StagedGraph){graph, stage_order(p, graph, arena),
                                                   arena_array(arena, room, sizeof(Cut))};
    }
    return all;
}

static Choice choice_of(Program *p, Arena *arena) {
    size_t room = (size_t)p->entry[ENTRY_MICRO_STEP].op_count + 2;
    Choice c = {.cuts = staged_graphs(p, room, arena),
                .training = arena_array(arena, room, sizeof(int)),
                .count = 1};
    const StagedGraph *train = &c.cuts.graph[0];
    const int *training = count_training(&train->order, arena);
    Cut ends[MOST_STAGED] = {0};
    choose_common(p, &c, training, arena);
    for (int g = 0; g < c.cuts.count; g++)
        ends[g].at = c.cuts.graph[g].order.op_count;
    choose(&c, ends, training[train->order.op_count]);
    return c;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static const char *begins(const Choice *c, int i) {
    const StagedGraph *train = &c->cuts.graph[0];
    return train->order.ops[train->cuts[i].at]->name;
}

/* A few places where a stage can begin, for people. */
static const char *places_text(const Choice *c, Arena *arena) {
    enum { SHOWN = 6 };
    const char *text = "";
    int inner = c->count - 2, step = inner > SHOWN ? inner / SHOWN : 1;
    for (int i = 1; i <= inner; i += step)
        text = arena_printf(arena, "%s%s%s", text, i > 1 ? ", " : "", begins(c, i));
    return text;
}

static bool is_module(const char *op, const char *module) {
    size_t length = strlen(module);
    return !strncmp(op, module, length) && (op[length] == '.' || !op[length]);
}

/* The cut before the first op of a module. */
static int named_cut(const Choice *c, const char *module, Pos pos, Arena *arena) {
    for (int i = 1; i + 1 < c->count; i++)
        if (is_module(begins(c, i), module) && !is_module(begins(c, i - 1), module))
            return i;
    user_error(
        pos,
        arena_printf(arena, "a stage can begin with, among others: %s", places_text(c, arena)),
        "no stage can begin with \"%s\"", module);
}

static void take_named(const Spec *spec, const Choice *c, int *chosen,
                       Arena *arena) {
    const Strings *names = &spec->parallelism.pipeline_split_points;
    for (int i = 0; i < names->count; i++) {
        chosen[i + 1] = named_cut(c, names->items[i], names->at[i], arena);
        if (chosen[i + 1] <= chosen[i])
            user_error(names->at[i], "list split points in the order of the model",
                       "\"%s\" does not come after the beginning of the previous stage",
                       names->items[i]);
    }
}

/* Forward time of the ops before each cut. */
static double *times_before(const Program *p, const Spec *spec, const Choice *c, Arena *arena) {
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    const Graph *graph = &c->cuts.graph[0].order;
    const Cut *cuts = c->cuts.graph[0].cuts;
    double *before = arena_array(arena, (size_t)c->count, sizeof *before), ms = 0;
    for (int i = 0, cut = 1; i < graph->op_count; i++) {
        ms += device_op_ms(device, p, graph->ops[i]);
        for (; cut < c->count && cuts[cut].at == i + 1; cut++)
            before[cut] = ms;
    }
    return before;
}

/* slowest[s][k]: the shortest possible time of the slowest of s + 1 stages that end at cut k;
 * from[s][k]: the cut where the last of these stages begins. */
static void take_balanced(const Program *p, const Spec *spec, const Choice *c, int stages,
                          int *chosen, Arena *arena) {
    const double *before = times_before(p, spec, c, arena);
    size_t room = (size_t)(stages * c->count);
    double *slowest = arena_array(arena, room, sizeof *slowest);
    int *from = arena_array(arena, room, sizeof *from), count = c->count;
    for (int k = 0; k < count; k++)
        slowest[k] = before[k];
    for (int s = 1; s < stages; s++)
        for (int k = 0; k < count; k++) {
            slowest[s * count + k] = INFINITY;
            for (int j = s; j < k; j++) {
                double ms = fmax(slowest[(s - 1) * count + j], before[k] - before[j]);
                if (c->training[k] > c->training[j] && ms < slowest[s * count + k]) {
                    slowest[s * count + k] = ms;
                    from[s * count + k] = j;
                }
            }
        }
    for (int s = stages - 1, k = count - 1; s > 0; s--)
        chosen[s] = k = from[s * count + k];
}

/* The largest number of stages that each train something. */
static int most_stages(const Choice *c) {
    int stages = 0;
    for (int k = 1, last = 0; k < c->count; k++)
        if (c->training[k] > c->training[last]) {
            last = k;
            stages++;
        }
    return stages;
}

StageCuts stage_cuts(Program *p, const Spec *spec, Arena *arena) {
    Choice c = choice_of(p, arena);
    int stages = (int)p->stage.count;
    Pos pos = spec_pos(spec, KEY_parallelism_pipeline_parallel_degree);
    if (stages > most_stages(&c))
        user_error(
            pos, arena_printf(arena, "use at most %d", most_stages(&c)),
            "the model cannot be cut into %d stages that each train something and send at "
            "most two activations",
            stages);
    int *chosen = arena_array(arena, (size_t)stages + 1, sizeof *chosen);
    if (spec->parallelism.pipeline_split_points.count)
        take_named(spec, &c, chosen, arena);
    else
        take_balanced(p, spec, &c, stages, chosen, arena);
    chosen[stages] = c.count - 1;
    StageCuts cuts = c.cuts;
    for (int g = 0; g < cuts.count; g++) {
        cuts.graph[g].cuts = arena_array(arena, (size_t)stages + 1, sizeof(Cut));
        for (int i = 0; i <= stages; i++)
            cuts.graph[g].cuts[i] = c.cuts.graph[g].cuts[chosen[i]];
    }
    return cuts;
}
