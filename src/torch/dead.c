/*
 * torch/dead.c -- whether a node that nobody reads may vanish (soundness rule 14).
 *
 * Takes: a node that is free of effects by its row of ops.def. Gives: true if the real kernel, run once on small tensors of zeros
 * with the same sizes, strides and dtypes, neither raises (a dtype it has no code for, an argument it does not take) nor warns.
 * Holds: inference cannot tell that: tensors without data have no kernels. Only dead nodes are asked, at compile time.
 */
#include "torch/infer.h"
#include "torch/lib.h"
#include "torch/torch.h"

enum { LARGEST = 1 << 16 }; /* elements; what is larger stays */

/* Zeros like the meta twin, or None where there can be none; NULL with an exception. */
static PyObject *zeros_like_twin(PyObject *twin)
{
    TensorMeta m;
    PyObject *make = NULL, *r = NULL;
    if (!torch_is_tensor(twin) || !meta_read(twin, &m))
        return Py_NewRef(Py_None);
    PyObject *size = PyObject_CallMethod(twin, "size", NULL);
    PyObject *stride = PyObject_CallMethod(twin, "stride", NULL);
    PyObject *dtype = PyObject_GetAttrString(twin, "dtype");
    PyObject *numel = PyObject_CallMethod(twin, "numel", NULL);
    long n = numel ? PyLong_AsLong(numel) : -1;
    if (n > LARGEST)
        r = Py_NewRef(Py_None);
    else if (n >= 0 && size && stride && dtype && (make = torch_path("empty_strided"))) {
        PyObject *v[] = { size, stride, dtype }, *kw = Py_BuildValue("(s)", "dtype");
        PyObject *empty = kw ? PyObject_Vectorcall(make, v, 2, kw) : NULL;
        r = empty ? PyObject_CallMethod(empty, "zero_", NULL) : NULL;
        Py_XDECREF(empty);
        Py_XDECREF(kw);
    }
    Py_XDECREF(size);
    Py_XDECREF(stride);
    Py_XDECREF(dtype);
    Py_XDECREF(numel);
    return r;
}

static bool on_cpu(PyObject *tensor)
{
    PyObject *yes = PyObject_GetAttrString(tensor, "is_cpu");
    PyErr_Clear();
    Py_XDECREF(yes);
    return yes == Py_True;
}

/* What runs on another device has other kernels. */
static bool all_on_cpu(const Graph *g)
{
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].kind == NODE_INPUT && !g->node.v[i].expr &&
            !on_cpu(g->node.v[i].example))
            return false;
    return true;
}

/* Zeros for each node that the argument refers to, in made[]. */
static bool stand_ins(const Graph *g, const GArg *a, PyObject **made)
{
    if (a->tag == GA_CONST)
        return true;
    if (a->tag != GA_NODE) {
        for (uint32_t i = 0; i < a->n; i++)
            if (!stand_ins(g, &a->items[i], made))
                return false;
        return true;
    }
    const Node *n = &g->node.v[a->node];
    PyObject *twin = n->kind == NODE_INPUT ? n->example : n->meta;
    if (made[a->node])
        return true;
    if (twin == NULL)
        return false;
    if (n->expr) {
        made[a->node] = Py_NewRef(n->example);
        return true;
    }
    made[a->node] = zeros_like_twin(twin);
    return made[a->node] != NULL && made[a->node] != Py_None;
}

static PyObject *call(const Node *n, PyObject **made)
{
    PyObject *args = fx_args(n, made), *kwargs = args ? fx_kwargs(n, made) : NULL,
             *r = NULL;
    if (kwargs && n->kind == NODE_FUNCTION)
        r = PyObject_Call(n->target, args, kwargs);
    else if (kwargs && PyTuple_GET_SIZE(args) > 0) {
        PyObject *method = PyObject_GetAttr(PyTuple_GET_ITEM(args, 0), n->target);
        PyObject *rest =
            method ? PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)) : NULL;
        r = rest ? PyObject_Call(method, rest, kwargs) : NULL;
        Py_XDECREF(method);
        Py_XDECREF(rest);
    }
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return r;
}

static bool runs_quietly(const Graph *g, const Node *n, PyObject **made)
{
    for (uint32_t i = 0; i < n->nargs + n->nkw; i++)
        if (!stand_ins(g, &n->args[i], made))
            return false;
    PyObject *r = call(n, made);
    Py_XDECREF(r);
    return r != NULL;
}

bool dead_node_goes(const Graph *g, const Node *n)
{
    Quiet q;
    if (n->cast || !all_on_cpu(g))
        return false;
    PyObject **made = mem_alloc((g->node.n + 1) * sizeof *made);
    PyObject *told = made ? PyList_New(0) : NULL;
    if (told == NULL) {
        mem_free(made);
        PyErr_Clear();
        return false;
    }
    memset(made, 0, (g->node.n + 1) * sizeof *made);
    quiet_begin(&q, false);
    quiet_record(&q, told);
    bool goes = runs_quietly(g, n, made) && PyList_GET_SIZE(told) == 0;
    quiet_end(&q, false);
    Py_DECREF(told);
    PyErr_Clear();
    for (size_t i = 0; i < g->node.n; i++)
        Py_XDECREF(made[i]);
    mem_free(made);
    return goes;
}
