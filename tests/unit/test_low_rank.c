/* The gradients of a low-rank path become one op, and its first product one whose kernel can make x:
 * tests which ones do, and which do not; and which kernels take over the pointwise ops that make dy
 * or x. The oracle compares their numbers, and tests of the templates the bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/embed.h"
#include "devices/low_rank_tiles.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

enum { LAYERS = 2, RANK = 16 };

static const char *const llama =
    "[model]\nfamily = \"llama\"\nvocab_size = 256\nhidden_size = 128\nintermediate_size = 256\n"
    "num_hidden_layers = 2\nnum_attention_heads = 4\nnum_key_value_heads = 2\n"
    "[training]\ntask = \"sft\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
    "[adapter]\ntype = \"lora\"\nr = 16\nlora_alpha = 32\n"
    "[precision]\ndtype = \"bf16\"\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"read_once\"\n";

static Program *program_of(const char *const *sets, int count) {
    Spec *spec = spec_of_text(&arena, llama, sets, count);
    return program_of_spec(&arena, spec);
}

/* With low_rank_grads = true, and up to two more settings. */
static Program *with(const char *a, const char *b) {
    const char *sets[] = {"compile.low_rank_grads=true", a, b};
    return program_of(sets, b ? 3 : a ? 2 : 1);
}

static int count_in(const Program *p, Entry entry, OpKind kind) {
    int count = 0;
    for (int i = 0; i < p->entry[entry].op_count; i++)
        count += p->entry[entry].ops[i]->kind == kind;
    return count;
}

static int count_of(const Program *p, OpKind kind) { return count_in(p, ENTRY_MICRO_STEP, kind); }

/* Checks how many ops of a layer there are, and how many products fewer. */
static void expect_ops(const char *a, const char *b, int ops, int products) {
    const char *no_a = "compile.low_rank_grad_a=false";
    const char *on[] = {"compile.low_rank_grads=true", no_a, a, b};
    const char *off[] = {"compile.low_rank_grads=false", no_a, a, b};
    int count = b ? 4 : a ? 3 : 2;
    const Program *p = program_of(on, count), *products_only = program_of(off, count);
    assert_int_equal(count_of(p, OP_low_rank_grads), LAYERS * ops);
    assert_int_equal(count_of(products_only, OP_matmul) - count_of(p, OP_matmul),
                     LAYERS * products);
}

/* q, k and v have one product for their v's, and so do gate and up. */
static void each_linear_has_its_op(void **state) {
    (void)state;
    expect_ops(NULL, NULL, 7, 7 + 4);
    expect_ops("adapter.r=64", NULL, 7, 7 + 4);
    expect_ops("adapter.target_modules=[\"q_proj\",\"v_proj\"]", NULL, 2, 2 + 1);
    expect_ops("adapter.target_modules=[\"down_proj\"]", NULL, 1, 1 + 1);
}

/* sm_86 has 99 KiB of shared memory for a block, too little for large ranks. */
static void blocks_fit_shared_memory(void **state) {
    (void)state;
    const Device hopper = {.arch = "sm_90a", .multiprocessors = 132};
    const Device small = {.arch = "sm_86", .multiprocessors = 84};
    LowRankShape shape = {.rows = 8192, .features = 4096, .rank = 16};
    assert_true(low_rank_tiles(shape, &hopper).shared_bytes > 99 * 1024);
    assert_in_range(low_rank_tiles(shape, &small).shared_bytes, 1, 99 * 1024);
    assert_in_range(low_rank_tiles(shape, NULL).shared_bytes, 1, 99 * 1024);
    shape.rank = LOW_RANK_MOST;
    assert_true(low_rank_tiles(shape, &hopper).cols > 0);
    assert_int_equal(low_rank_tiles(shape, &small).cols, 0);
}

static void without_borders_too(void **state) {
    (void)state;
    expect_ops("compile.bordered=false", "adapter.target_modules=[\"q_proj\",\"o_proj\"]", 2, 2 + 2);
}

