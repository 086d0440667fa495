/*
 * var/dictstore.c -- dictionaries as storage: dict, OrderedDict, defaultdict, instance dictionaries, globals.
 *
 * Takes: keys as KeyMap has them (constants, or objects that are equal only to themselves). Gives: CPython's content
 * and order. Holds: what is visible is `reads` without `dels`, in order, with the values of `writes` where there are
 * any; then the rest of `writes`. A key that was deleted and stored again stands in `dels` and at its new place in
 * `writes`. An existing dict is looked at key by key (a load, or an ABSENT guard) until somebody asks for all of it.
 */
#include "cpy/cpy.h"
#include "cpy/peek.h"
#include "var/consts.h"
#include "var/weak.h"

/* -- Which dict ----------------------------------------------------------------- */

bool dict_existing(DictVar *d)
{
    return d->v.real != NULL || (d->owner != NULL && d->owner->real != NULL);
}

bool is_odict(DictVar *d)
{
    return d->v.type != &PyDict_Type && PyType_IsSubtype(d->v.type, &PyODict_Type);
}

bool is_defaultdict(DictVar *d)
{
    return d->v.type != &PyDict_Type && known_type(TY_DEFAULTDICT) &&
           PyType_IsSubtype(d->v.type, known_types[TY_DEFAULTDICT]);
}

/* Where guards on the dictionary as a whole are asked. */
static Source *place(Tx *tx, DictVar *d)
{
    if (d->owner == NULL)
        return source_of(tx, &d->v);
    Source *owner = source_of(tx, d->owner);
    return owner ? source_get(&tx->sources, SRC_DICT, owner, NULL, 0) : NULL;
}

static PyObject *interned(Tx *tx, PyObject *key)
{
    if (!PyUnicode_CheckExact(key) || PyUnicode_CHECK_INTERNED(key))
        return key;
    PyObject *k = Py_NewRef(key);
    PyUnicode_InternInPlace(&k);
    return tx_hold(tx, k);
}

static Source *item_source(Tx *tx, DictVar *d, PyObject *key)
{
    bool attr = d->owner != NULL && PyUnicode_CheckExact(key);
    Source *base = attr ? source_of(tx, d->owner) : place(tx, d);
    if (base == NULL || (key = interned(tx, key)) == NULL)
        return NULL;
    return source_get(&tx->sources, attr ? SRC_ATTR : SRC_ITEM, base, key, 0);
}

/* The Var that a key by identity goes by. */
static inline Var *id_in(Tx *tx, const KeyMap *m, Var *k)
{
    return k->kind == &kind_weakref ? weak_key(tx, m, k) : same_object(k);
}

static inline KeyEntry *find_in(Tx *tx, const KeyMap *m, Var *k, PyObject *key,
                                Py_hash_t h)
{
    return key ? keymap_find(m, key, h) : keymap_find_id(m, id_in(tx, m, k));
}

static inline Status put_in(Tx *tx, KeyMap *m, Var *k, PyObject *key, Py_hash_t h,
                            Var *value)
{
    k = key ? k : id_in(tx, m, k);
    return keymap_put(m, &tx->arena, &tx->journal, key, h, k, value) ? ST_OK : ST_ERROR;
}

/* -- Looking into the real dict ---------------------------------------------------- */

static Status real_get(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, PyObject **value)
{
    uint16_t hint = 0;
    Memo memo = { 0 };
    int found;
    *value = NULL;
    TRY(open_touch(tx, d->owner ? d->owner->real : d->v.real));
    if (d->owner == NULL)
        found = cpy_dict_peek(d->v.real, key, h, &hint, &memo, value);
    else if (PyUnicode_CheckExact(key))
        found = cpy_inst_peek(d->owner->real, interned(tx, key), &hint, &memo, value);
    else
        found = d->v.real ? cpy_dict_peek(d->v.real, key, h, &hint, &memo, value) : 0;
    if (found < 0 && d->owner == NULL)
        return graph_break(tx, BRK_DYN_KEY,
                           "keys of the dictionary are compared by user code");
    if (found <= 0)
        *value = NULL;
    return ST_OK;
}

