/*
 * builtin/help.h -- what handlers share: constants in, constants out.
 */
#ifndef JEDLIK_BUILTIN_HELP_H
#define JEDLIK_BUILTIN_HELP_H

#include "builtin/handler.h"

/* Could be a constant: a peek that asks nothing. */
bool fold_possible(Var *v);
/* Are all arguments? */
bool fold_ready(const Args *a);
/* The value as an immutable constant (pins lazy scalars), or NULL if it is none. Borrowed from the trace. */
Status fold_value(Tx *tx, Var *v, PyObject **out);
/* Is it in the table of callables free of effects? */
bool fold_is_pure(PyObject *callable);
/* Wraps the result of a real call that is free of effects: constants, and new containers of them. NULL in: its exception is the
 * program's. Objects that cannot be wrapped decline. */
Status fold_wrap(Tx *tx, PyObject *steals, Var **out);
/* Calls it for real if all arguments are constants; else declines. The caller knows that it is free of effects. */
Status fold_run(Tx *tx, PyObject *callable, const Args *a, Var **out);

/* An attribute name: interned str. Raises TypeError in the program for others. */
Status arg_name(Tx *tx, Var *v, PyObject **name);
/* Expr unary op on a lazy scalar ('i', 'f', 's', 'a', 'b' …); pins and runs for real what the expression cannot do. */
Status scalar_apply(Tx *tx, ScalarVar *s, char op, Var **out);
/* An int, float, bool, complex … constant or scalar, or that part of an instance of a subclass; NULL: none. */
Var *number_part(Var *v);
/* The handler's positional arguments behind the first, as Args of their own (keywords kept). */
static inline Args args_tail(const Args *a, int skip)
{
    return (Args){ a->v + skip, a->n - skip, a->nkw, a->kwnames };
}

/* Traces code that will be run for real and by itself, so that it must not read what is pending nor change what exists; what it asks
 * stays guarded. Breaks otherwise. An exception is the caller's to judge: the real run raises it again. */
typedef Status (*ClosedFn)(Tx *tx, void *arg, Var **out);
Status run_closed(Tx *tx, ClosedFn fn, void *arg, Var **out);

/* Object of a dotted path in a loaded module, held by the trace; NULL without exception if there is none. */
PyObject *lookup_path(Tx *tx, const char *module, const char *name);

/* A function of jedlik._nodes as a node's target: only a graph whose operations are called one by one can have it, for others that is a
 * break. `what`: for the reason. */
Status node_target(Tx *tx, const char *name, const char *what, PyObject **out);

/* Existing or constant object behind the value whose identity the trace may rely on: classes, functions, modules, constants. */
static inline PyObject *known_object(Var *v)
{
    return v->real;
}

/* exc.c: calls of exception classes and of the methods that all of them share; declines others. */
Status exc_match(Tx *tx, PyObject *callable, const Args *a, Var **out);

#endif
