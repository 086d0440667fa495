/*
 * emit/rebuild_iter.c -- recipes of iterators and generators made in the trace.
 */
#include "emit/rebuild.h"

#include "var/binops.h"
#include "var/container.h"

/* -- Over sequences ------------------------------------------------------------------------ */

/* None stands for something empty that gives an iterator of this type. */
static Status exhausted(Emit *e, Item *it)
{
    PyObject *empty = helper_empty(it->v->type);
    if (empty == NULL)
        return PyErr_Occurred() ? ST_ERROR
                                : graph_break(e->tx, BRK_REBUILD, "exhausted %s",
                                              it->v->type->tp_name);
    TRY_PTR(tx_hold(e->tx, empty));
    put_const(e, Py_None);
    return ST_OK;
}

/* How many items a dict's iterator has given: the trace counts places. */
static Status dict_count_to(Emit *e, DictVar *d, size_t at, Py_ssize_t *n)
{
    DictPos p = { 0 };
    bool more = true;
    for (*n = 0; more && p.at < at; ++*n)
        TRY(dict_step(e->tx, d, &p, &more));
    return ST_OK;
}

static Status position(Emit *e, IterVar *i, Py_ssize_t *at)
{
    KindId k = i->seq->kind->id;
    *at = (Py_ssize_t)i->at;
    if (k != KIND_dict && k != KIND_dictview)
        return ST_OK;
    if (i->step < 0)
        return graph_break(e->tx, BRK_REBUILD, "%s", i->v.type->tp_name);
    Var *d = k == KIND_dict ? i->seq : AS(DictViewVar, i->seq)->dict;
    return dict_count_to(e, AS(DictVar, d), i->at, at);
}

static Status put_number(Emit *e, Py_ssize_t n)
{
    PyObject *number = tx_hold(e->tx, PyLong_FromSsize_t(n));
    TRY_PTR(number);
    put_const(e, number);
    return ST_OK;
}

/* What the iterator walks is complete only once all effects are written. */
static Status grows(Emit *e, IterVar *i, bool *yes)
{
    Var *seq = i->seq;
    Item *it;
    *yes = false;
    if (seq == NULL)
        return ST_OK;
    if (seq->kind->id == KIND_dictview)
        seq = AS(DictViewVar, seq)->dict;
    seq = emit_settled(seq);
    TRY(emit_item(e, seq, &it));
    *yes = (seq->real && seq->dirty) || (it->how == HOW_BUILD && (it->open || it->shell));
    return ST_OK;
}

/* type, seq, at: an exhausted one is stepped past its end. */
static Status put_parts(Emit *e, Item *it, Py_ssize_t at)
{
    IterVar *i = AS(IterVar, it->v);
    TRY(emit_load_obj(e, (PyObject *)it->v->type));
    TRY(i->seq ? emit_load(e, i->seq) : exhausted(e, it));
    return put_number(e, at);
}

