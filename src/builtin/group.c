/*
 * builtin/group.c -- exception groups: as BaseExceptionGroup in Objects/exceptions.c.
 *
 * Takes and gives exceptions made in the trace; existing ones inside a group break. That two have one traceback, which tells what is
 * raised anew from what is passed on, is known by a number (ExcVar.tb).
 */
#include "builtin/group.h"

#define GROUP ((PyTypeObject *)PyExc_BaseExceptionGroup)

bool is_group_class(PyTypeObject *t)
{
    return PyType_IsSubtype(t, GROUP);
}

static bool is_group(Var *v)
{
    return v->kind == &kind_exc && is_group_class(v->type);
}

/* -- Making ----------------------------------------------------------------------------- */

/* The class that the arguments make of cls. */
static Status right_class(Tx *tx, PyTypeObject **cls, bool only_exceptions)
{
    PyTypeObject *plain = NULL;
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("ExceptionGroup"));
    TRY_PTR(name);
    plain = (PyTypeObject *)PyDict_GetItem(PyEval_GetBuiltins(), name);
    if (plain == NULL || !PyType_Check(plain))
        return ST_DECLINE;
    if (*cls == GROUP && only_exceptions)
        *cls = plain;
    if (only_exceptions || !PyType_IsSubtype(*cls, (PyTypeObject *)PyExc_Exception))
        return ST_OK;
    if (*cls == plain)
        return raise_type(tx, PyExc_TypeError, "%s",
                          "Cannot nest BaseExceptions in an ExceptionGroup");
    return raise_type(tx, PyExc_TypeError, "Cannot nest BaseExceptions in '%.200s'",
                      (*cls)->tp_name);
}

static Status check_items(Tx *tx, Var **items, Py_ssize_t n, bool *only_exceptions)
{
    *only_exceptions = true;
    if (n == 0)
        return raise_type(tx, PyExc_ValueError, "%s",
                          "second argument (exceptions) must be a non-empty sequence");
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_real(tx, &items[i]));
        if (!PyType_IsSubtype(items[i]->type, (PyTypeObject *)PyExc_BaseException))
            return raise_type(
                tx, PyExc_ValueError,
                "Item %zd of second argument (exceptions) is not an exception", i);
        if (items[i]->kind != &kind_exc || items[i]->real)
            return graph_break(tx, BRK_UNKNOWN_TYPE, "a group of existing exceptions");
        *only_exceptions &=
            PyType_IsSubtype(items[i]->type, (PyTypeObject *)PyExc_Exception) != 0;
    }
    return ST_OK;
}

Status group_new(Tx *tx, PyTypeObject *cls, Var **v, Py_ssize_t n, Var **out)
{
    Var **items, *parts[2];
    Py_ssize_t count;
    bool only_exceptions;
    PyTypeObject *t;
    if (n != 2)
        return raise_type(
            tx, PyExc_TypeError,
            "BaseExceptionGroup.__new__() takes exactly 2 arguments (%zd given)", n);
    memcpy(parts, v, sizeof parts);
    TRY(var_real(tx, &parts[0]));
    TRY(var_real(tx, &parts[1]));
    t = parts[0]->type;
    if (!PyType_HasFeature(t, Py_TPFLAGS_UNICODE_SUBCLASS))
        return raise_type(
            tx, PyExc_TypeError,
            "BaseExceptionGroup.__new__() argument 1 must be str, not %.50s",
            parts[0] == tx->none ? "None" : t->tp_name);
    if (parts[1]->type != &PyList_Type && parts[1]->type != &PyTuple_Type)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "exceptions in a %s",
                           parts[1]->type->tp_name);
    TRY(var_unpack(tx, parts[1], &items, &count));
    TRY(check_items(tx, items, count, &only_exceptions));
    TRY(right_class(tx, &cls, only_exceptions));
    TRY(exc_new(tx, cls, parts, 2, out));
    TupleVar *excs;
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, &excs));
    excs->n = count;
    excs->items = items;
    AS(ExcVar, *out)->excs = excs;
    AS(ExcVar, *out)->message = parts[0];
    return ST_OK;
}

