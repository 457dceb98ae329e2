/* Convolutions. Forward and the input's gradient use one kernel of a template, which gathers. The
 * weight's gradient uses another, which sums over places, in parts if its tiles would leave
 * multiprocessors idle. Both run on tensor cores for 16-bit types and tf32, else with plain FMA; on
 * Hopper by products of warpgroups (wgmma), in 16 bits where channels and filters come in vectors.
 *
 * For images in planes, a third kernel gathers, with places as columns; if each place is read only
 * for itself, a library product per image does it. The weight's gradient cannot be such a product:
 * it is a sum over images, and in late layers one partial sum per image would be more bytes than
 * the images. Geometry as in the templates' head comments. */
#include "base/rounding.h"
#include "graph/op_table.h"
#include "graph/window.h"
#include "plan/conv_cost.h"
#include "plan/skeleton.h"
#include "plan/template_kernels.h"

/* Chosen, but for the depths and PLACES_AT_ONCE, which follow from the templates. An H100 has compared
 * the stages and tiles of wgmma with others (tests/bench/results/convolutions-nvidia-h100.txt). */
enum {
    /* Fewest places that are worth a block and a partial sum: where tensor cores read vectors, eight
     * of their steps in 16 bits, or four of wgmma. Single elements are read without cp.async, so a
     * block waits for each step; an H200 took 11 us for eight of them, the first weight's gradient of
     * specs/fashion_cnn.toml. */
    LEAST_PART_IN_VECTORS = 256,
    LEAST_PART = 64,
    MOST_BLOCKS = 8,        /* of a multiprocessor, in the divisions into parts that are tried */
    ENOUGH_WARPS = 16,      /* of a multiprocessor, to hide each other's waits */
    PART_THREADS = 256,     /* of a block that adds up parts */
    PARTS_OF_A_THREAD = 16, /* at most, of an element, before threads share them */
    MOST_SHARES = 32,       /* threads that share them: then a block reads 32 bytes of each part */
    PLACES_AT_ONCE = 8,     /* most places that one access may move */
    FMA_DEPTH = 16,         /* of a tile: elements along the inner dimension */
    WGMMA_DEPTH = 64,
    LEAST_STAGES = 2,
    MOST_STAGES = 4,             /* tiles in shared memory: enough to hide the latency of memory */
    LINES_DEPTH = 128,           /* places of a tile of a weight's gradient from image lines */
    MOST_LINES_COLS = 192,       /* of such a tile */
    MOST_LINES_BYTES = 96 << 10, /* of a block that multiplies from image lines: two fit an H100 */
    MOST_WGMMA_STAGES = 3        /* with the widest tiles, two blocks fit a multiprocessor */
};

/* Kernels count up to the end of the last tile or part. */
enum { MOST_PIXELS = INT32_MAX - 65535 };

/* How a block's threads share the results of a gather: each `tile` rows (columns) are divided among
 * `threads` threads, and each of them holds `side` neighbours out of every threads * side. */
typedef struct {
    int64_t tile, threads, side;
} Share;

typedef struct {
    const Group *group;
    const Op *op;           /* the group's first */
    const Value *x, *w, *y; /* or their gradients */
    bool backward;          /* a gather from y, for x's gradient */
    int64_t phases;         /* of a gather, per dimension: 1, or backward the stride */
    int64_t images, channels, filters;
    int64_t high, wide; /* places per image that a gather computes */
    int64_t pool;       /* side of pooling windows over these, one thread each; 1: none */
    bool tensor_cores;
    bool wgmma;                /* tensor cores by products of warpgroups */
    int64_t rows, cols, depth; /* a block's tile */
    int64_t stages;            /* how many of these it keeps, on tensor cores */
    int64_t lines;             /* of images that a tile keeps, if it multiplies from there */
} Conv;

/* Elements of a 16-byte access, or 1 if v is not aligned for it. */
static int64_t vector_of(const Value *v) {
    int64_t most = 16 / dtype_bytes(v->dtype);
    bool aligned = v->offset % most == 0 && value_cols(v) % most == 0 && v->row_stride % most == 0;
    return aligned ? most : 1;
}

