/* Initial values of parameters, from files or by rule. A rank reads only what it holds, in blocks
 * of bounded size through one staging buffer, so that the host never holds a whole tensor, unless
 * its memory order differs from the file's. */
#include "runtime/device/driver.h"
#include "runtime/params/packed.h"
#include "runtime/params/sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 << 20 };

void params_refuse_more(Rt *rt) {
    const struct RtSources *s = rt->sources;
    if (s->model)
        weights_refuse_biases(rt, s->model, s->model_dir);
    if (s->adapter)
        weights_require_all_read(rt, s->adapter, s->adapter_dir);
}

static struct RtSources open_sources(const Rt *rt) {
    const RtCheckpoint *settings = &rt->program->checkpoint;
    const RtOptions *options = &rt->options;
    struct RtSources s = {.model_dir = options->init_dir ? options->init_dir : settings->init_dir,
                          .adapter_dir = options->adapter_dir};
    if (s.model_dir)
        s.model = weights_open_model(s.model_dir, options->init_dir ? NULL : settings->base_spec,
                                     settings->config_json);
    if (s.adapter_dir)
        s.adapter = weights_open_adapter(s.adapter_dir, settings->adapter_json);
    return s;
}

/* Size of the page-locked staging buffer: at least one row. */
static size_t staging_bytes(const Rt *rt) {
    size_t bytes = BLOCK_BYTES;
    for (int i = 0; i < rt->program->param_count; i++) {
        const RtParam *param = &rt->program->params[i];
        size_t row = (size_t)param_cols(rt, param) * rt_dtype_bytes(param_saved_dtype(param));
        bytes = row > bytes ? row : bytes;
    }
    return bytes;
}

void params_open(Rt *rt) {
    rt->sources = rt_alloc(sizeof *rt->sources);
    *rt->sources = open_sources(rt);
    CU(MemHostAlloc, &rt->sources->staging, staging_bytes(rt), 0);
}

void params_done(Rt *rt) {
    st_close(rt->sources->model);
    st_close(rt->sources->adapter);
    CU(MemFreeHost, rt->sources->staging);
    free(rt->sources->raw);
    free(rt->sources);
    rt->sources = NULL;
}

/* ---- sources of a parameter's values ---------------------------------------------------------- */

typedef struct {
    const Rt *rt;
    RtParam param;          /* under the name that the file uses */
    const char *folder;     /* for errors */
    const StFile *file;     /* NULL: no file */
    const StTensor *tensor; /* in the file */
    bool zeros;             /* part of an adapter that --no-adapter leaves out */
    bool rows_count;        /* no row may be all zeros */
} Source;

/* A parameter of an adapter that replaces one of the model, as the model's files have it. */
static RtParam of_model(const RtParam *param) {
    RtParam base = *param;
    base.name = param->base_name;
    base.base_name = NULL;
    base.adapter = false;
    return base;
}

static Source source_of(const Rt *rt, const RtParam *param) {
    const struct RtSources *files = rt->sources;
    bool from_base = param->base_name && (!files->adapter || rt->options.no_adapter);
    Source s = {.rt = rt, .param = from_base ? of_model(param) : *param};
    bool without = s.param.adapter && rt->options.no_adapter;
    s.zeros = without && param->init != RT_INIT_LOAD;
    s.file = without ? NULL : s.param.adapter ? files->adapter : files->model;
    s.folder = s.param.adapter ? files->adapter_dir : files->model_dir;
    s.rows_count = s.file && param->no_zero_row && !files->adapter;
    if (s.file)
        s.tensor = weights_find(s.file, s.folder, &s.param);
    return s;
}

/* A parameter without an initialisation rule begins as NaN, so that in files NaN is refused. */
static void require_finite(const Source *s, int64_t count, const void *host) {
    for (int64_t i = 0; i < count && s->param.init == RT_INIT_LOAD; i++)
        if (!isfinite(rt_get(param_saved_dtype(&s->param), host, i)))
            rt_fail("%s: %s holds a number that is not finite", s->folder, s->param.name);
}

/* Refuses zero rows among those that contain elements [first, end) of the file's tensor. */
static void require_rows(const Source *s, int64_t first, int64_t end) {
    int64_t cols = param_elements(&s->param) / s->param.shape[0];
    for (int64_t row = first / cols; row * cols < end; row++) {
        bool zero = true;
        for (int64_t i = row * cols; zero && i < (row + 1) * cols; i++) {
            double value = st_value(s->tensor, i);
            rt_set(param_saved_dtype(&s->param), &value, 0, value);
            zero = rt_get(param_saved_dtype(&s->param), &value, 0) == 0;
        }
        if (zero)
            rt_fail("%s: row %lld of %s is all zeros, and %s", s->folder, (long long)row,
                    s->param.name, s->param.no_zero_row);
    }
}

/* ---- a block ---------------------------------------------------------------------------------- */

static void read_file(const Source *s, int64_t first, int64_t count, void *elements) {
    if (!st_read(s->file, s->tensor, first, count, elements))
        rt_fail("%s: tensor %s can no longer be read; were its files changed?", s->folder,
                s->param.name);
}

