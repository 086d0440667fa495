/*
 * var/attr.c -- attribute lookup and stores, as PyObject_GenericGetAttr, slot_tp_getattr_hook and
 * PyObject_GenericSetAttr have them.
 *
 * Takes: a value and a name. Gives: the attribute, with guards on the MRO lookup and on presence or absence in the
 * instance dictionary. Descriptors of built-in kinds are known; those written in Python are traced.
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/container.h"
#include "var/exc.h"
#include "var/made.h"
#include "var/names.h"
#include "var/namespace.h"
#include "var/type.h"
#include "var/wrap.h"
#include <structmember.h>

/* -- Instance dictionaries ------------------------------------------------------ */

static Status existing_attrs(Tx *tx, Var *v, DictVar **out)
{
    PyObject *dict = cpy_inst_dict(v->real);
    void *known;
    if (dict && !PyDict_CheckExact(dict)) /* may be an object with attributes itself */
        return graph_break(tx, BRK_NO_SLOT, "attributes of a %s, which are kept in a %s",
                           v->type->tp_name, Py_TYPE(dict)->tp_name);
    if (dict && ptrmap_get(&tx->wrapped, dict, &known)) {
        *out = known;
        if ((*out)->owner == NULL)
            (*out)->owner = v;
        return ST_OK;
    }
    DictVar *d;
    TRY(VAR_MAKE(tx, dict, DictVar, &PyDict_Type, &d));
    d->owner = v;
    d->v.real = tx_keep(tx, dict);
    d->v.src = source_get(&tx->sources, SRC_DICT, v->src, NULL, 0);
    TRY_PTR(d->v.src);
    if (dict && !ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, dict, d))
        return ST_ERROR;
    *out = d;
    return ST_OK;
}

static Status attrs_field(Tx *tx, Var *v, DictVar **field, DictVar **out)
{
    if (*field == NULL) {
        DictVar *d;
        if (v->real != NULL && v->src != NULL) {
            TRY(existing_attrs(tx, v, &d));
        } else {
            TRY(dict_new(tx, (Var **)&d));
            d->owner = v;
        }
        SET(tx, *field, d);
    }
    *out = *field;
    return ST_OK;
}

Status attrs_of(Tx *tx, Var *v, DictVar **out)
{
    TRY(var_real(tx, &v));
    *out = NULL;
    if (v->kind == &kind_object)
        return v->type->tp_dictoffset ? attrs_field(tx, v, &AS(ObjectVar, v)->attrs, out)
                                      : ST_OK;
    if (v->kind == &kind_module)
        return attrs_field(tx, v, &AS(ModuleVar, v)->attrs, out);
    if (v->kind == &kind_func)
        return attrs_field(tx, v, &AS(FuncVar, v)->attrs, out);
    if (v->kind == &kind_exc)
        return attrs_field(tx, v, &AS(ExcVar, v)->attrs, out);
    if (v->kind == &kind_tensor)
        return attrs_field(tx, v, &AS(TensorVar, v)->attrs, out);
    if (v->kind == &kind_dict && is_odict(AS(DictVar, v)))
        return attrs_field(tx, v, &AS(DictVar, v)->attrs, out);
    return ST_OK;
}

/* -- Descriptors ---------------------------------------------------------------- */

bool attr_is_data(PyObject *descr)
{
    return Py_TYPE(descr)->tp_descr_set != NULL;
}

/* Classes in Python may become descriptors, or be none any more: guards that this one stays as it is. */
static Status stays(Tx *tx, PyTypeObject *t)
{
    PyObject *names[] = { str___get__, str___set__, str___delete__ }, *ignored;
    for (size_t i = 0; t->tp_flags & Py_TPFLAGS_HEAPTYPE && i < COUNT_OF(names); i++)
        TRY(type_lookup(tx, t, names[i], &ignored));
    return ST_OK;
}

