/*
 * graph/print.c -- the graph as text: "v1 = torch.sin v0", live nodes only, one a line.
 *
 * The same text is what golden tests compare, so it has no addresses, and live nodes are
 * numbered in order whatever died between them. Runs no user code: names are read from
 * functions, types and torch's own objects only.
 */
#include "graph/graph.h"

typedef struct Printer {
    Text *t;
    const Graph *g;
    uint32_t *number; /* of a node among the live ones */
    PyObject *slot_names;
} Printer;

/* -- Targets ---------------------------------------------------------------- */

/* Modules whose real name is not the one people write. */
static const struct {
    const char *real, *shown;
} shown_module[] = {
    { "_operator", "operator" },
    { "builtins", "" },
    { "torch._C._fft", "torch.fft" },
    { "torch._C._linalg", "torch.linalg" },
    { "torch._C._special", "torch.special" },
};

static const char *str_attr(PyObject *o, const char *name, PyObject **held)
{
    *held = PyObject_GetAttrString(o, name);
    const char *s = *held && PyUnicode_Check(*held) ? PyUnicode_AsUTF8(*held) : NULL;
    if (s == NULL)
        PyErr_Clear();
    return s;
}

static void put_module(Text *t, const char *module)
{
    for (size_t i = 0; i < COUNT_OF(shown_module); i++)
        if (strcmp(module, shown_module[i].real) == 0)
            module = shown_module[i].shown;
    if (strncmp(module, "torch._ops.", 11) == 0)
        text_put(t, "torch.ops.%s.", module + 11);
    else if (*module)
        text_put(t, "%s.", module);
}

/* special_erf of torch._C._special is torch.special.erf. */
static const char *strip_prefix(const char *module, const char *name)
{
    static const struct {
        const char *module, *prefix;
    } rows[] = {
        { "torch._C._fft", "fft_" },
        { "torch._C._linalg", "linalg_" },
        { "torch._C._special", "special_" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = strlen(rows[i].prefix);
        if (strcmp(module, rows[i].module) == 0 && strncmp(name, rows[i].prefix, n) == 0)
            return name + n;
    }
    return name;
}

static bool has_names(PyObject *o)
{
    const char *type = Py_TYPE(o)->tp_name;
    return PyCFunction_Check(o) || PyFunction_Check(o) || PyType_Check(o) ||
           strcmp(type, "OpOverload") == 0 || strcmp(type, "OpOverloadPacket") == 0;
}

static void put_function(Text *t, PyObject *f)
{
    if (!has_names(f)) {
        text_repr(t, f);
        return;
    }
    PyObject *held_module, *held_name;
    const char *module = str_attr(f, "__module__", &held_module);
    const char *name =
        str_attr(f, PyFunction_Check(f) ? "__qualname__" : "__name__", &held_name);
    PyObject *self = PyCFunction_Check(f) ? PyCFunction_GET_SELF(f) : NULL;
    if (module == NULL && self && PyType_Check(self))
        module = "torch"; /* torch._C._VariableFunctions */
    if (name == NULL)
        name = "?";
    if (module)
        put_module(t, module);
    text_put(t, "%s", module ? strip_prefix(module, name) : name);
    Py_XDECREF(held_module);
    Py_XDECREF(held_name);
}

/* -- Arguments -------------------------------------------------------------- */

static bool torch_constant(PyObject *o)
{
    static const char *const names[] = {
        "torch.dtype",         "torch.device", "torch.layout",
        "torch.memory_format", "torch.Size",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(Py_TYPE(o)->tp_name, names[i]) == 0)
            return true;
    return false;
}

static void put_const(Text *t, PyObject *o)
{
    if (PyCallable_Check(o) && has_names(o)) {
        put_function(t, o);
        return;
    }
    PyObject *r = torch_constant(o) ? PyObject_Repr(o) : NULL;
    if (r)
        text_put(t, "%s", PyUnicode_AsUTF8(r));
    else
        text_repr(t, o);
    PyErr_Clear();
    Py_XDECREF(r);
}

static void put_arg(Printer *p, const GArg *a);

static void put_items(Printer *p, const GArg *a, const char *open, const char *close)
{
    text_put(p->t, "%s", open);
    for (uint32_t i = 0; i < a->n; i++) {
        bool value = a->tag == GA_DICT && i % 2;
        text_put(p->t, "%s", i == 0 ? "" : value ? ": " : ", ");
        put_arg(p, &a->items[i]);
    }
    text_put(p->t, "%s", close);
}

static void put_slice(Printer *p, const GArg *a)
{
    for (int i = 0; i < 3; i++) {
        bool none = a->items[i].tag == GA_CONST && a->items[i].obj == Py_None;
        if (i == 2 && none)
            return;
        if (i)
            text_put(p->t, ":");
        if (!none)
            put_arg(p, &a->items[i]);
    }
}

static void put_arg(Printer *p, const GArg *a)
{
    switch (a->tag) {
    case GA_CONST: put_const(p->t, a->obj); break;
    case GA_NODE: text_put(p->t, "v%u", p->number[a->node]); break;
    case GA_TUPLE: put_items(p, a, "(", a->n == 1 ? ",)" : ")"); break;
    case GA_LIST: put_items(p, a, "[", "]"); break;
    case GA_DICT: put_items(p, a, "{", "}"); break;
    case GA_SLICE: put_slice(p, a); break;
    }
}

/* -- Nodes ------------------------------------------------------------------ */

static void put_node(Printer *p, const Node *n)
{
    if (n->kind == NODE_INPUT) {
        text_put(p->t, n->expr ? "input a number" : "input ");
        if (n->src)
            source_print(p->t, n->src, p->slot_names);
        return;
    }
    if (n->kind == NODE_METHOD)
        text_put(p->t, ".%s", PyUnicode_AsUTF8(n->target));
    else
        put_function(p->t, n->target);
    for (uint32_t i = 0; i < n->nargs; i++) {
        text_put(p->t, " ");
        put_arg(p, &n->args[i]);
    }
    for (uint32_t i = 0; i < n->nkw; i++) {
        PyObject *name = PyTuple_GET_ITEM(n->kwnames, i);
        text_put(p->t, " %s=", PyUnicode_AsUTF8(name));
        put_arg(p, &n->args[n->nargs + i]);
    }
}

void graph_print(Text *t, const Graph *g, const uint32_t *outputs, int noutputs,
                 PyObject *slot_names)
{
    Printer p = { t, g, mem_alloc(g->node.n * sizeof *p.number), slot_names };
    if (p.number == NULL) {
        PyErr_Clear();
        t->failed = true;
        return;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < g->node.n; i++) {
        if (!g->node.v[i].live)
            continue;
        p.number[i] = next;
        text_put(t, "v%u = ", next++);
        put_node(&p, &g->node.v[i]);
        text_put(t, "\n");
    }
    text_put(t, "return");
    for (int i = 0; i < noutputs; i++)
        text_put(t, " v%u", p.number[outputs[i]]);
    text_put(t, "\n");
    mem_free(p.number);
}
