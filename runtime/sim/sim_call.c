/* Entering and leaving the driver: one lock, and one count and one trace record per call. */
#include "sim.h"
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CUresult sim_sticky;
_Thread_local CUcontext sim_context;
SimTracer sim_tracer;
bool sim_traceable;

/* Lets a host tell this device from a real one: dlsym finds this name only here. */
extern const int gpuopt_simulated;
const int gpuopt_simulated = 1;

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t last_correlation;
static uint32_t current_correlation;

static void open_driver(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    sim_settings_read();
}

SimCall call_enter(const char *name) {
    pthread_once(&once, open_driver);
    pthread_mutex_lock(&lock);
    if (!strncmp(name, "sim_", 4))
        return (SimCall){.name = name, .outer = current_correlation};
    counts_call(name);
    const uint32_t outer = current_correlation;
    current_correlation = ++last_correlation;
    return (SimCall){name, sim_tracer ? sim_now() : 0, current_correlation, outer};
}

void call_leave(SimCall *call) {
    if (sim_tracer && call->start) {
        const SimRecord record = {.kind = TRACE_CALL,
                                  .name = call->name,
                                  .start = call->start,
                                  .end = sim_now(),
                                  .correlation = call->correlation,
                                  .thread = (unsigned long)syscall(SYS_gettid)};
        sim_tracer(&record);
    }
    current_correlation = call->outer;
    pthread_mutex_unlock(&lock);
}

uint32_t sim_correlation(void) { return current_correlation; }

void sim_trace(SimTracer tracer) {
    CALL("sim_trace");
    sim_tracer = tracer;
}

void sim_trace_attach(void) {
    CALL("sim_trace_attach");
    sim_traceable = true;
}

uint32_t sim_stream_id(CUstream stream) {
    CALL("sim_stream_id");
    return stream_of(stream)->id;
}

void sim_trace_pause(void) {
    pthread_once(&once, open_driver);
    pthread_mutex_lock(&lock);
}

void sim_trace_resume(void) { pthread_mutex_unlock(&lock); }
