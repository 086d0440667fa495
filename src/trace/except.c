/*
 * trace/except.c -- exceptions of the traced program are values; unwinding uses the code's own table.
 */
#include "cpy/cpy.h"
#include <structmember.h>
#include "base/same.h"
#include "trace/run.h"
#include "var/consts.h"
#include "var/names.h"
#include "var/type.h"

/* -- Raising -------------------------------------------------------------------------- */

static Status guard_none(Tx *tx, SrcKind kind)
{
    Source *src = source_get(&tx->sources, kind, NULL, NULL, 0);
    TRY_PTR(src);
    return guard_bound(&tx->guards, src, false);
}

/* The exception being handled, or NULL; that there was none at the start is a fact about the caller. */
Status except_handled(Tx *tx, Var **out)
{
    *out = tx->handled;
    if (*out != NULL)
        return ST_OK;
    if (tx->handled0 == NULL)
        TRY(guard_none(tx, SRC_EXC));
    *out = tx->inherited;
    return *out ? ST_OK : guard_none(tx, SRC_OUTER);
}

static Status context_of(Tx *tx, Var **v)
{
    *v = (*v)->kind == &kind_exc ? AS(ExcVar, *v)->context : NULL;
    return *v ? var_real(tx, v) : ST_OK;
}

/* As _PyErr_SetObject: what is being handled becomes the context, and a chain of contexts never runs in a circle. Existing
 * exceptions end the walk: none of them knows one that the trace makes. */
Status except_chain(Tx *tx, ExcVar *exc)
{
    Var *handled;
    TRY(except_handled(tx, &handled));
    if (handled == NULL)
        return ST_OK;
    TRY(var_real(tx, &handled));
    if (handled == &exc->v || handled == tx->none)
        return ST_OK;
    Var *slow = handled; /* Floyd's: the program may have closed a circle itself */
    bool odd = false;
    for (Var *v = handled; v && v->kind == &kind_exc; odd = !odd) {
        Var *up = AS(ExcVar, v)->context;
        if (up != NULL)
            TRY(var_real(tx, &up));
        if (up == &exc->v) {
            SET(tx, AS(ExcVar, v)->context, NULL);
            break;
        }
        v = up;
        if (v == slow)
            break;
        if (odd)
            TRY(context_of(tx, &slow));
    }
    SET(tx, exc->context, handled);
    return ST_OK;
}

static void raise_here(Tx *tx, Var *exc)
{
    if (exc->kind == &kind_exc) {
        SET(tx, AS(ExcVar, exc)->raised, 1);
        SET(tx, AS(ExcVar, exc)->tb, ++tx->tracebacks);
    }
    tx->exc = exc;
}

Status raise_var(Tx *tx, Var *exc)
{
    raise_here(tx, exc);
    if (exc->kind == &kind_exc)
        TRY(except_chain(tx, AS(ExcVar, exc)));
    return ST_RAISE;
}

Status except_pass(Tx *tx, Var *exc)
{
    if (exc->kind != &kind_exc)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "throw of an existing %s",
                           exc->type->tp_name);
    raise_here(tx, exc);
    return ST_RAISE;
}

/* As gen_send_ex: only what the generator itself is handling becomes the context. */
Status except_throw(Tx *tx, Var *exc)
{
    Status st = except_pass(tx, exc);
    return st == ST_RAISE && tx->handled ? raise_var(tx, exc) : st;
}

Status exc_new(Tx *tx, PyTypeObject *cls, Var **args, Py_ssize_t n, Var **out)
{
    ExcVar *e;
    TRY(VAR_MAKE(tx, exc, ExcVar, cls, &e));
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type,
                 &e->args)); /* .args: a tuple even if all are constants */
    e->args->n = n;
    e->args->items = tx_alloc(tx, (size_t)(n + 1) * sizeof(Var *));
    TRY_PTR(e->args->items);
    if (n)
        memcpy(e->args->items, args, (size_t)n * sizeof(Var *));
    e->made = e->args;
    *out = &e->v;
    return ST_OK;
}

