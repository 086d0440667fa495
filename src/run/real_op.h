/*
 * run/real_op.h -- what the real_*.c share: the state of one instruction, stack helpers.
 *
 * A function of real.def takes its operands off r->sp, puts its results on, and says how it
 * went. On failure it may leave operands behind; they are released with the rest of the stack.
 */
#ifndef JEDLIK_RUN_REAL_OP_H
#define JEDLIK_RUN_REAL_OP_H

#include "run/real.h"

typedef struct Real {
    PyThreadState *ts;
    CpyFrame *f;
    const Code *c;
    const Ins *in;
    PyObject **fast; /* fast slots */
    PyObject **sp;   /* behind the topmost operand */
    PyObject *kwnames;
    int next; /* instruction to go on at */
} Real;

typedef enum {
    DONE,
    RAISED,  /* an exception is set and wants a traceback entry */
    ONWARDS, /* an exception is set that passes through as it is */
} Outcome;

#define REAL(op, function) Outcome real_##function(Real *r);
#include "run/real.def"
#undef REAL

static inline void put(Real *r, PyObject *v)
{
    *r->sp++ = v;
}

static inline PyObject *take(Real *r)
{
    return *--r->sp;
}

/* The n-th operand from the top, 1 being the top. */
static inline PyObject *peek(Real *r, int n)
{
    return r->sp[-n];
}

static inline void drop(Real *r, int n)
{
    while (n-- > 0) {
        PyObject *v = take(r);
        Py_XDECREF(v);
    }
}

/* n operands give way to v, a new reference or NULL with an exception set. */
static inline Outcome result(Real *r, int n, PyObject *v)
{
    if (v == NULL)
        return RAISED;
    drop(r, n);
    put(r, v);
    return DONE;
}

static inline Outcome result_bool(Real *r, int n, int truth)
{
    return truth < 0 ? RAISED : result(r, n, Py_NewRef(truth ? Py_True : Py_False));
}

/* n operands were used up by a call that gives 0, or -1 with an exception set. */
static inline Outcome used(Real *r, int n, int error)
{
    if (error < 0)
        return RAISED;
    drop(r, n);
    return DONE;
}

static inline PyObject *name_of(Real *r)
{
    return PyTuple_GET_ITEM(r->c->co->co_names, r->in->arg);
}

static inline PyFunctionObject *func_of(Real *r)
{
    return cpy_frame_func(r->f);
}

/* NameError or a subclass for a name, with its `name` attribute where CPython sets it. */
Outcome real_name_error(PyObject *type, const char *format, PyObject *name);

/* A function made of one instruction and run on its operands; see real_match.c. */
PyObject *real_stub(Real *r, Op op, int nargs, bool pair);

#endif
