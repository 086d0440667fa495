/*
 * var/tensor.c -- tensors: graph values with metadata.
 *
 * Metadata questions are answered by the meta twin; everything else of a tensor becomes a graph node. Its data is not known: truth,
 * item(), indices taken from it are breaks.
 */
#include "torch/lib.h"
#include "trace/torchcall.h"
#include "trace/tx.h"
#include "var/binops.h"
#include "var/call.h"
#include "var/names.h"
#include "var/type.h"
#include "var/wrap.h"

/* o.name() as 0 or 1; -1 with an exception set. Steals o. */
static int ask(PyObject *o, const char *name)
{
    PyObject *r = o ? PyObject_CallMethod(o, name, NULL) : NULL;
    int yes = r ? PyObject_IsTrue(r) : -1;
    Py_XDECREF(r);
    Py_XDECREF(o);
    return yes;
}

/* -- Inputs ----------------------------------------------------------------------------- */

static Status note_storage(Tx *tx, void *storage)
{
    if (!tx->shared && ptrmap_get(&tx->storages, storage, NULL))
        SET(tx, tx->shared, 1);
    return ptrmap_put(&tx->storages, &tx->arena, &tx->journal, storage, storage)
               ? ST_OK
               : ST_ERROR;
}

Status tensor_wrap(Tx *tx, PyObject *o, Source *src, Var **out)
{
    TensorMeta m;
    TensorVar *t;
    size_t size;
    if (!torch_is_plain_tensor(o) || !meta_read(o, &m))
        return graph_break(tx, BRK_TENSOR_KIND, "%s", Py_TYPE(o)->tp_name);
    const void *block = meta_guard_block(&tx->arena, o, &size);
    TRY_PTR(block);
    TRY(guard_add(&tx->guards,
                  (Guard){ .kind = GUARD_TENSOR, .src = src, .p = block, .size = size }));
    TRY(VAR_MAKE(tx, tensor, TensorVar, Py_TYPE(o), &t));
    t->v.real = o;
    t->v.src = src;
    t->device = tx_hold(tx, meta_device(o));
    TRY_PTR(t->device);
    t->external = true;
    TRY(note_storage(tx, m.storage));
    int inference = ask(Py_NewRef(o), "is_inference");
    if (inference < 0)
        return ST_ERROR;
    if (inference && !tx->inference0) /* as any other while the mode is on */
        SET(tx, tx->strange, 1);
    *out = &t->v;
    return ST_OK;
}

static Var *identity_of(Var *v)
{
    return AS(TensorVar, v)->same ? AS(TensorVar, v)->same : v;
}

/* x.contiguous() of a layout that is not certain is x, or is not. */
static Status sure_identity(Tx *tx, Var *v)
{
    if (AS(TensorVar, v)->vague)
        return graph_break(tx, BRK_LAYOUT, "%s", "identity");
    return ST_OK;
}

Status tensor_is(Tx *tx, Var *a, Var *b, bool *yes)
{
    if (a == b) {
        *yes = true;
        return ST_OK;
    }
    TRY(sure_identity(tx, a));
    TRY(sure_identity(tx, b));
    a = identity_of(a);
    b = identity_of(b);
    *yes = a == b;
    if (!*yes && a->real && b->real)
        return var_distinct(tx, a, b);
    return ST_OK;
}

/* -- Metadata ------------------------------------------------------------------------------ */

/* A property of the meta twin: a constant, or a tuple of them. */
static Status from_meta(Tx *tx, TensorVar *t, PyObject *name, Var **out)
{
    PyObject *meta;
    TRY(tensor_meta(tx, t, &meta));
    PyObject *o = PyObject_GetAttr(meta, name);
    if (o == NULL)
        return raise_now(tx);
    TRY_PTR(tx_hold(tx, o));
    if (PyTuple_Check(o)) {
        Py_ssize_t n = PyTuple_GET_SIZE(o);
        Var **items = tx_alloc(tx, (size_t)(n + 1) * sizeof *items);
        TRY_PTR(items);
        for (Py_ssize_t i = 0; i < n; i++)
            TRY(const_peek(tx, PyTuple_GET_ITEM(o, i), &items[i]));
        return tuple_new_type(tx, Py_TYPE(o), items, n, out);
    }
    return const_peek(tx, o, out);
}

