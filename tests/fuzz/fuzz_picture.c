/* Reads arbitrary bytes as a JPEG or PNG file: the result is a clear error or a picture that is
 * fitted and presented like any other, never a crash. If the device may decode it, so can the host, and
 * the device finds everything in the slot. Checksums of PNG's chunks are corrected
 * first, because hardly any input would have right ones. Built by `make fuzz` with clang's
 * libFuzzer. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "runtime/base/big_endian.h"
#include "runtime/data/data_images.h"

enum { SLOT = SLOT_HEAD + 2 * 64 * 24 };
enum { SIDE = 3, SIGNATURE = 8, AROUND = 12 /* bytes of a chunk besides its data */ };

static void check(bool promise) {
    if (!promise)
        abort();
}

static void mend_checksums(uint8_t *bytes, size_t size) {
    for (size_t at = SIGNATURE; at + AROUND <= size;) {
        size_t length = big_endian(bytes + at);
        if (length > size - at - AROUND)
            return;
        unsigned long sum = crc32(0, bytes + at + 4, (unsigned)length + 4);
        for (int i = 0; i < 4; i++)
            bytes[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += AROUND + length;
    }
}

/* Presents a whole raw image, or the part that a key draws. */
static void check_seen(const RtImages *shape, const uint8_t *raw, const Box *box) {
    float seen[4 * 4 * 3];
    check(!box || (box->top >= 0 && box->top + box->height <= SIDE && box->height > 0 &&
                   box->left >= 0 && box->left + box->width <= SIDE && box->width > 0));
    image_present(shape, raw, box, RT_F32, seen);
    for (int i = 0; i < 4 * 4 * 3; i++)
        check(seen[i] >= 0 && seen[i] <= 1);
}

static void check_picture(const Picture *picture, const RtImages *shape) {
    uint8_t raw[SIDE * SIDE * 3];
    check(picture->height > 0 && picture->width > 0 && picture->channels == shape->channels);
    Box all = picture_largest(picture, shape);
    picture_cut(picture, &all, SIDE, SIDE, raw);
    Box box = box_draw(shape, raw[0]);
    check_seen(shape, raw, NULL);
    check_seen(shape, raw, &box);
}

/* Reads all pixels that the picture claims to have. */
static void check_halved(const Picture *picture) {
    int64_t places = picture_places(picture, picture->height) *
                     picture_places(picture, picture->width) * picture->channels;
    int sum = 0;
    for (int64_t i = 0; i < places; i++)
        sum |= picture->pixels[i];
    check(sum >= 0);
}

static void check_slot(const SlotHead *head, const Picture *picture) {
    int64_t blocks = 0;
    check(head->kind == SLOT_COEFFICIENTS && head->down > 0 && head->across > 0);
    check(head->planes == 1 || (head->planes == SLOT_PLANES && picture->channels == 3));
    check(head->height == picture->height && head->width == picture->width);
    for (int plane = 0; plane < head->planes; plane++) {
        int down = 8 * (plane ? head->down : 1), across = 8 * (plane ? head->across : 1);
        blocks += (int64_t)((head->height + down - 1) / down) * ((head->width + across - 1) / across);
    }
    check(SLOT_HEAD + 2 * 64 * blocks <= SLOT);
    check(head->box.height > 0 && head->box.top >= 0 && head->box.width > 0 && head->box.left >= 0);
    check(head->box.top + head->box.height <= head->height);
    check(head->box.left + head->box.width <= head->width);
}

static void check_device(const PictureFile *file, const RtImages *shape, const Picture *picture) {
    uint8_t *slot = malloc(SLOT); /* of this size, so that no byte beyond it is written unnoticed */
    SlotHead head;
    const uint64_t key = file->size;
    for (int random = 0; random < 2; random++) {
        if (!slot_put_jpeg(file, shape, random ? &key : NULL, slot))
            continue;
        memcpy(&head, slot, sizeof head);
        check(picture != NULL);
        check_slot(&head, picture);
    }
    free(slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const double mean[] = {0, 0, 0}, deviation[] = {1, 1, 1};
    static const double scale[] = {0.05, 1}, ratio[] = {0.2, 5};
    RtImages shape = {.height = SIDE,
                      .width = SIDE,
                      .out_size = 4,
                      .out_channels = 3,
                      .mean = mean,
                      .std = deviation,
                      .random_resized_crop = true,
                      .crop_scale = scale,
                      .crop_ratio = ratio,
                      .random_horizontal_flip = 0.5,
                      .slot_bytes = SLOT};
    uint8_t *mended = malloc(size + 1);
    if (size)
        memcpy(mended, bytes, size);
    if (size && bytes[0] == 0x89)
        mend_checksums(mended, size);
    for (shape.channels = 1; shape.channels <= 3; shape.channels += 2) {
        char text[512] = "";
        DataError error = {text, sizeof text};
        const PictureFile file = {"fuzz", mended, size};
        Picture picture;
        if (picture_decode(&picture, &file, shape.channels, 0, &error)) {
            check_picture(&picture, &shape);
            check_device(&file, &shape, &picture);
            picture_free(&picture);
        } else {
            check(text[0] != '\0' && !picture.pixels);
            check_device(&file, &shape, NULL);
        }
        if (picture_decode(&picture, &file, shape.channels, MOST_HALVINGS, &error)) {
            check_halved(&picture);
            picture_free(&picture);
        }
    }
    free(mended);
    return 0;
}