/* Does it come before what the instance itself has? One that can only be set does not. */
Status attr_overrides(Tx *tx, PyObject *descr, bool *yes)
{
    PyTypeObject *t = Py_TYPE(descr);
    *yes = t->tp_descr_get != NULL && t->tp_descr_set != NULL;
    return stays(tx, t);
}

/* A part of a descriptor object of an exact built-in type (fget, __func__ …). */
static Status descr_part(Tx *tx, Var *dv, PyObject *descr, PyObject *part, Var **out)
{
    if (dv->kind == &kind_descr)
        return var_getattr(tx, dv, part, out);
    PyObject *o = tx_hold(tx, PyObject_GetAttr(descr, part));
    TRY_PTR(o);
    Source *src = dv->src ? source_get(&tx->sources, SRC_GETSET, dv->src, part, 0) : NULL;
    return wrap_pinned(tx, o, src, out);
}

/* A member of the built-in class an object gets its content from (deque.maxlen …) is the content's. */
static Var *content_with(Var *v, PyObject *descr)
{
    Var *c = v->kind == &kind_object ? AS(ObjectVar, v)->content : NULL;
    return c && c->kind->getattr && c->type &&
                   PyType_IsSubtype(c->type, PyDescr_TYPE(descr))
               ? c
               : NULL;
}

/* Fields of torch.return_types.… and their like: members that lie where the tuple's items are. */
static Status structseq_get(Tx *tx, TupleVar *t, PyObject *descr, PyObject *name,
                            Var **out)
{
    PyMemberDef *m = ((PyMemberDescrObject *)descr)->d_member;
    Py_ssize_t at = m->offset - (Py_ssize_t)offsetof(PyTupleObject, ob_item);
    if ((m->type != T_OBJECT && m->type != T_OBJECT_EX) || at < 0 ||
        at / (Py_ssize_t)sizeof(PyObject *) >= t->n)
        return graph_break(tx, BRK_NO_SLOT, "slot '%U' of %s", name, t->v.type->tp_name);
    *out = t->items[at / (Py_ssize_t)sizeof(PyObject *)];
    return ST_OK;
}

static Status member_get(Tx *tx, Var *v, PyObject *descr, PyObject *name, Var **out)
{
    if (v->kind == &kind_const) {
        PyObject *o = tx_hold(tx, PyObject_GenericGetAttr(v->real, name));
        return o ? wrap_pinned(tx, o, NULL, out) : raise_now(tx);
    }
    if (v->kind ==
        &kind_tuple) { /* torch.return_types and other struct sequences: names of items */
        Py_ssize_t offset = ((PyMemberDescrObject *)descr)->d_member->offset -
                            (Py_ssize_t)offsetof(PyTupleObject, ob_item);
        Py_ssize_t i = offset / (Py_ssize_t)sizeof(PyObject *);
        if (offset < 0 || i >= AS(TupleVar, v)->n)
            return graph_break(tx, BRK_NO_SLOT, "slot '%U' of %s", name, v->type->tp_name);
        *out = AS(TupleVar, v)->items[i];
        return ST_OK;
    }
    Var *c = content_with(v, descr);
    if (c != NULL)
        return c->kind->getattr(tx, c, name, out);
    if (v->kind == &kind_exc)
        return exc_field_get(tx, v, descr, name, out);
    if (v->kind == &kind_tuple)
        return structseq_get(tx, AS(TupleVar, v), descr, name, out);
    if (v->kind != &kind_object)
        return graph_break(tx, BRK_NO_SLOT, "slot '%U' of %s", name, v->kind->name);
    if (name == str___dict__ && is_namespace(v)) {
        DictVar *d;
        TRY(attrs_of(tx, v, &d));
        *out = &d->v;
        return ST_OK;
    }
    ObjectVar *ob = AS(ObjectVar, v);
    KeyEntry *e = keymap_find_id(&ob->members, descr);
    if (e == NULL && v->real != NULL) {
        PyMemberDef *m = ((PyMemberDescrObject *)descr)->d_member;
        if (m->type != T_OBJECT_EX)
            return graph_break(tx, BRK_NO_SLOT, "member '%U'", name);
        PyObject *o = *(PyObject **)((char *)v->real + m->offset);
        Source *src = source_get(&tx->sources, SRC_MEMBER, v->src, name, m->offset);
        TRY_PTR(src);
        TRY(guard_bound(&tx->guards, src, o != NULL));
        if (o != NULL)
            return lazy_new(tx, o, src, out);
    }
    if (e == NULL || e->value == NULL)
        return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                          v->type->tp_name, name);
    *out = e->value;
    return ST_OK;
}

