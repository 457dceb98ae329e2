/* An entry graph as C: a function for each block of launches, and one that calls them in order. */
#include "emit/emit_entry.h"

#include "base/dotted.h"
#include "emit/apart.h"
#include "emit/headings.h"
#include "emit/names.h"

#include <string.h>

typedef struct {
    const Plan *plan;
    const Places *places;
    const Strides *strides;
    const PlanEntry *entry;
    StrBuf *out;
    Arena *arena;
    int indent; /* of calls */
} Emit;

/* A function being written; its table is named FUNCTION_at. */
typedef struct {
    const Emit *e;
    const char *function;
    Pointers pointers;
} Stretch;

static const Launch *launch_at(const Stretch *s, int index) {
    return &s->e->entry->launches[s->pointers.run.first + index];
}

static void put_line(const Emit *e, const char *line) {
    sb_printf(e->out, "%*s%s\n", e->indent, "", line);
}

/* ---- locals ---------------------------------------------------------------------------------- */

static bool is_counted(const Pointer *pointer) { return pointer->step || pointer->listed; }

/* Returns the address as text, for a call whose argument begins after `before` columns. */
static const char *where(const Stretch *s, const Pointer *pointer, int before) {
    Arena *arena = s->e->arena;
    const Places *places = s->e->places;
    const Index *index = &s->pointers.index;
    if (pointer->column >= 0)
        return arena_printf(arena, "at->%s", s->pointers.columns[pointer->column].name);
    const char *text = pointer_text(arena, places, &s->pointers, pointer);
    if (pointer->odd < 0)
        return text;
    const char *odd = place_text(places, pointer->values[pointer->odd]);
    const char *is_odd =
        arena_printf(arena, "%s == %d", index->name, number_at(index->count, pointer->odd));
    int column = 8 + before + (int)strlen(is_odd); /* of " ?" */
    bool wide = column + 8 + (int)(strlen(text) + strlen(odd)) > PAGE;
    const char *end = wide ? arena_printf(arena, "\n%*s", column, "") : "";
    return arena_printf(arena, "%s ? %s%s : %s", is_odd, odd, end, text);
}

/* Whether the pointer's value begins at the same place of its storage in every iteration. */
static bool same_offsets(const Stretch *s, const Pointer *pointer) {
    for (int t = 1; t < s->pointers.run.times; t++)
        if (pointer->values[t]->offset != pointer->values[0]->offset)
            return false;
    return true;
}

static void declare(const Stretch *s, Pointer *pointer) {
    static const char *const address[ARENA_COUNT] = {"rt_state", "rt_scratch", "rt_input",
                                                     "rt_stash"};
    if (pointer->declared)
        return;
    pointer->declared = true;
    const Value *v = pointer->values[pointer_begin(pointer)];
    ArenaKind kind = plan_place(s->e->plan, v).arena;
    const char *shape = view_text(s->e->arena, v, same_offsets(s, pointer));
    const char *at = where(s, pointer, (int)strlen(address[kind]) + (int)strlen("(rt, "));
    const char *call = arena_printf(s->e->arena, "%s(rt, %s);", address[kind], at);
    const char *line =
        arena_printf(s->e->arena, "    RtPtr %s = %s /* %s */\n", pointer->name, call, shape);
    if (strlen(line) <= PAGE + 1) {
        sb_puts(s->e->out, line);
        return;
    }
    line = arena_printf(s->e->arena, "    RtPtr %s = /* %s */", pointer->name, shape);
    if (strlen(line) <= PAGE)
        sb_printf(s->e->out, "%s\n        %s\n", line, call);
    else
        sb_printf(s->e->out, "    RtPtr %s =\n        /* %s */\n        %s\n", pointer->name, shape,
                  call);
}

static const char *scalar_type(DType dtype) { return dtype == DT_I64 ? "int64_t" : "uint32_t"; }

/* ---- streams --------------------------------------------------------------------------------- */

static const char *stream_name(int stream) {
    static const char *const names[] = {[STREAM_COMPUTE] = "RT_STREAM_COMPUTE",
                                        [STREAM_COMMUNICATION] = "RT_STREAM_COMMUNICATION",
                                        [STREAM_SIDE] = "RT_STREAM_SIDE"};
    ENSURE(stream < (int)(sizeof names / sizeof *names), "no stream %d", stream);
    return names[stream];
}

