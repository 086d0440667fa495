/*
 * torch/memo.c -- what an operation gave for arguments like these: the layers of a model ask the same again and again.
 *
 * Takes: a call on meta twins and, once, what it gave. Gives: the same result made anew, in a microsecond where torch's
 * meta kernels take up to two thousand. Holds: a key says all that a result's metadata can depend on, the arguments' metadata,
 * plain constants, the ambient state; a result is kept only if it is fresh memory, or one of the arguments, and if making
 * it anew was tried and agrees in every field. Views are not kept: torch makes them fast enough.
 */
#include "torch/memo.h"

enum { MAX_ENTRIES = 8192, MAX_DEPTH = 4, MAX_NODES = 24, SLOTS = 2 * MAX_ENTRIES };

typedef enum { OUT_TENSOR, OUT_ARG, OUT_CONST, OUT_SEQ } OutTag;

typedef struct Out {
    OutTag tag;
    uint32_t n;    /* items that follow; index of the tensor argument */
    PyObject *obj; /* constant; dtype; type of the sequence: owned or immortal */
    bool requires_grad, is_leaf, is_view;
    int ndim;
    int64_t *dims; /* sizes, then strides */
} Out;

typedef struct Memo {
    struct Memo *next;
    uint64_t hash;
    uint32_t nwords, nouts;
    bool ruled; /* as in InferCall */
    unsigned loose;
    PyObject *target; /* owned: keeps the address in the key ours */
    PyObject *device; /* interned: lives for ever */
    Out *outs;        /* in prefix order */
    uint64_t words[];
} Memo;

static Memo *slots[SLOTS];
static size_t count;

/* -- Keys -------------------------------------------------------------------- */

static bool word(MemoKey *k, uint64_t w)
{
    if (k->n == MEMO_WORDS)
        return false;
    k->w[k->n++] = w;
    return true;
}

static bool words(MemoKey *k, const void *from, size_t n)
{
    if (k->n + n > MEMO_WORDS)
        return false;
    memcpy(&k->w[k->n], from, 8 * n);
    k->n += n;
    return true;
}

enum {
    TAG_INT = 1,
    TAG_FLOAT,
    TAG_COMPLEX,
    TAG_STR,
    TAG_SINGLE,
    TAG_SEQ,
    TAG_SLICE,
    TAG_TENSOR,
    TAG_AGAIN,
    TAG_DEVICE
};

static bool text(MemoKey *k, PyObject *s)
{
    Py_ssize_t n;
    const char *c = PyUnicode_AsUTF8AndSize(s, &n);
    char padded[64] = { 0 };
    if (c == NULL || n > (Py_ssize_t)sizeof padded) {
        PyErr_Clear();
        return false;
    }
    memcpy(padded, c, (size_t)n);
    return word(k, TAG_STR | (uint64_t)n << 8) && words(k, padded, ((size_t)n + 7) / 8);
}

static bool tensor(MemoKey *k, PyObject *t)
{
    TensorMeta m;
    for (int i = 0; i < k->ntensors; i++)
        if (k->tensors[i] == t)
            return word(k, TAG_AGAIN | (uint64_t)i << 8);
    if (k->ntensors == MEMO_TENSORS || !meta_read(t, &m))
        return false;
    k->tensors[k->ntensors] = t;
    k->storages[k->ntensors++] = m.storage;
    uint64_t flags =
        m.requires_grad | m.is_leaf << 1 | m.has_grad_fn << 2 | m.is_view << 3;
    return word(k, TAG_TENSOR | flags << 8 | (uint64_t)m.ndim << 16) && word(k, m.keys) &&
           word(k, m.dtype_device) && word(k, (uint64_t)m.storage_offset) &&
           words(k, m.sizes, (size_t)m.ndim) && words(k, m.strides, (size_t)m.ndim);
}

static bool value(MemoKey *k, PyObject *o, int depth);

static bool sequence(MemoKey *k, PyObject *o, int depth)
{
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (depth == MAX_DEPTH || !word(k, TAG_SEQ | (uint64_t)n << 8) ||
        !word(k, (uintptr_t)Py_TYPE(o)))
        return false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!value(k, PySequence_Fast_GET_ITEM(o, i), depth + 1))
            return false;
    return true;
}

