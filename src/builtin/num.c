/*
 * builtin/num.c -- numbers: constructors, abs, round, divmod, pow, math on sequences, the operator module.
 *
 * Constants are folded (fold.c), so that the rows here are about lazy scalars, tensors and objects. What math does to a lazy
 * scalar pins it: there the fold does it too.
 */
#include "builtin/help.h"
#include "cpy/cpy.h"
#include "trace/torchcall.h"
#include "var/container.h"
#include "var/binops.h"
#include "var/wrap.h"

/* -- Constructors ----------------------------------------------------------- */

/* The class's own method, not that of its C base, called; *out NULL: it has none. */
static Status own_method(Tx *tx, Var *v, const char *which, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString(which)), *f;
    PyTypeObject *base = wrap_layout(v->type);
    TRY_PTR(name);
    *out = NULL;
    TRY(type_lookup(tx, v->type, name, &f));
    if (f == NULL || (base && f == cpy_type_lookup(base, name)))
        return ST_OK;
    TRY(var_call_special(tx, v, which, NULL, 0, out));
    return *out ? var_real(tx, out) : ST_OK;
}

static Status need_exact(Tx *tx, Var *v, const char *which, PyTypeObject *self,
                         PyTypeObject *t, Var *r)
{
    if (r->type == t)
        return ST_OK;
    if (PyType_IsSubtype(r->type, t)) /* deprecated, with a warning */
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s returned %s", which,
                           r->type->tp_name);
    return t == &PyFloat_Type
               ? raise_type(tx, PyExc_TypeError, "%s.%s returned non-float (type %s)",
                            self->tp_name, which, r->type->tp_name)
               : raise_type(tx, PyExc_TypeError, "%s returned non-int (type %s)", which,
                            r->type->tp_name);
}

/* An object's way to be an int or a float, as PyNumber_Long and PyNumber_Float try them. *out NULL: none in Python. */
static Status object_number(Tx *tx, Var *v, bool is_float, Var **out)
{
    const char *which = is_float ? "__float__" : "__int__";
    TRY(own_method(tx, v, which, out));
    if (*out != NULL)
        return need_exact(tx, v, which, v->type, is_float ? &PyFloat_Type : &PyLong_Type,
                          *out);
    Var *content =
        var_content(v); /* its class brings a C slot that comes before __index__ */
    PyNumberMethods *nb = content ? content->type->tp_as_number : NULL;
    if (nb && (is_float ? nb->nb_float : nb->nb_int))
        return ST_OK;
    TRY(own_method(tx, v, "__index__", out));
    if (*out == NULL)
        return ST_OK;
    TRY(need_exact(tx, v, "__index__", v->type, &PyLong_Type, *out));
    if (is_float && (*out)->kind == &kind_scalar)
        return scalar_apply(tx, AS(ScalarVar, *out), 'f', out);
    return is_float ? ST_DECLINE : ST_OK;
}

/* A text's own __trunc__ comes before what it says; what is wrong with a text is told of the object itself. */
static Status content_number(Tx *tx, Var *v, bool is_float, Var **out)
{
    Var *content = var_content(v);
    PyObject *o = NULL, *trunc = tx_hold(tx, PyUnicode_InternFromString("__trunc__"));
    TRY_PTR(trunc);
    if (content != NULL)
        TRY(fold_value(tx, content, &o));
    if (o == NULL)
        return ST_DECLINE;
    bool text = PyUnicode_Check(o) || PyBytes_Check(o);
    if (text && !is_float)
        TRY(type_lookup(tx, v->type, trunc, &trunc));
    if ((text && !is_float && trunc != NULL) || (!text && !PyNumber_Check(o)))
        return ST_DECLINE;
    PyObject *r = is_float ? PyNumber_Float(o) : PyNumber_Long(o);
    if (r != NULL || !text)
        return fold_wrap(tx, r, out);
    PyErr_Clear();
    return ST_DECLINE;
}

