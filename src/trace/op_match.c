/*
 * trace/op_match.c -- pattern matching, as MATCH_* in Python/ceval.c.
 */
#include "trace/run.h"
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
    for (Py_ssize_t i = 0; i < n; i++) {
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

static Status attribute(Tx *tx, Var *subject, Var *name, Var **values, Py_ssize_t *n,
                        bool *found)
{
    PyObject *s;
    Var *v;
    TRY(var_const(tx, name, &s));
    if (s == NULL || !PyUnicode_Check(s))
        return raise_type(tx, PyExc_TypeError, "__match_args__ elements must be strings");
    PyObject *interned = Py_NewRef(s);
    PyUnicode_InternInPlace(&interned);
    TRY_PTR(tx_hold(tx, interned));
    TRY(var_getattr_opt(tx, subject, interned, &v));
    *found = v != NULL;
    if (v != NULL)
        values[(*n)++] = v;
    return ST_OK;
}

static Status positional(Tx *tx, Var *subject, Var *cls, int count, Var **values,
                         Py_ssize_t *n, bool *found)
{
    Var *names, **items;
    Py_ssize_t have = 0;
    PyTypeObject *t = (PyTypeObject *)cls->real;
    TRY(var_getattr_opt(tx, cls, str___match_args__, &names));
    if (names == NULL && matches_self(t)) {
        if (count > 1)
            return raise_type(tx, PyExc_TypeError,
                              "%s() accepts 1 positional sub-pattern (%d given)",
                              t->tp_name, count);
        values[(*n)++] = subject;
        return ST_OK;
    }
    if (names != NULL) {
        TRY(var_real(tx, &names));
        if (!PyType_HasFeature(names->type, Py_TPFLAGS_TUPLE_SUBCLASS))
            return raise_type(tx, PyExc_TypeError,
                              "%s.__match_args__ must be a tuple (got %s)", t->tp_name,
                              names->type->tp_name);
        TRY(var_unpack(tx, names, &items, &have));
    }
    if (have < count)
        return raise_type(tx, PyExc_TypeError,
                          "%s() accepts %zd positional sub-pattern%s (%d given)",
                          t->tp_name, have, have == 1 ? "" : "s", count);
    for (int i = 0; i < count && *found; i++)
        TRY(attribute(tx, subject, items[i], values, n, found));
    return ST_OK;
}

Status op_match_class(Tx *tx, Frame *f, const Ins *in)
{
    Var *names = pop(tx, f), *cls = pop(tx, f), *subject = pop(tx, f), **kw, *v;
    Py_ssize_t nkw, n = 0;
    bool found;
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class)
        return raise_type(tx, PyExc_TypeError, "called match pattern must be a class");
    TRY(var_isinstance(tx, subject, cls, &found));
    TRY(var_unpack(tx, names, &kw, &nkw));
    Var **values = tx_alloc(tx, (size_t)(in->arg + nkw + 1) * sizeof *values);
    TRY_PTR(values);
    if (found && in->arg)
        TRY(positional(tx, subject, cls, in->arg, values, &n, &found));
    for (Py_ssize_t i = 0; i < nkw && found; i++)
        TRY(attribute(tx, subject, kw[i], values, &n, &found));
    if (!found)
        return push(tx, f, tx->none);
    TRY(tuple_new(tx, values, n, &v));
    return push(tx, f, v);
}
