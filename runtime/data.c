/* The loader: which rows make which batch. */
#include "runtime/data.h"

#include <stdlib.h>

#include "runtime/data_rows.h"
#include "runtime/rt.h"

/* One side of the data: the files it came from, and its rows. */
typedef struct {
    FileList files;
    Stream stream;
    Samples samples;
} Source;

struct Loader {
    const RtData *data;
    int64_t batch, seq_len, micro_steps;
    uint64_t seed;
    Source train_source, eval_source; /* eval_source is empty where train's end is held out */
    Rows train, eval;
    LoaderFacts facts;
    Prefetch *prefetch; /* started by the first loader_fill() */
};

/* ---- opening --------------------------------------------------------------------------------- */

static const char *file_suffix(RtDataFormat format) {
    return format == RT_DATA_JSONL ? ".jsonl" : format == RT_DATA_TOKENS ? ".bin" : "";
}

static bool samples_open(Source *source, const RtData *data, int64_t seq_len, DataError *error) {
    source->samples.seq_len = seq_len;
    source->samples.vocab_size = data->vocab_size;
    bool ok = true;
    for (int i = 0; ok && i < source->files.count; i++) {
        uint8_t *bytes;
        size_t size;
        if (!file_read(source->files.paths[i], &bytes, &size, error))
            return false;
        ok = samples_read(&source->samples, source->files.paths[i], bytes, size, error);
        free(bytes);
    }
    if (ok && !source->samples.count)
        ok = data_fail(error, "%s: is empty; a run needs samples", source->files.paths[0]);
    return ok;
}

static bool source_open(Source *source, const RtData *data, const char *const *paths, int count,
                        int64_t seq_len, DataError *error) {
    if (!files_expand(paths, count, file_suffix(data->format), &source->files, error))
        return false;
    if (data->format == RT_DATA_JSONL)
        return samples_open(source, data, seq_len, error);
    return data->format == RT_DATA_TEXT
               ? stream_open_text(&source->stream, &source->files, data->vocab_size, error)
               : stream_open_shards(&source->stream, &source->files, data->vocab_size, error);
}

static void source_close(Source *source) {
    stream_close(&source->stream);
    samples_free(&source->samples);
    files_free(&source->files);
}

/* Rows of the share [from, to) of a source, in tokens or samples. */
static bool split_rows(const Loader *loader, const Source *source, int64_t from, int64_t to,
                       Rows *rows, DataError *error) {
    const RtData *data = loader->data;
    int64_t row_limit = data->max_target_tokens / loader->batch;
    if (data->format == RT_DATA_JSONL)
        return rows_of_samples(rows, &source->samples, from, to, loader->seq_len, data->packing,
                               row_limit, error);
    rows_of_stream(rows, &source->stream, from, to, loader->seq_len);
    return true;
}

static int64_t source_size(const Loader *loader, const Source *source) {
    return loader->data->format == RT_DATA_JSONL ? source->samples.count : source->stream.tokens;
}

static bool require_rows(const Loader *loader, const Rows *rows, const char *path, int64_t size,
                         DataError *error) {
    if (rows->count)
        return true;
    return data_fail(error,
                     "%s: %lld %s are left for this split, too few for one row of "
                     "training.seq_len = %lld",
                     path, (long long)size,
                     loader->data->format == RT_DATA_JSONL ? "samples" : "tokens",
                     (long long)loader->seq_len);
}

static bool files_open(Loader *loader, DataError *error) {
    const RtData *data = loader->data;
    Source *train = &loader->train_source, *eval = &loader->eval_source;
    if (!source_open(train, data, data->train, data->train_count, loader->seq_len, error))
        return false;
    int64_t size = source_size(loader, train), kept = size;
    if (data->validation_count) {
        if (!source_open(eval, data, data->validation, data->validation_count, loader->seq_len,
                         error))
            return false;
        int64_t eval_size = source_size(loader, eval);
        if (!split_rows(loader, eval, 0, eval_size, &loader->eval, error) ||
            !require_rows(loader, &loader->eval, eval->files.paths[0], eval_size, error))
            return false;
    } else {
        kept = size - (int64_t)((double)size * data->eval_fraction);
        if (!split_rows(loader, train, kept, size, &loader->eval, error))
            return false;
    }
    return split_rows(loader, train, 0, kept, &loader->train, error) &&
           require_rows(loader, &loader->train, train->files.paths[0], kept, error);
}

/* A row's share of the limit must hold what the format puts into every row. */
static bool check_target_limit(const Loader *loader, DataError *error) {
    int64_t limit = loader->data->max_target_tokens;
    int64_t least = loader->data->format == RT_DATA_JSONL ? 1 : loader->seq_len;
    if (!limit || limit / loader->batch >= least)
        return true;
    return data_fail(error,
                     "data.max_target_tokens = %lld leaves %lld target tokens for each of the "
                     "%lld rows of a batch, but this data.format needs %lld; raise it",
                     (long long)limit, (long long)(limit / loader->batch), (long long)loader->batch,
                     (long long)least);
}

static bool check_some_target(const Loader *loader, DataError *error) {
    for (int64_t row = 0; row < loader->train.count; row++)
        if (row_targets(&loader->train, row))
            return true;
    return data_fail(error,
                     "%s: no sample has a target token: all labels are -100, or samples have "
                     "a single token",
                     loader->train_source.files.paths[0]);
}

