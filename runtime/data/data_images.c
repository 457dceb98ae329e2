/* Images as a kind of data: a row is one image with its class. */
#include "runtime/data/data_images.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"
#include "runtime/data/data_files.h"

/* What was read for one of the spec's two lists of files: either IDX files or folders. */
typedef struct {
    IdxSet idx;
    ImageFolder folder;
    int64_t count, skipped;
} Source;

/* Rows are numbered [0, train_rows) and [0, eval_rows). Without a validation list, the held-out
 * rows are drawn from the training files. The rows of a folder of validation images are in a drawn
 * order too: in that of the files, the first batches would all be of the first classes. Both draws
 * are the same for every seed. */
typedef struct {
    const RtData *data;
    const RtImages *shape;
    uint64_t seed;
    Source sources[LOADER_SPLITS];
    FileList classes; /* of folders */
    int64_t rows[LOADER_SPLITS];
    /* NULL: the program does not read it */
    const RtInput *pixels, *pictures, *labels, *indices, *boxes;
} ImageSet;

/* Make the draws for different purposes independent of each other. */
enum { HELD_OUT_KEY = 1, BOX_KEY = 2, VALIDATION_KEY = 3 };

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_idx(const ImageSet *set, Source *source, const char *const *paths, int count,
                     DataError *error) {
    FileList files;
    if (!files_expand(paths, count, "", &files, error))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < files.count; i++)
        ok = idx_read(&source->idx, files.paths[i], set->shape, error);
    source->count = source->idx.count;
    files_free(&files);
    return ok;
}

static bool open_folder(ImageSet *set, Source *source, const char *const *paths, int count,
                        DataError *error) {
    ImageFolder *folder = &source->folder;
    folder->classes = &set->classes;
    for (int i = 0; i < count; i++)
        if (!folder_add(folder, paths[i], set->shape, error))
            return false;
    if (set->shape->skip_broken)
        source->skipped = folder_skip_broken(folder, set->shape, set->data->num_workers);
    source->count = folder->count;
    return source->count || data_fail(error, "%s: no image is left that can be used", paths[0]);
}

static bool source_open(ImageSet *set, Source *source, const char *const *paths, int count,
                        DataError *error) {
    return set->data->format == RT_DATA_IDX ? open_idx(set, source, paths, count, error)
                                            : open_folder(set, source, paths, count, error);
}

static bool files_open(ImageSet *set, DataError *error) {
    const RtData *data = set->data;
    Source *train = &set->sources[LOADER_TRAIN], *eval = &set->sources[LOADER_EVAL];
    if (!source_open(set, train, data->train, data->train_count, error) ||
        (data->validation_count &&
         !source_open(set, eval, data->validation, data->validation_count, error)))
        return false;
    int64_t held_out =
        data->validation_count ? 0 : (int64_t)((double)train->count * data->eval_fraction);
    set->rows[LOADER_TRAIN] = train->count - held_out;
    set->rows[LOADER_EVAL] = data->validation_count ? eval->count : held_out;
    return true;
}

/* Checks that the files hold as many images as the device has room for. */
static bool check_dataset(const ImageSet *set, DataError *error) {
    const RtDataset *dataset = set->data->dataset;
    const Source *train = &set->sources[LOADER_TRAIN], *eval = &set->sources[LOADER_EVAL];
    int64_t count = train->count + train->skipped + eval->count + eval->skipped;
    if (!dataset || count == dataset->samples)
        return true;
    return data_fail(error,
                     "%s: there are %lld images in the files of this run, but there were %lld when "
                     "the program was generated; generate it again, or with "
                     "data.device_resident = false",
                     set->data->train[0], (long long)count, (long long)dataset->samples);
}

static bool open_rows(ImageSet *set, int64_t batch, DataError *error) {
    if (set->data->format != RT_DATA_SYNTHETIC)
        return files_open(set, error) && check_dataset(set, error);
    set->rows[LOADER_EVAL] = set->data->eval_batches * batch;
    return true;
}

static void images_close(void *context) {
    ImageSet *set = context;
    for (int split = 0; split < LOADER_SPLITS; split++) {
        idx_free(&set->sources[split].idx);
        folder_free(&set->sources[split].folder);
    }
    files_free(&set->classes);
    free(set);
}

