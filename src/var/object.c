/*
 * var/object.c -- instances of classes written in Python, existing or new. Exceptions made in the trace share the slots.
 *
 * Attributes live in a DictVar, the built-in part of a subclass of dict, list, tuple … in `content`. Operators
 * and protocols are the class's own special methods; what it inherits from a built-in goes to the content.
 */
#include "builtin/str.h"
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/call.h"
#include "var/binops.h"
#include "var/namespace.h"
#include "var/exc.h"
#include "var/made.h"
#include "var/names.h"
#include "var/object.h"
#include "var/type.h"
#include "var/wrap.h"

Status object_new(Tx *tx, PyTypeObject *cls, Var **out)
{
    ObjectVar *ob;
    PyTypeObject *base = wrap_layout(cls);
    if (base == NULL)
        return graph_break(tx, BRK_UNKNOWN_TYPE, "%s", cls->tp_name);
    TRY(VAR_MAKE(tx, object, ObjectVar, cls, &ob));
    if (base == &PyDict_Type || base == &PyODict_Type ||
        base == known_type(TY_DEFAULTDICT)) {
        TRY(dict_new(tx, &ob->content));
        ob->content->type = base;
    } else if (base == &PyList_Type || base == known_type(TY_DEQUE)) {
        TRY(list_new(tx, NULL, 0, &ob->content));
        ob->content->type = base;
    } else if (base == &PySet_Type) {
        TRY(set_new(tx, base, &ob->content));
    }
    if (ob->content)
        MEM(ptrmap_put(&tx->wholes, &tx->arena, &tx->journal, ob->content, ob));
    *out = &ob->v;
    return ST_OK;
}

static bool plain_names(PyObject *names)
{
    if (names == NULL || !PyFrozenSet_CheckExact(names))
        return false;
    PyObject *item;
    Py_ssize_t pos = 0;
    Py_hash_t hash;
    while (_PySet_NextEntry(names, &pos, &item, &hash))
        if (!PyUnicode_CheckExact(item))
            return false;
    return true;
}

/* object.__new__ refuses abstract classes; its own TypeError names the methods. */
Status object_concrete(Tx *tx, PyTypeObject *t)
{
    PyObject *names;
    TRY(type_lookup(tx, t, str___abstractmethods__, &names));
    if (!(t->tp_flags & Py_TPFLAGS_IS_ABSTRACT))
        return ST_OK;
    PyObject *none = tx_hold(tx, PyTuple_New(0));
    TRY_PTR(none);
    if (class_made(tx,
                   (PyObject *)t)) /* of the model: what the attribute gives are Vars */
        names = PyDict_GetItem(t->tp_dict, str___abstractmethods__);
    if (!plain_names(names))
        return graph_break(tx, BRK_UNKNOWN_TYPE, "abstract class %s", t->tp_name);
    PyObject *made = PyBaseObject_Type.tp_new(t, none, NULL);
    if (NEVER(made != NULL)) {
        Py_DECREF(made);
        return graph_break(tx, BRK_UNKNOWN_TYPE, "abstract class %s", t->tp_name);
    }
    return raise_now(tx);
}

Var *var_content(Var *v)
{
    if (v->kind == &kind_lazy)
        v = AS(LazyVar, v)->got;
    if (v == NULL)
        return NULL;
    return v->kind == &kind_object ? AS(ObjectVar, v)->content : v;
}

Var *object_part(const Var *v)
{
    return v->kind == &kind_object ? AS(ObjectVar, v)->content : NULL;
}

Status object_part_raised(Tx *tx, const Var *self, Status st)
{
    if (st != ST_RAISE)
        return st;
    exc_clear(tx);
    return graph_break(tx, BRK_NO_SLOT, "an operation that raises, of %s",
                       self->type->tp_name);
}

/* -- Special methods ---------------------------------------------------------- */

/* What the class has under the name other than its C base (`__str__ = str.__str__` on a subclass of int is its own,
 * too); *out NULL: inherited from C or absent. */
static Status own(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *f;
    PyTypeObject *base = wrap_layout(self->type); /* NULL: a metaclass made by C */
    *out = NULL;
    TRY(type_lookup(tx, self->type, name, &f));
    if (f == NULL ||
        (base ? f == cpy_type_lookup(base, name) : Py_IS_TYPE(f, &PyWrapperDescr_Type)))
        return ST_OK;
    return var_special(tx, self, name, out);
}

