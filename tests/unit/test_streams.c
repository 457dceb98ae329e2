/* Streams: how gradients form buckets, what overlaps, and that a missing wait is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/figures.h"
#include "plan/plan_steps.h"
#include "stream_plans.h"

#include <math.h>
#include <string.h>

/* ---- programs of two ranks --------------------------------------------------------------------- */

/* Four layers, each a module; the inner ones have 4 MiB of gradients. */
static const char *const base =
    "[model]\nfamily = \"mlp\"\nnum_classes = 16\nimage_size = 8\nimage_channels = 1\n"
    "hidden_size = 1024\nnum_hidden_layers = 5\n"
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 4096\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"streams\"\n"
    "[parallelism]\ndata_parallel_replicate_degree = 2\n";

/* Batch norm has sums in each micro-step. */
static const char *const normed =
    "[model]\nfamily = \"mobilenet_v2\"\nnum_classes = 16\nimage_size = 32\nwidth_mult = 0.25\n"
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 2048\nsteps = 2\n"
    "gradient_accumulation_steps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"streams\"\n"
    "[parallelism]\ndata_parallel_replicate_degree = 2\nsync_batch_norm = true\n";

/* Weights are gathered; the embedding's before there is any other work. */
static const char *const gathered =
    "[model]\nfamily = \"llama\"\nvocab_size = 4096\nhidden_size = 1024\n"
    "intermediate_size = 4096\nnum_hidden_layers = 4\nnum_attention_heads = 8\n"
    "[training]\ntask = \"pretrain\"\nseq_len = 1024\nper_device_train_batch_size = 8\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"streams\"\n"
    "[parallelism]\ndata_parallel_shard_degree = 2\nshard_stage = 3\n";

#define PLAN(...) PLAN_OF(base, __VA_ARGS__)
#define EACH "parallelism.bucket_size_mb=0.001"
#define FLAT "parallelism.bucket_size_mb=1024"


/* ---- buckets ----------------------------------------------------------------------------------- */

static void test_buckets_are_all_of_the_run(void **state) {
    (void)state;
    const char *const sizes[] = {EACH, "parallelism.bucket_size_mb=5", FLAT};
    const int counts[] = {6, 3, 1};
    for (int i = 0; i < 3; i++) {
        Plan *plan = PLAN(sizes[i]);
        int at[16], count = collectives(micro_step(plan), at);
        assert_int_equal(count, counts[i]);
        int64_t elements = 0;
        for (int k = 0; k < count; k++) {
            const Value *v = micro_step(plan)->launches[at[k]].arg[0];
            assert_int_equal(v->offset, elements); /* in the order of backward */
            elements += value_elements(v);
        }
        assert_int_equal(elements * 4, plan->program->train.gradient->storage->bytes);
        assert_int_equal(collectives(&plan->entry[ENTRY_UPDATE], at), 0);
        arena_free(&arena);
    }
}

/* Buckets do not prevent fusing ops that one rank would fuse. */
static void test_kernels_are_those_of_one_flat_sum(void **state) {
    (void)state;
    Plan *each = PLAN(EACH), *after = PLAN("parallelism.overlap_grad_reduce=false");
    assert_int_equal(each->kernel_count, after->kernel_count);
    assert_int_equal(plan_kernel_launches(each, ENTRY_MICRO_STEP),
                     plan_kernel_launches(after, ENTRY_MICRO_STEP));
}

/* ---- streams ----------------------------------------------------------------------------------- */

static bool writes(const Launch *launch, const Value *v) {
    for (int a = 0; a < launch->arg_count; a++)
        if (launch->written[a] && value_overlaps(launch->arg[a], v))
            return true;
    return false;
}

