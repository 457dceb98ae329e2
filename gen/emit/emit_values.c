/* values.c: tables of tensors by name: the parameters, which are read from and written to files,
 * and the values that each launch writes, so that non-finite values can be reported by name. */
#include "emit/emit.h"
#include "emit/names.h"
#include "emit/tables.h"

#include <string.h>

typedef struct {
    const Places *places;
    const Plan *plan;
    StrBuf *out;
    Arena *arena;
    Table *table;
} Emit;

static bool stands_alone(const Param *p) {
    return (!p->master || p->master == p->weight) && !p->gradient && !p->exp_avg && !p->exp_avg_sq;
}

/* ---- parameters -------------------------------------------------------------------------- */

static void add_places(Table *t, const Param *p) {
    table_line(t);
    table_address(t, ".weight = ", param_place(p), NULL);
    if (stands_alone(p)) {
        table_code(t, "ALONE");
        return;
    }
    table_address(t, ".master = ", p->master == p->weight ? NULL : p->master, NULL);
    table_address(t, ".gradient = ", p->gradient, NULL);
    if (p->section)
        table_index(t, ".section = ", p->section);
    table_line(t);
    table_address(t, ".exp_avg = ", p->exp_avg, NULL);
    table_address(t, ".exp_avg_sq = ", p->exp_avg_sq, NULL);
    if (!p->exp_avg_absmax)
        return;
    table_line(t);
    table_code(t, ".coded_moments = true");
    table_address(t, ".exp_avg_absmax = ", p->exp_avg_absmax, NULL);
    table_address(t, ".exp_avg_sq_absmax = ", p->exp_avg_sq_absmax, NULL);
}

/* The dimensions of the file's tensor, with the parts of all ranks. With a split, its dimensions
 * from number file_rank - 1 on are merged into the file's last one. */
static int file_shape(const Param *p, int64_t ranks, int64_t *dim) {
    if (!p->split[0]) {
        memcpy(dim, p->weight->dim, sizeof p->weight->dim);
        dim[p->shard_axis] *= ranks;
        return p->weight->rank;
    }
    for (int i = 0; i < MAX_RANK; i++) {
        int to = i < p->file_rank ? i : p->file_rank - 1;
        dim[to] = i == to ? p->split[i] : dim[to] * p->split[i];
    }
    return p->file_rank;
}

static void add_order(const Emit *e, const Param *p) {
    Table *t = e->table;
    const int64_t *split = p->split;
    const int *order = p->order;
    if (!split[0])
        return;
    table_line(t);
    table_code(t, arena_printf(e->arena, ".split = {%lld, %lld, %lld, %lld}", (long long)split[0],
                               (long long)split[1], (long long)split[2], (long long)split[3]));
    table_code(t, arena_printf(e->arena, ".order = {%d, %d, %d, %d}", order[0], order[1], order[2],
                               order[3]));
    table_size(t, ".cols = ", value_cols(p->weight));
}

/* The index in the table of constants. */
static int constant_index(const Emit *e, const Value *constant) {
    int index = 0, at = next_constant(e->plan, e->places->values, 0);
    for (; at >= 0 && at != constant->storage->id; index++)
        at = next_constant(e->plan, e->places->values, at + 1);
    ENSURE(at >= 0, "%s is no constant of the program", constant->name);
    return index;
}

static bool is_in_pieces(const PackedForm *f, const Value *v) {
    return f->piece && v->storage == f->codes->storage;
}

/* The offsets are in bytes. */
static void add_code_pieces(const Emit *e, const PackedForm *f) {
    Table *t = e->table;
    bool absmax = is_in_pieces(f, f->absmax);
    table_line(t);
    table_code(t, arena_printf(e->arena, ".code_pieces = &(const RtCodePieces){%s",
                               group_text(e->arena, &e->plan->program->mesh, GROUP_SHARD)));
    table_address(t, NULL, f->piece, NULL);
    table_size(t, NULL, value_elements(f->piece));
    table_index(t, NULL, f->codes->offset);
    table_code(t, arena_printf(e->arena, "%lld}", absmax ? (long long)f->absmax->offset : -1));
}

static const char *constant_text(const Emit *e, const Value *constant) {
    return constant ? arena_printf(e->arena, "&constants[%d]", constant_index(e, constant)) : "NULL";
}

