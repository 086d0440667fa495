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

static Status yes(Tx *tx, const Args *a, Var **out)
{
    return returns(tx, tx_bool(tx, true), out);
}
static Status no(Tx *tx, const Args *a, Var **out)
{
    return returns(tx, tx_bool(tx, false), out);
}
static Status none(Tx *tx, const Args *a, Var **out)
{
    return returns(tx, tx_none(tx), out);
}

static bool ends_with(PyObject *name, const char *end)
{
    Py_ssize_t n = 0;
    const char *s = name ? PyUnicode_AsUTF8AndSize(name, &n) : NULL;
    Py_ssize_t m = (Py_ssize_t)strlen(end);
    PyErr_Clear();
    return s && n > m && strcmp(s + n - m, end) == 0;
}

/* True, as stock says while it captures; but nn.Transformer would then leave its fused path and give other numbers than it does
 * plainly, and a module's hooks with always_call would not run where its forward raises. */
static Status is_compiling(Tx *tx, const Args *a, Var **out)
{
    static const char *const plain[] = { "torch/nn/modules/transformer.py",
                                         "torch/nn/modules/module.py" };
    PyObject *file = tx->top ? tx->top->code->co->co_filename : NULL;
    bool answer = true;
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        answer &= !ends_with(file, plain[i]);
    return returns(tx, tx_bool(tx, answer), out);
}

/* -- Grad mode -------------------------------------------------------------- */

static Status is_grad_enabled(Tx *tx, const Args *a, Var **out)
{
    return returns(tx, tx_bool(tx, tx->grad), out);
}

/* A node that calls target(args…), so that the graph itself runs under the state. */
static Status switch_node(Tx *tx, PyObject *target, GArg *args, uint32_t n,
                          uint8_t switches, uint32_t *id)
{
    Node node = { .kind = NODE_FUNCTION,
                  .target = target,
                  .nargs = n,
                  .args = args,
                  .meta = Py_None,
                  .co = tx->top->code->co,
                  .line = code_line(tx->top->code, (int)tx->top->cur),
                  .switches = switches };
    return graph_add(&tx->graph, node, id);
}

static Status set_grad_enabled(Tx *tx, const Args *a, Var **out)
{
    PyObject *flag, *target = lookup_path(tx, "torch._C", "_set_grad_enabled");
    uint32_t id;
    TRY(fold_value(tx, a->v[0], &flag));
    if (flag == NULL || target == NULL || !PyBool_Check(flag))
        return ST_DECLINE;
    *out = tx_none(tx);
    if ((flag == Py_True) == (bool)tx->grad)
        return ST_OK;
    GArg *arg = tx_alloc(tx, sizeof *arg);
    TRY_PTR(arg);
    *arg = (GArg){ .tag = GA_CONST, .obj = flag };
    TRY(switch_node(tx, target, arg, 1, SWITCHES_GRAD, &id));
    SET(tx, tx->grad, (uintptr_t)(flag == Py_True));
    return ST_OK;
}

/* -- Autocast ----------------------------------------------------------------- */

static Status mode(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_MODE, "%s", "autocast or inference mode");
}

/* The state as the trace has it. */
static Status cast_now(Tx *tx, Autocast *now)
{
    if (tx->cast != NULL) {
        *now = *tx->cast;
        return ST_OK;
    }
    return autocast_read(now) < 0 ? ST_ERROR : ST_OK;
}

/* Constant attributes of an autocast object; *out NULL: it has no such constant. */
static Status constant_attr(Tx *tx, Var *self, const char *name, PyObject **out)
{
    PyObject *s = tx_hold(tx, PyUnicode_InternFromString(name));
    Var *v;
    TRY_PTR(s);
    *out = NULL;
    TRY(var_getattr_opt(tx, self, s, &v));
    return v ? fold_value(tx, v, out) : ST_OK;
}

static Status keep_attr(Tx *tx, Var *self, const char *name, PyObject *value)
{
    PyObject *s = tx_hold(tx, PyUnicode_InternFromString(name));
    Var *v;
    TRY_PTR(s);
    TRY(const_peek(tx, value, &v));
    return var_setattr(tx, self, s, v);
}

