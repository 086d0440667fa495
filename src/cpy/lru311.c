/*
 * cpy/lru311.c -- the wrapper object of functools.lru_cache, whose struct is private to _functoolsmodule.c.
 *
 * Takes: a wrapper. Gives: what it holds; takes back calls that it has counted. Holds: whether a wrapper of our own has shown
 * the struct to be the one that stands here.
 */
#include "cpy/cpy.h"

typedef struct Link {
    PyObject_HEAD struct Link *prev, *next; /* borrowed */
    Py_hash_t hash;
    PyObject *key, *result;
} Link;

typedef struct Wrapper {
    Link root; /* with the object's head */
    void *call;
    int typed;
    PyObject *cache;
    Py_ssize_t hits;
    PyObject *func;
    Py_ssize_t maxsize; /* -1: without bounds */
    Py_ssize_t misses;
    PyObject *mark; /* between positional and keyword arguments of a key */
    PyTypeObject *link_type;
    PyObject *info_type, *dict, *weakrefs;
} Wrapper;

static bool as_expected(PyObject *o)
{
    Wrapper *w = (Wrapper *)o;
    bool ok = Py_TYPE(o)->tp_basicsize == (Py_ssize_t)sizeof *w && w->typed == 1 &&
              w->maxsize == 2 && w->cache && PyDict_CheckExact(w->cache) && w->hits == 0;
    for (int i = 0; ok && i < 2; i++) {
        PyObject *r = PyObject_CallFunction(o, "s", "a");
        ok = r != NULL && w->misses == 1 && w->hits == i && w->root.next->result == r;
        Py_XDECREF(r);
    }
    return ok && PyDict_GET_SIZE(w->cache) == 1;
}

static bool layout_known(void)
{
    static int known = -1;
    if (known < 0) {
        PyObject *m = PyImport_ImportModule("functools");
        PyObject *make = m ? PyObject_CallMethod(m, "lru_cache", "iO", 2, Py_True) : NULL;
        PyObject *o =
            make ? PyObject_CallFunction(make, "O", (PyObject *)&PyUnicode_Type) : NULL;
        known = o && as_expected(o);
        PyErr_Clear();
        Py_XDECREF(m);
        Py_XDECREF(make);
        Py_XDECREF(o);
    }
    return known;
}

bool cpy_lru_look(PyObject *wrapper, CpyLru *out)
{
    Wrapper *w = (Wrapper *)wrapper;
    if (!layout_known() || Py_TYPE(wrapper)->tp_basicsize != (Py_ssize_t)sizeof *w)
        return false;
    *out = (CpyLru){ w->func,   w->cache,   w->mark,      w->hits,
                     w->misses, w->maxsize, w->typed != 0 };
    return true;
}

PyObject *cpy_lru_result(PyObject *wrapper, PyObject *entry)
{
    return ((Wrapper *)wrapper)->maxsize > 0 ? ((Link *)entry)->result : entry;
}

void cpy_lru_undo(PyObject *wrapper, Py_ssize_t hits, Py_ssize_t misses, PyObject *keys)
{
    Wrapper *w = (Wrapper *)wrapper;
    w->hits -= hits;
    w->misses -= misses;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i);
        Link *link = (Link *)PyDict_GetItemWithError(w->cache, key);
        if (link != NULL && w->maxsize > 0) {
            link->prev->next = link->next;
            link->next->prev = link->prev;
        }
        if (link == NULL || PyDict_DelItem(w->cache, key) < 0)
            PyErr_Clear();
    }
}
