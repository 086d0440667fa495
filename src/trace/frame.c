/*
 * trace/frame.c -- frames of the traced program; argument binding as initialize_locals in Python/ceval.c.
 */
#include "trace/run.h"
#include "var/func.h"
#include "var/names.h"

enum { MAX_NESTED = 120 };

static Status consts_of(Tx *tx, const Code *code, Var ***out)
{
    void *known;
    if (ptrmap_get(&tx->consts, code, &known)) {
        *out = known;
        return ST_OK;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(code->co->co_consts);
    *out = tx_alloc(tx, (size_t)(n + 1) * sizeof(Var *));
    TRY_PTR(*out);
    return ptrmap_put(&tx->consts, &tx->arena, &tx->journal, code, *out) ? ST_OK
                                                                         : ST_ERROR;
}

Status frame_make(Tx *tx, FuncVar *fn, RetKind ret, Frame **out)
{
    const Code *code = fn->code;
    Frame *f = tx_alloc(tx, sizeof *f);
    TRY_PTR(f);
    f->slots =
        tx_alloc(tx, (size_t)(code->nlocalsplus + code->stacksize + 2) * sizeof(Var *));
    TRY_PTR(f->slots);
    TRY(consts_of(tx, code, &f->consts));
    f->fn = fn;
    f->code = code;
    f->sp = (size_t)code->nlocalsplus;
    f->ret = ret;
    f->up = tx->top;
    f->resumable = ret == RET_PUSH && tx->nested == 0;
    SET(tx, tx->top, f);
    tx->depth++;
    *out = f;
    return ST_OK;
}

Status frame_leave(Tx *tx, Frame *f, Var *value)
{
    SET(tx, tx->top, f->up);
    tx->depth--;
    tx->result = value;
    if (f->ret == RET_PUSH && f->up != NULL)
        return push(tx, f->up, value);
    return ST_OK;
}

/* -- Binding ---------------------------------------------------------------------- */

static int find_param(PyCodeObject *co, PyObject *name)
{
    int n = co->co_argcount + co->co_kwonlyargcount;
    for (int i = co->co_posonlyargcount; i < n; i++) {
        PyObject *p = PyTuple_GET_ITEM(co->co_localsplusnames, i);
        if (p == name || PyUnicode_Compare(p, name) == 0)
            return i;
    }
    return -1;
}

/* TypeError "f() …", with the name that the function has now. */
static Status misused(Tx *tx, const Frame *f, PyObject *what)
{
    Var *v;
    PyObject *name = NULL;
    TRY_PTR(tx_hold(tx, what));
    TRY(var_getattr(tx, &f->fn->v, str___qualname__, &v));
    TRY(var_const(tx, v, &name));
    return name ? raise_type(tx, PyExc_TypeError, "%S() %U", name, what)
                : graph_break(tx, BRK_NO_SLOT, "%s", "name of a function");
}

static const char *plural(Py_ssize_t n)
{
    return n == 1 ? "" : "s";
}

/* " positional arguments (and 1 keyword-only argument)", if there are any. */
static PyObject *keywords_given(const Frame *f, int positional)
{
    PyCodeObject *co = f->code->co;
    int n = 0;
    for (int i = 0; i < co->co_kwonlyargcount; i++)
        n += f->slots[co->co_argcount + i] != NULL;
    return n ? PyUnicode_FromFormat(
                   " positional argument%s (and %d keyword-only argument%s)",
                   plural(positional), n, plural(n))
             : PyUnicode_FromString("");
}

static Status too_many(Tx *tx, const Frame *f, const Args *a, Py_ssize_t ndefaults)
{
    int most = f->code->co->co_argcount;
    PyObject *keywords = tx_hold(tx, keywords_given(f, a->n));
    TRY_PTR(keywords);
    const char *was = a->n == 1 && PyUnicode_GET_LENGTH(keywords) == 0 ? "was" : "were";
    return misused(
        tx, f,
        ndefaults
            ? PyUnicode_FromFormat(
                  "takes from %zd to %d positional arguments but %d%U %s given",
                  most - ndefaults, most, a->n, keywords, was)
            : PyUnicode_FromFormat("takes %d positional argument%s but %d%U %s given",
                                   most, plural(most), a->n, keywords, was));
}

/* What CPython says before it calls a keyword unexpected: f(a=1) where a is positional-only. */
static Status unexpected(Tx *tx, const Frame *f, const Args *a, PyObject *name)
{
    PyCodeObject *co = f->code->co;
    PyObject *names = NULL;
    for (int i = 0; i < co->co_posonlyargcount; i++)
        for (int k = 0; k < a->nkw; k++) {
            PyObject *p = PyTuple_GET_ITEM(co->co_localsplusnames, i);
            if (PyUnicode_Compare(p, PyTuple_GET_ITEM(a->kwnames, k)) != 0)
                continue;
            names = tx_hold(tx, names ? PyUnicode_FromFormat("%U, %U", names, p)
                                      : Py_NewRef(p));
            TRY_PTR(names);
        }
    return misused(
        tx, f,
        names
            ? PyUnicode_FromFormat(
                  "got some positional-only arguments passed as keyword arguments: '%U'",
                  names)
            : PyUnicode_FromFormat("got an unexpected keyword argument '%S'", name));
}

static Status bind_keywords(Tx *tx, Frame *f, const Args *a, DictVar *rest)
{
    PyCodeObject *co = f->code->co;
    for (int i = 0; i < a->nkw; i++) {
        PyObject *name = PyTuple_GET_ITEM(a->kwnames, i);
        int slot = find_param(co, name);
        if (slot >= 0 && f->slots[slot] != NULL)
            return misused(
                tx, f,
                PyUnicode_FromFormat("got multiple values for argument '%S'", name));
        if (slot >= 0)
            f->slots[slot] = a->v[a->n + i];
        else if (rest != NULL)
            TRY(dict_set_str(tx, rest, name, a->v[a->n + i]));
        else
            return unexpected(tx, f, a, name);
    }
    return ST_OK;
}

/* "f() missing 2 required positional arguments: 'a' and 'b'" */
static Status missing(Tx *tx, const Frame *f, const int *slots, int n, const char *what)
{
    PyObject *names = PyUnicode_FromString("");
    for (int i = 0; i < n && names; i++) {
        PyObject *name = PyTuple_GET_ITEM(f->code->co->co_localsplusnames, slots[i]);
        const char *join = i == 0 ? "" : i < n - 1 ? ", " : n == 2 ? " and " : ", and ";
        Py_SETREF(names, PyUnicode_FromFormat("%U%s'%U'", names, join, name));
    }
    TRY_PTR(tx_hold(tx, names));
    return misused(tx, f,
                   PyUnicode_FromFormat("missing %i required %s argument%s: %U", n, what,
                                        plural(n), names));
}

static Status bind_defaults(Tx *tx, Frame *f)
{
    PyCodeObject *co = f->code->co;
    int lost[256], n = 0;
    Py_ssize_t ndefaults = -1;
    for (int i = 0; i < co->co_argcount; i++) {
        if (f->slots[i] != NULL)
            continue;
        if (ndefaults < 0)
            TRY(func_ndefaults(tx, f->fn, &ndefaults));
        Py_ssize_t d = i - (co->co_argcount - ndefaults);
        if (d >= 0)
            TRY(func_default(tx, f->fn, d, &f->slots[i]));
        else if (n < 256)
            lost[n++] = i;
    }
    if (n)
        return missing(tx, f, lost, n, "positional");
    for (int i = co->co_argcount; i < co->co_argcount + co->co_kwonlyargcount; i++) {
        if (f->slots[i] != NULL)
            continue;
        TRY(func_kwdefault(tx, f->fn, PyTuple_GET_ITEM(co->co_localsplusnames, i),
                           &f->slots[i]));
        if (f->slots[i] == NULL && n < 256)
            lost[n++] = i;
    }
    return n ? missing(tx, f, lost, n, "keyword-only") : ST_OK;
}

static Status bind(Tx *tx, Frame *f, const Args *a)
{
    PyCodeObject *co = f->code->co;
    int named = co->co_argcount + co->co_kwonlyargcount;
    int n = a->n < co->co_argcount ? a->n : co->co_argcount;
    for (int i = 0; i < n; i++)
        f->slots[i] = a->v[i];
    int slot = named;
    if (co->co_flags & CO_VARARGS)
        TRY(tuple_new(tx, a->v + n, a->n - n, &f->slots[slot++]));
    DictVar *rest = NULL;
    if (co->co_flags & CO_VARKEYWORDS) {
        TRY(dict_new(tx, &f->slots[slot]));
        rest = AS(DictVar, f->slots[slot]);
    }
    if (a->nkw)
        TRY(bind_keywords(tx, f, a, rest));
    if (a->n > n && !(co->co_flags & CO_VARARGS)) {
        Py_ssize_t ndefaults;
        TRY(func_ndefaults(tx, f->fn, &ndefaults));
        return too_many(tx, f, a, ndefaults);
    }
    return a->n >= co->co_argcount && !co->co_kwonlyargcount ? ST_OK
                                                             : bind_defaults(tx, f);
}

static Status enterable(Tx *tx, FuncVar *fn)
{
    if (tx->depth >= tx->max_depth || tx->nested >= MAX_NESTED)
        return graph_break(tx, BRK_RECURSION, "%U", fn->co->co_qualname);
    if (fn->co->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE))
        return graph_break(tx, BRK_GENERATOR, "coroutine %U", fn->co->co_qualname);
    if (!(fn->co->co_flags & CO_OPTIMIZED))
        return graph_break(tx, BRK_CLASS_BODY, "%U", fn->co->co_qualname);
    return ST_OK;
}

