/*
 * torch/rules_network.c -- whole layers that torch has as one operation: recurrent networks and their cells, attention
 * with its projections, interpolation; and the smaller pools.
 *
 * Their meta kernels run dozens of operations, many of them in Python, and import sympy and torch._dynamo for that: a second before
 * the first call, and milliseconds afterwards. Layouts are left open: they are kernels' business.
 */
#include "torch/rules.h"

/* -- Recurrent networks ------------------------------------------------------------- */

static bool any_needs_grad(PyObject *list)
{
    TensorMeta m;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++)
        if (read_tensor(PySequence_Fast_GET_ITEM(list, i), &m) && m.requires_grad)
            return true;
    return false;
}

static bool is_list(PyObject *o)
{
    return o && (PyList_CheckExact(o) || PyTuple_CheckExact(o));
}

/* A state of `like`'s dtype: [layers * directions, batch, width]. */
static bool read_state(PyObject *o, const TensorMeta *like, TensorMeta *h)
{
    return read_tensor(o, h) && h->ndim == 3 && h->dtype == like->dtype;
}

static PyObject *tensor_of(Infer *r, const int64_t *sizes, int n, int dtype, bool grad)
{
    PyObject *t;
    return give_rows(r, sizes, n, dtype, grad, &t) == ST_OK ? t : NULL;
}

/* A tuple of n new tensors, stolen; NULL among them: their exception. */
static Status give_tuple(PyObject **v, Py_ssize_t n, PyObject **out)
{
    *out = PyTuple_New(n);
    bool ok = *out != NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        ok &= v[i] != NULL;
        if (*out)
            PyTuple_SET_ITEM(*out, i, v[i]);
        else
            Py_XDECREF(v[i]);
    }
    if (!ok)
        Py_CLEAR(*out);
    return ok ? ST_OK : ST_ERROR;
}

/* lstm, gru …(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first). */
static Status recurrent(Infer *r, PyObject *const *states, int n, PyObject **out)
{
    TensorMeta x, h[2];
    int64_t layers;
    if (!read_tensor(r->v[0], &x) || x.ndim != 3 || !dtype_float(x.dtype) ||
        x.numel == 0 || !is_list(r->v[2]) || !is_int(r->v[4], &layers) || layers < 1)
        return ST_DECLINE;
    int64_t ways = is_true(r->v[7]) ? 2 : 1, batch = x.sizes[is_true(r->v[8]) ? 0 : 1];
    bool grad = x.requires_grad || any_needs_grad(r->v[2]);
    for (int i = 0; i < n; i++) {
        if (!read_state(states[i], &x, &h[i]) || h[i].sizes[0] != layers * ways ||
            h[i].sizes[1] != batch)
            return ST_DECLINE;
        grad |= h[i].requires_grad;
    }
    r->loose = true;
    int64_t sizes[3] = { x.sizes[0], x.sizes[1], h[0].sizes[2] * ways };
    PyObject *v[3] = { tensor_of(r, sizes, 3, x.dtype, grad) };
    for (int i = 0; i < n; i++)
        v[i + 1] = tensor_of(r, h[i].sizes, 3, x.dtype, grad);
    return give_tuple(v, n + 1, out);
}

static Status lstm(Infer *r, PyObject **out)
{
    if (!is_list(r->v[1]) || PySequence_Fast_GET_SIZE(r->v[1]) != 2)
        return ST_DECLINE;
    return recurrent(r, PySequence_Fast_ITEMS(r->v[1]), 2, out);
}

static Status rnn(Infer *r, PyObject **out)
{
    return recurrent(r, &r->v[1], 1, out);
}

/* …_cell(input, hx, w_ih, w_hh, b_ih, b_hh): states of [batch, width]. */
static bool cell_fits(Infer *r, PyObject *state, TensorMeta *h, bool *grad)
{
    TensorMeta x, w, b;
    if (!read_tensor(r->v[0], &x) || !read_tensor(state, h) || x.ndim != 2 ||
        h->ndim != 2 || x.sizes[0] != h->sizes[0] || x.dtype != h->dtype ||
        !dtype_float(x.dtype) || !read_tensor(r->v[2], &w) || w.ndim != 2 ||
        w.sizes[1] != x.sizes[1] || w.dtype != x.dtype)
        return false;
    *grad |= x.requires_grad || h->requires_grad || w.requires_grad;
    if (!read_tensor(r->v[3], &w) || w.ndim != 2 || w.sizes[1] != h->sizes[1])
        return false;
    *grad |= w.requires_grad;
    for (int i = 4; i < 6; i++)
        *grad |= !absent(r->v[i]) && read_tensor(r->v[i], &b) && b.requires_grad;
    return true;
}

