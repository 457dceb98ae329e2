/* Prints the plan as tables and as JSON. */
#include "plan/print_plan.h"

#include "base/json_text.h"
#include "base/rounding.h"
#include "plan/collectives.h"
#include "plan/figures.h"
#include "plan/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *plan_role_title(Role role) {
    static const char *const titles[ROLE_COUNT] = {
        [ROLE_INPUT] = "input, one slot",  [ROLE_FROZEN] = "frozen weights",
        [ROLE_WEIGHT] = "trained weights", [ROLE_ADAPTER] = "adapters",
        [ROLE_BUFFER] = "buffers",         [ROLE_CONSTANT] = "constants",
        [ROLE_DATASET] = "data set",       [ROLE_COUNTER] = "counters, tables",
        [ROLE_GRADIENT] = "gradients",     [ROLE_OPTIMIZER] = "optimizer state",
        [ROLE_ACTIVATION] = "activations", [ROLE_STASH] = "kept, one micro-batch",
    };
    return titles[role];
}

static double arena_mib(const Plan *plan, ArenaKind kind) {
    return (double)plan->arena_bytes[kind] / MIB;
}

/* ---- sums over launches ---------------------------------------------------------------------- */

static const char *peak_name(const Plan *plan, Peak peak) {
    const PlanEntry *entry = &plan->entry[peak.entry];
    if (peak.bytes == 0 || entry->launches[peak.launch].op_count == 0)
        return "";
    return entry->launches[peak.launch].ops[0]->name;
}

/* All launches with one name in a step. */
typedef struct {
    const char *name;
    double launches;
    Cost cost;
    Bound bound; /* of its slowest launch */
    double slowest_ms;
    double bound_ms[BOUND_COUNT]; /* of all its launches: the same kernel may have other bounds */
} Share;

static int slower_first(const void *a, const void *b) {
    const Share *x = a, *y = b;
    if (x->cost.ms != y->cost.ms)
        return x->cost.ms < y->cost.ms ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Launches that are neither a kernel nor a product are called by their kind. */
enum { BRACKETED_NAMES = COLLECTIVE_KINDS + 4 };

/* Returns the share's index, or `count`. Launches of one kernel have the very same name, which most
 * often saves comparing texts. */
static int find_share(const Share *shares, int count, const char *name) {
    int k = 0;
    while (k < count && shares[k].name != name)
        k++;
    if (k < count)
        return k;
    for (k = 0; k < count && strcmp(shares[k].name, name) != 0;)
        k++;
    return k;
}

static void add_launch(Share *share, const Launch *launch, double times) {
    share->launches += times;
    cost_add(&share->cost, &launch->cost, times);
    share->bound_ms[launch->bound] += times * launch->cost.ms;
    if (launch->cost.ms > share->slowest_ms) {
        share->slowest_ms = launch->cost.ms;
        share->bound = launch->bound;
    }
}

static int shares_of_step(const Plan *plan, Share **shares, Arena *arena) {
    int count = 0, room = plan->kernel_count + plan->gemm_count + BRACKETED_NAMES;
    *shares = arena_array(arena, (size_t)room, sizeof **shares);
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const PlanEntry *entry = &plan->entry[e];
        for (int i = 0; i < entry->launch_count; i++) {
            double times = plan_times(plan, (Entry)e, &entry->launches[i]);
            if (times == 0)
                continue;
            const char *name = launch_name(plan, &entry->launches[i]);
            int k = find_share(*shares, count, name);
            if (k == count)
                (*shares)[count++].name = name;
            add_launch(&(*shares)[k], &entry->launches[i], times);
        }
    }
    qsort(*shares, (size_t)count, sizeof **shares, slower_first);
    return count;
}

static const double least_shown_ms = 0.0005, least_shown_mib = 0.005;

static double per_second(double amount, double ms) { return ms > 0 ? 1e3 * amount / ms : 0; }

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/* ---- text ------------------------------------------------------------------------------------ */

static void print_decoded(const Plan *plan, StrBuf *out) {
    if (!plan->program->keeps_decoded)
        return;
    DecodedWeights decoded = plan_decoded(plan);
    sb_printf(out, "  %-20s %11.2f   part of activations: %d of %d weights kept for backward\n",
              "decoded weights", (double)decoded.kept_bytes / MIB, decoded.kept,
              decoded.kept + decoded.again);
}