/* Whether conv2d_wgmma.cu can compute it. */
static bool by_wgmma(const Plan *plan, const Conv *c) {
    bool reads_weight = c->op->kind != OP_conv2d_weight_grad;
    bool fits = dtype_bytes(c->x->dtype) == 2 && !c->x->plane;
    return plan_has_wgmma(plan) && fits && vector_of(c->x) == 8 && vector_of(c->y) == 8 &&
           (!reads_weight || vector_of(c->w) == 8);
}

/* Padding can add more pixels than a micro-batch may have. */
static void check_rows(const Plan *plan, const Op *op, const Value *images) {
    if (value_rows(images) > MOST_PIXELS)
        user_error(spec_pos(plan->spec, KEY_training_per_device_train_batch_size),
                   "lower it, and raise gradient_accumulation_steps",
                   "a micro-batch of %lld pixels at %s exceeds the limit of %lld",
                   (long long)value_rows(images), op->name, (long long)MOST_PIXELS);
}

static Conv conv_of(const Plan *plan, const Group *group, const Value *x, const Value *w,
                    const Value *y) {
    const Program *p = plan->program;
    const Op *op = group->ops[0];
    check_rows(plan, op, x);
    check_rows(plan, op, y);
    const Window *window = &op->attr.window;
    Conv c = {.group = group,
              .op = op,
              .x = x,
              .w = w,
              .y = y,
              .images = value_rows(x) / (window->height * window->width),
              .channels = value_cols(w),
              .filters = w->dim[0]};
    c.tensor_cores = x->dtype == DT_BF16 || x->dtype == DT_F16 || (x->dtype == DT_F32 && p->tf32);
    c.wgmma = by_wgmma(plan, &c);
    c.depth = c.wgmma ? WGMMA_DEPTH : c.tensor_cores ? 64 / dtype_bytes(x->dtype) : FMA_DEPTH;
    return c;
}

/* ---- geometry -------------------------------------------------------------------------------- */

static int64_t multiprocessors(const Plan *plan) {
    return plan->device ? plan->device->multiprocessors : 1;
}

/* Two per multiprocessor, so that one computes while the other waits. */
static int64_t enough_blocks(const Plan *plan) { return 2 * multiprocessors(plan); }

/* Sets the widest tile of which the matrix fills more than half. */
static void choose_tile(Conv *c, int64_t rows, int64_t cols) {
    const int64_t widest = c->tensor_cores ? 128 : 64, narrowest = c->tensor_cores ? 32 : 16;
    c->rows = rows > 64 ? 128 : 64;
    for (c->cols = widest; c->cols > narrowest && cols <= c->cols / 2;)
        c->cols /= 2;
}

/* Makes tiles smaller while there are fewer than `blocks` of them. */
static void shrink_tile(Conv *c, int64_t rows, int64_t cols, int64_t blocks) {
    while (ceil_div(rows, c->rows) * ceil_div(cols, c->cols) < blocks &&
           (c->rows > 64 || c->cols > 64))
        *(c->rows > 64 ? &c->rows : &c->cols) /= 2;
}

/* Bytes of a tile whose rows run along the depth, and of one whose rows run across it. */
static int64_t deep_tile(const Conv *c, int64_t rows) {
    return rows * (c->depth * dtype_bytes(c->x->dtype) + 16);
}
static int64_t flat_tile(const Conv *c, int64_t cols) {
    return c->depth * (cols + 8) * dtype_bytes(c->x->dtype);
}

/* Tiles of all stages without padding, behind the next multiple of 1024 bytes. */
static int64_t wgmma_shared(const Conv *c) {
    return 1024 + c->stages * (c->rows + c->cols) * c->depth * dtype_bytes(c->x->dtype);
}

/* Not more stages than there are steps: of a shallow product, more blocks fit a multiprocessor. */
static void choose_stages(Conv *c, int64_t sums) {
    int64_t steps = ceil_div(sums, c->depth), most = c->wgmma ? MOST_WGMMA_STAGES : MOST_STAGES;
    c->stages = steps < LEAST_STAGES ? LEAST_STAGES : steps > most ? most : steps;
}

static bool in_pairs(const Value *v) {
    return v->offset % 2 == 0 && value_cols(v) % 2 == 0 && v->row_stride % 2 == 0;
}

/* The same for neighbours in planes; `own`: each place is read for itself, not under a window. */
static int64_t places_at_once(const Value *v, bool own) {
    int64_t most = 16 / dtype_bytes(v->dtype);
    return own && v->offset % most == 0 && v->plane % most == 0 ? most : 1;
}

