/*
 * var/tuple.c -- tuples with symbolic items: plain ones, namedtuples, torch.Size.
 *
 * Takes: item Vars. Gives: the results of tuple operations. Holds: items never change once they are there; an existing
 * tuple gets them, behind a LEN guard, when somebody looks in. A tuple of plain constants is a constant itself, so
 * partners of an operation may be constants.
 */
#include "var/container.h"

/* -- Making and opening --------------------------------------------------------- */

static bool plain_const(Var *v)
{
    return v->kind == &kind_const && v->real && !v->by_value && key_plain(v->real);
}

static Status make(Tx *tx, PyTypeObject *t, Var **items, Py_ssize_t n, Var **out)
{
    TupleVar *made;
    TRY(VAR_MAKE(tx, tuple, TupleVar, t, &made));
    MEM(made->items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1)));
    if (n)
        memcpy(made->items, items, sizeof(Var *) * (size_t)n);
    made->n = n;
    *out = &made->v;
    return ST_OK;
}

Status tuple_new(Tx *tx, Var **items, Py_ssize_t n, Var **out)
{
    Py_ssize_t plain = 0;
    while (plain < n && plain_const(items[plain]))
        plain++;
    if (plain < n)
        return make(tx, &PyTuple_Type, items, n, out);
    PyObject *t = PyTuple_New(n);
    TRY_PTR(t);
    for (Py_ssize_t i = 0; i < n; i++)
        PyTuple_SET_ITEM(t, i, Py_NewRef(items[i]->real));
    return const_new(tx, t, out);
}

Status tuple_new_type(Tx *tx, PyTypeObject *t, Var **items, Py_ssize_t n, Var **out)
{
    return t == &PyTuple_Type ? tuple_new(tx, items, n, out) : make(tx, t, items, n, out);
}

/* A tuple known by value, seen as the items that it came with. */
Status tuple_of_known(Tx *tx, Var **v)
{
    TupleVar *t;
    bool known;
    if ((*v)->kind != &kind_const || !(*v)->by_value || !PyTuple_CheckExact((*v)->real))
        return ST_OK;
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, &t));
    TRY(items_peek(tx, *v, &t->items, &t->n, &known));
    t->v.real = (*v)->real;
    t->v.src = (*v)->src;
    *v = &t->v;
    return ST_OK;
}

static Status item_of(Tx *tx, TupleVar *t, Py_ssize_t i, Var **out)
{
    PyObject *real = PyTuple_GET_ITEM(t->v.real, i);
    if (t->v.src == NULL || t->v.src->kind == SRC_CONST)
        return wrap_pinned(tx, real, NULL, out);
    Source *s = source_get(&tx->sources, SRC_INDEX, t->v.src, NULL, i);
    MEM(s);
    return lazy_new(tx, real, s, out);
}

Status tuple_open(Tx *tx, TupleVar *t)
{
    if (t->items != NULL || t->v.real == NULL)
        return ST_OK;
    Py_ssize_t n = PyTuple_GET_SIZE(t->v.real);
    TRY(tx_opened(tx, (size_t)n));
    if (t->v.src != NULL && t->v.src->kind != SRC_CONST)
        TRY(guard_num(&tx->guards, GUARD_LEN, t->v.src, n));
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    MEM(items);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(item_of(tx, t, i, &items[i]));
    SET(tx, t->items, items);
    SET(tx, t->n, n);
    return ST_OK;
}

/* -- Reading ----------------------------------------------------------------------- */

static Status tuple_len(Tx *tx, Var *self, Var **out)
{
    TupleVar *t = AS(TupleVar, self);
    if (t->items != NULL || t->v.real == NULL)
        return const_int(tx, t->n, out);
    PyObject *n = tx_hold(tx, PyLong_FromSsize_t(PyTuple_GET_SIZE(self->real)));
    Source *src = source_of(tx, self);
    MEM(n && src);
    Expr *e = expr_len(&tx->exprs, src, n);
    MEM(e);
    return scalar_new(tx, e, out);
}

static Status tuple_truth(Tx *tx, Var *self, bool *yes)
{
    TRY(tuple_open(tx, AS(TupleVar, self)));
    *yes = AS(TupleVar, self)->n > 0;
    return ST_OK;
}

static Status tuple_iter(Tx *tx, Var *self, Var **out)
{
    TupleVar *t = AS(TupleVar, self);
    TRY(tuple_open(tx, t));
    return iter_new(tx, &PyTupleIter_Type, self, t->items, t->n, out);
}

