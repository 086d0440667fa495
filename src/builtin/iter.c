/*
 * builtin/iter.c -- iter, next, reversed, zip, map, filter, enumerate and itertools.
 */
#include "builtin/parts.h"
#include "var/weak.h"

/* -- Shared ---------------------------------------------------------------------- */

Status iters_of(Tx *tx, const Args *a, int skip, Var ***its, int *n)
{
    *n = a->n > skip ? a->n - skip : 0;
    MEM(*its = tx_alloc(tx, sizeof(Var *) * (size_t)(*n + 2)));
    for (int i = 0; i < *n; i++)
        TRY(var_iter(tx, a->v[skip + i], &(*its)[i]));
    return ST_OK;
}

static Status is_none(Tx *tx, Var **v, bool *yes)
{
    *yes = true;
    if (*v == NULL)
        return ST_OK;
    TRY(var_real(tx, v));
    *yes = (*v)->kind == &kind_const && (*v)->real == Py_None;
    return ST_OK;
}

/* A wrapping iterator over all arguments behind the first `skip`. */
static Status wrap_all(Tx *tx, PyTypeObject *t, char what, Var *fn, const Args *a,
                       int skip, WrapIterVar **out)
{
    Var **its;
    int n;
    MEM(t);
    TRY(iters_of(tx, a, skip, &its, &n));
    return wrapiter_make(tx, t, what, fn, its, n, out);
}

/* … over one iterable. */
static Status wrap_one(Tx *tx, PyTypeObject *t, char what, Var *fn, Var *iterable,
                       WrapIterVar **out)
{
    Var *it;
    MEM(t);
    TRY(var_iter(tx, iterable, &it));
    return wrapiter_make(tx, t, what, fn, &it, 1, out);
}

/* -- iter, next, reversed ----------------------------------------------------------- */

static Status iter_(Tx *tx, const Args *a, Var **out)
{
    if (a->n == 1)
        return var_iter(tx, a->v[0], out);
    PyTypeObject *t;
    TRY(var_type_of(tx, a->v[0], &t));
    if (t->tp_call == NULL)
        return raise_type(tx, PyExc_TypeError, "iter(v, w): v must be callable");
    return wrapiter_make(tx, &PyCallIter_Type, 'c', a->v[0], &a->v[1], 1,
                         (WrapIterVar **)out);
}

static Status stop_iteration(Tx *tx, Var *value)
{
    Var *e;
    bool none = value == NULL || (value->kind == &kind_const && value->real == Py_None);
    TRY(exc_new(tx, (PyTypeObject *)PyExc_StopIteration, &value, none ? 0 : 1, &e));
    return raise_var(tx, e);
}

/* The object's own __next__, whose StopIteration passes as it is. */
static Status next_object(Tx *tx, const Args *a, Var **out)
{
    Var *v = NULL;
    Status st = var_call_special(tx, a->v[0], "__next__", NULL, 0, &v);
    if (st == ST_RAISE && a->n > 1 && exc_matches(tx, PyExc_StopIteration)) {
        exc_clear(tx);
        return *out = a->v[1], ST_OK;
    }
    TRY(st);
    if (v == NULL)
        return raise_type(tx, PyExc_TypeError, "'%.200s' object is not an iterator",
                          a->v[0]->type->tp_name);
    *out = v;
    return ST_OK;
}

static Status next_(Tx *tx, const Args *a, Var **out)
{
    Var *v;
    TRY(var_real(tx, &a->v[0]));
    if (var_is_instance(a->v[0]))
        return next_object(tx, a, out);
    if (a->v[0]->kind->next == NULL && a->v[0]->kind != &kind_opaque)
        return raise_type(tx, PyExc_TypeError, "'%.200s' object is not an iterator",
                          type_name(tx, a->v[0]));
    bool gen = a->v[0]->kind == &kind_gen;
    if (gen)
        tx->result = NULL;
    Status st = a->v[0]->kind == &kind_wrapiter
                    ? wrapiter_step(tx, AS(WrapIterVar, a->v[0]), &v)
                    : var_next(tx, a->v[0], &v);
    if (st == ST_RAISE && a->n > 1 && exc_matches(tx, PyExc_StopIteration)) {
        exc_clear(tx);
        return *out = a->v[1], ST_OK;
    }
    TRY(st);
    if (v != NULL || a->n > 1)
        return *out = v ? v : a->v[1], ST_OK;
    return stop_iteration(tx, gen ? tx->result : NULL);
}

