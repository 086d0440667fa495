/*
 * var/object.c -- instances of classes written in Python, existing or new.
 *
 * Attributes live in a DictVar, the built-in part of a subclass of dict, list, tuple … in `content`. Operators
 * and protocols are the class's own special methods; what it inherits from a built-in goes to the content.
 */
#include "trace/tx.h"
#include "var/binops.h"
#include "var/container.h"
#include "var/names.h"
#include "var/wrap.h"

Status object_new(Tx *tx, PyTypeObject *cls, Var **out)
{
    ObjectVar *ob;
    PyTypeObject *base = wrap_layout(cls);
    if (base == NULL)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", cls->tp_name);
    TRY(VAR_MAKE(tx, object, ObjectVar, cls, &ob));
    if (base == &PyDict_Type || base == &PyODict_Type || base == known_type(TY_DEFAULTDICT)) {
        TRY(dict_new(tx, &ob->content));
        ob->content->type = base;
    } else if (base == &PyList_Type || base == known_type(TY_DEQUE)) {
        TRY(list_new(tx, NULL, 0, &ob->content));
        ob->content->type = base;
    } else if (base == &PySet_Type) {
        TRY(set_new(tx, base, &ob->content));
    }
    *out = &ob->v;
    return ST_OK;
}

Var *var_content(Var *v)
{
    if (v->kind == &kind_lazy)
        v = AS(LazyVar, v)->got;
    if (v == NULL)
        return NULL;
    return v->kind == &kind_object ? AS(ObjectVar, v)->content : v;
}

/* -- Special methods ---------------------------------------------------------- */

/* The class's own (Python) method; *out NULL: inherited from C or absent. */
static Status own(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *f;
    *out = NULL;
    TRY(type_lookup(tx, self->type, name, &f));
    if (f == NULL || Py_TYPE(f) == &PyWrapperDescr_Type || Py_TYPE(f) == &PyMethodDescr_Type)
        return ST_OK;
    return var_special(tx, self, name, out);
}

static Status no_slot(Tx *tx, Var *self, const char *what)
{
    return graph_break(tx, BRK_NO_SLOT, "%s of %s", what, self->type->tp_name);
}

static Status call_own(Tx *tx, Var *self, Var *method, Var **v, int n, Var **out)
{
    Var *args[4] = { self };
    for (int i = 0; i < n; i++)
        args[i + 1] = v[i];
    if (method->kind != &kind_func) { /* a descriptor: bind it as lookup_maybe_method does */
        Var *bound;
        Args a = { .v = v, .n = n };
        TRY(var_call_special(tx, method, "__get__", (Var *[]){ self, tx->none }, 2, &bound));
        if (bound == NULL)
            bound = method;
        return var_call(tx, bound, &a, out);
    }
    Args a = { .v = args, .n = n + 1 };
    return var_call(tx, method, &a, out);
}

static Status object_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    Var *f;
    TRY(var_special(tx, self, str___call__, &f));
    if (f == NULL)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not callable", self->type->tp_name);
    Args with_self = { .n = a->n + 1, .nkw = a->nkw, .kwnames = a->kwnames };
    with_self.v = tx_alloc(tx, (size_t)(a->n + a->nkw + 1) * sizeof(Var *));
    TRY_PTR(with_self.v);
    with_self.v[0] = self;
    if (a->n + a->nkw)
        memcpy(with_self.v + 1, a->v, (size_t)(a->n + a->nkw) * sizeof(Var *));
    return var_call(tx, f, &with_self, out);
}

static Status object_iter(Tx *tx, Var *self, Var **out)
{
    Var *f, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, str___iter__, &f));
    if (f != NULL)
        return f == tx->none ? raise_type(tx, PyExc_TypeError, "'%s' object is not iterable", self->type->tp_name)
                             : call_own(tx, self, f, NULL, 0, out);
    if (content != NULL)
        return var_iter(tx, content, out);
    TRY(own(tx, self, str___getitem__, &f));
    if (f == NULL)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not iterable", self->type->tp_name);
    return iter_new(tx, &PySeqIter_Type, self, NULL, -1, out);
}

