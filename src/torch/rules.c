/*
 * torch/rules.c -- what all shape rules share: dtypes, parameters, broadcasting, results.
 */
#include "torch/rules.h"

/* -- Dtypes ------------------------------------------------------------------- */

static int8_t promoted[D_COUNT][D_COUNT]; /* -1: not for rules */
static bool ready;

static const struct {
    Dtype number;
    const char *name;
} known[] = {
    { D_U8, "torch.uint8" },      { D_I8, "torch.int8" },     { D_I16, "torch.int16" },
    { D_I32, "torch.int32" },     { D_I64, "torch.int64" },   { D_F16, "torch.float16" },
    { D_F32, "torch.float32" },   { D_F64, "torch.float64" }, { D_BOOL, "torch.bool" },
    { D_BF16, "torch.bfloat16" },
};

static bool names_fit(void)
{
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        PyObject *d = torch_py.dtypes[known[i].number], *s = d ? PyObject_Str(d) : NULL;
        bool fits = s && PyUnicode_CompareWithASCIIString(s, known[i].name) == 0;
        Py_XDECREF(s);
        if (!fits)
            return false;
    }
    return true;
}

static int fill_promoted(void)
{
    memset(promoted, -1, sizeof promoted);
    PyObject *promote = torch_path("promote_types");
    for (size_t i = 0; promote && i < COUNT_OF(known); i++)
        for (size_t k = 0; k < COUNT_OF(known); k++) {
            int a = known[i].number, b = known[k].number;
            PyObject *args[] = { torch_py.dtypes[a], torch_py.dtypes[b] };
            PyObject *r = PyObject_Vectorcall(promote, args, 2, NULL);
            if (r == NULL) {
                Py_DECREF(promote);
                return -1;
            }
            promoted[a][b] = (int8_t)dtype_number(r);
            Py_DECREF(r);
        }
    Py_XDECREF(promote);
    return promote ? 0 : -1;
}

/* Without a known layout or with other numbers there are no rules: everything is declined. */
int rules_init(void)
{
    if (!torch_layout.ok || !names_fit() || !torch_lib.default_dtype)
        return 0;
    ready = fill_promoted() == 0;
    return ready ? 0 : -1;
}

bool dtype_float(int d)
{
    return d == D_F16 || d == D_F32 || d == D_F64 || d == D_BF16;
}

bool dtype_int(int d)
{
    return d >= D_U8 && d <= D_I64;
}

int dtype_promote(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : promoted[a][b];
}

int dtype_default(void)
{
    return torch_lib.default_dtype();
}

int dtype_number(PyObject *dtype)
{
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (torch_py.dtypes[known[i].number] == dtype)
            return known[i].number;
    return -1;
}

/* -- Parameters ----------------------------------------------------------------- */

bool is_int(PyObject *o, int64_t *n)
{
    if (o == NULL || !PyLong_CheckExact(o))
        return false;
    int overflow;
    *n = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0;
}

bool is_true(PyObject *o)
{
    return o == Py_True;
}

bool is_false(PyObject *o)
{
    return o == NULL || o == Py_False;
}

bool absent(PyObject *o)
{
    return o == NULL || o == Py_None;
}

int read_ints(PyObject *o, int64_t *v, int max)
{
    if (is_int(o, v))
        return max > 0 ? 1 : -1;
    if (o == NULL || !(PyTuple_Check(o) || PyList_CheckExact(o)) || Py_SIZE(o) > max)
        return -1;
    for (Py_ssize_t i = 0; i < Py_SIZE(o); i++)
        if (!is_int(PySequence_Fast_GET_ITEM(o, i), &v[i]))
            return -1;
    return (int)Py_SIZE(o);
}

bool odd_strides(const TensorMeta *m)
{
    for (int i = 0; i < m->ndim; i++) {
        int64_t natural = i + 1 < m->ndim ? m->strides[i + 1] * m->sizes[i + 1] : 1;
        if (m->sizes[i] == 1 && m->strides[i] != natural)
            return true;
    }
    return false;
}

bool wrap_dim(int64_t *dim, int ndim)
{
    int64_t n = ndim ? ndim : 1;
    if (*dim < -n || *dim >= n)
        return false;
    if (*dim < 0)
        *dim += n;
    return true;
}

bool read_tensor(PyObject *o, TensorMeta *m)
{
    return o && torch_is_plain_tensor(o) && meta_read(o, m) && m->dtype < D_COUNT &&
           promoted[m->dtype][m->dtype] >= 0 && !(m->keys & torch_layout.bit_keys);
}

