/*
 * var/func.h -- parts of functions for argument binding, and calls of C functions.
 */
#ifndef JEDLIK_VAR_FUNC_H
#define JEDLIK_VAR_FUNC_H
#include "var/var.h"
Status func_ndefaults(Tx *tx, FuncVar *f, Py_ssize_t *n);
Status func_default(Tx *tx, FuncVar *f, Py_ssize_t i, Var **out);
Status func_kwdefault(Tx *tx, FuncVar *f, PyObject *name, Var **out); /* *out NULL: none */
Status builtin_call(Tx *tx, BuiltinVar *b, const Args *a, Var **out); /* call.c */
#endif
