/*
 * builtin/parts.h -- what the handlers of containers share.
 */
#ifndef JEDLIK_BUILTIN_PARTS_H
#define JEDLIK_BUILTIN_PARTS_H

#include "builtin/help.h"
#include "var/container.h"

/* The list, dict, set part of the receiver; NULL: it is something else. Realises a->v[i]. */
static inline Status part_of(Tx *tx, const Args *a, int i, const VarKind *kind, Var **out)
{
    TRY(var_real(tx, &a->v[i]));
    Var *c = var_content(a->v[i]);
    *out = c && c->kind == kind ? c : NULL;
    return ST_OK;
}
#define SELF(name, Kind, kindname)                                                       \
    Kind *name;                                                                          \
    do {                                                                                 \
        Var *part_;                                                                      \
        TRY(part_of(tx, a, 0, &kind_##kindname, &part_));                                \
        if (part_ == NULL)                                                               \
            return ST_DECLINE;                                                           \
        name = AS(Kind, part_);                                                          \
    } while (0)

static inline Status give_none(Tx *tx, Var **out)
{
    *out = tx_none(tx);
    return ST_OK;
}
static inline Status give_bool(Tx *tx, bool b, Var **out)
{
    *out = tx_bool(tx, b);
    return ST_OK;
}

/* The class a->v[0] stands for, if it is `base` or a subclass; NULL else. */
PyTypeObject *class_arg(const Args *a, PyTypeObject *base);
/* A new instance of a subclass of a built-in, with the content it starts with. */
Status new_with_content(Tx *tx, PyTypeObject *t, Var *content, Var **out);
/* Sorts as list.sort does: stable, keys computed in order. key NULL: none. */
Status sort_items(Tx *tx, Var **items, Py_ssize_t n, Var *key, bool reverse, Var ***out);
/* key= and reverse= of sort and sorted. */
Status sort_options(Tx *tx, const Args *a, Var **key, bool *reverse);
/* An iterator over the arguments behind the first `skip`. */
Status iters_of(Tx *tx, const Args *a, int skip, Var ***its, int *n);
/* start and stop of index(): clamped like PySlice bounds, against a length of n. */
Status index_bounds(Tx *tx, const Args *a, int at, Py_ssize_t n, Py_ssize_t *start,
                    Py_ssize_t *stop);

#endif
