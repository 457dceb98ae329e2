/* The profiling window as files: a timeline for Perfetto, and summaries in the familiar layout of
 * `nsys stats`. */
#include "runtime/comm/comm.h"
#include "runtime/report/profile.h"
#include "runtime/report/report_ranks.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/files/outfile.h"

/* ---- timeline -------------------------------------------------------------------------------- */

/* Each rank has two process rows, the host's calls and the device's work. A process that drives
 * several cards has one more for each further card. */
static int host_process(int rank) { return 2 * rank + 1; }

static int device_process(int rank) { return 2 * rank + 2; }

/* The card's number in this process. */
static int card_of(const Rt *rt, const ProfileRecord *r) {
    return rt->card_count > 1 ? (int)r->device : 0;
}

static int process_of(const Rt *rt, const ProfileRecord *r) {
    if (r->kind == PROFILE_API)
        return host_process(rt->rank);
    return device_process(rt->card_count > 1 ? card_of(rt, r) : rt->rank);
}

/* The trace event format counts in microseconds; three decimals keep every nanosecond. */
static void print_us(FILE *out, const char *key, uint64_t ns) {
    fprintf(out, "\"%s\": %" PRIu64 ".%03u, ", key, ns / 1000, (unsigned)(ns % 1000));
}

static void print_string(FILE *out, const char *text) {
    json_t *string = json_string(text);
    json_dumpf(string, out, JSON_ENCODE_ANY);
    json_decref(string);
}

static void print_process(FILE *out, const Rt *rt, int process, const char *name) {
    char text[RT_MAX_PATH];
    snprintf(text, sizeof text, "rank %d, %s", rt->rank, name);
    fprintf(out, "{\"ph\": \"M\", \"pid\": %d, \"name\": \"process_name\", \"args\": {\"name\": ",
            process);
    print_string(out, rt->ranks > 1 ? text : name);
    fputs("}}", out);
}

/* Whether a record is the first one of its stream. */
static bool is_first(const Profile *p, int64_t index) {
    const ProfileRecord *r = profile_record(p, index);
    for (int64_t i = 0; i < index; i++) {
        const ProfileRecord *other = profile_record(p, i);
        if (other->kind != PROFILE_API && other->device == r->device && other->stream == r->stream)
            return false;
    }
    return true;
}

/* Streams that have records are rows, each with its purpose. */
static void print_streams(FILE *out, const Rt *rt) {
    for (int64_t i = 0; i < profile_count(rt->profile); i++) {
        const ProfileRecord *r = profile_record(rt->profile, i);
        const char *name = profile_stream_name(rt->profile, card_of(rt, r), r->stream);
        if (r->kind != PROFILE_API && name && is_first(rt->profile, i))
            fprintf(out,
                    ",\n{\"ph\": \"M\", \"pid\": %d, \"tid\": %u, \"name\": \"thread_name\", "
                    "\"args\": {\"name\": \"%s\"}}",
                    process_of(rt, r), r->stream, name);
    }
}

static void print_arguments(FILE *out, const ProfileRecord *r) {
    fprintf(out, "\"args\": {\"correlation\": %u", r->correlation);
    if (r->kind == PROFILE_KERNEL)
        fprintf(out,
                ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"registers\": %u, "
                "\"shared_bytes\": %u",
                r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2],
                r->registers, r->shared_bytes);
    if (r->kind == PROFILE_COPY || (r->kind == PROFILE_MEMSET && r->bytes > 0))
        fprintf(out, ", \"bytes\": %" PRIu64, r->bytes);
    if (r->kind == PROFILE_COPY)
        fprintf(out, ", \"pinned\": %s", r->pinned ? "true" : "false");
    fputs("}", out);
}

static void print_event(FILE *out, const Rt *rt, const ProfileRecord *r, uint64_t origin) {
    static const char *const categories[] = {"kernel", "copy", "memset", "api"};
    fprintf(out, "{\"ph\": \"X\", \"pid\": %d, \"tid\": %u, \"cat\": \"%s\", \"name\": ",
            process_of(rt, r), r->stream, categories[r->kind]);
    print_string(out, r->name);
    fputs(", ", out);
    print_us(out, "ts", r->start - origin);
    print_us(out, "dur", r->end - r->start);
    print_arguments(out, r);
    fputs("}", out);
}

/* Ranks on one machine share its clock. All ranks began the window together, so the clocks of
 * different machines are aligned by that moment. */
static uint64_t origin_of(const Rt *rt) {
    const RankFigures *own = ranks_figures(rt, rt->rank);
    uint64_t origin = own->window_origin;
    for (int r = 0; r < rt->ranks; r++) {
        const RankFigures *other = ranks_figures(rt, r);
        if (other->profiled_steps && other->window_origin < origin &&
            strcmp(own->host, other->host) == 0)
            origin = other->window_origin;
    }
    return origin;
}