/* Classes whose exceptions CPython gives more than args when it raises them itself. */
static bool has_fields(PyObject *type)
{
    return PyErr_GivenExceptionMatches(type, PyExc_AttributeError) ||
           PyErr_GivenExceptionMatches(type, PyExc_NameError) ||
           PyErr_GivenExceptionMatches(type, PyExc_ImportError);
}

Status raise_type(Tx *tx, PyObject *type, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    Var *message, *exc;
    TRY(const_new(tx, text, &message));
    TRY(exc_new(tx, (PyTypeObject *)type, &message, 1, &exc));
    AS(ExcVar, exc)->partial = has_fields(type);
    return raise_var(tx, exc);
}

static Status args_of(Tx *tx, PyObject *value, Var ***v, Py_ssize_t *n)
{
    PyObject *args = ((PyBaseExceptionObject *)value)->args;
    *n = PyTuple_GET_SIZE(args);
    *v = tx_alloc(tx, (size_t)(*n + 1) * sizeof(Var *));
    TRY_PTR(*v);
    for (Py_ssize_t i = 0; i < *n; i++) {
        PyObject *o = tx_keep(tx, PyTuple_GET_ITEM(args, i));
        TRY_PTR(o);
        TRY(wrap_pinned(tx, o, NULL, &(*v)[i]));
    }
    return ST_OK;
}

/* Fields of the real exception that another one of the same args would not have. */
static Status fields_of(Tx *tx, PyObject *value, ExcVar *e)
{
    PyBaseExceptionObject *real = (PyBaseExceptionObject *)value;
    PyTypeObject *t = Py_TYPE(value);
    PyObject *twin = tx_hold(tx, PyObject_CallObject((PyObject *)t, real->args));
    e->partial = twin == NULL || !Py_IS_TYPE(twin, t) ||
                 (t->tp_flags & Py_TPFLAGS_HEAPTYPE) || real->cause || real->context ||
                 real->dict;
    PyErr_Clear();
    for (PyMemberDef *m = t->tp_members; m && m->name && !e->partial; m++) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString(m->name));
        TRY_PTR(name);
        PyObject *a = tx_hold(tx, PyObject_GetAttr(value, name)),
                 *b = tx_hold(tx, PyObject_GetAttr(twin, name));
        PyErr_Clear();
        if (a == NULL || b == NULL || !const_immutable(a)) {
            e->partial = a != b;
            continue;
        }
        Var *v;
        TRY(const_peek(tx, a, &v));
        if (!const_same(a, b) && !keymap_put(&e->members, &tx->arena, &tx->journal, NULL,
                                             0, cpy_type_lookup(t, name), v))
            return ST_ERROR;
    }
    return ST_OK;
}

Status raise_now(Tx *tx)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError,
                        "jedlik: an operation failed without an exception");
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return ST_ERROR;
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) { /* "a" * 2**62, or it is really so */
        PyErr_Clear();
        return graph_break(tx, BRK_GRAPH_RAISES, "%s", "MemoryError");
    }
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    PyErr_NormalizeException(&type, &value, &tb);
    Py_XDECREF(tb);
    tx_hold(tx, type);
    if (tx_hold(tx, value) == NULL)
        return ST_ERROR;
    Var **v, *exc;
    Py_ssize_t n;
    TRY(args_of(tx, value, &v, &n));
    TRY(exc_new(tx, Py_TYPE(value), v, n, &exc));
    TRY(fields_of(tx, value, AS(ExcVar, exc)));
    return raise_var(tx, exc);
}

bool exc_matches(Tx *tx, PyObject *type)
{
    return tx->exc && PyType_IsSubtype(tx->exc->type, (PyTypeObject *)type);
}

void exc_clear(Tx *tx)
{
    tx->exc = NULL;
}

static bool is_exception_class(Var *v)
{
    return v->kind == &kind_class &&
           PyType_IsSubtype((PyTypeObject *)v->real, (PyTypeObject *)PyExc_BaseException);
}

