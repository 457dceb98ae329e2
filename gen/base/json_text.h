/* JSON that other tools read. */
#pragma once
#include <jansson.h>

/* Indented, keys in order, numbers with no more digits than read back as the same: 1e-5. The
 * caller frees it. */
char *json_text(const json_t *value);