static void *images_open(const RtProgram *program, uint64_t seed, DataError *error) {
    ImageSet *set = rt_alloc(sizeof *set);
    *set = (ImageSet){.data = &program->data,
                      .shape = program->data.images,
                      .seed = seed,
                      .pixels = program_input(program, "pixels"),
                      .pictures = program_input(program, "pictures"),
                      .labels = program_input(program, "labels"),
                      .indices = program_input(program, "indices"),
                      .boxes = program_input(program, "boxes")};
    if (open_rows(set, program->training.batch, error))
        return set;
    images_close(set);
    return NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t images_rows(const void *context, LoaderSplit split) {
    return ((const ImageSet *)context)->rows[split];
}

static int64_t images_targets(const void *context, LoaderSplit split, int64_t row) {
    (void)context, (void)split, (void)row;
    return 1;
}

/* Returns the source that holds a row's image, and the image's index there in *at. */
static const Source *source_of(const ImageSet *set, LoaderSplit split, int64_t row, int64_t *at) {
    const Source *train = &set->sources[LOADER_TRAIN], *eval = &set->sources[LOADER_EVAL];
    *at = row;
    if (set->data->validation_count && split == LOADER_EVAL && set->data->format != RT_DATA_IDX)
        *at = permute(row, eval->count, VALIDATION_KEY);
    if (set->data->validation_count)
        return &set->sources[split];
    if (set->rows[LOADER_EVAL] > 0)
        *at = permute(split == LOADER_TRAIN ? row : set->rows[LOADER_TRAIN] + row, train->count,
                      HELD_OUT_KEY);
    return train;
}

static uint64_t random_of(const ImageSet *set, LoaderSplit split, int64_t row) {
    return mix64(mix64(set->seed, (uint64_t)split), (uint64_t)row);
}

static void random_image(const ImageSet *set, uint64_t seed, uint8_t *raw) {
    size_t bytes = raw_bytes(set->shape);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t more = mix64(seed, i);
        size_t left = bytes - i;
        memcpy(raw + i, &more, left < sizeof more ? left : sizeof more);
    }
}

static int32_t label_of(const ImageSet *set, LoaderSplit split, int64_t row) {
    int64_t at;
    if (set->data->format == RT_DATA_SYNTHETIC)
        return (int32_t)(mix64(random_of(set, split, row), 0) % (uint64_t)set->shape->classes);
    const Source *source = source_of(set, split, row, &at);
    return set->data->format == RT_DATA_IDX ? source->idx.labels[at]
                                            : source->folder.files[at].label;
}

static bool or_leave_out(bool read, DataError *error) {
    if (!read)
        data_add(error, "; data.skip_broken = true leaves out such images");
    return read;
}

/* Returns a raw image: in memory already, or decoded into `room`; NULL on failure. */
static const uint8_t *stored_image(const ImageSet *set, const Source *source, int64_t at,
                                   uint8_t *room, DataError *error) {
    if (set->data->format == RT_DATA_IDX)
        return source->idx.pixels + (size_t)at * raw_bytes(set->shape);
    return or_leave_out(folder_read(&source->folder, at, set->shape, NULL, room, error), error)
               ? room
               : NULL;
}

/* The same for a row's image. */
static const uint8_t *raw_image(const ImageSet *set, LoaderSplit split, int64_t row, uint8_t *room,
                                DataError *error) {
    int64_t at;
    if (set->data->format == RT_DATA_SYNTHETIC) {
        random_image(set, random_of(set, split, row) + 1, room);
        return room;
    }
    const Source *source = source_of(set, split, row, &at);
    return stored_image(set, source, at, room, error);
}

/* Copies a raw image to `to` if it is not there yet. Returns false if `raw` is NULL. */
static bool copy_raw(const ImageSet *set, const uint8_t *raw, uint8_t *to) {
    if (raw && raw != to)
        memcpy(to, raw, raw_bytes(set->shape));
    return raw != NULL;
}

/* Depends only on the seed, the epoch and the image, not on the batch or the caller. */
static uint64_t box_key(const ImageSet *set, DataRow at) {
    return mix64(mix64(mix64(set->seed, BOX_KEY), (uint64_t)at.epoch), (uint64_t)at.row);
}

static Box box_of(const ImageSet *set, DataRow at) {
    return box_draw(set->shape, box_key(set, at));
}

/* Writes a part cut from the whole picture, which already has the size that the model sees. */
static bool put_part(const ImageSet *set, DataRow at, void *to, DataError *error) {
    int64_t size = set->shape->out_size, place;
    RtImages part = *set->shape;
    part.height = part.width = size;
    uint8_t *pixels = rt_alloc(raw_bytes(&part));
    const Source *source = source_of(set, at.split, at.row, &place);
    uint64_t key = box_key(set, at);
    bool read = folder_read(&source->folder, place, &part, &key, pixels, error);
    Box all = {.height = (int32_t)size, .width = (int32_t)size};
    if (read)
        image_present(&part, pixels, &all, set->pixels->dtype, to);
    free(pixels);
    return or_leave_out(read, error);
}

static bool put_presented(const ImageSet *set, DataRow at, void *to, DataError *error) {
    uint8_t *room = rt_alloc(raw_bytes(set->shape));
    const uint8_t *raw = raw_image(set, at.split, at.row, room, error);
    Box box = box_of(set, at);
    if (raw)
        image_present(set->shape, raw, at.split == LOADER_TRAIN ? &box : NULL, set->pixels->dtype,
                      to);
    free(room);
    return raw != NULL;
}

static bool put_pixels(const ImageSet *set, DataRow at, int64_t entry, void *slot,
                       DataError *error) {
    const RtImages *shape = set->shape;
    int64_t seen = shape->out_size * shape->out_size * shape->out_channels;
    size_t bytes = shape->decode_on_host ? (size_t)seen * rt_dtype_bytes(set->pixels->dtype)
                                         : raw_bytes(shape);
    uint8_t *to = (uint8_t *)slot + set->pixels->offset + (size_t)entry * bytes;
    if (at.row < 0) {
        memset(to, 0, bytes);
        return true;
    }
    if (shape->crop_pictures && at.split == LOADER_TRAIN)
        return put_part(set, at, to, error);
    return shape->decode_on_host ? put_presented(set, at, to, error)
                                 : copy_raw(set, raw_image(set, at.split, at.row, to, error), to);
}

