/*
 * report.c -- counts and events.
 *
 * Takes: what the pipeline did. Gives: dicts of plain values. Nothing here may fail a compile: errors are dropped.
 */
#include "report.h"

static PyObject *events;      /* list while explain() collects */
static PyObject *unsupported; /* exception class for fullgraph */
static struct {
    long long frames, graphs, ops, steps, longest, brk[BRK_COUNT];
    PyObject *recompiles;
} counts;
static uint32_t round_ = 1; /* of counting: one a reset() */

int report_init(void)
{
    counts.recompiles = PyList_New(0);
    return counts.recompiles ? 0 : -1;
}

/* -- Numbers ------------------------------------------------------------------ */

static int put(PyObject *d, const char *key, PyObject *steals)
{
    int r = steals ? PyDict_SetItemString(d, key, steals) : -1;
    Py_XDECREF(steals);
    return r;
}

static PyObject *breaks(void)
{
    PyObject *d = PyDict_New();
    for (int i = 0; i < BRK_COUNT && d; i++)
        if (counts.brk[i] &&
            put(d, break_table[i].name, PyLong_FromLongLong(counts.brk[i])) < 0)
            Py_CLEAR(d);
    return d;
}

PyObject *report_stats(void)
{
    PyObject *d = PyDict_New();
    if (d == NULL)
        return NULL;
    if (put(d, "frames", PyLong_FromLongLong(counts.frames)) < 0 ||
        put(d, "graphs", PyLong_FromLongLong(counts.graphs)) < 0 ||
        put(d, "ops", PyLong_FromLongLong(counts.ops)) < 0 ||
        put(d, "instructions", PyLong_FromLongLong(counts.steps)) < 0 ||
        put(d, "longest_trace", PyLong_FromLongLong(counts.longest)) < 0 ||
        put(d, "breaks", breaks()) < 0 ||
        put(d, "recompiles", PySequence_List(counts.recompiles)) < 0)
        Py_CLEAR(d);
    return d;
}

void report_reset(void)
{
    PyObject *list = counts.recompiles;
    memset(&counts, 0, sizeof counts);
    counts.recompiles = list;
    round_++;
    if (PyList_SetSlice(list, 0, PyList_GET_SIZE(list), NULL) < 0)
        PyErr_Clear();
}

/* -- Events ---------------------------------------------------------------------- */

PyObject *report_events(bool begin)
{
    PyObject *got = events;
    events = begin ? PyList_New(0) : NULL;
    if (!begin)
        return got ? got : PyList_New(0);
    Py_XDECREF(got);
    return events ? Py_NewRef(Py_None) : NULL;
}

static void event(PyObject *steals)
{
    if (steals == NULL || (events && PyList_Append(events, steals) < 0))
        PyErr_Clear();
    Py_XDECREF(steals);
}

static PyObject *place(PyCodeObject *co, int line)
{
    return co ? PyUnicode_FromFormat("%U:%d", co->co_filename, line)
              : PyUnicode_FromString("?");
}

void report_frame(PyCodeObject *co)
{
    const Code *code = code_of(co);
    if (code == NULL || code->lazy->counted == round_) {
        PyErr_Clear();
        return;
    }
    code->lazy->counted = round_;
    counts.frames++;
}

void report_steps(uint64_t steps)
{
    counts.steps += (long long)steps;
    if ((long long)steps > counts.longest)
        counts.longest = (long long)steps;
}

void report_graph(Tx *tx, int ops)
{
    counts.graphs++;
    counts.ops += ops;
    if (events)
        event(Py_BuildValue("{s:s,s:N,s:i}", "kind", "graph", "place",
                            place(tx->root->code->co, tx->root->code->co->co_firstlineno),
                            "ops", ops));
}

/* JEDLIK_DUMP=t: one line a break. */
static void tell_break(Tx *tx)
{
    const char *letters = getenv("JEDLIK_DUMP");
    if (letters == NULL || strchr(letters, 't') == NULL)
        return;
    PyObject *where = place(tx->brk.co, tx->brk.line);
    const BreakRow *row = &break_table[tx->brk.id];
    PySys_FormatStderr("jedlik: break %s at %S: %s: %s\n", row->name,
                       where ? where : Py_None, row->sentence, tx->brk.text);
    Py_XDECREF(where);
    PyErr_Clear();
}

void report_break(Tx *tx)
{
    const BreakRow *row = &break_table[tx->brk.id];
    counts.brk[tx->brk.id]++;
    tell_break(tx);
    if (events)
        event(Py_BuildValue("{s:s,s:N,s:N,s:s,s:s}", "kind", "break", "place",
                            place(tx->brk.co, tx->brk.line), "reason",
                            PyUnicode_FromFormat("%s: %s", row->sentence, tx->brk.text),
                            "hint", row->hint, "id", row->name));
}

void report_entry(Entry *e, PyCodeObject *co)
{
    if (events)
        event(Py_BuildValue(
            "{s:s,s:N,s:N}", "kind", "entry", "place", place(co, co->co_firstlineno),
            "guards", e->guards ? guards_text(e->guards) : PyUnicode_FromString("")));
}

void report_miss(PyCodeObject *co, PyObject *why)
{
    PyObject *text = why ? PyUnicode_FromFormat("%U: %S", co->co_qualname, why) : NULL;
    if (text == NULL || PyList_Append(counts.recompiles, text) < 0)
        PyErr_Clear();
    Py_XDECREF(text);
}

/* -- fullgraph ---------------------------------------------------------------------- */

int report_unsupported(PyObject *cls)
{
    Py_XSETREF(unsupported, Py_NewRef(cls));
    return 0;
}

static PyObject *put_frame(PyObject *list, PyCodeObject *co, int line)
{
    PyObject *row = Py_BuildValue("(OiO)", co->co_filename, line, co->co_name);
    if (row == NULL || PyList_Insert(list, 0, row) < 0)
        Py_CLEAR(list);
    Py_XDECREF(row);
    return list;
}

static PyObject *user_stack(Tx *tx)
{
    PyObject *list = PyList_New(0);
    if (tx->top == NULL && tx->brk.co && list) /* found before the trace or after it */
        list = put_frame(list, tx->brk.co, tx->brk.line);
    for (Frame *f = tx->top; f && list; f = f->up)
        list = put_frame(list, f->code->co, code_near_line(f->code, (int)f->cur));
    return list;
}

void report_raise(Tx *tx)
{
    const BreakRow *row = &break_table[tx->brk.id];
    PyObject *reason = PyUnicode_FromFormat("%s: %s", row->sentence, tx->brk.text);
    PyObject *stack = reason ? user_stack(tx) : NULL;
    PyObject *cls = unsupported ? unsupported : PyExc_RuntimeError;
    PyObject *exc = stack ? unsupported
                                ? PyObject_CallFunction(cls, "OsOs", reason, row->hint,
                                                        stack, row->name)
                                : PyObject_CallOneArg(cls, reason)
                          : NULL;
    if (exc)
        PyErr_SetObject((PyObject *)Py_TYPE(exc), exc);
    Py_XDECREF(exc);
    Py_XDECREF(stack);
    Py_XDECREF(reason);
}
