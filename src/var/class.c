/*
 * var/class.c -- classes: attributes along their own MRO, calls that make instances.
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/binops.h"
#include "var/call.h"
#include "var/consts.h"
#include "var/made.h"
#include "var/names.h"
#include "var/object.h"
#include "var/type.h"
#include "var/wrap.h"
#include "builtin/handler.h"

#define REAL(v) ((PyTypeObject *)(v)->real)

/* -- Attributes (as type_getattro) ---------------------------------------------- */

static Status own_attr(Tx *tx, Var *self, PyObject *name, PyObject *value, Var **out)
{
    Source *src = NULL;
    if (self->src) {
        src = source_get(&tx->sources, SRC_CLASSVAR, self->src, name, 0);
        TRY_PTR(src);
    }
    return wrap_classvar(tx, value, src, out);
}

static Status written(Tx *tx, Var *self, PyObject *name, Var **out)
{
    bool made = is_made_class(self); /* type_lookup knows what was stored into it */
    KeyEntry *e = made ? NULL : keymap_find_id(&AS(ClassVar, self)->writes, name);
    *out = e ? e->value : NULL;
    return ST_OK;
}

/* __dict__ of an existing class: what is read through it is guarded in the class's own dictionary. */
static Status class_dict(Tx *tx, Var *self, Var **out)
{
    PyObject *dict = REAL(self)->tp_dict;
    void *known;
    Var *d;
    if (AS(ClassVar, self)->writes.n)
        return graph_break(tx, BRK_NO_SLOT, "__dict__ of %s, which was changed just now",
                           REAL(self)->tp_name);
    SET(tx, AS(ClassVar, self)->shown, 1);
    if (ptrmap_get(&tx->wrapped, dict, &known))
        return proxy_new(tx, known, out);
    TRY(VAR_MAKE(tx, dict, DictVar, &PyDict_Type, &d));
    d->real = tx_keep(tx, dict);
    d->src = source_get(&tx->sources, SRC_CLASSDICT, self->src, NULL, 0);
    TRY_PTR(d->src);
    if (!ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, dict, d))
        return ST_ERROR;
    return proxy_new(tx, d, out);
}

/* C-level attributes of every class. */
/* Of an existing class: its own ones, not those of a base. */
static Status abstract_of(Tx *tx, PyTypeObject *t, Var **out)
{
    PyObject *found, *own = PyDict_GetItem(t->tp_dict, str___abstractmethods__);
    TRY(type_lookup(tx, t, str___abstractmethods__, &found));
    if (found == NULL || t == &PyType_Type)
        return raise_type(tx, PyExc_AttributeError, "__abstractmethods__");
    return own == found
               ? wrap_pinned(tx, own, NULL, out)
               : graph_break(tx, BRK_NO_SLOT, "__abstractmethods__ of %s", t->tp_name);
}

/* As type_get_doc: what stands in the class itself, bound to it. */
static Status doc_of(Tx *tx, Var *self, Var **out)
{
    PyTypeObject *t = REAL(self);
    PyObject *raw, *ignored;
    Var *dv;
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return const_new(tx, PyObject_GetAttr((PyObject *)t, str___doc__), out);
    TRY(type_lookup(tx, t, str___doc__, &ignored));
    TRY(class_entry(tx, t, str___doc__, &raw));
    *out = tx->none;
    if (raw == NULL)
        return ST_OK;
    TRY(own_attr(tx, self, str___doc__, raw, &dv));
    return attr_bind(tx, self, t, str___doc__, raw, dv, out);
}

static bool renamable(PyTypeObject *t)
{
    return (t->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_IMMUTABLETYPE)) ==
           Py_TPFLAGS_HEAPTYPE;
}

/* The getter of `type`, unless a metaclass hides it under an entry of its own (__module__): then from the class's dictionary. */
static SrcKind text_source(PyTypeObject *t, PyObject *name)
{
    PyObject *getter = cpy_type_lookup(Py_TYPE(t), name);
    return getter && Py_IS_TYPE(getter, &PyGetSetDescr_Type) ? SRC_GETSET : SRC_CLASSVAR;
}

