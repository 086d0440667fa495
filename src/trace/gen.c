/*
 * trace/gen.c -- generators whose frame is in the trace: the kind, and the ways into the frame.
 *
 * A generator runs as C code waiting for its frame (nested): a break inside moves out to the instruction that resumed it.
 */
#include "trace/run.h"
#include "var/names.h"

Status gen_new(Tx *tx, FuncVar *fn, Frame *frame, Var **out)
{
    GenVar *g;
    TRY(VAR_MAKE(tx, gen, GenVar, &PyGen_Type, &g));
    g->fn = fn;
    g->frame = frame;
    *out = &g->v;
    return VEC_PUSH(&tx->arena, &tx->journal, &tx->gens, g) ? ST_OK : ST_ERROR;
}

static Status reenter(Tx *tx, GenVar *g)
{
    Frame *f = g->frame;
    if (g->state == GEN_RUNNING)
        return raise_type(tx, PyExc_ValueError, "generator already executing");
    if (g->state == GEN_CREATED)
        SET(tx, g->begun, tx->steps);
    SET(tx, g->state, GEN_RUNNING);
    SET(tx, f->up, tx->top);
    SET(tx, f->pc, f->pc);
    SET(tx, f->cur, f->cur);
    SET(tx, tx->top, f);
    tx->depth++;
    return ST_OK;
}

/* What is handled outside of the generator while its own takes its place. */
typedef struct Outer {
    Var *handled, *inherited;
} Outer;

static Outer handled_enter(Tx *tx, GenVar *g)
{
    Outer o = { tx->handled, tx->inherited };
    if (o.handled != NULL)
        SET(tx, tx->inherited, o.handled);
    SET(tx, tx->handled, g->exc_saved);
    return o;
}

static void handled_leave(Tx *tx, GenVar *g, Outer o)
{
    SET(tx, g->exc_saved, tx->handled);
    SET(tx, tx->handled, o.handled);
    SET(tx, tx->inherited, o.inherited);
}

/* Runs the frame, entered already, to its next yield or its end; exc: what is raised in it first, or NULL. */
static Status run(Tx *tx, GenVar *g, Var *exc, Var **out)
{
    Outer outer = handled_enter(tx, g);
    Status st = ST_OK;
    Var *v = NULL;
    if (exc != NULL) {
        st = except_throw(tx, exc);
        tx->nested++;
        if (st == ST_RAISE)
            st = except_unwind(tx, g->frame);
        tx->nested--;
    }
    if (st == ST_OK)
        st = trace_run(tx, g->frame, &v);
    if (st != ST_OK && st != ST_RAISE)
        return st;
    handled_leave(tx, g, outer);
    if (st == ST_OK)
        *out = g->state == GEN_DONE ? NULL : v;
    return st;
}

Status gen_resume(Tx *tx, GenVar *g, Var *sent, Var **out)
{
    if (g->state == GEN_DONE) {
        *out = NULL;
        tx->result = tx->none;
        return ST_OK;
    }
    if (g->state == GEN_CREATED && sent != tx->none)
        return raise_type(tx, PyExc_TypeError,
                          "can't send non-None value to a just-started generator");
    TRY(reenter(tx, g));
    TRY(push(tx, g->frame, sent));
    return run(tx, g, NULL, out);
}

/* -- Exceptions into a generator ------------------------------------------------------- */

/* What `yield from` or `await` waits for, or NULL. */
static Var *delegate_of(GenVar *g)
{
    Frame *f = g->frame;
    const Ins *in = &f->code->ins[f->pc];
    if (g->state != GEN_SUSPENDED || in->op != OP_RESUME || (in->arg & 3) < 2 ||
        in[-2].op != OP_SEND)
        return NULL;
    return f->slots[f->sp - 1];
}

/* -- What closing runs ------------------------------------------------------------------ */

/* An exception class that `except` names and that GeneratorExit is not one of. */
static bool passes_exit(const Frame *f, PyObject *name)
{
    PyObject *globals = AS(DictVar, f->fn->globals)->v.real;
    PyObject *cls = globals ? PyDict_GetItem(globals, name) : NULL;
    if (cls == NULL)
        cls = PyDict_GetItem(PyEval_GetBuiltins(), name);
    return globals && cls && PyExceptionClass_Check(cls) &&
           !PyType_IsSubtype((PyTypeObject *)PyExc_GeneratorExit, (PyTypeObject *)cls);
}

