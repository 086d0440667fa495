/*
 * var/wrap.h -- constructors of existing values that kinds give to wrap.c.
 */
#ifndef JEDLIK_VAR_WRAP_H
#define JEDLIK_VAR_WRAP_H

#include "var/var.h"

Status tensor_wrap(Tx *tx, PyObject *o, Source *src, Var **out);
Status func_wrap(Tx *tx, PyObject *o, Source *src, bool pinned, Var **out);
Status partial_wrap(Tx *tx, PyObject *o, Source *src, Var **out);
/* Declines those behind which something else than an OrderedDict is. */
Status proxy_wrap(Tx *tx, PyObject *o, Source *src, Var **out);
Status wrap_tuple(Tx *tx, PyObject *o, Source *src, Var **out);

/* The built-in class an instance of a Python-written class has its layout from (object, dict, list, BaseException …), or NULL: foreign. */
PyTypeObject *wrap_layout(PyTypeObject *t);
/* Instances of t are modelled as ObjectVar. */
bool wrap_is_object(PyTypeObject *t);

/* Instances of t are tuples with a type: named tuples whose class changes nothing of what tuples do. */
bool wrap_is_record(PyTypeObject *t);

#endif