/* Writes a wait for a launch. It waits for everything that the launch's stream has been given so
 * far; since the first use of the result may be much later, a wait for a stream other than compute
 * names the launch. */
static void put_wait(const Emit *e, int stream, const char *name) {
    const char *call = arena_printf(e->arena, "rt_wait_stream(rt, %s);", stream_name(stream));
    if (stream != STREAM_COMPUTE && name)
        put_noted(e->out, e->indent, call, arena_printf(e->arena, "for %s", name));
    else
        put_line(e, call);
}

/* The launch in the last iteration. */
static const Launch *last_at(const Stretch *s, int index) {
    const Run *run = &s->pointers.run;
    return launch_at(s, index) + (run->times - 1) * run->stride;
}

/* The name of two launches, the first and the last of all iterations; NULL if they differ in more
 * than a number. */
static const char *common_name(const Stretch *s, const Launch *first, const Launch *last) {
    const char *a = first->ops[0]->name, *b = last->ops[0]->name;
    int number_a, number_b;
    return strcmp(a, b) == 0 ? a : counted_name(s->e->arena, a, b, &number_a, &number_b);
}

static const char *waited_name(const Stretch *s, int index, int wait) {
    const Launch *launches = s->e->entry->launches;
    return common_name(s, &launches[launch_at(s, index)->wait[wait]],
                       &launches[last_at(s, index)->wait[wait]]);
}

static bool reads_result(const Launch *launch, const Launch *of) {
    for (int a = 0; a < launch->arg_count; a++)
        for (int b = 0; launch->read[a] && b < of->arg_count; b++)
            if (of->written[b] && value_overlaps(launch->arg[a], of->arg[b]))
                return true;
    return false;
}

/* The last launch of the entry, on another stream, that makes an operand; NULL: none does. */
static const Launch *maker_elsewhere(const Emit *e, const Launch *launch) {
    for (const Launch *of = launch; of-- > e->entry->launches;)
        if (of->stream != launch->stream && reads_result(launch, of))
            return of;
    return NULL;
}

/* Whether a launch is not the only one of its op, and others run another kernel. */
static bool is_one_of_several(const Emit *e, const Launch *launch) {
    const char *op = launch->ops[0]->name, *kernel = launch_name(e->plan, launch);
    for (int i = 0; i < e->entry->launch_count; i++) {
        const Launch *other = &e->entry->launches[i];
        if (strcmp(other->ops[0]->name, op) == 0 &&
            strcmp(launch_name(e->plan, other), kernel) != 0)
            return true;
    }
    return false;
}

/* Writes why a launch on another stream than compute waits for nothing. */
static void put_why_no_wait(const Stretch *s, int index) {
    const Emit *e = s->e;
    const Launch *first = maker_elsewhere(e, launch_at(s, index));
    const Launch *last = maker_elsewhere(e, last_at(s, index));
    const char *name = first && last ? common_name(s, first, last) : NULL;
    if (!name) {
        put_line(e, first || last ? "/* waited for before */"
                                  : "/* reads no result of another stream */");
        return;
    }
    const char *by = "", *kernel = launch_name(e->plan, first);
    if (is_one_of_several(e, first) && !strcmp(kernel, launch_name(e->plan, last)))
        by = arena_printf(e->arena, "by %s", kernel);
    size_t length = strlen("/*  : waited for before */") + strlen(name) + strlen(by);
    const char *line = arena_printf(e->arena, "\n%*s * ", e->indent, "");
    const char *joint = !*by ? "" : (size_t)e->indent + length <= PAGE ? " " : line;
    put_line(e, arena_printf(e->arena, "/* %s%s%s: waited for before */", name, joint, by));
}

/* ---- launches -------------------------------------------------------------------------------- */

static void put_call(const Emit *e, const char *function, const char *const *items, int count) {
    put_list(e->out, arena_printf(e->arena, "%*s%s(rt, ", e->indent, "", function), items, count,
             e->indent + 4, ");\n");
}

static const char *scalar_text(const Stretch *s, int index, int which) {
    const Launch *launch = launch_at(s, index);
    const KernelScalar *scalar = &s->e->plan->kernels[launch->index].scalar[which];
    const Varying *varying = varying_at(&s->pointers, index, which);
    if (varying)
        return arena_printf(s->e->arena, "&%s", varying->name);
    const char *stride = stride_name(s->e->strides, scalar->name, launch->scalar[which]);
    if (stride)
        return arena_printf(s->e->arena, "&(%s){%s}", scalar_type(scalar->dtype), stride);
    return arena_printf(s->e->arena, "&(%s){/* %s */ %lld}", scalar_type(scalar->dtype),
                        scalar->name, (long long)launch->scalar[which]);
}

