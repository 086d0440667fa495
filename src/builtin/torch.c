/*
 * builtin/torch.c -- torch's functions that are no operations: grad mode, ambient state, questions about tensors, markers, and
 * nn.Module.__getattr__.
 *
 * Takes: calls that torch_classify() calls SPECIAL. Ambient state that the trace changes is an effect (rule 17): the state lives
 * in tx->grad, a node in the graph switches it there. What cannot be modelled so breaks.
 */
#include "builtin/help.h"

static Status returns(Tx *tx, Var *v, Var **out)
{
    *out = v;
    return ST_OK;
}

static Status yes(Tx *tx, const Args *a, Var **out) { return returns(tx, tx_bool(tx, true), out); }
static Status no(Tx *tx, const Args *a, Var **out) { return returns(tx, tx_bool(tx, false), out); }
static Status none(Tx *tx, const Args *a, Var **out) { return returns(tx, tx_none(tx), out); }

/* -- Grad mode -------------------------------------------------------------- */

static Status is_grad_enabled(Tx *tx, const Args *a, Var **out)
{
    return returns(tx, tx_bool(tx, tx->grad), out);
}

/* A node that calls `target(flag)`, so that the graph itself runs under the state. */
static Status switch_node(Tx *tx, const char *name, PyObject *flag)
{
    PyObject *target = lookup_path(tx, "torch._C", name);
    GArg *arg = tx_alloc(tx, sizeof *arg);
    uint32_t id;
    TRY_PTR(arg);
    if (target == NULL)
        return ST_DECLINE;
    *arg = (GArg){ .tag = GA_CONST, .obj = flag };
    Node n = { .kind = NODE_FUNCTION, .target = target, .nargs = 1, .args = arg, .meta = Py_None,
               .co = tx->top->code->co, .line = code_line(tx->top->code, (int)tx->top->cur) };
    return graph_add(&tx->graph, n, &id);
}

static Status set_grad_enabled(Tx *tx, const Args *a, Var **out)
{
    PyObject *flag;
    TRY(fold_value(tx, a->v[0], &flag));
    if (flag == NULL || !PyBool_Check(flag))
        return ST_DECLINE;
    *out = tx_none(tx);
    if ((flag == Py_True) == (bool)tx->grad)
        return ST_OK;
    TRY(switch_node(tx, "_set_grad_enabled", flag));
    SET(tx, tx->grad, (uintptr_t)(flag == Py_True));
    return ST_OK;
}

static Status mode(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_MODE, "%s", "inference mode");
}

/* -- Autocast --------------------------------------------------------------- */

/* Leaving autocast as it is (autocast(enabled=False) where it is off) is no change; the depth of nesting alone moves, which is settled
 * where the trace ends. Everything else breaks. */

/* Is torch.<getter>(arg) what is to be set? */
static Status unchanged(Tx *tx, const char *getter, PyObject *arg, PyObject *value, Var **out)
{
    PyObject *f = lookup_path(tx, "torch", getter);
    if (f == NULL)
        return ST_DECLINE;
    PyObject *now = tx_hold(tx, PyObject_CallFunctionObjArgs(f, arg, NULL));
    if (now != value) {
        PyErr_Clear();
        return graph_break(tx, BRK_MODE, "%s", "autocast");
    }
    return none(tx, NULL, out);
}

static Status set_autocast(Tx *tx, const Args *a, const char *getter, Var **out)
{
    PyObject *device, *value;
    if (a->n != 2 || a->nkw)
        return graph_break(tx, BRK_MODE, "%s", "autocast");
    TRY(fold_value(tx, a->v[0], &device));
    TRY(fold_value(tx, a->v[1], &value));
    if (device == NULL || value == NULL)
        return ST_DECLINE;
    return unchanged(tx, getter, device, value, out);
}

static Status set_autocast_enabled(Tx *tx, const Args *a, Var **out)
{
    return set_autocast(tx, a, "is_autocast_enabled", out);
}

static Status set_autocast_dtype(Tx *tx, const Args *a, Var **out)
{
    return set_autocast(tx, a, "get_autocast_dtype", out);
}

static Status set_autocast_cache(Tx *tx, const Args *a, Var **out)
{
    PyObject *value;
    TRY(fold_value(tx, a->v[0], &value));
    return value ? unchanged(tx, "is_autocast_cache_enabled", NULL, value, out) : ST_DECLINE;
}

/* As the real functions: the depth afterwards. */
static Status autocast_nest(Tx *tx, int by, Var **out)
{
    PyObject *up = lookup_path(tx, "torch", "autocast_increment_nesting");
    PyObject *down = lookup_path(tx, "torch", "autocast_decrement_nesting");
    if (up == NULL || down == NULL)
        return ST_DECLINE;
    PyObject *deeper = tx_hold(tx, PyObject_CallNoArgs(up));
    PyObject *now = deeper ? tx_hold(tx, PyObject_CallNoArgs(down)) : NULL;
    TRY_PTR(now);
    SET(tx, tx->autocast_depth, tx->autocast_depth + (uintptr_t)(intptr_t)by);
    return const_int(tx, PyLong_AsSsize_t(now) + (Py_ssize_t)tx->autocast_depth, out);
}