static Status renew(Emit *e, Item *it)
{
    Py_ssize_t at = 1;
    TRY(position(e, AS(IterVar, it->v), &at));
    put_helper(e, HELPER_renew_iter);
    put(e, OP_LOAD_FAST, it->slot);
    TRY(put_parts(e, it, at));
    put_call(e, 4);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

Status emit_renew(Emit *e)
{
    for (size_t i = 0; i < e->renewed.n; i++)
        TRY(renew(e, e->renewed.v[i]));
    return ST_OK;
}

Status build_iter(Emit *e, Item *it)
{
    IterVar *i = AS(IterVar, it->v);
    Py_ssize_t at = 1;
    bool stale;
    TRY(iter_stale(e->tx, i, &stale));
    if (stale)
        return graph_break(e->tx, BRK_REBUILD, "%s over something that has changed since",
                           it->v->type->tp_name);
    if (i->seq)
        TRY(position(e, i, &at));
    put_helper(e, HELPER_make_iter);
    TRY(put_parts(e, it, it->renew ? 0 : at));
    put_call(e, 3);
    if (e->code == NULL) {
        TRY(grows(e, i, &it->renew));
        if (it->renew)
            TRY(renew(e, it));
    }
    return ST_OK;
}

/* -- Over iterators ---------------------------------------------------------------------------- */

static Status put_or_none(Emit *e, Var *v)
{
    return emit_load(e, v ? v : tx_none(e->tx));
}

static Status no_wrap(Emit *e, WrapIterVar *w)
{
    return graph_break(e->tx, BRK_REBUILD, "%s", w->v.type->tp_name);
}

/* type(parts...): f the function or None, * all iterators, 0 the first one. */
static Status put_wrap(Emit *e, WrapIterVar *w, const char *parts)
{
    int n = 0;
    TRY(put_callee(e, (PyObject *)w->v.type));
    for (const char *c = parts; *c; c++) {
        if (*c == 'f')
            TRY(put_or_none(e, w->fn));
        else
            TRY(put_all(e, w->its, *c == '0' ? 1 : w->n));
        n += *c == '*' ? w->n : 1;
    }
    put_call(e, n);
    return ST_OK;
}

/* it.__setstate__(state), with the iterator and the helper already on the stack, state on top. */
static Status put_state(Emit *e, Var *state)
{
    TRY(emit_load(e, state));
    put_call(e, 2);
    return ST_OK;
}

static Status wrap_zip(Emit *e, WrapIterVar *w)
{
    PyObject *kw = tx_hold(e->tx, Py_BuildValue("(s)", "strict"));
    TRY_PTR(kw);
    TRY(put_callee(e, (PyObject *)w->v.type));
    TRY(put_all(e, w->its, w->n));
    if (w->strict)
        put_const(e, Py_True);
    if (e->code)
        asm_call(e->code, w->n + w->strict, w->strict ? kw : NULL);
    return ST_OK;
}

static Status wrap_enumerate(Emit *e, WrapIterVar *w)
{
    Var *v[2] = { w->its[0] };
    TRY(const_int(e->tx, (Py_ssize_t)w->at, &v[1]));
    if (w->fn)
        TRY(var_binary(e->tx, w->fn, v[1], BINOP_ADD, &v[1]));
    return put_new(e, w->v.type, v, 2);
}

static Status wrap_callable(Emit *e, WrapIterVar *w)
{
    PyObject *iter = PyDict_GetItemString(PyEval_GetBuiltins(), "iter");
    if (w->its[0] == NULL || iter == NULL)
        return no_wrap(e, w);
    TRY(put_callee(e, iter));
    TRY(emit_load(e, w->fn));
    TRY(emit_load(e, w->its[0]));
    put_call(e, 2);
    return ST_OK;
}

static Status wrap_index(Emit *e, WrapIterVar *w)
{
    if (w->its[0] == NULL)
        return no_wrap(e, w);
    put_helper(e, HELPER_make_iter);
    TRY(emit_load_obj(e, (PyObject *)w->v.type));
    TRY(emit_load(e, w->its[0]));
    TRY(put_number(e, (Py_ssize_t)w->at));
    put_call(e, 3);
    return ST_OK;
}

/* chain() with (source, current) as its state. */
static Status wrap_chain(Emit *e, WrapIterVar *w)
{
    Var *state;
    if (w->its[0] == NULL)
        return put_new(e, w->v.type, NULL, 0);
    TRY(tuple_new(e->tx, w->its, w->its[1] ? 2 : 1, &state));
    put_helper(e, HELPER_set_state);
    TRY(put_new(e, w->v.type, NULL, 0));
    return put_state(e, state);
}

static Status wrap_islice(Emit *e, WrapIterVar *w)
{
    Var *v[4] = { w->its[0], NULL, tx_none(e->tx) };
    Py_ssize_t at = (Py_ssize_t)w->at;
    if (w->its[0] == NULL) {
        TRY(tuple_new(e->tx, NULL, 0, &v[0]));
        TRY(const_int(e->tx, 0, &v[1]));
        return put_new(e, w->v.type, v, 2);
    }
    TRY(const_int(e->tx, (Py_ssize_t)w->state - at, &v[1]));
    if (w->stop >= 0)
        TRY(const_int(e->tx, w->stop - at, &v[2]));
    TRY(const_int(e->tx, w->step, &v[3]));
    return put_new(e, w->v.type, v, 4);
}

static Status wrap_repeat(Emit *e, WrapIterVar *w)
{
    Var *v[2] = { w->fn };
    bool ever = w->at == UINTPTR_MAX;
    if (!ever)
        TRY(const_int(e->tx, (Py_ssize_t)w->at, &v[1]));
    return put_new(e, w->v.type, v, ever ? 1 : 2);
}

static Status wrap_count(Emit *e, WrapIterVar *w)
{
    Var *v[2] = { (Var *)w->state, w->fn };
    return put_new(e, w->v.type, v, 2);
}

/* cycle(rest) with (what was seen, 1 once that is all) as its state. */
static Status wrap_cycle(Emit *e, WrapIterVar *w)
{
    Var *state[2] = { w->its[1] }, *tuple;
    put_helper(e, HELPER_set_state);
    TRY(put_callee(e, (PyObject *)w->v.type));
    if (w->state) {
        put_helper(e, HELPER_make_iter);
        TRY(emit_load_obj(e, (PyObject *)&PyListIter_Type));
        TRY(emit_load(e, w->its[1]));
        TRY(put_number(e, (Py_ssize_t)w->at));
        put_call(e, 3);
    } else
        TRY(emit_load(e, w->its[0]));
    put_call(e, 1);
    TRY(const_int(e->tx, w->state != 0, &state[1]));
    TRY(tuple_new(e->tx, state, 2, &tuple));
    return put_state(e, tuple);
}

static Status wrap_accumulate(Emit *e, WrapIterVar *w)
{
    Var *v[3] = { w->its[0], w->fn ? w->fn : tx_none(e->tx), w->its[1] };
    Var *total = (Var *)w->state;
    if (total == NULL && w->its[1]) {
        PyObject *kw = tx_hold(e->tx, Py_BuildValue("(s)", "initial"));
        TRY_PTR(kw);
        TRY(put_callee(e, (PyObject *)w->v.type));
        TRY(put_all(e, v, 3));
        if (e->code)
            asm_call(e->code, 3, kw);
        return ST_OK;
    }
    if (total)
        put_helper(e, HELPER_set_state);
    TRY(put_new(e, w->v.type, v, 2));
    return total ? put_state(e, total) : ST_OK;
}

/* takewhile, dropwhile: whether the first part is over. */
static Status wrap_while(Emit *e, WrapIterVar *w)
{
    if (!w->state)
        return put_wrap(e, w, "f0");
    put_helper(e, HELPER_set_state);
    TRY(put_wrap(e, w, "f0"));
    return put_state(e, tx_bool(e->tx, true));
}

static Status wrap_pairwise(Emit *e, WrapIterVar *w)
{
    return w->its[0] && !w->state ? put_wrap(e, w, "0") : no_wrap(e, w);
}

static Status wrap_longest(Emit *e, WrapIterVar *w)
{
    PyObject *kw = tx_hold(e->tx, Py_BuildValue("(s)", "fillvalue"));
    Var *none;
    TRY_PTR(kw);
    TRY(tuple_new(e->tx, NULL, 0, &none));
    TRY(put_callee(e, (PyObject *)w->v.type));
    for (int i = 0; i < w->n; i++)
        TRY(emit_load(e, w->its[i] ? w->its[i] : none));
    TRY(put_or_none(e, w->fn));
    if (e->code)
        asm_call(e->code, w->n + 1, kw);
    return ST_OK;
}

typedef struct WrapRow {
    const char *parts; /* for put_wrap, or */
    Status (*build)(Emit *e, WrapIterVar *w);
} WrapRow;

static const WrapRow wraps[128] = {
    ['m'] = { "f*", NULL },
    ['f'] = { "f*", NULL },
    ['F'] = { "f*", NULL },
    ['S'] = { "f*", NULL },
    ['C'] = { "*", NULL },
    ['z'] = { NULL, wrap_zip },
    ['e'] = { NULL, wrap_enumerate },
    ['c'] = { NULL, wrap_callable },
    ['q'] = { NULL, wrap_index },
    ['R'] = { NULL, wrap_index },
    ['h'] = { NULL, wrap_chain },
    ['s'] = { NULL, wrap_islice },
    ['r'] = { NULL, wrap_repeat },
    ['n'] = { NULL, wrap_count },
    ['y'] = { NULL, wrap_cycle },
    ['a'] = { NULL, wrap_accumulate },
    ['t'] = { NULL, wrap_while },
    ['d'] = { NULL, wrap_while },
    ['p'] = { NULL, wrap_pairwise },
    ['Z'] = { NULL, wrap_longest },
};

Status build_wrapiter(Emit *e, Item *it)
{
    WrapIterVar *w = AS(WrapIterVar, it->v);
    const WrapRow *row = &wraps[(unsigned char)w->what];
    if (row->parts)
        return put_wrap(e, w, row->parts);
    return row->build ? row->build(e, w) : no_wrap(e, w);
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
    if (g->fn->v.real != NULL && g->fn->attrs &&
        g->fn->attrs->v.dirty) /* it may have been given another name */
        return graph_break(e->tx, BRK_REBUILD, "%s",
                           "a generator of a function that was changed");
    switch ((GenState)g->state) {
    case GEN_CREATED: return created(e, g);
    case GEN_SUSPENDED: return suspended(e, g);
    case GEN_DONE: return finished(e, g);
    default: return graph_break(e->tx, BRK_REBUILD, "a running generator");
    }
}
