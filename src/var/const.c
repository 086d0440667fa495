/*
 * var/const.c -- immutable built-in constants, and objects that a guard pins by identity.
 *
 * Takes: real objects. Gives: results computed by CPython itself on them; its exception is the traced
 * program's exception.
 */
#include "trace/tx.h"
#include "var/consts.h"
#include "var/container.h"
#include "var/names.h"
#include "var/object.h"

static PyTypeObject *numpy_type(const char *name)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    PyObject *t =
        m && PyModule_Check(m) ? PyDict_GetItemString(PyModule_GetDict(m), name) : NULL;
    return t && PyType_Check(t) ? (PyTypeObject *)Py_NewRef(t) : NULL;
}

/* long doubles are left out: their bytes are not all theirs. */
bool const_numpy(PyObject *o)
{
    static PyTypeObject *number, *boolean;
    PyTypeObject *t = Py_TYPE(o);
    if ((t->tp_flags & Py_TPFLAGS_HEAPTYPE) || strncmp(t->tp_name, "numpy.", 6) != 0)
        return false;
    if (number == NULL)
        number = numpy_type("number");
    if (boolean == NULL)
        boolean = numpy_type("bool_");
    return (number && PyType_IsSubtype(t, number) && !strstr(t->tp_name, "longdouble")) ||
           t == boolean;
}

/* How deep a constant is looked through, and how many containers inside of it are. */
enum { DEEPEST = 50, NESTED = 10000 };

static bool immutable(PyObject *o, int depth, int *work);

static bool all_immutable(PyObject *o, int depth, int *work)
{
    PyObject *item;
    Py_ssize_t pos = 0;
    Py_hash_t hash;
    if (PySlice_Check(o)) {
        PySliceObject *s = (PySliceObject *)o;
        return immutable(s->start, depth, work) && immutable(s->stop, depth, work) &&
               immutable(s->step, depth, work);
    }
    for (Py_ssize_t i = 0; PyTuple_Check(o) && i < PyTuple_GET_SIZE(o); i++)
        if (!immutable(PyTuple_GET_ITEM(o, i), depth, work))
            return false;
    while (PyFrozenSet_Check(o) && _PySet_NextEntry(o, &pos, &item, &hash))
        if (!immutable(item, depth, work))
            return false;
    return true;
}

static bool immutable(PyObject *o, int depth, int *work)
{
    PyTypeObject *t = Py_TYPE(o);
    if (o == Py_None || o == Py_Ellipsis || o == Py_NotImplemented || t == &PyBool_Type ||
        t == &PyLong_Type || t == &PyFloat_Type || t == &PyComplex_Type ||
        t == &PyUnicode_Type || t == &PyBytes_Type || t == &PyRange_Type ||
        t == &PyCode_Type)
        return true;
    if (t == &PyTuple_Type || t == &PySlice_Type || t == &PyFrozenSet_Type) {
        nested_looks++;
        return depth > 0 && (depth == DEEPEST || --*work > 0) &&
               all_immutable(o, depth - 1, work);
    }
    if (torch_ready && (t == torch_types.dtype || t == torch_types.device ||
                        t == torch_types.layout || t == torch_types.memory_format))
        return true;
    return const_numpy(o);
}

/* An immutable object whose operations run no user code and have no effects. What is nested too deep to be looked through, or holds the
 * same again and again, counts as an object. */
bool const_immutable(PyObject *o)
{
    int work = NESTED;
    return immutable(o, DEEPEST, &work);
}

bool const_object(PyObject *o)
{
    static PyTypeObject *pattern, *match;
    if (pattern == NULL) {
        PyObject *re = PyDict_GetItemString(PyImport_GetModuleDict(), "re");
        PyObject *p = re ? PyDict_GetItemString(PyModule_GetDict(re), "Pattern") : NULL;
        PyObject *m = re ? PyDict_GetItemString(PyModule_GetDict(re), "Match") : NULL;
        if (p == NULL || m == NULL)
            return false;
        pattern = (PyTypeObject *)Py_NewRef(p);
        match = (PyTypeObject *)Py_NewRef(m);
    }
    return Py_IS_TYPE(o, pattern) || Py_IS_TYPE(o, match);
}

