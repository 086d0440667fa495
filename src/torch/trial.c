/*
 * torch/trial.c -- what an operation gives, found by running its own kernel on data that is made up.
 *
 * Many of torch's meta kernels are written in Python and import sympy, some torch._dynamo: a second once a process. Kernels for CPU
 * are C++, and what they give is what eager gives, strides included. So operations with a TRIAL or COSTLY row (ops.def: what they
 * give depends on metadata alone, whatever the data) run on tensors like their arguments, if these are on CPU and small enough.
 *
 * Takes: a call on meta twins. Gives: its result on the meta device, or ST_DECLINE: too large, another device, an exception (it may be
 * about the data), a result that shares memory with an argument or with another result. Holds: twins of arguments that were written
 * are written too. Generators are as before: what draws has no such row.
 */
#include "torch/rules.h"

enum {
    MAX_TRIED = 64,         /* tensors of a call */
    MAX_ELEMENTS = 1 << 23, /* of all arguments together */
    MAX_COSTLY = 1 << 13,   /* … where time or the result grow faster than they */
};

typedef struct Stand {
    PyObject *twin, *real; /* borrowed; owned */
    TensorMeta m;          /* of the twin */
    int64_t version;       /* of the real one, before the call */
} Stand;

typedef struct Trial {
    Stand v[MAX_TRIED];
    int n;
    int64_t elements, limit;
    bool indexed;             /* single integers say nothing about sizes */
    void *results[MAX_TRIED]; /* storages */
    int nresults;
} Trial;

/* -- Tensors with data ---------------------------------------------------------------- */

static bool calls(PyObject *t, const char *name, PyObject *arg)
{
    PyObject *r = PyObject_CallMethod(t, name, arg ? "O" : NULL, arg);
    Py_XDECREF(r);
    return r != NULL;
}

static PyObject *tuple_of(const int64_t *v, int n)
{
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++)
        PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(v[i]));
    if (PyErr_Occurred())
        Py_CLEAR(t);
    return t;
}

static PyObject *flat_data(int64_t n, PyObject *dtype, double value)
{
    static PyObject *full, *names;
    if (full == NULL && (full = torch_path("full")) == NULL)
        return NULL;
    if (names == NULL && (names = Py_BuildValue("(ss)", "dtype", "device")) == NULL)
        return NULL;
    PyObject *size = tuple_of(&n, 1), *number = PyFloat_FromDouble(value), *r = NULL;
    PyObject *args[] = { size, number, dtype, torch_py.cpu };
    if (size && number)
        r = PyObject_Vectorcall(full, args, 2, names);
    Py_XDECREF(size);
    Py_XDECREF(number);
    return r;
}

static PyObject *shaped(PyObject *flat, const TensorMeta *m)
{
    PyObject *sizes = tuple_of(m->sizes, m->ndim), *r = NULL,
             *strides = tuple_of(m->strides, m->ndim);
    if (sizes && strides)
        r = PyObject_CallMethod(flat, "as_strided", "OOL", sizes, strides,
                                (long long)m->storage_offset);
    Py_XDECREF(sizes);
    Py_XDECREF(strides);
    return r;
}

/* Ones on the diagonals of square matrices, which makes them definite; not where elements share memory. */
static void fill_diagonals(PyObject *t, const TensorMeta *m)
{
    int n = m->ndim;
    if (n < 2 || m->sizes[n - 1] != m->sizes[n - 2])
        return;
    PyObject *d = PyObject_CallMethod(t, "diagonal", "iii", 0, -2, -1);
    PyObject *one = PyLong_FromLong(1);
    if (d && one)
        calls(d, "fill_", one);
    PyErr_Clear();
    Py_XDECREF(d);
    Py_XDECREF(one);
}

