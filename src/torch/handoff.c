/*
 * torch/handoff.c -- from the captured graph to the callable an entry holds.
 *
 * Takes: live nodes and a backend. Gives: for "eager" the runner itself; else what jedlik._handoff got from the backend,
 * in a wrapper that sees to it that every call gives a tuple of the right length.
 */
#include "torch/lib.h"
#include "torch/revert.h"
#include <structmember.h>

/* -- What a backend gave ------------------------------------------------------- */

typedef struct Compiled {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *target;
    PyObject *backend; /* for messages */
    Py_ssize_t noutputs;
    uint32_t nnumbers, *numbers; /* arguments that are given as tensors */
    Revert *revert; /* NULL: nothing is changed outside of the graph, or nothing raises */
} Compiled;

static PyObject *wrong_result(const Compiled *c, PyObject *r)
{
    if (PyTuple_Check(r) || PyList_Check(r))
        PyErr_Format(
            PyExc_RuntimeError,
            "the graph compiled by backend %R gave %zd values, it has %zd outputs",
            c->backend, Py_SIZE(r), c->noutputs);
    else
        PyErr_Format(
            PyExc_RuntimeError,
            "the graph compiled by backend %R gave a %s, not a tuple of %zd outputs",
            c->backend, Py_TYPE(r)->tp_name, c->noutputs);
    Py_DECREF(r);
    return NULL;
}

PyObject *fx_number(PyObject *number)
{
    static PyObject *make, *names, *dtypes[2];
    if (make == NULL) {
        dtypes[0] = torch_path("int64");
        dtypes[1] = torch_path("float64");
        names = Py_BuildValue("(ss)", "dtype", "device");
        make = dtypes[0] && dtypes[1] && names ? torch_path("scalar_tensor") : NULL;
        if (make == NULL)
            return NULL;
    }
    PyObject *args[] = { number, dtypes[PyFloat_CheckExact(number)], torch_py.cpu };
    return PyObject_Vectorcall(make, args, 1, names);
}

/* With tensors for numbers. An int beyond 64 bits is none: nothing has run yet. */
static PyObject *call_converting(const Compiled *c, PyObject *const *args, size_t nargs)
{
    PyObject **v = mem_alloc((nargs + 1) * sizeof *v), *r = NULL;
    uint32_t made = 0;
    if (v == NULL)
        return NULL;
    memcpy(v, args, nargs * sizeof *v);
    while (made < c->nnumbers && (r = fx_number(args[c->numbers[made]])))
        v[c->numbers[made++]] = r;
    if (made < c->nnumbers)
        fx_note_reverted(c);
    else
        r = PyObject_Vectorcall(c->target, v, nargs, NULL);
    while (made > 0)
        Py_DECREF(v[c->numbers[--made]]);
    mem_free(v);
    return r;
}

static PyObject *call_target(const Compiled *c, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames)
{
    if (__builtin_expect(c->nnumbers == 0, 1))
        return PyObject_Vectorcall(c->target, args, nargsf, kwnames);
    return call_converting(c, args, (size_t)PyVectorcall_NARGS(nargsf));
}

/* If the graph raises, its inputs are what they were before. */
static PyObject *call_reverting(const Compiled *c, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames)
{
    Saved *saved = revert_save(c->revert, args);
    if (saved == NULL) { /* nothing has run */
        fx_note_reverted(c);
        return NULL;
    }
    PyObject *r = call_target(c, args, nargsf, kwnames);
    if (r == NULL && revert_restore(c->revert, args, saved))
        fx_note_reverted(c);
    revert_forget(c->revert, saved);
    return r;
}

static PyObject *compiled_call(PyObject *self, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames)
{
    const Compiled *c = (Compiled *)self;
    PyObject *r = __builtin_expect(c->revert != NULL, 0)
                      ? call_reverting(c, args, nargsf, kwnames)
                      : call_target(c, args, nargsf, kwnames);
    if (r == NULL || (PyTuple_CheckExact(r) && PyTuple_GET_SIZE(r) == c->noutputs))
        return r;
    if (!(PyTuple_Check(r) || PyList_Check(r)) || Py_SIZE(r) != c->noutputs)
        return wrong_result(c, r);
    Py_SETREF(r, PySequence_Tuple(r));
    return r;
}

static int compiled_traverse(PyObject *self, visitproc visit, void *arg)
{
    Compiled *c = (Compiled *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(c->target);
    Py_VISIT(c->backend);
    return 0;
}

static int compiled_clear(PyObject *self)
{
    Compiled *c = (Compiled *)self;
    Py_CLEAR(c->target);
    Py_CLEAR(c->backend);
    return 0;
}

static void compiled_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    compiled_clear(self);
    mem_free(((Compiled *)self)->revert);
    mem_free(((Compiled *)self)->numbers);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef compiled_members[] = {
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(Compiled, vectorcall), READONLY, NULL },
    { "__wrapped__", T_OBJECT, offsetof(Compiled, target), READONLY, NULL },
    { 0 },
};