/* What comes before RETURN_GENERATOR is part of the call: no frame rests there. */
static Status make_generator(Tx *tx, Frame *f, Frame **out)
{
    Var *g;
    f->ret = RET_NATIVE;
    f->resumable = false;
    *out = NULL;
    return trace_run(tx, f, &g);
}

Status frame_enter(Tx *tx, FuncVar *fn, const Args *a, RetKind ret, Frame **out)
{
    Frame *f;
    TRY(enterable(tx, fn));
    TRY(frame_make(tx, fn, ret, &f));
    Status st = bind(tx, f, a);
    if (st != ST_OK) { /* the error belongs to the caller's instruction */
        SET(tx, tx->top, f->up);
        tx->depth--;
        return st;
    }
    *out = f;
    return f->code->co->co_flags & CO_GENERATOR ? make_generator(tx, f, out) : ST_OK;
}

Status frame_body(Tx *tx, FuncVar *fn, Var *ns, Var **out)
{
    Frame *f;
    if (tx->depth >= tx->max_depth || tx->nested >= MAX_NESTED)
        return graph_break(tx, BRK_RECURSION, "%U", fn->co->co_qualname);
    TRY(frame_make(tx, fn, RET_NATIVE, &f));
    f->locals = ns;
    return trace_run(tx, f, out);
}