static Status no_slot(Tx *tx, Var *self, const char *what)
{
    return graph_break(tx, BRK_NO_SLOT, "%s of %s", what, self->type->tp_name);
}

static Status call_own(Tx *tx, Var *self, Var *method, Var **v, int n, Var **out)
{
    return var_call_unbound(tx, self, method, &(Args){ .v = v, .n = n }, out);
}

/* Slots that forget what binding their method raises, as if it were not there; *called false then. */
static Status call_bound(Tx *tx, Var *self, Var *method, Var **v, int n, bool *called,
                         Var **out)
{
    Var *bound;
    *called = true;
    if (PyType_HasFeature(method->type, Py_TPFLAGS_METHOD_DESCRIPTOR))
        return call_own(tx, self, method, v, n, out);
    Status st = attr_bind_special(tx, self, method, &bound);
    if (st == ST_RAISE) {
        exc_clear(tx);
        *called = false;
        return ST_OK;
    }
    TRY(st);
    return var_call(tx, bound, &(Args){ .v = v, .n = n }, out);
}

Status object_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    Var *f;
    TRY(var_special(tx, self, str___call__, &f));
    if (f == NULL)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not callable",
                          self->type->tp_name);
    return var_call_unbound(tx, self, f, a, out);
}

/* What PyObject_GetIter makes of a result: something that has a next item. */
static Status good_iter(Tx *tx, Status st, Var **it)
{
    Var *next = NULL;
    TRY(st);
    TRY(var_real(tx, it));
    const VarKind *k = (*it)->kind;
    bool instance = var_is_instance(*it);
    if (instance)
        TRY(var_special(tx, *it, str___next__, &next));
    if (next != NULL || (!instance && k->next) ||
        (k == &kind_opaque && PyIter_Check((*it)->real)))
        return ST_OK;
    return raise_type(tx, PyExc_TypeError, "iter() returned non-iterator of type '%.100s'",
                      (*it)->type->tp_name);
}

Status object_iter(Tx *tx, Var *self, Var **out)
{
    Var *f, *content = object_part(self);
    bool called = false;
    TRY(own(tx, self, str___iter__, &f));
    if (f == tx->none)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not iterable",
                          self->type->tp_name);
    if (f != NULL) {
        Status st = call_bound(tx, self, f, NULL, 0, &called, out);
        if (called)
            return good_iter(tx, st, out);
        TRY(st);
    } else if (content && content->type->tp_iter)
        return var_iter(tx, content, out);
    bool items = f != NULL && TYPE_HAS(self->type, tp_as_sequence, sq_item);
    TRY(own(tx, self, str___getitem__, &f));
    if (f == NULL && !items)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not iterable",
                          self->type->tp_name);
    return iter_new(tx, &PySeqIter_Type, self, NULL, -1, out);
}

Status object_next(Tx *tx, Var *self, Var **out)
{
    Var *f;
    TRY(own(tx, self, str___next__, &f));
    if (f == NULL)
        return raise_type(tx, PyExc_TypeError, "'%s' object is not an iterator",
                          self->type->tp_name);
    Status st = call_own(tx, self, f, NULL, 0, out);
    if (st == ST_RAISE && exc_matches(tx, PyExc_StopIteration)) {
        exc_clear(tx);
        *out = NULL;
        return ST_OK;
    }
    return st;
}

