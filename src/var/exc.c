/*
 * var/exc.c -- exceptions made in the trace.
 *
 * Takes: class and arguments. Gives: attributes, texts, chaining. Tracebacks do not exist in a trace: who asks for one breaks.
 * Attributes that C classes compute from their arguments (OSError.errno …) are read from a real exception of the
 * same arguments.
 */
#include "trace/tx.h"
#include "builtin/help.h"
#include "var/exc.h"
#include "var/names.h"

static bool named(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

static bool c_class(PyTypeObject *t)
{
    return !(t->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* The C class below those written in Python. */
static PyTypeObject *c_base(PyTypeObject *t)
{
    while (!c_class(t))
        t = t->tp_base;
    return t;
}

static Py_ssize_t nargs(ExcVar *e)
{
    return e->args ? e->args->n : 0;
}

/* args as a tuple of the program: constants have no TupleVar. */
static Status args_tuple(Tx *tx, ExcVar *e, Var **out)
{
    return e->args ? tuple_new(tx, e->args->items, e->args->n, out)
                   : tuple_new(tx, NULL, 0, out);
}

Status exc_shadow(Tx *tx, ExcVar *e, PyObject **out)
{
    *out = NULL;
    for (Py_ssize_t i = 0; i < nargs(e); i++)
        if (!fold_possible(e->args->items[i]))
            return ST_OK;
    PyObject *args = tx_hold(tx, PyTuple_New(nargs(e)));
    TRY_PTR(args);
    for (Py_ssize_t i = 0; i < nargs(e); i++) {
        PyObject *o;
        TRY(fold_value(tx, e->args->items[i], &o));
        if (o == NULL)
            return ST_OK;
        PyTuple_SET_ITEM(args, i, Py_NewRef(o));
    }
    PyObject *exc = tx_hold(tx, PyObject_CallObject((PyObject *)c_base(e->v.type), args));
    if (exc == NULL)
        return raise_now(tx);
    *out = exc;
    return ST_OK;
}

/* -- Text ------------------------------------------------------------------- */

static bool simple_text(PyTypeObject *base)
{
    return base->tp_str == ((PyTypeObject *)PyExc_BaseException)->tp_str;
}

Status exc_base_str(Tx *tx, ExcVar *e, Var **out)
{
    PyTypeObject *base = c_base(e->v.type);
    PyObject *shadow;
    Var *args;
    if (e->excs) {
        PyObject *s;
        TRY(var_str(tx, e->message, &args));
        TRY(var_const(tx, args, &s));
        if (s == NULL)
            return graph_break(tx, BRK_NO_SLOT, "str() of %s", e->v.type->tp_name);
        return const_new(tx,
                         PyUnicode_FromFormat("%S (%zd sub-exception%s)", s, e->excs->n,
                                              e->excs->n > 1 ? "s" : ""),
                         out);
    }
    if (base == (PyTypeObject *)PyExc_KeyError && nargs(e) == 1)
        return var_repr(tx, e->args->items[0], out);
    if (!simple_text(base) && base != (PyTypeObject *)PyExc_KeyError) {
        TRY(exc_shadow(tx, e, &shadow));
        if (shadow == NULL)
            return graph_break(tx, BRK_NO_SLOT, "str() of %s", e->v.type->tp_name);
        return fold_wrap(tx, PyObject_Str(shadow), out);
    }
    if (nargs(e) == 0)
        return const_str(tx, "", out);
    if (nargs(e) == 1)
        return var_str(tx, e->args->items[0], out);
    TRY(args_tuple(tx, e, &args));
    return var_str(tx, args, out);
}

static Status joined(Tx *tx, PyTypeObject *t, Var *text, const char *format, Var **out)
{
    PyObject *s;
    TRY(var_const(tx, text, &s));
    if (s == NULL || !PyUnicode_Check(s))
        return graph_break(tx, BRK_NO_SLOT, "repr() of %s", t->tp_name);
    const char *dot = strrchr(t->tp_name, '.');
    return const_new(tx, PyUnicode_FromFormat(format, dot ? dot + 1 : t->tp_name, s), out);
}

Status exc_base_repr(Tx *tx, ExcVar *e, Var **out)
{
    Var *text;
    if (nargs(e) == 1) {
        TRY(var_repr(tx, e->args->items[0], &text));
        return joined(tx, e->v.type, text, "%s(%U)", out);
    }
    TRY(args_tuple(tx, e, &text));
    TRY(var_repr(tx, text, &text));
    return joined(tx, e->v.type, text, "%s%U", out);
}

/* The class's own method written in Python; *out NULL: it has none. */
static Status own_text(Tx *tx, Var *self, const char *which, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString(which)), *f;
    TRY_PTR(name);
    *out = NULL;
    TRY(type_lookup(tx, self->type, name, &f));
    return f && PyFunction_Check(f) ? var_call_special(tx, self, which, NULL, 0, out)
                                    : ST_OK;
}

static Status exc_repr(Tx *tx, Var *self, bool str, Var **out)
{
    ExcVar *e = AS(ExcVar, self);
    if (str) {
        TRY(own_text(tx, self, "__str__", out));
        return *out ? ST_OK : exc_base_str(tx, e, out);
    }
    TRY(own_text(tx, self, "__repr__", out));
    return *out ? ST_OK : exc_base_repr(tx, e, out);
}

/* -- Attributes ------------------------------------------------------------- */

static Status shadow_member(Tx *tx, ExcVar *e, PyObject *name, Var **out)
{
    PyObject *shadow;
    TRY(exc_shadow(tx, e, &shadow));
    if (shadow == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s.%s", e->v.type->tp_name,
                           PyUnicode_AsUTF8(name));
    Status st = fold_wrap(tx, PyObject_GetAttr(shadow, name), out);
    return st == ST_DECLINE ? graph_break(tx, BRK_NO_SLOT, "%s.%s", e->v.type->tp_name,
                                          PyUnicode_AsUTF8(name))
                            : st;
}

Status exc_member(Tx *tx, ExcVar *e, PyObject *name, Var **out)
{
    PyTypeObject *base = c_base(e->v.type);
    if (named(name, "args"))
        return args_tuple(tx, e, out);
    if (e->excs && (named(name, "message") || named(name, "exceptions"))) {
        *out = named(name, "message") ? e->message : &e->excs->v;
        return ST_OK;
    }
    if (named(name, "__cause__") || named(name, "__context__")) {
        Var *v = named(name, "__cause__") ? e->cause : e->context;
        *out = v ? v : tx_none(tx);
        return ST_OK;
    }
    if (named(name, "__suppress_context__")) {
        *out = tx_bool(tx, e->suppress);
        return ST_OK;
    }
    if (named(name, "__traceback__")) {
        *out = tx_none(tx);
        return e->raised ? except_traceback(tx, out) : ST_OK;
    }
    if (base == (PyTypeObject *)PyExc_StopIteration && named(name, "value")) {
        *out = nargs(e) ? e->args->items[0] : tx_none(tx);
        return ST_OK;
    }
    if (base == (PyTypeObject *)PyExc_SystemExit && named(name, "code") && nargs(e) <= 1) {
        *out = nargs(e) ? e->args->items[0] : tx_none(tx);
        return ST_OK;
    }
    return shadow_member(tx, e, name, out);
}

/* Members and getters of C classes; __dict__ and __class__ belong to the generic model. */
static bool is_member(PyObject *descr, PyObject *name)
{
    return descr && !named(name, "__dict__") && !named(name, "__class__") &&
           (Py_IS_TYPE(descr, &PyGetSetDescr_Type) ||
            Py_IS_TYPE(descr, &PyMemberDescr_Type)) &&
           PyExceptionClass_Check((PyObject *)((PyDescrObject *)descr)->d_type);
}

/* Existing exceptions: members are read where they are. */
static Status existing_member(Tx *tx, Var *self, PyObject *name, Var **out)
{
    if (self->src == NULL || named(name, "__traceback__"))
        return graph_break(tx, BRK_NO_SLOT, "%s of an existing exception",
                           PyUnicode_AsUTF8(name));
    PyObject *o = tx_hold(tx, PyObject_GetAttr(self->real, name));
    Source *src = source_get(&tx->sources, SRC_GETSET, self->src, name, 0);
    if (o == NULL || src == NULL)
        return ST_ERROR;
    return lazy_new(tx, o, src, out);
}

static Status set_args(Tx *tx, ExcVar *e, Var *value)
{
    Var **items, *t;
    Py_ssize_t n;
    TRY(var_unpack(tx, value, &items, &n));
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, &t));
    AS(TupleVar, t)->n = n;
    AS(TupleVar, t)->items = items;
    SET(tx, e->args, AS(TupleVar, t));
    return ST_OK;
}

