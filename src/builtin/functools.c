/*
 * builtin/functools.c -- functools, and objects of C classes that are callables by themselves (itemgetter, lru_cache).
 *
 * lru_cache (rule 22): a call whose key is in the cache is its value, guarded by "the cache has that value under this
 * key"; it is made again with the effects, for its counters and the order of use. A call that would run the function fills the cache while
 * tracing if the function's own trace shows it to be free of effects; else it breaks, and runs for real.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
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

/* New ones are made for real: nothing can change them. */
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
    PyObject *made = tx_hold(tx, PyObject_CallObject(t, args));
    return made ? wrap_pinned(tx, made, NULL, out) : raise_now(tx);
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

/* The wrapper's cache: the one dictionary it refers to besides its own attributes. */
static int find_dict(PyObject *o, void *arg)
{
    PyObject **found = arg; /* [0] the cache, [1] the attributes */
    if (PyDict_CheckExact(o) && o != found[1] && found[0] == NULL)
        found[0] = o;
    return 0;
}

static PyObject *cache_of(PyObject *wrapper)
{
    PyObject **attrs = _PyObject_GetDictPtr(wrapper);
    PyObject *found[2] = { NULL, attrs ? *attrs : NULL };
    if (Py_TYPE(wrapper)->tp_traverse)
        Py_TYPE(wrapper)->tp_traverse(wrapper, find_dict, found);
    return found[0];
}

/* What lru_cache puts between positional and keyword arguments of a key: found in the cache of a function of our own. */
static PyObject *keyword_mark(void)
{
    static PyObject *mark;
    if (mark == NULL) {
        PyObject *names = PyDict_New(), *done = NULL, *wrapper;
        if (names)
            done = PyRun_String("import functools\n@functools.lru_cache(None)\ndef "
                                "f(**k): pass\nf(a=1)\n",
                                Py_file_input, names, names);
        wrapper = done ? PyDict_GetItemString(names, "f") : NULL;
        PyObject *cache = wrapper ? cache_of(wrapper) : NULL, *key, *value;
        Py_ssize_t pos = 0;
        if (cache && PyDict_Next(cache, &pos, &key, &value) &&
            PySequence_Fast_GET_SIZE(key) == 3)
            mark = Py_NewRef(PySequence_Fast_GET_ITEM(key, 0));
        PyErr_Clear();
        Py_XDECREF(done);
        Py_XDECREF(names);
    }
    return mark;
}

/* Was it made with typed=True? Its cache_parameters() says so, in a cell. */
static bool is_typed(PyObject *wrapper)
{
    PyObject **attrs = _PyObject_GetDictPtr(wrapper);
    PyObject *f =
        attrs && *attrs ? PyDict_GetItemString(*attrs, "cache_parameters") : NULL;
    PyObject *cells = f && PyFunction_Check(f) ? PyFunction_GET_CLOSURE(f) : NULL;
    PyObject *names =
        cells ? ((PyCodeObject *)PyFunction_GET_CODE(f))->co_localsplusnames : NULL;
    Py_ssize_t first = names ? PyTuple_GET_SIZE(names) - PyTuple_GET_SIZE(cells) : 0;
    for (Py_ssize_t i = 0; cells && i < PyTuple_GET_SIZE(cells); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, first + i),
                                             "typed") == 0)
            return PyCell_GET(PyTuple_GET_ITEM(cells, i)) == Py_True;
    return false;
}

/* As lru_cache_make_key: the argument itself if it is one int or str, else a tuple. *out NULL: not to be known.
 * parts: the arguments, in the order of the call. */