static bool has_streams(const Plan *plan) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++)
            if (plan->entry[e].launches[i].stream != STREAM_COMPUTE)
                return true;
    return false;
}

/* With the lines before it, it adds up to scratch. */
static void print_rest(const Plan *plan, StrBuf *out) {
    double rest = (double)plan_scratch_rest(plan) / MIB;
    if (rest >= least_shown_mib)
        sb_printf(out, "  %-20s %11.2f   %sgaps between buffers\n", "rest of scratch", rest,
                  has_streams(plan) ? "buffers that another stream may still read, " : "");
}

/* What NCCL keeps for a communicator of one rank differs between its versions, up to what it keeps for
 * one of several ranks. That is counted, so that what fits also fits with several cards, and is planned
 * alike. */
static void print_communicators(const Plan *plan, StrBuf *out) {
    RankGroup groups[GROUP_SETS];
    int64_t count = mesh_ranks(&plan->program->mesh, GROUP_WORLD) == 1 ? plan_groups(plan, groups) : 0;
    if (count > 0)
        sb_printf(out, "   %.2f of it for NCCL, as with several cards; one may need less",
                  (double)(count * plan->device->collective_bytes) / MIB);
    sb_puts(out, "\n");
}

static void print_memory(const Plan *plan, StrBuf *out) {
    Peak peak = plan->peak;
    sb_puts(out, "memory                         MiB\n");
    for (int r = 0; r < ROLE_COUNT; r++)
        if (plan->role_bytes[r] > 0 && r != ROLE_ACTIVATION)
            sb_printf(out, "  %-20s %11.2f\n", plan_role_title((Role)r),
                      (double)plan->role_bytes[r] / MIB);
    sb_printf(out, "  %-20s %11.2f   live at once, in %s at %s; %.2f without sharing bytes\n",
              "activations, peak", (double)peak.bytes / MIB, plan->entry[peak.entry].name,
              peak_name(plan, peak), (double)plan->role_bytes[ROLE_ACTIVATION] / MIB);
    print_decoded(plan, out);
    if (plan->gemm_workspace_bytes)
        sb_printf(out, "  %-20s %11.2f\n", "matmul workspace",
                  (double)(plan->gemm_workspaces * plan->gemm_workspace_bytes) / MIB);
    print_rest(plan, out);
    sb_printf(out, "  %-20s %11.2f   state %.2f, scratch %.2f, input %lld x %.2f", "arenas",
              (double)plan_total_bytes(plan) / MIB, arena_mib(plan, ARENA_STATE),
              arena_mib(plan, ARENA_SCRATCH), (long long)plan_slots(plan, ARENA_INPUT),
              arena_mib(plan, ARENA_INPUT));
    if (plan->arena_bytes[ARENA_STASH])
        sb_printf(out, ", kept %lld x %.2f", (long long)plan_slots(plan, ARENA_STASH),
                  arena_mib(plan, ARENA_STASH));
    sb_puts(out, "\n");
    int64_t pages = plan_page_bytes(plan, plan->arena_bytes[ARENA_STATE]);
    sb_printf(out, "  %-20s %11.2f   of %d MiB each\n", "rest of their pages",
              (double)(pages - plan_total_bytes(plan)) / MIB, DEVICE_PAGE >> 20);
    sb_printf(out, "  %-20s %11.2f", "context, libraries",
              (double)(plan->process_bytes - pages) / MIB);
    print_communicators(plan, out);
    sb_printf(out, "  %-20s %11.2f   of %.2f\n", "process", (double)plan->process_bytes / MIB,
              (double)plan_budget_bytes(plan) / MIB);
    if (plan->program->cards > 1)
        sb_printf(out, "  %-20s %11.2f   state %.2f, without what only the first card keeps\n",
                  "each other card", (double)plan->replica_process_bytes / MIB,
                  (double)plan->replica_bytes / MIB);
    if (plan->program->feeding)
        sb_printf(out, "data: %s\n", plan->program->feeding);
    sb_puts(out, "\n");
}

