/*
 * builtin/paths.c -- resolving dotted names against sys.modules, without importing.
 */
#include "builtin/paths.h"

struct Waiting {
    const char *path;
    const void *row;
    Waiting *next;
};

/* -- Finding objects: borrowed, and never an exception -------------------------- */

/* The longest prefix that is a loaded module; *rest is what follows. */
static PyObject *module_of(const char *path, const char **rest)
{
    PyObject *modules = PyImport_GetModuleDict(), *found = NULL;
    char name[128];
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        size_t n = (size_t)(dot - path);
        assert(n < sizeof name);
        memcpy(name, path, n);
        name[n] = 0;
        PyObject *m = PyDict_GetItemString(modules, name);
        if (m == NULL)
            continue;
        found = m;
        *rest = dot + 1;
    }
    return found;
}

PyObject *paths_class_entry(PyTypeObject *t, const char *name)
{
    PyObject *mro = t->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *o = base->tp_dict ? PyDict_GetItemString(base->tp_dict, name) : NULL;
        if (o != NULL)
            return o;
    }
    return NULL;
}

/* As a class attribute is seen by callers: the function inside a staticmethod. The table keeps it. */
static PyObject *unwrap_static(PathTable *t, PyObject *o)
{
    if (o == NULL || !Py_IS_TYPE(o, &PyStaticMethod_Type))
        return o;
    return arena_hold(&t->arena, PyObject_GetAttrString(o, "__func__"));
}

/* The raw entry of a module or class: what attribute lookup starts from, never a bound thing. */
static PyObject *step(PathTable *t, PyObject *base, const char *s, size_t n)
{
    char name[128];
    assert(n < sizeof name);
    memcpy(name, s, n);
    name[n] = 0;
    if (PyType_Check(base))
        return unwrap_static(t, paths_class_entry((PyTypeObject *)base, name));
    return PyModule_Check(base) ? PyDict_GetItemString(PyModule_GetDict(base), name)
                                : NULL;
}

/* *all: the path ended in `*`. */
static PyObject *resolve(PathTable *t, const char *path, bool *all)
{
    const char *rest = NULL;
    PyObject *o = module_of(path, &rest);
    *all = false;
    while (o != NULL && rest != NULL) {
        const char *dot = strchr(rest, '.');
        *all = dot == NULL && strcmp(rest, "*") == 0;
        if (*all)
            break;
        o = step(t, o, rest, dot ? (size_t)(dot - rest) : strlen(rest));
        rest = dot ? dot + 1 : NULL;
    }
    return o;
}

/* -- Registering ------------------------------------------------------------ */

/* What all objects made of one function of a C module share: a module that is imported afresh makes new ones. NULL: obj is
 * no such function. */
static const void *definition(PyObject *obj)
{
    if (!PyCFunction_CheckExact(obj))
        return NULL;
    const PyCFunctionObject *f = (const PyCFunctionObject *)obj;
    if (f->m_self == NULL || !PyModule_CheckExact(f->m_self))
        return NULL;
    const PyModuleDef *def = PyModule_GetDef(f->m_self);
    PyErr_Clear();
    for (const PyMethodDef *m = def ? def->m_methods : NULL; m && m->ml_name; m++)
        if (m == f->m_ml)
            return m;
    return NULL;
}

static int add_key(PathTable *t, const void *key, const void *row)
{
    PathHit *hit = arena_alloc(&t->arena, sizeof *hit);
    if (hit == NULL)
        return -1;
    hit->row = row;
    void *first = NULL;
    if (ptrmap_get(&t->map, key, &first)) {
        PathHit *last = first;
        while (last->next)
            last = last->next;
        last->next = hit;
        return 0;
    }
    bool ok = ptrmap_put(&t->map, &t->arena, &t->journal, key, hit);
    t->journal.n = 0;
    return ok ? 0 : -1;
}

int paths_add_object(PathTable *t, PyObject *obj, const void *row)
{
    const void *def = definition(obj);
    if (arena_hold(&t->arena, Py_NewRef(obj)) == NULL || add_key(t, obj, row) < 0)
        return -1;
    return def ? add_key(t, def, row) : 0;
}

static bool c_callable(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    return t == &PyCFunction_Type || t == &PyMethodDescr_Type ||
           t == &PyWrapperDescr_Type || t == &PyClassMethodDescr_Type ||
           t == &PyStaticMethod_Type;
}

/* What must not be taken by a wildcard: it changes or makes things instead of computing. */
static bool excluded(PyObject *name)
{
    static const char *const names[] = {
        "__setattr__",       "__delattr__",      "__init__",   "__new__",
        "__init_subclass__", "__subclasshook__", "__reduce__", "__reduce_ex__",
        "__getattribute__",  "__setstate__",     "__sizeof__", "__dir__",
        "__class_getitem__"
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0)
            return true;
    return false;
}

static int add_all(PathTable *t, PyObject *base, const void *row)
{
    PyObject *dict =
        PyType_Check(base) ? ((PyTypeObject *)base)->tp_dict : PyModule_GetDict(base);
    PyObject *name, *o;
    Py_ssize_t pos = 0;
    while (PyDict_Next(dict, &pos, &name, &o)) {
        if (!c_callable(o) || excluded(name))
            continue;
        PyObject *callable = unwrap_static(t, o);
        if (callable == NULL || paths_add_object(t, callable, row) < 0)
            return -1;
    }
    return 0;
}

/* 1: registered, 0: not there yet. */
static int try_path(PathTable *t, const char *path, const void *row)
{
    bool all;
    PyObject *o = resolve(t, path, &all);
    if (o == NULL)
        return 0;
    int r = all ? add_all(t, o, row) : paths_add_object(t, o, row);
    return r < 0 ? -1 : 1;
}

int paths_add(PathTable *t, const char *path, const void *row)
{
    int r = try_path(t, path, row);
    if (r != 0)
        return r < 0 ? -1 : 0;
    Waiting *w = arena_alloc(&t->arena, sizeof *w);
    if (w == NULL)
        return -1;
    *w = (Waiting){ path, row, NULL };
    Waiting **end = &t->waiting; /* registration order is the order of rows */
    while (*end)
        end = &(*end)->next;
    *end = w;
    return 0;
}

static void retry(PathTable *t)
{
    for (Waiting **at = &t->waiting; *at;) {
        int r = try_path(t, (*at)->path, (*at)->row);
        if (r != 0)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    PyErr_Clear();
}

const PathHit *paths_find(PathTable *t, PyObject *obj)
{
    Py_ssize_t n = PyDict_GET_SIZE(PyImport_GetModuleDict());
    if (t->waiting != NULL && n != t->nmodules) {
        t->nmodules = n;
        retry(t);
    }
    void *hit = NULL;
    if (ptrmap_get(&t->map, obj, &hit))
        return hit;
    const void *def = definition(obj);
    return def && ptrmap_get(&t->map, def, &hit) ? hit : NULL;
}
