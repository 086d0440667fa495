/*
 * cpy/gen311.c -- suspended generators of CPython 3.11.
 *
 * Takes: a generator function, the place of a YIELD_VALUE, the values of all slots there. Gives: a generator object that
 * goes on behind it, as if it had run so far.
 */
#include "cpy/inner311.h"

PyObject *cpy_gen_blank(PyFunctionObject *func)
{
    PyCodeObject *co = (PyCodeObject *)func->func_code;
    int pos = co->co_argcount, kwonly = co->co_kwonlyargcount;
    PyObject *names = PyCode_GetVarnames(co);
    PyObject *kw = names ? PyTuple_GetSlice(names, pos, pos + kwonly) : NULL;
    PyObject *args = kw ? PyTuple_New(pos + kwonly) : NULL;
    PyObject *made = NULL;
    for (int i = 0; args && i < pos + kwonly; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(Py_None));
    if (args)
        made = PyObject_Vectorcall((PyObject *)func, ((PyTupleObject *)args)->ob_item,
                                   (size_t)pos, kwonly ? kw : NULL);
    Py_XDECREF(names);
    Py_XDECREF(kw);
    Py_XDECREF(args);
    return made;
}

enum { DEPTH = 4 };

static bool open_within(PyObject *o, int depth);

static int visit(PyObject *o, void *depth)
{
    return open_within(o, *(int *)depth - 1);
}

/* Iterators made by C hold what they walk: map(f, generator) and the like. */
static bool open_within(PyObject *o, int depth)
{
    PyTypeObject *t = Py_TYPE(o);
    bool gen = PyGen_CheckExact(o) || PyCoro_CheckExact(o);
    if (gen && ((PyGenObject *)o)->gi_frame_state != FRAME_SUSPENDED)
        return false;
    if (gen && PyBytes_GET_SIZE(((PyGenObject *)o)->gi_code->co_exceptiontable) > 0)
        return true;
    bool walks = (t->tp_iternext || t == &PyTuple_Type) && t->tp_traverse &&
                 !PyType_HasFeature(t, Py_TPFLAGS_HEAPTYPE);
    return walks && depth > 0 && t->tp_traverse(o, visit, &depth) != 0;
}

bool cpy_gen_open(PyObject *o)
{
    return Py_TYPE(o)->tp_iternext != NULL && open_within(o, DEPTH);
}

static void set_slots(CpyFrame *f, PyObject *const *slots, int n)
{
    int had = f->stacktop;
    for (int i = 0; i < n; i++) {
        PyObject *old = i < had ? f->localsplus[i] : NULL;
        f->localsplus[i] = Py_XNewRef(slots[i]);
        Py_XDECREF(old);
    }
    f->stacktop = n;
}

PyObject *cpy_gen_make(PyFunctionObject *func, int unit, PyObject *const *slots, int n,
                       PyObject *exc)
{
    PyGenObject *g = (PyGenObject *)cpy_gen_blank(func);
    if (g == NULL)
        return NULL;
    CpyFrame *f = (CpyFrame *)g->gi_iframe;
    assert(g->gi_frame_state == FRAME_CREATED && n >= f->f_code->co_nlocalsplus);
    set_slots(f, slots, n);
    f->prev_instr = _PyCode_CODE(f->f_code) + unit;
    g->gi_frame_state = FRAME_SUSPENDED;
    g->gi_exc_state.exc_value = Py_XNewRef(exc);
    return (PyObject *)g;
}