/* What a class gives when it is called without arguments. */
static Status called(Tx *tx, Var *cls, Var **out)
{
    TRY(var_call0(tx, cls, out));
    return var_real(tx, out);
}

bool except_is(const Var *v)
{
    return v->type && PyType_IsSubtype(v->type, (PyTypeObject *)PyExc_BaseException);
}

Status except_instance(Tx *tx, Var *cls, Var *exc, bool by_name)
{
    PyTypeObject *t = (PyTypeObject *)cls->real;
    if (except_is(exc))
        return PyType_IsSubtype(exc->type, t)
                   ? ST_OK
                   : graph_break(tx, BRK_UNKNOWN_TYPE, "a call of %s that gives a %s",
                                 t->tp_name, exc->type->tp_name);
    PyObject *shown[2];
    Var *texts[2], *kind;
    TRY(wrap_pinned(tx, (PyObject *)exc->type, NULL, &kind));
    TRY(var_repr(tx, cls, &texts[0]));
    TRY(by_name ? const_str(tx, exc->type->tp_name, &texts[1])
                : var_repr(tx, kind, &texts[1]));
    for (int i = 0; i < 2; i++) {
        TRY(var_const(tx, texts[i], &shown[i]));
        if (shown[i] == NULL)
            return graph_break(tx, BRK_UNKNOWN_TYPE, "raise of a %s", exc->type->tp_name);
    }
    return raise_type(tx, PyExc_TypeError,
                      "calling %U should have returned an instance of BaseException, "
                      "not %U",
                      shown[0], shown[1]);
}

/* As do_raise: of a class, what it gives. */
static Status raised_of(Tx *tx, Var *exc, Var **out)
{
    TRY(var_real(tx, &exc));
    if (is_exception_class(exc)) {
        TRY(called(tx, exc, out));
        return except_instance(tx, exc, *out, false);
    }
    *out = exc;
    return except_is(exc) ? ST_OK
                          : raise_type(tx, PyExc_TypeError,
                                       "exceptions must derive from BaseException");
}

static Status cause_of(Tx *tx, Var *cause, Var **out)
{
    TRY(var_real(tx, &cause));
    *out = cause;
    if (cause == tx->none)
        *out = NULL;
    else if (is_exception_class(cause)) {
        TRY(called(tx, cause, out));
        if (!except_is(*out))
            return graph_break(tx, BRK_UNKNOWN_TYPE, "a cause that is a %s",
                               (*out)->type->tp_name);
    } else if (!except_is(cause))
        return raise_type(tx, PyExc_TypeError,
                          "exception causes must derive from BaseException");
    return ST_OK;
}

Status except_raise(Tx *tx, Var *exc, Var *cause)
{
    TRY(raised_of(tx, exc, &exc));
    if (exc->kind != &kind_exc)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "raise of an existing %s",
                           exc->type->tp_name);
    if (cause != NULL) {
        TRY(cause_of(tx, cause, &cause));
        ExcVar *e = AS(ExcVar, exc);
        SET(tx, e->cause, cause);
        SET(tx, e->suppress, 1);
    }
    return raise_var(tx, exc);
}

/* All that stands behind `except` must be exception classes, before any of them is compared. */
static Status check_catchable(Tx *tx, Var **classes, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *cls = classes[i];
        TRY(var_real(tx, &cls));
        if (!is_exception_class(cls))
            return raise_type(
                tx, PyExc_TypeError,
                "catching classes that do not inherit from BaseException is not allowed");
        classes[i] = cls;
    }
    return ST_OK;
}

Status except_matches(Tx *tx, Var *exc, Var *cls, bool *yes)
{
    Var **classes = &cls;
    Py_ssize_t n = 1;
    PyTypeObject *t;
    TRY(var_real(tx, &exc));
    TRY(var_real(tx, &cls));
    if (PyType_HasFeature(cls->type, Py_TPFLAGS_TUPLE_SUBCLASS)) {
        Var **items;
        TRY(var_unpack(tx, var_content(cls) ? var_content(cls) : cls, &items, &n));
        classes = tx_alloc(tx, (size_t)(n + 1) * sizeof *classes);
        TRY_PTR(classes);
        memcpy(classes, items, (size_t)n * sizeof *classes);
    }
    TRY(check_catchable(tx, classes, n));
    t = exc->kind == &kind_class ? (PyTypeObject *)exc->real : exc->type;
    *yes = false;
    for (Py_ssize_t i = 0; i < n && !*yes; i++)
        *yes = PyType_IsSubtype(t, (PyTypeObject *)classes[i]->real);
    return ST_OK;
}

