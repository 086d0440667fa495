/*
 * builtin/core.c -- built-in functions about objects as such: classes, attributes, text forms, super().
 */
#include "builtin/help.h"
#include "var/made.h"

/* -- Classes ---------------------------------------------------------------- */

static Status isinstance_(Tx *tx, const Args *a, Var **out)
{
    bool yes;
    TRY(var_isinstance(tx, a->v[0], a->v[1], &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

static Status issubclass_(Tx *tx, const Args *a, Var **out)
{
    bool yes;
    TRY(var_issubclass(tx, a->v[0], a->v[1], &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* Static types answer by their slot; of classes the special method is looked up, which records the guard. */
static Status callable_(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0], *method;
    PyTypeObject *t;
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__call__"));
    TRY_PTR(name);
    TRY(var_real(tx, &v));
    TRY(var_type_of(tx, v, &t));
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        *out = tx_bool(tx, t->tp_call != NULL);
        return ST_OK;
    }
    TRY(var_special(tx, v, name, &method));
    *out = tx_bool(tx, method != NULL);
    return ST_OK;
}

static Status type_(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    Source *src = v->src ? source_get(&tx->sources, SRC_TYPE, v->src, NULL, 0) : NULL;
    return wrap_pinned(tx, (PyObject *)v->type, src, out);
}

/* -- Attributes ------------------------------------------------------------- */

static Status getattr_(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    TRY(arg_name(tx, a->v[1], &name));
    if (a->n < 3)
        return var_getattr(tx, a->v[0], name, out);
    TRY(var_getattr_opt(tx, a->v[0], name, out));
    if (*out == NULL)
        *out = a->v[2];
    return ST_OK;
}

static Status hasattr_(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    Var *value;
    TRY(arg_name(tx, a->v[1], &name));
    TRY(var_getattr_opt(tx, a->v[0], name, &value));
    *out = tx_bool(tx, value != NULL);
    return ST_OK;
}

static Status setattr_(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    TRY(arg_name(tx, a->v[1], &name));
    TRY(var_setattr(tx, a->v[0], name, a->v[2]));
    *out = tx_none(tx);
    return ST_OK;
}

static Status delattr_(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    TRY(arg_name(tx, a->v[1], &name));
    TRY(var_setattr(tx, a->v[0], name, NULL));
    *out = tx_none(tx);
    return ST_OK;
}

static Status vars_(Tx *tx, const Args *a, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__dict__"));
    TRY_PTR(name);
    TRY(var_getattr_opt(tx, a->v[0], name, out));
    if (*out == NULL)
        return raise_type(tx, PyExc_TypeError,
                          "vars() argument must have __dict__ attribute");
    return ST_OK;
}

static Status globals_(Tx *tx, const Args *a, Var **out)
{
    *out = tx->top->fn->globals;
    return *out ? ST_OK : ST_DECLINE;
}

/* -- Identity and hashes ---------------------------------------------------- */

/* Objects that live as long as the program does: a guard on their identity will hold on the next call too. */
static bool long_lived(Var *v)
{
    return v->kind == &kind_class || v->kind == &kind_func || v->kind == &kind_module ||
           v->kind == &kind_builtin ||
           (torch_ready && (PyType_IsSubtype(v->type, torch_types.module) ||
                            PyType_IsSubtype(v->type, torch_types.optimizer)));
}

/* The address of an existing object, which a guard then pins. New objects have no address yet. */
static Status id_(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    if (v->real == NULL || !long_lived(v) || is_made_class(v))
        return graph_break(tx, BRK_IDENTITY, "id() of %s", v->type->tp_name);
    if (v->src != NULL && v->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, v->src, v->real));
    return const_new(tx, PyLong_FromVoidPtr(v->real), out);
}

/* As slot_tp_hash: a number that fits is the hash, but for -1; others are hashed. */
static PyObject *hash_number(PyObject *n)
{
    Py_ssize_t h = PyLong_AsSsize_t(n);
    if (h == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        h = PyLong_Type.tp_hash(n);
    }
    return PyLong_FromSsize_t(h == -1 ? -2 : h);
}

static Status own_hash(Tx *tx, Var *v, bool *own, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__hash__")), *f;
    TRY_PTR(name);
    *own = false;
    TRY(type_lookup(tx, v->type, name, &f));
    if (f == NULL || !PyFunction_Check(f))
        return ST_OK;
    *own = true;
    return var_call_special(tx, v, "__hash__", NULL, 0, out);
}

static Status hash_(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    PyObject *key, *value;
    Py_hash_t h;
    bool own;
    TRY(var_real(tx, &v));
    TRY(fold_value(tx, v, &value));
    if (value == NULL) {
        TRY(own_hash(tx, v, &own, out));
        if (own) {
            TRY(var_const(tx, *out, &value));
            if (value == NULL || !PyLong_Check(value))
                return graph_break(tx, BRK_UNKNOWN_CALL, "__hash__ of %s",
                                   v->type->tp_name);
            return fold_wrap(tx, hash_number(value), out);
        }
        if (v->kind == &kind_list || v->kind == &kind_dict || v->kind == &kind_set ||
            v->kind == &kind_weakproxy ||
            v->type->tp_hash == PyObject_HashNotImplemented) {
            TRY(var_hash(tx, v, &key, &h)); /* a frozenset, or the TypeError */
            return const_int(tx, h, out);
        }
        if (v->real == NULL || v->kind == &kind_tensor)
            return graph_break(tx, BRK_IDENTITY, "hash() of %s", v->type->tp_name);
        TRY(var_hash(tx, v, &key, &h));
        if (v->src != NULL && v->src->kind != SRC_CONST)
            TRY(guard_is(&tx->guards, v->src, v->real));
        return const_int(tx, h, out);
    }
    TRY(var_hash(tx, v, &key, &h));
    return const_int(tx, h, out);
}

/* -- Text ------------------------------------------------------------------- */

static Status repr_(Tx *tx, const Args *a, Var **out)
{
    return var_repr(tx, a->v[0], out);
}

static Status ascii_(Tx *tx, const Args *a, Var **out)
{
    return fold_ready(a) ? ST_DECLINE : var_ascii(tx, a->v[0], out);
}

static Status str_(Tx *tx, const Args *a, Var **out)
{
    if (a->n == 0)
        return const_str(tx, "", out);
    return var_str(tx, a->v[0], out);
}

static Status format_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    if (a->n < 2)
        return var_format(tx, a->v[0], NULL, out);
    TRY(var_type_of(tx, a->v[1], &t));
    if (!PyType_HasFeature(t, Py_TPFLAGS_UNICODE_SUBCLASS))
        return raise_type(tx, PyExc_TypeError,
                          "format() argument 2 must be str, not %.50s",
                          t == Py_TYPE(Py_None) ? "None" : t->tp_name);
    return var_format(tx, a->v[0], a->v[1], out);
}

static Status effect_break(Tx *tx, const char *what)
{
    return graph_break(tx, BRK_SIDE_EFFECT, "%s", what);
}

static Status print_(Tx *tx, const Args *a, Var **out)
{
    return effect_break(tx, "print()");
}
static Status input_(Tx *tx, const Args *a, Var **out)
{
    return effect_break(tx, "input()");
}
static Status open_(Tx *tx, const Args *a, Var **out)
{
    return effect_break(tx, "open()");
}
static Status locals_(Tx *tx, const Args *a, Var **out)
{
    *out = tx->top->locals; /* of a class body */
    if (*out)
        return ST_OK;
    return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "locals()");
}
/* dir(x) by the __dir__ of a class in Python: a sorted list of what that gives. */
static Status dir_of(Tx *tx, const Args *a, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__dir__")), *f;
    Var *names, *sorted;
    TRY_PTR(name);
    TRY(var_real(tx, &a->v[0]));
    TRY(type_lookup(tx, a->v[0]->type, name, &f));
    if (f == NULL || !PyFunction_Check(f))
        return ST_DECLINE;
    TRY(var_call_special(tx, a->v[0], "__dir__", NULL, 0, &names));
    PyObject *fn = PyDict_GetItemString(PyEval_GetBuiltins(), "sorted");
    TRY_PTR(fn);
    TRY(wrap_pinned(tx, fn, NULL, &sorted));
    return var_call1(tx, sorted, names, out);
}

static Status dir_(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "dir()");
}
static Status import_(Tx *tx, const Args *a, Var **out)
{
    return graph_break(tx, BRK_IMPORT, "%s", "__import__()");
}
static Status breakpoint_(Tx *tx, const Args *a, Var **out)
{
    return effect_break(tx, "breakpoint()");
}

