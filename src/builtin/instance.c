/*
 * builtin/instance.c -- isinstance() and issubclass(), as PyObject_IsInstance and PyObject_IsSubclass.
 *
 * Metaclasses written in Python are traced through their __instancecheck__. ABCs answer by the real issubclass() on real classes, as
 * long as no user's __subclasshook__ is involved; a guard asks again when a class was registered since.
 */
#include "builtin/help.h"
#include "builtin/paths.h"
#include "var/made.h"

enum { MAX_ALTERNATIVES = 30 };

static PyObject *intern(Tx *tx, const char *name)
{
    return tx_hold(tx, PyUnicode_InternFromString(name));
}

static Status one_of(Tx *tx, Var *v, Var **items, Py_ssize_t n, bool sub, bool *yes)
{
    *yes = false;
    if (tx->alternatives >= MAX_ALTERNATIVES) /* somewhere behind it is a RecursionError */
        return graph_break(tx, BRK_RECURSION, "%s", "tuples of classes");
    tx->alternatives++;
    Status st = ST_OK;
    for (Py_ssize_t i = 0; i < n && !*yes && st == ST_OK; i++)
        st = sub ? var_issubclass(tx, v, items[i], yes)
                 : var_isinstance(tx, v, items[i], yes);
    tx->alternatives--;
    return st;
}

/* The classes of `int | str` and of a tuple; *n -1: it is something else. */
static Status alternatives(Tx *tx, Var *cls, Var ***items, Py_ssize_t *n)
{
    *n = -1;
    if (cls->type && PyType_HasFeature(cls->type, Py_TPFLAGS_TUPLE_SUBCLASS))
        return var_unpack(tx, cls, items, n);
    if (cls->real == NULL || strcmp(Py_TYPE(cls->real)->tp_name, "types.UnionType") != 0)
        return ST_OK;
    if (cls->src)
        TRY(guard_is(&tx->guards, cls->src, cls->real));
    PyObject *args = tx_hold(tx, PyObject_GetAttrString(cls->real, "__args__"));
    TRY_PTR(args);
    *n = PyTuple_GET_SIZE(args);
    *items = tx_alloc(tx, (size_t)*n * sizeof(Var *));
    TRY_PTR(*items);
    for (Py_ssize_t i = 0; i < *n; i++) {
        PyObject *o = PyTuple_GET_ITEM(args, i);
        TRY(wrap_pinned(tx, o == Py_None ? (PyObject *)Py_TYPE(o) : o, NULL,
                        &(*items)[i]));
    }
    return ST_OK;
}

/* -- ABCs ------------------------------------------------------------------- */

/* The hook of a Protocol looks at who calls it, unless the class is for such checks and has methods only. */
static bool answers_all(PyTypeObject *protocol)
{
    PyObject *typing = PyDict_GetItemString(PyImport_GetModuleDict(), "typing");
    PyObject *ask =
        typing && PyModule_Check(typing)
            ? PyDict_GetItemString(PyModule_GetDict(typing), "_is_callable_members_only")
            : NULL;
    if (ask == NULL || paths_class_entry(protocol, "_is_runtime_protocol") != Py_True)
        return false;
    PyObject *yes = PyObject_CallOneArg(ask, (PyObject *)protocol);
    PyErr_Clear();
    Py_XDECREF(yes);
    return yes == Py_True;
}

static bool is_one_of(PyObject *text, const char *const *names, size_t n)
{
    bool found = false;
    for (size_t i = 0; text && PyUnicode_Check(text) && i < n && !found; i++)
        found = PyUnicode_CompareWithASCIIString(text, names[i]) == 0;
    return found;
}

/* A hook that typing or another part of the standard library wrote, in the dictionary of `base`. */
static bool is_library_hook(PyTypeObject *base, PyObject *hook)
{
    static const char *const modules[] = { "collections.abc",
                                           "_collections_abc",
                                           "typing",
                                           "typing_extensions",
                                           "contextlib",
                                           "os",
                                           "numbers",
                                           "abc",
                                           "io" };
    bool protocol = PyDict_GetItemString(base->tp_dict, "_is_protocol") == Py_True;
    if (PyFunction_Check(hook)) /* typing stores one into each class below Protocol */
        return is_one_of(((PyFunctionObject *)hook)->func_module, modules,
                         COUNT_OF(modules)) &&
               (!protocol || answers_all(base));
    return Py_IS_TYPE(hook, &PyClassMethod_Type) &&
           is_one_of(PyDict_GetItemString(base->tp_dict, "__module__"), modules,
                     COUNT_OF(modules));
}

