/* buffers.h: the offset of every buffer. */
#include "emit/emit.h"
#include "emit/members.h"
#include "emit/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const arena_titles[ARENA_COUNT] = {
    [ARENA_STATE] = "STATE: kept from step to step",
    [ARENA_SCRATCH] = "SCRATCH: buffers with disjoint lifetimes share memory",
    [ARENA_INPUT] = "INPUT: one batch",
    [ARENA_STASH] = "STASH: one micro-batch, kept from its forward to its backward pass",
};
static const char *const arena_macros[ARENA_COUNT] = {"STATE", "SCRATCH", "INPUT", "STASH"};

typedef struct {
    int64_t offset;
    int storage;
} Line;

static int by_offset(const void *a, const void *b) {
    const Line *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->storage - y->storage;
}

/* Sorted by offset. Buffers in SCRATCH, which share memory, are in the order in which the program
 * created them. */
static int lines_of(const Plan *plan, ArenaKind kind, Line *lines) {
    int count = 0;
    for (int i = 0; i < plan->program->storage_count; i++)
        if (plan->place[i].offset >= 0 && plan->place[i].arena == kind)
            lines[count++] = (Line){plan->place[i].offset, i};
    if (kind != ARENA_SCRATCH)
        qsort(lines, (size_t)count, sizeof *lines, by_offset);
    return count;
}

/* Whether the macro says the name, perhaps after that of its entry. */
static bool says_name(Arena *arena, const char *macro, const char *name) {
    const char *upper = upper_text(arena, name);
    size_t longer = strlen(macro) > strlen(upper) ? strlen(macro) - strlen(upper) : 0;
    return !strcmp(macro + longer, upper) && (!longer || macro[longer - 1] == '_');
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

/* The last launches that use a storage; NULL: none on that stream. */
typedef struct {
    const Launch *last[MAX_STREAMS];
} Uses;

/* By storage. */
static const Uses *uses_in(const Plan *plan, const PlanEntry *entry, Arena *arena) {
    Uses *uses = arena_array(arena, (size_t)plan->program->storage_count + 1, sizeof *uses);
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        for (int k = 0; k < launch_touch_count(launch); k++)
            uses[launch_touched(launch, k).value->storage->id].last[launch->stream] = launch;
        if (launch->observed)
            uses[launch->observed->storage->id].last[launch->stream] = launch;
    }
    return uses;
}

/* Adds "micro_step until fc1.grad" and "side fc1.weight.grad" to the items; returns how many there
 * are then. */
static int add_life(Arena *arena, const char *entry, const Uses *uses, const char **items,
                    int count) {
    static const char *const streams[] = {[STREAM_COMPUTE] = "until",
                                          [STREAM_COMMUNICATION] = "communication",
                                          [STREAM_SIDE] = "side"};
    const char *space = " ";
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++)
        if (uses->last[s]) {
            const char *launch = uses->last[s]->ops[0]->name;
            items[count++] = arena_printf(arena, "%s%s%s %s", entry, space, streams[s], launch);
            entry = space = "";
        }
    return count;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void put_define(StrBuf *out, const char *name, const char *value, const char *comment) {
    bool wide = strlen(name) + strlen(value) + strlen(comment) + 16 > PAGE;
    if (strlen(value) + strlen(comment) + strlen("     /*  */") > PAGE)
        sb_printf(out, "/* %s */\n#define %s \\\n    %s\n", comment, name, value);
    else
        sb_printf(out, "#define %s %s%s /* %s */\n", name, wide ? "\\\n    " : "", value, comment);
}

/* "(SYMBOL + 1024ul)": where the value starts inside its storage. */
static const char *start_text(const Places *places, const Value *v, Arena *arena) {
    long long bytes = (long long)value_begin(v);
    const char *storage = places->symbols[v->storage->id];
    return bytes ? arena_printf(arena, "(%s + %lldul)", storage, bytes) : storage;
}

/* Writes the names of values that start inside the storage. */
static void put_parts(const Places *places, int storage, Arena *arena, StrBuf *out) {
    for (int i = places->first_part[storage]; i >= 0; i = places->parts[i].next) {
        const Value *v = places->parts[i].value;
        const char *macro = places->parts[i].name, *shape = shape_text(arena, v);
        put_define(out, macro, start_text(places, v, arena),
                   says_name(arena, macro, v->name)
                       ? shape
                       : arena_printf(arena, "%s, %s", shape, v->name));
    }
}

