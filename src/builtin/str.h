/*
 * builtin/str.h -- text formatting on symbolic values, for operators too.
 */
#ifndef JEDLIK_BUILTIN_STR_H
#define JEDLIK_BUILTIN_STR_H

#include "var/var.h"

/* format % values, where values are not all constants. */
Status str_percent(Tx *tx, PyObject *format, Var *values, Var **out);

#endif
