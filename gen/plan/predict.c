/* What the plan should cost on its device.
 *
 * There are three counts of bytes. `issued`: what threads ask for (launch_work). `dram`: every
 * operand and result once per launch, and again what a kernel has displaced from the L2 cache when it
 * rereads its rows, but no more than was issued and without hits in that cache (cache.c). `least`: what
 * would still move if every chain of elementwise and row ops were one kernel together with the
 * template before it, whatever the data. `least` is counted from the graph only, so that the ratio of
 * `issued` to it tells how well the launches were chosen. So are the model's FLOPs, which therefore
 * depend on no layout and no choice of kernels. */
#include "graph/op_table.h"
#include "plan/cache.h"
#include "plan/collectives.h"
#include "plan/figures.h"
#include "plan/group.h"
#include "plan/plan_steps.h"
#include "plan/skeleton.h"
#include "plan/streams.h"
#include "plan/work.h"

#include <math.h>
#include <string.h>

/* ---- least bytes ----------------------------------------------------------------------------- */

/* Values by their storage, in lists. */
typedef struct {
    const Value **first; /* by storage id; NULL: none */
    const Value **next;  /* by value id */
} Views;

/* The lists leave out views that this graph neither makes nor reads: the storage of adapters may have
 * one per layer and weight, and a look through all of them for each of them takes their square. */
typedef struct {
    const Program *program;
    const GraphUses *uses;
    Views made, read; /* by an op; by a body */
    bool *counted;    /* by value id: bodies' reads of the value from memory are counted */
} Least;

static bool has_body(const Op *op) { return op_table[op->kind].expand != NULL; }

/* Whether a body that follows could get the op's results within the op's own kernel. */
static bool hands_on(const Op *op) { return has_body(op) || op_has_epilogue(op); }

static Views views_new(const Program *p, Arena *arena) {
    return (Views){arena_array(arena, (size_t)p->storage_count + 1, sizeof(Value *)),
                   arena_array(arena, (size_t)p->value_count + 1, sizeof(Value *))};
}

static void views_add(Views *views, const Value *v) {
    views->next[v->id] = views->first[v->storage->id];
    views->first[v->storage->id] = v;
}

static bool is_read_by_body(const GraphUses *uses, const Value *v) {
    int readers;
    Op *const *reader = use_readers(uses, v, &readers);
    for (int i = 0; i < readers; i++)
        if (has_body(reader[i]))
            return true;
    return false;
}

static Least least_new(const Program *p, const GraphUses *uses, Arena *arena) {
    Least least = {p, uses, views_new(p, arena), views_new(p, arena),
                   arena_array(arena, (size_t)p->value_count + 1, sizeof(bool))};
    for (int i = 0; i < uses->value_count; i++) {
        if (use_maker(uses, p->values[i]))
            views_add(&least.made, p->values[i]);
        if (is_read_by_body(uses, p->values[i]))
            views_add(&least.read, p->values[i]);
    }
    return least;
}

/* Whether a body after the op reads any of v, under whatever name. */
static bool part_read_by_body(const Least *least, const Op *op, const Value *v) {
    const Views *read = &least->read;
    for (const Value *view = read->first[v->storage->id]; view; view = read->next[view->id]) {
        int readers = 0;
        Op *const *reader = value_overlaps(view, v) ? use_readers(least->uses, view, &readers) : NULL;
        for (int i = 0; i < readers; i++)
            if (reader[i]->id > op->id && has_body(reader[i]))
                return true;
    }
    return false;
}

/* Whether the op's result has readers, and each could get it within the kernel that makes it. What is
 * read under other names only, as decoded weights are together with what lies beside them, has no
 * reader of its own; then one body among those is enough. */
static bool read_by_bodies(const Least *least, const Op *op, const Value *v) {
    int readers;
    Op *const *reader = use_readers(least->uses, v, &readers);
    for (int i = 0; i < readers; i++)
        if (!has_body(reader[i]))
            return false;
    return readers > 0 || part_read_by_body(least, op, v);
}