/* "(SYMBOL + (i) * 1048576ul)", if the member with number 0 is at SYMBOL. */
static const char *line_text(const Places *places, const Series *series, Arena *arena) {
    const char *number = series->number ? arena_printf(arena, "((i) - %d)", series->number) : "(i)";
    return arena_printf(arena, "(%s %c %s * %lldul)", place_text(places, series->member),
                        series->step > 0 ? '+' : '-', number,
                        (long long)(series->step > 0 ? series->step : -series->step));
}

/* "model_layers_mlp_act_at": a table of offsets. */
static const char *table_name(const Series *series, Arena *arena) {
    char *name = arena_strdup(arena, series->name);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return arena_printf(arena, "%s_at", name);
}

static void put_offsets(const Places *places, const Series *series, Arena *arena, StrBuf *out) {
    const char **items = arena_array(arena, (size_t)series->count, sizeof *items);
    for (int i = 0; i < series->count; i++)
        items[i] = arena_printf(arena, "%lldul",
                                (long long)plan_place(places->plan, series->members[i]).offset);
    sb_printf(out, "static const size_t %s[%d] = {\n", table_name(series, arena), series->count);
    put_list(out, "    ", items, series->count, 4, "};\n");
}

static void put_series(const Places *places, const Series *series, Arena *arena, StrBuf *out) {
    const char *at;
    if (series_is_one_place(series)) {
        put_define(out, series->name, start_text(places, series->member, arena),
                   arena_printf(arena, "%s, one for %d to %d", shape_text(arena, series->member),
                                series->number, series->number + series->count - 1));
        return;
    }
    if (series->step) {
        at = line_text(places, series, arena);
    } else if (series->within >= 0) {
        const char *storage = places->series[series->within].name;
        long long bytes = (long long)value_begin(series->member);
        at = bytes ? arena_printf(arena, "(%s(i) + %lldul)", storage, bytes)
                   : arena_printf(arena, "%s(i)", storage);
    } else {
        put_offsets(places, series, arena, out);
        const char *number = series->number ? arena_printf(arena, "(i) - %d", series->number) : "i";
        at = arena_printf(arena, "%s[%s]", table_name(series, arena), number);
    }
    put_define(out, arena_printf(arena, "%s(i)", series->name), at,
               arena_printf(arena, "%s, i = %d to %d", shape_text(arena, series->member),
                            series->number, series->number + series->count - 1));
}

static void put_all_series(const Places *places, ArenaKind kind, Arena *arena, StrBuf *out) {
    bool first = true;
    for (int i = 0; i < places->series_count; i++) {
        const Series *series = &places->series[i];
        if (plan_place(places->plan, series->member).arena != kind)
            continue;
        if (first)
            sb_puts(out, "\n/* By number, such as the layer. */\n");
        first = false;
        put_series(places, series, arena, out);
    }
}

static void put_storage(const Places *places, const Storage *storage,
                        const Uses *const uses[ENTRY_COUNT], Arena *arena, StrBuf *out) {
    const Place place = places->plan->place[storage->id];
    const char *macro = places->symbols[storage->id];
    const char *items[2 + ENTRY_COUNT * MAX_STREAMS + 1];
    int count = 0;
    items[count++] = shape_text(arena, places->values[storage->id]);
    if (place.arena == ARENA_STATE || place.arena == ARENA_STASH)
        items[count++] = role_name(storage->role);
    for (int e = 0; e < ENTRY_COUNT && place.arena == ARENA_SCRATCH; e++)
        if (uses[e])
            count =
                add_life(arena, places->plan->entry[e].name, &uses[e][storage->id], items, count);
    if (!says_name(arena, macro, storage->name))
        items[count++] = storage->name;
    put_list(out, arena_printf(arena, "#define %s %lldul /* ", macro, (long long)place.offset),
             items, count, 4, " */\n");
}

