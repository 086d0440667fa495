/*
 * var/made.c -- classes made by the trace.
 *
 * A class is more than its namespace: its MRO, layout and slots follow from bases and metaclass by rules that CPython knows best. So
 * CPython makes a *model*, a real class that nobody but the trace sees: no hook of the program runs for it, its bases do not tell it, and
 * in place of each value that is not known for real stands an object of the same type, which leads back to the value. The hooks are traced.
 * The segment makes the class again of the same parts (emit/rebuild_class.c), one a call.
 *
 * Takes: metaclass, name, bases, namespace. Gives: a ClassVar whose `real` is the model. Holds: models live as long as the trace.
 */
#include "var/made.h"
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/names.h"
#include "var/type.h"
#include "var/wrap.h"

Var made_deleted;

ClassVar *class_made(Tx *tx, PyObject *type)
{
    void *v;
    if (!tx->made_classes || !ptrmap_get(&tx->wrapped, type, &v) ||
        ((Var *)v)->kind != &kind_class || !AS(ClassVar, v)->made)
        return NULL;
    return v;
}

bool made_inside(Tx *tx, PyObject *o)
{
    return tx->made_classes && ptrmap_get(&tx->modelled, o, NULL);
}

/* -- Stand-ins ------------------------------------------------------------------------ */

/* An instance as C makes it, with nothing in it. */
static PyObject *shell(Tx *tx, PyTypeObject *t)
{
    PyTypeObject *base = wrap_layout(t);
    PyObject *none = tx_hold(tx, PyTuple_New(0));
    if (base == NULL || none == NULL)
        return NULL;
    return tx_hold(tx, base->tp_new(t, none, NULL));
}

/* A function that nobody calls. */
static PyObject *dummy(Tx *tx)
{
    static PyObject *code;
    if (code == NULL)
        code = (PyObject *)PyCode_NewEmpty("<jedlik>", "model", 1);
    PyObject *globals = tx_hold(tx, PyDict_New());
    return code && globals ? tx_hold(tx, PyFunction_New(code, globals)) : NULL;
}

static PyObject *function(Tx *tx, FuncVar *f)
{
    PyObject *made = dummy(tx);
    DictVar *attrs = f->attrs;
    KeyEntry *e = made && attrs ? keymap_find(&attrs->writes, str___isabstractmethod__,
                                              PyObject_Hash(str___isabstractmethod__))
                                : NULL;
    Var *v = e ? e->value : NULL;
    if (v && v->kind == &kind_const &&
        PyObject_SetAttr(made, str___isabstractmethod__, v->real) < 0)
        return NULL;
    return made;
}

static Status descriptor(Tx *tx, DescrVar *d, PyObject **out)
{
    int n = descr_parts(d) > 3 ? 3 : descr_parts(d);
    PyObject *args = tx_hold(tx, PyTuple_New(n));
    bool is_field = n == 2;
    TRY_PTR(args);
    for (int i = 0; i < n; i++) {
        PyObject *part = Py_None;
        if (d->part[i] && is_field)
            TRY(var_const(tx, d->part[i], &part)); /* constants: the constructor says so */
        else if (d->part[i])
            TRY(made_stand_in(tx, d->part[i], &part));
        PyTuple_SET_ITEM(args, i, Py_NewRef(part));
    }
    *out = tx_hold(tx, PyObject_Call((PyObject *)d->v.type, args, NULL));
    return *out ? ST_OK : ST_ERROR;
}

static bool binds(PyTypeObject *t)
{
    return t->tp_descr_get || t->tp_descr_set;
}

/* What takes part in attribute lookup by its type needs a stand-in of that type; for all else any object does. */
static Status make_stand_in(Tx *tx, Var *v, PyObject **out)
{
    if (v->kind == &kind_func)
        *out = function(tx, AS(FuncVar, v));
    else if (v->kind == &kind_descr)
        return descriptor(tx, AS(DescrVar, v), out);
    else if (var_is_instance(v) && binds(v->type))
        *out = shell(tx, v->type);
    else
        *out = tx_hold(tx, PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type));
    if (*out == NULL && PyErr_Occurred())
        return ST_ERROR;
    return *out ? ST_OK
                : graph_break(tx, BRK_CLASS_BODY, "attribute of type %s",
                              v->type->tp_name);
}

