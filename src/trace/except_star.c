/*
 * trace/except_star.c -- instructions of except*.
 */
#include "builtin/group.h"
#include "trace/run.h"

/* [exc, types] -> [rest, match], or [exc, None] if nothing matches. A match is what is being handled now. */
Status op_check_eg_match(Tx *tx, Frame *f, const Ins *in)
{
    Var *types = pop(tx, f), *exc = peek(f, 1), *match, *rest;
    TRY(group_match(tx, exc, types, &match, &rest));
    if (match != tx->none) {
        pop(tx, f);
        TRY(push(tx, f, rest));
        SET(tx, tx->handled, match);
    }
    return push(tx, f, match);
}

Status op_prep_reraise_star(Tx *tx, Frame *f, const Ins *in)
{
    Var *excs = pop(tx, f), *orig = pop(tx, f), *v;
    TRY(group_leftover(tx, orig, excs, &v));
    return push(tx, f, v);
}