static Status object_next(Tx *tx, Var *self, Var **out)
{
    Var *f;
    TRY(own(tx, self, str___next__, &f));
    if (f == NULL)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not an iterator", self->type->tp_name);
    Status st = call_own(tx, self, f, NULL, 0, out);
    if (st == ST_RAISE && exc_matches(tx, PyExc_StopIteration)) {
        exc_clear(tx);
        *out = NULL;
        return ST_OK;
    }
    return st;
}

static Status object_len(Tx *tx, Var *self, Var **out)
{
    Var *f, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, str___len__, &f));
    if (f != NULL)
        return call_own(tx, self, f, NULL, 0, out);
    if (content != NULL)
        return var_len(tx, content, out);
    return raise_type(tx, PyExc_TypeError, "object of type '%s' has no len()", self->type->tp_name);
}

static Status missing(Tx *tx, Var *self, Var *key, Status st, Var **out)
{
    Var *f;
    if (st != ST_RAISE || !exc_matches(tx, PyExc_KeyError) || AS(ObjectVar, self)->content->kind != &kind_dict)
        return st;
    Var *exc = tx->exc;
    TRY(own(tx, self, str___missing__, &f));
    if (f == NULL) {
        tx->exc = exc;
        return st;
    }
    exc_clear(tx);
    return call_own(tx, self, f, &key, 1, out);
}

static Status object_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    Var *f, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, str___getitem__, &f));
    if (f != NULL)
        return call_own(tx, self, f, &key, 1, out);
    if (content != NULL)
        return missing(tx, self, key, var_getitem(tx, content, key, out), out);
    return raise_type(tx, PyExc_TypeError, "'%s' object is not subscriptable", self->type->tp_name);
}

static Status object_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    Var *f, *ignored, *args[2] = { key, value }, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, value ? str___setitem__ : str___delitem__, &f));
    if (f != NULL)
        return call_own(tx, self, f, args, value ? 2 : 1, &ignored);
    if (content != NULL)
        return var_setitem(tx, content, key, value);
    return raise_type(tx, PyExc_TypeError, "'%s' object %s", self->type->tp_name,
                      value ? "does not support item assignment" : "doesn't support item deletion");
}

static Status object_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    Var *f, *r, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, str___contains__, &f));
    if (f != NULL) {
        TRY(call_own(tx, self, f, &item, 1, &r));
        return var_truth(tx, r, yes);
    }
    if (content != NULL)
        return var_contains(tx, content, item, yes);
    Var **items;
    Py_ssize_t n;
    TRY(var_unpack(tx, self, &items, &n));
    *yes = false;
    for (Py_ssize_t i = 0; i < n && !*yes; i++)
        TRY(var_equal(tx, items[i], item, yes));
    return ST_OK;
}

static Status object_truth(Tx *tx, Var *self, bool *yes)
{
    Var *f, *r, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, str___bool__, &f));
    if (f != NULL) {
        TRY(call_own(tx, self, f, NULL, 0, &r));
        TRY(var_real(tx, &r));
        if (r->type != &PyBool_Type)
            return raise_type(tx, PyExc_TypeError, "__bool__ should return bool, returned %s", r->type->tp_name);
        return var_truth(tx, r, yes);
    }
    TRY(own(tx, self, str___len__, &f));
    if (f != NULL) {
        TRY(call_own(tx, self, f, NULL, 0, &r));
        return var_truth(tx, r, yes);
    }
    if (content != NULL)
        return var_truth(tx, content, yes);
    *yes = true;
    return ST_OK;
}

/* -- Operators ------------------------------------------------------------------ */

static PyObject *compare_name(int op)
{
    PyObject *names[] = { str___lt__, str___le__, str___eq__, str___ne__, str___gt__, str___ge__ };
    return names[op];
}

static Status identity_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    bool same;
    if (op == Py_EQ || op == Py_NE) {
        TRY(var_is(tx, self, other, &same));
        *out = !same ? tx->notimpl : tx_bool(tx, op == Py_EQ);
        return ST_OK;
    }
    *out = tx->notimpl;
    return ST_OK;
}

