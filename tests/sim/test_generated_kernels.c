/* Hundreds of fused kernels, printed, compiled for the simulated device and run there: after each
 * launch its storages hold what the reference interpreter says, byte for byte. In the race flavour the
 * bytes that each kernel asked for are those that the plan counted.
 *
 *     FLAVOUR=release|asan|race SIM_FOLDER=... SIM_TESTS=... test_generated_kernels [TEST]
 *
 * Modules are compiled into SIM_TESTS and taken from there by the runs that follow. */
#include "sim_test.h"

#include <jansson.h>
#include <math.h>

#include "base/fileio.h"
#include "emit/emit.h"
#include "random_graph.h"

enum { PARTS = 12, OPS = 14 };

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* ---- one program ----------------------------------------------------------------------------- */

typedef struct {
    Arena arena;
    RandomGraph graph;
    Plan *plan;
    const char *name;
    CUmodule module;
    Memory memory;
    CUdeviceptr *buffers; /* by storage id */
} Case;

static Plan *plan_fused(Program *program) {
    static Spec spec = {.name = "test", .compile.fusion = true};
    Plan *plan = plan_new(program, &spec, NULL);
    plan_launches(plan);
    return plan;
}

/* Whether the file holds the text already; then its module is there as well. */
static bool holds(Arena *arena, const char *path, const char *text) {
    char *old;
    size_t size;
    return !file_read(arena, path, 64 << 20, &old, &size) && !strcmp(old, text);
}

/* kernels.cu -> a module. */
static CUmodule compile(Case *c) {
    const char *folder = setting("SIM_TESTS", "build/sim-tests"), *flavour = setting("FLAVOUR", "release");
    char source[512], module[600], command[2048];
    StrBuf text = {0};
    snprintf(source, sizeof source, "%s/generated_%s.%s.cu", folder, c->name, flavour);
    snprintf(module, sizeof module, "%s/generated_%s.%s", folder, c->name, flavour);
    emit_kernels(c->plan, &text);
    snprintf(command, sizeof command, "%s/simcc --flavour %s -I . %s -o %s", setting("SIM_FOLDER", "build/sim"), flavour,
             source, module);
    if (!holds(&c->arena, source, text.text)) {
        assert_null(file_write(source, text.text, text.length, NULL));
        assert_int_equal(system(command), 0);
    }
    sb_free(&text);
    CUmodule loaded;
    OK(cuModuleLoad(&loaded, module));
    return loaded;
}

static void upload(const Case *c, int storage) {
    OK(cuMemcpyHtoD(c->buffers[storage], c->memory.bytes[storage], (size_t)c->graph.program->storages[storage]->bytes));
}

static void case_start(Case *c, const char *name, DType activation, DType real) {
    *c = (Case){.name = name};
    c->graph = random_graph(&c->arena, 20, activation, real, OPS, PARTS);
    c->plan = plan_fused(c->graph.program);
    c->module = compile(c);
    c->memory = memory_new(c->graph.program);
    random_fill(&c->graph, &c->memory, 3);
    c->buffers = calloc((size_t)c->memory.count, sizeof *c->buffers);
    for (int i = 0; i < c->memory.count; i++) {
        OK(cuMemAlloc(&c->buffers[i], (size_t)c->graph.program->storages[i]->bytes));
        upload(c, i);
    }
}

