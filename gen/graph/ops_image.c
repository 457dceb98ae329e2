/* Images as stored in files.
 *
 * picture_planes  pictures u8 [N, slot] -> u8 [N, (slot - SLOT_HEAD_BYTES) / 2]: a slot holds a head
 *              and the coefficients of a JPEG file, two bytes each, or a finished image; the result is
 *              the planes that an inverse DCT makes of them, zeros where it has none.
 * picture_fit  (pictures u8 [N, slot], those planes) -> u8 [N out_height out_width, out_channels]: the
 *              part of the picture that the head tells, in its colours, resized with antialias; or
 *              the finished image. The runtime's data_images.h defines slots, and
 *              templates/pictures.cu both ops.
 * image_input  (pixels u8 [N H0 W0, C0], mean[C], std[C]) -> [N H W, C]: pixels / 255, resized to
 *              attr.crop.height x width like torch's bilinear interpolation (align_corners =
 *              False, no antialias), minus mean, divided by std; the result is the H x W part of
 *              this that begins at attr.crop.top, left. A single channel is repeated C times.
 *              attr.window.height, width are H0, W0; attr.out_height, out_width are H, W;
 *              attr.plane is H W if the result is in planes, else 0. With indices[N,1] as fourth
 *              operand, pixels may hold any number of images, and image n is number indices[n].
 *              With attr.boxed the last operand is boxes[5N,1]: top, left, height and width of the
 *              part of image n that is resized to H x W, and whether it is mirrored. */
#include "graph/op_table.h"
#include "graph/window_steps.h"

/* The operand that selects images; NULL: all, in order. */
static Value *indices_of(const Op *op) {
    return op->in_count - op->attr.boxed > 3 ? op->in[3] : NULL;
}

static Value *boxes_of(const Op *op) { return op->attr.boxed ? op->in[op->in_count - 1] : NULL; }

static int64_t images(const Op *op) {
    if (indices_of(op))
        return value_rows(indices_of(op));
    return value_rows(op->in[0]) / (op->attr.window.height * op->attr.window.width);
}

static void check_operands(const Op *op) {
    const Value *indices = indices_of(op), *boxes = boxes_of(op);
    op_expect(op, op->in_count == 3 + (indices != NULL) + (boxes != NULL), "operands");
    op_expect(op, op->in[0]->dtype == DT_U8, "pixels");
    op_expect(op, !indices || indices->dtype == DT_I32, "indices");
    op_expect(op, !boxes || boxes->dtype == DT_I32, "boxes");
    op_expect(op, !boxes || value_elements(boxes) == BOX_NUMBERS * images(op), "a box an image");
}