static void print_cost(StrBuf *out, const Cost *c) {
    sb_printf(out, " %11.3f %11.2f %11.2f %11.2f %7.2f %10.3f\n", c->flops / 1e9,
              c->issued_bytes / MIB, c->dram_bytes / MIB, c->least_bytes / MIB,
              ratio(c->issued_bytes, c->least_bytes), c->ms);
}

static void print_entries(const Plan *plan, StrBuf *out) {
    sb_puts(out, "entry       launches       GFLOP  issued MiB    DRAM MiB   least MiB  "
                 "issued/least   ms\n");
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const PlanEntry *entry = &plan->entry[e];
        if (entry->launch_count == 0)
            continue;
        sb_printf(out, "  %-10s %7d", entry->name, entry->launch_count);
        print_cost(out, &entry->cost);
    }
    sb_puts(out, "\n");
}

static int longest_name(const Share *shares, int count, int least) {
    size_t longest = (size_t)least;
    for (int i = 0; i < count; i++)
        longest = strlen(shares[i].name) > longest ? strlen(shares[i].name) : longest;
    return (int)longest;
}

/* How much of the launches' time each bound accounts for. */
static void print_bounds(const Share *shares, int count, StrBuf *out) {
    double ms[BOUND_COUNT] = {0};
    const char *before = "bound by:";
    for (int i = 0; i < count; i++)
        for (int b = 0; b < BOUND_COUNT; b++)
            ms[b] += shares[i].bound_ms[b];
    for (int b = 0; b < BOUND_COUNT; b++)
        if (ms[b] >= least_shown_ms) {
            sb_printf(out, "%s %s %.3f ms", before, bound_name((Bound)b), ms[b]);
            before = ",";
        }
    sb_puts(out, "\n");
}

static void print_shares(const Plan *plan, StrBuf *out) {
    enum { SHOWN = 12, LEAST_WIDTH = 42 };
    Arena arena = {0};
    Share *shares;
    int count = shares_of_step(plan, &shares, &arena), shown = count < SHOWN ? count : SHOWN;
    int width = longest_name(shares, shown, LEAST_WIDTH);
    sb_printf(out, "%-*s  count         ms   share   bound by\n", width + 2,
              "launches of a step, slowest first");
    for (int i = 0; i < shown; i++)
        sb_printf(out, "  %-*s %6.0f %10.3f %5.1f %%   %s\n", width, shares[i].name,
                  shares[i].launches, shares[i].cost.ms,
                  100 * ratio(shares[i].cost.ms, plan->step.ms), bound_name(shares[i].bound));
    if (count > SHOWN)
        sb_printf(out, "  and %d more, in plan.json of the generated program\n", count - SHOWN);
    print_bounds(shares, count, out);
    sb_puts(out, "\n");
    arena_free(&arena);
}

/* Launches of a step on the entry's side stream or beside it, whichever are fewer. */
static double launches_beside(const Plan *plan, Entry e) {
    const PlanEntry *entry = &plan->entry[e];
    double side = 0, others = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        if (launch->kind != LAUNCH_COLLECTIVE)
            *(launch->stream == STREAM_SIDE ? &side : &others) += plan_times(plan, e, launch);
    }
    return fmin(side, others);
}

/* What runs beside other work is counted in the shares, but does not make the step longer. */
static void print_side_stream(const Plan *plan, StrBuf *out) {
    double launches = 0;
    for (int e = 0; e < ENTRY_COUNT; e++)
        launches += launches_beside(plan, (Entry)e);
    if (launches > 0)
        sb_printf(out,
                  "side stream: %.0f of these launches run beside others, which saves %.3f ms and adds "
                  "%.2f MiB to the arenas; shares can add up to over 100 %%\n",
                  launches, plan->beside_ms, (double)plan->beside_bytes / MIB);
}

/* Without overlap, and where the host takes longer than the device, the entries add up to less than the
 * step. */
