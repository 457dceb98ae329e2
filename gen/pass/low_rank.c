/* lora adds these ops; dora and merge look for them later, and dpo leaves them out. A match starts
 * from `up`, which adds to another value: a frozen linear made that value, and `down`, a linear of
 * a trained weight, made its input. */
#include "pass/low_rank.h"

static Op *scaling_of(const GraphUses *uses, const Value *sum) {
    int count;
    Op *const *reader = use_readers(uses, sum, &count);
    for (int i = 0; i < count; i++)
        if (reader[i]->kind == OP_scale_columns && reader[i]->in[0] == sum)
            return reader[i];
    return NULL;
}

bool low_rank_match(const GraphUses *uses, Op *up, LowRank *path) {
    if (up->kind != OP_linear || !up->attr.accumulate || !value_trains(up->in[1]))
        return false;
    Op *base = use_maker(uses, op_so_far(up)), *down = use_maker(uses, up->in[0]);
    *path = (LowRank){base, down, up, scaling_of(uses, up->out[0])};
    return base && base->kind == OP_linear && base->in[1]->role == ROLE_FROZEN && down &&
           down->kind == OP_linear && value_trains(down->in[1]);
}

Value *const *without_adapter(const Op *op) {
    bool scales = op->kind == OP_scale_columns;
    return op->attr.accumulate ? &op->in[op->in_count - 1] : scales ? &op->in[0] : NULL;
}