static void test_a_bucket_waits_for_its_last_gradient(void **state) {
    (void)state;
    Plan *plan = PLAN(EACH);
    const PlanEntry *entry = micro_step(plan);
    int at[16], count = collectives(entry, at);
    for (int k = 0; k < count; k++) {
        const Launch *bucket = &entry->launches[at[k]];
        int last = -1;
        for (int i = 0; i < entry->launch_count; i++)
            if (entry->launches[i].stream == STREAM_COMPUTE &&
                writes(&entry->launches[i], bucket->arg[0]))
                last = i;
        assert_int_equal(bucket->stream, STREAM_COMMUNICATION);
        assert_int_equal(bucket->wait_count, 1);
        assert_int_equal(bucket->wait[0], last);
    }
    assert_int_equal(entry->wait_count, 1);
    assert_int_equal(entry->wait[0], at[count - 1]);
    assert_true(at[0] < entry->launch_count - count); /* work follows it */
}

/* A sum with no work after it needs no separate stream. */
static void test_a_flat_sum_stays_where_it_is(void **state) {
    (void)state;
    Plan *plan = PLAN(FLAT);
    const PlanEntry *entry = micro_step(plan);
    assert_int_equal(entry->launches[entry->launch_count - 1].kind, LAUNCH_COLLECTIVE);
    assert_int_equal(entry->launches[entry->launch_count - 1].stream, STREAM_COMPUTE);
    assert_int_equal(entry->wait_count, 0);
    assert_true(plan->exposed_ms == plan_exchanged(plan).ms);
}

static void test_missing_waits_are_found(void **state) {
    (void)state;
    Plan *plan = PLAN(EACH);
    PlanEntry *entry = micro_step(plan);
    int at[16], count = collectives(entry, at);
    for (int k = 0; k < count; k++) {
        entry->launches[at[k]].wait_count = 0;
        assert_non_null(plan_find_fault(plan));
        entry->launches[at[k]].wait_count = 1;
    }
    assert_null(plan_find_fault(plan));
    entry->wait_count = 0;
    assert_non_null(strstr(plan_find_fault(plan), "may still run at its end"));
    entry->wait_count = 1;
    entry->wait[0] = at[0];
    assert_non_null(strstr(plan_find_fault(plan), "may still run at its end"));
}

/* ---- several micro-steps ------------------------------------------------------------------------- */

static void test_only_the_last_micro_step_sums(void **state) {
    (void)state;
    Plan *plan = PLAN(EACH, "training.gradient_accumulation_steps=3");
    const PlanEntry *entry = micro_step(plan);
    int at[16], count = collectives(entry, at);
    for (int i = 0; i < entry->launch_count; i++)
        assert_int_equal(entry->launches[i].ends_step,
                         entry->launches[i].kind == LAUNCH_COLLECTIVE);
    assert_int_equal(plan_exchanged(plan).count, count);
    assert_true(plan_exchanged(plan).bytes ==
                (double)plan->program->train.gradient->storage->bytes);
    assert_true(entry->cost.ms >= entry->other_cost.ms);
    assert_true(entry->cost.moved_bytes > entry->other_cost.moved_bytes);
}

/* Values that are zeroed for the next step's sums are not read. */
static void test_least_bytes_are_no_more_than_moved(void **state) {
    (void)state;
    const Plan *plan = PLAN(EACH, "training.gradient_accumulation_steps=3");
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const Cost *cost = &plan->entry[e].cost;
        assert_true(cost->least_bytes <= cost->moved_bytes);
    }
}

/* A stream is waited for even if its last launch is left out. */
static void test_sums_of_each_micro_step_share_the_stream(void **state) {
    (void)state;
    Plan *plan = PLAN_OF(normed, EACH);
    PlanEntry *entry = micro_step(plan);
    int always = 0;
    for (int i = 0; i < entry->launch_count; i++)
        always += entry->launches[i].stream == STREAM_COMMUNICATION && !entry->launches[i].ends_step;
    assert_true(always > 0);
    assert_true(entry->launches[entry->wait[0]].ends_step);
    entry->wait_count = 0;
    assert_non_null(strstr(plan_find_fault(plan), "may still run at its end"));
}

/* ---- shards ------------------------------------------------------------------------------------ */

#define SHARED(...)                                                                      \
    PLAN("parallelism.data_parallel_replicate_degree=1",                                 \
         "parallelism.data_parallel_shard_degree=2", __VA_ARGS__)

