/*
 * builtin/misc.c -- the rest of the standard library: effects that break with a reason of their own, and the few locks that may be
 * passed over.
 */
#include "builtin/help.h"
#include "var/made.h"
#include "var/names.h"

/* -- Effects ---------------------------------------------------------------- */

/* What the callable is does not matter to the trace: it ends here, and the call is made for real. */
static Status effect(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_SIDE_EFFECT, "%s", "a warning, a clock or random numbers");
}

static Status import(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_IMPORT, "%s", "an import by function call");
}

/* -- Locks ------------------------------------------------------------------ */

/* functools.cached_property takes a lock that only keeps two threads from computing at once; in the trace there is one. All
 * other locks are seen by others: break. */
static bool in_cached_property(Tx *tx)
{
    PyObject *t = PyDict_GetItemString(PyImport_GetModuleDict(), "functools");
    t = t && PyModule_Check(t)
            ? PyDict_GetItemString(PyModule_GetDict(t), "cached_property")
            : NULL;
    PyObject *get = t && PyType_Check(t)
                        ? PyDict_GetItemString(((PyTypeObject *)t)->tp_dict, "__get__")
                        : NULL;
    return get && PyFunction_Check(get) && tx->top &&
           (PyObject *)tx->top->code->co == PyFunction_GET_CODE(get);
}

static Status lock_enter(Tx *tx, const Args *a, Var **out)
{
    if (!in_cached_property(tx))
        return graph_break(tx, BRK_SIDE_EFFECT, "%s", "a lock");
    *out = tx_bool(tx, true);
    return ST_OK;
}

static Status lock_exit(Tx *tx, const Args *a, Var **out)
{
    if (!in_cached_property(tx))
        return graph_break(tx, BRK_SIDE_EFFECT, "%s", "a lock");
    *out = tx_none(tx);
    return ST_OK;
}

static Status lock(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_SIDE_EFFECT, "%s", "a lock");
}

/* The limit is read where it can only end a loop that never ends: elsewhere nothing guards it. */
static Status recursion_limit(Tx *tx, const Args *a, Var **out)
{
    PyObject *unwrap = lookup_path(tx, "inspect", "unwrap");
    if (unwrap == NULL || !PyFunction_Check(unwrap) ||
        (PyObject *)tx->top->code->co != PyFunction_GET_CODE(unwrap))
        return ST_DECLINE;
    return const_int(tx, Py_GetRecursionLimit(), out);
}

/* -- typing ----------------------------------------------------------------- */

static Status cast(Tx *tx, const Args *a, Var **out)
{
    *out = a->v[1];
    return ST_OK;
}

/* Is the function that runs one of the module? */
static bool called_in(Tx *tx, const char *module)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), module);
    Var *globals = tx->top->fn->globals;
    return m && PyModule_Check(m) && globals && globals->real == PyModule_GetDict(m);
}

/* Names that a protocol asks for: depend on the class alone. A set, but typing itself only walks it. */
static Status protocol_attrs(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0];
    PyObject *fn = lookup_path(tx, "typing", "_get_protocol_attrs");
    TRY(var_real(tx, &cls));
    if (fn == NULL || cls->kind != &kind_class || cls->real == NULL ||
        is_made_class(cls) || !called_in(tx, "typing"))
        return ST_DECLINE;
    PyObject *names = tx_hold(tx, PyObject_CallOneArg(fn, cls->real));
    return names ? fold_wrap(tx, PySequence_Tuple(names), out) : raise_now(tx);
}

/* types.MethodType(function, self) */
static Status method(Tx *tx, const Args *a, Var **out)
{
    Var *self = a->v[1];
    PyTypeObject *t;
    TRY(var_real(tx, &self));
    TRY(var_type_of(tx, a->v[0], &t));
    if (self == tx_none(tx) || t->tp_call == NULL)
        return ST_DECLINE;
    return method_new(tx, a->v[0], self, out);
}

/* -- inspect ---------------------------------------------------------------- */

/* A plain function whose signature is what its code, defaults and annotations say: no attribute overrides that, which is guarded. */
static Status plain_function(Tx *tx, Var *v, PyObject **f)
{
    static const char *const overrides[] = { "__wrapped__", "__signature__",
                                             "__text_signature__" };
    DictVar *attrs;
    *f = v->kind == &kind_func ? v->real : NULL;
    if (*f == NULL)
        return ST_OK;
    TRY(attrs_of(tx, v, &attrs));
    for (size_t i = 0; attrs && i < COUNT_OF(overrides); i++) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString(overrides[i]));
        Var *there;
        TRY_PTR(name);
        TRY(dict_get_str(tx, attrs, name, &there));
        if (there != NULL)
            *f = NULL;
    }
    return ST_OK;
}

