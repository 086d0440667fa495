/*
 * var/container.h -- what list.c, tuple.c, dict.c, set.c, iter.c and their handlers in builtin/ share.
 *
 * None of this runs user code except where it says so (through var_call & co.).
 */
#ifndef JEDLIK_VAR_CONTAINER_H
#define JEDLIK_VAR_CONTAINER_H

#include "trace/tx.h"
#include "var/binops.h"

#define IN_PLACE(op) (BINOP_##op + BINOP_COUNT)

#define MEM(x)                                                                           \
    do {                                                                                 \
        if (__builtin_expect(!(x), 0))                                                   \
            return ST_ERROR;                                                             \
    } while (0)

/* -- Types that no C header names ---------------------------------------------- */

#define KNOWN_TYPES(X)                                                                   \
    X(DEQUE, "_collections", "deque")                                                    \
    X(DEQUE_ITER, "_collections", "_deque_iterator")                                     \
    X(DEQUE_REV, "_collections", "_deque_reverse_iterator")                              \
    X(DEFAULTDICT, "_collections", "defaultdict")                                        \
    X(NAMESPACE, "types", "SimpleNamespace")                                             \
    X(ACCUMULATE, "itertools", "accumulate")                                             \
    X(CHAIN, "itertools", "chain")                                                       \
    X(COMBINATIONS, "itertools", "combinations")                                         \
    X(COMBINATIONS_R, "itertools", "combinations_with_replacement")                      \
    X(COMPRESS, "itertools", "compress")                                                 \
    X(COUNT, "itertools", "count")                                                       \
    X(CYCLE, "itertools", "cycle")                                                       \
    X(DROPWHILE, "itertools", "dropwhile")                                               \
    X(FILTERFALSE, "itertools", "filterfalse")                                           \
    X(GROUPBY, "itertools", "groupby")                                                   \
    X(ISLICE, "itertools", "islice")                                                     \
    X(PAIRWISE, "itertools", "pairwise")                                                 \
    X(PERMUTATIONS, "itertools", "permutations")                                         \
    X(PRODUCT, "itertools", "product")                                                   \
    X(REPEAT, "itertools", "repeat")                                                     \
    X(STARMAP, "itertools", "starmap")                                                   \
    X(TAKEWHILE, "itertools", "takewhile")                                               \
    X(TEE, "itertools", "_tee")                                                          \
    X(ZIP_LONGEST, "itertools", "zip_longest")

typedef enum {
#define X(id, module, name) TY_##id,
    KNOWN_TYPES(X)
#undef X
        TY_TYPES
} KnownType;

extern PyTypeObject *known_types[TY_TYPES];
int known_types_load(void);
/* The type; loads all on first use. NULL with an exception set. */
static inline PyTypeObject *known_type(KnownType t)
{
    return known_types[TY_TYPES - 1] || known_types_load() == 0 ? known_types[t] : NULL;
}

/* -- Any container ---------------------------------------------------------------- */

/* Source of an existing value; what a guard pins without one is owned by the entry. */
static inline Source *source_of(Tx *tx, Var *v)
{
    return v->src ? v->src : source_get(&tx->sources, SRC_CONST, NULL, v->real, 0);
}
static inline Status touch(Tx *tx, Var *v)
{
    return v->real && (!v->dirty || tx->foreign) ? var_touch(tx, v) : ST_OK;
}
/* Which Var stands for the object where keys go by identity: operations may give a tensor back. */
static inline Var *same_object(Var *v)
{
    return v && v->kind == &kind_tensor && AS(TensorVar, v)->same ? AS(TensorVar, v)->same
                                                                  : v;
}
/* Journalled write to an array cell. */
static inline void put_cell(Tx *tx, Var **cell, Var *v)
{
    journal_word(&tx->journal, cell);
    *cell = v;
}
static inline bool is_const_int(Var *v)
{
    return v->kind == &kind_const && v->real && PyLong_CheckExact(v->real);
}
const char *type_name(Tx *tx, Var *v); /* for messages; v may be lazy */
/* Element of an unchanged existing sequence at a lazy int: by an indexed source, so that the number itself is not asked
 * for. *out NULL: not possible. */
