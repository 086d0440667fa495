/*
 * var/seq.c -- length, items, iteration, containment and text, over the slots.
 */
#include "trace/tx.h"
#include "var/names.h"

static Status no_slot(Tx *tx, Var *v, const char *what)
{
    return graph_break(tx, BRK_NO_SLOT, "%s of %s", what, v->type->tp_name);
}

Status var_len(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->len)
        return v->kind->len(tx, v, out);
    if (v->kind == &kind_opaque)
        return no_slot(tx, v, "len()");
    return raise_type(tx, PyExc_TypeError, "object of type '%s' has no len()", v->type->tp_name);
}

Status var_getitem(Tx *tx, Var *v, Var *key, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->getitem)
        return v->kind->getitem(tx, v, key, out);
    if (v->kind == &kind_opaque || v->kind == &kind_builtin)
        return no_slot(tx, v, "indexing");
    return raise_type(tx, PyExc_TypeError, "'%s' object is not subscriptable", v->type->tp_name);
}

Status var_setitem(Tx *tx, Var *v, Var *key, Var *value)
{
    TRY(var_real(tx, &v));
    if (v->kind->setitem)
        return v->kind->setitem(tx, v, key, value);
    if (v->kind == &kind_opaque)
        return no_slot(tx, v, "item assignment");
    return raise_type(tx, PyExc_TypeError,
                      value ? "'%s' object does not support item assignment" : "'%s' object doesn't support item deletion",
                      v->type->tp_name);
}

Status var_iter(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->iter)
        return v->kind->iter(tx, v, out);
    if (v->kind->next && v->kind != &kind_object) {
        *out = v;
        return ST_OK;
    }
    if (v->kind == &kind_opaque)
        return no_slot(tx, v, "iteration");
    return raise_type(tx, PyExc_TypeError, "'%s' object is not iterable", v->type->tp_name);
}

Status var_next(Tx *tx, Var *it, Var **out)
{
    TRY(var_real(tx, &it));
    if (it->kind->next)
        return it->kind->next(tx, it, out);
    if (it->kind == &kind_opaque)
        return no_slot(tx, it, "next()");
    return raise_type(tx, PyExc_TypeError, "'%s' object is not an iterator", it->type->tp_name);
}

static Status unpack_by_iteration(Tx *tx, Var *v, Var ***items, Py_ssize_t *n)
{
    VEC(Var *) got = { 0 };
    Var *it, *item;
    TRY(var_iter(tx, v, &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            break;
        if (!VEC_PUSH(&tx->arena, &tx->journal, &got, item))
            return ST_ERROR;
        if (got.n > 200000)
            return graph_break(tx, BRK_LOOP_BUDGET, "unpacking of more than 200000 items");
    }
    *items = got.v;
    *n = (Py_ssize_t)got.n;
    return ST_OK;
}

Status var_unpack(Tx *tx, Var *v, Var ***items, Py_ssize_t *n)
{
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tuple) {
        *items = AS(TupleVar, v)->items;
        *n = AS(TupleVar, v)->n;
        return ST_OK;
    }
    if (v->kind == &kind_list) {
        ListVar *l = AS(ListVar, v);
        TRY(list_open(tx, l));
        *n = (Py_ssize_t)l->items.n;
        *items = tx_alloc(tx, (l->items.n + 1) * sizeof(Var *));
        TRY_PTR(*items);
        if (l->items.n)
            memcpy(*items, l->items.v, l->items.n * sizeof(Var *));
        return ST_OK;
    }
    return unpack_by_iteration(tx, v, items, n);
}

Status var_contains(Tx *tx, Var *container, Var *item, bool *yes)
{
    TRY(var_real(tx, &container));
    if (container->kind->contains)
        return container->kind->contains(tx, container, item, yes);
    if (container->kind == &kind_opaque || container->kind == &kind_tensor)
        return no_slot(tx, container, "`in`");
    Var *it, *x;
    TRY(var_iter(tx, container, &it));
    for (;;) {
        TRY(var_next(tx, it, &x));
        *yes = false;
        if (x == NULL)
            return ST_OK;
        TRY(var_equal(tx, x, item, yes));
        if (*yes)
            return ST_OK;
    }
}

/* -- Text ------------------------------------------------------------------------------ */

Status var_str(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->repr)
        return v->kind->repr(tx, v, true, out);
    return no_slot(tx, v, "str()");
}

Status var_repr(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->repr)
        return v->kind->repr(tx, v, false, out);
    return no_slot(tx, v, "repr()");
}

Status var_format(Tx *tx, Var *v, Var *spec, Var **out)
{
    PyObject *o, *s = NULL;
    TRY(var_real(tx, &v));
    if (spec != NULL)
        TRY(var_const(tx, spec, &s));
    if (v->kind == &kind_object) {
        Var *empty, *r;
        TRY(const_str(tx, "", &empty));
        PyObject *f;
        TRY(type_lookup(tx, v->type, str___format__, &f));
        if (f && Py_TYPE(f) == &PyFunction_Type) {
            Var *arg = spec ? spec : empty;
            return var_call_special(tx, v, "__format__", &arg, 1, out);
        }
        TRY(var_str(tx, v, &r));
        return spec ? var_format(tx, r, spec, out) : (*out = r, ST_OK);
    }
    TRY(var_const(tx, v, &o));
    if (o == NULL && (spec == NULL || (s && PyUnicode_GET_LENGTH(s) == 0)))
        return var_str(tx, v, out);
    if (o == NULL)
        return no_slot(tx, v, "format()");
    PyObject *r = PyObject_Format(o, s);
    return r ? const_new(tx, r, out) : raise_now(tx);
}

Status var_index(Tx *tx, Var *v, Py_ssize_t *out)
{
    PyObject *o;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_object && AS(ObjectVar, v)->content)
        v = AS(ObjectVar, v)->content;
    else if (v->kind == &kind_object) {
        Var *r;
        TRY(var_call_special(tx, v, "__index__", NULL, 0, &r));
        if (r != NULL)
            v = r;
    }
    TRY(var_const(tx, v, &o));
    if (o == NULL) {
        if (v->kind == &kind_tensor)
            return graph_break(tx, BRK_DATA_DEPENDENT, "a tensor used as an index");
        return raise_type(tx, PyExc_TypeError, "'%s' object cannot be interpreted as an integer", v->type->tp_name);
    }
    *out = PyNumber_AsSsize_t(o, PyExc_IndexError);
    return *out == -1 && PyErr_Occurred() ? raise_now(tx) : ST_OK;
}
