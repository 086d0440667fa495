/*
 * var/seq.c -- length, items, iteration, containment and text, over the slots.
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/names.h"
#include "var/object.h"
#include "var/weak.h"

static Status no_slot(Tx *tx, Var *v, const char *what)
{
    return graph_break(tx, BRK_NO_SLOT, "%s of %s", what, v->type->tp_name);
}

static Status too_deep(Tx *tx)
{
    return graph_break(tx, BRK_RECURSION, "%s", "values in values");
}

Status var_len(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->len)
        return v->kind->len(tx, v, out);
    if (TYPE_HAS(v->type, tp_as_sequence, sq_length) ||
        TYPE_HAS(v->type, tp_as_mapping, mp_length))
        return no_slot(tx, v, "len()");
    return raise_type(tx, PyExc_TypeError, "object of type '%s' has no len()",
                      v->type->tp_name);
}

static Status written_in_python(Tx *tx, Var *v, PyObject *name, bool *yes)
{
    PyObject *f;
    TRY(type_lookup(tx, v->type, name, &f));
    *yes = f && Py_TYPE(f) != &PyWrapperDescr_Type && Py_TYPE(f) != &PyMethodDescr_Type;
    return ST_OK;
}

Status var_length_hint(Tx *tx, Var *v)
{
    bool own;
    Var *ignored;
    TRY(var_real(tx, &v));
    if (!var_is_instance(v))
        return ST_OK;
    TRY(written_in_python(tx, v, str___len__, &own));
    if (own) {
        Status st = var_len(tx, v, &ignored);
        if (st != ST_RAISE || !exc_matches(tx, PyExc_TypeError))
            return st;
        exc_clear(tx);
    }
    TRY(written_in_python(tx, v, str___length_hint__, &own));
    return own ? graph_break(tx, BRK_NO_SLOT, "__length_hint__ of %s", v->type->tp_name)
               : ST_OK;
}

Status var_getitem(Tx *tx, Var *v, Var *key, Var **out)
{
    TRY(var_real(tx, &v));
    if (v->kind->getitem)
        return v->kind->getitem(tx, v, key, out);
    if (v->kind == &kind_builtin || TYPE_HAS(v->type, tp_as_sequence, sq_item) ||
        TYPE_HAS(v->type, tp_as_mapping, mp_subscript))
        return no_slot(tx, v, "indexing");
    return raise_type(tx, PyExc_TypeError, "'%s' object is not subscriptable",
                      v->type->tp_name);
}

/* Items that go by an index have a wording of their own, where a type has room for them. */
Status no_setitem(Tx *tx, Var *v, Var *key, Var *value)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, key, &t));
    bool index = v->type->tp_as_sequence && t->tp_as_number && t->tp_as_number->nb_index;
    return raise_type(tx, PyExc_TypeError,
                      value   ? "'%s' object does not support item assignment"
                      : index ? "'%s' object doesn't support item deletion"
                              : "'%s' object does not support item deletion",
                      v->type->tp_name);
}

Status var_setitem(Tx *tx, Var *v, Var *key, Var *value)
{
    TRY(var_real(tx, &v));
    if (v->kind->setitem)
        return v->kind->setitem(tx, v, key, value);
    if (TYPE_HAS(v->type, tp_as_sequence, sq_ass_item) ||
        TYPE_HAS(v->type, tp_as_mapping, mp_ass_subscript))
        return no_slot(tx, v, "item assignment");
    return no_setitem(tx, v, key, value);
}

Status var_iter(Tx *tx, Var *v, Var **out)
{
    if (tx_deep(tx))
        return too_deep(tx);
    TRY(var_real(tx, &v));
    if (v->kind->iter)
        return v->kind->iter(tx, v, out);
    if (v->kind->next && !var_is_instance(v)) {
        *out = v;
        return ST_OK;
    }
    if (v->type->tp_iter || TYPE_HAS(v->type, tp_as_sequence, sq_item))
        return no_slot(tx, v, "iteration");
    return raise_type(tx, PyExc_TypeError, "'%s' object is not iterable",
                      v->type->tp_name);
}

