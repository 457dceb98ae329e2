#include "interpret.h"

#include <math.h>
#include <string.h>

#include "graph/attention_operands.h"
#include "graph/window.h"
#include "plan/plan_steps.h"

/* ---- matrices by row and column -------------------------------------------------------------- */

static double get(const Memory *m, const Value *v, int64_t row, int64_t col) {
    return memory_get(m, v, value_index(v, row, col));
}

static void set(Memory *m, const Value *v, int64_t row, int64_t col, double x) {
    memory_set(m, v, value_index(v, row, col), x);
}

static void add(Memory *m, const Value *v, int64_t row, int64_t col, double x) {
    set(m, v, row, col, get(m, v, row, col) + x);
}

static void fill(Memory *m, const Value *v, double x) {
    for (int64_t row = 0; row < value_rows(v); row++)
        for (int64_t col = 0; col < value_cols(v); col++)
            set(m, v, row, col, x);
}

/* ---- ops that templates serve ---------------------------------------------------------------- */

/* One query of one head, and the head of keys and values that it shares. */
typedef struct {
    Memory *memory;
    const Op *op;
    int64_t row, first; /* the query's row, the first key's; */
    int64_t begin, end; /* the earlier keys (a prefix) that it also sees */
    int64_t q, kv;      /* the heads' first columns */
    int64_t head;
} Query;

static double product(const Query *y, const Value *a, int64_t row_a, int64_t col_a, const Value *b,
                      int64_t row_b, int64_t col_b) {
    double sum = 0;
    for (int64_t i = 0; i < y->op->attr.head_dim; i++)
        sum += get(y->memory, a, row_a, col_a + i) * get(y->memory, b, row_b, col_b + i);
    return sum;
}

static double score(const Query *y, int64_t key) {
    return y->op->attr.alpha * product(y, y->op->in[0], y->row, y->q, y->op->in[1], key, y->kv);
}

static int64_t first_key(const Query *y) { return y->end > y->begin ? y->begin : y->first; }
static int64_t next_key(const Query *y, int64_t key) {
    return key + 1 == y->end ? y->first : key + 1;
}

static void attend(const Query *y) {
    enum { MOST_KEYS = 1024 };
    const Op *op = y->op;
    double sum = 0, weight[MOST_KEYS];
    ENSURE(y->row < MOST_KEYS, "more keys than the interpreter holds");
    for (int64_t key = first_key(y); key <= y->row; key = next_key(y, key))
        sum += weight[key] = exp(score(y, key));
    set(y->memory, op->out[1], y->row, y->head, log(sum));
    for (int64_t i = 0; i < op->attr.head_dim; i++) {
        double o = 0;
        for (int64_t key = first_key(y); key <= y->row; key = next_key(y, key))
            o += weight[key] / sum * get(y->memory, op->in[2], key, y->kv + i);
        set(y->memory, op->out[0], y->row, y->q + i, o);
    }
}

static void attend_back(const Query *y) {
    const Op *op = y->op;
    Value *const *in = op->in, *const *out = op->out;
    double lse = get(y->memory, in[5], y->row, y->head);
    double delta = product(y, in[4], y->row, y->q, in[6], y->row, y->q);
    set(y->memory, out[3], y->row, y->head, delta);
    for (int64_t key = first_key(y); key <= y->row; key = next_key(y, key)) {
        double p = exp(score(y, key) - lse);
        double dp = product(y, in[6], y->row, y->q, in[2], key, y->kv);
        double ds = op->attr.alpha * p * (dp - delta);
        for (int64_t i = 0; i < op->attr.head_dim; i++) {
            add(y->memory, out[0], y->row, y->q + i, ds * get(y->memory, in[1], key, y->kv + i));
            add(y->memory, out[1], key, y->kv + i, ds * get(y->memory, in[0], y->row, y->q + i));
            add(y->memory, out[2], key, y->kv + i, p * get(y->memory, in[6], y->row, y->q + i));
        }
    }
}

