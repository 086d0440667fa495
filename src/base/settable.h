/*
 * base/settable.h -- copies of sets that keep the order.
 */
#ifndef JEDLIK_BASE_SETTABLE_H
#define JEDLIK_BASE_SETTABLE_H

#include "base/status.h"

/* An exact set, or frozenset, with the table of `from` (a set or frozenset): same order now and after the same changes. New reference. */
PyObject *set_twin(PyObject *from, bool frozen);

#endif
