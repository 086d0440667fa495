/*
 * builtin/heap.c -- heapq and bisect, as Modules/_heapqmodule.c and Modules/_bisectmodule.c compare and move.
 */
#include "builtin/help.h"

enum {
    SMALL_HEAP = 2500
}; /* beyond it, heapify() goes through the items in another order */

/* -- Lists by index ---------------------------------------------------------------- */

static Status item(Tx *tx, Var *list, Py_ssize_t i, Var **out)
{
    Var *index;
    TRY(const_int(tx, i, &index));
    return var_getitem(tx, list, index, out);
}

static Status set_item(Tx *tx, Var *list, Py_ssize_t i, Var *value)
{
    Var *index;
    TRY(const_int(tx, i, &index));
    return var_setitem(tx, list, index, value);
}

static Status size_of(Tx *tx, Var *list, Py_ssize_t *n)
{
    Var *len;
    TRY(var_len(tx, list, &len));
    return var_index(tx, len, n);
}

static Status less(Tx *tx, Var *a, Var *b, bool *yes)
{
    Var *r;
    TRY(var_compare(tx, a, b, Py_LT, &r));
    return var_truth(tx, r, yes);
}

/* The same while a heap is in use, whose size may not change meanwhile. */
static Status less_in(Tx *tx, Var *heap, Py_ssize_t a, Py_ssize_t b, Py_ssize_t n,
                      bool *yes)
{
    Var *x, *y;
    Py_ssize_t now;
    TRY(item(tx, heap, a, &x));
    TRY(item(tx, heap, b, &y));
    TRY(less(tx, x, y, yes));
    TRY(size_of(tx, heap, &now));
    return now == n ? ST_OK
                    : raise_type(tx, PyExc_RuntimeError, "%s",
                                 "list changed size during iteration");
}

static Status swap(Tx *tx, Var *heap, Py_ssize_t a, Py_ssize_t b)
{
    Var *x, *y;
    TRY(item(tx, heap, a, &x));
    TRY(item(tx, heap, b, &y));
    TRY(set_item(tx, heap, a, y));
    return set_item(tx, heap, b, x);
}

/* -- heapq ----------------------------------------------------------------------------- */

static Status sift_down(Tx *tx, Var *heap, Py_ssize_t start, Py_ssize_t at)
{
    Py_ssize_t n;
    bool yes;
    TRY(size_of(tx, heap, &n));
    if (at >= n)
        return raise_type(tx, PyExc_IndexError, "%s", "index out of range");
    while (at > start) {
        Py_ssize_t parent = (at - 1) >> 1;
        TRY(less_in(tx, heap, at, parent, n, &yes));
        if (!yes)
            return ST_OK;
        TRY(swap(tx, heap, parent, at));
        at = parent;
    }
    return ST_OK;
}

static Status sift_up(Tx *tx, Var *heap, Py_ssize_t at)
{
    Py_ssize_t n, start = at;
    bool yes;
    TRY(size_of(tx, heap, &n));
    while (at < n >> 1) {
        Py_ssize_t child = 2 * at + 1;
        if (child + 1 < n) {
            TRY(less_in(tx, heap, child, child + 1, n, &yes));
            child += !yes;
        }
        TRY(swap(tx, heap, child, at));
        at = child;
    }
    return sift_down(tx, heap, start, at);
}

/* The heap, a plain list; *n its size. */
static Status heap_of(Tx *tx, const Args *a, Var **heap, Py_ssize_t *n)
{
    *heap = a->v[0];
    TRY(var_real(tx, heap));
    if ((*heap)->kind != &kind_list || (*heap)->type != &PyList_Type)
        return ST_DECLINE;
    return size_of(tx, *heap, n);
}

static Status heap_push(Tx *tx, const Args *a, Var **out)
{
    Var *heap;
    Py_ssize_t n;
    TRY(heap_of(tx, a, &heap, &n));
    TRY(list_push(tx, AS(ListVar, heap), a->v[1]));
    *out = tx_none(tx);
    return sift_down(tx, heap, 0, n);
}

static Status heap_pop(Tx *tx, const Args *a, Var **out)
{
    Var *heap, *last, *index;
    Py_ssize_t n;
    TRY(heap_of(tx, a, &heap, &n));
    if (n == 0)
        return raise_type(tx, PyExc_IndexError, "%s", "index out of range");
    TRY(item(tx, heap, n - 1, &last));
    TRY(const_int(tx, n - 1, &index));
    TRY(var_setitem(tx, heap, index, NULL));
    *out = last;
    if (n == 1)
        return ST_OK;
    TRY(item(tx, heap, 0, out));
    TRY(set_item(tx, heap, 0, last));
    return sift_up(tx, heap, 0);
}

static Status replace(Tx *tx, const Args *a, Var **out)
{
    Var *heap;
    Py_ssize_t n;
    TRY(heap_of(tx, a, &heap, &n));
    if (n == 0)
        return raise_type(tx, PyExc_IndexError, "%s", "index out of range");
    TRY(item(tx, heap, 0, out));
    TRY(set_item(tx, heap, 0, a->v[1]));
    return sift_up(tx, heap, 0);
}

