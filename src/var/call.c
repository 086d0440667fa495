/*
 * var/call.c -- calls of everything callable.
 *
 * Order for a callable that exists: its handler rows, torch's table, constant folding, then its own way (a frame for
 * Python functions, the class protocol, a break that names it).
 */
#include "base/switches.h"
#include "builtin/handler.h"
#include "builtin/register.h"
#include "trace/tx.h"
#include "var/call.h"
#include "var/consts.h"
#include "var/func.h"
#include "var/names.h"
#include "var/object.h"
#include "var/partial.h"
#include "var/type.h"

/* -- Arguments --------------------------------------------------------------------- */

Status args_prepend(Tx *tx, Var *first, const Args *a, Args *out)
{
    size_t n = (size_t)(a->n + a->nkw);
    Var **v = tx_alloc(tx, (n + 1) * sizeof *v);
    TRY_PTR(v);
    v[0] = first;
    if (n)
        memcpy(v + 1, a->v, n * sizeof *v);
    *out = (Args){ .v = v, .n = a->n + 1, .nkw = a->nkw, .kwnames = a->kwnames };
    return ST_OK;
}

static bool has_tensor(Var *v, int depth)
{
    if (v && v->kind == &kind_lazy)
        v = AS(LazyVar, v)->got ? AS(LazyVar, v)->got : v;
    if (v == NULL || depth > 3)
        return false;
    if (v->kind == &kind_lazy)
        return torch_is_tensor(v->real);
    if (v->kind == &kind_tensor)
        return true;
    Var **items = NULL;
    size_t n = 0;
    if (v->kind == &kind_tuple) {
        items = AS(TupleVar, v)->items;
        n = (size_t)AS(TupleVar, v)->n;
    } else if (v->kind == &kind_list) {
        items = AS(ListVar, v)->items.v;
        n = AS(ListVar, v)->items.n;
    }
    for (size_t i = 0; i < n; i++)
        if (has_tensor(items[i], depth + 1))
            return true;
    return false;
}

bool args_have_tensor(const Args *a)
{
    for (int i = 0; i < a->n + a->nkw; i++)
        if (has_tensor(a->v[i], 0))
            return true;
    return false;
}

/* -- Existing callables ---------------------------------------------------------------- */

/* Functions of the operator module are torch's business if a tensor is among their arguments. */
static bool of_operator(PyObject *callable)
{
    PyObject *m =
        PyCFunction_Check(callable) ? ((PyCFunctionObject *)callable)->m_module : NULL;
    return m && PyUnicode_Check(m) &&
           PyUnicode_CompareWithASCIIString(m, "_operator") == 0;
}

static Status torch_row(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    if (!torch_ready)
        return ST_DECLINE;
    TorchOp op = torch_classify(callable);
    if (op.cls == TC_BREAK)
        return graph_break(tx, BRK_TORCH_CALL, "%R", callable);
    if (op.cls == TC_CONST)
        return fold_call(tx, callable, a, out);
    if (op.cls == TC_NODE)
        return !of_operator(callable) || args_have_tensor(a)
                   ? torch_call(tx, callable, false, op, a, out)
                   : ST_DECLINE;
    return ST_DECLINE;
}

/* What a call of an operator comes to: for one of torch.library.custom_op the operator that it holds. */
static Status operator_row(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    PyObject *inner = torch_custom_op(callable)
                          ? tx_hold(tx, PyObject_GetAttrString(callable, "_opoverload"))
                          : callable;
    TRY_PTR(inner);
    return torch_row(tx, inner, a, out);
}

/* Rows that may know an existing callable; ST_DECLINE: none does. */
static Status known_call(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    Status st = register_call(tx, callable, a, out);
    if (st == ST_DECLINE)
        st = match_call(tx, callable, a, out);
    if (st == ST_DECLINE)
        st = torch_row(tx, callable, a, out);
    return st;
}

