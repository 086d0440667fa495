/*
 * base/map.c -- one open-addressing table over an array of entries.
 *
 * The index holds positions of deleted entries too until it grows: a hole matches nothing,
 * so that a probe walks over it. Growth makes new blocks; the old ones stay for a rewind.
 */
#include <math.h>

#include "base/map.h"

enum { FIRST_SLOTS = 8, PLAIN_DEPTH = 20, PLAIN_NESTED = 4096 };

size_t nested_looks;

/* -- Keys ------------------------------------------------------------------- */

/* Types of others whose values hash and compare in C, by what they are. */
static PyTypeObject *value_types[4];

void key_plain_type(PyTypeObject *t)
{
    for (size_t i = 0; i < sizeof value_types / sizeof *value_types; i++) {
        if (value_types[i] == NULL)
            value_types[i] = (PyTypeObject *)Py_NewRef(t);
        if (value_types[i] == t)
            return;
    }
    assert(!"more types than there is room for");
}

static bool by_value(PyObject *o)
{
    for (size_t i = 0; i < sizeof value_types / sizeof *value_types; i++)
        if (value_types[i] == Py_TYPE(o))
            return true;
    return false;
}

/* Classes, functions, plain instances: equal to nothing but themselves. */
static bool by_identity(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    return t->tp_richcompare == PyBaseObject_Type.tp_richcompare &&
           t->tp_hash == PyBaseObject_Type.tp_hash;
}

bool key_nan(PyObject *o)
{
    if (PyFloat_Check(o))
        return isnan(PyFloat_AS_DOUBLE(o));
    Py_complex *c = PyComplex_Check(o) ? &((PyComplexObject *)o)->cval : NULL;
    return c && (isnan(c->real) || isnan(c->imag));
}

static bool plain(PyObject *o, int depth, int *work);

static bool all_plain(PyObject *o, int depth, int *work)
{
    Py_ssize_t at = 0;
    PyObject *item;
    Py_hash_t hash;
    for (Py_ssize_t i = 0; PyTuple_CheckExact(o) && i < PyTuple_GET_SIZE(o); i++)
        if (!plain(PyTuple_GET_ITEM(o, i), depth, work))
            return false;
    while (PyFrozenSet_CheckExact(o) && _PySet_NextEntry(o, &at, &item, &hash))
        if (!plain(item, depth, work))
            return false;
    return true;
}

static bool plain(PyObject *o, int depth, int *work)
{
    if (PyUnicode_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) ||
        o == Py_None || PyBytes_CheckExact(o) || o == Py_Ellipsis || PyRange_Check(o) ||
        PyCode_Check(o) || by_value(o))
        return true;
    if (PyFloat_CheckExact(o) || PyComplex_CheckExact(o))
        return !key_nan(o);
    if (depth == 0)
        return false;
    if (!PyTuple_CheckExact(o) && !PyFrozenSet_CheckExact(o))
        return depth < PLAIN_DEPTH && by_identity(o);
    nested_looks++;
    return (depth == PLAIN_DEPTH || --*work > 0) && all_plain(o, depth - 1, work);
}

bool key_plain(PyObject *key)
{
    int work = PLAIN_NESTED;
    return plain(key, PLAIN_DEPTH, &work);
}

static bool same_key(const KeyEntry *e, PyObject *key, Py_hash_t hash)
{
    if (e->key == NULL || e->key == key)
        return e->key != NULL;
    if (e->hash != hash || !key_plain(e->key) || !key_plain(key))
        return false;
    int equal = PyObject_RichCompareBool(e->key, key, Py_EQ);
    if (equal < 0)
        PyErr_Clear(); /* memory ran out in a comparison of constants */
    return equal > 0;
}

static Py_hash_t hash_pointer(const void *p)
{
    uintptr_t h = (uintptr_t)p >> 4;
    return (Py_hash_t)(h ^ (h >> 17));
}

/* -- The table -------------------------------------------------------------- */

static size_t slot_first(const KeyMap *m, Py_hash_t hash)
{
    uint64_t h = (uint64_t)hash * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(h >> 32) & m->mask;
}

/* The slot to put a new position in. */
static size_t slot_free(const KeyMap *m, Py_hash_t hash)
{
    size_t s = slot_first(m, hash);
    while (m->index[s])
        s = (s + 1) & m->mask;
    return s;
}

static bool grow(KeyMap *m, Arena *a, Journal *j)
{
    size_t slots = m->index ? (m->mask + 1) * 2 : FIRST_SLOTS;
    uintptr_t *index = arena_alloc(a, slots * sizeof *index);
    KeyEntry *entries = arena_alloc(a, slots / 2 * sizeof *entries);
    if (index == NULL || entries == NULL)
        return false;
    if (m->used)
        memcpy(entries, m->entries, m->used * sizeof *entries);
    JSET(j, m->entries, entries);
    JSET(j, m->index, index);
    JSET(j, m->mask, slots - 1);
    JSET(j, m->cap, slots / 2);
    for (size_t i = 0; i < m->used; i++)
        if (entries[i].key || entries[i].id)
            index[slot_free(m, entries[i].hash)] = i + 1;
    return true;
}

