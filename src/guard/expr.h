/*
 * guard/expr.h -- scalar expressions over sources: a DAG, shared subexpressions, folded constants.
 *
 * Values are exact int, float, bool or str. Every expression carries its value in this trace. The check program
 * evaluates expressions with CPython's own operations; an exception there is a miss.
 */
#ifndef JEDLIK_GUARD_EXPR_H
#define JEDLIK_GUARD_EXPR_H

#include "source/source.h"

typedef enum {
    EX_LEAF,   /* value found at a source */
    EX_CONST,
    EX_LEN,    /* len() of the list, tuple, dict, set, str … at a source */
    EX_UNARY,  /* op: '-', '+', '~', '!' (not), 'b' (bool), 'i' (int), 'f' (float), 's' (str), 'a' (abs) */
    EX_BINARY, /* op: NB_* index of BINARY_OP (plain forms) */
    EX_COMPARE,/* op: Py_LT … Py_GE */
    EX_DATA,   /* dimension `op` of the tensor at a source, for later */
} ExprKind;

typedef struct Expr Expr;
struct Expr {
    uint8_t kind, op;
    uint16_t size;   /* nodes of the DAG counted with repetition, saturating */
    uint32_t id;
    Expr *a, *b;
    Source *src;
    PyObject *value; /* in this trace; held by the arena */
    Expr *chain;
    int reg;
};

typedef struct Exprs {
    Arena *arena;
    Expr **bucket;
    size_t nbuckets, n;
} Exprs;

enum { EXPR_MAX_SIZE = 64 };

int exprs_init(Exprs *t, Arena *arena);
Expr *expr_leaf(Exprs *t, Source *src, PyObject *value);
Expr *expr_len(Exprs *t, Source *src, PyObject *value);
Expr *expr_const(Exprs *t, PyObject *value);
/* Compute the value with CPython; NULL with the operation's exception set. Constants fold; (n+1)+1 becomes n+2 for ints. */
Expr *expr_unary(Exprs *t, char op, Expr *a);
Expr *expr_binary(Exprs *t, int nb_op, Expr *a, Expr *b);
Expr *expr_compare(Exprs *t, int cmp, Expr *a, Expr *b);
bool expr_total(const Expr *e);  /* cannot raise whatever the leaves' values of the same types are */
void expr_print(Text *t, const Expr *e, PyObject *slot_names);

/* Calls fn for every distinct leaf source. */
void expr_leaves(Expr *e, void (*fn)(Expr *leaf, void *arg), void *arg);

#endif
