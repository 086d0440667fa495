/*
 * var/set.c -- sets and frozensets.
 *
 * Takes: hashable items. Gives: content by key, and CPython's iteration order where it can be known. Holds: the order
 * of a set is a matter of its history, so a real set goes through the same history: `shadow` as of the last bulk
 * operation, which runs for real on real sets, then `log` step by step, replayed when somebody asks for the order.
 * An existing set's table is not pinned by guards, only its order is: once something was added, or a set derived,
 * the order is unknown (`blurred`) and iterating breaks.
 */
#include "base/settable.h"
#include "var/consts.h"
#include "var/weak.h"

/* -- Real sets ---------------------------------------------------------------------- */

/* Steps with a key alone: what goes by identity is in no real set. */
static bool replay(PyObject *live, const SetOp *op)
{
    return (op->key == NULL && op->what != 'c') ||
           set_step(live, (char)op->what, op->key) == 0;
}

/* The real set as it is now. Not to be changed by the caller. */
static Status real_now(Tx *tx, SetVar *s, PyObject **out)
{
    size_t n = s->log.n, from = s->nlive;
    if (n == 0 && s->shadow)
        return *out = s->shadow, ST_OK;
    bool valid =
        s->live && from > 0 && from <= n && s->log.v[from - 1].serial == s->live_serial;
    if (!valid) {
        s->live = tx_hold(tx, s->shadow ? set_twin(s->shadow, false) : PySet_New(NULL));
        TRY_PTR(s->live);
        s->nlive = from = 0;
    }
    for (; from < n; from++)
        MEM(replay(s->live, &s->log.v[from]));
    s->nlive = n;
    s->live_serial = n ? s->log.v[n - 1].serial : 0;
    *out = s->live;
    return ST_OK;
}

static Status log_op(Tx *tx, SetVar *s, char what, Var *item, PyObject *key)
{
    static uintptr_t serial;
    tx->moves++;
    SetOp op = { (uintptr_t)what, item, key, ++serial };
    MEM(VEC_PUSH(&tx->arena, &tx->journal, &s->log, op));
    return ST_OK;
}

/* A new real set takes over; the old log stays where it is for a rewind. */
static void set_base(Tx *tx, SetVar *s, PyObject *real)
{
    SET(tx, s->shadow, real);
    SET(tx, s->log.n, 0);
    SET(tx, s->log.cap, 0);
    SET(tx, s->log.v, NULL);
    s->live = NULL;
}

/* -- Making and opening ----------------------------------------------------------------- */

Status set_make(Tx *tx, PyTypeObject *t, SetVar **out)
{
    TRY(VAR_MAKE(tx, set, SetVar, t, out));
    (*out)->open = 1;
    return ST_OK;
}

Status set_new(Tx *tx, PyTypeObject *t, Var **out)
{
    return set_make(tx, t, (SetVar **)out);
}