static Status backwards(Tx *tx, PyTypeObject *t, Var *seq, Var **items, Py_ssize_t n,
                        Var **out)
{
    IterVar *it;
    TRY(iter_make(tx, t, seq, items, n, &it));
    it->step = -1;
    it->at = (uintptr_t)n;
    *out = &it->v;
    return ST_OK;
}

static Status reversed_const(Tx *tx, Var *seq, Var **out)
{
    if (PyRange_Check(seq->real)) {
        PyObject *step = tx_hold(tx, PyLong_FromLong(-1)), *slice, *r;
        MEM(step && (slice = tx_hold(tx, PySlice_New(Py_None, Py_None, step))));
        MEM(r = PyObject_GetItem(seq->real, slice));
        Var *range;
        TRY(const_new(tx, r, &range));
        return iter_new(tx, &PyRangeIter_Type, range, NULL, 0, out);
    }
    Py_ssize_t n = PySequence_Size(seq->real);
    if (n < 0)
        return raise_now(tx);
    return backwards(tx, &PyReversed_Type, seq, NULL, n, out);
}

static Status special(Tx *tx, Var *v, const char *which, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString(which));
    TRY_PTR(name);
    return var_special(tx, v, name, out);
}

static Status reversed_object(Tx *tx, Var *v, Var **out)
{
    Var *r, *len;
    Py_ssize_t n;
    WrapIterVar *w;
    TRY(special(tx, v, "__reversed__", &r));
    if (r != NULL && r != tx_none(tx))
        return var_call_special(tx, v, "__reversed__", NULL, 0, out);
    if (r == NULL)
        TRY(special(tx, v, "__getitem__", &r));
    if (r == NULL || r == tx_none(tx))
        return raise_type(tx, PyExc_TypeError, "'%.200s' object is not reversible",
                          v->type->tp_name);
    TRY(var_len(tx, v, &len));
    TRY(var_index(tx, len, &n));
    TRY(wrapiter_make(tx, &PyReversed_Type, 'R', NULL, &v, 1, &w));
    w->at = (uintptr_t)n;
    *out = &w->v;
    return ST_OK;
}

/* What a proxy stands for; NULL: it is none. */
static Status proxied(Tx *tx, Var *v, Var **under)
{
    *under = v->kind == &kind_proxy ? AS(ProxyVar, v)->mapping : NULL;
    return v->kind == &kind_weakproxy ? weak_referent(tx, v, under) : ST_OK;
}

static Status reversed_(Tx *tx, const Args *a, Var **out)
{
    Var **items, *v, *under, *method;
    Py_ssize_t n;
    bool known;
    TRY(var_real(tx, &a->v[0]));
    v = a->v[0];
    if (var_is_instance(v) || v->kind == &kind_list || v->kind == &kind_dict ||
        v->kind == &kind_dictview || v->kind == &kind_class)
        return reversed_object(tx, v, out);
    if (v->kind == &kind_tuple) {
        TRY(items_peek(tx, v, &items, &n, &known));
        return backwards(tx, &PyReversed_Type, v, items, n, out);
    }
    if (v->kind == &kind_const && PyTuple_Check(v->real)) {
        TRY(items_peek(tx, v, &items, &n, &known));
        return backwards(tx, &PyReversed_Type, v, items, n, out);
    }
    bool sequence = v->type->tp_as_sequence && v->type->tp_as_sequence->sq_item &&
                    v->type->tp_as_sequence->sq_length;
    if (v->kind == &kind_const && sequence)
        return reversed_const(tx, v, out);
    TRY(special(tx, v, "__reversed__", &method));
    TRY(proxied(tx, v, &under));
    if (under && method)
        return var_call_method(tx, under, "__reversed__", NULL, 0, out);
    if (sequence || method || v->kind == &kind_opaque)
        return ST_DECLINE;
    return raise_type(tx, PyExc_TypeError, "'%.200s' object is not reversible",
                      type_name(tx, v));
}

