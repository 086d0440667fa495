/*
 * trace/op_stack.c -- stack motion, names, slots, cells.
 */
#include "cpy/peek.h"
#include "trace/run.h"
#include "var/container.h"
#include "var/names.h"

Status op_nop(Tx *tx, Frame *f, const Ins *in)
{
    return ST_OK;
}

Status op_bug(Tx *tx, Frame *f, const Ins *in)
{
    PyErr_Format(PyExc_SystemError, "jedlik: instruction %s reached the tracer",
                 op_name(in->op));
    return ST_ERROR;
}

Status op_pop_top(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    if (v && tx->resumed && v->src && v->src->kind == SRC_SLOT)
        TRY(drop(
            tx, v)); /* the result of a call that ran for real: nobody else may hold it */
    return v ? gen_left(tx, v) : ST_OK;
}

Status op_push_null(Tx *tx, Frame *f, const Ins *in)
{
    return push(tx, f, NULL);
}

Status op_copy(Tx *tx, Frame *f, const Ins *in)
{
    return push(tx, f, peek(f, in->arg));
}

Status op_swap(Tx *tx, Frame *f, const Ins *in)
{
    Var **a = &f->slots[f->sp - 1], **b = &f->slots[f->sp - (size_t)in->arg], *top = *a;
    SET(tx, *a, *b);
    SET(tx, *b, top);
    return ST_OK;
}

/* -- Constants and locals ------------------------------------------------------------ */

Status op_load_const(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = f->consts[in->arg];
    if (v == NULL) {
        TRY(const_peek(tx, PyTuple_GET_ITEM(f->code->co->co_consts, in->arg), &v));
        f->consts[in->arg] = v; /* the same whatever happens: not journalled */
    }
    return push(tx, f, v);
}

static Status unbound(Tx *tx, Frame *f, int slot)
{
    PyObject *name = PyTuple_GET_ITEM(f->code->co->co_localsplusnames, slot);
    if (f->code->kinds[slot] & SLOT_FREE)
        return raise_type(tx, PyExc_NameError,
                          "cannot access free variable '%U' where it is not associated "
                          "with a value in enclosing scope",
                          name);
    return raise_type(
        tx, PyExc_UnboundLocalError,
        "cannot access local variable '%U' where it is not associated with a value", name);
}

/* A slot that a later entry at this point may find unbound. */
static Status bound(Tx *tx, const Var *v)
{
    if (!tx->resumed || v->src == NULL || v->src->kind != SRC_SLOT)
        return ST_OK;
    return guard_bound(&tx->guards, v->src, true);
}

Status op_load_fast(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = f->slots[in->arg];
    if (v == NULL)
        return unbound(tx, f, in->arg);
    TRY(bound(tx, v));
    return push(tx, f, v);
}

enum { MANY = 16 };

/* Behind a break, a slot may hold on later calls what no caller holds. */
static Status leave_entered(Tx *tx, const Var *old)
{
    if (!tx->resumed || old->src == NULL || old->src->kind != SRC_SLOT)
        return ST_OK;
    return sole_leaves(tx, old);
}

/* The same for a new list or tuple: what it alone may still hold. */
static Status leave_new(Tx *tx, Var *old)
{
    bool list = old->kind == &kind_list, tuple = old->kind == &kind_tuple;
    Var **v = list ? AS(ListVar, old)->items.v : tuple ? AS(TupleVar, old)->items : NULL;
    size_t n = list    ? AS(ListVar, old)->items.n
               : tuple ? (size_t)AS(TupleVar, old)->n
                       : 0;
    for (size_t i = 0; i < n && i < MANY; i++)
        if (v[i]->real && v[i]->kind != &kind_const && cpy_finalized(v[i]->real))
            return graph_break(tx, BRK_FINALIZER, "%s", Py_TYPE(v[i]->real)->tp_name);
    return ST_OK;
}

/* An old value that runs code when it goes, itself or as an item (of a pair of dict.items()), has to go now. */
static Status leave_slot(Tx *tx, Var *old)
{
    PyObject *o = old ? old->real : NULL;
    TRY(gen_left(tx, old));
    if (old && o == NULL)
        return leave_new(tx, old);
    if (old && (old->src == NULL || !source_keeps(old->src)))
        weak_drop(tx, o);
    if (o == NULL || old->kind == &kind_const)
        return ST_OK;
    bool runs = cpy_finalized(o);
    Py_ssize_t n =
        PyTuple_CheckExact(o) || PyList_CheckExact(o) ? PySequence_Fast_GET_SIZE(o) : 0;
    for (Py_ssize_t i = 0; i < n && i < MANY && !runs; i++)
        runs = cpy_finalized(PySequence_Fast_GET_ITEM(o, i));
    return runs ? graph_break(tx, BRK_FINALIZER, "%s", Py_TYPE(o)->tp_name)
                : leave_entered(tx, old);
}

Status op_store_fast(Tx *tx, Frame *f, const Ins *in)
{
    Var *v = pop(tx, f);
    TRY(leave_slot(tx, f->slots[in->arg]));
    SET(tx, f->slots[in->arg], v);
    return ST_OK;
}

Status op_delete_fast(Tx *tx, Frame *f, const Ins *in)
{
    if (f->slots[in->arg] == NULL)
        return unbound(tx, f, in->arg);
    TRY(bound(tx, f->slots[in->arg]));
    TRY(leave_slot(tx, f->slots[in->arg]));
    TRY(drop(tx, f->slots[in->arg]));
    SET(tx, f->slots[in->arg], NULL);
    return ST_OK;
}

