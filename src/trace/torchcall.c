/*
 * trace/torchcall.c -- a call of torch becomes a graph node.
 *
 * Takes: a callable or method name and argument Vars. Gives: a node whose arguments are trees over earlier nodes, and a Var for the
 * result, whose structure and metadata come from running the call on meta tensors. Calls that give no tensor (sizes, flags)
 * are answered without a node.
 */
#include "cpy/cpy.h"
#include "trace/run.h"
#include "torch/failure.h"
#include "torch/rules.h"
#include "trace/torchcall.h"
#include "var/binops.h"
#include "var/consts.h"
#include "var/names.h"

/* -- Tensors in the graph ------------------------------------------------------------ */

Status tensor_meta(Tx *tx, TensorVar *t, PyObject **meta)
{
    if (t->meta == NULL) {
        PyObject *twin = tx_hold(tx, infer_twin(t->v.real));
        TRY_PTR(twin);
        SET(tx, t->meta, twin);
    }
    *meta = t->meta;
    return ST_OK;
}

Status tensor_node(Tx *tx, TensorVar *t, uint32_t *id)
{
    if (t->node == 0) {
        Node n = {
            .kind = NODE_INPUT, .src = t->v.src, .example = t->v.real, .pure = true
        };
        TRY(tensor_meta(tx, t, &n.meta));
        TRY(graph_add(&tx->graph, n, id));
        SET(tx, t->node, (uintptr_t)*id + 1);
    }
    *id = (uint32_t)(t->node - 1);
    return ST_OK;
}

/* -- Arguments -------------------------------------------------------------------------- */

typedef struct Build {
    Tx *tx;
    PyObject *device; /* of the first tensor that has dimensions, else of the first */
    bool device_sure;
    bool mixed;    /* tensors of several devices: it may raise, whatever the twins say */
    bool external; /* a tensor argument may alias memory outside of the graph */
    bool has_tensor;
    bool numbers;    /* may be inputs of the graph: the operation is torch's own */
    bool risky;      /* a number of whatever value, with which it may raise */
    bool from_data;  /* takes dtypes from its data: torch.tensor and the like */
    bool in_python;  /* the operation is a function written in Python */
    unsigned unsure; /* UNSURE_…: of a tensor argument */
    bool vague;      /* a tensor argument is */
    bool ruled;      /* a shape rule has answered */
    Var *metas[64]; /* tensor Vars among the arguments, to find results that are one of them */
    int64_t versions[64]; /* of their twins before the call … */
    uint64_t looks[64];   /* … and what they looked like */
    int nmetas;
} Build;

static Status tree(Build *b, Var *v, GArg *g, PyObject **real);

/* Sizes, strides, dtype; whether it requires grad in the lowest bit. */
static uint64_t look_of(PyObject *twin)
{
    TensorMeta m;
    if (!meta_read(twin, &m))
        return 1;
    uint64_t h = (uint64_t)m.ndim * 31 + (uint64_t)m.storage_offset + m.dtype;
    for (int i = 0; i < m.ndim; i++)
        h = (h * 1000003 + (uint64_t)m.sizes[i]) * 1000003 + (uint64_t)m.strides[i];
    return h << 1 | m.requires_grad;
}

static Status tensor_arg(Build *b, TensorVar *t, GArg *g, PyObject **real)
{
    g->tag = GA_NODE;
    TRY(tensor_node(b->tx, t, &g->node));
    TRY(tensor_meta(b->tx, t, real));
    b->has_tensor = true;
    b->external |= t->external;
    b->vague |= t->vague;
    b->unsure |= infer_unsure(*real);
    TensorMeta m;
    bool known = meta_read(*real, &m);
    int same = b->device && b->device != t->device
                   ? PyObject_RichCompareBool(b->device, t->device, Py_EQ)
                   : 1;
    if (same < 0)
        return ST_ERROR;
    b->mixed |= !same;
    if (b->device == NULL ||
        !b->device_sure) { /* a tensor with dimensions decides over scalars */
        b->device_sure = known && m.ndim > 0;
        if (b->device == NULL || b->device_sure)
            b->device = t->device;
    }
    if (b->nmetas < (int)COUNT_OF(b->metas)) {
        b->versions[b->nmetas] = infer_version(*real);
        b->looks[b->nmetas] = look_of(*real);
        b->metas[b->nmetas++] = &t->v;
    }
    return ST_OK;
}