/* A rank has half of masters and moments; gradients and weights are whole. */
static void test_states_are_shared_out(void **state) {
    (void)state;
    Plan *whole = PLAN("precision.dtype=bf16"), *shared = SHARED("precision.dtype=bf16");
    int64_t all = whole->role_bytes[ROLE_OPTIMIZER], half = shared->role_bytes[ROLE_OPTIMIZER];
    assert_true(2 * half >= all && 2 * half <= all + 6 * 1024 * 4);
    assert_true(shared->role_bytes[ROLE_GRADIENT] >= whole->role_bytes[ROLE_GRADIENT] - 4);
    const Exchanged *e = shared->exchanged;
    assert_int_equal(e[COLLECTIVE_REDUCE_SCATTER].count, 1);
    assert_int_equal(e[COLLECTIVE_ALL_GATHER].count, 1);
    assert_true(e[COLLECTIVE_REDUCE_SCATTER].bytes == 2 * e[COLLECTIVE_ALL_GATHER].bytes);
}

/* Returns how many collectives of an entry are on the communication stream; each waits for the
 * writer of its operand, and the checker finds it if one does not. */
static int sent_when_made(Plan *plan, Entry which) {
    PlanEntry *entry = &plan->entry[which];
    int sent = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        Launch *launch = &entry->launches[i];
        int last = -1;
        if (launch->stream != STREAM_COMMUNICATION || launch->arg_count < 2)
            continue;
        for (int k = 0; k < i; k++)
            if (entry->launches[k].stream == STREAM_COMPUTE && writes(&entry->launches[k], launch->arg[1]))
                last = k;
        assert_int_equal(launch->wait_count, 1);
        assert_true(launch->wait[0] >= last && last >= 0);
        launch->wait_count = 0;
        assert_non_null(plan_find_fault(plan));
        launch->wait_count = 1;
        sent++;
    }
    return sent;
}

#define STAGE(stage) "parallelism.shard_stage=" stage

/* A section's gradients are sent while backward computes the next, its weights while the next is
 * updated. */
static void test_sections_go_out_one_by_one(void **state) {
    (void)state;
    for (int stage = 1; stage <= 2; stage++) {
        Plan *plan = SHARED(EACH, "model.hidden_size=4096", stage == 1 ? STAGE("1") : STAGE("2"));
        const PlanEntry *update = &plan->entry[ENTRY_UPDATE];
        assert_int_equal(sent_when_made(plan, ENTRY_MICRO_STEP), 6);
        assert_int_equal(sent_when_made(plan, ENTRY_UPDATE), 6);
        for (int i = 0; i < update->launch_count; i++)
            for (int w = 0; w < update->launches[i].wait_count; w++) {
                const Launch *other = &update->launches[update->launches[i].wait[w]];
                assert_true(update->launches[i].stream != STREAM_COMPUTE ||
                            plan->collectives[other->index].kind != COLLECTIVE_ALL_GATHER);
            }
        assert_true(plan->exposed_ms < plan_exchanged(plan).ms / 2);
        assert_null(plan_find_fault(plan));
        arena_free(&arena);
    }
}

/* Whole gradients are sent in the last micro-step; pieces are accumulated in each while backward
 * continues. */
static void test_sections_of_several_micro_steps(void **state) {
    (void)state;
    const char *const several = "training.gradient_accumulation_steps=3";
    Plan *whole = SHARED(EACH, "model.hidden_size=4096", several, STAGE("1"));
    Plan *pieces = SHARED(EACH, "model.hidden_size=4096", several, STAGE("2"));
    const PlanEntry *entry = micro_step(whole);
    for (int i = 0; i < entry->launch_count; i++)
        assert_int_equal(entry->launches[i].ends_step,
                         entry->launches[i].kind == LAUNCH_COLLECTIVE);
    assert_int_equal(sent_when_made(whole, ENTRY_MICRO_STEP), 6);
    assert_int_equal(sent_when_made(pieces, ENTRY_MICRO_STEP), 6);
    assert_int_equal(whole->exchanged[COLLECTIVE_REDUCE_SCATTER].count, 6);
    assert_int_equal(pieces->exchanged[COLLECTIVE_REDUCE_SCATTER].count, 18);
    assert_true(pieces->exposed_ms < plan_exchanged(pieces).ms / 2);
}