static Status push_pop(Tx *tx, const Args *a, Var **out)
{
    Var *heap, *top;
    Py_ssize_t n;
    bool yes;
    TRY(heap_of(tx, a, &heap, &n));
    *out = a->v[1];
    if (n == 0)
        return ST_OK;
    TRY(item(tx, heap, 0, &top));
    TRY(less(tx, top, a->v[1], &yes));
    return yes ? replace(tx, a, out) : ST_OK;
}

static Status heapify(Tx *tx, const Args *a, Var **out)
{
    Var *heap;
    Py_ssize_t n;
    TRY(heap_of(tx, a, &heap, &n));
    if (n > SMALL_HEAP)
        return ST_DECLINE;
    for (Py_ssize_t i = (n >> 1) - 1; i >= 0; i--)
        TRY(sift_up(tx, heap, i));
    *out = tx_none(tx);
    return ST_OK;
}

/* -- bisect ------------------------------------------------------------------------------ */

static Status bound(Tx *tx, Var *v, Py_ssize_t missing, Py_ssize_t *out)
{
    *out = missing;
    if (v)
        TRY(var_real(tx, &v));
    return v && v != tx_none(tx) ? var_ssize(tx, v, NULL, out) : ST_OK;
}

/* Where x belongs; `key` is asked for each item but not for x. */
static Status search(Tx *tx, const Args *a, Var *x, bool right, Py_ssize_t *out)
{
    Var *key = args_kw(a, "key"), *seq = a->v[0];
    Py_ssize_t lo, hi;
    if (key)
        TRY(var_real(tx, &key));
    TRY(bound(tx, args_get(a, 2, "lo"), 0, &lo));
    TRY(bound(tx, args_get(a, 3, "hi"), -1, &hi));
    if (lo < 0)
        return raise_type(tx, PyExc_ValueError, "%s", "lo must be non-negative");
    if (hi == -1)
        TRY(size_of(tx, seq, &hi));
    while (lo < hi) {
        Py_ssize_t mid = (Py_ssize_t)(((size_t)lo + (size_t)hi) / 2);
        Var *v;
        bool yes;
        TRY(item(tx, seq, mid, &v));
        if (key && key != tx_none(tx))
            TRY(var_call1(tx, key, v, &v));
        TRY(right ? less(tx, x, v, &yes) : less(tx, v, x, &yes));
        if (yes != right)
            lo = mid + 1;
        else
            hi = mid;
    }
    *out = lo;
    return ST_OK;
}

static Status bisect(Tx *tx, const Args *a, bool right, Var **out)
{
    Py_ssize_t at;
    if (a->n < 2)
        return ST_DECLINE;
    TRY(search(tx, a, a->v[1], right, &at));
    return const_int(tx, at, out);
}

static Status insort(Tx *tx, const Args *a, bool right, Var **out)
{
    Var *key = args_kw(a, "key"), *list, *x, *index;
    Py_ssize_t at;
    if (a->n < 2)
        return ST_DECLINE;
    list = a->v[0];
    x = a->v[1];
    TRY(var_real(tx, &list));
    if (key)
        TRY(var_real(tx, &key));
    if (key && key != tx_none(tx))
        TRY(var_call1(tx, key, x, &x));
    TRY(search(tx, a, x, right, &at));
    TRY(const_int(tx, at, &index));
    TRY(var_call_method(tx, list, "insert", (Var *[]){ index, a->v[1] }, 2, out));
    *out = tx_none(tx);
    return ST_OK;
}

static Status bisect_left(Tx *tx, const Args *a, Var **out)
{
    return bisect(tx, a, false, out);
}
static Status bisect_right(Tx *tx, const Args *a, Var **out)
{
    return bisect(tx, a, true, out);
}
static Status insort_left(Tx *tx, const Args *a, Var **out)
{
    return insort(tx, a, false, out);
}
static Status insort_right(Tx *tx, const Args *a, Var **out)
{
    return insort(tx, a, true, out);
}

const Handler handlers_heap[] = {
    { "_heapq.heappush", 2, 2, heap_push, NULL },
    { "_heapq.heappop", 1, 1, heap_pop, NULL },
    { "_heapq.heapreplace", 2, 2, replace, NULL },
    { "_heapq.heappushpop", 2, 2, push_pop, NULL },
    { "_heapq.heapify", 1, 1, heapify, NULL },
    { "_bisect.bisect_left", 2, 4, bisect_left, "lo hi key" },
    { "_bisect.bisect_right", 2, 4, bisect_right, "lo hi key" },
    { "_bisect.bisect", 2, 4, bisect_right, "lo hi key" },
    { "_bisect.insort_left", 2, 4, insort_left, "lo hi key" },
    { "_bisect.insort_right", 2, 4, insort_right, "lo hi key" },
    { "_bisect.insort", 2, 4, insort_right, "lo hi key" },
    { 0 },
};
