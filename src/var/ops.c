/*
 * var/ops.c -- operators, as Objects/abstract.c dispatches them: reflected forms, the subclass rule, in-place
 * forms that fall back to the plain one, rich comparison with its identity default.
 */
#include <math.h>

#include "builtin/str.h"
#include "trace/tx.h"
#include "var/binops.h"
#include "var/consts.h"
#include "var/container.h"
#include "var/names.h"
#include "var/object.h"
#include "var/type.h"

/* -- Truth and identity ------------------------------------------------------------ */

Status var_truth(Tx *tx, Var *v, bool *yes)
{
    TRY(var_real(tx, &v));
    if (v->kind->truth)
        return v->kind->truth(tx, v, yes);
    if (v->kind->len) {
        Var *n;
        TRY(v->kind->len(tx, v, &n));
        return var_truth(tx, n, yes);
    }
    *yes = true;
    return ST_OK;
}

Status var_not(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind == &kind_scalar)
        return scalar_new(tx, expr_unary(&tx->exprs, '!', AS(ScalarVar, v)->e), out);
    bool yes;
    TRY(var_truth(tx, v, &yes));
    *out = tx_bool(tx, !yes);
    return ST_OK;
}

/* Constants whose identity Python programs may rely on. */
static bool singleton(PyObject *o)
{
    return o == Py_None || o == Py_True || o == Py_False || o == Py_Ellipsis ||
           o == Py_NotImplemented ||
           (torch_ready &&
            (Py_TYPE(o) == torch_types.dtype || Py_TYPE(o) == torch_types.layout ||
             Py_TYPE(o) == torch_types.memory_format));
}

/* Texts of which CPython has one object only. */
static bool short_text(PyObject *o)
{
    return PyUnicode_CheckExact(o) &&
           (PyUnicode_GET_LENGTH(o) == 0 ||
            (PyUnicode_GET_LENGTH(o) == 1 && PyUnicode_READ_CHAR(o, 0) < 256));
}

/* Constants of the program, and what CPython itself has computed from them, are the objects that the program would see; but
 * where an equality guard stands for an object, another equal one may come. */
static bool nan_object(PyObject *o)
{
    if (!PyFloat_Check(o) && !PyComplex_Check(o))
        return false;
    Py_complex c = PyComplex_AsCComplex(o);
    return isnan(c.real) || isnan(c.imag);
}

/* 1: equal, or NaNs both, so that nothing tells whether they are one object; -1: an error. */
static int equal_or_nans(PyObject *x, PyObject *y)
{
    return nan_object(x) && nan_object(y) ? 1 : PyObject_RichCompareBool(x, y, Py_EQ);
}

static Status is_constants(Tx *tx, Var *a, Var *b, bool *yes)
{
    *yes = a->real == b->real;
    if (a->type != b->type || singleton(a->real) || singleton(b->real) ||
        short_text(a->real))
        return ST_OK;
    if (!a->by_value && !b->by_value &&
        (*yes || a->type == &PyUnicode_Type || a->type == &PyBytes_Type))
        return ST_OK;
    int same = a->by_value || b->by_value
                   ? equal_or_nans(a->real, b->real)
                   : PyObject_RichCompareBool(a->real, b->real, Py_EQ);
    if (same < 0)
        return raise_now(tx);
    if (!same)
        return ST_OK;
    return graph_break(tx, BRK_IDENTITY, "two equal constants of type %s",
                       a->type->tp_name);
}

/* The very object behind a number: as it lies at its source, or the program's own constant; NULL: one that is yet to be computed, or any
 * equal one. */
static PyObject *number_object(Var *v, Source **src)
{
    Expr *e = v->kind == &kind_scalar ? AS(ScalarVar, v)->e : NULL;
    *src = e && e->kind == EX_LEAF ? e->src : NULL;
    if (e)
        return *src ? e->value : NULL;
    return v->kind == &kind_const && !v->by_value ? v->real : NULL;
}

