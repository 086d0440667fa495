/*
 * var/weak.c -- weakref.ref and weakref.proxy, made by the trace.
 *
 * Takes: the object. Gives: the object again, as long as it is certain that the program still holds it (alive.c); else that is a break.
 * Holds: an object has one plain reference and one plain proxy. A reference with a callback is modelled if that only takes the dead one out
 * of one of the library's own collections, and if the object is still there when the trace ends.
 */
#include "var/weak.h"

#include "var/made.h"
#include "var/names.h"
#include "var/wrap.h"

/* -- Making ------------------------------------------------------------------------ */

static const char *const removers[] = {
    "WeakSet.__init__.<locals>._remove",
    "WeakKeyDictionary.__init__.<locals>.remove",
    "WeakValueDictionary.__init__.<locals>.remove",
};

/* A function of weakref.py or _weakrefset.py that only removes the dead reference. */
static bool is_remover(Var *callback)
{
    if (callback->kind != &kind_func)
        return false;
    PyCodeObject *co = AS(FuncVar, callback)->co;
    const char *file = PyUnicode_AsUTF8(co->co_filename);
    const char *name = file ? strrchr(file, '/') : NULL;
    if (name == NULL || (strcmp(name, "/weakref.py") && strcmp(name, "/_weakrefset.py")))
        return false;
    for (size_t i = 0; i < COUNT_OF(removers); i++)
        if (PyUnicode_CompareWithASCIIString(co->co_qualname, removers[i]) == 0)
            return true;
    return false;
}

static const VarKind *kind_of(bool proxy)
{
    return proxy ? &kind_weakproxy : &kind_weakref;
}

static WeakVar *latest_to(Tx *tx, Var *of)
{
    void *w = NULL;
    ptrmap_get(&tx->weak_to, of, &w);
    return w;
}

/* The plain one there is already. */
static WeakVar *plain_of(Tx *tx, Var *of, bool proxy)
{
    WeakVar *w = latest_to(tx, of);
    while (w && (w->callback || w->v.kind != kind_of(proxy)))
        w = w->before;
    return w;
}

static PyTypeObject *type_for(Var *of, bool proxy)
{
    if (!proxy)
        return &_PyWeakref_RefType;
    return of->type->tp_call ? &_PyWeakref_CallableProxyType : &_PyWeakref_ProxyType;
}

static uintptr_t drops(Tx *tx)
{
    return tx->weak_drops + tx->holder_drops;
}

Status weak_new(Tx *tx, Var *of, Var *callback, bool proxy, Var **out)
{
    TRY(var_real(tx, &of));
    if (callback)
        TRY(var_real(tx, &callback));
    if (callback == tx_none(tx))
        callback = NULL;
    if (of->kind == &kind_tensor || of->kind == &kind_gen || of->kind == &kind_weakproxy)
        return ST_DECLINE;
    if (!PyType_SUPPORTS_WEAKREFS(of->type))
        return raise_type(tx, PyExc_TypeError,
                          "cannot create weak reference to '%s' object",
                          of->type->tp_name);
    if (callback && !is_remover(callback))
        return graph_break(tx, BRK_WEAK, "%s", "with a callback");
    WeakVar *w = callback ? NULL : plain_of(tx, of, proxy);
    if (w == NULL) {
        TRY(var_make(tx, kind_of(proxy), sizeof *w, type_for(of, proxy), (Var **)&w));
        w->of = of;
        w->callback = callback;
        w->drops = drops(tx);
        w->before = latest_to(tx, of);
        MEM(ptrmap_put(&tx->weak_to, &tx->arena, &tx->journal, of, w));
        MEM(VEC_PUSH(&tx->arena, &tx->journal, &tx->weaks, w));
    }
    *out = &w->v;
    return ST_OK;
}

