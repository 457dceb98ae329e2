/* The plan's counts: the model's arithmetic does not depend on what rewrites add. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fileio.h"
#include "plan/figures.h"
#include "plan/plan_steps.h"
#include "plan/print_plan.h"
#include "plan/work.h"
#include "tests/unit/spec_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const base = "[model]\nvocab_size = 64\nhidden_size = 32\n"
                                "intermediate_size = 88\nnum_hidden_layers = 3\n"
                                "num_attention_heads = 2\nnum_key_value_heads = 2\n"
                                "max_position_embeddings = 32\n"
                                "[training]\ntask = \"sft\"\nseq_len = 32\n"
                                "per_device_train_batch_size = 4\nsteps = 2\n"
                                "[adapter]\ntype = \"lora\"\ntarget_modules = [\"all-linear\"]\n"
                                "[data]\nformat = \"synthetic\"\n[job]\nname = \"predict\"\n";

enum { MOST_SETS = 5 };

static Plan *plan_of_text(Arena *arena, const char *text, const char *const *sets, int count) {
    char path[] = "/tmp/test_predict_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_null(file_write(path, text, strlen(text)));
    Spec *spec = spec_read(arena, path, sets, count);
    unlink(path);
    Plan *plan = plan_of_spec(arena, spec, device_read(arena, "h100-sxm", (Pos){0}));
    plan_predict(plan);
    return plan;
}

static Plan *plan_of(Arena *arena, const char *const *sets, int count) {
    return plan_of_text(arena, base, sets, count);
}

/* Returns the cost of a step's matrix products. */
static Cost products(const char *const *sets, const char *bordered) {
    Arena arena = {0};
    const char *all[MOST_SETS] = {bordered, "compile.narrow_linears=false"};
    int count = 2;
    for (; sets[count - 2]; count++)
        all[count] = sets[count - 2];
    const PlanEntry *entry = &plan_of(&arena, all, count)->entry[ENTRY_MICRO_STEP];
    Cost sum = {0};
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_GEMM) {
            sum.flops += entry->launches[i].cost.flops;
            sum.model_flops += entry->launches[i].cost.model_flops;
        }
    arena_free(&arena);
    return sum;
}

static void compare(const char *const *sets) {
    Cost apart = products(sets, "compile.bordered=false");
    Cost bordered = products(sets, "compile.bordered=true");
    assert_true(bordered.flops > apart.flops);
    if (bordered.model_flops != apart.model_flops)
        fail_msg("%s: %.0f FLOPs, else %.0f", sets[0], bordered.model_flops, apart.model_flops);
}

/* A border multiplies zeros: those in other linears' columns, and those of padded ranks. */
static void test_zeros_are_no_work_of_the_model(void **state) {
    (void)state;
    compare((const char *const[]){"adapter.r=16", NULL});
    compare((const char *const[]){"adapter.r=3", NULL});
    compare((const char *const[]){"adapter.r=3", "adapter.lora_dropout=0.1", NULL});
    compare((const char *const[]){"adapter.r=3", "parallelism.tensor_parallel_degree=2", NULL});
    compare((const char *const[]){"adapter.r=3", "activation_checkpoint.mode=full", NULL});
}

/* Returns the model's FLOPs in the launches of ops of this kind, and in all, of a step. */
static double model_flops(const Plan *plan, OpKind kind, double *all) {
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    double flops = 0;
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].ops[0]->kind == kind)
            flops += entry->launches[i].cost.model_flops;
    *all = plan->step.model_flops;
    return flops;
}

/* Backward of attention is twice forward: the scores that its kernels compute again are no work of the
 * model, nor are activations that are made again. */