/* A write to what may share memory with this one, in a way that the twins do not show, may have changed it. */
static Status from_autograd(Tx *tx, TensorVar *t, PyObject *name, Var **out)
{
    PyObject *meta;
    TensorMeta m;
    TRY(tensor_meta(tx, t, &meta));
    bool needs = !meta_read(meta, &m) || m.requires_grad;
    if (tx->blurred && !needs && (t->external || infer_unsure(meta)))
        return graph_break(tx, BRK_LAYOUT, "%U after a write", name);
    TRY(sure_identity(tx, &t->v));
    if (needs && identity_of(&t->v)->real &&
        PyUnicode_CompareWithASCIIString(name, "is_leaf") == 0)
        TRY(torch_facts(tx, t));
    return from_meta(tx, t, name, out);
}

/* Leaves have none. */
static Status gradient_function(Tx *tx, TensorVar *t, PyObject *name, Var **out)
{
    PyObject *is_leaf = tx_hold(tx, PyUnicode_InternFromString("is_leaf"));
    Var *leaf;
    TRY_PTR(is_leaf);
    TRY(from_autograd(tx, t, is_leaf, &leaf));
    *out = tx->none;
    return leaf == tx->true_
               ? ST_OK
               : graph_break(tx, BRK_NO_SLOT, "attribute '%U' of a tensor", name);
}

static Status from_device(Tx *tx, TensorVar *t, PyObject *name, Var **out)
{
    const char *attr = PyUnicode_AsUTF8(name), *type;
    if (strcmp(attr, "device") == 0)
        return const_peek(tx, t->device, out);
    PyObject *o = tx_hold(tx, PyObject_GetAttrString(t->device, "type"));
    TRY_PTR(o);
    type = PyUnicode_AsUTF8(o); /* is_cuda, is_cpu … */
    *out = tx_bool(tx, strcmp(attr + 3, type) == 0);
    return ST_OK;
}

/* Views and copies reached as properties: a node. */
static Status from_node(Tx *tx, TensorVar *t, PyObject *name, Var **out)
{
    static PyObject *getattr_fn;
    Var *v[2] = { &t->v };
    TorchOp op = { .cls = TC_NODE, .view = true, .pure = true, .total = true };
    if (getattr_fn == NULL)
        getattr_fn = PyDict_GetItemString(PyEval_GetBuiltins(), "getattr");
    TRY_PTR(getattr_fn);
    TRY(const_peek(tx, name, &v[1]));
    return torch_call(tx, getattr_fn, false, op, &(Args){ .v = v, .n = 2 }, out);
}

/* Input tensors: the gradient is an existing object of its own, or None. */
static Status gradient(Tx *tx, TensorVar *t, PyObject *name, Var **out)
{
    TRY(sure_identity(tx, &t->v));
    t = AS(TensorVar, identity_of(&t->v));
    if (t->v.real == NULL) {
        PyObject *meta, *leaf;
        TRY(tensor_meta(tx, t, &meta));
        leaf = tx_hold(tx, PyObject_GetAttrString(meta, "is_leaf"));
        TRY_PTR(leaf);
        if (leaf == Py_True) {
            *out = tx->none;
            return ST_OK;
        }
        return graph_break(tx, BRK_NO_SLOT, "gradient of a tensor made in the trace");
    }
    PyObject *leaf = tx_hold(tx, PyObject_GetAttrString(t->v.real, "is_leaf"));
    TRY_PTR(leaf);
    TRY(torch_facts(tx, t));
    if (leaf != Py_True) /* torch warns */
        return graph_break(tx, BRK_NO_SLOT, "gradient of a tensor that is no leaf");
    PyObject *g = tx_hold(tx, PyObject_GetAttr(t->v.real, str_grad));
    Source *src = source_get(&tx->sources, SRC_GRAD, t->v.src, NULL, 0);
    TRY_PTR(g);
    TRY_PTR(src);
    return lazy_new(tx, g, src, out);
}

typedef Status (*Property)(Tx *, TensorVar *, PyObject *, Var **);

