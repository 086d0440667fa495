/*
 * guard/selftest.c -- sources, expressions, guards and maps as plain data, for tests.
 *
 * source  (KIND, base or None, key or None, index[, hint])
 * expr    ("leaf", source, value) ("len", source, n) ("const", v) ("un", op, e)
 *         ("bin", number, e, e) ("cmp", number, e, e)
 * guard   (KIND, subject, ...) with subject a source, an expr, a class or a list of sources
 * export  a source, or ("expr", e)
 *
 * NotImplemented among slots stands for an unbound slot.
 */
#include "guard/selftest.h"
#include "cpy/peek.h"
#include "guard/guard.h"
#include <time.h>

typedef struct Bench {
    Arena arena;
    Journal journal;
    Sources sources;
    Exprs exprs;
    GuardList list;
} Bench;

/* -- From data -------------------------------------------------------------- */

static const char *const source_names[] = {
#define SRC(name, text) #name,
#include "source/sources.def"
#undef SRC
};

static const char *const guard_names[] = {
#define GUARD(name, payload, text) #name,
#include "guard/guards.def"
#undef GUARD
};

static int named(PyObject *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, names[i]) == 0)
            return (int)i;
    PyErr_Format(PyExc_ValueError, "unknown kind %R", name);
    return -1;
}

static Expr *to_expr(Bench *b, PyObject *o);

static Source *to_source(Bench *b, PyObject *o)
{
    PyObject *name, *base = Py_None, *key = Py_None, *hint = NULL;
    Py_ssize_t index = 0;
    if (!PyArg_ParseTuple(o, "O|OOnO", &name, &base, &key, &index, &hint))
        return NULL;
    int kind = named(name, source_names, COUNT_OF(source_names));
    if (kind == SRC_AT) {
        Source *b0 = to_source(b, base);
        Expr *e = b0 ? to_expr(b, key) : NULL;
        return e ? source_at(&b->sources, b0, e) : NULL;
    }
    Source *up = kind >= 0 && base != Py_None ? to_source(b, base) : NULL;
    if (kind < 0 || (base != Py_None && up == NULL))
        return NULL;
    bool keyed = kind == SRC_CONST || kind == SRC_ITEM || key != Py_None;
    Source *s = source_get(&b->sources, (SrcKind)kind, up, keyed ? key : NULL, index);
    if (s && hint)
        s->hint = hint;
    return s;
}

static Expr *operation(Bench *b, const char *what, int op, PyObject *x, PyObject *y)
{
    Expr *a = to_expr(b, x), *c = a && y ? to_expr(b, y) : NULL, *e;
    if (a == NULL || (y && c == NULL))
        return NULL;
    e = strcmp(what, "un") == 0    ? expr_unary(&b->exprs, (char)op, a)
        : strcmp(what, "bin") == 0 ? expr_binary(&b->exprs, op, a, c)
                                   : expr_compare(&b->exprs, op, a, c);
    if (e == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_LookupError, "no place for the result");
    return e;
}

static Expr *to_expr(Bench *b, PyObject *o)
{
    const char *what;
    PyObject *x, *y, *z = NULL;
    if (!PyArg_ParseTuple(o, "sO|OO", &what, &x, &y, &z))
        return NULL;
    if (strcmp(what, "const") == 0)
        return expr_const(&b->exprs, x);
    if (strcmp(what, "un") == 0)
        return operation(b, what, PyUnicode_READ_CHAR(x, 0), y, NULL);
    if (strcmp(what, "bin") == 0 || strcmp(what, "cmp") == 0)
        return operation(b, what, (int)PyLong_AsLong(x), y, z);
    Source *s = to_source(b, x);
    if (s == NULL)
        return NULL;
    return strcmp(what, "len") == 0 ? expr_len(&b->exprs, s, y)
                                    : expr_leaf(&b->exprs, s, y);
}