static Status sequence(Build *b, Var **items, Py_ssize_t n, bool list, GArg *g,
                       PyObject **real)
{
    Tx *tx = b->tx;
    g->tag = list ? GA_LIST : GA_TUPLE;
    g->n = (uint32_t)n;
    g->items = tx_alloc(tx, (size_t)(n + 1) * sizeof(GArg));
    *real = tx_hold(tx, list ? PyList_New(n) : PyTuple_New(n));
    if (g->items == NULL || *real == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o;
        TRY(tree(b, items[i], &g->items[i], &o));
        if (list)
            PyList_SET_ITEM(*real, i, Py_NewRef(o));
        else
            PyTuple_SET_ITEM(*real, i, Py_NewRef(o));
    }
    return ST_OK;
}

static Status slice_arg(Build *b, SliceVar *s, GArg *g, PyObject **real)
{
    PyObject *part[3];
    g->tag = GA_SLICE;
    g->n = 3;
    g->items = tx_alloc(b->tx, 3 * sizeof(GArg));
    TRY_PTR(g->items);
    for (int i = 0; i < 3; i++)
        TRY(tree(b, s->part[i], &g->items[i], &part[i]));
    *real = tx_hold(b->tx, PySlice_New(part[0], part[1], part[2]));
    TRY_PTR(*real);
    return ST_OK;
}

static Status dict_arg(Build *b, DictVar *d, GArg *g, PyObject **real)
{
    Tx *tx = b->tx;
    Var **keys, **values;
    Py_ssize_t n;
    TRY(dict_items(tx, d, &keys, &values, &n));
    g->tag = GA_DICT;
    g->n = (uint32_t)(2 * n);
    g->items = tx_alloc(tx, (size_t)(2 * n + 1) * sizeof(GArg));
    *real = tx_hold(tx, PyDict_New());
    if (g->items == NULL || *real == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *k, *o;
        TRY(tree(b, keys[i], &g->items[2 * i], &k));
        TRY(tree(b, values[i], &g->items[2 * i + 1], &o));
        if (g->items[2 * i].tag != GA_CONST || PyDict_SetItem(*real, k, o) < 0)
            return graph_break(tx, BRK_TORCH_CALL,
                               "a dict argument with keys that are not constants");
    }
    return ST_OK;
}

static Status const_arg(Build *b, Var *v, GArg *g, PyObject **real)
{
    g->tag = GA_CONST;
    TRY(var_const(b->tx, v, real));
    if (*real == NULL &&
        (v->kind == &kind_class || v->kind == &kind_builtin || v->kind == &kind_func) &&
        v->real)
        *real = v->real;
    if (*real == NULL)
        return graph_break(b->tx, BRK_TORCH_CALL, "an argument of type %s",
                           v->type->tp_name);
    if (const_numpy(*real)) {
        PyObject *number = tx_hold(b->tx, PyObject_CallMethod(*real, "item", NULL));
        TRY_PTR(number);
        /* To torch's C code integers and floats are numbers, but for those who make tensors of data; of the others some calls make something else. */
        if (b->from_data || b->in_python ||
            !(PyLong_CheckExact(number) || PyFloat_CheckExact(number)))
            return graph_break(b->tx, BRK_TORCH_CALL, "an argument of type %s",
                               v->type->tp_name);
        *real = number;
    }
    g->obj = *real;
    return ST_OK;
}

/* Does a class compute and compare as the built-in one that its instances hold? C code takes their content; Python asks them. */
static bool computes_as(PyTypeObject *type, PyTypeObject *base)
{
    return type->tp_richcompare == base->tp_richcompare &&
           (base->tp_as_number == NULL || memcmp(type->tp_as_number, base->tp_as_number,
                                                 sizeof *base->tp_as_number) == 0);
}

static Status object_arg(Build *b, Var *v, GArg *g, PyObject **real)
{
    bool overrides;
    TRY(var_overrides(b->tx, v, &overrides));
    Var *c = AS(ObjectVar, v)->content;
    bool held =
        !overrides && c &&
        (c->kind == &kind_const || c->kind == &kind_tuple || c->kind == &kind_list);
    if (held && (!b->in_python || computes_as(v->type, c->type)))
        return tree(b, c, g, real);
    return graph_break(b->tx, BRK_TORCH_CALL, "an argument of type %s", v->type->tp_name);
}