void print_host(const Plan *plan, StrBuf *out) {
    const char *memory = plan->spec->data.pin_memory ? "pinned" : "pageable";
    bool copies = plan->copying_ms >= least_shown_ms, overlap = plan->spec->compile.overlap;
    if (copies && !overlap)
        sb_printf(out, "copying batches: %.3f ms of this, from %s memory, while the device waits\n",
                  plan->copying_ms, memory);
    if (!plan_is_bound_by_host(plan))
        return;
    sb_puts(out, "bound by the host: ");
    if (copies && overlap)
        sb_printf(out, "%.3f ms to copy batches from %s memory, ", plan->copying_ms, memory);
    sb_printf(out, "%.3f ms to launch graphs; the device works for %.3f ms\n", plan->launching_ms,
              plan->device_ms);
}

static void print_copies(const Plan *plan, StrBuf *out) {
    sb_printf(out, "cards: %d, driven by one process; copies between them in a step, all exposed:\n",
              (int)plan->program->cards);
    for (int i = 0; i < PURPOSE_COUNT; i++)
        sb_printf(out, "cards:   %-10s %6d x, %10.2f MiB, %.3f ms\n", purpose_name((Purpose)i),
                  plan->copies[i].count, plan->copies[i].bytes / MIB, plan->copies[i].ms);
}

static const char *why_one_is_faster(const Plan *plan) {
    if (plan->program->cards > 1)
        return "cards: one card would be faster: its step takes less time than the copies between "
               "cards;\n       larger batches give each card more work\n";
    if (mesh_ranks(&plan->program->mesh, GROUP_TENSOR) > 1)
        return "cards: one card would be faster: several lose more time by exchanging data than "
               "they save;\n       larger batches, or a lower parallelism.tensor_parallel_degree, "
               "give each card more work\n";
    return "cards: one card would be faster: its step takes less time than the all_reduce between "
           "cards;\n       larger batches, or more training.gradient_accumulation_steps, give each "
           "card more work\n";
}

static double overlapped_ms(const Plan *plan) {
    return plan_exchanged(plan).ms - plan->exposed_ms;
}

static void print_collectives(const Plan *plan, StrBuf *out) {
    int64_t together = mesh_ranks(&plan->program->mesh, GROUP_WORLD & ~GROUP_DATA);
    sb_printf(out, "cards: %d, each running this step", plan_cards(plan));
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        const Exchanged *c = &plan->exchanged[kind];
        if (c->count > 0)
            sb_printf(out, "; %s x %d, %.2f MiB, %.3f ms", collective_name((CollectiveKind)kind),
                      c->count, c->bytes / MIB, c->ms);
    }
    sb_puts(out, "\n");
    if (overlapped_ms(plan) > 0)
        sb_printf(out,
                  "cards: %.3f ms of this exposed, %.3f ms overlapped with other work, which "
                  "takes %.3f ms longer\n",
                  plan->exposed_ms, overlapped_ms(plan), plan->step.slowed_ms);
    if (together > 1)
        sb_printf(out, "cards: groups of %lld share one model and its batches\n",
                  (long long)together);
}

void print_one_card(const Plan *plan, StrBuf *out) {
    sb_printf(out, "whose step takes %.3f ms%s%s\n", plan->alone_ms,
              plan->alone_recomputes ? " with activations recomputed" : "",
              plan->alone_fits ? "" : ", on which the experiment does not fit");
}

static void print_waited(const Plan *plan, StrBuf *out) {
    double waited_ms = plan_waited_ms(plan);
    if (plan->exposed_ms - waited_ms >= least_shown_ms)
        sb_printf(out,
                  "cards: the step waits for the host meanwhile; what is exposed lengthens it by "
                  "%.3f ms\n",
                  waited_ms);
}

static void print_cards(const Plan *plan, StrBuf *out) {
    int cards = plan_cards(plan), node = device_node_cards(plan->device);
    if (spec_trains_alone(plan->spec))
        return;
    if (plan->program->cards > 1)
        print_copies(plan, out);
    else
        print_collectives(plan, out);
    print_waited(plan, out);
    if (cards > node)
        sb_printf(out, "cards: %d nodes of %d, %.0f GB/s a card between them\n",
                  (int)ceil_div(cards, node), node, plan->device->network_rate / 1e9);
    sb_printf(out, "cards: speed-up %.2f over one card%s (%.0f %% efficiency), ",
              plan_speedup(plan), cards > 1 ? "" : " without collectives",
              100 * plan_speedup(plan) / cards);
    print_one_card(plan, out);
    if (plan_speedup(plan) < 1 && cards > 1)
        sb_puts(out, why_one_is_faster(plan));
}

