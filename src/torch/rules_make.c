/*
 * torch/rules_make.c -- factories. Their device has been looked at already; it is meta here.
 */
#include "torch/rules.h"
#include <math.h>

/* Sizes as ints or one sequence at v[from …up to); how many, -1: decline. */
static int read_size(Infer *r, int from, int upto, int64_t *sizes)
{
    if (r->v[from] && !PyLong_CheckExact(r->v[from])) {
        for (int i = from + 1; i < upto; i++)
            if (r->v[i])
                return -1;
        return read_ints(r->v[from], sizes, META_MAX_DIM);
    }
    int n = 0;
    while (from + n < upto && r->v[from + n] && is_int(r->v[from + n], &sizes[n]))
        n++;
    for (int i = from + n; i < upto; i++)
        if (r->v[i])
            return -1;
    return n;
}

static bool strided(PyObject *layout)
{
    return absent(layout) || layout == torch_py.strided;
}

/* Row-major, a leaf; requires_grad=True is torch's own work. */
static Status make(Infer *r, const int64_t *sizes, int n, int dtype, PyObject **out)
{
    TensorMeta m = { 0 };
    if (n < 0 || dtype < 0)
        return ST_DECLINE;
    for (int i = 0; i < n; i++)
        if (sizes[i] < 0)
            return ST_DECLINE;
    shape_rows(&m, sizes, n);
    return give(r, &m, dtype, false, out);
}

static int chosen(PyObject *dtype, int otherwise)
{
    return absent(dtype) ? otherwise : dtype_number(dtype);
}

/* zeros(*size, dtype, layout, device, requires_grad, pin_memory): rows end with these keywords, at 8 … 11. */
enum { SIZES = 7, DTYPE = 7, LAYOUT = 8, DEVICE = 9, GRAD = 10, PIN = 11 };

static bool plain_options(Infer *r)
{
    return strided(r->v[LAYOUT]) && is_false(r->v[GRAD]) && is_false(r->v[PIN]);
}

static Status zeros(Infer *r, PyObject **out) /* ones, empty, rand, randn */
{
    int64_t sizes[META_MAX_DIM];
    if (r->k->nargs > SIZES || !plain_options(r))
        return ST_DECLINE;
    return make(r, sizes, read_size(r, 0, SIZES, sizes),
                chosen(r->v[DTYPE], dtype_default()), out);
}

static Status full(Infer *r, PyObject **out)
{
    int64_t sizes[META_MAX_DIM], n;
    PyObject *value = r->v[1];
    int d = value && PyBool_Check(value)         ? D_BOOL
            : is_int(value, &n)                  ? D_I64
            : value && PyFloat_CheckExact(value) ? dtype_default()
                                                 : -1;
    if (r->k->nargs > 2 || !plain_options(r) || d < 0 || r->v[0] == NULL ||
        PyLong_Check(r->v[0]))
        return ST_DECLINE;
    return make(r, sizes, read_ints(r->v[0], sizes, META_MAX_DIM), chosen(r->v[DTYPE], d),
                out);
}

static bool is_number(PyObject *o, double *v)
{
    if (o == NULL || !(PyFloat_CheckExact(o) || PyLong_CheckExact(o)))
        return false;
    *v = PyFloat_AsDouble(o);
    bool ok = !PyErr_Occurred();
    PyErr_Clear();
    return ok;
}

/* arange(start, end, step) with floats among them, to a dtype of floats */
static Status arange_floats(Infer *r, PyObject **out)
{
    double a[3] = { 0, 0, 1 };
    int n = 0, d = chosen(r->v[DTYPE], dtype_default());
    while (n < 3 && is_number(r->v[n], &a[n]))
        n++;
    for (int i = n; i < SIZES; i++)
        if (r->v[i])
            return ST_DECLINE;
    if (n == 1) {
        a[1] = a[0];
        a[0] = 0;
    }
    double size = ceil((a[1] - a[0]) / a[2]);
    if (n == 0 || !plain_options(r) || !dtype_float(d) || !(size >= 0 && size < 1e9))
        return ST_DECLINE;
    return make(r, (int64_t[]){ (int64_t)size }, 1, d, out);
}

/* arange(end), arange(start, end), arange(start, end, step) of ints */
static Status arange(Infer *r, PyObject **out)
{
    int64_t a[3] = { 0, 0, 1 }, n = 0;
    while (n < 3 && r->v[n] && is_int(r->v[n], &a[n]))
        n++;
    for (int i = n; i < SIZES; i++)
        if (r->v[i])
            return arange_floats(r, out);
    if (n == 0 || !plain_options(r))
        return ST_DECLINE;
    if (n == 1) {
        a[1] = a[0];
        a[0] = 0;
    }
    if (a[2] == 0 || (a[2] > 0 ? a[1] < a[0] : a[1] > a[0]))
        return ST_DECLINE;
    int64_t step = a[2] > 0 ? a[2] : -a[2], span = a[2] > 0 ? a[1] - a[0] : a[0] - a[1];
    int64_t size = (span + step - 1) / step;
    return make(r, &size, 1, chosen(r->v[DTYPE], D_I64), out);
}