static PyTypeObject *slice_type(TupleVar *t)
{
    return t->v.type == torch_types.size && t->v.type ? t->v.type : &PyTuple_Type;
}

static Status get_slice(Tx *tx, TupleVar *t, Var *key, Var **out)
{
    Py_ssize_t start, step, n;
    TRY(slice_resolve(tx, key, t->n, &start, &step, &n));
    if (n == t->n && step == 1 && t->v.type == &PyTuple_Type)
        return *out = &t->v, ST_OK;
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    MEM(items);
    for (Py_ssize_t i = 0; i < n; i++)
        items[i] = t->items[start + i * step];
    return tuple_new_type(tx, slice_type(t), items, n, out);
}

static Status tuple_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    TupleVar *t = AS(TupleVar, self);
    TRY(var_real(tx, &key));
    if (key->kind == &kind_scalar) {
        TRY(item_at(tx, self, key, out));
        if (*out != NULL)
            return ST_OK;
    }
    TRY(tuple_open(tx, t));
    if (is_slice(key))
        return get_slice(tx, t, key, out);
    PyTypeObject *kt = key->type;
    if (!(kt && kt->tp_as_number && kt->tp_as_number->nb_index))
        return raise_type(tx, PyExc_TypeError,
                          "tuple indices must be integers or slices, not %.200s",
                          type_name(tx, key));
    Py_ssize_t i;
    TRY(var_index(tx, key, &i));
    if (i < 0)
        i += t->n;
    if (i < 0 || i >= t->n)
        return raise_type(tx, PyExc_IndexError, "tuple index out of range");
    *out = t->items[i];
    return ST_OK;
}

static Status tuple_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    TupleVar *t = AS(TupleVar, self);
    Py_ssize_t at;
    TRY(tuple_open(tx, t));
    TRY(find_item(tx, t->items, t->n, item, &at));
    *yes = at >= 0;
    return ST_OK;
}

/* -- Operators ------------------------------------------------------------------------ */

Status size_check(Tx *tx, Var *const *items, Py_ssize_t n)
{
    PyTypeObject *t;
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_type_of(tx, items[i], &t));
        if (!t->tp_as_number || !t->tp_as_number->nb_index)
            return raise_type(
                tx, PyExc_TypeError,
                "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                t->tp_name);
        if (t != &PyLong_Type)
            return graph_break(tx, BRK_NO_SLOT, "torch.Size() of %s", t->tp_name);
    }
    return ST_OK;
}

static Status join(Tx *tx, PyTypeObject *t, Var **a, Py_ssize_t na, Var **b,
                   Py_ssize_t nb, Var **out)
{
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(na + nb + 1));
    MEM(items);
    if (na)
        memcpy(items, a, sizeof(Var *) * (size_t)na);
    if (nb)
        memcpy(items + na, b, sizeof(Var *) * (size_t)nb);
    if (t != &PyTuple_Type && t == torch_types.size)
        TRY(size_check(tx, items, na + nb));
    return tuple_new_type(tx, t, items, na + nb, out);
}

static Status concat(Tx *tx, TupleVar *t, Var *other, bool reflected, Var **out)
{
    Var **items;
    Py_ssize_t n;
    bool known;
    PyTypeObject *ot;
    TRY(var_type_of(tx, other, &ot));
    TRY(tuple_open(tx, t));
    if (!PyType_IsSubtype(ot, &PyTuple_Type)) {
        if (reflected)
            return ST_OK;
        if (slice_type(t) != &PyTuple_Type)
            return raise_type(tx, PyExc_TypeError,
                              "can only concatenate tuple (not %s) to torch.Size",
                              ot->tp_name);
        return raise_type(tx, PyExc_TypeError,
                          "can only concatenate tuple (not \"%.200s\") to tuple",
                          ot->tp_name);
    }
    TRY(items_peek(tx, other, &items, &n, &known));
    if (!known)
        return ST_OK;
    PyTypeObject *rt = slice_type(t);
    if (n == 0 && ot == &PyTuple_Type && t->v.type == &PyTuple_Type)
        return *out = &t->v, ST_OK;
    if (t->n == 0 && ot == &PyTuple_Type && t->v.type == &PyTuple_Type)
        return *out = other, ST_OK;
    if (torch_types.size && ot == torch_types.size)
        rt = ot;
    if (reflected)
        return join(tx, rt, items, n, t->items, t->n, out);
    return join(tx, rt, t->items, t->n, items, n, out);
}

enum { REPEAT_MAX = 1 << 22 };

