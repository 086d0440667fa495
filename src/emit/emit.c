/*
 * emit/emit.c -- from the final state of a trace to a cache entry, as a list of verbs.
 */
#include "emit/plan.h"
#include "torch/failure.h"
#include "torch/revert.h"

/* -- What the segment ends in ------------------------------------------------------ */

/* First pass counts the values of an exit tuple. */
static Status load_root(Emit *e, Var *v)
{
    e->nroots++;
    return emit_load(e, v);
}

static Status load_frame(Emit *e, Frame *f)
{
    if (f != e->tx->root)
        TRY(load_root(e, &f->fn->v));
    for (size_t i = 0; i < f->sp; i++)
        if (f->slots[i])
            TRY(load_root(e, f->slots[i]));
    return ST_OK;
}

static Status load_frames(Emit *e, Frame *f)
{
    if (f != e->tx->root)
        TRY(load_frames(e, f->up));
    return load_frame(e, f);
}

Status emit_load_frames(Emit *e)
{
    e->nroots = 0;
    TRY(load_frames(e, e->tx->top));
    if (e->tx->handled != e->tx->handled0)
        TRY(load_root(e, e->tx->handled ? e->tx->handled : tx_none(e->tx)));
    put(e, OP_BUILD_TUPLE, e->nroots);
    return ST_OK;
}

/* Unit at which an instruction is entered: a CALL with keywords at its KW_NAMES. */
static int unit_of(const Frame *f)
{
    const Ins *in = &f->code->ins[f->cur];
    bool kw = in->op == OP_CALL && f->cur > 0 && in[-1].op == OP_KW_NAMES;
    return kw ? in[-1].at : in->at;
}

static Status describe(Emit *e, Frame *f, ExitFrame *x, bool innermost)
{
    x->co = f->code->co;
    x->own = x->co != e->point->co;
    if (x->own)
        Py_INCREF(x->co);
    x->at = unit_of(f);
    x->resume = innermost ? x->at : f->code->ins[f->cur].end;
    x->nslots = (int)f->sp;
    x->depth = x->nslots - f->code->nlocalsplus;
    x->present = mem_alloc(f->sp);
    TRY_PTR(x->present);
    for (size_t i = 0; i < f->sp; i++)
        x->present[i] = f->slots[i] != NULL;
    return ST_OK;
}

static Status fill_exit(Emit *e, Exit *x)
{
    Tx *tx = e->tx;
    int n = 1;
    for (Frame *f = tx->top; f != tx->root; f = f->up)
        n++;
    x->frames = mem_alloc((size_t)n * sizeof *x->frames);
    TRY_PTR(x->frames);
    x->nframes = n;
    for (Frame *f = tx->top; n > 0; f = f->up)
        TRY(describe(e, f, &x->frames[--n], f == tx->top));
    x->has_exc = tx->handled != tx->handled0;
    x->cut = tx->brk.cut;
    x->brk = tx->brk.id;
    x->reason = PyUnicode_FromString(tx->brk.text ? tx->brk.text : "");
    return x->reason ? ST_OK : ST_ERROR;
}

Status emit_exit(Emit *e, Exit **out)
{
    Exit *x = mem_alloc(sizeof *x);
    TRY_PTR(x);
    Status st = fill_exit(e, x);
    if (st == ST_OK)
        *out = x;
    else
        exit_free(x);
    return st;
}

/* -- First pass ---------------------------------------------------------------------- */

static Status load_result(Emit *e, Var *value)
{
    return value ? emit_load(e, value) : emit_load_frames(e);
}

/* Dead nodes that would raise or warn stay; true if there are any. */
static bool keep_what_may_fail(Graph *g)
{
    bool any = false;
    for (size_t i = 0; i < g->node.n; i++) {
        Node *n = &g->node.v[i];
        if (n->kind == NODE_INPUT || n->live || dead_node_goes(g, n))
            continue;
        n->pure = false;
        n->raises = true;
        any = true;
    }
    return any;
}

static void prune(Emit *e, Graph *g)
{
    /* Whatever the backend: it may give back our own runner, which needs them. */
    g->keep = e->tx->late == NULL ? graph_hazard(g) : 0;
    e->nops = graph_prune(g, e->outputs.v, (int)e->outputs.n);
}

