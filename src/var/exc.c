/*
 * var/exc.c -- exceptions made in the trace.
 *
 * Takes: class and arguments. Gives: attributes, texts, chaining. Tracebacks do not exist in a trace: who asks for one breaks.
 * Attributes that C classes compute from their arguments (OSError.errno …) are read from a real exception of the
 * same arguments.
 */
#include "trace/tx.h"
#include "builtin/help.h"
#include "cpy/cpy.h"
#include "var/exc.h"
#include "var/names.h"
#include "var/object.h"
#include <structmember.h>

static bool named(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
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

/* Made by a class written in Python, with __slots__? Else it is a field of a C class. */
static bool is_slot(PyObject *descr)
{
    return PyDescr_TYPE(descr)->tp_flags & Py_TPFLAGS_HEAPTYPE;
}

/* The arguments as a real tuple; *out NULL: they are no constants. */
static Status real_tuple(Tx *tx, const TupleVar *t, PyObject **out)
{
    Py_ssize_t n = t ? t->n : 0;
    *out = NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!fold_possible(t->items[i]))
            return ST_OK;
    PyObject *args = tx_hold(tx, PyTuple_New(n));
    TRY_PTR(args);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o;
        TRY(fold_value(tx, t->items[i], &o));
        if (o == NULL)
            return ST_OK;
        PyTuple_SET_ITEM(args, i, Py_NewRef(o));
    }
    *out = args;
    return ST_OK;
}

/* Fields that were stored into. *out NULL: one holds no constant. */
static Status shadow_fields(Tx *tx, ExcVar *e, PyObject *exc, PyObject **out)
{
    PyObject *o;
    *out = exc;
    for (size_t i = 0; i < e->members.used; i++) {
        KeyEntry *field = &e->members.entries[i];
        if (field->id == NULL || field->value == NULL || is_slot(field->id))
            continue;
        TRY(fold_possible(field->value) ? fold_value(tx, field->value, &o)
                                        : (o = NULL, ST_OK));
        if (o == NULL) {
            *out = NULL;
            return ST_OK;
        }
        if (Py_TYPE(field->id)->tp_descr_set(field->id, exc, o) < 0)
            return ST_ERROR;
    }
    return ST_OK;
}

Status exc_shadow(Tx *tx, ExcVar *e, PyObject **out)
{
    PyTypeObject *base = cpy_c_base(e->v.type);
    PyObject *made, *args;
    *out = NULL;
    TRY(real_tuple(tx, e->made ? e->made : e->args, &made));
    TRY(real_tuple(tx, e->args, &args));
    if (made == NULL || args == NULL)
        return ST_OK;
    PyObject *exc = tx_hold(tx, e->made ? PyObject_CallObject((PyObject *)base, made)
                                        : base->tp_new(base, made, NULL));
    if (exc == NULL)
        return raise_now(tx);
    if (e->made != e->args)
        Py_XSETREF(((PyBaseExceptionObject *)exc)->args, Py_NewRef(args));
    TRY(shadow_fields(tx, e, exc, &exc));
    *out = exc;
    return ST_OK;
}

/* -- Text ------------------------------------------------------------------- */

static bool simple_text(PyTypeObject *base)
{
    return base->tp_str == ((PyTypeObject *)PyExc_BaseException)->tp_str;
}

/* The built-in class whose __str__ an exception has, if no class in Python has one: by MRO, not by layout. */
static PyTypeObject *str_base(PyTypeObject *t)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(t->tp_mro); i++) {
        PyTypeObject *c = (PyTypeObject *)PyTuple_GET_ITEM(t->tp_mro, i);
        if (!(c->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
            PyDict_GetItemString(c->tp_dict, "__str__"))
            return c;
    }
    return cpy_c_base(t);
}

