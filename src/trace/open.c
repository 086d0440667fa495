/*
 * trace/open.c -- nodes that run the user's Python (rule 15): may they stand in this graph?
 *
 * Takes: what a node calls. Gives: yes, or a cut: the trace ends before it, and the next begins with it. Holds: a function that refers
 * to lists, dictionaries or instances, or stores to globals, may change or see what it can reach: none of that has been looked at in
 * the trace before it, nor is it looked at behind it, and no change of it is pending. One that reads numbers from globals may see
 * what is not written yet. What cannot be looked into stands behind no pending effects, and is else taken at its word: torch asks of
 * custom operators that they depend on their arguments alone. So are functions that the program lets stand in graphs.
 */
#include "torch/infer.h"
#include "trace/torchcall.h"
#include "var/consts.h"

typedef enum { STATE_NONE, STATE_READS, STATE_OPAQUE, STATE_KEEPS } State;

enum { MAX_DEPTH = 6, MAX_FUNCTIONS = 64 };

typedef struct Search {
    PyObject *seen[MAX_FUNCTIONS];
    int n;
    State worst;
    PyObject *name; /* what is kept, borrowed */
} Search;

static void note(Search *s, State state, PyObject *name)
{
    if (state <= s->worst)
        return;
    s->worst = state;
    s->name = name;
}

static void look_into(Search *s, PyObject *fn, int depth);

static bool of_library(PyObject *o)
{
    static const char *const known[] = { "torch", "triton", "numpy", "typing", "math" };
    const char *name = Py_TYPE(o)->tp_name;
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    if (module && PyUnicode_Check(module))
        name = PyUnicode_AsUTF8(module);
    bool yes = false;
    for (size_t i = 0; i < COUNT_OF(known) && !yes; i++) {
        size_t n = strlen(known[i]);
        yes = strncmp(name, known[i], n) == 0 && (name[n] == 0 || name[n] == '.');
    }
    PyErr_Clear();
    Py_XDECREF(module);
    return yes;
}

static void look_at(Search *s, PyObject *o, PyObject *name, int depth)
{
    if (PyFunction_Check(o))
        look_into(s, o, depth + 1);
    else if (const_immutable(o))
        note(s, STATE_READS, name);
    else if (!PyModule_Check(o) && !PyType_Check(o) && !PyCFunction_Check(o) &&
             !Py_IS_TYPE(o, &PyMethodDescr_Type) && !torch_is_tensor(o) && !of_library(o))
        note(s, STATE_KEEPS, name);
}

/* Stores to what is there before the call: globals, attributes, variables of the functions around. */
static bool keeps(const Code *c, const Ins *in)
{
    switch ((Op)in->op) {
    case OP_STORE_GLOBAL:
    case OP_DELETE_GLOBAL:
    case OP_STORE_ATTR:
    case OP_DELETE_ATTR: return true;
    case OP_STORE_DEREF:
    case OP_DELETE_DEREF: return c->kinds[in->arg] & SLOT_FREE;
    default: return false;
    }
}

static void look_at_code(Search *s, PyCodeObject *co, PyObject *globals, int depth)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(co->co_names); i++) {
        PyObject *name = PyTuple_GET_ITEM(co->co_names, i);
        PyObject *o = PyDict_GetItemWithError(globals, name); /* no user code: str */
        if (o)
            look_at(s, o, name, depth);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(co->co_consts); i++)
        if (PyCode_Check(PyTuple_GET_ITEM(co->co_consts, i)))
            look_at_code(s, (PyCodeObject *)PyTuple_GET_ITEM(co->co_consts, i), globals,
                         depth);
    const Code *c = code_of(co);
    if (c == NULL)
        PyErr_Clear();
    for (int i = 0; c && i < c->n; i++)
        if (keeps(c, &c->ins[i]))
            note(s, STATE_KEEPS, co->co_name);
}

static void look_into(Search *s, PyObject *fn, int depth)
{
    PyFunctionObject *f = (PyFunctionObject *)fn;
    for (int i = 0; i < s->n; i++)
        if (s->seen[i] == fn)
            return;
    if (infer_own(fn)) /* torch's */
        return;
    if (depth > MAX_DEPTH || s->n == MAX_FUNCTIONS) {
        note(s, STATE_OPAQUE, f->func_name);
        return;
    }
    s->seen[s->n++] = fn;
    look_at_code(s, (PyCodeObject *)f->func_code, f->func_globals, depth);
    PyObject *cells = f->func_closure;
    for (Py_ssize_t i = 0; cells && i < PyTuple_GET_SIZE(cells); i++) {
        PyObject *o = PyCell_GET(PyTuple_GET_ITEM(cells, i));
        if (o)
            look_at(s, o, f->func_name, depth);
    }
}

/* The Python functions of an operator that torch.library.custom_op has defined; NULL: it is another one. */
static PyObject *definition(PyObject *target)
{
    PyObject *defs = torch_path("_library.custom_ops.OPDEFS"), *found = NULL;
    static const char *const names[] = { "_qualname", "_qualified_op_name", "_name" };
    for (size_t i = 0; defs && i < COUNT_OF(names) && found == NULL; i++) {
        PyObject *name = PyObject_GetAttrString(target, names[i]);
        found = name && PyUnicode_Check(name)
                    ? PyObject_CallMethod(defs, "get", "O", name)
                    : NULL;
        PyErr_Clear();
        Py_XDECREF(name);
        if (found == Py_None)
            Py_CLEAR(found);
    }
    PyErr_Clear();
    Py_XDECREF(defs);
    return found;
}

