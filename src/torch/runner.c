/*
 * torch/runner.c -- the captured graph as a callable of our own: what the "eager" backend comes to.
 *
 * Takes: live nodes. Gives: a callable whose positional arguments are the inputs and whose value is the tuple of outputs.
 * Holds: nodes run in order with the operations and arguments the program wrote; a value is dropped right after its
 * last use, as in the program; nothing of torch.fx is involved, and no frame is pushed.
 */
#include "torch/failure.h"
#include "torch/lib.h"
#include "torch/revert.h"
#include <structmember.h>

typedef enum { ARG_REG, ARG_CONST, ARG_TREE } ArgTag;

typedef struct Arg {
    ArgTag tag;
    uint32_t at; /* register; index into consts; index into trees */
} Arg;

typedef enum { STEP_CALL, STEP_METHOD, STEP_UNARY, STEP_BINARY } StepKind;

typedef struct Step {
    StepKind kind;
    PyObject *target;  /* owned */
    PyObject *kwnames; /* owned or NULL */
    union {
        unaryfunc unary;
        binaryfunc binary;
    };
    uint32_t reg, arg, nargs, nkw; /* result; args[arg …) */
    uint32_t drop, ndrop;          /* drops[drop …): registers that die here */
} Step;

typedef struct Runner {
    PyObject_HEAD vectorcallfunc vectorcall;
    uint32_t ninputs, nregs, nsteps, noutputs, nargs, nconsts, ntrees, ndrops;
    Step *steps;
    Arg *args;
    PyObject **consts; /* owned */
    GArg *trees; /* items are blocks of their own; constants owned, nodes are registers */
    uint32_t *drops, *outputs;
    uint32_t keep; /* steps up to the last that may raise when there is no way back; 0: none */
    uint32_t clean;  /* steps before the first that changes something outside */
    uint32_t *nodes; /* register -> node of the trace */
} Runner;

/* -- Operators that need no call ----------------------------------------------- */

static PyObject *power(PyObject *a, PyObject *b)
{
    return PyNumber_Power(a, b, Py_None);
}

static PyObject *ipower(PyObject *a, PyObject *b)
{
    return PyNumber_InPlacePower(a, b, Py_None);
}

#define COMPARE(name, op)                                                                \
    static PyObject *name(PyObject *a, PyObject *b)                                      \
    {                                                                                    \
        return PyObject_RichCompare(a, b, op);                                           \
    }
COMPARE(less, Py_LT)
COMPARE(less_equal, Py_LE)
COMPARE(equal, Py_EQ)
COMPARE(not_equal, Py_NE)
COMPARE(greater, Py_GT)
COMPARE(greater_equal, Py_GE)
#undef COMPARE

static const struct {
    const char *name;
    binaryfunc binary;
    unaryfunc unary;
} operators[] = {
    { "add", PyNumber_Add, NULL },
    { "sub", PyNumber_Subtract, NULL },
    { "mul", PyNumber_Multiply, NULL },
    { "truediv", PyNumber_TrueDivide, NULL },
    { "floordiv", PyNumber_FloorDivide, NULL },
    { "mod", PyNumber_Remainder, NULL },
    { "pow", power, NULL },
    { "matmul", PyNumber_MatrixMultiply, NULL },
    { "and_", PyNumber_And, NULL },
    { "or_", PyNumber_Or, NULL },
    { "xor", PyNumber_Xor, NULL },
    { "lshift", PyNumber_Lshift, NULL },
    { "rshift", PyNumber_Rshift, NULL },
    { "iadd", PyNumber_InPlaceAdd, NULL },
    { "isub", PyNumber_InPlaceSubtract, NULL },
    { "imul", PyNumber_InPlaceMultiply, NULL },
    { "itruediv", PyNumber_InPlaceTrueDivide, NULL },
    { "ipow", ipower, NULL },
    { "iand", PyNumber_InPlaceAnd, NULL },
    { "ior", PyNumber_InPlaceOr, NULL },
    { "ixor", PyNumber_InPlaceXor, NULL },
    { "getitem", PyObject_GetItem, NULL },
    { "lt", less, NULL },
    { "le", less_equal, NULL },
    { "eq", equal, NULL },
    { "ne", not_equal, NULL },
    { "gt", greater, NULL },
    { "ge", greater_equal, NULL },
    { "neg", NULL, PyNumber_Negative },
    { "pos", NULL, PyNumber_Positive },
    { "invert", NULL, PyNumber_Invert },
    { "abs", NULL, PyNumber_Absolute },
};

/* operator's function -> index of its row + 1 */
static PyObject *operator_rows;

