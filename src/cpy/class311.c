/*
 * cpy/class311.c -- classes made without running what the program has written for that moment: CPython 3.11.
 *
 * Takes: metaclass, name, bases and namespace. Gives: the class type.__new__ makes of them, though no __set_name__ and no
 * __init_subclass__ has run: the trace has followed those already. Holds nothing.
 */
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#include "cpy/cpy.h"

static PyObject *nothing(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)
{
    Py_RETURN_NONE;
}

static PyMethodDef nothing_def = { "__init_subclass__",
                                   (PyCFunction)(void (*)(void))nothing,
                                   METH_FASTCALL | METH_KEYWORDS, NULL };

/* -- Hooks of the bases ------------------------------------------------------------- */

/* In every class of the MRO that has one of its own, the hook is `quiet`; `saved` gets (dictionary, hook). */
static int mute(PyTypeObject *base, PyObject *name, PyObject *quiet, PyObject *saved)
{
    PyObject *mro = base->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *t = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *hook =
            t->tp_flags & Py_TPFLAGS_HEAPTYPE ? PyDict_GetItem(t->tp_dict, name) : NULL;
        if (hook == NULL || hook == quiet)
            continue;
        PyObject *pair = PyTuple_Pack(2, t->tp_dict, hook);
        int bad = pair == NULL || PyList_Append(saved, pair) < 0;
        Py_XDECREF(pair);
        if (bad || PyDict_SetItem(t->tp_dict, name, quiet) < 0)
            return -1;
    }
    return 0;
}

static int mute_all(PyObject *bases, PyObject *name, PyObject *quiet, PyObject *saved)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bases); i++) {
        PyObject *base = PyTuple_GET_ITEM(bases, i);
        if (PyType_Check(base) && mute((PyTypeObject *)base, name, quiet, saved) < 0)
            return -1;
    }
    return 0;
}

static void restore(PyObject *saved, PyObject *name)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(saved); i++) {
        PyObject *pair = PyList_GET_ITEM(saved, i);
        PyDict_SetItem(PyTuple_GET_ITEM(pair, 0), name, PyTuple_GET_ITEM(pair, 1));
    }
}

/* -- Values that want to know their name ----------------------------------------------- */

/* They wait in `late`; None keeps their place in the namespace. */
static int take_late(PyObject *ns, PyObject *late)
{
    PyObject *set_name = PyUnicode_InternFromString("__set_name__"), *key, *value;
    Py_ssize_t at = 0;
    int bad = set_name == NULL;
    while (!bad && PyDict_Next(ns, &at, &key, &value)) {
        if (cpy_type_lookup(Py_TYPE(value), set_name) == NULL)
            continue;
        bad =
            PyDict_SetItem(late, key, value) < 0 || PyDict_SetItem(ns, key, Py_None) < 0;
    }
    Py_XDECREF(set_name);
    return bad ? -1 : 0;
}

static int put_late(PyObject *cls, PyObject *late)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(late, &at, &key, &value)) {
        PyObject *meta = cpy_type_lookup(Py_TYPE(cls), key);
        bool taken = meta && Py_TYPE(meta)->tp_descr_set; /* a store would go to it */
        int bad = taken ? PyDict_SetItem(((PyTypeObject *)cls)->tp_dict, key, value)
                        : PyType_Type.tp_setattro(cls, key, value);
        if (bad < 0)
            return -1;
    }
    PyType_Modified((PyTypeObject *)cls);
    return 0;
}

/* -- Making ----------------------------------------------------------------------------- */

static PyObject *make(PyTypeObject *meta, PyObject *args, PyObject *bases)
{
    PyObject *name = PyUnicode_InternFromString("__init_subclass__");
    PyObject *quiet = PyCFunction_New(&nothing_def, NULL), *saved = PyList_New(0),
             *made = NULL;
    int collecting = PyGC_Disable(); /* no finalizer runs while hooks are muted */
    if (name && quiet && saved && mute_all(bases, name, quiet, saved) == 0)
        made = PyType_Type.tp_new(meta, args, NULL);
    if (saved && name) {
        PyObject *type, *value, *tb;
        PyErr_Fetch(&type, &value, &tb);
        restore(saved, name);
        PyErr_Restore(type, value, tb);
    }
    if (collecting)
        PyGC_Enable();
    Py_XDECREF(name);
    Py_XDECREF(quiet);
    Py_XDECREF(saved);
    return made;
}

PyObject *cpy_class_new(PyTypeObject *meta, PyObject *name, PyObject *bases, PyObject *ns)
{
    PyObject *late = PyDict_New();
    PyObject *args =
        late && take_late(ns, late) == 0 ? PyTuple_Pack(3, name, bases, ns) : NULL;
    PyObject *made = args ? make(meta, args, bases) : NULL;
    if (made && put_late(made, late) < 0)
        Py_CLEAR(made);
    Py_XDECREF(args);
    Py_XDECREF(late);
    return made;
}

/* -- Properties -------------------------------------------------------------------------- */

/* The start of descrobject.c's property object. */
typedef struct PropertyHead {
    PyObject_HEAD PyObject *get, *set, *del, *doc, *name;
} PropertyHead;

PyObject *cpy_property_name(PyObject *property)
{
    return ((PropertyHead *)property)->name;
}

/* -- ABCs ------------------------------------------------------------------------------- */

/* The start of _abc's module state. */
typedef struct AbcState {
    PyTypeObject *data_type;
    unsigned long long counter;
} AbcState;

/* The counter where it lies; NULL: not where it is expected. */
static const unsigned long long *abc_counter(PyObject *module)
{
    AbcState *state = module && PyModule_Check(module) ? PyModule_GetState(module) : NULL;
    PyObject *n = state ? PyObject_CallMethod(module, "get_cache_token", NULL) : NULL;
    bool here = n && PyLong_AsUnsignedLongLong(n) == state->counter;
    Py_XDECREF(n);
    PyErr_Clear();
    return here ? &state->counter : NULL;
}

unsigned cpy_abc_token(void)
{
    static const unsigned long long *counter;
    if (__builtin_expect(counter == NULL, 0)) {
        PyObject *module =
            PyImport_ImportModule("_abc"); /* lives as long as the interpreter */
        counter = abc_counter(module);
        Py_XDECREF(module);
    }
    return counter ? (unsigned)*counter : 0;
}

/* -- Models ------------------------------------------------------------------------------ */

void cpy_class_hide(PyTypeObject *t, PyTypeObject *base)
{
    PyObject *key = PyLong_FromVoidPtr(t), *known = base->tp_subclasses;
    if (key && known && PyDict_Contains(known, key) == 1)
        PyDict_DelItem(known, key);
    Py_XDECREF(key);
    PyErr_Clear();
}

void cpy_class_empty(PyTypeObject *t)
{
    PyObject *key, *value, *pending[3];
    Py_ssize_t at = 0;
    PyErr_Fetch(&pending[0], &pending[1], &pending[2]);
    while (PyDict_Next(t->tp_dict, &at, &key, &value))
        PyDict_SetItem(t->tp_dict, key, Py_None);
    PyType_Modified(t);
    PyErr_Restore(pending[0], pending[1], pending[2]);
}

#endif
