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
    EX_LEAF, /* value found at a source */
    EX_CONST,
    EX_LEN,   /* len() of the list, tuple, dict, set, str … at a source */
    EX_DIM,   /* dimension `op` of the tensor at a source */
    EX_UNARY, /* op: '-', '+', '~', '!' (not), 'b' (bool), 'i' (int), 'f' (float), 's' (str), 'a' (abs), EXPR_MATH */
    EX_BINARY,  /* op: BinaryOp */
    EX_COMPARE, /* op: Py_LT … Py_GE */
} ExprKind;

/* Numbers as BINARY_OP has them (plain forms). */
typedef enum {
    BIN_ADD,
    BIN_AND,
    BIN_FLOORDIV,
    BIN_LSHIFT,
    BIN_MATMUL,
    BIN_MUL,
    BIN_MOD,
    BIN_OR,
    BIN_POW,
    BIN_RSHIFT,
    BIN_SUB,
    BIN_TRUEDIV,
    BIN_XOR,
    BIN_COUNT
} BinaryOp;

/* Functions of math that are unary operations: X(op, name). */
#define EXPR_MATH(X)                                                                     \
    X('A', acos)                                                                         \
    X('B', asin)                                                                         \
    X('C', cos)                                                                          \
    X('D', degrees)                                                                      \
    X('E', exp)                                                                          \
    X('F', floor)                                                                        \
    X('G', ceil)                                                                         \
    X('H', cosh)                                                                         \
    X('I', isinf)                                                                        \
    X('J', isnan)                                                                        \
    X('K', isfinite)                                                                     \
    X('L', log)                                                                          \
    X('M', log2)                                                                         \
    X('N', log10)                                                                        \
    X('O', log1p)                                                                        \
    X('P', expm1)                                                                        \
    X('Q', sqrt)                                                                         \
    X('R', radians)                                                                      \
    X('S', sin)                                                                          \
    X('T', tan)                                                                          \
    X('U', trunc)                                                                        \
    X('V', fabs)                                                                         \
    X('W', tanh)                                                                         \
    X('X', atan)                                                                         \
    X('Y', sinh)                                                                         \
    X('Z', erf)
/* Those that give a number for every float: degrees, isinf, isnan, isfinite, radians, fabs, tanh, atan, erf. */
#define EXPR_MATH_TOTAL "DIJKRVWXZ"

typedef struct Expr Expr;
struct Expr {
    uint8_t kind, op;
    bool safe; /* this operation alone cannot raise, whatever its operands of the same types are */
    bool total; /* nor can any below */
    bool large; /* a value here or below is so large that equality is the better guard */
    uint16_t size; /* nodes of the DAG: each once if they are many, else at most so many. Saturating */
    uint32_t id;
    Expr *a, *b;
    Source *src;
    PyObject *value; /* in this trace; held by the arena */
    Expr *chain;
    uintptr_t asked; /* bit 0: a predicate, bit 1: does not raise; journalled */
    int reg;         /* used by freeze */
    uint32_t seen;   /* last walk or count that came here */
};

typedef struct Exprs {
    Arena *arena;
    Expr **bucket;
    size_t nbuckets, n;
} Exprs;

enum { EXPR_MAX_SIZE = 64, EXPR_HARD_LIMIT = 2048 };

int exprs_init(Exprs *t, Arena *arena);
Expr *expr_leaf(Exprs *t, Source *src, PyObject *value);
Expr *expr_len(Exprs *t, Source *src, PyObject *value);
Expr *expr_dim(Exprs *t, Source *src, int dim, PyObject *value);
Expr *expr_const(Exprs *t, PyObject *value);

/* Compute the value with CPython; NULL with the operation's exception set. NULL without an exception: the result
 * has no place here (a complex number, an expression past the hard limit): ask equality of the leaves
 * (guard_leaves) and go on with constants. Constants fold; (n+1)+1 becomes n+2 for ints. */
Expr *expr_unary(Exprs *t, char op, Expr *a);
Expr *expr_binary(Exprs *t, int binary_op, Expr *a, Expr *b);
Expr *expr_compare(Exprs *t, int cmp, Expr *a, Expr *b);

/* Cannot raise whatever the leaves' values of the same types are. */
static inline bool expr_total(const Expr *e)
{
    return e->total;
}

/* Worth evaluating in a check: few nodes, and no number or str of great size. Otherwise equality is asked. */
static inline bool expr_small(const Expr *e)
{
    return !e->large && e->size <= EXPR_MAX_SIZE;
}

void expr_print(Text *t, const Expr *e, PyObject *slot_names);

/* Calls fn for every distinct leaf (LEAF, LEN, DIM). */
void expr_leaves(Expr *e, void (*fn)(Expr *leaf, void *arg), void *arg);

/* -- The operations themselves, for the check program ------------------------ */

bool calc_exact(PyObject *o); /* exactly int, float, bool or str */
/* On exact scalars only. New reference; NULL with the operation's exception. */
PyObject *calc_unary(char op, PyObject *a);
PyObject *calc_binary(int binary_op, PyObject *a, PyObject *b);
PyObject *calc_compare(int cmp, PyObject *a, PyObject *b);
/* Would the operation make something too large to be made twice (2 ** n, "x" * n)? */
bool calc_excessive(int binary_op, PyObject *a, PyObject *b);
bool calc_large(PyObject *o);
const char *calc_binary_name(int binary_op);
const char *calc_compare_name(int cmp);
const char *calc_unary_name(char op); /* with an opening parenthesis if it is a function */

#endif
