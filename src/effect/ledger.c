/*
 * effect/ledger.c -- the list of existing values that the trace has changed, in order of first change.
 */
#include "trace/tx.h"

/* Values made by the trace are not on the ledger: they vanish unless something reachable refers to them. */
static bool exists(Var *v)
{
    if (v->real != NULL)
        return true;
    if (v->kind != &kind_dict)
        return false;
    Var *owner = AS(DictVar, v)->owner;
    return owner != NULL && owner->real != NULL;
}

Status var_touch(Tx *tx, Var *v)
{
    if (!exists(v))
        return ST_OK;
    if (tx->foreign)
        return graph_break(tx, BRK_SIDE_EFFECT, "%s",
                           "code that runs by itself changes what exists");
    if (v->dirty)
        return ST_OK;
    SET(tx, v->dirty, 1);
    return VEC_PUSH(&tx->arena, &tx->journal, &tx->dirty, v) ? ST_OK : ST_ERROR;
}

/* Two existing objects were compared by identity and differ: they must differ on every later call. */
Status var_distinct(Tx *tx, Var *a, Var *b)
{
    Source **pair = tx_alloc(tx, 2 * sizeof *pair);
    TRY_PTR(pair);
    pair[0] = a->src;
    pair[1] = b->src;
    return guard_add(
        &tx->guards,
        (Guard){ .kind = GUARD_DISTINCT, .p = pair, .n = 2, .size = 2 * sizeof *pair });
}
