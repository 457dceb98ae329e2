/* Tensor parallelism as a rewrite: what is split along which axis, where ranks sum, and that later
 * passes recognise as much structure as on one card. tests/dist compares the numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fileio.h"
#include "model/model.h"
#include "pass/pass.h"
#include "pass/train_state.h"

enum { LAYERS = 2, VOCABULARY = 64, HIDDEN = 32, HEADS = 4, KV_HEADS = 2, HEAD = 8, INNER = 48 };

static const char base[] = "[model]\nvocab_size = 64\nhidden_size = 32\nintermediate_size = 48\n"
                           "num_hidden_layers = 2\nnum_attention_heads = 4\n"
                           "num_key_value_heads = 2\nmax_position_embeddings = 32\n"
                           "[training]\ntask = \"sft\"\nseq_len = 16\nsteps = 2\n"
                           "[data]\nformat = \"synthetic\"\n"
                           "[parallelism]\ntensor_parallel_degree = 2\n";

static const char gpt2[] = "[model]\nfamily = \"gpt2\"\nvocab_size = 64\nhidden_size = 32\n"
                           "intermediate_size = 48\nnum_hidden_layers = 2\n"
                           "num_attention_heads = 4\nmax_position_embeddings = 32\n"
                           "[training]\ntask = \"sft\"\nseq_len = 16\nsteps = 2\n"
                           "[data]\nformat = \"synthetic\"\n"
                           "[parallelism]\ntensor_parallel_degree = 2\n";

static const char images[] = "[model]\nnum_classes = 8\nimage_size = 64\nimage_channels = 3\n"
                             "[training]\ntask = \"classify\"\nsteps = 2\n"
                             "[data]\nformat = \"synthetic\"\n"
                             "[parallelism]\ntensor_parallel_degree = 2\n";

static Arena arena;

static int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static const char lora[] = "adapter.type=\"lora\"", dropout[] = "adapter.lora_dropout=0.1";
static const char all_linear[] = "adapter.target_modules=[\"all-linear\"]";
static const char four[] = "parallelism.tensor_parallel_degree=4";
static const char alone[] = "parallelism.tensor_parallel_degree=1";

static Program *model_of(const char *spec_text, const char *const *sets, int count, Spec **spec) {
    char path[] = "/tmp/test_tensor_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_null(file_write(path, spec_text, strlen(spec_text)));
    *spec = spec_read(&arena, path, sets, count);
    unlink(path);
    return model_build(&arena, *spec);
}

/* Returns a spec's program after the passes up to and including `last`; NULL: before any. */
static Program *made_of(const char *spec_text, const char *last, const char *const *sets, int count) {
    Spec *spec;
    Program *p = model_of(spec_text, sets, count, &spec);
    for (int i = 0; last && i < pass_count; i++) {
        pass_list[i].run(p, spec);
        program_verify(p, pass_list[i].leaves, pass_list[i].name);
        if (!strcmp(pass_list[i].name, last))
            break;
    }
    return p;
}

static Program *made(const char *last, const char *const *sets, int count) {
    return made_of(base, last, sets, count);
}

static int count_of(const Program *p, Entry entry, OpKind kind) {
    int count = 0;
    for (int i = 0; i < p->entry[entry].op_count; i++)
        count += p->entry[entry].ops[i]->kind == kind;
    return count;
}

static const Param *param(const Program *p, const char *end) {
    for (int i = 0; i < p->param_count; i++) {
        size_t whole = strlen(p->params[i].file_name), part = strlen(end);
        if (whole >= part && !strcmp(p->params[i].file_name + whole - part, end))
            return &p->params[i];
    }
    fail_msg("no parameter %s", end);
    return NULL;
}

static void is_split(const Program *p, const char *end, int axis, int64_t rows, int64_t cols) {
    const Param *found = param(p, end);
    assert_int_equal(found->shard, GROUP_TENSOR);
    assert_int_equal(found->shard_axis, axis);
    assert_int_equal(found->partial, 0);
    assert_int_equal(found->weight->dim[0], rows);
    assert_int_equal(found->weight->dim[1], cols);
    assert_int_equal(found->weight->storage->bytes, value_bytes(found->weight));
}

