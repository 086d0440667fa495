/*
 * torch/fx.c -- the captured graph as a torch.fx.Graph, its Node objects made in C.
 *
 * Takes: live nodes. Gives: (graph, example inputs). Holds: the graph is one that torch.fx itself could have made: names
 * are unique identifiers in its namespace, users and the look-up table are complete, lint() passes. The fields used
 * are private to torch; if one is missing, nodes are made by Graph.create_node, which is slower.
 */
#include "torch/lib.h"

static struct {
    PyObject *graph_type;
    PyTypeObject *node_type, *node_base;
    PyObject *operator_pow, *pow; /* of the operator module; torch.pow */
    PyObject *update;             /* _NodeBase._update_args_kwargs */
    PyObject *ops[3]; /* by NodeKind: "placeholder", "call_function", "call_method" */
    PyObject *output, *stack_trace;
    bool ready, fast;
} fx;

/* -- Setup ------------------------------------------------------------------ */

static PyObject *import_from(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *o = m ? PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return o;
}

static int find_fx(void)
{
    static const char *const ops[] = { "placeholder", "call_function", "call_method" };
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if ((fx.ops[i] = PyUnicode_InternFromString(ops[i])) == NULL)
            return -1;
    fx.output = PyUnicode_InternFromString("output");
    fx.stack_trace = PyUnicode_InternFromString("stack_trace");
    fx.graph_type = import_from("torch.fx.graph", "Graph");
    fx.node_type = (PyTypeObject *)import_from("torch.fx.node", "Node");
    fx.operator_pow = import_from("operator", "pow");
    fx.pow = import_from("torch", "pow");
    if (!fx.operator_pow || !fx.pow || !fx.output || !fx.stack_trace || !fx.graph_type ||
        !fx.node_type)
        return -1;
    fx.node_base = (PyTypeObject *)import_from("torch._C", "_NodeBase");
    fx.update = fx.node_base ? PyObject_GetAttrString((PyObject *)fx.node_base,
                                                      "_update_args_kwargs")
                             : NULL;
    PyErr_Clear();
    fx.fast = fx.update && PyType_IsSubtype(fx.node_type, fx.node_base);
    fx.ready = true;
    return 0;
}

/* -- The graph being built ----------------------------------------------------- */

typedef struct Build {
    const Graph *g;
    PyObject *graph;   /* torch.fx.Graph */
    PyObject **made;   /* Node objects by node id, borrowed from the graph */
    PyObject *prepend; /* of the root node */
    PyObject *names, *used, *base_count, *obj_to_name, *table;
    PyObject *bases;  /* target -> base of its names */
    PyObject *traces; /* (code, line) -> text */
    PyObject *slot_names;
    Py_ssize_t n;
    bool fast;
} Build;

static PyObject *attr_of(PyObject *o, const char *first, const char *then)
{
    PyObject *a = PyObject_GetAttrString(o, first);
    PyObject *b = a && then ? PyObject_GetAttrString(a, then) : Py_XNewRef(a);
    Py_XDECREF(a);
    return b;
}

/* Private parts of the Graph; without them the slow way is taken. */
static void open_fast(Build *b)
{
    PyObject *root = PyObject_GetAttrString(b->graph, "_root");
    b->prepend = root ? PyObject_GetAttrString(root, "_prepend") : NULL;
    Py_XDECREF(root);
    b->names = attr_of(b->graph, "_graph_namespace", "create_name");
    b->used = attr_of(b->graph, "_graph_namespace", "_used_names");
    b->base_count = attr_of(b->graph, "_graph_namespace", "_base_count");
    b->obj_to_name = attr_of(b->graph, "_graph_namespace", "_obj_to_name");
    b->table = attr_of(b->graph, "_find_nodes_lookup_table", "table");
    PyObject *len = PyObject_GetAttrString(b->graph, "_len");
    b->fast = fx.fast && b->prepend && b->names && b->used && PySet_Check(b->used) &&
              b->base_count && PyDict_Check(b->base_count) && b->obj_to_name &&
              PyDict_Check(b->obj_to_name) && b->table && len && PyDict_Check(b->table);
    Py_XDECREF(len);
    PyErr_Clear();
}

static bool open_build(Build *b, const Graph *g, PyObject *slot_names)
{
    *b = (Build){ .g = g, .slot_names = slot_names };
    if (!fx.ready && find_fx() < 0)
        return false;
    b->graph = PyObject_CallNoArgs(fx.graph_type);
    b->bases = PyDict_New();
    b->traces = PyDict_New();
    b->made = mem_alloc(g->node.n * sizeof *b->made);
    if (!b->graph || !b->bases || !b->traces || !b->made)
        return false;
    open_fast(b);
    return true;
}

