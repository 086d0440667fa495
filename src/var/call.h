/*
 * var/call.h -- what the CALL instructions need beyond var_call.
 */
#ifndef JEDLIK_VAR_CALL_H
#define JEDLIK_VAR_CALL_H
#include "var/var.h"
Status args_prepend(Tx *tx, Var *first, const Args *a, Args *out); /* out may be a */
bool args_have_tensor(const Args *a);
/* Calls fn for a CALL instruction: pushes a frame if a Python function is behind it (*entered), else *out is the result. */
Status call_enter(Tx *tx, Var *fn, Args *a, Frame **entered, Var **out);
/* class.c: type.__call__ of the class `self`: __new__ and __init__, past a __call__ of its metaclass. */
Status class_instance(Tx *tx, Var *self, const Args *a, Var **out);
/* tensor.c: a C method of a tensor, by name; a->v[0] is the tensor. */
Status tensor_call_method(Tx *tx, TensorVar *t, PyObject *name, const Args *a, Var **out);
/* class.c: type.__call__ of the class `self`: __new__ and __init__, past a __call__ of its metaclass. */
Status class_instance(Tx *tx, Var *self, const Args *a, Var **out);
#endif
