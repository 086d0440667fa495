/*
 * var/func.c -- Python functions, existing or made by the trace.
 *
 * An existing one is guarded by its code; defaults, closure and globals are read through it, lazily, and guard
 * themselves (rule 6).
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/call.h"
#include "var/func.h"
#include "var/made.h"
#include "var/names.h"
#include "var/wrap.h"

/* -- Parts of existing functions -------------------------------------------------- */

static Status globals_of(Tx *tx, PyFunctionObject *f, Source *src, bool pinned, Var **out)
{
    Source *g = source_get(&tx->sources, SRC_GLOBALS, src, NULL, 0);
    void *known;
    TRY_PTR(g);
    if (ptrmap_get(&tx->wrapped, f->func_globals, &known)) {
        *out = known;
        if (pinned || g == (*out)->src)
            return ST_OK;
        return guard_add(&tx->guards,
                         (Guard){ .kind = GUARD_ALIAS, .src = g, .other = (*out)->src });
    }
    DictVar *d;
    TRY(VAR_MAKE(tx, dict, DictVar, &PyDict_Type, &d));
    d->v.real = tx_keep(tx, f->func_globals);
    d->v.src = g;
    *out = &d->v;
    return ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, f->func_globals, d)
               ? ST_OK
               : ST_ERROR;
}

static Status closure_of(Tx *tx, PyFunctionObject *f, Source *src, bool pinned, Var ***out)
{
    Py_ssize_t n = f->func_closure ? PyTuple_GET_SIZE(f->func_closure) : 0;
    *out = NULL;
    if (n == 0)
        return ST_OK;
    Var **cells = tx_alloc(tx, (size_t)n * sizeof *cells);
    TRY_PTR(cells);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *cell = PyTuple_GET_ITEM(f->func_closure, i);
        Source *s = source_get(&tx->sources, SRC_CLOSURE, src, NULL, i);
        TRY_PTR(s);
        TRY(pinned ? wrap_pinned(tx, cell, s, &cells[i]) : wrap(tx, cell, s, &cells[i]));
    }
    *out = cells;
    return ST_OK;
}

Status func_wrap(Tx *tx, PyObject *o, Source *src, bool pinned, Var **out)
{
    PyFunctionObject *f = (PyFunctionObject *)o;
    FuncVar *fv;
    TRY(guard_obj(&tx->guards, GUARD_CODE, src, f->func_code));
    TRY(VAR_MAKE(tx, func, FuncVar, &PyFunction_Type, &fv));
    fv->v.real = o;
    fv->v.src = src;
    fv->co = (PyCodeObject *)tx_keep(tx, f->func_code);
    TRY_PTR(fv->co);
    fv->code = code_of(fv->co);
    TRY_PTR(fv->code);
    TRY(globals_of(tx, f, src, pinned, &fv->globals));
    TRY(closure_of(tx, f, src, pinned, &fv->closure));
    *out = &fv->v;
    return ST_OK;
}

Status func_default(Tx *tx, FuncVar *f, Py_ssize_t i, Var **out)
{
    *out = NULL;
    if (f->v.real == NULL) {
        if (f->defaults && i < f->defaults->n)
            *out = f->defaults->items[i];
        return ST_OK;
    }
    PyObject *d = ((PyFunctionObject *)f->v.real)->func_defaults;
    Source *s = source_get(&tx->sources, SRC_DEFAULT, f->v.src, NULL, i);
    TRY_PTR(s);
    return lazy_new(tx, PyTuple_GET_ITEM(d, i), s, out);
}

Status func_ndefaults(Tx *tx, FuncVar *f, Py_ssize_t *n)
{
    if (f->v.real == NULL) {
        *n = f->defaults ? f->defaults->n : 0;
        return ST_OK;
    }
    PyObject *d = ((PyFunctionObject *)f->v.real)->func_defaults;
    *n = d ? PyTuple_GET_SIZE(d) : 0;
    return guard_num(&tx->guards, GUARD_NDEFAULTS, f->v.src, *n);
}

Status func_kwdefault(Tx *tx, FuncVar *f, PyObject *name, Var **out)
{
    *out = NULL;
    if (f->v.real == NULL)
        return f->kwdefaults ? dict_get_str(tx, f->kwdefaults, name, out) : ST_OK;
    PyObject *d = ((PyFunctionObject *)f->v.real)->func_kwdefaults;
    PyObject *o = d ? PyDict_GetItem(d, name) : NULL;
    Source *s = source_get(&tx->sources, SRC_KWDEFAULT, f->v.src, name, 0);
    TRY_PTR(s);
    TRY(guard_bound(&tx->guards, s, o != NULL));
    return o ? lazy_new(tx, o, s, out) : ST_OK;
}

