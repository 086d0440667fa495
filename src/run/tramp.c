/*
 * run/tramp.c -- the loop around segments: exits, real instructions, next points.
 *
 * Takes: a point, a function, its bound arguments. Gives: what the call gives. Holds: frames
 * opened by an exit are real and linked until they end; each is the only home of its slots.
 * Nothing here recurses per iteration or per frame: the C stack grows only by calls that the
 * program itself makes.
 */
#include "run/deopt.h"
#include "torch/failure.h"
#include "torch/torch.h"
#include "torch/revert.h"
#include "run/point.h"
#include "run/real.h"

CompileResult (*run_compile)(Point *p, PyFunctionObject *func, PyObject *const *slots,
                             int nslots, PyObject *exc, Entry **out);
CompileResult (*run_compile_late)(Point *p, PyFunctionObject *func,
                                  PyObject *const *slots, int nslots, PyObject *exc,
                                  const struct GraphFailure *f, Entry **out);
bool (*run_check)(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                  PyObject *exc, PyObject **out);
void (*run_limit_warning)(Point *p, PyFunctionObject *func, PyObject *const *slots,
                          int nslots, PyObject *exc);
PyObject *run_compile_name;
bool run_off;
_Thread_local int run_disabled;

int run_idle_budget = 100;

enum { ARGS_ON_STACK = 64 }; /* arguments of a segment that need no allocation */

/* One open frame. */
typedef struct Open {
    CpyFrame *f;
    PointTable *t;
    int call;           /* all but the innermost: instruction that is pending */
    int resume;         /* and the unit behind it */
    Py_ssize_t holders; /* of the frame object when last looked at */
    bool kept; /* a call kept it, not as part of a traceback: what its slots end with is seen */
    bool fresh; /* no profiler was told of it, should there be one */
} Open;

typedef struct Tramp {
    PyThreadState *ts;
    Options *options;
    PyObject *value; /* of the frame that just ended */
    int watched;     /* by whom, when last looked at */
    void *profiler;  /* the one there was when the first frame was opened, or later */
    bool plain;      /* a profiler came while frames were open: it sees all the rest */
    Open *v;
    int n, cap;
    Open fixed[4];
} Tramp;

/* What is to be done with the innermost frame next. */
typedef enum {
    ACT_REAL,   /* run the instruction it rests before for real */
    ACT_ENTER,  /* look for compiled code to enter where it rests */
    ACT_PLAIN,  /* run it in the interpreter */
    ACT_RETURN, /* it has ended and is gone; t->value is its value */
    ACT_UNWIND, /* it has ended and is gone; an exception is set */
} Act;

/* What came of trying to enter a point. */
typedef enum {
    GO_PLAIN, /* nothing has happened */
    GO_IDLE, /* nothing has happened, but *e says where compiled code may be of use again */
    GO_RAISE, /* an exception is set */
    GO_DONE,  /* the segment has run; *out is what it gave; *e is to be released */
    GO_LATE, /* the graph has raised, an exception is set; *e, to be freed, ends there, and *out is what it gave */
} Go;

/* -- Entering a point ------------------------------------------------------------------ */

static bool runs_plainly(Tramp *t)
{
    t->watched = cpy_watched(t->ts);
    return (t->watched & CPY_TRACED) || run_off || run_disabled > 0;
}

/* The entry that holds, moved to the front; its arguments in args. */
static Entry *match(Point *p, PyFunctionObject *func, PyObject *const *slots, int nslots,
                    PyObject *exc, PyObject **args)
{
    Entry **link = &p->entries;
    for (Entry *e = *link; e != NULL; link = &e->next, e = *link) {
        if (!run_check(e->guards, (PyObject *)func, slots, nslots, exc, args + 1))
            continue;
        *link = e->next;
        e->next = p->entries;
        p->entries = e;
        return e;
    }
    return NULL;
}

/* While compiling, nobody is told anything: a profiler that runs in the middle of a trace could change what was already
 * looked at. It sees one call of a C function. */