static Status type_getset(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyTypeObject *t = REAL(self);
    if (is_made_class(self)) {
        TRY(made_getset(tx, AS(ClassVar, self), name, out));
        if (*out != NULL)
            return ST_OK;
    }
    if (name == str___dict__)
        return class_dict(tx, self, out);
    if (name == str___doc__)
        return doc_of(tx, self, out);
    if (name == str___abstractmethods__ && !is_made_class(self))
        return abstract_of(tx, t, out);
    if (name == str___name__ || name == str___qualname__ || name == str___module__) {
        PyObject *o = PyType_Type.tp_getattro((PyObject *)t, name);
        if (o == NULL)
            return raise_now(tx);
        TRY_PTR(tx_hold(tx, o));
        if (!const_immutable(o))
            return graph_break(tx, BRK_NO_SLOT, "class attribute '%U'", name);
        if (is_made_class(self) || self->src == NULL || !renamable(t))
            return const_peek(tx, o, out);
        Source *src = source_get(&tx->sources, text_source(t, name), self->src, name, 0);
        TRY_PTR(src);
        return wrap(tx, o, src, out);
    }
    if (name == str___mro__ || name == str___bases__) {
        PyObject *mro = name == str___mro__ ? t->tp_mro : t->tp_bases;
        if (!is_made_class(self))
            TRY(guard_mro(&tx->guards, t));
        return wrap_pinned(tx, mro,
                           source_get(&tx->sources, SRC_GETSET, self->src, name, 0), out);
    }
    return graph_break(tx, BRK_NO_SLOT, "class attribute '%U' of %s", name, t->tp_name);
}

/* Fields that `type` itself gives; a metaclass may have something of its own under the name. */
static bool is_type_getset(PyObject *name, PyObject *meta)
{
    bool field = name == str___name__ || name == str___qualname__ ||
                 name == str___module__ || name == str___doc__ || name == str___mro__ ||
                 name == str___bases__;
    return field && (meta == cpy_type_lookup(&PyType_Type, name) ||
                     Py_TYPE(meta)->tp_descr_get == NULL);
}