/* One of the ints that CPython has once, for good. */
static bool only_one(PyObject *o)
{
    int over = 1;
    long n = PyLong_CheckExact(o) ? PyLong_AsLongAndOverflow(o, &over) : 0;
    if (over || n < -5 || n > 256)
        return false;
    PyObject *small = PyLong_FromLong(n);
    Py_XDECREF(small);
    return small == o;
}

/* Different values are different objects. One small int is one object, as long as the sources have just that. */
static Status same_number(Tx *tx, Var *a, Var *b, bool *yes)
{
    Source *from[2];
    PyObject *x = number_object(a, &from[0]), *y = number_object(b, &from[1]);
    *yes = x && x == y && only_one(x);
    for (int i = 0; *yes && i < 2; i++)
        if (from[i])
            TRY(guard_is(&tx->guards, from[i], x));
    if (*yes)
        return ST_OK;
    TRY(var_const(tx, a, &x));
    TRY(var_const(tx, b, &y));
    int same = x && y ? equal_or_nans(x, y) : 1;
    if (same < 0)
        return raise_now(tx);
    return same ? graph_break(tx, BRK_IDENTITY, "numbers of type %s", a->type->tp_name)
                : ST_OK;
}

static Status is_scalar(Tx *tx, Var *a, Var *b, bool *yes)
{
    if (a->type != b->type) {
        *yes = false;
        return ST_OK;
    }
    if (a->type == &PyBool_Type) {
        PyObject *x, *y;
        TRY(var_const(tx, a, &x));
        TRY(var_const(tx, b, &y));
        *yes = x == y;
        return ST_OK;
    }
    return same_number(tx, a, b, yes);
}

/* A constant, and a tuple that is known by its items. */
static Status is_tuple(Tx *tx, Var *known, Var *open, bool *yes)
{
    *yes = known->real == open->real && !known->by_value && open->src;
    if (*yes)
        return guard_is(&tx->guards, open->src, known->real);
    bool same =
        open->real && PyTuple_GET_SIZE(open->real) == PyTuple_GET_SIZE(known->real);
    return same ? graph_break(tx, BRK_IDENTITY, "%s", "tuples of one length") : ST_OK;
}

/* An object has one plain reference, which may be there already. */
static bool weak_pair(Var *made, Var *other)
{
    return made->real == NULL &&
           (made->kind == &kind_weakref || made->kind == &kind_weakproxy) &&
           other->real && PyWeakref_Check(other->real);
}

Status var_is(Tx *tx, Var *a, Var *b, bool *yes)
{
    *yes = true;
    if (a == b)
        return ST_OK;
    TRY(var_real(tx, &a));
    TRY(var_real(tx, &b));
    if (a == b)
        return ST_OK;
    if (a->kind == &kind_const && b->kind == &kind_const)
        return is_constants(tx, a, b, yes);
    if (a->kind == &kind_scalar || b->kind == &kind_scalar)
        return is_scalar(tx, a, b, yes);
    if (a->kind == &kind_builtin && b->kind == &kind_builtin) {
        *yes = a->real == b->real && !AS(BuiltinVar, a)->self && !AS(BuiltinVar, b)->self;
        return ST_OK;
    }
    if (a->kind == &kind_tensor && b->kind == &kind_tensor)
        return tensor_is(tx, a, b, yes);
    if (a->kind == &kind_const && b->kind == &kind_tuple && a->type == b->type)
        return is_tuple(tx, a, b, yes);
    if (a->kind == &kind_tuple && b->kind == &kind_const && a->type == b->type)
        return is_tuple(tx, b, a, yes);
    *yes = false;
    if (weak_pair(a, b) || weak_pair(b, a))
        return graph_break(tx, BRK_WEAK, "%s", "compared with one that existed before");
    if (a->real && b->real && a->real == b->real && a->kind == b->kind) {
        *yes = true;
        return ST_OK;
    }
    if (a->real && b->real && a->src && b->src &&
        a->type == b->type) /* they differ now: it must stay so */
        return var_distinct(tx, a, b);
    return ST_OK;
}