static bool reads_own_place(const Conv *c) {
    const Window *w = &c->op->attr.window;
    return w->kernel == 1 && w->stride == 1 && w->padding == 0;
}

static int block_threads(const Conv *c) {
    if (c->tensor_cores)
        return (int)(2 * (c->wgmma ? c->rows : c->cols));
    return (int)(c->rows * c->cols / 32);
}

static const char *template_of(const Conv *c) {
    if (c->wgmma)
        return "conv2d_wgmma.cu";
    return c->tensor_cores ? "conv2d_mma.cu" : "conv2d_fma.cu";
}

/* ---- kernels that multiply from image lines (Conv2dLines) ------------------------------------- */

/* Elements of a line that a window reads. */
static int64_t line_run(const Conv *c) {
    const Window *w = &c->op->attr.window;
    return round_up(w->padding * c->channels % 2 + w->kernel * c->channels, 8);
}

/* Elements of a line in shared memory. */
static int64_t line_pitch(const Conv *c) {
    const Window *w = &c->op->attr.window;
    int64_t before = w->padding * c->channels, front = round_up(before, 8);
    int64_t wide = window_out_width(w) / c->pool * c->pool;
    int64_t end = front - before - before % 2 + (wide - 1) * w->stride * c->channels + line_run(c);
    return round_up(larger(end, front + w->width * c->channels), 8);
}

/* Elements that one access may move of whole lines of x. */
static int64_t line_vector(const Conv *c) {
    int64_t line = c->op->attr.window.width * c->channels;
    return (c->x->offset | line) % 8 == 0 ? 8 : (c->x->offset | line) % 2 == 0 ? 2 : 1;
}

/* Bytes of shared memory of a block that keeps so many lines. */
static int64_t lines_shared(const Conv *c, int64_t lines) {
    if (c->op->kind == OP_conv2d_weight_grad)
        return 4 * (LINES_DEPTH * (c->rows + 8 + 2) + lines * line_pitch(c));
    int64_t depth = round_up(c->op->attr.window.kernel * line_run(c), 16);
    return 2 * (c->cols * (depth + 8) + lines * line_pitch(c));
}

/* Where channels fill no vectors, whole lines do better: sets how many a tile of `places` needs, if
 * they fit. */
static void choose_lines(Conv *c, int64_t places) {
    bool dense = !c->x->plane && c->x->row_stride == c->channels;
    if (c->backward || !c->tensor_cores || dtype_bytes(c->x->dtype) != 2 || !dense ||
        c->channels % 8 == 0)
        return;
    int64_t most = conv_lines(&c->op->attr.window, c->images, places, c->pool).most;
    if (lines_shared(c, most) <= MOST_LINES_BYTES)
        c->lines = most;
}

/* ---- filling --------------------------------------------------------------------------------- */

static Filling conv_filling(const Plan *plan, const Conv *c, const char *section) {
    const Window *w = &c->op->attr.window;
    Filling f = filling_new(plan, c->op, template_of(c), section);
    f.kernel.ops = op_titles(f.arena, c->group->ops, c->group->count);
    f.kernel.name = arena_printf(f.arena, "%s_%lldx%lldx%lldx%lld_%lldx%lldx%lld",
                                 titles_identifier(f.arena, f.kernel.ops), (long long)c->images,
                                 (long long)w->height, (long long)w->width, (long long)c->channels,
                                 (long long)c->filters, (long long)w->kernel, (long long)w->kernel);
    if (w->stride > 1)
        f.kernel.name = arena_printf(f.arena, "%s_s%lld", f.kernel.name, (long long)w->stride);
    fill_text(&f, "dtype", dtype_c_name(c->x->dtype));
    fill_int(&f, "height", w->height);
    fill_int(&f, "width", w->width);
    fill_int(&f, "out_height", window_out_height(w));
    fill_int(&f, "out_width", window_out_width(w));
    fill_int(&f, "channels", c->channels);
    fill_int(&f, "filters", c->filters);
    fill_int(&f, "size", w->kernel);
    fill_int(&f, "stride", w->stride);
    fill_int(&f, "padding", w->padding);
    fill_int(&f, "rows", c->rows);
    fill_int(&f, "cols", c->cols);
    f.kernel.threads = block_threads(c);
    if (c->wgmma)
        f.kernel.matmul_share = plan->device->wgmma_share;
    if (c->tensor_cores) {
        fill_int(&f, "stages", c->stages);
    } else {
        fill_text(&f, "acc", dtype_c_name(plan->program->real));
        fill_int(&f, "depth", c->depth);
    }
    return f;
}

