/*
 * torch/rules_loss.c -- losses, norms and distances.
 *
 * Most of these are Python functions or decompositions of many operations. See rules_network.c for why they have rules.
 */
#include "torch/rules.h"

/* -- Losses ------------------------------------------------------------------------------- */

/* Whether the loss is one number; of losses that are not reduced, kernels choose the strides. "batchmean" is kl_div's. */
static bool reduces(const Infer *r, PyObject *o)
{
    static const char *const names[] = { "mean", "sum", "batchmean" };
    size_t n = strcmp(r->rule->name, "kl_div") == 0 ? 3 : 2;
    bool known = o == NULL;
    for (size_t i = 0; i < n && o && PyUnicode_CheckExact(o); i++)
        known |= PyUnicode_CompareWithASCIIString(o, names[i]) == 0;
    return known;
}

/* input and target of one shape and dtype; v[at]: reduction; `with`: a tensor that takes part, or 0. */
static Status pointwise_loss(Infer *r, int at, int with, PyObject **out)
{
    TensorMeta x, t, w = { 0 };
    if (!read_tensor(r->v[0], &x) || !read_tensor(r->v[1], &t) || !dtype_float(x.dtype) ||
        t.dtype != x.dtype || !same_sizes(&x, &t) || !reduces(r, r->v[at]))
        return ST_DECLINE;
    if (with && !absent(r->v[with]) &&
        (!read_tensor(r->v[with], &w) || w.dtype != x.dtype || w.ndim > x.ndim ||
         (w.ndim &&
          memcmp(w.sizes, x.sizes + (x.ndim - w.ndim), 8 * (size_t)w.ndim) != 0)))
        return ST_DECLINE;
    r->loose_view = true;
    return give_rows(r, NULL, 0, x.dtype,
                     x.requires_grad || t.requires_grad || w.requires_grad, out);
}

/* l1_loss(input, target, size_average, reduce, reduction, weight), smooth_l1_loss(…, beta) */
static Status l1_loss(Infer *r, PyObject **out)
{
    bool plain = absent(r->v[2]) && absent(r->v[3]) &&
                 (absent(r->v[5]) || PyFloat_CheckExact(r->v[5]));
    return plain ? pointwise_loss(r, 4, 0, out) : ST_DECLINE;
}

/* mse_loss(input, target, size_average, reduce, reduction, weight) */
static Status mse_loss(Infer *r, PyObject **out)
{
    bool plain = absent(r->v[2]) && absent(r->v[3]) && absent(r->v[5]);
    return plain ? pointwise_loss(r, 4, 0, out) : ST_DECLINE;
}

/* huber_loss(input, target, reduction, delta, weight) */
static Status huber_loss(Infer *r, PyObject **out)
{
    return absent(r->v[4]) ? pointwise_loss(r, 2, 0, out) : ST_DECLINE;
}

/* binary_cross_entropy(input, target, weight, size_average, reduce, reduction) */
static Status cross_entropy_of_two(Infer *r, PyObject **out)
{
    return absent(r->v[3]) && absent(r->v[4]) ? pointwise_loss(r, 5, 2, out) : ST_DECLINE;
}

/* binary_cross_entropy_with_logits(…, pos_weight): one of the two weights at most. */
static Status with_logits(Infer *r, PyObject **out)
{
    if (!absent(r->v[3]) || !absent(r->v[4]) || (!absent(r->v[2]) && !absent(r->v[6])))
        return ST_DECLINE;
    return pointwise_loss(r, 5, absent(r->v[6]) ? 2 : 6, out);
}

/* kl_div(input, target, size_average, reduce, reduction, log_target) */
static Status kl_div(Infer *r, PyObject **out)
{
    return absent(r->v[2]) && absent(r->v[3]) ? pointwise_loss(r, 4, 0, out) : ST_DECLINE;
}

