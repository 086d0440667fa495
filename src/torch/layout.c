/*
 * torch/layout.c -- where TensorImpl keeps its fields, found by looking at tensors we know.
 *
 * Takes: a few tensors whose sizes, strides, offsets, dtypes and keys are known from Python.
 * Gives: torch_layout, or false: then everything reads Python attributes, which is slower and
 * never wrong. Holds: every offset is the only one that fits all probes.
 */
#include "torch/lib.h"

TorchLayout torch_layout;

enum { IMPL_BYTES = 176, FIRST_WORD = 16 };

/* Plain whatever mode the program is in; numbers are chosen to be unlike each other. */
static const char probe_block[] =
    "with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), \\\n"
    "     torch.inference_mode(False), torch.enable_grad():\n"
    "    E = lambda *s, **k: torch.empty(*s, **{'device': 'cpu', 'dtype': torch.float32, "
    "**k})\n"
    "    base = E(4000)\n"
    "    a = base.as_strided((3, 5, 7), (709, 141, 23), 11)\n"
    "    b = base.as_strided((2, 13), (17, 1), 29)\n"
    "    six = base.as_strided((2, 3, 1, 2, 3, 2), (601, 211, 97, 43, 7, 3), 5)\n"
    "    five = base.as_strided((2, 3, 1, 2, 3), (601, 211, 97, 43, 7), 5)\n"
    "    probes = [a, b, six, five, E(()), E(3, requires_grad=True),\n"
    "              torch.nn.Parameter(E(4)), E(3, dtype=torch.float64), E(3, "
    "dtype=torch.int64),\n"
    "              E(3, dtype=torch.bool), E(2, 2, dtype=torch.bfloat16),\n"
    "              E(5, device='meta'), E(2, dtype=torch.complex64).conj()]\n"
    "    with torch.inference_mode():\n"
    "        probes.append(E(6))\n"
    "    K = torch._C.DispatchKey\n"
    "    plain = [getattr(K, n) for n in dir(K) if n.startswith('Autocast')]\n"
    "    plain += [K.Dense, K.ADInplaceOrView, K.AutogradFunctionality, K.Conjugate, "
    "K.Negative]\n"
    "    allowed = 0xffff\n"
    "    for k in plain:\n"
    "        allowed |= torch._C.DispatchKeySet(k).raw_repr()\n"
    "    facts = [(t, t._cdata, t.untyped_storage()._cdata, t.dim(), list(t.size()),\n"
    "              list(t.stride()), t.storage_offset(), t.numel(), t.requires_grad,\n"
    "              torch._C._dispatch_keys(t).raw_repr()) for t in probes]\n"
    "    dtypes = [(E(0, dtype=d), d) for d in dict.fromkeys(\n"
    "        v for v in vars(torch).values() if type(v) is torch.dtype)\n"
    "        if not str(d).startswith(('torch.q', 'torch.bits', 'torch.complex32'))]\n"
    "    bits = sum(torch._C.DispatchKeySet(k).raw_repr() for k in (K.Conjugate, "
    "K.Negative))\n"
    "found = (facts, allowed, dtypes, bits)\n";

typedef struct Probe {
    PyObject *tensor;
    const char *impl;
    uint64_t storage, ndim, offset, numel, keys;
    int64_t sizes[8], strides[8];
    bool requires_grad;
} Probe;

enum { MAX_PROBES = 32 };

static bool read_ints(PyObject *list, int64_t *to)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        to[i] = PyLong_AsLongLong(PyList_GET_ITEM(list, i));
    return !PyErr_Occurred();
}

static bool read_probe(PyObject *row, Probe *p)
{
    PyObject *const *f = &PyTuple_GET_ITEM(row, 0);
    p->tensor = f[0];
    p->impl = PyLong_AsVoidPtr(f[1]);
    p->storage = (uint64_t)PyLong_AsVoidPtr(f[2]);
    p->ndim = PyLong_AsUnsignedLongLong(f[3]);
    p->offset = PyLong_AsUnsignedLongLong(f[6]);
    p->numel = PyLong_AsUnsignedLongLong(f[7]);
    p->requires_grad = f[8] == Py_True;
    p->keys = PyLong_AsUnsignedLongLong(f[9]);
    return read_ints(f[4], p->sizes) && read_ints(f[5], p->strides);
}

/* -- Finding one field ------------------------------------------------------ */

typedef bool Fits(const Probe *p, int at);

/* The only word offset that fits all probes, or -1. */
static int only_offset(const Probe *p, int n, int from, int step, Fits *fits)
{
    int found = -1;
    for (int at = from; at + 8 <= IMPL_BYTES; at += step) {
        int i = 0;
        while (i < n && fits(&p[i], at))
            i++;
        if (i < n)
            continue;
        if (found >= 0)
            return -1;
        found = at;
    }
    return found;
}

static bool fits_storage(const Probe *p, int at)
{
    return FIELD(uint64_t, p->impl, at) == p->storage;
}

static bool fits_offset(const Probe *p, int at)
{
    return FIELD(uint64_t, p->impl, at) == p->offset;
}

static bool fits_numel(const Probe *p, int at)
{
    return FIELD(uint64_t, p->impl, at) == p->numel;
}

static bool fits_ndim(const Probe *p, int at)
{
    return FIELD(uint64_t, p->impl, at) == p->ndim;
}

static bool fits_keys(const Probe *p, int at)
{
    return FIELD(uint64_t, p->impl, at) == p->keys;
}

/* Probes that take part have at most five dims: sizes and strides are inline. */
static bool fits_sizes(const Probe *p, int at)
{
    return p->ndim > 5 || (at + 8 * (int)p->ndim <= IMPL_BYTES &&
                           memcmp(p->impl + at, p->sizes, 8 * p->ndim) == 0);
}

