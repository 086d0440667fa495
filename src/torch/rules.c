/*
 * torch/rules.c -- results of the commonest operations, by rules.
 *
 * Takes: a call on meta twins. Gives: its result, or "no rule". Holds: a rule speaks only where it is certain, of floating
 * tensors of one dtype, shapes that fit and few keywords; errors and all else are left to torch. torch's own meta kernels are Python,
 * and the first of them imports all of torch._dynamo: a second, which a program with the "eager" backend need not pay.
 */
#include "torch/rules.h"

enum { MAX_IN = 4, HALF = 5, FLOAT = 6, DOUBLE = 7, BOOL = 11, BFLOAT16 = 15 }; /* torch's numbers of dtypes */

typedef struct Rule Rule;

typedef struct Ask {
    const InferCall *c;
    TensorMeta in[MAX_IN];
    int n;              /* tensors among the arguments */
    bool grad;          /* one of them requires grad */
    uint16_t dtype;     /* of all of them */
    TensorMeta out;
} Ask;

struct Rule {
    bool (*apply)(Ask *a);
    const char *names;
};

/* -- Operands ------------------------------------------------------------------ */

static bool floating(uint16_t dtype)
{
    return dtype == HALF || dtype == FLOAT || dtype == DOUBLE || dtype == BFLOAT16;
}

static bool scalar(PyObject *o)
{
    int overflow = 0;
    if (PyLong_CheckExact(o))
        PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0 && (PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyBool_Check(o));
}

static bool add_tensor(Ask *a, PyObject *t)
{
    TensorMeta *m = &a->in[a->n];
    if (a->n == MAX_IN || !torch_is_plain_tensor(t) || !meta_read(t, m) || !floating(m->dtype) ||
        (m->keys & torch_layout.bit_keys) || (a->n && m->dtype != a->dtype))
        return false;
    a->dtype = m->dtype;
    a->grad |= m->requires_grad;
    a->n++;
    return true;
}

static bool broadcast(const Ask *a, TensorMeta *out)
{
    out->ndim = 0;
    for (int i = 0; i < a->n; i++)
        if (a->in[i].ndim > out->ndim)
            out->ndim = a->in[i].ndim;
    for (int d = 0; d < out->ndim; d++)
        out->sizes[d] = 1;
    for (int i = 0; i < a->n; i++)
        for (int d = 0, shift = out->ndim - a->in[i].ndim; d < a->in[i].ndim; d++) {
            int64_t *to = &out->sizes[d + shift], size = a->in[i].sizes[d];
            if (*to != size && *to != 1 && size != 1)
                return false;
            *to = *to == 1 ? size : *to;
        }
    return true;
}

static bool no_keywords(const InferCall *c)
{
    return c->kwnames == NULL || PyTuple_GET_SIZE(c->kwnames) == 0;
}

/* -- Elementwise ------------------------------------------------------------------ */

static bool unary(Ask *a)
{
    const InferCall *c = a->c;
    if (c->nargs != 1 || !no_keywords(c) || !add_tensor(a, c->args[0]) || !broadcast(a, &a->out))
        return false;
    return strides_elementwise(a->in, 1, &a->out);
}

/* Tensors of one dtype and numbers, which stand for 0-dim operands. */
static bool binary(Ask *a)
{
    const InferCall *c = a->c;
    bool numbers = false;
    if (c->nargs != 2 || !no_keywords(c))
        return false;
    for (int i = 0; i < 2; i++) {
        if (scalar(c->args[i]))
            numbers = true;
        else if (!add_tensor(a, c->args[i]))
            return false;
    }
    if (a->n == 0 || !broadcast(a, &a->out))
        return false;
    if (!numbers)
        return strides_elementwise(a->in, a->n, &a->out);
    TensorMeta operands[2] = { a->in[0], { .ndim = 0, .numel = 1 } };
    return strides_elementwise(operands, 2, &a->out);
}

static bool compare(Ask *a)
{
    if (!binary(a))
        return false;
    a->dtype = BOOL;
    a->grad = false;
    return true;
}

static const Rule rules[] = {
    { unary, "sin cos tan exp exp2 expm1 log log2 log10 log1p sqrt rsqrt tanh sigmoid erf erfc neg negative abs absolute "
             "reciprocal square relu silu gelu floor ceil trunc sinh cosh asin acos atan" },
    { binary, "add sub subtract mul multiply div divide true_divide truediv" },
    { compare, "eq ne lt le gt ge less less_equal greater greater_equal not_equal" },
};

/* -- Finding the rule ------------------------------------------------------------ */

static PyObject *by_object, *by_method; /* callable, name of a method -> index of its rule */
static unsigned methods_of;             /* version of torch.Tensor when by_method was made */

static void note(PyObject *holder, const char *name, PyObject *index)
{
    PyObject *f = PyObject_GetAttrString(holder, name);
    if (f)
        PyDict_SetItem(by_object, f, index);
    PyErr_Clear();
    Py_XDECREF(f);
}

static bool note_names(const Rule *r, PyObject *const *holders, size_t n)
{
    char buf[512], *rest = buf;
    PyObject *index = PyLong_FromSsize_t(r - rules);
    snprintf(buf, sizeof buf, "%s", r->names);
    for (char *name; index && (name = strtok_r(rest, " ", &rest));) {
        for (size_t i = 0; i < n; i++)
            note(holders[i], name, index);
        if (PyObject_HasAttrString((PyObject *)torch_types.tensor, name))
            PyDict_SetItemString(by_method, name, index);
    }
    Py_XDECREF(index);
    return index != NULL;
}

static bool make_tables(void)
{
    PyObject *op = PyImport_ImportModule("operator"), *functional = torch_path("nn.functional");
    PyObject *holders[] = { op, torch_py.torch, functional, (PyObject *)torch_types.tensor };
    by_object = PyDict_New();
    by_method = PyDict_New();
    bool ok = op && functional && by_object && by_method;
    for (size_t i = 0; i < COUNT_OF(rules) && ok; i++)
        ok = note_names(&rules[i], holders, COUNT_OF(holders));
    Py_XDECREF(functional);
    Py_XDECREF(op);
    PyErr_Clear();
    methods_of = torch_types.tensor->tp_version_tag;
    return ok;
}

static const Rule *rule_of(const InferCall *c)
{
    if (by_method == NULL && !make_tables())
        return NULL;
    bool method = c->kind == NODE_METHOD;
    if (method && (methods_of == 0 || torch_types.tensor->tp_version_tag != methods_of))
        return NULL; /* methods were exchanged */
    PyObject *i = PyDict_GetItemWithError(method ? by_method : by_object, c->target);
    PyErr_Clear();
    return i ? &rules[PyLong_AsLong(i)] : NULL;
}

Status rules_call(const InferCall *c, PyObject **out, PyObject **device)
{
    Ask a;
    const Rule *r = torch_layout.ok && c->device ? rule_of(c) : NULL;
    a.c = c;
    a.n = 0;
    a.grad = false;
    if (r == NULL || !r->apply(&a) || torch_py.dtypes[a.dtype] == NULL)
        return ST_DECLINE;
    a.out.requires_grad = a.grad && c->grad;
    a.out.is_leaf = !a.out.requires_grad;
    a.out.is_view = false;
    a.out.storage_offset = 0;
    *out = infer_make(&a.out, torch_py.dtypes[a.dtype]);
    *device = infer_device(c->device);
    return *out && *device ? ST_OK : ST_ERROR;
}
