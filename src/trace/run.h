/*
 * trace/run.h -- the interpreter loop and its parts, for trace/ and pipeline.c.
 */
#ifndef JEDLIK_TRACE_RUN_H
#define JEDLIK_TRACE_RUN_H

#include "trace/tx.h"

typedef Status (*OpFn)(Tx *tx, Frame *f, const Ins *in);
#define OP(name, pop, push, operand, handler)                                            \
    Status op_##handler(Tx *tx, Frame *f, const Ins *in);
#include "bytecode/ops.def"
#undef OP

typedef struct BreakRow {
    const char *name, *sentence, *hint;
} BreakRow;
extern const BreakRow break_table[BRK_COUNT];

Status tx_init(Tx *tx);
void tx_free(Tx *tx);

/* A frame without arguments bound; slots are unbound. Linked below tx->top. */
Status frame_make(Tx *tx, FuncVar *fn, RetKind ret, Frame **out);
/* The frame ends with a value: to the stack above, or to the C code that waits. */
Status frame_leave(Tx *tx, Frame *f, Var *value);

/* A slot of the point, behind a break. The operand stack's are soon gone; others are asked for when they go. */
Status sole_entered(Tx *tx, const Frame *f, int slot, int nslots);
/* On later calls, what is in v's slot goes quietly too, or somebody else holds it. */
Status sole_leaves(Tx *tx, const Var *v);
/* After an instruction of frame `at`: a break at it if it let go of what runs code at its end. */
Status sole_left(Tx *tx, Frame *at);

/* Work without a graph node that one trace may do, in iterations of a loop. */
enum { IDLE_BUDGET = 200000 };
/* The root loop: runs tx->root to its end. ST_OK: *out its value. ST_BREAK: state is back at the start of the instruction tx->top->cur. */
Status trace_root(Tx *tx, Var **out);

/* After ST_RAISE: finds a handler in tx->top or a frame below it down to `base`; ST_RAISE if there is none (frames popped). */
Status except_unwind(Tx *tx, Frame *base);
bool except_caught(Tx *tx, Frame *base);
/* exc: an instance or a class; what `raise exc from cause` does. */
Status except_raise(Tx *tx, Var *exc, Var *cause);
/* The instance is raised, and gets no context. */
Status except_pass(Tx *tx, Var *exc);
/* It is thrown into a generator, which is entered already. */
Status except_throw(Tx *tx, Var *exc);
/* What is being handled becomes the context. */
Status except_chain(Tx *tx, ExcVar *exc);
bool except_is(const Var *v);
/* What the exception class has given when called: raises if it is no exception. by_name: that tells the type of it by its name. */
Status except_instance(Tx *tx, Var *cls, Var *exc, bool by_name);
Status except_matches(Tx *tx, Var *exc, Var *cls, bool *yes);

/* A jump that is taken if bool(cond) is `jumps_if`. *known: one side raises, and *truth leads to the other. */
Status assert_branch(Tx *tx, Frame *f, const Ins *in, Var *cond, bool jumps_if,
                     bool *known, bool *truth);

/* op_stack.c: pushes what the builtins have under the name. */
Status load_builtin(Tx *tx, Frame *f, PyObject *name);

/* One instruction after a call resolved: result to the stack unless a frame was entered. */
Status iter_list_of(Tx *tx, Var *v, Var **out);

#endif