/* What the existing dict has under the key, as the trace first saw it; NULL: nothing. */
static Status read_real(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, Var **out)
{
    KeyEntry *e = keymap_find(&d->reads, key, h);
    *out = e ? e->value : NULL;
    if (e != NULL || d->open)
        return ST_OK;
    PyObject *real;
    TRY(real_get(tx, d, key, h, &real));
    if (real != NULL) {
        Source *s = item_source(tx, d, key);
        MEM(s);
        TRY(guard_bound(&tx->guards, s, true));
        TRY(lazy_new(tx, real, s, out));
    } else {
        Source *s = place(tx, d);
        MEM(s && (key = interned(tx, key)) != NULL);
        TRY(guard_obj(&tx->guards, GUARD_ABSENT, s, key));
    }
    return put_in(tx, &d->reads, NULL, key, h, *out);
}

/* Keys that may be compared by address or as constants. */
static bool key_safe(PyObject *key)
{
    return key_plain(key) || torch_is_tensor(key) ||
           Py_TYPE(key)->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

/* Hashing the keys runs no user code. */
static Status quiet_keys(Tx *tx, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value))
        if (!key_plain(key) && Py_TYPE(key)->tp_hash != PyBaseObject_Type.tp_hash)
            return graph_break(tx, BRK_DYN_KEY, "a %s is a key", Py_TYPE(key)->tp_name);
    return ST_OK;
}

/* The order of an OrderedDict, if it has the same keys as the dict below: dict's own methods can take one away, or add one. */
static Status ordered_keys(Tx *tx, PyObject *dict, PyObject **keys)
{
    TRY(quiet_keys(tx, dict));
    PyObject *it = tx_hold(tx, PyODict_Type.tp_iter(dict));
    TRY_PTR(it);
    *keys = tx_hold(tx, PySequence_List(it));
    if (*keys == NULL && !PyErr_ExceptionMatches(PyExc_KeyError))
        return ST_ERROR;
    PyErr_Clear();
    bool whole = *keys && PyList_GET_SIZE(*keys) == PyDict_GET_SIZE(dict);
    for (Py_ssize_t i = 0; whole && i < PyList_GET_SIZE(*keys); i++)
        whole = PyDict_GetItemWithError(dict, PyList_GET_ITEM(*keys, i)) != NULL;
    return whole ? ST_OK
                 : graph_break(tx, BRK_NO_SLOT, "%s",
                               "an OrderedDict that was changed behind its back");
}

/* Keys of the existing dict in order, with a list of values beside: new lists. */
static Status real_keys(Tx *tx, DictVar *d, PyObject **keys)
{
    TRY(open_touch(tx, d->owner ? d->owner->real : d->v.real));
    if (d->owner != NULL)
        *keys = tx_hold(tx, cpy_inst_names(d->owner->real));
    else if (PyODict_Check(d->v.real)) /* whose iterator looks each key up */
        TRY(ordered_keys(tx, d->v.real, keys));
    else
        *keys = tx_hold(tx, PyDict_Keys(d->v.real));
    TRY_PTR(*keys);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(*keys); i++)
        if (!key_safe(PyList_GET_ITEM(*keys, i)))
            return graph_break(tx, BRK_DYN_KEY, "a %s is a key",
                               Py_TYPE(PyList_GET_ITEM(*keys, i))->tp_name);
    return ST_OK;
}

static Status guard_keys(Tx *tx, DictVar *d, PyObject *keys)
{
    Source *s = place(tx, d);
    PyObject *tuple = tx_hold(tx, PyList_AsTuple(keys));
    MEM(s && tuple);
    return guard_obj(&tx->guards, GUARD_KEYS, s, tuple);
}

/* What the graph calls by itself finds the dictionary as it was before the trace wrote to it. */
static Status pending(Tx *tx, DictVar *d)
{
    if (dict_existing(d) && d->v.dirty)
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "code in the graph reads what was written before it");
    return ST_OK;
}