static void test_recomputation_is_no_work_of_the_model(void **state) {
    (void)state;
    static const char *const sets[] = {"activation_checkpoint.mode=none",
                                       "activation_checkpoint.mode=full", "compile.fusion=false",
                                       "precision.dtype=bf16"};
    const double layers = 3, tokens = 4 * 32, width = 32, keys = 33.0 / 2;
    const double forward = 4 * tokens * width * keys;
    double first = 0;
    for (int i = 0; i < 4; i++) {
        Arena arena = {0};
        double all;
        Plan *plan = plan_of(&arena, &sets[i], 1);
        assert_true(model_flops(plan, OP_attention, &all) == layers * forward);
        assert_true(model_flops(plan, OP_attention_grad, &all) == layers * 2 * forward);
        first = i == 0 ? all : first;
        if (all != first || all >= plan->step.flops)
            fail_msg("%s: %.0f FLOPs of %.0f", sets[i], all, plan->step.flops);
        arena_free(&arena);
    }
}

/* With pairs, backward computes each chunk's logits again. */
static void test_chunks_of_logits_are_no_more_work(void **state) {
    (void)state;
    const char *sets[] = {"training.task=\"dpo\"", "adapter.type=\"lora\"", "compile.chunked_head=false"};
    Arena arena = {0};
    const Plan *whole = plan_of(&arena, sets, 3);
    sets[2] = "compile.head_chunk_tokens=16";
    const Plan *chunked = plan_of(&arena, sets, 3);
    assert_true(chunked->step.flops > whole->step.flops);
    assert_true(chunked->step.model_flops == whole->step.model_flops);
    arena_free(&arena);
}

static const char *const mobilenet = "[model]\nfamily = \"mobilenet_v2\"\nnum_classes = 1000\n"
                                     "image_size = 224\n[training]\ntask = \"classify\"\n"
                                     "per_device_train_batch_size = 2\nsteps = 2\n"
                                     "[data]\nformat = \"synthetic\"\n"
                                     "[job]\nname = \"predict\"\n";

/* torchvision's model multiplies and adds 300,774,272 times an image (as fvcore counts), 10,838,016 of
 * these in the first convolution, whose input needs no gradient. Normalising, ReLUs and the update
 * count nothing, nor does it matter where channels lie or how many bits they have. */
static void test_only_products_are_work_of_the_model(void **state) {
    (void)state;
    static const char *const dtypes[] = {"precision.dtype=fp64", "precision.dtype=tf32",
                                         "precision.dtype=bf16"};
    static const char *const layouts[] = {"compile.layout=nhwc", "compile.layout=nchw"};
    for (int i = 0; i < 6; i++) {
        Arena arena = {0};
        const char *sets[] = {dtypes[i / 2], layouts[i % 2]};
        double flops = plan_of_text(&arena, mobilenet, sets, 2)->step.model_flops;
        if (flops != 2 * 2 * (3 * 300774272.0 - 10838016.0))
            fail_msg("%s, %s: %.0f FLOPs", sets[0], sets[1], flops);
        arena_free(&arena);
    }
}

/* ---- least bytes ----------------------------------------------------------------------------- */

static void expect_no_less_than_least(const char *const *sets) {
    Arena arena = {0};
    int count = 0;
    while (sets[count])
        count++;
    const Plan *plan = plan_of(&arena, sets, count);
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const PlanEntry *entry = &plan->entry[e];
        if (entry->cost.issued_bytes < entry->cost.least_bytes)
            fail_msg("%s: %s issues %.0f bytes, and %.0f is the least", sets[0], entry->name,
                     entry->cost.issued_bytes, entry->cost.least_bytes);
    }
    arena_free(&arena);
}

/* Merging reads decoded weights under another name than they were decoded under; one kernel does
 * both. */
static void test_decoded_weights_need_no_memory(void **state) {
    (void)state;
    expect_no_less_than_least((const char *const[]){"quantization.quant_type=int8", NULL});
    expect_no_less_than_least((const char *const[]){"quantization.quant_type=nf4", NULL});
}

/* Few tokens touch few rows of an embedding's table and of its gradient. */
static void test_rows_without_tokens_need_no_memory(void **state) {
    (void)state;
    expect_no_less_than_least((const char *const[]){"model.vocab_size=16384", "adapter.type=none",
                                                    "training.per_device_train_batch_size=1", NULL});
}

/* ---- copies of batches ------------------------------------------------------------------------ */

