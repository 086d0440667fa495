/*
 * pipeline.c -- compile_point(): attach, begin, trace, emit. The other steps of the architecture's list (prune, hand off,
 * assemble, freeze) are emit_entry's.
 */
#include "pipeline.h"
#include "base/switches.h"
#include "builtin/handler.h"
#include "cpy/cpy.h"
#include "emit/emit.h"
#include "report.h"
#include "run/point.h"
#include "torch/failure.h"
#include "touch.h"
#include "trace/run.h"
#include "var/weak.h"
#include "var/wrap.h"

PyObject *pipeline_module;

/* torch is attached once it is there; a program without it traces plain Python. */
static Status attach(void)
{
    PyObject *torch =
        torch_ready ? NULL : PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
    if (torch == NULL || torch == Py_None) /* None: its import is forbidden */
        return ST_OK;
    return torch_attach() < 0 ? ST_ERROR : ST_OK;
}

static Status ambient(Tx *tx)
{
    const char *why;
    size_t size;
    if (!torch_ready)
        return ST_OK;
    if (!ambient_tracable(&why))
        return graph_break(tx, BRK_MODE, "%s", why);
    void *block = ambient_block(&tx->arena, &size);
    TRY_PTR(block);
    tx->ambient = block;
    return guard_add(&tx->guards,
                     (Guard){ .kind = GUARD_AMBIENT, .p = block, .size = size });
}

static Status root_function(Tx *tx, PyFunctionObject *func, FuncVar **out)
{
    Source *src = source_get(&tx->sources, SRC_FUNC, NULL, NULL, 0);
    TRY_PTR(src);
    src->hint = (PyObject *)func;
    src->asked |= (uintptr_t)1 << GUARD_CODE; /* the point's own code */
    TRY(func_wrap(tx, (PyObject *)func, src, false, (Var **)out));
    return ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, func, *out) ? ST_OK
                                                                          : ST_ERROR;
}

static Status slot_value(Tx *tx, Frame *f, PyObject *obj, int i, bool resumed)
{
    Source *src = source_get(&tx->sources, SRC_SLOT, NULL, NULL, i);
    TRY_PTR(src);
    if (obj != NULL)
        return lazy_new(tx, obj, src, &f->slots[i]);
    if (resumed && i < f->code->nlocalsplus)
        return guard_bound(&tx->guards, src, false);
    return ST_OK;
}

static Status root_frame(Tx *tx, Point *p, FuncVar *fn, PyObject *const *slots, int nslots)
{
    Frame *f;
    TRY(frame_make(tx, fn, RET_PUSH, &f));
    tx->root = f;
    f->resumed = p->at != 0;
    for (int i = 0; i < nslots; i++)
        TRY(slot_value(tx, f, slots[i], i, p->at != 0));
    for (int i = 0; p->at != 0 && i < nslots; i++)
        TRY(sole_entered(tx, f, i, nslots));
    if (p->at != 0) {
        f->sp = (size_t)nslots;
        f->pc = (size_t)code_index(f->code, p->at);
    }
    return ST_OK;
}

static Status begin(Tx *tx, Point *p, PyFunctionObject *func, PyObject *const *slots,
                    int nslots, PyObject *exc)
{
    FuncVar *fn;
    tx->module = pipeline_module;
    tx->resumed = p->at != 0;
    tx->numbers = &p->numbers;
    tx->again = p->entries != NULL;
    tx->foreign_graph = p->options->backend && !hand_off_own(p->options->backend);
    tx->break_at = (uint64_t)switches.break_at;
    tx->slot_names = p->co->co_localsplusnames;
    tx->backend = p->options->backend;
    TRY(ambient(tx));
    TRY(root_function(tx, func, &fn));
    TRY(root_frame(tx, p, fn, slots, nslots));
    if (exc != NULL && exc != Py_None) {
        Source *src = source_get(&tx->sources, SRC_EXC, NULL, NULL, 0);
        TRY_PTR(src);
        TRY(lazy_new(tx, exc, src, &tx->handled));
        tx->handled0 = tx->handled;
    }
    PyObject *outer = cpy_exc_outer(PyThreadState_Get());
    if (outer != NULL) {
        Source *src = source_get(&tx->sources, SRC_OUTER, NULL, NULL, 0);
        TRY_PTR(src);
        TRY(lazy_new(tx, tx_keep(tx, outer), src, &tx->inherited));
    }
    return ST_OK;
}

/* On twins, whatever mode the program is in. */
static Status trace(Tx *tx, Var **value)
{
    PyObject *mode = inference_leave();
    Status st = mode == NULL && PyErr_Occurred() ? ST_ERROR : trace_root(tx, value);
    return inference_return(mode) < 0 ? ST_ERROR : st;
}

/* A trace that is to be made once more, with a break at instruction `at`: what that one makes cannot be made again after
 * the graph. */
