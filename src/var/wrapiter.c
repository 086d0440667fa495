/*
 * var/wrapiter.c -- iterators over other iterators: map, filter, zip, enumerate, itertools.
 *
 * Takes: iterators and a function. Gives: the next item, computed when it is asked for, exactly as far as CPython's
 * iterators would look ahead. Holds: all that changes between two items in journalled words.
 */
#include "var/container.h"

Status wrapiter_make(Tx *tx, PyTypeObject *t, char what, Var *fn, Var **its, int n,
                     WrapIterVar **out)
{
    WrapIterVar *w;
    TRY(VAR_MAKE(tx, wrapiter, WrapIterVar, t, &w));
    w->what = what;
    w->fn = fn;
    w->n = n;
    MEM(w->its = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 2)));
    if (n)
        memcpy(w->its, its, sizeof(Var *) * (size_t)n);
    *out = w;
    return ST_OK;
}

static Status drop_source(Tx *tx, WrapIterVar *w, Var **out)
{
    put_cell(tx, &w->its[0], NULL);
    *out = NULL;
    return ST_OK;
}

static bool is_none(Var *v)
{
    return v == NULL || (v->kind == &kind_const && v->real == Py_None);
}

/* -- map, filter, zip, enumerate ----------------------------------------------------- */

/* Items of all iterators; *full false at the first that has none. */
static Status row(Tx *tx, WrapIterVar *w, Var ***items, int *got)
{
    MEM(*items = tx_alloc(tx, sizeof(Var *) * (size_t)(w->n + 1)));
    for (*got = 0; *got < w->n; ++*got) {
        TRY(var_next(tx, w->its[*got], &(*items)[*got]));
        if ((*items)[*got] == NULL)
            return ST_OK;
    }
    return ST_OK;
}

static Status next_map(Tx *tx, WrapIterVar *w, Var **out)
{
    Args a = { .n = w->n };
    int got;
    TRY(row(tx, w, &a.v, &got));
    if (got < w->n)
        return *out = NULL, ST_OK;
    return var_call(tx, w->fn, &a, out);
}

static Status passes(Tx *tx, WrapIterVar *w, Var *item, bool *yes)
{
    if (is_none(w->fn) && (w->what == 'f' || w->what == 'F'))
        return var_truth(tx, item, yes);
    Var *r;
    TRY(var_call1(tx, w->fn, item, &r));
    return var_truth(tx, r, yes);
}

static Status next_filter(Tx *tx, WrapIterVar *w, Var **out)
{
    for (bool yes;;) {
        TRY(var_next(tx, w->its[0], out));
        if (*out == NULL)
            return ST_OK;
        TRY(passes(tx, w, *out, &yes));
        if (yes == (w->what == 'f'))
            return ST_OK;
    }
}

static Status uneven(Tx *tx, int i, const char *how)
{
    return raise_type(tx, PyExc_ValueError, "zip() argument %d is %s than argument%s%d",
                      i + 1, how, i == 1 ? " " : "s 1-", i);
}

static Status zip_ends(Tx *tx, WrapIterVar *w, int at)
{
    if (!w->strict)
        return ST_OK;
    if (at > 0)
        return uneven(tx, at, "shorter");
    for (int i = 1; i < w->n; i++) {
        Var *item;
        TRY(var_next(tx, w->its[i], &item));
        if (item != NULL)
            return uneven(tx, i, "longer");
    }
    return ST_OK;
}

static Status next_zip(Tx *tx, WrapIterVar *w, Var **out)
{
    Var **items;
    int got;
    *out = NULL;
    if (w->n == 0)
        return ST_OK;
    TRY(row(tx, w, &items, &got));
    return got < w->n ? zip_ends(tx, w, got) : tuple_new(tx, items, w->n, out);
}

static Status next_enumerate(Tx *tx, WrapIterVar *w, Var **out)
{
    Var *pair[2], *k;
    TRY(var_next(tx, w->its[0], &pair[1]));
    if (pair[1] == NULL)
        return *out = NULL, ST_OK;
    TRY(const_int(tx, (Py_ssize_t)w->at, &k));
    pair[0] = k;
    if (w->fn != NULL)
        TRY(var_binary(tx, w->fn, k, BINOP_ADD, &pair[0]));
    SET(tx, w->at, w->at + 1);
    return tuple_new(tx, pair, 2, out);
}