static Status number(Tx *tx, Var *v, bool is_float, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor) {
        TRY(tensor_known(tx, AS(TensorVar, v), is_float ? PyNumber_Float : PyNumber_Long,
                         out));
        return *out ? ST_OK
                    : graph_break(tx, BRK_DATA_DEPENDENT, "%s() of a tensor",
                                  is_float ? "float" : "int");
    }
    if (v->kind == &kind_scalar) {
        *out = v;
        return v->type == (is_float ? &PyFloat_Type : &PyLong_Type)
                   ? ST_OK
                   : scalar_apply(tx, AS(ScalarVar, v), is_float ? 'f' : 'i', out);
    }
    if (!var_is_instance(v))
        return ST_DECLINE;
    TRY(object_number(tx, v, is_float, out));
    if (*out != NULL)
        return ST_OK;
    return content_number(tx, v, is_float, out);
}

static Status int_(Tx *tx, const Args *a, Var **out)
{
    return number(tx, a->v[0], false, out);
}

static Status float_(Tx *tx, const Args *a, Var **out)
{
    return number(tx, a->v[0], true, out);
}

static Status bool_(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    bool yes;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_scalar)
        return scalar_apply(tx, AS(ScalarVar, v), 'b', out);
    TRY(var_truth(tx, v, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* T.__new__(cls, …) of a subclass written in Python: an instance whose built-in part is what T itself would make. */
static Status make_subclass(Tx *tx, PyTypeObject *t, const Args *a, Var **out)
{
    Var *cls = a->v[0], *part;
    Args rest = args_tail(a, 1);
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class || cls->real == NULL)
        return ST_DECLINE;
    Status st = match_call(tx, (PyObject *)t, &rest, &part);
    if (st == ST_DECLINE)
        st = fold_call(tx, (PyObject *)t, &rest, &part);
    if (st != ST_OK || cls->real == (PyObject *)t) {
        *out = part;
        return st;
    }
    PyObject *o; /* pinned: an instance cannot hold a number that is not known */
    TRY(fold_value(tx, part, &o));
    if (o == NULL)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s of a value that is no constant",
                           ((PyTypeObject *)cls->real)->tp_name);
    TRY(const_peek(tx, o, &part));
    TRY(object_new(tx, (PyTypeObject *)cls->real, out));
    AS(ObjectVar, *out)->content = part;
    return ST_OK;
}

#define MAKE(name, T)                                                                    \
    static Status new_##name(Tx *tx, const Args *a, Var **out)                           \
    {                                                                                    \
        return make_subclass(tx, &T, a, out);                                            \
    }
MAKE(int, PyLong_Type)
MAKE(float, PyFloat_Type)
MAKE(str, PyUnicode_Type)
MAKE(bytes, PyBytes_Type)
#undef MAKE

/* bytes([1, 2]) and other iterables. */
static Status const_items(Tx *tx, Var *v, PyObject **out);

static Status bytes_(Tx *tx, const Args *a, Var **out)
{
    PyObject *items;
    if (fold_ready(a))
        return ST_DECLINE;
    TRY(const_items(tx, a->v[0], &items));
    return items ? fold_wrap(tx, PyBytes_FromObject(items), out) : ST_DECLINE;
}

/* -- Functions -------------------------------------------------------------- */

static Status on_tensor(Tx *tx, const char *fn, const Args *a, Var **out)
{
    PyObject *target = lookup_path(tx, "_operator", fn);
    if (target == NULL)
        return ST_DECLINE;
    return torch_call(tx, target, false, (TorchOp){ .cls = TC_NODE }, a, out);
}

static Status abs_(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor)
        return on_tensor(tx, "abs", a, out);
    if (v->kind == &kind_scalar)
        return scalar_apply(tx, AS(ScalarVar, v), 'a', out);
    if (!var_is_instance(v))
        return ST_DECLINE;
    TRY(own_method(tx, v, "__abs__", out));
    if (*out != NULL)
        return ST_OK;
    Var *part = number_part(v);
    return part ? var_call_method(tx, part, "__abs__", NULL, 0, out) : ST_DECLINE;
}

