/*
 * builtin/register.h -- functions that Python has told the engine about: jedlik.register().
 */
#ifndef JEDLIK_BUILTIN_REGISTER_H
#define JEDLIK_BUILTIN_REGISTER_H
#include "trace/tx.h"
int register_add(PyObject *fn, const char *kind); /* 0, or -1 with ValueError set */
bool register_knows(
    PyObject *fn); /* has anybody said anything about it? torch.compiler.allow_in_graph() counts */
/* ST_DECLINE: fn is not registered, or is to be inlined. */
Status register_call(Tx *tx, PyObject *fn, const Args *a, Var **out);
#endif
