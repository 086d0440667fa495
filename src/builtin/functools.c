/*
 * builtin/functools.c -- functools, and objects of C classes that are callables by themselves (itemgetter, lru_cache).
 *
 * lru_cache (rule 22): a call whose key is in the cache is its value, guarded by "the cache has that value under this
 * key"; it is made again with the effects, for its counters and the order of use. A call that would run the function fills the cache while
 * tracing if the function's own trace shows it to be free of effects; else it breaks, and runs for real. What was filled for nothing,
 * because the call is not in the trace that comes to run, is taken back.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "cpy/cpy.h"
#include "var/consts.h"
#include "var/made.h"
#include "var/partial.h"

/* -- partial, reduce -------------------------------------------------------- */

static Status partial(Tx *tx, const Args *a, Var **out)
{
    PyObject *t = lookup_path(tx, "functools", "partial");
    Var *fn = a->v[0];
    PyTypeObject *ft;
    Args rest = args_tail(a, 1);
    if (t == NULL || !PyType_Check(t))
        return ST_DECLINE;
    TRY(var_type_of(tx, fn, &ft));
    if (ft->tp_call == NULL)
        return raise_type(tx, PyExc_TypeError, "the first argument must be callable");
    return partial_new(tx, (PyTypeObject *)t, fn, &rest, out);
}

static Status reduce(Tx *tx, const Args *a, Var **out)
{
    Var *it, *item, *acc = a->n > 2 ? a->v[2] : NULL;
    TRY(var_iter_or(tx, a->v[1], "reduce() arg 2 must support iteration", &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            break;
        if (acc == NULL)
            acc = item;
        else
            TRY(var_call2(tx, a->v[0], acc, item, &acc));
    }
    if (acc == NULL)
        return raise_type(tx, PyExc_TypeError,
                          "reduce() of empty iterable with no initial value");
    *out = acc;
    return ST_OK;
}

/* -- itemgetter and its like -------------------------------------------------- */

/* New ones: a real one says what they do, as nothing can change it. It is no constant of the trace: each call makes its own. */
static Status make_getter(Tx *tx, const char *name, const Args *a, Var **out)
{
    PyObject *t = lookup_path(tx, "_operator", name), *args;
    if (t == NULL || a->nkw || !fold_ready(a))
        return ST_DECLINE;
    args = tx_hold(tx, PyTuple_New(a->n));
    TRY_PTR(args);
    for (int i = 0; i < a->n; i++) {
        PyObject *o;
        TRY(fold_value(tx, a->v[i], &o));
        if (o == NULL)
            return ST_DECLINE;
        PyTuple_SET_ITEM(args, i, Py_NewRef(o));
    }
    PyObject *model = tx_hold(tx, PyObject_CallObject(t, args));
    GetterVar *g;
    if (model == NULL)
        return raise_now(tx);
    TRY(VAR_MAKE(tx, getter, GetterVar, (PyTypeObject *)t, &g));
    g->model = model;
    g->args = (Args){ tx_alloc(tx, (size_t)a->n * sizeof(Var *)), a->n, 0, NULL };
    TRY_PTR(g->args.v);
    memcpy(g->args.v, a->v, (size_t)a->n * sizeof(Var *));
    *out = &g->v;
    return ST_OK;
}

static Status itemgetter(Tx *tx, const Args *a, Var **out)
{
    return make_getter(tx, "itemgetter", a, out);
}
static Status attrgetter(Tx *tx, const Args *a, Var **out)
{
    return make_getter(tx, "attrgetter", a, out);
}
static Status methodcaller(Tx *tx, const Args *a, Var **out)
{
    return make_getter(tx, "methodcaller", a, out);
}

/* `a.b.c` */
static Status dotted(Tx *tx, Var *v, PyObject *path, Var **out)
{
    PyObject *dot = tx_hold(tx, PyUnicode_FromString("."));
    PyObject *names = dot ? tx_hold(tx, PyUnicode_Split(path, dot, -1)) : NULL;
    TRY_PTR(names);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names); i++) {
        Var *name_var;
        PyObject *name;
        TRY(const_peek(tx, PyList_GET_ITEM(names, i), &name_var));
        TRY(arg_name(tx, name_var, &name));
        TRY(var_getattr(tx, v, name, &v));
    }
    *out = v;
    return ST_OK;
}

