/*
 * torch/rules_reduce.c -- reductions, scans, softmax, sorting, normalisation.
 */
#include "torch/rules.h"

/* -- Dims --------------------------------------------------------------------------- */

/* Bit set of the dims to reduce; none given: all. False: decline. */
static bool read_dims(PyObject *dim, int ndim, bool empty_is_all, uint64_t *set)
{
    int64_t v[META_MAX_DIM];
    *set = ndim == 64 ? ~UINT64_C(0) : (UINT64_C(1) << ndim) - 1;
    if (absent(dim))
        return true;
    int n = read_ints(dim, v, META_MAX_DIM);
    if (n < 0 || (n == 0 && !empty_is_all))
        return false;
    if (n > 0)
        *set = 0;
    for (int i = 0; i < n; i++) {
        if (!wrap_dim(&v[i], ndim) || *set >> v[i] & 1)
            return false;
        *set |= UINT64_C(1) << v[i];
    }
    if (ndim == 0)
        *set = 0;
    return true;
}

/* Sizes after the reduction; strides row-major, which holds for row-major input. */
static void reduce_shape(const TensorMeta *x, uint64_t set, bool keep, TensorMeta *m)
{
    int64_t sizes[META_MAX_DIM];
    int n = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (!(set >> i & 1))
            sizes[n++] = x->sizes[i];
        else if (keep)
            sizes[n++] = 1;
    }
    shape_rows(m, sizes, n);
}

static bool reads_nothing(const TensorMeta *x, uint64_t set)
{
    for (int i = 0; i < x->ndim; i++)
        if ((set >> i & 1) && x->sizes[i] == 0)
            return true;
    return false;
}

static bool read_keep(PyObject *o, bool *keep)
{
    *keep = is_true(o);
    return o == NULL || PyBool_Check(o);
}

/* dtype=…; -1 given and unknown; otherwise `d`. */
static int chosen_dtype(PyObject *o, int d)
{
    return absent(o) ? d : dtype_number(o);
}

static Status reduced(Infer *r, const TensorMeta *x, uint64_t set, bool keep, int dtype,
                      PyObject **out)
{
    TensorMeta m = { 0 };
    if (dtype < 0)
        return ST_DECLINE;
    r->loose |= !row_major(x) || odd_strides(x);
    reduce_shape(x, set, keep, &m);
    return give(r, &m, dtype, x->requires_grad, out);
}

/* -- Sums and means -------------------------------------------------------------------- */

static int sum_type(int d)
{
    return dtype_float(d) ? d : D_I64;
}

/* sum(x, dim, keepdim, dtype) */
static Status sum(Infer *r, PyObject **out)
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    if (!read_tensor(r->v[0], &x) || !read_dims(r->v[1], x.ndim, true, &set) ||
        !read_keep(r->v[2], &keep))
        return ST_DECLINE;
    return reduced(r, &x, set, keep, chosen_dtype(r->v[3], sum_type(x.dtype)), out);
}

static Status mean(Infer *r, PyObject **out)
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    if (!read_tensor(r->v[0], &x) || !read_dims(r->v[1], x.ndim, true, &set) ||
        !read_keep(r->v[2], &keep))
        return ST_DECLINE;
    int d = chosen_dtype(r->v[3], x.dtype);
    return reduced(r, &x, set, keep, d >= 0 && dtype_float(d) ? d : -1, out);
}

/* prod(x) or prod(x, dim, keepdim): one dim only. */
static Status prod(Infer *r, PyObject **out)
{
    int64_t dim;
    return absent(r->v[1]) || is_int(r->v[1], &dim) ? sum(r, out) : ST_DECLINE;
}

static Status extreme_over(Infer *r, PyObject **out) /* amax, amin */
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    if (!read_tensor(r->v[0], &x) || !read_dims(r->v[1], x.ndim, true, &set) ||
        !read_keep(r->v[2], &keep) || reads_nothing(&x, set))
        return ST_DECLINE;
    return reduced(r, &x, set, keep, x.dtype, out);
}