static Status plan_graph(Emit *e)
{
    Graph *g = &e->tx->graph;
    prune(e, g);
    if (keep_what_may_fail(g))
        prune(e, g);
    int index;
    for (size_t i = 0; e->nops && i < g->node.n; i++)
        if (g->node.v[i].kind == NODE_INPUT && g->node.v[i].live)
            TRY(emit_export(e, g->node.v[i].src, g->node.v[i].expr, &index));
    return ST_OK;
}

static bool planned(const Emit *e, const Var *v)
{
    for (size_t i = 0; i < e->items.n; i++)
        if (e->items.v[i]->v == v)
            return true;
    return false;
}

/* A generator that nobody can reach any more was closed when its last reference went, somewhere on the way here: the
 * trace has to end before the first of them is begun. */
static Status abandoned(Emit *e)
{
    GenVar *first = NULL;
    for (size_t i = 0; i < e->tx->gens.n; i++) {
        GenVar *g = e->tx->gens.v[i];
        if (gen_open(g) && !planned(e, &g->v) && (!first || g->begun < first->begun))
            first = g;
    }
    if (first == NULL)
        return ST_OK;
    Status st =
        graph_break(e->tx, BRK_ABANDONED, "%U", first->frame->code->co->co_qualname);
    e->tx->brk.born = first->begun;
    return st;
}

static Status plan(Emit *e, Var *value)
{
    TRY(load_result(e, value));
    TRY(emit_list_effects(e));
    TRY(abandoned(e));
    return plan_graph(e);
}

/* -- Second pass ----------------------------------------------------------------------- */

static void declare_args(Emit *e)
{
    e->graph = asm_arg(e->code, "graph");
    e->first_arg = e->graph + 1;
    for (size_t i = 0; i < e->exports.n; i++) {
        Text t = { 0 };
        Export *x = &e->exports.v[i];
        if (x->expr)
            expr_print(&t, x->expr, e->tx->slot_names);
        else
            source_print(&t, x->src, e->tx->slot_names);
        asm_arg(e->code, t.s ? t.s : "?");
        text_free(&t);
    }
}

static Status write_graph(Emit *e)
{
    if (e->nops == 0)
        return ST_OK;
    Graph *g = &e->tx->graph;
    int index, n = 0;
    put(e, OP_PUSH_NULL, 0);
    put(e, OP_LOAD_FAST, e->graph);
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].kind == NODE_INPUT && g->node.v[i].live) {
            TRY(emit_export(e, g->node.v[i].src, g->node.v[i].expr, &index));
            put(e, OP_LOAD_FAST, e->first_arg + index);
            n++;
        }
    put_call(e, n);
    e->left = (int)e->outputs.n;
    if (e->left == 0) {
        put(e, OP_POP_TOP, 0);
        return ST_OK;
    }
    e->out = asm_local(e->code, "out");
    put(e, OP_STORE_FAST, e->out);
    return ST_OK;
}

/* Regions of autocast that are open at a break are left by the graph: what a backend makes of it keeps no state. */
static Status close_casts(Tx *tx)
{
    PyObject *target = NULL;
    for (const ActiveCast *c = tx->casts; c; c = c->up) {
        GArg *arg = tx_alloc(tx, sizeof *arg);
        uint32_t id;
        PyObject *modes = tx_hold(tx, PyImport_ImportModule("torch.amp.autocast_mode"));
        target =
            modes ? tx_hold(tx, PyObject_GetAttrString(modes, "_exit_autocast")) : NULL;
        if (arg == NULL || target == NULL)
            return ST_ERROR;
        *arg = (GArg){ .tag = GA_NODE, .node = c->node };
        Node n = { .kind = NODE_FUNCTION,
                   .target = target,
                   .nargs = 1,
                   .args = arg,
                   .meta = Py_None,
                   .switches = SWITCHES_CAST };
        TRY(graph_add(&tx->graph, n, &id));
    }
    return ST_OK;
}

static void write_casts(Emit *e, const ActiveCast *c)
{
    if (c == NULL)
        return;
    write_casts(e, c->up);
    put_helper(e, HELPER_enter_cast);
    for (int k = 0; k < 4; k++)
        put_const(e, c->entered[k]);
    put_call(e, 4);
    put(e, OP_POP_TOP, 0);
}

