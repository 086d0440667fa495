/*
 * var/dictview.c -- keys(), values() and items() of a dict: live views.
 *
 * Takes: a DictVar and which of the three. Gives: iteration in the dict's order, and the set operations of keys and
 * items, which make sets in the order CPython's do.
 */
#include "var/container.h"

PyTypeObject *dictview_type(DictVar *d, char what)
{
    bool od = is_odict(d);
    if (what == 'k')
        return od ? &PyODictKeys_Type : &PyDictKeys_Type;
    if (what == 'v')
        return od ? &PyODictValues_Type : &PyDictValues_Type;
    return od ? &PyODictItems_Type : &PyDictItems_Type;
}

Status dictview_new(Tx *tx, Var *dict, char what, Var **out)
{
    DictViewVar *w;
    TRY(VAR_MAKE(tx, dictview, DictViewVar, dictview_type(AS(DictVar, dict), what), &w));
    w->dict = dict;
    w->what = what;
    *out = &w->v;
    return ST_OK;
}

static DictVar *dict_of(DictViewVar *w)
{
    return AS(DictVar, w->dict);
}

Status dictview_set(Tx *tx, DictViewVar *w, SetVar **out)
{
    DictPos p = { 0 };
    bool more;
    SetVar *s;
    TRY(set_make(tx, &PySet_Type, &s));
    TRY(dict_open(tx, dict_of(w)));
    for (;;) {
        TRY(dict_step(tx, dict_of(w), &p, &more));
        if (!more)
            return *out = s, ST_OK;
        Var *item = p.key, *pair[2] = { p.key, p.value };
        if (w->what == 'i')
            TRY(tuple_new(tx, pair, 2, &item));
        TRY(set_add(tx, s, item));
    }
}

/* -- Slots ------------------------------------------------------------------------- */

static Status view_len(Tx *tx, Var *self, Var **out)
{
    return var_len(tx, AS(DictViewVar, self)->dict, out);
}

static Status view_truth(Tx *tx, Var *self, bool *yes)
{
    return var_truth(tx, AS(DictViewVar, self)->dict, yes);
}

static PyTypeObject *iter_type(DictViewVar *w)
{
    if (is_odict(dict_of(w)))
        return &PyODictIter_Type;
    return w->what == 'k'   ? &PyDictIterKey_Type
           : w->what == 'v' ? &PyDictIterValue_Type
                            : &PyDictIterItem_Type;
}

static Status view_iter(Tx *tx, Var *self, Var **out)
{
    DictViewVar *w = AS(DictViewVar, self);
    Py_ssize_t n;
    TRY(dict_count(tx, dict_of(w), &n));
    return iter_new(tx, iter_type(w), self, NULL, n, out);
}

/* (key, value) in items: a pair whose value equals what is stored. */
static Status has_pair(Tx *tx, DictVar *d, Var *pair, bool *yes)
{
    Var **items, *v;
    Py_ssize_t n;
    bool known;
    PyTypeObject *t;
    *yes = false;
    TRY(var_type_of(tx, pair, &t));
    if (!PyType_IsSubtype(t, &PyTuple_Type))
        return ST_OK;
    TRY(items_peek(tx, pair, &items, &n, &known));
    if (!known || n != 2)
        return ST_OK;
    TRY(dict_lookup(tx, d, items[0], &v));
    return v ? var_equal(tx, v, items[1], yes) : ST_OK;
}

static Status view_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    DictViewVar *w = AS(DictViewVar, self);
    DictPos p = { 0 };
    bool more;
    Var *v;
    if (w->what == 'k') {
        TRY(dict_lookup(tx, dict_of(w), item, &v));
        return *yes = v != NULL, ST_OK;
    }
    if (w->what == 'i')
        return has_pair(tx, dict_of(w), item, yes);
    TRY(dict_open(tx, dict_of(w)));
    for (*yes = false; !*yes;) {
        TRY(dict_step(tx, dict_of(w), &p, &more));
        if (!more)
            return ST_OK;
        TRY(item_equal(tx, p.value, item, yes));
    }
    return ST_OK;
}

static bool is_set_type(PyTypeObject *t)
{
    return PyType_IsSubtype(t, &PySet_Type) || PyType_IsSubtype(t, &PyFrozenSet_Type) ||
           PyType_IsSubtype(t, &PyDictKeys_Type) ||
           PyType_IsSubtype(t, &PyDictItems_Type);
}

static Status len_of(Tx *tx, Var *v, Py_ssize_t *n)
{
    Var *len;
    TRY(var_len(tx, v, &len));
    return var_index(tx, len, n);
}

static Status all_in(Tx *tx, Var *walked, Var *asked, bool *yes)
{
    Var *it, *item;
    TRY(var_iter(tx, walked, &it));
    for (*yes = true; *yes;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(var_contains(tx, asked, item, yes));
    }
    return ST_OK;
}