/* An argument as a tree over nodes, and as the object that inference sees. */
static Status tree(Build *b, Var *v, GArg *g, PyObject **real)
{
    if (tx_deep(b->tx))
        return graph_break(b->tx, BRK_RECURSION, "%s", "arguments of an operation");
    Tx *tx = b->tx;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor)
        return tensor_arg(b, AS(TensorVar, v), g, real);
    if (v->kind == &kind_tuple)
        return sequence(b, AS(TupleVar, v)->items, AS(TupleVar, v)->n, false, g, real);
    if (v->kind == &kind_list) {
        Var **items;
        Py_ssize_t n;
        if (PyType_IsSubtype(v->type, &PyList_Type) ==
            0) /* most operations want a list or tuple */
            return graph_break(tx, BRK_TORCH_CALL, "%s", "an argument of type deque");
        TRY(var_unpack(tx, v, &items, &n));
        return sequence(b, items, n, true, g, real);
    }
    if (v->kind == &kind_slice)
        return slice_arg(b, AS(SliceVar, v), g, real);
    if (v->kind == &kind_dict)
        return dict_arg(b, AS(DictVar, v), g, real);
    if (v->kind == &kind_object)
        return object_arg(b, v, g, real);
    return const_arg(b, v, g, real);
}

/* -- Results --------------------------------------------------------------------------------- */

static bool holds_tensor(PyObject *o)
{
    if (torch_is_tensor(o))
        return true;
    if (PyTuple_Check(o) || PyList_Check(o)) {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++)
            if (holds_tensor(PySequence_Fast_GET_ITEM(o, i)))
                return true;
    }
    return false;
}

static Var *same_object(Build *b, PyObject *meta)
{
    for (int i = 0; i < b->nmetas; i++)
        if (AS(TensorVar, b->metas[i])->meta == meta)
            return b->metas[i];
    return NULL;
}

static Status tensor_result(Build *b, PyObject *meta, PyObject *device, uint32_t node,
                            bool external, Var **out)
{
    TensorVar *t;
    Var *same = same_object(b, meta);
    bool parameter = Py_IS_TYPE(meta, torch_types.parameter); /* made in the trace */
    PyTypeObject *type = same        ? same->type
                         : parameter ? torch_types.parameter
                                     : torch_types.tensor;
    TRY(VAR_MAKE(b->tx, tensor, TensorVar, type, &t));
    t->node = (uintptr_t)node + 1;
    t->meta = meta;
    t->device = device;
    t->external = external;
    t->vague = b->vague;
    t->same =
        same ? (AS(TensorVar, same)->same ? AS(TensorVar, same)->same : same) : NULL;
    *out = &t->v;
    return ST_OK;
}

static Status wrap_result(Build *b, PyObject *o, PyObject *device, uint32_t node,
                          bool external, Var **out);

static Status item_result(Build *b, PyObject *o, PyObject *device, uint32_t parent,
                          Py_ssize_t i, bool external, Var **out)
{
    Tx *tx = b->tx;
    if (!holds_tensor(o))
        return wrap_result(b, o, device, parent, external, out);
    Node n = { .kind = NODE_FUNCTION,
               .target = operator_fns[FN_getitem],
               .nargs = 2,
               .pure = true,
               .meta = o };
    n.args = tx_alloc(tx, 2 * sizeof(GArg));
    TRY_PTR(n.args);
    n.args[0] = (GArg){ .tag = GA_NODE, .node = parent };
    n.args[1] = (GArg){ .tag = GA_CONST, .obj = tx_hold(tx, PyLong_FromSsize_t(i)) };
    TRY_PTR(n.args[1].obj);
    n.co = tx->top->code->co;
    n.line = code_line(tx->top->code, (int)tx->top->cur);
    uint32_t id;
    TRY(graph_add(&tx->graph, n, &id));
    return wrap_result(b, o, device, id, external, out);
}