/* -- iter(callable, sentinel), sequences by index ---------------------------------------- */

static Status next_callable(Tx *tx, WrapIterVar *w, Var **out)
{
    bool end;
    *out = NULL;
    if (w->its[0] == NULL)
        return ST_OK;
    Status st = var_call0(tx, w->fn, out);
    if (st == ST_RAISE && exc_matches(tx, PyExc_StopIteration)) {
        exc_clear(tx);
        return drop_source(tx, w, out);
    }
    TRY(st);
    TRY(var_equal(tx, w->its[0], *out, &end));
    return end ? drop_source(tx, w, out) : ST_OK;
}

/* its[0] is the sequence. */
static Status next_index(Tx *tx, WrapIterVar *w, Var **out)
{
    Var *i;
    *out = NULL;
    if (w->its[0] == NULL)
        return ST_OK;
    bool down = w->what == 'R';
    if (down && w->at == 0)
        return drop_source(tx, w, out);
    TRY(const_int(tx, (Py_ssize_t)(down ? w->at - 1 : w->at), &i));
    Status st = var_getitem(tx, w->its[0], i, out);
    if (st == ST_RAISE &&
        (exc_matches(tx, PyExc_IndexError) || exc_matches(tx, PyExc_StopIteration))) {
        exc_clear(tx);
        return drop_source(tx, w, out);
    }
    TRY(st);
    SET(tx, w->at, down ? w->at - 1 : w->at + 1);
    return ST_OK;
}

/* -- itertools: one after the other --------------------------------------------------------- */

/* its[0] gives iterables, its[1] is the iterator over the current one. */
static Status next_chain(Tx *tx, WrapIterVar *w, Var **out)
{
    *out = NULL;
    while (w->its[0] != NULL) {
        if (w->its[1] == NULL) {
            Var *iterable, *it;
            TRY(var_next(tx, w->its[0], &iterable));
            if (iterable == NULL)
                return drop_source(tx, w, out);
            TRY(var_iter(tx, iterable, &it));
            put_cell(tx, &w->its[1], it);
        }
        TRY(var_next(tx, w->its[1], out));
        if (*out != NULL)
            return ST_OK;
        put_cell(tx, &w->its[1], NULL);
    }
    return ST_OK;
}

/* `at` items were taken, the next wanted one has number `state`; stop -1: none. */
static Status next_islice(Tx *tx, WrapIterVar *w, Var **out)
{
    *out = NULL;
    if (w->its[0] == NULL)
        return ST_OK;
    while (w->at < w->state) {
        TRY(var_next(tx, w->its[0], out));
        if (*out == NULL)
            return drop_source(tx, w, out);
        SET(tx, w->at, w->at + 1);
    }
    if (w->stop >= 0 && (Py_ssize_t)w->at >= w->stop)
        return drop_source(tx, w, out);
    TRY(var_next(tx, w->its[0], out));
    if (*out == NULL)
        return drop_source(tx, w, out);
    SET(tx, w->at, w->at + 1);
    uintptr_t next = w->state + (uintptr_t)w->step;
    if (w->stop >= 0 && (next < w->state || next > (uintptr_t)w->stop))
        next = (uintptr_t)w->stop;
    SET(tx, w->state, next);
    return ST_OK;
}

static Status next_repeat(Tx *tx, WrapIterVar *w, Var **out)
{
    *out = w->at ? w->fn : NULL;
    if (w->at && w->at != UINTPTR_MAX)
        SET(tx, w->at, w->at - 1);
    return ST_OK;
}

/* state: the Var that comes next. */
static Status next_count(Tx *tx, WrapIterVar *w, Var **out)
{
    Var *next;
    *out = (Var *)w->state;
    TRY(var_binary(tx, *out, w->fn, BINOP_ADD, &next));
    SET(tx, w->state, (uintptr_t)next);
    return ST_OK;
}

/* its[1] collects what came; after the first pass (state) it is walked over and over. */
static Status next_cycle(Tx *tx, WrapIterVar *w, Var **out)
{
    ListVar *saved = AS(ListVar, w->its[1]);
    *out = NULL;
    if (!w->state) {
        TRY(var_next(tx, w->its[0], out));
        if (*out != NULL)
            return list_push(tx, saved, *out);
        SET(tx, w->state, 1);
    }
    if (saved->items.n == 0)
        return ST_OK;
    *out = saved->items.v[w->at];
    SET(tx, w->at, (w->at + 1) % saved->items.n);
    return ST_OK;
}