/* Sums over replicas overlap backward too, each after its section's. */
static void test_replicas_sum_section_by_section(void **state) {
    (void)state;
    const char *const stages[] = {STAGE("1"), STAGE("2"), STAGE("3")};
    for (int k = 0; k < 3; k++) {
        Plan *plan = PLAN("parallelism.data_parallel_shard_degree=2", "model.hidden_size=4096",
                          "training.gradient_accumulation_steps=2", stages[k]);
        const PlanEntry *entry = micro_step(plan);
        int64_t elements = 0;
        int sums = 0;
        for (int i = 0; i < entry->launch_count; i++) {
            const Launch *launch = &entry->launches[i];
            if (launch->kind != LAUNCH_COLLECTIVE ||
                plan->collectives[launch->index].kind != COLLECTIVE_ALL_REDUCE)
                continue;
            assert_true(launch->ends_step && launch->stream == STREAM_COMMUNICATION);
            elements += value_elements(launch->arg[0]);
            sums++;
        }
        assert_true(sums > 1);
        assert_int_equal(elements, plan->program->train.piece + 1); /* the loss is summed too */
        assert_true(plan->exposed_ms < plan_exchanged(plan).ms / 2);
        arena_free(&arena);
    }
}

/* A rank's sums overwrite gradients that have been sent, or have their own bytes if none were. */
static void test_sums_take_the_place_of_gradients(void **state) {
    (void)state;
    Plan *whole = PLAN("precision.dtype=bf16"), *flat = SHARED(FLAT, "precision.dtype=bf16"),
         *each = SHARED(EACH, "precision.dtype=bf16");
    int64_t all = whole->role_bytes[ROLE_GRADIENT], layer = 1024 * 1024 * 4;
    assert_int_equal(flat->role_bytes[ROLE_GRADIENT], (all - 4) / 2 * 3); /* the loss is not a gradient */
    assert_true(each->role_bytes[ROLE_GRADIENT] <= all + layer / 2 + 8 * 1024 * 4);
}

/* Work that begins an entry on another stream waits for the entry before. */
static void test_a_stream_begins_behind_the_entry_before(void **state) {
    (void)state;
    Plan *plan = PLAN_OF(gathered, "training.seed=1");
    Launch *first = micro_step(plan)->launches;
    while (first->stream != STREAM_COMMUNICATION)
        first++;
    assert_true(first->forks);
    first->forks = false;
    assert_non_null(strstr(plan_find_fault(plan), "may run before it begins"));
}

/* A layer waits once for its own weights, and not for those of the next layer. */
static void test_weights_are_gathered_beside_the_layer_before(void **state) {
    (void)state;
    Plan *plan = PLAN_OF(gathered, "training.seed=1");
    const PlanEntry *entry = &plan->entry[ENTRY_EVALUATE];
    int waits = 0, gathers = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        gathers += launch->kind == LAUNCH_COLLECTIVE;
        if (launch->stream != STREAM_COMPUTE || !launch->wait_count)
            continue;
        const Value *weights = entry->launches[launch->wait[0]].arg[0];
        bool reads = false;
        for (int k = 0; k < launch->arg_count; k++)
            reads |= launch->arg[k]->storage == weights->storage;
        assert_true(reads);
        waits++;
    }
    assert_true(gathers >= 6 && waits == gathers);
}

/* Kept weights are gathered once per micro-step, before forward, into as many bytes again. */
static void test_kept_weights_are_gathered_once(void **state) {
    (void)state;
    Plan *again = PLAN_OF(gathered, "training.seed=1");
    Plan *kept = PLAN_OF(gathered, "parallelism.reshard_after_forward=false");
    const PlanEntry *entry = &kept->entry[ENTRY_MICRO_STEP];
    int gathers = 0;
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_COLLECTIVE &&
            kept->collectives[entry->launches[i].index].kind == COLLECTIVE_ALL_GATHER) {
            assert_int_equal(entry->launches[i].ops[0]->phase, PHASE_FORWARD);
            gathers++;
        }
    assert_int_equal(gathers, kept->program->gathered_count);
    assert_true(kept->exchanged[COLLECTIVE_ALL_GATHER].count <
                again->exchanged[COLLECTIVE_ALL_GATHER].count);
    assert_int_equal(kept->exchanged[COLLECTIVE_ALL_GATHER].bytes,
                     kept->program->train.master->storage->bytes * 2);
    assert_true(kept->arena_bytes[ARENA_SCRATCH] > again->arena_bytes[ARENA_SCRATCH]);
    assert_null(plan_find_fault(kept));
}

