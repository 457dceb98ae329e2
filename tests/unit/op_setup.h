/* Small programs of a few ops, for test_ops.c and test_ops_forward.c. */
#ifndef OP_SETUP_H
#define OP_SETUP_H

#include "interpret.h"

enum { ROWS = 6, COLS = 8, WIDTH = 7, CLASSES = 5 };

typedef struct {
    Arena arena;
    Program *program;
    Graph *graph;
    int names;
    struct {
        Value *value;
        const int *numbers;
    } input[8];
    int input_count;
    double smoothing; /* of the loss */
} Setup;

/* Returns `what` with a number that makes it a new name. */
const char *name_of(Setup *s, const char *what);
/* A weight with one axis (cols) or two. */
Value *param(Setup *s, Role role, int rank, int64_t rows, int64_t cols, int init);
/* Weights: normal numbers, frozen or trained. */
Value *frozen(Setup *s, int64_t rows, int64_t cols);
Value *trained(Setup *s, int64_t rows, int64_t cols);
/* An input of integers. */
Value *integers(Setup *s, int64_t rows, const int *numbers);

/* Append an op and return its first result. */
Value *op(Setup *s, OpKind kind, Value *const *in, int in_count, Attr attr);
Value *op1(Setup *s, OpKind kind, Value *a, Attr attr);
Value *op2(Setup *s, OpKind kind, Value *a, Value *b);

/* linear(e, w) with a frozen e and a trained w: gradients reach w by a product of full rank. */
Value *rows_of(Setup *s, int64_t rows, int64_t cols);
Value *activation(Setup *s, int64_t cols); /* with ROWS rows */
/* Adds the loss of y, which is also added to the step's loss. */
void add_loss(Setup *s, Value *y);

/* Returns the program's memory with random weights and the inputs. */
Memory filled_memory(const Setup *s);

#endif
