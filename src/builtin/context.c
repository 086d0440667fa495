/*
 * builtin/context.c -- context variables, and locks that the trace itself has made.
 *
 * A ContextVar's value is read as the trace finds it, guarded like a cell's content, and set when the segment settles its effects: a region that
 * sets and resets leaves nothing behind. Existing locks are seen by other threads and break; a new one is nobody else's yet.
 */
#include "builtin/help.h"
#include "var/names.h"

/* -- Context variables ------------------------------------------------------------- */

/* Its value in the current context: borrowed by the context; NULL: it has none. */
static Status value_now(Tx *tx, PyObject *var, PyObject **out)
{
    PyObject *got = NULL,
             *none = tx_hold(tx, PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type));
    TRY_PTR(none);
    if (PyContextVar_Get(var, none, &got) < 0)
        return raise_now(tx);
    tx_hold(tx, got);
    *out = got == none ? NULL : got;
    return ST_OK;
}

static Status look(Tx *tx, CtxVar *c)
{
    PyObject *o;
    Var *v = NULL;
    if (c->seen)
        return ST_OK;
    TRY(value_now(tx, c->v.real, &o));
    Source *s = source_get(&tx->sources, SRC_CONTEXT, c->v.src, NULL, 0);
    TRY_PTR(s);
    if (o != NULL)
        TRY(lazy_new(tx, o, s, &v));
    else
        TRY(guard_add(&tx->guards, (Guard){ .kind = GUARD_UNBOUND, .src = s }));
    SET(tx, c->now, v);
    SET(tx, c->seen, 1);
    return ST_OK;
}

/* The variable; declines what is none, or no existing one. */
static Status variable(Tx *tx, const Args *a, CtxVar **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    if (v->kind != &kind_context)
        return ST_DECLINE;
    *out = AS(CtxVar, v);
    if (tx->foreign)
        return graph_break(tx, BRK_SIDE_EFFECT, "%s", "a context variable");
    return look(tx, *out);
}

/* The default that the variable was made with is its for good. */
static Status default_of(Tx *tx, CtxVar *c, Var **out)
{
    PyObject *o;
    TRY(value_now(tx, c->v.real, &o));
    if (o != NULL)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s",
                           "default of a ContextVar that is set");
    if (PyContextVar_Get(c->v.real, NULL, &o) < 0)
        return raise_now(tx);
    tx_hold(tx, o);
    if (o != NULL)
        return wrap_pinned(tx, o, NULL, out);
    Var *arg = &c->v, *exc;
    TRY(exc_new(tx, (PyTypeObject *)PyExc_LookupError, &arg, 1, &exc));
    return raise_var(tx, exc);
}

static Status get(Tx *tx, const Args *a, Var **out)
{
    CtxVar *c;
    TRY(variable(tx, a, &c));
    *out = c->now ? c->now : a->n > 1 ? a->v[1] : NULL;
    return *out ? ST_OK : default_of(tx, c, out);
}

static Status set(Tx *tx, const Args *a, Var **out)
{
    CtxVar *c;
    TokenVar *t;
    PyObject *type = lookup_path(tx, "_contextvars", "Token");
    if (type == NULL || !PyType_Check(type))
        return ST_DECLINE;
    TRY(variable(tx, a, &c));
    TRY(VAR_MAKE(tx, token, TokenVar, (PyTypeObject *)type, &t));
    t->var = c;
    t->old = c->now;
    t->value = a->v[1];
    t->below = c->top;
    TRY(var_touch(tx, &c->v));
    SET(tx, c->now, a->v[1]);
    SET(tx, c->top, t);
    *out = &t->v;
    return ST_OK;
}

static Status reset(Tx *tx, const Args *a, Var **out)
{
    CtxVar *c;
    Var *token = a->v[1];
    TRY(var_real(tx, &token));
    if (token->kind != &kind_token)
        return ST_DECLINE;
    TRY(variable(tx, a, &c));
    TokenVar *t = AS(TokenVar, token);
    if (t != c->top)
        return graph_break(
            tx, BRK_UNKNOWN_CALL, "%s",
            "ContextVar.reset() out of order, or with another one's token");
    SET(tx, c->now, t->old);
    SET(tx, c->top, t->below);
    SET(tx, t->used, 1);
    *out = tx_none(tx);
    return ST_OK;
}

/* -- Locks of the trace's own -------------------------------------------------------- */

static Status make_lock(Tx *tx, const char *name, Var **out)
{
    PyObject *type = lookup_path(tx, "_thread", name);
    LockVar *l;
    if (type == NULL || !PyType_Check(type))
        return ST_DECLINE;
    TRY(VAR_MAKE(tx, lock, LockVar, (PyTypeObject *)type, &l));
    l->many = strcmp(name, "RLock") == 0;
    *out = &l->v;
    return ST_OK;
}

static Status new_lock(Tx *tx, const Args *a, Var **out)
{
    return make_lock(tx, "LockType", out);
}

static Status new_rlock(Tx *tx, const Args *a, Var **out)
{
    return make_lock(tx, "RLock", out);
}

static Status own_lock(Tx *tx, const Args *a, LockVar **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    if (v->kind != &kind_lock)
        return ST_DECLINE;
    *out = AS(LockVar, v);
    return ST_OK;
}

static Status acquire(Tx *tx, const Args *a, Var **out)
{
    LockVar *l;
    TRY(own_lock(tx, a, &l));
    if (l->held && !l->many)
        return graph_break(tx, BRK_SIDE_EFFECT, "%s", "a lock that is held already");
    SET(tx, l->held, l->held + 1);
    *out = tx_bool(tx, true);
    return ST_OK;
}

static Status release(Tx *tx, const Args *a, Var **out)
{
    LockVar *l;
    TRY(own_lock(tx, a, &l));
    if (l->held == 0)
        return raise_type(tx, PyExc_RuntimeError, "%s",
                          l->many ? "cannot release un-acquired lock"
                                  : "release unlocked lock");
    SET(tx, l->held, l->held - 1);
    *out = tx_none(tx);
    return ST_OK;
}

static Status locked(Tx *tx, const Args *a, Var **out)
{
    LockVar *l;
    TRY(own_lock(tx, a, &l));
    *out = tx_bool(tx, l->held != 0);
    return ST_OK;
}

const Handler handlers_context[] = {
    { "_contextvars.ContextVar.get", 1, 2, get, NULL },
    { "_contextvars.ContextVar.set", 2, 2, set, NULL },
    { "_contextvars.ContextVar.reset", 2, 2, reset, NULL },
    { "_thread.allocate_lock", 0, 0, new_lock, NULL },
    { "_thread.allocate", 0, 0, new_lock, NULL },
    { "_thread.RLock", 0, 0, new_rlock, NULL },
    { "_thread.RLock.__enter__", 1, 1, acquire, NULL },
    { "_thread.RLock.__exit__", 1, 4, release, NULL },
    { "_thread.RLock.acquire", 1, 1, acquire, NULL },
    { "_thread.RLock.release", 1, 1, release, NULL },
    { "_thread.LockType.__enter__", 1, 1, acquire, NULL },
    { "_thread.LockType.__exit__", 1, 4, release, NULL },
    { "_thread.LockType.acquire", 1, 1, acquire, NULL },
    { "_thread.LockType.release", 1, 1, release, NULL },
    { "_thread.LockType.locked", 1, 1, locked, NULL },
    { 0 },
};
