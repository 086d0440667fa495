/*
 * var/slice.c -- slices with symbolic parts, and slicing against a length.
 *
 * Takes: three Vars. Gives: constant slices where all parts are constants; attributes; resolved bounds.
 */
#include "var/container.h"

Status slice_new(Tx *tx, Var *a, Var *b, Var *c, Var **out)
{
    if (var_is_const(a) && var_is_const(b) && var_is_const(c) && key_plain(a->real) &&
        key_plain(b->real) && key_plain(c->real))
        return const_new(tx, PySlice_New(a->real, b->real, c->real), out);
    SliceVar *s;
    TRY(VAR_MAKE(tx, slice, SliceVar, &PySlice_Type, &s));
    s->part[0] = a;
    s->part[1] = b;
    s->part[2] = c;
    *out = &s->v;
    return ST_OK;
}

bool is_slice(Var *key)
{
    return key->kind == &kind_slice ||
           (key->kind == &kind_const && key->real && PySlice_Check(key->real));
}

Status slice_part(Tx *tx, Var *key, int i, Var **out)
{
    if (key->kind == &kind_slice)
        return *out = AS(SliceVar, key)->part[i], ST_OK;
    PySliceObject *s = (PySliceObject *)key->real;
    return const_peek(tx, i == 0 ? s->start : i == 1 ? s->stop : s->step, out);
}

/* One part as the object PySlice_Unpack understands; a value that is no constant goes through __index__. */
static Status plain_part(Tx *tx, Var *part, PyObject **out)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, part, &t));
    bool index = t->tp_as_number && t->tp_as_number->nb_index;
    if (t != Py_TYPE(Py_None) && !index)
        return raise_type(
            tx, PyExc_TypeError,
            "slice indices must be integers or None or have an __index__ method");
    TRY(var_const(tx, part, out));
    if (*out != NULL && (*out == Py_None || PyLong_Check(*out)))
        return ST_OK;
    Py_ssize_t n;
    TRY(var_index(tx, part, &n));
    *out = tx_hold(tx, PyLong_FromSsize_t(n));
    return *out ? ST_OK : ST_ERROR;
}

Status slice_resolve(Tx *tx, Var *key, Py_ssize_t len, Py_ssize_t *start,
                     Py_ssize_t *step, Py_ssize_t *n)
{
    PyObject *real = key->real;
    if (key->kind == &kind_slice) {
        PyObject *p[3];
        static const int order[3] = { 2, 0, 1 }; /* as PySlice_Unpack asks */
        for (int i = 0; i < 3; i++)
            TRY(plain_part(tx, AS(SliceVar, key)->part[order[i]], &p[order[i]]));
        real = tx_hold(tx, PySlice_New(p[0], p[1], p[2]));
        TRY_PTR(real);
    }
    Py_ssize_t stop;
    if (PySlice_Unpack(real, start, &stop, step) < 0)
        return raise_now(tx);
    *n = PySlice_AdjustIndices(len, start, &stop, *step);
    return ST_OK;
}

/* -- Slots -------------------------------------------------------------------- */

static const char *const part_names[3] = { "start", "stop", "step" };

static Status slice_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    for (int i = 0; i < 3; i++)
        if (PyUnicode_CompareWithASCIIString(name, part_names[i]) == 0)
            return *out = AS(SliceVar, self)->part[i], ST_OK;
    return var_generic_getattr(tx, self, name, out);
}

static Status slice_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status slice_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    TRY(var_real(tx, &other));
    if (!is_slice(other))
        return *out = tx_notimpl(tx), ST_OK;
    Var *b[3];
    for (int i = 0; i < 3; i++)
        TRY(slice_part(tx, other, i, &b[i]));
    return compare_items(tx, AS(SliceVar, self)->part, 3, b, 3, op, out);
}

static Status slice_repr(Tx *tx, Var *self, bool str, Var **out)
{
    return repr_items(tx, self, AS(SliceVar, self)->part, 3, "slice(", ")", out);
}

const VarKind kind_slice = {
    .name = "slice",
    .id = KIND_slice,
    .getattr = slice_getattr,
    .truth = slice_truth,
    .compare = slice_compare,
    .repr = slice_repr,
};