static Status add_expr(Bench *b, int kind, PyObject *g)
{
    Expr *e = to_expr(b, PyTuple_GET_ITEM(g, 1));
    if (e == NULL)
        return ST_ERROR;
    if (kind == GUARD_NORAISE)
        return guard_noraise(&b->list, e);
    if (kind == GUARD_VALUE)
        return guard_leaves(&b->list, e);
    return guard_pred(&b->list, e, PyObject_IsTrue(PyTuple_GET_ITEM(g, 2)));
}

static Status add_distinct(Bench *b, PyObject *list)
{
    Source *group[256];
    Py_ssize_t n = PyList_GET_SIZE(list);
    for (Py_ssize_t i = 0; i < n && i < 256; i++)
        if ((group[i] = to_source(b, PyList_GET_ITEM(list, i))) == NULL)
            return ST_ERROR;
    return guard_different(&b->list, group, (size_t)n);
}

static Status add_bytes(Bench *b, int kind, Source *s, PyObject *bytes)
{
    size_t size = (size_t)PyBytes_GET_SIZE(bytes) + 1;
    char *copy = arena_alloc(&b->arena, size);
    TRY_PTR(copy);
    memcpy(copy, PyBytes_AS_STRING(bytes), size);
    return guard_add(
        &b->list, (Guard){ .kind = (GuardKind)kind, .src = s, .p = copy, .size = size });
}

static Status add_on_source(Bench *b, int kind, PyObject *g)
{
    Source *s = to_source(b, PyTuple_GET_ITEM(g, 1));
    PyObject *x = PyTuple_GET_SIZE(g) > 2 ? PyTuple_GET_ITEM(g, 2) : NULL;
    PyObject *y = PyTuple_GET_SIZE(g) > 3 ? PyTuple_GET_ITEM(g, 3) : NULL;
    if (s == NULL)
        return ST_ERROR;
    switch (kind) {
    case GUARD_ALIAS: {
        Source *other = to_source(b, x);
        return other ? guard_add(&b->list,
                                 (Guard){ .kind = GUARD_ALIAS, .src = s, .other = other })
                     : ST_ERROR;
    }
    case GUARD_HASNEXT:
        return guard_has_next(&b->list, s, PyObject_IsTrue(x),
                              y ? PyLong_AsSsize_t(y) : 0);
    case GUARD_LEN:
    case GUARD_NONEMPTY:
    case GUARD_NDEFAULTS:
        return guard_num(&b->list, (GuardKind)kind, s, PyLong_AsSsize_t(x));
    case GUARD_TENSOR: return add_bytes(b, kind, s, x);
    default: return guard_obj(&b->list, (GuardKind)kind, s, x);
    }
}

static Status add_guard(Bench *b, PyObject *g)
{
    int kind = named(PyTuple_GET_ITEM(g, 0), guard_names, COUNT_OF(guard_names));
    PyObject *subject = kind < 0 ? NULL : PyTuple_GET_ITEM(g, 1);
    if (kind < 0)
        return ST_ERROR;
    if (kind == GUARD_PRED || kind == GUARD_NORAISE || kind == GUARD_VALUE)
        return add_expr(b, kind, g);
    if (kind == GUARD_DISTINCT)
        return add_distinct(b, subject);
    if (kind == GUARD_AMBIENT)
        return add_bytes(b, kind, NULL, subject);
    if (kind == GUARD_CLASSATTR)
        return guard_class(&b->list, (PyTypeObject *)subject, PyTuple_GET_ITEM(g, 2),
                           PyTuple_GET_SIZE(g) > 3 ? PyTuple_GET_ITEM(g, 3) : NULL);
    return add_on_source(b, kind, g);
}

static bool bench_init(Bench *b)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->arena);
    b->list = (GuardList){ .arena = &b->arena, .journal = &b->journal };
    return sources_init(&b->sources, &b->arena) == 0 &&
           exprs_init(&b->exprs, &b->arena) == 0;
}