static void is_whole(const Program *p, const char *end, RankGroup partial) {
    assert_int_equal(param(p, end)->shard, 0);
    assert_int_equal(param(p, end)->partial, partial);
}

static void test_linears_are_split(void **state) {
    (void)state;
    Program *p = made("tensor", NULL, 0);
    is_split(p, "layers.1.self_attn.q_proj.weight", 0, HIDDEN / 2, HIDDEN);
    is_split(p, "layers.1.self_attn.k_proj.weight", 0, KV_HEADS * HEAD / 2, HIDDEN);
    is_split(p, "layers.1.self_attn.v_proj.weight", 0, KV_HEADS * HEAD / 2, HIDDEN);
    is_split(p, "layers.1.self_attn.o_proj.weight", 1, HIDDEN, HIDDEN / 2);
    is_split(p, "layers.1.mlp.gate_proj.weight", 0, INNER / 2, HIDDEN);
    is_split(p, "layers.1.mlp.up_proj.weight", 0, INNER / 2, HIDDEN);
    is_split(p, "layers.1.mlp.down_proj.weight", 1, HIDDEN, INNER / 2);
    is_whole(p, "layers.1.input_layernorm.weight", 0);
    is_whole(p, "model.norm.weight", 0);
}

static void test_the_vocabulary_is_split(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.vocab_parallel=false"};
    Program *p = made("vocab_parallel", NULL, 0), *whole = made("vocab_parallel", sets, 1);
    is_split(p, "embed_tokens.weight", 0, VOCABULARY / 2, HIDDEN);
    is_split(p, "lm_head.weight", 0, VOCABULARY / 2, HIDDEN);
    is_whole(whole, "embed_tokens.weight", 0);
    is_whole(whole, "lm_head.weight", 0);
    p = made("lower", NULL, 0);
    for (int e = ENTRY_MICRO_STEP; e <= ENTRY_EVALUATE; e++) {
        if (!graph_find(&p->entry[e], OP_attention))
            continue;
        assert_int_equal(count_of(p, (Entry)e, OP_cross_entropy), 0);
        assert_int_equal(count_of(p, (Entry)e, OP_all_gather), 2);
        const Op *part = graph_find(&p->entry[e], OP_cross_entropy_part);
        assert_int_equal(value_cols(part->in[0]), VOCABULARY / 2);
    }
}

static void test_heads_are_shared_out(void **state) {
    (void)state;
    Program *p = made("tensor", NULL, 0);
    for (int e = ENTRY_MICRO_STEP; e < ENTRY_COUNT; e++) {
        const Op *op = graph_find(&p->entry[e], OP_attention);
        if (!op)
            continue;
        assert_int_equal(op->attr.heads, HEADS / 2);
        assert_int_equal(op->attr.kv_heads, KV_HEADS / 2);
        assert_int_equal(value_cols(op->out[0]), HIDDEN / 2);
        assert_int_equal(value_cols(op->out[1]), HEADS / 2);
    }
}

/* Attention and MLP of a layer each have one sum forward and one backward, for any number of
 * readers of their input; embedding and head have one forward and one backward. */
static void sums_are_few(const char *const *sets, int count, int backward) {
    Program *p = made("autodiff", sets, count);
    const int forward = 2 * LAYERS + 1;
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_spread), forward);
    assert_int_equal(count_of(p, ENTRY_EVALUATE, OP_spread), forward);
    assert_int_equal(count_of(p, ENTRY_EVALUATE, OP_all_reduce), forward);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_all_reduce), forward + backward);
}

/* Of queries, keys and values in one product, a rank has its heads of each; everything else follows
 * from the structure, whatever the order in files. */
