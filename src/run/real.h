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
    REAL_OK,        /* the frame rests before its next instruction (perhaps at a handler) */
    REAL_LEFT = -1, /* the exception set leaves the frame; its operand stack is empty */
} RealResult;

/* Instruction `index` of the frame's code. KW_NAMES is one with its CALL. */
RealResult real_run(PyThreadState *ts, CpyFrame *f, const Code *c, int index);

/* Raises the exception set in ts at instruction `index`: as if a call there had raised. */
RealResult real_raise(PyThreadState *ts, CpyFrame *f, const Code *c, int index);

/* True if the instruction can be run by real_run. */
bool real_can(Op op);

/* What the operand stack slots before an instruction mean for sys.exc_info(): the lowest slot
 * that holds a saved exception state, i.e. the one the frame was entered with; -1 if none is
 * open. `index` must be reachable. */
int real_saved_exc(const Code *c, int index);

#endif