static bool slice(MemoKey *k, PyObject *o, int depth)
{
    const PySliceObject *s = (PySliceObject *)o;
    return depth < MAX_DEPTH && word(k, TAG_SLICE) && value(k, s->start, depth + 1) &&
           value(k, s->stop, depth + 1) && value(k, s->step, depth + 1);
}

static bool integer(MemoKey *k, PyObject *o)
{
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0 && word(k, TAG_INT) && word(k, (uint64_t)v);
}

/* Objects that are one of a kind and live for ever. */
static bool single(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    return o == Py_None || o == Py_True || o == Py_False || o == Py_Ellipsis ||
           t == torch_types.dtype || t == torch_types.layout ||
           t == torch_types.memory_format;
}

static bool value(MemoKey *k, PyObject *o, int depth)
{
    PyTypeObject *t = Py_TYPE(o);
    if (torch_is_plain_tensor(o))
        return tensor(k, o);
    if (single(o))
        return word(k, TAG_SINGLE) && word(k, (uintptr_t)o);
    if (t == &PyLong_Type)
        return integer(k, o);
    if (t == &PyFloat_Type)
        return word(k, TAG_FLOAT) && words(k, &((PyFloatObject *)o)->ob_fval, 1);
    if (t == &PyComplex_Type)
        return word(k, TAG_COMPLEX) && words(k, &((PyComplexObject *)o)->cval, 2);
    if (t == &PyUnicode_Type)
        return text(k, o);
    if (t == torch_types.device)
        return word(k, TAG_DEVICE) && word(k, (uintptr_t)infer_device(o));
    if (t == &PyTuple_Type || t == &PyList_Type || t == torch_types.size)
        return sequence(k, o, depth);
    return t == &PySlice_Type && slice(k, o, depth);
}

/* C functions, and Python functions of torch itself. */
bool infer_own(PyObject *f)
{
    if (PyCFunction_Check(f) || Py_IS_TYPE(f, &PyMethodDescr_Type) ||
        Py_IS_TYPE(f, &PyWrapperDescr_Type))
        return true;
    PyObject *module = PyFunction_Check(f) ? ((PyFunctionObject *)f)->func_module : NULL;
    const char *name =
        module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    return name && strncmp(name, "torch.", 6) == 0;
}

static bool target(MemoKey *k, const InferCall *c)
{
    unsigned version = torch_types.tensor->tp_version_tag; /* a method may be exchanged */
    if (version == 0 || !word(k, (uint64_t)c->kind << 32 | version))
        return false;
    if (c->kind == NODE_METHOD)
        return text(k, c->target);
    return infer_own(c->target) && word(k, (uintptr_t)c->target);
}

