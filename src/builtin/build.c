/*
 * builtin/build.c -- class statements, type() with three arguments, and the descriptors that class bodies are made of.
 *
 * As builtin___build_class__ in Python/bltinmodule.c; the class itself is made by var/made.c.
 */
#include "base/switches.h"
#include "builtin/help.h"
#include "builtin/paths.h"
#include "cpy/cpy.h"
#include "var/consts.h"
#include "var/made.h"
#include "var/names.h"
#include "var/type.h"

/* -- Bases and metaclass ------------------------------------------------------------ */

/* What a base that is no class puts in its place; *out NULL: it stays. */
static Status mro_entries(Tx *tx, Var *base, Var *bases, Var **out)
{
    Var *f;
    *out = NULL;
    TRY(var_real(tx, &base));
    if (base->kind == &kind_class)
        return ST_OK;
    TRY(var_getattr_opt(tx, base, str___mro_entries__, &f));
    if (f == NULL)
        return ST_OK;
    TRY(var_call1(tx, f, bases, out));
    TRY(var_real(tx, out));
    if (!PyType_HasFeature((*out)->type, Py_TPFLAGS_TUPLE_SUBCLASS))
        return raise_type(tx, PyExc_TypeError, "%s",
                          "__mro_entries__ must return a tuple");
    return ST_OK;
}

/* As update_bases: *out is `bases` itself if nothing changes. */
static Status update_bases(Tx *tx, Var *bases, Var **v, int n, Var **out)
{
    Var *items, *list;
    bool changed = false;
    TRY(list_new(tx, NULL, 0, &list));
    for (int i = 0; i < n; i++) {
        Var **more;
        Py_ssize_t count;
        TRY(mro_entries(tx, v[i], bases, &items));
        if (items == NULL) {
            TRY(list_push(tx, AS(ListVar, list), v[i]));
            continue;
        }
        changed = true;
        TRY(var_unpack(tx, items, &more, &count));
        for (Py_ssize_t k = 0; k < count; k++)
            TRY(list_push(tx, AS(ListVar, list), more[k]));
    }
    *out = bases;
    ListVar *l = AS(ListVar, list);
    return changed ? tuple_new(tx, l->items.v, (Py_ssize_t)l->items.n, out) : ST_OK;
}

/* The keywords of the statement without `metaclass`. */
static Status other_keywords(Tx *tx, const Args *a, Args *out)
{
    Py_ssize_t n = 0;
    *out = (Args){ .v = tx_alloc(tx, (size_t)(a->nkw + 4) * sizeof(Var *)) };
    PyObject *names = tx_hold(tx, PyList_New(0));
    if (out->v == NULL || names == NULL)
        return ST_ERROR;
    for (int i = 0; i < a->nkw; i++) {
        PyObject *name = PyTuple_GET_ITEM(a->kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "metaclass") == 0)
            continue;
        if (PyList_Append(names, name) < 0)
            return ST_ERROR;
        out->v[3 + n++] = a->v[a->n + i];
    }
    out->n = 3;
    out->nkw = (int)n;
    out->kwnames = tx_hold(tx, PyList_AsTuple(names));
    return out->kwnames ? ST_OK : ST_ERROR;
}

/* The metaclass given, or the first base's class; then the most derived of all. */
static Status metaclass(Tx *tx, Var *given, Var *bases, Var **out)
{
    PyObject *real, *type = given ? NULL : (PyObject *)&PyType_Type;
    *out = given;
    if (given != NULL) {
        TRY(var_real(tx, out));
        if ((*out)->kind != &kind_class)
            return ST_OK;
        type = (*out)->real;
    }
    TRY(made_bases(tx, bases, &real));
    if (real == NULL)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "a base that is no class");
    if (given == NULL && PyTuple_GET_SIZE(real))
        type = (PyObject *)Py_TYPE(PyTuple_GET_ITEM(real, 0));
    PyTypeObject *winner = _PyType_CalculateMetaclass((PyTypeObject *)type, real);
    if (winner == NULL)
        return raise_now(tx);
    return wrap_pinned(tx, (PyObject *)winner, NULL, out);
}

/* -- The statement ---------------------------------------------------------------------- */

