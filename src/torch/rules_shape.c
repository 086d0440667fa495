/*
 * torch/rules_shape.c -- joining, indexing and repeating.
 */
#include "torch/rules.h"

static Status rows_of(Infer *r, const int64_t *sizes, int n, int dtype, bool grad,
                      PyObject **out)
{
    TensorMeta m = { 0 };
    if (r->in_place)
        return ST_DECLINE;
    shape_rows(&m, sizes, n);
    return give(r, &m, dtype, grad, out);
}

/* -- Joining -------------------------------------------------------------------------- */

enum { MAX_PARTS = 64 };

typedef struct Parts {
    Py_ssize_t n;
    int dtype;
    bool grad, rows;
    TensorMeta first;
    int64_t total; /* along the dim */
} Parts;

static bool read_parts(Infer *r, int64_t dim, bool join, Parts *p)
{
    PyObject *list = r->v[0];
    if (list == NULL || !(PyTuple_CheckExact(list) || PyList_CheckExact(list)) ||
        Py_SIZE(list) == 0)
        return false;
    *p = (Parts){ .n = Py_SIZE(list), .dtype = -1, .rows = true };
    for (Py_ssize_t i = 0; i < p->n; i++) {
        TensorMeta m;
        if (!read_tensor(PySequence_Fast_GET_ITEM(list, i), &m))
            return false;
        if (i == 0)
            p->first = m;
        if (m.ndim != p->first.ndim || (join && m.ndim == 0) ||
            (m.ndim == 1 && m.sizes[0] == 0))
            return false;
        int64_t at = dim;
        if (join && !wrap_dim(&at, m.ndim))
            return false;
        for (int k = 0; k < m.ndim; k++)
            if ((!join || k != at) && m.sizes[k] != p->first.sizes[k])
                return false;
        p->total += join ? m.sizes[at] : 1;
        p->dtype = dtype_promote(p->dtype, m.dtype);
        p->grad |= m.requires_grad;
        p->rows &= row_major(&m) && !odd_strides(&m);
    }
    return p->dtype >= 0;
}

static Status cat(Infer *r, PyObject **out)
{
    Parts p;
    int64_t dim = 0;
    if (!(r->v[1] == NULL || is_int(r->v[1], &dim)) || !read_parts(r, dim, true, &p) ||
        !wrap_dim(&dim, p.first.ndim))
        return ST_DECLINE;
    r->loose |= !p.rows;
    p.first.sizes[dim] = p.total;
    return rows_of(r, p.first.sizes, p.first.ndim, p.dtype, p.grad, out);
}

static Status stack(Infer *r, PyObject **out)
{
    Parts p;
    int64_t dim = 0, sizes[META_MAX_DIM + 1];
    if (!(r->v[1] == NULL || is_int(r->v[1], &dim)) || !read_parts(r, dim, false, &p) ||
        !wrap_dim(&dim, p.first.ndim + 1) || p.first.ndim + 1 > META_MAX_DIM)
        return ST_DECLINE;
    for (int i = 0; i <= p.first.ndim; i++)
        sizes[i] = i < dim ? p.first.sizes[i] : i == dim ? p.n : p.first.sizes[i - 1];
    r->loose |= !p.rows;
    return rows_of(r, sizes, p.first.ndim + 1, p.dtype, p.grad, out);
}

/* -- Indexing -------------------------------------------------------------------------- */

static bool index_type(const TensorMeta *m)
{
    return m->dtype == D_I64 || m->dtype == D_I32;
}

/* x[i] with one integer tensor; everything without tensors is torch's own quick work. */
static Status getitem(Infer *r, PyObject **out)
{
    TensorMeta x, i;
    int64_t sizes[2 * META_MAX_DIM];
    if (!read_tensor(r->v[0], &x) || !read_tensor(r->v[1], &i) || !index_type(&i) ||
        x.ndim == 0 || i.ndim == 0 || i.ndim + x.ndim - 1 > META_MAX_DIM)
        return ST_DECLINE;
    memcpy(sizes, i.sizes, 8 * (size_t)i.ndim);
    memcpy(sizes + i.ndim, x.sizes + 1, 8 * (size_t)(x.ndim - 1));
    r->loose |= !row_major(&x) || !row_major(&i) || odd_strides(&x) || odd_strides(&i);
    return rows_of(r, sizes, i.ndim + x.ndim - 1, x.dtype, x.requires_grad, out);
}

