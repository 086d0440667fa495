/*
 * trace/op_class.c -- instructions of class bodies: names live in the frame's namespace, a mapping.
 *
 * The frame is entered by builtin/build.c, which waits for its end: a break inside goes back to the class statement.
 */
#include "trace/run.h"
#include "base/switches.h"
#include "var/names.h"

static PyObject *name_of(Frame *f, const Ins *in)
{
    return PyTuple_GET_ITEM(f->code->co->co_names, in->arg);
}

static bool is_dict(Var *v)
{
    return v->kind == &kind_dict && v->type == &PyDict_Type;
}

static Status own_namespace(Tx *tx, Frame *f, Var **ns)
{
    if (f->locals == NULL)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "code without a namespace");
    *ns = f->locals;
    return var_real(tx, ns);
}

/* *out NULL: not there. */
static Status lookup(Tx *tx, Frame *f, PyObject *name, Var **out)
{
    Var *ns, *key;
    TRY(own_namespace(tx, f, &ns));
    if (is_dict(ns))
        return dict_get_str(tx, AS(DictVar, ns), name, out);
    TRY(const_peek(tx, name, &key));
    Status st = var_getitem(tx, ns, key, out);
    if (st != ST_RAISE || !exc_matches(tx, PyExc_KeyError))
        return st;
    exc_clear(tx);
    *out = NULL;
    return ST_OK;
}

static Status store(Tx *tx, Frame *f, PyObject *name, Var *value)
{
    Var *ns, *key;
    TRY(own_namespace(tx, f, &ns));
    if (is_dict(ns))
        return dict_set_str(tx, AS(DictVar, ns), name, value);
    TRY(const_peek(tx, name, &key));
    return var_setitem(tx, ns, key, value);
}

Status op_load_name(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(lookup(tx, f, name_of(f, in), &v));
    return v ? push(tx, f, v) : op_load_global(tx, f, in);
}

Status op_store_name(Tx *tx, Frame *f, const Ins *in)
{
    return store(tx, f, name_of(f, in), pop(tx, f));
}

Status op_delete_name(Tx *tx, Frame *f, const Ins *in)
{
    Var *ns, *there, *key;
    PyObject *name = name_of(f, in);
    TRY(lookup(tx, f, name, &there));
    if (there == NULL)
        return raise_type(tx, PyExc_NameError, "name '%U' is not defined", name);
    TRY(own_namespace(tx, f, &ns));
    TRY(const_peek(tx, name, &key));
    return var_setitem(tx, ns, key, NULL);
}

Status op_load_classderef(Tx *tx, Frame *f, const Ins *in)
{
    Var *v;
    TRY(lookup(tx, f, PyTuple_GET_ITEM(f->code->co->co_localsplusnames, in->arg), &v));
    return v ? push(tx, f, v) : op_load_deref(tx, f, in);
}

Status op_setup_annotations(Tx *tx, Frame *f, const Ins *in)
{
    Var *there, *fresh;
    TRY(lookup(tx, f, str___annotations__, &there));
    if (there != NULL)
        return ST_OK;
    TRY(dict_new(tx, &fresh));
    return store(tx, f, str___annotations__, fresh);
}

Status op_load_build_class(Tx *tx, Frame *f, const Ins *in)
{
    PyObject *name = tx_hold(tx, PyUnicode_InternFromString("__build_class__"));
    TRY_PTR(name);
    if (!switches.capture_class_bodies)
        return graph_break(tx, BRK_CLASS_BODY, "%s", "config.capture_class_bodies is off");
    return load_builtin(tx, f, name);
}