static Status prepare(Tx *tx, Var *meta, Var *name, Var *bases, const Args *kw, Var **ns)
{
    Var *f = NULL;
    if (meta->real == (PyObject *)&PyType_Type)
        return dict_new(tx, ns);
    TRY(var_getattr_opt(tx, meta, str___prepare__, &f));
    if (f == NULL)
        return dict_new(tx, ns);
    Args a = { .v = tx_alloc(tx, (size_t)(kw->nkw + 2) * sizeof(Var *)),
               .n = 2,
               .nkw = kw->nkw,
               .kwnames = kw->kwnames };
    TRY_PTR(a.v);
    a.v[0] = name;
    a.v[1] = bases;
    memcpy(a.v + 2, kw->v + 3, (size_t)kw->nkw * sizeof(Var *));
    TRY(var_call(tx, f, &a, ns));
    TRY(var_real(tx, ns));
    Var *content = var_content(*ns);
    return content && content->kind == &kind_dict
               ? ST_OK
               : graph_break(tx, BRK_CLASS_BODY, "namespace of type %s",
                             (*ns)->type->tp_name);
}

/* The cell has to hold the class now. */
static Status check_cell(Tx *tx, Var *cell, Var *cls, PyObject *name)
{
    Var *content;
    TRY(var_real(tx, &cell));
    if (cell->kind != &kind_cell || cls->kind != &kind_class)
        return ST_OK;
    TRY(cell_get(tx, AS(CellVar, cell), &content));
    if (content)
        TRY(var_real(tx, &content));
    if (content == NULL)
        return raise_type(tx, PyExc_RuntimeError,
                          "__class__ not set defining %.200R as %.200R. Was "
                          "__classcell__ propagated to type.__new__?",
                          name, cls->real);
    if (content == cls)
        return ST_OK;
    if (content->kind != &kind_class)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "a __class__ that is no class");
    return raise_type(tx, PyExc_TypeError,
                      "__class__ set to %.200R defining %.200R as %.200R", content->real,
                      name, cls->real);
}

static Status body(Tx *tx, Var *fn, Var *ns, Var **cell)
{
    FuncVar *f = AS(FuncVar, fn);
    if (f->co->co_flags & CO_OPTIMIZED)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "the body is a function");
    return frame_body(tx, f, ns, cell);
}

static Status build_class(Tx *tx, const Args *a, Var **out)
{
    Var *fn = a->v[0], *orig, *bases, *meta, *ns, *cell;
    Args call;
    if (!switches.capture_class_bodies)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "config.capture_class_bodies is off");
    TRY(var_real(tx, &fn));
    if (fn->kind != &kind_func)
        return ST_DECLINE;
    TRY(tuple_new(tx, a->v + 2, a->n - 2, &orig));
    TRY(update_bases(tx, orig, a->v + 2, a->n - 2, &bases));
    TRY(other_keywords(tx, a, &call));
    TRY(metaclass(tx, args_kw(a, "metaclass"), bases, &meta));
    TRY(prepare(tx, meta, a->v[1], bases, &call, &ns));
    TRY(body(tx, fn, ns, &cell));
    if (bases != orig) {
        Var *key;
        TRY(const_peek(tx, str___orig_bases__, &key));
        TRY(var_setitem(tx, ns, key, orig));
    }
    call.v[0] = a->v[1];
    call.v[1] = bases;
    call.v[2] = ns;
    TRY(var_call(tx, meta, &call, out));
    TRY(var_real(tx, out));
    PyObject *name;
    TRY(var_const(tx, a->v[1], &name));
    return check_cell(tx, cell, *out, name ? name : Py_None);
}

/* -- type() ------------------------------------------------------------------------------- */

/* name, bases, namespace of the kinds that type.__new__ takes; else it raises, for real. */
static Status type_parts(Tx *tx, Var **v, PyObject **name)
{
    for (int i = 0; i < 3; i++)
        TRY(var_real(tx, &v[i]));
    TRY(var_const(tx, v[0], name));
    bool good = *name && PyUnicode_CheckExact(*name) && v[1]->type == &PyTuple_Type &&
                PyType_HasFeature(v[2]->type, Py_TPFLAGS_DICT_SUBCLASS);
    return good ? ST_OK
                : graph_break(tx, BRK_CLASS_BODY, "%s", "type() with odd arguments");
}

static Status make(Tx *tx, PyTypeObject *meta, const Args *a, Var **out)
{
    PyObject *name;
    Var *v[3] = { a->v[0], a->v[1], a->v[2] };
    if (!switches.capture_class_bodies)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "config.capture_class_bodies is off");
    TRY(type_parts(tx, v, &name));
    return class_make(tx, meta, name, v[1], v[2], a, out);
}