/* -- Attributes ---------------------------------------------------------------------- */

static Status existing_part(Tx *tx, FuncVar *f, PyObject *name, Var **out)
{
    PyObject *o = PyObject_GetAttr(f->v.real, name);
    if (o == NULL)
        return raise_now(tx);
    TRY_PTR(tx_hold(tx, o));
    if (name == str___globals__) {
        *out = f->globals;
        return ST_OK;
    }
    if (name == str___code__)
        return const_peek(tx, o, out);
    Source *s = source_get(&tx->sources, SRC_GETSET, f->v.src, name, 0);
    TRY_PTR(s);
    return lazy_new(tx, o, s, out);
}

static Status new_part(Tx *tx, FuncVar *f, PyObject *name, Var **out)
{
    if (name == str___name__)
        *out = f->name;
    else if (name == str___qualname__)
        *out = f->qualname;
    else if (name == str___globals__)
        *out = f->globals;
    else if (name == str___code__)
        return const_peek(tx, (PyObject *)f->co, out);
    else if (name == str___defaults__)
        *out = f->defaults ? &f->defaults->v : tx->none;
    else if (name == str___kwdefaults__)
        *out = f->kwdefaults ? &f->kwdefaults->v : tx->none;
    else if (name == str___annotations__)
        *out = f->annotations;
    else if (name == str___closure__)
        return f->code->nfree ? tuple_new(tx, f->closure, f->code->nfree, out)
                              : const_peek(tx, Py_None, out);
    else if (name == str___class__)
        return wrap_pinned(tx, (PyObject *)&PyFunction_Type, NULL, out);
    else if (name == str___doc__ && f->doc)
        *out = f->doc;
    else if (name == str___module__ && f->module)
        *out = f->module;
    else if (name == str___doc__) {
        PyObject *consts = f->co->co_consts;
        PyObject *doc = PyTuple_GET_SIZE(consts) ? PyTuple_GET_ITEM(consts, 0) : Py_None;
        return const_peek(tx, PyUnicode_Check(doc) ? doc : Py_None, out);
    } else if (name == str___module__)
        return dict_get_str(tx, AS(DictVar, f->globals), str___name__, out);
    else
        *out = NULL;
    return *out ? ST_OK
                : graph_break(tx, BRK_NO_SLOT, "attribute '%U' of a new function", name);
}

/* Stores to C fields of an existing function wait among its attributes, which its __dict__ must not show. */
static bool fields_written(DictVar *d)
{
    PyObject *const names[] = { str___name__, str___qualname__, str___module__,
                                str___doc__ };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (d->v.real && keymap_find(&d->writes, names[i], PyObject_Hash(names[i])))
            return true;
    return false;
}

static Status func_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    FuncVar *f = AS(FuncVar, self);
    PyObject *descr = NULL;
    DictVar *d;
    TRY(attrs_of(tx, self, &d));
    TRY(dict_get_str(tx, d, name,
                     out)); /* stored names win over what the C getters would give */
    if (*out != NULL)
        return ST_OK;
    TRY(type_lookup(tx, &PyFunction_Type, name, &descr));
    if (descr == NULL ||
        (Py_TYPE(descr) != &PyGetSetDescr_Type && Py_TYPE(descr) != &PyMemberDescr_Type))
        return var_generic_getattr(tx, self, name, out);
    if (name == str___dict__) {
        *out = &d->v;
        return fields_written(d)
                   ? graph_break(tx, BRK_NO_SLOT, "%s",
                                 "__dict__ of a function whose name was changed")
                   : ST_OK;
    }
    return self->real ? existing_part(tx, f, name, out) : new_part(tx, f, name, out);
}

/* f.__defaults__ = …, f.__kwdefaults__ = … of a new function. */
static Status store_defaults(Tx *tx, FuncVar *f, PyObject *name, Var *value)
{
    bool positional = name == str___defaults__;
    Var **items;
    Py_ssize_t n;
    TRY(var_real(tx, &value));
    if (value != tx->none &&
        !PyType_HasFeature(value->type, positional ? Py_TPFLAGS_TUPLE_SUBCLASS
                                                   : Py_TPFLAGS_DICT_SUBCLASS))
        return raise_type(tx, PyExc_TypeError, "%U must be set to a %s object", name,
                          positional ? "tuple" : "dict");
    if (value != tx->none && value->type != (positional ? &PyTuple_Type : &PyDict_Type))
        return graph_break(tx, BRK_NO_SLOT, "'%U' of type %s", name, value->type->tp_name);
    if (value == tx->none || !positional) {
        if (positional)
            SET(tx, f->defaults, NULL);
        else
            SET(tx, f->kwdefaults, value == tx->none ? NULL : AS(DictVar, value));
        return ST_OK;
    }
    TupleVar *t;
    TRY(var_unpack(tx, value, &items, &n));
    TRY(VAR_MAKE(tx, tuple, TupleVar, &PyTuple_Type, &t));
    t->n = n;
    t->items = items;
    SET(tx, f->defaults, t);
    return ST_OK;
}

