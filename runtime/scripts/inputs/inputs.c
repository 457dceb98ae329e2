/* Prints the hash of what a program reads, as the program records it (data_hash.h), from a resolved
 * spec. Prints nothing if a file is missing.
 *
 *     gpuopt-gen --print-spec SPEC | build/inputs
 *     build/inputs <PROGRAM/spec.toml */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"
#include "runtime/data/data_hash.h"

typedef struct {
    RtData data;
    StartWeights weights;
    bool in_data; /* the line is in [data] */
} Spec;

static char *copy_of(const char *text, size_t length) {
    char *copy = rt_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

/* Returns what follows the key, or NULL if the line has another one. */
static const char *value_of(const char *line, const char *key) {
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && strncmp(line + length, " = ", 3) == 0
               ? line + length + 3
               : NULL;
}

/* Lists and strings are written as in JSON; a comment may follow. */
static void read_list(const char *text, const char *const **items, int *count) {
    json_t *list = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    const char **read = rt_alloc((json_array_size(list) + 1) * sizeof *read);
    *count = (int)json_array_size(list);
    for (int i = 0; i < *count; i++) {
        json_t *item = json_array_get(list, (size_t)i);
        read[i] = copy_of(json_string_value(item), json_string_length(item));
    }
    *items = read;
    json_decref(list);
}

static RtDataFormat format_of(const char *text) {
    static const char *const names[] = {
        [RT_DATA_TEXT] = "\"text\"",           [RT_DATA_JSONL] = "\"jsonl\"",
        [RT_DATA_TOKENS] = "\"tokens\"",       [RT_DATA_SYNTHETIC] = "\"synthetic\"",
        [RT_DATA_IDX] = "\"idx\"",             [RT_DATA_IMAGE_FOLDER] = "\"image_folder\""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return (RtDataFormat)i;
    rt_fail("data.format is unknown: %s", text);
}

static void read_line(Spec *spec, const char *line) {
    static const char model[] = "# starts from ";
    const char *value;
    if (line[0] == '[')
        spec->in_data = strcmp(line, "[data]") == 0;
    else if (strncmp(line, model, strlen(model)) == 0)
        spec->weights.model = copy_of(line + strlen(model), strlen(line) - strlen(model));
    else if (!spec->in_data)
        return;
    else if ((value = value_of(line, "format")))
        spec->data.format = format_of(value);
    else if ((value = value_of(line, "train")))
        read_list(value, &spec->data.train, &spec->data.train_count);
    else if ((value = value_of(line, "validation")))
        read_list(value, &spec->data.validation, &spec->data.validation_count);
}

int main(void) {
    Spec spec = {.data = {.format = RT_DATA_TEXT}};
    char *line = NULL, hex[SHA256_HEX_SIZE];
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        read_line(&spec, line);
    }
    free(line);
    if (data_hash(&spec.data, spec.weights, hex))
        puts(hex);
    return 0;
}