/* Whether torch.library has a kernel in Python for "ns::op"; else it is all C++, which sees nothing of Python. */
static bool has_python_kernel(PyObject *target)
{
    static const char *const keys[] = { "CPU",
                                        "CUDA",
                                        "CompositeExplicitAutograd",
                                        "CompositeImplicitAutograd",
                                        "Autograd",
                                        "AutogradCPU",
                                        "AutogradCUDA" };
    static const char *const names[] = { "_qualified_op_name", "_name" };
    PyObject *impls = torch_path("library._impls");
    bool found = impls == NULL;
    for (size_t i = 0; !found && i < COUNT_OF(names); i++) {
        PyObject *full = PyObject_GetAttrString(target, names[i]);
        PyObject *path =
            full ? PyObject_CallMethod(full, "replace", "ss", "::", "/") : NULL;
        for (size_t k = 0; path && !found && k < COUNT_OF(keys); k++) {
            PyObject *key = PyUnicode_FromFormat("%U/%s", path, keys[k]);
            found = key == NULL || PySequence_Contains(impls, key) != 0;
            Py_XDECREF(key);
        }
        PyErr_Clear();
        Py_XDECREF(path);
        Py_XDECREF(full);
    }
    PyErr_Clear();
    Py_XDECREF(impls);
    return found;
}

/* The function in Python that an operator was made of; new reference, or NULL without exception. */
static PyObject *operator_function(PyObject *target)
{
    PyObject *def = definition(target);
    PyObject *fn = def ? PyObject_GetAttrString(def, "_init_fn") : NULL;
    if (fn && !PyFunction_Check(fn))
        Py_CLEAR(fn);
    PyErr_Clear();
    Py_XDECREF(def);
    return fn;
}

/* -- What they may change ------------------------------------------------------ */

/* An operator in Python that keeps state, standing in the graph. */
struct Opened {
    struct Opened *up;
    PyObject *function;
    PtrMap seen; /* what it may come across */
    bool endless;
};

static bool touches(const struct Opened *o, PyObject *obj)
{
    return (o->endless || ptrmap_get(&o->seen, obj, NULL)) && open_changeable(obj);
}

Status open_touch_slow(Tx *tx, PyObject *o)
{
    for (const struct Opened *at = tx->opened; at; at = at->up)
        if (touches(at, o))
            return graph_cut(tx, "a %s behind %S", Py_TYPE(o)->tp_name,
                             ((PyFunctionObject *)at->function)->func_name);
    return ST_OK;
}

/* Globals come with the functions, read or not. */
static bool unread(const Var *v)
{
    if (v->kind != &kind_dict)
        return false;
    const DictVar *d = (const DictVar *)v;
    return d->owner == NULL && !d->open && d->reads.n == 0 && !(v->src && v->src->asked);
}

/* Has the trace looked at what the operator may change? */
static bool known_already(Tx *tx, const struct Opened *o)
{
    const PtrMap *maps[] = { &tx->wrapped, &tx->types };
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
        void *key, *value;
        for (size_t at = 0; ptrmap_next(maps[i], &at, &key, &value);)
            if (touches(o, key) && (i > 0 || !unread(value)))
                return true;
    }
    return false;
}

static Status keep_state(Tx *tx, PyObject *function, PyObject *name)
{
    for (const struct Opened *at = tx->opened; at; at = at->up)
        if (at->function == function && tx->dirty.n == 0)
            return ST_OK;
    struct Opened *o = tx_alloc(tx, sizeof *o);
    bool changed;
    TRY_PTR(o);
    o->function = tx_keep(tx, function);
    TRY(open_reaches(tx, function, &o->seen, &changed, &o->endless));
    if ((changed && tx->dirty.n > 0) || tx->class_writes || known_already(tx, o))
        return graph_cut(tx, "%U, which refers to %S",
                         ((PyFunctionObject *)function)->func_name, name ? name : Py_None);
    o->up = tx->opened;
    SET(tx, tx->opened, o);
    return ST_OK;
}

/* -- May it stand here? -------------------------------------------------------- */

static Status pending(Tx *tx, PyObject *function)
{
    PtrMap seen = { 0 };
    bool changed = true, endless;
    if (tx->dirty.n == 0 && !tx->class_writes)
        return ST_OK;
    if (function && !tx->class_writes)
        TRY(open_reaches(tx, function, &seen, &changed, &endless));
    return changed ? graph_cut(tx, "%s", "an operator beside pending effects") : ST_OK;
}

Status open_check(Tx *tx, PyObject *target, bool declared)
{
    Search s = { .worst = STATE_NONE };
    PyObject *function = tx_keep(tx, PyFunction_Check(target) ? target : NULL);
    if (function == NULL)
        function = tx_hold(tx, operator_function(target));
    if (function)
        look_into(&s, function, 0);
    else if (has_python_kernel(target))
        note(&s, STATE_OPAQUE, NULL);
    if (s.worst == STATE_NONE)
        return ST_OK;
    if (s.worst == STATE_KEEPS && !(declared && PyFunction_Check(target)))
        return keep_state(tx, function, s.name);
    return pending(tx, s.worst == STATE_OPAQUE && function == NULL ? NULL : function);
}