/* -- zip, map, filter, enumerate -------------------------------------------------------- */

static Status zip_(Tx *tx, const Args *a, Var **out)
{
    WrapIterVar *w;
    Var *strict = args_kw(a, "strict");
    bool yes = false;
    if (strict)
        TRY(var_truth(tx, strict, &yes));
    TRY(wrap_all(tx, &PyZip_Type, 'z', NULL, a, 0, &w));
    w->strict = yes;
    *out = &w->v;
    return ST_OK;
}

static Status map_(Tx *tx, const Args *a, Var **out)
{
    if (a->n < 2)
        return raise_type(tx, PyExc_TypeError, "map() must have at least two arguments.");
    return wrap_all(tx, &PyMap_Type, 'm', a->v[0], a, 1, (WrapIterVar **)out);
}

static Status filter_(Tx *tx, const Args *a, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    return wrap_one(tx, &PyFilter_Type, 'f', a->v[0], a->v[1], (WrapIterVar **)out);
}

static Status enumerate_(Tx *tx, const Args *a, Var **out)
{
    Var *iterable = args_get(a, 0, "iterable"), *start = args_get(a, 1, "start");
    WrapIterVar *w;
    PyTypeObject *t;
    if (iterable == NULL)
        return ST_DECLINE;
    if (start) {
        TRY(var_type_of(tx, start, &t));
        TRY(var_real(tx, &start));
        if (!(t->tp_as_number && t->tp_as_number->nb_index))
            return raise_type(tx, PyExc_TypeError,
                              "'%.200s' object cannot be interpreted as an integer",
                              t->tp_name);
        if (t != &PyLong_Type)
            return ST_DECLINE;
        if (start->kind == &kind_const && PyLong_CheckExact(start->real) &&
            !_PyLong_Sign(start->real))
            start = NULL;
    }
    TRY(wrap_one(tx, &PyEnum_Type, 'e', start, iterable, &w));
    *out = &w->v;
    return ST_OK;
}

/* -- itertools: one after the other ------------------------------------------------------- */

static Status chain_(Tx *tx, const Args *a, Var **out)
{
    Var *all, *it, **items = tx_alloc(tx, sizeof(Var *) * (size_t)(a->n + 1));
    MEM(items && known_type(TY_CHAIN));
    if (a->n)
        memcpy(items, a->v, sizeof(Var *) * (size_t)a->n);
    TRY(tuple_new(tx, items, a->n, &all));
    TRY(iter_new(tx, &PyTupleIter_Type, all, items, a->n, &it));
    return wrapiter_make(tx, known_types[TY_CHAIN], 'h', NULL, &it, 1,
                         (WrapIterVar **)out);
}

/* A class method: the class comes first. */
static Status chain_from(Tx *tx, const Args *a, Var **out)
{
    return wrap_one(tx, known_type(TY_CHAIN), 'h', NULL, a->v[a->n - 1],
                    (WrapIterVar **)out);
}

/* None leaves *out; what is no size becomes -1. */
static Status slice_number(Tx *tx, Var *v, Py_ssize_t *out)
{
    PyObject *k;
    TRY(var_const(tx, v, &k));
    if (k == NULL)
        return graph_break(tx, BRK_NO_SLOT, "islice() bound of type %s", type_name(tx, v));
    if (k == Py_None)
        return ST_OK;
    *out = PyNumber_AsSsize_t(k, PyExc_OverflowError);
    if (*out == -1)
        PyErr_Clear();
    return ST_OK;
}