static void test_one_product_of_three(void **state) {
    (void)state;
    const char *const sets[] = {lora, all_linear, "adapter.r=4"};
    Program *p = made_of(gpt2, "tensor", sets, 3);
    is_split(p, "transformer.h.1.attn.c_attn.weight", 0, 3 * HIDDEN / 2, HIDDEN);
    is_split(p, "transformer.h.1.attn.c_attn.lora_B.weight", 0, 3 * HIDDEN / 2, 4);
    is_whole(p, "transformer.h.1.attn.c_attn.lora_A.weight", GROUP_TENSOR);
    is_split(p, "transformer.h.1.attn.c_proj.weight", 1, HIDDEN, HIDDEN / 2);
    is_split(p, "transformer.h.1.mlp.c_fc.weight", 0, INNER / 2, HIDDEN);
    is_whole(p, "transformer.h.1.mlp.c_proj.bias", 0);
    assert_int_equal(param(p, "transformer.h.1.attn.c_attn.weight")->shard_runs, 3);
    assert_int_equal(param(p, "transformer.h.1.attn.c_attn.bias")->shard_runs, 3);
    assert_int_equal(param(p, "transformer.h.1.attn.c_attn.lora_B.weight")->shard_runs, 3);
    assert_int_equal(param(p, "transformer.h.1.mlp.c_fc.bias")->shard_runs, 0);
    assert_int_equal(param(p, "transformer.h.1.mlp.c_fc.bias")->shard, GROUP_TENSOR);
    const Op *op = graph_find(&p->entry[ENTRY_MICRO_STEP], OP_attention);
    assert_int_equal(op->attr.kv_heads, HEADS / 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(op->in[i]->offset, i * HIDDEN / 2);
}

/* A token's and a position's vector are added before ranks sum their parts of both; biases after
 * sums are added to a rank's rows. */
static void test_two_embeddings(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.sequence_parallel=true"};
    Program *p = made_of(gpt2, "vocab_parallel", NULL, 0);
    is_split(p, "transformer.wte.weight", 0, VOCABULARY / 2, HIDDEN);
    is_split(p, "transformer.wpe.weight", 0, 32 / 2, HIDDEN);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_own_ids), 2);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_all_reduce), 2 * LAYERS + 1);
    p = made_of(gpt2, "sequence_parallel", sets, 1);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_reduce_scatter), 2 * LAYERS + 1);
    is_whole(p, "transformer.h.0.mlp.c_proj.bias", GROUP_TENSOR);
    is_whole(p, "transformer.h.0.ln_1.bias", GROUP_TENSOR);
    is_whole(p, "transformer.ln_f.weight", GROUP_TENSOR);
}

/* Four ranks and two key heads: two ranks have the same head, and parts of its gradients. */
static void has_same_keys(const Program *p, const char *end, int64_t rows, int64_t cols) {
    const Param *found = param(p, end);
    assert_int_equal(found->shard, GROUP_KEYS);
    assert_int_equal(found->shard_axis, 0);
    assert_int_equal(found->partial, GROUP_SAME_KEYS);
    assert_int_equal(found->weight->dim[0], rows);
    assert_int_equal(value_elements(found->weight), rows * cols);
}

static void test_key_heads_are_doubled(void **state) {
    (void)state;
    const char *const sets[] = {four, lora, all_linear, "adapter.r=4", "adapter.use_dora=true"};
    Program *p = made("train_state", sets, 5);
    const Op *op = graph_find(&p->entry[ENTRY_MICRO_STEP], OP_attention);
    assert_int_equal(op->attr.heads, HEADS / 4);
    assert_int_equal(op->attr.kv_heads, 1);
    assert_int_equal(value_cols(op->in[0]), HEADS / 4 * HEAD);
    assert_int_equal(value_cols(op->in[1]), HEAD);
    assert_int_equal(value_cols(op->in[2]), HEAD);
    is_split(p, "layers.1.self_attn.q_proj.weight", 0, HIDDEN / 4, HIDDEN);
    is_split(p, "layers.1.self_attn.o_proj.weight", 1, HIDDEN, HIDDEN / 4);
    has_same_keys(p, "layers.1.self_attn.k_proj.weight", HEAD, HIDDEN);
    has_same_keys(p, "layers.1.self_attn.v_proj.lora_B.weight", HEAD, 4);
    has_same_keys(p, "layers.1.self_attn.v_proj.lora_magnitude_vector", HEAD, 1);
    is_whole(p, "layers.1.self_attn.k_proj.lora_A.weight", GROUP_TENSOR);
    /* A rank's own, shared keys, and those of all: three runs, whose squares are summed
     * accordingly. */
    assert_int_equal(p->train.kind_count, 3);
    assert_int_equal(p->train.kinds[1].shard, GROUP_KEYS);
    assert_int_equal(p->train.kinds[1].partial, GROUP_SAME_KEYS);
}

