/* Exact counts of all work that the host requested, written as JSON to the file SIM_COUNTS when the
 * process ends. */
#include "sim.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tally {
    uint64_t count, bytes;
} Tally;

typedef struct Named {
    const char *name;
    uint64_t count;
} Named;

enum { MAX_NAMES = 1024 };

static struct {
    SimKernelCount *kernels, **last_kernel;
    uint64_t launches, graph_launches, host_functions;
    Tally copies[COPY_KINDS][2]; /* [pinned] */
    Tally sets;
    uint64_t allocations, current_bytes, peak_bytes;
    Named calls[MAX_NAMES], custom[MAX_NAMES];
} counts;

SimKernelCount *counts_kernel(const char *name) {
    if (!counts.last_kernel)
        counts.last_kernel = &counts.kernels;
    for (SimKernelCount *k = counts.kernels; k; k = k->next)
        if (!strcmp(k->name, name))
            return k;
    SimKernelCount *k = sim_need(calloc(1, sizeof *k));
    k->name = sim_need(strdup(name));
    *counts.last_kernel = k;
    counts.last_kernel = &k->next;
    return k;
}

void counts_launch(CUfunction function) {
    counts.launches++;
    function->count->launches++;
}

void counts_graph_launch(void) { counts.graph_launches++; }
void counts_host_function(void) { counts.host_functions++; }

void counts_copy(SimCopyKind kind, bool pinned, size_t bytes) {
    Tally *tally = &counts.copies[kind][pinned];
    tally->count++;
    tally->bytes += bytes;
}

void counts_set(size_t bytes) {
    counts.sets.count++;
    counts.sets.bytes += bytes;
}

void counts_allocation(int64_t bytes) {
    counts.allocations += bytes > 0;
    counts.current_bytes += (uint64_t)bytes;
    if (counts.current_bytes > counts.peak_bytes)
        counts.peak_bytes = counts.current_bytes;
}

static void count_name(Named *table, const char *name) {
    for (int i = 0; i < MAX_NAMES; i++) {
        if (!table[i].name)
            table[i].name = name;
        if (table[i].name == name) {
            table[i].count++;
            return;
        }
    }
}

void counts_call(const char *name) { count_name(counts.calls, name); }
void counts_custom(const char *name) { count_name(counts.custom, name); }

/* ---- The file ---------------------------------------------------------------------------- */

static void write_tally(FILE *f, const char *name, Tally t, const char *end) {
    fprintf(f, "\"%s\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64 "}%s", name, t.count, t.bytes,
            end);
}

static void write_copies(FILE *f) {
    static const char *const names[] = {"h2d", "d2h", "d2d", "h2h"};
    fprintf(f, "  \"copies\": {\n");
    for (int kind = 0; kind < COPY_KINDS; kind++) {
        fprintf(f, "    \"%s\": {", names[kind]);
        write_tally(f, "pinned", counts.copies[kind][1], ", ");
        write_tally(f, "pageable", counts.copies[kind][0], kind + 1 < COPY_KINDS ? "},\n" : "}\n");
    }
    fprintf(f, "  },\n");
}

static void write_kernels(FILE *f) {
    fprintf(f, "  \"kernels\": {");
    const char *comma = "";
    for (const SimKernelCount *k = counts.kernels; k; k = k->next) {
        if (!k->launches)
            continue;
        fprintf(f, "%s\n    \"%s\": {\"launches\": %" PRIu64, comma, k->name, k->launches);
        fprintf(f, ", \"read_bytes\": %" PRIu64 ", \"written_bytes\": %" PRIu64 "}", k->read_bytes,
                k->written_bytes);
        comma = ",";
    }
    fprintf(f, "\n  },\n");
}

static bool any_call(const char *name) { return name != NULL; }

/* Returns whether a call makes the host wait. */
static bool waiting_call(const char *name) {
    static const char *const names[] = {"cuCtxSynchronize",   "cuStreamSynchronize",
                                        "cuEventSynchronize", "cuMemcpy",
                                        "cuMemcpyHtoD",       "cuMemcpyDtoH",
                                        "cuMemcpy2D"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const Named *)a)->name, ((const Named *)b)->name);
}

static void write_names(FILE *f, const char *key, Named *table, bool (*wanted)(const char *)) {
    int count = 0;
    while (count < MAX_NAMES && table[count].name)
        count++;
    qsort(table, (size_t)count, sizeof *table, by_name);
    fprintf(f, "  \"%s\": {", key);
    const char *comma = "";
    for (int i = 0; i < count; i++) {
        if (!wanted(table[i].name))
            continue;
        fprintf(f, "%s\n    \"%s\": %" PRIu64, comma, table[i].name, table[i].count);
        comma = ",";
    }
    fprintf(f, "\n  },\n");
}

__attribute__((destructor)) static void write_counts(void) {
    FILE *f = sim_settings.counts ? fopen(sim_settings.counts, "w") : NULL;
    if (!f) {
        if (sim_settings.counts)
            fprintf(stderr, "simulated device: cannot write SIM_COUNTS=%s\n", sim_settings.counts);
        return;
    }
    fprintf(f, "{\n  \"launches\": %" PRIu64 ",\n  \"graph_launches\": %" PRIu64 ",\n",
            counts.launches, counts.graph_launches);
    write_kernels(f);
    write_copies(f);
    fprintf(f, "  ");
    write_tally(f, "memsets", counts.sets, ",\n");
    fprintf(f, "  \"host_functions\": %" PRIu64 ",\n", counts.host_functions);
    write_names(f, "library_calls", counts.custom, any_call);
    write_names(f, "syncs", counts.calls, waiting_call);
    write_names(f, "calls", counts.calls, any_call);
    fprintf(f, "  \"memory\": {\"allocations\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 "}\n}\n",
            counts.allocations, counts.peak_bytes);
    fclose(f);
}
