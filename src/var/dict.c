/*
 * var/dict.c -- dictionaries as values: keys by Var, missing keys, the slots, text. Storage is in dictstore.c.
 */
#include "var/container.h"

/* -- By Var ---------------------------------------------------------------------------- */

/* Strings and ints without asking the kind. */
static inline Status hash_of(Tx *tx, Var **key, PyObject **k, Py_hash_t *h)
{
    if ((*key)->kind == &kind_const && (*key)->real) {
        PyObject *real = (*key)->real;
        if (PyUnicode_CheckExact(real))
            return *k = real, *h = str_hash(real), ST_OK;
        if (PyLong_CheckExact(real))
            return *k = real, *h = PyObject_Hash(real), ST_OK;
    }
    TRY(var_real(tx, key));
    return var_hash(tx, *key, k, h);
}

Status dict_lookup(Tx *tx, DictVar *d, Var *key, Var **out)
{
    PyObject *k;
    Py_hash_t h;
    TRY(hash_of(tx, &key, &k, &h));
    return dict_find(tx, d, key, k, h, out);
}

Status dict_put(Tx *tx, DictVar *d, Var *key, Var *value)
{
    PyObject *k;
    Py_hash_t h;
    Var *given = key; /* the program's own object, where one equal to it is known */
    TRY(hash_of(tx, &key, &k, &h));
    return dict_store(tx, d, k ? given : key, k, h, value);
}

Status key_error(Tx *tx, Var *key)
{
    Var *e;
    TRY(exc_new(tx, (PyTypeObject *)PyExc_KeyError, &key, 1, &e));
    return raise_var(tx, e);
}

Status dict_factory(Tx *tx, DictVar *d, Var **out)
{
    if (d->factory == NULL && d->v.real != NULL) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString("default_factory"));
        Source *s = source_of(tx, &d->v);
        MEM(name && s);
        MEM(s = source_get(&tx->sources, SRC_GETSET, s, name, 0));
        PyObject *real = tx_hold(tx, PyObject_GenericGetAttr(d->v.real, name));
        TRY_PTR(real);
        Var *f;
        TRY(lazy_new(tx, real, s, &f));
        SET(tx, d->factory, f);
    }
    *out = d->factory ? d->factory : tx_none(tx);
    return var_real(tx, out);
}

static Status make_default(Tx *tx, DictVar *d, Var *key, Var **out)
{
    Var *f, *v;
    TRY(dict_factory(tx, d, &f));
    if (f->kind == &kind_const && f->real == Py_None)
        return key_error(tx, key);
    TRY(var_call0(tx, f, &v));
    TRY(dict_put(tx, d, key, v));
    *out = v;
    return ST_OK;
}

Status dict_subscript(Tx *tx, DictVar *d, Var *self, Var *key, Var **out)
{
    Var *v;
    TRY(dict_lookup(tx, d, key, &v));
    if (v != NULL)
        return *out = v, ST_OK;
    if (self != NULL && self != &d->v) {
        TRY(var_call_special(tx, self, "__missing__", &key, 1, &v));
        return v ? (*out = v, ST_OK) : key_error(tx, key);
    }
    return is_defaultdict(d) ? make_default(tx, d, key, out) : key_error(tx, key);
}

/* -- Slots -------------------------------------------------------------------------------- */

static bool changed(DictVar *d)
{
    return d->writes.n || d->dels.n;
}

static Status dict_len(Tx *tx, Var *self, Var **out)
{
    DictVar *d = AS(DictVar, self);
    Py_ssize_t n;
    if (!d->open && d->owner == NULL && self->real && !changed(d)) {
        PyObject *len = tx_hold(tx, PyLong_FromSsize_t(PyDict_GET_SIZE(self->real)));
        Source *src = source_of(tx, self);
        MEM(len && src);
        Expr *e = expr_len(&tx->exprs, src, len);
        MEM(e);
        return scalar_new(tx, e, out);
    }
    TRY(dict_count(tx, d, &n));
    return const_int(tx, n, out);
}

static Status dict_truth(Tx *tx, Var *self, bool *yes)
{
    DictVar *d = AS(DictVar, self);
    Py_ssize_t n;
    if (!d->open && d->owner == NULL && self->real && !d->dels.n) {
        *yes = d->writes.n > 0 || PyDict_GET_SIZE(self->real) > 0;
        Source *src = source_of(tx, self);
        MEM(src);
        return d->writes.n ? ST_OK : guard_num(&tx->guards, GUARD_NONEMPTY, src, *yes);
    }
    TRY(dict_count(tx, d, &n));
    *yes = n > 0;
    return ST_OK;
}

