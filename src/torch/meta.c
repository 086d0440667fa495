/*
 * torch/meta.c -- what a tensor is, read from its fields; the tensor guard.
 *
 * Takes: tensors. Gives: TensorMeta, guard blocks and their check in a few nanoseconds.
 * Holds: only dense strided tensors of torch's own classes are described; anything else is
 * "no". Without a known layout the same answers come from Python attributes.
 */
#include "guard/guard.h"
#include "torch/lib.h"

#define DEVICE_DTYPE_MASK UINT64_C(0xffffffffff)

typedef struct TensorBlock {
    PyTypeObject *type;
    uint64_t keys, dtype_device;
    uint32_t ndim, requires_grad;
    int64_t dims[]; /* sizes, then strides */
} TensorBlock;

/* -- Fields ----------------------------------------------------------------- */

static inline const int64_t *sizes_of(const char *impl, int ndim)
{
    const TorchLayout *l = &torch_layout;
    if (__builtin_expect(ndim <= l->inline_dims, 1))
        return (const int64_t *)(impl + l->sizes);
    return FIELD(const int64_t *, impl, l->sizes);
}

static inline const int64_t *strides_of(const char *impl, int ndim)
{
    const TorchLayout *l = &torch_layout;
    if (__builtin_expect(ndim <= l->inline_dims, 1))
        return (const int64_t *)(impl + l->strides);
    return FIELD(const int64_t *, impl, l->sizes) + ndim;
}

static inline bool requires_grad(const char *impl)
{
    return FIELD(void *, impl, torch_layout.autograd) && torch_lib.requires_grad(impl);
}

/* -- Slow reads through Python ---------------------------------------------- */

static int64_t int_attr(PyObject *t, const char *name, bool call)
{
    PyObject *v =
        call ? PyObject_CallMethod(t, name, NULL) : PyObject_GetAttrString(t, name);
    int64_t n = -1;
    if (v)
        n = PyLong_AsLongLong(v);
    Py_XDECREF(v);
    return n;
}

static bool ints_attr(PyObject *t, const char *name, int64_t *to, int ndim)
{
    PyObject *v = PyObject_CallMethod(t, name, NULL);
    bool ok = v && PyTuple_Check(v) && PyTuple_GET_SIZE(v) == ndim;
    for (int i = 0; ok && i < ndim; i++) {
        to[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(v, i));
        ok = !PyErr_Occurred();
    }
    Py_XDECREF(v);
    return ok;
}

static bool read_keys(PyObject *t, uint64_t *keys)
{
    PyObject *set = PyObject_CallOneArg(torch_py.keys_of, t);
    PyObject *raw = set ? PyObject_CallMethod(set, "raw_repr", NULL) : NULL;
    if (raw)
        *keys = PyLong_AsUnsignedLongLong(raw);
    Py_XDECREF(raw);
    Py_XDECREF(set);
    return raw && !PyErr_Occurred();
}

/* dtype and device as a word: the pointer of the dtype object, the hash of the device. */
static bool read_dtype_device(PyObject *t, TensorMeta *m)
{
    PyObject *dtype = PyObject_GetAttrString(t, "dtype");
    PyObject *device = PyObject_GetAttrString(t, "device");
    PyObject *type = device ? PyObject_GetAttrString(device, "type") : NULL;
    Py_hash_t hash = device ? PyObject_Hash(device) : -1;
    bool ok = dtype && type && hash != -1;
    if (ok) {
        m->dtype = (uint16_t)((uintptr_t)dtype >> 4);
        m->dtype_device =
            (uint64_t)(uintptr_t)dtype ^ (uint64_t)hash * UINT64_C(0x9e3779b97f4a7c15);
        m->device_type = (int8_t)PyObject_Hash(type);
        m->device_index = -1;
    }
    Py_XDECREF(type);
    Py_XDECREF(device);
    Py_XDECREF(dtype);
    return ok;
}

static bool slow_read(PyObject *t, TensorMeta *m)
{
    PyObject *layout = PyObject_GetAttrString(t, "layout");
    bool ok = layout == torch_py.strided;
    Py_XDECREF(layout);
    ok = ok && read_keys(t, &m->keys) && read_dtype_device(t, m);
    if (ok) {
        m->requires_grad = int_attr(t, "requires_grad", false) == 1;
        m->ndim = (int)int_attr(t, "dim", true);
        m->numel = int_attr(t, "numel", true);
        m->storage_offset = int_attr(t, "storage_offset", true);
        PyObject *storage = PyObject_CallMethod(t, "untyped_storage", NULL);
        m->storage = storage ? (void *)int_attr(storage, "_cdata", false) : NULL;
        Py_XDECREF(storage);
    }
    ok = ok && !PyErr_Occurred() && m->ndim <= META_MAX_DIM &&
         ints_attr(t, "size", m->sizes, m->ndim) &&
         ints_attr(t, "stride", m->strides, m->ndim);
    PyErr_Clear();
    return ok;
}

/* -- Reading ---------------------------------------------------------------- */

static bool truth_attr(PyObject *t, const char *name, bool call)
{
    return int_attr(t, name, call) == 1;
}

