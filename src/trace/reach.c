/*
 * trace/reach.c -- what could a function of Python, called by the graph, come across?
 *
 * Takes: a function that stands in a graph. Gives: what can be reached from it, by what its code names, what it closes over, and what
 * those refer to; whether what is changed and not written yet is among it. Holds: modules are entered by the names of the code only;
 * where the search grows too long the answer is that it may be anything.
 */
#include "trace/torchcall.h"
#include "var/consts.h"

enum { MOST_OBJECTS = 60000 };

typedef struct Reach {
    Tx *tx;
    PtrMap *seen, changed;
    PyObject **todo; /* found and not looked at yet */
    size_t ntodo, room;
    bool found; /* something changed, or not known */
    bool endless;
} Reach;

static int meet(PyObject *o, void *arg)
{
    Reach *r = arg;
    Tx *tx = r->tx;
    if (o == NULL || r->found || ptrmap_get(r->seen, o, NULL))
        return 0;
    r->endless |= r->seen->m.n >= MOST_OBJECTS;
    r->found = r->endless || ptrmap_get(&r->changed, o, NULL) ||
               !ptrmap_put(r->seen, &tx->arena, &tx->journal, o, NULL);
    if (r->found || !PyObject_IS_GC(o))
        return 0;
    if (r->ntodo == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        PyObject **todo = mem_resize(r->todo, room * sizeof *todo);
        if (todo == NULL) {
            PyErr_Clear();
            r->found = r->endless = true;
            return 0;
        }
        r->todo = todo;
        r->room = room;
    }
    r->todo[r->ntodo++] = o;
    return 0;
}

/* Globals that the code stores to may be others afterwards; what they hold is not looked at. */
static void meet_stores(Reach *r, PyCodeObject *co, PyObject *globals)
{
    const Code *c = code_of(co);
    bool stores = c == NULL;
    for (int i = 0; c && i < c->n; i++)
        stores |= c->ins[i].op == OP_STORE_GLOBAL || c->ins[i].op == OP_DELETE_GLOBAL;
    if (stores && !ptrmap_put(r->seen, &r->tx->arena, &r->tx->journal, globals, NULL))
        r->found = r->endless = true;
    PyErr_Clear();
}

/* What the code's names may stand for: globals, and attributes of modules among them. */
static void meet_names(Reach *r, PyCodeObject *co, PyObject *globals)
{
    meet_stores(r, co, globals);
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

Status open_reaches(Tx *tx, PyObject *function, PtrMap *seen, bool *changed, bool *endless)
{
    Reach r = { .tx = tx, .seen = seen };
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
    *changed = r.found;
    *endless = r.endless;
    return ST_OK;
}

bool open_changeable(PyObject *o)
{
    if (PyFunction_Check(o) && ((PyFunctionObject *)o)->func_dict == NULL)
        return false;
    return !skipped(o) && !const_immutable(o) && !torch_is_tensor(o) &&
           !PyTuple_CheckExact(o) && !PyCFunction_Check(o) && !PyCode_Check(o);
}
