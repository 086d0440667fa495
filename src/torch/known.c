/*
 * torch/known.c -- small tensors whose values a trace knows, because they are made of constants alone.
 *
 * torch.div(x.size(0), 2, rounding_mode="trunc"), torch.tensor(3) + 1: programs use such tensors as sizes, indices and conditions.
 *
 * Takes: calls on meta twins. Gives: the value of a twin, as a tensor on CPU; calls with numbers in the place of such twins. Holds: a
 * value is a copy, and counts only as long as the twin's version is the one it was found at. What can be written without a change of
 * version (x.data), or is handed to a program's own code, loses it.
 */
#include "torch/infer.h"

enum { MOST = 16 }; /* elements */

static PyObject *attribute(void)
{
    static PyObject *name;
    if (name == NULL)
        name = PyUnicode_InternFromString("_jedlik_known");
    return name;
}

PyObject *known_value(PyObject *twin)
{
    PyObject **dict = _PyObject_GetDictPtr(twin), *name = attribute();
    PyObject *pair = name && dict && *dict ? PyDict_GetItemWithError(*dict, name) : NULL;
    if (pair == NULL || !PyTuple_Check(pair) || /* None: lost */
        PyLong_AsLongLong(PyTuple_GET_ITEM(pair, 1)) != infer_version(twin))
        return NULL;
    return PyTuple_GET_ITEM(pair, 0);
}

static bool small(PyObject *t)
{
    TensorMeta m;
    return torch_is_plain_tensor(t) && meta_read(t, &m) && m.numel <= MOST &&
           m.device_type == 0 && !m.requires_grad && !(m.keys & torch_layout.bit_keys);
}

/* A copy of the value stands behind the twin; failing that, none does. */
static void set_value(PyObject *twin, PyObject *real)
{
    PyObject *copy = PyObject_CallMethod(real, "clone", NULL);
    PyObject *pair =
        copy ? Py_BuildValue("(OL)", copy, (long long)infer_version(twin)) : NULL;
    if (pair)
        PyObject_SetAttr(twin, attribute(), pair);
    PyErr_Clear();
    Py_XDECREF(pair);
    Py_XDECREF(copy);
}

static void drop_value(PyObject *twin)
{
    if (known_value(twin))
        PyObject_SetAttr(twin, attribute(), Py_None);
    PyErr_Clear();
}

/* -- Arguments ------------------------------------------------------------------------------ */

typedef struct Seen {
    int tensors, known;
} Seen;

static PyObject *count_one(void *arg, PyObject *twin)
{
    Seen *seen = arg;
    PyObject *real = known_value(twin);
    seen->tensors++;
    seen->known += real != NULL;
    return Py_NewRef(real ? real : twin);
}

static PyObject *forget_one(void *arg, PyObject *twin)
{
    drop_value(twin);
    return Py_NewRef(twin);
}

static void each_argument(const InferCall *c, Swap *one, void *arg)
{
    PyObject *v[MAX_ARGS];
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    if (infer_swap_args(c, one, arg, v))
        while (n > 0)
            Py_DECREF(v[--n]);
    PyErr_Clear();
}

static bool is_getattr(const InferCall *c)
{
    return c->kind == NODE_FUNCTION && PyCFunction_Check(c->target) &&
           strcmp(((PyCFunctionObject *)c->target)->m_ml->ml_name, "getattr") == 0;
}

/* -- Calls ---------------------------------------------------------------------------------- */

/* empty, new_empty, empty_like …: nobody has written what is there. */
static bool unwritten(const InferCall *c)
{
    PyObject *name = c->kind == NODE_METHOD
                         ? Py_NewRef(c->target)
                         : PyObject_GetAttrString(c->target, "__name__");
    const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    bool yes = s == NULL || strstr(s, "empty");
    PyErr_Clear();
    Py_XDECREF(name);
    return yes;
}

/* Whether the value of the result follows from those of the arguments. */
static bool follows(const InferCall *c, TorchOp op)
{
    bool pure = op.pure || op.trial || op.view || op.may_alias;
    return pure && !op.random && !op.mutates && !op.user && !is_getattr(c) &&
           !unwritten(c);
}

static PyObject *give_real(const InferCall *c, TorchOp op, Seen *seen)
{
    *seen = (Seen){ 0 };
    if (!follows(c, op))
        return NULL;
    each_argument(c, count_one, seen);
    if (seen->known != seen->tensors)
        return NULL;
    PyObject *r = infer_call_swapped(c, count_one, seen);
    if (r && !small(r))
        Py_CLEAR(r);
    PyErr_Clear();
    return r;
}

Status known_make(const InferCall *c, TorchOp op, PyObject **out)
{
    Seen seen;
    TensorMeta m;
    PyObject *real = op.factory || c->device ? NULL : give_real(c, op, &seen);
    if (real == NULL)
        return ST_DECLINE;
    *out = seen.tensors == 0 && meta_read(real, &m)
               ? infer_make(&m, torch_py.dtypes[m.dtype])
               : NULL;
    Py_DECREF(real);
    return *out ? ST_OK : ST_DECLINE;
}

void known_note(const InferCall *c, TorchOp op, PyObject *twin)
{
    Seen seen;
    if (op.user || is_getattr(c))
        each_argument(c, forget_one, NULL);
    TensorMeta m;
    bool fits = torch_is_plain_tensor(twin) && meta_read(twin, &m) && m.numel <= MOST &&
                !m.requires_grad &&
                (c->device == NULL || c->device == torch_py.cpu ||
                 PyObject_RichCompareBool(c->device, torch_py.cpu, Py_EQ) == 1);
    PyObject *real = fits && !known_value(twin) ? give_real(c, op, &seen) : NULL;
    TensorMeta now;
    if (real && meta_read(real, &now) && now.dtype == m.dtype && now.ndim == m.ndim &&
        memcmp(now.sizes, m.sizes, 8 * (size_t)m.ndim) == 0)
        set_value(twin, real);
    Py_XDECREF(real);
}

/* -- Numbers -------------------------------------------------------------------------------- */

static PyObject *number_for(void *arg, PyObject *twin)
{
    PyObject *real = known_value(twin);
    TensorMeta m;
    if (real == NULL || !meta_read(real, &m) || m.numel != 1)
        return Py_NewRef(twin);
    *(bool *)arg = true;
    return PyObject_CallMethod(real, "item", NULL);
}

bool known_as_numbers(const InferCall *c, PyObject **v)
{
    bool any = false;
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    if (!infer_swap_args(c, number_for, &any, v)) {
        PyErr_Clear();
        return false;
    }
    if (!any)
        while (n > 0)
            Py_DECREF(v[--n]);
    return any;
}

PyObject *known_answer(const InferCall *c)
{
    Seen seen = { 0 };
    each_argument(c, count_one, &seen);
    if (seen.tensors == 0 || seen.known != seen.tensors)
        return NULL;
    PyObject *r = infer_call_swapped(c, count_one, &seen);
    if (r == NULL || torch_is_tensor(r))
        Py_CLEAR(r);
    PyErr_Clear();
    return r;
}
