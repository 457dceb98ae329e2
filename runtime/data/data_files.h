/* Finds the files that a data key names, reads or maps them, and reports errors in them. */
#ifndef GPUOPT_DATA_FILES_H
#define GPUOPT_DATA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "runtime/runtime.h"

typedef struct {
    char *text;
    size_t size;
} DataError;

/* Writes the message and returns false, so that callers can return the result. */
bool data_fail(DataError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends to the message. */
void data_add(DataError *error, const char *more);

typedef struct {
    char **paths;
    int count;
} FileList;

/* Expands files, folders (all files below whose names end in `suffix`, except hidden ones) and
 * globs, in the order given; a name that exists is no glob. The files of a folder or glob are
 * sorted bytewise, so that neither the locale nor the file system changes the data. A pattern that
 * matches nothing is an error. */
bool files_expand(const char *const *patterns, int count, const char *suffix, FileList *files,
                  DataError *error);
void files_free(FileList *files);

/* Which files of a folder are of a format: the ending of their names. */
const char *data_suffix(RtDataFormat format);

/* Finds the labels of an IDX file of images, compressed or not, by its name. */
bool labels_find(const char *path, char *labels, size_t size, DataError *error);

/* Whether the loader takes it for a picture: .jpg, .jpeg or .png. */
bool is_image_name(const char *path);
/* folder_list() lists everything below a folder, folders included; subfolder_list() lists the
 * folders directly in it, including links to folders. Both sort bytewise and skip hidden names. */
bool folder_list(const char *folder, FileList *files, DataError *error);
bool subfolder_list(const char *folder, FileList *folders, DataError *error);

/* Reads the whole file; the caller frees the bytes. An empty file gives size 0 and a non-NULL
 * pointer. */
bool file_read(const char *path, uint8_t **bytes, size_t *size, DataError *error);

/* The whole file, mapped, for files that may be larger than memory. An empty file gives size 0 and
 * NULL, as does a failure. The path must outlive the map. */
typedef struct {
    uint8_t *bytes;
    size_t size;
    const char *path;
    struct stat info; /* when it was mapped */
} FileMap;
bool file_map(const char *path, FileMap *map, DataError *error);
void file_unmap(FileMap *map);
/* Returns false if the file was written to since it was mapped, so that earlier checks no longer
 * hold. A different file that has taken its place does not count. */
bool file_is_as_mapped(const FileMap *map, DataError *error);

#endif