/* What slot_sq_length makes of a result: an index that is not negative. */
static Status good_len(Tx *tx, Var **n)
{
    Var *zero, *negative, *most, *fits;
    bool yes;
    TRY(var_index_value(tx, *n, n));
    PyTypeObject *t = (*n)->type;
    *n = var_content(
        *n); /* an instance of a subclass of int is one, whatever its class compares */
    if (*n == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s", "a length that is not known");
    TRY(const_int(tx, 0, &zero));
    TRY(var_compare(tx, *n, zero, Py_LT, &negative));
    TRY(var_truth(tx, negative, &yes));
    if (yes)
        return raise_type(tx, PyExc_ValueError, "__len__() should return >= 0");
    TRY(const_int(tx, PY_SSIZE_T_MAX, &most));
    TRY(var_compare(tx, *n, most, Py_LE, &fits));
    TRY(var_truth(tx, fits, &yes));
    if (!yes)
        return raise_type(tx, PyExc_OverflowError,
                          "cannot fit '%.200s' into an index-sized integer", t->tp_name);
    if ((*n)->type == &PyLong_Type)
        return ST_OK;
    Py_ssize_t len;
    TRY(var_ssize(tx, *n, NULL, &len));
    return const_int(tx, len, n);
}

/* Whether the built-in part has the slot; if not, the object itself lacks it, under its own name. */
#define HAS(content, table, slot) ((content) && TYPE_HAS((content)->type, table, slot))

Status object_len(Tx *tx, Var *self, Var **out)
{
    Var *f, *content = object_part(self);
    TRY(own(tx, self, str___len__, &f));
    if (f != NULL) {
        TRY(call_own(tx, self, f, NULL, 0, out));
        return good_len(tx, out);
    }
    if (HAS(content, tp_as_sequence, sq_length) || HAS(content, tp_as_mapping, mp_length))
        return var_len(tx, content, out);
    return raise_type(tx, PyExc_TypeError, "object of type '%s' has no len()",
                      self->type->tp_name);
}

static Status missing(Tx *tx, Var *self, Var *key, Status st, Var **out)
{
    Var *f;
    if (st != ST_RAISE || !exc_matches(tx, PyExc_KeyError) ||
        object_part(self)->kind != &kind_dict)
        return st;
    Var *exc = tx->exc;
    TRY(own(tx, self, str___missing__, &f));
    if (f == NULL) {
        tx->exc = exc;
        return st;
    }
    exc_clear(tx);
    return call_own(tx, self, f, &key, 1, out);
}

Status object_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    Var *f, *content = object_part(self);
    TRY(own(tx, self, str___getitem__, &f));
    if (f != NULL)
        return call_own(tx, self, f, &key, 1, out);
    if (HAS(content, tp_as_mapping, mp_subscript) || HAS(content, tp_as_sequence, sq_item))
        return missing(tx, self, key, var_getitem(tx, content, key, out), out);
    return raise_type(tx, PyExc_TypeError, "'%s' object is not subscriptable",
                      self->type->tp_name);
}

Status object_setitem(Tx *tx, Var *self, Var *key, Var *value)
{
    Var *f, *ignored, *args[2] = { key, value }, *content = object_part(self);
    TRY(own(tx, self, value ? str___setitem__ : str___delitem__, &f));
    if (f != NULL)
        return call_own(tx, self, f, args, value ? 2 : 1, &ignored);
    if (HAS(content, tp_as_mapping, mp_ass_subscript) ||
        HAS(content, tp_as_sequence, sq_ass_item))
        return var_setitem(tx, content, key, value);
    if (TYPE_HAS(self->type, tp_as_mapping,
                 mp_ass_subscript)) /* the class has the other of the two */
        return raise_type(tx, PyExc_AttributeError, "%s",
                          value ? "__setitem__" : "__delitem__");
    return no_setitem(tx, self, key, value);
}

Status object_contains(Tx *tx, Var *self, Var *item, bool *yes)
{
    Var *f, *r, *content = object_part(self);
    TRY(own(tx, self, str___contains__, &f));
    if (f == tx->none)
        return raise_type(tx, PyExc_TypeError, "'%.200s' object is not a container",
                          self->type->tp_name);
    if (f != NULL) {
        TRY(call_own(tx, self, f, &item, 1, &r));
        return var_truth(tx, r, yes);
    }
    if (HAS(content, tp_as_sequence, sq_contains))
        return var_contains(tx, content, item, yes);
    return var_contains_by_iteration(tx, self, item, yes);
}

Status object_truth(Tx *tx, Var *self, bool *yes)
{
    Var *f, *r, *content = object_part(self);
    TRY(own(tx, self, str___bool__, &f));
    if (f != NULL) {
        TRY(call_own(tx, self, f, NULL, 0, &r));
        TRY(var_real(tx, &r));
        if (r->type != &PyBool_Type)
            return raise_type(tx, PyExc_TypeError,
                              "__bool__ should return bool, returned %s",
                              r->type->tp_name);
        return var_truth(tx, r, yes);
    }
    if (HAS(content, tp_as_number, nb_bool)) /* before a length of its own */
        return var_truth(tx, content, yes);
    TRY(own(tx, self, str___len__, &f));
    if (f != NULL) {
        TRY(object_len(tx, self, &r));
        return var_truth(tx, r, yes);
    }
    if (content != NULL)
        return var_truth(tx, content, yes);
    *yes = true;
    return ST_OK;
}

/* -- Operators ------------------------------------------------------------------ */

