/* Rows: what one batch entry holds, whatever it was read from. */
#include "runtime/data_rows.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014) over both words. */
uint64_t mix64(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A Feistel network permutes the smallest square of a power of two that holds `count`; what falls
 * outside is sent through again until it falls inside. So a shuffle needs no memory and no state.
 */
int64_t permute(int64_t index, int64_t count, uint64_t key) {
    int half = 1;
    while ((uint64_t)1 << (2 * half) < (uint64_t)count)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = (uint64_t)index;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 6; round++) {
            uint64_t mixed = left ^ (mix64(key + round, right) & mask);
            left = right;
            right = mixed;
        }
        x = left << half | right;
    } while (x >= (uint64_t)count);
    return (int64_t)x;
}

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

void row_pad(int64_t places, int32_t *ids, int32_t *labels, int32_t *positions) {
    for (int64_t i = 0; i < places; i++) {
        ids[i] = 0;
        labels[i] = IGNORED;
        positions[i] = 0;
    }
}

static int64_t samples_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels,
                             int32_t *positions) {
    int64_t place = 0, targets = 0;
    for (int64_t s = rows->first_sample[row]; s < rows->first_sample[row + 1]; s++) {
        const Sample *sample = &rows->samples->items[s];
        const int32_t *from = rows->samples->labels + sample->start;
        memcpy(ids + place, rows->samples->ids + sample->start,
               sizeof(int32_t) * (size_t)sample->length);
        for (int32_t i = 0; i < sample->length; i++) {
            labels[place + i] = i + 1 < sample->length ? from[i + 1] : IGNORED;
            positions[place + i] = i;
        }
        place += sample->length;
        targets += sample->targets;
    }
    row_pad(rows->seq_len - place, ids + place, labels + place, positions + place);
    return targets;
}

static int32_t random_token(const Rows *rows, int64_t row, int64_t place) {
    uint64_t bits = mix64(mix64(rows->seed, (uint64_t)row), (uint64_t)place);
    return (int32_t)(bits % (uint64_t)rows->vocab_size);
}

int64_t row_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels,
                  int32_t *positions) {
    if (rows->samples)
        return samples_write(rows, row, ids, labels, positions);
    int64_t n = rows->seq_len, first = rows->first_token + row * n;
    if (rows->stream) {
        stream_read(rows->stream, first, n, ids);
        stream_read(rows->stream, first + 1, n, labels);
    } else {
        for (int64_t i = 0; i < n; i++)
            ids[i] = random_token(rows, row, i);
        for (int64_t i = 0; i < n; i++)
            labels[i] = random_token(rows, row, i + 1);
    }
    for (int64_t i = 0; i < n; i++)
        positions[i] = (int32_t)i;
    return n;
}