/* Position of a keyword in "input other alpha"; -1. */
static int param_index(const char *params, const char *name)
{
    size_t n = strlen(name);
    int i = 0;
    for (const char *p = params; *p; i++) {
        size_t word = strcspn(p, " ");
        if (word == n && memcmp(p, name, n) == 0)
            return i;
        p += word + (p[word] == ' ');
    }
    return -1;
}

static int param_count(const char *params)
{
    int n = *params != 0;
    for (const char *p = params; *p; p++)
        n += *p == ' ';
    return n;
}

static bool bind(Infer *r)
{
    const Call *k = r->k;
    int n = param_count(r->rule->params);
    if (k->nargs > n)
        return false;
    for (Py_ssize_t i = 0; i < k->nargs; i++)
        r->v[i] = k->v[i];
    for (Py_ssize_t i = 0; i < k->nkw; i++) {
        const char *name = PyUnicode_AsUTF8(k->names[i]);
        int at = name ? param_index(r->rule->params, name) : -1;
        if (at < 0 || r->v[at])
            return false;
        r->v[at] = k->v[k->nargs + i];
    }
    return true;
}

/* -- Shapes ----------------------------------------------------------------------- */

bool row_major(const TensorMeta *m)
{
    int64_t want = 1;
    for (int i = m->ndim - 1; i >= 0; i--) {
        if (m->sizes[i] != 1 && m->strides[i] != want)
            return m->numel == 0;
        want *= m->sizes[i];
    }
    return true;
}

void shape_rows(TensorMeta *m, const int64_t *sizes, int ndim)
{
    int64_t stride = 1;
    m->ndim = ndim;
    m->storage_offset = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        m->sizes[i] = sizes[i];
        m->strides[i] = stride;
        stride *= sizes[i] > 1 ? sizes[i] : 1;
    }
}

/* -- Results ---------------------------------------------------------------------- */

Status give(Infer *r, TensorMeta *m, int dtype, bool needs_grad, PyObject **out)
{
    m->is_view = m->is_leaf = false;
    m->requires_grad = r->grad && needs_grad && dtype_float(dtype);
    m->is_leaf = !m->requires_grad;
    m->storage_offset = 0;
    *out = infer_make(m, torch_py.dtypes[dtype]);
    return *out ? ST_OK : ST_ERROR;
}

/* Copying something into it does to version, requires_grad and leaf checks what the operation itself would. */
Status give_written(Infer *r, PyObject *self, const TensorMeta *m, bool needs_grad,
                    PyObject **out)
{
    static PyObject *zero, *copy;
    if (copy == NULL && (copy = PyUnicode_InternFromString("copy_")) == NULL)
        return ST_ERROR;
    if (zero == NULL) {
        TensorMeta none = { .is_leaf = true };
        if ((zero = infer_make(&none, torch_py.dtypes[D_F32])) == NULL)
            return ST_ERROR;
    }
    bool grad = needs_grad && r->grad && dtype_float(m->dtype);
    PyObject *args[] = { self, grad ? infer_seed(torch_py.dtypes[m->dtype]) : zero };
    if (args[1] == NULL)
        return ST_ERROR;
    *out = PyObject_VectorcallMethod(copy, args, 2, NULL);
    return *out ? ST_OK : ST_RAISE;
}

Status give_rows(Infer *r, const int64_t *sizes, int n, int dtype, bool needs_grad,
                 PyObject **out)
{
    TensorMeta m = { 0 };
    if (r->in_place)
        return ST_DECLINE;
    shape_rows(&m, sizes, n);
    return give(r, &m, dtype, needs_grad, out);
}

Status give_pair(const char *name, PyObject *a, PyObject *b, PyObject **out)
{
    PyObject *types = torch_path("return_types");
    PyObject *type = types ? PyObject_GetAttrString(types, name) : NULL;
    PyObject *pair = type && a && b ? PyTuple_Pack(2, a, b) : NULL;
    *out = pair ? PyObject_CallOneArg(type, pair) : NULL;
    Py_XDECREF(pair);
    Py_XDECREF(type);
    Py_XDECREF(types);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return *out ? ST_OK : ST_ERROR;
}

/* -- Pointwise operands ------------------------------------------------------------- */

static int number_type(PyObject *o)
{
    int64_t n;
    return PyBool_Check(o)         ? D_BOOL
           : is_int(o, &n)         ? D_I64
           : PyFloat_CheckExact(o) ? dtype_default()
                                   : -1;
}

