/*
 * run/real_match.c -- pattern matching and exception groups.
 *
 * Patterns are matched here step by step, so that user code they call finds the frame it
 * would find. Exception groups go through a function of one instruction: their algorithms
 * are the interpreter's own.
 */
#include "run/real_op.h"

/* -- Subjects ------------------------------------------------------------------------- */

Outcome real_get_len(Real *r)
{
    Py_ssize_t n = PyObject_Length(peek(r, 1));
    return result(r, 0, n < 0 ? NULL : PyLong_FromSsize_t(n));
}

Outcome real_match_mapping(Real *r)
{
    return result_bool(r, 0, PyType_HasFeature(Py_TYPE(peek(r, 1)), Py_TPFLAGS_MAPPING));
}

Outcome real_match_sequence(Real *r)
{
    return result_bool(r, 0, PyType_HasFeature(Py_TYPE(peek(r, 1)), Py_TPFLAGS_SEQUENCE));
}

/* -- Mapping patterns ------------------------------------------------------------------- */

/* 1 new, 0 was there, -1 an exception is set. */
static int add_new(PyObject *set, PyObject *v)
{
    int there = PySet_Contains(set, v);
    if (there != 0)
        return there < 0 ? -1 : 0;
    return PySet_Add(set, v) < 0 ? -1 : 1;
}

/* Appends the values of the keys to the list. 1 all there, 0 one is missing, -1 error. */
static int get_keys(PyObject *subject, PyObject *keys, PyObject *seen, PyObject *values)
{
    PyObject *get = PyObject_GetAttrString(subject, "get");
    PyObject *missing =
        get == NULL ? NULL : PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    int status = missing == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; status == 1 && i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *key = PyTuple_GET_ITEM(keys, i), *v = NULL;
        status = add_new(seen, key);
        if (status == 0) {
            PyErr_Format(PyExc_ValueError, "mapping pattern checks duplicate key (%R)",
                         key);
            status = -1;
        }
        if (status == 1) {
            v = PyObject_CallFunctionObjArgs(get, key, missing, NULL);
            status = v == NULL ? -1 : v != missing;
        }
        if (status == 1)
            status = PyList_Append(values, v) < 0 ? -1 : 1;
        Py_XDECREF(v);
    }
    Py_XDECREF(missing);
    Py_XDECREF(get);
    return status;
}

Outcome real_match_keys(Real *r)
{
    PyObject *keys = peek(r, 1), *subject = peek(r, 2), *v = NULL;
    if (PyTuple_GET_SIZE(keys) == 0)
        return result(r, 0, PyTuple_New(0));
    PyObject *seen = PySet_New(NULL), *values = PyList_New(0);
    int status =
        seen == NULL || values == NULL ? -1 : get_keys(subject, keys, seen, values);
    if (status >= 0)
        v = status ? PyList_AsTuple(values) : Py_NewRef(Py_None);
    Py_XDECREF(seen);
    Py_XDECREF(values);
    return result(r, 0, v);
}

/* -- Class patterns ------------------------------------------------------------------------ */

typedef struct ClassMatch {
    PyObject *subject;
    PyTypeObject *type;
    PyObject *seen;  /* set of attribute names */
    PyObject *attrs; /* list of values */
} ClassMatch;

