/* Batch norm of a linear's result is computed from products with the linear's input x, where that is
 * narrower than the result y:
 *
 *     y = x W^T,  mean, rstd = batch_norm_stats(sums of y),  z = batch_norm(y, ...)
 *         ->  gram = [x|1]^T [x|1],  mean, rstd = linear_norm_stats(W scatter(gram), ...)
 *
 *     dot, sum = sums of dz yhat and dz,  dy = batch_norm_grad(y, ..., dz),  dW = dy^T x,  dx = dy W
 *         ->  products = dz^T [x|1],  dot, sum, dW, of_dz = linear_norm_grads(products, ...)
 *             dx = dz of_dz + [x|1] [of_x; of_ones]
 *
 * So forward passes over y once, to make z, and backward not at all: y is not kept, and dy does not
 * exist. What is new is read from x, in the bottlenecks of ResNet a quarter as wide as y, and in those
 * of MobileNet v2 a sixth. ops_gram.c has the formulas. x and its ones are columns of one matrix, so
 * that products with it are sums too, and add a bias with more digits than their operands have.
 *
 * Requires forward and backward as autodiff left them; leaves batch norms that another pass has
 * changed, as those whose sums ranks share, and inputs that cannot become columns of a wider matrix.
 * With "auto" this is done where the device is expected to gain, and not in fp32: there the difference
 * in scatter costs digits that x in 16 bits does not have, and fp64 can spare. */
#include "devices/device.h"
#include "graph/op_table.h"
#include "pass/pass.h"

/* Operands of the matched ops. */
enum { X, W };
enum { MEAN = 1, RSTD, WEIGHT, DOT };
enum { SUMS_DZ = 3, GRAD_DZ = 6 };

/* Columns beside x: two of ones and else zeros, so that its rows stay multiples of 16 bytes. */
enum { BESIDE = 8 };

typedef struct {
    Op *linear, *sums, *stats, *norm;
    Op *grad_sums, *grad, *weight_grad, *input_grad;
    int64_t rows, in, out; /* R, K, C */
    Value *x_ones;         /* [R, K + BESIDE] */
    Value *sum;            /* [K], of x's rows */
    Value *sum_column;     /* the same numbers as [K,1] */
    Value *cross;          /* [C,K] */
} Norm;

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_product(const Op *op, bool transpose_a) {
    return op->kind == OP_matmul && op->attr.transpose_a == transpose_a && !op->attr.transpose_b &&
           op->attr.alpha == 1;
}

static bool may_go(const GraphUses *uses, const Op *op) {
    return op_is_plain(op) && !graph_waits_for(uses->graph, op);
}

/* Finds who reads y; false if anything else does. */
static bool find_readers(const GraphUses *uses, Norm *n) {
    int count;
    Op *const *reader = use_readers(uses, n->linear->out[0], &count);
    for (int i = 0; i < count; i++) {
        Op **found = reader[i]->kind == OP_batch_norm_sums        ? &n->sums
                     : reader[i]->kind == OP_batch_norm           ? &n->norm
                     : reader[i]->kind == OP_batch_norm_grad_sums ? &n->grad_sums
                     : reader[i]->kind == OP_batch_norm_grad      ? &n->grad
                                                                  : NULL;
        if (!found || *found || !may_go(uses, reader[i]))
            return false;
        *found = reader[i];
    }
    return count == 4;
}

/* Whether the statistics, and what the gradient reads, are those of the sums found. */
static bool find_stats(const GraphUses *uses, Norm *n) {
    n->stats = use_maker(uses, n->norm->in[MEAN]);
    return n->stats && n->stats->kind == OP_batch_norm_stats && may_go(uses, n->stats) &&
           n->stats->in[0] == n->sums->out[0] && n->grad->in[DOT] == n->grad_sums->out[0] &&
           n->grad->in[MEAN] == n->norm->in[MEAN] &&
           n->grad->in[GRAD_DZ] == n->grad_sums->in[SUMS_DZ];
}

