/*
 * builtin/exc.c -- making exceptions, and the methods all of them share.
 *
 * Exception classes are too many for rows: exc_match() knows them by what they are. A class whose constructor is written in
 * Python goes through the generic way, which ends in BaseException.__new__ and __init__ here.
 */
#include "builtin/group.h"
#include "builtin/help.h"
#include "cpy/cpy.h"
#include "var/wrap.h"
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
    if (cpy_c_base(t)->tp_new != base_exception()->tp_new)
        return false;
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (cpy_c_base(t)->tp_init == plain[i]->tp_init)
            return true;
    return false;
}

static bool is_os_error(PyTypeObject *t)
{
    return PyType_IsSubtype(t, (PyTypeObject *)PyExc_OSError);
}

static Status tuple_var(Tx *tx, Var **v, Py_ssize_t n, TupleVar **out)
{
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, out));
    (*out)->n = n;
    (*out)->items = tx_alloc(tx, (size_t)(n + 1) * sizeof(Var *));
    TRY_PTR((*out)->items);
    if (n)
        memcpy((*out)->items, v, (size_t)n * sizeof(Var *));
    return ST_OK;
}

/* What a C constructor that looks at its arguments makes of them, as a real exception says, or what it raises: its class (OSError(2, 'x')
 * is a FileNotFoundError) and the args that it keeps (without the name of a file). */
static Status made_of(Tx *tx, PyTypeObject *t, TupleVar *made, PyTypeObject **cls,
                      TupleVar **args)
{
    ExcVar probe = { .v = { .type = cpy_c_base(t) }, .args = made, .made = made };
    PyObject *shadow, *a;
    *cls = t;
    *args = made;
    if (is_os_error(t) && (made->n < 2 || made->n > 5)) /* they say nothing special */
        return ST_OK;
    if (t != cpy_c_base(t) && cpy_c_base(t) == (PyTypeObject *)PyExc_BlockingIOError &&
        made->n > 2) /* a third argument is a count for the very class, else a name */
        return ST_DECLINE;
    TRY(exc_shadow(tx, &probe, &shadow));
    if (shadow == NULL)
        return ST_DECLINE;
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE))
        *cls = Py_TYPE(shadow);
    a = ((PyBaseExceptionObject *)shadow)->args;
    if (PyTuple_GET_SIZE(a) == made->n)
        return ST_OK;
    TRY(tuple_var(tx, made->items, PyTuple_GET_SIZE(a), args));
    for (Py_ssize_t i = 0; i < (*args)->n; i++)
        TRY(const_peek(tx, tx_keep(tx, PyTuple_GET_ITEM(a, i)), &(*args)->items[i]));
    return ST_OK;
}

static Status make_checked(Tx *tx, PyTypeObject *t, Var **v, Py_ssize_t n, Var **out)
{
    TupleVar *made, *args;
    TRY(tuple_var(tx, v, n, &made));
    TRY(made_of(tx, t, made, &t, &args));
    TRY(exc_new(tx, t, args->items, args->n, out));
    if (args == made)
        AS(ExcVar, *out)->args = made;
    AS(ExcVar, *out)->made = made;
    return ST_OK;
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
        *yes = f && f == cpy_type_lookup(wrap_layout(t), name);
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

/* OSError.__new__ leaves everything to a class's own __init__. */
static bool init_makes(PyTypeObject *t)
{
    PyTypeObject *os = (PyTypeObject *)PyExc_OSError;
    return t->tp_init != os->tp_init && t->tp_new == os->tp_new;
}

static Status new_os_error(Tx *tx, PyTypeObject *t, const Args *a, Var **out)
{
    if (!init_makes(t))
        return a->nkw ? ST_DECLINE : make_checked(tx, t, a->v + 1, a->n - 1, out);
    TRY(exc_new(tx, t, NULL, 0, out));
    AS(ExcVar, *out)->made = NULL;
    return ST_OK;
}

/* X.__new__(cls, *args): keeps args, whatever __init__ makes of them. Keywords are for that. */
static Status call_new(Tx *tx, PyTypeObject *owner, const Args *a, Var **out)
{
    if (a->n < 1)
        return ST_DECLINE;
    Var *cls = a->v[0];
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class || !cls->real || !PyExceptionClass_Check(cls->real))
        return ST_DECLINE;
    PyTypeObject *t = (PyTypeObject *)cls->real;
    if (!PyType_IsSubtype(t, owner) || cpy_c_base(t)->tp_new != cpy_c_base(owner)->tp_new)
        return ST_DECLINE;
    if (t == (PyTypeObject *)PyExc_MemoryError) /* may be one from a store, without args */
        return ST_DECLINE;
    if (is_group_class(t))
        return group_new(tx, t, a->v + 1, a->n - 1, out);
    if (is_os_error(t))
        return new_os_error(tx, t, a, out);
    TRY(exc_new(tx, t, a->v + 1, a->n - 1, out));
    AS(ExcVar, *out)->made = NULL;
    return ST_OK;
}

/* -- Methods ---------------------------------------------------------------- */

static Status init(Tx *tx, PyTypeObject *owner, ExcVar *e, const Args *a, Var **out)
{
    TupleVar *made, *args;
    PyTypeObject *t = e->v.type;
    bool group = owner == (PyTypeObject *)PyExc_BaseExceptionGroup;
    bool plain =
        group || owner->tp_init == base_exception()->tp_init || plain_constructor(owner);
    if (a->nkw || (is_os_error(owner) && !init_makes(t)))
        return ST_DECLINE;
    TRY(tuple_var(tx, a->v + 1, a->n - 1, &made));
    args = made;
    if (!plain)
        TRY(made_of(tx, owner, made, &t, &args));
    SET(tx, e->args, args);
    if (owner->tp_init != base_exception()->tp_init)
        SET(tx, e->made, made);
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
    TRY(var_generic_setattr(tx, self, name, a->v[2]));
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
