/*
 * var/places.c -- modules, cells, super() and objects that are not modelled.
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/made.h"
#include "var/consts.h"
#include "var/exc.h"
#include "var/names.h"
#include "var/type.h"

/* -- Modules -------------------------------------------------------------------- */

/* Instances of subclasses have what their class says first. */
Status module_find(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    DictVar *d;
    TRY(attrs_of(tx, self, &d));
    if (self->type != &PyModule_Type)
        TRY(type_lookup(tx, self->type, name, &descr));
    if (name == str___dict__ && (self->type == &PyModule_Type ||
                                 descr == cpy_type_lookup(&PyModule_Type, str___dict__))) {
        *out = &d->v;
        return ST_OK;
    }
    if (self->type != &PyModule_Type)
        return var_generic_getattr(tx, self, name, out);
    TRY(dict_get_str(tx, d, name, out));
    return *out ? ST_OK : var_generic_getattr(tx, self, name, out);
}

/* As module_getattro. */
Status module_load(Tx *tx, Var *self, PyObject *name, Var **out)
{
    DictVar *d;
    Var *hook, *arg;
    Status st = module_find(tx, self, name, out);
    if (st != ST_RAISE || !exc_matches(tx, PyExc_AttributeError))
        return st;
    exc_clear(tx);
    TRY(attrs_of(tx, self, &d));
    TRY(dict_get_str(tx, d, str___getattr__, &hook));
    if (hook != NULL) {
        TRY(const_peek(tx, name, &arg));
        return var_call1(tx, hook, arg, out);
    }
    PyObject *mod = tx_hold(tx, PyModule_GetNameObject(self->real));
    if (mod == NULL) {
        PyErr_Clear();
        return raise_type(tx, PyExc_AttributeError, "module has no attribute '%U'", name);
    }
    return raise_type(tx, PyExc_AttributeError, "module '%U' has no attribute '%U'", mod,
                      name);
}

static Status module_lookup(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *own;
    Var *fn, *arg;
    TRY(type_lookup(tx, self->type, str___getattribute__, &own));
    if (own == NULL || Py_IS_TYPE(own, &PyWrapperDescr_Type))
        return module_load(tx, self, name, out);
    TRY(type_value(tx, self, str___getattribute__, own, &fn));
    TRY(const_peek(tx, name, &arg));
    return var_call_unbound(tx, self, fn, &(Args){ .v = &arg, .n = 1 }, out);
}

static Status module_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    if (self->type == &PyModule_Type)
        return module_load(tx, self, name, out);
    return attr_hook(tx, self, name, module_lookup(tx, self, name, out), out);
}

static Status module_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    DictVar *d;
    PyObject *descr;
    if (Py_TYPE(self->real) != &PyModule_Type)
        return graph_break(tx, BRK_NO_SLOT, "store to a module subclass");
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr && attr_is_data(descr))
        return graph_break(tx, BRK_NO_SLOT, "store to '%U' of a module", name);
    TRY(attrs_of(tx, self, &d));
    return value ? dict_set_str(tx, d, name, value)
                 : graph_break(tx, BRK_NO_SLOT, "deleting a module attribute");
}

static Status yes_(Tx *tx, Var *self, bool *yes)
{
    *yes = true;
    return ST_OK;
}

static Status by_identity(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    *key = self->real;
    *h = _Py_HashPointer(self->real ? (void *)self->real : (void *)self);
    return ST_OK;
}

const VarKind kind_module = {
    .name = "module",
    .id = KIND_module,
    .getattr = module_getattr,
    .setattr = module_setattr,
    .truth = yes_,
    .hash = by_identity,
};

/* -- Cells ------------------------------------------------------------------------ */

Status cell_new(Tx *tx, Var *content, Var **out)
{
    CellVar *c;
    TRY(VAR_MAKE(tx, cell, CellVar, &PyCell_Type, &c));
    c->content = content;
    *out = &c->v;
    return ST_OK;
}