static void other_ranks_and_types_stay(void **state) {
    (void)state;
    expect_ops("adapter.r=4", NULL, 0, 0);
    expect_ops("adapter.r=12", NULL, 0, 0);
    expect_ops("adapter.r=72", NULL, 0, 0);
    const char *fp32[] = {"precision.dtype=\"fp32\""};
    assert_int_equal(count_of(program_of(fp32, 1), OP_low_rank_grads), 0);
}

/* How many ops of a kind there are, with small values or large ones, on a device whose products take
 * 1 us to start and end. */
static int count_with_quick_products(OpKind kind, bool large) {
    const Embedded *file = embedded_find("gen/devices/h100-sxm.toml");
    const char *slow = "\nproduct = 4.0", *at = strstr(file->text, slow);
    assert_non_null(at);
    const char *path = arena_printf(&arena, "/tmp/test_low_rank_%d.toml", (int)getpid());
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%.*s\nproduct = 1.0%s", (int)(at - file->text), file->text, at + strlen(slow));
    fclose(out);
    const char *sets[] = {arena_printf(&arena, "job.device=\"%s\"", path),
                          "training.per_device_train_batch_size=512",
                          "model.intermediate_size=8192"};
    int count = count_of(program_of(sets, large ? 3 : 1), kind);
    unlink(path);
    return count;
}

static void auto_leaves_small_ones(void **state) {
    (void)state;
    assert_true(count_of(program_of(NULL, 0), OP_low_rank_grads) > 0);
    assert_int_equal(count_with_quick_products(OP_low_rank_grads, false), 0);
    assert_true(count_with_quick_products(OP_low_rank_grads, true) > 0);
}

static const Op *op_of(const Program *p, const char *name) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == OP_low_rank_grads && !strcmp(graph->ops[i]->name, name))
            return graph->ops[i];
    fail_msg("no op %s", name);
    return NULL;
}

/* Each op reads its block of the joined B and writes its columns of the joined v. */
static void columns_are_those_of_the_linear(void **state) {
    (void)state;
    const Program *p = with(NULL, NULL);
    const Op *k = op_of(p, "model.layers.1.self_attn.k_proj.lora_B.weight.grad");
    const Op *q = op_of(p, "model.layers.1.self_attn.q_proj.lora_B.weight.grad");
    const Value *bq = q->in[1], *bk = k->in[1];
    assert_int_equal(value_rows(q->in[1]), 128);
    assert_int_equal(value_rows(k->in[1]), 64);
    assert_int_equal(value_cols(k->out[1]), RANK);
    assert_ptr_equal(k->out[1]->storage, q->out[1]->storage);
    /* k's rows follow q's, in columns that are as far from q's as in v. */
    int64_t columns = k->out[1]->offset - q->out[1]->offset;
    assert_int_equal(labs((long)columns), RANK);
    assert_int_equal(bk->offset - bq->offset, 128 * bq->row_stride + columns);
    assert_true(k->attr.alpha != k->attr.alpha_v); /* the border has B times the factor */
}

static void micro_steps_add_up(void **state) {
    (void)state;
    const Program *p = with("training.gradient_accumulation_steps=3", NULL);
    const Op *op = op_of(p, "model.layers.0.mlp.down_proj.lora_B.weight.grad");
    assert_true(op->attr.accumulate);
    assert_int_equal(op->in_count, 4);
    assert_true(value_same_place(op->in[3], op->out[0]));
    assert_int_equal(count_of(p, OP_low_rank_grads), LAYERS * 7);
}

/* ---- with a prologue ------------------------------------------------------------------------- */

/* With both kinds of ops, and up to two more settings. */
static Plan *launches_with(const Device *device, const char *a, const char *b) {
    const char *sets[] = {"compile.low_rank_grads=true", "compile.low_rank_matmul=true", a, b};
    return launches_of_spec(&arena, spec_of_text(&arena, llama, sets, b ? 4 : a ? 3 : 2), device);
}

static const Device *h100(void) { return device_read(&arena, "h100-sxm", (Pos){0}); }

