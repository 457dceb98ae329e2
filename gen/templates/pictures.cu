/* Images from slots: from the coefficients of JPEG files, the same pixels as libjpeg-turbo's accurate
 * inverse DCT, smooth upsampling and conversion of colours make; then a part of the picture, resized
 * as the runtime's data_fit.c does. All results are the same bits as on the host.
 *
 *     pictures uint8 [images, SLOT]     a slot: PictureHead, then coefficients or a finished image
 *     planes   uint8 [images, SAMPLES]  the planes of a picture one after the other, each of whole
 *                                       blocks of 8 x 8, line by line
 *     y        uint8 [images, HEIGHT, WIDTH, CHANNELS] dense
 *
 * picture_planes: each group of 8 threads makes a block of 8 x 8 samples: a thread multiplies a line of
 * coefficients with its table, transforms a column, then a line. Blocks that hold nothing of the part
 * in use are zeros, and so is what a picture leaves of `planes`.
 *
 * picture_fit: a thread makes one pixel of the result, as the weighted mean of pixels of the picture:
 * over the lines of a column first, then over the columns, in this order. The weights of a tile's lines
 * and columns are computed once, by a thread each.
 *
 * Launch geometry:
 *     picture_planes  grid (images * ceil(SAMPLES / 64 / (threads / 8)))
 *     picture_fit     grid (images * ceil(HEIGHT / 8) * ceil(WIDTH / 32)), threads 256
 * SLOT, SAMPLES are multiples of 16 and 64. Bytes: at most 10 per coefficient in picture_planes, of
 * which half are the tables; in picture_fit each pixel under a weight, 9 bytes if it has all chroma. */
#include "runtime/kernel.cuh"

//@prelude
enum { PICTURE_HEAD = 512, PICTURE_TAPS = 64 };
enum { PICTURE_EMPTY, PICTURE_SAMPLES, PICTURE_COEFFICIENTS };

/* The head of a slot, as the runtime's data_images.h has it. */
struct PictureHead {
    int kind, height, width, planes;
    int down, across; /* pixels per sample of the second and third plane */
    int top, left, box_height, box_width, mirrored;
    int unused[5];
    uint16_t tables[3][64];
};

/* Where a plane is, and the size of its picture, in samples. */
struct PicturePlane {
    int64_t first;
    int height, width, lines, stride;
};

static __device__ __forceinline__ PicturePlane picture_plane(const PictureHead &head, int plane) {
    PicturePlane at = {0, 0, 0, 0, 0};
    for (int i = 0; i <= plane; i++) {
        at.first += static_cast<int64_t>(at.lines) * at.stride;
        at.height = i ? (head.height + head.down - 1) / head.down : head.height;
        at.width = i ? (head.width + head.across - 1) / head.across : head.width;
        at.lines = (at.height + 7) / 8 * 8;
        at.stride = (at.width + 7) / 8 * 8;
    }
    return at;
}

/* The inverse DCT of 8 numbers, times sqrt(8), with 13 fractional bits (Loeffler, Ligtenberg and
 * Moschytz 1989, with 12 products): x[0], x[4], x[2] and x[6] give the even part, the others the odd
 * part. Sums before products have 16 bits, as in libjpeg-turbo's vector code; only coefficients that no
 * encoder makes exceed them. */
static __device__ __forceinline__ void picture_transform(const int16_t *x, unsigned *y) {
    const int ends = static_cast<int16_t>(x[0] + x[4]), middles = static_cast<int16_t>(x[0] - x[4]);
    const unsigned turned = static_cast<unsigned>((x[2] + x[6]) * 4433);
    const unsigned low = turned + static_cast<unsigned>(x[2] * 6270);
    const unsigned high = turned - static_cast<unsigned>(x[6] * 15137);
    const unsigned even[4] = {static_cast<unsigned>(ends * 8192) + low,
                              static_cast<unsigned>(middles * 8192) + high,
                              static_cast<unsigned>(middles * 8192) - high,
                              static_cast<unsigned>(ends * 8192) - low};

    const int outer = static_cast<int16_t>(x[7] + x[3]), inner = static_cast<int16_t>(x[5] + x[1]);
    const unsigned both = static_cast<unsigned>((outer + inner) * 9633);
    const unsigned by_outer = both - static_cast<unsigned>(outer * 16069);
    const unsigned by_inner = both - static_cast<unsigned>(inner * 3196);
    const unsigned first = static_cast<unsigned>((x[7] + x[1]) * 7373);
    const unsigned second = static_cast<unsigned>((x[5] + x[3]) * 20995);
    const unsigned odd[4] = {static_cast<unsigned>(x[1] * 12299) - first + by_inner,
                             static_cast<unsigned>(x[3] * 25172) - second + by_outer,
                             static_cast<unsigned>(x[5] * 16819) - second + by_inner,
                             static_cast<unsigned>(x[7] * 2446) - first + by_outer};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        y[i] = even[i] + odd[i];
        y[7 - i] = even[i] - odd[i];
    }
}

