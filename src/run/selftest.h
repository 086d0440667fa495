/*
 * run/selftest.h -- methods for jedlik._engine.selftest.
 */
#ifndef JEDLIK_RUN_SELFTEST_H
#define JEDLIK_RUN_SELFTEST_H

#include "base/status.h"

extern PyMethodDef run_selftest_methods[];
extern PyMethodDef run_tramp_selftest_methods[];

#endif