static Status gather(Infer *r, PyObject **out)
{
    TensorMeta x, i;
    int64_t dim;
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &dim) || !read_tensor(r->v[2], &i) ||
        i.dtype != D_I64 || x.ndim != i.ndim || x.ndim == 0 || !wrap_dim(&dim, x.ndim))
        return ST_DECLINE;
    for (int k = 0; k < x.ndim; k++)
        if (k != dim && i.sizes[k] > x.sizes[k])
            return ST_DECLINE;
    r->loose |= !row_major(&i) || odd_strides(&i);
    return rows_of(r, i.sizes, i.ndim, x.dtype, x.requires_grad, out);
}

static Status index_select(Infer *r, PyObject **out)
{
    TensorMeta x, i;
    int64_t dim;
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &dim) || !read_tensor(r->v[2], &i) ||
        !index_type(&i) || i.ndim != 1 || x.ndim == 0 || !wrap_dim(&dim, x.ndim))
        return ST_DECLINE;
    r->loose |= !row_major(&x) || odd_strides(&x);
    x.sizes[dim] = i.sizes[0];
    return rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* -- The same shape, other values --------------------------------------------------------- */

static Status tril(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t n;
    if (!read_tensor(r->v[0], &x) || !(r->v[1] == NULL || is_int(r->v[1], &n)) ||
        x.ndim < 2 || !row_major(&x))
        return ST_DECLINE;
    return rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

static Status flip(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t v[META_MAX_DIM];
    if (!read_tensor(r->v[0], &x) || !row_major(&x))
        return ST_DECLINE;
    int n = read_ints(r->v[1], v, META_MAX_DIM);
    for (int i = 0; i < n; i++)
        if (!wrap_dim(&v[i], x.ndim) || x.ndim == 0)
            return ST_DECLINE;
    if (n < 1 || (n > 1 && v[0] == v[1]) || n > 2)
        return ST_DECLINE;
    return give(r, &x, x.dtype, x.requires_grad,
                out); /* strides of dims of size 1 stay, too */
}

static Status roll(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t shift, dim;
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &shift) || !is_int(r->v[2], &dim) ||
        !wrap_dim(&dim, x.ndim) || x.ndim == 0 || !row_major(&x))
        return ST_DECLINE;
    return rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* x.repeat(2, 3) or x.repeat((2, 3)) */
static Status repeat(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t v[RULE_MAX_PARAMS], sizes[RULE_MAX_PARAMS];
    int n = 0;
    if (!read_tensor(r->v[0], &x) || r->v[1] == NULL)
        return ST_DECLINE;
    if (PyLong_CheckExact(r->v[1]))
        while (n + 1 < RULE_MAX_PARAMS && r->v[n + 1] && is_int(r->v[n + 1], &v[n]))
            n++;
    else
        n = r->v[2] ? -1 : read_ints(r->v[1], v, RULE_MAX_PARAMS);
    if (n < x.ndim || n == 0 ||
        (PyLong_CheckExact(r->v[1]) && n + 1 < RULE_MAX_PARAMS && r->v[n + 1]))
        return ST_DECLINE;
    for (int i = 0; i < n; i++) {
        int at = i - (n - x.ndim);
        if (v[i] < 0)
            return ST_DECLINE;
        sizes[i] = v[i] * (at < 0 ? 1 : x.sizes[at]);
    }
    return rows_of(r, sizes, n, x.dtype, x.requires_grad, out);
}

/* F.pad(input, pad, mode, value): constant mode. */
static Status pad(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t v[2 * META_MAX_DIM];
    int n = read_ints(r->v[1], v, 2 * META_MAX_DIM);
    if (!read_tensor(r->v[0], &x) || n < 2 || n % 2 || n / 2 > x.ndim || !row_major(&x) ||
        x.dtype == D_BOOL ||
        !(r->v[2] == NULL || (PyUnicode_Check(r->v[2]) &&
                              PyUnicode_CompareWithASCIIString(r->v[2], "constant") == 0)))
        return ST_DECLINE;
    bool moves = false;
    for (int i = 0; i < n / 2; i++) {
        int64_t *size = &x.sizes[x.ndim - 1 - i];
        if (v[2 * i] < 0 || v[2 * i + 1] < 0)
            return ST_DECLINE;
        *size += v[2 * i] + v[2 * i + 1];
        moves |= v[2 * i] || v[2 * i + 1];
    }
    return moves ? rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out)
                 : ST_DECLINE;
}

const Rule rules_shape[] = {
    { "cat", "tensors dim", cat, false },
    { "stack", "tensors dim", stack, false },
    { "getitem", "input index", getitem, false },
    { "gather", "input dim index", gather, false },
    { "index_select", "input dim index", index_select, false },
    { "tril", "input diagonal", tril, false },
    { "flip", "input dims", flip, false },
    { "roll", "input shifts dims", roll, false },
    { "repeat", "input repeats _2 _3 _4 _5 _6 _7 _8", repeat, false },
    { "pad", "input pad mode value", pad, false },
    { 0 },
};
