/*
 * builtin/dict.c -- dict, OrderedDict, defaultdict and their views: constructors and methods.
 */
#include "builtin/parts.h"

/* -- Filling ----------------------------------------------------------------------- */

static Status put_keywords(Tx *tx, DictVar *d, const Args *a)
{
    for (int i = 0; i < a->nkw; i++)
        TRY(dict_set_str(tx, d, PyTuple_GET_ITEM(a->kwnames, i), a->v[a->n + i]));
    return ST_OK;
}

/* The mapping or pairs at position `at`, then the keywords. */
static Status fill(Tx *tx, DictVar *d, const Args *a, int at)
{
    if (a->n > at)
        TRY(dict_merge(tx, d, a->v[at]));
    return put_keywords(tx, d, a);
}

static Status message_error(Tx *tx, const char *text)
{
    Var *message;
    TRY(const_str(tx, text, &message));
    return key_error(tx, message);
}

/* -- Constructors -------------------------------------------------------------------- */

static Status make(Tx *tx, PyTypeObject *t, const Args *a, int at, Var **out)
{
    DictVar *d;
    TRY(dict_make(tx, t, &d));
    TRY(fill(tx, d, a, at));
    *out = &d->v;
    return ST_OK;
}

static Status dict_(Tx *tx, const Args *a, Var **out)
{
    return make(tx, &PyDict_Type, a, 0, out);
}

static Status odict_(Tx *tx, const Args *a, Var **out)
{
    return make(tx, &PyODict_Type, a, 0, out);
}

static Status check_factory(Tx *tx, Var *f)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, f, &t));
    if (t == Py_TYPE(Py_None) || t->tp_call)
        return ST_OK;
    return raise_type(tx, PyExc_TypeError, "first argument must be callable or None");
}

static Status defaultdict_(Tx *tx, const Args *a, Var **out)
{
    DictVar *d;
    MEM(known_type(TY_DEFAULTDICT));
    if (a->n)
        TRY(check_factory(tx, a->v[0]));
    if (a->n > 2)
        return raise_type(tx, PyExc_TypeError, "dict expected at most 1 argument, got %d",
                          a->n - 1);
    TRY(dict_make(tx, known_types[TY_DEFAULTDICT], &d));
    d->factory = a->n ? a->v[0] : tx_none(tx);
    TRY(fill(tx, d, a, 1));
    *out = &d->v;
    return ST_OK;
}

/* defaultdict.__init__ of a subclass: the factory comes first. */
static Status defaultdict_init(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    if (d->v.real)
        return ST_DECLINE;
    if (a->n > 1)
        TRY(check_factory(tx, a->v[1]));
    SET(tx, d->factory, a->n > 1 ? a->v[1] : tx_none(tx));
    TRY(fill(tx, d, a, 2));
    return give_none(tx, out);
}

static Status dict_new_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t = class_arg(a, &PyDict_Type);
    if (t == NULL)
        return ST_DECLINE;
    if (t != &PyDict_Type && t != &PyODict_Type)
        return object_new(tx, t, out);
    return dict_make(tx, t, (DictVar **)out);
}

static Status dict_init(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    TRY(fill(tx, d, a, 1));
    return give_none(tx, out);
}

static Status put_each(Tx *tx, Var *d, Var *iterable, Var *value)
{
    Var *it, *key;
    TRY(var_iter(tx, iterable, &it));
    for (;;) {
        TRY(var_next(tx, it, &key));
        if (key == NULL)
            return ST_OK;
        TRY(var_setitem(tx, d, key, value));
    }
}

static Status fromkeys(Tx *tx, const Args *a, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    Var *d, *value = args_get(a, 2, "value");
    if (class_arg(a, &PyDict_Type) == NULL)
        return ST_DECLINE;
    TRY(var_call0(tx, a->v[0], &d));
    TRY(put_each(tx, d, a->v[1], value ? value : tx_none(tx)));
    *out = d;
    return ST_OK;
}

/* -- Reading -------------------------------------------------------------------------- */

static Status get(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *v;
    TRY(dict_lookup(tx, d, a->v[1], &v));
    *out = v ? v : a->n > 2 ? a->v[2] : tx_none(tx);
    return ST_OK;
}