static int find_operators(void)
{
    PyObject *m = PyImport_ImportModule("operator"), *rows = m ? PyDict_New() : NULL;
    for (size_t i = 0; rows && i < COUNT_OF(operators); i++) {
        PyObject *f = PyObject_GetAttrString(m, operators[i].name),
                 *n = PyLong_FromSize_t(i);
        if (f == NULL || n == NULL || PyDict_SetItem(rows, f, n) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(f);
        Py_XDECREF(n);
    }
    Py_XDECREF(m);
    operator_rows = rows;
    return rows ? 0 : -1;
}

static void use_operator(Step *s)
{
    PyObject *row = PyCFunction_Check(s->target) && s->nkw == 0
                        ? PyDict_GetItemWithError(operator_rows, s->target)
                        : NULL;
    PyErr_Clear();
    if (row == NULL)
        return;
    size_t i = PyLong_AsSize_t(row);
    if (operators[i].binary && s->nargs == 2) {
        s->kind = STEP_BINARY;
        s->binary = operators[i].binary;
    } else if (operators[i].unary && s->nargs == 1) {
        s->kind = STEP_UNARY;
        s->unary = operators[i].unary;
    }
}

/* -- Running ------------------------------------------------------------------- */

static PyObject *tree_value(const GArg *t, PyObject **regs);

static PyObject *tree_items(const GArg *t, PyObject **regs)
{
    bool tuple = t->tag == GA_TUPLE;
    PyObject *r = tuple ? PyTuple_New(t->n) : PyList_New(t->n);
    for (uint32_t i = 0; r && i < t->n; i++) {
        PyObject *x = tree_value(&t->items[i], regs);
        if (x == NULL)
            Py_CLEAR(r);
        else if (tuple)
            PyTuple_SET_ITEM(r, i, x);
        else
            PyList_SET_ITEM(r, i, x);
    }
    return r;
}

static PyObject *tree_dict(const GArg *t, PyObject **regs)
{
    PyObject *r = PyDict_New();
    for (uint32_t i = 0; r && i + 1 < t->n; i += 2) {
        PyObject *x = tree_value(&t->items[i + 1], regs);
        if (x == NULL || PyDict_SetItem(r, t->items[i].obj, x) < 0)
            Py_CLEAR(r);
        Py_XDECREF(x);
    }
    return r;
}

static PyObject *tree_slice(const GArg *t, PyObject **regs)
{
    PyObject *s[3] = { 0 }, *r = NULL;
    for (int i = 0; i < 3; i++)
        s[i] = tree_value(&t->items[i], regs);
    if (s[0] && s[1] && s[2])
        r = PySlice_New(s[0], s[1], s[2]);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(s[i]);
    return r;
}

static PyObject *tree_value(const GArg *t, PyObject **regs)
{
    switch (t->tag) {
    case GA_CONST: return Py_NewRef(t->obj);
    case GA_NODE: return Py_NewRef(regs[t->node]);
    case GA_DICT: return tree_dict(t, regs);
    case GA_SLICE: return tree_slice(t, regs);
    default: return tree_items(t, regs);
    }
}

enum { FEW_ARGS = 16, FEW_REGS = 256 };

static PyObject *call_step(const Step *s, PyObject **v)
{
    switch (s->kind) {
    case STEP_BINARY: return s->binary(v[0], v[1]);
    case STEP_UNARY: return s->unary(v[0]);
    case STEP_METHOD:
        return PyObject_VectorcallMethod(
            s->target, v, s->nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, s->kwnames);
    case STEP_CALL: break;
    }
    return PyObject_Vectorcall(s->target, v, s->nargs | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               s->kwnames);
}

static PyObject *run_step(const Runner *r, const Step *s, PyObject **regs)
{
    PyObject *few[FEW_ARGS + 1], **v = few;
    uint32_t n = s->nargs + s->nkw, built = 0;
    if (n > FEW_ARGS && (v = mem_alloc((n + 1) * sizeof *v)) == NULL)
        return NULL;
    v++; /* room before the arguments, for the callee */
    PyObject *result = NULL, *own[FEW_ARGS], **held = own;
    if (n > FEW_ARGS && (held = mem_alloc(n * sizeof *held)) == NULL)
        goto done;
    for (uint32_t i = 0; i < n; i++) {
        const Arg *a = &r->args[s->arg + i];
        if (a->tag == ARG_REG)
            v[i] = regs[a->at];
        else if (a->tag == ARG_CONST)
            v[i] = r->consts[a->at];
        else if ((v[i] = held[built] = tree_value(&r->trees[a->at], regs)) == NULL)
            goto done;
        else
            built++;
    }
    result = call_step(s, v);
done:
    while (built > 0)
        Py_DECREF(held[--built]);
    if (n > FEW_ARGS) {
        mem_free(v - 1);
        mem_free(held == own ? NULL : held);
    }
    return result;
}

static PyObject *take_outputs(const Runner *r, PyObject **regs)
{
    PyObject *t = PyTuple_New(r->noutputs);
    for (uint32_t i = 0; t && i < r->noutputs; i++)
        PyTuple_SET_ITEM(t, i, Py_NewRef(regs[r->outputs[i]]));
    return t;
}

/* Of this thread's last run that failed, until somebody asks for it. */
static _Thread_local GraphFailure *failed;
static _Thread_local const Runner *failed_in;

static void note_failure(const Runner *r, uint32_t step, PyObject **regs)
{
    fx_failure_free(failed);
    failed_in = r;
    failed = mem_alloc(sizeof *failed);
    if (failed == NULL) { /* the exception alone would be raised in a wrong state */
        PyErr_NoMemory();
        return;
    }
    uint32_t n = r->nodes[r->steps[step].reg];
    *failed = (GraphFailure){ .node = n,
                              .n = n,
                              .values = mem_alloc(n * sizeof(PyObject *)),
                              .targets = mem_alloc(n * sizeof(PyObject *)) };
    if (failed->values == NULL || failed->targets == NULL) {
        fx_failure_free(failed);
        failed = NULL;
        PyErr_NoMemory();
        return;
    }
    memset(failed->values, 0, n * sizeof(PyObject *));
    memset(failed->targets, 0, n * sizeof(PyObject *));
    for (uint32_t i = 0; i < r->ninputs; i++)
        if (r->nodes[i] < n)
            failed->values[r->nodes[i]] = Py_NewRef(regs[i]);
    for (uint32_t i = 0; i < step; i++) {
        PyObject *v = regs[r->steps[i].reg];
        if (v && (torch_is_tensor(v) || PyTuple_Check(v) || PyList_Check(v)))
            failed->values[r->nodes[r->steps[i].reg]] = Py_NewRef(v);
        failed->targets[r->nodes[r->steps[i].reg]] = Py_NewRef(r->steps[i].target);
    }
}

GraphFailure *fx_failure(PyObject *graph)
{
    GraphFailure *f = failed;
    if (f == NULL || failed_in != (const Runner *)graph)
        return NULL;
    failed = NULL;
    return f;
}

static PyObject *run(const Runner *r, PyObject **regs)
{
    for (uint32_t i = 0; i < r->nsteps; i++) {
        const Step *s = &r->steps[i];
        if ((regs[s->reg] = run_step(r, s, regs)) == NULL) {
            if (i < r->clean)
                fx_note_reverted(r);
            else if (i < r->keep)
                note_failure(r, i, regs);
            return NULL;
        }
        for (uint32_t k = 0; k < s->ndrop; k++)
            Py_CLEAR(regs[r->drops[s->drop + k]]);
    }
    return take_outputs(r, regs);
}

static PyObject *runner_call(PyObject *self, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames)
{
    const Runner *r = (Runner *)self;
    if (PyVectorcall_NARGS(nargsf) != r->ninputs || (kwnames && PyTuple_GET_SIZE(kwnames)))
        return PyErr_Format(PyExc_TypeError,
                            "the compiled graph takes %u positional arguments",
                            r->ninputs);
    PyObject *few[FEW_REGS], **regs = few;
    if (r->nregs > FEW_REGS && (regs = mem_alloc(r->nregs * sizeof *regs)) == NULL)
        return NULL;
    if (regs == few)
        memset(regs, 0, r->nregs * sizeof *regs);
    Py_INCREF(self);
    for (uint32_t i = 0; i < r->ninputs; i++)
        regs[i] = Py_NewRef(args[i]);
    PyObject *result = run(r, regs);
    for (uint32_t i = r->nregs;
         i-- > 0;) /* modes that are still on go off from the inside */
        Py_XDECREF(regs[i]);
    if (regs != few)
        mem_free(regs);
    Py_DECREF(self);
    return result;
}

/* -- Building ------------------------------------------------------------------ */

/* Counts what a node needs. */
static void count_node(Runner *r, const Node *n)
{
    r->nargs += n->nargs + n->nkw;
    for (uint32_t i = 0; i < n->nargs + n->nkw; i++) {
        r->nconsts += n->args[i].tag == GA_CONST;
        r->ntrees += n->args[i].tag > GA_NODE;
    }
}

static bool copy_tree(GArg *to, const GArg *from, const uint32_t *reg)
{
    *to = (GArg){ .tag = from->tag, .n = from->n };
    if (from->tag == GA_CONST) {
        to->obj = Py_NewRef(from->obj);
        return true;
    }
    if (from->tag == GA_NODE) {
        to->node = reg[from->node];
        return true;
    }
    to->items = mem_alloc(from->n * sizeof *to->items);
    to->n = 0;
    for (uint32_t i = 0; to->items && i < from->n; i++) {
        to->n = i + 1;
        if (!copy_tree(&to->items[i], &from->items[i], reg))
            return false;
    }
    return to->items != NULL;
}

static void free_tree(GArg *t)
{
    if (t->tag == GA_CONST) {
        Py_XDECREF(t->obj);
    } else if (t->tag != GA_NODE) {
        for (uint32_t i = 0; t->items && i < t->n; i++)
            free_tree(&t->items[i]);
        mem_free(t->items);
    }
}

typedef struct Filling {
    Runner *r;
    uint32_t *reg; /* node -> register */
    uint32_t *
        last_use; /* register -> step + 1 of its last use; 0: never; UINT32_MAX: an output */
    uint32_t arg, constant, tree;
} Filling;

static void use_tree(Filling *f, const GArg *t, uint32_t step)
{
    if (t->tag == GA_NODE)
        f->last_use[f->reg[t->node]] = step + 1;
    else if (t->tag != GA_CONST)
        for (uint32_t i = 0; i < t->n; i++)
            use_tree(f, &t->items[i], step);
}

static bool fill_arg(Filling *f, const GArg *from, Arg *to, uint32_t step)
{
    Runner *r = f->r;
    use_tree(f, from, step);
    if (from->tag == GA_NODE) {
        *to = (Arg){ ARG_REG, f->reg[from->node] };
    } else if (from->tag == GA_CONST) {
        *to = (Arg){ ARG_CONST, f->constant };
        r->consts[f->constant++] = Py_NewRef(from->obj);
    } else {
        *to = (Arg){ ARG_TREE, f->tree };
        return copy_tree(&r->trees[f->tree++], from, f->reg);
    }
    return true;
}

static bool fill_step(Filling *f, const Node *n, uint32_t i)
{
    Step *s = &f->r->steps[i];
    *s = (Step){ .kind = n->kind == NODE_METHOD ? STEP_METHOD : STEP_CALL,
                 .target = Py_NewRef(n->target),
                 .kwnames = n->nkw ? Py_NewRef(n->kwnames) : NULL,
                 .reg = f->r->ninputs + i,
                 .arg = f->arg,
                 .nargs = n->nargs,
                 .nkw = n->nkw };
    if (s->kind == STEP_CALL)
        use_operator(s);
    for (uint32_t k = 0; k < n->nargs + n->nkw; k++)
        if (!fill_arg(f, &n->args[k], &f->r->args[f->arg++], i))
            return false;
    return true;
}

/* Registers that die after a step, by step. Inputs stay: the caller holds them anyway. */
static void fill_drops(Filling *f)
{
    Runner *r = f->r;
    for (uint32_t i = 0; i < r->nsteps; i++) {
        Step *s = &r->steps[i];
        if (f->last_use[s->reg] == 0)
            f->last_use[s->reg] = i + 1;
        if (f->last_use[s->reg] < r->keep)
            f->last_use[s->reg] = r->keep;
        if (f->last_use[s->reg] != UINT32_MAX)
            r->steps[f->last_use[s->reg] - 1].ndrop++;
    }
    for (uint32_t i = 0; i < r->nsteps; i++) {
        r->steps[i].drop = r->ndrops;
        r->ndrops += r->steps[i].ndrop;
        r->steps[i].ndrop = 0;
    }
    for (uint32_t i = 0; i < r->nsteps; i++) {
        uint32_t reg = r->steps[i].reg, end = f->last_use[reg];
        if (end != UINT32_MAX)
            r->drops[r->steps[end - 1].drop + r->steps[end - 1].ndrop++] = reg;
    }
}

static bool reserve(Runner *r, const Graph *g, int noutputs)
{
    for (size_t i = 0; i < g->node.n; i++) {
        const Node *n = &g->node.v[i];
        if (!n->live)
            continue;
        if (n->kind == NODE_INPUT) {
            r->ninputs++;
            continue;
        }
        r->nsteps++;
        count_node(r, n);
    }
    r->nregs = r->ninputs + r->nsteps;
    r->noutputs = (uint32_t)noutputs;
    r->steps = mem_alloc(r->nsteps * sizeof *r->steps);
    r->args = mem_alloc(r->nargs * sizeof *r->args);
    r->consts = mem_alloc(r->nconsts * sizeof *r->consts);
    r->trees = mem_alloc(r->ntrees * sizeof *r->trees);
    r->drops = mem_alloc(r->nsteps * sizeof *r->drops);
    r->outputs = mem_alloc(r->noutputs * sizeof *r->outputs);
    r->nodes = mem_alloc(r->nregs * sizeof *r->nodes);
    return r->nodes && r->steps && r->args && r->consts && r->trees && r->drops &&
           r->outputs;
}

static bool fill(Filling *f, const Graph *g, const uint32_t *outputs)
{
    Runner *r = f->r;
    uint32_t input = 0, step = 0;
    bool changed = false;
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live) {
            f->reg[i] = g->node.v[i].kind == NODE_INPUT ? input++ : r->ninputs + step++;
            r->nodes[f->reg[i]] = (uint32_t)i;
            if (i < g->keep)
                r->keep = step;
            changed |= g->node.v[i].mutates_input || g->node.v[i].open;
            if (!changed)
                r->clean = step;
        }
    step = 0;
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live && g->node.v[i].kind != NODE_INPUT &&
            !fill_step(f, &g->node.v[i], step++))
            return false;
    for (uint32_t i = 0; i < r->noutputs; i++) {
        r->outputs[i] = f->reg[outputs[i]];
        f->last_use[r->outputs[i]] = UINT32_MAX;
    }
    fill_drops(f);
    return true;
}