/* As the twin: a leaf or a result of autograd. Under grad mode; steals. */
static PyObject *with_grad(PyObject *t, const TensorMeta *m, PyObject *dtype)
{
    if (t == NULL || !m->requires_grad)
        return t;
    PyObject *one = m->is_leaf || !dense(m) ? NULL : flat_data(1, dtype, 1);
    bool ok = one ? calls(one, "requires_grad_", NULL) && calls(t, "mul_", one)
                  : !PyErr_Occurred() && calls(t, "requires_grad_", NULL);
    Py_XDECREF(one);
    if (!ok)
        Py_CLEAR(t);
    return t;
}

/* Halves and ones: positive and at most one. Of integers zeros, which are valid as indices. */
static PyObject *made_up(const TensorMeta *m)
{
    PyObject *dtype = torch_py.dtypes[m->dtype], *t = NULL;
    bool whole = dtype_int(m->dtype), grad = ambient_grad_enabled();
    ambient_set_grad(false);
    PyObject *flat = flat_data(infer_extent(m), dtype, whole ? 0 : 0.5);
    PyObject *view = flat ? shaped(flat, m) : NULL;
    if (view && !whole)
        fill_diagonals(view, m);
    if (view)
        t = PyObject_CallMethod(view, "detach", NULL);
    Py_XDECREF(view);
    Py_XDECREF(flat);
    ambient_set_grad(true);
    t = with_grad(t, m, dtype);
    ambient_set_grad(grad);
    return t;
}

static bool read_plain(PyObject *t, TensorMeta *m)
{
    return torch_is_plain_tensor(t) && meta_read(t, m) &&
           !(m->keys & torch_layout.bit_keys) && m->dtype < COUNT_OF(torch_py.dtypes) &&
           torch_py.dtypes[m->dtype];
}

/* -- Arguments -------------------------------------------------------------------------- */

/* One integer may stand for a size, a dim or a count: torch takes tensors there and reads them. */
static bool may_be_number(const TensorMeta *m)
{
    return m->numel == 1 && !dtype_float(m->dtype) && m->dtype != D_C64 &&
           m->dtype != D_C128;
}

static PyObject *stand_for(void *arg, PyObject *twin)
{
    Trial *t = arg;
    for (int i = 0; i < t->n; i++)
        if (t->v[i].twin == twin)
            return Py_NewRef(t->v[i].real);
    Stand *s = &t->v[t->n];
    if (t->n == MAX_TRIED || !read_plain(twin, &s->m) ||
        (!t->indexed && may_be_number(&s->m)))
        return NULL;
    t->elements += infer_extent(&s->m);
    if (t->elements > t->limit || (s->real = made_up(&s->m)) == NULL)
        return NULL;
    s->twin = twin;
    s->version = infer_version(s->real);
    t->n++;
    return Py_NewRef(s->real);
}

/* -- Results ---------------------------------------------------------------------------- */

static bool new_memory(Trial *t, void *storage)
{
    TensorMeta m;
    for (int i = 0; i < t->n; i++)
        if (!meta_read(t->v[i].real, &m) || m.storage == storage)
            return false;
    for (int i = 0; i < t->nresults; i++)
        if (t->results[i] == storage)
            return false;
    if (t->nresults == MAX_TRIED)
        return false;
    t->results[t->nresults++] = storage;
    return true;
}

static PyObject *twin_of(void *arg, PyObject *real)
{
    Trial *t = arg;
    TensorMeta m;
    for (int i = 0; i < t->n; i++)
        if (t->v[i].real == real)
            return Py_NewRef(t->v[i].twin);
    if (!read_plain(real, &m) || m.device_type != 0 || m.storage_offset ||
        !new_memory(t, m.storage))
        return NULL;
    PyObject *dtype = torch_py.dtypes[m.dtype];
    return m.is_view ? infer_make_view(&m, dtype) : infer_make(&m, dtype);
}