Status exc_existing_field(Tx *tx, Var *self, PyObject *descr, PyObject *name, Var **out)
{
    bool is =
        self->real && PyExceptionInstance_Check(self->real) && is_member(descr, name);
    return is ? existing_member(tx, self, name, out) : ST_DECLINE;
}

/* By a model with the same arguments, which is all that these texts depend on. */
Status exc_existing_text(Tx *tx, Var *self, bool str, Var **out)
{
    PyTypeObject *base = c_base(self->type);
    reprfunc own = str ? self->type->tp_str : self->type->tp_repr, of = base->tp_repr;
    bool plain = str ? simple_text(base) || base == (PyTypeObject *)PyExc_KeyError
                     : of == ((PyTypeObject *)PyExc_BaseException)->tp_repr;
    if (!plain || own != (str ? base->tp_str : of) || self->src == NULL)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "text of %s", self->type->tp_name);
    Var *args;
    ExcVar *model;
    TRY(existing_member(tx, self, str_args, &args));
    TRY(VAR_MAKE(tx, exc, ExcVar, self->type, &model));
    TRY(set_args(tx, model, args));
    return str ? exc_base_str(tx, model, out) : exc_base_repr(tx, model, out);
}

static Status exc_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    if (!is_member(descr, name))
        return var_generic_getattr(tx, self, name, out);
    KeyEntry *field = keymap_find_id(&AS(ExcVar, self)->members, descr);
    if (field != NULL) {
        *out = field->value;
        return ST_OK;
    }
    if (AS(ExcVar, self)->partial &&
        PyDescr_TYPE(descr) != (PyTypeObject *)PyExc_BaseException)
        return graph_break(tx, BRK_NO_SLOT, "%s of an exception that Python raised",
                           PyUnicode_AsUTF8(name));
    if (self->real != NULL && AS(ExcVar, self)->args == NULL)
        return existing_member(tx, self, name, out);
    return exc_member(tx, AS(ExcVar, self), name, out);
}

