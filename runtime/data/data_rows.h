/* Tokens, from files to rows (data_tokens.c puts them together).
 *
 *     files (data_files.c) -> tokens (data_stream.c) ----------------> rows (data_rows.c)
 *                          -> samples (data_jsonl.c, data_shards.c, data_samples.c) --> rows
 *                                                         (prompts once: data_shared.c)
 *
 * A row is seq_len places of one batch entry. Everything here is constant once it is built, so that
 * any thread may read it without a lock. */
#ifndef GPUOPT_DATA_ROWS_H
#define GPUOPT_DATA_ROWS_H

#include "runtime/data/data_files.h"
#include "runtime/data/data_kind.h"

/* ---- token streams (data_stream.c) ----------------------------------------------------------- */

/* Tokens of one file: 1, 2 or 4 bytes each, little-endian. */
typedef struct {
    const uint8_t *tokens;
    int width;
    int64_t start; /* place of its first token in the stream */
    int64_t count;
    void *memory; /* owned: where it was read to, */
    FileMap map;  /* or mapped */
} StreamFile;

typedef struct {
    StreamFile *files;
    int file_count;
    int64_t tokens;
} Stream;

bool stream_open_text(Stream *stream, const FileList *files, int64_t vocab_size, DataError *error);
/* llm.c's shards: int32[256] header (magic 20240520, version 1: uint16 or 2: uint32, count). */
bool stream_open_shards(Stream *stream, const FileList *files, int64_t vocab_size,
                        DataError *error);
enum { SHARD_MAGIC = 20240520, SHARD_HEADER_BYTES = 256 * 4 };
uint32_t little_endian(const uint8_t *bytes, int width);
/* Whether a file is a shard with samples (versions 3 and 4). */
bool shard_has_samples(const char *path);
void stream_close(Stream *stream);
/* Whether files with tokens [first, first + count) are as they were when they were checked. */
bool stream_is_as_opened(const Stream *stream, int64_t first, int64_t count, DataError *error);
/* Tokens [first, first + count), which lie inside the stream. */
void stream_read(const Stream *stream, int64_t first, int64_t count, int32_t *out);

/* ---- samples (data_samples.c) ---------------------------------------------------------------- */

/* The tokens of one file: of lines they are here, those of a shard stay in it. */
typedef struct {
    const char *path;
    int32_t *ids, *labels; /* labels as Hugging Face has them: of the same place, not shifted */
    int64_t tokens, capacity;
    const uint8_t *shard_ids,
        *shard_mask; /* instead, as the shard has them; ids of `width` bytes */
    int width;
    const FileMap *map; /* that they are in; NULL: memory */
} SampleFile;

int32_t token_id(const SampleFile *file, int64_t token);
int32_t token_label(const SampleFile *file, int64_t token);

typedef struct {
    int64_t start;   /* of its tokens in its file's */
    int32_t length;  /* 1..seq_len */
    int32_t targets; /* labels after the first token that are not IGNORED */
    const SampleFile *file;
    int64_t number; /* of its line, or among the file's samples */
} Sample;

typedef struct {
    SampleFile **files;
    int file_count;
    Sample *items;
    int64_t count, capacity;
    int64_t truncated;
    int64_t dropped;
    const char *mark;            /* what stands between a path and a sample's number in messages */
    int64_t seq_len, vocab_size; /* set before reading, */
    const RtPairs *pairs;        /* too: samples 2p and 2p + 1 are a pair; NULL: no pairs */
} Samples;

/* The sample being read, for errors. */
typedef struct {
    Samples *samples;
    SampleFile *file;
    int64_t number;
    DataError *error;
} SamplePlace;

#define SAMPLE_FAIL(at, format, ...)                                                   \
    data_fail((at)->error, "%s%s%lld: " format, (at)->file->path, (at)->samples->mark, \
              (long long)(at)->number, __VA_ARGS__)

enum { PAIR_PROMPT, PAIR_CHOSEN, PAIR_REJECTED, PAIR_FIELDS };
extern const char *const pair_text_fields[PAIR_FIELDS];

