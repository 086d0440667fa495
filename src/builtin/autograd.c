/*
 * builtin/autograd.c -- torch.autograd.Function.apply: one node that calls the real thing, or forward in place.
 *
 * Takes: the class and its arguments. Gives, where outputs are differentiable: a node, so that autograd sees the user's backward. What comes
 * out of it, and what it asks of the world, is found by tracing forward and setup_context beside the graph: their nodes are dropped,
 * their guards stay. A forward with effects on anything else than its results breaks (rule 15: the node runs user code).
 * Else, and where that broke: jedlik._autograd's stand-in for apply(), which is traced like any function (function_stand_in).
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

/* At the program's own line, not at that of torch's apply(). */
static Status at_call(Tx *tx, Status st)
{
    const Frame *f = tx->top ? tx->top->up : NULL;
    if (st == ST_BREAK && f != NULL) {
        tx->brk.co = f->code->co;
        tx->brk.line = code_near_line(f->code, (int)f->cur);
    }
    return st;
}

static Status decline(Tx *tx, const char *why)
{
    return at_call(tx, graph_break(tx, BRK_FUNCTION, "one that %s", why));
}

/* -- The context ------------------------------------------------------------ */

static Status requires_grad(Tx *tx, Var *v, bool *yes)
{
    PyObject *meta, *flag;
    *yes = false;
    TRY(var_real(tx, &v));
    if (v->kind != &kind_tensor)
        return ST_OK;
    TRY(tensor_meta(tx, AS(TensorVar, v), &meta));
    flag = tx_hold(tx, PyObject_GetAttrString(meta, "requires_grad"));
    TRY_PTR(flag);
    *yes = flag == Py_True;
    if (tx->blurred && !*yes && (AS(TensorVar, v)->external || infer_unsure(meta)))
        return graph_break(tx, BRK_LAYOUT, "%s", "requires_grad after a write");
    return ST_OK;
}

static PyObject *name_of(Tx *tx, const char *text)
{
    return tx_hold(tx, PyUnicode_InternFromString(text));
}

/* One as real ones are; *any: what comes out is differentiable. */
static Status context_new(Tx *tx, Var *cls, Var **args, Py_ssize_t n, bool *any, Var **out)
{
    PyObject *needs = name_of(tx, "needs_input_grad");
    Var **flags = tx_alloc(tx, (size_t)(n + 1) * sizeof *flags), *tuple, *type;
    if (flags == NULL || needs == NULL)
        return ST_ERROR;
    *any = false;
    TRY(var_getattr(tx, cls, name_of(tx, "_backward_cls"), &type));
    TRY(var_real(tx, &type));
    if (type->kind != &kind_class || type->real == NULL)
        return decline(tx, "this torch has otherwise");
    for (Py_ssize_t i = 0; i < n; i++) {
        bool yes;
        TRY(requires_grad(tx, args[i], &yes));
        *any |= yes && tx->grad && !tx->inference;
        flags[i] = tx_bool(tx, yes);
    }
    TRY(tuple_new(tx, flags, n, &tuple));
    TRY(object_new(tx, (PyTypeObject *)type->real, out));
    return var_setattr(tx, *out, needs, tuple);
}

