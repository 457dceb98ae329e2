#include "generated.h"

#include <jansson.h>

#include "base/fileio.h"
#include "emit/emit.h"
#include "plan/plan_steps.h"
#include "plan/work.h"

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

const char *generated_flavour(void) { return setting("FLAVOUR", "release"); }

Plan *generated_plan(Program *program, const Device *device) {
    static Spec spec = {.name = "test", .compile.fusion = true, .compile.thread_rows = true};
    Plan *plan = plan_new(program, &spec, device);
    plan_launches(plan);
    return plan;
}

/* ---- modules --------------------------------------------------------------------------------- */

/* Whether the file already has this text; then its module exists too. */
static bool holds(Arena *arena, const char *path, const char *text) {
    char *old;
    size_t size;
    return !file_read(arena, path, 64 << 20, &old, &size) && !strcmp(old, text);
}

/* Compiles kernels.cu to a module and loads it. */
static CUmodule compile(Case *c) {
    const char *folder = setting("SIM_TESTS", "build/sim-tests"),
               *flavour = setting("FLAVOUR", "release");
    char source[512], module[600], command[2048];
    StrBuf text = {0};
    snprintf(source, sizeof source, "%s/generated_%s.%s.cu", folder, c->name, flavour);
    snprintf(module, sizeof module, "%s/generated_%s.%s", folder, c->name, flavour);
    emit_kernels(c->plan, &text);
    snprintf(command, sizeof command, "%s/simcc --flavour %s -I . %s -o %s",
             setting("SIM_FOLDER", "build/sim"), flavour, source, module);
    if (!holds(c->plan->program->arena, source, text.text)) {
        assert_null(file_write(source, text.text, text.length));
        assert_int_equal(system(command), 0);
    }
    sb_free(&text);
    CUmodule loaded;
    OK(cuModuleLoad(&loaded, module));
    return loaded;
}

/* ---- cases ----------------------------------------------------------------------------------- */

void case_upload(const Case *c, int storage) {
    OK(cuMemcpyHtoD(c->buffers[storage], c->memory.bytes[storage],
                    (size_t)c->plan->program->storages[storage]->bytes));
}

void case_download(Case *c, int storage) {
    OK(cuMemcpyDtoH(c->memory.bytes[storage], c->buffers[storage],
                    (size_t)c->plan->program->storages[storage]->bytes));
}

Case case_open(const char *name, Program *program, const Device *device) {
    test_context();
    Case c = {.name = name, .plan = generated_plan(program, device)};
    c.module = compile(&c);
    c.memory = memory_new(program);
    c.buffers = calloc((size_t)c.memory.count, sizeof *c.buffers);
    for (int i = 0; i < c.memory.count; i++)
        OK(cuMemAlloc(&c.buffers[i], (size_t)program->storages[i]->bytes));
    return c;
}

void case_close(Case *c) {
    for (int i = 0; i < c->memory.count; i++)
        OK(cuMemFree(c->buffers[i]));
    OK(cuModuleUnload(c->module));
    free(c->buffers);
    memory_free(&c->memory);
}

/* Runs a product on the host: this tests not the library, but which matrices the plan gives it. */
static void multiply(Case *c, const Launch *launch) {
    eval_launch(&c->memory, c->plan, launch);
    case_upload(c, launch->arg[2]->storage->id);
}

void case_launch(Case *c, const Launch *launch) {
    const Kernel *k = &c->plan->kernels[launch->index];
    CUdeviceptr pointers[MAX_PARAMS];
    int64_t scalars[MAX_SCALARS];
    void *arguments[MAX_PARAMS + MAX_SCALARS];
    if (launch->kind == LAUNCH_GEMM) {
        multiply(c, launch);
        return;
    }
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
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          (int)k->shared_bytes));
    OK(cuLaunchKernel(function, (unsigned)launch->grid[0], (unsigned)launch->grid[1],
                      (unsigned)launch->grid[2], (unsigned)k->threads, 1, 1,
                      (unsigned)k->shared_bytes, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Runs one test by its name in a process that counts bytes, and prints that test's result. */
static json_t *counts_of(const char *test) {
    char path[512];
    int status;
    snprintf(path, sizeof path, "%s/%s_counts.json", setting("SIM_TESTS", "build/sim-tests"), test);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("SIM_COUNTS", path, 1);
        execl("/proc/self/exe", "/proc/self/exe", test, (char *)NULL);
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
    if (!entry)
        fail_msg("no counts of %s", kernel);
    return (double)(json_integer_value(json_object_get(entry, "read_bytes")) +
                    json_integer_value(json_object_get(entry, "written_bytes")));
}

/* For windows, the compiler may remove loads of taps in the padding. */
static bool has_window(const Kernel *k) {
    for (int i = 0; i < k->ops.count; i++)
        if (strstr(k->ops.title[i], "pool2d") || strstr(k->ops.title[i], "depthwise_conv2d"))
            return true;
    return false;
}

void generated_compare_counts(const char *test, const Plan *plan) {
    json_t *counts = counts_of(test);
    const PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    double *planned = calloc((size_t)plan->kernel_count, sizeof *planned);
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_KERNEL)
            planned[entry->launches[i].index] +=
                launch_work(plan, &entry->launches[i]).issued_bytes;
    for (int i = 0; i < plan->kernel_count; i++)
        if (has_window(&plan->kernels[i]) ? planned[i] < counted(counts, plan->kernels[i].name)
                                          : planned[i] != counted(counts, plan->kernels[i].name))
            fail_msg("%s: the plan says %.0f bytes, the device counted %.0f", plan->kernels[i].name,
                     planned[i], counted(counts, plan->kernels[i].name));
    free(planned);
    json_decref(counts);
}
