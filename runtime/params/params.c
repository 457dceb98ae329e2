/* Fills STATE before the first step: weights, counters, and the tables that the device indexes. */
#include "runtime/base/checksum.h"
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/params/packed.h"
#include "runtime/params/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one parameter --------------------------------------------------------------------------- */

/* A weight in STATE. */
static RtRows rows_of(const Rt *rt, const RtParam *param) {
    size_t size = rt_dtype_bytes(param->dtype);
    int64_t cols = param_cols(rt, param);
    return (RtRows){.rows = (size_t)(shard_elements(rt, param) / cols),
                    .row = (size_t)cols * size,
                    .stride = (size_t)param->row_stride * size};
}

/* A frozen one has neither master nor moments. */
static bool weight_in_pieces(const RtParam *param) { return param->pieces && !param->trained; }

static void read_weight(Rt *rt, const RtParam *param, void *host) {
    RtRows rows = rows_of(rt, param);
    if (weight_in_pieces(param))
        pieces_read(rt, param, rt->arenas[RT_STATE] + param->weight, host);
    else if (rows.row == rows.stride)
        rt_read_state(rt, param->weight, rows.rows * rows.row, host);
    else
        rt_read_rows(rt, param->weight, rows, host);
}

static void write_weight(Rt *rt, const RtParam *param, const void *host) {
    RtRows rows = rows_of(rt, param);
    if (weight_in_pieces(param))
        pieces_write(rt, param, param->weight, host);
    else if (rows.row == rows.stride)
        rt_write_state(rt, param->weight, rows.rows * rows.row, host);
    else
        rt_write_rows(rt, param->weight, rows, host);
}

/* A copy in master_dtype: all that the rank holds of the tensor, or its piece of that. */
typedef struct {
    size_t offset; /* in STATE */
    RtPtr piece;   /* or, where not 0, wherever the piece is */
} Copy;

static bool has_pieces(const RtParam *param, size_t offset) {
    return param->pieces && (offset != param->gradient || param->gradient_in_pieces);
}

static Copy copy_at(const Rt *rt, const RtParam *param, size_t offset) {
    return (Copy){offset, has_pieces(param, offset) ? rt->arenas[RT_STATE] + offset : 0};
}

static void read_copy(Rt *rt, const RtParam *param, Copy copy, size_t bytes, void *host) {
    if (copy.piece)
        pieces_read(rt, param, copy.piece, host);
    else
        rt_read_state(rt, copy.offset, bytes, host);
}

static void write_part(Rt *rt, const RtParam *param, size_t offset, size_t bytes,
                       const void *host) {
    if (has_pieces(param, offset))
        pieces_write(rt, param, offset, host);
    else
        rt_write_state(rt, offset, bytes, host);
}

/* What this rank holds of a copy in master_dtype, in the file's order. */
static void read_held(Rt *rt, const RtParam *param, Copy copy, void *host) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    size_t bytes = (size_t)shard_elements(rt, param) * size;
    if (!param->split[0]) {
        read_copy(rt, param, copy, bytes, host);
        return;
    }
    void *memory = rt_alloc(bytes);
    read_copy(rt, param, copy, bytes, memory);
    param_to_file_order(param, shard_ranks(rt, param), size, memory, host);
    free(memory);
}

static void write_held(Rt *rt, const RtParam *param, size_t offset, const void *host) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    size_t bytes = (size_t)shard_elements(rt, param) * size;
    if (!param->split[0]) {
        write_part(rt, param, offset, bytes, host);
        return;
    }
    void *memory = rt_alloc(bytes);
    param_to_memory_order(param, shard_ranks(rt, param), size, host, memory);
    write_part(rt, param, offset, bytes, memory);
    free(memory);
}

static void read_saved(Rt *rt, const RtParam *param, void *host) {
    if (param->master != RT_NOWHERE) {
        read_held(rt, param, copy_at(rt, param, param->master), host);
        return;
    }
    if (!param->split[0]) {
        read_weight(rt, param, host);
        return;
    }
    void *memory = rt_alloc(param_saved_bytes(param));
    read_weight(rt, param, memory);
    param_to_file_order(param, shard_ranks(rt, param), rt_dtype_bytes(param->dtype), memory, host);
    free(memory);
}