/* -- Binary operators ------------------------------------------------------------------- */

static bool as_tensor_op(Var *a, Var *b)
{
    return a->kind == &kind_tensor || b->kind == &kind_tensor;
}

/* Python numbers and strings give way to whatever the other side does. */
static Status tensor_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    const Binop *row = &binop_table[op % BINOP_COUNT];
    PyObject *target =
        op >= BINOP_COUNT && a->kind == &kind_tensor ? row->itarget : row->target;
    TorchOp known = torch_classify(target);
    TorchOp t = { .cls = TC_NODE,
                  .mutates = target == row->itarget,
                  .pure = known.pure,
                  .total = known.total };
    Var *v[2] = { a, b };
    return torch_call(tx, target, false, t, &(Args){ .v = v, .n = 2 }, out);
}

static Status const_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    const Binop *row = &binop_table[op % BINOP_COUNT];
    PyObject *r = row->fn(a->real, b->real);
    if (r == NULL &&
        op >= BINOP_COUNT) { /* the same failure, worded for the in-place form */
        PyErr_Clear();
        r = PyObject_CallFunctionObjArgs(row->itarget, a->real, b->real, NULL);
    }
    return r ? const_result(tx, r, (Var *[]){ a, b }, 2, out) : raise_now(tx);
}

static bool is_plain_value(const Var *v)
{
    return v->kind == &kind_const || v->kind == &kind_scalar;
}

/* The numbers that the C operators of a number's type take, instances of subclasses among them. */
static bool takes(PyTypeObject *t, PyTypeObject *other, int op)
{
    bool whole = PyType_IsSubtype(other, &PyLong_Type),
         real = whole || PyType_IsSubtype(other, &PyFloat_Type);
    if (t == &PyLong_Type || t == &PyBool_Type)
        return whole && op != BINOP_MATRIX_MULTIPLY;
    bool any = op == BINOP_ADD || op == BINOP_SUBTRACT || op == BINOP_MULTIPLY ||
               op == BINOP_TRUE_DIVIDE || op == BINOP_POWER;
    if (t == &PyFloat_Type)
        return real && (any || op == BINOP_FLOOR_DIVIDE || op == BINOP_REMAINDER);
    return t == &PyComplex_Type && any &&
           (real || PyType_IsSubtype(other, &PyComplex_Type));
}

static bool is_number(const Var *v)
{
    return is_plain_value(v) && (v->type == &PyLong_Type || v->type == &PyBool_Type ||
                                 v->type == &PyFloat_Type || v->type == &PyComplex_Type);
}

bool number_takes(const Var *number, const Var *other, int op)
{
    return !is_number(number) || !is_number(other) ||
           takes(number->type, other->type, op % BINOP_COUNT);
}

/* A number with the built-in part of an instance: on the left it is asked before a method of the other's class, unless that is a subclass
 * of its own. */
static Status number_side(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    Var *part = var_is_instance(other) ? object_part(other) : NULL;
    op %= BINOP_COUNT;
    if (part == NULL || !is_number(self) || !is_number(part) ||
        !takes(self->type, part->type, op))
        return ST_OK;
    return reflected ? var_binary(tx, part, self, op, out)
                     : var_binary(tx, self, part, op, out);
}

static Status try_side(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    *out = tx->notimpl;
    if (is_number(self) && var_is_instance(other)) {
        TRY(number_side(tx, self, other, op, reflected, out));
        if (*out != tx->notimpl)
            return ST_OK;
    }
    if (op == BINOP_OR && self->kind == &kind_opaque &&
        strcmp(self->type->tp_name, "types.UnionType") == 0)
        return reflected ? class_union(tx, other, self, out)
                         : class_union(tx, self, other, out);
    if (self->kind == &kind_opaque && self->type->tp_as_number)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s of %s",
                           binop_table[op % BINOP_COUNT].symbol, self->type->tp_name);
    if (self->kind->binary == NULL)
        return ST_OK;
    TRY(self->kind->binary(tx, self, other, op, reflected, out));
    TRY(var_real(tx, out));
    return ST_OK;
}

