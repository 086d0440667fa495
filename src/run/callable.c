/*
 * run/callable.c -- what compile() gives back: a callable that stands for a function.
 *
 * Takes: a Python function or bound method, Options. Gives: calls bound to slots, tried at
 * the function's point, else made plainly. Holds: whatever is wrong or unusual about a call
 * is left to the original, so that messages are CPython's.
 */
#include "base/cstack.h"
#include "run/point.h"

#include <structmember.h>

void (*run_plain_note)(PyObject *fn);

enum { SLOTS_ON_STACK = 32 };

static PyTypeObject *compiled_type, *bound_type, *options_type;

typedef struct Compiled {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *fn; /* what was compiled */
    PyFunctionObject
        *func;      /* its function, or NULL: it has none, or none that can be compiled */
    PyObject *self; /* of a bound method, or NULL */
    Options *options;
    PyCodeObject *co; /* func's code when `point` was looked up, or NULL */
    Point *point;
    int nslots;
    bool simple; /* positional arguments only */
    bool never;  /* calls make generators or coroutines */
    PyObject *dict, *weakrefs;
} Compiled;

/* -- Options ------------------------------------------------------------------------- */

static PyObject *all_options; /* key -> Options; they live for good */

static PyObject *make_options(PyObject *module, PyObject *args)
{
    PyObject *backend, *dynamic, *key;
    int fullgraph, limit;
    if (!PyArg_ParseTuple(args, "OpOiO:make_options", &backend, &fullgraph, &dynamic,
                          &limit, &key))
        return NULL;
    if (all_options == NULL && (all_options = PyDict_New()) == NULL)
        return NULL;
    PyObject *known = PyDict_GetItemWithError(all_options, key);
    if (known != NULL || PyErr_Occurred())
        return Py_XNewRef(known);
    Options *o = PyObject_New(Options, options_type);
    if (o == NULL)
        return NULL;
    o->backend = Py_NewRef(backend);
    o->key = Py_NewRef(key);
    o->fullgraph = fullgraph;
    o->dynamic = Py_NewRef(dynamic);
    o->limit = limit;
    if (PyDict_SetItem(all_options, key, (PyObject *)o) < 0)
        Py_CLEAR(o);
    return (PyObject *)o;
}

