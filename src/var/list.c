/*
 * var/list.c -- lists and deques, new or existing.
 *
 * Takes: item Vars. Gives: the results of list operations without touching the real list.
 * Holds: items of an open list are all there is and never NULL. A closed list (existing, content not asked for)
 * holds what was appended only, so that an append asks nothing of a list of any length. Removal at the front moves
 * the array's start, which makes queues cheap; arrays are replaced, not shifted, when the middle changes.
 */
#include "var/container.h"

/* -- Opening and writing ------------------------------------------------------------- */

static Status drop_all(Tx *tx, Var **old, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(drop(tx, old[i]));
    return ST_OK;
}

bool is_deque(ListVar *l)
{
    return l->v.type != &PyList_Type && known_type(TY_DEQUE) &&
           PyType_IsSubtype(l->v.type, known_types[TY_DEQUE]);
}

/* The real items as a list or the list itself; overridden __iter__ of subclasses is passed by. */
static PyObject *real_items(Tx *tx, ListVar *l)
{
    if (PyList_Check(l->v.real))
        return l->v.real;
    PyTypeObject *t = known_type(TY_DEQUE);
    PyObject *it = t ? tx_hold(tx, t->tp_iter(l->v.real)) : NULL;
    return it ? tx_hold(tx, PySequence_List(it)) : NULL;
}

Status list_open(Tx *tx, ListVar *l)
{
    if (tx->foreign && l->v.real && l->v.dirty)
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "code that runs by itself reads what was written before it");
    if (l->open)
        return ST_OK;
    Source *src = source_of(tx, &l->v);
    PyObject *real = real_items(tx, l);
    MEM(src && real);
    size_t n = (size_t)PyList_GET_SIZE(real), more = l->items.n;
    TRY(tx_opened(tx, n));
    TRY(guard_num(&tx->guards, GUARD_LEN, src, (Py_ssize_t)n));
    Var **items = tx_alloc(tx, sizeof(Var *) * (n + more + 1));
    MEM(items);
    for (size_t i = 0; i < n; i++) {
        Source *s = source_get(&tx->sources, SRC_INDEX, src, NULL, (Py_ssize_t)i);
        MEM(s);
        TRY(lazy_new(tx, PyList_GET_ITEM(real, i), s, &items[i]));
    }
    if (more)
        memcpy(items + n, l->items.v, sizeof(Var *) * more);
    SET(tx, l->items.v, items);
    SET(tx, l->items.n, n + more);
    SET(tx, l->items.cap, n + more + 1);
    SET(tx, l->open, 1);
    return ST_OK;
}

/* What lies behind n may be what a rewind brings back, so the cell is journalled too. */
void list_stir(Tx *tx, ListVar *l)
{
    if (is_deque(l))
        SET(tx, l->stirs, l->stirs + 1);
}

Status list_push(Tx *tx, ListVar *l, Var *item)
{
    tx->moves++;
    list_stir(tx, l);
    TRY(touch(tx, &l->v));
    if (l->items.n == l->items.cap) {
        MEM(vec_grow(&tx->arena, &tx->journal, &l->items, sizeof(Var *), l->items.n + 1));
        SET(tx, l->room, 0);
    }
    put_cell(tx, &l->items.v[l->items.n], item);
    SET(tx, l->items.n, l->items.n + 1);
    return ST_OK;
}

/* `items` is fresh memory with room for one more. */
Status list_write(Tx *tx, ListVar *l, Var **items, Py_ssize_t n)
{
    tx->moves++;
    TRY(touch(tx, &l->v));
    SET(tx, l->items.v, items);
    SET(tx, l->items.n, (size_t)n);
    SET(tx, l->items.cap, (size_t)n);
    SET(tx, l->room, 0);
    if (!l->open)
        SET(tx, l->open, 1);
    return ST_OK;
}

Status list_reverse(Tx *tx, ListVar *l)
{
    TRY(list_open(tx, l));
    size_t n = l->items.n;
    Var **items = tx_alloc(tx, sizeof(Var *) * (n + 1));
    MEM(items);
    for (size_t i = 0; i < n; i++)
        items[i] = l->items.v[n - 1 - i];
    return list_write(tx, l, items, (Py_ssize_t)n);
}

