/*
 * guard/pin.c -- how an entry may compare addresses without owning user objects.
 *
 * An address means something only while the object that had it is alive. What nobody can
 * miss (None, static types, functions of C modules) is owned. Everything else that supports it gets a
 * weak reference whose callback ends the entry: the object is gone, so no later call can
 * find it. A module's globals stand and fall with the module. The few others (a list or an
 * ndarray compared by identity) are owned; that is the exception to "entries own no user
 * objects", and it cannot form a cycle through code objects unless they lead back to it.
 */
#include "guard/program.h"
#include "base/map.h"
#include "base/same.h"
#include "cpy/cpy.h"

/* -- Lives ------------------------------------------------------------------ */

static void capsule_free(PyObject *capsule)
{
    mem_free(PyCapsule_GetPointer(capsule, NULL));
}

static PyObject *end_life(PyObject *capsule, PyObject *ref)
{
    Life *life = PyCapsule_GetPointer(capsule, NULL);
    if (life == NULL)
        return NULL;
    life->dead = true;
    Py_RETURN_NONE;
}

static PyMethodDef end_life_def = { "end_life", end_life, METH_O, NULL };

bool pins_init(Pins *p, Arena *arena, Journal *journal)
{
    *p = (Pins){ .arena = arena, .journal = journal };
    cpy_own_callback = end_life;
    p->life = mem_alloc(sizeof *p->life);
    p->capsule = p->life ? PyCapsule_New(p->life, NULL, capsule_free) : NULL;
    if (p->capsule == NULL) {
        mem_free(p->life);
        return false;
    }
    p->callback = PyCFunction_New(&end_life_def, p->capsule);
    if (p->callback == NULL)
        Py_CLEAR(p->capsule);
    return p->callback != NULL;
}

void pins_drop(Pins *p)
{
    for (size_t i = 0; i < p->held.n; i++)
        Py_DECREF(p->held.v[i]);
    p->held.n = 0;
    Py_CLEAR(p->callback);
    Py_CLEAR(p->capsule);
}

/* -- Owning and pinning ----------------------------------------------------- */

/* Steals. */
static void keep(Pins *p, PyObject *obj)
{
    if (obj && VEC_PUSH(p->arena, p->journal, &p->held, obj))
        return;
    Py_XDECREF(obj);
    p->failed = true;
}

void *pins_own(Pins *p, PyObject *obj)
{
    keep(p, Py_NewRef(obj));
    return obj;
}

static bool weakly(PyObject *obj)
{
    return PyType_SUPPORTS_WEAKREFS(Py_TYPE(obj));
}

/* Lives as long as the process, in all likelihood. */
static bool lasting(PyObject *obj)
{
    if (PyType_Check(obj))
        return !(((PyTypeObject *)obj)->tp_flags & Py_TPFLAGS_HEAPTYPE);
    if (PyCFunction_CheckExact(obj)) {
        PyObject *self = PyCFunction_GET_SELF(obj);
        return self == NULL || PyModule_CheckExact(self);
    }
    return !weakly(obj);
}

/* The module whose globals a dict is; borrowed or NULL. */
static PyObject *module_of(PyObject *dict)
{
    PyObject *name =
        PyDict_CheckExact(dict) ? PyDict_GetItemString(dict, "__name__") : NULL;
    PyObject *modules = PyImport_GetModuleDict();
    if (name == NULL || !PyUnicode_CheckExact(name) || !PyDict_CheckExact(modules))
        return NULL;
    PyObject *m = PyDict_GetItem(modules, name);
    return m && PyModule_Check(m) && PyModule_GetDict(m) == dict ? m : NULL;
}

void *pins_pin(Pins *p, PyObject *obj)
{
    if (ptrmap_get(&p->pinned, obj, NULL))
        return obj;
    if (!ptrmap_put(&p->pinned, p->arena, p->journal, obj, NULL)) {
        p->failed = true;
        return obj;
    }
    PyObject *module = PyDict_CheckExact(obj) ? module_of(obj) : NULL;
    if (module)
        pins_pin(p, module);
    else if (lasting(obj))
        pins_own(p, obj);
    else
        keep(p, PyWeakref_NewRef(obj, p->callback));
    return obj;
}

/* -- Keys and members ------------------------------------------------------- */

/* An entry that owned a code object might hang on that one. */
void *pins_key(Pins *p, PyObject *obj)
{
    return key_plain(obj) && !PyCode_Check(obj) ? pins_own(p, obj) : pins_pin(p, obj);
}

/* A weak reference to obj if that is possible and sensible, else obj. New reference. */
static PyObject *weak_or_self(PyObject *obj)
{
    if (!weakly(obj) || lasting(obj))
        return Py_NewRef(obj);
    return PyWeakref_NewRef(obj, NULL);
}

static bool all_plain(PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (!key_plain(PyList_GET_ITEM(list, i)))
            return false;
    return true;
}

/* Objects in it give way to weak references. */
static bool loosen(Pins *p, PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *obj = PyList_GET_ITEM(list, i);
        if (key_plain(obj))
            continue;
        PyObject *kept = weak_or_self(obj);
        if (kept == NULL)
            return false;
        pins_pin(p, obj);
        PyList_SetItem(list, i, kept);
    }
    return !p->failed;
}

