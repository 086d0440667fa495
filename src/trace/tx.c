/*
 * trace/tx.c -- begin and end of a trace, breaks.
 */
#include "trace/tx.h"
#include "base/cstack.h"
#include "cpy/cpy.h"
#include "trace/run.h"

/* What one trace may use of the C stack, in all and for each call that the recursion limit still allows: the values that
 * raise RecursionError in plain Python had better get there. Frames that can be open in a trace. */
enum { STACK = 256 << 10, STACK_A_CALL = 256, MAX_DEPTH = 400 };

static void limits(Tx *tx)
{
    char *here = __builtin_frame_address(0);
    ptrdiff_t left = cpy_recursion_left(),
              bytes = left * STACK_A_CALL < STACK ? left * STACK_A_CALL : STACK;
    tx->max_depth = left < MAX_DEPTH ? (int)left : MAX_DEPTH;
    tx->floor = cstack_low()                  ? here
                : here - cstack_floor > bytes ? here - bytes
                                              : cstack_floor;
}

static Status singletons(Tx *tx)
{
    PyObject *objs[] = { Py_None, Py_True, Py_False, Py_NotImplemented };
    Var **vars[] = { &tx->none, &tx->true_, &tx->false_, &tx->notimpl };
    for (size_t i = 0; i < COUNT_OF(objs); i++) {
        TRY(var_make(tx, &kind_const, sizeof(Var), Py_TYPE(objs[i]), vars[i]));
        (*vars[i])->real = objs[i];
    }
    return ST_OK;
}

Status tx_init(Tx *tx)
{
    memset(tx, 0, sizeof *tx);
    arena_init(&tx->arena);
    limits(tx);
    tx->looks_seen = nested_looks;
    tx->guards.arena = tx->graph.arena = &tx->arena;
    tx->guards.journal = tx->graph.journal = &tx->journal;
    if (sources_init(&tx->sources, &tx->arena) < 0 ||
        exprs_init(&tx->exprs, &tx->arena) < 0)
        return ST_ERROR;
    tx->grad = tx->grad0 = torch_ready ? ambient_grad_enabled() : 1;
    tx->inference = tx->inference0 = tx->inferred = torch_ready && ambient_inference();
    return singletons(tx);
}

void tx_free(Tx *tx)
{
    journal_free(&tx->journal);
    arena_free(&tx->arena);
}

/* -- Breaks --------------------------------------------------------------------- */

const BreakRow break_table[BRK_COUNT] = {
#define BREAK(name, sentence, hint) { #name, sentence, hint },
#include "base/breaks.def"
#undef BREAK
};

/* The innermost frame's instruction; what is found after the end of a trace is the whole function's. */
static void place(Tx *tx)
{
    Frame *f = tx->top ? tx->top : tx->root;
    tx->brk.co = f ? f->code->co : NULL;
    tx->brk.line = tx->top ? code_near_line(f->code, (int)f->cur)
                   : f     ? f->code->co->co_firstlineno
                           : 0;
}

static Status break_with(Tx *tx, BreakId id, const char *format, va_list args)
{
    PyObject *text = PyUnicode_FromFormatV(format, args);
    const char *s = text ? PyUnicode_AsUTF8(text) : NULL;
    if (s == NULL)
        PyErr_Clear();
    tx->brk.id = id;
    tx->brk.text = arena_text(&tx->arena, "%s", s ? s : "");
    Py_XDECREF(text);
    tx->brk.born = 0;
    tx->brk.cut = false;
    place(tx);
    return tx->brk.text ? ST_BREAK : ST_ERROR;
}

Status graph_break(Tx *tx, BreakId id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    Status st = break_with(tx, id, format, args);
    va_end(args);
    return st;
}

/* The trace has come further than to its first instruction. */
static bool moved(const Tx *tx)
{
    const Frame *f = tx->top;
    bool kw = f->cur > 0 && f->code->ins[f->cur - 1].op == OP_KW_NAMES;
    return tx->steps > (kw ? 2 : 1);
}

Status graph_cut(Tx *tx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    Status st = break_with(tx, BRK_CUT, format, args);
    va_end(args);
    tx->brk.cut =
        tx->nested == 0 && !tx->held && tx->top && tx->top->resumable && moved(tx);
    return st;
}
