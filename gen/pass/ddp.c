/* Distributed data parallel (Li et al., arXiv 2006.15704): every rank holds the whole model and
 * works on batches of its own; before the update, all ranks get the sum of their gradients.
 *
 * Requires the update, and a loss that is divided by the targets of all ranks' batches, so that
 * gradients and losses need only be summed. Gradients, followed by the step's loss and metrics,
 * form one run, which one all_reduce sums before norm, clipping and update; these then see what a
 * single rank with all batches would. Random numbers depend on a row's place in all ranks'
 * batches. */
#include "pass/ddp.h"

#include "pass/pass.h"

Value *join_metrics(Program *p, Value *run, const char *name) {
    for (int i = 0; i < p->counters.metric_count; i++)
        if (p->counters.metrics[i].step_sum)
            run = value_join(p, run, p->counters.metrics[i].step_sum, name);
    return run;
}

void read_sums(Program *p, Op *const *ops, int count, Value *sums) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < ops[i]->in_count; k++) {
            Value *v = ops[i]->in[k];
            if (value_overlaps(v, sums))
                ops[i]->in[k] =
                    value_at(p, sums, v->offset - sums->offset, v->rank, v->dim, v->name);
        }
}

bool pass_ddp(Program *p, const Spec *spec) {
    Graph *update = &p->entry[ENTRY_UPDATE];
    if (spec->parallelism.data_parallel_mode != PARALLEL_DDP)
        return false;
    p->mesh.size[AXIS_REPLICATE] = spec->parallelism.data_parallel_replicate_degree;
    p->mesh.size[AXIS_SHARD] = spec->parallelism.data_parallel_shard_degree;
    p->mesh.kept |= spec_replicates(spec) ? GROUP_REPLICATE : 0;
    p->mesh.kept |= spec_shards(spec) ? GROUP_SHARD : 0;
    if (!mesh_has(&p->mesh, GROUP_DATA) || !program_trains(p))
        return false;
    if (mesh_has(&p->mesh, GROUP_SHARD))
        return false; /* pass_shard sums the gradients */
    Value *run = value_join(p, p->train.gradient, p->counters.step_loss, "gradient_and_loss");
    run = join_metrics(p, run, "gradient_and_loss");
    const Graph old = graph_take(update);
    Op *op = op_add_in_place(p, update, OP_all_reduce, "all_reduce", run, run->name,
                             (Attr){.group = GROUP_DATA},
                             spec_pos(spec, KEY_parallelism_data_parallel_replicate_degree));
    read_sums(p, old.ops, old.op_count, op->out[0]);
    op->sums = run;
    op->observe = "grad";
    for (int i = 0; i < old.op_count; i++)
        graph_add(p, update, old.ops[i]);
    return true;
}