SampleFile *samples_file(Samples *samples, const char *path); /* one more */
void token_add(SampleFile *file, int32_t id, int32_t label);
/* Makes a sample of the file's tokens [start, end), cut to seq_len. */
bool sample_add(const SamplePlace *at, int64_t start, int64_t end);
/* Makes a pair of the sequences [first, second) and [second, end). One of which nothing is left to
 * prefer once it is cut is dropped. `names` are those of the fields, for errors. */
bool pair_add(const SamplePlace *at, int64_t first, int64_t second, int64_t end,
              const char *const *names);
/* How many places both sequences of a pair begin with, none of them with a target. */
int64_t pair_shared(const Sample *chosen, const Sample *rejected);
/* How many places of a row a pair takes, what it shares once. */
int64_t pair_length(const Sample *pair);
/* To what length the sequences [first, second) and [second, end) are cut so that one row of seq_len has
 * both, what they share once: the longer one first, then both alike. */
int64_t pair_room(const SampleFile *file, int64_t seq_len, int64_t first, int64_t second,
                  int64_t end);
void samples_free(Samples *samples);

/* Appends the samples of one file's bytes. `path` names them in errors and must outlive them, and so
 * must the bytes of a shard: what stays in memory is where its samples are. */
typedef bool SamplesReader(Samples *samples, const char *path, const uint8_t *bytes, size_t size,
                           DataError *error);
SamplesReader lines_read; /* data_jsonl.c */
SamplesReader shard_read; /* data_shards.c */

/* ---- rows (data_rows.c) ---------------------------------------------------------------------- */

/* The rows of one split. Exactly one of stream and samples is set; neither: random tokens. */
typedef struct {
    int64_t count; /* 0: without end (random tokens) */
    int64_t seq_len;
    const Stream *stream;
    int64_t first_token; /* of row 0 in the stream; row r starts seq_len * r later */
    const Samples *samples;
    /* Row r holds every sides-th sample from first_sample[r / sides] + r % sides on, up to
     * first_sample[r / sides + 1]: of pairs the first sequences, and the second ones. */
    int64_t *first_sample, sides;
    int64_t vocab_size;
    uint64_t seed;
    bool shared; /* both samples of a pair lie in a row, what they begin with once; sides are 1 */
} Rows;

/* Windows over tokens [first, end): each reads one token past its end, which is its last label. */
void rows_of_stream(Rows *rows, const Stream *stream, int64_t first, int64_t end, int64_t seq_len);
void rows_of_random(Rows *rows, int64_t count, int64_t vocab_size, uint64_t seed, int64_t seq_len);
/* One sample a row; packed: the next sample goes to the current row if its tokens fit in seq_len
 * and its targets in max_targets (0: no limit), else a new row starts; a pair's two samples to two
 * rows, or what they begin with once to one, of pairs->packed pairs at most. Fails where a sample or
 * such a pair alone has more than max_targets. */
bool rows_of_samples(Rows *rows, const Samples *samples, int64_t first, int64_t end,
                     int64_t seq_len, bool packing, int64_t max_targets, DataError *error);
void rows_free(Rows *rows);

int64_t rows_samples(const Rows *rows); /* in all of them */
/* Pairs that an entry of two rows, or of one, holds; and of each place of the rows' row `row` the
 * number of its sequence, where that of the first one is `first`; -1: it has none. */
int64_t entry_pairs(const Rows *rows, int64_t entry);
void row_sequences(const Rows *rows, int64_t row, int32_t first, int32_t *sequence);
int64_t row_targets(const Rows *rows, int64_t row);
int64_t row_length(const Rows *rows, int64_t row); /* places that are no padding, of samples */
/* Whether the files that the row is read from are as they were when they were checked. */
bool row_is_as_opened(const Rows *rows, int64_t row, DataError *error);
/* Writes seq_len places of each array that is not NULL. */
void row_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels, int32_t *positions);
/* Where pairs lie in one row (data_shared.c): of each place its position in its part, and the two ends
 * of the range of places that it sees beside that part. */
void row_prefix(const Rows *rows, int64_t row, int32_t *position, int32_t *prefix);
void prefix_pad(int64_t places, int32_t *position, int32_t *prefix);
/* A row of padding: id 0, label -100 and position 0 (a sample of its own, so it attends to itself
 * only). */
void row_pad(int64_t places, int32_t *ids, int32_t *labels, int32_t *positions);

#endif