/* What lies in the slot of an existing object, asked for or not. */
static Status member_drop(Tx *tx, Var *v, PyObject *descr, PyObject *name)
{
    KeyEntry *e = keymap_find_id(&AS(ObjectVar, v)->members, descr);
    if (e != NULL || v->real == NULL)
        return e ? drop(tx, e->value) : ST_OK;
    PyMemberDef *m = ((PyMemberDescrObject *)descr)->d_member;
    Source *src = source_get(&tx->sources, SRC_MEMBER, v->src, name, m->offset);
    TRY_PTR(src);
    return drop_place(tx, *(PyObject **)((char *)v->real + m->offset), src);
}

static Status member_set(Tx *tx, Var *v, PyObject *descr, PyObject *name, Var *value)
{
    if (v->kind == &kind_exc)
        return exc_field_set(tx, v, descr, name, value);
    if (v->kind != &kind_object)
        return graph_break(tx, BRK_NO_SLOT, "slot '%U' of %s", name, v->kind->name);
    if (((PyMemberDescrObject *)descr)->d_member->type != T_OBJECT_EX)
        return graph_break(tx, BRK_NO_SLOT, "member '%U'", name);
    if (value == NULL) {
        Var *was;
        Status st = member_get(tx, v, descr, name, &was);
        if (st == ST_RAISE)
            return raise_type(tx, PyExc_AttributeError, "%U", name);
        TRY(st);
    }
    TRY(member_drop(tx, v, descr, name));
    TRY(var_touch(tx, v));
    return keymap_put(&AS(ObjectVar, v)->members, &tx->arena, &tx->journal, NULL, 0,
                      descr, value)
               ? ST_OK
               : ST_ERROR;
}

static Status class_of(Tx *tx, PyTypeObject *t, Var *v, Var **out)
{
    Source *src =
        v && v->src ? source_get(&tx->sources, SRC_TYPE, v->src, NULL, 0) : NULL;
    return wrap_pinned(tx, (PyObject *)t, src, out);
}

/* Fields of an autograd.Function's context keep what they are set to, until the backward pass. */
static const struct ContextField {
    const char *name;
    bool flag; /* a bool that cannot be read, else any object, None at first */
} context_fields[] = {
    { "to_save", false },          { "non_differentiable", false },
    { "dirty_tensors", false },    { "saved_for_forward", false },
    { "needs_input_grad", false }, { "materialize_grads", true },
};

static const struct ContextField *context_field(Var *v, PyObject *descr)
{
    if (!torch_ready || v->kind != &kind_object ||
        PyDescr_TYPE(descr) != torch_types.function)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(context_fields); i++)
        if (PyUnicode_CompareWithASCIIString(PyDescr_NAME(descr),
                                             context_fields[i].name) == 0)
            return &context_fields[i];
    return NULL;
}

/* *out NULL: not known. */
static void context_get(Tx *tx, Var *v, PyObject *descr, Var **out)
{
    const struct ContextField *f = context_field(v, descr);
    KeyEntry *e =
        f && !f->flag ? keymap_find_id(&AS(ObjectVar, v)->members, descr) : NULL;
    *out = e ? e->value : f && !f->flag && v->real == NULL ? tx_none(tx) : NULL;
}