static bool is_static(PyTypeObject *t)
{
    return !(t->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* __base__, __flags__, __basicsize__ …: fields of the type object that stay as they are. */
static Status type_member(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *o = tx_hold(tx, PyType_Type.tp_getattro(self->real, name));
    return o ? wrap_pinned(tx, o, NULL, out) : raise_now(tx);
}

Status class_load(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyTypeObject *t = REAL(self);
    PyObject *meta, *value;
    Var *mv, *w;
    bool first = false;
    TRY(written(tx, self, name, &w));
    if (w != NULL)
        return attr_bind_class(tx, self, name, w, out);
    TRY(type_lookup(tx, Py_TYPE(t), name, &meta));
    if (meta && is_type_getset(name, meta))
        return type_getset(tx, self, name, out);
    if (meta && Py_TYPE(meta) == &PyMemberDescr_Type && is_static(PyDescr_TYPE(meta)))
        return type_member(tx, self, name, out);
    if (name == str___class__ && meta && Py_TYPE(meta) == &PyGetSetDescr_Type)
        return wrap_pinned(tx, (PyObject *)Py_TYPE(t), NULL, out);
    if (meta && Py_TYPE(meta) == &PyGetSetDescr_Type)
        return type_getset(tx, self, name, out);
    if (meta)
        TRY(attr_overrides(tx, meta, &first));
    if (first) {
        TRY(type_value(tx, self, name, meta, &mv));
        return attr_bind(tx, self, Py_TYPE(t), name, meta, mv, out);
    }
    TRY(type_counter(tx, self, true, name, out));
    if (*out != NULL)
        return ST_OK;
    TRY(type_lookup(tx, t, name, &value));
    if (value != NULL) {
        Var *dv;
        TRY(own_attr(tx, self, name, value, &dv));
        return attr_bind(tx, self, t, name, value, dv, out);
    }
    if (meta == NULL)
        return raise_type(tx, PyExc_AttributeError,
                          "type object '%s' has no attribute '%U'", t->tp_name, name);
    TRY(type_value(tx, self, name, meta, &mv));
    return attr_bind(tx, self, Py_TYPE(t), name, meta, mv, out);
}

/* What is overwritten. */
static Status class_drop(Tx *tx, Var *self, PyObject *name)
{
    KeyEntry *e = keymap_find_id(&AS(ClassVar, self)->writes, name);
    if (e != NULL)
        return drop(tx, e->value);
    Source *owner = self->src;
    if (owner == NULL)
        owner = source_get(&tx->sources, SRC_CONST, NULL, self->real, 0);
    Source *src = owner ? source_get(&tx->sources, SRC_CLASSVAR, owner, name, 0) : NULL;
    TRY_PTR(src);
    PyObject *old = PyDict_GetItemWithError(REAL(self)->tp_dict, name); /* str keys */
    return drop_place(tx, old, src);
}

Status class_store(Tx *tx, Var *self, PyObject *name, Var *value)
{
    PyObject *meta;
    TRY(type_lookup(tx, Py_TYPE(self->real), name, &meta));
    if (meta && attr_is_data(meta) && Py_TYPE(meta) != &PyGetSetDescr_Type)
        return graph_break(tx, BRK_NO_SLOT, "store to '%U' of a metaclass", name);
    if (is_made_class(self))
        return made_store(tx, AS(ClassVar, self), name, value);
    if (AS(ClassVar, self)->shown)
        return graph_break(tx, BRK_NO_SLOT,
                           "store to '%U' of a class whose __dict__ is in use", name);
    if (is_static(REAL(self)) || value == NULL || PyUnicode_READ_CHAR(name, 0) == '_')
        return graph_break(tx, BRK_NO_SLOT, "store to class attribute '%U'", name);
    TRY(class_drop(tx, self, name));
    TRY(var_touch(tx, self));
    SET(tx, tx->class_writes, 1);
    return keymap_put(&AS(ClassVar, self)->writes, &tx->arena, &tx->journal, NULL, 0,
                      name, value)
               ? ST_OK
               : ST_ERROR;
}

/* type.__getattribute__, or the metaclass's own. */
static Status class_lookup(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *own;
    Var *fn, *arg;
    TRY(type_lookup(tx, Py_TYPE(self->real), str___getattribute__, &own));
    if (own == NULL || Py_TYPE(own) == &PyWrapperDescr_Type)
        return class_load(tx, self, name, out);
    TRY(type_value(tx, self, str___getattribute__, own, &fn));
    TRY(const_peek(tx, name, &arg));
    return var_call_unbound(tx, self, fn, &(Args){ .v = &arg, .n = 1 }, out);
}

static Status class_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    if (Py_IS_TYPE(self->real, &PyType_Type))
        return class_load(tx, self, name, out);
    return attr_hook(tx, self, name, class_lookup(tx, self, name, out), out);
}

static Status class_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    PyObject *f, *which = value ? str___setattr__ : str___delattr__;
    Var *own, *arg, *ignored;
    TRY(type_lookup(tx, Py_TYPE(self->real), which, &f));
    if (Py_TYPE(f) == &PyWrapperDescr_Type)
        return class_store(tx, self, name, value);
    TRY(const_peek(tx, name, &arg));
    TRY(type_value(tx, self, which, f, &own));
    Args a = { .v = (Var *[]){ arg, value }, .n = value ? 2 : 1 };
    return var_call_unbound(tx, self, own, &a, &ignored);
}

/* -- Calls (as type_call) ----------------------------------------------------------- */

/* Is it what the C base of the class makes instances with? */
static bool is_base_new(PyTypeObject *base, PyObject *new_)
{
    return base ? new_ == cpy_type_lookup(base, str___new__) : PyCFunction_Check(new_);
}

static Status make_instance(Tx *tx, Var *self, PyObject *new_, const Args *a, Var **out)
{
    PyTypeObject *t = REAL(self), *base = wrap_layout(t);
    bool inherited = is_base_new(base, new_);
    Args with_cls;
    Var *fn;
    TRY(args_prepend(tx, self, a, &with_cls));
    if (inherited && base == &PyBaseObject_Type)
        TRY(object_concrete(tx, t));
    if (inherited &&
        (base == &PyBaseObject_Type || base == &PyDict_Type || base == &PyList_Type ||
         base == &PyODict_Type || base == &PySet_Type))
        return object_new(tx, t, out);
    TRY(var_getattr(tx, self, str___new__, &fn));
    return var_call(tx, fn, &with_cls, out);
}