Status item_at(Tx *tx, Var *seq, Var *key, Var **out);
/* Items of a list, tuple or constant tuple (subclasses: content), opened; *known false if v is none of them.
 * The array belongs to the value: do not keep it across writes. */
Status items_peek(Tx *tx, Var *v, Var ***items, Py_ssize_t *n, bool *known);
/* The same for exact list and tuple types only, whose iteration nobody overrides. */
Status items_exact(Tx *tx, Var *v, Var ***items, Py_ssize_t *n, bool *known);
/* A slice object's parts against a length; key is a slice, constant or not. */
Status slice_resolve(Tx *tx, Var *key, Py_ssize_t len, Py_ssize_t *start,
                     Py_ssize_t *step, Py_ssize_t *n);
Status slice_part(Tx *tx, Var *key, int i, Var **out);
bool is_slice(Var *key);
/* Does `other` bring a binary operator of its own that runs before sequence concatenation? */
bool has_own_number(Var *other);
/* May a count have a reflected * of its own, so that the sequence's comes last (ops.c)? */
bool goes_first(const Var *times);
bool is_count(const Var *v,
              bool left_in_place); /* may say how often a sequence is repeated */
/* An item of a container, whose __eq__ had better leave containers alone. */
Status item_equal(Tx *tx, Var *a, Var *b, bool *yes);
Status compare_items(Tx *tx, Var **a, Py_ssize_t na, Var **b, Py_ssize_t nb, int op,
                     Var **out);
Status find_item(Tx *tx, Var **items, Py_ssize_t n, Var *item,
                 Py_ssize_t *at); /* -1: not there */
Status count_item(Tx *tx, Var **items, Py_ssize_t n, Var *item, Py_ssize_t *found);
/* "[" items joined by ", " "]" of reprs; `open`, `close` are ASCII. Constants only. */
Status repr_items(Tx *tx, Var *self, Var **items, Py_ssize_t n, const char *open,
                  const char *close, Var **out);

/* Cycles while a repr is built: lives on the C stack of who builds it. */
typedef struct ReprMark {
    struct ReprMark *up;
    Var *v;
} ReprMark;
bool repr_enter(ReprMark *m, Var *v); /* false: v is being built already */
void repr_leave(ReprMark *m);

/* -- Lists --------------------------------------------------------------------------- */

bool is_deque(ListVar *l);
Status list_make(Tx *tx, PyTypeObject *t, Var **items, Py_ssize_t n, ListVar **out);
Status list_extend(Tx *tx, ListVar *l, Var *iterable);
Status list_delete_at(Tx *tx, ListVar *l, Py_ssize_t i);
Status list_insert_at(Tx *tx, ListVar *l, Py_ssize_t i, Var *item);
Status list_write(Tx *tx, ListVar *l, Var **items,
                  Py_ssize_t n);                       /* list_replace without a copy */
Status list_maxlen(Tx *tx, ListVar *l, Py_ssize_t *n); /* -1: none */

/* -- Tuples --------------------------------------------------------------------------- */

Status tuple_open(Tx *tx, TupleVar *t);

/* -- Dictionaries ------------------------------------------------------------------------ */

/* The stored hash of an exact str. */
static inline Py_hash_t str_hash(PyObject *name)
{
    Py_hash_t h = ((PyASCIIObject *)name)->hash;
    return h != -1 ? h : PyObject_Hash(name);
}

typedef struct DictPos {
    size_t at; /* position: reads first, then writes */
    Var *key, *value;
    KeyEntry *entry; /* where the key stands */
} DictPos;

