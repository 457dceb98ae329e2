/* What the plan should cost on its device.
 *
 * There are three counts of bytes. `issued`: what threads ask for (launch_work). `dram`: every
 * operand and result once per launch, and again what a kernel has displaced from the L2 cache when it
 * rereads its rows, but no more than was issued and without hits in that cache (cache.c). `least`: what
 * any kernels for the graph's ops would move (least.c). */
#include "plan/predict.h"

#include "plan/cache.h"
#include "plan/collectives.h"
#include "plan/figures.h"
#include "plan/least.h"
#include "plan/plan_steps.h"
#include "plan/skeleton.h"
#include "plan/streams.h"
#include "plan/work.h"

#include <math.h>
#include <string.h>

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
static double without_collectives_ms(const Plan *plan, Entry entry) {
    const PlanEntry *of = &plan->entry[entry];
    double others = entry_info(entry)->runs == RUNS_EACH_MICRO_STEP
                        ? (double)plan->program->micro_steps - 1
                        : 0;
    return others * timeline_without_collectives_ms(plan, of, false) +
           timeline_without_collectives_ms(plan, of, true);
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
        kernels_ms += without_collectives_ms(plan, of_one[i]);
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
        count_least(plan, &plan->entry[e], &plan->program->entry[e], &arena);
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