void plan_print_text(const Plan *plan, StrBuf *out) {
    const Device *device = plan->device;
    double peak = device->peak_flops[program_rate(plan->program)],
           rate = per_second(plan->step.model_flops, plan->step.ms);
    sb_printf(out, "%s on %s, %s\n\n", plan->spec->title, device->title,
              choice_name(KEY_precision_dtype, (int)plan->spec->precision.dtype));
    print_memory(plan, out);
    print_entries(plan, out);
    print_shares(plan, out);
    sb_printf(out,
              "step: %s x %lld and update: %.3f ms predicted, %.0f %s/s, %.2f TFLOP/s "
              "(%.1f %% of peak)\n",
              plan->program->stage.count > 1 ? "forward and backward" : "micro_step",
              (long long)plan->program->micro_steps, plan->step.ms,
              per_second(plan_step_rows(plan), plan->step.ms), plan->program->unit.plural,
              rate / 1e12, 100 * ratio(rate, peak));
    print_host(plan, out);
    print_side_stream(plan, out);
    print_cards(plan, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *cost_json(const Cost *c) {
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "flops", c->flops, "model_flops",
                     c->model_flops, "issued_bytes", c->issued_bytes, "dram_bytes", c->dram_bytes,
                     "least_bytes", c->least_bytes, "issued_to_least",
                     ratio(c->issued_bytes, c->least_bytes), "ms", c->ms);
}

static json_t *memory_json(const Plan *plan) {
    Peak peak = plan->peak;
    json_t *roles = json_object();
    for (int r = 0; r < ROLE_COUNT; r++)
        if (r != ROLE_STASH || plan->role_bytes[r])
            json_object_set_new(roles, role_name((Role)r), json_integer(plan->role_bytes[r]));
    return json_pack("{s:o, s:I, s:I, s:I, s:{s:I, s:s, s:s}, s:I, s:I, s:I, s:I, s:I}",
                     "role_bytes", roles, "state_bytes",
                     (json_int_t)plan->arena_bytes[ARENA_STATE], "scratch_bytes",
                     (json_int_t)plan->arena_bytes[ARENA_SCRATCH], "input_bytes_per_slot",
                     (json_int_t)plan->arena_bytes[ARENA_INPUT], "peak", "live_bytes",
                     (json_int_t)peak.bytes, "entry", plan->entry[peak.entry].name, "op",
                     peak_name(plan, peak), "matmul_workspace_bytes",
                     (json_int_t)(plan->gemm_workspaces * plan->gemm_workspace_bytes),
                     "scratch_rest_bytes", (json_int_t)plan_scratch_rest(plan), "side_stream_bytes",
                     (json_int_t)plan->beside_bytes, "process_bytes",
                     (json_int_t)plan->process_bytes, "budget_bytes",
                     (json_int_t)plan_budget_bytes(plan));
}

static json_t *entries_json(const Plan *plan) {
    json_t *entries = json_object();
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const PlanEntry *entry = &plan->entry[e];
        if (entry->launch_count == 0)
            continue;
        json_t *row = cost_json(&entry->cost);
        json_object_set_new(row, "launches", json_integer(entry->launch_count));
        json_object_set_new(row, "kernel_launches",
                            json_integer(plan_kernel_launches(plan, (Entry)e)));
        json_object_set_new(entries, entry->name, row);
    }
    return entries;
}

/* null for launches whose instructions are not counted, such as products and convolutions. */
static json_t *instructions_json(const Cost *c) {
    return c->instructions > 0 ? json_real(c->instructions) : json_null();
}

static json_t *shares_json(const Plan *plan) {
    Arena arena = {0};
    Share *shares;
    int count = shares_of_step(plan, &shares, &arena);
    json_t *rows = json_array();
    for (int i = 0; i < count; i++) {
        const Cost *c = &shares[i].cost;
        json_t *row =
            json_pack("{s:s, s:f, s:f, s:o, s:f, s:f, s:f, s:s}", "name", shares[i].name, "launches",
                      shares[i].launches, "flops", c->flops, "instructions", instructions_json(c),
                      "issued_bytes", c->issued_bytes, "dram_bytes", c->dram_bytes, "ms", c->ms,
                      "bound", bound_name(shares[i].bound));
        json_array_append_new(rows, row);
    }
    arena_free(&arena);
    return rows;
}