/* A weight that all ranks have is not split, and is stored with others whose gradients all ranks
 * sum. */
static void test_one_key_head(void **state) {
    (void)state;
    const char *const sets[] = {"model.num_key_value_heads=1", lora, all_linear, "adapter.r=4"};
    assert_int_equal(made("train_state", sets, 4)->train.kind_count, 2);
    Program *p = made("tensor", sets, 1);
    is_whole(p, "layers.1.self_attn.k_proj.weight", GROUP_TENSOR);
    is_split(p, "layers.1.self_attn.q_proj.weight", 0, HIDDEN / 2, HIDDEN);
    assert_int_equal(mesh_group(&p->mesh, GROUP_TENSOR), GROUP_SAME_KEYS);
}

/* Two ranks have the same key head, whose columns the degree need not divide. */
static void test_six_ranks_of_two_keys(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.tensor_parallel_degree=6", "model.num_attention_heads=12",
                                "model.hidden_size=96", "parallelism.vocab_parallel=false"};
    Program *p = made("tensor", sets, 4);
    is_split(p, "layers.1.self_attn.q_proj.weight", 0, 12 * HEAD / 6, 96);
    assert_int_equal(param(p, "layers.1.self_attn.k_proj.weight")->shard, GROUP_KEYS);
}

static void is_cut(const Program *p, const char *end, int axis) {
    assert_int_equal(param(p, end)->shard, GROUP_TENSOR);
    assert_int_equal(param(p, end)->shard_axis, axis);
}

/* The depthwise convolution and the norms go with the channels; residual sums are whole. */
static void test_inverted_residuals_are_split(void **state) {
    (void)state;
    const char *const sets[] = {"model.family=\"mobilenet_v2\"", "model.width_mult=0.25"};
    Program *p = made_of(images, "tensor", sets, 2);
    is_cut(p, "features.3.conv.0.0.weight", 0);
    is_cut(p, "features.3.conv.0.1.running_var", 0);
    is_cut(p, "features.3.conv.1.0.weight", 1);
    is_cut(p, "features.3.conv.1.1.bias", 0);
    is_cut(p, "features.3.conv.2.weight", 1);
    is_whole(p, "features.3.conv.3.weight", 0);
    is_cut(p, "features.18.0.weight", 0);
    is_cut(p, "classifier.1.weight", 1);
    is_whole(p, "classifier.1.bias", 0);
}

/* A convolution that reads an input, and one around which a residual goes. */
static void test_narrow_stem(void **state) {
    (void)state;
    const char *const sets[] = {"model.family=\"mobilenet_v2\"", "model.width_mult=0.1",
                                "data.decode=\"host\"", "compile.layout=\"nhwc\""};
    Program *p = made_of(images, "tensor", sets, 4);
    is_whole(p, "features.0.0.weight", 0);
    is_whole(p, "features.1.conv.1.weight", 0);
    is_cut(p, "features.2.conv.0.0.weight", 0);
    const char *const wide[] = {"model.family=\"mobilenet_v2\"", sets[2]};
    p = made_of(images, "tensor", wide, 2);
    is_cut(p, "features.0.0.weight", 0);
    is_cut(p, "features.1.conv.1.weight", 1);
}

/* What blocks add to is larger than what is inside them. A convolution that reads one such sum and
 * makes another makes it whole, if the one that it reads is larger, and the blocks after it are split
 * inside. */
