/*
 * trace/sole.c -- what nobody but the frame of the point holds, and what runs code at its end.
 *
 * Takes: the values a point is entered with behind a break, and the frames after each instruction. Gives: a break at the instruction that
 * lets go of such an object, so that it goes then, and not when the segment ends. Holds: a value that is still in a frame lives; one that
 * went into a container may live as well, and the break is only taken in vain.
 */
#include "cpy/peek.h"
#include "trace/run.h"

Status sole_entered(Tx *tx, const Frame *f, int slot, int nslots)
{
    Var *v = f->slots[slot];
    Py_ssize_t places = 0;
    if (v == NULL)
        return ST_OK;
    for (int i = 0; i < nslots; i++)
        places += f->slots[i] && f->slots[i]->real == v->real;
    if (cpy_last_runs_code(v->real, 2 * places)) /* each is the frame's, and the trace's */
        return VEC_PUSH(&tx->arena, &tx->journal, &tx->sole, v) ? ST_OK : ST_ERROR;
    bool on_stack = slot >= f->code->nlocalsplus;
    return on_stack ? guard_num(&tx->guards, GUARD_QUIET, v->src, QUIET_LAST) : ST_OK;
}

Status sole_leaves(Tx *tx, const Var *v)
{
    for (size_t i = 0; i < tx->sole.n; i++)
        if (tx->sole.v[i]->real == v->real)
            return ST_OK;
    return guard_num(&tx->guards, GUARD_QUIET, v->src, QUIET_SLOT);
}

static bool is_value(Var *v, const Var *wanted)
{
    return v && (v == wanted || v->real == wanted->real);
}

static bool in_frame(const Frame *f, const Var *v)
{
    for (size_t i = 0; i < f->sp; i++)
        if (is_value(f->slots[i], v))
            return true;
    return false;
}

static bool held(const Tx *tx, const Var *v)
{
    for (const Frame *f = tx->top; f != NULL; f = f->up)
        if (in_frame(f, v))
            return true;
    return is_value(tx->handled, v);
}

Status sole_left(Tx *tx, Frame *at)
{
    if (tx->top == NULL ||
        tx->nested > 0) /* all of it ends; or looked at when C code has ended */
        return ST_OK;
    size_t i = 0;
    while (i < tx->sole.n && held(tx, tx->sole.v[i]))
        i++;
    if (i == tx->sole.n)
        return ST_OK;
    if (!tx->held) /* the instruction may have left the frame */
        journal_rewind(&tx->journal, at->mark);
    return graph_break(tx, BRK_FINALIZER, "%s", Py_TYPE(tx->sole.v[i]->real)->tp_name);
}
