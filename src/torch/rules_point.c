/*
 * torch/rules_point.c -- pointwise operations: arithmetic, comparisons, functions of one number, activations.
 */
#include "torch/rules.h"

/* -- The common end --------------------------------------------------------------- */

/* dtype < 0: decline. */
static Status finish(Infer *r, Operands *p, int dtype, PyObject **out)
{
    TensorMeta m = { 0 };
    if (p->nt == 0 || dtype < 0)
        return ST_DECLINE;
    r->loose |= operands_cast_loosely(p, dtype == D_BOOL ? operands_dtype(p) : dtype);
    if (!operands_shape(p, &m))
        return ST_DECLINE;
    if (!r->in_place)
        return give(r, &m, dtype, p->needs_grad, out);
    const TensorMeta *self = &p->t[0];
    bool fits =
        self->ndim == m.ndim && memcmp(self->sizes, m.sizes, 8 * (size_t)m.ndim) == 0;
    /* A float may not go into an integer, nor a number into a bool. */
    bool casts = dtype_promote(self->dtype, dtype) == self->dtype ||
                 (dtype_float(dtype) && dtype_float(self->dtype)) ||
                 (dtype_int(dtype) && dtype_int(self->dtype));
    if (!fits || !casts)
        return ST_DECLINE;
    m.dtype = self->dtype;
    return give_written(r, r->v[0], &m, p->needs_grad, out);
}

static bool operands(Infer *r, Operands *p, int n)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < n; i++)
        if (!operands_add(p, r->v[i]))
            return false;
    return p->nt > 0 && (!r->in_place || torch_is_tensor(r->v[0]));
}

static int to_float(int d)
{
    return d < 0 || dtype_float(d) ? d : dtype_default();
}

/* -- Two operands ------------------------------------------------------------------ */

static bool has_bool(const Operands *p)
{
    for (int i = 0; i < p->nt; i++)
        if (p->t[i].dtype == D_BOOL)
            return true;
    return false;
}

static Status arith(Infer *r, PyObject **out)
{
    Operands p;
    int64_t alpha;
    if (strstr(r->name, "rsub")) { /* which is the other minus self */
        PyObject *self = r->v[0];
        r->v[0] = r->v[1];
        r->v[1] = self;
    }
    if (!operands(r, &p, 2) || !(r->v[2] == NULL || is_int(r->v[2], &alpha)))
        return ST_DECLINE;
    int d = operands_dtype(&p);
    if (strstr(r->name, "sub") && /* what torch's inference does not look at */
        (has_bool(&p) || PyBool_Check(r->v[0]) || PyBool_Check(r->v[1]))) {
        PyErr_SetString(PyExc_RuntimeError, "subtraction with a bool");
        return ST_RAISE;
    }
    return finish(r, &p, d == D_BOOL ? -1 : d, out);
}

/* Functions that take no numbers. */
static bool tensors_only(Infer *r)
{
    return r->v[0] && r->v[1] && torch_is_tensor(r->v[0]) && torch_is_tensor(r->v[1]);
}

static Status larger(Infer *r, PyObject **out)
{
    return tensors_only(r) ? arith(r, out) : ST_DECLINE;
}

static bool negative(PyObject *o)
{
    int64_t n;
    return is_int(o, &n) && n < 0;
}

static Status power(Infer *r, PyObject **out)
{
    Operands p;
    if (strcmp(r->name, "__rpow__") == 0)
        return ST_DECLINE;
    if (!operands(r, &p, 2) || !absent(r->v[2]))
        return ST_DECLINE;
    if (has_bool(&p))
        return ST_BREAK;
    int d = operands_dtype(&p);
    if (!dtype_float(d) &&
        (!dtype_int(d) || negative(r->v[1]) || !torch_is_tensor(r->v[0])))
        return ST_DECLINE; /* integers to negative powers raise */
    if (!torch_is_tensor(r->v[1]))
        p.number_type = -1; /* no operand */
    return finish(r, &p, d, out);
}

static Status divide(Infer *r, PyObject **out)
{
    Operands p;
    /* Reversed, it is the reciprocal of self times the other, which has another dtype. */
    if (strncmp(r->name, "__r", 3) == 0 && r->v[1] && torch_is_tensor(r->v[1]))
        return ST_DECLINE;
    if (!operands(r, &p, 2) || !absent(r->v[2])) /* rounding_mode */
        return ST_DECLINE;
    return finish(r, &p, to_float(operands_dtype(&p)), out);
}

static Status compare(Infer *r, PyObject **out)
{
    Operands p;
    return operands(r, &p, 2) && !r->in_place ? finish(r, &p, D_BOOL, out) : ST_DECLINE;
}

static Status both(Infer *r, PyObject **out)
{
    return tensors_only(r) ? compare(r, out) : ST_DECLINE;
}

