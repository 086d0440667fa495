/*
 * torch/rules_matrix.c -- matrix products, convolution, attention, convolution, pooling, embedding.
 */
#include "torch/rules.h"

/* -- Products ------------------------------------------------------------------------- */

/* Tensors of different dtypes: torch's meta kernels let pass what eager refuses, and name another dtype. */
static bool mixed(Infer *r, int n)
{
    TensorMeta m;
    int dtype = -1;
    for (int i = 0; i < n; i++) {
        if (absent(r->v[i]) || !read_tensor(r->v[i], &m))
            continue;
        if (dtype >= 0 && m.dtype != dtype)
            return true;
        dtype = m.dtype;
    }
    return false;
}

static bool two(Infer *r, TensorMeta *a, TensorMeta *b)
{
    return read_tensor(r->v[0], a) && read_tensor(r->v[1], b) && a->dtype == b->dtype &&
           a->dtype != D_BOOL;
}

static Status mm(Infer *r, PyObject **out)
{
    TensorMeta a, b;
    if (mixed(r, 2))
        return ST_BREAK;
    if (!two(r, &a, &b) || a.ndim != 2 || b.ndim != 2 || a.sizes[1] != b.sizes[0])
        return ST_DECLINE;
    return give_rows(r, (int64_t[]){ a.sizes[0], b.sizes[1] }, 2, a.dtype,
                     a.requires_grad || b.requires_grad, out);
}

static Status bmm(Infer *r, PyObject **out)
{
    TensorMeta a, b;
    if (mixed(r, 2))
        return ST_BREAK;
    if (!two(r, &a, &b) || a.ndim != 3 || b.ndim != 3 || a.sizes[0] != b.sizes[0] ||
        a.sizes[2] != b.sizes[1])
        return ST_DECLINE;
    return give_rows(r, (int64_t[]){ a.sizes[0], a.sizes[1], b.sizes[2] }, 3, a.dtype,
                     a.requires_grad || b.requires_grad, out);
}

/* Broadcast of the leading dims of two shapes; -1: they do not fit. */
static int leading(const TensorMeta *a, int na, const TensorMeta *b, int nb, int64_t *to)
{
    int n = na > nb ? na : nb;
    for (int i = 1; i <= n; i++) {
        int64_t x = i <= na ? a->sizes[na - i] : 1, y = i <= nb ? b->sizes[nb - i] : 1;
        if (x != y && x != 1 && y != 1)
            return -1;
        to[n - i] = x == 1 ? y : x;
    }
    return n;
}

static Status matmul(Infer *r, PyObject **out)
{
    TensorMeta a, b;
    int64_t sizes[META_MAX_DIM + 2];
    if (mixed(r, 2))
        return ST_BREAK;
    if (!two(r, &a, &b) || a.ndim == 0 || b.ndim == 0)
        return ST_DECLINE;
    int64_t inner = a.sizes[a.ndim - 1],
            other = b.ndim == 1 ? b.sizes[0] : b.sizes[b.ndim - 2];
    if (inner != other)
        return ST_DECLINE;
    int na = a.ndim > 1 ? a.ndim - 2 : 0, nb = b.ndim > 1 ? b.ndim - 2 : 0;
    int n = leading(&a, na, &b, nb, sizes);
    if (n < 0)
        return ST_DECLINE;
    if (a.ndim > 1)
        sizes[n++] = a.sizes[a.ndim - 2];
    if (b.ndim > 1)
        sizes[n++] = b.sizes[b.ndim - 1];
    /* Some combinations fold dims and view the product of matrices; what they view is fresh, but its layout varies. */
    r->loose |= a.ndim != b.ndim || a.ndim > 3;
    for (int i = 0; i < na && a.ndim == b.ndim; i++) /* a batch of one may be left out */
        r->loose |= a.sizes[i] != b.sizes[i] || a.sizes[i] == 1;
    return give_rows(r, sizes, n, a.dtype, a.requires_grad || b.requires_grad, out);
}

