/* The stable text of a Program: one line per parameter, one line per op. A value's shape is
 * followed by /STRIDE if its rows are strided, and by |PLANE if it has one. */
#include "graph/op_table.h"

static void print_value(const Value *v, StrBuf *out) {
    sb_printf(out, "%s:%s[", v->name, dtype_name(v->dtype));
    for (int i = 0; i < v->rank; i++)
        sb_printf(out, i ? ",%lld" : "%lld", (long long)v->dim[i]);
    sb_puts(out, "]");
    if (!value_dense(v))
        sb_printf(out, "/%lld", (long long)v->row_stride);
    if (v->plane)
        sb_printf(out, "|%lld", (long long)v->plane);
    if (v->storage->name != v->name)
        sb_printf(out, "@%s+%lld", v->storage->name, (long long)v->offset);
}

static void print_real(StrBuf *out, const char *name, double value) {
    if (value == 0)
        return;
    sb_printf(out, " %s=", name);
    sb_put_real(out, value);
}

static void print_int(StrBuf *out, const char *name, int64_t value) {
    if (value)
        sb_printf(out, " %s=%lld", name, (long long)value);
}

static void print_group(StrBuf *out, RankGroup group) {
    const char *before = " group=";
    if (group & GROUP_ENDS) {
        sb_printf(out, "%sends", before);
        before = "+";
    }
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (group >> axis & 1) {
            sb_printf(out, "%s%s", before, axis_name((Axis)axis));
            before = "+";
        }
}

static void print_attr(const Attr *a, const Mesh *mesh, StrBuf *out) {
    print_real(out, "alpha", a->alpha);
    print_real(out, "alpha_v", a->alpha_v);
    print_real(out, "eps", a->eps);
    print_real(out, "beta1", a->beta1);
    print_real(out, "beta2", a->beta2);
    print_real(out, "weight_decay", a->weight_decay);
    print_real(out, "max_norm", a->max_norm);
    print_real(out, "momentum", a->momentum);
    print_real(out, "rate", a->rate);
    print_real(out, "label_smoothing", a->label_smoothing);
    print_real(out, "growth", a->growth);
    print_real(out, "backoff", a->backoff);
    print_int(out, "interval", a->interval);
    print_int(out, "head_dim", a->head_dim);
    print_int(out, "heads", a->heads);
    print_int(out, "kv_heads", a->kv_heads);
    print_int(out, "seq_len", a->seq_len);
    print_int(out, "height", a->window.height);
    print_int(out, "width", a->window.width);
    print_int(out, "kernel", a->window.kernel);
    print_int(out, "stride", a->window.stride);
    print_int(out, "padding", a->window.padding);
    print_int(out, "rows", a->rows);
    print_int(out, "bits", a->bits);
    print_int(out, "plane", a->plane);
    print_int(out, "out_height", a->out_height);
    print_int(out, "out_width", a->out_width);
    print_int(out, "stream", a->stream);
    print_group(out, mesh_written(mesh, a->group));
    if (a->transpose_a)
        sb_puts(out, " transpose_a");
    if (a->transpose_b)
        sb_puts(out, " transpose_b");
    if (a->accumulate)
        sb_puts(out, " accumulate");
    if (a->beside_a)
        sb_puts(out, " beside_a");
    if (a->nesterov)
        sb_puts(out, " nesterov");
}

static void print_op(const Op *op, const Mesh *mesh, StrBuf *out) {
    sb_puts(out, "  ");
    for (int i = 0; i < op->out_count; i++) {
        if (i)
            sb_puts(out, ", ");
        print_value(op->out[i], out);
    }
    sb_printf(out, " = %s(", op_table[op->kind].name);
    for (int i = 0; i < op->in_count; i++)
        sb_printf(out, i ? ", %s" : "%s", op->in[i]->name);
    sb_puts(out, ")");
    print_attr(&op->attr, mesh, out);
    if (op->kind == OP_peer_copy)
        sb_printf(out, " card=%lld %s", (long long)op->attr.card, purpose_name(op->attr.purpose));
    if (op->kind == OP_export)
        sb_printf(out, " part=%s", part_name(op->attr.part));
    if (op->phase == PHASE_RECOMPUTE)
        sb_puts(out, " recompute");
    if (op->ends_step)
        sb_puts(out, " ends_step");
    if (op->apart)
        sb_puts(out, " apart");
    if (op->after)
        sb_printf(out, " after=%s", op->after->name);
    if (op->observe)
        sb_printf(out, " observe=%s", op->observe);
    sb_puts(out, "\n");
}

void program_print(const Program *p, StrBuf *out) {
    for (int i = 0; i < p->param_count; i++) {
        const Param *param = &p->params[i];
        sb_printf(out, "param %s %s ", param->file_name, role_name(param->weight->role));
        print_value(param->weight, out);
        sb_puts(out, "\n");
    }
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const Graph *graph = &p->entry[e];
        if (!graph->op_count)
            continue;
        sb_printf(out, "graph %s\n", graph->name);
        for (int i = 0; i < graph->op_count; i++)
            print_op(graph->ops[i], &p->mesh, out);
    }
}
