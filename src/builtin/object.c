/*
 * builtin/object.c -- what every class inherits from object and type, called by name: object.__new__, __setattr__ …
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/call.h"
#include "var/namespace.h"
#include "var/type.h"
#include "var/wrap.h"

static Status none(Tx *tx, Var **out)
{
    *out = tx_none(tx);
    return ST_OK;
}

/* The class behind an argument; NULL: it is none, or one made by the trace. */
static Status class_arg(Tx *tx, Var *v, PyTypeObject **out)
{
    TRY(var_real(tx, &v));
    *out = v->kind == &kind_class && v->real ? (PyTypeObject *)v->real : NULL;
    return ST_OK;
}

/* The entry of the class's MRO under a special name, guarded. */
static Status special_of(Tx *tx, PyTypeObject *t, const char *name, PyObject **out)
{
    PyObject *s = tx_hold(tx, PyUnicode_InternFromString(name));
    TRY_PTR(s);
    return type_lookup(tx, t, s, out);
}

/* Is the special method the one that object itself has? */
static Status inherited(Tx *tx, PyTypeObject *t, const char *name, bool *yes)
{
    PyObject *f;
    TRY(special_of(tx, t, name, &f));
    *yes = f == paths_class_entry(&PyBaseObject_Type, name);
    return ST_OK;
}

/* -- Making ----------------------------------------------------------------- */

/* As object_new's check of arguments nobody takes. */
static Status new_excess(Tx *tx, PyTypeObject *t)
{
    if (t->tp_new != PyBaseObject_Type.tp_new)
        return raise_type(
            tx, PyExc_TypeError,
            "object.__new__() takes exactly one argument (the type to instantiate)");
    if (t->tp_init == PyBaseObject_Type.tp_init)
        return raise_type(tx, PyExc_TypeError, "%.200s() takes no arguments", t->tp_name);
    return ST_OK;
}

static Status object_make(Tx *tx, PyTypeObject *t, Var **out)
{
    PyObject *finalizer;
    TRY(object_concrete(tx, t));
    TRY(special_of(tx, t, "__del__", &finalizer));
    if (finalizer != NULL)
        return graph_break(tx, BRK_FINALIZER, "%s", t->tp_name);
    return object_new(tx, t, out);
}

static Status object_new_(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    TRY(class_arg(tx, a->v[0], &t));
    if (t == NULL)
        return ST_DECLINE;
    PyTypeObject *base = wrap_layout(t);
    if (base && base->tp_new != PyBaseObject_Type.tp_new) {
        PyTypeObject *c = t; /* past what Python gave a __new__ of its own */
        while (c != base && c->tp_new != base->tp_new)
            c = c->tp_base;
        return raise_type(tx, PyExc_TypeError,
                          "object.__new__(%s) is not safe, use %s.__new__()", t->tp_name,
                          c->tp_name);
    }
    if (a->n + a->nkw > 1)
        TRY(new_excess(tx, t));
    return object_make(tx, t, out);
}

static Status object_call(Tx *tx, const Args *a, Var **out)
{
    return object_new(tx, &PyBaseObject_Type, out);
}

/* As object_init. */
static Status object_init(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, a->v[0], &t));
    if (a->n + a->nkw > 1) {
        if (t->tp_init != PyBaseObject_Type.tp_init)
            return raise_type(tx, PyExc_TypeError,
                              "object.__init__() takes exactly one argument (the "
                              "instance to initialize)");
        if (t->tp_new == PyBaseObject_Type.tp_new)
            return raise_type(tx, PyExc_TypeError,
                              "%.200s.__init__() takes exactly one argument (the "
                              "instance to initialize)",
                              t->tp_name);
    }
    return none(tx, out);
}

/* type.__call__(cls, …): what a metaclass gets from super().__call__(). type(x) is a row of its own. */
static Status type_call(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0];
    Args rest = args_tail(a, 1);
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class || cls->real == NULL ||
        cls->real == (PyObject *)&PyType_Type)
        return ST_DECLINE;
    return class_instance(tx, cls, &rest, out);
}