Status dict_open(Tx *tx, DictVar *d)
{
    if (tx->foreign)
        TRY(pending(tx, d));
    if (d->open || !dict_existing(d))
        return ST_OK;
    PyObject *keys;
    TRY(real_keys(tx, d, &keys));
    TRY(tx_opened(tx, (size_t)PyList_GET_SIZE(keys)));
    TRY(guard_keys(tx, d, keys));
    KeyMap seen = d->reads;
    keymap_clear(&d->reads, &tx->journal);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); i++) {
        PyObject *key = PyList_GET_ITEM(keys, i), *real;
        Py_hash_t h = PyObject_Hash(key);
        MEM(h != -1);
        KeyEntry *e = keymap_find(&seen, key, h);
        Var *v = e ? e->value : NULL;
        if (v == NULL) {
            TRY(real_get(tx, d, key, h, &real));
            Source *s = item_source(tx, d, key);
            MEM(s && real);
            TRY(lazy_new(tx, real, s, &v));
        }
        TRY(put_in(tx, &d->reads, e ? e->id : NULL, key, h, v));
    }
    SET(tx, d->open, 1);
    return ST_OK;
}

/* -- Storage ----------------------------------------------------------------------- */

Status dict_find(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, Var **out)
{
    KeyEntry *e = find_in(tx, &d->writes, k, key, h);
    *out = e ? e->value : NULL;
    if (e == NULL && key == NULL && dict_existing(d))
        return weak_stranger(tx, k);
    if (e == NULL && !dict_existing(d))
        return ST_OK;
    if (e != NULL || (d->dels.n && keymap_find(&d->dels, key, h)))
        return tx->foreign ? pending(tx, d) : ST_OK;
    return read_real(tx, d, key, h, out);
}

static Status touch_dict(Tx *tx, DictVar *d)
{
    return (d->v.dirty && !tx->foreign) || !dict_existing(d) ? ST_OK
                                                             : var_touch(tx, &d->v);
}

/* What is overwritten. */
static Status drop_read(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h)
{
    PyObject *real;
    KeyEntry *e = key ? keymap_find(&d->reads, key, h) : NULL;
    if (e != NULL || key == NULL || d->open || !dict_existing(d))
        return e && e->value ? drop(tx, e->value) : ST_OK;
    TRY(real_get(tx, d, key, h, &real));
    Source *src = item_source(tx, d, key);
    MEM(src);
    return drop_place(tx, real, src);
}

Status dict_store(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, Var *value)
{
    tx->moves += d->owner == NULL;
    if (key == NULL && dict_existing(d))
        TRY(weak_stranger(tx, k));
    TRY(drop_read(tx, d, key, h));
    KeyEntry *old = find_in(tx, &d->writes, k, key, h);
    if (old && old->value != value)
        TRY(gen_dropped(tx, old->value));
    if (value->kind == &kind_gen)
        SET(tx, AS(GenVar, value)->kept, 1);
    TRY(touch_dict(tx, d));
    return put_in(tx, &d->writes, k, key, h, value);
}

static Status take_out(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, bool *was)
{
    Var *v;
    TRY(dict_find(tx, d, k, key, h, &v));
    *was = v != NULL;
    if (v == NULL)
        return ST_OK;
    tx->moves++;
    TRY(drop(tx, v));
    TRY(touch_dict(tx, d));
    bool gone = !dict_existing(d) || key == NULL || keymap_find(&d->dels, key, h);
    Var *old = NULL;
    if (!gone)
        TRY(read_real(tx, d, key, h, &old));
    KeyEntry *e = find_in(tx, &d->writes, k, key, h);
    if (e != NULL)
        keymap_del_entry(&d->writes, &tx->journal, e);
    return old ? put_in(tx, &d->dels, k, key, h, NULL) : ST_OK;
}

static void forget_place(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h)
{
    KeyEntry *e = d->below.n ? find_in(tx, &d->below, k, key, h) : NULL;
    if (e != NULL)
        keymap_del_entry(&d->below, &tx->journal, e);
}

Status dict_remove(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, bool *was)
{
    forget_place(tx, d, k, key, h);
    return take_out(tx, d, k, key, h, was);
}

/* Does the existing dict hold this key, where it was? */
static Status still_there(Tx *tx, DictVar *d, const KeyEntry *e, bool *yes)
{
    Var *old = NULL;
    if (e->key && dict_existing(d) && !keymap_find(&d->dels, e->key, e->hash))
        TRY(read_real(tx, d, e->key, e->hash, &old));
    *yes = old != NULL;
    return ST_OK;
}

/* What moves in the order of an OrderedDict stays where it is in the dict below, which dict.items() shows. What the trace stored so far
 * comes in this order there. */