static Status rmatmul(Infer *r, PyObject **out)
{
    PyObject *a = r->v[0];
    r->v[0] = r->v[1];
    r->v[1] = a;
    return matmul(r, out);
}

static Status mv(Infer *r, PyObject **out)
{
    TensorMeta a, b;
    if (mixed(r, 2))
        return ST_BREAK;
    if (!two(r, &a, &b) || a.ndim != 2 || b.ndim != 1 || a.sizes[1] != b.sizes[0])
        return ST_DECLINE;
    return give_rows(r, a.sizes, 1, a.dtype, a.requires_grad || b.requires_grad, out);
}

static bool expands(const TensorMeta *t, const int64_t *sizes, int n)
{
    if (t->ndim > n)
        return false;
    for (int i = 1; i <= t->ndim; i++)
        if (t->sizes[t->ndim - i] != 1 && t->sizes[t->ndim - i] != sizes[n - i])
            return false;
    return true;
}

/* addmm(input, mat1, mat2), baddbmm: the product plus something that expands to it. */
static Status add_product(Infer *r, int ndim, PyObject **out)
{
    TensorMeta c, a, b;
    if (mixed(r, 3))
        return ST_BREAK;
    if (!read_tensor(r->v[0], &c) || !read_tensor(r->v[1], &a) ||
        !read_tensor(r->v[2], &b) || a.ndim != ndim || b.ndim != ndim ||
        a.dtype != b.dtype || c.dtype != a.dtype || !dtype_float(a.dtype) ||
        a.sizes[ndim - 1] != b.sizes[ndim - 2] || (ndim == 3 && a.sizes[0] != b.sizes[0]))
        return ST_DECLINE;
    int64_t sizes[3] = { a.sizes[0], ndim == 3 ? a.sizes[1] : b.sizes[1],
                         ndim == 3 ? b.sizes[2] : 0 };
    if (!expands(&c, sizes, ndim))
        return ST_DECLINE;
    return give_rows(r, sizes, ndim, a.dtype,
                     a.requires_grad || b.requires_grad || c.requires_grad, out);
}

static Status addmm(Infer *r, PyObject **out)
{
    return add_product(r, 2, out);
}
static Status baddbmm(Infer *r, PyObject **out)
{
    return add_product(r, 3, out);
}

/* With a bias, inputs that are no matrices are flattened, and the result is a view of the product. */
static Status flattened(Infer *r, const TensorMeta *x, int64_t width, bool grad,
                        PyObject **out)
{
    PyObject *flat, *shape = PyTuple_New(x->ndim);
    int64_t rows = 1;
    for (int i = 0; shape && i < x->ndim; i++) {
        int64_t n = i == x->ndim - 1 ? width : x->sizes[i];
        rows *= i == x->ndim - 1 ? 1 : n;
        PyTuple_SET_ITEM(shape, i, PyLong_FromLongLong(n));
    }
    if (shape == NULL || PyErr_Occurred()) {
        Py_XDECREF(shape);
        return ST_ERROR;
    }
    Status st = give_rows(r, (int64_t[]){ rows, width }, 2, x->dtype, grad, &flat);
    if (st == ST_OK) {
        *out = PyObject_CallMethod(flat, "view", "O", shape);
        st = *out ? ST_OK : ST_ERROR;
        Py_DECREF(flat);
    }
    Py_DECREF(shape);
    return st;
}

static Status linear(Infer *r, PyObject **out)
{
    TensorMeta x, w, b = { 0 };
    int64_t sizes[META_MAX_DIM];
    if (mixed(r, 3))
        return ST_BREAK;
    if (!two(r, &x, &w) || !dtype_float(x.dtype) || w.ndim != 2 || x.ndim == 0 ||
        x.sizes[x.ndim - 1] != w.sizes[1])
        return ST_DECLINE;
    if (!absent(r->v[2]) && (!read_tensor(r->v[2], &b) || b.ndim != 1 ||
                             b.sizes[0] != w.sizes[0] || b.dtype != x.dtype))
        return ST_DECLINE;
    bool grad = x.requires_grad || w.requires_grad || b.requires_grad;
    memcpy(sizes, x.sizes, sizeof sizes);
    sizes[x.ndim - 1] = w.sizes[0];
    r->loose |= x.numel == 0;
    r->loose_view |=
        !row_major(&x) || odd_strides(&x) || x.ndim == 1 ||
        (!absent(r->v[2]) && !row_major(&b)); /* what is folded, and so a view */
    if (!absent(r->v[2]) && x.ndim != 2 && !r->in_place)
        return flattened(r, &x, w.sizes[0], grad, out);
    return give_rows(r, sizes, x.ndim, x.dtype, grad, out);
}