static Status logical(Infer *r, PyObject **out) /* all, any */
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    if (!read_tensor(r->v[0], &x) || !read_dims(r->v[1], x.ndim, false, &set) ||
        !read_keep(r->v[2], &keep))
        return ST_DECLINE;
    return reduced(r, &x, set, keep, x.dtype == D_U8 ? D_U8 : D_BOOL, out);
}

static Status logsumexp(Infer *r, PyObject **out)
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    if (!read_tensor(r->v[0], &x) || absent(r->v[1]) ||
        !read_dims(r->v[1], x.ndim, false, &set) || !read_keep(r->v[2], &keep) ||
        x.numel == 0)
        return ST_DECLINE;
    return reduced(r, &x, set, keep, dtype_float(x.dtype) ? x.dtype : dtype_default(),
                   out);
}

/* var(x, dim, unbiased, keepdim, correction) in the form that modules use: dim and keywords. */
static Status var(Infer *r, PyObject **out)
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.numel < 2)
        return ST_DECLINE;
    if (r->v[1] && PyBool_Check(r->v[1])) /* var(x, unbiased) */
        return r->v[2] ? ST_DECLINE
                       : reduced(r, &x, x.ndim ? (UINT64_C(1) << x.ndim) - 1 : 0, false,
                                 x.dtype, out);
    if (!read_dims(r->v[1], x.ndim, true, &set) || !read_keep(r->v[3], &keep) ||
        !(r->v[2] == NULL || PyBool_Check(r->v[2])) || reads_nothing(&x, set))
        return ST_DECLINE;
    return reduced(r, &x, set, keep, x.dtype, out);
}

static Status argmax(Infer *r, PyObject **out)
{
    TensorMeta x;
    uint64_t set;
    bool keep;
    int64_t dim;
    if (!read_tensor(r->v[0], &x) || !(absent(r->v[1]) || is_int(r->v[1], &dim)) ||
        !read_dims(r->v[1], x.ndim, false, &set) || !read_keep(r->v[2], &keep) ||
        x.numel == 0 || x.dtype == D_BOOL)
        return ST_DECLINE;
    return reduced(r, &x, set, keep, D_I64, out);
}

/* -- Pairs ------------------------------------------------------------------------------- */

static Status pair_of(Infer *r, TensorMeta *m, int dtype, bool grad, PyObject **out)
{
    PyObject *values, *indices;
    TensorMeta n = *m;
    TRY(give(r, m, dtype, grad, &values));
    if (give(r, &n, D_I64, false, &indices) != ST_OK) {
        Py_DECREF(values);
        return ST_ERROR;
    }
    return give_pair(r->name, values, indices, out);
}

/* max(x); max(x, other); max(x, dim, keepdim) */
static Status extreme(Infer *r, PyObject **out)
{
    TensorMeta x, m = { 0 };
    uint64_t set;
    bool keep;
    int64_t dim;
    if (!read_tensor(r->v[0], &x) || x.numel == 0)
        return ST_DECLINE;
    if (r->v[1] == NULL)
        return r->v[2] ? ST_DECLINE
                       : reduced(r, &x, x.ndim ? (UINT64_C(1) << x.ndim) - 1 : 0, false,
                                 x.dtype, out);
    if (!is_int(r->v[1], &dim) || !read_dims(r->v[1], x.ndim, false, &set) ||
        !read_keep(r->v[2], &keep))
        return ST_DECLINE;
    r->loose |= !row_major(&x) || odd_strides(&x);
    reduce_shape(&x, set, keep, &m);
    return pair_of(r, &m, x.dtype, x.requires_grad, out);
}