static void case_end(Case *c) {
    for (int i = 0; i < c->memory.count; i++) OK(cuMemFree(c->buffers[i]));
    OK(cuModuleUnload(c->module));
    free(c->buffers);
    memory_free(&c->memory);
    arena_free(&c->arena);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void launch_on_device(const Case *c, const Launch *launch) {
    const Kernel *k = &c->plan->kernels[launch->index];
    CUdeviceptr pointers[MAX_PARAMS];
    int64_t scalars[MAX_SCALARS];
    void *arguments[MAX_PARAMS + MAX_SCALARS];
    for (int i = 0; i < k->param_count; i++) {
        const Value *v = launch->arg[i];
        pointers[i] = c->buffers[v->storage->id] + (CUdeviceptr)(v->offset * dtype_bytes(v->dtype));
        arguments[i] = &pointers[i];
    }
    for (int i = 0; i < k->scalar_count; i++) {
        scalars[i] = launch->scalar[i];
        arguments[k->param_count + i] = &scalars[i];
    }
    CUfunction function = test_function(c->module, k->name);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)k->shared_bytes));
    OK(cuLaunchKernel(function, (unsigned)launch->grid[0], (unsigned)launch->grid[1], (unsigned)launch->grid[2],
                      (unsigned)k->threads, 1, 1, (unsigned)k->shared_bytes, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
}

/* The element of the storage's bytes that holds byte number `byte`. */
static double element_in(const Value *v, const unsigned char *bytes, int64_t byte) {
    unsigned char *pointers[1] = {(unsigned char *)(uintptr_t)bytes};
    Storage storage = *v->storage;
    Value whole = *v;
    storage.id = 0;
    whole.storage = &storage;
    whole.offset = 0;
    return memory_get(&(Memory){1, pointers}, &whole, byte / dtype_bytes(v->dtype));
}

/* The whole storage, so that a store that missed its view is found as well. */
static void compare_storage(const Case *c, const Launch *launch, const Value *v) {
    const Storage *storage = v->storage;
    const unsigned char *expected = c->memory.bytes[storage->id];
    unsigned char *found = malloc((size_t)storage->bytes);
    OK(cuMemcpyDtoH(found, c->buffers[storage->id], (size_t)storage->bytes));
    for (int64_t i = 0; i < storage->bytes; i++)
        if (found[i] != expected[i] && !(isnan(element_in(v, found, i)) && isnan(element_in(v, expected, i))))
            fail_msg("%s: byte %lld of %s differs, element %g should be %g", c->plan->kernels[launch->index].name,
                     (long long)i, storage->name, element_in(v, found, i), element_in(v, expected, i));
    free(found);
}

static void run_launch(const Case *c, const Launch *launch) {
    Memory memory = c->memory;
    eval_launch(&memory, c->plan, launch);
    if (launch->kind != LAUNCH_KERNEL) {
        for (int i = 0; i < launch->arg_count; i++) upload(c, launch->arg[i]->storage->id);
        return;
    }
    launch_on_device(c, launch);
    for (int i = 0; i < launch->arg_count; i++)
        if (launch->written[i]) compare_storage(c, launch, launch->arg[i]);
}

static void run_case(const char *name, DType activation, DType real) {
    Case c;
    test_context();
    case_start(&c, name, activation, real);
    const PlanEntry *entry = &c.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++) run_launch(&c, &entry->launches[i]);
    printf("[          ] %d kernels, %d launches\n", c.plan->kernel_count, entry->launch_count);
    case_end(&c);
}

static void test_f32(void **state) {
    (void)state;
    run_case("f32", DT_F32, DT_F32);
}

static void test_bf16(void **state) {
    (void)state;
    run_case("bf16", DT_BF16, DT_F32);
}

static void test_f64(void **state) {
    (void)state;
    run_case("f64", DT_F64, DT_F64);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Attention of several shapes over whole sequences; nothing but the bytes is looked at here. */
static void add_attention(Program *p, int64_t seq, int64_t heads, int64_t kv_heads, int64_t head_dim) {
    static int count;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int64_t tokens = 2 * seq;
    const char *name = arena_printf(p->arena, "attention.%d", count++);
    Value *q = value_2d(p, "q", ROLE_FROZEN, p->activation, tokens, heads * head_dim, (Pos){0});
    Value *k = value_2d(p, "k", ROLE_FROZEN, p->activation, tokens, kv_heads * head_dim, (Pos){0});
    Value *v = value_2d(p, "v", ROLE_FROZEN, p->activation, tokens, kv_heads * head_dim, (Pos){0});
    Value *positions = value_2d(p, "positions", ROLE_INPUT, DT_I32, tokens, 1, (Pos){0});
    Attr attr = {.alpha = 1, .heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .seq_len = seq};
    Op *forward = op_add(p, graph, OP_attention, name, (Value *[]){q, k, v, positions}, 4, attr, (Pos){0});
    Value *in[] = {q, k, v, positions, forward->out[0], forward->out[1], q};
    op_add(p, graph, OP_attention_grad, arena_printf(p->arena, "%s.grad", name), in, 7, attr, (Pos){0});
}

static Program *attention_program(Arena *arena, DType activation, DType real) {
    Program *p = program_new(arena);
    p->activation = activation;
    p->real = real;
    add_attention(p, 37, 2, 1, 24);
    add_attention(p, 160, 2, 2, 64);
    add_attention(p, 100, 4, 2, 128);
    add_attention(p, 70, 2, 1, 136);
    return p;
}

static void run_attention(const char *name, DType activation, DType real) {
    Case c = {.name = name};
    test_context();
    c.graph.program = attention_program(&c.arena, activation, real);
    c.plan = plan_fused(c.graph.program);
    c.module = compile(&c);
    c.memory = memory_new(c.graph.program);
    c.buffers = calloc((size_t)c.memory.count, sizeof *c.buffers);
    for (int i = 0; i < c.memory.count; i++) {
        memset(c.memory.bytes[i], 0, (size_t)c.graph.program->storages[i]->bytes);
        OK(cuMemAlloc(&c.buffers[i], (size_t)c.graph.program->storages[i]->bytes));
    }
    for (int i = 0; i < c.graph.program->value_count; i++) {
        const Value *v = c.graph.program->values[i];
        int64_t seq = value_rows(v) / 2;
        for (int64_t k = 0; v->role == ROLE_INPUT && k < value_rows(v); k++) memory_set(&c.memory, v, k, (double)(k % seq));
    }
    for (int i = 0; i < c.memory.count; i++) upload(&c, i);
    const PlanEntry *entry = &c.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < entry->launch_count; i++) launch_on_device(&c, &entry->launches[i]);
    case_end(&c);
}

