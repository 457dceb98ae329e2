/* Reads the coefficients of JPEG files into slots, for a device that makes the pixels.
 *
 * TurboJPEG hands out coefficients when it transforms a file without writing the result. It does not
 * tell what they are multiplied with and how the components are sampled, so the file's markers are
 * read here too. Whatever is unusual is left to data_decode.c, which has the messages: its pixels are
 * the truth, and a slot is only filled where the device makes the same ones. */
#include "runtime/data/data_images.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/dynlib.h"
#include "runtime/base/rt.h"

enum { BLOCK = 8, COEFFICIENTS = BLOCK * BLOCK, TABLES = 4 };
enum { MOST_JPEG_PIXELS = 1 << 26 }; /* the largest data.jpeg_pixels */

_Static_assert(sizeof(SlotHead) <= SLOT_HEAD, "the head of a slot has grown");

/* ---- markers --------------------------------------------------------------------------------- */

typedef struct {
    int id, across, down, table; /* across, down: sampling factors */
    int rest[COEFFICIENTS]; /* low bits that the scans so far left out; -1: the whole coefficient */
} Component;

typedef struct {
    const uint8_t *bytes;
    size_t size, at;
    int64_t height, width;
    int components; /* 0: no frame header yet */
    bool progressive, scanned;
    Component component[SLOT_PLANES];
    bool has_table[TABLES];
    uint16_t tables[TABLES][COEFFICIENTS]; /* in natural order */
} Markers;

/* Sets the natural places of coefficients in the order of files: along diagonals, back and forth. */
static void zigzag(uint8_t natural[COEFFICIENTS]) {
    int at = 0;
    for (int diagonal = 0; diagonal < 2 * BLOCK - 1; diagonal++)
        for (int i = 0; i <= diagonal; i++) {
            int row = diagonal % 2 ? i : diagonal - i, col = diagonal - row;
            if (row < BLOCK && col < BLOCK)
                natural[at++] = (uint8_t)(row * BLOCK + col);
        }
}

static int word_at(const uint8_t *bytes) { return bytes[0] << 8 | bytes[1]; }

static bool read_frame(Markers *m, const uint8_t *body, size_t length) {
    enum { FIXED = 6, EACH = 3 };
    if (m->components || length < FIXED || body[0] != 8)
        return false;
    m->height = word_at(body + 1), m->width = word_at(body + 3), m->components = body[5];
    if ((m->components != 1 && m->components != SLOT_PLANES) ||
        length != FIXED + EACH * (size_t)m->components || !m->height || !m->width)
        return false;
    for (int c = 0; c < m->components; c++, body += EACH) {
        Component *to = &m->component[c];
        *to = (Component){body[FIXED], body[FIXED + 1] >> 4, body[FIXED + 1] & 15, body[FIXED + 2],
                          {0}};
        for (int k = 0; k < COEFFICIENTS; k++)
            to->rest[k] = -1;
        if (!to->across || !to->down || to->table >= TABLES)
            return false;
    }
    return true;
}

static bool read_tables(Markers *m, const uint8_t *body, size_t length) {
    uint8_t natural[COEFFICIENTS];
    zigzag(natural);
    for (size_t at = 0; at < length;) {
        int wide = body[at] >> 4, table = body[at] & 15;
        size_t bytes = (size_t)COEFFICIENTS << wide;
        if (wide > 1 || table >= TABLES || length - at - 1 < bytes)
            return false;
        const uint8_t *from = body + at + 1;
        for (int k = 0; k < COEFFICIENTS; k++)
            m->tables[table][natural[k]] = (uint16_t)(wide ? word_at(from + 2 * k) : from[k]);
        m->has_table[table] = true;
        at += 1 + bytes;
    }
    return true;
}

static Component *component_of(Markers *m, int id) {
    for (int c = 0; c < m->components; c++)
        if (m->component[c].id == id)
            return &m->component[c];
    return NULL;
}