static Status get_one(Tx *tx, Var *v, PyObject *key, bool items, Var **out)
{
    if (!items)
        return dotted(tx, v, key, out);
    Var *k;
    TRY(wrap_pinned(tx, key, NULL, &k));
    return var_getitem(tx, v, k, out);
}

static Status call_getter(Tx *tx, PyObject *keys, const Args *a, bool items, Var **out)
{
    if (a->n != 1 || a->nkw)
        return ST_DECLINE;
    Py_ssize_t n = PyTuple_GET_SIZE(keys);
    if (n == 1)
        return get_one(tx, a->v[0], PyTuple_GET_ITEM(keys, 0), items, out);
    Var **v = tx_alloc(tx, (size_t)n * sizeof *v);
    TRY_PTR(v);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(get_one(tx, a->v[0], PyTuple_GET_ITEM(keys, i), items, &v[i]));
    return tuple_new(tx, v, n, out);
}

static Status call_methodcaller(Tx *tx, PyObject *spec, const Args *a, Var **out)
{
    if (a->n != 1 || a->nkw)
        return ST_DECLINE;
    Py_ssize_t n = PyTuple_GET_SIZE(spec) - 1;
    Var **v = tx_alloc(tx, (size_t)(n + 1) * sizeof *v);
    TRY_PTR(v);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(wrap_pinned(tx, PyTuple_GET_ITEM(spec, i + 1), NULL, &v[i]));
    return var_call_method(tx, a->v[0], PyUnicode_AsUTF8(PyTuple_GET_ITEM(spec, 0)), v,
                           (int)n, out);
}

/* -- lru_cache ---------------------------------------------------------------- */

/* Objects that are equal to nothing but themselves, so that a look into the cache runs no user code. */
static bool by_identity(PyObject *o)
{
    return Py_TYPE(o)->tp_hash == PyBaseObject_Type.tp_hash &&
           Py_TYPE(o)->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

/* A torch.Size hashes and compares as the tuple that it is. */
static Status size_part(Tx *tx, TupleVar *t, PyObject **out)
{
    Var *plain;
    PyObject *tuple;
    TRY(tuple_new(tx, t->items, t->n, &plain));
    TRY(fold_value(tx, plain, &tuple));
    *out = tuple ? tx_hold(tx, PyObject_CallOneArg((PyObject *)torch_types.size, tuple))
                 : NULL;
    return tuple && *out == NULL ? raise_now(tx) : ST_OK;
}

static Status key_part(Tx *tx, Var *v, PyObject **out);

static Status tuple_part(Tx *tx, TupleVar *t, PyObject **out)
{
    PyObject *tuple = tx_hold(tx, PyTuple_New(t->n)), *o;
    TRY_PTR(tuple);
    *out = NULL;
    for (Py_ssize_t i = 0; i < t->n; i++) {
        TRY(key_part(tx, t->items[i], &o));
        if (o == NULL)
            return ST_OK;
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(o));
    }
    *out = tuple;
    return ST_OK;
}

static Status key_part(Tx *tx, Var *v, PyObject **out)
{
    TRY(fold_value(tx, v, out));
    if (*out != NULL)
        return ST_OK;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tuple && torch_ready && v->type == torch_types.size)
        return size_part(tx, AS(TupleVar, v), out);
    if (v->kind == &kind_tuple && v->type == &PyTuple_Type)
        return tuple_part(tx, AS(TupleVar, v), out);
    if (v->real == NULL || is_made_class(v) || v->kind == &kind_tensor ||
        !by_identity(v->real))
        return ST_OK;
    if (v->src != NULL && v->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, v->src, v->real));
    *out = v->real;
    return ST_OK;
}

