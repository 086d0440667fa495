/*
 * var/wrap.c -- existing objects become Vars.
 *
 * Takes: an object and the source it was found at. Gives: one Var an object (aliases meet, with an ALIAS guard), with
 * the guard that its kind needs: its type, its identity, its value, or nothing while nobody asks (lazy).
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/consts.h"
#include "var/names.h"
#include "var/container.h"
#include "var/weak.h"
#include "var/wrap.h"

/* -- Lazy ------------------------------------------------------------------- */

const VarKind kind_lazy = { .name = "lazy", .id = KIND_lazy };

Status lazy_new(Tx *tx, PyObject *obj, Source *src, Var **out)
{
    assert(obj != NULL && src != NULL);
    LazyVar *l;
    TRY(VAR_MAKE(tx, lazy, LazyVar, NULL, &l));
    l->v.real = tx_keep(tx, obj);
    TRY_PTR(l->v.real);
    l->v.src = src;
    src->hint = obj;
    *out = &l->v;
    return ST_OK;
}

Status var_real(Tx *tx, Var **v)
{
    if ((*v)->kind != &kind_lazy)
        return ST_OK;
    LazyVar *l = AS(LazyVar, *v);
    if (l->got == NULL) {
        Var *got;
        TRY(wrap(tx, l->v.real, l->v.src, &got));
        SET(tx, l->got, got);
    }
    *v = l->got;
    return ST_OK;
}

/* -- Constants -------------------------------------------------------------- */

/* Seeds, hashes and addresses have 64 bits and change from call to call; what has more hardly does. */
enum { WORD_BITS = 64 };

static bool small_int(PyObject *o)
{
    return _PyLong_NumBits(o) <= WORD_BITS;
}

static Status wrap_by_value(Tx *tx, PyObject *o, Source *src, Var **out)
{
    TRY(guard_eq(&tx->guards, src, o));
    return const_known(tx, o, src, out);
}

static Status wrap_scalar(Tx *tx, PyObject *o, Source *src, Var **out)
{
    if (PyLong_CheckExact(o) && !small_int(o))
        return wrap_by_value(tx, o, src, out);
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    return scalar_new(tx, expr_leaf(&tx->exprs, src, o), out);
}

/* Equal frozensets may be iterated in different orders, and NaNs inside a tuple or frozenset are compared by identity: they
 * are not known by value, nor what holds them. */
static bool more_than_value(PyObject *o)
{
    if (PyFrozenSet_CheckExact(o))
        return PySet_GET_SIZE(o) > 1 || !key_plain(o);
    for (Py_ssize_t i = 0; PyTuple_CheckExact(o) && i < PyTuple_GET_SIZE(o); i++) {
        PyObject *item = PyTuple_GET_ITEM(o, i);
        if (key_nan(item) || more_than_value(item))
            return true;
    }
    return false;
}

/* A point that has met other values looks at a tuple's numbers one by one: they may enter the graph, or never be asked for. */
static bool opened_for_numbers(Tx *tx, PyObject *o)
{
    bool number = false;
    for (Py_ssize_t i = 0; tx->again && PyTuple_CheckExact(o) && i < PyTuple_GET_SIZE(o);
         i++) {
        PyObject *item = PyTuple_GET_ITEM(o, i);
        number |= PyLong_CheckExact(item) || PyFloat_CheckExact(item);
    }
    return number;
}

/* Values without identity: *out stays NULL if o is none. */
static Status wrap_value(Tx *tx, PyObject *o, Source *src, Var **out)
{
    PyTypeObject *t = Py_TYPE(o);
    *out = NULL;
    if (o == Py_None || o == Py_Ellipsis || o == Py_NotImplemented) {
        TRY(guard_is(&tx->guards, src, o));
        return const_peek(tx, o, out);
    }
    if (t == &PyBool_Type || t == &PyLong_Type || t == &PyFloat_Type)
        return wrap_scalar(tx, o, src, out);
    if (const_object(o) || t == &PyCode_Type ||
        (torch_ready && (t == torch_types.dtype || t == torch_types.layout ||
                         t == torch_types.memory_format))) {
        TRY(guard_is(&tx->guards, src, o));
        return const_peek(tx, o, out);
    }
    if (const_immutable(o) && !(t == &PyTuple_Type && PyTuple_GET_SIZE(o) > 16) &&
        !more_than_value(o) && !opened_for_numbers(tx, o)) {
        return wrap_by_value(tx, o, src, out);
    }
    return ST_OK;
}