static Status keep_stored(Tx *tx, DictVar *d)
{
    KeyEntry *e;
    for (size_t at = 0; (e = keymap_next(&d->writes, &at)) != NULL;) {
        bool old = find_in(tx, &d->below, e->id, e->key, e->hash) != NULL;
        if (!old)
            TRY(still_there(tx, d, e, &old));
        if (!old)
            TRY(put_in(tx, &d->below, e->id, e->key, e->hash, NULL));
    }
    return ST_OK;
}

/* All that was there, and is: a value says so. */
static Status keep_read(Tx *tx, DictVar *d)
{
    KeyEntry *e;
    for (size_t at = 0; (e = keymap_next(&d->reads, &at)) != NULL;)
        if (e->value && !keymap_find(&d->dels, e->key, e->hash))
            TRY(put_in(tx, &d->below, e->id, e->key, e->hash, e->value));
    return ST_OK;
}

Status dict_move_last(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, Var *value)
{
    bool was, old;
    TRY(keep_stored(tx, d));
    TRY(still_there(tx, d, &(KeyEntry){ .key = key, .hash = h }, &old));
    TRY(take_out(tx, d, k, key, h, &was));
    if (old)
        TRY(put_in(tx, &d->below, k, key, h, value));
    return dict_store(tx, d, k, key, h, value);
}

Status dict_get(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, Var **out)
{
    return dict_find(tx, d, NULL, key, h, out);
}

Status dict_set(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, Var *value)
{
    return dict_store(tx, d, NULL, key, h, value);
}

Status dict_del(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, bool *was)
{
    return dict_remove(tx, d, NULL, key, h, was);
}

Status dict_get_str(Tx *tx, DictVar *d, PyObject *name, Var **out)
{
    return dict_find(tx, d, NULL, name, str_hash(name), out);
}

Status dict_set_str(Tx *tx, DictVar *d, PyObject *name, Var *value)
{
    return dict_store(tx, d, NULL, name, str_hash(name), value);
}

/* -- Walking ------------------------------------------------------------------------- */

static Status key_var(Tx *tx, DictVar *d, KeyEntry *e, Var **out)
{
    if (e->id == NULL) {
        Var *k;
        TRY(wrap_member(tx, e->key, &k));
        e->id = k; /* a cache: valid whatever is rewound */
    }
    *out = e->id;
    return ST_OK;
}

/* Is the entry of `reads` still to be seen, and with which value? */
static bool live_read(DictVar *d, KeyEntry *e, Var **value)
{
    if ((e->key == NULL && e->id == NULL) || e->value == NULL ||
        (d->dels.n && keymap_find(&d->dels, e->key, e->hash)))
        return false;
    KeyEntry *w = d->writes.n ? keymap_find(&d->writes, e->key, e->hash) : NULL;
    *value = w ? w->value : e->value;
    return true;
}

/* Does the entry of `writes` stand at its own place, not at that of an existing key? */
static bool live_write(DictVar *d, KeyEntry *e, Var **value)
{
    if (e->key == NULL && e->id == NULL)
        return false;
    KeyEntry *r = e->key && d->reads.n ? keymap_find(&d->reads, e->key, e->hash) : NULL;
    if (r && r->value && !(d->dels.n && keymap_find(&d->dels, e->key, e->hash)))
        return false;
    *value = e->value;
    return true;
}

static KeyEntry *entry_at(DictVar *d, size_t at, Var **value)
{
    size_t nr = d->reads.used;
    KeyEntry *e = at < nr ? &d->reads.entries[at] : &d->writes.entries[at - nr];
    bool live = at < nr ? live_read(d, e, value) : live_write(d, e, value);
    return live ? e : NULL;
}

size_t dict_end(DictVar *d)
{
    return d->reads.used + d->writes.used;
}

size_t dict_drops(DictVar *d)
{
    return d->dels.used + (d->writes.used - d->writes.n);
}

Status dict_step(Tx *tx, DictVar *d, DictPos *p, bool *more)
{
    for (*more = false; p->at < dict_end(d);)
        if ((p->entry = entry_at(d, p->at++, &p->value)) != NULL) {
            *more = true;
            return key_var(tx, d, p->entry, &p->key);
        }
    return ST_OK;
}

