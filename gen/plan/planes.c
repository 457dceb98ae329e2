/* Lays out bodies by planes. */
#include "plan/planes.h"

typedef struct {
    Program *program;
    const Body *from;
    Body *to, *second;
    int64_t plane, channels, images;
    bool is_long;                   /* an element's index may exceed 2^31 */
    int *place;                     /* by step of `from`: the step that replaces it */
    int row, image, channel, pixel; /* steps; -1: not needed so far */
    int before;                     /* see planar_element; for planes of before_plane */
    int64_t before_plane;
} Planes;

/* Planes of one pixel, and images of one channel, are stored the same way row by row. */
static bool lies_in_planes(const Value *v) { return v->plane > 1 && value_cols(v) > 1; }

static bool moves(const Step *s) { return s->kind == STEP_LOAD || s->kind == STEP_STORE; }

/* Pixels per plane of the values that the body accesses at its own rows. 1 if these are images of
 * one pixel but it reads others in planes; 0 if nothing lies in planes. */
static int64_t plane_of(const Body *body) {
    int64_t plane = 0;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (!moves(s) || !lies_in_planes(s->value))
            continue;
        if (s->row_index < 0)
            return s->value->plane;
        plane = 1;
    }
    return plane;
}

static bool is_long(const Body *body) {
    for (int i = 0; i < body->count; i++)
        if (moves(&body->steps[i]) && value_elements(body->steps[i].value) > INT32_MAX)
            return true;
    return false;
}

/* ---- where the body is ----------------------------------------------------------------------- */

/* a * n, a / n or a % n, where n is the number of channels. */
static int of_channels(Planes *p, StepKind kind, int a) {
    return step_binary(p->to, kind, a, step_extent(p->to, p->channels, "CHANNELS"));
}

/* Whether the iteration space stays as it is: with images of one pixel, rows are images. */
static bool has_rows(const Planes *p) { return p->plane == 1; }

static int row(Planes *p) {
    if (p->row < 0)
        p->row = step_index(p->to, STEP_ROW);
    return p->row;
}

static int image(Planes *p) {
    if (has_rows(p))
        return row(p);
    if (p->image < 0)
        p->image = step_called(p->to, of_channels(p, STEP_DIV, row(p)), "image");
    return p->image;
}

static int channel(Planes *p) {
    if (p->channel < 0 && has_rows(p))
        p->channel = step_index(p->to, STEP_COL);
    if (p->channel < 0)
        p->channel = step_called(p->to, of_channels(p, STEP_MOD, row(p)), "channel");
    return p->channel;
}

/* Index of the plane: n C + c for image n and channel c. */
static int plane(Planes *p) {
    if (!has_rows(p))
        return row(p);
    return step_binary(p->to, STEP_ADD, of_channels(p, STEP_MUL, row(p)), channel(p));
}

/* The row index in the original body. */
static int pixel(Planes *p) {
    if (p->pixel < 0) {
        int places = step_extent(p->to, p->plane, "PLACES");
        int first = step_binary(p->to, STEP_MUL, image(p), places);
        p->pixel = step_binary(p->to, STEP_ADD, first, step_index(p->to, STEP_COL));
        step_called(p->to, p->pixel, "pixel");
    }
    return p->pixel;
}

/* ---- where an element is --------------------------------------------------------------------- */

static int index_of(Planes *p, int a) { return p->is_long ? step_cast(p->to, TYPE_LONG, a) : a; }

static int times(Planes *p, int a, int64_t n, const char *name) {
    if (n == 1)
        return index_of(p, a);
    return step_binary(p->to, STEP_MUL, index_of(p, a), index_of(p, step_extent(p->to, n, name)));
}

static int plus(Planes *p, int a, int b) { return step_binary(p->to, STEP_ADD, a, b); }

/* Row `at` of image n, channel c: n Q C + c Q + at - n Q. */
static int planar_element(Planes *p, const Value *v, int at) {
    ENSURE(value_rows(v) == p->images * v->plane, "%s: other images than its kernel's", v->name);
    if (p->before_plane != v->plane) {
        int planes = step_binary(p->to, STEP_SUB, plane(p), image(p));
        const char *places = v->plane == p->plane ? "PLACES" : "FROM_PLACES";
        p->before = step_called(p->to, times(p, planes, v->plane, places), "planes_before");
        p->before_plane = v->plane;
    }
    return plus(p, p->before, index_of(p, at));
}

