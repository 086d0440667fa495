/*
 * run/deopt.c -- which exceptions of a segment are the program's own.
 *
 * Takes: the exception set, out of a segment whose graph has mutated nothing. Gives: whether
 * running plainly will bring it again, at its right place. Exceptions that come from outside
 * (interrupts, signal handlers) would be lost that way.
 */
#include "run/deopt.h"

#include <frameobject.h>
#include <signal.h>

/* Code that calling a signal handler runs; new reference or NULL, without exception. */
static PyObject *code_of_handler(PyObject *handler)
{
    if (PyMethod_Check(handler))
        handler = PyMethod_GET_FUNCTION(handler);
    if (PyFunction_Check(handler))
        return Py_NewRef(PyFunction_GET_CODE(handler));
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("__call__")) == NULL)
        PyErr_Clear();
    PyObject *call = name == NULL ? NULL : cpy_type_lookup(Py_TYPE(handler), name);
    if (call == NULL || !PyFunction_Check(call))
        return NULL;
    return Py_NewRef(PyFunction_GET_CODE(call));
}

static bool ran(PyObject *code, PyTracebackObject *tb)
{
    for (; tb != NULL; tb = tb->tb_next) {
        PyObject *co = (PyObject *)PyFrame_GetCode(tb->tb_frame);
        Py_DECREF(co);
        if (co == code)
            return true;
    }
    return false;
}

/* True if a frame of a signal handler is in the traceback. */
static bool from_signal(PyTracebackObject *tb)
{
    PyObject *module = PyImport_ImportModule("_signal");
    bool found = false;
    for (int n = 1; module != NULL && !found && n < NSIG; n++) {
        PyObject *handler = PyObject_CallMethod(module, "getsignal", "i", n);
        PyObject *code = handler == NULL ? NULL : code_of_handler(handler);
        found = code != NULL && ran(code, tb);
        Py_XDECREF(code);
        Py_XDECREF(handler);
        PyErr_Clear();
    }
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
}

bool deopt_can(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    bool can = tb == NULL || !from_signal((PyTracebackObject *)tb);
    PyErr_Restore(type, value, tb);
    return can;
}
