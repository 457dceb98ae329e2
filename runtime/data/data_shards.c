/* Token shards with samples: versions 3 and 4 of the format that runtime/data/README.md describes.
 * Every byte of a file is checked, so that a file that was truncated or written by something else
 * is reported. */
#include "runtime/data/data_rows.h"

#include <unistd.h>

#include "runtime/files/infile.h"

enum { WORDS = 256, FIRST_RESERVED = 5 };

/* A file and the positions of its parts. */
typedef struct {
    const char *path;
    const uint8_t *bytes;
    int64_t size, tokens, samples;
    int64_t ids_at, ends_at, mask_at; /* in bytes */
    int width;                        /* of a token */
    bool pairs;
    DataError *error;
} Shard;

#define SHARD_FAIL(shard, format, ...)                                                        \
    data_fail((shard)->error, "%s: " format "; write it with runtime/data/tokenize_jsonl.py", \
              (shard)->path, __VA_ARGS__)

static int64_t word(const Shard *shard, int i) { return little_endian(shard->bytes + 4 * i, 4); }

bool shard_has_samples(const char *path) {
    uint8_t head[8];
    int fd;
    if (infile_open(path, &fd))
        return false;
    bool whole = read(fd, head, sizeof head) == sizeof head;
    close(fd);
    uint32_t version = whole ? little_endian(head + 4, 4) : 0;
    return whole && little_endian(head, 4) == SHARD_MAGIC && (version == 3 || version == 4);
}

static bool check_version(Shard *shard) {
    if (shard->size < SHARD_HEADER_BYTES || word(shard, 0) != SHARD_MAGIC)
        return SHARD_FAIL(shard, "is no token shard: it does not begin with %d (int32)",
                          SHARD_MAGIC);
    if (word(shard, 1) != 3 && word(shard, 1) != 4)
        return SHARD_FAIL(shard,
                          "is a token shard of version %lld; samples and pairs are in versions 3 "
                          "(uint16) and 4 (uint32)",
                          (long long)word(shard, 1));
    for (int i = FIRST_RESERVED; i < WORDS; i++)
        if (word(shard, i))
            return SHARD_FAIL(shard, "word %d of its header (byte %d) is %lld, and must be 0", i,
                              4 * i, (long long)word(shard, i));
    return true;
}

static bool check_kind(const Shard *shard, bool pairs) {
    int64_t kind = word(shard, 4);
    if (kind > 1)
        return SHARD_FAIL(shard, "word 4 of its header (byte 16) is %lld; samples are 0, pairs 1",
                          (long long)kind);
    if (shard->pairs != pairs)
        return SHARD_FAIL(shard, "%s",
                          pairs ? "holds samples, and training.task = \"dpo\" needs pairs"
                                : "holds pairs, which only training.task = \"dpo\" reads");
    if (pairs && shard->samples % 2)
        return SHARD_FAIL(shard,
                          "its header (byte 12) promises %lld sequences; pairs need an even number",
                          (long long)shard->samples);
    return true;
}

/* Counts are below 2^32, so sums of sizes cannot overflow. */
static bool shard_open(Shard *shard, bool pairs) {
    if (!check_version(shard))
        return false;
    shard->width = word(shard, 1) == 3 ? 2 : 4;
    shard->tokens = word(shard, 2);
    shard->samples = word(shard, 3);
    shard->pairs = word(shard, 4) == 1;
    shard->ids_at = SHARD_HEADER_BYTES;
    shard->ends_at = shard->ids_at + shard->tokens * shard->width;
    shard->mask_at = shard->ends_at + shard->samples * 4;
    int64_t whole = shard->mask_at + (shard->tokens + 7) / 8;
    if (shard->size != whole)
        return SHARD_FAIL(shard,
                          "its header promises %lld tokens in %lld samples (%lld bytes), but it "
                          "has %lld bytes",
                          (long long)shard->tokens, (long long)shard->samples, (long long)whole,
                          (long long)shard->size);
    return check_kind(shard, pairs);
}

static int64_t sample_end(const Shard *shard, int64_t sample) {
    return sample < 0 ? 0 : little_endian(shard->bytes + shard->ends_at + 4 * sample, 4);
}

