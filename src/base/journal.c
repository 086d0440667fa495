/*
 * base/journal.c -- growth and rewind of the undo log.
 */
#include "base/journal.h"

void journal_grow(Journal *j)
{
    size_t cap = j->cap ? j->cap * 2 : 1024;
    Undo *v = j->failed ? NULL : mem_resize(j->v, cap * sizeof *v);
    if (v == NULL) {
        PyErr_Clear(); /* reported by the loop, which sees `failed` */
        j->failed = true;
        return;
    }
    j->v = v;
    j->cap = cap;
}

void journal_rewind(Journal *j, size_t mark)
{
    assert(mark <= j->n);
    while (j->n > mark) {
        j->n--;
        *j->v[j->n].at = j->v[j->n].old;
    }
}

void journal_free(Journal *j)
{
    mem_free(j->v);
    memset(j, 0, sizeof *j);
}
