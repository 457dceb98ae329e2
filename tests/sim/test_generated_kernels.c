/* Hundreds of fused kernels, printed, compiled for the simulated device and run there: after each
 * launch its storages hold what the reference interpreter says, byte for byte. In the race flavour the
 * bytes that each kernel asked for are those that the plan counted.
 *
 *     FLAVOUR=release|asan|race SIM_FOLDER=... SIM_TESTS=... test_generated_kernels */
#include "sim_test.h"

#include <jansson.h>
#include <math.h>

#include "emit/emit.h"
#include "random_graph.h"

enum { PARTS = 16, OPS = 14 };

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

static void write_text(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* kernels.cu -> a module. */
static CUmodule compile(const Case *c) {
    const char *folder = setting("SIM_TESTS", "build/sim-tests"), *flavour = setting("FLAVOUR", "release");
    char source[512], module[600], command[2048];
    StrBuf text = {0};
    snprintf(source, sizeof source, "%s/generated_%s.%s.cu", folder, c->name, flavour);
    snprintf(module, sizeof module, "%s/generated_%s.%s", folder, c->name, flavour);
    emit_kernels(c->plan, &text);
    write_text(source, text.text);
    sb_free(&text);
    snprintf(command, sizeof command, "%s/simcc --flavour %s -I . %s -o %s", setting("SIM_FOLDER", "build/sim"), flavour,
             source, module);
    assert_int_equal(system(command), 0);
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
    OK(cuLaunchKernel(test_function(c->module, k->name), (unsigned)launch->grid[0], (unsigned)launch->grid[1],
                      (unsigned)launch->grid[2], (unsigned)k->threads, 1, 1, (unsigned)k->shared_bytes, NULL, arguments,
                      NULL));
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

/* What the counts of a process that ran the f32 case say of a kernel. */
static double counted(const json_t *counts, const char *kernel) {
    const json_t *entry = json_object_get(json_object_get(counts, "kernels"), kernel);
    if (!entry) fail_msg("no counts of %s", kernel);
    return (double)(json_integer_value(json_object_get(entry, "read_bytes")) +
                    json_integer_value(json_object_get(entry, "written_bytes")));
}

static void test_issued_bytes(void **state) {
    (void)state;
    if (strcmp(setting("FLAVOUR", "release"), "race")) return; /* the flavour that counts */
    char path[512];
    snprintf(path, sizeof path, "%s/generated_counts.json", setting("SIM_TESTS", "build/sim-tests"));
    pid_t child = fork();
    if (child == 0) {
        setenv("SIM_COUNTS", path, 1);
        execl("/proc/self/exe", "test_generated_kernels", "f32", (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    json_error_t error;
    json_t *counts = json_load_file(path, 0, &error);
    assert_non_null(counts);
    Arena arena = {0};
    RandomGraph g = random_graph(&arena, 20, DT_F32, DT_F32, OPS, PARTS);
    Plan *plan = plan_fused(g.program);
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    double *planned = calloc((size_t)plan->kernel_count, sizeof *planned);
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_KERNEL)
            planned[entry->launches[i].index] += launch_issued_bytes(plan, &entry->launches[i]);
    for (int i = 0; i < plan->kernel_count; i++)
        if (planned[i] != counted(counts, plan->kernels[i].name))
            fail_msg("%s: the plan says %.0f bytes, the device counted %.0f", plan->kernels[i].name, planned[i],
                     counted(counts, plan->kernels[i].name));
    free(planned);
    json_decref(counts);
    arena_free(&arena);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_issued_bytes),
    };
    const struct CMUnitTest one[] = {cmocka_unit_test(test_f32)};
    if (argc > 1 && !strcmp(argv[1], "f32")) return cmocka_run_group_tests(one, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
