/* Compares each kernel on two devices: every launch of a program's first step runs on the device and,
 * from the same bytes, on the simulated device in a second process; the outputs must agree.
 *
 *     kernel_check [OPTION OF THE PROGRAM]...      prints `ok NAME` or `FAIL NAME` for each kernel
 *
 * Linked instead of the program's own executable, with the linker's --wrap for the functions that
 * begin with __wrap_ here. The device's process (the parent) copies all arenas to shared memory
 * before and after each launch; the child runs its own launch from the first copy and compares the
 * result with the second. So errors do not accumulate, and writes outside the outputs are detected.
 * The workspace of matrix products belongs to the library and is not compared. Graphs are off. */
#include "runtime/base/rt.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_NAMES = 512, MAX_ARGUMENTS = 64 };
enum { WHOLE_THAT_AGREE = 2000 }; /* for each whole number that may differ, where one may */

typedef struct {
    const char *name;
    int launches;
    double error; /* the largest, relative to the largest value of its tensor */
    char failure[256];
} Result;

static struct {
    bool child;
    bool begun; /* in the parent: the child has been given a launch */
    int in, out;
    unsigned char *before, *after, *mine; /* all arenas, one after the other */
    size_t bytes;
    const RtEntry *entry;
    int launch;
    FILE *report;
    Result results[MAX_NAMES];
    int count;
} check;

/* ---- both processes -------------------------------------------------------------------------- */

static size_t held_bytes(const RtProgram *program, int arena) {
    return program->arena_bytes[arena] * (arena == RT_INPUT ? RT_SLOTS : 1);
}

/* A launch may be on any stream. */
static void finish_streams(Rt *rt) {
    for (RtStream stream = 0; stream < RT_STREAMS; stream++)
        rt_finish_stream(rt, stream);
}

static void download(Rt *rt, unsigned char *to) {
    finish_streams(rt);
    for (int a = 0; a < RT_ARENAS; to += held_bytes(rt->program, a++))
        if (held_bytes(rt->program, a))
            CU(MemcpyDtoH, to, rt->arenas[a], held_bytes(rt->program, a));
}

static void upload(Rt *rt, const unsigned char *from) {
    finish_streams(rt);
    for (int a = 0; a < RT_ARENAS; from += held_bytes(rt->program, a++))
        if (held_bytes(rt->program, a))
            CU(MemcpyHtoD, rt->arenas[a], from, held_bytes(rt->program, a));
}

/* If the other process has ended, this one ends too. */
static void await(void) {
    char byte;
    if (read(check.in, &byte, 1) != 1)
        _exit(1);
}

static void tell(void) {
    if (write(check.out, "", 1) != 1)
        _exit(1);
}

