/*
 * builtin/checkpoint.c -- torch.utils.checkpoint.checkpoint(): what it is given is traced in place, and its nodes are marked.
 *
 * Takes: a call with use_reentrant=False and nothing else but its defaults. Gives: the function's result; its nodes belong to a region
 * that compiling backends compute again in the backward pass. Holds: a function with effects beside its result would have them twice,
 * so that it is left to the real call.
 */
#include "builtin/help.h"

static const char *const own_names[] = { "use_reentrant",     "preserve_rng_state",
                                         "determinism_check", "debug",
                                         "early_stop",        "context_fn" };

/* Keywords that are checkpoint's own leave the call; *plain: they ask for nothing special. */
static Status split(Tx *tx, const Args *a, Args *inner, bool *plain)
{
    PyObject *names = tx_hold(tx, PyList_New(0));
    bool given = false;
    inner->v = tx_alloc(tx, (size_t)(a->n + a->nkw + 1) * sizeof *inner->v);
    if (names == NULL || inner->v == NULL)
        return ST_ERROR;
    *plain = true;
    inner->n = a->n - 1;
    memcpy(inner->v, a->v + 1, (size_t)inner->n * sizeof *inner->v);
    for (int i = 0; i < a->nkw; i++) {
        PyObject *name = PyTuple_GET_ITEM(a->kwnames, i), *value;
        size_t k = 0;
        while (k < COUNT_OF(own_names) &&
               PyUnicode_CompareWithASCIIString(name, own_names[k]) != 0)
            k++;
        if (k == COUNT_OF(own_names)) {
            inner->v[inner->n + inner->nkw++] = a->v[a->n + i];
            if (PyList_Append(names, name) < 0)
                return ST_ERROR;
            continue;
        }
        TRY(fold_value(tx, a->v[a->n + i], &value));
        if (k == 0)
            given = value == Py_False;
        else if (k != 4) /* early_stop changes no result */
            *plain &= k == 1 ? value != NULL
                      : k == 3
                          ? value == Py_False
                          : value && PyUnicode_Check(value) &&
                                PyUnicode_CompareWithASCIIString(value, "default") == 0;
    }
    *plain &= given;
    inner->kwnames = inner->nkw ? tx_hold(tx, PyList_AsTuple(names)) : NULL;
    return inner->nkw && inner->kwnames == NULL ? ST_ERROR : ST_OK;
}

static bool writes_outside(Tx *tx, size_t from)
{
    for (size_t i = from; i < tx->graph.node.n; i++)
        if (tx->graph.node.v[i].mutates_input || tx->graph.node.v[i].open)
            return true;
    return false;
}

/* What was changed before counts as unchanged for the while, so that a change shows on the ledger; dictionaries only, since others are
 * read by that flag. *others: there are some. */
static void mark_changed(Tx *tx, size_t n, uintptr_t dirty, bool *others)
{
    *others = false;
    for (size_t i = 0; i < n; i++) {
        Var *v = tx->dirty.v[i];
        if (v->kind == &kind_dict)
            SET(tx, v->dirty, dirty);
        else
            *others = true;
    }
}

static Status checkpoint(Tx *tx, const Args *a, Var **out)
{
    Args inner = { 0 };
    size_t nodes = tx->graph.node.n, changes = tx->dirty.n;
    uint64_t moves = tx->moves;
    uintptr_t outer = tx->region;
    bool plain, others;
    TRY(split(tx, a, &inner, &plain));
    if (!plain || tx->foreign)
        return ST_DECLINE;
    if (!outer) { /* one inside of another belongs to it */
        SET(tx, tx->regions, tx->regions + 1);
        SET(tx, tx->region, tx->regions);
    }
    mark_changed(tx, changes, 0, &others);
    TRY(var_call(tx, a->v[0], &inner, out));
    SET(tx, tx->region, outer);
    mark_changed(tx, changes, 1, &others);
    if (tx->dirty.n != changes || (others && tx->moves != moves) ||
        writes_outside(tx, nodes))
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "a checkpointed function that does more than give a result");
    return ST_OK;
}

const Handler handlers_checkpoint[] = {
    { "torch.utils.checkpoint.checkpoint", 1, -1, checkpoint, ANY_KW },
    { 0 },
};