static CompileResult compile_unwatched(PyThreadState *ts, Point *p, PyFunctionObject *func,
                                       PyObject *const *slots, int nslots, PyObject *exc,
                                       const struct GraphFailure *f, Entry **e)
{
    PyObject *told;
    if (!cpy_tell_c_call(ts, run_compile_name, NULL, &told))
        return COMPILE_ERROR;
    bool paused = cpy_profile_pause(ts);
    CompileResult r = f ? run_compile_late(p, func, slots, nslots, exc, f, e)
                        : run_compile(p, func, slots, nslots, exc, e);
    cpy_profile_resume(ts, paused);
    if (!cpy_tell_c_return(ts, told))
        r = COMPILE_ERROR;
    return r;
}

/* True if the point has a new entry; false with an exception set if that is to be raised. */
static bool compile(PyThreadState *ts, Point *p, PyFunctionObject *func,
                    PyObject *const *slots, int nslots)
{
    if (p->plain || p->busy || run_compile == NULL)
        return false;
    PyObject *exc = cpy_exc_handled(ts);
    if (p->nentries >= p->options->limit) {
        p->plain = true;
        if (p->live && run_limit_warning != NULL)
            run_limit_warning(p, func, slots, nslots, exc);
        return false;
    }
    Entry *e = NULL;
    p->busy = true;
    p->compiles++;
    CompileResult r = compile_unwatched(ts, p, func, slots, nslots, exc, NULL, &e);
    p->busy = false;
    assert((r == COMPILE_ERROR) == !!PyErr_Occurred());
    if (r == COMPILE_PLAIN || (r == COMPILE_NOTHING && e == NULL))
        p->plain = true;
    if (e != NULL)
        point_add(p, e);
    return e != NULL && r != COMPILE_ERROR;
}

/* The line of a segment in a traceback, when the frame it ran for has one of its own. */
static void drop_traceback_head(void)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    if (tb != NULL)
        Py_SETREF(tb, Py_XNewRef((PyObject *)((PyTracebackObject *)tb)->tb_next));
    PyErr_Restore(type, value, tb);
}

/* Runs an entry once, whose guards have not been looked at. NULL: they do not hold, or an exception. */
static PyObject *run_once(Tramp *t, PyFunctionObject *func, PyObject *const *slots,
                          int nslots, Entry *e)
{
    PyObject **args = mem_alloc((size_t)segment_args(e) * sizeof *args), *out = NULL;
    if (args == NULL)
        return PyErr_NoMemory();
    if (run_check(e->guards, (PyObject *)func, slots, nslots, cpy_exc_handled(t->ts),
                  args + 1)) {
        args[0] = Py_NewRef(e->graph);
        out = cpy_call_code_steal(t->ts, e->seg, args, (size_t)segment_args(e));
    }
    mem_free(args);
    return out;
}

/* The graph has raised in the middle, with changes made that cannot be reverted: goes to the state that the program is in at the
 * operation that raised, made from the values the run had (rule 13). */
static Go run_late(Tramp *t, Point *p, PyFunctionObject *func, PyObject *const *slots,
                   int nslots, GraphFailure *f, Entry **e, PyObject **out)
{
    PyObject *type, *value, *tb;
    Entry *x = NULL;
    PyErr_Fetch(&type, &value, &tb);
    CompileResult r =
        compile_unwatched(t->ts, p, func, slots, nslots, cpy_exc_handled(t->ts), f, &x);
    *out = r == COMPILE_DONE ? run_once(t, func, slots, nslots, x) : NULL;
    if (*out != NULL) {
        PyErr_Restore(type, value, tb);
        *e = x;
        return GO_LATE;
    }
    if (x != NULL)
        entry_free(x);
    if (PyErr_Occurred()) { /* no memory, an interrupt */
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(tb);
        return GO_RAISE;
    }
    PyErr_Restore(type, value, tb);
    return GO_RAISE;
}

/* Nobody looks at what run_segment has run any more. */
static inline void release(Entry *e)
{
    if (__builtin_expect(--e->running == 0 && e->forgotten, 0))
        entry_free(e);
}

/* An exception of a profiler has turned it off. */
static bool profiler_raised(Tramp *t)
{
    return t->watched != 0 && cpy_watched(t->ts) == 0;
}