static int element(Planes *p, const Value *v, int at) {
    if (lies_in_planes(v))
        return planar_element(p, v, at);
    if (value_cols(v) == 1)
        return index_of(p, at);
    int col = index_of(p, channel(p));
    return at < 0 ? col : plus(p, times(p, at, value_cols(v), "CHANNELS"), col);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static Value *by_planes(Planes *p, Value *v) {
    ENSURE(lies_in_planes(v) && v->plane == p->plane, "%s lies in no planes of %lld", v->name,
           (long long)p->plane);
    return value_reshaped(p->program, v, p->to->rows, p->plane);
}

/* The row that a load reads; -1 if the value has only one. */
static int asked_row(Planes *p, const Step *s) {
    if (s->row_index >= 0)
        return p->place[s->row_index];
    return value_rows(s->value) > 1 ? pixel(p) : -1;
}

static int load(Planes *p, const Step *s) {
    Value *v = s->value;
    ENSURE(s->col_map == COL_SAME, "%s lies in planes and is read by mapped columns", v->name);
    if (s->row_index < 0 && lies_in_planes(v))
        return step_load(p->to, by_planes(p, v));
    if (s->row_index < 0 && value_elements(v) == 1)
        return step_load(p->to, v);
    int at = element(p, v, asked_row(p, s));
    int64_t all[] = {value_elements(v), 1};
    int condition = s->arg[0] >= 0 ? p->place[s->arg[0]] : -1;
    return step_load_where(p->to, value_at(p->program, v, 0, 2, all, v->name), at, condition);
}

static void store(Planes *p, const Step *s) {
    ENSURE(s->row_index < 0, "%s is written at a row", s->value->name);
    step_store(p->to, by_planes(p, s->value), p->place[s->arg[0]]);
}

/* Stores the sums of each image, and appends to `second` what adds them up. */
static void sum_images(Planes *p, const Step *s, int sum) {
    Program *program = p->program;
    int64_t first = (int64_t)s->constant * p->channels, count[] = {p->channels, 1};
    if (p->images == 1) {
        step_store(p->to, value_at(program, s->value, first, 2, count, s->value->name), sum);
        return;
    }
    const char *name = arena_printf(program->arena, "%s_partial", s->value->name);
    Value *partial =
        value_2d(program, name, ROLE_ACTIVATION, program->real, p->to->rows, 1, s->value->pos);
    step_store(p->to, partial, sum);
    if (!p->second)
        p->second = body_new(program->arena, p->images, p->channels);
    Value *of_images = value_reshaped(program, partial, p->images, p->channels);
    step_store(p->second, value_at(program, s->value, first, 1, count, s->value->name),
               step_total(p->second, step_load(p->second, of_images)));
}

/* A COL_SUM over all rows, or over the rows of each image. */
static void sum_rows(Planes *p, const Step *s) {
    int sum = step_reduce(p->to, STEP_ROW_SUM, p->place[s->arg[0]]);
    p->to->steps[sum].of_product = s->of_product;
    if (!s->period) {
        sum_images(p, s, sum);
        return;
    }
    ENSURE(s->period == p->plane, "%s: sums over other rows than a plane's", s->value->name);
    step_store(p->to, value_reshaped(p->program, s->value, p->to->rows, 1), sum);
}

/* Whether the step is row / P or row % P, which are the image and the column of the new body. */
static bool is_part_of_row(const Planes *p, const Step *s) {
    const Step *steps = p->from->steps;
    return (s->kind == STEP_DIV || s->kind == STEP_MOD) && steps[s->arg[0]].kind == STEP_ROW &&
           steps[s->arg[1]].kind == STEP_CONST && steps[s->arg[1]].constant == (double)p->plane;
}

/* Whether anything else uses the ROW step. */
static bool is_asked_for(const Planes *p, int step) {
    for (int i = step + 1; i < p->from->count; i++) {
        const Step *s = &p->from->steps[i];
        bool reads = s->row_index == step;
        for (int k = 0; k < step_args(s); k++)
            reads = reads || s->arg[k] == step;
        if (reads && !is_part_of_row(p, s))
            return true;
    }
    return false;
}

static int copied(Planes *p, Step s) {
    s = step_moved(s, p->place);
    s.level = LEVEL_SCALAR;
    for (int k = 0; k < step_args(&s); k++)
        s.level = level_join(s.level, p->to->steps[s.arg[k]].level);
    return body_append(p->to, s);
}

/* Copies a step whose level stays the same, as the iteration space does. */
static int kept(Planes *p, Step s) { return body_append(p->to, step_moved(s, p->place)); }

static int step_by_planes(Planes *p, int i) {
    const Step *s = &p->from->steps[i];
    if (has_rows(p))
        return moves(s) && lies_in_planes(s->value) ? load(p, s) : kept(p, *s);
    if (is_part_of_row(p, s))
        return s->kind == STEP_DIV ? image(p) : step_index(p->to, STEP_COL);
    switch (s->kind) {
    case STEP_ROW:
        return is_asked_for(p, i) ? pixel(p) : -1;
    case STEP_COL:
        return channel(p);
    case STEP_LOAD:
        return load(p, s);
    case STEP_STORE:
        store(p, s);
        return -1;
    case STEP_COL_SUM:
        sum_rows(p, s);
        return -1;
    case STEP_ROW_SUM:
    case STEP_ROW_LSE:
    case STEP_TOTAL:
        internal_fault(__FILE__, __LINE__, "%s over channels that lie in planes",
                       step_name(s->kind));
    default:
        return copied(p, *s);
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

Body *body_by_planes(Program *program, Body *body, Body **second) {
    int64_t plane = plane_of(body);
    *second = NULL;
    if (!plane)
        return body;
    ENSURE(body->rows % plane == 0, "a kernel of %lld rows, and planes of %lld",
           (long long)body->rows, (long long)plane);
    Planes p = {.program = program,
                .from = body,
                .plane = plane,
                .channels = body->cols,
                .images = body->rows / plane,
                .is_long = is_long(body),
                .place = arena_array(program->arena, (size_t)body->count, sizeof(int)),
                .row = -1,
                .image = -1,
                .channel = -1,
                .pixel = -1};
    p.to = has_rows(&p) ? body_new(program->arena, body->rows, body->cols)
                        : body_new(program->arena, p.images * p.channels, plane);
    for (int i = 0; i < body->count; i++) {
        p.place[i] = step_by_planes(&p, i);
        if (p.place[i] >= 0 && body->steps[i].name)
            step_called(p.to, p.place[i], "%s", body->steps[i].name);
    }
    *second = p.second;
    return p.to;
}
