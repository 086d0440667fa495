/*
 * run/selftest_tramp.c -- the trampoline under a compiler that makes up its decisions.
 *
 * Takes: functions, a seed. Gives: what the call gives when every point is compiled at random:
 * segments that move values for some instructions, inline calls, return, change the exception
 * being handled, raise, or do nothing; guards that fail now and then. Holds: whatever is
 * decided, the program must not notice.
 */
#include "run/point.h"
#include "run/selftest.h"

/* -- Chance ------------------------------------------------------------------------- */

static uint64_t seed;
static bool only_exits; /* every segment is empty: one instruction at a time */
static bool calm;       /* segments as long as can be, no mishaps */

static bool chance(int percent)
{
    if (calm || only_exits)
        return percent > 50;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)(seed >> 33) % 100 < percent;
}

static struct {
    long compiles, checks, inlined, returns, raises, idles, plains;
} stats;

/* -- Guards: which slots are bound, whether an exception is handled, what is called --------- */

enum { MOST_SAME = 16 };

struct Guards {
    int nslots;
    bool has_exc;
    int nsame;
    int same_slot[MOST_SAME];
    PyObject *same[MOST_SAME];
    uint8_t present[];
};

static bool check(Guards *g, PyObject *func, PyObject *const *slots, int nslots,
                  PyObject *exc, PyObject **out)
{
    stats.checks++;
    if (nslots != g->nslots || (exc != NULL) != g->has_exc || chance(5))
        return false;
    for (int i = 0; i < nslots; i++)
        if ((slots[i] != NULL) != g->present[i])
            return false;
    for (int i = 0; i < g->nsame; i++)
        if (slots[g->same_slot[i]] != g->same[i])
            return false;
    for (int i = 0; i < nslots; i++)
        if (slots[i] != NULL)
            *out++ = Py_NewRef(slots[i]);
    *out = Py_NewRef(exc == NULL ? Py_None : exc);
    return true;
}

static void free_guards(Guards *g)
{
    for (int i = 0; i < g->nsame; i++)
        Py_DECREF(g->same[i]);
    mem_free(g);
}

/* -- A tracer of stack motion --------------------------------------------------------------- */

/* A value of the trace: an argument of the segment, else a constant; both unset: NULL. */
typedef struct Val {
    int arg;         /* -1: none */
    PyObject *known; /* borrowed: the object it is now */
} Val;

typedef struct Sim {
    PyFunctionObject *func; /* of all but the outermost frame */
    Val funcval;
    const Code *c;
    int index, depth, call;
    Val *slot; /* fast slots, then the stack */
} Sim;

enum { MOST_FRAMES = 6 };

typedef struct Trace {
    Guards *g;
    Arena arena;
    Sim v[MOST_FRAMES];
    int n;
    Val exc;
    Val value; /* what the outermost frame returns */
    bool returned;
    int slot_of_arg[4096];
} Trace;

static const Val nothing = { -1, NULL };

static Sim *inner(Trace *t)
{
    return &t->v[t->n - 1];
}

static Val *stack_top(Sim *s)
{
    return &s->slot[s->c->nlocalsplus + s->depth];
}

static bool room(Trace *t, Sim *s)
{
    s->slot = arena_alloc(&t->arena,
                          sizeof(Val) * (size_t)(s->c->nlocalsplus + s->c->stacksize));
    for (int i = 0; s->slot != NULL && i < s->c->nlocalsplus + s->c->stacksize; i++)
        s->slot[i] = nothing;
    return s->slot != NULL;
}