static Status returns_none(Tx *tx, const Args *a, Var **out)
{
    return none(tx, out);
}

/* -- Attributes ------------------------------------------------------------- */

static Status object_getattribute(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    Var *v = a->v[0];
    TRY(arg_name(tx, a->v[1], &name));
    TRY(var_real(tx, &v));
    if (v->kind == &kind_class) /* looks into the class's own dictionary only */
        return graph_break(tx, BRK_NO_SLOT, "%s", "object.__getattribute__() of a class");
    if (v->kind == &kind_module)
        return module_find(tx, v, name, out);
    if (v->kind->getattr) /* kinds with a model of their own have it below __getattribute__ */
        return v->kind->getattr(tx, v, name, out);
    return var_generic_getattr(tx, v, name, out);
}

/* The class and the name that a method of type is called with. */
static Status class_and_name(Tx *tx, const Args *a, Var **cls, PyObject **name)
{
    *cls = a->v[0];
    TRY(var_real(tx, cls));
    if ((*cls)->kind != &kind_class || (*cls)->real == NULL)
        return ST_DECLINE;
    return arg_name(tx, a->v[1], name);
}

static Status type_getattribute(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    Var *v;
    TRY(class_and_name(tx, a, &v, &name));
    return class_load(tx, v, name, out);
}

static Status module_getattribute(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    if (v->kind != &kind_module)
        return ST_DECLINE;
    TRY(arg_name(tx, a->v[1], &name));
    return module_load(tx, v, name, out);
}

/* As hackcheck: classes have a C store of their own, which object's must not jump over. */
static Status store_into(Tx *tx, Var *v, PyObject *name, Var *value)
{
    if (v->kind == &kind_class)
        return raise_type(tx, PyExc_TypeError, "can't apply this %s to %s object",
                          value ? "__setattr__" : "__delattr__", v->type->tp_name);
    return v->kind->setattr ? v->kind->setattr(tx, v, name, value)
                            : var_generic_setattr(tx, v, name, value);
}

static Status object_setattr(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    Var *v = a->v[0];
    TRY(arg_name(tx, a->v[1], &name));
    TRY(var_real(tx, &v));
    TRY(store_into(tx, v, name, a->n > 2 ? a->v[2] : NULL));
    return none(tx, out);
}

static Status type_setattr(Tx *tx, const Args *a, Var **out)
{
    PyObject *name;
    Var *v;
    TRY(class_and_name(tx, a, &v, &name));
    TRY(class_store(tx, v, name, a->n > 2 ? a->v[2] : NULL));
    return none(tx, out);
}

/* -- Comparison and text ------------------------------------------------------ */

static Status object_eq(Tx *tx, const Args *a, Var **out)
{
    bool same;
    TRY(var_is(tx, a->v[0], a->v[1], &same));
    *out = same ? tx_bool(tx, true) : tx_notimpl(tx);
    return ST_OK;
}

/* As object_richcompare for !=: the inverse of the class's own ==. */
static Status object_ne(Tx *tx, const Args *a, Var **out)
{
    Var *r;
    TRY(var_call_special(tx, a->v[0], "__eq__", &a->v[1], 1, &r));
    if (r)
        TRY(var_real(tx, &r));
    if (r == NULL || r == tx_notimpl(tx)) {
        *out = tx_notimpl(tx);
        return ST_OK;
    }
    return var_not(tx, r, out);
}

static Status not_implemented(Tx *tx, const Args *a, Var **out)
{
    *out = tx_notimpl(tx);
    return ST_OK;
}

static Status object_str(Tx *tx, const Args *a, Var **out)
{
    return var_repr(tx, a->v[0], out);
}

static Status object_repr(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    TRY(var_type_of(tx, a->v[0], &t));
    return graph_break(tx, BRK_IDENTITY, "repr of %s shows its address", t->tp_name);
}