/* The share of v that a body could get within the kernels that make it, or parts of it under names of
 * their own. */
static double share_handed_on(const Least *least, const Op *body, const Value *v) {
    const Views *made = &least->made;
    const Op *writer = use_maker(least->uses, v);
    double bytes = 0;
    if (writer)
        return hands_on(writer);
    for (const Value *view = made->first[v->storage->id]; view; view = made->next[view->id]) {
        writer = use_maker(least->uses, view);
        if (value_overlaps(view, v) && writer->id < body->id && hands_on(writer))
            bytes += (double)value_bytes(view);
    }
    return fmin(bytes / (double)value_bytes(v), 1);
}

/* Whether a body overwrites it in place, so that one kernel could write for both ops. */
static bool is_overwritten(const GraphUses *uses, const Value *v) {
    int readers;
    Op *const *reader = use_readers(uses, v, &readers);
    for (int i = 0; i < readers; i++)
        for (int k = 0; k < reader[i]->out_count; k++)
            if (has_body(reader[i]) && value_same_place(reader[i]->out[k], v))
                return true;
    return false;
}

static int read_operands(const Op *op) {
    return op->in_count && op_is(op, TRAIT_NAMES) ? op->in_count - 1 : op->in_count;
}

/* Whether it is a table with a number per step. */
static bool is_of_steps(const Program *p, const Value *v) {
    const Counters *c = &p->counters;
    const Value *tables[] = {c->lr, c->loss, c->grad_norm, c->bias_correction1,
                             c->bias_correction2_sqrt};
    bool found = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        found |= tables[i] && tables[i]->storage == v->storage;
    for (int i = 0; i < c->metric_count; i++)
        found |= c->metrics[i].history && c->metrics[i].history->storage == v->storage;
    return found;
}

/* Elements that a launch touches if it touches the value; of a table, that of the step. */
static double touched_elements(const Program *p, const Value *v) {
    return v->role == ROLE_COUNTER && is_of_steps(p, v) ? 1 : (double)value_elements(v);
}

static double written_bytes(const Program *p, const Value *v) {
    return touched_elements(p, v) * dtype_bytes(v->dtype);
}

/* Bytes read of a value to make `made` elements; of a data set, only selected rows are read. */
static double read_bytes(const Program *p, const Value *v, double made) {
    double all = touched_elements(p, v);
    return (v->role == ROLE_DATASET ? fmin(all, made) : all) * dtype_bytes(v->dtype);
}

/* Whether only the data knows how much of v the op touches: of a table with a row per id, the rows of
 * different ids; of what the gradient of such a table reads, only rows of the rank's own ids. */
static bool goes_by_ids(const Op *op, const Value *v) {
    if (!op_is(op, TRAIT_EMBEDS))
        return false;
    return value_same_place(v, op->in[op->in_count - 1]) || (op->attr.group && v == op->in[1]);
}

/* Whether the op could make the operand itself, by the steps of the op before it. */
static bool could_make(const GraphUses *uses, const Op *op, int operand) {
    const Op *writer = use_maker(uses, op->in[operand]);
    return operand == 0 && op_is(op, TRAIT_PROLOGUE) && writer && has_body(writer);
}

/* Bytes that this op adds to those that any choice of kernels moves. */
static double least_of(Least *least, const Op *op) {
    const Program *p = least->program;
    const GraphUses *uses = least->uses;
    double bytes = 0;
    for (int k = 0; k < read_operands(op); k++) {
        const Value *v = op->in[k];
        if (goes_by_ids(op, v))
            continue;
        if (!has_body(op))
            bytes += could_make(uses, op, k) ? 0 : (double)value_bytes(v);
        else if (!least->counted[v->id]) {
            double all = read_bytes(p, v, (double)value_elements(op->out[0]));
            bytes += (1 - share_handed_on(least, op, v)) * all;
            least->counted[v->id] = true;
        }
    }
    for (int k = 0; k < op->out_count; k++) {
        const Value *v = op->out[k];
        bool lasts = role_persistent(v->role) && !is_overwritten(uses, v);
        bool needs_memory = !hands_on(op) || lasts || !read_by_bodies(least, op, v);
        if (needs_memory && !goes_by_ids(op, v))
            bytes += written_bytes(p, v);
    }
    return bytes;
}

