/*
 * builtin/weak.c -- calls that make weak references (var/weak.c).
 */
#include "builtin/help.h"
#include "var/weak.h"

static Status make_ref(Tx *tx, const Args *a, Var **out)
{
    return weak_new(tx, a->v[0], a->n > 1 ? a->v[1] : NULL, false, out);
}

static Status make_proxy(Tx *tx, const Args *a, Var **out)
{
    return weak_new(tx, a->v[0], a->n > 1 ? a->v[1] : NULL, true, out);
}

const Handler handlers_weak[] = {
    { "_weakref.ref", 1, 2, make_ref, NULL },
    { "_weakref.proxy", 1, 2, make_proxy, NULL },
    { 0 },
};