static bool member_safe(PyObject *key)
{
    return key_plain(key) || torch_is_tensor(key) ||
           Py_TYPE(key)->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

static Status put_real(Tx *tx, SetVar *s, PyObject *key, Py_hash_t h)
{
    Var *v;
    if (keymap_find(&s->items, key, h))
        return ST_OK;
    TRY(wrap_member(tx, key, &v));
    MEM(keymap_put(&s->items, &tx->arena, &tx->journal, key, h, v, v));
    return ST_OK;
}

/* Members of a real set into items. */
static Status fill(Tx *tx, SetVar *s, PyObject *real)
{
    Py_ssize_t at = 0;
    PyObject *key;
    Py_hash_t h;
    while (_PySet_NextEntry(real, &at, &key, &h)) {
        if (!member_safe(key))
            return graph_break(tx, BRK_DYN_KEY, "a %s is a member", Py_TYPE(key)->tp_name);
        TRY(put_real(tx, s, key, h));
    }
    return ST_OK;
}

Status set_open(Tx *tx, SetVar *s)
{
    if (s->open)
        return ST_OK;
    Source *src = source_of(tx, &s->v);
    PyObject *copy = tx_hold(tx, PyFrozenSet_New(s->v.real));
    MEM(src && copy);
    TRY(tx_opened(tx, (size_t)PySet_GET_SIZE(copy)));
    TRY(guard_obj(&tx->guards, GUARD_SETEQ, src, copy));
    TRY(fill(tx, s, s->v.real));
    SET(tx, s->shadow, s->v.real);
    SET(tx, s->open, 1);
    return ST_OK;
}

/* The table's state is not known from the trace alone. */
static bool hidden(SetVar *s)
{
    return s->blurred || s->v.real != NULL;
}

static void blur(Tx *tx, SetVar *s)
{
    if (!s->blurred)
        SET(tx, s->blurred, 1);
}

/* -- Members --------------------------------------------------------------------------------- */

static Status freeze_key(Tx *tx, SetVar *s, PyObject **key, Py_hash_t *h);

static Status hash_member(Tx *tx, Var **item, PyObject **key, Py_hash_t *h, bool sets)
{
    TRY(var_real(tx, item));
    if (sets && (*item)->kind == &kind_set && (*item)->type == &PySet_Type)
        return freeze_key(tx, AS(SetVar, *item), key, h);
    return var_hash(tx, *item, key, h);
}

static KeyEntry *find_keyless(Tx *tx, SetVar *s, Var *item)
{
    item = same_object(item);
    if (item->kind == &kind_weakref)
        item = weak_key(tx, &s->items, item);
    return keymap_find_id(&s->items, item);
}

static KeyEntry *find_member(Tx *tx, SetVar *s, Var *item, PyObject *key, Py_hash_t h)
{
    return key ? keymap_find(&s->items, key, h) : find_keyless(tx, s, item);
}

static Status add_member(Tx *tx, SetVar *s, Var *item, PyObject *key, Py_hash_t h)
{
    if (find_member(tx, s, item, key, h))
        return ST_OK;
    item = key ? item : same_object(item);
    TRY(touch(tx, &s->v));
    MEM(keymap_put(&s->items, &tx->arena, &tx->journal, key, h, item, item));
    if (s->v.real)
        blur(tx, s);
    return log_op(tx, s, '+', item, key);
}

Status set_add(Tx *tx, SetVar *s, Var *item)
{
    PyObject *key;
    Py_hash_t h;
    TRY(hash_member(tx, &item, &key, &h, false));
    return add_member(tx, s, item, key, h);
}

Status set_discard(Tx *tx, SetVar *s, Var *item, bool *was)
{
    PyObject *key;
    Py_hash_t h;
    TRY(hash_member(tx, &item, &key, &h, true));
    TRY(set_open(tx, s));
    KeyEntry *e = find_member(tx, s, item, key, h);
    *was = e != NULL;
    if (e == NULL)
        return ST_OK;
    TRY(touch(tx, &s->v));
    Var *stored = e->value;
    PyObject *stored_key = e->key;
    keymap_del_entry(&s->items, &tx->journal, e);
    return log_op(tx, s, '-', stored, stored_key);
}

Status set_has(Tx *tx, SetVar *s, Var *item, bool *yes)
{
    PyObject *key;
    Py_hash_t h;
    TRY(hash_member(tx, &item, &key, &h, true));
    *yes = find_member(tx, s, item, key, h) != NULL;
    if (*yes || s->open)
        return ST_OK;
    TRY(set_open(tx, s));
    *yes = find_member(tx, s, item, key, h) != NULL;
    return ST_OK;
}

Status set_clear(Tx *tx, SetVar *s)
{
    if (s->v.real)
        TRY(drop_content(tx, &s->v));
    TRY(touch(tx, &s->v));
    if (!s->open)
        SET(tx, s->open, 1); /* whatever it held is gone */
    keymap_clear(&s->items, &tx->journal);
    if (s->blurred)
        SET(tx, s->blurred, 0);
    return log_op(tx, s, 'c', NULL, NULL);
}

/* Which member goes is a matter of the table; *out NULL: empty. */
Status set_pop(Tx *tx, SetVar *s, Var **out)
{
    PyObject *live;
    TRY(set_open(tx, s));
    *out = NULL;
    if (s->items.n == 0)
        return ST_OK;
    TRY(real_now(tx, s, &live));
    bool keyless = (Py_ssize_t)s->items.n > PySet_GET_SIZE(live);
    if (s->items.n > 1 && (s->v.real || s->blurred || keyless))
        return graph_break(tx, BRK_DYN_KEY, "pop() from a set whose history is hidden");
    size_t at = 0;
    KeyEntry *e = keymap_next(&s->items, &at);
    if (!keyless) {
        PyObject *probe = tx_hold(tx, set_twin(live, false)), *key;
        MEM(probe && (key = tx_hold(tx, PySet_Pop(probe))));
        Py_hash_t h = PyObject_Hash(key);
        e = keymap_find(&s->items, key, h);
    }
    TRY(touch(tx, &s->v));
    *out = e->value;
    PyObject *key = e->key;
    keymap_del_entry(&s->items, &tx->journal, e);
    return log_op(tx, s, 'p', *out, key);
}

/* -- Order ------------------------------------------------------------------------------------- */

static Status order_known(Tx *tx, SetVar *s, PyObject *live)
{
    bool keyless = (Py_ssize_t)s->items.n > PySet_GET_SIZE(live);
    if (s->items.n >= 2 && (s->blurred || keyless))
        return graph_break(tx, BRK_DYN_KEY,
                           "order of a set that depends on its hidden history");
    if (s->v.real == NULL || s->shadow != s->v.real || s->items.n < 2)
        return ST_OK;
    Source *src = source_of(tx, &s->v);
    PyObject *tuple = tx_hold(tx, PyTuple_New(PySet_GET_SIZE(s->v.real))), *key;
    Py_ssize_t pos = 0, i = 0;
    Py_hash_t h;
    MEM(src && tuple);
    while (_PySet_NextEntry(s->v.real, &pos, &key, &h))
        PyTuple_SET_ITEM(tuple, i++, Py_NewRef(key));
    return guard_obj(&tx->guards, GUARD_KEYS, src, tuple);
}

Status set_order(Tx *tx, SetVar *s, Var ***items, Py_ssize_t *n)
{
    PyObject *live, *key;
    Py_hash_t h;
    TRY(set_open(tx, s));
    TRY(real_now(tx, s, &live));
    TRY(order_known(tx, s, live));
    Var **v = tx_alloc(tx, sizeof(Var *) * (s->items.n + 1));
    MEM(v);
    size_t at = 0;
    Py_ssize_t i = 0, pos = 0;
    while (_PySet_NextEntry(live, &pos, &key, &h)) {
        KeyEntry *e = keymap_find(&s->items, key, h);
        if (NEVER(e == NULL))
            return graph_break(tx, BRK_DYN_KEY, "members of a set");
        v[i++] = e->value;
    }
    for (KeyEntry *e; (e = keymap_next(&s->items, &at)) != NULL;)
        if (e->key == NULL)
            v[i++] = e->value;
    *items = v;
    *n = i;
    return ST_OK;
}

/* -- Bulk operations ------------------------------------------------------------------------------ */

Status set_copy(Tx *tx, SetVar *s, PyTypeObject *t, SetVar **out)
{
    SetVar *made;
    PyObject *live;
    TRY(set_open(tx, s));
    TRY(real_now(tx, s, &live));
    TRY(set_make(tx, t, &made));
    made->shadow = tx_hold(tx, PySet_New(live));
    TRY_PTR(made->shadow);
    made->blurred = hidden(s);
    MEM(keymap_copy(&made->items, &tx->arena, &tx->journal, &s->items));
    *out = made;
    return ST_OK;
}

/* The members of a new set whose keys are those of `real`; the Vars come from a, then b. */
static Status take_members(Tx *tx, SetVar *made, PyObject *real, SetVar *a, SetVar *b)
{
    Py_ssize_t at = 0;
    PyObject *key;
    Py_hash_t h;
    while (_PySet_NextEntry(real, &at, &key, &h)) {
        KeyEntry *e = keymap_find(&a->items, key, h);
        if (e == NULL)
            e = keymap_find(&b->items, key, h);
        if (NEVER(e == NULL))
            return graph_break(tx, BRK_DYN_KEY, "members of a set");
        MEM(keymap_put(&made->items, &tx->arena, &tx->journal, key, h, e->id, e->value));
    }
    return ST_OK;
}

/* Those that go by identity: from[i] is taken if its being in `other` is `in`. */
static Status take_keyless(Tx *tx, SetVar *made, SetVar *from, SetVar *other, bool both,
                           bool in)
{
    size_t at = 0;
    for (KeyEntry *e; (e = keymap_next(&from->items, &at)) != NULL;)
        if (e->key == NULL && (both || (find_keyless(tx, other, e->id) != NULL) == in))
            MEM(keymap_put(&made->items, &tx->arena, &tx->journal, NULL, 0, e->id,
                           e->value));
    return ST_OK;
}

/* The slots themselves: what a subclass has in Python is traced, not run. */
static PyObject *compute(PyObject *a, PyObject *b, char op)
{
    const PyNumberMethods *m = PySet_Type.tp_as_number;
    return op == '|'   ? m->nb_or(a, b)
           : op == '&' ? m->nb_and(a, b)
           : op == '-' ? m->nb_subtract(a, b)
                       : m->nb_xor(a, b);
}

Status set_algebra(Tx *tx, SetVar *a, SetVar *b, char op, PyTypeObject *t, SetVar **out)
{
    SetVar *made;
    PyObject *ra, *rb;
    TRY(set_open(tx, a));
    TRY(set_open(tx, b));
    TRY(real_now(tx, a, &ra));
    TRY(real_now(tx, b, &rb));
    TRY(set_make(tx, t, &made));
    made->shadow = tx_hold(tx, compute(ra, rb, op));
    TRY_PTR(made->shadow);
    made->blurred = hidden(a) || hidden(b);
    /* As set_intersection: the smaller set is walked, the right one of two equally large ones. */
    bool from_b = op == '&' && b->items.n <= a->items.n;
    TRY(take_members(tx, made, made->shadow, from_b ? b : a, from_b ? a : b));
    TRY(take_keyless(tx, made, a, b, op == '|', op == '&'));
    if (op == '|' || op == '^')
        TRY(take_keyless(tx, made, b, a, op == '|', false));
    *out = made;
    return ST_OK;
}

/* A new set takes over the members of `to` and the real set that went through the bulk operation. */
Status set_become(Tx *tx, SetVar *s, SetVar *to)
{
    if (s->v.real != NULL)
        return graph_break(tx, BRK_NO_SLOT, "bulk operation on an existing set");
    PyObject *live;
    TRY(real_now(tx, to, &live)); /* its log, too */
    PyObject *base = tx_hold(tx, set_twin(live, false));
    TRY_PTR(base);
    set_base(tx, s, base);
    if (to->blurred)
        blur(tx, s);
    keymap_clear(&s->items, &tx->journal);
    MEM(keymap_copy(&s->items, &tx->arena, &tx->journal, &to->items));
    return ST_OK;
}

/* The set as it is now, for a log: what becomes of `s` later does not change it. */
static Status snapshot(Tx *tx, SetVar *s, SetVar **out)
{
    PyObject *live;
    TRY(real_now(tx, s, &live));
    TRY(set_make(tx, &PySet_Type, out));
    (*out)->shadow = tx_hold(tx, set_twin(live, false));
    TRY_PTR((*out)->shadow);
    MEM(keymap_copy(&(*out)->items, &tx->arena, &tx->journal, &s->items));
    return ST_OK;
}

/* The operation goes into the log with its operand, so that the real set's table goes the same way. */
static Status log_bulk(Tx *tx, SetVar *s, SetVar *b, char op)
{
    SetVar *operand;
    if (hidden(b) && b->items.n > 1)
        return graph_break(tx, BRK_NO_SLOT, "in-place operator of two existing sets");
    TRY(snapshot(tx, b, &operand));
    TRY(touch(tx, &s->v));
    blur(tx, s);
    return log_op(tx, s, op == '-' ? '_' : op, &operand->v, operand->shadow);
}

static Status add_all(Tx *tx, SetVar *s, const KeyMap *items)
{
    size_t at = 0;
    for (KeyEntry *e; (e = keymap_next(items, &at)) != NULL;)
        if (!find_member(tx, s, e->id, e->key, e->hash))
            MEM(keymap_put(&s->items, &tx->arena, &tx->journal, e->key, e->hash, e->id,
                           e->value));
    return ST_OK;
}

static Status algebra_existing(Tx *tx, SetVar *s, SetVar *b, char op)
{
    SetVar *to;
    if (op == '|') {
        TRY(log_bulk(tx, s, b, op));
        return add_all(tx, s, &b->items);
    }
    TRY(set_algebra(tx, s, b, op, &PySet_Type, &to));
    TRY(log_bulk(tx, s, b, op));
    keymap_clear(&s->items, &tx->journal);
    MEM(keymap_copy(&s->items, &tx->arena, &tx->journal, &to->items));
    return ST_OK;
}

/* s op= b for sets. */
Status set_algebra_in_place(Tx *tx, SetVar *s, SetVar *b, char op)
{
    SetVar *to;
    PyObject *rs, *rb;
    TRY(set_open(tx, b));
    if (s->v.real != NULL)
        return algebra_existing(tx, s, b, op);
    TRY(set_algebra(tx, s, b, op, &PySet_Type, &to));
    TRY(real_now(tx, s, &rs));
    TRY(real_now(tx, b, &rb));
    PyObject *real = tx_hold(tx, set_twin(rs, false));
    MEM(real && set_in_place(real, s == b ? real : rb, op) == 0);
    to->shadow = real;
    return set_become(tx, s, to);
}

/* A real dict of the same keys, and one for the log. */
static Status keys_of(Tx *tx, DictVar *d, PyObject **real, DictVar **copy)
{
    KeyEntry *e;
    Py_ssize_t n;
    TRY(dict_entries(tx, d, &e, &n));
    TRY(dict_make(tx, &PyDict_Type, copy));
    MEM(*real = tx_hold(tx, PyDict_New()));
    for (Py_ssize_t i = 0; i < n; i++) {
        if (e[i].key)
            MEM(_PyDict_SetItem_KnownHash(*real, e[i].key, Py_None, e[i].hash) == 0);
        TRY(dict_store(tx, *copy, e[i].id, e[i].key, e[i].hash, tx_none(tx)));
    }
    return ST_OK;
}

/* A dict is merged with the table made large enough first: done for real. */
static Status update_from_dict(Tx *tx, SetVar *s, DictVar *d)
{
    DictVar *copy;
    PyObject *keys, *live;
    TRY(keys_of(tx, d, &keys, &copy));
    if (s->v.real == NULL) {
        TRY(real_now(tx, s, &live));
        PyObject *real = tx_hold(tx, set_twin(live, false));
        MEM(real && _PySet_Update(real, keys) == 0);
        set_base(tx, s, real);
    } else {
        TRY(touch(tx, &s->v));
        blur(tx, s);
        TRY(log_op(tx, s, '|', &copy->v, keys));
    }
    size_t at = 0;
    for (KeyEntry *e; (e = keymap_next(&copy->writes, &at)) != NULL;)
        if (!find_member(tx, s, e->id, e->key, e->hash))
            MEM(keymap_put(&s->items, &tx->arena, &tx->journal, e->key, e->hash, e->id,
                           e->id));
    return ST_OK;
}

Status set_update(Tx *tx, SetVar *s, Var *iterable)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, iterable, &t));
    TRY(var_real(tx, &iterable));
    Var *c = var_content(iterable), *it, *item;
    if (PyType_IsSubtype(t, &PySet_Type) || PyType_IsSubtype(t, &PyFrozenSet_Type)) {
        SetVar *b;
        TRY(set_from(tx, iterable, true, &b));
        if (b != NULL)
            return b == s ? ST_OK : set_algebra_in_place(tx, s, b, '|');
    }
    if (t == &PyDict_Type && c && c->kind == &kind_dict)
        return update_from_dict(tx, s, AS(DictVar, c));
    TRY(var_iter(tx, iterable, &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(set_add(tx, s, item));
    }
}