static void put_kernel(const Stretch *s, int index) {
    const Launch *launch = launch_at(s, index);
    const Kernel *kernel = &s->e->plan->kernels[launch->index];
    const char *items[MAX_PARAMS + MAX_SCALARS + 2];
    int count = 0;
    for (int i = 0; i < kernel->scalar_count; i++) {
        const Varying *varying = varying_at(&s->pointers, index, i);
        if (varying)
            put_line(s->e, arena_printf(s->e->arena, "%s %s = at->%s;",
                                        scalar_type(kernel->scalar[i].dtype), varying->name,
                                        varying->name));
    }
    items[count++] = arena_printf(s->e->arena, "K_%s", kernel->name);
    items[count++] =
        arena_printf(s->e->arena, "RT_GRID(%lld, %lld, %lld)", (long long)launch->grid[0],
                     (long long)launch->grid[1], (long long)launch->grid[2]);
    for (int i = 0; i < launch->arg_count; i++)
        items[count++] =
            arena_printf(s->e->arena, "&%s", pointer_of_arg(&s->pointers, index, i)->name);
    for (int i = 0; i < kernel->scalar_count; i++)
        items[count++] = scalar_text(s, index, i);
    put_call(s->e, "RT_LAUNCH", items, count);
}

static const char *gemm_text(const Stretch *s, const Launch *launch) {
    return arena_printf(s->e->arena, "G_%s", s->e->plan->gemms[launch->index].name);
}

static void put_collective(const Stretch *s, const Launch *launch, const char *const *arg) {
    const Collective *c = &s->e->plan->collectives[launch->index];
    Arena *arena = s->e->arena;
    const char *items[5];
    int count = 0;
    items[count++] = group_text(arena, &s->e->plan->program->mesh, c->group);
    for (int i = 0; i < launch->arg_count; i++)
        items[count++] = arg[i];
    items[count++] = arena_printf(arena, "%lld", (long long)c->count);
    items[count++] = rt_dtype(c->dtype);
    put_call(s->e, arena_printf(arena, "rt_%s", collective_name(c->kind)), items, count);
}

static void put_peer_copy(const Stretch *s, const Launch *launch, const char *to,
                          const char *from) {
    const Attr *attr = &launch->ops[0]->attr;
    Arena *arena = s->e->arena;
    const char *items[] = {
        arena_printf(arena, "RT_FOR_%s", upper_text(arena, purpose_name(attr->purpose))),
        arena_printf(arena, "%lld", (long long)attr->card), to, from,
        arena_printf(arena, "%lld", (long long)value_bytes(launch->arg[0]))};
    put_call(s->e, "rt_peer_copy", items, 5);
}

static void put_export(const Stretch *s, const Launch *launch, const char *from,
                       const char *param) {
    const Value *v = launch->arg[0];
    const Attr *attr = &launch->ops[0]->attr;
    Arena *arena = s->e->arena;
    const char *items[] = {param,
                           arena_printf(arena, "\"%s\"", part_name(attr->part)),
                           from,
                           rt_dtype(v->dtype),
                           arena_printf(arena, "%lld", (long long)value_rows(v)),
                           arena_printf(arena, "%lld", (long long)value_cols(v))};
    put_call(s->e, attr->group ? "rt_export_whole" : "rt_export", items, 6);
}

static const char *bytes_text(const Stretch *s, const Value *v) {
    ENSURE(value_dense(v), "%s cannot be zeroed at once", v->name);
    return arena_printf(s->e->arena, "%lld", (long long)value_bytes(v));
}