static void options_dealloc(PyObject *self)
{
    Options *o = (Options *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(o->backend);
    Py_XDECREF(o->key);
    Py_XDECREF(o->dynamic);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMemberDef options_members[] = {
    { "backend", T_OBJECT, offsetof(Options, backend), READONLY, NULL },
    { "key", T_OBJECT, offsetof(Options, key), READONLY, NULL },
    { "fullgraph", T_BOOL, offsetof(Options, fullgraph), READONLY, NULL },
    { "dynamic", T_OBJECT, offsetof(Options, dynamic), READONLY, NULL },
    { "limit", T_INT, offsetof(Options, limit), READONLY, NULL },
    { 0 },
};

static PyType_Slot options_slots[] = {
    { Py_tp_doc, "What compile() was asked for." },
    { Py_tp_dealloc, options_dealloc },
    { Py_tp_members, options_members },
    { 0, NULL },
};

static PyType_Spec options_spec = {
    .name = "jedlik._engine.Options",
    .basicsize = sizeof(Options),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = options_slots,
};

/* -- Binding --------------------------------------------------------------------------- */

/* Arguments of one call on their way into slots. All slots are strong references. */
typedef struct Binding {
    PyFunctionObject *func;
    PyCodeObject *co;
    PyObject **slots;
    int npos, nkw;    /* parameters: positional, keyword-only */
    PyObject *kwargs; /* borrowed from its slot, or NULL: no **parameter */
} Binding;

static bool bind_positional(Binding *b, PyObject *const *args, Py_ssize_t n)
{
    Py_ssize_t fit = n < b->npos ? n : b->npos;
    for (Py_ssize_t i = 0; i < fit; i++)
        b->slots[i] = Py_NewRef(args[i]);
    if (!(b->co->co_flags & CO_VARARGS))
        return n <= b->npos;
    PyObject *rest = PyTuple_New(n - fit);
    if (rest == NULL)
        return false;
    for (Py_ssize_t i = fit; i < n; i++)
        PyTuple_SET_ITEM(rest, i - fit, Py_NewRef(args[i]));
    b->slots[b->npos + b->nkw] = rest;
    return true;
}

/* Parameter that can be given by this keyword, or -1. */
static int parameter(const Binding *b, PyObject *name)
{
    PyObject *names = b->co->co_localsplusnames;
    int first = b->co->co_posonlyargcount, end = b->npos + b->nkw;
    for (int i = first; i < end; i++)
        if (PyTuple_GET_ITEM(names, i) == name)
            return i;
    for (int i = first; i < end; i++)
        if (_PyUnicode_EQ(PyTuple_GET_ITEM(names, i), name))
            return i;
    return -1;
}

static bool bind_keyword(Binding *b, PyObject *name, PyObject *value)
{
    if (!PyUnicode_CheckExact(name))
        return false;
    int i = parameter(b, name);
    if (i < 0)
        return b->kwargs != NULL && PyDict_SetItem(b->kwargs, name, value) == 0;
    if (b->slots[i] != NULL)
        return false;
    b->slots[i] = Py_NewRef(value);
    return true;
}

static bool bind_keywords(Binding *b, PyObject *const *values, PyObject *kwnames)
{
    if (b->co->co_flags & CO_VARKEYWORDS) {
        int slot = b->npos + b->nkw + ((b->co->co_flags & CO_VARARGS) != 0);
        b->kwargs = b->slots[slot] = PyDict_New();
        if (b->kwargs == NULL)
            return false;
    }
    Py_ssize_t n = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!bind_keyword(b, PyTuple_GET_ITEM(kwnames, i), values[i]))
            return false;
    return true;
}

static bool bind_defaults(Binding *b)
{
    PyObject *defaults = b->func->func_defaults, *kwdefaults = b->func->func_kwdefaults;
    Py_ssize_t ndefaults = defaults == NULL ? 0 : PyTuple_GET_SIZE(defaults);
    for (int i = 0; i < b->npos; i++)
        if (b->slots[i] == NULL) {
            Py_ssize_t d = i - (b->npos - ndefaults);
            if (d < 0)
                return false;
            b->slots[i] = Py_NewRef(PyTuple_GET_ITEM(defaults, d));
        }
    for (int i = b->npos; i < b->npos + b->nkw; i++)
        if (b->slots[i] == NULL) {
            PyObject *name = PyTuple_GET_ITEM(b->co->co_localsplusnames, i);
            PyObject *d =
                kwdefaults == NULL ? NULL : PyDict_GetItemWithError(kwdefaults, name);
            if (d == NULL)
                return false;
            b->slots[i] = Py_NewRef(d);
        }
    return true;
}

/* -- Calling --------------------------------------------------------------------------------- */

static int count_slots(const PyCodeObject *co)
{
    return co->co_argcount + co->co_kwonlyargcount + ((co->co_flags & CO_VARARGS) != 0) +
           ((co->co_flags & CO_VARKEYWORDS) != 0);
}

/* Looks the point up for the code the function has now. */
static bool refresh(Compiled *c)
{
    PyCodeObject *co = (PyCodeObject *)c->func->func_code;
    c->never = !cpy_code_plain(co);
    c->nslots = count_slots(co);
    c->simple = c->nslots == co->co_argcount;
    c->point = c->never ? NULL : run_entry_point(co, c->options);
    if (c->point == NULL && !c->never)
        return false;
    Py_INCREF(co);
    Py_XSETREF(c->co, co);
    return true;
}

static PyObject *call_bound(Compiled *c, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames, PyObject **slots, bool *plain)
{
    Binding b = { c->func, c->co, slots, c->co->co_argcount, c->co->co_kwonlyargcount,
                  NULL };
    PyObject *v = NULL;
    Point *p = c->point; /* the function may change before the call is over */
    int n = c->nslots;
    memset(slots, 0, (size_t)n * sizeof *slots);
    if (bind_positional(&b, args, nargs) && bind_keywords(&b, args + nargs, kwnames) &&
        bind_defaults(&b)) {
        v = run_call(p, c->func, slots, n, plain);
    } else {
        PyErr_Clear(); /* the original says what is wrong */
        *plain = true;
    }
    for (int i = 0; i < n; i++)
        Py_XDECREF(slots[i]);
    return v;
}

/* *plain: nothing has happened. */
static PyObject *call_compiled(Compiled *c, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames, bool *plain)
{
    if (__builtin_expect((PyObject *)c->co != c->func->func_code, 0) && !refresh(c))
        return NULL;
    *plain = c->never;
    if (c->never) {
        if (run_plain_note != NULL)
            run_plain_note(c->fn);
        return NULL;
    }
    if (c->simple && kwnames == NULL && nargs == c->nslots)
        return run_call(c->point, c->func, args, (int)nargs, plain);
    PyObject *few[SLOTS_ON_STACK];
    if (c->nslots <= SLOTS_ON_STACK)
        return call_bound(c, args, nargs, kwnames, few, plain);
    PyObject **slots = mem_alloc((size_t)c->nslots * sizeof *slots);
    if (slots == NULL)
        return NULL;
    PyObject *v = call_bound(c, args, nargs, kwnames, slots, plain);
    mem_free(slots);
    return v;
}

/* As call_compiled, for a bound method: self goes before the arguments. */
static PyObject *call_method(Compiled *c, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames, bool *plain)
{
    PyObject *few[SLOTS_ON_STACK], **all = few;
    Py_ssize_t n = nargs + (kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames));
    if (n + 1 > SLOTS_ON_STACK && (all = mem_alloc((size_t)(n + 1) * sizeof *all)) == NULL)
        return NULL;
    all[0] = c->self;
    memcpy(all + 1, args, (size_t)n * sizeof *all);
    PyObject *v = call_compiled(c, all, nargs + 1, kwnames, plain);
    if (all != few)
        mem_free(all);
    return v;
}

