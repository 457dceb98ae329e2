/* A folder of JPEG and PNG files with one sub-folder per class. Classes are numbered in the sorted
 * order of the sub-folders' names. */
#include "runtime/data/data_images.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "runtime/base/rt.h"

/* ---- listing the files ----------------------------------------------------------------------- */

static void add(ImageFolder *folder, const char *path, int32_t label) {
    if (folder->count == folder->capacity) {
        folder->capacity = folder->capacity ? 2 * folder->capacity : 1024;
        folder->files = realloc(folder->files, sizeof *folder->files * (size_t)folder->capacity);
        if (!folder->files)
            rt_fail("no memory for the names of images");
    }
    ImageFile *file = &folder->files[folder->count++];
    file->label = label;
    file->path = strdup(path);
    if (!file->path)
        rt_fail("no memory for the names of images");
}

static bool add_class(ImageFolder *folder, const char *path, int32_t label, DataError *error) {
    FileList files;
    int64_t before = folder->count;
    if (!folder_list(path, &files, error))
        return false;
    for (int i = 0; i < files.count; i++)
        if (is_image_name(files.paths[i]))
            add(folder, files.paths[i], label);
    files_free(&files);
    if (folder->count > before)
        return true;
    return data_fail(error,
                     "%s: this class has no image (*.jpg, *.jpeg, *.png); add some or "
                     "remove the folder",
                     path);
}

static bool list_classes(const char *root, FileList *classes, DataError *error) {
    if (!subfolder_list(root, classes, error))
        return false;
    if (classes->count)
        return true;
    return data_fail(error, "%s: has no sub-folders; put the images of each class in a sub-folder",
                     root);
}

/* All folders of a run must have the same classes. */
static bool same_classes(ImageFolder *folder, const char *root, const FileList *classes,
                         DataError *error) {
    FileList *first = folder->classes;
    bool same = classes->count == first->count;
    for (int i = 0; same && i < classes->count; i++)
        same = strcmp(strrchr(classes->paths[i], '/'), strrchr(first->paths[i], '/')) == 0;
    return same || data_fail(error,
                             "%s: its %d class folders have different names than the %d "
                             "next to %s; all data must have the same classes",
                             root, classes->count, first->count, first->paths[0]);
}

static bool check_class_count(const char *root, const FileList *classes, const RtImages *shape,
                              DataError *error) {
    if (classes->count == shape->classes)
        return true;
    return data_fail(error,
                     "%s: has %d class folders, but model.num_classes is %lld; give each class "
                     "its folder, or set model.num_classes",
                     root, classes->count, (long long)shape->classes);
}

static bool add_root(ImageFolder *folder, const char *root, const FileList *classes,
                     const RtImages *shape, DataError *error) {
    bool ok = check_class_count(root, classes, shape, error) &&
              (!folder->classes->count || same_classes(folder, root, classes, error));
    for (int i = 0; ok && i < classes->count; i++)
        ok = add_class(folder, classes->paths[i], i, error);
    return ok;
}

bool folder_add(ImageFolder *folder, const char *root, const RtImages *shape, DataError *error) {
    FileList classes;
    if (!list_classes(root, &classes, error))
        return false;
    bool ok = add_root(folder, root, &classes, shape, error);
    if (folder->classes->count)
        files_free(&classes);
    else
        *folder->classes = classes;
    return ok;
}

void folder_free(ImageFolder *folder) {
    for (int64_t i = 0; i < folder->count; i++)
        free(folder->files[i].path);
    free(folder->files);
    *folder = (ImageFolder){0};
}

/* ---- one image ------------------------------------------------------------------------------- */

/* Opening a pipe would block until something writes to it. */
static bool check_regular(const char *path, DataError *error) {
    struct stat info;
    if (stat(path, &info))
        return data_fail(error, "%s: cannot be opened: %s", path, strerror(errno));
    return S_ISREG(info.st_mode) || data_fail(error, "%s: is no regular file", path);
}