static bool right_first(Var *a, Var *b)
{
    return a->type != b->type && PyType_IsSubtype(b->type, a->type);
}

/* Of two instances of Python classes the right one comes first only if its class has a reflected method of its own. */
static Status reflected_first(Tx *tx, Var *a, Var *b, int op, bool *yes)
{
    PyObject *mine, *theirs, *name = binop_table[op % BINOP_COUNT].rname;
    *yes = right_first(a, b);
    if (!*yes || !var_is_instance(a) || !var_is_instance(b))
        return ST_OK;
    TRY(type_lookup(tx, b->type, name, &theirs));
    TRY(type_lookup(tx, a->type, name, &mine));
    *yes = theirs != NULL && theirs != mine;
    return ST_OK;
}

static binaryfunc number_slot(PyTypeObject *t, int op, bool in_place)
{
    const PyNumberMethods *m = t->tp_as_number;
    if (m == NULL || (op != BINOP_ADD && op != BINOP_MULTIPLY))
        return NULL;
    if (in_place)
        return op == BINOP_ADD ? m->nb_inplace_add : m->nb_inplace_multiply;
    return op == BINOP_ADD ? m->nb_add : m->nb_multiply;
}

/* Sequences are joined and repeated only when no number on either side knows the operator: a class that has it is one. */
static bool number_first(const Var *a, const Var *b, int op)
{
    int plain = op % BINOP_COUNT;
    return var_is_instance(b) && number_slot(b->type, plain, false) != NULL &&
           number_slot(a->type, plain, false) == NULL &&
           (op < BINOP_COUNT || number_slot(a->type, plain, true) == NULL);
}

static Status plain_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    bool swapped;
    TRY(reflected_first(tx, a, b, op, &swapped));
    swapped |= number_first(a, b, op);
    if (swapped) {
        TRY(try_side(tx, b, a, op, true, out));
        if (*out != tx->notimpl)
            return ST_OK;
    }
    TRY(try_side(tx, a, b, op, false, out));
    if (*out != tx->notimpl || swapped)
        return ST_OK;
    if (a->type == b->type && var_is_instance(a))
        return ST_OK;
    return try_side(tx, b, a, op, true, out);
}

/* The wording of sequences, which are asked last; false: neither is one. */
static bool sequence_failure(Tx *tx, Var *a, Var *b, int op, Status *st)
{
    const PySequenceMethods *x = a->type->tp_as_sequence, *y = b->type->tp_as_sequence;
    bool left =
        x &&
        x->sq_repeat; /* in place, a left one that only looks like a sequence hides the right one */
    bool right = y && y->sq_repeat && (op < BINOP_COUNT || x == NULL);
    if (op % BINOP_COUNT == BINOP_MULTIPLY && (left || right)) {
        *st = raise_type(tx, PyExc_TypeError,
                         "can't multiply sequence by non-int of type '%.200s'",
                         (left ? b : a)->type->tp_name);
        return true;
    }
    if (op % BINOP_COUNT != BINOP_ADD || !x || !x->sq_concat)
        return false;
    const char *name = PyType_IsSubtype(a->type, &PyUnicode_Type) ? "str"
                       : PyType_IsSubtype(a->type, &PyTuple_Type) ? "tuple"
                       : PyType_IsSubtype(a->type, &PyList_Type)  ? "list"
                                                                  : NULL;
    *st =
        name == NULL || (torch_types.size && a->type == torch_types.size)
            ? graph_break(tx, BRK_NO_SLOT, "%s + %s", a->type->tp_name, b->type->tp_name)
            : raise_type(tx, PyExc_TypeError,
                         "can only concatenate %s (not \"%.200s\") to %s", name,
                         b->type->tp_name, name);
    return true;
}

