/*
 * base/vec.h -- growable arrays of trace state, in the arena and under the journal.
 *
 * Only `v`, `n` and `cap` are journalled: what lies beyond n is garbage, so that an append
 * after a rewind may overwrite it. Changing an element below n goes through JSET.
 */
#ifndef JEDLIK_BASE_VEC_H
#define JEDLIK_BASE_VEC_H

#include "base/journal.h"

/* The element type is named once, at the declaration. */
#define VEC(T)                                                                           \
    struct {                                                                             \
        T *v;                                                                            \
        size_t n, cap;                                                                   \
    }

bool vec_grow(Arena *a, Journal *j, void *vec, size_t item, size_t need);

/* Appends; evaluates to false (MemoryError set) if memory is out. */
#define VEC_PUSH(arena, journal, vec, ...)                                               \
    (((vec)->n < (vec)->cap ||                                                           \
      vec_grow((arena), (journal), (vec), sizeof *(vec)->v, (vec)->n + 1)) &&            \
     ((vec)->v[(vec)->n] = __VA_ARGS__, journal_word((journal), &(vec)->n), (vec)->n++,  \
      true))

#endif
