/*
 * torch/fits.c -- whether the numbers among a call's arguments fit into the dtypes that it computes in.
 *
 * Takes: arguments of a node, and the dtypes of its tensors. Gives: false if a kernel may refuse a number ("value cannot be
 * converted to type float without overflow"). Kernels alone ask that: neither rules nor meta kernels raise it.
 */
#include "torch/rules.h"
#include "torch/torch.h"

#include <float.h>

typedef struct Range {
    double low, high; /* of finite numbers */
    bool whole;       /* integers: neither inf nor nan */
} Range;

static const Range ranges[D_COUNT] = {
    [D_U8] = { 0, UINT8_MAX, true },
    [D_I8] = { INT8_MIN, INT8_MAX, true },
    [D_I16] = { INT16_MIN, INT16_MAX, true },
    [D_I32] = { INT32_MIN, INT32_MAX, true },
    [D_I64] = { -0x1p63, 0x1.fffffffffffffp62, true },
    [D_F16] = { -65504, 65504, false },
    [D_F32] = { -FLT_MAX, FLT_MAX, false },
    [D_F64] = { -DBL_MAX, DBL_MAX, false },
    [D_C64] = { -FLT_MAX, FLT_MAX, false },
    [D_C128] = { -DBL_MAX, DBL_MAX, false },
    [D_BOOL] = { 0, 1, true },
    [D_BF16] = { -0x1.fep127, 0x1.fep127, false },
};

static bool number_fits(PyObject *o, int dtype)
{
    bool number = PyFloat_CheckExact(o) || PyLong_CheckExact(o);
    if (!number)
        return true;
    double v = PyFloat_AsDouble(o);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    const Range *r = &ranges[dtype];
    return isfinite(v) ? v >= r->low && v <= r->high : !r->whole;
}

bool numbers_fit(const GArg *g, uint32_t n, int dtype)
{
    if (dtype < 0 || dtype >= D_COUNT || ranges[dtype].high == 0)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (g[i].tag == GA_CONST
                ? !number_fits(g[i].obj, dtype)
                : g[i].tag > GA_NODE && !numbers_fit(g[i].items, g[i].n, dtype))
            return false;
    return true;
}
