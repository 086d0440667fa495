/*
 * cpy/peek311.c -- tables of CPython 3.11: combined, split, and values inline in the object.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#include <internal/pycore_dict.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE
#include "base/map.h"
#include "cpy/peek.h"
#include "base/same.h"

enum { HINT_MAX = UINT16_MAX, ABSENT = -1, UNSAFE = -2 };

/* -- One table of keys -------------------------------------------------------- */

static Py_ssize_t index_at(const PyDictKeysObject *k, size_t i)
{
    if (k->dk_log2_size < 8)
        return ((const int8_t *)k->dk_indices)[i];
    if (k->dk_log2_size < 16)
        return ((const int16_t *)k->dk_indices)[i];
    if (k->dk_log2_size < 32)
        return ((const int32_t *)k->dk_indices)[i];
    return (Py_ssize_t)((const int64_t *)k->dk_indices)[i];
}

/* Constants, and instances of subclasses that compare as str or int do: members of enumerations with such a part. */
static bool compares_in_c(PyObject *o)
{
    richcmpfunc f = Py_TYPE(o)->tp_richcompare;
    return key_plain(o) || f == PyUnicode_Type.tp_richcompare ||
           f == PyLong_Type.tp_richcompare;
}

/* Comparison that a dict would make: 1, 0, or -1 if it would run user code. */
static int keys_equal(PyObject *a, PyObject *b)
{
    if (a == b)
        return 1;
    bool plain_a = compares_in_c(a), plain_b = compares_in_c(b);
    if (plain_a && plain_b) {
        int equal = PyObject_RichCompareBool(a, b, Py_EQ);
        if (equal < 0)
            PyErr_Clear();
        return equal;
    }
    richcmpfunc by_identity = PyBaseObject_Type.tp_richcompare;
    if ((plain_a || Py_TYPE(a)->tp_richcompare == by_identity) &&
        (plain_b || Py_TYPE(b)->tp_richcompare == by_identity))
        return 0;
    return -1;
}

static bool same_str(PyObject *a, PyObject *b)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(a);
    int kind = PyUnicode_KIND(a);
    return PyUnicode_GET_LENGTH(b) == n && (int)PyUnicode_KIND(b) == kind &&
           memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), (size_t)(n * kind)) == 0;
}

/* Position in a table whose keys are all exact strs. */
static Py_ssize_t find_str(const PyDictKeysObject *k, PyObject *key, Py_hash_t hash)
{
    size_t mask = ((size_t)1 << k->dk_log2_size) - 1, i = (size_t)hash & mask;
    const PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(k);
    for (size_t perturb = (size_t)hash;; i = (i * 5 + perturb + 1) & mask) {
        Py_ssize_t ix = index_at(k, i);
        if (ix == DKIX_EMPTY)
            return ABSENT;
        if (ix >= 0) {
            PyObject *other = entries[ix].me_key;
            if (other == key ||
                (((PyASCIIObject *)other)->hash == hash && same_str(other, key)))
                return ix;
        }
        perturb >>= 5;
    }
}

static Py_ssize_t find_general(const PyDictKeysObject *k, PyObject *key, Py_hash_t hash)
{
    size_t mask = ((size_t)1 << k->dk_log2_size) - 1, i = (size_t)hash & mask;
    const PyDictKeyEntry *entries = DK_ENTRIES(k);
    for (size_t perturb = (size_t)hash;; i = (i * 5 + perturb + 1) & mask) {
        Py_ssize_t ix = index_at(k, i);
        if (ix == DKIX_EMPTY)
            return ABSENT;
        if (ix >= 0 && (entries[ix].me_key == key || entries[ix].me_hash == hash)) {
            int equal = keys_equal(entries[ix].me_key, key);
            if (equal)
                return equal > 0 ? ix : UNSAFE;
        }
        perturb >>= 5;
    }
}

/* Is there a key with this hash in a table of strs? */
static bool has_hash(const PyDictKeysObject *k, Py_hash_t hash)
{
    size_t mask = ((size_t)1 << k->dk_log2_size) - 1, i = (size_t)hash & mask;
    const PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(k);
    for (size_t perturb = (size_t)hash;; i = (i * 5 + perturb + 1) & mask) {
        Py_ssize_t ix = index_at(k, i);
        if (ix == DKIX_EMPTY)
            return false;
        if (ix >= 0 && ((PyASCIIObject *)entries[ix].me_key)->hash == hash)
            return true;
        perturb >>= 5;
    }
}