/* -- super() ---------------------------------------------------------------- */

static Status content_of(Tx *tx, Var *cell, Var **out)
{
    TRY(var_real(tx, &cell));
    return cell_get(tx, AS(CellVar, cell), out);
}

/* As super_init_without_args: the first argument and the __class__ cell of the function that is running. */
static Status super_context(Tx *tx, Var **cls, Var **self)
{
    Frame *f = tx->top;
    PyCodeObject *co = f->code->co;
    PyObject *free_names = tx_hold(tx, PyCode_GetFreevars(co));
    TRY_PTR(free_names);
    if (co->co_argcount == 0)
        return raise_type(tx, PyExc_RuntimeError, "super(): no arguments");
    *self = f->slots[0];
    if (*self && (f->code->kinds[0] & SLOT_CELL))
        TRY(content_of(tx, *self, self));
    if (*self == NULL)
        return raise_type(tx, PyExc_RuntimeError, "super(): arg[0] deleted");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(free_names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(free_names, i),
                                             "__class__") != 0)
            continue;
        Var *cell = f->slots[f->code->nlocalsplus - f->code->nfree + (int)i];
        if (cell == NULL)
            return ST_DECLINE;
        TRY(content_of(tx, cell, cls));
        return *cls ? ST_OK
                    : raise_type(tx, PyExc_RuntimeError, "super(): empty __class__ cell");
    }
    return raise_type(tx, PyExc_RuntimeError, "super(): __class__ cell not found");
}

