/*
 * base/text.c -- growing text; repr only of objects whose repr runs no user code.
 */
#include "base/text.h"
#include "base/arena.h"
#include <stdarg.h>
#include <stdio.h>

static bool reserve(Text *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->n + more + 1 <= t->cap)
        return true;
    size_t cap = t->cap ? t->cap : 256;
    while (cap < t->n + more + 1)
        cap *= 2;
    char *s = mem_resize(t->s, cap);
    if (s == NULL) {
        PyErr_Clear();
        t->failed = true;
        return false;
    }
    t->s = s;
    t->cap = cap;
    return true;
}

void text_put(Text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(t, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(t->s + t->n, (size_t)n + 1, format, args);
    va_end(args);
    t->n += (size_t)n;
}

static bool plain_repr(PyObject *o)
{
    if (PyTuple_CheckExact(o)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
            if (!plain_repr(PyTuple_GET_ITEM(o, i)))
                return false;
        return true;
    }
    return o == Py_None || o == Py_Ellipsis || PyBool_Check(o) || PyLong_CheckExact(o) ||
           PyFloat_CheckExact(o) || PyComplex_CheckExact(o) || PyUnicode_CheckExact(o) ||
           PyBytes_CheckExact(o);
}

void text_repr(Text *t, PyObject *obj)
{
    if (!plain_repr(obj)) {
        const char *name = PyType_Check(obj) ? ((PyTypeObject *)obj)->tp_name
                           : PyCFunction_Check(obj)
                               ? ((PyCFunctionObject *)obj)->m_ml->ml_name
                               : NULL;
        if (name)
            text_put(t, "%s", name);
        else
            text_put(t, "<%s>", Py_TYPE(obj)->tp_name);
        return;
    }
    PyObject *r = PyObject_Repr(obj);
    const char *s = r ? PyUnicode_AsUTF8(r) : NULL;
    if (s == NULL)
        PyErr_Clear();
    text_put(t, "%s", s ? s : "?");
    Py_XDECREF(r);
}

PyObject *text_take(Text *t)
{
    PyObject *r = NULL;
    if (t->failed)
        PyErr_NoMemory();
    else
        r = PyUnicode_DecodeUTF8(t->s ? t->s : "", (Py_ssize_t)t->n, "replace");
    text_free(t);
    return r;
}

void text_free(Text *t)
{
    mem_free(t->s);
    memset(t, 0, sizeof *t);
}