static Go run_segment(Tramp *t, Entry *e, PyObject **args, PyObject **out)
{
    e->running++;
    args[0] = Py_NewRef(e->graph);
    AmbientSaved before;
    PyObject *numbers = __builtin_expect(e->draws, 0) ? generator_state() : NULL;
    if (__builtin_expect(e->switches != 0, 0))
        ambient_save(&before, e->switches);
    *out = cpy_call_code_steal(t->ts, e->seg, args, (size_t)segment_args(e));
    if (__builtin_expect(*out == NULL, 0) && e->switches)
        ambient_restore(&before);
    bool nothing = *out == NULL && (fx_reverted(e->graph) || e->pure);
    if (__builtin_expect(numbers != NULL, 0)) {
        if (nothing && deopt_can())
            generator_restore(numbers);
        Py_DECREF(numbers);
    }
    if (__builtin_expect(*out != NULL, 1))
        return GO_DONE;
    if (!nothing || !deopt_can() || profiler_raised(t))
        return GO_RAISE;
    PyErr_Clear();
    return GO_PLAIN;
}

/* Of the entry that raised. */
static Go go_late(Tramp *t, Point *p, PyFunctionObject *func, PyObject *const *slots,
                  int nslots, Entry **e, PyObject **out)
{
    Go go = GO_RAISE;
    GraphFailure *f = fx_failure((*e)->graph);
    if (f != NULL && deopt_can()) {
        drop_traceback_head();
        f->ways = (*e)->ways;
        go = run_late(t, p, func, slots, nslots, f, e, out);
    }
    fx_failure_free(f);
    return go;
}

/* As enter, with room for the arguments of the point's entries. */
static Go enter_with(Tramp *t, Point *p, PyFunctionObject *func, PyObject *const *slots,
                     int nslots, PyObject **args, Entry **e, PyObject **out)
{
    PyObject *exc = cpy_exc_handled(t->ts);
    *e = match(p, func, slots, nslots, exc, args);
    if (*e == NULL)
        return GO_PLAIN;
    if (__builtin_expect((*e)->idle, 0)) {
        for (int i = segment_args(*e) - 1; i > 0; i--)
            Py_DECREF(args[i]);
        return GO_IDLE;
    }
    if (__builtin_expect(p->idle != 0, 0))
        point_wake(p);
    Go go = run_segment(t, *e, args, out);
    if (__builtin_expect(go == GO_DONE, 1))
        return go;
    Entry *ran = *e;
    if (go == GO_RAISE && ran->late)
        go = go_late(t, p, func, slots, nslots, e, out);
    release(ran);
    return go;
}

static Go enter_existing(Tramp *t, Point *p, PyFunctionObject *func,
                         PyObject *const *slots, int nslots, Entry **e, PyObject **out)
{
    PyObject *few[ARGS_ON_STACK];
    int n = p->nargs;
    if (n <= ARGS_ON_STACK)
        return enter_with(t, p, func, slots, nslots, few, e, out);
    PyObject **args = mem_alloc((size_t)n * sizeof *args);
    if (args == NULL)
        return GO_RAISE;
    Go go = enter_with(t, p, func, slots, nslots, args, e, out);
    mem_free(args);
    return go;
}

/* Tries the point's entries, makes a new one if none holds, and runs the one that does. The
 * guards of a new one are tried like those of any other: the world may have moved. */
static Go enter(Tramp *t, Point *p, PyFunctionObject *func, PyObject *const *slots,
                int nslots, Entry **e, PyObject **out)
{
    *e = NULL;
    Go go =
        p->entries == NULL ? GO_PLAIN : enter_existing(t, p, func, slots, nslots, e, out);
    if (__builtin_expect(go != GO_PLAIN || *e != NULL, 1))
        return go;
    if (!compile(t->ts, p, func, slots, nslots))
        return PyErr_Occurred() ? GO_RAISE : GO_PLAIN;
    return enter_existing(t, p, func, slots, nslots, e, out);
}

/* -- Open frames --------------------------------------------------------------------------- */

static Open *top(Tramp *t)
{
    return &t->v[t->n - 1];
}

static int index_at(Open *o)
{
    return o->t->c->index_of[cpy_frame_at(o->f)];
}

