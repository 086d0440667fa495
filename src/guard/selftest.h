/*
 * guard/selftest.h -- methods for jedlik._engine.selftest.
 */
#ifndef JEDLIK_GUARD_SELFTEST_H
#define JEDLIK_GUARD_SELFTEST_H

#include "base/status.h"

extern PyMethodDef guard_selftest_methods[];

#endif