static json_t *step_json(const Plan *plan) {
    json_t *step = cost_json(&plan->step);
    double peak = plan->device->peak_flops[program_rate(plan->program)];
    json_object_set_new(step, "device_ms", json_real(plan->device_ms));
    json_object_set_new(step, "copying_ms", json_real(plan->copying_ms));
    json_object_set_new(step, "launching_ms", json_real(plan->launching_ms));
    json_object_set_new(step, "micro_steps", json_integer(plan->program->micro_steps));
    json_object_set_new(step, plan->program->unit.plural, json_real(plan_step_rows(plan)));
    json_object_set_new(step, plan->program->unit.rate,
                        json_real(per_second(plan_step_rows(plan), plan->step.ms)));
    json_object_set_new(step, "share_of_peak",
                        json_real(ratio(per_second(plan->step.model_flops, plan->step.ms), peak)));
    return step;
}

static void set_copies(const Plan *plan, json_t *root) {
    json_t *copies = json_object();
    for (int i = 0; i < PURPOSE_COUNT; i++)
        json_object_set_new(copies, purpose_name((Purpose)i),
                            json_pack("{s:i, s:f, s:f}", "count", plan->copies[i].count, "bytes",
                                      plan->copies[i].bytes, "ms", plan->copies[i].ms));
    json_object_set_new(root, "cards", json_integer(plan->program->cards));
    json_object_set_new(root, "copies_between_cards", copies);
    json_object_set_new(root, "replica_state_bytes", json_integer(plan->replica_bytes));
    json_object_set_new(root, "replica_process_bytes", json_integer(plan->replica_process_bytes));
}

static void set_collectives(const Plan *plan, json_t *root) {
    json_t *kinds = json_object();
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        const Exchanged *c = &plan->exchanged[kind];
        if (c->count > 0)
            json_object_set_new(
                kinds, collective_name((CollectiveKind)kind),
                json_pack("{s:i, s:f, s:f}", "count", c->count, "bytes", c->bytes, "ms", c->ms));
    }
    json_object_set_new(root, "ranks",
                        json_integer(mesh_ranks(&plan->program->mesh, GROUP_WORLD)));
    json_object_set_new(root, "collectives", kinds);
}

json_t *one_card_json(const Plan *plan) {
    return json_pack("{s:f, s:b, s:b}", "ms", plan->alone_ms, "recomputes", plan->alone_recomputes,
                     "fits", plan->alone_fits);
}

/* Adds nothing if one card trains alone. */
static void set_cards(const Plan *plan, json_t *root) {
    if (plan->program->cards > 1)
        set_copies(plan, root);
    else if (mesh_has(&plan->program->mesh, GROUP_WORLD))
        set_collectives(plan, root);
    else
        return;
    json_object_set_new(root, "communication",
                        json_pack("{s:f, s:f, s:f, s:f}", "exposed_ms", plan->exposed_ms,
                                  "waited_ms", plan_waited_ms(plan), "overlapped_ms",
                                  overlapped_ms(plan), "slowed_ms", plan->step.slowed_ms));
    json_object_set_new(root, "speedup", json_real(plan_speedup(plan)));
    json_object_set_new(root, "one_card", one_card_json(plan));
}

void plan_print_json(const Plan *plan, StrBuf *out) {
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:s, s:s, s:s?, s:o, s:o, s:o, s:o}", "experiment",
                  plan->spec->title, "spec_sha256", plan->spec->sha256, "repeats",
                  (json_int_t)plan->spec->benchmark.repeats, "device", plan->device->name,
                  "precision", choice_name(KEY_precision_dtype, (int)plan->spec->precision.dtype),
                  "data", plan->program->feeding, "memory", memory_json(plan), "entries",
                  entries_json(plan), "step", step_json(plan), "step_launches", shares_json(plan));
    set_cards(plan, root);
    sb_put_json(out, root);
}
