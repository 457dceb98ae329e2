#include "runtime/step/work.h"

void exchanged_add(RtExchanged *sum, const RtExchanged *more, int kinds) {
    for (int kind = 0; kind < kinds; kind++) {
        sum[kind].count += more[kind].count;
        sum[kind].bytes += more[kind].bytes;
        sum[kind].bus_bytes += more[kind].bus_bytes;
    }
}

void work_add(RtWork *sum, RtWork more) {
    sum->launches += more.launches;
    sum->memsets += more.memsets;
    sum->copies += more.copies;
    sum->copy_bytes += more.copy_bytes;
    exchanged_add(sum->collectives, more.collectives, RT_COLLECTIVES);
    exchanged_add(sum->peer, more.peer, RT_PURPOSES);
}