/* Records which share of the grid's tiles lies inside the results. */
static void cover(Filling *f, const Conv *c, int64_t elements) {
    const int64_t *grid = f->launch.grid;
    fill_tiles(f, (double)elements, (double)(grid[0] * grid[1] * grid[2] * c->rows * c->cols));
}

/* Rows of the largest phase. */
static int64_t phase_rows(const Conv *c) {
    const Window *w = &c->op->attr.window;
    return c->images * ceil_div(w->height, c->phases) * ceil_div(w->width, c->phases);
}

/* How many threads hold any of `size` rows (columns). */
static int64_t holders(Share share, int64_t size) {
    int64_t rest = ceil_div(size % share.tile, share.side);
    return size / share.tile * share.threads + (rest < share.threads ? rest : share.threads);
}

/* The same for all rows, which are places or pooling windows, added up over phases. */
static int64_t row_holders(const Conv *c, Share share) {
    int64_t count = 0, high = c->high / c->pool, wide = c->wide / c->pool;
    for (int64_t y = 0; y < c->phases; y++)
        for (int64_t x = 0; x < c->phases; x++)
            count += holders(share, c->images * conv_phase_places(high, c->phases, y) *
                                        conv_phase_places(wide, c->phases, x));
    return count;
}

/* Sets which part of the result a thread holds, as in the templates. */
static void lay_epilogue(Kernel *k, const Conv *c) {
    int64_t window = c->pool * c->pool;
    Share rows = {8 / window, 1, 8 / window}, cols = {4, 1, 4};
    if (c->wgmma) {
        int64_t windows = c->rows / window, at_once = block_threads(c) / (c->cols / 8);
        rows = (Share){windows, at_once < windows ? at_once : windows, 1};
        cols = (Share){c->cols, c->cols / 8, 8};
    } else if (c->tensor_cores) {
        rows = (Share){c->rows / 2 / window, 8, 1};
        cols = (Share){32, 4, 2};
    }
    skeleton_epilogue(k, (int)(cols.tile / cols.threads), (int)cols.side,
                      holders(cols, k->body->cols), row_holders(c, rows));
}

/* Sets which places a gather computes: all of them, or those in whole pooling windows. */
static void find_places(Conv *c) {
    const Window *w = &c->op->attr.window;
    c->pool = c->group->windows ? c->group->windows->attr.window.kernel : 1;
    c->high = (c->backward ? w->height : window_out_height(w)) / c->pool * c->pool;
    c->wide = (c->backward ? w->width : window_out_width(w)) / c->pool * c->pool;
}

/* A thread has 4 or 8 rows of a tile, so it can have whole windows of 2x2. */
bool op_finds_windows(const Op *op, const Op *reader) {
    const Window *w = &reader->attr.window;
    return op->kind == OP_conv2d && op_is(reader, TRAIT_WINDOWS) && window_tiles(w) &&
           w->kernel == 2 && value_rows(reader->in[0]) == value_rows(op->out[0]);
}

/* The largest number of products that a gather adds up for a result. */
static int64_t gathered_depth(const Conv *c) {
    const Window *w = &c->op->attr.window;
    int64_t taps = ceil_div(w->kernel, w->stride);
    return c->backward ? taps * taps * c->filters : value_elements(c->w) / c->filters;
}

