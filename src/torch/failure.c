/*
 * torch/failure.c -- values of a failed run, for the state at the operation that raised.
 */
#include "torch/failure.h"
#include "torch/lib.h"

void fx_failure_free(GraphFailure *f)
{
    if (f == NULL)
        return;
    for (uint32_t i = 0; f->values && f->targets && i < f->n; i++) {
        Py_XDECREF(f->values[i]);
        Py_XDECREF(f->targets[i]);
    }
    mem_free(f->values);
    mem_free(f->targets);
    mem_free(f);
}

bool fx_same_start(const GraphFailure *f, const Graph *g)
{
    for (size_t i = 0; i < f->n && i < g->node.n; i++)
        if (f->targets[i] &&
            (g->node.v[i].kind == NODE_INPUT ||
             (f->targets[i] != g->node.v[i].target &&
              PyObject_RichCompareBool(f->targets[i], g->node.v[i].target, Py_EQ) != 1))) {
            PyErr_Clear();
            return false;
        }
    return g->node.n <= f->n;
}

static PyObject *give(PyObject *values, PyObject *const *args, Py_ssize_t nargs)
{
    return Py_NewRef(values);
}

PyObject *fx_values(const GraphFailure *f, const uint32_t *outputs, int noutputs)
{
    static PyMethodDef def = { "values", (PyCFunction)(void (*)(void))give, METH_FASTCALL,
                               NULL };
    PyObject *t = PyTuple_New(noutputs);
    for (int i = 0; t && i < noutputs; i++) {
        PyObject *v = outputs[i] < f->n ? f->values[outputs[i]] : NULL;
        if (v == NULL) {
            Py_DECREF(t);
            return NULL;
        }
        PyTuple_SET_ITEM(t, i, Py_NewRef(v));
    }
    PyObject *fn = t ? PyCFunction_New(&def, t) : NULL;
    Py_XDECREF(t);
    return fn;
}