static const struct PropertyRow {
    const char *name;
    Property get;
} properties[] = {
    { "shape", from_meta },
    { "dtype", from_meta },
    { "ndim", from_meta },
    { "layout", from_meta },
    { "requires_grad", from_autograd },
    { "is_leaf", from_autograd },
    { "is_sparse", from_meta },
    { "is_quantized", from_meta },
    { "is_nested", from_meta },
    { "itemsize", from_meta },
    { "nbytes", from_meta },
    { "is_mkldnn", from_meta },
    { "device", from_device },
    { "is_cuda", from_device },
    { "is_cpu", from_device },
    { "is_meta", from_device },
    { "is_xpu", from_device },
    { "is_mps", from_device },
    { "T", from_node },
    { "mT", from_node },
    { "H", from_node },
    { "mH", from_node },
    { "real", from_node },
    { "imag", from_node },
    { "data", from_node },
    { "grad", gradient },
    { "grad_fn", gradient_function },
};

static const struct PropertyRow *property(PyObject *name)
{
    const char *s = PyUnicode_AsUTF8(name);
    for (size_t i = 0; i < COUNT_OF(properties); i++)
        if (strcmp(properties[i].name, s) == 0)
            return &properties[i];
    return NULL;
}

/* -- Attributes ------------------------------------------------------------------------------- */

static Status python_attr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    TensorVar *t = AS(TensorVar, self);
    DictVar *d;
    *out = NULL;
    if (self->real == NULL && t->same && t->same->real)
        return python_attr(tx, t->same, name, out);
    if (self->real == NULL && t->attrs == NULL)
        return ST_OK;
    TRY(attrs_of(tx, self, &d));
    return d ? dict_get_str(tx, d, name, out) : ST_OK;
}

static Status tensor_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    const struct PropertyRow *p = property(name);
    TRY(type_lookup(tx, self->type, name, &descr));
    if (p != NULL && descr && Py_IS_TYPE(descr, &PyGetSetDescr_Type))
        return p->get(tx, AS(TensorVar, self), name, out);
    if (descr &&
        (Py_TYPE(descr) == &PyMethodDescr_Type || Py_TYPE(descr) == &PyFunction_Type ||
         Py_TYPE(descr) == &PyWrapperDescr_Type)) {
        if (torch_classify_method(name).cls != TC_NONE)
            return builtin_new(tx, descr, self, out);
    }
    if (descr && Py_TYPE(descr) == &PyGetSetDescr_Type)
        return graph_break(tx, BRK_NO_SLOT, "attribute '%U' of a tensor", name);
    TRY(python_attr(tx, self, name, out));
    return *out ? ST_OK : var_generic_getattr(tx, self, name, out);
}

static Status tensor_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr || self->real == NULL)
        return graph_break(tx, BRK_NO_SLOT, "store to '%U' of a tensor", name);
    return var_generic_setattr(tx, self, name, value);
}

/* -- Methods and operators ------------------------------------------------------------------------ */

/* C methods without arguments; torch words the failure with the class's name of the moment. */
static Status no_arguments(Tx *tx, const Args *a, const char *name)
{
    return a->n + a->nkw > 1
               ? graph_break(tx, BRK_TORCH_CALL, "Tensor.%s() with arguments", name)
               : ST_OK;
}

/* A method that is answered here; arguments include the tensor. */
static Status get_device(Tx *tx, TensorVar *t, const Args *a, Var **out)
{
    TRY(no_arguments(tx, a, "get_device"));
    PyObject *index = tx_hold(tx, PyObject_GetAttrString(t->device, "index"));
    TRY_PTR(index);
    return index == Py_None ? const_int(tx, -1, out) : const_peek(tx, index, out);
}

/* Autograd reads the flag as the graph runs, and backends refuse to change it: only what is so already goes on. */
static Status requires_grad_(Tx *tx, TensorVar *t, const Args *a, Var **out)
{
    Var *now, *wanted = a->n + a->nkw > 1 ? a->v[1] : tx->true_;
    PyObject *flag;
    TRY(from_meta(tx, t, tx_hold(tx, PyUnicode_InternFromString("requires_grad")), &now));
    TRY(var_const(tx, wanted, &flag));
    if (flag != now->real)
        return graph_break(tx, BRK_TORCH_CALL, "Tensor.requires_grad_");
    *out = &t->v;
    return ST_OK;
}