static Status wrap_result(Build *b, PyObject *o, PyObject *device, uint32_t node,
                          bool external, Var **out)
{
    Tx *tx = b->tx;
    if (torch_is_tensor(o))
        return tensor_result(b, o, device, node, external, out);
    if (const_immutable(o))
        return const_peek(tx, o, out);
    if (!PyTuple_Check(o) && !PyList_Check(o))
        return graph_break(tx, BRK_TORCH_CALL, "a result of type %s", Py_TYPE(o)->tp_name);
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    Var **items = tx_alloc(tx, (size_t)(n + 1) * sizeof *items);
    TRY_PTR(items);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(item_result(b, PySequence_Fast_GET_ITEM(o, i), device, node, i, external,
                        &items[i]));
    return PyList_Check(o) ? list_new(tx, items, n, out)
                           : tuple_new_type(tx, Py_TYPE(o), items, n, out);
}

/* -- The call ---------------------------------------------------------------------------------- */

static const char *target_name(Tx *tx, PyObject *target)
{
    PyObject *name = PyUnicode_Check(target) ? Py_NewRef(target)
                                             : PyObject_GetAttr(target, str___name__);
    PyErr_Clear();
    const char *s =
        tx_hold(tx, name) && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    return s ? s : "?";
}

/* x[i] = v takes fewer numbers of numpy's than calls do. */
static Status check_stored(Tx *tx, Var *v)
{
    PyObject *o;
    TRY(var_real(tx, &v));
    if (v->kind != &kind_const)
        return ST_OK;
    TRY(var_const(tx, v, &o));
    return o && const_numpy(o) && !PyFloat_Check(o)
               ? graph_break(tx, BRK_TORCH_CALL, "an argument of type %s",
                             v->type->tp_name)
               : ST_OK;
}

static Status build_args(Build *b, const Args *a, Node *n, PyObject ***reals)
{
    Tx *tx = b->tx;
    int total = a->n + a->nkw;
    n->nargs = (uint32_t)a->n;
    n->nkw = (uint32_t)a->nkw;
    n->kwnames = a->nkw ? a->kwnames : NULL;
    n->args = tx_alloc(tx, (size_t)(total + 1) * sizeof(GArg));
    *reals = tx_alloc(tx, (size_t)(total + 1) * sizeof(PyObject *));
    if (n->args == NULL || *reals == NULL)
        return ST_ERROR;
    const char *name = b->numbers ? target_name(tx, n->target) : "";
    if (a->n > 2 && strstr(target_name(tx, n->target), "setitem"))
        TRY(check_stored(tx, a->v[2]));
    for (int i = 0; i < total; i++) {
        Status st = b->numbers
                        ? number_arg(tx, name, a, i, &n->args[i], &(*reals)[i], &b->risky)
                        : ST_DECLINE;
        if (st == ST_DECLINE)
            st = tree(b, a->v[i], &n->args[i], &(*reals)[i]);
        TRY(st);
    }
    return ST_OK;
}

static Status infer(Build *b, Node *n, PyObject **reals, PyObject **result,
                    PyObject **device)
{
    Tx *tx = b->tx;
    InferCall c = { .kind = n->kind,
                    .target = n->target,
                    .args = reals,
                    .nargs = (Py_ssize_t)n->nargs,
                    .kwnames = n->kwnames,
                    .device = b->device,
                    .grad = tx->grad && !tx->inference };
    Autocast real;
    if (tx->cast && autocast_read(&real) < 0)
        return ST_ERROR;
    if (tx->cast)
        autocast_set(tx->cast);
    Status st = infer_call(&c, result, device);
    if (tx->cast)
        autocast_set(&real);
    if (st == ST_DECLINE)
        return graph_break(tx, BRK_NO_META, "%s", target_name(tx, n->target));
    if (st == ST_RAISE) {
        PyObject *type, *value, *tb;
        PyErr_Fetch(&type, &value, &tb);
        st = graph_break(tx, BRK_GRAPH_RAISES, "%s: %S", target_name(tx, n->target),
                         value ? value : Py_None);
        PyErr_Clear();
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(tb);
        return st;
    }
    TRY(st);
    b->ruled = c.ruled;
    return tx_hold(tx, *result) ? ST_OK : ST_ERROR;
}

/* A trace that is to end where a graph raised ends there. What raises inside of a call that C code waits for could not be handled in
 * its frames, and where a break goes back (rewind_break) the state at the operation cannot be made. */