/* As lru_cache_make_key: the argument itself if it is one int or str, else a tuple. *out NULL: not to be known.
 * parts: the arguments, in the order of the call. */
static Status cache_key(Tx *tx, const Args *a, const CpyLru *l, PyObject **parts,
                        PyObject **out)
{
    bool typed = l->typed;
    Py_ssize_t n = 0;
    *out = NULL;
    PyObject *t = tx_hold(
        tx, PyTuple_New((a->n + a->nkw) * (typed ? 2 : 1) + (a->nkw ? 1 + a->nkw : 0)));
    TRY_PTR(t);
    for (int i = 0; i < a->n + a->nkw; i++) {
        TRY(key_part(tx, a->v[i], &parts[i]));
        if (parts[i] == NULL)
            return ST_OK;
        if (i == a->n)
            PyTuple_SET_ITEM(t, n++, Py_NewRef(l->mark));
        if (i >= a->n)
            PyTuple_SET_ITEM(t, n++, Py_NewRef(PyTuple_GET_ITEM(a->kwnames, i - a->n)));
        PyTuple_SET_ITEM(t, n++, Py_NewRef(parts[i]));
    }
    for (int i = 0; typed && i < a->n + a->nkw; i++)
        PyTuple_SET_ITEM(t, n++, Py_NewRef((PyObject *)Py_TYPE(parts[i])));
    PyObject *only = n == 1 ? PyTuple_GET_ITEM(t, 0) : NULL;
    *out = only && (PyLong_CheckExact(only) || PyUnicode_CheckExact(only)) ? only : t;
    return ST_OK;
}

/* The object that the cache has as its key. */
static PyObject *stored_key(PyObject *cache, PyObject *entry)
{
    PyObject *key, *value;
    Py_ssize_t pos = 0;
    while (PyDict_Next(cache, &pos, &key, &value))
        if (value == entry)
            return key;
    return NULL;
}

/* Functions of libraries that only look what is installed: running one while tracing does what the program is about to do. */
static bool availability_check(PyObject *wrapper)
{
    static const char *const modules[] = { "transformers.utils.import_utils",
                                           "transformers.utils.generic",
                                           "torch.utils._triton",
                                           "accelerate.utils.imports" };
    PyObject **attrs = _PyObject_GetDictPtr(wrapper);
    PyObject *m = attrs && *attrs ? PyDict_GetItemString(*attrs, "__module__") : NULL;
    for (size_t i = 0; m && PyUnicode_Check(m) && i < COUNT_OF(modules); i++)
        if (PyUnicode_CompareWithASCIIString(m, modules[i]) == 0)
            return true;
    return false;
}

typedef struct Trial {
    Var *fn;
    const Args *args;
} Trial;

static Status try_call(Tx *tx, void *arg, Var **out)
{
    Trial *t = arg;
    return var_call(tx, t->fn, t->args, out);
}

/* A function that its trace shows to be one of its arguments alone may run at once, before the program is that far. */
static Status try_wrapped(Tx *tx, PyObject *f, const Args *a, Var **out)
{
    Trial t = { .args = a };
    size_t nodes = tx->graph.node.n;
    if (!PyFunction_Check(f))
        return graph_break(
            tx, BRK_UNKNOWN_CALL, "%s",
            "a function with lru_cache, not called with these arguments before");
    TRY(wrap_pinned(tx, tx_keep(tx, f), NULL, &t.fn));
    Status st = run_closed(tx, try_call, &t, out);
    if (st == ST_RAISE)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "a function with lru_cache that raises");
    TRY(st);
    if (tx->graph.node.n != nodes)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "a function with lru_cache that makes tensors");
    return ST_OK;
}

/* -- Filling a cache while tracing */