/* Notes which coefficients a scan completes, and skips its data. */
static bool read_scan(Markers *m, const uint8_t *body, size_t length) {
    size_t count = length ? body[0] : 0;
    if (!m->components || length != 4 + 2 * count)
        return false;
    const uint8_t *range = body + 1 + 2 * count;
    int first = m->progressive ? range[0] : 0, last = m->progressive ? range[1] : COEFFICIENTS - 1;
    for (size_t i = 0; i < count; i++) {
        Component *c = component_of(m, body[1 + 2 * i]);
        if (!c || !m->has_table[c->table] || last >= COEFFICIENTS)
            return false;
        for (int k = first; k <= last; k++)
            c->rest[k] = m->progressive ? range[2] & 15 : 0;
    }
    m->scanned = true;
    for (; m->at + 1 < m->size; m->at++) {
        int next = m->bytes[m->at + 1];
        if (m->bytes[m->at] == 0xff && next != 0 && (next < 0xd0 || next > 0xd7))
            return true;
    }
    return false;
}

/* A segment's body, by the code of its marker. Tables must not change between scans. */
static bool read_segment(Markers *m, int code, const uint8_t *body, size_t length) {
    enum { BASELINE = 0xc0, EXTENDED, PROGRESSIVE, HUFFMAN = 0xc4, LATER_FRAME = 0xcf };
    enum { SCAN = 0xda, QUANTISATION = 0xdb, NUMBER_OF_LINES = 0xdc };
    if (code == QUANTISATION)
        return !m->scanned && read_tables(m, body, length);
    if (code == SCAN)
        return read_scan(m, body, length);
    m->progressive |= code == PROGRESSIVE;
    if (code >= BASELINE && code <= PROGRESSIVE)
        return read_frame(m, body, length);
    return code == HUFFMAN || (code > LATER_FRAME && code != NUMBER_OF_LINES);
}

static bool read_markers(Markers *m) {
    enum { START = 0xd8, END = 0xd9 };
    for (m->at = 2; m->at + 4 <= m->size;) {
        const uint8_t *marker = m->bytes + m->at;
        size_t length = (size_t)word_at(marker + 2);
        if (marker[0] != 0xff || marker[1] < 0xc0 || marker[1] == START)
            return false;
        if (marker[1] == END)
            break;
        if (length < 2 || length > m->size - m->at - 2)
            return false;
        m->at += 2 + length;
        if (!read_segment(m, marker[1], marker + 4, length - 2))
            return false;
    }
    return m->scanned && m->at + 2 <= m->size && m->bytes[m->at + 1] == END;
}

/* libjpeg-turbo smooths a progressive picture whose scans leave something out. */
static bool is_complete(const Markers *m) {
    for (int c = 0; c < m->components; c++)
        for (int k = 0; k < COEFFICIENTS; k++)
            if (m->component[c].rest[k] != 0)
                return false;
    return true;
}

/* ---- the head -------------------------------------------------------------------------------- */

static int64_t over(int64_t size, int64_t by) { return (size + by - 1) / by; }

/* Blocks of a plane, down and across. */
static int64_t blocks_down(const SlotHead *head, int plane) {
    return over(head->height, BLOCK * (plane ? head->down : 1));
}
static int64_t blocks_across(const SlotHead *head, int plane) {
    return over(head->width, BLOCK * (plane ? head->across : 1));
}

static int64_t blocks_of(const SlotHead *head) {
    int64_t count = 0;
    for (int plane = 0; plane < head->planes; plane++)
        count += blocks_down(head, plane) * blocks_across(head, plane);
    return count;
}

/* Sets how often each chroma sample is repeated. The first component must have a sample for each
 * pixel, the other two the same whole part of them. */
static bool set_sampling(SlotHead *head, const Markers *m) {
    const Component *luma = &m->component[0], *chroma = &m->component[1];
    head->across = head->down = 1;
    if (m->components == 1)
        return true;
    head->across = luma->across / chroma->across, head->down = luma->down / chroma->down;
    return head->across * chroma->across == luma->across &&
           head->down * chroma->down == luma->down && chroma->across == chroma[1].across &&
           chroma->down == chroma[1].down;
}

