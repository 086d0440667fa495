/*
 * cpy/peek.h -- reading dicts, instances and built-in iterators without running user code.
 *
 * For the check program, which looks the same key up in the same place call after call. A
 * memo has what was found in which state of which dictionary (3.11 numbers the states of all
 * dictionaries), a hint the position in its table (0: none yet): if the dictionary has not
 * changed, its header is all that is read; if it has, a comparison or two is the rule.
 * Nothing here materialises a dictionary, advances an iterator or leaves an exception.
 */
#ifndef JEDLIK_CPY_PEEK_H
#define JEDLIK_CPY_PEEK_H

#include "base/status.h"

/* -- Dictionaries: 1 found (*value borrowed), 0 not there (NULL), -1 cannot be told */

typedef struct Memo {
    uint64_t state; /* 0: none */
    PyObject *
        value; /* found in that state, alive as long as it lasts; NULL: key is not there */
} Memo;

/* -1: a key of the table would have to be compared by user code. */
int cpy_dict_look(PyObject *dict, PyObject *key, Py_hash_t hash, uint16_t *hint,
                  Memo *memo, PyObject **value);
/* The instance dictionary, materialised or inline. -1 also: there is none. name: interned str. */
int cpy_inst_peek(PyObject *obj, PyObject *name, uint16_t *hint, Memo *memo,
                  PyObject **value);

static inline int cpy_dict_peek(PyObject *dict, PyObject *key, Py_hash_t hash,
                                uint16_t *hint, Memo *memo, PyObject **value)
{
    if (__builtin_expect(((PyDictObject *)dict)->ma_version_tag == memo->state, 1)) {
        *value = memo->value;
        return *value != NULL;
    }
    return cpy_dict_look(dict, key, hash, hint, memo, value);
}

/* The i-th key in order, borrowed; NULL beyond the end. */
PyObject *cpy_dict_key(PyObject *dict, Py_ssize_t i);
PyObject *cpy_inst_key(PyObject *obj, Py_ssize_t i);
Py_ssize_t cpy_inst_len(PyObject *obj); /* -1: no instance dictionary */

/* Are the keys, in order, the items of the tuple? By identity, or as constants. */
bool cpy_set_items_are(PyObject *set, PyObject *items); /* in the order of iteration */
bool cpy_dict_keys_are(PyObject *dict, PyObject *keys, Memo *memo);
bool cpy_inst_keys_are(PyObject *obj, PyObject *keys, Memo *memo);

/* The type of what obj.__dict__ would give; NULL: no instance dictionary. */
PyTypeObject *cpy_inst_dict_type(PyObject *obj);

/* -- The end of objects ------------------------------------------------------- */

/* What weak references of the engine itself call; set once. */
extern PyCFunction cpy_own_callback;
/* Modules whose weak references only keep memos: the beginning of their names, or NULL. */
extern const char *cpy_bookkeeper;

/* Losing its last reference runs code: a finalizer, the callback of a weak reference, the rest of a generator; also of one of
 * the few items of a tuple or list. */
bool cpy_end_runs_code(PyObject *obj);
/* The same, unless it has more than so many references: then somebody else holds it. */
bool cpy_last_runs_code(PyObject *obj, Py_ssize_t refs);
/* The same of the object alone: callbacks left out. */
bool cpy_finalized(PyObject *obj);
bool cpy_content_ends_run_code(
    PyObject *container); /* of any item of a set, list, tuple; another: yes */

/* -- Iterators ---------------------------------------------------------------- */

/* What the iterator gives `ahead` steps after the next one: 1 *item is a new reference (not wanted: NULL),
 * 0 it ends before, -1 unknown kind, or it would raise. Lists (also reversed), tuples, ranges, dicts,
 * enumerate and zip over these. */
int cpy_iter_peek(PyObject *it, Py_ssize_t ahead, PyObject **item);

/* What it walks: the sequence or dict, the inner iterator of enumerate, the i-th of zip; the mapping of a mappingproxy. Borrowed;
 * NULL if it is exhausted or of another kind. */
PyObject *cpy_iter_under(PyObject *it, Py_ssize_t i);

/* Compares the layouts described here with this interpreter. 0, or -1 with ImportError set. */
int cpy_iter_check(void);

#endif
