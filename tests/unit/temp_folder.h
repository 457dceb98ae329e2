/* A folder for the files of a test program: made before its tests, removed after them. */
#ifndef TESTS_UNIT_TEMP_FOLDER_H
#define TESTS_UNIT_TEMP_FOLDER_H

#include <stddef.h>

/* For cmocka_run_group_tests. */
int make_temp_folder(void **state);
int remove_temp_folder(void **state);

/* Returns a path in the folder, valid for the next seven calls; makes its folders. "" is the
 * folder. */
const char *temp_path(const char *name);
/* Writes a file there; returns its path, valid as long as temp_path's. */
const char *temp_file(const char *name, const void *bytes, size_t size);

#endif