static Status init_instance(Tx *tx, Var *obj, PyTypeObject *t, bool own_new, const Args *a)
{
    PyObject *init;
    Var *fn, *r;
    TRY(type_lookup(tx, t, str___init__, &init));
    if (init == NULL || (PyObject *)init == NULL)
        return ST_OK;
    if (Py_TYPE(init) == &PyWrapperDescr_Type &&
        init == cpy_type_lookup(&PyBaseObject_Type, str___init__)) {
        if ((a->n || a->nkw) && !own_new && t->tp_new == PyBaseObject_Type.tp_new)
            return raise_type(tx, PyExc_TypeError, "%s() takes no arguments", t->tp_name);
        return ST_OK;
    }
    TRY(type_value(tx, obj, str___init__, init, &fn));
    TRY(var_call_unbound(tx, obj, fn, a, &r));
    TRY(var_real(tx, &r));
    if (r != tx->none)
        return raise_type(tx, PyExc_TypeError, "__init__() should return None, not '%s'",
                          r->type->tp_name);
    return ST_OK;
}

static Status python_instance(Tx *tx, Var *self, const Args *a, Var **out)
{
    PyTypeObject *t = REAL(self);
    PyObject *new_;
    PyObject *finalizer;
    TRY(type_lookup(tx, t, str___del__, &finalizer));
    if (finalizer != NULL)
        return graph_break(tx, BRK_FINALIZER, "%s has __del__", t->tp_name);
    TRY(type_lookup(tx, t, str___new__, &new_));
    bool own_new = !is_base_new(wrap_layout(t), new_);
    TRY(make_instance(tx, self, new_, a, out));
    Var *obj = *out;
    TRY(var_real(tx, &obj));
    if (!PyType_IsSubtype(obj->type, t))
        return ST_OK;
    return init_instance(tx, obj, obj->type, own_new, a);
}

static Status metaclass_call(Tx *tx, Var *self, const Args *a, bool *done, Var **out)
{
    PyObject *f;
    *done = false;
    TRY(type_lookup(tx, Py_TYPE(self->real), str___call__, &f));
    if (f == NULL || Py_TYPE(f) == &PyWrapperDescr_Type)
        return ST_OK;
    Var *fn;
    *done = true;
    TRY(type_value(tx, self, str___call__, f, &fn));
    return var_call_unbound(tx, self, fn, a, out);
}

Status class_instance(Tx *tx, Var *self, const Args *a, Var **out)
{
    PyTypeObject *t = REAL(self);
    if (wrap_is_object(t))
        return python_instance(tx, self, a, out);
    Status st = fold_call(tx, self->real, a, out);
    if (st == ST_DECLINE)
        st = illegal_call(tx, self->real, a);
    if (st != ST_DECLINE)
        return st;
    if (PyExceptionClass_Check(self->real))
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s with %s", t->tp_name,
                           a->nkw ? "keywords" : "these arguments");
    return graph_break(tx, BRK_UNKNOWN_CALL, "class %s", t->tp_name);
}

static Status class_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    bool done;
    Status st = match_call(tx, self->real, a, out);
    if (st != ST_DECLINE)
        return st;
    TRY(metaclass_call(tx, self, a, &done, out));
    return done ? ST_OK : class_instance(tx, self, a, out);
}

/* -- Protocols of the metaclass ------------------------------------------------------- */

/* Classes, constants and tuples of them, as they stand in an annotation; *out NULL: something else. */
static Status alias_key(Tx *tx, Var *key, PyObject **out)
{
    TRY(var_real(tx, &key));
    *out = key->kind == &kind_class && !is_made_class(key) ? key->real : NULL;
    if (*out == NULL && key->kind == &kind_tuple && key->type == &PyTuple_Type) {
        TupleVar *t = AS(TupleVar, key);
        PyObject *tuple = tx_hold(tx, PyTuple_New(t->n)), *item;
        TRY_PTR(tuple);
        for (Py_ssize_t i = 0; i < t->n; i++) {
            TRY(alias_key(tx, t->items[i], &item));
            if (item == NULL)
                return ST_OK;
            PyTuple_SET_ITEM(tuple, i, Py_NewRef(item));
        }
        *out = tuple;
    }
    return *out ? ST_OK : var_const(tx, key, out);
}

