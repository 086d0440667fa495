/*
 * trace/open.c -- nodes that run the user's Python (rule 15): may they stand in a graph?
 *
 * Takes: what a node calls. Gives: yes, or a break. Holds: a function that refers to lists, dictionaries or instances, or stores to
 * globals, may change or see what the trace takes for known; one that reads numbers from globals may see what is not written yet.
 * What cannot be looked into breaks while effects are pending, and is else taken at its word: torch asks of custom operators that
 * they depend on their arguments alone.
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
        if (c->ins[i].op == OP_STORE_GLOBAL || c->ins[i].op == OP_DELETE_GLOBAL)
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

static void look_at_operator(Search *s, PyObject *target)
{
    PyObject *def = definition(target), *fn;
    fn = def ? PyObject_GetAttrString(def, "_init_fn") : NULL;
    if (fn && PyFunction_Check(fn))
        look_into(s, fn, 0);
    else if (has_python_kernel(target))
        note(s, STATE_OPAQUE, NULL);
    PyErr_Clear();
    Py_XDECREF(fn);
    Py_XDECREF(def);
}

Status open_check(Tx *tx, PyObject *target, bool declared, bool *stateless)
{
    Search s = { .worst = STATE_NONE };
    if (PyFunction_Check(target))
        look_into(&s, target, 0);
    else
        look_at_operator(&s, target);
    *stateless = s.worst <= STATE_READS;
    if (declared && PyFunction_Check(target) && !tx->class_writes) {
        bool seen =
            false; /* the program vouches for it, but for what is not written yet */
        if (s.worst != STATE_NONE && tx->dirty.n > 0)
            TRY(open_reaches(tx, target, &seen));
        if (!seen)
            return ST_OK;
    }
    if (s.worst == STATE_KEEPS)
        return graph_break(tx, BRK_SIDE_EFFECT, "an operator in Python that refers to %S",
                           s.name ? s.name : Py_None);
    if (s.worst != STATE_NONE && (tx->dirty.n > 0 || tx->class_writes))
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "an operator in Python, beside pending effects");
    return ST_OK;
}
