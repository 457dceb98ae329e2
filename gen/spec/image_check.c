/* Checks of image models that involve several keys: derived defaults and invalid combinations. One
 * short function per subject. */
#include "base/rounding.h"
#include "spec/cnn_layers.h"
#include "spec/key_info.h"
#include "spec/resolve.h"

static void derive_stored_size(Spec *spec) {
    if (!spec->data.image_height)
        spec->data.image_height = spec->model.image_size;
    if (!spec->data.image_width)
        spec->data.image_width = spec->model.image_size;
    if (!spec->data.image_channels)
        spec->data.image_channels = spec->data.format == DATA_IDX ? 1 : spec->model.image_channels;
}

bool spec_sends_slots(const Spec *spec) {
    return spec->data.format == DATA_IMAGE_FOLDER && spec->data.decode == DECODE_DEVICE &&
           spec->data.device_resident != RESIDENT_TRUE && !spec->data.decode_scaled;
}

/* Keys ask before the default of data.jpeg_pixels is derived. */
bool spec_may_cut_pictures(const Spec *spec) {
    bool by_device = spec_sends_slots(spec) &&
                     (spec->data.jpeg_pixels > 0 ||
                      spec->origin[KEY_data_jpeg_pixels].kind == ORIGIN_DEFAULT);
    return spec->data.format == DATA_IMAGE_FOLDER && spec->data.random_resized_crop &&
           (spec->data.decode == DECODE_HOST || by_device);
}

/* By default pictures of up to twice the stored size in each direction fit. */
static void derive_jpeg_pixels(Spec *spec) {
    enum { MOST = 1 << 26 };
    int64_t stored = spec->data.image_height * spec->data.image_width;
    if (spec->origin[KEY_data_jpeg_pixels].kind == ORIGIN_DEFAULT)
        spec->data.jpeg_pixels = smaller(4 * stored, MOST);
}

static void check_channels(Arena *arena, const Spec *spec) {
    int64_t stored = spec->data.image_channels, seen = spec->model.image_channels;
    if (seen == 2)
        user_error(spec_pos(spec, KEY_model_image_channels),
                   key_hint(arena, KEY_model_image_channels), "images have 1 or 3 channels, not 2");
    if (stored == 2)
        user_error(spec_pos(spec, KEY_data_image_channels),
                   key_hint(arena, KEY_data_image_channels), "images have 1 or 3 channels, not 2");
    if (spec->data.format == DATA_IDX && stored != 1)
        user_error(spec_pos(spec, KEY_data_image_channels), "remove the key",
                   "IDX files hold one channel, not %lld", (long long)stored);
    if (stored > seen)
        user_error(spec_pos(spec, KEY_model_image_channels), "set model.image_channels = 3",
                   "stored images have 3 channels, but the model takes 1");
}

static void check_normalisation(const Spec *spec) {
    const struct {
        Key key;
        int count;
    } lists[] = {{KEY_data_image_mean, spec->data.image_mean.count},
                 {KEY_data_image_std, spec->data.image_std.count}};
    for (int i = 0; i < 2; i++)
        if (lists[i].count != 1 && lists[i].count != spec->model.image_channels)
            user_error(spec_pos(spec, lists[i].key), "give one number, or one per channel",
                       "%s has %d numbers for %lld channel%s", key_name(lists[i].key),
                       lists[i].count, (long long)spec->model.image_channels,
                       spec->model.image_channels == 1 ? "" : "s");
}

/* Half of what is cut off is before the crop; odd numbers round as in torchvision's center_crop. */
static int64_t cut_before(int64_t cut) { return cut / 2 + (cut % 2 ? cut / 2 % 2 : 0); }

