/*
 * run/deopt.h -- which exceptions of a segment are the program's own.
 */
#ifndef JEDLIK_RUN_DEOPT_H
#define JEDLIK_RUN_DEOPT_H

#include "cpy/cpy.h"

/* True if the exception set may be dropped and the point run plainly instead: it is one of an
 * operation on the program's values, which raises it again. */
bool deopt_can(void);

#endif
