/* Specs in a private folder of the test program, and the errors from reading them. */
#ifndef TESTS_UNIT_SPEC_FILES_H
#define TESTS_UNIT_SPEC_FILES_H

#include "spec/spec.h"

#include <setjmp.h>
#include <stdbool.h>

/* The arena for reading specs; clean frees it. */
extern Arena arena;
extern jmp_buf spec_error;

void begin_catch(void);
void end_catch(void);
/* Runs the call; true if it ended in a user_error, whose message assert_says checks. An unexpected
 * user_error fails the test. */
#define FAILS(call) \
    (begin_catch(),  \
     setjmp(spec_error) ? (end_catch(), true) : ((void)(call), end_catch(), false))
void assert_says(const char *text);
void assert_says_nothing(void);

/* For cmocka_run_group_tests, and after each test. */
int enter_folder(void **state);
int leave_folder(void **state);
int clean(void **state);

void write_text(const char *path, const char *text);
/* before, [model], more model keys, the rest, after */
void write_spec(const char *path, const char *before, const char *model, const char *after);
extern const char MODEL[];

Spec *read_plain(const char *path);

#endif