/* -- Kinds by type ------------------------------------------------------------ */

/* Classes written in Python get their instances from subtype_dealloc; what lies below is C. */
static bool python_class(PyTypeObject *t)
{
    static destructor subtype_dealloc;
    if (subtype_dealloc == NULL) {
        PyObject *probe =
            PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "probe");
        if (probe == NULL) {
            PyErr_Clear();
            return false;
        }
        subtype_dealloc = ((PyTypeObject *)probe)->tp_dealloc;
        Py_DECREF(probe);
    }
    return (t->tp_flags & Py_TPFLAGS_HEAPTYPE) && t->tp_dealloc == subtype_dealloc;
}

static bool known_layout(PyTypeObject *base)
{
    return base == known_type(TY_DEFAULTDICT) || base == known_type(TY_DEQUE) ||
           base == known_type(TY_NAMESPACE) || base == &PyBaseObject_Type ||
           base == &PyDict_Type || base == &PyList_Type || base == &PyTuple_Type ||
           base == &PyLong_Type || base == &PyFloat_Type || base == &PyUnicode_Type ||
           base == &PySet_Type || base == &PyFrozenSet_Type || base == &PyODict_Type ||
           base == &PyBytes_Type || base == &PyType_Type ||
           (torch_ready && base == torch_types.function);
}

static PyTypeObject *python_layout(PyTypeObject *t)
{
    while (python_class(t))
        t = t->tp_base;
    return t;
}

PyTypeObject *wrap_layout(PyTypeObject *t)
{
    PyTypeObject *base = python_layout(t);
    return known_layout(base) ||
                   PyType_IsSubtype(base, (PyTypeObject *)PyExc_BaseException)
               ? base
               : NULL;
}

bool wrap_is_object(PyTypeObject *t)
{
    return t == known_type(TY_NAMESPACE) || (python_class(t) && wrap_layout(t) != NULL);
}

static bool same_slots(const void *a, const void *b, size_t size)
{
    static const char none[sizeof(PyNumberMethods)];
    return memcmp(a ? a : none, b ? b : none, size) == 0;
}

bool wrap_is_tuple(PyTypeObject *t)
{
    static const char *const methods[] = { "__format__", "__reversed__" };
    const PyTypeObject *base = &PyTuple_Type;
    bool same =
        t->tp_dictoffset == 0 && t->tp_iter == base->tp_iter &&
        t->tp_iternext == base->tp_iternext && t->tp_hash == base->tp_hash &&
        t->tp_richcompare == base->tp_richcompare && t->tp_call == base->tp_call &&
        t->tp_str == base->tp_str && t->tp_getattro == base->tp_getattro &&
        t->tp_setattro == base->tp_setattro &&
        same_slots(t->tp_as_number, base->tp_as_number, sizeof(PyNumberMethods)) &&
        t->tp_as_sequence->sq_length == base->tp_as_sequence->sq_length &&
        t->tp_as_sequence->sq_contains == base->tp_as_sequence->sq_contains &&
        same_slots(t->tp_as_mapping, base->tp_as_mapping, sizeof(PyMappingMethods));
    for (size_t i = 0; same && i < COUNT_OF(methods); i++) {
        PyObject *name = PyUnicode_InternFromString(methods[i]);
        same = name && cpy_type_lookup(t, name) == cpy_type_lookup(&PyTuple_Type, name);
        Py_XDECREF(name);
    }
    return same;
}

