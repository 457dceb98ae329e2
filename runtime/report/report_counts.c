/* Counts of a rank in a struct that can be sent and summed. */
#include "runtime/report/report_counts.h"

#include "runtime/base/json_values.h"
#include "runtime/report/profile.h"

Counts counts_of(const Rt *rt) {
    const RtMeasured *m = &rt->measured;
    Counts counts = {.launches = (double)m->launches,
                     .flops = rt->program->predicted.flops * rt->card_count,
                     .launch_ms = m->launch_ms,
                     .kernels_ms = profile_ms(rt->profile, PROFILE_KERNEL),
                     .memsets = (double)m->memsets,
                     .graphs = (double)m->graph_launches,
                     .syncs = (double)m->syncs,
                     .sync_ms = m->sync_ms,
                     .waits = (double)m->waits,
                     .wait_ms = m->wait_ms};
    for (int kind = 0; kind < RT_COPY_KINDS; kind++) {
        counts.copies[kind].count = (double)m->copies[kind].count;
        counts.copies[kind].bytes = (double)m->copies[kind].bytes;
        counts.copies[kind].ms = profile_copy_ms(rt->profile, (RtCopyKind)kind);
    }
    return counts;
}

void counts_add(Counts *sum, const Counts *more) {
    sum->launches += more->launches, sum->launch_ms += more->launch_ms;
    sum->kernels_ms += more->kernels_ms, sum->memsets += more->memsets;
    sum->graphs += more->graphs, sum->flops += more->flops;
    sum->syncs += more->syncs, sum->sync_ms += more->sync_ms;
    sum->waits += more->waits, sum->wait_ms += more->wait_ms;
    for (int kind = 0; kind < RT_COPY_KINDS; kind++) {
        sum->copies[kind].count += more->copies[kind].count;
        sum->copies[kind].bytes += more->copies[kind].bytes;
        sum->copies[kind].ms += more->copies[kind].ms;
    }
}

json_t *counts_json(const Counts *c) {
    static const char *const names[RT_COPY_KINDS] = {"h2d", "d2h", "d2d"};
    json_t *copies = json_object();
    for (int kind = 0; kind < RT_COPY_KINDS; kind++)
        json_object_set_new(copies, names[kind],
                            json_pack("{s:o, s:o, s:o}", "count", whole(c->copies[kind].count),
                                      "bytes", whole(c->copies[kind].bytes), "ms",
                                      number(c->copies[kind].ms)));
    return json_pack(
        "{s:{s:o, s:o, s:o}, s:{s:o}, s:{s:o}, s:{s:o, s:o}, s:{s:o, s:o}, s:o, s:{s:o}}", "kernels",
        "launches", whole(c->launches), "launch_ms", number(c->launch_ms), "ms",
        number(c->kernels_ms), "memsets", "count", whole(c->memsets), "graphs", "launches",
        whole(c->graphs), "syncs", "count", whole(c->syncs), "ms", number(c->sync_ms), "waits",
        "count", whole(c->waits), "ms", number(c->wait_ms), "copies", copies, "flops", "per_step",
        whole(c->flops));
}