/* Large pictures, which little is done with. */
static const char *const pictures = "[model]\nfamily = \"mlp\"\nnum_classes = 16\n"
                                    "image_size = 32\nimage_channels = 3\nhidden_size = 16\n"
                                    "num_hidden_layers = 1\n[training]\ntask = \"classify\"\n"
                                    "per_device_train_batch_size = 1024\nsteps = 2\n"
                                    "gradient_accumulation_steps = 2\n"
                                    "[data]\nformat = \"synthetic\"\n"
                                    "[job]\nname = \"predict\"\n";

static void expect_line(const Plan *plan, const char *line, double ms) {
    StrBuf text = {0};
    plan_print_text(plan, &text);
    char expected[128];
    snprintf(expected, sizeof expected, line, ms);
    if (!strstr(text.text, expected))
        fail_msg("no \"%s\" in:\n%s", expected, text.text);
    sb_free(&text);
}

static void test_copies_of_batches_lengthen_the_step(void **state) {
    (void)state;
    Arena arena = {0};
    static const char *const sets[] = {"data.pin_memory=true", "compile.overlap=false",
                                       "data.pin_memory=false"};
    Plan *beside = plan_of_text(&arena, pictures, sets, 1);
    Plan *between = plan_of_text(&arena, pictures, sets, 2);
    Plan *pageable = plan_of_text(&arena, pictures, sets + 2, 1);
    double bytes = 2 * 1024 * 32 * 32 * 3, pinned_ms = 1e3 * bytes / beside->device->host_rate_pinned;
    double pageable_ms = 1e3 * bytes / beside->device->host_rate_pageable;
    assert_float_equal(beside->copying_ms, pinned_ms, 0.01 * pinned_ms);
    assert_float_equal(pageable->copying_ms, pageable_ms, 0.01 * pageable_ms);
    double launching = beside->launching_ms;
    assert_true(launching > 0 && between->device_ms == beside->device_ms);
    assert_float_equal(beside->step.ms, fmax(beside->device_ms, beside->copying_ms + launching), 1e-9);
    assert_float_equal(between->step.ms, between->device_ms + between->copying_ms, 1e-9);
    assert_float_equal(pageable->step.ms, pageable->copying_ms + launching, 1e-9);
    expect_line(between, "\ncopying batches: %.3f ms of this, from pinned memory", between->copying_ms);
    expect_line(pageable, "\nbound by the host: %.3f ms to copy batches from pageable memory, ",
                pageable->copying_ms);
    expect_line(pageable, " memory, %.3f ms to launch graphs", launching);
    arena_free(&arena);
}

/* One process launches graphs for all cards, which takes longer than these work. */
static void test_launches_of_graphs_lengthen_the_step(void **state) {
    (void)state;
    Arena arena = {0};
    static const char *const sets[] = {"training.per_device_train_batch_size=8",
                                       "parallelism.data_parallel_replicate_degree=8",
                                       "parallelism.data_parallel_mode=dp", "compile.overlap=false"};
    Plan *beside = plan_of_text(&arena, pictures, sets, 3);
    Plan *between = plan_of_text(&arena, pictures, sets, 4);
    assert_true(beside->launching_ms > beside->device_ms);
    expect_line(beside, " memory, %.3f ms to launch graphs", beside->launching_ms);
    expect_line(between, "\nbound by the host: %.3f ms to launch graphs", between->launching_ms);
    arena_free(&arena);
}

/* ---- cards ------------------------------------------------------------------------------------ */

/* Copies between cards delay the step only where the host takes no longer than what the device works. */
static void test_a_step_waits_for_host_or_cards(void **state) {
    (void)state;
    Arena arena = {0};
    const char *sets[] = {"training.per_device_train_batch_size=8", "parallelism.data_parallel_mode=dp",
                          "parallelism.data_parallel_replicate_degree=8"};
    Plan *plan = plan_of_text(&arena, pictures, sets, 3);
    assert_true(plan->launching_ms > plan->device_ms && plan->exposed_ms > 0);
    assert_true(plan_waited_ms(plan) == 0);
    expect_line(plan, "what is exposed lengthens it by %.3f ms\n", 0);
    plan->copying_ms = 0;
    plan->launching_ms = plan->device_ms - plan->exposed_ms / 4;
    plan->step.ms = plan->device_ms;
    assert_float_equal(plan_waited_ms(plan), plan->exposed_ms / 4, 1e-9);
    plan->launching_ms = 0;
    assert_float_equal(plan_waited_ms(plan), plan->exposed_ms, 1e-9);
    arena_free(&arena);
}

