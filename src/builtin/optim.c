/*
 * builtin/optim.c -- what torch.optim and its helpers need besides tensors: profiler ranges, lazily made state, tensors in groups.
 *
 * Takes: calls of torch's Python functions. Gives: their meaning where inlining them would end the trace.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/container.h"
#include "var/func.h"

static PyObject *name_of(Tx *tx, const char *text)
{
    return tx_hold(tx, PyUnicode_InternFromString(text));
}

/* -- Profiler ranges -------------------------------------------------------- */

/* A range that nobody records is left out. It looks as if its end had been reported already, so that the real __exit__, if the trace
 * ends inside, does nothing. */
static Status range_enter(Tx *tx, const Args *a, Var **out)
{
    PyObject *flag = name_of(tx, "run_callbacks_on_exit");
    TRY_PTR(flag);
    if (tx->ambient == NULL || !ambient_quiet(tx->ambient))
        return ST_DECLINE;
    TRY(var_setattr(tx, a->v[0], flag, tx_bool(tx, false)));
    *out = a->v[0];
    return ST_OK;
}

/* -- State ------------------------------------------------------------------ */

/* An existing value that the trace has not changed, and that may be looked at from outside therefore. */
static Status untouched(Tx *tx, Var *v, PyObject **real)
{
    DictVar *attrs;
    TRY(var_real(tx, &v));
    *real = v->dirty ? NULL : v->real;
    if (*real == NULL || v->kind != &kind_object)
        return ST_OK;
    TRY(attrs_of(tx, v, &attrs));
    if (attrs && (attrs->v.dirty || attrs->writes.n || attrs->dels.n))
        *real = NULL;
    return ST_OK;
}

/* The call with empty lists for what it collects. */
static int collect(PyObject *method, PyObject *group, int nlists)
{
    PyObject *args = PyTuple_New(nlists + 1);
    if (args == NULL)
        return -1;
    PyTuple_SET_ITEM(args, 0, Py_NewRef(group));
    for (int i = 1; i <= nlists; i++) {
        PyObject *list = PyList_New(0);
        if (list == NULL) {
            Py_DECREF(args);
            return -1;
        }
        PyTuple_SET_ITEM(args, i, list);
    }
    PyObject *r = PyObject_CallObject(method, args);
    Py_DECREF(args);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

/* Optimizer._init_group(self, group, lists…) makes the state of parameters that have none. It is run for real before it is traced, with
 * lists of its own: what it makes depends on nothing that the trace may have changed, making it twice changes nothing, and so the first
 * step is the same trace as all later ones. */
static Status init_group(Tx *tx, const Args *a, Var **out)
{
    PyObject *self, *group, *state, *name = name_of(tx, "state");
    Var *v;
    TRY_PTR(name);
    if (a->nkw)
        return ST_DECLINE;
    TRY(untouched(tx, a->v[0], &self));
    TRY(untouched(tx, a->v[1], &group));
    if (self == NULL || group == NULL)
        return ST_DECLINE;
    TRY(var_getattr(tx, a->v[0], name, &v));
    TRY(untouched(tx, v, &state));
    PyObject *method =
        state ? tx_hold(tx, PyObject_GetAttrString(self, "_init_group")) : NULL;
    if (method == NULL || collect(method, group, a->n - 2) < 0)
        PyErr_Clear();
    return ST_DECLINE;
}

/* -- Step counts ------------------------------------------------------------ */

/* optimizer._get_value(x): x.item(). A float has 64 bits, so that what is computed from it rounds as it does plainly. */
static Status get_value(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0], *real;
    TRY(var_real(tx, &v));
    if (v->kind != &kind_tensor)
        return ST_DECLINE;
    TRY(var_call_method(tx, v, "is_floating_point", NULL, 0, &real));
    return real == tx_bool(tx, true) ? var_call_method(tx, v, "double", NULL, 0, out)
                                     : ST_DECLINE;
}

/* Of these optimizers the usual way asks how far the count is, and the one for captured streams, told by `capturable`, does not: they
 * are called with that flag. */
