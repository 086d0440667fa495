/*
 * bytecode/pool.c -- ordered objects with a hash table of exact equality beside them.
 *
 * Takes: any objects. Gives: their indices. Hashing and comparing run no user code: what
 * is not an exact built-in constant goes by identity.
 */
#include "bytecode/pool.h"

enum { MAX_NESTING = 20 };

/* -- Exact equality ---------------------------------------------------------- */

static size_t mix(size_t h, size_t x)
{
    return (h ^ x) * (size_t)0x9E3779B97F4A7C15u;
}

static size_t hash_bits(const void *p, size_t n)
{
    size_t h = n;
    for (size_t i = 0; i < n; i += sizeof(size_t)) {
        size_t w;
        memcpy(&w, (const char *)p + i, sizeof w);
        h = mix(h, w);
    }
    return h;
}

static bool text(PyObject *o)
{
    return PyUnicode_CheckExact(o) || PyBytes_CheckExact(o);
}

static size_t hash(PyObject *o, int nesting)
{
    size_t h = (uintptr_t)Py_TYPE(o) >> 4;
    if (PyLong_CheckExact(o) || text(o))
        return mix(h, (size_t)PyObject_Hash(o));
    if (PyFloat_CheckExact(o))
        return mix(h, hash_bits(&((PyFloatObject *)o)->ob_fval, sizeof(double)));
    if (PyComplex_CheckExact(o))
        return mix(h, hash_bits(&((PyComplexObject *)o)->cval, sizeof(Py_complex)));
    if (PyTuple_CheckExact(o) && nesting < MAX_NESTING) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
            h = mix(h, hash(PyTuple_GET_ITEM(o, i), nesting + 1));
        return h;
    }
    return mix(h, (uintptr_t)o >> 4);
}

static bool same(PyObject *a, PyObject *b, int nesting);

static bool same_items(PyObject *a, PyObject *b, int nesting)
{
    if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++)
        if (!same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i), nesting))
            return false;
    return true;
}

static bool same(PyObject *a, PyObject *b, int nesting)
{
    if (a == b)
        return true;
    if (Py_TYPE(a) != Py_TYPE(b))
        return false;
    if (PyLong_CheckExact(a) || (text(a) && nesting > 0))
        return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (text(a))
        return false; /* two equal texts may be two to the program */
    if (PyFloat_CheckExact(a))
        return memcmp(&((PyFloatObject *)a)->ob_fval, &((PyFloatObject *)b)->ob_fval,
                      sizeof(double)) == 0;
    if (PyComplex_CheckExact(a))
        return memcmp(&((PyComplexObject *)a)->cval, &((PyComplexObject *)b)->cval,
                      sizeof(Py_complex)) == 0;
    if (!PyTuple_CheckExact(a) || nesting == 0 || nesting >= MAX_NESTING)
        return false; /* two tuples that a program made are two, whatever they hold */
    return same_items(a, b, nesting + 1);
}

/* -- The table --------------------------------------------------------------- */

/* The slot that holds an equal object's index, or the free one where it belongs. */
static int32_t *seek(Pool *p, PyObject *o)
{
    size_t mask = (size_t)p->nslots - 1;
    size_t h = hash(o, 0);
    for (size_t i = (h ^ h >> 32) & mask;; i = (i + 1) & mask)
        if (p->slot[i] < 0 || same(p->v[p->slot[i]], o, 0))
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

/* Enters what pool_add appended since; the first of equal ones keeps its place. */
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
