/* JSON lines: one sample or one pair per line. A sample has one of three forms:
 *
 *     {"input_ids": [5, 6, 7], "labels": [-100, 6, 7]}    labels as in Hugging Face; optional
 *     {"text": "..."}                                     bytes as tokens
 *     {"prompt": "...", "completion": "..."}              bytes; the prompt has no targets
 *
 * A pair has one of two forms. It becomes two samples, prompt + chosen and prompt + rejected:
 *
 *     {"prompt": "...", "chosen": "...", "rejected": "..."}
 *     {"prompt_ids": [5, 6], "chosen_ids": [7], "rejected_ids": [8, 9]}
 *
 * Other members, blank lines and a byte-order mark at the start of the file are ignored. */
#include "runtime/data/data_rows.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static bool bytes_add(const SamplePlace *at, const json_t *text, bool targets) {
    if (at->samples->vocab_size < 256)
        return SAMPLE_FAIL(at,
                           "text is read as bytes, which needs model.vocab_size = 256 or more; it "
                           "is %lld",
                           (long long)at->samples->vocab_size);
    at->samples->bytes = true;
    const char *bytes = json_string_value(text);
    for (size_t i = 0; i < json_string_length(text); i++) {
        int32_t id = (unsigned char)bytes[i];
        token_add(at->file, id, targets ? id : IGNORED);
    }
    return true;
}

/* An element of input_ids or labels. */
static bool token_value(const SamplePlace *at, const json_t *array, const char *name, size_t i,
                        bool ignorable, int32_t *value) {
    const json_t *item = json_array_get(array, i);
    if (!json_is_integer(item))
        return SAMPLE_FAIL(at, "%s[%zu] is not an integer", name, i);
    long long id = json_integer_value(item);
    bool inside = id >= 0 && id < at->samples->vocab_size;
    if (!inside && !(ignorable && id == IGNORED))
        return SAMPLE_FAIL(at, "%s[%zu] is %lld, outside the vocabulary; model.vocab_size is %lld",
                           name, i, id, (long long)at->samples->vocab_size);
    *value = (int32_t)id;
    return true;
}

static bool ids_add(const SamplePlace *at, const json_t *ids, const json_t *labels) {
    size_t count = json_array_size(ids);
    if (!json_is_array(ids) || (labels && !json_is_array(labels)))
        return SAMPLE_FAIL(at, "%s", "input_ids and labels must be arrays of integers");
    if (labels && json_array_size(labels) != count)
        return SAMPLE_FAIL(
            at, "labels has %zu elements, input_ids has %zu; they must have the same length",
            json_array_size(labels), count);
    for (size_t i = 0; i < count; i++) {
        int32_t id, label;
        if (!token_value(at, ids, "input_ids", i, false, &id))
            return false;
        label = id;
        if (labels && !token_value(at, labels, "labels", i, true, &label))
            return false;
        token_add(at->file, id, label);
    }
    return true;
}

/* ---- lines that other tools read ------------------------------------------------------------- */

/* Returns whether a chat template makes text of the line, as in chat_template.py. */
static bool is_conversation(const json_t *object) {
    static const char *const names[] = {"prompt", "completion", "chosen", "rejected"};
    bool found = json_object_get(object, "messages") != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= json_is_array(json_object_get(object, names[i]));
    return found;
}

static bool refuse_conversation(const SamplePlace *at) {
    return SAMPLE_FAIL(at, "%s",
                       "has messages: runtime/data/tokenize_jsonl.py applies the model's chat "
                       "template and makes token shards (data.format = \"tokens\")");
}

typedef struct {
    char text[200];
} Names;

