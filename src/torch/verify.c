/*
 * torch/verify.c -- shape rules beside FakeTensorMode, for config.verify_shapes.
 *
 * Takes: a call that a rule is about to answer. Gives: whether FakeTensorMode gives the same. Holds: the twins are as before.
 */
#include "torch/infer.h"

PyObject *verify_expect(const InferCall *c)
{
    PyObject *expected = infer_fakes(c, "expect");
    if (expected == NULL)
        PyErr_Clear();
    return expected;
}

bool verify_compare(const InferCall *c, PyObject *expected, PyObject *result,
                    unsigned loose)
{
    PyObject *m = PyImport_ImportModule("jedlik._fakes");
    PyObject *same =
        m ? PyObject_CallMethod(m, "agrees", "OOOI", c->target, expected, result, loose)
          : NULL;
    bool yes = same == Py_True;
    PyErr_Clear();
    Py_XDECREF(same);
    Py_XDECREF(m);
    return yes;
}
