/*
 * run/real.h -- one instruction of a resting frame, for real.
 *
 * Takes: a linked frame and the instruction it rests before. Gives: what the evaluator would
 * have done, on the frame itself: operands, slots, next unit, exceptions with their traceback
 * entry and their way to the handler. Holds: the frame stays linked, whatever happens.
 */
#ifndef JEDLIK_RUN_REAL_H
#define JEDLIK_RUN_REAL_H

#include "cpy/cpy.h"

typedef enum {
    REAL_OK, /* the frame rests before its next instruction (perhaps at a handler) */
    REAL_LEFT = -1, /* the exception set leaves the frame; its operand stack is empty */
} RealResult;

/* Instruction `index` of the frame's code. KW_NAMES is one with its CALL. */
RealResult real_run(PyThreadState *ts, CpyFrame *f, const Code *c, int index);

/* Raises the exception set in ts at instruction `index`: as if it had raised, or, `callee`, the
 * Python function it had called. */
RealResult real_raise(PyThreadState *ts, CpyFrame *f, const Code *c, int index,
                      bool callee);

/* Marks the frame as waiting for a Python function called by instruction `index`. */
void real_pending(CpyFrame *f, const Code *c, int index);

/* True if the instruction can be run by real_run. */
bool real_can(Op op);

#endif
