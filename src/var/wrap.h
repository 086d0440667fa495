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

/* Is a subclass of tuple one in all but its name: no attributes, no operators of its own? Its repr may be. */
bool wrap_is_tuple(PyTypeObject *t);

#endif