Status set_from(Tx *tx, Var *v, bool like_only, SetVar **out)
{
    TRY(var_real(tx, &v));
    Var *c = var_content(v);
    *out = NULL;
    if (c && c->kind == &kind_set)
        return *out = AS(SetVar, c), set_open(tx, *out);
    if (v->kind == &kind_const && v->real && PyAnySet_Check(v->real)) {
        SetVar *s;
        TRY(set_make(tx, &PyFrozenSet_Type, &s));
        TRY(fill(tx, s, v->real));
        s->shadow = v->real;
        return *out = s, ST_OK;
    }
    if (v->kind == &kind_dictview && AS(DictViewVar, v)->what != 'v')
        return dictview_set(tx, AS(DictViewVar, v), out);
    if (like_only)
        return ST_OK;
    SetVar *s;
    TRY(set_make(tx, &PySet_Type, &s));
    TRY(set_update(tx, s, v));
    *out = s;
    return ST_OK;
}

/* -- Comparison ------------------------------------------------------------------------------------- */

static bool subset(Tx *tx, SetVar *a, SetVar *b)
{
    size_t at = 0;
    if (a->items.n > b->items.n)
        return false;
    for (KeyEntry *e; (e = keymap_next(&a->items, &at)) != NULL;)
        if (!find_member(tx, b, e->id, e->key, e->hash))
            return false;
    return true;
}