/* Does the class take part in ABC lookups with a hook that the standard library wrote? */
static bool known_hook(PyTypeObject *cls)
{
    PyObject *hook = paths_class_entry(cls, "__subclasshook__");
    if (hook == NULL || Py_IS_TYPE(hook, &PyClassMethodDescr_Type)) /* object's */
        return hook != NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cls->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(cls->tp_mro, i);
        if (base->tp_dict != NULL &&
            PyDict_GetItemString(base->tp_dict, "__subclasshook__") == hook)
            return is_library_hook(base, hook);
    }
    return false;
}

/* A class made by the trace is judged by the classes that it comes from. */
static Status guard_answer(Tx *tx, PyTypeObject *sub, PyTypeObject *cls, bool yes)
{
    if (class_made(tx, (PyObject *)cls))
        return ST_OK;
    if (class_made(tx, (PyObject *)sub) == NULL)
        return guard_abc(&tx->guards, cls, sub, yes);
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(sub->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(sub->tp_mro, i);
        if (class_made(tx, (PyObject *)base))
            continue;
        int r = PyObject_IsSubclass((PyObject *)base, (PyObject *)cls);
        if (r < 0)
            return raise_now(tx);
        TRY(guard_abc(&tx->guards, cls, base, r));
    }
    return ST_OK;
}

static Status abc_check(Tx *tx, PyTypeObject *sub, PyTypeObject *cls, bool *yes)
{
    if (paths_class_entry(cls, "__subclasses__"))
        return graph_break(tx, BRK_UNKNOWN_CALL, "__subclasses__ of %s", cls->tp_name);
    if (!known_hook(cls))
        return graph_break(tx, BRK_UNKNOWN_CALL, "__subclasshook__ of %s", cls->tp_name);
    int r = PyObject_IsSubclass((PyObject *)sub, (PyObject *)cls);
    if (r < 0)
        return raise_now(tx);
    *yes = r;
    return guard_answer(tx, sub, cls, r);
}

static bool is_abc_method(Tx *tx, PyObject *f, const char *name)
{
    PyObject *meta = lookup_path(tx, "abc", "ABCMeta");
    return meta && PyType_Check(meta) &&
           paths_class_entry((PyTypeObject *)meta, name) == f;
}

/* -- What things say of themselves ------------------------------------------- */