static bool real_subtype(Var *v, Var *cls)
{
    return v->kind == &kind_class && v->real &&
           PyType_IsSubtype((PyTypeObject *)v->real, (PyTypeObject *)cls->real);
}

static Status super_make(Tx *tx, Var *cls, Var *self, Var **out)
{
    SuperVar *s;
    TRY(var_real(tx, &cls));
    TRY(var_real(tx, &self));
    if (cls->kind != &kind_class || cls->real == NULL)
        return ST_DECLINE;
    PyTypeObject *start = NULL;
    if (real_subtype(self, cls))
        start = (PyTypeObject *)self->real;
    else if (PyType_IsSubtype(self->type, (PyTypeObject *)cls->real))
        start = self->type;
    else /* an object whose __class__ says otherwise, or the TypeError */
        return ST_DECLINE;
    TRY(VAR_MAKE(tx, super, SuperVar, &PySuper_Type, &s));
    s->cls = cls;
    s->self = self;
    s->start = start;
    *out = &s->v;
    return ST_OK;
}

static Status super_(Tx *tx, const Args *a, Var **out)
{
    Var *cls, *self;
    if (a->n == 1)
        return ST_DECLINE; /* unbound super objects: nobody uses them */
    if (a->n == 2)
        return super_make(tx, a->v[0], a->v[1], out);
    TRY(super_context(tx, &cls, &self));
    return super_make(tx, cls, self, out);
}

/* -- The rows --------------------------------------------------------------- */

const Handler handlers_core[] = {
    { "builtins.isinstance", 2, 2, isinstance_, NULL },
    { "builtins.issubclass", 2, 2, issubclass_, NULL },
    { "builtins.callable", 1, 1, callable_, NULL },
    { "builtins.type", 1, 1, type_, NULL },
    { "builtins.getattr", 2, 3, getattr_, NULL },
    { "builtins.hasattr", 2, 2, hasattr_, NULL },
    { "builtins.setattr", 3, 3, setattr_, NULL },
    { "builtins.delattr", 2, 2, delattr_, NULL },
    { "builtins.vars", 1, 1, vars_, NULL },
    { "builtins.vars", 0, 0, locals_, NULL },
    { "builtins.locals", 0, 0, locals_, NULL },
    { "builtins.dir", 0, 0, dir_, NULL },
    { "builtins.dir", 1, 1, dir_of, NULL },
    { "builtins.globals", 0, 0, globals_, NULL },
    { "builtins.id", 1, 1, id_, NULL },
    { "builtins.hash", 1, 1, hash_, NULL },
    { "builtins.repr", 1, 1, repr_, NULL },
    { "builtins.ascii", 1, 1, ascii_, NULL },
    { "builtins.str", 0, 1, str_, NULL },
    { "builtins.format", 1, 2, format_, NULL },
    { "builtins.print", 0, -1, print_, ANY_KW },
    { "builtins.input", 0, -1, input_, ANY_KW },
    { "builtins.open", 0, -1, open_, ANY_KW },
    { "builtins.breakpoint", 0, -1, breakpoint_, ANY_KW },
    { "builtins.__import__", 0, -1, import_, ANY_KW },
    { "builtins.super", 0, 2, super_, NULL },
    { 0 },
};