/* Does GeneratorExit go through the instruction of a handler unseen? *i: the next one. */
static bool passes(const Frame *f, size_t *i)
{
    const Ins *in = &f->code->ins[*i];
    ++*i;
    switch (in->op) {
    case OP_NOP:
    case OP_PUSH_EXC_INFO:
    case OP_COPY:
    case OP_POP_EXCEPT:
    case OP_BUILD_TUPLE:
    case OP_CHECK_EXC_MATCH: return true;
    case OP_LOAD_GLOBAL:
        return passes_exit(f, PyTuple_GET_ITEM(f->code->co->co_names, in->arg));
    case OP_POP_JUMP_IF_FALSE: *i = (size_t)in->target; return true;
    default: return false;
    }
}

enum { LOOK_AT_MOST = 64 };

/* Is there anything in the handlers around instruction i that GeneratorExit would run? `except IndexError` is nothing. */
static bool exit_runs(const Frame *f, size_t i)
{
    int h = f->code->ins[i].handler;
    int left = LOOK_AT_MOST;
    for (; h >= 0 && left > 0; h = f->code->ins[i].handler, left--)
        for (i = (size_t)f->code->exc[h].target; f->code->ins[i].op != OP_RERAISE; left--)
            if (left <= 0 || !passes(f, &i))
                return true;
    return h >= 0;
}

/* Closing it would run code: it waits inside a `try` or `with`, or for something that would be closed. */
bool gen_open(GenVar *g)
{
    while (g->state == GEN_SUSPENDED) {
        Var *under = delegate_of(g);
        if (exit_runs(g->frame, g->frame->pc))
            return true;
        if (under && under->kind == &kind_lazy)
            under = AS(LazyVar, under)->got;
        if (under == NULL || under->kind != &kind_gen)
            return under != NULL && under->kind == &kind_object;
        g = AS(GenVar, under);
    }
    return false;
}

Status gen_dropped(Tx *tx, Var *v)
{
    if (v && v->kind == &kind_gen && v->real == NULL && gen_open(AS(GenVar, v)))
        return graph_break(tx, BRK_FINALIZER, "%s",
                           "a generator is left inside its `try`");
    return ST_OK;
}

Status gen_left(Tx *tx, Var *v)
{
    return v && v->kind == &kind_gen && AS(GenVar, v)->kept ? ST_OK : gen_dropped(tx, v);
}

/* The delegate has ended: behind its SEND, with its value or its exception. */
static Status delegate_done(Tx *tx, GenVar *g, Var *value, Var *exc, Var **out)
{
    Frame *f = g->frame;
    size_t send = f->pc - 2;
    TRY(reenter(tx, g));
    pop(tx, f);
    f->cur = send;
    f->pc = (size_t)f->code->ins[send].target;
    if (value != NULL)
        TRY(push(tx, f, value));
    return run(tx, g, exc, out);
}

/* What is thrown: as throw() was given it, `exc` a class or an instance. */
typedef struct Thrown {
    Var *exc, *value, *tb; /* value and tb: NULL if not given */
} Thrown;

static bool is_class(const Var *v)
{
    return v->kind == &kind_class && v->real && PyExceptionClass_Check(v->real);
}

static bool is_exit(const Thrown *t)
{
    PyTypeObject *type = is_class(t->exc) ? (PyTypeObject *)t->exc->real : t->exc->type;
    return PyType_IsSubtype(type, (PyTypeObject *)PyExc_GeneratorExit);
}

/* As _PyErr_CreateException. */
static Status create(Tx *tx, Var *cls, Var *value, Var **out)
{
    Var **items;
    Py_ssize_t n = value ? 1 : 0;
    items = &value;
    if (value && PyType_HasFeature(value->type, Py_TPFLAGS_TUPLE_SUBCLASS))
        TRY(var_unpack(tx, var_content(value) ? var_content(value) : value, &items, &n));
    TRY(var_call(tx, cls, &(Args){ .v = items, .n = (int)n }, out));
    TRY(var_real(tx, out));
    return except_instance(tx, cls, *out, true);
}

