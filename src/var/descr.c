/*
 * var/descr.c -- property, classmethod and staticmethod objects made by the trace.
 *
 * What they do when found in a class is in attr.c; this is what they are by themselves. Immutable but for their attributes, which
 * are not modelled.
 */
#include "trace/tx.h"
#include "var/made.h"
#include "var/names.h"

Status descr_new(Tx *tx, PyTypeObject *t, Var **part, int n, Var **out)
{
    DescrVar *d;
    TRY(VAR_MAKE(tx, descr, DescrVar, t, &d));
    for (int i = 0; i < n; i++)
        d->part[i] = part[i] == tx->none ? NULL : part[i];
    *out = &d->v;
    return ST_OK;
}

/* What 3.11's functools_wraps copies from the function, in this order. */
static PyObject *copied_name(int i)
{
    PyObject *names[] = { str___module__, str___name__, str___qualname__, str___doc__,
                          str___annotations__ };
    _Static_assert(COUNT_OF(names) == COUNT_OF(((DescrVar *)NULL)->copied), "");
    return names[i];
}

/* Attributes by Python code are asked for once, and making the descriptor again would ask once more. */
static Status asks_code(Tx *tx, Var *fn, bool *yes)
{
    PyObject *own, *hook;
    *yes = false;
    if (fn->kind != &kind_object)
        return ST_OK;
    TRY(type_lookup(tx, fn->type, str___getattr__, &hook));
    TRY(type_lookup(tx, fn->type, str___getattribute__, &own));
    *yes = hook != NULL || !Py_IS_TYPE(own, &PyWrapperDescr_Type);
    return ST_OK;
}

Status descr_wrap(Tx *tx, PyTypeObject *t, Var *fn, Var **out)
{
    bool code;
    TRY(var_real(tx, &fn));
    TRY(descr_new(tx, t, &fn, 1, out));
    TRY(asks_code(tx, fn, &code));
    if (code)
        return graph_break(tx, BRK_CLASS_BODY, "%s of an object with __getattr__",
                           t->tp_name);
    DescrVar *d = AS(DescrVar, *out);
    for (int i = 0; i < (int)COUNT_OF(d->copied); i++)
        TRY(var_getattr_opt(tx, fn, copied_name(i), &d->copied[i]));
    return ST_OK;
}

static Var *or_none(Tx *tx, Var *v)
{
    return v ? v : tx->none;
}

/* Is one of the functions abstract? */
static Status is_abstract(Tx *tx, DescrVar *d, Var **out)
{
    bool yes = false;
    for (int i = 0; i < 3 && !yes; i++) {
        Var *flag = NULL;
        if (d->part[i])
            TRY(var_getattr_opt(tx, d->part[i], str___isabstractmethod__, &flag));
        if (flag)
            TRY(var_truth(tx, flag, &yes));
    }
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* The text given, else the getter's. */
static Status text_of(Tx *tx, DescrVar *d, Var **out)
{
    *out = d->part[3];
    if (*out == NULL && d->part[0])
        TRY(var_getattr_opt(tx, d->part[0], str___doc__, out));
    *out = or_none(tx, *out);
    return ST_OK;
}

static Status property_getattr(Tx *tx, DescrVar *d, PyObject *name, Var **out)
{
    PyObject *names[] = { str_fget, str_fset, str_fdel };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (name == names[i]) {
            *out = or_none(tx, d->part[i]);
            return ST_OK;
        }
    return name == str___doc__ ? text_of(tx, d, out)
                               : var_generic_getattr(tx, &d->v, name, out);
}

/* classmethod and staticmethod. */
static Status wrapper_getattr(Tx *tx, DescrVar *d, PyObject *name, Var **out)
{
    if (name == str___func__ || name == str___wrapped__) {
        *out = or_none(tx, d->part[0]);
        return ST_OK;
    }
    for (int i = 0; i < (int)COUNT_OF(d->copied); i++)
        if (d->copied[i] && name == copied_name(i)) {
            *out = d->copied[i];
            return ST_OK;
        }
    return name == str___dict__
               ? graph_break(tx, BRK_NO_SLOT, "__dict__ of %s", d->v.type->tp_name)
               : var_generic_getattr(tx, &d->v, name, out);
}

static Status descr_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    DescrVar *d = AS(DescrVar, self);
    bool wraps = self->type == &PyClassMethod_Type || self->type == &PyStaticMethod_Type;
    if (!wraps &&
        self->type != &PyProperty_Type) { /* a named tuple's field: index, text */
        *out = d->part[1];
        return name == str___doc__ && *out ? ST_OK
                                           : var_generic_getattr(tx, self, name, out);
    }
    if (name == str___isabstractmethod__)
        return is_abstract(tx, d, out);
    if (self->type == &PyProperty_Type)
        return property_getattr(tx, d, name, out);
    return wrapper_getattr(tx, d, name, out);
}

static Status descr_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    return graph_break(tx, BRK_NO_SLOT, "store to '%U' of %s", name, self->type->tp_name);
}

static Status descr_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    if (self->type == &PyStaticMethod_Type)
        return var_call(tx, or_none(tx, AS(DescrVar, self)->part[0]), a, out);
    return raise_type(tx, PyExc_TypeError, "'%.200s' object is not callable",
                      self->type->tp_name);
}

static Status descr_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status descr_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *key = NULL;
    *h = _Py_HashPointer(self);
    return ST_OK;
}

const VarKind kind_descr = {
    .name = "descriptor",
    .id = KIND_descr,
    .getattr = descr_getattr,
    .setattr = descr_setattr,
    .call = descr_call,
    .truth = descr_truth,
    .hash = descr_hash,
};