static Status remember(Tx *tx, PyObject *wrapper, CacheFill **list)
{
    CpyLru l;
    for (CacheFill *f = *list; f != NULL; f = f->before)
        if (f->wrapper == wrapper)
            return ST_OK;
    CacheFill *f = tx_alloc(tx, sizeof *f);
    if (f == NULL || !cpy_lru_look(wrapper, &l))
        return ST_ERROR;
    *f = (CacheFill){ .before = *list,
                      .wrapper = tx_keep(tx, wrapper),
                      .keys = tx_hold(tx, PyList_New(0)),
                      .hits = l.hits,
                      .misses = l.misses,
                      .size = PyDict_GET_SIZE(l.cache) };
    TRY_PTR(f->keys);
    *list = f;
    return ST_OK;
}

/* What has been counted since, and the keys that are new: the last ones, since nothing was thrown out. */
static Status count_since(CacheFill *f)
{
    CpyLru l;
    PyObject *key, *value;
    Py_ssize_t pos = 0, at = 0;
    if (!cpy_lru_look(f->wrapper, &l))
        return ST_ERROR;
    f->hits = l.hits - f->hits;
    f->misses = l.misses - f->misses;
    while (PyDict_Next(l.cache, &pos, &key, &value))
        if (at++ >= f->size && PyList_Append(f->keys, key) < 0)
            return ST_ERROR;
    return ST_OK;
}

/* Calls the wrapper, and notes what that has changed in it and in those that its function calls. */
static Status run_wrapper(Tx *tx, PyObject *wrapper, PyObject **parts, const Args *a,
                          size_t first)
{
    CacheFill *list = NULL, *next;
    PyObject *kwnames = a->nkw ? a->kwnames : NULL;
    TRY(remember(tx, wrapper, &list));
    for (size_t i = first; i < tx->called.n; i++)
        TRY(remember(tx, tx->called.v[i], &list));
    PyObject *r = tx_hold(tx, PyObject_Vectorcall(wrapper, parts, (size_t)a->n, kwnames));
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    for (; list != NULL; list = next) {
        next = list->before;
        TRY(count_since(list));
        list->before = tx->fills;
        tx->fills = list;
        SET(tx, list->kept, 1);
    }
    PyErr_Restore(type, value, tb);
    return r ? ST_OK : raise_now(tx);
}

void cache_settle(Tx *tx, bool runs)
{
    for (CacheFill *f = tx->fills; f != NULL; f = f->before)
        if (!runs || !f->kept)
            cpy_lru_undo(f->wrapper, f->hits, f->misses, f->keys);
    tx->fills = NULL;
}

static Status fill_cache(Tx *tx, PyObject *wrapper, const CpyLru *l, PyObject **parts,
                         const Args *a)
{
    size_t first = tx->called.n;
    Var *ignored;
    if (l->maxsize >= 0 && PyDict_GET_SIZE(l->cache) >= l->maxsize)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "a function with lru_cache, whose cache is full");
    TRY(try_wrapped(tx, l->func, a, &ignored));
    return run_wrapper(tx, wrapper, parts, a, first);
}

static Status fill_known(Tx *tx, PyObject *wrapper, PyObject **parts, const Args *a)
{
    PyObject *kwnames = a->nkw ? a->kwnames : NULL;
    return tx_hold(tx, PyObject_Vectorcall(wrapper, parts, (size_t)a->n, kwnames))
               ? ST_OK
               : raise_now(tx);
}

static Status cached_value(Tx *tx, PyObject *wrapper, PyObject *cache, PyObject *entry,
                           Var **out)
{
    PyObject *key = stored_key(cache, entry); /* the check finds it by its address */
    PyObject *result = cpy_lru_result(wrapper, entry);
    Source *dict = source_get(&tx->sources, SRC_CONST, NULL, tx_keep(tx, cache), 0);
    Source *item =
        dict ? source_get(&tx->sources, SRC_ITEM, dict, tx_keep(tx, key), 0) : NULL;
    TRY_PTR(item);
    TRY(guard_is(&tx->guards, item, tx_keep(tx, entry)));
    return wrap_pinned(tx, tx_keep(tx, result), result == entry ? item : NULL, out);
}

