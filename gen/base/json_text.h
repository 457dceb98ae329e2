/* JSON for other tools. These consume the value; one that cannot be printed is an internal fault. */
#pragma once
#include "base/arena.h"
#include "base/strbuf.h"
#include <jansson.h>

/* Returns indented JSON with sorted keys and the fewest digits that read back as the same number:
 * 1e-5. */
const char *json_text(Arena *, json_t *value);
/* Appends indented JSON with keys in their order and numbers of 12 digits. */
void sb_put_json(StrBuf *, json_t *value);
