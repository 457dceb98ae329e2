/* Shared by the tests of the simulated device: a context, modules that run.sh has compiled, and
 * running a case in a separate process, because a failed kernel breaks its whole process.
 */
#ifndef SIM_TEST_H
#define SIM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static inline CUcontext test_context(void) {
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return context;
}

/* Loads NAME.FLAVOUR from SIM_TESTS, by default build/sim-tests. */
static inline CUmodule test_module(const char *name, const char *flavour) {
    char path[4096];
    CUmodule module;
    snprintf(path, sizeof path, "%s/%s.%s", getenv("SIM_TESTS"), name, flavour);
    OK(cuModuleLoad(&module, path));
    return module;
}

static inline CUfunction test_function(CUmodule module, const char *name) {
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUdeviceptr test_upload(const void *from, size_t bytes) {
    CUdeviceptr p;
    OK(cuMemAlloc(&p, bytes));
    if (from)
        OK(cuMemcpyHtoD(p, from, bytes));
    return p;
}

static inline CUresult test_launch(CUfunction f, unsigned blocks, unsigned threads,
                                   unsigned shared_bytes, CUstream stream, void **arguments) {
    return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, arguments, NULL);
}

typedef struct TestRun {
    int status;      /* exit status, or 128 + signal */
    char text[8192]; /* of stderr */
} TestRun;

/* Runs this program again with `word` as its only argument and the environment NAME=VALUE,... set.
 */
static inline TestRun test_again(const char *word, const char *environment) {
    TestRun run = {0};
    int ends[2], status;
    char *copy = strdup(environment), *rest = copy;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (char *at; (at = strtok_r(rest, ",", &rest));)
            putenv(at);
        dup2(ends[1], 2);
        close(ends[0]);
        execl("/proc/self/exe", "again", word, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], run.text + used, sizeof run.text - 1 - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    waitpid(child, &status, 0);
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    free(copy);
    return run;
}

static inline void assert_told(const TestRun *run, const char *words) {
    if (!strstr(run->text, words))
        fail_msg("no \"%s\" in: %s", words, run->text);
}

#endif
