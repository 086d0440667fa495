/*
 * var/exc.h -- exceptions as values.
 */
#ifndef JEDLIK_VAR_EXC_H
#define JEDLIK_VAR_EXC_H

#include "var/var.h"

/* An equal real exception, made from constant arguments: what C-level attributes and messages are read from. NULL: the arguments
 * are no constants, or the class is written in Python. */
Status exc_shadow(Tx *tx, ExcVar *e, PyObject **out);
/* str(e) and repr(e) as BaseException has them, past overrides in Python. */
Status exc_base_str(Tx *tx, ExcVar *e, Var **out);
Status exc_base_repr(Tx *tx, ExcVar *e, Var **out);
/* Attributes of C exception classes (args, __cause__ …), past overrides; ST_DECLINE: none of them. */
Status exc_member(Tx *tx, ExcVar *e, PyObject *name, Var **out);

/* Existing exceptions that are no kind_exc: a field, read where it is (ST_DECLINE: `descr` is none), and the texts of those
 * that BaseException's own methods give. */
Status exc_existing_field(Tx *tx, Var *self, PyObject *descr, PyObject *name, Var **out);
Status exc_existing_text(Tx *tx, Var *self, bool str, Var **out);

/* A field or slot of one that the trace has made, by its descriptor; value NULL: deletion. */
Status exc_field_get(Tx *tx, Var *self, PyObject *descr, PyObject *name, Var **out);
Status exc_field_set(Tx *tx, Var *self, PyObject *descr, PyObject *name, Var *value);

/* e.__traceback__ = tb: None, or one that the trace has given out. */
Status exc_set_traceback(Tx *tx, ExcVar *e, Var *tb);

#endif