/* Lists the names of the line's members, as many as have room. */
static Names names_in(const json_t *object) {
    Names names = {""};
    size_t length = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        const char *between = length ? ", " : "";
        size_t size = strlen(between) + strlen(name), room = sizeof names.text - length;
        bool fits = size + sizeof ", ..." <= room;
        snprintf(names.text + length, room, "%s%s", between, fits ? name : "...");
        if (!fits)
            break;
        length += size;
    }
    for (char *c = names.text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return names.text[0] ? names : (Names){"no members"};
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool refuse_forms(const SamplePlace *at, const json_t *object, int forms) {
    if (forms == 0 && is_conversation(object))
        return refuse_conversation(at);
    return SAMPLE_FAIL(at,
                       "a sample has either input_ids, or text, or prompt and completion, but this "
                       "line has %s: %s",
                       names_in(object).text,
                       forms ? "leave out all but one of them" : "write them as one of these");
}

static bool sample_read(const SamplePlace *at, const json_t *object) {
    const json_t *ids = json_object_get(object, "input_ids");
    const json_t *text = json_object_get(object, "text");
    const json_t *prompt = json_object_get(object, "prompt");
    const json_t *completion = json_object_get(object, "completion");
    int64_t start = at->file->tokens;
    int forms = !!ids + !!text + (prompt || completion);
    bool ok;
    if (forms != 1)
        ok = refuse_forms(at, object, forms);
    else if (ids)
        ok = ids_add(at, ids, json_object_get(object, "labels"));
    else if (json_is_string(text))
        ok = bytes_add(at, text, true);
    else if (json_is_string(prompt) && json_is_string(completion))
        ok = bytes_add(at, prompt, false) && bytes_add(at, completion, true);
    else if (!text && is_conversation(object))
        ok = refuse_conversation(at);
    else
        ok = SAMPLE_FAIL(at, "%s",
                         text ? "text must be a string"
                              : "prompt and completion must both be there, as strings");
    return ok && sample_add(at, start, at->file->tokens);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static const char *const id_fields[] = {"prompt_ids", "chosen_ids", "rejected_ids"};

static bool part_add(const SamplePlace *at, const json_t *part, const char *name, bool targets) {
    if (json_is_string(part))
        return bytes_add(at, part, targets);
    for (size_t i = 0; i < json_array_size(part); i++) {
        int32_t id;
        if (!token_value(at, part, name, i, false, &id))
            return false;
        token_add(at->file, id, targets ? id : IGNORED);
    }
    return true;
}

static bool pair_fields(const SamplePlace *at, const json_t *object, const char *const *names,
                        const json_t **parts) {
    for (int i = 0; i < PAIR_FIELDS; i++) {
        parts[i] = json_object_get(object, names[i]);
        bool fits = names == pair_text_fields ? json_is_string(parts[i]) : json_is_array(parts[i]);
        if (!fits && names == pair_text_fields && is_conversation(object))
            return refuse_conversation(at);
        if (!parts[i])
            return SAMPLE_FAIL(at, "%s is missing; a pair has %s, %s and %s, and this line has %s",
                               names[i], names[PAIR_PROMPT], names[PAIR_CHOSEN],
                               names[PAIR_REJECTED], names_in(object).text);
        if (!fits)
            return SAMPLE_FAIL(at, "%s must be %s", names[i],
                               names == pair_text_fields ? "a string" : "an array of integers");
    }
    return true;
}

static bool pair_read(const SamplePlace *at, const json_t *object) {
    const char *const *names =
        json_object_get(object, id_fields[PAIR_CHOSEN]) ? id_fields : pair_text_fields;
    const json_t *parts[PAIR_FIELDS];
    int64_t begin[PAIR_FIELDS] = {0};
    if (!pair_fields(at, object, names, parts))
        return false;
    for (int i = PAIR_CHOSEN; i <= PAIR_REJECTED; i++) {
        begin[i] = at->file->tokens;
        if (!part_add(at, parts[PAIR_PROMPT], names[PAIR_PROMPT], false) ||
            !part_add(at, parts[i], names[i], true))
            return false;
    }
    return pair_add(at, begin[PAIR_CHOSEN], begin[PAIR_REJECTED], at->file->tokens, names);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_blank(const char *line, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\r", line[i]) || line[i] == '\0')
            return false;
    return true;
}

static bool line_add(const SamplePlace *at, const char *line, size_t size) {
    if (is_blank(line, size))
        return true;
    json_error_t reason;
    json_t *object = json_loadb(line, size, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &reason);
    if (!object)
        return SAMPLE_FAIL(at, "not JSON at column %d: %s", reason.column, reason.text);
    bool ok = !json_is_object(object)
                  ? SAMPLE_FAIL(at, "each line must be one object, as %s",
                                at->samples->pairs ? "{\"prompt\": \"...\", \"chosen\": \"...\", "
                                                     "\"rejected\": \"...\"}"
                                                   : "{\"text\": \"...\"}")
              : at->samples->pairs ? pair_read(at, object)
                                   : sample_read(at, object);
    json_decref(object);
    return ok;
}

bool lines_read(Samples *samples, const char *path, const uint8_t *bytes, size_t size,
                DataError *error) {
    SamplePlace at = {samples, samples_file(samples, path), 0, error};
    samples->mark = ":";
    const char *next = (const char *)bytes, *end = next + size;
    if (size >= 3 && memcmp(next, "\xEF\xBB\xBF", 3) == 0) /* skip a byte-order mark */
        next += 3;
    while (next < end) {
        const char *newline = memchr(next, '\n', (size_t)(end - next));
        const char *stop = newline ? newline : end;
        at.number++;
        if (!line_add(&at, next, (size_t)(stop - next)))
            return false;
        next = stop + (newline != NULL);
    }
    return true;
}
