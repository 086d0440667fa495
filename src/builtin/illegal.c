/*
 * builtin/illegal.c -- calls of C functions with a number of arguments, or with keywords, that they never take.
 *
 * The TypeError is CPython's own: the real function is called with None for each argument, and for an instance an empty one of the built-in
 * class. Only functions that could do no harm even if the call were legal, and only errors that speak of numbers and names.
 */
#include "builtin/help.h"
#include "builtin/paths.h"

static bool harmless_class(PyTypeObject *t)
{
    PyTypeObject *const known[] = { &PyList_Type,      &PyTuple_Type,     &PyDict_Type,
                                    &PySet_Type,       &PyFrozenSet_Type, &PyLong_Type,
                                    &PyFloat_Type,     &PyComplex_Type,   &PyBool_Type,
                                    &PyUnicode_Type,   &PyBytes_Type,     &PyODict_Type,
                                    &PyEnum_Type,      &PyZip_Type,       &PyMap_Type,
                                    &PyRange_Type,     &PyReversed_Type,  &PyFilter_Type,
                                    &PyBaseObject_Type };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (t == known[i])
            return true;
    return strncmp(t->tp_name, "itertools.", 10) == 0 ||
           strcmp(t->tp_name, "collections.deque") == 0 ||
           strcmp(t->tp_name, "collections.defaultdict") == 0;
}

/* An instance of the class that a method of it may be called on. */
static PyObject *instance(Tx *tx, PyTypeObject *t)
{
    if (t == &PyRange_Type)
        return tx_hold(tx, PyObject_CallFunction((PyObject *)t, "i", 0));
    if (t == &PyEnum_Type || t == &PyReversed_Type)
        return tx_hold(tx, PyObject_CallFunction((PyObject *)t, "()"));
    if (t == &PyMap_Type || t == &PyFilter_Type)
        return NULL;
    return tx_hold(tx, PyObject_CallNoArgs((PyObject *)t));
}

/* What stands for the arguments; NULL without exception: such a call is not tried. */
static PyObject **stand_ins(Tx *tx, PyObject *callable, const Args *a)
{
    PyTypeObject *t = Py_TYPE(callable), *owner = NULL;
    bool method = t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type;
    if (method)
        owner = PyDescr_TYPE(callable);
    else if (PyType_Check(callable) && !harmless_class((PyTypeObject *)callable))
        return NULL;
    else if (!PyType_Check(callable) && !fold_is_pure(callable))
        return NULL;
    if (method && !harmless_class(owner))
        return NULL;
    PyObject **v = tx_alloc(tx, (size_t)(a->n + a->nkw + 1) * sizeof *v);
    for (int i = 0; v && i < a->n + a->nkw; i++)
        v[i] = Py_None;
    if (v == NULL || !method || a->n == 0)
        return v;
    Var *self = a->v[0];
    if (var_real(tx, &self) != ST_OK || self->type == NULL ||
        !PyType_IsSubtype(self->type, owner))
        return NULL;
    v[0] = instance(tx, owner);
    return v[0] ? v : NULL;
}

/* Does the text speak of how many arguments there are, or of their names, and of no value? */
static bool about_numbers(const char *text)
{
    static const char *const signs[] = {
        " given)",           " given by name ",   ", got ",
        "keyword argument",  "required argument", "takes no arguments",
        "needs an argument", "expected at least"
    };
    for (size_t i = 0; i < COUNT_OF(signs); i++)
        if (strstr(text, signs[i]))
            return strstr(text, "None") == NULL;
    return false;
}

Status illegal_call(Tx *tx, PyObject *callable, const Args *a)
{
    PyObject **v = stand_ins(tx, callable, a);
    if (v == NULL) {
        PyErr_Clear();
        return ST_DECLINE;
    }
    PyObject *r =
        PyObject_Vectorcall(callable, v, (size_t)a->n, a->nkw ? a->kwnames : NULL);
    tx_hold(tx, r);
    if (r != NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return ST_DECLINE;
    }
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    PyErr_NormalizeException(&type, &value, &tb);
    PyObject *text = tx_hold(tx, PyObject_Str(value));
    bool numbers = text && about_numbers(PyUnicode_AsUTF8(text));
    PyErr_Restore(type, value, tb);
    if (numbers)
        return raise_now(tx);
    PyErr_Clear();
    return ST_DECLINE;
}