Status cell_get(Tx *tx, CellVar *c, Var **out)
{
    if (tx->foreign && c->v.real && c->v.dirty)
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "code that runs by itself reads what was written before it");
    *out = c->content;
    if (c->content != NULL || c->v.real == NULL || c->v.dirty)
        return ST_OK;
    PyObject *o = PyCell_GET(c->v.real);
    Source *s = source_get(&tx->sources, SRC_CELL, c->v.src, NULL, 0);
    TRY_PTR(s);
    if (o == NULL)
        return guard_bound(&tx->guards, s, false);
    TRY(guard_bound(&tx->guards, s, true));
    TRY(lazy_new(tx, o, s, out));
    SET(tx, c->content, *out);
    return ST_OK;
}

Status cell_set(Tx *tx, CellVar *c, Var *value)
{
    Var *old = c->content;
    if (old == NULL && c->v.real && !c->v.dirty) {
        Source *src = source_get(&tx->sources, SRC_CELL, c->v.src, NULL, 0);
        TRY_PTR(src);
        TRY(drop_place(tx, PyCell_GET(c->v.real), src));
    } else
        TRY(drop(tx, old));
    TRY(var_touch(tx, &c->v));
    SET(tx, c->content, value);
    return ST_OK;
}

static Status cell_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    if (name != str_cell_contents)
        return var_generic_getattr(tx, self, name, out);
    TRY(cell_get(tx, AS(CellVar, self), out));
    return *out ? ST_OK : raise_type(tx, PyExc_ValueError, "Cell is empty");
}

static Status cell_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    return name == str_cell_contents ? cell_set(tx, AS(CellVar, self), value)
                                     : var_generic_setattr(tx, self, name, value);
}

static Status cell_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    if (other->kind == &kind_cell)
        return graph_break(tx, BRK_NO_SLOT, "comparison of cells");
    *out = tx->notimpl;
    return ST_OK;
}

const VarKind kind_cell = {
    .name = "cell",
    .id = KIND_cell,
    .getattr = cell_getattr,
    .setattr = cell_setattr,
    .truth = yes_,
    .compare = cell_compare,
    .hash = by_identity,
};

/* -- super() ------------------------------------------------------------------------ */

static Status super_find(Tx *tx, SuperVar *s, PyObject *name, PyTypeObject **where,
                         PyObject **value)
{
    PyObject *mro = s->start->tp_mro;
    Py_ssize_t i = 0, n = PyTuple_GET_SIZE(mro);
    while (i < n && PyTuple_GET_ITEM(mro, i) != s->cls->real)
        i++;
    *value = NULL;
    if (class_made(tx, (PyObject *)s->start) == NULL)
        TRY(guard_mro(&tx->guards, s->start));
    for (i++; i < n && *value == NULL; i++) {
        PyTypeObject *t = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *ignored;
        if (class_made(tx, (PyObject *)t) == NULL)
            TRY(type_lookup(tx, t, name,
                            &ignored)); /* guards what it gives for the name */
        *where = t;
        TRY(class_entry(tx, t, name, value));
    }
    return ST_OK;
}

/* No class behind it has the attribute: that of the super object itself. */
static Status super_own(Tx *tx, SuperVar *s, PyObject *name, Var **out)
{
    *out = name == str___thisclass__ ? s->cls : name == str___self__ ? s->self : NULL;
    if (*out != NULL)
        return ST_OK;
    if (name == str___self_class__)
        return wrap_pinned(tx, (PyObject *)s->start, NULL, out);
    return var_generic_getattr(tx, &s->v, name, out);
}