static bool append(KeyMap *m, Arena *a, Journal *j, KeyEntry e)
{
    if (m->used == m->cap && !grow(m, a, j))
        return false;
    size_t s = slot_free(m, e.hash);
    m->entries[m->used] = e;
    JSET(j, m->index[s], m->used + 1);
    JSET(j, m->used, m->used + 1);
    JSET(j, m->n, m->n + 1);
    return true;
}

KeyEntry *keymap_find(const KeyMap *m, PyObject *key, Py_hash_t hash)
{
    if (m->n == 0)
        return NULL;
    for (size_t s = slot_first(m, hash); m->index[s]; s = (s + 1) & m->mask) {
        KeyEntry *e = &m->entries[m->index[s] - 1];
        if (same_key(e, key, hash))
            return e;
    }
    return NULL;
}

KeyEntry *keymap_find_id(const KeyMap *m, const void *id)
{
    if (m->n == 0)
        return NULL;
    for (size_t s = slot_first(m, hash_pointer(id)); m->index[s]; s = (s + 1) & m->mask) {
        KeyEntry *e = &m->entries[m->index[s] - 1];
        if (e->key == NULL && e->id == id)
            return e;
    }
    return NULL;
}

bool keymap_put(KeyMap *m, Arena *a, Journal *j, PyObject *key, Py_hash_t hash, void *id,
                void *value)
{
    assert(key != NULL || id != NULL);
    KeyEntry *e = key ? keymap_find(m, key, hash) : keymap_find_id(m, id);
    if (e == NULL)
        return append(m, a, j,
                      (KeyEntry){ key, key ? hash : hash_pointer(id), id, value });
    JSET(j, e->value, value);
    return true;
}

void keymap_del_entry(KeyMap *m, Journal *j, KeyEntry *e)
{
    assert(e >= m->entries && e < m->entries + m->used && (e->key || e->id));
    JSET(j, e->key, NULL);
    JSET(j, e->id, NULL);
    JSET(j, m->n, m->n - 1);
}

bool keymap_del(KeyMap *m, Journal *j, PyObject *key, Py_hash_t hash)
{
    KeyEntry *e = keymap_find(m, key, hash);
    if (e != NULL)
        keymap_del_entry(m, j, e);
    return e != NULL;
}

void keymap_clear(KeyMap *m, Journal *j)
{
    JSET(j, m->entries, NULL);
    JSET(j, m->index, NULL);
    JSET(j, m->mask, 0);
    JSET(j, m->used, 0);
    JSET(j, m->cap, 0);
    JSET(j, m->n, 0);
}

bool keymap_copy(KeyMap *to, Arena *a, Journal *j, const KeyMap *from)
{
    assert(to->n == 0);
    size_t at = 0;
    for (KeyEntry *e; (e = keymap_next(from, &at)) != NULL;)
        if (!append(to, a, j, *e))
            return false;
    return true;
}

KeyEntry *keymap_next(const KeyMap *m, size_t *at)
{
    while (*at < m->used) {
        KeyEntry *e = &m->entries[(*at)++];
        if (e->key || e->id)
            return e;
    }
    return NULL;
}

KeyEntry *keymap_prev(const KeyMap *m, size_t *at)
{
    while (*at > 0) {
        KeyEntry *e = &m->entries[--*at];
        if (e->key || e->id)
            return e;
    }
    return NULL;
}

/* -- By address ------------------------------------------------------------- */

bool ptrmap_get(const PtrMap *m, const void *key, void **value)
{
    KeyEntry *e = keymap_find_id(&m->m, key);
    if (e != NULL && value != NULL)
        *value = e->value;
    return e != NULL;
}

bool ptrmap_put(PtrMap *m, Arena *a, Journal *j, const void *key, void *value)
{
    return keymap_put(&m->m, a, j, NULL, 0, (void *)key, value);
}

bool ptrmap_del(PtrMap *m, Journal *j, const void *key)
{
    KeyEntry *e = keymap_find_id(&m->m, key);
    if (e != NULL)
        keymap_del_entry(&m->m, j, e);
    return e != NULL;
}

bool ptrmap_next(const PtrMap *m, size_t *at, void **key, void **value)
{
    KeyEntry *e = keymap_next(&m->m, at);
    if (e == NULL)
        return false;
    *key = e->id;
    *value = e->value;
    return true;
}