static Status tensor_method(Tx *tx, PyObject *descr, const Args *a, Var **out)
{
    PyTypeObject *t = Py_TYPE(descr);
    if (!torch_ready || a->n == 0)
        return ST_DECLINE;
    if ((t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type) &&
        !PyType_IsSubtype(torch_types.tensor, PyDescr_TYPE(descr)))
        return ST_DECLINE;
    Var *self = a->v[0];
    TRY(var_real(tx, &self));
    if (self->kind != &kind_tensor)
        return ST_DECLINE;
    if (t == &PyFunction_Type)
        return tensor_call_method(tx, AS(TensorVar, self),
                                  ((PyFunctionObject *)descr)->func_name, a, out);
    if (t != &PyMethodDescr_Type && t != &PyWrapperDescr_Type)
        return ST_DECLINE;
    return tensor_call_method(tx, AS(TensorVar, self), PyDescr_NAME(descr), a, out);
}

/* What the C slot behind __eq__ says: NotImplemented for what it does not know, no reflection, no identity. */
static Status slot_equal(Tx *tx, Var *c, Var *other, Var **out)
{
    PyObject *mine, *theirs;
    TRY(var_real(tx, &other));
    if (c->kind != &kind_const && c->kind != &kind_scalar)
        return c->kind->compare ? c->kind->compare(tx, c, other, Py_EQ, out) : ST_DECLINE;
    Var *content = var_content(other);
    *out = tx->notimpl;
    if ((content == NULL || content->kind != &kind_const) && c->kind == &kind_const &&
        const_numpy(c->real))
        return ST_DECLINE; /* it makes arrays of much */
    if (content == NULL)
        return ST_OK;
    if (content->kind != &kind_const && content->kind != &kind_scalar)
        return content->kind->compare && PyType_IsSubtype(content->type, c->type)
                   ? content->kind->compare(tx, content, c, Py_EQ, out)
                   : ST_OK;
    TRY(var_const(tx, c, &mine));
    TRY(var_const(tx, content, &theirs));
    if (mine == NULL || theirs == NULL)
        return ST_DECLINE;
    richcmpfunc slot = Py_TYPE(mine)->tp_richcompare;
    return slot ? const_new(tx, slot(mine, theirs, Py_EQ), out) : ST_OK;
}

/* Slots of sequences take numbers: a type without slots of mappings converts its key. */
static Status slot_key(Tx *tx, const Var *c, Var *key)
{
    const PyMappingMethods *m = c->type->tp_as_mapping;
    Py_ssize_t n;
    return m && m->mp_subscript ? ST_OK : var_ssize(tx, key, PyExc_OverflowError, &n);
}

/* Slot wrappers (dict.__getitem__ through super() …) that mean a protocol of the built-in part. */
static Status wrapper_call(Tx *tx, PyObject *descr, const Args *a, Var **out)
{
    if (Py_TYPE(descr) != &PyWrapperDescr_Type || a->n < 1)
        return ST_DECLINE;
    PyObject *name = PyDescr_NAME(descr);
    if (a->nkw && name != str___call__)
        return ST_DECLINE;
    Var *self = a->v[0];
    TRY(var_real(tx, &self));
    Var *c = var_content(self);
    bool yes;
    if (c == NULL || c->kind == &kind_object ||
        !PyType_IsSubtype(c->type, PyDescr_TYPE(descr)))
        return ST_DECLINE;
    if (name == str___getitem__ && a->n == 2) {
        TRY(slot_key(tx, c, a->v[1]));
        return var_getitem(tx, c, a->v[1], out);
    }
    if (name == str___len__ && a->n == 1)
        return var_len(tx, c, out);
    if (name == str___iter__ && a->n == 1)
        return var_iter(tx, c, out);
    if (name == str___next__ && a->n == 1 &&
        (c->kind == &kind_iter || c->kind == &kind_wrapiter || c->kind == &kind_gen)) {
        TRY(var_next(tx, c, out));
        return *out ? ST_OK : raise_type(tx, PyExc_StopIteration, "%s", "");
    }
    if (c->type != PyDescr_TYPE(descr) && PyType_IsSubtype(c->type, &PyODict_Type))
        return ST_DECLINE;
    *out = tx->none;
    if ((name == str___setitem__ && a->n == 3) || (name == str___delitem__ && a->n == 2)) {
        TRY(slot_key(tx, c, a->v[1]));
        return var_setitem(tx, c, a->v[1], a->n == 3 ? a->v[2] : NULL);
    }
    if (name == str___contains__ && a->n == 2) {
        TRY(var_contains(tx, c, a->v[1], &yes));
        *out = tx_bool(tx, yes);
        return ST_OK;
    }
    if (name == str___eq__ && a->n == 2)
        return slot_equal(tx, c, a->v[1], out);
    if (name == str___repr__ && a->n == 1)
        return c == self || object_nameless(c)
                   ? var_repr(tx, c, out)
                   : graph_break(tx, BRK_NO_SLOT, "repr of %s", self->type->tp_name);
    if (name == str___call__)
        return var_call(tx, self, &(Args){ a->v + 1, a->n - 1, a->nkw, a->kwnames }, out);
    return ST_DECLINE;
}