static Py_ssize_t find(const PyDictKeysObject *k, PyObject *key, Py_hash_t hash)
{
    if (k->dk_kind == DICT_KEYS_GENERAL)
        return find_general(k, key, hash);
    if (PyUnicode_CheckExact(key))
        return find_str(k, key, hash);
    /* No constant of another type equals a str; other keys might say they do, but are only asked if the hashes are equal. */
    if (key_plain(key) || Py_TYPE(key)->tp_richcompare == PyBaseObject_Type.tp_richcompare)
        return ABSENT;
    return has_hash(k, hash) ? UNSAFE : ABSENT;
}

static PyObject *value_at(const PyDictObject *d, Py_ssize_t ix)
{
    const PyDictKeysObject *k = d->ma_keys;
    if (d->ma_values)
        return d->ma_values->values[ix];
    return k->dk_kind == DICT_KEYS_GENERAL ? DK_ENTRIES(k)[ix].me_value
                                           : DK_UNICODE_ENTRIES(k)[ix].me_value;
}

/* Does the hint point at this very key object? Only tables of strs are hinted. */
static inline bool hinted(const PyDictKeysObject *k, PyObject *key, unsigned hint)
{
    return hint != 0 && k->dk_kind != DICT_KEYS_GENERAL &&
           (Py_ssize_t)hint <= k->dk_nentries &&
           DK_UNICODE_ENTRIES(k)[hint - 1].me_key == key;
}

static PyObject *hinted_value(const PyDictObject *d, unsigned hint)
{
    return d->ma_values ? d->ma_values->values[hint - 1]
                        : DK_UNICODE_ENTRIES(d->ma_keys)[hint - 1].me_value;
}

int cpy_dict_look(PyObject *dict, PyObject *key, Py_hash_t hash, uint16_t *hint,
                  Memo *memo, PyObject **value)
{
    const PyDictObject *d = (PyDictObject *)dict;
    if (hinted(d->ma_keys, key, *hint))
        *value = hinted_value(d, *hint);
    else {
        Py_ssize_t ix = find(d->ma_keys, key, hash);
        if (ix == UNSAFE)
            return -1;
        *hint = ix >= 0 && ix < HINT_MAX ? (uint16_t)(ix + 1) : 0;
        *value = ix >= 0 ? value_at(d, ix) : NULL;
    }
    *memo = (Memo){ d->ma_version_tag, *value };
    return *value != NULL;
}

/* -- Instances ---------------------------------------------------------------- */

/* Where the attributes of an object are: inline values, a dict, neither yet, or nowhere. */
typedef struct Home {
    PyDictValues *values;
    PyObject *dict;
    bool exists;
} Home;

static inline Home home_of(PyObject *obj)
{
    PyTypeObject *t = Py_TYPE(obj);
    if (t->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
        PyDictValues *values = *_PyObject_ValuesPointer(obj);
        return (Home){ values, values ? NULL : *_PyObject_ManagedDictPointer(obj), true };
    }
    if (t->tp_dictoffset > 0)
        return (Home){ NULL, *(PyObject **)((char *)obj + t->tp_dictoffset), true };
    if (t->tp_dictoffset == 0)
        return (Home){ NULL, NULL, false };
    PyObject **at =
        _PyObject_GetDictPtr(obj); /* behind the items of a variable-sized object */
    return (Home){ NULL, at ? *at : NULL, at != NULL };
}

static PyDictKeysObject *shared_keys(PyObject *obj)
{
    return ((PyHeapTypeObject *)Py_TYPE(obj))->ht_cached_keys;
}

int cpy_inst_peek(PyObject *obj, PyObject *name, uint16_t *hint, Memo *memo,
                  PyObject **value)
{
    Home h = home_of(obj);
    Py_hash_t hash = ((PyASCIIObject *)name)->hash;
    *value = NULL;
    if (h.dict)
        return cpy_dict_peek(h.dict, name, hash, hint, memo, value);
    if (!h.values)
        return h.exists ? 0 : -1;
    const PyDictKeysObject *k = shared_keys(obj);
    unsigned at = *hint;
    if (!hinted(k, name, at)) {
        Py_ssize_t ix = find_str(k, name, hash);
        if (ix < 0)
            return 0;
        *hint = (uint16_t)(at = (unsigned)ix + 1); /* shared keys are few */
    }
    *value = h.values->values[at - 1];
    return *value != NULL;
}