Status list_replace(Tx *tx, ListVar *l, Var **items, Py_ssize_t n)
{
    Var **copy = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    MEM(copy);
    if (n)
        memcpy(copy, items, sizeof(Var *) * (size_t)n);
    return list_write(tx, l, copy, n);
}

Status list_clear(Tx *tx, ListVar *l)
{
    if (l->v.real && !l->open) {
        if (is_deque(l))
            TRY(list_open(tx, l));
        else
            TRY(drop_content(tx, &l->v));
    }
    TRY(drop_all(tx, l->items.v, (Py_ssize_t)l->items.n));
    if (l->items.n)
        list_stir(tx, l);
    return list_replace(tx, l, NULL, 0);
}

Status list_delete_at(Tx *tx, ListVar *l, Py_ssize_t i)
{
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    assert(l->open && i >= 0 && i < n);
    tx->moves++;
    list_stir(tx, l);
    TRY(drop(tx, l->items.v[i]));
    TRY(touch(tx, &l->v));
    if (i == n - 1) {
        SET(tx, l->items.n, l->items.n - 1);
        return ST_OK;
    }
    if (i == 0) {
        SET(tx, l->room, l->room + 1);
        SET(tx, l->items.v, l->items.v + 1);
        SET(tx, l->items.n, l->items.n - 1);
        SET(tx, l->items.cap, l->items.cap - 1);
        return ST_OK;
    }
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)n);
    MEM(items);
    memcpy(items, l->items.v, sizeof(Var *) * (size_t)i);
    memcpy(items + i, l->items.v + i + 1, sizeof(Var *) * (size_t)(n - i - 1));
    return list_write(tx, l, items, n - 1);
}

/* Deques grow at both ends: what lies before the first item is kept as room. */
static Status push_first(Tx *tx, ListVar *l, Var *item)
{
    size_t n = l->items.n;
    if (l->room == 0) {
        size_t room = n / 2 + 8;
        Var **items = tx_alloc(tx, sizeof(Var *) * (room + n + 1));
        MEM(items);
        memcpy(items + room, l->items.v, sizeof(Var *) * n);
        TRY(list_write(tx, l, items + room, (Py_ssize_t)n));
        SET(tx, l->room, room);
    }
    tx->moves++;
    TRY(touch(tx, &l->v));
    SET(tx, l->items.v, l->items.v - 1);
    put_cell(tx, &l->items.v[0], item);
    SET(tx, l->items.n, n + 1);
    SET(tx, l->items.cap, l->items.cap + 1);
    SET(tx, l->room, l->room - 1);
    return ST_OK;
}

Status list_insert_at(Tx *tx, ListVar *l, Py_ssize_t i, Var *item)
{
    Py_ssize_t n = (Py_ssize_t)l->items.n;
    assert(l->open && i >= 0 && i <= n);
    list_stir(tx, l);
    if (i == n)
        return list_push(tx, l, item);
    if (i == 0)
        return push_first(tx, l, item);
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 2));
    MEM(items);
    memcpy(items, l->items.v, sizeof(Var *) * (size_t)i);
    items[i] = item;
    memcpy(items + i + 1, l->items.v + i, sizeof(Var *) * (size_t)(n - i));
    return list_write(tx, l, items, n + 1);
}

Status list_maxlen(Tx *tx, ListVar *l, Py_ssize_t *n)
{
    *n = -1;
    if (!is_deque(l))
        return ST_OK;
    if (l->maxlen == NULL && l->v.real) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString("maxlen"));
        Source *src = source_of(tx, &l->v);
        MEM(name && src);
        MEM(src = source_get(&tx->sources, SRC_GETSET, src, name, 0));
        PyObject *real = tx_hold(tx, PyObject_GetAttr(l->v.real, name));
        TRY_PTR(real);
        Var *v;
        TRY(wrap(tx, real, src, &v));
        SET(tx, l->maxlen, v);
    }
    PyObject *k = Py_None;
    if (l->maxlen)
        TRY(var_const(tx, l->maxlen, &k));
    if (k && k != Py_None)
        *n = PyLong_AsSsize_t(k);
    return ST_OK;
}

/* -- Making ---------------------------------------------------------------------------- */

