/*
 * builtin/register.c -- functions that Python has told the engine about.
 */
#include "builtin/register.h"

typedef enum { REG_GRAPH_OP, REG_INLINE, REG_DISABLE, REG_BREAK, REG_TRUE } RegKind;
static const char *const kinds[] = { "graph_op", "inline", "disable", "break", "true" };
static PyObject *registry; /* function -> int */

int register_add(PyObject *fn, const char *kind)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (strcmp(kind, kinds[i]) != 0)
            continue;
        if (registry == NULL && (registry = PyDict_New()) == NULL)
            return -1;
        PyObject *id = PyLong_FromVoidPtr(fn), *n = PyLong_FromSize_t(i);
        PyObject *row =
            id && n ? PyTuple_Pack(2, fn, n)
                    : NULL; /* keeps fn alive, so that its address stays its own */
        int r = row ? PyDict_SetItem(registry, id, row) : -1;
        Py_XDECREF(id);
        Py_XDECREF(n);
        Py_XDECREF(row);
        return r;
    }
    PyErr_Format(PyExc_ValueError,
                 "kind must be graph_op, inline, disable, break or true, not %s", kind);
    return -1;
}

static int kind_of(PyObject *fn)
{
    PyObject *id = registry ? PyLong_FromVoidPtr(fn) : NULL;
    PyObject *row = id ? PyDict_GetItem(registry, id) : NULL;
    Py_XDECREF(id);
    return row ? (int)PyLong_AsLong(PyTuple_GET_ITEM(row, 1)) : -1;
}

/* The set of addresses that torch.compiler.allow_in_graph() and its opposite fill; borrowed, NULL: nothing in it. */
static PyObject *torch_set(const char *name)
{
    PyObject *m =
        PyDict_GetItemString(PyImport_GetModuleDict(), "torch._dynamo.trace_rules");
    PyObject *holder =
        m && PyModule_Check(m) ? PyDict_GetItemString(PyModule_GetDict(m), name) : NULL;
    PyObject *ids = holder ? PyObject_GetAttrString(holder, "function_ids") : NULL;
    PyErr_Clear();
    Py_XDECREF(ids); /* the holder has it */
    return ids && PyAnySet_Check(ids) && PySet_GET_SIZE(ids) ? ids : NULL;
}

static bool torch_says(PyObject *fn, const char *name)
{
    PyObject *ids = torch_set(name), *id = ids ? PyLong_FromVoidPtr(fn) : NULL;
    int found = id ? PySet_Contains(ids, id) : 0;
    PyErr_Clear();
    Py_XDECREF(id);
    return found > 0;
}

bool register_knows(PyObject *fn)
{
    return kind_of(fn) >= 0 || torch_says(fn, "_allowed_callable_ids");
}

Status register_call(Tx *tx, PyObject *fn, const Args *a, Var **out)
{
    switch (kind_of(fn)) {
    case REG_GRAPH_OP:
        return torch_call(tx, fn, false,
                          (TorchOp){ .cls = TC_NODE, .user = true, .declared = true }, a,
                          out);
    case REG_DISABLE: return graph_break(tx, BRK_DISABLED, "%R", fn);
    case REG_BREAK: return graph_break(tx, BRK_ASKED, "%R", fn);
    case REG_TRUE: *out = tx->true_; return ST_OK;
    default:
        return torch_says(fn, "_allowed_callable_ids")
                   ? torch_call(
                         tx, fn, false,
                         (TorchOp){ .cls = TC_NODE, .user = true, .declared = true }, a,
                         out)
                   : ST_DECLINE;
    }
}