bool dict_existing(DictVar *d);
bool is_odict(DictVar *d);
/* A deque has changed in a way that its iterators notice; of lists nothing is kept. */
void list_stir(Tx *tx, ListVar *l);
bool is_defaultdict(DictVar *d);
/* With the Var of the key, which may have no real object (then it goes by identity). */
Status dict_find(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, Var **out);
Status dict_store(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, Var *value);
Status dict_remove(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, bool *was);
Status dict_lookup(Tx *tx, DictVar *d, Var *key, Var **out); /* hashes key */
Status dict_put(Tx *tx, DictVar *d, Var *key, Var *value);
/* d[key] for the object `self` whose content d is: __missing__ and default factories. */
Status dict_subscript(Tx *tx, DictVar *d, Var *self, Var *key, Var **out);
/* Next or previous visible item of an open dict; false at the end. */
Status dict_step(Tx *tx, DictVar *d, DictPos *p, bool *more);
Status dict_step_back(Tx *tx, DictVar *d, DictPos *p, bool *more);
size_t dict_end(DictVar *d);   /* where dict_step_back begins */
size_t dict_drops(DictVar *d); /* grows with every deletion: iterators look at it */
Status dict_clear(Tx *tx, DictVar *d);
Status dict_entries(Tx *tx, DictVar *d, KeyEntry **e,
                    Py_ssize_t *n); /* visible ones, in order: copies */
Status dict_rewrite(Tx *tx, DictVar *d, const KeyEntry *e, Py_ssize_t n); /* a new order */
/* To the end of an OrderedDict's order. */
Status dict_move_last(Tx *tx, DictVar *d, Var *k, PyObject *key, Py_hash_t h, Var *value);
Status dict_make(Tx *tx, PyTypeObject *t, DictVar **out);
Status dict_copy(Tx *tx, DictVar *from, PyTypeObject *t, DictVar **out);
Status dict_merge(Tx *tx, DictVar *d, Var *from); /* dict.update(from) */
/* What keys() of a mapping gives, as PyMapping_Keys lists it. */
Status dict_keys_of(Tx *tx, Var *mapping, Var ***keys, Py_ssize_t *n);
Status dict_factory(Tx *tx, DictVar *d, Var **out);
Status dictview_new(Tx *tx, Var *dict, char what, Var **out);
Status dictview_set(Tx *tx, DictViewVar *w, struct SetVar **out); /* set(view) */
/* isdisjoint() of a view */
Status dictview_disjoint(Tx *tx, Var *self, Var *other, bool *yes);
PyTypeObject *dictview_type(DictVar *d, char what);
Status key_error(Tx *tx, Var *key);

/* -- Sets ----------------------------------------------------------------------------------- */

Status set_open(Tx *tx, SetVar *s);
Status set_make(Tx *tx, PyTypeObject *t, SetVar **out);
Status set_discard(Tx *tx, SetVar *s, Var *item, bool *was);
Status set_pop(Tx *tx, SetVar *s, Var **out);     /* *out NULL: empty */
Status set_become(Tx *tx, SetVar *s, SetVar *to); /* takes over the members of a new set */
Status set_has(Tx *tx, SetVar *s, Var *item, bool *yes);
Status set_clear(Tx *tx, SetVar *s);
/* A SetVar for any set-like value (set, frozenset, constant, dict view), or a new one from an iterable. NULL in
 * *out with like_only: it is not set-like. */
Status set_from(Tx *tx, Var *v, bool like_only, SetVar **out);
Status set_copy(Tx *tx, SetVar *s, PyTypeObject *t, SetVar **out);
Status set_order(Tx *tx, SetVar *s, Var ***items, Py_ssize_t *n); /* in iteration order */
Status set_algebra(Tx *tx, SetVar *a, SetVar *b, char op, PyTypeObject *t, SetVar **out);
Status set_algebra_in_place(Tx *tx, SetVar *s, SetVar *b, char op);
Status set_compare(Tx *tx, SetVar *a, SetVar *b, int op, bool *yes);

/* -- Iterators -------------------------------------------------------------------------------- */

/* Has the container changed in a way that the real iterator would notice, and one made now would not? */
Status iter_stale(Tx *tx, IterVar *it, bool *yes);
Status iter_make(Tx *tx, PyTypeObject *t, Var *seq, Var **items, Py_ssize_t n,
                 IterVar **out);
Status wrapiter_make(Tx *tx, PyTypeObject *t, char what, Var *fn, Var **its, int n,
                     WrapIterVar **out);
/* The next item; a StopIteration that a function raises passes. */
Status wrapiter_step(Tx *tx, WrapIterVar *w, Var **out);

#endif