static Status content_of(Tx *tx, ObjectVar *ob, PyTypeObject *base)
{
    PyObject *o = ob->v.real;
    Source *src = ob->v.src;
    Var *c = NULL;
    if (base == &PyDict_Type || base == &PyODict_Type ||
        base == known_type(TY_DEFAULTDICT)) {
        TRY(VAR_MAKE(tx, dict, DictVar, base, &c));
    } else if (base == &PyList_Type || base == known_type(TY_DEQUE)) {
        TRY(VAR_MAKE(tx, list, ListVar, base, &c));
        AS(ListVar, c)->base = Py_SIZE(o);
    } else if (base == &PySet_Type || base == &PyFrozenSet_Type) {
        TRY(VAR_MAKE(tx, set, SetVar, base, &c));
    } else if (base == &PyTuple_Type) {
        TRY(wrap_tuple(tx, o, src, &c));
    } else if (base == &PyLong_Type || base == &PyFloat_Type || base == &PyUnicode_Type ||
               base == &PyBytes_Type) {
        PyObject *plain =
            base == &PyLong_Type    ? _PyLong_Copy((PyLongObject *)o)
            : base == &PyFloat_Type ? PyFloat_FromDouble(PyFloat_AS_DOUBLE(o))
            : base == &PyBytes_Type
                ? PyBytes_FromStringAndSize(PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o))
                : PyUnicode_FromObject(o);
        TRY(const_new(tx, plain, &c));
        if (cpy_type_lookup(Py_TYPE(o),
                            str___del__)) /* the entry that pins it would keep it alive */
            return graph_break(tx, BRK_FINALIZER, "%s", Py_TYPE(o)->tp_name);
        TRY(guard_is(&tx->guards, src, o));
    }
    if (c && c->real == NULL) {
        c->real = o;
        c->src = src;
    }
    ob->content = c;
    return ST_OK;
}

static Status wrap_object(Tx *tx, PyObject *o, Source *src, Var **out)
{
    ObjectVar *ob;
    TRY(VAR_MAKE(tx, object, ObjectVar, Py_TYPE(o), &ob));
    ob->v.real = o;
    ob->v.src = src;
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    TRY(content_of(tx, ob, wrap_layout(Py_TYPE(o))));
    *out = &ob->v;
    return ST_OK;
}

Status wrap_tuple(Tx *tx, PyObject *o, Source *src, Var **out)
{
    Py_ssize_t n = PyTuple_GET_SIZE(o);
    TupleVar *t;
    TRY(guard_num(&tx->guards, GUARD_LEN, src, n));
    TRY(VAR_MAKE(tx, tuple, TupleVar, Py_TYPE(o), &t));
    t->v.real = o;
    t->v.src = src;
    t->n = n;
    t->items = tx_alloc(tx, (size_t)(n ? n : 1) * sizeof(Var *));
    TRY_PTR(t->items);
    for (Py_ssize_t i = 0; i < n; i++) {
        Source *s = source_get(&tx->sources, SRC_INDEX, src, NULL, i);
        TRY_PTR(s);
        TRY(lazy_new(tx, PyTuple_GET_ITEM(o, i), s, &t->items[i]));
    }
    *out = &t->v;
    return ST_OK;
}

static Status wrap_list(Tx *tx, PyObject *o, Source *src, Var **out)
{
    ListVar *l;
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    TRY(VAR_MAKE(tx, list, ListVar, Py_TYPE(o), &l));
    l->base = PyObject_Size(o);
    *out = &l->v;
    return ST_OK;
}

static Status wrap_dict(Tx *tx, PyObject *o, Source *src, Var **out)
{
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    return VAR_MAKE(tx, dict, DictVar, Py_TYPE(o), out);
}

static Status wrap_set(Tx *tx, PyObject *o, Source *src, Var **out)
{
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    return VAR_MAKE(tx, set, SetVar, Py_TYPE(o), out);
}

static Status wrap_method(Tx *tx, PyObject *o, Source *src, Var **out)
{
    MethodVar *m;
    Source *f = source_get(&tx->sources, SRC_METHFUNC, src, NULL, 0);
    Source *s = source_get(&tx->sources, SRC_METHSELF, src, NULL, 0);
    if (f == NULL || s == NULL)
        return ST_ERROR;
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    TRY(VAR_MAKE(tx, method, MethodVar, Py_TYPE(o), &m));
    TRY(lazy_new(tx, PyMethod_GET_FUNCTION(o), f, &m->func));
    TRY(lazy_new(tx, PyMethod_GET_SELF(o), s, &m->self));
    *out = &m->v;
    return ST_OK;
}

