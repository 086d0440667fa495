/*
 * var/binops.h -- the table of binary operators.
 */
#ifndef JEDLIK_VAR_BINOPS_H
#define JEDLIK_VAR_BINOPS_H

#include "base/status.h"

enum {
#define BINOP(NAME, name, symbol, fn) BINOP_##NAME,
#include "var/binops.def"
#undef BINOP
    BINOP_COUNT /* op >= BINOP_COUNT: the in-place form of op - BINOP_COUNT */
};

typedef struct Binop {
    const char *symbol, *special, *rspecial, *ispecial;
    const char *fn_name,
        *ifn_name; /* in module operator: "add", "iadd"; and_ and or_ have an underscore there */
    PyObject *(*fn)(PyObject *, PyObject *);
    PyObject *name, *rname, *iname; /* interned specials */
    PyObject *target, *itarget;     /* operator.add, operator.iadd */
} Binop;

extern Binop binop_table[BINOP_COUNT];

/* Other functions of module operator that become graph nodes: operator_fns[FN_getitem]. */
enum {
#define FN(name) FN_##name,
#include "var/operators.def"
#undef FN
    FN_COUNT
};

extern PyObject *operator_fns[FN_COUNT]; /* owned for ever */
int binop_init(void);                    /* both tables */

#endif