PyObject *pins_members(Pins *p, PyObject *members, bool in_order)
{
    PyObject *list = PySequence_List(members);
    bool plain = list && all_plain(list);
    PyObject *kept = list == NULL || (!plain && !loosen(p, list)) ? NULL
                     : in_order                                   ? PyList_AsTuple(list)
                     : plain                                      ? PyFrozenSet_New(list)
                                                                  : Py_NewRef(list);
    Py_XDECREF(list);
    keep(p, kept);
    return kept;
}

/* -- Values in classes ------------------------------------------------------ */

/* Descriptors that cannot be referred to weakly, and the functions in them. */
static const struct {
    PyTypeObject *type;
    const char *parts[3];
} containers[] = {
    { &PyProperty_Type, { "fget", "fset", "fdel" } },
    { &PyStaticMethod_Type, { "__func__" } },
    { &PyClassMethod_Type, { "__func__" } },
};

static const char *const *parts_of(PyTypeObject *t)
{
    for (size_t i = 0; i < COUNT_OF(containers); i++)
        if (containers[i].type == t)
            return containers[i].parts;
    return NULL;
}

static bool c_descriptor(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    return t == &PyMemberDescr_Type || t == &PyGetSetDescr_Type ||
           t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type ||
           t == &PyClassMethodDescr_Type;
}

/* New tuple of what is kept of each part. */
static PyObject *keep_parts(PyObject *value, const char *const *names)
{
    PyObject *kept = PyTuple_New(3);
    for (Py_ssize_t i = 0; kept && i < 3 && names[i]; i++) {
        PyObject *part = PyObject_GetAttrString(value, names[i]);
        PyObject *one = part ? weak_or_self(part) : NULL;
        Py_XDECREF(part);
        if (one == NULL)
            Py_CLEAR(kept);
        else
            PyTuple_SET_ITEM(kept, i, one);
    }
    return kept;
}

static bool parts_hold(PyObject *kept, PyObject *value, const char *const *names)
{
    for (Py_ssize_t i = 0; i < 3 && names[i]; i++) {
        PyObject *part = PyObject_GetAttrString(value, names[i]);
        bool same = part && kept_is(PyTuple_GET_ITEM(kept, i), part);
        Py_XDECREF(part); /* the descriptor still owns it */
        if (!same) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

static bool is_mro(PyObject *name)
{
    return strcmp(PyUnicode_AsUTF8(name), "__mro__") == 0;
}

static bool same_mro(PyObject *kept, PyObject *mro)
{
    bool same = PyTuple_GET_SIZE(kept) == PyTuple_GET_SIZE(mro);
    for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(mro); i++)
        same = kept_is(PyTuple_GET_ITEM(kept, i), PyTuple_GET_ITEM(mro, i));
    return same;
}

PyObject *attr_now(const ClassRef *c, const ClassAttr *attr)
{
    return attr->kind == ATTR_MRO ? c->type->tp_mro
                                  : cpy_type_lookup(c->type, attr->name);
}

void pins_attr(Pins *p, ClassAttr *attr, PyObject *value)
{
    const char *const *parts = parts_of(Py_TYPE(value));
    attr->obj = NULL;
    if (is_mro(attr->name) && PyTuple_CheckExact(value)) {
        attr->kind = ATTR_MRO;
        attr->obj = pins_members(p, value, true);
    } else if (parts) {
        attr->kind = ATTR_PARTS;
        attr->owner = Py_TYPE(value);
        keep(p, attr->obj = keep_parts(value, parts));
    } else if (c_descriptor(value)) {
        attr->kind = ATTR_DESCR;
        attr->owner = pins_pin(p, (PyObject *)PyDescr_TYPE(value));
        attr->obj = pins_own(p, PyDescr_NAME(value));
        pins_pin(p, (PyObject *)Py_TYPE(value));
    } else {
        PyObject *kept = weak_or_self(value);
        attr->kind = kept && kept != value ? ATTR_WEAK : ATTR_OWN;
        keep(p, attr->obj = kept);
    }
}

/* -- Counters of classes ---------------------------------------------------- */

/* Names of class attributes that held another number on a later call: they are read anew from then on, not pinned. */
static PyObject *restless;

static bool number(PyObject *o)
{
    return o && (PyLong_CheckExact(o) || PyFloat_CheckExact(o));
}

void attr_moved(const ClassAttr *attr, PyObject *value)
{
    if (attr->kind != ATTR_OWN || !number(attr->obj) || !number(value))
        return;
    if (restless == NULL)
        restless = PySet_New(NULL);
    if (restless == NULL || PySet_Add(restless, attr->name) < 0)
        PyErr_Clear(); /* one more compile, then */
}

bool class_counter(PyObject *name, PyObject *value, bool stored)
{
    return number(value) && (stored || (restless && PySet_Contains(restless, name) > 0));
}

/* value: what the lookup gives now, alive; NULL: nothing. */
bool attr_holds(const ClassAttr *attr, PyObject *value)
{
    if (value == NULL || attr->kind == ATTR_ABSENT)
        return value == NULL && attr->kind == ATTR_ABSENT;
    switch (attr->kind) {
    case ATTR_MRO: return same_mro(attr->obj, value);
    case ATTR_WEAK: return kept_is(attr->obj, value);
    case ATTR_PARTS:
        return (void *)Py_TYPE(value) == attr->owner &&
               parts_hold(attr->obj, value, parts_of(attr->owner));
    case ATTR_DESCR:
        return c_descriptor(value) && (void *)PyDescr_TYPE(value) == attr->owner &&
               PyDescr_NAME(value) == attr->obj;
    default: return value == attr->obj || const_same(value, attr->obj);
    }
}