/* Counters and order of use are kept by making the call again, when effects are settled. */
static Status count_hit(Tx *tx, Var *fn, const Args *a, bool fresh)
{
    PyObject *first = tx_hold(tx, PyList_New(0));
    CacheHit h = { .fn = fn, .args = *a };
    int n = a->n + a->nkw;
    h.args.v = tx_alloc(tx, (size_t)(n + 1) * sizeof(Var *));
    if (first == NULL || h.args.v == NULL || (fresh && PyList_Append(first, Py_None) < 0))
        return ST_ERROR;
    if (n)
        memcpy(h.args.v, a->v, (size_t)n * sizeof(Var *));
    TRY(VAR_MAKE(tx, opaque, Var, Py_TYPE(first), &h.first));
    h.first->real = first;
    return VEC_PUSH(&tx->arena, &tx->journal, &tx->hits, h) ? ST_OK : ST_ERROR;
}

/* Inside of code that will run for real and count for itself. */
static Status call_closed(Tx *tx, PyObject *wrapper, const CpyLru *l, PyObject *entry,
                          const Args *a, Var **out)
{
    if (l->maxsize >= 0)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "a function with a bounded lru_cache, in code that runs by "
                           "itself");
    if (!VEC_PUSH(&tx->arena, &tx->journal, &tx->called, tx_keep(tx, wrapper)))
        return ST_ERROR;
    return entry ? cached_value(tx, wrapper, l->cache, entry, out)
                 : try_wrapped(tx, l->func, a, out);
}

static Status call_cached(Tx *tx, Var *fn, const Args *a, Var **out)
{
    PyObject *wrapper = fn->real, *key, *entry;
    PyObject **parts = tx_alloc(tx, (size_t)(a->n + a->nkw + 1) * sizeof *parts);
    CpyLru l;
    TRY_PTR(parts);
    if (!cpy_lru_look(wrapper, &l))
        return ST_DECLINE;
    bool known = availability_check(wrapper);
    TRY(cache_key(tx, a, &l, parts, &key));
    if (key == NULL)
        return ST_DECLINE;
    entry = PyDict_GetItemWithError(l.cache, key);
    bool fresh = entry == NULL;
    if (entry == NULL && PyErr_Occurred())
        return raise_now(tx);
    if (tx->foreign && !known)
        return call_closed(tx, wrapper, &l, entry, a, out);
    if (fresh) {
        TRY(known ? fill_known(tx, wrapper, parts, a)
                  : fill_cache(tx, wrapper, &l, parts, a));
        entry = PyDict_GetItemWithError(l.cache, key);
    }
    if (entry == NULL) {
        PyErr_Clear();
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "a function with lru_cache");
    }
    if (!known)
        TRY(count_hit(tx, fn, a, fresh));
    return cached_value(tx, wrapper, l.cache, entry, out);
}

/* -- Preparations that are made once ---------------------------------------------- */

/* transformers puts its hooks on a model in the first forward, under a lock, and not again: what the program is about to do is done
 * while tracing, so that the first call is the trace of all later ones. */
static Status install_hooks(Tx *tx, const Args *a, Var **out)
{
    PyObject *fn = lookup_path(tx, "transformers.utils.output_capturing",
                               "maybe_install_capturing_hooks");
    Var *model = a->v[0];
    TRY(var_real(tx, &model));
    if (fn == NULL || model->kind != &kind_object || model->real == NULL ||
        model->dirty || tx->foreign)
        return ST_DECLINE;
    *out = tx_none(tx);
    return tx_hold(tx, PyObject_CallOneArg(fn, model->real)) ? ST_OK : raise_now(tx);
}

/* -- numpy's functions of numbers ------------------------------------------------ */

/* One of numpy's own, found under its name: others may run user code. */
static bool own_ufunc(PyObject *o)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    PyObject *name = PyObject_GetAttrString(o, "__name__");
    bool own = m && name && PyUnicode_Check(name) && PyModule_Check(m) &&
               PyDict_GetItem(PyModule_GetDict(m), name) == o;
    PyErr_Clear();
    Py_XDECREF(name);
    return own;
}

