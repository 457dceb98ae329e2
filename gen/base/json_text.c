#include "base/json_text.h"
#include "base/diag.h"
#include <stdbool.h>
#include <stdlib.h>

const char *json_text(Arena *arena, json_t *value) {
    char *text = NULL;
    bool same = false;
    for (size_t digits = 15; !same && digits <= 17; digits++) {
        free(text);
        text = json_dumps(value, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(digits));
        ENSURE(text, "a value does not print as JSON");
        json_t *read = json_loads(text, 0, NULL);
        same = json_equal(read, value);
        json_decref(read);
    }
    const char *copy = arena_strdup(arena, text);
    free(text);
    json_decref(value);
    return copy;
}

void sb_put_json(StrBuf *out, json_t *value) {
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    ENSURE(text, "a value does not print as JSON");
    sb_printf(out, "%s\n", text);
    free(text);
    json_decref(value);
}