static const char *const counting[] = {
    "torch.optim.radam._single_tensor_radam", "torch.optim.radam._multi_tensor_radam",
    "torch.optim.asgd._single_tensor_asgd",   "torch.optim.asgd._multi_tensor_asgd",
    "torch.optim.rprop._single_tensor_rprop", "torch.optim.rprop._multi_tensor_rprop",
};
static PathTable counters;

int optim_init(void)
{
    for (size_t i = 0; i < COUNT_OF(counting); i++)
        if (paths_add(&counters, counting[i], counting[i]) < 0)
            return -1;
    return 0;
}

Status optim_adjust(Tx *tx, PyObject *fn, Args *a)
{
    if (paths_find(&counters, fn) == NULL)
        return ST_OK;
    Var **v = tx_alloc(tx, (size_t)(a->n + a->nkw + 1) * sizeof *v);
    TRY_PTR(v);
    for (int i = 0; i < a->n + a->nkw; i++) {
        bool flag =
            i >= a->n && PyUnicode_CompareWithASCIIString(
                             PyTuple_GET_ITEM(a->kwnames, i - a->n), "capturable") == 0;
        v[i] = flag ? tx_bool(tx, true) : a->v[i];
    }
    a->v = v;
    return ST_OK;
}

/* -- Groups ----------------------------------------------------------------- */

typedef struct Grouping {
    Var ***lists; /* items of each list */
    Py_ssize_t nlists, n;
    PyObject *samples; /* (device, dtype) -> an empty tensor of that kind */
} Grouping;

/* Lists of one length, the first of which holds tensors alone; ST_DECLINE otherwise. */
static Status grouping(Tx *tx, Var *lists, Grouping *g)
{
    Var **outer, **items;
    Py_ssize_t n;
    bool known;
    TRY(items_exact(tx, lists, &outer, &g->nlists, &known));
    if (!known || g->nlists == 0)
        return ST_DECLINE;
    g->lists = tx_alloc(tx, (size_t)g->nlists * sizeof *g->lists);
    TRY_PTR(g->lists);
    for (Py_ssize_t i = 0; i < g->nlists; i++) {
        TRY(items_exact(tx, outer[i], &items, &n, &known));
        if (!known || (i > 0 && n != g->n))
            return ST_DECLINE;
        g->n = n;
        g->lists[i] = tx_alloc(tx, (size_t)(n + 1) * sizeof *items);
        TRY_PTR(g->lists[i]);
        for (Py_ssize_t k = 0; k < n; k++) {
            g->lists[i][k] = items[k];
            TRY(var_real(tx, &g->lists[i][k]));
            if (i == 0 && g->lists[i][k]->kind != &kind_tensor)
                return ST_DECLINE;
        }
    }
    return ST_OK;
}

static Status kind_of(Tx *tx, Var *tensor, Var **device, Var **dtype)
{
    PyObject *d = name_of(tx, "device"), *t = name_of(tx, "dtype");
    if (d == NULL || t == NULL)
        return ST_ERROR;
    TRY(var_getattr(tx, tensor, d, device));
    return var_getattr(tx, tensor, t, dtype);
}

/* An empty tensor that is grouped as this one; borrowed. */
static Status sample(Tx *tx, Grouping *g, Var *tensor, PyObject **out)
{
    Var *device, *dtype;
    TRY(kind_of(tx, tensor, &device, &dtype));
    PyObject *key = tx_hold(tx, PyTuple_Pack(2, device->real, dtype->real));
    TRY_PTR(key);
    *out = PyDict_GetItemWithError(g->samples, key);
    if (*out != NULL || PyErr_Occurred())
        return *out ? ST_OK : ST_ERROR;
    PyObject *empty = lookup_path(tx, "torch", "empty");
    PyObject *kw = Py_BuildValue("{sOsO}", "device", device->real, "dtype", dtype->real);
    PyObject *args = Py_BuildValue("(i)", 0);
    PyObject *made =
        empty && kw && args ? tx_hold(tx, PyObject_Call(empty, args, kw)) : NULL;
    Py_XDECREF(kw);
    Py_XDECREF(args);
    if (made == NULL || PyDict_SetItem(g->samples, key, made) < 0)
        return ST_ERROR;
    *out = made;
    return ST_OK;
}