static Status context_set(Tx *tx, Var *v, PyObject *descr, Var *value)
{
    const struct ContextField *f = context_field(v, descr);
    if (f == NULL || value == NULL)
        return ST_DECLINE;
    if (f->flag) {
        TRY(var_real(tx, &value));
        if (value != tx->true_ && value != tx->false_)
            return ST_DECLINE;
    }
    TRY(var_touch(tx, v));
    return keymap_put(&AS(ObjectVar, v)->members, &tx->arena, &tx->journal, NULL, 0,
                      descr, value)
               ? ST_OK
               : ST_ERROR;
}

/* C getters that only read: the value is loaded through the same getter at run time. */
static Status getset_get(Tx *tx, Var *v, PyObject *descr, PyObject *name, Var **out)
{
    if (name == str___dict__) {
        DictVar *d;
        TRY(attrs_of(tx, v, &d));
        if (d != NULL) {
            *out = &d->v;
            return ST_OK;
        }
    }
    if (name == str___class__)
        return class_of(tx, v->type, v, out);
    if (v->kind == &kind_exc)
        return exc_field_get(tx, v, descr, name, out);
    Var *c = content_with(v, descr);
    if (c != NULL)
        return c->kind->getattr(tx, c, name, out);
    context_get(tx, v, descr, &c);
    if (c != NULL) {
        *out = c;
        return ST_OK;
    }
    Status st = exc_existing_field(tx, v, descr, name, out);
    return st != ST_DECLINE ? st
                            : graph_break(tx, BRK_NO_SLOT, "attribute '%U' of %s", name,
                                          v->type->tp_name);
}

/* Where a class attribute was found: of v itself if that is the class, else of an instance or the subject of a class method. */
typedef struct Bound {
    Var *v;
    PyTypeObject *owner;
    bool on_class;
    PyObject *name;
} Bound;

/* What __get__ is told to be the class. */
static Status owner_of(Tx *tx, const Bound *b, Var **out)
{
    if (b->v->kind == &kind_class && b->owner == (PyTypeObject *)b->v->real) {
        *out = b->v;
        return ST_OK;
    }
    return class_of(tx, b->owner, b->owner == b->v->type ? b->v : NULL, out);
}

/* A class without the method that its type had a slot for is none of Python's: its values are no descriptors. */
static Status python_get(Tx *tx, const Bound *b, Var *dv, Var **out)
{
    Var *args[2] = { b->on_class ? tx->none : b->v };
    TRY(owner_of(tx, b, &args[1]));
    TRY(var_call_special(tx, dv, "__get__", args, 2, out));
    if (*out == NULL)
        *out = dv;
    return ST_OK;
}

static Status bind_to(Tx *tx, const Bound *b, PyObject *descr, Var *dv, Var **out);

/* As method_get, wrapperdescr_get and their like: made for instances of another class? */
static Status applies(Tx *tx, PyObject *descr, Var *v)
{
    if (PyType_IsSubtype(v->type, PyDescr_TYPE(descr)))
        return ST_OK;
    return raise_type(tx, PyExc_TypeError,
                      "descriptor '%U' for '%.100s' objects doesn't apply to a '%.100s' "
                      "object",
                      PyDescr_NAME(descr), PyDescr_TYPE(descr)->tp_name, v->type->tp_name);
}

/* As cm_descr_get: what binds itself is bound to the class. */
static Status bind_classmethod(Tx *tx, const Bound *b, Var *dv, PyObject *descr, Var **out)
{
    Var *fn, *cls;
    PyObject *inner;
    TRY(descr_part(tx, dv, descr, str___func__, &fn));
    TRY(var_real(tx, &fn));
    TRY(owner_of(tx, b, &cls));
    if (fn->kind == &kind_func || fn->type->tp_descr_get == NULL)
        return method_new(tx, fn, cls, out);
    if (fn->kind == &kind_descr)
        TRY(made_stand_in(tx, fn, &inner));
    else
        inner = fn->real;
    Bound to = { .v = cls, .owner = (PyTypeObject *)cls->real, .name = b->name };
    return inner ? bind_to(tx, &to, inner, fn, out) : python_get(tx, &to, fn, out);
}