void shape_image_input(Program *p, Op *op) {
    const Attr *a = &op->attr;
    check_operands(op);
    op_expect(op, value_rows(op->in[0]) % (a->window.height * a->window.width) == 0, "images");
    op_expect(op,
              a->crop.top >= 0 && a->crop.top + a->out_height <= a->crop.height &&
                  a->crop.left >= 0 && a->crop.left + a->out_width <= a->crop.width,
              "a part of the resized image");
    int64_t from = value_cols(op->in[0]), to = value_elements(op->in[1]);
    op_expect(op, (from == to || from == 1) && value_elements(op->in[2]) == to, "channels");
    int64_t places = a->out_height * a->out_width;
    op_expect(op, !a->plane || a->plane == places, "planes");
    result_images(p, op, 0, "", p->activation, images(op) * places, to, a->plane);
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Both kernels read the slots in vectors of 16 bytes, and one has a block of 64 at a time. */
static void check_slots(const Op *op) {
    int64_t slot = value_cols(op->in[0]);
    op_expect(op, op->in[0]->dtype == DT_U8 && value_dense(op->in[0]), "slots of bytes");
    op_expect(op, slot > SLOT_HEAD_BYTES && slot % (2 * 64) == 0, "slots of whole blocks");
}

void shape_picture_planes(Program *p, Op *op) {
    op_expect_operands(op, 1);
    check_slots(op);
    int64_t samples = (value_cols(op->in[0]) - SLOT_HEAD_BYTES) / 2;
    result_2d(p, op, 0, "", DT_U8, value_rows(op->in[0]), samples);
}

void shape_picture_fit(Program *p, Op *op) {
    const Attr *a = &op->attr;
    op_expect_operands(op, 2);
    check_slots(op);
    int64_t images = value_rows(op->in[0]), room = value_cols(op->in[0]) - SLOT_HEAD_BYTES;
    op_expect(op, op->in[1]->dtype == DT_U8 && value_rows(op->in[1]) == images, "planes");
    op_expect(op, value_cols(op->in[1]) == room / 2, "a sample for each coefficient");
    op_expect(op, a->out_height * a->out_width * a->out_channels <= room, "room for an image");
    result_2d(p, op, 0, "", DT_U8, images * a->out_height * a->out_width, a->out_channels);
}

/* ---- one axis -------------------------------------------------------------------------------- */

/* Steps for one axis: pixels first .. first + last of the stored image, resized by 1 / scale. */
typedef struct {
    int first; /* -1: 0 */
    int last, scale;
} Part;

/* Steps for one axis: the two pixels to interpolate between, and the weight of the second. */
typedef struct {
    int near, far, share;
} Between;

static int whole(Body *body, int64_t n) { return step_const_int(body, n); }

static int shifted(Body *body, int place, int first) {
    return first < 0 ? place : step_binary(body, STEP_ADD, place, first);
}

static Between between(Body *body, int place, Part part, const char *axis) {
    int half = step_const(body, 0.5), zero = step_const(body, 0);
    int center = step_binary(body, STEP_ADD, step_cast(body, TYPE_REAL, place), half);
    int at = step_binary(body, STEP_SUB, step_binary(body, STEP_MUL, part.scale, center), half);
    at = step_called(body, step_binary(body, STEP_MAX, at, zero), "%s_at", axis);
    int below = step_called(body, step_cast(body, TYPE_INT, at), "%s_floor", axis);
    int next = step_binary(body, STEP_ADD, below, whole(body, 1));
    int far = step_binary(body, STEP_MIN, next, part.last);
    int share = step_binary(body, STEP_SUB, at, step_cast(body, TYPE_REAL, below));
    return (Between){step_called(body, shifted(body, below, part.first), "%s_near", axis),
                     step_called(body, shifted(body, far, part.first), "%s_far", axis),
                     step_called(body, share, "%s_share", axis)};
}

/* A whole axis of `size` pixels, resized to `resized`. */
static Part all_of(Body *body, int64_t size, int64_t resized, const char *scale) {
    return (Part){-1, whole(body, size - 1),
                  step_named(body, (double)size / (double)resized, scale)};
}

static int offset(Body *body, int place, int64_t by) {
    return by ? step_hinted(body, step_binary(body, STEP_ADD, place, whole(body, by)), "at")
              : place;
}

/* Number `which` of the box that begins at row `box`. */
static int box_number(Body *body, const Op *op, int box, int which, const char *name) {
    int load = step_load_mapped(body, boxes_of(op), offset(body, box, which), COL_SAME, 0);
    return step_called(body, load, "box_%s", name);
}

/* `size` pixels from `first` on, both steps, resized to `outs`. */
static Part part_of(Body *body, int first, int size, int64_t outs) {
    int scale = step_binary(body, STEP_DIV, step_cast(body, TYPE_REAL, size),
                            step_const(body, (double)outs));
    return (Part){first, step_binary(body, STEP_SUB, size, whole(body, 1)), scale};
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static int mix(Body *body, int a, int b, int share) {
    int rest = step_binary(body, STEP_SUB, step_const(body, 1), share);
    step_hinted(body, rest, "rest");
    return step_binary(body, STEP_ADD, step_binary(body, STEP_MUL, rest, a),
                       step_binary(body, STEP_MUL, share, b));
}

static int load_pixel(Body *body, const Op *op, int n, int h, int w, const char *name) {
    const Window *from = &op->attr.window;
    int line = step_binary(body, STEP_MUL, n, step_extent(body, from->height, "FROM_HEIGHT"));
    line = step_binary(body, STEP_ADD, line, h);
    int row = step_binary(body, STEP_MUL, line, step_extent(body, from->width, "FROM_WIDTH"));
    row = step_called(body, step_binary(body, STEP_ADD, row, w), "row_%s", name);
    int pixel = step_called(body, step_load_mapped(body, op->in[0], row, COL_SAME, 0), "%s", name);
    return step_cast(body, TYPE_REAL, pixel);
}

/* The number of the stored image that output n shows. */
static int image_of(Body *body, const Op *op, int n) {
    Value *indices = indices_of(op);
    if (!indices)
        return n;
    return step_called(body, step_load_mapped(body, indices, n, COL_SAME, 0), "image");
}

static int mixed(Body *body, const Op *op, int image, Between h, Between w) {
    int top = mix(body, load_pixel(body, op, image, h.near, w.near, "top_left"),
                  load_pixel(body, op, image, h.near, w.far, "top_right"), w.share);
    int bottom = mix(body, load_pixel(body, op, image, h.far, w.near, "bottom_left"),
                     load_pixel(body, op, image, h.far, w.far, "bottom_right"), w.share);
    step_hinted(body, top, "top");
    step_hinted(body, bottom, "bottom");
    return step_hinted(body, mix(body, top, bottom, h.share), "pixel");
}

static int resized(Body *body, const Op *op, Pixel out) {
    const Attr *a = &op->attr;
    int image = image_of(body, op, out.n);
    Part rows = all_of(body, a->window.height, a->crop.height, "H_SCALE");
    Part cols = all_of(body, a->window.width, a->crop.width, "W_SCALE");
    Between h = between(body, offset(body, out.h, a->crop.top), rows, "h");
    Between w = between(body, offset(body, out.w, a->crop.left), cols, "w");
    return mixed(body, op, image, h, w);
}

/* `place`, counted from the other end if `flip` is 1. */
static int mirrored(Body *body, int place, int64_t size, int flip) {
    int back = step_binary(body, STEP_SUB, whole(body, size - 1), place);
    return step_select(body, step_binary(body, STEP_EQ, flip, whole(body, 1)), back, place);
}

static int boxed(Body *body, const Op *op, Pixel out) {
    const Attr *a = &op->attr;
    int image = image_of(body, op, out.n);
    int box = step_binary(body, STEP_MUL, out.n, whole(body, BOX_NUMBERS));
    int top = box_number(body, op, step_called(body, box, "box"), 0, "top");
    int left = box_number(body, op, box, 1, "left");
    int height = box_number(body, op, box, 2, "height");
    int width = box_number(body, op, box, 3, "width");
    int flip = box_number(body, op, box, 4, "mirrored");
    Part rows = part_of(body, top, height, a->out_height);
    Part cols = part_of(body, left, width, a->out_width);
    Between h = between(body, out.h, rows, "h");
    Between w = between(body, mirrored(body, out.w, a->out_width, flip), cols, "w");
    return mixed(body, op, image, h, w);
}

/* The stored pixel at the output's position, without resizing. */
static int as_stored(Body *body, const Op *op) {
    const Attr *a = &op->attr;
    if (!indices_of(op))
        return step_cast(body, TYPE_REAL, step_load(body, op->in[0]));
    Pixel out = step_pixel(body, a->out_height, a->out_width);
    return load_pixel(body, op, image_of(body, op, out.n), out.h, out.w, "pixel");
}

static int seen(Body *body, const Op *op) {
    const Attr *a = &op->attr;
    const int64_t sizes[][3] = {{a->window.height, a->crop.height, a->out_height},
                                {a->window.width, a->crop.width, a->out_width}};
    bool as_is = !a->boxed;
    for (int i = 0; i < 2; i++)
        as_is = as_is && sizes[i][0] == sizes[i][1] && sizes[i][1] == sizes[i][2];
    if (as_is)
        return as_stored(body, op);
    Pixel out = step_pixel(body, a->out_height, a->out_width);
    return a->boxed ? boxed(body, op, out) : resized(body, op, out);
}

void expand_image_input(const Op *op, Body *body) {
    body_space(body, op->out[0]);
    int x = step_binary(body, STEP_DIV, seen(body, op), step_const(body, 255));
    x = step_binary(body, STEP_SUB, x, step_load(body, op->in[1]));
    step_hinted(body, x, "centred");
    step_store(body, op->out[0], step_binary(body, STEP_DIV, x, step_load(body, op->in[2])));
}
