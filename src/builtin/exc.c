/*
 * builtin/exc.c -- making exceptions, and the methods all of them share.
 *
 * Exception classes are too many for rows: exc_match() knows them by what they are. A class whose constructor is written in
 * Python goes through the generic way, which ends in BaseException.__new__ and __init__ here.
 */
#include "builtin/group.h"
#include "builtin/help.h"
#include "var/exc.h"

static PyTypeObject *base_exception(void)
{
    return (PyTypeObject *)PyExc_BaseException;
}

/* -- Constructors ----------------------------------------------------------- */

/* C constructors that take what they get and store it as args. */
static bool plain_constructor(PyTypeObject *t)
{
    PyTypeObject *const plain[] = {
        (PyTypeObject *)PyExc_BaseException, (PyTypeObject *)PyExc_StopIteration,
        (PyTypeObject *)PyExc_SystemExit,    (PyTypeObject *)PyExc_AttributeError,
        (PyTypeObject *)PyExc_NameError,     (PyTypeObject *)PyExc_ImportError,
    };
    if (t->tp_new != base_exception()->tp_new)
        return false;
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (t->tp_init == plain[i]->tp_init)
            return true;
    return false;
}

/* Constructors that look at their arguments: a real exception says what becomes of them (OSError(2, 'x') is a
 * FileNotFoundError with other args), or raises what the program would see. */
static Status make_checked(Tx *tx, PyTypeObject *t, Var **v, Py_ssize_t n, Var **out)
{
    ExcVar probe = { .v = { .type = t } };
    TupleVar args = { .n = n, .items = v };
    PyObject *shadow, *a;
    probe.args = &args;
    if (t->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return ST_DECLINE;
    TRY(exc_shadow(tx, &probe, &shadow));
    if (shadow == NULL)
        return ST_DECLINE;
    a = tx_hold(tx, PyObject_GetAttrString(shadow, "args"));
    TRY_PTR(a);
    Var **items = tx_alloc(tx, (size_t)(PyTuple_GET_SIZE(a) + 1) * sizeof(Var *));
    TRY_PTR(items);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++)
        TRY(const_peek(tx, PyTuple_GET_ITEM(a, i), &items[i]));
    if (PyTuple_GET_SIZE(a) != n)
        return ST_DECLINE; /* part of the arguments would be lost when it is built again */
    return exc_new(tx, Py_TYPE(shadow), items, n, out);
}

static Status make(Tx *tx, PyTypeObject *t, Var **v, Py_ssize_t n, Var **out)
{
    if (is_group_class(t))
        return group_new(tx, t, v, n, out);
    return plain_constructor(t) ? exc_new(tx, t, v, n, out)
                                : make_checked(tx, t, v, n, out);
}

/* Is the constructor of a class written in Python the inherited C one? The lookups are guarded. */
static Status c_constructor(Tx *tx, PyTypeObject *t, bool *yes)
{
    static const char *const names[] = { "__new__", "__init__" };
    *yes = true;
    for (size_t i = 0; *yes && i < COUNT_OF(names); i++) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString(names[i])), *f;
        TRY_PTR(name);
        TRY(type_lookup(tx, t, name, &f));
        *yes = f && (PyCFunction_Check(f) || Py_IS_TYPE(f, &PyWrapperDescr_Type));
    }
    return ST_OK;
}

static Status call_class(Tx *tx, PyTypeObject *t, const Args *a, Var **out)
{
    bool yes;
    if (!Py_IS_TYPE((PyObject *)t, &PyType_Type) || a->nkw)
        return ST_DECLINE;
    TRY(c_constructor(tx, t, &yes));
    return yes ? make(tx, t, a->v, a->n, out) : ST_DECLINE;
}

/* X.__new__(cls, *args): keeps args, whatever __init__ makes of them. */
static Status call_new(Tx *tx, PyTypeObject *owner, const Args *a, Var **out)
{
    bool group = owner == (PyTypeObject *)PyExc_BaseExceptionGroup;
    if (a->n < 1 || (owner->tp_new != base_exception()->tp_new && !group))
        return ST_DECLINE;
    Var *cls = a->v[0];
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class || !cls->real || !PyExceptionClass_Check(cls->real))
        return ST_DECLINE;
    if (group)
        return a->nkw ? ST_DECLINE
                      : group_new(tx, (PyTypeObject *)cls->real, a->v + 1, a->n - 1, out);
    return exc_new(tx, (PyTypeObject *)cls->real, a->v + 1, a->n - 1, out);
}

/* -- Methods ---------------------------------------------------------------- */

static Status init(Tx *tx, PyTypeObject *owner, ExcVar *e, const Args *a, Var **out)
{
    Var *t;
    if (a->nkw ||
        (!plain_constructor(owner) && owner != (PyTypeObject *)PyExc_BaseExceptionGroup))
        return ST_DECLINE;
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, &t));
    AS(TupleVar, t)->n = a->n - 1;
    AS(TupleVar, t)->items = tx_alloc(tx, (size_t)a->n * sizeof(Var *));
    TRY_PTR(AS(TupleVar, t)->items);
    memcpy(AS(TupleVar, t)->items, a->v + 1, (size_t)(a->n - 1) * sizeof(Var *));
    SET(tx, e->args, AS(TupleVar, t));
    *out = tx_none(tx);
    return ST_OK;
}