static bool set_head(SlotHead *head, const Markers *m, int64_t channels) {
    *head = (SlotHead){.kind = SLOT_COEFFICIENTS,
                       .height = (int32_t)m->height,
                       .width = (int32_t)m->width,
                       .planes = channels == 1 ? 1 : m->components};
    if (!set_sampling(head, m))
        return false;
    for (int plane = 0; plane < head->planes; plane++)
        memcpy(head->tables[plane], m->tables[m->component[plane].table],
               sizeof head->tables[plane]);
    return true;
}

/* Whether the device's kernel has room for the weights of a mean over one axis. */
static bool has_room_for_taps(int32_t size, int64_t resized) {
    return ceil(2 * fmax((double)size / (double)resized, 1)) + 1 <= SLOT_TAPS;
}

static void warn_once(const PictureFile *file, const SlotHead *head, int64_t bytes,
                      const RtImages *shape) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    int64_t pixels = over(bytes, 3);
    char remedy[80] = "";
    if (atomic_flag_test_and_set(&told))
        return;
    if (pixels <= MOST_JPEG_PIXELS)
        snprintf(remedy, sizeof remedy, "; with data.jpeg_pixels = %lld the device would",
                 (long long)pixels);
    rt_warn("%s: its %d x %d pixels take %lld bytes of coefficients, more than the %lld of a slot: the "
            "host decodes it, and others like it%s",
            file->path, head->height, head->width, (long long)bytes,
            (long long)shape->slot_bytes - SLOT_HEAD, remedy);
}

static bool fits(const PictureFile *file, const SlotHead *head, const RtImages *shape) {
    int64_t bytes = blocks_of(head) * COEFFICIENTS * (int64_t)sizeof(int16_t);
    if (!has_room_for_taps(head->box.height, shape->height) ||
        !has_room_for_taps(head->box.width, shape->width))
        return false; /* whatever the size of slots */
    if (bytes <= shape->slot_bytes - SLOT_HEAD)
        return true;
    warn_once(file, head, bytes, shape);
    return false;
}

/* ---- coefficients ---------------------------------------------------------------------------- */

/* TurboJPEG's tjregion and tjtransform. */
typedef struct {
    int x, y, width, height;
} TjRegion;

typedef struct TjTransform {
    TjRegion crop;
    int op, options;
    void *data;
    int (*filter)(short *coefficients, TjRegion part, TjRegion plane, int component, int transform,
                  struct TjTransform *);
} TjTransform;

enum { TJXOP_NONE = 0, TJXOPT_NOOUTPUT = 16, TJXOPT_COPYNONE = 64 };
enum { TJCS_YCBCR = 1, TJCS_GRAY = 2 };
enum { TJFLAG_LIMITSCANS = 32768 };

static struct {
    void *(*init)(void);
    int (*header)(void *handle, const unsigned char *bytes, unsigned long size, int *width,
                  int *height, int *subsampling, int *colorspace);
    int (*transform)(void *handle, const unsigned char *bytes, unsigned long size, int count,
                     unsigned char **results, unsigned long *sizes, TjTransform *, int flags);
    int (*destroy)(void *handle);
    pthread_once_t once;
    bool open;
} tj = {.once = PTHREAD_ONCE_INIT};

/* C does not convert object pointers to function pointers, so the pointer is copied as bytes. */
static void find(void *function, const char *name) {
    void *address = dynlib_need_symbol(LIB_TURBOJPEG, name);
    memcpy(function, &address, sizeof address);
}

static void open_library(void) {
    tj.open = !*jpeg_problem();
    if (!tj.open)
        return; /* picture_decode() says it */
    find(&tj.init, "tjInitTransform");
    find(&tj.header, "tjDecompressHeader3");
    find(&tj.transform, "tjTransform");
    find(&tj.destroy, "tjDestroy");
}

typedef struct {
    const SlotHead *head;
    int16_t *to; /* the slot's coefficients */
    int64_t written; /* blocks */
    int16_t least[SLOT_PLANES][COEFFICIENTS], largest[SLOT_PLANES][COEFFICIENTS];
} Sink;