static Status cell(Infer *r, PyObject **out)
{
    TensorMeta h;
    bool grad = false;
    if (!cell_fits(r, r->v[1], &h, &grad))
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, h.sizes, 2, h.dtype, grad, out);
}

static Status lstm_cell(Infer *r, PyObject **out)
{
    TensorMeta h, c;
    bool grad = false;
    if (!is_list(r->v[1]) || PySequence_Fast_GET_SIZE(r->v[1]) != 2 ||
        !cell_fits(r, PySequence_Fast_GET_ITEM(r->v[1], 0), &h, &grad) ||
        !cell_fits(r, PySequence_Fast_GET_ITEM(r->v[1], 1), &c, &grad) ||
        c.sizes[1] != h.sizes[1])
        return ST_DECLINE;
    r->loose = true;
    PyObject *v[2] = { tensor_of(r, h.sizes, 2, h.dtype, grad),
                       tensor_of(r, c.sizes, 2, h.dtype, grad) };
    return give_tuple(v, 2, out);
}

/* -- Attention with its projections --------------------------------------------------------- */

/* Parameters of torch.nn.functional.multi_head_attention_forward, by place. */
enum {
    MHA_QUERY,
    MHA_KEY,
    MHA_VALUE,
    MHA_WIDTH,
    MHA_HEADS,
    MHA_IN_WEIGHT,
    MHA_IN_BIAS,
    MHA_BIAS_K,
    MHA_BIAS_V,
    MHA_ADD_ZERO,
    MHA_DROPOUT,
    MHA_OUT_WEIGHT,
    MHA_OUT_BIAS,
    MHA_TRAINING,
    MHA_PADDING,
    MHA_NEED_WEIGHTS,
    MHA_MASK,
    MHA_SEPARATE,
    MHA_Q_WEIGHT,
    MHA_K_WEIGHT,
    MHA_V_WEIGHT,
    MHA_STATIC_K,
    MHA_STATIC_V,
    MHA_AVERAGE,
    MHA_CAUSAL
};

/* A mask of bools, or of the query's dtype, of one of two shapes (nb 0: of one). */
static bool mask_fits(PyObject *o, const TensorMeta *q, const int64_t *a, int na,
                      const int64_t *b, int nb, bool *grad)
{
    TensorMeta m;
    if (absent(o))
        return true;
    if (!read_tensor(o, &m) || (m.dtype != D_BOOL && m.dtype != q->dtype))
        return false;
    *grad |= m.requires_grad;
    return (m.ndim == na && memcmp(m.sizes, a, 8 * (size_t)na) == 0) ||
           (nb && m.ndim == nb && memcmp(m.sizes, b, 8 * (size_t)nb) == 0);
}

/* Layer parameters that are there have to be tensors of the query's dtype. */
static bool weights_fit(Infer *r, const int *at, size_t n, const TensorMeta *q, bool *grad)
{
    TensorMeta w;
    for (size_t i = 0; i < n; i++) {
        if (absent(r->v[at[i]]))
            continue;
        if (!read_tensor(r->v[at[i]], &w) || w.dtype != q->dtype)
            return false;
        *grad |= w.requires_grad;
    }
    return true;
}

/* *grad: whether the scores require it; *later: what only the values and the last projection add to that. */
static bool attends(Infer *r, TensorMeta *q, TensorMeta *k, int64_t *heads, bool *grad,
                    bool *later)
{
    static const int absent_ones[] = { MHA_BIAS_K, MHA_BIAS_V, MHA_STATIC_K,
                                       MHA_STATIC_V };
    static const int in[] = { MHA_IN_WEIGHT, MHA_IN_BIAS };
    static const int last[] = { MHA_OUT_WEIGHT, MHA_OUT_BIAS };
    TensorMeta v;
    int64_t width;
    for (size_t i = 0; i < COUNT_OF(absent_ones); i++)
        if (!absent(r->v[absent_ones[i]]))
            return false;
    if (!read_tensor(r->v[MHA_QUERY], q) || !read_tensor(r->v[MHA_KEY], k) ||
        !read_tensor(r->v[MHA_VALUE], &v) || q->ndim != 3 || k->ndim != 3 || v.ndim != 3 ||
        !dtype_float(q->dtype) || k->dtype != q->dtype || v.dtype != q->dtype ||
        !is_int(r->v[MHA_WIDTH], &width) || !is_int(r->v[MHA_HEADS], heads) ||
        *heads < 1 || !is_false(r->v[MHA_ADD_ZERO]) || !is_false(r->v[MHA_SEPARATE]) ||
        (is_true(r->v[MHA_CAUSAL]) && absent(r->v[MHA_MASK])))
        return false;
    if (q->sizes[2] != width || width % *heads || k->sizes[2] != width ||
        v.sizes[2] != width || q->sizes[1] != k->sizes[1] ||
        memcmp(k->sizes, v.sizes, sizeof k->sizes[0] * 3) != 0)
        return false;
    *grad = q->requires_grad || k->requires_grad;
    *later = v.requires_grad;
    return weights_fit(r, in, COUNT_OF(in), q, grad) &&
           weights_fit(r, last, COUNT_OF(last), q, later);
}