static bool grow(Tramp *t)
{
    if (t->n < t->cap)
        return true;
    size_t bytes = 2 * (size_t)t->cap * sizeof *t->v;
    Open *v = mem_resize(t->v == t->fixed ? NULL : t->v, bytes);
    if (v == NULL)
        return false;
    if (t->v == t->fixed)
        memcpy(v, t->fixed, sizeof t->fixed);
    t->v = v;
    t->cap *= 2;
    return true;
}

/* Pushes and links a frame at unit 0 with empty slots. */
static Open *open_frame(Tramp *t, PyFunctionObject *func)
{
    PointTable *table = table_of((PyCodeObject *)func->func_code, t->options);
    if (table == NULL || !grow(t))
        return NULL;
    CpyFrame *f = cpy_frame_push(t->ts, func, 0);
    if (f == NULL)
        return NULL;
    cpy_frame_link(t->ts, f);
    if (t->n == 0)
        t->profiler = cpy_profiler(t->ts);
    t->v[t->n++] = (Open){ f, table, -1, -1, 0, false, true };
    return top(t);
}

/* Tells a profiler that the innermost frame was called. False: the profiler raised. */
static bool tell_call(Tramp *t)
{
    Open *o = top(t);
    if (!o->fresh)
        return true;
    o->fresh = false;
    if (!(cpy_watched(t->ts) & CPY_PROFILED))
        return true;
    const Code *c = o->t->c;
    bool ok = cpy_tell_call(t->ts, o->f, c->ins[c->first].at) == 0;
    o->holders = cpy_frame_holders(o->f);
    o->kept = o->holders > 0;
    return ok;
}

/* The same if it is past its RESUME: before, that is where it is told. */
static bool announce(Tramp *t)
{
    return index_at(top(t)) <= top(t)->t->c->first || tell_call(t);
}

/* A profiler that came or went in a call that a frame made sees the rest of all open frames as it is written. */
static void note_profiler(Tramp *t)
{
    void *now = cpy_profiler(t->ts);
    t->plain |= now != NULL && now != t->profiler;
    t->profiler = now;
}

/* Takes the innermost frame off, with whatever its slots hold. */
static void close_frame(Tramp *t)
{
    CpyFrame *f = top(t)->f;
    bool kept = top(t)->kept;
    t->n--;
    if (kept && t->n > 0)
        top(t)->kept = true; /* by f_back */
    cpy_frame_unlink(t->ts, f);
    cpy_frame_pop(t->ts, f);
}

/* The innermost frame ends with this value, which is stolen. */
static Act leave_frame(Tramp *t, PyObject *value)
{
    if (!top(t)->fresh && cpy_tell_return(t->ts, value) < 0)
        Py_CLEAR(value);
    t->value = value;
    close_frame(t);
    return value != NULL ? ACT_RETURN : ACT_UNWIND;
}

/* Raises the exception set at an instruction of the innermost frame, or, `callee`, as coming
 * out of the frame it has called. */
static Act raise_in_top(Tramp *t, int index, bool callee)
{
    Open *o = top(t);
    if (real_raise(t->ts, o->f, o->t->c, index, callee) == REAL_OK) {
        o->holders = cpy_frame_holders(o->f);
        return ACT_ENTER;
    }
    return leave_frame(t, NULL);
}

/* -- Exits ------------------------------------------------------------------------------------ */

/* A segment's exit tuple, whose items are moved out one by one. */
typedef struct Values {
    PyObject *tuple;
    Py_ssize_t at;
} Values;

static PyObject *next_value(Values *v)
{
    PyObject *item = PyTuple_GET_ITEM(v->tuple, v->at);
    if (Py_REFCNT(v->tuple) == 1)
        PyTuple_SET_ITEM(v->tuple, v->at, NULL);
    else
        Py_INCREF(item);
    v->at++;
    return item;
}

/* The frame's state becomes that of the exit. Old values go last: finalizers see the new. */
static bool set_frame(Open *o, const ExitFrame *x, Values *v)
{
    PyObject **slots = cpy_frame_slots(o->f), *few[ARGS_ON_STACK], **old = few;
    int nold = o->t->c->nlocalsplus + cpy_frame_depth(o->f);
    if (nold > ARGS_ON_STACK && (old = mem_alloc((size_t)nold * sizeof *old)) == NULL)
        return false;
    memcpy(old, slots, (size_t)nold * sizeof *old);
    for (int i = 0; i < x->nslots; i++)
        slots[i] = x->present[i] ? next_value(v) : NULL;
    cpy_frame_set(o->f, x->depth, x->at);
    for (int i = 0; i < nold; i++)
        Py_XDECREF(old[i]);
    if (old != few)
        mem_free(old);
    return true;
}