static bool is_section(const Plan *plan, const Launch *launch, const char *section) {
    const char *kernel =
        launch->kind == LAUNCH_KERNEL ? plan->kernels[launch->index].template_kernel : NULL;
    return kernel && !strcmp(kernel, section);
}

/* Launches of micro_step that run this section of a template. */
static int launches_of(const Plan *plan, const char *section) {
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    int count = 0;
    for (int i = 0; i < entry->launch_count; i++)
        count += is_section(plan, &entry->launches[i], section);
    return count;
}

/* Checks how many kernels of a layer make dy for `paths` paths, and how many read it. */
static void expect_kernels(const Plan *plan, int making, int paths, int reading) {
    assert_int_equal(launches_of(plan, "pointwise_low_rank_grads"), LAYERS * making);
    assert_int_equal(launches_of(plan, "low_rank_grads"), LAYERS * reading);
    assert_int_equal(launches_of(plan, "add_parts"), LAYERS * (making * paths + reading));
}

/* The gradients of gate and up come from swiglu_grad; those of the other linears from attention,
 * from a product or from an op over rows. */
static void swiglu_grad_joins_its_readers(void **state) {
    (void)state;
    expect_kernels(launches_with(h100(), NULL, NULL), 1, 2, 5);
    expect_kernels(launches_with(h100(), "training.gradient_accumulation_steps=3", NULL), 1, 2, 5);
    expect_kernels(launches_with(h100(), "compile.bordered=false", NULL), 1, 2, 5);
    const char *one = "adapter.target_modules=[\"gate_proj\", \"q_proj\"]";
    expect_kernels(launches_with(h100(), one, NULL), 1, 1, 1);
}

static void kernels_without_a_prologue(void **state) {
    (void)state;
    expect_kernels(launches_with(h100(), "compile.fusion=false", NULL), 0, 0, 7);
    const char *other = "adapter.target_modules=[\"o_proj\", \"down_proj\"]";
    expect_kernels(launches_with(h100(), other, NULL), 0, 0, 2);
}

static const Launch *first_launch(const Plan *plan, const char *section) {
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++)
        if (is_section(plan, &entry->launches[i], section))
            return &entry->launches[i];
    fail_msg("no launch of %s", section);
    return NULL;
}

/* Checks that the prologue hands each of `count` operands to its reader, op `first` or a later one, and
 * does not read it. Returns how many it stores. */
static int operands_of(const Plan *plan, const Launch *launch, int first, int count) {
    const Kernel *k = &plan->kernels[launch->index];
    int stored = 0, made = 0;
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        if (!s->operand)
            continue;
        assert_true(value_same_view(s->value, launch->ops[first + s->operand - 1]->in[0]));
        assert_int_equal(s->unstored, k->param_of_step[i] < 0);
        made++;
        if (s->unstored)
            continue;
        const KernelParam *param = &k->param[k->param_of_step[i]];
        assert_true(param->written && !param->read);
        stored++;
    }
    assert_int_equal(made, count);
    return stored;
}

/* The kernel makes dgate and dup, does not read them, and hands each to its own path. */
static void prologue_stores_what_it_makes(void **state) {
    (void)state;
    const Plan *plan = launches_with(h100(), "compile.low_rank_grad_a=false", NULL);
    const Launch *launch = first_launch(plan, "pointwise_low_rank_grads");
    assert_int_equal(launch->op_count, 3);
    assert_int_equal(operands_of(plan, launch, 1, 2), 2);
}

/* Two blocks share a multiprocessor: their registers and shared memory must suffice. */
static void two_blocks_fit_a_multiprocessor(void **state) {
    (void)state;
    LowRankShape shape = {.rows = 8192, .features = 8192, .rank = 16};
    LowRankTiles tiles = low_rank_tiles(shape, h100());
    assert_in_range(tiles.across * tiles.down, 100, 132);
    shape.pointwise = true;
    tiles = low_rank_tiles(shape, h100());
    assert_in_range(tiles.across * tiles.down, 200, 264);
    expect_kernels(launches_with(h100(), "adapter.r=32", NULL), 1, 2, 5);
    expect_kernels(launches_with(h100(), "adapter.r=40", NULL), 0, 0, 7);
    Device small = *h100();
    small.arch = "sm_86";
    expect_kernels(launches_with(&small, NULL, NULL), 0, 0, 7);
}