/* x / 2^BITS, rounded to the nearest number and limited to 16 bits. */
template <int BITS> static __device__ __forceinline__ int picture_rounded(unsigned x) {
    const int shifted = static_cast<int>(x + (1u << (BITS - 1))) >> BITS;
    return min(max(shifted, -32768), 32767);
}

/* Whether a block of samples may have some of the part in use. `size`: pixels per sample. */
static __device__ __forceinline__ bool picture_touches(int block, int size, int first, int count) {
    const int begin = (8 * block - 1) * size, end = (8 * block + 9) * size;
    return begin < first + count && end > first;
}

/* Where the samples of a block are. */
struct PictureBlock {
    int plane, stride;
    int64_t first;
    bool used; /* it may have some of the part in use */
};

/* Blocks beyond the picture, and all of them if it has no coefficients, are one after the other. */
static __device__ __forceinline__ PictureBlock picture_block(const PictureHead &head, int64_t block) {
    const bool has_planes = head.kind == PICTURE_COEFFICIENTS;
    int64_t end = 0;
    for (int plane = 0; has_planes && plane < head.planes; plane++) {
        const PicturePlane at = picture_plane(head, plane);
        const int64_t within = block - end;
        end += static_cast<int64_t>(at.lines / 8) * (at.stride / 8);
        if (block >= end)
            continue;
        const int row = static_cast<int>(within / (at.stride / 8));
        const int col = static_cast<int>(within % (at.stride / 8));
        const int down = plane ? head.down : 1, across = plane ? head.across : 1;
        return {plane, at.stride, at.first + static_cast<int64_t>(row * 8) * at.stride + col * 8,
                picture_touches(row, down, head.top, head.box_height) &&
                    picture_touches(col, across, head.left, head.box_width)};
    }
    return {0, 8, block * 64, false};
}

static __device__ __forceinline__ int picture_limited(int x) { return min(max(x, 0), 255); }

/* A chroma sample for a pixel. Those of half size are interpolated: a sample counts three times as
 * much as its neighbour on the pixel's side, and halves are rounded up and down in turn. */
static __device__ __forceinline__ int picture_chroma(const uint8_t *plane, const PicturePlane &at,
                                                     int down, int across, int row, int col) {
    const bool smooth_down = down == 2 && (across == 1 || (across == 2 && at.width > 2));
    const bool smooth_across = across == 2 && down <= 2 && at.width > 2;
    const int line = row / down, place = col / across;
    const uint8_t *near = plane + static_cast<int64_t>(line) * at.stride;
    if (!smooth_down && !smooth_across)
        return near[place];
    const int next_line = min(max(line + (row % 2 ? 1 : -1), 0), at.height - 1);
    const int next_place = min(max(place + (col % 2 ? 1 : -1), 0), at.width - 1);
    const uint8_t *far = plane + static_cast<int64_t>(next_line) * at.stride;
    if (!smooth_down)
        return (3 * near[place] + near[next_place] + (col % 2 ? 2 : 1)) >> 2;
    if (!smooth_across)
        return (3 * near[place] + far[place] + (row % 2 ? 2 : 1)) >> 2;
    const int sum = 3 * near[place] + far[place], next = 3 * near[next_place] + far[next_place];
    return (3 * sum + next + (col % 2 ? 7 : 8)) >> 4;
}

/* A picture's planes. */
struct PictureSource {
    const uint8_t *luma, *blue, *red;
    PicturePlane own, chroma;
    int planes, down, across;