static void plan_gather(Plan *plan, Entry entry, Conv *c) {
    const Value *source = c->op->in[0], *out = c->op->out[0];
    find_places(c);
    int64_t found = c->images * c->high * c->wide, cols = value_cols(out);
    int64_t rows = c->backward ? phase_rows(c) : found;
    choose_tile(c, rows, cols);
    shrink_tile(c, rows, cols, enough_blocks(plan));
    choose_stages(c, gathered_depth(c));
    choose_lines(c, c->rows);
    Filling f = conv_filling(plan, c, "gather");
    fill_int(&f, "pool", c->pool);
    fill_int(&f, "images", c->images);
    fill_bool(&f, "backward", c->backward);
    fill_stride(&f, "source_stride", source);
    if (c->wgmma) {
        int64_t exchanged = 1024 + c->rows * (c->cols + 8) * 4;
        f.kernel.shared_bytes = wgmma_shared(c) > exchanged ? wgmma_shared(c) : exchanged;
    } else if (c->tensor_cores) {
        int64_t weights = c->backward ? flat_tile(c, c->cols) : deep_tile(c, c->cols);
        f.kernel.shared_bytes =
            c->lines ? lines_shared(c, c->lines) : c->stages * (deep_tile(c, c->rows) + weights);
        fill_int(&f, "source_vector", c->lines ? line_vector(c) : vector_of(source));
        fill_int(&f, "lines", c->lines);
        fill_int(&f, "weight_vector", vector_of(c->w));
    }
    fill_reads(&f, "source", source);
    fill_reads(&f, "weight", c->w);
    fill_grid(&f, ceil_div(rows, c->rows), ceil_div(cols, c->cols), c->phases * c->phases);
    fill_cost(&f, conv_gather_bytes(c->op, &f.launch, c->rows, c->pool, c->lines > 0),
              op_flops(c->op) * ((double)found / (double)value_rows(out)));
    cover(&f, c, found * cols);
    f.kernel.body = c->group->body;
    lay_epilogue(&f.kernel, c);
    fill_finish_epilogue(plan, entry, &f, c->group);
}

/* Like choose_tile and shrink_tile, with the result's channels as rows and places as columns. */
static void choose_planes_tile(Conv *c, int64_t results, int64_t places, int64_t blocks) {
    c->cols = places > 64 ? 128 : 64;
    for (c->rows = c->tensor_cores ? 128 : 64; c->rows > 32 && results <= c->rows / 2;)
        c->rows /= 2;
    shrink_tile(c, results, places, blocks);
}

static void plan_gather_planes(Plan *plan, Entry entry, Conv *c) {
    const Value *source = c->op->in[0], *out = c->op->out[0];
    int64_t blocks = c->images * c->phases * c->phases;
    int64_t places = c->backward ? phase_rows(c) / c->images : out->plane;
    choose_planes_tile(c, value_cols(out), places, ceil_div(enough_blocks(plan), blocks));
    choose_stages(c, gathered_depth(c));
    Filling f = conv_filling(plan, c, "gather_planes");
    fill_bool(&f, "backward", c->backward);
    if (c->tensor_cores) {
        int64_t weights = c->backward ? flat_tile(c, c->rows) : deep_tile(c, c->rows);
        f.kernel.shared_bytes = c->stages * (weights + flat_tile(c, c->cols));
        fill_int(&f, "weight_vector", vector_of(c->w));
        bool pairs = c->phases == 1 && out->plane % 2 == 0 && out->offset % 2 == 0;
        fill_int(&f, "out_vector", pairs ? 2 : 1);
    }
    fill_reads(&f, "source", source);
    fill_reads(&f, "weight", c->w);
    fill_result(&f, "out", out, c->op->attr.accumulate);
    fill_grid(&f, blocks * ceil_div(places, c->cols), ceil_div(value_cols(out), c->rows), 1);
    double results = (double)value_bytes(out) * (c->op->attr.accumulate ? 2 : 1);
    fill_cost(&f, conv_gather_bytes(c->op, &f.launch, c->cols, 1, false) + results,
              op_flops(c->op));
    cover(&f, c, value_elements(out));
    fill_finish(plan, entry, &f, c->op);
}

static Conv gather_of(const Plan *plan, const Group *group) {
    const Op *op = group->ops[0];
    const Value *source = op->in[0], *out = op->out[0];
    bool backward = op->kind == OP_conv2d_input_grad;
    Conv c = conv_of(plan, group, backward ? out : source, op->in[1], backward ? source : out);
    c.backward = backward;
    c.phases = backward ? op->attr.window.stride : 1;
    return c;
}

void plan_conv2d(Plan *plan, Entry entry, const Group *group) {
    Conv c = gather_of(plan, group);
    if (!c.x->plane)
        plan_gather(plan, entry, &c);
    else if (reads_own_place(&c))
        plan_plane_gemms(plan, entry, c.op, c.backward);
    else
        plan_gather_planes(plan, entry, &c);
}

/* ---- the weight's gradient ------------------------------------------------------------------- */

