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
    bool any = false;
    for (Py_ssize_t i = 0; i < p->n; i++) {
        TensorMeta m;
        if (!read_tensor(PySequence_Fast_GET_ITEM(list, i), &m))
            return false;
        if (m.ndim == 1 && m.sizes[0] == 0) { /* goes with anything, but for its dtype */
            if (!join)
                return false;
            p->dtype = dtype_promote(p->dtype, m.dtype);
            p->grad |= m.requires_grad;
            continue;
        }
        if (!any)
            p->first = m;
        any = true;
        if (m.ndim != p->first.ndim || (join && m.ndim == 0))
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
    return any && p->dtype >= 0;
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

/* What an index picks: sizes of the result. */
typedef struct Picked {
    int64_t sizes[3 * META_MAX_DIM];
    int n;
    int tensors;                 /* index tensors */
    int scalars;                 /* index tensors without dims */
    int64_t shape[META_MAX_DIM]; /* they broadcast to */
    int nshape;
    int at, gaps; /* where their dims go; >1: they are apart, so in front */
    bool last_tensor;
} Picked;

static bool broadcast_into(Picked *p, const TensorMeta *t)
{
    int n = p->nshape > t->ndim ? p->nshape : t->ndim;
    int64_t sizes[META_MAX_DIM];
    for (int i = 1; i <= n; i++) {
        int64_t a = i <= p->nshape ? p->shape[p->nshape - i] : 1;
        int64_t b = i <= t->ndim ? t->sizes[t->ndim - i] : 1;
        if (a != b && a != 1 && b != 1)
            return false;
        sizes[n - i] = a == 1 ? b : a;
    }
    memcpy(p->shape, sizes, 8 * (size_t)n);
    p->nshape = n;
    return true;
}

/* One item over dim `*dim` of x. */
static bool pick(Picked *p, PyObject *item, const TensorMeta *x, int *dim)
{
    int64_t n;
    TensorMeta t;
    bool tensor = torch_is_tensor(item);
    if (item == Py_None) {
        p->sizes[p->n++] = 1;
    } else if (*dim >= x->ndim) {
        return false;
    } else if (PySlice_Check(item)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(item, &start, &stop, &step) < 0 || step < 1) {
            PyErr_Clear();
            return false;
        }
        p->sizes[p->n++] =
            PySlice_AdjustIndices((Py_ssize_t)x->sizes[(*dim)++], &start, &stop, step);
    } else if (is_int(item, &n)) {
        if (!wrap_dim(&n,
                      (int)(x->sizes[*dim] > INT32_MAX ? INT32_MAX : x->sizes[*dim])) ||
            x->sizes[*dim] == 0)
            return false;
        (*dim)++;
        return true; /* neither parts index tensors nor is one */
    } else if (tensor && read_tensor(item, &t) && index_type(&t) && t.ndim == 0) {
        p->scalars++; /* as good as an int, and eager takes it for one */
        (*dim)++;
        return true;
    } else if (tensor && read_tensor(item, &t) && index_type(&t)) {
        if (p->tensors++ == 0)
            p->at = p->n;
        else if (!p->last_tensor)
            p->gaps++;
        (*dim)++;
        if (!broadcast_into(p, &t))
            return false;
    } else {
        return false;
    }
    p->last_tensor = tensor;
    return true;
}

static int dims_taken(PyObject *item)
{
    return item != Py_None && item != Py_Ellipsis;
}

static bool pick_all(Picked *p, PyObject *index, const TensorMeta *x)
{
    PyObject *const *v = PyTuple_CheckExact(index) ? &PyTuple_GET_ITEM(index, 0) : &index;
    Py_ssize_t n = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1;
    int dim = 0, taken = 0;
    if (n > META_MAX_DIM)
        return false;
    *p = (Picked){ 0 };
    for (Py_ssize_t i = 0; i < n; i++)
        taken += dims_taken(v[i]);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (v[i] != Py_Ellipsis) {
            if (!pick(p, v[i], x, &dim))
                return false;
            continue;
        }
        for (int k = x->ndim - taken; k > 0; k--)
            p->sizes[p->n++] = x->sizes[dim++];
        taken = x->ndim; /* a second one stands for nothing */
        p->last_tensor = false;
    }
    while (dim < x->ndim)
        p->sizes[p->n++] = x->sizes[dim++];
    if (p->n + p->nshape > META_MAX_DIM)
        return false;
    if (p->tensors) { /* their dims go where they stood, or in front if they stood apart */
        int at = p->gaps ? 0 : p->at;
        memmove(p->sizes + at + p->nshape, p->sizes + at, 8 * (size_t)(p->n - at));
        memcpy(p->sizes + at, p->shape, 8 * (size_t)p->nshape);
        p->n += p->nshape;
    }
    return true;
}

/* Tensors without dims beside tensors with some: meta tensors, which cannot be read, take them for the latter. */
static bool mixes_scalars(PyObject *index)
{
    int with = 0, without = 0;
    if (!PyTuple_CheckExact(index))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); i++) {
        TensorMeta t;
        if (torch_is_tensor(PyTuple_GET_ITEM(index, i)) &&
            meta_read(PyTuple_GET_ITEM(index, i), &t))
            *(t.ndim ? &with : &without) += 1;
    }
    return with && without;
}