/* Existing functions, classes and the like are known for real; texts and numbers keep their way of being loaded. */
static bool stands_for_itself(Var *v)
{
    if (v->real == NULL)
        return false;
    return (v->kind == &kind_const && !v->by_value) || v->kind == &kind_func ||
           v->kind == &kind_class || v->kind == &kind_module ||
           (v->kind == &kind_builtin && AS(BuiltinVar, v)->self == NULL) ||
           (v->kind == &kind_opaque && v->type->tp_descr_get);
}

Status made_stand_in(Tx *tx, Var *v, PyObject **out)
{
    void *known;
    TRY(var_real(tx, &v));
    if (stands_for_itself(v)) {
        *out = v->real;
        return ST_OK;
    }
    if (ptrmap_get(&tx->stand_ins, v, &known)) {
        *out = known;
        return ST_OK;
    }
    TRY(make_stand_in(tx, v, out));
    bool ok = ptrmap_put(&tx->stand_ins, &tx->arena, &tx->journal, v, *out) &&
              ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, *out, v);
    return ok ? ST_OK : ST_ERROR;
}

/* -- Lookup ---------------------------------------------------------------------------- */

Status class_entry(Tx *tx, PyTypeObject *t, PyObject *name, PyObject **out)
{
    ClassVar *c = class_made(tx, (PyObject *)t);
    KeyEntry *e = c ? keymap_find_id(&c->writes, name) : NULL;
    *out = NULL;
    if (e != NULL)
        return e->value == &made_deleted ? ST_OK : made_stand_in(tx, e->value, out);
    *out = PyDict_GetItemWithError(t->tp_dict, name);
    return *out || !PyErr_Occurred() ? ST_OK : ST_ERROR;
}

Status made_lookup(Tx *tx, PyTypeObject *t, PyObject *name, PyObject **out)
{
    PyObject *mro = t->tp_mro, *ignored;
    *out = NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro) && *out == NULL; i++) {
        PyTypeObject *c = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if (class_made(tx, (PyObject *)c) == NULL)
            TRY(type_lookup(tx, c, name, &ignored)); /* guards what this class gives */
        TRY(class_entry(tx, c, name, out));
    }
    return ST_OK;
}

/* -- Making ------------------------------------------------------------------------------ */

Status made_bases(Tx *tx, Var *bases, PyObject **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_unpack(tx, bases, &items, &n));
    PyObject *real = PyTuple_New(n);
    *out = tx_hold(tx, real);
    TRY_PTR(real);
    for (Py_ssize_t i = 0; i < n; i++) {
        TRY(var_real(tx, &items[i]));
        bool class = items[i]->kind == &kind_class && items[i]->real;
        PyTuple_SET_ITEM(real, i, Py_NewRef(class ? items[i]->real : Py_None));
        if (!class)
            *out = NULL;
    }
    return ST_OK;
}

/* Parts that decide about the class itself have to be known. */
static bool decides(PyObject *name)
{
    return name == str___slots__ || name == str___qualname__ || name == str___module__ ||
           name == str___doc__;
}

static Status known_part(Tx *tx, PyObject *name, Var *v, PyObject **out)
{
    Var **items;
    Py_ssize_t n;
    TRY(var_real(tx, &v));
    TRY(var_const(tx, v, out));
    if (*out == NULL && name == str___slots__ &&
        (v->kind == &kind_list || v->kind == &kind_tuple)) {
        TRY(var_unpack(tx, v, &items, &n));
        TRY(tuple_new(tx, items, n, &v));
        TRY(var_const(tx, v, out));
    }
    if (*out == NULL && name == str___doc__)
        return made_stand_in(tx, v, out);
    return *out ? ST_OK
                : graph_break(tx, BRK_CLASS_BODY, "%U that is not a constant", name);
}

