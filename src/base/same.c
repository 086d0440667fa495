/*
 * base/same.c -- see same.h.
 */
#include "base/same.h"

/* WORK: containers looked into; what holds the same again and again is not worth it. */
enum { DEPTH = 20, SMALL_SET = 64, WORK = 1 << 16 };

static bool same(PyObject *a, PyObject *b, int depth, int *work);

static bool same_items(PyObject *a, PyObject *b, int depth, int *work)
{
    Py_ssize_t n = PyTuple_GET_SIZE(a);
    if (PyTuple_GET_SIZE(b) != n)
        return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i), depth - 1, work))
            return false;
    return true;
}

static bool in_set(PyObject *item, PyObject *set, int depth, int *work)
{
    Py_ssize_t at = 0;
    PyObject *other;
    Py_hash_t hash;
    while (_PySet_NextEntry(set, &at, &other, &hash))
        if (same(item, other, depth, work))
            return true;
    return false;
}

static bool same_sets(PyObject *a, PyObject *b, int depth, int *work)
{
    if (PySet_GET_SIZE(a) != PySet_GET_SIZE(b) || PySet_GET_SIZE(a) > SMALL_SET)
        return false;
    Py_ssize_t at = 0;
    PyObject *item;
    Py_hash_t hash;
    while (_PySet_NextEntry(a, &at, &item, &hash))
        if (!in_set(item, b, depth - 1, work))
            return false;
    return true;
}

/* Comparison by C code of exact built-in types. */
static bool equal(PyObject *a, PyObject *b)
{
    int r = PyObject_RichCompareBool(a, b, Py_EQ);
    if (r < 0)
        PyErr_Clear();
    return r > 0;
}

/* torch.device, torch.Generator …: leaf objects whose comparison is C. */
static bool torch_leaf(PyTypeObject *t)
{
    return !(t->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_GC)) &&
           strncmp(t->tp_name, "torch.", 6) == 0;
}

/* Numbers of numpy's own types: bytes. */
static bool numpy_leaf(PyTypeObject *t)
{
    return !(t->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
           strncmp(t->tp_name, "numpy.", 6) == 0 && t->tp_as_buffer != NULL &&
           t->tp_itemsize == 0;
}

static bool same_bytes(PyObject *a, PyObject *b)
{
    Py_buffer x, y;
    bool equal = false;
    if (PyObject_GetBuffer(a, &x, PyBUF_SIMPLE) == 0) {
        if (PyObject_GetBuffer(b, &y, PyBUF_SIMPLE) == 0) {
            equal = x.len == y.len && memcmp(x.buf, y.buf, (size_t)x.len) == 0;
            PyBuffer_Release(&y);
        }
        PyBuffer_Release(&x);
    }
    PyErr_Clear();
    return equal;
}

static bool same(PyObject *a, PyObject *b, int depth, int *work)
{
    PyTypeObject *t = Py_TYPE(a);
    if (a == b)
        return true;
    if (t != Py_TYPE(b) || depth == 0)
        return false;
    if (t == &PyUnicode_Type || t == &PyLong_Type || t == &PyBytes_Type)
        return equal(a, b);
    if (t == &PyFloat_Type)
        return memcmp(&((PyFloatObject *)a)->ob_fval, &((PyFloatObject *)b)->ob_fval,
                      sizeof(double)) == 0;
    if (t == &PyComplex_Type)
        return memcmp(&((PyComplexObject *)a)->cval, &((PyComplexObject *)b)->cval,
                      sizeof(Py_complex)) == 0;
    if (PyTuple_Check(a))
        return --*work > 0 && same_items(a, b, depth, work);
    if (t == &PyFrozenSet_Type)
        return --*work > 0 && same_sets(a, b, depth, work);
    if (t == &PySlice_Type) {
        PySliceObject *x = (PySliceObject *)a, *y = (PySliceObject *)b;
        return same(x->start, y->start, depth - 1, work) &&
               same(x->stop, y->stop, depth - 1, work) &&
               same(x->step, y->step, depth - 1, work);
    }
    if (numpy_leaf(t))
        return same_bytes(a, b);
    return torch_leaf(t) && equal(a, b);
}

bool const_same(PyObject *a, PyObject *b)
{
    int work = WORK;
    return same(a, b, DEPTH, &work);
}

static uintptr_t hash_of(PyObject *o, int depth, int *work)
{
    PyTypeObject *t = Py_TYPE(o);
    uintptr_t h = (uintptr_t)t >> 4;
    if (t == &PyUnicode_Type || t == &PyLong_Type || t == &PyBytes_Type)
        return h ^ (uintptr_t)PyObject_Hash(o);
    if (t == &PyFloat_Type) {
        uint64_t bits;
        memcpy(&bits, &((PyFloatObject *)o)->ob_fval, sizeof bits);
        return h ^ (uintptr_t)(bits ^ bits >> 32);
    }
    if (PyTuple_Check(o)) {
        for (Py_ssize_t i = 0; depth > 0 && i < PyTuple_GET_SIZE(o) && --*work > 0; i++)
            h = h * 1000003 ^ hash_of(PyTuple_GET_ITEM(o, i), depth - 1, work);
        return h;
    }
    if (t == &PyComplex_Type || t == &PyFrozenSet_Type || t == &PySlice_Type ||
        torch_leaf(t) || numpy_leaf(t))
        return h;
    return (uintptr_t)o >> 4;
}

uintptr_t const_hash(PyObject *o)
{
    int work = WORK;
    return hash_of(o, DEPTH, &work);
}

bool kept_is(PyObject *kept, PyObject *value)
{
    if (!PyWeakref_CheckRefExact(kept))
        return kept == value;
    return value != Py_None && PyWeakref_GET_OBJECT(kept) == value;
}