/* einsum("ab,bc->ac", x, y): letters only, an arrow, no repeats within an operand. */
static Status einsum(Infer *r, PyObject **out)
{
    int64_t size['z' + 1] = { 0 }, sizes[META_MAX_DIM];
    int dtype = -1, operand = 1, dim = 0, n = 0;
    bool grad = false;
    TensorMeta m = { 0 };
    if (r->v[0] == NULL || !PyUnicode_CheckExact(r->v[0]) || !read_tensor(r->v[1], &m))
        return ST_DECLINE;
    const char *s = PyUnicode_AsUTF8(r->v[0]), *arrow = s ? strstr(s, "->") : NULL;
    if (arrow == NULL)
        return ST_DECLINE;
    for (const char *p = s;; p++) {
        if (*p == ' ')
            continue;
        if (p == arrow || *p == ',') {
            if (dim != m.ndim || (dtype >= 0 && m.dtype != dtype))
                return ST_DECLINE;
            dtype = m.dtype;
            grad |= m.requires_grad;
            dim = 0;
            if (p == arrow)
                break;
            if (++operand >= RULE_MAX_PARAMS || !read_tensor(r->v[operand], &m))
                return ST_DECLINE;
            continue;
        }
        if (*p < 'a' || *p > 'z' || dim >= m.ndim || memchr(p - dim, *p, (size_t)dim))
            return ST_DECLINE;
        if (size[(int)*p] > 1 && m.sizes[dim] != 1 && size[(int)*p] != m.sizes[dim])
            return ST_DECLINE;
        size[(int)*p] = size[(int)*p] > 1 ? size[(int)*p] : m.sizes[dim];
        dim++;
    }
    for (const char *p = arrow + 2; *p; p++) {
        if (*p == ' ')
            continue;
        if (*p < 'a' || *p > 'z' || size[(int)*p] == 0 || n == META_MAX_DIM)
            return ST_DECLINE;
        sizes[n++] = size[(int)*p];
    }
    if ((operand + 1 < RULE_MAX_PARAMS && r->v[operand + 1]) || operand < 2 ||
        !dtype_float(dtype))
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, sizes, n, dtype, grad, out);
}

/* -- Attention --------------------------------------------------------------------------- */

/* scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa): of batches of matrices, in
 * heads (4 dims) or not (3). */
static Status attention(Infer *r, PyObject **out)
{
    TensorMeta q, k, v, mask = { 0 };
    if (!read_tensor(r->v[0], &q) || !read_tensor(r->v[1], &k) ||
        !read_tensor(r->v[2], &v) || q.ndim < 3 || q.ndim > 4 || k.ndim != q.ndim ||
        v.ndim != q.ndim || !dtype_float(q.dtype) || q.dtype != k.dtype ||
        q.dtype != v.dtype || q.numel == 0 || k.numel == 0 || v.numel == 0)
        return ST_DECLINE;
    bool grouped = is_true(r->v[7]), heads = q.ndim == 4;
    int rows = q.ndim - 2, cols = q.ndim - 1;
    if (grouped && !heads)
        return ST_DECLINE;
    if (q.sizes[0] != k.sizes[0] ||
        (heads && (grouped ? q.sizes[1] % k.sizes[1] != 0 : q.sizes[1] != k.sizes[1])) ||
        q.sizes[cols] != k.sizes[cols] || k.sizes[rows] != v.sizes[rows] ||
        k.sizes[0] != v.sizes[0] || (heads && k.sizes[1] != v.sizes[1]))
        return ST_DECLINE;
    int64_t sizes[4];
    memcpy(sizes, q.sizes, sizeof sizes);
    sizes[cols] = k.sizes[rows];
    if (!absent(r->v[3]) && (is_true(r->v[5]) || !read_tensor(r->v[3], &mask) ||
                             !expands(&mask, sizes, q.ndim) ||
                             (mask.dtype != D_BOOL && mask.dtype != q.dtype)))
        return ST_DECLINE;
    sizes[cols] = v.sizes[cols];
    r->loose = true;
    return give_rows(
        r, sizes, q.ndim, q.dtype,
        q.requires_grad || k.requires_grad || v.requires_grad || mask.requires_grad, out);
}