/* Pushes the frame of a Python function called with positional arguments, if that is easy. */
static bool inline_call(Trace *t, Sim *s, const Ins *in)
{
    Val *base = stack_top(s) - in->arg - 2;
    bool method = base[0].known != NULL;
    Val callee = base[!method];
    int n = in->arg + method;
    if (t->n == MOST_FRAMES || !PyFunction_Check(callee.known) || callee.arg < 0 ||
        t->g->nsame == MOST_SAME)
        return false;
    PyCodeObject *co = (PyCodeObject *)((PyFunctionObject *)callee.known)->func_code;
    if (co->co_argcount != n || co->co_kwonlyargcount || !cpy_code_plain(co) ||
        (co->co_flags & (CO_VARARGS | CO_VARKEYWORDS)))
        return false;
    Sim *to = &t->v[t->n];
    *to = (Sim){ .func = (PyFunctionObject *)callee.known,
                 .funcval = callee,
                 .c = code_of(co) };
    if (to->c == NULL || !room(t, to))
        return false;
    memcpy(to->slot, base + (method ? 1 : 2), sizeof(Val) * (size_t)n);
    s->call = s->index;
    s->depth -= in->arg + 2;
    s->index++;
    t->g->same_slot[t->g->nsame] = t->slot_of_arg[callee.arg];
    t->g->same[t->g->nsame++] = Py_NewRef(callee.known);
    t->n++;
    stats.inlined++;
    return true;
}

static void end_frame(Trace *t, Sim *s)
{
    Val v = stack_top(s)[-1];
    if (t->n == 1) {
        t->value = v;
        t->returned = true;
        return;
    }
    t->n--;
    s = inner(t);
    *stack_top(s) = v;
    s->depth++;
}

/* The instructions that change which exception is being handled. */
static bool simulate_exc(Trace *t, Sim *s, Op op)
{
    Val *top = stack_top(s);
    if (op == OP_PUSH_EXC_INFO) {
        top[0] = top[-1];
        top[-1] = t->exc;
        t->exc = top[0];
        s->depth++;
    } else if (op == OP_POP_EXCEPT) {
        t->exc = top[-1];
        s->depth--;
    } else {
        return false;
    }
    s->index++;
    return true;
}

/* True if the instruction was one that only moves values about. */
static bool simulate(Trace *t)
{
    Sim *s = inner(t);
    const Ins *in = &s->c->ins[s->index];
    Val *top = stack_top(s), v;
    switch ((Op)in->op) {
    case OP_LOAD_FAST:
    case OP_LOAD_CLOSURE:
        if (s->slot[in->arg].known == NULL)
            return false;
        *top = s->slot[in->arg];
        s->depth++;
        break;
    case OP_LOAD_CONST:
        *top = (Val){ -1, PyTuple_GET_ITEM(s->c->co->co_consts, in->arg) };
        s->depth++;
        break;
    case OP_PUSH_NULL:
        *top = nothing;
        s->depth++;
        break;
    case OP_STORE_FAST:
        s->slot[in->arg] = top[-1];
        s->depth--;
        break;
    case OP_POP_TOP: s->depth--; break;
    case OP_COPY:
        *top = top[-in->arg];
        s->depth++;
        break;
    case OP_SWAP:
        v = top[-in->arg];
        top[-in->arg] = top[-1];
        top[-1] = v;
        break;
    case OP_NOP:
    case OP_RESUME: break;
    case OP_JUMP: s->index = in->target; return true;
    case OP_CALL:
        if (s->c->ins[s->index - 1].op == OP_KW_NAMES)
            return false;
        return inline_call(t, s, in);
    case OP_RETURN_VALUE: end_frame(t, s); return true;
    default: return simulate_exc(t, s, in->op);
    }
    s->index++;
    return true;
}

/* -- From trace to entry ---------------------------------------------------------------------- */

static void emit(Asm *a, Val v)
{
    if (v.arg >= 0)
        asm_op(a, OP_LOAD_FAST, v.arg);
    else
        asm_const(a, v.known);
}

/* Describes a frame and emits its values. */
static bool exit_frame(Asm *a, Sim *s, ExitFrame *x, bool innermost, int *nvalues)
{
    const Ins *in = &s->c->ins[innermost ? s->index : s->call];
    x->co = (PyCodeObject *)Py_NewRef(s->c->co);
    x->at = in->at;
    x->resume = innermost ? -1 : s->c->ins[s->index].at;
    x->depth = s->depth;
    x->nslots = s->c->nlocalsplus + s->depth;
    x->present = mem_alloc((size_t)x->nslots + 1);
    for (int i = 0; x->present != NULL && i < x->nslots; i++) {
        x->present[i] = s->slot[i].known != NULL;
        if (!x->present[i])
            continue;
        emit(a, s->slot[i]);
        ++*nvalues;
    }
    return x->present != NULL;
}