static Status wrap_cell(Tx *tx, PyObject *o, Source *src, Var **out)
{
    if (src->kind != SRC_CLOSURE) /* a closure holds nothing else */
        TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    return VAR_MAKE(tx, cell, CellVar, Py_TYPE(o), out);
}

static Status wrap_identity(Tx *tx, const VarKind *kind, size_t size, PyObject *o,
                            Source *src, bool pinned, Var **out)
{
    if (!pinned)
        TRY(guard_is(&tx->guards, src, o));
    return var_make(tx, kind, size, Py_TYPE(o), out);
}

static bool is_iterator(PyTypeObject *t)
{
    return t == &PyListIter_Type || t == &PyTupleIter_Type || t == &PyRangeIter_Type ||
           t == &PyDictIterKey_Type || t == &PyDictIterValue_Type ||
           t == &PyDictIterItem_Type || t == &PyListRevIter_Type || t == &PyEnum_Type ||
           t == &PyZip_Type;
}

static Status wrap_opaque(Tx *tx, PyObject *o, Source *src, Var **out)
{
    TRY(guard_type(&tx->guards, src, Py_TYPE(o)));
    return var_make(tx, &kind_opaque, sizeof(Var), Py_TYPE(o), out);
}

/* [].append: as list.append with the list in front. *out NULL: it is no method of its self's class. */
static Status wrap_bound(Tx *tx, PyObject *o, Source *src, Var **out)
{
    PyCFunctionObject *f = (PyCFunctionObject *)o;
    BuiltinVar *b;
    *out = NULL;
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString(f->m_ml->ml_name));
    TRY_PTR(name);
    PyObject *descr = cpy_type_lookup(Py_TYPE(f->m_self), name);
    if (!PyCFunction_CheckExact(o) || descr == NULL ||
        !Py_IS_TYPE(descr, &PyMethodDescr_Type) ||
        ((PyMethodDescrObject *)descr)->d_method != f->m_ml)
        return ST_OK;
    Source *self = source_get(&tx->sources, SRC_METHSELF, src, NULL, 0);
    TRY_PTR(self);
    TRY(guard_obj(&tx->guards, GUARD_CODE, src, descr));
    TRY(VAR_MAKE(tx, builtin, BuiltinVar, Py_TYPE(o), &b));
    TRY(lazy_new(tx, f->m_self, self, &b->self));
    b->descr = tx_keep(tx, descr);
    *out = &b->v;
    return b->descr ? ST_OK : ST_ERROR;
}

static Status wrap_cfunction(Tx *tx, PyObject *o, Source *src, bool pinned, Var **out)
{
    PyObject *self = PyCFunction_Check(o) ? PyCFunction_GET_SELF(o) : NULL;
    bool pybind = self && (PyCapsule_CheckExact(self) ||
                           strncmp(Py_TYPE(self)->tp_name, "pybind11_", 9) == 0);
    bool loose =
        PyCFunction_Check(o) && ((PyCFunctionObject *)o)->m_module == NULL &&
        (self == NULL || self == Py_None || PyModule_Check(self)); /* no module's own */
    if (loose)
        return wrap_opaque(tx, o, src, out);
    if (self && !PyModule_Check(self) && !PyType_Check(self) && !pybind &&
        !const_immutable(self)) {
        TRY(wrap_bound(tx, o, src, out));
        return *out ? ST_OK : wrap_opaque(tx, o, src, out);
    }
    return wrap_identity(tx, &kind_builtin, sizeof(BuiltinVar), o, src, pinned, out);
}