/* As object___format___impl. */
static Status object_format(Tx *tx, const Args *a, Var **out)
{
    PyObject *spec;
    PyTypeObject *t;
    TRY(var_const(tx, a->v[1], &spec));
    TRY(var_type_of(tx, a->v[0], &t));
    if (spec == NULL || !PyUnicode_Check(spec))
        return ST_DECLINE;
    if (PyUnicode_GET_LENGTH(spec) > 0)
        return raise_type(tx, PyExc_TypeError,
                          "unsupported format string passed to %.200s.__format__",
                          t->tp_name);
    return var_str(tx, a->v[0], out);
}

static Status object_hash(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    if (v->real == NULL || v->kind == &kind_tensor)
        return graph_break(tx, BRK_IDENTITY, "hash() of %s", v->type->tp_name);
    if (v->src != NULL && v->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, v->src, v->real));
    return const_int(tx, _Py_HashPointer(v->real), out);
}

/* -- Copying ---------------------------------------------------------------- */

/* Instances whose copy is "a new one with the same attributes", unless a __getattribute__ of their own says otherwise. */
static Status copies_as_class(Tx *tx, Var *v, bool *yes)
{
    static const char *const names[] = { "__reduce_ex__", "__reduce__", "__getstate__" };
    static const char *const absent[] = { "__slots__", "__getnewargs__",
                                          "__getnewargs_ex__", "__getattr__" };
    *yes = v->kind == &kind_object && AS(ObjectVar, v)->content == NULL &&
           v->type->tp_dictoffset != 0;
    for (size_t i = 0; *yes && i < COUNT_OF(names); i++)
        TRY(inherited(tx, v->type, names[i], yes));
    for (size_t i = 0; *yes && i < COUNT_OF(absent); i++) {
        PyObject *f;
        TRY(special_of(tx, v->type, absent[i], &f));
        *yes = f == NULL;
    }
    PyObject *slots =
        v->type->tp_dict ? PyDict_GetItemString(v->type->tp_dict, "__slotnames__") : NULL;
    *yes &= slots == NULL || (PyList_CheckExact(slots) &&
                              PyList_GET_SIZE(slots) == 0); /* copyreg's own note */
    return ST_OK;
}

/* What C code asks the object itself, in its order: a __getattribute__ of the program's answers, and has to answer as object's would. */
static Status answers_plainly(Tx *tx, Var *v)
{
    static const char *const asked[] = { "__reduce__", "__getstate__" };
    bool plain;
    TRY(inherited(tx, v->type, "__getattribute__", &plain));
    for (size_t i = 0; !plain && i < COUNT_OF(asked); i++) {
        PyObject *name = tx_hold(tx, PyUnicode_InternFromString(asked[i]));
        Var *got;
        TRY_PTR(name);
        TRY(var_getattr(tx, v, name, &got));
        TRY(var_real(tx, &got));
        if (got->kind != &kind_builtin || AS(BuiltinVar, got)->self != v ||
            got->real != paths_class_entry(&PyBaseObject_Type, asked[i]))
            return graph_break(tx, BRK_UNKNOWN_CALL,
                               "copy of an object whose __getattribute__ gives %s",
                               asked[i]);
    }
    return ST_OK;
}

