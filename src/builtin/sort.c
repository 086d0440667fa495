/*
 * builtin/sort.c -- sorting: for real where all keys are constants, by traced comparisons else.
 *
 * Traced comparisons come in the order of CPython's for fewer than 64 items, so that a __lt__ with effects shows them
 * alike; longer lists are merged, with the same result for any consistent order.
 */
#include "builtin/parts.h"

enum { RUN = 64 };

/* -- Constant keys --------------------------------------------------------------- */

/* Positions in sorted order, from CPython's own sort. */
static Status sort_real(Tx *tx, Var **keys, Py_ssize_t n, bool reverse, Py_ssize_t *order)
{
    PyObject *list = tx_hold(tx, PyList_New(n)), *at = tx_hold(tx, PyList_New(n));
    MEM(list && at);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(keys[i]->real));
        PyObject *k = PyLong_FromSsize_t(i);
        TRY_PTR(k);
        PyList_SET_ITEM(at, i, k);
    }
    PyObject *get = tx_hold(tx, PyObject_GetAttrString(list, "__getitem__"));
    PyObject *sort = tx_hold(tx, PyObject_GetAttrString(at, "sort"));
    PyObject *kw = tx_hold(tx, Py_BuildValue("{s:O,s:O}", "key", get, "reverse",
                                             reverse ? Py_True : Py_False));
    PyObject *none = tx_hold(tx, PyTuple_New(0));
    MEM(get && sort && kw && none);
    if (!tx_hold(tx, PyObject_Call(sort, none, kw)))
        return raise_now(tx);
    for (Py_ssize_t i = 0; i < n; i++)
        order[i] = PyLong_AsSsize_t(PyList_GET_ITEM(at, i));
    return ST_OK;
}

static Status all_plain(Tx *tx, Var **keys, Py_ssize_t n, bool *yes)
{
    *yes = true;
    for (Py_ssize_t i = 0; *yes && i < n; i++) {
        TRY(var_real(tx, &keys[i]));
        *yes = keys[i]->kind == &kind_const && key_plain(keys[i]->real);
    }
    return ST_OK;
}

/* -- Traced comparisons ---------------------------------------------------------- */

static Status less(Tx *tx, Var **keys, Py_ssize_t a, Py_ssize_t b, bool *yes)
{
    Var *r;
    TRY(tx_worked(tx, 1));
    TRY(var_compare(tx, keys[a], keys[b], Py_LT, &r));
    return var_truth(tx, r, yes);
}

static void flip(Py_ssize_t *v, Py_ssize_t n)
{
    for (Py_ssize_t i = 0, j = n - 1; i < j; i++, j--) {
        Py_ssize_t t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
}

/* Length of the run at the start; a descending one is turned round. */
static Status first_run(Tx *tx, Var **keys, Py_ssize_t *v, Py_ssize_t n, Py_ssize_t *len)
{
    bool down, now;
    *len = n;
    if (n < 2)
        return ST_OK;
    TRY(less(tx, keys, v[1], v[0], &down));
    for (*len = 2; *len < n; ++*len) {
        TRY(less(tx, keys, v[*len], v[*len - 1], &now));
        if (now != down)
            break;
    }
    if (down)
        flip(v, *len);
    return ST_OK;
}

static Status insert_rest(Tx *tx, Var **keys, Py_ssize_t *v, Py_ssize_t n, Py_ssize_t done)
{
    for (; done < n; done++) {
        Py_ssize_t pivot = v[done], l = 0, r = done;
        while (l < r) {
            Py_ssize_t p = l + ((r - l) >> 1);
            bool yes;
            TRY(less(tx, keys, pivot, v[p], &yes));
            if (yes)
                r = p;
            else
                l = p + 1;
        }
        memmove(v + l + 1, v + l, sizeof *v * (size_t)(done - l));
        v[l] = pivot;
    }
    return ST_OK;
}

static Status merge_sort(Tx *tx, Var **keys, Py_ssize_t *v, Py_ssize_t n,
                         Py_ssize_t *spare)
{
    Py_ssize_t run;
    if (n < RUN) {
        TRY(first_run(tx, keys, v, n, &run));
        return insert_rest(tx, keys, v, n, run);
    }
    Py_ssize_t half = n / 2, i = 0, j = half, k = 0;
    TRY(merge_sort(tx, keys, v, half, spare));
    TRY(merge_sort(tx, keys, v + half, n - half, spare));
    while (i < half && j < n) {
        bool right;
        TRY(less(tx, keys, v[j], v[i], &right));
        spare[k++] = right ? v[j++] : v[i++];
    }
    while (i < half)
        spare[k++] = v[i++];
    memcpy(v, spare, sizeof *v * (size_t)k);
    return ST_OK;
}

static Status sort_traced(Tx *tx, Var **keys, Py_ssize_t n, bool reverse,
                          Py_ssize_t *order)
{
    Py_ssize_t *spare = tx_alloc(tx, sizeof *spare * (size_t)(n + 1));
    MEM(spare);
    for (Py_ssize_t i = 0; i < n; i++)
        order[i] = i;
    if (reverse)
        flip(order, n);
    TRY(merge_sort(tx, keys, order, n, spare));
    if (reverse)
        flip(order, n);
    return ST_OK;
}

/* -- The whole ---------------------------------------------------------------------- */

Status sort_items(Tx *tx, Var **items, Py_ssize_t n, Var *key, bool reverse, Var ***out)
{
    size_t size = sizeof(Var *) * (size_t)(n + 1);
    Var **keys = tx_alloc(tx, size), **sorted = tx_alloc(tx, size);
    Py_ssize_t *order = tx_alloc(tx, sizeof *order * (size_t)(n + 1));
    bool plain;
    MEM(keys && sorted && order);
    for (Py_ssize_t i = 0; i < n; i++) {
        keys[i] = items[i];
        if (key != NULL)
            TRY(var_call1(tx, key, items[i], &keys[i]));
    }
    TRY(all_plain(tx, keys, n, &plain));
    TRY(plain ? sort_real(tx, keys, n, reverse, order)
              : sort_traced(tx, keys, n, reverse, order));
    for (Py_ssize_t i = 0; i < n; i++)
        sorted[i] = items[order[i]];
    *out = sorted;
    return ST_OK;
}

Status sort_options(Tx *tx, const Args *a, Var **key, bool *reverse)
{
    Var *k = args_kw(a, "key"), *r = args_kw(a, "reverse");
    *key = NULL;
    *reverse = false;
    if (k != NULL) {
        TRY(var_real(tx, &k));
        if (!(k->kind == &kind_const && k->real == Py_None))
            *key = k;
    }
    return r ? var_truth(tx, r, reverse) : ST_OK;
}
