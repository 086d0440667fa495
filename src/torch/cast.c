/*
 * torch/cast.c -- shape rules under autocast on CPU.
 *
 * Takes: a call on meta twins while autocast is on. Gives: what its rule says of arguments cast as autocast does it (rows LOWER, FULL and
 * RECAST of ops.def), or ST_DECLINE. Holds: autocast does nothing to tensors on the meta device, so that rules, which may call torch,
 * see what they are given.
 */
#include "torch/rules.h"

typedef struct Casting {
    int to; /* dtype; -1: as they are */
    bool grad;
} Casting;

/* As cached_cast: floats but for double. A copy keeps dense strides. */
static PyObject *cast_one(void *arg, PyObject *twin)
{
    const Casting *k = arg;
    TensorMeta m;
    if (!read_tensor(twin, &m))
        return NULL;
    if (k->to < 0 || !dtype_float(m.dtype) || m.dtype == D_F64 || m.dtype == k->to)
        return Py_NewRef(twin);
    if (!dense(&m))
        shape_rows(&m, m.sizes, m.ndim);
    m.requires_grad &= k->grad;
    m.is_leaf = !m.requires_grad;
    m.is_view = false;
    m.storage_offset = 0;
    return infer_make(&m, torch_py.dtypes[k->to]);
}

static int wanted(TorchOp op)
{
    int lower = torch_lib.autocast_dtype ? torch_lib.autocast_dtype(0) : -1;
    return op.cast == CASTS_LOWER ? lower : op.cast == CASTS_FULL ? D_F32 : -1;
}

Status cast_infer(InferCall *c, TorchOp op, PyObject **out)
{
    Casting k = { .to = wanted(op), .grad = c->grad };
    PyObject *v[MAX_ARGS];
    Py_ssize_t n = c->nargs + (c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0);
    bool cpu = c->device && PyObject_RichCompareBool(c->device, torch_py.cpu, Py_EQ) == 1;
    if (!op.rule || !cpu || op.factory || (op.mutates && op.cast != CASTS_NONE) ||
        op.cast == CASTS_WITHIN || !torch_lib.autocast_enabled ||
        !torch_lib.autocast_enabled(0) || (op.cast == CASTS_LOWER && k.to < 0))
        return ST_DECLINE;
    if (!infer_swap_args(c, cast_one, &k, v)) {
        PyErr_Clear();
        return ST_DECLINE;
    }
    InferCall as = *c;
    as.args = v;
    Status st = infer_rule(&as, op, out);
    c->ruled = as.ruled;
    c->loose = as.loose;
    while (n > 0)
        Py_DECREF(v[--n]);
    return st;
}
