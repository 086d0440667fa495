/*
 * emit/helpers_seq.c -- containers, iterators, generators: see helpers.h.
 */
#include "emit/helpers_def.h"

#include "base/settable.h"
#include "cpy/cpy.h"

static PyObject *done(int result)
{
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

/* -- Lists, deques, dicts ---------------------------------------------------------- */

PyObject *do_assign_list(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(PyList_SetSlice(a[0], 0, PY_SSIZE_T_MAX, a[1]));
}

/* The type's own method, whatever a subclass has made of it. */
static PyObject *deque_method(const char *name, PyObject *deque, PyObject *arg)
{
    PyObject *f = PyObject_GetAttrString((PyObject *)helper_types.deque, name);
    PyObject *result = f ? PyObject_CallFunctionObjArgs(f, deque, arg, NULL) : NULL;
    Py_XDECREF(f);
    return result;
}

PyObject *do_extend_deque(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return deque_method("extend", a[0], a[1]);
}

/* Iterators over the deque notice it. */
PyObject *do_renew_deque(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *cleared = deque_method("clear", a[0], NULL);
    Py_XDECREF(cleared);
    return cleared ? deque_method("extend", a[0], a[1]) : NULL;
}

PyObject *do_assign_deque(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    Py_ssize_t len = PyObject_Size(a[0]);
    if (len == PyList_GET_SIZE(
                   a[1])) { /* assignments to items: iterators over the deque go on */
        for (Py_ssize_t i = 0; i < len; i++)
            if (PySequence_SetItem(a[0], i, PyList_GET_ITEM(a[1], i)) < 0)
                return NULL;
        return Py_NewRef(Py_None);
    }
    return do_renew_deque(m, a, n);
}

static int set_raw(PyObject *dict, PyObject *key, PyObject *value)
{
    if (PyODict_Check(dict))
        return PyODict_Type.tp_as_mapping->mp_ass_subscript(dict, key, value);
    return value ? PyDict_SetItem(dict, key, value) : PyDict_DelItem(dict, key);
}

PyObject *do_set_item(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(set_raw(a[0], a[1], a[2]));
}

PyObject *do_del_item(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(set_raw(a[0], a[1], NULL));
}

PyObject *do_move_keys(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *move = PyObject_GetAttrString((PyObject *)&PyODict_Type, "move_to_end");
    bool ok = move != NULL;
    for (Py_ssize_t i = 1; ok && i < n; i++) {
        PyObject *none = PyObject_CallFunctionObjArgs(move, a[0], a[i], NULL);
        ok = none != NULL;
        Py_XDECREF(none);
    }
    Py_XDECREF(move);
    return ok ? Py_NewRef(a[0]) : NULL;
}

PyObject *do_update_dict(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(a[1], &at, &key, &value);)
        if (set_raw(a[0], key, value) < 0)
            return NULL;
    Py_RETURN_NONE;
}

/* -- Sets -------------------------------------------------------------------------- */

/* steps: bytes, each one of set_step, which all but 'p' and 'c' take the next item. Items that are left take the places of
 * members that are equal to them. */
PyObject *do_replay_set(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    const char *steps = PyBytes_AS_STRING(a[1]);
    PyObject *const *item = a + 2;
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(a[1]); i++) {
        bool takes = steps[i] != 'p' && steps[i] != 'c';
        if (set_step(a[0], steps[i], takes ? *item++ : NULL) < 0)
            return NULL;
    }
    Py_ssize_t left = a + n - item;
    return left && set_swap(a[0], item, left) < 0 ? NULL : Py_NewRef(a[0]);
}

PyObject *do_copy_set(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return set_twin(a[0], a[1] == Py_True);
}

/* -- Iterators --------------------------------------------------------------------- */

/* Something empty that gives an iterator of this type; new reference or NULL: unknown type. */
PyObject *helper_empty(PyTypeObject *t)
{
    if (t == &PyTupleIter_Type)
        return PyTuple_New(0);
    if (t == &PyListIter_Type || t == &PyListRevIter_Type)
        return PyList_New(0);
    if (t == &PySetIter_Type)
        return PySet_New(NULL);
    if (t == &PyDictIterKey_Type || t == &PyDictIterValue_Type ||
        t == &PyDictIterItem_Type)
        return PyDict_New();
    if (t == &PyODictIter_Type)
        return PyODict_New();
    if (t == &PyRangeIter_Type)
        return PyObject_CallFunction((PyObject *)&PyRange_Type, "i", 0);
    return NULL;
}

