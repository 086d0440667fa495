/*
 * torch/infer.c -- what an operation gives, found by running it on tensors without data.
 *
 * Takes: a call on meta twins. Gives: its result on the meta device and the device it would be on. Holds: torch's
 * ambient state, warnings and generators are as before when a call returns; user code does not run.
 */
#define _GNU_SOURCE
#include "torch/memo.h"
#include "torch/rules.h"

static struct {
    PyObject *device, *generator, *copy, *fakes_run;
    PyObject *to, *cpu, *clone, *to_fn;
    PyObject *warnings_dict, *filters, *taint,
        *mute; /* the warnings module's dictionary, a key, a list that ignores all */
    PyObject *devices; /* device -> the same device: what *device borrows from */
    bool no_rules;     /* for comparing the two ways */
    PyObject *seed;    /* 0-dim meta tensors that require grad, by dtype */
} my;

/* -- Setup ------------------------------------------------------------------ */

int infer_init(void)
{
    const struct {
        PyObject **at;
        const char *text;
    } names[] = {
        { &my.device, "device" },   { &my.generator, "generator" },
        { &my.copy, "copy" },       { &my.to, "to" },
        { &my.cpu, "cpu" },         { &my.clone, "clone" },
        { &my.filters, "filters" }, { &my.taint, "_jedlik_strides_uncertain" },
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL)
            return -1;
    PyObject *warnings = PyImport_ImportModule("warnings");
    if (warnings == NULL)
        return -1;
    my.warnings_dict = Py_XNewRef(PyModule_GetDict(warnings));
    Py_DECREF(warnings);
    my.mute = Py_BuildValue("[(sOOOi)]", "ignore", Py_None, PyExc_Warning, Py_None, 0);
    my.devices = PyDict_New();
    my.seed = PyDict_New();
    return my.mute && my.devices && my.seed ? 0 : -1;
}

PyObject *infer_device(PyObject *device)
{
    PyObject *same = PyDict_SetDefault(my.devices, device, device);
    return same;
}

/* -- Ambient state around a call ---------------------------------------------- */

typedef struct Quiet {
    PyObject *filters;
    bool grad, warn_always;
} Quiet;

/* The filters are exchanged, not edited: editing would make torch's and Python's once-only warnings appear again. */
static void quiet_begin(Quiet *q, bool grad)
{
    q->grad = ambient_grad_enabled();
    if (q->grad != grad)
        ambient_set_grad(grad);
    q->filters = Py_XNewRef(PyDict_GetItemWithError(my.warnings_dict, my.filters));
    PyDict_SetItem(my.warnings_dict, my.filters, my.mute);
    /* Else a muted TORCH_WARN_ONCE would be spent. */
    q->warn_always = torch_lib.warn_get && torch_lib.warn_get();
    if (torch_lib.warn_set && !q->warn_always)
        torch_lib.warn_set(true);
}

/* Keeps the exception that may be set. */
static void quiet_end(Quiet *q, bool grad)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (q->filters)
        PyDict_SetItem(my.warnings_dict, my.filters, q->filters);
    Py_XDECREF(q->filters);
    if (torch_lib.warn_set && !q->warn_always)
        torch_lib.warn_set(false);
    if (ambient_grad_enabled() != q->grad)
        ambient_set_grad(q->grad);
    PyErr_Restore(type, value, trace);
}

/* -- Tensors without data ----------------------------------------------------- */

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
    PyObject *s = PyDict_GetItemWithError(my.seed, dtype);
    if (s)
        return s;
    PyObject *none = PyTuple_New(0);
    s = none ? empty_strided(none, none, dtype, true) : NULL;
    if (s)
        PyDict_SetItem(my.seed, dtype, s);
    Py_XDECREF(none);
    Py_XDECREF(s);
    return s ? PyDict_GetItemWithError(my.seed, dtype) : NULL;
}

static bool overlaps_itself(const TensorMeta *m)
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
static int64_t extent(const TensorMeta *m)
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
    int64_t n = extent(m), one = 1;
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
    else if (result && (m->is_view || overlaps_itself(m)))
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
    return r && result && !m->is_view && !overlaps_itself(m) ? infer_into_result(r, dtype)
                                                             : r;
}