    __device__ PictureSource(const PictureHead &head, const uint8_t *samples)
        : luma(samples), blue(samples + picture_plane(head, 1).first),
          red(samples + picture_plane(head, 2).first), own(picture_plane(head, 0)),
          chroma(picture_plane(head, 1)), planes(head.planes), down(head.down), across(head.across) {}

    /* The pixel in one channel, or in three by the formulas of ITU-R 601 with 16 fractional bits. */
    template <int CHANNELS> __device__ void pixel(int row, int col, int *to) const {
        const int y = luma[static_cast<int64_t>(row) * own.stride + col];
        for (int c = 0; c < CHANNELS; c++)
            to[c] = y;
        if constexpr (CHANNELS == 3) {
            if (planes == 1)
                return;
            const int b = picture_chroma(blue, chroma, down, across, row, col) - 128;
            const int r = picture_chroma(red, chroma, down, across, row, col) - 128;
            to[0] = picture_limited(y + ((91881 * r + 32768) >> 16));
            to[1] = picture_limited(y + ((32768 - 22554 * b - 46802 * r) >> 16));
            to[2] = picture_limited(y + ((116130 * b + 32768) >> 16));
        }
    }
};

/* The pixels of one axis from which one of the result is computed, counted from the part's first. */
struct PictureMean {
    int first, count;
};

/* Sets the weights of pixel i of the result, of `resized`, from `size` pixels: a triangle that is two
 * of its pixels wide, or two of the picture's where those are wider. They add up to 1. */
static __device__ __forceinline__ PictureMean picture_mean(int i, int size, int resized,
                                                           float *weights) {
    const double scale = static_cast<double>(size) / resized, radius = fmax(scale, 1.0);
    const double center = scale * (i + 0.5);
    const int first = static_cast<int>(fmax(center - radius + 0.5, 0.0));
    const int end = static_cast<int>(fmin(center + radius + 0.5, static_cast<double>(size)));
    double sum = 0;
    for (int k = first; k < end; k++)
        sum += fmax(1 - fabs(k + 0.5 - center) / radius, 0.0);
    for (int k = first; k < end; k++)
        weights[k - first] =
            static_cast<float>(fmax(1 - fabs(k + 0.5 - center) / radius, 0.0) / sum);
    return {first, end - first};
}
//@end

//@kernel picture_planes
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/picture_planes/*@*/(
    const uint8_t *__restrict__ pictures, uint8_t *__restrict__ planes) {
    constexpr int THREADS = /*@threads*/256/*@*/, BLOCKS = THREADS / 8;
    constexpr int64_t SLOT = /*@slot*/98816/*@*/, SAMPLES = /*@samples*/49152/*@*/;
    constexpr int GROUPS = (SAMPLES / 64 + BLOCKS - 1) / BLOCKS;
    constexpr int PITCH = 72; /* a block and 16 bytes, so that blocks begin in different banks */
    SHARED __align__(16) int16_t tile[BLOCKS * PITCH];

    const int64_t image = blockIdx.x / GROUPS;
    const uint8_t *slot = pictures + image * SLOT;
    const PictureHead &head = *reinterpret_cast<const PictureHead *>(slot);
    const int64_t block = static_cast<int64_t>(blockIdx.x % GROUPS) * BLOCKS + threadIdx.x / 8;
    const int line = threadIdx.x % 8;
    int16_t *own = tile + threadIdx.x / 8 * PITCH;

    const PictureBlock at = picture_block(head, block);
    if (at.used) {
        const int16_t *from = reinterpret_cast<const int16_t *>(slot + PICTURE_HEAD) + block * 64;
        const Vec<int16_t, 8> x = load_vec<8>(from + line * 8);
        const Vec<uint16_t, 8> by = load_vec<8>(head.tables[at.plane] + line * 8);
        Vec<int16_t, 8> products;
#pragma unroll
        for (int i = 0; i < 8; i++)
            products[i] = static_cast<int16_t>(static_cast<unsigned>(x[i]) * by[i]);
        store_vec(own + line * 8, products);
    }
    __syncthreads();

    int16_t x[8];
    unsigned y[8];
    if (at.used) {
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = own[i * 8 + line];
        picture_transform(x, y);
    }
    __syncthreads();
    if (at.used)
#pragma unroll
        for (int i = 0; i < 8; i++)
            own[i * 8 + line] = static_cast<int16_t>(picture_rounded<11>(y[i]));
    __syncthreads();
    Vec<uint8_t, 8> samples = {};
    if (at.used) {
        const Vec<int16_t, 8> transformed = load_vec<8>(own + line * 8);
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = transformed[i];
        picture_transform(x, y);
#pragma unroll
        for (int i = 0; i < 8; i++)
            samples[i] = static_cast<uint8_t>(picture_limited(picture_rounded<18>(y[i]) + 128));
    }
    if (block * 64 < SAMPLES)
        store_vec(planes + image * SAMPLES + at.first + line * at.stride, samples);
}
//@end