static Status attention_layer(Infer *r, PyObject **out)
{
    TensorMeta q, k;
    int64_t heads;
    bool grad, later;
    if (!attends(r, &q, &k, &heads, &grad, &later) || q.numel == 0 || k.numel == 0)
        return ST_DECLINE;
    int64_t batch = q.sizes[1], to = q.sizes[0], from = k.sizes[0];
    bool need = r->v[MHA_NEED_WEIGHTS] == NULL || is_true(r->v[MHA_NEED_WEIGHTS]),
         average = r->v[MHA_AVERAGE] == NULL || is_true(r->v[MHA_AVERAGE]);
    if (!mask_fits(r->v[MHA_PADDING], &q, (int64_t[]){ batch, from }, 2, NULL, 0, &grad) ||
        !mask_fits(r->v[MHA_MASK], &q, (int64_t[]){ to, from }, 2,
                   (int64_t[]){ batch * heads, to, from }, 3, &grad))
        return ST_DECLINE;
    r->loose = true;
    int64_t scores[4] = { batch, average ? to : heads, average ? from : to, from };
    PyObject *v[2] = { tensor_of(r, q.sizes, 3, q.dtype, grad || later),
                       need ? tensor_of(r, scores, average ? 3 : 4, q.dtype, grad)
                            : Py_NewRef(Py_None) };
    return give_tuple(v, 2, out);
}

/* -- Interpolation ----------------------------------------------------------------------------- */

/* How many spatial dims a mode works on; 0: any, -1: it is none that we know. */
static int dims_of_mode(PyObject *mode)
{
    static const struct {
        const char *name;
        int dims;
    } modes[] = { { "nearest", 0 },  { "nearest-exact", 0 }, { "linear", 1 },
                  { "bilinear", 2 }, { "bicubic", 2 },       { "trilinear", 3 } };
    if (mode == NULL)
        return 0;
    for (size_t i = 0; PyUnicode_Check(mode) && i < COUNT_OF(modes); i++)
        if (PyUnicode_CompareWithASCIIString(mode, modes[i].name) == 0)
            return modes[i].dims;
    return -1;
}

static bool scaled(PyObject *factor, int n, TensorMeta *x)
{
    for (int i = 0; i < n; i++) {
        PyObject *f = factor;
        if (PyTuple_Check(factor) || PyList_Check(factor)) {
            if (PySequence_Fast_GET_SIZE(factor) != n)
                return false;
            f = PySequence_Fast_GET_ITEM(factor, i);
        }
        double by = PyFloat_CheckExact(f)  ? PyFloat_AS_DOUBLE(f)
                    : PyLong_CheckExact(f) ? PyLong_AsDouble(f)
                                           : -1;
        double size = (double)x->sizes[i + 2] * by;
        if (!(size >= 1 && size < 1e9))
            return false;
        x->sizes[i + 2] = (int64_t)size;
    }
    return true;
}

static bool resized(PyObject *size, int n, TensorMeta *x)
{
    int64_t to[META_MAX_DIM];
    int got = read_ints(size, to, META_MAX_DIM);
    bool one = got == 1 && PyLong_Check(size);
    if (got != n && !one)
        return false;
    for (int i = 0; i < n; i++) {
        x->sizes[i + 2] = to[one ? 0 : i];
        if (x->sizes[i + 2] < 1)
            return false;
    }
    return true;
}

/* interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias) */
static Status interpolate(Infer *r, PyObject **out)
{
    TensorMeta x;
    int dims = dims_of_mode(r->v[3]);
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim < 3 || x.ndim > 5 ||
        x.numel == 0 || dims < 0 || (dims && dims != x.ndim - 2) ||
        (dims == 0 && !absent(r->v[4])) || !is_false(r->v[6]) ||
        absent(r->v[1]) == absent(r->v[2]))
        return ST_DECLINE;
    if (absent(r->v[1]) ? !scaled(r->v[2], x.ndim - 2, &x)
                        : !resized(r->v[1], x.ndim - 2, &x))
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* -- Smaller ones -------------------------------------------------------------------------------- */