static void test_one_rank_is_planned_like_several(void **state) {
    (void)state;
    Arena arena = {0};
    const char *sets[] = {"parallelism.one_rank_collectives=ddp"};
    const Plan *alone = plan_of(&arena, NULL, 0), *one_rank = plan_of(&arena, sets, 1);
    const double nccl = (double)one_rank->device->collective_bytes;
    assert_true((double)(one_rank->process_bytes - alone->process_bytes) >= nccl);
    expect_line(one_rank, "   %.2f of it for NCCL, as with several cards", nccl / (1 << 20));
    arena_free(&arena);
}

/* ---- the L2 cache ----------------------------------------------------------------------------- */

enum { PAGE = 256, MOST_PAGES = 65536 };

static void predict_with(Plan *plan, int64_t l2_kept_bytes) {
    static Device device;
    device = *plan->device;
    device.l2_kept_bytes = l2_kept_bytes;
    plan->device = &device;
    plan_predict(plan);
}

static bool has_input(const Plan *plan, const Launch *launch) {
    for (int i = 0; i < launch->arg_count; i++)
        if (plan_place(plan, launch->arg[i]).arena == ARENA_INPUT)
            return true;
    return false;
}

/* Returns a step's bytes of device memory, without copies from the host. */
static double step_dram(const Plan *plan) {
    double bytes = 0;
    for (int e = ENTRY_MICRO_STEP; e <= ENTRY_UPDATE; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++)
            if (!has_input(plan, &plan->entry[e].launches[i]))
                bytes += plan->entry[e].launches[i].cost.dram_bytes;
    return bytes;
}

static double operand_bytes(const Launch *launch) {
    double bytes = 0;
    for (int i = 0; i < launch_touch_count(launch); i++) {
        Touched of = launch_touched(launch, i);
        bytes += (of.read + of.written) * (double)value_bytes(of.value);
    }
    return bytes;
}

/* Returns the number of distinct pages of a step. */
static int64_t step_pages(const Plan *plan) {
    static bool seen[ARENA_COUNT][MOST_PAGES];
    int64_t count = 0;
    memset(seen, 0, sizeof seen);
    for (int e = ENTRY_MICRO_STEP; e <= ENTRY_UPDATE; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++)
            for (int k = 0; k < launch_touch_count(&plan->entry[e].launches[i]); k++) {
                const Value *v = launch_touched(&plan->entry[e].launches[i], k).value;
                Place place = plan_place(plan, v);
                ByteSpan span = value_span(v);
                int64_t end = place.offset + span.end - span.first;
                assert_true(end <= (int64_t)PAGE * MOST_PAGES);
                for (int64_t page = place.offset / PAGE; page * PAGE < end; page++) {
                    count += place.arena != ARENA_INPUT && !seen[place.arena][page];
                    seen[place.arena][page] = true;
                }
            }
    return count;
}

/* A step that fits into the cache moves no bytes of device memory, because the step before left
 * them there; with a cache one page smaller, it does. */
static void test_what_fits_the_cache_stays_there(void **state) {
    (void)state;
    Arena arena = {0};
    Plan *plan = plan_of(&arena, NULL, 0);
    int64_t pages = step_pages(plan);
    predict_with(plan, pages * PAGE);
    assert_true(step_dram(plan) == 0);
    for (int e = ENTRY_MICRO_STEP; e <= ENTRY_UPDATE; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            if (!has_input(plan, launch))
                assert_true(launch->cost.cached_bytes == operand_bytes(launch));
        }
    double ms = plan->step.ms;
    assert_true(plan->entry[ENTRY_EVALUATE].cost.dram_bytes > 0); /* finds nothing of a step in the cache */
    predict_with(plan, (pages - 1) * PAGE);
    assert_true(step_dram(plan) > 0);
    predict_with(plan, 0);
    assert_true(plan->step.dram_bytes == plan->step.moved_bytes && plan->step.ms > ms);
    arena_free(&arena);
}

