/*
 * torch/infer.c -- what an operation gives, found by running it on tensors without data.
 *
 * Takes: a call on meta twins. Gives: its result on the meta device and the device it would be on. Holds: torch's
 * ambient state, warnings and generators are as before when a call returns; user code does not run.
 */
#define _GNU_SOURCE
#include "base/switches.h"
#include "torch/memo.h"
#include "torch/rules.h"

static struct {
    PyObject *device, *generator, *copy, *fakes;
    PyObject *to, *cpu, *clone, *to_fn;
    PyObject *warnings_dict, *filters, *unsure, *mute,
        *show; /* the warnings module's dictionary, a key, lists that ignore all, that show all */
    PyObject *devices; /* device -> the same device: what *device borrows from */
    bool no_rules;     /* for comparing the two ways */
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
        { &my.filters, "filters" }, { &my.unsure, "_jedlik_unsure" },
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
    my.show = Py_BuildValue("[(sOOOi)]", "always", Py_None, PyExc_Warning, Py_None, 0);
    my.devices = PyDict_New();
    return my.mute && my.show && my.devices ? 0 : -1;
}

PyObject *infer_device(PyObject *device)
{
    PyObject *same = PyDict_SetDefault(my.devices, device, device);
    return same;
}

/* -- Ambient state around a call ---------------------------------------------- */

/* The filters are exchanged, not edited: editing would make torch's and Python's once-only warnings appear again. */
void quiet_begin(Quiet *q, bool grad)
{
    q->grad = ambient_grad_enabled();
    if (q->grad != grad)
        ambient_set_grad(grad);
    q->show = NULL;
    q->filters = Py_XNewRef(PyDict_GetItemWithError(my.warnings_dict, my.filters));
    PyDict_SetItem(my.warnings_dict, my.filters, my.mute);
    /* Else a muted TORCH_WARN_ONCE would be spent. */
    q->warn_always = torch_lib.warn_get && torch_lib.warn_get();
    if (torch_lib.warn_set && !q->warn_always)
        torch_lib.warn_set(true);
    q->modes = ambient_hide_modes();
}

/* Warnings go to the list instead: raised as errors, they would be printed where there is an error already. */
void quiet_record(Quiet *q, PyObject *list)
{
    PyObject *append = PyObject_GetAttrString(list, "append");
    q->show = Py_XNewRef(PyDict_GetItemString(my.warnings_dict, "_showwarnmsg"));
    if (append && q->show) {
        PyDict_SetItem(my.warnings_dict, my.filters, my.show);
        PyDict_SetItemString(my.warnings_dict, "_showwarnmsg", append);
    }
    Py_XDECREF(append);
}