/* object.__reduce_ex__(self, 2 and up), as reduce_newobj gives it: (copyreg.__newobj__, (cls,), __dict__ or None, None, None). */
static Status object_reduce_ex(Tx *tx, const Args *a, Var **out)
{
    Var *v = a->v[0], *part[5], *cls;
    Py_ssize_t protocol, n;
    DictVar *d;
    bool yes;
    TRY(var_real(tx, &v));
    TRY(copies_as_class(tx, v, &yes));
    PyObject *newobj = lookup_path(tx, "copyreg", "__newobj__");
    if (!yes || newobj == NULL)
        return ST_DECLINE;
    TRY(var_index(tx, a->v[1], &protocol));
    if (protocol < 2)
        return ST_DECLINE;
    TRY(answers_plainly(tx, v));
    TRY(attrs_of(tx, v, &d));
    TRY(dict_count(tx, d, &n));
    TRY(wrap_pinned(tx, newobj, NULL, &part[0]));
    TRY(wrap_pinned(tx, (PyObject *)v->type, NULL, &cls));
    TRY(tuple_new(tx, &cls, 1, &part[1]));
    part[2] = n ? &d->v : tx_none(tx);
    part[3] = part[4] = tx_none(tx);
    return tuple_new(tx, part, 5, out);
}

/* -- Deep copies -------------------------------------------------------------- */

/* copy.deepcopy(), whose memo goes by id() and would end the trace: done here for what it copies by structure. */
typedef struct Deep {
    Tx *tx;
    PtrMap memo; /* Var -> its copy */
} Deep;

static Status deep(Deep *c, Var *v, Var **out);

static Status deep_remember(Deep *c, Var *v, Var *copy)
{
    return ptrmap_put(&c->memo, &c->tx->arena, &c->tx->journal, v, copy) ? ST_OK
                                                                         : ST_ERROR;
}

static Status deep_items(Deep *c, Var **from, Py_ssize_t n, Var ***to)
{
    *to = tx_alloc(c->tx, (size_t)(n ? n : 1) * sizeof(Var *));
    TRY_PTR(*to);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(deep(c, from[i], &(*to)[i]));
    return ST_OK;
}

static Status deep_list(Deep *c, Var *v, Var **out)
{
    Var **items, **copies;
    Py_ssize_t n;
    TRY(var_unpack(c->tx, v, &items, &n));
    TRY(list_new(c->tx, NULL, 0, out));
    TRY(deep_remember(c, v, *out));
    TRY(deep_items(c, items, n, &copies));
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(list_push(c->tx, AS(ListVar, *out), copies[i]));
    return ST_OK;
}

static Status deep_tuple(Deep *c, Var *v, Var **out)
{
    Var **items, **copies;
    Py_ssize_t n;
    TRY(var_unpack(c->tx, v, &items, &n));
    TRY(deep_items(c, items, n, &copies));
    void *known; /* its own items may have copied it */
    if (ptrmap_get(&c->memo, v, &known)) {
        *out = known;
        return ST_OK;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *old = items[i], *new = copies[i];
        TRY(var_real(c->tx, &old));
        TRY(var_real(c->tx, &new));
        if (old != new) {
            TRY(tuple_new(c->tx, copies, n, out));
            return deep_remember(c, v, *out);
        }
    }
    *out = v; /* nothing in it was copied: the tuple itself */
    return ST_OK;
}

static Status deep_entries(Deep *c, DictVar *from, Var *to)
{
    Var **keys, **values;
    Py_ssize_t n;
    TRY(dict_items(c->tx, from, &keys, &values, &n));
    for (Py_ssize_t i = 0; i < n; i++) {
        Var *key, *value;
        TRY(deep(c, keys[i], &key));
        TRY(deep(c, values[i], &value));
        TRY(var_setitem(c->tx, to, key, value));
    }
    return ST_OK;
}

static Status deep_dict(Deep *c, Var *v, Var **out)
{
    TRY(dict_new(c->tx, out));
    TRY(deep_remember(c, v, *out));
    return deep_entries(c, AS(DictVar, v), *out);
}