static void *raw_of(struct RtSources *files, size_t bytes) {
    if (bytes > files->raw_bytes) {
        free(files->raw);
        files->raw = rt_alloc(files->raw_bytes = bytes);
    }
    return files->raw;
}

/* Sets *place to the index in the whole tensor of element `at` of the part, and returns how many of
 * the `count` elements from there on are contiguous in both. */
static int64_t run_at(const Source *s, int64_t at, int64_t count, int64_t *place) {
    int64_t together;
    *place = shard_place(s->rt, &s->param, at, &together);
    return together < count ? together : count;
}

/* Reads the file in one piece, since many short reads, as for columns, would be slower. */
static void block_of_file(const Source *s, int64_t first, int64_t count, void *host) {
    size_t size = rt_dtype_bytes(param_saved_dtype(&s->param)),
           file_size = st_dtype_bytes(s->tensor->dtype);
    int64_t from, last, place;
    run_at(s, first, count, &from);
    run_at(s, first + count - 1, 1, &last);
    if (last + 1 - from == count && weights_are_as_saved(s->tensor, &s->param)) {
        read_file(s, from, count, host);
        return;
    }
    char *raw = raw_of(s->rt->sources, (size_t)(last + 1 - from) * file_size);
    read_file(s, from, last + 1 - from, raw);
    for (int64_t at = 0, run; at < count; at += run) {
        run = run_at(s, first + at, count - at, &place);
        weights_convert(s->tensor, raw + (size_t)(place - from) * file_size, run, &s->param,
                        (char *)host + (size_t)at * size);
    }
}

static void block_of_rule(const Source *s, int64_t first, int64_t count, void *host) {
    size_t size = rt_dtype_bytes(param_saved_dtype(&s->param));
    int64_t place;
    for (int64_t at = 0, run; at < count; at += run) {
        run = run_at(s, first + at, count - at, &place);
        initial_values(&s->param, s->rt->options.seed, place, run,
                       (char *)host + (size_t)at * size);
    }
}

/* Reads elements [first, first + count) of this rank's part, in file order. */
static void block_read(const Source *s, int64_t first, int64_t count, void *host) {
    int64_t from, last;
    if (s->zeros) {
        memset(host, 0, (size_t)count * rt_dtype_bytes(param_saved_dtype(&s->param)));
        return;
    }
    if (!s->file) {
        block_of_rule(s, first, count, host);
        return;
    }
    block_of_file(s, first, count, host);
    require_finite(s, count, host);
    run_at(s, first, count, &from);
    run_at(s, first + count - 1, 1, &last);
    if (s->rows_count)
        require_rows(s, from, last + 1);
}

/* ---- a whole parameter ------------------------------------------------------------------------ */

/* Elements of a block: whole rows, and fewer the more ranks divide the parameter, because a part of
 * columns reads whole rows of the file. */
static int64_t block_elements(const Rt *rt, const RtParam *param) {
    int64_t cols = param_cols(rt, param);
    int64_t most = BLOCK_BYTES / (int64_t)rt_dtype_bytes(param_saved_dtype(param));
    most /= shard_ranks(rt, param);
    return most > cols ? most / cols * cols : cols;
}

static void permuted(Rt *rt, const Source *s, const RtParam *param, BlockWriter *write, RtPtr to) {
    size_t size = rt_dtype_bytes(param_saved_dtype(param));
    int64_t all = shard_elements(rt, param), most = BLOCK_BYTES / (int64_t)size;
    char *file = rt_alloc((size_t)all * size), *memory = rt_alloc((size_t)all * size);
    for (int64_t at = 0; at < all; at += most)
        block_read(s, at, at + most < all ? most : all - at, file + (size_t)at * size);
    param_to_memory_order(param, shard_ranks(rt, param), size, file, memory);
    write(rt, param, (ParamBlock){0, all, memory}, to);
    free(memory);
    free(file);
}

void param_first_values(Rt *rt, const RtParam *param, int64_t first, int64_t end,
                        BlockWriter *write, RtPtr to) {
    Source s = source_of(rt, param);
    int64_t cols = param_cols(rt, param), most = block_elements(rt, param);
    if (param->split[0] && first < end) {
        permuted(rt, &s, param, write, to);
        return;
    }
    for (int64_t at = first / cols * cols; at < end; at += most) {
        int64_t rest = (end - at + cols - 1) / cols * cols, count = most < rest ? most : rest;
        block_read(&s, at, count, rt->sources->staging);
        write(rt, param, (ParamBlock){at, count, rt->sources->staging}, to);
    }
}

/* If so, the model's files are open: the program was generated for them. */
static bool is_packed_in_file(const RtParam *param) {
    return param->packed && param->packed->in_file;
}

void *param_first_row(const Rt *rt, const RtParam *param, size_t *bytes) {
    const struct RtSources *s = rt->sources;
    if (is_packed_in_file(param))
        return packed_first_row(s->model, s->model_dir, param, bytes);
    size_t size = rt_dtype_bytes(param_saved_dtype(param));
    *bytes = (size_t)param->shape[param->rank - 1] * size;
    void *row = rt_alloc(*bytes);
    if (s->model)
        weights_read_first_row(s->model, s->model_dir, param, row);
    else
        initial_values(param, rt->options.seed, 0, param->shape[param->rank - 1], row);
    return row;
}