/* Can v say that its class is another one (proxies, mocks)? */
static Status may_claim(Tx *tx, Var *v, bool *yes)
{
    PyObject *name = intern(tx, "__class__"), *get = intern(tx, "__getattribute__"),
             *descr, *own;
    if (name == NULL || get == NULL)
        return ST_ERROR;
    bool gone = v->kind == &kind_opaque && v->real && PyWeakref_CheckProxy(v->real);
    *yes = v->kind == &kind_weakproxy || gone;
    if (*yes || !(v->type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return ST_OK;
    TRY(type_lookup(tx, v->type, name, &descr));
    TRY(type_lookup(tx, v->type, get, &own));
    *yes = descr != paths_class_entry(&PyBaseObject_Type, "__class__") ||
           (own && !Py_IS_TYPE(own, &PyWrapperDescr_Type));
    return ST_OK;
}

static Status claimed_class(Tx *tx, Var *v, PyTypeObject **out)
{
    PyObject *name = intern(tx, "__class__");
    bool may;
    Var *c;
    TRY_PTR(name);
    *out = v->type;
    TRY(may_claim(tx, v, &may));
    if (!may)
        return ST_OK;
    TRY(var_getattr_opt(tx, v, name, &c));
    if (c == NULL)
        return ST_OK;
    TRY(var_real(tx, &c));
    if (c->kind == &kind_class && c->real)
        *out = (PyTypeObject *)c->real;
    return ST_OK;
}

/* -- Things that pass for classes by their __bases__ ------------------------- */

/* As abstract_get_bases; *out NULL: v has none, or no tuple. */
static Status abstract_bases(Tx *tx, Var *v, Var **out)
{
    PyObject *name = intern(tx, "__bases__");
    TRY_PTR(name);
    TRY(var_getattr_opt(tx, v, name, out));
    if (*out == NULL)
        return ST_OK;
    TRY(var_real(tx, out));
    if (!PyType_HasFeature((*out)->type, Py_TPFLAGS_TUPLE_SUBCLASS))
        *out = NULL;
    return ST_OK;
}

/* As check_class. */
static Status abstract_check(Tx *tx, Var *v, const char *error)
{
    Var *bases;
    TRY(abstract_bases(tx, v, &bases));
    return bases ? ST_OK : raise_type(tx, PyExc_TypeError, "%s", error);
}

/* As abstract_issubclass, with the same order of questions. */
static Status abstract_subclass(Tx *tx, Var *sub, Var *cls, bool *yes)
{
    Var *bases, **items;
    Py_ssize_t n = 1;
    for (int depth = 0; n == 1; depth++) {
        if (depth >= MAX_ALTERNATIVES ||
            tx_deep(tx)) /* a RecursionError, or no end at all */
            return graph_break(tx, BRK_RECURSION, "%s", "__bases__ of __bases__");
        TRY(var_is(tx, sub, cls, yes));
        if (*yes)
            return ST_OK;
        TRY(abstract_bases(tx, sub, &bases));
        if (bases == NULL)
            return ST_OK;
        TRY(var_tuple_items(tx, bases, &items, &n));
        sub = n ? items[0] : NULL;
    }
    for (Py_ssize_t i = 0; i < n && !*yes; i++)
        TRY(abstract_subclass(tx, items[i], cls, yes));
    return ST_OK;
}

/* As object_isinstance for what is no class. */
static Status abstract_instance(Tx *tx, Var *v, Var *cls, bool *yes)
{
    PyObject *name = intern(tx, "__class__");
    Var *claimed;
    TRY_PTR(name);
    TRY(abstract_check(
        tx, cls, "isinstance() arg 2 must be a type, a tuple of types, or a union"));
    TRY(var_getattr_opt(tx, v, name, &claimed));
    return claimed ? abstract_subclass(tx, claimed, cls, yes) : ST_OK;
}

/* As recursive_issubclass for what are not two classes. */
static Status abstract_pair(Tx *tx, Var *sub, Var *cls, bool *yes)
{
    TRY(abstract_check(tx, sub, "issubclass() arg 1 must be a class"));
    TRY(abstract_check(
        tx, cls, "issubclass() arg 2 must be a class, a tuple of classes, or a union"));
    return abstract_subclass(tx, sub, cls, yes);
}

/* -- One class -------------------------------------------------------------- */

static Status subtype(Tx *tx, PyTypeObject *sub, PyTypeObject *cls, bool *yes)
{
    *yes = PyType_IsSubtype(sub, cls);
    return class_made(tx, (PyObject *)sub) ? ST_OK : guard_mro(&tx->guards, sub);
}

/* As recursive_isinstance for a real class. */
static Status plain_instance(Tx *tx, Var *v, PyTypeObject *cls, bool *yes)
{
    PyTypeObject *claimed;
    TRY(subtype(tx, v->type, cls, yes));
    if (*yes)
        return ST_OK;
    TRY(claimed_class(tx, v, &claimed));
    return claimed != v->type ? subtype(tx, claimed, cls, yes) : ST_OK;
}

/* As _abc__abc_instancecheck_impl: by the class that v claims, then by its own. */
static Status abc_instance(Tx *tx, Var *v, PyTypeObject *cls, bool *yes)
{
    PyTypeObject *claimed;
    TRY(claimed_class(tx, v, &claimed));
    TRY(abc_check(tx, claimed, cls, yes));
    return *yes || claimed == v->type ? ST_OK : abc_check(tx, v->type, cls, yes);
}

/* The check that the class's metaclass brings: *own NULL for type's. */
static Status check_method(Tx *tx, Var *cls, const char *which, PyObject **own)
{
    PyObject *name = intern(tx, which);
    TRY_PTR(name);
    TRY(type_lookup(tx, cls->type, name, own));
    if (*own && Py_IS_TYPE(*own, &PyMethodDescr_Type) &&
        PyDescr_TYPE(*own) == &PyType_Type)
        *own = NULL;
    return ST_OK;
}

static Status call_check(Tx *tx, Var *cls, const char *which, Var *arg, bool *yes)
{
    Var *r;
    TRY(var_call_special(tx, cls, which, &arg, 1, &r));
    return r ? var_truth(tx, r, yes) : ST_DECLINE;
}

Status var_isinstance(Tx *tx, Var *v, Var *cls, bool *yes)
{
    Var **items;
    Py_ssize_t n;
    PyObject *check;
    TRY(var_real(tx, &v));
    TRY(var_real(tx, &cls));
    *yes = cls->kind == &kind_class && (PyObject *)v->type == cls->real;
    if (*yes)
        return ST_OK;
    TRY(alternatives(tx, cls, &items, &n));
    if (n >= 0)
        return one_of(tx, v, items, n, false, yes);
    if (cls->type == NULL)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "isinstance()");
    TRY(check_method(tx, cls, "__instancecheck__", &check));
    if (check == NULL && cls->kind == &kind_class && cls->real)
        return plain_instance(tx, v, (PyTypeObject *)cls->real, yes);
    if (check == NULL)
        return abstract_instance(tx, v, cls, yes);
    if (is_abc_method(tx, check, "__instancecheck__") && cls->real)
        return abc_instance(tx, v, (PyTypeObject *)cls->real, yes);
    return call_check(tx, cls, "__instancecheck__", v, yes);
}

Status var_issubclass(Tx *tx, Var *sub, Var *cls, bool *yes)
{
    Var **items;
    Py_ssize_t n;
    PyObject *check;
    TRY(var_real(tx, &sub));
    TRY(var_real(tx, &cls));
    TRY(alternatives(tx, cls, &items, &n));
    if (n >= 0)
        return one_of(tx, sub, items, n, true, yes);
    if (cls->type == NULL)
        return graph_break(tx, BRK_UNKNOWN_CALL, "%s", "issubclass()");
    TRY(check_method(tx, cls, "__subclasscheck__", &check));
    bool classes =
        sub->kind == &kind_class && sub->real && cls->kind == &kind_class && cls->real;
    if (classes && (check == NULL || is_abc_method(tx, check, "__subclasscheck__"))) {
        if (check != NULL)
            return abc_check(tx, (PyTypeObject *)sub->real, (PyTypeObject *)cls->real,
                             yes);
        return subtype(tx, (PyTypeObject *)sub->real, (PyTypeObject *)cls->real, yes);
    }
    if (check != NULL)
        return call_check(tx, cls, "__subclasscheck__", sub, yes);
    *yes = false;
    return abstract_pair(tx, sub, cls, yes);
}

/* -- Their methods, called as such ------------------------------------------- */

static bool both_classes(Var **cls, Var **sub)
{
    return (*cls)->kind == &kind_class && (*cls)->real && (*sub)->kind == &kind_class &&
           (*sub)->real;
}

static Status type_instancecheck(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0], *v = a->v[1];
    bool yes;
    TRY(var_real(tx, &cls));
    TRY(var_real(tx, &v));
    if (cls->kind != &kind_class || cls->real == NULL)
        return ST_DECLINE;
    TRY(plain_instance(tx, v, (PyTypeObject *)cls->real, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

static Status type_subclasscheck(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0], *sub = a->v[1];
    TRY(var_real(tx, &cls));
    TRY(var_real(tx, &sub));
    if (cls->kind != &kind_class || cls->real == NULL)
        return ST_DECLINE;
    bool yes = false;
    if (both_classes(&cls, &sub))
        TRY(subtype(tx, (PyTypeObject *)sub->real, (PyTypeObject *)cls->real, &yes));
    else
        TRY(abstract_pair(tx, sub, cls, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

static Status abc_instancecheck(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0], *v = a->v[1];
    bool yes;
    TRY(var_real(tx, &cls));
    TRY(var_real(tx, &v));
    if (cls->kind != &kind_class || cls->real == NULL)
        return ST_DECLINE;
    TRY(abc_instance(tx, v, (PyTypeObject *)cls->real, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

static Status abc_subclasscheck(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0], *sub = a->v[1];
    bool yes;
    TRY(var_real(tx, &cls));
    TRY(var_real(tx, &sub));
    if (!both_classes(&cls, &sub))
        return ST_DECLINE;
    TRY(abc_check(tx, (PyTypeObject *)sub->real, (PyTypeObject *)cls->real, &yes));
    *out = tx_bool(tx, yes);
    return ST_OK;
}

/* -- Properties of subclasses ------------------------------------------------ */

/* property.__get__, which classes derived from property inherit. */
static Status property_get(Tx *tx, const Args *a, Var **out)
{
    Var *self = a->v[0], *obj = a->v[1], *f;
    TRY(var_real(tx, &self));
    TRY(var_real(tx, &obj));
    if (self->real == NULL || self->dirty ||
        !PyObject_TypeCheck(self->real, &PyProperty_Type))
        return ST_DECLINE;
    if (obj == tx_none(tx)) {
        Var *cls = a->n > 2 ? a->v[2] : obj;
        TRY(var_real(tx, &cls));
        *out = self;
        return cls != obj ? ST_OK
                          : raise_type(tx, PyExc_TypeError, "%s",
                                       "__get__(None, None) is invalid");
    }
    if (self->src != NULL && self->src->kind != SRC_CONST)
        TRY(guard_is(&tx->guards, self->src, self->real));
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("fget"));
    PyObject *fget = name ? tx_hold(tx, PyObject_GenericGetAttr(self->real, name)) : NULL;
    TRY_PTR(fget);
    if (fget == Py_None)
        return ST_DECLINE;
    TRY(wrap_pinned(tx, fget, NULL, &f));
    return var_call1(tx, f, a->v[1], out);
}

const Handler handlers_instance[] = {
    { "builtins.property.__get__", 2, 3, property_get, NULL },
    { "builtins.type.__instancecheck__", 2, 2, type_instancecheck, NULL },
    { "builtins.type.__subclasscheck__", 2, 2, type_subclasscheck, NULL },
    { "_abc._abc_instancecheck", 2, 2, abc_instancecheck, NULL },
    { "_abc._abc_subclasscheck", 2, 2, abc_subclasscheck, NULL },
    { 0 },
};