static void bench_free(Bench *b)
{
    arena_free(&b->arena);
    journal_free(&b->journal);
}

static bool record(Bench *b, PyObject *guards)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(guards); i++)
        if (add_guard(b, PyList_GET_ITEM(guards, i)) != ST_OK)
            return false;
    return true;
}

static Guards *freeze(Bench *b, PyObject *exports, PyObject *names)
{
    Export x[256] = { 0 };
    Py_ssize_t n = PyList_GET_SIZE(exports);
    for (Py_ssize_t i = 0; i < n && i < 256; i++) {
        PyObject *o = PyList_GET_ITEM(exports, i), *first = PyTuple_GET_ITEM(o, 0);
        if (PyUnicode_CompareWithASCIIString(first, "expr") == 0)
            x[i].expr = to_expr(b, PyTuple_GET_ITEM(o, 1));
        else
            x[i].src = to_source(b, o);
        if (!x[i].expr && !x[i].src)
            return NULL;
    }
    return guards_freeze(&b->list, x, (int)n, names == Py_None ? NULL : names);
}

/* -- Methods ---------------------------------------------------------------- */

static void free_capsule(PyObject *capsule)
{
    guards_free(PyCapsule_GetPointer(capsule, "guards"));
}

static PyObject *build(PyObject *self, PyObject *args)
{
    PyObject *guards, *exports = NULL, *names = Py_None, *none = PyList_New(0);
    Bench b;
    Guards *g = NULL;
    if (none && PyArg_ParseTuple(args, "O!|O!O", &PyList_Type, &guards, &PyList_Type,
                                 &exports, &names)) {
        if (bench_init(&b) && record(&b, guards))
            g = freeze(&b, exports ? exports : none, names);
        bench_free(&b);
    }
    Py_XDECREF(none);
    return g ? PyCapsule_New(g, "guards", free_capsule) : NULL;
}

typedef struct Call {
    Guards *g;
    PyObject *func, *exc, *slots[64];
    int n;
} Call;

static bool call_parse(PyObject *args, Call *c, long *times)
{
    PyObject *capsule, *slots;
    *c = (Call){ 0 };
    if (!PyArg_ParseTuple(args, "OO!|OOl", &capsule, &PyTuple_Type, &slots, &c->func,
                          &c->exc, times))
        return false;
    c->g = PyCapsule_GetPointer(capsule, "guards");
    c->n = (int)PyTuple_GET_SIZE(slots);
    for (int i = 0; i < c->n && i < 64; i++) {
        PyObject *o = PyTuple_GET_ITEM(slots, i);
        c->slots[i] = o == Py_NotImplemented ? NULL : o;
    }
    c->func = c->func == Py_None ? NULL : c->func;
    c->exc = c->exc == Py_None ? NULL : c->exc;
    return c->g != NULL;
}

static PyObject *run(PyObject *self, PyObject *args)
{
    Call c;
    long times;
    PyObject *out[256];
    if (!call_parse(args, &c, &times))
        return NULL;
    if (!guards_check(c.g, c.func, c.slots, c.n, c.exc, out))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyObject *t = PyTuple_New(guards_nexports(c.g));
    for (int i = 0; t && i < guards_nexports(c.g); i++)
        PyTuple_SET_ITEM(t, i, out[i]);
    return t;
}

static PyObject *why(PyObject *self, PyObject *args)
{
    Call c;
    long times;
    return call_parse(args, &c, &times) ? guards_why(c.g, c.func, c.slots, c.n, c.exc)
                                        : NULL;
}

static PyObject *text(PyObject *self, PyObject *capsule)
{
    Guards *g = PyCapsule_GetPointer(capsule, "guards");
    return g ? guards_text(g) : NULL;
}