/* One rank's events, with commas between them. */
static void print_events(FILE *out, const Rt *rt) {
    uint64_t origin = origin_of(rt);
    print_process(out, rt, host_process(rt->rank), "host: driver calls by thread");
    fputs(",\n", out);
    print_process(out, rt, device_process(rt->rank), rt->device.name);
    for (int card = 1; card < rt->card_count; card++) {
        char name[300];
        snprintf(name, sizeof name, "%s, card %d", rt->device.name, card);
        fputs(",\n", out);
        print_process(out, rt, device_process(card), name);
    }
    print_streams(out, rt);
    for (int64_t i = 0; i < profile_count(rt->profile); i++) {
        fputs(",\n", out);
        print_event(out, rt, profile_record(rt->profile, i), origin);
    }
}

static const char exchange[] = "the exchange of traces";

static void send_events(Rt *rt) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        rt_fail("out of memory for the trace; lower profiling.steps");
    print_events(memory, rt);
    if (fclose(memory) != 0)
        rt_fail("out of memory for the trace; lower profiling.steps");
    int64_t bytes = (int64_t)size;
    comm_send(rt, 0, &bytes, sizeof bytes, exchange);
    comm_send(rt, 0, text, bytes, exchange);
    free(text);
}

static void print_events_of(FILE *out, Rt *rt, int rank) {
    int64_t bytes;
    comm_receive(rt, rank, &bytes, sizeof bytes, exchange);
    char *text = rt_alloc((size_t)bytes);
    comm_receive(rt, rank, text, bytes, exchange);
    fputs(",\n", out);
    fwrite(text, 1, (size_t)bytes, out);
    free(text);
}

static void print_trace(FILE *out, Rt *rt) {
    fputs("{\"displayTimeUnit\": \"ns\", \"otherData\": {\"experiment\": ", out);
    print_string(out, rt->program->name);
    fputs(", \"spec_sha256\": ", out);
    print_string(out, rt->program->spec_sha256);
    long long first = (long long)profile_first_step(rt->profile);
    long long steps = (long long)profile_steps(rt->profile);
    fprintf(out,
            ", \"simulated\": %s, \"ranks\": %d, \"steps\": %lld, \"window\": [%lld, %lld]},\n"
            "\"traceEvents\": [\n",
            rt->device.simulated ? "true" : "false", rt->ranks, steps, first, first + steps - 1);
    print_events(out, rt);
    for (int r = 1; r < rt->ranks; r++)
        print_events_of(out, rt, r);
    fputs("\n]}\n", out);
}

/* ---- summaries ------------------------------------------------------------------------------- */

/* All records of one name. */
typedef struct {
    const char *name; /* interned by the profile */
    double *values;   /* sorted once complete */
    int64_t count, capacity;
    double total;
} Group;

typedef struct {
    Group *items;
    int count;
    double total;
} Groups;

static double length_ns(const ProfileRecord *r) { return (double)(r->end - r->start); }

static double megabytes(const ProfileRecord *r) {
    bool unknown = r->kind == PROFILE_MEMSET && r->bytes == 0;
    return unknown ? NAN : 1e-6 * (double)r->bytes;
}

static Group *group_named(Groups *groups, const char *name) {
    for (int i = 0; i < groups->count; i++)
        if (groups->items[i].name == name)
            return &groups->items[i];
    Group *items = realloc(groups->items, sizeof *items * ((size_t)groups->count + 1));
    if (!items)
        rt_fail("out of memory while summing up the profile");
    groups->items = items;
    items[groups->count] = (Group){.name = name};
    return &items[groups->count++];
}

