/* Rows: what one batch entry holds, whatever it was read from. */
#include "runtime/data_rows.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"

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

bool rows_of_samples(Rows *rows, const Samples *samples, int64_t first, int64_t end,
                     int64_t seq_len, bool packing, int64_t max_targets, DataError *error) {
    size_t bounds = (size_t)(end - first) + 1;
    *rows = (Rows){
        .seq_len = seq_len, .samples = samples, .first_sample = rt_alloc(bounds * sizeof(int64_t))};
    int64_t length = 0, targets = 0;
    for (int64_t s = first; s < end; s++) {
        const Sample *sample = &samples->items[s];
        if (max_targets && sample->targets > max_targets)
            return data_fail(error,
                             "%s:%lld: the sample has %d target tokens, but "
                             "data.max_target_tokens leaves %lld a row; raise it",
                             sample->path, (long long)sample->line, sample->targets,
                             (long long)max_targets);
        bool fits = packing && s > first && length + sample->length <= seq_len &&
                    (!max_targets || targets + sample->targets <= max_targets);
        if (!fits) {
            rows->first_sample[rows->count++] = s;
            length = targets = 0;
        }
        length += sample->length;
        targets += sample->targets;
    }
    rows->first_sample[rows->count] = end;
    return true;
}

void rows_free(Rows *rows) {
    free(rows->first_sample);
    *rows = (Rows){0};
}

int64_t row_targets(const Rows *rows, int64_t row) {
    if (!rows->samples)
        return rows->seq_len;
    int64_t targets = 0;
    for (int64_t s = rows->first_sample[row]; s < rows->first_sample[row + 1]; s++)
        targets += rows->samples->items[s].targets;
    return targets;
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

static void put_positions(int32_t *positions, int64_t count) {
    for (int64_t i = 0; positions && i < count; i++)
        positions[i] = (int32_t)i;
}

/* A place of an array that may not be there. */
static int32_t *at(int32_t *array, int64_t place) { return array ? array + place : NULL; }

static void put_sample(const Samples *samples, const Sample *sample, int32_t *ids, int32_t *labels,
                       int32_t *positions) {
    int64_t length = sample->length, start = sample->start;
    if (ids)
        memcpy(ids, samples->ids + start, sizeof *ids * (size_t)length);
    if (labels)
        memcpy(labels, samples->labels + start + 1, sizeof *labels * (size_t)(length - 1));
    put_all(at(labels, length - 1), 1, IGNORED);
    put_positions(positions, length);
}

static void samples_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels,
                          int32_t *positions) {
    int64_t place = 0;
    for (int64_t s = rows->first_sample[row]; s < rows->first_sample[row + 1]; s++) {
        const Sample *sample = &rows->samples->items[s];
        put_sample(rows->samples, sample, at(ids, place), at(labels, place), at(positions, place));
        place += sample->length;
    }
    row_pad(rows->seq_len - place, at(ids, place), at(labels, place), at(positions, place));
}

/* Tokens of row `row` from its place `first` on. */
static void put_random(const Rows *rows, int64_t row, int64_t first, int32_t *tokens) {
    uint64_t of_row = mix64(rows->seed, (uint64_t)row);
    for (int64_t i = 0; tokens && i < rows->seq_len; i++)
        tokens[i] = (int32_t)(mix64(of_row, (uint64_t)(first + i)) % (uint64_t)rows->vocab_size);
}

static void put_stream(const Rows *rows, int64_t first, int32_t *tokens) {
    if (tokens)
        stream_read(rows->stream, first, rows->seq_len, tokens);
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
    put_positions(positions, rows->seq_len);
}