/* What __enter__ notes for __exit__: a break in between leaves that to the real one. */
static Status note_before(Tx *tx, Var *self, const Autocast *now, int device)
{
    TRY(keep_attr(tx, self, "prev_cache_enabled", now->cache ? Py_True : Py_False));
    TRY(keep_attr(tx, self, "prev", now->on[device] ? Py_True : Py_False));
    return keep_attr(tx, self, "prev_fastdtype", now->dtype[device]);
}

static Status enter_node(Tx *tx, ActiveCast *c)
{
    PyObject *target = lookup_path(tx, "torch.amp.autocast_mode", "_enter_autocast");
    GArg *args = tx_alloc(tx, 4 * sizeof *args);
    TRY_PTR(args);
    if (target == NULL)
        return ST_DECLINE;
    for (int i = 0; i < 4; i++)
        args[i] = (GArg){ .tag = GA_CONST, .obj = c->entered[i] };
    return switch_node(tx, target, args, 4, SWITCHES_CAST, &c->node);
}

/* autocast.__enter__(self), which __init__ has given its four values. */
static Status cast_enter(Tx *tx, const Args *a, Var **out)
{
    static const char *const names[] = { "device", "fast_dtype", "_enabled",
                                         "_cache_enabled" };
    ActiveCast *c = tx_alloc(tx, sizeof *c);
    Autocast now, *then = tx_alloc(tx, sizeof *then);
    if (c == NULL || then == NULL)
        return ST_ERROR;
    *c = (ActiveCast){ .up = tx->casts, .self = a->v[0], .before = tx->cast };
    TRY(var_real(tx, &c->self));
    for (int i = 0; i < 4; i++)
        TRY(constant_attr(tx, c->self, names[i], &c->entered[i]));
    PyObject *name = c->entered[0], *dtype = c->entered[1];
    int device =
        name && PyUnicode_Check(name) ? autocast_device(PyUnicode_AsUTF8(name)) : -1;
    if (device < 0 || !c->entered[2] || !c->entered[3] || !dtype ||
        !Py_IS_TYPE(dtype, torch_types.dtype))
        return mode(tx, a, out);
    TRY(cast_now(tx, &now));
    *then = now;
    then->on[device] = c->entered[2] == Py_True;
    then->dtype[device] = dtype;
    then->cache = c->entered[3] == Py_True;
    TRY(enter_node(tx, c));
    TRY(note_before(tx, c->self, &now, device));
    SET(tx, tx->casts, c);
    SET(tx, tx->cast, then);
    *out = a->v[0];
    return ST_OK;
}

/* autocast.__exit__ of the region that was opened last; others are left for real. */
static Status cast_exit(Tx *tx, const Args *a, Var **out)
{
    Var *self = a->v[0];
    PyObject *target = lookup_path(tx, "torch.amp.autocast_mode", "_exit_autocast");
    GArg *arg = tx_alloc(tx, sizeof *arg);
    uint32_t id;
    TRY_PTR(arg);
    TRY(var_real(tx, &self));
    const ActiveCast *c = tx->casts;
    if (target == NULL || c == NULL || c->self != self)
        return mode(tx, a, out);
    *arg = (GArg){ .tag = GA_NODE, .node = c->node };
    TRY(switch_node(tx, target, arg, 1, SWITCHES_CAST, &id));
    SET(tx, tx->cast, c->before);
    SET(tx, tx->casts, c->up);
    return no(tx, a, out);
}

static Status cast_device(Tx *tx, const Args *a, int otherwise, int *device)
{
    PyObject *name;
    *device = otherwise;
    if (a->n == 0)
        return ST_OK;
    TRY(fold_value(tx, a->v[0], &name));
    *device =
        name && PyUnicode_Check(name) ? autocast_device(PyUnicode_AsUTF8(name)) : -1;
    return ST_OK;
}