/* What to call iter() on so that an iterator of this type comes out; new reference. */
static PyObject *walked(PyTypeObject *type, PyObject *seq)
{
    if (!PyDict_Check(seq))
        return Py_NewRef(seq);
    if (type == &PyDictIterValue_Type)
        return PyObject_CallMethod((PyObject *)&PyDict_Type, "values", "O", seq);
    if (type == &PyDictIterItem_Type)
        return PyObject_CallMethod((PyObject *)&PyDict_Type, "items", "O", seq);
    return Py_NewRef(seq);
}

/* Not in any header. */
static bool deque_reversed(PyTypeObject *type)
{
    return strcmp(type->tp_name, "_collections._deque_reverse_iterator") == 0;
}

/* iter() of the built-in type below a subclass. */
static PyObject *start(PyTypeObject *type, PyObject *seq)
{
    PyTypeObject *base = cpy_c_base(Py_TYPE(seq));
    if (deque_reversed(type))
        return PyObject_CallMethod((PyObject *)base, "__reversed__", "O", seq);
    if (type == &PyListRevIter_Type)
        return PyObject_CallMethod((PyObject *)&PyList_Type, "__reversed__", "O", seq);
    if (type == &PyReversed_Type)
        return PyObject_CallOneArg((PyObject *)&PyReversed_Type, seq);
    if (type == &PyODictIter_Type && PyDict_Check(seq)) /* its order is its own */
        return PyODict_Type.tp_iter(seq);
    static PyTypeObject *const builtins[] = { &PyList_Type, &PyTuple_Type,
                                              &PyDict_Type, &PyUnicode_Type,
                                              &PySet_Type,  &PyFrozenSet_Type };
    for (size_t i = 0; i < COUNT_OF(builtins); i++)
        if (PyObject_TypeCheck(seq, builtins[i]))
            return builtins[i]->tp_iter(seq);
    return base->tp_iter ? base->tp_iter(seq) : PyObject_GetIter(seq);
}

static int step(PyObject *it, Py_ssize_t n)
{
    while (n-- > 0) {
        PyObject *item = Py_TYPE(it)->tp_iternext(it);
        if (item == NULL && PyErr_Occurred() &&
            !PyErr_ExceptionMatches(PyExc_StopIteration))
            return -1;
        if (item == NULL)
            PyErr_Clear();
        Py_XDECREF(item);
    }
    return 0;
}

PyObject *do_advance(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return done(step(a[0], PyLong_AsSsize_t(a[1])));
}

