/*
 * var/make.c -- constructors shared by all kinds, the table of kinds and of operators.
 */
#include "trace/tx.h"
#include "var/binops.h"

const VarKind *const kind_table[KIND_COUNT] = {
#define KIND(name, text) [KIND_##name] = &kind_##name,
#include "var/kinds.def"
#undef KIND
};

Status var_make(Tx *tx, const VarKind *kind, size_t size, PyTypeObject *type, Var **out)
{
    Var *v = tx_alloc(tx, size);
    TRY_PTR(v);
    v->kind = kind;
    v->type = type;
    v->born = (uint32_t)(tx->steps & INT32_MAX);
    *out = v;
    return ST_OK;
}

/* -- Constants -------------------------------------------------------------- */

Status const_new(Tx *tx, PyObject *steals, Var **out)
{
    TRY_PTR(tx_hold(tx, steals));
    return const_peek(tx, steals, out);
}

/* One Var each: they are compared by pointer. */
static bool is_singleton(Tx *tx, const Var *v)
{
    return v == tx->none || v == tx->true_ || v == tx->false_ || v == tx->notimpl;
}

Status const_peek(Tx *tx, PyObject *borrowed, Var **out)
{
    Var *const singletons[] = { tx->none, tx->true_, tx->false_, tx->notimpl };
    for (size_t i = 0; i < COUNT_OF(singletons); i++)
        if (borrowed ==
            singletons[i]->real) { /* one Var each: they are compared by pointer */
            *out = singletons[i];
            return ST_OK;
        }
    TRY(var_make(tx, &kind_const, sizeof(Var), Py_TYPE(borrowed), out));
    (*out)->real = borrowed;
    return ST_OK;
}

Status const_known(Tx *tx, PyObject *borrowed, Source *src, Var **out)
{
    TRY(const_peek(tx, borrowed, out));
    if (is_singleton(tx, *out))
        return ST_OK;
    (*out)->by_value = true;
    (*out)->src = src;
    return ST_OK;
}

Status const_item(Tx *tx, const Var *whole, PyObject *borrowed, Py_ssize_t i, Var **out)
{
    if (!whole->by_value)
        return const_peek(tx, borrowed, out);
    Source *src = NULL;
    if (whole->src && i >= 0 && PyTuple_CheckExact(whole->real)) {
        src = source_get(&tx->sources, SRC_INDEX, whole->src, NULL, i);
        TRY_PTR(src);
    }
    return const_known(tx, borrowed, src, out);
}

Status const_result(Tx *tx, PyObject *steals, Var *const *operands, Py_ssize_t n,
                    Var **out)
{
    TRY_PTR(tx_hold(tx, steals));
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *v = operands[i];
        TRY(var_real(tx, &v));
        bool same = v->kind == &kind_const
                        ? v->real == steals
                        : v->kind == &kind_scalar && AS(ScalarVar, v)->e->value == steals;
        if (same)
            return *out = v, ST_OK;
    }
    return const_peek(tx, steals, out);
}

Status const_int(Tx *tx, Py_ssize_t n, Var **out)
{
    return const_new(tx, PyLong_FromSsize_t(n), out);
}

Status const_str(Tx *tx, const char *s, Var **out)
{
    return const_new(tx, PyUnicode_InternFromString(s), out);
}

Var *tx_none(Tx *tx)
{
    return tx->none;
}
Var *tx_bool(Tx *tx, bool b)
{
    return b ? tx->true_ : tx->false_;
}
Var *tx_notimpl(Tx *tx)
{
    return tx->notimpl;
}

bool var_is_const(Var *v)
{
    return v->kind == &kind_const;
}

/* -- Operators -------------------------------------------------------------- */

static PyObject *binop_power(PyObject *a, PyObject *b)
{
    return PyNumber_Power(a, b, Py_None);
}

#define SPECIAL(prefix, name) "__" prefix #name "__"
Binop binop_table[BINOP_COUNT] = {
#define BINOP(NAME, name, symbol, fn)                                                    \
    { symbol,                                                                            \
      SPECIAL("", name),                                                                 \
      SPECIAL("r", name),                                                                \
      SPECIAL("i", name),                                                                \
      #name,                                                                             \
      "i" #name,                                                                         \
      fn,                                                                                \
      NULL,                                                                              \
      NULL,                                                                              \
      NULL,                                                                              \
      NULL,                                                                              \
      NULL },
#include "var/binops.def"
#undef BINOP
};

static PyObject *operator_fn(PyObject *module, const char *name)
{
    PyObject *fn = PyObject_GetAttrString(module, name);
    if (fn != NULL)
        return fn;
    PyErr_Clear(); /* keywords: and_, or_ */
    PyObject *alias = PyUnicode_FromFormat("%s_", name);
    fn = alias ? PyObject_GetAttr(module, alias) : NULL;
    Py_XDECREF(alias);
    return fn;
}

PyObject *operator_fns[FN_COUNT];

static int find_operators(PyObject *module)
{
    static const char *const names[] = {
#define FN(name) #name,
#include "var/operators.def"
#undef FN
    };
    for (int i = 0; i < FN_COUNT; i++)
        if ((operator_fns[i] = PyObject_GetAttrString(module, names[i])) == NULL)
            return -1;
    return 0;
}

int binop_init(void)
{
    PyObject *module = PyImport_ImportModule("operator");
    if (module == NULL)
        return -1;
    for (int i = 0; i < BINOP_COUNT; i++) {
        Binop *b = &binop_table[i];
        b->name = PyUnicode_InternFromString(b->special);
        b->rname = PyUnicode_InternFromString(b->rspecial);
        b->iname = PyUnicode_InternFromString(b->ispecial);
        b->target = operator_fn(module, b->fn_name);
        b->itarget = operator_fn(module, b->ifn_name);
        if (!b->name || !b->rname || !b->iname || !b->target || !b->itarget)
            return -1;
    }
    int st = find_operators(module);
    Py_DECREF(module);
    return st;
}
