/* Limits of the generated code that checks of the spec need too. */
#pragma once

/* The largest side of a window that scalar steps unroll, position by position. */
enum { WIDEST_WINDOW = 7 };
