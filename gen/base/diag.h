/* Diagnostics. A fault of the user's ends in user_error (exit 1, position, fact, remedy), or is noted
 * by error_at where more can be said of the same file; a fault of ours ends in internal_fault (abort).
 * Nothing else in the compiler leaves the process. */
#pragma once
#include "base/pos.h"
#include <stdio.h>

/* Notes an error, to be printed as
 *     file:line:col: error: FACT
 *     the source line
 *         ^
 *       hint: REMEDY
 * with all others of its kind: by file and line, each once. hint may be NULL; both texts are copied. */
void error_at(Pos at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints what error_at noted and exits 1; returns where it noted nothing. */
void exit_if_errors(void);
/* Both at once. */
_Noreturn void user_error(Pos at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void warn_at(Pos at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "internal fault (ours, not yours)" with the place in our source, and aborts. */
_Noreturn void internal_fault(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define ENSURE(condition, ...) \
    ((condition) ? (void)0 : internal_fault(__FILE__, __LINE__, __VA_ARGS__))

/* Gives diag the text of a file that is not on disk as such (a --set, a fuzzer's bytes), so that
 * messages can show its lines. Copies both; the same name again replaces. */
void diag_source(const char *file, const char *text);
/* Forgets every text that diag_source was given. */
void diag_forget_sources(void);

/* "file:line:col" as messages print it, in a static buffer that the next call overwrites twice
 * removed: two calls may stand in one printf. */
const char *pos_text(Pos at);

/* Errors leave through here: exit() unless a test or a fuzzer wants control back. The function
 * must not return. */
extern void (*diag_exit)(int code);
/* Where messages go; NULL means stderr. */
extern FILE *diag_stream;