/* Where a new function keeps what one of its C fields was set to; NULL: no such field. */
static Var **new_field(FuncVar *f, PyObject *name)
{
    return name == str___name__          ? &f->name
           : name == str___qualname__    ? &f->qualname
           : name == str___module__      ? &f->module
           : name == str___doc__         ? &f->doc
           : name == str___annotations__ ? &f->annotations
                                         : NULL;
}

static Status store_field(Tx *tx, FuncVar *f, PyObject *name, Var *value)
{
    Var **field = new_field(f, name);
    bool dict = field == &f->annotations;
    if (value == NULL)
        return graph_break(tx, BRK_NO_SLOT, "deleting '%U' of a function", name);
    TRY(var_real(tx, &value));
    if (dict && value == tx->none)
        return graph_break(tx, BRK_NO_SLOT, "deleting '%U' of a function", name);
    if (dict && !PyType_HasFeature(value->type, Py_TPFLAGS_DICT_SUBCLASS))
        return raise_type(tx, PyExc_TypeError, "%U must be set to a dict object", name);
    if (value->type != (dict ? &PyDict_Type : &PyUnicode_Type) &&
        (dict || field == &f->name || field == &f->qualname))
        return graph_break(tx, BRK_NO_SLOT, "'%U' of type %s", name, value->type->tp_name);
    SET(tx, *field, value);
    return ST_OK;
}

/* What the C fields of a function say to a store. */
static Status check_store(Tx *tx, FuncVar *f, PyObject *name, Var *value)
{
    if (name == str___globals__ || name == str___closure__ || name == str___builtins__)
        return raise_type(tx, PyExc_AttributeError, "readonly attribute");
    if (name == str___code__ || name == str___dict__ || name == str___class__ ||
        (f->v.real && (name == str___defaults__ || name == str___kwdefaults__ ||
                       name == str___annotations__)))
        return graph_break(tx, BRK_NO_SLOT, "store to '%U' of a function", name);
    if (name != str___name__ && name != str___qualname__)
        return ST_OK;
    if (value)
        TRY(var_real(tx, &value));
    if (value && PyType_HasFeature(value->type, Py_TPFLAGS_UNICODE_SUBCLASS))
        return ST_OK;
    return raise_type(tx, PyExc_TypeError, "%U must be set to a string object", name);
}

/* The C setters' names: kept with the other attributes, which replay with setattr. */
static Status func_setattr(Tx *tx, Var *self, PyObject *name, Var *value)
{
    FuncVar *f = AS(FuncVar, self);
    DictVar *d;
    TRY(check_store(tx, f, name, value));
    if (!self->real && (name == str___defaults__ || name == str___kwdefaults__))
        return store_defaults(tx, f, name, value ? value : tx->none);
    if (!self->real && new_field(f, name))
        return store_field(tx, f, name, value);
    TRY(attrs_of(tx, self, &d));
    return value ? dict_set_str(tx, d, name, value)
                 : graph_break(tx, BRK_NO_SLOT, "deleting '%U' of a function", name);
}

/* -- Calls and the rest ------------------------------------------------------------------ */

static Status func_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    Frame *f;
    TRY(frame_enter(tx, AS(FuncVar, self), a, RET_NATIVE, &f));
    if (f == NULL) { /* a generator: nothing runs yet */
        *out = tx->result;
        return ST_OK;
    }
    return trace_run(tx, f, out);
}

static Status always_true(Tx *tx, Var *self, bool *yes)
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

/* -- The kinds ------------------------------------------------------------------------------ */

const VarKind kind_func = {
    .name = "function",
    .id = KIND_func,
    .getattr = func_getattr,
    .setattr = func_setattr,
    .call = func_call,
    .truth = always_true,
    .hash = by_identity,
};

/* -- Bound methods ---------------------------------------------------------------------------- */

