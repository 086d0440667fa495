/*
 * emit/helpers.h -- small C functions that segment code calls where no instruction does the thing.
 *
 * They stand in co_consts as built-in functions. All of them write raw storage: no __setattr__, __setitem__, __new__
 * or __init__ written in Python runs, since their effects were traced already.
 */
#ifndef JEDLIK_EMIT_HELPERS_H
#define JEDLIK_EMIT_HELPERS_H

#include "base/status.h"

typedef enum {
#define HELPER(name, signature) HELPER_##name,
#include "emit/helpers.def"
#undef HELPER
    HELPER_COUNT
} Helper;

int helpers_init(void);            /* 0, or -1 with an exception set; once */
PyObject *helper_object(Helper h); /* borrowed */
const char *helper_name(Helper h);
/* Something empty that gives an iterator of this type: new reference; NULL without exception: no such thing is known. */
PyObject *helper_empty(PyTypeObject *iterator);

/* Types without a public name. */
extern struct HelperTypes {
    PyTypeObject *deque, *ordered, *defaultdict, *partial;
} helper_types;

#endif