static int set_state(PyObject *it, PyObject *state)
{
    PyObject *none = PyObject_CallMethod(it, "__setstate__", "(O)", state);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

PyObject *do_set_state(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    return set_state(a[0], a[1]) < 0 ? NULL : Py_NewRef(a[0]);
}

/* `at` is the place of the next item; reversed ones stand one above it. */
static int move_to(PyObject *it, Py_ssize_t at)
{
    bool down = Py_IS_TYPE(it, &PyListRevIter_Type) || Py_IS_TYPE(it, &PyReversed_Type);
    if (deque_reversed(Py_TYPE(it))) {
        Py_ssize_t all = PyObject_LengthHint(it, 0); /* has no state to set: walk there */
        return all < 0 ? -1 : step(it, all - at);
    }
    if (!down)
        return step(it, at);
    PyObject *place = PyLong_FromSsize_t(at - 1);
    int result = place ? set_state(it, place) : -1;
    Py_XDECREF(place);
    return result;
}

PyObject *do_make_iter(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyTypeObject *type = (PyTypeObject *)a[0];
    PyObject *seq = a[1] == Py_None ? helper_empty(type) : Py_NewRef(a[1]);
    if (seq)
        Py_SETREF(seq, walked(type, seq));
    PyObject *it = seq ? start(type, seq) : NULL;
    Py_XDECREF(seq);
    if (it && move_to(it, PyLong_AsSsize_t(a[2])) < 0)
        Py_CLEAR(it);
    return it;
}

/* The iterator becomes what a new one would be: what it walks has changed since it was made. Iterators of containers are a head and
 * plain fields. */
PyObject *do_renew_iter(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    char body[128], *old = (char *)a[0] + sizeof(PyObject);
    size_t size = (size_t)Py_TYPE(a[0])->tp_basicsize - sizeof(PyObject);
    PyObject *it = do_make_iter(m, a + 1, 3);
    if (it == NULL)
        return NULL;
    if (NEVER(Py_TYPE(it) != Py_TYPE(a[0]) || size > sizeof body)) {
        Py_DECREF(it);
        return PyErr_Format(PyExc_SystemError, "iterator of type %s",
                            Py_TYPE(a[0])->tp_name);
    }
    memcpy(body, old, size);
    memcpy(old, (char *)it + sizeof(PyObject), size);
    memcpy((char *)it + sizeof(PyObject), body, size);
    Py_DECREF(it);
    return done(0);
}

/* The keywords a function gets for its keyword-only slots and **kw. New dict. */
static PyObject *keywords(PyCodeObject *co, PyObject *const *slots)
{
    int pos = co->co_argcount, kwonly = co->co_kwonlyargcount;
    bool stars = co->co_flags & CO_VARKEYWORDS;
    int varargs = (co->co_flags & CO_VARARGS) != 0;
    PyObject *names = PyCode_GetVarnames(co);
    PyObject *kw = !names  ? NULL
                   : stars ? PyDict_Copy(slots[pos + kwonly + varargs])
                           : PyDict_New();
    for (int i = pos; kw && i < pos + kwonly; i++)
        if (PyDict_SetItem(kw, PyTuple_GET_ITEM(names, i), slots[i]) < 0)
            Py_CLEAR(kw);
    Py_XDECREF(names);
    return kw;
}

static PyObject *positional(PyCodeObject *co, PyObject *slots)
{
    PyObject *args = PyTuple_GetSlice(slots, 0, co->co_argcount);
    if (args == NULL || !(co->co_flags & CO_VARARGS))
        return args;
    PyObject *rest = PyTuple_GET_ITEM(slots, co->co_argcount + co->co_kwonlyargcount);
    PyObject *all = PySequence_Concat(args, rest);
    Py_DECREF(args);
    return all;
}

/* A generator that has not started yet, from the slots of its arguments. */
PyObject *do_make_gen(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyCodeObject *co = (PyCodeObject *)PyFunction_GET_CODE(a[0]);
    PyObject *args = positional(co, a[1]);
    PyObject *kw = keywords(co, ((PyTupleObject *)a[1])->ob_item);
    PyObject *gen = args && kw ? PyObject_Call(a[0], args, kw) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(kw);
    return gen;
}

/* One that has come to its end: closing it before it starts runs nothing. */
PyObject *do_closed_gen(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    PyObject *gen = cpy_gen_blank((PyFunctionObject *)a[0]);
    PyObject *closed = gen ? PyObject_CallMethod(gen, "close", NULL) : NULL;
    if (closed == NULL)
        Py_CLEAR(gen);
    Py_XDECREF(closed);
    return gen;
}

/* present: bytes, one a slot, 0 where it is NULL; the others' values follow. */
PyObject *do_resume_gen(PyObject *m, PyObject *const *a, Py_ssize_t n)
{
    const char *present = PyBytes_AS_STRING(a[3]);
    int total = (int)PyBytes_GET_SIZE(a[3]);
    PyObject **slots = mem_alloc((size_t)total * sizeof *slots);
    if (slots == NULL)
        return NULL;
    for (int i = 0, next = 4; i < total; i++)
        slots[i] = present[i] ? a[next++] : NULL;
    PyObject *gen = cpy_gen_make((PyFunctionObject *)a[0], (int)PyLong_AsLong(a[1]),
                                 slots, total, a[2] == Py_None ? NULL : a[2]);
    mem_free(slots);
    return gen;
}
