/* Splits a body with sums over rows. */
#include "plan/sums.h"

#include "plan/phases.h"
#include "plan/skeleton.h"

/* A result, and the partial sums of all its elements: one row per worker. */
typedef struct {
    Value *result, *partial;
} Sum;

/* A view of all elements as one row. */
static Value *flat(Program *p, Value *v) {
    int64_t count = value_elements(v);
    return v->rank == 1 ? v : value_at(p, v, 0, 1, &count, v->name);
}

/* The partial sums of a result, created on first use. */
static Value *partial_of(Program *p, Sum *sums, int *count, Value *result, int64_t workers) {
    for (int i = 0; i < *count; i++)
        if (sums[i].result == result)
            return sums[i].partial;
    ENSURE(*count < MAX_RESULTS, "%s: more sums than an op has results", result->name);
    const char *name = arena_printf(p->arena, "%s_partial", result->name);
    Value *partial =
        value_2d(p, name, ROLE_ACTIVATION, p->real, workers, value_elements(result), result->pos);
    sums[(*count)++] = (Sum){result, partial};
    return partial;
}

/* The body that adds up rows of this width, created on first use. */
static Body *second_of(Body **second, int *count, Arena *arena, int64_t rows, int64_t cols) {
    for (int i = 0; i < *count; i++)
        if (second[i]->cols == cols)
            return second[i];
    return second[(*count)++] = body_new(arena, rows, cols);
}

int sums_split(const Plan *plan, Body *body, bool rows_grow, Body **second) {
    Program *p = plan->program;
    Sum sums[MAX_RESULTS];
    int sum_count = 0, second_count = 0;
    if (!body_has(body, step_sums_columns) || skeleton_run(body))
        return 0;
    int64_t workers = skeleton_workers(p, body, rows_grow);
    if (workers == 1) /* it computes the sums itself */
        return 0;
    for (int i = 0; i < body->count; i++)
        if (step_sums_columns(body->steps[i].kind))
            body->steps[i].value = partial_of(p, sums, &sum_count, body->steps[i].value, workers);
    for (int i = 0; i < sum_count; i++) {
        Body *adds =
            second_of(second, &second_count, p->arena, workers, value_cols(sums[i].partial));
        step_store(adds, flat(p, sums[i].result),
                   step_total(adds, step_load(adds, sums[i].partial)));
    }
    return second_count;
}