static Exit *emit_exit(Trace *t, Asm *a)
{
    Exit *x = mem_alloc(sizeof *x);
    x->frames = mem_alloc(sizeof(ExitFrame) * (size_t)t->n);
    x->nframes = t->n;
    x->has_exc = true;
    int n = 1;
    for (int i = 0; i < t->n; i++) {
        if (i > 0) {
            emit(a, t->v[i].funcval);
            n++;
        }
        exit_frame(a, &t->v[i], &x->frames[i], i == t->n - 1, &n);
    }
    emit(a, t->exc);
    asm_op(a, OP_BUILD_TUPLE, n);
    return x;
}

static void emit_raise(Asm *a)
{
    asm_op(a, OP_LOAD_FAST, 0); /* None is not a number */
    asm_op(a, OP_UNARY_NEGATIVE, 0);
    asm_op(a, OP_POP_TOP, 0);
    stats.raises++;
}

static Asm *start_asm(int nargs)
{
    PyObject *name = PyUnicode_FromString("segment");
    Asm *a = asm_new(name, name, name, 1);
    Py_DECREF(name);
    for (int i = 0; i < nargs; i++) {
        char arg[16];
        snprintf(arg, sizeof arg, "a%d", i);
        asm_arg(a, arg);
    }
    asm_op(a, OP_RESUME, 0);
    return a;
}

static Entry *finish_entry(Trace *t, int nargs)
{
    Entry *e = mem_alloc(sizeof *e);
    Asm *a = start_asm(nargs);
    e->guards = t->g;
    e->graph = Py_NewRef(Py_None);
    e->pure = true;
    if (chance(6))
        emit_raise(a);
    if (t->returned) {
        emit(a, t->value);
        stats.returns++;
    } else {
        e->exit = emit_exit(t, a);
    }
    asm_op(a, OP_RETURN_VALUE, 0);
    PyObject *co = (PyObject *)asm_finish(a), *globals = PyDict_New();
    asm_free(a);
    e->seg = co == NULL ? NULL : (PyFunctionObject *)PyFunction_New(co, globals);
    Py_XDECREF(co);
    Py_DECREF(globals);
    if (e->seg == NULL) {
        entry_free(e);
        return NULL;
    }
    if (chance(15)) {
        e->idle = true;
        stats.idles++;
    }
    return e;
}

/* The outermost frame and the guards, from the slots. */
static bool begin(Trace *t, Point *p, PyObject *const *slots, int nslots, PyObject *exc,
                  int *nargs)
{
    Sim *s = &t->v[0];
    s->c = p->table->c;
    s->index = s->c->index_of[p->at];
    s->depth = p->depth;
    t->n = 1;
    t->g = mem_alloc(sizeof *t->g + (size_t)nslots);
    if (t->g == NULL || !room(t, s))
        return false;
    t->g->nslots = nslots;
    t->g->has_exc = exc != NULL;
    *nargs = 1;
    for (int i = 0; i < nslots; i++) {
        t->g->present[i] = slots[i] != NULL;
        s->slot[i] = slots[i] == NULL ? nothing : (Val){ *nargs, slots[i] };
        if (slots[i] != NULL && *nargs < (int)COUNT_OF(t->slot_of_arg))
            t->slot_of_arg[(*nargs)++] = i;
    }
    t->exc = (Val){ (*nargs)++, exc == NULL ? Py_None : exc };
    return true;
}

static CompileResult compile(Point *p, PyFunctionObject *func, PyObject *const *slots,
                             int nslots, PyObject *exc, Entry **out)
{
    stats.compiles++;
    if (chance(8)) {
        stats.plains++;
        return chance(50) ? COMPILE_PLAIN : COMPILE_NOTHING;
    }
    static Trace t; /* big; compile does not recurse */
    int nargs;
    memset(&t, 0, sizeof t);
    arena_init(&t.arena);
    if (!begin(&t, p, slots, nslots, exc, &nargs))
        return COMPILE_ERROR;
    for (int steps = 0; !only_exits && !t.returned && steps < 60 && chance(93); steps++)
        if (!simulate(&t))
            break;
    *out = finish_entry(&t, nargs);
    arena_free(&t.arena);
    return *out == NULL ? COMPILE_ERROR : (*out)->idle ? COMPILE_NOTHING : COMPILE_DONE;
}

