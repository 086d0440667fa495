/*
 * var/container.c -- what all containers share: types that no header names, looking at items, comparing and printing
 * them, and values whose end runs code.
 */
#include "cpy/peek.h"
#include "var/container.h"

PyTypeObject *known_types[TY_TYPES];

int known_types_load(void)
{
    static const char *const names[TY_TYPES][2] = {
#define X(id, module, name) [TY_##id] = { module, name },
        KNOWN_TYPES(X)
#undef X
    };
    for (int i = 0; i < TY_TYPES; i++) {
        PyObject *m = PyImport_ImportModule(names[i][0]);
        PyObject *t = m ? PyObject_GetAttrString(m, names[i][1]) : NULL;
        Py_CLEAR(m);
        if (t == NULL)
            return -1;
        known_types[i] = (PyTypeObject *)t; /* lives as long as the process */
    }
    return 0;
}

/* -- Shared by all sequences ------------------------------------------------------ */

const char *type_name(Tx *tx, Var *v)
{
    PyTypeObject *t;
    if (var_type_of(tx, v, &t) == ST_OK)
        return t->tp_name;
    PyErr_Clear();
    return "object";
}

static Status const_items(Tx *tx, Var *whole, Var ***items, Py_ssize_t *n)
{
    PyObject *tuple = whole->real;
    *n = PyTuple_GET_SIZE(tuple);
    MEM(*items = tx_alloc(tx, sizeof(Var *) * (size_t)(*n + 1)));
    for (Py_ssize_t i = 0; i < *n; i++)
        TRY(whole->by_value
                ? const_item(tx, whole, PyTuple_GET_ITEM(tuple, i), i, &(*items)[i])
                : wrap_pinned(tx, PyTuple_GET_ITEM(tuple, i), NULL, &(*items)[i]));
    return ST_OK;
}

Status items_peek(Tx *tx, Var *v, Var ***items, Py_ssize_t *n, bool *known)
{
    TRY(var_real(tx, &v));
    Var *c = var_content(v);
    *known = true;
    if (c && c->kind == &kind_list) {
        TRY(list_open(tx, AS(ListVar, c)));
        *items = AS(ListVar, c)->items.v;
        *n = (Py_ssize_t)AS(ListVar, c)->items.n;
    } else if (c && c->kind == &kind_tuple) {
        TRY(tuple_open(tx, AS(TupleVar, c)));
        *items = AS(TupleVar, c)->items;
        *n = AS(TupleVar, c)->n;
    } else if (c && c->kind == &kind_const && PyTuple_Check(c->real)) {
        return const_items(tx, c, items, n);
    } else {
        *known = false;
    }
    return ST_OK;
}

Status items_exact(Tx *tx, Var *v, Var ***items, Py_ssize_t *n, bool *known)
{
    PyTypeObject *t;
    *known = false;
    TRY(var_type_of(tx, v, &t));
    if (t != &PyList_Type && t != &PyTuple_Type)
        return ST_OK;
    return items_peek(tx, v, items, n, known);
}

Status item_at(Tx *tx, Var *seq, Var *key, Var **out)
{
    *out = NULL;
    if (key->kind != &kind_scalar || key->type != &PyLong_Type || seq->real == NULL ||
        seq->dirty || seq->src == NULL ||
        !(PyList_Check(seq->real) || PyTuple_Check(seq->real)))
        return ST_OK;
    Expr *e = AS(ScalarVar, key)->e;
    Py_ssize_t n = Py_SIZE(seq->real), i = PyLong_AsSsize_t(e->value);
    if (i == -1 && PyErr_Occurred())
        PyErr_Clear();
    if (i < -n || i >= n)
        return ST_OK;
    PyObject *item = PyList_Check(seq->real)
                         ? PyList_GET_ITEM(seq->real, i < 0 ? i + n : i)
                         : PyTuple_GET_ITEM(seq->real, i < 0 ? i + n : i);
    Source *s = source_at(&tx->sources, seq->src, e);
    MEM(s);
    TRY(guard_bound(&tx->guards, s, true));
    return lazy_new(tx, item, s, out);
}

/* On the left of *= nothing with slots of sequences is: CPython looks no further then. */
bool is_count(const Var *v, bool left_in_place)
{
    PyTypeObject *t = v->type;
    return t && t->tp_as_number && t->tp_as_number->nb_index &&
           !(left_in_place && t->tp_as_sequence);
}

bool goes_first(const Var *times)
{
    return times->kind == &kind_object || times->kind == &kind_weakproxy;
}

bool has_own_number(Var *other)
{
    if (other->kind == &kind_tensor)
        return true;
    PyTypeObject *t = other->type;
    return (var_is_instance(other) || other->kind == &kind_weakproxy) && t &&
           t->tp_as_number && (t->tp_as_number->nb_add || t->tp_as_number->nb_multiply);
}

Status item_equal(Tx *tx, Var *a, Var *b, bool *yes)
{
    uint64_t before = tx->moves;
    TRY(tx_worked(tx, 1));
    TRY(var_equal(tx, a, b, yes));
    return tx->moves == before
               ? ST_OK
               : graph_break(tx, BRK_NO_SLOT, "%s",
                             "a container that changes while it is compared");
}

Status compare_items(Tx *tx, Var **a, Py_ssize_t na, Var **b, Py_ssize_t nb, int op,
                     Var **out)
{
    for (Py_ssize_t i = 0; i < na && i < nb; i++) {
        bool same;
        TRY(item_equal(tx, a[i], b[i], &same));
        if (same)
            continue;
        if (op == Py_EQ || op == Py_NE)
            return *out = tx_bool(tx, op == Py_NE), ST_OK;
        return var_compare(tx, a[i], b[i], op, out);
    }
    bool yes = op == Py_LT   ? na < nb
               : op == Py_LE ? na <= nb
               : op == Py_EQ ? na == nb
               : op == Py_NE ? na != nb
               : op == Py_GT ? na > nb
                             : na >= nb;
    *out = tx_bool(tx, yes);
    return ST_OK;
}