/* Fills an image's place in `pictures`. */
static bool put_picture(const ImageSet *set, DataRow at, int64_t entry, void *slot,
                        DataError *error) {
    RtImages shape = *set->shape;
    uint8_t *to = (uint8_t *)slot + set->pictures->offset + entry * shape.slot_bytes;
    const SlotHead empty = {.kind = SLOT_EMPTY};
    if (at.row < 0) {
        memcpy(to, &empty, sizeof empty);
        return true;
    }
    bool crops = shape.crop_pictures && at.split == LOADER_TRAIN;
    if (crops)
        shape.height = shape.width = shape.out_size;
    int64_t place;
    const Source *source = source_of(set, at.split, at.row, &place);
    uint64_t key = box_key(set, at);
    return or_leave_out(folder_put(&source->folder, place, &shape, crops ? &key : NULL, to, error),
                        error);
}

static void put_int(void *slot, const RtInput *input, int64_t entry, int64_t value) {
    if (input)
        ((int32_t *)((char *)slot + input->offset))[entry] = (int32_t)value;
}

/* Returns the index of a row's image on the device, which keeps the images of the training files,
 * then those of the validation files. */
static int64_t index_of(const ImageSet *set, LoaderSplit split, int64_t row) {
    int64_t at;
    const Source *source = source_of(set, split, row, &at);
    return source == &set->sources[LOADER_TRAIN] ? at : set->sources[LOADER_TRAIN].count + at;
}

static void put_box(const ImageSet *set, DataRow at, int64_t entry, void *slot) {
    Box box = {0};
    if (at.split == LOADER_TRAIN)
        box = box_of(set, at);
    memcpy((char *)slot + set->boxes->offset + (size_t)entry * sizeof box, &box, sizeof box);
}

static bool images_write(const void *context, DataRow at, int64_t entry, void *slot,
                         DataError *error) {
    const ImageSet *set = context;
    bool padding = at.row < 0;
    put_int(slot, set->labels, entry, padding ? IGNORED : label_of(set, at.split, at.row));
    if (set->indices)
        put_int(slot, set->indices, entry, padding ? 0 : index_of(set, at.split, at.row));
    if (set->boxes)
        put_box(set, at, entry, slot);
    if (set->pictures)
        return put_picture(set, at, entry, slot, error);
    return !set->pixels || put_pixels(set, at, entry, slot, error);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void images_facts(const void *context, LoaderFacts *facts) {
    const ImageSet *set = context;
    facts->train_samples = set->rows[LOADER_TRAIN];
    facts->eval_samples = set->rows[LOADER_EVAL];
    facts->skipped = set->sources[LOADER_TRAIN].skipped + set->sources[LOADER_EVAL].skipped;
}

static uint64_t bytes_hash(uint64_t hash, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = mix64(hash, bytes[i]);
    return hash;
}

/* Hashes an image file's name instead of its contents, because decoding the file here is
 * expensive. */
static uint64_t image_hash(const ImageSet *set, LoaderSplit split, int64_t row) {
    int64_t at;
    const Source *source = source_of(set, split, row, &at);
    if (set->data->format == RT_DATA_IDX)
        return bytes_hash(source->idx.labels[at],
                          source->idx.pixels + (size_t)at * raw_bytes(set->shape),
                          raw_bytes(set->shape));
    const ImageFile *file = &source->folder.files[at];
    const char *name = strrchr(file->path, '/');
    return bytes_hash((uint64_t)file->label, (const uint8_t *)name, strlen(name));
}

static uint64_t images_fingerprint(const void *context) {
    enum { PROBES = 64 };
    const ImageSet *set = context;
    uint64_t hash = raw_bytes(set->shape);
    if (set->data->format == RT_DATA_SYNTHETIC)
        return hash;
    for (int split = 0; split < LOADER_SPLITS; split++) {
        int64_t rows = set->rows[split];
        hash = mix64(hash, (uint64_t)rows);
        for (int64_t i = 0; rows && i < PROBES; i++)
            hash = mix64(hash, image_hash(set, split, (rows - 1) * i / (PROBES - 1)));
    }
    return hash;
}

/* The inverse of index_of. */
static bool images_sample(const void *context, int64_t sample, uint8_t *to, DataError *error) {
    const ImageSet *set = context;
    const Source *train = &set->sources[LOADER_TRAIN];
    bool trains = sample < train->count;
    return copy_raw(set,
                    stored_image(set, trains ? train : &set->sources[LOADER_EVAL],
                                 trains ? sample : sample - train->count, to, error),
                    to);
}

const DataKind image_data = {images_open,  images_close, images_rows,        images_targets,
                             images_write, images_facts, images_fingerprint, images_sample};