/* How many a mask picks is data. */
static bool has_mask(PyObject *index)
{
    PyObject *const *v = PyTuple_CheckExact(index) ? &PyTuple_GET_ITEM(index, 0) : &index;
    Py_ssize_t n = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1;
    TensorMeta m;
    for (Py_ssize_t i = 0; i < n; i++)
        if (torch_is_tensor(v[i]) && read_tensor(v[i], &m) &&
            (m.dtype == D_BOOL || m.dtype == D_U8))
            return true;
    return false;
}

/* x[i, :, …] with integer tensors among the items; without any it is torch's own quick work. */
static Status getitem(Infer *r, PyObject **out)
{
    TensorMeta x, i;
    Picked p;
    if (r->v[1] == NULL || !read_tensor(r->v[0], &x))
        return ST_DECLINE;
    if (has_mask(r->v[1]))
        return ST_BREAK;
    if (x.ndim == 0 || !pick_all(&p, r->v[1], &x))
        return mixes_scalars(r->v[1]) ? ST_BREAK : ST_DECLINE;
    if (p.tensors == 0)
        return ST_DECLINE;
    bool plain = read_tensor(r->v[1], &i) && row_major(&i) && !odd_strides(&i);
    r->loose |= !plain || !row_major(&x) || odd_strides(&x);
    return rows_of(r, p.sizes, p.n, x.dtype, x.requires_grad, out);
}

static bool fits_into(const TensorMeta *value, const int64_t *sizes, int n)
{
    int skip = 0; /* leading dims of size 1 may be too many */
    while (value->ndim - skip > n && value->sizes[skip] == 1)
        skip++;
    for (int i = 1; i <= value->ndim - skip; i++)
        if (i > n || (value->sizes[value->ndim - i] != 1 &&
                      value->sizes[value->ndim - i] != sizes[n - i]))
            return false;
    return true;
}

/* x[…] = value */
static Status setitem(Infer *r, PyObject **out)
{
    TensorMeta x, value;
    Picked p;
    int64_t n;
    bool grad = false;
    if (r->v[1] == NULL || r->v[2] == NULL || !read_tensor(r->v[0], &x))
        return ST_DECLINE;
    if (x.ndim == 0 || !pick_all(&p, r->v[1], &x))
        return mixes_scalars(r->v[1]) ? ST_BREAK : ST_DECLINE;
    if (torch_is_tensor(r->v[2])) {
        if (!read_tensor(r->v[2], &value) || !fits_into(&value, p.sizes, p.n) ||
            value.dtype != x.dtype)
            return ST_DECLINE;
        grad = value.requires_grad;
    } else if (!(PyFloat_CheckExact(r->v[2]) && dtype_float(x.dtype)) &&
               !PyBool_Check(r->v[2]) && !(is_int(r->v[2], &n) && x.dtype != D_BOOL)) {
        return ST_DECLINE;
    }
    PyObject *self;
    TRY(give_written(r, r->v[0], &x, grad, &self));
    Py_DECREF(self);
    *out = Py_NewRef(Py_None);
    return ST_OK;
}

/* index_copy_(dim, index, source), index_add_: one integer vector. */
static Status index_write(Infer *r, PyObject **out)
{
    TensorMeta x, i, s;
    int64_t dim, n;
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &dim) ||
        !read_tensor(r->v[2], &i) || !read_tensor(r->v[3], &s) || !index_type(&i) ||
        i.ndim != 1 || x.ndim == 0 || s.ndim != x.ndim || s.dtype != x.dtype ||
        !wrap_dim(&dim, x.ndim) || !(r->v[4] == NULL || is_int(r->v[4], &n)))
        return ST_DECLINE;
    for (int k = 0; k < x.ndim; k++)
        if (s.sizes[k] != (k == dim ? i.sizes[0] : x.sizes[k]))
            return ST_DECLINE;
    if (r->in_place)
        return give_written(r, r->v[0], &x, s.requires_grad, out);
    r->loose |= !row_major(&x) || odd_strides(&x);
    return rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad || s.requires_grad, out);
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
    r->loose |= odd_strides(&x);
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

/* repeat_interleave(x, n, dim) with numbers */
static Status repeat_interleave(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t n, dim;
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &n) || n < 0 ||
        !is_int(r->v[2], &dim) || x.ndim == 0 || !wrap_dim(&dim, x.ndim) ||
        !absent(r->v[3]))
        return ST_DECLINE;
    r->loose = true;
    x.sizes[dim] *= n;
    return rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* -- Copies --------------------------------------------------------------------------------- */

/* What is row-major already stays itself: torch sees that without a kernel. */
static Status contiguous(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!read_tensor(r->v[0], &x) || r->v[1] || row_major(&x))
        return ST_DECLINE;
    return rows_of(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

static Status copy(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!read_tensor(r->v[0], &x) || r->v[1] || !dense(&x) || x.numel == 0)
        return ST_DECLINE;
    return give(r, &x, x.dtype, x.requires_grad, out);
}