static PyObject *compare_name(int op)
{
    PyObject *names[] = { str___lt__, str___le__, str___eq__,
                          str___ne__, str___gt__, str___ge__ };
    return names[op];
}

static Status identity_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    bool same;
    if (op == Py_EQ || op == Py_NE) {
        TRY(var_is(tx, self, other, &same));
        *out = !same ? tx->notimpl : tx_bool(tx, op == Py_EQ);
        return ST_OK;
    }
    *out = tx->notimpl;
    return ST_OK;
}

/* The inherited C comparison of the built-in part. */
static Status content_compare(Tx *tx, Var *content, Var *other, int op, Var **out)
{
    Var *theirs = var_content(other);
    *out = tx->notimpl;
    if (theirs == NULL)
        return ST_OK;
    if (content->kind == &kind_const && theirs->kind == &kind_const) {
        richcmpfunc compare = content->type->tp_richcompare;
        return compare ? const_new(tx, compare(content->real, theirs->real, op), out)
                       : ST_OK;
    }
    if (content->kind == &kind_const && theirs->kind == &kind_scalar) {
        static const int swapped[] = { Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE };
        return theirs->kind->compare(tx, theirs, content, swapped[op], out);
    }
    return content->kind->compare ? content->kind->compare(tx, content, theirs, op, out)
                                  : ST_OK;
}

Status object_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    Var *f, *content = object_part(self);
    PyObject *ne;
    bool called;
    TRY(own(tx, self, compare_name(op), &f));
    if (f != NULL) {
        *out = tx->notimpl;
        return call_bound(tx, self, f, &other, 1, &called, out);
    }
    TRY(type_lookup(tx, self->type, str___ne__, &ne));
    if (op == Py_NE &&
        ne == cpy_type_lookup(&PyBaseObject_Type, str___ne__)) { /* it inverts __eq__ */
        TRY(own(tx, self, str___eq__, &f));
        if (f != NULL) {
            *out = tx->notimpl;
            TRY(call_bound(tx, self, f, &other, 1, &called, out));
            TRY(var_real(tx, out));
            return *out == tx->notimpl ? ST_OK : var_not(tx, *out, out);
        }
    }
    if (content)
        return content_compare(tx, content, other, op, out);
    return is_namespace(self) ? namespace_compare(tx, self, other, op, out)
                              : identity_compare(tx, self, other, op, out);
}

/* A list, dict or set part changes where it is and the object stays; other parts have the plain form only. */
static Status binary_in_place(Tx *tx, Var *self, Var *content, Var *other, int op,
                              Var **out)
{
    const VarKind *k = content->kind;
    if (k != &kind_list && k != &kind_dict && k != &kind_set)
        return ST_OK;
    if (k == &kind_list &&
        op == IN_PLACE(ADD)) /* which a subclass has as a number's slot */
        return *out = self, list_extend(tx, AS(ListVar, content), other);
    TRY(k->binary(tx, content, other, op, false, out));
    *out = *out == content ? self : tx->notimpl;
    return ST_OK;
}

/* The inherited C operator of the built-in part: what it does not know is left to the other side, which can be told
 * from its own errors only where the other side is no object with operators. */
static Status content_binary(Tx *tx, Var *content, Var *theirs, int op, bool reflected,
                             Var **out)
{
    Var *a = reflected ? theirs : content, *b = reflected ? content : theirs;
    if (content->kind == &kind_dict && theirs->kind == &kind_dict &&
        content->type !=
            theirs->type) /* who comes first is said by the classes, not by what they hold */
        return graph_break(tx, BRK_NO_SLOT, "%s of %s and %s",
                           binop_table[op % BINOP_COUNT].symbol, a->type->tp_name,
                           b->type->tp_name);
    if (!number_takes(content, theirs, op)) /* the other side's class may */
        return *out = tx->notimpl, ST_OK;
    Status st = var_binary(tx, a, b, op, out);
    if (st == ST_RAISE && exc_matches(tx, PyExc_TypeError))
        return graph_break(tx, BRK_NO_SLOT, "%s of %s and %s",
                           binop_table[op % BINOP_COUNT].symbol, a->type->tp_name,
                           b->type->tp_name);
    return st;
}