static Status get_item(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    return dict_subscript(tx, d, a->v[0], a->v[1], out);
}

static Status contains(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *v;
    TRY(dict_lookup(tx, d, a->v[1], &v));
    return give_bool(tx, v != NULL, out);
}

static Status view(Tx *tx, const Args *a, char what, Var **out)
{
    SELF(d, DictVar, dict);
    return dictview_new(tx, &d->v, what, out);
}

static Status keys(Tx *tx, const Args *a, Var **out)
{
    return view(tx, a, 'k', out);
}

static Status values(Tx *tx, const Args *a, Var **out)
{
    return view(tx, a, 'v', out);
}

static Status items(Tx *tx, const Args *a, Var **out)
{
    return view(tx, a, 'i', out);
}

static Status copy(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    DictVar *made;
    TRY(dict_copy(tx, d, &PyDict_Type, &made));
    *out = &made->v;
    return ST_OK;
}

/* OrderedDict.copy and defaultdict.copy make their own kind; subclasses call their class. */
static Status copy_kind(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    DictVar *made;
    if (a->v[0] != &d->v)
        return ST_DECLINE;
    TRY(dict_copy(tx, d, d->v.type, &made));
    if (is_defaultdict(d))
        TRY(dict_factory(tx, d, &made->factory));
    *out = &made->v;
    return ST_OK;
}

static PyTypeObject *reverse_type(DictVar *d, char what)
{
    if (is_odict(d))
        return &PyODictIter_Type;
    return what == 'k'   ? &PyDictRevIterKey_Type
           : what == 'v' ? &PyDictRevIterValue_Type
                         : &PyDictRevIterItem_Type;
}

static Status backwards(Tx *tx, DictVar *d, Var *seq, char what, Var **out)
{
    Py_ssize_t n;
    IterVar *it;
    TRY(dict_count(tx, d, &n));
    TRY(iter_make(tx, reverse_type(d, what), seq, NULL, n, &it));
    it->step = -1;
    it->at = dict_end(d);
    *out = &it->v;
    return ST_OK;
}

static Status reversed(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    return backwards(tx, d, &d->v, 'k', out);
}

static Status view_reversed(Tx *tx, const Args *a, Var **out)
{
    SELF(w, DictViewVar, dictview);
    return backwards(tx, AS(DictVar, w->dict), &w->v, w->what, out);
}

/* -- Writing --------------------------------------------------------------------------- */

/* OrderedDict's methods go through a __setitem__ of a subclass. */
static Status own_setitem(Tx *tx, const Args *a, DictVar *d, bool *yes)
{
    PyObject *f = NULL;
    *yes = false;
    if (a->v[0] == &d->v || !is_odict(d))
        return ST_OK;
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__setitem__"));
    TRY_PTR(name);
    TRY(type_lookup(tx, a->v[0]->type, name, &f));
    *yes = f && PyFunction_Check(f);
    return ST_OK;
}

/* update() as collections.abc has it: through the object's __setitem__. */
static Status update_object(Tx *tx, const Args *a, Var **out)
{
    DictVar *all;
    KeyEntry *e;
    Py_ssize_t n;
    TRY(dict_make(tx, &PyODict_Type, &all));
    TRY(fill(tx, all, a, 1));
    TRY(dict_entries(tx, all, &e, &n));
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(var_setitem(tx, a->v[0], e[i].id, e[i].value));
    return give_none(tx, out);
}

static Status update(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    bool own;
    TRY(own_setitem(tx, a, d, &own));
    if (own)
        return update_object(tx, a, out);
    TRY(fill(tx, d, a, 1));
    return give_none(tx, out);
}

static Status setdefault(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *v, *value = args_get(a, 2, "default");
    TRY(dict_lookup(tx, d, a->v[1], &v));
    if (v == NULL) {
        v = value ? value : tx_none(tx);
        TRY(dict_put(tx, d, a->v[1], v));
    }
    *out = v;
    return ST_OK;
}

