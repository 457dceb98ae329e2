/* Files of tokens without sample boundaries, joined to one stream: text, whose bytes are tokens,
 * and llm.c's token shards. Shards are mapped because they may be larger than memory. */
#include "runtime/data/data_rows.h"

#include <stdlib.h>

#include "runtime/base/rt.h"

uint32_t little_endian(const uint8_t *bytes, int width) {
    uint32_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static void stream_add(Stream *stream, StreamFile file) {
    file.start = stream->tokens;
    stream->tokens += file.count;
    stream->files[stream->file_count++] = file;
}

static void stream_init(Stream *stream, const FileList *files) {
    *stream = (Stream){.files = rt_alloc(sizeof(StreamFile) * (size_t)files->count)};
}

bool stream_open_text(Stream *stream, const FileList *files, int64_t vocab_size, DataError *error) {
    stream_init(stream, files);
    if (vocab_size < 256)
        return data_fail(error,
                         "%s: text is read as bytes, which needs model.vocab_size = 256 or more; "
                         "it is %lld",
                         files->paths[0], (long long)vocab_size);
    for (int i = 0; i < files->count; i++) {
        uint8_t *bytes;
        size_t size;
        if (!file_read(files->paths[i], &bytes, &size, error))
            return false;
        stream_add(stream, (StreamFile){bytes, 1, 0, (int64_t)size, bytes, {0}});
    }
    if (!stream->tokens)
        return data_fail(error, "%s: is empty; a run needs text", files->paths[0]);
    return true;
}

static bool shard_header(const char *path, StreamFile *file, DataError *error) {
    const uint8_t *header = file->map.bytes;
    if (!file->map.size)
        return data_fail(error, "%s: is empty; a token shard has a header of 1024 bytes", path);
    if (file->map.size < SHARD_HEADER_BYTES || little_endian(header, 4) != SHARD_MAGIC)
        return data_fail(error, "%s: is no token shard: it does not begin with %d (int32)", path,
                         SHARD_MAGIC);
    uint32_t version = little_endian(header + 4, 4);
    if (version != 1 && version != 2)
        return data_fail(
            error,
            version == 3 || version == 4
                ? "%s: token shard of version %u has samples, but the file before it "
                  "has none; a split cannot mix them"
                : "%s: token shard of version %u is not supported; versions 1 (uint16) "
                  "and 2 (uint32) are, and with samples 3 and 4",
            path, version);
    file->width = version == 1 ? 2 : 4;
    file->count = little_endian(header + 8, 4);
    file->tokens = header + SHARD_HEADER_BYTES;
    size_t whole = SHARD_HEADER_BYTES + (size_t)file->count * (size_t)file->width;
    if (file->map.size != whole)
        return data_fail(error,
                         "%s: its header promises %lld tokens (%zu bytes), but it has %zu "
                         "bytes; write it again",
                         path, (long long)file->count, whole, file->map.size);
    return true;
}

static bool shard_check(const char *path, const StreamFile *file, int64_t vocab_size,
                        DataError *error) {
    if (file->width == 2 && vocab_size > UINT16_MAX)
        return true;
    for (int64_t i = 0; i < file->count; i++) {
        uint32_t id = little_endian(file->tokens + i * file->width, file->width);
        if (id >= vocab_size)
            return data_fail(error,
                             "%s: token %lld (byte %lld) is %u, outside the vocabulary; "
                             "model.vocab_size is %lld",
                             path, (long long)i, (long long)(SHARD_HEADER_BYTES + i * file->width),
                             id, (long long)vocab_size);
    }
    return true;
}

bool stream_open_shards(Stream *stream, const FileList *files, int64_t vocab_size,
                        DataError *error) {
    stream_init(stream, files);
    for (int i = 0; i < files->count; i++) {
        const char *path = files->paths[i];
        StreamFile file = {0};
        bool ok = file_map(path, &file.map, error) && shard_header(path, &file, error) &&
                  shard_check(path, &file, vocab_size, error);
        stream_add(stream, file); /* also when bad: stream_close() unmaps it */
        if (!ok)
            return false;
    }
    return true;
}

void stream_close(Stream *stream) {
    for (int i = 0; i < stream->file_count; i++) {
        StreamFile *file = &stream->files[i];
        free(file->memory);
        file_unmap(&file->map);
    }
    free(stream->files);
    *stream = (Stream){0};
}

/* Returns the last file that starts at or before a place. */
static int file_at(const Stream *stream, int64_t place) {
    int low = 0, high = stream->file_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (stream->files[middle].start <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool stream_is_as_opened(const Stream *stream, int64_t first, int64_t count, DataError *error) {
    int f = file_at(stream, first);
    for (; f < stream->file_count && stream->files[f].start < first + count; f++)
        if (stream->files[f].map.bytes && !file_is_as_mapped(&stream->files[f].map, error))
            return false;
    return true;
}

void stream_read(const Stream *stream, int64_t first, int64_t count, int32_t *out) {
    for (int f = file_at(stream, first); count > 0; f++) {
        const StreamFile *file = &stream->files[f];
        int64_t from = first - file->start, left = file->count - from;
        int64_t take = count < left ? count : left;
        for (int64_t i = 0; i < take; i++)
            *out++ = (int32_t)little_endian(file->tokens + (from + i) * file->width, file->width);
        first += take;
        count -= take;
    }
}