static Status no_operator(Tx *tx, Var *a, Var *b, int op)
{
    Status st;
    if (a->kind == &kind_opaque || b->kind == &kind_opaque)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s %s %s", a->type->tp_name,
                           binop_table[op % BINOP_COUNT].symbol, b->type->tp_name);
    if (sequence_failure(tx, a, b, op, &st))
        return st;
    if (op % BINOP_COUNT == BINOP_REMAINDER && PyType_IsSubtype(a->type, &PyBytes_Type))
        return graph_break(tx, BRK_NO_SLOT, "%s of bytes", "%-formatting");
    bool power = op % BINOP_COUNT == BINOP_POWER;
    return raise_type(
        tx, PyExc_TypeError, "unsupported operand type(s) for %s%s: '%s' and '%s'",
        power && op < BINOP_COUNT ? "** or pow()" : binop_table[op % BINOP_COUNT].symbol,
        op >= BINOP_COUNT ? "=" : "", a->type->tp_name, b->type->tp_name);
}

/* Nobody took the operation. What no expression can say of a lazy number ("ab" * n, (0, 0) * n) is done for real. */
static Status last_resort(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    PyObject *x, *y;
    if (op == BINOP_COUNT + BINOP_ADD && a->kind == &kind_list)
        return *out = a, list_extend(tx, AS(ListVar, a), b);
    if (!is_plain_value(a) || !is_plain_value(b))
        return no_operator(tx, a, b, op);
    TRY(var_const(tx, a, &x));
    TRY(var_const(tx, b, &y));
    const Binop *row = &binop_table[op % BINOP_COUNT];
    PyObject *r = PyObject_CallFunctionObjArgs(
        op >= BINOP_COUNT ? row->itarget : row->target, x, y, NULL);
    return r ? const_result(tx, r, (Var *[]){ a, b }, 2, out) : raise_now(tx);
}

/* As binary_iop1, and the sequences' own forms behind it. */
static Status in_place_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    bool asked = number_first(a, b, op);
    *out = tx->notimpl;
    if (asked)
        TRY(try_side(tx, b, a, op - BINOP_COUNT, true, out));
    if (*out == tx->notimpl)
        TRY(try_side(tx, a, b, op, false, out));
    if (*out != tx->notimpl)
        return ST_OK;
    return asked ? try_side(tx, a, b, op - BINOP_COUNT, false, out)
                 : plain_binary(tx, a, b, op - BINOP_COUNT, out);
}

Status var_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    TRY(var_real(tx, &a));
    TRY(var_real(tx, &b));
    if (op % BINOP_COUNT == BINOP_ADD || op % BINOP_COUNT == BINOP_MULTIPLY) {
        TRY(tuple_of_known(tx, &a));
        TRY(tuple_of_known(tx, &b));
    }
    if (a->kind == &kind_const && b->kind == &kind_const)
        return const_binary(tx, a, b, op, out);
    if (op % BINOP_COUNT == BINOP_REMAINDER && a->kind == &kind_const &&
        PyUnicode_CheckExact(a->real)) {
        PyObject *theirs = NULL; /* what str has does as the left side's own */
        if (right_first(a, b))
            TRY(type_lookup(tx, b->type, binop_table[BINOP_REMAINDER].rname, &theirs));
        if (theirs != NULL && (!Py_IS_TYPE(theirs, &PyWrapperDescr_Type) ||
                               PyDescr_TYPE(theirs) != &PyUnicode_Type)) {
            TRY(try_side(tx, b, a, op % BINOP_COUNT, true, out));
            if (*out != tx->notimpl)
                return ST_OK;
        }
        return str_percent(tx, a->real, b, out);
    }
    if (op % BINOP_COUNT == BINOP_REMAINDER && var_is_instance(b) &&
        PyType_IsSubtype(a->type, &PyBytes_Type) && !right_first(a, b))
        return graph_break(tx, BRK_NO_SLOT, "%s of bytes", "%-formatting");
    if (as_tensor_op(a, b) && !var_is_instance(a) && !var_is_instance(b))
        return tensor_binary(tx, a, b, op, out);
    if (op >= BINOP_COUNT) {
        TRY(in_place_binary(tx, a, b, op, out));
        return *out == tx->notimpl ? last_resort(tx, a, b, op, out) : ST_OK;
    }
    TRY(plain_binary(tx, a, b, op, out));
    if (*out == tx->notimpl && as_tensor_op(a, b))
        return tensor_binary(tx, a, b, op, out);
    return *out == tx->notimpl ? last_resort(tx, a, b, op, out) : ST_OK;
}