static uint64_t hash_of(const uint64_t *w, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ w[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

bool memo_key(MemoKey *k, const InferCall *c, TorchOp op)
{
    k->n = k->ntensors = 0;
    if (op.view || op.user || op.syncs || !ambient_words(k->w, &k->n))
        return false;
    Py_ssize_t nkw = c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0;
    if (!target(k, c) ||
        !word(k, (uint64_t)c->nargs << 32 | (uint64_t)nkw << 8 | c->grad) ||
        !word(k, c->device ? (uintptr_t)infer_device(c->device) : 0))
        return false;
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (!text(k, PyTuple_GET_ITEM(c->kwnames, i)))
            return false;
    for (Py_ssize_t i = 0; i < c->nargs + nkw; i++)
        if (!value(k, c->args[i], 0))
            return false;
    k->hash = hash_of(k->w, k->n);
    return true;
}

/* -- Making results ----------------------------------------------------------- */

static PyObject *make(const Out **at, const MemoKey *k);

static PyObject *make_sequence(const Out *o, const Out **at, const MemoKey *k)
{
    PyObject *items = PyTuple_New(o->n), *r;
    for (uint32_t i = 0; items && i < o->n; i++) {
        PyObject *x = make(at, k);
        if (x == NULL)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, i, x);
    }
    if (items == NULL || o->obj == (PyObject *)&PyTuple_Type)
        return items;
    r = PyObject_CallOneArg(o->obj, items);
    Py_DECREF(items);
    return r;
}

static PyObject *make_tensor(const Out *o)
{
    TensorMeta m;
    m.requires_grad = o->requires_grad;
    m.is_leaf = o->is_leaf;
    m.is_view = o->is_view;
    m.ndim = o->ndim;
    m.storage_offset = 0;
    memcpy(m.sizes, o->dims, 8 * (size_t)o->ndim);
    memcpy(m.strides, o->dims + o->ndim, 8 * (size_t)o->ndim);
    return o->is_view ? infer_make_view(&m, o->obj) : infer_make(&m, o->obj);
}

static PyObject *make(const Out **at, const MemoKey *k)
{
    const Out *o = (*at)++;
    switch (o->tag) {
    case OUT_TENSOR: return make_tensor(o);
    case OUT_ARG: return Py_NewRef(k->tensors[o->n]);
    case OUT_CONST: return Py_NewRef(o->obj);
    default: return make_sequence(o, at, k);
    }
}

static Memo *find(const MemoKey *k)
{
    Memo *m = slots[k->hash % SLOTS];
    while (m && (m->hash != k->hash || m->nwords != k->n ||
                 memcmp(m->words, k->w, 8 * k->n) != 0))
        m = m->next;
    return m;
}

bool memo_get(const MemoKey *k, InferCall *c, PyObject **out, PyObject **device)
{
    const Memo *m = find(k);
    if (m == NULL)
        return false;
    const Out *at = m->outs;
    *device = m->device;
    c->ruled = m->ruled;
    c->loose = m->loose;
    *out = make(&at, k);
    return true;
}

/* -- Keeping results ---------------------------------------------------------- */

typedef struct Notes {
    const MemoKey *k;
    Out v[MAX_NODES];
    uint32_t n;
    void *storages[MAX_NODES];
    int nstorages;
} Notes;

static bool own_storage(Notes *s, void *storage)
{
    for (int i = 0; i < s->k->ntensors; i++)
        if (s->k->storages[i] == storage)
            return false;
    for (int i = 0; i < s->nstorages; i++)
        if (s->storages[i] == storage)
            return false;
    s->storages[s->nstorages++] = storage;
    return true;
}

/* Views are of private memory (`linear` gives such), and single: those that come in sequences have rules of their own. */
static bool note_tensor(Notes *s, Out *o, PyObject *t, bool single)
{
    TensorMeta m;
    for (int i = 0; i < s->k->ntensors; i++)
        if (s->k->tensors[i] == t) {
            *o = (Out){ .tag = OUT_ARG, .n = (uint32_t)i };
            return true;
        }
    if (!meta_read(t, &m) || m.storage_offset || (m.is_view && !single) ||
        !own_storage(s, m.storage))
        return false;
    *o = (Out){ .tag = OUT_TENSOR,
                .obj = Py_XNewRef(meta_dtype(t)),
                .requires_grad = m.requires_grad,
                .is_leaf = m.is_leaf,
                .is_view = m.is_view,
                .ndim = m.ndim };
    o->dims = PyMem_RawMalloc(16 * (size_t)m.ndim + 1);
    if (o->dims == NULL)
        return false;
    memcpy(o->dims, m.sizes, 8 * (size_t)m.ndim);
    memcpy(o->dims + m.ndim, m.strides, 8 * (size_t)m.ndim);
    return o->obj != NULL;
}

static bool note(Notes *s, PyObject *r, int depth)
{
    PyTypeObject *t = Py_TYPE(r);
    if (s->n == MAX_NODES)
        return false;
    Out *o = &s->v[s->n++];
    *o = (Out){ 0 };
    if (torch_is_plain_tensor(r))
        return note_tensor(s, o, r, depth == 0);
    if (single(r) || t == &PyLong_Type || t == &PyFloat_Type) {
        *o = (Out){ .tag = OUT_CONST, .obj = Py_NewRef(r) };
        return true;
    }
    bool named =
        PyTuple_Check(r) && PyObject_HasAttrString((PyObject *)t, "n_sequence_fields");
    if (depth == MAX_DEPTH || !(t == &PyTuple_Type || t == &PyList_Type || named))
        return false;
    *o = (Out){ .tag = OUT_SEQ,
                .n = (uint32_t)PySequence_Fast_GET_SIZE(r),
                .obj = Py_NewRef(t) };
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(r); i++)
        if (!note(s, PySequence_Fast_GET_ITEM(r, i), depth + 1))
            return false;
    return true;
}

