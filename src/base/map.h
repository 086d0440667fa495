/*
 * base/map.h -- insertion-ordered hash maps of trace state, in the arena and under the journal.
 *
 * KeyMap has the order and the key equality of a dict for keys whose comparison runs no user
 * code; PtrMap goes by address. A zeroed struct is an empty map. Positions are stable: a
 * deleted entry leaves a hole, an insertion goes to the end, nothing moves before a clear.
 * journal_rewind() restores any earlier state.
 */
#ifndef JEDLIK_BASE_MAP_H
#define JEDLIK_BASE_MAP_H

#include "base/journal.h"

typedef struct KeyEntry {
    PyObject *key; /* borrowed; NULL: the key is `id` alone */
    Py_hash_t hash;
    void *id;    /* free for the owner's use if key is set (the Var of the key) */
    void *value; /* change through JSET or keymap_put */
} KeyEntry;

typedef struct KeyMap {
    KeyEntry *entries; /* [0..used), holes have neither key nor id */
    uintptr_t *index;  /* position + 1, 0: free */
    size_t mask;       /* slots of index - 1 */
    size_t used, cap;
    size_t n; /* live entries */
} KeyMap;

/* Exact built-in constants, and tuples and frozensets of them and of what goes by identity: the keys that may be equal
 * without being identical. All others are equal only to themselves here, NaNs too; a key with an __eq__
 * of its own must not come in. */
bool key_plain(PyObject *key);
/* A float or complex number that is not equal to itself. */
bool key_nan(PyObject *key);
/* Containers that constants are nested in and that were looked through so far, by whomever: work that no instruction shows. */
extern size_t nested_looks;
/* Counts values of this type among the constants: they never change, and hashing and comparing them runs C code alone. */
void key_plain_type(PyTypeObject *t);

/* The live entry or NULL. `hash` is PyObject_Hash(key). */
KeyEntry *keymap_find(const KeyMap *m, PyObject *key, Py_hash_t hash);
KeyEntry *keymap_find_id(const KeyMap *m, const void *id); /* entries without a key */

/* Appends, or replaces the value and keeps the key that is there, as a dict does. False with
 * MemoryError set. `key` NULL: goes by id, and `hash` is not looked at. */
bool keymap_put(KeyMap *m, Arena *a, Journal *j, PyObject *key, Py_hash_t hash, void *id,
                void *value);
bool keymap_del(KeyMap *m, Journal *j, PyObject *key, Py_hash_t hash); /* was it there? */
void keymap_del_entry(KeyMap *m, Journal *j, KeyEntry *e);
void keymap_clear(KeyMap *m, Journal *j);
bool keymap_copy(KeyMap *to, Arena *a, Journal *j, const KeyMap *from); /* `to` is empty */

/* The first live entry at or after *at, which is moved behind it; NULL at the end. Begin with
 * 0. keymap_prev goes down: begin with m->used. */
KeyEntry *keymap_next(const KeyMap *m, size_t *at);
KeyEntry *keymap_prev(const KeyMap *m, size_t *at);

/* -- By address ------------------------------------------------------------- */

typedef struct PtrMap {
    KeyMap m;
} PtrMap;

/* key is never NULL, values may be. `value` may be NULL if it is not wanted. */
bool ptrmap_get(const PtrMap *m, const void *key, void **value);
bool ptrmap_put(PtrMap *m, Arena *a, Journal *j, const void *key, void *value);
bool ptrmap_del(PtrMap *m, Journal *j, const void *key);
bool ptrmap_next(const PtrMap *m, size_t *at, void **key, void **value);

#endif
