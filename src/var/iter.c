/*
 * var/iter.c -- iterators over one container, and existing built-in iterators.
 *
 * Takes: a container Var or a snapshot of items. Gives: items one by one; lists are looked at anew each time, dicts,
 * sets and deques notice changes as CPython's iterators do. An existing iterator is a question ("does it have a next
 * item?") and a source for the item, so that code behind a break in a loop serves every iteration.
 */
#include "cpy/peek.h"
#include "var/container.h"

/* -- Making ------------------------------------------------------------------------ */

static uintptr_t stamp_of(Var *seq)
{
    if (seq->kind == &kind_dict)
        return dict_drops(AS(DictVar, seq));
    if (seq->kind == &kind_dictview)
        return dict_drops(AS(DictVar, AS(DictViewVar, seq)->dict));
    if (seq->kind == &kind_list)
        return AS(ListVar, seq)->stirs;
    if (seq->kind == &kind_set)
        return AS(SetVar, seq)->log.n ^ (uintptr_t)AS(SetVar, seq)->shadow;
    return 0;
}

static bool over_odict(Var *seq)
{
    Var *d = seq->kind == &kind_dictview ? AS(DictViewVar, seq)->dict : seq;
    return d->kind == &kind_dict && is_odict(AS(DictVar, d));
}

Status iter_make(Tx *tx, PyTypeObject *t, Var *seq, Var **items, Py_ssize_t n,
                 IterVar **out)
{
    IterVar *it;
    TRY(VAR_MAKE(tx, iter, IterVar, t, &it));
    it->seq = seq;
    it->items = items;
    it->n = n;
    it->step = 1;
    it->stamp = stamp_of(seq);
    if (over_odict(seq) && n == 0)
        it->seq = NULL; /* it looks at the first item now */
    *out = it;
    return ST_OK;
}

Status iter_stale(Tx *tx, IterVar *it, bool *yes)
{
    Py_ssize_t n = it->n;
    *yes = it->seq && stamp_of(it->seq) != it->stamp;
    if (it->seq && it->seq->kind == &kind_dict)
        TRY(dict_count(tx, AS(DictVar, it->seq), &n));
    else if (it->seq && it->seq->kind == &kind_dictview)
        TRY(dict_count(tx, AS(DictVar, AS(DictViewVar, it->seq)->dict), &n));
    *yes |= n != it->n;
    return ST_OK;
}

static Status make_const(Tx *tx, PyTypeObject *t, Var *seq, IterVar **out)
{
    bool known = false;
    Var **items = NULL;
    Py_ssize_t n = 0, i = 0, at = 0;
    PyObject *key;
    Py_hash_t h;
    if (PyTuple_Check(seq->real)) {
        TRY(items_peek(tx, seq, &items, &n, &known));
    } else if (PyAnySet_Check(seq->real)) {
        n = PySet_GET_SIZE(seq->real);
        MEM(items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1)));
        while (_PySet_NextEntry(seq->real, &at, &key, &h))
            TRY(seq->by_value ? const_item(tx, seq, key, -1, &items[i++])
                              : wrap_pinned(tx, key, NULL, &items[i++]));
    } else if ((n = PyObject_Size(seq->real)) < 0) {
        return raise_now(tx);
    }
    return iter_make(tx, t, seq, items, n, out);
}

Status iter_new(Tx *tx, PyTypeObject *t, Var *seq, Var **items, Py_ssize_t n, Var **out)
{
    IterVar *it;
    if (t == &PySeqIter_Type && var_is_instance(seq))
        return wrapiter_make(tx, t, 'q', NULL, &seq, 1, (WrapIterVar **)out);
    if (seq->kind == &kind_const && items == NULL)
        TRY(make_const(tx, t, seq, &it));
    else
        TRY(iter_make(tx, t, seq, items, n, &it));
    *out = &it->v;
    return ST_OK;
}

/* -- Next -------------------------------------------------------------------------- */

static Status exhaust(Tx *tx, IterVar *it, Var **out)
{
    SET(tx, it->seq, NULL);
    *out = NULL;
    return ST_OK;
}

/* The position to look at among n, advanced; -1: the end. */
static Py_ssize_t advance(Tx *tx, IterVar *it, Py_ssize_t n)
{
    Py_ssize_t i = it->step < 0 ? (Py_ssize_t)it->at - 1 : (Py_ssize_t)it->at;
    if (i < 0 || i >= n)
        return -1;
    SET(tx, it->at, it->step < 0 ? it->at - 1 : it->at + 1);
    return i;
}