//@kernel picture_fit
extern "C" __global__ void __launch_bounds__(/*@threads*/256/*@*/) /*@kernel*/picture_fit/*@*/(
    const uint8_t *__restrict__ pictures, const uint8_t *__restrict__ planes,
    uint8_t *__restrict__ y) {
    constexpr int HEIGHT = /*@height*/224/*@*/, WIDTH = /*@width*/224/*@*/;
    constexpr int CHANNELS = /*@channels*/3/*@*/;
    constexpr int64_t SLOT = /*@slot*/98816/*@*/, SAMPLES = /*@samples*/49152/*@*/;
    constexpr int COLS = 32, ROWS = /*@threads*/256/*@*/ / COLS, LINES = ROWS + COLS;
    constexpr int TILES_ACROSS = (WIDTH + COLS - 1) / COLS;
    constexpr int TILES = TILES_ACROSS * ((HEIGHT + ROWS - 1) / ROWS);
    SHARED float weights[LINES][PICTURE_TAPS + 1]; /* of the tile's lines, then of its columns */
    SHARED PictureMean means[LINES];

    const int64_t image = blockIdx.x / TILES;
    const int tile = blockIdx.x % TILES;
    const int first_row = tile / TILES_ACROSS * ROWS, first_col = tile % TILES_ACROSS * COLS;
    const int row = first_row + threadIdx.x / COLS, col = first_col + threadIdx.x % COLS;
    const uint8_t *slot = pictures + image * SLOT;
    const PictureHead &head = *reinterpret_cast<const PictureHead *>(slot);
    if (head.kind == PICTURE_COEFFICIENTS && threadIdx.x < LINES) {
        const int line = threadIdx.x, place = first_col + line - ROWS;
        if (line < ROWS)
            means[line] = picture_mean(first_row + line, head.box_height, HEIGHT, weights[line]);
        else if (place < WIDTH)
            means[line] = picture_mean(head.mirrored ? WIDTH - 1 - place : place, head.box_width, WIDTH,
                                       weights[line]);
    }
    __syncthreads();
    if (row >= HEIGHT || col >= WIDTH)
        return;

    const int64_t at = (static_cast<int64_t>(row) * WIDTH + col) * CHANNELS;
    uint8_t *to = y + image * (static_cast<int64_t>(HEIGHT) * WIDTH * CHANNELS) + at;
    if (head.kind != PICTURE_COEFFICIENTS) {
        for (int c = 0; c < CHANNELS; c++)
            to[c] = head.kind == PICTURE_SAMPLES ? slot[PICTURE_HEAD + at + c] : 0;
        return;
    }
    const PictureSource source(head, planes + image * SAMPLES);
    const float *down = weights[threadIdx.x / COLS], *across = weights[ROWS + threadIdx.x % COLS];
    const PictureMean lines = means[threadIdx.x / COLS], places = means[ROWS + threadIdx.x % COLS];
    float sums[CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        sums[c] = 0.5f;
    for (int k = 0; k < places.count; k++) {
        float of_column[CHANNELS] = {};
        for (int i = 0; i < lines.count; i++) {
            int pixel[CHANNELS];
            source.pixel<CHANNELS>(head.top + lines.first + i, head.left + places.first + k, pixel);
            for (int c = 0; c < CHANNELS; c++)
                of_column[c] += down[i] * pixel[c];
        }
        for (int c = 0; c < CHANNELS; c++)
            sums[c] += across[k] * of_column[c];
    }
    for (int c = 0; c < CHANNELS; c++)
        to[c] = static_cast<uint8_t>(fminf(sums[c], 255.0f));
}
//@end