static Status entry_of(Tx *tx, PyObject *name, Var *v, PyObject **out)
{
    if (decides(name))
        return known_part(tx, name, v, out);
    if (name != str___classcell__)
        return made_stand_in(tx, v, out);
    TRY(var_real(tx, &v));
    if (v->kind != &kind_cell)
        return graph_break(tx, BRK_CLASS_BODY, "%U", name);
    *out = tx_hold(tx, PyCell_New(NULL));
    return *out ? ST_OK : ST_ERROR;
}

static Status name_of(Tx *tx, Var *key, PyObject **out)
{
    TRY(var_const(tx, key, out));
    if (*out == NULL || !PyUnicode_CheckExact(*out))
        return graph_break(tx, BRK_CLASS_BODY, "%s", "a name that is no str");
    PyObject *name = Py_NewRef(*out);
    PyUnicode_InternInPlace(&name);
    *out = tx_hold(tx, name);
    return ST_OK;
}

/* What type.__new__ takes the module's name from, where the namespace has none: the globals of who calls it. */
static Status with_module(Tx *tx, Var **from, Var **copy)
{
    Var *module, *there, *key;
    TRY(dict_new(tx, copy));
    TRY(dict_get_str(tx, AS(DictVar, *from), str___module__, &there));
    TRY(dict_get_str(tx, AS(DictVar, tx->top->fn->globals), str___name__, &module));
    if (there != NULL || module == NULL)
        return ST_OK;
    Var **keys, **values;
    Py_ssize_t n;
    TRY(dict_items(tx, AS(DictVar, *from), &keys, &values, &n));
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(var_setitem(tx, *copy, keys[i], values[i]));
    TRY(const_peek(tx, str___module__, &key));
    TRY(var_setitem(tx, *copy, key, module));
    *from = *copy;
    return ST_OK;
}

static Status namespace_of(Tx *tx, Var *ns, ClassMade *m, PyObject **real)
{
    Var **keys, *content, *copy;
    Py_ssize_t n;
    TRY(var_real(tx, &ns));
    content = var_content(ns);
    if (content == NULL || content->kind != &kind_dict)
        return graph_break(tx, BRK_CLASS_BODY, "namespace of type %s", ns->type->tp_name);
    TRY(with_module(tx, &content, &copy));
    TRY(dict_items(tx, AS(DictVar, content), &keys, &m->values, &n));
    m->names = tx_hold(tx, PyTuple_New(n));
    *real = tx_hold(tx, PyDict_New());
    if (m->names == NULL || *real == NULL)
        return ST_ERROR;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name, *value;
        TRY(name_of(tx, keys[i], &name));
        PyTuple_SET_ITEM(m->names, i, Py_NewRef(name));
        TRY(entry_of(tx, name, m->values[i], &value));
        if (PyDict_SetItem(*real, name, value) < 0)
            return ST_ERROR;
    }
    return ST_OK;
}

/* As type.__new__: the most derived metaclass makes the class, which has to be type's work. */
static Status right_meta(Tx *tx, PyTypeObject **meta, PyObject *bases)
{
    PyObject *f;
    PyTypeObject *winner = _PyType_CalculateMetaclass(*meta, bases);
    if (winner == NULL)
        return raise_now(tx);
    if (winner != *meta && winner->tp_new != PyType_Type.tp_new)
        return graph_break(tx, BRK_CLASS_BODY, "metaclass %s", winner->tp_name);
    *meta = winner;
    TRY(type_lookup(tx, winner, str_mro, &f));
    return f == cpy_type_lookup(&PyType_Type, str_mro)
               ? ST_OK
               : graph_break(tx, BRK_CLASS_BODY, "metaclass %s with its own mro()",
                             winner->tp_name);
}

static void let_go(PyObject *capsule)
{
    PyObject *model = PyCapsule_GetPointer(capsule, NULL);
    cpy_class_empty((PyTypeObject *)model);
    Py_DECREF(model);
}

