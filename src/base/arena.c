/*
 * base/arena.c -- chunks of doubling size, a list of held objects, counted raw blocks.
 */
#include "base/arena.h"
#include <stdarg.h>
#include <stdio.h>

struct ArenaChunk {
    ArenaChunk *next;
    size_t size;
};

enum { FIRST_CHUNK = 32 << 10, LARGEST_STEP = 4 << 20 };

Py_ssize_t mem_blocks;

/* -- Counted raw memory ----------------------------------------------------- */

Py_ssize_t mem_fail_at;

/* Stress: the mem_fail_at-th request from now on fails, once (0: none). */
static bool fails(void)
{
    return mem_fail_at && --mem_fail_at == 0;
}

void *mem_alloc(size_t n)
{
    if (fails())
        return PyErr_NoMemory();
    void *p = PyMem_RawCalloc(1, n ? n : 1);
    if (p == NULL)
        return PyErr_NoMemory();
    mem_blocks++;
    return p;
}

void *mem_resize(void *p, size_t n)
{
    if (p == NULL)
        return mem_alloc(n);
    void *q = fails() ? NULL : PyMem_RawRealloc(p, n ? n : 1);
    return q ? q : PyErr_NoMemory();
}

void mem_free(void *p)
{
    if (p == NULL)
        return;
    mem_blocks--;
    PyMem_RawFree(p);
}

/* -- The arena -------------------------------------------------------------- */

void arena_init(Arena *a)
{
    memset(a, 0, sizeof *a);
}

void arena_free(Arena *a)
{
    for (size_t i = a->nheld; i-- > 0;)
        Py_DECREF(a->held[i]);
    mem_free(a->held);
    for (ArenaChunk *c = a->chunk, *next; c; c = next) {
        next = c->next;
        mem_free(c);
    }
    arena_init(a);
}

void *arena_grow(Arena *a, size_t n)
{
    size_t size = a->chunk ? a->chunk->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    if (size < n + sizeof(ArenaChunk) + 16)
        size = n + sizeof(ArenaChunk) + 16;
    ArenaChunk *c = mem_alloc(size);
    if (c == NULL)
        return NULL;
    c->next = a->chunk;
    c->size = size;
    a->chunk = c;
    a->bytes += size;
    a->at = (char *)(((uintptr_t)(c + 1) + 15) & ~(uintptr_t)15);
    a->end = (char *)c + size;
    void *p = a->at;
    a->at += n;
    return p;
}

PyObject *arena_hold(Arena *a, PyObject *obj)
{
    if (obj == NULL)
        return NULL;
    if (a->nheld == a->cap_held) {
        size_t cap = a->cap_held ? a->cap_held * 2 : 64;
        PyObject **held = mem_resize(a->held, cap * sizeof *held);
        if (held == NULL) {
            Py_DECREF(obj);
            return NULL;
        }
        a->held = held;
        a->cap_held = cap;
    }
    a->held[a->nheld++] = obj;
    return obj;
}

char *arena_text(Arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *s = arena_alloc(a, (size_t)n + 1);
    if (s == NULL)
        return NULL;
    va_start(args, format);
    vsnprintf(s, (size_t)n + 1, format, args);
    va_end(args);
    return s;
}
