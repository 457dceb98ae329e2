/* Several streams on one axis of time: a launch begins when the one before it on its stream and those
 * that it waits for have ended: all that another stream has been given so far, as in the program. */
#include "plan/streams.h"

#include <math.h>

double timeline_ms(const PlanEntry *entry, bool ends_step) {
    double stream_end[MAX_STREAMS] = {0}, last = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        if (launch->ends_step && !ends_step)
            continue;
        double begin = stream_end[launch->stream];
        for (int w = 0; w < launch->wait_count; w++)
            begin = fmax(begin, stream_end[entry->launches[launch->wait[w]].stream]);
        stream_end[launch->stream] = begin + launch->cost.ms;
        last = fmax(last, stream_end[launch->stream]);
    }
    return last;
}
