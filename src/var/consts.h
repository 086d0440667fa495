/*
 * var/consts.h -- which real objects count as constants.
 */
#ifndef JEDLIK_VAR_CONSTS_H
#define JEDLIK_VAR_CONSTS_H
#include "var/var.h"
bool const_immutable(PyObject *o);
/* Compiled patterns and matches: nothing about them ever changes, but they are told apart by identity. */
bool const_object(PyObject *o);
/* Numbers of numpy's own types: immutable, but neither int nor float to torch's factories. */
bool const_numpy(PyObject *o);
/* torch.finfo, torch.iinfo: made by the trace, what their attributes say never changes. */
bool const_facts(PyObject *o);
#endif