Status dict_step_back(Tx *tx, DictVar *d, DictPos *p, bool *more)
{
    if (p->at > dict_end(d))
        p->at = dict_end(d);
    for (*more = false; p->at > 0;)
        if ((p->entry = entry_at(d, --p->at, &p->value)) != NULL) {
            *more = true;
            return key_var(tx, d, p->entry, &p->key);
        }
    return ST_OK;
}

Status dict_count(Tx *tx, DictVar *d, Py_ssize_t *n)
{
    if (!dict_existing(d)) {
        *n = (Py_ssize_t)d->writes.n;
        return ST_OK;
    }
    TRY(dict_open(tx, d));
    size_t at = 0, count = d->reads.n - d->dels.n;
    Var *value;
    for (KeyEntry *e; (e = keymap_next(&d->writes, &at)) != NULL;)
        count += live_write(d, e, &value);
    *n = (Py_ssize_t)count;
    return ST_OK;
}

Status dict_items(Tx *tx, DictVar *d, Var ***keys, Var ***values, Py_ssize_t *n)
{
    TRY(dict_count(tx, d, n));
    MEM(*keys = tx_alloc(tx, sizeof(Var *) * (size_t)(*n + 1)));
    MEM(*values = tx_alloc(tx, sizeof(Var *) * (size_t)(*n + 1)));
    DictPos p = { 0 };
    bool more;
    for (Py_ssize_t i = 0; i < *n; i++) {
        TRY(dict_step(tx, d, &p, &more));
        assert(more);
        (*keys)[i] = p.key;
        (*values)[i] = p.value;
    }
    return ST_OK;
}

Status dict_entries(Tx *tx, DictVar *d, KeyEntry **entries, Py_ssize_t *n)
{
    TRY(dict_count(tx, d, n));
    KeyEntry *e = tx_alloc(tx, sizeof *e * (size_t)(*n + 1));
    MEM(e);
    DictPos p = { 0 };
    bool more;
    for (Py_ssize_t i = 0; i < *n; i++) {
        TRY(dict_step(tx, d, &p, &more));
        e[i] = *p.entry;
        e[i].value = p.value;
    }
    *entries = e;
    return ST_OK;
}

/* -- Whole dictionaries -------------------------------------------------------------- */

Status dict_make(Tx *tx, PyTypeObject *t, DictVar **out)
{
    return VAR_MAKE(tx, dict, DictVar, t, out);
}

Status dict_new(Tx *tx, Var **out)
{
    return VAR_MAKE(tx, dict, DictVar, &PyDict_Type, out);
}

static Status empty(Tx *tx, DictVar *d)
{
    tx->moves++;
    TRY(dict_open(tx, d));
    TRY(touch_dict(tx, d));
    if (dict_existing(d)) {
        size_t at = 0;
        for (KeyEntry *e; (e = keymap_next(&d->reads, &at)) != NULL;) {
            TRY(drop(tx, e->value));
            TRY(put_in(tx, &d->dels, e->id, e->key, e->hash, NULL));
        }
    }
    if (d->writes.used)
        keymap_clear(&d->writes, &tx->journal);
    return ST_OK;
}

Status dict_clear(Tx *tx, DictVar *d)
{
    keymap_clear(&d->below, &tx->journal);
    return empty(tx, d);
}

Status dict_rewrite(Tx *tx, DictVar *d, const KeyEntry *e, Py_ssize_t n)
{
    if (dict_existing(d))
        TRY(keep_read(tx, d));
    TRY(keep_stored(tx, d));
    TRY(empty(tx, d));
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(put_in(tx, &d->writes, e[i].id, e[i].key, e[i].hash, e[i].value));
    return ST_OK;
}

Status dict_copy(Tx *tx, DictVar *from, PyTypeObject *t, DictVar **out)
{
    DictVar *d;
    TRY(dict_make(tx, t, &d));
    if (!dict_existing(from)) {
        MEM(keymap_copy(&d->writes, &tx->arena, &tx->journal, &from->writes));
    } else {
        KeyEntry *e;
        Py_ssize_t n;
        TRY(dict_entries(tx, from, &e, &n));
        TRY(dict_rewrite(tx, d, e, n));
    }
    *out = d;
    return ST_OK;
}