/* The guards under which a function's signature stays what it is. */
static Status guard_signature(Tx *tx, Var *fn)
{
    static const char *const parts[] = { "__defaults__", "__kwdefaults__",
                                         "__annotations__" };
    if (fn->src == NULL || fn->src->kind == SRC_CONST)
        return ST_OK;
    TRY(guard_is(&tx->guards, fn->src, fn->real));
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString(parts[i]));
        TRY_PTR(name);
        PyObject *part = tx_hold(tx, PyObject_GetAttr(fn->real, name));
        Source *src = source_get(&tx->sources, SRC_GETSET, fn->src, name, 0);
        if (part == NULL || src == NULL)
            return ST_ERROR;
        TRY(guard_is(&tx->guards, src, part));
    }
    return ST_OK;
}

/* inspect.signature() of a plain function or a method of one: made once, for real. A function with attributes that change it, a
 * class or any other callable is read as the Python code it is. */
static Status signature(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0], *fn;
    PyObject *real_signature = lookup_path(tx, "inspect", "signature");
    TRY(var_real(tx, &v));
    fn = v->kind == &kind_method ? AS(MethodVar, v)->func : v;
    TRY(var_real(tx, &fn));
    PyObject *f;
    TRY(plain_function(tx, fn, &f));
    if (f == NULL || real_signature == NULL)
        return ST_DECLINE;
    PyObject *callable = v == fn ? f : tx_hold(tx, PyMethod_New(f, Py_None));
    PyObject *made =
        callable ? tx_hold(tx, PyObject_CallOneArg(real_signature, callable)) : NULL;
    if (made == NULL)
        return raise_now(tx);
    TRY(guard_signature(tx, fn));
    return wrap_pinned(tx, made, NULL, out);
}

#define EFFECT(path) { path, 0, -1, effect, ANY_KW }

/* Frames below the one that was entered are not known. */
static Status getframe(Tx *tx, const Args *a, Var **out)
{
    PyObject *n = NULL;
    FrameVar *fv;
    Frame *f = tx->top;
    if (a->n)
        TRY(var_const(tx, a->v[0], &n));
    if (a->n && (n == NULL || !PyLong_Check(n)))
        return ST_DECLINE;
    long depth = n ? PyLong_AsLong(n) : 0;
    PyErr_Clear();
    for (; f && depth > 0; depth--)
        f = f->up;
    if (f == NULL)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "sys._getframe() of a caller");
    TRY(VAR_MAKE(tx, frame, FrameVar, &PyFrame_Type, &fv));
    fv->f = f;
    *out = &fv->v;
    return ST_OK;
}

/* A function that wraps nothing is what it unwraps to. */
static Status unwrap(Tx *tx, const Args *a, Var **out)
{
    Var *wrapped;
    TRY(var_getattr_opt(tx, a->v[0], str___wrapped__, &wrapped));
    if (wrapped != NULL)
        return ST_DECLINE;
    *out = a->v[0];
    return ST_OK;
}

/* While a thread is traced, nothing is compiled nor run compiled. */
static Status no_tracer(Tx *tx, const Args *a, Var **out)
{
    *out = tx_none(tx);
    return ST_OK;
}

const Handler handlers_misc[] = {
    EFFECT("_warnings.warn"),
    EFFECT("_warnings.warn_explicit"),
    EFFECT("warnings.warn"),
    EFFECT("time.time"),
    EFFECT("time.time_ns"),
    EFFECT("time.monotonic"),
    EFFECT("time.monotonic_ns"),
    EFFECT("time.perf_counter"),
    EFFECT("time.perf_counter_ns"),
    EFFECT("time.process_time"),
    EFFECT("time.sleep"),
    EFFECT("sys.exit"),
    EFFECT("sys.setrecursionlimit"),
    EFFECT("sys.settrace"),
    EFFECT("sys.setprofile"),
    EFFECT(
        "sys.getprofile"), /* compiled code runs whoever profiles it: no guard says who */
    EFFECT("gc.collect"),
    EFFECT("gc.disable"),
    EFFECT("gc.enable"),
    { "importlib.import_module", 1, 2, import, "name package" },
    { "_thread.RLock.__enter__", 1, 1, lock_enter, NULL },
    { "_thread.RLock.__exit__", 1, 4, lock_exit, NULL },
    { "_thread.RLock.acquire", 1, -1, lock, ANY_KW },
    { "_thread.RLock.release", 1, -1, lock, ANY_KW },
    { "_thread.LockType.__enter__", 1, -1, lock, ANY_KW },
    { "_thread.LockType.acquire", 1, -1, lock, ANY_KW },
    { "sys.getrecursionlimit", 0, 0, recursion_limit, NULL },
    { "sys.gettrace", 0, 0, no_tracer, NULL },
    { "sys._getframe", 0, 1, getframe, NULL },
    { "inspect.unwrap", 1, 2, unwrap, "stop" },
    { "typing.cast", 2, 2, cast, NULL },
    { "typing._get_protocol_attrs", 1, 1, protocol_attrs, NULL },
    { "types.MethodType", 2, 2, method, NULL },
    { "inspect.signature", 1, 1, signature, NULL },
    { 0 },
};