/* A block has the same part of v and dB with and without a prologue, so the sums are the same. */
static void fusion_leaves_the_blocks(void **state) {
    (void)state;
    const char *rows = "training.per_device_train_batch_size=512";
    const Plan *fused = launches_with(h100(), rows, NULL);
    const Plan *apart = launches_with(h100(), rows, "compile.fusion=false");
    const Launch *with = first_launch(fused, "pointwise_low_rank_grads");
    const PlanEntry *entry = &apart->entry[ENTRY_MICRO_STEP];
    int found = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        if (!is_section(apart, launch, "low_rank_grads") ||
            strcmp(launch->ops[0]->name, with->ops[1]->name) != 0)
            continue;
        assert_memory_equal(launch->grid, with->grid, sizeof launch->grid);
        found++;
    }
    assert_int_equal(found, 1);
}

/* ---- the first product ----------------------------------------------------------------------- */

static int products_of(const char *a, const char *b) {
    const char *sets[] = {"compile.low_rank_matmul=true", a, b};
    const Program *p = program_of(sets, b ? 3 : a ? 2 : 1);
    assert_int_equal(count_in(p, ENTRY_EVALUATE, OP_low_rank_matmul),
                     count_of(p, OP_low_rank_matmul));
    return count_of(p, OP_low_rank_matmul);
}

/* Norms make the operand of q, k, v, gate and up, and attention that of o. Roundings take SwiGLU into
 * their kernel. */
static void only_swiglu_makes_x(void **state) {
    (void)state;
    assert_int_equal(products_of(NULL, NULL), LAYERS);
    assert_int_equal(products_of("compile.bordered=false", NULL), LAYERS);
    assert_int_equal(products_of("adapter.r=64", "adapter.target_modules=[\"down_proj\"]"), LAYERS);
    assert_int_equal(products_of("adapter.target_modules=[\"q_proj\", \"o_proj\"]", NULL), 0);
    assert_int_equal(products_of("qat.activation_dtype=\"int8\"", "qat.weight_dtype=\"int4\""), 0);
}

static void other_products_stay(void **state) {
    (void)state;
    assert_int_equal(products_of("adapter.r=4", "compile.bordered=false"), 0);
    assert_int_equal(products_of("adapter.r=72", NULL), 0);
    assert_int_equal(products_of("compile.low_rank_matmul=false", NULL), 0);
    const char *fp32[] = {"precision.dtype=\"fp32\""};
    assert_int_equal(count_of(program_of(fp32, 1), OP_low_rank_matmul), 0);
}

/* Two blocks of 16 rows per multiprocessor of the H100 are 4224 rows. */
static void auto_fills_the_device(void **state) {
    (void)state;
    const char *enough[] = {"training.per_device_train_batch_size=256",
                            "model.intermediate_size=8192"};
    const char *few[] = {"training.per_device_train_batch_size=128", "model.intermediate_size=8192"};
    assert_int_equal(count_of(program_of(enough, 2), OP_low_rank_matmul), LAYERS);
    assert_int_equal(count_of(program_of(few, 2), OP_low_rank_matmul), 0);
}

/* Where the rows are cut into runs, some products read what several ops made, piece by piece. */
static void runs_of_rows_keep_their_products(void **state) {
    (void)state;
    const char *sets[] = {"parallelism.tensor_parallel_degree=2", "parallelism.sequence_parallel=true",
                          "parallelism.sequence_parallel_chunks=2", "compile.low_rank_matmul=true",
                          "training.per_device_train_batch_size=512"};
    assert_int_equal(count_of(program_of(sets, 5), OP_low_rank_matmul), 0);
    sets[3] = "compile.low_rank_matmul=\"auto\"";
    assert_int_equal(count_of(program_of(sets, 5), OP_low_rank_matmul), 0);
}