static Status make_group(Tx *tx, PyTypeObject *cls, Var *message, Var *list, Var **out)
{
    Var *v[2] = { message, list };
    return group_new(tx, cls, v, 2, out);
}

/* -- Parts of a group ---------------------------------------------------------------------- */

typedef struct Items {
    Var **v;
    Py_ssize_t n;
} Items;

/* How leaves and groups are chosen: by class, by a function, or by being one of these. */
typedef struct Matcher {
    Var *types, *function;
    const Items *leaves;
} Matcher;

static Status matches(Tx *tx, const Matcher *m, Var *exc, bool *yes)
{
    Var *r;
    *yes = false;
    if (m->types)
        return except_matches_var(tx, exc, m->types, yes);
    if (m->function) {
        TRY(var_call1(tx, m->function, exc, &r));
        return var_truth(tx, r, yes);
    }
    for (Py_ssize_t i = 0; i < m->leaves->n && !is_group(exc); i++)
        *yes |= m->leaves->v[i] == exc;
    return ST_OK;
}

/* The notes, copied. */
static Status copy_notes(Tx *tx, Var *from, Var *to)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__notes__"));
    Var *notes, **items, *list;
    Py_ssize_t n;
    TRY_PTR(name);
    TRY(var_getattr_opt(tx, from, name, &notes));
    if (notes == NULL)
        return ST_OK;
    TRY(var_real(tx, &notes));
    if (notes->kind != &kind_list && notes->kind != &kind_tuple)
        return graph_break(tx, BRK_NO_SLOT, "%s", "__notes__ is no list");
    TRY(var_unpack(tx, notes, &items, &n));
    TRY(list_new(tx, items, n, &list));
    return var_setattr(tx, to, name, list);
}

/* As exceptiongroup_subset: what derive() makes, with where it comes from. */
static Status subset(Tx *tx, Var *orig, const Items *items, Var **out)
{
    Var *list;
    *out = tx->none;
    if (items->n == 0)
        return ST_OK;
    TRY(list_new(tx, items->v, items->n, &list));
    TRY(var_call_method(tx, orig, "derive", &list, 1, out));
    TRY(var_real(tx, out));
    if (!is_group(*out))
        return raise_type(tx, PyExc_TypeError, "%s",
                          "derive must return an instance of BaseExceptionGroup");
    ExcVar *e = AS(ExcVar, *out), *from = AS(ExcVar, orig);
    SET(tx, e->raised, from->raised);
    SET(tx, e->tb, from->tb);
    SET(tx, e->context, from->context);
    SET(tx, e->cause, from->cause);
    SET(tx, e->suppress, (uintptr_t)1);
    return copy_notes(tx, orig, *out);
}

static Status split(Tx *tx, const Matcher *m, Var *exc, Var **match, Var **rest)
{
    bool yes;
    *match = *rest = tx->none;
    if (tx_deep(tx))
        return graph_break(tx, BRK_RECURSION, "%s", "groups in groups");
    TRY(matches(tx, m, exc, &yes));
    if (yes || !is_group(exc)) {
        *(yes ? match : rest) = exc;
        return ST_OK;
    }
    TupleVar *excs = AS(ExcVar, exc)->excs;
    if (excs == NULL)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", "an existing exception group");
    size_t size = (size_t)(excs->n + 1) * sizeof(Var *);
    Items in = { tx_alloc(tx, size), 0 }, out = { tx_alloc(tx, size), 0 };
    if (in.v == NULL || out.v == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < excs->n; i++) {
        Var *a, *b;
        TRY(split(tx, m, excs->items[i], &a, &b));
        if (a != tx->none)
            in.v[in.n++] = a;
        if (b != tx->none)
            out.v[out.n++] = b;
    }
    TRY(subset(tx, exc, &in, match));
    return m->leaves ? ST_OK : subset(tx, exc, &out, rest); /* nobody asks for that */
}