static bool before_launch(Rt *rt) {
    if (rt->dry)
        return false;
    if (check.child) {
        await();
        upload(rt, check.before);
    } else {
        if (check.begun)
            await();
        download(rt, check.before);
    }
    return true;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static Result *result_of(const char *name) {
    for (int i = 0; i < check.count; i++)
        if (!strcmp(check.results[i].name, name))
            return &check.results[i];
    if (check.count == MAX_NAMES)
        rt_internal("more than %d kernels", MAX_NAMES);
    check.results[check.count] = (Result){.name = name};
    return &check.results[check.count++];
}

/* Returns the difference allowed between two correct results. A 16-bit result may round the other
 * way; matrix instructions for 16-bit and tf32 operands add in their own order and width; and a
 * library adds in another order than we do, and may truncate to tf32 where we round. */
static double tolerance(const RtProgram *program, RtDtype dtype, bool of_library) {
    bool plain = !strcmp(program->precision, "fp32") || !strcmp(program->precision, "fp64");
    switch (dtype) {
    case RT_F64: return of_library ? 1e-11 : 1e-12;
    case RT_F32: return (plain ? 1e-5 : 1e-3) * (of_library ? 10 : 1);
    case RT_F16:
    case RT_BF16: return 1.6e-2;
    default: return 0;
    }
}

static size_t offset_of(const RtProgram *program, RtAt at) {
    size_t offset = at.offset;
    for (int a = 0; a < (int)at.arena; a++)
        offset += held_bytes(program, a);
    return offset;
}

static bool is_whole(RtDtype dtype) { return dtype >= RT_I64; }

/* How many whole numbers of a launch's output may differ. If it also writes floats that matrix
 * instructions may have made, one of these rounds another way now and then, so that another place of a
 * window is the largest. */
static int64_t may_differ(const RtProgram *program, const RtOutput *outputs, int count, int64_t elements) {
    bool plain = !strcmp(program->precision, "fp32") || !strcmp(program->precision, "fp64");
    bool floats = false;
    for (int i = 0; i < count; i++)
        floats |= !is_whole(outputs[i].dtype);
    return floats && !plain ? elements / WHOLE_THAT_AGREE : 0;
}

static void compare(const RtProgram *program, const RtOutput *output, bool of_library, int64_t allowed,
                    Result *result) {
    int64_t differing = 0;
    const unsigned char *device = check.after + offset_of(program, output->at);
    const unsigned char *host = check.mine + offset_of(program, output->at);
    double largest = 0, worst = 0;
    for (int64_t r = 0; r < output->rows; r++) {
        for (int64_t c = 0; c < output->cols; c++) {
            int64_t i = r * output->row_stride + c;
            double a = rt_get(output->dtype, device, i), b = rt_get(output->dtype, host, i);
            double difference = isnan(a) && isnan(b) ? 0 : a == b ? 0 : fabs(a - b);
            largest = fmax(largest, fabs(b));
            differing += difference != 0;
            worst = difference <= worst ? worst : difference; /* a NaN stays */
        }
    }
    if (is_whole(output->dtype) && differing <= allowed)
        return;
    double error = worst == 0 ? 0 : worst / fmax(largest, 1e-30);
    if (!(error <= result->error))
        result->error = error;
    if (!(error <= tolerance(program, output->dtype, of_library)) && !result->failure[0])
        snprintf(result->failure, sizeof result->failure, "%s differs by %.2g of its largest value",
                 output->name, error);
}

static void forget_workspace(const RtProgram *program, size_t offset) {
    size_t at = offset_of(program, (RtAt){RT_SCRATCH, offset});
    memcpy(check.mine + at, check.before + at, program->gemm_workspace_bytes);
    memcpy(check.after + at, check.before + at, program->gemm_workspace_bytes);
}

/* Checks bytes outside the outputs: those that only one of the two launches changed. */
static void compare_rest(const RtProgram *program, const RtOutput *outputs, int count, Result *result) {
    for (int i = 0; i < count; i++) {
        const RtOutput *output = &outputs[i];
        size_t size = rt_dtype_bytes(output->dtype), at = offset_of(program, output->at);
        for (int64_t r = 0; r < output->rows; r++)
            memcpy(check.mine + at + (size_t)(r * output->row_stride) * size,
                   check.after + at + (size_t)(r * output->row_stride) * size,
                   (size_t)output->cols * size);
    }
    forget_workspace(program, program->gemm_workspace);
    if (program->gemm_side_workspace)
        forget_workspace(program, program->gemm_side_workspace);
    for (size_t i = 0; i < check.bytes && !result->failure[0]; i++)
        if ((check.mine[i] != check.before[i]) != (check.after[i] != check.before[i]))
            snprintf(result->failure, sizeof result->failure,
                     "byte %zu of the arenas changed, which is no output", i);
}

static void judge(Rt *rt, const char *name, bool of_library) {
    const RtEntry *entry = check.entry;
    int first = 0, count = 0;
    while (first < entry->output_count && entry->outputs[first].launch < check.launch)
        first++;
    while (first + count < entry->output_count &&
           entry->outputs[first + count].launch == check.launch)
        count++;
    Result *result = result_of(name);
    result->launches++;
    download(rt, check.mine);
    for (int i = 0; i < count; i++) {
        const RtOutput *output = &entry->outputs[first + i];
        int64_t elements = output->rows * output->cols;
        compare(rt->program, output, of_library,
                may_differ(rt->program, entry->outputs + first, count, elements), result);
    }
    compare_rest(rt->program, entry->outputs + first, count, result);
}

static void after_launch(Rt *rt, const char *name, bool of_library) {
    if (check.child) {
        judge(rt, name, of_library);
    } else {
        download(rt, check.after);
        check.begun = true;
    }
    check.launch++;
    tell();
}

/* ---- functions that the program and the runtime call ------------------------------------------- */

void __real_rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]);
void __wrap_rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]);
void __wrap_rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]) {
    bool judged = before_launch(rt);
    __real_rt_launch(rt, kernel, grid, args);
    if (judged)
        after_launch(rt, rt->program->kernels[kernel].name, false);
}

void __real_rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c);
void __wrap_rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c);
void __wrap_rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c) {
    bool judged = before_launch(rt);
    __real_rt_gemm(rt, gemm, a, b, c);
    if (judged)
        after_launch(rt, rt->program->gemms[gemm].name, true);
}

