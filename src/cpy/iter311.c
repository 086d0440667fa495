/*
 * cpy/iter311.c -- the built-in iterators of CPython 3.11, whose structs no header shows.
 *
 * The layouts below are ours, compared with the running interpreter by cpy_iter_check().
 */
#include "cpy/peek.h"
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

typedef struct SeqIter { /* list, reversed list, tuple */
    PyObject head;
    Py_ssize_t index;
    PyObject *seq; /* NULL once exhausted */
} SeqIter;

typedef struct RangeIter {
    PyObject head;
    long index, start, step, len;
} RangeIter;

typedef struct DictIter {
    PyObject head;
    PyObject *dict; /* NULL once exhausted */
    Py_ssize_t used, pos;
    PyObject *result;
    Py_ssize_t len; /* items still expected */
} DictIter;

typedef struct EnumIter {
    PyObject head;
    Py_ssize_t index;
    PyObject *inner, *result, *big_index;
} EnumIter;

typedef struct ZipIter {
    PyObject head;
    Py_ssize_t n;
    PyObject *inner; /* tuple of iterators */
    PyObject *result;
    int strict;
} ZipIter;

typedef struct Proxy { /* types.MappingProxyType: no iterator, but a view all the same */
    PyObject head;
    PyObject *mapping;
} Proxy;

/* -- Peeking ------------------------------------------------------------------ */

static int give(PyObject *borrowed, PyObject **item)
{
    if (item)
        *item = Py_NewRef(borrowed);
    return 1;
}

/* A failed allocation is "cannot tell". */
static int give_new(PyObject *made, PyObject **item)
{
    if (made == NULL)
        PyErr_Clear();
    *item = made;
    return made ? 1 : -1;
}

/* Tuples are made with the collector off: a collection could run finalizers in the middle
 * of a guard check. */
static PyObject *new_tuple(Py_ssize_t n)
{
    int was_on = PyGC_Disable();
    PyObject *t = PyTuple_New(n);
    if (was_on)
        PyGC_Enable();
    return t;
}

static PyObject *new_pair(PyObject *a, PyObject *b)
{
    PyObject *t = a && b ? new_tuple(2) : NULL;
    if (t == NULL) {
        Py_XDECREF(a);
        Py_XDECREF(b);
        return NULL;
    }
    PyTuple_SET_ITEM(t, 0, a);
    PyTuple_SET_ITEM(t, 1, b);
    return t;
}

static int peek_seq(SeqIter *it, Py_ssize_t ahead, PyObject **item)
{
    if (it->seq == NULL)
        return 0;
    bool down = Py_IS_TYPE((PyObject *)it, &PyListRevIter_Type);
    Py_ssize_t i = down ? it->index - ahead : it->index + ahead;
    if (i < 0 || i >= Py_SIZE(it->seq))
        return 0;
    return give(PyList_Check(it->seq) ? PyList_GET_ITEM(it->seq, i)
                                      : PyTuple_GET_ITEM(it->seq, i),
                item);
}

static int peek_range(RangeIter *it, Py_ssize_t ahead, PyObject **item)
{
    if (ahead >= it->len - it->index)
        return 0;
    if (item == NULL)
        return 1;
    unsigned long i = (unsigned long)it->index + (unsigned long)ahead;
    return give_new(
        PyLong_FromLong((long)((unsigned long)it->start + i * (unsigned long)it->step)),
        item);
}

static int peek_dict(DictIter *it, Py_ssize_t ahead, PyObject **item)
{
    if (it->dict == NULL)
        return 0;
    if (it->used != PyDict_GET_SIZE(it->dict))
        return -1; /* "changed size during iteration" */
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t pos = it->pos;
    for (Py_ssize_t i = 0; i <= ahead; i++)
        if (!PyDict_Next(it->dict, &pos, &key, &value))
            return 0;
    if (ahead >= it->len)
        return -1; /* "keys changed during iteration" */
    if (Py_IS_TYPE((PyObject *)it, &PyDictIterKey_Type))
        return give(key, item);
    if (Py_IS_TYPE((PyObject *)it, &PyDictIterValue_Type))
        return give(value, item);
    return item ? give_new(new_pair(Py_NewRef(key), Py_NewRef(value)), item) : 1;
}

/* An inner iterator that others can reach moves with the outer one, or before it: only one that is the outer's own can be
 * foreseen. */
static bool shared(PyObject *inner)
{
    return Py_REFCNT(inner) > 1;
}

static int peek_enumerate(EnumIter *it, Py_ssize_t ahead, PyObject **item)
{
    if (shared(it->inner) || it->big_index || it->index > PY_SSIZE_T_MAX - ahead - 1)
        return -1;
    PyObject *inner = NULL;
    int r = cpy_iter_peek(it->inner, ahead, item ? &inner : NULL);
    if (r != 1 || item == NULL)
        return r;
    return give_new(new_pair(PyLong_FromSsize_t(it->index + ahead), inner), item);
}