static void test_more_cache_never_asks_for_more(void **state) {
    (void)state;
    Arena arena = {0};
    Plan *plan = plan_of(&arena, NULL, 0);
    predict_with(plan, 0);
    double least = step_dram(plan);
    for (int64_t room = 1; room <= step_pages(plan); room += 7) {
        predict_with(plan, room * PAGE);
        assert_true(step_dram(plan) <= least);
        least = step_dram(plan);
    }
    arena_free(&arena);
}

/* A product of a matrix with itself reads it from memory once, and asks for it twice. */
static void test_a_matrix_with_itself_is_read_once(void **state) {
    (void)state;
    Arena arena = {0};
    int found = 0;
    Plan *plan = plan_of_text(&arena, mobilenet, (const char *const[]){"compile.gram_batch_norm=true"}, 1);
    predict_with(plan, 0);
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        bool with_itself = launch->kind == LAUNCH_GEMM && launch->arg[0] == launch->arg[1];
        double once = with_itself ? (double)value_bytes(launch->arg[0]) : 0;
        found += with_itself;
        assert_true(!with_itself || launch->cost.moved_bytes == operand_bytes(launch));
        assert_true(launch->cost.dram_bytes == launch->cost.moved_bytes - once);
    }
    assert_true(found > 0);
    arena_free(&arena);
}

/* Returns what a step's launches reread of rows of 40,000 fp32 logits, and what they move. */
static double moved_of_long_rows(Plan *plan, int64_t l2_kept_bytes, double *reread) {
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    double moved = 0;
    predict_with(plan, l2_kept_bytes);
    *reread = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        *reread += launch_reread_bytes(plan, &entry->launches[i]);
        moved += entry->launches[i].cost.moved_bytes;
    }
    return moved;
}

/* A loss with its gradient reads its rows twice: from memory if they do not fit the cache. */
static void test_long_rows_are_read_again(void **state) {
    (void)state;
    Arena arena = {0};
    enum { ROW_BYTES = 40000 * 4 };
    Plan *plan = plan_of(&arena, (const char *const[]){"model.vocab_size=40000"}, 1);
    double reread, all = moved_of_long_rows(plan, 0, &reread);
    int64_t rows = (int64_t)reread / ROW_BYTES;
    assert_true(rows > 0 && rows <= plan->device->multiprocessors && (int64_t)reread % ROW_BYTES == 0);
    assert_true(moved_of_long_rows(plan, rows * ROW_BYTES, &reread) == all - reread);
    assert_true(moved_of_long_rows(plan, rows * ROW_BYTES / 2, &reread) == all - reread / 2);
    arena_free(&arena);
}

/* Contents left by another micro-step or the update may be gone, so each weight's first read
 * counts. */
static void test_micro_steps_begin_with_nothing(void **state) {
    (void)state;
    Arena arena = {0};
    Plan *plan =
        plan_of(&arena, (const char *const[]){"training.gradient_accumulation_steps=2"}, 1);
    predict_with(plan, step_pages(plan) * PAGE);
    double frozen = (double)plan->role_bytes[ROLE_FROZEN];
    assert_true(plan->entry[ENTRY_MICRO_STEP].cost.dram_bytes >= frozen);
    assert_true(plan->entry[ENTRY_MICRO_STEP].cost.dram_bytes <
                plan->entry[ENTRY_MICRO_STEP].cost.moved_bytes / 2);
    arena_free(&arena);
}

