/* What may end its process, run in a process of its own. */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <stddef.h>

/* Returns the status that waitpid() gives: exit code 0 if `run` returns. What it writes to stderr is in
 * `said`, cut to `size` - 1 characters. */
int child_run(void (*run)(const void *argument), const void *argument, char *said, size_t size);

#endif