/* Sequences have no numbers' slots: + comes behind a reflected method of the other side, * behind all of them (ops.c). */
static Status sequence_waits(Tx *tx, Var *content, Var *other, int op, bool *yes)
{
    Var *theirs = var_content(other), *f = NULL;
    *yes = op == BINOP_MULTIPLY && (HAS(content, tp_as_sequence, sq_repeat) ||
                                    HAS(theirs, tp_as_sequence, sq_repeat));
    if (op == BINOP_ADD && HAS(content, tp_as_sequence, sq_concat) &&
        var_is_instance(other))
        TRY(own(tx, other, binop_table[op].rname, &f));
    *yes = *yes || f != NULL;
    return ST_OK;
}

/* A class with __radd__ alone, or __mul__ alone, has the number's slot, which calls the other method too: the sequence's, as a method. */
static bool mixed_slot(Var *self, int op, bool reflected)
{
    PyTypeObject *t = self->type,
                 *c = wrap_layout(t); /* existing tuples keep their type */
    if (c == NULL)
        return false;
    if (op == BINOP_ADD)
        return !reflected && TYPE_HAS(c, tp_as_sequence, sq_concat) &&
               !TYPE_HAS(c, tp_as_number, nb_add) && TYPE_HAS(t, tp_as_number, nb_add);
    return op == BINOP_MULTIPLY && TYPE_HAS(c, tp_as_sequence, sq_repeat) &&
           !TYPE_HAS(c, tp_as_number, nb_multiply) &&
           TYPE_HAS(t, tp_as_number, nb_multiply);
}

enum { TEXT = Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS };

/* The built-in part of the format counts; of the value its text, which is the class's. */
static Status format_with(Tx *tx, Var *format, Var *value, Var **out)
{
    Var *text = var_content(format);
    *out = tx->notimpl;
    if (text == NULL || text->kind != &kind_const)
        return graph_break(tx, BRK_NO_SLOT, "%s", "%-formatting with a text not known");
    if (PyUnicode_CheckExact(text->real) && text != format &&
        PyUnicode_FindChar(text->real, '%', 0, PyUnicode_GET_LENGTH(text->real), 1) < 0)
        return graph_break(tx, BRK_NO_SLOT, "%s", "%-formatting without a directive");
    if (PyUnicode_CheckExact(text->real))
        return str_percent(tx, text->real, value, out);
    if (PyBytes_CheckExact(text->real))
        return graph_break(tx, BRK_NO_SLOT, "%s", "%-formatting of bytes");
    return ST_OK;
}

Status object_binary(Tx *tx, Var *self, Var *other, int op, bool reflected, Var **out)
{
    const Binop *b = &binop_table[op % BINOP_COUNT];
    PyObject *name = reflected ? b->rname : op >= BINOP_COUNT ? b->iname : b->name;
    Var *f, *content = object_part(self);
    TRY(own(tx, self, name, &f));
    if (f != NULL)
        return call_own(tx, self, f, &other, 1, out);
    *out = tx->notimpl;
    if (content == NULL)
        return ST_OK;
    bool by_class = (content->kind == &kind_dict && content->type != &PyDict_Type) ||
                    (content->kind == &kind_list && content->type != &PyList_Type);
    if ((by_class && op < BINOP_COUNT) || mixed_slot(self, op % BINOP_COUNT, reflected))
        return no_slot(tx, self,
                       "operator"); /* the result is made by the class's constructor */
    if (op >= BINOP_COUNT)
        return reflected ? ST_OK : binary_in_place(tx, self, content, other, op, out);
    if (op == BINOP_REMAINDER && PyType_HasFeature(content->type, TEXT))
        return format_with(tx, reflected ? other : self, reflected ? self : other, out);
    Var *theirs = var_content(other);
    bool waits;
    TRY(sequence_waits(tx, content, other, op, &waits));
    if (theirs == NULL || waits)
        return ST_OK;
    if (theirs->kind == &kind_tensor)
        TRY(var_no_override(tx, self));
    return content_binary(tx, content, theirs, op, reflected, out);
}

Status object_unary(Tx *tx, Var *self, char op, Var **out)
{
    Var *f, *content = object_part(self);
    TRY(own(tx, self,
            op == '-'   ? str___neg__
            : op == '+' ? str___pos__
                        : str___invert__,
            &f));
    if (f != NULL)
        return call_own(tx, self, f, NULL, 0, out);
    if (op == '-'   ? HAS(content, tp_as_number, nb_negative)
        : op == '+' ? HAS(content, tp_as_number, nb_positive)
                    : HAS(content, tp_as_number, nb_invert))
        return var_unary(tx, content, op, out);
    return raise_type(tx, PyExc_TypeError, "bad operand type for unary %c: '%s'", op,
                      self->type->tp_name);
}

