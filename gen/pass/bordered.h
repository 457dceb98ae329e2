/* Shared by the parts of the bordering pass and by the passes that join ops without a border. */
#ifndef PASS_BORDERED_H
#define PASS_BORDERED_H

#include "pass/pass.h"

enum { MAX_SITES = 8, RANK_MULTIPLE = 8 };

/* A linear with a low-rank path. `base` is linear(x, W), `down` is u = linear(x', A), and `up` adds
 * alpha * linear(u, B) onto the result of `base`. */
typedef struct {
    Op *base, *down, *up;
    int64_t row, out; /* rows of the border that hold W: first, count */
    int64_t side;     /* where its columns begin within the side columns, and A's rows within the
                       * side rows; sites take the order of their A's in memory */
    int64_t rank;     /* r */
    int64_t width;    /* r, rounded up to RANK_MULTIPLE */
} Site;

/* Sites that read the same x, and the one storage that they share:
 *     [ W  sB ]   out rows    W stacked; sB block-diagonal
 *     [ A  0  ]   side rows
 *       in  side columns */
typedef struct {
    const char *name; /* joined from those of its linears: "layers.0.mlp.gate_up_proj" */
    /* In the order of A's rows: "layers.0.mlp.up_gate_proj" and "….up_gate_proj.lora_A.weight". */
    const char *side_name, *a_name;
    Site site[MAX_SITES];
    int count;
    Value *x;
    int64_t in, out, side;
    Value *border;             /* [out + side, in + side]; NULL: the linears stay as they are */
    Value *x_u, *y;            /* [T, in + side], [T, out] */
    Value *u;                  /* [T, side], if backward does not read x; NULL: u is only in x_u */
    struct Backpath *backpath; /* NULL: backward stays as it is */
} Border;

typedef struct {
    Border *border;
    int count, capacity;
} Borders;

/* Finds the sites of a graph, grouped by x, in graph order. */
Borders borders_find(Program *, const GraphUses *, Arena *);

/* A block of the border as a value called `name`, or "BORDER.part". */
Value *border_block(Program *, const Border *, int64_t row, int64_t rows, int64_t col, int64_t cols,
                    const char *name);
Value *border_part(Program *, const Border *, int64_t row, int64_t rows, int64_t col, int64_t cols,
                   const char *part);
/* Rows of A, of the weight called `a`. */
Value *border_rows_of_a(Program *, const Border *, int64_t row, int64_t rows, const char *a);

/* Numbers of elements that are always zero: in A the padding rows, in sB the padding columns and
 * the blocks off the diagonal. */
int64_t border_zeros_of_a(const Border *);
int64_t border_zeros_of_b(const Border *);

/* One name for several linears: attn.q_k_v_proj for attn.q_proj, attn.k_proj and attn.v_proj. */
const char *linears_name(Arena *, const char *const *names, int count);
/* The same for ops whose names differ in one part: mlp.gate_up_proj.lora_A.weight.grad. */
const char *joined_name(Arena *, Op *const *ops, int count);
/* Whether all low-rank paths read the same x'; it is x unless the base reads a rounded one. */
bool border_has_one_input(const Border *);
/* Whether no op reads a site's sum before the last site is done. */
bool border_in_order(const Graph *, const Border *);
/* Move the values that each of a border's products reads or writes into one storage. Backward stays
 * as it is if low-rank paths read different x', or if a value cannot move. */
void border_place_forward(Program *, const GraphUses *, Border *);
void border_place_backward(Program *, const GraphUses *, Border *);
/* Rewrite the ops of all borders that have been placed. */
void border_forward(Program *, Graph *, const Border *, int count);
void border_backward(Program *, Graph *, const Border *, int count);

#endif