Py_ssize_t cpy_inst_len(PyObject *obj)
{
    Home h = home_of(obj);
    if (h.values)
        return ((uint8_t *)h.values)[-2];
    if (h.dict)
        return PyDict_GET_SIZE(h.dict);
    return h.exists ? 0 : -1;
}

PyTypeObject *cpy_inst_dict_type(PyObject *obj)
{
    Home h = home_of(obj);
    if (h.dict)
        return Py_TYPE(h.dict);
    return h.exists ? &PyDict_Type : NULL;
}

/* -- Keys in order ------------------------------------------------------------ */

static PyObject *inline_key(PyObject *obj, const PyDictValues *values, Py_ssize_t i)
{
    const uint8_t *order = (const uint8_t *)values - 3;
    return DK_UNICODE_ENTRIES(shared_keys(obj))[order[-i]].me_key;
}

PyObject *cpy_dict_key(PyObject *dict, Py_ssize_t i)
{
    const PyDictObject *d = (PyDictObject *)dict;
    if (i < 0 || i >= d->ma_used)
        return NULL;
    PyObject *key = NULL;
    Py_ssize_t at = 0;
    if (d->ma_values || d->ma_keys->dk_nentries == d->ma_used)
        at = i; /* no holes: order is position */
    else
        for (Py_ssize_t skip = i; skip > 0; skip--)
            PyDict_Next(dict, &at, NULL, NULL);
    return PyDict_Next(dict, &at, &key, NULL) ? key : NULL;
}

PyObject *cpy_inst_key(PyObject *obj, Py_ssize_t i)
{
    Home h = home_of(obj);
    if (h.dict)
        return cpy_dict_key(h.dict, i);
    if (!h.values || i < 0 || i >= ((uint8_t *)h.values)[-2])
        return NULL;
    return inline_key(obj, h.values, i);
}

/* An OrderedDict has an order of its own, which its iterator knows. */
static bool odict_keys_are(PyObject *dict, PyObject *keys)
{
    Py_ssize_t i = 0, n = PyTuple_GET_SIZE(keys);
    if (PyDict_GET_SIZE(dict) != n)
        return false;
    int was_on = PyGC_Disable();
    PyObject *it = PyODict_Type.tp_iter(dict), *key = NULL;
    bool same = it != NULL;
    while (same && (key = PyODictIter_Type.tp_iternext(it)) != NULL) {
        same = i < n && kept_same(PyTuple_GET_ITEM(keys, i), key);
        i++;
        Py_DECREF(key);
    }
    Py_XDECREF(it);
    if (was_on)
        PyGC_Enable();
    PyErr_Clear();
    return same && i == n;
}

bool cpy_set_items_are(PyObject *set, PyObject *items)
{
    Py_ssize_t at = 0, i = 0;
    PyObject *key;
    Py_hash_t hash;
    if (PySet_GET_SIZE(set) != PyTuple_GET_SIZE(items))
        return false;
    for (; _PySet_NextEntry(set, &at, &key, &hash); i++)
        if (!kept_same(PyTuple_GET_ITEM(items, i), key))
            return false;
    return true;
}

bool cpy_dict_keys_are(PyObject *dict, PyObject *keys, Memo *memo)
{
    if (PyODict_Check(dict))
        return odict_keys_are(dict, keys);
    if (((PyDictObject *)dict)->ma_version_tag == memo->state)
        return true;
    if (PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(keys))
        return false;
    Py_ssize_t at = 0, i = 0;
    for (PyObject *key; PyDict_Next(dict, &at, &key, NULL); i++)
        if (!kept_same(PyTuple_GET_ITEM(keys, i), key))
            return false;
    memo->state = ((PyDictObject *)dict)->ma_version_tag;
    return true;
}

bool cpy_inst_keys_are(PyObject *obj, PyObject *keys, Memo *memo)
{
    Home h = home_of(obj);
    Py_ssize_t n = PyTuple_GET_SIZE(keys);
    if (h.dict)
        return cpy_dict_keys_are(h.dict, keys, memo);
    if (!h.values)
        return h.exists && n == 0;
    if (((uint8_t *)h.values)[-2] != n)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *key = inline_key(obj, h.values, i), *want = PyTuple_GET_ITEM(keys, i);
        if (key != want && !const_same(key, want))
            return false;
    }
    return true;
}

#endif