/* The weight's copy of what is saved: of its own type, in memory's order. */
static void write_copy(Rt *rt, const RtParam *param, const void *host) {
    int64_t count = shard_elements(rt, param);
    size_t size = rt_dtype_bytes(param->dtype);
    RtDtype saved = param_saved_dtype(param);
    void *converted = rt_alloc((size_t)count * size), *memory = rt_alloc((size_t)count * size);
    for (int64_t i = 0; i < count; i++)
        rt_set(param->dtype, converted, i, rt_get(saved, host, i));
    if (param->split[0])
        param_to_memory_order(param, shard_ranks(rt, param), size, converted, memory);
    write_weight(rt, param, param->split[0] ? memory : converted);
    free(memory);
    free(converted);
}

static void write_saved(Rt *rt, const RtParam *param, const void *host) {
    if (param->master != RT_NOWHERE)
        write_held(rt, param, param->master, host);
    if (param->weight == RT_NOWHERE)
        return;
    if (param->split[0] || param_saved_dtype(param) != param->dtype)
        write_copy(rt, param, host);
    else
        write_weight(rt, param, host);
}

/* ---- the whole of it -------------------------------------------------------------------------- */

static size_t whole_bytes(const RtParam *param, RtDtype dtype) {
    return (size_t)param_elements(param) * rt_dtype_bytes(dtype);
}

static void *part_new(Rt *rt, const RtParam *param, RtDtype dtype) {
    return rt_alloc((size_t)shard_elements(rt, param) * rt_dtype_bytes(dtype));
}

static void read_whole(Rt *rt, const RtParam *param, Copy copy, void *host) {
    if (!param->shard) {
        read_held(rt, param, copy, host);
        return;
    }
    void *part = part_new(rt, param, param->master_dtype);
    read_held(rt, param, copy, part);
    shard_gather(rt, param, whole_bytes(param, param->master_dtype), part, host);
    free(part);
}

void param_read_part(Rt *rt, const RtParam *param, size_t offset, void *host) {
    read_whole(rt, param, copy_at(rt, param, offset), host);
}

void param_read_pieces(Rt *rt, const RtParam *param, RtPtr piece, void *host) {
    read_whole(rt, param, (Copy){.piece = piece}, host);
}

void param_write_part(Rt *rt, const RtParam *param, size_t offset, const void *host) {
    if (!param->shard) {
        write_held(rt, param, offset, host);
        return;
    }
    void *part = part_new(rt, param, param->master_dtype);
    shard_take(rt, param, whole_bytes(param, param->master_dtype), host, part);
    write_held(rt, param, offset, part);
    free(part);
}

void param_read(Rt *rt, const RtParam *param, void *host) {
    if (!param->shard) {
        read_saved(rt, param, host);
        return;
    }
    void *part = part_new(rt, param, param_saved_dtype(param));
    read_saved(rt, param, part);
    shard_gather(rt, param, whole_bytes(param, param_saved_dtype(param)), part, host);
    free(part);
}

void param_write(Rt *rt, const RtParam *param, const void *host) {
    if (!param->shard) {
        write_saved(rt, param, host);
        return;
    }
    void *part = part_new(rt, param, param_saved_dtype(param));
    shard_take(rt, param, whole_bytes(param, param_saved_dtype(param)), host, part);
    write_saved(rt, param, part);
    free(part);
}

/* ---- schedule -------------------------------------------------------------------------------- */

double rt_learning_rate(const RtTraining *t, int64_t step) {
    if (step < t->warmup_steps)
        return t->lr * (double)(step + 1) / (double)t->warmup_steps;
    int64_t rest = t->steps - t->warmup_steps;
    double progress = (double)(step - t->warmup_steps) / (double)(rest > 1 ? rest : 1);
    double factor = 1.0;
    if (t->schedule == RT_SCHEDULE_LINEAR)
        factor = 1.0 - progress;
    else if (t->schedule == RT_SCHEDULE_COSINE)
        factor = 0.5 * (1.0 + cos(M_PI * progress));
    else if (t->schedule == RT_SCHEDULE_STEP)
        factor = pow(t->gamma, (double)((step - t->warmup_steps) / t->step_size));
    return t->lr * (t->min_lr_factor + (1.0 - t->min_lr_factor) * factor);
}

