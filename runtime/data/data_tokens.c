/* Tokens as a kind of data: files, or a seed, become rows of seq_len places. */
#include "runtime/data/data_rows.h"

#include <stdlib.h>

#include "runtime/base/rt.h"

/* The files of one split, and what was read from them. */
typedef struct {
    FileList files;
    bool of_samples; /* `samples` is used, else `stream` */
    Stream stream;
    Samples samples;
    FileMap *maps; /* [files.count] of shards with samples; NULL: none */
} Source;

typedef struct {
    const RtData *data;
    int64_t batch, seq_len;
    int64_t sequences;             /* per training example: 2 for pairs, else 1 */
    int64_t rows_of_entry;         /* rows per batch entry */
    Source sources[LOADER_SPLITS]; /* LOADER_EVAL's is empty if the end of train is held out */
    Rows rows[LOADER_SPLITS];
    const RtInput *input_ids, *labels, *positions, *sequence, *sample_positions,
        *prefix; /* NULL: the program does not read it */
} TokenSet;

/* ---- opening --------------------------------------------------------------------------------- */

/* JSON lines are read into memory; samples of shards stay in their files. */
static bool lines_open(Source *source, const char *path, DataError *error) {
    uint8_t *bytes;
    size_t size;
    if (!file_read(path, &bytes, &size, error))
        return false;
    bool ok = lines_read(&source->samples, path, bytes, size, error);
    free(bytes);
    return ok;
}

static bool shard_open(Source *source, const char *path, FileMap *map, DataError *error) {
    Samples *samples = &source->samples;
    if (!file_map(path, map, error) || !shard_read(samples, path, map->bytes, map->size, error))
        return false;
    samples->files[samples->file_count - 1]->map = map;
    return true;
}

static bool samples_open(Source *source, const RtData *data, int64_t seq_len, DataError *error) {
    source->of_samples = true;
    source->samples.seq_len = seq_len;
    source->samples.vocab_size = data->vocab_size;
    source->samples.pairs = data->pairs;
    bool ok = true;
    source->maps = rt_alloc(sizeof *source->maps * (size_t)source->files.count);
    for (int i = 0; ok && i < source->files.count; i++) {
        const char *path = source->files.paths[i];
        ok = data->format == RT_DATA_JSONL ? lines_open(source, path, error)
                                           : shard_open(source, path, &source->maps[i], error);
    }
    if (ok && !source->samples.count && source->samples.dropped)
        ok = data_fail(
            error,
            "%s: all of its %lld pairs are too long for training.seq_len = %lld; increase it",
            source->files.paths[0], (long long)source->samples.dropped, (long long)seq_len);
    else if (ok && !source->samples.count)
        ok = data_fail(error, "%s: is empty; a run needs samples", source->files.paths[0]);
    return ok;
}

static bool source_open(Source *source, const RtData *data, const char *const *paths, int count,
                        int64_t seq_len, DataError *error) {
    if (!files_expand(paths, count, data_suffix(data->format), &source->files, error))
        return false;
    if (data->format == RT_DATA_JSONL || data->pairs ||
        (data->format == RT_DATA_TOKENS && shard_has_samples(source->files.paths[0])))
        return samples_open(source, data, seq_len, error);
    return data->format == RT_DATA_TEXT
               ? stream_open_text(&source->stream, &source->files, data->vocab_size, error)
               : stream_open_shards(&source->stream, &source->files, data->vocab_size, error);
}

static void source_close(Source *source) {
    stream_close(&source->stream);
    samples_free(&source->samples);
    for (int i = 0; source->maps && i < source->files.count; i++)
        file_unmap(&source->maps[i]);
    free(source->maps);
    files_free(&source->files);
}

/* Checks that each row's share of the limit is at least the `least` targets that every row
 * needs. */
static bool check_target_limit(const TokenSet *set, int64_t least, DataError *error) {
    int64_t limit = set->data->max_target_tokens, rows = set->batch * set->rows_of_entry;
    if (!limit || limit / rows >= least)
        return true;
    return data_fail(error,
                     "data.max_target_tokens = %lld leaves %lld target tokens for each of the "
                     "%lld rows of a batch, but these data need %lld; raise it",
                     (long long)limit, (long long)(limit / rows), (long long)rows,
                     (long long)least);
}

/* Makes the rows of the part [from, to) of a source, in tokens or samples. */
static bool split_rows(const TokenSet *set, const Source *source, int64_t from, int64_t to,
                       Rows *rows, DataError *error) {
    const RtData *data = set->data;
    int64_t row_limit = data->max_target_tokens / (set->batch * set->rows_of_entry);
    if (!check_target_limit(set, source->of_samples ? 1 : set->seq_len, error))
        return false;
    if (source->of_samples)
        return rows_of_samples(rows, &source->samples, from, to, set->seq_len, data->packing,
                               row_limit, error);
    rows_of_stream(rows, &source->stream, from, to, set->seq_len);
    return true;
}

static int64_t source_size(const Source *source) {
    return source->of_samples ? source->samples.count : source->stream.tokens;
}

