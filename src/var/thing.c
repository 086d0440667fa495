/*
 * var/thing.c -- kinds whose methods all have handlers (builtin/context.c, builtin/functools.c): context variables, their tokens,
 * new locks, new itemgetters and the like.
 */
#include "builtin/handler.h"
#include "trace/tx.h"
#include "var/names.h"
#include "var/wrap.h"

static Status method_of(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr && Py_TYPE(descr) == &PyMethodDescr_Type)
        return builtin_new(tx, descr, self, out);
    if (name == str___class__)
        return wrap_pinned(tx, (PyObject *)self->type, NULL, out);
    return graph_break(tx, BRK_UNKNOWN_TYPE, "attribute '%U' of %s", name,
                       self->type->tp_name);
}

static Status always_true(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status by_identity(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *key = NULL;
    *h = _Py_HashPointer(self);
    return ST_OK;
}

static Status context_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *key = self->real;
    *h = PyObject_Hash(self->real);
    return ST_OK;
}

const VarKind kind_context = {
    .name = "context variable",
    .id = KIND_context,
    .getattr = method_of,
    .truth = always_true,
    .hash = context_hash,
};

const VarKind kind_token = {
    .name = "token of a context variable",
    .id = KIND_token,
    .getattr = method_of,
    .truth = always_true,
    .hash = by_identity,
};

const VarKind kind_lock = {
    .name = "lock",
    .id = KIND_lock,
    .getattr = method_of,
    .truth = always_true,
    .hash = by_identity,
};

static Status getter_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    return descr
               ? method_of(tx, self, name, out)
               : raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                            self->type->tp_name, name);
}

static Status getter_repr(Tx *tx, Var *self, bool str, Var **out)
{
    return const_new(tx, PyObject_Repr(AS(GetterVar, self)->model), out);
}

static Status getter_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    Status st = call_operator_object(tx, AS(GetterVar, self)->model, a, out);
    return st != ST_DECLINE
               ? st
               : graph_break(tx, BRK_UNKNOWN_CALL, "%s object", self->type->tp_name);
}

const VarKind kind_getter = {
    .name = "itemgetter, attrgetter or methodcaller",
    .id = KIND_getter,
    .getattr = getter_getattr,
    .repr = getter_repr,
    .truth = always_true,
    .call = getter_call,
    .hash = by_identity,
};
