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
    int count;
    if (!op->attr.accumulate)
        return NULL;
    use_readers(uses, op->in[2], &count);
    Op *maker = use_maker(uses, op->in[2]);
    return maker && maker->kind == OP_matmul && count == 1 ? maker : NULL;
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
            chain->sofar = op->attr.accumulate ? op->in[2] : NULL;
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
    op->attr.accumulate = chain->sofar != NULL;
    op->in[2] = chain->sofar;
    op->in_count = 2 + op->attr.accumulate;
    graph_add(p, graph, op);
    chain->sofar = op->out[0];
}

void product_chain_join(Program *p, Graph *graph, const ProductChain *chain, Value *a, Value *b,
                        Attr attr) {
    const Op *last = product_chain_last(chain);
    Value *in[] = {a, b, chain->sofar}, *out = last->out[0];
    attr.accumulate = chain->sofar != NULL;
    op_add_into(p, graph, OP_matmul, last->name, in, 2 + attr.accumulate, &out, 1, attr, last->pos);
}