/* A view of memory that only it refers to; a result of autograd if it requires grad. Under the grad mode it was made in. */
PyObject *infer_make_view(const TensorMeta *m, PyObject *dtype)
{
    int64_t n = extent(m), one = 1;
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

PyObject *infer_twin(PyObject *tensor)
{
    TensorMeta m;
    if (!meta_read(tensor, &m))
        return NULL;
    PyObject *dtype = meta_dtype(tensor);
    Quiet q;
    quiet_begin(&q, true);
    PyObject *r = dtype ? infer_make(&m, dtype) : NULL;
    if (r && (m.keys & torch_layout.bit_keys))
        r = with_bits(tensor, r);
    quiet_end(&q, true);
    return r;
}

int64_t infer_version(PyObject *twin)
{
    PyObject *v = PyObject_GetAttrString(twin, "_version");
    int64_t n = v ? PyLong_AsLongLong(v) : -1;
    PyErr_Clear();
    Py_XDECREF(v);
    return n;
}

/* -- Looking through arguments and results ------------------------------------ */

typedef bool Visit(PyObject *tensor, void *arg); /* false: stop */

static bool each_tensor(PyObject *o, int depth, Visit *fn, void *arg)
{
    if (torch_is_tensor(o))
        return fn(o, arg);
    if (depth == 0)
        return true;
    if (PyDict_CheckExact(o)) {
        Py_ssize_t at = 0;
        PyObject *k, *v;
        while (PyDict_Next(o, &at, &k, &v))
            if (!each_tensor(v, depth - 1, fn, arg))
                return false;
        return true;
    }
    if (!PyTuple_Check(o) && !PyList_Check(o))
        return true;
    for (Py_ssize_t i = 0; i < Py_SIZE(o); i++)
        if (!each_tensor(PyList_Check(o) ? PyList_GET_ITEM(o, i) : PyTuple_GET_ITEM(o, i),
                         depth - 1, fn, arg))
            return false;
    return true;
}

enum { MAX_DEPTH = 6 };

static bool note_one(PyObject *t, void *arg)
{
    *(bool *)arg = true;
    return false;
}

static bool has_tensor(PyObject *const *v, Py_ssize_t n)
{
    bool found = false;
    for (Py_ssize_t i = 0; i < n && !found; i++)
        each_tensor(v[i], MAX_DEPTH, note_one, &found);
    return found;
}

typedef struct Result {
    int tensors;
    bool strange; /* something that is not a plain tensor on the meta device */
} Result;

static bool note_result(PyObject *t, void *arg)
{
    Result *r = arg;
    r->tensors++;
    if (!torch_is_plain_tensor(t))
        r->strange = true;
    else if (torch_layout.ok)
        r->strange |= FIELD(int8_t, tensor_impl(t), torch_layout.dtype + 2) !=
                      torch_lib.device_meta();
    else {
        PyObject *is_meta = PyObject_GetAttrString(t, "is_meta");
        r->strange |= is_meta != Py_True;
        Py_XDECREF(is_meta);
    }
    return true;
}

/* -- Certainty of strides ------------------------------------------------------ */

/* Twins of uncertain strides carry an attribute; no other twin has a dictionary at all. */
static bool tainted(PyObject *t)
{
    PyObject **dict = _PyObject_GetDictPtr(t);
    return dict && *dict && PyDict_GetItemWithError(*dict, my.taint);
}

typedef struct Certainty {
    bool tainted, layout, odd; /* of an argument */
} Certainty;

static bool contiguous(const TensorMeta *m)
{
    int64_t want = 1;
    for (int i = m->ndim - 1; i >= 0; i--) {
        if (m->strides[i] != want)
            return false;
        want *= m->sizes[i] ? m->sizes[i] : 1;
    }
    return true;
}

static bool note_certainty(PyObject *t, void *arg)
{
    Certainty *c = arg;
    TensorMeta m;
    bool known = meta_read(t, &m);
    c->tainted |= tainted(t);
    c->layout |= !known || !contiguous(&m);
    c->odd |= !known || odd_strides(&m);
    return true;
}

static bool taint(PyObject *t, void *arg)
{
    TensorMeta m;
    if (torch_is_plain_tensor(t) && (!meta_read(t, &m) || m.ndim > 0))
        PyObject_SetAttr(t, my.taint, Py_True);
    return true;
}

/* `by_rule`: rules follow odd strides. */
static bool certain(const InferCall *c, TorchOp op, bool *by_rule)
{
    Certainty seen = { 0 };
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    for (Py_ssize_t i = 0; i < n; i++)
        each_tensor(c->args[i], MAX_DEPTH, note_certainty, &seen);
    bool sure = !op.loose && !seen.tainted && !(op.layout && seen.layout);
    *by_rule = sure;
    return sure && !(seen.odd && !op.view);
}

/* -- Devices ------------------------------------------------------------------ */

static PyObject *hold(Call *k, PyObject *o)
{
    if (o && NEVER(k->nheld == (int)COUNT_OF(k->held))) {
        Py_DECREF(o);
        return NULL;
    }
    if (o)
        k->held[k->nheld++] = o;
    return o;
}

/* The device an argument means, interned; NULL: none (or an exception). `cuda` without an index is the current one. */
static PyObject *device_of(PyObject *o)
{
    PyObject *d = Py_IS_TYPE(o, torch_types.device)
                      ? Py_NewRef(o)
                      : PyObject_CallOneArg((PyObject *)torch_types.device, o);
    if (d == NULL)
        return NULL;
    PyObject *type = PyObject_GetAttrString(d, "type"),
             *index = PyObject_GetAttrString(d, "index");
    if (type && index == Py_None && strcmp(PyUnicode_AsUTF8(type), "cuda") == 0) {
        PyObject *cuda = torch_path("cuda");
        PyObject *now = cuda ? PyObject_CallMethod(cuda, "current_device", NULL) : NULL;
        Py_SETREF(d, now ? PyObject_CallFunction((PyObject *)torch_types.device, "sO",
                                                 "cuda", now)
                         : NULL);
        Py_XDECREF(now);
        Py_XDECREF(cuda);
    }
    Py_XDECREF(type);
    Py_XDECREF(index);
    PyObject *r = d ? infer_device(d) : NULL;
    Py_XDECREF(d);
    return r;
}

static bool same_device(PyObject *a, PyObject *b)
{
    return a == b || (a && b && PyObject_RichCompareBool(a, b, Py_EQ) == 1);
}

static Py_ssize_t find_keyword(const Call *k, PyObject *name)
{
    for (Py_ssize_t i = 0; i < k->nkw; i++)
        if (k->names[i] == name || PyUnicode_Compare(k->names[i], name) == 0)
            return i;
    return -1;
}

static void drop_keyword(Call *k, Py_ssize_t i)
{
    for (Py_ssize_t j = i; j + 1 < k->nkw; j++) {
        k->names[j] = k->names[j + 1];
        k->v[k->nargs + j] = k->v[k->nargs + j + 1];
    }
    k->nkw--;
}

static bool add_keyword(Call *k, PyObject *name, PyObject *value)
{
    if (k->nargs + k->nkw == MAX_ARGS)
        return false;
    k->v[k->nargs + k->nkw] = value;
    k->names[k->nkw++] = name;
    return true;
}

static bool is_method(const Call *k, const char *name)
{
    if (k->method)
        return PyUnicode_CompareWithASCIIString(k->target, name) == 0;
    return Py_IS_TYPE(k->target, &PyMethodDescr_Type) &&
           PyUnicode_CompareWithASCIIString(PyDescr_NAME(k->target), name) == 0;
}

/* A string in this place is a device: x.to("cpu"). */
static bool device_place(const Call *k, Py_ssize_t i)
{
    return i == 1 && is_method(k, "to") && PyUnicode_Check(k->v[i]);
}

/* x.cpu(), x.cuda(0, …) become x.to(device, …), which meta tensors can do. */
static bool rewrite_move(Call *k)
{
    static const char *const types[] = { "cpu", "cuda", "xpu", "mtia", "ipu" };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (!is_method(k, types[i]))
            continue;
        PyObject *where;
        Py_ssize_t at = find_keyword(k, my.device);
        PyObject *given = at >= 0 ? k->v[k->nargs + at] : k->nargs > 1 ? k->v[1] : NULL;
        if (given && PyLong_CheckExact(given))
            where = hold(k, PyObject_CallFunction((PyObject *)torch_types.device, "sO",
                                                  types[i], given));
        else if (given && given != Py_None)
            where = given;
        else
            where = hold(
                k, PyObject_CallFunction((PyObject *)torch_types.device, "s", types[i]));
        if (where == NULL)
            return false;
        if (at >= 0)
            drop_keyword(k, at);
        if (k->nargs > 1 && given == k->v[1]) {
            k->v[1] = where;
        } else {
            memmove(&k->v[2], &k->v[1], (size_t)(k->nargs - 1 + k->nkw) * sizeof k->v[0]);
            k->v[1] = where;
            k->nargs++;
        }
        k->target = my.to;
        k->method = true;
        return true;
    }
    return true;
}

