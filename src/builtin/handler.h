/*
 * builtin/handler.h -- handlers of built-in functions, types and methods: the contract, once.
 *
 * A row names a callable by its dotted path ("builtins.len", "builtins.list.append", "math.sqrt"); the path is resolved when
 * the engine starts (or when the module is first seen in sys.modules) and rows are found by identity of the object. Methods get `self` as
 * a->v[0]: the content part of subclasses is found with var_content().
 *
 * - min, max: positional arguments (max -1: any). `kw`: names of accepted keywords, space-separated, or NULL: none; ANY_KW: all.
 *   A call outside of them that is not a legal call for the real callable raises its TypeError; otherwise it is a break.
 * - Arguments may be lazy: realise what you look into (var_real), leave alone what you only pass on.
 * - *out is written on ST_OK only.
 * - Decide first, act after: ST_DECLINE (the next row of the same path, then constant folding, then a break) only before any node,
 *   effect or raise.
 * - ST_BREAK may come at any depth: the tracer rewinds to the instruction.
 * - Never call user code; user code is *traced*, through var_call & co.
 * - Python semantics that fail turn into ST_RAISE (raise_type, raise_now); failures of ours into ST_ERROR.
 */
#ifndef JEDLIK_BUILTIN_HANDLER_H
#define JEDLIK_BUILTIN_HANDLER_H

#include "trace/tx.h"

typedef Status (*HandlerFn)(Tx *tx, const Args *a, Var **out);

typedef struct Handler {
    const char *path;
    int min, max;
    HandlerFn fn;
    const char *kw;
} Handler;

#define ANY_KW "*"

/* One table a file; all of them stand in match.c's list. */
#define HANDLER_TABLES(X)                                                                \
    X(core)                                                                              \
    X(seq)                                                                               \
    X(dict)                                                                              \
    X(set)                                                                               \
    X(str)                                                                               \
    X(num)                                                                               \
    X(iter)                                                                              \
    X(deque)                                                                             \
    X(reduce)                                                                            \
    X(exc)                                                                               \
    X(object)                                                                            \
    X(functools)                                                                         \
    X(torch)                                                                             \
    X(autograd)                                                                          \
    X(optim)                                                                             \
    X(checks)                                                                            \
    X(checkpoint)                                                                        \
    X(sdpa)                                                                              \
    X(random)                                                                            \
    X(parameter)                                                                         \
    X(context)                                                                           \
    X(weak)                                                                              \
    X(heap)                                                                              \
    X(misc)                                                                              \
    X(testing)                                                                           \
    X(source)                                                                            \
    X(build)                                                                             \
    X(instance)                                                                          \
    X(gen)
#define X(name) extern const Handler handlers_##name[];
HANDLER_TABLES(X)
#undef X

/* Runs the rows for `callable`; ST_DECLINE if there are none or all decline. */
Status match_call(Tx *tx, PyObject *callable, const Args *a, Var **out);
/* Calls of existing objects whose C class makes them callable: itemgetter, lru_cache … ST_DECLINE: not one of them. */
Status match_object(Tx *tx, Var *fn, const Args *a, Var **out);
/* A call of an operator.itemgetter, attrgetter or methodcaller. ST_DECLINE: not one of them, or not modelled. */
Status call_operator_object(Tx *tx, PyObject *getter, const Args *a, Var **out);
/* Folding: callable is free of effects by table ("fold" list in fold.c) and all arguments are constants. ST_DECLINE otherwise. */
Status fold_call(Tx *tx, PyObject *callable, const Args *a, Var **out);
/* The TypeError of a call with a number of arguments, or with keywords, that the C callable never takes; else ST_DECLINE. */
Status illegal_call(Tx *tx, PyObject *callable, const Args *a);
/* Changes the arguments of a call of a Python function that is to be traced otherwise than plainly (optim.c). */
Status optim_adjust(Tx *tx, PyObject *fn, Args *a);
/* autograd.c: the function that is traced in the place of autograd.Function.apply, if its forward is to be traced in place. */
Status function_stand_in(Tx *tx, Var **fn, const Args *a);
/* functools.c: caches that were filled while tracing, by calls that are not in a trace that is going to run, are as before. */
void cache_settle(Tx *tx, bool runs);
int optim_init(void);
/* A keyword argument's value or NULL. */
Var *args_kw(const Args *a, const char *name);
/* Positional i or keyword name, or NULL. */
Var *args_get(const Args *a, int i, const char *name);
int match_init(void); /* and fold_init() */
int fold_init(void);

#endif