static Status unknown(Tx *tx, PyObject *callable)
{
    const char *module = "";
    PyObject *m = PyObject_GetAttr(callable, str___module__);
    if (m && PyUnicode_Check(m))
        module = PyUnicode_AsUTF8(m);
    PyErr_Clear();
    Status st =
        graph_break(tx, BRK_UNKNOWN_CALL, "%s %R", module ? module : "", callable);
    Py_XDECREF(m);
    return st;
}

/* As descr_check and wrapperdescr_call: a method of C is given an instance of its class. */
static Status right_self(Tx *tx, PyObject *descr, const Args *a)
{
    bool wrapper = Py_IS_TYPE(descr, &PyWrapperDescr_Type);
    if ((!wrapper && !Py_IS_TYPE(descr, &PyMethodDescr_Type)) || a->n == 0)
        return ST_OK;
    PyTypeObject *owner = PyDescr_TYPE(descr), *t;
    TRY(var_type_of(tx, a->v[0], &t));
    if (PyType_IsSubtype(t, owner))
        return ST_OK;
    return raise_type(tx, PyExc_TypeError,
                      wrapper ? "descriptor '%U' requires a '%.100s' object but received "
                                "a '%.100s'"
                              : "descriptor '%U' for '%.100s' objects doesn't apply to a "
                                "'%.100s' object",
                      PyDescr_NAME(descr), owner->tp_name, t->tp_name);
}

/* Errors of a bound method name the class of what it is bound to: Counter.clear() takes no arguments. */
static bool named_by_self(const BuiltinVar *b)
{
    return var_is_instance(b->self) &&
           Py_IS_TYPE(builtin_callable(b), &PyMethodDescr_Type);
}

Status builtin_call(Tx *tx, BuiltinVar *b, const Args *a, Var **out)
{
    PyObject *fn = builtin_callable(b);
    Args with_self = *a;
    if (b->self != NULL)
        TRY(args_prepend(tx, b->self, a, &with_self));
    else
        TRY(right_self(tx, fn, a));
    Status st = tensor_method(tx, fn, &with_self, out);
    if (st == ST_DECLINE)
        st = known_call(tx, fn, &with_self, out);
    if (st == ST_DECLINE)
        st = wrapper_call(tx, fn, &with_self, out);
    if (st == ST_DECLINE)
        st = fold_call(tx, fn, &with_self, out);
    if (st == ST_DECLINE && !(b->self && named_by_self(b)))
        st = illegal_call(tx, fn, &with_self);
    return st == ST_DECLINE ? unknown(tx, fn) : st;
}

/* -- Everything ---------------------------------------------------------------------------- */

static bool disabled(FuncVar *f)
{
    PyObject *d = f->v.real ? ((PyFunctionObject *)f->v.real)->func_dict : NULL;
    return d && PyDict_GetItem(d, str__torchdynamo_disable) == Py_True;
}