/* Exchanges the devices a call names for meta, and remembers them. */
static bool exchange_devices(Call *k, PyObject *now)
{
    Py_ssize_t at = find_keyword(k, my.generator);
    if (at >= 0)
        drop_keyword(k, at); /* no numbers are drawn, and its device would not fit */
    for (Py_ssize_t i = 0; i < k->nargs + k->nkw; i++) {
        bool keyword = i >= k->nargs && k->names[i - k->nargs] == my.device;
        if (i >= k->nargs && !keyword)
            keyword = PyUnicode_Compare(k->names[i - k->nargs], my.device) == 0;
        if (k->v[i] == Py_None || !(keyword || Py_IS_TYPE(k->v[i], torch_types.device) ||
                                    (i < k->nargs && device_place(k, i))))
            continue;
        k->moved = device_of(k->v[i]);
        if (k->moved == NULL)
            return false;
        k->v[i] = torch_py.meta;
    }
    /* A move to another device always copies; on meta it would not. */
    bool moves = k->moved && now && !same_device(k->moved, now);
    if (moves && is_method(k, "to") && find_keyword(k, my.copy) < 0 && k->nargs < 5)
        return add_keyword(k, my.copy, Py_True);
    return true;
}

static bool set_call(Call *k, const InferCall *c)
{
    k->nheld = 0;
    k->moved = NULL;
    k->target = c->target;
    k->method = c->kind == NODE_METHOD;
    k->nargs = c->nargs;
    k->nkw = c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0;
    if (k->nargs + k->nkw > MAX_ARGS - 2)
        return false;
    memcpy(k->v, c->args, (size_t)(k->nargs + k->nkw) * sizeof k->v[0]);
    for (Py_ssize_t i = 0; i < k->nkw; i++)
        k->names[i] = PyTuple_GET_ITEM(c->kwnames, i);
    return true;
}

