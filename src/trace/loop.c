/*
 * trace/loop.c -- the interpreter loop of the trace.
 *
 * A mark is taken before each instruction, so that a break rewinds to an instruction boundary. In the root loop nothing older than the
 * current instruction is ever needed (every frame open there can be resumed), so the journal starts anew each time; while C code waits
 * for a frame (nested) or an exception is being handled (held) it grows.
 */
#include "trace/run.h"

/* An expression that is kept for the guards counts as several iterations: it costs more and stays. */
enum { EXPR_WEIGHT = 8, LOOKS_A_TURN = 16, POLL_EVERY = 1 << 14 };

static const OpFn handlers[OP_COUNT] = {
#define OP(name, pop, push, operand, handler) [OP_##name] = op_##handler,
#include "bytecode/ops.def"
#undef OP
};

Status op_nyi(Tx *tx, Frame *f, const Ins *in)
{
    return graph_break(tx, BRK_NYI_OP, "%s", op_name(in->op));
}

static Status poll(Tx *tx)
{
    if (tx->journal.failed) {
        PyErr_NoMemory();
        return ST_ERROR;
    }
    if ((tx->steps & (POLL_EVERY - 1)) == 0 && PyErr_CheckSignals() < 0)
        return ST_ERROR;
    return ST_OK;
}

static Status forced(Tx *tx)
{
    return tx->why ? graph_break(tx, tx->why->id, "%s", tx->why->text)
                   : graph_break(tx, BRK_FORCED, "instruction %d", (int)tx->steps);
}

static Status step(Tx *tx, Frame *f)
{
    const Ins *in = &f->code->ins[f->pc];
    if (tx->nested == 0 && !tx->held)
        tx->journal.n = 0;
    f->mark = tx->journal.n;
    if (tx->held) /* a rewind to the raise puts the outer frames back too */
        journal_word(&tx->journal, &f->cur);
    f->cur = f->pc++;
    tx->steps++;
    if (__builtin_expect(tx->steps == tx->break_at, 0))
        return forced(tx);
    return handlers[in->op](tx, f, in);
}

static Status uncaught(Tx *tx)
{
    ExcVar *e = tx->exc->kind == &kind_exc ? AS(ExcVar, tx->exc) : NULL;
    Var *first = e && e->args && e->args->n ? e->args->items[0] : NULL;
    if (first && first->kind == &kind_const && PyUnicode_Check(first->real))
        return graph_break(tx, BRK_UNCAUGHT, "%s: %U", tx->exc->type->tp_name,
                           first->real);
    return graph_break(tx, BRK_UNCAUGHT, "%s", tx->exc->type->tp_name);
}

static Status run_until(Tx *tx, Frame *base)
{
    Frame *stop = base->up;
    while (tx->top != stop) {
        Frame *at = tx->top;
        Status st = step(tx, at);
        if (__builtin_expect(st != ST_OK, 0)) {
            if (st != ST_RAISE)
                return st;
            if (tx->nested == 0 && !except_caught(tx, base))
                return uncaught(tx);
            TRY(except_unwind(tx, base));
        }
        if (__builtin_expect(tx->sole.n != 0, 0))
            TRY(sole_left(tx, at));
        if (__builtin_expect((tx->steps & 255) == 0, 0))
            TRY(poll(tx));
    }
    return ST_OK;
}

Status trace_run(Tx *tx, Frame *base, Var **out)
{
    tx->nested++;
    Status st = run_until(tx, base);
    tx->nested--;
    if (st == ST_OK)
        *out = tx->result;
    return st;
}

/* While an exception is being handled, a break goes back to where it was raised: only there can it be raised for real, with its
 * traceback (rule 25). */
static void rewind_break(Tx *tx)
{
    Frame *f = tx->top;
    if (tx->held) {
        journal_rewind(&tx->journal, tx->hold_mark);
        f = tx->hold_frame;
        size_t n = 0;
        for (Frame *g = f; g != NULL; g = g->up)
            g->cur = tx->hold_cur[n++];
        tx->held = false;
    } else {
        while (!f->resumable)
            f = f->up;
        journal_rewind(&tx->journal, f->mark);
    }
    tx->top = f;
    if (f->cur > 0 &&
        f->code->ins[f->cur - 1].op == OP_KW_NAMES) /* one unit with its CALL */
        f->cur--;
}

Status trace_root(Tx *tx, Var **out)
{
    tx->root->resumable = true;
    Status st = run_until(tx, tx->root);
    if (st == ST_OK)
        *out = tx->result;
    if (st == ST_BREAK)
        rewind_break(tx);
    return st;
}

Status tx_worked(Tx *tx, size_t n)
{
    tx->idle += n + EXPR_WEIGHT * (tx->exprs.n - tx->exprs_seen);
    tx->exprs_seen = tx->exprs.n;
    size_t turns = (nested_looks - tx->looks_seen) / LOOKS_A_TURN;
    tx->looks_seen += turns * LOOKS_A_TURN;
    tx->idle += turns;
    if (tx->idle > IDLE_BUDGET)
        return graph_break(tx, BRK_LOOP_BUDGET, "in %U", tx->top->code->co->co_qualname);
    return ST_OK;
}