/* What copying asks an instance for, in this order, goes through its own __getattribute__, which is traced. */
static Status ask_itself(Deep *c, Var *v, const char *const *names, size_t n)
{
    bool plain;
    Var *got;
    TRY(inherited(c->tx, v->type, "__getattribute__", &plain));
    for (size_t i = 0; !plain && i < n; i++) {
        PyObject *name = tx_hold(c->tx, PyUnicode_InternFromString(names[i]));
        TRY_PTR(name);
        TRY(var_getattr_opt(c->tx, v, name, &got));
        PyObject *usual = paths_class_entry(&PyBaseObject_Type, names[i]);
        if (got != NULL)
            TRY(var_real(c->tx, &got));
        if (got == NULL ? usual != NULL : got->kind != &kind_builtin || got->real != usual)
            return graph_break(c->tx, BRK_UNKNOWN_CALL, "copy.deepcopy() of %s",
                               v->type->tp_name);
    }
    return ST_OK;
}

/* The attributes that are updated are those of `__dict__`. */
static Status ask_dict(Deep *c, Var *v, DictVar *attrs)
{
    PyObject *name = tx_hold(c->tx, PyUnicode_InternFromString("__dict__"));
    bool plain;
    Var *got;
    TRY_PTR(name);
    TRY(inherited(c->tx, v->type, "__getattribute__", &plain));
    if (plain)
        return ST_OK;
    TRY(var_getattr(c->tx, v, name, &got));
    TRY(var_real(c->tx, &got));
    return got == &attrs->v ? ST_OK
                            : graph_break(c->tx, BRK_UNKNOWN_CALL,
                                          "copy.deepcopy() of %s", v->type->tp_name);
}

static Status deep_object(Deep *c, Var *v, Var **out)
{
    static const char *const asked[] = { "__deepcopy__", "__reduce_ex__", "__reduce__",
                                         "__getstate__" };
    static const char *const asked_new[] = { "__setstate__" };
    PyObject *f;
    DictVar *from, *to;
    bool yes;
    TRY(copies_as_class(c->tx, v, &yes));
    if (!yes)
        return ST_DECLINE;
    static const char *const hooks[] = { "__deepcopy__", "__setstate__" };
    for (size_t i = 0; i < COUNT_OF(hooks); i++) {
        TRY(special_of(c->tx, v->type, hooks[i], &f));
        if (f != NULL)
            return ST_DECLINE;
    }
    if (v->type->tp_new != PyBaseObject_Type.tp_new)
        return ST_DECLINE;
    TRY(ask_itself(c, v, asked, COUNT_OF(asked)));
    TRY(object_make(c->tx, v->type, out));
    TRY(deep_remember(c, v, *out));
    TRY(attrs_of(c->tx, v, &from));
    TRY(attrs_of(c->tx, *out, &to));
    TRY(ask_itself(c, *out, asked_new, COUNT_OF(asked_new)));
    TRY(ask_dict(c, *out, to));
    return deep_entries(c, from, &to->v);
}

static Status deep(Deep *c, Var *v, Var **out)
{
    void *known;
    if (tx_deep(c->tx))
        return graph_break(c->tx, BRK_RECURSION, "%s", "copy.deepcopy()");
    TRY(var_real(c->tx, &v));
    *out = v;
    if (ptrmap_get(&c->memo, v, &known)) {
        *out = known;
        return ST_OK;
    }
    if (v->kind == &kind_const || v->kind == &kind_scalar || v->kind == &kind_func ||
        v->kind == &kind_class ||
        (v->kind == &kind_builtin && AS(BuiltinVar, v)->self == NULL))
        return ST_OK;
    if (v->type == &PyList_Type)
        return deep_list(c, v, out);
    if (v->type == &PyTuple_Type)
        return deep_tuple(c, v, out);
    if (v->type == &PyDict_Type && v->kind == &kind_dict)
        return deep_dict(c, v, out);
    return v->kind == &kind_object ? deep_object(c, v, out) : ST_DECLINE;
}

static Status deepcopy(Tx *tx, const Args *a, Var **out)
{
    Deep c = { .tx = tx };
    return deep(&c, a->v[0], out);
}

/* -- types.SimpleNamespace ----------------------------------------------------- */

