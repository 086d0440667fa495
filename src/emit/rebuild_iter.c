/*
 * emit/rebuild_iter.c -- recipes of iterators and generators made in the trace.
 */
#include "emit/rebuild.h"

/* -- Over sequences ------------------------------------------------------------------------ */

/* Something empty that gives an iterator of this type; new reference or NULL: unknown type. */
static PyObject *empty_for(PyTypeObject *t)
{
    if (t == &PyTupleIter_Type)
        return PyTuple_New(0);
    if (t == &PyListIter_Type || t == &PyListRevIter_Type)
        return PyList_New(0);
    if (t == &PySetIter_Type)
        return PySet_New(NULL);
    if (t == &PyDictIterKey_Type || t == &PyDictIterValue_Type ||
        t == &PyDictIterItem_Type)
        return PyDict_New();
    if (t == &PyRangeIter_Type)
        return PyObject_CallFunction((PyObject *)&PyRange_Type, "i", 0);
    return NULL;
}

static Status exhausted(Emit *e, Item *it)
{
    PyObject *empty = empty_for(it->v->type);
    if (empty == NULL)
        return PyErr_Occurred() ? ST_ERROR
                                : graph_break(e->tx, BRK_REBUILD, "exhausted %s",
                                              it->v->type->tp_name);
    TRY_PTR(tx_hold(e->tx, empty));
    return emit_load_obj(e, empty);
}

/* make_iter(type, seq, at); the steps of an exhausted one go past the end. */
Status build_iter(Emit *e, Item *it)
{
    IterVar *i = AS(IterVar, it->v);
    if (i->seq == NULL && i->items && i->at < (uintptr_t)i->n)
        return graph_break(e->tx, BRK_REBUILD, "%s", it->v->type->tp_name);
    put_helper(e, HELPER_make_iter);
    TRY(emit_load_obj(e, (PyObject *)it->v->type));
    TRY(i->seq ? emit_load(e, i->seq) : exhausted(e, it));
    PyObject *at = tx_hold(e->tx, PyLong_FromSize_t(i->seq ? i->at : 1));
    TRY_PTR(at);
    put_const(e, at);
    put_call(e, 3);
    return ST_OK;
}

/* -- Over iterators ---------------------------------------------------------------------------- */

static Status wrap_args(Emit *e, WrapIterVar *w, int *n)
{
    *n = w->n;
    if (w->fn && w->what != 'e') {
        TRY(emit_load(e, w->fn));
        ++*n;
    }
    TRY(put_all(e, w->its, w->n));
    if (w->what != 'e')
        return ST_OK;
    PyObject *at = tx_hold(e->tx, PyLong_FromSize_t(w->at));
    TRY_PTR(at);
    put_const(e, at);
    ++*n;
    return ST_OK;
}

Status build_wrapiter(Emit *e, Item *it)
{
    WrapIterVar *w = AS(WrapIterVar, it->v);
    int n;
    if (strchr("mfze", w->what) == NULL)
        return graph_break(e->tx, BRK_REBUILD, "%s", it->v->type->tp_name);
    TRY(put_callee(e, (PyObject *)it->v->type));
    TRY(wrap_args(e, w, &n));
    PyObject *kw = w->strict ? tx_hold(e->tx, Py_BuildValue("(s)", "strict")) : NULL;
    if (w->strict) {
        TRY_PTR(kw);
        put_const(e, Py_True);
        n++;
    }
    if (e->code)
        asm_call(e->code, n, kw);
    return ST_OK;
}

/* -- Generators ------------------------------------------------------------------------------------ */

/* The value an argument slot was entered with: MAKE_CELL has put those that are cells into cells. */
static Var *entered(Frame *f, int i)
{
    Var *v = f->slots[i];
    return v && v->kind->id == KIND_cell && f->code->kinds[i] & SLOT_CELL
               ? AS(CellVar, v)->content
               : v;
}

static Status put_slots(Emit *e, Frame *f)
{
    PyCodeObject *co = f->code->co;
    int n = co->co_argcount + co->co_kwonlyargcount + !!(co->co_flags & CO_VARARGS) +
            !!(co->co_flags & CO_VARKEYWORDS);
    for (int i = 0; i < n; i++)
        TRY(emit_load(e, entered(f, i)));
    put(e, OP_BUILD_TUPLE, n);
    return ST_OK;
}

static Status created(Emit *e, GenVar *g)
{
    put_helper(e, HELPER_make_gen);
    TRY(emit_load(e, &g->fn->v));
    TRY(put_slots(e, g->frame));
    put_call(e, 2);
    return ST_OK;
}

static Status finished(Emit *e, GenVar *g)
{
    put_helper(e, HELPER_closed_gen);
    TRY(emit_load(e, &g->fn->v));
    put_call(e, 1);
    return ST_OK;
}

/* The YIELD_VALUE it stands behind. */
static int yielded_at(const Frame *f)
{
    size_t i = f->pc;
    while (i > 0 && f->code->ins[i - 1].op != OP_YIELD_VALUE)
        i--;
    return cpy_lasti(f->code, (int)i - 1);
}

static Status suspended(Emit *e, GenVar *g)
{
    Frame *f = g->frame;
    int n = 0;
    PyObject *present =
        tx_hold(e->tx, PyBytes_FromStringAndSize(NULL, (Py_ssize_t)f->sp));
    PyObject *unit = tx_hold(e->tx, PyLong_FromLong(yielded_at(f)));
    if (present == NULL || unit == NULL)
        return ST_ERROR;
    put_helper(e, HELPER_resume_gen);
    TRY(emit_load(e, &g->fn->v));
    put_const(e, unit);
    TRY(emit_load(e, g->exc_saved ? g->exc_saved : tx_none(e->tx)));
    put_const(e, present);
    for (size_t i = 0; i < f->sp; i++) {
        PyBytes_AS_STRING(present)[i] = f->slots[i] != NULL;
        if (f->slots[i])
            TRY(emit_load(e, f->slots[i]));
        n += f->slots[i] != NULL;
    }
    put_call(e, 4 + n);
    return ST_OK;
}

Status build_gen(Emit *e, Item *it)
{
    GenVar *g = AS(GenVar, it->v);
    switch ((GenState)g->state) {
    case GEN_CREATED: return created(e, g);
    case GEN_SUSPENDED: return suspended(e, g);
    case GEN_DONE: return finished(e, g);
    default: return graph_break(e->tx, BRK_REBUILD, "a running generator");
    }
}
