/* Rows: the contents of batch entries, from any source. */
#include "runtime/data/data_rows.h"

#include <stdlib.h>

#include "runtime/base/rt.h"

void rows_of_stream(Rows *rows, const Stream *stream, int64_t first, int64_t end, int64_t seq_len) {
    int64_t tokens = end - first;
    *rows = (Rows){.count = tokens > 0 ? (tokens - 1) / seq_len : 0,
                   .seq_len = seq_len,
                   .stream = stream,
                   .first_token = first};
}

void rows_of_random(Rows *rows, int64_t count, int64_t vocab_size, uint64_t seed, int64_t seq_len) {
    *rows = (Rows){.count = count, .seq_len = seq_len, .vocab_size = vocab_size, .seed = seed};
}

/* How full a row is so far. */
typedef struct {
    int64_t length, targets;
} Filling;

/* What the sample or pair at `s` adds to the row of this side. */
static Filling part_of(const Rows *rows, int64_t s, int64_t side) {
    const Sample *sample = &rows->samples->items[s + side];
    if (rows->shared)
        return (Filling){pair_length(sample), sample[0].targets + sample[1].targets};
    return (Filling){sample->length, sample->targets};
}

static bool too_many_targets(const Rows *rows, int64_t s, int64_t targets, int64_t most,
                             DataError *error) {
    const Sample *sample = &rows->samples->items[s];
    return data_fail(error,
                     "%s%s%lld: the %s has %lld target tokens, but data.max_target_tokens leaves "
                     "%lld per row; raise it",
                     sample->file->path, rows->samples->mark, (long long)sample->number,
                     rows->shared ? "pair" : "sample", (long long)targets, (long long)most);
}

bool rows_of_samples(Rows *rows, const Samples *samples, int64_t first, int64_t end,
                     int64_t seq_len, bool packing, int64_t max_targets, DataError *error) {
    const RtPairs *pairs = samples->pairs;
    size_t bounds = (size_t)(end - first) + 1;
    *rows = (Rows){.seq_len = seq_len,
                   .samples = samples,
                   .first_sample = rt_alloc(bounds * sizeof(int64_t)),
                   .sides = pairs && !pairs->shared ? 2 : 1,
                   .shared = pairs && pairs->shared};
    Filling f[2] = {0};
    int64_t most = pairs ? pairs->packed * 2 : end - first, entries = 0;
    for (int64_t s = first; s < end; s += pairs ? 2 : 1) {
        bool fits = packing && entries > 0 && s - rows->first_sample[entries - 1] < most;
        for (int64_t side = 0; side < rows->sides; side++) {
            Filling part = part_of(rows, s, side);
            if (max_targets && part.targets > max_targets)
                return too_many_targets(rows, s + side, part.targets, max_targets, error);
            fits = fits && f[side].length + part.length <= seq_len &&
                   (!max_targets || f[side].targets + part.targets <= max_targets);
        }
        if (!fits)
            rows->first_sample[entries++] = s;
        for (int64_t side = 0; side < rows->sides; side++) {
            Filling part = part_of(rows, s, side);
            f[side].length = part.length + (fits ? f[side].length : 0);
            f[side].targets = part.targets + (fits ? f[side].targets : 0);
        }
    }
    rows->first_sample[entries] = end;
    rows->count = entries * rows->sides;
    return true;
}

void rows_free(Rows *rows) {
    free(rows->first_sample);
    *rows = (Rows){0};
}

/* A row's first sample, and the end of its samples. */
static int64_t begin_of(const Rows *rows, int64_t row) {
    return rows->first_sample[row / rows->sides] + row % rows->sides;
}
static int64_t end_of(const Rows *rows, int64_t row) {
    return rows->first_sample[row / rows->sides + 1];
}

int64_t rows_samples(const Rows *rows) {
    return rows->samples ? rows->first_sample[rows->count / rows->sides] - rows->first_sample[0]
                         : rows->count;
}

int64_t entry_pairs(const Rows *rows, int64_t entry) {
    int64_t row = rows->sides * entry;
    return rows->samples ? (end_of(rows, row) - begin_of(rows, row)) / 2 : 1;
}

int64_t row_targets(const Rows *rows, int64_t row) {
    if (!rows->samples)
        return rows->seq_len;
    int64_t targets = 0;
    for (int64_t s = begin_of(rows, row); s < end_of(rows, row); s += rows->sides)
        targets += rows->samples->items[s].targets;
    return targets;
}

/* Returns the first place of a sample that its row stores: the second sequence of a pair in one row
 * leaves out the common start. */