/* One of its C fields; *out NULL: it was not set. */
static Status context_attr(Tx *tx, Var *ctx, const char *name, Var **out)
{
    TRY(var_getattr(tx, ctx, name_of(tx, name), out));
    TRY(var_real(tx, out));
    if (*out == tx->none)
        *out = NULL;
    return ST_OK;
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
        if (n->random && n->meta == Py_None && !hand_off_own(tx->backend))
            return decline(tx, "sets random numbers");
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
    Status st = run_closed(tx, run_forward, ap, out);
    if (st == ST_RAISE)
        return graph_break(tx, BRK_UNCAUGHT, "%s", "in forward of an autograd.Function");
    TRY(st);
    SET(tx, tx->grad, grad);
    SET(tx, tx->nops, nops);
    TRY(context_attr(tx, ap->ctx, "dirty_tensors", &dirty));
    if (dirty != NULL)
        return decline(tx, "marks tensors as dirty");
    TRY(context_attr(tx, ap->ctx, "non_differentiable", &ap->non_diff));
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

/* *known: what it gives is; a break behind that is one of the node. */
static Status apply_node(Tx *tx, const Args *a, bool *known, Var **out)
{
    Args rest = args_tail(a, 1);
    Apply ap = { .cls = a->v[0], .args = &rest };
    Var *result;
    PyObject *meta, *target;
    TRY(var_real(tx, &ap.cls));
    if (ap.cls->kind != &kind_class || ap.cls->real == NULL)
        return ST_DECLINE;
    TRY(context_new(tx, ap.cls, rest.v, rest.n, &ap.any_grad, &ap.ctx));
    TRY(trace_forward(tx, &ap, &result));
    TRY(outputs_meta(tx, &ap, result, &meta));
    target = target_of(tx, ap.cls->real);
    TRY_PTR(target);
    *known = true;
    return torch_call_known(tx, target, (TorchOp){ .cls = TC_NODE, .user = true }, &rest,
                            meta, NULL, out);
}

/* A break inside is a reason to trace once more, with this forward in place. */
static Status apply(Tx *tx, const Args *a, Var **out)
{
    uintptr_t number = tx->applies;
    bool known = false;
    Status st = apply_node(tx, a, &known, out);
    if (st == ST_BREAK && !known) {
        tx->apply_failed = number;
        tx->apply_break = tx->brk.text;
    }
    return st;
}

/* -- In place ----------------------------------------------------------------- */

static PyObject *own(Tx *tx, const char *name)
{
    PyObject *m = PyImport_ImportModule("jedlik._autograd");
    PyObject *fn = m ? PyObject_GetAttrString(m, name) : NULL;
    Py_XDECREF(m);
    return tx_hold(tx, fn);
}

/* Is it Function.apply itself? */
static bool is_apply(PyObject *fn)
{
    static PyObject *real;
    if (real == NULL) {
        PyObject *cls = torch_path("autograd.Function");
        PyObject *m = cls ? PyObject_GetAttrString(cls, "apply") : NULL;
        real = m && PyMethod_Check(m) ? Py_NewRef(PyMethod_GET_FUNCTION(m)) : Py_None;
        PyErr_Clear();
        Py_XDECREF(m);
        Py_XDECREF(cls);
    }
    return fn == real;
}

/* Does the class have a setup_context of its own? *fits: arguments need no defaults then. */
static Status has_setup(Tx *tx, Var *cls, Py_ssize_t n, bool *yes, bool *fits)
{
    PyObject *base = lookup_path(tx, "torch.autograd.function", "_SingleLevelFunction");
    PyObject *plain =
        base ? tx_hold(tx, PyObject_GetAttrString(base, "setup_context")) : NULL;
    Var *setup, *forward;
    TRY_PTR(plain);
    TRY(var_getattr(tx, cls, name_of(tx, "setup_context"), &setup));
    TRY(var_real(tx, &setup));
    *yes = setup->real != plain;
    *fits = true;
    if (!*yes)
        return ST_OK;
    TRY(var_getattr(tx, cls, name_of(tx, "forward"), &forward));
    TRY(var_real(tx, &forward));
    if (forward->kind != &kind_func)
        return *fits = false, ST_OK;
    PyCodeObject *co = AS(FuncVar, forward)->co;
    *fits = co->co_argcount == n && co->co_kwonlyargcount == 0 &&
            (co->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) == 0;
    return ST_OK;
}

Status function_stand_in(Tx *tx, Var **fn, const Args *a)
{
    bool setup, fits, grad = false, yes;
    if (!torch_ready || (*fn)->real == NULL || !is_apply((*fn)->real) || a->n < 1 ||
        a->nkw)
        return ST_OK;
    Var *cls = a->v[0];
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class || cls->real == NULL || AS(ClassVar, cls)->made)
        return ST_OK;
    for (int i = 1; i < a->n && tx->grad && !tx->inference; i++) {
        TRY(requires_grad(tx, a->v[i], &yes));
        grad |= yes;
    }
    if (grad)
        SET(tx, tx->applies, tx->applies + 1);
    if (grad && tx->applies != tx->ways.in_place)
        return ST_OK;
    TRY(has_setup(tx, cls, a->n - 1, &setup, &fits));
    if (!fits)
        return ST_OK;
    PyObject *stand_in = own(tx, setup ? "apply_with_setup" : "apply");
    TRY_PTR(stand_in);
    return wrap_pinned(tx, stand_in, NULL, fn);
}

