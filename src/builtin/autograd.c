/*
 * builtin/autograd.c -- torch.autograd.Function.apply: one node that calls the real thing.
 *
 * Takes: the class and its arguments. Gives: a node, so that autograd sees the user's backward. What comes out of it, and what it
 * asks of the world, is found by tracing forward and setup_context beside the graph: their nodes are dropped, their guards stay.
 * A forward with effects on anything else than its results breaks (rule 15: the node runs user code).
 */
#include "builtin/help.h"
#include "torch/infer.h"
#include "trace/torchcall.h"

typedef struct Apply {
    Var *cls, *ctx;
    const Args *args; /* without the class */
    bool any_grad;    /* an argument requires grad and grad mode is on */
    Var *non_diff;    /* outputs marked as not differentiable, or NULL */
} Apply;

static Status decline(Tx *tx, const char *why)
{
    return graph_break(tx, BRK_TORCH_CALL, "autograd.Function that %s", why);
}

/* -- The context ------------------------------------------------------------ */

static Status requires_grad(Tx *tx, Var *v, bool *yes)
{
    PyObject *meta, *flag;
    *yes = false;
    TRY(var_real(tx, &v));
    if (v->kind != &kind_tensor || !tx->grad)
        return ST_OK;
    TRY(tensor_meta(tx, AS(TensorVar, v), &meta));
    flag = tx_hold(tx, PyObject_GetAttrString(meta, "requires_grad"));
    TRY_PTR(flag);
    *yes = flag == Py_True;
    return ST_OK;
}

static PyObject *name_of(Tx *tx, const char *text)
{
    return tx_hold(tx, PyUnicode_InternFromString(text));
}

/* A FunctionCtx stands for the real context, which is a node of autograd. */
static Status make_context(Tx *tx, Apply *ap)
{
    PyObject *type = lookup_path(tx, "torch.autograd.function", "FunctionCtx");
    PyObject *needs = name_of(tx, "needs_input_grad");
    Var **flags = tx_alloc(tx, (size_t)(ap->args->n + 1) * sizeof *flags), *tuple;
    if (flags == NULL || needs == NULL)
        return ST_ERROR;
    if (type == NULL || !PyType_Check(type))
        return decline(tx, "this torch has otherwise");
    for (int i = 0; i < ap->args->n; i++) {
        bool yes;
        TRY(requires_grad(tx, ap->args->v[i], &yes));
        ap->any_grad |= yes;
        flags[i] = tx_bool(tx, yes);
    }
    TRY(tuple_new(tx, flags, ap->args->n, &tuple));
    TRY(object_new(tx, (PyTypeObject *)type, &ap->ctx));
    return var_setattr(tx, ap->ctx, needs, tuple);
}

/* *out NULL: the attribute was not set. */
static Status context_attr(Tx *tx, Apply *ap, const char *name, Var **out)
{
    DictVar *attrs;
    PyObject *key = name_of(tx, name);
    TRY_PTR(key);
    TRY(attrs_of(tx, ap->ctx, &attrs));
    return dict_get_str(tx, attrs, key, out);
}

/* -- forward, beside the graph ---------------------------------------------- */

static Status call_forward(Tx *tx, Apply *ap, bool with_ctx, Var **out)
{
    Args a = *ap->args;
    if (with_ctx) {
        a.v = tx_alloc(tx, (size_t)(a.n + 1) * sizeof(Var *));
        TRY_PTR(a.v);
        a.v[0] = ap->ctx;
        if (a.n)
            memcpy(a.v + 1, ap->args->v, (size_t)a.n * sizeof(Var *));
        a.n++;
    }
    return var_call_method(tx, ap->cls, "forward", a.v, a.n, out);
}

static Status run_forward(Tx *tx, void *arg, Var **out)
{
    Apply *ap = arg;
    PyObject *name = name_of(tx, "setup_context");
    PyObject *base = lookup_path(tx, "torch.autograd.function", "_SingleLevelFunction");
    PyObject *plain = base ? tx_hold(tx, PyObject_GetAttr(base, name)) : NULL;
    Var *setup, *inputs, *ignored;
    TRY_PTR(plain);
    TRY(var_getattr(tx, ap->cls, name, &setup));
    TRY(var_real(tx, &setup));
    if (setup->real == plain)
        return call_forward(tx, ap, true, out);
    TRY(call_forward(tx, ap, false, out));
    TRY(tuple_new(tx, ap->args->v, ap->args->n, &inputs));
    return var_call(tx, setup, &(Args){ .v = (Var *[]){ ap->ctx, inputs, *out }, .n = 3 },
                    &ignored);
}

/* What forward did is not part of the graph: the node does it. */
static Status drop_nodes(Tx *tx, size_t from)
{
    for (size_t i = from; i < tx->graph.node.n; i++) {
        Node *n = &tx->graph.node.v[i];
        if (n->mutates_input)
            return decline(tx, "writes to tensors from outside");
        n->pure = n->beside = true;
        n->mutates = false;
    }
    return ST_OK;
}