/* fn: what all copies have read; its[0] the source; state: where they say that it is being asked. */
static Status next_tee(Tx *tx, WrapIterVar *w, Var **out)
{
    ListVar *seen = AS(ListVar, w->fn);
    if (w->at == seen->items.n) {
        uintptr_t *running = (uintptr_t *)w->state;
        if (*running)
            return raise_type(tx, PyExc_RuntimeError, "%s",
                              "cannot re-enter the tee iterator");
        SET(tx, *running, 1);
        Status st = var_next(tx, w->its[0], out);
        if (st == ST_OK || st == ST_RAISE)
            SET(tx, *running, 0);
        if (st != ST_OK || *out == NULL)
            return st;
        TRY(list_push(tx, seen, *out));
    }
    *out = seen->items.v[w->at];
    SET(tx, w->at, w->at + 1);
    return ST_OK;
}

/* -- itertools: with a function ---------------------------------------------------------------- */

/* state: the total so far; its[1]: the initial value, given out first. */
static Status next_accumulate(Tx *tx, WrapIterVar *w, Var **out)
{
    Var *item, *total = (Var *)w->state;
    if (w->at == 0 && w->its[1] != NULL) {
        SET(tx, w->at, 1);
        SET(tx, w->state, (uintptr_t)w->its[1]);
        return *out = w->its[1], ST_OK;
    }
    TRY(var_next(tx, w->its[0], &item));
    if (item == NULL)
        return *out = NULL, ST_OK;
    if (total == NULL)
        total = item;
    else if (is_none(w->fn))
        TRY(var_binary(tx, total, item, BINOP_ADD, &total));
    else
        TRY(var_call2(tx, w->fn, total, item, &total));
    SET(tx, w->state, (uintptr_t)total);
    *out = total;
    return ST_OK;
}

static Status next_starmap(Tx *tx, WrapIterVar *w, Var **out)
{
    Var *item;
    Py_ssize_t n;
    Args a = { 0 };
    TRY(var_next(tx, w->its[0], &item));
    if (item == NULL)
        return *out = NULL, ST_OK;
    TRY(var_unpack(tx, item, &a.v, &n));
    a.n = (int)n;
    return var_call(tx, w->fn, &a, out);
}

static Status next_takewhile(Tx *tx, WrapIterVar *w, Var **out)
{
    bool yes;
    *out = NULL;
    if (w->state)
        return ST_OK;
    TRY(var_next(tx, w->its[0], out));
    if (*out == NULL)
        return ST_OK;
    TRY(passes(tx, w, *out, &yes));
    if (yes)
        return ST_OK;
    SET(tx, w->state, 1);
    *out = NULL;
    return ST_OK;
}

static Status next_dropwhile(Tx *tx, WrapIterVar *w, Var **out)
{
    for (;;) {
        TRY(var_next(tx, w->its[0], out));
        if (*out == NULL || w->state)
            return ST_OK;
        bool drop;
        TRY(passes(tx, w, *out, &drop));
        if (drop)
            continue;
        SET(tx, w->state, 1);
        return ST_OK;
    }
}

static Status next_compress(Tx *tx, WrapIterVar *w, Var **out)
{
    for (;;) {
        Var *want;
        bool yes;
        TRY(var_next(tx, w->its[0], out));
        if (*out == NULL)
            return ST_OK;
        TRY(var_next(tx, w->its[1], &want));
        if (want == NULL)
            return *out = NULL, ST_OK;
        TRY(var_truth(tx, want, &yes));
        if (yes)
            return ST_OK;
    }
}

/* -- itertools: several at once ------------------------------------------------------------------- */