/* As dictview_richcompare: pairs are looked up one by one, and their values need no hash. */
static Status pairs_compare(Tx *tx, Var *self, Var *other, int op, bool *yes)
{
    Py_ssize_t n, m;
    TRY(len_of(tx, self, &n));
    TRY(len_of(tx, other, &m));
    bool turned = op == Py_GT || op == Py_GE;
    bool may = op == Py_LT   ? n < m
               : op == Py_LE ? n <= m
               : op == Py_GT ? n > m
               : op == Py_GE ? n >= m
                             : n == m;
    *yes = false;
    if (may)
        TRY(all_in(tx, turned ? other : self, turned ? self : other, yes));
    if (op == Py_NE)
        *yes = !*yes;
    return ST_OK;
}

static bool is_pairs(Var *v)
{
    return v->kind == &kind_dictview && AS(DictViewVar, v)->what == 'i';
}

static Status view_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    PyTypeObject *t;
    SetVar *a, *b;
    bool yes;
    *out = tx_notimpl(tx);
    if (AS(DictViewVar, self)->what == 'v')
        return ST_OK;
    TRY(var_type_of(tx, other, &t));
    if (!is_set_type(t))
        return ST_OK;
    TRY(var_real(tx, &other));
    if (is_pairs(self) || is_pairs(other)) {
        TRY(pairs_compare(tx, self, other, op, &yes));
        return *out = tx_bool(tx, yes), ST_OK;
    }
    TRY(set_from(tx, other, true, &b));
    if (b == NULL)
        return ST_OK;
    TRY(dictview_set(tx, AS(DictViewVar, self), &a));
    TRY(set_compare(tx, a, b, op, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* As dictviews_isdisjoint: the shorter side is walked, if the other is a set. */
Status dictview_disjoint(Tx *tx, Var *self, Var *other, bool *yes)
{
    PyTypeObject *t;
    Py_ssize_t n, m;
    Var *it, *item;
    TRY(var_type_of(tx, other, &t));
    TRY(var_real(tx, &other));
    TRY(len_of(tx, self, &n));
    if (self == other)
        return *yes = n == 0, ST_OK;
    if (t == &PySet_Type || t == &PyFrozenSet_Type ||
        (is_set_type(t) && other->kind == &kind_dictview)) {
        TRY(len_of(tx, other, &m));
        Var *longer = m > n ? other : self;
        other = m > n ? self : other;
        self = longer;
    }
    TRY(var_iter(tx, other, &it));
    for (*yes = false; !*yes;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return *yes = true, ST_OK;
        TRY(var_contains(tx, self, item, yes));
    }
    return *yes = false, ST_OK;
}

/* -- Set operations -------------------------------------------------------------------- */

/* Walks `walked` and keeps what `asked` contains. */
static Status common(Tx *tx, Var *walked, Var *asked, SetVar *made)
{
    Var *it, *item;
    bool yes;
    TRY(var_iter(tx, walked, &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(var_contains(tx, asked, item, &yes));
        if (yes)
            TRY(set_add(tx, made, item));
    }
}

static bool is_view(Var *v)
{
    return v->kind == &kind_dictview && AS(DictViewVar, v)->what != 'v';
}

/* As _PyDictView_Intersect: which side is walked decides the order. */
static Status intersect(Tx *tx, Var *view, Var *other, SetVar *made)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, other, &t));
    bool view2 = is_view(other);
    if (t == &PySet_Type || view2) {
        Py_ssize_t n, m;
        TRY(len_of(tx, view, &n));
        TRY(len_of(tx, other, &m));
        if (view2 ? m > n : n <= m)
            return common(tx, view, other, made);
    }
    return common(tx, other, view, made);
}

static Status difference(Tx *tx, SetVar *made, Var *other)
{
    SetVar *b;
    Var *it, *item;
    bool was;
    PyTypeObject *t;
    TRY(var_type_of(tx, other, &t));
    if (PyType_IsSubtype(t, &PySet_Type) || PyType_IsSubtype(t, &PyFrozenSet_Type)) {
        TRY(set_from(tx, other, true, &b));
        if (b)
            return set_algebra_in_place(tx, made, b, '-');
    }
    TRY(var_iter(tx, other, &it));
    for (;;) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            return ST_OK;
        TRY(set_discard(tx, made, item, &was));
    }
}

/* set(left), as dictviews_to_set: the keys of an exact dict are taken from the dict at once. */
static Status left_set(Tx *tx, Var *left, SetVar **out)
{
    if (!is_view(left)) {
        TRY(set_from(tx, left, false, out));
        return set_copy(tx, *out, &PySet_Type, out);
    }
    DictViewVar *w = AS(DictViewVar, left);
    if (w->what != 'k' || w->dict->type != &PyDict_Type)
        return dictview_set(tx, w, out);
    TRY(set_make(tx, &PySet_Type, out));
    return set_update(tx, *out, w->dict);
}

