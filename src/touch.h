/*
 * touch.h -- calls that cannot have to do with a tensor.
 */
#ifndef JEDLIK_TOUCH_H
#define JEDLIK_TOUCH_H

#include "base/status.h"

/* False: neither the arguments nor the names of the function, nested ones included, lead to anything but plain values and C functions of the
 * builtins. Runs no code of the program. */
bool touch_possible(PyFunctionObject *func, PyObject *const *slots, int nslots);

#endif
