/* Initialises STATE before the first step: weights, counters, and the tables that the device
 * indexes. */
#include "runtime/base/checksum.h"
#include "runtime/comm/mesh.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/params/packed.h"
#include "runtime/params/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one parameter --------------------------------------------------------------------------- */

/* The rows of a weight in STATE. */
static RtRows rows_of(const Rt *rt, const RtParam *param) {
    size_t size = rt_dtype_bytes(param->dtype);
    int64_t cols = param_cols(rt, param);
    return (RtRows){.rows = (size_t)(shard_elements(rt, param) / cols),
                    .row = (size_t)cols * size,
                    .stride = (size_t)param->row_stride * size};
}

/* A frozen parameter has neither master nor moments, so its pieces are those of the weight. */
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

/* The block must be whole rows, unless the weight is in pieces. */
static void write_weight(Rt *rt, const RtParam *param, ParamBlock block) {
    RtRows rows = rows_of(rt, param);
    int64_t cols = param_cols(rt, param);
    size_t offset = param->weight + (size_t)(block.first / cols) * rows.stride;
    rows.rows = (size_t)(block.count / cols);
    if (weight_in_pieces(param))
        pieces_write(rt, param, param->weight, block);
    else if (rows.row == rows.stride)
        rt_write_state(rt, offset, rows.rows * rows.row, block.host);
    else
        rt_write_rows(rt, offset, rows, block.host);
}

/* A master, gradient or moment: all that the rank holds of the tensor, or its piece of that. */
typedef struct {
    size_t offset; /* in STATE */
    RtPtr at;      /* if not 0: its address, used instead of `offset` */
    bool is_piece;
} Copy;

static bool has_pieces(const RtParam *param, size_t offset) {
    return param->pieces && (offset != param->gradient || param->gradient_in_pieces);
}

static Copy copy_at(const Rt *rt, const RtParam *param, size_t offset) {
    bool is_piece = has_pieces(param, offset);
    return (Copy){offset, is_piece ? rt->arenas[RT_STATE] + offset : 0, is_piece};
}

static void read_copy(Rt *rt, const RtParam *param, Copy copy, size_t bytes, void *host) {
    if (copy.is_piece)
        pieces_read(rt, param, copy.at, host);
    else if (copy.at)
        rt_read(rt, copy.at, bytes, host);
    else
        rt_read_state(rt, copy.offset, bytes, host);
}

static void write_part(Rt *rt, const RtParam *param, size_t offset, ParamBlock block) {
    size_t size = rt_dtype_bytes(param->master_dtype);
    if (has_pieces(param, offset))
        pieces_write(rt, param, offset, block);
    else
        rt_write_state(rt, offset + (size_t)block.first * size, (size_t)block.count * size,
                       block.host);
}

/* Reads what this rank holds of a copy, in file order. */
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

/* Converts in place to the weight's type, which is never larger. */
static void narrow(const RtParam *param, ParamBlock block) {
    RtDtype saved = param_saved_dtype(param);
    for (int64_t i = 0; saved != param->dtype && i < block.count; i++)
        rt_set(param->dtype, block.host, i, rt_get(saved, block.host, i));
}

static void write_block(Rt *rt, const RtParam *param, ParamBlock block, RtPtr to) {
    (void)to; /* STATE */
    if (param->master != RT_NOWHERE)
        write_part(rt, param, param->master, block);
    if (param->weight == RT_NOWHERE)
        return;
    narrow(param, block);
    write_weight(rt, param, block);
}

/* ---- the whole tensor ------------------------------------------------------------------------- */

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
    read_whole(rt, param, (Copy){.at = piece, .is_piece = true}, host);
}

void param_read_at(Rt *rt, const RtParam *param, RtPtr at, void *host) {
    read_whole(rt, param, (Copy){.at = at}, host);
}

/* Returns a copy of this rank's part of a whole tensor, in memory order; the caller frees
 * `host`. */
static ParamBlock block_of(Rt *rt, const RtParam *param, RtDtype dtype, const void *whole) {
    ParamBlock block = {0, shard_elements(rt, param), part_new(rt, param, dtype)};
    if (param->shard)
        shard_take(rt, param, whole_bytes(param, dtype), whole, block.host);
    else
        memcpy(block.host, whole, whole_bytes(param, dtype));
    if (!param->split[0])
        return block;
    void *file = block.host;
    block.host = part_new(rt, param, dtype);
    param_to_memory_order(param, shard_ranks(rt, param), rt_dtype_bytes(dtype), file, block.host);
    free(file);
    return block;
}

void param_write_part(Rt *rt, const RtParam *param, size_t offset, const void *host) {
    ParamBlock block = block_of(rt, param, param->master_dtype, host);
    write_part(rt, param, offset, block);
    free(block.host);
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
    ParamBlock block = block_of(rt, param, param_saved_dtype(param), host);
    write_block(rt, param, block, 0);
    free(block.host);
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

/* `values` is scratch space for one number per step. */
static void bias_corrections(Rt *rt, double *values) {
    const RtTraining *t = &rt->program->training;
    const RtCounters *at = &rt->program->counters;
    RtDtype real = rt->program->real;
    for (int64_t i = 0; i < t->steps; i++)
        values[i] = 1.0 - pow(t->beta1, (double)(i + 1));
    write_table(rt, at->bias_correction1, real, values, t->steps);
    for (int64_t i = 0; i < t->steps; i++)
        values[i] = sqrt(1.0 - pow(t->beta2, (double)(i + 1)));
    write_table(rt, at->bias_correction2_sqrt, real, values, t->steps);
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

static void write_group_ranks(Rt *rt) {
    for (int i = 0; i < rt->program->group_rank_count; i++) {
        const RtGroupRank *at = &rt->program->group_ranks[i];
        int32_t number = mesh_group_rank(rt->program, at->group, rt->rank);
        rt_write_state(rt, at->offset, sizeof number, &number);
    }
}

/* cuMemsetD8 is asynchronous, and the compute stream does not wait for it. */
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

/* ---- all parameters -------------------------------------------------------------------------- */

/* A rank fills only its piece of a weight in pieces, or of a master in pieces without a weight. */
static void fill(Rt *rt, const RtParam *param) {
    int64_t first = 0, end = shard_elements(rt, param);
    if (param->pieces && (weight_in_pieces(param) || param->weight == RT_NOWHERE))
        pieces_range(rt, param, &first, &end);
    param_first_values(rt, param, first, end, write_block, 0);
}

/* Notes a checksum of fetched parameters, which STATE never holds in their original form:
 * checkpoints record it. */
static void note_first_row(Rt *rt, const RtParam *param) {
    size_t bytes;
    if (!param->fetched)
        return;
    void *row = param_first_row(rt, param, &bytes);
    rt->fetched_crc32[param - rt->program->params] =
        crc32_add(crc32_add(0, param->name, strlen(param->name)), row, bytes);
    free(row);
}

void params_init(Rt *rt) {
    params_open(rt);
    params_refuse_more(rt);
    clear_state(rt);
    rt->fetched_crc32 = rt_alloc((size_t)(rt->program->param_count + 1) * sizeof(uint32_t));
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        note_first_row(rt, param);
        if (param->packed && param->packed->in_file)
            packed_fill(rt, rt->sources->model, rt->sources->model_dir, param);
        else if (!param->fetched)
            fill(rt, param);
    }
    write_constants(rt);
    write_group_ranks(rt);
    reset_counters(rt);
    params_tables(rt);
}