static void write_table(Rt *rt, size_t offset, RtDtype dtype, const double *values, int64_t count) {
    void *table = rt_alloc((size_t)count * rt_dtype_bytes(dtype));
    for (int64_t i = 0; i < count; i++)
        rt_set(dtype, table, i, values[i]);
    rt_write_state(rt, offset, (size_t)count * rt_dtype_bytes(dtype), table);
    free(table);
}

/* `values` has room for the steps. */
static void bias_corrections(Rt *rt, double *values) {
    const RtTraining *t = &rt->program->training;
    const RtCounters *at = &rt->program->counters;
    RtDtype real = rt->program->real;
    for (int64_t i = 0; i < t->steps; i++)
        values[i] = 1.0 - pow(t->beta1, (double)(i + 1));
    write_table(rt, at->bias_correction1, real, values, t->steps);
    for (int64_t i = 0; i < t->steps; i++)
        values[i] = sqrt(1.0 - pow(t->beta2, (double)(i + 1)));
    write_table(rt, at->bias_correction2, real, values, t->steps);
}

void params_tables(Rt *rt) {
    const RtTraining *t = &rt->program->training;
    const RtCounters *at = &rt->program->counters;
    RtDtype real = rt->program->real;
    double *values = rt_alloc((size_t)t->steps * sizeof *values);
    for (int64_t i = 0; i < t->steps; i++)
        values[i] = rt_learning_rate(t, i);
    write_table(rt, at->lr, real, values, t->steps);
    if (at->bias_correction1 != RT_NOWHERE)
        bias_corrections(rt, values);
    free(values);
    rt_write_state(rt, at->seed, sizeof rt->options.seed, &rt->options.seed);
}

static void write_constants(Rt *rt) {
    for (int i = 0; i < rt->program->constant_count; i++) {
        const RtConstant *constant = &rt->program->constants[i];
        write_table(rt, constant->offset, constant->dtype, constant->values, constant->count);
    }
}

static void write_places(Rt *rt) {
    for (int i = 0; i < rt->program->place_count; i++) {
        const RtPlace *at = &rt->program->places[i];
        int32_t place = mesh_place(rt->program, at->group, rt->rank);
        rt_write_state(rt, at->offset, sizeof place, &place);
    }
}

/* cuMemsetD8 does not wait, and the compute stream does not wait for it. */
static void clear_state(Rt *rt) {
    CU(MemsetD8, rt->arenas[RT_STATE], 0, rt->program->arena_bytes[RT_STATE]);
    driver_check(cu.CtxSynchronize(), "cuCtxSynchronize");
}