/* linspace(start, end, steps, dtype, …), logspace(start, end, steps, base, …) of numbers */
static Status linspace(Infer *r, PyObject **out)
{
    double number;
    int64_t steps;
    bool base = strcmp(r->name, "logspace") == 0 && r->v[3];
    for (int i = base ? 4 : 3; i < SIZES; i++)
        if (r->v[i])
            return ST_DECLINE;
    if (!is_number(r->v[0], &number) || !is_number(r->v[1], &number) ||
        (base && !is_number(r->v[3], &number)) || !is_int(r->v[2], &steps) ||
        !plain_options(r))
        return ST_DECLINE;
    return make(r, &steps, 1, chosen(r->v[DTYPE], dtype_default()), out);
}

/* eye(n, m, dtype, …) */
static Status eye(Infer *r, PyObject **out)
{
    int64_t sizes[META_MAX_DIM];
    int n = r->k->nargs > 2 || !plain_options(r) ? -1 : read_size(r, 0, SIZES, sizes);
    if (n < 1 || n > 2 || !PyLong_CheckExact(r->v[0]))
        return ST_DECLINE;
    return make(r, (int64_t[]){ sizes[0], sizes[n - 1] }, 2,
                chosen(r->v[DTYPE], dtype_default()), out);
}

/* multinomial(input, num_samples, replacement, generator): the generator has been taken away */
static Status multinomial(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t n;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim < 1 || x.ndim > 2 ||
        !is_int(r->v[1], &n) || n < 1 || x.sizes[x.ndim - 1] < 1 ||
        (!is_true(r->v[2]) && n > x.sizes[x.ndim - 1]))
        return ST_DECLINE;
    x.sizes[x.ndim - 1] = n;
    return give_rows(r, x.sizes, x.ndim, D_I64, false, out);
}

/* _sample_dirichlet(x), _standard_gamma(x), poisson(x): numbers drawn for each; what autograd makes of them is torch's to say. */
static Status drawn(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.numel == 0 ||
        (x.requires_grad && r->grad))
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, false, out);
}

/* zeros_like(input, dtype, layout, device, requires_grad, memory_format) */
static Status like(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!read_tensor(r->v[0], &x) || !absent(r->v[5]) || !strided(r->v[2]) ||
        !is_false(r->v[4]) || x.numel == 0 || !dense(&x))
        return ST_DECLINE;
    int d = chosen(r->v[1], x.dtype);
    return d < 0 ? ST_DECLINE : give(r, &x, d, false, out); /* dense strides stay */
}

static Status full_like(Infer *r, PyObject **out)
{
    if (r->v[1] == NULL || torch_is_tensor(r->v[1]))
        return ST_DECLINE;
    memmove(&r->v[1], &r->v[2], 5 * sizeof r->v[0]);
    return like(r, out);
}

/* x.new_zeros(*size, dtype, device, …) */
static Status new_zeros(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t sizes[META_MAX_DIM];
    if (r->k->nargs > SIZES || !read_tensor(r->v[0], &x) || !plain_options(r))
        return ST_DECLINE;
    return make(r, sizes, read_size(r, 1, SIZES, sizes), chosen(r->v[DTYPE], x.dtype),
                out);
}

#define OPTIONS " dtype layout device requires_grad pin_memory"

const Rule rules_make[] = {
    { "zeros", "size _1 _2 _3 _4 _5 _6" OPTIONS, zeros, false },
    { "full", "size fill_value _2 _3 _4 _5 _6" OPTIONS, full, false },
    { "arange", "start end step _3 _4 _5 _6" OPTIONS, arange, false },
    { "linspace", "start end steps base _4 _5 _6" OPTIONS, linspace, false },
    { "eye", "n m _2 _3 _4 _5 _6" OPTIONS, eye, false },
    { "multinomial", "input num_samples replacement", multinomial, false },
    { "drawn", "input", drawn, false },
    { "like", "input dtype layout device requires_grad memory_format", like, false },
    { "full_like", "input fill_value dtype layout device requires_grad memory_format",
      full_like, false },
    { "new_zeros", "input size _2 _3 _4 _5 _6" OPTIONS, new_zeros, false },
    { 0 },
};