/* An empty dict has nothing to take out and asks for no hash: *absent. An OrderedDict does. */
static Status hash_popped(Tx *tx, DictVar *d, Var *key, PyObject **k, Py_hash_t *h,
                          bool *absent)
{
    Py_ssize_t n;
    *absent = false;
    Status st = var_hash(tx, key, k, h);
    if (st != ST_RAISE || is_odict(d))
        return st;
    Var *exc = tx->exc;
    TRY(dict_count(tx, d, &n));
    *absent = n == 0;
    if (n == 0)
        return exc_clear(tx), ST_OK;
    tx->exc = exc;
    return st;
}

static Status pop_(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *v = NULL, *value = args_get(a, 2, "default");
    PyObject *k;
    Py_hash_t h;
    bool was, absent;
    TRY(var_real(tx, &a->v[1]));
    TRY(hash_popped(tx, d, a->v[1], &k, &h, &absent));
    if (!absent)
        TRY(dict_find(tx, d, a->v[1], k, h, &v));
    if (v == NULL && value == NULL)
        return key_error(tx, a->v[1]);
    if (v != NULL)
        TRY(dict_remove(tx, d, a->v[1], k, h, &was));
    *out = v ? v : value;
    return ST_OK;
}

static Status pop_end(Tx *tx, DictVar *d, bool last, const char *empty, Var **out)
{
    DictPos p = { 0 };
    bool more, was;
    TRY(dict_open(tx, d));
    p.at = last ? dict_end(d) : 0;
    TRY(last ? dict_step_back(tx, d, &p, &more) : dict_step(tx, d, &p, &more));
    if (!more)
        return message_error(tx, empty);
    Var *pair[2] = { p.key, p.value };
    TRY(dict_remove(tx, d, p.key, p.entry->key, p.entry->hash, &was));
    return tuple_new(tx, pair, 2, out);
}

static Status popitem(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    return pop_end(tx, d, true, "popitem(): dictionary is empty", out);
}

static Status odict_popitem(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *last = args_get(a, 1, "last");
    bool yes = true;
    if (last)
        TRY(var_truth(tx, last, &yes));
    return pop_end(tx, d, yes, "dictionary is empty", out);
}

static Status clear(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    TRY(dict_clear(tx, d));
    return give_none(tx, out);
}

static Status move_to_front(Tx *tx, DictVar *d, PyObject *key, Var *k)
{
    KeyEntry *e, *moved;
    Py_ssize_t n, at = 0;
    TRY(dict_entries(tx, d, &e, &n));
    MEM(moved = tx_alloc(tx, sizeof *moved * (size_t)(n + 1)));
    for (Py_ssize_t i = 0, to = 1; i < n; i++) {
        bool it = key ? e[i].key == key : e[i].id == k;
        if (it)
            at = i;
        else
            moved[to++] = e[i];
    }
    moved[0] = e[at];
    return dict_rewrite(tx, d, moved, n);
}

/* KeyError(*key), as PyErr_SetObject makes it: a tuple gives the arguments, None none. */
static Status raw_key_error(Tx *tx, Var *key)
{
    Var **items = &key, *e;
    Py_ssize_t n = 1;
    bool known;
    TRY(var_real(tx, &key));
    if (key->kind == &kind_const && key->real == Py_None)
        n = 0;
    else if (PyType_IsSubtype(key->type, &PyTuple_Type))
        TRY(items_peek(tx, key, &items, &n, &known));
    TRY(exc_new(tx, (PyTypeObject *)PyExc_KeyError, items, n, &e));
    return raise_var(tx, e);
}

static Status odict_pop(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *v;
    TRY(dict_lookup(tx, d, a->v[1], &v));
    return v || args_get(a, 2, "default") ? pop_(tx, a, out) : raw_key_error(tx, a->v[1]);
}

static Status move_to_end(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *last = args_get(a, 2, "last"), *v;
    PyObject *k;
    Py_hash_t h;
    bool yes = true;
    if (last)
        TRY(var_truth(tx, last, &yes));
    TRY(var_real(tx, &a->v[1]));
    TRY(var_hash(tx, a->v[1], &k, &h));
    TRY(dict_find(tx, d, a->v[1], k, h, &v));
    if (v == NULL)
        return raw_key_error(tx, a->v[1]);
    TRY(dict_move_last(tx, d, a->v[1], k, h, v));
    if (!yes)
        TRY(move_to_front(tx, d, k, a->v[1]));
    return give_none(tx, out);
}