static Status dict_iter(Tx *tx, Var *self, Var **out)
{
    DictVar *d = AS(DictVar, self);
    Py_ssize_t n;
    TRY(dict_count(tx, d, &n));
    return iter_new(tx, is_odict(d) ? &PyODictIter_Type : &PyDictIterKey_Type, self, NULL,
                    n, out);
}

static Status dict_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    return dict_subscript(tx, AS(DictVar, self), self, key, out);
}

static Status dict_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    if (value != NULL)
        return dict_put(tx, AS(DictVar, self), key, value);
    PyObject *k;
    Py_hash_t h;
    bool was;
    TRY(hash_of(tx, &key, &k, &h));
    TRY(dict_remove(tx, AS(DictVar, self), key, k, h, &was));
    return was ? ST_OK : key_error(tx, key);
}

static Status dict_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    Var *v;
    TRY(dict_lookup(tx, AS(DictVar, self), item, &v));
    *yes = v != NULL;
    return ST_OK;
}

static Status same_order(Tx *tx, DictVar *a, DictVar *b, bool *yes)
{
    DictPos p = { 0 }, q = { 0 };
    bool more, other;
    for (*yes = true; *yes;) {
        TRY(dict_step(tx, a, &p, &more));
        TRY(dict_step(tx, b, &q, &other));
        if (!more || !other)
            return ST_OK;
        TRY(item_equal(tx, p.key, q.key, yes));
    }
    return ST_OK;
}

static Status same_items(Tx *tx, DictVar *a, DictVar *b, bool *yes)
{
    Py_ssize_t na, nb;
    TRY(dict_count(tx, a, &na));
    TRY(dict_count(tx, b, &nb));
    DictPos p = { 0 };
    bool more;
    for (*yes = na == nb; *yes;) {
        Var *v;
        TRY(dict_step(tx, a, &p, &more));
        if (!more)
            break;
        TRY(dict_find(tx, b, p.key, p.entry->key, p.entry->hash, &v));
        *yes = v != NULL;
        if (v != NULL)
            TRY(item_equal(tx, p.value, v, yes));
    }
    return *yes && is_odict(a) && is_odict(b) ? same_order(tx, a, b, yes) : ST_OK;
}

static Status dict_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    TRY(var_real(tx, &other));
    Var *c = var_content(other);
    *out = tx_notimpl(tx);
    if ((op != Py_EQ && op != Py_NE) || c == NULL || c->kind != &kind_dict)
        return ST_OK;
    bool yes;
    TRY(same_items(tx, AS(DictVar, self), AS(DictVar, c), &yes));
    *out = tx_bool(tx, yes == (op == Py_EQ));
    return ST_OK;
}

/* A result has the left dict's type, but a subclass on the right wins over a plain dict. */
static Status dict_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    *out = tx_notimpl(tx);
    DictVar *d = AS(DictVar, self), *made;
    if (op == IN_PLACE(OR) && !reflected) {
        TRY(dict_merge(tx, d, other));
        *out = self;
        return ST_OK;
    }
    TRY(var_real(tx, &other));
    Var *c = var_content(other);
    if (op != BINOP_OR || c == NULL || c->kind != &kind_dict)
        return ST_OK;
    if (reflected && other->type != &PyDict_Type && !is_odict(AS(DictVar, c)) &&
        !is_defaultdict(AS(DictVar, c))) /* its inherited method comes first */
        return graph_break(tx, BRK_NO_SLOT, "%s | %s", other->type->tp_name,
                           self->type->tp_name);
    if (reflected ? self->type == &PyDict_Type
                  : self->type == &PyDict_Type && c->type != &PyDict_Type &&
                        (is_odict(AS(DictVar, c)) || is_defaultdict(AS(DictVar, c))))
        return ST_OK;
    TRY(dict_copy(tx, reflected ? AS(DictVar, c) : d, self->type, &made));
    if (is_defaultdict(d))
        TRY(dict_factory(tx, d, &made->factory));
    TRY(dict_merge(tx, made, reflected ? &d->v : c));
    *out = &made->v;
    return ST_OK;
}

static Status dict_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    return raise_type(tx, PyExc_TypeError, "unhashable type: '%.200s'",
                      self->type->tp_name);
}