/* Twins are never inference tensors. What comes out of the graph is one if the mode is on, and may be if it is a view. */
static Status is_inference(Tx *tx, TensorVar *t, const Args *a, Var **out)
{
    TRY(no_arguments(tx, a, "is_inference"));
    TensorVar *known = t->same ? AS(TensorVar, t->same) : t;
    bool existed = known->v.real != NULL;
    int yes =
        existed ? ask(Py_NewRef(known->v.real), "is_inference") : (int)tx->inference;
    if (yes < 0)
        return raise_now(tx);
    if (!existed && (yes || known->external || tx->inferred))
        return graph_break(tx, BRK_NO_SLOT, "is_inference() of a result");
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* Twins of inputs are views only where autograd needs it. */
static Status is_view(Tx *tx, TensorVar *t, const Args *a, Var **out)
{
    Var *known = identity_of(&t->v);
    TRY(sure_identity(tx, &t->v));
    if (known->real == NULL)
        return tx->inferred ? graph_break(tx, BRK_LAYOUT, "%s", "_is_view") : ST_DECLINE;
    TRY(torch_facts(tx, t));
    int yes = ask(Py_NewRef(known->real), "_is_view");
    if (yes < 0)
        return raise_now(tx);
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* x.type(), a name; with an argument it is a conversion, a node. */
static Status type_(Tx *tx, TensorVar *t, const Args *a, Var **out)
{
    return a->n + a->nkw == 1 ? graph_break(tx, BRK_TORCH_CALL, "Tensor.type()")
                              : ST_DECLINE;
}

/* x.new(2, 3), x.new(x.shape): as new_empty; what else it takes (data, storages) is left alone. */
static Status new_(Tx *tx, TensorVar *t, const Args *a, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("new_empty"));
    Var *sizes = a->n == 2 ? a->v[1] : NULL;
    PyTypeObject *type = NULL;
    TRY_PTR(name);
    if (a->n < 2 || a->nkw)
        return ST_DECLINE;
    if (sizes)
        TRY(var_type_of(tx, sizes, &type));
    if (type != torch_types.size) {
        for (int i = 1; i < a->n; i++) {
            TRY(var_type_of(tx, a->v[i], &type));
            if (type != &PyLong_Type)
                return ST_DECLINE;
        }
        TRY(tuple_new(tx, a->v + 1, a->n - 1, &sizes));
    }
    Args b = { .v = (Var *[]){ &t->v, sizes }, .n = 2 };
    return torch_call(tx, name, true, torch_classify_method(name), &b, out);
}

static const struct MethodRow {
    const char *name;
    Status (*call)(Tx *, TensorVar *, const Args *, Var **); /* ST_DECLINE: a node, then */
} methods[] = {
    { "get_device", get_device },
    { "requires_grad_", requires_grad_ },
    { "is_inference", is_inference },
    { "_is_view", is_view },
    { "type", type_ },
    { "new", new_ },
};

Status tensor_call_method(Tx *tx, TensorVar *t, PyObject *name, const Args *a, Var **out)
{
    TorchOp op = torch_classify_method(name);
    if (op.cls == TC_NONE)
        return ST_DECLINE;
    for (size_t i = 0; i < COUNT_OF(methods); i++)
        if (PyUnicode_CompareWithASCIIString(name, methods[i].name) == 0) {
            Status st = methods[i].call(tx, t, a, out);
            if (st != ST_DECLINE)
                return st;
        }
    if (op.cls == TC_BREAK)
        return graph_break(tx, BRK_TORCH_CALL, "Tensor.%U", name);
    return torch_call(tx, name, true, op, a, out);
}

static PyObject *truth_of(PyObject *t)
{
    int yes = PyObject_IsTrue(t);
    return yes < 0 ? NULL : PyBool_FromLong(yes);
}

static Status tensor_truth(Tx *tx, Var *self, bool *yes)
{
    Var *known;
    TRY(tensor_known(tx, AS(TensorVar, self), truth_of, &known));
    if (known == NULL)
        return graph_break(tx, BRK_DATA_DEPENDENT, "truth of a tensor");
    *yes = known->real == Py_True;
    return ST_OK;
}

/* A break if somebody has put another method into the class than torch did. */
static Status torchs_own(Tx *tx, Var *self, PyObject *name)
{
    static PyObject *globals; /* of Tensor's methods in Python */
    PyObject *f, *m;
    if (globals == NULL && (m = torch_path("_tensor")) != NULL)
        globals = PyModule_GetDict(m);
    TRY_PTR(globals);
    TRY(type_lookup(tx, self->type, name, &f));
    if (f != NULL && PyFunction_Check(f) && PyFunction_GET_GLOBALS(f) == globals)
        return ST_OK;
    return graph_break(tx, BRK_NO_SLOT, "%U of a tensor, which torch did not write", name);
}

static Status tensor_len(Tx *tx, Var *self, Var **out)
{
    PyObject *meta;
    TRY(torchs_own(tx, self, str___len__));
    TRY(tensor_meta(tx, AS(TensorVar, self), &meta));
    Py_ssize_t n = PyObject_Size(meta);
    return n < 0 ? raise_now(tx) : const_int(tx, n, out);
}

/* Indices in tensors and lists are checked when they are used; all others are known to fit. */
static bool plain_key(Var *key)
{
    if (key->kind == &kind_lazy)
        key = AS(LazyVar, key)->got;
    if (key == NULL)
        return false;
    if (key->kind == &kind_slice)
        return true;
    if (key->kind == &kind_tuple) {
        for (Py_ssize_t i = 0; i < AS(TupleVar, key)->n; i++)
            if (!plain_key(AS(TupleVar, key)->items[i]))
                return false;
        return true;
    }
    return key->kind == &kind_const || key->kind == &kind_scalar;
}

static Status tensor_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    Var *v[2] = { self, key };
    bool plain = plain_key(key);
    return torch_call(
        tx, operator_fns[FN_getitem], false,
        (TorchOp){ .cls = TC_NODE, .view = true, .pure = plain, .total = plain },
        &(Args){ .v = v, .n = 2 }, out);
}