/* As property_descr_get and property_descr_set for a function that is not there. */
static Status no_accessor(Tx *tx, Var *v, PyObject *descr, Var *dv, const char *what)
{
    PyObject *qualname = tx_hold(tx, PyType_GetQualName(v->type));
    PyObject *name =
        dv->kind == &kind_descr ? AS(DescrVar, dv)->name : cpy_property_name(descr);
    TRY_PTR(qualname);
    if (name == NULL)
        return raise_type(tx, PyExc_AttributeError, "property of %R object has no %s",
                          qualname, what);
    return raise_type(tx, PyExc_AttributeError, "property %R of %R object has no %s",
                      name, qualname, what);
}

static Status bind_property(Tx *tx, Var *v, PyObject *descr, Var *dv, Var **out)
{
    Var *fget;
    TRY(descr_part(tx, dv, descr, str_fget, &fget));
    return fget == tx->none ? no_accessor(tx, v, descr, dv, "getter")
                            : var_call1(tx, fget, v, out);
}

/* A named tuple's field. */
static Status bind_field(Tx *tx, Var *v, PyObject *descr, Var **out)
{
    PyObject *r = tx_hold(tx, PyObject_CallMethod(descr, "__reduce__", NULL));
    Var *index;
    TRY_PTR(r);
    TRY(const_peek(tx, PyTuple_GET_ITEM(PyTuple_GET_ITEM(r, 1), 0), &index));
    Var *items = var_content(v); /* not what a __getitem__ of its own says */
    if (items == NULL || !PyType_IsSubtype(items->type, &PyTuple_Type))
        return graph_break(tx, BRK_NO_SLOT, "a named tuple's field of %s",
                           v->type->tp_name);
    return var_getitem(tx, items, index, out);
}

static Status bind_to(Tx *tx, const Bound *b, PyObject *descr, Var *dv, Var **out)
{
    PyTypeObject *t = Py_TYPE(descr);
    bool of_c = t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type ||
                t == &PyMemberDescr_Type || t == &PyGetSetDescr_Type;
    bool field = strcmp(t->tp_name, "_collections._tuplegetter") == 0,
         cached = strcmp(t->tp_name, "functools._lru_cache_wrapper") == 0;
    *out = dv;
    if (t->tp_descr_get == NULL || t == &PyMethod_Type)
        return stays(tx, t);
    if (t == &PyStaticMethod_Type)
        return descr_part(tx, dv, descr, str___func__, out);
    if (t == &PyClassMethod_Type)
        return bind_classmethod(tx, b, dv, descr, out);
    if (t == &PyClassMethodDescr_Type) {
        Var *cls;
        TRY(owner_of(tx, b, &cls));
        return builtin_new(tx, descr, cls, out);
    }
    if (b->on_class &&
        (of_c || field || cached || t == &PyFunction_Type || t == &PyProperty_Type))
        return ST_OK;
    if (of_c)
        TRY(applies(tx, descr, b->v));
    if (t == &PyFunction_Type || cached) /* the cache binds as functions do */
        return method_new(tx, dv, b->v, out);
    if (t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type)
        return builtin_new(tx, descr, b->v, out);
    if (t == &PyProperty_Type)
        return bind_property(tx, b->v, descr, dv, out);
    if (t == &PyMemberDescr_Type)
        return member_get(tx, b->v, descr, b->name, out);
    if (t == &PyGetSetDescr_Type)
        return getset_get(tx, b->v, descr, b->name, out);
    return field ? bind_field(tx, b->v, descr, out) : python_get(tx, b, dv, out);
}