Status var_next(Tx *tx, Var *it, Var **out)
{
    TRY(tx_worked(tx, WORK_STEP));
    return var_step(tx, it, out);
}

Status var_step(Tx *tx, Var *it, Var **out)
{
    if (tx_deep(tx))
        return too_deep(tx);
    TRY(var_real(tx, &it));
    if (it->kind->next)
        return it->kind->next(tx, it, out);
    if (it->type->tp_iternext)
        return no_slot(tx, it, "next()");
    return raise_type(tx, PyExc_TypeError, "'%s' object is not an iterator",
                      it->type->tp_name);
}

static Status unpack_by_iteration(Tx *tx, Var *v, size_t most, Var ***items, Py_ssize_t *n)
{
    VEC(Var *) got = { 0 };
    Var *it, *item;
    TRY(var_iter(tx, v, &it));
    while (got.n < most) {
        TRY(var_next(tx, it, &item));
        if (item == NULL)
            break;
        if (!VEC_PUSH(&tx->arena, &tx->journal, &got, item))
            return ST_ERROR;
    }
    *items = got.v;
    *n = (Py_ssize_t)got.n;
    return ST_OK;
}

Status var_unpack(Tx *tx, Var *v, Var ***items, Py_ssize_t *n)
{
    return var_unpack_most(tx, v, SIZE_MAX, items, n);
}

Status var_unpack_most(Tx *tx, Var *v, size_t most, Var ***items, Py_ssize_t *n)
{
    TRY(var_real(tx, &v));
    if (v->kind == &kind_tuple) {
        *items = AS(TupleVar, v)->items;
        *n = AS(TupleVar, v)->n;
        return ST_OK;
    }
    if (v->kind == &kind_list) {
        ListVar *l = AS(ListVar, v);
        TRY(list_open(tx, l));
        *n = (Py_ssize_t)l->items.n;
        *items = tx_alloc(tx, (l->items.n + 1) * sizeof(Var *));
        TRY_PTR(*items);
        if (l->items.n)
            memcpy(*items, l->items.v, l->items.n * sizeof(Var *));
        return ST_OK;
    }
    return unpack_by_iteration(tx, v, most, items, n);
}

Status var_iter_or(Tx *tx, Var *v, const char *lacks, Var **it)
{
    TRY(var_real(tx, &v));
    Status st = var_iter(tx, v, it);
    if (st != ST_RAISE || !exc_matches(tx, PyExc_TypeError))
        return st;
    exc_clear(tx);
    return raise_type(tx, PyExc_TypeError, lacks, v->type->tp_name);
}

Status var_tuple_items(Tx *tx, Var *v, Var ***items, Py_ssize_t *n)
{
    TRY(var_real(tx, &v));
    if (var_is_instance(v)) {
        Var *it;
        TRY(var_iter(tx, v, &it));
        TRY(var_length_hint(tx, v));
        v = it;
    }
    return var_unpack(tx, v, items, n);
}

Status var_sequence(Tx *tx, Var *v, const char *lacks, Var ***items, Py_ssize_t *n)
{
    TRY(var_real(tx, &v));
    if (v->type != &PyList_Type && v->type != &PyTuple_Type)
        TRY(var_iter_or(tx, v, lacks, &v));
    return var_unpack(tx, v, items, n);
}

Status var_contains_by_iteration(Tx *tx, Var *container, Var *item, bool *yes)
{
    Var *it, *x;
    TRY(var_iter_or(tx, container, "argument of type '%.200s' is not iterable", &it));
    for (;;) {
        TRY(var_next(tx, it, &x));
        *yes = false;
        if (x == NULL)
            return ST_OK;
        TRY(var_equal(tx, x, item, yes));
        if (*yes)
            return ST_OK;
    }
}