Status exc_base_str(Tx *tx, ExcVar *e, Var **out)
{
    PyTypeObject *base = str_base(e->v.type);
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
    PyTypeObject *base = cpy_c_base(e->v.type);
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
        *out = e->made && e->made->n ? e->made->items[0] : tx_none(tx);
        return ST_OK;
    }
    if (base == (PyTypeObject *)PyExc_SystemExit && named(name, "code") &&
        (e->made == NULL || e->made->n <= 1)) {
        *out = e->made && e->made->n ? e->made->items[0] : tx_none(tx);
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
    PyObject *o = tx_hold(tx, PyObject_GenericGetAttr(self->real, name));
    if (o == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* OSError.characters_written, which is not always there */
        return graph_break(tx, BRK_NO_SLOT, "%s of an existing exception",
                           PyUnicode_AsUTF8(name));
    }
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
    PyTypeObject *base = str ? str_base(self->type) : cpy_c_base(self->type);
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

Status exc_field_get(Tx *tx, Var *self, PyObject *descr, PyObject *name, Var **out)
{
    ExcVar *e = AS(ExcVar, self);
    KeyEntry *field = keymap_find_id(&e->members, descr);
    if (field != NULL && field->value != NULL) {
        *out = field->value;
        return ST_OK;
    }
    if (is_slot(descr))
        return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                          self->type->tp_name, name);
    if (e->partial && PyDescr_TYPE(descr) != (PyTypeObject *)PyExc_BaseException)
        return graph_break(tx, BRK_NO_SLOT, "%s of an exception that Python raised",
                           PyUnicode_AsUTF8(name));
    if (self->real != NULL && e->args == NULL)
        return existing_member(tx, self, name, out);
    return exc_member(tx, e, name, out);
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

static Status check_writable(Tx *tx, PyObject *descr, PyObject *name)
{
    if (Py_IS_TYPE(descr, &PyMemberDescr_Type) &&
        (((PyMemberDescrObject *)descr)->d_member->flags & READONLY))
        return raise_type(tx, PyExc_AttributeError, "readonly attribute");
    if (Py_IS_TYPE(descr, &PyGetSetDescr_Type) &&
        ((PyGetSetDescrObject *)descr)->d_getset->set == NULL)
        return raise_type(tx, PyExc_AttributeError,
                          "attribute '%U' of '%.100s' objects is not writable", name,
                          PyDescr_TYPE(descr)->tp_name);
    return ST_OK;
}

/* A field that holds any object; what it is set to is what it gives from now on. */
static Status set_field(Tx *tx, ExcVar *e, PyObject *descr, PyObject *name, Var *value)
{
    TRY(check_writable(tx, descr, name));
    bool object =
        Py_IS_TYPE(descr, &PyMemberDescr_Type) &&
        (is_slot(descr) || ((PyMemberDescrObject *)descr)->d_member->type == T_OBJECT);
    if (!object || (value == NULL && !is_slot(descr)))
        return graph_break(tx, BRK_NO_SLOT, "store to %s.%s", e->v.type->tp_name,
                           PyUnicode_AsUTF8(name));
    if (value == NULL) {
        Var *was;
        Status st = exc_field_get(tx, &e->v, descr, name, &was);
        if (st == ST_RAISE)
            return raise_type(tx, PyExc_AttributeError, "%U", name);
        TRY(st);
    }
    return keymap_put(&e->members, &tx->arena, &tx->journal, NULL, 0, descr, value)
               ? ST_OK
               : ST_ERROR;
}

static Status set_suppress(Tx *tx, ExcVar *e, Var *value)
{
    TRY(var_real(tx, &value));
    if (value->type != &PyBool_Type)
        return raise_type(tx, PyExc_TypeError, "attribute value type must be bool");
    bool yes;
    TRY(var_truth(tx, value, &yes));
    SET(tx, e->suppress, (uintptr_t)yes);
    return ST_OK;
}

static Status set_link(Tx *tx, ExcVar *e, PyObject *name, Var *value)
{
    TRY(chain_value(tx, name, value, &value));
    if (named(name, "__context__")) {
        SET(tx, e->context, value);
        return ST_OK;
    }
    SET(tx, e->cause, value);
    SET(tx, e->suppress, (uintptr_t)1);
    return ST_OK;
}

static Status no_delete(Tx *tx, PyObject *name)
{
    if (named(name, "__suppress_context__"))
        return raise_type(tx, PyExc_TypeError, "can't delete numeric/char attribute");
    return raise_type(tx, PyExc_TypeError, "%U may not be deleted", name);
}

Status exc_field_set(Tx *tx, Var *self, PyObject *descr, PyObject *name, Var *value)
{
    ExcVar *e = AS(ExcVar, self);
    if (self->real != NULL && e->args == NULL)
        return graph_break(tx, BRK_NO_SLOT, "store to an existing %s",
                           self->type->tp_name);
    if (PyDescr_TYPE(descr) != (PyTypeObject *)PyExc_BaseException)
        return set_field(tx, e, descr, name, value);
    if (named(name, "__dict__"))
        return graph_break(tx, BRK_NO_SLOT, "%s", "store to __dict__ of an exception");
    if (value == NULL)
        return no_delete(tx, name);
    if (e->excs && named(name, "args")) /* message and exceptions stay as they were made */
        return graph_break(tx, BRK_NO_SLOT, "%s", "store to args of a group");
    if (named(name, "args"))
        return set_args(tx, e, value);
    if (named(name, "__suppress_context__"))
        return set_suppress(tx, e, value);
    return named(name, "__traceback__") ? exc_set_traceback(tx, e, value)
                                        : set_link(tx, e, name, value);
}

/* -- The kind --------------------------------------------------------------- */

const VarKind kind_exc = {
    .name = "exception",
    .id = KIND_exc,
    OBJECT_SLOTS,
};