bool const_facts(PyObject *o)
{
    const char *name = Py_TYPE(o)->tp_name;
    return strcmp(name, "torch.finfo") == 0 || strcmp(name, "torch.iinfo") == 0;
}

/* The result of a real operation on constants: a constant if it is one, else wrapped as new content. */
static Status fold(Tx *tx, Var *self, PyObject *result, Var **out)
{
    if (result == NULL)
        return raise_now(tx);
    TRY_PTR(tx_hold(tx, result));
    if (const_immutable(result) || const_object(result))
        return const_result(tx, Py_NewRef(result), &self, 1, out);
    return graph_break(tx, BRK_UNKNOWN_TYPE, "constant operation gave %s",
                       Py_TYPE(result)->tp_name);
}

/* C-level attributes (int.real, range.start, code.co_name, dtype.is_complex …) are constants if their values are. */
static Status const_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr == NULL ||
        (Py_TYPE(descr) != &PyGetSetDescr_Type && Py_TYPE(descr) != &PyMemberDescr_Type))
        return var_generic_getattr(tx, self, name, out);
    PyObject *r = PyObject_GetAttr(self->real, name);
    if (r == NULL)
        return raise_now(tx);
    TRY_PTR(tx_hold(tx, r));
    return const_immutable(r) || const_object(r)
               ? const_result(tx, Py_NewRef(r), &self, 1, out)
               : var_generic_getattr(tx, self, name, out);
}

static Status const_len(Tx *tx, Var *self, Var **out)
{
    Py_ssize_t n = PyObject_Size(self->real);
    return n < 0 ? raise_now(tx) : const_int(tx, n, out);
}

/* Items of a tuple that a guard knows by value are still those of the tuple that came. */
static Status item_of_known(Tx *tx, Var *self, PyObject *key, Var **out)
{
    Py_ssize_t n = PyTuple_GET_SIZE(self->real), start = 0, stop = 0, step = 1;
    PyObject *r = PyObject_GetItem(self->real, key);
    if (r == NULL || r == self->real)
        return fold(tx, self, r, out);
    TRY_PTR(tx_hold(tx, r));
    if (!PySlice_Check(key)) {
        start = PyNumber_AsSsize_t(key, NULL);
        return const_item(tx, self, r, start < 0 ? start + n : start, out);
    }
    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return raise_now(tx);
    n = PySlice_AdjustIndices(n, &start, &stop, step);
    Var **items = tx_alloc(tx, sizeof(Var *) * (size_t)(n + 1));
    TRY_PTR(items);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(const_item(tx, self, PyTuple_GET_ITEM(r, i), start + i * step, &items[i]));
    return tuple_new(tx, items, n, out);
}

static Status const_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    PyObject *k;
    TRY(var_real(tx, &key));
    if (var_is_instance(key) && object_part(key) == NULL &&
        self->type != &PyFrozenSet_Type) {
        Var *f;
        TRY(var_special(tx, key, str___index__, &f));
        if (f == NULL) /* the real one's TypeError, which names the type alone */
            return graph_break(tx, BRK_NO_SLOT, "%s indexed by %s", self->type->tp_name,
                               key->kind->name);
        TRY(var_index_value(tx, key, &key));
    }
    TRY(var_const(tx, key, &k));
    if (k == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s indexed by %s", self->type->tp_name,
                           key->kind->name);
    if (self->by_value && PyTuple_CheckExact(self->real))
        return item_of_known(tx, self, k, out);
    return fold(tx, self, PyObject_GetItem(self->real, k), out);
}

static Status const_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    PyObject *k;
    TRY(var_const(tx, item, &k));
    if (k == NULL && PyTuple_CheckExact(self->real)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->real); i++) {
            Var *c;
            TRY(const_peek(tx, PyTuple_GET_ITEM(self->real, i), &c));
            TRY(var_equal(tx, c, item, yes));
            if (*yes)
                return ST_OK;
        }
        *yes = false;
        return ST_OK;
    }
    if (k == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s in %s", item->kind->name,
                           self->type->tp_name);
    int r = PySequence_Contains(self->real, k);
    if (r < 0)
        return raise_now(tx);
    *yes = r;
    return ST_OK;
}