static Status object_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    Var *f, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, compare_name(op), &f));
    if (f != NULL)
        return call_own(tx, self, f, &other, 1, out);
    if (op == Py_NE) { /* object.__ne__ inverts __eq__ */
        TRY(own(tx, self, str___eq__, &f));
        if (f != NULL) {
            TRY(call_own(tx, self, f, &other, 1, out));
            return *out == tx->notimpl ? ST_OK : var_not(tx, *out, out);
        }
    }
    if (content != NULL) {
        Var *theirs = var_content(other);
        return theirs ? var_compare(tx, content, theirs, op, out) : identity_compare(tx, self, other, op, out);
    }
    return identity_compare(tx, self, other, op, out);
}

/* A list, dict or set part changes where it is and the object stays; other parts have the plain form only. */
static Status binary_in_place(Tx *tx, Var *self, Var *content, Var *other, int op, Var **out)
{
    const VarKind *k = content->kind;
    if (k != &kind_list && k != &kind_dict && k != &kind_set)
        return ST_OK;
    TRY(k->binary(tx, content, other, op, false, out));
    *out = *out == content ? self : tx->notimpl;
    return ST_OK;
}

static Status object_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    const Binop *b = &binop_table[op % BINOP_COUNT];
    PyObject *name = reflected ? b->rname : op >= BINOP_COUNT ? b->iname : b->name;
    Var *f, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, name, &f));
    if (f != NULL)
        return f == tx->none ? (*out = tx->notimpl, ST_OK) : call_own(tx, self, f, &other, 1, out);
    *out = tx->notimpl;
    if (content == NULL)
        return ST_OK;
    if (op >= BINOP_COUNT)
        return reflected ? ST_OK : binary_in_place(tx, self, content, other, op, out);
    Var *theirs = var_content(other);
    if (theirs == NULL)
        return ST_OK;
    return reflected ? var_binary(tx, theirs, content, op, out) : var_binary(tx, content, theirs, op, out);
}

static Status object_unary(Tx *tx, Var *self, char op, Var **out)
{
    Var *f, *content = AS(ObjectVar, self)->content;
    TRY(own(tx, self, op == '-' ? str___neg__ : op == '+' ? str___pos__ : str___invert__, &f));
    if (f != NULL)
        return call_own(tx, self, f, NULL, 0, out);
    if (content != NULL)
        return var_unary(tx, content, op, out);
    return raise_type(tx, PyExc_TypeError, "bad operand type for unary %c: '%s'", op, self->type->tp_name);
}

static Status object_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    Var *f;
    TRY(own(tx, self, str___hash__, &f));
    PyObject *enum_type = (PyObject *)Py_TYPE(self->type);
    bool is_enum = strcmp(((PyTypeObject *)enum_type)->tp_name, "EnumType") == 0 ||
                   strcmp(((PyTypeObject *)enum_type)->tp_name, "EnumMeta") == 0;
    if (f == tx->none)
        return raise_type(tx, PyExc_TypeError, "unhashable type: '%s'", self->type->tp_name);
    if (is_enum && self->real != NULL) {
        *key = self->real;
        *h = PyObject_Hash(self->real);
        return ST_OK;
    }
    if (f != NULL || AS(ObjectVar, self)->content != NULL)
        return graph_break(tx, BRK_DYN_KEY, "%s", self->type->tp_name);
    *key = self->real; /* by identity; NULL: the Var itself is the key */
    *h = self->real ? _Py_HashPointer(self->real) : _Py_HashPointer(self);
    return ST_OK;
}

static Status object_repr(Tx *tx, Var *self, bool str, Var **out)
{
    Var *f, *content = AS(ObjectVar, self)->content;
    if (str) {
        TRY(own(tx, self, str___str__, &f));
        if (f != NULL)
            return call_own(tx, self, f, NULL, 0, out);
    }
    TRY(own(tx, self, str___repr__, &f));
    if (f != NULL)
        return call_own(tx, self, f, NULL, 0, out);
    if (content != NULL)
        return str ? var_str(tx, content, out) : var_repr(tx, content, out);
    return no_slot(tx, self, "default repr");
}

/* -- The kind -------------------------------------------------------------------- */

const VarKind kind_object = {
    .name = "object",
    .id = KIND_object,
    .call = object_call,
    .iter = object_iter,
    .next = object_next,
    .len = object_len,
    .getitem = object_getitem,
    .setitem = object_setitem,
    .contains = object_contains,
    .truth = object_truth,
    .compare = object_compare,
    .binary = object_binary,
    .unary = object_unary,
    .hash = object_hash,
    .repr = object_repr,
};