/* A wait for gathered weights does not include gradients sent between the gather and its readers.
 * Only those are waited for whose buffer is reused two sections later, and a wait for weights
 * covers most of them. */
static void test_a_wait_for_weights_is_not_one_for_gradients(void **state) {
    (void)state;
    Plan *plan = PLAN_OF(gathered, "training.seed=1");
    const PlanEntry *entry = micro_step(plan);
    int waits[COLLECTIVE_KINDS] = {0};
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        if (launch->stream == STREAM_COMPUTE && launch->wait_count)
            waits[plan->collectives[entry->launches[launch->wait[0]].index].kind]++;
    }
    assert_true(waits[COLLECTIVE_ALL_GATHER] >= 11);
    assert_true(waits[COLLECTIVE_REDUCE_SCATTER] <= 2);
}

/* A launch that always runs cannot rely on one that may be left out: c does not reuse bytes of a,
 * although a wait via b lies between the last use of a and c. */
static void test_a_launch_that_may_be_left_out_orders_nothing(void **state) {
    (void)state;
    for (int conditional = 0; conditional <= 1; conditional++) {
        Program *program = program_new(&arena);
        program->real = program->activation = DT_F32;
        Plan *plan = plan_new(program, NULL, NULL);
        plan->kernels = arena_array(&arena, 1, sizeof *plan->kernels);
        plan->kernels[0] = (Kernel){.name = "relu", .threads = 32};
        const char *const names[] = {"w", "a", "g", "b", "c", "h"};
        const Role roles[] = {ROLE_FROZEN,   ROLE_ACTIVATION, ROLE_GRADIENT,
                              ROLE_GRADIENT, ROLE_ACTIVATION, ROLE_GRADIENT};
        Value *v[6];
        for (int i = 0; i < 6; i++)
            v[i] = value_2d(program, names[i], roles[i], DT_F32, 16, 64, (Pos){0});
        const struct {
            int from, to, stream, wait; /* -1: no wait */
        } rows[] = {{0, 1, 0, -1}, {1, 2, 0, -1}, {0, 3, 1, 1}, {0, 4, 2, 2}, {4, 5, 2, -1}};
        PlanEntry *entry = micro_step(plan);
        entry->launches = arena_array(&arena, 5, sizeof(Launch));
        for (int i = 0; i < 5; i++) {
            Value *from = v[rows[i].from], *to = v[rows[i].to];
            const Op **op = arena_array(&arena, 1, sizeof *op);
            *op = op_add_into(program, &program->entry[ENTRY_MICRO_STEP], OP_relu, to->name, &from, 1,
                              &to, 1, (Attr){0}, (Pos){0});
            entry->launches[entry->launch_count++] =
                (Launch){.kind = LAUNCH_KERNEL, .arg = {from, to}, .read = {true},
                         .written = {false, true}, .arg_count = 2, .grid = {1, 1, 1}, .ops = op, .op_count = 1,
                         .stream = rows[i].stream, .wait = {rows[i].wait},
                         .wait_count = rows[i].wait >= 0, .forks = rows[i].stream > 0, .ends_step = conditional && i == 2};
        }
        entry->wait[entry->wait_count++] = 2;
        entry->wait[entry->wait_count++] = 4;
        plan_memory(plan);
        assert_null(plan_find_fault(plan));
        bool share = plan_place(plan, v[1]).offset == plan_place(plan, v[4]).offset;
        assert_int_equal(share, !conditional);
        if (conditional) {
            plan->place[v[4]->storage->id] = plan->place[v[1]->storage->id];
            assert_non_null(strstr(plan_find_fault(plan), "may still use them"));
        }
    }
}