/* -- Calling ------------------------------------------------------------------ */

static PyObject *names_tuple(const Call *k)
{
    PyObject *t = PyTuple_New(k->nkw);
    for (Py_ssize_t i = 0; t && i < k->nkw; i++)
        PyTuple_SET_ITEM(t, i, Py_NewRef(k->names[i]));
    return t;
}

static PyObject *call_now(Call *k)
{
    PyObject *names = k->nkw ? names_tuple(k) : NULL;
    if (k->nkw && names == NULL)
        return NULL;
    PyObject *r =
        k->method ? PyObject_VectorcallMethod(k->target, k->v, (size_t)k->nargs, names)
                  : PyObject_Vectorcall(k->target, k->v, (size_t)k->nargs, names);
    Py_XDECREF(names);
    return r;
}

static bool text_has(PyObject *exc, const char *const *words, size_t n)
{
    PyObject *s = PyObject_Str(exc);
    const char *text = s ? PyUnicode_AsUTF8(s) : NULL;
    bool found = false;
    for (size_t i = 0; text && i < n && !found; i++)
        found = strcasestr(text, words[i]) != NULL;
    PyErr_Clear();
    Py_XDECREF(s);
    return found;
}

/* Whether the exception is about the missing data or kernel and not about the program's values. */
static bool about_meta(PyObject *type, PyObject *value)
{
    static const char *const words[] = { "meta",        "fake impl",    "fakeimpl",
                                         "output_size", "to be on cpu", "data-dependent",
                                         "symbolic",    "item()" };
    /* What torch raises on a program's own values; anything else is a defect of a Python kernel. */
    PyObject *own[] = { PyExc_RuntimeError, PyExc_TypeError, PyExc_ValueError,
                        PyExc_IndexError, PyExc_OverflowError };
    if (PyErr_GivenExceptionMatches(type, PyExc_NotImplementedError))
        return true;
    bool known = false;
    for (size_t i = 0; i < COUNT_OF(own); i++)
        known |= PyErr_GivenExceptionMatches(type, own[i]) != 0;
    return !known || (value && text_has(value, words, COUNT_OF(words)));
}

