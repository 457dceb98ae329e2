/* values.c: tables of tensors by name: the parameters, which are read from and written to files,
 * and the values that each launch writes, so that non-finite values can be reported by name. */
#include "emit/emit.h"
#include "emit/names.h"

#include <string.h>

typedef struct {
    const Places *places;
    const Plan *plan;
    StrBuf *out;
    Arena *arena;
    const Value **values; /* by storage */
} Emit;

static const char *where_text(const Emit *e, const Value *value) {
    return value ? address_text(e->arena, e->places, value) : "RT_NOWHERE";
}

static bool stands_alone(const Param *p) {
    return (!p->master || p->master == p->weight) && !p->gradient && !p->exp_avg && !p->exp_avg_sq;
}

/* ".master = MODEL_NORM_WEIGHT_MASTER" */
static const char *field_text(const Emit *e, const char *field, const Value *value) {
    return arena_printf(e->arena, ".%s = %s", field, where_text(e, value));
}

static void put_fields(const Emit *e, const char *const *fields, int count) {
    put_list(e->out, "     ", fields, count, 5, ",\n");
}

static void put_places(const Emit *e, const Param *p) {
    const Value *master = p->master == p->weight ? NULL : p->master;
    const char *weight = field_text(e, "weight", param_place(p));
    if (stands_alone(p)) {
        put_fields(e, (const char *[]){weight, "ALONE"}, 2);
        return;
    }
    put_fields(e,
               (const char *[]){weight, field_text(e, "master", master),
                                field_text(e, "gradient", p->gradient)},
               3);
    put_fields(e,
               (const char *[]){field_text(e, "exp_avg", p->exp_avg),
                                field_text(e, "exp_avg_sq", p->exp_avg_sq)},
               2);
    if (p->exp_avg_absmax)
        put_fields(e,
                   (const char *[]){".coded_moments = true",
                                    field_text(e, "exp_avg_absmax", p->exp_avg_absmax),
                                    field_text(e, "exp_avg_sq_absmax", p->exp_avg_sq_absmax)},
                   3);
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

static void put_order(const Emit *e, const Param *p) {
    if (!p->split[0])
        return;
    sb_printf(e->out, ",\n     .split = {%lld, %lld, %lld, %lld}, .order = {%d, %d, %d, %d}",
              (long long)p->split[0], (long long)p->split[1], (long long)p->split[2],
              (long long)p->split[3], p->order[0], p->order[1], p->order[2], p->order[3]);
    sb_printf(e->out, ", .cols = %lld", (long long)value_cols(p->weight));
}

/* The index in the table of constants. */
static int constant_index(const Emit *e, const Value *constant) {
    int index = 0, at = next_constant(e->plan, e->values, 0);
    for (; at >= 0 && at != constant->storage->id; index++)
        at = next_constant(e->plan, e->values, at + 1);
    ENSURE(at >= 0, "%s is no constant of the program", constant->name);
    return index;
}

static bool is_in_pieces(const PackedForm *f, const Value *v) {
    return f->piece && v->storage == f->codes->storage;
}

/* The offsets are in bytes. */
static void put_code_pieces(const Emit *e, const PackedForm *f) {
    bool absmax = is_in_pieces(f, f->absmax);
    sb_printf(e->out, ",\n     .code_pieces = &(const RtCodePieces){%s, %s, %lld, %lld, %lld}",
              group_text(e->arena, &e->plan->program->mesh, GROUP_SHARD), where_text(e, f->piece),
              (long long)value_elements(f->piece), (long long)f->codes->offset,
              absmax ? (long long)f->absmax->offset : -1);
}

static void put_packed(const Emit *e, const PackedForm *f) {
    const Value *absmax = is_in_pieces(f, f->absmax) ? NULL : f->absmax;
    sb_puts(e->out, ",\n");
    put_list(e->out, "     .packed = &(const RtPacked){",
             (const char *[]){arena_printf(e->arena, "\"%s\"", f->type),
                              arena_printf(e->arena, "%lld", (long long)f->block),
                              arena_printf(e->arena, "%lld", (long long)f->nested_block),
                              where_text(e, absmax), where_text(e, f->offset),
                              where_text(e, f->nested_absmax)},
             6, 9, ",\n");
    sb_printf(e->out, "         &constants[%d]", constant_index(e, f->map));
    if (f->nested_map)
        sb_printf(e->out, ", &constants[%d]", constant_index(e, f->nested_map));
    else
        sb_puts(e->out, ", NULL");
    sb_printf(e->out, ", %s}", f->in_file ? "true" : "false");
    if (f->piece)
        put_code_pieces(e, f);
}

/* Writes the sharded axis by its position in the file's order. */
static void put_shard(const Emit *e, const Param *p) {
    const Mesh *mesh = &e->plan->program->mesh;
    if (!p->shard)
        return;
    sb_printf(e->out, ",\n     .shard = %s, .shard_axis = %d", group_text(e->arena, mesh, p->shard),
              p->split[0] ? p->order[p->shard_axis] : p->shard_axis);
    if (p->shard_runs)
        sb_printf(e->out, ", .shard_runs = %d", p->shard_runs);
}

static void put_param(const Emit *e, const Param *p) {
    static const char *const inits[] = {[INIT_ZEROS] = "RT_INIT_ZEROS",
                                        [INIT_ONES] = "RT_INIT_ONES",
                                        [INIT_NORMAL] = "RT_INIT_NORMAL",
                                        [INIT_UNIFORM] = "RT_INIT_UNIFORM",
                                        [INIT_LOAD] = "RT_INIT_LOAD"};
    const Value *w = p->weight, *master = p->master ? p->master : w;
    int64_t dim[MAX_RANK];
    const Mesh *mesh = &e->plan->program->mesh;
    int rank = file_shape(p, mesh_ranks(mesh, p->shard), dim);
    const char *shape = "";
    for (int i = 0; i < rank; i++)
        shape = arena_printf(e->arena, "%s%s%lld", shape, i ? ", " : "", (long long)dim[i]);
    put_list(e->out, "    {",
             (const char *[]){c_string(e->arena, p->file_name), arena_printf(e->arena, "%d", rank),
                              arena_printf(e->arena, "{%s}", shape),
                              arena_printf(e->arena, "%lld", (long long)w->row_stride),
                              rt_dtype(w->dtype), rt_dtype(master->dtype)},
             6, 5, ",\n");
    put_places(e, p);
    sb_printf(e->out, "     .trained = %s, .adapter = %s, .init = %s, .init_scale = ",
              value_trains(w) ? "true" : "false", w->role == ROLE_ADAPTER ? "true" : "false",
              inits[p->init]);
    sb_put_real(e->out, p->init_scale);
    if (p->base_name) {
        sb_puts(e->out, ", .base_name = ");
        put_c_string(e->out, p->base_name);
    }
    if (p->no_zero_row) {
        sb_puts(e->out, ",\n     .no_zero_row = ");
        put_c_string(e->out, p->no_zero_row);
    }
    if (w->role == ROLE_BUFFER)
        sb_puts(e->out, ", .buffer = true");
    if (p->stored)
        sb_puts(e->out, ", .fetched = true");
    if (p->packed)
        put_packed(e, p->packed);
    put_order(e, p);
    put_shard(e, p);
    if (p->pieces)
        sb_printf(e->out,
                  ",\n     .pieces = %s, .piece_first = %lld, .piece_elements = %lld, "
                  ".piece_at = %lld%s",
                  group_text(e->arena, mesh, p->pieces), (long long)p->piece_first,
                  (long long)p->piece_elements, (long long)p->piece_at,
                  p->gradient_in_pieces ? ", .gradient_in_pieces = true" : "");
    sb_puts(e->out, "},\n");
}

static void put_params(const Emit *e) {
    const Program *program = e->plan->program;
    bool any_alone = false;
    for (int i = 0; i < program->param_count; i++)
        any_alone |= stands_alone(&program->params[i]);
    if (any_alone)
        sb_puts(e->out, "/* A weight without master, gradient and moments. */\n"
                        "#define ALONE .master = RT_NOWHERE, .gradient = RT_NOWHERE, \\\n"
                        "    .exp_avg = RT_NOWHERE, .exp_avg_sq = RT_NOWHERE\n\n");
    sb_puts(e->out,
            "/* name in the file, rank, shape, row stride, dtype, dtype of training and saving */\n"
            "const RtParam params[PARAMS] = {\n");
    for (int i = 0; i < program->param_count; i++)
        put_param(e, &program->params[i]);
    sb_puts(e->out, "};\n");
}

static void put_constant(const Emit *e, const Value *v) {
    sb_puts(e->out, "    {");
    put_c_string(e->out, v->name);
    sb_printf(e->out, ", %s, %lld, %s,\n     (const double[]){", rt_dtype(v->dtype),
              (long long)value_elements(v), where_text(e, v));
    for (int64_t k = 0; k < value_elements(v); k++) {
        if (k > 0)
            sb_puts(e->out, k % 4 ? ", " : ",\n      ");
        sb_put_real(e->out, v->data[k]);
    }
    sb_puts(e->out, "}},\n");
}

static void put_constants(const Emit *e) {
    const Value **values = e->values;
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

static void put_output(const Emit *e, int launch, const Value *v) {
    Arena *arena = e->arena;
    const char *place =
        arena_printf(arena, "{%s, %s}", rt_arena(plan_place(e->plan, v).arena), where_text(e, v));
    put_list(e->out, "    {",
             (const char *[]){arena_printf(arena, "%d", launch), c_string(e->arena, v->name), place,
                              rt_dtype(v->dtype),
                              arena_printf(arena, "%lld", (long long)value_rows(v)),
                              arena_printf(arena, "%lld", (long long)value_cols(v)),
                              arena_printf(arena, "%lld", (long long)v->row_stride)},
             7, 5, "},\n");
}

static void put_outputs(const Emit *e, const PlanEntry *entry) {
    sb_printf(e->out, "\nconst RtOutput %s_outputs[%s_OUTPUTS] = {\n", entry->name,
              upper_text(e->arena, entry->name));
    for (int i = 0; i < entry->launch_count; i++)
        for (int a = 0; a < launch_touches(&entry->launches[i]); a++) {
            Touched of = launch_touched(&entry->launches[i], a);
            if (of.written)
                put_output(e, i, of.value);
        }
    sb_puts(e->out, "};\n");
}

void emit_values(const Places *places, StrBuf *out) {
    const Plan *plan = places->plan;
    Arena arena = {0};
    Emit e = {places, plan, out, &arena, storage_values(&arena, plan->program)};
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