Status set_compare(Tx *tx, SetVar *a, SetVar *b, int op, bool *yes)
{
    TRY(set_open(tx, a));
    TRY(set_open(tx, b));
    size_t na = a->items.n, nb = b->items.n;
    switch (op) {
    case Py_EQ: *yes = na == nb && subset(tx, a, b); break;
    case Py_NE: *yes = na != nb || !subset(tx, a, b); break;
    case Py_LE: *yes = subset(tx, a, b); break;
    case Py_LT: *yes = na < nb && subset(tx, a, b); break;
    case Py_GE: *yes = subset(tx, b, a); break;
    default: *yes = nb < na && subset(tx, b, a); break;
    }
    return ST_OK;
}

/* -- Slots --------------------------------------------------------------------------------------------- */

static Status set_len(Tx *tx, Var *self, Var **out)
{
    TRY(set_open(tx, AS(SetVar, self)));
    return const_int(tx, (Py_ssize_t)AS(SetVar, self)->items.n, out);
}

static Status set_truth(Tx *tx, Var *self, bool *yes)
{
    SetVar *s = AS(SetVar, self);
    *yes = s->items.n > 0;
    if (s->open || *yes)
        return ST_OK;
    Source *src = source_of(tx, self);
    MEM(src);
    *yes = PySet_GET_SIZE(self->real) > 0;
    return guard_num(&tx->guards, GUARD_NONEMPTY, src, *yes);
}