Status attr_bind(Tx *tx, Var *v, PyTypeObject *owner, PyObject *name, PyObject *descr,
                 Var *dv, Var **out)
{
    Bound b = { v, owner, .name = name };
    b.on_class = v->kind == &kind_class && owner == (PyTypeObject *)v->real;
    return bind_to(tx, &b, descr, dv, out);
}

/* A value that no lookup of a real object has given: stored by the trace, or known by its Var. */
static Status bind_value(Tx *tx, Bound *b, Var *f, Var **out)
{
    PyObject *descr = f->real;
    *out = f;
    if (f->type->tp_descr_get == NULL || f->kind == &kind_method)
        return ST_OK;
    if (f->kind == &kind_descr)
        TRY(made_stand_in(tx, f, &descr));
    if (descr == NULL && f->kind == &kind_func)
        return b->on_class ? ST_OK : method_new(tx, f, b->v, out);
    if (descr == NULL)
        return python_get(tx, b, f, out);
    if (Py_IS_TYPE(descr, &PyMemberDescr_Type) || Py_IS_TYPE(descr, &PyGetSetDescr_Type))
        b->name = PyDescr_NAME(descr);
    return bind_to(tx, b, descr, f, out);
}

Status attr_bind_special(Tx *tx, Var *v, Var *f, Var **out)
{
    Bound b = { v, v->type, .name = str___call__ };
    return bind_value(tx, &b, f, out);
}

Status attr_bind_class(Tx *tx, Var *cls, PyObject *name, Var *value, Var **out)
{
    Bound b = { cls, (PyTypeObject *)cls->real, .on_class = true, .name = name };
    TRY(var_real(tx, &value));
    return bind_value(tx, &b, value, out);
}

/* -- Lookup ------------------------------------------------------------------------ */

static Status no_attribute(Tx *tx, Var *v, PyObject *name)
{
    if (v->kind == &kind_class)
        return raise_type(tx, PyExc_AttributeError,
                          "type object '%s' has no attribute '%U'",
                          ((PyTypeObject *)v->real)->tp_name, name);
    return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                      v->type->tp_name, name);
}

/* A number that the class counts in, behind what the instance has. */
static Status find_counter(Tx *tx, Var *v, PyObject *name, Var **out)
{
    DictVar *d;
    Var *own = NULL;
    TRY(type_counter(tx, v, false, name, out));
    if (*out == NULL)
        return ST_OK;
    TRY(attrs_of(tx, v, &d));
    if (d != NULL)
        TRY(dict_get_str(tx, d, name, &own));
    if (own != NULL)
        *out = own;
    return ST_OK;
}

/* Finds without binding: a class attribute (descr) or an instance value (*out). */
static Status find(Tx *tx, Var *v, PyObject *name, PyObject **descr, Var **out)
{
    DictVar *d;
    *out = NULL;
    *descr = NULL;
    if (v->kind == &kind_object && v->real) {
        TRY(find_counter(tx, v, name, out));
        if (*out != NULL)
            return ST_OK;
    }
    bool first = false;
    TRY(type_lookup(tx, v->type, name, descr));
    if (*descr)
        TRY(attr_overrides(tx, *descr, &first));
    if (first)
        return ST_OK;
    TRY(attrs_of(tx, v, &d));
    if (d != NULL)
        TRY(dict_get_str(tx, d, name, out));
    return ST_OK;
}

Status var_generic_getattr(Tx *tx, Var *v, PyObject *name, Var **out)
{
    PyObject *descr;
    Var *dv;
    TRY(var_real(tx, &v));
    TRY(find(tx, v, name, &descr, out));
    if (*out != NULL)
        return ST_OK;
    if (descr == NULL)
        return no_attribute(tx, v, name);
    TRY(type_value(tx, v, name, descr, &dv));
    return attr_bind(tx, v, v->type, name, descr, dv, out);
}

