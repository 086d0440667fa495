/*
 * var/bytearray.c -- bytearrays made by the trace.
 *
 * Takes: known values. Gives: what CPython gives for a real bytearray of the same content, which each operation makes, runs on and
 * reads back. Holds: the content is known at any time, so that the segment makes the object from a constant.
 */
#include "var/bytearray.h"

#include "var/consts.h"
#include "var/names.h"
#include "var/wrap.h"

/* -- Values in ------------------------------------------------------------------------- */

PyObject *bytearray_real(Tx *tx, Var *v)
{
    return tx_hold(tx, PyByteArray_FromObject(AS(ByteArrayVar, v)->now));
}

static Status list_of(Tx *tx, Var *list, PyObject **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_unpack(tx, list, &items, &n));
    PyObject *real = tx_hold(tx, PyList_New(n)), *o;
    TRY_PTR(real);
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_real(tx, &items[i]));
        o = NULL;
        if (items[i]->kind == &kind_bytearray)
            TRY_PTR(o = bytearray_real(tx, items[i]));
        else
            TRY(var_const(tx, items[i], &o));
        if (o == NULL)
            return ST_OK;
        PyList_SET_ITEM(real, i, Py_NewRef(o));
    }
    *out = real;
    return ST_OK;
}

/* The real object of an operand; NULL: it is not known. */
static Status operand(Tx *tx, Var **v, PyObject **out)
{
    *out = NULL;
    TRY(var_real(tx, v));
    if ((*v)->kind == &kind_bytearray)
        return (*out = bytearray_real(tx, *v)) ? ST_OK : ST_ERROR;
    if ((*v)->kind == &kind_list && (*v)->type == &PyList_Type)
        return list_of(tx, *v, out);
    TRY(var_const(tx, *v, out));
    if (*out && !const_immutable(*out))
        *out = NULL;
    return ST_OK;
}

Status bytearray_parts(Tx *tx, Var *list, PyObject **out)
{
    *out = NULL;
    TRY(var_real(tx, &list));
    return list->kind == &kind_list && list->type == &PyList_Type ? list_of(tx, list, out)
                                                                  : ST_OK;
}

/* -- Results out ------------------------------------------------------------------------ */

Status bytearray_like(Tx *tx, PyObject *real, Var **out)
{
    ByteArrayVar *b;
    TRY(VAR_MAKE(tx, bytearray, ByteArrayVar, &PyByteArray_Type, &b));
    b->now = tx_hold(tx, PyBytes_FromObject(real));
    *out = &b->v;
    return b->now ? ST_OK : ST_ERROR;
}

static Status wrap_one(Tx *tx, PyObject *o, Var **out)
{
    if (PyByteArray_CheckExact(o))
        return bytearray_like(tx, o, out);
    if (const_immutable(o))
        return const_peek(tx, tx_keep(tx, o), out);
    return graph_break(tx, BRK_UNKNOWN_TYPE, "%s of a bytearray", Py_TYPE(o)->tp_name);
}

static Status wrap_items(Tx *tx, PyObject *o, Var **out)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    Var **items = tx_alloc(tx, (size_t)(n + 1) * sizeof *items);
    TRY_PTR(items);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(wrap_one(tx, PySequence_Fast_GET_ITEM(o, i), &items[i]));
    return PyList_CheckExact(o) ? list_new(tx, items, n, out)
                                : tuple_new(tx, items, n, out);
}

static Status wrap_any(Tx *tx, PyObject *o, Var **out)
{
    bool items = PyList_CheckExact(o) || (PyTuple_CheckExact(o) && !const_immutable(o));
    return items ? wrap_items(tx, o, out) : wrap_one(tx, o, out);
}

/* -- Running for real --------------------------------------------------------------------- */

/* What the operation has left becomes the content. */
static Status read_back(Tx *tx, Var *self, PyObject *real)
{
    PyObject *now = tx_hold(tx, PyBytes_FromObject(real));
    TRY_PTR(now);
    int same = PyObject_RichCompareBool(now, AS(ByteArrayVar, self)->now, Py_EQ);
    if (same)
        return same < 0 ? ST_ERROR : ST_OK;
    SET(tx, AS(ByteArrayVar, self)->now, now);
    tx->moves++;
    return ST_OK;
}

/* callable(v...), self among them. Declines if one is not known. */
static Status run(Tx *tx, Var *self, PyObject *callable, const Args *a, Var **out)
{
    int n = a->n + a->nkw;
    PyObject *real = bytearray_real(tx, self),
             **v = tx_alloc(tx, (size_t)(n + 1) * sizeof *v);
    if (real == NULL || v == NULL)
        return ST_ERROR;
    for (int i = 0; i < n; i++) {
        Var *o = a->v[i];
        v[i] = real;
        if (o != self)
            TRY(operand(tx, &o, &v[i]));
        if (v[i] == NULL)
            return ST_DECLINE;
    }
    PyObject *r =
        PyObject_Vectorcall(callable, v, (size_t)a->n, a->nkw ? a->kwnames : NULL);
    if (r == NULL) {
        PyObject *type, *value, *tb;
        PyErr_Fetch(&type, &value, &tb);
        Status st = read_back(tx, self, real);
        PyErr_Restore(type, value, tb);
        return st == ST_OK ? raise_now(tx) : st;
    }
    tx_hold(tx, r);
    TRY(read_back(tx, self, real));
    if (r != real)
        return wrap_any(tx, r, out);
    *out = self;
    return ST_OK;
}