/* Rotates the heads of d back, as rope_grad does. */
static void undo_rope(Memory *m, const Op *op, const Value *d) {
    Value *const *rope = attention_rope(op);
    int64_t head = op->attr.head_dim, half = head / 2;
    for (int64_t row = 0; row < value_rows(d); row++)
        for (int64_t col = 0; col < value_cols(d); col += col % head == half - 1 ? half + 1 : 1) {
            int64_t place = (int64_t)get(m, rope[0], row, 0);
            double c = get(m, rope[1], place, col % head), s = get(m, rope[2], place, col % head);
            double x = get(m, d, row, col), y = get(m, d, row, col + half);
            set(m, d, row, col, x * c + y * s);
            set(m, d, row, col + half, y * c - x * s);
        }
}

static void for_each_query(Memory *m, const Op *op, void (*visit)(const Query *)) {
    const Attr *a = &op->attr;
    const Value *prefix = attention_prefix(op);
    for (int64_t row = 0; row < value_rows(op->in[0]); row++)
        for (int64_t head = 0; head < a->heads; head++) {
            int64_t kv = head / (a->heads / a->kv_heads);
            int64_t first = row - (int64_t)get(m, op->in[3], row, 0);
            int64_t begin = row / a->seq_len * a->seq_len, end = begin;
            if (prefix) {
                end += (int64_t)get(m, prefix, row, 1);
                begin += (int64_t)get(m, prefix, row, 0);
            }
            visit(&(Query){m, op, row, first, begin, end, head * a->head_dim, kv * a->head_dim, head});
        }
}

static void embedding_grad(Memory *m, const Op *op) {
    for (int64_t row = 0; row < value_rows(op->in[0]); row++) {
        int64_t id = (int64_t)get(m, op->in[0], row, 0);
        for (int64_t col = 0; col < value_cols(op->out[0]); col++)
            add(m, op->out[0], id, col, get(m, op->in[1], row, col));
    }
}

/* One product in a convolution's sum: its places in y, x and w. */
typedef struct {
    int64_t row_y, row_x, row_w, filter, channel;
} Product;

/* Calls visit for every tap of every window that lies in its image. */
static void for_each_product(Memory *m, const Op *op, const Value *x, const Value *y,
                             void (*visit)(Memory *, const Op *, Product)) {
    const Window *w = &op->attr.window;
    int64_t high = window_out_height(w), wide = window_out_width(w), taps = w->kernel * w->kernel;
    int64_t filters = value_cols(y), channels = value_cols(x), rows = value_rows(y);
    for (int64_t i = 0; i < rows * filters * taps; i++) {
        int64_t tap = i % taps, filter = i / taps % filters, row = i / taps / filters;
        int64_t image = row / high / wide;
        int64_t h = row / wide % high * w->stride - w->padding + tap / w->kernel;
        int64_t v = row % wide * w->stride - w->padding + tap % w->kernel;
        bool inside = h >= 0 && h < w->height && v >= 0 && v < w->width;
        for (int64_t channel = 0; inside && channel < channels; channel++)
            visit(m, op,
                  (Product){row, (image * w->height + h) * w->width + v, filter * taps + tap,
                            filter, channel});
    }
}

static void conv2d(Memory *m, const Op *op, Product p) {
    add(m, op->out[0], p.row_y, p.filter,
        get(m, op->in[0], p.row_x, p.channel) * get(m, op->in[1], p.row_w, p.channel));
}

static void conv2d_input_grad(Memory *m, const Op *op, Product p) {
    add(m, op->out[0], p.row_x, p.channel,
        get(m, op->in[0], p.row_y, p.filter) * get(m, op->in[1], p.row_w, p.channel));
}

static void conv2d_weight_grad(Memory *m, const Op *op, Product p) {
    add(m, op->out[0], p.row_w, p.channel,
        get(m, op->in[0], p.row_x, p.channel) * get(m, op->in[1], p.row_y, p.filter));
}

void interpret_conv2d(Memory *m, const Op *op) {
    Value *const *in = op->in, *out = op->out[0];
    if (!op->attr.accumulate)
        fill(m, out, 0);
    if (op->kind == OP_conv2d)
        for_each_product(m, op, in[0], out, conv2d);
    else if (op->kind == OP_conv2d_input_grad)
        for_each_product(m, op, out, in[0], conv2d_input_grad);
    else
        for_each_product(m, op, in[0], in[1], conv2d_weight_grad);
}

