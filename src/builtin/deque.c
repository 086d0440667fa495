/*
 * builtin/deque.c -- collections.deque: constructor and methods. Content and length limit live in a ListVar.
 */
#include "builtin/parts.h"

/* -- Both ends ------------------------------------------------------------------- */

static Status deque_self(Tx *tx, const Args *a, ListVar **l, Py_ssize_t *maxlen)
{
    SELF(it, ListVar, list);
    if (!is_deque(it))
        return ST_DECLINE;
    *l = it;
    return list_maxlen(tx, it, maxlen);
}

static Status push_back(Tx *tx, ListVar *l, Var *item, Py_ssize_t maxlen)
{
    if (maxlen == 0)
        return ST_OK;
    if (maxlen > 0)
        TRY(list_open(tx, l));
    TRY(list_push(tx, l, item));
    return maxlen > 0 && (Py_ssize_t)l->items.n > maxlen ? list_delete_at(tx, l, 0)
                                                         : ST_OK;
}

static Status push_front(Tx *tx, ListVar *l, Var *item, Py_ssize_t maxlen)
{
    if (maxlen == 0)
        return ST_OK;
    TRY(list_open(tx, l));
    TRY(list_insert_at(tx, l, 0, item));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    return maxlen > 0 && n > maxlen ? list_delete_at(tx, l, n - 1) : ST_OK;
}

static Status append(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(push_back(tx, l, a->v[1], maxlen));
    return give_none(tx, out);
}

static Status appendleft(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(push_front(tx, l, a->v[1], maxlen));
    return give_none(tx, out);
}

static Status extend(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_extend(tx, l, a->v[1]));
    return give_none(tx, out);
}

static Status extendleft(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen, n;
    Var **items, *it = a->v[1];
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(var_real(tx, &it));
    if (var_content(it) == &l->v) { /* as it is now */
        TRY(var_unpack(tx, it, &items, &n));
        TRY(list_new(tx, items, n, &it));
    }
    TRY(var_iter(tx, it, &it));
    for (;;) {
        Var *item;
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return give_none(tx, out);
        TRY(push_front(tx, l, item, maxlen));
    }
}

static Status take(Tx *tx, const Args *a, bool front, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_open(tx, l));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    if (n == 0)
        return raise_type(tx, PyExc_IndexError, "pop from an empty deque");
    *out = l->items.v[front ? 0 : n - 1];
    return list_delete_at(tx, l, front ? 0 : n - 1);
}

static Status pop_(Tx *tx, const Args *a, Var **out)
{
    return take(tx, a, false, out);
}

static Status popleft(Tx *tx, const Args *a, Var **out)
{
    return take(tx, a, true, out);
}

/* -- The whole ---------------------------------------------------------------------- */

static Status clear(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_clear(tx, l));
    return give_none(tx, out);
}

static Status rotate(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen, by = 1;
    TRY(deque_self(tx, a, &l, &maxlen));
    if (a->n > 1)
        TRY(var_ssize(tx, a->v[1], NULL, &by));
    TRY(list_open(tx, l));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    if (n > 1) /* all the way round, too */
        list_stir(tx, l);
    if (n == 0)
        return give_none(tx, out);
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    MEM(items);
    by = ((by % n) + n) % n;
    for (Py_ssize_t i = 0; i < n; i++)
        items[(i + by) % n] = l->items.v[i];
    TRY(list_write(tx, l, items, n));
    return give_none(tx, out);
}

static Status reverse(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_reverse(tx, l));
    return give_none(tx, out);
}

static Status copy(Tx *tx, const Args *a, Var **out)
{
    ListVar *l, *made;
    Py_ssize_t maxlen;
    TRY(deque_self(tx, a, &l, &maxlen));
    PyTypeObject *t;
    TRY(var_type_of(tx, a->v[0], &t));
    if (t != known_types[TY_DEQUE])
        return ST_DECLINE; /* the copy of a subclass's instance is one, too: made by its constructor */
    TRY(list_open(tx, l));
    TRY(list_make(tx, known_types[TY_DEQUE], l->items.v, (Py_ssize_t)l->items.n, &made));
    made->maxlen = l->maxlen;
    *out = &made->v;
    return ST_OK;
}

/* -- By position or value --------------------------------------------------------------- */

static Status count(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen, found;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_open(tx, l));
    TRY(count_item(tx, l->items.v, (Py_ssize_t)l->items.n, a->v[1], &found));
    return const_int(tx, found, out);
}

static Status index_(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen, start, stop, at = -1;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_open(tx, l));
    TRY(index_bounds(tx, a, 2, (Py_ssize_t)l->items.n, &start, &stop));
    if (start < stop)
        TRY(find_item(tx, l->items.v + start, stop - start, a->v[1], &at));
    if (at >= 0)
        return const_int(tx, at + start, out);
    Var *r;
    PyObject *text;
    TRY(var_repr(tx, a->v[1], &r));
    TRY(var_const(tx, r, &text));
    if (text == NULL)
        return graph_break(tx, BRK_NO_SLOT, "text of %s", type_name(tx, a->v[1]));
    return raise_type(tx, PyExc_ValueError, "%U is not in deque", text);
}

