/*
 * run/real.c -- one instruction of a resting frame, for real: the frame's side of it.
 *
 * Takes: frame, code, instruction. Gives: dispatch by real.def, exceptions by the code's own
 * table, and the instructions that only move things inside the frame.
 */
#include "run/real_op.h"

#include <frameobject.h>

static Outcome (*const functions[OP_COUNT])(Real *) = {
#define REAL(op, function) [OP_##op] = real_##function,
#include "run/real.def"
#undef REAL
};

bool real_can(Op op)
{
    return op == OP_KW_NAMES || functions[op] != NULL;
}

/* -- Exceptions ------------------------------------------------------------------- */

static void add_traceback(PyThreadState *ts)
{
    PyFrameObject *f = PyThreadState_GetFrame(ts);
    if (f != NULL)
        PyTraceBack_Here(f);
    Py_XDECREF(f);
}

/* The exception set, normalised and with its traceback, as a new reference. */
static PyObject *catch_exception(void)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    PyErr_NormalizeException(&type, &value, &tb);
    PyException_SetTraceback(value, tb == NULL ? Py_None : tb);
    Py_XDECREF(tb);
    Py_XDECREF(type);
    return value;
}

/* To the handler that the code names, else out of the frame. */
static RealResult unwind(Real *r, int index)
{
    int lasti = cpy_frame_lasti(r->f);
    PyObject **base = r->fast + r->c->nlocalsplus;
    int entry = r->c->ins[index].handler;
    int keep = entry < 0 ? 0 : r->c->exc[entry].depth;
    assert(r->sp - base >= keep);
    drop(r, (int)(r->sp - base) - keep);
    if (entry < 0) {
        cpy_frame_set(r->f, 0, 0);
        cpy_frame_mark(r->f, lasti);
        return REAL_LEFT;
    }
    const ExcEntry *e = &r->c->exc[entry];
    if (e->lasti) {
        PyObject *n = PyLong_FromLong(lasti);
        if (n == NULL) /* as the evaluator: the MemoryError is raised instead */
            return unwind(r, index);
        put(r, n);
    }
    put(r, catch_exception());
    cpy_frame_set(r->f, (int)(r->sp - base), r->c->ins[e->target].at);
    return REAL_OK;
}

static Real at_rest(PyThreadState *ts, CpyFrame *f, const Code *c, int index)
{
    PyObject **fast = cpy_frame_slots(f);
    PyObject **sp = fast + c->nlocalsplus + cpy_frame_depth(f);
    return (Real){ ts, f, c, &c->ins[index], fast, sp, NULL, index + 1 };
}

void real_pending(CpyFrame *f, const Code *c, int index)
{
    const Ins *in = &c->ins[index];
    if (in->op == OP_KW_NAMES)
        in++;
    cpy_frame_mark(f, in->op == OP_CALL ? in->end - 1 : cpy_lasti(c, (int)(in - c->ins)));
}

RealResult real_raise(PyThreadState *ts, CpyFrame *f, const Code *c, int index,
                      bool callee)
{
    Real r = at_rest(ts, f, c, index);
    if (callee)
        real_pending(f, c, index);
    else
        cpy_frame_mark(f, cpy_lasti(c, index + (r.in->op == OP_KW_NAMES)));
    add_traceback(ts);
    return unwind(&r, index);
}

RealResult real_run(PyThreadState *ts, CpyFrame *f, const Code *c, int index)
{
    Real r = at_rest(ts, f, c, index);
    if (r.in->op == OP_KW_NAMES) {
        r.kwnames = PyTuple_GET_ITEM(c->co->co_consts, r.in->arg);
        r.in++;
        r.next++;
    }
    cpy_frame_mark(f, cpy_lasti(c, (int)(r.in - c->ins)));
    if (NEVER(functions[r.in->op] == NULL)) {
        PyErr_Format(PyExc_SystemError, "%s cannot be run alone", op_name(r.in->op));
        return unwind(&r, index);
    }
    Outcome out = functions[r.in->op](&r);
    assert((out == DONE) == !PyErr_Occurred());
    if (out == DONE) {
        int depth = (int)(r.sp - r.fast) - c->nlocalsplus;
        cpy_frame_set(f, depth, c->ins[r.next].at);
        return REAL_OK;
    }
    if (out == RAISED)
        add_traceback(ts);
    return unwind(&r, index);
}

/* -- Stack motion -------------------------------------------------------------------- */

Outcome real_nop(Real *r)
{
    return DONE;
}

Outcome real_pop_top(Real *r)
{
    drop(r, 1);
    return DONE;
}

Outcome real_push_null(Real *r)
{
    put(r, NULL);
    return DONE;
}

Outcome real_copy(Real *r)
{
    put(r, Py_XNewRef(peek(r, r->in->arg)));
    return DONE;
}

Outcome real_swap(Real *r)
{
    PyObject **other = &r->sp[-r->in->arg], *top = r->sp[-1];
    r->sp[-1] = *other;
    *other = top;
    return DONE;
}