static Status set_iter(Tx *tx, Var *self, Var **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(set_order(tx, AS(SetVar, self), &items, &n));
    return iter_new(tx, &PySetIter_Type, self, items, n, out);
}

static Status set_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    return set_has(tx, AS(SetVar, self), item, yes);
}

static PyTypeObject *base_type(PyTypeObject *t)
{
    return PyType_IsSubtype(t, &PyFrozenSet_Type) ? &PyFrozenSet_Type : &PySet_Type;
}

static char algebra_of(int op)
{
    switch (op) {
    case BINOP_OR:
    case IN_PLACE(OR): return '|';
    case BINOP_AND:
    case IN_PLACE(AND): return '&';
    case BINOP_SUBTRACT:
    case IN_PLACE(SUBTRACT): return '-';
    case BINOP_XOR:
    case IN_PLACE(XOR): return '^';
    default: return 0;
    }
}

static Status set_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    char what = algebra_of(op);
    SetVar *s = AS(SetVar, self), *b, *made;
    PyTypeObject *t;
    *out = tx_notimpl(tx);
    TRY(var_type_of(tx, other, &t));
    if (!what ||
        !(PyType_IsSubtype(t, &PySet_Type) || PyType_IsSubtype(t, &PyFrozenSet_Type)))
        return ST_OK;
    TRY(set_from(tx, other, true, &b));
    if (b == NULL)
        return ST_OK;
    bool in_place =
        op >= BINOP_COUNT && !reflected && base_type(self->type) == &PySet_Type;
    if (in_place) {
        TRY(set_algebra_in_place(tx, s, b, what));
        return *out = self, ST_OK;
    }
    SetVar *l = reflected ? b : s, *r = reflected ? s : b;
    TRY(set_algebra(tx, l, r, what, base_type(reflected ? t : self->type), &made));
    *out = &made->v;
    return ST_OK;
}