/* None, or an exception: what __cause__ and __context__ take. */
static Status chain_value(Tx *tx, PyObject *name, Var *value, Var **out)
{
    TRY(var_real(tx, &value));
    *out = value == tx_none(tx) ? NULL : value;
    if (*out == NULL || (value->type && PyExceptionClass_Check((PyObject *)value->type)))
        return ST_OK;
    return raise_type(tx, PyExc_TypeError,
                      "exception %s must be None or derive from BaseException",
                      named(name, "__cause__") ? "cause" : "context");
}

Status exc_set_traceback(Tx *tx, ExcVar *e, Var *tb)
{
    TRY(var_real(tx, &tb));
    bool some = tb->kind == &kind_opaque && tb->type == &PyTraceBack_Type;
    if (!some && tb != tx_none(tx))
        return raise_type(tx, PyExc_TypeError, "%s",
                          "__traceback__ must be a traceback or None");
    SET(tx, e->raised, (uintptr_t)some); /* one that was raised cannot be made again */
    return ST_OK;
}

static Status set_member(Tx *tx, ExcVar *e, PyObject *name, Var *value)
{
    bool yes;
    Var *v;
    if (value == NULL || e->members.n)
        return graph_break(tx, BRK_NO_SLOT, "store to %s", PyUnicode_AsUTF8(name));
    if (e->excs && named(name, "args")) /* message and exceptions stay as they were made */
        return graph_break(tx, BRK_NO_SLOT, "%s", "store to args of a group");
    if (named(name, "args"))
        return set_args(tx, e, value);
    if (named(name, "__suppress_context__")) {
        TRY(var_truth(tx, value, &yes));
        SET(tx, e->suppress, (uintptr_t)yes);
        return ST_OK;
    }
    if (named(name, "__traceback__"))
        return exc_set_traceback(tx, e, value);
    if (!named(name, "__cause__") && !named(name, "__context__"))
        return graph_break(tx, BRK_NO_SLOT, "store to %s.%s", e->v.type->tp_name,
                           PyUnicode_AsUTF8(name));
    TRY(chain_value(tx, name, value, &v));
    if (named(name, "__context__")) {
        SET(tx, e->context, v);
        return ST_OK;
    }
    SET(tx, e->cause, v);
    SET(tx, e->suppress, (uintptr_t)1);
    return ST_OK;
}

