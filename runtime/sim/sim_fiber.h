/* Fibers: stacks that switch in some nanoseconds, one for each thread of a block that waits. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

enum { FIBER_COUNT = 1024 };

typedef struct Fiber {
    void *sp;         /* where it stopped */
    void *fake_stack; /* AddressSanitizer's */
    char *low;        /* the stack */
    size_t bytes;
    int thread; /* the block's thread it runs */
} Fiber;

/* Makes all fibers start in `entry`, which must never return. */
void fibers_reset(Fiber *fibers, void (*entry)(void));
/* Stops `from` and goes on with `to`; returns when somebody goes on with `from`. */
void fiber_switch(Fiber *from, Fiber *to);
/* Must open `entry`: tells AddressSanitizer where it now runs. */
void fiber_entered(void);
/* Whether p lies in the stack of a fiber. */
bool fiber_holds(const void *p);

#endif