CenterCrop spec_center_crop(const Spec *spec) {
    int64_t height = spec->data.image_height, width = spec->data.image_width;
    int64_t size = spec->model.image_size, shorter = spec->data.eval_resize_size;
    if (!shorter)
        return (CenterCrop){size, size, 0, 0};
    CenterCrop crop = {height <= width ? shorter : shorter * height / width,
                       height <= width ? shorter * width / height : shorter, 0, 0};
    crop.top = cut_before(crop.height - size);
    crop.left = cut_before(crop.width - size);
    return crop;
}

static void check_range(const Spec *spec, Key key, Reals range) {
    if (range.count != 2 || range.items[0] > range.items[1])
        user_error(spec_pos(spec, key), "give the smallest and the largest, such as [0.5, 1.0]",
                   "%s must be two numbers, the smaller one first", key_name(key));
}

static void check_crops(const Spec *spec) {
    int64_t shorter = spec->data.eval_resize_size, size = spec->model.image_size;
    check_range(spec, KEY_data_crop_scale, spec->data.crop_scale);
    check_range(spec, KEY_data_crop_ratio, spec->data.crop_ratio);
    if (shorter && shorter < size)
        user_error(spec_pos(spec, KEY_data_eval_resize_size),
                   "set it to model.image_size or more, or to 0 to resize the whole image",
                   "data.eval_resize_size = %lld is smaller than the center crop of %lld x %lld",
                   (long long)shorter, (long long)size, (long long)size);
}

static void check_batch(const Spec *spec) {
    int64_t batch = spec->training.per_device_train_batch_size, size = spec->model.image_size;
    int64_t stored = spec->data.image_height * spec->data.image_width;
    int64_t pixels = size * size > stored ? size * size : stored;
    if (batch * pixels > INT32_MAX)
        user_error(spec_pos(spec, KEY_training_per_device_train_batch_size),
                   "lower it, and raise gradient_accumulation_steps",
                   "a micro-batch of %lld pixels exceeds the limit of 2^31 - 1",
                   (long long)(batch * pixels));
}

/* Both families halve an image's side five times, rounding up. */
static void check_statistics(const Spec *spec) {
    bool normalises =
        spec->model.family == FAMILY_MOBILENET_V2 || spec->model.family == FAMILY_RESNET;
    if (normalises && spec->model.image_size <= 32 &&
        spec->training.per_device_train_batch_size == 1)
        user_error(spec_pos(spec, KEY_training_per_device_train_batch_size),
                   "use a larger batch, or images of more than 32 pixels per side",
                   "batch norm needs several values, but one image of this size is reduced to one "
                   "pixel");
}

static void check_task(const Spec *spec) {
    if (spec->training.task != TASK_CLASSIFY)
        user_error(spec_pos(spec, KEY_training_task), "set training.task = \"classify\"",
                   "model.family = \"%s\" classifies images, but training.task is \"%s\"",
                   choice_name(KEY_model_family, (int)spec->model.family),
                   choice_name(KEY_training_task, (int)spec->training.task));
}

static void check_format(const Spec *spec) {
    DataFormat format = spec->data.format;
    if (format == DATA_TEXT || format == DATA_JSONL || format == DATA_TOKENS)
        user_error(spec_pos(spec, KEY_data_format),
                   "use data.format = \"idx\", \"image_folder\" or \"synthetic\"",
                   "data.format = \"%s\" has no images, which model.family = \"%s\" needs",
                   choice_name(KEY_data_format, (int)format),
                   choice_name(KEY_model_family, (int)spec->model.family));
}

void check_images(Arena *arena, Spec *spec) {
    int count;
    check_task(spec);
    check_format(spec);
    check_exclusions(spec);
    derive_stored_size(spec);
    spec->training.seq_len = 1; /* a row of the loss is an image */
    check_channels(arena, spec);
    check_normalisation(spec);
    check_crops(spec);
    check_batch(spec);
    check_statistics(spec);
    check_resident(arena, spec);
    derive_jpeg_pixels(spec);
    if (spec->model.family == FAMILY_CNN)
        cnn_layers(arena, spec, &count);
}