/* (input, target, weight, size_average, ignore_index, reduce, reduction): rows of scores and a class for each. */
static bool rows_of_scores(Infer *r, TensorMeta *x)
{
    TensorMeta t;
    int64_t n;
    return read_tensor(r->v[0], x) && read_tensor(r->v[1], &t) && dtype_float(x->dtype) &&
           t.dtype == D_I64 && x->ndim == 2 && t.ndim == 1 && x->sizes[0] == t.sizes[0] &&
           absent(r->v[3]) && absent(r->v[5]) &&
           (r->v[4] == NULL || is_int(r->v[4], &n)) && reduces(r, r->v[6]);
}

/* nll_loss(input, target, weight, size_average, ignore_index, reduce, reduction) */
static Status nll_loss(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!rows_of_scores(r, &x) || !absent(r->v[2]))
        return ST_DECLINE;
    r->loose_view = true;
    return give_rows(r, NULL, 0, x.dtype, x.requires_grad, out);
}

/* cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing) */
static Status cross_entropy(Infer *r, PyObject **out)
{
    TensorMeta x, w = { 0 };
    if (!rows_of_scores(r, &x) || !(r->v[7] == NULL || PyFloat_CheckExact(r->v[7])))
        return ST_DECLINE;
    if (!absent(r->v[2]) && (!read_tensor(r->v[2], &w) || w.dtype != x.dtype ||
                             w.ndim != 1 || w.sizes[0] != x.sizes[1]))
        return ST_DECLINE;
    return give_rows(r, NULL, 0, x.dtype, x.requires_grad, out);
}

/* -- Norms and distances ------------------------------------------------------------------ */

/* Exponents that every kernel takes; "fro" is torch.norm's name for 2. */
static bool is_exponent(PyObject *p)
{
    return absent(p) || PyLong_CheckExact(p) || PyFloat_CheckExact(p) ||
           (PyUnicode_Check(p) && PyUnicode_CompareWithASCIIString(p, "fro") == 0);
}

/* linalg.vector_norm(x, ord, dim, keepdim, dtype), norm(input, p, dim, keepdim, out, dtype) */
static Status vector_norm(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t dims[META_MAX_DIM], sizes[META_MAX_DIM];
    bool drop[META_MAX_DIM] = { 0 }, keep = is_true(r->v[3]), all = absent(r->v[2]);
    int n = all ? 0 : read_ints(r->v[2], dims, META_MAX_DIM), left = 0;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.numel == 0 || n < 0 ||
        !is_exponent(r->v[1]) || !absent(r->v[4]) || !absent(r->v[5]) || (!all && n == 0))
        return ST_DECLINE;
    for (int i = 0; i < n; i++) {
        if (!wrap_dim(&dims[i], x.ndim) || x.ndim == 0 || drop[dims[i]])
            return ST_DECLINE;
        drop[dims[i]] = true;
    }
    for (int i = 0; i < x.ndim; i++) {
        if (!all && !drop[i])
            sizes[left++] = x.sizes[i];
        else if (keep)
            sizes[left++] = 1;
    }
    r->loose = true;
    return give_rows(r, sizes, left, x.dtype, x.requires_grad, out);
}

/* normalize(input, p, dim, eps, out) */
static Status normalize(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t dim = 1;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.numel == 0 ||
        x.ndim == 0 || !is_exponent(r->v[1]) ||
        !(r->v[2] == NULL || is_int(r->v[2], &dim)) || !wrap_dim(&dim, x.ndim) ||
        !absent(r->v[4]))
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* cosine_similarity(x1, x2, dim, eps) of tensors of one shape */
static Status cosine_similarity(Infer *r, PyObject **out)
{
    TensorMeta x, y;
    int64_t dim = 1, sizes[META_MAX_DIM];
    int n = 0;
    if (!read_tensor(r->v[0], &x) || !read_tensor(r->v[1], &y) || !dtype_float(x.dtype) ||
        y.dtype != x.dtype || !same_sizes(&x, &y) || x.ndim == 0 || x.numel == 0 ||
        !(r->v[2] == NULL || is_int(r->v[2], &dim)) || !wrap_dim(&dim, x.ndim))
        return ST_DECLINE;
    for (int i = 0; i < x.ndim; i++)
        if (i != dim)
            sizes[n++] = x.sizes[i];
    r->loose = true;
    return give_rows(r, sizes, n, x.dtype, x.requires_grad || y.requires_grad, out);
}

