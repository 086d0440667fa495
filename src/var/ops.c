/*
 * var/ops.c -- operators, as Objects/abstract.c dispatches them: reflected forms, the subclass rule, in-place
 * forms that fall back to the plain one, rich comparison with its identity default.
 */
#include <math.h>

#include "builtin/help.h"
#include "builtin/str.h"
#include "cpy/cpy.h"
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
    if (TYPE_HAS(v->type, tp_as_number, nb_bool) ||
        TYPE_HAS(v->type, tp_as_sequence, sq_length) ||
        TYPE_HAS(v->type, tp_as_mapping, mp_length))
        return graph_break(tx, BRK_UNKNOWN_TYPE, "truth of %s", v->type->tp_name);
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

/* 1: equal, or NaNs both, so that nothing tells whether they are one object; -1: an error. */
static int equal_or_nans(PyObject *x, PyObject *y)
{
    return key_nan(x) && key_nan(y) ? 1 : PyObject_RichCompareBool(x, y, Py_EQ);
}

/* Constants of the program, and what CPython itself has computed from them, are the objects that the program would see; but
 * where an equality guard stands for an object, another equal one may come. */
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
static Status is_number(Tx *tx, Var *a, Var *b, bool *yes)
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
    return is_number(tx, a, b, yes);
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

/* One object, met in two ways: as a constant of the program, and through a source that was not asked for all of it (code objects, long
 * tuples). */
