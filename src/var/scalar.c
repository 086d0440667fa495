/*
 * var/scalar.c -- lazy scalars: ints, floats and bools from outside, as expressions over sources.
 *
 * Arithmetic gives another expression; a branch guards the predicate; a use that needs the number itself pins the
 * leaves by equality guards. An operation that can raise records a NORAISE predicate at once (rule 1).
 */
#include "trace/tx.h"
#include "var/object.h"
#include "var/binops.h"
#include "var/consts.h"

Status scalar_new(Tx *tx, Expr *e, Var **out)
{
    if (e == NULL)
        return raise_now(tx);
    if (e->kind == EX_CONST)
        return const_peek(tx, e->value, out);
    ScalarVar *s;
    TRY(VAR_MAKE(tx, scalar, ScalarVar, Py_TYPE(e->value), &s));
    s->e = e;
    s->v.src = e->kind == EX_LEAF ? e->src : NULL;
    *out = &s->v;
    return ST_OK;
}

typedef struct Pin {
    Tx *tx;
    Status st;
} Pin;

static void pin_leaf(Expr *leaf, void *arg)
{
    Pin *p = arg;
    if (p->st != ST_OK)
        return;
    if (leaf->kind == EX_LEN)
        p->st = guard_num(&p->tx->guards, GUARD_LEN, leaf->src,
                          PyLong_AsSsize_t(leaf->value));
    else
        p->st = guard_eq(&p->tx->guards, leaf->src, leaf->value);
}

/* The value, with equality guards on everything it is made of. */
Status scalar_pin(Tx *tx, ScalarVar *s, PyObject **out)
{
    Pin p = { tx, ST_OK };
    expr_leaves(s->e, pin_leaf, &p);
    TRY(p.st);
    *out = s->e->value;
    return ST_OK;
}

/* -- Operators -------------------------------------------------------------- */

static Status as_expr(Tx *tx, Var *v, Expr **out)
{
    *out = NULL;
    if (v->kind == &kind_scalar) {
        *out = AS(ScalarVar, v)->e;
    } else if (v->kind == &kind_const &&
               (v->type == &PyLong_Type || v->type == &PyFloat_Type ||
                v->type == &PyBool_Type)) {
        *out = expr_const(&tx->exprs, v->real);
        TRY_PTR(*out);
    }
    return ST_OK;
}

/* Operators whose result type follows from the operands' types; a power of floats is none now and then, which is a miss. */
static bool lazy_op(int op, const Expr *a, const Expr *b)
{
    if (op == BINOP_POWER)
        return PyFloat_CheckExact(a->value) || PyFloat_CheckExact(b->value);
    return op != BINOP_LSHIFT && op != BINOP_MATRIX_MULTIPLY;
}

static Status pinned_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    PyObject *x, *y;
    TRY(var_const(tx, a, &x));
    TRY(var_const(tx, b, &y));
    PyObject *r = binop_table[op].fn(x, y);
    return r ? const_result(tx, r, (Var *[]){ a, b }, 2, out) : raise_now(tx);
}

/* Constants that meet numbers but are no expressions. */
static bool real_number(Var *v)
{
    return v->kind == &kind_const && (v->type == &PyComplex_Type || const_numpy(v->real));
}

static Status binary_(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    Expr *a, *b;
    op %= BINOP_COUNT;
    TRY(as_expr(tx, self, &a));
    TRY(as_expr(tx, other, &b));
    if (b == NULL && real_number(other))
        return pinned_binary(tx, reflected ? other : self, reflected ? self : other, op,
                             out);
    if (a == NULL || b == NULL) {
        *out = tx->notimpl;
        return ST_OK;
    }
    if (!lazy_op(op, a, b))
        return pinned_binary(tx, reflected ? other : self, reflected ? self : other, op,
                             out);
    Expr *e =
        reflected ? expr_binary(&tx->exprs, op, b, a) : expr_binary(&tx->exprs, op, a, b);
    if (e == NULL)
        return pinned_binary(tx, reflected ? other : self, reflected ? self : other, op,
                             out);
    if (!expr_total(e))
        TRY(guard_noraise(&tx->guards, e));
    return scalar_new(tx, e, out);
}

static Status compare_(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    Expr *a, *b;
    if (var_is_instance(
            other)) { /* of a subclass of a number: C compares with what it has of that */
        other = object_part(other);
        *out = tx->notimpl;
        if (other == NULL || !number_takes(self, other, BINOP_ADD))
            return ST_OK;
    }
    TRY(as_expr(tx, self, &a));
    TRY(as_expr(tx, other, &b));
    bool ordered = op != Py_EQ && op != Py_NE;
    if (b == NULL && real_number(other) && !(ordered && PyComplex_Check(other->real))) {
        PyObject *mine;
        TRY(scalar_pin(tx, AS(ScalarVar, self), &mine));
        PyObject *r = PyObject_RichCompare(mine, other->real, op);
        return r ? const_new(tx, r, out) : raise_now(tx);
    }
    if (a == NULL || b == NULL) {
        *out = tx->notimpl;
        return ST_OK;
    }
    return scalar_new(tx, expr_compare(&tx->exprs, op, a, b), out);
}

static Status unary_(Tx *tx, Var *self, char op, Var **out)
{
    return scalar_new(tx, expr_unary(&tx->exprs, op, AS(ScalarVar, self)->e), out);
}

static Status truth_(Tx *tx, Var *self, bool *yes)
{
    Expr *e = AS(ScalarVar, self)->e;
    *yes = PyObject_IsTrue(e->value) == 1;
    return guard_pred(&tx->guards, e, *yes);
}

static Status hash_(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    TRY(scalar_pin(tx, AS(ScalarVar, self), key));
    *h = PyObject_Hash(*key);
    return ST_OK;
}

static Status repr_(Tx *tx, Var *self, bool str, Var **out)
{
    PyObject *o;
    TRY(scalar_pin(tx, AS(ScalarVar, self), &o));
    PyObject *r = str ? PyObject_Str(o) : PyObject_Repr(o);
    return r ? const_new(tx, r, out) : raise_now(tx);
}

static Status getattr_(Tx *tx, Var *self, PyObject *name, Var **out)
{
    Var *c;
    PyObject *o;
    TRY(scalar_pin(tx, AS(ScalarVar, self), &o));
    if (self->src) /* what its methods return may be the number itself */
        TRY(const_known(tx, o, self->src, &c));
    else
        TRY(const_peek(tx, o, &c));
    return var_generic_getattr(tx, c, name, out);
}

/* -- The kind --------------------------------------------------------------- */

const VarKind kind_scalar = {
    .name = "scalar",
    .id = KIND_scalar,
    .getattr = getattr_,
    .truth = truth_,
    .compare = compare_,
    .binary = binary_,
    .unary = unary_,
    .hash = hash_,
    .repr = repr_,
};