static Status angle(Infer *r, PyObject **out)
{
    return tensors_only(r) ? divide(r, out) : ST_DECLINE;
}

static Status bits(Infer *r, PyObject **out)
{
    Operands p;
    if (!operands(r, &p, 2))
        return ST_DECLINE;
    int d = operands_dtype(&p);
    return finish(r, &p, dtype_float(d) ? -1 : d, out);
}

/* -- Three operands ----------------------------------------------------------------- */

static Status where(Infer *r, PyObject **out)
{
    TensorMeta c, m = { 0 };
    Operands p = { 0 };
    if (!r->v[1] || !r->v[2] || !read_tensor(r->v[0], &c) || c.dtype != D_BOOL ||
        r->in_place)
        return ST_DECLINE;
    if (!operands_add(&p, r->v[1]) || !operands_add(&p, r->v[2]))
        return ST_DECLINE;
    int d = operands_dtype(&p);
    /* The condition takes part in the shape only; a number becomes a 0-dim tensor first. */
    Operands all = { .nt = 0 };
    for (int i = 0; i < 3; i++)
        if (torch_is_tensor(r->v[i]) && !operands_add(&all, r->v[i]))
            return ST_DECLINE;
    if (p.number_type >= 0)
        all.number_type = p.number_type;
    r->loose |= operands_cast_loosely(&p, d);
    return d >= 0 && operands_shape(&all, &m) ? give(r, &m, d, p.needs_grad, out)
                                              : ST_DECLINE;
}

/* torch.where is called with self in the middle as a method: x.where(cond, other). */
static Status where_any(Infer *r, PyObject **out)
{
    if (r->v[0] && !r->v[1] && !r->v[2]) /* as nonzero: data */
        return ST_BREAK;
    if (r->k->method) {
        PyObject *self = r->v[0];
        r->v[0] = r->v[1];
        r->v[1] = self;
    }
    return where(r, out);
}

static Status clamp(Infer *r, PyObject **out)
{
    Operands p = { 0 };
    if (!r->v[0] || !torch_is_tensor(r->v[0]) || !operands_add(&p, r->v[0]) ||
        (absent(r->v[1]) && absent(r->v[2])))
        return ST_DECLINE;
    for (int i = 1; i < 3; i++)
        if (!absent(r->v[i]) && !operands_add(&p, r->v[i]))
            return ST_DECLINE;
    int d = operands_dtype(&p);
    p.number_type = -1; /* limits that are numbers are no operands */
    return finish(r, &p, d == D_BOOL ? -1 : d, out);
}

/* clamp_min(x, limit), clamp_max */
static Status clamp_one(Infer *r, PyObject **out)
{
    r->v[2] = NULL;
    return clamp(r, out);
}

static Status three(Infer *r, PyObject **out)
{
    Operands p;
    if (!operands(r, &p, 3) ||
        !(r->v[3] == NULL || PyFloat_CheckExact(r->v[3]) || PyLong_CheckExact(r->v[3])))
        return ST_DECLINE;
    int d = operands_dtype(&p);
    for (int i = 0; i < p.nt; i++)
        if (p.t[i].dtype != d)
            return ST_DECLINE;
    return finish(r, &p, dtype_float(d) ? d : -1, out);
}

static Status masked_fill(Infer *r, PyObject **out)
{
    TensorMeta self, mask, m = { 0 };
    Operands p = { 0 };
    int64_t n;
    if (!read_tensor(r->v[0], &self) || !read_tensor(r->v[1], &mask) ||
        mask.dtype != D_BOOL || !r->v[2])
        return ST_DECLINE;
    bool number =
        PyBool_Check(r->v[2]) || is_int(r->v[2], &n) || PyFloat_CheckExact(r->v[2]);
    if (!number || (PyFloat_CheckExact(r->v[2]) && !dtype_float(self.dtype)) ||
        (self.dtype == D_BOOL && !PyBool_Check(r->v[2])))
        return ST_DECLINE;
    if (!operands_add(&p, r->v[0]) || !operands_add(&p, r->v[1]) ||
        !operands_shape(&p, &m))
        return ST_DECLINE;
    if (r->in_place) {
        if (m.ndim != self.ndim || memcmp(m.sizes, self.sizes, 8 * (size_t)m.ndim) != 0)
            return ST_DECLINE;
        return give_written(r, r->v[0], &self, false, out);
    }
    shape_rows(&m, m.sizes, m.ndim);
    return give(r, &m, self.dtype, self.requires_grad, out);
}

/* -- One operand -------------------------------------------------------------------- */

static Status one(Infer *r, int (*type)(int), PyObject **out)
{
    Operands p;
    return operands(r, &p, 1) ? finish(r, &p, type(p.t[0].dtype), out) : ST_DECLINE;
}

static int numbers(int d)
{
    return d == D_BOOL ? -1 : d;
}

static int floats(int d)
{
    return dtype_float(d) ? d : -1;
}

