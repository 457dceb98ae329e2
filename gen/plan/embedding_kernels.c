/* The gradient of an embedding. Geometry as in the template's head comment. */
#include "plan/template_kernels.h"

enum { THREADS = 128, MOST_COLUMNS = 4 };

/* At most: every place sums alone and reads every id. */
static double bytes_of(const Value *dy, const Value *dw, double tokens, int64_t column_blocks) {
    double rows =
        (double)value_elements(dy) * (dtype_bytes(dy->dtype) + 2 * dtype_bytes(dw->dtype));
    return rows + tokens * (double)column_blocks * (THREADS + 2 * tokens) * 4;
}

/* ids, dy, dw -> dw */
void plan_embedding_grad(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    const Value *ids = op->in[0], *dy = op->in[1], *dw = op->out[0];
    int64_t tokens = value_rows(ids), hidden = value_cols(dw);
    Filling f = filling_new(plan, op, "embedding_grad.cu", "embedding_grad");
    ENSURE(value_dense(dw), "%s: gradient of an embedding table with a stride", op->name);
    f.kernel.name =
        arena_printf(f.arena, "embedding_grad_%lldx%lld", (long long)tokens, (long long)hidden);
    f.kernel.threads = THREADS;
    int64_t per_thread = ceil_div(hidden, THREADS);
    int64_t columns = per_thread < MOST_COLUMNS ? per_thread : MOST_COLUMNS;
    int64_t column_blocks = ceil_div(hidden, THREADS * columns);
    fill_text(&f, "dtype", dtype_c_name(dy->dtype));
    fill_text(&f, "grad_dtype", dtype_c_name(dw->dtype));
    fill_text(&f, "acc", dtype_c_name(plan->program->real));
    fill_int(&f, "tokens", tokens);
    fill_int(&f, "hidden", hidden);
    fill_stride(&f, "dy_stride", dy);
    fill_int(&f, "columns", columns);
    fill_text(&f, "accumulate", "true");
    fill_text(&f, "leave",
              op->attr.group ? "\n    if (id < 0)\n        return; /* another rank's */" : "");
    fill_reads(&f, "dy", dy);
    fill_reads(&f, "ids", ids);
    fill_updates(&f, "dw", dw);
    fill_grid(&f, tokens, column_blocks, 1);
    fill_cost(&f, bytes_of(dy, dw, (double)tokens, column_blocks), (double)value_elements(dy));
    fill_finish(plan, entry, &f, op);
}