/* ---- time -------------------------------------------------------------------------------------- */

/* The measure by which the size of buckets is chosen. */
static double price(const Plan *plan) {
    return plan->exposed_ms + plan_exchanged(plan).count * plan->device->kernel_gap_ms;
}

static void test_what_is_exposed_is_predicted(void **state) {
    (void)state;
    Plan *each = PLAN(EACH), *flat = PLAN(FLAT), *best = PLAN("training.steps=3");
    assert_true(each->exposed_ms > 0 && each->exposed_ms < plan_exchanged(each).ms);
    /* The last bucket waits for backward's end, when no other is in flight, and the entry for it.
     * */
    int at[16], count = collectives(micro_step(each), at);
    double last_ms = micro_step(each)->launches[at[count - 1]].cost.ms;
    double waits_ms = 2 * each->device->kernel_gap_ms;
    assert_true(fabs(each->exposed_ms - last_ms - waits_ms) < 1e-9);
    assert_true(each->exposed_ms < flat->exposed_ms);
    assert_true(best->step.ms < flat->step.ms);
    assert_true(price(best) <= price(each) && price(best) <= price(flat));
}

/* One process copies between its cards before and after a micro-step. */
static void test_copies_of_one_process_are_exposed(void **state) {
    (void)state;
    Plan *plan = PLAN("parallelism.data_parallel_mode=dp");
    assert_true(plan->exposed_ms > 0 && plan->exposed_ms < plan->step.ms);
    assert_true(plan->exposed_ms == plan_exchanged(plan).ms);
}

/* So few bytes that only the latency matters. */
static void test_small_gradients_are_one_bucket(void **state) {
    (void)state;
    Plan *plan = PLAN("model.hidden_size=32", "training.per_device_train_batch_size=8");
    assert_int_equal(plan_exchanged(plan).count, 1);
}

/* ---- kernels that overlap a collective --------------------------------------------------------- */

static void kernels_have_what_collectives_leave(void **state) {
    (void)state;
    const Device device = {.multiprocessors = 132, .collective_multiprocessors = 33};
    const Spec spec = {0};
    const Plan plan = {.device = &device, .spec = &spec};
    Launch launches[] = {{.kind = LAUNCH_KERNEL, .cost.ms = 2},
                         {.kind = LAUNCH_COLLECTIVE, .stream = STREAM_COMMUNICATION, .cost.ms = 4, .wait_count = 1},
                         {.kind = LAUNCH_GEMM, .cost.ms = 9},
                         {.kind = LAUNCH_KERNEL, .cost.ms = 1, .wait = {1}, .wait_count = 1},
                         {.kind = LAUNCH_COLLECTIVE, .stream = STREAM_COMMUNICATION, .cost.ms = 4, .ends_step = true}};
    const PlanEntry entry = {.launches = launches, .launch_count = 5};
    /* Overlapping the first collective, the product gets 3/4 of 4 ms, so 1 ms of 4 is lost; the
     * same with the other, from 6 to 10. */
    double slowed;
    assert_float_equal(timeline_ms(&plan, &entry, true, &slowed), 14, 1e-9);
    assert_float_equal(slowed, 2, 1e-9);
    assert_float_equal(timeline_ms(&plan, &entry, false, &slowed), 13, 1e-9);
    assert_float_equal(slowed, 1, 1e-9);
    /* The first collective ended at 6, the kernel may begin at 12. */
    assert_float_equal(timeline_slack_ms(&plan, &entry, 3, STREAM_COMMUNICATION), 6, 1e-9);
    /* Without overlap no kernel is slower. */
    launches[2].stream = STREAM_COMMUNICATION;
    launches[2].kind = LAUNCH_COLLECTIVE;
    assert_float_equal(timeline_ms(&plan, &entry, false, &slowed), 2 + 4 + 9 + 1, 1e-9);
    assert_float_equal(slowed, 0, 1e-9);
    /* Nor is one with blocks on no more multiprocessors than the collective leaves. */
    launches[2].stream = STREAM_COMPUTE;
    launches[2].kind = LAUNCH_KERNEL;
    launches[2].idle = 0.25;
    assert_float_equal(timeline_ms(&plan, &entry, false, &slowed), 2 + 9 + 1, 1e-9);
    assert_float_equal(slowed, 0, 1e-9);
}