static Status type_new(Tx *tx, const Args *a, Var **out)
{
    Var *meta = a->v[0];
    Args rest = args_tail(a, 1);
    TRY(var_real(tx, &meta));
    if (meta->kind != &kind_class || meta->real == NULL ||
        !PyType_IsSubtype((PyTypeObject *)meta->real, &PyType_Type))
        return ST_DECLINE;
    return make(tx, (PyTypeObject *)meta->real, &rest, out);
}

static Status type_three(Tx *tx, const Args *a, Var **out)
{
    return make(tx, &PyType_Type, a, out);
}

static Status type_init(Tx *tx, const Args *a, Var **out)
{
    if (a->n == 2 && a->nkw)
        return raise_type(tx, PyExc_TypeError, "%s",
                          "type.__init__() takes no keyword arguments");
    if (a->n != 2 && a->n != 4)
        return raise_type(tx, PyExc_TypeError, "%s",
                          "type.__init__() takes 1 or 3 arguments");
    *out = tx_none(tx);
    return ST_OK;
}

/* type.mro(cls): what __mro__ was made of. */
static Status type_mro(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0], *mro, **items;
    Py_ssize_t n;
    TRY(var_real(tx, &cls));
    if (cls->kind != &kind_class)
        return ST_DECLINE;
    TRY(class_load(tx, cls, str___mro__, &mro));
    TRY(var_unpack(tx, mro, &items, &n));
    return list_new(tx, items, n, out);
}

static Status type_prepare(Tx *tx, const Args *a, Var **out)
{
    return dict_new(tx, out);
}

/* -- ABCs ----------------------------------------------------------------------------------- */

/* As _PyObject_IsAbstract. */
static Status is_abstract(Tx *tx, Var *v, bool *yes)
{
    Var *flag = NULL;
    *yes = false;
    if (var_is_instance(v) || v->kind == &kind_func || v->kind == &kind_descr)
        TRY(var_getattr_opt(tx, v, str___isabstractmethod__, &flag));
    return flag ? var_truth(tx, flag, yes) : ST_OK;
}

static Status stand_in_is(Tx *tx, Var *v, bool *yes)
{
    PyObject *o;
    TRY(made_stand_in(tx, v, &o));
    PyObject *flag = tx_hold(tx, PyObject_GetAttr(o, str___isabstractmethod__));
    PyErr_Clear();
    *yes = flag == Py_True; /* the flags of stand-ins are constants */
    return ST_OK;
}

/* Do the model's stand-ins say of themselves what the program's values say? Asked in the order of _abc_init, which stops at an exception. */
static Status plain_parts(Tx *tx, ClassVar *c, bool *yes)
{
    ClassMade *m = c->made;
    *yes = true;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(m->names); i++) {
        Var *v = m->values[i];
        bool abstract, shown = false;
        TRY(var_real(tx, &v));
        TRY(is_abstract(tx, v, &abstract));
        if (var_is_instance(v) || v->kind == &kind_func || v->kind == &kind_descr)
            TRY(stand_in_is(tx, v, &shown));
        *yes &= abstract == shown;
    }
    return ST_OK;
}

/* Works on the class alone: the model gets its sets now, the class when it is made. */
static Status abc_init(Tx *tx, const Args *a, Var **out)
{
    Var *cls = a->v[0];
    bool plain;
    TRY(var_real(tx, &cls));
    if (!is_made_class(cls))
        return ST_DECLINE;
    TRY(plain_parts(tx, AS(ClassVar, cls), &plain));
    PyObject *init = lookup_path(tx, "_abc", "_abc_init");
    if (!plain || init == NULL || AS(ClassVar, cls)->writes.n)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "an abstract class with odd parts");
    PyObject *r = tx_hold(tx, PyObject_CallOneArg(init, cls->real));
    if (r == NULL)
        return raise_now(tx);
    SET(tx, AS(ClassVar, cls)->made->abc, 1);
    *out = tx_none(tx);
    return ST_OK;
}

/* -- Descriptors ------------------------------------------------------------------------------ */

static Status property(Tx *tx, const Args *a, Var **out)
{
    static const char *const names[] = { "fget", "fset", "fdel", "doc" };
    Var *part[4];
    for (int i = 0; i < 4; i++) {
        Var *v = args_get(a, i, names[i]);
        part[i] = v ? v : tx->none;
        TRY(var_real(tx, &part[i]));
    }
    return descr_new(tx, &PyProperty_Type, part, 4, out);
}