Status var_contains(Tx *tx, Var *container, Var *item, bool *yes)
{
    TRY(var_real(tx, &container));
    if (container->kind->contains)
        return container->kind->contains(tx, container, item, yes);
    if (TYPE_HAS(container->type, tp_as_sequence, sq_contains))
        return no_slot(tx, container, "`in`");
    return var_contains_by_iteration(tx, container, item, yes);
}

/* -- Text ------------------------------------------------------------------------------ */

/* Text must be text; the method that gave it is named. */
static Status good_text(Tx *tx, const char *format, Var **text)
{
    TRY(var_real(tx, text));
    if (PyType_HasFeature((*text)->type, Py_TPFLAGS_UNICODE_SUBCLASS))
        return ST_OK;
    return raise_type(tx, PyExc_TypeError, format, (*text)->type->tp_name);
}

static Status text_of(Tx *tx, Var *v, bool str, Var **out)
{
    TRY(var_real(tx, &v));
    if (tx_deep(tx))
        return too_deep(tx);
    if (v->kind->repr == NULL)
        return no_slot(tx, v, str ? "str()" : "repr()");
    TRY(v->kind->repr(tx, v, str, out));
    return good_text(tx,
                     str ? "__str__ returned non-string (type %.200s)"
                         : "__repr__ returned non-string (type %.200s)",
                     out);
}

Status var_str(Tx *tx, Var *v, Var **out)
{
    return text_of(tx, v, true, out);
}
Status var_repr(Tx *tx, Var *v, Var **out)
{
    return text_of(tx, v, false, out);
}

Status var_ascii(Tx *tx, Var *v, Var **out)
{
    PyObject *o;
    TRY(var_repr(tx, v, &v));
    TRY(var_const(tx, v, &o));
    if (o == NULL || !PyUnicode_CheckExact(o))
        return no_slot(tx, v, "ascii()");
    PyObject *bytes =
        tx_hold(tx, PyUnicode_AsEncodedString(o, "ascii", "backslashreplace"));
    return bytes ? const_new(tx,
                             PyUnicode_DecodeASCII(PyBytes_AS_STRING(bytes),
                                                   PyBytes_GET_SIZE(bytes), NULL),
                             out)
                 : raise_now(tx);
}

/* As the __format__ that the class of an object has: its own, object's, or that of its built-in part. */
static Status format_object(Tx *tx, Var *v, Var *spec, Var **out)
{
    PyObject *f, *s;
    Var *content = object_part(v);
    if (spec == NULL)
        TRY(const_str(tx, "", &spec));
    TRY(type_lookup(tx, v->type, str___format__, &f));
    if (f && Py_TYPE(f) == &PyFunction_Type) {
        TRY(var_call_special(tx, v, "__format__", &spec, 1, out));
        return good_text(tx, "__format__ must return a str, not %.200s", out);
    }
    TRY(var_const(tx, spec, &s));
    if (f == NULL || Py_TYPE(f) != &PyMethodDescr_Type || s == NULL)
        return no_slot(tx, v, "format()");
    bool of_content =
        content != NULL && f == cpy_type_lookup(content->type, str___format__);
    if (of_content && PyDescr_TYPE(f) != &PyBaseObject_Type && PyUnicode_Check(s))
        return PyUnicode_GET_LENGTH(s)
                   ? object_part_raised(tx, v, var_format(tx, content, spec, out))
                   : var_str(tx, v, out);
    if (PyDescr_TYPE(f) != &PyBaseObject_Type)
        return no_slot(tx, v, "format()");
    if (PyUnicode_GET_LENGTH(s))
        return raise_type(tx, PyExc_TypeError,
                          "unsupported format string passed to %.200s.__format__",
                          v->type->tp_name);
    return var_str(tx, v, out);
}