/* -- Methods ---------------------------------------------------------------------------------- */

static bool exception_class(Var *v)
{
    return v->kind == &kind_class && v->real && PyExceptionClass_Check(v->real);
}

static Status matcher_of(Tx *tx, Var *v, Matcher *m)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_real(tx, &v));
    bool types = exception_class(v);
    *m = (Matcher){ 0 };
    if (v->type == &PyTuple_Type) {
        TRY(var_unpack(tx, v, &items, &n));
        types = true;
        for (Py_ssize_t i = 0; i < n; i++) {
            TRY(var_real(tx, &items[i]));
            types &= exception_class(items[i]);
        }
    }
    if (types)
        m->types = v;
    else if (v->kind == &kind_func)
        m->function = v;
    else
        return raise_type(
            tx, PyExc_TypeError, "%s",
            "expected a function, exception type or tuple of exception types");
    return ST_OK;
}

Status group_method(Tx *tx, const char *name, Var *self, const Args *a, Var **out)
{
    Matcher m;
    Var *part[2];
    if (!is_group(self) || a->nkw || a->n != 2)
        return ST_DECLINE;
    if (strcmp(name, "derive") == 0)
        return make_group(tx, GROUP, AS(ExcVar, self)->message, a->v[1], out);
    bool both = strcmp(name, "split") == 0;
    if (!both && strcmp(name, "subgroup") != 0)
        return ST_DECLINE;
    TRY(matcher_of(tx, a->v[1], &m));
    TRY(split(tx, &m, self, &part[0], &part[1]));
    *out = part[0];
    return both ? tuple_new(tx, part, 2, out) : ST_OK;
}

/* -- except* -------------------------------------------------------------------------------------- */

/* Groups themselves are not to be caught by it. */
static Status check_star(Tx *tx, Var *types)
{
    Var **items = &types;
    Py_ssize_t n = 1;
    if (types->type == &PyTuple_Type)
        TRY(var_unpack(tx, types, &items, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *cls = items[i];
        TRY(var_real(tx, &cls));
        if (!exception_class(cls))
            return raise_type(
                tx, PyExc_TypeError,
                "catching classes that do not inherit from BaseException is not allowed");
        if (is_group_class((PyTypeObject *)cls->real))
            return raise_type(tx, PyExc_TypeError, "%s",
                              "catching ExceptionGroup with except* is not allowed. Use "
                              "except instead.");
    }
    return ST_OK;
}

Status group_match(Tx *tx, Var *exc, Var *types, Var **match, Var **rest)
{
    bool yes;
    Var *message;
    TRY(var_real(tx, &exc));
    TRY(var_real(tx, &types));
    TRY(check_star(tx, types));
    *match = *rest = tx->none;
    if (exc == tx->none)
        return ST_OK;
    if (exc->kind != &kind_exc || exc->real)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", "except* of an existing exception");
    TRY(except_matches_var(tx, exc, types, &yes));
    *rest = exc;
    if (yes) {
        *rest = tx->none;
        *match = exc;
        if (is_group(exc))
            return ST_OK;
        Var *list;
        TRY(const_str(tx, "", &message));
        TRY(tuple_new(tx, &exc, 1, &list));
        return make_group(tx, GROUP, message, list, match);
    }
    if (!is_group(exc))
        return ST_OK;
    Var *pair, **parts;
    Py_ssize_t n;
    TRY(var_call_method(tx, exc, "split", &types, 1, &pair));
    TRY(var_real(tx, &pair));
    if (pair->type != &PyTuple_Type)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "split() of %s", exc->type->tp_name);
    TRY(var_unpack(tx, pair, &parts, &n));
    if (n < 2)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "split() of %s", exc->type->tp_name);
    *match = parts[0];
    *rest = parts[1];
    TRY(var_real(tx, match));
    return var_real(tx, rest);
}

