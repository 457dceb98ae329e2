/* Fibers with their own switch, which saves only the callee-saved registers of the System V ABI. */
#include "sim_fiber.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* AddressSanitizer's runtime, if the process has one. */
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **save, const void *low,
                                                          size_t bytes);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *save, const void **low,
                                                           size_t *bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *p, size_t bytes);

/* A stack is an odd number of pages, and CACHE_OFFSET moves its top within the page, so that the
 * stacks of a block are not all in the same sets of the TLB and of the cache. */
enum { STACK_BYTES = 260 << 10, GUARD_BYTES = 4096, CACHE_OFFSET = 320 };

/* Saves the registers and the stack of the caller, and continues where `load` was saved. */
__attribute__((naked, noinline)) static void sim_switch(void **save, void *load) {
    (void)save, (void)load;
    __asm__("pushq %rbp\n"
            "pushq %rbx\n"
            "pushq %r12\n"
            "pushq %r13\n"
            "pushq %r14\n"
            "pushq %r15\n"
            "movq %rsp, (%rdi)\n"
            "movq %rsi, %rsp\n"
            "popq %r15\n"
            "popq %r14\n"
            "popq %r13\n"
            "popq %r12\n"
            "popq %rbx\n"
            "popq %rbp\n"
            "ret\n");
}

static char *stacks;

static void map_stacks(void) {
    const size_t bytes = (size_t)STACK_BYTES * FIBER_COUNT;
    stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (stacks == MAP_FAILED) {
        fprintf(stderr, "simulated device: no memory for the threads' stacks\n");
        abort();
    }
    for (int i = 0; i < FIBER_COUNT; i++)
        mprotect(stacks + (size_t)i * STACK_BYTES, GUARD_BYTES, PROT_NONE);
}

void fibers_reset(Fiber *fibers, void (*entry)(void)) {
    if (!stacks)
        map_stacks();
    for (int i = 0; i < FIBER_COUNT; i++) {
        Fiber *fiber = &fibers[i];
        fiber->low = stacks + (size_t)i * STACK_BYTES + GUARD_BYTES;
        if (__asan_unpoison_memory_region)
            __asan_unpoison_memory_region(fiber->low, STACK_BYTES - GUARD_BYTES);
        char *top = stacks + (size_t)(i + 1) * STACK_BYTES - 64 - i % 8 * CACHE_OFFSET;
        /* Six registers, the return address, and the address that `entry` would return to. */
        void **sp = (void **)(void *)(top - (uintptr_t)top % 16) - 8;
        memset(sp, 0, 8 * sizeof *sp);
        memcpy(&sp[6], &entry, sizeof entry);
        fiber->sp = sp;
        fiber->bytes = STACK_BYTES - GUARD_BYTES;
        fiber->fake_stack = NULL;
    }
}

/* The two fibers of the current switch. */
static Fiber *leaving, *arriving;

void fiber_switch(Fiber *from, Fiber *to) {
    if (!__sanitizer_start_switch_fiber) {
        sim_switch(&from->sp, to->sp);
        return;
    }
    leaving = from;
    arriving = to;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->low, to->bytes);
    sim_switch(&from->sp, to->sp);
    fiber_entered();
}

void fiber_entered(void) {
    if (!__sanitizer_finish_switch_fiber)
        return;
    /* This also sets the bounds of the host's own stack. */
    const void *low;
    __sanitizer_finish_switch_fiber(arriving->fake_stack, &low, &leaving->bytes);
    leaving->low = (char *)(uintptr_t)low;
}

bool fiber_holds(const void *p) {
    return stacks && (const char *)p >= stacks &&
           (const char *)p < stacks + (size_t)STACK_BYTES * FIBER_COUNT;
}