static Status super_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    SuperVar *s = AS(SuperVar, self);
    PyTypeObject *where = NULL;
    PyObject *value;
    Var *cls, *dv;
    if (s->self == NULL || name == str___class__)
        return var_generic_getattr(tx, self, name, out);
    TRY(super_find(tx, s, name, &where, &value));
    if (value == NULL)
        return super_own(tx, s, name, out);
    TRY(wrap_pinned(tx, (PyObject *)where, NULL, &cls));
    Source *src = NULL;
    if (cls->src) {
        src = source_get(&tx->sources, SRC_CLASSVAR, cls->src, name, 0);
        TRY_PTR(src);
    }
    TRY(wrap_classvar(tx, value, src, &dv));
    return attr_bind(tx, s->self, s->start, name, value, dv, out);
}

const VarKind kind_super = {
    .name = "super",
    .id = KIND_super,
    .getattr = super_getattr,
    .truth = yes_,
};

/* -- Objects that are not modelled ------------------------------------------------------ */

/* Their attributes stay: what the interpreter says of itself (sys.float_info …), annotations (int | None, list[int]). */
static bool is_fact(PyTypeObject *t)
{
    static const char *const names[] = { "sys.float_info",   "sys.int_info",
                                         "sys.hash_info",    "sys.thread_info",
                                         "sys.version_info", "sys.flags",
                                         "types.UnionType",  "types.GenericAlias" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(t->tp_name, names[i]) == 0)
            return true;
    return false;
}

static Status fact(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *o = tx_hold(tx, PyObject_GetAttr(self->real, name));
    if (o == NULL)
        return raise_now(tx);
    if (self->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, self->src, self->real));
    return wrap_pinned(tx, o, NULL, out);
}

static Status opaque_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr;
    if (self->real && PyWeakref_CheckProxy(self->real))
        return graph_break(tx, BRK_WEAK, "%s", "a proxy of what is gone");
    if (name == str___class__)
        return wrap_pinned(tx, (PyObject *)self->type, NULL, out);
    TRY(type_lookup(tx, self->type, name, &descr));
    if (descr && Py_TYPE(descr) == &PyMethodDescr_Type) /* its handler decides */
        return builtin_new(tx, descr, self, out);
    if (descr && Py_TYPE(descr) == &PyStaticMethod_Type &&
        self->type->tp_dictoffset == 0) {
        PyObject *f = tx_hold(tx, PyObject_GetAttrString(descr, "__func__"));
        TRY_PTR(f);
        return wrap_pinned(tx, f, NULL, out);
    }
    if (descr && self->real && self->src && is_fact(self->type) &&
        (Py_IS_TYPE(descr, &PyMemberDescr_Type) || Py_IS_TYPE(descr, &PyGetSetDescr_Type)))
        return fact(tx, self, name, out);
    if (descr == NULL && self->type->tp_getattro == PyObject_GenericGetAttr &&
        self->type->tp_dictoffset == 0)
        return raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                          self->type->tp_name, name);
    Status st = exc_existing_field(tx, self, descr, name, out);
    return st != ST_DECLINE ? st
                            : graph_break(tx, BRK_UNKNOWN_TYPE, "attribute '%U' of %s",
                                          name, self->type->tp_name);
}

static Status opaque_repr(Tx *tx, Var *self, bool str, Var **out)
{
    if (self->real && PyExceptionInstance_Check(self->real))
        return exc_existing_text(tx, self, str, out);
    return graph_break(tx, BRK_NO_SLOT, "%s of %s", str ? "str()" : "repr()",
                       self->type->tp_name);
}

static Status opaque_truth(Tx *tx, Var *self, bool *yes)
{
    PyNumberMethods *nb = self->type->tp_as_number;
    if ((nb && nb->nb_bool) ||
        (self->type->tp_as_sequence && self->type->tp_as_sequence->sq_length) ||
        (self->type->tp_as_mapping && self->type->tp_as_mapping->mp_length))
        return graph_break(tx, BRK_UNKNOWN_TYPE, "truth of %s", self->type->tp_name);
    *yes = true;
    return ST_OK;
}

const VarKind kind_opaque = {
    .name = "object of a C type",
    .id = KIND_opaque,
    .getattr = opaque_getattr,
    .repr = opaque_repr,
    .truth = opaque_truth,
};