Box picture_part(const Picture *picture, const RtImages *shape, const uint64_t *key) {
    RtImages whole = *shape;
    if (!key)
        return picture_largest(picture, shape);
    whole.height = picture->height, whole.width = picture->width;
    return box_draw(&whole, *key);
}

/* Returns how often the part can be halved without becoming smaller than the raw image. */
static int halvings_of(const Box *part, const RtImages *shape) {
    int n = 0;
    while (n < MOST_HALVINGS && part->height >> (n + 1) >= shape->height &&
           part->width >> (n + 1) >= shape->width)
        n++;
    return n;
}

static bool read_raw(const PictureFile *file, const RtImages *shape, const uint64_t *key,
                     uint8_t *raw, DataError *error) {
    Picture picture;
    if (!picture_measure(&picture, file, error))
        return false;
    Box part = picture_part(&picture, shape, key);
    int halvings = shape->decode_scaled ? halvings_of(&part, shape) : 0;
    if (!picture_decode(&picture, file, shape->channels, halvings, error))
        return false;
    picture_cut(&picture, &part, shape->height, shape->width, raw);
    picture_free(&picture);
    return true;
}

static bool put_in_slot(const PictureFile *file, const RtImages *shape, const uint64_t *key,
                        uint8_t *slot, DataError *error) {
    const SlotHead head = {.kind = SLOT_SAMPLES};
    if (slot_put_jpeg(file, shape, key, slot))
        return true;
    memcpy(slot, &head, sizeof head);
    return read_raw(file, shape, key, slot + SLOT_HEAD, error);
}

typedef bool UseFile(const PictureFile *file, const RtImages *shape, const uint64_t *key,
                     uint8_t *to, DataError *error);

static bool with_file(const ImageFolder *folder, int64_t at, UseFile *use, const RtImages *shape,
                      const uint64_t *key, uint8_t *to, DataError *error) {
    const char *path = folder->files[at].path;
    uint8_t *bytes;
    size_t size;
    if (!check_regular(path, error) || !file_read(path, &bytes, &size, error))
        return false;
    bool ok = use(&(PictureFile){path, bytes, size}, shape, key, to, error);
    free(bytes);
    return ok;
}

bool folder_read(const ImageFolder *folder, int64_t at, const RtImages *shape, const uint64_t *key,
                 uint8_t *raw, DataError *error) {
    return with_file(folder, at, read_raw, shape, key, raw, error);
}

bool folder_put(const ImageFolder *folder, int64_t at, const RtImages *shape, const uint64_t *key,
                uint8_t *slot, DataError *error) {
    return with_file(folder, at, put_in_slot, shape, key, slot, error);
}

/* ---- leaving out broken images --------------------------------------------------------------- */

typedef struct {
    const ImageFolder *folder;
    const RtImages *shape;
    char **problems; /* [count] error messages; NULL: the image is good */
} Check;

static void check_image(int64_t i, void *context) {
    Check *check = context;
    char text[1024] = "";
    uint8_t *raw = rt_alloc(raw_bytes(check->shape));
    if (!folder_read(check->folder, i, check->shape, NULL, raw, &(DataError){text, sizeof text}))
        check->problems[i] = strdup(text);
    free(raw);
}

int64_t folder_skip_broken(ImageFolder *folder, const RtImages *shape, int64_t threads) {
    enum { TOLD = 5 };
    Check check = {.folder = folder, .shape = shape};
    check.problems = rt_alloc(sizeof *check.problems * (size_t)(folder->count + 1));
    each_in_parallel(folder->count, threads, check_image, &check);
    int64_t kept = 0, skipped = 0;
    for (int64_t i = 0; i < folder->count; i++) {
        if (!check.problems[i]) {
            folder->files[kept++] = folder->files[i];
            continue;
        }
        if (skipped++ < TOLD)
            rt_warn("%s; left out", check.problems[i]);
        free(check.problems[i]);
        free(folder->files[i].path);
    }
    free(check.problems);
    folder->count = kept;
    return skipped;
}