/* np.lcm(4, 6): constants in, a constant out. */
static Status call_numpy(Tx *tx, Var *fn, const Args *a, Var **out)
{
    if (strcmp(fn->type->tp_name, "numpy.ufunc") != 0)
        return fold_call(tx, fn->real, a, out);
    return own_ufunc(fn->real) ? fold_run(tx, fn->real, a, out) : ST_DECLINE;
}

/* -- Weak references -------------------------------------------------------------- */

static Status call_weakref(Tx *tx, Var *fn, const Args *a, Var **out)
{
    if (a->n || a->nkw || fn->src == NULL)
        return ST_DECLINE;
    if (tx->weak_drops || tx->holder_drops)
        return graph_break(tx, BRK_FINALIZER, "%s", "a weak reference, behind a drop");
    Source *src = source_get(&tx->sources, SRC_REFERENT, fn->src, NULL, 0);
    TRY_PTR(src);
    return lazy_new(tx, tx_keep(tx, PyWeakref_GET_OBJECT(fn->real)), src, out);
}

/* -- Existing callables of C classes -------------------------------------------- */

static Status parts_of(Tx *tx, PyObject *o, PyObject **args)
{
    PyObject *r = tx_hold(tx, PyObject_CallMethod(o, "__reduce__", NULL));
    TRY_PTR(r);
    *args = PyTuple_GET_ITEM(
        r, 1); /* a methodcaller with keywords is a partial of its class */
    return PyTuple_GET_ITEM(r, 0) == (PyObject *)Py_TYPE(o) ? ST_OK : ST_DECLINE;
}

enum { ITEM = 1, ATTR, METHOD };

static int operator_object(const char *type)
{
    static const char *const names[] = { "operator.itemgetter", "operator.attrgetter",
                                         "operator.methodcaller" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(type, names[i]) == 0)
            return (int)i + ITEM;
    return 0;
}

Status call_operator_object(Tx *tx, PyObject *getter, const Args *a, Var **out)
{
    PyObject *parts;
    int what = operator_object(Py_TYPE(getter)->tp_name);
    TRY(parts_of(tx, getter, &parts));
    return what == METHOD ? call_methodcaller(tx, parts, a, out)
                          : call_getter(tx, parts, a, what == ITEM, out);
}

Status match_object(Tx *tx, Var *fn, const Args *a, Var **out)
{
    const char *name = fn->type ? fn->type->tp_name : "";
    bool getter = operator_object(name),
         cached = strcmp(name, "functools._lru_cache_wrapper") == 0;
    bool numpy = strcmp(name, "numpy.ufunc") == 0 ||
                 strcmp(name, "numpy._ArrayFunctionDispatcher") == 0;
    if (fn->real && PyWeakref_CheckRefExact(fn->real))
        return call_weakref(tx, fn, a, out);
    if (fn->real == NULL || !(getter || cached || numpy))
        return ST_DECLINE;
    if (fn->src != NULL && fn->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, fn->src, fn->real));
    if (numpy)
        return call_numpy(tx, fn, a, out);
    if (cached)
        return call_cached(tx, fn, a, out);
    return call_operator_object(tx, fn->real, a, out);
}

/* -- The rows --------------------------------------------------------------- */

const Handler handlers_functools[] = {
    { "transformers.utils.output_capturing.maybe_install_capturing_hooks", 1, 1,
      install_hooks, NULL },
    { "functools.partial", 1, -1, partial, ANY_KW },
    { "_functools.reduce", 2, 3, reduce, NULL },
    { "_operator.itemgetter", 1, -1, itemgetter, NULL },
    { "_operator.attrgetter", 1, -1, attrgetter, NULL },
    { "_operator.methodcaller", 1, -1, methodcaller, NULL },
    { 0 },
};