static Status next_list(Tx *tx, IterVar *it, Var **out)
{
    ListVar *l = AS(ListVar, it->seq);
    TRY(list_open(tx, l));
    Py_ssize_t i = advance(tx, it, (Py_ssize_t)l->items.n);
    if (i < 0)
        return exhaust(tx, it, out);
    *out = l->items.v[i];
    return ST_OK;
}

static Status next_item(Tx *tx, IterVar *it, Var **out)
{
    Py_ssize_t i = advance(tx, it, it->n);
    if (i < 0)
        return exhaust(tx, it, out);
    *out = it->items[i];
    return ST_OK;
}

/* A deque must not change under its iterator. One that runs forward looks for that before it looks for the end. */
static Status next_deque(Tx *tx, IterVar *it, Var **out)
{
    ListVar *l = AS(ListVar, it->seq);
    bool forward = it->step > 0, changed = l->stirs != it->stamp;
    bool over = forward ? it->at >= (uintptr_t)it->n : it->at == 0;
    if (changed && (forward || !over)) {
        if (!forward)
            SET(tx, it->seq, NULL);
        return raise_type(tx, PyExc_RuntimeError, "deque mutated during iteration");
    }
    Py_ssize_t i = advance(tx, it, it->n);
    *out = i < 0 ? NULL : l->items.v[i];
    return ST_OK;
}

static Status check_dict(Tx *tx, IterVar *it, DictVar *d)
{
    Py_ssize_t n;
    TRY(dict_count(tx, d, &n));
    if (n < it->n && is_odict(d)) /* two wordings, by what has happened in between */
        return graph_break(tx, BRK_NO_SLOT, "%s",
                           "an OrderedDict that loses keys while it is iterated");
    if (n != it->n)
        return raise_type(tx, PyExc_RuntimeError,
                          is_odict(d) ? "OrderedDict mutated during iteration"
                                      : "dictionary changed size during iteration");
    if (dict_drops(d) != it->stamp)
        return graph_break(tx, BRK_NO_SLOT, "dict whose keys change while it is iterated");
    return ST_OK;
}

/* An OrderedDict's iterator knows its next item when it gives one: after the last it is exhausted. */
static Status look_ahead(Tx *tx, IterVar *it, DictVar *d, DictPos p)
{
    bool more;
    TRY(it->step < 0 ? dict_step_back(tx, d, &p, &more) : dict_step(tx, d, &p, &more));
    if (!more)
        SET(tx, it->seq, NULL);
    return ST_OK;
}

static Status next_dict(Tx *tx, IterVar *it, Var **out)
{
    bool view = it->seq->kind == &kind_dictview, more;
    char what = view ? AS(DictViewVar, it->seq)->what : 'k';
    DictVar *d = AS(DictVar, view ? AS(DictViewVar, it->seq)->dict : it->seq);
    TRY(check_dict(tx, it, d));
    DictPos p = { .at = it->at };
    TRY(it->step < 0 ? dict_step_back(tx, d, &p, &more) : dict_step(tx, d, &p, &more));
    if (!more)
        return exhaust(tx, it, out);
    SET(tx, it->at, p.at);
    if (is_odict(d))
        TRY(look_ahead(tx, it, d, p));
    Var *pair[2] = { p.key, p.value };
    if (what == 'i')
        return tuple_new(tx, pair, 2, out);
    *out = what == 'k' ? p.key : p.value;
    return ST_OK;
}

static Status next_set(Tx *tx, IterVar *it, Var **out)
{
    SetVar *s = AS(SetVar, it->seq);
    if ((Py_ssize_t)s->items.n != it->n)
        return raise_type(tx, PyExc_RuntimeError, "Set changed size during iteration");
    if (stamp_of(it->seq) != it->stamp)
        return graph_break(tx, BRK_NO_SLOT, "set that changes while it is iterated");
    return next_item(tx, it, out);
}

/* Strings, bytes, ranges … by their own item function. */
static Status next_const(Tx *tx, IterVar *it, Var **out)
{
    Py_ssize_t i = advance(tx, it, it->n);
    if (i < 0)
        return exhaust(tx, it, out);
    PyObject *item = tx_hold(tx, PySequence_GetItem(it->seq->real, i));
    TRY_PTR(item);
    return const_item(tx, it->seq, item, i, out);
}