typedef struct Again {
    uint64_t at; /* 0: no */
    Break why;   /* the text is ours */
    int tries;
    Ways ways;
} Again;

enum { MAX_TRIES = 8 };

static bool again(Again *a, const Break *brk)
{
    if (brk->born == 0 || a->tries >= MAX_TRIES)
        return false;
    size_t n = strlen(brk->text) + 1;
    char *text = mem_resize(a->why.text, n);
    if (text == NULL) {
        PyErr_Clear();
        return false;
    }
    memcpy(text, brk->text, n);
    a->why = *brk;
    a->why.text = text;
    a->at = brk->born;
    a->tries++;
    return true;
}

/* A trace that came to its end, or to a break whose state can be made again. */
static CompileResult finish(Tx *tx, Point *p, Var *value, Again *a, Entry **out)
{
    Break met = tx->brk, late;
    Status st = weak_kept(tx, value);
    if (st == ST_OK)
        st = emit_entry(tx, p, value, out);
    if (st == ST_BREAK && again(a, &tx->brk))
        return COMPILE_PLAIN;
    if (st == ST_ERROR && !a->ways.plain_nodes && hand_off_refused()) {
        PyErr_Clear();
        return a->ways.plain_nodes = true, COMPILE_AGAIN;
    }
    if (value == NULL) {
        late = tx->brk;
        tx->brk = met;
        report_break(tx);
        tx->brk = late;
    }
    if (st == ST_BREAK && p->options->fullgraph) {
        report_raise(tx);
        return COMPILE_ERROR;
    }
    if (st == ST_BREAK) {
        report_break(tx);
        return COMPILE_PLAIN;
    }
    if (st != ST_OK)
        return COMPILE_ERROR;
    Entry *e = *out;
    /* A break inside a callee is taken even so: what follows it in there may well have a graph. */
    bool inside = e->exit != NULL && e->exit->nframes > 1;
    if (e->graph == Py_None && !inside && !switches.keep_empty_graphs) {
        e->idle = true; /* kept: another path through this code may well have a graph */
        return COMPILE_NOTHING;
    }
    if (e->nops)
        report_graph(tx, e->nops);
    report_frame(p->co);
    report_entry(e, p->co);
    return COMPILE_DONE;
}

/* The break came while a forward was traced beside the graph: in place it is taken where it is. */
static bool inside_function(Tx *tx, const Again *a)
{
    return tx->apply_failed > a->ways.in_place && tx->apply_break == tx->brk.text;
}

static CompileResult run(Tx *tx, Point *p, Again *a, Entry **out)
{
    Var *value = NULL;
    Status st = trace(tx, &value);
    if (tx->modes && (st == ST_OK || (st == ST_BREAK && !p->options->fullgraph)))
        return a->ways.no_modes = true, COMPILE_AGAIN;
    if (st == ST_OK)
        return finish(tx, p, value, a, out);
    if (st != ST_BREAK)
        return COMPILE_ERROR;
    if (inside_function(tx, a) && !p->options->fullgraph)
        return a->ways.in_place = tx->apply_failed, COMPILE_AGAIN;
    if (p->options->fullgraph && tx->brk.id != BRK_UNCAUGHT) {
        report_raise(tx);
        return COMPILE_ERROR;
    }
    if (p->options
            ->fullgraph) /* an entry up to the raise would be half a graph to calls that do not raise */
        return COMPILE_SKIP;
    return finish(tx, p, NULL, a, out);
}

static CompileResult attempt(Tx *tx, Point *p, PyFunctionObject *func,
                             PyObject *const *slots, int nslots, PyObject *exc, Again *a,
                             Entry **out)
{
    Status st = attach();
    if (st == ST_OK)
        st = tx_init(tx);
    tx->ways = a->ways;
    if (st == ST_OK)
        st = begin(tx, p, func, slots, nslots, exc);
    if (st == ST_OK && a->at) {
        tx->break_at = a->at;
        tx->why = &a->why;
        a->at = 0;
    }
    if (st == ST_OK)
        return run(tx, p, a, out);
    if (st == ST_BREAK && tx->root == NULL) {
        tx->brk.co = p->co;
        tx->brk.line = p->co->co_firstlineno;
    }
    if (st == ST_BREAK && tx->root == NULL && !p->options->fullgraph) {
        report_break(tx);
        return COMPILE_PLAIN;
    }
    if (st == ST_BREAK)
        report_raise(tx);
    return COMPILE_ERROR;
}

/* Turns of loops that may be traced in vain before a code's points are compiled no more: some loops given up, or long traces
 * made again and again. Of work that was given up before it was done, no more counts than a trace does at the most. */
enum { MOST_WASTED = 3000000 };

