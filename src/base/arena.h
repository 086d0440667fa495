/*
 * base/arena.h -- memory of one compile attempt: bump allocation, one free.
 *
 * Blocks come zeroed. Objects put in with arena_hold live as long as the arena. There is
 * no rewind of the arena itself: the journal takes back *uses*, memory stays until the end.
 */
#ifndef JEDLIK_BASE_ARENA_H
#define JEDLIK_BASE_ARENA_H

#include "base/status.h"

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    ArenaChunk *chunk;
    char *at, *end;
    PyObject **held;
    size_t nheld, cap_held;
    size_t bytes; /* taken from the system, for stats and the memory budget */
} Arena;

void arena_init(Arena *a);
void arena_free(Arena *a);

/* A new chunk for at least n bytes; NULL with MemoryError set. */
void *arena_grow(Arena *a, size_t n);

/* Zeroed, 16-aligned; NULL with MemoryError set. */
static inline void *arena_alloc(Arena *a, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (__builtin_expect((size_t)(a->end - a->at) < n, 0))
        return arena_grow(a, n);
    void *p = a->at;
    a->at += n;
    return memset(p, 0, n);
}

/* Steals obj and gives it back borrowed. NULL in (with an exception set) gives NULL out. */
PyObject *arena_hold(Arena *a, PyObject *obj);

char *arena_text(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Blocks that base/ and run/ hold from PyMem_Raw*, for leak tests. */
extern Py_ssize_t mem_blocks;
extern Py_ssize_t mem_fail_at; /* stress tests: see arena.c */
void *mem_alloc(size_t n);     /* zeroed; NULL with MemoryError set */
void *mem_resize(void *p, size_t n);
void mem_free(void *p);

#endif