static Status cache_key(Tx *tx, const Args *a, bool typed, PyObject **parts,
                        PyObject **out)
{
    Py_ssize_t n = 0;
    *out = NULL;
    PyObject *t = tx_hold(
        tx, PyTuple_New((a->n + a->nkw) * (typed ? 2 : 1) + (a->nkw ? 1 + a->nkw : 0)));
    TRY_PTR(t);
    if (a->nkw && keyword_mark() == NULL)
        return ST_OK;
    for (int i = 0; i < a->n + a->nkw; i++) {
        TRY(key_part(tx, a->v[i], &parts[i]));
        if (parts[i] == NULL)
            return ST_OK;
        if (i == a->n)
            PyTuple_SET_ITEM(t, n++, Py_NewRef(keyword_mark()));
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

/* Entries of bounded caches are links, which show nothing; but the wrapper visits key, result and type of each of them, behind
 * its own type. */
typedef struct Links {
    PyObject *key, *result;
    int at;
    bool here;
} Links;

static int find_result(PyObject *o, void *arg)
{
    Links *l = arg;
    int place = l->at++ % 3;
    if (place == 2 && l->here && l->result == NULL)
        l->result = o;
    l->here = place == 1 && o == l->key;
    return 0;
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

static PyObject *entry_result(PyObject *wrapper, PyObject *cache, PyObject *entry)
{
    if (strcmp(Py_TYPE(entry)->tp_name, "functools._lru_list_elem") != 0)
        return entry;
    Links l = { .key = stored_key(cache, entry) };
    Py_TYPE(wrapper)->tp_traverse(wrapper, find_result, &l);
    return l.result;
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

static int find_object(PyObject *o, void *arg)
{
    PyObject **wanted = arg;
    if (o == *wanted)
        *wanted = NULL;
    return 0;
}

/* The Python function that the wrapper calls, or NULL. */
static PyObject *wrapped_of(PyObject *wrapper)
{
    PyObject **attrs = _PyObject_GetDictPtr(wrapper);
    PyObject *f = attrs && *attrs ? PyDict_GetItemString(*attrs, "__wrapped__") : NULL,
             *wanted = f;
    if (f && PyFunction_Check(f))
        Py_TYPE(wrapper)->tp_traverse(wrapper, find_object, &wanted);
    return wanted == NULL ? f : NULL;
}

/* A function that its trace shows to be one of its arguments alone may run at once, before the program is that far. */
static Status try_wrapped(Tx *tx, PyObject *wrapper, const Args *a)
{
    Trial t = { .args = a };
    size_t nodes = tx->graph.node.n;
    PyObject *f = wrapped_of(wrapper);
    Var *ignored;
    if (f == NULL)
        return graph_break(
            tx, BRK_UNKNOWN_CALL, "%s",
            "a function with lru_cache, not called with these arguments before");
    TRY(wrap_pinned(tx, f, NULL, &t.fn));
    Status st = run_closed(tx, try_call, &t, &ignored);
    if (st == ST_RAISE)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "a function with lru_cache that raises");
    TRY(st);
    if (tx->graph.node.n != nodes)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "a function with lru_cache that makes tensors");
    return ST_OK;
}

static Status fill_cache(Tx *tx, PyObject *wrapper, PyObject **parts, const Args *a)
{
    if (!availability_check(wrapper))
        TRY(try_wrapped(tx, wrapper, a));
    PyObject *kwnames = a->nkw ? a->kwnames : NULL;
    return tx_hold(tx, PyObject_Vectorcall(wrapper, parts, (size_t)a->n, kwnames))
               ? ST_OK
               : raise_now(tx);
}

static Status cached_value(Tx *tx, PyObject *wrapper, PyObject *cache, PyObject *entry,
                           Var **out)
{
    PyObject *key = stored_key(cache, entry); /* the check finds it by its address */
    PyObject *result = entry_result(wrapper, cache, entry);
    Source *dict = source_get(&tx->sources, SRC_CONST, NULL, tx_keep(tx, cache), 0);
    Source *item =
        dict ? source_get(&tx->sources, SRC_ITEM, dict, tx_keep(tx, key), 0) : NULL;
    TRY_PTR(item);
    if (result == NULL)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "a function with lru_cache");
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

static Status call_cached(Tx *tx, Var *fn, const Args *a, Var **out)
{
    PyObject *wrapper = fn->real, *cache = cache_of(wrapper), *key, *entry;
    PyObject **parts = tx_alloc(tx, (size_t)(a->n + a->nkw + 1) * sizeof *parts);
    TRY_PTR(parts);
    if (cache == NULL)
        return ST_DECLINE;
    TRY(cache_key(tx, a, is_typed(wrapper), parts, &key));
    if (key == NULL)
        return ST_DECLINE;
    entry = PyDict_GetItemWithError(cache, key);
    bool fresh = entry == NULL;
    if (entry == NULL && !PyErr_Occurred()) {
        TRY(fill_cache(tx, wrapper, parts, a));
        entry = PyDict_GetItemWithError(cache, key);
    }
    if (entry == NULL) {
        PyErr_Clear();
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "a function with lru_cache");
    }
    if (!availability_check(wrapper))
        TRY(count_hit(tx, fn, a, fresh));
    return cached_value(tx, wrapper, cache, entry, out);
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

Status match_object(Tx *tx, Var *fn, const Args *a, Var **out)
{
    const char *name = fn->type ? fn->type->tp_name : "";
    bool item = strcmp(name, "operator.itemgetter") == 0,
         attr = strcmp(name, "operator.attrgetter") == 0;
    bool method = strcmp(name, "operator.methodcaller") == 0,
         cached = strcmp(name, "functools._lru_cache_wrapper") == 0;
    bool numpy = strcmp(name, "numpy.ufunc") == 0 ||
                 strcmp(name, "numpy._ArrayFunctionDispatcher") == 0;
    PyObject *parts;
    if (fn->real && PyWeakref_CheckRefExact(fn->real))
        return call_weakref(tx, fn, a, out);
    if (fn->real == NULL || !(item || attr || method || cached || numpy))
        return ST_DECLINE;
    if (fn->src != NULL && fn->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, fn->src, fn->real));
    if (numpy)
        return call_numpy(tx, fn, a, out);
    if (cached)
        return call_cached(tx, fn, a, out);
    TRY(parts_of(tx, fn->real, &parts));
    return method ? call_methodcaller(tx, parts, a, out)
                  : call_getter(tx, parts, a, item, out);
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