static void group_add(Group *group, double value) {
    if (group->count == group->capacity) {
        group->capacity = group->capacity ? 2 * group->capacity : 64;
        group->values = realloc(group->values, sizeof value * (size_t)group->capacity);
        if (!group->values)
            rt_fail("out of memory while summing up the profile");
    }
    group->values[group->count++] = value;
    group->total += value;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_total(const void *a, const void *b) {
    const Group *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Records of the kinds in a set (bits of 1 << ProfileKind), largest total first, without those whose
 * value is NAN. */
static Groups groups_of(const Profile *p, unsigned kinds, double (*value)(const ProfileRecord *)) {
    Groups groups = {0};
    for (int64_t i = 0; i < profile_count(p); i++) {
        const ProfileRecord *r = profile_record(p, i);
        double of_record = kinds >> r->kind & 1 ? value(r) : NAN;
        if (isnan(of_record))
            continue;
        group_add(group_named(&groups, r->name), of_record);
        groups.total += of_record;
    }
    for (int i = 0; i < groups.count; i++)
        qsort(groups.items[i].values, (size_t)groups.items[i].count, sizeof(double), by_value);
    if (groups.count)
        qsort(groups.items, (size_t)groups.count, sizeof *groups.items, by_total);
    return groups;
}

static void groups_free(Groups *groups) {
    for (int i = 0; i < groups->count; i++)
        free(groups->items[i].values);
    free(groups->items);
}

static double median(const Group *g) {
    return 0.5 * (g->values[(g->count - 1) / 2] + g->values[g->count / 2]);
}

/* The sample standard deviation, as in nsys; 0 for a single value. */
static double deviation(const Group *g) {
    double mean = g->total / (double)g->count, sum = 0;
    for (int64_t i = 0; i < g->count; i++)
        sum += (g->values[i] - mean) * (g->values[i] - mean);
    return g->count > 1 ? sqrt(sum / (double)(g->count - 1)) : 0;
}

static void print_quoted(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void print_statistics(FILE *out, const Group *g, int digits) {
    fprintf(out, "%.*f,%.*f,%.*f,%.*f,%.*f,", digits, g->total / (double)g->count, digits,
            median(g), digits, g->values[0], digits, g->values[g->count - 1], digits, deviation(g));
    print_quoted(out, g->name);
    fputc('\n', out);
}

static void print_times(FILE *out, const Profile *p, unsigned kinds, const char *count_name,
                        const char *name) {
    Groups groups = groups_of(p, kinds, length_ns);
    fprintf(out,
            "Time (%%),Total Time (ns),%s,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),%s\n",
            count_name, name);
    for (int i = 0; i < groups.count; i++) {
        const Group *g = &groups.items[i];
        fprintf(out, "%.1f,%.0f,%lld,", groups.total > 0 ? 100 * g->total / groups.total : 0.0,
                g->total, (long long)g->count);
        print_statistics(out, g, 1);
    }
    groups_free(&groups);
}

static void print_kernels(FILE *out, Rt *rt) {
    print_times(out, rt->profile, 1u << PROFILE_KERNEL, "Instances", "Name");
}

static void print_memory_times(FILE *out, Rt *rt) {
    print_times(out, rt->profile, 1u << PROFILE_COPY | 1u << PROFILE_MEMSET, "Count", "Operation");
}

static void print_calls(FILE *out, Rt *rt) {
    print_times(out, rt->profile, 1u << PROFILE_API, "Num Calls", "Name");
}

static void print_memory_sizes(FILE *out, Rt *rt) {
    Groups groups = groups_of(rt->profile, 1u << PROFILE_COPY | 1u << PROFILE_MEMSET, megabytes);
    fputs("Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n", out);
    for (int i = 0; i < groups.count; i++) {
        fprintf(out, "%.6f,%lld,", groups.items[i].total, (long long)groups.items[i].count);
        print_statistics(out, &groups.items[i], 6);
    }
    groups_free(&groups);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*print)(FILE *out, Rt *rt);
} files[] = {{"trace.json", print_trace},
             {"cuda_gpu_kern_sum.csv", print_kernels},
             {"cuda_gpu_mem_time_sum.csv", print_memory_times},
             {"cuda_gpu_mem_size_sum.csv", print_memory_sizes},
             {"cuda_api_sum.csv", print_calls}};
enum { FILE_COUNT = sizeof files / sizeof *files };

bool trace_has(const char *name) {
    for (int i = 0; i < FILE_COUNT; i++)
        if (!strcmp(files[i].name, name))
            return true;
    return false;
}

void trace_remove(const Rt *rt) {
    char path[RT_MAX_PATH];
    for (int i = 0; i < FILE_COUNT; i++) {
        join_path(path, rt->options.out_dir, files[i].name);
        unlink(path);
    }
}

static void write_files(Rt *rt) {
    char error[RT_MAX_PATH + 256];
    const char *out_dir = rt->options.out_dir;
    for (int i = rt->program->profiling.trace ? 0 : 1; i < FILE_COUNT; i++) {
        OutFile file;
        if (!outfile_open(&file, out_dir, files[i].name, error, sizeof error))
            rt_fail("%s; choose another folder with --out", error);
        files[i].print(file.stream, rt);
        if (!outfile_finish(&file, error, sizeof error))
            rt_fail("%s; free some space, or choose another folder with --out", error);
    }
}

void trace_write(Rt *rt) {
    if (ranks_figures(rt, 0)->profiled_steps == 0)
        return;
    if (rt->rank == 0)
        write_files(rt);
    else if (rt->program->profiling.trace)
        send_events(rt);
}
