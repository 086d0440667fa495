/*
 * bytecode/selftest.h -- methods for jedlik._engine.selftest.
 */
#ifndef JEDLIK_BYTECODE_SELFTEST_H
#define JEDLIK_BYTECODE_SELFTEST_H

#include "base/status.h"

extern PyMethodDef bytecode_selftest_methods[];

#endif
