/*
 * torch/twin.c -- tensors without data that stand for real ones and for results.
 *
 * Takes: metadata, or a tensor. Gives: a tensor on the meta device with the same sizes, strides, offset, dtype, leaf or not,
 * view or not. Holds: nothing of the program's is touched.
 */
#include "torch/infer.h"

_Thread_local bool twins_plain;

static PyObject *seeds; /* 0-dim meta tensors that require grad, by dtype */

static PyObject *int_tuple(const int64_t *v, int n)
{
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++) {
        PyObject *x = PyLong_FromLongLong(v[i]);
        if (x == NULL) {
            Py_DECREF(t);
            return NULL;
        }
        PyTuple_SET_ITEM(t, i, x);
    }
    return t;
}

static PyObject *empty_strided(PyObject *sizes, PyObject *strides, PyObject *dtype,
                               bool grad)
{
    static PyObject *names;
    if (names == NULL &&
        (names = Py_BuildValue("(sss)", "dtype", "device", "requires_grad")) == NULL)
        return NULL;
    PyObject *args[] = { sizes, strides, dtype, torch_py.meta, grad ? Py_True : Py_False };
    return PyObject_Vectorcall(torch_py.empty_strided, args, 2, names);
}

/* A 0-dim leaf that requires grad: copying it into a tensor makes that tensor a result of autograd. */
PyObject *infer_seed(PyObject *dtype)
{
    if (seeds == NULL && (seeds = PyDict_New()) == NULL)
        return NULL;
    PyObject *s = PyDict_GetItemWithError(seeds, dtype);
    if (s)
        return s;
    PyObject *none = PyTuple_New(0);
    s = none ? empty_strided(none, none, dtype, true) : NULL;
    if (s)
        PyDict_SetItem(seeds, dtype, s);
    Py_XDECREF(none);
    Py_XDECREF(s);
    return s ? PyDict_GetItemWithError(seeds, dtype) : NULL;
}

bool infer_overlaps_itself(const TensorMeta *m)
{
    for (int i = 0; i < m->ndim; i++)
        if (m->sizes[i] == 0)
            return false;
    for (int i = 0; i < m->ndim; i++)
        if (m->sizes[i] > 1 && m->strides[i] == 0)
            return true;
    return false;
}

/* Elements of storage that the tensor reaches. */
int64_t infer_extent(const TensorMeta *m)
{
    int64_t n = 1;
    for (int i = 0; i < m->ndim; i++) {
        if (m->sizes[i] == 0)
            return m->storage_offset;
        n += (m->sizes[i] - 1) * m->strides[i];
    }
    return n + m->storage_offset;
}

static PyObject *as_view(const TensorMeta *m, PyObject *sizes, PyObject *strides,
                         PyObject *dtype, bool grad)
{
    int64_t n = infer_extent(m), one = 1;
    PyObject *flat = int_tuple(&n, 1), *step = int_tuple(&one, 1);
    PyObject *base = flat && step ? empty_strided(flat, step, dtype, grad) : NULL;
    PyObject *r = base ? PyObject_CallMethod(base, "as_strided", "OOL", sizes, strides,
                                             (long long)m->storage_offset)
                       : NULL;
    Py_XDECREF(base);
    Py_XDECREF(step);
    Py_XDECREF(flat);
    return r;
}

/* Turns a plain tensor into a result of autograd (requires grad, not a leaf), in place. */
PyObject *infer_into_result(PyObject *t, PyObject *dtype)
{
    PyObject *seed = t ? infer_seed(dtype) : NULL;
    PyObject *r = seed ? PyObject_CallMethod(t, "copy_", "O", seed) : NULL;
    if (r && torch_py.set_version) {
        PyObject *ok = PyObject_CallFunction(torch_py.set_version, "(O)(i)", t, 0);
        PyErr_Clear();
        Py_XDECREF(ok);
    }
    Py_XDECREF(t);
    return r;
}

/* With an offset, on storage of its own that is large enough; the result is no view for autograd. */
static PyObject *with_offset(const TensorMeta *m, PyObject *sizes, PyObject *strides,
                             PyObject *dtype)
{
    PyObject *view = as_view(m, sizes, strides, dtype, false);
    PyObject *r = view ? PyObject_CallMethod(view, "detach", NULL) : NULL;
    Py_XDECREF(view);
    return r;
}

