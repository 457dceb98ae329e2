/* A folder for the files of a test program: made before its tests, removed after them. */
#ifndef TESTS_UNIT_TEMP_FOLDER_H
#define TESTS_UNIT_TEMP_FOLDER_H

#include <stddef.h>

/* For cmocka_run_group_tests. */
int make_temp_folder(void **state);
int remove_temp_folder(void **state);

/* A path in it, valid until the eighth next call; the folders on the way are made. "" is itself. */
const char *temp_path(const char *name);
/* Writes a file there; gives its path, valid as long as temp_path's. */
const char *temp_file(const char *name, const void *bytes, size_t size);

#endif