/* What autograd knows; asked of torch only where it can be other than the default. */
static void read_autograd(PyObject *t, TensorMeta *m)
{
    m->is_leaf = true;
    m->has_grad_fn = m->is_view = false;
    if (torch_layout.ok && FIELD(void *, tensor_impl(t), torch_layout.autograd) == NULL)
        return;
    m->is_leaf = truth_attr(t, "is_leaf", false);
    m->has_grad_fn = !m->is_leaf;
    m->is_view = truth_attr(t, "_is_view", true);
    PyErr_Clear();
}

static bool plain_keys(uint64_t keys)
{
    return (keys & ~torch_layout.allowed_keys) == 0 && (keys & 0xffff);
}

static void fast_read(const char *impl, TensorMeta *m)
{
    const TorchLayout *l = &torch_layout;
    m->keys = FIELD(uint64_t, impl, l->keys);
    m->dtype_device = FIELD(uint64_t, impl, l->dtype) & DEVICE_DTYPE_MASK;
    m->dtype = FIELD(uint16_t, impl, l->dtype);
    m->device_type = FIELD(int8_t, impl, l->dtype + 2);
    m->device_index = FIELD(int8_t, impl, l->dtype + 3);
    m->requires_grad = requires_grad(impl);
    m->ndim = (int)FIELD(int64_t, impl, l->ndim);
    m->numel = FIELD(int64_t, impl, l->numel);
    m->storage_offset = FIELD(int64_t, impl, l->offset);
    m->storage = FIELD(void *, impl, l->storage);
    if (m->ndim > META_MAX_DIM)
        return;
    memcpy(m->sizes, sizes_of(impl, m->ndim), 8 * (size_t)m->ndim);
    memcpy(m->strides, strides_of(impl, m->ndim), 8 * (size_t)m->ndim);
}

static bool dims_plain(const TensorMeta *m)
{
    for (int i = 0; i < m->ndim; i++)
        if (m->sizes[i] < 0) /* symbolic: a tagged pointer */
            return false;
    return true;
}

bool meta_read(PyObject *tensor, TensorMeta *m)
{
    if (!torch_is_plain_tensor(tensor))
        return false;
    m->type = Py_TYPE(tensor);
    if (!torch_layout.ok) {
        if (!slow_read(tensor, m))
            return false;
    } else {
        if (!plain_keys(FIELD(uint64_t, tensor_impl(tensor), torch_layout.keys)))
            return false;
        fast_read(tensor_impl(tensor), m);
    }
    if (m->ndim > META_MAX_DIM || !dims_plain(m))
        return false;
    read_autograd(tensor, m);
    return true;
}

PyObject *meta_dtype(PyObject *tensor)
{
    if (torch_layout.ok && torch_is_plain_tensor(tensor)) {
        uint16_t n = FIELD(uint16_t, tensor_impl(tensor), torch_layout.dtype);
        if (n < COUNT_OF(torch_py.dtypes) && torch_py.dtypes[n])
            return torch_py.dtypes[n];
    }
    PyObject *d = PyObject_GetAttrString(tensor, "dtype");
    Py_XDECREF(d); /* dtype objects live as long as torch */
    return d;
}

PyObject *meta_device(PyObject *tensor)
{
    return PyObject_GetAttrString(tensor, "device");
}

PyObject *meta_size(PyObject *tensor)
{
    return PyObject_GetAttrString(tensor, "shape");
}

/* -- The guard -------------------------------------------------------------- */

const void *meta_guard_block(Arena *a, PyObject *tensor, size_t *size)
{
    TensorMeta m;
    if (!meta_read(tensor, &m)) {
        PyErr_SetString(PyExc_TypeError, "not a plain dense tensor");
        return NULL;
    }
    size_t dims = 8 * (size_t)m.ndim;
    *size = sizeof(TensorBlock) + 2 * dims;
    TensorBlock *b = arena_alloc(a, *size);
    if (b == NULL)
        return NULL;
    *b = (TensorBlock){ m.type, m.keys, m.dtype_device, (uint32_t)m.ndim,
                        m.requires_grad };
    memcpy(b->dims, m.sizes, dims);
    memcpy(b->dims + m.ndim, m.strides, dims);
    return b;
}