static PyType_Slot compiled_slots[] = {
    { Py_tp_dealloc, compiled_dealloc },
    { Py_tp_traverse, compiled_traverse },
    { Py_tp_clear, compiled_clear },
    { Py_tp_call, PyVectorcall_Call },
    { Py_tp_members, compiled_members },
    { Py_tp_doc, "What a backend made of a graph." },
    { 0 },
};

static PyType_Spec compiled_spec = {
    .name = "jedlik._engine.CompiledGraph",
    .basicsize = sizeof(Compiled),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = compiled_slots,
};

static PyTypeObject *compiled_type;

bool fx_reverts(PyObject *graph)
{
    return compiled_type && Py_IS_TYPE(graph, compiled_type) &&
           ((Compiled *)graph)->revert != NULL;
}

/* Whether the backend writes to the graph's inputs only when all else is done. */
static bool writes_late(PyObject *backend)
{
    PyObject *m = PyImport_ImportModule("jedlik._handoff");
    PyObject *r = m ? PyObject_CallMethod(m, "writes_late", "O", backend) : NULL;
    PyErr_Clear();
    Py_XDECREF(m);
    Py_XDECREF(r);
    return r == Py_True;
}

static int find_numbers(const Graph *g, Compiled *c)
{
    uint32_t arg = 0;
    c->numbers = mem_alloc((g->node.n + 1) * sizeof *c->numbers);
    for (size_t i = 0; c->numbers && i < g->node.n; i++) {
        const Node *n = &g->node.v[i];
        if (n->kind != NODE_INPUT || !n->live)
            continue;
        if (n->as_tensor)
            c->numbers[c->nnumbers++] = arg;
        arg++;
    }
    return c->numbers ? 0 : -1;
}

static PyObject *wrap(const Graph *g, PyObject *target, PyObject *backend, int noutputs)
{
    if (compiled_type == NULL &&
        (compiled_type = (PyTypeObject *)PyType_FromSpec(&compiled_spec)) == NULL)
        return NULL;
    Compiled *c = (Compiled *)compiled_type->tp_alloc(compiled_type, 0);
    if (c == NULL)
        return NULL;
    c->vectorcall = compiled_call;
    c->target = Py_NewRef(target);
    c->backend = Py_NewRef(backend);
    c->noutputs = noutputs;
    if (find_numbers(g, c) < 0)
        Py_CLEAR(c);
    else if (revert_plan(g, writes_late(backend), &c->revert) < 0)
        Py_CLEAR(c);
    return (PyObject *)c;
}

/* -- The hand-off -------------------------------------------------------------- */

/* jedlik._backends.eager, by identity: the graph runs as it was captured. */
bool hand_off_own(PyObject *backend)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), "jedlik._backends");
    PyObject *eager = m ? PyObject_GetAttrString(m, "eager") : NULL;
    bool yes = eager == backend;
    PyErr_Clear();
    Py_XDECREF(eager);
    return yes;
}

static PyObject *ask(const char *module, const char *name, PyObject *arg)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *r = m ? PyObject_CallMethod(m, name, "O", arg) : NULL;
    Py_XDECREF(m);
    return r;
}

bool hand_off_replays(PyObject *backend)
{
    if (hand_off_own(backend))
        return true;
    PyObject *compiler = ask("jedlik._handoff", "is_torch_compiler", backend);
    PyErr_Clear();
    Py_XDECREF(compiler);
    return compiler == Py_False;
}

bool hand_off_refused(void)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    PyErr_NormalizeException(&type, &value, &tb);
    PyObject *yes = value ? ask("jedlik._nodes", "is_out_of_graph", value) : NULL;
    PyErr_Clear();
    PyErr_Restore(type, value, tb);
    Py_XDECREF(yes);
    return yes == Py_True;
}

static PyObject *ask_backend(PyObject *pair, PyObject *backend, PyObject *runner)
{
    PyObject *m = PyImport_ImportModule("jedlik._handoff");
    PyObject *r =
        m ? PyObject_CallMethod(m, "compile_graph", "OOOO", PyTuple_GET_ITEM(pair, 0),
                                PyTuple_GET_ITEM(pair, 1), backend, runner)
          : NULL;
    Py_XDECREF(m);
    return r;
}

PyObject *hand_off(const Graph *g, const uint32_t *outputs, int noutputs,
                   PyObject *backend, PyObject *slot_names)
{
    PyObject *runner = fx_function(g, outputs, noutputs);
    if (runner == NULL || hand_off_own(backend))
        return runner;
    uint8_t switches = graph_switches(g);
    AmbientSaved before;
    if (switches) /* who traces a graph goes through them, and stays where the last one led */
        ambient_save(&before, switches);
    PyObject *pair = fx_build(g, outputs, noutputs, slot_names);
    PyObject *target = pair ? ask_backend(pair, backend, runner) : NULL;
    if (switches)
        ambient_restore(&before);
    PyObject *r = target == NULL     ? NULL
                  : target == runner ? Py_NewRef(runner)
                                     : wrap(g, target, backend, noutputs);
    Py_XDECREF(target);
    Py_XDECREF(pair);
    Py_DECREF(runner);
    return r;
}