static bool is_target(const Shard *shard, int64_t token) {
    return shard->bytes[shard->mask_at + token / 8] >> (token % 8) & 1;
}

/* Points to the shard's tokens, which are not copied. */
static SampleFile *tokens_of(const Shard *shard, Samples *samples) {
    SampleFile *file = samples_file(samples, shard->path);
    file->shard_ids = shard->bytes + shard->ids_at;
    file->shard_mask = shard->bytes + shard->mask_at;
    file->width = shard->width;
    return file;
}

static bool check_ends(const Shard *shard) {
    for (int64_t i = 0; i < shard->samples; i++) {
        int64_t end = sample_end(shard, i), least = sample_end(shard, i - 1) + 1;
        if (end < least || end > shard->tokens)
            return SHARD_FAIL(shard,
                              "sample %lld ends at token %lld (byte %lld), which must be %lld to "
                              "%lld",
                              (long long)i, (long long)end, (long long)(shard->ends_at + 4 * i),
                              (long long)least, (long long)shard->tokens);
    }
    int64_t end = sample_end(shard, shard->samples - 1);
    if (end != shard->tokens)
        return SHARD_FAIL(shard, "its last sample ends at token %lld of %lld (byte %lld)",
                          (long long)end, (long long)shard->tokens,
                          (long long)(shard->mask_at - 4));
    return true;
}

static bool check_mask(const Shard *shard) {
    for (int64_t i = shard->tokens; i % 8; i++)
        if (is_target(shard, i))
            return SHARD_FAIL(shard, "bit %lld of its last byte is 1, but stands for no token",
                              (long long)(i % 8));
    return true;
}

static bool check_ids(const Shard *shard, const Samples *samples, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; i++) {
        int64_t at = shard->ids_at + i * shard->width;
        uint32_t id = little_endian(shard->bytes + at, shard->width);
        if (id >= samples->vocab_size)
            return data_fail(shard->error,
                             "%s: token %lld (byte %lld) is %u, outside the vocabulary; "
                             "model.vocab_size is %lld",
                             shard->path, (long long)i, (long long)at, id,
                             (long long)samples->vocab_size);
    }
    return true;
}

/* Returns the number of tokens before a sample's first target. */
static int64_t prompt_length(const Shard *shard, int64_t sample) {
    int64_t first = sample_end(shard, sample - 1), at = first, end = sample_end(shard, sample);
    while (at < end && !is_target(shard, at))
        at++;
    return at - first;
}

static bool check_prompts(const Shard *shard, const SamplePlace *at, int64_t first,
                          int64_t second) {
    int64_t length = prompt_length(shard, at->number);
    bool same = length == prompt_length(shard, at->number + 1);
    for (int64_t i = 0; same && i < length; i++)
        same = token_id(at->file, first + i) == token_id(at->file, second + i);
    if (!same)
        return SAMPLE_FAIL(at, "its prompt is not that of sample %lld, but the two are a pair",
                           (long long)at->number + 1);
    return true;
}

static bool pair_read(const Shard *shard, const SamplePlace *at) {
    int64_t first = sample_end(shard, at->number - 1), second = sample_end(shard, at->number);
    int64_t end = sample_end(shard, at->number + 1);
    return check_ids(shard, at->samples, first, end) && check_prompts(shard, at, first, second) &&
           pair_add(at, first, second, end, pair_text_fields);
}

static bool sample_read(const Shard *shard, const SamplePlace *at) {
    int64_t first = sample_end(shard, at->number - 1), end = sample_end(shard, at->number);
    return check_ids(shard, at->samples, first, end) && sample_add(at, first, end);
}

bool shard_read(Samples *samples, const char *path, const uint8_t *bytes, size_t size,
                DataError *error) {
    Shard shard = {.path = path, .bytes = bytes, .size = (int64_t)size, .error = error};
    SamplePlace at = {.samples = samples, .error = error};
    samples->mark = ": sample ";
    if (!shard_open(&shard, samples->pairs != NULL) || !check_ends(&shard) || !check_mask(&shard))
        return false;
    at.file = tokens_of(&shard, samples);
    for (; at.number < shard.samples; at.number += shard.pairs ? 2 : 1)
        if (!(shard.pairs ? pair_read(&shard, &at) : sample_read(&shard, &at)))
            return false;
    return true;
}