Status weak_wrap(Tx *tx, PyObject *proxy, Source *src, Var **out)
{
    WeakVar *w;
    Source *s = source_get(&tx->sources, SRC_REFERENT, src, NULL, 0);
    PyObject *of = tx_keep(tx, PyWeakref_GET_OBJECT(proxy));
    MEM(s && of);
    TRY(guard_type(&tx->guards, src, Py_TYPE(proxy)));
    TRY(VAR_MAKE(tx, weakproxy, WeakVar, Py_TYPE(proxy), &w));
    w->drops = drops(tx);
    TRY(lazy_new(tx, of, s, &w->of));
    *out = &w->v;
    return ST_OK;
}

Status weak_kept(Tx *tx, Var *value)
{
    PtrMap seen;
    bool marked = false;
    for (size_t i = 0; i < tx->weaks.n; i++) {
        WeakVar *w = tx->weaks.v[i];
        if (w->callback == NULL)
            continue;
        if (!marked)
            TRY(alive_mark(tx, value, &seen));
        marked = true;
        if (alive_in(&seen, w->of))
            continue;
        Status st = graph_break(tx, BRK_WEAK, "a %s with a callback goes in the trace",
                                w->of->type->tp_name);
        tx->brk.born = w->v.born;
        return st;
    }
    return ST_OK;
}

/* It was there before the trace. */
static bool existed(Var *v)
{
    return v->real != NULL && !is_made_class(v);
}

/* -- Asking ------------------------------------------------------------------------ */

Status weak_referent(Tx *tx, Var *self, Var **of)
{
    bool yes;
    *of = AS(WeakVar, self)->of;
    TRY(var_real(tx, of));
    if (existed(*of) && drops(tx) != AS(WeakVar, self)->drops)
        return graph_break(tx, BRK_FINALIZER, "%s", "a weak reference, behind a drop");
    TRY(alive(tx, *of, &yes));
    if (!yes)
        return graph_break(tx, BRK_WEAK, "to a %s", (*of)->type->tp_name);
    return ST_OK;
}

static Status ref_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    if (a->nkw)
        return raise_type(tx, PyExc_TypeError, "weakref() takes no keyword arguments");
    if (a->n)
        return raise_type(tx, PyExc_TypeError, "weakref expected 0 arguments, got %d",
                          a->n);
    return weak_referent(tx, self, out);
}

static Status ref_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    if (name == str___class__)
        return wrap_pinned(tx, (PyObject *)self->type, NULL, out);
    return graph_break(tx, BRK_UNKNOWN_TYPE, "attribute '%U' of a weak reference", name);
}

static Status ref_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status ref_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    *out = tx_notimpl(tx);
    if (op != Py_EQ && op != Py_NE)
        return ST_OK;
    if (other->kind == &kind_opaque && PyWeakref_CheckRef(other->real))
        return graph_break(tx, BRK_WEAK, "%s", "compared with one that existed before");
    if (other->kind != &kind_weakref)
        return ST_OK;
    Var *a, *b;
    TRY(weak_referent(tx, self, &a));
    TRY(weak_referent(tx, other, &b));
    return var_compare(tx, a, b, op, out);
}

/* Equal references are those to one object, if that is what its own equality says. */
static Status ref_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    Var *of = AS(WeakVar, self)->of;
    TRY(var_hash(tx, of, key, h));
    bool same =
        *key == NULL || (*key == of->real && !key_plain(*key)) || of->kind == &kind_class;
    if (!same)
        return graph_break(tx, BRK_DYN_KEY, "a weak reference to a %s", of->type->tp_name);
    *key = NULL;
    *h = _Py_HashPointer(of);
    return ST_OK;
}

Var *weak_key(Tx *tx, const KeyMap *m, Var *key)
{
    for (WeakVar *w = latest_to(tx, AS(WeakVar, key)->of); w; w = w->before)
        if (w->v.kind == key->kind && keymap_find_id(m, w))
            return &w->v;
    return key;
}

Status weak_stranger(Tx *tx, Var *key)
{
    if (key && key->kind == &kind_weakref && existed(AS(WeakVar, key)->of))
        return graph_break(tx, BRK_WEAK, "%s",
                           "as a key of a collection that existed before");
    return ST_OK;
}