Status var_unary(Tx *tx, Var *v, char op, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor) {
        PyObject *target = operator_fns[op == '-'   ? FN_neg
                                        : op == '+' ? FN_pos
                                                    : FN_invert];
        bool pure = torch_classify(target).pure;
        TorchOp t = { .cls = TC_NODE, .pure = pure, .total = pure };
        return torch_call(tx, target, false, t, &(Args){ .v = &v, .n = 1 }, out);
    }
    if (v->kind->unary)
        return v->kind->unary(tx, v, op, out);
    if (v->kind == &kind_opaque)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "unary %c of %s", op, v->type->tp_name);
    return raise_type(tx, PyExc_TypeError, "bad operand type for unary %c: '%s'", op,
                      v->type->tp_name);
}

/* -- Comparison ------------------------------------------------------------------------------ */

static Status tensor_compare(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    Var *v[2] = { a, b };
    PyObject *target = operator_fns[FN_lt + op];
    bool pure = torch_classify(target).pure;
    TorchOp t = { .cls = TC_NODE, .pure = pure, .total = pure };
    Var *other = a->kind == &kind_tensor ? b : a;
    if (other->kind == &kind_const && (op == Py_EQ || op == Py_NE) &&
        !PyNumber_Check(other->real)) {
        *out = tx_bool(
            tx,
            op ==
                Py_NE); /* tensor == None, tensor == "str": NotImplemented twice, then identity */
        return ST_OK;
    }
    return torch_call(tx, target, false, t, &(Args){ .v = v, .n = 2 }, out);
}

/* C types that compare with their own kind only. */
static bool stranger(Var *self, Var *other)
{
    static const char *const names[] = { "types.UnionType", "types.GenericAlias" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(self->type->tp_name, names[i]) == 0)
            return other->type != self->type;
    return false;
}

static Status compare_side(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    *out = tx->notimpl;
    if (self->kind == &kind_opaque && stranger(self, other))
        return ST_OK;
    if (self->kind == &kind_opaque &&
        self->type->tp_richcompare != PyBaseObject_Type.tp_richcompare)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "comparison of %s", self->type->tp_name);
    if (self->kind->compare == NULL)
        return ST_OK;
    TRY(self->kind->compare(tx, self, other, op, out));
    return var_real(tx, out);
}

static Status compare_default(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    static const char *symbol[] = { "<", "<=", "==", "!=", ">", ">=" };
    bool same;
    if (op != Py_EQ && op != Py_NE)
        return raise_type(tx, PyExc_TypeError,
                          "'%s' not supported between instances of '%s' and '%s'",
                          symbol[op], a->type->tp_name, b->type->tp_name);
    TRY(var_is(tx, a, b, &same));
    *out = tx_bool(tx, same == (op == Py_EQ));
    return ST_OK;
}