static Status round_(Tx *tx, const Args *a, Var **out)
{
    Var *v = args_get(a, 0, "number"), *digits = args_get(a, 1, "ndigits");
    if (v == NULL)
        return ST_DECLINE;
    TRY(var_real(tx, &v));
    if (digits != NULL)
        TRY(var_real(tx, &digits));
    bool none = digits == NULL || digits == tx_none(tx);
    if (!var_is_instance(v) && v->kind != &kind_tensor)
        return ST_DECLINE; /* folded: the number is pinned */
    TRY(var_call_special(tx, v, "__round__", &digits, none ? 0 : 1, out));
    if (*out == NULL && v->kind == &kind_object && var_content(v) != NULL)
        return ST_DECLINE;
    return *out ? ST_OK
                : raise_type(tx, PyExc_TypeError,
                             "type %.100s doesn't define __round__ method",
                             v->type->tp_name);
}

static bool plain_number(Var *v)
{
    return v->kind == &kind_scalar ||
           (v->kind == &kind_const && number_part(v) && v->type != &PyComplex_Type);
}

/* As binary_op1: the right operand first if its class is a subclass; parts written in C are left to break. */
static Status divmod_objects(Tx *tx, Var *x, Var *y, Var **out)
{
    bool right = x->type != y->type && PyType_IsSubtype(y->type, x->type);
    Var *sides[2][2] = { { x, y }, { y, x } };
    static const char *const names[] = { "__divmod__", "__rdivmod__" };
    for (int i = 0; i < 2; i++) {
        int k = right ? 1 - i : i;
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString(names[k])), *f;
        TRY_PTR(name);
        TRY(type_lookup(tx, sides[k][0]->type, name, &f));
        if (f == NULL || (k == 1 && x->type == y->type))
            continue;
        if (!PyFunction_Check(f) && sides[k][0]->kind == &kind_object)
            return ST_DECLINE;
        if (!PyFunction_Check(f))
            continue; /* numbers know nothing of the other's class */
        TRY(var_call_special(tx, sides[k][0], names[k], &sides[k][1], 1, out));
        TRY(var_real(tx, out));
        if (*out != tx_notimpl(tx))
            return ST_OK;
    }
    return raise_type(tx, PyExc_TypeError,
                      "unsupported operand type(s) for divmod(): '%.100s' and '%.100s'",
                      x->type->tp_name, y->type->tp_name);
}

static Status divmod_(Tx *tx, const Args *a, Var **out)
{
    Var *x = a->v[0], *y = a->v[1], *part[2];
    TRY(var_real(tx, &x));
    TRY(var_real(tx, &y));
    if (var_is_instance(x) || var_is_instance(y))
        return divmod_objects(tx, x, y, out);
    if (!plain_number(x) || !plain_number(y) || fold_ready(a))
        return ST_DECLINE;
    TRY(var_binary(tx, x, y, BINOP_FLOOR_DIVIDE, &part[0]));
    TRY(var_binary(tx, x, y, BINOP_REMAINDER, &part[1]));
    return tuple_new(tx, part, 2, out);
}

static Status pow_(Tx *tx, const Args *a, Var **out)
{
    Var *base = args_get(a, 0, "base"), *exp = args_get(a, 1, "exp"),
        *mod = args_get(a, 2, "mod");
    if (base == NULL || exp == NULL)
        return ST_DECLINE;
    if (mod != NULL)
        TRY(var_real(tx, &mod));
    if (mod != NULL && mod != tx_none(tx))
        return ST_DECLINE;
    return var_binary(tx, base, exp, BINOP_POWER, out);
}

/* -- math on numbers --------------------------------------------------------- */

/* Is the function in its module still that of C? All of them have a value at 1. */
static bool in_place(Tx *tx, char op)
{
    PyObject *one = tx_hold(tx, PyFloat_FromDouble(1.0));
    return one && tx_hold(tx, calc_unary(op, one)) != NULL;
}