/* The kernel makes the activation and does not read it. */
static void swiglu_joins_its_product(void **state) {
    (void)state;
    const Plan *plan = launches_with(h100(), NULL, NULL);
    const Launch *launch = first_launch(plan, "pointwise_low_rank_matmul");
    assert_int_equal(launches_of(plan, "pointwise_low_rank_matmul"), LAYERS);
    assert_int_equal(launches_of(plan, "low_rank_matmul"), 0);
    assert_int_equal(launch->op_count, 2);
    assert_int_equal(operands_of(plan, launch, 1, 1), 1);
    const Plan *apart = launches_with(h100(), "compile.fusion=false", NULL);
    assert_int_equal(launches_of(apart, "low_rank_matmul"), LAYERS);
    assert_int_equal(launch->grid[0], first_launch(apart, "low_rank_matmul")->grid[0]);
}

static void expect_tiles(const char *rank, const char *batch, int rows, int tile_rows) {
    const Launch *launch = first_launch(launches_with(h100(), rank, batch), "pointwise_low_rank_matmul");
    assert_int_equal(launch->grid[0], rows / tile_rows);
}

/* Tiles are halved where they would be too few for the blocks that a multiprocessor can have: four, or
 * three of a rank of 48, whose A would then be read twice for nothing. */
static void few_rows_have_small_tiles(void **state) {
    (void)state;
    static const char few[] = "training.per_device_train_batch_size=528";
    static const char many[] = "training.per_device_train_batch_size=529";
    expect_tiles("adapter.r=16", few, 528 * 16, 16);
    expect_tiles("adapter.r=16", many, 528 * 16 + 32, 32);
    expect_tiles("adapter.r=48", few, 528 * 16, 32);
}

/* ---- the gradient of A ----------------------------------------------------------------------- */

static Plan *again_with(const char *a, const char *b) {
    const char *sets[] = {"compile.low_rank_grads=true", "compile.low_rank_grad_a=true", a, b};
    return launches_of_spec(&arena, spec_of_text(&arena, llama, sets, b ? 4 : a ? 3 : 2), h100());
}

static int reads_in_backward(const Program *p, const Value *v) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int count = 0;
    for (int i = 0; i < graph->op_count; i++)
        count += graph->ops[i]->phase != PHASE_FORWARD && op_reads_part(graph->ops[i], v);
    return count;
}

/* Checks that backward reads nothing of the matrices with the results of forward's ops of this kind. */
static void expect_unread(const Program *p, OpKind kind, int count) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int found = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        if (op->kind != kind || op->phase != PHASE_FORWARD)
            continue;
        for (const Value *v = op->out[0]->storage->views; v; v = v->next_view)
            assert_int_equal(reads_in_backward(p, v), 0);
        found++;
    }
    assert_int_equal(found, LAYERS * count);
}

/* How many norms of two layers have an input that backward reads: that of the first layer has none. */
enum { NORMS = 2 * LAYERS - 1 };

/* Checks how many gradients of A make their x again: of each layer, and of those whose x only a norm
 * makes. */
static void expect_again(const char *a, const char *b, int count, int norms) {
    const Program *p = again_with(a, b)->program;
    assert_int_equal(count_of(p, OP_low_rank_grad_a), LAYERS * count + norms);
    if (count && !b)
        expect_unread(p, OP_swiglu, 1);
}