/* Questions are folded (torch's tables) while the state is the guarded one; rows only answer inside of traced regions. */
static Status is_autocast(Tx *tx, const Args *a, Var **out)
{
    int device;
    if (tx->cast == NULL)
        return ST_DECLINE;
    TRY(cast_device(tx, a, CAST_CUDA, &device));
    return device < 0 ? ST_DECLINE : returns(tx, tx_bool(tx, tx->cast->on[device]), out);
}

static Status is_autocast_cpu(Tx *tx, const Args *a, Var **out)
{
    return tx->cast ? returns(tx, tx_bool(tx, tx->cast->on[CAST_CPU]), out) : ST_DECLINE;
}

static Status any_autocast(Tx *tx, const Args *a, Var **out)
{
    return tx->cast
               ? returns(tx,
                         tx_bool(tx, tx->cast->on[CAST_CPU] || tx->cast->on[CAST_CUDA]),
                         out)
               : ST_DECLINE;
}

static Status autocast_cache(Tx *tx, const Args *a, Var **out)
{
    return tx->cast ? returns(tx, tx_bool(tx, tx->cast->cache), out) : ST_DECLINE;
}

static Status autocast_dtype(Tx *tx, const Args *a, Var **out)
{
    int device;
    if (tx->cast == NULL)
        return ST_DECLINE;
    TRY(cast_device(tx, a, CAST_CUDA, &device));
    return device < 0 ? ST_DECLINE : const_peek(tx, tx->cast->dtype[device], out);
}

static Status autocast_cpu_dtype(Tx *tx, const Args *a, Var **out)
{
    return tx->cast ? const_peek(tx, tx->cast->dtype[CAST_CPU], out) : ST_DECLINE;
}

/* -- Inference mode ------------------------------------------------------------ */

static Status switch_mode(Tx *tx, const char *name, GArg value, uint32_t *id)
{
    PyObject *target = lookup_path(tx, "torch.autograd.grad_mode", name);
    GArg *arg = tx_alloc(tx, sizeof *arg);
    TRY_PTR(arg);
    if (target == NULL)
        return ST_DECLINE;
    *arg = value;
    return switch_node(tx, target, arg, 1, SWITCHES_GRAD, id);
}

/* inference_mode.__enter__(self) of an object made in the trace. What the real one keeps in the object for __exit__ nobody else
 * sees. */
static Status inference_enter(Tx *tx, const Args *a, Var **out)
{
    PyObject *on;
    ActiveMode *m = tx_alloc(tx, sizeof *m);
    TRY_PTR(m);
    *m = (ActiveMode){
        .up = tx->modes, .self = a->v[0], .grad = tx->grad, .inference = tx->inference
    };
    TRY(var_real(tx, &m->self));
    TRY(constant_attr(tx, m->self, "mode", &on));
    if (tx->ways.no_modes || m->self->real || on == NULL || !PyBool_Check(on))
        return mode(tx, a, out);
    TRY(switch_mode(tx, "_enter_inference_mode", (GArg){ .tag = GA_CONST, .obj = on },
                    &m->node));
    SET(tx, tx->modes, m);
    SET(tx, tx->grad, (uintptr_t)(on != Py_True));
    SET(tx, tx->inference, (uintptr_t)(on == Py_True));
    SET(tx, tx->inferred, 1);
    return none(tx, a, out);
}

static Status inference_exit(Tx *tx, const Args *a, Var **out)
{
    Var *self = a->v[0];
    const ActiveMode *m = tx->modes;
    uint32_t id;
    TRY(var_real(tx, &self));
    if (m == NULL || m->self != self)
        return mode(tx, a, out);
    TRY(switch_mode(tx, "_exit_inference_mode", (GArg){ .tag = GA_NODE, .node = m->node },
                    &id));
    SET(tx, tx->grad, m->grad);
    SET(tx, tx->inference, m->inference);
    SET(tx, tx->modes, m->up);
    return none(tx, a, out);
}

static Status is_inference_mode(Tx *tx, const Args *a, Var **out)
{
    return returns(tx, tx_bool(tx, tx->inference), out);
}

/* -- Overrides -------------------------------------------------------------- */

