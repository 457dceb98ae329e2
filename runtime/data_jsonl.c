/* JSON lines: one sample a line, in one of three forms.
 *
 *     {"input_ids": [5, 6, 7], "labels": [-100, 6, 7]}    labels as Hugging Face has them; optional
 *     {"text": "..."}                                     bytes as tokens
 *     {"prompt": "...", "completion": "..."}              bytes; the prompt's are no targets
 *
 * Other members are ignored, blank lines too, and a byte-order mark at the start of the file. */
#include "runtime/data_rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"

/* The line being read, for errors. */
typedef struct {
    Samples *samples;
    const char *path;
    int64_t line;
    DataError *error;
} Line;

#define LINE_FAIL(at, format, ...) \
    data_fail((at)->error, "%s:%lld: " format, (at)->path, (long long)(at)->line, __VA_ARGS__)

static void *grow(void *array, size_t bytes) {
    void *larger = realloc(array, bytes);
    if (!larger)
        rt_fail("out of memory while reading data: %zu bytes", bytes);
    return larger;
}

static void token_add(Samples *samples, int32_t id, int32_t label) {
    if (samples->tokens == samples->token_capacity) {
        samples->token_capacity = samples->token_capacity ? 2 * samples->token_capacity : 4096;
        size_t bytes = sizeof(int32_t) * (size_t)samples->token_capacity;
        samples->ids = grow(samples->ids, bytes);
        samples->labels = grow(samples->labels, bytes);
    }
    samples->ids[samples->tokens] = id;
    samples->labels[samples->tokens++] = label;
}

/* Closes the sample whose tokens begin at `start`: cuts it to seq_len and counts its targets. */
static bool sample_add(const Line *at, int64_t start) {
    Samples *samples = at->samples;
    int64_t length = samples->tokens - start;
    if (length == 0)
        return LINE_FAIL(at, "%s", "the sample has no tokens; leave the line out");
    if (length > samples->seq_len) {
        length = samples->seq_len;
        samples->tokens = start + length;
        samples->truncated++;
    }
    Sample sample = {start, (int32_t)length, 0, at->path, at->line};
    for (int64_t i = 1; i < length; i++)
        sample.targets += samples->labels[start + i] != IGNORED;
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? 2 * samples->capacity : 256;
        samples->items = grow(samples->items, sizeof sample * (size_t)samples->capacity);
    }
    samples->items[samples->count++] = sample;
    return true;
}

static bool bytes_add(const Line *at, const json_t *text, bool targets) {
    if (at->samples->vocab_size < 256)
        return LINE_FAIL(at,
                         "text is read as bytes, which needs model.vocab_size = 256 or more; it "
                         "is %lld",
                         (long long)at->samples->vocab_size);
    const char *bytes = json_string_value(text);
    for (size_t i = 0; i < json_string_length(text); i++) {
        int32_t id = (unsigned char)bytes[i];
        token_add(at->samples, id, targets ? id : IGNORED);
    }
    return true;
}

/* An element of input_ids or labels. */
static bool token_value(const Line *at, const json_t *array, const char *name, size_t i,
                        bool ignorable, int32_t *value) {
    const json_t *item = json_array_get(array, i);
    if (!json_is_integer(item))
        return LINE_FAIL(at, "%s[%zu] is not an integer", name, i);
    long long id = json_integer_value(item);
    bool inside = id >= 0 && id < at->samples->vocab_size;
    if (!inside && !(ignorable && id == IGNORED))
        return LINE_FAIL(at, "%s[%zu] is %lld, outside the vocabulary; model.vocab_size is %lld",
                         name, i, id, (long long)at->samples->vocab_size);
    *value = (int32_t)id;
    return true;
}

static bool ids_add(const Line *at, const json_t *ids, const json_t *labels) {
    size_t count = json_array_size(ids);
    if (!json_is_array(ids) || (labels && !json_is_array(labels)))
        return LINE_FAIL(at, "%s", "input_ids and labels must be arrays of integers");
    if (labels && json_array_size(labels) != count)
        return LINE_FAIL(at, "labels has %zu elements, input_ids has %zu; they must be as many",
                         json_array_size(labels), count);
    for (size_t i = 0; i < count; i++) {
        int32_t id, label;
        if (!token_value(at, ids, "input_ids", i, false, &id))
            return false;
        label = id;
        if (labels && !token_value(at, labels, "labels", i, true, &label))
            return false;
        token_add(at->samples, id, label);
    }
    return true;
}

static bool object_add(const Line *at, const json_t *object) {
    const json_t *ids = json_object_get(object, "input_ids");
    const json_t *text = json_object_get(object, "text");
    const json_t *prompt = json_object_get(object, "prompt");
    const json_t *completion = json_object_get(object, "completion");
    int64_t start = at->samples->tokens;
    bool ok;
    if (!!ids + !!text + (prompt || completion) != 1)
        ok =
            LINE_FAIL(at, "%s", "a sample has either input_ids, or text, or prompt and completion");
    else if (ids)
        ok = ids_add(at, ids, json_object_get(object, "labels"));
    else if (json_is_string(text))
        ok = bytes_add(at, text, true);
    else if (json_is_string(prompt) && json_is_string(completion))
        ok = bytes_add(at, prompt, false) && bytes_add(at, completion, true);
    else
        ok = LINE_FAIL(at, "%s",
                       text ? "text must be a string"
                            : "prompt and completion must both be there, as strings");
    return ok && sample_add(at, start);
}

static bool is_blank(const char *line, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r", line[i]) || line[i] == '\0')
            return false;
    return true;
}

static bool line_add(const Line *at, const char *line, size_t size) {
    if (is_blank(line, size))
        return true;
    json_error_t reason;
    json_t *object = json_loadb(line, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &reason);
    if (!object)
        return LINE_FAIL(at, "not JSON at column %d: %s", reason.column, reason.text);
    bool ok = json_is_object(object)
                  ? object_add(at, object)
                  : LINE_FAIL(at, "%s", "each line must be one object, as {\"text\": \"...\"}");
    json_decref(object);
    return ok;
}

bool samples_read(Samples *samples, const char *path, const uint8_t *bytes, size_t size,
                  DataError *error) {
    Line at = {samples, path, 0, error};
    const char *next = (const char *)bytes, *end = next + size;
    if (size >= 3 && memcmp(next, "\xEF\xBB\xBF", 3) == 0) /* a byte-order mark says nothing */
        next += 3;
    while (next < end) {
        const char *newline = memchr(next, '\n', (size_t)(end - next));
        const char *stop = newline ? newline : end;
        at.line++;
        if (!line_add(&at, next, (size_t)(stop - next)))
            return false;
        next = stop + (newline != NULL);
    }
    return true;
}

void samples_free(Samples *samples) {
    free(samples->ids);
    free(samples->labels);
    free(samples->items);
    *samples = (Samples){0};
}