static PyObject *compiled_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                                     PyObject *kwnames)
{
    Compiled *c = (Compiled *)self;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    bool plain = false;
    PyObject *v;
    if (__builtin_expect(cstack_low(), 0)) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
        return NULL;
    }
    if (c->func == NULL || run_off)
        plain = true, v = NULL;
    else if (c->self == NULL)
        v = call_compiled(c, args, nargs, kwnames, &plain);
    else
        v = call_method(c, args, nargs, kwnames, &plain);
    if (!plain)
        return v;
    return PyObject_Vectorcall(c->fn, args, nargsf, kwnames);
}

/* -- The object ---------------------------------------------------------------------------------- */

static PyObject *compiled_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "fn", "options", NULL };
    PyObject *fn, *options;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!:Compiled", names, &fn,
                                     options_type, &options))
        return NULL;
    if (!PyCallable_Check(fn)) {
        PyErr_Format(PyExc_TypeError, "a callable is needed, not %.200s",
                     Py_TYPE(fn)->tp_name);
        return NULL;
    }
    bool bound = PyMethod_Check(fn);
    PyObject *func = bound ? PyMethod_GET_FUNCTION(fn) : fn;
    if (type == compiled_type && bound)
        type = bound_type;
    Compiled *c = (Compiled *)type->tp_alloc(type, 0);
    if (c == NULL)
        return NULL;
    c->vectorcall = compiled_vectorcall;
    c->fn = Py_NewRef(fn);
    c->options = (Options *)Py_NewRef(options);
    if (PyFunction_Check(func))
        c->func = (PyFunctionObject *)Py_NewRef(func);
    if (bound)
        c->self = Py_NewRef(PyMethod_GET_SELF(fn));
    return (PyObject *)c;
}