void __real_rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias);
void __wrap_rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias);
void __wrap_rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias) {
    bool judged = before_launch(rt);
    __real_rt_gemm_bias(rt, gemm, a, b, c, bias);
    if (judged)
        after_launch(rt, rt->program->gemms[gemm].name, true);
}

void __real_rt_zero(Rt *rt, RtPtr to, size_t bytes);
void __wrap_rt_zero(Rt *rt, RtPtr to, size_t bytes);
void __wrap_rt_zero(Rt *rt, RtPtr to, size_t bytes) {
    bool judged = before_launch(rt);
    __real_rt_zero(rt, to, bytes);
    if (judged)
        after_launch(rt, "memset", false);
}

void __real_rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes);
void __wrap_rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes);
void __wrap_rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes) {
    bool judged = before_launch(rt);
    __real_rt_copy(rt, to, from, bytes);
    if (judged)
        after_launch(rt, "copy", false);
}

RtWork __real_rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
RtWork __wrap_rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
RtWork __wrap_rt_enqueue(Rt *rt, const RtEntry *entry, int slot) {
    check.entry = entry;
    check.launch = 0;
    return __real_rt_enqueue(rt, entry, slot);
}

/* ---- two processes ----------------------------------------------------------------------------- */

static int print_results(void) {
    int failed = 0;
    for (int i = 0; i < check.count; i++) {
        const Result *r = &check.results[i];
        failed += r->failure[0] != '\0';
        if (r->failure[0])
            fprintf(check.report, "FAIL %s: %s\n", r->name, r->failure);
        else
            fprintf(check.report, "ok %s: %d launches, largest difference %.1g\n", r->name,
                    r->launches, r->error);
    }
    fflush(check.report);
    return failed || !check.count;
}

static void become_child(void) {
    check.child = true;
    check.report = fdopen(dup(STDOUT_FILENO), "w");
    check.mine = rt_alloc(check.bytes);
    setenv("GPUOPT_DEVICE", "sim", 1);
    unsetenv("GPUOPT_JIT");
    if (!check.report || !freopen("/dev/null", "w", stdout))
        _exit(1);
}

static unsigned char *shared_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        rt_fail("no shared memory for %zu bytes", bytes);
    return memory;
}

/* Each process writes to a folder of its own: DIR.parent or DIR.child for --out DIR. Returns the number of
 * arguments. */
static int name_out(char **arguments, int count, const char *process) {
    int at = 1;
    while (at + 1 < count && strcmp(arguments[at], "--out") != 0)
        at++;
    char *out = NULL;
    bool given = at + 1 < count;
    if (asprintf(&out, "%s.%s", given ? arguments[at + 1] : "out", process) < 0)
        rt_fail("no memory");
    if (!given)
        at = count;
    arguments[at] = "--out";
    arguments[at + 1] = out;
    return given ? count : count + 2;
}

int __real_rt_main(const RtProgram *program, int argc, char **argv);
int __wrap_rt_main(const RtProgram *program, int argc, char **argv);
int __wrap_rt_main(const RtProgram *program, int argc, char **argv) {
    int to_child[2], to_parent[2], status = 0;
    RtProgram uncaptured = *program;
    char *arguments[MAX_ARGUMENTS + 8] = {0};
    if (argc > MAX_ARGUMENTS || pipe(to_child) || pipe(to_parent))
        rt_fail("%s cannot begin", argv[0]);
    uncaptured.training.cuda_graph = false;
    for (int a = 0; a < RT_ARENAS; a++)
        check.bytes += held_bytes(program, a);
    check.before = shared_memory(check.bytes);
    check.after = shared_memory(check.bytes);
    pid_t child = fork();
    bool is_child = child == 0;
    check.in = is_child ? to_child[0] : to_parent[0];
    check.out = is_child ? to_parent[1] : to_child[1];
    close(is_child ? to_child[1] : to_parent[1]);
    close(is_child ? to_parent[0] : to_child[0]);
    if (is_child)
        become_child();
    memcpy(arguments, argv, (size_t)argc * sizeof *argv);
    int count = name_out(arguments, argc, is_child ? "child" : "parent");
    arguments[count++] = "--steps";
    arguments[count++] = "1";
    int code = __real_rt_main(&uncaptured, count, arguments);
    if (is_child)
        _exit(code || print_results());
    if (check.begun)
        await();
    waitpid(child, &status, 0);
    return code || !WIFEXITED(status) || WEXITSTATUS(status);
}