static Status slot_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    PyTypeObject *t;
    SetVar *b;
    bool yes;
    *out = tx_notimpl(tx);
    TRY(var_type_of(tx, other, &t));
    if (!PyType_IsSubtype(t, &PySet_Type) && !PyType_IsSubtype(t, &PyFrozenSet_Type))
        return ST_OK;
    TRY(set_from(tx, other, true, &b));
    if (b == NULL)
        return ST_OK;
    TRY(set_compare(tx, AS(SetVar, self), b, op, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* The members as a real frozenset, if they are plain. */
static Status freeze_key(Tx *tx, SetVar *s, PyObject **key, Py_hash_t *h)
{
    PyObject *live;
    size_t at = 0;
    TRY(set_open(tx, s));
    for (KeyEntry *e; (e = keymap_next(&s->items, &at)) != NULL;)
        if (e->key == NULL || !key_plain(e->key))
            return graph_break(tx, BRK_DYN_KEY, "set of objects as a key");
    TRY(real_now(tx, s, &live));
    *key = tx_hold(tx, PyFrozenSet_New(live));
    TRY_PTR(*key);
    *h = PyObject_Hash(*key);
    return *h == -1 ? ST_ERROR : ST_OK;
}

static Status set_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    if (base_type(self->type) == &PyFrozenSet_Type)
        return freeze_key(tx, AS(SetVar, self), key, h);
    return raise_type(tx, PyExc_TypeError, "unhashable type: '%.200s'",
                      self->type->tp_name);
}

static Status set_repr(Tx *tx, Var *self, bool str, Var **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(set_order(tx, AS(SetVar, self), &items, &n));
    const char *name = self->type->tp_name;
    if (n == 0)
        return const_new(tx, PyUnicode_FromFormat("%s()", name), out);
    if (self->type == &PySet_Type)
        return repr_items(tx, self, items, n, "{", "}", out);
    char open[128];
    PyOS_snprintf(open, sizeof open, "%.100s({", name);
    return repr_items(tx, self, items, n, open, "})", out);
}

/* -- The kind ---------------------------------------------------------------------------------------------- */

const VarKind kind_set = {
    .name = "set",
    .id = KIND_set,
    .iter = set_iter,
    .len = set_len,
    .contains = set_contains,
    .truth = set_truth,
    .compare = slot_compare,
    .binary = set_binary,
    .hash = set_hash,
    .repr = set_repr,
};