Status var_format(Tx *tx, Var *v, Var *spec, Var **out)
{
    PyObject *o, *s = NULL;
    TRY(var_real(tx, &v));
    if (spec != NULL) /* an instance of a subclass of str serves as its text */
        TRY(var_real(tx, &spec));
    if (var_is_instance(v))
        return format_object(tx, v, spec, out);
    if (spec != NULL && spec->kind == &kind_object && var_content(spec))
        spec = var_content(spec);
    if (spec != NULL)
        TRY(var_const(tx, spec, &s));
    if (spec != NULL && (s == NULL || !PyUnicode_CheckExact(s)))
        return no_slot(tx, v, "format()");
    TRY(var_const(tx, v, &o));
    if (o == NULL && (spec == NULL || (s && PyUnicode_GET_LENGTH(s) == 0)))
        return var_str(tx, v, out);
    if (o == NULL)
        return no_slot(tx, v, "format()");
    PyObject *r = PyObject_Format(o, s);
    return r ? const_result(tx, r, &v, 1, out) : raise_now(tx);
}

/* As PyNumber_Index. Instances of int and its subclasses are their own index. */
Status var_index_value(Tx *tx, Var *v, Var **out)
{
    TRY(var_real(tx, &v));
    *out = v;
    if (v->type && PyType_HasFeature(v->type, Py_TPFLAGS_LONG_SUBCLASS))
        return ST_OK;
    if (v->kind == &kind_tensor) {
        TRY(tensor_known(tx, AS(TensorVar, v), PyNumber_Index, out));
        return *out ? ST_OK
                    : graph_break(tx, BRK_DATA_DEPENDENT, "a tensor used as an index");
    }
    if (v->kind == &kind_const && PyIndex_Check(v->real))
        return const_new(tx, PyNumber_Index(v->real), out);
    Var *r = NULL;
    if (v->kind == &kind_weakproxy) { /* of what it stands for */
        TRY(weak_referent(tx, v, &v));
        return var_index_value(tx, v, out);
    }
    if (var_is_instance(v))
        TRY(var_call_special(tx, v, "__index__", NULL, 0, &r));
    else if (TYPE_HAS(v->type, tp_as_number, nb_index))
        return no_slot(tx, v, "__index__");
    if (r == NULL)
        return raise_type(tx, PyExc_TypeError,
                          "'%.200s' object cannot be interpreted as an integer",
                          v->type->tp_name);
    TRY(var_real(tx, &r));
    *out = r;
    if (r->type == &PyLong_Type)
        return ST_OK;
    if (PyType_HasFeature(r->type,
                          Py_TPFLAGS_LONG_SUBCLASS)) /* deprecated, with a warning */
        return graph_break(tx, BRK_UNKNOWN_CALL, "__index__ returned %s",
                           r->type->tp_name);
    return raise_type(tx, PyExc_TypeError, "__index__ returned non-int (type %.200s)",
                      r->type->tp_name);
}

Status var_ssize(Tx *tx, Var *v, PyObject *overflow, Py_ssize_t *out)
{
    PyObject *o;
    TRY(var_real(tx, &v));
    PyTypeObject *t = v->type;
    TRY(var_index_value(tx, v, &v));
    if (v->kind == &kind_object)
        v = AS(ObjectVar, v)->content;
    if (v == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s", "an int that is not known");
    TRY(var_const(tx, v, &o));
    if (o == NULL)
        return no_slot(tx, v, "__index__");
    *out = PyLong_AsSsize_t(o);
    if (*out != -1 || !PyErr_Occurred())
        return ST_OK;
    if (overflow == NULL)
        return raise_now(tx);
    PyErr_Clear();
    return raise_type(tx, overflow, "cannot fit '%.200s' into an index-sized integer",
                      t->tp_name);
}

Status var_index(Tx *tx, Var *v, Py_ssize_t *out)
{
    return var_ssize(tx, v, PyExc_IndexError, out);
}