/* Everything that came into being with the model is marked as its own. */
static Status mark(Tx *tx, PyTypeObject *t)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool ok = ptrmap_put(&tx->modelled, &tx->arena, &tx->journal, t, NULL) &&
              ptrmap_put(&tx->modelled, &tx->arena, &tx->journal, t->tp_mro, NULL);
    while (ok && PyDict_Next(t->tp_dict, &at, &key, &value)) {
        PyTypeObject *k = Py_TYPE(value);
        bool own = k == &PyMemberDescr_Type || k == &PyGetSetDescr_Type ||
                   k == &PyStaticMethod_Type || k == &PyClassMethod_Type;
        if (own && !ptrmap_get(&tx->wrapped, value, NULL))
            ok = ptrmap_put(&tx->modelled, &tx->arena, &tx->journal, value, NULL);
    }
    return ok ? ST_OK : ST_ERROR;
}

static Status model(Tx *tx, PyTypeObject *meta, ClassMade *m, PyObject *bases,
                    PyObject *ns, Var **out)
{
    ClassVar *c;
    PyObject *real = cpy_class_new(meta, m->name, bases, ns);
    if (real == NULL)
        return raise_now(tx);
    PyObject *above = ((PyTypeObject *)real)->tp_bases;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(above); i++)
        if (class_made(tx, PyTuple_GET_ITEM(above, i)) == NULL)
            cpy_class_hide((PyTypeObject *)real,
                           (PyTypeObject *)PyTuple_GET_ITEM(above, i));
    TRY_PTR(tx_hold(tx, PyCapsule_New(real, NULL, let_go)));
    TRY(VAR_MAKE(tx, class, ClassVar, Py_TYPE(real), &c));
    c->v.real = real;
    c->made = m;
    SET(tx, tx->made_classes, tx->made_classes + 1);
    *out = &c->v;
    if (!ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, real, c))
        return ST_ERROR;
    return mark(tx, (PyTypeObject *)real);
}

/* -- What the program has written for that moment ---------------------------------------------- */

static Status tell_cell(Tx *tx, Var *cls)
{
    ClassMade *m = AS(ClassVar, cls)->made;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(m->names); i++) {
        Var *cell = m->values[i];
        if (PyTuple_GET_ITEM(m->names, i) != str___classcell__)
            continue;
        TRY(var_real(tx, &cell));
        TRY(cell_set(tx, AS(CellVar, cell), cls));
    }
    return ST_OK;
}

static Status tell_names(Tx *tx, Var *cls)
{
    ClassMade *m = AS(ClassVar, cls)->made;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(m->names); i++) {
        Var *v = m->values[i], *hook, *name, *ignored;
        TRY(var_real(tx, &v));
        if (v->kind == &kind_descr && v->type == &PyProperty_Type)
            SET(tx, AS(DescrVar, v)->name, PyTuple_GET_ITEM(m->names, i));
        if (!var_is_instance(v) && v->kind != &kind_class)
            continue;
        TRY(var_special(tx, v, str___set_name__, &hook));
        if (hook == NULL)
            continue;
        TRY(const_peek(tx, PyTuple_GET_ITEM(m->names, i), &name));
        Status st =
            var_call_special(tx, v, "__set_name__", (Var *[]){ cls, name }, 2, &ignored);
        if (st ==
            ST_RAISE) /* 3.11 makes a RuntimeError of it, whose text shows the value */
            return graph_break(tx, BRK_CLASS_BODY, "%s", "__set_name__ raises");
        TRY(st);
    }
    return ST_OK;
}

/* super(cls, cls).__init_subclass__(**kwds) */
static Status tell_bases(Tx *tx, Var *cls, const Args *kwds)
{
    SuperVar *s;
    Var *hook, *ignored;
    TRY(VAR_MAKE(tx, super, SuperVar, &PySuper_Type, &s));
    s->cls = s->self = cls;
    s->start = (PyTypeObject *)cls->real;
    TRY(var_getattr(tx, &s->v, str___init_subclass__, &hook));
    if (hook->kind == &kind_builtin &&
        hook->real == cpy_type_lookup(&PyBaseObject_Type, str___init_subclass__)) {
        PyObject *qualname = tx_hold(tx, PyType_GetQualName((PyTypeObject *)cls->real));
        TRY_PTR(qualname);
        return kwds->nkw ? raise_type(tx, PyExc_TypeError,
                                      "%U.__init_subclass__() takes no keyword arguments",
                                      qualname)
                         : ST_OK;
    }
    Args only = { .v = kwds->v + kwds->n, .nkw = kwds->nkw, .kwnames = kwds->kwnames };
    return var_call(tx, hook, &only, &ignored);
}