static Status topk(Infer *r, PyObject **out)
{
    TensorMeta x, m = { 0 };
    int64_t k, dim = -1, sizes[META_MAX_DIM];
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &k) ||
        !(absent(r->v[2]) || is_int(r->v[2], &dim)) || x.ndim == 0 ||
        !wrap_dim(&dim, x.ndim) || k < 0 || k > x.sizes[dim] || x.dtype == D_BOOL)
        return ST_DECLINE;
    r->loose |= !row_major(&x) || dim != x.ndim - 1;
    memcpy(sizes, x.sizes, sizeof sizes);
    sizes[dim] = k;
    shape_rows(&m, sizes, x.ndim);
    return pair_of(r, &m, x.dtype, x.requires_grad, out);
}

static Status sort(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t dim = -1;
    if (!read_tensor(r->v[0], &x) || !(absent(r->v[1]) || is_int(r->v[1], &dim)) ||
        !wrap_dim(&dim, x.ndim) || !row_major(&x) || r->v[3])
        return ST_DECLINE;
    return pair_of(r, &x, x.dtype, x.requires_grad,
                   out); /* strides of dims of size 1 stay, too */
}

static Status argsort(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t dim = -1;
    if (!read_tensor(r->v[0], &x) || !(absent(r->v[1]) || is_int(r->v[1], &dim)) ||
        !wrap_dim(&dim, x.ndim) || !row_major(&x))
        return ST_DECLINE;
    return give(r, &x, D_I64, false, out);
}

/* -- Along one dim -------------------------------------------------------------------------- */

static Status along(Infer *r, PyObject *dim_arg, int dtype, const TensorMeta *x,
                    PyObject **out)
{
    TensorMeta m = { 0 };
    int64_t dim;
    if (dtype < 0 || r->in_place || !is_int(dim_arg, &dim) || !wrap_dim(&dim, x->ndim))
        return ST_DECLINE;
    r->loose |= !row_major(x) || odd_strides(x);
    shape_rows(&m, x->sizes, x->ndim);
    return give(r, &m, dtype, x->requires_grad, out);
}

static Status cumsum(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!read_tensor(r->v[0], &x))
        return ST_DECLINE;
    return along(r, r->v[1], chosen_dtype(r->v[2], sum_type(x.dtype)), &x, out);
}

static Status softmax(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t level;
    if (!read_tensor(r->v[0], &x) || !(r->v[3] == NULL || is_int(r->v[3], &level)))
        return ST_DECLINE;
    int d = chosen_dtype(r->v[2], x.dtype);
    return along(r, r->v[1], d >= 0 && dtype_float(d) ? d : -1, &x, out);
}

/* F.softmax(input, dim, _stacklevel, dtype) has the dtype elsewhere than torch.softmax(input, dim, dtype). */
static Status softmax_any(Infer *r, PyObject **out)
{
    PyObject *o = r->v[2];
    if (o && PyLong_CheckExact(o)) {
        r->v[2] = r->v[3];
        r->v[3] = o;
    }
    return softmax(r, out);
}

/* -- Normalisation ----------------------------------------------------------------------------- */

static bool fits_normalized(const TensorMeta *x, PyObject *shape)
{
    int64_t v[META_MAX_DIM];
    int n = shape && !PyLong_Check(shape) ? read_ints(shape, v, META_MAX_DIM) : -1;
    return n > 0 && n <= x->ndim && memcmp(v, &x->sizes[x->ndim - n], 8 * (size_t)n) == 0;
}

static bool add_weight(PyObject *o, const TensorMeta *x, int64_t size, bool *grad)
{
    TensorMeta w;
    if (absent(o))
        return true;
    if (!read_tensor(o, &w) || w.dtype != x->dtype || w.numel != size)
        return false;
    *grad |= w.requires_grad;
    return true;
}

static bool number(PyObject *o)
{
    return absent(o) || PyFloat_CheckExact(o) || PyLong_CheckExact(o);
}