/* -- Methods -------------------------------------------------------------------------------------- */

typedef struct Parts {
    CompileResult (*compile)(Point *, PyFunctionObject *, PyObject *const *, int,
                             PyObject *, Entry **);
    bool (*check)(Guards *, PyObject *, PyObject *const *, int, PyObject *, PyObject **);
    void (*free)(Guards *);
    void (*limit)(Point *, PyFunctionObject *, PyObject *const *, int, PyObject *);
} Parts;

static Parts real_parts; /* what the fakes stand for */

static void install(Parts p)
{
    run_compile = p.compile;
    run_check = p.check;
    run_guards_free = p.free;
    run_limit_warning = p.limit;
}

/* Back to the real compiler; what the fake one made is dropped. */
static PyObject *unfake(PyObject *self, PyObject *none)
{
    if (run_compile == compile) {
        run_forget();
        install(real_parts);
    }
    run_idle_budget = 100;
    run_off = false;
    Py_RETURN_NONE;
}

static PyObject *fake(PyObject *self, PyObject *args)
{
    unsigned long long s;
    int exits = 0, budget = 100, peace = 0;
    if (!PyArg_ParseTuple(args, "K|pip", &s, &exits, &budget, &peace))
        return NULL;
    seed = s * 2654435761u + 88172645463325252u;
    only_exits = exits;
    calm = peace;
    run_idle_budget = budget;
    if (run_compile != compile)
        real_parts =
            (Parts){ run_compile, run_check, run_guards_free, run_limit_warning };
    install((Parts){ compile, check, free_guards, NULL });
    memset(&stats, 0, sizeof stats);
    Py_RETURN_NONE;
}

static PyObject *fake_stats(PyObject *self, PyObject *none)
{
    return Py_BuildValue("{slslslslslslsl}", "compiles", stats.compiles, "checks",
                         stats.checks, "inlined", stats.inlined, "returns", stats.returns,
                         "raises", stats.raises, "idles", stats.idles, "plains",
                         stats.plains);
}

static PyObject *plain_call(PyFunctionObject *func, PyObject *slots)
{
    PyThreadState *ts = PyThreadState_Get();
    CpyFrame *f = cpy_frame_push(ts, func, 0);
    if (f == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++)
        cpy_frame_slots(f)[i] = Py_NewRef(PyTuple_GET_ITEM(slots, i));
    return cpy_frame_run(ts, f);
}

static PyObject *tramp(PyObject *self, PyObject *args)
{
    PyObject *func, *slots, *options;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyFunction_Type, &func, &PyTuple_Type, &slots,
                          &options))
        return NULL;
    PyFunctionObject *f = (PyFunctionObject *)func;
    Point *p = run_entry_point((PyCodeObject *)f->func_code, (Options *)options);
    if (p == NULL)
        return NULL;
    bool plain;
    PyObject *v = run_call(p, f, ((PyTupleObject *)slots)->ob_item,
                           (int)PyTuple_GET_SIZE(slots), &plain);
    return plain ? plain_call(f, slots) : v;
}

static PyObject *forget(PyObject *self, PyObject *none)
{
    run_forget();
    Py_RETURN_NONE;
}

static PyObject *switch_off(PyObject *self, PyObject *off)
{
    run_off = PyObject_IsTrue(off) == 1;
    Py_RETURN_NONE;
}

PyMethodDef run_tramp_selftest_methods[] = {
    { "fake", fake, METH_VARARGS,
      "fake(seed, only_exits=False, idle_budget=100, calm=False): a compiler that makes "
      "up its decisions" },
    { "unfake", unfake, METH_NOARGS, "unfake(): the real compiler again" },
    { "fake_stats", fake_stats, METH_NOARGS, "fake_stats() -> what it has decided" },
    { "tramp", tramp, METH_VARARGS,
      "tramp(func, slots, options): a call through the trampoline" },
    { "run_forget", forget, METH_NOARGS, "run_forget(): drops all entries" },
    { "run_off", switch_off, METH_O, "run_off(bool): everything runs plainly" },
    { NULL },
};
