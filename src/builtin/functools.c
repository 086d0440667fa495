/*
 * builtin/functools.c -- functools, and objects of C classes that are callables by themselves (itemgetter, lru_cache).
 *
 * lru_cache (rule 22): a call whose key is in the cache is its value, guarded by "the cache has that value under this
 * key"; counters and order of use of such hits are not kept (docs/limits.md). A call that would run the function breaks, so that
 * it runs for real and fills the cache; only pure availability checks of libraries run while tracing.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/consts.h"
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
    TRY(var_iter(tx, a->v[1], &it));
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
        return raise_type(tx, PyExc_TypeError, "reduce() of empty iterable with no initial value");
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

static Status itemgetter(Tx *tx, const Args *a, Var **out) { return make_getter(tx, "itemgetter", a, out); }
static Status attrgetter(Tx *tx, const Args *a, Var **out) { return make_getter(tx, "attrgetter", a, out); }
static Status methodcaller(Tx *tx, const Args *a, Var **out) { return make_getter(tx, "methodcaller", a, out); }

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
    return var_call_method(tx, a->v[0], PyUnicode_AsUTF8(PyTuple_GET_ITEM(spec, 0)), v, (int)n, out);
}

/* -- lru_cache ---------------------------------------------------------------- */

/* Objects that are equal to nothing but themselves, so that a look into the cache runs no user code. */
static bool by_identity(PyObject *o)
{
    return Py_TYPE(o)->tp_hash == PyBaseObject_Type.tp_hash && Py_TYPE(o)->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

static Status key_part(Tx *tx, Var *v, PyObject **out)
{
    TRY(fold_value(tx, v, out));
    if (*out != NULL)
        return ST_OK;
    TRY(var_real(tx, &v));
    if (v->real == NULL || v->kind == &kind_tensor || !by_identity(v->real))
        return ST_OK;
    if (v->src != NULL && v->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, v->src, v->real));
    *out = v->real;
    return ST_OK;
}

/* As lru_cache_make_key without `typed`: the argument itself if it is one int or str, else a tuple. *out NULL: not to be known. */
static Status cache_key(Tx *tx, const Args *a, PyObject **out)
{
    *out = NULL;
    PyObject *t = tx_hold(tx, PyTuple_New(a->n));
    TRY_PTR(t);
    for (int i = 0; i < a->n; i++) {
        PyObject *o;
        TRY(key_part(tx, a->v[i], &o));
        if (o == NULL)
            return ST_OK;
        PyTuple_SET_ITEM(t, i, Py_NewRef(o));
    }
    PyObject *only = a->n == 1 ? PyTuple_GET_ITEM(t, 0) : NULL;
    *out = only && (PyLong_CheckExact(only) || PyUnicode_CheckExact(only)) ? only : t;
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
    static const char *const modules[] = { "transformers.utils.import_utils", "transformers.utils.generic",
                                           "torch.utils._triton", "accelerate.utils.imports" };
    PyObject **attrs = _PyObject_GetDictPtr(wrapper);
    PyObject *m = attrs && *attrs ? PyDict_GetItemString(*attrs, "__module__") : NULL;
    for (size_t i = 0; m && PyUnicode_Check(m) && i < COUNT_OF(modules); i++)
        if (PyUnicode_CompareWithASCIIString(m, modules[i]) == 0)
            return true;
    return false;
}

static Status fill_cache(Tx *tx, PyObject *wrapper, const Args *a)
{
    PyObject *v[8];
    if (!availability_check(wrapper) || a->n > 8)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "a function with lru_cache, not called with these arguments before");
    for (int i = 0; i < a->n; i++)
        TRY(key_part(tx, a->v[i], &v[i]));
    return tx_hold(tx, PyObject_Vectorcall(wrapper, v, (size_t)a->n, NULL)) ? ST_OK : raise_now(tx);
}

static Status cached_value(Tx *tx, PyObject *wrapper, PyObject *cache, PyObject *key, PyObject *entry, Var **out)
{
    PyObject *result = entry_result(wrapper, cache, entry);
    Source *dict = source_get(&tx->sources, SRC_CONST, NULL, tx_keep(tx, cache), 0);
    Source *item = dict ? source_get(&tx->sources, SRC_ITEM, dict, tx_keep(tx, key), 0) : NULL;
    TRY_PTR(item);
    if (result == NULL)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "a function with lru_cache");
    TRY(guard_is(&tx->guards, item, tx_keep(tx, entry)));
    return wrap_pinned(tx, tx_keep(tx, result), result == entry ? item : NULL, out);
}

static Status call_cached(Tx *tx, Var *fn, const Args *a, Var **out)
{
    PyObject *wrapper = fn->real, *cache = cache_of(wrapper), *key, *entry;
    if (a->nkw || cache == NULL)
        return ST_DECLINE;
    TRY(cache_key(tx, a, &key));
    if (key == NULL)
        return ST_DECLINE;
    entry = PyDict_GetItemWithError(cache, key);
    if (entry == NULL && !PyErr_Occurred()) {
        TRY(fill_cache(tx, wrapper, a));
        entry = PyDict_GetItemWithError(cache, key);
    }
    if (entry == NULL) {
        PyErr_Clear();
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "a function with lru_cache");
    }
    return cached_value(tx, wrapper, cache, key, entry, out);
}

/* -- Existing callables of C classes -------------------------------------------- */

static Status parts_of(Tx *tx, PyObject *o, PyObject **args)
{
    PyObject *r = tx_hold(tx, PyObject_CallMethod(o, "__reduce__", NULL));
    TRY_PTR(r);
    *args = PyTuple_GET_ITEM(r, 1); /* a methodcaller with keywords is a partial of its class */
    return PyTuple_GET_ITEM(r, 0) == (PyObject *)Py_TYPE(o) ? ST_OK : ST_DECLINE;
}

Status match_object(Tx *tx, Var *fn, const Args *a, Var **out)
{
    const char *name = fn->type ? fn->type->tp_name : "";
    bool item = strcmp(name, "operator.itemgetter") == 0, attr = strcmp(name, "operator.attrgetter") == 0;
    bool method = strcmp(name, "operator.methodcaller") == 0, cached = strcmp(name, "functools._lru_cache_wrapper") == 0;
    PyObject *parts;
    if (fn->real == NULL || !(item || attr || method || cached))
        return ST_DECLINE;
    if (fn->src != NULL && fn->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, fn->src, fn->real));
    if (cached)
        return call_cached(tx, fn, a, out);
    TRY(parts_of(tx, fn->real, &parts));
    return method ? call_methodcaller(tx, parts, a, out) : call_getter(tx, parts, a, item, out);
}

/* -- The rows --------------------------------------------------------------- */

const Handler handlers_functools[] = {
    { "functools.partial", 1, -1, partial, ANY_KW },
    { "_functools.reduce", 2, 3, reduce, NULL },
    { "_operator.itemgetter", 1, -1, itemgetter, NULL },
    { "_operator.attrgetter", 1, -1, attrgetter, NULL },
    { "_operator.methodcaller", 1, -1, methodcaller, NULL },
    { 0 },
};
