/*
 * var/namespace.c -- what types.SimpleNamespace does with its dictionary: comparison and text.
 */
#include "var/namespace.h"

Status namespace_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    DictVar *a, *b;
    *out = tx->notimpl;
    if (!is_namespace(other))
        return ST_OK;
    TRY(attrs_of(tx, self, &a));
    TRY(attrs_of(tx, other, &b));
    return var_compare(tx, &a->v, &b->v, op, out);
}

/* `name=value` of each, in order; names that are no text or empty are left out. */
static Status pairs(Tx *tx, DictVar *d, PyObject *parts)
{
    Var **keys, **values, *text;
    Py_ssize_t n;
    TRY(dict_items(tx, d, &keys, &values, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *key, *value;
        TRY(var_const(tx, keys[i], &key));
        if (key == NULL || !PyUnicode_Check(key) || PyUnicode_GET_LENGTH(key) == 0)
            continue;
        TRY(var_repr(tx, values[i], &text));
        TRY(var_const(tx, text, &value));
        if (value == NULL)
            return graph_break(tx, BRK_NO_SLOT, "%s", "repr() of a part of a namespace");
        PyObject *part = tx_hold(tx, PyUnicode_FromFormat("%U=%U", key, value));
        MEM(part && PyList_Append(parts, part) == 0);
    }
    return ST_OK;
}

Status namespace_repr(Tx *tx, Var *self, Var **out)
{
    bool plain = self->type == known_type(TY_NAMESPACE);
    const char *name = plain ? "namespace" : self->type->tp_name;
    ReprMark mark;
    DictVar *d;
    if (!repr_enter(&mark, self))
        return const_new(tx, PyUnicode_FromFormat("%s(...)", name), out);
    PyObject *parts = tx_hold(tx, PyList_New(0)),
             *comma = tx_hold(tx, PyUnicode_FromString(", ")), *inner;
    Status st = parts && comma ? attrs_of(tx, self, &d) : ST_ERROR;
    if (st == ST_OK)
        st = pairs(tx, d, parts);
    repr_leave(&mark);
    TRY(st);
    MEM(inner = tx_hold(tx, PyUnicode_Join(comma, parts)));
    return const_new(tx, PyUnicode_FromFormat("%s(%U)", name, inner), out);
}