static void put_call_of(const Stretch *s, int index) {
    const Launch *launch = launch_at(s, index);
    const char *arg[4] = {0};
    for (int i = 0; i < launch->arg_count && i < 4; i++)
        arg[i] = pointer_of_arg(&s->pointers, index, i)->name;
    switch (launch->kind) {
    case LAUNCH_KERNEL:
        put_kernel(s, index);
        break;
    case LAUNCH_GEMM:
        put_call(s->e, launch->arg_count > 3 ? "rt_gemm_bias" : "rt_gemm",
                 (const char *[]){gemm_text(s, launch), arg[0], arg[1], arg[2], arg[3]},
                 1 + launch->arg_count);
        break;
    case LAUNCH_ZERO:
        put_call(s->e, "rt_zero", (const char *[]){arg[0], bytes_text(s, launch->arg[0])}, 2);
        break;
    case LAUNCH_COLLECTIVE:
        put_collective(s, launch, arg);
        break;
    case LAUNCH_PEER_COPY:
        put_peer_copy(s, launch, arg[0], arg[1]);
        break;
    case LAUNCH_EXPORT:
        put_export(s, launch, arg[0], arg[1]);
        break;
    case LAUNCH_FETCH:
        put_call(s->e, "rt_fetch", arg, 2);
        break;
    }
}

/* Whether the next launch is enqueued on the same stream, without a condition between them. */
static bool stays(const Stretch *s, int index) {
    if (index < 0 || index + 1 >= s->pointers.run.length)
        return false;
    const Launch *a = launch_at(s, index), *b = launch_at(s, index + 1);
    return a->stream == b->stream && !a->ends_step && !b->ends_step;
}

static void put_switch(const Emit *e, int stream) {
    put_call(e, "rt_on_stream", (const char *[]){stream_name(stream)}, 1);
}

/* Whether it, or a launch before it since the switch to its stream, waits. */
static bool waits_here(const Stretch *s, int index) {
    const Launch *launch = launch_at(s, index);
    return launch->forks || launch->wait_count || (stays(s, index - 1) && waits_here(s, index - 1));
}

/* Writes the call, on the launch's stream and after its waits. */
static void put_on_stream(const Stretch *s, int index) {
    const Launch *launch = launch_at(s, index);
    if (launch->stream != STREAM_COMPUTE && !stays(s, index - 1))
        put_switch(s->e, launch->stream);
    if (launch->stream != STREAM_COMPUTE && !waits_here(s, index))
        put_why_no_wait(s, index);
    if (launch->forks)
        put_wait(s->e, STREAM_COMPUTE, NULL);
    for (int w = 0; w < launch->wait_count; w++)
        put_wait(s->e, s->e->entry->launches[launch->wait[w]].stream, waited_name(s, index, w));
    put_call_of(s, index);
    if (launch->stream != STREAM_COMPUTE && !stays(s, index))
        put_switch(s->e, STREAM_COMPUTE);
}

static void put_launch(const Stretch *s, int index) {
    Emit nested = *s->e;
    Stretch inner = {&nested, s->function, s->pointers};
    if (!launch_at(s, index)->ends_step) {
        put_on_stream(s, index);
        return;
    }
    nested.indent += 4;
    put_line(s->e, "if (rt_ends_step(rt, 1)) {");
    put_on_stream(&inner, index);
    put_line(s->e, "}");
}

static void put_observe(const Stretch *s, int index) {
    const Launch *launch = launch_at(s, index);
    const Value *v = launch->observed;
    if (!launch->observe)
        return;
    sb_puts(s->e->out, "    rt_observe(rt, ");
    put_c_string(s->e->out, launch->observe);
    sb_printf(s->e->out, ", %s, %s, %lld, %lld, %lld);\n",
              pointer_observed(&s->pointers, index)->name, rt_dtype(v->dtype),
              (long long)value_rows(v), (long long)value_cols(v), (long long)v->row_stride);
}