/* Keeps the exception that may be set. */
void quiet_end(Quiet *q, bool grad)
{
    PyObject *type, *value, *trace;
    ambient_show_modes(q->modes);
    PyErr_Fetch(&type, &value, &trace);
    if (q->filters)
        PyDict_SetItem(my.warnings_dict, my.filters, q->filters);
    if (q->show)
        PyDict_SetItemString(my.warnings_dict, "_showwarnmsg", q->show);
    Py_XDECREF(q->show);
    Py_XDECREF(q->filters);
    if (torch_lib.warn_set && !q->warn_always)
        torch_lib.warn_set(false);
    if (ambient_grad_enabled() != q->grad)
        ambient_set_grad(q->grad);
    PyErr_Restore(type, value, trace);
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

/* -- Certainty ------------------------------------------------------------------ */

/* Twins that eager may not agree with in strides or the view flag carry an attribute; no other twin has a dictionary. */
unsigned infer_unsure(PyObject *twin)
{
    PyObject **dict = _PyObject_GetDictPtr(twin);
    PyObject *bits = dict && *dict ? PyDict_GetItemWithError(*dict, my.unsure) : NULL;
    return bits ? (unsigned)PyLong_AsUnsignedLong(bits) : 0;
}

typedef struct Seen {
    unsigned unsure;
    bool layout, odd; /* of an argument */
} Seen;

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

static bool note_layout(PyObject *t, void *arg)
{
    Seen *seen = arg;
    TensorMeta m;
    bool known = meta_read(t, &m);
    seen->unsure |= infer_unsure(t);
    seen->layout |= !known || !contiguous(&m);
    seen->odd |= !known || odd_strides(&m);
    return true;
}

/* What kernels leave open about the result; `by_rule`: rules and trials know layouts and odd strides, or say that they do not. */
static unsigned doubts(const InferCall *c, TorchOp op, unsigned *by_rule)
{
    Seen seen = { 0 };
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    for (Py_ssize_t i = 0; i < n; i++)
        each_tensor(c->args[i], MAX_DEPTH, note_layout, &seen);
    unsigned bits = seen.unsure & UNSURE_VIEW && op.may_alias ? UNSURE_VIEW : 0;
    if (op.loose)
        bits = UNSURE_ALL;
    if (seen.unsure & UNSURE_STRIDES)
        bits |= op.fresh ? UNSURE_VIEW : UNSURE_ALL;
    *by_rule = bits;
    bool strange = (seen.odd && !op.view) || (op.layout && seen.layout);
    return strange ? UNSURE_ALL : bits;
}

typedef struct Marking {
    const InferCall *c;
    bool argument;
    PyObject *t;
} Marking;

static bool note_same(PyObject *t, void *arg)
{
    Marking *m = arg;
    m->argument |= t == m->t;
    return !m->argument;
}

/* Arguments that come back are what they were. */
static bool mark_unsure(PyObject *t, void *arg)
{
    Marking m = { arg, false, t };
    TensorMeta meta;
    Py_ssize_t n = m.c->nargs + (m.c->kwnames ? PyTuple_GET_SIZE(m.c->kwnames) : 0);
    for (Py_ssize_t i = 0; i < n; i++)
        each_tensor(m.c->args[i], MAX_DEPTH, note_same, &m);
    if (m.argument || !torch_is_plain_tensor(t))
        return true;
    bool flat = meta_read(t, &meta) && meta.ndim == 0; /* one number has no strides */
    unsigned bits = flat ? m.c->unsure & UNSURE_VIEW : m.c->unsure;
    PyObject *o = bits ? PyLong_FromUnsignedLong(bits) : NULL;
    if (o)
        PyObject_SetAttr(t, my.unsure, o);
    Py_XDECREF(o);
    return true;
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

/* jedlik._fakes.<name>(target, is_method, args, kwargs, device). */
PyObject *infer_fakes(const InferCall *c, const char *name)
{
    Call k;
    if (!set_call(&k, c))
        return NULL;
    if (my.fakes == NULL && (my.fakes = PyImport_ImportModule("jedlik._fakes")) == NULL)
        return NULL;
    PyObject *args = PyTuple_New(k.nargs), *kwargs = keyword_dict(&k), *r = NULL;
    for (Py_ssize_t i = 0; args && i < k.nargs; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(k.v[i]));
    if (args && kwargs)
        r = PyObject_CallMethod(my.fakes, name, "OOOOO", c->target,
                                c->kind == NODE_METHOD ? Py_True : Py_False, args, kwargs,
                                c->device ? c->device : torch_py.cpu);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return r;
}

/* (result, device) of the fakes, or ST_DECLINE. */
static Status infer_by_fakes(const InferCall *c, PyObject **out, PyObject **device)
{
    PyObject *pair = infer_fakes(c, "run");
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

/* Whether torch gives this function the default device. */
static bool takes_default(const Call *k)
{
    static PyObject *all;
    if (all == NULL) {
        PyObject *f = torch_path("utils._device._device_constructors");
        all = f ? PyObject_CallNoArgs(f) : NULL;
        Py_XDECREF(f);
    }
    bool yes = all && !k->method && PySequence_Contains(all, k->target) == 1;
    PyErr_Clear();
    return yes;
}

static bool prepare(Call *k, const InferCall *c, TorchOp op)
{
    if (!set_call(k, c))
        return false;
    if (k->nargs && !rewrite_move(k))
        return false;
    if (!exchange_devices(k, c->device))
        return false;
    if (!op.factory || k->moved)
        return true;
    PyObject *device = ambient_device();
    bool tensors = has_tensor(k->v, k->nargs + k->nkw);
    if (device && (tensors || !takes_default(k)))
        return false; /* where it goes depends on more than is looked at here */
    if (tensors)
        return true;
    Py_ssize_t at = find_keyword(k, my.device);
    if (at >= 0) /* device=None */
        drop_keyword(k, at);
    k->moved = device ? device : infer_device(torch_py.cpu);
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

static Status by_rule(Call *k, TorchOp op, InferCall *c, PyObject **r)
{
    if (!op.rule || k->target != c->target || my.no_rules ||
        (k->method && !own_method(k->target)))
        return ST_DECLINE;
    unsigned loose = 0;
    PyObject *expected = switches.verify_shapes ? verify_expect(c) : NULL;
    Status st = rules_apply(k, op.rule, plain_name(k), c->grad, r, &loose);
    if (st == ST_OK && expected && !verify_compare(c, expected, *r, loose)) {
        Py_CLEAR(*r);
        st = ST_BREAK;
    }
    Py_XDECREF(expected);
    if (st == ST_BREAK || st == ST_DECLINE)
        return st;
    infer_by_rule++;
    c->ruled = true;
    c->loose = loose;
    return st == ST_RAISE ? judge_exception() : st;
}

Status infer_rule(InferCall *c, TorchOp op, PyObject **out)
{
    Call k;
    if (!set_call(&k, c))
        return ST_DECLINE;
    Status st = by_rule(&k, op, c, out);
    return st == ST_BREAK ? ST_DECLINE : st;
}

static Status by_rule_or_meta(Call *k, TorchOp op, InferCall *c, PyObject **r)
{
    Status st = by_rule(k, op, c, r);
    if (st != ST_DECLINE)
        return st == ST_BREAK ? ST_DECLINE : st;
    st = my.no_rules ? ST_DECLINE : trial_run(c, op, r);
    if (st != ST_DECLINE) {
        c->ruled = st == ST_OK;
        return st;
    }
    *r = call_now(k);
    return *r ? ST_OK : judge_exception();
}

static Status run(InferCall *c, TorchOp op, PyObject **out, PyObject **device)
{
    Call k;
    if (!prepare(&k, c, op)) {
        if (PyErr_Occurred())
            return judge_exception();
        return ST_DECLINE;
    }
    PyObject *r = NULL;
    Status st = by_rule_or_meta(&k, op, c, &r);
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

static Status infer_under_autocast(InferCall *c, TorchOp op, PyObject **out,
                                   PyObject **device)
{
    Status st = my.no_rules ? ST_DECLINE : cast_infer(c, op, out);
    if (st == ST_DECLINE && !my.no_rules && (st = trial_run(c, op, out)) == ST_OK)
        c->ruled = true;
    if (st == ST_OK)
        *device = infer_device(c->device);
    if (st != ST_DECLINE)
        return st;
    c->loose = UNSURE_VIEW;
    return infer_by_fakes(c, out, device);
}

/* By torch, or by what it gave before. Under c->grad and muted. */
static Status infer_anew(InferCall *c, TorchOp op, const MemoKey *k, PyObject **out,
                         PyObject **device)
{
    MemoVersions before;
    Status st;
    if (k)
        memo_versions(k, &before);
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    /* Views and questions are the same under it, and what is made of no tensor. */
    bool same =
        op.view || op.cls == TC_SPECIAL || (op.factory && !has_tensor(c->args, n));
    if (autocast_on() && !same)
        st = infer_under_autocast(c, op, out, device);
    else
        st = run(c, op, out, device);
    if (st == ST_OK && k)
        memo_put(k, &before, c, op, *out, *device);
    return st;
}

/* Whether anything but numbers for small tensors that are known can tell. */
static Status infer_with_numbers(InferCall *c, TorchOp op, PyObject **out,
                                 PyObject **device)
{
    PyObject *v[MAX_ARGS], *const *given = c->args;
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    if (known_make(c, op, out) == ST_OK) {
        *device = infer_device(torch_py.cpu);
        return ST_OK;
    }
    if (!known_as_numbers(c, v))
        return ST_DECLINE;
    c->args = v;
    Status st = infer_anew(c, op, NULL, out, device);
    c->args = given;
    while (n > 0)
        Py_DECREF(v[--n]);
    return st;
}

Status infer_call(InferCall *c, PyObject **out, PyObject **device)
{
    TorchOp op = op_of_call(c);
    MemoKey key;
    if (op.syncs)
        return ST_DECLINE;
    unsigned by_rule, by_torch = doubts(c, op, &by_rule);
    c->ruled = false;
    c->loose = 0;
    Quiet q;
    quiet_begin(&q, c->grad);
    bool keeps = !switches.verify_shapes && memo_key(&key, c, op);
    Status st = ST_OK;
    if (!keeps || !memo_get(&key, c, out, device))
        st = infer_anew(c, op, keeps ? &key : NULL, out, device);
    else if (*out == NULL)
        st = ST_ERROR;
    if (st == ST_DECLINE)
        st = infer_with_numbers(c, op, out, device);
    if (st == ST_OK)
        known_note(c, op, *out);
    c->unsure = (c->ruled ? by_rule : by_torch) | c->loose;
    if (st == ST_OK && c->unsure)
        each_tensor(*out, MAX_DEPTH, mark_unsure, c);
    quiet_end(&q, c->grad);
    return st;
}

void infer_use_rules(bool on)
{
    my.no_rules = !on;
}