static Status stop_here(Tx *tx, const Node *n)
{
    if (tx->late && tx->graph.node.n == tx->late->node) {
        tx->changed_late = tx->changed;
        return graph_break(tx, BRK_GRAPH_RAISES, "%s", target_name(tx, n->target));
    }
    bool keeps = n->open || n->mutates_input || tx->changed;
    bool back = tx->held || !tx->top->resumable;
    if (keeps && (back || tx->nested > 0 || tx->modes || tx->turned) &&
        (n->raises || n->open))
        return graph_break(tx, BRK_GRAPH_RAISES, "%s", target_name(tx, n->target));
    if (n->open || n->mutates_input)
        SET(tx, tx->changed, tx->changed + 1);
    return ST_OK;
}

/* Powers of integers may raise on data; those that give a floating-point number never do. */
static bool float_power(Tx *tx, const Node *n)
{
    static const char *const names[] = { "pow", "__pow__", "__rpow__", "pow_",
                                         "__ipow__" };
    const char *name = target_name(tx, n->target);
    bool power = false;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        power |= strcmp(name, names[i]) == 0;
    if (!power || n->meta == NULL || !torch_is_tensor(n->meta))
        return false;
    PyObject *yes = PyObject_CallMethod(n->meta, "is_floating_point", NULL);
    PyErr_Clear();
    Py_XDECREF(yes);
    return yes == Py_True;
}

/* Numbers that tensors of another kind do not take in. */
static bool refused(PyObject *o)
{
    return PyComplex_Check(o) || PyBool_Check(o);
}

/* A view has no kernel: what it may raise is about sizes, which inference knows; of as_strided, also about the storage. */
static bool only_looks(Tx *tx, const Node *n, TorchOp op)
{
    return op.view && op.total && !n->mutates &&
           strcmp(target_name(tx, n->target), "as_strided") != 0;
}

/* Torch's inference takes what kernels do not: dtypes that a CPU kernel lacks, and some odd arguments. Its word is taken for
 * the usual ones only; of an operation that has a rule, that is what the rule answers. */
static bool lax(const Build *b, const Node *n, TorchOp op)
{
    for (uint32_t i = 0; n->mutates && i < n->nargs; i++)
        if (n->args[i].tag == GA_CONST && refused(n->args[i].obj))
            return true;
    if (b->ruled || only_looks(b->tx, n, op))
        return false;
    bool odd = op.rule != 0;
    for (int i = 0; i < b->nmetas; i++) {
        TensorMeta m;
        odd |= !meta_read(AS(TensorVar, b->metas[i])->meta, &m) ||
               (m.dtype != D_F32 && m.dtype != D_F64);
    }
    return odd;
}

/* x.to(…) without another device: what remains is a cast, which raises for no data. */
static bool only_casts(const Build *b, const Node *n)
{
    if (strcmp(target_name(b->tx, n->target), "to") != 0)
        return false;
    for (uint32_t i = 1; i < n->nargs + n->nkw; i++) {
        const GArg *g = &n->args[i];
        PyTypeObject *type = g->tag == GA_CONST ? Py_TYPE(g->obj) : NULL;
        if (type == torch_types.dtype || type == torch_types.memory_format ||
            type == &PyBool_Type)
            continue;
        if (type == NULL || type != torch_types.device || b->device == NULL ||
            PyObject_RichCompareBool(g->obj, b->device, Py_EQ) != 1)
            return false;
    }
    return true;
}

/* Two views of one memory that are neither apart nor one and the same. */
static bool clash(const TensorMeta *a, const TensorMeta *b)
{
    if (a->storage != b->storage || a->storage_offset >= infer_extent(b) ||
        b->storage_offset >= infer_extent(a))
        return false;
    return a->storage_offset != b->storage_offset || !same_sizes(a, b) ||
           memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides) != 0;
}

/* Kernels do not write to what overlaps itself or, in part, another argument. */
static bool overlaps(const Build *b)
{
    TensorMeta m, other;
    for (int i = 0; i < b->nmetas; i++) {
        const TensorVar *t = AS(TensorVar, b->metas[i]);
        if (infer_version(t->meta) == b->versions[i])
            continue;
        if (!meta_read(t->meta, &m) || infer_overlaps_itself(&m))
            return true;
        for (int k = 0; k < b->nmetas; k++) {
            const TensorVar *u = AS(TensorVar, b->metas[k]);
            if (!meta_read(u->meta, &other) || clash(&m, &other))
                return true;
            if (b->tx->shared && t->external && u->external && m.storage != other.storage)
                return true; /* twins of inputs do not tell */
        }
    }
    return false;
}