static void backward_makes_swiglu_again(void **state) {
    (void)state;
    expect_again(NULL, NULL, 1, NORMS);
    expect_again("compile.bordered=false", NULL, 1, NORMS);
    /* Several gradients read a norm's result. */
    expect_again("compile.bordered=false", "compile.joined_linears=false", 1, 0);
    expect_again("qat.activation_dtype=\"int8\"", "qat.weight_dtype=\"int4\"", 1, NORMS);
    expect_again("training.gradient_accumulation_steps=3", NULL, 1, NORMS);
    expect_again("precision.dtype=\"fp16\"", NULL, 1, NORMS);
    expect_again("adapter.target_modules=[\"gate_proj\", \"down_proj\"]", NULL, 1, 1);
    expect_again("quantization.quant_type=\"nf4\"", NULL, 1, NORMS);
    expect_again("activation_checkpoint.mode=\"full\"", NULL, 1, NORMS);
    expect_again("adapter.r=32", NULL, 1, LAYERS); /* of q, k and v it would be 96 */
    expect_again("adapter.r=40", NULL, 1, 0);
}

static int norms_unread_in_backward(const Program *p) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int count = 0;
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == OP_rms_norm && strcmp(graph->ops[i]->name, "model.norm") != 0)
            count += !reads_in_backward(p, graph->ops[i]->out[0]);
    return count;
}

/* Backward reads the norm's input and rstd, and the columns of u, which have their own place. */
static void backward_makes_norms_again(void **state) {
    (void)state;
    const Plan *plan = again_with(NULL, NULL);
    assert_int_equal(norms_unread_in_backward(plan->program), NORMS);
    assert_int_equal(count_of(plan->program, OP_rms_norm_apply), NORMS);
    assert_int_equal(count_of(plan->program, OP_cast), LAYERS + NORMS);
    const Op *q = op_of(plan->program, "model.layers.1.self_attn.q_proj.lora_B.weight.grad");
    const Op *k = op_of(plan->program, "model.layers.1.self_attn.k_proj.lora_B.weight.grad");
    assert_ptr_equal(q->in[2]->storage, k->in[2]->storage);
    assert_int_equal(labs((long)(q->in[2]->offset - k->in[2]->offset)), RANK);
    assert_int_equal(launches_of(plan, "pointwise_low_rank_grad_a"), NORMS);
    const Launch *launch = first_launch(plan, "pointwise_low_rank_grad_a");
    assert_int_equal(operands_of(plan, launch, 0, 1), 0); /* x is stored nowhere */
    assert_int_equal(launches_of(again_with("compile.fusion=false", NULL), "low_rank_grad_a"),
                     LAYERS + NORMS);
    expect_again("model.family=\"qwen2\"", "adapter.target_modules=[\"q_proj\"]", 0, 1);
}

/* Each of q, k and v has its own x and its own columns of u, which move together. */
static void dropout_of_norms_is_made_again(void **state) {
    (void)state;
    const Program *p = again_with("adapter.lora_dropout=0.1", NULL)->program;
    assert_int_equal(norms_unread_in_backward(p), NORMS);
    assert_int_equal(count_of(p, OP_rms_norm_apply), 5 * LAYERS - 3);
    assert_int_equal(count_of(p, OP_cast), LAYERS + NORMS);
}

/* The gradients of other linears get their own kernel, which makes x. */
static void dropout_is_made_again(void **state) {
    (void)state;
    expect_again("adapter.target_modules=[\"down_proj\", \"o_proj\"]", NULL, 1, 0);
    expect_again("compile.low_rank_grads=false", NULL, 1, NORMS);
    expect_again("adapter.lora_dropout=0.1", NULL, 7, 0);
    expect_unread(again_with("adapter.lora_dropout=0.1", NULL)->program, OP_dropout, 7);
    expect_again("adapter.lora_dropout=0.1", "compile.bordered=false", 7, 0);
    expect_again("adapter.lora_dropout=0.1", "adapter.target_modules=[\"q_proj\"]", 1, 0);
    const Plan *plan = again_with("adapter.lora_dropout=0.1", "compile.low_rank_matmul=true");
    assert_int_equal(launches_of(plan, "pointwise_low_rank_grads"), LAYERS);
    assert_int_equal(launches_of(plan, "pointwise_low_rank_grad_a"), LAYERS * 6);
    assert_int_equal(launches_of(plan, "pointwise_low_rank_matmul"), LAYERS * 7);
    const Launch *u = first_launch(plan, "pointwise_low_rank_matmul");
    assert_int_equal(operands_of(plan, u, 1, 1), 0); /* x is stored nowhere */
    assert_int_equal(operands_of(plan, first_launch(plan, "pointwise_low_rank_grad_a"), 0, 1), 0);
}