Status list_make(Tx *tx, PyTypeObject *t, Var **items, Py_ssize_t n, ListVar **out)
{
    ListVar *l;
    TRY(VAR_MAKE(tx, list, ListVar, t, &l));
    l->open = 1;
    if (n) {
        MEM(l->items.v = tx_alloc(tx, sizeof(Var *) * (size_t)n));
        memcpy(l->items.v, items, sizeof(Var *) * (size_t)n);
        l->items.n = l->items.cap = (size_t)n;
    }
    *out = l;
    return ST_OK;
}

Status list_new(Tx *tx, Var **items, Py_ssize_t n, Var **out)
{
    return list_make(tx, &PyList_Type, items, n, (ListVar **)out);
}

/* A bounded deque drops from the other end. */
static Status push_bounded(Tx *tx, ListVar *l, Var *item, Py_ssize_t maxlen)
{
    if (maxlen == 0)
        return ST_OK;
    TRY(list_open(tx, l));
    TRY(list_push(tx, l, item));
    return (Py_ssize_t)l->items.n > maxlen ? list_delete_at(tx, l, 0) : ST_OK;
}

Status list_extend(Tx *tx, ListVar *l, Var *iterable)
{
    Var **items;
    Py_ssize_t n, maxlen;
    bool known;
    TRY(list_maxlen(tx, l, &maxlen));
    TRY(var_real(tx, &iterable));
    if (var_content(iterable) == &l->v) { /* as it is now */
        known = true;
        TRY(var_unpack(tx, is_deque(l) ? iterable : &l->v, &items, &n));
    } else
        TRY(items_exact(tx, iterable, &items, &n, &known));
    if (known) {
        for (Py_ssize_t i = 0; i < n; i++)
            TRY(maxlen < 0 ? list_push(tx, l, items[i])
                           : push_bounded(tx, l, items[i], maxlen));
        return ST_OK;
    }
    Var *it;
    TRY(var_iter(tx, iterable, &it));
    if (!is_deque(l))
        TRY(var_length_hint(tx, iterable));
    for (;;) {
        Var *item;
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(maxlen < 0 ? list_push(tx, l, item) : push_bounded(tx, l, item, maxlen));
    }
}

/* -- Slots: reading ----------------------------------------------------------------------- */

static Status list_len(Tx *tx, Var *self, Var **out)
{
    ListVar *l = AS(ListVar, self);
    if (l->open)
        return const_int(tx, (Py_ssize_t)l->items.n, out);
    Py_ssize_t n = Py_SIZE(self->real); /* of a deque too */
    PyObject *len = tx_hold(tx, PyLong_FromSsize_t(n));
    Source *src = source_of(tx, self);
    MEM(len && src);
    Expr *e = expr_len(&tx->exprs, src, len);
    MEM(e);
    if (l->items.n) {
        PyObject *k = tx_hold(tx, PyLong_FromSize_t(l->items.n));
        Expr *more = k ? expr_const(&tx->exprs, k) : NULL;
        MEM(more);
        MEM(e = expr_binary(&tx->exprs, BINOP_ADD, e, more));
    }
    return scalar_new(tx, e, out);
}

static Status list_truth(Tx *tx, Var *self, bool *yes)
{
    ListVar *l = AS(ListVar, self);
    *yes = l->items.n > 0;
    if (l->open || *yes)
        return ST_OK;
    Py_ssize_t n = Py_SIZE(self->real);
    Source *src = source_of(tx, self);
    MEM(src);
    TRY(guard_num(&tx->guards, GUARD_NONEMPTY, src, n > 0));
    *yes = n > 0;
    return ST_OK;
}

static Status list_iter(Tx *tx, Var *self, Var **out)
{
    ListVar *l = AS(ListVar, self);
    if (!is_deque(l))
        return iter_new(tx, &PyListIter_Type, self, NULL, 0, out);
    TRY(list_open(tx, l));
    return iter_new(tx, known_types[TY_DEQUE_ITER], self, l->items.v,
                    (Py_ssize_t)l->items.n, out);
}

static Status index_of(Tx *tx, ListVar *l, Var *key, const char *message, Py_ssize_t *i)
{
    if (is_const_int(key)) {
        *i = PyLong_AsSsize_t(key->real);
        if (*i == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            TRY(var_index(tx, key, i)); /* words the error */
        }
    } else {
        TRY(var_index(tx, key, i));
    }
    TRY(list_open(tx, l));
    if (*i < 0)
        *i += (Py_ssize_t)l->items.n;
    if (*i < 0 || *i >= (Py_ssize_t)l->items.n)
        return raise_type(tx, PyExc_IndexError, "%s", message);
    return ST_OK;
}

