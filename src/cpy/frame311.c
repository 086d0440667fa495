/*
 * cpy/frame311.c -- frames of user code on the data stack of CPython 3.11.
 *
 * Takes: functions and the values of their slots. Gives: real frames that can rest at any
 * unit, be seen by sys._getframe, and be run to their end. Holds: on 3.11 whoever calls the
 * evaluator clears and pops the frame; a frame that was pushed here is only popped here. The
 * evaluator is called directly, never through a frame hook, which might start the frame anew.
 */
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include "cpy/inner311.h"

#define Py_BUILD_CORE 1
#define NEED_OPCODE_TABLES
#include <internal/pycore_opcode.h>
#undef Py_BUILD_CORE
#include <opcode.h>

/* -- The data stack ---------------------------------------------------------- */

enum {
    CHUNK_BYTES = 16 *
        1024, /* as the interpreter's own chunks, so that either may pop either's */
    CHUNK_SPARE = 1000, /* words a chunk has over the frame that made it necessary */
};

static PyObject **chunk_push(PyThreadState *ts, size_t words)
{
    size_t bytes = CHUNK_BYTES;
    while (bytes < sizeof(PyObject *) * (words + CHUNK_SPARE))
        bytes *= 2;
    PyObjectArenaAllocator arena;
    PyObject_GetArenaAllocator(&arena);
    _PyStackChunk *c = arena.alloc(arena.ctx, bytes);
    if (c == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    c->previous = ts->datastack_chunk;
    c->size = bytes;
    c->top = 0;
    if (c->previous != NULL)
        c->previous->top = (size_t)(ts->datastack_top - &c->previous->data[0]);
    ts->datastack_chunk = c;
    ts->datastack_limit = (PyObject **)((char *)c + bytes);
    /* The first word of a thread's first chunk stays free: a frame there would pop the chunk. */
    PyObject **base = &c->data[c->previous == NULL];
    ts->datastack_top = base + words;
    return base;
}

static void chunk_pop(PyThreadState *ts)
{
    _PyStackChunk *c = ts->datastack_chunk, *below = c->previous;
    assert(below != NULL);
    ts->datastack_top = &below->data[below->top];
    ts->datastack_limit = (PyObject **)((char *)below + below->size);
    ts->datastack_chunk = below;
    PyObjectArenaAllocator arena;
    PyObject_GetArenaAllocator(&arena);
    arena.free(arena.ctx, c, c->size);
}

static inline CpyFrame *grab(PyThreadState *ts, PyCodeObject *co)
{
    size_t words = (size_t)(co->co_nlocalsplus + co->co_stacksize) + FRAME_SPECIALS_SIZE;
    PyObject **base = ts->datastack_top;
    if (__builtin_expect(base != NULL && words < (size_t)(ts->datastack_limit - base),
                         1)) {
        ts->datastack_top = base + words;
        return (CpyFrame *)base;
    }
    return (CpyFrame *)chunk_push(ts, words);
}

static inline void give_back(PyThreadState *ts, CpyFrame *f)
{
    if (__builtin_expect((PyObject **)f == &ts->datastack_chunk->data[0], 0)) {
        chunk_pop(ts);
        return;
    }
    assert(ts->datastack_top >= (PyObject **)f);
    ts->datastack_top = (PyObject **)f;
}

/* -- Pushing and popping ------------------------------------------------------ */

static inline void fill(CpyFrame *f, PyFunctionObject *func)
{
    PyCodeObject *co = (PyCodeObject *)func->func_code;
    f->f_func = (PyFunctionObject *)Py_NewRef(func);
    f->f_globals = func->func_globals;
    f->f_builtins = func->func_builtins;
    f->f_locals = NULL;
    f->f_code = (PyCodeObject *)Py_NewRef(co);
    f->frame_obj = NULL;
    f->previous = NULL;
    f->prev_instr = _PyCode_CODE(co) - 1;
    f->stacktop = co->co_nlocalsplus;
    f->is_entry = true;
    f->owner = FRAME_OWNED_BY_THREAD;
}

int cpy_recursion_left(void)
{
    int left = PyThreadState_Get()->recursion_remaining;
    return left > 0 ? left : 0;
}

CpyFrame *cpy_frame_push(PyThreadState *ts, PyFunctionObject *func, int at)
{
    PyCodeObject *co = (PyCodeObject *)func->func_code;
    if (ts->recursion_remaining-- <= 0 && _Py_CheckRecursiveCall(ts, "") < 0)
        return NULL;
    CpyFrame *f = grab(ts, co);
    if (f == NULL) {
        ts->recursion_remaining++;
        return NULL;
    }
    fill(f, func);
    f->prev_instr += at;
    memset(f->localsplus, 0, sizeof(PyObject *) * (size_t)co->co_nlocalsplus);
    return f;
}

/* The frame object outlives the activation: it takes the frame's content along. */
static void move_out(PyThreadState *ts, CpyFrame *f, PyFrameObject *obj)
{
    size_t bytes = (size_t)((char *)&f->localsplus[f->stacktop] - (char *)f);
    CpyFrame *to = (CpyFrame *)obj->_f_frame_data;
    memcpy(to, f, bytes);
    obj->f_frame = to;
    to->owner = FRAME_OWNED_BY_FRAME_OBJECT;
    if (_PyFrame_IsIncomplete(to))
        to->prev_instr = _PyCode_CODE(to->f_code) + to->f_code->_co_firsttraceable;
    assert(obj->f_back == NULL);
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    obj->f_back = PyThreadState_GetFrame(ts); /* f is unlinked, so this is its caller */
    PyErr_Restore(type, value, tb);
    to->previous = NULL;
    PyObject_GC_Track((PyObject *)obj);
}

/* Releases what the frame holds. It must not be visible any more: finalizers may look. */
static inline void clear(PyThreadState *ts, CpyFrame *f)
{
    assert(ts->cframe->current_frame != f);
    if (__builtin_expect(f->frame_obj != NULL, 0)) {
        PyFrameObject *obj = f->frame_obj;
        f->frame_obj = NULL;
        if (Py_REFCNT(obj) > 1) {
            move_out(ts, f, obj);
            Py_DECREF(obj);
            return;
        }
        Py_DECREF(obj);
    }
    for (int i = 0; i < f->stacktop; i++)
        Py_XDECREF(f->localsplus[i]);
    Py_XDECREF(f->f_locals);
    Py_DECREF(f->f_func);
    Py_DECREF(f->f_code);
}

void cpy_frame_pop(PyThreadState *ts, CpyFrame *f)
{
    clear(ts, f);
    ts->recursion_remaining++;
    give_back(ts, f);
}

/* -- Looking at frames --------------------------------------------------------- */

PyObject **cpy_frame_slots(CpyFrame *f)
{
    return f->localsplus;
}

Py_ssize_t cpy_frame_holders(CpyFrame *f)
{
    return f->frame_obj ? Py_REFCNT(f->frame_obj) - 1 : 0;
}

int cpy_frame_depth(CpyFrame *f)
{
    return f->stacktop - f->f_code->co_nlocalsplus;
}

void cpy_frame_set(CpyFrame *f, int depth, int at)
{
    assert(depth >= 0 && depth <= f->f_code->co_stacksize);
    f->stacktop = f->f_code->co_nlocalsplus + depth;
    f->prev_instr = _PyCode_CODE(f->f_code) + at - 1;
}

int cpy_frame_at(CpyFrame *f)
{
    return (int)(f->prev_instr - _PyCode_CODE(f->f_code)) + 1;
}

PyFunctionObject *cpy_frame_func(CpyFrame *f)
{
    return f->f_func;
}

PyCodeObject *cpy_frame_code(CpyFrame *f)
{
    return f->f_code;
}

static inline int base_op(PyCodeObject *co, int unit)
{
    return _PyOpcode_Deopt[_Py_OPCODE(_PyCode_CODE(co)[unit])];
}

void cpy_frame_mark(CpyFrame *f, int unit)
{
    f->prev_instr = _PyCode_CODE(f->f_code) + unit;
}

int cpy_frame_lasti(CpyFrame *f)
{
    return _PyInterpreterFrame_LASTI(f);
}

void cpy_frame_link(PyThreadState *ts, CpyFrame *f)
{
    assert(ts->cframe->current_frame != f);
    f->previous = ts->cframe->current_frame;
    ts->cframe->current_frame = f;
}

void cpy_frame_unlink(PyThreadState *ts, CpyFrame *f)
{
    assert(ts->cframe->current_frame == f);
    ts->cframe->current_frame = f->previous;
    f->previous = NULL;
}

/* -- Running -------------------------------------------------------------------- */

static inline PyObject *evaluate(PyThreadState *ts, CpyFrame *f, int raising)
{
    ts->recursion_remaining++; /* the evaluator counts the frame itself */
    PyObject *r = _PyEval_EvalFrameDefault(ts, f, raising);
    ts->recursion_remaining--;
    return r;
}

PyObject *cpy_frame_run(PyThreadState *ts, CpyFrame *f)
{
    PyObject *r = evaluate(ts, f, 0);
    cpy_frame_pop(ts, f);
    return r;
}

static int skip_prefix(PyCodeObject *co, int unit)
{
    while (base_op(co, unit) == EXTENDED_ARG)
        unit++;
    return unit;
}

PyObject *cpy_frame_throw(PyThreadState *ts, CpyFrame *f)
{
    cpy_frame_mark(f, skip_prefix(f->f_code, cpy_frame_at(f)));
    PyObject *r = evaluate(ts, f, 1);
    cpy_frame_pop(ts, f);
    return r;
}

/* Shared by the two forms below: args are moved into the frame. */
static inline PyObject *call(PyThreadState *ts, CpyFrame *f, int nargs)
{
    PyCodeObject *co = f->f_code;
    for (int i = nargs; i < co->co_nlocalsplus; i++)
        f->localsplus[i] = NULL;
    PyObject *r = _PyEval_EvalFrameDefault(ts, f, 0);
    ts->recursion_remaining--; /* finalizers run as deep as the frame did */
    clear(ts, f);
    ts->recursion_remaining++;
    give_back(ts, f);
    return r;
}

PyObject *cpy_call_code(PyThreadState *ts, PyFunctionObject *func, PyObject *const *args,
                        size_t nargs)
{
    CpyFrame *f = grab(ts, (PyCodeObject *)func->func_code);
    if (f == NULL)
        return NULL;
    fill(f, func);
    assert((int)nargs == f->f_code->co_argcount);
    for (size_t i = 0; i < nargs; i++)
        f->localsplus[i] = Py_NewRef(args[i]);
    return call(ts, f, (int)nargs);
}

PyObject *cpy_call_code_steal(PyThreadState *ts, PyFunctionObject *func,
                              PyObject *const *args, size_t nargs)
{
    CpyFrame *f = grab(ts, (PyCodeObject *)func->func_code);
    if (f == NULL) {
        for (size_t i = 0; i < nargs; i++)
            Py_DECREF(args[i]);
        return NULL;
    }
    fill(f, func);
    assert((int)nargs == f->f_code->co_argcount);
    memcpy(f->localsplus, args, nargs * sizeof(PyObject *));
    return call(ts, f, (int)nargs);
}

/* -- Running up to a stop --------------------------------------------------------- */

/* A stop is a RETURN_VALUE in a private copy of the code. An entry frame that returns is left
 * as it is on 3.11, but for the value popped: putting that back restores the state before the
 * stop, be it a stack entry or, with an empty stack, the last fast slot (perhaps NULL). */

PyCodeObject *cpy_stops_new(PyCodeObject *co)
{
    PyObject *replace = PyObject_GetAttrString((PyObject *)co, "replace");
    PyObject *copy = replace == NULL ? NULL : PyObject_CallNoArgs(replace);
    Py_XDECREF(replace);
    return (PyCodeObject *)copy;
}

/* Undoes what lets the instruction before a stop run on over it: super-instructions, and
 * compare-and-jump or append-and-store in one. */
static void plain_before(PyCodeObject *stops, const Code *c, int index)
{
    if (index == 0)
        return;
    int unit = cpy_lasti(c, index - 1);
    _Py_SET_OPCODE(_PyCode_CODE(stops)[unit], base_op(stops, unit));
}

bool cpy_stops_set(PyCodeObject *stops, PyCodeObject *co, int at, bool on)
{
    const Code *c = code_of(co);
    if (c == NULL) {
        PyErr_Clear();
        return false;
    }
    int index = c->index_of[at];
    /* Without a fast slot there may be nothing to pop. */
    if (index <= c->first || co->co_nlocalsplus == 0 ||
        c->ins[index].op == OP_RETURN_VALUE)
        return false;
    if (c->ins[index].op == OP_CALL && c->ins[index - 1].op == OP_KW_NAMES)
        return false;
    if (on)
        plain_before(stops, c, index);
    _Py_SET_OPCODE(_PyCode_CODE(stops)[at], on ? RETURN_VALUE : base_op(co, at));
    return true;
}

static void swap_code(CpyFrame *f, PyCodeObject *to)
{
    ptrdiff_t offset = f->prev_instr - _PyCode_CODE(f->f_code);
    Py_INCREF(to);
    Py_SETREF(f->f_code, to);
    f->prev_instr = _PyCode_CODE(to) + offset;
}

bool cpy_frame_stopped(CpyFrame *f, PyCodeObject *co)
{
    int unit = cpy_frame_lasti(f);
    return _Py_OPCODE(*f->prev_instr) == RETURN_VALUE && base_op(co, unit) != RETURN_VALUE;
}

static PyObject *go_on(PyThreadState *ts, CpyFrame *f)
{
    return evaluate(ts, f, 0);
}

PyObject *cpy_frame_run_to(PyThreadState *ts, CpyFrame *f, PyCodeObject *stops,
                           bool *stopped)
{
    PyCodeObject *co = (PyCodeObject *)Py_NewRef(f->f_code);
    swap_code(f, stops);
    PyObject *r = cpy_profile_stretch(ts, f, co, go_on);
    *stopped = !PyErr_Occurred() && cpy_frame_stopped(f, co);
    swap_code(f, co);
    Py_DECREF(co);
    if (!*stopped) {
        cpy_frame_pop(ts, f);
        return r;
    }
    f->localsplus[f->stacktop++] = r;
    f->prev_instr--;
    return NULL;
}

/* -- Thread state ------------------------------------------------------------------ */

PyObject *cpy_exc_handled(PyThreadState *ts)
{
    PyObject *exc = ts->exc_info->exc_value;
    return exc == Py_None ? NULL : exc;
}

PyObject *cpy_exc_outer(PyThreadState *ts)
{
    for (_PyErr_StackItem *i = ts->exc_info->previous_item; i; i = i->previous_item)
        if (i->exc_value != NULL && i->exc_value != Py_None)
            return i->exc_value;
    return NULL;
}

void cpy_exc_set_handled(PyThreadState *ts, PyObject *exc)
{
    Py_XSETREF(ts->exc_info->exc_value, exc);
}

bool cpy_call_inlines(PyObject *callable)
{
    if (PyMethod_Check(callable))
        callable = PyMethod_GET_FUNCTION(callable);
    return PyFunction_Check(callable) &&
           ((PyFunctionObject *)callable)->vectorcall == _PyFunction_Vectorcall;
}

bool cpy_code_plain(PyCodeObject *co)
{
    const int suspends =
        CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
    return (co->co_flags & CO_OPTIMIZED) != 0 && (co->co_flags & suspends) == 0;
}

PyObject *cpy_special(PyObject *obj, PyObject *name)
{
    return _PyObject_LookupSpecial(obj, name);
}

#endif