static PyObject *time_(PyObject *self, PyObject *args)
{
    Call c;
    long times = 1;
    PyObject *out[256];
    struct timespec a, b;
    if (!call_parse(args, &c, &times))
        return NULL;
    bool ok = true;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < times && ok; i++) {
        ok = guards_check(c.g, c.func, c.slots, c.n, c.exc, out);
        for (int k = 0; ok && k < guards_nexports(c.g); k++)
            Py_DECREF(out[k]);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    return ok ? PyFloat_FromDouble(ns / (double)times) : Py_NewRef(Py_None);
}

/* Text of what was recorded for an expression: (text, total, small, size, value). */
static PyObject *express(PyObject *self, PyObject *o)
{
    Bench b;
    Text t = { 0 };
    PyObject *r = NULL;
    Expr *e = bench_init(&b) ? to_expr(&b, o) : NULL;
    if (e != NULL) {
        expr_print(&t, e, NULL);
        r = Py_BuildValue("(NOOiO)", text_take(&t), expr_total(e) ? Py_True : Py_False,
                          expr_small(e) ? Py_True : Py_False, (int)e->size, e->value);
    }
    bench_free(&b);
    return r;
}

static PyObject *name_source(PyObject *self, PyObject *args)
{
    Bench b;
    Text t = { 0 };
    PyObject *o, *names = NULL, *r = NULL;
    if (!PyArg_ParseTuple(args, "O|O", &o, &names))
        return NULL;
    Source *s = bench_init(&b) ? to_source(&b, o) : NULL;
    if (s != NULL) {
        source_print(&t, s, names);
        r = text_take(&t);
    }
    bench_free(&b);
    return r;
}

/* Are two sources one node? */
static PyObject *same_source(PyObject *self, PyObject *args)
{
    Bench b;
    PyObject *x, *y;
    if (!PyArg_ParseTuple(args, "OO", &x, &y))
        return NULL;
    Source *s = bench_init(&b) ? to_source(&b, x) : NULL,
           *t = s ? to_source(&b, y) : NULL;
    bench_free(&b);
    return t ? PyBool_FromLong(s == t) : NULL;
}

/* Number of guards recorded, and again after a rewind to the state before. */
static PyObject *count(PyObject *self, PyObject *args)
{
    Bench b;
    PyObject *first, *second, *r = NULL;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &first, &PyList_Type, &second))
        return NULL;
    if (bench_init(&b) && record(&b, first)) {
        size_t mark = b.journal.n, before = b.list.g.n;
        if (record(&b, second)) {
            size_t with = b.list.g.n;
            journal_rewind(&b.journal, mark);
            size_t after = b.list.g.n;
            if (record(&b, second))
                r = Py_BuildValue("(nnnn)", before, with, after, b.list.g.n);
        }
    }
    bench_free(&b);
    return r;
}

/* -- Maps ------------------------------------------------------------------- */

typedef struct MapRun {
    Arena arena;
    Journal journal;
    KeyMap map;
    size_t marks[256];
    int nmarks;
} MapRun;