/* The frame waits for the callee that is pushed next. */
static void set_pending(Open *o, const ExitFrame *x)
{
    o->call = o->t->c->index_of[x->at];
    o->resume = x->resume;
    real_pending(o->f, o->t->c, o->call);
}

/* Pushes the frame of an inlined callee. */
static Open *open_callee(Tramp *t, const ExitFrame *x, Values *v)
{
    PyFunctionObject *func = (PyFunctionObject *)next_value(v);
    Open *o = NULL;
    if (NEVER(func->func_code != (PyObject *)x->co))
        PyErr_SetString(PyExc_SystemError,
                        "a function's code changed under a compiled call");
    else
        o = open_frame(t, func);
    Py_DECREF(func);
    return o;
}

static Act open_callees(Tramp *t, const Exit *x, Values *v)
{
    if (x->has_exc) { /* the last value, first: opening a frame may raise */
        PyObject *exc = PyTuple_GET_ITEM(v->tuple, PyTuple_GET_SIZE(v->tuple) - 1);
        cpy_exc_set_handled(t->ts, exc == Py_None ? NULL : Py_NewRef(exc));
    }
    for (int i = 1; i < x->nframes; i++) {
        set_pending(top(t), &x->frames[i - 1]);
        Open *o = open_callee(t, &x->frames[i], v);
        if (o == NULL) /* recursion too deep: the pending call raises */
            return raise_in_top(t, top(t)->call, false);
        if (!set_frame(o, &x->frames[i], v) || !announce(t)) {
            close_frame(t);
            return raise_in_top(t, top(t)->call, false);
        }
    }
    v->at += x->has_exc;
    return x->cut ? ACT_ENTER : ACT_REAL;
}

/* Acts on an exit of the innermost frame. Steals the tuple. */
static Act take_exit(Tramp *t, const Exit *x, PyObject *tuple)
{
    Values v = { tuple, 0 };
    Act act = ACT_UNWIND;
    if (!set_frame(top(t), &x->frames[0], &v))
        act = raise_in_top(t, index_at(top(t)), false);
    else if (announce(t))
        act = open_callees(t, x, &v);
    else
        close_frame(t);
    assert(act != ACT_REAL || v.at == PyTuple_GET_SIZE(tuple));
    Py_DECREF(tuple);
    return act;
}

enum { CHAIN = 1000 };

/* Whether an exception is in another's chain of contexts; *end: the chain's last. */
static bool in_chain(PyObject *e, PyObject *wanted, PyObject **end)
{
    for (int left = CHAIN; e != wanted; left--) {
        *end = e;
        PyObject *next = PyException_GetContext(e);
        Py_XDECREF(next); /* e keeps it */
        if (next == NULL)
            return false;
        if (left == 0)
            break;
        e = next;
    }
    return true;
}

/* What a graph has raised may have been raised before the exception that is handled in the exit's state was so for real. */
static void chain_context(PyThreadState *ts, PyObject *value)
{
    PyObject *handled = cpy_exc_handled(ts), *last;
    if (handled != NULL && !in_chain(handled, value, &last) &&
        !in_chain(value, handled, &last))
        PyException_SetContext(last, Py_NewRef(handled));
}

static bool is_check(PyObject *value)
{
    PyObject *text = value ? PyObject_Str(value) : NULL;
    bool is = text && PyUnicode_CompareWithASCIIString(text, CHECK_FAILS) == 0;
    PyErr_Clear();
    Py_XDECREF(text);
    return is;
}

/* Acts on the exit of a graph that raised: the exception set is raised there, unless it is of a check that stood for a branch: the
 * branch is taken for real. Frees the entry. */
static Act take_late(Tramp *t, Entry *e, PyObject *tuple)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    Act act = take_exit(t, e->exit, tuple);
    entry_free(e);
    if (act != ACT_REAL || is_check(value)) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(tb);
        return act;
    }
    PyErr_NormalizeException(&type, &value, &tb);
    chain_context(t->ts, value);
    PyErr_Restore(type, value, tb);
    return raise_in_top(t, index_at(top(t)), false);
}