#define BOUND " must be None or an integer: 0 <= x <= sys.maxsize."

static Status islice_(Tx *tx, const Args *a, Var **out)
{
    const Py_ssize_t no_stop = PY_SSIZE_T_MAX;
    Py_ssize_t start = 0, stop = no_stop, step = 1;
    WrapIterVar *w;
    if (a->n > 2)
        TRY(slice_number(tx, a->v[1], &start));
    TRY(slice_number(tx, a->v[a->n == 2 ? 1 : 2], &stop));
    if (stop == -1)
        return raise_type(tx, PyExc_ValueError, "Stop argument for islice()" BOUND);
    if (start < 0 || stop < 0)
        return raise_type(tx, PyExc_ValueError, "Indices for islice()" BOUND);
    if (a->n == 4)
        TRY(slice_number(tx, a->v[3], &step));
    if (step < 1)
        return raise_type(tx, PyExc_ValueError,
                          "Step for islice() must be a positive integer or None.");
    if (stop == no_stop)
        stop = -1;
    TRY(wrap_one(tx, known_type(TY_ISLICE), 's', NULL, a->v[0], &w));
    w->state = (uintptr_t)start;
    w->stop = stop;
    w->step = step;
    *out = &w->v;
    return ST_OK;
}

static Status repeat_(Tx *tx, const Args *a, Var **out)
{
    Var *object = args_get(a, 0, "object"), *times = args_get(a, 1, "times");
    WrapIterVar *w;
    Py_ssize_t n = -1;
    if (object == NULL)
        return ST_DECLINE;
    if (times) {
        TRY(var_ssize(tx, times, NULL, &n));
        n = n < 0 ? 0 : n;
    }
    MEM(known_type(TY_REPEAT));
    TRY(wrapiter_make(tx, known_types[TY_REPEAT], 'r', object, NULL, 0, &w));
    w->at = times ? (uintptr_t)n : UINTPTR_MAX;
    *out = &w->v;
    return ST_OK;
}

/* As PyNumber_Check; NULL: not given. */
static Status check_number(Tx *tx, Var *v)
{
    PyTypeObject *t;
    if (v == NULL)
        return ST_OK;
    TRY(var_type_of(tx, v, &t));
    const PyNumberMethods *nb = t->tp_as_number;
    bool number = (nb && (nb->nb_index || nb->nb_int || nb->nb_float)) ||
                  PyType_IsSubtype(t, &PyComplex_Type);
    return number ? ST_OK : raise_type(tx, PyExc_TypeError, "%s", "a number is required");
}

/* Counting in ones begins with a plain int, whatever kind of int it was given, if that is no long one. */
static Status plain_start(Tx *tx, Var *step, Var **start)
{
    Py_ssize_t n = 1;
    PyTypeObject *t, *s = &PyLong_Type;
    TRY(var_type_of(tx, *start, &t));
    if (step != NULL)
        TRY(var_type_of(tx, step, &s));
    if (t == &PyLong_Type || !PyType_IsSubtype(t, &PyLong_Type) ||
        !PyType_IsSubtype(s, &PyLong_Type))
        return ST_OK;
    if (step != NULL)
        TRY(var_ssize(tx, step, NULL, &n));
    if (n != 1)
        return ST_OK;
    Status st = var_ssize(tx, *start, NULL, &n);
    if (st == ST_RAISE)
        return exc_clear(tx), ST_OK;
    TRY(st);
    return const_int(tx, n, start);
}