/* Takes dims of `to` from the end until they hold `run` elements; false: they do not come out even. */
static bool take_run(const int64_t *to, int *at, int64_t run)
{
    int64_t held = 1;
    while (*at >= 0 && (held < run || to[*at] == 1))
        held *= to[(*at)--];
    return held == run;
}

/* Can `to` be seen in x without a copy? Dims of x that lie evenly spaced are one run; each must be cut by itself. */
static bool viewable(const TensorMeta *x, const int64_t *to, int n)
{
    int at = n - 1;
    int64_t run = 1, step = x->ndim ? x->strides[x->ndim - 1] : 1;
    for (int i = x->ndim - 1; i >= 0; i--) {
        run *= x->sizes[i];
        if (i > 0 && (x->sizes[i - 1] == 1 || x->strides[i - 1] == run * step))
            continue;
        if (!take_run(to, &at, run))
            return false;
        run = 1;
        step = i > 0 ? x->strides[i - 1] : 1;
    }
    return at == -1;
}

/* Sizes with at most one -1, of so many elements. */
static bool full_shape(int64_t *v, int n, int64_t numel)
{
    int free_dim = -1;
    int64_t known = 1;
    for (int i = 0; i < n; i++) {
        if (v[i] < -1 || (v[i] == -1 && free_dim >= 0))
            return false;
        if (v[i] == -1)
            free_dim = i;
        else
            known *= v[i];
    }
    if (free_dim >= 0 && (known == 0 || numel % known != 0))
        return false;
    if (free_dim >= 0)
        v[free_dim] = numel / known;
    return free_dim >= 0 || known == numel;
}

/* reshape that has to copy; a view is torch's own quick work. */
static Status reshape(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t v[META_MAX_DIM];
    int n = 0;
    if (!read_tensor(r->v[0], &x) || row_major(&x) || x.numel == 0 || r->v[1] == NULL)
        return ST_DECLINE;
    if (!PyLong_CheckExact(r->v[1]))
        n = r->v[2] ? -1 : read_ints(r->v[1], v, META_MAX_DIM);
    else
        while (n + 1 < RULE_MAX_PARAMS && r->v[n + 1] && is_int(r->v[n + 1], &v[n]))
            n++;
    if (n < 0 || (n + 1 < RULE_MAX_PARAMS && PyLong_CheckExact(r->v[1]) && r->v[n + 1]) ||
        !full_shape(v, n, x.numel) || viewable(&x, v, n))
        return ST_DECLINE;
    r->loose |= odd_strides(&x);
    return rows_of(r, v, n, x.dtype, x.requires_grad, out);
}

static Status flatten(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t from = 0, to = -1, v[META_MAX_DIM];
    if (!read_tensor(r->v[0], &x) || row_major(&x) || x.numel == 0 ||
        !(r->v[1] == NULL || is_int(r->v[1], &from)) ||
        !(r->v[2] == NULL || is_int(r->v[2], &to)) || !wrap_dim(&from, x.ndim) ||
        !wrap_dim(&to, x.ndim) || from >= to)
        return ST_DECLINE;
    int n = 0;
    for (int i = 0; i < x.ndim; i++) {
        if (i > from && i <= to)
            v[n - 1] *= x.sizes[i];
        else
            v[n++] = x.sizes[i];
    }
    if (viewable(&x, v, n))
        return ST_DECLINE;
    r->loose |= odd_strides(&x);
    return rows_of(r, v, n, x.dtype, x.requires_grad, out);
}

/* -- Padding ---------------------------------------------------------------------------------- */

/* F.pad(input, pad, mode, value): constant mode. */
static Status pad(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t v[2 * META_MAX_DIM];
    int n = read_ints(r->v[1], v, 2 * META_MAX_DIM);
    if (!read_tensor(r->v[0], &x) || n < 2 || n % 2 || n / 2 > x.ndim ||
        x.dtype == D_BOOL ||
        !(r->v[2] == NULL || (PyUnicode_Check(r->v[2]) &&
                              PyUnicode_CompareWithASCIIString(r->v[2], "constant") == 0)))
        return ST_DECLINE;
    bool moves = false; /* images may be in channels_last, and stay so */
    r->loose |= (x.ndim >= 4 && !row_major(&x)) || odd_strides(&x);
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
    { "setitem", "input index value", setitem, true },
    { "index_write", "input dim index source alpha", index_write, false },
    { "repeat_interleave", "input repeats dim output_size", repeat_interleave, false },
    { "contiguous", "input memory_format", contiguous, false },
    { "clone", "input memory_format", copy, false },
    { "reshape", "input shape _2 _3 _4 _5 _6 _7 _8", reshape, false },
    { "flatten", "input start_dim end_dim", flatten, false },
    { "gather", "input dim index", gather, false },
    { "index_select", "input dim index", index_select, false },
    { "tril", "input diagonal", tril, false },
    { "flip", "input dims", flip, false },
    { "roll", "input shifts dims", roll, false },
    { "repeat", "input repeats _2 _3 _4 _5 _6 _7 _8", repeat, false },
    { "pad", "input pad mode value", pad, false },
    { 0 },
};