/* state: the item before. */
static Status next_pairwise(Tx *tx, WrapIterVar *w, Var **out)
{
    Var *pair[2] = { (Var *)w->state };
    *out = NULL;
    if (w->its[0] == NULL)
        return ST_OK;
    if (pair[0] == NULL) {
        TRY(var_next(tx, w->its[0], &pair[0]));
        if (pair[0] == NULL)
            return drop_source(tx, w, out);
        SET(tx, w->state, (uintptr_t)pair[0]);
    }
    TRY(var_next(tx, w->its[0], &pair[1]));
    if (pair[1] == NULL)
        return drop_source(tx, w, out);
    SET(tx, w->state, (uintptr_t)pair[1]);
    return tuple_new(tx, pair, 2, out);
}

/* state: iterators that are not exhausted; those that are become NULL. fn: the fill value. */
static Status next_longest(Tx *tx, WrapIterVar *w, Var **out)
{
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(w->n + 1));
    MEM(items);
    *out = NULL;
    if (w->state == 0)
        return ST_OK;
    for (int i = 0; i < w->n; i++) {
        items[i] = w->fn;
        if (w->its[i] == NULL)
            continue;
        TRY(var_next(tx, w->its[i], &items[i]));
        if (items[i] != NULL)
            continue;
        SET(tx, w->state, w->state - 1);
        if (w->state == 0)
            return ST_OK;
        put_cell(tx, &w->its[i], NULL);
        items[i] = w->fn;
    }
    return tuple_new(tx, items, w->n, out);
}

/* state: a list of tuples of positions, made by the real product, permutations …; its: the pools, one for all (n 1) or
 * one a position. */
static Status next_combination(Tx *tx, WrapIterVar *w, Var **out)
{
    PyObject *rows = (PyObject *)w->state;
    *out = NULL;
    if ((Py_ssize_t)w->at >= PyList_GET_SIZE(rows))
        return ST_OK;
    PyObject *r = PyList_GET_ITEM(rows, (Py_ssize_t)w->at);
    Py_ssize_t n = PyTuple_GET_SIZE(r), len;
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1)), **pool;
    MEM(items);
    for (Py_ssize_t i = 0; i < n; i++) {
        bool known;
        TRY(items_peek(tx, w->its[w->strict ? i : 0], &pool, &len, &known));
        items[i] = pool[PyLong_AsSsize_t(PyTuple_GET_ITEM(r, i))];
    }
    SET(tx, w->at, w->at + 1);
    return tuple_new(tx, items, n, out);
}

/* -- The kind ------------------------------------------------------------------------------------------ */

static Status (*const nexts[128])(Tx *tx, WrapIterVar *w, Var **out) = {
    ['m'] = next_map,         ['f'] = next_filter,    ['F'] = next_filter,
    ['z'] = next_zip,         ['e'] = next_enumerate, ['c'] = next_callable,
    ['q'] = next_index,       ['R'] = next_index,     ['h'] = next_chain,
    ['s'] = next_islice,      ['r'] = next_repeat,    ['n'] = next_count,
    ['y'] = next_cycle,       ['T'] = next_tee,       ['a'] = next_accumulate,
    ['S'] = next_starmap,     ['t'] = next_takewhile, ['d'] = next_dropwhile,
    ['C'] = next_compress,    ['p'] = next_pairwise,  ['Z'] = next_longest,
    ['i'] = next_combination,
};

Status wrapiter_step(Tx *tx, WrapIterVar *w, Var **out)
{
    assert(nexts[(unsigned char)w->what]);
    if (w->busy) /* its function, or what it walks, asks it for the next item */
        return graph_break(tx, BRK_NO_SLOT, "%s", "an iterator that is asked from inside");
    SET(tx, w->busy, 1);
    Status st = nexts[(unsigned char)w->what](tx, w, out);
    SET(tx, w->busy, 0);
    return st;
}

/* A StopIteration out of a mapped function ends the iteration like any other. */
static Status wrapiter_next(Tx *tx, Var *self, Var **out)
{
    Status st = wrapiter_step(tx, AS(WrapIterVar, self), out);
    if (st != ST_RAISE || !exc_matches(tx, PyExc_StopIteration))
        return st;
    exc_clear(tx);
    *out = NULL;
    return ST_OK;
}

static Status wrapiter_iter(Tx *tx, Var *self, Var **out)
{
    *out = self;
    return ST_OK;
}

static Status wrapiter_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

const VarKind kind_wrapiter = {
    .name = "wrapiter",
    .id = KIND_wrapiter,
    .iter = wrapiter_iter,
    .next = wrapiter_next,
    .truth = wrapiter_truth,
};