static Status is_itself(Tx *tx, Var *a, Var *b, bool *yes)
{
    *yes = true;
    if (a->kind == b->kind)
        return ST_OK;
    Var *known = a->kind == &kind_const ? a : b, *met = known == a ? b : a;
    if (known->kind != &kind_const || known->by_value || met->src == NULL)
        return graph_break(tx, BRK_IDENTITY, "a %s that was met in two ways",
                           a->type->tp_name);
    return guard_is(&tx->guards, met->src, known->real);
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
    if (a->kind == &kind_builtin && b->kind == &kind_builtin &&
        !(AS(BuiltinVar, a)->descr && AS(BuiltinVar, b)->descr)) {
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
    if (a->real && a->real == b->real)
        return is_itself(tx, a, b, yes);
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

/* Operators of it are methods of its class: an instance of a Python class, or a class. */
static bool has_methods(const Var *v)
{
    return var_is_instance(v) || v->kind == &kind_class;
}

static bool plain_number(const Var *v)
{
    return (v->kind == &kind_const || v->kind == &kind_scalar) &&
           (v->type == &PyLong_Type || v->type == &PyFloat_Type ||
            v->type == &PyBool_Type || v->type == &PyComplex_Type);
}

/* Tensors, parameters and everything without the attribute do not. torch asks the object, so that a class answers for itself. */
Status var_overrides(Tx *tx, Var *v, bool *yes)
{
    PyObject *f;
    TRY(var_real(tx, &v));
    PyTypeObject *t =
        v->kind == &kind_class && v->real ? (PyTypeObject *)v->real : v->type;
    *yes = false;
    if (v->kind == &kind_tensor || !(t->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return ST_OK;
    TRY(type_lookup(tx, t, str___torch_function__, &f));
    *yes = f != NULL && f != lookup_path(tx, "torch._C", "_disabled_torch_function_impl");
    return ST_OK;
}

Status var_no_override(Tx *tx, Var *v)
{
    bool overrides;
    TRY(var_overrides(tx, v, &overrides));
    return overrides
               ? graph_break(tx, BRK_TORCH_CALL, "an argument with a __torch_function__")
               : ST_OK;
}

/* The number that a tensor's own operators take an instance for, that of a subclass of int or float; NULL: they do not take it. */
static Status as_number(Tx *tx, Var *v, Var **number)
{
    TRY(var_no_override(tx, v));
    *number = var_is_instance(v) ? object_part(v) : NULL;
    if (*number && !plain_number(*number))
        *number = NULL;
    return ST_OK;
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
                  .total = known.total,
                  .rule = known.rule };
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

bool number_takes(const Var *number, const Var *other, int op)
{
    if (!plain_number(number) || !plain_number(other))
        return true;
    const PyTypeObject *t = number->type, *o = other->type;
    bool whole = o == &PyLong_Type || o == &PyBool_Type,
         real = whole || o == &PyFloat_Type;
    op %= BINOP_COUNT;
    if (t == &PyLong_Type || t == &PyBool_Type)
        return whole && op != BINOP_MATRIX_MULTIPLY;
    bool any = op == BINOP_ADD || op == BINOP_SUBTRACT || op == BINOP_MULTIPLY ||
               op == BINOP_TRUE_DIVIDE || op == BINOP_POWER;
    return t == &PyFloat_Type
               ? real && (any || op == BINOP_FLOOR_DIVIDE || op == BINOP_REMAINDER)
               : any;
}

/* The slot of a plain number, on the number in an object; ST_DECLINE: these are none. */
static Status number_side(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    PyObject *x, *y;
    Var *theirs = other->kind == &kind_object ? var_content(other) : NULL;
    if (theirs == NULL || op >= BINOP_COUNT || !plain_number(self) ||
        !plain_number(theirs))
        return ST_DECLINE;
    TRY(var_const(tx, self, &x));
    TRY(var_const(tx, theirs, &y));
    PyObject *name = reflected ? binop_table[op].rname : binop_table[op].name;
    if (cpy_type_lookup(self->type, name) == NULL)
        return ST_DECLINE;
    PyObject *r = PyObject_CallMethodOneArg(x, name, y);
    if (r != Py_NotImplemented)
        return r ? const_new(tx, r, out) : raise_now(tx);
    Py_DECREF(r);
    return ST_DECLINE;
}

static Status try_side(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    Status st = number_side(tx, self, other, op, reflected, out);
    if (st != ST_DECLINE)
        return st;
    *out = tx->notimpl;
    if (self->kind == &kind_tensor && has_methods(other)) {
        Var *number;
        TRY(as_number(tx, other, &number));
        return number == NULL ? ST_OK
               : reflected    ? tensor_binary(tx, number, self, op, out)
                              : tensor_binary(tx, self, number, op, out);
    }
    if (op == BINOP_OR && self->kind == &kind_opaque &&
        strcmp(self->type->tp_name, "types.UnionType") == 0)
        return reflected ? class_union(tx, other, self, out)
                         : class_union(tx, self, other, out);
    if (self->kind->binary == NULL && self->type->tp_as_number &&
        self->kind != &kind_const && self->kind != &kind_tensor)
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
    if (!*yes || !has_methods(a) || !has_methods(b))
        return ST_OK;
    TRY(type_lookup(tx, b->type, name, &theirs));
    TRY(type_lookup(tx, a->type, name, &mine));
    *yes = theirs != NULL && theirs != mine;
    return ST_OK;
}

static Status plain_binary(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    bool swapped;
    TRY(reflected_first(tx, a, b, op, &swapped));
    if (swapped) {
        TRY(try_side(tx, b, a, op, true, out));
        if (*out != tx->notimpl)
            return ST_OK;
    }
    TRY(try_side(tx, a, b, op, false, out));
    if (*out != tx->notimpl || swapped)
        return ST_OK;
    if (a->type == b->type && has_methods(a))
        return ST_OK;
    return try_side(tx, b, a, op, true, out);
}

/* Sequences are asked last, behind a reflected operator of the index. */
static Status repeat(Tx *tx, Var *seq, Var *times, int op, Var **out)
{
    Py_ssize_t n;
    Var *content = var_content(seq);
    if (content == NULL || (content->kind != &kind_const && !content->kind->binary))
        return graph_break(tx, BRK_NO_SLOT, "%s * %s", seq->type->tp_name,
                           times->type->tp_name);
    TRY(var_ssize(tx, times, PyExc_OverflowError, &n));
    if (content->kind == &kind_const) {
        PyObject *r = PySequence_Repeat(content->real, n);
        return r ? const_result(tx, r, &content, 1, out) : raise_now(tx);
    }
    TRY(const_int(tx, n, &times));
    TRY(content->kind->binary(tx, content, times, op, false, out));
    if (*out == content) /* in place */
        *out = seq;
    return ST_OK;
}

/* The sequences in objects, whose operators did not know each other; ST_DECLINE: they are not alike. */
static Status join_contents(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    Var *mine = var_content(a), *theirs = var_content(b);
    if (mine == NULL || theirs == NULL || mine->type != theirs->type ||
        (mine == a && theirs == b))
        return ST_DECLINE;
    if (mine->kind == &kind_const && theirs->kind == &kind_const)
        return const_binary(tx, mine, theirs, op, out);
    if (mine->kind->binary == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s + %s", a->type->tp_name, b->type->tp_name);
    TRY(mine->kind->binary(tx, mine, theirs, op, false, out));
    if (*out == mine) /* in place */
        *out = a;
    return *out == tx->notimpl ? ST_DECLINE : ST_OK;
}

/* What sequences make of it, in their own words too; false: neither is one. */
static bool as_sequence(Tx *tx, Var *a, Var *b, int op, Status *st, Var **out)
{
    const PySequenceMethods *x = a->type->tp_as_sequence, *y = b->type->tp_as_sequence;
    bool left =
        x &&
        x->sq_repeat; /* in place, a left one that only looks like a sequence hides the right one */
    bool right = y && y->sq_repeat && (op < BINOP_COUNT || x == NULL);
    Var *times = left ? b : a;
    if (op % BINOP_COUNT == BINOP_MULTIPLY && (left || right)) {
        *st = TYPE_HAS(times->type, tp_as_number, nb_index)
                  ? repeat(tx, left ? a : b, times, op, out)
                  : raise_type(tx, PyExc_TypeError,
                               "can't multiply sequence by non-int of type '%.200s'",
                               times->type->tp_name);
        return true;
    }
    if (op % BINOP_COUNT != BINOP_ADD || !x || !x->sq_concat)
        return false;
    *st = join_contents(tx, a, b, op, out);
    if (*st == ST_RAISE && var_is_instance(a) && exc_matches(tx, PyExc_TypeError) &&
        PyType_IsSubtype(
            a->type, &PyBytes_Type)) { /* in words about the object, not its content */
        exc_clear(tx);
        *st = raise_type(tx, PyExc_TypeError, "can't concat %.100s to %.100s",
                         b->type->tp_name, a->type->tp_name);
    }
    if (*st != ST_DECLINE)
        return true;
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

static Status no_operator(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    Status st;
    if (a->kind == &kind_opaque || b->kind == &kind_opaque)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s %s %s", a->type->tp_name,
                           binop_table[op % BINOP_COUNT].symbol, b->type->tp_name);
    if (as_sequence(tx, a, b, op, &st, out))
        return st;
    if (op % BINOP_COUNT == BINOP_REMAINDER &&
        (PyType_IsSubtype(a->type, &PyBytes_Type) ||
         PyType_IsSubtype(a->type, &PyByteArray_Type)))
        return graph_break(tx, BRK_NO_SLOT, "%s of bytes", "%-formatting");
    bool power = op % BINOP_COUNT == BINOP_POWER;
    return raise_type(
        tx, PyExc_TypeError, "unsupported operand type(s) for %s%s: '%s' and '%s'",
        power && op < BINOP_COUNT ? "** or pow()" : binop_table[op % BINOP_COUNT].symbol,
        op >= BINOP_COUNT ? "=" : "", a->type->tp_name, b->type->tp_name);
}

static bool is_plain_value(const Var *v)
{
    return v->kind == &kind_const || v->kind == &kind_scalar;
}

/* Nobody took the operation. What no expression can say of a lazy number ("ab" * n, (0, 0) * n) is done for real. */
static Status last_resort(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    PyObject *x, *y;
    Var *content = var_content(a);
    if (op == IN_PLACE(ADD) && content && content->kind == &kind_list)
        return *out = a, list_extend(tx, AS(ListVar, content), b);
    if (!is_plain_value(a) || !is_plain_value(b))
        return no_operator(tx, a, b, op, out);
    TRY(var_const(tx, a, &x));
    TRY(var_const(tx, b, &y));
    const Binop *row = &binop_table[op % BINOP_COUNT];
    PyObject *r = PyObject_CallFunctionObjArgs(
        op >= BINOP_COUNT ? row->itarget : row->target, x, y, NULL);
    return r ? const_result(tx, r, (Var *[]){ a, b }, 2, out) : raise_now(tx);
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
    if (as_tensor_op(a, b) && !has_methods(a) && !has_methods(b))
        return tensor_binary(tx, a, b, op, out);
    if (op >= BINOP_COUNT) {
        TRY(try_side(tx, a, b, op, false, out));
        if (*out != tx->notimpl)
            return ST_OK;
        op -= BINOP_COUNT;
        TRY(plain_binary(tx, a, b, op, out));
        if (*out != tx->notimpl)
            return ST_OK;
        return last_resort(tx, a, b, op + BINOP_COUNT, out);
    }
    TRY(plain_binary(tx, a, b, op, out));
    if (*out == tx->notimpl && as_tensor_op(a, b))
        return tensor_binary(tx, a, b, op, out);
    return *out == tx->notimpl ? last_resort(tx, a, b, op, out) : ST_OK;
}

static TorchOp pure_operator(PyObject *target)
{
    TorchOp known = torch_classify(target);
    return (TorchOp){
        .cls = TC_NODE, .pure = known.pure, .total = known.pure, .rule = known.rule
    };
}

Status var_unary(Tx *tx, Var *v, char op, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor) {
        PyObject *target = operator_fns[op == '-'   ? FN_neg
                                        : op == '+' ? FN_pos
                                                    : FN_invert];
        TorchOp t = pure_operator(target);
        return torch_call(tx, target, false, t, &(Args){ .v = &v, .n = 1 }, out);
    }
    if (v->kind->unary)
        return v->kind->unary(tx, v, op, out);
    if (op == '-'   ? TYPE_HAS(v->type, tp_as_number, nb_negative)
        : op == '+' ? TYPE_HAS(v->type, tp_as_number, nb_positive)
                    : TYPE_HAS(v->type, tp_as_number, nb_invert))
        return graph_break(tx, BRK_UNKNOWN_TYPE, "unary %c of %s", op, v->type->tp_name);
    return raise_type(tx, PyExc_TypeError, "bad operand type for unary %c: '%s'", op,
                      v->type->tp_name);
}

/* -- Comparison ------------------------------------------------------------------------------ */

static Status tensor_compare(Tx *tx, Var *a, Var *b, int op, Var **out)
{
    Var *v[2] = { a, b };
    PyObject *target = operator_fns[FN_lt + op];
    TorchOp t = pure_operator(target);
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
    if (self->kind == &kind_tensor) {
        Var *number;
        TRY(as_number(tx, other, &number));
        return number ? tensor_compare(tx, self, number, op, out) : ST_OK;
    }
    if (self->kind == &kind_opaque && stranger(self, other))
        return ST_OK;
    if (self->kind->compare == NULL &&
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
    if (as_tensor_op(a, b) && !has_methods(a) && !has_methods(b))
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
    if (a == b)
        return ST_OK;
    bool same = a->real && a->real == b->real;
    if (same && a->by_value && b->by_value && key_nan(a->real))
        return two_nans(tx, a, b); /* two places, one object today */
    if (same && a->kind == b->kind && a->kind != &kind_builtin)
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

/* The hash of a NaN is that of the object, which each call makes anew. */
static Status no_nan(Tx *tx, PyObject *key)
{
    if (key == NULL || key_plain(key) ||
        !(key_nan(key) || PyTuple_CheckExact(key) || PyFrozenSet_CheckExact(key)))
        return ST_OK;
    return graph_break(tx, BRK_IDENTITY, "%s", "hash of a NaN, or of what may hold one");
}

Status var_hash(Tx *tx, Var *v, PyObject **key, Py_hash_t *h)
{
    TRY(var_real(tx, &v));
    if (v->type && v->type->tp_hash == PyObject_HashNotImplemented &&
        !(v->type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return raise_type(tx, PyExc_TypeError, "unhashable type: '%.200s'",
                          v->type->tp_name);
    if (v->kind->hash) {
        TRY(v->kind->hash(tx, v, key, h));
        TRY(no_nan(tx, *key));
        return key_pinned(tx, v, *key);
    }
    if (v->kind == &kind_opaque && v->real && key_plain(v->real)) {
        *key = v->real;
        *h = PyObject_Hash(v->real);
        return key_pinned(tx, v, *key);
    }
    return graph_break(tx, BRK_DYN_KEY, "%s", v->type ? v->type->tp_name : v->kind->name);
}