static bool fits_strides(const Probe *p, int at)
{
    return p->ndim > 5 || (at + 8 * (int)p->ndim <= IMPL_BYTES &&
                           memcmp(p->impl + at, p->strides, 8 * p->ndim) == 0);
}

/* A tensor that was never part of autograd has none; one that requires grad has. Views may have either. */
static bool fits_autograd(const Probe *p, int at)
{
    bool set = FIELD(uint64_t, p->impl, at) != 0;
    bool in_place = p->numel == 4 || p->numel == 3 || p->numel == 6;
    return p->requires_grad ? set : !in_place || !set;
}

static int32_t dtype_number(const Probe *p)
{
    PyObject *name = PyObject_GetAttrString(p->tensor, "dtype");
    PyObject *s = name ? PyObject_Str(name) : NULL;
    const char *text = s ? PyUnicode_AsUTF8(s) : "";
    int32_t n = -1;
    if (strcmp(text, "torch.float32") == 0)
        n = torch_lib.dtype_f32();
    else if (strcmp(text, "torch.float64") == 0)
        n = torch_lib.dtype_f64();
    else if (strcmp(text, "torch.int64") == 0)
        n = torch_lib.dtype_i64();
    else if (strcmp(text, "torch.bool") == 0)
        n = torch_lib.dtype_bool();
    else if (strcmp(text, "torch.bfloat16") == 0)
        n = torch_lib.dtype_bf16();
    Py_XDECREF(s);
    Py_XDECREF(name);
    return n;
}

/* u16 dtype, i8 device type, i8 device index, bool has index… : one word, whose low five bytes count. */
static bool fits_dtype(const Probe *p, int at)
{
    int32_t want = dtype_number(p);
    bool meta = p->numel == 5;
    return (want < 0 || FIELD(uint16_t, p->impl, at) == want) &&
           FIELD(int8_t, p->impl, at + 2) == (meta ? torch_lib.device_meta() : 0) &&
           FIELD(int8_t, p->impl, at + 3) == -1 && FIELD(uint8_t, p->impl, at + 4) == 1;
}

/* -- Together --------------------------------------------------------------- */

static bool find_cdata(const Probe *p, int n)
{
    for (int at = (int)sizeof(PyObject); at <= (int)sizeof(PyObject) + 8; at += 8) {
        int i = 0;
        while (i < n && FIELD(const char *, p[i].tensor, at) == p[i].impl)
            i++;
        if (i == n) {
            torch_layout.cdata = at;
            return true;
        }
    }
    return false;
}

/* With more dims than fit inline, the sizes' place holds a pointer to sizes, then strides. */
static bool check_outline(const Probe *p, int n)
{
    TorchLayout *l = &torch_layout;
    l->inline_dims = (l->strides - l->sizes) / 8;
    for (int i = 0; i < n; i++) {
        if ((int)p[i].ndim <= l->inline_dims)
            continue;
        const int64_t *at = FIELD(const int64_t *, p[i].impl, l->sizes);
        if (memcmp(at, p[i].sizes, 8 * p[i].ndim) != 0 ||
            memcmp(at + p[i].ndim, p[i].strides, 8 * p[i].ndim) != 0)
            return false;
    }
    return l->inline_dims == 5;
}

static bool find_fields(const Probe *p, int n)
{
    TorchLayout *l = &torch_layout;
    const struct {
        int *to;
        int step;
        Fits *fits;
    } rows[] = {
        { &l->storage, 8, fits_storage }, { &l->autograd, 8, fits_autograd },
        { &l->offset, 8, fits_offset },   { &l->numel, 8, fits_numel },
        { &l->ndim, 8, fits_ndim },       { &l->keys, 8, fits_keys },
        { &l->sizes, 8, fits_sizes },     { &l->strides, 8, fits_strides },
        { &l->dtype, 2, fits_dtype },
    };
    if (!torch_lib.dtype_f32 || !torch_lib.dtype_f64 || !torch_lib.dtype_i64 ||
        !torch_lib.dtype_bool || !torch_lib.dtype_bf16 || !torch_lib.device_meta ||
        !torch_lib.requires_grad || !find_cdata(p, n))
        return false;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        *rows[i].to = only_offset(p, n, FIRST_WORD, rows[i].step, rows[i].fits);
        if (*rows[i].to < 0)
            return false;
    }
    for (int i = 0; i < n; i++)
        if (torch_lib.requires_grad(p[i].impl) != p[i].requires_grad)
            return false;
    return check_outline(p, n);
}

static bool use_facts(PyObject *found)
{
    PyObject *facts = PyTuple_GET_ITEM(found, 0), *dtypes = PyTuple_GET_ITEM(found, 2);
    Probe p[MAX_PROBES] = { 0 };
    Py_ssize_t n = PyList_GET_SIZE(facts);
    if (NEVER(n > MAX_PROBES))
        return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!read_probe(PyList_GET_ITEM(facts, i), &p[i]))
            return false;
    torch_layout.allowed_keys = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(found, 1));
    torch_layout.bit_keys = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(found, 3));
    if (!find_fields(p, (int)n))
        return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(dtypes); i++) {
        PyObject *pair = PyList_GET_ITEM(dtypes, i);
        const char *impl = tensor_impl(PyTuple_GET_ITEM(pair, 0));
        uint16_t number = FIELD(uint16_t, impl, torch_layout.dtype);
        if (number < COUNT_OF(torch_py.dtypes))
            torch_py.dtypes[number] = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
    }
    return true;
}

bool layout_find(void)
{
    bool ok;
    do {
        PyObject *found = torch_run(probe_block, "found");
        ok = found && use_facts(found);
        Py_XDECREF(found);
    } while (torch_interrupted());
    return ok;
}