/* The class's own __getattr__, called after a failed lookup. */
Status attr_hook(Tx *tx, Var *v, PyObject *name, Status st, Var **out)
{
    Var *hook, *arg;
    if (st != ST_RAISE || !exc_matches(tx, PyExc_AttributeError))
        return st;
    Var *exc = tx->exc;
    TRY(var_special(tx, v, str___getattr__, &hook));
    if (hook == NULL) {
        tx->exc = exc;
        return ST_RAISE;
    }
    exc_clear(tx);
    TRY(const_peek(tx, name, &arg));
    return var_call_unbound(tx, v, hook, &(Args){ .v = &arg, .n = 1 }, out);
}

/* Is f what the class has from its C base, and not something else made by C (`__setattr__ = dict.__setitem__`)? */
static bool inherited(Var *v, PyObject *name, PyObject *f)
{
    return f == NULL || f == cpy_type_lookup(wrap_layout(v->type), name);
}

static Status own_getattribute(Tx *tx, Var *v, Var **out)
{
    PyObject *f;
    *out = NULL;
    TRY(type_lookup(tx, v->type, str___getattribute__, &f));
    if (inherited(v, str___getattribute__, f))
        return ST_OK;
    return type_value(tx, v, str___getattribute__, f, out);
}

static Status getattr(Tx *tx, Var *v, PyObject *name, Var **out)
{
    if (v->kind->getattr)
        return v->kind->getattr(tx, v, name, out);
    if (var_is_instance(v)) {
        Var *own, *arg;
        TRY(own_getattribute(tx, v, &own));
        if (own != NULL) {
            TRY(const_peek(tx, name, &arg));
            Args a = { .v = &arg, .n = 1 };
            Status st = var_call_unbound(tx, v, own, &a, out);
            return attr_hook(tx, v, name, st, out);
        }
        return attr_hook(tx, v, name, var_generic_getattr(tx, v, name, out), out);
    }
    return var_generic_getattr(tx, v, name, out);
}

/* CPython tells an AttributeError that knows of no name and object what was asked for, and whom, whoever raised it. */
static void tell_error(Tx *tx)
{
    Var *e = tx->exc;
    if (e->kind == &kind_object && AS(ObjectVar, e)->content)
        e = AS(ObjectVar, e)->content;
    if (e->kind == &kind_exc && !AS(ExcVar, e)->partial)
        SET(tx, AS(ExcVar, e)->partial, true);
}

Status var_getattr(Tx *tx, Var *v, PyObject *name, Var **out)
{
    TRY(var_real(tx, &v));
    Status st = getattr(tx, v, name, out);
    if (st == ST_RAISE && exc_matches(tx, PyExc_AttributeError))
        tell_error(tx);
    return st;
}

Status var_getattr_opt(Tx *tx, Var *v, PyObject *name, Var **out)
{
    Status st = var_getattr(tx, v, name, out);
    if (st == ST_RAISE && exc_matches(tx, PyExc_AttributeError)) {
        exc_clear(tx);
        *out = NULL;
        return ST_OK;
    }
    return st;
}

/* As _PyObject_GetMethod: a plain function or method descriptor of the class stays unbound. */
Status var_getmethod(Tx *tx, Var *v, PyObject *name, Var **func, Var **self)
{
    TRY(var_real(tx, &v));
    *self = NULL;
    Var *own = NULL;
    if (var_is_instance(v))
        TRY(own_getattribute(tx, v, &own));
    if (!var_is_instance(v) || own != NULL)
        return var_getattr(tx, v, name, func);
    PyObject *descr;
    Var *found;
    TRY(find(tx, v, name, &descr, &found));
    if (found != NULL) {
        *func = found;
        return ST_OK;
    }
    if (descr &&
        (Py_IS_TYPE(descr, &PyFunction_Type) || Py_IS_TYPE(descr, &PyMethodDescr_Type) ||
         Py_IS_TYPE(descr, &PyWrapperDescr_Type))) {
        *self = v;
        return type_value(tx, v, name, descr, func);
    }
    return var_getattr(tx, v, name, func);
}

