/* Several streams on one axis of time: a launch begins when the one before it on its stream and those
 * that it waits for have ended: all that another stream has been given so far, as in the program. */
#include "plan/streams.h"

#include <math.h>

/* When the launch begins, if all that its stream was given before it has ended at `stream_end`. */
static double begin_ms(const PlanEntry *entry, const Launch *launch, const double *stream_end) {
    double begin = stream_end[launch->stream];
    for (int w = 0; w < launch->wait_count; w++)
        begin = fmax(begin, stream_end[entry->launches[launch->wait[w]].stream]);
    return begin;
}

static void run(const PlanEntry *entry, int count, bool ends_step, double stream_end[MAX_STREAMS]) {
    for (int i = 0; i < count; i++) {
        const Launch *launch = &entry->launches[i];
        if (!launch->ends_step || ends_step)
            stream_end[launch->stream] = begin_ms(entry, launch, stream_end) + launch->cost.ms;
    }
}

double timeline_ms(const PlanEntry *entry, bool ends_step) {
    double stream_end[MAX_STREAMS] = {0}, last = 0;
    run(entry, entry->launch_count, ends_step, stream_end);
    for (int s = 0; s < MAX_STREAMS; s++)
        last = fmax(last, stream_end[s]);
    return last;
}

double timeline_slack_ms(const PlanEntry *entry, int launch, int stream) {
    double stream_end[MAX_STREAMS] = {0};
    run(entry, launch, true, stream_end);
    return begin_ms(entry, &entry->launches[launch], stream_end) - stream_end[stream];
}