/* make_context(cls, args) */
static Status begin(Tx *tx, const Args *a, Var **out)
{
    Var **args, *cls = a->v[0];
    Py_ssize_t n;
    bool any;
    TRY(var_real(tx, &cls));
    TRY(var_unpack(tx, a->v[1], &args, &n));
    return context_new(tx, cls, args, n, &any, out);
}

/* Made by an operation after the argument, and certainly new: not what an argument of uncertain identity may be. */
static bool newer(const TensorVar *v, const TensorVar *arg)
{
    return !v->vague && v->same == NULL && v->v.real == NULL && v->node > arg->node;
}

/* Not an argument, not differentiable. */
static Status as_it_is(Tx *tx, Var *v, Var **args, Py_ssize_t n, bool *yes)
{
    bool grad, same;
    TRY(var_real(tx, &v));
    *yes = true;
    if (v->kind != &kind_tensor)
        return ST_OK;
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *arg = args[i];
        TRY(var_real(tx, &arg));
        if (arg->kind != &kind_tensor || newer(AS(TensorVar, v), AS(TensorVar, arg)))
            continue;
        TRY(tensor_is(tx, arg, v, &same));
        *yes &= !same;
    }
    TRY(requires_grad(tx, v, &grad));
    *yes &= !grad;
    return ST_OK;
}

/* What is not differentiable keeps nothing. */
static Status forget_fields(Tx *tx, Var *ctx)
{
    static const char *const names[] = { "to_save", "non_differentiable",
                                         "saved_for_forward" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        Var *was;
        TRY(context_attr(tx, ctx, names[i], &was));
        if (was != NULL)
            TRY(var_setattr(tx, ctx, name_of(tx, names[i]), tx->none));
    }
    return ST_OK;
}

/* is_settled(ctx, args, out): does autograd give back what forward has given, as it is? */
static Status settled(Tx *tx, const Args *a, Var **out)
{
    Var **args, **items, *ctx = a->v[0], *result = a->v[2], *dirty;
    Py_ssize_t n, nitems = 1;
    bool yes;
    *out = tx_bool(tx, false);
    TRY(var_real(tx, &ctx));
    TRY(var_real(tx, &result));
    TRY(var_unpack(tx, a->v[1], &args, &n));
    for (Py_ssize_t i = 0; i < n && tx->grad && !tx->inference; i++) {
        TRY(requires_grad(tx, args[i], &yes));
        if (yes)
            return ST_OK;
    }
    if (ctx->kind != &kind_object || ctx->real)
        return ST_OK;
    TRY(context_attr(tx, ctx, "dirty_tensors", &dirty));
    if (dirty != NULL)
        return ST_OK;
    items = &result;
    if (result->kind == &kind_tuple)
        TRY(var_unpack(tx, result, &items, &nitems));
    else if (PyType_HasFeature(result->type, Py_TPFLAGS_TUPLE_SUBCLASS))
        return ST_OK;
    for (Py_ssize_t i = 0; i < nitems; i++) {
        TRY(as_it_is(tx, items[i], args, n, &yes));
        if (!yes)
            return ST_OK;
    }
    *out = tx_bool(tx, true);
    return forget_fields(tx, ctx);
}

static Status attach(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0];
    TRY(var_real(tx, &cls));
    const char *name =
        cls->kind == &kind_class ? ((PyTypeObject *)cls->real)->tp_name : "";
    return at_call(tx, graph_break(tx, BRK_FUNCTION, "%s", name));
}

/* Outside of functorch's transforms, which the ambient guard rules out, nothing is wrapped. */
static Status unwrap_if_dead(Tx *tx, const Args *a, Var **out)
{
    *out = a->v[0];
    return ST_OK;
}

const Handler handlers_autograd[] = {
    { "jedlik._autograd.make_context", 2, 2, begin, NULL },
    { "jedlik._autograd.is_settled", 3, 3, settled, NULL },
    { "jedlik._autograd.attach_to", 4, 4, attach, NULL },
    { "torch._C._FunctionBase.apply", 1, -1, apply, NULL },
    { "torch._C._functorch.unwrap_if_dead", 1, 1, unwrap_if_dead, NULL },
    { 0 },
};
