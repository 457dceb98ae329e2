/* JSON for other tools. */
#pragma once
#include <jansson.h>

/* Returns indented JSON with sorted keys and the fewest digits that read back as the same number:
 * 1e-5. The caller frees it. */
char *json_text(const json_t *value);
