/*
 * torch/swap.c -- calls with other tensors in the place of those they have.
 *
 * Takes: a call, or a value that may hold tensors, and what stands for each tensor. Gives: the same with those exchanged.
 */
#include "torch/infer.h"

enum { MAX_NESTED = 4 };

static PyObject *swapped(PyObject *o, int depth, Swap *one, void *arg);

/* Lists, tuples and torch's named tuples. */
static PyObject *swapped_items(PyObject *o, int depth, Swap *one, void *arg)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    PyObject *items = PyTuple_New(n), *r;
    for (Py_ssize_t i = 0; items && i < n; i++) {
        PyObject *x = swapped(PySequence_Fast_GET_ITEM(o, i), depth + 1, one, arg);
        if (x == NULL)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, i, x);
    }
    if (items == NULL || PyTuple_CheckExact(o))
        return items;
    r = PyObject_CallOneArg((PyObject *)Py_TYPE(o), items);
    Py_DECREF(items);
    return r;
}

static PyObject *swapped_slice(const PySliceObject *s, int depth, Swap *one, void *arg)
{
    PyObject *part[3] = { s->start, s->stop, s->step }, *r = NULL;
    int n = 0;
    while (n < 3 && (part[n] = swapped(part[n], depth + 1, one, arg)))
        n++;
    if (n == 3)
        r = PySlice_New(part[0], part[1], part[2]);
    while (n > 0)
        Py_DECREF(part[--n]);
    return r;
}

static PyObject *swapped(PyObject *o, int depth, Swap *one, void *arg)
{
    PyTypeObject *type = Py_TYPE(o);
    if (torch_is_tensor(o))
        return torch_is_plain_tensor(o) ? one(arg, o) : NULL;
    if (depth == MAX_NESTED || PyDict_Check(o))
        return NULL;
    if (PySlice_Check(o))
        return swapped_slice((PySliceObject *)o, depth, one, arg);
    if (type == torch_types.size || !(PyTuple_Check(o) || PyList_Check(o)))
        return Py_NewRef(o);
    bool known = type == &PyTuple_Type || type == &PyList_Type ||
                 PyObject_HasAttrString((PyObject *)type, "n_sequence_fields");
    return known ? swapped_items(o, depth, one, arg) : NULL;
}

PyObject *infer_swapped(PyObject *o, Swap *one, void *arg)
{
    return swapped(o, 0, one, arg);
}

bool infer_swap_args(const InferCall *c, Swap *one, void *arg, PyObject **v)
{
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0), i = 0;
    if (n > MAX_ARGS)
        return false;
    while (i < n && (v[i] = swapped(c->args[i], 0, one, arg)))
        i++;
    if (i == n)
        return true;
    while (i > 0)
        Py_DECREF(v[--i]);
    return false;
}

PyObject *infer_call_swapped(const InferCall *c, Swap *one, void *arg)
{
    PyObject *v[MAX_ARGS], *r;
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    if (!infer_swap_args(c, one, arg, v))
        return NULL;
    r = c->kind == NODE_METHOD
            ? PyObject_VectorcallMethod(c->target, v, (size_t)c->nargs, c->kwnames)
            : PyObject_Vectorcall(c->target, v, (size_t)c->nargs, c->kwnames);
    while (n > 0)
        Py_DECREF(v[--n]);
    return r;
}