static Status wrap_kind(Tx *tx, PyObject *o, Source *src, bool pinned, Var **out)
{
    PyTypeObject *t = Py_TYPE(o);
    if (torch_ready && torch_is_tensor(o))
        return tensor_wrap(tx, o, src, out);
    if (t == &PyFunction_Type)
        return func_wrap(tx, o, src, pinned, out);
    if (PyType_Check(o))
        return wrap_identity(tx, &kind_class, sizeof(ClassVar), o, src, pinned, out);
    if (PyModule_Check(o) && PyModule_GetDict(o))
        return wrap_identity(tx, &kind_module, sizeof(ModuleVar), o, src, pinned, out);
    if (PyContextVar_CheckExact(o))
        return wrap_identity(tx, &kind_context, sizeof(CtxVar), o, src, pinned, out);
    if (t == &PyMethod_Type)
        return wrap_method(tx, o, src, out);
    if (t == &PyCell_Type)
        return wrap_cell(tx, o, src, out);
    if (t == &PyList_Type || strcmp(t->tp_name, "collections.deque") == 0)
        return wrap_list(tx, o, src, out);
    if (t == &PyDict_Type || t == &PyODict_Type ||
        strcmp(t->tp_name, "collections.defaultdict") == 0)
        return wrap_dict(tx, o, src, out);
    if (t == &PyTuple_Type || (PyTuple_Check(o) && torch_ready && t == torch_types.size))
        return guard_type(&tx->guards, src, t) == ST_OK ? wrap_tuple(tx, o, src, out)
                                                        : ST_ERROR;
    if (t == &PySet_Type || t == &PyFrozenSet_Type)
        return wrap_set(tx, o, src, out);
    if (PyCFunction_Check(o) || t == &PyMethodDescr_Type || t == &PyWrapperDescr_Type ||
        t == &_PyMethodWrapper_Type || t == &PyClassMethodDescr_Type ||
        t == &PyGetSetDescr_Type || t == &PyMemberDescr_Type)
        return wrap_cfunction(tx, o, src, pinned, out);
    if (is_iterator(t)) {
        TRY(guard_type(&tx->guards, src, t));
        return VAR_MAKE(tx, iter, IterVar, t, out);
    }
    if (t == &PyDictProxy_Type) {
        Status st = proxy_wrap(tx, o, src, out);
        return st == ST_DECLINE ? wrap_opaque(tx, o, src, out) : st;
    }
    if (PyWeakref_CheckProxy(o) && PyWeakref_GET_OBJECT(o) != Py_None)
        return weak_wrap(tx, o, src, out);
    if (strcmp(t->tp_name, "functools.partial") == 0)
        return partial_wrap(tx, o, src, out);
    if (PyTuple_Check(o) && wrap_is_object(t) &&
        PyObject_HasAttrString((PyObject *)t, "_fields") && wrap_is_tuple(t)) {
        TRY(guard_type(&tx->guards, src, t));
        return wrap_tuple(tx, o, src, out);
    }
    if (wrap_is_object(t))
        return wrap_object(tx, o, src, out);
    return wrap_opaque(tx, o, src, out);
}

/* -- Identity ----------------------------------------------------------------- */

static bool mutable_kind(const VarKind *k)
{
    return k == &kind_list || k == &kind_dict || k == &kind_set || k == &kind_object ||
           k == &kind_cell || k == &kind_iter || k == &kind_module || k == &kind_class;
}

static Status register_existing(Tx *tx, PyObject *o, Source *src, Var *v)
{
    v->real = tx_keep(tx, o);
    TRY_PTR(v->real);
    v->src = src;
    src->hint = o;
    if (!ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, o, v))
        return ST_ERROR;
    if (mutable_kind(v->kind) && !VEC_PUSH(&tx->arena, &tx->journal, &tx->existing, v))
        return ST_ERROR;
    return ST_OK;
}

static Status wrap_any(Tx *tx, PyObject *o, Source *src, bool pinned, Var **out)
{
    void *known;
    if (ptrmap_get(&tx->wrapped, o, &known)) {
        *out = known;
        if (src != NULL)
            src->hint = o;
        if ((*out)->src == src)
            return ST_OK;
        if (pinned) /* here it is always the same; where it was met first, it may be another */
            return (*out)->src ? guard_is(&tx->guards, (*out)->src, o) : ST_OK;
        return guard_add(&tx->guards,
                         (Guard){ .kind = GUARD_ALIAS, .src = src, .other = (*out)->src });
    }
    Var *v;
    TRY(open_touch(tx, o));
    TRY(wrap_kind(tx, o, src, pinned, &v));
    if (v->kind == &kind_const) {
        *out = v;
        return ST_OK;
    }
    TRY(register_existing(tx, o, src, v));
    *out = v;
    return ST_OK;
}