static uint64_t rows_fingerprint(const Rows *rows, bool shuffle) {
    enum { PROBES = 64 };
    uint64_t hash = mix64((uint64_t)rows->count, (uint64_t)rows->seq_len + shuffle);
    int32_t *row = rt_alloc(3 * sizeof(int32_t) * (size_t)rows->seq_len);
    for (int64_t i = 0; rows->count && i < PROBES; i++) {
        row_write(rows, (rows->count - 1) * i / (PROBES - 1), row, row + rows->seq_len,
                  row + 2 * rows->seq_len);
        for (int64_t k = 0; k < 3 * rows->seq_len; k++)
            hash = mix64(hash, (uint64_t)(int64_t)row[k]);
    }
    free(row);
    return hash;
}

static int64_t row_samples(const Rows *rows) {
    return rows->samples ? rows->first_sample[rows->count] - rows->first_sample[0] : rows->count;
}

static bool open_source(Loader *loader, DataError *error) {
    const RtData *data = loader->data;
    if (!check_target_limit(loader, error))
        return false;
    if (data->format == RT_DATA_SYNTHETIC) {
        rows_of_random(&loader->train, 0, data->vocab_size, mix64(loader->seed, 1),
                       loader->seq_len);
        rows_of_random(&loader->eval, data->eval_batches * loader->batch, data->vocab_size,
                       mix64(loader->seed, 2), loader->seq_len);
        return true;
    }
    return files_open(loader, error) && check_some_target(loader, error);
}

Loader *loader_open(const RtData *data, int64_t batch, int64_t seq_len, int64_t micro_steps,
                    int64_t seed, char *error, size_t error_size) {
    Loader *loader = rt_alloc(sizeof *loader);
    *loader = (Loader){.data = data,
                       .batch = batch,
                       .seq_len = seq_len,
                       .micro_steps = micro_steps,
                       .seed = (uint64_t)seed};
    if (!open_source(loader, &(DataError){error, error_size})) {
        loader_close(loader);
        return NULL;
    }
    loader->facts = (LoaderFacts){
        .train_rows = loader->train.count,
        .eval_rows = loader->eval.count,
        .train_samples = row_samples(&loader->train),
        .eval_samples = row_samples(&loader->eval),
        .truncated = loader->train_source.samples.truncated + loader->eval_source.samples.truncated,
        .fingerprint = rows_fingerprint(&loader->train, data->shuffle),
    };
    return loader;
}

void loader_close(Loader *loader) {
    if (!loader)
        return;
    if (loader->prefetch)
        prefetch_close(loader->prefetch);
    rows_free(&loader->train);
    rows_free(&loader->eval);
    source_close(&loader->train_source);
    source_close(&loader->eval_source);
    free(loader);
}

const LoaderFacts *loader_facts(const Loader *loader) { return &loader->facts; }

/* ---- batches --------------------------------------------------------------------------------- */

/* The row of the files that the training stream's row `index` is. */
static int64_t train_row(const Loader *loader, int64_t index) {
    int64_t count = loader->train.count;
    if (count == 0)
        return index;
    int64_t epoch = index / count, place = index % count;
    if (!loader->data->shuffle)
        return place;
    return permute(place, count, mix64(loader->seed, (uint64_t)epoch));
}

/* Target tokens of the whole step that a micro-step belongs to. */
static int64_t step_targets(const Loader *loader, int64_t micro_index) {
    int64_t rows = loader->batch * loader->micro_steps;
    int64_t first = micro_index / loader->micro_steps * rows, targets = 0;
    for (int64_t i = 0; i < rows; i++)
        targets += row_targets(&loader->train, train_row(loader, first + i));
    return targets;
}

static void fill_train(const Loader *loader, int64_t micro_index, RtHostBatch *out) {
    int64_t n = loader->seq_len, of_step = step_targets(loader, micro_index);
    out->targets = 0;
    for (int64_t b = 0; b < loader->batch; b++) {
        int64_t row = train_row(loader, micro_index * loader->batch + b);
        out->targets += row_write(&loader->train, row, out->input_ids + b * n, out->labels + b * n,
                                  out->positions + b * n);
    }
    out->loss_weight = of_step ? 1.0 / (double)of_step : 0.0;
    out->first_row = (int32_t)(micro_index % loader->micro_steps * loader->batch * n);
}

void loader_fill(Loader *loader, int64_t micro_index, RtHostBatch *out) {
    int64_t depth = loader->data->prefetch_batches;
    if (depth <= 0) {
        fill_train(loader, micro_index, out);
        return;
    }
    if (!loader->prefetch)
        loader->prefetch =
            prefetch_open(fill_train, loader, depth, loader->batch * loader->seq_len);
    prefetch_take(loader->prefetch, micro_index, out);
}

int64_t loader_eval_batches(const Loader *loader) {
    int64_t there = (loader->eval.count + loader->batch - 1) / loader->batch;
    return there < loader->data->eval_batches ? there : loader->data->eval_batches;
}

void loader_fill_eval(Loader *loader, int64_t eval_batch, RtHostBatch *out) {
    int64_t n = loader->seq_len;
    out->targets = 0;
    for (int64_t b = 0; b < loader->batch; b++) {
        int64_t row = eval_batch * loader->batch + b, at = b * n;
        if (row < loader->eval.count)
            out->targets += row_write(&loader->eval, row, out->input_ids + at, out->labels + at,
                                      out->positions + at);
        else
            row_pad(n, out->input_ids + at, out->labels + at, out->positions + at);
    }
    out->loss_weight = 1.0;
    out->first_row = 0;
}