static void test_the_largest_are_split(void **state) {
    (void)state;
    const char *const sets[] = {"model.family=\"resnet\"", "model.depth=50", "model.base_width=8"};
    Program *p = made_of(images, "tensor", sets, 3);
    is_cut(p, "layer1.0.downsample.0.weight", 0);
    is_cut(p, "layer1.1.conv1.weight", 1);
    is_whole(p, "layer1.1.conv2.weight", 0);
    is_cut(p, "layer1.1.conv3.weight", 0);
    is_cut(p, "layer1.1.bn3.running_mean", 0);
    is_cut(p, "layer2.0.downsample.0.weight", 3);
    is_cut(p, "layer2.1.conv1.weight", 0);
    is_cut(p, "layer2.1.conv2.weight", 3);
    is_whole(p, "layer2.1.conv3.weight", 0);
    is_cut(p, "layer3.1.conv3.weight", 0);
}

static Op *nth(const Graph *graph, OpKind kind, int n) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == kind && n-- == 0)
            return graph->ops[i];
    fail_msg("no such op");
    return NULL;
}

/* Splits an mlp of four linears whose forward graphs have been changed. */
static Program *split_mlp(void (*change)(Program *, const Graph *)) {
    static const char *const sets[] = {"model.family=\"mlp\"", "model.hidden_size=20",
                                       "model.num_hidden_layers=3"};
    Spec *spec;
    Program *p = model_of(images, sets, 3, &spec);
    for (int i = 0; program_forward(p, i); i++)
        if (program_forward(p, i)->op_count)
            change(p, program_forward(p, i));
    pass_tensor(p, spec);
    return p;
}

static void has_rows(const Program *p, int linear, int64_t rows) {
    assert_int_equal(value_rows(nth(&p->entry[ENTRY_MICRO_STEP], OP_linear, linear)->in[1]), rows);
}

static void add_residual(Program *p, const Graph *graph) {
    (void)p;
    Op *relu = nth(graph, OP_relu, 1);
    relu->kind = OP_add;
    relu->in[relu->in_count++] = nth(graph, OP_relu, 0)->out[0];
}

/* A sum to which the second linear adds its result is not split, because that linear reads it too.
 * All linears after it read it spread once. */
static void test_residual_around_a_linear(void **state) {
    (void)state;
    Program *p = split_mlp(add_residual);
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    has_rows(p, 0, 20);
    has_rows(p, 1, 20);
    has_rows(p, 2, 10);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_spread), 1);
    assert_int_equal(graph_producer(graph, nth(graph, OP_spread, 0)->in[0])->kind, OP_add);
}

static void add_input(Program *p, const Graph *graph) {
    Op *relu = nth(graph, OP_relu, 0);
    const Value *y = relu->out[0];
    relu->kind = OP_add;
    relu->in[relu->in_count++] =
        value_2d(p, "other", ROLE_INPUT, y->dtype, value_rows(y), value_cols(y), (Pos){0});
}

/* A sum to which an input is added is whole, because the input is. */
static void test_a_sum_with_an_input(void **state) {
    (void)state;
    Program *p = split_mlp(add_input);
    has_rows(p, 0, 20);
    has_rows(p, 1, 10);
}

static void read_by_loss(Program *p, const Graph *graph) {
    (void)p;
    nth(graph, OP_cross_entropy, 0)->in[0] = nth(graph, OP_relu, 0)->out[0];
}

/* A value that a loss reads is whole, although a linear reads it too. */
static void test_a_loss_reads_whole_rows(void **state) {
    (void)state;
    Program *p = split_mlp(read_by_loss);
    has_rows(p, 0, 20);
    has_rows(p, 1, 10);
}

