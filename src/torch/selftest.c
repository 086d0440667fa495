/*
 * torch/selftest.c -- what tests see of src/torch and src/graph, as Python functions.
 *
 * Graphs come as lists of rows (kind, target, args, kwargs[, pure]); `Ref` arguments are one-item sets {i}.
 */
#include "guard/guard.h"
#include "torch/infer.h"
#include <time.h>

/* -- Metadata and ambient state ----------------------------------------------- */

static PyObject *attach(PyObject *self, PyObject *unused)
{
    return torch_attach() < 0 ? NULL : PyBool_FromLong(torch_layout.ok && ambient_fast);
}

static PyObject *ints(const int64_t *v, int n)
{
    PyObject *t = PyTuple_New(n);
    for (int i = 0; t && i < n; i++)
        PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(v[i]));
    return t;
}

static PyObject *meta(PyObject *self, PyObject *tensor)
{
    TensorMeta m;
    if (!meta_read(tensor, &m))
        Py_RETURN_NONE;
    return Py_BuildValue(
        "{s:K,s:i,s:i,s:i,s:N,s:N,s:N,s:N,s:L,s:L,s:K,s:N,s:N}", "keys", m.keys, "dtype",
        m.dtype, "device_type", m.device_type, "device_index", m.device_index,
        "requires_grad", PyBool_FromLong(m.requires_grad), "is_leaf",
        PyBool_FromLong(m.is_leaf), "has_grad_fn", PyBool_FromLong(m.has_grad_fn),
        "is_view", PyBool_FromLong(m.is_view), "numel", m.numel, "storage_offset",
        m.storage_offset, "storage", (unsigned long long)(uintptr_t)m.storage, "size",
        ints(m.sizes, m.ndim), "stride", ints(m.strides, m.ndim));
}

static PyObject *dtype(PyObject *self, PyObject *tensor)
{
    return Py_XNewRef(meta_dtype(tensor));
}

static PyObject *block_bytes(const void *p, size_t size)
{
    return p ? PyBytes_FromStringAndSize(p, (Py_ssize_t)size) : NULL;
}

static PyObject *tensor_block(PyObject *self, PyObject *tensor)
{
    Arena a;
    arena_init(&a);
    size_t size = 0;
    const void *p = meta_guard_block(&a, tensor, &size);
    PyObject *r = block_bytes(p, size);
    arena_free(&a);
    return r;
}

static PyObject *tensor_check(PyObject *self, PyObject *args)
{
    PyObject *tensor, *block;
    if (!PyArg_ParseTuple(args, "OS", &tensor, &block))
        return NULL;
    return PyBool_FromLong(guard_tensor_check(tensor, PyBytes_AS_STRING(block)));
}

static PyObject *tensor_why(PyObject *self, PyObject *args)
{
    PyObject *tensor, *block;
    if (!PyArg_ParseTuple(args, "OS", &tensor, &block))
        return NULL;
    return guard_tensor_why(tensor, PyBytes_AS_STRING(block));
}

static PyObject *ambient(PyObject *self, PyObject *unused)
{
    Arena a;
    arena_init(&a);
    size_t size = 0;
    const void *p = ambient_block(&a, &size);
    PyObject *r = block_bytes(p, size);
    arena_free(&a);
    return r;
}

static PyObject *ambient_check_(PyObject *self, PyObject *block)
{
    return PyBool_FromLong(guard_ambient_check(PyBytes_AS_STRING(block)));
}

static PyObject *tracable(PyObject *self, PyObject *unused)
{
    const char *why;
    if (ambient_tracable(&why))
        Py_RETURN_NONE;
    return PyUnicode_FromString(why);
}

/* -- Classes ------------------------------------------------------------------- */

