/*
 * builtin/match.c -- from a callable to the rows of its handlers.
 *
 * Takes: a callable's real object and the arguments of the call. Gives: the first row's result that does not decline.
 * Knows besides the tables: exception classes, and methods bound to constants.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/bytearray.h"

static PathTable rows;

/* -- Arguments -------------------------------------------------------------- */

Var *args_kw(const Args *a, const char *name)
{
    for (int i = 0; i < a->nkw; i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(a->kwnames, i), name) == 0)
            return a->v[a->n + i];
    return NULL;
}

Var *args_get(const Args *a, int i, const char *name)
{
    if (i < a->n)
        return a->v[i];
    return name ? args_kw(a, name) : NULL;
}

/* Is `name` one of the space-separated words? */
static bool has_word(const char *words, PyObject *name)
{
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(name, &n);
    if (s == NULL)
        PyErr_Clear();
    for (const char *p = words; s != NULL && *p;) {
        size_t len = strcspn(p, " ");
        if (len == (size_t)n && memcmp(p, s, len) == 0)
            return true;
        p += len + strspn(p + len, " ");
    }
    return false;
}

/* A row is not asked about a call of another shape: what becomes of that is the real callable's business. */
static bool accepts(const Handler *row, const Args *a)
{
    if (a->n < row->min || (row->max >= 0 && a->n > row->max))
        return false;
    if (a->nkw == 0)
        return true;
    if (row->kw == NULL)
        return false;
    if (strcmp(row->kw, ANY_KW) == 0)
        return true;
    for (int i = 0; i < a->nkw; i++)
        if (!has_word(row->kw, PyTuple_GET_ITEM(a->kwnames, i)))
            return false;
    return true;
}

/* -- Bound methods of constants ---------------------------------------------- */

/* `"-".join` found as an object: the method's descriptor, and the constant it is bound to. */
static PyObject *unbound_method(PyObject *callable, PyObject **self)
{
    if (!PyCFunction_Check(callable))
        return NULL;
    PyCFunctionObject *f = (PyCFunctionObject *)callable;
    if (f->m_self == NULL || PyModule_Check(f->m_self) || PyType_Check(f->m_self))
        return NULL;
    PyObject *d = paths_class_entry(Py_TYPE(f->m_self), f->m_ml->ml_name);
    if (d == NULL || !Py_IS_TYPE(d, &PyMethodDescr_Type) ||
        ((PyMethodDescrObject *)d)->d_method != f->m_ml)
        return NULL;
    *self = f->m_self;
    return d;
}

static Status call_unbound(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    PyObject *self, *d = unbound_method(callable, &self);
    if (d == NULL)
        return ST_DECLINE;
    Var *s;
    TRY(const_peek(tx, self, &s));
    if (!fold_possible(s))
        return ST_DECLINE;
    Args b = { tx_alloc(tx, (size_t)(a->n + 1 + a->nkw) * sizeof(Var *)), a->n + 1,
               a->nkw, a->kwnames };
    TRY_PTR(b.v);
    b.v[0] = s;
    if (a->n + a->nkw)
        memcpy(b.v + 1, a->v, (size_t)(a->n + a->nkw) * sizeof(Var *));
    return match_call(tx, d, &b, out);
}

/* -- The call --------------------------------------------------------------- */

static Status run_rows(Tx *tx, const PathHit *hit, const Args *a, Var **out)
{
    for (; hit; hit = hit->next) {
        const Handler *row = hit->row;
        if (!accepts(row, a))
            continue;
        size_t nodes = tx->graph.node.n, changes = tx->dirty.n;
        Status st = row->fn(tx, a, out);
        if (st != ST_DECLINE)
            return st;
        assert(nodes == tx->graph.node.n &&
               changes == tx->dirty.n); /* decide first, act after */
        (void)nodes, (void)changes;
    }
    return ST_DECLINE;
}

/* Nobody knows the callable, or its handlers look at keywords themselves. */
static bool any_keyword(const PathHit *hit)
{
    for (const PathHit *h = hit; h; h = h->next) {
        const Handler *row = h->row;
        if (row->kw && strcmp(row->kw, ANY_KW) == 0)
            return true;
    }
    return hit == NULL;
}

Status match_call(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    Status st = ST_DECLINE;
    const PathHit *hit = paths_find(&rows, callable);
    if (a->nkw &&
        !any_keyword(
            hit)) /* an argument that is given twice, say: handlers do not look for that */
        st = illegal_call(tx, callable, a);
    if (st == ST_DECLINE)
        st = run_rows(tx, hit, a, out);
    if (st == ST_DECLINE)
        st = exc_match(tx, callable, a, out);
    if (st == ST_DECLINE)
        st = bytearray_method(tx, callable, a, out);
    return st != ST_DECLINE ? st : call_unbound(tx, callable, a, out);
}

int match_init(void)
{
    static const Handler *const tables[] = {
#define X(name) handlers_##name,
        HANDLER_TABLES(X)
#undef X
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        for (const Handler *row = tables[i]; row->path; row++)
            if (paths_add(&rows, row->path, row) < 0)
                return -1;
    return optim_init() < 0 ? -1 : fold_init();
}
