/* A bump allocator: what one compilation makes lives until the arena is freed, all at once.
 * Memory comes zeroed and aligned to 16 bytes. When the machine has none left, the process ends
 * with exit 1 and one line; callers never see NULL. An Arena starts as {0}. */
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
/* Room for count elements of size bytes; an overflowing product is an internal fault. */
void *arena_array(Arena *arena, size_t count, size_t size);
/* The array with room for one more than count elements; *capacity follows. Where it is the newest in
 * the arena it grows in its place. */
void *arena_grow(Arena *arena, void *array, int count, int *capacity, size_t size);
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Frees everything; the arena can be used again. */
void arena_free(Arena *arena);

#ifdef __cplusplus
}
#endif