static void add_packed(const Emit *e, const PackedForm *f) {
    Table *t = e->table;
    table_line(t);
    table_code(t, arena_printf(e->arena, ".packed = &(const RtPacked){\"%s\"", f->type));
    table_size(t, NULL, f->block);
    table_size(t, NULL, f->nested_block);
    table_address(t, NULL, is_in_pieces(f, f->absmax) ? NULL : f->absmax, NULL);
    table_address(t, NULL, f->offset, NULL);
    table_address(t, NULL, f->nested_absmax, NULL);
    table_code(t, constant_text(e, f->map));
    table_code(t, constant_text(e, f->nested_map));
    table_code(t, f->in_file ? "true}" : "false}");
    if (f->piece)
        add_code_pieces(e, f);
}

/* The axis of `split` that the weight's sharded axis is. An axis of the weight stands for one or
 * several axes in memory's order, whose sizes make up its own. */
static int file_axis(const Param *p) {
    int at = 0; /* in memory's order */
    if (!p->split[0])
        return p->shard_axis;
    for (int axis = 0; axis < p->shard_axis; axis++)
        for (int64_t size = 1; size < p->weight->dim[axis]; at++)
            size *= p->split[p->order[at]];
    while (at < MAX_RANK - 1 && p->split[p->order[at]] == 1)
        at++;
    return p->order[at];
}

static void add_shard(const Emit *e, const Param *p) {
    Table *t = e->table;
    if (!p->shard)
        return;
    const char *group = group_text(e->arena, &e->plan->program->mesh, p->shard);
    table_line(t);
    table_code(t, arena_printf(e->arena, ".shard = %s", group));
    table_size(t, ".shard_axis = ", file_axis(p));
    if (p->shard_runs)
        table_size(t, ".shard_runs = ", p->shard_runs);
}

static void add_pieces(const Emit *e, const Param *p) {
    Table *t = e->table;
    if (!p->pieces)
        return;
    const char *group = group_text(e->arena, &e->plan->program->mesh, p->pieces);
    table_line(t);
    table_code(t, arena_printf(e->arena, ".pieces = %s", group));
    table_index(t, ".piece_first = ", p->piece_first);
    table_index(t, ".piece_elements = ", p->piece_elements);
    table_index(t, ".piece_at = ", p->piece_at);
    if (p->gradient_in_pieces)
        table_code(t, ".gradient_in_pieces = true");
}

static void add_shape(const Emit *e, const Param *p) {
    Table *t = e->table;
    int64_t dim[MAX_RANK];
    int rank = file_shape(p, mesh_ranks(&e->plan->program->mesh, p->shard), dim);
    const char *shape = "";
    for (int i = 0; i < rank; i++)
        shape = arena_printf(e->arena, "%s%s%lld", shape, i ? ", " : "", (long long)dim[i]);
    table_size(t, NULL, rank);
    table_code(t, arena_printf(e->arena, "{%s}", shape));
}

static void add_roles(Table *t, const Param *p) {
    static const char *const inits[] = {[INIT_ZEROS] = ".init = RT_INIT_ZEROS",
                                        [INIT_ONES] = ".init = RT_INIT_ONES",
                                        [INIT_NORMAL] = ".init = RT_INIT_NORMAL",
                                        [INIT_UNIFORM] = ".init = RT_INIT_UNIFORM",
                                        [INIT_LOAD] = ".init = RT_INIT_LOAD"};
    const Value *w = p->weight;
    table_line(t);
    table_code(t, value_trains(w) ? ".trained = true" : ".trained = false");
    table_code(t, w->role == ROLE_ADAPTER ? ".adapter = true" : ".adapter = false");
    table_code(t, inits[p->init]);
    table_real(t, ".init_scale = ", p->init_scale);
    if (p->base_name)
        table_name(t, ".base_name = ", p->base_name);
    if (p->no_zero_row)
        table_name(t, ".no_zero_row = ", p->no_zero_row);
    if (w->role == ROLE_BUFFER)
        table_code(t, ".buffer = true");
    if (p->stored)
        table_code(t, ".fetched = true");
}

static void add_param(const Emit *e, const Param *p) {
    Table *t = e->table;
    table_row(t);
    table_name(t, NULL, p->file_name);
    add_shape(e, p);
    table_size(t, NULL, p->weight->row_stride);
    table_code(t, rt_dtype(p->weight->dtype));
    table_code(t, rt_dtype((p->master ? p->master : p->weight)->dtype));
    add_places(t, p);
    add_roles(t, p);
    if (p->packed)
        add_packed(e, p->packed);
    add_order(e, p);
    add_shard(e, p);
    add_pieces(e, p);
}

