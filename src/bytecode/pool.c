/*
 * bytecode/pool.c -- ordered objects with a hash table of their addresses beside them.
 *
 * Takes: any objects. Gives: their indices. Equal objects stay two: a program may compare what it computed by identity.
 */
#include "bytecode/pool.h"

/* -- The table --------------------------------------------------------------- */

/* The slot that holds the object's index, or the free one where it belongs. */
static int32_t *seek(Pool *p, PyObject *o)
{
    size_t mask = (size_t)p->nslots - 1;
    size_t h = ((uintptr_t)o >> 4) * (size_t)0x9E3779B97F4A7C15u;
    for (size_t i = (h ^ h >> 32) & mask;; i = (i + 1) & mask)
        if (p->slot[i] < 0 || p->v[p->slot[i]] == o)
            return &p->slot[i];
}

static bool widen(Pool *p)
{
    int nslots = p->nslots ? p->nslots : 32;
    while (nslots < 2 * (p->n + 1))
        nslots *= 2;
    if (nslots == p->nslots)
        return true;
    int32_t *slot = mem_alloc((size_t)nslots * sizeof *slot);
    if (slot == NULL)
        return false;
    memset(slot, 0xff, (size_t)nslots * sizeof *slot);
    mem_free(p->slot);
    p->slot = slot;
    p->nslots = nslots;
    p->hashed = 0;
    return true;
}

/* Enters what pool_add appended since; the first of doubles keeps its place. */
static void catch_up(Pool *p)
{
    for (; p->hashed < p->n; p->hashed++) {
        int32_t *slot = seek(p, p->v[p->hashed]);
        if (*slot < 0)
            *slot = p->hashed;
    }
}

int pool_add(Pool *p, PyObject *o)
{
    if (p->n == p->cap) {
        int cap = p->cap ? p->cap * 2 : 16;
        PyObject **v = mem_resize(p->v, (size_t)cap * sizeof *v);
        if (v == NULL)
            return -1;
        p->v = v;
        p->cap = cap;
    }
    p->v[p->n] = Py_NewRef(o);
    return p->n++;
}

int pool_index(Pool *p, PyObject *o)
{
    if (!widen(p))
        return -1;
    catch_up(p);
    int32_t *slot = seek(p, o);
    if (*slot >= 0)
        return *slot;
    int index = pool_add(p, o);
    if (index >= 0) {
        *slot = index;
        p->hashed = p->n;
    }
    return index;
}

bool pool_load(Pool *p, PyObject *tuple)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (pool_add(p, PyTuple_GET_ITEM(tuple, i)) < 0)
            return false;
    return true;
}

PyObject *pool_tuple(const Pool *p)
{
    PyObject *t = PyTuple_New(p->n);
    for (int i = 0; t && i < p->n; i++)
        PyTuple_SET_ITEM(t, i, Py_NewRef(p->v[i]));
    return t;
}

void pool_free(Pool *p)
{
    for (int i = 0; i < p->n; i++)
        Py_DECREF(p->v[i]);
    mem_free(p->v);
    mem_free(p->slot);
    memset(p, 0, sizeof *p);
}
