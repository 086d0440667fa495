/*
 * var/proto.h -- Python's data model, written once over the slots, following CPython's Objects/abstract.c and
 * typeobject.c. Everything above var/ goes through these; all of them realise lazy operands first.
 */
#ifndef JEDLIK_VAR_PROTO_H
#define JEDLIK_VAR_PROTO_H

#include "var/var.h"

/* Whether the type has the slot. A kind that does not model what its type can do breaks; only a type that cannot do it raises. */
#define TYPE_HAS(type, table, slot) ((type)->table && (type)->table->slot)

/* Realises: after it, (*v)->kind is not lazy. */
Status var_real(Tx *tx, Var **v);

/* -- Asking for plain values ------------------------------------------------------ */

/* The constant behind a value (pins lazy scalars by equality guards); *out NULL if it is not a constant. Tuples, slices and ranges of
 * constants count. Borrowed from the trace. */
Status var_const(Tx *tx, Var *v, PyObject **out);
/* The existing object with its identity guarded, or NULL. */
bool var_is_const(Var *v); /* already a constant, nothing asked */
/* What PyObject_LengthHint runs of the class of an object, for its effects: the number is of no use here. */
Status var_length_hint(Tx *tx, Var *v);
Status var_index_value(Tx *tx, Var *v, Var **out); /* as PyNumber_Index */
/* As PyNumber_AsSsize_t; overflow NULL: as PyLong_AsSsize_t words it. */
Status var_ssize(Tx *tx, Var *v, PyObject *overflow, Py_ssize_t *out);
Status var_index(
    Tx *tx, Var *v,
    Py_ssize_t *
        out); /* as PyNumber_AsSsize_t: constant int; raises TypeError/IndexError in the program */
Status var_type_of(Tx *tx, Var *v, PyTypeObject **out);

/* -- Attributes (attr.c) ------------------------------------------------------------ */
Status var_getattr(Tx *tx, Var *v, PyObject *name, Var **out);
Status var_getattr_opt(Tx *tx, Var *v, PyObject *name,
                       Var **out); /* AttributeError -> OK with *out NULL */
Status var_setattr(Tx *tx, Var *v, PyObject *name, Var *value); /* NULL deletes */
Status var_generic_getattr(Tx *tx, Var *v, PyObject *name,
                           Var **out); /* as PyObject_GenericGetAttr */
Status var_generic_setattr(Tx *tx, Var *v, PyObject *name, Var *value);
/* For LOAD_METHOD: *self NULL if the result is bound or not a method. */
Status var_getmethod(Tx *tx, Var *v, PyObject *name, Var **func, Var **self);
/* MRO lookup on a type with a guard; *out borrowed real object or NULL (guarded absent). */
Status type_lookup(Tx *tx, PyTypeObject *t, PyObject *name, PyObject **out);
/* The special method `name` of type(v), as an unbound Var, or NULL. */
Status var_special(Tx *tx, Var *v, PyObject *name, Var **out);

/* -- Calls (call.c) ------------------------------------------------------------------- */
Status var_call(Tx *tx, Var *fn, const Args *a, Var **out);
Status class_instance(Tx *tx, Var *self, const Args *a, Var **out); /* type.__call__ */
Status var_call0(Tx *tx, Var *fn, Var **out);
Status var_call1(Tx *tx, Var *fn, Var *a, Var **out);
Status var_call2(Tx *tx, Var *fn, Var *a, Var *b, Var **out);
Status var_call_method(Tx *tx, Var *self, const char *name, Var **v, int n, Var **out);
/* Calls what var_special found: functions take self, other descriptors are bound, anything else does not see it. */
Status var_call_unbound(Tx *tx, Var *self, Var *f, const Args *a, Var **out);
/* Calls type(self).name(self, v...) if the class defines it; *out NULL if it does not. */
Status var_call_special(Tx *tx, Var *self, const char *name, Var **v, int n, Var **out);

/* -- Operators (ops.c) ------------------------------------------------------------------ */
Status var_truth(Tx *tx, Var *v, bool *yes);
Status var_not(Tx *tx, Var *v, Var **out);
Status var_is(Tx *tx, Var *a, Var *b, bool *yes);
Status var_binary(Tx *tx, Var *a, Var *b, int op, Var **out); /* NB_*, in-place included */
Status var_unary(Tx *tx, Var *v, char op, Var **out);
Status var_compare(Tx *tx, Var *a, Var *b, int op, Var **out); /* Py_LT … Py_GE */
Status var_equal(Tx *tx, Var *a, Var *b, bool *yes); /* identity, then == and truth */
Status var_overrides(Tx *tx, Var *v, bool *yes);     /* a __torch_function__ of its own */
Status var_no_override(Tx *tx, Var *v);              /* a break if it has one */
Status var_contains(Tx *tx, Var *container, Var *item, bool *yes);
Status var_contains_by_iteration(Tx *tx, Var *container, Var *item, bool *yes);
Status var_hash(Tx *tx, Var *v, PyObject **key, Py_hash_t *h);

