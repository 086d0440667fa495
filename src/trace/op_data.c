/*
 * trace/op_data.c -- attributes, items, operators, building and taking apart of containers.
 */
#include "trace/run.h"
#include "var/container.h"
#include "var/binops.h"
#include "var/names.h"

static PyObject *name_of(Frame *f, const Ins *in)
{
    return PyTuple_GET_ITEM(f->code->co->co_names, in->arg);
}

/* The lowest of n operands, which are dropped: their cells stay readable until the next push. */
static Var **take(Tx *tx, Frame *f, int n)
{
    SET(tx, f->sp, f->sp - (size_t)n);
    return &f->slots[f->sp];
}

/* -- Attributes and items ------------------------------------------------------------- */

Status op_load_attr(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(var_getattr(tx, pop(tx, f), name_of(f, in), &v));
    return push(tx, f, v);
}

/* list.append and a list: as CPython leaves them on the stack. Behind a break a bound method would be an object of its own, about which
 * nothing is known. */
static bool method_of_c(const Var *fn, const Var *owner)
{
    if (owner->kind == &kind_lazy)
        owner = AS(LazyVar, owner)->got;
    return fn->kind == &kind_builtin && AS(BuiltinVar, fn)->self == owner && fn->real &&
           Py_IS_TYPE(fn->real, &PyMethodDescr_Type);
}

Status op_load_method(Tx *tx, Frame *f, const Ins *in)
{
    Var *fn, *self, *owner = pop(tx, f);
    TRY(var_getmethod(tx, owner, name_of(f, in), &fn, &self));
    if (self == NULL && method_of_c(fn, owner)) {
        self = AS(BuiltinVar, fn)->self;
        TRY(builtin_new(tx, fn->real, NULL, &fn));
    }
    if (self == NULL) {
        TRY(push(tx, f, NULL));
        return push(tx, f, fn);
    }
    TRY(push(tx, f, fn));
    return push(tx, f, self);
}

Status op_store_attr(Tx *tx, Frame *f, const Ins *in)
{
    Var *owner = pop(tx, f), *value = pop(tx, f);
    return var_setattr(tx, owner, name_of(f, in), value);
}

Status op_delete_attr(Tx *tx, Frame *f, const Ins *in)
{
    return var_setattr(tx, pop(tx, f), name_of(f, in), NULL);
}

Status op_binary_subscr(Tx *tx, Frame *f, const Ins *in)
{
    Var *key = pop(tx, f), *v;
    TRY(var_getitem(tx, pop(tx, f), key, &v));
    return push(tx, f, v);
}

Status op_store_subscr(Tx *tx, Frame *f, const Ins *in)
{
    Var *key = pop(tx, f), *owner = pop(tx, f), *value = pop(tx, f);
    return var_setitem(tx, owner, key, value);
}

Status op_delete_subscr(Tx *tx, Frame *f, const Ins *in)
{
    Var *key = pop(tx, f), *owner = pop(tx, f);
    return var_setitem(tx, owner, key, NULL);
}

/* -- Operators ---------------------------------------------------------------------------- */

static Status unary(Tx *tx, Frame *f, char op)
{
    Var *v;
    TRY(var_unary(tx, pop(tx, f), op, &v));
    return push(tx, f, v);
}

Status op_unary_positive(Tx *tx, Frame *f, const Ins *in)
{
    return unary(tx, f, '+');
}
Status op_unary_negative(Tx *tx, Frame *f, const Ins *in)
{
    return unary(tx, f, '-');
}
Status op_unary_invert(Tx *tx, Frame *f, const Ins *in)
{
    return unary(tx, f, '~');
}

Status op_unary_not(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(var_not(tx, pop(tx, f), &v));
    return push(tx, f, v);
}

Status op_binary_op(Tx *tx, Frame *f, const Ins *in)
{
    Var *b = pop(tx, f), *a = pop(tx, f), *v;
    TRY(var_binary(tx, a, b, in->arg, &v));
    return push(tx, f, v);
}

