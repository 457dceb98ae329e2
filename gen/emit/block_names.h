/* Names of the functions that an entry is cut into. */
#ifndef EMIT_BLOCK_NAMES_H
#define EMIT_BLOCK_NAMES_H

#include "emit/blocks.h"
#include "emit/labels.h"

/* Gives each block its name and contents; of_block has its launches. */
void name_blocks(const Labels *, const Group *of_block, Blocks *);

#endif
