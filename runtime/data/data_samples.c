/* Samples and pairs: the code that their readers (data_jsonl.c, data_shards.c) share. */
#include "runtime/data/data_rows.h"

#include <stdlib.h>

#include "runtime/base/rt.h"

const char *const pair_text_fields[] = {"prompt", "chosen", "rejected"};

static void *grow(void *array, size_t bytes) {
    void *larger = realloc(array, bytes);
    if (!larger)
        rt_fail("out of memory while reading data: %zu bytes", bytes);
    return larger;
}

SampleFile *samples_file(Samples *samples, const char *path) {
    SampleFile *file = rt_alloc(sizeof *file);
    size_t count = (size_t)samples->file_count + 1;
    file->path = path;
    samples->files = grow(samples->files, sizeof file * count);
    return samples->files[samples->file_count++] = file;
}

int32_t token_id(const SampleFile *file, int64_t token) {
    if (file->ids)
        return file->ids[token];
    return (int32_t)little_endian(file->shard_ids + token * file->width, file->width);
}

int32_t token_label(const SampleFile *file, int64_t token) {
    if (file->labels)
        return file->labels[token];
    bool target = file->shard_mask[token / 8] >> (token % 8) & 1;
    return target ? token_id(file, token) : IGNORED;
}

void token_add(SampleFile *file, int32_t id, int32_t label) {
    if (file->tokens == file->capacity) {
        file->capacity = file->capacity ? 2 * file->capacity : 4096;
        size_t bytes = sizeof(int32_t) * (size_t)file->capacity;
        file->ids = grow(file->ids, bytes);
        file->labels = grow(file->labels, bytes);
    }
    file->ids[file->tokens] = id;
    file->labels[file->tokens++] = label;
}

/* Returns the sample of the tokens [start, end), cut to `most`. */
static Sample sample_of(const SamplePlace *at, int64_t start, int64_t end, int64_t most) {
    int64_t length = end - start < most ? end - start : most;
    Sample sample = {start, (int32_t)length, 0, at->file, at->number};
    for (int64_t i = 1; i < length; i++)
        sample.targets += token_label(at->file, start + i) != IGNORED;
    return sample;
}

static void sample_push(Samples *samples, Sample sample) {
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? 2 * samples->capacity : 256;
        samples->items = grow(samples->items, sizeof sample * (size_t)samples->capacity);
    }
    samples->items[samples->count++] = sample;
}

/* Forgets the tokens from `end` on, which belong to no sample. Tokens of shards are not stored. */
static void tokens_cut(SampleFile *file, int64_t end) {
    if (file->ids)
        file->tokens = end;
}

bool sample_add(const SamplePlace *at, int64_t start, int64_t end) {
    Samples *samples = at->samples;
    if (end == start)
        return SAMPLE_FAIL(at, "%s", "the sample has no tokens; leave it out");
    Sample sample = sample_of(at, start, end, samples->seq_len);
    samples->truncated += end - start > sample.length;
    tokens_cut(at->file, start + sample.length);
    sample_push(samples, sample);
    return true;
}

static bool same_ids(const SampleFile *file, int64_t first, int64_t first_length, int64_t second,
                     int64_t second_length) {
    bool same = first_length == second_length;
    for (int64_t i = 0; same && i < first_length; i++)
        same = token_id(file, first + i) == token_id(file, second + i);
    return same;
}

bool pair_add(const SamplePlace *at, int64_t first, int64_t second, int64_t end,
              const char *const *names) {
    Samples *samples = at->samples;
    SampleFile *file = at->file;
    if (same_ids(file, first, second - first, second, end - second))
        return SAMPLE_FAIL(at, "%s and %s are the same, so neither is preferred; remove the pair",
                           names[PAIR_CHOSEN], names[PAIR_REJECTED]);
    int64_t most = samples->pairs->shared ? pair_room(file, samples->seq_len, first, second, end)
                                          : samples->seq_len;
    Sample a = sample_of(at, first, second, most);
    Sample b = sample_of(at, second, end, most);
    bool overlong = second - first > most || end - second > most;
    bool empty = !a.targets || !b.targets;
    bool useless = empty || same_ids(file, a.start, a.length, b.start, b.length);
    if (empty && !overlong)
        return SAMPLE_FAIL(at, "%s has no token to predict",
                           names[a.targets ? PAIR_REJECTED : PAIR_CHOSEN]);
    if (useless || (overlong && samples->pairs->drop_overlong)) {
        samples->dropped++;
        tokens_cut(file, first);
        return true;
    }
    samples->truncated += overlong;
    sample_push(samples, a);
    sample_push(samples, b);
    return true;
}

void samples_free(Samples *samples) {
    for (int i = 0; i < samples->file_count; i++) {
        free(samples->files[i]->ids);
        free(samples->files[i]->labels);
        free(samples->files[i]);
    }
    free(samples->files);
    free(samples->items);
    *samples = (Samples){0};
}