/* -- Convolution and pooling ---------------------------------------------------------------- */

/* One int or n of them -> v[0..n). */
static bool spread(PyObject *o, int64_t otherwise, int n, int64_t *v)
{
    if (absent(o)) {
        for (int i = 0; i < n; i++)
            v[i] = otherwise;
        return true;
    }
    int got = read_ints(o, v, n);
    if (got == 1)
        for (int i = 1; i < n; i++)
            v[i] = v[0];
    return got == n || got == 1;
}

/* What is added to each dim in all: twice a number, or as much as "same" and "valid" say. */
static bool padding(PyObject *o, int n, const TensorMeta *w, const int64_t *stride,
                    const int64_t *step, int64_t *pad)
{
    bool same =
             o && PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, "same") == 0,
         valid =
             o && PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, "valid") == 0;
    if (!same && !valid && !spread(o, 0, n, pad))
        return false;
    for (int i = 0; i < n; i++) {
        pad[i] = same ? step[i] * (w->sizes[i + 2] - 1) : valid ? 0 : 2 * pad[i];
        if (same && stride[i] != 1)
            return false;
    }
    return true;
}

/* A convolution's tensors: input and weight of n dims beside two, a bias of so many channels, groups that fit. */
typedef struct Conv {
    TensorMeta x, w;
    int64_t groups, sizes[5];
    bool needs_grad;
} Conv;

static bool conv_tensors(Infer *r, int n, PyObject *groups, Conv *c)
{
    c->groups = 1;
    if (!two(r, &c->x, &c->w) || !dtype_float(c->x.dtype) || c->x.ndim != n + 2 ||
        c->w.ndim != n + 2 || c->x.numel == 0 ||
        !(groups == NULL || is_int(groups, &c->groups)) || c->groups < 1 ||
        c->w.sizes[0] % c->groups != 0)
        return false;
    c->needs_grad = c->x.requires_grad || c->w.requires_grad;
    return true;
}

/* The result has that many channels, as the bias has to have. */
static bool conv_channels(Infer *r, Conv *c, int64_t channels)
{
    TensorMeta b = { 0 };
    c->sizes[0] = c->x.sizes[0];
    c->sizes[1] = channels;
    if (absent(r->v[2]))
        return true;
    if (!read_tensor(r->v[2], &b) || b.ndim != 1 || b.sizes[0] != channels ||
        b.dtype != c->x.dtype)
        return false;
    c->needs_grad |= b.requires_grad;
    return true;
}

static Status conv_result(Infer *r, const Conv *c, int n, PyObject **out)
{
    r->loose = true;
    return give_rows(r, c->sizes, n + 2, c->x.dtype, c->needs_grad, out);
}

/* conv2d(input, weight, bias, stride, padding, dilation, groups) */
static Status conv(Infer *r, int n, PyObject **out)
{
    Conv c;
    int64_t stride[3], pad[3], step[3];
    if (!conv_tensors(r, n, r->v[6], &c) || !spread(r->v[3], 1, n, stride) ||
        !spread(r->v[5], 1, n, step) || !padding(r->v[4], n, &c.w, stride, step, pad) ||
        c.x.sizes[1] != c.w.sizes[1] * c.groups || !conv_channels(r, &c, c.w.sizes[0]))
        return ST_DECLINE;
    for (int i = 0; i < n; i++) {
        int64_t room = c.x.sizes[i + 2] + pad[i] - step[i] * (c.w.sizes[i + 2] - 1) - 1;
        if (room < 0 || stride[i] < 1 || pad[i] < 0 || step[i] < 1 || c.w.sizes[i + 2] < 1)
            return ST_DECLINE;
        c.sizes[i + 2] = room / stride[i] + 1;
    }
    return conv_result(r, &c, n, out);
}

