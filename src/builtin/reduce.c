/*
 * builtin/reduce.c -- functions that walk an iterable to one result: min, max, sum, any, all, sorted.
 */
#include "builtin/parts.h"

/* -- min and max ------------------------------------------------------------------- */

typedef struct Best {
    Var *item, *key, *fn;
    int op;
} Best;

static Status consider(Tx *tx, Best *b, Var *item)
{
    Var *key = item, *r;
    bool better = b->item == NULL;
    if (b->fn != NULL)
        TRY(var_call1(tx, b->fn, item, &key));
    if (!better) {
        TRY(var_compare(tx, key, b->key, b->op, &r));
        TRY(var_truth(tx, r, &better));
    }
    if (better) {
        b->item = item;
        b->key = key;
    }
    return ST_OK;
}

static Status consider_all(Tx *tx, Best *b, const Args *a)
{
    Var *it, *item;
    if (a->n > 1) {
        for (int i = 0; i < a->n; i++)
            TRY(consider(tx, b, a->v[i]));
        return ST_OK;
    }
    TRY(var_iter(tx, a->v[0], &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(consider(tx, b, item));
    }
}

static Status extreme(Tx *tx, const Args *a, int op, const char *name, Var **out)
{
    Var *fallback = args_kw(a, "default");
    Best b = { .fn = args_kw(a, "key"), .op = op };
    if (a->n > 1 && fallback)
        return raise_type(
            tx, PyExc_TypeError,
            "Cannot specify a default for %s() with multiple positional arguments", name);
    if (b.fn != NULL) {
        TRY(var_real(tx, &b.fn));
        if (b.fn->kind == &kind_const && b.fn->real == Py_None)
            b.fn = NULL;
    }
    TRY(consider_all(tx, &b, a));
    if (b.item == NULL && fallback == NULL)
        return raise_type(tx, PyExc_ValueError, "%s() arg is an empty sequence", name);
    *out = b.item ? b.item : fallback;
    return ST_OK;
}

static Status min_(Tx *tx, const Args *a, Var **out)
{
    return extreme(tx, a, Py_LT, "min", out);
}

static Status max_(Tx *tx, const Args *a, Var **out)
{
    return extreme(tx, a, Py_GT, "max", out);
}

/* -- sum, any, all -------------------------------------------------------------------- */

static Status check_start(Tx *tx, Var *start)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, start, &t));
    if (PyType_IsSubtype(t, &PyUnicode_Type))
        return raise_type(tx, PyExc_TypeError,
                          "sum() can't sum strings [use ''.join(seq) instead]");
    if (PyType_IsSubtype(t, &PyBytes_Type))
        return raise_type(tx, PyExc_TypeError,
                          "sum() can't sum bytes [use b''.join(seq) instead]");
    if (PyType_IsSubtype(t, &PyByteArray_Type))
        return raise_type(tx, PyExc_TypeError,
                          "sum() can't sum bytearray [use b''.join(seq) instead]");
    return ST_OK;
}

static Status sum_(Tx *tx, const Args *a, Var **out)
{
    Var *it, *item, *total = args_get(a, 1, "start");
    TRY(var_iter(tx, a->v[0], &it));
    if (total == NULL)
        TRY(const_int(tx, 0, &total));
    else
        TRY(check_start(tx, total));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return *out = total, ST_OK;
        TRY(var_binary(tx, total, item, BINOP_ADD, &total));
    }
}

static Status until(Tx *tx, const Args *a, bool wanted, Var **out)
{
    Var *it, *item;
    bool yes;
    TRY(var_iter(tx, a->v[0], &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return give_bool(tx, !wanted, out);
        TRY(var_truth(tx, item, &yes));
        if (yes == wanted)
            return give_bool(tx, wanted, out);
    }
}

static Status any_(Tx *tx, const Args *a, Var **out)
{
    return until(tx, a, true, out);
}

static Status all_(Tx *tx, const Args *a, Var **out)
{
    return until(tx, a, false, out);
}

/* -- sorted ------------------------------------------------------------------------------ */

static Status sorted_(Tx *tx, const Args *a, Var **out)
{
    Var *key, **items, **sorted;
    Py_ssize_t n;
    bool down;
    TRY(var_tuple_items(tx, a->v[0], &items, &n));
    TRY(sort_options(tx, a, &key, &down));
    TRY(sort_items(tx, items, n, key, down, &sorted));
    return list_new(tx, sorted, n, out);
}

const Handler handlers_reduce[] = {
    { "builtins.min", 1, -1, min_, "key default" },
    { "builtins.max", 1, -1, max_, "key default" },
    { "builtins.sum", 1, 2, sum_, "start" },
    { "builtins.any", 1, 1, any_, NULL },
    { "builtins.all", 1, 1, all_, NULL },
    { "builtins.sorted", 1, 1, sorted_, "key reverse" },
    { 0 },
};
