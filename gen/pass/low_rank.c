#include "pass/low_rank.h"

bool low_rank_match(const GraphUses *uses, Op *up, LowRank *path) {
    if (up->kind != OP_linear || !up->attr.accumulate || !value_trains(up->in[1]))
        return false;
    Op *base = use_maker(uses, up->in[2]), *down = use_maker(uses, up->in[0]);
    *path = (LowRank){base, down, up};
    return base && base->kind == OP_linear && base->in[1]->role == ROLE_FROZEN && down &&
           down->kind == OP_linear && value_trains(down->in[1]);
}
