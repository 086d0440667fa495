/*
 * torch/replay.c -- the metadata of a graph's nodes anew, by running them in order on fresh twins.
 *
 * Takes: a graph that was rewound over an operation that writes. Gives: Node.meta and Node.device of the nodes that stay.
 */
#include "torch/infer.h"

static PyObject *value_of(const Graph *g, const GArg *a)
{
    PyObject *r = NULL;
    switch (a->tag) {
    case GA_CONST: return Py_NewRef(a->obj);
    case GA_NODE: {
        const Node *n = &g->node.v[a->node];
        return Py_XNewRef(n->expr ? n->example : n->meta);
    }
    case GA_TUPLE:
    case GA_LIST:
        r = a->tag == GA_TUPLE ? PyTuple_New(a->n) : PyList_New(a->n);
        for (uint32_t i = 0; r && i < a->n; i++) {
            PyObject *x = value_of(g, &a->items[i]);
            if (x == NULL)
                Py_CLEAR(r);
            else if (a->tag == GA_TUPLE)
                PyTuple_SET_ITEM(r, i, x);
            else
                PyList_SET_ITEM(r, i, x);
        }
        return r;
    case GA_DICT:
        r = PyDict_New();
        for (uint32_t i = 0; r && i + 1 < a->n; i += 2) {
            PyObject *x = value_of(g, &a->items[i + 1]);
            if (x == NULL || PyDict_SetItem(r, a->items[i].obj, x) < 0)
                Py_CLEAR(r);
            Py_XDECREF(x);
        }
        return r;
    case GA_SLICE: {
        PyObject *s[3];
        for (int i = 0; i < 3; i++)
            s[i] = value_of(g, &a->items[i]);
        if (s[0] && s[1] && s[2])
            r = PySlice_New(s[0], s[1], s[2]);
        for (int i = 0; i < 3; i++)
            Py_XDECREF(s[i]);
        return r;
    }
    }
    return NULL;
}

/* Device of the first tensor among the arguments. */
static PyObject *device_of_args(const Graph *g, const GArg *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        PyObject *d = NULL;
        if (a[i].tag == GA_NODE)
            d = g->node.v[a[i].node].device;
        else if (a[i].tag != GA_CONST)
            d = device_of_args(g, a[i].items, a[i].n);
        if (d)
            return d;
    }
    return NULL;
}

static Status replay_node(Graph *g, Node *n)
{
    PyObject *args[MAX_ARGS];
    Py_ssize_t total = (Py_ssize_t)n->nargs + n->nkw, made = 0;
    if (total > MAX_ARGS)
        return ST_DECLINE;
    while (made < total && (args[made] = value_of(g, &n->args[made])))
        made++;
    Status st = ST_DECLINE;
    PyObject *out = NULL, *device;
    if (made == total) {
        PyObject *from = device_of_args(g, n->args, (uint32_t)total);
        InferCall c = { .kind = n->kind,
                        .target = n->target,
                        .args = args,
                        .nargs = n->nargs,
                        .kwnames = n->nkw ? n->kwnames : NULL,
                        .device = from,
                        .grad = n->grad };
        st = infer_call(&c, &out, &device);
    }
    while (made > 0)
        Py_DECREF(args[--made]);
    if (st == ST_RAISE) {
        PyErr_Clear();
        st = ST_DECLINE;
    }
    if (st != ST_OK)
        return st;
    n->device = device;
    n->meta = arena_hold(g->arena, out);
    return n->meta ? ST_OK : ST_ERROR;
}

static Status replay_input(Graph *g, Node *n)
{
    if (n->expr) /* a number stays what it is */
        return ST_OK;
    PyObject *twin = infer_twin(n->example);
    if (twin == NULL)
        return PyErr_Occurred() ? ST_ERROR : ST_DECLINE;
    n->meta = arena_hold(g->arena, twin);
    PyObject *device = n->meta ? meta_device(n->example) : NULL;
    n->device = device ? infer_device(device) : NULL;
    Py_XDECREF(device);
    return n->device ? ST_OK : ST_ERROR;
}

Status infer_replay(Graph *g, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Node *node = &g->node.v[i];
        if (node->switches)
            continue;
        Autocast real;
        if (node->cast && autocast_read(&real) < 0)
            return ST_ERROR;
        if (node->cast)
            autocast_set(node->cast);
        Status st =
            node->kind == NODE_INPUT ? replay_input(g, node) : replay_node(g, node);
        if (node->cast)
            autocast_set(&real);
        TRY(st);
    }
    return ST_OK;
}
