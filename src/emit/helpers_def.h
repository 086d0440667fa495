/*
 * emit/helpers_def.h -- prototypes of the functions behind helpers.def, for helpers*.c only.
 */
#ifndef JEDLIK_EMIT_HELPERS_DEF_H
#define JEDLIK_EMIT_HELPERS_DEF_H

#include "emit/helpers.h"

#define HELPER(name, signature)                                                          \
    PyObject *do_##name(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
#include "emit/helpers.def"
#undef HELPER

#endif
