/* Diagnostics. A user's error ends in user_error (position, fact, remedy, exit 1), or is noted by
 * error_at if more errors can be reported with it; a bug of ours ends in internal_fault (abort).
 * Nothing else in the compiler ends the process. */
#pragma once
#include "base/pos.h"
#include <stdio.h>

/* Notes an error, to be printed as
 *     file:line:col: error: FACT
 *     the source line
 *         ^
 *       hint: REMEDY
 * together with all other noted errors, each once, sorted by file and line. hint may be NULL. Both
 * texts are copied. */
void error_at(Pos at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints what error_at noted and exits with 1; returns if it noted nothing. */
void exit_if_errors(void);
/* error_at, then exit_if_errors. */
_Noreturn void user_error(Pos at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void warn_at(Pos at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "internal fault" with the position in our source, and aborts. */
_Noreturn void internal_fault(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define ENSURE(condition, ...) \
    ((condition) ? (void)0 : internal_fault(__FILE__, __LINE__, __VA_ARGS__))

/* Registers the text of a file that is not on disk (a --set, a fuzzer's bytes), so that messages
 * can show its lines. Copies both; replaces an earlier text of the same name. */
void diag_source(const char *file, const char *text);
/* Frees all texts given to diag_source. */
void diag_forget_sources(void);

/* Returns "file:line:col" as messages print it, in one of two static buffers used in turn, so that
 * one printf may call it twice. */
const char *pos_text(Pos at);

/* The compiler as it was called, for commands that it prints, so that they can be typed as they are.
 * Hints write it as gpuopt-gen. */
extern const char *diag_command;
/* Called to exit after errors: exit(), unless a test or a fuzzer needs control back. Must not
 * return. */
extern void (*diag_exit)(int code);
/* Where messages go; NULL means stderr. */
extern FILE *diag_stream;