static void leaves_of(Var *exc, Items *out, Py_ssize_t most)
{
    TupleVar *excs = is_group(exc) ? AS(ExcVar, exc)->excs : NULL;
    if (excs == NULL && out->n < most)
        out->v[out->n++] = exc;
    for (Py_ssize_t i = 0; excs && i < excs->n; i++)
        leaves_of(excs->items[i], out, most);
}

static Py_ssize_t count_leaves(Var *exc)
{
    TupleVar *excs = is_group(exc) ? AS(ExcVar, exc)->excs : NULL;
    Py_ssize_t n = excs == NULL;
    for (Py_ssize_t i = 0; excs && i < excs->n; i++)
        n += count_leaves(excs->items[i]);
    return n;
}

/* Passed on as it was, not raised anew? */
static bool passed_on(Var *e, Var *orig)
{
    if (e->kind != &kind_exc)
        return false;
    ExcVar *a = AS(ExcVar, e), *b = AS(ExcVar, orig);
    return a->tb == b->tb && a->cause == b->cause && a->context == b->context;
}

/* The part of orig whose leaves are in those exceptions. */
static Status projection(Tx *tx, Var *orig, const Items *keep, Var **out)
{
    Items leaves = { NULL, 0 };
    Py_ssize_t most = 0;
    Var *ignored;
    for (Py_ssize_t i = 0; i < keep->n; i++)
        most += count_leaves(keep->v[i]);
    leaves.v = tx_alloc(tx, (size_t)(most + 1) * sizeof(Var *));
    TRY_PTR(leaves.v);
    for (Py_ssize_t i = 0; i < keep->n; i++)
        leaves_of(keep->v[i], &leaves, most);
    return split(tx, &(Matcher){ .leaves = &leaves }, orig, out, &ignored);
}

/* Existing exceptions have tracebacks that nothing is known of. */
static Status all_made(Tx *tx, Var *orig, Var **v, Py_ssize_t n)
{
    bool made = orig->kind == &kind_exc && orig->real == NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_real(tx, &v[i]));
        made &= v[i] == tx->none || (v[i]->kind == &kind_exc && v[i]->real == NULL);
    }
    return made ? ST_OK
                : graph_break(tx, BRK_UNKNOWN_TYPE, "%s",
                              "except* of existing exceptions");
}

Status group_leftover(Tx *tx, Var *orig, Var *excs, Var **out)
{
    Var **v, *again, *message, *list;
    Py_ssize_t n;
    TRY(var_real(tx, &orig));
    TRY(var_unpack(tx, excs, &v, &n));
    *out = tx->none;
    if (n == 0)
        return ST_OK;
    TRY(all_made(tx, orig, v, n));
    if (!is_group(orig)) { /* it was wrapped: only one clause can have run */
        *out = v[0];
        return var_real(tx, out);
    }
    size_t size = (size_t)(n + 1) * sizeof(Var *);
    Items raised = { tx_alloc(tx, size), 0 }, kept = { tx_alloc(tx, size), 0 };
    if (raised.v == NULL || kept.v == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_real(tx, &v[i]));
        Items *to = passed_on(v[i], orig) ? &kept : &raised;
        if (v[i] != tx->none)
            to->v[to->n++] = v[i];
    }
    TRY(projection(tx, orig, &kept, &again));
    *out = again;
    if (raised.n == 0)
        return ST_OK;
    if (again != tx->none)
        raised.v[raised.n++] = again;
    *out = raised.v[0];
    if (raised.n == 1)
        return ST_OK;
    TRY(const_str(tx, "", &message));
    TRY(list_new(tx, raised.v, raised.n, &list));
    return make_group(tx, GROUP, message, list, out);
}
