/*
 * cpy/end311.c -- objects whose end runs code: finalizers, weak references with callbacks, generators in the middle.
 *
 * Takes: an object, or a set of them. Gives: whether its last reference may not go quietly. Holds: nothing is run.
 */
#include "cpy/inner311.h"
#include "cpy/peek.h"

static bool is_generator(PyObject *o)
{
    return PyGen_CheckExact(o) || PyCoro_CheckExact(o) || PyAsyncGen_CheckExact(o);
}

bool cpy_finalized(PyObject *obj)
{
    if (Py_TYPE(obj)->tp_finalize == NULL)
        return false;
    if (!is_generator(obj))
        return true;
    int8_t state = ((PyGenObject *)obj)->gi_frame_state;
    return state != FRAME_COMPLETED && state != FRAME_CLEARED;
}

PyCFunction cpy_own_callback;
const char *cpy_bookkeeper;

static bool starts_with(PyObject *text, const char *with)
{
    const char *s = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (s == NULL)
        PyErr_Clear();
    return s && strncmp(s, with, strlen(with)) == 0;
}

/* A callback of the engine's own weak references, or of the library's memos of its values (fake tensors, say), does
 * nothing that a program could see. */
static bool own_callback(PyObject *callback)
{
    if (PyCFunction_Check(callback))
        return cpy_own_callback && PyCFunction_GET_FUNCTION(callback) == cpy_own_callback;
    return cpy_bookkeeper && PyFunction_Check(callback) &&
           starts_with(((PyFunctionObject *)callback)->func_module, cpy_bookkeeper);
}

static bool end_runs_code(PyObject *obj)
{
    if (cpy_finalized(obj) || cpy_gen_open(obj))
        return true;
    if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(obj)))
        return false;
    PyWeakReference *w = *(PyWeakReference **)PyObject_GET_WEAKREFS_LISTPTR(obj);
    while (w && (w->wr_callback == NULL || own_callback(w->wr_callback)))
        w = w->wr_next;
    return w != NULL;
}

static bool any_item(PyObject *seq, Py_ssize_t most)
{
    PyObject **items = PySequence_Fast_ITEMS(seq);
    Py_ssize_t n = PySequence_Fast_GET_SIZE(seq);
    for (Py_ssize_t i = 0; i < n && i < most; i++)
        if (end_runs_code(items[i]))
            return true;
    return false;
}

enum { FEW = 16 };

bool cpy_end_runs_code(PyObject *obj)
{
    if (PyTuple_CheckExact(obj) || PyList_CheckExact(obj))
        return any_item(obj, FEW);
    return end_runs_code(obj);
}

bool cpy_last_runs_code(PyObject *obj, Py_ssize_t refs)
{
    if (Py_REFCNT(obj) > refs)
        return false;
    if (PyMethod_Check(obj))
        return cpy_last_runs_code(PyMethod_GET_SELF(obj), 1);
    if (!PyTuple_CheckExact(obj) && !PyList_CheckExact(obj))
        return end_runs_code(obj);
    PyObject **items = PySequence_Fast_ITEMS(obj);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(obj) && i < FEW; i++)
        if (Py_REFCNT(items[i]) == 1 && end_runs_code(items[i]))
            return true;
    return false;
}

bool cpy_content_ends_run_code(PyObject *container)
{
    Py_ssize_t at = 0;
    PyObject *member;
    Py_hash_t hash;
    if (PyList_Check(container) || PyTuple_Check(container))
        return any_item(container, PY_SSIZE_T_MAX);
    if (!PyAnySet_Check(container))
        return true;
    while (_PySet_NextEntry(container, &at, &member, &hash))
        if (end_runs_code(member))
            return true;
    return false;
}
