/*
 * cpy/inst311.c -- raw looks into instances, dicts and types of CPython 3.11.
 *
 * Gives: what instance and dict lookups would find, without creating dicts, running user
 * code or setting exceptions. All results are borrowed. Holds: nothing.
 */
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include "cpy/inner311.h"

/* -- Keys tables ---------------------------------------------------------------- */

static inline Py_ssize_t index_at(const PyDictKeysObject *k, size_t i)
{
    if (k->dk_log2_size < 8)
        return ((const int8_t *)k->dk_indices)[i];
    if (k->dk_log2_size < 16)
        return ((const int16_t *)k->dk_indices)[i];
    if (k->dk_log2_size < 32)
        return ((const int32_t *)k->dk_indices)[i];
    return ((const int64_t *)k->dk_indices)[i];
}

static inline PyObject *key_at(PyDictKeysObject *k, Py_ssize_t i)
{
    return DK_IS_UNICODE(k) ? DK_UNICODE_ENTRIES(k)[i].me_key : DK_ENTRIES(k)[i].me_key;
}

static inline Py_hash_t hash_at(PyDictKeysObject *k, Py_ssize_t i)
{
    return DK_IS_UNICODE(k) ? ((PyASCIIObject *)DK_UNICODE_ENTRIES(k)[i].me_key)->hash
                            : DK_ENTRIES(k)[i].me_hash;
}

/* Types whose instances compare among each other without user code. */
static bool tame(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    return t == &PyUnicode_Type || t == &PyLong_Type || t == &PyFloat_Type ||
           t == &PyBool_Type || t == &PyBytes_Type || t == &PyComplex_Type ||
           o == Py_None;
}

/* A stored key that might run user code equals nothing here. */
static bool equal(PyObject *stored, PyObject *key)
{
    if (PyUnicode_CheckExact(stored) && PyUnicode_CheckExact(key))
        return _PyUnicode_EQ(stored, key);
    return tame(stored) && tame(key) && PyObject_RichCompareBool(stored, key, Py_EQ) == 1;
}

/* Entry that holds the key, or -1. Probes as dicts do. */
static Py_ssize_t find(PyDictKeysObject *k, PyObject *key, Py_hash_t hash)
{
    size_t mask = ((size_t)1 << k->dk_log2_size) - 1;
    size_t perturb = (size_t)hash, i = (size_t)hash & mask;
    for (;;) {
        Py_ssize_t ix = index_at(k, i);
        if (ix == DKIX_EMPTY)
            return -1;
        if (ix >= 0) {
            PyObject *stored = key_at(k, ix);
            if (stored == key || (hash_at(k, ix) == hash && equal(stored, key)))
                return ix;
        }
        perturb >>= 5;
        i = (i * 5 + perturb + 1) & mask;
    }
}

static inline Py_ssize_t find_near(PyDictKeysObject *k, PyObject *key, Py_hash_t hash,
                                   Py_ssize_t *hint)
{
    Py_ssize_t i = *hint;
    if (__builtin_expect((size_t)i < (size_t)k->dk_nentries && key_at(k, i) == key, 1))
        return i;
    i = find(k, key, hash);
    if (i >= 0)
        *hint = i;
    return i;
}

/* -- Dicts ------------------------------------------------------------------------- */

PyObject *cpy_dict_get(PyObject *dict, PyObject *key, Py_hash_t hash, Py_ssize_t *hint)
{
    PyDictObject *d = (PyDictObject *)dict;
    PyDictKeysObject *k = d->ma_keys;
    if (!tame(key)) {
        PyObject *v = _PyDict_GetItem_KnownHash(dict, key, hash);
        if (v == NULL)
            PyErr_Clear();
        return v;
    }
    Py_ssize_t i = find_near(k, key, hash, hint);
    if (i < 0)
        return NULL;
    if (d->ma_values != NULL)
        return d->ma_values->values[i];
    return DK_IS_UNICODE(k) ? DK_UNICODE_ENTRIES(k)[i].me_value
                            : DK_ENTRIES(k)[i].me_value;
}

/* -- Instances ---------------------------------------------------------------------- */

static inline PyDictValues *inline_values(PyObject *obj)
{
    return PyType_HasFeature(Py_TYPE(obj), Py_TPFLAGS_MANAGED_DICT)
               ? *_PyObject_ValuesPointer(obj)
               : NULL;
}

