/* The cost of communication is the part that no other work hides: the time in which NCCL's kernels
 * or copies between devices ran, minus the part in which other work ran too. The kernels' time
 * includes waiting for the last rank. */
#include "runtime/report/profile_comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[RT_COLLECTIVES] = {[RT_ALL_REDUCE] = "AllReduce",
                                                  [RT_ALL_GATHER] = "AllGather",
                                                  [RT_REDUCE_SCATTER] = "ReduceScatter",
                                                  [RT_BROADCAST] = "Broadcast",
                                                  [RT_SEND_RECV] = "SendRecv"};

/* Returns the kind of a kernel of NCCL, or -1. Their names are like
 * ncclDevKernel_AllReduce_Sum_f32_RING_LL. */
static int kind_of(const ProfileRecord *r) {
    if (r->kind != PROFILE_KERNEL || strncmp(r->name, "nccl", 4) != 0)
        return -1;
    int kind = 0;
    while (kind < RT_COLLECTIVES && !strstr(r->name, words[kind]))
        kind++;
    return kind;
}

static bool is_comm(const ProfileRecord *r) { return kind_of(r) >= 0 || r->peer; }

static bool is_work(const ProfileRecord *r) {
    bool inner = r->kind == PROFILE_COPY && r->copy == RT_D2D && !r->peer;
    return (r->kind == PROFILE_KERNEL && !is_comm(r)) || r->kind == PROFILE_MEMSET || inner;
}

/* ---- spans of time --------------------------------------------------------------------------- */

typedef struct {
    uint64_t start, end;
} Span;

/* Merges the times of the wanted records into disjoint spans; records are ordered by start. */
static int64_t spans_of(const Profile *p, bool (*wanted)(const ProfileRecord *), Span *spans) {
    int64_t count = 0;
    for (int64_t i = 0; i < profile_count(p); i++) {
        const ProfileRecord *r = profile_record(p, i);
        if (!wanted(r))
            continue;
        if (!count || r->start > spans[count - 1].end)
            spans[count++] = (Span){r->start, r->end};
        else if (r->end > spans[count - 1].end)
            spans[count - 1].end = r->end;
    }
    return count;
}

static double total_ms(const Span *spans, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += spans[i].end - spans[i].start;
    return 1e-6 * (double)sum;
}

static double shared_ms(const Span *a, int64_t a_count, const Span *b, int64_t b_count) {
    uint64_t sum = 0;
    for (int64_t i = 0, k = 0; i < a_count && k < b_count;) {
        uint64_t start = a[i].start > b[k].start ? a[i].start : b[k].start;
        uint64_t end = a[i].end < b[k].end ? a[i].end : b[k].end;
        sum += end > start ? end - start : 0;
        if (a[i].end < b[k].end)
            i++;
        else
            k++;
    }
    return 1e-6 * (double)sum;
}

CommTimes profile_comm_times(const Profile *p) {
    if (profile_steps(p) == 0)
        return (CommTimes){NAN, NAN, NAN};
    size_t room = (size_t)profile_count(p) + 1;
    Span *comm = rt_alloc(room * sizeof *comm), *work = rt_alloc(room * sizeof *work);
    int64_t comms = spans_of(p, is_comm, comm), works = spans_of(p, is_work, work);
    CommTimes times = {total_ms(comm, comms), shared_ms(comm, comms, work, works),
                       total_ms(work, works)};
    free(comm);
    free(work);
    return times;
}

int64_t profile_comm_calls(const Profile *p, int kind, double *all, double *each) {
    int64_t count = 0;
    double sum = 0;
    for (int64_t i = 0; i < profile_count(p); i++) {
        const ProfileRecord *r = profile_record(p, i);
        double ms = 1e-6 * (double)(r->end - r->start);
        if (kind_of(r) != kind)
            continue;
        if (each)
            each[count] = ms;
        count++;
        sum += ms;
    }
    if (all)
        *all = sum;
    return count;
}