/* -- Containers and iteration (seq.c) ------------------------------------------------------ */
Status var_len(Tx *tx, Var *v, Var **out);
Status var_getitem(Tx *tx, Var *v, Var *key, Var **out);
/* raises: it has no items to be set or deleted */
Status no_setitem(Tx *tx, Var *v, Var *key, Var *value);
Status var_setitem(Tx *tx, Var *v, Var *key, Var *value); /* NULL deletes */
Status var_iter(Tx *tx, Var *v, Var **out);
/* The next item, for a loop, which counts its turns itself; *out NULL: exhausted. var_next counts. */
Status var_step(Tx *tx, Var *it, Var **out);
Status var_next(Tx *tx, Var *it,
                Var **out); /* *out NULL: exhausted (StopIteration swallowed) */
/* All items of any iterable, in order. */
Status var_unpack(Tx *tx, Var *v, Var ***items, Py_ssize_t *n);
/* iter(v) with other words for a TypeError, whoever raised it (%s: the type). */
Status var_iter_or(Tx *tx, Var *v, const char *lacks, Var **it);
/* As PySequence_Tuple, which asks for a length. */
Status var_tuple_items(Tx *tx, Var *v, Var ***items, Py_ssize_t *n);
/* As PySequence_Fast: a TypeError of iter() gets other words (%s: the type). */
Status var_sequence(Tx *tx, Var *v, const char *lacks, Var ***items, Py_ssize_t *n);
/* The same, but an iterator is asked for no more than `most` items. */
Status var_unpack_most(Tx *tx, Var *v, size_t most, Var ***items, Py_ssize_t *n);
Status var_str(Tx *tx, Var *v, Var **out);
Status var_repr(Tx *tx, Var *v, Var **out);
Status var_ascii(Tx *tx, Var *v, Var **out);
Status var_format(Tx *tx, Var *v, Var *spec /* may be NULL */, Var **out);
Status var_isinstance(Tx *tx, Var *v, Var *cls, bool *yes);
Status var_issubclass(Tx *tx, Var *sub, Var *cls, bool *yes);

/* -- Dictionaries as storage (dict.c): no user code, keys as KeyMap takes them --------------- */
Status dict_get(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h,
                Var **out); /* *out NULL: absent (guarded) */
Status dict_set(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, Var *value);
Status dict_del(Tx *tx, DictVar *d, PyObject *key, Py_hash_t h, bool *was);
Status dict_open(Tx *tx, DictVar *d);
/* Items in order; opens. keys[i] are Vars. */
Status dict_items(Tx *tx, DictVar *d, Var ***keys, Var ***values, Py_ssize_t *n);
Status dict_count(Tx *tx, DictVar *d, Py_ssize_t *n);
Status dict_get_str(Tx *tx, DictVar *d, PyObject *name, Var **out);
Status dict_set_str(Tx *tx, DictVar *d, PyObject *name, Var *value);
/* The instance dictionary of an object, function, module … ; NULL: it has none. */
Status attrs_of(Tx *tx, Var *v, DictVar **out);
Status list_open(Tx *tx, ListVar *l);
Status tuple_of_known(Tx *tx, Var **v);
Status list_push(Tx *tx, ListVar *l, Var *item);
Status list_clear(Tx *tx, ListVar *l);
Status list_reverse(Tx *tx, ListVar *l);
/* All that an existing set or list holds goes, looked at or not. */
Status drop_content(Tx *tx, Var *container);
Status list_replace(Tx *tx, ListVar *l, Var **items, Py_ssize_t n); /* whole content */
/* Before an existing value may be dropped: one whose end runs code breaks. */
Status drop(Tx *tx, Var *old);
/* The same for what lies at a place that nobody has asked about; NULL: nothing, now. */
Status drop_place(Tx *tx, PyObject *old, Source *src);
/* A value that existed is let go: what weak references to it give is not known any more. */
void weak_drop(Tx *tx, PyObject *old);
/* Puts an existing value on the ledger before its first change (no-op for new ones). */
Status var_touch(Tx *tx, Var *v);
Status var_distinct(Tx *tx, Var *a, Var *b);
Status tensor_is(Tx *tx, Var *a, Var *b, bool *yes);
/* The built-in part of a value: itself for list, dict …; ObjectVar.content for subclasses; NULL: none. */
Var *var_content(Var *v);

#endif
