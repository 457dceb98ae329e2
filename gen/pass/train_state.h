#ifndef PASS_TRAIN_STATE_H
#define PASS_TRAIN_STATE_H

/* Columns of the runs that hold all trained tensors. */
enum { TRAIN_COLS = 1024 };

#endif