Status wrap(Tx *tx, PyObject *obj, Source *src, Var **out)
{
    TRY(wrap_value(tx, obj, src, out));
    if (*out != NULL)
        return ST_OK;
    return wrap_any(tx, obj, src, false, out);
}

Status wrap_pinned(Tx *tx, PyObject *obj, Source *src, Var **out)
{
    if (const_immutable(obj) || const_object(obj))
        return const_peek(tx, tx_keep(tx, obj), out);
    if (src == NULL) {
        src = source_get(&tx->sources, SRC_CONST, NULL, tx_keep(tx, obj), 0);
        TRY_PTR(src);
    }
    return wrap_any(tx, obj, src, true, out);
}

/* The program's own, without a place to read it from: the entry does not keep it alive. */
static Status wrap_found(Tx *tx, PyObject *obj, Var **out)
{
    if (const_object(obj))
        return const_peek(tx, tx_keep(tx, obj), out);
    Source *src = source_get(&tx->sources, SRC_CONST, NULL, tx_keep(tx, obj), FOUND);
    TRY_PTR(src);
    return wrap_any(tx, obj, src, true, out);
}

Status wrap_classvar(Tx *tx, PyObject *obj, Source *src, Var **out)
{
    if (const_immutable(obj))
        return const_known(tx, tx_keep(tx, obj), src, out);
    return src ? wrap_pinned(tx, obj, src, out) : wrap_found(tx, obj, out);
}

Status wrap_member(Tx *tx, PyObject *obj, Var **out)
{
    if (const_immutable(obj))                   /* not tuples of classes and the like */
        return const_known(tx, obj, NULL, out); /* an equal one may come */
    return wrap_found(tx, obj, out);
}

/* -- Asking for the plain value ------------------------------------------------- */

static Status const_of_tuple(Tx *tx, TupleVar *t, PyObject **out)
{
    *out = NULL;
    if (t->v.type != &PyTuple_Type)
        return ST_OK;
    for (Py_ssize_t i = 0; i < t->n;
         i++) { /* look before asking: a guard on a part helps nobody */
        Var *item = t->items[i];
        TRY(var_real(tx, &item));
        if (item->kind != &kind_const && item->kind != &kind_scalar &&
            item->kind != &kind_tuple)
            return ST_OK;
    }
    PyObject *r = tx_hold(tx, PyTuple_New(t->n));
    TRY_PTR(r);
    for (Py_ssize_t i = 0; i < t->n; i++) {
        PyObject *o;
        TRY(var_const(tx, t->items[i], &o));
        if (o == NULL)
            return ST_OK;
        PyTuple_SET_ITEM(r, i, Py_NewRef(o));
    }
    *out = r;
    return ST_OK;
}

static Status const_of_slice(Tx *tx, SliceVar *s, PyObject **out)
{
    PyObject *part[3];
    *out = NULL;
    for (int i = 0; i < 3; i++) {
        TRY(var_const(tx, s->part[i], &part[i]));
        if (part[i] == NULL)
            return ST_OK;
    }
    *out = tx_hold(tx, PySlice_New(part[0], part[1], part[2]));
    TRY_PTR(*out);
    return ST_OK;
}

Status var_const(Tx *tx, Var *v, PyObject **out)
{
    TRY(var_real(tx, &v));
    *out = NULL;
    if (v->kind == &kind_const)
        *out = v->real;
    else if (v->kind == &kind_scalar)
        return scalar_pin(tx, AS(ScalarVar, v), out);
    else if (v->kind == &kind_tuple)
        return const_of_tuple(tx, AS(TupleVar, v), out);
    else if (v->kind == &kind_slice)
        return const_of_slice(tx, AS(SliceVar, v), out);
    return ST_OK;
}

Status var_type_of(Tx *tx, Var *v, PyTypeObject **out)
{
    TRY(var_real(tx, &v));
    *out = v->type;
    return ST_OK;
}