Status var_compare(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    if (tx_deep(tx))
        return graph_break(tx, BRK_RECURSION, "%s", "comparison of values in values");
    TRY(var_real(tx, &a));
    TRY(var_real(tx, &b));
    if (a->kind == &kind_const && b->kind == &kind_const) {
        PyObject *r = PyObject_RichCompare(a->real, b->real, op);
        return r ? const_new(tx, r, out) : raise_now(tx);
    }
    if (as_tensor_op(a, b) && !var_is_instance(a) && !var_is_instance(b))
        return tensor_compare(tx, a, b, op, out);
    static const int swapped[] = { Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE };
    bool first = right_first(a, b);
    if (first) {
        TRY(compare_side(tx, b, a, swapped[op], out));
        if (*out != tx->notimpl)
            return ST_OK;
    }
    TRY(compare_side(tx, a, b, op, out));
    if (*out != tx->notimpl)
        return ST_OK;
    if (!first) {
        TRY(compare_side(tx, b, a, swapped[op], out));
        if (*out != tx->notimpl)
            return ST_OK;
    }
    return compare_default(tx, a, b, op, out);
}

static bool inexact(Var *v)
{
    return (v->kind == &kind_scalar || v->kind == &kind_const) &&
           (v->type == &PyFloat_Type || v->type == &PyComplex_Type);
}

/* Two unequal numbers may still be one object, if they are not equal to themselves: on this call, or on a later one that the guards let
 * in. */
static Status two_nans(Tx *tx, Var *a, Var *b)
{
    if (a->type != b->type || !inexact(a) || !inexact(b))
        return ST_OK;
    Var *known = a->kind == &kind_const ? a : b, *r;
    bool itself;
    TRY(var_compare(tx, known, known, Py_EQ, &r));
    TRY(var_truth(tx, r, &itself));
    if (itself)
        return ST_OK;
    TRY(var_is(tx, a, b, &itself));
    return itself ? graph_break(tx, BRK_IDENTITY, "%s", "a NaN that is looked for")
                  : ST_OK;
}

/* Identity or equality, as containers compare what they hold. */
Status var_equal(Tx *tx, Var *a, Var *b, bool *yes)
{
    TRY(var_real(tx, &a));
    TRY(var_real(tx, &b));
    *yes = true;
    if (a == b || (a->kind == &kind_const && b->kind == &kind_const && a->real == b->real))
        return ST_OK;
    if (a->real && a->real == b->real && a->kind == b->kind && a->kind != &kind_builtin)
        return ST_OK;
    Var *r;
    TRY(var_compare(tx, a, b, Py_EQ, &r));
    TRY(var_truth(tx, r, yes));
    return *yes ? ST_OK : two_nans(tx, a, b);
}

/* -- Hash ------------------------------------------------------------------------------------------ */

/* An existing object that is a key by its identity must be that object. */
static Status key_pinned(Tx *tx, Var *v, PyObject *key)
{
    v = same_object(v);
    if (key == NULL || v->real != key || v->kind == &kind_const || v->src == NULL ||
        v->src->kind == SRC_CONST)
        return ST_OK;
    return guard_is(&tx->guards, v->src, key);
}

/* The hash of a NaN is that of the object. */
static Status nan_pinned(Tx *tx, Var *v, PyObject *key)
{
    if (!inexact(v) || (v->kind == &kind_const && !v->by_value))
        return ST_OK;
    return nan_object(key) ? graph_break(tx, BRK_IDENTITY, "%s", "hash of a NaN") : ST_OK;
}

Status var_hash(Tx *tx, Var *v, PyObject **key, Py_hash_t *h)
{
    TRY(var_real(tx, &v));
    if (v->kind->hash) {
        TRY(v->kind->hash(tx, v, key, h));
        TRY(nan_pinned(tx, v, *key));
        return key_pinned(tx, v, *key);
    }
    if (v->kind == &kind_list || v->kind == &kind_dict || v->kind == &kind_set ||
        v->kind == &kind_slice)
        return raise_type(tx, PyExc_TypeError, "unhashable type: '%s'", v->type->tp_name);
    if (v->kind == &kind_opaque && v->real && key_plain(v->real)) {
        *key = v->real;
        *h = PyObject_Hash(v->real);
        return key_pinned(tx, v, *key);
    }
    return graph_break(tx, BRK_DYN_KEY, "%s", v->type ? v->type->tp_name : v->kind->name);
}