/* What the rows need to be understood. */
static void put_notes(const Program *program, StrBuf *out) {
    bool any_alone = false, any_trained = false;
    for (int i = 0; i < program->param_count; i++) {
        any_alone |= stands_alone(&program->params[i]);
        any_trained |= value_trains(program->params[i].weight);
    }
    if (any_alone)
        sb_puts(out, "/* A weight without master, gradient and moments. */\n"
                     "#define ALONE .master = RT_NOWHERE, .gradient = RT_NOWHERE, \\\n"
                     "    .exp_avg = RT_NOWHERE, .exp_avg_sq = RT_NOWHERE\n\n");
    if (any_trained)
        sb_puts(out,
                "/* What trains, its gradients and its moments lie in runs of memory, in the order in\n"
                " * which backward reaches them: the last layer first. A part of a run that no launch\n"
                " * uses alone, as where one product makes several gradients, is RUN + offset. */\n\n");
}

static void put_params(const Emit *e) {
    const Program *program = e->plan->program;
    put_notes(program, e->out);
    sb_puts(e->out,
            "/* name in the file, rank, shape, row stride, dtype, dtype of training and saving */\n"
            "const RtParam params[PARAMS] = {\n");
    for (int i = 0; i < program->param_count; i++)
        add_param(e, &program->params[i]);
    put_table(e->table, e->out);
    sb_puts(e->out, "};\n");
}

/* ---- constants --------------------------------------------------------------------------- */

static void put_constant(const Emit *e, const Value *v) {
    sb_puts(e->out, "    {");
    put_c_string(e->out, v->name);
    sb_printf(e->out, ", %s, %lld, %s,\n     (const double[]){", rt_dtype(v->dtype),
              (long long)value_elements(v), address_text(e->arena, e->places, v));
    for (int64_t k = 0; k < value_elements(v); k++) {
        if (k > 0)
            sb_puts(e->out, k % 4 ? ", " : ",\n      ");
        sb_put_real(e->out, v->data[k]);
    }
    sb_puts(e->out, "}},\n");
}

static void put_constants(const Emit *e) {
    const Value **values = e->places->values;
    int first = next_constant(e->plan, values, 0);
    if (first < 0)
        return;
    sb_puts(
        e->out,
        "\n/* name, dtype, count, place, values */\nconst RtConstant constants[CONSTANTS] = {\n");
    for (int i = first; i >= 0; i = next_constant(e->plan, values, i + 1))
        put_constant(e, values[i]);
    sb_puts(e->out, "};\n");
}

/* ---- results of launches ----------------------------------------------------------------- */

static const char *const places_in[ARENA_COUNT] = {
    [ARENA_STATE] = "{RT_STATE, ",
    [ARENA_SCRATCH] = "{RT_SCRATCH, ",
    [ARENA_INPUT] = "{RT_INPUT, ",
    [ARENA_STASH] = "{RT_STASH, ",
};

static void add_output(const Emit *e, int launch, const Value *v) {
    Table *t = e->table;
    table_row(t);
    table_index(t, NULL, launch);
    table_name(t, NULL, v->name);
    table_address(t, places_in[plan_place(e->plan, v).arena], v, "}");
    table_code(t, rt_dtype(v->dtype));
    table_size(t, NULL, value_rows(v));
    table_size(t, NULL, value_cols(v));
    table_size(t, NULL, v->row_stride);
}

static void put_outputs(const Emit *e, const PlanEntry *entry) {
    for (int i = 0; i < entry->launch_count; i++)
        for (int a = 0; a < launch_touch_count(&entry->launches[i]); a++) {
            Touched of = launch_touched(&entry->launches[i], a);
            if (of.written)
                add_output(e, i, of.value);
        }
    sb_printf(e->out, "\nconst RtOutput %s_outputs[%s_OUTPUTS] = {\n", entry->name,
              upper_text(e->arena, entry->name));
    put_table(e->table, e->out);
    sb_puts(e->out, "};\n");
}

void emit_values(const Places *places, StrBuf *out) {
    const Plan *plan = places->plan;
    Arena arena = {0};
    Table table = {.arena = &arena, .places = places};
    Emit e = {places, plan, out, &arena, &table};
    sb_printf(out, "/* The tensors of %s by name. */\n#include \"buffers.h\"\n\n",
              plan->spec->name);
    put_params(&e);
    put_constants(&e);
    sb_puts(
        out,
        "\n/* Results of launches: launch, name, place, dtype, rows, columns, row stride. */\n");
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (plan->entry[i].launch_count > 0)
            put_outputs(&e, &plan->entry[i]);
    arena_free(&arena);
}