static void reset_counters(Rt *rt) {
    const RtCounters *at = &rt->program->counters;
    const int32_t zero = 0, none = -1;
    rt_write_state(rt, at->step, sizeof zero, &zero);
    rt_write_state(rt, at->applied, sizeof zero, &zero);
    rt_write_state(rt, at->bad_step, sizeof none, &none);
    const RtLossScale *scale = rt->program->loss_scale;
    if (!scale)
        return;
    write_table(rt, scale->scale, rt->program->real, &scale->init_scale, 1);
    rt_write_state(rt, scale->growth_tracker, sizeof zero, &zero);
    rt_write_state(rt, scale->skipped_steps, sizeof zero, &zero);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* The files that values come from; NULL where there are none. */
struct RtSources {
    const char *model_dir, *adapter_dir;
    StFile *model, *adapter;
};

static struct RtSources open_sources(const Rt *rt) {
    const RtCheckpoint *settings = &rt->program->checkpoint;
    const RtOptions *options = &rt->options;
    struct RtSources s = {.model_dir = options->init_dir ? options->init_dir : settings->init_dir,
                          .adapter_dir = options->adapter_dir};
    if (s.model_dir)
        s.model = weights_open_model(s.model_dir, settings->config_json);
    if (s.adapter_dir)
        s.adapter = weights_open_adapter(s.adapter_dir, settings->adapter_json);
    return s;
}

/* Of one that an adapter's files have too, as the model's have it. */
static RtParam of_model(const RtParam *param) {
    RtParam base = *param;
    base.name = param->base_name;
    base.base_name = NULL;
    base.adapter = false;
    return base;
}

/* Of what has no first value of its own NaN means that nobody gave one. */
static void require_finite(const RtParam *param, const char *folder, const void *host) {
    int64_t count = param_elements(param);
    for (int64_t i = 0; i < count && param->init == RT_INIT_LOAD; i++)
        if (!isfinite(rt_get(param_saved_dtype(param), host, i)))
            rt_fail("%s: %s holds a number that is not finite", folder, param->name);
}

static void require_rows(const RtParam *param, const char *folder, const void *host) {
    int64_t rows = param->shape[0], cols = param_elements(param) / rows;
    for (int64_t row = 0; row < rows; row++) {
        bool zero = true;
        for (int64_t i = row * cols; zero && i < (row + 1) * cols; i++)
            zero = rt_get(param_saved_dtype(param), host, i) == 0;
        if (zero)
            rt_fail("%s: row %lld of %s is all zeros, and %s", folder, (long long)row, param->name,
                    param->no_zero_row);
    }
}

void *param_first_values(const Rt *rt, const RtParam *param) {
    const struct RtSources *sources = rt->sources;
    if (param->base_name && (!sources->adapter || rt->options.no_adapter)) {
        RtParam base = of_model(param);
        return param_first_values(rt, &base);
    }
    const StFile *file = param->adapter ? sources->adapter : sources->model;
    void *host = rt_alloc(param_saved_bytes(param)); /* zeros, which is what --no-adapter wants */
    bool without = param->adapter && rt->options.no_adapter;
    const char *folder = param->adapter ? sources->adapter_dir : sources->model_dir;
    if (file && !without) {
        weights_read(file, folder, param, host);
        require_finite(param, folder, host);
        if (param->no_zero_row && !sources->adapter)
            require_rows(param, folder, host);
    } else if (!without || param->init == RT_INIT_LOAD) {
        initial_values(param, rt->options.seed, host);
    }
    return host;
}

static void fill(Rt *rt, const RtParam *param) {
    void *host = param_first_values(rt, param);
    param_write(rt, param, host);
    free(host);
}

/* Then the model's files are there: the program was generated for them. */
static bool is_packed_in_file(const RtParam *param) {
    return param->packed && param->packed->in_file;
}

void *param_first_row(const Rt *rt, const RtParam *param, size_t *bytes) {
    const struct RtSources *s = rt->sources;
    if (is_packed_in_file(param))
        return packed_first_row(s->model, s->model_dir, param, bytes);
    size_t size = rt_dtype_bytes(param_saved_dtype(param));
    *bytes = (size_t)param->shape[param->rank - 1] * size;
    RtParam first = *param;
    for (int i = 0; i < param->rank - 1; i++)
        first.shape[i] = 1;
    void *row = rt_alloc(*bytes);
    if (s->model)
        weights_read_first_row(s->model, s->model_dir, param, row);
    else
        initial_values(&first, rt->options.seed, row);
    return row;
}

/* Of what STATE never has as it came, which is what a checkpoint asks for. */
static void note_first_row(Rt *rt, const RtParam *param) {
    size_t bytes;
    if (!param->fetched)
        return;
    void *row = param_first_row(rt, param, &bytes);
    rt->fetched_crc32[param - rt->program->params] =
        crc32_add(crc32_add(0, param->name, strlen(param->name)), row, bytes);
    free(row);
}

void params_open(Rt *rt) {
    rt->sources = rt_alloc(sizeof *rt->sources);
    *rt->sources = open_sources(rt);
}

void params_init(Rt *rt) {
    params_open(rt);
    clear_state(rt);
    rt->fetched_crc32 = rt_alloc((size_t)(rt->program->param_count + 1) * sizeof(uint32_t));
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        note_first_row(rt, param);
        if (is_packed_in_file(param))
            packed_fill(rt, rt->sources->model, rt->sources->model_dir, param);
        else if (!param->fetched)
            fill(rt, param);
    }
    write_constants(rt);
    write_places(rt);
    reset_counters(rt);
    params_tables(rt);
}

void params_done(Rt *rt) {
    st_close(rt->sources->model);
    st_close(rt->sources->adapter);
    free(rt->sources);
    rt->sources = NULL;
}
