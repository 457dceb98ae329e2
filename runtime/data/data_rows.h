/* Tokens, from files to rows (data_tokens.c combines these steps).
 *
 *     files (data_files.c) -> tokens (data_stream.c) ----------------> rows (data_rows.c)
 *                          -> samples (data_jsonl.c, data_shards.c, data_samples.c) --> rows
 *                                                         (prompts once: data_shared.c)
 *
 * A row is seq_len places of one batch entry. Everything here is constant once it is built, so any
 * thread may read it without a lock. */
#ifndef GPUOPT_DATA_ROWS_H
#define GPUOPT_DATA_ROWS_H

#include "runtime/data/data_files.h"
#include "runtime/data/data_kind.h"

/* ---- token streams (data_stream.c) ----------------------------------------------------------- */

/* The tokens of one file, of 1, 2 or 4 bytes each, little-endian. */
typedef struct {
    const uint8_t *tokens;
    int width;
    int64_t start; /* index of its first token in the stream */
    int64_t count;
    void *memory; /* owned: the bytes of a file that was read */
    FileMap map;  /* of a file that was mapped instead */
} StreamFile;

typedef struct {
    StreamFile *files;
    int file_count;
    int64_t tokens;
} Stream;

bool stream_open_text(Stream *stream, const FileList *files, int64_t vocab_size, DataError *error);
/* llm.c's shards: an int32[256] header (magic 20240520; version 1: uint16, or 2: uint32; count). */
bool stream_open_shards(Stream *stream, const FileList *files, int64_t vocab_size,
                        DataError *error);
enum { SHARD_MAGIC = 20240520, SHARD_HEADER_BYTES = 256 * 4 };
uint32_t little_endian(const uint8_t *bytes, int width);
/* Returns whether a file is a shard with samples (version 3 or 4). */
bool shard_has_samples(const char *path);
void stream_close(Stream *stream);
/* Returns false if a file that holds any of tokens [first, first + count) was written to since it
 * was checked. */
bool stream_is_as_opened(const Stream *stream, int64_t first, int64_t count, DataError *error);
/* Copies tokens [first, first + count), which must be inside the stream, to `out`. */
void stream_read(const Stream *stream, int64_t first, int64_t count, int32_t *out);

/* ---- samples (data_samples.c) ---------------------------------------------------------------- */

/* The tokens of one file. Tokens of JSON lines are stored here; a shard's stay in the file. */
typedef struct {
    const char *path;
    int32_t *ids, *labels; /* labels as in Hugging Face: labels[i] is for ids[i], not shifted */
    int64_t tokens, capacity;
    const uint8_t *shard_ids,
        *shard_mask; /* of a shard, instead of ids and labels; ids have `width` bytes */
    int width;
    const FileMap *map; /* the mapping that holds the shard; NULL: memory */
} SampleFile;

int32_t token_id(const SampleFile *file, int64_t token);
int32_t token_label(const SampleFile *file, int64_t token);

typedef struct {
    int64_t start;   /* index of its first token in the file */
    int32_t length;  /* 1..seq_len */
    int32_t targets; /* labels after the first token that are not IGNORED */
    const SampleFile *file;
    int64_t number; /* of its line, or of the sample in the file */
} Sample;

