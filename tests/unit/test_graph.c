/* The verifier: it accepts right programs, and reports each deliberately broken one as an internal
 * fault. Also tests when two views may share a byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "graph/graph.h"
#include "tests/unit/child.h"

/* a = silu(x), b = a + x, c = b W^T: a right program. */
typedef struct {
    Program *program;
    Graph *graph;
    Value *x, *w;
    Op *a, *b, *c;
    Stage stage;
} Example;

static Op *append(Example *e, OpKind kind, const char *name, Value *first, Value *second,
                  Value *to) {
    Value *in[] = {first, second};
    return op_add_into(e->program, e->graph, kind, name, in, second ? 2 : 1, &to, to ? 1 : 0,
                       (Attr){.alpha = 1}, (Pos){0});
}

static Example example(void) {
    Example e = {.stage = STAGE_SEMANTIC};
    e.program = program_new(calloc(1, sizeof(Arena))); /* lives as long as the test */
    e.program->real = e.program->activation = DT_F32;
    e.graph = &e.program->entry[ENTRY_MICRO_STEP];
    e.x = value_2d(e.program, "x", ROLE_INPUT, DT_F32, 4, 8, (Pos){0});
    e.w = value_2d(e.program, "w", ROLE_FROZEN, DT_F32, 6, 8, (Pos){0});
    e.a = append(&e, OP_silu, "a", e.x, NULL, NULL);
    e.b = append(&e, OP_add, "b", e.a->out[0], e.x, NULL);
    e.c = append(&e, OP_linear, "c", e.b->out[0], e.w, NULL);
    return e;
}

static Value *again(Example *e, Value *v) { return value_alias(e->program, v, "again"); }

/* ---- broken programs ------------------------------------------------------------------------- */

static void read_of_nothing(Example *e) {
    Value *ghost = value_2d(e->program, "ghost", ROLE_ACTIVATION, DT_F32, 4, 8, (Pos){0});
    append(e, OP_silu, "d", ghost, NULL, NULL);
}

static void read_before_write(Example *e) {
    Op *ops[] = {e->b, e->a, e->c};
    graph_set_ops(e->program, e->graph, ops, 3);
}

/* Reads columns 4 to 8 of a storage of which only 0 to 4 were written. */
static void read_beside_what_was_written(Example *e) {
    Value *wide = value_2d(e->program, "wide", ROLE_ACTIVATION, DT_F32, 4, 16, (Pos){0});
    append(e, OP_silu, "d", e->x, NULL, value_columns(e->program, wide, 0, 8, "left"));
    append(e, OP_silu, "f", value_columns(e->program, wide, 8, 8, "right"), NULL, NULL);
}

static void second_write(Example *e) { append(e, OP_silu, "d", e->x, NULL, e->a->out[0]); }
static void write_of_input(Example *e) { append(e, OP_silu, "d", e->a->out[0], NULL, e->x); }

static void write_of_frozen(Example *e) {
    Value *like_w = value_2d(e->program, "like", ROLE_INPUT, DT_F32, 6, 8, (Pos){0});
    append(e, OP_silu, "d", like_w, NULL, e->w);
}

/* d = a + x in a's bytes, and then an op reads a. */
static void read_after_in_place(Example *e) {
    append(e, OP_add, "d", e->a->out[0], e->x, again(e, e->a->out[0]));
    append(e, OP_silu, "f", e->a->out[0], NULL, NULL);
}

/* The same with an op that does not read a. */
static void read_after_overwriting(Example *e) {
    append(e, OP_silu, "d", e->x, NULL, again(e, e->a->out[0]));
    append(e, OP_silu, "f", e->a->out[0], NULL, NULL);
}

static void semantic_op_after_lower(Example *e) { e->stage = STAGE_KERNEL; }

/* Another view of a, which an op reads. */
static Value *read_again(Example *e) {
    Value *view = again(e, e->a->out[0]);
    append(e, OP_silu, "d", view, NULL, NULL);
    return view;
}

static void view_outside(Example *e) { read_again(e)->offset = 1; }
static void view_before(Example *e) { read_again(e)->offset = -1; }
static void view_too_strided(Example *e) { read_again(e)->row_stride = 9; }

static void result_outside(Example *e) {
    Value *view = again(e, e->a->out[0]);
    append(e, OP_silu, "d", e->x, NULL, view);
    view->offset = 1;
}

static void edge_backwards(Example *e) { e->a->after = e->c; }
static void edge_to_itself(Example *e) { e->b->after = e->b; }

static void edge_to_another_graph(Example *e) {
    Graph *other = &e->program->entry[ENTRY_LOAD];
    e->c->after = op_add(e->program, other, OP_silu, "other", &e->x, 1, (Attr){0}, (Pos){0});
}

