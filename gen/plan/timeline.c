/* Several streams on one axis of time: a launch begins when the one before it on its stream and those
 * that it waits for have ended. */
#include "plan/streams.h"

#include <math.h>

double timeline_ms(const PlanEntry *entry, bool ends_step) {
    Arena arena = {0};
    double *end = arena_array(&arena, (size_t)entry->launch_count + 1, sizeof *end), last = 0;
    double stream_end[MAX_STREAMS] = {0};
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        if (launch->ends_step && !ends_step)
            continue;
        double begin = stream_end[launch->stream];
        for (int w = 0; w < launch->wait_count; w++)
            begin = fmax(begin, end[launch->wait[w]]);
        end[i] = stream_end[launch->stream] = begin + launch->cost.ms;
        last = fmax(last, end[i]);
    }
    arena_free(&arena);
    return last;
}
