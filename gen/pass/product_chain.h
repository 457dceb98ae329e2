/* Products that add up at one place, x (+)= a1 b1, x += a2 b2, ..., of which some, the members, become
 * one product where the last of them was. */
#ifndef PASS_PRODUCT_CHAIN_H
#define PASS_PRODUCT_CHAIN_H

#include "graph/graph.h"

enum { MAX_PRODUCTS = 64 };

/* The products from the last member back to the first; others may lie between them. */
typedef struct {
    Op *op[MAX_PRODUCTS];
    bool member[MAX_PRODUCTS];
    int count;
    Value *so_far; /* the sum before the first op, and while the graph is rewritten before the next one;
                   * NULL: nothing */
} ProductChain;

/* Finds the chain that connects the members; false if there is none, or if anything else reads one of
 * its partial sums. */
bool product_chain_find(const GraphUses *, Op *const *members, int count, ProductChain *);
bool product_chain_has(const ProductChain *, const Op *);
Op *product_chain_last(const ProductChain *);
/* Leaves out the op if it is a member; else adds it to the graph, onto the sum so far. For each op of
 * the chain except the last one, in their order. */
void product_chain_keep(Program *, Graph *, ProductChain *, Op *);
/* Adds the product of a and b in place of the last op. */
void product_chain_join(Program *, Graph *, const ProductChain *, Value *a, Value *b, Attr);

#endif
