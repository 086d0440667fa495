/*
 * var/proxy.c -- types.MappingProxyType over a dict.
 *
 * An existing proxy is pinned by identity, since nothing leads from it to its dict at run time; the dict is then known for good.
 */
#include "trace/tx.h"
#include "var/names.h"
#include "var/proxy.h"
#include "var/wrap.h"

static int find_mapping(PyObject *o, void *arg)
{
    *(PyObject **)arg = o;
    return 0;
}

Status proxy_wrap(Tx *tx, PyObject *o, Source *src, Var **out)
{
    PyObject *mapping = NULL;
    ProxyVar *p;
    *out = NULL;
    PyDictProxy_Type.tp_traverse(o, find_mapping, &mapping);
    if (mapping == NULL || (!PyDict_CheckExact(mapping) && Py_TYPE(mapping) != &PyODict_Type))
        return ST_OK;
    TRY(guard_is(&tx->guards, src, o));
    TRY(VAR_MAKE(tx, proxy, ProxyVar, &PyDictProxy_Type, &p));
    TRY(wrap_pinned(tx, mapping, NULL, &p->mapping));
    *out = &p->v;
    return ST_OK;
}

Status proxy_new(Tx *tx, Var *mapping, Var **out)
{
    ProxyVar *p;
    TRY(VAR_MAKE(tx, proxy, ProxyVar, &PyDictProxy_Type, &p));
    p->mapping = mapping;
    *out = &p->v;
    return ST_OK;
}

static Var *mapping_of(Var *self)
{
    return AS(ProxyVar, self)->mapping;
}

/* keys, get, items …: the dict's own. */
static Status proxy_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr == NULL || Py_TYPE(descr) != &PyMethodDescr_Type)
        return var_generic_getattr(tx, self, name, out);
    return var_getattr(tx, mapping_of(self), name, out);
}

static Status proxy_iter(Tx *tx, Var *self, Var **out) { return var_iter(tx, mapping_of(self), out); }
static Status proxy_len(Tx *tx, Var *self, Var **out) { return var_len(tx, mapping_of(self), out); }
static Status proxy_truth(Tx *tx, Var *self, bool *yes) { return var_truth(tx, mapping_of(self), yes); }

static Status proxy_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    return var_getitem(tx, mapping_of(self), key, out);
}

static Status proxy_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    return var_contains(tx, mapping_of(self), item, yes);
}

static Status proxy_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    return var_compare(tx, mapping_of(self), other->kind == &kind_proxy ? mapping_of(other) : other, op, out);
}

/* -- The kind --------------------------------------------------------------- */

const VarKind kind_proxy = {
    .name = "mapping proxy",
    .id = KIND_proxy,
    .getattr = proxy_getattr,
    .iter = proxy_iter,
    .len = proxy_len,
    .truth = proxy_truth,
    .getitem = proxy_getitem,
    .contains = proxy_contains,
    .compare = proxy_compare,
};