/* "node factory pure" */
static PyObject *op_text(TorchOp op)
{
    static const char *const classes[] = { "none", "node", "const", "break", "special" };
    Text t = { 0 };
    text_put(&t, "%s", classes[op.cls]);
    const struct {
        bool on;
        const char *name;
    } flags[] = {
        { op.factory, "factory" }, { op.random, "random" },
        { op.mutates, "mutates" }, { op.may_alias, "alias" },
        { op.view, "view" },       { op.syncs, "syncs" },
        { op.user, "user" },       { op.structured, "structured" },
        { op.pure, "pure" },
    };
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (flags[i].on)
            text_put(&t, " %s", flags[i].name);
    return text_take(&t);
}

static PyObject *classify(PyObject *self, PyObject *o)
{
    return op_text(torch_classify(o));
}

static PyObject *classify_method(PyObject *self, PyObject *name)
{
    return op_text(torch_classify_method(name));
}

static PyObject *classify_attr(PyObject *self, PyObject *name)
{
    return op_text(torch_classify_attr(name));
}

/* -- Inference ------------------------------------------------------------------ */

static PyObject *twin(PyObject *self, PyObject *tensor)
{
    PyObject *r = infer_twin(tensor);
    return r || PyErr_Occurred() ? r : Py_NewRef(Py_None);
}

/* infer(target, args, kwargs, device, grad) -> ("ok", result, device, bits of what is unsure), ("raise", exception), ("decline",) */
static PyObject *infer(PyObject *self, PyObject *a)
{
    PyObject *target, *args, *kwargs, *device, *v[32], *names = NULL, *k, *x;
    int grad;
    if (!PyArg_ParseTuple(a, "OO!O!Op", &target, &PyTuple_Type, &args, &PyDict_Type,
                          &kwargs, &device, &grad))
        return NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(args), nkw = 0, at = 0;
    for (Py_ssize_t i = 0; i < n && i < 24; i++)
        v[i] = PyTuple_GET_ITEM(args, i);
    names = PyTuple_New(PyDict_GET_SIZE(kwargs));
    while (names && PyDict_Next(kwargs, &at, &k, &x)) {
        v[n + nkw] = x;
        PyTuple_SET_ITEM(names, nkw++, Py_NewRef(k));
    }
    InferCall c = { .kind = PyUnicode_Check(target) ? NODE_METHOD : NODE_FUNCTION,
                    .target = target,
                    .args = v,
                    .nargs = n,
                    .kwnames = nkw ? names : NULL,
                    .device = device == Py_None ? NULL : device,
                    .grad = grad };
    PyObject *out, *where;
    Status st = infer_call(&c, &out, &where);
    Py_XDECREF(names);
    if (st == ST_OK)
        return Py_BuildValue("(sNON)", "ok", out, where ? where : Py_None,
                             PyLong_FromUnsignedLong(c.unsure));
    if (st == ST_RAISE) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
        return Py_BuildValue("(sN)", "raise", value);
    }
    return st == ST_DECLINE ? Py_BuildValue("(s)", "decline") : NULL;
}

static PyObject *by_rule(PyObject *self, PyObject *unused)
{
    return PyLong_FromUnsignedLongLong(infer_by_rule);
}