/* -- Text ------------------------------------------------------------------------------------ */

static Status text_of(Tx *tx, Var *v, PyObject **out)
{
    Var *r;
    TRY(var_repr(tx, v, &r));
    TRY(var_const(tx, r, out));
    return *out ? ST_OK : graph_break(tx, BRK_NO_SLOT, "text of %s", type_name(tx, v));
}

static Status join_items(Tx *tx, DictVar *d, const char *format, PyObject **out)
{
    PyObject *parts = tx_hold(tx, PyList_New(0));
    TRY_PTR(parts);
    DictPos p = { 0 };
    bool more;
    TRY(dict_open(tx, d));
    for (;;) {
        PyObject *k, *v;
        TRY(dict_step(tx, d, &p, &more));
        if (!more)
            break;
        TRY(text_of(tx, p.key, &k));
        TRY(text_of(tx, p.value, &v));
        PyObject *part = tx_hold(tx, PyUnicode_FromFormat(format, k, v));
        TRY_PTR(part);
        MEM(PyList_Append(parts, part) == 0);
    }
    PyObject *comma = tx_hold(tx, PyUnicode_FromString(", "));
    TRY_PTR(comma);
    *out = tx_hold(tx, PyUnicode_Join(comma, parts));
    return *out ? ST_OK : ST_ERROR;
}

static Status repr_plain(Tx *tx, DictVar *d, Var **out)
{
    PyObject *inner;
    const char *t = d->v.type->tp_name, *dot = strrchr(t, '.');
    if (!is_odict(d)) {
        TRY(join_items(tx, d, "%U: %U", &inner));
        return const_new(tx, PyUnicode_FromFormat("{%U}", inner), out);
    }
    t = dot ? dot + 1 : t;
    TRY(join_items(tx, d, "(%U, %U)", &inner));
    if (PyUnicode_GET_LENGTH(inner) == 0)
        return const_new(tx, PyUnicode_FromFormat("%s()", t), out);
    return const_new(tx, PyUnicode_FromFormat("%s([%U])", t, inner), out);
}

static Status repr_guarded(Tx *tx, DictVar *d, Var **out)
{
    ReprMark mark;
    if (!repr_enter(&mark, &d->v))
        return const_str(tx, is_odict(d) ? "..." : "{...}", out);
    Status st = repr_plain(tx, d, out);
    repr_leave(&mark);
    return st;
}

static Status dict_repr(Tx *tx, Var *self, bool str, Var **out)
{
    DictVar *d = AS(DictVar, self);
    PyObject *inner, *factory;
    Var *f;
    TRY(repr_guarded(tx, d, out));
    if (!is_defaultdict(d))
        return ST_OK;
    TRY(var_const(tx, *out, &inner));
    TRY(dict_factory(tx, d, &f));
    TRY(text_of(tx, f, &factory));
    const char *t = self->type->tp_name, *dot = strrchr(t, '.');
    return const_new(
        tx, PyUnicode_FromFormat("%s(%U, %U)", dot ? dot + 1 : t, factory, inner), out);
}

/* -- Attributes of defaultdict ------------------------------------------------------------------ */

static bool names_factory(Var *self, PyObject *name)
{
    return self->type != &PyDict_Type && is_defaultdict(AS(DictVar, self)) &&
           PyUnicode_CompareWithASCIIString(name, "default_factory") == 0;
}

static Status dict_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    if (names_factory(self, name))
        return dict_factory(tx, AS(DictVar, self), out);
    return var_generic_getattr(tx, self, name, out);
}

static Status dict_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    if (!names_factory(self, name))
        return var_generic_setattr(tx, self, name, value);
    if (self->real)
        return graph_break(tx, BRK_NO_SLOT, "default_factory of an existing defaultdict");
    SET(tx, AS(DictVar, self)->factory, value ? value : tx_none(tx));
    return ST_OK;
}

/* -- The kind ------------------------------------------------------------------------------------- */

const VarKind kind_dict = {
    .name = "dict",
    .id = KIND_dict,
    .getattr = dict_getattr,
    .setattr = dict_setattr,
    .iter = dict_iter,
    .len = dict_len,
    .getitem = dict_getitem,
    .setitem = dict_setitem,
    .contains = dict_contains,
    .truth = dict_truth,
    .compare = dict_compare,
    .binary = dict_binary,
    .hash = dict_hash,
    .repr = dict_repr,
};