static Status trace_forward(Tx *tx, Apply *ap, Var **out)
{
    size_t nodes = tx->graph.node.n, nops = tx->nops;
    uintptr_t grad = tx->grad;
    Var *dirty;
    SET(tx, tx->grad, 0);
    TRY(run_closed(tx, run_forward, ap, out));
    SET(tx, tx->grad, grad);
    SET(tx, tx->nops, nops);
    TRY(context_attr(tx, ap, "dirty_tensors", &dirty));
    if (dirty != NULL)
        return decline(tx, "marks tensors as dirty");
    TRY(context_attr(tx, ap, "non_differentiable", &ap->non_diff));
    return drop_nodes(tx, nodes);
}

/* -- The results ------------------------------------------------------------ */

static bool is_argument(Apply *ap, Var *v)
{
    for (int i = 0; i < ap->args->n; i++) {
        Var *a = ap->args->v[i];
        if (a->kind == &kind_lazy)
            a = AS(LazyVar, a)->got;
        if (a == v)
            return true;
    }
    return AS(TensorVar, v)->same != NULL || AS(TensorVar, v)->v.real != NULL;
}

static Status differentiable(Tx *tx, Apply *ap, Var *v, PyObject *meta, bool *yes)
{
    Var **items;
    Py_ssize_t n = 0;
    PyObject *f = tx_hold(tx, PyObject_CallMethod(meta, "is_floating_point", NULL));
    PyObject *c = tx_hold(tx, PyObject_CallMethod(meta, "is_complex", NULL));
    if (f == NULL || c == NULL)
        return ST_ERROR;
    *yes = ap->any_grad && (f == Py_True || c == Py_True);
    if (ap->non_diff)
        TRY(var_unpack(tx, ap->non_diff, &items, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_real(tx, &items[i]));
        if (items[i] == v)
            *yes = false;
    }
    return ST_OK;
}

/* The twin of one output: as forward left it, and a result of autograd. */
static Status output_meta(Tx *tx, Apply *ap, Var *v, PyObject **out)
{
    PyObject *meta;
    TensorMeta m;
    bool yes;
    TRY(tensor_meta(tx, AS(TensorVar, v), &meta));
    if (is_argument(ap, v) || !meta_read(meta, &m) || m.is_view)
        return decline(tx, "returns an argument or a view");
    TRY(differentiable(tx, ap, v, meta, &yes));
    m.requires_grad = m.has_grad_fn = yes;
    m.is_leaf = !yes;
    *out = tx_hold(tx, infer_make(&m, meta_dtype(meta)));
    TRY_PTR(*out);
    return ST_OK;
}

static Status outputs_meta(Tx *tx, Apply *ap, Var *result, PyObject **out)
{
    TRY(var_real(tx, &result));
    if (result->kind == &kind_tensor)
        return output_meta(tx, ap, result, out);
    if (result->kind != &kind_tuple || result->type != &PyTuple_Type)
        return decline(tx, "returns something else than tensors");
    TupleVar *t = AS(TupleVar, result);
    *out = tx_hold(tx, PyTuple_New(t->n));
    TRY_PTR(*out);
    for (Py_ssize_t i = 0; i < t->n; i++) {
        Var *v = t->items[i];
        PyObject *meta = Py_None;
        TRY(var_real(tx, &v));
        if (v->kind == &kind_tensor)
            TRY(output_meta(tx, ap, v, &meta));
        else if (v != tx_none(tx))
            return decline(tx, "returns something else than tensors");
        PyTuple_SET_ITEM(*out, i, Py_NewRef(meta));
    }
    return ST_OK;
}

/* -- The node --------------------------------------------------------------- */

/* jedlik._autograd.function(cls): a function of the arguments alone, with a name of its own. */
static PyObject *target_of(Tx *tx, PyObject *cls)
{
    PyObject *m = PyImport_ImportModule("jedlik._autograd");
    PyObject *fn = m ? PyObject_CallMethod(m, "function", "O", cls) : NULL;
    Py_XDECREF(m);
    return tx_hold(tx, fn);
}

static Status apply(Tx *tx, const Args *a, Var **out)
{
    Args rest = args_tail(a, 1);
    Apply ap = { .cls = a->v[0], .args = &rest };
    Var *result;
    PyObject *meta, *target;
    TRY(var_real(tx, &ap.cls));
    if (ap.cls->kind != &kind_class || ap.cls->real == NULL)
        return ST_DECLINE;
    TRY(make_context(tx, &ap));
    TRY(trace_forward(tx, &ap, &result));
    TRY(outputs_meta(tx, &ap, result, &meta));
    target = target_of(tx, ap.cls->real);
    TRY_PTR(target);
    return torch_call_known(tx, target, (TorchOp){ .cls = TC_NODE, .user = true }, &rest,
                            meta, NULL, out);
}

/* Outside of functorch's transforms, which the ambient guard rules out, nothing is wrapped. */
static Status unwrap_if_dead(Tx *tx, const Args *a, Var **out)
{
    *out = a->v[0];
    return ST_OK;
}

const Handler handlers_autograd[] = {
    { "torch._C._FunctionBase.apply", 1, -1, apply, NULL },
    { "torch._C._functorch.unwrap_if_dead", 1, 1, unwrap_if_dead, NULL },
    { 0 },
};