/* -- One act each -------------------------------------------------------------------------------- */

/* Where the interpreter looks for signals, too. */
static bool polls(const Code *c, int index)
{
    const Ins *in = &c->ins[index];
    return in->op == OP_CALL || in->op == OP_KW_NAMES || in->op == OP_CALL_FUNCTION_EX ||
           (in->op == OP_JUMP && in->target <= index);
}

/* The frame's value lies on top of its stack. */
static Act return_top(Tramp *t)
{
    Open *o = top(t);
    int depth = cpy_frame_depth(o->f), at = cpy_frame_at(o->f);
    PyObject *value = cpy_frame_slots(o->f)[o->t->c->nlocalsplus + depth - 1];
    cpy_frame_set(o->f, depth - 1, at);
    cpy_frame_mark(o->f, at);
    return leave_frame(t, value);
}

enum { LOOKED_AT = 8 };

/* Looks who keeps the innermost frames; `call`: what is new was kept by a call that returned. */
static void note_holders(Tramp *t, bool call)
{
    for (int i = t->n - 1; i >= 0 && i >= t->n - LOOKED_AT; i--) {
        Open *o = &t->v[i];
        Py_ssize_t now = cpy_frame_holders(o->f);
        if (__builtin_expect(now != o->holders, 0)) {
            o->kept |= call && now > o->holders;
            o->holders = now;
        }
    }
}

static Act do_real(Tramp *t)
{
    Open *o = top(t);
    int index = index_at(o);
    const Ins *in = &o->t->c->ins[index];
    if (in->op == OP_RETURN_VALUE)
        return return_top(t);
    if (NEVER(!real_can(in->op)))
        return ACT_PLAIN;
    if (in->op == OP_RESUME && !tell_call(t)) {
        close_frame(t);
        return ACT_UNWIND;
    }
    if (real_run(t->ts, o->f, o->t->c, index) == REAL_LEFT) {
        note_profiler(t);
        return leave_frame(t, NULL);
    }
    note_profiler(t);
    note_holders(t, o->t->c->ins[index_at(o)].op != OP_PUSH_EXC_INFO);
    if (polls(o->t->c, index) && PyErr_CheckSignals() < 0)
        return raise_in_top(t, index, false);
    return ACT_ENTER;
}

/* What a frame's end has let go of and the segment did not tell the frame: operands, and the names of handlers. A frame
 * that its own traceback keeps would keep the exception, and all frames below, in a circle. */
static void forget_ended(Open *o)
{
    const Code *c = o->t->c;
    PyObject **slots = cpy_frame_slots(o->f);
    int depth = cpy_frame_depth(o->f);
    cpy_frame_set(o->f, 0, cpy_frame_at(o->f));
    while (--depth >= 0)
        Py_CLEAR(slots[c->nlocalsplus + depth]);
    for (int i = 0; i < c->n; i++) {
        const Ins *in = &c->ins[i];
        if (in->op == OP_DELETE_FAST && slots[in->arg] != NULL &&
            PyExceptionInstance_Check(slots[in->arg]))
            Py_CLEAR(slots[in->arg]);
    }
}

/* The segment gave the frame's value: its exception state goes back to what it was entered with. */
static Act finish(Tramp *t, int index, PyObject *value)
{
    Open *o = top(t);
    int slot = table_saved_exc(o->t, index);
    if (slot >= 0)
        cpy_exc_set_handled(
            t->ts, Py_XNewRef(cpy_frame_slots(o->f)[o->t->c->nlocalsplus + slot]));
    if (cpy_frame_holders(o->f) > 0)
        forget_ended(o);
    return leave_frame(t, value);
}

/* The instruction of the outermost frame at which its trace broke, -1 if it did not; the next
 * one is where compiling goes on. */
static int index_behind(PointTable *t, const Exit *x)
{
    int index = t->c->index_of[x->frames[0].at];
    if (x->nframes > 1)
        return t->c->index_of[x->frames[0].resume];
    if (x->cut)
        return index;
    if (t->c->ins[index].op == OP_KW_NAMES)
        index++;
    return op_ends(t->c->ins[index].op) ? -1 : index + 1;
}