Status class_make(Tx *tx, PyTypeObject *meta, PyObject *name, Var *bases, Var *ns,
                  const Args *kwds, Var **out)
{
    PyObject *real_bases, *real_ns = NULL;
    ClassMade *m = tx_alloc(tx, sizeof *m);
    TRY_PTR(m);
    m->name = name;
    m->bases = bases;
    TRY(made_bases(tx, bases, &real_bases));
    if (real_bases == NULL)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "a base that is no class");
    TRY(right_meta(tx, &meta, real_bases));
    TRY(namespace_of(tx, ns, m, &real_ns));
    TRY(model(tx, meta, m, real_bases, real_ns, out));
    TRY(tell_cell(tx, *out));
    TRY(tell_names(tx, *out));
    return tell_bases(tx, *out, kwds);
}

/* -- Attributes --------------------------------------------------------------------------------- */

static Status classes_of(Tx *tx, ClassVar *c, PyObject *name, Var **out)
{
    PyTypeObject *t = (PyTypeObject *)c->v.real;
    PyObject *mro = name == str___mro__ ? t->tp_mro : t->tp_bases;
    Py_ssize_t n = PyTuple_GET_SIZE(mro);
    Var **items = tx_alloc(tx, (size_t)n * sizeof *items);
    TRY_PTR(items);
    for (Py_ssize_t i = 0; i < n; i++)
        TRY(wrap_pinned(tx, PyTuple_GET_ITEM(mro, i), NULL, &items[i]));
    TRY(tuple_new(tx, items, n, out));
    if (name == str___mro__)
        SET(tx, c->made->mro, *out);
    return ST_OK;
}

/* The class's own attributes; stores that come later are shown, too. */
static Status dict_of(Tx *tx, ClassVar *c, Var **out)
{
    PyObject *key, *raw;
    Py_ssize_t at = 0;
    Var *d, *v;
    KeyEntry *e;
    if (c->made->dict != NULL)
        return proxy_new(tx, c->made->dict, out);
    TRY(dict_new(tx, &d));
    AS(DictVar, d)->shown = true;
    while (PyDict_Next(((PyTypeObject *)c->v.real)->tp_dict, &at, &key, &raw)) {
        TRY(class_entry(tx, (PyTypeObject *)c->v.real, key, &raw));
        if (raw == NULL)
            continue;
        TRY(wrap_pinned(tx, raw, NULL, &v));
        TRY(dict_set_str(tx, AS(DictVar, d), key, v));
    }
    for (size_t i = 0; (e = keymap_next(&c->writes, &i));)
        if (e->value != &made_deleted)
            TRY(dict_set_str(tx, AS(DictVar, d), e->id, e->value));
    SET(tx, c->made->dict, d);
    return proxy_new(tx, d, out);
}

/* As type_get_annotations: made when first asked for. */
static Status annotations_of(Tx *tx, ClassVar *c, Var **out)
{
    PyObject *raw;
    TRY(class_entry(tx, (PyTypeObject *)c->v.real, str___annotations__, &raw));
    if (raw != NULL)
        return wrap_pinned(tx, raw, NULL, out);
    TRY(dict_new(tx, out));
    return made_store(tx, c, str___annotations__, *out);
}

Status made_getset(Tx *tx, ClassVar *c, PyObject *name, Var **out)
{
    KeyEntry *e = keymap_find_id(&c->writes, name);
    *out = NULL;
    if (e != NULL && e->value != &made_deleted)
        *out = e->value;
    else if (name == str___bases__ && c->made->bases->kind == &kind_tuple)
        *out = c->made->bases;
    else if (name == str___mro__)
        *out = c->made->mro;
    if (*out != NULL)
        return ST_OK;
    if (name == str___bases__ || name == str___mro__)
        return classes_of(tx, c, name, out);
    if (name == str___dict__)
        return dict_of(tx, c, out);
    if (name == str___annotations__)
        return annotations_of(tx, c, out);
    if (name == str___abstractmethods__) {
        PyObject *names = tx_hold(tx, PyType_Type.tp_getattro(c->v.real, name));
        return names ? wrap_pinned(tx, names, NULL, out) : raise_now(tx);
    }
    return ST_OK;
}

