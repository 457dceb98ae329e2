/* Splits values among the ranks of a group, and adds the exchanges between them. */
#include "pass/tensor.h"

void tensor_narrow(const Program *p, Value *v, int axis, RankGroup group) {
    int64_t ranks = mesh_ranks(&p->mesh, group);
    ENSURE(v->dim[axis] % ranks == 0, "%s: %lld do not go into %lld parts", v->name,
           (long long)v->dim[axis], (long long)ranks);
    v->dim[axis] /= ranks;
    v->row_stride = value_cols(v);
    v->storage->bytes = value_bytes(v);
}

void tensor_shard(Program *p, const Value *weight, int axis, RankGroup group) {
    Param *param = program_param(p, weight);
    ENSURE(param && (!param->shard || param->shard_axis == axis), "%s is split two ways",
           weight->name);
    if (param->shard)
        return; /* by way of another graph */
    if (!mesh_has(&p->mesh, group))
        group = 0; /* one key head, which all ranks have */
    param->partial = GROUP_TENSOR & ~group;
    if (!group)
        return;
    tensor_narrow(p, param->weight, axis, group);
    param->shard = group;
    param->shard_axis = axis;
}

Value *tensor_spread(Program *p, Graph *graph, Value *x, Pos pos) {
    const char *name = arena_printf(p->arena, "%s.spread", x->name);
    return op_add(p, graph, OP_spread, name, &x, 1, (Attr){.group = GROUP_TENSOR}, pos)->out[0];
}

Value *tensor_sum(Program *p, Graph *graph, Value *v, Pos pos) {
    const char *name = arena_printf(p->arena, "%s.all_reduce", v->name);
    Attr attr = {.group = GROUP_TENSOR};
    return op_add_in_place(p, graph, OP_all_reduce, name, v, v->name, attr, pos)->out[0];
}

Value *tensor_absmax(Program *p, Graph *graph, const char *weight, Value *absmax, RankGroup group,
                     Value *out, Pos pos) {
    int64_t rows = value_rows(absmax), ranks = mesh_ranks(&p->mesh, group);
    const char *name = arena_printf(p->arena, "%s.absmax_gathered", weight);
    Value *all = op_add(p, graph, OP_all_gather, name, &absmax, 1, (Attr){.group = group}, pos)->out[0];
    name = arena_printf(p->arena, "%s.absmax_of_ranks", weight);
    Value *beside = value_2d(p, name, ROLE_ACTIVATION, DT_F32, rows, ranks, pos);
    for (int64_t i = 0; i < ranks; i++) {
        Value *from = value_row_range(p, all, i * rows, rows, name);
        Value *to = value_columns(p, beside, i, 1, name);
        op_add_into(p, graph, OP_cast, arena_printf(p->arena, "%s.absmax_of_rank", weight), &from, 1,
                    &to, 1, (Attr){0}, pos);
    }
    name = arena_printf(p->arena, "%s.absmax_of_rows", weight);
    return op_add_into(p, graph, OP_block_absmax, name, &beside, 1, &out, out != NULL, (Attr){0}, pos)
        ->out[0];
}
