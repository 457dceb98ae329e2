/* A bump allocator: everything that a compilation allocates lives until the arena is freed as a
 * whole. Memory is zeroed and aligned to 16 bytes. If the machine has none left, the process exits
 * with 1 and a message; callers never see NULL. An Arena starts as {0}. */
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ArenaBlock ArenaBlock;
typedef struct {
    ArenaBlock *newest;
} Arena;

void *arena_alloc(Arena *arena, size_t size);
/* Allocates count elements of size bytes; if the product overflows, that is an internal fault. */
void *arena_array(Arena *arena, size_t count, size_t size);
/* Returns the array with room for at least count + 1 elements and updates *capacity. The newest
 * allocation of the arena grows in place. */
void *arena_grow(Arena *arena, void *array, int count, int *capacity, size_t size);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Frees everything; the arena can be used again. */
void arena_free(Arena *arena);

#ifdef __cplusplus
}
#endif