/* ST_RAISE with the exception set, ST_DECLINE with none, ST_ERROR for what is not for us. */
static Status judge_exception(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt) ||
        PyErr_GivenExceptionMatches(type, PyExc_MemoryError) ||
        PyErr_GivenExceptionMatches(type, PyExc_SystemExit)) {
        PyErr_Restore(type, value, trace);
        return ST_ERROR;
    }
    PyErr_NormalizeException(&type, &value, &trace);
    if (!about_meta(type, value)) {
        PyErr_Restore(type, value, trace);
        return ST_RAISE;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return ST_DECLINE;
}

/* -- FakeTensorMode: autocast and missing meta kernels ------------------------- */

static PyObject *keyword_dict(const Call *k)
{
    PyObject *d = PyDict_New();
    for (Py_ssize_t i = 0; d && i < k->nkw; i++)
        if (PyDict_SetItem(d, k->names[i], k->v[k->nargs + i]) < 0)
            Py_CLEAR(d);
    return d;
}

/* jedlik._fakes.run(target, is_method, args, kwargs, device) -> result on meta, or None: it cannot tell. */
static PyObject *call_fakes(const InferCall *c)
{
    Call k;
    if (!set_call(&k, c))
        return NULL;
    if (my.fakes_run == NULL) {
        PyObject *m = PyImport_ImportModule("jedlik._fakes");
        my.fakes_run = m ? PyObject_GetAttrString(m, "run") : NULL;
        Py_XDECREF(m);
        if (my.fakes_run == NULL)
            return NULL;
    }
    PyObject *args = PyTuple_New(k.nargs), *kwargs = keyword_dict(&k), *r = NULL;
    for (Py_ssize_t i = 0; args && i < k.nargs; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(k.v[i]));
    if (args && kwargs)
        r = PyObject_CallFunction(my.fakes_run, "OOOOO", c->target,
                                  c->kind == NODE_METHOD ? Py_True : Py_False, args,
                                  kwargs, c->device ? c->device : torch_py.cpu);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return r;
}

/* (result, device) of the fakes, or ST_DECLINE. */
static Status infer_by_fakes(const InferCall *c, PyObject **out, PyObject **device)
{
    PyObject *pair = call_fakes(c);
    if (pair == NULL)
        return PyErr_ExceptionMatches(PyExc_ImportError) ? (PyErr_Clear(), ST_DECLINE)
                                                         : judge_exception();
    Status st = ST_DECLINE;
    if (PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2) {
        PyObject *d = PyTuple_GET_ITEM(pair, 1);
        *device = d == Py_None ? NULL : infer_device(d);
        *out = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
        st = ST_OK;
    }
    Py_DECREF(pair);
    return st;
}

/* -- Inference ---------------------------------------------------------------- */

static bool prepare(Call *k, const InferCall *c, TorchOp op)
{
    if (!set_call(k, c))
        return false;
    if (k->nargs && !rewrite_move(k))
        return false;
    if (!exchange_devices(k, c->device))
        return false;
    if (!op.factory || k->moved || has_tensor(k->v, k->nargs + k->nkw))
        return true;
    Py_ssize_t at = find_keyword(k, my.device);
    if (at >= 0) /* device=None */
        drop_keyword(k, at);
    k->moved = infer_device(torch_py.cpu);
    return k->moved && add_keyword(k, my.device, torch_py.meta);
}

static TorchOp op_of_call(const InferCall *c)
{
    return c->kind == NODE_METHOD ? torch_classify_method(c->target)
                                  : torch_classify(c->target);
}