static Status run_operator(Tx *tx, Var *self, PyObject *fn, Var **v, int n, Var **out)
{
    Status st = run(tx, self, fn, &(Args){ .v = v, .n = n }, out);
    return st != ST_DECLINE
               ? st
               : graph_break(tx, BRK_NO_SLOT, "%s", "a bytearray with unknown parts");
}

static Status named(Tx *tx, Var *self, const char *name, Var **v, int n, Var **out)
{
    PyObject *module = tx_hold(tx, PyImport_ImportModule("_operator"));
    PyObject *fn = module ? tx_hold(tx, PyObject_GetAttrString(module, name)) : NULL;
    TRY_PTR(fn);
    return run_operator(tx, self, fn, v, n, out);
}

Status bytearray_method(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    PyTypeObject *t = Py_TYPE(callable);
    Var *self = a->n ? a->v[0] : NULL;
    if (self == NULL || (t != &PyMethodDescr_Type && t != &PyWrapperDescr_Type) ||
        PyDescr_TYPE(callable) != &PyByteArray_Type)
        return ST_DECLINE;
    TRY(var_real(tx, &self));
    const char *name = PyUnicode_AsUTF8(PyDescr_NAME(callable));
    if (self->kind != &kind_bytearray || name == NULL || strcmp(name, "__alloc__") == 0 ||
        strcmp(name, "__sizeof__") == 0)
        return PyErr_Clear(), ST_DECLINE;
    a->v[0] = self;
    return run(tx, self, callable, a, out);
}

Status bytearray_make(Tx *tx, const Args *a, Var **out)
{
    int n = a->n + a->nkw;
    PyObject **v = tx_alloc(tx, (size_t)(n + 1) * sizeof *v);
    TRY_PTR(v);
    for (int i = 0; i < n; i++) {
        Var *o = a->v[i];
        TRY(operand(tx, &o, &v[i]));
        if (v[i] == NULL)
            return ST_DECLINE;
    }
    PyObject *r = PyObject_Vectorcall((PyObject *)&PyByteArray_Type, v, (size_t)a->n,
                                      a->nkw ? a->kwnames : NULL);
    return tx_hold(tx, r) ? bytearray_like(tx, r, out) : raise_now(tx);
}

/* -- The slots -------------------------------------------------------------------------- */

static Status ba_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    if (name == str___class__)
        return wrap_pinned(tx, (PyObject *)self->type, NULL, out);
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr == NULL)
        return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                          self->type->tp_name, name);
    if (Py_TYPE(descr) == &PyMethodDescr_Type || Py_TYPE(descr) == &PyWrapperDescr_Type)
        return builtin_new(tx, descr, self, out);
    return graph_break(tx, BRK_UNKNOWN_TYPE, "attribute '%U' of bytearray", name);
}

static Status ba_iter(Tx *tx, Var *self, Var **out)
{
    return iter_new(tx, &PyByteArrayIter_Type, self, NULL, -1, out);
}

static Status ba_len(Tx *tx, Var *self, Var **out)
{
    return const_int(tx, PyBytes_GET_SIZE(AS(ByteArrayVar, self)->now), out);
}

static Status ba_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    return named(tx, self, "getitem", (Var *[]){ self, key }, 2, out);
}

static Status ba_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    Var *ignored;
    return value ? named(tx, self, "setitem", (Var *[]){ self, key, value }, 3, &ignored)
                 : named(tx, self, "delitem", (Var *[]){ self, key }, 2, &ignored);
}

static Status ba_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    Var *r;
    TRY(named(tx, self, "contains", (Var *[]){ self, item }, 2, &r));
    return var_truth(tx, r, yes);
}

static Status ba_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = PyBytes_GET_SIZE(AS(ByteArrayVar, self)->now) > 0;
    return ST_OK;
}

static Status ba_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    PyObject *real = bytearray_real(tx, self), *o;
    TRY_PTR(real);
    TRY(operand(tx, &other, &o));
    *out = tx->notimpl;
    if (o == NULL)
        return ST_OK;
    PyObject *r = PyByteArray_Type.tp_richcompare(real, o, op);
    return r ? const_new(tx, r, out) : raise_now(tx);
}

/* On the right of an operator only what its left side, bytes or a count, makes of it. */
static bool known_left(Var *left, int op)
{
    if (op == BINOP_MULTIPLY)
        return left->kind != &kind_object && is_count(left, false);
    return left->type == &PyBytes_Type && (op == BINOP_ADD || op == BINOP_REMAINDER);
}

static Status ba_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    const Binop *row = &binop_table[op % BINOP_COUNT];
    PyObject *fn = op >= BINOP_COUNT ? row->itarget : row->target;
    Var *v[] = { reflected ? other : self, reflected ? self : other };
    *out = tx->notimpl;
    if (reflected && !known_left(other, op))
        return ST_OK;
    Status st = run(tx, self, fn, &(Args){ .v = v, .n = 2 }, out);
    if (st != ST_DECLINE)
        return st;
    *out = tx->notimpl;
    return ST_OK;
}

static Status ba_repr(Tx *tx, Var *self, bool str, Var **out)
{
    PyObject *real = bytearray_real(tx, self);
    TRY_PTR(real);
    PyObject *text = str ? PyObject_Str(real) : PyObject_Repr(real);
    return text ? const_new(tx, text, out) : raise_now(tx);
}

const VarKind kind_bytearray = {
    .name = "bytearray",
    .id = KIND_bytearray,
    .getattr = ba_getattr,
    .iter = ba_iter,
    .len = ba_len,
    .getitem = ba_getitem,
    .setitem = ba_setitem,
    .contains = ba_contains,
    .truth = ba_truth,
    .compare = ba_compare,
    .binary = ba_binary,
    .repr = ba_repr,
};