static Status autocast_increment(Tx *tx, const Args *a, Var **out) { return autocast_nest(tx, 1, out); }
static Status autocast_decrement(Tx *tx, const Args *a, Var **out) { return autocast_nest(tx, -1, out); }

/* While no device autocasts, nothing was put into the cache since it was cleared last. */
static Status clear_autocast_cache(Tx *tx, const Args *a, Var **out)
{
    PyObject *any = lookup_path(tx, "torch._C", "_is_any_autocast_enabled");
    PyObject *on = any ? tx_hold(tx, PyObject_CallNoArgs(any)) : NULL;
    PyErr_Clear();
    return on == Py_False ? none(tx, a, out) : graph_break(tx, BRK_MODE, "%s", "autocast");
}

/* -- Overrides -------------------------------------------------------------- */

/* Does a value bring a __torch_function__ of its own? Tensors, parameters and everything without the attribute do not. */
static Status overrides(Tx *tx, Var *v, bool *yes)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__torch_function__")), *f;
    TRY_PTR(name);
    TRY(var_real(tx, &v));
    *yes = false;
    if (v->kind == &kind_tensor || !(v->type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return ST_OK;
    TRY(type_lookup(tx, v->type, name, &f));
    *yes = f != NULL && f != lookup_path(tx, "torch._C", "_disabled_torch_function_impl");
    return ST_OK;
}

static Status any_overrides(Tx *tx, Var **v, Py_ssize_t n, Var **out)
{
    bool found = false;
    for (Py_ssize_t i = 0; i < n && !found; i++)
        TRY(overrides(tx, v[i], &found));
    *out = tx_bool(tx, found);
    return ST_OK;
}

static Status has_torch_function(Tx *tx, const Args *a, Var **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_unpack(tx, a->v[0], &items, &n));
    return any_overrides(tx, items, n, out);
}

static Status has_torch_function_variadic(Tx *tx, const Args *a, Var **out)
{
    return any_overrides(tx, a->v, a->n, out);
}

static Status is_tensor_like(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    bool found;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor)
        return yes(tx, a, out);
    TRY(overrides(tx, v, &found));
    *out = tx_bool(tx, found);
    return ST_OK;
}

/* -- Questions about tensors -------------------------------------------------- */

static Status is_tensor(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    return returns(tx, tx_bool(tx, torch_ready && v->type && PyType_IsSubtype(v->type, torch_types.tensor)), out);
}

/* torch.f(t) where the answer is t.f(): metadata, no node. */
static Status ask(Tx *tx, const char *method, const Args *a, Var **out)
{
    Var *t = args_get(a, 0, "input");
    if (t == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &t));
    return t->kind == &kind_tensor ? var_call_method(tx, t, method, NULL, 0, out) : ST_DECLINE;
}

#define QUESTION(name)                                                                                 \
    static Status ask_##name(Tx *tx, const Args *a, Var **out) { return ask(tx, #name, a, out); }
QUESTION(is_floating_point)
QUESTION(is_complex)
QUESTION(is_conj)
QUESTION(is_neg)
QUESTION(is_signed)
QUESTION(is_inference)
QUESTION(numel)
QUESTION(get_device)
#undef QUESTION

/* -- Sizes ------------------------------------------------------------------ */

static Status size(Tx *tx, const Args *a, Var **out)
{
    Var **items = NULL;
    Py_ssize_t n = 0;
    if (a->n)
        TRY(var_unpack(tx, a->v[0], &items, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyTypeObject *t;
        TRY(var_type_of(tx, items[i], &t));
        if (t != &PyLong_Type) /* the TypeError is raised for real */
            return ST_DECLINE;
    }
    return tuple_new_type(tx, torch_types.size, items, n, out);
}

static Status size_numel(Tx *tx, const Args *a, Var **out)
{
    PyObject *prod = lookup_path(tx, "math", "prod");
    return prod ? match_call(tx, prod, a, out) : ST_DECLINE;
}

/* -- Checks ----------------------------------------------------------------- */

/* torch._check(cond, message=None): what is true needs no node; what is false raises for real. */
static Status check(Tx *tx, const Args *a, Var **out)
{
    Var *cond = args_get(a, 0, "cond");
    bool holds;
    if (cond == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &cond));
    if (cond->kind == &kind_tensor)
        return ST_DECLINE;
    TRY(var_truth(tx, cond, &holds));
    if (!holds)
        return graph_break(tx, BRK_UNCAUGHT, "%s", "torch._check fails");
    return none(tx, a, out);
}

/* -- Markers ---------------------------------------------------------------- */

static Status asked(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_ASKED, "%s", "graph_break()");
}

static Status disabled(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_DISABLED, "%s", "a marker of torch.compiler");
}

/* -- nn.Module -------------------------------------------------------------- */

