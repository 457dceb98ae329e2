/* Which weights backward finds as forward decoded them, and which it decodes again. */
#include "base/dotted.h"
#include "graph/op_table.h"
#include "plan/figures.h"

#include <string.h>

/* Index of the first op of backward, where names end in "grad". With a chunked head it is among the
 * head's ops, which run in one pass over the head. */
static int first_gradient(const Graph *graph) {
    int i = 0;
    while (i < graph->op_count && strcmp(name_last_part(graph->ops[i]->name), "grad") != 0)
        i++;
    return i;
}

DecodedWeights plan_decoded(const Plan *plan) {
    Arena arena = {0};
    const Program *p = plan->program;
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int backward = first_gradient(graph);
    int *weights = arena_array(&arena, (size_t)p->storage_count + 1, sizeof *weights);
    DecodedWeights found = {0};
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        if (op_is(op, TRAIT_DECODES) && op->id >= backward)
            found.again++;
        else if (op_is(op, TRAIT_DECODES))
            weights[op->out[0]->storage->id]++;
        for (int k = 0; op->id >= backward && k < op->in_count; k++) {
            const Storage *storage = op->in[k]->storage;
            found.kept += weights[storage->id];
            found.kept_bytes += weights[storage->id] ? storage->bytes : 0;
            weights[storage->id] = 0;
        }
    }
    arena_free(&arena);
    return found;
}