/* The class enum.Enum among the bases of an enumeration, or NULL. */
static PyTypeObject *enum_base(PyTypeObject *t)
{
    const char *meta = Py_TYPE(t)->tp_name;
    if (strcmp(meta, "EnumType") != 0 && strcmp(meta, "EnumMeta") != 0)
        return NULL;
    for (Py_ssize_t i = PyTuple_GET_SIZE(t->tp_mro); i-- > 0;) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(t->tp_mro, i);
        if (Py_TYPE(base) != &PyType_Type)
            return base;
    }
    return NULL;
}

/* Members that are equal to nothing but themselves; those of a class with str or int in it are equal to plain values. */
static Status equal_to_itself(Tx *tx, PyTypeObject *t, bool *yes)
{
    PyTypeObject *base = enum_base(t);
    PyObject *hash, *eq;
    *yes = false;
    if (base == NULL)
        return ST_OK;
    TRY(type_lookup(tx, t, str___hash__, &hash));
    TRY(type_lookup(tx, t, str___eq__, &eq));
    *yes = hash == cpy_type_lookup(base, str___hash__) &&
           eq == cpy_type_lookup(&PyBaseObject_Type, str___eq__);
    return ST_OK;
}

Status object_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    Var *f;
    bool member;
    TRY(own(tx, self, str___hash__, &f));
    TRY(equal_to_itself(tx, self->type, &member));
    if (f == tx->none || (f == NULL && is_namespace(self)))
        return raise_type(tx, PyExc_TypeError, "unhashable type: '%s'",
                          self->type->tp_name);
    if (member && self->real != NULL) {
        *key = self->real;
        *h = PyObject_Hash(self->real);
        return ST_OK;
    }
    Var *content = object_part(self), *eq;
    if (f == NULL && content && content->kind == &kind_const) {
        TRY(own(tx, self, str___eq__, &eq));
        if (eq == NULL) { /* as the built-in part */
            *key = content->real;
            *h = PyObject_Hash(content->real);
            return *h == -1 ? raise_now(tx) : ST_OK;
        }
    }
    if (f != NULL || content != NULL)
        return graph_break(tx, BRK_DYN_KEY, "%s", self->type->tp_name);
    *key = self->real; /* by identity; NULL: the Var itself is the key */
    *h = self->real ? _Py_HashPointer(self->real) : _Py_HashPointer(self);
    return ST_OK;
}

/* Built-in parts whose text does not show the name of the class. */
bool object_nameless(const Var *content)
{
    return content && ((content->kind == &kind_const &&
                        !Py_IS_TYPE(content->real, &PyFrozenSet_Type)) ||
                       content->kind == &kind_tuple ||
                       (content->kind == &kind_list && content->type == &PyList_Type) ||
                       (content->kind == &kind_dict && content->type == &PyDict_Type));
}

Status object_repr(Tx *tx, Var *self, bool str, Var **out)
{
    Var *f, *content = object_part(self);
    PyObject *method = NULL;
    if (str) {
        TRY(own(tx, self, str___str__, &f));
        if (f != NULL)
            return call_own(tx, self, f, NULL, 0, out);
        TRY(type_lookup(tx, self->type, str___str__, &method));
    }
    str = str &&
          method != cpy_type_lookup(&PyBaseObject_Type,
                                    str___str__); /* object.__str__ asks for the repr */
    if (!str) {
        bool called = true;
        TRY(own(tx, self, str___repr__, &f));
        if (f != NULL)
            TRY(call_bound(tx, self, f, NULL, 0, &called, out));
        if (!called)
            return graph_break(tx, BRK_IDENTITY, "repr of %s shows its address",
                               self->type->tp_name);
        if (f != NULL)
            return ST_OK;
    }
    if (object_nameless(content))
        return str ? var_str(tx, content, out) : var_repr(tx, content, out);
    if (self->kind == &kind_exc)
        return str ? exc_base_str(tx, AS(ExcVar, self), out)
                   : exc_base_repr(tx, AS(ExcVar, self), out);
    if (self->real && PyExceptionInstance_Check(self->real))
        return exc_existing_text(tx, self, str, out);
    return is_namespace(self) ? namespace_repr(tx, self, out)
                              : no_slot(tx, self, "default repr");
}

/* -- The kind -------------------------------------------------------------------- */

const VarKind kind_object = {
    .name = "object",
    .id = KIND_object,
    OBJECT_SLOTS,
};