Outcome real_load_const(Real *r)
{
    put(r, Py_NewRef(PyTuple_GET_ITEM(r->c->co->co_consts, r->in->arg)));
    return DONE;
}

/* -- Fast slots and cells --------------------------------------------------------------- */

Outcome real_name_error(PyObject *type, const char *format, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL)
        return RAISED;
    PyErr_Format(type, format, text);
    if (type != PyExc_NameError)
        return RAISED;
    PyObject *t, *value, *tb;
    PyErr_Fetch(&t, &value, &tb);
    PyErr_NormalizeException(&t, &value, &tb);
    if (PyErr_GivenExceptionMatches(value, PyExc_NameError))
        PyObject_SetAttrString(value, "name", name);
    PyErr_Restore(t, value, tb); /* an error of SetAttr gives way */
    return RAISED;
}

static Outcome unbound(Real *r)
{
    PyObject *name = PyTuple_GET_ITEM(r->c->co->co_localsplusnames, r->in->arg);
    if (r->in->arg >= r->c->nlocalsplus - r->c->nfree)
        return real_name_error(PyExc_NameError,
                               "cannot access free variable '%s' where it is not "
                               "associated with a value in enclosing scope",
                               name);
    return real_name_error(PyExc_UnboundLocalError,
                           "cannot access local variable '%s' where it is not "
                           "associated with a value",
                           name);
}

Outcome real_load_fast(Real *r)
{
    PyObject *v = r->fast[r->in->arg];
    if (v == NULL)
        return unbound(r);
    put(r, Py_NewRef(v));
    return DONE;
}

Outcome real_store_fast(Real *r)
{
    PyObject *old = r->fast[r->in->arg];
    r->fast[r->in->arg] = take(r);
    Py_XDECREF(old);
    return DONE;
}

Outcome real_delete_fast(Real *r)
{
    if (r->fast[r->in->arg] == NULL)
        return unbound(r);
    Py_CLEAR(r->fast[r->in->arg]);
    return DONE;
}

Outcome real_make_cell(Real *r)
{
    PyObject *cell = PyCell_New(r->fast[r->in->arg]);
    if (cell == NULL)
        return RAISED;
    Py_XSETREF(r->fast[r->in->arg], cell);
    return DONE;
}

Outcome real_copy_free_vars(Real *r)
{
    PyObject *closure = func_of(r)->func_closure;
    PyObject **to = r->fast + r->c->nlocalsplus - r->in->arg;
    for (int i = 0; i < r->in->arg; i++)
        to[i] = Py_NewRef(PyTuple_GET_ITEM(closure, i));
    return DONE;
}

Outcome real_load_deref(Real *r)
{
    PyObject *v = PyCell_GET(r->fast[r->in->arg]);
    if (v == NULL)
        return unbound(r);
    put(r, Py_NewRef(v));
    return DONE;
}

Outcome real_store_deref(Real *r)
{
    PyObject *cell = r->fast[r->in->arg], *old = PyCell_GET(cell);
    PyCell_SET(cell, take(r));
    Py_XDECREF(old);
    return DONE;
}

Outcome real_delete_deref(Real *r)
{
    PyObject *cell = r->fast[r->in->arg], *old = PyCell_GET(cell);
    if (old == NULL)
        return unbound(r);
    PyCell_SET(cell, NULL);
    Py_DECREF(old);
    return DONE;
}

/* -- Jumps ------------------------------------------------------------------------------- */

Outcome real_jump(Real *r)
{
    r->next = r->in->target;
    return DONE;
}

/* Jumps if the popped value's truth is as wanted. */
static Outcome jump_on(Real *r, bool wanted)
{
    int truth = PyObject_IsTrue(peek(r, 1));
    if (truth < 0)
        return RAISED;
    drop(r, 1);
    if ((bool)truth == wanted)
        r->next = r->in->target;
    return DONE;
}

Outcome real_pop_jump_if_false(Real *r)
{
    return jump_on(r, false);
}

Outcome real_pop_jump_if_true(Real *r)
{
    return jump_on(r, true);
}

static Outcome jump_on_none(Real *r, bool wanted)
{
    if ((peek(r, 1) == Py_None) == wanted)
        r->next = r->in->target;
    drop(r, 1);
    return DONE;
}

Outcome real_pop_jump_if_none(Real *r)
{
    return jump_on_none(r, true);
}

Outcome real_pop_jump_if_not_none(Real *r)
{
    return jump_on_none(r, false);
}

/* Jumps with the value left on the stack, else pops it. */
static Outcome jump_or_pop(Real *r, bool wanted)
{
    int truth = PyObject_IsTrue(peek(r, 1));
    if (truth < 0)
        return RAISED;
    if ((bool)truth == wanted)
        r->next = r->in->target;
    else
        drop(r, 1);
    return DONE;
}

Outcome real_jump_if_false_or_pop(Real *r)
{
    return jump_or_pop(r, false);
}

Outcome real_jump_if_true_or_pop(Real *r)
{
    return jump_or_pop(r, true);
}