static Status add_note(Tx *tx, Var *self, const Args *a, Var **out)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__notes__"));
    Var *notes, *note = a->v[1];
    PyTypeObject *t;
    TRY_PTR(name);
    TRY(var_type_of(tx, note, &t));
    if (t != &PyUnicode_Type)
        return ST_DECLINE;
    TRY(var_getattr_opt(tx, self, name, &notes));
    if (notes == NULL) {
        TRY(list_new(tx, NULL, 0, &notes));
        TRY(var_setattr(tx, self, name, notes));
    }
    TRY(var_real(tx, &notes));
    if (notes->kind != &kind_list)
        return graph_break(tx, BRK_NO_SLOT, "%s", "__notes__ is no list");
    TRY(list_push(tx, AS(ListVar, notes), note));
    *out = tx_none(tx);
    return ST_OK;
}

static Status with_traceback(Tx *tx, Var *self, const Args *a, Var **out)
{
    TRY(exc_set_traceback(tx, AS(ExcVar, self), a->v[1]));
    *out = self;
    return ST_OK;
}

static Status set_attribute(Tx *tx, Var *self, const Args *a, Var **out)
{
    PyObject *name;
    TRY(arg_name(tx, a->v[1], &name));
    TRY(self->kind->setattr(tx, self, name, a->v[2]));
    *out = tx_none(tx);
    return ST_OK;
}

static Status call_method(Tx *tx, PyDescrObject *d, const Args *a, Var **out)
{
    if (a->n < 1)
        return ST_DECLINE;
    Var *self = a->v[0];
    TRY(var_real(tx, &self));
    if (self->kind != &kind_exc || self->real != NULL)
        return ST_DECLINE;
    const char *name = PyUnicode_AsUTF8(d->d_name);
    ExcVar *e = AS(ExcVar, self);
    if (strcmp(name, "__init__") == 0)
        return init(tx, d->d_type, e, a, out);
    if (d->d_type == (PyTypeObject *)PyExc_BaseExceptionGroup &&
        (strcmp(name, "split") == 0 || strcmp(name, "subgroup") == 0 ||
         strcmp(name, "derive") == 0))
        return group_method(tx, name, self, a, out);
    if (strcmp(name, "__setattr__") == 0 && a->n == 3)
        return set_attribute(tx, self, a, out);
    if (a->nkw == 0 && a->n == 1 && strcmp(name, "__str__") == 0)
        return exc_base_str(tx, e, out);
    if (a->nkw == 0 && a->n == 1 && strcmp(name, "__repr__") == 0)
        return exc_base_repr(tx, e, out);
    if (a->nkw == 0 && a->n == 2 && strcmp(name, "with_traceback") == 0)
        return with_traceback(tx, self, a, out);
    if (a->nkw == 0 && a->n == 2 && strcmp(name, "add_note") == 0)
        return add_note(tx, self, a, out);
    return ST_DECLINE;
}

/* -- Which of them ------------------------------------------------------------ */

Status exc_match(Tx *tx, PyObject *callable, const Args *a, Var **out)
{
    PyTypeObject *t = Py_TYPE(callable);
    if (PyExceptionClass_Check(callable))
        return call_class(tx, (PyTypeObject *)callable, a, out);
    if (t == &PyCFunction_Type) {
        PyCFunctionObject *f = (PyCFunctionObject *)callable;
        if (f->m_self && PyExceptionClass_Check(f->m_self) &&
            strcmp(f->m_ml->ml_name, "__new__") == 0)
            return call_new(tx, (PyTypeObject *)f->m_self, a, out);
        return ST_DECLINE;
    }
    if ((t == &PyWrapperDescr_Type || t == &PyMethodDescr_Type) &&
        PyExceptionClass_Check((PyObject *)((PyDescrObject *)callable)->d_type))
        return call_method(tx, (PyDescrObject *)callable, a, out);
    return ST_DECLINE;
}

static Status exc_info(Tx *tx, const Args *a, Var **out)
{
    Var *handled;
    TRY(except_handled(tx, &handled));
    Var *part[3] = { tx_none(tx), tx_none(tx), tx_none(tx) };
    if (handled != NULL) {
        TRY(var_real(tx, &handled));
        if (handled->kind != &kind_exc || handled->real != NULL)
            return graph_break(tx, BRK_NO_SLOT, "%s", "sys.exc_info() has a traceback");
        TRY(wrap_pinned(tx, (PyObject *)handled->type, NULL, &part[0]));
        part[1] = handled;
        TRY(except_traceback(tx, &part[2]));
    }
    return tuple_new(tx, part, 3, out);
}

static Status exception(Tx *tx, const Args *a, Var **out)
{
    TRY(except_handled(tx, out));
    *out = *out ? *out : tx_none(tx);
    return ST_OK;
}

const Handler handlers_exc[] = {
    { "sys.exc_info", 0, 0, exc_info, NULL },
    { "sys.exception", 0, 0, exception, NULL },
    { 0 },
};