/* Kernels are priced by their grids: here attention has work for a few multiprocessors only. */
static void test_few_blocks_take_longer(void **state) {
    (void)state;
    Arena arena = {0};
    Plan *plan = plan_of(&arena, NULL, 0);
    const Device *d = plan->device;
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    int kernels = 0, slower = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        double blocks = (double)(launch->grid[0] * launch->grid[1] * launch->grid[2]);
        double idle = launch->kind == LAUNCH_KERNEL && blocks < 132 ? 1 - blocks / 132 : 0;
        assert_float_equal(launch->idle, idle, 1e-12);
        if (launch->kind != LAUNCH_KERNEL || !plan->kernels[launch->index].template_name)
            continue;
        double whole = device_fused_time(d, RATE_F32, d->fused_share, launch->cost.flops,
                                       (Traffic){launch->cost.moved_bytes, launch->cost.dram_bytes},
                                       (Grid){0}).ms;
        assert_true(launch->cost.ms >= whole);
        kernels++;
        slower += launch->cost.ms > 1.1 * whole;
    }
    assert_true(kernels > 0 && slower > 0);
    arena_free(&arena);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Returns what the line of a plan's text that sums the bounds has for this one. */
static double told_ms(const Plan *plan, Bound bound) {
    StrBuf text = {0};
    plan_print_text(plan, &text);
    char name[32];
    snprintf(name, sizeof name, " %s ", bound_name(bound));
    const char *line = strstr(text.text, "bound by:");
    assert_non_null(line);
    const char *at = strstr(line, name), *end = strchr(line, '\n');
    double ms = at && at < end ? strtod(at + strlen(name), NULL) : 0;
    sb_free(&text);
    return ms;
}

static const char images[] =
    "[model]\nfamily = \"cnn\"\nnum_classes = 10\nimage_size = 28\nimage_channels = 1\n"
    "layers = [\"conv 32 3\", \"relu\", \"conv 64 3\", \"relu\", \"max_pool 2\", \"flatten\","
    " \"linear 128\", \"relu\"]\n"
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 64\nsteps = 2\n"
    "max_grad_norm = 0.0\n[data]\nformat = \"synthetic\"\n[job]\nname = \"images\"\n";

/* Each launch counts for its own bound: those of one kernel, such as the update's, may have several. */
static void test_bounds_of_all_launches(void **state) {
    (void)state;
    Arena arena = {0};
    const Plan *plan = plan_of_text(&arena, images, NULL, 0);
    double ms[BOUND_COUNT] = {0};
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            ms[launch->bound] += plan_times(plan, (Entry)e, launch) * launch->cost.ms;
        }
    for (int b = 0; b < BOUND_COUNT; b++)
        assert_float_equal(told_ms(plan, (Bound)b), ms[b], 0.00051);
    arena_free(&arena);
}

/* Between one rank and itself there are no links. */
static void test_one_rank_has_no_links(void **state) {
    (void)state;
    Arena arena = {0};
    const char *sets[] = {"parallelism.one_rank_collectives=shard"};
    const Plan *plan = plan_of(&arena, sets, 1);
    int collectives = 0;
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            collectives += plan->entry[e].launches[i].kind == LAUNCH_COLLECTIVE;
            assert_int_not_equal(plan->entry[e].launches[i].bound, BOUND_LINKS);
        }
    assert_true(collectives > 0);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros_are_no_work_of_the_model),
                                       cmocka_unit_test(test_recomputation_is_no_work_of_the_model),
                                       cmocka_unit_test(test_chunks_of_logits_are_no_more_work),
                                       cmocka_unit_test(test_only_products_are_work_of_the_model),
                                       cmocka_unit_test(test_decoded_weights_need_no_memory),
                                       cmocka_unit_test(test_rows_without_tokens_need_no_memory),
                                       cmocka_unit_test(test_copies_of_batches_lengthen_the_step),
        cmocka_unit_test(test_launches_of_graphs_lengthen_the_step),
                                       cmocka_unit_test(test_a_step_waits_for_host_or_cards),
                                       cmocka_unit_test(test_one_rank_is_planned_like_several),
                                       cmocka_unit_test(test_few_blocks_take_longer),
                                       cmocka_unit_test(test_bounds_of_all_launches),
                                       cmocka_unit_test(test_one_rank_has_no_links),
                                       cmocka_unit_test(test_what_fits_the_cache_stays_there),
                                       cmocka_unit_test(test_more_cache_never_asks_for_more),
        cmocka_unit_test(test_a_matrix_with_itself_is_read_once),
                                       cmocka_unit_test(test_long_rows_are_read_again),
                                       cmocka_unit_test(test_micro_steps_begin_with_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