/* The compiler makes vector code of this. */
static void note_block(int16_t *restrict least, int16_t *restrict largest,
                       const int16_t *restrict block) {
    for (int k = 0; k < COEFFICIENTS; k++) {
        least[k] = block[k] < least[k] ? block[k] : least[k];
        largest[k] = block[k] > largest[k] ? block[k] : largest[k];
    }
}

/* Whether no product leaves the range in which all ways to compute an inverse DCT agree, eight times
 * that of real pictures. Beyond it, sums in 16 bits overflow in ways of their own. */
static bool is_in_range(const Sink *sink) {
    enum { MOST = 8191 };
    for (int plane = 0; plane < sink->head->planes; plane++)
        for (int k = 0; k < COEFFICIENTS; k++) {
            int by = sink->head->tables[plane][k];
            if (sink->largest[plane][k] * by > MOST || sink->least[plane][k] * by < -MOST)
                return false;
        }
    return true;
}

/* Takes a part of a line of blocks. Lines below the picture only fill its last row of units. */
static int take(short *coefficients, TjRegion part, TjRegion plane, int component, int transform,
                TjTransform *job) {
    (void)plane, (void)transform;
    Sink *sink = job->data;
    const SlotHead *head = sink->head;
    int64_t first = 0, row = part.y / BLOCK, col = part.x / BLOCK, count = part.width / BLOCK;
    if (component >= head->planes || row >= blocks_down(head, component))
        return 0;
    for (int before = 0; before < component; before++)
        first += blocks_down(head, before) * blocks_across(head, before);
    if (col + count > blocks_across(head, component))
        return -1;
    first += row * blocks_across(head, component) + col;
    memcpy(sink->to + first * COEFFICIENTS, coefficients,
           (size_t)count * COEFFICIENTS * sizeof *sink->to);
    for (int64_t i = 0; i < count; i++)
        note_block(sink->least[component], sink->largest[component],
                   coefficients + i * COEFFICIENTS);
    sink->written += count;
    return 0;
}

static bool is_luma_chroma(void *handle, const PictureFile *file) {
    int width, height, subsampling, colorspace = -1;
    return tj.header(handle, file->bytes, file->size, &width, &height, &subsampling,
                     &colorspace) == 0 &&
           (colorspace == TJCS_YCBCR || colorspace == TJCS_GRAY);
}

static bool read_coefficients(const PictureFile *file, const SlotHead *head, uint8_t *to) {
    pthread_once(&tj.once, open_library);
    void *handle = tj.open ? tj.init() : NULL;
    if (!handle)
        return false;
    Sink sink = {.head = head, .to = (int16_t *)(void *)to};
    TjTransform job = {.op = TJXOP_NONE,
                       .options = TJXOPT_NOOUTPUT | TJXOPT_COPYNONE,
                       .data = &sink,
                       .filter = take};
    unsigned char *result = NULL;
    unsigned long size = 0;
    bool ok = is_luma_chroma(handle, file) &&
              tj.transform(handle, file->bytes, file->size, 1, &result, &size, &job,
                           TJFLAG_LIMITSCANS) == 0;
    tj.destroy(handle);
    return ok && sink.written == blocks_of(head) && is_in_range(&sink);
}

bool slot_put_jpeg(const PictureFile *file, const RtImages *shape, const uint64_t *key,
                   uint8_t *slot) {
    Markers m = {.bytes = file->bytes, .size = file->size};
    SlotHead head;
    if (file->size < 4 || word_at(file->bytes) != 0xffd8 || !read_markers(&m) || !is_complete(&m) ||
        !set_head(&head, &m, shape->channels))
        return false;
    Picture picture = {.height = m.height, .width = m.width};
    head.box = picture_part(&picture, shape, key);
    if (!fits(file, &head, shape) || !read_coefficients(file, &head, slot + SLOT_HEAD))
        return false;
    memcpy(slot, &head, sizeof head);
    return true;
}
