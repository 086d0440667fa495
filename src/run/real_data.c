/*
 * run/real_data.c -- names, attributes, items, operators, building and taking apart.
 *
 * Each is the C-API call the instruction stands for; messages are those of the evaluator.
 */
#include "run/real_op.h"

/* -- Globals ------------------------------------------------------------------------ */

static const char no_name[] = "name '%.200s' is not defined";

/* Borrowed-to-new lookup in a namespace: 1 found, 0 not there, -1 an exception is set. */
static int look(PyObject *space, PyObject *name, PyObject **v)
{
    if (PyDict_CheckExact(space)) {
        *v = Py_XNewRef(PyDict_GetItemWithError(space, name));
        return *v != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
    }
    *v = PyObject_GetItem(space, name);
    if (*v != NULL)
        return 1;
    if (!PyErr_ExceptionMatches(PyExc_KeyError))
        return -1;
    PyErr_Clear();
    return 0;
}

Outcome real_load_global(Real *r)
{
    PyObject *name = name_of(r), *v;
    int found = look(func_of(r)->func_globals, name, &v);
    if (found == 0)
        found = look(func_of(r)->func_builtins, name, &v);
    if (found == 0)
        return real_name_error(PyExc_NameError, no_name, name);
    if (found < 0)
        return RAISED;
    if (r->in->flag)
        put(r, NULL);
    put(r, v);
    return DONE;
}

Outcome real_store_global(Real *r)
{
    return used(r, 1, PyDict_SetItem(func_of(r)->func_globals, name_of(r), peek(r, 1)));
}

Outcome real_delete_global(Real *r)
{
    if (PyDict_DelItem(func_of(r)->func_globals, name_of(r)) == 0)
        return DONE;
    if (PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        return real_name_error(PyExc_NameError, no_name, name_of(r));
    }
    return RAISED;
}

/* -- Attributes and items -------------------------------------------------------------- */

Outcome real_load_attr(Real *r)
{
    return result(r, 1, PyObject_GetAttr(peek(r, 1), name_of(r)));
}

Outcome real_load_method(Real *r)
{
    PyObject *owner = peek(r, 1), *meth = NULL;
    int unbound = _PyObject_GetMethod(owner, name_of(r), &meth);
    if (meth == NULL)
        return RAISED;
    r->sp[-1] = unbound ? meth : NULL;
    put(r, unbound ? owner : meth);
    if (!unbound)
        Py_DECREF(owner);
    return DONE;
}

Outcome real_store_attr(Real *r)
{
    return used(r, 2, PyObject_SetAttr(peek(r, 1), name_of(r), peek(r, 2)));
}

Outcome real_delete_attr(Real *r)
{
    return used(r, 1, PyObject_SetAttr(peek(r, 1), name_of(r), NULL));
}

Outcome real_binary_subscr(Real *r)
{
    return result(r, 2, PyObject_GetItem(peek(r, 2), peek(r, 1)));
}

Outcome real_store_subscr(Real *r)
{
    return used(r, 3, PyObject_SetItem(peek(r, 2), peek(r, 1), peek(r, 3)));
}

Outcome real_delete_subscr(Real *r)
{
    return used(r, 2, PyObject_DelItem(peek(r, 2), peek(r, 1)));
}

/* -- Operators --------------------------------------------------------------------------- */

Outcome real_unary_positive(Real *r)
{
    return result(r, 1, PyNumber_Positive(peek(r, 1)));
}

Outcome real_unary_negative(Real *r)
{
    return result(r, 1, PyNumber_Negative(peek(r, 1)));
}

Outcome real_unary_invert(Real *r)
{
    return result(r, 1, PyNumber_Invert(peek(r, 1)));
}

Outcome real_unary_not(Real *r)
{
    int truth = PyObject_IsTrue(peek(r, 1));
    return result_bool(r, 1, truth < 0 ? -1 : !truth);
}

static PyObject *power(PyObject *a, PyObject *b)
{
    return PyNumber_Power(a, b, Py_None);
}

static PyObject *power_in_place(PyObject *a, PyObject *b)
{
    return PyNumber_InPlacePower(a, b, Py_None);
}

/* By the operand of BINARY_OP. */
static PyObject *(*const operators[])(PyObject *, PyObject *) = {
    PyNumber_Add,
    PyNumber_And,
    PyNumber_FloorDivide,
    PyNumber_Lshift,
    PyNumber_MatrixMultiply,
    PyNumber_Multiply,
    PyNumber_Remainder,
    PyNumber_Or,
    power,
    PyNumber_Rshift,
    PyNumber_Subtract,
    PyNumber_TrueDivide,
    PyNumber_Xor,
    PyNumber_InPlaceAdd,
    PyNumber_InPlaceAnd,
    PyNumber_InPlaceFloorDivide,
    PyNumber_InPlaceLshift,
    PyNumber_InPlaceMatrixMultiply,
    PyNumber_InPlaceMultiply,
    PyNumber_InPlaceRemainder,
    PyNumber_InPlaceOr,
    power_in_place,
    PyNumber_InPlaceRshift,
    PyNumber_InPlaceSubtract,
    PyNumber_InPlaceTrueDivide,
    PyNumber_InPlaceXor,
};