/* As for other objects: the class's own __setattr__, C members, the instance dictionary. */
static Status exc_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    PyObject *descr, *own,
        *which = tx_hold(
            tx, PyUnicode_InternFromString(value ? "__setattr__" : "__delattr__"));
    DictVar *d;
    bool was;
    TRY_PTR(which);
    TRY(type_lookup(tx, self->type, which, &own));
    if (own && PyFunction_Check(own))
        return graph_break(tx, BRK_NO_SLOT, "__setattr__ of %s", self->type->tp_name);
    if (self->real != NULL && AS(ExcVar, self)->args == NULL)
        return graph_break(tx, BRK_NO_SLOT, "store to an existing %s",
                           self->type->tp_name);
    TRY(type_lookup(tx, self->type, name, &descr));
    if (is_member(descr, name))
        return set_member(tx, AS(ExcVar, self), name, value);
    if (descr && Py_TYPE(descr)->tp_descr_set)
        return graph_break(tx, BRK_NO_SLOT, "store to '%s' of %s", PyUnicode_AsUTF8(name),
                           self->type->tp_name);
    TRY(attrs_of(tx, self, &d));
    if (d == NULL)
        return graph_break(tx, BRK_NO_SLOT, "store to '%s' of %s", PyUnicode_AsUTF8(name),
                           self->type->tp_name);
    if (value != NULL)
        return dict_set_str(tx, d, name, value);
    TRY(dict_del(tx, d, name, PyObject_Hash(name), &was));
    return was ? ST_OK
               : raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%s'",
                            self->type->tp_name, PyUnicode_AsUTF8(name));
}

/* -- As a value --------------------------------------------------------------- */

static Status exc_truth(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status exc_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    bool same;
    *out = tx_notimpl(tx);
    if (op != Py_EQ && op != Py_NE)
        return ST_OK;
    TRY(var_is(tx, self, other, &same));
    if (same)
        *out = tx_bool(tx, op == Py_EQ);
    return ST_OK;
}

static Status exc_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *key = self->real; /* by identity; NULL: the Var itself is the key */
    *h = _Py_HashPointer(self->real ? (void *)self->real : (void *)self);
    return ST_OK;
}

/* -- The kind --------------------------------------------------------------- */

const VarKind kind_exc = {
    .name = "exception",
    .id = KIND_exc,
    .getattr = exc_getattr,
    .setattr = exc_setattr,
    .truth = exc_truth,
    .compare = exc_compare,
    .hash = exc_hash,
    .repr = exc_repr,
};