/* Finds who reads the gradient of y. */
static bool find_gradients(const GraphUses *uses, Norm *n) {
    int count;
    const Value *dy = n->grad->out[0];
    Op *const *reader = use_readers(uses, dy, &count);
    for (int i = 0; i < count; i++) {
        Op *op = reader[i];
        if (op->in[0] != dy || !may_go(uses, op))
            return false;
        if (is_product(op, true) && op->in[1] == n->linear->in[X])
            n->weight_grad = op;
        else if (is_product(op, false) && op->in[1] == n->linear->in[W] && !op->attr.accumulate)
            n->input_grad = op;
    }
    return count == 2 && n->weight_grad && n->input_grad;
}

/* Whether x may lie beside ones: products and bodies read rows at any distance. */
static bool can_be_beside_ones(const GraphUses *uses, const Value *x) {
    int count;
    Op *const *reader = use_readers(uses, x, &count);
    for (int i = 0; i < count; i++)
        if (reader[i]->kind != OP_linear && reader[i]->kind != OP_matmul &&
            !op_table[reader[i]->kind].expand)
            return false;
    return x->role == ROLE_ACTIVATION && x->rank == 2 && use_can_stride(uses, x);
}

/* Fills in what is known of a linear's batch norm; false if it cannot be rewritten. */
static bool match(const GraphUses *uses, Op *op, Norm *n) {
    if (op->kind != OP_linear || op->in_count != 2 || op->attr.alpha != 1 || !may_go(uses, op))
        return false;
    const Value *x = op->in[X];
    *n = (Norm){
        .linear = op, .rows = value_rows(x), .in = value_cols(x), .out = value_cols(op->out[0])};
    return can_be_beside_ones(uses, x) && find_readers(uses, n) && find_stats(uses, n) &&
           find_gradients(uses, n);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* More than before: those of ones, scatter, linear_norm_grads, of_x, of_ones, two casts of W and two
 * sums for of_ones, without two that ended sums over the rows of y. */
enum { SMALL_KERNELS = 7 };

static double streamed_ms(const Device *device, double bytes) {
    return bytes / device->memory_rate * 1e3;
}

static double product_ms(const Device *device, const Program *p, double m, double n, double k) {
    double size = dtype_bytes(p->activation), bytes = size * (m * k + k * n + m * n);
    return device_matmul_time(device, program_rate(p), 1, m, n, k, (Traffic){bytes, bytes}).ms;
}

/* Whether sums have more digits than x, or more than enough: see the head comment. */
static bool has_digits_to_spare(const Program *p) { return p->activation != DT_F32; }

/* Saved: reading y for both kinds of sums and for its gradient, reading dz for that, and writing it.
 * (The kernel that makes dz takes the sums of backward; dW and dx read dz as they read that gradient.)
 * New: gram, and the part of dx that comes from x, which is written and read again. */
static bool gains(const Device *device, const Program *p, const Norm *n) {
    double size = dtype_bytes(p->activation), rows = (double)n->rows;
    double wide = (double)(n->in + BESIDE), in = (double)n->in, out = (double)n->out;
    double saved = streamed_ms(device, 5 * rows * out * size);
    Rate real = p->real == DT_F64 ? RATE_F64 : RATE_F32;
    double small = SMALL_KERNELS * (device->kernel_ms + device->kernel_gap_ms);
    double more = product_ms(device, p, wide, wide, rows) + product_ms(device, p, rows, in, wide) +
                  streamed_ms(device, rows * in * size) +
                  2 * device_matmul_time(device, real, 1, out, in, in, (Traffic){0, 0}).ms;
    return has_digits_to_spare(p) && more + small < saved;
}

/* ---- rewriting ------------------------------------------------------------------------------- */

typedef struct {
    Program *program;
    Graph *graph;
} Rewrite;

/* What is new is named after the norm. */
static const char *name_of(const Rewrite *r, const Norm *n, const char *part) {
    return arena_printf(r->program->arena, "%s.%s", n->norm->name, part);
}

static Value *matrix(const Rewrite *r, const Norm *n, const char *part, DType dtype, int64_t rows,
                     int64_t cols) {
    return value_2d(r->program, name_of(r, n, part), ROLE_ACTIVATION, dtype, rows, cols,
                    n->norm->pos);
}

static Op *add(const Rewrite *r, OpKind kind, const char *name, Value *const *in, int in_count,
               Value *const *out, int out_count, Attr attr, Pos pos) {
    return op_add_into(r->program, r->graph, kind, name, in, in_count, out, out_count, attr, pos);
}

/* c = alpha op(a) b, which the model does not ask for. */
static void product(const Rewrite *r, Value *a, bool transpose_a, Value *b, double alpha,
                    Value *c) {
    Attr attr = {.alpha = alpha, .transpose_a = transpose_a};
    add(r, OP_matmul, c->name, (Value *[]){a, b}, 2, &c, 1, attr, c->pos)->extra = true;
}

/* A number per channel as a number per row. */
static Value *as_rows(const Rewrite *r, Value *channels) {
    return value_reshaped(r->program, channels, value_elements(channels), 1);
}

/* x moves into a wider matrix, beside ones. */
static void add_ones(const Rewrite *r, Norm *n) {
    Program *p = r->program;
    Value *x = n->linear->in[X];
    n->x_ones = matrix(r, n, "x_ones", x->dtype, n->rows, n->in + BESIDE);
    value_move(x, value_columns(p, n->x_ones, 0, n->in, x->name));
    Value *ones = value_columns(p, n->x_ones, n->in, BESIDE, name_of(r, n, "ones"));
    add(r, OP_ones_columns, ones->name, NULL, 0, &ones, 1, (Attr){0}, n->norm->pos);
}

/* gram's last columns and rows are sums of x. */
static Value *add_scatter(const Rewrite *r, Norm *n) {
    Program *p = r->program;
    Value *gram = matrix(r, n, "gram", p->real, n->in + BESIDE, n->in + BESIDE);
    product(r, n->x_ones, true, n->x_ones, 1, gram);
    Value *of_x = value_row_range(p, gram, 0, n->in, gram->name);
    Value *of_ones = value_row_range(p, gram, n->in, 1, gram->name);
    n->sum = value_columns(p, of_ones, 0, n->in, name_of(r, n, "x_sum"));
    n->sum_column = value_columns(p, of_x, n->in, 1, name_of(r, n, "x_sum_column"));
    Value *in[] = {value_columns(p, of_x, 0, n->in, name_of(r, n, "x_gram")), n->sum_column,
                   n->sum};
    return op_add(p, r->graph, OP_scatter_matrix, name_of(r, n, "scatter"), in, 3,
                  (Attr){.rows = n->rows}, n->norm->pos)
        ->out[0];
}

/* W in `real`, for products with numbers that must not be rounded. */
static Value *weight_in_real(const Rewrite *r, const Norm *n, const char *name) {
    Value *w = n->linear->in[W];
    if (w->dtype == r->program->real)
        return w;
    Value *real = matrix(r, n, name, r->program->real, n->out, n->in);
    return add(r, OP_cast, real->name, &w, 1, &real, 1, (Attr){0}, w->pos)->out[0];
}

/* In the place of the sums: what the statistics need. */
static void add_forward(const Rewrite *r, Norm *n) {
    add_ones(r, n);
    Value *scatter = add_scatter(r, n);
    n->cross = matrix(r, n, "cross", r->program->real, n->out, n->in);
    product(r, weight_in_real(r, n, "w_real"), false, scatter, 1, n->cross);
}

static void add_stats(const Rewrite *r, const Norm *n) {
    Op *stats = n->stats;
    Value *in[] = {n->cross, n->linear->in[W], n->sum, as_rows(r, stats->in[2]),
                   as_rows(r, stats->in[3])};
    Value *out[4];
    for (int i = 0; i < 4; i++)
        out[i] = as_rows(r, stats->out[i]);
    add(r, OP_linear_norm_stats, stats->name, in, 5, out, 4, stats->attr, stats->pos);
}

/* dW and the norm's own gradients; how dx depends on dz, and `pull`, from which follows how on x. */
static void add_weight_grads(const Rewrite *r, const Norm *n, Value *of_dz, Value *pull) {
    Program *p = r->program;
    Value *dz = n->grad_sums->in[SUMS_DZ], *const *bn = n->grad_sums->out;
    Value *products = matrix(r, n, "products", p->real, n->out, n->in + BESIDE);
    Attr attr = {.alpha = 1, .transpose_a = true, .zeros = n->rows * BESIDE};
    add(r, OP_matmul, products->name, (Value *[]){dz, n->x_ones}, 2, &products, 1, attr, dz->pos);
    const Op *dw = n->weight_grad;
    Value *onto = op_so_far(dw);
    Value *fresh = onto ? matrix(r, n, "w_grad", p->real, n->out, n->in) : dw->out[0];
    Value *in[] = {value_columns(p, products, 0, n->in, name_of(r, n, "dz_x")),
                   value_columns(p, products, n->in, 1, name_of(r, n, "dz_sum")),
                   n->cross,
                   n->linear->in[W],
                   n->sum,
                   as_rows(r, n->grad->in[RSTD]),
                   as_rows(r, n->grad->in[WEIGHT])};
    Value *out[] = {as_rows(r, bn[0]), as_rows(r, bn[1]), fresh, of_dz, pull};
    add(r, OP_linear_norm_grads, n->grad_sums->name, in, 7, out, 5, (Attr){.rows = n->rows},
        dw->pos);
    if (onto)
        add(r, OP_add, dw->name, (Value *[]){onto, fresh}, 2, dw->out, 1, (Attr){0}, dw->pos);
}

/* [of_x; of_ones], whose product with [x|1] is a part of dx. */
static Value *add_of_x_ones(const Rewrite *r, const Norm *n, Value *of_dz, Value *pull) {
    Program *p = r->program;
    const Pos pos = n->norm->pos;
    Value *exact = matrix(r, n, "of_x_real", p->real, n->in, n->in);
    /* W is converted again, so that it is not kept from forward on. */
    product(r, weight_in_real(r, n, "w_real_again"), true, pull, -1, exact);
    Value *all = matrix(r, n, "of_x_ones", p->activation, n->in + BESIDE, n->in);
    Value *of_x = value_row_range(p, all, 0, n->in, name_of(r, n, "of_x"));
    Value *of_ones = value_row_range(p, all, n->in, BESIDE, name_of(r, n, "of_ones"));
    Value *x_part = value_1d(p, name_of(r, n, "of_x_sum"), ROLE_ACTIVATION, p->real, n->in, pos);
    Value *dz_part = value_1d(p, name_of(r, n, "of_dz_sum"), ROLE_ACTIVATION, p->real, n->in, pos);
    add(r, OP_linear_norm_of_x, of_x->name, (Value *[]){exact, n->sum_column}, 2,
        (Value *[]){of_x, x_part}, 2, (Attr){0}, pos);
    add(r, OP_weighted_column_sum, dz_part->name,
        (Value *[]){of_dz, as_rows(r, n->grad_sums->out[1])}, 2, &dz_part, 1, (Attr){0}, pos);
    add(r, OP_linear_norm_of_ones, of_ones->name, (Value *[]){x_part, dz_part}, 2, &of_ones, 1,
        (Attr){.rows = n->rows}, pos);
    return all;
}

/* In the place of the gradient's sums: all of backward. */
static void add_backward(const Rewrite *r, const Norm *n) {
    Program *p = r->program;
    Value *of_dz = matrix(r, n, "of_dz", p->activation, n->out, n->in);
    Value *pull = matrix(r, n, "pull", p->real, n->out, n->in);
    add_weight_grads(r, n, of_dz, pull);
    const Op *old = n->input_grad;
    Value *dx = old->out[0], *of_x_ones = add_of_x_ones(r, n, of_dz, pull);
    Value *part = value_alias(p, dx, arena_printf(p->arena, "%s.from_x", dx->name));
    product(r, n->x_ones, false, of_x_ones, 1, part);
    add(r, OP_matmul, old->name, (Value *[]){n->grad_sums->in[SUMS_DZ], of_dz, part}, 3, &dx, 1,
        (Attr){.alpha = 1, .accumulate = true}, old->pos);
}

/* ---- the pass -------------------------------------------------------------------------------- */

typedef struct {
    Norm *norm;
    int count, capacity;
} Norms;

/* Of linears that read one x, one can have it beside ones. */
static bool has_x(const Norms *all, const Value *x) {
    for (int i = 0; i < all->count; i++)
        if (all->norm[i].linear->in[X] == x)
            return true;
    return false;
}

static Norms find_norms(Program *p, const Spec *spec, const GraphUses *uses, Arena *scratch) {
    const Device *device = device_read(p->arena, spec->job.device, spec_pos(spec, KEY_job_device));
    bool everywhere = spec->compile.gram_batch_norm == EVERYWHERE;
    Norms all = {0};
    for (int i = 0; i < uses->graph->op_count; i++) {
        Norm n;
        if (!match(uses, uses->graph->ops[i], &n) || has_x(&all, n.linear->in[X]) ||
            !(everywhere || gains(device, p, &n)))
            continue;
        all.norm = arena_grow(scratch, all.norm, all.count, &all.capacity, sizeof n);
        all.norm[all.count++] = n;
    }
    return all;
}

/* By index of an op: the norm whose ops replace it; NULL: it stays. */
static Norm **members_of(const Graph *graph, const Norms *all, Arena *scratch) {
    Norm **of = arena_array(scratch, (size_t)graph->op_count + 1, sizeof *of);
    for (int i = 0; i < all->count; i++) {
        Norm *n = &all->norm[i];
        of[n->sums->id] = of[n->stats->id] = n;
        of[n->grad_sums->id] = of[n->grad->id] = n;
        of[n->weight_grad->id] = of[n->input_grad->id] = n;
    }
    return of;
}

static void rewrite(Program *p, Graph *graph, Norm *const *of) {
    const Graph old = graph_take(graph);
    const Rewrite r = {p, graph};
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        if (!of[i])
            graph_add(p, graph, op);
        else if (op == of[i]->sums)
            add_forward(&r, of[i]);
        else if (op == of[i]->stats)
            add_stats(&r, of[i]);
        else if (op == of[i]->grad_sums)
            add_backward(&r, of[i]);
    }
}

static const char naming[] = "A batch norm behind a 1x1 convolution, y = x W^T, is computed by "
                             "products with x: x_ones is x\n"
                             "beside two columns of ones, gram x_ones^T x_ones, scatter its sums "
                             "about the mean, cross W scatter.\n"
                             "In backward dz is the gradient of the norm's result, products is "
                             "dz^T x_ones, and the gradient of x\n"
                             "is dz of_dz + x_ones of_x_ones, where of_x is -W^T pull and of_ones "
                             "makes its columns add up to 0.\n";

bool pass_gram_batch_norm(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    if (spec->compile.gram_batch_norm == NOWHERE || !graph_find(graph, OP_batch_norm_grad))
        return false;
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    Norms all = find_norms(p, spec, &uses, &scratch);
    if (all.count) {
        rewrite(p, graph, members_of(graph, &all, &scratch));
        p->naming = arena_printf(p->arena, "%s%s", p->naming ? p->naming : "", naming);
    }
    arena_free(&scratch);
    return all.count > 0;
}
