/*
 * touch.c -- calls that cannot have to do with a tensor.
 *
 * Such a call is not worth a trace (config.capture_without_tensors off): what it would give is no graph. Whatever is not known for sure may
 * lead to a tensor, so the answer costs a look at few objects.
 */
#include "touch.h"

enum { MAX_ITEMS = 16, MAX_DEPTH = 3, MAX_CODES = 8 };

static bool plain(PyObject *o, int depth);

static bool plain_items(PyObject *o, int depth)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (n > MAX_ITEMS || depth >= MAX_DEPTH)
        return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!plain(PySequence_Fast_GET_ITEM(o, i), depth + 1))
            return false;
    return true;
}

static bool plain(PyObject *o, int depth)
{
    PyTypeObject *t = Py_TYPE(o);
    if (t == &PyTuple_Type || t == &PyList_Type)
        return plain_items(o, depth);
    return o == Py_None || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type ||
           t == &PyUnicode_Type || t == &PyBytes_Type || t == &PyComplex_Type;
}

/* Builtins through which anything can be reached. */
static bool reaches(PyObject *name)
{
    static const char *const names[] = { "__import__", "eval",    "exec",
                                         "globals",    "open",    "vars",
                                         "locals",     "compile", "__build_class__" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0)
            return true;
    return false;
}

static bool plain_name(PyFunctionObject *func, PyObject *name)
{
    PyObject *o = PyDict_GetItem(func->func_globals, name);
    if (o != NULL)
        return plain(o, 0);
    return !reaches(name) && !PyDict_GetItem(PyImport_GetModuleDict(), name);
}

static bool plain_code(PyFunctionObject *func, PyCodeObject *co, int *left)
{
    if (--*left < 0)
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(co->co_names); i++)
        if (!plain_name(func, PyTuple_GET_ITEM(co->co_names, i)))
            return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(co->co_consts); i++) {
        PyObject *o = PyTuple_GET_ITEM(co->co_consts, i);
        if (PyCode_Check(o) && !plain_code(func, (PyCodeObject *)o, left))
            return false;
    }
    return true;
}

bool touch_possible(PyFunctionObject *func, PyObject *const *slots, int nslots)
{
    int left = MAX_CODES;
    if (func->func_closure != NULL)
        return true;
    for (int i = 0; i < nslots; i++)
        if (slots[i] != NULL && !plain(slots[i], 0))
            return true;
    return !plain_code(func, (PyCodeObject *)func->func_code, &left);
}
