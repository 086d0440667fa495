/*
 * trace/op_match.c -- pattern matching, as MATCH_* in Python/ceval.c.
 */
#include "trace/run.h"
#include "var/container.h"
#include "var/names.h"

Status op_get_len(Tx *tx, Frame *f, const Ins *in)
{
    Var *n;
    TRY(var_len(tx, peek(f, 1), &n));
    return push(tx, f, n);
}

static Status by_flag(Tx *tx, Frame *f, unsigned long flag)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, peek(f, 1), &t));
    return push(tx, f, tx_bool(tx, (t->tp_flags & flag) != 0));
}

Status op_match_mapping(Tx *tx, Frame *f, const Ins *in)
{
    return by_flag(tx, f, Py_TPFLAGS_MAPPING);
}
Status op_match_sequence(Tx *tx, Frame *f, const Ins *in)
{
    return by_flag(tx, f, Py_TPFLAGS_SEQUENCE);
}

static Status key_value(Tx *tx, Var *subject, Var *key, Var **out)
{
    bool there;
    *out = NULL;
    TRY(var_contains(tx, subject, key,
                     &there)); /* dict.get with a dummy in CPython; the same for dicts */
    return there ? var_getitem(tx, subject, key, out) : ST_OK;
}

static Status key_once(Tx *tx, SetVar *seen, Var *key)
{
    bool twice;
    Var *text;
    PyObject *s;
    TRY(set_has(tx, seen, key, &twice));
    if (!twice)
        return set_add(tx, seen, key);
    TRY(var_repr(tx, key, &text));
    TRY(var_const(tx, text, &s));
    return s ? raise_type(tx, PyExc_ValueError,
                          "mapping pattern checks duplicate key (%U)", s)
             : graph_break(tx, BRK_NO_SLOT, "%s", "a mapping pattern that repeats a key");
}

Status op_match_keys(Tx *tx, Frame *f, const Ins *in)
{
    Var *subject = peek(f, 2), **keys, *v;
    Py_ssize_t n;
    TRY(var_real(tx, &subject));
    Var *c = var_content(subject);
    if (c == NULL || c->kind != &kind_dict || subject->kind != &kind_dict)
        return graph_break(tx, BRK_NO_SLOT, "mapping pattern over %s",
                           subject->type->tp_name);
    TRY(var_unpack(tx, peek(f, 1), &keys, &n));
    Var **values = tx_alloc(tx, (size_t)(n + 1) * sizeof *values);
    TRY_PTR(values);
    Var *seen;
    TRY(set_new(tx, &PySet_Type, &seen));
    for (Py_ssize_t i = 0; i < n; i++) {
        if (n > 1)
            TRY(key_once(tx, AS(SetVar, seen), keys[i]));
        TRY(key_value(tx, subject, keys[i], &values[i]));
        if (values[i] == NULL)
            return push(tx, f, tx->none);
    }
    TRY(tuple_new(tx, values, n, &v));
    return push(tx, f, v);
}

/* Built-in types whose single positional pattern is the subject itself. */
static bool matches_self(PyTypeObject *t)
{
    return (t->tp_flags & (1UL << 22)) != 0; /* _Py_TPFLAGS_MATCH_SELF */
}

/* What one class pattern has found so far. */
typedef struct Found {
    Var *subject;
    PyTypeObject *cls;
    PyObject *names; /* real set of the attributes asked for */
    Var **values;
    Py_ssize_t n;
    bool yes;
} Found;

static Status attribute(Tx *tx, Found *f, Var *name)
{
    PyObject *s;
    Var *v;
    TRY(var_real(tx, &name));
    TRY(var_const(tx, name, &s));
    if (s == NULL || !PyUnicode_CheckExact(s))
        return raise_type(tx, PyExc_TypeError,
                          "__match_args__ elements must be strings (got %s)",
                          name->type->tp_name);
    int twice = PySet_Contains(f->names, s);
    if (twice < 0 || PySet_Add(f->names, s) < 0)
        return ST_ERROR;
    if (twice)
        return raise_type(tx, PyExc_TypeError,
                          "%s() got multiple sub-patterns for attribute %R",
                          f->cls->tp_name, s);
    PyObject *interned = Py_NewRef(s);
    PyUnicode_InternInPlace(&interned);
    TRY_PTR(tx_hold(tx, interned));
    TRY(var_getattr_opt(tx, f->subject, interned, &v));
    f->yes = v != NULL;
    if (v != NULL)
        f->values[f->n++] = v;
    return ST_OK;
}

static Status positional(Tx *tx, Found *f, Var *cls, int count)
{
    Var *names, **items;
    Py_ssize_t have = 0;
    PyTypeObject *t = f->cls;
    TRY(var_getattr_opt(tx, cls, str___match_args__, &names));
    if (names == NULL && matches_self(t)) {
        if (count > 1)
            return raise_type(tx, PyExc_TypeError,
                              "%s() accepts 1 positional sub-pattern (%d given)",
                              t->tp_name, count);
        f->values[f->n++] = f->subject;
        return ST_OK;
    }
    if (names != NULL) {
        TRY(var_real(tx, &names));
        if (names->type != &PyTuple_Type)
            return raise_type(tx, PyExc_TypeError,
                              "%s.__match_args__ must be a tuple (got %s)", t->tp_name,
                              names->type->tp_name);
        TRY(var_unpack(tx, names, &items, &have));
    }
    if (have < count)
        return raise_type(tx, PyExc_TypeError,
                          "%s() accepts %zd positional sub-pattern%s (%d given)",
                          t->tp_name, have, have == 1 ? "" : "s", count);
    for (int i = 0; i < count && f->yes; i++)
        TRY(attribute(tx, f, items[i]));
    return ST_OK;
}

Status op_match_class(Tx *tx, Frame *f, const Ins *in)
{
    Var *names = pop(tx, f), *cls = pop(tx, f), *subject = pop(tx, f), **kw, *v;
    Py_ssize_t nkw;
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class)
        return raise_type(tx, PyExc_TypeError, "called match pattern must be a type");
    Found found = {
        subject, (PyTypeObject *)cls->real, tx_hold(tx, PySet_New(NULL)), NULL, 0, false
    };
    TRY(var_isinstance(tx, subject, cls, &found.yes));
    TRY(var_unpack(tx, names, &kw, &nkw));
    found.values = tx_alloc(tx, (size_t)(in->arg + nkw + 1) * sizeof *found.values);
    if (found.names == NULL || found.values == NULL)
        return ST_ERROR;
    if (found.yes && in->arg)
        TRY(positional(tx, &found, cls, in->arg));
    for (Py_ssize_t i = 0; i < nkw && found.yes; i++)
        TRY(attribute(tx, &found, kw[i]));
    if (!found.yes)
        return push(tx, f, tx->none);
    TRY(tuple_new(tx, found.values, found.n, &v));
    return push(tx, f, v);
}
