/*
 * emit/handoff.c -- the graph to the backend, and not-aliased guards.
 */
#include "emit/plan.h"
#include "torch/failure.h"

/* -- The backend ------------------------------------------------------------------------ */

Status emit_hand_off(Emit *e, PyObject **callable)
{
    Options *o = e->point->options;
    if (e->nops == 0) {
        *callable = Py_NewRef(Py_None);
        return ST_OK;
    }
    if (e->tx->late) { /* nothing runs: the values are there */
        PyObject *values = fx_same_start(e->tx->late, &e->tx->graph)
                               ? fx_values(e->tx->late, e->outputs.v, (int)e->outputs.n)
                               : NULL;
        if (values == NULL && !PyErr_Occurred())
            return graph_break(e->tx, BRK_REBUILD, "%s", "a value of a failed graph");
        TRY_PTR(values);
        *callable = values;
        return ST_OK;
    }
    PyObject *made = hand_off(&e->tx->graph, e->outputs.v, (int)e->outputs.n,
                              o && o->backend ? o->backend : Py_None, e->tx->slot_names);
    TRY_PTR(made);
    *callable = made;
    return ST_OK;
}

/* -- Not-aliased guards (rule 5) ------------------------------------------------------------ */

/* The object whose identity matters: the owner of an instance dictionary, the value itself. */
static Var *home(Var *v)
{
    v = emit_settled(v);
    if (v->kind->id == KIND_dict && AS(DictVar, v)->owner)
        return AS(DictVar, v)->owner;
    return v;
}

static PyTypeObject *group_of(Var *v)
{
    return v->real ? Py_TYPE(v->real) : v->type;
}

static bool listed(Source **group, Py_ssize_t n, const Source *s)
{
    while (n-- > 0)
        if (group[n] == s)
            return true;
    return false;
}

/* Appends the sources of all values of this type; how many there are then. */
static Py_ssize_t gather(Var **v, size_t n, PyTypeObject *type, Source **group,
                         Py_ssize_t have)
{
    for (size_t i = 0; i < n; i++) {
        Var *h = home(v[i]);
        if (h->src && group_of(h) == type && !listed(group, have, h->src))
            group[have++] = h->src;
    }
    return have;
}

/* One DISTINCT guard a type: written values first. */
static Status separate(Tx *tx, PyTypeObject *type)
{
    Source **group = tx_alloc(tx, (tx->dirty.n + tx->existing.n) * sizeof *group);
    TRY_PTR(group);
    Py_ssize_t n = gather(tx->dirty.v, tx->dirty.n, type, group, 0);
    n = gather(tx->existing.v, tx->existing.n, type, group, n);
    Py_ssize_t loose = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        loose += !emit_pinned(group[i]);
    if (n < 2 || loose == 0)
        return ST_OK;
    return guard_different(&tx->guards, group, (size_t)n);
}

static Status add_sharer(Tx *tx, PtrMap *first, const Node *input, Sharer *v, size_t n)
{
    TensorMeta m;
    void *found = NULL;
    v[n] = (Sharer){ .src = input->src, .first = n };
    if (!meta_read(input->example,
                   &m)) /* no longer: the check before the first use fails */
        return ST_OK;
    v[n].offset = m.storage_offset;
    if (ptrmap_get(first, m.storage, &found)) {
        v[n].first = (size_t)(uintptr_t)found - 1;
        v[n].shared = v[v[n].first].shared = true;
        return ST_OK;
    }
    return ptrmap_put(first, &tx->arena, &tx->journal, m.storage, (void *)(n + 1))
               ? ST_OK
               : ST_ERROR;
}

/* Tensors that came in, if the graph writes to one of them: storages are shared as they were (views, detached ones). */
static Status separate_inputs(Tx *tx, const Options *o)
{
    Graph *g = &tx->graph;
    Sharer *v = tx_alloc(tx, (g->node.n + 1) * sizeof *v);
    TRY_PTR(v);
    size_t n = 0;
    bool written = false;
    PtrMap first = { 0 }; /* storage -> 1 + the index of who is on it */
    for (size_t i = 0; i < g->node.n; i++) {
        const Node *node = &g->node.v[i];
        written |= node->live && node->mutates_input;
        if (node->live && node->kind == NODE_INPUT && node->expr == NULL)
            TRY(add_sharer(tx, &first, node, v, n++));
    }
    /* Backends may take an output that lies in shared memory for a view of either. */
    bool matters = o && o->backend && !hand_off_own(o->backend);
    for (size_t i = 0; matters && i < n && !written; i++)
        written = v[i].shared;
    return written ? guard_storage(&tx->guards, v, n) : ST_OK;
}

Status emit_distinct(Tx *tx, const Options *o)
{
    TRY(separate_inputs(tx, o));
    for (size_t i = 0; i < tx->dirty.n; i++) {
        PyTypeObject *type = group_of(home(tx->dirty.v[i]));
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = group_of(home(tx->dirty.v[k])) != type;
        if (first && type)
            TRY(separate(tx, type));
    }
    return ST_OK;
}
