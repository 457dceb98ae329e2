/* What the two halves of the bordering pass share, and what joins linears without a border. */
#ifndef PASS_BORDERED_H
#define PASS_BORDERED_H

#include "pass/pass.h"

enum { MAX_SITES = 8, RANK_MULTIPLE = 8 };

/* y = alpha-scaled low-rank path added to a linear: base, then u = linear(x', A), then B onto it.
 */
typedef struct {
    Op *base, *down, *up;
    int64_t row, out; /* rows of the border that hold W: first, count */
    int64_t side; /* first column (and row, below W) of this site's rank, from the border's edge; in
                   * the order of the A's in memory */
    int64_t rank; /* r; RANK_MULTIPLE-padded widths are `width` */
    int64_t width;
} Site;

/* Sites that read the same x, and their one storage
 *     [ W  sB ]   out rows    W stacked; sB block-diagonal
 *     [ A  0  ]   side rows
 *       in  side columns */
typedef struct {
    const char *name; /* of its linears together: "layers.0.mlp.gate_up_proj" */
    Site site[MAX_SITES];
    int count;
    Value *x;
    int64_t in, out, side;
    Value *border;             /* [out + side, in + side]; NULL: left as it is */
    Value *x_u, *y;            /* [T, in + side], [T, out] */
    Value *u;                  /* [T, side], where backward wants it and not x; NULL: in x_u alone */
    struct Backpath *backpath; /* NULL: its backward is left as it is */
} Border;

/* The sites of a graph, grouped by x, in the order of the graph. */
int border_find(Program *, const GraphUses *, Border *, int capacity);
/* Shape and places of a group's storage; makes it unless `like` (same group in another graph) has.
 */
void border_place(Program *, Border *, const Border *like);

/* A block of the border under a name of its own, or under "BORDER.part". */
Value *border_block(Program *, const Border *, int64_t row, int64_t rows, int64_t col, int64_t cols,
                    const char *name);
Value *border_part(Program *, const Border *, int64_t row, int64_t rows, int64_t col, int64_t cols,
                   const char *part);

/* Elements that are always zero: of A's rows where ranks are padded, of sB's columns there and
 * where another site has them. */
int64_t border_zeros_of_a(const Border *);
int64_t border_zeros_of_b(const Border *);

/* attn.q_k_v_proj of attn.q_proj, attn.k_proj and attn.v_proj: one matrix that is all of them. */
const char *linears_name(Arena *, const char *const *names, int count);
/* mlp.gate_up_proj.lora_A.weight.grad: the same of ops whose names are alike but for one part. */
const char *joined_name(Arena *, Op *const *ops, int count);
/* Whether a value may move to where other columns lie between its rows: what ranks exchange is
 * dense. */
bool border_can_stride(const GraphUses *, const Value *);
/* Nothing reads a site's sum before the last site is done. */
bool border_in_order(const Graph *, const Border *);
/* Values that a border's products read and write move into one storage each. Backward stays as it
 * is where a site's low-rank path has another input than x, or a value cannot move. */
void border_place_forward(Program *, const GraphUses *, Border *);
void border_place_backward(Program *, const GraphUses *, Border *);
/* Rewrite the ops of all borders that are placed. */
void border_forward(Program *, Graph *, const Border *, int count);
void border_backward(Program *, Graph *, const Border *, int count);

#endif