static int64_t part_begin(const Rows *rows, int64_t row, int64_t sample) {
    const Sample *at = &rows->samples->items[sample];
    bool second = rows->shared && (sample - begin_of(rows, row)) % 2;
    return second ? pair_shared(at - 1, at) : 0;
}

int64_t row_length(const Rows *rows, int64_t row) {
    int64_t length = 0;
    for (int64_t s = begin_of(rows, row); s < end_of(rows, row); s += rows->sides)
        length += rows->samples->items[s].length - part_begin(rows, row, s);
    return length;
}

static void put_all(int32_t *places, int64_t count, int32_t value) {
    for (int64_t i = 0; places && i < count; i++)
        places[i] = value;
}

void row_pad(int64_t count, int32_t *ids, int32_t *labels, int32_t *positions) {
    put_all(ids, count, 0);
    put_all(labels, count, IGNORED);
    put_all(positions, count, 0);
}

static void put_positions(int32_t *positions, int64_t first, int64_t count) {
    for (int64_t i = 0; positions && i < count; i++)
        positions[i] = (int32_t)(first + i);
}

/* Address of a place in an array that may be NULL. */
static int32_t *at(int32_t *array, int64_t place) { return array ? array + place : NULL; }

/* Writes a sample from its place `first` on. */
static void put_sample(const Sample *sample, int64_t first, int32_t *ids, int32_t *labels,
                       int32_t *positions) {
    int64_t length = sample->length - first, start = sample->start + first;
    for (int64_t i = 0; ids && i < length; i++)
        ids[i] = token_id(sample->file, start + i);
    for (int64_t i = 1; labels && i < length; i++)
        labels[i - 1] = token_label(sample->file, start + i);
    put_all(at(labels, length - 1), 1, IGNORED);
    put_positions(positions, first, length);
}

static void samples_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels,
                          int32_t *positions) {
    int64_t place = 0;
    for (int64_t s = begin_of(rows, row); s < end_of(rows, row); s += rows->sides) {
        const Sample *sample = &rows->samples->items[s];
        int64_t from = part_begin(rows, row, s);
        put_sample(sample, from, at(ids, place), at(labels, place), at(positions, place));
        place += sample->length - from;
    }
    row_pad(rows->seq_len - place, at(ids, place), at(labels, place), at(positions, place));
}

void row_sequences(const Rows *rows, int64_t row, int32_t first, int32_t *sequence) {
    int64_t place = 0;
    put_all(sequence, rows->seq_len, rows->samples ? -1 : first);
    if (!rows->samples)
        return;
    for (int64_t s = begin_of(rows, row); s < end_of(rows, row); s += rows->sides) {
        int64_t length = rows->samples->items[s].length - part_begin(rows, row, s);
        put_all(sequence + place, length, first);
        first += (int32_t)rows->sides;
        place += length;
    }
}

/* Writes random tokens of row `row` from its place `first` on. */
static void put_random(const Rows *rows, int64_t row, int64_t first, int32_t *tokens) {
    uint64_t of_row = mix64(rows->seed, (uint64_t)row);
    for (int64_t i = 0; tokens && i < rows->seq_len; i++)
        tokens[i] = (int32_t)(mix64(of_row, (uint64_t)(first + i)) % (uint64_t)rows->vocab_size);
}

static void put_stream(const Rows *rows, int64_t first, int32_t *tokens) {
    if (tokens)
        stream_read(rows->stream, first, rows->seq_len, tokens);
}

static bool samples_are_as_opened(const Rows *rows, int64_t row, DataError *error) {
    const FileMap *last = NULL;
    for (int64_t s = begin_of(rows, row); s < end_of(rows, row); s += rows->sides) {
        const FileMap *map = rows->samples->items[s].file->map;
        if (map && map != last && !file_is_as_mapped(map, error))
            return false;
        last = map;
    }
    return true;
}

bool row_is_as_opened(const Rows *rows, int64_t row, DataError *error) {
    if (rows->samples)
        return samples_are_as_opened(rows, row, error);
    int64_t first = rows->first_token + row * rows->seq_len;
    return !rows->stream || stream_is_as_opened(rows->stream, first, rows->seq_len + 1, error);
}

void row_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels, int32_t *positions) {
    if (rows->samples) {
        samples_write(rows, row, ids, labels, positions);
        return;
    }
    int64_t first = rows->first_token + row * rows->seq_len;
    if (rows->stream) {
        put_stream(rows, first, ids);
        put_stream(rows, first + 1, labels);
    } else {
        put_random(rows, row, 0, ids);
        put_random(rows, row, 1, labels);
    }
    put_positions(positions, 0, rows->seq_len);
}