/* Stores that would change what the model is, not just what it has. */
static bool structural(PyObject *name)
{
    return name == str___name__ || name == str___qualname__ || name == str___bases__ ||
           name == str___mro__ || name == str___class__ || name == str___dict__ ||
           name == str___base__ || name == str___weakref__ ||
           name == str___getattribute__;
}

/* Names that decide whether the class can have instances. */
static Status abstract_names(Tx *tx, Var *value, PyObject **out)
{
    PyObject *names = NULL;
    Var **items;
    Py_ssize_t n;
    if (value)
        TRY(var_real(tx, &value));
    if (value && value->kind == &kind_set) {
        TRY(var_unpack(tx, value, &items, &n));
        TRY(tuple_new(tx, items, n, &value));
        TRY(var_const(tx, value, &names));
        names = names ? tx_hold(tx, PyFrozenSet_New(names)) : NULL;
    } else if (value)
        TRY(var_const(tx, value, &names));
    if (names == NULL)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "store to '__abstractmethods__'");
    *out = names;
    return ST_OK;
}

/* The model's slots and flags follow. A rewind ends the trace, so nothing has to be undone. */
static Status store_model(Tx *tx, ClassVar *c, PyObject *name, Var *value)
{
    PyObject *o = NULL;
    if (name == str___abstractmethods__)
        TRY(abstract_names(tx, value, &o));
    else if (value != NULL)
        TRY(made_stand_in(tx, value, &o));
    return PyType_Type.tp_setattro(c->v.real, name, o) < 0 ? raise_now(tx) : ST_OK;
}

/* A mapping that __dict__ has given shows the store. */
static Status show(Tx *tx, ClassVar *c, PyObject *name, Var *value)
{
    bool was;
    if (c->made->dict == NULL)
        return ST_OK;
    DictVar *d = AS(DictVar, c->made->dict);
    return value ? dict_set_str(tx, d, name, value)
                 : dict_del(tx, d, name, PyObject_Hash(name), &was);
}

/* Was the attribute there when the class was made? */
static bool was_given(ClassVar *c, PyObject *name)
{
    ClassMade *m = c->made;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(m->names); i++)
        if (PyTuple_GET_ITEM(m->names, i) == name)
            return true;
    return name == str___doc__ || name == str___dict__ || name == str___weakref__;
}

Status made_store(Tx *tx, ClassVar *c, PyObject *name, Var *value)
{
    PyObject *was;
    KeyEntry *e = keymap_find_id(&c->writes, name);
    if (structural(name))
        return graph_break(tx, BRK_CLASS_BODY, "store to '%U' of a new class", name);
    TRY(class_entry(tx, (PyTypeObject *)c->v.real, name, &was));
    if (value == NULL && was == NULL)
        return raise_type(tx, PyExc_AttributeError,
                          "type object '%.50s' has no attribute '%U'",
                          ((PyTypeObject *)c->v.real)->tp_name, name);
    TRY(store_model(tx, c, name, value));
    TRY(show(tx, c, name, value));
    if (value == NULL && !was_given(c, name)) {
        keymap_del_entry(&c->writes, &tx->journal, e);
        return ST_OK;
    }
    if (e && e->value == &made_deleted) {
        keymap_del_entry(&c->writes, &tx->journal, e);
        if (!keymap_put(&c->made->again, &tx->arena, &tx->journal, NULL, 0, name, name))
            return ST_ERROR;
    }
    return keymap_put(&c->writes, &tx->arena, &tx->journal, NULL, 0, name,
                      value ? value : &made_deleted)
               ? ST_OK
               : ST_ERROR;
}