/* -- Stores -------------------------------------------------------------------------- */

static Status property_set(Tx *tx, Var *v, PyObject *descr, Var *dv, Var *value)
{
    Var *fn, *ignored;
    TRY(descr_part(tx, dv, descr, value ? str_fset : str_fdel, &fn));
    if (fn == tx->none)
        return no_accessor(tx, v, descr, dv, value ? "setter" : "deleter");
    return value ? var_call2(tx, fn, v, value, &ignored) : var_call1(tx, fn, v, &ignored);
}

static Status data_set(Tx *tx, Var *v, PyObject *name, PyObject *descr, Var *dv,
                       Var *value)
{
    Var *ignored, *args[2] = { v, value };
    if (Py_TYPE(descr) == &PyProperty_Type)
        return property_set(tx, v, descr, dv, value);
    if (Py_TYPE(descr) == &PyMemberDescr_Type)
        return member_set(tx, v, descr, name, value);
    if (Py_TYPE(descr) == &PyGetSetDescr_Type) {
        if (v->kind == &kind_exc)
            return exc_field_set(tx, v, descr, name, value);
        Status st = context_set(tx, v, descr, value);
        return st != ST_DECLINE ? st
                                : graph_break(tx, BRK_NO_SLOT, "store to '%U' of %s",
                                              name, v->type->tp_name);
    }
    const char *method = value ? "__set__" : "__delete__";
    TRY(var_call_special(tx, dv, method, args, value ? 2 : 1, &ignored));
    return ignored ? ST_OK : raise_type(tx, PyExc_AttributeError, "%s", method);
}

static Status attr_store(Tx *tx, Var *v, DictVar *d, PyObject *name, Var *value)
{
    if (value != NULL)
        return dict_set_str(tx, d, name, value);
    bool was;
    TRY(dict_del(tx, d, name, PyObject_Hash(name), &was));
    return was ? ST_OK : no_attribute(tx, v, name);
}

Status var_generic_setattr(Tx *tx, Var *v, PyObject *name, Var *value)
{
    PyObject *descr;
    DictVar *d;
    TRY(var_real(tx, &v));
    TRY(type_lookup(tx, v->type, name, &descr));
    if (descr && attr_is_data(descr)) {
        Var *dv;
        TRY(type_value(tx, v, name, descr, &dv));
        return data_set(tx, v, name, descr, dv, value);
    }
    TRY(attrs_of(tx, v, &d));
    if (d != NULL)
        return attr_store(tx, v, d, name, value);
    if (v->kind == &kind_opaque || v->kind == &kind_builtin || v->kind == &kind_class ||
        v->type->tp_dictoffset)
        return graph_break(tx, BRK_NO_SLOT, "store to '%U' of %s", name, v->type->tp_name);
    if (descr != NULL)
        return raise_type(tx, PyExc_AttributeError,
                          "'%.100s' object attribute '%U' is read-only", v->type->tp_name,
                          name);
    return raise_type(tx, PyExc_AttributeError, "'%.100s' object has no attribute '%U'",
                      v->type->tp_name, name);
}

Status var_setattr(Tx *tx, Var *v, PyObject *name, Var *value)
{
    PyObject *f, *which = value ? str___setattr__ : str___delattr__;
    TRY(var_real(tx, &v));
    if (v->kind->setattr)
        return v->kind->setattr(tx, v, name, value);
    TRY(type_lookup(tx, v->type, which, &f));
    if (var_is_instance(v) && !inherited(v, which, f)) {
        Var *arg, *own, *ignored;
        TRY(const_peek(tx, name, &arg));
        TRY(type_value(tx, v, which, f, &own));
        Args a = { .v = (Var *[]){ arg, value }, .n = value ? 2 : 1 };
        return var_call_unbound(tx, v, own, &a, &ignored);
    }
    return var_generic_setattr(tx, v, name, value);
}