/* ---- kernels that overlap kernels -------------------------------------------------------------- */

static void kernels_share_the_device(void **state) {
    (void)state;
    const Device device = {.kernel_gap_ms = 1, .kernel_ms = 2};
    const Spec spec = {0};
    const Plan plan = {.device = &device, .spec = &spec};
    Launch launches[] = {{.kind = LAUNCH_KERNEL, .cost.ms = 5},
                         {.kind = LAUNCH_KERNEL, .stream = STREAM_SIDE, .cost.ms = 9, .wait_count = 1},
                         {.kind = LAUNCH_GEMM, .cost.ms = 7}};
    const PlanEntry entry = {.launches = launches, .launch_count = 3, .wait = {1}, .wait_count = 1};
    /* The product runs from 8, the other kernel, which has waited, from 9 on. At 9 they have 3 and
     * 6 ms left, and share 6 ms; then the other needs 3 ms more, and the entry waits. */
    double slowed;
    assert_float_equal(timeline_ms(&plan, &entry, true, &slowed), 9 + 6 + 3 + 1, 1e-9);
    assert_float_equal(slowed, 0, 1e-9);
    assert_float_equal(timeline_without_collectives_ms(&plan, &entry, true), 19, 1e-9);
    /* A quarter of the multiprocessors for one kernel, and three for the other: neither waits. */
    launches[1].idle = 0.75;
    launches[2].kind = LAUNCH_KERNEL;
    launches[2].idle = 0.25;
    assert_float_equal(timeline_ms(&plan, &entry, true, &slowed), 9 + 6 + 1, 1e-9);
    launches[2].idle = 0;
    assert_float_equal(timeline_ms(&plan, &entry, true, &slowed), 9 + 1.25 * 3 + 3 + 1, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_share_the_device),
        cmocka_unit_test_teardown(test_buckets_are_all_of_the_run, teardown),
        cmocka_unit_test_teardown(test_kernels_are_those_of_one_flat_sum, teardown),
        cmocka_unit_test_teardown(test_a_bucket_waits_for_its_last_gradient, teardown),
        cmocka_unit_test_teardown(test_a_flat_sum_stays_where_it_is, teardown),
        cmocka_unit_test_teardown(test_missing_waits_are_found, teardown),
        cmocka_unit_test_teardown(test_only_the_last_micro_step_sums, teardown),
        cmocka_unit_test_teardown(test_least_bytes_are_no_more_than_moved, teardown),
        cmocka_unit_test_teardown(test_sums_of_each_micro_step_share_the_stream, teardown),
        cmocka_unit_test_teardown(test_a_launch_that_may_be_left_out_orders_nothing, teardown),
        cmocka_unit_test_teardown(test_states_are_shared_out, teardown),
        cmocka_unit_test_teardown(test_sections_go_out_one_by_one, teardown),
        cmocka_unit_test_teardown(test_sections_of_several_micro_steps, teardown),
        cmocka_unit_test_teardown(test_sums_take_the_place_of_gradients, teardown),
        cmocka_unit_test_teardown(test_replicas_sum_section_by_section, teardown),
        cmocka_unit_test_teardown(test_weights_are_gathered_beside_the_layer_before, teardown),
        cmocka_unit_test_teardown(test_kept_weights_are_gathered_once, teardown),
        cmocka_unit_test_teardown(test_a_wait_for_weights_is_not_one_for_gradients, teardown),
        cmocka_unit_test_teardown(test_a_stream_begins_behind_the_entry_before, teardown),
        cmocka_unit_test_teardown(test_what_is_exposed_is_predicted, teardown),
        cmocka_unit_test_teardown(test_copies_of_one_process_are_exposed, teardown),
        cmocka_unit_test_teardown(test_small_gradients_are_one_bucket, teardown),
        cmocka_unit_test(kernels_have_what_collectives_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