/* -- The type ------------------------------------------------------------------ */

static int runner_traverse(PyObject *self, visitproc visit, void *arg)
{
    Runner *r = (Runner *)self;
    Py_VISIT(Py_TYPE(self));
    for (uint32_t i = 0; r->steps && i < r->nsteps; i++)
        Py_VISIT(r->steps[i].target);
    for (uint32_t i = 0; r->consts && i < r->nconsts; i++)
        Py_VISIT(r->consts[i]);
    return 0;
}

static void runner_dealloc(PyObject *self)
{
    Runner *r = (Runner *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    for (uint32_t i = 0; r->steps && i < r->nsteps; i++) {
        Py_XDECREF(r->steps[i].target);
        Py_XDECREF(r->steps[i].kwnames);
    }
    for (uint32_t i = 0; r->consts && i < r->nconsts; i++)
        Py_XDECREF(r->consts[i]);
    for (uint32_t i = 0; r->trees && i < r->ntrees; i++)
        free_tree(&r->trees[i]);
    void *blocks[] = { r->steps, r->args,    r->consts, r->trees,
                       r->drops, r->outputs, r->nodes };
    for (size_t i = 0; i < COUNT_OF(blocks); i++)
        mem_free(blocks[i]);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef runner_members[] = {
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(Runner, vectorcall), READONLY, NULL },
    { 0 },
};

static PyType_Slot runner_slots[] = {
    { Py_tp_dealloc, runner_dealloc },
    { Py_tp_traverse, runner_traverse },
    { Py_tp_call, PyVectorcall_Call },
    { Py_tp_members, runner_members },
    { Py_tp_doc, "A captured graph, run as it was written." },
    { 0 },
};

static PyType_Spec runner_spec = {
    .name = "jedlik._engine.Graph",
    .basicsize = sizeof(Runner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = runner_slots,
};

static PyTypeObject *runner_type;

bool fx_keeps(PyObject *graph)
{
    return runner_type && Py_IS_TYPE(graph, runner_type) && ((Runner *)graph)->keep > 0;
}

PyObject *fx_function(const Graph *g, const uint32_t *outputs, int noutputs)
{
    if (operator_rows == NULL && find_operators() < 0)
        return NULL;
    if (runner_type == NULL &&
        (runner_type = (PyTypeObject *)PyType_FromSpec(&runner_spec)) == NULL)
        return NULL;
    Runner *r = (Runner *)runner_type->tp_alloc(runner_type, 0);
    if (r == NULL)
        return NULL;
    r->vectorcall = runner_call;
    Filling f = { .r = r };
    bool ok = reserve(r, g, noutputs);
    f.reg = ok ? mem_alloc(g->node.n * sizeof *f.reg) : NULL;
    f.last_use = f.reg ? mem_alloc(r->nregs * sizeof *f.last_use) : NULL;
    ok = f.last_use && fill(&f, g, outputs);
    mem_free(f.reg);
    mem_free(f.last_use);
    if (!ok)
        Py_CLEAR(r);
    return (PyObject *)r;
}