Status op_compare_op(Tx *tx, Frame *f, const Ins *in)
{
    Var *b = pop(tx, f), *a = pop(tx, f), *v;
    TRY(var_compare(tx, a, b, in->arg, &v));
    return push(tx, f, v);
}

Status op_is_op(Tx *tx, Frame *f, const Ins *in)
{
    Var *b = pop(tx, f), *a = pop(tx, f);
    bool yes;
    TRY(var_is(tx, a, b, &yes));
    return push(tx, f, tx_bool(tx, yes != (in->arg != 0)));
}

Status op_contains_op(Tx *tx, Frame *f, const Ins *in)
{
    Var *container = pop(tx, f), *item = pop(tx, f);
    bool yes;
    TRY(var_contains(tx, container, item, &yes));
    return push(tx, f, tx_bool(tx, yes != (in->arg != 0)));
}

/* -- Building ---------------------------------------------------------------------------------- */

Status op_build_tuple(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(tuple_new(tx, take(tx, f, in->arg), in->arg, &v));
    return push(tx, f, v);
}

Status op_build_list(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(list_new(tx, take(tx, f, in->arg), in->arg, &v));
    return push(tx, f, v);
}

Status op_build_set(Tx *tx, Frame *f, const Ins *in)
{
    Var **items = take(tx, f, in->arg), *v;
    TRY(set_new(tx, &PySet_Type, &v));
    for (int i = 0; i < in->arg; i++)
        TRY(set_add(tx, AS(SetVar, v), items[i]));
    return push(tx, f, v);
}

Status op_build_map(Tx *tx, Frame *f, const Ins *in)
{
    Var **items = take(tx, f, 2 * in->arg), *v;
    TRY(dict_new(tx, &v));
    for (int i = 0; i < in->arg; i++)
        TRY(var_setitem(tx, v, items[2 * i], items[2 * i + 1]));
    return push(tx, f, v);
}

Status op_build_const_key_map(Tx *tx, Frame *f, const Ins *in)
{
    Var *keys = pop(tx, f), **items = take(tx, f, in->arg), *v, **k;
    Py_ssize_t n;
    TRY(dict_new(tx, &v));
    TRY(var_unpack(tx, keys, &k, &n));
    for (int i = 0; i < in->arg; i++)
        TRY(var_setitem(tx, v, k[i], items[i]));
    return push(tx, f, v);
}

Status op_build_string(Tx *tx, Frame *f, const Ins *in)
{
    Var **items = take(tx, f, in->arg), *v;
    PyObject *parts = tx_hold(tx, PyTuple_New(in->arg)), *o;
    TRY_PTR(parts);
    for (int i = 0; i < in->arg; i++) {
        if (items[i]->kind == &kind_datatext)
            return push(tx, f, items[i]);
        TRY(var_const(tx, items[i], &o));
        if (o == NULL)
            return graph_break(tx, BRK_NO_SLOT, "f-string with %s", items[i]->kind->name);
        PyTuple_SET_ITEM(parts, i, Py_NewRef(o));
    }
    PyObject *empty = tx_hold(tx, PyUnicode_FromString(""));
    TRY_PTR(empty);
    TRY(const_new(tx, PyUnicode_Join(empty, parts), &v));
    return push(tx, f, v);
}

Status op_format_value(Tx *tx, Frame *f, const Ins *in)
{
    Var *spec = (in->arg & 4) ? pop(tx, f) : NULL, *v = pop(tx, f);
    int how = in->arg & 3;
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tensor && spec == NULL) {
        TRY(VAR_MAKE(tx, datatext, Var, &PyUnicode_Type, &v));
        return push(tx, f, v);
    }
    if (how == 1)
        TRY(var_str(tx, v, &v));
    else if (how)
        TRY(how == 2 ? var_repr(tx, v, &v) : var_ascii(tx, v, &v));
    TRY(var_format(tx, v, spec, &v));
    return push(tx, f, v);
}

Status op_build_slice(Tx *tx, Frame *f, const Ins *in)
{
    Var *step = in->arg == 3 ? pop(tx, f) : tx->none, *stop = pop(tx, f),
        *start = pop(tx, f), *v;
    TRY(slice_new(tx, start, stop, step, &v));
    return push(tx, f, v);
}