/* As get_keys says. */
static int match_attr(ClassMatch *m, PyObject *name)
{
    int status = add_new(m->seen, name);
    if (status <= 0) {
        if (status == 0)
            PyErr_Format(PyExc_TypeError,
                         "%s() got multiple sub-patterns for attribute %R",
                         m->type->tp_name, name);
        return -1;
    }
    PyObject *v = PyObject_GetAttr(m->subject, name);
    if (v == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    status = PyList_Append(m->attrs, v) < 0 ? -1 : 1;
    Py_DECREF(v);
    return status;
}

/* __match_args__ as a tuple; *self: the subject itself is the one positional sub-pattern. */
static PyObject *match_args(PyTypeObject *type, bool *self)
{
    PyObject *names = PyObject_GetAttrString((PyObject *)type, "__match_args__");
    *self = false;
    if (names == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return NULL;
        PyErr_Clear();
        *self = PyType_HasFeature(type, _Py_TPFLAGS_MATCH_SELF);
        return PyTuple_New(0);
    }
    if (PyTuple_CheckExact(names))
        return names;
    PyErr_Format(PyExc_TypeError, "%s.__match_args__ must be a tuple (got %s)",
                 type->tp_name, Py_TYPE(names)->tp_name);
    Py_DECREF(names);
    return NULL;
}

static int match_named(ClassMatch *m, PyObject *names, Py_ssize_t n)
{
    int status = 1;
    for (Py_ssize_t i = 0; status == 1 && i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (!PyUnicode_CheckExact(name)) {
            PyErr_Format(PyExc_TypeError,
                         "__match_args__ elements must be strings (got %s)",
                         Py_TYPE(name)->tp_name);
            return -1;
        }
        status = match_attr(m, name);
    }
    return status;
}

static int match_positional(ClassMatch *m, Py_ssize_t n)
{
    bool self;
    PyObject *names = match_args(m->type, &self);
    if (names == NULL)
        return -1;
    Py_ssize_t allowed = self ? 1 : PyTuple_GET_SIZE(names);
    int status;
    if (allowed < n) {
        PyErr_Format(PyExc_TypeError,
                     "%s() accepts %zd positional sub-pattern%s (%zd given)",
                     m->type->tp_name, allowed, allowed == 1 ? "" : "s", n);
        status = -1;
    } else if (self) {
        status = PyList_Append(m->attrs, m->subject) < 0 ? -1 : 1;
    } else {
        status = match_named(m, names, n);
    }
    Py_DECREF(names);
    return status;
}

static int match_class(ClassMatch *m, Py_ssize_t npos, PyObject *keywords)
{
    if (!PyType_Check((PyObject *)m->type)) {
        PyErr_SetString(PyExc_TypeError, "called match pattern must be a type");
        return -1;
    }
    int status = PyObject_IsInstance(m->subject, (PyObject *)m->type);
    if (status == 1 && npos > 0)
        status = match_positional(m, npos);
    for (Py_ssize_t i = 0; status == 1 && i < PyTuple_GET_SIZE(keywords); i++)
        status = match_attr(m, PyTuple_GET_ITEM(keywords, i));
    return status;
}

/* Stack: subject, class, keyword names. */
Outcome real_match_class(Real *r)
{
    ClassMatch m = { peek(r, 3), (PyTypeObject *)peek(r, 2), PySet_New(NULL),
                     PyList_New(0) };
    PyObject *v = NULL;
    int status = -1;
    if (m.seen != NULL && m.attrs != NULL)
        status = match_class(&m, r->in->arg, peek(r, 1));
    if (status >= 0)
        v = status ? PyList_AsTuple(m.attrs) : Py_NewRef(Py_None);
    Py_XDECREF(m.seen);
    Py_XDECREF(m.attrs);
    return result(r, 3, v);
}

/* -- Functions of one instruction --------------------------------------------------------------- */

static PyObject *make_stub(Op op, int nargs, bool pair)
{
    PyObject *name = PyUnicode_FromString(op_name(op)), *globals = PyDict_New();
    Asm *a = name == NULL ? NULL : asm_new(name, name, name, 1);
    PyObject *code = NULL, *func = NULL;
    if (a != NULL) {
        static const char *const names[] = { "a", "b", "c" };
        asm_op(a, OP_RESUME, 0);
        for (int i = 0; i < nargs; i++)
            asm_arg(a, names[i]);
        for (int i = 0; i < nargs; i++)
            asm_op(a, OP_LOAD_FAST, i);
        asm_op(a, op, 0);
        if (pair)
            asm_op(a, OP_BUILD_TUPLE, 2);
        asm_op(a, OP_RETURN_VALUE, 0);
        code = (PyObject *)asm_finish(a);
        asm_free(a);
    }
    if (code != NULL && globals != NULL)
        func = PyFunction_New(code, globals);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    Py_XDECREF(name);
    return func;
}

/* The stub's own line in the traceback goes: its caller's is the right one. */
static void drop_traceback_head(void)
{
    PyObject *type, *value, *tb;
    PyErr_Fetch(&type, &value, &tb);
    if (tb != NULL)
        Py_SETREF(tb, Py_XNewRef((PyObject *)((PyTracebackObject *)tb)->tb_next));
    PyErr_Restore(type, value, tb);
}

PyObject *real_stub(Real *r, Op op, int nargs, bool pair)
{
    static PyObject *stubs[OP_COUNT]; /* made once, kept for good */
    if (stubs[op] == NULL && (stubs[op] = make_stub(op, nargs, pair)) == NULL)
        return NULL;
    PyObject *v =
        cpy_call_code(r->ts, (PyFunctionObject *)stubs[op], r->sp - nargs, nargs);
    if (v == NULL)
        drop_traceback_head();
    return v;
}

/* exception, types -> rest or None, match or None */
Outcome real_check_eg_match(Real *r)
{
    PyObject *both = real_stub(r, OP_CHECK_EG_MATCH, 2, true);
    if (both == NULL)
        return RAISED;
    drop(r, 2);
    put(r, Py_NewRef(PyTuple_GET_ITEM(both, 0)));
    put(r, Py_NewRef(PyTuple_GET_ITEM(both, 1)));
    Py_DECREF(both);
    return DONE;
}

Outcome real_prep_reraise_star(Real *r)
{
    return result(r, 2, real_stub(r, OP_PREP_RERAISE_STAR, 2, false));
}