static Status multiply(Tx *tx, TupleVar *t, Var *times, Var **out)
{
    Py_ssize_t n;
    TRY(var_ssize(tx, times, PyExc_OverflowError, &n));
    TRY(tuple_open(tx, t));
    if (n < 0 || t->n == 0)
        n = 0;
    if (n == 1 && t->v.type == &PyTuple_Type)
        return *out = &t->v, ST_OK;
    if (n && t->n > REPEAT_MAX / n)
        return graph_break(tx, BRK_NO_SLOT, "tuple of %zd * %zd items", t->n, n);
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(t->n * n + 1));
    MEM(items);
    for (Py_ssize_t i = 0; i < n; i++)
        memcpy(items + i * t->n, t->items, sizeof(Var *) * (size_t)t->n);
    return tuple_new_type(tx, slice_type(t), items, t->n * n, out);
}

static Status tuple_binary(Tx *tx, Var *self, Var *other, int op, bool reflected,
                           Var **out)
{
    *out = tx_notimpl(tx);
    TRY(var_real(tx, &other));
    if (op == BINOP_ADD || op == IN_PLACE(ADD)) {
        if (has_own_number(other))
            return ST_OK;
        return concat(tx, AS(TupleVar, self), other, reflected, out);
    }
    if (op != BINOP_MULTIPLY && op != IN_PLACE(MULTIPLY))
        return ST_OK;
    if (!is_count(other, reflected && op == IN_PLACE(MULTIPLY)) || goes_first(other))
        return ST_OK;
    return multiply(tx, AS(TupleVar, self), other, out);
}

static Status tuple_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    TupleVar *t = AS(TupleVar, self);
    Var **items;
    Py_ssize_t n;
    bool known;
    PyTypeObject *ot;
    *out = tx_notimpl(tx);
    TRY(var_type_of(tx, other, &ot));
    if (!PyType_IsSubtype(ot, &PyTuple_Type))
        return ST_OK;
    TRY(items_peek(tx, other, &items, &n, &known));
    TRY(tuple_open(tx, t));
    return known ? compare_items(tx, t->items, t->n, items, n, op, out) : ST_OK;
}

/* A key only if every item is a constant or goes by identity: tuples of other things compare by their items' own rules. */
static Status tuple_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    TupleVar *t = AS(TupleVar, self);
    if (self->type->tp_hash != PyTuple_Type.tp_hash ||
        self->type->tp_richcompare != PyTuple_Type.tp_richcompare)
        return graph_break(tx, BRK_DYN_KEY, "%s", self->type->tp_name);
    TRY(tuple_open(tx, t));
    PyObject *k = tx_hold(tx, PyTuple_New(t->n));
    TRY_PTR(k);
    for (Py_ssize_t i = 0; i < t->n; i++) {
        PyObject *item = NULL;
        Py_hash_t ignored;
        TRY(var_hash(tx, t->items[i], &item, &ignored));
        if (item == NULL)
            return graph_break(tx, BRK_DYN_KEY, "tuple with a %s",
                               type_name(tx, t->items[i]));
        PyTuple_SET_ITEM(k, i, Py_NewRef(item));
    }
    if (!key_plain(k))
        return graph_break(tx, BRK_DYN_KEY, "%s",
                           "tuple of objects that compare in their own way");
    *key = k;
    *h = PyObject_Hash(k);
    return *h == -1 ? ST_ERROR : ST_OK;
}

static Status tuple_repr(Tx *tx, Var *self, bool str, Var **out)
{
    TupleVar *t = AS(TupleVar, self);
    TRY(tuple_open(tx, t));
    if (slice_type(t) != &PyTuple_Type)
        return repr_items(tx, self, t->items, t->n, "torch.Size([", "])", out);
    if (t->v.type != &PyTuple_Type && t->v.type->tp_repr != PyTuple_Type.tp_repr) {
        TRY(var_call_special(tx, self, "__repr__", NULL, 0, out));
        return *out ? ST_OK
                    : graph_break(tx, BRK_NO_SLOT, "repr() of %s", t->v.type->tp_name);
    }
    return repr_items(tx, self, t->items, t->n, "(", t->n == 1 ? ",)" : ")", out);
}

/* -- The kind ------------------------------------------------------------------------------ */

const VarKind kind_tuple = {
    .name = "tuple",
    .id = KIND_tuple,
    .iter = tuple_iter,
    .len = tuple_len,
    .getitem = tuple_getitem,
    .contains = tuple_contains,
    .truth = tuple_truth,
    .compare = tuple_compare,
    .binary = tuple_binary,
    .hash = tuple_hash,
    .repr = tuple_repr,
};