/* Where it goes on if that instruction raises, -1 if the frame does not handle it. */
static int handler_of(PointTable *t, const Exit *x)
{
    int entry = t->c->ins[t->c->index_of[x->frames[0].at]].handler;
    return entry < 0 ? -1 : t->c->exc[entry].target;
}

static bool live_at(PointTable *t, int index)
{
    for (Point *p = t->at[index]; p != NULL; p = p->next)
        if (p->live)
            return true;
    return false;
}

/* A point that keeps being met for nothing is no place to stop at. */
static void missed(PointTable *t, int index, Point *p)
{
    p->idle += p->idle < run_idle_budget;
    if (p->idle >= run_idle_budget)
        table_stop(t, index, false);
}

static void stop_unless_live(PointTable *t, int index, bool on)
{
    if (index >= 0 && !live_at(t, index))
        table_stop(t, index, on);
}

/* Loops that have no graph are left alone, what stands behind them is not. */
static void stop_behind_loops(PointTable *t, int index)
{
    for (int i = 0; i <= index; i++)
        if (t->c->ins[i].op == OP_FOR_ITER && t->c->ins[i].target > index)
            stop_unless_live(t, t->c->ins[i].target, true);
}

/* A point whose trace has no graph: plainly on, to behind the break or the end of the loop; not
 * for ever, though, if that leads to no graph either. */
static Act idle(PointTable *t, Point *p, const Entry *e)
{
    int own = t->c->index_of[p->at];
    if (p->idle < run_idle_budget)
        stop_behind_loops(t, e->exit ? t->c->index_of[e->exit->frames[0].at] : own);
    missed(t, own, p);
    if (e->exit != NULL) {
        bool on = p->idle < run_idle_budget;
        stop_unless_live(t, index_behind(t, e->exit), on);
        stop_unless_live(t, handler_of(t, e->exit), on);
    }
    return ACT_PLAIN;
}

static Act do_enter(Tramp *t)
{
    Open *o = top(t);
    int index = index_at(o), n = o->t->c->nlocalsplus, depth = cpy_frame_depth(o->f);
    if (o->t->c->ins[index].op == OP_RETURN_VALUE)
        return return_top(t);
    if (runs_plainly(t) || t->plain || (o->kept && cpy_frame_holders(o->f)))
        return ACT_PLAIN;
    PyObject **slots = cpy_frame_slots(o->f), *out;
    Point *p = table_point(o->t, index, slots + n, depth);
    if (p == NULL)
        return PyErr_Occurred() ? raise_in_top(t, index, false) : ACT_PLAIN;
    Entry *e;
    switch (enter(t, p, cpy_frame_func(o->f), slots, n + depth, &e, &out)) {
    case GO_DONE: {
        Act act = e->exit == NULL ? finish(t, index, out) : take_exit(t, e->exit, out);
        release(e);
        return act;
    }
    case GO_LATE: return take_late(t, e, out);
    case GO_IDLE: return idle(o->t, p, e);
    case GO_RAISE:
        if (e != NULL)
            drop_traceback_head();
        return raise_in_top(t, index, false);
    case GO_PLAIN:
        if (p->idle < run_idle_budget)
            stop_behind_loops(o->t, index);
        missed(o->t, index, p);
    }
    return ACT_PLAIN;
}

/* Gets off a stop: the instruction there is run for real. */
static Act leave_stop(Tramp *t, Open *o)
{
    int index = index_at(o);
    if (!o->t->stop[index])
        return ACT_PLAIN;
    Act act = do_real(t);
    return act == ACT_ENTER ? ACT_PLAIN : act;
}

/* In the interpreter up to a stop. */
static Act plain_to_stop(Tramp *t, Open *o, PyCodeObject *stops)
{
    bool stopped;
    Py_INCREF(stops);
    cpy_frame_unlink(t->ts, o->f);
    t->value = cpy_frame_run_to(t->ts, o->f, stops, &stopped);
    Py_DECREF(stops);
    note_profiler(t);
    if (stopped) {
        cpy_frame_link(t->ts, o->f);
        note_holders(t, false);
        return ACT_ENTER;
    }
    t->n--;
    return t->value != NULL ? ACT_RETURN : ACT_UNWIND;
}