/* Makes linears that follow each other without biases and activations. */
static void drop_between(Graph *graph) {
    int kept = 0;
    for (int i = 0; i < graph->op_count; i++) {
        Op *op = graph->ops[i];
        if (op->kind != OP_add_bias && op->kind != OP_relu) {
            op->id = kept;
            graph->ops[kept++] = op;
            continue;
        }
        for (int k = i + 1; k < graph->op_count; k++)
            for (int n = 0; n < graph->ops[k]->in_count; n++)
                if (graph->ops[k]->in[n] == op->out[0])
                    graph->ops[k]->in[n] = op->in[0];
    }
    graph->op_count = kept;
}

/* The sum after a pair of linears is what the next linear reads, whether that is whole or split. */
static void test_linears_in_a_row(void **state) {
    (void)state;
    for (int layers = 2; layers <= 3; layers++) {
        const char *const sets[] = {"model.family=\"mlp\"", "model.hidden_size=20",
                                    arena_printf(&arena, "model.num_hidden_layers=%d", layers)};
        Spec *spec;
        Program *p = model_of(images, sets, 3, &spec);
        for (int i = 0; program_forward(p, i); i++)
            drop_between(program_forward(p, i));
        pass_tensor(p, spec);
        const Graph *graph = program_forward(p, 0);
        assert_int_equal(value_cols(nth(graph, OP_linear, 1)->in[1]), 10);
        const Op *third = nth(graph, OP_linear, 2);
        const Value *read = third->in[0];
        if (layers == 3) {
            assert_int_equal(graph_producer(graph, read)->kind, OP_spread);
            read = graph_producer(graph, read)->in[0];
        }
        assert_int_equal(graph_producer(graph, read)->kind, OP_all_reduce);
        assert_int_equal(value_rows(third->in[1]), layers == 3 ? 10 : 8);
    }
}

static void test_sums_are_few(void **state) {
    (void)state;
    sums_are_few(NULL, 0, 2 * LAYERS + 1);
    /* Nothing trains before the first adapters. */
    sums_are_few((const char *const[]){lora, all_linear}, 2, 2 * LAYERS);
    sums_are_few((const char *const[]){lora, all_linear, dropout}, 3, 2 * LAYERS);
}

static void test_adapters_go_with_their_linears(void **state) {
    (void)state;
    const char *const sets[] = {lora, all_linear, "adapter.r=4", dropout};
    Program *p = made("tensor", sets, 4);
    is_split(p, "layers.0.self_attn.q_proj.lora_B.weight", 0, HIDDEN / 2, 4);
    is_split(p, "layers.0.mlp.up_proj.lora_B.weight", 0, INNER / 2, 4);
    is_split(p, "layers.0.self_attn.o_proj.lora_A.weight", 1, 4, HIDDEN / 2);
    is_split(p, "layers.0.mlp.down_proj.lora_A.weight", 1, 4, INNER / 2);
    is_whole(p, "layers.0.self_attn.q_proj.lora_A.weight", GROUP_TENSOR);
    is_whole(p, "layers.0.mlp.up_proj.lora_A.weight", GROUP_TENSOR);
    is_whole(p, "layers.0.self_attn.o_proj.lora_B.weight", GROUP_TENSOR);
    is_whole(p, "layers.0.mlp.down_proj.lora_B.weight", GROUP_TENSOR);
}

/* Dropout drops the same numbers on all ranks for values that all have, and each rank's own for
 * split columns. */
static void test_dropout_knows_its_columns(void **state) {
    (void)state;
    const char *const sets[] = {lora, all_linear, dropout};
    Program *p = made("tensor", sets, 3);
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int own = 0, same = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        if (op->kind != OP_dropout)
            continue;
        bool is_own = strstr(op->name, "o_proj") || strstr(op->name, "down_proj");
        assert_int_equal(op->attr.group, is_own ? GROUP_TENSOR : 0);
        assert_int_equal(op->in_count, is_own ? 5 : 4);
        own += is_own;
        same += !is_own;
    }
    assert_int_equal(own, 2 * LAYERS);
    assert_int_equal(same, 5 * LAYERS);
    assert_int_equal(p->group_rank_count, 1);
}

