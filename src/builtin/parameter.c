/*
 * builtin/parameter.c -- torch.nn.Parameter(data) in a trace: modules that the program makes.
 *
 * Takes: a plain tensor. Gives: a node whose result is a new leaf of that class on the tensor's memory. Holds: it is a leaf for the rest of the
 * graph too, so that operations behind it lead their gradients there; only graphs whose operations are called one by one can do that.
 */
#include "builtin/help.h"
#include "torch/infer.h"
#include "torch/lib.h"
#include "trace/torchcall.h"

/* The twin of the parameter, on the memory of the data's twin; NULL: torch refuses. */
static PyObject *twin_of(Tx *tx, PyObject *data, PyObject *flag)
{
    Quiet q;
    quiet_begin(&q, tx->grad);
    PyObject *r =
        PyObject_CallFunctionObjArgs((PyObject *)torch_types.parameter, data, flag, NULL);
    quiet_end(&q, tx->grad);
    PyErr_Clear();
    return tx_hold(tx, r);
}

/* A tensor of which everything is known; *meta NULL: another value. */
static Status plain_data(Tx *tx, Var **v, PyObject **meta)
{
    *meta = NULL;
    TRY(var_real(tx, v));
    if ((*v)->kind != &kind_tensor || AS(TensorVar, *v)->vague)
        return ST_OK;
    if ((*v)->type != torch_types.tensor && (*v)->type != torch_types.parameter)
        return ST_OK;
    TRY(tensor_meta(tx, AS(TensorVar, *v), meta));
    if (infer_unsure(*meta))
        *meta = NULL;
    return ST_OK;
}

static Status parameter(Tx *tx, const Args *a, Var **out)
{
    Var *data = args_get(a, 0, "data"), *flag = args_get(a, 1, "requires_grad");
    PyObject *fn, *meta, *wanted = Py_True;
    if (data == NULL || tx->inference || tx->inferred || tx->strange)
        return ST_DECLINE;
    TRY(plain_data(tx, &data, &meta));
    if (flag != NULL)
        TRY(fold_value(tx, flag, &wanted));
    if (meta == NULL || wanted == NULL || !PyBool_Check(wanted))
        return ST_DECLINE;
    meta = twin_of(tx, meta, wanted);
    if (meta == NULL)
        return ST_DECLINE;
    TRY(node_target(tx, "parameter", "torch.nn.Parameter", &fn));
    Args b = { .v = (Var *[]){ data, tx_bool(tx, wanted == Py_True) }, .n = 2 };
    TorchOp op = { .cls = TC_NODE, .view = true, .total = true };
    return torch_call_known(tx, fn, op, &b, meta, AS(TensorVar, data)->device, out);
}

const Handler handlers_parameter[] = {
    { "torch.nn.parameter.Parameter", 1, 2, parameter, "data requires_grad" },
    { 0 },
};