static Status merge_dict(Tx *tx, DictVar *d, DictVar *from)
{
    KeyEntry *e;
    Py_ssize_t n;
    if (d == from)
        return ST_OK;
    TRY(dict_entries(tx, from, &e, &n));
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(dict_store(tx, d, e[i].id, e[i].key, e[i].hash, e[i].value));
    return ST_OK;
}

Status dict_keys_of(Tx *tx, Var *mapping, Var ***keys, Py_ssize_t *n)
{
    Var *k;
    TRY(var_call_method(tx, mapping, "keys", NULL, 0, &k));
    TRY(var_real(tx, &k));
    const PySequenceMethods *seq = k->type->tp_as_sequence;
    if (k->type->tp_iter == NULL && !(seq && seq->sq_item))
        return raise_type(tx, PyExc_TypeError,
                          "%.200s.keys() returned a non-iterable (type %.200s)",
                          mapping->type->tp_name, k->type->tp_name);
    return var_unpack(tx, k, keys, n);
}

static Status merge_listed(Tx *tx, DictVar *d, Var *from)
{
    Var **keys, *v;
    Py_ssize_t n;
    TRY(dict_keys_of(tx, from, &keys, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_getitem(tx, from, keys[i], &v));
        TRY(dict_put(tx, d, keys[i], v));
    }
    return ST_OK;
}

/* An OrderedDict takes the keys one by one. */
static Status merge_mapping(Tx *tx, DictVar *d, Var *from, Var *keys_fn)
{
    Var *keys, *it, *k, *v;
    if (!is_odict(d))
        return merge_listed(tx, d, from);
    TRY(var_call0(tx, keys_fn, &keys));
    TRY(var_iter(tx, keys, &it));
    for (;;) {
        TRY(var_next(tx, it, &k));
        if (k == NULL)
            return ST_OK;
        TRY(var_getitem(tx, from, k, &v));
        TRY(dict_put(tx, d, k, v));
    }
}

/* An OrderedDict unpacks its pairs one by one. */
static Status merge_unpacked(Tx *tx, DictVar *d, Var *pair)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_unpack_most(tx, pair, 3, &items, &n));
    if (n > 2)
        return raise_type(tx, PyExc_ValueError, "too many values to unpack (expected 2)");
    if (n < 2)
        return raise_type(tx, PyExc_ValueError, "need more than %zd value%s to unpack", n,
                          n == 1 ? "" : "s");
    return dict_put(tx, d, items[0], items[1]);
}

static Status merge_pair(Tx *tx, DictVar *d, Var *pair, Py_ssize_t i)
{
    PyTypeObject *t;
    Var **items;
    Py_ssize_t n;
    if (is_odict(d))
        return merge_unpacked(tx, d, pair);
    TRY(var_type_of(tx, pair, &t));
    if (t->tp_iter == NULL && !(t->tp_as_sequence && t->tp_as_sequence->sq_item))
        return raise_type(
            tx, PyExc_TypeError,
            "cannot convert dictionary update sequence element #%zd to a sequence", i);
    TRY(var_unpack(tx, pair, &items, &n));
    if (n != 2)
        return raise_type(
            tx, PyExc_ValueError,
            "dictionary update sequence element #%zd has length %zd; 2 is required", i, n);
    return dict_put(tx, d, items[0], items[1]);
}

static Status merge_pairs(Tx *tx, DictVar *d, Var *from)
{
    Var *it, *pair;
    TRY(var_iter(tx, from, &it));
    for (Py_ssize_t i = 0;; i++) {
        TRY(var_next(tx, it, &pair));
        if (pair == NULL)
            return ST_OK;
        TRY(merge_pair(tx, d, pair, i));
    }
}

Status dict_merge(Tx *tx, DictVar *d, Var *from)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, from, &t));
    TRY(var_real(tx, &from));
    Var *c = var_content(from);
    if (c && c->kind == &kind_dict &&
        (t->tp_iter == PyDict_Type.tp_iter || t == &PyODict_Type))
        return merge_dict(tx, d, AS(DictVar, c));
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("keys"));
    Var *keys;
    TRY_PTR(name);
    TRY(var_getattr_opt(tx, from, name, &keys));
    return keys ? merge_mapping(tx, d, from, keys) : merge_pairs(tx, d, from);
}