/* Between attention and MLP a rank has only its rows, and a norm's gradient is over these. */
static void test_rows_are_split(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.sequence_parallel=true"};
    Program *p = made("sequence_parallel", sets, 1);
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_all_reduce), 0);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_spread), 0);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_reduce_scatter), 2 * LAYERS + 1);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_all_gather), 2 * LAYERS + 1);
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == OP_rms_norm)
            assert_int_equal(value_rows(graph->ops[i]->out[0]), p->tokens / 2);
    is_whole(p, "layers.0.input_layernorm.weight", GROUP_TENSOR);
    is_whole(p, "model.norm.weight", GROUP_TENSOR);
}

static const Op *op_named(const Graph *graph, const char *name, OpKind kind) {
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == kind && strstr(graph->ops[i]->name, name))
            return graph->ops[i];
    fail_msg("no op is called %s", name);
    return NULL;
}

/* A run of rows is exchanged during work on another, also through attention if a run is whole
 * samples; a gradient that is a sum over rows waits for all runs. */
static void test_rows_come_in_chunks(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.sequence_parallel=true",
                                "parallelism.sequence_parallel_chunks=2",
                                "training.per_device_train_batch_size=2"};
    Program *p = made("chunk_rows", sets, 3);
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    const Op *first = op_named(graph, "layers.0.mlp.down_proj.rows_a", OP_reduce_scatter),
             *second = op_named(graph, "layers.0.mlp.down_proj.rows_b", OP_reduce_scatter);
    assert_ptr_equal(first->after, op_named(graph, "layers.0.mlp.down_proj.rows_a", OP_matmul));
    const Op *beside = op_named(graph, "layers.0.mlp.down_proj.rows_b", OP_matmul);
    assert_true(first->id < beside->id && beside->id < second->id);
    assert_int_equal(value_rows(first->in[0]), p->tokens / 2);
    assert_int_equal(value_rows(second->out[0]), p->tokens / 4);
    const Op *attention = op_named(graph, "layers.0.self_attn.rows_b", OP_attention);
    assert_int_equal(value_rows(attention->in[3]), p->tokens / 2);
    assert_int_equal(attention->in[3]->offset, p->tokens / 2);
    op_named(graph, "layers.0.self_attn.grad.rows_a", OP_attention_grad);
    assert_true(op_named(graph, "down_proj.weight.grad", OP_matmul)->id >
                op_named(graph, "mlp.act.grad.rows_b", OP_matmul)->id);
}

static int64_t rows_of(int64_t elements) { return (elements + TRAIN_COLS - 1) / TRAIN_COLS; }

/* Summed gradients are stored together, and so are each rank's own. */
static void test_the_run_is_in_order(void **state) {
    (void)state;
    const char *const sets[] = {lora, all_linear, "adapter.r=4"};
    Program *p = made("train_state", sets, 3);
    const TrainKind *own = &p->train.kinds[0], *whole = &p->train.kinds[1];
    int64_t shard = 0, partial = 0;
    for (int i = 0; i < p->param_count; i++) {
        const Param *of = &p->params[i];
        if (!value_trains(of->weight))
            continue;
        int64_t row = of->gradient->offset / TRAIN_COLS;
        assert_true(of->shard ? row < own->rows : row >= whole->first);
        shard += of->shard ? rows_of(value_elements(of->weight)) : 0;
        partial += of->partial ? rows_of(value_elements(of->weight)) : 0;
    }
    assert_int_equal(p->train.kind_count, 2);
    assert_int_equal(own->rows, shard);
    assert_int_equal(whole->rows, partial);
    assert_int_equal(value_rows(p->train.gradient), shard + partial);
    assert_int_equal(own->shard, GROUP_TENSOR);
    assert_int_equal(whole->partial, GROUP_TENSOR);
}

/* Bordered linears need as many products as on one card, forward and backward. */
static void as_many_products(const Program *many, const Program *one) {
    assert_int_equal(count_of(many, ENTRY_MICRO_STEP, OP_matmul),
                     count_of(one, ENTRY_MICRO_STEP, OP_matmul));
    assert_int_equal(count_of(many, ENTRY_EVALUATE, OP_matmul),
                     count_of(one, ENTRY_EVALUATE, OP_matmul));
    assert_int_equal(count_of(many, ENTRY_MICRO_STEP, OP_spread), 0);
}