Status except_matches_var(Tx *tx, Var *exc, Var *cls, bool *yes)
{
    return except_matches(tx, exc, cls, yes);
}

/* -- Unwinding ---------------------------------------------------------------------------- */

static const ExcEntry *handler_of(Frame *f)
{
    int h = f->code->ins[f->cur].handler;
    return h < 0 ? NULL : &f->code->exc[h];
}

bool except_caught(Tx *tx, Frame *base)
{
    for (Frame *f = tx->top; f != base->up; f = f->up)
        if (handler_of(f))
            return true;
    return false;
}

static Status hold(Tx *tx, Frame *raised)
{
    if (tx->held || tx->nested)
        return ST_OK;
    size_t n = 0;
    for (Frame *f = raised; f != NULL; f = f->up)
        n++;
    tx->hold_cur = tx_alloc(tx, n * sizeof *tx->hold_cur);
    TRY_PTR(tx->hold_cur);
    n = 0;
    for (Frame *f = raised; f != NULL; f = f->up)
        tx->hold_cur[n++] = f->cur;
    tx->held = true;
    tx->hold_mark = raised->mark;
    tx->hold_frame = raised;
    tx->hold_handled = tx->handled;
    return ST_OK;
}

/* The slots from `from` on end with the exception. */
static Status leave_slots(Tx *tx, Frame *f, size_t from)
{
    for (size_t i = from; i < f->sp; i++)
        TRY(gen_left(tx, f->slots[i]));
    return ST_OK;
}

static Status enter_handler(Tx *tx, Frame *f, const ExcEntry *e)
{
    size_t depth = (size_t)(f->code->nlocalsplus + e->depth);
    TRY(leave_slots(tx, f, depth));
    SET(tx, f->sp, depth);
    if (e->lasti) {
        Var *lasti;
        TRY(const_int(tx, cpy_lasti(f->code, (int)f->cur), &lasti));
        TRY(push(tx, f, lasti));
    }
    TRY(push(tx, f, tx->exc));
    f->pc = (size_t)e->target;
    tx->exc = NULL;
    return ST_OK;
}

/* StopIteration may not leave a generator (PEP 479). */
static Status generator_ends(Tx *tx, Frame *f)
{
    SET(tx, f->gen->state, GEN_DONE);
    if (!exc_matches(tx, PyExc_StopIteration))
        return ST_RAISE;
    Var *cause = tx->exc;
    Status st = raise_type(tx, PyExc_RuntimeError, "generator raised StopIteration");
    if (st == ST_RAISE && tx->exc->kind == &kind_exc) {
        SET(tx, AS(ExcVar, tx->exc)->cause, cause);
        SET(tx, AS(ExcVar, tx->exc)->context, cause);
        SET(tx, AS(ExcVar, tx->exc)->suppress, 1);
    }
    return st;
}

Status except_unwind(Tx *tx, Frame *base)
{
    TRY(hold(tx, tx->top));
    while (tx->top != base->up) {
        Frame *f = tx->top;
        const ExcEntry *e = handler_of(f);
        if (e != NULL)
            return enter_handler(tx, f, e);
        TRY(leave_slots(tx, f, 0));
        SET(tx, tx->top, f->up);
        tx->depth--;
        if (tx->exc->kind == &kind_exc) /* the frame above adds its line */
            SET(tx, AS(ExcVar, tx->exc)->tb, ++tx->tracebacks);
        if (f->gen) {
            Status st = generator_ends(tx, f);
            if (st != ST_RAISE)
                return st;
        }
    }
    return ST_RAISE;
}