static PyObject *items(const KeyMap *m)
{
    PyObject *list = PyList_New(0);
    size_t at = 0;
    for (KeyEntry *e; list && (e = keymap_next(m, &at));) {
        PyObject *pair = PyTuple_Pack(2, e->key, (PyObject *)e->value);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static bool map_step(MapRun *r, PyObject *op)
{
    const char *what;
    PyObject *key = NULL, *value = NULL;
    if (!PyArg_ParseTuple(op, "s|OO", &what, &key, &value))
        return false;
    Py_hash_t hash = key ? PyObject_Hash(key) : 0;
    if (strcmp(what, "put") == 0)
        return keymap_put(&r->map, &r->arena, &r->journal, key, hash, NULL, value);
    if (strcmp(what, "del") == 0)
        keymap_del(&r->map, &r->journal, key, hash);
    else if (strcmp(what, "clear") == 0)
        keymap_clear(&r->map, &r->journal);
    else if (strcmp(what, "mark") == 0)
        r->marks[r->nmarks++] = r->journal.n;
    else if (strcmp(what, "rewind") == 0 && r->nmarks)
        journal_rewind(&r->journal, r->marks[--r->nmarks]);
    return true;
}

static PyObject *map_items(PyObject *self, PyObject *ops)
{
    MapRun r = { .nmarks = 0 };
    PyObject *list = NULL;
    bool ok = true;
    arena_init(&r.arena);
    for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(ops); i++)
        ok = map_step(&r, PyList_GET_ITEM(ops, i));
    if (ok)
        list = items(&r.map);
    arena_free(&r.arena);
    journal_free(&r.journal);
    return list;
}

/* -- Stand-ins for torch ---------------------------------------------------- */

static long ambient_now;

static bool fake_tensor(PyObject *obj, const void *meta)
{
    return strcmp(Py_TYPE(obj)->tp_name, meta) == 0;
}

static bool fake_ambient(const void *ambient)
{
    return strtol(ambient, NULL, 10) == ambient_now;
}

/* None puts torch's own checks back. */
static PyObject *fake_torch(PyObject *self, PyObject *ambient)
{
    static bool (*tensor)(PyObject *, const void *), (*state)(const void *);
    static PyObject *(*why)(PyObject *, const void *);
    bool faked = guard_tensor_check == fake_tensor;
    if (!faked) {
        tensor = guard_tensor_check;
        state = guard_ambient_check;
        why = guard_tensor_why;
    }
    bool back = ambient == Py_None;
    ambient_now = back ? 0 : PyLong_AsLong(ambient);
    guard_tensor_check = back ? tensor : fake_tensor;
    guard_ambient_check = back ? state : fake_ambient;
    guard_tensor_why = back ? why : NULL;
    Py_RETURN_NONE;
}

static PyObject *peek(PyObject *self, PyObject *args)
{
    PyObject *it, *item = NULL;
    Py_ssize_t ahead = 0;
    if (!PyArg_ParseTuple(args, "O|n", &it, &ahead))
        return NULL;
    int r = cpy_iter_peek(it, ahead, &item);
    return r == 1 ? Py_BuildValue("(iN)", r, item) : Py_BuildValue("(i)", r);
}

static PyObject *iter_check(PyObject *self, PyObject *none)
{
    return cpy_iter_check() < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *blocks(PyObject *self, PyObject *none)
{
    return PyLong_FromSsize_t(mem_blocks);
}

PyMethodDef guard_selftest_methods[] = {
    { "guard_build", build, METH_VARARGS,
      "guard_build(guards, exports=[], slot_names=None)" },
    { "guard_run", run, METH_VARARGS,
      "guard_run(program, slots, func=None, exc=None) -> tuple or None" },
    { "guard_why", why, METH_VARARGS,
      "guard_why(program, slots, func=None, exc=None) -> str" },
    { "guard_text", text, METH_O, "guard_text(program) -> str" },
    { "guard_time", time_, METH_VARARGS,
      "guard_time(program, slots, func, exc, times) -> ns a check" },
    { "guard_count", count, METH_VARARGS,
      "guard_count(guards, more) -> lengths around a rewind" },
    { "guard_fake_torch", fake_torch, METH_O,
      "guard_fake_torch(ambient): a tensor is known by its type's name" },
    { "guard_blocks", blocks, METH_NOARGS, "guard_blocks() -> raw blocks held" },
    { "expr_text", express, METH_O, "expr_text(e) -> (text, total, small, size, value)" },
    { "source_text", name_source, METH_VARARGS,
      "source_text(source, slot_names=None) -> str" },
    { "source_same", same_source, METH_VARARGS, "source_same(a, b): are they one node?" },
    { "map_items", map_items, METH_O,
      "map_items(operations) -> items of a KeyMap afterwards" },
    { "iter_peek", peek, METH_VARARGS,
      "iter_peek(iterator, ahead=0) -> (status[, item])" },
    { "iter_check", iter_check, METH_NOARGS, "iter_check(): layouts are as described" },
    { NULL },
};