/* Attention makes x from what backward does not read; of the first adapters, backward does not read the
 * norm's input. */
static void others_keep_their_x(void **state) {
    (void)state;
    expect_again("adapter.target_modules=[\"o_proj\"]", NULL, 0, 0);
    expect_again("adapter.target_modules=[\"gate_proj\", \"up_proj\"]", NULL, 0, LAYERS - 1);
    expect_again("adapter.r=72", NULL, 0, 0);
    expect_again("adapter.r=12", NULL, 0, 0);
    const char *fp32[] = {"precision.dtype=\"fp32\""};
    assert_int_equal(count_of(program_of(fp32, 1), OP_low_rank_grad_a), 0);
}

/* Of what full recomputation repeats, how much is of this kind. */
static int repeated(OpKind kind, const char *again) {
    const char *sets[] = {"compile.low_rank_grads=true", "activation_checkpoint.mode=\"full\"",
                          "model.num_hidden_layers=4", again};
    const Program *p = program_of(sets, 4);
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int count = 0;
    for (int i = 0; i < graph->op_count; i++)
        count += graph->ops[i]->kind == kind && graph->ops[i]->phase == PHASE_RECOMPUTE;
    return count;
}

static void layers_are_repeated_as_before(void **state) {
    (void)state;
    int norms = repeated(OP_rms_norm, "compile.low_rank_grad_a=false");
    assert_true(norms > 0);
    assert_int_equal(repeated(OP_rms_norm, "compile.low_rank_grad_a=true"), norms);
}

static void auto_saves_a_long_read(void **state) {
    (void)state;
    assert_int_equal(count_with_quick_products(OP_low_rank_grad_a, false), 0);
    assert_int_equal(count_with_quick_products(OP_low_rank_grad_a, true), LAYERS);
}

/* dA alone has the registers of a block for its sums. */
static void wide_tiles_have_room_for_sums(void **state) {
    (void)state;
    LowRankShape shape = {.rows = 8192, .features = 32768, .rank = 16, .pointwise = true, .only_a = true};
    assert_int_equal(low_rank_tiles(shape, h100()).cols, 512);
    shape.rank = 48;
    LowRankTiles tiles = low_rank_tiles(shape, h100());
    assert_int_equal(tiles.cols, 256);
    assert_true(low_rank_two_blocks_fit(shape, &tiles, (LowRankMade){0, 1}, h100()));
    shape.features = 2048;
    assert_int_equal(low_rank_tiles(shape, h100()).cols, 128);
}

/* For norms it takes longer, by less than one reading of x. Full recomputation keeps no x. */
static void auto_frees_memory(void **state) {
    (void)state;
    const char *sets[] = {"training.per_device_train_batch_size=512", "model.hidden_size=2048",
                          "model.num_attention_heads=32", "activation_checkpoint.mode=\"none\""};
    assert_int_equal(count_of(program_of(sets, 4), OP_rms_norm_apply), NORMS);
    sets[3] = "activation_checkpoint.mode=\"full\"";
    assert_int_equal(count_of(program_of(sets, 4), OP_rms_norm_apply), 0);
    sets[0] = "training.per_device_train_batch_size=32";
    sets[3] = "activation_checkpoint.mode=\"none\"";
    assert_int_equal(count_of(program_of(sets, 4), OP_rms_norm_apply), 0);
}

static int steps_of(const Body *body, StepKind kind) {
    int count = 0;
    for (int i = 0; i < body->count; i++)
        count += body->steps[i].kind == kind;
    return count;
}