/* -- Instructions ---------------------------------------------------------------------------- */

Status op_push_exc_info(Tx *tx, Frame *f, const Ins *in)
{
    Var *exc = pop(tx, f);
    Var *handled; /* who asks is told; the frame remembers its own */
    TRY(except_handled(tx, &handled));
    TRY(push(tx, f, tx->handled ? tx->handled : tx->none));
    TRY(push(tx, f, exc));
    SET(tx, tx->handled, exc);
    return ST_OK;
}

Status op_pop_except(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    TRY(var_real(tx, &v));
    SET(tx, tx->handled, v == tx->none ? NULL : v);
    bool goes_on = f->code->ins[f->pc].op ==
                   OP_RERAISE; /* the clean-up of a handler that did not take it */
    if (tx->held && tx->nested == 0 && tx->handled == tx->hold_handled && !goes_on)
        tx->held = false;
    return ST_OK;
}

Status op_check_exc_match(Tx *tx, Frame *f, const Ins *in)
{
    bool yes;
    Var *cls = pop(tx, f);
    TRY(except_matches(tx, peek(f, 1), cls, &yes));
    return push(tx, f, tx_bool(tx, yes));
}

Status op_raise_varargs(Tx *tx, Frame *f, const Ins *in)
{
    Var *cause = in->arg == 2 ? pop(tx, f) : NULL;
    if (in->arg >= 1)
        return except_raise(tx, pop(tx, f), cause);
    Var *handled;
    TRY(except_handled(tx, &handled));
    if (handled == NULL)
        return raise_type(tx, PyExc_RuntimeError, "No active exception to reraise");
    TRY(var_real(tx, &handled)); /* what came with the point may not be looked at yet */
    tx->exc = handled;
    return ST_RAISE;
}

Status op_reraise(Tx *tx, Frame *f, const Ins *in)
{
    Var *exc = pop(tx, f);
    TRY(var_real(tx, &exc));
    tx->exc = exc;
    return ST_RAISE;
}

Status op_load_assertion_error(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(wrap_pinned(tx, PyExc_AssertionError, NULL, &v));
    return push(tx, f, v);
}

/* -- with --------------------------------------------------------------------------------------- */

static Status bound_special(Tx *tx, Var *mgr, PyObject *name, Var **out)
{
    Var *f;
    TRY(var_special(tx, mgr, name, &f));
    if (f == NULL && mgr->kind == &kind_opaque)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "`with` over %s", mgr->type->tp_name);
    if (f == NULL)
        return raise_type(tx, PyExc_TypeError,
                          "'%s' object does not support the context manager protocol%s",
                          mgr->type->tp_name,
                          name == str___exit__ ? " (missed __exit__ method)" : "");
    return attr_bind_special(tx, mgr, f, out);
}

Status op_before_with(Tx *tx, Frame *f, const Ins *in)
{
    Var *mgr = pop(tx, f), *enter, *leave, *value;
    TRY(var_real(tx, &mgr));
    TRY(bound_special(tx, mgr, str___enter__, &enter));
    TRY(bound_special(tx, mgr, str___exit__, &leave));
    TRY(push(tx, f, leave));
    TRY(var_call0(tx, enter, &value));
    return push(tx, f, value);
}

Status except_traceback(Tx *tx, Var **out)
{
    return var_make(tx, &kind_opaque, sizeof(Var), &PyTraceBack_Type, out);
}

Status op_with_except_start(Tx *tx, Frame *f, const Ins *in)
{
    Var *exc = peek(f, 1), *leave = peek(f, 4), *r;
    Var **v = tx_alloc(tx, 3 * sizeof *v);
    TRY_PTR(v);
    TRY(var_real(tx, &exc));
    TRY(wrap_pinned(tx, (PyObject *)exc->type, NULL, &v[0]));
    v[1] = exc;
    TRY(except_traceback(tx, &v[2]));
    TRY(var_call(tx, leave, &(Args){ .v = v, .n = 3 }, &r));
    return push(tx, f, r);
}
