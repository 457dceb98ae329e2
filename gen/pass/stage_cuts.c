/* Cuts are found in both forward graphs, and are one where what crosses has one name in both. */
#include "pass/stage_cuts.h"

#include "devices/device.h"

#include <math.h>
#include <string.h>

/* ---- what crosses ---------------------------------------------------------------------------- */

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

/* What is read of the storage from op `at` on, where that is one value and all of it; else NULL. */
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

Cuts cuts_of(const Graph *graph, int storages, Arena *arena) {
    Spans spans = spans_of(graph, storages, arena);
    int *count = arena_array(arena, (size_t)graph->op_count + 2, sizeof *count);
    int *sum = arena_array(arena, (size_t)graph->op_count + 2, sizeof *sum);
    Cuts cuts = {arena_array(arena, (size_t)graph->op_count + 1, sizeof(Cut)), 0};
    for (int id = 0; id < storages; id++) {
        if (spans.first[id] < 0 || spans.last[id] <= spans.first[id])
            continue;
        count[spans.first[id] + 1]++;
        sum[spans.first[id] + 1] += id;
        count[spans.last[id] + 1]--;
        sum[spans.last[id] + 1] -= id;
    }
    for (int i = 1; i < graph->op_count; i++) {
        count[i] += count[i - 1];
        sum[i] += sum[i - 1];
        Value *value = count[i] == 1 ? read_from(graph, i, sum[i]) : NULL;
        if (value && graph_producer(graph, value))
            cuts.items[cuts.count++] = (Cut){i, value};
    }
    return cuts;
}

/* The cut at which the result of the op of that name crosses. */
static const Cut *same_cut(const Graph *graph, const Cuts *cuts, const char *producer) {
    for (int i = 0; i < cuts->count; i++)
        if (!strcmp(graph_producer(graph, cuts->items[i].value)->name, producer))
            return &cuts->items[i];
    return NULL;
}

/* Those of both graphs, in order; the ends of the graphs are the first and the last. */
typedef struct {
    StageCuts cuts;
    int *training; /* ops in front of it that read what trains */
    int count;
} Choice;

static bool reads_trained(const Op *op) {
    for (int k = 0; k < op->in_count; k++)
        if (value_trains(op->in[k]))
            return true;
    return false;
}

static int *count_training(const Program *p, Arena *arena) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int *training = arena_array(arena, (size_t)graph->op_count + 1, sizeof *training);
    for (int i = 0; i < graph->op_count; i++)
        training[i + 1] = training[i] + reads_trained(graph->ops[i]);
    return training;
}

/* A stage trains something, so a cut is of use where something trains on both sides. */
static Choice choice_of(const Program *p, Arena *arena) {
    const Graph *train = &p->entry[ENTRY_MICRO_STEP], *evaluate = &p->entry[ENTRY_EVALUATE];
    Cuts a = cuts_of(train, p->storage_count, arena),
         b = cuts_of(evaluate, p->storage_count, arena);
    size_t room = (size_t)a.count + 2;
    Choice c = {{arena_array(arena, room, sizeof(Cut)), arena_array(arena, room, sizeof(Cut))},
                arena_array(arena, room, sizeof(int)),
                1};
    const int *training = count_training(p, arena);
    for (int i = 0; i < a.count; i++) {
        int before = training[a.items[i].at];
        const Cut *other = same_cut(evaluate, &b, graph_producer(train, a.items[i].value)->name);
        if (!other || other->at <= c.cuts.evaluate[c.count - 1].at || before == 0 ||
            before == training[train->op_count])
            continue;
        c.training[c.count] = before;
        c.cuts.train[c.count] = a.items[i];
        c.cuts.evaluate[c.count++] = *other;
    }
    c.training[c.count] = training[train->op_count];
    c.cuts.train[c.count] = (Cut){train->op_count, NULL};
    c.cuts.evaluate[c.count++] = (Cut){evaluate->op_count, NULL};
    return c;
}

/* ---- which of them --------------------------------------------------------------------------- */

static const char *begins(const Program *p, const Choice *c, int i) {
    return p->entry[ENTRY_MICRO_STEP].ops[c->cuts.train[i].at]->name;
}

/* A few places where a stage can begin, for people. */
static const char *places_text(const Program *p, const Choice *c, Arena *arena) {
    enum { SHOWN = 6 };
    const char *text = "";
    int inner = c->count - 2, step = inner > SHOWN ? inner / SHOWN : 1;
    for (int i = 1; i <= inner; i += step)
        text = arena_printf(arena, "%s%s%s", text, i > 1 ? ", " : "", begins(p, c, i));
    return text;
}

static bool is_module(const char *op, const char *module) {
    size_t length = strlen(module);
    return !strncmp(op, module, length) && (op[length] == '.' || !op[length]);
}

/* The cut in front of the first op of a module. */
static int named_cut(const Program *p, const Choice *c, const char *module, Pos pos, Arena *arena) {
    for (int i = 1; i + 1 < c->count; i++)
        if (is_module(begins(p, c, i), module) && !is_module(begins(p, c, i - 1), module))
            return i;
    user_error(
        pos,
        arena_printf(arena, "a stage can begin with, among others: %s", places_text(p, c, arena)),
        "no stage can begin with \"%s\"", module);
}

static void take_named(const Program *p, const Spec *spec, const Choice *c, int *chosen,
                       Arena *arena) {
    const Strings *names = &spec->parallelism.pipeline_split_points;
    for (int i = 0; i < names->count; i++) {
        chosen[i + 1] = named_cut(p, c, names->items[i], names->at[i], arena);
        if (chosen[i + 1] <= chosen[i])
            user_error(names->at[i], "name them in the order of the model",
                       "\"%s\" does not come after what the stage before it begins with",
                       names->items[i]);
    }
}

/* Time of the ops in front of each cut, forward. */
static double *times_before(const Program *p, const Spec *spec, const Choice *c, Arena *arena) {
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    double *before = arena_array(arena, (size_t)c->count, sizeof *before), ms = 0;
    for (int i = 0, cut = 1; i < graph->op_count; i++) {
        ms += device_op_ms(device, p, graph->ops[i]);
        for (; cut < c->count && c->cuts.train[cut].at == i + 1; cut++)
            before[cut] = ms;
    }
    return before;
}

/* slowest[s][k]: the least that the slowest of s + 1 stages takes that end at cut k; from[s][k]: where
 * the last of them begins. */
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

/* Each training something. */
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
            "the model has no %d stages that each train something and hand on one activation "
            "alone",
            stages);
    int *chosen = arena_array(arena, (size_t)stages + 1, sizeof *chosen);
    if (spec->parallelism.pipeline_split_points.count)
        take_named(p, spec, &c, chosen, arena);
    else
        take_balanced(p, spec, &c, stages, chosen, arena);
    chosen[stages] = c.count - 1;
    size_t room = (size_t)stages + 1;
    StageCuts cuts = {arena_array(arena, room, sizeof(Cut)), arena_array(arena, room, sizeof(Cut))};
    for (int i = 0; i <= stages; i++) {
        cuts.train[i] = c.cuts.train[chosen[i]];
        cuts.evaluate[i] = c.cuts.evaluate[chosen[i]];
    }
    return cuts;
}