static Status count_(Tx *tx, const Args *a, Var **out)
{
    Var *start = args_get(a, 0, "start"), *step = args_get(a, 1, "step");
    WrapIterVar *w;
    MEM(known_type(TY_COUNT));
    TRY(check_number(tx, start));
    TRY(check_number(tx, step));
    if (start == NULL)
        TRY(const_int(tx, 0, &start));
    TRY(plain_start(tx, step, &start));
    if (step == NULL)
        TRY(const_int(tx, 1, &step));
    TRY(wrapiter_make(tx, known_types[TY_COUNT], 'n', step, NULL, 0, &w));
    w->state = (uintptr_t)start;
    *out = &w->v;
    return ST_OK;
}

static Status cycle_(Tx *tx, const Args *a, Var **out)
{
    WrapIterVar *w;
    TRY(wrap_one(tx, known_type(TY_CYCLE), 'y', NULL, a->v[0], &w));
    TRY(list_new(tx, NULL, 0, &w->its[1]));
    *out = &w->v;
    return ST_OK;
}

/* An iterator that is a copy already stands for itself. */
static Status first_tee(Tx *tx, Var *it, WrapIterVar **out)
{
    Var *seen;
    uintptr_t *running = tx_alloc(tx, sizeof *running);
    MEM(running);
    *running = 0;
    if (it->kind == &kind_wrapiter && AS(WrapIterVar, it)->what == 'T')
        return *out = AS(WrapIterVar, it), ST_OK;
    TRY(list_new(tx, NULL, 0, &seen));
    TRY(wrapiter_make(tx, known_types[TY_TEE], 'T', seen, &it, 1, out));
    (*out)->state = (uintptr_t)running;
    return ST_OK;
}

static Status tee_like(Tx *tx, WrapIterVar *first, WrapIterVar **out)
{
    TRY(wrapiter_make(tx, known_types[TY_TEE], 'T', first->fn, first->its, 1, out));
    (*out)->state = first->state;
    (*out)->at = first->at;
    return ST_OK;
}

static Status tee_(Tx *tx, const Args *a, Var **out)
{
    Var *it, **copies;
    Py_ssize_t n = 2;
    if (a->n > 1)
        TRY(var_ssize(tx, a->v[1], NULL, &n));
    if (n < 0)
        return raise_type(tx, PyExc_ValueError, "n must be >= 0");
    MEM(known_type(TY_TEE));
    MEM(copies = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1)));
    if (n == 0)
        return tuple_new(tx, copies, n, out);
    TRY(var_iter(tx, a->v[0], &it));
    TRY(first_tee(tx, it, (WrapIterVar **)&copies[0]));
    for (Py_ssize_t i = 1; i < n; i++)
        TRY(tee_like(tx, AS(WrapIterVar, copies[0]), (WrapIterVar **)&copies[i]));
    return tuple_new(tx, copies, n, out);
}

/* -- itertools: with a function --------------------------------------------------------------- */

static Status accumulate_(Tx *tx, const Args *a, Var **out)
{
    Var *iterable = args_get(a, 0, "iterable"), *fn = args_get(a, 1, "func");
    Var *initial = args_kw(a, "initial");
    WrapIterVar *w;
    bool none;
    if (iterable == NULL)
        return ST_DECLINE;
    TRY(is_none(tx, &fn, &none));
    TRY(wrap_one(tx, known_type(TY_ACCUMULATE), 'a', none ? NULL : fn, iterable, &w));
    TRY(is_none(tx, &initial, &none));
    w->its[1] = none ? NULL : initial;
    *out = &w->v;
    return ST_OK;
}

#define WITH_FUNCTION(name, type, letter)                                                \
    static Status name(Tx *tx, const Args *a, Var **out)                                 \
    {                                                                                    \
        TRY(var_real(tx, &a->v[0]));                                                     \
        return wrap_one(tx, known_type(type), letter, a->v[0], a->v[1],                  \
                        (WrapIterVar **)out);                                            \
    }
WITH_FUNCTION(starmap_, TY_STARMAP, 'S')
WITH_FUNCTION(takewhile_, TY_TAKEWHILE, 't')
WITH_FUNCTION(dropwhile_, TY_DROPWHILE, 'd')
WITH_FUNCTION(filterfalse_, TY_FILTERFALSE, 'F')