/* Time of the weight's gradient as a sum of parts, as far as it depends on their number. */
static double parts_ms(const Plan *plan, const Conv *c, int64_t tiles, int64_t parts) {
    const Device *device = plan->device;
    Grid grid = {.count = (double)(tiles * parts), .threads = block_threads(c), .under_way = 1};
    double places = (double)(ceil_div(value_rows(c->y), parts) * parts);
    double flops = 2 * places * (double)(tiles * c->rows * c->cols);
    double bytes = (double)(parts * value_elements(c->w) * dtype_bytes(plan->program->real));
    Traffic partial = {bytes, bytes};
    double share = c->wgmma ? device->wgmma_share : device->fused_share;
    Traffic written = parts > 1 ? partial : (Traffic){0};
    double ms =
        device_fused_time(device, program_rate(plan->program), share, flops, written, grid).ms;
    return parts == 1 ? ms : ms + device_kernel_time(device, RATE_F32, 0, 0, partial, (Grid){0}).ms;
}

/* Blocks that have enough warps together. On tensor cores a narrow tile has few. */
static int64_t blocks_of_enough_warps(const Plan *plan, const Conv *c) {
    int64_t by_warps = ceil_div(32 * ENOUGH_WARPS * multiprocessors(plan), block_threads(c));
    return c->tensor_cores && by_warps > enough_blocks(plan) ? by_warps : enough_blocks(plan);
}

/* As many parts as make it fastest: with few of them multiprocessors are idle, with many there is
 * more to add up. There are enough blocks if the places are enough for that. The price knows nothing
 * of waits for single elements; then there are as many parts as warps can be at work. */
static int64_t part_count(const Plan *plan, const Conv *c, int64_t tiles) {
    bool vectors = c->tensor_cores && (c->y->plane || c->lines || vector_of(c->x) > 1);
    int64_t most = ceil_div(value_rows(c->y), vectors ? LEAST_PART_IN_VECTORS : LEAST_PART);
    int64_t enough = blocks_of_enough_warps(plan, c) / tiles;
    if (c->tensor_cores && !vectors)
        return smaller(larger(enough, 1), most);
    int64_t best = enough > 1 && enough <= most ? enough : 1;
    int64_t blocks = MOST_BLOCKS * multiprocessors(plan);
    for (int64_t parts = best + 1; plan->device && parts <= most && parts * tiles <= blocks;
         parts++)
        if (parts_ms(plan, c, tiles, parts) < parts_ms(plan, c, tiles, best))
            best = parts;
    return best;
}

/* How many threads share an element's parts: with twice as many, each waits half as long. */
static int64_t shares_of(int64_t parts) {
    int64_t shares = 1;
    while (shares < MOST_SHARES && parts > PARTS_OF_A_THREAD * shares)
        shares *= 2;
    return shares;
}

static void plan_sum_parts(Plan *plan, Entry entry, const Conv *c, const Value *partial) {
    int64_t elements = value_elements(c->w), shares = shares_of(value_rows(partial));
    Filling f = filling_new(plan, c->op, "conv2d_parts.cu", "sum_parts");
    f.kernel.name = arena_printf(f.arena, "conv2d_sum_parts_%lldx%lld",
                                 (long long)value_rows(partial), (long long)elements);
    f.kernel.threads = PART_THREADS;
    fill_text(&f, "acc", dtype_c_name(partial->dtype));
    fill_text(&f, "grad_dtype", dtype_c_name(c->w->dtype));
    fill_int(&f, "parts", value_rows(partial));
    fill_int(&f, "shares", shares);
    fill_int(&f, "elements", elements);
    fill_reads(&f, "partial", partial);
    fill_result(&f, "dw", c->w, c->op->attr.accumulate);
    f.kernel.shared_bytes = PART_THREADS * dtype_bytes(partial->dtype);
    fill_grid(&f, ceil_div(elements * shares, PART_THREADS), 1, 1);
    double results = (double)value_bytes(c->w) * (c->op->attr.accumulate ? 2 : 1);
    fill_cost(&f, (double)value_bytes(partial) + results, (double)value_elements(partial));
    fill_finish(plan, entry, &f, c->op);
}

static void fill_mma(Filling *f, const Conv *c) {
    bool planes = c->y->plane != 0;
    f->kernel.shared_bytes = c->stages * (planes ? deep_tile(c, c->rows) + deep_tile(c, c->cols)
                                                 : flat_tile(c, c->rows) + flat_tile(c, c->cols));
    if (c->lines)
        f->kernel.shared_bytes = lines_shared(c, c->lines);
    fill_int(f, "lines", c->lines);
    fill_int(f, "source_vector",
             c->lines ? line_vector(c)
             : planes ? places_at_once(c->x, reads_own_place(c))
                      : vector_of(c->x));
    fill_int(f, "dy_vector", planes ? places_at_once(c->y, true) : vector_of(c->y));
}