static bool spent(const Point *p)
{
    return p->table->wasted > MOST_WASTED && !p->options->fullgraph;
}

/* What was traced since the last operation is lost if the trace is made once more, came to no graph or was given up in a loop. */
static void count_waste(Tx *tx, Point *p, bool once_more, CompileResult r)
{
    bool given_up = r != COMPILE_ERROR && tx->brk.id == BRK_LOOP_BUDGET;
    if (!once_more && !given_up && r != COMPILE_NOTHING)
        return;
    bool before = spent(p);
    p->table->wasted += tx->idle < IDLE_BUDGET ? tx->idle : IDLE_BUDGET;
    if (spent(p) && !before && tx->root != NULL) {
        graph_break(tx, BRK_SPENT, "in %U", p->co->co_qualname);
        report_break(tx);
    }
}

CompileResult compile_point(Point *p, PyFunctionObject *func, PyObject *const *slots,
                            int nslots, PyObject *exc, Entry **out)
{
    Tx tx = { 0 };
    *out = NULL;
    if (p->at == 0 && !p->options->fullgraph && !switches.capture_without_tensors &&
        !touch_possible(func, slots, nslots))
        return COMPILE_SKIP;
    if (spent(p))
        return COMPILE_PLAIN;
    if (p->entries && p->entries->guards) {
        PyObject *why =
            guards_why(p->entries->guards, (PyObject *)func, slots, nslots, exc);
        if (why == NULL)
            PyErr_Clear();
        report_miss(p->co, why);
        Py_XDECREF(why);
    }
    Again more = { 0 };
    CompileResult r;
    bool once_more;
    do {
        r = attempt(&tx, p, func, slots, nslots, exc, &more, out);
        report_steps(tx.steps);
        cache_settle(&tx, r == COMPILE_DONE && !more.at);
        once_more = more.at || r == COMPILE_AGAIN;
        count_waste(&tx, p, once_more, r);
        tx_free(&tx);
    } while (once_more);
    mem_free(more.why.text);
    if (r == COMPILE_ERROR && PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear(); /* the program may well have the memory that its trace has not */
        r = COMPILE_PLAIN;
    }
    return r;
}

static Status trace_late(Tx *tx, Point *p, PyFunctionObject *func, PyObject *const *slots,
                         int nslots, PyObject *exc, const GraphFailure *f, Entry **out)
{
    Var *value = NULL;
    TRY(tx_init(tx));
    tx->late = f;
    tx->ways = f->ways;
    TRY(begin(tx, p, func, slots, nslots, exc));
    tx->break_at = 0;
    Status st = trace(tx, &value);
    /* Another way than the graph's, or a break that went back over what cannot be undone: there is no state to be made. */
    if (st != ST_BREAK || tx->brk.cut || tx->modes || tx->changed != tx->changed_late)
        return st == ST_ERROR ? ST_ERROR : ST_DECLINE;
    return emit_entry(tx, p, NULL, out);
}

CompileResult compile_late(Point *p, PyFunctionObject *func, PyObject *const *slots,
                           int nslots, PyObject *exc, const GraphFailure *f, Entry **out)
{
    Tx tx;
    *out = NULL;
    memset(&tx, 0, sizeof tx);
    Status st = trace_late(&tx, p, func, slots, nslots, exc, f, out);
    cache_settle(&tx, st == ST_OK);
    tx_free(&tx);
    return st == ST_OK ? COMPILE_DONE : st == ST_ERROR ? COMPILE_ERROR : COMPILE_PLAIN;
}

/* By logging, not by a warning: programs record warnings, and would see one that plain Python does not give. */
static void tell(PyObject *text)
{
    PyObject *logging = text ? PyImport_ImportModule("logging") : NULL;
    PyObject *logger =
        logging ? PyObject_CallMethod(logging, "getLogger", "s", "jedlik") : NULL;
    PyObject *r =
        logger ? PyObject_CallMethod(logger, "warning", "sO", "%s", text) : NULL;
    if (r == NULL)
        PyErr_WriteUnraisable(NULL);
    Py_XDECREF(r);
    Py_XDECREF(logger);
    Py_XDECREF(logging);
}

void pipeline_limit(Point *p, PyFunctionObject *func, PyObject *const *slots, int nslots,
                    PyObject *exc)
{
    PyObject *why =
        p->entries ? guards_why(p->entries->guards, (PyObject *)func, slots, nslots, exc)
                   : NULL;
    PyObject *text = PyUnicode_FromFormat(
        "%U (%U:%d) reached its limit of %d compiled versions and runs plainly from now "
        "on; the guard that failed last: %S",
        p->co->co_qualname, p->co->co_filename, p->co->co_firstlineno, p->options->limit,
        why ? why : Py_None);
    tell(text);
    Py_XDECREF(text);
    PyErr_Clear();
    Py_XDECREF(why);
}