static Status missing(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *f, *v;
    if (!is_defaultdict(d))
        return ST_DECLINE;
    TRY(dict_factory(tx, d, &f));
    if (f->kind == &kind_const && f->real == Py_None)
        return key_error(tx, a->v[1]);
    TRY(var_call0(tx, f, &v));
    TRY(var_setitem(tx, a->v[0], a->v[1], v));
    *out = v;
    return ST_OK;
}

/* collections.Counter's inner loop: mapping[elem] = mapping.get(elem, 0) + 1 */
/* Is the method the one of dict, for the class of v? */
static Status has_dict_method(Tx *tx, Var *v, const char *which, bool *yes)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString(which)), *f;
    PyTypeObject *t;
    MEM(name);
    TRY(var_type_of(tx, v, &t));
    TRY(type_lookup(tx, t, name, &f));
    *yes = f == PyDict_GetItem(PyDict_Type.tp_dict, name);
    return ST_OK;
}

static Status count_elements(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    Var *it, *item, *n, *zero, *one;
    bool plain;
    TRY(has_dict_method(tx, a->v[0], "get", &plain));
    if (plain)
        TRY(has_dict_method(tx, a->v[0], "__setitem__", &plain));
    if (!plain)
        return ST_DECLINE;
    TRY(const_int(tx, 0, &zero));
    TRY(const_int(tx, 1, &one));
    TRY(var_iter(tx, a->v[1], &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return give_none(tx, out);
        TRY(dict_lookup(tx, d, item, &n));
        TRY(var_binary(tx, n ? n : zero, one, BINOP_ADD, &n));
        TRY(dict_put(tx, d, item, n));
    }
}

/* -- Operators by name, views ------------------------------------------------------------- */

static Status or_(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    return kind_dict.binary(tx, &d->v, a->v[1], BINOP_OR, false, out);
}

static Status ior(Tx *tx, const Args *a, Var **out)
{
    SELF(d, DictVar, dict);
    TRY(dict_merge(tx, d, a->v[1]));
    *out = a->v[0];
    return ST_OK;
}

static Status view_disjoint(Tx *tx, const Args *a, Var **out)
{
    SELF(w, DictViewVar, dictview);
    bool yes;
    TRY(dictview_disjoint(tx, &w->v, a->v[1], &yes));
    return give_bool(tx, yes, out);
}

/* -- mappingproxy: what the mapping says -------------------------------------------------- */

static Status proxy_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, a->v[0], &t));
    return PyType_IsSubtype(t, &PyDict_Type) ? proxy_new(tx, a->v[0], out) : ST_DECLINE;
}

static Status ask_mapping(Tx *tx, const Args *a, const char *method, Var **out)
{
    SELF(p, ProxyVar, proxy);
    Args rest = args_tail(a, 1);
    return var_call_method(tx, p->mapping, method, rest.v, rest.n, out);
}