static Status class_method(Tx *tx, const Args *a, Var **out)
{
    return descr_wrap(tx, &PyClassMethod_Type, a->v[0], out);
}

static Status static_method(Tx *tx, const Args *a, Var **out)
{
    return descr_wrap(tx, &PyStaticMethod_Type, a->v[0], out);
}

/* p.getter(f) and its like: a copy with one function replaced. */
static Status with_part(Tx *tx, const Args *a, int i, Var **out)
{
    Var *self = a->v[0], *f = a->v[1], *part[4];
    TRY(var_real(tx, &self));
    TRY(var_real(tx, &f));
    if (self->kind != &kind_descr)
        return ST_DECLINE;
    for (int k = 0; k < 4; k++)
        part[k] = AS(DescrVar, self)->part[k] ? AS(DescrVar, self)->part[k] : tx->none;
    if (f != tx->none)
        part[i] = f;
    TRY(descr_new(tx, &PyProperty_Type, part, 4, out));
    AS(DescrVar, *out)->name = AS(DescrVar, self)->name;
    return ST_OK;
}

/* d.__get__(obj, cls), as if it were found in the class. */
static Status descr_get(Tx *tx, const Args *a, Var **out)
{
    Var *d = a->v[0], *obj = a->v[1], *cls = a->n > 2 ? a->v[2] : tx->none;
    PyObject *stand;
    TRY(var_real(tx, &d));
    TRY(var_real(tx, &obj));
    TRY(var_real(tx, &cls));
    if (obj == tx->none && cls == tx->none)
        return raise_type(tx, PyExc_TypeError, "%s", "__get__(None, None) is invalid");
    if (d->kind != &kind_descr || (obj == tx->none && cls->kind != &kind_class) ||
        (cls != tx->none && cls->kind != &kind_class))
        return ST_DECLINE;
    TRY(made_stand_in(tx, d, &stand));
    PyTypeObject *owner = cls == tx->none ? obj->type : (PyTypeObject *)cls->real;
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("property"));
    TRY_PTR(name);
    return attr_bind(tx, obj == tx->none ? cls : obj, owner, name, stand, d, out);
}

/* collections._tuplegetter(index, doc): a field of a named tuple. */
static Status tuplegetter(Tx *tx, const Args *a, Var **out)
{
    PyObject *type = lookup_path(tx, "_collections", "_tuplegetter");
    Var *part[2] = { a->v[0], a->v[1] };
    for (int i = 0; i < 2; i++) {
        PyObject *o;
        TRY(var_const(tx, part[i], &o));
        if (o == NULL)
            return ST_DECLINE;
    }
    return descr_new(tx, (PyTypeObject *)type, part, 2, out);
}

static Status with_getter(Tx *tx, const Args *a, Var **out)
{
    return with_part(tx, a, 0, out);
}
static Status with_setter(Tx *tx, const Args *a, Var **out)
{
    return with_part(tx, a, 1, out);
}
static Status with_deleter(Tx *tx, const Args *a, Var **out)
{
    return with_part(tx, a, 2, out);
}

const Handler handlers_build[] = {
    { "builtins.__build_class__", 2, -1, build_class, ANY_KW },
    { "builtins.type", 3, 3, type_three, ANY_KW },
    { "builtins.type.__new__", 4, 4, type_new, ANY_KW },
    { "builtins.type.__init__", 2, -1, type_init, ANY_KW },
    { "builtins.type.mro", 1, 1, type_mro, NULL },
    { "builtins.type.__prepare__", 0, -1, type_prepare, ANY_KW },
    { "_abc._abc_init", 1, 1, abc_init, NULL },
    { "builtins.property", 0, 4, property, "fget fset fdel doc" },
    { "builtins.classmethod", 1, 1, class_method, NULL },
    { "builtins.staticmethod", 1, 1, static_method, NULL },
    { "builtins.property.__get__", 2, 3, descr_get, NULL },
    { "builtins.classmethod.__get__", 2, 3, descr_get, NULL },
    { "builtins.staticmethod.__get__", 2, 3, descr_get, NULL },
    { "_collections._tuplegetter", 2, 2, tuplegetter, NULL },
    { "builtins.property.getter", 2, 2, with_getter, NULL },
    { "builtins.property.setter", 2, 2, with_setter, NULL },
    { "builtins.property.deleter", 2, 2, with_deleter, NULL },
    { 0 },
};