bool operands_add(Operands *p, PyObject *o)
{
    if (p->nt == 0 && p->dim_type == 0) /* fresh */
        p->dim_type = p->zero_type = p->number_type = -1;
    if (o == NULL || !torch_is_tensor(o)) {
        int d = o ? number_type(o) : -1;
        p->number_type = dtype_promote(p->number_type, d);
        return d >= 0;
    }
    if (p->nt == RULE_MAX_TENSORS || !read_tensor(o, &p->t[p->nt]))
        return false;
    TensorMeta *m = &p->t[p->nt++];
    int *type = m->ndim ? &p->dim_type : &p->zero_type;
    *type = dtype_promote(*type, m->dtype);
    p->needs_grad |= m->requires_grad;
    return true;
}

/* Tensors with dims decide over 0-dim tensors, these over numbers, unless the lower is of a higher kind. */
static int combine(int higher, int lower)
{
    if (higher >= 0 && dtype_float(higher))
        return higher;
    if (higher == D_BOOL || (lower >= 0 && dtype_float(lower)))
        return dtype_promote(higher, lower);
    return higher >= 0 ? higher : lower;
}

int operands_dtype(const Operands *p)
{
    return combine(p->dim_type, combine(p->zero_type, p->number_type));
}

static bool broadcast(TensorMeta *out, const TensorMeta *t)
{
    int64_t sizes[META_MAX_DIM];
    int n = out->ndim > t->ndim ? out->ndim : t->ndim;
    for (int i = 1; i <= n; i++) {
        int64_t a = i <= out->ndim ? out->sizes[out->ndim - i] : 1;
        int64_t b = i <= t->ndim ? t->sizes[t->ndim - i] : 1;
        if (a != b && a != 1 && b != 1)
            return false;
        sizes[n - i] = a == 1 ? b : a;
    }
    memcpy(out->sizes, sizes, sizeof sizes[0] * (size_t)n);
    out->ndim = n;
    return true;
}

/* Stride of an operand along a dim of the result: 0 where it is broadcast or has no such dim. */
static int64_t stride_along(const TensorMeta *t, int dim, const TensorMeta *out)
{
    int i = dim - (out->ndim - t->ndim);
    if (i < 0 || (t->sizes[i] == 1 && out->sizes[dim] != 1))
        return 0;
    return t->strides[i];
}

/* >0: the order of a before b (a faster) is wrong; <0: right; 0: no operand tells. */
static int compare_dims(const Operands *p, const TensorMeta *out, int a, int b)
{
    for (int i = 0; i < p->nt; i++) {
        const TensorMeta *t = &p->t[i];
        if (t->ndim == 0)
            continue;
        int64_t sa = stride_along(t, a, out), sb = stride_along(t, b, out);
        if (sa == 0 || sb == 0)
            continue;
        if (sa != sb)
            return sa < sb ? -1 : 1;
        if (out->sizes[a] > out->sizes[b])
            return 1;
    }
    return 0;
}

/* The result is dense, its dims ordered as the operands' strides are; insertion, because not all pairs can be compared. */
static void order_strides(const Operands *p, TensorMeta *out)
{
    int perm[META_MAX_DIM], n = out->ndim; /* fastest first */
    for (int i = 0; i < n; i++)
        perm[i] = n - 1 - i;
    for (int i = 1; i < n; i++) {
        int at = i;
        for (int k = i - 1; k >= 0; k--) {
            int c = compare_dims(p, out, perm[k], perm[at]);
            if (c < 0)
                break;
            if (c > 0) {
                int swap = perm[k];
                perm[k] = perm[at];
                perm[at] = swap;
                at = k;
            }
        }
    }
    bool rows = true;
    for (int i = 0; i < n; i++)
        rows &= perm[i] == n - 1 - i;
    if (rows) {
        shape_rows(out, out->sizes, n);
        return;
    }
    int64_t stride = 1;
    for (int i = 0; i < n; i++) {
        out->strides[perm[i]] = stride;
        stride *= out->sizes[perm[i]];
    }
}

bool same_sizes(const TensorMeta *a, const TensorMeta *b)
{
    return a->ndim == b->ndim && memcmp(a->sizes, b->sizes, 8 * (size_t)a->ndim) == 0;
}