static void close_build(Build *b)
{
    PyObject *held[] = { b->prepend, b->names, b->used,   b->base_count, b->obj_to_name,
                         b->table,   b->bases, b->traces, b->graph };
    for (size_t i = 0; i < COUNT_OF(held); i++)
        Py_XDECREF(held[i]);
    mem_free(b->made);
}

/* -- Names -------------------------------------------------------------------- */

/* Identifier characters of a source's text: L['x'].weight -> L_x_weight. */
static PyObject *identifier(const char *text)
{
    char buf[200];
    size_t n = 0;
    bool gap = false;
    for (const char *p = text; *p && n + 2 < sizeof buf; p++) {
        bool good = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                    (*p >= '0' && *p <= '9');
        if (!good) {
            gap = n > 0;
            continue;
        }
        if (gap)
            buf[n++] = '_';
        gap = false;
        buf[n++] = *p;
    }
    if (gap)
        buf[n++] = '_';
    buf[n] = 0;
    return PyUnicode_FromFormat(n && (buf[0] < '0' || buf[0] > '9') ? "%s" : "L_%s", buf);
}

static PyObject *input_target(Build *b, const Node *n)
{
    Text t = { 0 };
    if (n->src == NULL)
        text_put(&t, "number_%u", (unsigned)(n - b->g->node.v));
    else
        source_print(&t, n->src, b->slot_names);
    PyObject *r = t.failed ? PyErr_NoMemory() : identifier(t.s ? t.s : "");
    text_free(&t);
    return r;
}

/* What torch.fx would start the name with: borrowed, remembered per target. */
static PyObject *base_name(Build *b, PyObject *target)
{
    PyObject *base = PyDict_GetItemWithError(b->bases, target);
    if (base || PyErr_Occurred())
        return base;
    base = PyObject_CallMethod(b->graph, "_target_to_str", "O", target);
    if (base == NULL || PyDict_SetItem(b->bases, target, base) < 0) {
        Py_XDECREF(base);
        return NULL;
    }
    Py_DECREF(base);
    return base;
}

static PyObject *first_name(Build *b, PyObject *base)
{
    PyObject *args[] = { base, Py_None };
    return PyObject_Vectorcall(b->names, args, 2, NULL);
}

/* As the namespace counts: the first use by itself, then base_1, base_2 …  New reference, noted as used. */
static PyObject *new_name(Build *b, PyObject *base)
{
    PyObject *count = PyDict_GetItemWithError(b->base_count, base);
    if (count == NULL)
        return PyErr_Occurred() ? NULL : first_name(b, base);
    long i = PyLong_AsLong(count);
    PyObject *name = NULL;
    int taken = 1;
    while (taken == 1) {
        Py_XSETREF(name, PyUnicode_FromFormat("%U_%ld", base, ++i));
        taken = name ? PySet_Contains(b->used, name) : -1;
    }
    PyObject *now = taken == 0 ? PyLong_FromLong(i) : NULL;
    if (now == NULL || PyDict_SetItem(b->base_count, base, now) < 0 ||
        PySet_Add(b->used, name) < 0)
        Py_CLEAR(name);
    Py_XDECREF(now);
    return name;
}

/* -- Arguments ------------------------------------------------------------------ */

static PyObject *value_of(Build *b, const GArg *a);

static PyObject *items_of(Build *b, const GArg *a)
{
    bool tuple = a->tag == GA_TUPLE;
    PyObject *r = tuple ? PyTuple_New(a->n) : PyList_New(a->n);
    for (uint32_t i = 0; r && i < a->n; i++) {
        PyObject *x = value_of(b, &a->items[i]);
        if (x == NULL)
            Py_CLEAR(r);
        else if (tuple)
            PyTuple_SET_ITEM(r, i, x);
        else
            PyList_SET_ITEM(r, i, x);
    }
    return r;
}

static PyObject *dict_of(Build *b, const GArg *a)
{
    PyObject *r = PyDict_New();
    for (uint32_t i = 0; r && i + 1 < a->n; i += 2) {
        PyObject *x = value_of(b, &a->items[i + 1]);
        if (x == NULL || PyDict_SetItem(r, a->items[i].obj, x) < 0)
            Py_CLEAR(r);
        Py_XDECREF(x);
    }
    return r;
}

static PyObject *slice_of(Build *b, const GArg *a)
{
    PyObject *s[3] = { 0 }, *r = NULL;
    for (int i = 0; i < 3; i++)
        s[i] = value_of(b, &a->items[i]);
    if (s[0] && s[1] && s[2])
        r = PySlice_New(s[0], s[1], s[2]);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(s[i]);
    return r;
}