/* -- Globals ----------------------------------------------------------------------------- */

static Status builtins_dict(Tx *tx, PyObject *dict, Source *owner, Var **out)
{
    void *known;
    if (ptrmap_get(&tx->wrapped, dict, &known)) {
        *out = known;
        return ST_OK;
    }
    TRY(VAR_MAKE(tx, dict, DictVar, &PyDict_Type, out));
    (*out)->real = tx_keep(tx, dict);
    (*out)->src = source_get(&tx->sources, SRC_BUILTINS, owner, NULL, 0);
    TRY_PTR((*out)->src);
    return ptrmap_put(&tx->wrapped, &tx->arena, &tx->journal, dict, *out) ? ST_OK
                                                                          : ST_ERROR;
}

/* Those of the function that was entered are the usual ones; a function may bring others along. */
static Status builtins_of(Tx *tx, Frame *f, DictVar **out)
{
    FuncVar *root = tx->root->fn, *fn = f->fn;
    if (tx->builtins == NULL) {
        PyObject *dict = root->v.real ? ((PyFunctionObject *)root->v.real)->func_builtins
                                      : PyEval_GetBuiltins();
        Var *usual;
        TRY(builtins_dict(tx, dict, root->v.src, &usual));
        SET(tx, tx->builtins, usual);
    }
    PyObject *own = fn->v.real ? ((PyFunctionObject *)fn->v.real)->func_builtins : NULL;
    if (fn->builtins == NULL && own && own != tx->builtins->real) {
        Var *d;
        TRY(builtins_dict(tx, own, fn->v.src, &d));
        SET(tx, fn->builtins, d);
    }
    *out = AS(DictVar, fn->builtins ? fn->builtins : tx->builtins);
    return ST_OK;
}

static PyObject *name_of(Frame *f, const Ins *in)
{
    return PyTuple_GET_ITEM(f->code->co->co_names, in->arg);
}

Status op_load_global(Tx *tx, Frame *f, const Ins *in)
{
    PyObject *name = name_of(f, in);
    Var *v;
    DictVar *b;
    TRY(dict_get_str(tx, AS(DictVar, f->fn->globals), name, &v));
    if (v == NULL) {
        TRY(builtins_of(tx, f, &b));
        TRY(dict_get_str(tx, b, name, &v));
    }
    if (v == NULL)
        return raise_type(tx, PyExc_NameError, "name '%U' is not defined", name);
    if (in->flag)
        TRY(push(tx, f, NULL));
    return push(tx, f, v);
}

Status frame_builtins(Tx *tx, DictVar **out)
{
    return builtins_of(tx, tx->top, out);
}

Status load_builtin(Tx *tx, Frame *f, PyObject *name)
{
    DictVar *b;
    Var *v;
    TRY(builtins_of(tx, f, &b));
    TRY(dict_get_str(tx, b, name, &v));
    return v ? push(tx, f, v) : raise_type(tx, PyExc_NameError, "%U not found", name);
}

Status op_store_global(Tx *tx, Frame *f, const Ins *in)
{
    return dict_set_str(tx, AS(DictVar, f->fn->globals), name_of(f, in), pop(tx, f));
}

Status op_delete_global(Tx *tx, Frame *f, const Ins *in)
{
    PyObject *name = name_of(f, in);
    bool was;
    TRY(dict_del(tx, AS(DictVar, f->fn->globals), name, PyObject_Hash(name), &was));
    return was ? ST_OK
               : raise_type(tx, PyExc_NameError, "name '%U' is not defined", name);
}

/* -- Cells ---------------------------------------------------------------------------------- */

Status op_make_cell(Tx *tx, Frame *f, const Ins *in)
{
    Var *c;
    TRY(cell_new(tx, f->slots[in->arg], &c));
    SET(tx, f->slots[in->arg], c);
    return ST_OK;
}

Status op_copy_free_vars(Tx *tx, Frame *f, const Ins *in)
{
    int first = f->code->nlocalsplus - in->arg;
    for (int i = 0; i < in->arg; i++)
        SET(tx, f->slots[first + i], f->fn->closure[i]);
    return ST_OK;
}

Status op_load_closure(Tx *tx, Frame *f, const Ins *in)
{
    return push(tx, f, f->slots[in->arg]);
}

Status op_load_deref(Tx *tx, Frame *f, const Ins *in)
{
    Var *cell = f->slots[in->arg], *v;
    TRY(var_real(tx, &cell));
    TRY(cell_get(tx, AS(CellVar, cell), &v));
    return v ? push(tx, f, v) : unbound(tx, f, in->arg);
}

Status op_store_deref(Tx *tx, Frame *f, const Ins *in)
{
    Var *cell = f->slots[in->arg];
    TRY(var_real(tx, &cell));
    return cell_set(tx, AS(CellVar, cell), pop(tx, f));
}

Status op_delete_deref(Tx *tx, Frame *f, const Ins *in)
{
    Var *cell = f->slots[in->arg], *v;
    TRY(var_real(tx, &cell));
    TRY(cell_get(tx, AS(CellVar, cell), &v));
    return v ? cell_set(tx, AS(CellVar, cell), NULL) : unbound(tx, f, in->arg);
}
