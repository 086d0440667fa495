/*
 * trace/split.c -- operations that take a number, where the program gives a tensor without dimensions.
 *
 * Takes: addcdiv, one or many at a time, with a tensor as `value`. Gives: the same as operations on tensors: torch would read that tensor's data,
 * which a graph cannot. Holds: the operations are those of torch's kernel in its order, so that the result is the same to the bit;
 * types in which the kernel computes with more bits than it stores are left alone.
 */
#include "builtin/handler.h"
#include "trace/torchcall.h"
#include "var/consts.h"

static const struct SplitRow {
    const char *name, *last;
    bool each;
} rows[] = {
    { "addcdiv", "add", false },
    { "addcdiv_", "add_", false },
    { "_foreach_addcdiv", "_foreach_add", true },
    { "_foreach_addcdiv_", "_foreach_add_", true },
};

static const struct SplitRow *row_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static Status meta_of(Tx *tx, Var **v, TensorMeta *m, bool *known)
{
    PyObject *meta;
    TRY(var_real(tx, v));
    *known = (*v)->kind == &kind_tensor;
    if (!*known)
        return ST_OK;
    TRY(tensor_meta(tx, AS(TensorVar, *v), &meta));
    *known = meta_read(meta, m);
    return ST_OK;
}

static bool computes_as_stored(PyObject *meta)
{
    PyObject *name = PyObject_Repr(meta_dtype(meta));
    bool yes = name && (PyUnicode_CompareWithASCIIString(name, "torch.float32") == 0 ||
                        PyUnicode_CompareWithASCIIString(name, "torch.float64") == 0);
    PyErr_Clear();
    Py_XDECREF(name);
    return yes;
}

static Status method(Tx *tx, const char *name, Var *self, Var *other, Var **out)
{
    PyObject *s = tx_hold(tx, PyUnicode_InternFromString(name));
    TRY_PTR(s);
    Args a = { .v = (Var *[]){ self, other }, .n = 2 };
    return torch_call(tx, s, true, torch_classify_method(s), &a, out);
}

/* A number for products with t1. Among tensors without dimensions the larger type would win; a number never does. */
static Status fit(Tx *tx, Var *value, Var *t1, Var **out)
{
    TensorMeta number, m;
    bool known;
    *out = NULL;
    TRY(meta_of(tx, &value, &number, &known));
    if (!known || number.ndim != 0 || number.requires_grad)
        return ST_OK;
    TRY(meta_of(tx, &t1, &m, &known));
    if (!known || !computes_as_stored(AS(TensorVar, t1)->meta))
        return ST_OK;
    *out = value;
    return m.ndim == 0 && m.dtype != number.dtype ? method(tx, "type_as", value, t1, out)
                                                  : ST_OK;
}

/* self + value * t1 / t2, from the left. addcmul is rounded once after both products, which no operations on tensors do. */
static Status split_one(Tx *tx, const struct SplitRow *row, const Args *a, Var **out)
{
    Var *value = a->n == 3 && a->nkw == 1 ? args_kw(a, "value") : NULL;
    TensorMeta m[3];
    bool known;
    if (value == NULL)
        return ST_DECLINE;
    for (int i = 0; i < 3; i++) {
        Var *v = a->v[i];
        TRY(meta_of(tx, &v, &m[i], &known));
        if (!known || (m[i].dtype != m[0].dtype && m[0].ndim + m[i].ndim > 0))
            return ST_DECLINE;
    }
    TRY(fit(tx, value, a->v[1], &value));
    if (value == NULL)
        return ST_DECLINE;
    TRY(method(tx, "mul", a->v[1], value, out));
    TRY(method(tx, "div", *out, a->v[2], out));
    return method(tx, row->last, a->v[0], *out, out);
}

/* -- Lists of tensors ------------------------------------------------------- */

static Status each(Tx *tx, const char *name, Var *lists, Var *others, Var **out)
{
    PyObject *m = PyImport_ImportModule("torch");
    PyObject *fn = tx_hold(tx, m ? PyObject_GetAttrString(m, name) : NULL);
    Py_XDECREF(m);
    TRY_PTR(fn);
    Args a = { .v = (Var *[]){ lists, others }, .n = 2 };
    return torch_call(tx, fn, false, torch_classify(fn), &a, out);
}

/* One number a tensor, for products with t1s: as a list. *out NULL: they are plain numbers, or one for all. */
static Status numbers(Tx *tx, Var *v, Var *t1s, Var **out)
{
    Var **items, **t1;
    Py_ssize_t n, nt1;
    TensorMeta m;
    bool known;
    *out = NULL;
    TRY(meta_of(tx, &v, &m, &known));
    if (known && (m.ndim != 1 || m.requires_grad))
        return ST_OK;
    if (known)
        TRY(var_call_method(tx, v, "unbind", NULL, 0, &v));
    TRY(var_real(tx, &t1s));
    if ((v->kind != &kind_list && v->kind != &kind_tuple) ||
        (t1s->kind != &kind_list && t1s->kind != &kind_tuple))
        return ST_OK;
    TRY(var_unpack(tx, v, &items, &n));
    TRY(var_unpack(tx, t1s, &t1, &nt1));
    Var **fits = tx_alloc(tx, (size_t)(n + 1) * sizeof *fits);
    TRY_PTR(fits);
    for (Py_ssize_t i = 0; i < n; i++) {
        fits[i] = NULL;
        if (i < nt1)
            TRY(fit(tx, items[i], t1[i], &fits[i]));
        if (fits[i] == NULL)
            return ST_OK;
    }
    return n && n == nt1 ? list_new(tx, fits, n, out) : ST_OK;
}

static Status split_each(Tx *tx, const struct SplitRow *row, const Args *a, Var **out)
{
    Var *scale = NULL, *product, *ignored;
    if (a->n == 4 && a->nkw == 0)
        TRY(numbers(tx, a->v[3], a->v[1], &scale));
    if (scale == NULL)
        return ST_DECLINE;
    TRY(each(tx, "_foreach_mul", a->v[1], scale, &product));
    TRY(each(tx, "_foreach_div_", product, a->v[2], &ignored));
    return each(tx, row->last, a->v[0], product, out);
}

Status torch_split(Tx *tx, const char *name, const Args *a, Var **out)
{
    const struct SplitRow *row = row_of(name);
    if (row == NULL)
        return ST_DECLINE;
    return row->each ? split_each(tx, row, a, out) : split_one(tx, row, a, out);
}