/* An expression once the number is known to vary; until then folded, which costs less to check. */
static Status math_of(Tx *tx, char op, const Args *a, Var **out)
{
    Var *v = a->v[0];
    bool varies = false;
    TRY(var_real(tx, &v));
    if (a->n == 1 && v->kind == &kind_scalar) /* log has two now and then */
        TRY(number_varies(tx, AS(ScalarVar, v)->e, &varies));
    return varies && in_place(tx, op) ? scalar_apply(tx, AS(ScalarVar, v), op, out)
                                      : ST_DECLINE;
}

#define X(op, name)                                                                      \
    static Status math_##name(Tx *tx, const Args *a, Var **out)                          \
    {                                                                                    \
        return math_of(tx, op, a, out);                                                  \
    }
EXPR_MATH(X)
#undef X
#define MATH_ROW(op, name) { "math." #name, 1, 2, math_##name, NULL },

/* -- math on sequences ------------------------------------------------------- */

static Status prod(Tx *tx, const Args *a, Var **out)
{
    Var **items, *total = args_kw(a, "start");
    Py_ssize_t n;
    TRY(var_unpack(tx, a->v[0], &items, &n));
    if (total == NULL)
        TRY(const_int(tx, 1, &total));
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(var_binary(tx, total, items[i], BINOP_MULTIPLY, &total));
    *out = total;
    return ST_OK;
}

/* The items as a real tuple; NULL: not all are constants. */
static Status const_items(Tx *tx, Var *v, PyObject **out)
{
    Var **items;
    Py_ssize_t n;
    *out = NULL;
    TRY(var_real(tx, &v));
    if (v->kind != &kind_list && v->kind != &kind_tuple)
        return ST_OK;
    TRY(var_unpack(tx, v, &items, &n));
    for (Py_ssize_t i = 0; i < n; i++)
        if (!fold_possible(items[i]))
            return ST_OK;
    PyObject *t = tx_hold(tx, PyTuple_New(n));
    TRY_PTR(t);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o;
        TRY(fold_value(tx, items[i], &o));
        if (o == NULL)
            return ST_OK;
        PyTuple_SET_ITEM(t, i, Py_NewRef(o));
    }
    *out = t;
    return ST_OK;
}

static Status over_items(Tx *tx, const char *name, const Args *a, Var **out)
{
    PyObject *v[2], *fn = lookup_path(tx, "math", name);
    for (int i = 0; i < a->n; i++) {
        TRY(const_items(tx, a->v[i], &v[i]));
        if (v[i] == NULL)
            return ST_DECLINE;
    }
    return fn ? fold_wrap(tx, PyObject_Vectorcall(fn, v, (size_t)a->n, NULL), out)
              : ST_DECLINE;
}

static Status fsum(Tx *tx, const Args *a, Var **out)
{
    return over_items(tx, "fsum", a, out);
}
static Status dist(Tx *tx, const Args *a, Var **out)
{
    return over_items(tx, "dist", a, out);
}

/* -- operator ----------------------------------------------------------------- */