Status method_new(Tx *tx, Var *func, Var *self, Var **out)
{
    MethodVar *m;
    TRY(VAR_MAKE(tx, method, MethodVar, &PyMethod_Type, &m));
    m->func = func;
    m->self = self;
    *out = &m->v;
    return ST_OK;
}

static Status method_call(Tx *tx, Var *self, const Args *a, Var **out)
{
    MethodVar *m = AS(MethodVar, self);
    Args with_self;
    TRY(args_prepend(tx, m->self, a, &with_self));
    return var_call(tx, m->func, &with_self, out);
}

/* What the type of a C callable has under the name: its methods are bound to it in turn. *out NULL: nothing. */
static Status of_type(Tx *tx, Var *self, PyObject *name, Var **out)
{
    PyObject *descr = cpy_type_lookup(self->type, name);
    *out = NULL;
    if (descr == NULL)
        return ST_OK;
    if (name == str___class__)
        return wrap_pinned(tx, (PyObject *)self->type, NULL, out);
    if (Py_IS_TYPE(descr, &PyWrapperDescr_Type) || Py_IS_TYPE(descr, &PyMethodDescr_Type))
        return builtin_new(tx, descr, self, out);
    return graph_break(tx, BRK_NO_SLOT, "attribute '%U' of %s", name, self->type->tp_name);
}

static Status method_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    MethodVar *m = AS(MethodVar, self);
    if (name == str___func__ || name == str___self__) {
        *out = name == str___func__ ? m->func : m->self;
        return ST_OK;
    }
    if (name != str___doc__) {
        TRY(of_type(tx, self, name, out));
        if (*out != NULL)
            return ST_OK;
    }
    return var_getattr(tx, m->func, name, out);
}

static Status method_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    bool same_self = false, same_func = false;
    *out = tx->notimpl;
    if ((op != Py_EQ && op != Py_NE) || other->kind != &kind_method)
        return ST_OK;
    TRY(var_is(tx, AS(MethodVar, self)->self, AS(MethodVar, other)->self, &same_self));
    TRY(var_is(tx, AS(MethodVar, self)->func, AS(MethodVar, other)->func, &same_func));
    *out = tx_bool(tx, (same_self && same_func) == (op == Py_EQ));
    return ST_OK;
}

const VarKind kind_method = {
    .name = "bound method",
    .id = KIND_method,
    .getattr = method_getattr,
    .call = method_call,
    .truth = always_true,
    .compare = method_compare,
};

/* -- C functions ------------------------------------------------------------------------------ */

Status builtin_new(Tx *tx, PyObject *callable, Var *self, Var **out)
{
    BuiltinVar *b;
    PyTypeObject *t = self == NULL                                ? Py_TYPE(callable)
                      : Py_TYPE(callable) == &PyWrapperDescr_Type ? &_PyMethodWrapper_Type
                                                                  : &PyCFunction_Type;
    TRY(VAR_MAKE(tx, builtin, BuiltinVar, t, &b));
    b->v.real = tx_keep(tx, callable);
    TRY_PTR(b->v.real);
    b->self = self;
    *out = &b->v;
    return ST_OK;
}

/* Of a bound C method the module is None, and its qualified name begins with the class of what it is bound to. */
static Status bound_text(Tx *tx, BuiltinVar *b, PyObject *name, Var **out)
{
    if (name == str___module__) {
        *out = tx->none;
        return ST_OK;
    }
    PyTypeObject *t = b->self->kind == &kind_class ? (PyTypeObject *)b->self->real : NULL;
    if (t == NULL)
        TRY(var_type_of(tx, b->self, &t));
    PyObject *cls = tx_hold(tx, PyType_GetQualName(t));
    PyObject *own = tx_hold(tx, PyObject_GetAttr(b->v.real, str___name__));
    if (cls == NULL || own == NULL)
        return ST_ERROR;
    return const_new(tx, PyUnicode_FromFormat("%U.%U", cls, own), out);
}

/* Texts that C functions have of themselves, and the class of a descriptor. */
static bool is_own_text(PyObject *name)
{
    return name == str___name__ || name == str___qualname__ || name == str___doc__ ||
           name == str___module__ || name == str___objclass__ ||
           name == str___text_signature__;
}