/* -- itertools: several at once ------------------------------------------------------------------ */

static Status compress_(Tx *tx, const Args *a, Var **out)
{
    Var *its[2], *data = args_get(a, 0, "data"), *selectors = args_get(a, 1, "selectors");
    if (data == NULL || selectors == NULL)
        return ST_DECLINE;
    MEM(known_type(TY_COMPRESS));
    TRY(var_iter(tx, data, &its[0]));
    TRY(var_iter(tx, selectors, &its[1]));
    return wrapiter_make(tx, known_types[TY_COMPRESS], 'C', NULL, its, 2,
                         (WrapIterVar **)out);
}

static Status pairwise_(Tx *tx, const Args *a, Var **out)
{
    return wrap_one(tx, known_type(TY_PAIRWISE), 'p', NULL, a->v[0], (WrapIterVar **)out);
}

static Status zip_longest_(Tx *tx, const Args *a, Var **out)
{
    Var *fill = args_kw(a, "fillvalue");
    WrapIterVar *w;
    TRY(wrap_all(tx, known_type(TY_ZIP_LONGEST), 'Z', fill ? fill : tx_none(tx), a, 0,
                 &w));
    w->state = (uintptr_t)w->n;
    *out = &w->v;
    return ST_OK;
}

enum { ROWS_MAX = 100000 };

/* All tuples of positions that the real `type` makes of ranges as long as the pools. */
static Status positions(Tx *tx, PyTypeObject *type, Var **pools, int n, PyObject *extra,
                        PyObject **rows)
{
    PyObject *args = tx_hold(tx, PyTuple_New(n + (extra != NULL)));
    TRY_PTR(args);
    for (int i = 0; i < n; i++) {
        Var **items;
        Py_ssize_t len;
        bool known;
        TRY(items_peek(tx, pools[i], &items, &len, &known));
        PyObject *range = PyObject_CallFunction((PyObject *)&PyRange_Type, "n", len);
        TRY_PTR(range);
        PyTuple_SET_ITEM(args, i, range);
    }
    if (extra)
        PyTuple_SET_ITEM(args, n, Py_NewRef(extra));
    PyObject *it = tx_hold(tx, PyObject_CallObject((PyObject *)type, args));
    if (it == NULL)
        return raise_now(tx);
    *rows = tx_hold(tx, PyList_New(0));
    TRY_PTR(*rows);
    for (PyObject *row; (row = PyIter_Next(it)) != NULL;) {
        MEM(tx_hold(tx, row) && PyList_Append(*rows, row) == 0);
        if (PyList_GET_SIZE(*rows) > ROWS_MAX)
            return graph_break(tx, BRK_LOOP_BUDGET, "%s() of too many items",
                               type->tp_name);
    }
    return PyErr_Occurred() ? ST_ERROR : ST_OK;
}

static Status pool_of(Tx *tx, Var *iterable, Var **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_tuple_items(tx, iterable, &items, &n));
    return tuple_new(tx, items, n, out);
}

static Status combine(Tx *tx, PyTypeObject *type, Var **pools, int n, PyObject *extra,
                      bool many, Var **out)
{
    PyObject *rows = NULL;
    WrapIterVar *w;
    TRY(positions(tx, type, pools, n, extra, &rows));
    TRY(wrapiter_make(tx, type, 'i', NULL, pools, n, &w));
    w->state = (uintptr_t)rows;
    w->strict = many;
    *out = &w->v;
    return ST_OK;
}