/* Whether strides are a permutation of row-major ones. */
bool dense(const TensorMeta *m)
{
    int order[META_MAX_DIM], n = 0;
    for (int i = 0; i < m->ndim; i++) {
        if (m->sizes[i] == 1)
            continue;
        int at = n++;
        while (at > 0 && m->strides[order[at - 1]] > m->strides[i]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    int64_t want = 1;
    for (int i = 0; i < n; i++) {
        if (m->strides[order[i]] != want)
            return false;
        want *= m->sizes[order[i]];
    }
    return true;
}

/* Channels-last operands of four dims are a case of their own: dims of size 1 get the strides of the format. */
static bool all_channels_last(const Operands *p, TensorMeta *out)
{
    static const int order[] = { 1, 3, 2, 0 };
    if (out->ndim != 4)
        return false;
    int64_t want = 1, strides[4];
    for (int k = 0; k < 4; k++) {
        int d = order[k];
        for (int i = 0; i < p->nt; i++)
            if (!same_sizes(&p->t[i], out) ||
                (out->sizes[d] != 1 && p->t[i].strides[d] != want))
                return false;
        strides[d] = want;
        want *= out->sizes[d];
    }
    memcpy(out->strides, strides, sizeof strides);
    return true;
}

/* Operands of one shape and one dense layout give that very layout, strides of dims of size 1 included. */
static bool all_alike(const Operands *p, const TensorMeta *out)
{
    for (int i = 0; i < p->nt; i++)
        if (!same_sizes(&p->t[i], out) || !dense(&p->t[i]) ||
            memcmp(p->t[i].strides, p->t[0].strides, 8 * (size_t)out->ndim) != 0)
            return false;
    return true;
}

static bool all_rows(const Operands *p, const TensorMeta *out)
{
    for (int i = 0; i < p->nt; i++)
        if (!same_sizes(&p->t[i], out) || !row_major(&p->t[i]))
            return false;
    return true;
}

bool operands_cast_loosely(const Operands *p, int common)
{
    for (int i = 0; i < p->nt; i++)
        if (p->t[i].dtype != common && !dense(&p->t[i]))
            return true;
    return false;
}

bool operands_shape(Operands *p, TensorMeta *out)
{
    out->ndim = 0;
    for (int i = 0; i < p->nt; i++)
        if (!broadcast(out, &p->t[i]))
            return false;
    out->numel = 1;
    for (int i = 0; i < out->ndim; i++)
        out->numel *= out->sizes[i];
    bool numbers = p->number_type >= 0; /* a number is an operand of another shape */
    if (!numbers && all_rows(p, out))
        shape_rows(out, out->sizes, out->ndim);
    else if (!numbers && out->numel && all_channels_last(p, out))
        return true;
    else if (!numbers && out->numel && all_alike(p, out))
        memcpy(out->strides, p->t[0].strides, 8 * (size_t)out->ndim);
    else
        order_strides(p, out);
    return true;
}

/* -- Applying ----------------------------------------------------------------------- */

static const Rule *const tables[] = { rules_point, rules_reduce, rules_matrix,
                                      rules_shape, rules_make,   rules_network,
                                      rules_loss };

static const Rule *rule_at(int number)
{
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (const Rule *r = tables[t]; r->name; r++)
            if (--number == 0)
                return r;
    return NULL;
}

const char *rules_name(int number)
{
    const Rule *r = rule_at(number);
    return r ? r->name : NULL;
}

int rules_find(const char *name)
{
    int number = 0;
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (const Rule *r = tables[t]; r->name; r++) {
            number++;
            if (strcmp(r->name, name) == 0)
                return number;
        }
    return 0;
}

/* operator.and_ and or_ only avoid Python's keywords. */
static bool in_place_name(const char *name, size_t n)
{
    return n > 1 && name[n - 1] == '_' && name[n - 2] != '_' &&
           strcmp(name, "and_") != 0 && strcmp(name, "or_") != 0;
}

Status rules_apply(const Call *k, int rule, const char *name, bool grad, PyObject **out,
                   unsigned *loose)
{
    char plain[64];
    size_t n = strlen(name);
    if (!ready || n == 0 || n >= sizeof plain)
        return ST_DECLINE;
    memcpy(plain, name, n + 1);
    Infer r = { .k = k, .rule = rule_at(rule), .name = plain, .grad = grad };
    r.in_place = r.rule->in_place || in_place_name(name, n);
    if (r.in_place && !r.rule->in_place)
        plain[n - 1] = 0;
    if (!bind(&r))
        return ST_DECLINE;
    Status st = r.rule->fn(&r, out);
    *loose = r.loose ? UNSURE_ALL : r.loose_view ? UNSURE_VIEW : 0;
    return st;
}