static void test_borders_are_found(void **state) {
    (void)state;
    const char *const sets[] = {lora, all_linear, alone}, *const rows[] = {
                                                              lora, all_linear,
                                                              "parallelism.sequence_parallel=true"};
    const Program *one = made("lower", sets, 3);
    assert_int_equal(count_of(one, ENTRY_MICRO_STEP, OP_all_reduce), 0);
    as_many_products(made("lower", sets, 2), one);
    as_many_products(made("lower", rows, 3), one);
}

static int recomputed(const char *chunks) {
    const char *const sets[] = {"parallelism.sequence_parallel=true", chunks,
                                "training.per_device_train_batch_size=2", "activation_checkpoint.mode=full"};
    const Program *p = made("recompute", sets, 4);
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int count = 0;
    for (int i = 0; i < graph->op_count; i++)
        count += graph->ops[i]->phase == PHASE_RECOMPUTE;
    return count;
}

/* Each run recomputes what would be recomputed for all rows, although values of several runs
 * together have no narrow place. */
static void test_chunks_are_recomputed(void **state) {
    (void)state;
    int whole = recomputed("parallelism.sequence_parallel_chunks=1");
    assert_true(whole > 0);
    assert_true(recomputed("parallelism.sequence_parallel_chunks=2") > 3 * whole / 2);
}

/* Residuals between blocks are summed before they are spread: a gradient is summed once. */
static void test_residuals_are_spread_once(void **state) {
    (void)state;
    const char *const sets[] = {"model.family=\"mobilenet_v2\"", "data.decode=\"host\""};
    Program *p = made_of(images, "autodiff", sets, 2);
    const int pairs = 17 + 1; /* in blocks, of which the first has the stem too, and at the end */
    assert_int_equal(count_of(p, ENTRY_EVALUATE, OP_all_reduce), pairs);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_spread), pairs - 1);
    assert_int_equal(count_of(p, ENTRY_MICRO_STEP, OP_all_reduce), pairs + pairs - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_linears_are_split, teardown),
        cmocka_unit_test_teardown(test_the_vocabulary_is_split, teardown),
        cmocka_unit_test_teardown(test_heads_are_shared_out, teardown),
        cmocka_unit_test_teardown(test_one_product_of_three, teardown),
        cmocka_unit_test_teardown(test_two_embeddings, teardown),
        cmocka_unit_test_teardown(test_key_heads_are_doubled, teardown),
        cmocka_unit_test_teardown(test_one_key_head, teardown),
        cmocka_unit_test_teardown(test_six_ranks_of_two_keys, teardown),
        cmocka_unit_test_teardown(test_inverted_residuals_are_split, teardown),
        cmocka_unit_test_teardown(test_narrow_stem, teardown),
        cmocka_unit_test_teardown(test_the_largest_are_split, teardown),
        cmocka_unit_test_teardown(test_residual_around_a_linear, teardown),
        cmocka_unit_test_teardown(test_a_sum_with_an_input, teardown),
        cmocka_unit_test_teardown(test_a_loss_reads_whole_rows, teardown),
        cmocka_unit_test_teardown(test_linears_in_a_row, teardown),
        cmocka_unit_test_teardown(test_sums_are_few, teardown),
        cmocka_unit_test_teardown(test_adapters_go_with_their_linears, teardown),
        cmocka_unit_test_teardown(test_dropout_knows_its_columns, teardown),
        cmocka_unit_test_teardown(test_rows_are_split, teardown),
        cmocka_unit_test_teardown(test_rows_come_in_chunks, teardown),
        cmocka_unit_test_teardown(test_chunks_are_recomputed, teardown),
        cmocka_unit_test_teardown(test_the_run_is_in_order, teardown),
        cmocka_unit_test_teardown(test_borders_are_found, teardown),
        cmocka_unit_test_teardown(test_residuals_are_spread_once, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