/* Kernels refuse some dimensions without elements, and the nuclear norm of what is not finite. */
static bool picky(const Build *b, const Node *n)
{
    for (int i = 0; i < b->nmetas; i++) {
        TensorMeta m;
        if (meta_read(AS(TensorVar, b->metas[i])->meta, &m) && m.numel == 0)
            return true;
    }
    for (uint32_t i = 0; i < n->nargs + n->nkw; i++)
        if (n->args[i].tag == GA_CONST && PyUnicode_Check(n->args[i].obj) &&
            PyUnicode_CompareWithASCIIString(n->args[i].obj, "nuc") == 0)
            return true;
    return false;
}

/* Numbers beyond the dtypes of the call's tensors, its dtype arguments, or the default dtype if there are neither. */
static bool beyond(const Build *b, const Node *n)
{
    uint32_t total = n->nargs + n->nkw;
    bool fits = true, asked = b->nmetas > 0;
    for (int i = 0; i < b->nmetas; i++) {
        TensorMeta m;
        fits &= meta_read(AS(TensorVar, b->metas[i])->meta, &m) &&
                numbers_fit(n->args, total, m.dtype);
    }
    for (uint32_t i = 0; i < total; i++) {
        const GArg *g = &n->args[i];
        if (g->tag != GA_CONST || !Py_IS_TYPE(g->obj, torch_types.dtype))
            continue;
        asked = true;
        fits &= numbers_fit(n->args, total, dtype_number(g->obj));
    }
    return !fits || (!asked && !numbers_fit(n->args, total, dtype_default()));
}

/* Did the call write to an argument? out=, inplace=True and running statistics are no matter of names. */
static bool wrote(const Build *b)
{
    for (int i = 0; i < b->nmetas; i++)
        if (infer_version(AS(TensorVar, b->metas[i])->meta) != b->versions[i])
            return true;
    return false;
}

static uint32_t count_nodes(const GArg *g)
{
    uint32_t n = g->tag == GA_NODE;
    for (uint32_t i = 0; g->tag > GA_NODE && i < g->n; i++)
        n += count_nodes(&g->items[i]);
    return n;
}

static void list_nodes(const GArg *g, Node *n)
{
    if (g->tag == GA_NODE)
        n->writes[n->nwrites++] = g->node;
    for (uint32_t i = 0; g->tag > GA_NODE && i < g->n; i++)
        list_nodes(&g->items[i], n);
}

/* The arguments that were written to; all of them, if that left no trace (running statistics) or they are too many to look at. */
static Status note_writes(const Build *b, Node *n)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n->nargs + n->nkw; i++)
        total += count_nodes(&n->args[i]);
    n->writes = tx_alloc(b->tx, (total + 1) * sizeof *n->writes);
    TRY_PTR(n->writes);
    bool sure = total < COUNT_OF(b->metas) && wrote(b);
    for (uint32_t i = 0; !sure && i < n->nargs + n->nkw; i++)
        list_nodes(&n->args[i], n);
    for (int i = 0; sure && i < b->nmetas; i++) {
        const TensorVar *t = AS(TensorVar, b->metas[i]);
        if (infer_version(t->meta) != b->versions[i])
            n->writes[n->nwrites++] = (uint32_t)(t->node - 1);
    }
    return ST_OK;
}

static Status add_node(Build *b, Node *n, TorchOp op, uint32_t *id)
{
    Tx *tx = b->tx;
    n->mutates = op.mutates;
    n->mutates_input = op.mutates && b->external;
    n->open = op.user;
    n->pure = op.pure && !op.mutates && !op.random && !op.user && !b->mixed; /* rule 14 */
    n->pure &= !b->risky;
    n->raises =
        (!op.total && !float_power(tx, n) && !only_casts(b, n)) || b->risky || b->mixed;
    n->random = op.random;
    if (tx->inferred &&
        !tx->inference) { /* inference tensors are not for all operations */
        n->raises = true;
        n->pure = false;
    }
    if (!n->raises && lax(b, n, op) && !only_casts(b, n)) {
        n->raises = true;
        n->pure = false;
    }
    if (!only_looks(tx, n, op) && picky(b, n)) {
        n->raises = true;
        n->pure = false;
    }
    n->raises = n->raises || (!only_looks(tx, n, op) && beyond(b, n)) ||
                (n->mutates && overlaps(b));
    if (n->open && n->kind == NODE_FUNCTION)
        TRY(open_check(tx, n->target, op.declared));
    if (n->mutates_input)
        TRY(note_writes(b, n));
    TRY(stop_here(tx, n));
    n->cast = tx->cast;
    n->region = (uint32_t)tx->region;
    n->grad = tx->grad && !tx->inference;
    n->co = tx->top->code->co;
    n->line = code_line(tx->top->code, (int)tx->top->cur);
    SET(tx, tx->nops, tx->nops + 1);
    tx->idle = 0;
    return graph_add(&tx->graph, *n, id);
}