/* Names of all shape rules. */
static PyObject *rule_names(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    for (int i = 1; list && rules_name(i); i++) {
        PyObject *name = PyUnicode_FromString(rules_name(i));
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *use_rules(PyObject *self, PyObject *on)
{
    infer_use_rules(PyObject_IsTrue(on) == 1);
    Py_RETURN_NONE;
}

/* -- Graphs -------------------------------------------------------------------- */

typedef struct Built {
    Arena arena;
    Journal journal;
    Graph graph;
} Built;

static bool read_arg(Arena *a, PyObject *o, GArg *to);

static bool read_items(Arena *a, PyObject *fast, GArg *to)
{
    to->n = (uint32_t)PySequence_Fast_GET_SIZE(fast);
    to->items = arena_alloc(a, to->n * sizeof *to->items);
    for (uint32_t i = 0; to->items && i < to->n; i++)
        if (!read_arg(a, PySequence_Fast_GET_ITEM(fast, i), &to->items[i]))
            return false;
    return to->items != NULL;
}

static bool read_dict(Arena *a, PyObject *d, GArg *to)
{
    PyObject *flat = arena_hold(a, PyList_New(0)), *k, *v;
    Py_ssize_t at = 0;
    while (flat && PyDict_Next(d, &at, &k, &v))
        if (PyList_Append(flat, k) < 0 || PyList_Append(flat, v) < 0)
            return false;
    return flat && read_items(a, flat, to);
}

static bool read_arg(Arena *a, PyObject *o, GArg *to)
{
    to->tag = PyTuple_CheckExact(o)  ? GA_TUPLE
              : PyList_CheckExact(o) ? GA_LIST
              : PyDict_CheckExact(o) ? GA_DICT
              : PySlice_Check(o)     ? GA_SLICE
              : PySet_CheckExact(o)  ? GA_NODE
                                     : GA_CONST;
    if (to->tag == GA_TUPLE || to->tag == GA_LIST)
        return read_items(a, o, to);
    if (to->tag == GA_DICT)
        return read_dict(a, o, to);
    if (to->tag == GA_SLICE) {
        PySliceObject *s = (PySliceObject *)o;
        PyObject *three = arena_hold(a, PyTuple_Pack(3, s->start, s->stop, s->step));
        return three && read_items(a, three, to);
    }
    if (to->tag == GA_NODE) {
        PyObject *it = arena_hold(a, PySequence_Tuple(o));
        to->node = (uint32_t)PyLong_AsLong(PyTuple_GET_ITEM(it, 0));
        return !PyErr_Occurred();
    }
    to->obj = o;
    return true;
}

static bool read_call(Arena *a, PyObject *args, PyObject *kwargs, Node *n)
{
    GArg all = { 0 };
    PyObject *list = arena_hold(a, PySequence_List(args)), *k, *v;
    PyObject *names = arena_hold(a, PyList_New(0));
    Py_ssize_t at = 0;
    if (list == NULL || names == NULL)
        return false;
    n->nargs = (uint32_t)PyList_GET_SIZE(list);
    while (kwargs && PyDict_Next(kwargs, &at, &k, &v))
        if (PyList_Append(names, k) < 0 || PyList_Append(list, v) < 0)
            return false;
    n->nkw = (uint32_t)PyList_GET_SIZE(names);
    n->kwnames = arena_hold(a, PyList_AsTuple(names));
    if (n->kwnames == NULL || !read_items(a, list, &all))
        return false;
    n->args = all.items;
    return true;
}

static bool read_node(Built *b, PyObject *row)
{
    const char *kind;
    PyObject *target, *args = NULL, *kwargs = NULL;
    int pure = 1, mutates = 0;
    if (!PyArg_ParseTuple(row, "sO|OOpp", &kind, &target, &args, &kwargs, &pure, &mutates))
        return false;
    Node n = { .target = target, .pure = pure, .mutates = mutates };
    n.kind = *kind == 'i' ? NODE_INPUT : *kind == 'm' ? NODE_METHOD : NODE_FUNCTION;
    if (n.kind == NODE_INPUT) {
        n.example = target;
        n.src = arena_alloc(&b->arena, sizeof *n.src);
        n.src->index = (Py_ssize_t)b->graph.node.n;
    } else if (!read_call(&b->arena, args, kwargs, &n)) {
        return false;
    }
    uint32_t id;
    return graph_add(&b->graph, n, &id) == ST_OK;
}

static void built_free(Built *b)
{
    journal_free(&b->journal);
    arena_free(&b->arena);
}

static bool build(Built *b, PyObject *rows)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->arena);
    b->graph.arena = &b->arena;
    b->graph.journal = &b->journal;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++)
        if (!read_node(b, PyList_GET_ITEM(rows, i)))
            return false;
    return true;
}

static int read_outputs(PyObject *list, uint32_t *out, int max)
{
    int n = (int)PyList_GET_SIZE(list);
    for (int i = 0; i < n && i < max; i++)
        out[i] = (uint32_t)PyLong_AsLong(PyList_GET_ITEM(list, i));
    return n < max ? n : max;
}

enum { MAX_OUTPUTS = 64 };

