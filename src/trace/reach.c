/*
 * trace/reach.c -- could a function of Python, called by the graph, come across what is changed and not written yet?
 *
 * Takes: a function that the program lets stand in graphs. Gives: whether one of the changed objects can be reached from it, by what its
 * code names, what it closes over, and what those refer to. Holds: modules are entered by the names of the code only; where the search
 * grows too long the answer is yes.
 */
#include "trace/torchcall.h"

enum { MOST_OBJECTS = 60000 };

typedef struct Reach {
    Tx *tx;
    PtrMap seen, changed;
    PyObject **todo; /* found and not looked at yet */
    size_t ntodo, room;
    bool found; /* or not known */
} Reach;

static int meet(PyObject *o, void *arg)
{
    Reach *r = arg;
    Tx *tx = r->tx;
    if (o == NULL || r->found || ptrmap_get(&r->seen, o, NULL))
        return 0;
    r->found = ptrmap_get(&r->changed, o, NULL) || r->seen.m.n >= MOST_OBJECTS ||
               !ptrmap_put(&r->seen, &tx->arena, &tx->journal, o, NULL);
    if (r->found || !PyObject_IS_GC(o))
        return 0;
    if (r->ntodo == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        PyObject **todo = mem_resize(r->todo, room * sizeof *todo);
        if (todo == NULL) {
            PyErr_Clear();
            r->found = true;
            return 0;
        }
        r->todo = todo;
        r->room = room;
    }
    r->todo[r->ntodo++] = o;
    return 0;
}

/* What the code's names may stand for: globals, and attributes of modules among them. */
static void meet_names(Reach *r, PyCodeObject *co, PyObject *globals)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(co->co_names); i++) {
        PyObject *v = PyDict_GetItem(globals, PyTuple_GET_ITEM(co->co_names, i));
        if (v == NULL)
            continue;
        if (!PyModule_Check(v)) {
            meet(v, r);
            continue;
        }
        PyObject *inside = PyModule_GetDict(v);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(co->co_names); k++) {
            PyObject *o = PyDict_GetItem(inside, PyTuple_GET_ITEM(co->co_names, k));
            if (o != NULL && PyModule_Check(o))
                r->found |= ptrmap_get(&r->changed, o, NULL);
            else
                meet(o, r);
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(co->co_consts); i++) {
        PyObject *c = PyTuple_GET_ITEM(co->co_consts, i);
        if (PyCode_Check(c))
            meet_names(r, (PyCodeObject *)c, globals);
    }
}

/* Code of libraries that know nothing of the program: what they refer to is their own. */
static bool of_library(PyObject *module)
{
    static const char *const others[] = { "torch", "numpy", "sympy", "mpmath" };
    PyObject *std = PySys_GetObject("stdlib_module_names");
    Py_ssize_t n;
    const char *s =
        module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, &n) : NULL;
    size_t top = s ? strcspn(s, ".") : 0;
    for (size_t i = 0; s && i < COUNT_OF(others); i++)
        if (strlen(others[i]) == top && strncmp(s, others[i], top) == 0)
            return true;
    PyObject *name = s && std ? PyUnicode_FromStringAndSize(s, (Py_ssize_t)top) : NULL;
    bool found = name && strcmp(s, "__main__") != 0 && PySet_Contains(std, name) > 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

static bool skipped(PyObject *o)
{
    if (PyModule_Check(o))
        return true;
    if (PyFunction_Check(o))
        return of_library(((PyFunctionObject *)o)->func_module);
    if (!PyType_Check(o))
        return false;
    PyTypeObject *t = (PyTypeObject *)o;
    return !(t->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
           of_library(PyDict_GetItemString(t->tp_dict, "__module__"));
}

static void look(Reach *r, PyObject *o)
{
    if (skipped(o))
        return;
    if (!PyFunction_Check(o)) {
        if (Py_TYPE(o)->tp_traverse)
            Py_TYPE(o)->tp_traverse(o, meet, r);
        meet((PyObject *)Py_TYPE(o), r);
        return;
    }
    PyFunctionObject *f = (PyFunctionObject *)o;
    r->found |= ptrmap_get(&r->changed, f->func_globals, NULL);
    meet_names(r, (PyCodeObject *)f->func_code, f->func_globals);
    meet(f->func_closure, r);
    meet(f->func_defaults, r);
    meet(f->func_kwdefaults, r);
    meet(f->func_dict, r);
}

static bool note_changed(Reach *r, PyObject *o)
{
    Tx *tx = r->tx;
    return o == NULL || ptrmap_put(&r->changed, &tx->arena, &tx->journal, o, NULL);
}

Status open_reaches(Tx *tx, PyObject *function, bool *yes)
{
    Reach r = { .tx = tx };
    for (size_t i = 0; i < tx->dirty.n; i++) {
        Var *v = tx->dirty.v[i];
        Var *owner = v->kind == &kind_dict ? AS(DictVar, v)->owner : NULL;
        if (!note_changed(&r, v->real) || !note_changed(&r, owner ? owner->real : NULL))
            return ST_ERROR;
    }
    meet(function, &r);
    while (!r.found && r.ntodo > 0)
        look(&r, r.todo[--r.ntodo]);
    mem_free(r.todo);
    PyErr_Clear();
    *yes = r.found;
    return ST_OK;
}
