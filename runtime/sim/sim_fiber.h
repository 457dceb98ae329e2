/* Fibers: stacks that switch in a few nanoseconds, one for each waiting thread of a block. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

enum { FIBER_COUNT = 1024 };

typedef struct Fiber {
    void *sp;         /* stack pointer while stopped */
    void *fake_stack; /* AddressSanitizer's */
    char *low;        /* the stack */
    size_t bytes;
    int thread; /* the thread of the block that it runs */
} Fiber;

/* Makes all fibers start in `entry`, which must never return. */
void fibers_reset(Fiber *fibers, void (*entry)(void));
/* Stops `from` and resumes `to`; returns when `from` is resumed. */
void fiber_switch(Fiber *from, Fiber *to);
/* Must be called first in `entry`: tells AddressSanitizer that the switch is complete. */
void fiber_entered(void);
/* Returns whether p is in the stack of a fiber. */
bool fiber_holds(const void *p);

#endif
