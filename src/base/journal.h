/*
 * base/journal.h -- the undo log: every change of trace state is one (address, old word).
 *
 * All trace state lives in the arena, whose memory never moves or goes away during a trace,
 * so that putting old words back in reverse order restores any earlier state exactly: stack,
 * locals, contents of values, ledger, lengths of graph and guard list. SET() is the only way
 * to write state that outlives an instruction. Fresh memory that nothing older refers to may
 * be written plainly.
 *
 * SET cannot fail: when the log cannot grow, `failed` is set and the interpreter loop gives
 * the trace up after the instruction.
 */
#ifndef JEDLIK_BASE_JOURNAL_H
#define JEDLIK_BASE_JOURNAL_H

#include "base/arena.h"

typedef struct Undo {
    uintptr_t *at;
    uintptr_t old;
} Undo;

typedef struct Journal {
    Undo *v;
    size_t n, cap;
    bool failed;
} Journal;

void journal_grow(Journal *j);
void journal_rewind(Journal *j, size_t mark);
void journal_free(Journal *j);

static inline void journal_word(Journal *j, void *at)
{
    if (__builtin_expect(j->n == j->cap, 0)) {
        journal_grow(j);
        if (j->failed)
            return;
    }
    j->v[j->n++] = (Undo){ (uintptr_t *)at, *(uintptr_t *)at };
}

/* Writes a word-sized lvalue of trace state, remembering the old value. */
#define JSET(journal, lvalue, value)                                                     \
    do {                                                                                 \
        _Static_assert(sizeof(lvalue) == sizeof(uintptr_t),                              \
                       "journalled fields are words");                                   \
        journal_word((journal), &(lvalue));                                              \
        (lvalue) = (value);                                                              \
    } while (0)

#endif