/* Only text and shards without samples can be too short: a source of samples has at least one. */
static bool require_rows(const TokenSet *set, LoaderSplit split, const Source *source, int64_t size,
                         DataError *error) {
    bool shares = split == LOADER_TRAIN && !set->data->validation_count;
    if (set->rows[split].count)
        return true;
    return data_fail(error,
                     "%s: %lld tokens are %s, but one row of training.seq_len = %lld needs %lld; "
                     "add text, or lower training.seq_len%s",
                     source->files.paths[0], (long long)size,
                     split == LOADER_TRAIN ? "for training" : "held out", (long long)set->seq_len,
                     (long long)set->seq_len + 1, shares ? " or data.eval_fraction" : "");
}

static bool files_open(TokenSet *set, DataError *error) {
    const RtData *data = set->data;
    Source *train = &set->sources[LOADER_TRAIN], *eval = &set->sources[LOADER_EVAL];
    if (!source_open(train, data, data->train, data->train_count, set->seq_len, error))
        return false;
    int64_t size = source_size(train), kept = size;
    if (data->validation_count) {
        if (!source_open(eval, data, data->validation, data->validation_count, set->seq_len, error))
            return false;
        int64_t eval_size = source_size(eval);
        if (!split_rows(set, eval, 0, eval_size, &set->rows[LOADER_EVAL], error) ||
            !require_rows(set, LOADER_EVAL, eval, eval_size, error))
            return false;
    } else {
        int64_t entries = size / set->sequences;
        kept = size - set->sequences * (int64_t)((double)entries * data->eval_fraction);
        if (!split_rows(set, train, kept, size, &set->rows[LOADER_EVAL], error))
            return false;
    }
    return split_rows(set, train, 0, kept, &set->rows[LOADER_TRAIN], error) &&
           require_rows(set, LOADER_TRAIN, train, kept, error);
}

/* Number of rows of a split that a run sees. */
static int64_t rows_seen(const TokenSet *set, LoaderSplit split) {
    int64_t count = set->rows[split].count;
    int64_t most = set->data->eval_batches * set->batch * set->rows_of_entry;
    return split == LOADER_EVAL && most < count ? most : count;
}

static bool check_some_target(const TokenSet *set, LoaderSplit split, DataError *error) {
    bool held_out = split == LOADER_EVAL, own = !held_out || set->data->validation_count;
    int64_t rows = rows_seen(set, split);
    for (int64_t row = 0; row < rows; row++)
        if (row_targets(&set->rows[split], row))
            return true;
    return !rows ||
           data_fail(error,
                     "%s: no %s has a target token: all labels are -100, or samples have a single "
                     "token; use others, or raise training.seq_len if it cuts the targets",
                     set->sources[own ? split : LOADER_TRAIN].files.paths[0],
                     held_out ? "held-out sample" : "sample");
}

static bool open_rows(TokenSet *set, uint64_t seed, DataError *error) {
    const RtData *data = set->data;
    if (data->format == RT_DATA_SYNTHETIC) {
        if (!check_target_limit(set, set->seq_len, error))
            return false;
        rows_of_random(&set->rows[LOADER_TRAIN], 0, data->vocab_size, mix64(seed, 1), set->seq_len);
        rows_of_random(&set->rows[LOADER_EVAL],
                       data->eval_batches * set->batch * set->rows_of_entry, data->vocab_size,
                       mix64(seed, 2), set->seq_len);
        return true;
    }
    return files_open(set, error) && check_some_target(set, LOADER_TRAIN, error) &&
           check_some_target(set, LOADER_EVAL, error);
}

static void tokens_close(void *context) {
    TokenSet *set = context;
    for (int split = 0; split < LOADER_SPLITS; split++) {
        rows_free(&set->rows[split]);
        source_close(&set->sources[split]);
    }
    free(set);
}