/* graph_text(rows, outputs) -> text after pruning */
static PyObject *graph_text(PyObject *self, PyObject *args)
{
    PyObject *rows, *outs;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &rows, &PyList_Type, &outs))
        return NULL;
    Built b;
    uint32_t outputs[MAX_OUTPUTS];
    int n = read_outputs(outs, outputs, MAX_OUTPUTS);
    PyObject *r = NULL;
    if (build(&b, rows)) {
        Text t = { 0 };
        text_put(&t, "%d\n", graph_prune(&b.graph, outputs, n));
        graph_print(&t, &b.graph, outputs, n, NULL);
        r = text_take(&t);
    }
    built_free(&b);
    return r;
}

typedef PyObject *Make(const Graph *g, const uint32_t *outputs, int n);

static PyObject *made(PyObject *args, Make *make)
{
    PyObject *rows, *outs;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &rows, &PyList_Type, &outs))
        return NULL;
    Built b;
    uint32_t outputs[MAX_OUTPUTS];
    int n = read_outputs(outs, outputs, MAX_OUTPUTS);
    PyObject *r = NULL;
    if (build(&b, rows)) {
        graph_prune(&b.graph, outputs, n);
        r = make(&b.graph, outputs, n);
    }
    built_free(&b);
    return r;
}

static PyObject *make_fx(const Graph *g, const uint32_t *outputs, int n)
{
    return fx_build(g, outputs, n, NULL);
}

/* fx(rows, outputs) -> (torch.fx.Graph, example inputs) */
static PyObject *fx_graph(PyObject *self, PyObject *args)
{
    return made(args, make_fx);
}

/* function(rows, outputs) -> callable */
static PyObject *function(PyObject *self, PyObject *args)
{
    return made(args, fx_function);
}

/* hand_off(rows, outputs, backend) -> callable */
static PyObject *hand(PyObject *self, PyObject *args)
{
    PyObject *rows, *outs, *backend;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyList_Type, &rows, &PyList_Type, &outs,
                          &backend))
        return NULL;
    Built b;
    uint32_t outputs[MAX_OUTPUTS];
    int n = read_outputs(outs, outputs, MAX_OUTPUTS);
    PyObject *r = NULL;
    if (build(&b, rows)) {
        graph_prune(&b.graph, outputs, n);
        r = hand_off(&b.graph, outputs, n, backend, NULL);
    }
    built_free(&b);
    return r;
}

static PyObject *blocks(PyObject *self, PyObject *unused)
{
    return PyLong_FromSsize_t(mem_blocks);
}

PyMethodDef torch_selftest_methods[] = {
    { "torch_attach", attach, METH_NOARGS, NULL },
    { "torch_meta", meta, METH_O, NULL },
    { "torch_dtype", dtype, METH_O, NULL },
    { "torch_tensor_block", tensor_block, METH_O, NULL },
    { "torch_tensor_check", tensor_check, METH_VARARGS, NULL },
    { "torch_tensor_why", tensor_why, METH_VARARGS, NULL },
    { "torch_ambient", ambient, METH_NOARGS, NULL },
    { "torch_ambient_check", ambient_check_, METH_O, NULL },
    { "torch_tracable", tracable, METH_NOARGS, NULL },
    { "torch_classify", classify, METH_O, NULL },
    { "torch_classify_method", classify_method, METH_O, NULL },
    { "torch_classify_attr", classify_attr, METH_O, NULL },
    { "torch_twin", twin, METH_O, NULL },
    { "torch_infer", infer, METH_VARARGS, NULL },
    { "torch_rules", rule_names, METH_NOARGS, NULL },
    { "torch_by_rule", by_rule, METH_NOARGS, NULL },
    { "torch_use_rules", use_rules, METH_O, NULL },
    { "torch_graph_text", graph_text, METH_VARARGS, NULL },
    { "torch_fx", fx_graph, METH_VARARGS, NULL },
    { "torch_function", function, METH_VARARGS, NULL },
    { "torch_hand_off", hand, METH_VARARGS, NULL },
    { "torch_blocks", blocks, METH_NOARGS, NULL },
    { 0 },
};
