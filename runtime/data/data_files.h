/* Which files a data key means, their bytes, and how a reader says what is wrong with them. */
#ifndef GPUOPT_DATA_FILES_H
#define GPUOPT_DATA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct {
    char *text;
    size_t size;
} DataError;

/* Leaves the sentence and returns false, so that callers can return it. */
bool data_fail(DataError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts more behind the sentence. */
void data_add(DataError *error, const char *more);

typedef struct {
    char **paths;
    int count;
} FileList;

/* Files, folders (all files below whose name ends in `suffix`, hidden ones left out) and globs, in
 * the order given; what a folder or glob stands for is sorted bytewise, so that no locale and no
 * file system changes the data. A pattern that matches nothing is an error. */
bool files_expand(const char *const *patterns, int count, const char *suffix, FileList *files,
                  DataError *error);
void files_free(FileList *files);

/* All that lies below a folder, whatever it is; the folders in a folder, links to folders too.
 * Sorted bytewise, hidden ones left out. */
bool folder_list(const char *folder, FileList *files, DataError *error);
bool subfolder_list(const char *folder, FileList *folders, DataError *error);

/* The whole file, to be freed by the caller; empty files give size 0 and a non-NULL pointer. */
bool file_read(const char *path, uint8_t **bytes, size_t *size, DataError *error);

/* The whole file, mapped, for those that may be larger than memory; an empty one gives size 0 and NULL,
 * as a failure does. The path must outlive it. */
typedef struct {
    uint8_t *bytes;
    size_t size;
    const char *path;
    struct stat info; /* as it was */
} FileMap;
bool file_map(const char *path, FileMap *map, DataError *error);
void file_unmap(FileMap *map);
/* False: somebody has written to it since, and what was checked no longer holds. Another file in its
 * place is none of the map's. */
bool file_is_as_mapped(const FileMap *map, DataError *error);

#endif
