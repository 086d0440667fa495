/*
 * var/partial.c -- functools.partial, existing or new.
 *
 * Holds: the function, the arguments, keywords in order. An existing one's parts are found through its C members.
 */
#include "trace/tx.h"
#include "var/partial.h"

static bool named(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

/* -- Existing ones ------------------------------------------------------------ */

static Status part(Tx *tx, PyObject *o, Source *src, const char *which, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString(which));
    TRY_PTR(name);
    PyObject *value = tx_hold(tx, PyObject_GetAttr(o, name));
    Source *s = source_get(&tx->sources, SRC_GETSET, src, name, 0);
    if (value == NULL || s == NULL)
        return ST_ERROR;
    return lazy_new(tx, value, s, out);
}

/* Keywords of an existing partial: the dictionary's keys are asked, its values are not. */
static Status keywords_of(Tx *tx, Var *dict, Var ***values, PyObject **names,
                          Py_ssize_t *n)
{
    Var **keys;
    TRY(dict_items(tx, AS(DictVar, dict), &keys, values, n));
    *names = *n ? tx_hold(tx, PyTuple_New(*n)) : NULL;
    if (*n && *names == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < *n; i++) {
        PyObject *key;
        TRY(var_const(tx, keys[i], &key));
        if (key == NULL || !PyUnicode_CheckExact(key))
            return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                               "functools.partial with odd keywords");
        PyTuple_SET_ITEM(*names, i, Py_NewRef(key));
    }
    return ST_OK;
}

Status partial_wrap(Tx *tx, PyObject *o, Source *src, Var **out)
{
    PartialVar *p;
    Var *fn, *args, *keywords, **v, **values;
    PyObject *names;
    Py_ssize_t n, nkw;
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    TRY(part(tx, o, src, "func", &fn)); /* left alone: it may be this very partial */
    TRY(part(tx, o, src, "args", &args));
    TRY(part(tx, o, src, "keywords", &keywords));
    TRY(var_real(tx, &args));
    TRY(var_real(tx, &keywords));
    if (keywords->kind != &kind_dict)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", "functools.partial");
    TRY(var_unpack(tx, args, &v, &n));
    TRY(keywords_of(tx, keywords, &values, &names, &nkw));
    TRY(VAR_MAKE(tx, partial, PartialVar, Py_TYPE(o), &p));
    p->fn = fn;
    p->args = (Args){ tx_alloc(tx, (size_t)(n + nkw + 1) * sizeof(Var *)), (int)n,
                      (int)nkw, names };
    TRY_PTR(p->args.v);
    if (n)
        memcpy(p->args.v, v, (size_t)n * sizeof(Var *));
    if (nkw)
        memcpy(p->args.v + n, values, (size_t)nkw * sizeof(Var *));
    *out = &p->v;
    return ST_OK;
}

/* -- Calls ------------------------------------------------------------------ */

static Py_ssize_t position(PyObject *names, Py_ssize_t n, PyObject *name)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (PyUnicode_Compare(PyList_GET_ITEM(names, i), name) == 0)
            return i;
    return -1;
}

/* Keywords of `more` replace those of `first` in place; new ones follow, as dict.update has it. */
static Status merge_keywords(Tx *tx, const Args *first, const Args *more, Args *out)
{
    PyObject *names = tx_hold(tx, PyList_New(0));
    TRY_PTR(names);
    Var **values = out->v + out->n;
    const Args *both[] = { first, more };
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < both[k]->nkw; i++) {
            PyObject *name = PyTuple_GET_ITEM(both[k]->kwnames, i);
            Py_ssize_t at = position(names, PyList_GET_SIZE(names), name);
            if (at < 0 && PyList_Append(names, name) < 0)
                return ST_ERROR;
            values[at < 0 ? PyList_GET_SIZE(names) - 1 : at] = both[k]->v[both[k]->n + i];
        }
    }
    out->nkw = (int)PyList_GET_SIZE(names);
    out->kwnames = out->nkw ? tx_hold(tx, PyList_AsTuple(names)) : NULL;
    return out->nkw && out->kwnames == NULL ? ST_ERROR : ST_OK;
}

Status partial_args(Tx *tx, const Args *first, const Args *more, Args *out)
{
    size_t size = (size_t)(first->n + first->nkw + more->n + more->nkw + 1);
    *out = (Args){ tx_alloc(tx, size * sizeof(Var *)), first->n + more->n, 0, NULL };
    TRY_PTR(out->v);
    if (first->n)
        memcpy(out->v, first->v, (size_t)first->n * sizeof(Var *));
    if (more->n)
        memcpy(out->v + first->n, more->v, (size_t)more->n * sizeof(Var *));
    return merge_keywords(tx, first, more, out);
}

Status partial_new(Tx *tx, PyTypeObject *t, Var *fn, const Args *a, Var **out)
{
    static const Args none;
    PartialVar *p;
    TRY(var_real(tx, &fn));
    bool flat = fn->kind == &kind_partial &&
                fn->type == t; /* partials of partials become one, as CPython has it */
    if (flat &&
        fn->real) /* CPython leaves it as it is if it has a __dict__, which no guard sees */
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "functools.partial of one that existed before");
    TRY(VAR_MAKE(tx, partial, PartialVar, t, &p));
    p->fn = flat ? AS(PartialVar, fn)->fn : fn;
    TRY(partial_args(tx, flat ? &AS(PartialVar, fn)->args : &none, a, &p->args));
    *out = &p->v;
    return ST_OK;
}

static Status partial_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    PartialVar *p = AS(PartialVar, self);
    Args all;
    TRY(partial_args(tx, &p->args, a, &all));
    return var_call(tx, p->fn, &all, out);
}

/* -- Attributes ------------------------------------------------------------- */

static Status partial_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PartialVar *p = AS(PartialVar, self);
    if (named(name, "func")) {
        *out = p->fn;
        return ST_OK;
    }
    if (named(name,
              "keywords")) /* a dict that may be changed, which the partial would see */
        return graph_break(tx, BRK_NO_SLOT, "%s", "keywords of a partial");
    if (named(name, "args")) {
        if (self->real != NULL)
            return part(tx, self->real, self->src, "args", out);
        if (p->tuple == NULL) {
            Var *t;
            TRY(tuple_new(tx, p->args.v, p->args.n, &t));
            SET(tx, p->tuple, t);
        }
        *out = p->tuple;
        return ST_OK;
    }
    if (self->real == NULL || named(name, "__dict__"))
        return var_generic_getattr(tx, self, name, out);
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr && (Py_IS_TYPE(descr, &PyGetSetDescr_Type) ||
                  Py_IS_TYPE(descr, &PyMemberDescr_Type)))
        return part(tx, self->real, self->src, PyUnicode_AsUTF8(name), out);
    if (descr && Py_IS_TYPE(descr, &PyMethodDescr_Type))
        return builtin_new(tx, descr, self, out);
    return graph_break(tx, BRK_NO_SLOT, "attribute '%U' of a partial", name);
}

/* -- As a value --------------------------------------------------------------- */

static Status partial_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status partial_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    *out = tx_notimpl(tx);
    return ST_OK;
}

static Status partial_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *key = self->real;
    *h = _Py_HashPointer(self->real ? (void *)self->real : (void *)self);
    return ST_OK;
}

/* -- The kind --------------------------------------------------------------- */

const VarKind kind_partial = {
    .name = "partial",
    .id = KIND_partial,
    .getattr = partial_getattr,
    .call = partial_call,
    .truth = partial_truth,
    .compare = partial_compare,
    .hash = partial_hash,
};
