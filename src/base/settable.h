/*
 * base/settable.h -- copies of sets that keep the order.
 */
#ifndef JEDLIK_BASE_SETTABLE_H
#define JEDLIK_BASE_SETTABLE_H

#include "base/status.h"

/* An exact set, or frozenset, with the table of `from` (a set or frozenset): same order now and after the same changes. New reference. */
PyObject *set_twin(PyObject *from, bool frozen);

/* `into`, a set of whatever class, drops what it has and gets such a table. -1: an exception is set. */
int set_assume(PyObject *into, PyObject *from);

/* set op= other by the slots of set, whatever the classes of the two are: '|' takes dicts too, '&', '-', '^'. -1: an exception is set. */
int set_in_place(PyObject *set, PyObject *other, char op);

/* One step of a history: '+' adds the item, '-' takes it out, 'p' pops, 'c' clears, '=' makes the set the item's twin;
 * '|', '&', '_' (minus), '^' in place with the item. -1: an exception is set. */
int set_step(PyObject *set, char what, PyObject *item);

/* Each member that is equal to one of the n objects gives way to that, in its place. -1: an exception is set. */
int set_swap(PyObject *set, PyObject *const *objects, Py_ssize_t n);

#endif