PyObject *infer_make(const TensorMeta *m, PyObject *dtype)
{
    PyObject *sizes = int_tuple(m->sizes, m->ndim),
             *strides = int_tuple(m->strides, m->ndim);
    PyObject *r = NULL;
    bool result = m->requires_grad && !m->is_leaf;
    if (sizes == NULL || strides == NULL)
        ;
    else if (result && (m->is_view || infer_overlaps_itself(m)))
        r = as_view(m, sizes, strides, dtype, true);
    else if (m->storage_offset)
        r = with_offset(m, sizes, strides, dtype);
    else
        r = empty_strided(sizes, strides, dtype, m->requires_grad && m->is_leaf);
    if (r && m->requires_grad && m->is_leaf && m->storage_offset) {
        PyObject *same = PyObject_CallMethod(r, "requires_grad_", NULL);
        Py_XDECREF(same);
        if (same == NULL)
            Py_CLEAR(r);
    }
    Py_XDECREF(sizes);
    Py_XDECREF(strides);
    return r && result && !m->is_view && !infer_overlaps_itself(m)
               ? infer_into_result(r, dtype)
               : r;
}

/* A view of memory that only it refers to; a result of autograd if it requires grad. Under the grad mode it was made in. */
PyObject *infer_make_view(const TensorMeta *m, PyObject *dtype)
{
    int64_t n = infer_extent(m), one = 1;
    PyObject *flat = int_tuple(&n, 1), *step = int_tuple(&one, 1);
    PyObject *sizes = int_tuple(m->sizes, m->ndim),
             *strides = int_tuple(m->strides, m->ndim);
    PyObject *base = flat && step ? empty_strided(flat, step, dtype, false) : NULL,
             *r = NULL;
    if (base && m->requires_grad)
        base = infer_into_result(base, dtype);
    if (base && sizes && strides)
        r = PyObject_CallMethod(base, "as_strided", "OO", sizes, strides);
    PyObject *held[] = { flat, step, sizes, strides, base };
    for (size_t i = 0; i < COUNT_OF(held); i++)
        Py_XDECREF(held[i]);
    return r;
}

static bool asks(PyObject *t, const char *name)
{
    PyObject *r = PyObject_CallMethod(t, name, NULL);
    bool yes = r == Py_True;
    PyErr_Clear();
    Py_XDECREF(r);
    return yes;
}

/* Lazy conjugation and negation are bits on a view of the plain data. */
static PyObject *with_bits(PyObject *real, PyObject *twin)
{
    const char *const bits[][2] = { { "is_conj", "_conj" }, { "is_neg", "_neg_view" } };
    for (int i = 0; twin && i < 2; i++)
        if (asks(real, bits[i][0]))
            Py_SETREF(twin, PyObject_CallMethod(twin, bits[i][1], NULL));
    return twin;
}

/* -- Inference mode ------------------------------------------------------------ */

static PyObject *enter_inference(bool on)
{
    PyObject *mode =
        PyObject_CallMethod(torch_py.C, "_InferenceMode", "O", on ? Py_True : Py_False);
    PyObject *in = mode ? PyObject_CallMethod(mode, "__enter__", NULL) : NULL;
    if (in == NULL)
        Py_CLEAR(mode);
    Py_XDECREF(in);
    return mode;
}

static int exit_inference(PyObject *mode)
{
    PyObject *out =
        PyObject_CallMethod(mode, "__exit__", "OOO", Py_None, Py_None, Py_None);
    Py_DECREF(mode);
    Py_XDECREF(out);
    return out ? 0 : -1;
}

PyObject *inference_leave(void)
{
    if (!torch_ready || !ambient_inference())
        return NULL;
    PyObject *mode = enter_inference(false);
    twins_plain = mode != NULL;
    return mode;
}

int inference_return(PyObject *mode)
{
    if (mode == NULL)
        return 0;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    twins_plain = false;
    if (exit_inference(mode) < 0)
        return -1;
    PyErr_Restore(type, value, trace);
    return 0;
}

/* Tensors made under inference mode are of another kind than others: its views know nothing of autograd. */
static PyObject *make_under(const TensorMeta *m, PyObject *dtype, bool inference)
{
    PyObject *mode = enter_inference(inference);
    PyObject *r = mode ? infer_make(m, dtype) : NULL;
    if (mode && exit_inference(mode) < 0)
        Py_CLEAR(r);
    return r;
}

PyObject *infer_twin(PyObject *tensor)
{
    TensorMeta m;
    if (!meta_read(tensor, &m))
        return NULL;
    PyObject *dtype = meta_dtype(tensor);
    Quiet q;
    quiet_begin(&q, true);
    bool inference = !twins_plain && asks(tensor, "is_inference");
    PyObject *r = dtype == NULL                      ? NULL
                  : inference == ambient_inference() ? infer_make(&m, dtype)
                                                     : make_under(&m, dtype, inference);
    if (r && (m.keys & torch_layout.bit_keys))
        r = with_bits(tensor, r);
    quiet_end(&q, true);
    return r;
}

int64_t infer_version(PyObject *twin)
{
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("_version")) == NULL) {
        PyErr_Clear();
        return -1;
    }
    PyObject *v = PyObject_GetAttr(twin, name);
    int64_t n = v ? PyLong_AsLongLong(v) : -1;
    PyErr_Clear();
    Py_XDECREF(v);
    return n;
}