static void fill_weight_grad(Filling *f, const Conv *c, const Value *to) {
    int64_t columns = value_elements(c->w) / c->filters;
    if (c->wgmma) {
        f->kernel.shared_bytes = wgmma_shared(c);
    } else {
        fill_bool(f, "planes", c->y->plane != 0);
        if (c->tensor_cores)
            fill_mma(f, c);
    }
    /* A part is stored as one row, but no pair may straddle the columns of two filters. */
    if (c->tensor_cores)
        fill_int(f, "out_vector", in_pairs(to) && columns % 2 == 0 ? 2 : 1);
}

/* Results are filters by columns. */
static void choose_weight_tile(Conv *c, int64_t columns) {
    choose_tile(c, c->filters, columns);
    if (c->wgmma && c->cols < 64)
        c->cols = 64;
    if (c->tensor_cores && !c->wgmma && c->filters <= 32 && c->cols <= 64)
        c->rows = 32; /* wider tiles have more threads than such rows have accesses */
}

/* From image lines: sets the columns, and a tile that has all of them if it can. */
static int64_t choose_weight_lines(Conv *c) {
    int64_t columns = c->op->attr.window.kernel * line_run(c);
    c->pool = 1;
    c->rows = c->filters > 64 ? 128 : c->filters > 32 ? 64 : 32;
    c->cols = smaller(round_up(columns, 32), MOST_LINES_COLS);
    choose_lines(c, LINES_DEPTH);
    return c->lines ? columns : value_elements(c->w) / c->filters;
}

/* Results are filters by columns, and columns have the grid's second dimension. */
static void check_columns(const Plan *plan, const Conv *c, int64_t columns) {
    if (ceil_div(columns, c->cols) > MOST_GRID_YZ)
        user_error(spec_pos(plan->spec, KEY_model_layers),
                   "use a smaller kernel, or fewer channels before it",
                   "%s has %lld elements per filter; this precision allows %lld at most",
                   c->w->name, (long long)columns, (long long)(MOST_GRID_YZ * c->cols));
}

void plan_conv2d_weight_grad(Plan *plan, Entry entry, const Group *group) {
    Program *p = plan->program;
    const Op *op = group->ops[0];
    Conv c = conv_of(plan, group, op->in[0], op->out[0], op->in[1]);
    int64_t columns = choose_weight_lines(&c), places = value_rows(c.y);
    if (!c.lines)
        choose_weight_tile(&c, columns);
    check_columns(plan, &c, columns);
    int64_t across = ceil_div(c.filters, c.rows), down = ceil_div(columns, c.cols);
    int64_t part_places = ceil_div(places, part_count(plan, &c, across * down));
    if (c.y->plane || c.lines)
        part_places = round_up(part_places, c.lines ? LINES_DEPTH : PLACES_AT_ONCE);
    int64_t parts = ceil_div(places, part_places);
    choose_stages(&c, part_places);
    const Value *to = c.w;
    if (parts > 1)
        to = value_2d(p, arena_printf(p->arena, "%s.partial", c.w->name), ROLE_ACTIVATION, p->real,
                      parts, value_elements(c.w), op->pos);
    Filling f = conv_filling(plan, &c, "weight_grad");
    fill_int(&f, "images", c.images);
    fill_text(&f, "grad_dtype", dtype_c_name(to->dtype));
    fill_stride(&f, "source_stride", c.x);
    fill_stride(&f, "dy_stride", c.y);
    fill_int(&f, "part_places", part_places);
    fill_weight_grad(&f, &c, to);
    fill_reads(&f, "x", c.x);
    fill_reads(&f, "dy", c.y);
    fill_result(&f, "dw", to, parts == 1 && op->attr.accumulate);
    fill_grid(&f, across, down, parts);
    fill_cost(&f, conv_weight_grad_bytes(op, &f.launch, LINES_DEPTH, c.lines > 0), op_flops(op));
    cover(&f, &c, value_elements(to));
    fill_finish(plan, entry, &f, op);
    if (parts > 1)
        plan_sum_parts(plan, entry, &c, to);
}