/* Plain name of what is called, for rules; "" if it has none. */
static const char *plain_name(const Call *k)
{
    PyObject *t = k->target, *name = NULL;
    if (k->method)
        name = t;
    else if (PyCFunction_Check(t))
        return ((PyCFunctionObject *)t)->m_ml->ml_name;
    else if (PyFunction_Check(t))
        name = ((PyFunctionObject *)t)->func_name;
    else if (Py_IS_TYPE(t, &PyMethodDescr_Type) || Py_IS_TYPE(t, &PyWrapperDescr_Type))
        name = PyDescr_NAME(t);
    const char *s = name ? PyUnicode_AsUTF8(name) : "";
    return s ? s : "";
}

/* Whether a method is still torch's own: rules go by name, and a program may exchange torch.Tensor.tanh. */
static bool own_method(PyObject *name)
{
    PyObject *f = _PyType_Lookup(torch_types.tensor, name);
    if (f == NULL || !infer_own(f))
        return false;
    if (PyFunction_Check(f)) /* aliases and decorated ones have other names */
        return true;
    return !PyCFunction_Check(f) && PyUnicode_Compare(PyDescr_NAME(f), name) == 0;
}

uint64_t infer_by_rule; /* results that a shape rule gave, for statistics and tests */

static Status by_rule_or_meta(Call *k, TorchOp op, InferCall *c, bool sure, PyObject **r)
{
    if (op.rule && k->target == c->target && !my.no_rules &&
        (!k->method || own_method(k->target))) {
        bool loose = false;
        Status st = rules_apply(k, op.rule, plain_name(k), c->grad, r, &loose);
        if (st == ST_BREAK)
            return ST_DECLINE;
        if (st != ST_DECLINE) {
            infer_by_rule++;
            c->strides_certain = sure && !loose;
            return st == ST_RAISE ? judge_exception() : st;
        }
    }
    *r = call_now(k);
    return *r ? ST_OK : judge_exception();
}

static Status run(InferCall *c, TorchOp op, bool sure, PyObject **out, PyObject **device)
{
    Call k;
    if (!prepare(&k, c, op)) {
        if (PyErr_Occurred())
            return judge_exception();
        return ST_DECLINE;
    }
    PyObject *r = NULL;
    Status st = by_rule_or_meta(&k, op, c, sure, &r);
    for (int i = 0; i < k.nheld; i++)
        Py_DECREF(k.held[i]);
    if (st != ST_OK)
        return st;
    Result seen = { 0 };
    each_tensor(r, MAX_DEPTH, note_result, &seen);
    if (seen.strange) {
        Py_DECREF(r);
        return ST_DECLINE;
    }
    *out = r;
    *device = seen.tensors == 0 ? NULL
              : k.moved         ? k.moved
              : c->device       ? infer_device(c->device)
                                : NULL;
    return ST_OK;
}

static bool autocast_on(void)
{
    return torch_lib.autocast_enabled &&
           (torch_lib.autocast_enabled(0) || torch_lib.autocast_enabled(1));
}

/* By torch, or by what it gave before. Under c->grad and muted. */
static Status infer_anew(InferCall *c, TorchOp op, bool sure, const MemoKey *k,
                         PyObject **out, PyObject **device)
{
    MemoVersions before;
    if (k)
        memo_versions(k, &before);
    Status st =
        autocast_on() ? infer_by_fakes(c, out, device) : run(c, op, sure, out, device);
    if (st == ST_OK && k)
        memo_put(k, &before, c, op, *out, *device);
    return st;
}

Status infer_call(InferCall *c, PyObject **out, PyObject **device)
{
    TorchOp op = op_of_call(c);
    MemoKey key;
    if (op.syncs)
        return ST_DECLINE;
    bool sure;
    c->strides_certain = certain(c, op, &sure);
    Quiet q;
    quiet_begin(&q, c->grad);
    bool keeps = memo_key(&key, c, op);
    Status st = ST_OK;
    if (!keeps || !memo_get(&key, out, device))
        st = infer_anew(c, op, sure, keeps ? &key : NULL, out, device);
    else if (*out == NULL)
        st = ST_ERROR;
    if (st == ST_OK && !c->strides_certain && !op.fresh)
        each_tensor(*out, MAX_DEPTH, taint, NULL);
    quiet_end(&q, c->grad);
    return st;
}