Outcome real_binary_op(Real *r)
{
    return result(r, 2, operators[r->in->arg](peek(r, 2), peek(r, 1)));
}

Outcome real_compare_op(Real *r)
{
    return result(r, 2, PyObject_RichCompare(peek(r, 2), peek(r, 1), r->in->arg));
}

Outcome real_is_op(Real *r)
{
    return result_bool(r, 2, (peek(r, 2) == peek(r, 1)) ^ r->in->arg);
}

Outcome real_contains_op(Real *r)
{
    int in = PySequence_Contains(peek(r, 1), peek(r, 2));
    return result_bool(r, 2, in < 0 ? -1 : in ^ r->in->arg);
}

/* -- Building ------------------------------------------------------------------------------ */

/* The operands move into the new sequence. */
Outcome real_build_tuple(Real *r)
{
    int n = r->in->arg;
    PyObject *v = PyTuple_New(n);
    if (v == NULL)
        return RAISED;
    for (int i = n; i-- > 0;)
        PyTuple_SET_ITEM(v, i, take(r));
    put(r, v);
    return DONE;
}

Outcome real_build_list(Real *r)
{
    int n = r->in->arg;
    PyObject *v = PyList_New(n);
    if (v == NULL)
        return RAISED;
    for (int i = n; i-- > 0;)
        PyList_SET_ITEM(v, i, take(r));
    put(r, v);
    return DONE;
}

Outcome real_build_set(Real *r)
{
    int n = r->in->arg;
    PyObject *v = PySet_New(NULL);
    for (int i = n; v != NULL && i > 0; i--)
        if (PySet_Add(v, peek(r, i)) < 0)
            Py_CLEAR(v);
    return result(r, n, v);
}

Outcome real_build_map(Real *r)
{
    int n = r->in->arg;
    PyObject *v = PyDict_New();
    for (int i = 2 * n; v != NULL && i > 0; i -= 2)
        if (PyDict_SetItem(v, peek(r, i), peek(r, i - 1)) < 0)
            Py_CLEAR(v);
    return result(r, 2 * n, v);
}

Outcome real_build_const_key_map(Real *r)
{
    int n = r->in->arg;
    PyObject *keys = peek(r, 1), *v = PyDict_New();
    for (int i = 0; v != NULL && i < n; i++)
        if (PyDict_SetItem(v, PyTuple_GET_ITEM(keys, i), peek(r, n + 1 - i)) < 0)
            Py_CLEAR(v);
    return result(r, n + 1, v);
}

Outcome real_build_string(Real *r)
{
    int n = r->in->arg;
    PyObject *nothing = PyUnicode_New(0, 0);
    if (nothing == NULL)
        return RAISED;
    PyObject *v = _PyUnicode_JoinArray(nothing, r->sp - n, n);
    Py_DECREF(nothing);
    return result(r, n, v);
}

Outcome real_build_slice(Real *r)
{
    int n = r->in->arg;
    PyObject *step = n == 3 ? peek(r, 1) : NULL;
    return result(r, n, PySlice_New(peek(r, n), peek(r, n - 1), step));
}

Outcome real_format_value(Real *r)
{
    static PyObject *(*const conversions[])(
        PyObject *) = { NULL, PyObject_Str, PyObject_Repr, PyObject_ASCII };
    bool has_spec = (r->in->arg & 4) != 0;
    PyObject *(*convert)(PyObject *) = conversions[r->in->arg & 3];
    PyObject *spec = has_spec ? peek(r, 1) : NULL, *v = peek(r, 1 + has_spec);
    v = convert == NULL ? Py_NewRef(v) : convert(v);
    if (v != NULL && !(PyUnicode_CheckExact(v) && spec == NULL))
        Py_SETREF(v, PyObject_Format(v, spec));
    return result(r, 1 + has_spec, v);
}

Outcome real_list_to_tuple(Real *r)
{
    return result(r, 1, PyList_AsTuple(peek(r, 1)));
}

/* -- Adding to what is being built; the container lies in->arg below the value ----------------- */

Outcome real_list_append(Real *r)
{
    return used(r, 1, PyList_Append(peek(r, r->in->arg + 1), peek(r, 1)));
}

Outcome real_set_add(Real *r)
{
    return used(r, 1, PySet_Add(peek(r, r->in->arg + 1), peek(r, 1)));
}

Outcome real_map_add(Real *r)
{
    return used(r, 2, PyDict_SetItem(peek(r, r->in->arg + 2), peek(r, 2), peek(r, 1)));
}

Outcome real_set_update(Real *r)
{
    return used(r, 1, _PySet_Update(peek(r, r->in->arg + 1), peek(r, 1)));
}