/* Offsets are unsigned long because program.c adds to them, and an int ends at 2 GiB. */
static void put_arena(const Places *places, ArenaKind kind, Arena *arena, StrBuf *out) {
    const Plan *plan = places->plan;
    const Program *program = plan->program;
    Line *lines = arena_array(arena, (size_t)program->storage_count + 1, sizeof *lines);
    const Uses *uses[ENTRY_COUNT] = {0};
    for (int e = 0; e < ENTRY_COUNT && kind == ARENA_SCRATCH; e++)
        if (plan->entry[e].launch_count > 0)
            uses[e] = uses_in(plan, &plan->entry[e], arena);
    int count = lines_of(plan, kind, lines);
    sb_printf(out, "\n/* ---- %s ---- */\n\n#define %s_BYTES %lldul\n\n", arena_titles[kind],
              arena_macros[kind], (long long)plan->arena_bytes[kind]);
    if (kind == ARENA_STATE && program->cards > 1)
        sb_printf(out, "/* STATE of the other cards. */\n#define REPLICA_STATE_BYTES %lldul\n\n",
                  (long long)plan->replica_bytes);
    if (kind == ARENA_SCRATCH)
        sb_puts(out,
                "/* A buffer lives until the last launch that uses it, named as in program.c's\n"
                " * comments, and until the last one on another stream than compute. */\n");
    for (int i = 0; i < count; i++) {
        int id = lines[i].storage;
        put_storage(places, program->storages[id], uses, arena, out);
        put_parts(places, id, arena, out);
    }
    put_all_series(places, kind, arena, out);
}

static int outputs_of(const PlanEntry *entry) {
    int count = 0;
    for (int i = 0; i < entry->launch_count; i++)
        for (int a = 0; a < launch_touch_count(&entry->launches[i]); a++)
            count += launch_touched(&entry->launches[i], a).written;
    return count;
}

static int constants_of(const Places *places) {
    const Plan *plan = places->plan;
    const Value *const *values = places->values;
    int count = 0;
    for (int i = next_constant(plan, values, 0); i >= 0; i = next_constant(plan, values, i + 1))
        count++;
    return count;
}

static void put_tables(const Places *places, Arena *arena, StrBuf *out) {
    const Plan *plan = places->plan;
    int constants = constants_of(places);
    sb_printf(out, "\n/* ---- tables of values.c ---- */\n\nenum {\n    PARAMS = %d,\n",
              plan->program->param_count);
    if (constants)
        sb_printf(out, "    CONSTANTS = %d,\n", constants);
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (plan->entry[i].launch_count > 0)
            sb_printf(out, "    %s_OUTPUTS = %d,\n", upper_text(arena, plan->entry[i].name),
                      outputs_of(&plan->entry[i]));
    sb_puts(out, "};\n\nextern const RtParam params[PARAMS];\n");
    if (constants)
        sb_puts(out, "extern const RtConstant constants[CONSTANTS];\n");
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (plan->entry[i].launch_count > 0)
            sb_printf(out, "extern const RtOutput %s_outputs[%s_OUTPUTS];\n", plan->entry[i].name,
                      upper_text(arena, plan->entry[i].name));
}

void emit_buffers(const Places *places, StrBuf *out) {
    const Plan *plan = places->plan;
    Arena arena = {0};
    sb_printf(out, "/* Offsets of all buffers of %s, in bytes from the start of their arenas. */\n",
              plan->spec->name);
    sb_puts(out, "#ifndef BUFFERS_H\n#define BUFFERS_H\n\n#include \"runtime/runtime.h\"\n");
    for (int kind = 0; kind < ARENA_COUNT; kind++)
        if (kind != ARENA_STASH || plan->arena_bytes[kind])
            put_arena(places, (ArenaKind)kind, &arena, out);
    if (plan->gemm_count > 0)
        sb_printf(
            out,
            "\n/* cuBLASLt's workspace, in SCRATCH */\n#define GEMM_WORKSPACE %lldul\n#define "
            "GEMM_WORKSPACE_BYTES %lldul\n",
            (long long)plan->gemm_workspace_offset, (long long)plan->gemm_workspace_bytes);
    if (plan->gemm_workspaces > 1)
        sb_printf(out, "#define GEMM_SIDE_WORKSPACE %lldul\n",
                  (long long)plan_gemm_workspace(plan, STREAM_SIDE));
    put_tables(places, &arena, out);
    sb_puts(out, "\n#endif\n");
    arena_free(&arena);
}
