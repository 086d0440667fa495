/*
 * trace/torchcall.h -- calls that become graph nodes: torch_call is declared in trace/tx.h.
 */
#ifndef JEDLIK_TRACE_TORCHCALL_H
#define JEDLIK_TRACE_TORCHCALL_H
#include "trace/tx.h"

/* A node whose result is known: `meta` has its structure and twins, held by the trace. device: of its tensors; NULL: the arguments' metadata
 * decide. */
Status torch_call_known(Tx *tx, PyObject *target, TorchOp op, const Args *a,
                        PyObject *meta, PyObject *device, Var **out);

/* Adds a node that is complete but for what follows from the operation and the place. */
Status torch_node(Tx *tx, Node *n, TorchOp op, uint32_t *id);

/* An argument of an operation that is a number from outside and may have any value (number.c); ST_DECLINE: it has to be pinned.
 * *raises: with another value the operation may raise. */
Status number_arg(Tx *tx, const char *name, const Args *a, int i, GArg *g,
                  PyObject **real, bool *raises);
/* tensor: backends are given it as one. */
/* Has the point met another value of it before? Remembers this one; asked with the same answer by a trace for a graph that failed. */
Status number_varies(Tx *tx, Expr *e, bool *yes);
Status number_input(Tx *tx, ScalarVar *s, bool tensor, GArg *arg);
/* Whether a node that runs the user's Python may be recorded now (open.c). */
Status open_check(Tx *tx, PyObject *target, bool declared);
/* What the function may come across; whether something with pending changes is among it. endless: it may be anything. (reach.c) */
Status open_reaches(Tx *tx, PyObject *function, PtrMap *seen, bool *changed,
                    bool *endless);
bool open_changeable(PyObject *o);

/* Guards the storage offset, leaf and view flag of an input; of what is made in the trace, those of all inputs. */
Status torch_facts(Tx *tx, const TensorVar *t);
/* A question about tensors that a call has answered without one: an answer that is not certain is a break (torchask.c). */
Status torch_ask(Tx *tx, const char *name, TorchOp op, unsigned unsure,
                 Var *const *tensors, int n);

/* An operation whose number is a tensor, as operations on tensors (split.c); ST_DECLINE: it is no such call. */
Status torch_split(Tx *tx, const char *name, const Args *a, Var **out);

#endif