#define ASK(name)                                                                        \
    static Status proxy_##name(Tx *tx, const Args *a, Var **out)                         \
    {                                                                                    \
        return ask_mapping(tx, a, #name, out);                                           \
    }
ASK(get)
ASK(keys)
ASK(values)
ASK(items)
ASK(copy)
#undef ASK

/* dict's own methods on an OrderedDict go behind its back. */
static Status of_plain_dict(Tx *tx, const Args *a, Var **out)
{
    if (a->n < 1)
        return ST_DECLINE;
    SELF(d, DictVar, dict);
    return is_odict(d)
               ? graph_break(tx, BRK_NO_SLOT, "%s", "a dict's method on an OrderedDict")
               : ST_DECLINE;
}

/* -- The table -------------------------------------------------------------------------------- */

const Handler handlers_dict[] = {
    { "types.MappingProxyType", 1, 1, proxy_, NULL },
    { "types.MappingProxyType.get", 2, 3, proxy_get, NULL },
    { "types.MappingProxyType.keys", 1, 1, proxy_keys, NULL },
    { "types.MappingProxyType.values", 1, 1, proxy_values, NULL },
    { "types.MappingProxyType.items", 1, 1, proxy_items, NULL },
    { "types.MappingProxyType.copy", 1, 1, proxy_copy, NULL },
    { "builtins.dict", 0, 1, dict_, ANY_KW },
    { "builtins.dict.__new__", 1, -1, dict_new_, ANY_KW },
    { "builtins.dict.__init__", 1, 2, dict_init, ANY_KW },
    { "builtins.dict.fromkeys", 2, 3, fromkeys, NULL },
    { "builtins.dict.get", 2, 3, get, NULL },
    { "builtins.dict.setdefault", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.setdefault", 2, 3, setdefault, NULL },
    { "builtins.dict.pop", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.pop", 2, 3, pop_, NULL },
    { "builtins.dict.popitem", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.popitem", 1, 1, popitem, NULL },
    { "builtins.dict.update", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.update", 1, 2, update, ANY_KW },
    { "builtins.dict.keys", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.keys", 1, 1, keys, NULL },
    { "builtins.dict.values", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.values", 1, 1, values, NULL },
    { "builtins.dict.items", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.items", 1, 1, items, NULL },
    { "builtins.dict.copy", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.copy", 1, 1, copy, NULL },
    { "builtins.dict.clear", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.clear", 1, 1, clear, NULL },
    { "builtins.dict.__getitem__", 2, 2, get_item, NULL },
    { "builtins.dict.__contains__", 2, 2, contains, NULL },
    { "builtins.dict.__reversed__", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.__reversed__", 1, 1, reversed, NULL },
    { "builtins.dict.__or__", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.__or__", 2, 2, or_, NULL },
    { "builtins.dict.__ior__", 0, -1, of_plain_dict, ANY_KW },
    { "builtins.dict.__ior__", 2, 2, ior, NULL },
    { "collections.OrderedDict", 0, 1, odict_, ANY_KW },
    { "collections.OrderedDict.__init__", 1, 2, update, ANY_KW },
    { "collections.OrderedDict.fromkeys", 2, 3, fromkeys, "value" },
    { "collections.OrderedDict.setdefault", 2, 3, setdefault, "default" },
    { "collections.OrderedDict.pop", 2, 3, odict_pop, "default" },
    { "collections.OrderedDict.popitem", 1, 2, odict_popitem, "last" },
    { "collections.OrderedDict.move_to_end", 2, 3, move_to_end, "last" },
    { "collections.OrderedDict.update", 1, 2, update, ANY_KW },
    { "collections.OrderedDict.keys", 1, 1, keys, NULL },
    { "collections.OrderedDict.values", 1, 1, values, NULL },
    { "collections.OrderedDict.items", 1, 1, items, NULL },
    { "collections.OrderedDict.copy", 1, 1, copy_kind, NULL },
    { "collections.OrderedDict.clear", 1, 1, clear, NULL },
    { "collections.OrderedDict.__reversed__", 1, 1, reversed, NULL },
    { "collections.defaultdict", 0, -1, defaultdict_, ANY_KW },
    { "collections.defaultdict.__init__", 1, 3, defaultdict_init, ANY_KW },
    { "collections.defaultdict.copy", 1, 1, copy_kind, NULL },
    { "collections.defaultdict.__copy__", 1, 1, copy_kind, NULL },
    { "collections.defaultdict.__missing__", 2, 2, missing, NULL },
    { "_collections._count_elements", 2, 2, count_elements, NULL },
    { "_collections_abc.dict_keys.isdisjoint", 2, 2, view_disjoint, NULL },
    { "_collections_abc.dict_items.isdisjoint", 2, 2, view_disjoint, NULL },
    { "_collections_abc.dict_keys.__reversed__", 1, 1, view_reversed, NULL },
    { "_collections_abc.dict_values.__reversed__", 1, 1, view_reversed, NULL },
    { "_collections_abc.dict_items.__reversed__", 1, 1, view_reversed, NULL },
    { 0 },
};