static void clone_without_edge(Example *e) { e->b->phase = PHASE_RECOMPUTE; }
static void stale_index(Example *e) { e->b->id = 0; }
static void no_result(Example *e) { e->b->out_count = 0; }

static void operand_of_another_width(Example *e) {
    e->c->in[1] = value_2d(e->program, "narrow", ROLE_FROZEN, DT_F32, 6, 7, (Pos){0});
}

static void result_of_another_shape(Example *e) {
    e->c->out[0] = value_2d(e->program, "small", ROLE_ACTIVATION, DT_F32, 4, 5, (Pos){0});
}

static void accumulates_elsewhere(Example *e) {
    e->c->in[e->c->in_count++] = value_2d(e->program, "onto", ROLE_FROZEN, DT_F32, 4, 6, (Pos){0});
    e->c->attr.accumulate = true;
}

static void accumulates_as_it_cannot(Example *e) { e->b->attr.accumulate = true; }

/* Adds an op of this kind on two images of 4 x 4 x 8, a value of the given size, and a window. */
static void on_images(Example *e, OpKind kind, int64_t rows, int64_t cols, DType dtype, Window w) {
    Value *x = value_2d(e->program, "images", ROLE_INPUT, dtype, 32, 8, (Pos){0});
    Value *in[] = {x, value_2d(e->program, "other", ROLE_INPUT, DT_F32, rows, cols, (Pos){0})};
    w.height = w.height ? w.height : 4;
    w.width = 4;
    w.kernel = w.kernel ? w.kernel : 3;
    op_add(e->program, e->graph, kind, "d", in, kind == OP_max_pool2d ? 1 : 2, (Attr){.window = w},
           (Pos){0});
}

static void images_in_parts(Example *e) {
    on_images(e, OP_depthwise_conv2d, 9, 8, DT_F32, (Window){.height = 5, .stride = 1});
}
static void window_of_another_size(Example *e) {
    on_images(e, OP_depthwise_conv2d, 4, 8, DT_F32, (Window){.stride = 1});
}
static void window_without_stride(Example *e) {
    on_images(e, OP_max_pool2d, 1, 1, DT_F32, (Window){0});
}
static void window_wider_than_images(Example *e) {
    on_images(e, OP_max_pool2d, 1, 1, DT_F32, (Window){.kernel = 5, .stride = 1});
}
static void window_too_wide(Example *e) {
    on_images(e, OP_max_pool2d, 1, 1, DT_F32, (Window){.kernel = 8, .stride = 1, .padding = 4});
}
static void window_in_padding(Example *e) {
    on_images(e, OP_max_pool2d, 1, 1, DT_F32, (Window){.stride = 1, .padding = 3});
}
static void pixels_of_other_images(Example *e) {
    Window w = {.stride = 1, .padding = 1};
    on_images(e, OP_depthwise_conv2d_weight_grad, 48, 8, DT_F32, w);
}
static void argmax_of_other_channels(Example *e) {
    on_images(e, OP_max_pool2d_grad, 32, 7, DT_U8, (Window){.stride = 1, .padding = 1});
}
static void argmax_of_another_dtype(Example *e) {
    on_images(e, OP_max_pool2d_grad, 32, 8, DT_F32, (Window){.stride = 1, .padding = 1});
}

static const struct {
    const char *name;
    void (*break_it)(Example *);
    const char *message;
} broken[] = {
    {"read of what nothing wrote", read_of_nothing, "d reads ghost, which nothing wrote"},
    {"read before write", read_before_write, "b reads a, which nothing wrote"},
    {"read beside what was written", read_beside_what_was_written, "f reads right, which nothing"},
    {"second write", second_write, "d writes a a second time"},
    {"write of an input", write_of_input, "d writes x, which is input"},
    {"write of a frozen weight", write_of_frozen, "d writes w, which is frozen"},
    {"read after an op in place", read_after_in_place, "f reads a, which d has overwritten"},
    {"read after overwriting", read_after_overwriting, "f reads a, which d has overwritten"},
    {"semantic op after lower", semantic_op_after_lower, "c (linear) is not allowed"},
    {"view past its storage", view_outside, "again lies outside a"},
    {"view before its storage", view_before, "again lies outside a"},
    {"view with too wide a stride", view_too_strided, "again lies outside a"},
    {"result past its storage", result_outside, "again lies outside a"},
    {"control edge backwards", edge_backwards, "a runs before c"},
    {"control edge to itself", edge_to_itself, "b runs before b"},
    {"control edge to another graph", edge_to_another_graph, "c runs before other"},
    {"clone without an edge", clone_without_edge, "nothing holds b back"},
    {"stale index", stale_index, "b has a stale index"},
    {"no result", no_result, "b has no result"},
    {"operand of another width", operand_of_another_width, "input and weight differ"},
    {"result of another shape", result_of_another_shape, "a result has another shape"},
    {"sum that is not in place", accumulates_elsewhere, "accumulates, but not in place"},
    {"images in parts", images_in_parts, "rows are not whole images"},
    {"window of another size", window_of_another_size, "weight of another shape"},
    {"window without a stride", window_without_stride, "no window"},
    {"window wider than images", window_wider_than_images, "images lower than the window"},
    {"window too wide", window_too_wide, "too wide to be written out"},
    {"window in the padding", window_in_padding, "lies in the padding alone"},
    {"pixels of other images", pixels_of_other_images, "(depthwise_conv2d_weight_grad): images"},
    {"argmax of other channels", argmax_of_other_channels, "argmax of another shape"},
    {"argmax of another dtype", argmax_of_another_dtype, "argmax of another dtype"},
    {"sum by an op that cannot add", accumulates_as_it_cannot, "b cannot add onto its result"},
};
enum { BROKEN = sizeof broken / sizeof *broken };