static Status product_(Tx *tx, const Args *a, Var **out)
{
    Var *repeat = args_kw(a, "repeat");
    Py_ssize_t times = 1;
    if (repeat)
        TRY(var_ssize(tx, repeat, NULL, &times));
    if (times < 0)
        return raise_type(tx, PyExc_ValueError, "repeat argument cannot be negative");
    if (times > 64)
        return ST_DECLINE;
    int n = a->n * (int)times;
    Var **pools = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    MEM(pools && known_type(TY_PRODUCT));
    for (int i = 0; i < a->n; i++) {
        Var *pool;
        TRY(pool_of(tx, a->v[i], &pool));
        for (int k = 0; k < (int)times; k++)
            pools[k * a->n + i] = pool;
    }
    return combine(tx, known_types[TY_PRODUCT], pools, n, NULL, true, out);
}

/* permutations() looks at its length when it is there, the others convert it first. */
static Status choose(Tx *tx, const Args *a, KnownType type, Var **out)
{
    Var *iterable = args_get(a, 0, "iterable"), *r = args_get(a, 1, "r"), *pool;
    PyObject *k = NULL;
    Py_ssize_t n;
    if (iterable == NULL)
        return ST_DECLINE;
    MEM(known_type(type));
    if (type != TY_PERMUTATIONS)
        TRY(var_ssize(tx, r, NULL, &n));
    TRY(pool_of(tx, iterable, &pool));
    if (r) {
        TRY(var_const(tx, r, &k));
        if (k == NULL)
            return graph_break(tx, BRK_NO_SLOT, "length of type %s", type_name(tx, r));
    }
    return combine(tx, known_types[type], &pool, 1, k, false, out);
}

static Status permutations_(Tx *tx, const Args *a, Var **out)
{
    return choose(tx, a, TY_PERMUTATIONS, out);
}

static Status combinations_(Tx *tx, const Args *a, Var **out)
{
    return args_get(a, 1, "r") ? choose(tx, a, TY_COMBINATIONS, out) : ST_DECLINE;
}

static Status combinations_r_(Tx *tx, const Args *a, Var **out)
{
    return args_get(a, 1, "r") ? choose(tx, a, TY_COMBINATIONS_R, out) : ST_DECLINE;
}

/* -- The table ---------------------------------------------------------------------------------------- */

const Handler handlers_iter[] = {
    { "builtins.iter", 1, 2, iter_, NULL },
    { "builtins.next", 1, 2, next_, NULL },
    { "builtins.reversed", 1, 1, reversed_, NULL },
    { "builtins.zip", 0, -1, zip_, "strict" },
    { "builtins.map", 1, -1, map_, NULL },
    { "builtins.filter", 2, 2, filter_, NULL },
    { "builtins.enumerate", 0, 2, enumerate_, "iterable start" },
    { "itertools.chain", 0, -1, chain_, NULL },
    { "itertools.chain.from_iterable", 1, 2, chain_from, NULL },
    { "itertools.islice", 2, 4, islice_, NULL },
    { "itertools.repeat", 0, 2, repeat_, "object times" },
    { "itertools.count", 0, 2, count_, "start step" },
    { "itertools.cycle", 1, 1, cycle_, NULL },
    { "itertools.tee", 1, 2, tee_, NULL },
    { "itertools.accumulate", 0, 2, accumulate_, "iterable func initial" },
    { "itertools.starmap", 2, 2, starmap_, NULL },
    { "itertools.takewhile", 2, 2, takewhile_, NULL },
    { "itertools.dropwhile", 2, 2, dropwhile_, NULL },
    { "itertools.filterfalse", 2, 2, filterfalse_, NULL },
    { "itertools.compress", 0, 2, compress_, "data selectors" },
    { "itertools.pairwise", 1, 1, pairwise_, NULL },
    { "itertools.zip_longest", 0, -1, zip_longest_, "fillvalue" },
    { "itertools.product", 0, -1, product_, "repeat" },
    { "itertools.permutations", 0, 2, permutations_, "iterable r" },
    { "itertools.combinations", 0, 2, combinations_, "iterable r" },
    { "itertools.combinations_with_replacement", 0, 2, combinations_r_, "iterable r" },
    { 0 },
};