#define BINOP(NAME, name, symbol, fn)                                                    \
    static Status binary_##name(Tx *tx, const Args *a, Var **out)                        \
    {                                                                                    \
        return var_binary(tx, a->v[0], a->v[1], BINOP_##NAME, out);                      \
    }                                                                                    \
    static Status inplace_##name(Tx *tx, const Args *a, Var **out)                       \
    {                                                                                    \
        return var_binary(tx, a->v[0], a->v[1], BINOP_##NAME + BINOP_COUNT, out);        \
    }
#include "var/binops.def"
#undef BINOP

#define COMPARE(name, op)                                                                \
    static Status compare_##name(Tx *tx, const Args *a, Var **out)                       \
    {                                                                                    \
        return var_compare(tx, a->v[0], a->v[1], op, out);                               \
    }
COMPARE(lt, Py_LT)
COMPARE(le, Py_LE)
COMPARE(eq, Py_EQ)
COMPARE(ne, Py_NE)
COMPARE(gt, Py_GT)
COMPARE(ge, Py_GE)
#undef COMPARE

static Status neg(Tx *tx, const Args *a, Var **out)
{
    return var_unary(tx, a->v[0], '-', out);
}
static Status positive(Tx *tx, const Args *a, Var **out)
{
    return var_unary(tx, a->v[0], '+', out);
}
static Status invert(Tx *tx, const Args *a, Var **out)
{
    return var_unary(tx, a->v[0], '~', out);
}
static Status not_(Tx *tx, const Args *a, Var **out)
{
    return var_not(tx, a->v[0], out);
}

static Status is_(Tx *tx, const Args *a, Var **out)
{
    bool yes;
    TRY(var_is(tx, a->v[0], a->v[1], &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

static Status is_not(Tx *tx, const Args *a, Var **out)
{
    bool yes;
    TRY(var_is(tx, a->v[0], a->v[1], &yes));
    *out = tx_bool(tx, !yes);
    return ST_OK;
}

static Status contains(Tx *tx, const Args *a, Var **out)
{
    bool yes;
    TRY(var_contains(tx, a->v[0], a->v[1], &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

static Status getitem(Tx *tx, const Args *a, Var **out)
{
    return var_getitem(tx, a->v[0], a->v[1], out);
}

static Status setitem(Tx *tx, const Args *a, Var **out)
{
    TRY(var_setitem(tx, a->v[0], a->v[1], a->v[2]));
    *out = tx_none(tx);
    return ST_OK;
}

static Status delitem(Tx *tx, const Args *a, Var **out)
{
    TRY(var_setitem(tx, a->v[0], a->v[1], NULL));
    *out = tx_none(tx);
    return ST_OK;
}

/* Sequences only, without a look at operators of a class: numbers raise, which the real call does. */
static Status join(Tx *tx, const Args *a, int op, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    TRY(var_real(tx, &a->v[1]));
    const PySequenceMethods *s = a->v[0]->type ? a->v[0]->type->tp_as_sequence : NULL;
    if (!s || !s->sq_concat || has_own_number(a->v[0]) || has_own_number(a->v[1]))
        return ST_DECLINE;
    return var_binary(tx, a->v[0], a->v[1], op, out);
}

static Status concat(Tx *tx, const Args *a, Var **out)
{
    return join(tx, a, BINOP_ADD, out);
}

static Status iconcat(Tx *tx, const Args *a, Var **out)
{
    return join(tx, a, BINOP_ADD + BINOP_COUNT, out);
}

static Status index_(Tx *tx, const Args *a, Var **out)
{
    if (fold_ready(a))
        return ST_DECLINE;
    TRY(var_index_value(tx, a->v[0], out));
    if ((*out)->type == &PyLong_Type)
        return ST_OK;
    PyObject *o; /* of a subclass: a plain int comes out */
    TRY(fold_value(tx, *out, &o));
    return o ? const_new(tx, PyNumber_Index(o), out)
             : graph_break(tx, BRK_NO_SLOT, "%s", "an int that is not known");
}

#define BOTH(path, ipath, name)                                                          \
    { "_operator." path, 2, 2, binary_##name, NULL },                                    \
    {                                                                                    \
        "_operator." ipath, 2, 2, inplace_##name, NULL                                   \
    }

/* Functions of whole numbers, for objects with an __index__ (or the TypeError of those without). */
static Status with_indices(Tx *tx, const char *module, const char *name, const Args *a,
                           Var **out)
{
    PyObject *f = lookup_path(tx, module, name);
    Args b = { .v = tx_alloc(tx, (size_t)(a->n + 1) * sizeof(Var *)), .n = a->n };
    bool some = false;
    if (f == NULL || b.v == NULL)
        return f ? ST_ERROR : ST_DECLINE;
    for (int i = 0; i < a->n; i++)
        some |= !fold_possible(a->v[i]);
    if (!some)
        return ST_DECLINE;
    for (int i = 0; i < a->n; i++)
        TRY(var_index_value(tx, a->v[i], &b.v[i]));
    return fold_run(tx, f, &b, out);
}

#define INDEXED(X)                                                                       \
    X(builtins, hex, 1, 1)                                                               \
    X(builtins, oct, 1, 1)                                                               \
    X(builtins, bin, 1, 1)                                                               \
    X(builtins, chr, 1, 1)                                                               \
    X(builtins, range, 1, 3)                                                             \
    X(math, gcd, 0, -1)                                                                  \
    X(math, lcm, 0, -1)                                                                  \
    X(math, comb, 2, 2)                                                                  \
    X(math, factorial, 1, 1)                                                             \
    X(math, isqrt, 1, 1)
#define X(module, name, min, max)                                                        \
    static Status indexed_##name(Tx *tx, const Args *a, Var **out)                       \
    {                                                                                    \
        return with_indices(tx, #module, #name, a, out);                                 \
    }
INDEXED(X)
#undef X
#define INDEXED_ROW(module, name, min, max)                                              \
    { #module "." #name, min, max, indexed_##name, NULL },

const Handler handlers_num[] = {
    INDEXED(INDEXED_ROW) EXPR_MATH(MATH_ROW){ "builtins.int", 1, 1, int_, NULL },
    { "builtins.float", 1, 1, float_, NULL },
    { "builtins.bool", 1, 1, bool_, NULL },
    { "builtins.bytes", 1, 1, bytes_, NULL },
    { "builtins.int.__new__", 1, 3, new_int, NULL },
    { "builtins.float.__new__", 1, 2, new_float, NULL },
    { "builtins.str.__new__", 1, 2, new_str, NULL },
    { "builtins.bytes.__new__", 1, 2, new_bytes, NULL },
    { "builtins.abs", 1, 1, abs_, NULL },
    { "builtins.round", 0, 2, round_, "number ndigits" },
    { "builtins.divmod", 2, 2, divmod_, NULL },
    { "builtins.pow", 0, 3, pow_, "base exp mod" },
    { "math.prod", 1, 1, prod, "start" },
    { "math.fsum", 1, 1, fsum, NULL },
    { "math.dist", 2, 2, dist, NULL },
    BOTH("add", "iadd", add),
    BOTH("and_", "iand", and),
    BOTH("floordiv", "ifloordiv", floordiv),
    BOTH("lshift", "ilshift", lshift),
    BOTH("matmul", "imatmul", matmul),
    BOTH("mul", "imul", mul),
    BOTH("mod", "imod", mod),
    BOTH("or_", "ior", or),
    BOTH("pow", "ipow", pow),
    BOTH("rshift", "irshift", rshift),
    BOTH("sub", "isub", sub),
    BOTH("truediv", "itruediv", truediv),
    BOTH("xor", "ixor", xor),
    { "_operator.lt", 2, 2, compare_lt, NULL },
    { "_operator.le", 2, 2, compare_le, NULL },
    { "_operator.eq", 2, 2, compare_eq, NULL },
    { "_operator.ne", 2, 2, compare_ne, NULL },
    { "_operator.gt", 2, 2, compare_gt, NULL },
    { "_operator.ge", 2, 2, compare_ge, NULL },
    { "_operator.abs", 1, 1, abs_, NULL },
    { "_operator.neg", 1, 1, neg, NULL },
    { "_operator.pos", 1, 1, positive, NULL },
    { "_operator.invert", 1, 1, invert, NULL },
    { "_operator.inv", 1, 1, invert, NULL },
    { "_operator.not_", 1, 1, not_, NULL },
    { "_operator.truth", 1, 1, bool_, NULL },
    { "_operator.is_", 2, 2, is_, NULL },
    { "_operator.is_not", 2, 2, is_not, NULL },
    { "_operator.contains", 2, 2, contains, NULL },
    { "_operator.getitem", 2, 2, getitem, NULL },
    { "_operator.setitem", 3, 3, setitem, NULL },
    { "_operator.delitem", 2, 2, delitem, NULL },
    { "_operator.index", 1, 1, index_, NULL },
    { "_operator.concat", 2, 2, concat, NULL },
    { "_operator.iconcat", 2, 2, iconcat, NULL },
    { 0 },
};