/* torch._dynamo, once imported, wraps torch.manual_seed to have it left alone: what that does is known all the same. NULL: another
 * function. */
static PyObject *seed_behind(FuncVar *f)
{
    PyObject *d = ((PyFunctionObject *)f->v.real)->func_dict, *inner = NULL;
    if (d != NULL && (inner = PyDict_GetItemString(d, "__wrapped__")) == NULL)
        inner = PyDict_GetItemString(d, "_torchdynamo_orig_callable");
    PyObject *module = inner && PyFunction_Check(inner)
                           ? ((PyFunctionObject *)inner)->func_module
                           : NULL;
    return module && PyUnicode_Check(module) &&
                   PyUnicode_CompareWithASCIIString(module, "torch.random") == 0
               ? inner
               : NULL;
}

static Status seed_call(Tx *tx, FuncVar *f, PyObject *inner, const Args *a, Var **out)
{
    if (f->v.src && f->v.src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, f->v.src, f->v.real));
    return match_call(tx, inner, a, out);
}

/* Written in unittest/case.py. */
static bool of_unittest(Tx *tx, FuncVar *f)
{
    if (tx->unittest == NULL) {
        PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), "unittest.case");
        tx->unittest = m && PyModule_Check(m) ? PyModule_GetDict(m) : Py_None;
    }
    return ((PyFunctionObject *)f->v.real)->func_globals == tx->unittest;
}

static Status func_known(Tx *tx, FuncVar *f, const Args *a, Var **out)
{
    if (f->v.real == NULL)
        return ST_DECLINE;
    if (!switches.capture_unittest && of_unittest(tx, f))
        return graph_break(tx, BRK_DISABLED, "%U (config.capture_unittest is off)",
                           f->co->co_qualname);
    PyObject *seeds = seed_behind(f);
    if (seeds != NULL) {
        Status st = seed_call(tx, f, seeds, a, out);
        if (st != ST_DECLINE)
            return st;
    }
    if (disabled(f))
        return graph_break(tx, BRK_DISABLED, "%U", f->co->co_qualname);
    if (f->v.src && f->v.src->kind != SRC_CONST && register_knows(f->v.real))
        TRY(guard_is(&tx->guards, f->v.src, f->v.real)); /* others may share its code */
    return known_call(tx, f->v.real, a, out);
}

static bool is_operator(Var *fn)
{
    return torch_ready && fn->real && torch_classify(fn->real).cls != TC_NONE;
}

/* torch.ops.…: instances of Python classes, but nodes. */
static Status operator_call(Tx *tx, Var *fn, const Args *a, Var **out)
{
    if (!is_operator(fn))
        return ST_DECLINE;
    if (fn->src && fn->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, fn->src, fn->real));
    return operator_row(tx, fn->real, a, out);
}

Status var_call(Tx *tx, Var *fn, const Args *a, Var **out)
{
    if (tx_deep(tx))
        return graph_break(tx, BRK_RECURSION, "%s", "calls in calls");
    TRY(var_real(tx, &fn));
    if (fn->kind == &kind_func) {
        Status st = func_known(tx, AS(FuncVar, fn), a, out);
        if (st != ST_DECLINE)
            return st;
        TRY(function_stand_in(tx, &fn, a));
    }
    if (fn->kind == &kind_object) {
        Status st = operator_call(tx, fn, a, out);
        if (st != ST_DECLINE)
            return st;
    }
    if (fn->kind == &kind_opaque) {
        Status st = match_object(tx, fn, a, out);
        if (st != ST_DECLINE)
            return st;
    }
    if (fn->kind->call == NULL)
        return fn->kind == &kind_opaque
                   ? graph_break(tx, BRK_UNKNOWN_CALL, "%s object", fn->type->tp_name)
                   : raise_type(tx, PyExc_TypeError, "'%s' object is not callable",
                                fn->type->tp_name);
    return fn->kind->call(tx, fn, a, out);
}