static Status conv1d(Infer *r, PyObject **out)
{
    return conv(r, 1, out);
}
static Status conv2d(Infer *r, PyObject **out)
{
    return conv(r, 2, out);
}
static Status conv3d(Infer *r, PyObject **out)
{
    return conv(r, 3, out);
}

/* conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation) */
static Status conv_transpose(Infer *r, int n, PyObject **out)
{
    Conv c;
    int64_t stride[3], pad[3], extra[3], step[3];
    if (!conv_tensors(r, n, r->v[6], &c) || !spread(r->v[3], 1, n, stride) ||
        !spread(r->v[4], 0, n, pad) || !spread(r->v[5], 0, n, extra) ||
        !spread(r->v[7], 1, n, step) || c.x.sizes[1] != c.w.sizes[0] ||
        !conv_channels(r, &c, c.w.sizes[1] * c.groups))
        return ST_DECLINE;
    for (int i = 0; i < n; i++) {
        if (stride[i] < 1 || pad[i] < 0 || step[i] < 1 || extra[i] < 0 ||
            (extra[i] >= stride[i] && extra[i] >= step[i]))
            return ST_DECLINE;
        c.sizes[i + 2] = (c.x.sizes[i + 2] - 1) * stride[i] - 2 * pad[i] +
                         step[i] * (c.w.sizes[i + 2] - 1) + extra[i] + 1;
        if (c.sizes[i + 2] < 1)
            return ST_DECLINE;
    }
    return conv_result(r, &c, n, out);
}

static Status conv_transpose1d(Infer *r, PyObject **out)
{
    return conv_transpose(r, 1, out);
}
static Status conv_transpose2d(Infer *r, PyObject **out)
{
    return conv_transpose(r, 2, out);
}

/* max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices) */
static Status pool(Infer *r, int n, PyObject *ceil_mode, int64_t *step, PyObject **out)
{
    TensorMeta x;
    int64_t kernel[3], stride[3], pad[3], sizes[5];
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim != n + 2 ||
        x.numel == 0 || !r->v[1] || !spread(r->v[1], 1, n, kernel) ||
        !is_false(ceil_mode) || !spread(r->v[3], 0, n, pad))
        return ST_DECLINE;
    bool given =
        !absent(r->v[2]) && !(PyTuple_Check(r->v[2]) && PyTuple_GET_SIZE(r->v[2]) == 0);
    if (!spread(given ? r->v[2] : r->v[1], 1, n, stride))
        return ST_DECLINE;
    memcpy(sizes, x.sizes, 2 * sizeof sizes[0]);
    for (int i = 0; i < n; i++) {
        int64_t room = x.sizes[i + 2] + 2 * pad[i] - step[i] * (kernel[i] - 1) - 1;
        if (room < 0 || stride[i] < 1 || kernel[i] < 1 || pad[i] < 0 ||
            2 * pad[i] > kernel[i] || step[i] < 1)
            return ST_DECLINE;
        sizes[i + 2] = room / stride[i] + 1;
    }
    r->loose = true;
    return give_rows(r, sizes, n + 2, x.dtype, x.requires_grad, out);
}

static Status max_pool(Infer *r, int n, PyObject **out)
{
    int64_t step[3];
    return spread(r->v[4], 1, n, step) && is_false(r->v[6])
               ? pool(r, n, r->v[5], step, out)
               : ST_DECLINE;
}

static Status max_pool1d(Infer *r, PyObject **out)
{
    return max_pool(r, 1, out);
}
static Status max_pool2d(Infer *r, PyObject **out)
{
    return max_pool(r, 2, out);
}
static Status max_pool3d(Infer *r, PyObject **out)
{
    return max_pool(r, 3, out);
}

/* avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override) */
static Status avg_pool(Infer *r, int n, PyObject **out)
{
    int64_t step[3] = { 1, 1, 1 };
    return absent(r->v[6]) ? pool(r, n, r->v[4], step, out) : ST_DECLINE;
}

static Status avg_pool1d(Infer *r, PyObject **out)
{
    return avg_pool(r, 1, out);
}
static Status avg_pool2d(Infer *r, PyObject **out)
{
    return avg_pool(r, 2, out);
}
static Status avg_pool3d(Infer *r, PyObject **out)
{
    return avg_pool(r, 3, out);
}

static Status adaptive_avg_pool2d(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t to[2];
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim != 4 ||
        x.numel == 0 || !r->v[1] || !spread(r->v[1], 1, 2, to) || to[0] < 1 || to[1] < 1)
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, (int64_t[]){ x.sizes[0], x.sizes[1], to[0], to[1] }, 4, x.dtype,
                     x.requires_grad, out);
}

/* -- Embedding ------------------------------------------------------------------------ */

/* embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse) */
static Status embedding(Infer *r, PyObject **out)
{
    TensorMeta i, w;
    int64_t sizes[META_MAX_DIM];
    if (!read_tensor(r->v[0], &i) || !read_tensor(r->v[1], &w) ||
        (i.dtype != D_I64 && i.dtype != D_I32) || w.ndim != 2 || !dtype_float(w.dtype) ||
        !absent(r->v[3]) || !is_false(r->v[5]) || !is_false(r->v[6]) ||
        i.ndim + 1 > META_MAX_DIM)
        return ST_DECLINE;
    memcpy(sizes, i.sizes, 8 * (size_t)i.ndim);
    sizes[i.ndim] = w.sizes[1];
    r->loose_view |= i.ndim != 1; /* a view of the rows */
    return give_rows(r, sizes, i.ndim + 1, w.dtype, w.requires_grad, out);
}

const Rule rules_matrix[] = {
    { "mm", "input mat2", mm, false },
    { "bmm", "input mat2", bmm, false },
    { "matmul", "input other", matmul, false },
    { "rmatmul", "input other", rmatmul, false },
    { "mv", "input vec", mv, false },
    { "addmm", "input mat1 mat2 beta alpha", addmm, false },
    { "baddbmm", "input batch1 batch2 beta alpha", baddbmm, false },
    { "linear", "input weight bias", linear, false },
    { "attention", "query key value attn_mask dropout_p is_causal scale enable_gqa",
      attention, false },
    { "einsum", "equation _1 _2 _3 _4 _5 _6 _7 _8 _9", einsum, false },
    { "conv_transpose1d",
      "input weight bias stride padding output_padding groups dilation", conv_transpose1d,
      false },
    { "conv_transpose2d",
      "input weight bias stride padding output_padding groups dilation", conv_transpose2d,
      false },
    { "conv1d", "input weight bias stride padding dilation groups", conv1d, false },
    { "conv2d", "input weight bias stride padding dilation groups", conv2d, false },
    { "conv3d", "input weight bias stride padding dilation groups", conv3d, false },
    { "max_pool1d", "input kernel_size stride padding dilation ceil_mode return_indices",
      max_pool1d, false },
    { "max_pool2d", "input kernel_size stride padding dilation ceil_mode return_indices",
      max_pool2d, false },
    { "max_pool3d", "input kernel_size stride padding dilation ceil_mode return_indices",
      max_pool3d, false },
    { "avg_pool1d", "input kernel_size stride padding ceil_mode count_include_pad",
      avg_pool1d, false },
    { "avg_pool3d",
      "input kernel_size stride padding ceil_mode count_include_pad divisor_override",
      avg_pool3d, false },
    { "avg_pool2d",
      "input kernel_size stride padding ceil_mode count_include_pad divisor_override",
      avg_pool2d, false },
    { "adaptive_avg_pool2d", "input output_size", adaptive_avg_pool2d, false },
    { "embedding", "input weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
      embedding, false },
    { 0 },
};