static Status const_truth(Tx *tx, Var *self, bool *yes)
{
    int r = PyObject_IsTrue(self->real);
    if (r < 0)
        return raise_now(tx);
    *yes = r;
    return ST_OK;
}

static Status const_iter(Tx *tx, Var *self, Var **out)
{
    PyObject *o = self->real;
    if (PyRange_Check(o) || PyUnicode_CheckExact(o) || PyTuple_CheckExact(o) ||
        PyBytes_CheckExact(o) || PyFrozenSet_CheckExact(o)) {
        PyObject *it = tx_hold(tx, PyObject_GetIter(o));
        TRY_PTR(it);
        Py_ssize_t n = PyFrozenSet_CheckExact(o) ? PySet_GET_SIZE(o) : -1;
        return iter_new(tx, Py_TYPE(it), self, NULL, n, out);
    }
    return raise_type(tx, PyExc_TypeError, "'%s' object is not iterable",
                      self->type->tp_name);
}

static Status const_unary(Tx *tx, Var *self, char op, Var **out)
{
    PyObject *o = self->real;
    return fold(tx, self,
                op == '-'   ? PyNumber_Negative(o)
                : op == '+' ? PyNumber_Positive(o)
                            : PyNumber_Invert(o),
                out);
}

/* A number of numpy's is equal to the Python number it is, and hashes as that. */
static PyObject *plain_number(Tx *tx, PyObject *o)
{
    return const_numpy(o) ? tx_hold(tx, PyObject_CallMethod(o, "item", NULL)) : o;
}

static Status const_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *h = PyObject_Hash(self->real);
    if (*h == -1 && PyErr_Occurred())
        return raise_now(tx);
    *key = plain_number(tx, self->real);
    TRY_PTR(*key);
    if (!key_plain(*key) &&
        Py_TYPE(*key)->tp_richcompare != PyBaseObject_Type.tp_richcompare)
        return graph_break(tx, BRK_DYN_KEY, "%s", Py_TYPE(*key)->tp_name);
    return ST_OK;
}

static Status const_repr(Tx *tx, Var *self, bool str, Var **out)
{
    return fold(tx, self, str ? PyObject_Str(self->real) : PyObject_Repr(self->real), out);
}

/* The built-in comparison with the built-in part of an object: 2.0 == IntFlag(2). */
static Status const_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    Var *theirs = other->kind == &kind_object ? AS(ObjectVar, other)->content : NULL;
    richcmpfunc compare = self->type->tp_richcompare;
    *out = tx->notimpl;
    if (const_numpy(self->real) && other->kind != &kind_scalar &&
        other->kind != &kind_tensor)
        return graph_break(tx, BRK_NO_SLOT, "%s compared with %s", self->type->tp_name,
                           other->type->tp_name);
    if (PyTuple_CheckExact(self->real) && other->kind == &kind_tuple) {
        Var **mine,
            **items; /* here, and not by the other side: what raises names items in their order */
        Py_ssize_t n, m;
        TRY(var_unpack(tx, self, &mine, &n));
        TRY(var_unpack(tx, other, &items, &m));
        return compare_items(tx, mine, n, items, m, op, out);
    }
    if (theirs == NULL || theirs->kind != &kind_const || compare == NULL)
        return ST_OK;
    return const_new(tx, compare(self->real, theirs->real, op), out);
}

/* -- The kind --------------------------------------------------------------- */

const VarKind kind_const = {
    .name = "constant",
    .id = KIND_const,
    .getattr = const_getattr,
    .len = const_len,
    .getitem = const_getitem,
    .contains = const_contains,
    .truth = const_truth,
    .compare = const_compare,
    .iter = const_iter,
    .unary = const_unary,
    .hash = const_hash,
    .repr = const_repr,
};