void infer_use_rules(bool on)
{
    my.no_rules = !on;
}

/* -- Replaying a graph --------------------------------------------------------- */

static PyObject *value_of(const Graph *g, const GArg *a)
{
    PyObject *r = NULL;
    switch (a->tag) {
    case GA_CONST: return Py_NewRef(a->obj);
    case GA_NODE: return Py_XNewRef(g->node.v[a->node].meta);
    case GA_TUPLE:
    case GA_LIST:
        r = a->tag == GA_TUPLE ? PyTuple_New(a->n) : PyList_New(a->n);
        for (uint32_t i = 0; r && i < a->n; i++) {
            PyObject *x = value_of(g, &a->items[i]);
            if (x == NULL)
                Py_CLEAR(r);
            else if (a->tag == GA_TUPLE)
                PyTuple_SET_ITEM(r, i, x);
            else
                PyList_SET_ITEM(r, i, x);
        }
        return r;
    case GA_DICT:
        r = PyDict_New();
        for (uint32_t i = 0; r && i + 1 < a->n; i += 2) {
            PyObject *x = value_of(g, &a->items[i + 1]);
            if (x == NULL || PyDict_SetItem(r, a->items[i].obj, x) < 0)
                Py_CLEAR(r);
            Py_XDECREF(x);
        }
        return r;
    case GA_SLICE: {
        PyObject *s[3];
        for (int i = 0; i < 3; i++)
            s[i] = value_of(g, &a->items[i]);
        if (s[0] && s[1] && s[2])
            r = PySlice_New(s[0], s[1], s[2]);
        for (int i = 0; i < 3; i++)
            Py_XDECREF(s[i]);
        return r;
    }
    }
    return NULL;
}

/* Device of the first tensor among the arguments. */
static PyObject *device_of_args(const Graph *g, const GArg *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        PyObject *d = NULL;
        if (a[i].tag == GA_NODE)
            d = g->node.v[a[i].node].device;
        else if (a[i].tag != GA_CONST)
            d = device_of_args(g, a[i].items, a[i].n);
        if (d)
            return d;
    }
    return NULL;
}

static Status replay_node(Graph *g, Node *n)
{
    PyObject *args[MAX_ARGS];
    Py_ssize_t total = (Py_ssize_t)n->nargs + n->nkw, made = 0;
    if (total > MAX_ARGS)
        return ST_DECLINE;
    while (made < total && (args[made] = value_of(g, &n->args[made])))
        made++;
    Status st = ST_DECLINE;
    PyObject *out = NULL, *device;
    if (made == total) {
        PyObject *from = device_of_args(g, n->args, (uint32_t)total);
        InferCall c = { n->kind, n->target, args, n->nargs, n->nkw ? n->kwnames : NULL,
                        from,    n->grad,   false };
        st = infer_call(&c, &out, &device);
    }
    while (made > 0)
        Py_DECREF(args[--made]);
    if (st == ST_RAISE) {
        PyErr_Clear();
        st = ST_DECLINE;
    }
    if (st != ST_OK)
        return st;
    n->device = device;
    n->meta = arena_hold(g->arena, out);
    return n->meta ? ST_OK : ST_ERROR;
}

static Status replay_input(Graph *g, Node *n)
{
    PyObject *twin = infer_twin(n->example);
    if (twin == NULL)
        return PyErr_Occurred() ? ST_ERROR : ST_DECLINE;
    n->meta = arena_hold(g->arena, twin);
    PyObject *device = n->meta ? meta_device(n->example) : NULL;
    n->device = device ? infer_device(device) : NULL;
    Py_XDECREF(device);
    return n->device ? ST_OK : ST_ERROR;
}

Status infer_replay(Graph *g, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Node *node = &g->node.v[i];
        if (node->switches)
            continue;
        Autocast real;
        if (node->cast && autocast_read(&real) < 0)
            return ST_ERROR;
        if (node->cast)
            autocast_set(node->cast);
        Status st =
            node->kind == NODE_INPUT ? replay_input(g, node) : replay_node(g, node);
        if (node->cast)
            autocast_set(&real);
        TRY(st);
    }
    return ST_OK;
}