static bool same_tensor(PyObject *a, PyObject *b)
{
    TensorMeta x, y;
    return a == b || (meta_read(a, &x) && meta_read(b, &y) && x.type == y.type &&
                      x.keys == y.keys && x.dtype_device == y.dtype_device &&
                      x.requires_grad == y.requires_grad && x.is_leaf == y.is_leaf &&
                      x.has_grad_fn == y.has_grad_fn && x.is_view == y.is_view &&
                      x.ndim == y.ndim && x.numel == y.numel &&
                      x.storage_offset == y.storage_offset &&
                      memcmp(x.sizes, y.sizes, 8 * (size_t)x.ndim) == 0 &&
                      memcmp(x.strides, y.strides, 8 * (size_t)x.ndim) == 0 &&
                      infer_version(a) == infer_version(b));
}

static bool same(PyObject *a, PyObject *b)
{
    if (torch_is_plain_tensor(a))
        return torch_is_plain_tensor(b) && same_tensor(a, b);
    if (Py_TYPE(a) != Py_TYPE(b))
        return false;
    if (!PyTuple_Check(a) && !PyList_Check(a))
        return a == b;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(a);
    for (Py_ssize_t i = 0; i < n; i++)
        if (PySequence_Fast_GET_SIZE(b) != n ||
            !same(PySequence_Fast_GET_ITEM(a, i), PySequence_Fast_GET_ITEM(b, i)))
            return false;
    return true;
}

static void drop_outs(Out *outs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        Py_XDECREF(outs[i].obj);
        PyMem_RawFree(outs[i].dims);
    }
}

static void drop_all(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        while (slots[i]) {
            Memo *m = slots[i];
            slots[i] = m->next;
            drop_outs(m->outs, m->nouts);
            PyMem_RawFree(m->outs);
            Py_XDECREF(m->target);
            PyMem_RawFree(m);
        }
    count = 0;
}

static bool insert(const Notes *s, const InferCall *c, PyObject *device)
{
    const MemoKey *k = s->k;
    if (count == MAX_ENTRIES)
        drop_all();
    Memo *m = PyMem_RawMalloc(sizeof *m + 8 * k->n);
    Out *outs = PyMem_RawMalloc(s->n * sizeof *outs);
    if (m == NULL || outs == NULL) {
        PyMem_RawFree(m);
        PyMem_RawFree(outs);
        return false;
    }
    *m = (Memo){ .next = slots[k->hash % SLOTS],
                 .hash = k->hash,
                 .nwords = (uint32_t)k->n,
                 .nouts = s->n,
                 .ruled = c->ruled,
                 .loose = c->loose,
                 .target = Py_NewRef(c->target),
                 .device = device,
                 .outs = outs };
    memcpy(m->words, k->w, 8 * k->n);
    memcpy(outs, s->v, s->n * sizeof *outs);
    slots[k->hash % SLOTS] = m;
    count++;
    return true;
}

/* The result made anew is the same. */
static bool proves(const Notes *s, PyObject *result)
{
    const Out *at = s->v;
    PyObject *again = make(&at, s->k);
    bool ok = again && same(result, again);
    PyErr_Clear();
    Py_XDECREF(again);
    return ok;
}

/* Whether the call left its arguments, and what the key is made of, as they were. */
static bool untouched(const MemoKey *k, const MemoVersions *before, const InferCall *c,
                      TorchOp op)
{
    MemoKey now;
    if (!memo_key(&now, c, op) || now.n != k->n || memcmp(now.w, k->w, 8 * k->n) != 0)
        return false;
    for (int i = 0; i < k->ntensors; i++)
        if (infer_version(k->tensors[i]) != before->v[i])
            return false;
    return true;
}

void memo_versions(const MemoKey *k, MemoVersions *v)
{
    for (int i = 0; i < k->ntensors; i++)
        v->v[i] = infer_version(k->tensors[i]);
}

void memo_put(const MemoKey *k, const MemoVersions *before, const InferCall *c,
              TorchOp op, PyObject *result, PyObject *device)
{
    Notes s = { .k = k };
    if (!untouched(k, before, c, op))
        return;
    if (!note(&s, result, 0) || !proves(&s, result) || !insert(&s, c, device))
        drop_outs(s.v, s.n);
}
