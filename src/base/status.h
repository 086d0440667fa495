/*
 * base/status.h -- the one result type of the engine, and what each value promises.
 *
 * Every function that can fail returns a Status; results go to the last parameter and are
 * written on ST_OK only. The forward declarations of Tx and Var are the one upward glance
 * of this folder: nearly every signature mentions them.
 */
#ifndef JEDLIK_BASE_STATUS_H
#define JEDLIK_BASE_STATUS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum {
    ST_OK,    /* done, *out is written */
    ST_RAISE, /* the traced program raises tx->exc; unwound by trace/except.c */
    ST_BREAK, /* graph break; the reason stands in tx->brk */
    ST_ERROR, /* our failure (memory, bug): a Python exception is set, the compile is given up */
    ST_DECLINE, /* this handler row does not apply; legal only below builtin/match.c */
} Status;

#define MUST_USE __attribute__((warn_unused_result))

/* Returns early with anything that is not ST_OK. */
#define TRY(expr)                                                                        \
    do {                                                                                 \
        Status try_st_ = (expr);                                                         \
        if (__builtin_expect(try_st_ != ST_OK, 0))                                       \
            return try_st_;                                                              \
    } while (0)

/* For a CPython call that must give an object and whose failure is ours. */
#define TRY_PTR(ptr)                                                                     \
    do {                                                                                 \
        if (__builtin_expect((ptr) == NULL, 0))                                          \
            return ST_ERROR;                                                             \
    } while (0)

/* Believed impossible, not proven: asserted in debug builds, still handled in others. */
#define NEVER(x) (assert(!(x)), __builtin_expect(!!(x), 0))

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

typedef struct Tx Tx;   /* one trace: trace/tx.h */
typedef struct Var Var; /* one symbolic value: var/var.h */

#endif