/* TypeError for a key that is neither an index nor a slice. */
static Status check_key(Tx *tx, ListVar *l, Var **key)
{
    TRY(var_real(tx, key));
    PyTypeObject *t = (*key)->type;
    if (is_const_int(*key) ||
        ((*key)->kind == &kind_scalar && PyType_HasFeature(t, Py_TPFLAGS_LONG_SUBCLASS)))
        return ST_OK;
    bool index = t && t->tp_as_number && t->tp_as_number->nb_index;
    if (index || (is_slice(*key) && !is_deque(l)))
        return ST_OK;
    if (is_deque(l))
        return raise_type(tx, PyExc_TypeError,
                          "sequence index must be integer, not '%.200s'",
                          type_name(tx, *key));
    return raise_type(tx, PyExc_TypeError,
                      "list indices must be integers or slices, not %.200s",
                      type_name(tx, *key));
}

static Status get_slice(Tx *tx, ListVar *l, Var *key, Var **out)
{
    Py_ssize_t start, step, n;
    TRY(list_open(tx, l));
    TRY(slice_resolve(tx, key, (Py_ssize_t)l->items.n, &start, &step, &n));
    if (step == 1)
        return list_new(tx, l->items.v + start, n, out);
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    MEM(items);
    for (Py_ssize_t i = 0; i < n; i++)
        items[i] = l->items.v[start + i * step];
    return list_new(tx, items, n, out);
}

static Status list_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    ListVar *l = AS(ListVar, self);
    TRY(check_key(tx, l, &key));
    if (is_slice(key))
        return get_slice(tx, l, key, out);
    Py_ssize_t i;
    if (key->kind == &kind_scalar) {
        TRY(item_at(tx, self, key, out));
        if (*out != NULL)
            return ST_OK;
    }
    TRY(index_of(tx, l, key,
                 is_deque(l) ? "deque index out of range" : "list index out of range",
                 &i));
    *out = l->items.v[i];
    return ST_OK;
}

static Status list_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    ListVar *l = AS(ListVar, self);
    TRY(list_open(tx, l));
    for (size_t i = 0; i < l->items.n; i++) {
        TRY(item_equal(tx, l->items.v[i], item, yes));
        if (*yes)
            return ST_OK;
    }
    *yes = false;
    return ST_OK;
}

/* -- Slots: writing --------------------------------------------------------------------------- */

/* Takes n places at start, start+step … out, as `del l[slice]`. */
static Status delete_slice(Tx *tx, ListVar *l, Py_ssize_t start, Py_ssize_t step,
                           Py_ssize_t n)
{
    if (n == 0)
        return ST_OK;
    if (n == 1) /* the step may be huge, then */
        step = 1;
    if (step < 0) {
        start += step * (n - 1);
        step = -step;
    }
    Py_ssize_t len = (Py_ssize_t)l->items.n, kept = 0;
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(len - n + 1));
    MEM(items);
    for (Py_ssize_t i = 0; i < len; i++) {
        bool gone = i >= start && i < start + step * n && (i - start) % step == 0;
        if (gone)
            TRY(drop(tx, l->items.v[i]));
        else
            items[kept++] = l->items.v[i];
    }
    return list_write(tx, l, items, kept);
}

/* l[start:start+n] = values */
static Status splice(Tx *tx, ListVar *l, Py_ssize_t start, Py_ssize_t n, Var **values,
                     Py_ssize_t nvalues)
{
    Py_ssize_t len = (Py_ssize_t)l->items.n, tail = len - start - n;
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(len - n + nvalues + 1));
    MEM(items);
    TRY(drop_all(tx, l->items.v + start, n));
    if (start)
        memcpy(items, l->items.v, sizeof(Var *) * (size_t)start);
    if (nvalues)
        memcpy(items + start, values, sizeof(Var *) * (size_t)nvalues);
    if (tail)
        memcpy(items + start + nvalues, l->items.v + start + n,
               sizeof(Var *) * (size_t)tail);
    return list_write(tx, l, items, len - n + nvalues);
}