static Status any_overrides(Tx *tx, Var **v, Py_ssize_t n, Var **out)
{
    bool found = false;
    for (Py_ssize_t i = 0; i < n && !found; i++)
        TRY(var_overrides(tx, v[i], &found));
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
    TRY(var_overrides(tx, v, &found));
    *out = tx_bool(tx, found);
    return ST_OK;
}

/* -- Questions about tensors -------------------------------------------------- */

static Status is_tensor(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    return returns(tx,
                   tx_bool(tx, torch_ready && v->type &&
                                   PyType_IsSubtype(v->type, torch_types.tensor)),
                   out);
}

/* torch.f(t) where the answer is t.f(): metadata, no node. */
static Status ask(Tx *tx, const char *method, const Args *a, Var **out)
{
    Var *t = args_get(a, 0, "input");
    if (t == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &t));
    return t->kind == &kind_tensor ? var_call_method(tx, t, method, NULL, 0, out)
                                   : ST_DECLINE;
}

#define QUESTION(name)                                                                   \
    static Status ask_##name(Tx *tx, const Args *a, Var **out)                           \
    {                                                                                    \
        return ask(tx, #name, a, out);                                                   \
    }
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
static Status member(Tx *tx, DictVar *attrs, const char *which, PyObject *name,
                     Var **found)
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
    return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%s'",
                      dot ? dot + 1 : self->type->tp_name, PyUnicode_AsUTF8(name));
}

/* -- The rows --------------------------------------------------------------- */

const Handler handlers_torch[] = {
    { "torch.is_grad_enabled", 0, 0, is_grad_enabled, NULL },
    { "torch._C._set_grad_enabled", 1, 1, set_grad_enabled, NULL },
    { "torch.amp.autocast_mode.autocast.__enter__", 1, 1, cast_enter, NULL },
    { "torch.amp.autocast_mode.autocast.__exit__", 4, 4, cast_exit, NULL },
    { "torch.autograd.grad_mode.inference_mode.__enter__", 1, 1, inference_enter, NULL },
    { "torch.autograd.grad_mode.inference_mode.__exit__", 4, 4, inference_exit, NULL },
    { "torch.is_inference_mode_enabled", 0, 0, is_inference_mode, NULL },
    { "torch.is_autocast_enabled", 0, 1, is_autocast, NULL },
    { "torch.is_autocast_cpu_enabled", 0, 0, is_autocast_cpu, NULL },
    { "torch._C._is_any_autocast_enabled", 0, 0, any_autocast, NULL },
    { "torch.is_autocast_cache_enabled", 0, 0, autocast_cache, NULL },
    { "torch.get_autocast_dtype", 1, 1, autocast_dtype, NULL },
    { "torch.get_autocast_gpu_dtype", 0, 0, autocast_dtype, NULL },
    { "torch.get_autocast_cpu_dtype", 0, 0, autocast_cpu_dtype, NULL },
    { "torch.set_autocast_enabled", 1, 2, mode, ANY_KW },
    { "torch.set_autocast_dtype", 1, 2, mode, ANY_KW },
    { "torch.set_autocast_cache_enabled", 1, 1, mode, ANY_KW },
    { "torch.autocast_increment_nesting", 0, 0, mode, NULL },
    { "torch.autocast_decrement_nesting", 0, 0, mode, NULL },
    { "torch.clear_autocast_cache", 0, 0, mode, NULL },
    { "torch._C._InferenceMode", 0, -1, mode, ANY_KW },
    { "torch._C._set_view_replay_enabled", 1, 1, mode, NULL },
    { "torch._C._get_tracing_state", 0, 0, none, NULL },
    { "torch._C._is_tracing", 0, 0, no, NULL },
    { "torch._C._log_api_usage_once", 0, -1, none, ANY_KW },
    { "torch.compiler.is_compiling", 0, 0, is_compiling, NULL },
    { "torch.compiler.is_dynamo_compiling", 0, 0, is_compiling, NULL },
    { "torch.compiler.is_exporting", 0, 0, no, NULL },
    { "torch._utils.is_compiling", 0, 0, is_compiling, NULL },
    { "torch._dynamo.external_utils.is_compiling", 0, 0, is_compiling, NULL },
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
