/*
 * var/type.c -- lookups along the MRO, each guarded once a trace.
 *
 * Static types cannot change, so nothing is recorded for them.
 */
#include "cpy/cpy.h"
#include "trace/tx.h"
#include "var/consts.h"
#include "var/made.h"

static Status lookups_of(Tx *tx, PyTypeObject *t, KeyMap **out)
{
    void *m;
    if (ptrmap_get(&tx->types, t, &m)) {
        *out = m;
        return ST_OK;
    }
    if (!cpy_type_has_names(t))
        return graph_break(tx, BRK_DYN_KEY, "the dictionary of class %s", t->tp_name);
    KeyMap *fresh = tx_alloc(tx, sizeof *fresh);
    TRY_PTR(fresh);
    if (!tx_keep(tx, (PyObject *)t) ||
        !ptrmap_put(&tx->types, &tx->arena, &tx->journal, t, fresh))
        return ST_ERROR;
    *out = fresh;
    return ST_OK;
}

/* A class attribute stored in the trace is not in the class yet: looking it up through instances and subclasses would find the old one. */
static Status not_written(Tx *tx, PyTypeObject *t, PyObject *name)
{
    PyObject *mro = t->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        void *v;
        if (ptrmap_get(&tx->wrapped, PyTuple_GET_ITEM(mro, i), &v) &&
            ((Var *)v)->kind == &kind_class && !AS(ClassVar, v)->made &&
            keymap_find_id(&AS(ClassVar, v)->writes, name))
            return graph_break(tx, BRK_NO_SLOT,
                               "class attribute '%U', which was stored just now", name);
    }
    return ST_OK;
}

Status type_lookup(Tx *tx, PyTypeObject *t, PyObject *name, PyObject **out)
{
    if (tx->class_writes)
        TRY(not_written(tx, t, name));
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        *out = cpy_type_lookup(t, name);
        return ST_OK;
    }
    if (class_made(tx, (PyObject *)t))
        return made_lookup(tx, t, name, out);
    KeyMap *m;
    TRY(open_touch(tx, (PyObject *)t));
    TRY(lookups_of(tx, t, &m));
    KeyEntry *e = keymap_find_id(m, name);
    if (e != NULL) {
        *out = e->value;
        return ST_OK;
    }
    *out = cpy_type_lookup(t, name);
    tx_keep(tx, *out);
    TRY(guard_class(&tx->guards, t, name, *out));
    return keymap_put(m, &tx->arena, &tx->journal, NULL, 0, name, *out) ? ST_OK
                                                                        : ST_ERROR;
}

/* Does the code that runs store to an attribute of that name? */
static bool stores_attr(const Frame *f, PyObject *name)
{
    for (int i = 0; f && i < f->code->n; i++) {
        const Ins *in = &f->code->ins[i];
        if (in->op == OP_STORE_ATTR &&
            PyTuple_GET_ITEM(f->code->co->co_names, in->arg) == name)
            return true;
    }
    return false;
}

Status type_counter(Tx *tx, Var *v, bool on_class, PyObject *name, Var **out)
{
    PyTypeObject *t = on_class ? (PyTypeObject *)v->real : v->type;
    KeyMap *m;
    *out = NULL;
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return ST_OK;
    TRY(lookups_of(tx, t, &m));
    PyObject *value = cpy_type_lookup(t, name);
    if (value == NULL || !class_counter(name, value, stores_attr(tx->top, name)))
        return ST_OK;
    if (tx->class_writes)
        TRY(not_written(tx, t, name));
    Source *cls = v->src;
    if (keymap_find_id(m, name) || cls == NULL) /* pinned already; or of a new object */
        return ST_OK;
    if (!on_class)
        TRY_PTR(cls = source_get(&tx->sources, SRC_TYPE, cls, NULL, 0));
    Source *src = source_get(&tx->sources, SRC_CLASSVAR, cls, name, 0);
    TRY_PTR(src);
    TRY(lazy_new(tx, value, src, out));
    return var_real(tx, out); /* its type is asked for: it must not become a descriptor */
}

/* Where a class attribute of v is found at run time, or NULL: in a class that the trace made, or what an entry can refer to weakly in that
 * of an object that the trace made. */
static Status classvar_source(Tx *tx, Var *v, PyObject *name, PyObject *value,
                              Source **out)
{
    PyObject *cls = (PyObject *)v->type;
    *out = NULL;
    bool weakly = PyType_SUPPORTS_WEAKREFS(Py_TYPE(value)) && !const_immutable(value);
    if (v->src == NULL && (weakly || class_made(tx, cls)))
        return ST_OK;
    Source *t = v->src ? source_get(&tx->sources, SRC_TYPE, v->src, NULL, 0)
                       : source_get(&tx->sources, SRC_CONST, NULL, cls, 0);
    TRY_PTR(t);
    *out = source_get(&tx->sources, SRC_CLASSVAR, t, name, 0);
    return *out ? ST_OK : ST_ERROR;
}

Status type_value(Tx *tx, Var *v, PyObject *name, PyObject *value, Var **out)
{
    Source *src;
    TRY(classvar_source(tx, v, name, value, &src));
    return wrap_classvar(tx, value, src, out);
}

Status var_special(Tx *tx, Var *v, PyObject *name, Var **out)
{
    PyObject *f;
    TRY(var_real(tx, &v));
    *out = NULL;
    TRY(type_lookup(tx, v->type, name, &f));
    if (f == NULL)
        return ST_OK;
    return type_value(tx, v, name, f, out);
}