static Status write_kernels(Emit *e)
{
    Tx *tx = e->tx;
    if (tx->kernels == tx->kernels0)
        return ST_OK;
    PyObject *mask = tx_hold(tx, PyLong_FromSize_t(tx->kernels & (KERNELS_ASKED - 1)));
    TRY_PTR(mask);
    put_helper(e, HELPER_set_kernels);
    put_const(e, mask);
    put_call(e, 1);
    put(e, OP_POP_TOP, 0);
    return ST_OK;
}

/* Grad mode, open regions of autocast and kernels of attention, as the program left them (rule 17). */
static Status write_ambient(Emit *e)
{
    if (e->tx->grad != e->tx->grad0) {
        put_helper(e, HELPER_set_grad);
        put_const(e, e->tx->grad ? Py_True : Py_False);
        put_call(e, 1);
        put(e, OP_POP_TOP, 0);
    }
    write_casts(e, e->tx->casts);
    return write_kernels(e);
}

static Status compose(Emit *e, Var *value)
{
    declare_args(e);
    TRY(write_graph(e));
    TRY(load_result(e, value));
    TRY(emit_fill(e));
    TRY(emit_write_effects(e));
    TRY(write_ambient(e));
    put(e, OP_RETURN_VALUE, 0);
    return ST_OK;
}

/* -- The entry ---------------------------------------------------------------------------- */

static PyFunctionObject *to_function(Emit *e)
{
    PyObject *co = tx_hold(e->tx, (PyObject *)asm_finish(e->code));
    PyObject *globals = PyModule_GetDict(e->tx->module);
    return co ? (PyFunctionObject *)PyFunction_New(co, globals) : NULL;
}

static Status assemble(Emit *e, Var *value, PyFunctionObject **out)
{
    PyCodeObject *co = e->point->co;
    e->code = asm_new(co->co_name, co->co_qualname, co->co_filename, co->co_firstlineno);
    TRY_PTR(e->code);
    Status st = compose(e, value);
    if (st == ST_OK) {
        *out = to_function(e);
        st = *out ? ST_OK : ST_ERROR;
    }
    if (st == ST_OK)
        st = emit_note(e);
    asm_free(e->code);
    e->code = NULL;
    return st;
}

/* Nothing outside of the graph is changed, and no code of the user runs. */
static bool is_pure(const Graph *g)
{
    for (size_t i = 0; i < g->node.n; i++)
        if (g->node.v[i].live && (g->node.v[i].mutates_input || g->node.v[i].open))
            return false;
    return true;
}

/* Running it again after an exception, with nothing changed, would draw other numbers. */
static bool draws(const Graph *g, bool foreign)
{
    bool random = false, before = false, after = false;
    for (size_t i = 0; i < g->node.n; i++) {
        const Node *n = &g->node.v[i];
        if (!n->live)
            continue;
        if (!foreign && (n->mutates_input || n->open))
            break;
        random |= n->random;
        (random ? &after : &before)[0] |= n->raises;
    }
    return random &&
           (after || (foreign && before)); /* others have an order of their own */
}

static Status fill_entry(Emit *e, Var *value, Entry *x)
{
    Tx *tx = e->tx;
    TRY(emit_hand_off(e, &x->graph));
    TRY(assemble(e, value, &x->seg));
    x->guards =
        guards_freeze(&tx->guards, e->exports.v, (int)e->exports.n, tx->slot_names);
    TRY_PTR(x->guards);
    TRY(emit_note_guards(e, x->guards));
    x->pure = is_pure(&tx->graph);
    x->late = fx_keeps(x->graph);
    x->ways = tx->ways;
    x->draws = (x->pure || !tx->foreign_graph || fx_reverts(x->graph)) &&
               draws(&tx->graph, tx->foreign_graph);
    x->nops = e->nops;
    x->switches = e->nops ? graph_switches(&tx->graph) : 0;
    return value ? ST_OK : emit_exit(e, &x->exit);
}

Status emit_entry(Tx *tx, Point *p, Var *value, Entry **out)
{
    Emit e = { .tx = tx, .point = p };
    if (helpers_init() < 0)
        return ST_ERROR;
    TRY(close_casts(tx));
    TRY(plan(&e, value));
    TRY(emit_distinct(tx, p->options));
    Entry *x = mem_alloc(sizeof *x);
    TRY_PTR(x);
    Status st = fill_entry(&e, value, x);
    if (st == ST_OK)
        *out = x;
    else
        entry_free(x);
    return st;
}
