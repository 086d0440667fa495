/*
 * builtin/group.h -- exception groups, which except* takes apart.
 */
#ifndef JEDLIK_BUILTIN_GROUP_H
#define JEDLIK_BUILTIN_GROUP_H

#include "builtin/help.h"

bool is_group_class(PyTypeObject *t);
/* BaseExceptionGroup.__new__(cls, message, exceptions) */
Status group_new(Tx *tx, PyTypeObject *cls, Var **v, Py_ssize_t n, Var **out);
/* Methods that groups have besides those of all exceptions; declines others. */
Status group_method(Tx *tx, const char *name, Var *self, const Args *a, Var **out);
/* What except* does with the exception and what stands behind it: *match and *rest are None for nothing. */
Status group_match(Tx *tx, Var *exc, Var *types, Var **match, Var **rest);
/* What is raised again behind the last except*: None for nothing. */
Status group_leftover(Tx *tx, Var *orig, Var *excs, Var **out);

#endif