/* The kernel of gate and up makes x too, from the same sigmoid, and stores it nowhere. */
static void x_stays_in_the_kernel(void **state) {
    (void)state;
    const Plan *plan = again_with(NULL, NULL);
    const Launch *launch = first_launch(plan, "pointwise_low_rank_grads");
    assert_int_equal(launch->op_count, 5);
    assert_int_equal(operands_of(plan, launch, 1, 3), 2);
    assert_int_equal(launch->ops[0]->kind, OP_swiglu_grad); /* names the launch */
    for (int i = 0; i < launch->arg_count; i++)
        assert_ptr_not_equal(launch->arg[i], launch->ops[3]->in[0]);
    assert_int_equal(steps_of(plan->kernels[launch->index].body, STEP_SIGMOID), 1);
    assert_int_equal(launches_of(plan, "low_rank_grad_a"), 0);
    assert_int_equal(launches_of(plan, "add_parts_of_a"), LAYERS + NORMS);
}

static void a_kernel_of_its_own_has_the_same_blocks(void **state) {
    (void)state;
    const char *rows = "training.per_device_train_batch_size=512";
    const Plan *fused = again_with(rows, NULL), *apart = again_with(rows, "compile.fusion=false");
    assert_int_equal(launches_of(apart, "low_rank_grad_a"), LAYERS + NORMS);
    assert_memory_equal(first_launch(apart, "low_rank_grad_a")->grid,
                        first_launch(fused, "pointwise_low_rank_grads")->grid,
                        sizeof fused->entry[0].launches->grid);
    LowRankShape shape = {.rows = 8192, .features = 8192, .rank = 16, .pointwise = true};
    LowRankShape beside = shape;
    beside.beside_a = true;
    assert_int_equal(low_rank_tiles(shape, h100()).cols, 512);
    assert_int_equal(low_rank_tiles(beside, h100()).cols, 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_linear_has_its_op, free_arena),
        cmocka_unit_test_teardown(blocks_fit_shared_memory, free_arena),
        cmocka_unit_test_teardown(without_borders_too, free_arena),
        cmocka_unit_test_teardown(other_ranks_and_types_stay, free_arena),
        cmocka_unit_test_teardown(auto_leaves_small_ones, free_arena),
        cmocka_unit_test_teardown(columns_are_those_of_the_linear, free_arena),
        cmocka_unit_test_teardown(micro_steps_add_up, free_arena),
        cmocka_unit_test_teardown(swiglu_grad_joins_its_readers, free_arena),
        cmocka_unit_test_teardown(kernels_without_a_prologue, free_arena),
        cmocka_unit_test_teardown(prologue_stores_what_it_makes, free_arena),
        cmocka_unit_test_teardown(two_blocks_fit_a_multiprocessor, free_arena),
        cmocka_unit_test_teardown(fusion_leaves_the_blocks, free_arena),
        cmocka_unit_test_teardown(only_swiglu_makes_x, free_arena),
        cmocka_unit_test_teardown(other_products_stay, free_arena),
        cmocka_unit_test_teardown(auto_fills_the_device, free_arena),
        cmocka_unit_test_teardown(runs_of_rows_keep_their_products, free_arena),
        cmocka_unit_test_teardown(swiglu_joins_its_product, free_arena),
        cmocka_unit_test_teardown(few_rows_have_small_tiles, free_arena),
        cmocka_unit_test_teardown(backward_makes_swiglu_again, free_arena),
        cmocka_unit_test_teardown(backward_makes_norms_again, free_arena),
        cmocka_unit_test_teardown(dropout_is_made_again, free_arena),
        cmocka_unit_test_teardown(dropout_of_norms_is_made_again, free_arena),
        cmocka_unit_test_teardown(others_keep_their_x, free_arena),
        cmocka_unit_test_teardown(layers_are_repeated_as_before, free_arena),
        cmocka_unit_test_teardown(auto_saves_a_long_read, free_arena),
        cmocka_unit_test_teardown(wide_tiles_have_room_for_sums, free_arena),
        cmocka_unit_test_teardown(auto_frees_memory, free_arena),
        cmocka_unit_test_teardown(x_stays_in_the_kernel, free_arena),
        cmocka_unit_test_teardown(a_kernel_of_its_own_has_the_same_blocks, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
