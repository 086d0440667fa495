/*
 * var/proxy.c -- types.MappingProxyType: a read-only view of a mapping.
 *
 * Takes: the mapping. Gives: everything by asking the mapping. Existing proxies are looked through only if an OrderedDict is
 * behind them (inspect.Signature): an exact dict may be a class's, whose home in the ledger is the class.
 */
#include "cpy/peek.h"
#include "var/container.h"
#include "var/wrap.h"

Status proxy_new(Tx *tx, Var *mapping, Var **out)
{
    ProxyVar *p;
    TRY(VAR_MAKE(tx, proxy, ProxyVar, &PyDictProxy_Type, &p));
    p->mapping = mapping;
    *out = &p->v;
    return ST_OK;
}

Status proxy_wrap(Tx *tx, PyObject *o, Source *src, Var **out)
{
    PyObject *under = cpy_iter_under(o, 0);
    if (under == NULL || !Py_IS_TYPE(under, &PyODict_Type))
        return ST_DECLINE;
    Var *mapping;
    Source *s = source_get(&tx->sources, SRC_UNDERLYING, src, NULL, 0);
    TRY_PTR(s);
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    TRY(wrap(tx, under, s, &mapping));
    return proxy_new(tx, mapping, out);
}

static Var *mapping_of(Var *self)
{
    return AS(ProxyVar, self)->mapping;
}

static Status proxy_iter(Tx *tx, Var *self, Var **out)
{
    return var_iter(tx, mapping_of(self), out);
}
static Status proxy_len(Tx *tx, Var *self, Var **out)
{
    return var_len(tx, mapping_of(self), out);
}

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
    return var_compare(tx, mapping_of(self), other, op, out);
}

static Status proxy_binary(Tx *tx, Var *self, Var *other, int op, bool reflected,
                           Var **out)
{
    *out = tx_notimpl(tx);
    if (op == IN_PLACE(OR) && !reflected)
        return raise_type(tx, PyExc_TypeError,
                          "'|=' is not supported by %s; use '|' instead",
                          self->type->tp_name);
    if (op != BINOP_OR)
        return ST_OK;
    TRY(var_real(tx, &other));
    Var *a = mapping_of(self),
        *b = other->kind == &kind_proxy ? mapping_of(other) : other;
    return reflected ? var_binary(tx, b, a, op, out) : var_binary(tx, a, b, op, out);
}

static Status proxy_repr(Tx *tx, Var *self, bool str, Var **out)
{
    PyObject *text;
    if (str)
        return var_str(tx, mapping_of(self), out);
    TRY(var_repr(tx, mapping_of(self), out));
    TRY(var_const(tx, *out, &text));
    if (text == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s", "repr() of a mappingproxy");
    return const_new(tx, PyUnicode_FromFormat("%s(%U)", self->type->tp_name, text), out);
}

const VarKind kind_proxy = {
    .name = "mappingproxy",
    .id = KIND_proxy,
    .iter = proxy_iter,
    .len = proxy_len,
    .getitem = proxy_getitem,
    .contains = proxy_contains,
    .compare = proxy_compare,
    .binary = proxy_binary,
    .repr = proxy_repr,
};