/* As dictitems_xor: pairs of `right` that `left` has not, then those of `left` that are left over. */
static Status items_xor(Tx *tx, DictVar *left, DictVar *right, SetVar *made)
{
    DictVar *rest;
    DictPos p = { 0 }, q = { 0 };
    bool more, same, was;
    TRY(dict_copy(tx, left, &PyDict_Type, &rest));
    TRY(dict_open(tx, right));
    for (;;) {
        Var *v, *item;
        TRY(dict_step(tx, right, &p, &more));
        if (!more)
            break;
        TRY(dict_find(tx, left, p.key, p.entry->key, p.entry->hash, &v));
        same = false;
        if (v != NULL)
            TRY(item_equal(tx, v, p.value, &same));
        if (same) {
            TRY(dict_remove(tx, rest, p.key, p.entry->key, p.entry->hash, &was));
            continue;
        }
        TRY(tuple_new(tx, (Var *[]){ p.key, p.value }, 2, &item));
        TRY(set_add(tx, made, item));
    }
    for (;;) {
        Var *item;
        TRY(dict_step(tx, rest, &q, &more));
        if (!more)
            return ST_OK;
        TRY(tuple_new(tx, (Var *[]){ q.key, q.value }, 2, &item));
        TRY(set_add(tx, made, item));
    }
}

static bool items_of(Var *v, DictVar **d)
{
    if (!is_pairs(v))
        return false;
    *d = dict_of(AS(DictViewVar, v));
    return true;
}

static Status algebra(Tx *tx, Var *left, Var *right, int op, Var **out)
{
    SetVar *made, *b;
    if (op == BINOP_AND) {
        TRY(set_make(tx, &PySet_Type, &made));
        *out = &made->v;
        return is_view(left) ? intersect(tx, left, right, made)
                             : intersect(tx, right, left, made);
    }
    DictVar *l, *r;
    if (op == BINOP_XOR && items_of(left, &l) && items_of(right, &r)) {
        TRY(set_make(tx, &PySet_Type, &made));
        *out = &made->v;
        return items_xor(tx, l, r, made);
    }
    TRY(left_set(tx, left, &made));
    *out = &made->v;
    if (op == BINOP_OR)
        return set_update(tx, made, right);
    if (op == BINOP_SUBTRACT)
        return difference(tx, made, right);
    TRY(set_from(tx, right, false, &b));
    return set_algebra_in_place(tx, made, b, '^');
}

static Status view_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    static const struct {
        int op, plain;
    } ops[] = {
        { BINOP_OR, BINOP_OR },
        { BINOP_AND, BINOP_AND },
        { BINOP_SUBTRACT, BINOP_SUBTRACT },
        { BINOP_XOR, BINOP_XOR },
        { IN_PLACE(OR), BINOP_OR },
        { IN_PLACE(AND), BINOP_AND },
        { IN_PLACE(SUBTRACT), BINOP_SUBTRACT },
        { IN_PLACE(XOR), BINOP_XOR },
    };
    *out = tx_notimpl(tx);
    if (AS(DictViewVar, self)->what == 'v')
        return ST_OK;
    TRY(var_real(tx, &other));
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (ops[i].op == op)
            return reflected ? algebra(tx, other, self, ops[i].plain, out)
                             : algebra(tx, self, other, ops[i].plain, out);
    return ST_OK;
}

static Status view_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    if (AS(DictViewVar, self)->what != 'v')
        return raise_type(tx, PyExc_TypeError, "unhashable type: '%.200s'",
                          self->type->tp_name);
    *key = NULL;
    *h = 0;
    return ST_OK;
}

static Status view_repr(Tx *tx, Var *self, bool str, Var **out)
{
    DictViewVar *w = AS(DictViewVar, self);
    Var **keys, **values, **items;
    Py_ssize_t n;
    TRY(dict_items(tx, dict_of(w), &keys, &values, &n));
    items = w->what == 'k' ? keys : values;
    for (Py_ssize_t i = 0; w->what == 'i' && i < n; i++) {
        Var *pair[2] = { keys[i], values[i] };
        TRY(tuple_new(tx, pair, 2, &items[i]));
    }
    char open[64];
    PyOS_snprintf(open, sizeof open, "%.40s([", self->type->tp_name);
    return repr_items(tx, self, items, n, open, "])", out);
}

/* -- The kind ----------------------------------------------------------------------------- */

const VarKind kind_dictview = {
    .name = "dictview",
    .id = KIND_dictview,
    .iter = view_iter,
    .len = view_len,
    .contains = view_contains,
    .truth = view_truth,
    .compare = view_compare,
    .binary = view_binary,
    .hash = view_hash,
    .repr = view_repr,
};
