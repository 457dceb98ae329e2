#ifndef EMIT_SHARE_FUNCTIONS_H
#define EMIT_SHARE_FUNCTIONS_H

#include "emit/blocks.h"

/* Finds the functions of later entries that have the same text as one of an earlier entry. */
void share_functions(Arena *, const Plan *, Blocks blocks[ENTRY_COUNT]);

#endif