static Status next_byte(Tx *tx, IterVar *it, Var **out)
{
    PyObject *now = AS(ByteArrayVar, it->seq)->now;
    Py_ssize_t i = advance(tx, it, PyBytes_GET_SIZE(now));
    return i < 0 ? exhaust(tx, it, out)
                 : const_int(tx, (unsigned char)PyBytes_AS_STRING(now)[i], out);
}

/* -- Existing iterators ---------------------------------------------------------------- */

static bool any_dirty(Tx *tx, const VarKind *kind)
{
    for (size_t i = 0; i < tx->dirty.n; i++)
        if (tx->dirty.v[i]->kind == kind)
            return true;
    return false;
}

/* What the iterator walks must be as it was: where the trace changed containers of its kind, it is looked at, which
 * also tells it apart from them in later calls. */
static Status check_under(Tx *tx, PyObject *real, Source *src)
{
    for (Py_ssize_t i = 0;; i++) {
        PyObject *under = cpy_iter_under(real, i);
        bool many = Py_TYPE(real) == &PyZip_Type;
        if (under == NULL)
            return ST_OK;
        Source *s = source_get(&tx->sources, SRC_UNDERLYING, src, NULL, many ? i : 0);
        MEM(s);
        Var *v;
        if (PyList_Check(under) || PyDict_Check(under)) {
            if (!any_dirty(tx, PyList_Check(under) ? &kind_list : &kind_dict))
                return ST_OK;
            TRY(wrap(tx, under, s, &v));
            Var *c = var_content(v);
            if (c == NULL || c->dirty)
                return graph_break(tx, BRK_NO_SLOT,
                                   "iterator over a container that was changed");
        } else if (cpy_iter_under(under, 0)) {
            TRY(check_under(tx, under, s));
        }
        if (!many)
            return ST_OK;
    }
}

/* Each item is a guard and a source of the entry: too dear for a loop that computes nothing. */
enum { MAX_IDLE = 1000 };

static Status next_existing(Tx *tx, IterVar *it, Var **out)
{
    PyObject *real = it->v.real, *item = NULL;
    Source *src = source_of(tx, &it->v);
    *out = NULL;
    MEM(src);
    if (it->stamp)
        return ST_OK;
    Py_ssize_t ahead = (Py_ssize_t)it->at;
    if (ahead > MAX_IDLE && tx->idle > MAX_IDLE)
        return graph_break(tx, BRK_LOOP_BUDGET, "%d items of an existing %s", MAX_IDLE,
                           Py_TYPE(real)->tp_name);
    if (tx->dirty.n)
        TRY(check_under(tx, real, src));
    int has = cpy_iter_peek(real, ahead, &item);
    if (has < 0)
        return graph_break(tx, BRK_NO_SLOT, "next item of an existing %s",
                           Py_TYPE(real)->tp_name);
    if (has && !tx_hold(tx, item))
        return ST_ERROR;
    TRY(guard_has_next(&tx->guards, src, has, ahead));
    TRY(touch(tx, &it->v));
    SET(tx, it->at, it->at + 1);
    if (!has) {
        SET(tx, it->stamp, 1);
        return ST_OK;
    }
    Source *s = source_get(&tx->sources, SRC_NEXTITEM, src, NULL, ahead);
    MEM(s);
    return lazy_new(tx, item, s, out);
}

static Status iter_next(Tx *tx, Var *self, Var **out)
{
    IterVar *it = AS(IterVar, self);
    if (self->real)
        return next_existing(tx, it, out);
    if (it->seq == NULL)
        return *out = NULL, ST_OK;
    const VarKind *k = it->seq->kind;
    if (k == &kind_list)
        return is_deque(AS(ListVar, it->seq)) ? next_deque(tx, it, out)
                                              : next_list(tx, it, out);
    if (k == &kind_dict || k == &kind_dictview)
        return next_dict(tx, it, out);
    if (k == &kind_set)
        return next_set(tx, it, out);
    if (k == &kind_bytearray)
        return next_byte(tx, it, out);
    return it->items || k != &kind_const ? next_item(tx, it, out)
                                         : next_const(tx, it, out);
}

/* -- The kind ------------------------------------------------------------------------------ */

static Status iter_self(Tx *tx, Var *self, Var **out)
{
    *out = self;
    return ST_OK;
}

static Status iter_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

const VarKind kind_iter = {
    .name = "iter",
    .id = KIND_iter,
    .iter = iter_self,
    .next = iter_next,
    .truth = iter_truth,
};
