/*
 * base/vec.c -- growth by doubling; the old block stays where it is for a rewind.
 */
#include "base/vec.h"

typedef VEC(char) AnyVec;

bool vec_grow(Arena *a, Journal *j, void *vec, size_t item, size_t need)
{
    AnyVec *x = vec;
    size_t cap = x->cap ? x->cap * 2 : 8;
    while (cap < need)
        cap *= 2;
    char *v = arena_alloc(a, cap * item);
    if (v == NULL)
        return false;
    if (x->n)
        memcpy(v, x->v, x->n * item);
    JSET(j, x->v, v);
    JSET(j, x->cap, cap);
    return true;
}
