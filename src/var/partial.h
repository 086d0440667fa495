/*
 * var/partial.h -- functools.partial as a value.
 */
#ifndef JEDLIK_VAR_PARTIAL_H
#define JEDLIK_VAR_PARTIAL_H

#include "var/var.h"

Status partial_wrap(Tx *tx, PyObject *o, Source *src, Var **out);
Status partial_new(Tx *tx, PyTypeObject *t, Var *fn, const Args *a, Var **out);
/* Positional arguments one behind the other, keywords of `more` over those of `first`. */
Status partial_args(Tx *tx, const Args *first, const Args *more, Args *out);

#endif