Status find_item(Tx *tx, Var **items, Py_ssize_t n, Var *item, Py_ssize_t *at)
{
    for (*at = 0; *at < n; ++*at) {
        bool same;
        TRY(item_equal(tx, items[*at], item, &same));
        if (same)
            return ST_OK;
    }
    *at = -1;
    return ST_OK;
}

Status count_item(Tx *tx, Var **items, Py_ssize_t n, Var *item, Py_ssize_t *found)
{
    *found = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        bool same;
        TRY(item_equal(tx, items[i], item, &same));
        *found += same;
    }
    return ST_OK;
}

Status drop_content(Tx *tx, Var *container)
{
    Source *src = source_of(tx, container);
    MEM(src);
    if (cpy_content_ends_run_code(container->real))
        return graph_break(tx, BRK_FINALIZER, "an item of a %s", container->type->tp_name);
    return guard_add(&tx->guards, (Guard){ .kind = GUARD_QUIETALL, .src = src });
}

/* Types of which no instance ever runs code at its end. */
static bool always_quiet(const Var *old)
{
    if (old->kind == &kind_lazy)
        old = AS(LazyVar, old)->got;
    PyTypeObject *t = old ? old->type : NULL;
    return t && t != &PyTuple_Type && t != &PyList_Type &&
           !PyType_HasFeature(t, Py_TPFLAGS_HEAPTYPE) && t->tp_finalize == NULL &&
           !PyType_SUPPORTS_WEAKREFS(t);
}

/* Weak references to it may be empty from now on. */
void weak_drop(Tx *tx, PyObject *old)
{
    bool seen = old && PyType_SUPPORTS_WEAKREFS(Py_TYPE(old)) &&
                *PyObject_GET_WEAKREFS_LISTPTR(old) != NULL;
    if (seen)
        SET(tx, tx->weak_drops, tx->weak_drops + 1);
}

/* Could it be what keeps another object alive? Plain tensors are not. */
static bool may_hold(PyObject *o)
{
    if (o == NULL || !PyObject_IS_GC(o))
        return false;
    if (!torch_is_tensor(o))
        return true;
    PyObject **dict = _PyObject_GetDictPtr(o);
    return dict != NULL && *dict != NULL && PyDict_GET_SIZE(*dict) > 0;
}

Status drop_place(Tx *tx, PyObject *old, Source *src)
{
    weak_drop(tx, old);
    if (may_hold(old))
        SET(tx, tx->holder_drops, tx->holder_drops + 1);
    if (old && cpy_end_runs_code(old))
        return graph_break(tx, BRK_FINALIZER, "%s", Py_TYPE(old)->tp_name);
    return guard_add(&tx->guards, (Guard){ .kind = GUARD_QUIET, .src = src });
}

Status drop(Tx *tx, Var *old)
{
    if (old && old->kind == &kind_gen && old->real == NULL)
        return gen_dropped(tx, old);
    if (old == NULL || old->real == NULL || old->kind == &kind_const || always_quiet(old))
        return ST_OK;
    Source *src = source_of(tx, old);
    MEM(src);
    return drop_place(tx, old->real, src);
}

/* -- Representations ----------------------------------------------------------------- */

static _Thread_local ReprMark *building;

bool repr_enter(ReprMark *m, Var *v)
{
    for (ReprMark *o = building; o; o = o->up)
        if (o->v == v)
            return false;
    *m = (ReprMark){ building, v };
    building = m;
    return true;
}

void repr_leave(ReprMark *m)
{
    building = m->up;
}

static Status join_reprs(Tx *tx, Var **items, Py_ssize_t n, const char *open,
                         const char *close, Var **out)
{
    PyObject *parts = tx_hold(tx, PyTuple_New(n));
    TRY_PTR(parts);
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *r;
        PyObject *text;
        TRY(var_repr(tx, items[i], &r));
        TRY(var_const(tx, r, &text));
        if (text == NULL)
            return graph_break(tx, BRK_NO_SLOT, "text of %s", type_name(tx, items[i]));
        PyTuple_SET_ITEM(parts, i, Py_NewRef(text));
    }
    PyObject *comma = tx_hold(tx, PyUnicode_FromString(", "));
    TRY_PTR(comma);
    PyObject *inner = tx_hold(tx, PyUnicode_Join(comma, parts));
    TRY_PTR(inner);
    return const_new(tx, PyUnicode_FromFormat("%s%U%s", open, inner, close), out);
}

/* What stands for a container inside of its own text. */
static Status repr_again(Tx *tx, Var *self, Var **out)
{
    const char *name = self->type->tp_name;
    switch (self->kind->id) {
    case KIND_list: return const_str(tx, "[...]", out);
    case KIND_tuple: return const_str(tx, "(...)", out);
    case KIND_dictview: return const_str(tx, "...", out);
    case KIND_set: return const_new(tx, PyUnicode_FromFormat("%s(...)", name), out);
    default: return graph_break(tx, BRK_NO_SLOT, "repr of a %s in itself", name);
    }
}

Status repr_items(Tx *tx, Var *self, Var **items, Py_ssize_t n, const char *open,
                  const char *close, Var **out)
{
    ReprMark mark;
    if (!repr_enter(&mark, self))
        return repr_again(tx, self, out);
    Status st = join_reprs(tx, items, n, open, close, out);
    repr_leave(&mark);
    return st;
}