static void run_template(Memory *m, const Op *op) {
    switch (op->kind) {
    case OP_attention:
        for_each_query(m, op, attend);
        break;
    case OP_attention_grad:
        for (int i = 0; i < 3; i++)
            fill(m, op->out[i], 0);
        for_each_query(m, op, attend_back);
        for (int i = 0; attention_rope(op) && i < 2; i++)
            undo_rope(m, op, op->out[i]);
        break;
    case OP_embedding_grad:
        embedding_grad(m, op);
        break;
    case OP_conv2d:
    case OP_conv2d_input_grad:
    case OP_conv2d_weight_grad:
        interpret_conv2d(m, op);
        break;
    default:
        internal_fault(__FILE__, __LINE__, "no loop for %s", op->name);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A collective of one rank, which has all values. */
static void exchange_alone(Memory *m, const Launch *launch) {
    const Value *to = launch->arg[0], *from = launch->arg[launch->arg_count - 1];
    for (int64_t i = 0; i < value_elements(to); i++)
        memory_set(m, to, i, memory_get(m, from, i));
}

/* An op with several kernels is computed at the first of them. */
static void run_entry(Memory *m, const Plan *plan, Entry entry) {
    const Op *before = NULL;
    for (int i = 0; i < plan->entry[entry].launch_count; i++) {
        const Launch *launch = &plan->entry[entry].launches[i];
        if (launch->kind == LAUNCH_COLLECTIVE) {
            exchange_alone(m, launch);
            continue;
        }
        if (launch->kind != LAUNCH_KERNEL || plan->kernels[launch->index].body)
            eval_launch(m, plan, launch);
        else if (launch->ops[0] != before)
            run_template(m, launch->ops[0]);
        before = launch->ops[0];
    }
}

void interpret_micro_step(Memory *m, const Plan *plan) { run_entry(m, plan, ENTRY_MICRO_STEP); }

double interpret_step(Memory *m, const Plan *plan) {
    const Program *p = plan->program;
    fill(m, p->counters.step_loss, 0);
    if (p->train.gradient)
        fill(m, p->train.gradient, 0);
    run_entry(m, plan, ENTRY_LOAD);
    interpret_micro_step(m, plan);
    return memory_get(m, p->counters.step_loss, 0);
}

double interpret_difference(Memory *m, const Plan *plan, const Value *weight, int64_t element) {
    const double h = 1e-5;
    double at = memory_get(m, weight, element);
    memory_set(m, weight, element, at + h);
    double above = interpret_step(m, plan);
    memory_set(m, weight, element, at - h);
    double below = interpret_step(m, plan);
    memory_set(m, weight, element, at);
    return (above - below) / (2 * h);
}

Plan *interpret_plan(Program *program, const Spec *spec) {
    ENSURE(program->real == DT_F64 && program->activation == DT_F64,
           "differences are taken in f64");
    Plan *plan = plan_new(program, spec, NULL);
    plan_launches(plan);
    return plan;
}

static bool is_read(const Graph *graph, const Value *v) {
    for (int i = 0; i < graph->op_count; i++)
        if (op_reads_part(graph->ops[i], v))
            return true;
    return false;
}

void interpret_keep_results(Program *program) {
    const Graph *graph = &program->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        for (int k = 0; k < graph->ops[i]->out_count; k++) {
            Value *v = graph->ops[i]->out[k];
            if (v->role == ROLE_ACTIVATION && !is_read(graph, v))
                value_set_role(v, ROLE_GRADIENT);
        }
}

/* splitmix64 */
static double uniform(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void fill_param(Memory *m, const Param *param, double size, uint64_t seed) {
    const Value *v = param->weight;
    uint64_t state = seed * 0x9E3779B9u + stable_hash(param->file_name);
    for (int64_t row = 0; row < value_rows(v); row++)
        for (int64_t col = 0; col < value_cols(v); col++)
            set(m, v, row, col, (param->init == INIT_ONES) + size * (2 * uniform(&state) - 1));
}

static void fill_constant(Memory *m, const Value *v) {
    for (int64_t i = 0; i < value_elements(v); i++)
        memory_set(m, v, i, v->data[i]);
}

void interpret_fill(Memory *m, const Program *p, double size, uint64_t seed) {
    for (int i = 0; i < p->storage_count; i++)
        if (role_persistent(p->storages[i]->role))
            memset(m->bytes[i], 0, (size_t)p->storages[i]->bytes);
    for (int i = 0; i < p->param_count; i++)
        fill_param(m, &p->params[i], size, seed);
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->data)
            fill_constant(m, p->values[i]);
}
