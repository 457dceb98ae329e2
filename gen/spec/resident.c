/* Decides whether the device can keep the whole data set. Counts the images by the headers of IDX
 * files, plain or compressed by gzip, or by the entries of image folders. If they cannot be
 * counted, each batch is sent. */
#include "spec/resolve.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { IMAGES_MAGIC = 2051, HEADER_BYTES = 16 };

/* Opens only regular files: opening a pipe must not wait for a writer. */
static gzFile open_regular(const char *path, const char **why) {
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &info))
        *why = strerror(errno);
    else if (!S_ISREG(info.st_mode))
        *why = "it is not a regular file";
    gzFile file = *why ? NULL : gzdopen(descriptor, "rb");
    if (!file && descriptor >= 0)
        close(descriptor);
    if (!file && !*why)
        *why = "out of memory";
    return file;
}

static const char *read_header(const char *path, unsigned char header[HEADER_BYTES]) {
    const char *why = NULL;
    gzFile file = open_regular(path, &why);
    if (!file)
        return why;
    int got = gzread(file, header, HEADER_BYTES);
    gzclose_r(file);
    return got == HEADER_BYTES ? NULL : "it has no IDX header";
}

static int64_t big_endian(const unsigned char *bytes) {
    return (int64_t)bytes[0] << 24 | (int64_t)bytes[1] << 16 | (int64_t)bytes[2] << 8 | bytes[3];
}

/* Adds the images of one file. Returns why they cannot be counted, or NULL. */
static const char *add_file(Arena *arena, Spec *spec, const char *path, Pos at) {
    unsigned char header[HEADER_BYTES];
    const char *why = read_header(path, header);
    if (!why && big_endian(header) != IMAGES_MAGIC)
        why = "it holds no IDX images";
    if (why)
        return arena_printf(arena, "the images of %s cannot be counted: %s", path, why);
    int64_t count = big_endian(header + 4);
    int64_t height = big_endian(header + 8), width = big_endian(header + 12);
    if (!count || !height || !width)
        user_error(at, "name another file, or download this one again",
                   "%s holds no images: its header says %lld of %lld x %lld", path,
                   (long long)count, (long long)height, (long long)width);
    if (height != spec->data.image_height || width != spec->data.image_width)
        user_error(at,
                   arena_printf(arena, "set data.image_height = %lld and data.image_width = %lld",
                                (long long)height, (long long)width),
                   "the images of %s are %lld x %lld, but data.image_height x data.image_width is "
                   "%lld x %lld",
                   path, (long long)height, (long long)width, (long long)spec->data.image_height,
                   (long long)spec->data.image_width);
    spec->stored_images += count;
    return NULL;
}

/* Returns the files that match a pattern, in the arena because the caller may not return. */
static const char **expand(Arena *arena, const char *pattern, size_t *count) {
    glob_t found = {0};
    *count = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;
    const char **paths = arena_array(arena, *count, sizeof *paths);
    for (size_t i = 0; i < *count; i++)
        paths[i] = arena_strdup(arena, found.gl_pathv[i]);
    globfree(&found);
    return paths;
}

static const char *add_pattern(Arena *arena, Spec *spec, const char *pattern, Pos at) {
    size_t count;
    const char **paths = expand(arena, pattern, &count), *why = NULL;
    if (count == 0)
        return arena_printf(arena, "the images of %s cannot be counted: no such file", pattern);
    for (size_t i = 0; i < count && !why; i++)
        why = add_file(arena, spec, paths[i], at);
    return why;
}

/* Returns the most images whose pixels can be counted in 32 bits, on the device too. */
static int64_t most_images(const Spec *spec) {
    return INT32_MAX / (spec->data.image_height * spec->data.image_width);
}

static const char *add_folder(Arena *arena, Spec *spec, const char *root) {
    int64_t count = image_folder_count(root, most_images(spec));
    spec->stored_images += count;
    return count ? NULL : arena_printf(arena, "no image was found in the folders of %s", root);
}

static const char *count_images(Arena *arena, Spec *spec) {
    const Strings *lists[] = {&spec->data.train, &spec->data.validation};
    bool idx = spec->data.format == DATA_IDX;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < lists[i]->count; j++) {
            const char *path = lists[i]->items[j];
            const char *why = idx ? add_pattern(arena, spec, path, lists[i]->at[j])
                                  : add_folder(arena, spec, path);
            if (why)
                return why;
        }
    return spec->stored_images > most_images(spec)
               ? "the images have more than 2^31 - 1 pixels in all"
               : NULL;
}

void check_resident(Arena *arena, Spec *spec) {
    Resident wanted = spec->data.device_resident;
    const char *why = "data.device_resident = false";
    if (!spec_effective(spec, KEY_data_device_resident))
        why = arena_printf(arena, "data.device_resident needs %s",
                           key_info[KEY_data_device_resident].condition);
    else if (wanted == RESIDENT_AUTO && spec->data.format == DATA_IMAGE_FOLDER)
        why = "decoding a whole folder before the first step needs data.device_resident = true";
    else if (wanted != RESIDENT_FALSE)
        why = count_images(arena, spec);
    if (why) {
        if (wanted == RESIDENT_TRUE && spec_effective(spec, KEY_data_device_resident))
            user_error(spec_pos(spec, KEY_data_device_resident),
                       "check data.train and data.validation, or remove the key to send each batch",
                       "data.device_resident = true, but %s", why);
        spec->stored_images = 0;
        spec->data.device_resident = RESIDENT_FALSE;
    }
    spec->resident_why = why                       ? why
                         : wanted == RESIDENT_TRUE ? "data.device_resident = true"
                                                   : "data.device_resident = \"auto\"";
}

const Spec *spec_settle_resident(Arena *arena, const Spec *spec, bool resident, const char *why) {
    Spec *settled = arena_alloc(arena, sizeof *settled);
    *settled = *spec;
    settled->data.device_resident = resident ? RESIDENT_TRUE : RESIDENT_FALSE;
    settled->resident_why = why;
    return settled;
}