Status op_list_to_tuple(Tx *tx, Frame *f, const Ins *in)
{
    Var **items, *v;
    Py_ssize_t n;
    TRY(var_unpack(tx, pop(tx, f), &items, &n));
    TRY(tuple_new(tx, items, n, &v));
    return push(tx, f, v);
}

/* The container under construction; lazy if a break fell between. */
static Status target(Tx *tx, Frame *f, const Ins *in, Var **out)
{
    *out = peek(f, in->arg);
    return var_real(tx, out);
}

Status op_list_append(Tx *tx, Frame *f, const Ins *in)
{
    Var *item = pop(tx, f), *l;
    TRY(target(tx, f, in, &l));
    return list_push(tx, AS(ListVar, l), item);
}

/* Cannot be iterated at all, as PyObject_GetIter sees it. */
static bool no_iteration(Var *v)
{
    PyTypeObject *t = v->type;
    return t && t->tp_iter == NULL && !(t->tp_as_sequence && t->tp_as_sequence->sq_item);
}

static Status not_iterable_after_star(Tx *tx, Var *v, Status st)
{
    if (st == ST_RAISE && exc_matches(tx, PyExc_TypeError) && no_iteration(v))
        return raise_type(tx, PyExc_TypeError,
                          "Value after * must be an iterable, not %s", v->type->tp_name);
    return st;
}

Status op_list_extend(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f), *l;
    TRY(target(tx, f, in, &l));
    TRY(var_real(tx, &v));
    return not_iterable_after_star(tx, v, list_extend(tx, AS(ListVar, l), v));
}

Status op_set_add(Tx *tx, Frame *f, const Ins *in)
{
    Var *item = pop(tx, f), *s;
    TRY(target(tx, f, in, &s));
    return set_add(tx, AS(SetVar, s), item);
}

Status op_set_update(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f), *s;
    TRY(target(tx, f, in, &s));
    return set_update(tx, AS(SetVar, s), v);
}

Status op_map_add(Tx *tx, Frame *f, const Ins *in)
{
    Var *value = pop(tx, f), *key = pop(tx, f);
    return var_setitem(tx, peek(f, in->arg), key, value);
}

/* As _PyDict_MergeEx sees it: its items are taken as they lie there, whatever methods the class has. */
static bool plain_mapping(Var *v)
{
    Var *c = var_content(v);
    return c && c->kind == &kind_dict &&
           (v->kind == &kind_dict ||
            (v->kind == &kind_object && v->type->tp_iter == PyDict_Type.tp_iter));
}

typedef struct Merge {
    Tx *tx;
    Var *into;
    Var *twice; /* a key that was there already, if that matters */
    bool once;
} Merge;

static Status merge_item(Merge *m, Var *key, Var *from, Var *value)
{
    bool there = false;
    if (m->once)
        TRY(var_contains(m->tx, m->into, key, &there));
    if (there) {
        m->twice = key;
        return raise_type(m->tx, PyExc_KeyError, "%s", "");
    }
    if (value == NULL)
        TRY(var_getitem(m->tx, from, key, &value));
    return var_setitem(m->tx, m->into, key, value);
}

static Status merge_mapping(Merge *m, Var *v)
{
    Var **keys, **values = NULL;
    Py_ssize_t n;
    Tx *tx = m->tx;
    if (plain_mapping(v)) {
        TRY(dict_items(tx, AS(DictVar, var_content(v)), &keys, &values, &n));
    } else {
        TRY(dict_keys_of(tx, v, &keys, &n));
    }
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(merge_item(m, keys[i], v, values ? values[i] : NULL));
    return ST_OK;
}

Status op_dict_update(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    Merge m = { .tx = tx, .into = peek(f, in->arg) };
    TRY(var_real(tx, &v));
    Status st = merge_mapping(&m, v);
    if (st == ST_RAISE && exc_matches(tx, PyExc_AttributeError))
        return raise_type(tx, PyExc_TypeError, "'%s' object is not a mapping",
                          v->type->tp_name);
    return st;
}