/* Not iterable at all: the message for an instruction replaces the general one. */
static bool not_iterable(PyObject *v)
{
    return PyErr_ExceptionMatches(PyExc_TypeError) && Py_TYPE(v)->tp_iter == NULL &&
           !PySequence_Check(v);
}

Outcome real_list_extend(Real *r)
{
    PyObject *v = peek(r, 1);
    PyObject *none = _PyList_Extend((PyListObject *)peek(r, r->in->arg + 1), v);
    if (none != NULL) {
        Py_DECREF(none);
        drop(r, 1);
        return DONE;
    }
    if (not_iterable(v))
        PyErr_Format(PyExc_TypeError, "Value after * must be an iterable, not %.200s",
                     Py_TYPE(v)->tp_name);
    return RAISED;
}

Outcome real_dict_update(Real *r)
{
    PyObject *v = peek(r, 1);
    int error = PyDict_Update(peek(r, r->in->arg + 1), v);
    if (error < 0 && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Format(PyExc_TypeError, "'%.200s' object is not a mapping",
                     Py_TYPE(v)->tp_name);
    return used(r, 1, error);
}

/* -- Taking apart -------------------------------------------------------------------------------- */

/* Before the starred target: exactly n items, pushed from the far end of `out` down. */
static bool unpack_first(PyObject *it, int n, int after, PyObject **out)
{
    for (int i = 0; i < n; i++) {
        PyObject *v = PyIter_Next(it);
        if (v == NULL) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_ValueError,
                             after < 0
                                 ? "not enough values to unpack (expected %d, got %d)"
                                 : "not enough values to unpack (expected at least "
                                   "%d, got %d)",
                             after < 0 ? n : n + after, i);
            return false;
        }
        *--out = v;
    }
    return true;
}

static bool unpack_end(PyObject *it, int n)
{
    PyObject *extra = PyIter_Next(it);
    if (extra == NULL)
        return !PyErr_Occurred();
    Py_DECREF(extra);
    PyErr_Format(PyExc_ValueError, "too many values to unpack (expected %d)", n);
    return false;
}

static bool unpack_rest(PyObject *it, int n, int after, PyObject **out)
{
    PyObject *rest = PySequence_List(it);
    if (rest == NULL)
        return false;
    *--out = rest;
    Py_ssize_t have = PyList_GET_SIZE(rest);
    if (have < after) {
        PyErr_Format(PyExc_ValueError,
                     "not enough values to unpack (expected at least %d, got %zd)",
                     n + after, n + have);
        return false;
    }
    for (int i = 0; i < after; i++)
        *--out = Py_NewRef(PyList_GET_ITEM(rest, have - after + i));
    return PyList_SetSlice(rest, have - after, have, NULL) == 0;
}

/* The top into n values, or n, a list, and `after` more; first value on top. */
static Outcome unpack(Real *r, int n, int after)
{
    PyObject *v = peek(r, 1), *it = PyObject_GetIter(v);
    if (it == NULL) {
        if (not_iterable(v))
            PyErr_Format(PyExc_TypeError, "cannot unpack non-iterable %.200s object",
                         Py_TYPE(v)->tp_name);
        return RAISED;
    }
    int total = n + (after < 0 ? 0 : 1 + after);
    PyObject **base = r->sp - 1, **end = base + total;
    for (PyObject **p = base + 1; p < end; p++)
        *p = NULL;
    *base = NULL;
    r->sp = end; /* half filled is fine: whatever is left is released */
    bool ok = unpack_first(it, n, after, end) &&
              (after < 0 ? unpack_end(it, n) : unpack_rest(it, n, after, end - n));
    Py_DECREF(it);
    Py_DECREF(v);
    return ok ? DONE : RAISED;
}

Outcome real_unpack_sequence(Real *r)
{
    int n = r->in->arg;
    PyObject *v = peek(r, 1);
    if (!(PyTuple_CheckExact(v) || PyList_CheckExact(v)) ||
        PySequence_Fast_GET_SIZE(v) != n)
        return unpack(r, n, -1);
    r->sp--;
    for (int i = n; i-- > 0;)
        put(r, Py_NewRef(PySequence_Fast_GET_ITEM(v, i)));
    Py_DECREF(v);
    return DONE;
}

Outcome real_unpack_ex(Real *r)
{
    return unpack(r, r->in->arg & 0xFF, r->in->arg >> 8);
}

/* -- Iteration --------------------------------------------------------------------------------------- */

Outcome real_get_iter(Real *r)
{
    return result(r, 1, PyObject_GetIter(peek(r, 1)));
}

Outcome real_for_iter(Real *r)
{
    PyObject *it = peek(r, 1), *v = Py_TYPE(it)->tp_iternext(it);
    if (v != NULL) {
        put(r, v);
        return DONE;
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_StopIteration))
            return RAISED;
        PyErr_Clear();
    }
    drop(r, 1);
    r->next = r->in->target;
    return DONE;
}
