/* The data in program.c for the runtime: `program`, an RtProgram, and the tables that it points
 * to. */
#ifndef EMIT_EMIT_SETTINGS_H
#define EMIT_EMIT_SETTINGS_H

#include "base/strbuf.h"
#include "emit/places.h"

void emit_settings(const Places *, StrBuf *out);

#endif