static Status insert(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen, i;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(var_ssize(tx, a->v[1], NULL, &i));
    TRY(list_open(tx, l));
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    if (n == maxlen)
        return raise_type(tx, PyExc_IndexError, "deque already at its maximum size");
    if (i < 0)
        i = i + n < 0 ? 0 : i + n;
    TRY(list_insert_at(tx, l, i > n ? n : i, a->v[2]));
    return give_none(tx, out);
}

static Status remove_(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen, at;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_open(tx, l));
    TRY(find_item(tx, l->items.v, (Py_ssize_t)l->items.n, a->v[1], &at));
    if (at < 0) {
        Var *r;
        PyObject *text;
        TRY(var_repr(tx, a->v[1], &r));
        TRY(var_const(tx, r, &text));
        if (text == NULL)
            return graph_break(tx, BRK_NO_SLOT, "text of %s", type_name(tx, a->v[1]));
        return raise_type(tx, PyExc_ValueError, "%U is not in deque", text);
    }
    TRY(list_delete_at(tx, l, at));
    return give_none(tx, out);
}

static Status reversed(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Py_ssize_t maxlen;
    IterVar *it;
    TRY(deque_self(tx, a, &l, &maxlen));
    TRY(list_open(tx, l));
    TRY(iter_make(tx, known_types[TY_DEQUE_REV], &l->v, l->items.v,
                  (Py_ssize_t)l->items.n, &it));
    it->step = -1;
    it->at = l->items.n;
    *out = &it->v;
    return ST_OK;
}

/* -- The constructor ------------------------------------------------------------------------ */

static Status check_maxlen(Tx *tx, Var **maxlen)
{
    Py_ssize_t n;
    TRY(var_real(tx, maxlen));
    if (*maxlen == tx_none(tx))
        return *maxlen = NULL, ST_OK;
    if (!PyType_HasFeature((*maxlen)->type, Py_TPFLAGS_LONG_SUBCLASS))
        return raise_type(tx, PyExc_TypeError, "an integer is required");
    TRY(var_ssize(tx, *maxlen, NULL, &n));
    if (n < 0)
        return raise_type(tx, PyExc_ValueError, "maxlen must be non-negative");
    return const_int(tx, n, maxlen);
}

static Status deque_init(Tx *tx, const Args *a, Var **out)
{
    SELF(l, ListVar, list);
    Var *maxlen = args_get(a, 2, "maxlen"), *iterable = args_get(a, 1, "iterable");
    if (!is_deque(l) || l->v.real)
        return ST_DECLINE;
    if (maxlen)
        TRY(check_maxlen(tx, &maxlen));
    SET(tx, l->maxlen, maxlen);
    if (l->items.n)
        TRY(list_replace(tx, l, NULL, 0));
    if (iterable)
        TRY(list_extend(tx, l, iterable));
    return give_none(tx, out);
}

static Status deque_new(Tx *tx, const Args *a, Var **out)
{
    MEM(known_type(TY_DEQUE));
    PyTypeObject *t = class_arg(a, known_types[TY_DEQUE]);
    if (t == NULL)
        return ST_DECLINE;
    return t == known_types[TY_DEQUE] ? list_make(tx, t, NULL, 0, (ListVar **)out)
                                      : object_new(tx, t, out);
}

static Status deque_(Tx *tx, const Args *a, Var **out)
{
    ListVar *l;
    Var *maxlen = args_get(a, 1, "maxlen"), *iterable = args_get(a, 0, "iterable");
    MEM(known_type(TY_DEQUE));
    if (maxlen)
        TRY(check_maxlen(tx, &maxlen));
    TRY(list_make(tx, known_types[TY_DEQUE], NULL, 0, &l));
    l->maxlen = maxlen;
    if (iterable)
        TRY(list_extend(tx, l, iterable));
    *out = &l->v;
    return ST_OK;
}

const Handler handlers_deque[] = {
    { "collections.deque", 0, 2, deque_, "iterable maxlen" },
    { "collections.deque.__new__", 1, -1, deque_new, ANY_KW },
    { "collections.deque.__init__", 1, 3, deque_init, "iterable maxlen" },
    { "collections.deque.append", 2, 2, append, NULL },
    { "collections.deque.appendleft", 2, 2, appendleft, NULL },
    { "collections.deque.extend", 2, 2, extend, NULL },
    { "collections.deque.extendleft", 2, 2, extendleft, NULL },
    { "collections.deque.pop", 1, 1, pop_, NULL },
    { "collections.deque.popleft", 1, 1, popleft, NULL },
    { "collections.deque.clear", 1, 1, clear, NULL },
    { "collections.deque.rotate", 1, 2, rotate, NULL },
    { "collections.deque.reverse", 1, 1, reverse, NULL },
    { "collections.deque.copy", 1, 1, copy, NULL },
    { "collections.deque.__copy__", 1, 1, copy, NULL },
    { "collections.deque.count", 2, 2, count, NULL },
    { "collections.deque.index", 2, 4, index_, NULL },
    { "collections.deque.insert", 3, 3, insert, NULL },
    { "collections.deque.remove", 2, 2, remove_, NULL },
    { "collections.deque.__reversed__", 1, 1, reversed, NULL },
    { 0 },
};