static void put_stretch(const Stretch *s) {
    for (int i = 0; i < s->pointers.run.length; i++) {
        const Launch *launch = launch_at(s, i);
        if (i > 0)
            sb_puts(s->e->out, "\n");
        if (launch->op_count > 0)
            put_heading(s->e->out, s->e->arena, s->e->plan, s->e->entry, &s->pointers, i);
        for (int a = 0; a < launch->arg_count; a++)
            declare(s, pointer_of_arg(&s->pointers, i, a));
        if (launch->observed)
            declare(s, pointer_observed(&s->pointers, i));
        put_launch(s, i);
        put_observe(s, i);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void put_row(const Stretch *s, int time) {
    const Pointers *p = &s->pointers;
    Arena *arena = s->e->arena;
    int room = p->column_count + p->varying_count, count = 0;
    const char **items = arena_array(arena, (size_t)room, sizeof *items);
    for (int i = 0; i < p->column_count; i++)
        items[count++] = place_text(s->e->places, p->columns[i].values[time]);
    for (int i = 0; i < p->varying_count; i++) {
        const Launch *launch = launch_at(s, p->varying[i].launch + time * p->run.stride);
        long long scalar = (long long)launch->scalar[p->varying[i].index];
        items[count++] = arena_printf(arena, "%lld", scalar);
    }
    put_list(s->e->out, "    {", items, count, 5, "},\n");
}

static void put_table(const Stretch *s) {
    const Pointers *p = &s->pointers;
    StrBuf *out = s->e->out;
    sb_puts(out, "/* Offsets that differ from call to call of the function below. */\n");
    sb_printf(out, "static const struct %s {\n", s->function);
    for (int i = 0; i < p->column_count; i++)
        sb_printf(out, "    size_t %s; /* %s */\n", p->columns[i].name,
                  shape_text(s->e->arena, p->columns[i].values[0]));
    for (int i = 0; i < p->varying_count; i++) {
        const Launch *launch = launch_at(s, p->varying[i].launch);
        DType dtype = s->e->plan->kernels[launch->index].scalar[p->varying[i].index].dtype;
        sb_printf(out, "    %s %s;\n", scalar_type(dtype), p->varying[i].name);
    }
    sb_printf(out, "} %s_at[%d] = {\n", s->function, p->run.times);
    for (int t = 0; t < p->run.times; t++)
        put_row(s, t);
    sb_puts(out, "};\n\n");
}

static bool takes_index(const Pointers *p) {
    for (int i = 0; i < p->count; i++)
        if (is_counted(&p->pointers[i]) || p->pointers[i].odd >= 0)
            return true;
    return p->has_table;
}

/* "5 launches, 1.20 GFLOP, 78.3 MiB" */
static const char *cost_text(Arena *arena, int launches, double flops, double bytes) {
    const char *count = arena_printf(arena, "%d launch%s", launches, launches == 1 ? "" : "es");
    if (flops > 0)
        count = arena_printf(arena, "%s, %s", count, flops_text(arena, flops));
    return arena_printf(arena, "%s, %s", count, size_text(arena, bytes));
}

/* Says what is in a function that its name does not tell, what it costs and when a loop calls it. */
static void put_function_head(const Stretch *s, const Block *block) {
    const Pointers *p = &s->pointers;
    const Count *count = &p->index.count;
    Arena *arena = s->e->arena;
    double flops = 0, bytes = 0;
    for (int i = 0; i < p->run.length; i++) {
        flops += launch_at(s, i)->cost.flops;
        bytes += launch_at(s, i)->cost.moved_bytes;
    }
    const char *cost = cost_text(arena, p->run.length, flops, bytes), *calls = "";
    if (p->run.times > 1)
        calls =
            arena_printf(arena, "; called for %s = %d %sto %d", p->index.name, number_at(*count, 0),
                         count->direction < 0 ? "down " : "", number_at(*count, p->run.times - 1));
    if (block->content_count)
        put_remark(s->e->out, 0, "", block->contents, block->content_count, ".\n");
    sb_printf(s->e->out, "%s%s%s. */\n", block->content_count ? " * " : "/* ", cost, calls);
}

static void put_function(const Emit *e, const Block *block) {
    const Stretch stretch = {e, block->function, block->pointers}, *s = &stretch;
    const Pointers *p = &s->pointers;
    StrBuf *out = e->out;
    if (p->has_table)
        put_table(s);
    put_function_head(s, block);
    sb_printf(out, "static void %s(Rt *rt", s->function);
    if (takes_index(p))
        sb_printf(out, ", int %s", p->index.name);
    sb_puts(out, ") {\n");
    if (p->has_table) {
        bool fits = 2 * strlen(s->function) + 40 <= PAGE;
        sb_printf(out, "    const struct %s *at =%s&%s_at[%s];\n\n", s->function,
                  fits ? " " : "\n        ", s->function,
                  count_text(s->e->arena, (Count){0, 1}, &p->index));
    }
    put_stretch(s);
    sb_puts(out, "}\n\n");
}

/* ---- entries --------------------------------------------------------------------------------- */

const char *entry_purpose(const Plan *plan, Entry entry) {
    const Program *program = plan->program;
    if (entry == ENTRY_MICRO_STEP && program->stage.count > 1)
        return "Forward of one micro-batch.";
    if (entry == ENTRY_MICRO_STEP && program->train.in_backward)
        return "Forward, loss and backward of one micro-batch; backward updates the weights.";
    if (entry == ENTRY_UPDATE && program->train.in_backward)
        return "Once per step: updates the step's figures.";
    return entry_info(entry)->purpose;
}

static void put_head(const Emit *e) {
    const Cost *cost = &e->entry->cost;
    Entry entry = (Entry)(e->entry - e->plan->entry);
    sb_printf(e->out, "/* %s\n * %s of operands and results. */\n", entry_purpose(e->plan, entry),
              cost_text(e->arena, e->entry->launch_count, cost->flops, cost->moved_bytes));
    sb_printf(e->out, "static void %s(Rt *rt) {\n", e->entry->name);
}

static void put_loop(const Index *index, int times, StrBuf *out) {
    bool up = index->count.direction > 0;
    int first = number_at(index->count, 0), last = number_at(index->count, times - 1);
    sb_printf(out, "    for (int %s = %d; %s %s %d; %s%s)", index->name, first, index->name,
              up ? "<" : ">=", up ? last + 1 : last, index->name, up ? "++" : "--");
}

static const char *name_of(const Blocks *blocks, const Block *block) {
    if (block->called >= 0)
        block = &blocks->blocks[block->called];
    return block->shared ? block->shared->function : block->function;
}

static void put_call_outside_loops(const Emit *e, const Blocks *blocks, const Block *block) {
    sb_printf(e->out, "    %s(rt", name_of(blocks, block));
    if (block->called >= 0) {
        const Block *called = &blocks->blocks[block->called];
        if (takes_index(&called->pointers))
            sb_printf(e->out, ", %d", number_at(called->pointers.index.count, called->times));
    }
    sb_puts(e->out, ");\n");
}

/* Writes the calls of the functions from `first` on that one loop calls; returns how many. */
static int put_calls(const Emit *e, const Blocks *blocks, int first) {
    const Block *block = &blocks->blocks[first];
    int times = block->times, count = 1;
    const char *apart = apart_text(e->arena, e->plan, e->entry, blocks, first);
    if (apart)
        sb_printf(e->out, "    /* Not in the loop, %s. */\n", apart);
    if (times == 1) {
        put_call_outside_loops(e, blocks, block);
        return 1;
    }
    while (first + count < blocks->count && block[count].loop == block->loop)
        count++;
    const Index *index = &block->pointers.index;
    put_loop(index, times, e->out);
    sb_puts(e->out, count > 1 ? " {\n" : "\n");
    for (int i = 0; i < count; i++) {
        const Pointers *p = &block[i].pointers;
        sb_printf(e->out, "        %s(rt", name_of(blocks, &block[i]));
        if (takes_index(p))
            sb_printf(e->out, ", %s", count_text(e->arena, p->index.count, index));
        sb_puts(e->out, ");\n");
    }
    if (count > 1)
        sb_puts(e->out, "    }\n");
    return count;
}

/* Whether the stream gets only work that belongs to the last micro-step of a step. */
static bool is_conditional(const PlanEntry *entry, int stream) {
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].stream == stream && !entry->launches[i].ends_step)
            return false;
    return true;
}

static void put_end(const Emit *e) {
    for (int w = 0; w < e->entry->wait_count; w++) {
        int launch = e->entry->wait[w];
        if (is_conditional(e->entry, e->entry->launches[launch].stream))
            sb_puts(e->out, "    if (rt_ends_step(rt, 0))\n    ");
        put_wait(e, e->entry->launches[launch].stream, NULL);
    }
    sb_puts(e->out, "}\n\n");
}

void emit_entry(const Places *places, const Strides *strides, Entry entry, StrBuf *out) {
    Arena arena = {0};
    Emit e = {places->plan, places, strides, &places->plan->entry[entry], out, &arena, 4};
    const Blocks *blocks = &places->blocks[entry];
    bool alone = blocks->count == 1 && blocks->blocks[0].times == 1;
    for (int i = 0; i < blocks->count && !alone; i++)
        if (blocks->blocks[i].called < 0 && !blocks->blocks[i].shared)
            put_function(&e, &blocks->blocks[i]);
    put_head(&e);
    if (alone)
        put_stretch(&(Stretch){&e, e.entry->name, blocks->blocks[0].pointers});
    for (int i = 0; i < blocks->count && !alone;)
        i += put_calls(&e, blocks, i);
    put_end(&e);
    arena_free(&arena);
}