/* One of _parameters, _buffers, _modules of an instance; *found NULL: it is not there. ST_DECLINE: not a plain dictionary. */
static Status member(Tx *tx, DictVar *attrs, const char *which, PyObject *name, Var **found)
{
    PyObject *key = tx_hold(tx, PyUnicode_InternFromString(which));
    Var *d;
    TRY_PTR(key);
    *found = NULL;
    TRY(dict_get_str(tx, attrs, key, &d));
    if (d == NULL)
        return ST_OK;
    TRY(var_real(tx, &d));
    if (d->kind != &kind_dict || d->type != &PyDict_Type)
        return ST_DECLINE;
    return dict_get_str(tx, AS(DictVar, d), name, found);
}

/* As the Python function, without a frame: modules ask it once an attribute, so that it is most of what a forward does. */
static Status module_getattr(Tx *tx, const Args *a, Var **out)
{
    static const char *const homes[] = { "_parameters", "_buffers", "_modules" };
    Var *self = a->v[0];
    PyObject *name;
    DictVar *attrs;
    TRY(arg_name(tx, a->v[1], &name));
    TRY(var_real(tx, &self));
    TRY(attrs_of(tx, self, &attrs));
    if (attrs == NULL)
        return ST_DECLINE;
    for (size_t i = 0; i < COUNT_OF(homes); i++) {
        TRY(member(tx, attrs, homes[i], name, out));
        if (*out != NULL)
            return ST_OK;
    }
    const char *dot = strrchr(self->type->tp_name, '.');
    return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%s'", dot ? dot + 1 : self->type->tp_name,
                      PyUnicode_AsUTF8(name));
}

/* -- The rows --------------------------------------------------------------- */

const Handler handlers_torch[] = {
    { "torch.is_grad_enabled", 0, 0, is_grad_enabled, NULL },
    { "torch._C._set_grad_enabled", 1, 1, set_grad_enabled, NULL },
    { "torch.set_autocast_enabled", 1, 2, set_autocast_enabled, ANY_KW },
    { "torch.set_autocast_dtype", 1, 2, set_autocast_dtype, ANY_KW },
    { "torch.set_autocast_cache_enabled", 1, 1, set_autocast_cache, NULL },
    { "torch.autocast_increment_nesting", 0, 0, autocast_increment, NULL },
    { "torch.autocast_decrement_nesting", 0, 0, autocast_decrement, NULL },
    { "torch.clear_autocast_cache", 0, 0, clear_autocast_cache, NULL },
    { "torch._C._InferenceMode", 0, -1, mode, ANY_KW },
    { "torch._C._set_view_replay_enabled", 1, 1, mode, NULL },
    { "torch._C._get_tracing_state", 0, 0, none, NULL },
    { "torch._C._is_tracing", 0, 0, no, NULL },
    { "torch._C._log_api_usage_once", 0, -1, none, ANY_KW },
    { "torch.compiler.is_compiling", 0, 0, yes, NULL },
    { "torch.compiler.is_dynamo_compiling", 0, 0, yes, NULL },
    { "torch.compiler.is_exporting", 0, 0, no, NULL },
    { "torch._utils.is_compiling", 0, 0, yes, NULL },
    { "torch._dynamo.external_utils.is_compiling", 0, 0, yes, NULL },
    { "torch.jit._script.is_scripting", 0, 0, no, NULL },
    { "torch._jit_internal.is_scripting", 0, 0, no, NULL },
    { "torch.jit._trace.is_tracing", 0, 0, no, NULL },
    { "torch._C._has_torch_function", 1, 1, has_torch_function, NULL },
    { "torch._C._has_torch_function_unary", 1, 1, has_torch_function_variadic, NULL },
    { "torch._C._has_torch_function_variadic", 0, -1, has_torch_function_variadic, NULL },
    { "torch.overrides.is_tensor_like", 1, 1, is_tensor_like, NULL },
    { "torch.is_tensor", 1, 1, is_tensor, NULL },
    { "torch.is_floating_point", 0, 1, ask_is_floating_point, "input" },
    { "torch.is_complex", 0, 1, ask_is_complex, "input" },
    { "torch.is_conj", 0, 1, ask_is_conj, "input" },
    { "torch.is_neg", 0, 1, ask_is_neg, "input" },
    { "torch.is_signed", 0, 1, ask_is_signed, "input" },
    { "torch.is_inference", 0, 1, ask_is_inference, "input" },
    { "torch.numel", 0, 1, ask_numel, "input" },
    { "torch.get_device", 0, 1, ask_get_device, "input" },
    { "torch.Size", 0, 1, size, NULL },
    { "torch.Size.numel", 1, 1, size_numel, NULL },
    { "torch._check", 0, 2, check, "cond message" },
    { "torch._dynamo.graph_break", 0, 1, asked, "msg" },
    { "torch._dynamo.decorators.graph_break", 0, 1, asked, "msg" },
    { "torch._dynamo.disable", 0, -1, disabled, ANY_KW },
    { "torch.compiler.disable", 0, -1, disabled, ANY_KW },
    { "torch.compiler.cudagraph_mark_step_begin", 0, 0, disabled, NULL },
    { "torch.nn.modules.module.Module.__getattr__", 2, 2, module_getattr, NULL },
    { 0 },
};