static int to_bool(int d)
{
    return D_BOOL;
}

static int no_float(int d)
{
    return dtype_float(d) ? -1 : d;
}

static Status same(Infer *r, PyObject **out)
{
    return one(r, numbers, out);
}
static Status function(Infer *r, PyObject **out)
{
    return one(r, to_float, out);
}
static Status test(Infer *r, PyObject **out)
{
    return r->in_place ? ST_DECLINE : one(r, to_bool, out);
}
static Status invert(Infer *r, PyObject **out)
{
    return one(r, no_float, out);
}

/* With inplace=True the input itself is written. */
static Status maybe_in_place(Infer *r, PyObject *inplace, int (*type)(int), PyObject **out)
{
    if (!is_false(inplace) && !is_true(inplace))
        return ST_DECLINE;
    r->in_place |= is_true(inplace);
    return one(r, type, out);
}

/* Activations of floats. Their numbers change nothing here; the last parameter of the row is `inplace`. */
static Status activation(Infer *r, int nnumbers, PyObject **out)
{
    for (int i = 1; i <= nnumbers; i++)
        if (r->v[i] && torch_is_tensor(r->v[i]))
            return ST_DECLINE;
    TensorMeta x;
    r->loose |= read_tensor(r->v[0], &x) && odd_strides(&x);
    return maybe_in_place(r, r->v[nnumbers + 1], floats, out);
}

static Status activation0(Infer *r, PyObject **out)
{
    return activation(r, 0, out);
}
static Status activation1(Infer *r, PyObject **out)
{
    return activation(r, 1, out);
}
static Status activation2(Infer *r, PyObject **out)
{
    return activation(r, 2, out);
}

static Status relu(Infer *r, PyObject **out)
{
    return maybe_in_place(r, r->v[1], numbers, out);
}

static Status dropout(Infer *r, PyObject **out)
{
    /* Without an effect it gives the input itself. */
    bool drops = r->v[1] == NULL ||
                 (PyFloat_CheckExact(r->v[1]) && PyFloat_AS_DOUBLE(r->v[1]) > 0 &&
                  PyFloat_AS_DOUBLE(r->v[1]) < 1);
    bool training = r->v[2] == NULL || is_true(r->v[2]);
    bool none = r->v[1] && PyFloat_CheckExact(r->v[1]) && PyFloat_AS_DOUBLE(r->v[1]) == 0;
    TensorMeta m;
    if (!is_false(r->v[3]) || r->in_place || !read_tensor(r->v[0], &m) || m.numel == 0)
        return ST_DECLINE;
    if ((none && training) || (drops && is_false(r->v[2]) && r->v[2])) {
        *out = Py_NewRef(r->v[0]);
        return ST_OK;
    }
    return drops && training ? one(r, floats, out) : ST_DECLINE;
}

static Status prelu(Infer *r, PyObject **out)
{
    TensorMeta x, w;
    if (!read_tensor(r->v[0], &x) || !read_tensor(r->v[1], &w) || w.ndim != 1 ||
        x.ndim < 2 || w.dtype != x.dtype || !dtype_float(x.dtype) || !row_major(&x) ||
        (w.sizes[0] != 1 && w.sizes[0] != x.sizes[1]))
        return ST_DECLINE;
    return give(r, &x, x.dtype, x.requires_grad || w.requires_grad, out);
}

const Rule rules_point[] = {
    { "arith", "input other alpha", arith, false },
    { "iarith", "input other", arith, true },
    { "larger", "input other", larger, false },
    { "angle", "input other", angle, false },
    { "both", "input other", both, false },
    { "power", "input exponent mod", power, false },
    { "divide", "input other rounding_mode", divide, false },
    { "idivide", "input other", divide, true },
    { "compare", "input other", compare, false },
    { "bits", "input other", bits, false },
    { "ibits", "input other", bits, true },
    { "where", "condition input other", where_any, false },
    { "clamp", "input min max", clamp, false },
    { "clamp_min", "input min", clamp_one, false },
    { "clamp_max", "input max", clamp_one, false },
    { "three", "input tensor1 tensor2 value", three, false },
    { "masked_fill", "input mask value", masked_fill, false },
    { "same", "input", same, false },
    { "function", "input", function, false },
    { "test", "input", test, false },
    { "invert", "input", invert, false },
    { "relu", "input inplace", relu, false },
    { "silu", "input inplace", activation0, false },
    { "leaky_relu", "input negative_slope inplace", activation1, false },
    { "elu", "input alpha inplace", activation1, false },
    { "gelu", "input approximate", activation1, false },
    { "softshrink", "input lambd", activation1, false },
    { "hardtanh", "input min_val max_val inplace", activation2, false },
    { "softplus", "input beta threshold", activation2, false },
    { "dropout", "input p training inplace", dropout, false },
    { "prelu", "input weight", prelu, false },
    { 0 },
};