/* list[int] and the like: for real, where a built-in class's own __class_getitem__ makes it. */
static Status generic_alias(Tx *tx, Var *self, Var *key, Var **out)
{
    PyObject *k;
    TRY(alias_key(tx, key, &k));
    if (k == NULL || (REAL(self)->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
        cpy_type_lookup(REAL(self), str___class_getitem__) == NULL)
        return graph_break(tx, BRK_NO_SLOT, "%s[...]", REAL(self)->tp_name);
    PyObject *made = tx_hold(tx, PyObject_GetItem(self->real, k));
    return made ? wrap_pinned(tx, made, NULL, out) : raise_now(tx);
}

static Status class_getitem(Tx *tx, Var *self, Var *key, Var **out)
{
    PyObject *f;
    TRY(type_lookup(tx, Py_TYPE(self->real), str___getitem__, &f));
    return f ? var_call_special(tx, self, "__getitem__", &key, 1, out)
             : generic_alias(tx, self, key, out);
}

static Status class_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    PyObject *f;
    TRY(type_lookup(tx, self->type, str___hash__, &f));
    if (f && !Py_IS_TYPE(f, &PyWrapperDescr_Type))
        return graph_break(tx, BRK_DYN_KEY, "%s", self->type->tp_name);
    bool made = is_made_class(self); /* its address is not the model's */
    *key = made ? NULL : self->real;
    *h = _Py_HashPointer(made ? (void *)self : (void *)self->real);
    return ST_OK;
}

static bool is_union(const Var *v)
{
    return v->kind == &kind_opaque && v->real &&
           strcmp(v->type->tp_name, "types.UnionType") == 0;
}

/* A side of int | None | (str | bytes) whose | is that of type and UnionType; *out NULL: it is another. */
static Status union_side(Tx *tx, Var *v, PyObject **out)
{
    bool plain = v->kind == &kind_class &&
                 Py_TYPE(v->real)->tp_as_number == PyType_Type.tp_as_number;
    *out = plain || (v->kind == &kind_class && Py_IS_TYPE(v->real, &PyType_Type)) ||
                   v == tx->none
               ? v->real
               : NULL;
    if (is_made_class(v))
        *out = NULL; /* the union would hold the model */
    if (!is_union(v))
        return ST_OK;
    *out = v->real;
    return v->src && v->src->kind != SRC_CONST ? guard_is(&tx->guards, v->src, v->real)
                                               : ST_OK;
}

Status class_union(Tx *tx, Var *a, Var *b, Var **out)
{
    PyObject *x, *y;
    TRY(union_side(tx, a, &x));
    TRY(union_side(tx, b, &y));
    if (x == NULL || y == NULL)
        return graph_break(tx, BRK_NO_SLOT, "union of types");
    PyObject *made = tx_hold(tx, PyNumber_Or(x, y));
    return made ? wrap_pinned(tx, made, NULL, out) : raise_now(tx);
}

/* Is the metaclass's | one of its own? Its lookup is guarded by then. */
static bool has_own_or(Var *self, bool reflected)
{
    const Binop *b = &binop_table[BINOP_OR];
    PyObject *name = reflected ? b->rname : b->name;
    return cpy_type_lookup(self->type, name) != cpy_type_lookup(&PyType_Type, name);
}

static Status class_binary(Tx *tx, Var *self, Var *other, int op, bool reflected,
                           Var **out)
{
    TRY(object_binary(tx, self, other, op, reflected, out));
    if (*out != tx->notimpl || op != BINOP_OR || has_own_or(self, reflected))
        return ST_OK;
    return reflected ? class_union(tx, other, self, out)
                     : class_union(tx, self, other, out);
}

static Status class_repr(Tx *tx, Var *self, bool str, Var **out)
{
    PyObject *f;
    PyObject *name = str ? str___str__ : str___repr__;
    TRY(type_lookup(tx, Py_TYPE(self->real), name, &f));
    if (f && Py_TYPE(f) != &PyWrapperDescr_Type)
        return str ? var_call_special(tx, self, "__str__", NULL, 0, out)
                   : var_call_special(tx, self, "__repr__", NULL, 0, out);
    if (str)
        return class_repr(tx, self, false, out);
    if (renamable(REAL(self)) && !is_made_class(self)) { /* guards what it is called */
        TRY(type_getset(tx, self, str___module__, out));
        TRY(type_getset(tx, self, str___qualname__, out));
    }
    return const_new(tx, PyObject_Repr(self->real), out);
}

/* -- The kind ---------------------------------------------------------------------------- */

const VarKind kind_class = {
    .name = "class",
    .id = KIND_class,
    .getattr = class_getattr,
    .setattr = class_setattr,
    .call = class_call,
    .iter = object_iter,
    .len = object_len,
    .getitem = class_getitem,
    .contains = object_contains,
    .truth = object_truth,
    .compare = object_compare,
    .binary = class_binary,
    .unary = object_unary,
    .setitem = object_setitem,
    .hash = class_hash,
    .repr = class_repr,
};