static PyObject *value_of(Build *b, const GArg *a)
{
    switch (a->tag) {
    case GA_CONST: return Py_NewRef(a->obj);
    case GA_NODE: return Py_NewRef(b->made[a->node]);
    case GA_DICT: return dict_of(b, a);
    case GA_SLICE: return slice_of(b, a);
    default: return items_of(b, a);
    }
}

static PyObject *args_of(Build *b, const Node *n)
{
    GArg all = { .tag = GA_TUPLE, .n = n->nargs, .items = n->args };
    return items_of(b, &all);
}

PyObject *fx_args(const Node *n, PyObject **made)
{
    Build b = { .made = made };
    return args_of(&b, n);
}

static PyObject *kwargs_of(Build *b, const Node *n)
{
    PyObject *r = PyDict_New();
    for (uint32_t i = 0; r && i < n->nkw; i++) {
        PyObject *x = value_of(b, &n->args[n->nargs + i]);
        if (x == NULL || PyDict_SetItem(r, PyTuple_GET_ITEM(n->kwnames, i), x) < 0)
            Py_CLEAR(r);
        Py_XDECREF(x);
    }
    return r;
}

PyObject *fx_kwargs(const Node *n, PyObject **made)
{
    Build b = { .made = made };
    return kwargs_of(&b, n);
}

/* -- Nodes ---------------------------------------------------------------------- */

/* graph._find_nodes_lookup_table.insert(node) */
static int note_in_table(Build *b, PyObject *op, PyObject *target, PyObject *node)
{
    PyObject *key = PyTuple_Pack(2, op, op == fx.ops[NODE_FUNCTION] ? target : Py_None);
    PyObject *row = key ? PyObject_GetItem(b->table, key) : NULL; /* a defaultdict */
    int r = row ? PyDict_SetItem(row, node, Py_None) : -1;
    Py_XDECREF(row);
    Py_XDECREF(key);
    return r;
}

static PyObject *make_node(PyObject *graph, PyObject *name, PyObject *op,
                           PyObject *target, PyObject *args, PyObject *kwargs)
{
    PyObject *none = PyTuple_New(0), *node = NULL, *done = NULL;
    PyObject *init = PyTuple_Pack(5, graph, name, op, target, Py_None);
    if (none && init)
        node = fx.node_type->tp_new(fx.node_type, none, NULL);
    if (node && fx.node_base->tp_init(node, init, NULL) < 0)
        Py_CLEAR(node);
    if (node) {
        PyObject *call[] = { node, args, kwargs };
        done = PyObject_Vectorcall(fx.update, call, 3, NULL);
        if (done == NULL)
            Py_CLEAR(node);
    }
    Py_XDECREF(done);
    Py_XDECREF(init);
    Py_XDECREF(none);
    return node;
}

static PyObject *add_fast(Build *b, PyObject *op, PyObject *target, PyObject *base,
                          PyObject *args, PyObject *kwargs)
{
    PyObject *name = new_name(b, base);
    PyObject *node = name ? make_node(b->graph, name, op, target, args, kwargs) : NULL;
    PyObject *linked = NULL;
    if (node && PyDict_SetItem(b->obj_to_name, node, name) == 0)
        linked = PyObject_CallOneArg(b->prepend, node);
    if (linked == NULL || note_in_table(b, op, target, node) < 0)
        Py_CLEAR(node);
    Py_XDECREF(linked);
    Py_XDECREF(name);
    b->n++;
    return node;
}

/* Steals args and kwargs. The graph owns the node; borrowed. */
static PyObject *add(Build *b, PyObject *op, PyObject *target, PyObject *base,
                     PyObject *args, PyObject *kwargs)
{
    PyObject *node = NULL;
    if (args && kwargs && base)
        node = b->fast ? add_fast(b, op, target, base, args, kwargs)
                       : PyObject_CallMethod(b->graph, "create_node", "OOOOO", op, target,
                                             args, kwargs, base);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(node);
    return node;
}

/* Where the node came from, one text for all nodes of a line. */
static int note_place(Build *b, PyObject *node, const Node *n)
{
    if (n->co == NULL)
        return 0;
    PyObject *key = Py_BuildValue("(Oi)", n->co, n->line);
    PyObject *text = key ? PyDict_GetItemWithError(b->traces, key) : NULL;
    if (key && text == NULL && !PyErr_Occurred()) {
        text = PyUnicode_FromFormat("  File \"%U\", line %d, in %U\n", n->co->co_filename,
                                    n->line, n->co->co_name);
        if (text && PyDict_SetItem(b->traces, key, text) < 0)
            Py_CLEAR(text);
        Py_XDECREF(text);
    }
    Py_XDECREF(key);
    PyObject *meta = text ? PyObject_GetAttrString(node, "meta") : NULL;
    int r = meta ? PyObject_SetItem(meta, fx.stack_trace, text) : -1;
    Py_XDECREF(meta);
    return r;
}

