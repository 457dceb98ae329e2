#include "pass/product_chain.h"

#include "graph/op_table.h"

static bool is_one_of(Op *const *ops, int count, const Op *op) {
    for (int i = 0; i < count; i++)
        if (ops[i] == op)
            return true;
    return false;
}

static Op *last_of(Op *const *ops, int count) {
    Op *last = ops[0];
    for (int i = 1; i < count; i++)
        last = ops[i]->id > last->id ? ops[i] : last;
    return last;
}

/* The product onto whose result the op adds, if nothing else reads this; else NULL. */
static Op *previous_of(const GraphUses *uses, const Op *op) {
    Value *so_far = op_so_far(op);
    if (!so_far || !use_read_once(uses, so_far))
        return NULL;
    Op *maker = use_maker(uses, so_far);
    return maker && maker->kind == OP_matmul ? maker : NULL;
}

bool product_chain_find(const GraphUses *uses, Op *const *members, int count, ProductChain *chain) {
    int left = count;
    *chain = (ProductChain){0};
    for (Op *op = last_of(members, count); op && chain->count < MAX_PRODUCTS;
         op = previous_of(uses, op)) {
        chain->member[chain->count] = is_one_of(members, count, op);
        left -= chain->member[chain->count];
        chain->op[chain->count++] = op;
        if (left == 0) {
            chain->so_far = op_so_far(op);
            return true;
        }
    }
    return false;
}

bool product_chain_has(const ProductChain *chain, const Op *op) {
    return is_one_of(chain->op, chain->count, op);
}

Op *product_chain_last(const ProductChain *chain) { return chain->op[0]; }

void product_chain_keep(Program *p, Graph *graph, ProductChain *chain, Op *op) {
    for (int i = 0; i < chain->count; i++)
        if (chain->op[i] == op && chain->member[i])
            return;
    op->attr.accumulate = chain->so_far != NULL;
    op->in[2] = chain->so_far;
    op->in_count = 2 + op->attr.accumulate;
    graph_add(p, graph, op);
    chain->so_far = op->out[0];
}

void product_chain_join(Program *p, Graph *graph, const ProductChain *chain, Value *a, Value *b,
                        Attr attr) {
    const Op *last = product_chain_last(chain);
    Value *in[] = {a, b, chain->so_far}, *out = last->out[0];
    attr.accumulate = chain->so_far != NULL;
    op_add_into(p, graph, OP_matmul, last->name, in, 2 + attr.accumulate, &out, 1, attr, last->pos);
}