/* The groups' order is a hash table's: torch itself is asked, with samples. Gives the dictionary of a call with_indices. */
static Status ask_order(Tx *tx, Grouping *g, PyObject *fn, PyObject **out)
{
    PyObject *one;
    PyObject *list = tx_hold(tx, PyList_New(g->n));
    g->samples = tx_hold(tx, PyDict_New());
    if (list == NULL || g->samples == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < g->n; i++) {
        TRY(sample(tx, g, g->lists[0][i], &one));
        PyList_SET_ITEM(list, i, Py_NewRef(one));
    }
    *out = tx_hold(tx, PyObject_CallFunction(fn, "[O]O", list, Py_True));
    return *out ? ST_OK : raise_now(tx);
}

/* (lists of the group's members, their positions) */
static Status group_value(Tx *tx, Grouping *g, PyObject *indices, bool tell, Var **out)
{
    Py_ssize_t n = PyList_GET_SIZE(indices);
    Var **lists = tx_alloc(tx, (size_t)g->nlists * sizeof *lists);
    Var **items = tx_alloc(tx, (size_t)(n + 1) * sizeof *items), *pair[2];
    if (lists == NULL || items == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < g->nlists; i++) {
        for (Py_ssize_t k = 0; k < n; k++)
            items[k] = g->lists[i][PyLong_AsSsize_t(PyList_GET_ITEM(indices, k))];
        TRY(list_new(tx, items, n, &lists[i]));
    }
    for (Py_ssize_t k = 0; tell && k < n; k++)
        TRY(const_peek(tx, PyList_GET_ITEM(indices, k), &items[k]));
    TRY(list_new(tx, lists, g->nlists, &pair[0]));
    TRY(list_new(tx, items, tell ? n : 0, &pair[1]));
    return tuple_new(tx, pair, 2, out);
}

/* torch._C._group_tensors_by_device_and_dtype(lists, with_indices) */
static Status group_tensors(Tx *tx, const Args *a, Var **out)
{
    PyObject *fn = lookup_path(tx, "torch._C", "_group_tensors_by_device_and_dtype");
    PyObject *groups, *first, *group;
    Var *with = args_get(a, 1, "with_indices"), *kind[2], *key, *value;
    Grouping g = { 0 };
    Py_ssize_t pos = 0;
    DictVar *made;
    bool tell = false;
    if (fn == NULL)
        return ST_DECLINE;
    if (with)
        TRY(var_truth(tx, with, &tell));
    TRY(grouping(tx, a->v[0], &g));
    TRY(ask_order(tx, &g, fn, &groups));
    TRY(dict_make(tx, &PyDict_Type, &made));
    while (PyDict_Next(groups, &pos, &first, &group)) {
        PyObject *indices = PyTuple_GET_ITEM(group, 1);
        Py_ssize_t at = PyLong_AsSsize_t(PyList_GET_ITEM(indices, 0));
        TRY(kind_of(tx, g.lists[0][at], &kind[0], &kind[1]));
        TRY(tuple_new(tx, kind, 2, &key));
        TRY(group_value(tx, &g, indices, tell, &value));
        TRY(dict_put(tx, made, key, value));
    }
    *out = &made->v;
    return ST_OK;
}

/* -- The rows --------------------------------------------------------------- */

#define INIT(path) { "torch.optim." path "._init_group", 2, -1, init_group, NULL }

const Handler handlers_optim[] = {
    { "torch.autograd.profiler.record_function.__enter__", 1, 1, range_enter, NULL },
    { "torch._C._group_tensors_by_device_and_dtype", 1, 2, group_tensors, "with_indices" },
    { "torch.optim.optimizer._get_value", 1, 1, get_value, NULL },
    INIT("adadelta.Adadelta"),
    INIT("_adafactor.Adafactor"),
    INIT("adagrad.Adagrad"),
    INIT("adam.Adam"),
    INIT("adamax.Adamax"),
    INIT("asgd.ASGD"),
    INIT("nadam.NAdam"),
    INIT("radam.RAdam"),
    INIT("rmsprop.RMSprop"),
    INIT("rprop.Rprop"),
    INIT("sgd.SGD"),
    { 0 },
};
