/* The settings of the runtime's image loader: the fields of RtImages, in its order. */
#include "base/rounding.h"
#include "model/image.h"

/* A slot has room for a finished image too, which may be a crop of the size that the model sees. Its
 * blocks are whole. */
int64_t image_slot_bytes(const Spec *spec) {
    enum { BLOCK_BYTES = 2 * 64 };
    int64_t stored = spec->data.image_height * spec->data.image_width, size = spec->model.image_size;
    if (!spec_effective(spec, KEY_data_jpeg_pixels) || !spec->data.jpeg_pixels)
        return 0;
    if (image_slots_have_crops(spec))
        stored = larger(stored, size * size);
    int64_t room = larger(3 * spec->data.jpeg_pixels, stored * spec->data.image_channels);
    return SLOT_HEAD_BYTES + round_up(room, BLOCK_BYTES);
}

bool image_slots_have_crops(const Spec *spec) {
    return spec_effective(spec, KEY_data_jpeg_pixels) && spec_effective(spec, KEY_data_crop_from) &&
           spec->data.crop_from == CROP_PICTURE;
}

static void put(Program *p, LoaderSetting setting) {
    LoaderSettings *all = &p->loader;
    all->items = arena_grow(p->arena, all->items, all->count, &all->capacity, sizeof *all->items);
    all->items[all->count++] = setting;
}

static void put_int(Program *p, const char *field, int64_t value) {
    put(p, (LoaderSetting){.field = field, .kind = SETTING_INT, .integer = value});
}

static void put_bool(Program *p, const char *field, bool value) {
    put(p, (LoaderSetting){.field = field, .kind = SETTING_BOOL, .integer = value});
}

/* `count` numbers from a list of that many, or of one that stands for all. */
static void put_reals(Program *p, const char *field, Reals list, int64_t count) {
    double *reals = arena_array(p->arena, (size_t)count, sizeof *reals);
    for (int64_t i = 0; i < count; i++)
        reals[i] = list.items[list.count > 1 ? i : 0];
    put(p, (LoaderSetting){
               .field = field, .kind = SETTING_REALS, .reals = reals, .count = (int)count});
}

/* Which part of a stored image the model sees, if not all of it. */
static void put_crops(Program *p, const Spec *s) {
    CenterCrop c = spec_center_crop(s);
    if (s->data.random_resized_crop) {
        put_bool(p, "random_resized_crop", true);
        put_reals(p, "crop_scale", s->data.crop_scale, 2);
        put_reals(p, "crop_ratio", s->data.crop_ratio, 2);
    }
    if (s->data.crop_from == CROP_PICTURE)
        put_bool(p, "crop_pictures", true);
    if (s->data.random_horizontal_flip > 0)
        put(p, (LoaderSetting){.field = "random_horizontal_flip",
                               .kind = SETTING_REAL,
                               .real = s->data.random_horizontal_flip});
    if (s->data.eval_resize_size) {
        put_int(p, "eval_height", c.height);
        put_int(p, "eval_width", c.width);
        put_int(p, "eval_top", c.top);
        put_int(p, "eval_left", c.left);
    }
}

void image_settings(Program *p, const Spec *s) {
    p->loader.field = "images";
    p->loader.type = "RtImages";
    put_int(p, "height", s->data.image_height);
    put_int(p, "width", s->data.image_width);
    put_int(p, "channels", s->data.image_channels);
    put_int(p, "out_size", s->model.image_size);
    put_int(p, "out_channels", s->model.image_channels);
    put_int(p, "classes", s->model.num_classes);
    put_reals(p, "mean", s->data.image_mean, s->model.image_channels);
    put_reals(p, "std", s->data.image_std, s->model.image_channels);
    put_bool(p, "decode_on_host", s->data.decode == DECODE_HOST);
    if (s->compile.layout == LAYOUT_NCHW)
        put_bool(p, "planes", true);
    put_bool(p, "skip_broken", s->data.skip_broken);
    if (s->data.decode_scaled)
        put_bool(p, "decode_scaled", true);
    put_crops(p, s);
    if (image_slot_bytes(s))
        put_int(p, "slot_bytes", image_slot_bytes(s));
}