/* ---- in a child, which may abort -------------------------------------------------------------- */

typedef struct {
    void (*break_it)(Example *);
} Breakage;

static void verify_broken(const void *argument) {
    const Breakage *breakage = argument;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGABRT, SIG_DFL);
    Example e = example();
    breakage->break_it(&e);
    program_verify(e.program, e.stage, "test");
}

/* Returns the child's exit status; its messages are in `said`. */
static int verify(void (*break_it)(Example *), char *said, size_t size) {
    return child_run(verify_broken, &(Breakage){break_it}, said, size);
}

static void test_broken(void **state) {
    int i = (int)(intptr_t)*state;
    char said[4096];
    int status = verify(broken[i].break_it, said, sizeof said);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("it was accepted");
    if (!strstr(said, "internal") || !strstr(said, broken[i].message))
        fail_msg("\"%s\" is not in: %s", broken[i].message, said);
}

/* ---- right ones ------------------------------------------------------------------------------- */

static void untouched(Example *e) { (void)e; }

/* Halves of one storage, read as a whole; an in-place op without later readers; an edge to an
 * earlier op. */
static void with_views(Example *e) {
    Value *wide = value_2d(e->program, "wide", ROLE_ACTIVATION, DT_F32, 4, 16, (Pos){0});
    append(e, OP_silu, "left", e->x, NULL, value_columns(e->program, wide, 0, 8, "l"));
    append(e, OP_silu, "right", e->x, NULL, value_columns(e->program, wide, 8, 8, "r"));
    Op *whole = append(e, OP_silu, "whole", wide, NULL, NULL);
    append(e, OP_add, "in_place", whole->out[0], wide, again(e, whole->out[0]));
    Op *clone = append(e, OP_silu, "clone", e->x, NULL, NULL);
    clone->phase = PHASE_RECOMPUTE;
    clone->after = whole;
}

static void test_right(void **state) {
    (void)state;
    static void (*const right[])(Example *) = {untouched, with_views};
    for (int i = 0; i < 2; i++) {
        char said[4096];
        if (verify(right[i], said, sizeof said))
            fail_msg("%s", said);
    }
}

static void test_overlap_of_views(void **state) {
    (void)state;
    Example e = example();
    Program *p = e.program;
    Value *m = value_2d(p, "m", ROLE_ACTIVATION, DT_F32, 4, 16, (Pos){0});
    Value *left = value_columns(p, m, 0, 8, "l"), *right = value_columns(p, m, 8, 8, "r");
    Value *middle = value_columns(p, m, 4, 8, "m");
    Value *top = value_row_range(p, m, 0, 2, "t"), *bottom = value_row_range(p, m, 2, 2, "b");
    assert_false(value_overlaps(left, right));
    assert_false(value_overlaps(top, bottom));
    assert_true(value_overlaps(left, middle) && value_overlaps(middle, right));
    assert_true(value_overlaps(left, top) && value_overlaps(right, bottom));
    assert_true(value_overlaps(m, left) && value_overlaps(bottom, m));
    assert_false(value_overlaps(m, e.x));
    Value *corner = value_columns(p, bottom, 8, 8, "c");
    assert_true(value_overlaps(corner, right) && !value_overlaps(corner, left));
    assert_true(!value_overlaps(corner, top));
    assert_false(value_same_place(left, right));
    assert_true(value_same_place(m, value_alias(p, m, "same")));
    assert_true(value_dense(top) && !value_dense(left));
}

int main(void) {
    struct CMUnitTest tests[BROKEN + 2];
    for (intptr_t i = 0; i < BROKEN; i++)
        tests[i] = (struct CMUnitTest){broken[i].name, test_broken, NULL, NULL, (void *)i};
    tests[BROKEN] = (struct CMUnitTest)cmocka_unit_test(test_right);
    tests[BROKEN + 1] = (struct CMUnitTest)cmocka_unit_test(test_overlap_of_views);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