static Status tensor_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    Var *v[3] = { self, key, value }, *ignored;
    if (value == NULL)
        return raise_type(tx, PyExc_TypeError, "Tensor does not support deleting items");
    return torch_call(
        tx, operator_fns[FN_setitem], false,
        (TorchOp){ .cls = TC_NODE, .mutates = true, .total = plain_key(key) },
        &(Args){ .v = v, .n = 3 }, &ignored);
}

static Status tensor_iter(Tx *tx, Var *self, Var **out)
{
    Var *n, *item, *index;
    PyObject *count, *meta;
    TRY(torchs_own(tx, self, str___iter__));
    TRY(tensor_meta(tx, AS(TensorVar, self), &meta));
    Py_ssize_t size = PyObject_Size(meta);
    if (size < 0) { /* only len() says that it was asked for a length */
        PyErr_Clear();
        return raise_type(tx, PyExc_TypeError, "iteration over a 0-d tensor");
    }
    TRY(var_len(tx, self, &n));
    TRY(var_const(tx, n, &count));
    if (size > 4096)
        return graph_break(tx, BRK_LOOP_BUDGET, "iteration over a tensor of %zd rows",
                           size);
    /* as Tensor.__iter__: unbind(0) */
    Args a = { .v = (Var *[]){ self }, .n = 1 };
    TorchOp op = {
        .cls = TC_NODE, .view = true, .structured = true, .pure = true, .total = true
    };
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("unbind"));
    TRY_PTR(name);
    TRY(torch_call(tx, name, true, op, &a, &item));
    (void)index;
    return var_iter(tx, item, out);
}

static Status tensor_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    TRY(sure_identity(tx, self));
    Var *v = identity_of(self);
    *key = v->real;
    *h = (Py_hash_t)(v->real ? (uintptr_t)v->real : (uintptr_t)v); /* torch's is id() */
    return ST_OK;
}

/* -- The kind -------------------------------------------------------------------------------------- */

const VarKind kind_tensor = {
    .name = "tensor",
    .id = KIND_tensor,
    .getattr = tensor_getattr,
    .setattr = tensor_setattr,
    .iter = tensor_iter,
    .len = tensor_len,
    .getitem = tensor_getitem,
    .setitem = tensor_setitem,
    .truth = tensor_truth,
    .hash = tensor_hash,
};