Status torch_node(Tx *tx, Node *n, TorchOp op, uint32_t *id)
{
    Build b = { .tx = tx };
    return add_node(&b, n, op, id);
}

/* foo_(x), x += y: the result is the first argument itself. */
static Status mutated(Tx *tx, const Args *a, Var *result, Var **out)
{
    *out = result;
    if (a->n == 0 || result->kind != &kind_tensor)
        return ST_OK;
    Var *self = a->v[0];
    TRY(var_real(tx, &self));
    if (self->kind == &kind_tensor && AS(TensorVar, result)->same)
        *out = AS(TensorVar, result)->same;
    return ST_OK;
}

Status torch_call_known(Tx *tx, PyObject *target, TorchOp op, const Args *a,
                        PyObject *meta, PyObject *device, Var **out)
{
    Build b = { .tx = tx, .ruled = true };
    Node n = { .kind = NODE_FUNCTION, .target = target, .meta = meta };
    PyObject **reals;
    uint32_t id;
    TRY(build_args(&b, a, &n, &reals));
    if (device != NULL)
        b.device = device;
    if (b.device == NULL)
        return graph_break(tx, BRK_TORCH_CALL, "%s without tensors",
                           target_name(tx, target));
    TRY(add_node(&b, &n, op, &id));
    b.vague = false;
    return wrap_result(&b, meta, tx_keep(tx, b.device), id, b.external, out);
}

/* -- The call to come ---------------------------------------------------------------------------- */

/* A call that gave no tensor: metadata, if it is certain. */
static Status answer(Build *b, const Node *n, TorchOp op, PyObject *result, Var **out)
{
    TRY(torch_ask(b->tx, target_name(b->tx, n->target), op, b->unsure, b->metas,
                  b->nmetas));
    return wrap_result(b, result, NULL, 0, false, out);
}

/* What the call has made of its arguments. A tensor that now requires grad may share memory with others, unknown to the twins;
 * a tensor from outside that is another one now would lead a second trace elsewhere (stop_here). */
static void note_changes(const Build *b)
{
    Tx *tx = b->tx;
    for (int i = 0; i < b->nmetas; i++) {
        const TensorVar *t = AS(TensorVar, b->metas[i]);
        uint64_t now = look_of(t->meta);
        if ((t->external || t->vague) && !(b->looks[i] & 1) && (now & 1))
            SET(tx, tx->blurred, 1);
        bool written = infer_version(t->meta) != b->versions[i];
        bool history = written && !t->fresh && tx->foreign_graph && (now & 1) && tx->grad;
        if (t->external && (now != b->looks[i] || history))
            SET(tx, tx->turned,
                1); /* autograd's history of an input cannot be taken back either */
    }
}

/* Whether what a call that writes gives lies in the memory of an argument from outside: add_() gives its argument back, batch_norm() something new. */
static bool gives_back(const Build *b, PyObject *result)
{
    TensorMeta given, m;
    if (!torch_is_tensor(result) || !meta_read(result, &given) ||
        b->nmetas == (int)COUNT_OF(b->metas))
        return true;
    for (int i = 0; i < b->nmetas; i++) {
        const TensorVar *t = AS(TensorVar, b->metas[i]);
        if (t->external && (!meta_read(t->meta, &m) || m.storage == given.storage))
            return true;
    }
    return false;
}

static const GArg *argument(const Node *n, uint32_t at, const char *name)
{
    if (at < n->nargs)
        return &n->args[at];
    for (uint32_t i = 0; i < n->nkw; i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(n->kwnames, i), name) == 0)
            return &n->args[n->nargs + i];
    return NULL;
}