/* pixel_shuffle(input, upscale_factor) */
static Status pixel_shuffle(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t by;
    if (!read_tensor(r->v[0], &x) || x.ndim < 3 || x.numel == 0 ||
        !is_int(r->v[1], &by) || by < 1 || by > 1 << 15 || x.sizes[x.ndim - 3] % (by * by))
        return ST_DECLINE;
    x.sizes[x.ndim - 3] /= by * by;
    x.sizes[x.ndim - 2] *= by;
    x.sizes[x.ndim - 1] *= by;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* glu(input, dim) */
static Status glu(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t dim = -1;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim == 0 ||
        !(r->v[1] == NULL || is_int(r->v[1], &dim)) || !wrap_dim(&dim, x.ndim) ||
        x.sizes[dim] % 2)
        return ST_DECLINE;
    x.sizes[dim] /= 2;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* log_sigmoid(input), local_response_norm(input, size …) */
static Status alike(Infer *r, PyObject **out)
{
    TensorMeta x;
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.numel == 0 || x.ndim < 1)
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, x.sizes, x.ndim, x.dtype, x.requires_grad, out);
}

/* rrelu(input, lower, upper, training, inplace) */
static Status rrelu(Infer *r, PyObject **out)
{
    return is_false(r->v[4]) ? alike(r, out) : ST_DECLINE;
}

/* gumbel_softmax(logits, tau, hard, eps, dim) */
static Status gumbel_softmax(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t dim = -1;
    if (!read_tensor(r->v[0], &x) || (r->v[4] && !is_int(r->v[4], &dim)) ||
        !wrap_dim(&dim, x.ndim))
        return ST_DECLINE;
    return alike(r, out);
}

static Status local_response_norm(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t size;
    if (!read_tensor(r->v[0], &x) || x.ndim < 3 || !is_int(r->v[1], &size) || size < 1)
        return ST_DECLINE;
    return alike(r, out);
}

/* dropout2d(input, p, training, inplace): whole channels; without an effect it is the input itself. */
static Status feature_dropout(Infer *r, PyObject **out)
{
    bool off = r->v[2] != NULL && !is_true(r->v[2]);
    double p = r->v[1] == NULL               ? 0.5
               : PyFloat_CheckExact(r->v[1]) ? PyFloat_AS_DOUBLE(r->v[1])
                                             : 0;
    if (off || !(p > 0 && p <= 1) || !is_false(r->v[3]))
        return ST_DECLINE;
    return alike(r, out);
}

/* adaptive_avg_pool1d(input, output_size) */
static Status adaptive_avg_pool1d(Infer *r, PyObject **out)
{
    TensorMeta x;
    int64_t to[1];
    if (!read_tensor(r->v[0], &x) || !dtype_float(x.dtype) || x.ndim != 3 ||
        x.numel == 0 || r->v[1] == NULL || read_ints(r->v[1], to, 1) != 1 || to[0] < 1)
        return ST_DECLINE;
    r->loose = true;
    return give_rows(r, (int64_t[]){ x.sizes[0], x.sizes[1], to[0] }, 3, x.dtype,
                     x.requires_grad, out);
}

#define RNN                                                                              \
    "input hx params has_biases num_layers dropout train bidirectional batch_first"
#define CELL "input hx w_ih w_hh b_ih b_hh"

const Rule rules_network[] = {
    { "lstm", RNN, lstm, false },
    { "rnn", RNN, rnn, false },
    { "lstm_cell", CELL, lstm_cell, false },
    { "cell", CELL, cell, false },
    { "attention_layer",
      "query key value embed_dim_to_check num_heads in_proj_weight in_proj_bias bias_k "
      "bias_v "
      "add_zero_attn dropout_p out_proj_weight out_proj_bias training key_padding_mask "
      "need_weights attn_mask use_separate_proj_weight q_proj_weight k_proj_weight "
      "v_proj_weight static_k static_v average_attn_weights is_causal",
      attention_layer, false },
    { "interpolate",
      "input size scale_factor mode align_corners recompute_scale_factor antialias",
      interpolate, false },
    { "pixel_shuffle", "input upscale_factor", pixel_shuffle, false },
    { "glu", "input dim", glu, false },
    { "log_sigmoid", "input", alike, false },
    { "rrelu", "input lower upper training inplace", rrelu, false },
    { "gumbel_softmax", "logits tau hard eps dim", gumbel_softmax, false },
    { "local_response_norm", "input size alpha beta k", local_response_norm, false },
    { "feature_dropout", "input p training inplace", feature_dropout, false },
    { "adaptive_avg_pool1d", "input output_size", adaptive_avg_pool1d, false },
    { 0 },
};