static Status builtin_getattr(Tx *tx, Var *self, PyObject *name, Var **out)
{
    BuiltinVar *b = AS(BuiltinVar, self);
    if (name == str___self__ && b->self) {
        *out = b->self;
        return ST_OK;
    }
    bool method = b->self && self->type == &PyCFunction_Type;
    if (method && (name == str___module__ || name == str___qualname__))
        return bound_text(tx, b, name, out);
    if (is_own_text(name) && (!b->self || cpy_type_lookup(self->type, name))) {
        PyObject *o = tx_hold(tx, PyObject_GetAttr(self->real, name));
        return o ? wrap_pinned(tx, o, NULL, out) : raise_now(tx);
    }
    TRY(of_type(tx, self, name, out));
    return *out
               ? ST_OK
               : raise_type(tx, PyExc_AttributeError, "'%s' object has no attribute '%U'",
                            self->type->tp_name, name);
}

static Status builtin_call_(Tx *tx, Var *self, const Args *a, Var **out)
{
    return builtin_call(tx, AS(BuiltinVar, self), a, out);
}

static bool is_method(PyObject *descr)
{
    return Py_IS_TYPE(descr, &PyMethodDescr_Type) ||
           Py_IS_TYPE(descr, &PyClassMethodDescr_Type);
}

/* The C function behind it, if it is bound to something; NULL: it is not, or it is no such function. */
static const void *bound_function(const BuiltinVar *b)
{
    PyObject *o = builtin_callable(b);
    if (b->self || Py_IS_TYPE(o, &_PyMethodWrapper_Type))
        return is_method(o) ? (const void *)((PyMethodDescrObject *)o)->d_method->ml_meth
                            : (const void *)o;
    if (!PyCFunction_Check(o))
        return NULL;
    PyCFunctionObject *f = (PyCFunctionObject *)o;
    return f->m_self && !PyModule_Check(f->m_self) ? (const void *)f->m_ml->ml_meth
                                                   : NULL;
}

/* One made by the trace and one that existed, of one function. */
static Status bound_alike(Tx *tx, BuiltinVar *a, BuiltinVar *b, bool *same)
{
    Var *self = a->self;
    TRY(var_real(tx, &self));
    bool cls = self->kind == &kind_class && PyCFunction_Check(b->v.real);
    if (!cls && self->real)
        return graph_break(tx, BRK_IDENTITY, "%s", "what a C function is bound to");
    *same = cls && !is_made_class(self) &&
            self->real == ((PyCFunctionObject *)b->v.real)->m_self;
    return ST_OK;
}

/* Bound to one object, and of one function: equal, though each lookup makes another one. */
static Status builtin_compare(Tx *tx, Var *self, Var *other, int op, Var **out)
{
    *out = tx->notimpl;
    if ((op != Py_EQ && op != Py_NE) || other->kind != &kind_builtin)
        return ST_OK;
    BuiltinVar *a = AS(BuiltinVar, self), *b = AS(BuiltinVar, other);
    const void *f = bound_function(a), *g = bound_function(b);
    bool same = false, wrappers = Py_IS_TYPE(self->real, &_PyMethodWrapper_Type) ||
                                  Py_IS_TYPE(other->real, &_PyMethodWrapper_Type);
    if (f == NULL || g == NULL || (f != g && !wrappers))
        return ST_OK;
    if (a->self == NULL &&
        b->self == NULL) { /* C compares: what they are bound to by identity */
        int r = PyObject_RichCompareBool(self->real, other->real, Py_EQ);
        if (r < 0)
            return raise_now(tx);
        same = r;
    } else if (wrappers)
        return graph_break(tx, BRK_IDENTITY, "%s", "what a C function is bound to");
    else if (a->self && b->self)
        TRY(var_is(tx, a->self, b->self, &same));
    else
        TRY(a->self ? bound_alike(tx, a, b, &same) : bound_alike(tx, b, a, &same));
    *out = tx_bool(tx, same == (op == Py_EQ));
    return ST_OK;
}

/* A class has one __new__, which lookups give as it is. */
static bool is_new(const Var *v)
{
    return PyCFunction_Check(v->real) &&
           strcmp(((PyCFunctionObject *)v->real)->m_ml->ml_name, "__new__") == 0;
}

static Status builtin_hash(Tx *tx, Var *self, PyObject **key, Py_hash_t *h)
{
    if (bound_function(AS(BuiltinVar, self)) && !is_new(self))
        return graph_break(tx, BRK_DYN_KEY, "%s", "a bound C function");
    TRY(by_identity(tx, self, key, h));
    if (*key)
        *h = PyObject_Hash(*key); /* which is not that of the address */
    return ST_OK;
}

const VarKind kind_builtin = {
    .name = "builtin",
    .id = KIND_builtin,
    .getattr = builtin_getattr,
    .call = builtin_call_,
    .truth = always_true,
    .compare = builtin_compare,
    .hash = builtin_hash,
};
