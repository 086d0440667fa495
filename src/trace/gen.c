/*
 * trace/gen.c -- generators whose frame is in the trace: the kind, and the ways into the frame.
 *
 * A generator runs as C code waiting for its frame (nested): a break inside moves out to the instruction that resumed it.
 */
#include "trace/run.h"
#include "var/names.h"

Status gen_new(Tx *tx, FuncVar *fn, Frame *frame, Var **out)
{
    GenVar *g;
    TRY(VAR_MAKE(tx, gen, GenVar, &PyGen_Type, &g));
    g->fn = fn;
    g->frame = frame;
    *out = &g->v;
    return ST_OK;
}

static Status reenter(Tx *tx, GenVar *g)
{
    Frame *f = g->frame;
    if (g->state == GEN_RUNNING)
        return raise_type(tx, PyExc_ValueError, "generator already executing");
    SET(tx, g->state, GEN_RUNNING);
    SET(tx, f->up, tx->top);
    SET(tx, f->pc, f->pc);
    SET(tx, f->cur, f->cur);
    SET(tx, tx->top, f);
    tx->depth++;
    return ST_OK;
}

/* Runs the frame to its next yield or its end, with its own handled exception. */
static Status run(Tx *tx, GenVar *g, Status st, Var **out)
{
    Var *outer = tx->handled, *v = NULL;
    if (g->exc_saved)
        SET(tx, tx->handled, g->exc_saved);
    if (st == ST_RAISE) {
        tx->nested++;
        st = except_unwind(tx, g->frame);
        tx->nested--;
    }
    if (st == ST_OK)
        st = trace_run(tx, g->frame, &v);
    if (st != ST_OK)
        return st;
    SET(tx, g->exc_saved, tx->handled == outer ? NULL : tx->handled);
    SET(tx, tx->handled, outer);
    *out = g->state == GEN_DONE ? NULL : v;
    return ST_OK;
}

Status gen_resume(Tx *tx, GenVar *g, Var *sent, Var **out)
{
    if (g->state == GEN_DONE) {
        *out = NULL;
        tx->result = tx->none;
        return ST_OK;
    }
    if (g->state == GEN_CREATED && sent != tx->none)
        return raise_type(tx, PyExc_TypeError, "can't send non-None value to a just-started generator");
    TRY(reenter(tx, g));
    TRY(push(tx, g->frame, sent));
    return run(tx, g, ST_OK, out);
}

Status gen_throw(Tx *tx, GenVar *g, Var *exc, Var **out)
{
    if (g->state == GEN_DONE)
        return except_raise(tx, exc, NULL);
    TRY(reenter(tx, g));
    Status st = except_raise(tx, exc, NULL);
    return st == ST_RAISE ? run(tx, g, st, out) : st;
}

/* -- The kind ------------------------------------------------------------------------- */

static Status gen_next(Tx *tx, Var *self, Var **out)
{
    return gen_resume(tx, AS(GenVar, self), tx->none, out);
}

static Status gen_iter(Tx *tx, Var *self, Var **out)
{
    *out = self;
    return ST_OK;
}

const VarKind kind_gen = {
    .name = "generator",
    .id = KIND_gen,
    .iter = gen_iter,
    .next = gen_next,
};

/* -- Methods ----------------------------------------------------------------------------- */

#include "builtin/handler.h"

static Status finish(Tx *tx, Var *v, Var **out)
{
    if (v != NULL) {
        *out = v;
        return ST_OK;
    }
    Var *value = tx->result ? tx->result : tx->none, *exc;
    TRY(exc_new(tx, (PyTypeObject *)PyExc_StopIteration, &value, value == tx->none ? 0 : 1, &exc));
    return raise_var(tx, exc);
}

static Status gen_of(Tx *tx, const Args *a, GenVar **g)
{
    Var *v = a->v[0];
    TRY(var_real(tx, &v));
    *g = AS(GenVar, v);
    return v->kind == &kind_gen ? ST_OK : ST_DECLINE;
}

static Status send_(Tx *tx, const Args *a, Var **out)
{
    GenVar *g;
    Var *v, *sent = a->v[1];
    TRY(gen_of(tx, a, &g));
    TRY(var_real(tx, &sent));
    TRY(gen_resume(tx, g, sent, &v));
    return finish(tx, v, out);
}

static Status throw_(Tx *tx, const Args *a, Var **out)
{
    GenVar *g;
    Var *v, *exc = a->v[1];
    TRY(gen_of(tx, a, &g));
    if (a->n > 2) { /* (type, value, traceback) */
        Var *value = a->v[2];
        TRY(var_real(tx, &value));
        if (value != tx->none)
            exc = value;
    }
    TRY(gen_throw(tx, g, exc, &v));
    return finish(tx, v, out);
}

static Status close_(Tx *tx, const Args *a, Var **out)
{
    GenVar *g;
    Var *v, *exc;
    TRY(gen_of(tx, a, &g));
    *out = tx->none;
    if (g->state == GEN_CREATED || g->state == GEN_DONE) {
        SET(tx, g->state, GEN_DONE);
        return ST_OK;
    }
    TRY(exc_new(tx, (PyTypeObject *)PyExc_GeneratorExit, NULL, 0, &exc));
    Status st = gen_throw(tx, g, exc, &v);
    if (st == ST_RAISE && (exc_matches(tx, PyExc_GeneratorExit) || exc_matches(tx, PyExc_StopIteration))) {
        exc_clear(tx);
        return ST_OK;
    }
    TRY(st);
    return v ? raise_type(tx, PyExc_RuntimeError, "generator ignored GeneratorExit") : ST_OK;
}

const Handler handlers_gen[] = {
    { "types.GeneratorType.send", 2, 2, send_, NULL },
    { "types.GeneratorType.throw", 2, 4, throw_, NULL },
    { "types.GeneratorType.close", 1, 1, close_, NULL },
    { 0 },
};