static bool same_dims(const int64_t *a, const int64_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool fast_check(PyObject *o, const void *block)
{
    const TensorBlock *b = block;
    const TorchLayout *l = &torch_layout;
    if (Py_TYPE(o) != b->type)
        return false;
    const char *impl = tensor_impl(o);
    if (FIELD(uint64_t, impl, l->keys) != b->keys ||
        (FIELD(uint64_t, impl, l->dtype) & DEVICE_DTYPE_MASK) != b->dtype_device ||
        FIELD(uint64_t, impl, l->ndim) != b->ndim)
        return false;
    const int64_t *sizes = sizes_of(impl, (int)b->ndim);
    const int64_t *strides = strides_of(impl, (int)b->ndim);
    return same_dims(sizes, b->dims, b->ndim) &&
           same_dims(strides, b->dims + b->ndim, b->ndim) &&
           requires_grad(impl) == (bool)b->requires_grad;
}

static bool slow_check(PyObject *o, const void *block)
{
    const TensorBlock *b = block;
    TensorMeta m;
    if (Py_TYPE(o) != b->type || !meta_read(o, &m))
        return false;
    return m.keys == b->keys && m.dtype_device == b->dtype_device &&
           (uint32_t)m.ndim == b->ndim && m.requires_grad == (bool)b->requires_grad &&
           same_dims(m.sizes, b->dims, b->ndim) &&
           same_dims(m.strides, b->dims + b->ndim, b->ndim);
}

/* -- What is rarely asked ----------------------------------------------------- */

typedef struct Facts {
    int64_t offset;
    bool is_leaf, is_view;
} Facts;

static bool read_facts(PyObject *tensor, Facts *f)
{
    TensorMeta m;
    if (!meta_read(tensor, &m))
        return false;
    *f = (Facts){ m.storage_offset, m.is_leaf, m.is_view };
    return true;
}

const void *meta_facts_block(Arena *a, PyObject *tensor, size_t *size)
{
    Facts *f = arena_alloc(a, sizeof *f);
    if (f && !read_facts(tensor, f)) {
        PyErr_SetString(PyExc_TypeError, "not a plain dense tensor");
        return NULL;
    }
    *size = sizeof *f;
    return f;
}

static bool check_facts(PyObject *tensor, const void *block)
{
    const Facts *was = block;
    Facts now;
    return read_facts(tensor, &now) && now.offset == was->offset &&
           now.is_leaf == was->is_leaf && now.is_view == was->is_view;
}

static void *storage_of(PyObject *tensor, int64_t *offset)
{
    TensorMeta m;
    if (torch_layout.ok && torch_is_plain_tensor(tensor)) {
        *offset = FIELD(int64_t, tensor_impl(tensor), torch_layout.offset);
        return FIELD(void *, tensor_impl(tensor), torch_layout.storage);
    }
    if (!meta_read(tensor, &m))
        return NULL;
    *offset = m.storage_offset;
    return m.storage;
}

/* -- Why it failed ---------------------------------------------------------- */

static void put_dims(Text *t, const char *what, const int64_t *now, const int64_t *was,
                     uint32_t n, uint32_t nwas)
{
    text_put(t, "%s (", what);
    for (uint32_t i = 0; i < n; i++)
        text_put(t, i ? ", %ld" : "%ld", (long)now[i]);
    text_put(t, "), was (");
    for (uint32_t i = 0; i < nwas; i++)
        text_put(t, i ? ", %ld" : "%ld", (long)was[i]);
    text_put(t, ")");
}

static const char *dtype_name(uint64_t number, PyObject **held)
{
    PyObject *d = number < COUNT_OF(torch_py.dtypes) ? torch_py.dtypes[number] : NULL;
    *held = d ? PyObject_Str(d) : NULL;
    const char *s = *held ? PyUnicode_AsUTF8(*held) : "?";
    return strncmp(s, "torch.", 6) == 0 ? s + 6 : s;
}

static void put_dtype_device(Text *t, const TensorMeta *m, const TensorBlock *b)
{
    PyObject *held[2];
    if (torch_layout.ok && (b->dtype_device & 0xffff) != m->dtype) {
        const char *now = dtype_name(m->dtype, &held[0]);
        text_put(t, "dtype %s, was %s", now,
                 dtype_name(b->dtype_device & 0xffff, &held[1]));
        Py_XDECREF(held[0]);
        Py_XDECREF(held[1]);
    } else {
        text_put(t, torch_layout.ok ? "device differs" : "dtype or device differs");
    }
}

static PyObject *why(PyObject *o, const void *block)
{
    const TensorBlock *b = block;
    Text t = { 0 };
    TensorMeta m;
    if (Py_TYPE(o) != b->type)
        text_put(&t, "type %s, was %s", Py_TYPE(o)->tp_name, b->type->tp_name);
    else if (!meta_read(o, &m))
        text_put(&t, "not a plain dense tensor");
    else if (m.dtype_device != b->dtype_device)
        put_dtype_device(&t, &m, b);
    else if ((uint32_t)m.ndim != b->ndim || !same_dims(m.sizes, b->dims, b->ndim))
        put_dims(&t, "sizes", m.sizes, b->dims, (uint32_t)m.ndim, b->ndim);
    else if (!same_dims(m.strides, b->dims + b->ndim, b->ndim))
        put_dims(&t, "strides", m.strides, b->dims + b->ndim, b->ndim, b->ndim);
    else if (m.requires_grad != (bool)b->requires_grad)
        text_put(&t, "requires_grad %s, was %s", m.requires_grad ? "True" : "False",
                 b->requires_grad ? "True" : "False");
    else if (m.keys != b->keys)
        text_put(&t, "dispatch keys %#lx, were %#lx", (long)m.keys, (long)b->keys);
    else
        text_put(&t, "nothing differs");
    return text_take(&t);
}

void meta_init(void)
{
    guard_tensor_check = torch_layout.ok ? fast_check : slow_check;
    guard_tensor_facts = check_facts;
    guard_tensor_storage = storage_of;
    guard_tensor_why = why;
}