const VarKind kind_weakref = {
    .name = "weak reference",
    .id = KIND_weakref,
    .getattr = ref_getattr,
    .call = ref_call,
    .truth = ref_truth,
    .compare = ref_compare,
    .hash = ref_hash,
};

/* -- Proxies ----------------------------------------------------------------------- */

/* Operands that are proxies give way to what they stand for. */
static Status unwrap(Tx *tx, Var **v)
{
    return (*v)->kind == &kind_weakproxy ? weak_referent(tx, *v, v) : ST_OK;
}

static Status proxy_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    TRY(unwrap(tx, &self));
    return var_getattr(tx, self, name, out);
}

static Status proxy_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    TRY(unwrap(tx, &self));
    return var_setattr(tx, self, name, value);
}

static Status proxy_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    if (self->type == &_PyWeakref_ProxyType)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not callable",
                          self->type->tp_name);
    TRY(unwrap(tx, &self));
    return var_call(tx, self, a, out);
}

static Status proxy_iter(Tx *tx, Var *self, Var **out)
{
    TRY(unwrap(tx, &self));
    return var_iter(tx, self, out);
}

static Status proxy_next(Tx *tx, Var *self, Var **out)
{
    TRY(unwrap(tx, &self));
    iternextfunc next = self->type->tp_iternext;
    if (next == NULL || next == &_PyObject_NextNotImplemented)
        return raise_type(tx, PyExc_TypeError,
                          "Weakref proxy referenced a non-iterator '%.200s' object",
                          self->type->tp_name);
    return var_step(tx, self, out);
}

static Status proxy_len(Tx *tx, Var *self, Var **out)
{
    TRY(unwrap(tx, &self));
    return var_len(tx, self, out);
}

static Status proxy_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    TRY(unwrap(tx, &self));
    return var_getitem(tx, self, key, out);
}

static Status proxy_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    TRY(unwrap(tx, &self));
    return var_setitem(tx, self, key, value);
}

static Status proxy_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    TRY(unwrap(tx, &self));
    return var_contains(tx, self, item, yes);
}

static Status proxy_truth(Tx *tx, Var *self, bool *yes)
{
    TRY(unwrap(tx, &self));
    return var_truth(tx, self, yes);
}

static Status proxy_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    TRY(unwrap(tx, &self));
    TRY(unwrap(tx, &other));
    return var_compare(tx, self, other, op, out);
}

static Status proxy_binary(Tx *tx, Var *self, Var *other, int op, bool reflected,
                           Var **out)
{
    TRY(unwrap(tx, &self));
    TRY(unwrap(tx, &other));
    return reflected ? var_binary(tx, other, self, op, out)
                     : var_binary(tx, self, other, op, out);
}

static Status proxy_unary(Tx *tx, Var *self, char op, Var **out)
{
    TRY(unwrap(tx, &self));
    return var_unary(tx, self, op, out);
}

static Status proxy_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    return raise_type(tx, PyExc_TypeError, "unhashable type: '%s'", self->type->tp_name);
}

static Status proxy_repr(Tx *tx, Var *self, bool str, Var **out)
{
    if (!str)
        return graph_break(tx, BRK_NO_SLOT, "%s", "repr() of a weak proxy");
    TRY(unwrap(tx, &self));
    return var_str(tx, self, out);
}

const VarKind kind_weakproxy = {
    .name = "weak proxy",
    .id = KIND_weakproxy,
    .getattr = proxy_getattr,
    .setattr = proxy_setattr,
    .call = proxy_call,
    .iter = proxy_iter,
    .next = proxy_next,
    .len = proxy_len,
    .getitem = proxy_getitem,
    .setitem = proxy_setitem,
    .contains = proxy_contains,
    .truth = proxy_truth,
    .compare = proxy_compare,
    .binary = proxy_binary,
    .unary = proxy_unary,
    .hash = proxy_hash,
    .repr = proxy_repr,
};