static Status namespace_new(Tx *tx, const Args *a, Var **out)
{
    PyTypeObject *t;
    TRY(class_arg(tx, a->v[0], &t));
    return t == NULL ? ST_DECLINE : object_make(tx, t, out);
}

static Status namespace_init(Tx *tx, const Args *a, Var **out)
{
    DictVar *d;
    TRY(var_real(tx, &a->v[0]));
    if (!is_namespace(a->v[0]))
        return ST_DECLINE;
    if (a->n > 1)
        return raise_type(tx, PyExc_TypeError, "no positional arguments expected");
    TRY(attrs_of(tx, a->v[0], &d));
    for (int i = 0; i < a->nkw; i++)
        TRY(dict_set_str(tx, d, PyTuple_GET_ITEM(a->kwnames, i), a->v[a->n + i]));
    return none(tx, out);
}

static Status namespace_text(Tx *tx, const Args *a, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    return is_namespace(a->v[0]) ? namespace_repr(tx, a->v[0], out) : ST_DECLINE;
}

static Status namespace_eq(Tx *tx, const Args *a, Var **out)
{
    TRY(var_real(tx, &a->v[0]));
    TRY(var_real(tx, &a->v[1]));
    return is_namespace(a->v[0]) ? namespace_compare(tx, a->v[0], a->v[1], Py_EQ, out)
                                 : ST_DECLINE;
}

/* What object says, and who asks super(): there is no opinion. */
static Status subclass_hook(Tx *tx, const Args *a, Var **out)
{
    *out = tx->notimpl;
    return ST_OK;
}

const Handler handlers_object[] = {
    { "builtins.object.__subclasshook__", 1, -1, subclass_hook, NULL },
    { "types.SimpleNamespace.__repr__", 1, 1, namespace_text, NULL },
    { "types.SimpleNamespace.__eq__", 2, 2, namespace_eq, NULL },
    { "types.SimpleNamespace.__new__", 1, -1, namespace_new, ANY_KW },
    { "types.SimpleNamespace.__init__", 1, -1, namespace_init, ANY_KW },
    { "builtins.object", 0, 0, object_call, NULL },
    { "builtins.object.__new__", 1, -1, object_new_, ANY_KW },
    { "builtins.object.__init__", 1, -1, object_init, ANY_KW },
    { "builtins.object.__init_subclass__", 1, 1, returns_none, NULL },
    { "builtins.object.__getattribute__", 2, 2, object_getattribute, NULL },
    { "builtins.object.__setattr__", 3, 3, object_setattr, NULL },
    { "builtins.object.__delattr__", 2, 2, object_setattr, NULL },
    { "builtins.type.__call__", 1, -1, type_call, ANY_KW },
    { "builtins.type.__getattribute__", 2, 2, type_getattribute, NULL },
    { "builtins.type.__setattr__", 3, 3, type_setattr, NULL },
    { "builtins.type.__delattr__", 2, 2, type_setattr, NULL },
    { "types.ModuleType.__getattribute__", 2, 2, module_getattribute, NULL },
    { "builtins.object.__eq__", 2, 2, object_eq, NULL },
    { "builtins.object.__ne__", 2, 2, object_ne, NULL },
    { "builtins.object.__lt__", 2, 2, not_implemented, NULL },
    { "builtins.object.__le__", 2, 2, not_implemented, NULL },
    { "builtins.object.__gt__", 2, 2, not_implemented, NULL },
    { "builtins.object.__ge__", 2, 2, not_implemented, NULL },
    { "builtins.object.__str__", 1, 1, object_str, NULL },
    { "builtins.object.__repr__", 1, 1, object_repr, NULL },
    { "builtins.object.__format__", 2, 2, object_format, NULL },
    { "builtins.object.__hash__", 1, 1, object_hash, NULL },
    { "builtins.object.__reduce_ex__", 2, 2, object_reduce_ex, NULL },
    { "copy.deepcopy", 1, 1, deepcopy, NULL },
    { 0 },
};