/* Where the object keeps its dict; NULL if it cannot have one. */
static PyObject **dict_place(PyObject *obj)
{
    PyTypeObject *t = Py_TYPE(obj);
    if (PyType_HasFeature(t, Py_TPFLAGS_MANAGED_DICT))
        return _PyObject_ManagedDictPointer(obj);
    Py_ssize_t offset = t->tp_dictoffset;
    if (offset == 0)
        return NULL;
    if (offset < 0) {
        Py_ssize_t n = Py_SIZE(obj);
        offset += (Py_ssize_t)_PyObject_VAR_SIZE(t, n < 0 ? -n : n);
    }
    return (PyObject **)((char *)obj + offset);
}

static inline PyDictKeysObject *shared_keys(PyObject *obj)
{
    return ((PyHeapTypeObject *)Py_TYPE(obj))->ht_cached_keys;
}

int cpy_inst_find(PyObject *obj, PyObject *name, Py_ssize_t *hint, PyObject **value)
{
    *value = NULL;
    Py_hash_t hash = ((PyASCIIObject *)name)->hash;
    if (__builtin_expect(hash == -1, 0))
        hash = PyObject_Hash(name);
    PyDictValues *values = inline_values(obj);
    if (values != NULL) {
        Py_ssize_t i = find_near(shared_keys(obj), name, hash, hint);
        *value = i < 0 ? NULL : values->values[i];
        return *value != NULL;
    }
    PyObject **place = dict_place(obj);
    if (place == NULL)
        return -1;
    *value = *place == NULL ? NULL : cpy_dict_get(*place, name, hash, hint);
    return *value != NULL;
}

int cpy_inst_get(PyObject *obj, PyObject *name, PyObject **value)
{
    Py_ssize_t hint = -1;
    return cpy_inst_find(obj, name, &hint, value);
}

PyObject *cpy_inst_dict(PyObject *obj)
{
    if (inline_values(obj) != NULL)
        return NULL;
    PyObject **place = dict_place(obj);
    return place == NULL ? NULL : *place;
}

PyObject *cpy_inst_names(PyObject *obj)
{
    PyDictValues *values = inline_values(obj);
    if (values == NULL) {
        PyObject *dict = cpy_inst_dict(obj);
        return dict == NULL ? PyList_New(0) : PyDict_Keys(dict);
    }
    const uint8_t *order =
        (const uint8_t *)values - 2; /* [0] how many, [-1-i] entry of the i-th */
    PyObject *names = PyList_New(order[0]);
    for (int i = 0; names != NULL && i < order[0]; i++) {
        PyObject *key = key_at(shared_keys(obj), order[-1 - i]);
        PyList_SET_ITEM(names, i, Py_NewRef(key));
    }
    return names;
}

/* -- Types --------------------------------------------------------------------------- */

unsigned cpy_type_version(PyTypeObject *t)
{
    if (!PyType_HasFeature(t, Py_TPFLAGS_VALID_VERSION_TAG)) {
        static PyObject *name; /* a lookup that misses the cache assigns the tag */
        if (name == NULL && (name = PyUnicode_InternFromString("__class__")) == NULL) {
            PyErr_Clear();
            return 0;
        }
        _PyType_Lookup(t, name);
    }
    return PyType_HasFeature(t, Py_TPFLAGS_VALID_VERSION_TAG) ? t->tp_version_tag : 0;
}

static bool names_alone(PyObject *dict)
{
    PyObject *key;
    Py_ssize_t at = 0;
    if (DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys))
        return true;
    while (PyDict_Next(dict, &at, &key, NULL))
        if (!PyUnicode_CheckExact(key))
            return false;
    return true;
}

bool cpy_type_has_names(PyTypeObject *t)
{
    for (Py_ssize_t i = 0; t->tp_mro && i < PyTuple_GET_SIZE(t->tp_mro); i++) {
        PyObject *base = PyTuple_GET_ITEM(t->tp_mro, i);
        if (PyType_Check(base) && !names_alone(((PyTypeObject *)base)->tp_dict))
            return false;
    }
    return true;
}

PyObject *cpy_type_lookup(PyTypeObject *t, PyObject *name)
{
    return _PyType_Lookup(t, name);
}

#endif