/* What making the exception raises is thrown in its place. */
static Status normalize(Tx *tx, Var *cls, Var *value, Var **out)
{
    if (value && except_is(value) &&
        PyType_IsSubtype(value->type, (PyTypeObject *)cls->real)) {
        *out = value;
        return ST_OK;
    }
    Status st = create(tx, cls, value, out);
    if (st != ST_RAISE)
        return st;
    *out = tx->exc;
    exc_clear(tx);
    return ST_OK;
}

/* As _gen_throw does at throw_here. */
static Status check(Tx *tx, const Thrown *t, Var **out)
{
    PyTypeObject *tb = t->tb ? t->tb->type : &PyTraceBack_Type;
    if (tb != &PyTraceBack_Type)
        return raise_type(tx, PyExc_TypeError,
                          "throw() third argument must be a traceback object");
    if (is_class(t->exc))
        return normalize(tx, t->exc, t->value, out);
    if (!except_is(t->exc))
        return raise_type(tx, PyExc_TypeError,
                          "exceptions must be classes or instances deriving from "
                          "BaseException, not %s",
                          t->exc->type->tp_name);
    if (t->value)
        return raise_type(tx, PyExc_TypeError,
                          "instance exception may not have a separate value");
    *out = t->exc;
    return ST_OK;
}

/* As gen_close_iter. */
static Status close_delegate(Tx *tx, Var *under)
{
    Var *close, *ignored;
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("close"));
    TRY_PTR(name);
    TRY(var_real(tx, &under));
    if (under->kind == &kind_gen)
        return gen_close(tx, AS(GenVar, under));
    TRY(var_getattr_opt(tx, under, name, &close));
    return close ? var_call0(tx, close, &ignored) : ST_OK;
}

static Status throw_here(Tx *tx, GenVar *g, const Thrown *t, Var **out)
{
    Var *exc;
    TRY(check(tx, t, &exc));
    if (g->state == GEN_DONE)
        return except_pass(tx, exc);
    TRY(reenter(tx, g));
    return run(tx, g, exc, out);
}

/* GeneratorExit closes the delegate first; what that raises takes its place. */
static Status exit_below(Tx *tx, GenVar *g, Var *under, const Thrown *t, Var **out)
{
    Thrown raised = { 0 };
    SET(tx, g->state, GEN_RUNNING);
    Status st = close_delegate(tx, under);
    SET(tx, g->state, GEN_SUSPENDED);
    if (st == ST_RAISE) {
        raised.exc = tx->exc;
        t = &raised;
        exc_clear(tx);
        st = ST_OK;
    }
    TRY(st);
    return throw_here(tx, g, t, out);
}

static Status throw_into(Tx *tx, GenVar *g, const Thrown *t, Var **out);

/* What was given is passed on, up to the first that was not. */
static Status throw_below(Tx *tx, GenVar *g, Var *under, const Thrown *t, Var **out)
{
    Var *throw = NULL, *v = NULL, *parts[3] = { t->exc, t->value, t->tb };
    Args a = { .v = parts, .n = t->value == NULL ? 1 : t->tb == NULL ? 2 : 3 };
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("throw"));
    TRY_PTR(name);
    if (under->kind != &kind_gen) {
        TRY(var_getattr_opt(tx, under, name, &throw));
        if (throw == NULL)
            return throw_here(tx, g, t, out);
    }
    SET(tx, g->state, GEN_RUNNING);
    Status st =
        throw ? var_call(tx, throw, &a, &v) : throw_into(tx, AS(GenVar, under), t, &v);
    SET(tx, g->state, GEN_SUSPENDED);
    if (st == ST_OK && v != NULL) {
        *out = v;
        return ST_OK;
    }
    Var *raised = NULL, *value = NULL;
    if (st == ST_OK)
        value = tx->result ? tx->result : tx->none;
    else if (st == ST_RAISE)
        TRY(gen_ended(tx, &value, &raised));
    else
        return st;
    return delegate_done(tx, g, value, raised, out);
}

Status gen_ended(Tx *tx, Var **value, Var **raised)
{
    Var *exc = tx->exc;
    exc_clear(tx);
    *value = *raised = NULL;
    if (!PyType_IsSubtype(exc->type, (PyTypeObject *)PyExc_StopIteration)) {
        *raised = exc;
        return ST_OK;
    }
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("value"));
    TRY_PTR(name);
    return var_getattr(tx, exc, name, value);
}

