/*
 * var/bytearray.h -- bytearrays made by the trace.
 */
#ifndef JEDLIK_VAR_BYTEARRAY_H
#define JEDLIK_VAR_BYTEARRAY_H

#include "var/container.h"

/* bytearray(...) of known values; declines others. */
Status bytearray_make(Tx *tx, const Args *a, Var **out);
/* A new one like this real one. */
Status bytearray_like(Tx *tx, PyObject *real, Var **out);
/* A method of bytearray, called on one of the trace; declines other callables and unknown arguments. */
Status bytearray_method(Tx *tx, PyObject *callable, const Args *a, Var **out);
/* A list whose items are known, as a real one; NULL: it is another thing. */
Status bytearray_parts(Tx *tx, Var *list, PyObject **out);
/* A real one with the content it has now, held by the trace. */
PyObject *bytearray_real(Tx *tx, Var *v);

#endif
