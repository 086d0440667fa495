/*
 * base/same.h -- equality of constants that holds for type and bits.
 *
 * -0.0, nan, 1, True and 1.0 are all different here, also inside tuples. Runs no user code:
 * what is not a constant is the same only as itself.
 */
#ifndef JEDLIK_BASE_SAME_H
#define JEDLIK_BASE_SAME_H

#include "base/status.h"

bool const_same(PyObject *a, PyObject *b);
/* Equal for what const_same calls the same. */
uintptr_t const_hash(PyObject *o);

/* kept: an object, or a weak reference to it. Nothing is a dead one. */
bool kept_is(PyObject *kept, PyObject *value);
static inline bool kept_same(PyObject *kept, PyObject *value)
{
    return kept_is(kept, value) || const_same(kept, value);
}

#endif