static void *tokens_open(const RtProgram *program, uint64_t seed, DataError *error) {
    TokenSet *set = rt_alloc(sizeof *set);
    const RtPairs *pairs = program->data.pairs;
    int64_t rows = pairs && !pairs->shared ? 2 : 1;
    *set = (TokenSet){.data = &program->data,
                      .batch = program->training.batch,
                      .seq_len = program->training.seq_len / rows,
                      .sequences = pairs ? 2 : 1,
                      .rows_of_entry = rows,
                      .input_ids = program_input(program, "input_ids"),
                      .labels = program_input(program, "labels"),
                      .positions = program_input(program, "positions"),
                      .sequence = program_input(program, "sequence"),
                      .sample_positions = program_input(program, "sample_positions"),
                      .prefix = program_input(program, "prefix")};
    if (open_rows(set, seed, error))
        return set;
    tokens_close(set);
    return NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t tokens_rows(const void *context, LoaderSplit split) {
    const TokenSet *set = context;
    return set->rows[split].count / set->rows_of_entry;
}

static int64_t tokens_targets(const void *context, LoaderSplit split, int64_t row) {
    const TokenSet *set = context;
    const Rows *rows = &set->rows[split];
    return set->data->pairs ? entry_pairs(rows, row) : row_targets(rows, row);
}

static int32_t *places(const TokenSet *set, const RtInput *input, int64_t sequence, void *slot) {
    return input ? (int32_t *)((char *)slot + input->offset) + sequence * set->seq_len : NULL;
}

/* Returns the number of the first sequence in row `row` of the batch. */
static int32_t first_number(const TokenSet *set, int64_t row) {
    int64_t packed = set->data->pairs->packed, rows = set->rows_of_entry;
    return (int32_t)(2 * (row / rows) * (packed ? packed : 1) + row % rows);
}

/* Row -1, here and below: padding. */
static void write_prefix(const TokenSet *set, const Rows *rows, int64_t row, int64_t entry,
                         void *slot) {
    int32_t *positions = places(set, set->sample_positions, entry, slot);
    int32_t *prefix = places(set, set->prefix, 2 * entry, slot);
    if (row < 0)
        prefix_pad(set->seq_len, positions, prefix);
    else
        row_prefix(rows, row, positions, prefix);
}

static void write_sequence(const TokenSet *set, const Rows *rows, int64_t row, int64_t sequence,
                           void *slot) {
    int32_t *ids = places(set, set->input_ids, sequence, slot);
    int32_t *labels = places(set, set->labels, sequence, slot);
    int32_t *positions = places(set, set->positions, sequence, slot);
    int32_t *numbers = places(set, set->sequence, sequence, slot);
    if (row < 0)
        row_pad(set->seq_len, ids, labels, positions);
    else
        row_write(rows, row, ids, labels, positions);
    for (int64_t i = 0; numbers && row < 0 && i < set->seq_len; i++)
        numbers[i] = -1;
    if (numbers && row >= 0)
        row_sequences(rows, row, first_number(set, sequence), numbers);
    if (set->prefix)
        write_prefix(set, rows, row, sequence, slot);
}

/* The mapping of a file that was shortened reads as zeros, or faults. The check before and after
 * the read makes sure that such a row is not trained on. */
static bool write_checked(const TokenSet *set, const Rows *rows, int64_t row, int64_t sequence,
                          void *slot, DataError *error) {
    if (row >= 0 && !row_is_as_opened(rows, row, error))
        return false;
    write_sequence(set, rows, row, sequence, slot);
    return row < 0 || row_is_as_opened(rows, row, error);
}

static bool tokens_write(const void *context, DataRow at, int64_t entry, void *slot,
                         DataError *error) {
    const TokenSet *set = context;
    bool ok = true;
    for (int64_t i = 0, n = set->rows_of_entry; ok && i < n; i++)
        ok = write_checked(set, &set->rows[at.split], at.row < 0 ? -1 : at.row * n + i,
                           entry * n + i, slot, error);
    return ok;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static uint64_t rows_fingerprint(uint64_t hash, const Rows *rows) {
    enum { PROBES = 64 };
    hash = mix64(hash, mix64((uint64_t)rows->count, (uint64_t)rows->seq_len));
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

static uint64_t tokens_fingerprint(const void *context) {
    const TokenSet *set = context;
    uint64_t hash = 0;
    for (int split = 0; split < LOADER_SPLITS; split++)
        hash = rows_fingerprint(hash, &set->rows[split]);
    return hash;
}

/* Rows without samples are windows of seq_len tokens, each with a target. */
static void measure_rows(const TokenSet *set, const Rows *rows, LoaderFacts *facts) {
    facts->mean_tokens = (double)rows->seq_len;
    facts->target_share = 1;
    if (!rows->samples || !rows->count)
        return;
    int64_t tokens = 0, targets = 0;
    for (int64_t row = 0; row < rows->count; row++) {
        tokens += row_length(rows, row);
        int64_t of_row = row_targets(rows, row);
        targets += of_row;
        facts->aimless_rows += of_row == 0;
    }
    double places = (double)(rows->count * rows->seq_len);
    facts->mean_tokens = (double)tokens / (double)(rows_samples(rows) / set->sequences);
    facts->padding_share = 1 - (double)tokens / places;
    facts->target_share = (double)targets / places;
}

static void tokens_facts(const void *context, LoaderFacts *facts) {
    const TokenSet *set = context;
    facts->train_samples = rows_samples(&set->rows[LOADER_TRAIN]) / set->sequences;
    facts->eval_samples = rows_samples(&set->rows[LOADER_EVAL]) / set->sequences;
    measure_rows(set, &set->rows[LOADER_TRAIN], facts);
    facts->bytes = set->data->format == RT_DATA_TEXT;
    for (int split = 0; split < LOADER_SPLITS; split++) {
        facts->truncated += set->sources[split].samples.truncated;
        facts->skipped += set->sources[split].samples.dropped;
        facts->bytes |= set->sources[split].samples.bytes;
    }
}

const DataKind token_data = {tokens_open,  tokens_close, tokens_rows,        tokens_targets,
                             tokens_write, tokens_facts, tokens_fingerprint, NULL};