/* Counts what follows from the graph's ops, each at the first launch that carries it out. */
static void count_ops(const Plan *plan, PlanEntry *entry, const Graph *graph, Arena *arena) {
    if (graph->op_count == 0)
        return;
    Least least = least_new(plan->program, &entry->uses, arena);
    bool *done = arena_array(arena, (size_t)graph->op_count + 1, sizeof *done);
    for (int i = 0; i < entry->launch_count; i++) {
        Launch *launch = &entry->launches[i];
        launch->cost.least_bytes = launch->cost.model_flops = 0;
        for (int k = 0; k < launch->op_count; k++) {
            const Op *op = launch->ops[k];
            if (done[op->id])
                continue;
            launch->cost.least_bytes += least_of(&least, op);
            launch->cost.model_flops += op_model_flops(op);
            done[op->id] = true;
        }
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static double moved_bytes(const Program *p, const Launch *launch) {
    double bytes = 0, made = 0;
    for (int i = 0; i < launch_touch_count(launch); i++) {
        Touched of = launch_touched(launch, i);
        made += of.written ? touched_elements(p, of.value) : 0;
    }
    for (int i = 0; i < launch_touch_count(launch); i++) {
        Touched of = launch_touched(launch, i);
        bytes += (of.read ? read_bytes(p, of.value, made) : 0) +
                 (of.written ? written_bytes(p, of.value) : 0);
    }
    return bytes;
}

static Rate gemm_rate(const Gemm *gemm) {
    if (gemm->compute == COMPUTE_F64)
        return RATE_F64;
    if (gemm->compute == COMPUTE_TF32)
        return RATE_TF32;
    return gemm->a == DT_F32 ? RATE_F32 : RATE_F16;
}

/* A broadcast sends its copies to the other cards through the same links. */
static double copied_bytes(const Plan *plan, const Launch *launch) {
    double bytes = (double)value_bytes(launch->arg[0]);
    bool to_all = launch->ops[0]->attr.purpose == FOR_BROADCAST;
    return to_all ? bytes * (double)(plan->program->cards - 1) : bytes;
}

static double tiled_flops(const Launch *launch) {
    return launch->cost.flops / (launch->tile_share > 0 ? launch->tile_share : 1);
}

/* Bytes that a thread awaits at a time: an access has up to 16, and nvcc unrolls loops by four.
 * Counted, not measured: how many loads are under way is up to ptxas. */
enum { THREAD_UNDER_WAY = 64 };

/* The blocks of a kernel; of other launches they are not known. A template copies the next tiles to
 * shared memory while it works on others there, past the L1 cache. The other kernels find what they
 * read again in that cache. */
static Grid grid_of(const Plan *plan, const Launch *launch) {
    if (launch->kind != LAUNCH_KERNEL)
        return (Grid){0};
    const Kernel *k = &plan->kernels[launch->index];
    return (Grid){
        .count = (double)launch->grid[0] * (double)launch->grid[1] * (double)launch->grid[2],
        .threads = k->threads,
        .shared_bytes = k->shared_bytes,
        .under_way = fmax(THREAD_UNDER_WAY * k->threads, (double)k->shared_bytes / 2),
        .drawn = k->template_name ? launch->cost.issued_bytes : launch->cost.moved_bytes};
}

static double idle_part(const Plan *plan, const Launch *launch) {
    double blocks = grid_of(plan, launch).count;
    return blocks > 0 ? fmax(1 - blocks / plan->device->multiprocessors, 0) : 0;
}

static Time template_time(const Plan *plan, const Launch *launch, Traffic bytes) {
    double own = plan->kernels[launch->index].matmul_share;
    double share = own > 0 ? own : plan->device->fused_share;
    return device_fused_time(plan->device, program_rate(plan->program), share, tiled_flops(launch),
                           bytes, grid_of(plan, launch));
}

static Time peer_copy_time(const Device *device, double bytes) {
    double ms = device_peer_copy_ms(device, bytes), gap_ms = device->kernel_gap_ms;
    return (Time){ms, gap_ms > ms - gap_ms ? BOUND_LAUNCH : BOUND_LINKS};
}

static Time launch_time(const Plan *plan, const Launch *launch) {
    const Device *device = plan->device;
    double flops = launch->cost.flops;
    Traffic bytes = {launch->cost.moved_bytes, launch->cost.dram_bytes};
    if (launch->kind == LAUNCH_GEMM) {
        const Gemm *g = &plan->gemms[launch->index];
        return device_matmul_time(device, gemm_rate(g), (double)g->batch_count, (double)g->m,
                                  (double)g->n, (double)g->k, bytes);
    }
    if (launch->kind == LAUNCH_KERNEL && plan->kernels[launch->index].template_name)
        return template_time(plan, launch, bytes);
    if (launch->kind == LAUNCH_COLLECTIVE)
        return collective_time(plan, launch);
    if (launch->kind == LAUNCH_PEER_COPY)
        return peer_copy_time(device, copied_bytes(plan, launch));
    return device_kernel_time(device, plan->program->real == DT_F64 ? RATE_F64 : RATE_F32, flops,
                              launch->cost.instructions, bytes, grid_of(plan, launch));
}

/* Bytes that a launch reads from memory a second time: where the rows that run at a time do not fit the
 * L2 cache together, it keeps their ends, which are read first again. */
static double displaced_bytes(const Plan *plan, const Launch *launch) {
    const Device *device = plan->device;
    double bytes = launch_reread_bytes(plan, launch);
    if (bytes == 0)
        return 0;
    const Kernel *k = &plan->kernels[launch->index];
    double blocks = skeleton_is_alone(k) ? 1 : device_threads(device) / k->threads;
    double rows = (double)launch_rows(k, launch), at_a_time = device->multiprocessors * blocks;
    double kept = (double)device->l2_kept_bytes * rows / fmin(rows, at_a_time);
    return fmax(bytes - kept, 0);
}

void price_launches(const Plan *plan, PlanEntry *entry) {
    for (int i = 0; i < entry->launch_count; i++) {
        Launch *launch = &entry->launches[i];
        Cost work = launch_work(plan, launch);
        launch->cost.flops = work.flops;
        launch->cost.issued_bytes = work.issued_bytes;
        launch->cost.instructions = work.instructions;
        double moved = moved_bytes(plan->program, launch) + displaced_bytes(plan, launch);
        launch->cost.moved_bytes = fmin(moved, work.issued_bytes);
        launch->cost.dram_bytes = fmax(launch->cost.moved_bytes - launch->cost.cached_bytes, 0);
        Time time = launch_time(plan, launch);
        launch->cost.ms = time.ms;
        launch->bound = time.bound;
        launch->idle = idle_part(plan, launch);
        if (launch_is_programmatic(plan, entry, i))
            launch->cost.ms -= plan->device->kernel_gap_ms - plan->device->programmatic_gap_ms;
        /* Without a graph, the host may take longer to launch than the device to work. */
        if (!plan->spec->compile.cuda_graph && launch->cost.ms < plan->device->launch_ms) {
            launch->cost.ms = plan->device->launch_ms;
            launch->bound = BOUND_HOST;
        }
    }
}

static Cost run_cost(const Plan *plan, const PlanEntry *entry, bool ends_step) {
    Cost cost = {0};
    for (int i = 0; i < entry->launch_count; i++)
        if (ends_step || !entry->launches[i].ends_step)
            cost_add(&cost, &entry->launches[i].cost, 1);
    cost.ms = timeline_ms(plan, entry, ends_step, &cost.slowed_ms);
    return cost;
}

static double input_ms(const Plan *plan) {
    const Device *device = plan->device;
    double rate =
        plan->spec->data.pin_memory ? device->host_rate_pinned : device->host_rate_pageable;
    return 1e3 * (double)plan->arena_bytes[ARENA_INPUT] / rate;
}

static void count_collectives(Plan *plan, Entry entry) {
    for (int i = 0; i < plan->entry[entry].launch_count; i++) {
        const Launch *launch = &plan->entry[entry].launches[i];
        double times = plan_times(plan, entry, launch);
        if (launch->kind != LAUNCH_COLLECTIVE)
            continue;
        Exchanged *sum = &plan->exchanged[plan->collectives[launch->index].kind];
        sum->count += (int)times;
        sum->bytes += times * collective_bytes(plan, launch);
        sum->ms += times * launch->cost.ms;
    }
}

/* The entry's time in a step if collectives took no time. */
static double alone_ms(const Plan *plan, Entry entry) {
    const PlanEntry *of = &plan->entry[entry];
    double others = entry_info(entry)->runs == RUNS_EACH_MICRO_STEP
                        ? (double)plan->program->micro_steps - 1
                        : 0;
    return others * timeline_alone_ms(plan, of, false) + timeline_alone_ms(plan, of, true);
}

/* Counts peer copies, except those that the first card makes from its own memory in collect. */
static void count_copies(Plan *plan, Entry entry, double times) {
    for (int i = 0; i < plan->entry[entry].launch_count; i++) {
        const Launch *launch = &plan->entry[entry].launches[i];
        const Attr *attr = &launch->ops[0]->attr;
        if (launch->kind != LAUNCH_PEER_COPY || (entry == ENTRY_COLLECT && attr->card == 0))
            continue;
        Exchanged *sum = &plan->copies[attr->purpose];
        double bytes = copied_bytes(plan, launch);
        sum->count += (int)(times * bytes / (double)value_bytes(launch->arg[0]));
        sum->bytes += times * bytes;
        sum->ms += times * launch->cost.ms;
    }
}

/* Sum over a step's launches other than collectives, as if each had the device to itself. */
static double launches_ms(const Plan *plan, Entry entry) {
    double ms = 0;
    for (int i = 0; i < plan->entry[entry].launch_count; i++) {
        const Launch *launch = &plan->entry[entry].launches[i];
        if (launch->kind != LAUNCH_COLLECTIVE)
            ms += plan_times(plan, entry, launch) * launch->cost.ms;
    }
    return ms;
}

/* The host's time in a step. */
static void predict_host(Plan *plan) {
    plan->copying_ms = (double)plan->program->micro_steps * input_ms(plan);
    plan->launching_ms = plan_graph_launches(plan) * plan->device->graph_launch_ms;
}

/* What the side stream loses to collectives lengthens the step too, so what the step waits for may be
 * more than they take. */
static double exposed_ms(const Plan *plan, double kernels_ms) {
    double all = plan_exchanged(plan).ms, waited = plan->step.ms - plan->step.slowed_ms - kernels_ms;
    bool overlaps = plan->entry[ENTRY_MICRO_STEP].wait_count + plan->entry[ENTRY_UPDATE].wait_count;
    return overlaps ? fmin(waited, all) : all;
}

static void predict_step(Plan *plan) {
    double micro_steps = (double)plan->program->micro_steps;
    plan->step = (Cost){0};
    for (int e = 0; e < ENTRY_COUNT; e++) {
        Runs runs = entry_info((Entry)e)->runs;
        if (runs == RUNS_EACH_MICRO_STEP)
            cost_add(&plan->step, &plan->entry[e].other_cost, micro_steps - 1);
        if (runs != RUNS_ASIDE)
            cost_add(&plan->step, &plan->entry[e].cost, 1);
    }
    memset(plan->copies, 0, sizeof plan->copies);
    count_copies(plan, ENTRY_REPLICATE, micro_steps);
    count_copies(plan, ENTRY_COLLECT, micro_steps);
    memset(plan->exchanged, 0, sizeof plan->exchanged);
    /* The entries that a single card would run: neither replicate nor collect. */
    static const Entry of_one[] = {ENTRY_MICRO_STEP, ENTRY_BACKWARD, ENTRY_UPDATE};
    double kernels_ms = 0;
    plan->beside_ms = 0;
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++) {
        count_collectives(plan, of_one[i]);
        kernels_ms += alone_ms(plan, of_one[i]);
        plan->beside_ms += launches_ms(plan, of_one[i]);
    }
    plan->beside_ms -= kernels_ms;
    plan->exposed_ms = plan->mean_exposed_ms = exposed_ms(plan, kernels_ms);
    predict_host(plan);
    plan->device_ms = plan->step.ms;
    plan->step.ms = plan_step_ms(plan, plan->device_ms, plan->spec->compile.overlap);
    plan->alone_ms = plan->step.ms; /* with several cards, compile.c sets it */
    plan->alone_fits = true;
}

/* ---- memory of the process ------------------------------------------------------------------- */

/* Nodes of all graphs that the runtime captures: a step's last micro-step together with the update,
 * the other micro-steps if there are any, and evaluation, each for every input slot. In a
 * pipeline, the whole step for each half of the slots. */
static int graph_nodes(const Plan *plan) {
    if (plan->program->stage.count > 1)
        return INPUT_SLOTS * (plan_step_launches(plan) + plan->schedule.count +
                              plan->entry[ENTRY_EVALUATE].launch_count);
    int micro_step = plan->entry[ENTRY_MICRO_STEP].launch_count;
    int early = plan->entry[ENTRY_EARLY_MICRO_STEP].launch_count;
    int evaluate = plan->entry[ENTRY_EVALUATE].launch_count +
                   plan->entry[ENTRY_EVALUATE_CONVERTED].launch_count;
    if (plan->program->cards > 1)
        return INPUT_SLOTS * (micro_step + evaluate + plan->entry[ENTRY_COLLECT].launch_count) +
               plan->entry[ENTRY_UPDATE].launch_count;
    int update = plan->entry[ENTRY_UPDATE].launch_count;
    int last = micro_step + update + (early ? early + update : 0);
    int others = plan->program->micro_steps > 1 ? micro_step + early : 0;
    return INPUT_SLOTS * (last + others + evaluate);
}

static int replica_graph_nodes(const Plan *plan) {
    return plan->entry[ENTRY_REPLICATE].launch_count +
           INPUT_SLOTS * plan->entry[ENTRY_MICRO_STEP].launch_count;
}

static int64_t process_bytes(const Plan *plan, int64_t state, int nodes) {
    const Device *device = plan->device;
    int64_t bytes = device->context_bytes + device->module_bytes + plan_page_bytes(plan, state);
    if (plan->gemm_count > 0)
        bytes += device->library_bytes;
    RankGroup groups[GROUP_SETS];
    bytes += plan_groups(plan, groups) * device->collective_bytes;
    if (plan->spec->compile.cuda_graph)
        bytes += nodes * device->graph_node_bytes;
    return bytes;
}

void plan_predict(Plan *plan) {
    Arena arena = {0};
    find_cached(plan);
    for (int e = 0; e < ENTRY_COUNT; e++) {
        count_ops(plan, &plan->entry[e], &plan->program->entry[e], &arena);
        price_launches(plan, &plan->entry[e]);
        plan->entry[e].cost = run_cost(plan, &plan->entry[e], true);
        plan->entry[e].other_cost = run_cost(plan, &plan->entry[e], false);
    }
    predict_step(plan);
    plan->process_bytes = process_bytes(plan, plan->arena_bytes[ARENA_STATE], graph_nodes(plan));
    plan->replica_process_bytes =
        process_bytes(plan, plan->replica_bytes, replica_graph_nodes(plan));
    arena_free(&arena);
}