static Act do_plain(Tramp *t)
{
    Open *o = top(t);
    o->fresh = false; /* else the evaluator tells of it */
    if (!runs_plainly(t) && !t->plain && table_stops(o->t) != NULL) {
        Act act = leave_stop(t, o);
        if (act != ACT_PLAIN)
            return act;
        PyCodeObject *stops = runs_plainly(t) || t->plain ? NULL : table_stops(o->t);
        if (stops != NULL)
            return plain_to_stop(t, o, stops);
    }
    cpy_frame_unlink(t->ts, o->f);
    t->value = cpy_frame_run(t->ts, o->f);
    note_profiler(t);
    t->n--;
    return t->value != NULL ? ACT_RETURN : ACT_UNWIND;
}

/* A callee has ended: its value goes to the caller, which rests behind the call. */
static Act do_return(Tramp *t)
{
    Open *o = top(t);
    int depth = cpy_frame_depth(o->f);
    cpy_frame_slots(o->f)[o->t->c->nlocalsplus + depth] = t->value;
    cpy_frame_set(o->f, depth + 1, o->resume);
    return ACT_ENTER;
}

/* Until the outermost frame has ended. */
static PyObject *go_on(Tramp *t, Act act)
{
    while (t->n > 0)
        switch (act) {
        case ACT_REAL: act = do_real(t); break;
        case ACT_ENTER: act = do_enter(t); break;
        case ACT_PLAIN: act = do_plain(t); break;
        case ACT_RETURN: act = do_return(t); break;
        case ACT_UNWIND: act = raise_in_top(t, top(t)->call, true); break;
        }
    if (t->v != t->fixed)
        mem_free(t->v);
    return act == ACT_RETURN ? t->value : NULL;
}

/* -- Calls -------------------------------------------------------------------------------------------- */

/* Opens the function's frame with its arguments, to run it plainly up to a stop. */
static PyObject *run_idle(Tramp *t, Point *p, PyFunctionObject *func,
                          PyObject *const *slots, int nslots, Entry *e)
{
    Open *o = open_frame(t, func);
    if (o == NULL)
        return NULL;
    for (int i = 0; i < nslots; i++)
        cpy_frame_slots(o->f)[i] = Py_XNewRef(slots[i]);
    return go_on(t, idle(o->t, p, e));
}

/* Opens the function's frame in the state of the exit. */
static PyObject *run_exit(Tramp *t, PyFunctionObject *func, Entry *e, PyObject *tuple)
{
    if (open_frame(t, func) == NULL) {
        Py_DECREF(tuple);
        release(e);
        return NULL;
    }
    Act act = take_exit(t, e->exit, tuple);
    release(e);
    return go_on(t, act);
}

/* The same for a graph that raised. */
static PyObject *run_failed(Tramp *t, PyFunctionObject *func, Entry *e, PyObject *tuple)
{
    if (open_frame(t, func) == NULL) {
        Py_DECREF(tuple);
        entry_free(e);
        return NULL;
    }
    return go_on(t, take_late(t, e, tuple));
}

PyObject *run_call(Point *p, PyFunctionObject *func, PyObject *const *slots, int nslots,
                   bool *plain)
{
    Tramp t;
    t.ts = PyThreadState_Get();
    *plain = runs_plainly(&t);
    if (*plain)
        return NULL;
    t.options = p->options;
    t.v = t.fixed;
    t.n = 0;
    t.plain = false;
    t.cap = (int)COUNT_OF(t.fixed);
    Entry *e;
    PyObject *out;
    switch (enter(&t, p, func, slots, nslots, &e, &out)) {
    case GO_DONE:
        if (e->exit != NULL)
            return run_exit(&t, func, e, out);
        release(e);
        return out;
    case GO_LATE: return run_failed(&t, func, e, out);
    case GO_IDLE:
        if (e->exit != NULL &&
            (p->idle < run_idle_budget || table_stops(p->table) != NULL))
            return run_idle(&t, p, func, slots, nslots, e);
        *plain = true;
        return NULL;
    case GO_RAISE: return NULL;
    case GO_PLAIN: *plain = true;
    }
    return NULL;
}