/* "module.qualname()" of a callable, as _PyObject_FunctionStr words it. */
static Status function_text(Tx *tx, Var *fn, PyObject **out)
{
    Var *name, *module;
    PyObject *n = NULL, *m = NULL;
    TRY(var_getattr_opt(tx, fn, str___qualname__, &name));
    if (name != NULL)
        TRY(var_const(tx, name, &n));
    if (n == NULL)
        return graph_break(tx, BRK_NO_SLOT, "name of a callable");
    TRY(var_getattr_opt(tx, fn, str___module__, &module));
    if (module != NULL)
        TRY(var_const(tx, module, &m));
    bool named =
        m && PyUnicode_Check(m) && PyUnicode_CompareWithASCIIString(m, "builtins");
    *out = tx_hold(tx, named ? PyUnicode_FromFormat("%S.%S()", m, n)
                             : PyUnicode_FromFormat("%S()", n));
    return *out ? ST_OK : ST_ERROR;
}

/* What ** found wrong is told with the function's name. */
static Status merge_failed(Tx *tx, Frame *f, const Ins *in, const Merge *m, Var *v)
{
    PyObject *text = NULL;
    Var *key;
    exc_clear(tx);
    TRY(function_text(tx, peek(f, in->arg + 2), &text));
    if (m->twice == NULL)
        return raise_type(tx, PyExc_TypeError,
                          "%U argument after ** must be a mapping, not %.200s", text,
                          v->type->tp_name);
    TRY(var_str(tx, m->twice, &key));
    PyObject *k;
    TRY(var_const(tx, key, &k));
    return k ? raise_type(tx, PyExc_TypeError,
                          "%U got multiple values for keyword argument '%S'", text, k)
             : graph_break(tx, BRK_NO_SLOT, "a key of ** that is there twice");
}

Status op_dict_merge(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    Merge m = { .tx = tx, .into = peek(f, in->arg), .once = true };
    TRY(var_real(tx, &v));
    Status st = merge_mapping(&m, v);
    if (st == ST_RAISE && (m.twice || exc_matches(tx, PyExc_AttributeError)))
        return merge_failed(tx, f, in, &m, v);
    return st;
}

/* -- Taking apart ---------------------------------------------------------------------------------- */

static Status unpackable(Tx *tx, Var *v, size_t most, Var ***items, Py_ssize_t *n)
{
    TRY(var_real(tx, &v));
    Status st = var_unpack_most(tx, v, most, items, n);
    if (st == ST_RAISE && exc_matches(tx, PyExc_TypeError) && no_iteration(v))
        return raise_type(tx, PyExc_TypeError, "cannot unpack non-iterable %s object",
                          v->type->tp_name);
    return st;
}

Status op_unpack_sequence(Tx *tx, Frame *f, const Ins *in)
{
    Var **items;
    Py_ssize_t n;
    TRY(unpackable(tx, pop(tx, f), (size_t)in->arg + 1, &items, &n));
    if (n < in->arg)
        return raise_type(tx, PyExc_ValueError,
                          "not enough values to unpack (expected %d, got %zd)", in->arg,
                          n);
    if (n > in->arg)
        return raise_type(tx, PyExc_ValueError, "too many values to unpack (expected %d)",
                          in->arg);
    for (Py_ssize_t i = n; i-- > 0;)
        TRY(push(tx, f, items[i]));
    return ST_OK;
}

Status op_unpack_ex(Tx *tx, Frame *f, const Ins *in)
{
    int before = in->arg & 0xff, after = in->arg >> 8;
    Var **items, *rest;
    Py_ssize_t n;
    TRY(unpackable(tx, pop(tx, f), SIZE_MAX, &items, &n));
    if (n < before + after)
        return raise_type(tx, PyExc_ValueError,
                          "not enough values to unpack (expected at least %d, got %zd)",
                          before + after, n);
    TRY(list_new(tx, items + before, n - before - after, &rest));
    for (Py_ssize_t i = n; i-- > n - after;)
        TRY(push(tx, f, items[i]));
    TRY(push(tx, f, rest));
    for (int i = before; i-- > 0;)
        TRY(push(tx, f, items[i]));
    return ST_OK;
}
