/* All ranks get the first rank's running statistics, as torch's DDP broadcasts a module's buffers:
 * statistics of each rank's own batches would differ, and a checkpoint has only one of each.
 *
 * Requires the update, after which the first rank of each group broadcasts them, as one run. Not
 * for sync_batch_norm, with which all ranks compute the same. */
#include "pass/pass.h"

static Value *join_buffers(Program *p) {
    Value *run = NULL;
    for (int i = 0; i < p->param_count; i++) {
        Value *buffer = p->params[i].weight;
        if (buffer->role == ROLE_BUFFER)
            run = run ? value_join(p, run, buffer, "buffers") : buffer;
    }
    return run;
}

bool pass_share_buffers(Program *p, const Spec *spec) {
    if (spec->parallelism.sync_batch_norm || !mesh_has(&p->mesh, GROUP_DATA) ||
        !program_trains(p))
        return false;
    Value *run = join_buffers(p);
    if (!run)
        return false;
    op_add_in_place(p, &p->entry[ENTRY_UPDATE], OP_broadcast, "buffers.broadcast", run, run->name,
                    (Attr){.group = GROUP_DATA},
                    spec_pos(spec, KEY_parallelism_data_parallel_replicate_degree));
    return true;
}