typedef struct {
    SampleFile **files;
    int file_count;
    Sample *items;
    int64_t count, capacity;
    int64_t truncated;
    int64_t dropped;
    bool bytes;                  /* some sample is text, whose bytes are the tokens */
    const char *mark;            /* separates the path from a sample's number in messages */
    int64_t seq_len, vocab_size; /* these and `pairs` are set before reading */
    const RtPairs *pairs;        /* samples 2p and 2p + 1 are a pair; NULL: no pairs */
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

SampleFile *samples_file(Samples *samples, const char *path); /* appends an empty file */
void token_add(SampleFile *file, int32_t id, int32_t label);
/* Appends a sample of the file's tokens [start, end), cut to seq_len. */
bool sample_add(const SamplePlace *at, int64_t start, int64_t end);
/* Appends a pair of the sequences [first, second) and [second, end), cut to fit. Drops a pair that
 * is too long if drop_overlong is set or if cutting leaves nothing to prefer. `names` are the names
 * of the fields, for errors. */
bool pair_add(const SamplePlace *at, int64_t first, int64_t second, int64_t end,
              const char *const *names);
/* Returns how many leading places both sequences of a pair have in common, all without a target. */
int64_t pair_shared(const Sample *chosen, const Sample *rejected);
/* Returns how many places of a row a pair takes, the common ones counted once. */
int64_t pair_length(const Sample *pair);
/* Returns the length to which the sequences [first, second) and [second, end) are cut so that both
 * fit in one row of seq_len, their common places stored once. The longer sequence is cut first,
 * then both equally. */
int64_t pair_room(const SampleFile *file, int64_t seq_len, int64_t first, int64_t second,
                  int64_t end);
void samples_free(Samples *samples);

/* Appends the samples of one file's bytes. `path` is for errors and must outlive the samples. The
 * bytes of a shard must outlive them too, because only the positions of its samples are kept. */
typedef bool SamplesReader(Samples *samples, const char *path, const uint8_t *bytes, size_t size,
                           DataError *error);
SamplesReader lines_read; /* data_jsonl.c */
SamplesReader shard_read; /* data_shards.c */

/* ---- rows (data_rows.c) ---------------------------------------------------------------------- */

/* The rows of one split. Exactly one of stream and samples is set; neither: random tokens. */
typedef struct {
    int64_t count; /* 0: endless (random tokens) */
    int64_t seq_len;
    const Stream *stream;
    int64_t first_token; /* where row 0 starts in the stream; row r starts seq_len * r later */
    const Samples *samples;
    /* Row r holds every sides-th sample from first_sample[r / sides] + r % sides up to
     * first_sample[r / sides + 1]. With two sides, even rows hold the first sequences of pairs and
     * odd rows the second ones. */
    int64_t *first_sample, sides;
    int64_t vocab_size;
    uint64_t seed;
    bool shared; /* a row has both samples of a pair, their common start once; sides is 1 */
} Rows;

/* Windows over tokens [first, end). Each reads one token past its end, as its last label. */
void rows_of_stream(Rows *rows, const Stream *stream, int64_t first, int64_t end, int64_t seq_len);
void rows_of_random(Rows *rows, int64_t count, int64_t vocab_size, uint64_t seed, int64_t seq_len);
/* One sample per row. With packing, the next sample goes to the current row if its tokens fit in
 * seq_len and its targets in max_targets (0: no limit), else it starts a new row. The samples of a
 * pair go to two rows, or to one row that has their common start once; at most pairs->packed pairs
 * share these rows. Fails if a single sample, or a single pair in one row, has more than
 * max_targets targets. */
bool rows_of_samples(Rows *rows, const Samples *samples, int64_t first, int64_t end,
                     int64_t seq_len, bool packing, int64_t max_targets, DataError *error);
void rows_free(Rows *rows);

int64_t rows_samples(const Rows *rows); /* in all rows */
/* entry_pairs() returns the number of pairs in a batch entry of one or two rows. row_sequences()
 * writes for each place of row `row` the number of its sequence, starting at `first`, or -1 for
 * padding. */
int64_t entry_pairs(const Rows *rows, int64_t entry);
void row_sequences(const Rows *rows, int64_t row, int32_t first, int32_t *sequence);
int64_t row_targets(const Rows *rows, int64_t row);
int64_t row_length(const Rows *rows, int64_t row); /* without padding; rows of samples only */
/* Returns false if a file that the row is read from was written to since it was checked. */
bool row_is_as_opened(const Rows *rows, int64_t row, DataError *error);
/* Writes seq_len places to each array that is not NULL. */
void row_write(const Rows *rows, int64_t row, int32_t *ids, int32_t *labels, int32_t *positions);
/* For pairs in one row (data_shared.c): writes for each place its position in its part, and the two
 * ends of the range of places that it sees in addition to that part. */
void row_prefix(const Rows *rows, int64_t row, int32_t *position, int32_t *prefix);
void prefix_pad(int64_t places, int32_t *position, int32_t *prefix);
/* Writes padding: id 0, label -100 and position 0. Each such place is a sample of its own, so it
 * attends only to itself. */
void row_pad(int64_t places, int32_t *ids, int32_t *labels, int32_t *positions);

#endif