/* layer_norm(input, normalized_shape, weight, bias, eps) */
static Status layer_norm(Infer *r, PyObject **out)
{
    TensorMeta x, m = { 0 };
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) ||
        !fits_normalized(&x, r->v[1]) || !number(r->v[4]))
        return ST_DECLINE;
    int64_t v[META_MAX_DIM], size = 1;
    int n = read_ints(r->v[1], v, META_MAX_DIM);
    for (int i = 0; i < n; i++)
        size *= v[i];
    bool grad = x.requires_grad;
    if (!add_weight(r->v[2], &x, size, &grad) || !add_weight(r->v[3], &x, size, &grad) ||
        x.numel == 0)
        return ST_DECLINE;
    r->loose |= !row_major(&x) || odd_strides(&x);
    shape_rows(&m, x.sizes, x.ndim);
    return give(r, &m, x.dtype, grad, out);
}

static Status rms_norm(Infer *r, PyObject **out)
{
    r->v[4] = r->v[3];
    r->v[3] = NULL;
    r->loose = true;
    return layer_norm(r, out);
}

/* group_norm(input, num_groups, weight, bias, eps) */
static Status group_norm(Infer *r, PyObject **out)
{
    TensorMeta x, m = { 0 };
    int64_t groups;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim < 2 ||
        x.numel == 0 || !is_int(r->v[1], &groups) || groups <= 0 ||
        x.sizes[1] % groups != 0 || !number(r->v[4]))
        return ST_DECLINE;
    bool grad = x.requires_grad;
    int64_t per = x.numel / x.sizes[1];
    if (!add_weight(r->v[2], &x, x.sizes[1], &grad) ||
        !add_weight(r->v[3], &x, x.sizes[1], &grad) || per < 1 ||
        x.numel / x.sizes[0] / groups < 2)
        return ST_DECLINE;
    r->loose |= !row_major(&x) || odd_strides(&x);
    shape_rows(&m, x.sizes, x.ndim);
    return give(r, &m, x.dtype, grad, out);
}

/* batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps) */
static Status batch_norm(Infer *r, PyObject **out)
{
    TensorMeta x, m = { 0 };
    bool grad = false, none = false;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim < 2 ||
        x.numel == 0 || !(r->v[5] == NULL || PyBool_Check(r->v[5])) || !number(r->v[6]) ||
        !number(r->v[7]))
        return ST_DECLINE;
    bool training = is_true(r->v[5]);
    if (absent(r->v[1]) != absent(r->v[2]) || (absent(r->v[1]) && !training) ||
        (training && x.numel / x.sizes[1] < 2))
        return ST_DECLINE;
    for (int i = 1; i < 5; i++)
        if (!add_weight(r->v[i], &x, x.sizes[1], i < 3 ? &none : &grad))
            return ST_DECLINE;
    if (none)
        return ST_DECLINE; /* running statistics that require grad */
    r->loose |= !row_major(&x) || odd_strides(&x);
    shape_rows(&m, x.sizes, x.ndim);
    return give(r, &m, x.dtype, grad || x.requires_grad, out);
}

const Rule rules_reduce[] = {
    { "sum", "input dim keepdim dtype", sum, false },
    { "mean", "input dim keepdim dtype", mean, false },
    { "prod", "input dim keepdim dtype", prod, false },
    { "amax", "input dim keepdim", extreme_over, false },
    { "all", "input dim keepdim", logical, false },
    { "logsumexp", "input dim keepdim", logsumexp, false },
    { "var", "input dim unbiased keepdim correction", var, false },
    { "argmax", "input dim keepdim", argmax, false },
    { "max", "input dim keepdim", extreme, false },
    { "topk", "input k dim largest sorted", topk, false },
    { "sort", "input dim descending stable", sort, false },
    { "argsort", "input dim descending", argsort, false },
    { "cumsum", "input dim dtype", cumsum, false },
    { "softmax", "input dim dtype _stacklevel", softmax_any, false },
    { "layer_norm", "input normalized_shape weight bias eps", layer_norm, false },
    { "rms_norm", "input normalized_shape weight eps", rms_norm, false },
    { "group_norm", "input num_groups weight bias eps", group_norm, false },
    { "batch_norm", "input running_mean running_var weight bias training momentum eps",
      batch_norm, false },
    { 0 },
};