/* F.batch_norm writes its statistics, if it has any, and only while training. */
static bool only_reads(const Node *n)
{
    if (!PyFunction_Check(n->target) ||
        PyUnicode_CompareWithASCIIString(((PyFunctionObject *)n->target)->func_name,
                                         "batch_norm") != 0)
        return false;
    const GArg *mean = argument(n, 1, "running_mean"),
               *training = argument(n, 5, "training");
    return (mean && mean->tag == GA_CONST) || training == NULL ||
           (training->tag == GA_CONST && training->obj == Py_False);
}

Status tensor_known(Tx *tx, TensorVar *t, PyObject *f(PyObject *), Var **out)
{
    PyObject *meta;
    *out = NULL;
    if (t->external)
        return ST_OK;
    TRY(tensor_meta(tx, t, &meta));
    PyObject *real = known_value(meta), *r = real ? f(real) : NULL;
    PyErr_Clear();
    return r ? const_new(tx, r, out) : ST_OK;
}

/* item, tolist …: known only of tensors that are made of constants alone. */
static Status read_data(Build *b, Node *n, const Args *a, Var **out)
{
    Tx *tx = b->tx;
    PyObject **reals;
    TRY(build_args(b, a, n, &reals));
    InferCall c = { .kind = n->kind,
                    .target = n->target,
                    .args = reals,
                    .nargs = (Py_ssize_t)n->nargs,
                    .kwnames = n->kwnames };
    PyObject *known = b->external ? NULL : known_answer(&c);
    if (known == NULL)
        return graph_break(tx, BRK_DATA_DEPENDENT, "%s", target_name(tx, n->target));
    return tx_hold(tx, known) ? wrap_result(b, known, NULL, 0, false, out) : ST_ERROR;
}

static bool takes_data(const char *name)
{
    return strcmp(name, "tensor") == 0 || strcmp(name, "as_tensor") == 0 ||
           strcmp(name, "asarray") == 0;
}

/* Functions of torch and methods of tensors. */
static bool in_python(PyObject *target)
{
    PyObject *f =
        PyUnicode_Check(target) ? cpy_type_lookup(torch_types.tensor, target) : target;
    return f != NULL && PyFunction_Check(f);
}

Status torch_call(Tx *tx, PyObject *target, bool method, TorchOp op, const Args *a,
                  Var **out)
{
    Build b = { .tx = tx };
    Node n = { .kind = method ? NODE_METHOD : NODE_FUNCTION, .target = target };
    PyObject **reals, *result, *device;
    uint32_t id;
    if (op.syncs)
        return read_data(&b, &n, a, out);
    if ((a->n == 3 && a->nkw == 1) || a->n == 4) {
        Status st = torch_split(tx, target_name(tx, target), a, out);
        if (st != ST_DECLINE)
            return st;
    }
    b.from_data = takes_data(target_name(tx, target));
    b.in_python = in_python(target);
    b.numbers = !op.user;
    TRY(build_args(&b, a, &n, &reals));
    TRY(infer(&b, &n, reals, &result, &device));
    op.mutates = (op.mutates && !only_reads(&n)) || wrote(&b);
    n.meta = result;
    if (device == NULL)
        device = b.device;
    bool question = !holds_tensor(result) && !op.mutates && result != Py_None;
    if (op.cls == TC_SPECIAL && !question)
        return graph_break(tx, BRK_TORCH_CALL, "%s", target_name(tx, target));
    if (question)
        return answer(&b, &n, op, result, out);
    if (op.mutates && b.external && tx->strange)
        return graph_break(tx, BRK_TORCH_CALL, "%s",
                           "a change that may be one of an inference tensor");
    TRY(add_node(&b, &n, op, &id));
    if (op.mutates)
        note_changes(&b);
    b.vague = (op.view || op.may_alias) && (b.vague || (b.unsure & UNSURE_STRIDES));
    bool external = b.external && (op.view || op.may_alias || op.user ||
                                   (op.mutates && gives_back(&b, result)));
    Var *r;
    TRY(wrap_result(&b, result, tx_keep(tx, device), id, external, &r));
    if (external && op.user && r->kind == &kind_tensor)
        AS(TensorVar, r)->fresh = !op.view && !op.may_alias && !gives_back(&b, result);
    return op.mutates ? mutated(tx, a, r, out) : (*out = r, ST_OK);
}