/* Whether arguments have kept all but their data, and which have been written. */
static bool arguments_kept(const Trial *t, PyObject *result, bool *written)
{
    for (int i = 0; i < t->n; i++) {
        const Stand *s = &t->v[i];
        TensorMeta m;
        if (!meta_read(s->real, &m) || !same_sizes(&m, &s->m) || m.dtype != s->m.dtype ||
            memcmp(m.strides, s->m.strides, 8 * (size_t)m.ndim) != 0)
            return false;
        bool grad = m.requires_grad != s->m.requires_grad;
        written[i] = grad || infer_version(s->real) != s->version;
        if (grad && result != s->real)
            return false;
    }
    return true;
}

/* The twins of what was written are written too. */
static Status write_twins(Trial *t, const bool *written, bool grad)
{
    Infer r = { .grad = grad };
    for (int i = 0; i < t->n; i++) {
        TensorMeta m;
        PyObject *same = NULL;
        if (!written[i])
            continue;
        if (!meta_read(t->v[i].real, &m) ||
            give_written(&r, t->v[i].twin, &m, m.requires_grad, &same) != ST_OK)
            return ST_DECLINE;
        Py_DECREF(same);
    }
    return ST_OK;
}

/* A number among the results may be one of the data. */
static bool only_tensors(PyObject *o)
{
    if (torch_is_tensor(o) || o == Py_None)
        return true;
    if (!PyTuple_Check(o) && !PyList_Check(o))
        return false;
    for (Py_ssize_t i = 0; i < Py_SIZE(o); i++)
        if (!only_tensors(PySequence_Fast_GET_ITEM(o, i)))
            return false;
    return true;
}

static Status settle(Trial *t, PyObject *result, bool grad, PyObject **out)
{
    bool written[MAX_TRIED];
    if (!only_tensors(result) || !arguments_kept(t, result, written))
        return ST_DECLINE;
    PyObject *r = infer_swapped(result, twin_of, t);
    if (r == NULL || write_twins(t, written, grad) != ST_OK) {
        Py_XDECREF(r);
        return ST_DECLINE;
    }
    *out = r;
    return ST_OK;
}

/* -- The trial ------------------------------------------------------------------------------ */

/* Everything there, and no other device named. */
static bool on_cpu(const InferCall *c)
{
    Py_ssize_t nkw = c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0;
    for (Py_ssize_t i = 0; i < c->nargs + nkw; i++)
        if (Py_IS_TYPE(c->args[i], torch_types.device))
            return false;
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(c->kwnames, i), "device") ==
            0)
            return false;
    return c->device && PyObject_RichCompareBool(c->device, torch_py.cpu, Py_EQ) == 1;
}

/* What was raised may be about the data; only interrupts are for the user. */
static Status forget(void)
{
    if (PyErr_Occurred() && (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) ||
                             PyErr_ExceptionMatches(PyExc_SystemExit)))
        return ST_ERROR;
    PyErr_Clear();
    return ST_DECLINE;
}

/* multi_head_attention_forward(…, dropout_p, …) without dropout */
static bool draws_nothing(const InferCall *c)
{
    enum { DROPOUT = 10 };
    return PyFunction_Check(c->target) && c->nargs > DROPOUT &&
           PyFloat_CheckExact(c->args[DROPOUT]) &&
           PyFloat_AS_DOUBLE(c->args[DROPOUT]) == 0 &&
           PyUnicode_CompareWithASCIIString(((PyFunctionObject *)c->target)->func_name,
                                            "multi_head_attention_forward") == 0;
}

Status trial_run(const InferCall *c, TorchOp op, PyObject **out)
{
    Trial t = { .limit = op.costly ? MAX_COSTLY : MAX_ELEMENTS, .indexed = op.indexed };
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    if (!(op.trial || op.costly) || (op.random && !draws_nothing(c)) || op.syncs ||
        n > MAX_ARGS || !on_cpu(c))
        return ST_DECLINE;
    PyObject *result = infer_call_swapped(c, stand_for, &t);
    Status st = result ? settle(&t, result, c->grad, out) : ST_DECLINE;
    for (int i = 0; i < t.n; i++)
        Py_DECREF(t.v[i].real);
    Py_XDECREF(result);
    if (st == ST_DECLINE)
        return forget();
    return st;
}