static Status set_slice(Tx *tx, ListVar *l, Var *key, Var *value)
{
    Py_ssize_t start, step, n, nvalues;
    Var **values;
    TRY(list_open(tx, l));
    TRY(slice_resolve(tx, key, (Py_ssize_t)l->items.n, &start, &step, &n));
    if (value == NULL)
        return delete_slice(tx, l, start, step, n);
    TRY(var_sequence(tx, value,
                     step == 1 ? "can only assign an iterable"
                               : "must assign iterable to extended slice",
                     &values, &nvalues));
    TRY(slice_resolve(tx, key, (Py_ssize_t)l->items.n, &start, &step, &n));
    if (step == 1)
        return splice(tx, l, start, n, values, nvalues);
    if (n != nvalues)
        return raise_type(
            tx, PyExc_ValueError,
            "attempt to assign sequence of size %zd to extended slice of size %zd",
            nvalues, n);
    Py_ssize_t len = (Py_ssize_t)l->items.n;
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(len + 1));
    MEM(items);
    memcpy(items, l->items.v, sizeof(Var *) * (size_t)len);
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(drop(tx, items[start + i * step]));
        items[start + i * step] = values[i];
    }
    return list_write(tx, l, items, len);
}

static Status list_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    ListVar *l = AS(ListVar, self);
    TRY(check_key(tx, l, &key));
    if (is_slice(key))
        return set_slice(tx, l, key, value);
    Py_ssize_t i;
    TRY(index_of(tx, l, key,
                 is_deque(l) ? "deque index out of range"
                             : "list assignment index out of range",
                 &i));
    if (value == NULL)
        return list_delete_at(tx, l, i);
    tx->moves++;
    TRY(drop(tx, l->items.v[i]));
    TRY(touch(tx, self));
    put_cell(tx, &l->items.v[i], value);
    return ST_OK;
}

/* -- Slots: operators ---------------------------------------------------------------------------- */

static Status concat(Tx *tx, ListVar *a, ListVar *b, Var **out)
{
    TRY(list_open(tx, a));
    TRY(list_open(tx, b));
    ListVar *l;
    size_t na = a->items.n, nb = b->items.n;
    TRY(list_make(tx, a->v.type, NULL, 0, &l));
    Var **items = tx_alloc(tx, sizeof(Var *) * (na + nb + 1));
    MEM(items);
    if (na)
        memcpy(items, a->items.v, sizeof(Var *) * na);
    if (nb)
        memcpy(items + na, b->items.v, sizeof(Var *) * nb);
    TRY(list_write(tx, l, items, (Py_ssize_t)(na + nb)));
    Py_ssize_t maxlen;
    TRY(list_maxlen(tx, a, &maxlen)); /* asks an existing one */
    l->maxlen = a->maxlen;
    if (maxlen >= 0 && (Py_ssize_t)l->items.n > maxlen)
        TRY(list_replace(tx, l, items + (Py_ssize_t)l->items.n - maxlen, maxlen));
    *out = &l->v;
    return ST_OK;
}

enum { REPEAT_MAX = 1 << 22 };

static Status repeat_items(Tx *tx, ListVar *l, Var *times, Var ***items, Py_ssize_t *total)
{
    Py_ssize_t n;
    TRY(var_ssize(tx, times, PyExc_OverflowError, &n));
    TRY(list_open(tx, l));
    size_t len = l->items.n;
    if (n < 0 || len == 0)
        n = 0;
    if (n && len > REPEAT_MAX / (size_t)n)
        return graph_break(tx, BRK_NO_SLOT, "list of %zu * %zd items", len, n);
    *total = (Py_ssize_t)len * n;
    MEM(*items = tx_alloc(tx, sizeof(Var *) * (size_t)(*total + 1)));
    for (Py_ssize_t i = 0; i < n; i++)
        memcpy(*items + (size_t)i * len, l->items.v, sizeof(Var *) * len);
    return ST_OK;
}