/* As stock marks what torch.utils.checkpoint wants computed again: partitioners look at it. */
static int note_region(PyObject *node, const Node *n)
{
    if (n->region == 0)
        return 0;
    PyObject *policy = import_from("torch.utils.checkpoint", "CheckpointPolicy");
    PyObject *again = policy ? PyObject_GetAttrString(policy, "PREFER_RECOMPUTE") : NULL;
    PyObject *meta = PyObject_GetAttrString(node, "meta");
    PyObject *number = PyLong_FromUnsignedLong(n->region);
    int r =
        again && meta && number ? PyMapping_SetItemString(meta, "recompute", again) : -1;
    if (r == 0)
        r = PyMapping_SetItemString(meta, "ac_graph_id", number);
    Py_XDECREF(policy);
    Py_XDECREF(again);
    Py_XDECREF(meta);
    Py_XDECREF(number);
    return r;
}

static bool add_input(Build *b, uint32_t i, PyObject *inputs)
{
    const Node *n = &b->g->node.v[i];
    PyObject *target = input_target(b, n);
    PyObject *base = target ? PyObject_CallMethod(target, "lower", NULL) : NULL;
    PyObject *node =
        add(b, fx.ops[NODE_INPUT], target, base, PyTuple_New(0), PyDict_New());
    b->made[i] = node;
    Py_XDECREF(base);
    Py_XDECREF(target);
    PyObject *example = n->as_tensor ? fx_number(n->example)
                                     : Py_NewRef(n->example ? n->example : Py_None);
    bool ok = node && example && PyList_Append(inputs, example) == 0;
    Py_XDECREF(example);
    return ok;
}

/* torch.Tensor.sum(x) is x.sum(): descriptors as targets cannot be pickled and end backends' caches. */
static bool is_tensor_method(const Node *n)
{
    return n->kind == NODE_FUNCTION && Py_IS_TYPE(n->target, &PyMethodDescr_Type) &&
           n->nargs > 0 && n->args[0].tag == GA_NODE &&
           PyType_IsSubtype(torch_types.tensor, PyDescr_TYPE(n->target));
}

/* torch.fx writes `-3 ** x` for it. */
static bool power_of_number(const Node *n)
{
    return n->target == fx.operator_pow && n->nargs == 2 && n->args[0].tag == GA_CONST;
}

static bool add_call(Build *b, uint32_t i)
{
    const Node *n = &b->g->node.v[i];
    bool method = is_tensor_method(n);
    PyObject *target = method ? PyDescr_NAME(n->target) : n->target;
    if (power_of_number(n))
        target = fx.pow;
    PyObject *base = base_name(b, target);
    PyObject *op = fx.ops[method ? NODE_METHOD : n->kind];
    PyObject *node =
        base ? add(b, op, target, base, args_of(b, n), kwargs_of(b, n)) : NULL;
    b->made[i] = node;
    return node && note_place(b, node, n) == 0 && note_region(node, n) == 0;
}

static bool add_output(Build *b, const uint32_t *outputs, int n)
{
    PyObject *values = PyTuple_New(n);
    for (int i = 0; values && i < n; i++)
        PyTuple_SET_ITEM(values, i, Py_NewRef(b->made[outputs[i]]));
    PyObject *args = values ? PyTuple_Pack(1, values) : NULL;
    Py_XDECREF(values);
    return add(b, fx.output, fx.output, fx.output, args, PyDict_New()) != NULL;
}

static bool set_length(Build *b)
{
    PyObject *n = b->fast ? PyLong_FromSsize_t(b->n) : NULL;
    bool ok = !b->fast || (n && PyObject_SetAttrString(b->graph, "_len", n) == 0);
    Py_XDECREF(n);
    return ok;
}

static bool add_all(Build *b, const uint32_t *outputs, int noutputs, PyObject *inputs)
{
    const Graph *g = b->g;
    /* Placeholders come first, in the order of their ids: the order of the example inputs. */
    for (uint32_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live && g->node.v[i].kind == NODE_INPUT &&
            !add_input(b, i, inputs))
            return false;
    for (uint32_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live && g->node.v[i].kind != NODE_INPUT && !add_call(b, i))
            return false;
    return add_output(b, outputs, noutputs) && set_length(b);
}

PyObject *fx_build(const Graph *g, const uint32_t *outputs, int noutputs,
                   PyObject *slot_names)
{
    Build b;
    PyObject *inputs = PyList_New(0), *r = NULL;
    if (inputs && open_build(&b, g, slot_names) && add_all(&b, outputs, noutputs, inputs))
        r = PyTuple_Pack(2, b.graph, inputs);
    if (inputs)
        close_build(&b);
    Py_XDECREF(inputs);
    return r;
}