/* cdist(x1, x2, p, compute_mode) of two sets of points, or of as many pairs of sets */
static Status cdist(Infer *r, PyObject **out)
{
    TensorMeta x, y;
    if (!read_tensor(r->v[0], &x) || !read_tensor(r->v[1], &y) || !dtype_float(x.dtype) ||
        y.dtype != x.dtype || x.ndim < 2 || x.ndim != y.ndim || x.numel == 0 ||
        y.numel == 0 || x.sizes[x.ndim - 1] != y.sizes[x.ndim - 1] ||
        memcmp(x.sizes, y.sizes, 8 * (size_t)(x.ndim - 2)) != 0 ||
        !(r->v[2] == NULL || PyFloat_CheckExact(r->v[2])))
        return ST_DECLINE;
    x.sizes[x.ndim - 1] = y.sizes[x.ndim - 2];
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad || y.requires_grad, out);
}

/* outer(input, vec2) */
static Status outer(Infer *r, PyObject **out)
{
    TensorMeta x, y;
    if (!read_tensor(r->v[0], &x) || !read_tensor(r->v[1], &y) || x.ndim != 1 ||
        y.ndim != 1 || x.dtype != y.dtype)
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, (int64_t[]){ x.sizes[0], y.sizes[0] }, 2, x.dtype,
                     x.requires_grad || y.requires_grad, out);
}

/* one_hot(tensor, num_classes): how many there are has to be said. */
static Status one_hot(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t n;
    if (!read_tensor(r->v[0], &x) || x.dtype != D_I64 || x.numel == 0 ||
        x.ndim >= META_MAX_DIM || r->v[1] == NULL || !is_int(r->v[1], &n) || n < 1)
        return ST_DECLINE;
    x.sizes[x.ndim] = n;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim + 1, D_I64, false, out);
}

/* scatter(input, dim, index, src or value), scatter_add(input, dim, index, src) */
static Status scatter(Infer *r, PyObject **out)
{
    TensorMeta x, i, src = { 0 };
    int64_t dim;
    if (!read_tensor(r->v[0], &x) || !is_int(r->v[1], &dim) || !read_tensor(r->v[2], &i) ||
        i.dtype != D_I64 || x.ndim == 0 || i.ndim != x.ndim || i.numel == 0 ||
        !wrap_dim(&dim, x.ndim) || !read_tensor(r->v[3], &src) || src.dtype != x.dtype ||
        src.ndim != x.ndim || r->in_place)
        return ST_DECLINE;
    for (int k = 0; k < x.ndim; k++)
        if (i.sizes[k] > src.sizes[k] || (k != dim && i.sizes[k] > x.sizes[k]))
            return ST_DECLINE;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad || src.requires_grad,
                     out);
}

const Rule rules_loss[] = {
    { "cross_entropy",
      "input target weight size_average ignore_index reduce reduction label_smoothing",
      cross_entropy, false },
    { "mse_loss", "input target size_average reduce reduction weight", mse_loss, false },
    { "l1_loss", "input target size_average reduce reduction beta", l1_loss, false },
    { "huber_loss", "input target reduction delta weight", huber_loss, false },
    { "binary_cross_entropy", "input target weight size_average reduce reduction",
      cross_entropy_of_two, false },
    { "with_logits", "input target weight size_average reduce reduction pos_weight",
      with_logits, false },
    { "kl_div", "input target size_average reduce reduction log_target", kl_div, false },
    { "nll_loss", "input target weight size_average ignore_index reduce reduction",
      nll_loss, false },
    { "vector_norm", "x ord dim keepdim dtype", vector_norm, false },
    { "norm", "input p dim keepdim out dtype", vector_norm, false },
    { "normalize", "input p dim eps out", normalize, false },
    { "cosine_similarity", "x1 x2 dim eps", cosine_similarity, false },
    { "cdist", "x1 x2 p compute_mode", cdist, false },
    { "outer", "input vec2", outer, false },
    { "one_hot", "tensor num_classes", one_hot, false },
    { "scatter", "input dim index src", scatter, false },
    { 0 },
};