/* One step towards the Python function behind a callable; *more: fn and a have changed. */
static Status unwrap(Tx *tx, Var **fn, Args *a, bool *more)
{
    *more = false;
    if ((*fn)->kind == &kind_method) {
        MethodVar *m = AS(MethodVar, *fn);
        TRY(args_prepend(tx, m->self, a, a));
        *fn = m->func;
        *more = true;
    } else if ((*fn)->kind == &kind_partial) {
        PartialVar *p = AS(PartialVar, *fn);
        Args more_args = *a;
        TRY(partial_args(tx, &p->args, &more_args, a));
        *fn = p->fn;
        *more = true;
    } else if (var_is_instance(*fn) && !is_operator(*fn)) {
        Var *f;
        TRY(var_special(tx, *fn, str___call__, &f));
        if (f && f->kind == &kind_func) {
            TRY(args_prepend(tx, *fn, a, a));
            *fn = f;
            *more = true;
        }
    }
    return ST_OK;
}

Status call_enter(Tx *tx, Var *fn, Args *a, Frame **entered, Var **out)
{
    bool more = true;
    *entered = NULL;
    while (more) {
        TRY(var_real(tx, &fn));
        TRY(unwrap(tx, &fn, a, &more));
    }
    if (fn->kind != &kind_func)
        return var_call(tx, fn, a, out);
    Status st = func_known(tx, AS(FuncVar, fn), a, out);
    if (st != ST_DECLINE)
        return st;
    TRY(function_stand_in(tx, &fn, a));
    if (fn->real != NULL)
        TRY(optim_adjust(tx, fn->real, a));
    TRY(frame_enter(tx, AS(FuncVar, fn), a, RET_PUSH, entered));
    if (*entered == NULL)
        *out = tx->result;
    return ST_OK;
}

/* -- Shorthands ------------------------------------------------------------------------------ */

Status var_call0(Tx *tx, Var *fn, Var **out)
{
    return var_call(tx, fn, &(Args){ 0 }, out);
}

Status var_call1(Tx *tx, Var *fn, Var *a, Var **out)
{
    Var **v = tx_alloc(tx, sizeof *v);
    TRY_PTR(v);
    v[0] = a;
    return var_call(tx, fn, &(Args){ .v = v, .n = 1 }, out);
}

Status var_call2(Tx *tx, Var *fn, Var *a, Var *b, Var **out)
{
    Var **v = tx_alloc(tx, 2 * sizeof *v);
    TRY_PTR(v);
    v[0] = a;
    v[1] = b;
    return var_call(tx, fn, &(Args){ .v = v, .n = 2 }, out);
}

Status var_call_method(Tx *tx, Var *self, const char *name, Var **v, int n, Var **out)
{
    Var *m;
    PyObject *interned = tx_hold(tx, PyUnicode_InternFromString(name));
    TRY_PTR(interned);
    TRY(var_getattr(tx, self, interned, &m));
    return var_call(tx, m, &(Args){ .v = v, .n = n }, out);
}

/* As lookup_maybe_method and vectorcall_unbound. */
Status var_call_unbound(Tx *tx, Var *self, Var *f, const Args *a, Var **out)
{
    Args with_self;
    Var *bound;
    TRY(var_real(tx, &f));
    if (PyType_HasFeature(f->type, Py_TPFLAGS_METHOD_DESCRIPTOR)) {
        TRY(args_prepend(tx, self, a, &with_self));
        return var_call(tx, f, &with_self, out);
    }
    TRY(attr_bind_special(tx, self, f, &bound));
    return var_call(tx, bound, a, out);
}

Status var_call_special(Tx *tx, Var *self, const char *name, Var **v, int n, Var **out)
{
    Var *f;
    PyObject *interned = tx_hold(tx, PyUnicode_InternFromString(name));
    TRY_PTR(interned);
    TRY(var_real(tx, &self));
    TRY(var_special(tx, self, interned, &f));
    if (f == NULL) {
        *out = NULL;
        return ST_OK;
    }
    return var_call_unbound(tx, self, f, &(Args){ .v = v, .n = n }, out);
}
