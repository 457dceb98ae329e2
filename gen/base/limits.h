/* Limits of the generated code that checks of the spec need too. */
#pragma once

/* The largest side of a window that scalar steps unroll, position by position. */
enum { WIDEST_WINDOW = 7 };

/* The most rows of a matrix: kernels count them, rounded up to whole tiles, in an int. */
enum { MOST_ROWS = (1 << 30) - 1 };