static int peek_zip(ZipIter *it, Py_ssize_t ahead, PyObject **item)
{
    PyObject *t = NULL;
    if (it->n == 0)
        return 0;
    if (item && give_new(t = new_tuple(it->n), &t) < 0)
        return -1;
    int r = 1;
    for (Py_ssize_t i = 0; i < it->n && r == 1; i++)
        r = shared(PyTuple_GET_ITEM(it->inner, i))
                ? -1
                : cpy_iter_peek(PyTuple_GET_ITEM(it->inner, i), ahead,
                                t ? &PyTuple_GET_ITEM(t, i) : NULL);
    if (r != 1) {
        Py_XDECREF(t);
        return it->strict ? -1 : r; /* strict: it may raise, depending on the others */
    }
    if (item)
        *item = t;
    return 1;
}

int cpy_iter_peek(PyObject *it, Py_ssize_t ahead, PyObject **item)
{
    PyTypeObject *t = Py_TYPE(it);
    if (t == &PyListIter_Type || t == &PyTupleIter_Type || t == &PyListRevIter_Type)
        return peek_seq((SeqIter *)it, ahead, item);
    if (t == &PyRangeIter_Type)
        return peek_range((RangeIter *)it, ahead, item);
    if (t == &PyDictIterKey_Type || t == &PyDictIterValue_Type ||
        t == &PyDictIterItem_Type)
        return peek_dict((DictIter *)it, ahead, item);
    if (t == &PyEnum_Type)
        return peek_enumerate((EnumIter *)it, ahead, item);
    if (t == &PyZip_Type)
        return peek_zip((ZipIter *)it, ahead, item);
    return -1;
}

PyObject *cpy_iter_under(PyObject *it, Py_ssize_t i)
{
    PyTypeObject *t = Py_TYPE(it);
    if (t == &PyListIter_Type || t == &PyTupleIter_Type || t == &PyListRevIter_Type)
        return ((SeqIter *)it)->seq;
    if (t == &PyDictIterKey_Type || t == &PyDictIterValue_Type ||
        t == &PyDictIterItem_Type)
        return ((DictIter *)it)->dict;
    if (t == &PyEnum_Type)
        return ((EnumIter *)it)->inner;
    if (t == &PyDictProxy_Type)
        return ((Proxy *)it)->mapping;
    if (t == &PyZip_Type && i >= 0 && i < ((ZipIter *)it)->n)
        return PyTuple_GET_ITEM(((ZipIter *)it)->inner, i);
    return NULL;
}

/* -- The check at import -------------------------------------------------------- */

/* Expressions that make iterators which have given one item; what they give next, and what
 * they give after that. */
static const char CHECKS[] =
    "def adv(it):\n"
    "    next(it)\n"
    "    return it\n"
    "L = [10, 20, 30]; T = (10, 20, 30); D = {'a': 1, 'b': 2, 'c': 3}\n"
    "pairs = [(adv(iter(L)), 20, 30, L), (adv(iter(T)), 20, 30, T),\n"
    "         (adv(reversed(L)), 20, 10, L), (adv(iter(range(5, 20, 7))), 12, 19, "
    "None),\n"
    "         (adv(iter(D)), 'b', 'c', D), (adv(iter(D.values())), 2, 3, D),\n"
    "         (adv(iter(D.items())), ('b', 2), ('c', 3), D)]\n"
    "pairs += [(adv(enumerate(iter(L), 5)), (6, 20), (7, 30), type(iter(L))),\n"
    "          (adv(zip(iter(T), iter(L))), (20, 20), (30, 30), type(iter(T)))]\n";

static bool gives(PyObject *it, Py_ssize_t ahead, PyObject *want)
{
    PyObject *item = NULL;
    bool ok = cpy_iter_peek(it, ahead, &item) == 1 &&
              PyObject_RichCompareBool(item, want, Py_EQ) == 1;
    Py_XDECREF(item);
    return ok && cpy_iter_peek(it, ahead, NULL) == 1;
}

/* What it walks; of iterators over iterators the type. */
static bool walks(PyObject *it, PyObject *want)
{
    PyObject *under = cpy_iter_under(it, 0);
    return under == (want == Py_None ? NULL : want) ||
           (under && (PyObject *)Py_TYPE(under) == want);
}

static bool check_row(PyObject *row)
{
    PyObject *it = PyTuple_GET_ITEM(row, 0), *under = PyTuple_GET_ITEM(row, 3);
    return gives(it, 0, PyTuple_GET_ITEM(row, 1)) &&
           gives(it, 1, PyTuple_GET_ITEM(row, 2)) && cpy_iter_peek(it, 2, NULL) == 0 &&
           walks(it, under);
}

int cpy_iter_check(void)
{
    PyObject *names = PyDict_New();
    PyObject *done = names ? PyRun_String(CHECKS, Py_file_input, names, names) : NULL;
    PyObject *rows = done ? PyDict_GetItemString(names, "pairs") : NULL;
    bool ok = rows != NULL;
    for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(rows); i++)
        ok = check_row(PyList_GET_ITEM(rows, i));
    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_ImportError,
                        "iterators of this CPython have another layout");
    Py_XDECREF(done);
    if (names)
        PyDict_Clear(names);
    Py_XDECREF(names);
    return ok ? 0 : -1;
}

#endif
