/* Samples and pairs, from whatever file: what readers of them (data_jsonl.c, data_shards.c) share. */
#include "runtime/data/data_rows.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"

const char *const pair_text_fields[] = {"prompt", "chosen", "rejected"};

static void *grow(void *array, size_t bytes) {
    void *larger = realloc(array, bytes);
    if (!larger)
        rt_fail("out of memory while reading data: %zu bytes", bytes);
    return larger;
}

void token_add(Samples *samples, int32_t id, int32_t label) {
    if (samples->tokens == samples->token_capacity) {
        samples->token_capacity = samples->token_capacity ? 2 * samples->token_capacity : 4096;
        size_t bytes = sizeof(int32_t) * (size_t)samples->token_capacity;
        samples->ids = grow(samples->ids, bytes);
        samples->labels = grow(samples->labels, bytes);
    }
    samples->ids[samples->tokens] = id;
    samples->labels[samples->tokens++] = label;
}

/* The sample of the tokens [start, end), cut to `most`. */
static Sample sample_of(const SamplePlace *at, int64_t start, int64_t end, int64_t most) {
    const Samples *samples = at->samples;
    int64_t length = end - start < most ? end - start : most;
    Sample sample = {start, (int32_t)length, 0, at->path, at->number};
    for (int64_t i = 1; i < length; i++)
        sample.targets += samples->labels[start + i] != IGNORED;
    return sample;
}

static void sample_push(Samples *samples, Sample sample) {
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? 2 * samples->capacity : 256;
        samples->items = grow(samples->items, sizeof sample * (size_t)samples->capacity);
    }
    samples->items[samples->count++] = sample;
}

bool sample_add(const SamplePlace *at, int64_t start) {
    Samples *samples = at->samples;
    int64_t length = samples->tokens - start;
    if (length == 0)
        return SAMPLE_FAIL(at, "%s", "the sample has no tokens; leave it out");
    Sample sample = sample_of(at, start, samples->tokens, samples->seq_len);
    samples->truncated += length > sample.length;
    samples->tokens = start + sample.length;
    sample_push(samples, sample);
    return true;
}

static bool same_ids(const Samples *samples, int64_t first, int64_t first_length, int64_t second,
                     int64_t second_length) {
    const int32_t *ids = samples->ids;
    return first_length == second_length &&
           (!first_length ||
            memcmp(ids + first, ids + second, (size_t)first_length * sizeof *ids) == 0);
}

bool pair_add(const SamplePlace *at, int64_t first, int64_t second, const char *const *names) {
    Samples *samples = at->samples;
    if (same_ids(samples, first, second - first, second, samples->tokens - second))
        return SAMPLE_FAIL(at, "%s and %s are the same, which prefers neither; leave the pair out",
                           names[PAIR_CHOSEN], names[PAIR_REJECTED]);
    int64_t most = samples->pairs->shared ? pair_room(samples, first, second, samples->tokens)
                                          : samples->seq_len;
    Sample a = sample_of(at, first, second, most);
    Sample b = sample_of(at, second, samples->tokens, most);
    bool overlong = second - first > most || samples->tokens - second > most;
    bool empty = !a.targets || !b.targets;
    bool useless = empty || same_ids(samples, a.start, a.length, b.start, b.length);
    if (empty && !overlong)
        return SAMPLE_FAIL(at, "%s has no token to predict",
                           names[a.targets ? PAIR_REJECTED : PAIR_CHOSEN]);
    if (useless || (overlong && samples->pairs->drop_overlong)) {
        samples->dropped++;
        samples->tokens = first;
        return true;
    }
    samples->truncated += overlong;
    sample_push(samples, a);
    sample_push(samples, b);
    return true;
}

void samples_free(Samples *samples) {
    free(samples->ids);
    free(samples->labels);
    free(samples->items);
    *samples = (Samples){0};
}