static Status multiply(Tx *tx, ListVar *l, Var *times, bool in_place, Var **out)
{
    Var **items = NULL;
    Py_ssize_t n = 0, maxlen;
    TRY(repeat_items(tx, l, times, &items, &n));
    TRY(list_maxlen(tx, l, &maxlen));
    if (maxlen >= 0 && n > maxlen) {
        items += n - maxlen;
        n = maxlen;
    }
    if (in_place) {
        *out = &l->v;
        return n == 0 ? list_clear(tx, l) : list_write(tx, l, items, n);
    }
    ListVar *made;
    TRY(list_make(tx, l->v.type, items, n, &made));
    made->maxlen = l->maxlen;
    *out = &made->v;
    return ST_OK;
}

static Status concat_error(Tx *tx, ListVar *l, Var *other)
{
    const char *t = is_deque(l) ? "deque" : "list";
    return raise_type(tx, PyExc_TypeError,
                      "can only concatenate %s (not \"%.200s\") to %s", t,
                      type_name(tx, other), t);
}

static Status list_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    ListVar *l = AS(ListVar, self);
    TRY(var_real(tx, &other));
    Var *c = var_content(other);
    *out = tx_notimpl(tx);
    if (op == BINOP_MULTIPLY || op == IN_PLACE(MULTIPLY)) {
        if (!is_count(other, reflected && op == IN_PLACE(MULTIPLY)) || goes_first(other))
            return ST_OK;
        return multiply(tx, l, other, op == IN_PLACE(MULTIPLY) && !reflected, out);
    }
    if ((op != BINOP_ADD && op != IN_PLACE(ADD)) || reflected || has_own_number(other))
        return ST_OK;
    if (op == IN_PLACE(ADD)) {
        TRY(list_extend(tx, l, other));
        *out = self;
        return ST_OK;
    }
    if (c == NULL || c->kind != &kind_list || is_deque(AS(ListVar, c)) != is_deque(l))
        return concat_error(tx, l, other);
    return concat(tx, l, AS(ListVar, c), out);
}

static Status list_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    ListVar *a = AS(ListVar, self), *b;
    TRY(var_real(tx, &other));
    Var *c = var_content(other);
    *out = tx_notimpl(tx);
    if (c == NULL || c->kind != &kind_list)
        return ST_OK;
    b = AS(ListVar, c);
    if (is_deque(a) != is_deque(b))
        return ST_OK;
    TRY(list_open(tx, a));
    TRY(list_open(tx, b));
    if (a->items.n != b->items.n && (op == Py_EQ || op == Py_NE) && !is_deque(a))
        return *out = tx_bool(tx, op == Py_NE), ST_OK;
    return compare_items(tx, a->items.v, (Py_ssize_t)a->items.n, b->items.v,
                         (Py_ssize_t)b->items.n, op, out);
}

static Status list_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    return raise_type(tx, PyExc_TypeError, "unhashable type: '%.200s'",
                      self->type->tp_name);
}

static Status list_repr(Tx *tx, Var *self, bool str, Var **out)
{
    ListVar *l = AS(ListVar, self);
    TRY(list_open(tx, l));
    Py_ssize_t maxlen;
    TRY(list_maxlen(tx, l, &maxlen));
    if (!is_deque(l))
        return repr_items(tx, self, l->items.v, (Py_ssize_t)l->items.n, "[", "]", out);
    char end[48] = "])";
    if (maxlen >= 0)
        PyOS_snprintf(end, sizeof end, "], maxlen=%zd)", maxlen);
    return repr_items(tx, self, l->items.v, (Py_ssize_t)l->items.n, "deque([", end, out);
}

static Status list_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    ListVar *l = AS(ListVar, self);
    if (is_deque(l) && PyUnicode_CompareWithASCIIString(name, "maxlen") == 0) {
        Py_ssize_t n;
        TRY(list_maxlen(tx, l, &n));
        return n < 0 ? (*out = tx_none(tx), ST_OK) : const_int(tx, n, out);
    }
    return var_generic_getattr(tx, self, name, out);
}

/* -- The kind -------------------------------------------------------------------------------------- */

const VarKind kind_list = {
    .name = "list",
    .id = KIND_list,
    .getattr = list_getattr,
    .iter = list_iter,
    .len = list_len,
    .getitem = list_getitem,
    .setitem = list_setitem,
    .contains = list_contains,
    .truth = list_truth,
    .compare = list_compare,
    .binary = list_binary,
    .hash = list_hash,
    .repr = list_repr,
};