static Status throw_into(Tx *tx, GenVar *g, const Thrown *t, Var **out)
{
    Var *under = delegate_of(g);
    if (g->state == GEN_RUNNING)
        return raise_type(tx, PyExc_ValueError, "generator already executing");
    if (under == NULL)
        return throw_here(tx, g, t, out);
    TRY(var_real(tx, &under));
    return is_exit(t) ? exit_below(tx, g, under, t, out)
                      : throw_below(tx, g, under, t, out);
}

Status gen_throw(Tx *tx, GenVar *g, Var *exc, Var **out)
{
    TRY(var_real(tx, &exc));
    return throw_into(tx, g, &(Thrown){ .exc = exc }, out);
}

Status gen_close(Tx *tx, GenVar *g)
{
    Var *v, *exc;
    if (g->state == GEN_CREATED || g->state == GEN_DONE) {
        SET(tx, g->state, GEN_DONE);
        return ST_OK;
    }
    TRY(exc_new(tx, (PyTypeObject *)PyExc_GeneratorExit, NULL, 0, &exc));
    TRY(except_chain(tx, AS(ExcVar, exc)));
    Status st = gen_throw(tx, g, exc, &v);
    if (st == ST_RAISE &&
        (exc_matches(tx, PyExc_GeneratorExit) || exc_matches(tx, PyExc_StopIteration))) {
        exc_clear(tx);
        return ST_OK;
    }
    TRY(st);
    return v ? raise_type(tx, PyExc_RuntimeError, "generator ignored GeneratorExit")
             : ST_OK;
}

/* -- The kind ------------------------------------------------------------------------- */

static Status gen_next(Tx *tx, Var *self, Var **out)
{
    return gen_resume(tx, AS(GenVar, self), tx->none, out);
}

static Status gen_iter(Tx *tx, Var *self, Var **out)
{
    *out = self;
    return ST_OK;
}

const VarKind kind_gen = {
    .name = "generator",
    .id = KIND_gen,
    .iter = gen_iter,
    .next = gen_next,
};

/* -- Methods ----------------------------------------------------------------------------- */

#include "builtin/handler.h"

static Status finish(Tx *tx, Var *v, Var **out)
{
    if (v != NULL) {
        *out = v;
        return ST_OK;
    }
    Var *value = tx->result ? tx->result : tx->none, *exc;
    TRY(exc_new(tx, (PyTypeObject *)PyExc_StopIteration, &value,
                value == tx->none ? 0 : 1, &exc));
    return raise_var(tx, exc);
}

static Status gen_of(Tx *tx, const Args *a, GenVar **g)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    *g = AS(GenVar, v);
    return v->kind == &kind_gen ? ST_OK : ST_DECLINE;
}

static Status send_(Tx *tx, const Args *a, Var **out)
{
    GenVar *g;
    Var *v, *sent = a->v[1];
    TRY(gen_of(tx, a, &g));
    TRY(var_real(tx, &sent));
    TRY(gen_resume(tx, g, sent, &v));
    return finish(tx, v, out);
}

/* An argument of throw(); NULL: None, or not given. */
static Status given(Tx *tx, const Args *a, int i, Var **out)
{
    *out = a->n > i ? a->v[i] : tx->none;
    TRY(var_real(tx, out));
    if (*out == tx->none)
        *out = NULL;
    return ST_OK;
}

static Status throw_(Tx *tx, const Args *a, Var **out)
{
    GenVar *g;
    Var *v;
    Thrown t;
    TRY(gen_of(tx, a, &g));
    TRY(given(tx, a, 1, &t.exc));
    TRY(given(tx, a, 2, &t.value));
    TRY(given(tx, a, 3, &t.tb));
    t.exc = t.exc ? t.exc : tx->none;
    TRY(throw_into(tx, g, &t, &v));
    return finish(tx, v, out);
}

static Status close_(Tx *tx, const Args *a, Var **out)
{
    GenVar *g;
    TRY(gen_of(tx, a, &g));
    TRY(gen_close(tx, g));
    *out = tx->none;
    return ST_OK;
}

const Handler handlers_gen[] = {
    { "types.GeneratorType.send", 2, 2, send_, NULL },
    { "types.GeneratorType.throw", 2, 4, throw_, NULL },
    { "types.GeneratorType.close", 1, 1, close_, NULL },
    { 0 },
};
