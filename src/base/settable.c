/*
 * base/settable.c -- copies of sets that keep the table: the order of a set is a matter of its history, and so is the
 * order of what is done to the copy later.
 */
#include "base/settable.h"

PyObject *set_twin(PyObject *from, bool frozen)
{
    PySetObject *a = (PySetObject *)from;
    PySetObject *b = (PySetObject *)(frozen ? PyFrozenSet_New(NULL) : PySet_New(NULL));
    if (b == NULL)
        return NULL;
    size_t size = ((size_t)a->mask + 1) * sizeof(setentry);
    setentry *t = b->smalltable;
    if (a->table != a->smalltable && (t = PyMem_Malloc(size)) == NULL) {
        Py_DECREF(b);
        return PyErr_NoMemory();
    }
    memcpy(t, a->table, size);
    b->table = t;
    b->mask = a->mask;
    b->fill = a->fill;
    b->used = a->used;
    b->finger = a->finger;
    for (Py_ssize_t i = 0; i <= b->mask; i++)
        if (t[i].key != NULL && t[i].key != _PySet_Dummy)
            Py_INCREF(t[i].key);
    return (PyObject *)b;
}

int set_assume(PyObject *into, PyObject *from)
{
    PySetObject *a = (PySetObject *)into, *b = (PySetObject *)set_twin(from, false);
    if (b == NULL || PySet_Clear(into) < 0) {
        Py_XDECREF(b);
        return -1;
    }
    bool small = b->table == b->smalltable;
    memcpy(a->smalltable, b->smalltable, sizeof a->smalltable);
    a->table = small ? a->smalltable : b->table;
    a->mask = b->mask;
    a->fill = b->fill;
    a->used = b->used;
    a->finger = b->finger;
    memset(b->smalltable, 0, sizeof b->smalltable); /* the twin is left empty */
    b->table = b->smalltable;
    b->mask = PySet_MINSIZE - 1;
    b->fill = b->used = 0;
    Py_DECREF(b);
    return 0;
}

int set_in_place(PyObject *set, PyObject *other, char op)
{
    const PyNumberMethods *m = PySet_Type.tp_as_number;
    if (op == '|')
        return _PySet_Update(set, other);
    PyObject *r = op == '&'   ? m->nb_inplace_and(set, other)
                  : op == '-' ? m->nb_inplace_subtract(set, other)
                              : m->nb_inplace_xor(set, other);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

static int pop(PyObject *set)
{
    PyObject *popped = PySet_Pop(set);
    Py_XDECREF(popped);
    return popped ? 0 : -1;
}

int set_step(PyObject *set, char what, PyObject *item)
{
    switch (what) {
    case 'c': return PySet_Clear(set);
    case '+': return PySet_Add(set, item);
    case '-': return PySet_Discard(set, item) < 0 ? -1 : 0;
    case 'p': return pop(set);
    case '=': return set_assume(set, item);
    default: return set_in_place(set, item, what == '_' ? '-' : what);
    }
}

int set_swap(PyObject *set, PyObject *const *objects, Py_ssize_t n)
{
    PyObject *by_key = PyDict_New(), *own;
    bool ok = by_key != NULL;
    for (Py_ssize_t i = 0; ok && i < n; i++)
        ok = PyDict_SetItem(by_key, objects[i], objects[i]) == 0;
    PySetObject *s = (PySetObject *)set;
    for (Py_ssize_t i = 0; ok && i <= s->mask; i++) {
        setentry *at = &s->table[i];
        if (at->key == NULL || at->key == _PySet_Dummy)
            continue;
        own = _PyDict_GetItem_KnownHash(by_key, at->key, at->hash);
        if (own != NULL)
            Py_SETREF(at->key, Py_NewRef(own));
        ok = own != NULL || !PyErr_Occurred();
    }
    Py_XDECREF(by_key);
    return ok ? 0 : -1;
}