static void test_attention_f32(void **state) {
    (void)state;
    run_attention("attention_f32", DT_F32, DT_F32);
}

static void test_attention_bf16(void **state) {
    (void)state;
    run_attention("attention_bf16", DT_BF16, DT_F32);
}

/* Runs one test by its name in a process that counts. */
static json_t *counts_of(const char *test) {
    char path[512];
    int status;
    snprintf(path, sizeof path, "%s/%s_counts.json", setting("SIM_TESTS", "build/sim-tests"), test);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("SIM_COUNTS", path, 1);
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        execl("/proc/self/exe", "test_generated_kernels", test, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    json_error_t error;
    json_t *counts = json_load_file(path, 0, &error);
    assert_non_null(counts);
    return counts;
}

static double counted(const json_t *counts, const char *kernel) {
    const json_t *entry = json_object_get(json_object_get(counts, "kernels"), kernel);
    if (!entry) fail_msg("no counts of %s", kernel);
    return (double)(json_integer_value(json_object_get(entry, "read_bytes")) +
                    json_integer_value(json_object_get(entry, "written_bytes")));
}

/* A compiler may leave out the loads of taps that lie in the padding. */
static bool has_window(const Kernel *k) { return strstr(k->ops, "pool2d") || strstr(k->ops, "depthwise_conv2d"); }

static void compare_counts(const char *test, const Plan *plan) {
    json_t *counts = counts_of(test);
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    double *planned = calloc((size_t)plan->kernel_count, sizeof *planned);
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_KERNEL)
            planned[entry->launches[i].index] += launch_issued_bytes(plan, &entry->launches[i]);
    for (int i = 0; i < plan->kernel_count; i++)
        if (has_window(&plan->kernels[i]) ? planned[i] < counted(counts, plan->kernels[i].name)
                                          : planned[i] != counted(counts, plan->kernels[i].name))
            fail_msg("%s: the plan says %.0f bytes, the device counted %.0f", plan->kernels[i].name, planned[i],
                     counted(counts, plan->kernels[i].name));
    free(planned);
    json_decref(counts);
}

static void test_bytes_of_bodies(void **state) {
    (void)state;
    Arena arena = {0};
    RandomGraph g = random_graph(&arena, 20, DT_F32, DT_F32, OPS, PARTS);
    compare_counts("f32", plan_fused(g.program));
    arena_free(&arena);
}

static void test_bytes_of_attention(void **state) {
    (void)state;
    Arena arena = {0};
    compare_counts("attention_f32", plan_fused(attention_program(&arena, DT_F32, DT_F32)));
    compare_counts("attention_bf16", plan_fused(attention_program(&arena, DT_BF16, DT_F32)));
    arena_free(&arena);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        {"f32", test_f32, NULL, NULL, NULL},
        {"bf16", test_bf16, NULL, NULL, NULL},
        {"f64", test_f64, NULL, NULL, NULL},
        {"attention_f32", test_attention_f32, NULL, NULL, NULL},
        {"attention_bf16", test_attention_bf16, NULL, NULL, NULL},
        {"bytes of bodies", test_bytes_of_bodies, NULL, NULL, NULL},
        {"bytes of attention", test_bytes_of_attention, NULL, NULL, NULL},
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    else if (strcmp(setting("FLAVOUR", "release"), "race")) cmocka_set_skip_filter("bytes*"); /* not counted */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