static int compiled_traverse(PyObject *self, visitproc visit, void *arg)
{
    Compiled *c = (Compiled *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(c->fn);
    Py_VISIT(c->func);
    Py_VISIT(c->self);
    Py_VISIT(c->dict);
    return 0;
}

static int compiled_clear(PyObject *self)
{
    Compiled *c = (Compiled *)self;
    Py_CLEAR(c->func);
    Py_CLEAR(c->self);
    Py_CLEAR(c->dict);
    return 0;
}

static void compiled_dealloc(PyObject *self)
{
    Compiled *c = (Compiled *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (c->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    compiled_clear(self);
    Py_CLEAR(c->fn);
    Py_CLEAR(c->options);
    Py_CLEAR(c->co);
    type->tp_free(self);
    Py_DECREF(type);
}

/* A method of whatever it is looked up on, like a function. */
static PyObject *compiled_get(PyObject *self, PyObject *obj, PyObject *type)
{
    return obj == NULL || obj == Py_None ? Py_NewRef(self) : PyMethod_New(self, obj);
}

/* A compiled bound method, like any, is not bound again. */
static PyObject *bound_get(PyObject *self, PyObject *obj, PyObject *type)
{
    return Py_NewRef(self);
}

static PyObject *compiled_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<compiled %R>", ((Compiled *)self)->fn);
}

/* Pickled and copied like a function: by name. */
static PyObject *compiled_reduce(PyObject *self, PyObject *none)
{
    return PyObject_GetAttrString(self, "__qualname__");
}

/* -- Attributes -------------------------------------------------------------------------------------- */

/* Names that every object has, so that they must be forwarded: one that was set here wins. */
static PyObject *get_own(PyObject *self, void *name)
{
    Compiled *c = (Compiled *)self;
    PyObject *v = c->dict == NULL ? NULL : PyDict_GetItemString(c->dict, name);
    return v != NULL ? Py_NewRef(v) : PyObject_GetAttrString(c->fn, name);
}

/* What it does not have itself, the function answers. */
static PyObject *compiled_getattro(PyObject *self, PyObject *name)
{
    if (PyUnicode_CompareWithASCIIString(name, "__module__") == 0)
        return get_own(
            self, "__module__"); /* a descriptor of that name would hide the type's own */
    PyObject *v = PyObject_GenericGetAttr(self, name);
    if (v != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return v;
    PyErr_Clear();
    return PyObject_GetAttr(((Compiled *)self)->fn, name);
}

static int set_own(PyObject *self, PyObject *v, void *name)
{
    Compiled *c = (Compiled *)self;
    if (c->dict == NULL && (c->dict = PyDict_New()) == NULL)
        return -1;
    if (v != NULL)
        return PyDict_SetItemString(c->dict, name, v);
    return PyDict_DelItemString(c->dict, name);
}

/* What decides about calls belongs to the function alone. */
static PyObject *get_from_fn(PyObject *self, void *name)
{
    return PyObject_GetAttrString(((Compiled *)self)->fn, name);
}

static int set_in_fn(PyObject *self, PyObject *v, void *name)
{
    PyObject *fn = ((Compiled *)self)->fn;
    return v == NULL ? PyObject_DelAttrString(fn, name)
                     : PyObject_SetAttrString(fn, name, v);
}

static PyGetSetDef compiled_getset[] = {
    { "__name__", get_own, set_own, NULL, "__name__" },
    { "__qualname__", get_own, set_own, NULL, "__qualname__" },
    { "__doc__", get_own, set_own, NULL, "__doc__" },
    { "__annotations__", get_own, set_own, NULL, "__annotations__" },
    { "__defaults__", get_from_fn, set_in_fn, NULL, "__defaults__" },
    { "__kwdefaults__", get_from_fn, set_in_fn, NULL, "__kwdefaults__" },
    { "__code__", get_from_fn, set_in_fn, NULL, "__code__" },
    { "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
    { 0 },
};

static PyMemberDef compiled_members[] = {
    { "__wrapped__", T_OBJECT, offsetof(Compiled, fn), READONLY, NULL },
    { "options", T_OBJECT, offsetof(Compiled, options), READONLY, NULL },
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(Compiled, vectorcall), READONLY, NULL },
    { "__dictoffset__", T_PYSSIZET, offsetof(Compiled, dict), READONLY, NULL },
    { "__weaklistoffset__", T_PYSSIZET, offsetof(Compiled, weakrefs), READONLY, NULL },
    { 0 },
};

static PyMethodDef compiled_methods[] = {
    { "__reduce__", compiled_reduce, METH_NOARGS, NULL },
    { NULL },
};

static PyType_Slot compiled_slots[] = {
    { Py_tp_new, compiled_new },           { Py_tp_dealloc, compiled_dealloc },
    { Py_tp_traverse, compiled_traverse }, { Py_tp_clear, compiled_clear },
    { Py_tp_call, PyVectorcall_Call },     { Py_tp_descr_get, compiled_get },
    { Py_tp_repr, compiled_repr },         { Py_tp_getattro, compiled_getattro },
    { Py_tp_getset, compiled_getset },     { Py_tp_members, compiled_members },
    { Py_tp_methods, compiled_methods },   { 0, NULL },
};

enum { COMPILED_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL };

static PyType_Spec compiled_spec = {
    .name = "jedlik._engine.Compiled",
    .basicsize = sizeof(Compiled),
    .flags = COMPILED_FLAGS | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR |
             Py_TPFLAGS_BASETYPE,
    .slots = compiled_slots,
};

static PyType_Slot bound_slots[] = {
    { Py_tp_descr_get, bound_get },
    { 0, NULL },
};

static PyType_Spec bound_spec = {
    .name = "jedlik._engine.CompiledMethod",
    .basicsize = sizeof(Compiled),
    .flags = COMPILED_FLAGS,
    .slots = bound_slots,
};

/* -- Init ------------------------------------------------------------------------------------------------ */

/* Something for profilers to show while a trace is made. */
static PyObject *compile_name(PyObject *module, PyObject *none)
{
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    { "compile", compile_name, METH_NOARGS,
      "the name that compiling has in profiles; a call of it does nothing" },
    { "make_options", make_options, METH_VARARGS,
      "make_options(backend, fullgraph, dynamic, limit, key) -> Options; equal keys "
      "share one" },
    { NULL },
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base)
{
    PyObject *type = PyType_FromSpecWithBases(spec, (PyObject *)base);
    if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0)
        return NULL;
    return (PyTypeObject *)type;
}

int run_init(PyObject *module)
{
    if ((options_type = add_type(module, &options_spec, NULL)) == NULL ||
        (compiled_type = add_type(module, &compiled_spec, NULL)) == NULL ||
        (bound_type = add_type(module, &bound_spec, compiled_type)) == NULL)
        return -1;
    if (PyModule_AddFunctions(module, functions) < 0)
        return -1;
    run_compile_name = PyObject_GetAttrString(module, "compile");
    return run_compile_name == NULL ? -1 : 0;
}
