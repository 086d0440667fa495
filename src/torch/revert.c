/*
 * torch/revert.c -- copies of the inputs that a graph writes to, for the case that it raises.
 *
 * What a backend does, and in which order, is its own affair: any node that may raise may do so before or after any write. So all
 * inputs that may be written to are copied before the call, if any node may raise at all.
 */
#include "torch/revert.h"
#include "torch/lib.h"
#include "torch/infer.h"

/* -- What may be written ------------------------------------------------------- */

static void *storage_of(const Node *n)
{
    TensorMeta m;
    return n->meta && torch_is_tensor(n->meta) && meta_read(n->meta, &m) ? m.storage
                                                                         : NULL;
}

static bool may_raise(const Graph *g)
{
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live && (g->node.v[i].raises || g->node.v[i].open))
            return true;
    return false;
}

/* Operations that make a view of more than the tensor they are given. */
static bool reaches_out(const Node *n)
{
    static const char *const names[] = { "as_strided", "set_", "_base", "resize_" };
    PyObject *name = PyUnicode_Check(n->target)
                         ? Py_NewRef(n->target)
                         : PyObject_GetAttrString(n->target, "__name__");
    const char *s = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    bool yes = false;
    for (size_t i = 0; s && i < COUNT_OF(names) && !yes; i++)
        yes = strncmp(s, names[i], strlen(names[i])) == 0;
    PyErr_Clear();
    Py_XDECREF(name);
    return yes;
}

static bool contiguous(PyObject *tensor)
{
    TensorMeta m;
    if (!meta_read(tensor, &m))
        return false;
    int64_t step = 1;
    for (int i = m.ndim; i-- > 0;) {
        if (m.sizes[i] != 1 && m.strides[i] != step)
            return false;
        step *= m.sizes[i];
    }
    return true;
}

/* Marks the inputs that a node may write to; all of them, if it is not known what it writes. */
static void mark(const Graph *g, const Node *n, uint8_t *written)
{
    for (uint32_t k = 0; k < n->nwrites; k++) {
        void *s = storage_of(&g->node.v[n->writes[k]]);
        bool found = false;
        for (size_t i = 0; i < g->node.n; i++) {
            const Node *input = &g->node.v[i];
            if (input->kind != NODE_INPUT || !input->live)
                continue;
            if (s && storage_of(input) == s)
                written[i] = found = true;
        }
        for (size_t i = 0; i < g->node.n && !found; i++)
            written[i] = 1;
    }
}

static Revert *list(const Graph *g, const uint8_t *written, bool whole)
{
    uint32_t n = 0, arg = 0;
    for (size_t i = 0; i < g->node.n; i++)
        n += written[i];
    Revert *u = mem_alloc(sizeof *u + n * sizeof u->v[0]);
    for (size_t i = 0; u && i < g->node.n; i++) {
        const Node *node = &g->node.v[i];
        if (node->kind != NODE_INPUT || !node->live)
            continue;
        if (written[i] && node->example && node->expr == NULL) {
            u->v[u->n].arg = arg;
            u->v[u->n++].whole = whole || !contiguous(node->example);
        }
        arg++;
    }
    return u;
}

int revert_plan(const Graph *g, bool late, Revert **out)
{
    bool writes = false, whole = false;
    *out = NULL;
    for (size_t i = 0; i < g->node.n; i++) {
        const Node *n = &g->node.v[i];
        writes |= n->live && (n->mutates_input || n->open);
        whole |= n->live && n->kind != NODE_INPUT && reaches_out(n);
    }
    if (!writes || !may_raise(g))
        return 0;
    uint8_t *written = mem_alloc(g->node.n);
    if (written == NULL)
        return -1;
    memset(written, 0, g->node.n);
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live && g->node.v[i].mutates_input)
            mark(g, &g->node.v[i], written);
    *out = list(g, written, whole);
    mem_free(written);
    if (*out == NULL)
        return -1;
    (*out)->late = late;
    return 0;
}

/* -- Around a call ------------------------------------------------------------- */

static PyObject *copy_of(PyObject *t, bool whole)
{
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("clone")) == NULL)
        return NULL;
    if (!whole)
        return PyObject_CallMethodNoArgs(t, name);
    PyObject *s = PyObject_CallMethod(t, "untyped_storage", NULL);
    PyObject *copy = s ? PyObject_CallMethod(s, "clone", NULL) : NULL;
    Py_XDECREF(s);
    return copy;
}

static bool put_back(PyObject *t, PyObject *copy, bool whole)
{
    PyObject *to = whole ? PyObject_CallMethod(t, "untyped_storage", NULL) : Py_NewRef(t);
    PyObject *r = to ? PyObject_CallMethod(to, "copy_", "O", copy) : NULL;
    Py_XDECREF(to);
    Py_XDECREF(r);
    return r != NULL;
}

static bool version_back(PyObject *t, int64_t version)
{
    if (version < 0 || infer_version(t) == version)
        return true;
    PyObject *r =
        torch_py.set_version
            ? PyObject_CallFunction(torch_py.set_version, "(O)(L)", t, (long long)version)
            : NULL;
    Py_XDECREF(r);
    return r != NULL;
}

void revert_forget(const Revert *u, Saved *saved)
{
    for (uint32_t i = 0; i < u->n; i++)
        Py_XDECREF(saved[i].copy);
    mem_free(saved);
}

Saved *revert_save(const Revert *u, PyObject *const *args)
{
    Saved *saved = mem_alloc((u->n + 1) * sizeof *saved);
    if (saved == NULL)
        return NULL;
    memset(saved, 0, (u->n + 1) * sizeof *saved);
    bool grad = ambient_grad_enabled(), ok = true;
    ambient_set_grad(false);
    for (uint32_t i = 0; i < u->n && ok; i++) {
        PyObject *t = args[u->v[i].arg];
        saved[i].version = infer_version(t);
        if (!u->late)
            ok = (saved[i].copy = copy_of(t, u->v[i].whole)) != NULL;
    }
    ambient_set_grad(grad);
    if (ok)
        return saved;
    revert_forget(u, saved);
    return NULL;
}

bool revert_restore(const Revert *u, PyObject *const *args, Saved *saved)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    bool grad = ambient_grad_enabled(), ok = true;
    ambient_set_grad(false);
    for (uint32_t i = 0; i < u->n && ok; i++) {
        PyObject *t = args[u->v[i].arg];
        if (!u->late)
            ok = put_back(t, saved[i].copy, u->v[i].whole);
    }
    for (uint32_t i = 0; i < u->n && ok; i++)
        ok = version_back(args[u->v[i].arg], saved[i].version);
    ambient_set_grad(grad);
    PyErr_Clear();
    PyErr_Restore(type, value, tb);
    return ok;
}

/* -- Telling ------------------------------------------------------------------- */

static _Thread_local const void *reverted;

void fx_note_reverted(const void *graph)
{
    reverted = graph;
}

bool fx_reverted(const void *graph)
{
    bool yes = reverted == graph;
    reverted = NULL;
    return yes;
}
